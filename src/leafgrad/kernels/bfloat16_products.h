/* Products of matrices of bfloat16, with sums in float32. Included by _products.c.

   Processors that multiply bfloat16 do so pair by pair: sum += a0 b0 + a1 b1, for sixteen sums at once, twice as fast as
   products of float32. OpenBLAS is built without that, so it is done here. Both matrices are first written down as such
   pairs, in panels: those of TALL rows of a, or of WIDE columns of b, lie side by side. Then every tile of TALL x WIDE
   sums stays in registers while a panel of each goes by. */
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
    uint32_t *a, *b;            /* their memory, matrix after matrix */
    npy_intp chunks;            /* parts of a matrix's panels of a, each of which is a task */
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

static void pack_panels(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Brains *w = context;
    for (ptrdiff_t item = from; item < to; item++) {
        npy_intp matrix = item / (w->tall + w->wide), panel = item % (w->tall + w->wide);
        int of_a = panel < w->tall, width = of_a ? TALL : WIDE;
        const Matrix *m = of_a ? &w->product.a : &w->product.b;
        npy_intp down = m->turned ? 1 : m->step, right = m->turned ? m->step : 1, k = w->product.a.columns;
        npy_intp across = of_a ? down : right, along = of_a ? right : down;
        panel -= of_a ? 0 : w->tall;
        npy_intp first = panel * width, lines = (of_a ? m->rows : m->columns) - first;
        uint32_t *out = of_a ? w->a + (matrix * w->tall + panel) * TALL * w->pairs
                             : w->b + (matrix * w->wide + panel) * WIDE * w->pairs;
        pack((const uint16_t *)(m->data + matrix * m->stack) + first * across, across, along,
             lines < width ? lines : width, k, width, out);
    }
}

__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) static void
tile(const uint32_t *a, const uint32_t *b, npy_intp pairs, float *c, npy_intp step, npy_intp rows, npy_intp columns)
{
    __m512 left[TALL], right[TALL];
#pragma GCC unroll 12
    for (int row = 0; row < TALL; row++) left[row] = right[row] = _mm512_setzero_ps();
    for (npy_intp pair = 0; pair < pairs; pair++, a += TALL, b += WIDE) {
        __m512bh first = (__m512bh)_mm512_loadu_si512(b), second = (__m512bh)_mm512_loadu_si512(b + 16);
#pragma GCC unroll 12
        for (int row = 0; row < TALL; row++) {
            __m512bh one = (__m512bh)_mm512_set1_epi32((int)a[row]);
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

static void multiply_panels(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Brains *w = context;
    const Matrix *c = &w->product.c;
    npy_intp at_once = PANELS_AT_ONCE / (w->pairs * WIDE * 4) + 1;
    for (ptrdiff_t item = from; item < to; item++) {
        npy_intp matrix = item / w->chunks, chunk = item % w->chunks;
        npy_intp top = w->tall * chunk / w->chunks, bottom = w->tall * (chunk + 1) / w->chunks;
        float *out = (float *)(c->data + matrix * c->stack);
        npy_intp start = w->product.mirrored ? top * TALL / WIDE : 0;
        for (; start < w->wide; start += at_once) {
            npy_intp end = start + at_once < w->wide ? start + at_once : w->wide;
            for (npy_intp i = top; i < bottom; i++) {
                for (npy_intp j = start; j < end; j++) {
                    if (w->product.mirrored && (j + 1) * WIDE <= i * TALL) continue;
                    tile(w->a + (matrix * w->tall + i) * TALL * w->pairs, w->b + (matrix * w->wide + j) * WIDE * w->pairs,
                         w->pairs, out + i * TALL * c->step + j * WIDE, c->step, c->rows - i * TALL, c->columns - j * WIDE);
                }
            }
        }
        if (w->product.mirrored) {
            mirror_float(out, c->rows, top * TALL, bottom * TALL < c->rows ? bottom * TALL : c->rows);
        }
    }
}

static void run_brains(Brains *w, npy_intp items, double work)
{
    npy_intp panels = w->product.matrices * (w->tall + w->wide);
    if (work < LET_OTHERS_RUN) {
        pack_panels(w, 0, panels);
        multiply_panels(w, 0, items);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (work < SPLIT_FROM) {
        pack_panels(w, 0, panels);
        multiply_panels(w, 0, items);
    } else {
        pool_run(pack_panels, w, panels, w->pairs * TALL * 8, work >= LONG_FROM);
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
    w.a = malloc((size_t)(p->matrices * w.pairs * (w.tall * TALL + w.wide * WIDE)) * sizeof(uint32_t));
    if (w.a == NULL) return PyErr_NoMemory();
    w.b = w.a + p->matrices * w.pairs * w.tall * TALL;
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM((PyArrayObject *)args[0]), shape, NPY_FLOAT);
    if (out != NULL) {
        p->c = (Matrix){PyArray_BYTES(out), p->a.rows, p->b.columns, p->b.columns, p->a.rows * p->b.columns * 4, 0};
        int threads = pool_threads();
        w.chunks = p->matrices >= 4 * threads ? 1 : 4 * threads;
        if (w.chunks > w.tall) w.chunks = w.tall;
        double work = (double)p->matrices * (double)p->a.rows * (double)p->b.columns * (double)p->a.columns;
        run_brains(&w, p->matrices * w.chunks, work);
    }
    free(w.a);
    return (PyObject *)out;
}

#else

static PyObject *half_product(PyObject *const *args, Py_ssize_t given) { return NULL; }

#endif
#endif
