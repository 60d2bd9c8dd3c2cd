/* Copies between arrays of one shape and any strides.

   Dimensions are put in the order in which the target lies in memory, and those that continue each other in both become
   one. The last is copied as a line, with its neighbour; where the source runs along another dimension than the
   target, both are walked through in squares that fit into the cache, as for a transposed matrix. */
#ifndef LEAFGRAD_COPYING_H
#define LEAFGRAD_COPYING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "vectors.h"

#define LET_OTHERS_RUN 65536  /* bytes: from here on the interpreter lock is let go, */
#define SPLIT_FROM 262144     /* helpers begin to pay, */
#define LONG_COPY 4194304     /* and are worth being woken */
#define LINE 32768            /* bytes of a line that are copied at once, about */
#define SQUARE 16             /* elements, whose squares are turned in the cache, */
#define SQUARES 4             /* so many side by side */
#define MOST_WOVEN 4          /* lines whose numbers alternate in the target, as those of pixel_shuffle do */

typedef struct {
    npy_intp size, from_step, to_step;
} CopyDim;

typedef struct {
    const char *from;
    char *to;
    npy_intp item;            /* bytes of an element */
    int outer;                /* dimensions before the last ones, */
    CopyDim dims[NPY_MAXDIMS];
    CopyDim line, row;        /* the last and its neighbour, of which a unit has so many: */
    npy_intp lines;           /* (if they are woven, elements of a line) */
    int crossed;              /* does the source run along `row`? */
    int woven;                /* are there a few rows, whose numbers alternate in the target? */
    npy_intp per_row, units;  /* units for each position of the outer dimensions, and in all */
} Copy;

typedef struct {
    uint64_t half[2];
} Pair;

#define DEFINE_LINE(T)                                                                                                 \
    VECTORISED static void line_##T(const char *from, npy_intp from_step, char *to, npy_intp to_step, npy_intp count)  \
    {                                                                                                                  \
        const npy_intp item = sizeof(T);                                                                               \
        T *restrict out = (T *)to;                                                                                     \
        const T *restrict x = (const T *)from;                                                                         \
        if (to_step == item && from_step == item) {                                                                    \
            memcpy(to, from, count * item);                                                                            \
        } else if (to_step == item && from_step == -item) {                                                            \
            for (npy_intp i = 0; i < count; i++) out[i] = x[-i];                                                       \
        } else if (to_step == item && from_step == 0) {                                                                \
            T value = x[0];                                                                                            \
            for (npy_intp i = 0; i < count; i++) out[i] = value;                                                       \
        } else {                                                                                                       \
            for (npy_intp i = 0; i < count; i++) *(T *)(to + i * to_step) = *(const T *)(from + i * from_step);        \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* a square through a buffer: read along its rows, written along its columns */                                    \
    VECTORISED static void square_##T(const char *from, npy_intp from_step, char *to, npy_intp to_step, npy_intp rows) \
    {                                                                                                                  \
        T square[SQUARE][SQUARE];                                                                                      \
        for (int line = 0; line < SQUARE; line++) {                                                                    \
            const T *x = (const T *)(from + line * from_step);                                                         \
            for (npy_intp row = 0; row < rows; row++) square[line][row] = x[row];                                      \
        }                                                                                                              \
        for (npy_intp row = 0; row < rows; row++) {                                                                    \
            T *out = (T *)(to + row * to_step);                                                                        \
            for (int line = 0; line < SQUARE; line++) out[line] = square[line][row];                                   \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* a few lines woven into one: the numbers of each, one step of `to` wide, side by side */                         \
    INLINE void weave_few_##T(const char *from, npy_intp across, char *to, const int lines, npy_intp count)            \
    {                                                                                                                  \
        T *restrict out = (T *)to;                                                                                     \
        const T *restrict x = (const T *)from;                                                                         \
        for (npy_intp i = 0; i < count; i++) {                                                                         \
            for (int line = 0; line < lines; line++) out[i * lines + line] = x[line * across + i];                     \
        }                                                                                                              \
    }                                                                                                                  \
    VECTORISED static void weave_##T(const char *from, npy_intp across, char *to, npy_intp lines, npy_intp count)      \
    {                                                                                                                  \
        across /= (npy_intp)sizeof(T);                                                                                 \
        if (lines == 2) weave_few_##T(from, across, to, 2, count);                                                     \
        else if (lines == 3) weave_few_##T(from, across, to, 3, count);                                                \
        else weave_few_##T(from, across, to, 4, count);                                                                \
    }
DEFINE_LINE(uint8_t)
DEFINE_LINE(uint16_t)
DEFINE_LINE(uint32_t)
DEFINE_LINE(uint64_t)
DEFINE_LINE(Pair)

typedef void (*copy_function)(const char *, npy_intp, char *, npy_intp, npy_intp);
#define BY_ITEM(name, item)                                                                                            \
    ((item) == 1 ? name##_uint8_t : (item) == 2 ? name##_uint16_t : (item) == 4 ? name##_uint32_t                      \
     : (item) == 8 ? name##_uint64_t : name##_Pair)

/* -- the plan ------------------------------------------------------------------------------------------------------ */

static void order_copy(Copy *copy)
{
    int made = 0;
    for (int i = 1; i < copy->outer; i++) {
        CopyDim dim = copy->dims[i];
        int k = i;
        for (; k > 0 && llabs(copy->dims[k - 1].to_step) < llabs(dim.to_step); k--) copy->dims[k] = copy->dims[k - 1];
        copy->dims[k] = dim;
    }
    for (int i = 0; i < copy->outer; i++) {
        CopyDim dim = copy->dims[i], *last = copy->dims + (made ? made - 1 : 0);
        if (made && last->from_step == dim.size * dim.from_step && last->to_step == dim.size * dim.to_step) {
            last->size *= dim.size;
            last->from_step = dim.from_step;
            last->to_step = dim.to_step;
        } else {
            copy->dims[made++] = dim;
        }
    }
    copy->outer = made;
}

static CopyDim take_dim(Copy *copy, int place)
{
    CopyDim none = {1, 0, 0};
    if (place < 0) return none;
    CopyDim dim = copy->dims[place];
    memmove(copy->dims + place, copy->dims + place + 1, (--copy->outer - place) * sizeof dim);
    return dim;
}

static void plan_copy(Copy *copy, int ndim, const npy_intp *shape, const npy_intp *from_steps, const npy_intp *to_steps)
{
    copy->outer = 0;
    for (int i = 0; i < ndim; i++) {
        CopyDim dim = {shape[i], from_steps[i], to_steps[i]};
        if (dim.size != 1) copy->dims[copy->outer++] = dim;
    }
    order_copy(copy);
    copy->line = take_dim(copy, copy->outer - 1);
    copy->crossed = 0;
    int neighbour = copy->outer - 1;
    if (copy->line.to_step == copy->item && copy->line.from_step != copy->item && copy->line.size >= SQUARE) {
        for (int i = 0; i < copy->outer; i++) {
            if (copy->dims[i].from_step == copy->item) {
                neighbour = i;
                copy->crossed = 1;
            }
        }
    }
    copy->row = take_dim(copy, neighbour);
    if (!copy->crossed && copy->line.size < SQUARE && copy->row.size > copy->line.size) { /* long lines are faster */
        CopyDim row = copy->row;
        copy->row = copy->line;
        copy->line = row;
    }
    if (!copy->crossed && copy->row.size == 1 && copy->line.size * copy->item > 2 * LINE) { /* parts of one long line */
        CopyDim line = copy->line;
        npy_intp length = LINE / copy->item;
        copy->row = (CopyDim){(line.size + length - 1) / length, line.from_step * length, line.to_step * length};
    }
    copy->woven = !copy->crossed && copy->row.size >= 2 && copy->row.size <= MOST_WOVEN &&
                  copy->line.from_step == copy->item && copy->row.to_step == copy->item &&
                  copy->line.to_step == copy->row.size * copy->item && copy->row.from_step % copy->item == 0;
    npy_intp bytes = copy->line.size * copy->item;
    copy->lines = copy->crossed ? SQUARE * SQUARES : bytes >= LINE ? 1 : LINE / (bytes ? bytes : 1);
    copy->per_row = (copy->row.size + copy->lines - 1) / copy->lines;
    if (copy->woven) { /* all rows, and so much of the line */
        copy->lines = LINE / (copy->item * copy->row.size);
        copy->per_row = (copy->line.size + copy->lines - 1) / copy->lines;
    }
    copy->units = copy->per_row;
    for (int i = 0; i < copy->outer; i++) copy->units *= copy->dims[i].size;
}

/* The next squares are on their way while these are turned: the processor does not guess steps as wide as a row. */
static void fetch_ahead(const Copy *copy, const char *from, npy_intp rows, npy_intp lines)
{
#if defined(__GNUC__)
    for (int line = 0; line < SQUARE && line < lines; line++, from += copy->line.from_step) {
        for (npy_intp byte = 0; byte < rows * copy->item; byte += 64) __builtin_prefetch(from + byte);
    }
#endif
}

static void copy_crossed(const Copy *copy, const char *from, char *to, npy_intp rows)
{
    copy_function line = BY_ITEM(line, copy->item), square = BY_ITEM(square, copy->item);
    npy_intp i = 0, step = copy->line.from_step, across = copy->row.to_step;
    for (; i + SQUARE <= copy->line.size; i += SQUARE) {
        fetch_ahead(copy, from + (i + SQUARE) * step, rows, copy->line.size - i - SQUARE);
        for (npy_intp row = 0; row < rows; row += SQUARE) {
            square(from + i * step + row * copy->item, step, to + i * copy->item + row * across, across,
                   rows - row < SQUARE ? rows - row : SQUARE);
        }
    }
    for (npy_intp row = 0; row < rows; row++) {
        line(from + i * step + row * copy->item, step, to + i * copy->item + row * across, copy->item,
             copy->line.size - i);
    }
}

static void copy_units(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const Copy *copy = context;
    copy_function line = BY_ITEM(line, copy->item);
    npy_intp length = LINE / copy->item;
    int split = copy->row.size > 1 && copy->row.to_step == copy->line.to_step * length && copy->line.size > 2 * length;
    for (ptrdiff_t unit = first; unit < last; unit++) {
        npy_intp start = unit % copy->per_row * copy->lines, rest = unit / copy->per_row;
        const CopyDim *parted = copy->woven ? &copy->line : &copy->row;
        npy_intp rows = parted->size - start < copy->lines ? parted->size - start : copy->lines;
        const char *from = copy->from + start * parted->from_step;
        char *to = copy->to + start * parted->to_step;
        for (int i = copy->outer - 1; i >= 0; i--) {
            npy_intp place = rest % copy->dims[i].size;
            rest /= copy->dims[i].size;
            from += place * copy->dims[i].from_step;
            to += place * copy->dims[i].to_step;
        }
        if (copy->crossed) {
            copy_crossed(copy, from, to, rows);
            continue;
        }
        if (copy->woven) {
            BY_ITEM(weave, copy->item)(from, copy->row.from_step, to, copy->row.size, rows);
            continue;
        }
        for (npy_intp row = 0; row < rows; row++) {
            npy_intp count = copy->line.size;
            if (split) count = count - (start + row) * length < length ? count - (start + row) * length : length;
            line(from + row * copy->row.from_step, copy->line.from_step, to + row * copy->row.to_step,
                 copy->line.to_step, count);
        }
    }
}

/* Copy `from` to `to`, which have one shape; the interpreter lock is held. Steps are in bytes. */
static void copy_elements(const char *from, const npy_intp *from_steps, char *to, const npy_intp *to_steps, int ndim,
                          const npy_intp *shape, npy_intp item)
{
    Copy copy = {.from = from, .to = to, .item = item};
    npy_intp bytes = item;
    for (int i = 0; i < ndim; i++) bytes *= shape[i];
    if (bytes == 0) return;
    plan_copy(&copy, ndim, shape, from_steps, to_steps);
    if (bytes < LET_OTHERS_RUN) {
        copy_units(&copy, 0, copy.units);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (bytes < SPLIT_FROM || copy.units == 1) {
        copy_units(&copy, 0, copy.units);
    } else {
        pool_run(copy_units, &copy, copy.units, bytes / copy.units, bytes >= LONG_COPY);
    }
    Py_END_ALLOW_THREADS
}

#endif
