/* Matrices and what surrounds them.

       padded(x, pad)                       with zeros around x; pad = (left, right, top, bottom, ...), none negative
       triangle(rows, columns, offset, lower)   the places of a triangle of a matrix: row numbers above column numbers
       lower_part(x, offset), upper_part(x, offset)   matrices that lie row by row, with zeros in the other triangle
       diagonal_sum(x)                      of a matrix of float32 or float64, added up in float64 */
#ifndef LEAFGRAD_SHAPING_H
#define LEAFGRAD_SHAPING_H

#include "copying.h"

static PyObject *padded(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !is_plain(args[0]) || !PyTuple_CheckExact(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int ndim = PyArray_NDIM(x);
    Py_ssize_t sides = PyTuple_GET_SIZE(args[1]);
    npy_intp shape[NPY_MAXDIMS], before[NPY_MAXDIMS] = {0};
    if (sides % 2 || sides > 2 * ndim || (ndim > 3 && !PyArray_IS_C_CONTIGUOUS(x))) return NULL; /* their layout stays */
    for (int d = 0; d < ndim; d++) shape[d] = PyArray_DIM(x, d);
    for (Py_ssize_t i = 0; i < sides; i++) {
        PyObject *item = PyTuple_GET_ITEM(args[1], i);
        npy_intp size = PyLong_CheckExact(item) ? PyLong_AsSsize_t(item) : -1;
        int d = ndim - 1 - (int)(i / 2);
        if (size < 0 || size > INT32_MAX) {
            PyErr_Clear();
            return NULL;
        }
        if (i % 2 == 0) before[d] = size;
        shape[d] += size;
    }
    PyArray_Descr *descr = PyArray_DESCR(x);
    Py_INCREF(descr);
    PyArrayObject *out = (PyArrayObject *)PyArray_Zeros(ndim, shape, descr, 0);
    if (out == NULL) return NULL;
    char *to = PyArray_BYTES(out);
    if (PyArray_SIZE(x)) {
        for (int d = 0; d < ndim; d++) to += before[d] * PyArray_STRIDE(out, d);
        copy_elements(PyArray_BYTES(x), PyArray_STRIDES(x), to, PyArray_STRIDES(out), ndim, PyArray_DIMS(x),
                      PyArray_ITEMSIZE(x));
    }
    return (PyObject *)out;
}

/* Where the part of a row begins, or ends, that is in a triangle. */
static npy_intp triangle_end(npy_intp end, npy_intp columns) { return end < 0 ? 0 : end > columns ? columns : end; }

static PyObject *triangle(PyObject *const *args, Py_ssize_t given)
{
    npy_intp numbers[3];
    if (given != 4) return NULL;
    for (int i = 0; i < 3; i++) {
        numbers[i] = PyLong_CheckExact(args[i]) ? PyLong_AsSsize_t(args[i]) : -1;
        if ((i < 2 && numbers[i] < 0) || numbers[i] > INT32_MAX || numbers[i] < -INT32_MAX) {
            PyErr_Clear();
            return NULL;
        }
    }
    npy_intp rows = numbers[0], columns = numbers[1], offset = numbers[2], shape[2] = {2, 0};
    int lower = args[3] == Py_True;
    for (npy_intp i = 0; i < rows; i++) {
        shape[1] += lower ? triangle_end(i + offset + 1, columns) : columns - triangle_end(i + offset, columns);
    }
    PyObject *out = PyArray_SimpleNew(2, shape, NPY_INT64);
    if (out == NULL) return NULL;
    int64_t *row = PyArray_DATA((PyArrayObject *)out), *column = row + shape[1];
    for (npy_intp i = 0; i < rows; i++) {
        npy_intp end = lower ? triangle_end(i + offset + 1, columns) : columns;
        for (npy_intp j = lower ? 0 : triangle_end(i + offset, columns); j < end; j++) *row++ = i, *column++ = j;
    }
    return out;
}

static PyObject *part_of_matrices(PyObject *const *args, Py_ssize_t given, int lower)
{
    if (given != 2 || !is_dense(args[0]) || !PyLong_CheckExact(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    npy_intp offset = PyLong_AsSsize_t(args[1]);
    int ndim = PyArray_NDIM(x);
    if (PyErr_Occurred() || ndim < 2 || offset > INT32_MAX || offset < -INT32_MAX) {
        PyErr_Clear();
        return NULL;
    }
    PyArrayObject *out = new_like(x, ndim, PyArray_DIMS(x));
    if (out == NULL) return NULL;
    npy_intp rows = PyArray_DIM(x, ndim - 2), columns = PyArray_DIM(x, ndim - 1), item = PyArray_ITEMSIZE(x);
    npy_intp count = PyArray_SIZE(x) ? PyArray_SIZE(x) / columns : 0, line = columns * item;
    const char *from = PyArray_BYTES(x);
    char *to = PyArray_BYTES(out);
    Py_BEGIN_ALLOW_THREADS
    for (npy_intp i = 0; i < count; i++, from += line, to += line) {
        npy_intp kept = triangle_end(i % rows + offset + lower, columns) * item; /* before the diagonal */
        if (lower) {
            memcpy(to, from, kept);
            memset(to + kept, 0, line - kept);
        } else {
            memset(to, 0, kept);
            memcpy(to + kept, from + kept, line - kept);
        }
    }
    Py_END_ALLOW_THREADS
    return (PyObject *)out;
}

static PyObject *lower_part(PyObject *const *args, Py_ssize_t given) { return part_of_matrices(args, given, 1); }
static PyObject *upper_part(PyObject *const *args, Py_ssize_t given) { return part_of_matrices(args, given, 0); }

static PyObject *diagonal_sum(PyObject *const *args, Py_ssize_t given)
{
    if (given != 1 || !is_plain(args[0])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int single = PyArray_TYPE(x) == NPY_FLOAT;
    if (PyArray_NDIM(x) != 2 || (!single && PyArray_TYPE(x) != NPY_DOUBLE)) return NULL;
    npy_intp n = PyArray_DIM(x, 0) < PyArray_DIM(x, 1) ? PyArray_DIM(x, 0) : PyArray_DIM(x, 1);
    npy_intp step = PyArray_STRIDE(x, 0) + PyArray_STRIDE(x, 1);
    PyArrayObject *out = new_like(x, 0, NULL);
    if (out == NULL) return NULL;
    double total = 0;
    const char *at = PyArray_BYTES(x);
    for (npy_intp i = 0; i < n; i++) total += single ? *(const float *)(at + i * step) : *(const double *)(at + i * step);
    if (single) {
        *(float *)PyArray_BYTES(out) = (float)total;
    } else {
        *(double *)PyArray_BYTES(out) = total;
    }
    return (PyObject *)out;
}

/* -- views --------------------------------------------------------------------------------------------------------- */

/* A part of x that begins so many bytes behind it. */
static PyObject *view_into(PyArrayObject *x, int ndim, npy_intp *shape, npy_intp *strides, npy_intp offset)
{
    PyArray_Descr *descr = PyArray_DESCR(x);
    Py_INCREF(descr);
    PyObject *view = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides, PyArray_BYTES(x) + offset,
                                          PyArray_ISWRITEABLE(x) ? NPY_ARRAY_WRITEABLE : 0, NULL);
    if (view != NULL && PyArray_SetBaseObject((PyArrayObject *)view, Py_NewRef((PyObject *)x)) < 0) Py_CLEAR(view);
    return view;
}

/* The numbers of a tuple. Returns 0 if one is none, or is below `least`. */
static int numbers_of(PyObject *tuple, npy_intp least, npy_intp *numbers)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        numbers[i] = PyLong_CheckExact(item) ? PyLong_AsSsize_t(item) : least - 1;
        if (numbers[i] < least) {
            PyErr_Clear();
            return 0;
        }
    }
    return 1;
}

/* restrided(x, shape, strides): the memory of x from its first element on */
static PyObject *restrided(PyObject *const *args, Py_ssize_t given)
{
    npy_intp shape[NPY_MAXDIMS], strides[NPY_MAXDIMS];
    if (given != 3 || !PyArray_CheckExact(args[0])) return NULL;
    if (!PyTuple_CheckExact(args[1]) || !PyTuple_CheckExact(args[2])) return NULL;
    Py_ssize_t ndim = PyTuple_GET_SIZE(args[1]);
    if (ndim != PyTuple_GET_SIZE(args[2]) || ndim > NPY_MAXDIMS) return NULL;
    if (!numbers_of(args[1], 0, shape) || !numbers_of(args[2], -INT32_MAX, strides)) return NULL;
    return view_into((PyArrayObject *)args[0], (int)ndim, shape, strides, 0);
}

/* pieces(x, dim, sizes): consecutive pieces along a dimension */
static PyObject *pieces(PyObject *const *args, Py_ssize_t given)
{
    if (given != 3 || !PyArray_CheckExact(args[0]) || !PyTuple_CheckExact(args[2])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int ndim = PyArray_NDIM(x), dim = dim_of(args[1], x);
    if (dim < 0) return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(args[2]);
    npy_intp shape[NPY_MAXDIMS], start = 0, size = PyArray_DIM(x, dim);
    for (int d = 0; d < ndim; d++) shape[d] = PyArray_DIM(x, d);
    PyObject *made = PyList_New(count);
    for (Py_ssize_t i = 0; made != NULL && i < count; i++) {
        PyObject *number = PyTuple_GET_ITEM(args[2], i);
        shape[dim] = PyLong_CheckExact(number) ? PyLong_AsSsize_t(number) : -1;
        if (shape[dim] < 0 || shape[dim] > size - start) { /* NumPy says what becomes of it */
            PyErr_Clear();
            Py_CLEAR(made);
            break;
        }
        PyObject *view = view_into(x, ndim, shape, PyArray_STRIDES(x), start * PyArray_STRIDE(x, dim));
        if (view == NULL) {
            Py_CLEAR(made);
        } else {
            PyList_SET_ITEM(made, i, view);
        }
        start += shape[dim];
    }
    return made;
}

/* unbound(x, dim): all slices along a dimension, without it */
static PyObject *unbound(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !PyArray_CheckExact(args[0])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int dim = dim_of(args[1], x), left = 0;
    if (dim < 0) return NULL;
    npy_intp shape[NPY_MAXDIMS], strides[NPY_MAXDIMS], count = PyArray_DIM(x, dim);
    for (int d = 0; d < PyArray_NDIM(x); d++) {
        shape[left] = PyArray_DIM(x, d);
        strides[left] = PyArray_STRIDE(x, d);
        left += d != dim;
    }
    PyObject *made = PyList_New(count);
    for (npy_intp i = 0; made != NULL && i < count; i++) {
        PyObject *view = view_into(x, left, shape, strides, i * PyArray_STRIDE(x, dim));
        if (view == NULL) {
            Py_CLEAR(made);
        } else {
            PyList_SET_ITEM(made, i, view);
        }
    }
    return made;
}

#endif
