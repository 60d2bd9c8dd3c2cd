/* Fourier transforms along dimensions: Native(name, otherwise), see native.h and fourier.h.

       complex_transform(x, dims, factor, forward)   complex numbers to complex ones
       real_transform(x, dims, factor, onesided)     real numbers to complex ones; half of the last dimension, or all
       real_inverse(x, dims, factor, size)           such a half to `size` real numbers

   They are sums times `factor`. They take exact ndarrays of single or double precision whose sizes have no large prime
   factors. The dimensions that are transformed lie last in memory, as in PyTorch. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <stdint.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "fourier.h"
#include "native.h"

#define MOST_KEPT ((ptrdiff_t)1 << 26) /* bytes of plans, from which on those that nobody uses are dropped */

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(x) JOIN(x, REAL)

#define REAL float
#include "fourier_passes.h"
#include "fourier_plans.h"
#include "fourier_lines.h"
#undef REAL
#define REAL double
#include "fourier_passes.h"
#include "fourier_plans.h"
#include "fourier_lines.h"
#undef REAL

/* -- arguments ----------------------------------------------------------------------------------------------------- */

/* What a function is called with. The last of the dimensions is that of real numbers. */
typedef struct {
    PyArrayObject *x;
    int ndim, count, dims[MOST_AXES];
    int is_double, real; /* numbers of x */
    double factor;
} Call;

static int is_smooth(npy_intp n)
{
    for (npy_intp r = 2; r <= LARGEST_PRIME && n > 1; r++) {
        while (n % r == 0) n /= r;
    }
    return n == 1;
}

static int read_dims(Call *call, PyObject *dims)
{
    if (!PyTuple_CheckExact(dims) || PyTuple_GET_SIZE(dims) < 1 || PyTuple_GET_SIZE(dims) > call->ndim) return 0;
    call->count = (int)PyTuple_GET_SIZE(dims);
    for (int i = 0; i < call->count; i++) {
        PyObject *dim = PyTuple_GET_ITEM(dims, i);
        if (!PyLong_CheckExact(dim)) return 0;
        long at = PyLong_AsLong(dim);
        if (at < 0 || at >= call->ndim) {
            PyErr_Clear();
            return 0;
        }
        for (int j = 0; j < i; j++) {
            if (call->dims[j] == at) return 0;
        }
        call->dims[i] = (int)at;
    }
    return 1;
}

static int read_call(Call *call, PyObject *const *args, Py_ssize_t given, int real)
{
    if (given != 4 || !PyArray_CheckExact(args[0]) || !PyFloat_CheckExact(args[2])) return 0;
    PyArrayObject *x = call->x = (PyArrayObject *)args[0];
    int type = PyArray_TYPE(x);
    call->real = real;
    call->is_double = type == (real ? NPY_DOUBLE : NPY_CDOUBLE);
    if (!call->is_double && type != (real ? NPY_FLOAT : NPY_CFLOAT)) return 0;
    call->ndim = PyArray_NDIM(x);
    call->factor = PyFloat_AS_DOUBLE(args[2]);
    if (call->ndim > MOST_AXES || !PyArray_ISALIGNED(x) || !PyArray_ISNOTSWAPPED(x) || PyArray_SIZE(x) == 0) return 0;
    for (int i = 0; i < call->ndim; i++) {
        if (PyArray_STRIDE(x, i) % (call->is_double ? 8 : 4)) return 0;
    }
    return read_dims(call, args[1]);
}

static int are_smooth(const Call *call, npy_intp last)
{
    for (int i = 0; i < call->count - 1; i++) {
        if (!is_smooth(PyArray_DIM(call->x, call->dims[i]))) return 0;
    }
    return is_smooth(last);
}

/* Dimensions in the order of x in memory, the slowest first; those of equal strides stay as they are. */
static void sort_by_stride(PyArrayObject *x, int *dims, int count)
{
    for (int i = 1; i < count; i++) {
        int dim = dims[i], at = i;
        for (; at > 0 && PyArray_STRIDE(x, dims[at - 1]) < PyArray_STRIDE(x, dim); at--) dims[at] = dims[at - 1];
        dims[at] = dim;
    }
}

/* A new array with `last` elements in the last of the dimensions, which lie last in memory; with `sorted` all of them
   in the order of x. */
static PyArrayObject *new_result(const Call *call, int type, npy_intp last, int sorted)
{
    int order[MOST_AXES], others = 0;
    npy_intp shape[MOST_AXES], strides[MOST_AXES];
    for (int i = 0; i < call->ndim; i++) {
        int used = 0;
        for (int j = 0; j < call->count; j++) used |= call->dims[j] == i;
        if (!used) order[others++] = i;
        shape[i] = PyArray_DIM(call->x, i);
    }
    shape[call->dims[call->count - 1]] = last;
    memcpy(order + others, call->dims, (size_t)call->count * sizeof(int));
    sort_by_stride(call->x, order, others);
    sort_by_stride(call->x, order + others, sorted ? call->count : call->count - 1);
    PyArray_Descr *descr = PyArray_DescrFromType(type);
    npy_intp step = PyDataType_ELSIZE(descr);
    for (int i = call->ndim - 1; i >= 0; i--) {
        strides[order[i]] = step;
        step *= shape[order[i]];
    }
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, call->ndim, shape, strides, NULL, 0, NULL);
}

/* -- transforms ---------------------------------------------------------------------------------------------------- */

/* Lines along a dimension of `from` and `to`, which have the same sizes in all others; `shape` are those of the lines
   that are transformed. The axis that is the fastest in memory comes last: its lines are beside each other. */
static Lines lines_along(const Call *call, PyArrayObject *from, PyArrayObject *to, int dim, const npy_intp *shape)
{
    npy_intp item = call->is_double ? 8 : 4;
    Lines lines = {.from = PyArray_DATA(from), .to = PyArray_DATA(to), .scale = 1, .lines = 1};
    lines.from_step = PyArray_STRIDE(from, dim) / item;
    lines.to_step = PyArray_STRIDE(to, dim) / item;
    for (int i = 0; i < call->ndim; i++) {
        if (i == dim || shape[i] == 1) continue;
        ptrdiff_t step = PyArray_STRIDE(to, i) / item, at = lines.axes++;
        for (; at > 0 && lines.to_steps[at - 1] < step; at--) {
            lines.size[at] = lines.size[at - 1];
            lines.to_steps[at] = lines.to_steps[at - 1];
            lines.from_steps[at] = lines.from_steps[at - 1];
        }
        lines.size[at] = shape[i];
        lines.to_steps[at] = step;
        lines.from_steps[at] = PyArray_STRIDE(from, i) / item;
        lines.lines *= shape[i];
    }
    return lines;
}

static int run_along(const Call *call, Lines *lines, npy_intp n)
{
    return call->is_double ? run_double(lines, n) : run_float(lines, n);
}

/* Complex numbers along the first `count` of the dimensions. What is read and written has this `shape`. */
static int transform_complex(const Call *call, PyArrayObject *from, PyArrayObject *to, const npy_intp *shape, int count,
                             int forward, double factor)
{
    for (int i = 0; i < count; i++) {
        Lines lines = lines_along(call, i ? to : from, to, call->dims[i], shape);
        lines.swaps_taken = lines.swaps_put = !forward;
        if (i == count - 1) lines.scale = factor;
        int done = run_along(call, &lines, shape[call->dims[i]]);
        if (done <= 0) return done;
    }
    return 1;
}

/* The result, if all went well. */
static PyObject *finished(PyArrayObject *out, int done)
{
    if (done <= 0) Py_CLEAR(out);
    return (PyObject *)out;
}

static PyObject *complex_transform(PyObject *const *args, Py_ssize_t given)
{
    Call call;
    if (!read_call(&call, args, given, 0) || !PyBool_Check(args[3])) return NULL;
    npy_intp last = PyArray_DIM(call.x, call.dims[call.count - 1]);
    if (!are_smooth(&call, last)) return NULL;
    PyArrayObject *out = new_result(&call, PyArray_TYPE(call.x), last, 1);
    if (out == NULL) return NULL;
    int forward = args[3] == Py_True;
    return finished(out, transform_complex(&call, call.x, out, PyArray_DIMS(out), call.count, forward, call.factor));
}

/* The second half of the last dimension: conjugates of what lies opposite, along all dimensions. */
typedef struct {
    Lines lines;
    ptrdiff_t n;
    int mirrored[MOST_AXES], is_double;
} Mirror;

#define FILL_MIRRORED(REAL)                                                                                            \
    static void fill_line_##REAL(const REAL *from, REAL *to, ptrdiff_t step, ptrdiff_t n)                              \
    {                                                                                                                  \
        for (ptrdiff_t k = n / 2 + 1; k < n; k++) {                                                                    \
            to[k * step] = from[(n - k) * step];                                                                       \
            to[k * step + 1] = -from[(n - k) * step + 1];                                                              \
        }                                                                                                              \
    }
FILL_MIRRORED(float)
FILL_MIRRORED(double)

static void fill_mirrored(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Mirror *mirror = context;
    const Lines *lines = &mirror->lines;
    for (ptrdiff_t line = first; line < last; line++) {
        ptrdiff_t rest = line, from = 0, to = 0;
        for (ptrdiff_t i = lines->axes - 1; i >= 0; i--) {
            ptrdiff_t place = rest % lines->size[i], opposite = place ? lines->size[i] - place : 0;
            rest /= lines->size[i];
            to += place * lines->to_steps[i];
            from += (mirror->mirrored[i] ? opposite : place) * lines->to_steps[i];
        }
        if (mirror->is_double) {
            fill_line_double((double *)lines->to + from, (double *)lines->to + to, lines->to_step, mirror->n);
        } else {
            fill_line_float((float *)lines->to + from, (float *)lines->to + to, lines->to_step, mirror->n);
        }
    }
}

static void mirror_half(const Call *call, PyArrayObject *out)
{
    int dim = call->dims[call->count - 1];
    npy_intp item = call->is_double ? 8 : 4;
    Mirror mirror = {.lines = lines_along(call, out, out, dim, PyArray_DIMS(out)), .n = PyArray_DIM(out, dim)};
    mirror.is_double = call->is_double;
    for (ptrdiff_t i = 0; i < mirror.lines.axes; i++) {
        for (int j = 0; j < call->count - 1; j++) { /* strides tell which axis is which, if it is among them */
            int dim = call->dims[j], same = PyArray_STRIDE(out, dim) / item == mirror.lines.to_steps[i];
            mirror.mirrored[i] |= same && PyArray_DIM(out, dim) > 1;
        }
    }
    Py_BEGIN_ALLOW_THREADS
    if (PyArray_SIZE(out) < (1 << 15)) {
        fill_mirrored(&mirror, 0, mirror.lines.lines);
    } else {
        pool_run(fill_mirrored, &mirror, mirror.lines.lines, mirror.n * item * 2, PyArray_SIZE(out) >= (1 << 19));
    }
    Py_END_ALLOW_THREADS
}

static PyObject *real_transform(PyObject *const *args, Py_ssize_t given)
{
    Call call;
    if (!read_call(&call, args, given, 1) || !PyBool_Check(args[3])) return NULL;
    int last = call.dims[call.count - 1], whole = args[3] == Py_False;
    npy_intp n = PyArray_DIM(call.x, last), shape[MOST_AXES];
    if (!are_smooth(&call, n)) return NULL;
    PyArrayObject *out = new_result(&call, call.is_double ? NPY_CDOUBLE : NPY_CFLOAT, whole ? n : n / 2 + 1, 0);
    if (out == NULL) return NULL;
    Lines lines = lines_along(&call, call.x, out, last, PyArray_DIMS(call.x));
    lines.takes = REALS;
    lines.puts = HALVES;
    lines.scale = call.factor;
    int done = run_along(&call, &lines, n);
    memcpy(shape, PyArray_DIMS(out), (size_t)call.ndim * sizeof(npy_intp));
    shape[last] = n / 2 + 1;
    if (done > 0) done = transform_complex(&call, out, out, shape, call.count - 1, 1, 1.0);
    if (done > 0 && whole) mirror_half(&call, out);
    return finished(out, done);
}

static PyObject *real_inverse(PyObject *const *args, Py_ssize_t given)
{
    Call call;
    if (!read_call(&call, args, given, 0) || !PyLong_CheckExact(args[3])) return NULL;
    int last = call.dims[call.count - 1];
    npy_intp n = PyLong_AsSsize_t(args[3]);
    if (n < 1) {
        PyErr_Clear();
        return NULL;
    }
    if (PyArray_DIM(call.x, last) != n / 2 + 1 || !are_smooth(&call, n)) return NULL;
    PyArrayObject *between = call.x, *out = new_result(&call, call.is_double ? NPY_DOUBLE : NPY_FLOAT, n, 0);
    if (out == NULL) return NULL;
    int done = 1;
    if (call.count > 1) {
        between = (PyArrayObject *)PyArray_NewLikeArray(call.x, NPY_CORDER, NULL, 0);
        if (between == NULL) return finished(out, 0);
        done = transform_complex(&call, call.x, between, PyArray_DIMS(call.x), call.count - 1, 0, 1.0);
    }
    if (done > 0) {
        Lines lines = lines_along(&call, between, out, last, PyArray_DIMS(out));
        lines.takes = HALVES;
        lines.puts = REALS;
        lines.swaps_taken = 1;
        lines.scale = call.factor;
        done = run_along(&call, &lines, n);
    }
    if (between != call.x) Py_DECREF(between);
    return finished(out, done);
}

/* -- the module ---------------------------------------------------------------------------------------------------- */

static const NativeFunction functions[] = {
    {"complex_transform", complex_transform},
    {"real_transform", real_transform},
    {"real_inverse", real_inverse},
    {NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leafgrad.kernels._fourier",
    .m_doc = "Fourier transforms.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__fourier(void)
{
    import_array();
    if (pool_import() < 0) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && native_prepare(module, functions) < 0) Py_CLEAR(module);
    return module;
}
