/* Groups of lines: taken into lanes, transformed, and put where they belong. Included for each kind of number. */

/* Where line `line` begins. */
static void NAME(begin_of)(const Lines *lines, ptrdiff_t line, ptrdiff_t *from, ptrdiff_t *to)
{
    *from = *to = 0;
    for (ptrdiff_t i = lines->axes - 1; i >= 0; i--) {
        ptrdiff_t place = line % lines->size[i];
        line /= lines->size[i];
        *from += place * lines->from_steps[i];
        *to += place * lines->to_steps[i];
    }
}

/* The begins of the lines of a vector. Lanes beyond the last line have its numbers. */
static void NAME(begins_of)(const Lines *lines, ptrdiff_t line, ptrdiff_t *from, ptrdiff_t *to)
{
    for (ptrdiff_t l = 0; l < WIDTH; l++) {
        NAME(begin_of)(lines, line + l < lines->lines ? line + l : lines->lines - 1, from + l, to + l);
    }
}

static int NAME(are_beside)(const ptrdiff_t *begins, ptrdiff_t step)
{
    for (ptrdiff_t l = 1; l < WIDTH; l++) {
        if (begins[l] != begins[0] + l * step) return 0;
    }
    return 1;
}

#define RE_OF(lanes, i) ((REAL *)&(lanes)[i].re)
#define IM_OF(lanes, i) ((REAL *)&(lanes)[i].im)
#define FEW 8 /* elements of a line that are moved before those of the next: they have their places in the cache */

/* -- taken --------------------------------------------------------------------------------------------------------- */

/* The lines are parts of one whose second half is not there: it is the conjugate of the first, from the end on. */
static void NAME(take_mirrored)(const Lines *lines, ptrdiff_t line, const ptrdiff_t *begins, ptrdiff_t count, LANES_OF *x)
{
    ptrdiff_t whole = lines->whole, unit = lines->from_steps[lines->axes - 1], apart = lines->from_step / unit;
    for (ptrdiff_t i = 0; i < count; i++) {
        for (ptrdiff_t l = 0; l < WIDTH; l++) {
            ptrdiff_t number = line + l < lines->lines ? line + l : lines->lines - 1, place = number + i * apart;
            const REAL *at = (const REAL *)lines->from + begins[l] + i * lines->from_step;
            REAL sign = place == 0 || 2 * place == whole ? 0 : 1; /* these are real numbers */
            if (2 * place > whole) {
                at += (whole - 2 * place) * unit;
                sign = -1;
            }
            IM_OF(x, i)[l] = at[0]; /* only the inverse begins like this */
            RE_OF(x, i)[l] = sign * at[1];
        }
    }
}

VECTORISED static void NAME(take_complex)(const Lines *lines, ptrdiff_t line, const ptrdiff_t *begins, ptrdiff_t count,
                                          LANES_OF *x)
{
    const REAL *from = lines->from;
    ptrdiff_t step = lines->from_step, re = lines->swaps_taken, im = !re;
    if (lines->mirrors_taken) {
        NAME(take_mirrored)(lines, line, begins, count, x);
    } else if (NAME(are_beside)(begins, 2)) {
        for (ptrdiff_t i = 0; i < count; i++) {
            const REAL *at = from + begins[0] + i * step;
            REAL even[WIDTH], odd[WIDTH];
            for (ptrdiff_t l = 0; l < WIDTH; l++) {
                even[l] = at[2 * l];
                odd[l] = at[2 * l + 1];
            }
            memcpy(re ? &x[i].im : &x[i].re, even, sizeof even);
            memcpy(re ? &x[i].re : &x[i].im, odd, sizeof odd);
        }
    } else {
        for (ptrdiff_t i = 0; i < count; i += FEW) {
            for (ptrdiff_t l = 0; l < WIDTH; l++) {
                for (ptrdiff_t j = i; j < i + FEW && j < count; j++) {
                    const REAL *at = from + begins[l] + j * step;
                    RE_OF(x, j)[l] = at[re];
                    IM_OF(x, j)[l] = at[im];
                }
            }
        }
    }
}

/* Real numbers as one of the parts. */
VECTORISED static void NAME(take_real)(const Lines *lines, const ptrdiff_t *begins, ptrdiff_t count, int part, LANES_OF *x)
{
    const REAL *from = lines->from;
    ptrdiff_t step = lines->from_step;
    VECTOR *to = part ? &x->im : &x->re;
    if (NAME(are_beside)(begins, 1)) {
        for (ptrdiff_t i = 0; i < count; i++) memcpy(&to[2 * i], from + begins[0] + i * step, sizeof(VECTOR));
        return;
    }
    for (ptrdiff_t i = 0; i < count; i += FEW) {
        for (ptrdiff_t l = 0; l < WIDTH; l++) {
            for (ptrdiff_t j = i; j < i + FEW && j < count; j++) ((REAL *)&to[2 * j])[l] = from[begins[l] + j * step];
        }
    }
}

/* Two symmetric lines, of which the first halves are in `halves`, one after the other, become one: a + i b. Their parts
   have changed places already, as for an inverse: b + i a. */
VECTORISED static void NAME(join_halves)(const LANES_OF *halves, ptrdiff_t n, LANES_OF *x)
{
    ptrdiff_t half = n / 2 + 1;
    for (ptrdiff_t k = 0; k < half; k++) {
        LANES_OF a = halves[k], b = halves[half + k];
        if (k == 0 || 2 * k == n) a.re = b.re = (VECTOR){0}; /* these are real numbers */
        x[k] = (LANES_OF){a.re + b.im, a.im - b.re};
        if (k && 2 * k != n) x[n - k] = (LANES_OF){b.im - a.re, a.im + b.re};
    }
}

/* -- put ----------------------------------------------------------------------------------------------------------- */

/* The transforms of two lines of real numbers, of which `x` is that of a + i b: their first halves, one after the other. */
VECTORISED static void NAME(separate)(const LANES_OF *x, ptrdiff_t n, LANES_OF *halves)
{
    ptrdiff_t half = n / 2 + 1;
    for (ptrdiff_t k = 0; k < half; k++) {
        LANES_OF here = x[k], there = x[k ? n - k : 0];
        halves[k] = (LANES_OF){(here.re + there.re) * (REAL)0.5, (here.im - there.im) * (REAL)0.5};
        halves[half + k] = (LANES_OF){(here.im + there.im) * (REAL)0.5, (there.re - here.re) * (REAL)0.5};
    }
}

VECTORISED static void NAME(multiply)(const Lines *lines, ptrdiff_t line, ptrdiff_t count, LANES_OF *x)
{
    const REAL *factors = (const REAL *)lines->factors + 2 * line;
    for (ptrdiff_t i = 0; i < count; i++, factors += 2 * lines->factors_row) {
        REAL re[WIDTH], im[WIDTH];
        for (ptrdiff_t l = 0; l < WIDTH; l++) {
            re[l] = factors[2 * l];
            im[l] = factors[2 * l + 1];
        }
        VECTOR c, s;
        memcpy(&c, re, sizeof c);
        memcpy(&s, im, sizeof s);
        x[i] = (LANES_OF){x[i].re * c - x[i].im * s, x[i].re * s + x[i].im * c};
    }
}

/* Elements beyond the half of the whole line go to their mirror images. */
static void NAME(put_mirrored)(const Lines *lines, ptrdiff_t line, const ptrdiff_t *begins, ptrdiff_t valid,
                               ptrdiff_t count, const LANES_OF *x)
{
    ptrdiff_t whole = lines->whole, unit = lines->to_steps[lines->axes - 1], apart = lines->to_step / unit;
    REAL scale = (REAL)lines->scale;
    for (ptrdiff_t i = 0; i < count; i++) {
        for (ptrdiff_t l = 0; l < valid; l++) {
            ptrdiff_t place = line + l + i * apart;
            int beyond = 2 * place > whole;
            REAL *at = (REAL *)lines->to + begins[l] + i * lines->to_step + (beyond ? (whole - 2 * place) * unit : 0);
            at[0] = RE_OF(x, i)[l] * scale;
            at[1] = (beyond ? -IM_OF(x, i)[l] : IM_OF(x, i)[l]) * scale;
            if (place == 0 || 2 * place == whole) at[1] = 0; /* exactly: these are sums of real numbers */
        }
    }
}

VECTORISED static void NAME(put_complex)(const Lines *lines, ptrdiff_t line, const ptrdiff_t *begins, ptrdiff_t count,
                                         LANES_OF *x)
{
    REAL *to = lines->to, scale = (REAL)lines->scale;
    ptrdiff_t step = lines->to_step, left = lines->lines - line, valid = left < WIDTH ? left : WIDTH;
    ptrdiff_t re = lines->swaps_put, im = !re;
    if (valid <= 0) return;
    if (lines->factors != NULL) NAME(multiply)(lines, line, count, x);
    if (lines->mirrors_put) {
        NAME(put_mirrored)(lines, line, begins, valid, count, x);
    } else if (valid == WIDTH && NAME(are_beside)(begins, 2)) {
        for (ptrdiff_t i = 0; i < count; i++) {
            REAL *at = to + begins[0] + i * step;
            VECTOR even = (re ? x[i].im : x[i].re) * scale, odd = (re ? x[i].re : x[i].im) * scale;
            for (ptrdiff_t l = 0; l < WIDTH; l++) {
                at[2 * l] = even[l];
                at[2 * l + 1] = odd[l];
            }
        }
    } else {
        for (ptrdiff_t i = 0; i < count; i += FEW) {
            for (ptrdiff_t l = 0; l < valid; l++) {
                for (ptrdiff_t j = i; j < i + FEW && j < count; j++) {
                    REAL *at = to + begins[l] + j * step;
                    at[re] = RE_OF(x, j)[l] * scale;
                    at[im] = IM_OF(x, j)[l] * scale;
                }
            }
        }
    }
}

/* One of the parts as real numbers. */
VECTORISED static void NAME(put_real)(const Lines *lines, ptrdiff_t line, const ptrdiff_t *begins, ptrdiff_t count,
                                      int part, const LANES_OF *x)
{
    REAL *to = lines->to, scale = (REAL)lines->scale;
    ptrdiff_t step = lines->to_step, left = lines->lines - line, valid = left < WIDTH ? left : WIDTH;
    const VECTOR *from = part ? &x->im : &x->re;
    if (valid == WIDTH && NAME(are_beside)(begins, 1)) {
        for (ptrdiff_t i = 0; i < count; i++) {
            VECTOR scaled = from[2 * i] * scale;
            memcpy(to + begins[0] + i * step, &scaled, sizeof scaled);
        }
        return;
    }
    for (ptrdiff_t i = 0; i < count; i += FEW) {
        for (ptrdiff_t l = 0; l < valid; l++) {
            for (ptrdiff_t j = i; j < i + FEW && j < count; j++) {
                to[begins[l] + j * step] = ((const REAL *)&from[2 * j])[l] * scale;
            }
        }
    }
}

/* -- both ---------------------------------------------------------------------------------------------------------- */

/* How many lines a group has. */
static ptrdiff_t NAME(width_of)(const Lines *lines)
{
    return lines->takes == COMPLEX && lines->puts == COMPLEX ? WIDTH : 2 * WIDTH;
}

/* One group: the lines of one vector, or of two where lines are real numbers on one side. */
static void NAME(run_group)(const Lines *lines, ptrdiff_t line, LANES_OF *x, LANES_OF *y)
{
    ptrdiff_t n = lines->plan->n, half = n / 2 + 1, from[2 * WIDTH], to[2 * WIDTH];
    NAME(begins_of)(lines, line, from, to);
    if (NAME(width_of)(lines) > WIDTH) NAME(begins_of)(lines, line + WIDTH, from + WIDTH, to + WIDTH);
    if (lines->takes == COMPLEX) {
        NAME(take_complex)(lines, line, from, n, x);
    } else if (lines->takes == REALS) {
        NAME(take_real)(lines, from, n, 0, x);
        NAME(take_real)(lines, from + WIDTH, n, 1, x);
    } else {
        NAME(take_complex)(lines, line, from, half, y);
        NAME(take_complex)(lines, line + WIDTH, from + WIDTH, half, y + half);
        NAME(join_halves)(y, n, x);
    }
    LANES_OF *found = NAME(transform)(lines->plan, x, y), *other = found == x ? y : x;
    if (lines->puts == COMPLEX) {
        NAME(put_complex)(lines, line, to, n, found);
    } else if (lines->puts == REALS) { /* of an inverse, so the parts have changed places */
        NAME(put_real)(lines, line, to, n, 1, found);
        if (line + WIDTH < lines->lines) NAME(put_real)(lines, line + WIDTH, to + WIDTH, n, 0, found);
    } else {
        NAME(separate)(found, n, other);
        NAME(put_complex)(lines, line, to, half, other);
        NAME(put_complex)(lines, line + WIDTH, to + WIDTH, half, other + half);
    }
}

static void NAME(run_groups)(void *context, ptrdiff_t first, ptrdiff_t last)
{
    Lines *lines = context;
    ptrdiff_t width = NAME(width_of)(lines);
    size_t size = (size_t)(lines->plan->n + 2) * sizeof(LANES_OF); /* two halves may have two elements more */
    char *memory = malloc(2 * size + 64);
    if (memory == NULL) {
        atomic_fetch_or(&lines->failed, 1);
        return;
    }
    LANES_OF *x = (LANES_OF *)(((uintptr_t)memory + 63) / 64 * 64), *y = x + lines->plan->n + 2;
    for (ptrdiff_t group = first; group < last; group++) NAME(run_group)(lines, group * width, x, y);
    free(memory);
}

static void NAME(run_all)(Lines *lines)
{
    ptrdiff_t width = NAME(width_of)(lines);
    ptrdiff_t bytes = lines->plan->n * width * (ptrdiff_t)sizeof(REAL) * 2;
    run_lines(NAME(run_groups), lines, (lines->lines + width - 1) / width, bytes);
}

/* One line after the other, each as a x b lines: see fourier.h. `memory` is for the lines in between. */
static void NAME(run_split)(Lines *lines, REAL *memory)
{
    const Plan *plan = lines->plan;
    ptrdiff_t a = plan->first->n, b = plan->second->n;
    int forward_half = lines->puts == HALVES, back_half = lines->takes == HALVES;
    for (ptrdiff_t line = 0; line < lines->lines; line++) {
        ptrdiff_t from, to;
        NAME(begin_of)(lines, line, &from, &to);
        Lines one = {.plan = plan->first, .from = (const REAL *)lines->from + from, .to = memory,
                     .from_step = lines->from_step * b, .to_step = 2 * b, .axes = 1, .scale = 1,
                     .from_steps = {lines->from_step}, .to_steps = {2}, .factors = plan->factors, .factors_row = b,
                     .swaps_taken = lines->swaps_taken, .whole = plan->n, .mirrors_taken = back_half,
                     .takes = back_half ? COMPLEX : lines->takes, .puts = forward_half ? HALVES : COMPLEX};
        one.lines = one.size[0] = back_half ? b / 2 + 1 : b;
        one.swaps_put = back_half; /* joined halves are swapped again */
        NAME(run_all)(&one);
        Lines two = {.plan = plan->second, .from = memory, .to = (REAL *)lines->to + to, .from_step = 2,
                     .to_step = lines->to_step * a, .axes = 1, .scale = lines->scale, .from_steps = {2 * b},
                     .to_steps = {lines->to_step}, .swaps_taken = back_half, .swaps_put = lines->swaps_put,
                     .whole = plan->n, .mirrors_put = forward_half, .takes = back_half ? HALVES : COMPLEX,
                     .puts = back_half ? REALS : COMPLEX};
        two.lines = two.size[0] = forward_half ? a / 2 + 1 : a;
        NAME(run_all)(&two);
        if (atomic_load(&one.failed) || atomic_load(&two.failed)) atomic_fetch_or(&lines->failed, 1);
    }
}

/* Returns 0 if lines of this length are not transformed here, -1 with an exception. The interpreter lock is held. */
static int NAME(run)(Lines *lines, ptrdiff_t n)
{
    int few = 2 * lines->lines < NAME(width_of)(lines), split = n >= 32 && (few || n > LONG_LINE) && split_of(n) > 1;
    if (few && !split && n > LONELY_PRIME) return 0;
    Plan *plan = NAME(plan_of)(n, split);
    REAL *memory = NULL;
    if (plan == NULL) return 0;
    if (split && (memory = malloc((size_t)n * 2 * sizeof(REAL))) == NULL) {
        NAME(leave)(plan);
        PyErr_NoMemory();
        return -1;
    }
    lines->plan = plan;
    Py_BEGIN_ALLOW_THREADS
    if (split) NAME(run_split)(lines, memory); else NAME(run_all)(lines);
    Py_END_ALLOW_THREADS
    free(memory);
    NAME(leave)(plan);
    if (!atomic_load(&lines->failed)) return 1;
    PyErr_NoMemory();
    return -1;
}
