/* pool_max() and its relatives, as they are called from Python. */
#ifndef LEAFGRAD_IMAGES_POOLS_H
#define LEAFGRAD_IMAGES_POOLS_H

#include "images_arguments.h"

/* windows: (window, stride, padding, dilation), or None for those that divide the image. One list of numbers for all
   dimensions is allocated, and returned. */
static ptrdiff_t *windows_of(PyObject *windows, int dims, int include_padding, Pool *p)
{
    ptrdiff_t each[4][DIMS], total = 0;
    int adaptive = windows == Py_None;
    if (!adaptive && (!PyTuple_Check(windows) || PyTuple_GET_SIZE(windows) != 4)) {
        PyErr_SetString(PyExc_TypeError, "expected (window, stride, padding, dilation), or None");
        return NULL;
    }
    for (int i = 0; i < 4 && !adaptive; i++) { /* the padding alone may be nothing */
        if (!numbers(PyTuple_GET_ITEM(windows, i), dims, i != 2, i != 2, each[i])) return NULL;
    }
    for (int i = 0; i < DIMS; i++) {
        Axis *a = &p->axis[i];
        if (!fits(a->in > 0 && a->out > 0)) return NULL;
        total += 3 * a->out + 5 * (adaptive ? a->in : each[0][i]);
    }
    ptrdiff_t *list = malloc((size_t)total * sizeof(ptrdiff_t)), *next = list;
    if (list == NULL) return (ptrdiff_t *)PyErr_NoMemory();
    for (int i = 0; i < DIMS; i++) {
        Axis *a = &p->axis[i];
        ptrdiff_t taps = adaptive ? a->in : each[0][i];
        a->begin = next;
        a->end = a->begin + a->out;
        a->count = a->end + a->out;
        a->tap_begin = a->count + a->out;
        a->tap_end = a->tap_begin + taps;
        a->tap_part = a->tap_end + taps;
        a->tap_shift = a->tap_part + taps;
        a->remainder = a->tap_shift + taps;
        next = a->remainder + taps;
        if (adaptive) {
            adaptive_windows(a);
        } else {
            equal_windows(a, each[0][i], each[1][i], each[2][i], each[3][i], include_padding);
        }
    }
    return list;
}

/* An array (..., *sizes) in place of (..., *the last dimensions of x). */
static PyArrayObject *with_sizes(PyArrayObject *x, int dims, const ptrdiff_t *sizes, int type)
{
    npy_intp shape[NPY_MAXDIMS];
    int lead = PyArray_NDIM(x) - dims;
    for (int i = 0; i < PyArray_NDIM(x); i++) shape[i] = i < lead ? PyArray_DIM(x, i) : sizes[i - lead + DIMS - dims];
    return (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(x), shape, type);
}

/* The array args[0], the sizes args[1] of the result, and the windows; `back`: the result is the image. */
static PyArrayObject *pool_arguments(PyObject *const *args, int back, int include_padding, Pool *p, ptrdiff_t **list,
                                     ptrdiff_t *sizes, int *dims)
{
    *dims = PyTuple_Check(args[1]) ? (int)PyTuple_GET_SIZE(args[1]) : 0;
    if (*dims < 1 || *dims > DIMS || !PyArray_Check(args[0]) || PyArray_NDIM((PyArrayObject *)args[0]) < *dims) {
        PyErr_SetString(PyExc_TypeError, "expected an array and a tuple of its last one to three sizes");
        return NULL;
    }
    PyArrayObject *x = checked(args[0], PyArray_NDIM((PyArrayObject *)args[0]), NULL);
    if (x == NULL || !numbers(args[1], *dims, 1, 1, sizes)) return NULL;
    for (int i = 0; i < DIMS; i++) {
        int at = i - (DIMS - *dims);
        ptrdiff_t own = at < 0 ? 1 : PyArray_DIM(x, PyArray_NDIM(x) - *dims + at);
        p->axis[i].in = back ? sizes[i] : own;
        p->axis[i].out = back ? own : sizes[i];
    }
    *list = windows_of(args[2], *dims, include_padding, p);
    p->input = PyArray_BYTES(x);
    p->indices = NULL;
    p->divisor = 0;
    atomic_init(&p->failed, 0);
    return *list == NULL ? NULL : x;
}

static ptrdiff_t elements_in(const Pool *p) { return p->axis[0].in * p->axis[1].in * p->axis[2].in; }
static ptrdiff_t elements_out(const Pool *p) { return p->axis[0].out * p->axis[1].out * p->axis[2].out; }

/* All planes, and then `out`, or an exception. */
static PyObject *run_planes(pool_work work, Pool *p, ptrdiff_t planes, ptrdiff_t *list, PyArrayObject *out)
{
    if (out != NULL) {
        ptrdiff_t size = elements_in(p) + elements_out(p);
        p->output = PyArray_BYTES(out);
        Py_BEGIN_ALLOW_THREADS
        if (planes * size < FEW_ELEMENTS) {
            work(p, 0, planes);
        } else {
            pool_run(work, p, planes, size * PyArray_ITEMSIZE(out), planes * size >= MANY_ELEMENTS);
        }
        Py_END_ALLOW_THREADS
    }
    free(list);
    return out == NULL ? NULL : finished(out, !(atomic_load(&p->failed) & 1));
}

/* pool_max(x, positions, windows, indices): the largest elements, or they and their indices. */
static PyObject *pool_max(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Pool p;
    ptrdiff_t *list, positions[DIMS];
    int dims, wanted = given == 4 ? PyObject_IsTrue(args[3]) : -1;
    if (given != 4) PyErr_SetString(PyExc_TypeError, "pool_max: expected 4 arguments");
    PyArrayObject *x = wanted < 0 ? NULL : pool_arguments(args, 0, 0, &p, &list, positions, &dims);
    if (x == NULL) return NULL;
    if (!fits(elements_in(&p) <= INT32_MAX)) { /* the indices of float32 are computed with 32 bits */
        free(list);
        return NULL;
    }
    PyArrayObject *indices = wanted ? with_sizes(x, dims, positions, NPY_INT64) : NULL;
    PyArrayObject *out = wanted && indices == NULL ? NULL : with_sizes(x, dims, positions, PyArray_TYPE(x));
    if (wanted && indices != NULL) p.indices = PyArray_DATA(indices);
    PyObject *best = run_planes(loops_for(x)->max, &p, PyArray_SIZE(x) / elements_in(&p), list, out);
    if (best == NULL || !wanted) {
        Py_XDECREF(indices);
        return best;
    }
    return Py_BuildValue("[NN]", best, indices);
}

/* The arguments of the two functions for means from the fourth on: whether padding counts, and the divisor or 0. */
static int mean_arguments(PyObject *const *args, Py_ssize_t given, int *include_padding, ptrdiff_t *divisor)
{
    if (given != 5) {
        PyErr_SetString(PyExc_TypeError, "expected 5 arguments");
        return 0;
    }
    *include_padding = PyObject_IsTrue(args[3]);
    *divisor = PyLong_AsSsize_t(args[4]);
    return *include_padding >= 0 && !PyErr_Occurred();
}

/* pool_mean(x, positions, windows, include_pad, divisor): the sum of each window, divided. */
static PyObject *pool_mean(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Pool p;
    ptrdiff_t *list, positions[DIMS], divisor;
    int dims, include_padding;
    if (!mean_arguments(args, given, &include_padding, &divisor)) return NULL;
    PyArrayObject *x = pool_arguments(args, 0, include_padding, &p, &list, positions, &dims);
    if (x == NULL) return NULL;
    p.divisor = divisor;
    PyArrayObject *out = with_sizes(x, dims, positions, PyArray_TYPE(x));
    return run_planes(loops_for(x)->mean, &p, PyArray_SIZE(x) / elements_in(&p), list, out);
}

/* pool_spread(g, sizes, windows, include_pad, divisor): each element, divided, added to its window of zeros. */
static PyObject *pool_spread(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Pool p;
    ptrdiff_t *list, sizes[DIMS], divisor;
    int dims, include_padding;
    if (!mean_arguments(args, given, &include_padding, &divisor)) return NULL;
    PyArrayObject *g = pool_arguments(args, 1, include_padding, &p, &list, sizes, &dims);
    if (g == NULL) return NULL;
    p.divisor = divisor;
    PyArrayObject *out = with_sizes(g, dims, sizes, PyArray_TYPE(g));
    return run_planes(loops_for(g)->spread, &p, PyArray_SIZE(g) / elements_out(&p), list, out);
}

/* pool_put(g, indices, size): each element of (planes, count) added to the element of zeros (planes, size) that its
   index names. */
static PyObject *pool_put(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Pool p = {.axis = {{.in = 1, .out = 1}, {.in = 1, .out = 1}, {.in = 0, .out = 1}}};
    PyArrayObject *g = given == 3 ? checked(args[0], 2, NULL) : NULL;
    PyArrayObject *indices = g == NULL ? NULL : (PyArrayObject *)args[1];
    if (g == NULL || !PyArray_Check(indices) || !PyArray_ISCARRAY_RO(indices) || PyArray_TYPE(indices) != NPY_INT64 ||
        !PyArray_SAMESHAPE(g, indices)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "pool_put: expected (planes, count), indices, a size");
        return NULL;
    }
    p.axis[2].in = PyLong_AsSsize_t(args[2]);
    p.axis[2].out = PyArray_DIM(g, 1);
    if (p.axis[2].in < 0 && PyErr_Occurred()) return NULL;
    if (!fits(p.axis[2].in >= 0)) return NULL;
    p.input = PyArray_BYTES(g);
    p.indices = PyArray_DATA(indices);
    atomic_init(&p.failed, 0);
    npy_intp shape[] = {PyArray_DIM(g, 0), p.axis[2].in};
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(2, shape, PyArray_TYPE(g));
    PyObject *made = run_planes(loops_for(g)->put, &p, shape[0], NULL, out);
    if (made != NULL && atomic_load(&p.failed)) {
        Py_DECREF(made);
        return PyErr_Format(PyExc_IndexError, "an index is outside of its plane");
    }
    return made;
}

#endif
