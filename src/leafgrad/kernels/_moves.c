/* Copies, joins and reversed arrays: Native(name, otherwise), see native.h.

       copied(x)                    a copy, row by row
       in_rows(x)                   x, if it lies row by row
       written(out, x)              out[...] = x, which may be repeated
       joined(*arrays, dim, sizes)  one after the other along a dimension, row by row
       stacked(*arrays, dim)        along a new dimension, row by row
       sizes_of_alike(arrays, dim)  the sizes along a dimension
       flipped(x, dims)             in reverse order along dimensions
       chosen(condition, a, b)      elements of a where the condition holds, of b elsewhere
       converted(x, dtype)          a copy in another dtype: conversions.h
       and those of bisecting.h, filling.h, indexing.h, searching.h, ordering.h and shaping.h

   They take exact ndarrays of up to 16 bytes for an element, and no objects. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "copying.h"
#include "native.h"

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

static PyObject *in_rows(PyObject *const *args, Py_ssize_t given)
{
    if (given != 1 || !PyArray_CheckExact(args[0]) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)args[0])) return NULL;
    return Py_NewRef(args[0]);
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
    npy_intp steps[NPY_MAXDIMS];
    int ndim = PyArray_NDIM(out), lead = ndim - PyArray_NDIM(x);
    if (PyArray_DESCR(out) != PyArray_DESCR(x) || lead < 0 || !PyArray_ISWRITEABLE(out)) return NULL;
    for (int i = 0; i < ndim; i++) { /* what x lacks, or has once, is repeated */
        npy_intp size = i < lead ? 1 : PyArray_DIM(x, i - lead);
        if (size != 1 && size != PyArray_DIM(out, i)) return NULL;
        steps[i] = size == 1 ? 0 : PyArray_STRIDE(x, i - lead);
    }
    if (PyArray_SIZE(out)) {
        const char *first, *last, *from, *to;
        extent(out, &first, &last);
        extent(x, &from, &to);
        if (from <= last && first <= to) return NULL; /* perhaps the same memory */
    }
    copy_elements(PyArray_BYTES(x), steps, PyArray_BYTES(out), PyArray_STRIDES(out), ndim, PyArray_DIMS(out),
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
    for (int i = 0; i < ndim; i++) shape[i] = PyArray_DIM(first, i);
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
    Py_ssize_t count = given - 2;
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

/* (*arrays, dim): arrays of one shape along a new dimension, row by row. */
static PyObject *stacked(PyObject *const *args, Py_ssize_t given)
{
    Py_ssize_t count = given - 1;
    if (count < 1 || !is_plain(args[0]) || !PyLong_CheckExact(args[count])) return NULL;
    PyArrayObject *first = (PyArrayObject *)args[0];
    int ndim = PyArray_NDIM(first);
    long dim = PyLong_AsLong(args[count]);
    if (dim < 0 || dim > ndim || ndim + 1 > NPY_MAXDIMS) {
        PyErr_Clear();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyArrayObject *part = (PyArrayObject *)args[i];
        if (!is_plain(args[i]) || PyArray_DESCR(part) != PyArray_DESCR(first) || PyArray_NDIM(part) != ndim) return NULL;
        if (!PyArray_CompareLists(PyArray_DIMS(part), PyArray_DIMS(first), ndim)) return NULL;
        if (ndim > 3 && !PyArray_IS_C_CONTIGUOUS(part)) return NULL; /* see fit_together */
    }
    npy_intp shape[NPY_MAXDIMS], steps[NPY_MAXDIMS];
    for (int d = 0; d <= ndim; d++) shape[d] = d == dim ? count : PyArray_DIM(first, d < dim ? d : d - 1);
    PyArrayObject *out = new_like(first, ndim + 1, shape);
    if (out == NULL) return NULL;
    for (int d = 0; d < ndim; d++) steps[d] = PyArray_STRIDE(out, d < dim ? d : d + 1);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyArrayObject *part = (PyArrayObject *)args[i];
        copy_elements(PyArray_BYTES(part), PyArray_STRIDES(part), PyArray_BYTES(out) + i * PyArray_STRIDE(out, (int)dim),
                      steps, ndim, PyArray_DIMS(part), PyArray_ITEMSIZE(part));
    }
    return (PyObject *)out;
}

/* (arrays, dim): the sizes of arrays along a dimension, None unless their dtypes and numbers of dimensions are the same */
static PyObject *sizes_of_alike(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !PyList_CheckExact(args[0]) || !PyLong_CheckExact(args[1])) return NULL;
    Py_ssize_t count = PyList_GET_SIZE(args[0]);
    long dim = PyLong_AsLong(args[1]);
    if (count < 1 || (dim == -1 && PyErr_Occurred())) return NULL;
    PyArrayObject *first = (PyArrayObject *)PyList_GET_ITEM(args[0], 0);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyArray_CheckExact(PyList_GET_ITEM(args[0], i))) return NULL;
    }
    int ndim = PyArray_NDIM(first);
    if (dim < 0 || dim >= ndim || (ndim == 1 && PyArray_DIM(first, 0) == 0)) Py_RETURN_NONE;
    PyObject *sizes = PyTuple_New(count);
    for (Py_ssize_t i = 0; sizes != NULL && i < count; i++) {
        PyArrayObject *x = (PyArrayObject *)PyList_GET_ITEM(args[0], i);
        if (PyArray_DESCR(x) != PyArray_DESCR(first) || PyArray_NDIM(x) != ndim) {
            Py_DECREF(sizes);
            Py_RETURN_NONE;
        }
        PyObject *size = PyLong_FromSsize_t(PyArray_DIM(x, (int)dim));
        if (size == NULL) {
            Py_CLEAR(sizes);
        } else {
            PyTuple_SET_ITEM(sizes, i, size);
        }
    }
    return sizes;
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
    for (int i = 0; i < ndim; i++) steps[i] = PyArray_STRIDE(x, i); /* of a single number there are none */
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

#include "bisecting.h"
#include "conversions.h"
#include "indexing.h"
#include "filling.h"
#include "layouts.h"
#include "ordering.h"
#include "searching.h"
#include "shaping.h"

/* -- chosen -------------------------------------------------------------------------------------------------------- */

typedef struct {
    const npy_bool *condition;
    const char *a, *b;
    char *out;
    int one_a, one_b; /* is it a single number? */
    npy_intp item;
} Choice;

#define DEFINE_CHOOSE(T)                                                                                               \
    VECTORISED static void choose_##T(const Choice *work, npy_intp first, npy_intp last)                               \
    {                                                                                                                  \
        const npy_bool *restrict condition = work->condition;                                                          \
        const T *restrict a = (const T *)work->a, *restrict b = (const T *)work->b;                                    \
        T *restrict out = (T *)work->out;                                                                              \
        T from_a = *a, from_b = *b;                                                                                    \
        if (work->one_a && work->one_b) {                                                                              \
            for (npy_intp i = first; i < last; i++) out[i] = condition[i] ? from_a : from_b;                           \
        } else if (work->one_a) {                                                                                      \
            for (npy_intp i = first; i < last; i++) out[i] = condition[i] ? from_a : b[i];                             \
        } else if (work->one_b) {                                                                                      \
            for (npy_intp i = first; i < last; i++) out[i] = condition[i] ? a[i] : from_b;                             \
        } else {                                                                                                       \
            for (npy_intp i = first; i < last; i++) { /* both are read: no branch that would be guessed */             \
                T one = a[i], other = b[i];                                                                            \
                out[i] = condition[i] ? one : other;                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }
DEFINE_CHOOSE(uint32_t)
DEFINE_CHOOSE(uint64_t)

static void choose_part(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Choice *work = context;
    (work->item == 4 ? choose_uint32_t : choose_uint64_t)(work, first, last);
}

static PyObject *chosen(PyObject *const *args, Py_ssize_t given)
{
    if (given != 3 || !is_dense(args[0]) || !is_dense(args[1]) || !is_dense(args[2])) return NULL;
    PyArrayObject *condition = (PyArrayObject *)args[0], *a = (PyArrayObject *)args[1], *b = (PyArrayObject *)args[2];
    Choice work = {(npy_bool *)PyArray_DATA(condition), PyArray_BYTES(a), PyArray_BYTES(b), NULL,
                   PyArray_NDIM(a) == 0, PyArray_NDIM(b) == 0, PyArray_ITEMSIZE(a)};
    npy_intp size = PyArray_SIZE(condition);
    if (PyArray_TYPE(condition) != NPY_BOOL || PyArray_DESCR(a) != PyArray_DESCR(b) || size == 0) return NULL;
    if (work.item != 4 && work.item != 8) return NULL;
    if (!work.one_a && !PyArray_SAMESHAPE(a, condition)) return NULL;
    if (!work.one_b && !PyArray_SAMESHAPE(b, condition)) return NULL;
    PyArrayObject *out = new_like(a, PyArray_NDIM(condition), PyArray_DIMS(condition));
    if (out == NULL) return NULL;
    work.out = PyArray_BYTES(out);
    run_on_elements(choose_part, &work, size, work.item);
    return (PyObject *)out;
}

/* -- the module ---------------------------------------------------------------------------------------------------- */

static const NativeFunction functions[] = {
    {"copied", copied},
    {"in_rows", in_rows},
    {"in_common_order", in_common_order},
    {"written", written},
    {"joined", joined},
    {"stacked", stacked},
    {"sizes_of_alike", sizes_of_alike},
    {"flipped", flipped},
    {"filled", filled},
    {"full", full},
    {"spaced", spaced},
    {"counted", counted},
    {"chosen", chosen},
    {"converted", converted},
    {"taken", taken},
    {"gathered", gathered},
    {"flat_index", flat_index},
    {"total_of_targets", total_of_targets},
    {"scattered", scattered},
    {"slices_added", slices_added},
    {"rows_summed", rows_summed},
    {"first_of_order", first_of_order},
    {"ordered", ordered},
    {"ranked", ranked},
    {"occurrences", occurrences},
    {"places", places},
    {"padded", padded},
    {"pieces", pieces},
    {"restrided", restrided},
    {"unbound", unbound},
    {"triangle", triangle},
    {"lower_part", lower_part},
    {"upper_part", upper_part},
    {"diagonal_sum", diagonal_sum},
    {"first_outside", first_outside},
    {NULL},
};

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
    if (module != NULL && native_prepare(module, functions) < 0) Py_CLEAR(module);
    return module;
}
