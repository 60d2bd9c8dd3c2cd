/* How a reduction over any dimensions is divided into calls of the loops in reduction_loops.h: see _reductions.c. */
#ifndef LEAFGRAD_REDUCTION_PLAN_H
#define LEAFGRAD_REDUCTION_PLAN_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "half_numbers.h"
#include "moment_loops.h"
#include "pool.h"
#include "reduction_loops.h"

#define LET_OTHERS_RUN 16384 /* elements: from here on the interpreter lock is let go, */
#define SPLIT_FROM 65536     /* helpers begin to pay, */
#define LONG 1048576         /* and are worth being woken */
#define PIECE 16384          /* elements in one call of a loop, about */
#define SOME_UNITS 64        /* calls whose results are joined one after the other */
#define FEW_TILES 8
#define MORE_TILES 16 /* instead of these, where rows are reduced */
#define CHUNKS 32 /* of all tiles together: each has results that one thread joins in the end */
#define WIDENED 4096 /* numbers of 16 bits that are in float32 at once */

/* -- the reductions ------------------------------------------------------------------------------------------------ */

enum { FLOAT32, FLOAT64, INT64, BOOL, KINDS };
static PyArray_Descr *kinds[KINDS];
static const int type_numbers[KINDS] = {NPY_FLOAT, NPY_DOUBLE, NPY_INT64, NPY_BOOL};
static const npy_intp item_sizes[KINDS] = {4, 8, 8, 1};

typedef struct {
    void (*begin)(void *results, ptrdiff_t count);
    void (*join)(void *results, const void *others, ptrdiff_t count);
    reduction_loop along, across, apart;
} Loops;

#define LOOPS(name) {name##_begin, name##_join, name##_along, name##_across, name##_apart}
#define MOMENTS(name)                                                                                                  \
    {moments_begin, moments_join, moments_##name##_along, moments_##name##_across, moments_##name##_apart}

/* what becomes of the partial results */
typedef enum { ITSELF, MEAN, ROOT, COUNT, ANY, ALL, VARIANCE, DEVIATION } Ending;

typedef struct {
    const char *name;
    Ending ending;
    int repeats; /* is a number that occurs n times worth n times as much? Otherwise it is worth the same */
    Loops loops[KINDS];
    Loops halves[2]; /* of float16 and bfloat16 as they are, for the most frequent: twice as fast */
} Method;

typedef union {
    double real;
    int64_t whole;
} Result;

/* -- the plan ------------------------------------------------------------------------------------------------------ */

typedef struct {
    npy_intp size, step, out_step; /* steps in bytes; a reduced dimension has no out_step */
} Dim;

typedef struct {
    const Method *method;
    const Loops *loops;
    reduction_loop loop;
    int kind;
    npy_intp size;                /* of an element */
    Widen widen;                  /* NULL, or for numbers of 16 bits, which are reduced in float32: there */
    Narrow narrow;                /* and back */
    char *data, *out;
    int outer, folds;             /* how many other dimensions are kept, and are reduced */
    Dim kept[NPY_MAXDIMS], reduced[NPY_MAXDIMS];
    Dim row, run;                 /* those that the loop gets */
    npy_intp group;               /* so many rows are taken as one, where a row is short and they lie without gaps */
    npy_intp spread;              /* 0, or numbers side by side that are reduced across first, and then to one */
    npy_intp block, blocks, tiles; /* results of a tile; tiles for each position of the kept dimensions, and in all */
    npy_intp piece, pieces, units; /* elements of `run` in a call of the loop; calls for it; for all that is reduced */
    npy_intp chunk, chunks;       /* units that one thread takes at once; how many of these there are */
    npy_intp width;               /* results of a tile in partials */
    Result *partials;
    double count, correction;     /* elements that become one; what is subtracted from it for a variance */
    npy_intp repeated;            /* how often each occurs, in dimensions that repeat them */
} Plan;

/* In the order of their steps, the largest first, and those that continue each other made one. */
static int arrange(Dim *dims, int count)
{
    for (int i = 1; i < count; i++) {
        Dim dim = dims[i];
        int k = i;
        for (; k > 0 && llabs(dims[k - 1].step) < llabs(dim.step); k--) dims[k] = dims[k - 1];
        dims[k] = dim;
    }
    int made = 0;
    for (int i = 0; i < count; i++) {
        Dim *last = &dims[made - 1];
        if (made && last->step == dims[i].size * dims[i].step && last->out_step == dims[i].size * dims[i].out_step) {
            last->size *= dims[i].size;
            last->step = dims[i].step;
            last->out_step = dims[i].out_step;
        } else {
            dims[made++] = dims[i];
        }
    }
    return made;
}

static npy_intp offset_of(const Dim *dims, int count, npy_intp number, int of_out)
{
    npy_intp offset = 0;
    for (int i = count - 1; i >= 0; i--) {
        npy_intp place = i ? number % dims[i].size : number;
        offset += place * (of_out ? dims[i].out_step : dims[i].step);
        number /= dims[i].size;
    }
    return offset;
}

/* The finest of the dimensions, and how many are left. */
static Dim take_finest(Dim *dims, int *count)
{
    Dim none = {1, 0, 0};
    return *count ? dims[--*count] : none;
}

static void choose_loop(Plan *plan)
{
    npy_intp size = plan->size;
    plan->row = take_finest(plan->kept, &plan->outer);
    plan->run = take_finest(plan->reduced, &plan->folds);
    plan->spread = 0;
    if (plan->row.size == 1 && plan->run.step == size && plan->run.size < LANES && plan->folds) {
        plan->spread = plan->run.size;
        plan->run = take_finest(plan->reduced, &plan->folds);
        plan->group = 1;
        plan->piece = PIECE / plan->spread;
        return;
    }
    npy_intp rows = plan->row.size < BLOCK ? plan->row.size : BLOCK;
    plan->group = 1;
    plan->piece = PIECE / rows > ROWS ? PIECE / rows : ROWS;
    int windows = plan->row.step == size && plan->row.size > plan->run.size; /* that overlap: numbers side by side both ways */
    if (plan->run.step == size && plan->run.size > 1 && !windows) {
        plan->loop = plan->loops->along;
        plan->piece = PIECE;
    } else if (plan->row.step == size || plan->row.size == 1) {
        plan->loop = plan->row.size == 1 && plan->run.size > 1 ? plan->loops->apart : plan->loops->across;
        if (plan->loop == plan->loops->across && plan->run.step == rows * size && 2 * rows <= BLOCK) {
            plan->group = BLOCK / rows;
        }
    } else {
        plan->loop = plan->loops->apart;
    }
}

static void share(Plan *plan, npy_intp total)
{
    npy_intp folds = 1, outer = 1;
    for (int i = 0; i < plan->folds; i++) folds *= plan->reduced[i].size;
    for (int i = 0; i < plan->outer; i++) outer *= plan->kept[i].size;
    plan->pieces = (plan->run.size + plan->piece - 1) / plan->piece;
    plan->units = folds * plan->pieces;
    plan->block = BLOCK;
    int rows = !plan->spread && plan->loop == plan->loops->along && plan->run.size >= SHORT;
    if (rows && total >= SPLIT_FROM && plan->units == 1 && outer == 1 && plan->row.size < FEW_TILES * BLOCK) {
        plan->block = (plan->row.size + MORE_TILES - 1) / MORE_TILES; /* so few rows would be one thread's work */
    }
    plan->blocks = (plan->row.size + plan->block - 1) / plan->block;
    plan->tiles = outer * plan->blocks;
    plan->chunk = plan->units;
    if (total >= SPLIT_FROM && plan->tiles < FEW_TILES && plan->units > 1) {
        plan->chunk = (plan->units * plan->tiles + CHUNKS - 1) / CHUNKS;
    }
    plan->chunks = (plan->units + plan->chunk - 1) / plan->chunk;
    plan->width = plan->loops->begin == moments_begin ? 3 * BLOCK : BLOCK;
}

/* -- running it ---------------------------------------------------------------------------------------------------- */

/* Rows of numbers of 16 bits, whose elements lie `step` apart, side by side in float32. */
static void widen_rows(
    const Plan *plan, const char *from, npy_intp rows, npy_intp row_step, npy_intp count, npy_intp step, uint32_t *wide)
{
    uint16_t near[WIDENED];
    for (npy_intp row = 0; row < rows; row++, from += row_step, wide += count) {
        if (step == plan->size) {
            plan->widen((const uint16_t *)from, wide, count);
            continue;
        }
        for (npy_intp i = 0; i < count; i++) near[i] = *(const uint16_t *)(from + i * step);
        plan->widen(near, wide, count);
    }
}

/* One call of a loop; several for numbers of 16 bits, as many at a time as are widened at once. */
static void reduce_numbers(const Plan *plan, reduction_loop loop, const char *from, npy_intp kept, npy_intp kept_step,
                           npy_intp reduced, npy_intp step, Result *results)
{
    if (plan->widen == NULL) {
        loop(from, kept, kept_step, reduced, step, results);
        return;
    }
    uint32_t wide[WIDENED];
    const char *numbers = (const char *)wide;
    int across = loop == plan->loops->across;
    npy_intp rows = across ? reduced : kept, row_step = across ? step : kept_step;
    npy_intp length = across ? kept : reduced, apart = across ? plan->size : step;
    for (npy_intp start = 0; start < length; start += WIDENED) {
        npy_intp count = length - start < WIDENED ? length - start : WIDENED, most = WIDENED / count;
        for (npy_intp row = 0; row < rows; row += most) {
            npy_intp some = rows - row < most ? rows - row : most, size = sizeof(float);
            widen_rows(plan, from + row * row_step + start * apart, some, row_step, count, apart, wide);
            if (across) {
                loop(numbers, count, size, some, count * size, results);
            } else {
                plan->loops->along(numbers, some, count * size, count, size, results + row);
            }
        }
    }
}

/* Rows of few numbers, without gaps between them, as fewer rows of many. */
static void reduce_groups(const Plan *plan, const char *from, npy_intp rows, npy_intp count, Result *results)
{
    Result wide[3 * BLOCK];
    npy_intp whole = rows / plan->group, step = plan->run.step;
    if (whole > 1) {
        npy_intp columns = plan->group * count;
        plan->loops->begin(wide, columns);
        reduce_numbers(plan, plan->loops->across, from, columns, 0, whole, plan->group * step, wide);
        for (npy_intp k = 0; k < columns; k += count) plan->loops->join(results, wide + k, count);
        from += whole * plan->group * step;
        rows -= whole * plan->group;
    }
    reduce_numbers(plan, plan->loops->across, from, count, 0, rows, step, results);
}

/* Short rows all of which become one number. */
static void reduce_spread(const Plan *plan, const char *from, npy_intp rows, Result *results)
{
    Result wide[3 * BLOCK];
    plan->loops->begin(wide, plan->spread);
    reduce_numbers(plan, plan->loops->across, from, plan->spread, 0, rows, plan->run.step, wide);
    for (npy_intp k = 0; k < plan->spread; k++) plan->loops->join(results, wide + k, 1);
}

static npy_intp tile_size(const Plan *plan, npy_intp tile)
{
    npy_intp rest = plan->row.size - tile % plan->blocks * plan->block;
    return rest < plan->block ? rest : plan->block;
}

static void reduce_chunk(const Plan *plan, npy_intp tile, npy_intp chunk, Result *results)
{
    npy_intp count = tile_size(plan, tile), last = (chunk + 1) * plan->chunk;
    const char *data = plan->data + offset_of(plan->kept, plan->outer, tile / plan->blocks, 0) +
                       tile % plan->blocks * plan->block * plan->row.step;
    Result few[3 * BLOCK]; /* of some units: many would lose digits if they went into one sum, one after the other */
    Result *sum = plan->chunk > SOME_UNITS ? few : results;
    plan->loops->begin(results, count);
    plan->loops->begin(sum, count);
    for (npy_intp unit = chunk * plan->chunk; unit < last && unit < plan->units; unit++) {
        npy_intp start = unit % plan->pieces * plan->piece;
        npy_intp length = plan->run.size - start < plan->piece ? plan->run.size - start : plan->piece;
        npy_intp fold = offset_of(plan->reduced, plan->folds, unit / plan->pieces, 0);
        const char *from = data + fold + start * plan->run.step;
        if (plan->spread) {
            reduce_spread(plan, from, length, sum);
        } else if (plan->group > 1) {
            reduce_groups(plan, from, length, count, sum);
        } else {
            reduce_numbers(plan, plan->loop, from, count, plan->row.step, length, plan->run.step, sum);
        }
        if (sum == few && unit % SOME_UNITS == 0) {
            plan->loops->join(results, sum, count);
            plan->loops->begin(sum, count);
        }
    }
    if (sum == few) plan->loops->join(results, sum, count);
}

static double ended(const Plan *plan, const Result *result)
{
    double times = (double)plan->repeated, freedom = plan->count - plan->correction;
    switch (plan->method->ending) {
    case MEAN: return result->real * times / plan->count;
    case ROOT: return sqrt(result->real * times);
    case VARIANCE: return result[BLOCK].real / (freedom > 0 ? freedom : 0);
    case DEVIATION: return sqrt(result[BLOCK].real / (freedom > 0 ? freedom : 0));
    default: return plan->repeated == 1 ? result->real : result->real * times;
    }
}

/* The usual ones: results side by side, each the number itself or a mean. */
#define DEFINE_WRITTEN(kind, T)                                                                                        \
    VECTORISED static void written_##kind(const Result *results, ptrdiff_t count, double times, double among, T *out)  \
    {                                                                                                                  \
        if (times == 1 && among == 1) {                                                                                \
            SIMD for (ptrdiff_t k = 0; k < count; k++) out[k] = (T)results[k].real;                                    \
            return;                                                                                                    \
        }                                                                                                              \
        SIMD for (ptrdiff_t k = 0; k < count; k++) out[k] = (T)(results[k].real * times / among);                      \
    }
DEFINE_WRITTEN(f32, float)
DEFINE_WRITTEN(f64, double)

static void finish_halves(const Plan *plan, const Result *results, npy_intp count, char *out, npy_intp step)
{
    uint32_t values[BLOCK] = {0};
    uint16_t halves[BLOCK];
    for (npy_intp k = 0; k < count; k++) values[k] = bits_of((float)ended(plan, results + k));
    plan->narrow(values, halves, count);
    for (npy_intp k = 0; k < count; k++) *(uint16_t *)(out + k * step) = halves[k];
}

static void finish_tile(const Plan *plan, npy_intp tile, const Result *results)
{
    npy_intp count = tile_size(plan, tile), step = plan->row.out_step;
    npy_intp outer = offset_of(plan->kept, plan->outer, tile / plan->blocks, 1);
    char *out = plan->out + outer + tile % plan->blocks * plan->block * step;
    Ending ending = plan->method->ending;
    int truth = ending == COUNT || ending == ANY || ending == ALL;
    if (plan->narrow && !truth) {
        finish_halves(plan, results, count, out, step);
        return;
    }
    if ((ending == ITSELF || ending == MEAN) && plan->kind <= FLOAT64 && step == item_sizes[plan->kind]) {
        double times = (double)plan->repeated, among = ending == MEAN ? plan->count : 1;
        if (plan->kind == FLOAT32) {
            written_f32(results, count, times, among, (float *)out);
        } else {
            written_f64(results, count, times, among, (double *)out);
        }
        return;
    }
    for (npy_intp k = 0; k < count; k++, out += step) {
        if (ending == ANY) {
            *(npy_bool *)out = results[k].whole != 0;
        } else if (ending == ALL) {
            *(npy_bool *)out = (double)results[k].whole * plan->repeated == plan->count;
        } else if (ending == COUNT || plan->kind == INT64 || plan->kind == BOOL) {
            *(uint64_t *)out = (uint64_t)results[k].whole * (uint64_t)plan->repeated;
        } else if (plan->kind == FLOAT32) {
            *(float *)out = (float)ended(plan, results + k);
        } else {
            *(double *)out = ended(plan, results + k);
        }
    }
}

static void reduce_tasks(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Plan *plan = context;
    Result results[3 * BLOCK];
    for (ptrdiff_t task = from; task < to; task++) {
        npy_intp tile = task % plan->tiles, chunk = task / plan->tiles; /* tiles side by side, which are on their way */
        Result *place = plan->partials ? plan->partials + (tile * plan->chunks + chunk) * plan->width : results;
        reduce_chunk(plan, tile, chunk, place);
        if (!plan->partials) finish_tile(plan, tile, results);
    }
}

static void join_chunks(const Plan *plan)
{
    for (npy_intp tile = 0; tile < plan->tiles; tile++) {
        Result *first = plan->partials + tile * plan->chunks * plan->width;
        for (npy_intp chunk = 1; chunk < plan->chunks; chunk++) {
            plan->loops->join(first, first + chunk * plan->width, tile_size(plan, tile));
        }
        finish_tile(plan, tile, first);
    }
}

/* Returns -1 where there is no memory. */
static int run(Plan *plan, npy_intp total)
{
    npy_intp tasks = plan->tiles * plan->chunks;
    plan->partials = NULL;
    if (plan->chunks > 1) {
        plan->partials = malloc(tasks * plan->width * sizeof(Result));
        if (plan->partials == NULL) return -1;
    }
    if (total < LET_OTHERS_RUN) {
        reduce_tasks(plan, 0, tasks);
    } else {
        Py_BEGIN_ALLOW_THREADS
        if (total < SPLIT_FROM || tasks == 1) {
            reduce_tasks(plan, 0, tasks);
        } else {
            pool_run(reduce_tasks, plan, tasks, total / tasks * plan->size, total >= LONG);
        }
        Py_END_ALLOW_THREADS
    }
    if (plan->partials) {
        join_chunks(plan);
        free(plan->partials);
    }
    return 0;
}

#endif
