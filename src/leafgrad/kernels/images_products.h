/* Sums of products over laid out images. Included once for each kind of number and each instruction set, with

       REAL      float or double              LANES     numbers in a vector
       ROWS      1, 2, 4 or 8: results at a time for each vector of positions, so that all sums stay in registers
       TARGET    the attribute of functions   NAME(x)   the name of a function here

   Vectors are the compiler's own (vector_size), which every instruction set has some form of. */

typedef REAL NAME(vector) __attribute__((vector_size(LANES * sizeof(REAL))));
typedef REAL NAME(loaded) __attribute__((vector_size(LANES * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

/* -- laying out ---------------------------------------------------------------------------------------------------- */

/* Elements at, at + step, ... of a row, of which those from `begin` to `end` are inside; outside there is `fill`. */
INLINE TARGET void NAME(lay_out_row)(const REAL *from, ptrdiff_t at, ptrdiff_t step, ptrdiff_t begin, ptrdiff_t end,
                                     REAL fill, REAL *to, ptrdiff_t count)
{
    for (ptrdiff_t i = 0; i < begin; i++) to[i] = fill;
    if (step == 1) {
        memcpy(to + begin, from + at + begin, (size_t)(end - begin) * sizeof(REAL));
    } else if (step == 2) {
        for (ptrdiff_t i = begin; i < end; i++) to[i] = from[at + i * 2];
    } else {
        for (ptrdiff_t i = begin; i < end; i++) to[i] = from[at + i * step];
    }
    for (ptrdiff_t i = end; i < count; i++) to[i] = fill;
}

/* One part of a channel. */
static TARGET void NAME(lay_out_part)(const Layout *l, const REAL *image, const ptrdiff_t *at, REAL *to)
{
    ptrdiff_t width = l->extent[2], begin, end;
    inside_of(at[2], l->step[2], l->sizes[2], width, &begin, &end);
    for (ptrdiff_t i = 0, z = at[0]; i < l->extent[0]; i++, z += l->step[0]) {
        for (ptrdiff_t j = 0, y = at[1]; j < l->extent[1]; j++, y += l->step[1], to += width) {
            if (z >= 0 && z < l->sizes[0] && y >= 0 && y < l->sizes[1]) {
                const REAL *row = image + (z * l->sizes[1] + y) * l->sizes[2];
                NAME(lay_out_row)(row, at[2], l->step[2], begin, end, 0, to, width);
            } else {
                memset(to, 0, (size_t)width * sizeof(REAL));
            }
        }
    }
}

/* Channels of an image, from position `low` on. */
static TARGET void NAME(lay_out)(const Layout *l, const REAL *image, ptrdiff_t channels, const ptrdiff_t *low, REAL *to)
{
    ptrdiff_t begin[DIMS], size = product(l->sizes), part_size = product(l->extent);
    for (int i = 0; i < DIMS; i++) begin[i] = (low[i] + l->shift[i]) * l->step[i] - l->before[i];
    for (ptrdiff_t c = 0; c < channels; c++, image += size, to += l->channel) {
        REAL *part = to;
        for (ptrdiff_t z = 0; z < l->parts[0]; z++) {
            for (ptrdiff_t y = 0; y < l->parts[1]; y++) {
                for (ptrdiff_t x = 0; x < l->parts[2]; x++, part += part_size) {
                    ptrdiff_t at[DIMS] = {begin[0] + l->remainders[0][z], begin[1] + l->remainders[1][y],
                                          begin[2] + l->remainders[2][x]};
                    NAME(lay_out_part)(l, image, at, part);
                }
            }
        }
    }
    for (ptrdiff_t i = 0; i < TAIL; i++) to[i] = 0;
}

/* -- a tile: some results, for some vectors of positions ----------------------------------------------------------- */

/* sums[row][vector] of weights[term][row] times the vector at places[vector] + offsets[term] */
INLINE TARGET void NAME(tile)(int rows, int vectors, ptrdiff_t terms, const REAL *weights, const ptrdiff_t *offsets,
                              const REAL *const *places, REAL *sums, int add)
{
    NAME(vector) sum[ROWS][VECTORS], piece[VECTORS];
    const REAL *place[VECTORS];
    for (int j = 0; j < vectors; j++) place[j] = places[j];
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < vectors; j++) sum[i][j] = (NAME(vector)){0};
    }
    for (ptrdiff_t term = 0; term < terms; term++, weights += rows) {
        ptrdiff_t offset = offsets[term];
        for (int j = 0; j < vectors; j++) piece[j] = *(const NAME(loaded) *)(place[j] + offset);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < vectors; j++) sum[i][j] += weights[i] * piece[j];
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < vectors; j++) {
            NAME(loaded) *to = (NAME(loaded) *)(sums + (i * VECTORS + j) * LANES);
            if (add) sum[i][j] += *to;
            *to = sum[i][j];
        }
    }
}

#define TILE(rows, vectors)                                                                                            \
    static TARGET void NAME(tile_##rows##_##vectors)(ptrdiff_t terms, const REAL *weights, const ptrdiff_t *offsets,   \
                                                     const REAL *const *places, REAL *sums, int add)                   \
    {                                                                                                                  \
        NAME(tile)(rows, vectors, terms, weights, offsets, places, sums, add);                                         \
    }
EACH_TILE(TILE)
#undef TILE

typedef void (*NAME(tile_function))(ptrdiff_t, const REAL *, const ptrdiff_t *, const REAL *const *, REAL *, int);
static const NAME(tile_function) NAME(tiles)[][VECTORS] = {TABLE_OF_TILES(tile)};

/* The weights of one group, block after block of rows, each by term; missing rows are zero. */
static TARGET void NAME(pack)(const REAL *weights, ptrdiff_t results, ptrdiff_t result_step, const Pass *pass, REAL *to)
{
    for (ptrdiff_t at = 0; at < results;) {
        int rows = block_rows(results - at, ROWS);
        ptrdiff_t given = MIN(rows, results - at);
        for (ptrdiff_t term = 0; term < pass->terms; term++, to += rows) {
            for (int i = 0; i < rows; i++) {
                to[i] = i < given ? weights[(at + i) * result_step + pass->weights[term]] : 0;
            }
        }
        at += rows;
    }
}

/* One row of some tiles to its places, with the bias. */
static TARGET void NAME(write_out)(const Segments *found, ptrdiff_t first, ptrdiff_t end, const REAL *sums, REAL bias,
                                   REAL *out, ptrdiff_t step)
{
    for (ptrdiff_t s = first; s < end; s++) {
        const REAL *vector = sums + (s - first) / VECTORS * (ROWS * VECTORS * LANES) + (s - first) % VECTORS * LANES;
        const Segment *segment = &found->segments[s];
        for (int r = 0; r < segment->runs; r++) {
            Run run = found->runs[segment->first_run + r];
            REAL *to = out + segment->to + run.to;
            const REAL *from = vector + run.lane;
            if (step != 1) {
                for (int i = 0; i < run.count; i++) to[i * step] = from[i] + bias;
            } else if (run.count == LANES) {
                *(NAME(loaded) *)to = *(const NAME(loaded) *)from + bias;
            } else {
                for (int i = 0; i < run.count; i++) to[i] = from[i] + bias;
            }
        }
    }
}

/* All results of one group at the positions of these segments. `sums` has room for TILES tiles. Some tiles are computed
   together, for which the weights of some rows and terms are read once. */
static TARGET void NAME(multiply)(const Pass *pass, const Segments *found, const REAL *image, const REAL *packed,
                                  ptrdiff_t results, const REAL *bias, REAL *out, ptrdiff_t out_channel, REAL *sums)
{
    for (ptrdiff_t first = 0; first < found->count; first += TILES * VECTORS) {
        ptrdiff_t end = MIN(found->count, first + TILES * VECTORS);
        const REAL *weights = packed;
        for (ptrdiff_t at = 0; at < results;) {
            int rows = block_rows(results - at, ROWS);
            ptrdiff_t term = 0;
            do {
                ptrdiff_t terms = MIN(pass->terms - term, TERMS);
                REAL *to = sums;
                for (ptrdiff_t tile = first; tile < end; tile += VECTORS, to += ROWS * VECTORS * LANES) {
                    int vectors = (int)MIN(VECTORS, end - tile);
                    const REAL *places[VECTORS];
                    for (int j = 0; j < vectors; j++) places[j] = image + found->segments[tile + j].from;
                    NAME(tiles)[row_case(rows)][vectors - 1](terms, weights + term * rows, pass->offsets + term, places,
                                                             to, term > 0);
                }
                term += terms;
            } while (term < pass->terms);
            for (ptrdiff_t o = 0; o < MIN(rows, results - at); o++) {
                NAME(write_out)(found, first, end, sums + o * VECTORS * LANES, bias == NULL ? 0 : bias[at + o],
                                out + (at + o) * out_channel, pass->side[2].step);
            }
            weights += pass->terms * rows;
            at += rows;
        }
    }
}

/* -- vectors of results -------------------------------------------------------------------------------------------- */

/* Where positions do not fill vectors but results do, or where positions are what is summed over, there are vectors of
   results. They lie in panels of up to VECTORS of them, each with all its terms (or positions) one after the other. */

static TARGET void NAME(turn_results)(const REAL *y, ptrdiff_t y_channel, ptrdiff_t results, ptrdiff_t positions,
                                      REAL *to, ptrdiff_t all_positions, ptrdiff_t first)
{
    ptrdiff_t vectors = ceil_div(results, LANES);
    for (ptrdiff_t start = 0, width; start < vectors; start += width, to += all_positions * width * LANES) {
        width = panel_width(vectors - start);
        for (ptrdiff_t j = 0; j < width; j++) {
            ptrdiff_t o = (start + j) * LANES, given = MIN(LANES, results - o);
            for (ptrdiff_t p = 0; p < positions; p++) {
                const REAL *from = y + o * y_channel + p;
                REAL *vector = to + ((first + p) * width + j) * LANES;
                for (ptrdiff_t i = 0; i < LANES; i++) vector[i] = i < given ? from[i * y_channel] : 0;
            }
        }
    }
}

/* to[row][vector] += the sum over i of the element at image + rows[row] + at[i] times the vector of y[i] */
INLINE TARGET void NAME(outer)(int rows, int vectors, ptrdiff_t count, const ptrdiff_t *at, const REAL *image,
                               const ptrdiff_t *offsets, const REAL *y, REAL *to, ptrdiff_t step)
{
    NAME(vector) sum[ROWS][VECTORS], own[VECTORS];
    const REAL *place[ROWS];
    for (int i = 0; i < rows; i++) {
        place[i] = image + offsets[i];
        for (int j = 0; j < vectors; j++) sum[i][j] = (NAME(vector)){0};
    }
    for (ptrdiff_t p = 0; p < count; p++, y += vectors * LANES) {
        ptrdiff_t here = at[p];
        for (int j = 0; j < vectors; j++) own[j] = *(const NAME(loaded) *)(y + j * LANES);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < vectors; j++) sum[i][j] += place[i][here] * own[j];
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < vectors; j++) *(NAME(loaded) *)(to + i * step + j * LANES) += sum[i][j];
    }
}

#define OUTER(rows, vectors)                                                                                           \
    static TARGET void NAME(outer_##rows##_##vectors)(ptrdiff_t count, const ptrdiff_t *at, const REAL *image,         \
                                                      const ptrdiff_t *offsets, const REAL *y, REAL *to,               \
                                                      ptrdiff_t step)                                                  \
    {                                                                                                                  \
        NAME(outer)(rows, vectors, count, at, image, offsets, y, to, step);                                            \
    }
EACH_TILE(OUTER)
#undef OUTER

typedef void (*NAME(outer_function))(ptrdiff_t, const ptrdiff_t *, const REAL *, const ptrdiff_t *, const REAL *,
                                     REAL *, ptrdiff_t);
static const NAME(outer_function) NAME(outers)[][VECTORS] = {TABLE_OF_TILES(outer)};

/* The same for any number of rows and vectors: to (rows, step) += image[offsets[row] + at[i]] times y[i], for all i. */
static TARGET void NAME(add_outer)(ptrdiff_t rows, const ptrdiff_t *offsets, ptrdiff_t count, const ptrdiff_t *at,
                                   const REAL *image, const REAL *y, REAL *to, ptrdiff_t step)
{
    for (ptrdiff_t first = 0; first < count; first += AT_ONCE) {
        ptrdiff_t some = MIN(AT_ONCE, count - first), width;
        for (ptrdiff_t vector = 0; vector < step / LANES; vector += width) {
            width = panel_width(step / LANES - vector);
            const REAL *own = y + (vector * count + first * width) * LANES;
            for (ptrdiff_t row = 0; row < rows;) {
                int block = whole_rows(rows - row, ROWS);
                NAME(outers)[row_case(block)][width - 1](some, at + first, image, offsets + row, own,
                                                         to + row * step + vector * LANES, step);
                row += block;
            }
        }
    }
}

/* One panel of the weights of a group. */
static TARGET void NAME(pack_panel)(const REAL *weights, ptrdiff_t results, ptrdiff_t result_step, const Pass *pass,
                                    ptrdiff_t width, REAL *to)
{
    for (ptrdiff_t term = 0; term < pass->terms; term++) {
        for (ptrdiff_t o = 0; o < width * LANES; o++) {
            *to++ = o < results ? weights[o * result_step + pass->weights[term]] : 0;
        }
    }
}

/* All results of one group at these positions: `at` in the image, `places` in the results. */
static TARGET void NAME(multiply_by_results)(const Pass *pass, ptrdiff_t count, const ptrdiff_t *at,
                                             const ptrdiff_t *places, const REAL *image, const REAL *packed,
                                             ptrdiff_t results, ptrdiff_t step, const REAL *bias, REAL *out,
                                             ptrdiff_t out_channel, REAL *sums)
{
    memset(sums, 0, (size_t)(count * step) * sizeof(REAL));
    NAME(add_outer)(count, at, pass->terms, pass->offsets, image, packed, sums, step);
    for (ptrdiff_t first = 0; first < count; first += LANES) {
        ptrdiff_t some = MIN(LANES, count - first);
        const REAL *from = sums + first * step;
        for (ptrdiff_t o = 0; o < results; o++) {
            REAL *to = out + o * out_channel, more = bias == NULL ? 0 : bias[o];
            for (ptrdiff_t i = 0; i < some; i++) to[places[first + i]] = from[i * step + o] + more;
        }
    }
}

/* -- weights: sums over all positions ------------------------------------------------------------------------------ */

/* Where there are few results: vectors of positions, whose lanes are added up at the end. */

INLINE TARGET REAL NAME(sum_of)(NAME(vector) v)
{
    union {
        NAME(vector) whole;
        REAL lanes[LANES];
    } u = {v};
    for (int width = LANES / 2; width; width /= 2) {
        for (int i = 0; i < width; i++) u.lanes[i] += u.lanes[i + width];
    }
    return u.lanes[0];
}

/* to[column][row] += the sum over segments of y[row] times the vector at image + offsets[column] */
INLINE TARGET void NAME(dots)(int rows, int columns, const Segments *found, const REAL *image, const ptrdiff_t *offsets,
                              const REAL *y, ptrdiff_t y_row, REAL *to, ptrdiff_t step)
{
    NAME(vector) sum[DOT_ROWS][DOT_COLUMNS], own[DOT_ROWS];
    const REAL *place[DOT_COLUMNS];
    for (int j = 0; j < columns; j++) {
        place[j] = image + offsets[j];
        for (int i = 0; i < rows; i++) sum[i][j] = (NAME(vector)){0};
    }
    for (ptrdiff_t s = 0; s < found->count; s++, y += LANES) {
        ptrdiff_t at = found->segments[s].from;
        for (int i = 0; i < rows; i++) own[i] = *(const NAME(loaded) *)(y + i * y_row);
        for (int j = 0; j < columns; j++) {
            NAME(vector) piece = *(const NAME(loaded) *)(place[j] + at);
            for (int i = 0; i < rows; i++) sum[i][j] += own[i] * piece;
        }
    }
    for (int j = 0; j < columns; j++) {
        for (int i = 0; i < rows; i++) to[j * step + i] += NAME(sum_of)(sum[i][j]);
    }
}

#define DOTS(rows, columns)                                                                                            \
    static TARGET void NAME(dots_##rows##_##columns)(const Segments *found, const REAL *image,                         \
                                                     const ptrdiff_t *offsets, const REAL *y, ptrdiff_t y_row,         \
                                                     REAL *to, ptrdiff_t step)                                         \
    {                                                                                                                  \
        NAME(dots)(rows, columns, found, image, offsets, y, y_row, to, step);                                          \
    }
DOTS(1, 1) DOTS(1, 3) DOTS(1, 6)
DOTS(2, 1) DOTS(2, 3) DOTS(2, 6)
#if ROWS == 8
DOTS(4, 1) DOTS(4, 3) DOTS(4, 6)
#endif
#undef DOTS

typedef void (*NAME(dots_function))(const Segments *, const REAL *, const ptrdiff_t *, const REAL *, ptrdiff_t, REAL *,
                                    ptrdiff_t);

static const NAME(dots_function) NAME(all_dots)[3][3] = {
    {NAME(dots_1_1), NAME(dots_1_3), NAME(dots_1_6)},
    {NAME(dots_2_1), NAME(dots_2_3), NAME(dots_2_6)},
#if ROWS == 8
    {NAME(dots_4_1), NAME(dots_4_3), NAME(dots_4_6)},
#endif
};

/* Channels of y as the vectors of segments, with zeros where a lane is no position. */
static TARGET void NAME(lay_out_results)(const Segments *found, const REAL *y, ptrdiff_t y_channel, ptrdiff_t channels,
                                         REAL *to, ptrdiff_t to_channel)
{
    for (ptrdiff_t o = 0; o < channels; o++, y += y_channel) {
        REAL *row = to + o * to_channel;
        for (ptrdiff_t s = 0; s < found->count; s++, row += LANES) {
            const Segment *segment = &found->segments[s];
            const Run *run = found->runs + segment->first_run;
            if (segment->runs != 1 || run->count != LANES) {
                for (int i = 0; i < LANES; i++) row[i] = 0;
            }
            for (int r = 0; r < segment->runs; r++, run++) {
                for (int i = 0; i < run->count; i++) row[run->lane + i] = y[run->to + i];
            }
        }
    }
}

/* Adds the products of all channels of y, laid out, with all terms to (terms, results). */
static TARGET void NAME(add_dots)(const Pass *pass, const Segments *found, const REAL *image, const REAL *y,
                                  ptrdiff_t y_channel, ptrdiff_t results, REAL *to, ptrdiff_t step)
{
    for (ptrdiff_t at = 0; at < results;) {
        int rows = whole_rows(results - at, DOT_ROWS);
        for (ptrdiff_t term = 0; term < pass->terms;) {
            ptrdiff_t left = pass->terms - term;
            int columns = left >= 6 ? 6 : left >= 3 ? 3 : 1;
            NAME(all_dots)[row_case(rows)][columns / 3](found, image, pass->offsets + term, y + at * y_channel,
                                                        y_channel, to + term * step + at, step);
            term += columns;
        }
        at += rows;
    }
}
