/* convolve() and weights(): how the work is divided, and what Python gives. */
#ifndef LEAFGRAD_IMAGES_CONVOLUTION_H
#define LEAFGRAD_IMAGES_CONVOLUTION_H

#include "images_arguments.h"

/* -- products ------------------------------------------------------------------------------------------------------ */

/* Bands of the layout, and more of them, or fewer groups at a time, where threads would have nothing to do. */
static void divide_product(Product *p, const ptrdiff_t *from, const ptrdiff_t *to, ptrdiff_t bytes)
{
    ptrdiff_t counts[DIMS], wanted = pool_threads() > 1 ? 4 * pool_threads() : 1;
    for (int i = 0; i < DIMS; i++) {
        counts[i] = to[i] - from[i];
        p->low[i] = from[i];
    }
    p->dim = counts[0] > 1 ? 0 : counts[1] > 1 ? 1 : 2;
    p->range[0] = from[p->dim];
    p->range[1] = to[p->dim];
    p->band = band_of(&p->layout, counts, p->dim, p->channels, bytes);
    p->bands = ceil_div(counts[p->dim], p->band);
    /* some samples together, if they are small, for which the weights are read once */
    ptrdiff_t size = MAX(1, to[0] - from[0]) * (to[1] - from[1]) * (to[2] - from[2]);
    p->samples = p->bands > 1 ? 1 : MAX(1, MIN(MIN(ENOUGH_POSITIONS / 4 / size, p->n / wanted), p->n));
    p->group_parts = MIN(p->groups, MAX(1, wanted / (p->n * p->bands)));
    p->group_step = ceil_div(p->groups, p->group_parts);
    p->group_parts = ceil_div(p->groups, p->group_step);
    ptrdiff_t tasks = ceil_div(p->n, p->samples) * p->bands * p->group_parts;
    ptrdiff_t least = p->dim == 2 ? 96 : MAX(1, p->layout.reach[p->dim]);
    if (tasks < wanted) {
        ptrdiff_t bands = p->bands * ceil_div(wanted, tasks);
        p->band = MIN(counts[p->dim], MAX(ceil_div(counts[p->dim], bands), least));
        p->bands = ceil_div(counts[p->dim], p->band);
    }
    counts[p->dim] = p->band;
    set_extent(&p->layout, counts, p->channels);
}

/* All passes of all sides, with their terms. */
static int make_passes(Product *p, Side *const *sides, const ptrdiff_t *counts, const Loops *loops, ptrdiff_t bytes,
                       ptrdiff_t channel_step, const ptrdiff_t *window, Arena *arena)
{
    p->passes = product(counts);
    p->pass = take(arena, p->passes * (ptrdiff_t)sizeof(Pass));
    if (p->pass == NULL) return 0;
    p->packed_rows = p->by_results ? ceil_div(p->results, loops->lanes) * loops->lanes : 0;
    while (p->packed_rows < p->results) {
        p->packed_rows += block_rows(p->results - p->packed_rows, loops->rows);
    }
    for (ptrdiff_t i = 0; i < p->passes; i++) {
        Pass *pass = &p->pass[i];
        pass->side[0] = sides[0][i / counts[2] / counts[1]];
        pass->side[1] = sides[1][i / counts[2] % counts[1]];
        pass->side[2] = sides[2][i % counts[2]];
        pass->terms = p->channels * pass->side[0].taps * pass->side[1].taps * pass->side[2].taps;
        pass->offsets = take(arena, pass->terms * (ptrdiff_t)sizeof(ptrdiff_t));
        pass->weights = take(arena, pass->terms * (ptrdiff_t)sizeof(ptrdiff_t));
        pass->packed = take(arena, p->groups * p->packed_rows * pass->terms * bytes);
        if (arena->failed) return 0;
        find_terms(&p->layout, pass, p->channels, channel_step, window);
    }
    return 1;
}

/* Whether vectors of results have fewer lanes in vain than vectors of positions, so that it makes up for turning
   results round at the end. */
static int results_fill_vectors(const Product *p, Side *const *sides, int lanes)
{
    ptrdiff_t counts[DIMS], terms = p->channels;
    for (int i = 0; i < DIMS; i++) {
        counts[i] = i == p->dim ? MIN(p->band, sides[i][0].count) : sides[i][0].count;
        terms *= sides[i][0].taps;
    }
    double by_positions = (double)product(counts) / (double)(segment_count(counts, p->layout.extent[2], lanes) * lanes);
    double by_results = (double)p->results / (double)(ceil_div(p->results, lanes) * lanes);
    return terms >= 64 && by_results > 1.1 * by_positions;
}

/* A window of one element with nothing around it: all positions are one row. */
static int is_plain(const Convolution *c)
{
    for (int i = 0; i < DIMS; i++) {
        if (c->window[i] != 1 || c->stride[i] != 1 || c->padding[i] != 0) return 0;
    }
    return product(c->sizes) == product(c->positions);
}

static void as_row(ptrdiff_t *sizes)
{
    sizes[2] = product(sizes);
    sizes[0] = sizes[1] = 1;
}

/* y of x and w, or x of y and w. Returns 0 if there is no memory. */
static int multiply_images(Product *p, Convolution *c, int transposed, const Loops *loops, ptrdiff_t bytes)
{
    Arena arena = {NULL, 0};
    Side *sides[DIMS];
    ptrdiff_t counts[DIMS], from[DIMS], to[DIMS], taps = product(c->window);
    int plain = is_plain(c);
    if (plain) {
        as_row(c->sizes);
        as_row(c->positions);
    }
    for (int i = 0; i < DIMS; i++) {
        p->out_sizes[i] = transposed ? c->sizes[i] : c->positions[i];
        sides[i] = take(&arena, (transposed ? c->stride[i] : 1) * (ptrdiff_t)sizeof(Side));
        if (sides[i] != NULL) {
            counts[i] = transposed ? backward_sides(c, i, &p->layout, sides[i], &arena)
                                   : forward_side(c, i, &p->layout, sides[i], &arena);
        }
        if (arena.failed) goto end;
        range_of(sides[i], counts[i], &from[i], &to[i]);
    }
    p->n = c->n;
    p->groups = c->groups;
    p->channels = transposed ? c->o : c->c;
    p->results = transposed ? c->c : c->o;
    p->weight_group = c->o * c->c * taps;
    p->weight_result = transposed ? taps : c->c * taps;
    divide_product(p, from, to, bytes);
    ptrdiff_t size = product(p->layout.sizes);
    p->in_place = plain && size >= loops->lanes && (size * bytes % 4096 != 0 || p->channels == 1);
    if (p->in_place) p->layout.channel = size;
    p->by_results = !p->in_place && results_fill_vectors(p, sides, loops->lanes);
    if (!make_passes(p, sides, counts, loops, bytes, transposed ? c->c * taps : taps, c->window, &arena)) goto end;
    atomic_init(&p->failed, 0);
    ptrdiff_t products = p->n * p->groups * p->results * p->channels * product(c->positions) * taps;
    run(loops->pack, p, p->passes * p->groups * ceil_div(p->results, PACKED_AT_ONCE),
        p->groups * p->packed_rows * p->channels * taps);
    run(loops->convolve, p, ceil_div(p->n, p->samples) * p->bands * p->group_parts, products);
    arena.failed = atomic_load(&p->failed);
end:
    give_back(&arena);
    return !arena.failed;
}

/* The gradient by the weights. Returns 0 if there is no memory, and 2 if something is not finite: then lanes that are
   no positions were zero times something that may not have been finite either, and the sums mean nothing. */
static int correlate_images(Gradient *w, Convolution *c, const Loops *loops, ptrdiff_t bytes)
{
    Arena arena = {NULL, 0};
    ptrdiff_t counts[DIMS];
    if (is_plain(c)) {
        as_row(c->sizes);
        as_row(c->positions);
    }
    for (int i = 0; i < DIMS; i++) {
        if (!forward_side(c, i, &w->layout, &w->pass.side[i], &arena)) goto end;
        w->out_sizes[i] = counts[i] = c->positions[i];
        w->low[i] = 0;
    }
    w->n = c->n, w->groups = c->groups, w->channels = c->c, w->results = c->o;
    w->dim = counts[0] > 1 ? 0 : counts[1] > 1 ? 1 : 2;
    w->range[0] = 0;
    w->range[1] = counts[w->dim];
    w->band = band_of(&w->layout, counts, w->dim, w->channels, bytes);
    w->bands = ceil_div(counts[w->dim], w->band);
    counts[w->dim] = w->band;
    set_extent(&w->layout, counts, w->channels);
    w->segments = segment_count(counts, w->layout.extent[2], loops->lanes);

    w->by_results = 8 * w->results >= 5 * loops->lanes;
    w->step = w->by_results ? ceil_div(w->results, loops->lanes) * loops->lanes : w->results;
    ptrdiff_t positions = w->segments * loops->lanes;
    ptrdiff_t each = (w->channels * w->layout.channel + w->step * positions) * bytes;
    ptrdiff_t samples = MIN(ENOUGH_POSITIONS / positions, 2 * BAND_BYTES / each);
    w->samples = w->bands > 1 ? 1 : MAX(1, MIN(samples, w->n / 8)); /* but enough units to be shared out */
    w->units = ceil_div(w->n, w->samples) * w->bands;
    w->pass.terms = w->channels * product(c->window);
    ptrdiff_t size = w->groups * w->pass.terms * w->step;
    w->sum_count = MAX(1, MIN(MIN(w->units, MOST_SUMS), SUMS_BYTES / (size * bytes)));
    w->channel_parts = MAX(1, MIN(w->channels / 16, 2 * MOST_SUMS / (w->sum_count * w->groups)));
    w->channel_step = ceil_div(w->channels, w->channel_parts);
    w->channel_parts = ceil_div(w->channels, w->channel_step);

    w->pass.offsets = take(&arena, w->pass.terms * (ptrdiff_t)sizeof(ptrdiff_t));
    w->pass.weights = take(&arena, w->pass.terms * (ptrdiff_t)sizeof(ptrdiff_t));
    w->sums = take(&arena, w->sum_count * size * bytes);
    if (arena.failed) goto end;
    memset(w->sums, 0, (size_t)(w->sum_count * size * bytes));
    find_terms(&w->layout, &w->pass, w->channels, product(c->window), c->window);
    atomic_init(&w->failed, 0);
    run(loops->correlate, w, w->sum_count * w->groups * w->channel_parts,
        w->n * w->groups * w->pass.terms * w->results * product(c->positions));
    run(loops->add, w, w->groups * ceil_div(w->pass.terms, ADDED_AT_ONCE), w->sum_count * size);
    arena.failed = atomic_load(&w->failed) & 1;
end:
    give_back(&arena);
    return arena.failed ? 0 : atomic_load(&w->failed) ? 2 : 1;
}

/* -- called from Python -------------------------------------------------------------------------------------------- */

/* stride, padding, dilation and groups, as arguments from args[0] on. */
static int geometry(PyObject *const *args, int dims, Convolution *c)
{
    c->groups = PyLong_AsSsize_t(args[3]);
    if (c->groups < 1) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "expected at least one group");
        return 0;
    }
    return numbers(args[0], dims, 1, 1, c->stride) && numbers(args[1], dims, 0, 0, c->padding) &&
           numbers(args[2], dims, 1, 1, c->dilation);
}

/* Do windows lie within the padded sizes? */
static int windows_fit(const Convolution *c)
{
    for (int i = 0; i < DIMS; i++) {
        ptrdiff_t reach = (c->positions[i] - 1) * c->stride[i] + (c->window[i] - 1) * c->dilation[i] + 1;
        if (c->positions[i] < 1 || c->window[i] < 1 || c->sizes[i] < 1 || reach < 1) return 0;
    }
    return 1;
}

static PyArrayObject *new_array(ptrdiff_t first, ptrdiff_t second, const ptrdiff_t *sizes, int dims,
                                PyArrayObject *like)
{
    npy_intp shape[DIMS + 2] = {first, second};
    for (int i = 0; i < dims; i++) shape[i + 2] = sizes[DIMS - dims + i];
    return (PyArrayObject *)PyArray_SimpleNew(dims + 2, shape, PyArray_TYPE(like));
}

/* convolve(image, w, bias, stride, padding, dilation, groups[, sizes]): with sizes, the transpose. */
static PyObject *convolve(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Convolution c;
    Product p;
    int transposed = given == 8, dims = 0;
    if (given == 7 || given == 8) dims = PyArray_Check(args[0]) ? PyArray_NDIM((PyArrayObject *)args[0]) - 2 : 0;
    if (dims < 1 || dims > DIMS) {
        PyErr_SetString(PyExc_TypeError, "convolve: expected images of one to three dimensions, and 6 or 7 arguments");
        return NULL;
    }
    PyArrayObject *input = checked(args[0], dims + 2, NULL);
    PyArrayObject *w = input == NULL ? NULL : checked(args[1], dims + 2, input);
    PyArrayObject *bias = w == NULL || args[2] == Py_None ? NULL : checked(args[2], 1, input);
    if (w == NULL || (bias == NULL && args[2] != Py_None) || !geometry(args + 3, dims, &c)) return NULL;
    c.n = PyArray_DIM(input, 0);
    c.o = PyArray_DIM(w, 0) / c.groups;
    c.c = PyArray_DIM(w, 1);
    sizes_of(w, c.window);
    sizes_of(input, transposed ? c.positions : c.sizes);
    if (transposed && !numbers(args[7], dims, 1, 1, c.sizes)) return NULL;
    for (int i = 0; !transposed && i < DIMS; i++) {
        ptrdiff_t room = c.sizes[i] + 2 * c.padding[i] - (c.window[i] - 1) * c.dilation[i] - 1;
        c.positions[i] = room < 0 ? 0 : room / c.stride[i] + 1;
    }
    ptrdiff_t channels = c.groups * (transposed ? c.o : c.c), results = c.groups * (transposed ? c.c : c.o);
    if (!fits(c.o * c.groups == PyArray_DIM(w, 0) && PyArray_DIM(input, 1) == channels && windows_fit(&c) && c.n > 0 &&
              results > 0 && channels > 0 && (bias == NULL || PyArray_DIM(bias, 0) == results))) {
        return NULL;
    }
    PyArrayObject *out = new_array(c.n, results, transposed ? c.sizes : c.positions, dims, input);
    if (out == NULL) return NULL;
    p.input = PyArray_BYTES(input);
    p.weights = PyArray_BYTES(w);
    p.bias = bias == NULL ? NULL : PyArray_BYTES(bias);
    p.output = PyArray_BYTES(out);
    int good;
    Py_BEGIN_ALLOW_THREADS
    good = multiply_images(&p, &c, transposed, loops_for(input), PyArray_ITEMSIZE(input));
    Py_END_ALLOW_THREADS
    return finished(out, good);
}

/* weights(x, y, window, stride, padding, dilation, groups): the gradient by the weights; None if it is not finite. */
static PyObject *weights(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    Convolution c;
    Gradient w;
    int dims = given == 7 && PyArray_Check(args[0]) ? PyArray_NDIM((PyArrayObject *)args[0]) - 2 : 0;
    if (dims < 1 || dims > DIMS) {
        PyErr_SetString(PyExc_TypeError, "weights: expected images of one to three dimensions, and 6 arguments more");
        return NULL;
    }
    PyArrayObject *x = checked(args[0], dims + 2, NULL), *y = x == NULL ? NULL : checked(args[1], dims + 2, x);
    if (y == NULL || !numbers(args[2], dims, 1, 1, c.window) || !geometry(args + 3, dims, &c)) return NULL;
    c.n = PyArray_DIM(x, 0);
    c.c = PyArray_DIM(x, 1) / c.groups;
    c.o = PyArray_DIM(y, 1) / c.groups;
    sizes_of(x, c.sizes);
    sizes_of(y, c.positions);
    if (!fits(PyArray_DIM(y, 0) == c.n && PyArray_DIM(x, 1) == c.c * c.groups && PyArray_DIM(y, 1) == c.o * c.groups &&
              windows_fit(&c) && c.n > 0 && c.c > 0 && c.o > 0)) {
        return NULL;
    }
    PyArrayObject *out = new_array(c.o * c.groups, c.c, c.window, dims, x);
    if (out == NULL) return NULL;
    w.input = PyArray_BYTES(x);
    w.gradient = PyArray_BYTES(y);
    w.output = PyArray_BYTES(out);
    int good;
    Py_BEGIN_ALLOW_THREADS
    good = correlate_images(&w, &c, loops_for(x), PyArray_ITEMSIZE(x));
    Py_END_ALLOW_THREADS
    if (good == 2) {
        Py_DECREF(out);
        Py_RETURN_NONE;
    }
    return finished(out, good);
}

#endif
