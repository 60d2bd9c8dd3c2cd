/* Products of matrices of bfloat16, with sums in float32. Included by _products.c.

   Processors that multiply bfloat16 do so pair by pair: sum += a0 b0 + a1 b1, for sixteen sums at once, twice as fast as
   products of float32. OpenBLAS is built without that, so it is done here. The columns of b are written down as such
   pairs, in panels: those of WIDE columns lie side by side. Every tile of TALL x WIDE sums stays in registers while TALL
   rows of a and a panel go by. Rows are read where they are, if pairs follow each other in them; otherwise they are
   written down as panels before.

   A task is some panels of b and all rows of a. So who computes with a panel has written it: with a panel that comes
   from the cache of another core a tile takes twice as long. */
#ifndef LEAFGRAD_BFLOAT16_PRODUCTS_H
#define LEAFGRAD_BFLOAT16_PRODUCTS_H

#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 11 && !defined(__clang__)

#include <immintrin.h>

#define TALL 12
#define WIDE 32
#define PANELS_AT_ONCE 393216 /* bytes of panels of b, which stay in a core's own cache while all rows of a go by */

typedef struct {
    Product product;
    npy_intp pairs, tall, wide; /* of a row; panels of a, of b */
    uint32_t *a, *b;            /* their memory, matrix after matrix; that of a is NULL if its rows are read as they are */
    npy_intp parts;             /* of the panels of b of a matrix, each of which is a task */
} Brains;

/* Pairs of a panel: `lines` rows of a or columns of b, each of `k` elements that are `along` apart. */
static void pack(const uint16_t *x, npy_intp across, npy_intp along, npy_intp lines, npy_intp k, int width, uint32_t *out)
{
    for (npy_intp i = 0; i < k; i += 2, out += width) {
        const uint16_t *first = x + i * along, *second = first + along;
        int both = i + 1 < k;
        npy_intp line = 0;
        if (both && along == 1) {
            for (; line < lines; line++) memcpy(out + line, first + line * across, 4);
        } else if (both && across == 1) {
            for (; line < lines; line++) out[line] = first[line] | (uint32_t)second[line] << 16;
        } else {
            for (; line < lines; line++) {
                out[line] = first[line * across] | (both ? (uint32_t)second[line * across] << 16 : 0);
            }
        }
        for (; line < width; line++) out[line] = 0;
    }
}

static void pack_panel(const Brains *w, int of_a, npy_intp matrix, npy_intp panel, uint32_t *out)
{
    const Matrix *m = of_a ? &w->product.a : &w->product.b;
    int width = of_a ? TALL : WIDE;
    npy_intp down = m->turned ? 1 : m->step, right = m->turned ? m->step : 1;
    npy_intp across = of_a ? down : right, along = of_a ? right : down;
    npy_intp first = panel * width, lines = (of_a ? m->rows : m->columns) - first;
    pack((const uint16_t *)(m->data + matrix * m->stack) + first * across, across, along, lines < width ? lines : width,
         w->product.a.columns, width, out);
}

static void pack_rows(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Brains *w = context;
    for (ptrdiff_t item = from; item < to; item++) {
        pack_panel(w, 1, item / w->tall, item % w->tall, w->a + item * TALL * w->pairs);
    }
}

/* Pairs of a row are `along` bytes apart, and rows `across` bytes. */
__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) static void
tile(const char *a, npy_intp across, npy_intp along, const uint32_t *b, npy_intp pairs, float *c, npy_intp step,
     npy_intp rows, npy_intp columns)
{
    __m512 left[TALL], right[TALL];
#pragma GCC unroll 12
    for (int row = 0; row < TALL; row++) left[row] = right[row] = _mm512_setzero_ps();
    for (npy_intp pair = 0; pair < pairs; pair++, a += along, b += WIDE) {
        __m512bh first = (__m512bh)_mm512_loadu_si512(b), second = (__m512bh)_mm512_loadu_si512(b + 16);
#pragma GCC unroll 12
        for (int row = 0; row < TALL; row++) {
            int two;
            memcpy(&two, a + row * across, sizeof two);
            __m512bh one = (__m512bh)_mm512_set1_epi32(two);
            left[row] = _mm512_dpbf16_ps(left[row], one, first);
            right[row] = _mm512_dpbf16_ps(right[row], one, second);
        }
    }
    __mmask16 in_left = columns >= 16 ? 0xffff : (__mmask16)((1u << columns) - 1);
    __mmask16 in_right = columns >= 32 ? 0xffff : columns > 16 ? (__mmask16)((1u << (columns - 16)) - 1) : 0;
#pragma GCC unroll 12
    for (int row = 0; row < TALL; row++) {
        if (row < rows) {
            _mm512_mask_storeu_ps(c + row * step, in_left, left[row]);
            _mm512_mask_storeu_ps(c + row * step + 16, in_right, right[row]);
        }
    }
}

/* Columns from `left` to `right` of what is above the diagonal, as rows below it, by squares that fit into the cache. */
static void mirror_columns(float *c, npy_intp size, npy_intp left, npy_intp right)
{
    for (npy_intp top = 0; top < right; top += MIRRORED) {
        npy_intp bottom = right - top < MIRRORED ? right : top + MIRRORED;
        for (npy_intp column = left > top ? left : top; column < right; column++) {
            npy_intp end = bottom < column ? bottom : column;
            for (npy_intp row = top; row < end; row++) c[column * size + row] = c[row * size + column];
        }
    }
}

/* One row of tiles: TALL rows of a, or those that are left, and panels of b from `start` to `end`. */
static void multiply_rows(const Brains *w, npy_intp matrix, npy_intp panel, npy_intp start, npy_intp end)
{
    const Matrix *a = &w->product.a, *c = &w->product.c;
    npy_intp top = panel * TALL, across = 4, along = 4 * TALL;
    const char *rows = (char *)(w->a + (matrix * w->tall + panel) * TALL * w->pairs);
    if (w->a == NULL) { /* the last tiles share rows with those before: beyond the matrix there is nothing to be read */
        if (top + TALL > c->rows) top = c->rows - TALL;
        rows = a->data + matrix * a->stack + top * a->step * 2, across = a->step * 2, along = 4;
    }
    float *out = (float *)(c->data + matrix * c->stack) + top * c->step;
    for (npy_intp j = start; j < end; j++) {
        tile(rows, across, along, w->b + (matrix * w->wide + j) * WIDE * w->pairs, w->pairs, out + j * WIDE, c->step,
             c->rows - top, c->columns - j * WIDE);
    }
}

static void multiply_panels(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Brains *w = context;
    const Matrix *c = &w->product.c;
    for (ptrdiff_t item = from; item < to; item++) {
        npy_intp matrix = item / w->parts, part = item % w->parts;
        npy_intp start = w->wide * part / w->parts, end = w->wide * (part + 1) / w->parts;
        npy_intp right = end * WIDE < c->columns ? end * WIDE : c->columns;
        npy_intp below = w->product.mirrored ? (right + TALL - 1) / TALL : w->tall;
        for (npy_intp j = start; j < end; j++) {
            pack_panel(w, 0, matrix, j, w->b + (matrix * w->wide + j) * WIDE * w->pairs);
        }
        for (npy_intp i = 0; i < below; i++) {
            npy_intp first = w->product.mirrored && i * TALL / WIDE > start ? i * TALL / WIDE : start;
            multiply_rows(w, matrix, i, first, end);
        }
        if (w->product.mirrored) {
            mirror_columns((float *)(c->data + matrix * c->stack), c->rows, start * WIDE, right);
        }
    }
}

static void run_brains(Brains *w, npy_intp items, double work)
{
    npy_intp panels = w->a == NULL ? 0 : w->product.matrices * w->tall;
    if (work < LET_OTHERS_RUN) {
        pack_rows(w, 0, panels);
        multiply_panels(w, 0, items);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (work < SPLIT_FROM) {
        pack_rows(w, 0, panels);
        multiply_panels(w, 0, items);
    } else {
        if (panels) pool_run(pack_rows, w, panels, w->pairs * TALL * 8, work >= LONG_FROM);
        pool_run(multiply_panels, w, items, (npy_intp)(work / (double)items / 8) + 1, work >= LONG_FROM);
    }
    Py_END_ALLOW_THREADS
}

/* half_product(a, b): of two arrays of bfloat16, in float32. NULL without an exception: for products of float32. */
static PyObject *half_product(PyObject *const *args, Py_ssize_t given)
{
    npy_intp shape[NPY_MAXDIMS];
    Brains w = {.product = {.size = 2}};
    if (given != 2 || !PyArray_CheckExact(args[0]) || !is_bfloat16(PyArray_DESCR((PyArrayObject *)args[0])) ||
        !__builtin_cpu_supports("avx512bf16") || !read_factors(args, &w.product, shape)) return NULL;
    Product *p = &w.product;
    p->mirrored = is_mirrored(p);
    w.pairs = (p->a.columns + 1) / 2;
    w.tall = (p->a.rows + TALL - 1) / TALL, w.wide = (p->b.columns + WIDE - 1) / WIDE;
    int as_they_are = !p->a.turned && p->a.columns % 2 == 0 && p->a.rows >= TALL;
    npy_intp of_b = p->matrices * w.pairs * w.wide * WIDE, of_a = as_they_are ? 0 : p->matrices * w.pairs * w.tall * TALL;
    w.b = malloc((size_t)(of_a + of_b) * sizeof(uint32_t));
    if (w.b == NULL) return PyErr_NoMemory();
    w.a = as_they_are ? NULL : w.b + of_b;
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM((PyArrayObject *)args[0]), shape, NPY_FLOAT);
    if (out != NULL) {
        p->c = (Matrix){PyArray_BYTES(out), p->a.rows, p->b.columns, p->b.columns, p->a.rows * p->b.columns * 4, 0};
        int threads = pool_threads();
        npy_intp at_once = PANELS_AT_ONCE / (w.pairs * WIDE * 4) + 1; /* panels of a task, at most */
        w.parts = p->matrices >= 4 * threads ? 1 : 4 * threads;
        if (w.parts < w.wide / at_once) w.parts = w.wide / at_once;
        if (w.parts > w.wide) w.parts = w.wide;
        double work = (double)p->matrices * (double)p->a.rows * (double)p->b.columns * (double)p->a.columns;
        run_brains(&w, p->matrices * w.parts, work);
    }
    free(w.b);
    return (PyObject *)out;
}

#else

static PyObject *half_product(PyObject *const *args, Py_ssize_t given) { return NULL; }

#endif
#endif
