/* Numbers of 16 bits, float16 and bfloat16, to float32 and back, many at once.

   NumPy's loops take two nanoseconds for an element of float16, ten times what these take. They have no branches, so
   that compilers vectorise them, and give the same bits: rounded to the nearest, ties to the even one. */
#ifndef LEAFGRAD_HALF_NUMBERS_H
#define LEAFGRAD_HALF_NUMBERS_H

#include <stdint.h>

#include "bfloat16.h"
#include "vectors.h"

INLINE uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

INLINE float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

/* The upper half of a float32, rounded. A nan becomes the plain one of its sign. */
INLINE uint32_t to_bfloat16(uint32_t bits)
{
    uint32_t near = bits + 0x7fff + (bits >> 16 & 1);
    return ((bits & 0x7fffffff) > 0x7f800000 ? (bits & 0x80000000) | 0x7fc00000 : near) >> 16;
}

/* The exponent has five bits instead of eight. Adding `least`, whose last digit is worth as much as that of the
   smallest float16, rounds numbers that have fewer digits there. */
INLINE uint32_t to_float16(uint32_t bits)
{
    const uint32_t least = (127 - 15 + 23 - 10 + 1) << 23, sign = bits & 0x80000000, size = bits ^ sign;
    uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    uint32_t small = bits_of(float_of(size) + float_of(least)) - least;
    uint32_t payload = (size & 0x7fffff) >> 13;
    uint32_t large = size > 0x7f800000 ? 0x7c00 | (payload ? payload : 1) : 0x7c00;
    return sign >> 16 | (size < 113u << 23 ? small : size >= 143u << 23 ? large : normal);
}

INLINE uint32_t from_float16(uint32_t half)
{
    uint32_t size = (half & 0x7fff) << 13;
    uint32_t scaled = bits_of(float_of(size) * 0x1p112f);
    return (half & 0x8000) << 16 | ((half & 0x7fff) >= 0x7c00 ? size | 0x7f800000 : scaled);
}

#define DEFINE_HALVES(NAME, FROM, TO, RESULT)                                                                          \
    VECTORISED static void NAME(const FROM *restrict x, TO *restrict out, ptrdiff_t count)                             \
    {                                                                                                                  \
        SIMD for (ptrdiff_t i = 0; i < count; i++) out[i] = (TO)(RESULT);                                              \
    }
DEFINE_HALVES(widen_bfloat16, uint16_t, uint32_t, (uint32_t)x[i] << 16)
DEFINE_HALVES(narrow_bfloat16, uint32_t, uint16_t, to_bfloat16(x[i]))
DEFINE_HALVES(widen_any_float16, uint16_t, uint32_t, from_float16(x[i]))
DEFINE_HALVES(narrow_any_float16, uint32_t, uint16_t, to_float16(x[i]))

/* Most processors convert float16 by one instruction, which takes a third of the time. It makes nan a quiet one, where
   NumPy keeps its bits: numbers that have one beside them are converted as above. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define F16C __attribute__((target("avx2,f16c")))

F16C static void widen_float16_by_f16c(const uint16_t *restrict x, uint32_t *restrict out, ptrdiff_t count)
{
    ptrdiff_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256 wide = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i)));
        if (_mm256_movemask_ps(_mm256_cmp_ps(wide, wide, _CMP_UNORD_Q))) {
            widen_any_float16(x + i, out + i, 8);
        } else {
            _mm256_storeu_ps((float *)(out + i), wide);
        }
    }
    widen_any_float16(x + i, out + i, count - i);
}

F16C static void narrow_float16_by_f16c(const uint32_t *restrict x, uint16_t *restrict out, ptrdiff_t count)
{
    ptrdiff_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256 wide = _mm256_loadu_ps((const float *)(x + i));
        if (_mm256_movemask_ps(_mm256_cmp_ps(wide, wide, _CMP_UNORD_Q))) {
            narrow_any_float16(x + i, out + i, 8);
        } else {
            _mm_storeu_si128((__m128i *)(out + i), _mm256_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT));
        }
    }
    narrow_any_float16(x + i, out + i, count - i);
}

static int has_f16c(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"); }
#else
#define widen_float16_by_f16c widen_any_float16
#define narrow_float16_by_f16c narrow_any_float16
static int has_f16c(void) { return 0; }
#endif

static void widen_float16(const uint16_t *restrict x, uint32_t *restrict out, ptrdiff_t count)
{
    (has_f16c() ? widen_float16_by_f16c : widen_any_float16)(x, out, count);
}

static void narrow_float16(const uint32_t *restrict x, uint16_t *restrict out, ptrdiff_t count)
{
    (has_f16c() ? narrow_float16_by_f16c : narrow_any_float16)(x, out, count);
}

typedef void (*Widen)(const uint16_t *restrict x, uint32_t *restrict out, ptrdiff_t count);
typedef void (*Narrow)(const uint32_t *restrict x, uint16_t *restrict out, ptrdiff_t count);

#endif
