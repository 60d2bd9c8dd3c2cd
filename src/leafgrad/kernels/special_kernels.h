/* Elementwise kernels that are written in C, because they go different ways for different elements, or compute float32
   in double. Included by _fused.c; their forms for NumPy are in fused/elements.py and special.py.

   Errors, in units in the last place of float32, except where the results are near zero beside their terms: lgamma 2,
   digamma 2, erfinv 1. Remainders are exact. */
#ifndef LEAFGRAD_SPECIAL_KERNELS_H
#define LEAFGRAD_SPECIAL_KERNELS_H

#define PI 3.14159265358979323846

/* -- remainders ----------------------------------------------------------------------------------------------------
   A quotient below 2**53 is a whole number and a rest, which fma computes exactly; the whole number may be one too
   large where the quotient was rounded up to it, and then the rest has the wrong sign. */

#define WHOLE_QUOTIENTS 9007199254740992.0
#define AT_ONCE 256

INLINE double near_remainder(double x, double y)
{
    double whole = trunc(x / y), size = fabs(y), rest = fma(-whole, y, x);
    double less = x < 0 ? rest - size : rest + size;
    rest = rest != 0 && (rest < 0) != (x < 0) ? less : rest;
    rest = whole == 0 ? x : copysign(rest, x);
    int undefined = !(fabs(x) < (double)INFINITY) | (y == 0) | (y != y);
    return undefined ? (double)NAN : rest;
}

/* Is the quotient of two numbers too large for that? */
INLINE int is_far(double x, double y)
{
    return (fabs(x) < (double)INFINITY) & (fabs(x) >= fabs(y) * WHOLE_QUOTIENTS) & (y != 0);
}

#define AS_IT_IS(x, y, rest) (rest)
#define WITH_SIGN_OF_DIVISOR(x, y, rest) (((rest) != 0) & (((rest) < 0) != ((y) < 0)) ? (rest) + (y) : (rest))

#define DEFINE_REMAINDER(NAME, real, kind, exact, FINISHED)                                                            \
    VECTORISED static void run_##NAME##_##kind(                                                                        \
        ptrdiff_t rows, ptrdiff_t n, char *const *arrays, const double *options, void *scratch)                        \
    {                                                                                                                  \
        const real *x = (const real *)arrays[0], *y = (const real *)arrays[1];                                         \
        real *out = (real *)arrays[2], rests[AT_ONCE];                                                                 \
        (void)rows, (void)options, (void)scratch;                                                                      \
        for (ptrdiff_t base = 0; base < n; base += AT_ONCE, x += AT_ONCE, y += AT_ONCE, out += AT_ONCE) {              \
            int count = n - base < AT_ONCE ? (int)(n - base) : AT_ONCE, far = 0;                                       \
            for (int i = 0; i < count; i++) {                                                                          \
                rests[i] = (real)near_remainder((double)x[i], (double)y[i]);                                           \
                far |= is_far((double)x[i], (double)y[i]);                                                             \
            }                                                                                                          \
            for (int i = 0; far && i < count; i++) {                                                                   \
                if (is_far((double)x[i], (double)y[i])) rests[i] = exact(x[i], y[i]);                                  \
            }                                                                                                          \
            for (int i = 0; i < count; i++) out[i] = FINISHED(x[i], y[i], rests[i]);                                   \
        }                                                                                                              \
    }

/* The quotient rounded down, as NumPy and PyTorch find it: near a whole number it is that of x without its rest. */
#define DEFINE_FLOOR(real, kind, down, with_sign)                                                                      \
    INLINE real quotient_##kind(real x, real y, real rest)                                                             \
    {                                                                                                                  \
        real quotient = (x - rest) / y, whole;                                                                         \
        quotient = (rest != 0) & ((y < 0) != (rest < 0)) ? quotient - 1 : quotient;                                    \
        whole = down(quotient);                                                                                        \
        whole = quotient - whole > (real)0.5 ? whole + 1 : whole;                                                      \
        whole = quotient == 0 ? with_sign((real)0, x / y) : whole;                                                     \
        return y == 0 ? x / y : whole;                                                                                 \
    }
DEFINE_FLOOR(float, f32, floorf, copysignf)
DEFINE_FLOOR(double, f64, floor, copysign)

DEFINE_REMAINDER(fmod, float, f32, fmodf, AS_IT_IS)
DEFINE_REMAINDER(fmod, double, f64, fmod, AS_IT_IS)
DEFINE_REMAINDER(remainder, float, f32, fmodf, WITH_SIGN_OF_DIVISOR)
DEFINE_REMAINDER(remainder, double, f64, fmod, WITH_SIGN_OF_DIVISOR)
DEFINE_REMAINDER(floor_quotient, float, f32, fmodf, quotient_f32)
DEFINE_REMAINDER(floor_quotient, double, f64, fmod, quotient_f64)

/* -- the gamma function ---------------------------------------------------------------------------------------------- */

/* sin(pi f) and cos(pi f) for -1/2 <= f <= 1/2, by their series */
INLINE double sine_of_turn(double f)
{
    double x = PI * f, z = x * x, p = 1.0 / 51090942171709440000.0;
    STEP(p, z, -1.0 / 121645100408832000.0) STEP(p, z, 1.0 / 355687428096000.0) STEP(p, z, -1.0 / 1307674368000.0)
    STEP(p, z, 1.0 / 6227020800.0) STEP(p, z, -1.0 / 39916800.0) STEP(p, z, 1.0 / 362880.0) STEP(p, z, -1.0 / 5040.0)
    STEP(p, z, 1.0 / 120.0) STEP(p, z, -1.0 / 6.0) STEP(p, z, 1.0)
    return p * x;
}

INLINE double cosine_of_turn(double f) { return sine_of_turn(0.5 - fabs(f)); }

INLINE double part_of_turn(double x) { return x - nearbyint(x); }

/* log |gamma(x)| in double, with errors that are small beside one: by Stirling's series from 8 on, below it by
   gamma(x) = gamma(x + 8) / (x (x + 1) ... (x + 7)), and below 1/2 by its reflection. */
INLINE double log_gamma(double x)
{
    int left = x < 0.5;
    double y = left ? 1 - x : x, product = y;
    for (int k = 1; k < 8; k++) product *= y + k;
    int small = y < 8;
    double z = small ? y + 8 : y, one = 1 / z, square = one * one, p = 1.0 / 156;
    STEP(p, square, -691.0 / 360360) STEP(p, square, 1.0 / 1188) STEP(p, square, -1.0 / 1680)
    STEP(p, square, 1.0 / 1260) STEP(p, square, -1.0 / 360) STEP(p, square, 1.0 / 12)
    double series = (z - 0.5) * log_f64(z) - z + 0.91893853320467274178 + p * one;
    product = small ? product : 1;
    double logarithm = log_f64(left ? PI * product / fabs(sine_of_turn(part_of_turn(x))) : product);
    double out = left ? logarithm - series : series - logarithm;
    out = (x == 1) | (x == 2) ? 0 : out;
    return fabs(x) == (double)INFINITY ? (double)INFINITY : out;
}

/* The derivative of that: by its series from 10 on, below it less 1 / x + 1 / (x + 1) + ... + 1 / (x + 9). */
INLINE double digamma_of(double x)
{
    double y = x < 0 ? 1 - x : x, product = y, slope = 1;
    for (int k = 1; k < 10; k++) {
        slope = slope * (y + k) + product;
        product *= y + k;
    }
    int small = y < 10;
    double sum = small ? slope / product : 0, z = small ? y + 10 : y, square = 1 / (z * z), p = 1.0 / 12;
    STEP(p, square, -691.0 / 32760) STEP(p, square, 1.0 / 132) STEP(p, square, -1.0 / 240) STEP(p, square, 1.0 / 252)
    STEP(p, square, -1.0 / 120) STEP(p, square, 1.0 / 12)
    double out = log_f64(z) - 0.5 / z - square * p - sum, f = part_of_turn(x);
    double sine = sine_of_turn(f), cosine = cosine_of_turn(f);
    double reflected = f == 0 ? (double)NAN : out - PI * cosine / sine;
    out = x < 0 ? reflected : out;
    out = x == -(double)INFINITY ? (double)NAN : out;
    return x == 0 ? copysign((double)INFINITY, -x) : out;
}

/* -- the inverse of the error function -------------------------------------------------------------------------------
   For numbers of float32: polynomials as those of Giles (2010), in -log(1 - x**2) and its root, with errors of 2e-9. */
INLINE double inverse_of_erf(double x)
{
    double w = -log_f64((1 - x) * (1 + x)), a = w - 2.5, b = sqrt(w) - 3;
    double p = -3.359847665886268e-13, q = -1.7705983047047704e-06;
    STEP(p, a, -2.0530249081911283e-11) STEP(p, a, 1.2976548655235477e-10) STEP(p, a, 8.200569069317431e-10)
    STEP(p, a, -1.0906193792819767e-08) STEP(p, a, 1.3780552116683975e-08) STEP(p, a, 4.788352033252563e-07)
    STEP(p, a, -3.4174044825269075e-06) STEP(p, a, -4.996219580320258e-06) STEP(p, a, 0.00021825107431174947)
    STEP(p, a, -0.0012527078285744962) STEP(p, a, -0.0041773180386293655) STEP(p, a, 0.2466402767311208)
    STEP(p, a, 1.5014093511307303) STEP(q, b, -2.833387045359592e-05) STEP(q, b, 0.00016499349191667547)
    STEP(q, b, -0.0002799067724236523) STEP(q, b, -0.00012415307303357452) STEP(q, b, 0.0014767409507434395)
    STEP(q, b, -0.003565380221301706) STEP(q, b, 0.005687282386867956) STEP(q, b, -0.007643063799359084)
    STEP(q, b, 0.00944533564428518) STEP(q, b, 1.0016752516024399) STEP(q, b, 2.832976801176189)
    double y = (w < 5 ? p : q) * x;
    return fabs(x) == 1 ? copysign((double)INFINITY, x) : y;
}

/* -- loops ------------------------------------------------------------------------------------------------------------- */

#define DEFINE_OF_ONE(NAME, real, kind, RESULT)                                                                        \
    VECTORISED static void run_##NAME##_##kind(                                                                        \
        ptrdiff_t rows, ptrdiff_t n, char *const *arrays, const double *options, void *scratch)                        \
    {                                                                                                                  \
        const real *x = (const real *)arrays[0];                                                                       \
        real *out = (real *)arrays[1];                                                                                 \
        (void)rows, (void)options, (void)scratch;                                                                      \
        SIMD for (ptrdiff_t i = 0; i < n; i++) out[i] = (real)RESULT((double)x[i]);                                    \
    }

DEFINE_OF_ONE(lgamma, float, f32, log_gamma)
DEFINE_OF_ONE(digamma, float, f32, digamma_of)
DEFINE_OF_ONE(digamma, double, f64, digamma_of)
DEFINE_OF_ONE(erfinv, float, f32, inverse_of_erf)

/* Near 1 and 2 double needs more digits than these have. The function of the C library also notes the sign of gamma in
   a place that all threads share, unless it is given another. */
static void run_lgamma_f64(ptrdiff_t rows, ptrdiff_t n, char *const *arrays, const double *options, void *scratch)
{
    const double *x = (const double *)arrays[0];
    double *out = (double *)arrays[1];
    (void)rows, (void)options, (void)scratch;
    for (ptrdiff_t i = 0; i < n; i++) {
#if defined(__linux__) || defined(__APPLE__)
        int sign;
        out[i] = lgamma_r(x[i], &sign);
#else
        out[i] = lgamma(x[i]);
#endif
    }
}

/* Squares of float32 are no problem for double; the function of the C library scales double. An infinity wins over nan. */
INLINE float length(float x, float y)
{
    float out = (float)sqrt((double)x * x + (double)y * y);
    return (fabsf(x) == INFINITY) | (fabsf(y) == INFINITY) ? INFINITY : out;
}

#define DEFINE_OF_TWO(NAME, real, kind, RESULT)                                                                        \
    VECTORISED static void run_##NAME##_##kind(                                                                        \
        ptrdiff_t rows, ptrdiff_t n, char *const *arrays, const double *options, void *scratch)                        \
    {                                                                                                                  \
        const real *x = (const real *)arrays[0], *y = (const real *)arrays[1];                                         \
        real *out = (real *)arrays[2];                                                                                 \
        (void)rows, (void)options, (void)scratch;                                                                      \
        SIMD for (ptrdiff_t i = 0; i < n; i++) out[i] = RESULT(x[i], y[i]);                                            \
    }

DEFINE_OF_TWO(hypot, float, f32, length)
DEFINE_OF_TWO(hypot, double, f64, hypot)

static const Entry entries_in_c[] = {
    {"lgamma", "elementwise", "v", "v", 40, 0, {run_lgamma_f32, run_lgamma_f64}},
    {"digamma", "elementwise", "v", "v", 40, 0, {run_digamma_f32, run_digamma_f64}},
    {"erfinv", "elementwise", "v", "v", 40, 0, {run_erfinv_f32, NULL}},
    {"hypot", "elementwise", "vv", "v", 8, 0, {run_hypot_f32, run_hypot_f64}},
    {"fmod", "elementwise", "vv", "v", 12, 0, {run_fmod_f32, run_fmod_f64}},
    {"remainder", "elementwise", "vv", "v", 12, 0, {run_remainder_f32, run_remainder_f64}},
    {"floor_quotient", "elementwise", "vv", "v", 16, 0, {run_floor_quotient_f32, run_floor_quotient_f64}},
    {NULL},
};

#endif
