/* Linear maps along the last dimensions, plane by plane: interpolation and its gradient. Included as images_pooling.h is.

   Of each row of results, the rows of the image that have a part in it are added up first, by vectors; then its elements
   are made of those of the sum. Some rows are made together, so that numbers and weights are read once for them. */

/* sum = the rows that make (z, y), each times its weight. */
INLINE TARGET void NAME(add_rows)(const Mapping *m, const REAL *image, ptrdiff_t z, ptrdiff_t y, REAL *sum)
{
    const Map *depth = &m->map[0], *height = &m->map[1];
    ptrdiff_t width = m->map[2].in, before = 0;
    for (int64_t a = depth->start[z]; a < depth->start[z + 1]; a++) {
        REAL outer = depth->weight == NULL ? 1 : ((const REAL *)depth->weight)[a];
        for (int64_t b = height->start[y]; b < height->start[y + 1]; b++) {
            REAL w = height->weight == NULL ? outer : outer * ((const REAL *)height->weight)[b];
            const REAL *row = image + (depth->element[a] * height->in + height->element[b]) * width;
            if (before++) {
                for (ptrdiff_t i = 0; i < width; i++) sum[i] += w * row[i];
            } else if (depth->weight == NULL && height->weight == NULL) {
                memcpy(sum, row, (size_t)width * sizeof(REAL));
            } else {
                for (ptrdiff_t i = 0; i < width; i++) sum[i] = w * row[i];
            }
        }
    }
    if (!before) memset(sum, 0, (size_t)width * sizeof(REAL));
}

/* Results of so many rows at once; `each`: elements of a result, 0 if their number differs. */
INLINE TARGET void NAME(make_rows_of)(const Map *map, const REAL *sum, REAL *out, const int rows, const int each,
                                      const int weighted)
{
    const REAL *weight = (const REAL *)map->weight;
    for (ptrdiff_t q = 0; q < map->out; q++) {
        int64_t from = each ? q * each : map->start[q], to = each ? from + each : map->start[q + 1];
        REAL total[ROWS_AT_ONCE] = {0};
        for (int64_t t = from; t < to; t++) {
            ptrdiff_t at = map->element[t];
            for (int r = 0; r < rows; r++) {
                REAL term = weighted ? weight[t] * sum[r * map->in + at] : sum[r * map->in + at];
                total[r] = each && t == from ? term : total[r] + term;
            }
        }
        for (int r = 0; r < rows; r++) out[r * map->out + q] = total[r];
    }
}

INLINE TARGET void NAME(make_results)(const Map *map, const REAL *sum, REAL *out, const int rows)
{
    if (map->weight == NULL) {
        if (map->each == 1) NAME(make_rows_of)(map, sum, out, rows, 1, 0);
        else NAME(make_rows_of)(map, sum, out, rows, 0, 0);
    } else if (map->each == 2) {
        NAME(make_rows_of)(map, sum, out, rows, 2, 1);
    } else if (map->each == 4) {
        NAME(make_rows_of)(map, sum, out, rows, 4, 1);
    } else {
        NAME(make_rows_of)(map, sum, out, rows, 0, 1);
    }
}

/* Tasks are planes. */
static TARGET void NAME(map_planes)(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Mapping *m = context;
    const Map *map = m->map;
    ptrdiff_t elements = map[0].in * map[1].in * map[2].in, rows = map[0].out * map[1].out;
    REAL *sum = malloc((size_t)(ROWS_AT_ONCE * map[2].in) * sizeof(REAL));
    if (sum == NULL) {
        atomic_fetch_or(&m->failed, 1);
        return;
    }
    for (ptrdiff_t plane = from; plane < to; plane++) {
        const REAL *image = (const REAL *)m->input + plane * elements;
        REAL *out = (REAL *)m->output + plane * rows * map[2].out;
        for (ptrdiff_t row = 0; row < rows;) {
            int some = rows - row >= ROWS_AT_ONCE ? ROWS_AT_ONCE : 1;
            for (int r = 0; r < some; r++) {
                ptrdiff_t at = row + r;
                NAME(add_rows)(m, image, at / map[1].out, at % map[1].out, sum + r * map[2].in);
            }
            if (some == ROWS_AT_ONCE) NAME(make_results)(&map[2], sum, out + row * map[2].out, ROWS_AT_ONCE);
            else NAME(make_results)(&map[2], sum, out + row * map[2].out, 1);
            row += some;
        }
    }
    free(sum);
}
