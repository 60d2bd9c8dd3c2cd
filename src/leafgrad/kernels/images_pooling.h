/* The largest element and the mean of windows, and their gradients: one plane at a time. Included as images_products.h is,
   with INT, a whole number as wide as REAL.

   Where windows are equally far apart a row of results is computed tap by tap, in loops over the row; elsewhere (adaptive
   windows) window by window. */

/* best[q] and where it was, with the elements from[q * stride], which are numbered from `number` on */
INLINE TARGET void NAME(larger)(const REAL *from, ptrdiff_t stride, INT number, ptrdiff_t begin, ptrdiff_t end,
                                REAL *restrict best, INT *restrict place)
{
    for (ptrdiff_t q = begin; q < end; q++) {
        REAL value = from[q * stride];
        int take = (value > best[q]) | (value != value);
        best[q] = take ? value : best[q];
        if (place != NULL) place[q] = take ? number + (INT)(q * stride) : place[q];
    }
}

INLINE TARGET void NAME(plus)(const REAL *from, ptrdiff_t stride, ptrdiff_t begin, ptrdiff_t end, REAL *restrict sum)
{
    for (ptrdiff_t q = begin; q < end; q++) sum[q] += from[q * stride];
}

/* One row of the image in all windows of a row of results. `first`: the number of the row's first element. */
static TARGET void NAME(larger_in_row)(const Axis *axis, const REAL *row, INT first, REAL *best, INT *place)
{
    for (ptrdiff_t t = 0; t < axis->taps; t++) {
        ptrdiff_t shift = t * axis->apart - axis->before, begin = axis->tap_begin[t], end = axis->tap_end[t];
        const REAL *from = row + shift;
        INT number = first + (INT)shift;
        if (place == NULL) {
            if (axis->stride == 2) NAME(larger)(from, 2, number, begin, end, best, NULL);
            else if (axis->stride == 1) NAME(larger)(from, 1, number, begin, end, best, NULL);
            else NAME(larger)(from, axis->stride, number, begin, end, best, NULL);
        } else if (axis->stride == 2) {
            NAME(larger)(from, 2, number, begin, end, best, place);
        } else if (axis->stride == 1) {
            NAME(larger)(from, 1, number, begin, end, best, place);
        } else {
            NAME(larger)(from, axis->stride, number, begin, end, best, place);
        }
    }
    for (ptrdiff_t q = 0; q < axis->out && !axis->taps; q++) {
        for (ptrdiff_t i = axis->begin[q]; i < axis->end[q]; i++) {
            if (row[i] > best[q] || row[i] != row[i]) {
                best[q] = row[i];
                if (place != NULL) place[q] = first + (INT)i;
            }
        }
    }
}

static TARGET void NAME(sum_row)(const Axis *axis, const REAL *row, REAL *sum)
{
    for (ptrdiff_t t = 0; t < axis->taps; t++) {
        const REAL *from = row + t * axis->apart - axis->before;
        if (axis->stride == 2) NAME(plus)(from, 2, axis->tap_begin[t], axis->tap_end[t], sum);
        else if (axis->stride == 1) NAME(plus)(from, 1, axis->tap_begin[t], axis->tap_end[t], sum);
        else NAME(plus)(from, axis->stride, axis->tap_begin[t], axis->tap_end[t], sum);
    }
    for (ptrdiff_t q = 0; q < axis->out && !axis->taps; q++) {
        for (ptrdiff_t i = axis->begin[q]; i < axis->end[q]; i++) sum[q] += row[i];
    }
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

/* The largest elements of the windows in one row of results, (z, y). */
static TARGET void NAME(max_row)(const Pool *p, const REAL *image, ptrdiff_t z, ptrdiff_t y, REAL *best, INT *place,
                                 int64_t *indices)
{
    const Axis *a = p->axis;
    ptrdiff_t first = (a[0].begin[z] * a[1].in + a[1].begin[y]) * a[2].in;
    for (ptrdiff_t q = 0; q < a[2].out; q++) {
        best[q] = -(REAL)INFINITY;
        if (indices != NULL) place[q] = (INT)(first + a[2].begin[q]);
    }
    for (ptrdiff_t i = a[0].begin[z]; i < a[0].end[z]; i += a[0].apart) {
        for (ptrdiff_t j = a[1].begin[y]; j < a[1].end[y]; j += a[1].apart) {
            ptrdiff_t row = (i * a[1].in + j) * a[2].in;
            NAME(larger_in_row)(&a[2], image + row, (INT)row, best, indices == NULL ? NULL : place);
        }
    }
    for (ptrdiff_t q = 0; q < a[2].out && indices != NULL; q++) indices[q] = place[q];
}

static TARGET void NAME(max_planes)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Pool *p = context;
    const Axis *a = p->axis;
    INT *place = malloc((size_t)a[2].out * sizeof(INT));
    if (place == NULL) {
        atomic_fetch_or(&p->failed, 1);
        return;
    }
    for (ptrdiff_t plane = from; plane < to; plane++) {
        const REAL *image = (const REAL *)p->input + plane * a[0].in * a[1].in * a[2].in;
        ptrdiff_t row = plane * a[0].out * a[1].out * a[2].out;
        for (ptrdiff_t z = 0; z < a[0].out; z++) {
            for (ptrdiff_t y = 0; y < a[1].out; y++, row += a[2].out) {
                NAME(max_row)(p, image, z, y, (REAL *)p->output + row, place, p->indices == NULL ? NULL : p->indices + row);
            }
        }
    }
    free(place);
}

/* What the sum of a window is divided by. */
INLINE TARGET REAL NAME(divisor)(const Pool *p, ptrdiff_t rows, ptrdiff_t q)
{
    return (REAL)(p->divisor ? p->divisor : rows * p->axis[2].count[q]);
}

static TARGET void NAME(mean_planes)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Pool *p = context;
    const Axis *a = p->axis;
    for (ptrdiff_t plane = from; plane < to; plane++) {
        const REAL *image = (const REAL *)p->input + plane * a[0].in * a[1].in * a[2].in;
        REAL *sum = (REAL *)p->output + plane * a[0].out * a[1].out * a[2].out;
        for (ptrdiff_t z = 0; z < a[0].out; z++) {
            for (ptrdiff_t y = 0; y < a[1].out; y++, sum += a[2].out) {
                for (ptrdiff_t q = 0; q < a[2].out; q++) sum[q] = 0;
                for (ptrdiff_t i = a[0].begin[z]; i < a[0].end[z]; i += a[0].apart) {
                    for (ptrdiff_t j = a[1].begin[y]; j < a[1].end[y]; j += a[1].apart) {
                        NAME(sum_row)(&a[2], image + (i * a[1].in + j) * a[2].in, sum);
                    }
                }
                ptrdiff_t rows = a[0].count[z] * a[1].count[y];
                for (ptrdiff_t q = 0; q < a[2].out; q++) sum[q] /= NAME(divisor)(p, rows, q);
            }
        }
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
