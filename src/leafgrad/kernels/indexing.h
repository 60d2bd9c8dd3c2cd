/* Elements and slices that arrays of indices point to: read, written and added to.

       taken(x, at, dim)                 the slices of x along `dim` that `at` names, in the shape of `at`
       gathered(x, index, dim)           out[i][j] = x[index[i][j]][j] for dim 0, and likewise for the others
       slices_added(x, at, source, dim)  the slices of source added to those of x that `at` names, in x
       rows_summed(shape, at, source)    zeros of a shape, the rows of source added to those of it that `at` names
       scattered(x, index, source, dim, add)   x[index[i][j]][j] = source[i][j] for dim 0, or added, in x;
                                         source may be a single number
       flat_index(shape, *indices)       one index for dimensions taken as one, from an index for each
       first_outside(index, low, size)   the first index that is not in [low, size), None if there is none

   Everything lies row by row. Indices are int64, may count from the end, and are looked at before anything happens.
   Those of gathered and scattered, which are many, count from the front and are looked at in the course of it.
   What is added to one place is added in the order of the indices, however many threads there are. */
#ifndef LEAFGRAD_INDEXING_H
#define LEAFGRAD_INDEXING_H

#include "copying.h"

#define COLUMNS 64 /* of a slice, which one thread adds to at once */
#define LOOKED_AT_ONCE 2048 /* indices, before they are used */
#define AHEAD 4    /* slices that are asked for from memory before it is their turn */

typedef struct {
    const char *from;         /* x where it is read, the source where x is written */
    char *to;
    const int64_t *at;
    npy_intp outer, size, count, inner; /* x is outer * size * inner elements, the other outer * count * inner */
    npy_intp item;
    npy_intp step; /* from one element of the other to the next: 0 if it is a single number */
    int kind, add;
    atomic_int outside; /* was an index found that is none? */
} Indexing;

static PyArray_Descr *indexed_kinds[3]; /* int64, float32, float64 */

static int is_dense(PyObject *object)
{
    return is_plain(object) && PyArray_IS_C_CONTIGUOUS((PyArrayObject *)object);
}

static int is_index(PyObject *object)
{
    return is_dense(object) && PyArray_DESCR((PyArrayObject *)object) == indexed_kinds[0];
}

VECTORISED static int all_between(const int64_t *at, npy_intp count, int64_t low, int64_t size)
{
    int64_t wrong = 0; /* as wide as what is compared */
    SIMD for (npy_intp i = 0; i < count; i++) wrong |= (int64_t)((at[i] < low) | (at[i] >= size));
    return !wrong;
}

static int all_inside(const int64_t *at, npy_intp count, npy_intp size) { return all_between(at, count, -size, size); }

typedef struct {
    const int64_t *at;
    int64_t low, size;
    atomic_int wrong;
} Bounds;

static void check_part(void *context, ptrdiff_t first, ptrdiff_t last)
{
    Bounds *bounds = context;
    if (!all_between(bounds->at + first, last - first, bounds->low, bounds->size)) atomic_fetch_or(&bounds->wrong, 1);
}

/* all_between, by several threads where there are many; the interpreter lock is held. */
static int all_within(const int64_t *at, npy_intp count, int64_t low, int64_t size)
{
    npy_intp bytes = count * (npy_intp)sizeof(int64_t);
    if (bytes < SPLIT_FROM) return all_between(at, count, low, size);
    Bounds bounds = {.at = at, .low = low, .size = size};
    atomic_init(&bounds.wrong, 0);
    Py_BEGIN_ALLOW_THREADS
    pool_run(check_part, &bounds, count, sizeof(int64_t), bytes >= LONG_COPY);
    Py_END_ALLOW_THREADS
    return !atomic_load(&bounds.wrong);
}

static PyObject *first_outside(PyObject *const *args, Py_ssize_t given)
{
    if (given != 3 || !is_index(args[0]) || !PyLong_CheckExact(args[1]) || !PyLong_CheckExact(args[2])) return NULL;
    const int64_t *at = PyArray_DATA((PyArrayObject *)args[0]);
    npy_intp count = PyArray_SIZE((PyArrayObject *)args[0]);
    int64_t low = PyLong_AsLongLong(args[1]), size = PyLong_AsLongLong(args[2]);
    if (PyErr_Occurred()) return NULL;
    if (all_within(at, count, low, size)) Py_RETURN_NONE;
    while (*at >= low && *at < size) at++;
    return PyLong_FromLongLong(*at);
}

static PyObject *outside_error(void)
{
    PyErr_SetString(PyExc_IndexError, "an index is out of bounds");
    return NULL;
}

static inline npy_intp from_front(int64_t at, npy_intp size) { return at < 0 ? at + size : at; }

/* Have the first lines of a slice fetched from memory, of which the processor sees the others coming. */
static inline void ask_for(const char *slice, npy_intp bytes)
{
#if defined(__GNUC__)
    for (npy_intp line = 0; line < bytes && line < 512; line += 64) __builtin_prefetch(slice + line);
#endif
}

static void fill_in(Indexing *work, PyArrayObject *x, int dim, npy_intp count)
{
    work->outer = work->inner = 1;
    for (int i = 0; i < dim; i++) work->outer *= PyArray_DIM(x, i);
    for (int i = dim + 1; i < PyArray_NDIM(x); i++) work->inner *= PyArray_DIM(x, i);
    work->size = PyArray_DIM(x, dim);
    work->count = count;
    work->step = 1;
    atomic_init(&work->outside, 0);
    work->item = PyArray_ITEMSIZE(x);
    PyArray_Descr *descr = PyArray_DESCR(x);
    work->kind = descr == indexed_kinds[1] ? 1 : descr == indexed_kinds[2] ? 2 : 0;
}

/* `indices` are how many of them are read. */
static void share_indexing(pool_work run, Indexing *work, npy_intp units, npy_intp indices)
{
    npy_intp bytes = work->outer * work->count * work->inner * work->item + indices * (npy_intp)sizeof(int64_t);
    if (bytes < LET_OTHERS_RUN) {
        run(work, 0, units);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (bytes < SPLIT_FROM || units == 1) {
        run(work, 0, units);
    } else {
        pool_run(run, work, units, bytes / units, bytes >= LONG_COPY);
    }
    Py_END_ALLOW_THREADS
}

/* A dimension, counted from the front, or -1. */
static int dim_of(PyObject *object, PyArrayObject *x)
{
    long dim = PyLong_CheckExact(object) ? PyLong_AsLong(object) : -1;
    if (dim < 0) PyErr_Clear();
    return dim < PyArray_NDIM(x) ? (int)dim : -1;
}

/* -- taken --------------------------------------------------------------------------------------------------------- */

#define DEFINE_TAKE(T)                                                                                                 \
    static void take_##T(const char *from, const int64_t *at, npy_intp count, npy_intp size, char *to)                 \
    {                                                                                                                  \
        const T *x = (const T *)from;                                                                                  \
        T *out = (T *)to;                                                                                              \
        for (npy_intp i = 0; i < count; i++) out[i] = x[from_front(at[i], size)];                                      \
    }
DEFINE_TAKE(uint8_t)
DEFINE_TAKE(uint16_t)
DEFINE_TAKE(uint32_t)
DEFINE_TAKE(uint64_t)
DEFINE_TAKE(Pair)

/* units: slices of the result */
static void take_slices(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Indexing *work = context;
    npy_intp slice = work->inner * work->item;
    while (first < last) {
        npy_intp block = first / work->count, start = first % work->count;
        npy_intp count = last - first < work->count - start ? last - first : work->count - start;
        const char *from = work->from + block * work->size * slice;
        char *to = work->to + first * slice;
        if (work->inner == 1) {
            BY_ITEM(take, work->item)(from, work->at + start, count, work->size, to);
        } else {
            for (npy_intp i = 0; i < count; i++) {
                if (i + AHEAD < count) ask_for(from + from_front(work->at[start + i + AHEAD], work->size) * slice, slice);
                memcpy(to + i * slice, from + from_front(work->at[start + i], work->size) * slice, slice);
            }
        }
        first += count;
    }
}

static PyObject *taken(PyObject *const *args, Py_ssize_t given)
{
    if (given != 3 || !is_dense(args[0]) || !is_index(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0], *at = (PyArrayObject *)args[1];
    int dim = dim_of(args[2], x), ndim = PyArray_NDIM(x), places = PyArray_NDIM(at);
    if (dim < 0 || ndim + places > NPY_MAXDIMS) return NULL;
    Indexing work = {.from = PyArray_BYTES(x), .at = PyArray_DATA(at)};
    fill_in(&work, x, dim, PyArray_SIZE(at));
    if (!all_inside(work.at, work.count, work.size)) return NULL;
    npy_intp shape[NPY_MAXDIMS];
    for (int i = 0; i < dim; i++) shape[i] = PyArray_DIM(x, i);
    for (int i = 0; i < places; i++) shape[dim + i] = PyArray_DIM(at, i);
    for (int i = dim + 1; i < ndim; i++) shape[places + i - 1] = PyArray_DIM(x, i);
    PyArrayObject *out = new_like(x, ndim - 1 + places, shape);
    if (out == NULL) return NULL;
    work.to = PyArray_BYTES(out);
    if (PyArray_SIZE(out)) share_indexing(take_slices, &work, work.outer * work.count, work.count);
    return (PyObject *)out;
}

/* -- gathered, scattered ------------------------------------------------------------------------------------------- */

/* Is an index as large as x in all dimensions but one? */
static int fits_along(PyArrayObject *x, PyArrayObject *index, int dim)
{
    if (PyArray_NDIM(x) != PyArray_NDIM(index)) return 0;
    for (int i = 0; i < PyArray_NDIM(x); i++) {
        if (i != dim && PyArray_DIM(x, i) != PyArray_DIM(index, i)) return 0;
    }
    return 1;
}

/* So many columns of some slices of one block, of which the first is at `x`, at `at` and at `other`. */
#define DEFINE_ALONG(name, T, STATEMENT)                                                                               \
    static void name##_##T(const Indexing *work, char *first_of_x, const int64_t *at, char *first_of_other,            \
                           npy_intp slices, npy_intp columns)                                                          \
    {                                                                                                                  \
        const npy_intp inner = work->inner, step = work->step;                                                         \
        T *x = (T *)first_of_x, *other = (T *)first_of_other;                                                          \
        for (npy_intp k = 0; inner == 1 && k < slices; k++) {                                                          \
            const npy_intp i = 0, place = at[k];                                                                       \
            STATEMENT;                                                                                                 \
        }                                                                                                              \
        for (npy_intp k = 0; inner > 1 && k < slices * inner; k += inner) {                                            \
            for (npy_intp i = 0; i < columns; i++) {                                                                   \
                npy_intp place = at[k + i] * inner + i;                                                                \
                STATEMENT;                                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
#define DEFINE_GATHER_AND_SCATTER(T)                                                                                   \
    DEFINE_ALONG(gather, T, other[(k + i) * step] = x[place])                                                          \
    DEFINE_ALONG(scatter, T, x[place] = other[(k + i) * step])
DEFINE_GATHER_AND_SCATTER(uint8_t)
DEFINE_GATHER_AND_SCATTER(uint16_t)
DEFINE_GATHER_AND_SCATTER(uint32_t)
DEFINE_GATHER_AND_SCATTER(uint64_t)
DEFINE_GATHER_AND_SCATTER(Pair)
DEFINE_ALONG(scatter_add, float, x[place] += other[(k + i) * step])
DEFINE_ALONG(scatter_add, double, x[place] += other[(k + i) * step])
DEFINE_ALONG(scatter_add, uint64_t, x[place] += other[(k + i) * step])

typedef void (*along_function)(const Indexing *, char *, const int64_t *, char *, npy_intp, npy_intp);

/* Columns of the slices `from` to `to` of a block, some slices at once: their indices are looked at, and are still in the
   cache when they are used. Is any of them outside? */
static int along_slices(const Indexing *work, along_function run, char *x, char *other, npy_intp block, npy_intp from,
                        npy_intp to, npy_intp start, npy_intp columns)
{
    npy_intp inner = work->inner, some = columns < LOOKED_AT_ONCE ? LOOKED_AT_ONCE / columns : 1;
    x += (block * work->size * inner + start) * work->item;
    for (; from < to; from += some) {
        npy_intp first = (block * work->count + from) * inner + start, slices = to - from < some ? to - from : some;
        const int64_t *at = work->at + first;
        if (columns == inner) {
            if (!all_between(at, slices * inner, 0, work->size)) return 1;
        } else {
            for (npy_intp k = 0; k < slices; k++) {
                if (!all_between(at + k * inner, columns, 0, work->size)) return 1;
            }
        }
        run(work, x, at, other + first * work->step * work->item, slices, columns);
    }
    return 0;
}

/* units: slices of the index */
static void gather_slices(void *context, ptrdiff_t first, ptrdiff_t last)
{
    Indexing *work = context;
    while (first < last) {
        npy_intp block = first / work->count, start = first % work->count;
        npy_intp end = start + last - first < work->count ? start + last - first : work->count;
        if (along_slices(work, BY_ITEM(gather, work->item), (char *)work->from, work->to, block, start, end, 0,
                         work->inner)) {
            atomic_fetch_or(&work->outside, 1);
            return;
        }
        first += end - start;
    }
}

/* units: some columns of all slices of a block, so that no two threads write to one place */
static void scatter_columns(void *context, ptrdiff_t first, ptrdiff_t last)
{
    Indexing *work = context;
    along_function run = !work->add ? BY_ITEM(scatter, work->item)
                         : work->kind == 1 ? scatter_add_float
                         : work->kind == 2 ? scatter_add_double : scatter_add_uint64_t;
    npy_intp parts = (work->inner + COLUMNS - 1) / COLUMNS;
    for (; first < last; first++) {
        npy_intp start = first % parts * COLUMNS, columns = work->inner - start < COLUMNS ? work->inner - start : COLUMNS;
        if (along_slices(work, run, work->to, (char *)work->from, first / parts, 0, work->count, start, columns)) {
            atomic_fetch_or(&work->outside, 1);
        }
    }
}

static PyObject *gathered(PyObject *const *args, Py_ssize_t given)
{
    if (given != 3 || !is_dense(args[0]) || !is_index(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0], *index = (PyArrayObject *)args[1];
    int dim = dim_of(args[2], x);
    if (dim < 0 || !fits_along(x, index, dim)) return NULL;
    Indexing work = {.from = PyArray_BYTES(x), .at = PyArray_DATA(index)};
    fill_in(&work, x, dim, PyArray_DIM(index, dim));
    PyArrayObject *out = new_like(x, PyArray_NDIM(index), PyArray_DIMS(index));
    if (out == NULL) return NULL;
    work.to = PyArray_BYTES(out);
    if (PyArray_SIZE(out)) share_indexing(gather_slices, &work, work.outer * work.count, PyArray_SIZE(index));
    if (!atomic_load(&work.outside)) return (PyObject *)out;
    Py_DECREF(out);
    return outside_error();
}

static PyObject *scattered(PyObject *const *args, Py_ssize_t given)
{
    if (given != 5 || !is_dense(args[0]) || !is_index(args[1]) || !is_dense(args[2])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0], *index = (PyArrayObject *)args[1], *source = (PyArrayObject *)args[2];
    int dim = dim_of(args[3], x);
    int number = PyArray_NDIM(source) == 0;
    if (dim < 0 || !fits_along(x, index, dim) || !(number || PyArray_SAMESHAPE(index, source))) return NULL;
    if (PyArray_DESCR(x) != PyArray_DESCR(source) || !PyArray_ISWRITEABLE(x)) return NULL;
    Indexing work = {.from = PyArray_BYTES(source), .to = PyArray_BYTES(x), .at = PyArray_DATA(index)};
    fill_in(&work, x, dim, PyArray_DIM(index, dim));
    work.add = PyObject_IsTrue(args[4]);
    work.step = !number;
    if (work.add && !work.kind && PyArray_DESCR(x) != indexed_kinds[0]) return NULL;
    npy_intp parts = (work.inner + COLUMNS - 1) / COLUMNS;
    if (PyArray_SIZE(index)) share_indexing(scatter_columns, &work, work.outer * parts, PyArray_SIZE(index));
    return atomic_load(&work.outside) ? outside_error() : Py_NewRef((PyObject *)x);
}

/* -- slices_added -------------------------------------------------------------------------------------------------- */

#define DEFINE_ADD(T)                                                                                                  \
    VECTORISED static void add_##T(const Indexing *work, npy_intp block, npy_intp start, npy_intp columns)             \
    {                                                                                                                  \
        T *x = (T *)work->to + block * work->size * work->inner + start;                                               \
        const T *source = (const T *)work->from + block * work->count * work->inner + start;                           \
        for (npy_intp k = 0; columns == 1 && k < work->count; k++) {                                                   \
            x[from_front(work->at[k], work->size) * work->inner] += source[k * work->inner];                           \
        }                                                                                                              \
        for (npy_intp k = 0; columns > 1 && k < work->count; k++) {                                                    \
            T *restrict to = x + from_front(work->at[k], work->size) * work->inner;                                    \
            const T *restrict from = source + k * work->inner;                                                         \
            for (npy_intp i = 0; i < columns; i++) to[i] += from[i];                                                   \
        }                                                                                                              \
    }
DEFINE_ADD(float)
DEFINE_ADD(double)

/* units: some columns of all slices of a block */
static void add_slices(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Indexing *work = context;
    npy_intp parts = (work->inner + COLUMNS - 1) / COLUMNS;
    while (first < last) { /* neighbouring parts in one go */
        npy_intp block = first / parts, part = first % parts;
        npy_intp count = last - first < parts - part ? last - first : parts - part;
        npy_intp end = (part + count) * COLUMNS < work->inner ? (part + count) * COLUMNS : work->inner;
        (work->kind == 1 ? add_float : add_double)(work, block, part * COLUMNS, end - part * COLUMNS);
        first += count;
    }
}

static PyObject *slices_added(PyObject *const *args, Py_ssize_t given)
{
    if (given != 4 || !is_dense(args[0]) || !is_index(args[1]) || !is_dense(args[2])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0], *at = (PyArrayObject *)args[1], *source = (PyArrayObject *)args[2];
    int dim = dim_of(args[3], x);
    if (dim < 0 || PyArray_DESCR(x) != PyArray_DESCR(source) || !PyArray_ISWRITEABLE(x)) return NULL;
    Indexing work = {.from = PyArray_BYTES(source), .to = PyArray_BYTES(x), .at = PyArray_DATA(at)};
    fill_in(&work, x, dim, PyArray_SIZE(at));
    if (!work.kind || PyArray_SIZE(source) != work.outer * work.count * work.inner) return NULL;
    if (!all_inside(work.at, work.count, work.size)) return NULL;
    npy_intp parts = (work.inner + COLUMNS - 1) / COLUMNS;
    if (PyArray_SIZE(source)) share_indexing(add_slices, &work, work.outer * parts, work.count);
    return Py_NewRef((PyObject *)x);
}

/* -- rows_summed: row after row, so that memory is written once and in order ------------------------------------------ */

typedef struct {
    Indexing work;
    npy_intp *starts, *order; /* order[starts[row]], ... up to the next: the places in `at` that name a row */
} Summing;

#define DEFINE_SUM(T)                                                                                                  \
    VECTORISED static void sum_##T(const Summing *s, npy_intp first, npy_intp last)                                    \
    {                                                                                                                  \
        npy_intp n = s->work.inner;                                                                                    \
        const T *source = (const T *)s->work.from;                                                                     \
        for (npy_intp row = first; row < last; row++) {                                                                \
            T *restrict to = (T *)s->work.to + row * n;                                                                \
            npy_intp from = s->starts[row], end = s->starts[row + 1], empty = row;                                     \
            while (empty < last && s->starts[empty + 1] == from) empty++;                                              \
            if (empty > row) {                                                                                         \
                memset(to, 0, (size_t)((empty - row) * n) * sizeof(T));                                                \
                row = empty - 1;                                                                                       \
                continue;                                                                                              \
            }                                                                                                          \
            for (npy_intp k = from; k < end; k++) {                                                                    \
                const T *restrict x = source + s->order[k] * n;                                                        \
                if (k + AHEAD < s->work.count) {                                                                       \
                    ask_for((const char *)(source + s->order[k + AHEAD] * n), n * (npy_intp)sizeof(T));                \
                }                                                                                                      \
                if (k == from) {                                                                                       \
                    for (npy_intp i = 0; i < n; i++) to[i] = 0 + x[i]; /* a zero that is negative becomes positive */  \
                } else {                                                                                               \
                    for (npy_intp i = 0; i < n; i++) to[i] += x[i];                                                    \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
DEFINE_SUM(float)
DEFINE_SUM(double)

static void sum_rows(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Summing *summing = context;
    (summing->work.kind == 1 ? sum_float : sum_double)(summing, first, last);
}

/* The places that name each row, in their order: counted, then put where they belong. */
static void sort_places(Summing *s)
{
    npy_intp rows = s->work.size;
    memset(s->starts, 0, (size_t)(rows + 2) * sizeof(npy_intp));
    for (npy_intp i = 0; i < s->work.count; i++) s->starts[from_front(s->work.at[i], rows) + 2]++;
    for (npy_intp row = 2; row <= rows; row++) s->starts[row + 1] += s->starts[row];
    for (npy_intp i = 0; i < s->work.count; i++) s->order[s->starts[from_front(s->work.at[i], rows) + 1]++] = i;
}

static PyObject *rows_summed(PyObject *const *args, Py_ssize_t given)
{
    if (given != 3 || !PyTuple_CheckExact(args[0]) || !is_index(args[1]) || !is_dense(args[2])) return NULL;
    PyArrayObject *at = (PyArrayObject *)args[1], *source = (PyArrayObject *)args[2];
    int ndim = (int)PyTuple_GET_SIZE(args[0]);
    npy_intp shape[NPY_MAXDIMS], total = 1;
    if (ndim > NPY_MAXDIMS || PyArray_NDIM(source) != 2 || PyArray_NDIM(at) != 1 ||
        PyArray_DIM(at, 0) != PyArray_DIM(source, 0)) return NULL;
    for (int d = 0; d < ndim; d++) {
        shape[d] = PyLong_AsSsize_t(PyTuple_GET_ITEM(args[0], d));
        if (shape[d] < 0) return NULL;
        total *= shape[d];
    }
    Summing s = {.work = {.from = PyArray_BYTES(source), .at = PyArray_DATA(at)}};
    fill_in(&s.work, source, 0, PyArray_DIM(at, 0));
    if (!s.work.kind || s.work.inner * s.work.item < 64 || total % s.work.inner) return NULL;
    npy_intp rows = s.work.size = total / s.work.inner;
    if (!all_inside(s.work.at, s.work.count, rows)) return NULL;
    s.starts = malloc((size_t)(rows + 2 + s.work.count) * sizeof(npy_intp));
    PyArrayObject *out = s.starts == NULL ? NULL : new_like(source, ndim, shape);
    if (out != NULL) {
        s.order = s.starts + rows + 2;
        s.work.to = PyArray_BYTES(out);
        npy_intp slice = s.work.inner * s.work.item, bytes = (rows + s.work.count) * slice;
        sort_places(&s);
        Py_BEGIN_ALLOW_THREADS
        if (bytes < SPLIT_FROM) {
            sum_rows(&s, 0, rows);
        } else {
            pool_run(sum_rows, &s, rows, slice, bytes >= LONG_COPY);
        }
        Py_END_ALLOW_THREADS
    }
    free(s.starts);
    return (PyObject *)out;
}

/* -- flat_index ---------------------------------------------------------------------------------------------------- */

static PyObject *flat_index(PyObject *const *args, Py_ssize_t given)
{
    if (given < 2 || !PyTuple_CheckExact(args[0]) || PyTuple_GET_SIZE(args[0]) != given - 1) return NULL;
    PyArrayObject *first = (PyArrayObject *)args[1];
    npy_intp sizes[NPY_MAXDIMS], total = 1;
    for (Py_ssize_t i = 1; i < given; i++) {
        if (i > NPY_MAXDIMS || !is_index(args[i]) || !PyArray_SAMESHAPE(first, (PyArrayObject *)args[i])) return NULL;
        npy_intp size = sizes[i - 1] = PyLong_AsSsize_t(PyTuple_GET_ITEM(args[0], i - 1));
        if (size <= 0 || size > NPY_MAX_INTP / total) return NULL;
        total *= size;
        if (!all_within(PyArray_DATA((PyArrayObject *)args[i]), PyArray_SIZE(first), -size, size)) return NULL;
    }
    PyArrayObject *out = new_like(first, PyArray_NDIM(first), PyArray_DIMS(first));
    if (out == NULL) return NULL;
    int64_t *to = PyArray_DATA(out);
    for (Py_ssize_t i = 1; i < given; i++) {
        const int64_t *at = PyArray_DATA((PyArrayObject *)args[i]);
        npy_intp size = sizes[i - 1], count = PyArray_SIZE(first);
        for (npy_intp k = 0; i == 1 && k < count; k++) to[k] = from_front(at[k], size);
        for (npy_intp k = 0; i > 1 && k < count; k++) to[k] = to[k] * size + from_front(at[k], size);
    }
    return (PyObject *)out;
}

/* -- one element of each row --------------------------------------------------------------------------------------- */

/* total_of_targets(x, at, mean): the negative sum, or the mean, of x[i, at[i]]. Not if an index is out of bounds. */
static PyObject *total_of_targets(PyObject *const *args, Py_ssize_t given)
{
    if (given != 3 || !is_dense(args[0]) || !is_index(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0], *at = (PyArrayObject *)args[1];
    int is_float = PyArray_DESCR(x) == indexed_kinds[1];
    if ((!is_float && PyArray_DESCR(x) != indexed_kinds[2]) || PyArray_NDIM(x) != 2 || PyArray_NDIM(at) != 1) return NULL;
    npy_intp rows = PyArray_DIM(x, 0), columns = PyArray_DIM(x, 1);
    const int64_t *places = (const int64_t *)PyArray_DATA(at);
    if (PyArray_DIM(at, 0) != rows || !all_inside(places, rows, columns)) return NULL;
    double total = 0;
    for (npy_intp i = 0; i < rows; i++) {
        npy_intp place = i * columns + places[i];
        if (places[i] < 0) return NULL;
        total += is_float ? (double)((const float *)PyArray_DATA(x))[place] : ((const double *)PyArray_DATA(x))[place];
    }
    total = 0 - total; /* a sum of nothing is no negative zero */
    if (args[2] == Py_True) total /= (double)rows;
    PyArrayObject *out = new_like(x, 0, NULL);
    if (out != NULL && is_float) *(float *)PyArray_DATA(out) = (float)total;
    else if (out != NULL) *(double *)PyArray_DATA(out) = total;
    return (PyObject *)out;
}

static void indexing_prepare(void)
{
    const int types[3] = {NPY_INT64, NPY_FLOAT, NPY_DOUBLE};
    for (int i = 0; i < 3; i++) indexed_kinds[i] = PyArray_DescrFromType(types[i]);
}

#endif
