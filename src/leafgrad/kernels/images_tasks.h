/* The work of one thread at a time: a band of an image, or some of the weights. Included as images_products.h is. */

/* Segments of a pass in a band, in memory of their own. */
static TARGET int NAME(segments_of)(Segments *found, const Layout *layout, const Pass *pass, const Band *band,
                                    const ptrdiff_t *low, const ptrdiff_t *place, int inside, ptrdiff_t copies)
{
    ptrdiff_t first[DIMS], count[DIMS], pitch = layout->extent[2];
    *found = (Segments){NULL, NULL, 0};
    if (!positions_in(pass, band, first, count)) return 1;
    ptrdiff_t segments = segment_count(count, pitch, LANES);
    found->segments = malloc((size_t)(segments * copies) * sizeof(Segment));
    found->runs = malloc((size_t)run_count(segments, pitch, LANES) * sizeof(Run));
    if (found->segments == NULL || found->runs == NULL) return 0;
    find_segments(found, layout, pass, band, low, place, LANES, inside);
    return 1;
}

/* Where a pass is computed in a band: vectors of positions, or positions one by one. */
typedef struct {
    Segments segments;
    ptrdiff_t count, *at, *to;
} NAME(Found);

static TARGET int NAME(find)(NAME(Found) *found, const Product *p, const Pass *pass, const Band *band,
                             const ptrdiff_t *low, ptrdiff_t samples)
{
    ptrdiff_t place[DIMS] = {p->out_sizes[1] * p->out_sizes[2], p->out_sizes[2], 1};
    ptrdiff_t step = p->channels * p->layout.channel, out = p->groups * p->results * product(p->out_sizes);
    ptrdiff_t first[DIMS], count[DIMS];
    if (p->in_place) step *= p->groups;
    if (!positions_in(pass, band, first, count)) return 1;
    if (p->by_results) {
        ptrdiff_t bytes = product(count) * samples * (ptrdiff_t)sizeof(ptrdiff_t);
        found->at = malloc((size_t)bytes);
        found->to = malloc((size_t)bytes);
        if (found->at == NULL || found->to == NULL) return 0;
        ptrdiff_t positions = find_positions(&p->layout, pass, band, low, found->at, place, found->to);
        found->count = positions * samples;
        for (ptrdiff_t i = positions; i < found->count; i++) {
            found->at[i] = found->at[i - positions] + step;
            found->to[i] = found->to[i - positions] + out;
        }
        return 1;
    }
    if (!NAME(segments_of)(&found->segments, &p->layout, pass, band, low, place, p->in_place, samples)) return 0;
    ptrdiff_t segments = found->segments.count;
    for (ptrdiff_t s = 0; s < segments && p->in_place; s++) { /* they count from the begin of the band */
        found->segments.segments[s].from += band->from;
    }
    for (ptrdiff_t s = 1; s < samples; s++) repeat_segments(&found->segments, segments, step, out);
    return 1;
}

/* Some samples, one group: laid out, unless they are read where they are, and multiplied. */
static TARGET void NAME(convolve_group)(const Product *p, ptrdiff_t sample, ptrdiff_t samples, ptrdiff_t group,
                                        const ptrdiff_t *low, const NAME(Found) *found, REAL *copy, REAL *sums)
{
    ptrdiff_t in_size = product(p->layout.sizes), out_size = product(p->out_sizes), at = sample * p->groups + group;
    const REAL *image = (const REAL *)p->input + at * p->channels * in_size;
    const REAL *bias = p->bias == NULL ? NULL : (const REAL *)p->bias + group * p->results;
    REAL *out = (REAL *)p->output + at * p->results * out_size;
    for (ptrdiff_t s = 0; s < samples && !p->in_place; s++) {
        NAME(lay_out)(&p->layout, image + s * p->groups * p->channels * in_size, p->channels, low,
                      copy + s * p->channels * p->layout.channel);
    }
    for (ptrdiff_t i = 0; i < p->passes; i++) {
        const Pass *pass = &p->pass[i];
        const REAL *packed = (const REAL *)pass->packed + group * p->packed_rows * pass->terms;
        if (p->by_results) {
            NAME(multiply_by_results)(pass, found[i].count, found[i].at, found[i].to, copy, packed, p->results,
                                      p->packed_rows, bias, out, out_size, sums);
        } else {
            NAME(multiply)(pass, &found[i].segments, p->in_place ? image : copy, packed, p->results, bias, out,
                           out_size, sums);
        }
    }
}

/* One band of some samples, for some of the groups. */
static TARGET int NAME(convolve_band)(const Product *p, ptrdiff_t sample, const Band *band, ptrdiff_t group,
                                      ptrdiff_t groups)
{
    ptrdiff_t low[DIMS], samples = MIN(p->samples, p->n - sample), most = TILES * ROWS * VECTORS * LANES;
    for (int i = 0; i < DIMS; i++) low[i] = i == band->dim ? band->from : p->low[i];
    NAME(Found) *found = calloc((size_t)p->passes, sizeof *found);
    REAL *copy = NULL, *sums = NULL;
    int good = found != NULL;
    for (ptrdiff_t i = 0; good && i < p->passes; i++) {
        good = NAME(find)(&found[i], p, &p->pass[i], band, low, samples);
        most = MAX(most, found[i].count * p->packed_rows);
    }
    if (good) {
        sums = malloc((size_t)most * sizeof(REAL));
        if (!p->in_place) {
            copy = malloc((size_t)(samples * p->channels * p->layout.channel + TAIL) * sizeof(REAL));
        }
        good = sums != NULL && (p->in_place || copy != NULL);
    }
    for (ptrdiff_t g = group; good && g < group + groups; g++) {
        NAME(convolve_group)(p, sample, samples, g, low, found, copy, sums);
    }
    for (ptrdiff_t i = 0; found != NULL && i < p->passes; i++) {
        free(found[i].segments.segments);
        free(found[i].segments.runs);
        free(found[i].at);
        free(found[i].to);
    }
    free(found);
    free(sums);
    free(copy);
    return good;
}

static TARGET void NAME(convolve)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Product *p = context;
    for (ptrdiff_t task = from; task < to; task++) {
        ptrdiff_t part = task % p->group_parts, at = task / p->group_parts;
        ptrdiff_t first = part * p->group_step, begin = p->range[0] + at % p->bands * p->band;
        Band band = {p->dim, begin, MIN(begin + p->band, p->range[1])};
        ptrdiff_t groups = MIN(p->group_step, p->groups - first);
        if (!NAME(convolve_band)(p, at / p->bands * p->samples, &band, first, groups)) atomic_fetch_or(&p->failed, 1);
    }
}

/* Some results' weights of one group and pass. */
static TARGET void NAME(pack_weights)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Product *p = context;
    ptrdiff_t parts = ceil_div(p->results, PACKED_AT_ONCE), vectors = p->packed_rows / LANES;
    for (ptrdiff_t task = from; task < to; task++) {
        ptrdiff_t part = task % parts, first = part * PACKED_AT_ONCE, group = task / parts % p->groups;
        const Pass *pass = &p->pass[task / parts / p->groups];
        const REAL *weights = (const REAL *)p->weights + group * p->weight_group;
        REAL *to_group = (REAL *)pass->packed + group * p->packed_rows * pass->terms;
        if (!p->by_results) {
            NAME(pack)(weights + first * p->weight_result, MIN(PACKED_AT_ONCE, p->results - first), p->weight_result,
                       pass, to_group + first * pass->terms);
            continue;
        }
        for (ptrdiff_t start = 0, panel = 0, width; start < vectors; start += width, panel++) {
            width = panel_width(vectors - start);
            if (panel % parts != part) continue;
            NAME(pack_panel)(weights + start * LANES * p->weight_result, p->results - start * LANES, p->weight_result,
                             pass, width, to_group + start * LANES * pass->terms);
        }
    }
}

/* The products of a unit, for one group and some of its channels, added to (terms, step). The pass has the terms of
   these channels. */
static TARGET int NAME(correlate_unit)(const Gradient *w, const Pass *pass, ptrdiff_t unit, ptrdiff_t group,
                                       ptrdiff_t channel, ptrdiff_t channels, REAL *image, REAL *y, REAL *to)
{
    ptrdiff_t sample = unit / w->bands * w->samples, samples = MIN(w->samples, w->n - sample);
    ptrdiff_t begin = w->range[0] + unit % w->bands * w->band, low[DIMS], image_step = channels * w->layout.channel;
    ptrdiff_t place[DIMS] = {w->out_sizes[1] * w->out_sizes[2], w->out_sizes[2], 1};
    ptrdiff_t in_size = product(w->layout.sizes), out_size = product(w->out_sizes);
    Band band = {w->dim, begin, MIN(begin + w->band, w->range[1])};
    for (int i = 0; i < DIMS; i++) low[i] = i == band.dim ? band.from : w->low[i];
    Segments found = {NULL, NULL, 0};
    ptrdiff_t *at = NULL, count = 0, y_start = begin * (w->dim == 2 ? 1 : place[w->dim]);
    if (w->by_results) {
        at = malloc((size_t)(w->segments * LANES * samples) * sizeof(ptrdiff_t));
        if (at != NULL) count = find_positions(&w->layout, pass, &band, low, at, NULL, NULL);
    } else if (NAME(segments_of)(&found, &w->layout, pass, &band, low, place, 0, samples)) {
        count = found.count;
    }
    for (ptrdiff_t s = 0; s < samples && count; s++) {
        ptrdiff_t here = (sample + s) * w->groups + group;
        const REAL *own = (const REAL *)w->gradient + here * w->results * out_size;
        NAME(lay_out)(&w->layout, (const REAL *)w->input + (here * w->channels + channel) * in_size, channels, low,
                      image + s * image_step);
        if (w->by_results) {
            NAME(turn_results)(own + y_start, out_size, w->results, count, y, count * samples, s * count);
            for (ptrdiff_t i = 0; i < count; i++) at[s * count + i] = at[i] + s * image_step;
        } else {
            found.count = count;
            NAME(lay_out_results)(&found, own, out_size, w->results, y + s * count * LANES, count * samples * LANES);
        }
    }
    if (w->by_results) {
        NAME(add_outer)(pass->terms, pass->offsets, count * samples, at, image, y, to, w->step);
    } else {
        for (ptrdiff_t s = 1; s < samples; s++) repeat_segments(&found, count, image_step, 0);
        NAME(add_dots)(pass, &found, image, y, count * samples * LANES, w->results, to, w->step);
    }
    free(at);
    free(found.segments);
    free(found.runs);
    return count != 0;
}

/* A task is the sum of some units, for one group and some of its channels. */
static TARGET void NAME(correlate_units)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Gradient *w = context;
    ptrdiff_t taps = w->pass.terms / w->channels;
    REAL *image = malloc((size_t)(w->samples * w->channel_step * w->layout.channel + TAIL) * sizeof(REAL));
    REAL *y = malloc((size_t)(w->samples * w->step * w->segments * LANES) * sizeof(REAL));
    int good = image != NULL && y != NULL;
    for (ptrdiff_t task = from; good && task < to; task++) {
        ptrdiff_t group = task / w->channel_parts % w->groups, sum = task / w->channel_parts / w->groups;
        ptrdiff_t first = task % w->channel_parts * w->channel_step;
        ptrdiff_t channels = MIN(w->channel_step, w->channels - first);
        ptrdiff_t begin = sum * w->units / w->sum_count, end = (sum + 1) * w->units / w->sum_count;
        REAL *total = (REAL *)w->sums + ((sum * w->groups + group) * w->channels + first) * taps * w->step;
        Pass pass = w->pass;
        pass.terms = channels * taps;
        for (ptrdiff_t unit = begin; good && unit < end; unit++) {
            good = NAME(correlate_unit)(w, &pass, unit, group, first, channels, image, y, total);
        }
    }
    if (!good) atomic_fetch_or(&w->failed, 1);
    free(image);
    free(y);
}

/* The sum of all sums, one after the other; (groups, terms, step) becomes (groups, results, terms). A task is some
   terms of a group. */
static TARGET void NAME(add_sums)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Gradient *w = context;
    ptrdiff_t terms = w->pass.terms, size = w->groups * terms * w->step, tasks = ceil_div(terms, ADDED_AT_ONCE);
    REAL zero = 0;
    for (ptrdiff_t task = from; task < to; task++) {
        ptrdiff_t first = task % tasks * ADDED_AT_ONCE, count = MIN(ADDED_AT_ONCE, terms - first);
        REAL *total = (REAL *)w->sums + (task / tasks * terms + first) * w->step;
        REAL *out = (REAL *)w->output + task / tasks * w->results * terms + first;
        for (ptrdiff_t sum = 1; sum < w->sum_count; sum++) {
            for (ptrdiff_t i = 0; i < count * w->step; i++) total[i] += total[sum * size + i];
        }
        for (ptrdiff_t o = 0; o < w->results; o++) {
            for (ptrdiff_t i = 0; i < count; i++) {
                REAL value = total[i * w->step + o];
                zero += value * 0; /* which is nan of nan and of infinity */
                out[o * terms + i] = value;
            }
        }
    }
    if (zero != 0 && !w->by_results) atomic_fetch_or(&w->failed, 2);
}
