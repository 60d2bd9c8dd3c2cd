/* Random numbers that are proposed and then accepted or rejected, one by one: the functions of _random_rejection.py,
   which says where they are from, line by line. Nothing here knows of Python.

   The functions of the C library are those that PyTorch calls. Nothing is shared with other threads, because where a
   number begins in the stream is known only when the one before it is accepted.
*/
#ifndef LEAFGRAD_RANDOM_REJECTION_H
#define LEAFGRAD_RANDOM_REJECTION_H

#include <float.h>

#include "random_loops.h"

/* Where numbers are drawn from, and the second normal of a pair, if it waits. */
typedef struct {
    Twister *twister;
    int drawn; /* was anything taken from the twister? */
    int waits;
    double waiting;
} Draws;

/* In [0, 1), with 53 bits. */
static inline double next_unit(Draws *draws)
{
    Twister *t = draws->twister;
    uint32_t words[2];
    draws->drawn = 1;
    if (t->used + 2 <= WORDS) {
        t->used += 2;
        return unit64(t->block[t->used - 2], t->block[t->used - 1]);
    }
    take(t, words, 2);
    return unit64(words[0], words[1]);
}

/* Two normals of which one waits. */
static inline double next_pair(Draws *draws)
{
    double angle = 6.283185307179586 * next_unit(draws);
    double radius = sqrt(-2.0 * log1p(-next_unit(draws)));
    draws->waiting = radius * libm_sin(angle);
    draws->waits = 1;
    return radius * libm_cos(angle);
}

static inline double next_normal(Draws *draws)
{
    if (!draws->waits) return next_pair(draws);
    draws->waits = 0;
    return draws->waiting;
}

/* -- gamma --------------------------------------------------------------------------------------------------------- */

static double gamma_number(Draws *draws, double shape, double power, double d)
{
    double scale = 1, x, y;
    if (shape < 1) {
        if (shape == 0) return 0;
        scale = shape > 0 ? pow(1 - next_unit(draws), power) : 0;
    }
    if (!(d > 0)) return NAN;
    double c = 1 / sqrt(9 * d);
    for (;;) {
        do {
            x = next_normal(draws);
            y = 1 + c * x;
        } while (y <= 0);
        double v = y * y * y, u = 1 - next_unit(draws), square = x * x;
        if (u < 1 - 0.0331f * square * square || log(u) < 0.5 * square + d * (1 - v + log(v))) return scale * d * v;
    }
}

/* The first steps are done in the precision of the shapes; a third is one in single precision. */
#define DEFINE_GAMMAS(name, real, tiny)                                                                     \
    static void name(Draws *draws, const void *shapes, void *out, ptrdiff_t count)                          \
    {                                                                                                       \
        for (ptrdiff_t i = 0; i < count; i++) {                                                             \
            real shape = ((const real *)shapes)[i], power = shape < 1 ? 1 / shape : 0;                      \
            real d = (shape < 1 ? shape + 1 : shape) - (real)(1 / 3.0f);                                    \
            real number = (real)gamma_number(draws, (double)shape, (double)power, (double)d);               \
            ((real *)out)[i] = number > tiny ? number : tiny; /* not a number becomes the smallest as well */ \
        }                                                                                                   \
    }

DEFINE_GAMMAS(gammas32, float, FLT_MIN)
DEFINE_GAMMAS(gammas64, double, DBL_MIN)

/* -- numbers of events --------------------------------------------------------------------------------------------- */

/* As a number of 64 bits: all that do not fit are the lowest one. */
static inline double as_integer(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? x : -0x1p63;
}

static double poisson_transformed(Draws *draws, double rate)
{
    double log_rate = log(rate), b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), tight = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = next_unit(draws) - 0.5, v = next_unit(draws), edge = 0.5 - fabs(u);
        double k = edge != 0 ? as_integer(floor((2 * a / edge + b) * u + rate + 0.43)) : -1;
        if (edge >= 0.07 && v <= tight) return k;
        if (k < 0 || (edge < 0.013 && v > edge)) continue;
        double height = log(v) + log(inverse_alpha) - log(a / (edge * edge) + b);
        if (height <= -rate + k * log_rate - lgamma(k + 1)) return k;
    }
}

static double poisson_number(Draws *draws, double rate)
{
    if (rate >= 10) return poisson_transformed(draws, rate);
    if (rate == 0) return 0;
    double limit = exp(-rate), product = next_unit(draws), events = 0;
    for (; product > limit; events++) product *= next_unit(draws);
    return events;
}

static void poissons(Draws *draws, const void *rates, void *out, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count; i++) ((double *)out)[i] = poisson_number(draws, ((const double *)rates)[i]);
}

static double stirling_rest(double k)
{
    static const double rests[] = {
        0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
        0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
    };
    if (k <= 9) return rests[k > 0 ? (int)k : 0];
    double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

typedef struct {
    double count, p, mean, std, odds, mode, log_failure;
} Trials;

static double binomial_transformed(Draws *draws, const Trials *t)
{
    double b = 1.15 + 2.53 * t->std, a = -0.0873 + 0.0248 * b + 0.01 * t->p, tight = 0.92 - 4.2 / b;
    double alpha = (2.83 + 5.1 / b) * t->std, left = t->count - t->mode + 1;
    for (;;) {
        double u = next_unit(draws) - 0.5, v = next_unit(draws), edge = 0.5 - fabs(u);
        double k = edge != 0 ? floor((2 * a / edge + b) * u + t->mean + 0.5) : -1;
        if (k < 0 || k > t->count) continue;
        if (edge >= 0.07 && v <= tight) return k;
        double height = log(v * alpha / (a / (edge * edge) + b));
        double bound = (t->mode + 0.5) * log((t->mode + 1) / (t->odds * left))
                     + (t->count + 1) * log(left / (t->count - k + 1));
        bound += (k + 0.5) * log(t->odds * (t->count - k + 1) / (k + 1));
        bound += stirling_rest(t->mode) + stirling_rest(t->count - t->mode) - stirling_rest(k)
               - stirling_rest(t->count - k);
        if (height <= bound) return k;
    }
}

static double binomial_number(Draws *draws, const Trials *t)
{
    if (!(t->count > 0 && 0 < t->p && t->p < 1)) return 0;
    if (t->mean >= 10) return binomial_transformed(draws, t);
    for (double trials = 0, successes = 0;; successes++) {
        trials += ceil(log(next_unit(draws)) / t->log_failure);
        if (trials > t->count) return successes;
    }
}

/* Of seven rows, the fields of Trials. */
static void binomials(Draws *draws, const void *parameters, void *out, ptrdiff_t count)
{
    const double *row = parameters;
    for (ptrdiff_t i = 0; i < count; i++, row++) {
        Trials t = {row[0], row[count], row[2 * count], row[3 * count], row[4 * count], row[5 * count], row[6 * count]};
        ((double *)out)[i] = binomial_number(draws, &t);
    }
}

#endif
