/* Windows without copies of windows.

   A tap is one element of the window. If an image lies in memory with its padding, then what a tap meets at consecutive
   positions of a row are consecutive numbers: the row, shifted. With a stride of two, every second number; so the image
   is laid out in two halves for each dimension, the even elements and the odd ones (in general, one part for
   each remainder that a tap has), and they are consecutive again. So a convolution is a sum over channels and taps of
   a weight times a shifted piece of memory, and all that differs between convolutions is a list of offsets.

   The gradient by the input is the same: elements whose coordinates have the same remainder by the stride see the same
   taps. For each combination of remainders there is one pass over y, with the taps that belong to it.

   A Layout says how a band of an image is laid out: positions `low` ... in the coordinates of positions. A Pass says
   which positions are computed of it with which taps, and where results go.
*/
#ifndef LEAFGRAD_IMAGES_LAYOUT_H
#define LEAFGRAD_IMAGES_LAYOUT_H

#include "images.h"

typedef struct {
    ptrdiff_t sizes[DIMS];              /* of the image that is read */
    ptrdiff_t step[DIMS], before[DIMS]; /* element i of a part is that at i * step + remainder - before */
    ptrdiff_t parts[DIMS];
    ptrdiff_t *remainders[DIMS];
    ptrdiff_t shift[DIMS], reach[DIMS]; /* the lowest shift of a tap, and by how much the highest is more */
    ptrdiff_t extent[DIMS];             /* of each part, for one band */
    ptrdiff_t channel;                  /* elements from channel to channel */
} Layout;

/* A pass in one dimension: its positions, where their results go (start + position * step), and its taps: which, by how
   much they are shifted above the lowest, and in which part. */
typedef struct {
    ptrdiff_t first, count;
    ptrdiff_t start, step;
    ptrdiff_t taps, *tap, *shift, *part;
} Side;

typedef struct {
    Side side[DIMS];
    ptrdiff_t terms;    /* channels times taps: */
    ptrdiff_t *offsets; /* where each of them is in the layout, */
    ptrdiff_t *weights; /* where its weight is, */
    char *packed;       /* and all weights in the order in which they are needed */
} Pass;

/* A vector of consecutive positions in a row, or in several rows where there is no gap between rows in the layout; the
   runs of its lanes that are results, and where they go, after `to`. */
typedef struct {
    ptrdiff_t from, to;
    int first_run, runs;
} Segment;

typedef struct {
    int lane, count;
    ptrdiff_t to;
} Run;

typedef struct {
    Segment *segments;
    Run *runs;
    ptrdiff_t count;
} Segments;

/* The part of positions that is computed at once: `from` to `to` of the dimension `dim`. */
typedef struct {
    int dim;
    ptrdiff_t from, to;
} Band;

static inline void set_extent(Layout *layout, const ptrdiff_t *positions, ptrdiff_t channels)
{
    ptrdiff_t size = 1;
    for (int i = 0; i < DIMS; i++) {
        layout->extent[i] = positions[i] + layout->reach[i];
        size *= layout->extent[i] * layout->parts[i];
    }
    if (channels > 1 && size % 256 == 0) size += 32; /* channels at equal places of all pages push each other out */
    layout->channel = size;
}

/* Where the terms of a pass are. The weight of a channel and a tap is at channel * channel_step + tap. */
static inline void find_terms(const Layout *layout, Pass *pass, ptrdiff_t channels, ptrdiff_t channel_step,
                              const ptrdiff_t *window)
{
    const Side *side = pass->side;
    const ptrdiff_t *extent = layout->extent, *parts = layout->parts;
    ptrdiff_t term = 0;
    for (ptrdiff_t c = 0; c < channels; c++) {
        for (ptrdiff_t z = 0; z < side[0].taps; z++) {
            for (ptrdiff_t y = 0; y < side[1].taps; y++) {
                for (ptrdiff_t x = 0; x < side[2].taps; x++, term++) {
                    ptrdiff_t part = (side[0].part[z] * parts[1] + side[1].part[y]) * parts[2] + side[2].part[x];
                    ptrdiff_t shift =
                        (side[0].shift[z] * extent[1] + side[1].shift[y]) * extent[2] + side[2].shift[x];
                    pass->offsets[term] = c * layout->channel + part * product(extent) + shift;
                    pass->weights[term] = c * channel_step +
                        (side[0].tap[z] * window[1] + side[1].tap[y]) * window[2] + side[2].tap[x];
                }
            }
        }
    }
}

/* The positions of a pass in a band: how many there are, and the first of them, by dimension. */
static inline int positions_in(const Pass *pass, const Band *band, ptrdiff_t *first, ptrdiff_t *count)
{
    for (int i = 0; i < DIMS; i++) {
        first[i] = pass->side[i].first;
        count[i] = pass->side[i].count;
        if (i == band->dim) {
            ptrdiff_t from = MAX(first[i], band->from), to = MIN(first[i] + count[i], band->to);
            first[i] = from;
            count[i] = to - from;
        }
        if (count[i] <= 0) return 0;
    }
    return 1;
}

/* Whether vectors go on from row to row: where that makes fewer of them, although they have the ends of the layout's
   rows in them as well. */
static inline int is_flat(const ptrdiff_t *count, ptrdiff_t pitch, ptrdiff_t lanes)
{
    return ceil_div((count[1] - 1) * pitch + count[2], lanes) < count[1] * ceil_div(count[2], lanes);
}

static inline ptrdiff_t segment_count(const ptrdiff_t *count, ptrdiff_t pitch, ptrdiff_t lanes)
{
    ptrdiff_t plane = is_flat(count, pitch, lanes) ? ceil_div((count[1] - 1) * pitch + count[2], lanes)
                                                   : count[1] * ceil_div(count[2], lanes);
    return count[0] * plane;
}

static inline ptrdiff_t run_count(ptrdiff_t segments, ptrdiff_t pitch, ptrdiff_t lanes)
{
    return segments * (lanes / pitch + 2);
}

/* The vectors of a band. `low`: the position at which the layout begins. `place`: elements from row to row, and so on,
   of the results. With `inside` the last vector of a row begins earlier, so that it reads nothing behind the row. There
   must be room for segment_count() segments and run_count() runs. */
static void find_segments(Segments *found, const Layout *layout, const Pass *pass, const Band *band,
                          const ptrdiff_t *low, const ptrdiff_t *place, int lanes, int inside)
{
    ptrdiff_t first[DIMS], count[DIMS];
    found->count = 0;
    if (!positions_in(pass, band, first, count)) return;
    const Side *side = pass->side;
    ptrdiff_t pitch = layout->extent[2];
    int flat = is_flat(count, pitch, lanes), runs = 0;
    ptrdiff_t lines = flat ? 1 : count[1], length = flat ? (count[1] - 1) * pitch + count[2] : count[2];
    for (ptrdiff_t z = 0; z < count[0]; z++) {
        for (ptrdiff_t line = 0; line < lines; line++) {
            for (ptrdiff_t next = 0; next < length; next += lanes) {
                ptrdiff_t at = inside ? MIN(next, length - lanes) : next;
                Segment *segment = &found->segments[found->count++];
                ptrdiff_t row = (first[0] - low[0] + z) * layout->extent[1] + first[1] - low[1] + line;
                segment->from = row * pitch + first[2] - low[2] + at;
                segment->to = 0;
                segment->first_run = runs;
                ptrdiff_t y = flat ? next / pitch : line, x = flat ? next % pitch : next;
                for (int lane = (int)(next - at); lane < lanes && y < count[1]; lane += (int)(pitch - x), x = 0, y++) {
                    if (x < count[2]) {
                        ptrdiff_t to = (side[0].start + (first[0] + z) * side[0].step) * place[0] +
                                       (side[1].start + (first[1] + y) * side[1].step) * place[1] +
                                       side[2].start + (first[2] + x) * side[2].step;
                        found->runs[runs++] = (Run){lane, (int)MIN(lanes - lane, count[2] - x), to};
                    }
                    if (!flat) break;
                }
                segment->runs = runs - segment->first_run;
            }
        }
    }
}

/* The same for one more image, after those that are there: `from` and `to` elements further on. */
static void repeat_segments(Segments *found, ptrdiff_t count, ptrdiff_t from, ptrdiff_t to)
{
    for (ptrdiff_t i = 0; i < count; i++, found->count++) {
        Segment *next = &found->segments[found->count];
        *next = found->segments[found->count - count];
        next->from += from;
        next->to += to;
    }
}

/* The places of all positions of a band in the layout, and if asked in the results, one after the other. Returns how
   many. */
static ptrdiff_t find_positions(const Layout *layout, const Pass *pass, const Band *band, const ptrdiff_t *low,
                                ptrdiff_t *at, const ptrdiff_t *place, ptrdiff_t *to)
{
    ptrdiff_t first[DIMS], count[DIMS], found = 0;
    const Side *side = pass->side;
    if (!positions_in(pass, band, first, count)) return 0;
    for (ptrdiff_t z = first[0]; z < first[0] + count[0]; z++) {
        for (ptrdiff_t y = first[1]; y < first[1] + count[1]; y++) {
            ptrdiff_t row = ((z - low[0]) * layout->extent[1] + y - low[1]) * layout->extent[2] - low[2];
            for (ptrdiff_t x = first[2]; x < first[2] + count[2]; x++, found++) {
                at[found] = row + x;
                if (to == NULL) continue;
                to[found] = (side[0].start + z * side[0].step) * place[0] +
                            (side[1].start + y * side[1].step) * place[1] + side[2].start + x * side[2].step;
            }
        }
    }
    return found;
}

#endif
