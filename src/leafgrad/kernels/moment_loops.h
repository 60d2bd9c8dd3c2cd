/* Mean and sum of squared distances from it, for variances: loops of the form of reduction_loops.h.

   For each kept number there is (mean, sum of squares, count), in three arrays of BLOCK elements. A short run has its
   own mean first, and then the distances from that: nothing cancels, however far the numbers are from zero, and equal
   numbers have no variance at all. Two runs are joined as Chan, Golub and LeVeque do. */
#ifndef LEAFGRAD_MOMENT_LOOPS_H
#define LEAFGRAD_MOMENT_LOOPS_H

#include "reduction_loops.h"

static inline void join_moments(double *to, double mean, double squares, double count)
{
    if (count == 0) return;
    double all = to[2 * BLOCK] + count, off = mean - to[0];
    to[0] += off * (count / all);
    to[BLOCK] += squares + off * off * (to[2 * BLOCK] * count / all);
    to[2 * BLOCK] = all;
}

static void moments_join(void *to, const void *from, ptrdiff_t count)
{
    const double *others = from;
    for (ptrdiff_t k = 0; k < count; k++) {
        join_moments((double *)to + k, others[k], others[BLOCK + k], others[2 * BLOCK + k]);
    }
}

static void moments_begin(void *to, ptrdiff_t count)
{
    double *moments = to;
    for (ptrdiff_t k = 0; k < count; k++) moments[k] = moments[BLOCK + k] = moments[2 * BLOCK + k] = 0;
}

#define SOME (LANES / 4)

#define DEFINE_MOMENTS(T, name)                                                                                        \
    INLINE void moments_##name##_of_run(const T *x, ptrdiff_t count, double *to)                                       \
    {                                                                                                                  \
        T sums[SOME], offs[SOME], squares[SOME], first = x[0];                                                         \
        ptrdiff_t whole = count / SOME * SOME;                                                                         \
        for (int k = 0; whole && k < SOME; k++) sums[k] = offs[k] = squares[k] = 0;                                    \
        double sum = 0, off = 0, square = 0;                                                                           \
        for (ptrdiff_t i = 0; i < whole; i += SOME) {                                                                  \
            SIMD for (int k = 0; k < SOME; k++) sums[k] += x[i + k] - first;                                           \
        }                                                                                                              \
        for (ptrdiff_t i = whole; i < count; i++) sum += x[i] - first;                                                 \
        for (int k = 0; whole && k < SOME; k++) sum += sums[k];                                                        \
        T center = (T)(first + sum / count);                                                                           \
        for (ptrdiff_t i = 0; i < whole; i += SOME) {                                                                  \
            SIMD for (int k = 0; k < SOME; k++)                                                                        \
            {                                                                                                          \
                T d = x[i + k] - center;                                                                               \
                offs[k] += d;                                                                                          \
                squares[k] += d * d;                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
        for (ptrdiff_t i = whole; i < count; i++) {                                                                    \
            double d = x[i] - center;                                                                                  \
            off += d;                                                                                                  \
            square += d * d;                                                                                           \
        }                                                                                                              \
        for (int k = 0; whole && k < SOME; k++) off += offs[k], square += squares[k];                                  \
        join_moments(to, center + off / count, square - off * off / count, (double)count);                             \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void moments_##name##_along(                                                                     \
        const char *from, ptrdiff_t kept, ptrdiff_t kept_step, ptrdiff_t reduced, ptrdiff_t unused, void *to)          \
    {                                                                                                                  \
        (void)unused;                                                                                                  \
        for (ptrdiff_t k = 0; k < kept; k++, from += kept_step) {                                                      \
            for (ptrdiff_t i = 0; i < reduced; i += RUN) {                                                             \
                ptrdiff_t count = reduced - i < RUN ? reduced - i : RUN;                                               \
                moments_##name##_of_run((const T *)from + i, count, (double *)to + k);                                 \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    VECTORISED static void moments_##name##_across(                                                                    \
        const char *from, ptrdiff_t kept, ptrdiff_t unused, ptrdiff_t reduced, ptrdiff_t step, void *to)               \
    {                                                                                                                  \
        T centers[BLOCK], offs[BLOCK], squares[BLOCK];                                                                 \
        (void)unused;                                                                                                  \
        for (ptrdiff_t start = 0; start < reduced; start += ROWS, from += ROWS * step) {                               \
            ptrdiff_t rows = reduced - start < ROWS ? reduced - start : ROWS;                                          \
            const T *first = (const T *)from;                                                                          \
            for (ptrdiff_t k = 0; k < kept; k++) centers[k] = offs[k] = squares[k] = 0;                                \
            for (ptrdiff_t row = 1; row < rows; row++) {                                                               \
                const T *x = (const T *)(from + row * step);                                                           \
                SIMD for (ptrdiff_t k = 0; k < kept; k++) centers[k] += x[k] - first[k];                               \
            }                                                                                                          \
            SIMD for (ptrdiff_t k = 0; k < kept; k++) centers[k] = first[k] + centers[k] / rows;                       \
            for (ptrdiff_t row = 0; row < rows; row++) {                                                               \
                const T *x = (const T *)(from + row * step);                                                           \
                SIMD for (ptrdiff_t k = 0; k < kept; k++)                                                              \
                {                                                                                                      \
                    T d = x[k] - centers[k];                                                                           \
                    offs[k] += d;                                                                                      \
                    squares[k] += d * d;                                                                               \
                }                                                                                                      \
            }                                                                                                          \
            for (ptrdiff_t k = 0; k < kept; k++) {                                                                     \
                double off = offs[k];                                                                                  \
                join_moments((double *)to + k, centers[k] + off / rows, squares[k] - off * off / rows, (double)rows);  \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void moments_##name##_apart(                                                                                \
        const char *from, ptrdiff_t kept, ptrdiff_t kept_step, ptrdiff_t reduced, ptrdiff_t step, void *to)            \
    {                                                                                                                  \
        T run[RUN];                                                                                                    \
        for (ptrdiff_t k = 0; k < kept; k++, from += kept_step) {                                                      \
            for (ptrdiff_t start = 0; start < reduced; start += RUN) {                                                 \
                ptrdiff_t count = reduced - start < RUN ? reduced - start : RUN;                                       \
                for (ptrdiff_t i = 0; i < count; i++) run[i] = *(const T *)(from + (start + i) * step);                \
                moments_##name##_of_run(run, count, (double *)to + k);                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }
DEFINE_MOMENTS(float, f32)
DEFINE_MOMENTS(double, f64)

#endif
