/* converted(x, dtype): copies in other dtypes. Included by _moves.c. */
#ifndef LEAFGRAD_CONVERSIONS_H
#define LEAFGRAD_CONVERSIONS_H

#include "half_numbers.h"

static int is_half(PyArray_Descr *descr) { return descr->type_num == NPY_HALF || is_bfloat16(descr); }

/* the same as conversions below */
static void widen_bfloat16_bytes(const char *x, char *out, ptrdiff_t n) { widen_bfloat16((void *)x, (void *)out, n); }
static void widen_float16_bytes(const char *x, char *out, ptrdiff_t n) { widen_float16((void *)x, (void *)out, n); }
static void narrow_bfloat16_bytes(const char *x, char *out, ptrdiff_t n) { narrow_bfloat16((void *)x, (void *)out, n); }
static void narrow_float16_bytes(const char *x, char *out, ptrdiff_t n) { narrow_float16((void *)x, (void *)out, n); }

/* Between bools, whole numbers and floats. What does not fit into an integer becomes what the processor makes of it, as
   in NumPy and PyTorch. */
#define DEFINE_CONVERSION(NAME, FROM, TO, RESULT)                                                                      \
    VECTORISED static void NAME(const char *from, char *to, ptrdiff_t count)                                           \
    {                                                                                                                  \
        const FROM *restrict x = (const FROM *)from;                                                                   \
        TO *restrict out = (TO *)to;                                                                                   \
        SIMD for (ptrdiff_t i = 0; i < count; i++) out[i] = (TO)(RESULT);                                              \
    }
#define DEFINE_CONVERSIONS(KIND, FROM)                                                                                 \
    DEFINE_CONVERSION(KIND##_to_bool, FROM, npy_bool, x[i] != 0)                                                       \
    DEFINE_CONVERSION(KIND##_to_int32, FROM, int32_t, x[i])                                                            \
    DEFINE_CONVERSION(KIND##_to_int64, FROM, int64_t, x[i])                                                            \
    DEFINE_CONVERSION(KIND##_to_float32, FROM, float, x[i])                                                            \
    DEFINE_CONVERSION(KIND##_to_float64, FROM, double, x[i])
DEFINE_CONVERSIONS(bool, npy_bool)
DEFINE_CONVERSIONS(int32, int32_t)
DEFINE_CONVERSIONS(int64, int64_t)
DEFINE_CONVERSIONS(float32, float)
DEFINE_CONVERSIONS(float64, double)

typedef void (*Convert)(const char *from, char *to, ptrdiff_t count);
static const int converted_types[] = {NPY_BOOL, NPY_INT32, NPY_INT64, NPY_FLOAT, NPY_DOUBLE};
enum { CONVERTED_TYPES = sizeof converted_types / sizeof *converted_types };
#define CONVERSIONS(KIND) {KIND##_to_bool, KIND##_to_int32, KIND##_to_int64, KIND##_to_float32, KIND##_to_float64}
static const Convert conversions[CONVERTED_TYPES][CONVERTED_TYPES] = {
    CONVERSIONS(bool), CONVERSIONS(int32), CONVERSIONS(int64), CONVERSIONS(float32), CONVERSIONS(float64)};

static Convert conversion_between(PyArray_Descr *from, PyArray_Descr *to)
{
    int i = 0, k = 0;
    if (from->type_num == NPY_FLOAT && is_half(to)) {
        return is_bfloat16(to) ? narrow_bfloat16_bytes : narrow_float16_bytes;
    }
    if (to->type_num == NPY_FLOAT && is_half(from)) {
        return is_bfloat16(from) ? widen_bfloat16_bytes : widen_float16_bytes;
    }
    while (i < CONVERTED_TYPES && converted_types[i] != from->type_num) i++;
    while (k < CONVERTED_TYPES && converted_types[k] != to->type_num) k++;
    return i < CONVERTED_TYPES && k < CONVERTED_TYPES ? conversions[i][k] : NULL;
}

typedef struct {
    Convert convert;
    const char *x;
    char *out;
    npy_intp x_size, out_size;
} Conversion;

static void convert_part(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Conversion *work = context;
    work->convert(work->x + first * work->x_size, work->out + first * work->out_size, last - first);
}

/* converted(x, dtype): a new array whose elements lie as those of x, which has no gaps. NULL without an exception: for
   NumPy, as all other dtypes are. */
static PyObject *converted(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !PyArray_CheckExact(args[0]) || !PyArray_DescrCheck(args[1])) return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    PyArray_Descr *descr = (PyArray_Descr *)args[1];
    Conversion work = {.convert = conversion_between(PyArray_DESCR(x), descr)};
    if (work.convert == NULL || !PyDataType_ISNOTSWAPPED(descr) || !PyArray_ISBEHAVED_RO(x) ||
        !(PyArray_IS_C_CONTIGUOUS(x) || PyArray_IS_F_CONTIGUOUS(x))) return NULL;
    Py_INCREF(descr);
    PyArrayObject *out = (PyArrayObject *)PyArray_NewLikeArray(x, NPY_KEEPORDER, descr, 0);
    if (out == NULL) return NULL;
    npy_intp size = PyArray_SIZE(x);
    work.x = PyArray_BYTES(x), work.out = PyArray_BYTES(out);
    work.x_size = PyArray_ITEMSIZE(x), work.out_size = PyArray_ITEMSIZE(out);
    npy_intp most = work.x_size > work.out_size ? work.x_size : work.out_size;
    if (size * most < LET_OTHERS_RUN) {
        convert_part(&work, 0, size);
    } else {
        Py_BEGIN_ALLOW_THREADS
        if (size * most < SPLIT_FROM) {
            convert_part(&work, 0, size);
        } else {
            pool_run(convert_part, &work, size, most, size * most >= LONG_COPY);
        }
        Py_END_ALLOW_THREADS
    }
    return (PyObject *)out;
}

#endif
