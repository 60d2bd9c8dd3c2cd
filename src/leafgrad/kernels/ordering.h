/* The elements of rows in order, and those of one rank.

       ordered(x, descending)   for each row of x, its elements in order and the places where they were
       ranked(x, k, nan, keep)  for each row of x, the element of rank k and its place; `keep`: in rows of one. nan is
                                "last": it counts as the largest; "wins": the first of it is found, if there is any;
                                "skipped": the middle of all others is found

       occurrences(x, least)    how often 0, 1, ... occur in a vector of int64: of so many numbers at least

   Everything lies row by row. Numbers are compared as integers of the same order, in which nan is the largest and zeros
   are equal; of equal ones the first come first. */
#ifndef LEAFGRAD_ORDERING_H
#define LEAFGRAD_ORDERING_H

#include "copying.h"
#include "indexing.h"

#define INSERTED 40 /* elements up to which they are put in order one by one */
#define DIGITS 256

typedef struct {
    const char *from;
    char *values;
    int64_t *places;
    npy_intp rows, n, k;
    int type, descending, nan; /* nan: 'l', 'w', 's', see above */
    atomic_int failed; /* was there no memory? */
} Ordering;

#define DEFINE_ORDERING(NAME, T, I, U, MIN, MOST, KEY)                                                                 \
    typedef struct {                                                                                                   \
        U key; /* in the order of unsigned numbers */                                                                  \
        U at;                                                                                                          \
    } NAME##_item;                                                                                                     \
                                                                                                                       \
    INLINE I NAME##_order(T value)                                                                                     \
    {                                                                                                                  \
        I bits;                                                                                                        \
        memcpy(&bits, &value, sizeof bits);                                                                            \
        return KEY;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME##_insert(NAME##_item *items, npy_intp n)                                                          \
    {                                                                                                                  \
        for (npy_intp i = 1; i < n; i++) {                                                                             \
            NAME##_item own = items[i];                                                                                \
            npy_intp to = i;                                                                                           \
            for (; to > 0 && items[to - 1].key > own.key; to--) items[to] = items[to - 1];                             \
            items[to] = own;                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* by each digit of the keys, the last one first; returns where the items are then */                              \
    static NAME##_item *NAME##_distribute(NAME##_item *items, NAME##_item *others, npy_intp n, npy_intp (*counts)[DIGITS]) \
    {                                                                                                                  \
        memset(counts, 0, sizeof(U) * sizeof *counts);                                                                 \
        for (npy_intp i = 0; i < n; i++) {                                                                             \
            for (size_t d = 0; d < sizeof(U); d++) counts[d][items[i].key >> 8 * d & 255]++;                           \
        }                                                                                                              \
        for (size_t d = 0; d < sizeof(U); d++) {                                                                       \
            npy_intp *starts = counts[d], start = 0;                                                                   \
            if (starts[items[0].key >> 8 * d & 255] == n) continue; /* all have the same */                            \
            for (int digit = 0; digit < DIGITS; digit++) {                                                             \
                npy_intp count = starts[digit];                                                                        \
                starts[digit] = start;                                                                                 \
                start += count;                                                                                        \
            }                                                                                                          \
            for (npy_intp i = 0; i < n; i++) others[starts[items[i].key >> 8 * d & 255]++] = items[i];                 \
            NAME##_item *swapped = items;                                                                              \
            items = others;                                                                                            \
            others = swapped;                                                                                          \
        }                                                                                                              \
        return items;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME##_sort_rows(Ordering *o, ptrdiff_t first, ptrdiff_t last)                                         \
    {                                                                                                                  \
        npy_intp n = o->n, (*counts)[DIGITS] = malloc(sizeof(U) * sizeof *counts + 2 * (size_t)n * sizeof(NAME##_item));\
        if (counts == NULL) atomic_fetch_or(&o->failed, 1);                                                            \
        NAME##_item *items = counts == NULL ? NULL : (NAME##_item *)(counts + sizeof(U));                              \
        const U flip = o->descending ? (U)MOST : (U)MIN; /* with the sign turned, or all but the sign */               \
        for (; counts != NULL && first < last; first++) {                                                              \
            const T *x = (const T *)o->from + first * n;                                                               \
            T *values = (T *)o->values + first * n;                                                                    \
            int64_t *places = o->places + first * n;                                                                   \
            NAME##_item *found = items;                                                                                \
            for (npy_intp i = 0; i < n; i++) items[i] = (NAME##_item){(U)NAME##_order(x[i]) ^ flip, (U)i};             \
            if (n <= INSERTED) {                                                                                       \
                NAME##_insert(items, n);                                                                               \
            } else {                                                                                                   \
                found = NAME##_distribute(items, items + n, n, counts);                                                \
            }                                                                                                          \
            for (npy_intp i = 0; i < n; i++) {                                                                         \
                places[i] = (int64_t)found[i].at;                                                                      \
                values[i] = x[found[i].at];                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        free(counts);                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    /* Those below the pivot to the front; how many there are. Nothing is decided that could be guessed wrong. */      \
    static npy_intp NAME##_part(I *keys, npy_intp n, I pivot)                                                          \
    {                                                                                                                  \
        npy_intp below = 0;                                                                                            \
        for (npy_intp i = 0; i < n; i++) {                                                                             \
            I own = keys[i];                                                                                           \
            keys[i] = keys[below];                                                                                     \
            keys[below] = own;                                                                                         \
            below += own < pivot;                                                                                      \
        }                                                                                                              \
        return below;                                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    INLINE I NAME##_middle(I a, I b, I c)                                                                              \
    {                                                                                                                  \
        I low = a < b ? a : b, high = a < b ? b : a;                                                                   \
        return c < low ? low : c > high ? high : c;                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    /* The key of rank k. It is in [low, high] all the time: should the pivots that are found among the keys turn out  \
       badly, that is halved, which takes no more steps than a key has bits. */                                        \
    static I NAME##_select(I *keys, npy_intp n, npy_intp k)                                                            \
    {                                                                                                                  \
        I low = MIN, high = MOST;                                                                                      \
        for (int step = 0; n > 1 && low < high; step++) {                                                              \
            npy_intp third = n / 3;                                                                                    \
            I pivot = step < 48 ? NAME##_middle(keys[third / 2], keys[n / 2], keys[n - 1 - third / 2])                 \
                                : (I)((U)low + ((U)high - (U)low) / 2 + 1);                                            \
            if (pivot == low) { /* the smallest that there may be: is it one of those? */                              \
                npy_intp equal = NAME##_part(keys, n, pivot + 1);                                                      \
                if (k < equal) return pivot;                                                                           \
                keys += equal, n -= equal, k -= equal, low = pivot + 1;                                                \
                continue;                                                                                              \
            }                                                                                                          \
            npy_intp below = NAME##_part(keys, n, pivot);                                                              \
            if (k < below) {                                                                                           \
                n = below, high = pivot - 1;                                                                           \
            } else {                                                                                                   \
                keys += below, n -= below, k -= below, low = pivot;                                                    \
            }                                                                                                          \
        }                                                                                                              \
        return n == 1 ? keys[0] : low;                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void NAME##_count(const I *keys, npy_intp n, I key, npy_intp *below, npy_intp *equal)            \
    {                                                                                                                  \
        npy_intp less = 0, same = 0;                                                                                   \
        for (npy_intp i = 0; i < n; i++) {                                                                             \
            less += keys[i] < key;                                                                                     \
            same += keys[i] == key;                                                                                    \
        }                                                                                                              \
        *below = less, *equal = same;                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void NAME##_keys(const T *x, npy_intp n, I *restrict keys)                                       \
    {                                                                                                                  \
        for (npy_intp i = 0; i < n; i++) keys[i] = NAME##_order(x[i]);                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME##_rank_rows(Ordering *o, ptrdiff_t first, ptrdiff_t last)                                         \
    {                                                                                                                  \
        npy_intp n = o->n;                                                                                             \
        I *keys = malloc((size_t)n * sizeof *keys);                                                                    \
        if (keys == NULL) atomic_fetch_or(&o->failed, 1);                                                              \
        for (; keys != NULL && first < last; first++) {                                                                \
            const T *x = (const T *)o->from + first * n;                                                               \
            npy_intp k = o->k, below, equal, place = 0;                                                                \
            NAME##_keys(x, n, keys);                                                                                   \
            if (o->nan != 'l' && o->type != NPY_INT64) {                                                               \
                NAME##_count(keys, n, MOST, &below, &equal); /* all others, those that are no numbers */               \
                if (equal) k = o->nan == 'w' ? below : (below ? below - 1 : 0) / 2;                                    \
            }                                                                                                          \
            I key = NAME##_select(keys, n, k);                                                                         \
            NAME##_keys(x, n, keys); /* in their places again */                                                       \
            NAME##_count(keys, n, key, &below, &equal);                                                                \
            for (npy_intp left = k - below + 1; left > 0; place++) left -= keys[place] == key;                         \
            o->places[first] = place - 1;                                                                              \
            ((T *)o->values)[first] = x[place - 1];                                                                    \
        }                                                                                                              \
        free(keys);                                                                                                    \
    }
#define ORDER_OF_FLOAT(MIN, MOST) value != value ? MOST : bits < 0 ? MIN - bits : bits
DEFINE_ORDERING(in_single, float, int32_t, uint32_t, INT32_MIN, INT32_MAX, ORDER_OF_FLOAT(INT32_MIN, INT32_MAX))
DEFINE_ORDERING(in_double, double, int64_t, uint64_t, INT64_MIN, INT64_MAX, ORDER_OF_FLOAT(INT64_MIN, INT64_MAX))
DEFINE_ORDERING(in_whole, int64_t, int64_t, uint64_t, INT64_MIN, INT64_MAX, bits)

static void sort_some(void *context, ptrdiff_t first, ptrdiff_t last)
{
    Ordering *o = context;
    (o->type == NPY_FLOAT ? in_single_sort_rows : o->type == NPY_DOUBLE ? in_double_sort_rows : in_whole_sort_rows)(
        o, first, last);
}

static void rank_some(void *context, ptrdiff_t first, ptrdiff_t last)
{
    Ordering *o = context;
    (o->type == NPY_FLOAT ? in_single_rank_rows : o->type == NPY_DOUBLE ? in_double_rank_rows : in_whole_rank_rows)(
        o, first, last);
}

/* Run what finds `width` elements of each row of x, into results of so many dimensions: (values, places). */
static PyObject *found_in_rows(PyObject *given, Ordering *o, npy_intp width, int ndim, pool_work run)
{
    PyArrayObject *x = (PyArrayObject *)given;
    npy_intp shape[NPY_MAXDIMS], bytes = PyArray_NBYTES(x);
    for (int d = 0; d < ndim; d++) shape[d] = d < PyArray_NDIM(x) - 1 ? PyArray_DIM(x, d) : width;
    PyArrayObject *values = new_like(x, ndim, shape);
    PyArrayObject *places = values == NULL ? NULL : (PyArrayObject *)PyArray_SimpleNew(ndim, shape, NPY_INT64);
    if (places == NULL) {
        Py_XDECREF(values);
        return NULL;
    }
    o->from = PyArray_BYTES(x), o->values = PyArray_BYTES(values), o->places = PyArray_DATA(places);
    atomic_init(&o->failed, 0);
    if (4 * bytes < LET_OTHERS_RUN) {
        run(o, 0, o->rows);
    } else {
        Py_BEGIN_ALLOW_THREADS
        if (o->rows == 1 || 4 * bytes < SPLIT_FROM) {
            run(o, 0, o->rows);
        } else { /* several times the work of a copy */
            pool_run(run, o, o->rows, 4 * bytes / o->rows, 4 * bytes >= LONG_COPY);
        }
        Py_END_ALLOW_THREADS
    }
    if (atomic_load(&o->failed)) {
        Py_DECREF(values);
        Py_DECREF(places);
        return PyErr_NoMemory();
    }
    return Py_BuildValue("(NN)", values, places);
}

/* Rows of numbers that can be compared here? */
static int has_rows(PyObject *object, Ordering *o)
{
    if (!is_dense(object)) return 0;
    PyArrayObject *x = (PyArrayObject *)object;
    int ndim = PyArray_NDIM(x), is_whole = PyArray_DESCR(x) == indexed_kinds[0];
    o->type = is_whole ? NPY_INT64 : PyArray_TYPE(x);
    if (ndim == 0 || PyArray_SIZE(x) == 0 || (!is_whole && o->type != NPY_FLOAT && o->type != NPY_DOUBLE)) return 0;
    o->n = PyArray_DIM(x, ndim - 1);
    o->rows = PyArray_SIZE(x) / o->n;
    return o->n < INT32_MAX;
}

static PyObject *ordered(PyObject *const *args, Py_ssize_t given)
{
    Ordering o;
    if (given != 2 || !has_rows(args[0], &o)) return NULL;
    o.descending = args[1] == Py_True;
    return found_in_rows(args[0], &o, o.n, PyArray_NDIM((PyArrayObject *)args[0]), sort_some);
}

static PyObject *ranked(PyObject *const *args, Py_ssize_t given)
{
    Ordering o;
    if (given != 4 || !has_rows(args[0], &o) || !PyLong_CheckExact(args[1]) || !PyUnicode_Check(args[2])) return NULL;
    o.k = PyLong_AsSsize_t(args[1]);
    o.nan = (int)PyUnicode_READ_CHAR(args[2], 0);
    if (o.k < 0 || o.k >= o.n) {
        PyErr_Clear();
        return NULL;
    }
    int ndim = PyArray_NDIM((PyArrayObject *)args[0]);
    return found_in_rows(args[0], &o, 1, args[3] == Py_True ? ndim : ndim - 1, rank_some);
}

/* -- occurrences --------------------------------------------------------------------------------------------------- */

#define COUNTED 1024 /* numbers up to which several tables are filled: one would wait for its own last step */

VECTORISED static void find_bounds(const int64_t *x, npy_intp n, int64_t *least, int64_t *most)
{
    int64_t low = x[0], high = x[0];
    for (npy_intp i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    *least = low, *most = high;
}

static void count_numbers(const int64_t *x, npy_intp n, npy_intp size, int64_t *counts)
{
    npy_intp i = 0;
    if (size <= COUNTED && n >= 2 * COUNTED) {
        uint32_t tables[4][COUNTED];
        while (i + 4 <= n) {
            npy_intp end = n - i < INT32_MAX ? n - 3 : i + INT32_MAX - 3;
            memset(tables, 0, sizeof tables);
            for (; i < end; i += 4) {
                for (int t = 0; t < 4; t++) tables[t][x[i + t]]++;
            }
            for (npy_intp k = 0; k < size; k++) {
                counts[k] += (int64_t)tables[0][k] + tables[1][k] + tables[2][k] + tables[3][k];
            }
        }
    }
    for (; i < n; i++) counts[x[i]]++;
}

static PyObject *occurrences(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !is_index(args[0]) || !PyLong_CheckExact(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    npy_intp n = PyArray_SIZE(x), size = PyLong_AsSsize_t(args[1]);
    if (PyArray_NDIM(x) != 1 || n == 0 || size < 0) {
        PyErr_Clear();
        return NULL;
    }
    int64_t least, most;
    find_bounds(PyArray_DATA(x), n, &least, &most);
    if (least < 0 || most >= INT64_MAX / 16) return NULL;
    if (most >= size) size = (npy_intp)most + 1;
    PyObject *counts = PyArray_ZEROS(1, &size, NPY_INT64, 0);
    if (counts != NULL) count_numbers(PyArray_DATA(x), n, size, PyArray_DATA((PyArrayObject *)counts));
    return counts;
}

#endif
