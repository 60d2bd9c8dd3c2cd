/* sample() and sample_back(), as they are called from Python. */
#ifndef LEAFGRAD_IMAGES_SAMPLERS_H
#define LEAFGRAD_IMAGES_SAMPLERS_H

#include "images_arguments.h"
#include "images_places.h"

/* image, grid, mode, padding, align_corners. Returns the image. */
static PyArrayObject *sampling_arguments(PyObject *const *args, Sampling *s)
{
    *s = (Sampling){0};
    s->dims = PyArray_Check(args[0]) ? PyArray_NDIM((PyArrayObject *)args[0]) - 2 : 0;
    if (!fits(s->dims == 2 || s->dims == 3)) return NULL;
    PyArrayObject *image = checked(args[0], s->dims + 2, NULL);
    PyArrayObject *grid = image == NULL ? NULL : checked(args[1], s->dims + 2, image);
    if (grid == NULL) return NULL;
    s->mode = (int)PyLong_AsLong(args[2]);
    s->padding = (int)PyLong_AsLong(args[3]);
    s->align = PyObject_IsTrue(args[4]);
    if (PyErr_Occurred()) return NULL;
    s->n = PyArray_DIM(image, 0);
    s->c = PyArray_DIM(image, 1);
    sizes_of(image, s->sizes);
    s->points = 1;
    for (int i = 0; i < s->dims; i++) s->points *= PyArray_DIM(grid, i + 1);
    if (!fits(PyArray_DIM(grid, 0) == s->n && PyArray_DIM(grid, s->dims + 1) == s->dims && s->mode >= MODE_LINEAR &&
              s->mode <= (s->dims == 2 ? MODE_CUBIC : MODE_NEAREST) && s->padding >= PAD_ZEROS &&
              s->padding <= PAD_REFLECTION && product(s->sizes) > 0 && product(s->sizes) <= INT32_MAX)) {
        return NULL;
    }
    s->along = s->mode == MODE_LINEAR ? 2 : s->mode == MODE_NEAREST ? 1 : 4;
    s->taps = s->dims == 2 ? s->along * s->along : s->along * s->along * s->along;
    s->blocks = ceil_div(s->points, POINTS);
    s->groups = MAX(1, MIN(ceil_div(s->c, CHANNELS), MOST_GROUPS / MAX(s->n, 1)));
    s->image = PyArray_BYTES(image);
    s->grid = PyArray_BYTES(grid);
    return image;
}

/* sample(image, grid, mode, padding, align_corners): (n, c, the sizes of the grid). */
static PyObject *sample(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Sampling s;
    if (given != 5) return PyErr_Format(PyExc_TypeError, "sample: expected 5 arguments");
    PyArrayObject *image = sampling_arguments(args, &s);
    if (image == NULL) return NULL;
    npy_intp shape[DIMS + 2] = {s.n, s.c};
    for (int i = 0; i < s.dims; i++) shape[i + 2] = PyArray_DIM((PyArrayObject *)args[1], i + 1);
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(s.dims + 2, shape, PyArray_TYPE(image));
    if (out == NULL) return NULL;
    s.out = PyArray_BYTES(out);
    Py_BEGIN_ALLOW_THREADS
    ptrdiff_t products = s.n * s.points * (s.c + 2) * s.taps;
    if (products < FEW_PRODUCTS) {
        loops_for(image)->sample(&s, 0, s.n * s.blocks);
    } else {
        ptrdiff_t bytes = POINTS * (s.c + 2) * s.taps * PyArray_ITEMSIZE(out);
        pool_run(loops_for(image)->sample, &s, s.n * s.blocks, bytes, products >= MANY_ELEMENTS);
    }
    Py_END_ALLOW_THREADS
    return (PyObject *)out;
}

static void run_back(const Loops *loops, Sampling *s)
{
    ptrdiff_t products = s->n * s->points * (s->c + 2) * s->taps;
    if (products < FEW_PRODUCTS) {
        loops->sample_back(s, 0, s->n * s->groups);
    } else {
        pool_run(loops->sample_back, s, s->n * s->groups, TASK_BYTES, products >= MANY_ELEMENTS);
    }
    if (s->of_grid != NULL && s->groups > 1) loops->add_groups(s, 0, s->n * s->points * s->dims);
}

/* sample_back(g, image, grid, mode, padding, align_corners, of_image, of_grid): the gradients that are wanted. */
static PyObject *sample_back(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Sampling s;
    if (given != 8) return PyErr_Format(PyExc_TypeError, "sample_back: expected 8 arguments");
    PyArrayObject *image = sampling_arguments(args + 1, &s);
    PyArrayObject *g = image == NULL ? NULL : checked(args[0], s.dims + 2, image);
    if (g == NULL || !fits(PyArray_SIZE(g) == s.n * s.c * s.points)) return NULL;
    int wanted[2] = {PyObject_IsTrue(args[6]), PyObject_IsTrue(args[7])};
    PyArrayObject *grid = (PyArrayObject *)args[2], *of_image = NULL, *of_grid = NULL;
    char *parts = NULL;
    s.g = PyArray_BYTES(g);
    if (wanted[0]) {
        of_image = (PyArrayObject *)PyArray_ZEROS(s.dims + 2, PyArray_DIMS(image), PyArray_TYPE(image), 0);
        if (of_image == NULL) goto failed;
        s.of_image = PyArray_BYTES(of_image);
    }
    if (wanted[1]) {
        of_grid = (PyArrayObject *)PyArray_SimpleNew(s.dims + 2, PyArray_DIMS(grid), PyArray_TYPE(grid));
        if (of_grid == NULL) goto failed;
        s.of_grid = PyArray_BYTES(of_grid);
        if (s.groups > 1) {
            s.of_grid = parts = malloc((size_t)s.groups * (size_t)PyArray_NBYTES(grid) + 1);
            if (parts == NULL) {
                PyErr_NoMemory();
                goto failed;
            }
        }
    }
    Py_BEGIN_ALLOW_THREADS
    run_back(loops_for(image), &s);
    if (parts != NULL) memcpy(PyArray_BYTES(of_grid), parts, (size_t)PyArray_NBYTES(grid));
    Py_END_ALLOW_THREADS
    free(parts);
    return Py_BuildValue("NN", of_image == NULL ? Py_NewRef(Py_None) : (PyObject *)of_image,
                         of_grid == NULL ? Py_NewRef(Py_None) : (PyObject *)of_grid);
failed:
    Py_XDECREF(of_image);
    Py_XDECREF(of_grid);
    return NULL;
}

#endif
