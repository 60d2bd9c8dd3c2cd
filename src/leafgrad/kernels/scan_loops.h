/* What is known so far, along a dimension: running_sum(x, dim, reverse), running_product(x, dim), and running_max and
   running_min(x, dim) with the place of the last of equals; nan is the most extreme. For arrays that lie row by row.

   Sums and products are double, so that long ones of floats lose no digits. Where the dimension is the last one, four
   rows are walked through at once, because a sum that waits for the one before it takes four times as long. */
#ifndef LEAFGRAD_SCAN_LOOPS_H
#define LEAFGRAD_SCAN_LOOPS_H

#include "reduction_plan.h"

#define CHAINS 4

typedef struct Scan Scan;
struct Scan {
    const char *from;
    char *to;
    int64_t *places;
    npy_intp outer, size, inner, item, units;
    int reverse;
    void (*across)(const Scan *scan, npy_intp start, npy_intp columns);          /* from an element, of some columns */
    void (*along)(const Scan *scan, npy_intp row, npy_intp rows);                /* of some rows */
};

#define DEFINE_SCAN(name, T, W, ZERO, STEP)                                                                            \
    VECTORISED static void name##_across(const Scan *scan, npy_intp start, npy_intp columns)                           \
    {                                                                                                                  \
        W sums[BLOCK];                                                                                                 \
        npy_intp step = scan->reverse ? -scan->inner : scan->inner;                                                    \
        const T *x = (const T *)scan->from + start + (scan->reverse ? (scan->size - 1) * scan->inner : 0);             \
        T *out = (T *)scan->to + (x - (const T *)scan->from);                                                          \
        for (npy_intp k = 0; k < columns; k++) sums[k] = ZERO;                                                         \
        for (npy_intp i = 0; i < scan->size; i++, x += step, out += step) {                                            \
            SIMD for (npy_intp k = 0; k < columns; k++)                                                                \
            {                                                                                                          \
                sums[k] = STEP(sums[k], x[k]);                                                                         \
                out[k] = (T)sums[k];                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void name##_along(const Scan *scan, npy_intp row, npy_intp rows)                                            \
    {                                                                                                                  \
        npy_intp size = scan->size, step = scan->reverse ? -1 : 1, at = scan->reverse ? size - 1 : 0;                  \
        const T *x = (const T *)scan->from + row * size;                                                               \
        T *out = (T *)scan->to + row * size;                                                                           \
        if (rows == CHAINS) {                                                                                          \
            W a = ZERO, b = ZERO, c = ZERO, d = ZERO;                                                                  \
            for (npy_intp i = 0; i < size; i++, at += step) {                                                          \
                out[at] = (T)(a = STEP(a, x[at]));                                                                     \
                out[at + size] = (T)(b = STEP(b, x[at + size]));                                                       \
                out[at + 2 * size] = (T)(c = STEP(c, x[at + 2 * size]));                                               \
                out[at + 3 * size] = (T)(d = STEP(d, x[at + 3 * size]));                                               \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (; rows--; x += size, out += size) name##_row(x + at, out + at, size, step);                               \
    }

#define DEFINE_ROW(name, T, W, ZERO, STEP)                                                                             \
    static void name##_row(const T *x, T *out, npy_intp size, npy_intp step)                                           \
    {                                                                                                                  \
        W sum = ZERO;                                                                                                  \
        for (npy_intp i = 0; i < size; i++, x += step, out += step) *out = (T)(sum = STEP(sum, *x));                   \
    }
DEFINE_ROW(running_sum_f64, double, double, 0.0, ADD)
DEFINE_ROW(running_sum_i64, uint64_t, uint64_t, 0, ADD)
DEFINE_ROW(running_product_f32, float, double, 1, TIMES)
DEFINE_ROW(running_product_f64, double, double, 1, TIMES)
DEFINE_ROW(running_product_i64, uint64_t, uint64_t, 1, TIMES)

/* Four floats are added up before what came before them is added: double has the digits for any order. */
static void running_sum_f32_row(const float *x, float *out, npy_intp size, npy_intp step)
{
    double sum = 0;
    for (; size >= 4; size -= 4, x += 4 * step, out += 4 * step) {
        double one = x[0], two = one + x[step], three = two + x[2 * step], four = three + x[3 * step];
        out[0] = (float)(sum + one);
        out[step] = (float)(sum + two);
        out[2 * step] = (float)(sum + three);
        out[3 * step] = (float)(sum += four);
    }
    for (; size > 0; size--, x += step, out += step) *out = (float)(sum += *x);
}

DEFINE_SCAN(running_sum_f32, float, double, 0.0, ADD)
DEFINE_SCAN(running_sum_f64, double, double, 0.0, ADD)
DEFINE_SCAN(running_sum_i64, uint64_t, uint64_t, 0, ADD)
DEFINE_SCAN(running_product_f32, float, double, 1, TIMES)
DEFINE_SCAN(running_product_f64, double, double, 1, TIMES)
DEFINE_SCAN(running_product_i64, uint64_t, uint64_t, 1, TIMES)

#define AT_LEAST(x, best) (((x) >= (best)) | ((x) != (x)))
#define AT_MOST(x, best) (((x) <= (best)) | ((x) != (x)))

#define DEFINE_RUNNING_EXTREME(name, T, BEATS)                                                                         \
    VECTORISED static void name##_across(const Scan *scan, npy_intp start, npy_intp columns)                           \
    {                                                                                                                  \
        T best[BLOCK];                                                                                                 \
        int64_t at[BLOCK];                                                                                             \
        const T *x = (const T *)scan->from + start;                                                                    \
        T *out = (T *)scan->to + start;                                                                                \
        int64_t *places = scan->places + start;                                                                        \
        for (npy_intp k = 0; k < columns; k++) best[k] = x[k], at[k] = 0;                                              \
        for (npy_intp i = 0; i < scan->size; i++, x += scan->inner, out += scan->inner, places += scan->inner) {       \
            SIMD for (npy_intp k = 0; k < columns; k++)                                                                \
            {                                                                                                          \
                int better = BEATS(x[k], best[k]);                                                                     \
                out[k] = best[k] = better ? x[k] : best[k];                                                            \
                places[k] = at[k] = better ? i : at[k];                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void name##_along(const Scan *scan, npy_intp row, npy_intp rows)                                            \
    {                                                                                                                  \
        const T *x = (const T *)scan->from + row * scan->size;                                                         \
        T *out = (T *)scan->to + row * scan->size;                                                                     \
        int64_t *places = scan->places + row * scan->size;                                                             \
        for (; rows--; x += scan->size, out += scan->size, places += scan->size) {                                     \
            T best = x[0];                                                                                             \
            int64_t at = 0;                                                                                            \
            for (npy_intp i = 0; i < scan->size; i++) {                                                                \
                int better = BEATS(x[i], best);                                                                        \
                out[i] = best = better ? x[i] : best;                                                                  \
                places[i] = at = better ? i : at;                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
DEFINE_RUNNING_EXTREME(running_max_f32, float, AT_LEAST)
DEFINE_RUNNING_EXTREME(running_max_f64, double, AT_LEAST)
DEFINE_RUNNING_EXTREME(running_max_i64, int64_t, AT_LEAST)
DEFINE_RUNNING_EXTREME(running_min_f32, float, AT_MOST)
DEFINE_RUNNING_EXTREME(running_min_f64, double, AT_MOST)
DEFINE_RUNNING_EXTREME(running_min_i64, int64_t, AT_MOST)

static void scan_units(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Scan *scan = context;
    npy_intp blocks = (scan->inner + BLOCK - 1) / BLOCK;
    for (; first < last; first++) {
        if (scan->inner == 1) {
            npy_intp row = first * CHAINS;
            scan->along(scan, row, scan->outer - row < CHAINS ? scan->outer - row : CHAINS);
        } else {
            npy_intp column = first % blocks * BLOCK;
            npy_intp start = first / blocks * scan->size * scan->inner + column;
            scan->across(scan, start, scan->inner - column < BLOCK ? scan->inner - column : BLOCK);
        }
    }
}

typedef struct {
    void (*across[3])(const Scan *, npy_intp, npy_intp);
    void (*along[3])(const Scan *, npy_intp, npy_intp);
    int with_places;
} ScanMethod;

#define SCAN(name, with_places)                                                                                        \
    {{name##_f32_across, name##_f64_across, name##_i64_across},                                                        \
     {name##_f32_along, name##_f64_along, name##_i64_along},                                                           \
     with_places}
static const ScanMethod scan_sum = SCAN(running_sum, 0), scan_product = SCAN(running_product, 0);
static const ScanMethod scan_max = SCAN(running_max, 1), scan_min = SCAN(running_min, 1);

static void share_scan(Scan *scan)
{
    npy_intp total = scan->outer * scan->size * scan->inner;
    if (total < LET_OTHERS_RUN) {
        scan_units(scan, 0, scan->units);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (total < SPLIT_FROM || scan->units == 1) {
        scan_units(scan, 0, scan->units);
    } else {
        pool_run(scan_units, scan, scan->units, total / scan->units * scan->item, total >= LONG / 4);
    }
    Py_END_ALLOW_THREADS
}

/* (x, dim), and whether backwards */
static PyObject *scanned(const ScanMethod *method, PyObject *const *args, Py_ssize_t given)
{
    if (given < 2 || !PyArray_CheckExact(args[0]) || !PyLong_CheckExact(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int kind = 0, ndim = PyArray_NDIM(x);
    long dim = PyLong_AsLong(args[1]);
    while (kind < BOOL && kinds[kind] != PyArray_DESCR(x)) kind++;
    if (kind == BOOL || !PyArray_ISCARRAY_RO(x) || PyArray_SIZE(x) == 0 || dim < 0 || dim >= ndim) return NULL;
    Scan scan = {.from = PyArray_BYTES(x), .outer = 1, .size = PyArray_DIM(x, dim), .inner = 1};
    for (int i = 0; i < dim; i++) scan.outer *= PyArray_DIM(x, i);
    for (int i = dim + 1; i < ndim; i++) scan.inner *= PyArray_DIM(x, i);
    scan.item = item_sizes[kind];
    scan.reverse = given > 2 && args[2] == Py_True;
    scan.across = method->across[kind];
    scan.along = method->along[kind];
    scan.units = scan.inner == 1 ? (scan.outer + CHAINS - 1) / CHAINS : scan.outer * ((scan.inner + BLOCK - 1) / BLOCK);
    PyObject *out = PyArray_SimpleNew(ndim, PyArray_DIMS(x), type_numbers[kind]), *places = NULL, *both = NULL;
    if (out == NULL) return NULL;
    if (method->with_places) {
        places = PyArray_SimpleNew(ndim, PyArray_DIMS(x), NPY_INT64);
        both = places == NULL ? NULL : PyTuple_Pack(2, out, places);
        Py_DECREF(out);
        Py_XDECREF(places);
        if (both == NULL) return NULL;
        scan.places = PyArray_DATA((PyArrayObject *)places);
    }
    scan.to = PyArray_BYTES((PyArrayObject *)out);
    share_scan(&scan);
    return both ? both : out;
}

#define DEFINE_SCANNED(name)                                                                                           \
    static PyObject *running_##name(PyObject *const *args, Py_ssize_t given)                                           \
    {                                                                                                                  \
        return scanned(&scan_##name, args, given);                                                                     \
    }
DEFINE_SCANNED(sum)
DEFINE_SCANNED(product)
DEFINE_SCANNED(max)
DEFINE_SCANNED(min)

#endif
