/* The largest or smallest elements along a dimension, and where the first of them is:

       argmax(x, dim, keepdim)     places; `dim` is None for all elements
       max_along(x, dim, keepdim)  values and places

   and argmin and min_along. For arrays that lie row by row; nan is the most extreme. */
#ifndef LEAFGRAD_EXTREME_LOOPS_H
#define LEAFGRAD_EXTREME_LOOPS_H

#include "reduction_plan.h"

#define FEW 4096 /* elements, for which the time of a call matters more */

typedef struct {
    const char *from;
    char *values;                    /* NULL if only the places are wanted */
    int64_t *places;
    npy_intp outer, size, inner, blocks; /* x is outer * size * inner elements; blocks of columns */
    void (*run)(const void *x, npy_intp size, npy_intp inner, npy_intp columns, void *values, int64_t *places);
    npy_intp item;
} Extreme;

/* BEATS(x, best): is x better? nan is better than every number, the first one stays. */
#define ABOVE(x, best) (((x) > (best)) | (((x) != (x)) & ((best) == (best))))
#define BELOW(x, best) (((x) < (best)) | (((x) != (x)) & ((best) == (best))))

#define DEFINE_EXTREME(name, T, BEATS, of_run)                                                                         \
    INLINE npy_intp name##_of_row(const T *x, npy_intp size, T *value)                                                 \
    {                                                                                                                  \
        T best = x[0];                                                                                                 \
        npy_intp start = 0, end = 0;                                                                                   \
        for (npy_intp i = 0; i < size; i += RUN) {                                                                     \
            npy_intp count = size - i < RUN ? size - i : RUN;                                                          \
            T found = of_run(x + i, count);                                                                            \
            if (i == 0 || BEATS(found, best)) {                                                                        \
                best = found;                                                                                          \
                start = i;                                                                                             \
                end = i + count;                                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        *value = best;                                                                                                 \
        for (; best == best && start + LANES <= end; start += LANES) { /* here, or further on? */                      \
            int hits = 0;                                                                                              \
            for (int k = 0; k < LANES; k++) hits |= x[start + k] == best;                                              \
            if (hits) break;                                                                                           \
        }                                                                                                              \
        while (start < end - 1 && x[start] != best && (best == best || x[start] == x[start])) start++;                 \
        return start;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void name(                                                                                       \
        const void *from, npy_intp size, npy_intp inner, npy_intp columns, void *to, int64_t *places)                  \
    {                                                                                                                  \
        const T *x = from;                                                                                             \
        T best[BLOCK], *values = to ? to : best;                                                                       \
        int32_t at[BLOCK];                                                                                             \
        if (inner == 1) {                                                                                              \
            places[0] = name##_of_row(x, size, values);                                                                \
            return;                                                                                                    \
        }                                                                                                              \
        for (npy_intp k = 0; k < columns; k++) values[k] = x[k], at[k] = 0;                                            \
        for (npy_intp row = 1; row < size; row++) {                                                                    \
            const T *next = x + row * inner;                                                                           \
            SIMD for (npy_intp k = 0; k < columns; k++)                                                                \
            {                                                                                                          \
                int better = BEATS(next[k], values[k]);                                                                \
                values[k] = better ? next[k] : values[k];                                                              \
                at[k] = better ? (int32_t)row : at[k];                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        for (npy_intp k = 0; k < columns; k++) places[k] = at[k];                                                      \
    }
DEFINE_EXTREME(max_f32, float, ABOVE, largest_f32_of_run)
DEFINE_EXTREME(max_f64, double, ABOVE, largest_f64_of_run)
DEFINE_EXTREME(max_i64, int64_t, ABOVE, largest_i64_of_run)
DEFINE_EXTREME(min_f32, float, BELOW, smallest_f32_of_run)
DEFINE_EXTREME(min_f64, double, BELOW, smallest_f64_of_run)
DEFINE_EXTREME(min_i64, int64_t, BELOW, smallest_i64_of_run)

static void extreme_units(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Extreme *work = context;
    for (; first < last; first++) {
        npy_intp outer = first / work->blocks, start = first % work->blocks * BLOCK;
        npy_intp columns = work->inner - start < BLOCK ? work->inner - start : BLOCK;
        npy_intp place = outer * work->inner + start;
        const char *from = work->from + (outer * work->size * work->inner + start) * work->item;
        char *values = work->values ? work->values + place * work->item : NULL;
        work->run(from, work->size, work->inner, columns, values, work->places + place);
    }
}

static void share_extreme(Extreme *work)
{
    npy_intp units = work->outer * work->blocks, total = work->outer * work->size * work->inner;
    if (total < LET_OTHERS_RUN) {
        extreme_units(work, 0, units);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (total < SPLIT_FROM || units == 1) {
        extreme_units(work, 0, units);
    } else {
        pool_run(extreme_units, work, units, total / units * work->item, total >= LONG);
    }
    Py_END_ALLOW_THREADS
}

/* Shape of the results, and the work; 0 for what is not for us. */
static int prepare_extreme(
    Extreme *work, PyObject *const *args, Py_ssize_t given, int largest, npy_intp *shape, int *ndim)
{
    if (given != 3 || !PyArray_CheckExact(args[0])) return 0;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int kind = 0, dims = PyArray_NDIM(x), keepdim = args[2] == Py_True, all = args[1] == Py_None;
    while (kind < BOOL && kinds[kind] != PyArray_DESCR(x)) kind++;
    if (kind == BOOL || !PyArray_ISCARRAY_RO(x) || PyArray_SIZE(x) == 0) return 0;
    if (!all && !PyLong_CheckExact(args[1])) return 0;
    long dim = all ? 0 : PyLong_AsLong(args[1]);
    if (!all && (dim < 0 || dim >= dims)) return 0;
    work->outer = work->inner = 1;
    work->size = all ? PyArray_SIZE(x) : PyArray_DIM(x, dim);
    *ndim = 0;
    for (int i = 0; i < dims; i++) {
        int reduced = all || i == dim;
        if (!reduced && i < dim) work->outer *= PyArray_DIM(x, i);
        if (!reduced && i > dim) work->inner *= PyArray_DIM(x, i);
        if (!reduced || keepdim) shape[(*ndim)++] = reduced ? 1 : PyArray_DIM(x, i);
    }
    if (work->size > INT32_MAX && work->inner > 1) return 0;
    if (work->inner == 1 && work->size > LANES && PyArray_SIZE(x) > FEW) return 0; /* NumPy finds these faster */
    static void (*const largest_of[])(const void *, npy_intp, npy_intp, npy_intp, void *, int64_t *) = {
        max_f32, max_f64, max_i64};
    static void (*const smallest_of[])(const void *, npy_intp, npy_intp, npy_intp, void *, int64_t *) = {
        min_f32, min_f64, min_i64};
    work->run = (largest ? largest_of : smallest_of)[kind];
    work->from = PyArray_BYTES(x);
    work->item = item_sizes[kind];
    work->blocks = (work->inner + BLOCK - 1) / BLOCK;
    return 1;
}

static PyObject *find_extreme(PyObject *const *args, Py_ssize_t given, int largest, int with_values)
{
    Extreme work;
    npy_intp shape[NPY_MAXDIMS];
    int ndim;
    if (!prepare_extreme(&work, args, given, largest, shape, &ndim)) return NULL;
    PyObject *places = PyArray_SimpleNew(ndim, shape, NPY_INT64), *values = NULL, *both = NULL;
    if (places == NULL) return NULL;
    if (with_values) {
        values = PyArray_SimpleNew(ndim, shape, PyArray_TYPE((PyArrayObject *)args[0]));
        both = values == NULL ? NULL : PyTuple_Pack(2, values, places);
        if (both == NULL) {
            Py_XDECREF(values);
            Py_DECREF(places);
            return NULL;
        }
    }
    work.places = PyArray_DATA((PyArrayObject *)places);
    work.values = values ? PyArray_BYTES((PyArrayObject *)values) : NULL;
    share_extreme(&work);
    if (both == NULL) return places;
    Py_DECREF(values);
    Py_DECREF(places);
    return both;
}

static PyObject *argmax(PyObject *const *args, Py_ssize_t given) { return find_extreme(args, given, 1, 0); }
static PyObject *argmin(PyObject *const *args, Py_ssize_t given) { return find_extreme(args, given, 0, 0); }
static PyObject *max_along(PyObject *const *args, Py_ssize_t given) { return find_extreme(args, given, 1, 1); }
static PyObject *min_along(PyObject *const *args, Py_ssize_t given) { return find_extreme(args, given, 0, 1); }

#endif
