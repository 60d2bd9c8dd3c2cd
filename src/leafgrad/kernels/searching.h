/* The places of the k largest or smallest elements of rows.

       first_of_order(x, k, largest)   for each row of x, which lies row by row, the places of these, in order

   A heap holds the k best so far, the worst on top; a list in order, if they are few. Most elements are worse than
   that: blocks of them are passed over with one comparison of vectors. Numbers are compared as integers of the same order, in which nan is the largest; of
   equal ones the first are taken. */
#ifndef LEAFGRAD_SEARCHING_H
#define LEAFGRAD_SEARCHING_H

#include "copying.h"
#include "indexing.h"

#define LOOKED_AT 16 /* elements at once */
#define SHORT_LIST 8 /* elements that are put in order sooner than into a heap */

typedef struct {
    const char *from;
    int64_t *to;
    npy_intp rows, n, k;
    int largest, type;
    atomic_int failed; /* was there no memory? */
} Search;

#define DEFINE_SEARCH(NAME, T, I, KEY)                                                                                 \
    typedef struct {                                                                                                   \
        I key;                                                                                                         \
        npy_intp at;                                                                                                   \
    } NAME##_found;                                                                                                    \
                                                                                                                       \
    INLINE I NAME##_key(T value, I sign)                                                                               \
    {                                                                                                                  \
        I bits;                                                                                                        \
        memcpy(&bits, &value, sizeof bits);                                                                            \
        return (KEY) ^ sign;                                                                                           \
    }                                                                                                                  \
                                                                                                                       \
    INLINE int NAME##_worse(NAME##_found a, NAME##_found b)                                                            \
    {                                                                                                                  \
        return a.key < b.key || (a.key == b.key && a.at > b.at);                                                       \
    }                                                                                                                  \
                                                                                                                       \
    /* let what lies at `place` sink to where nothing below is worse */                                                \
    static void NAME##_sink(NAME##_found *heap, npy_intp count, npy_intp place)                                        \
    {                                                                                                                  \
        NAME##_found own = heap[place];                                                                                \
        for (npy_intp child; (child = 2 * place + 1) < count; place = child) {                                         \
            if (child + 1 < count && NAME##_worse(heap[child + 1], heap[child])) child++;                              \
            if (!NAME##_worse(heap[child], own)) break;                                                                \
            heap[place] = heap[child];                                                                                 \
        }                                                                                                              \
        heap[place] = own;                                                                                             \
    }                                                                                                                  \
                                                                                                                       \
    INLINE int NAME##_any(const T *x, I sign, I than)                                                                  \
    {                                                                                                                  \
        int any = 0;                                                                                                   \
        SIMD for (int i = 0; i < LOOKED_AT; i++) any |= NAME##_key(x[i], sign) > than;                                 \
        return any;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void NAME##_row(const T *x, npy_intp n, npy_intp k, I sign, NAME##_found *heap, int64_t *to)     \
    {                                                                                                                  \
        for (npy_intp i = 0; i < k; i++) heap[i] = (NAME##_found){NAME##_key(x[i], sign), i};                          \
        for (npy_intp i = k / 2; i-- > 0;) NAME##_sink(heap, k, i);                                                    \
        for (npy_intp i = k; i < n;) {                                                                                 \
            if (i + LOOKED_AT <= n && !NAME##_any(x + i, sign, heap[0].key)) {                                         \
                i += LOOKED_AT;                                                                                        \
                continue;                                                                                              \
            }                                                                                                          \
            for (npy_intp end = i + LOOKED_AT < n ? i + LOOKED_AT : n; i < end; i++) {                                 \
                NAME##_found now = {NAME##_key(x[i], sign), i};                                                        \
                if (now.key <= heap[0].key) continue;                                                                  \
                heap[0] = now;                                                                                         \
                NAME##_sink(heap, k, 0);                                                                               \
            }                                                                                                          \
        }                                                                                                              \
        for (npy_intp left = k; left > 0;) { /* the worst of those that are left come last */                          \
            to[--left] = heap[0].at;                                                                                   \
            heap[0] = heap[left];                                                                                      \
            NAME##_sink(heap, left, 0);                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void NAME##_few(const T *x, npy_intp n, npy_intp k, I sign, NAME##_found *best, int64_t *to)     \
    {                                                                                                                  \
        npy_intp count = 0;                                                                                            \
        for (npy_intp i = 0; i < n;) {                                                                                 \
            if (count == k && i + LOOKED_AT <= n && !NAME##_any(x + i, sign, best[k - 1].key)) {                       \
                i += LOOKED_AT;                                                                                        \
                continue;                                                                                              \
            }                                                                                                          \
            for (npy_intp end = i + LOOKED_AT < n ? i + LOOKED_AT : n; i < end; i++) {                                 \
                NAME##_found now = {NAME##_key(x[i], sign), i};                                                        \
                if (count == k && now.key <= best[k - 1].key) continue;                                                \
                npy_intp place = count < k ? count++ : k - 1;                                                          \
                for (; place > 0 && best[place - 1].key < now.key; place--) best[place] = best[place - 1];             \
                best[place] = now;                                                                                     \
            }                                                                                                          \
        }                                                                                                              \
        for (npy_intp i = 0; i < k; i++) to[i] = best[i].at;                                                           \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME##_rows(Search *s, ptrdiff_t first, ptrdiff_t last)                                                \
    {                                                                                                                  \
        NAME##_found *heap = malloc((size_t)s->k * sizeof *heap);                                                      \
        if (heap == NULL) atomic_fetch_or(&s->failed, 1);                                                              \
        for (; heap != NULL && first < last; first++) {                                                                \
            const T *x = (const T *)s->from + first * s->n;                                                            \
            int64_t *to = s->to + first * s->k;                                                                        \
            if (s->k <= SHORT_LIST) NAME##_few(x, s->n, s->k, s->largest ? 0 : -1, heap, to);                          \
            else NAME##_row(x, s->n, s->k, s->largest ? 0 : -1, heap, to);                                             \
        }                                                                                                              \
        free(heap);                                                                                                    \
    }
#define FLOAT_KEY(MOST) value != value ? MOST : bits < 0 ? bits ^ MOST : bits
DEFINE_SEARCH(single, float, int32_t, FLOAT_KEY(INT32_MAX))
DEFINE_SEARCH(twice, double, int64_t, FLOAT_KEY(INT64_MAX))
DEFINE_SEARCH(whole, int64_t, int64_t, bits)

static void search_rows(void *context, ptrdiff_t first, ptrdiff_t last)
{
    Search *search = context;
    int type = search->type;
    (type == NPY_FLOAT ? single_rows : type == NPY_DOUBLE ? twice_rows : whole_rows)(search, first, last);
}

static PyObject *first_of_order(PyObject *const *args, Py_ssize_t given)
{
    if (given != 3 || !is_dense(args[0]) || !PyLong_CheckExact(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int ndim = PyArray_NDIM(x), type = PyArray_TYPE(x), is_whole = PyArray_DESCR(x) == indexed_kinds[0];
    npy_intp k = PyLong_AsSsize_t(args[1]), shape[NPY_MAXDIMS];
    if (PyErr_Occurred() || ndim == 0 || (type != NPY_FLOAT && type != NPY_DOUBLE && !is_whole) ||
        PyArray_SIZE(x) == 0 || k < 1 || k > PyArray_DIM(x, ndim - 1)) {
        PyErr_Clear();
        return NULL;
    }
    for (int d = 0; d < ndim; d++) shape[d] = d < ndim - 1 ? PyArray_DIM(x, d) : k;
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(ndim, shape, NPY_INT64);
    if (out == NULL) return NULL;
    Search s = {.from = PyArray_BYTES(x), .to = PyArray_DATA(out), .n = PyArray_DIM(x, ndim - 1), .k = k};
    s.rows = PyArray_SIZE(x) / s.n, s.largest = args[2] == Py_True, s.type = type;
    npy_intp bytes = PyArray_NBYTES(x);
    atomic_init(&s.failed, 0);
    Py_BEGIN_ALLOW_THREADS
    if (bytes < SPLIT_FROM || s.rows == 1) {
        search_rows(&s, 0, s.rows);
    } else {
        pool_run(search_rows, &s, s.rows, bytes / s.rows, 4 * bytes >= LONG_COPY);
    }
    Py_END_ALLOW_THREADS
    if (atomic_load(&s.failed)) {
        Py_DECREF(out);
        return PyErr_NoMemory();
    }
    return (PyObject *)out;
}

#endif
