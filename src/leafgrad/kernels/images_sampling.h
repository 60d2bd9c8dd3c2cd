/* Images looked at in the places of a grid, and the gradients: some points at a time, for all channels. Included as
   images_pooling.h is.

   A point is between a few elements, its taps, each of which has a share in the result. What is outside of the image is
   left out of the list of a point, so that it costs nothing and a number that is not finite does not spread. */

INLINE TARGET REAL NAME(down)(REAL x) { return sizeof(REAL) == sizeof(float) ? floorf((float)x) : floor(x); }

/* Of two that are equally near, the even one. */
INLINE TARGET REAL NAME(nearest)(REAL x) { return sizeof(REAL) == sizeof(float) ? rintf((float)x) : rint(x); }

typedef struct {
    INT place[TAPS_ALONG][POINTS]; /* along one dimension; -1: outside */
    REAL share[TAPS_ALONG][POINTS], slope[TAPS_ALONG][POINTS];
} NAME(Along);

typedef struct {
    NAME(Along) along[DIMS];
    int32_t at[POINTS * MOST_TAPS]; /* elements of the image */
    int count[POINTS], tap[POINTS * MOST_TAPS];
    REAL share[POINTS * MOST_TAPS], product[POINTS * MOST_TAPS];
} NAME(Points);

/* A coordinate mirrored at both ends until it is between them, and whether it then runs backwards. */
INLINE TARGET REAL NAME(mirrored)(REAL x, REAL low, REAL span, REAL *sign)
{
    *sign = x < low ? -1 : 1;
    if (span <= 0) {
        *sign = 0;
        return x * 0;
    }
    REAL distance = x < low ? low - x : x - low, turns = NAME(down)(distance / span), rest = distance - turns * span;
    if (turns - 2 * NAME(down)(turns / 2) == 0) return rest + low;
    *sign = -*sign;
    return span - rest + low;
}

/* Where the mode of padding moves a coordinate, and its derivative there. */
INLINE TARGET REAL NAME(moved)(const Sampling *s, REAL x, ptrdiff_t size, REAL *sign)
{
    REAL last = (REAL)(size - 1);
    *sign = 1;
    if (s->padding == PAD_ZEROS) return x;
    if (s->padding == PAD_REFLECTION) x = NAME(mirrored)(x, s->align ? 0 : -(REAL)0.5, s->align ? last : last + 1, sign);
    if (x > 0 && x < last) return x;
    *sign = 0;
    return x > 0 ? last : 0;
}

INLINE TARGET INT NAME(place_in)(REAL x, ptrdiff_t size) { return x >= 0 && x <= (REAL)(size - 1) ? (INT)x : -1; }

/* The shares of the four elements around a place, t behind the second of them. */
INLINE TARGET void NAME(cubic)(REAL t, REAL scale, REAL *share, REAL *slope)
{
    const REAL a = (REAL)-0.75;
    for (int k = 0; k < 4; k++) {
        REAL x = k == 0 ? t + 1 : k == 1 ? t : k == 2 ? 1 - t : 2 - t, turn = k < 2 ? scale : -scale;
        if (k == 1 || k == 2) {
            share[k] = ((a + 2) * x - (a + 3)) * x * x + 1;
            slope[k] = (3 * (a + 2) * x - 2 * (a + 3)) * x * turn;
        } else {
            share[k] = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
            slope[k] = ((3 * a * x - 10 * a) * x + 8 * a) * turn;
        }
    }
}

/* The taps of points along one dimension. */
static TARGET void NAME(taps_along)(const Sampling *s, const REAL *grid, ptrdiff_t count, int dim, NAME(Along) *a)
{
    ptrdiff_t size = s->sizes[dim];
    REAL at[POINTS], scale = (REAL)(s->align ? size - 1 : size) / 2, less = s->align ? 0 : (REAL)0.5, sign;
    for (ptrdiff_t i = 0; i < count; i++) at[i] = (grid[i * s->dims + DIMS - 1 - dim] + 1) * scale;
    /* not to be made one step with the product: at elements, where gradients jump, roundings are to be PyTorch's */
    __asm__ volatile("" : : "r"(at) : "memory");
    for (ptrdiff_t i = 0; i < count; i++) {
        REAL x = at[i] - less;
        if (s->mode == MODE_CUBIC) {
            REAL first = NAME(down)(x), share[4], slope[4];
            NAME(cubic)(x - first, scale, share, slope);
            for (int k = 0; k < 4; k++) {
                a->place[k][i] = NAME(place_in)(NAME(moved)(s, first + (REAL)(k - 1), size, &sign), size);
                a->share[k][i] = share[k];
                a->slope[k][i] = slope[k];
            }
            continue;
        }
        x = NAME(moved)(s, x, size, &sign);
        if (s->mode == MODE_NEAREST) {
            a->place[0][i] = NAME(place_in)(NAME(nearest)(x), size);
            a->share[0][i] = 1;
            continue;
        }
        REAL first = NAME(down)(x);
        a->place[0][i] = NAME(place_in)(first, size);
        a->place[1][i] = NAME(place_in)(first + 1, size);
        a->share[0][i] = first + 1 - x;
        a->share[1][i] = x - first;
        a->slope[0][i] = -sign * scale;
        a->slope[1][i] = sign * scale;
    }
}

/* The taps of points, those of the last dimension fastest. */
static TARGET void NAME(find_points)(const Sampling *s, const REAL *grid, ptrdiff_t count, NAME(Points) *p)
{
    int first = DIMS - s->dims, each = s->along;
    for (int dim = first; dim < DIMS; dim++) NAME(taps_along)(s, grid, count, dim, &p->along[dim]);
    const NAME(Along) *z = &p->along[0], *y = &p->along[1], *x = &p->along[2];
    for (ptrdiff_t i = 0; i < count; i++) {
        ptrdiff_t from = i * s->taps, end = from;
        for (int l = 0; l < (first ? 1 : each); l++) {
            INT slice = first ? 0 : z->place[l][i];
            if (slice < 0) continue;
            for (int k = 0; k < each; k++) {
                if (y->place[k][i] < 0) continue;
                REAL share = first ? y->share[k][i] : z->share[l][i] * y->share[k][i];
                int32_t row = (int32_t)((slice * s->sizes[1] + y->place[k][i]) * s->sizes[2]);
                for (int j = 0; j < each; j++) {
                    if (x->place[j][i] < 0) continue;
                    p->at[end] = row + (int32_t)x->place[j][i];
                    p->tap[end] = (l * each + k) * each + j;
                    p->share[end++] = share * x->share[j][i];
                }
            }
        }
        p->count[i] = (int)(end - from);
    }
}

/* -- forward ------------------------------------------------------------------------------------------------------- */

INLINE TARGET void NAME(look)(const NAME(Points) *p, ptrdiff_t count, const REAL *image, ptrdiff_t plane, REAL *out,
                              ptrdiff_t points, const int taps, const int channels)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        const int32_t *at = p->at + i * taps;
        const REAL *share = p->share + i * taps;
        REAL sum[CHANNELS] = {0};
        if (p->count[i] == taps) {
            for (int k = 0; k < taps; k++) {
                for (int c = 0; c < channels; c++) sum[c] += share[k] * image[c * plane + at[k]];
            }
        } else {
            for (int k = 0; k < p->count[i]; k++) {
                for (int c = 0; c < channels; c++) sum[c] += share[k] * image[c * plane + at[k]];
            }
        }
        for (int c = 0; c < channels; c++) out[c * points + i] = sum[c];
    }
}

INLINE TARGET void NAME(look_at)(const Sampling *s, const NAME(Points) *p, ptrdiff_t count, const REAL *image, REAL *out,
                                 const int taps)
{
    ptrdiff_t plane = product(s->sizes), c = 0;
    for (; c + CHANNELS <= s->c; c += CHANNELS) {
        NAME(look)(p, count, image + c * plane, plane, out + c * s->points, s->points, taps, CHANNELS);
    }
    for (; c < s->c; c++) NAME(look)(p, count, image + c * plane, plane, out + c * s->points, s->points, taps, 1);
}

/* Tasks are blocks of points, those of a sample one after the other. */
static TARGET void NAME(sample_points)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Sampling *s = context;
    NAME(Points) p;
    ptrdiff_t plane = product(s->sizes);
    for (ptrdiff_t task = from; task < to; task++) {
        ptrdiff_t n = task / s->blocks, first = task % s->blocks * POINTS, count = MIN(POINTS, s->points - first);
        const REAL *image = (const REAL *)s->image + n * s->c * plane;
        REAL *out = (REAL *)s->out + n * s->c * s->points + first;
        NAME(find_points)(s, (const REAL *)s->grid + (n * s->points + first) * s->dims, count, &p);
        switch (s->taps) {
        case 1: NAME(look_at)(s, &p, count, image, out, 1); break;
        case 4: NAME(look_at)(s, &p, count, image, out, 4); break;
        case 8: NAME(look_at)(s, &p, count, image, out, 8); break;
        default: NAME(look_at)(s, &p, count, image, out, 16); break;
        }
    }
}

/* -- backward ------------------------------------------------------------------------------------------------------ */

/* Adds g to the taps of the image's gradient, and g times the image to the products of the taps. */
INLINE TARGET void NAME(give_taps)(NAME(Points) *p, ptrdiff_t i, int count, const int taps, REAL g, const REAL *image,
                                   REAL *of_image)
{
    const int32_t *at = p->at + i * taps;
    const REAL *share = p->share + i * taps;
    REAL *products = p->product + i * taps;
    for (int k = 0; k < count; k++) {
        if (of_image != NULL) of_image[at[k]] += g * share[k];
        if (image != NULL) products[k] += g * image[at[k]];
    }
}

INLINE TARGET void NAME(give)(NAME(Points) *p, ptrdiff_t count, const REAL *g, const REAL *image, REAL *of_image,
                              const int taps)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        if (p->count[i] == taps) {
            NAME(give_taps)(p, i, taps, taps, g[i], image, of_image);
        } else {
            NAME(give_taps)(p, i, p->count[i], taps, g[i], image, of_image);
        }
    }
}

INLINE TARGET void NAME(give_back)(NAME(Points) *p, ptrdiff_t count, const REAL *g, const REAL *image, REAL *of_image,
                                   const int taps)
{
    if (image == NULL) {
        NAME(give)(p, count, g, NULL, of_image, taps);
    } else if (of_image == NULL) {
        NAME(give)(p, count, g, image, NULL, taps);
    } else {
        NAME(give)(p, count, g, image, of_image, taps);
    }
}

/* The products of taps with the slopes of their shares: the gradient by the grid. */
static TARGET void NAME(give_grid)(const Sampling *s, const NAME(Points) *p, ptrdiff_t count, REAL *of_grid)
{
    int each = s->along, first = DIMS - s->dims;
    for (ptrdiff_t i = 0; i < count; i++) {
        REAL sum[DIMS] = {0};
        for (int k = 0; k < p->count[i] && s->mode != MODE_NEAREST; k++) {
            int tap = p->tap[i * s->taps + k], turn[DIMS] = {tap / (each * each), tap / each % each, tap % each};
            for (int dim = first; dim < DIMS; dim++) {
                REAL term = p->product[i * s->taps + k];
                for (int d = first; d < DIMS; d++) {
                    const NAME(Along) *a = &p->along[d];
                    term *= d == dim ? a->slope[turn[d]][i] : a->share[turn[d]][i];
                }
                sum[dim] += term;
            }
        }
        for (int dim = first; dim < DIMS; dim++) of_grid[i * s->dims + DIMS - 1 - dim] = sum[dim];
    }
}

/* Tasks are groups of channels, each with a gradient of the grid of its own. */
static TARGET void NAME(sample_back)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Sampling *s = context;
    NAME(Points) p;
    ptrdiff_t plane = product(s->sizes);
    for (ptrdiff_t task = from; task < to; task++) {
        ptrdiff_t n = task / s->groups, group = task % s->groups;
        ptrdiff_t low = group * s->c / s->groups, high = (group + 1) * s->c / s->groups;
        for (ptrdiff_t first = 0; first < s->points; first += POINTS) {
            ptrdiff_t count = MIN(POINTS, s->points - first), place = (n * s->points + first) * s->dims;
            NAME(find_points)(s, (const REAL *)s->grid + place, count, &p);
            if (s->of_grid != NULL) memset(p.product, 0, (size_t)(count * s->taps) * sizeof(REAL));
            for (ptrdiff_t c = n * s->c + low; c < n * s->c + high; c++) {
                const REAL *g = (const REAL *)s->g + c * s->points + first;
                const REAL *image = s->of_grid == NULL ? NULL : (const REAL *)s->image + c * plane;
                REAL *of_image = s->of_image == NULL ? NULL : (REAL *)s->of_image + c * plane;
                switch (s->taps) {
                case 1: NAME(give_back)(&p, count, g, image, of_image, 1); break;
                case 4: NAME(give_back)(&p, count, g, image, of_image, 4); break;
                case 8: NAME(give_back)(&p, count, g, image, of_image, 8); break;
                default: NAME(give_back)(&p, count, g, image, of_image, 16); break;
                }
            }
            if (s->of_grid == NULL) continue;
            NAME(give_grid)(s, &p, count, (REAL *)s->of_grid + group * s->n * s->points * s->dims + place);
        }
    }
}

/* The gradients of the grid by all groups added to the first one, in their order. */
static TARGET void NAME(add_groups)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Sampling *s = context;
    REAL *sum = (REAL *)s->of_grid;
    for (ptrdiff_t group = 1; group < s->groups; group++) {
        const REAL *part = sum + group * s->n * s->points * s->dims;
        for (ptrdiff_t i = from; i < to; i++) sum[i] += part[i];
    }
}
