/* Where the windows of a pool lie, dimension by dimension. */
#ifndef LEAFGRAD_IMAGES_AXES_H
#define LEAFGRAD_IMAGES_AXES_H

#include <stdint.h>

#include "images.h"
#include "pool.h"

#define FEW_WINDOWS 4 /* that divide a row: fewer are looked at one by one, as a vector would be empty for the most part */

typedef struct {
    ptrdiff_t in, out;         /* elements and results */
    ptrdiff_t *begin, *end;    /* of each window, within the image; its elements are `apart` */
    ptrdiff_t *count;          /* of its elements, by which a mean is divided */
    ptrdiff_t apart;
    ptrdiff_t taps;            /* elements of each window if all are alike, 0 if they are not: */
    ptrdiff_t stride, before;  /* element t of window q is at q * stride + t * apart - before */
    ptrdiff_t *tap_begin, *tap_end; /* the windows in which it is within the image */
    ptrdiff_t parts, reach;         /* as in images_layout.h: remainders of taps by the stride, the largest shift, */
    ptrdiff_t *tap_part, *tap_shift, *remainder;
} Axis;

typedef struct {
    const char *input;
    char *output;
    int64_t *indices;
    Axis axis[DIMS];
    ptrdiff_t divisor; /* of means, if it is given */
    atomic_int failed; /* 1: no memory; 2: an index is outside */
} Pool;

/* The most elements that a window has. */
static inline ptrdiff_t longest(const Axis *a)
{
    ptrdiff_t most = 0;
    for (ptrdiff_t q = 0; q < a->out; q++) most = MAX(most, ceil_div(a->end[q] - a->begin[q], a->apart));
    return most;
}

/* Windows that are alike. */
static void equal_windows(Axis *a, ptrdiff_t window, ptrdiff_t stride, ptrdiff_t padding, ptrdiff_t apart,
                          int include_padding)
{
    a->apart = apart;
    a->taps = window;
    a->stride = stride;
    a->before = padding;
    for (ptrdiff_t q = 0; q < a->out; q++) {
        ptrdiff_t start = q * stride - padding, end = start + (window - 1) * apart + 1;
        a->begin[q] = start < 0 ? start + ceil_div(-start, apart) * apart : start;
        a->end[q] = MIN(end, a->in);
        a->count[q] = (include_padding ? MIN(end, a->in + padding) - start : a->end[q] - MAX(start, 0));
    }
    a->parts = 0;
    for (ptrdiff_t t = 0; t < window; t++) {
        ptrdiff_t part = 0;
        while (part < a->parts && a->remainder[part] != t * apart % stride) part++;
        if (part == a->parts) a->remainder[a->parts++] = t * apart % stride;
        a->tap_part[t] = part;
        a->tap_shift[t] = a->reach = t * apart / stride;
        ptrdiff_t shift = t * apart - padding;
        a->tap_begin[t] = MIN(a->out, MAX(0, ceil_div(-shift, stride)));
        a->tap_end[t] = MAX(a->tap_begin[t], MIN(a->out, floor_div(a->in - 1 - shift, stride) + 1));
    }
}

/* Windows that divide the elements among them: as equally as possible, and where that is not possible they overlap. */
static void adaptive_windows(Axis *a)
{
    if (a->in % a->out == 0 && a->out >= FEW_WINDOWS) {
        equal_windows(a, a->in / a->out, a->in / a->out, 0, 1, 1);
        return;
    }
    a->apart = 1;
    a->taps = 0;
    for (ptrdiff_t q = 0; q < a->out; q++) {
        a->begin[q] = q * a->in / a->out;
        a->end[q] = ceil_div((q + 1) * a->in, a->out);
        a->count[q] = a->end[q] - a->begin[q];
    }
}

#endif
