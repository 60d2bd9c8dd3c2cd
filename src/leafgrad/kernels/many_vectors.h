/* Products of many long vectors with two, and sums of many. Each takes one pass over the memory. Four vectors at a time
   are read side by side, which takes two thirds of the time of one by one. Included by _products.c.

       two_products(a, b, *vectors)             for each vector its products with a and with b, as a matrix of doubles
       dot(a, b)                                the product of two vectors
       times_vector(a, b)                       of a large matrix and a vector
       weighted(a, factor, weights, *vectors)   factor a + weights[0] vectors[0] + ...; weights are an array of doubles

   Products are added up in short runs with double totals, and in parts that do not depend on the number of threads. */
#ifndef LEAFGRAD_MANY_VECTORS_H
#define LEAFGRAD_MANY_VECTORS_H

#include "lanes.h"

#define RUN 512   /* elements that are added up in their own precision, */
#define PART 8192 /* and that are one task: of two or three vectors they fit into the second cache */

typedef struct {
    const char *a, *b, **vectors;
    char *out;
    const double *weights;
    double factor, *sums; /* of each part, for each vector, two */
    npy_intp count, many;
    int size;
} Vectors;

#define DEFINE_VECTORS(T)                                                                                              \
    VECTORISED static void multiply_four_##T(const T *a, const T *b, const T *v0, const T *v1, const T *v2,            \
                                             const T *v3, npy_intp count, double *sums)                                \
    {                                                                                                                  \
        for (npy_intp start = 0; start < count; start += RUN) {                                                        \
            npy_intp end = count - start < RUN ? count : start + RUN;                                                  \
            T a0 = 0, b0 = 0, a1 = 0, b1 = 0, a2 = 0, b2 = 0, a3 = 0, b3 = 0;                                          \
            _Pragma("omp simd reduction(+:a0, b0, a1, b1, a2, b2, a3, b3)")                                            \
            for (npy_intp i = start; i < end; i++) {                                                                   \
                a0 += v0[i] * a[i], b0 += v0[i] * b[i], a1 += v1[i] * a[i], b1 += v1[i] * b[i];                        \
                a2 += v2[i] * a[i], b2 += v2[i] * b[i], a3 += v3[i] * a[i], b3 += v3[i] * b[i];                        \
            }                                                                                                          \
            sums[0] += a0, sums[1] += b0, sums[2] += a1, sums[3] += b1;                                                \
            sums[4] += a2, sums[5] += b2, sums[6] += a3, sums[7] += b3;                                                \
        }                                                                                                              \
    }                                                                                                                  \
    VECTORISED static void multiply_one_##T(const T *a, const T *b, const T *v, npy_intp count, double *sums)          \
    {                                                                                                                  \
        for (npy_intp start = 0; start < count; start += RUN) {                                                        \
            npy_intp end = count - start < RUN ? count : start + RUN;                                                  \
            T with_a = 0, with_b = 0;                                                                                  \
            _Pragma("omp simd reduction(+:with_a, with_b)")                                                            \
            for (npy_intp i = start; i < end; i++) with_a += v[i] * a[i], with_b += v[i] * b[i];                       \
            sums[0] += with_a, sums[1] += with_b;                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    VECTORISED static void add_four_##T(T *out, const T *v0, const T *v1, const T *v2, const T *v3, const double *w,   \
                                        npy_intp count)                                                                \
    {                                                                                                                  \
        const T w0 = (T)w[0], w1 = (T)w[1], w2 = (T)w[2], w3 = (T)w[3];                                                \
        SIMD for (npy_intp i = 0; i < count; i++) out[i] += (w0 * v0[i] + w1 * v1[i]) + (w2 * v2[i] + w3 * v3[i]);     \
    }                                                                                                                  \
    VECTORISED static void add_one_##T(T *out, const T *v, double weight, npy_intp count)                              \
    {                                                                                                                  \
        const T w = (T)weight;                                                                                         \
        SIMD for (npy_intp i = 0; i < count; i++) out[i] += w * v[i];                                                  \
    }                                                                                                                  \
    VECTORISED static void scale_##T(T *out, const T *a, double factor, npy_intp count)                                \
    {                                                                                                                  \
        const T f = (T)factor;                                                                                         \
        SIMD for (npy_intp i = 0; i < count; i++) out[i] = f * a[i];                                                   \
    }                                                                                                                  \
    static void multiply_part_##T(const Vectors *w, npy_intp start, npy_intp count, double *sums)                      \
    {                                                                                                                  \
        const T **v = (const T **)w->vectors, *a = (const T *)w->a + start, *b = (const T *)w->b + start;              \
        npy_intp k = 0;                                                                                                \
        for (; k + 4 <= w->many; k += 4) {                                                                             \
            multiply_four_##T(a, b, v[k] + start, v[k + 1] + start, v[k + 2] + start, v[k + 3] + start, count,         \
                              sums + 2 * k);                                                                           \
        }                                                                                                              \
        for (; k < w->many; k++) multiply_one_##T(a, b, v[k] + start, count, sums + 2 * k);                            \
    }                                                                                                                  \
    static void add_part_##T(const Vectors *w, npy_intp start, npy_intp count)                                         \
    {                                                                                                                  \
        const T **v = (const T **)w->vectors;                                                                          \
        T *out = (T *)w->out + start;                                                                                  \
        npy_intp k = 0;                                                                                                \
        scale_##T(out, (const T *)w->a + start, w->factor, count);                                                     \
        for (; k + 4 <= w->many; k += 4) {                                                                             \
            add_four_##T(out, v[k] + start, v[k + 1] + start, v[k + 2] + start, v[k + 3] + start, w->weights + k,      \
                         count);                                                                                       \
        }                                                                                                              \
        for (; k < w->many; k++) add_one_##T(out, v[k] + start, w->weights[k], count);                                 \
    }
DEFINE_VECTORS(float)
DEFINE_VECTORS(double)

static void run_parts_of_vectors(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Vectors *w = context;
    for (ptrdiff_t item = from; item < to; item++) {
        npy_intp start = item * PART, count = w->count - start < PART ? w->count - start : PART;
        if (w->out != NULL) {
            w->size == 4 ? add_part_float(w, start, count) : add_part_double(w, start, count);
        } else {
            double *sums = w->sums + item * 2 * w->many;
            w->size == 4 ? multiply_part_float(w, start, count, sums) : multiply_part_double(w, start, count, sums);
        }
    }
}

static void run_vectors(Vectors *w)
{
    npy_intp parts = (w->count + PART - 1) / PART;
    double work = (double)w->count * (double)(w->many + 1);
    if (work < LET_OTHERS_RUN) {
        run_parts_of_vectors(w, 0, parts);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (work < 16 * LET_OTHERS_RUN) {
        run_parts_of_vectors(w, 0, parts);
    } else {
        pool_run(run_parts_of_vectors, w, parts, PART * w->size * (w->many + 1), work > 128 * LET_OTHERS_RUN);
    }
    Py_END_ALLOW_THREADS
}

/* A vector of this type and length without gaps. Returns NULL for anything else. */
static const char *vector_of(PyObject *object, int type, npy_intp count)
{
    PyArrayObject *array = (PyArrayObject *)object;
    int fits = is_usual(object, type) && PyArray_IS_C_CONTIGUOUS(array) && PyArray_NDIM(array) == 1 &&
               PyArray_SIZE(array) == count;
    return fits ? PyArray_BYTES(array) : NULL;
}

/* The first of the arguments, which says the type and the length, and the vectors from number `first` on. Returns 0 if
   NumPy is to compute this. Afterwards `vectors` is to be freed. */
static int read_vectors(Vectors *w, PyObject *const *args, Py_ssize_t given, Py_ssize_t first)
{
    if (given <= first || !PyArray_CheckExact(args[0])) return 0;
    int type = PyArray_TYPE((PyArrayObject *)args[0]);
    if (type != NPY_FLOAT && type != NPY_DOUBLE) return 0;
    w->size = type == NPY_FLOAT ? 4 : 8;
    w->count = PyArray_SIZE((PyArrayObject *)args[0]);
    w->many = given - first;
    w->a = vector_of(args[0], type, w->count);
    w->vectors = malloc((size_t)w->many * sizeof(char *));
    int fits = w->a != NULL && w->vectors != NULL;
    for (npy_intp k = 0; k < w->many && fits; k++) {
        w->vectors[k] = vector_of(args[first + k], type, w->count);
        fits = w->vectors[k] != NULL;
    }
    return fits;
}

static PyObject *two_products(PyObject *const *args, Py_ssize_t given)
{
    Vectors w = {0};
    PyArrayObject *out = NULL;
    if (read_vectors(&w, args, given, 2)) {
        w.b = vector_of(args[1], PyArray_TYPE((PyArrayObject *)args[0]), w.count);
        npy_intp shape[2] = {w.many, 2}, parts = (w.count + PART - 1) / PART;
        w.sums = w.b == NULL ? NULL : calloc((size_t)(2 * w.many * parts) + 1, sizeof(double));
        out = w.sums == NULL ? NULL : (PyArrayObject *)PyArray_ZEROS(2, shape, NPY_DOUBLE, 0);
        if (out != NULL) {
            run_vectors(&w);
            double *totals = PyArray_DATA(out);
            for (npy_intp i = 0; i < 2 * w.many * parts; i++) totals[i % (2 * w.many)] += w.sums[i];
        }
    }
    free(w.vectors), free(w.sums);
    return (PyObject *)out;
}

static PyObject *weighted(PyObject *const *args, Py_ssize_t given)
{
    Vectors w = {0};
    PyArrayObject *out = NULL;
    if (given > 3 && PyFloat_CheckExact(args[1]) && read_vectors(&w, args, given, 3)) {
        w.factor = PyFloat_AS_DOUBLE(args[1]);
        w.weights = (const double *)vector_of(args[2], NPY_DOUBLE, w.many);
        if (w.weights != NULL) {
            out = (PyArrayObject *)PyArray_SimpleNew(1, &w.count, PyArray_TYPE((PyArrayObject *)args[0]));
        }
        if (out != NULL) {
            w.out = PyArray_BYTES(out);
            run_vectors(&w);
        }
    }
    free(w.vectors);
    return (PyObject *)out;
}

/* -- the product of two vectors ------------------------------------------------------------------------------------ */

typedef struct {
    const char *a, *b;
    npy_intp count;
    int size;
    double *sums; /* of each part */
} Dot;

/* By lanes side by side, so that additions do not wait for each other and memory is read from its start to its end: of a
   million elements in three quarters of the time that four sums of distant parts take. */
#define DEFINE_DOT(T, kind, LANES)                                                                                     \
    VECTORISED static double dot_##T(const T *restrict a, const T *restrict b, npy_intp count)                         \
    {                                                                                                                  \
        double total = 0;                                                                                              \
        npy_intp start = 0;                                                                                            \
        for (; start + RUN <= count; start += RUN) {                                                                   \
            const T *x = a + start, *y = b + start;                                                                    \
            T lanes[LANES];                                                                                            \
            fill_##kind(lanes, 0);                                                                                     \
            for (int i = 0; i < RUN; i += LANES) {                                                                     \
                SIMD for (int k = 0; k < LANES; k++) lanes[k] += x[i + k] * y[i + k];                                  \
            }                                                                                                          \
            total += (double)sum_##kind(lanes);                                                                        \
        }                                                                                                              \
        T rest = 0;                                                                                                    \
        _Pragma("omp simd reduction(+:rest)")                                                                          \
        for (npy_intp i = start; i < count; i++) rest += a[i] * b[i];                                                  \
        return total + (double)rest;                                                                                   \
    }
DEFINE_DOT(float, f32, LANES_F32)
DEFINE_DOT(double, f64, LANES_F64)

static void dot_parts(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Dot *w = context;
    for (ptrdiff_t part = from; part < to; part++) {
        npy_intp start = part * PART, count = w->count - start < PART ? w->count - start : PART;
        const char *a = w->a + start * w->size, *b = w->b + start * w->size;
        w->sums[part] = w->size == 4 ? dot_float((const float *)a, (const float *)b, count)
                                     : dot_double((const double *)a, (const double *)b, count);
    }
}

/* dot(a, b) of dense vectors of one dtype, as an array without dimensions */
static PyObject *dot(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !PyArray_CheckExact(args[0])) return NULL;
    PyArrayObject *a = (PyArrayObject *)args[0], *b = (PyArrayObject *)args[1];
    int type = PyArray_TYPE(a);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !is_usual(args[0], type) || !is_usual(args[1], type)) return NULL;
    if (PyArray_NDIM(a) != 1 || PyArray_NDIM(b) != 1 || PyArray_DIM(a, 0) != PyArray_DIM(b, 0)) return NULL;
    if (!PyArray_IS_C_CONTIGUOUS(a) || !PyArray_IS_C_CONTIGUOUS(b)) return NULL;
    Dot w = {PyArray_BYTES(a), PyArray_BYTES(b), PyArray_DIM(a, 0), type == NPY_FLOAT ? 4 : 8, NULL};
    npy_intp parts = (w.count + PART - 1) / PART;
    double few[16] = {0}, total = 0;
    w.sums = parts <= 16 ? few : malloc(sizeof(double) * (size_t)parts);
    if (w.sums == NULL) return PyErr_NoMemory();
    if (parts <= 2) {
        dot_parts(&w, 0, parts);
    } else {
        Py_BEGIN_ALLOW_THREADS
        if (parts < 8) dot_parts(&w, 0, parts);
        else pool_run(dot_parts, &w, parts, PART * w.size, w.count >= 1 << 20);
        Py_END_ALLOW_THREADS
    }
    for (npy_intp i = 0; i < parts; i++) total += w.sums[i];
    if (w.sums != few) free(w.sums);
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(0, NULL, type);
    if (out != NULL && type == NPY_FLOAT) *(float *)PyArray_DATA(out) = (float)total;
    else if (out != NULL) *(double *)PyArray_DATA(out) = total;
    return (PyObject *)out;
}

/* -- a large matrix and a vector ----------------------------------------------------------------------------------- */

#define MANY_ELEMENTS 262144 /* of a matrix, from which on it is shared by threads; BLAS is faster on smaller ones */

typedef struct {
    const char *a, *b;
    char *out;
    npy_intp columns, step; /* bytes from row to row */
    int size;
} Rows;

static void rows_times_vector(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Rows *w = context;
    for (ptrdiff_t row = from; row < to; row++) {
        const char *a = w->a + row * w->step;
        if (w->size == 4) ((float *)w->out)[row] = (float)dot_float((const float *)a, (const float *)w->b, w->columns);
        else ((double *)w->out)[row] = dot_double((const double *)a, (const double *)w->b, w->columns);
    }
}

/* times_vector(a, b) of a large matrix whose rows are dense and a dense vector */
static PyObject *times_vector(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !PyArray_CheckExact(args[0])) return NULL;
    PyArrayObject *a = (PyArrayObject *)args[0], *b = (PyArrayObject *)args[1];
    int type = PyArray_TYPE(a);
    if (PyArray_NDIM(a) != 2 || PyArray_SIZE(a) < MANY_ELEMENTS || PyArray_DIM(a, 1) < RUN) return NULL;
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !is_usual(args[0], type) || !is_usual(args[1], type)) return NULL;
    if (PyArray_NDIM(b) != 1 || PyArray_DIM(a, 1) != PyArray_DIM(b, 0) || !PyArray_IS_C_CONTIGUOUS(b)) return NULL;
    Rows w = {PyArray_BYTES(a), PyArray_BYTES(b), NULL, PyArray_DIM(a, 1), PyArray_STRIDE(a, 0), PyArray_ITEMSIZE(a)};
    npy_intp rows = PyArray_DIM(a, 0);
    if (PyArray_STRIDE(a, 1) != w.size) return NULL;
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(1, &rows, type);
    if (out == NULL) return NULL;
    w.out = PyArray_BYTES(out);
    Py_BEGIN_ALLOW_THREADS
    pool_run(rows_times_vector, &w, rows, w.columns * w.size, PyArray_SIZE(a) >= 4 * MANY_ELEMENTS);
    Py_END_ALLOW_THREADS
    return (PyObject *)out;
}

#endif
