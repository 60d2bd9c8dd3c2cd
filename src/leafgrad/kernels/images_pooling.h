/* The largest element and the mean of windows, and their gradients: one plane at a time. Included as images_products.h
   is, with INT, a whole number as wide as REAL.

   Where windows are equally far apart, the rows of the image that a row of results needs are laid out as in
   images_layout.h, so that each tap is a vector for a vector of results. Elsewhere (adaptive windows) results are
   computed one by one. */

typedef INT NAME(places) __attribute__((vector_size(LANES * sizeof(INT))));

/* What one thread needs: the rows of a row of results. */
typedef struct {
    REAL *rows;
    ptrdiff_t *numbers; /* of the first element of each row */
    ptrdiff_t count, extent, row;
    ptrdiff_t *taps, *inside; /* where taps are in them; which elements of a part are in the image */
    REAL *results;
    INT *places, *first; /* of the results; of the first elements of windows, in a row */
    int good;
} NAME(Rows);

static TARGET NAME(Rows) NAME(make_rows)(const Pool *p)
{
    const Axis *x = &p->axis[2];
    ptrdiff_t most = longest(&p->axis[0]) * longest(&p->axis[1]), wide = ceil_div(x->out, LANES) * LANES;
    NAME(Rows) r = {.count = 0, .extent = wide + (x->taps ? x->reach : 0)};
    r.row = x->taps ? x->parts * r.extent : 0;
    r.rows = malloc((size_t)(most * r.row + 1) * sizeof(REAL));
    r.numbers = malloc((size_t)(most + 1) * sizeof(ptrdiff_t));
    r.taps = malloc((size_t)(x->taps + 1) * sizeof(ptrdiff_t));
    r.inside = malloc((size_t)(2 * x->taps + 1) * sizeof(ptrdiff_t));
    r.results = malloc((size_t)wide * sizeof(REAL));
    r.places = calloc((size_t)wide, sizeof(INT));
    r.first = calloc((size_t)wide, sizeof(INT));
    r.good = r.rows && r.numbers && r.taps && r.inside && r.results && r.places && r.first;
    for (ptrdiff_t t = 0; r.good && t < x->taps; t++) r.taps[t] = x->tap_part[t] * r.extent + x->tap_shift[t];
    for (ptrdiff_t part = 0; r.good && x->taps && part < x->parts; part++) {
        ptrdiff_t *range = r.inside + 2 * part;
        inside_of(x->remainder[part] - x->before, x->stride, x->in, r.extent, range, range + 1);
    }
    for (ptrdiff_t q = 0; r.good && q < x->out; q++) r.first[q] = (INT)x->begin[q];
    return r;
}

static void NAME(free_rows)(NAME(Rows) *r)
{
    free(r->rows);
    free(r->numbers);
    free(r->taps);
    free(r->inside);
    free(r->results);
    free(r->places);
    free(r->first);
}

/* The rows of the image in the windows of (z, y): numbered, and laid out. */
static TARGET void NAME(collect_rows)(const Pool *p, const REAL *image, ptrdiff_t z, ptrdiff_t y, REAL fill,
                                      NAME(Rows) *r)
{
    const Axis *a = p->axis, *x = &a[2];
    r->count = 0;
    for (ptrdiff_t i = a[0].begin[z]; i < a[0].end[z]; i += a[0].apart) {
        for (ptrdiff_t j = a[1].begin[y]; j < a[1].end[y]; j += a[1].apart, r->count++) {
            ptrdiff_t number = r->numbers[r->count] = (i * a[1].in + j) * x->in;
            REAL *to = r->rows + r->count * r->row;
            for (ptrdiff_t part = 0; x->taps && part < x->parts; part++, to += r->extent) {
                NAME(lay_out_row)(image + number, x->remainder[part] - x->before, x->stride, r->inside[2 * part],
                                  r->inside[2 * part + 1], fill, to, r->extent);
            }
        }
    }
}

/* The largest elements, and their numbers in the image. */
INLINE TARGET void NAME(max_vectors)(const Axis *x, const NAME(Rows) *r, ptrdiff_t first, int numbered)
{
    NAME(places) lanes;
    for (int i = 0; i < LANES; i++) lanes[i] = (INT)(i * x->stride);
    for (ptrdiff_t q = 0; q < x->out; q += LANES) {
        NAME(vector) best = (NAME(vector)){0} - (REAL)INFINITY;
        NAME(places) place = {0}, here = lanes + (INT)(q * x->stride - x->before);
        if (numbered) {
            memcpy(&place, r->first + q, sizeof place);
            place += (INT)first;
        }
        for (ptrdiff_t row = 0; row < r->count; row++) {
            for (ptrdiff_t t = 0; t < x->taps; t++) {
                NAME(vector) value = *(const NAME(loaded) *)(r->rows + row * r->row + r->taps[t] + q);
                NAME(places) take = (NAME(places))(value > best) | (NAME(places))(value != value);
                best = (NAME(vector))(((NAME(places))value & take) | ((NAME(places))best & ~take));
                if (numbered) {
                    place = ((here + (INT)(r->numbers[row] + t * x->apart)) & take) | (place & ~take);
                }
            }
        }
        memcpy(r->results + q, &best, sizeof best);
        if (numbered) memcpy(r->places + q, &place, sizeof place);
    }
}

/* The same one by one. */
static TARGET void NAME(max_each)(const Axis *x, const NAME(Rows) *r, const REAL *image, ptrdiff_t first)
{
    for (ptrdiff_t q = 0; q < x->out; q++) {
        REAL best = -(REAL)INFINITY;
        ptrdiff_t place = first + x->begin[q];
        for (ptrdiff_t row = 0; row < r->count; row++) {
            for (ptrdiff_t i = r->numbers[row] + x->begin[q]; i < r->numbers[row] + x->end[q]; i++) {
                if (image[i] > best || image[i] != image[i]) {
                    best = image[i];
                    place = i;
                }
            }
        }
        r->results[q] = best;
        r->places[q] = (INT)place;
    }
}

static TARGET void NAME(max_planes)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Pool *p = context;
    const Axis *a = p->axis, *x = &a[2];
    NAME(Rows) r = NAME(make_rows)(p);
    if (!r.good) atomic_fetch_or(&p->failed, 1);
    for (ptrdiff_t plane = from; r.good && plane < to; plane++) {
        const REAL *image = (const REAL *)p->input + plane * a[0].in * a[1].in * x->in;
        for (ptrdiff_t row = 0; row < a[0].out * a[1].out; row++) {
            ptrdiff_t z = row / a[1].out, y = row % a[1].out, out = (plane * a[0].out * a[1].out + row) * x->out;
            ptrdiff_t first = (a[0].begin[z] * a[1].in + a[1].begin[y]) * x->in;
            NAME(collect_rows)(p, image, z, y, -(REAL)INFINITY, &r);
            if (!x->taps) {
                NAME(max_each)(x, &r, image, first);
            } else if (p->indices != NULL) {
                NAME(max_vectors)(x, &r, first, 1);
            } else {
                NAME(max_vectors)(x, &r, first, 0);
            }
            memcpy((REAL *)p->output + out, r.results, (size_t)x->out * sizeof(REAL));
            for (ptrdiff_t q = 0; q < x->out && p->indices != NULL; q++) p->indices[out + q] = r.places[q];
        }
    }
    NAME(free_rows)(&r);
}

/* What the sum of a window is divided by. */
INLINE TARGET REAL NAME(divisor)(const Pool *p, ptrdiff_t rows, ptrdiff_t q)
{
    return (REAL)(p->divisor ? p->divisor : rows * p->axis[2].count[q]);
}

/* The means of a row of results, one by one: in the same order, without rows laid out. */
static TARGET void NAME(mean_each)(const Pool *p, const REAL *image, ptrdiff_t z, ptrdiff_t y, REAL *out)
{
    const Axis *a = p->axis, *x = &a[2];
    ptrdiff_t rows = a[0].count[z] * a[1].count[y];
    for (ptrdiff_t q = 0; q < x->out; q++) out[q] = 0;
    for (ptrdiff_t i = a[0].begin[z]; i < a[0].end[z]; i += a[0].apart) {
        for (ptrdiff_t j = a[1].begin[y]; j < a[1].end[y]; j += a[1].apart) {
            const REAL *row = image + (i * a[1].in + j) * x->in;
            for (ptrdiff_t t = 0; t < x->taps; t++) {
                const REAL *from = row + t * x->apart - x->before;
                for (ptrdiff_t q = x->tap_begin[t]; q < x->tap_end[t]; q++) out[q] += from[q * x->stride];
            }
            for (ptrdiff_t q = 0; q < x->out && !x->taps; q++) {
                REAL sum = out[q];
                for (ptrdiff_t k = x->begin[q]; k < x->end[q]; k++) sum += row[k];
                out[q] = sum;
            }
        }
    }
    for (ptrdiff_t q = 0; q < x->out; q++) out[q] /= NAME(divisor)(p, rows, q);
}

static TARGET void NAME(sum_windows)(const Axis *x, const NAME(Rows) *r)
{
    for (ptrdiff_t q = 0; q < x->out; q += LANES) {
        NAME(vector) sum = {0};
        for (ptrdiff_t row = 0; row < r->count; row++) {
            for (ptrdiff_t t = 0; t < x->taps; t++) {
                sum += *(const NAME(loaded) *)(r->rows + row * r->row + r->taps[t] + q);
            }
        }
        memcpy(r->results + q, &sum, sizeof sum);
    }
}

static TARGET void NAME(mean_planes)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Pool *p = context;
    const Axis *a = p->axis, *x = &a[2];
    int each = !x->taps || x->out * 2 <= LANES; /* to lay rows out for half a vector takes longer */
    NAME(Rows) r = {.good = 1};
    if (!each) r = NAME(make_rows)(p);
    if (!r.good) atomic_fetch_or(&p->failed, 1);
    for (ptrdiff_t plane = from; r.good && plane < to; plane++) {
        const REAL *image = (const REAL *)p->input + plane * a[0].in * a[1].in * x->in;
        for (ptrdiff_t row = 0; row < a[0].out * a[1].out; row++) {
            ptrdiff_t z = row / a[1].out, y = row % a[1].out, rows = a[0].count[z] * a[1].count[y];
            REAL *out = (REAL *)p->output + (plane * a[0].out * a[1].out + row) * x->out;
            if (each) {
                NAME(mean_each)(p, image, z, y, out);
                continue;
            }
            NAME(collect_rows)(p, image, z, y, 0, &r);
            NAME(sum_windows)(x, &r);
            for (ptrdiff_t q = 0; q < x->out; q++) out[q] = r.results[q] / NAME(divisor)(p, rows, q);
        }
    }
    NAME(free_rows)(&r);
}

static TARGET void NAME(spread_row)(const Axis *axis, const REAL *part, REAL *row)
{
    for (ptrdiff_t t = 0; t < axis->taps; t++) {
        REAL *to = row + t * axis->apart - axis->before;
        for (ptrdiff_t q = axis->tap_begin[t]; q < axis->tap_end[t]; q++) to[q * axis->stride] += part[q];
    }
    for (ptrdiff_t q = 0; q < axis->out && !axis->taps; q++) {
        for (ptrdiff_t i = axis->begin[q]; i < axis->end[q]; i++) row[i] += part[q];
    }
}

static TARGET void NAME(spread_planes)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Pool *p = context;
    const Axis *a = p->axis;
    ptrdiff_t size = a[0].in * a[1].in * a[2].in;
    REAL *part = malloc((size_t)a[2].out * sizeof(REAL));
    if (part == NULL) {
        atomic_fetch_or(&p->failed, 1);
        return;
    }
    for (ptrdiff_t plane = from; plane < to; plane++) {
        const REAL *g = (const REAL *)p->input + plane * a[0].out * a[1].out * a[2].out;
        REAL *image = (REAL *)p->output + plane * size;
        memset(image, 0, (size_t)size * sizeof(REAL));
        for (ptrdiff_t z = 0; z < a[0].out; z++) {
            for (ptrdiff_t y = 0; y < a[1].out; y++, g += a[2].out) {
                ptrdiff_t rows = a[0].count[z] * a[1].count[y];
                for (ptrdiff_t q = 0; q < a[2].out; q++) part[q] = g[q] / NAME(divisor)(p, rows, q);
                for (ptrdiff_t i = a[0].begin[z]; i < a[0].end[z]; i += a[0].apart) {
                    for (ptrdiff_t j = a[1].begin[y]; j < a[1].end[y]; j += a[1].apart) {
                        NAME(spread_row)(&a[2], part, image + (i * a[1].in + j) * a[2].in);
                    }
                }
            }
        }
    }
    free(part);
}

/* Gradients added up at the elements that they belong to. */
static TARGET void NAME(put_planes)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Pool *p = context;
    ptrdiff_t size = p->axis[2].in, count = p->axis[2].out;
    for (ptrdiff_t plane = from; plane < to; plane++) {
        const REAL *g = (const REAL *)p->input + plane * count;
        const int64_t *at = p->indices + plane * count;
        REAL *image = (REAL *)p->output + plane * size;
        memset(image, 0, (size_t)size * sizeof(REAL));
        for (ptrdiff_t i = 0; i < count; i++) {
            if (at[i] >= 0 && at[i] < size) {
                image[at[i]] += g[i];
            } else {
                atomic_fetch_or(&p->failed, 2);
            }
        }
    }
}
