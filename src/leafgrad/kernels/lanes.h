/* What loops over rows reduce their numbers in: so many lanes side by side that several vector registers take them in at
   once. One register alone would wait for each sum before it can begin the next.

   A long row is gone through by LANES, a short one and what is left of a long one by FEW_LANES, a single register, of
   which the last lanes may be idle. */
#ifndef LEAFGRAD_LANES_H
#define LEAFGRAD_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "vectors.h"

#define LANES_F32 64
#define LANES_F64 32
#define FEW_LANES_F32 16
#define FEW_LANES_F64 8

#define ADDED(a, b) ((a) + (b))
#define GREATER(a, b) ((b) > (a) ? (b) : (a))

/* Halves of the lanes are joined until one is left. Sizes are constants, so that this happens in registers. */
#define DEFINE_JOINED(name, real, count, few, JOIN)                                                                    \
    INLINE real name(real *lanes)                                                                                      \
    {                                                                                                                  \
        for (int i = few; i < count; i += few) {                                                                       \
            SIMD for (int j = 0; j < few; j++) lanes[j] = JOIN(lanes[j], lanes[i + j]);                                \
        }                                                                                                              \
        if (few > 8) {                                                                                                 \
            SIMD for (int j = 0; j < 8; j++) lanes[j] = JOIN(lanes[j], lanes[8 + j]);                                  \
        }                                                                                                              \
        SIMD for (int j = 0; j < 4; j++) lanes[j] = JOIN(lanes[j], lanes[4 + j]);                                      \
        real even = JOIN(lanes[0], lanes[2]), odd = JOIN(lanes[1], lanes[3]);                                          \
        return JOIN(even, odd);                                                                                        \
    }

#define DEFINE_LANES(kind, real, integer, count, few)                                                                  \
    DEFINE_JOINED(sum_##kind, real, count, few, ADDED)                                                                 \
    DEFINE_JOINED(largest_##kind, real, count, few, GREATER)                                                           \
    DEFINE_JOINED(sum_few_##kind, real, few, few, ADDED)                                                               \
    DEFINE_JOINED(largest_few_##kind, real, few, few, GREATER)                                                         \
    INLINE real larger_##kind(real a, real b) { return GREATER(a, b); }                                                \
    INLINE void fill_##kind(real *lanes, real value)                                                                   \
    {                                                                                                                  \
        SIMD for (int j = 0; j < count; j++) lanes[j] = value;                                                         \
    }                                                                                                                  \
    INLINE void fill_few_##kind(real *lanes, real value)                                                               \
    {                                                                                                                  \
        SIMD for (int j = 0; j < few; j++) lanes[j] = value;                                                           \
    }                                                                                                                  \
    /* the lane of an element that lies so far from the first one; -1 if none of these lanes has it */                 \
    INLINE integer lane_##kind(ptrdiff_t away) { return away >= 0 && away < count ? (integer)away : -1; }

DEFINE_LANES(f32, float, int32_t, LANES_F32, FEW_LANES_F32)
DEFINE_LANES(f64, double, int64_t, LANES_F64, FEW_LANES_F64)

#endif
