/* Loops that are used instead of those of a ufunc, because NumPy (2.4) has none for wide registers: of a million numbers
   of float32 the inverses take half the time, and whether each is zero a tenth. The same bits, and the same floating
   point flags. Included by _loops.c. */
#ifndef LEAFGRAD_OWN_LOOPS_H
#define LEAFGRAD_OWN_LOOPS_H

#include "vectors.h"

#define DEFINE_OWN_LOOP(NAME, FROM, TO, RESULT)                                                                        \
    VECTORISED static void NAME(char **pointers, npy_intp const *count, npy_intp const *steps, void *data)             \
    {                                                                                                                  \
        (void)data;                                                                                                    \
        if (steps[0] == sizeof(FROM) && steps[1] == sizeof(TO)) {                                                      \
            const FROM *from = (const FROM *)pointers[0];                                                              \
            TO *to = (TO *)pointers[1];                                                                                \
            SIMD for (npy_intp i = 0; i < *count; i++)                                                                 \
            {                                                                                                          \
                const FROM x = from[i];                                                                                \
                to[i] = RESULT;                                                                                        \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (npy_intp i = 0; i < *count; i++) {                                                                        \
            const FROM x = *(const FROM *)(pointers[0] + i * steps[0]);                                                \
            *(TO *)(pointers[1] + i * steps[1]) = RESULT;                                                              \
        }                                                                                                              \
    }
DEFINE_OWN_LOOP(inverse_f32, float, float, 1 / x)
DEFINE_OWN_LOOP(inverse_f64, double, double, 1 / x)
DEFINE_OWN_LOOP(is_zero_f32, float, npy_bool, x == 0)
DEFINE_OWN_LOOP(is_zero_f64, double, npy_bool, x == 0)
DEFINE_OWN_LOOP(is_zero_i32, int32_t, npy_bool, x == 0)
DEFINE_OWN_LOOP(is_zero_i64, int64_t, npy_bool, x == 0)

static const struct {
    const char *ufunc;
    int type;
    PyUFuncGenericFunction function;
} own_loops[] = {
    {"reciprocal", NPY_FLOAT, inverse_f32},   {"reciprocal", NPY_DOUBLE, inverse_f64},
    {"logical_not", NPY_FLOAT, is_zero_f32},  {"logical_not", NPY_DOUBLE, is_zero_f64},
    {"logical_not", NPY_INT32, is_zero_i32},  {"logical_not", NPY_INT64, is_zero_i64},
};

/* NULL for the ufunc's own. */
static PyUFuncGenericFunction own_loop(const char *ufunc, int type)
{
    for (size_t i = 0; i < sizeof own_loops / sizeof own_loops[0]; i++) {
        if (own_loops[i].type == type && strcmp(own_loops[i].ufunc, ufunc) == 0) return own_loops[i].function;
    }
    return NULL;
}

#endif
