/* Which positions, taps and bands a convolution has: everything that is decided before numbers are touched. */
#ifndef LEAFGRAD_IMAGES_SETUP_H
#define LEAFGRAD_IMAGES_SETUP_H

#include "images_layout.h"
#include "pool.h"

#define VECTORS 3           /* of positions, in a tile */
#define TERMS 512           /* that are added up at once: their weights and vectors stay in the nearest cache */
#define TILES 8             /* that are computed with the same weights */
#define AT_ONCE 256         /* that are added up, positions or terms, for vectors of results */
#define ADDED_AT_ONCE 16    /* terms, of which sums are added */
#define PACKED_AT_ONCE 64   /* results, whose weights one thread packs */
#define BAND_BYTES (384 * 1024)     /* of a laid out band: about half of a core's own cache */
#define MOST_SUMS 16                /* of the gradient of weights, each over some of the samples */
#define SUMS_BYTES (16 * 1024 * 1024)
#define ENOUGH_POSITIONS 2048       /* whose products are added up before lanes are */

/* Memory that is given back all at once. */
typedef struct Block {
    struct Block *next;
    max_align_t data[];
} Block;

typedef struct {
    Block *last;
    int failed;
} Arena;

static void *take(Arena *arena, ptrdiff_t bytes)
{
    Block *block = arena->failed ? NULL : malloc(sizeof(Block) + (size_t)MAX(bytes, 1));
    if (block == NULL) {
        arena->failed = 1;
        return NULL;
    }
    block->next = arena->last;
    arena->last = block;
    return block->data;
}

static void give_back(Arena *arena)
{
    while (arena->last != NULL) {
        Block *block = arena->last;
        arena->last = block->next;
        free(block);
    }
}

/* Bands of the first dimension that has more than one position, from range[0] to range[1]; in the others the layout
   begins at `low`. */
#define BANDS                                                                                                          \
    int dim;                                                                                                           \
    ptrdiff_t range[2], low[DIMS], band, bands

/* out = the products of the input with the weights: a convolution, or its transpose. */
typedef struct {
    const char *input, *weights, *bias;
    char *output;
    ptrdiff_t n, groups, channels, results; /* channels and results of a group */
    ptrdiff_t out_sizes[DIMS];
    ptrdiff_t weight_group, weight_result; /* elements of the weights from group to group, and from result to result */
    int by_results;        /* are there vectors of results, not of positions? */
    ptrdiff_t packed_rows; /* results with those that are computed in vain */
    Layout layout;
    Pass *pass;
    ptrdiff_t passes;
    int in_place; /* the image is read where it is */
    ptrdiff_t group_step, group_parts, samples; /* of a task */
    BANDS;
    atomic_int failed;
} Product;

/* The gradient of a convolution by its weights. */
typedef struct {
    const char *input, *gradient;
    char *output, *sums;
    ptrdiff_t n, groups, channels, results;
    ptrdiff_t out_sizes[DIMS];
    Layout layout;
    Pass pass;
    ptrdiff_t units, samples, segments; /* a unit is some samples of a band, with so many segments each */
    int by_results;                     /* are there enough results for vectors of them? */
    ptrdiff_t sum_count, step;          /* sums of some units each, (terms, step), where step is results rounded up */
    ptrdiff_t channel_step, channel_parts;
    BANDS;
    atomic_int failed; /* 1: no memory; 2: something is not finite */
} Gradient;

/* How many rows a block of a tile has, if so many results are left. What is missing is computed in vain, which is
   better than two small blocks if it is one row. */
static inline int block_rows(ptrdiff_t left, int most)
{
    if (left >= most - 1 && most > 1) return most;
    return left >= 3 ? 4 : left == 2 ? 2 : 1;
}

/* Vectors in the next panel, if so many are left: as many as fit into registers, or equally many for two panels. */
static inline ptrdiff_t panel_width(ptrdiff_t left) { return ceil_div(left, ceil_div(left, VECTORS)); }

/* The same if nothing may be computed in vain. */
static inline int whole_rows(ptrdiff_t left, int most)
{
    while (most > left) most /= 2;
    return most;
}

static inline int row_case(int rows) { return rows == 8 ? 3 : rows / 2; }

/* One dimension of a convolution. */
static int forward_side(const Convolution *c, int i, Layout *layout, Side *side, Arena *arena)
{
    ptrdiff_t window = c->window[i], stride = c->stride[i];
    ptrdiff_t *numbers = take(arena, 4 * window * (ptrdiff_t)sizeof(ptrdiff_t));
    if (numbers == NULL) return 0;
    *side = (Side){0, c->positions[i], 0, 1, window, numbers, numbers + window, numbers + 2 * window};
    layout->remainders[i] = numbers + 3 * window;
    layout->sizes[i] = c->sizes[i];
    layout->step[i] = stride;
    layout->before[i] = c->padding[i];
    layout->parts[i] = layout->shift[i] = 0;
    for (ptrdiff_t tap = 0; tap < window; tap++) {
        ptrdiff_t at = tap * c->dilation[i], part = 0;
        while (part < layout->parts[i] && layout->remainders[i][part] != at % stride) part++;
        if (part == layout->parts[i]) layout->remainders[i][layout->parts[i]++] = at % stride;
        side->tap[tap] = tap;
        side->shift[tap] = layout->reach[i] = at / stride;
        side->part[tap] = part;
    }
    return 1;
}

/* One dimension of a transposed convolution: a side for each remainder of coordinates in x, by the stride. Returns how
   many. */
static ptrdiff_t backward_sides(const Convolution *c, int i, Layout *layout, Side *sides, Arena *arena)
{
    ptrdiff_t window = c->window[i], stride = c->stride[i], count = 0;
    ptrdiff_t reach = (window - 1) * c->dilation[i] / stride;
    layout->remainders[i] = take(arena, sizeof(ptrdiff_t));
    if (layout->remainders[i] == NULL) return 0;
    layout->remainders[i][0] = 0;
    layout->sizes[i] = c->positions[i];
    layout->step[i] = layout->parts[i] = 1;
    layout->before[i] = 0;
    layout->shift[i] = -reach;
    layout->reach[i] = reach;
    for (ptrdiff_t rest = 0; rest < stride; rest++) {
        ptrdiff_t first = ceil_div(c->padding[i] - rest, stride);
        ptrdiff_t end = floor_div(c->padding[i] + c->sizes[i] - 1 - rest, stride) + 1;
        if (end <= first) continue;
        ptrdiff_t *numbers = take(arena, 3 * window * (ptrdiff_t)sizeof(ptrdiff_t)), taps = 0;
        if (numbers == NULL) return 0;
        Side side = {first, end - first, rest - c->padding[i], stride, 0,
                     numbers, numbers + window, numbers + 2 * window};
        for (ptrdiff_t tap = 0; tap < window; tap++) {
            if (tap * c->dilation[i] % stride != rest) continue;
            side.tap[taps] = tap;
            side.shift[taps] = reach - tap * c->dilation[i] / stride;
            side.part[taps++] = 0;
        }
        side.taps = taps;
        sides[count++] = side;
    }
    return count;
}

/* The range of positions of some sides, in one dimension. */
static void range_of(const Side *sides, ptrdiff_t count, ptrdiff_t *from, ptrdiff_t *to)
{
    *from = sides[0].first;
    *to = sides[0].first + sides[0].count;
    for (ptrdiff_t i = 1; i < count; i++) {
        *from = MIN(*from, sides[i].first);
        *to = MAX(*to, sides[i].first + sides[i].count);
    }
}

/* How many positions of the dimension `dim` are laid out at once. `most`: as many as there are; `bytes`: of a channel's
   number. */
static ptrdiff_t band_of(const Layout *layout, const ptrdiff_t *counts, int dim, ptrdiff_t channels, ptrdiff_t bytes)
{
    ptrdiff_t each = channels * bytes;
    for (int i = 0; i < DIMS; i++) {
        each *= layout->parts[i] * (i == dim ? 1 : counts[i] + layout->reach[i]);
    }
    ptrdiff_t least = dim == 2 ? 256 : 4, reach = layout->reach[dim];
    ptrdiff_t band = MAX(BAND_BYTES / each - reach, MAX(least, reach));
    ptrdiff_t bands = ceil_div(counts[dim], MIN(band, counts[dim]));
    return ceil_div(counts[dim], bands); /* of equal size */
}

#endif
