/* The inner loops of reductions: a rectangle of numbers is reduced in one direction.

   Each reduction is a STEP, which takes one more number in, and a JOIN of two partial results. Numbers are taken in by
   many lanes side by side, which become vector registers, for a short run only; then the lanes are joined and go into a
   partial result of 64 bits. So sums of float32 lose fewer digits than pairwise ones, and are as fast as memory.

       <name>_along(from, kept, kept_step, reduced, reduced_step, results)   reduced numbers lie side by side
       <name>_across(...)                                                    kept numbers lie side by side
       <name>_apart(...)                                                     neither; steps are in bytes

   `results` has an element for each kept number, to which everything is joined.
*/
#ifndef LEAFGRAD_REDUCTION_LOOPS_H
#define LEAFGRAD_REDUCTION_LOOPS_H

#include <math.h>

#include "half_numbers.h"
#include "lanes.h"
#include "vectors.h"

#define LANES 64
#define FEW_LANES 8
#define SHORT 24  /* rows shorter than this are taken side by side */
#define RUN 1024  /* numbers in a row that are taken in before lanes are joined, */
#define ROWS 64   /* and rows */
#define BLOCK 256 /* kept numbers at once, at most */

typedef void (*reduction_loop)(
    const char *from, ptrdiff_t kept, ptrdiff_t kept_step, ptrdiff_t reduced, ptrdiff_t reduced_step, void *results);

#define ADD(a, b) ((a) + (b))
#define ADD_FLOAT16(a, x) ((a) + float_of(from_float16(x)))
#define ADD_BFLOAT16(a, x) ((a) + float_of((uint32_t)(x) << 16))
#define TIMES(a, b) ((a) * (b))
#define ADD_SQUARE(a, x) ((a) + (x) * (x))
#define ADD_SIZE(a, x) ((a) + ((x) < 0 ? -(x) : (x)))
#define ADD_NONZERO(a, x) ((a) + ((x) != 0))
/* nan is larger than everything, and smaller. The inner choice is one instruction, and the outer one always goes the
   same way: what the processor cannot guess, which of two numbers is larger, must not be a branch. */
#define LARGER(a, x) ((x) != (x) ? (x) : (x) > (a) ? (x) : (a))
#define SMALLER(a, x) ((x) != (x) ? (x) : (x) < (a) ? (x) : (a))
#define LARGER_NUMBER(a, x) ((x) > (a) ? (x) : (a))
#define SMALLER_NUMBER(a, x) ((x) < (a) ? (x) : (a))

/* A short run: lanes side by side in several vector registers, if it has enough numbers to pay for joining these, and
   what is left in one. T: of numbers, L: of lanes */
#define MANY(L) ((int)(256 / sizeof(L)))
#define ONE(L) ((int)(64 / sizeof(L)))
#define DEFINE_RUN(name, T, L, ZERO, STEP, JOIN)                                                                       \
    DEFINE_JOINED(name##_of_lanes, L, MANY(L), ONE(L), JOIN)                                                           \
    DEFINE_JOINED(name##_of_vector, L, ONE(L), ONE(L), JOIN)                                                           \
    INLINE void name##_take(const T *x, ptrdiff_t count, L *lanes, L *last)                                            \
    {                                                                                                                  \
        ptrdiff_t i = 0;                                                                                               \
        for (; count >= 2 * MANY(L) && i + MANY(L) <= count; i += MANY(L)) {                                           \
            SIMD for (int k = 0; k < MANY(L); k++) lanes[k] = STEP(lanes[k], x[i + k]);                                \
        }                                                                                                              \
        for (; i + ONE(L) <= count; i += ONE(L)) {                                                                     \
            SIMD for (int k = 0; k < ONE(L); k++) last[k] = STEP(last[k], x[i + k]);                                   \
        }                                                                                                              \
        if (i < count) {                                                                                               \
            const int rest = (int)(count - i);                                                                         \
            SIMD for (int k = 0; k < ONE(L); k++)                                                                      \
            {                                                                                                          \
                const T next = k < rest ? x[i + k] : 0;                                                                \
                const L taken = STEP(last[k], next);                                                                   \
                last[k] = k < rest ? taken : last[k];                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    INLINE L name##_of_both(L *lanes, L *last)                                                                         \
    {                                                                                                                  \
        SIMD for (int k = 0; k < ONE(L); k++) lanes[k] = JOIN(lanes[k], last[k]);                                      \
        return name##_of_lanes(lanes);                                                                                 \
    }                                                                                                                  \
    INLINE L name##_of_run(const T *x, ptrdiff_t count)                                                                \
    {                                                                                                                  \
        L lanes[MANY(L)], last[ONE(L)];                                                                                \
        SIMD for (int k = 0; k < ONE(L); k++) last[k] = ZERO;                                                          \
        if (count < 2 * MANY(L)) {                                                                                     \
            name##_take(x, count, NULL, last);                                                                         \
            return name##_of_vector(last);                                                                             \
        }                                                                                                              \
        SIMD for (int k = 0; k < MANY(L); k++) lanes[k] = ZERO;                                                        \
        name##_take(x, count, lanes, last);                                                                            \
        return name##_of_both(lanes, last);                                                                            \
    }

/* Rows longer than a run. W: of results; here and below, `<name>_of_run` has been defined. */
#define DEFINE_ALONG(name, T, W, ZERO, JOIN)                                                                           \
    INLINE void name##_of_long(const char *from, ptrdiff_t kept, ptrdiff_t step, ptrdiff_t reduced, W *results)        \
    {                                                                                                                  \
        for (ptrdiff_t k = 0; k < kept; k++, from += step) {                                                           \
            W result = ZERO;                                                                                           \
            for (ptrdiff_t i = 0; i < reduced; i += RUN) {                                                             \
                W more = (W)name##_of_run((const T *)from + i, reduced - i < RUN ? reduced - i : RUN);                 \
                result = JOIN(result, more);                                                                           \
            }                                                                                                          \
            results[k] = JOIN(results[k], result);                                                                     \
        }                                                                                                              \
    }

/* Extremes of floats are found as if there were no nan among them. The sum of all says whether there may be one. */
#define DEFINE_EXTREME_ALONG(name, T, kind, ZERO, BETTER, CAREFUL)                                                     \
    DEFINE_RUN(name##_number_##kind, T, T, ZERO, BETTER, BETTER)                                                       \
    INLINE T name##_##kind##_of_run(const T *x, ptrdiff_t count)                                                       \
    {                                                                                                                  \
        T best = name##_number_##kind##_of_run(x, count), sum = sum_##kind##_of_run(x, count);                         \
        for (ptrdiff_t i = 0; sum != sum && i < count; i++) best = CAREFUL(best, x[i]);                                \
        return best;                                                                                                   \
    }                                                                                                                  \
    INLINE void name##_##kind##_of_long(                                                                               \
        const char *from, ptrdiff_t kept, ptrdiff_t step, ptrdiff_t reduced, double *results)                          \
    {                                                                                                                  \
        T sums[MANY(T)], last_sums[MANY(T)]; /* by turns, so that no row waits for the one before */                   \
        SIMD for (int k = 0; k < MANY(T); k++) sums[k] = last_sums[k] = 0;                                             \
        for (ptrdiff_t k = 0; k < kept; k++) {                                                                         \
            const T *x = (const T *)(from + k * step);                                                                 \
            T best = name##_number_##kind##_of_run(x, reduced);                                                        \
            sum_##kind##_take(x, reduced, sums, last_sums + k % 4 * ONE(T));                                           \
            results[k] = CAREFUL(results[k], (double)best);                                                            \
        }                                                                                                              \
        T sum = sum_##kind##_of_lanes(sums) + sum_##kind##_of_lanes(last_sums);                                        \
        for (ptrdiff_t k = 0; sum != sum && k < kept; k++) {                                                           \
            const T *x = (const T *)(from + k * step);                                                                 \
            for (ptrdiff_t i = 0; i < reduced; i++) results[k] = CAREFUL(results[k], (double)x[i]);                    \
        }                                                                                                              \
    }

#define DEFINE_LOOPS(name, T, L, W, ZERO, STEP, JOIN)                                                                  \
    /* many short rows: side by side, as if they lay across */                                                         \
    INLINE void name##_of_short(const T *x, ptrdiff_t kept, ptrdiff_t step, ptrdiff_t reduced, W *results)             \
    {                                                                                                                  \
        L lanes[BLOCK];                                                                                                \
        for (ptrdiff_t k = 0; k < kept; k++) lanes[k] = ZERO;                                                          \
        for (ptrdiff_t i = 0; i < reduced; i++) {                                                                      \
            SIMD for (ptrdiff_t k = 0; k < kept; k++) lanes[k] = STEP(lanes[k], x[k * step + i]);                      \
        }                                                                                                              \
        for (ptrdiff_t k = 0; k < kept; k++) results[k] = JOIN(results[k], (W)lanes[k]);                               \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void name##_along(                                                                               \
        const char *from, ptrdiff_t kept, ptrdiff_t kept_step, ptrdiff_t reduced, ptrdiff_t unused, void *to)          \
    {                                                                                                                  \
        W *results = to;                                                                                               \
        (void)unused;                                                                                                  \
        if (reduced < SHORT && kept >= FEW_LANES && kept_step % (ptrdiff_t)sizeof(T) == 0) {                           \
            name##_of_short((const T *)from, kept, kept_step / (ptrdiff_t)sizeof(T), reduced, results);                \
            return;                                                                                                    \
        }                                                                                                              \
        name##_of_long(from, kept, kept_step, reduced, results);                                                       \
    }                                                                                                                  \
                                                                                                                       \
    /* a few rows, as many as `rows` says: a constant */                                                               \
    INLINE void name##_of_rows(const char *from, ptrdiff_t kept, ptrdiff_t step, const int rows, L *lanes)             \
    {                                                                                                                  \
        const T *a = (const T *)from, *b = (const T *)(from + step);                                                   \
        const T *c = (const T *)(from + 2 * step), *d = (const T *)(from + 3 * step);                                  \
        SIMD for (ptrdiff_t k = 0; k < kept; k++)                                                                      \
        {                                                                                                              \
            L lane = STEP(lanes[k], a[k]);                                                                             \
            if (rows > 1) lane = STEP(lane, b[k]);                                                                     \
            if (rows > 2) lane = STEP(lane, c[k]);                                                                     \
            if (rows > 3) lane = STEP(lane, d[k]);                                                                     \
            lanes[k] = lane;                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void name##_across(                                                                              \
        const char *from, ptrdiff_t kept, ptrdiff_t unused, ptrdiff_t reduced, ptrdiff_t step, void *to)               \
    {                                                                                                                  \
        W *results = to, sums[BLOCK];                                                                                  \
        L lanes[BLOCK];                                                                                                \
        int many = reduced > ROWS; /* a single sum goes into the results as it is */                                   \
        (void)unused;                                                                                                  \
        for (ptrdiff_t k = 0; many && k < kept; k++) sums[k] = ZERO;                                                   \
        for (ptrdiff_t start = 0; start < reduced; start += ROWS) {                                                    \
            ptrdiff_t row = start, end = reduced - start < ROWS ? reduced : start + ROWS;                              \
            W *joined = many ? sums : results;                                                                         \
            for (ptrdiff_t k = 0; k < kept; k++) lanes[k] = ZERO;                                                      \
            for (; row + 4 <= end; row += 4) name##_of_rows(from + row * step, kept, step, 4, lanes);                  \
            if (end - row == 3) name##_of_rows(from + row * step, kept, step, 3, lanes);                               \
            else if (end - row == 2) name##_of_rows(from + row * step, kept, step, 2, lanes);                          \
            else if (end - row == 1) name##_of_rows(from + row * step, kept, step, 1, lanes);                          \
            SIMD for (ptrdiff_t k = 0; k < kept; k++) joined[k] = JOIN(joined[k], (W)lanes[k]);                        \
        }                                                                                                              \
        for (ptrdiff_t k = 0; many && k < kept; k++) results[k] = JOIN(results[k], sums[k]);                           \
    }                                                                                                                  \
                                                                                                                       \
    static void name##_apart(                                                                                          \
        const char *from, ptrdiff_t kept, ptrdiff_t kept_step, ptrdiff_t reduced, ptrdiff_t step, void *to)            \
    {                                                                                                                  \
        W *results = to;                                                                                               \
        for (ptrdiff_t k = 0; k < kept; k++, from += kept_step) {                                                      \
            const char *x = from;                                                                                      \
            W result = ZERO;                                                                                           \
            for (ptrdiff_t i = 0; i < reduced;) {                                                                      \
                W sum = ZERO;                                                                                          \
                ptrdiff_t end = reduced - i < 2 * ROWS ? reduced : i + 2 * ROWS;                                       \
                for (; i < end; i++, x += step) sum = STEP(sum, *(const T *)x);                                        \
                result = JOIN(result, sum);                                                                            \
            }                                                                                                          \
            results[k] = JOIN(results[k], result);                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void name##_join(void *to, const void *from, ptrdiff_t count)                                    \
    {                                                                                                                  \
        W *results = to;                                                                                               \
        const W *others = from;                                                                                        \
        for (ptrdiff_t k = 0; k < count; k++) results[k] = JOIN(results[k], others[k]);                                \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void name##_begin(void *to, ptrdiff_t count)                                                     \
    {                                                                                                                  \
        for (ptrdiff_t k = 0; k < count; k++) ((W *)to)[k] = ZERO;                                                     \
    }

#define DEFINE_REDUCTION(name, T, L, W, ZERO, STEP, JOIN)                                                              \
    DEFINE_RUN(name, T, L, ZERO, STEP, JOIN)                                                                           \
    DEFINE_ALONG(name, T, W, ZERO, JOIN)                                                                               \
    DEFINE_LOOPS(name, T, L, W, ZERO, STEP, JOIN)

#define DEFINE_FLOATS(T, kind)                                                                                         \
    DEFINE_REDUCTION(sum_##kind, T, T, double, 0, ADD, ADD)                                                            \
    DEFINE_REDUCTION(squares_##kind, T, T, double, 0, ADD_SQUARE, ADD)                                                 \
    DEFINE_REDUCTION(sizes_##kind, T, T, double, 0, ADD_SIZE, ADD)                                                     \
    DEFINE_REDUCTION(product_##kind, T, T, double, 1, TIMES, TIMES)                                                    \
    DEFINE_EXTREME_ALONG(largest, T, kind, -(T)INFINITY, LARGER_NUMBER, LARGER)                                        \
    DEFINE_EXTREME_ALONG(smallest, T, kind, (T)INFINITY, SMALLER_NUMBER, SMALLER)                                      \
    DEFINE_LOOPS(largest_##kind, T, T, double, -INFINITY, LARGER, LARGER)                                              \
    DEFINE_LOOPS(smallest_##kind, T, T, double, INFINITY, SMALLER, SMALLER)
DEFINE_FLOATS(float, f32)
DEFINE_FLOATS(double, f64)
DEFINE_REDUCTION(sum_float16, uint16_t, float, double, 0, ADD_FLOAT16, ADD)
DEFINE_REDUCTION(sum_bfloat16, uint16_t, float, double, 0, ADD_BFLOAT16, ADD)
DEFINE_REDUCTION(nonzero_f32, float, int32_t, int64_t, 0, ADD_NONZERO, ADD)
DEFINE_REDUCTION(nonzero_f64, double, int64_t, int64_t, 0, ADD_NONZERO, ADD)
DEFINE_REDUCTION(nonzero_i64, int64_t, int64_t, int64_t, 0, ADD_NONZERO, ADD)
DEFINE_REDUCTION(nonzero_bool, uint8_t, int32_t, int64_t, 0, ADD_NONZERO, ADD)

/* Sums of integers wrap around, which C allows for those without a sign only. */
DEFINE_REDUCTION(sum_i64, uint64_t, uint64_t, uint64_t, 0, ADD, ADD)
DEFINE_REDUCTION(product_i64, uint64_t, uint64_t, uint64_t, 1, TIMES, TIMES)
DEFINE_REDUCTION(largest_i64, int64_t, int64_t, int64_t, INT64_MIN, LARGER, LARGER)
DEFINE_REDUCTION(smallest_i64, int64_t, int64_t, int64_t, INT64_MAX, SMALLER, SMALLER)

#endif
