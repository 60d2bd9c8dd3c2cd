/* What the loops over images share, whatever the numbers and the processor: shapes, instruction sets, runs.

   Images have three dimensions here; those with fewer begin with dimensions of size one. */
#ifndef LEAFGRAD_IMAGES_H
#define LEAFGRAD_IMAGES_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DIMS 3
#define TAIL 16 /* elements after the end of a buffer that a vector may read: the lanes of the longest one */

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define INLINE static inline __attribute__((always_inline))

/* Rounded down and up, also for negative numerators. */
static inline ptrdiff_t floor_div(ptrdiff_t a, ptrdiff_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
static inline ptrdiff_t ceil_div(ptrdiff_t a, ptrdiff_t b) { return -floor_div(-a, b); }
static inline ptrdiff_t product(const ptrdiff_t *sizes) { return sizes[0] * sizes[1] * sizes[2]; }

/* Of the elements at, at + step, ..., `count` of them: those from `begin` to `end` are between 0 and size. */
static inline void inside_of(ptrdiff_t at, ptrdiff_t step, ptrdiff_t size, ptrdiff_t count, ptrdiff_t *begin,
                             ptrdiff_t *end)
{
    *begin = at >= 0 ? 0 : MIN(ceil_div(-at, step), count);
    *end = at >= size ? *begin : MAX(*begin, MIN(ceil_div(size - at, step), count));
}

/* A convolution between x (n, groups * c, sizes) and y (n, groups * o, positions), with weights
   (groups * o, c, window). */
typedef struct {
    ptrdiff_t n, groups, c, o;
    ptrdiff_t sizes[DIMS], window[DIMS], positions[DIMS];
    ptrdiff_t stride[DIMS], padding[DIMS], dilation[DIMS];
} Convolution;

#endif
