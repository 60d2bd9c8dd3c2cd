/* The loops behind _random.c: MT19937, and what is made of its words. Nothing here knows of Python.

   Each loop is compiled twice: for any processor, and for those with AVX2 and fused multiply-add, which are several
   times faster at it. The numbers are the same, because fma() rounds once with the instruction and without it, and
   nothing else is fused: the file is compiled with -ffp-contract=off.
*/
#ifndef LEAFGRAD_RANDOM_LOOPS_H
#define LEAFGRAD_RANDOM_LOOPS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#define BODY static __forceinline
#else
#define BODY static inline __attribute__((always_inline))
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define HAS_TWO_FORMS 1
#define FOR_FMA __attribute__((target("avx2,fma")))
#else
#define HAS_TWO_FORMS 0
#define FOR_FMA
#endif

static int uses_fma; /* does this processor have the instructions, and shall they be used? */

/* A function `name` that calls one of the two forms of the body of the same name. */
#define TWO_FORMS(name, parameters, arguments)                             \
    static void name##_anywhere parameters { name##_body arguments; }      \
    FOR_FMA static void name##_fma parameters { name##_body arguments; }   \
    static inline void name parameters                                     \
    {                                                                      \
        if (uses_fma) name##_fma arguments;                                \
        else name##_anywhere arguments;                                    \
    }

static int has_fma(void)
{
#if HAS_TWO_FORMS
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}

/* -- MT19937 ------------------------------------------------------------------------------------------------------- */

#define WORDS 624
#define SHIFT 397
#define PAIRS 512         /* of normals at a time: they stay in the first cache */
#define PIECE (2 * PAIRS) /* words at a time */

typedef struct {
    uint32_t key[WORDS];   /* the state */
    uint32_t block[WORDS]; /* the outputs that belong to it */
    int used;              /* of these outputs */
} Twister;

BODY uint32_t twisted(uint32_t here, uint32_t next, uint32_t far)
{
    uint32_t y = (here & 0x80000000u) | (next & 0x7fffffffu);
    return far ^ (y >> 1) ^ ((0u - (y & 1u)) & 0x9908b0dfu);
}

BODY void temper_body(const uint32_t *key, uint32_t *block)
{
    for (int i = 0; i < WORDS; i++) {
        uint32_t y = key[i];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c5680u;
        y ^= (y << 15) & 0xefc60000u;
        block[i] = y ^ (y >> 18);
    }
}

BODY void twist_body(uint32_t *key)
{
    for (int i = 0; i < WORDS - SHIFT; i++) key[i] = twisted(key[i], key[i + 1], key[i + SHIFT]);
    for (int i = WORDS - SHIFT; i < WORDS - 1; i++) key[i] = twisted(key[i], key[i + 1], key[i + SHIFT - WORDS]);
    key[WORDS - 1] = twisted(key[WORDS - 1], key[0], key[SHIFT - 1]);
}

TWO_FORMS(temper, (const uint32_t *key, uint32_t *block), (key, block))
TWO_FORMS(twist, (uint32_t * key), (key))

static void twister_seed(Twister *t, uint32_t seed)
{
    t->key[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++) {
        t->key[i] = 1812433253u * (t->key[i - 1] ^ (t->key[i - 1] >> 30)) + i;
    }
    t->used = WORDS;
}

/* The next outputs. */
static void take(Twister *t, uint32_t *words, ptrdiff_t count)
{
    while (count > 0) {
        if (t->used == WORDS) {
            twist(t->key);
            temper(t->key, t->block);
            t->used = 0;
        }
        ptrdiff_t some = WORDS - t->used < count ? WORDS - t->used : count;
        memcpy(words, t->block + t->used, (size_t)some * sizeof(uint32_t));
        t->used += (int)some;
        words += some;
        count -= some;
    }
}

/* -- uniforms ------------------------------------------------------------------------------------------------------ */

BODY float unit32(uint32_t word) { return (float)(int32_t)(word & 0xffffffu) * 0x1p-24f; }

/* 53 bits of two words, the first of which is the high half. Everything here is exact. */
BODY double unit64(uint32_t high, uint32_t low)
{
    return ((double)(int32_t)(high & 0x1fffffu) * 0x1p32 + (double)low) * 0x1p-53;
}

/* Multiples of 2^-24 in [0, 1). */
BODY void units32_body(const uint32_t *words, float *out, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count; i++) out[i] = unit32(words[i]);
}

/* Multiples of 2^-53 in [0, 1). */
BODY void units64_body(const uint32_t *words, double *out, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < count; i++) out[i] = unit64(words[2 * i], words[2 * i + 1]);
}

/* From [0, 1) to [low, high). Rounding can reach the excluded end; such a number becomes the included one. */
BODY void stretch32_body(float *out, ptrdiff_t count, float low, float high)
{
    float span = high - low;
    for (ptrdiff_t i = 0; i < count; i++) {
        float x = fmaf(out[i], span, low);
        out[i] = x == high ? low : x;
    }
}

BODY void stretch64_body(double *out, ptrdiff_t count, double low, double high)
{
    double span = high - low;
    for (ptrdiff_t i = 0; i < count; i++) {
        double x = fma(out[i], span, low);
        out[i] = x == high ? low : x;
    }
}

/* x * b + c, rounded once. */
BODY void scale32_body(float *out, ptrdiff_t count, float b, float c)
{
    for (ptrdiff_t i = 0; i < count; i++) out[i] = fmaf(out[i], b, c);
}

BODY void scale64_body(double *out, ptrdiff_t count, double b, double c)
{
    for (ptrdiff_t i = 0; i < count; i++) out[i] = fma(out[i], b, c);
}

TWO_FORMS(units32, (const uint32_t *words, float *out, ptrdiff_t count), (words, out, count))
TWO_FORMS(units64, (const uint32_t *words, double *out, ptrdiff_t count), (words, out, count))
TWO_FORMS(stretch32, (float *out, ptrdiff_t count, float low, float high), (out, count, low, high))
TWO_FORMS(stretch64, (double *out, ptrdiff_t count, double low, double high), (out, count, low, high))
TWO_FORMS(scale32, (float *out, ptrdiff_t count, float b, float c), (out, count, b, c))
TWO_FORMS(scale64, (double *out, ptrdiff_t count, double b, double c), (out, count, b, c))

static void draw_units32(Twister *twister, float *out, ptrdiff_t count)
{
    uint32_t words[PIECE];
    while (count > 0) {
        ptrdiff_t n = count < PIECE ? count : PIECE;
        take(twister, words, n);
        units32(words, out, n);
        out += n;
        count -= n;
    }
}

static void draw_units64(Twister *twister, double *out, ptrdiff_t count)
{
    uint32_t words[PIECE];
    while (count > 0) {
        ptrdiff_t n = count < PIECE / 2 ? count : PIECE / 2;
        take(twister, words, 2 * n);
        units64(words, out, n);
        out += n;
        count -= n;
    }
}

/* What exponential numbers are made of; threads share the work. */
typedef struct {
    const double *units;
    void *out;
    double scale;
    int is_float;
} Logarithms;

static void take_logarithms(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Logarithms *work = context;
    for (ptrdiff_t i = first; i < last; i++) {
        double number = work->scale * log1p(-work->units[i]);
        if (work->is_float) ((float *)work->out)[i] = (float)number;
        else ((double *)work->out)[i] = number;
    }
}

/* -- integers ------------------------------------------------------------------------------------------------------ */

/* base + word % span for 2 <= span < 2^30. The quotient is found by multiplication and may be one off. */
BODY void remainders_body(const uint32_t *words, int64_t *out, ptrdiff_t count, int32_t span, int64_t base)
{
    double inverse = 1.0 / span;
    for (ptrdiff_t i = 0; i < count; i++) {
        int32_t quotient = (int32_t)((double)words[i] * inverse);
        int32_t rest = (int32_t)(words[i] - (uint32_t)quotient * (uint32_t)span);
        rest += rest < 0 ? span : 0;
        rest -= rest >= span ? span : 0;
        out[i] = base + rest;
    }
}

/* Is u < p? Said of the 53 bits that u is made of. */
BODY void below_body(const uint32_t *words, uint8_t *out, ptrdiff_t count, uint64_t limit)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        uint64_t bits = (uint64_t)(words[2 * i] & 0x1fffffu) << 32 | words[2 * i + 1];
        out[i] = bits < limit;
    }
}

TWO_FORMS(remainders, (const uint32_t *words, int64_t *out, ptrdiff_t count, int32_t span, int64_t base),
          (words, out, count, span, base))
TWO_FORMS(below, (const uint32_t *words, uint8_t *out, ptrdiff_t count, uint64_t limit), (words, out, count, limit))

#define AHEAD 24 /* exchanges whose memory is asked for in advance: a large array is in no cache */

static inline int64_t *place_further_on(int64_t *here, uint64_t left, uint32_t word)
{
    return here + (left >> 32 ? word : word % (uint32_t)left);
}

/* Exchange each of the numbers [from, to) with one at a random place further on. */
static void exchange(Twister *twister, int64_t *out, ptrdiff_t count, ptrdiff_t from, ptrdiff_t to)
{
    uint32_t words[PIECE];
    for (ptrdiff_t n; from < to; from += n) {
        n = to - from < PIECE ? to - from : PIECE;
        take(twister, words, n);
        for (ptrdiff_t i = 0; i < n; i++) {
            int64_t *here = out + from + i, number = *here;
            uint64_t left = (uint64_t)(count - from - i);
            if (i + AHEAD < n) __builtin_prefetch(place_further_on(here + AHEAD, left - AHEAD, words[i + AHEAD]), 1);
            int64_t *there = place_further_on(here, left, words[i]);
            *here = *there;
            *there = number;
        }
    }
}

/* -- normals ------------------------------------------------------------------------------------------------------- */

BODY int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

BODY float float_of(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ln x for x in (0, 1]: x = 2^exponent * (1 + t) with 1 + t between sqrt(1/2) and sqrt(2). The polynomials here and
   below are those of the Cephes library, evaluated as PyTorch's compiled kernel does it: see _random_numpy.py. */
BODY float log_of(float x)
{
    int32_t bits = bits_of(x);
    int32_t shift = (bits - 0x3f3504f3) >> 23;
    float exponent = (float)shift;
    float t = float_of(bits - (int32_t)((uint32_t)shift << 23)) - 1.0f;
    float t2 = t * t;
    float tail = fmaf(7.0376836292e-2f, t, -1.1514610310e-1f);
    tail = fmaf(tail, t, 1.1676998740e-1f);
    tail = fmaf(tail, t, -1.2420140846e-1f);
    tail = fmaf(tail, t, 1.4249322787e-1f);
    tail = fmaf(tail, t, -1.6668057665e-1f);
    tail = fmaf(tail, t, 2.0000714765e-1f);
    tail = fmaf(tail, t, -2.4999993993e-1f);
    tail = fmaf(tail, t, 3.3333331174e-1f);
    tail = tail * t;
    tail = fmaf(tail, t2, exponent * -2.12194440e-4f);
    tail = tail - 0.5f * t2;
    return (t + tail) + exponent * 0.693359375f;
}

/* Sine and cosine of an angle in [0, 2 pi], by reduction to [-pi/4, pi/4]. */
BODY void sin_cos_of(float angle, float *sine, float *cosine)
{
    int32_t octant = ((int32_t)(angle * 1.27323954473516f) + 1) & ~1;
    float turns = (float)octant;
    float x = angle - turns * 0.78515625f;
    x = x - turns * 2.4187564849853515625e-4f;
    x = fmaf(turns, -3.77489497744594108e-8f, x);
    float x2 = x * x;
    float c = fmaf(2.443315711809948e-5f, x2, -1.388731625493765e-3f);
    c = fmaf(c, x2, 4.166664568298827e-2f);
    c = fmaf(c * x2, x2, -0.5f * x2) + 1.0f;
    float s = fmaf(-1.9515295891e-4f, x2, 8.3321608736e-3f);
    s = fmaf(s, x2, -1.6666654611e-1f);
    s = fmaf(s * x2, x, x);
    /* In every other pair of octants the two are exchanged: where a mask has ones, all bits in which they differ flip.
       And the signs: bit 2 of the octant, moved to bit 31. */
    int32_t differing = -((octant >> 1) & 1) & (bits_of(s) ^ bits_of(c));
    *sine = float_of(bits_of(s) ^ differing ^ (int32_t)((uint32_t)(octant & 4) << 29));
    *cosine = float_of(bits_of(c) ^ differing ^ (int32_t)((uint32_t)((octant + 2) & 4) << 29));
}

/* Box-Muller on blocks of 16 words, at most 2 * PIECE of them: eight give the radius, the next eight the angle. */
BODY void normals32_body(const uint32_t *words, float *out, ptrdiff_t count, float mean, float std)
{
    float radius[PAIRS], sine[PAIRS], cosine[PAIRS];
    ptrdiff_t pairs = count / 2;
    for (ptrdiff_t i = 0; i < pairs; i += 8) {
        for (int j = 0; j < 8; j++) {
            radius[i + j] = 1.0f - unit32(words[2 * i + j]); /* [0, 1) becomes (0, 1], which has a logarithm */
            sine[i + j] = 6.283185307179586f * unit32(words[2 * i + 8 + j]);
        }
    }
    for (ptrdiff_t i = 0; i < pairs; i++) radius[i] = sqrtf(-2.0f * log_of(radius[i]));
    for (ptrdiff_t i = 0; i < pairs; i++) sin_cos_of(sine[i], &sine[i], &cosine[i]);
    for (ptrdiff_t i = 0; i < pairs; i += 8) {
        for (int j = 0; j < 8; j++) {
            out[2 * i + j] = fmaf(radius[i + j] * cosine[i + j], std, mean);
            out[2 * i + 8 + j] = fmaf(radius[i + j] * sine[i + j], std, mean);
        }
    }
}

TWO_FORMS(normals32, (const uint32_t *words, float *out, ptrdiff_t count, float mean, float std),
          (words, out, count, mean, std))

/* The C library's functions, called one by one: a compiler that sees sin and cos together would call a third. */
static double (*volatile libm_sin)(double) = sin;
static double (*volatile libm_cos)(double) = cos;

/* The same of uniforms in float64, which become normals. */
static void normals64(double *numbers, ptrdiff_t count, double mean, double std)
{
    for (ptrdiff_t i = 0; i < count; i += 16) {
        for (ptrdiff_t j = i; j < i + 8; j++) {
            double radius = sqrt(-2.0 * log(1.0 - numbers[j]));
            double angle = 6.283185307179586 * numbers[j + 8];
            numbers[j] = radius * libm_cos(angle);
            numbers[j + 8] = radius * libm_sin(angle);
        }
    }
    scale64(numbers, count, std, mean);
}

#endif
