/* Where numbers belong in sequences that are in order.

       places(sequence, x, right, dtype)   for each element of x how many of the sequence come before it, or with `right`
                                           before it or at it, as int32 or int64. The sequence is one for all of x, or
                                           there is one for each of its rows.

   Each search halves what is left of the sequence, at the places where PyTorch halves it: so also a sequence that is in
   no order, or has nan in it, gives the same. The processor could not guess which half comes next: there is no branch,
   and several searches run side by side, so that none waits for another's memory. They are not VECTORISED: loads from
   places that a vector names take twice as long as one load after the other. */
#ifndef LEAFGRAD_BISECTING_H
#define LEAFGRAD_BISECTING_H

#include "copying.h"
#include "indexing.h"

#define AT_ONCE 16 /* searches side by side */

typedef struct {
    const char *sequence, *x;
    char *to;
    npy_intp n, per_sequence; /* elements of a sequence, and of x that are looked for in it */
    int right, narrow; /* is the result int32? */
} Bisection;

#define DEFINE_BISECT(NAME, T)                                                                                         \
    INLINE void NAME##_halve(const T *a, const T *value, int right, int32_t *low, int32_t *high)                       \
    {                                                                                                                  \
        for (int j = 0; j < AT_ONCE; j++) {                                                                            \
            int32_t middle = (int32_t)(((uint32_t)low[j] + (uint32_t)high[j]) >> 1);                                   \
            int32_t behind = -(int32_t)(right ? !(a[middle] > value[j]) : !(a[middle] >= value[j]));                   \
            low[j] += (middle + 1 - low[j]) & behind;                                                                  \
            high[j] += (middle - high[j]) & ~behind;                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    INLINE void NAME##_some(const T *a, int32_t n, const T *x, int count, int right, int32_t *low)                     \
    {                                                                                                                  \
        int32_t high[AT_ONCE];                                                                                         \
        T value[AT_ONCE];                                                                                              \
        for (int j = 0; j < AT_ONCE; j++) low[j] = 0, high[j] = n, value[j] = x[j < count ? j : 0];                    \
        for (int64_t most = (int64_t)n + 1; most > 1; most >>= 1) NAME##_halve(a, value, right, low, high);            \
        for (int j = 0; j < AT_ONCE; j++) { /* what is left is one element, or none */                                 \
            int32_t left = high[j] - low[j], at = low[j] & -left;                                                      \
            low[j] += left & (right ? !(a[at] > value[j]) : !(a[at] >= value[j]));                                     \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME##_places(const Bisection *b, npy_intp first, npy_intp last)                                       \
    {                                                                                                                  \
        int32_t found[AT_ONCE];                                                                                        \
        while (first < last) {                                                                                         \
            npy_intp row = first / b->per_sequence, end = (row + 1) * b->per_sequence;                                 \
            npy_intp some = (end < last ? end : last) - first;                                                         \
            int count = some < AT_ONCE ? (int)some : AT_ONCE;                                                          \
            const T *a = (const T *)b->sequence + row * b->n, *x = (const T *)b->x + first;                            \
            if (b->right) NAME##_some(a, (int32_t)b->n, x, count, 1, found);                                           \
            else NAME##_some(a, (int32_t)b->n, x, count, 0, found);                                                    \
            for (int j = 0; b->narrow && j < count; j++) ((int32_t *)b->to)[first + j] = found[j];                     \
            for (int j = 0; !b->narrow && j < count; j++) ((int64_t *)b->to)[first + j] = found[j];                    \
            first += count;                                                                                            \
        }                                                                                                              \
    }
DEFINE_BISECT(bisect_f32, float)
DEFINE_BISECT(bisect_f64, double)
DEFINE_BISECT(bisect_u8, uint8_t)
DEFINE_BISECT(bisect_i8, int8_t)
DEFINE_BISECT(bisect_i16, int16_t)
DEFINE_BISECT(bisect_i32, int32_t)
DEFINE_BISECT(bisect_i64, int64_t)

typedef void (*bisect_function)(const Bisection *, npy_intp, npy_intp);

static bisect_function bisect_of(PyArrayObject *x)
{
    npy_intp item = PyArray_ITEMSIZE(x);
    switch (PyArray_DESCR(x)->kind) {
    case 'f': return item == 4 ? bisect_f32_places : item == 8 ? bisect_f64_places : NULL;
    case 'u': return item == 1 ? bisect_u8_places : NULL;
    case 'i':
        return item == 1 ? bisect_i8_places : item == 2 ? bisect_i16_places : item == 4 ? bisect_i32_places
               : bisect_i64_places;
    default: return NULL;
    }
}

typedef struct {
    Bisection bisection;
    bisect_function run;
} Bisecting;

static void bisect_part(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Bisecting *work = context;
    work->run(&work->bisection, first, last);
}

static PyObject *places(PyObject *const *args, Py_ssize_t given)
{
    if (given != 4 || !is_dense(args[0]) || !is_dense(args[1]) || !PyArray_DescrCheck(args[3])) return NULL;
    PyArrayObject *sequence = (PyArrayObject *)args[0], *x = (PyArrayObject *)args[1];
    PyArray_Descr *descr = (PyArray_Descr *)args[3];
    int ndim = PyArray_NDIM(sequence), item = (int)PyDataType_ELSIZE(descr);
    Bisecting work = {.run = bisect_of(x)};
    if (work.run == NULL || PyArray_DESCR(x) != PyArray_DESCR(sequence) || ndim == 0) return NULL;
    if (descr->kind != 'i' || (item != 4 && item != 8)) return NULL;
    npy_intp n = PyArray_DIM(sequence, ndim - 1), size = PyArray_SIZE(x);
    if (n == 0 || n > INT32_MAX || (ndim > 1 && PyArray_NDIM(x) != ndim)) return NULL;
    for (int d = 0; d < ndim - 1; d++) {
        if (PyArray_DIM(x, d) != PyArray_DIM(sequence, d)) return NULL;
    }
    Py_INCREF(descr);
    PyArrayObject *out = (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, PyArray_NDIM(x), PyArray_DIMS(x),
                                                               NULL, NULL, 0, NULL);
    if (out == NULL || size == 0) return (PyObject *)out;
    work.bisection = (Bisection){.sequence = PyArray_BYTES(sequence), .x = PyArray_BYTES(x), .to = PyArray_BYTES(out),
                                 .n = n, .per_sequence = ndim > 1 ? PyArray_DIM(x, ndim - 1) : size,
                                 .right = args[2] == Py_True, .narrow = item == 4};
    npy_intp steps = 1; /* each about as long as it takes to copy an element */
    while (n >> steps) steps++;
    npy_intp bytes = size * steps * 4;
    Py_BEGIN_ALLOW_THREADS
    if (bytes < SPLIT_FROM) {
        bisect_part(&work, 0, size);
    } else {
        pool_run(bisect_part, &work, size, steps * 4, bytes >= LONG_COPY);
    }
    Py_END_ALLOW_THREADS
    return (PyObject *)out;
}

#endif
