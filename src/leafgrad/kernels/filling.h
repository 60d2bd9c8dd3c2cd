/* New arrays and memory with one value, or with numbers at equal distances. Included by _moves.c.

       full(shape, value)                  a new array of one value, an array without dimensions
       filled(x, value)                    the same in the memory of x
       spaced(start, end, step, count)     count numbers, from start on in the first half and up to the end in the other
       counted(count)                      0, 1, ..., int64 */
#ifndef LEAFGRAD_FILLING_H
#define LEAFGRAD_FILLING_H

#include <math.h>

typedef struct {
    char *to;
    npy_intp item;
    union {
        char bytes[16];
        uint8_t of_1;
        uint16_t of_2;
        uint32_t of_4;
        uint64_t of_8;
        Pair of_16;
    } value;
} Filling;

#define DEFINE_FILL(T, field)                                                                                          \
    VECTORISED static void fill_##T(const Filling *work, npy_intp first, npy_intp last)                                \
    {                                                                                                                  \
        T *restrict out = (T *)work->to;                                                                               \
        T value = work->value.field;                                                                                   \
        for (npy_intp i = first; i < last; i++) out[i] = value;                                                        \
    }
DEFINE_FILL(uint8_t, of_1)
DEFINE_FILL(uint16_t, of_2)
DEFINE_FILL(uint32_t, of_4)
DEFINE_FILL(uint64_t, of_8)
DEFINE_FILL(Pair, of_16)

static void fill_part(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Filling *work = context;
    static const char zeros[16];
    if (memcmp(work->value.bytes, zeros, work->item) == 0) {
        memset(work->to + first * work->item, 0, (last - first) * work->item);
    } else {
        BY_ITEM(fill, work->item)(work, first, last);
    }
}

/* work(context, 0, count) where elements have `item` bytes; the interpreter lock is held. */
static void run_on_elements(pool_work work, void *context, npy_intp count, npy_intp item)
{
    npy_intp bytes = count * item;
    if (bytes < LET_OTHERS_RUN) {
        work(context, 0, count);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (bytes < SPLIT_FROM) {
        work(context, 0, count);
    } else {
        pool_run(work, context, count, item, bytes >= LONG_COPY);
    }
    Py_END_ALLOW_THREADS
}

static PyObject *filled_with(PyArrayObject *out, PyArrayObject *value)
{
    if (out == NULL) return NULL;
    Filling work = {.to = PyArray_BYTES(out), .item = PyArray_ITEMSIZE(out)};
    memcpy(work.value.bytes, PyArray_BYTES(value), work.item);
    run_on_elements(fill_part, &work, PyArray_SIZE(out), work.item);
    return (PyObject *)out;
}

static PyObject *filled(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !is_dense(args[0]) || !is_plain(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0], *value = (PyArrayObject *)args[1];
    if (PyArray_NDIM(value) || PyArray_DESCR(x) != PyArray_DESCR(value) || !PyArray_ISWRITEABLE(x)) return NULL;
    return filled_with((PyArrayObject *)Py_NewRef((PyObject *)x), value);
}

static PyObject *full(PyObject *const *args, Py_ssize_t given)
{
    npy_intp shape[NPY_MAXDIMS];
    if (given != 2 || !PyTuple_CheckExact(args[0]) || !is_plain(args[1])) return NULL;
    PyArrayObject *value = (PyArrayObject *)args[1];
    Py_ssize_t ndim = PyTuple_GET_SIZE(args[0]);
    if (PyArray_NDIM(value) || ndim > NPY_MAXDIMS) return NULL;
    for (Py_ssize_t i = 0; i < ndim; i++) {
        PyObject *size = PyTuple_GET_ITEM(args[0], i);
        shape[i] = PyLong_CheckExact(size) ? PyLong_AsSsize_t(size) : -1;
        if (shape[i] < 0) { /* NumPy says what is wrong with it */
            PyErr_Clear();
            return NULL;
        }
    }
    return filled_with(new_like(value, (int)ndim, shape), value);
}

/* -- numbers at equal distances ------------------------------------------------------------------------------------ */

typedef struct {
    void *to;
    double start, end, step;
    npy_intp count, half;
} Spacing;

/* Products and sums are rounded once: those of float32 fit into float64. */
#define DEFINE_SPACED(T, place)                                                                                        \
    VECTORISED static void spaced_##T(void *context, ptrdiff_t first, ptrdiff_t last)                                  \
    {                                                                                                                  \
        const Spacing *work = context;                                                                                 \
        T *restrict out = work->to;                                                                                    \
        double start = work->start, end = work->end, step = work->step;                                                \
        npy_intp middle = last < work->half ? last : work->half, behind = work->count - 1;                             \
        if (middle < first) middle = first;                                                                            \
        for (npy_intp i = first; i < middle; i++) out[i] = (T)place(step, (double)(int32_t)i, start);                  \
        for (npy_intp i = middle; i < last; i++) out[i] = (T)place(-step, (double)(int32_t)(behind - i), end);         \
    }
#define IN_TWO_STEPS(a, b, c) ((a) * (b) + (c))
DEFINE_SPACED(float, IN_TWO_STEPS)
DEFINE_SPACED(double, fma)

static PyObject *spaced(PyObject *const *args, Py_ssize_t given)
{
    if (given != 4 || !PyLong_CheckExact(args[3])) return NULL;
    Spacing work = {.count = PyLong_AsSsize_t(args[3])};
    double *ends[3] = {&work.start, &work.end, &work.step};
    if (work.count < 2 || work.count > INT32_MAX) {
        PyErr_Clear();
        return NULL;
    }
    PyArray_Descr *descr = NULL;
    for (int i = 0; i < 3; i++) {
        if (!is_plain(args[i])) return NULL;
        PyArrayObject *x = (PyArrayObject *)args[i];
        if (PyArray_NDIM(x) || (descr && PyArray_DESCR(x) != descr)) return NULL;
        descr = PyArray_DESCR(x);
        if (descr == indexed_kinds[1]) *ends[i] = *(float *)PyArray_DATA(x);
        else if (descr == indexed_kinds[2]) *ends[i] = *(double *)PyArray_DATA(x);
        else return NULL;
    }
    PyArrayObject *out = new_like((PyArrayObject *)args[0], 1, &work.count);
    if (out == NULL) return NULL;
    work.half = work.count / 2;
    work.to = PyArray_DATA(out);
    run_on_elements(descr == indexed_kinds[1] ? spaced_float : spaced_double, &work, work.count, PyArray_ITEMSIZE(out));
    return (PyObject *)out;
}

VECTORISED static void count_part(void *context, ptrdiff_t first, ptrdiff_t last)
{
    int64_t *restrict out = context;
    for (ptrdiff_t i = first; i < last; i++) out[i] = i;
}

static PyObject *counted(PyObject *const *args, Py_ssize_t given)
{
    if (given != 1 || !PyLong_CheckExact(args[0])) return NULL;
    npy_intp count = PyLong_AsSsize_t(args[0]);
    if (count < 0) { /* or too many: NumPy says so */
        PyErr_Clear();
        return NULL;
    }
    Py_INCREF(indexed_kinds[0]);
    PyArrayObject *out = (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, indexed_kinds[0], 1, &count, NULL, NULL, 0,
                                                               NULL);
    if (out == NULL) return NULL;
    run_on_elements(count_part, PyArray_DATA(out), count, sizeof(int64_t));
    return (PyObject *)out;
}

#endif
