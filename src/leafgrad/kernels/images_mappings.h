/* map_axes(), as it is called from Python. */
#ifndef LEAFGRAD_IMAGES_MAPPINGS_H
#define LEAFGRAD_IMAGES_MAPPINGS_H

#include "images_mapping.h"
#include "images_pools.h"

static const int64_t *whole_numbers(PyObject *object, ptrdiff_t *count)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || !PyArray_ISCARRAY_RO(array) || PyArray_NDIM(array) != 1 ||
        PyArray_TYPE(array) != NPY_INT64) {
        return NULL;
    }
    *count = PyArray_DIM(array, 0);
    return PyArray_DATA(array);
}

/* (starts, elements, weights or None), where all elements are in the image. */
static int read_map(PyObject *given, PyArrayObject *x, ptrdiff_t in, Map *map)
{
    ptrdiff_t starts = 0, elements = 0;
    int is_tuple = PyTuple_Check(given) && PyTuple_GET_SIZE(given) == 3;
    map->in = in;
    map->start = is_tuple ? whole_numbers(PyTuple_GET_ITEM(given, 0), &starts) : NULL;
    map->element = map->start == NULL ? NULL : whole_numbers(PyTuple_GET_ITEM(given, 1), &elements);
    if (map->element == NULL || starts < 2) {
        PyErr_SetString(PyExc_TypeError, "expected (starts, elements, weights)");
        return 0;
    }
    map->out = starts - 1;
    map->weight = NULL;
    PyObject *weight = PyTuple_GET_ITEM(given, 2);
    if (weight != Py_None) {
        if (checked(weight, 1, x) == NULL || !fits(PyArray_DIM((PyArrayObject *)weight, 0) == elements)) return 0;
        map->weight = PyArray_BYTES((PyArrayObject *)weight);
    }
    int good = map->start[0] == 0 && map->start[map->out] == elements;
    map->each = map->start[1];
    for (ptrdiff_t q = 0; q < map->out; q++) {
        good &= map->start[q] <= map->start[q + 1];
        if (map->start[q + 1] - map->start[q] != map->each) map->each = 0;
    }
    for (ptrdiff_t i = 0; i < elements; i++) good &= (map->element[i] >= 0) & (map->element[i] < in);
    return fits(good);
}

/* map_axes(x, maps): one map for each of the last dimensions. */
static PyObject *map_axes(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    static const int64_t no_start[] = {0, 1}, no_element[] = {0};
    Mapping m = {0};
    int dims = given == 2 && PyTuple_Check(args[1]) ? (int)PyTuple_GET_SIZE(args[1]) : 0;
    if (dims < 1 || dims > DIMS || !PyArray_Check(args[0]) || PyArray_NDIM((PyArrayObject *)args[0]) < dims) {
        return PyErr_Format(PyExc_TypeError, "map_axes: expected an array, and maps of one to three dimensions");
    }
    PyArrayObject *x = checked(args[0], PyArray_NDIM((PyArrayObject *)args[0]), NULL);
    if (x == NULL) return NULL;
    ptrdiff_t sizes[DIMS], elements = 1, results = 1;
    for (int i = 0; i < DIMS; i++) {
        int at = i - (DIMS - dims);
        m.map[i] = (Map){1, 1, no_start, no_element, NULL, 1};
        if (at >= 0 && !read_map(PyTuple_GET_ITEM(args[1], at), x, PyArray_DIM(x, PyArray_NDIM(x) - dims + at), &m.map[i])) {
            return NULL;
        }
        sizes[i] = m.map[i].out;
        elements *= m.map[i].in;
        results *= sizes[i];
    }
    if (!fits(elements > 0)) return NULL;
    PyArrayObject *out = with_sizes(x, dims, sizes, PyArray_TYPE(x));
    if (out == NULL) return NULL;
    m.input = PyArray_BYTES(x);
    m.output = PyArray_BYTES(out);
    atomic_init(&m.failed, 0);
    Py_BEGIN_ALLOW_THREADS
    ptrdiff_t planes = PyArray_SIZE(x) / elements, size = elements + 2 * results;
    if (planes * size < FEW_ELEMENTS) {
        loops_for(x)->map(&m, 0, planes);
    } else {
        pool_run(loops_for(x)->map, &m, planes, size * PyArray_ITEMSIZE(out), planes * size >= MANY_ELEMENTS);
    }
    Py_END_ALLOW_THREADS
    return finished(out, !atomic_load(&m.failed));
}

#endif
