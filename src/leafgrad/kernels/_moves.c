/* Copies, joins and reversed arrays: Native(name, otherwise), see native.h.

       copied(x)                    a copy, row by row
       written(out, x)              out[...] = x
       joined(*arrays, dim)         one after the other along a dimension, row by row
       flipped(x, dims)             in reverse order along dimensions
       and those of indexing.h

   They take exact ndarrays of up to 16 bytes for an element, and no objects. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "copying.h"

typedef struct {
    const char *name;
    PyObject *(*run)(PyObject *const *args, Py_ssize_t given);
} NativeFunction;

/* An array whose elements are plain bytes, one, two, four, eight or sixteen of them. */
static int is_plain(PyObject *object)
{
    if (!PyArray_CheckExact(object)) return 0;
    PyArrayObject *x = (PyArrayObject *)object;
    npy_intp item = PyArray_ITEMSIZE(x);
    return PyArray_ISALIGNED(x) && !PyDataType_REFCHK(PyArray_DESCR(x)) &&
           (item == 1 || item == 2 || item == 4 || item == 8 || item == 16);
}

static PyArrayObject *new_like(PyArrayObject *x, int ndim, const npy_intp *shape)
{
    PyArray_Descr *descr = PyArray_DESCR(x);
    Py_INCREF(descr);
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, ndim, (npy_intp *)shape, NULL, NULL, 0, NULL);
}

static PyObject *copied(PyObject *const *args, Py_ssize_t given)
{
    if (given != 1 || !is_plain(args[0])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0], *out = new_like(x, PyArray_NDIM(x), PyArray_DIMS(x));
    if (out == NULL) return NULL;
    copy_elements(PyArray_BYTES(x), PyArray_STRIDES(x), PyArray_BYTES(out), PyArray_STRIDES(out), PyArray_NDIM(x),
                  PyArray_DIMS(x), PyArray_ITEMSIZE(x));
    return (PyObject *)out;
}

/* The first and the last byte that an array has something to do with. */
static void extent(PyArrayObject *x, const char **first, const char **last)
{
    *first = *last = PyArray_BYTES(x);
    for (int i = 0; i < PyArray_NDIM(x); i++) {
        npy_intp reach = (PyArray_DIM(x, i) - 1) * PyArray_STRIDE(x, i);
        if (reach > 0) *last += reach; else *first += reach;
    }
    *last += PyArray_ITEMSIZE(x) - 1;
}

static PyObject *written(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !is_plain(args[0]) || !is_plain(args[1])) return NULL;
    PyArrayObject *out = (PyArrayObject *)args[0], *x = (PyArrayObject *)args[1];
    int ndim = PyArray_NDIM(out);
    if (PyArray_DESCR(out) != PyArray_DESCR(x) || PyArray_NDIM(x) != ndim || !PyArray_ISWRITEABLE(out)) return NULL;
    if (!PyArray_CompareLists(PyArray_DIMS(out), PyArray_DIMS(x), ndim)) return NULL;
    if (PyArray_SIZE(x)) {
        const char *first, *last, *from, *to;
        extent(out, &first, &last);
        extent(x, &from, &to);
        if (from <= last && first <= to) return NULL; /* perhaps the same memory */
    }
    copy_elements(PyArray_BYTES(x), PyArray_STRIDES(x), PyArray_BYTES(out), PyArray_STRIDES(out), ndim, PyArray_DIMS(x),
                  PyArray_ITEMSIZE(x));
    return Py_NewRef((PyObject *)out);
}

/* -- joined -------------------------------------------------------------------------------------------------------- */

/* Do the arrays fit together along a dimension? Fills in the shape of the whole. */
static int fit_together(PyObject *const *args, Py_ssize_t count, int dim, npy_intp *shape)
{
    PyArrayObject *first = (PyArrayObject *)args[0];
    int ndim = PyArray_NDIM(first);
    if (dim < 0 || dim >= ndim) return 0;
    memcpy(shape, PyArray_DIMS(first), ndim * sizeof *shape);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyArrayObject *part = (PyArrayObject *)args[i];
        if (!is_plain(args[i]) || PyArray_DESCR(part) != PyArray_DESCR(first) || PyArray_NDIM(part) != ndim) return 0;
        if (ndim > 3 && !PyArray_IS_C_CONTIGUOUS(part)) return 0; /* whose layout may be kept */
        for (int d = 0; d < ndim; d++) {
            if (d != dim && PyArray_DIM(part, d) != shape[d]) return 0;
        }
        if (i) shape[dim] += PyArray_DIM(part, dim);
    }
    return 1;
}

static PyObject *joined(PyObject *const *args, Py_ssize_t given)
{
    Py_ssize_t count = given - 1;
    npy_intp shape[NPY_MAXDIMS];
    if (count < 1 || !is_plain(args[0]) || !PyLong_CheckExact(args[count])) return NULL;
    int dim = (int)PyLong_AsLong(args[count]);
    if (!fit_together(args, count, dim, shape)) return NULL;
    int ndim = PyArray_NDIM((PyArrayObject *)args[0]);
    PyArrayObject *out = new_like((PyArrayObject *)args[0], ndim, shape);
    if (out == NULL) return NULL;
    char *to = PyArray_BYTES(out);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyArrayObject *part = (PyArrayObject *)args[i];
        copy_elements(PyArray_BYTES(part), PyArray_STRIDES(part), to, PyArray_STRIDES(out), ndim, PyArray_DIMS(part),
                      PyArray_ITEMSIZE(part));
        to += PyArray_DIM(part, dim) * PyArray_STRIDE(out, dim);
    }
    return (PyObject *)out;
}

/* -- flipped ------------------------------------------------------------------------------------------------------- */

static PyObject *flipped(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !is_plain(args[0]) || !PyTuple_CheckExact(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int ndim = PyArray_NDIM(x);
    if (!PyArray_IS_C_CONTIGUOUS(x)) return NULL; /* whose layout is kept */
    npy_intp steps[NPY_MAXDIMS];
    const char *from = PyArray_BYTES(x);
    memcpy(steps, PyArray_STRIDES(x), ndim * sizeof *steps);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); i++) {
        PyObject *dim = PyTuple_GET_ITEM(args[1], i);
        long place = PyLong_CheckExact(dim) ? PyLong_AsLong(dim) : -1;
        if (place < 0 || place >= ndim) {
            PyErr_Clear();
            return NULL;
        }
        if (PyArray_SIZE(x)) from += (PyArray_DIM(x, place) - 1) * steps[place];
        steps[place] = -steps[place];
    }
    PyArrayObject *out = new_like(x, ndim, PyArray_DIMS(x));
    if (out == NULL) return NULL;
    copy_elements(from, steps, PyArray_BYTES(out), PyArray_STRIDES(out), ndim, PyArray_DIMS(x), PyArray_ITEMSIZE(x));
    return (PyObject *)out;
}

#include "indexing.h"

/* -- the module ---------------------------------------------------------------------------------------------------- */

static const NativeFunction native_functions[] = {
    {"copied", copied},
    {"written", written},
    {"joined", joined},
    {"flipped", flipped},
    {"taken", taken},
    {"gathered", gathered},
    {"scattered", scattered},
    {"slices_added", slices_added},
    {NULL},
};

#include "native.h"

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leafgrad.kernels._moves",
    .m_doc = "Copies between arrays of any strides.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__moves(void)
{
    import_array();
    if (pool_import() < 0) return NULL;
    indexing_prepare();
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && native_prepare(module) < 0) Py_CLEAR(module);
    return module;
}
