/* Functions of one number, written so that a compiler makes vector instructions of a loop around them: no branches, no
   calls, no tables. f32 and f64 stand for float and double; the bounds of the errors, in units in the last place, are
   what tests/kernels/test_vector_math.py finds over the whole range:

       exp     1 (f32), 1 (f64)        tanh     3, 3       erf   3, 3
       expm1   2, 2                    sigmoid  3, 3
       log     1, 1                    log1p    2, 2

   exp_to_one is exp for x <= 0 (and nan): its results need no more than one scale, which saves a quarter of the steps.

   normal_cdf and normal_density, of the standard normal distribution, are for sums with numbers near one: their errors
   are below 1.5e-7 and 6e-8 (f32), 2e-16 and 2e-16 (f64), however small the results are.

   Infinities, nan, signed zeros and results that are subnormal are as in the C library. */
#ifndef LEAFGRAD_VECTOR_MATH_H
#define LEAFGRAD_VECTOR_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "vectors.h"

/* -- bits ---------------------------------------------------------------------------------------------------------- */

INLINE float from_bits_f32(uint32_t bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
INLINE double from_bits_f64(uint64_t bits) { double x; memcpy(&x, &bits, sizeof x); return x; }
INLINE uint32_t bits_f32(float x) { uint32_t bits; memcpy(&bits, &x, sizeof bits); return bits; }
INLINE uint64_t bits_f64(double x) { uint64_t bits; memcpy(&bits, &x, sizeof bits); return bits; }

/* 2 to a whole power that is in the range of normal numbers */
INLINE float two_to_f32(int32_t n) { return from_bits_f32((uint32_t)(n + 127) << 23); }
INLINE double two_to_f64(int64_t n) { return from_bits_f64((uint64_t)(n + 1023) << 52); }

/* A number so large that its last digit stands for one: x + WHOLE is rounded to a whole number, which can then be read
   from the bits. */
#define WHOLE_F32 12582912.0f
#define WHOLE_F64 6755399441055744.0

/* -- what is a choice ---------------------------------------------------------------------------------------------- */

#define DEFINE_CHOICES(real, kind, absolute, root, with_sign, whole)                                                   \
    INLINE real trunc_##kind(real x) { return whole(x); }                                                              \
    INLINE real abs_##kind(real x) { return absolute(x); }                                                             \
    INLINE real sqrt_##kind(real x) { return root(x); }                                                                \
    INLINE real copysign_##kind(real x, real sign) { return with_sign(x, sign); }                                      \
    /* nan wins. Two choices, not one of two conditions: of that gcc makes branches where it meets another choice. */  \
    INLINE real maximum_##kind(real a, real b)                                                                         \
    {                                                                                                                  \
        real larger = a > b ? a : b;                                                                                   \
        return a != a ? a : larger;                                                                                    \
    }                                                                                                                  \
    INLINE real minimum_##kind(real a, real b)                                                                         \
    {                                                                                                                  \
        real smaller = a < b ? a : b;                                                                                  \
        return a != a ? a : smaller;                                                                                   \
    }                                                                                                                  \
    /* the same where b is known to be a number */                                                                     \
    INLINE real maximum_number_##kind(real a, real b) { return b >= a ? b : a; }                                       \
    INLINE real minimum_number_##kind(real a, real b) { return b <= a ? b : a; }                                       \
    INLINE real not_below_##kind(real x, real low) { return x < low ? low : x; } /* nan and -0.0 stay */               \
    INLINE real clipped_##kind(real x, real low, real high)                                                            \
    {                                                                                                                  \
        x = not_below_##kind(x, low);                                                                                  \
        return x > high ? high : x;                                                                                    \
    }                                                                                                                  \
    INLINE real sign_##kind(real x) { return (real)((x > 0) - (x < 0)); } /* zero for nan, as PyTorch's */             \
    INLINE int isnan_##kind(real x) { return x != x; }

DEFINE_CHOICES(float, f32, fabsf, sqrtf, copysignf, truncf)
DEFINE_CHOICES(double, f64, fabs, sqrt, copysign, trunc)

/* -- exponentials: exp(x) = 2**n exp(r) with |r| <= log(2) / 2, and exp(r) from its series ------------------------- */

/* The polynomial of degree 6, with 1 + r at its beginning, whose largest error is least: 4e-9. The series itself would
   need one more step, and half of what exp takes are these steps. */
INLINE float series_of_exp_f32(float r)
{
    float p = 0.00138143206f;
    p = p * r + 0.00836885162f;
    p = p * r + 0.0416684002f;
    p = p * r + 0.166665196f;
    p = p * r + 0.49999994f;
    p = p * r + 1;
    return p * r + 1;
}

INLINE float series_of_expm1_f32(float r)
{
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    return p * r * r + r;
}

INLINE double series_of_expm1_f64(double r)
{
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    return p * r * r + r;
}

INLINE double series_of_exp_f64(double r) { return series_of_expm1_f64(r) + 1; }

/* log(2) in two parts: a multiple of the first by n has no rounding error */
#define LN2_HIGH_F32 0.693359375f
#define LN2_LOW_F32 -2.12194440e-4f
#define LN2_HIGH_F64 0.693147180369123816490
#define LN2_LOW_F64 1.90821492927058770002e-10

#define DEFINE_EXPONENTIALS(real, kind, KIND, whole, digits, bias, least, normal, most, least_m1)                      \
    INLINE real exp_##kind(real x)                                                                                     \
    {                                                                                                                  \
        real shifted = x * (real)1.44269504088896340736 + WHOLE_##KIND;                                                \
        real n = shifted - WHOLE_##KIND;                                                                               \
        real r = (x - n * LN2_HIGH_##KIND) - n * LN2_LOW_##KIND;                                                       \
        /* n is added to the exponent; the other digits of `shifted` are shifted out. Where 2**n may be no normal      \
           number, that is done 2**64 times larger. */                                                                 \
        int small = x < normal;                                                                                        \
        u##whole bits = bits_##kind(shifted) + (small ? 64 : 0);                                                       \
        real out = from_bits_##kind(bits_##kind(series_of_exp_##kind(r)) + (bits << digits));                          \
        out = small ? out * (real)5.421010862427522e-20 : out;                                                         \
        out = x < least ? 0 : out;                                                                                     \
        return x <= most ? out : x + (real)INFINITY; /* nan passes */                                                  \
    }                                                                                                                  \
    INLINE real exp_to_one_##kind(real x)                                                                              \
    {                                                                                                                  \
        x = x < least ? least : x; /* where the result is 0; nan passes */                                             \
        real shifted = x * (real)1.44269504088896340736 + (WHOLE_##KIND + (bias + 64));                                \
        real n = shifted - (WHOLE_##KIND + (bias + 64));                                                               \
        real r = (x - n * LN2_HIGH_##KIND) - n * LN2_LOW_##KIND;                                                       \
        real power = from_bits_##kind(bits_##kind(shifted) << digits); /* 2**(n + 64) */                               \
        return series_of_exp_##kind(r) * power * (real)5.421010862427522e-20;                                          \
    }                                                                                                                  \
    INLINE real expm1_##kind(real x)                                                                                   \
    {                                                                                                                  \
        real y = x > most ? most + 1 : x; /* which is too large */                                                     \
        y = y < least_m1 ? least_m1 : y;                                                                               \
        real shifted = y * (real)1.44269504088896340736 + WHOLE_##KIND;                                                \
        real n = shifted - WHOLE_##KIND;                                                                               \
        whole k = (whole)(bits_##kind(shifted) - bits_##kind(WHOLE_##KIND));                                           \
        real r = (y - n * LN2_HIGH_##KIND) - n * LN2_LOW_##KIND;                                                       \
        /* half of it, because 2**n may be too large; for n = 0 nothing is added, so that small x stay exact */        \
        real half = two_to_##kind(k - 1);                                                                              \
        real out = (half * series_of_expm1_##kind(r) + (half - (real)0.5)) * 2;                                        \
        return x == 0 ? x : out;                                                                                       \
    }                                                                                                                  \
    INLINE real sigmoid_##kind(real x) { return 1 / (1 + exp_##kind(-x)); }

DEFINE_EXPONENTIALS(float, f32, F32, int32_t, 23, 127, -104.0f, -87.0f, 88.7228394f, -20.0f)
DEFINE_EXPONENTIALS(double, f64, F64, int64_t, 52, 1023, -746.0, -708.0, 709.782712893384, -40.0)

INLINE float tanh_f32(float x)
{
    float size = fabsf(x);
    size = size > 10.0f ? 10.0f : size;
    float t = expm1_f32(2 * size);
    return x != x ? x : copysignf(t / (t + 2), x);
}

INLINE double tanh_f64(double x)
{
    double size = fabs(x);
    size = size > 20.0 ? 20.0 : size;
    double t = expm1_f64(2 * size);
    return x != x ? x : copysign(t / (t + 2), x);
}

/* -- logarithms: x = 2**n m with m near 1, and log(m) = 2 artanh(s) with s = (m - 1) / (m + 1) from its series ------ */

INLINE float series_of_artanh_f32(float z)
{
    float p = 2.0f / 9;
    p = p * z + 2.0f / 7;
    p = p * z + 2.0f / 5;
    p = p * z + 2.0f / 3;
    return p * z;
}

INLINE double series_of_artanh_f64(double z)
{
    double p = 2.0 / 21;
    p = p * z + 2.0 / 19;
    p = p * z + 2.0 / 17;
    p = p * z + 2.0 / 15;
    p = p * z + 2.0 / 13;
    p = p * z + 2.0 / 11;
    p = p * z + 2.0 / 9;
    p = p * z + 2.0 / 7;
    p = p * z + 2.0 / 5;
    p = p * z + 2.0 / 3;
    return p * z;
}

/* the exponent of a normal number, as a number: through the bits of a large one, as above */
INLINE float exponent_f32(uint32_t bits) { return from_bits_f32((bits >> 23) + 0x4b000000u) - (8388608.0f + 127); }
INLINE double exponent_f64(uint64_t bits)
{
    return from_bits_f64((bits >> 52) + 0x4330000000000000u) - (4503599627370496.0 + 1023);
}

#define DEFINE_LOGARITHMS(real, kind, KIND, natural, mantissa, one, root_half, smallest, scale, digits)                \
    INLINE real log_##kind(real x)                                                                                     \
    {                                                                                                                  \
        int subnormal = x < smallest;                                                                                  \
        real y = subnormal ? x * scale : x;                                                                            \
        /* shifted by the bits of 1 / sqrt(1/2), so that m lies between sqrt(1/2) and sqrt(2) */                       \
        natural bits = bits_##kind(y) + (one - root_half);                                                             \
        real n = exponent_##kind(bits) - (subnormal ? (real)digits : 0);                                               \
        real m = from_bits_##kind((bits & mantissa) + root_half);                                                      \
        real f = m - 1, s = f / (2 + f), square = f * f / 2;                                                           \
        real rest = s * (square + series_of_artanh_##kind(s * s)) + n * LN2_LOW_##KIND;                                \
        real out = n * LN2_HIGH_##KIND - ((square - rest) - f);                                                        \
        out = x > 0 ? out : (x == 0 ? -(real)INFINITY : (real)NAN);                                                    \
        return x == (real)INFINITY ? x : out;                                                                          \
    }                                                                                                                  \
    INLINE real log1p_##kind(real x)                                                                                   \
    {                                                                                                                  \
        real u = 1 + x;                                                                                                \
        real lost = (x - (u - 1)) / u; /* what rounding 1 + x has lost */                                              \
        real out = log_##kind(u) + (u > 0 && u < (real)INFINITY ? lost : 0);                                           \
        return x == 0 ? x : out;                                                                                       \
    }

DEFINE_LOGARITHMS(float, f32, F32, uint32_t, 0x007fffffu, 0x3f800000u, 0x3f3504f3u, 1.17549435e-38f, 8388608.0f, 23)
DEFINE_LOGARITHMS(double, f64, F64, uint64_t, 0x000fffffffffffffu, 0x3ff0000000000000u, 0x3fe6a09e667f3bcdu,
                  2.2250738585072014e-308, 4503599627370496.0, 52)

/* -- the error function: a polynomial of x**2 up to 1, and above it 1 - erfc(x) ------------------------------------- */

INLINE float erf_f32(float x)
{
    float size = fabsf(x), z = x * x;
    float p = 7.85386118e-5f;
    p = p * z - 0.0008010193569f;
    p = p * z + 0.005188327679f;
    p = p * z - 0.02685381193f;
    p = p * z + 0.1128358515f;
    p = p * z - 0.3761262582f;
    p = p * z + 1.128379166f;
    float y = (size > 4.0f ? 4.0f : size) - 2.5f; /* from 4 on it is one */
    float q = -2.278201463923324e-05f; /* the fourth root of erfc, which takes half the steps of an exponential */
    q = q * y - 0.00027017088723368943f;
    q = q * y - 1.2442077604646329e-05f;
    q = q * y + 0.0027551110833883286f;
    q = q * y - 0.006396888755261898f;
    q = q * y - 0.012260377407073975f;
    q = q * y + 0.09363225102424622f;
    q = q * y - 0.19006775319576263f;
    q = q * y + 0.14203190803527832f;
    q = q * q;
    return size <= 1 ? p * x : x != x ? x : copysignf(1 - q * q, x);
}

#define STEP(p, x, coefficient) p = p * x + (coefficient);

INLINE double erf_f64(double x)
{
    /* the polynomials of error_functions.py, which says what they are */
    double size = fabs(x), z = x * x, y = size > 6.5 ? 6.5 : size, t = 1 - 7.5 / (y + 3.75);
    double p = -7.798543850549947e-10; STEP(p, z, 1.3721520406351094e-08) STEP(p, z, -1.6208829856810202e-07)
    STEP(p, z, 1.6447471190594618e-06) STEP(p, z, -1.4924740785377576e-05) STEP(p, z, 0.00012055295112667001)
    STEP(p, z, -0.0008548325982543225) STEP(p, z, 0.005223977607269946) STEP(p, z, -0.026866170643256995)
    STEP(p, z, 0.1128379167094513) STEP(p, z, -0.37612638903183543) STEP(p, z, 1.1283791670955126)
    double q = 4.2514714447963895e-10; STEP(q, t, 3.111433380979925e-10) STEP(q, t, -5.1739902140113095e-09)
    STEP(q, t, -3.744210080962018e-09) STEP(q, t, 3.8675334242222354e-08) STEP(q, t, 2.3263508708859124e-08)
    STEP(q, t, -2.5866850716155884e-07) STEP(q, t, -5.7218230603224086e-08) STEP(q, t, 1.751637648849062e-06)
    STEP(q, t, -9.73559896736775e-07) STEP(q, t, -1.1444146237700524e-05) STEP(q, t, 2.238423915508223e-05)
    STEP(q, t, 5.164909889268241e-05) STEP(q, t, -0.0002901540805408417) STEP(q, t, 0.0002937136655913448)
    STEP(q, t, 0.0017556258528952954) STEP(q, t, -0.009746579558029276) STEP(q, t, 0.028362277418956406)
    STEP(q, t, -0.05869339858963677) STEP(q, t, 0.09230432116037748) STEP(q, t, -0.10880393014174886)
    STEP(q, t, 0.0822767384901452) STEP(q, t, 0.0035854154854644293) STEP(q, t, -0.14024059858554697)
    STEP(q, t, 1.2375126308378275)
    double tail = exp_f64(-y * y) * q / (1 + 2 * y);
    return size <= 1 ? p * x : x != x ? x : copysign(1 - tail, x);
}

/* -- the standard normal distribution ------------------------------------------------------------------------------- */

INLINE float normal_cdf_f32(float x)
{
    /* d is one less the fourth root of the probability of what is further from zero than x. It takes half the steps of
       erf; and with two products of 2 - d nothing is lost of small x. Where x is cut off, d is one. */
    float size = fabsf(x), y = size > 5.631012f ? 5.631012f : size;
    float d = 4.06976815e-06f;
    d = d * y - 6.98385533e-05f;
    d = d * y + 0.000367645487f;
    d = d * y + 3.61466526e-05f;
    d = d * y - 0.00450519917f;
    d = d * y - 0.00553637924f;
    d = d * y + 0.0596982906f;
    d = d * y + 0.199470038f;
    d = d * y;
    d = d * (2 - d);
    d = d * (2 - d);
    return 0.5f + copysignf(0.5f, x) * d;
}

INLINE float normal_density_f32(float x)
{
    /* 2**-n times a polynomial of degree 5; from n = 127 on, where z is cut off, the bits of the power are zero */
    float z = x * x;
    z = z > 176.0594f ? 176.0594f : z;
    float shifted = z * -0.7213475204f + (WHOLE_F32 + 127);
    float r = z * -0.7213475204f - (shifted - (WHOLE_F32 + 127));
    float p = 0.000529654138f;
    p = p * r + 0.00385998708f;
    p = p * r + 0.0221441426f;
    p = p * r + 0.0958343914f;
    p = p * r + 0.276525632f;
    p = p * r + 0.398942309f;
    return p * from_bits_f32(bits_f32(shifted) << 23);
}

INLINE double normal_cdf_f64(double x) { return 0.5 + 0.5 * erf_f64(x * 0.70710678118654752440); }
INLINE double normal_density_f64(double x) { return exp_to_one_f64(-0.5 * x * x) * 0.39894228040143267794; }

#endif
