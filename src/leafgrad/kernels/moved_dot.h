/* moved_dot(r, y, factor, s): r += factor y, in place, and then the sum of r s, in one pass over the memory. Vectors y
   and s may be None: then r stays as it is, or the sum is zero. Included by _products.c.

   Sums are added up in short runs with a double total, and in parts that do not depend on the number of threads. */
#ifndef LEAFGRAD_MOVED_DOT_H
#define LEAFGRAD_MOVED_DOT_H

#define RUN 1024      /* elements that are added up in their own precision, */
#define PART (8 * RUN) /* and that are one task */

typedef struct {
    char *r;
    const char *y, *s;
    double factor, *sums;
    npy_intp count;
    int size;
} Move;

#define DEFINE_MOVE(T)                                                                                                 \
    VECTORISED static double move_##T(T *r, const T *y, T factor, const T *s, npy_intp count)                          \
    {                                                                                                                  \
        double sum = 0;                                                                                                \
        for (npy_intp start = 0; start < count; start += RUN) {                                                        \
            npy_intp end = count - start < RUN ? count : start + RUN;                                                  \
            T part = 0;                                                                                                \
            if (y != NULL && s != NULL) {                                                                              \
                _Pragma("omp simd reduction(+:part)") for (npy_intp i = start; i < end; i++) {                         \
                    T moved = r[i] + factor * y[i];                                                                    \
                    r[i] = moved;                                                                                      \
                    part += moved * s[i];                                                                              \
                }                                                                                                      \
            } else if (y != NULL) {                                                                                    \
                SIMD for (npy_intp i = start; i < end; i++) r[i] += factor * y[i];                                     \
            } else if (s != NULL) {                                                                                    \
                _Pragma("omp simd reduction(+:part)") for (npy_intp i = start; i < end; i++) part += r[i] * s[i];      \
            }                                                                                                          \
            sum += part;                                                                                               \
        }                                                                                                              \
        return sum;                                                                                                    \
    }
DEFINE_MOVE(float)
DEFINE_MOVE(double)

static void run_moves(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Move *m = context;
    for (ptrdiff_t item = from; item < to; item++) {
        npy_intp start = item * PART, count = m->count - start < PART ? m->count - start : PART;
        char *r = m->r + start * m->size;
        const char *y = m->y == NULL ? NULL : m->y + start * m->size, *s = m->s == NULL ? NULL : m->s + start * m->size;
        m->sums[item] = m->size == 4 ? move_float((float *)r, (const float *)y, (float)m->factor, (const float *)s, count)
                                     : move_double((double *)r, (const double *)y, m->factor, (const double *)s, count);
    }
}

/* A vector of this type and length without gaps, or None, which is NULL. Returns 0 for anything else. */
static int read_vector(PyObject *object, int type, npy_intp count, const char **data)
{
    *data = NULL;
    if (object == Py_None) return 1;
    if (!is_usual(object, type) || !PyArray_IS_C_CONTIGUOUS((PyArrayObject *)object)) return 0;
    *data = PyArray_BYTES((PyArrayObject *)object);
    return PyArray_NDIM((PyArrayObject *)object) == 1 && PyArray_SIZE((PyArrayObject *)object) == count;
}

static PyObject *moved_dot(PyObject *const *args, Py_ssize_t given)
{
    if (given != 4 || !PyArray_CheckExact(args[0]) || !PyFloat_CheckExact(args[2])) return NULL;
    PyArrayObject *r = (PyArrayObject *)args[0];
    int type = PyArray_TYPE(r);
    Move m = {.count = PyArray_SIZE(r), .factor = PyFloat_AS_DOUBLE(args[2]), .size = type == NPY_FLOAT ? 4 : 8};
    const char *own;
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISWRITEABLE(r) ||
        !read_vector(args[0], type, m.count, &own) || !read_vector(args[1], type, m.count, &m.y) ||
        !read_vector(args[3], type, m.count, &m.s) || own == m.y || own == m.s) return NULL;
    npy_intp parts = (m.count + PART - 1) / PART;
    m.r = PyArray_BYTES(r);
    m.sums = malloc((size_t)parts * sizeof(double) + 1);
    if (m.sums == NULL) return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS
    if (parts < 8) {
        run_moves(&m, 0, parts);
    } else {
        pool_run(run_moves, &m, parts, PART * m.size, parts > 64);
    }
    Py_END_ALLOW_THREADS
    double sum = 0;
    for (npy_intp i = 0; i < parts; i++) sum += m.sums[i];
    free(m.sums);
    return PyFloat_FromDouble(sum);
}

#endif
