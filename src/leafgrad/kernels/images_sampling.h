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
INLINE TARGET REAL NAME(moved)(REAL x, ptrdiff_t size, int align, const int padding, REAL *sign)
{
    REAL last = (REAL)(size - 1);
    *sign = 1;
    if (padding == PAD_ZEROS) return x;
    if (padding == PAD_REFLECTION) x = NAME(mirrored)(x, align ? 0 : -(REAL)0.5, align ? last : last + 1, sign);
    int inside = (x > 0) & (x < last);
    *sign = inside ? *sign : 0;
    return inside ? x : x > 0 ? last : 0;
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

/* The taps of points along one dimension, for one mode and one padding: loops without branches, that become vectors. */
INLINE TARGET void NAME(taps_of)(const REAL *at, REAL less, REAL scale, ptrdiff_t size, int align, ptrdiff_t count,
                                 NAME(Along) *a, const int mode, const int padding)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        REAL x = at[i] - less, sign;
        if (mode == MODE_CUBIC) {
            REAL first = NAME(down)(x), share[4], slope[4];
            NAME(cubic)(x - first, scale, share, slope);
            for (int k = 0; k < 4; k++) {
                REAL place = NAME(moved)(first + (REAL)(k - 1), size, align, padding, &sign);
                a->place[k][i] = NAME(place_in)(place, size);
                a->share[k][i] = share[k];
                a->slope[k][i] = slope[k];
            }
        } else if (mode == MODE_NEAREST) {
            x = NAME(moved)(x, size, align, padding, &sign);
            a->place[0][i] = NAME(place_in)(NAME(nearest)(x), size);
            a->share[0][i] = 1;
        } else {
            x = NAME(moved)(x, size, align, padding, &sign);
            REAL first = NAME(down)(x);
            a->place[0][i] = NAME(place_in)(first, size);
            a->place[1][i] = NAME(place_in)(first + 1, size);
            a->share[0][i] = first + 1 - x;
            a->share[1][i] = x - first;
            a->slope[0][i] = -sign * scale;
            a->slope[1][i] = sign * scale;
        }
    }
}

static TARGET void NAME(taps_along)(const Sampling *s, const REAL *grid, ptrdiff_t count, int dim, NAME(Along) *a)
{
    ptrdiff_t size = s->sizes[dim];
    REAL at[POINTS], scale = (REAL)(s->align ? size - 1 : size) / 2, less = s->align ? 0 : (REAL)0.5;
    for (ptrdiff_t i = 0; i < count; i++) at[i] = (grid[i * s->dims + DIMS - 1 - dim] + 1) * scale;
    /* not to be made one step with the product: at elements, where gradients jump, roundings are to be PyTorch's */
    __asm__ volatile("" : : "r"(at) : "memory");
#define TAPS_OF(mode, padding)                                                                                         \
    case mode * 4 + padding: NAME(taps_of)(at, less, scale, size, s->align, count, a, mode, padding); break;
    switch (s->mode * 4 + s->padding) {
        TAPS_OF(MODE_LINEAR, PAD_ZEROS)
        TAPS_OF(MODE_LINEAR, PAD_BORDER)
        TAPS_OF(MODE_LINEAR, PAD_REFLECTION)
        TAPS_OF(MODE_NEAREST, PAD_ZEROS)
        TAPS_OF(MODE_NEAREST, PAD_BORDER)
        TAPS_OF(MODE_NEAREST, PAD_REFLECTION)
        TAPS_OF(MODE_CUBIC, PAD_ZEROS)
        TAPS_OF(MODE_CUBIC, PAD_BORDER)
        TAPS_OF(MODE_CUBIC, PAD_REFLECTION)
    }
#undef TAPS_OF
}

/* The lists of taps, those of the last dimension fastest: all are written, and those outside then overwritten. */
INLINE TARGET void NAME(list_taps)(const Sampling *s, ptrdiff_t count, NAME(Points) *p, const int dims, const int each)
{
    const NAME(Along) *z = &p->along[0], *y = &p->along[1], *x = &p->along[2];
    const int taps = dims == 2 ? each * each : each * each * each;
    int32_t rows = (int32_t)s->sizes[1], row = (int32_t)s->sizes[2];
    for (ptrdiff_t i = 0; i < count; i++) {
        int end = 0;
        int32_t *at = p->at + i * taps;
        int *tap = p->tap + i * taps;
        REAL *share = p->share + i * taps;
        for (int l = 0; l < (dims == 2 ? 1 : each); l++) {
            for (int k = 0; k < each; k++) {
                INT slice = dims == 2 ? 0 : z->place[l][i], line = y->place[k][i];
                REAL of_row = dims == 2 ? y->share[k][i] : z->share[l][i] * y->share[k][i];
                for (int j = 0; j < each; j++) {
                    INT place = x->place[j][i];
                    at[end] = ((int32_t)slice * rows + (int32_t)line) * row + (int32_t)place;
                    tap[end] = (l * each + k) * each + j;
                    share[end] = of_row * x->share[j][i];
                    end += (slice | line | place) >= 0;
                }
            }
        }
        p->count[i] = end;
    }
}

static TARGET void NAME(find_points)(const Sampling *s, const REAL *grid, ptrdiff_t count, NAME(Points) *p)
{
    for (int dim = DIMS - s->dims; dim < DIMS; dim++) NAME(taps_along)(s, grid, count, dim, &p->along[dim]);
    if (s->dims == 3) {
        if (s->along == 1) NAME(list_taps)(s, count, p, 3, 1);
        else NAME(list_taps)(s, count, p, 3, 2);
    } else if (s->along == 1) {
        NAME(list_taps)(s, count, p, 2, 1);
    } else if (s->along == 2) {
        NAME(list_taps)(s, count, p, 2, 2);
    } else {
        NAME(list_taps)(s, count, p, 2, 4);
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

INLINE TARGET void NAME(look_at)(const Sampling *s, NAME(Points) *p, ptrdiff_t count, const REAL *image, REAL *out,
                                 const int taps)
{
    ptrdiff_t plane = product(s->sizes), c = 0;
    if (taps == 1) {
        for (ptrdiff_t i = 0; i < count; i++) p->at[i] = p->count[i] ? p->at[i] : 0;
        for (; c < s->c; c++) {
            for (ptrdiff_t i = 0; i < count; i++) {
                REAL found = image[c * plane + p->at[i]];
                out[c * s->points + i] = p->count[i] ? found : 0;
            }
        }
        return;
    }
    for (; c + 4 <= s->c; c += 4) NAME(look)(p, count, image + c * plane, plane, out + c * s->points, s->points, taps, 4);
    if (c + 3 == s->c) {
        NAME(look)(p, count, image + c * plane, plane, out + c * s->points, s->points, taps, 3);
        return;
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

/* Adds g to the taps of the image's gradient, and g times the image to the products of the taps: of one point. */
INLINE TARGET void NAME(give_taps)(const int32_t *at, const REAL *share, REAL *products, int count, const REAL *g,
                                   ptrdiff_t points, const REAL *image, REAL *of_image, ptrdiff_t plane,
                                   const int channels)
{
    for (int k = 0; k < count; k++) {
        REAL sum = products[k];
        for (int c = 0; c < channels; c++) {
            if (of_image != NULL) of_image[c * plane + at[k]] += g[c * points] * share[k];
            if (image != NULL) sum += g[c * points] * image[c * plane + at[k]];
        }
        products[k] = sum;
    }
}

INLINE TARGET void NAME(give)(NAME(Points) *p, ptrdiff_t count, const REAL *g, ptrdiff_t points, const REAL *image,
                              REAL *of_image, ptrdiff_t plane, const int taps, const int channels)
{
    for (ptrdiff_t i = 0; i < count; i++) {
        int found = p->count[i];
        ptrdiff_t from = i * taps;
        if (found == taps) {
            NAME(give_taps)(p->at + from, p->share + from, p->product + from, taps, g + i, points, image, of_image,
                            plane, channels);
        } else {
            NAME(give_taps)(p->at + from, p->share + from, p->product + from, found, g + i, points, image, of_image,
                            plane, channels);
        }
    }
}

/* All channels of a group. */
INLINE TARGET void NAME(give_all)(const Sampling *s, NAME(Points) *p, ptrdiff_t count, const REAL *g, const REAL *image,
                                  REAL *of_image, ptrdiff_t channels, const int taps)
{
    ptrdiff_t plane = product(s->sizes);
#define GIVE(channels, image, of_image) NAME(give)(p, count, g, s->points, image, of_image, plane, taps, channels)
    while (channels > 0) {
        ptrdiff_t some = image == NULL || of_image == NULL ? 1 : channels >= 4 ? 4 : channels == 3 ? 3 : 1;
        if (image == NULL) GIVE(1, NULL, of_image);
        else if (of_image == NULL) GIVE(1, image, NULL);
        else if (some == 4) GIVE(4, image, of_image);
        else if (some == 3) GIVE(3, image, of_image);
        else GIVE(1, image, of_image);
        channels -= some;
        g += some * s->points;
        if (image != NULL) image += some * plane;
        if (of_image != NULL) of_image += some * plane;
    }
#undef GIVE
}

/* The products of taps with the slopes of their shares: the gradient by the grid. */
INLINE TARGET void NAME(slopes)(const Sampling *s, const NAME(Points) *p, ptrdiff_t count, REAL *of_grid,
                                const int dims, const int each)
{
    const int first = DIMS - dims, taps = dims == 2 ? each * each : each * each * each;
    for (ptrdiff_t i = 0; i < count; i++) {
        REAL sum[DIMS] = {0};
        for (int k = 0; k < p->count[i]; k++) {
            int tap = p->tap[i * taps + k], turn[DIMS] = {tap / (each * each), tap / each % each, tap % each};
            for (int dim = first; dim < DIMS; dim++) {
                REAL term = p->product[i * taps + k];
                for (int d = first; d < DIMS; d++) {
                    const NAME(Along) *a = &p->along[d];
                    term *= d == dim ? a->slope[turn[d]][i] : a->share[turn[d]][i];
                }
                sum[dim] += term;
            }
        }
        for (int dim = first; dim < DIMS; dim++) of_grid[i * dims + DIMS - 1 - dim] = sum[dim];
    }
}

static TARGET void NAME(give_grid)(const Sampling *s, const NAME(Points) *p, ptrdiff_t count, REAL *of_grid)
{
    if (s->mode == MODE_NEAREST) memset(of_grid, 0, (size_t)(count * s->dims) * sizeof(REAL));
    else if (s->dims == 3) NAME(slopes)(s, p, count, of_grid, 3, 2);
    else if (s->along == 2) NAME(slopes)(s, p, count, of_grid, 2, 2);
    else NAME(slopes)(s, p, count, of_grid, 2, 4);
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
            memset(p.product, 0, (size_t)(count * s->taps) * sizeof(REAL));
            ptrdiff_t c = n * s->c + low, some = high - low;
            const REAL *g = (const REAL *)s->g + c * s->points + first;
            /* the nearest element is the same in the whole neighbourhood: its place has no gradient */
            int by_grid = s->of_grid != NULL && s->mode != MODE_NEAREST;
            const REAL *image = by_grid ? (const REAL *)s->image + c * plane : NULL;
            REAL *of_image = s->of_image == NULL ? NULL : (REAL *)s->of_image + c * plane;
            switch (image == NULL && of_image == NULL ? 0 : s->taps) {
            case 0: break;
            case 1: NAME(give_all)(s, &p, count, g, image, of_image, some, 1); break;
            case 4: NAME(give_all)(s, &p, count, g, image, of_image, some, 4); break;
            case 8: NAME(give_all)(s, &p, count, g, image, of_image, some, 8); break;
            default: NAME(give_all)(s, &p, count, g, image, of_image, some, 16); break;
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
