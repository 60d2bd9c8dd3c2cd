/* Fourier transforms of lines of numbers, several lines side by side.

   The same element of 16 lines (8 in double precision) is one vector, so that every step of a transform is the same few
   instructions for all of them, whatever its length: lines are taken into such lanes, transformed pass by pass between
   two buffers that stay in the cache, and put where they belong. Two lines of real numbers are the two parts of one
   complex line.

   One long line has lanes too. With n = a b, its elements i b + l are b lines of length a, beside each other in memory;
   their transforms, times w^(e l) where w is the n-th root of one, are a lines of length b, and those transformed are
   the elements e + a k of the result. Of real numbers half of these a lines say all.

   The inverse is the same on numbers whose parts have changed places, when taken and when put. */
#ifndef LEAFGRAD_FOURIER_H
#define LEAFGRAD_FOURIER_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"
#include "vectors.h"

#define MOST_PASSES 64
#define LARGEST_PRIME 293 /* of larger ones a transform takes too many steps, one for each pair of elements */
#define LONELY_PRIME 127  /* and of these, if most lanes are empty */
#define MOST_AXES 32
#define LONG_LINE 2048 /* from here on the buffers of 16 lines would be larger than a core's cache */

/* How a length is transformed: in passes, or as a x b. Kept for the next time. */
typedef struct Plan {
    struct Plan *next;
    ptrdiff_t n, bytes;
    int passes, radix[MOST_PASSES];
    int users; /* calls that run, and plans that have it as a part */
    int split;
    struct Plan *first, *second; /* of the lengths a and b */
    void *factors;               /* those of the passes, or w^(e l) as a x b */
} Plan;

typedef enum { COMPLEX, REALS, HALVES } Kind;

/* Lines to be transformed. Distances are counted in real numbers. */
typedef struct {
    const Plan *plan;
    const void *from;
    void *to;
    ptrdiff_t from_step, to_step; /* from an element to the next */
    ptrdiff_t lines, axes;        /* where lines begin: one for each element of these axes, the last the fastest */
    ptrdiff_t size[MOST_AXES], from_steps[MOST_AXES], to_steps[MOST_AXES];
    Kind takes, puts;
    int swaps_taken, swaps_put;
    double scale;
    const void *factors;    /* element e of line l of the result is multiplied with factors[e * lines_of_factors + l] */
    ptrdiff_t factors_row;
    ptrdiff_t whole; /* not 0: these lines are parts of one that is symmetric, of which the first half is in memory */
    int mirrors_taken, mirrors_put;
    atomic_int failed;
} Lines;

/* exp(-2 pi i t / n) for 0 <= t <= n. The angle is folded into the first eighth of a turn, where it is most exact. */
static void root_of_one(ptrdiff_t t, ptrdiff_t n, double *re, double *im)
{
    ptrdiff_t at = 8 * t;
    int conjugate = at > 4 * n;
    if (conjugate) at = 8 * n - at;
    int opposite = at > 2 * n;
    if (opposite) at = 4 * n - at;
    int swapped = at > n;
    if (swapped) at = 2 * n - at;
    double angle = 3.14159265358979323846 / 4 * (double)at / (double)n, c = cos(angle), s = sin(angle);
    *re = swapped ? s : c;
    *im = swapped ? c : s;
    if (opposite) *re = -*re;
    if (!conjugate) *im = -*im;
}

/* The divisors next to the square root, the smaller one; 1 for a prime number. */
static ptrdiff_t split_of(ptrdiff_t n)
{
    ptrdiff_t found = 1;
    for (ptrdiff_t a = 2; a * a <= n; a++) {
        if (n % a == 0) found = a;
    }
    return found;
}

static int find_passes(Plan *plan)
{
    ptrdiff_t rest = plan->n;
    static const int preferred[] = {4, 2, 3, 5};
    for (int i = 0; i < 4; i++) {
        for (; rest % preferred[i] == 0; rest /= preferred[i]) plan->radix[plan->passes++] = preferred[i];
    }
    for (int r = 7; r <= LARGEST_PRIME; r += 2) {
        for (; rest % r == 0; rest /= r) plan->radix[plan->passes++] = r;
    }
    return rest == 1;
}

static void run_lines(pool_work work, Lines *lines, ptrdiff_t groups, ptrdiff_t bytes)
{
    if (groups < 2 || groups * bytes < (1 << 18)) {
        work(lines, 0, groups);
    } else {
        pool_run(work, lines, groups, bytes, groups * bytes >= (1 << 22));
    }
}

#endif
