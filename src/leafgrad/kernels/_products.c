/* Products of matrices by the BLAS that NumPy has loaded, on our own threads.

   BLAS has threads of its own. They wait for the next product with their cores at full speed, in the way of the helpers
   that everything else here uses, and wake each other for products that one thread has done sooner. So a product is
   cut into blocks, the helpers of pool.h compute them, and BLAS is asked to use one thread meanwhile; the number that a
   program has set for it is restored before the product returns.

       product(a, b)          of two matrices, of two stacks of matrices, or of a stack and a matrix
       product(a, b, bias)    and a vector or a matrix that is added to each
       half_product(a, b)     the same of bfloat16, in float32: bfloat16_products.h
       two_products, weighted products of many vectors with two, and sums of many: many_vectors.h
       substitute(a, x, ...)  the other way round, with a triangular matrix: triangular.h

   Of the product of a matrix with itself, transposed, only the blocks on the diagonal and above are computed.

   Which functions of BLAS these are, products.py finds out. Anything unusual is left to NumPy. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "bfloat16.h"
#include "blas.h"
#include "native.h"
#include "pool.h"
#include "vectors.h"

#define ROW_MAJOR 101
#define AS_IT_IS 111
#define TRANSPOSED 112
#define OF_ONE_THREAD 262144 /* products of numbers: up to here OpenBLAS itself uses one thread */
#define LET_OTHERS_RUN 16384
#define SPLIT_FROM 1000000  /* where a second thread pays, */
#define LONG_FROM 12000000  /* and where it is worth being woken */
#define BLOCK 32            /* rows or columns of a block, at least */
#define FEW_ROWS 32         /* see products.py */
#define FEW_RESULTS 2048
#define PANEL 128           /* columns of a product of few rows at once: 16 kB, which stay in the first cache */
#define MIRRORED_ROWS 80    /* rows of a block of a product that is the same on both sides of its diagonal */
#define MIRRORED 16         /* rows and columns that are copied to the other side at once */

typedef void (*Gemm64f)(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t,
                        float, float *, int64_t);
typedef void (*Gemm64d)(int, int, int, int64_t, int64_t, int64_t, double, const double *, int64_t, const double *,
                        int64_t, double, double *, int64_t);
typedef void (*Gemm32f)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
typedef void (*Gemm32d)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
                        int);

static struct {
    void *single, *twice; /* products of float, of double; */
    void *single_triangle, *twice_triangle; /* solutions with triangular matrices */
    int wide;             /* are sizes 64 bits? */
    void (*set_threads)(int);
    int (*get_threads)(void);
    int inside; /* products that are running with one thread; changed with the interpreter lock only */
    int before; /* the number of threads that is to be restored after the last of them */
} blas;

/* A matrix, or a stack of them, in which either the elements of rows or those of columns follow each other. */
typedef struct {
    char *data;
    npy_intp rows, columns, step; /* step: elements from row to row, or from column to column */
    npy_intp stack;               /* bytes from matrix to matrix */
    int turned;                   /* columns follow each other */
} Matrix;

typedef struct {
    Matrix a, b, c;
    npy_intp size; /* of an element */
    int add;       /* to what is in c already */
    int mirrored;  /* is b the transposed a? */
    npy_intp matrices, row_blocks, column_blocks;
} Product;

static void gemm(int size, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t k, BlasOperand a, BlasOperand b, int add, char *c,
                 ptrdiff_t c_step)
{
    int turn_a = a.turned ? TRANSPOSED : AS_IT_IS, turn_b = b.turned ? TRANSPOSED : AS_IT_IS;
    if (size == 4 && blas.wide) {
        ((Gemm64f)blas.single)(ROW_MAJOR, turn_a, turn_b, rows, columns, k, 1, (const float *)a.data, a.step,
                               (const float *)b.data, b.step, (float)add, (float *)c, c_step);
    } else if (size == 4) {
        ((Gemm32f)blas.single)(ROW_MAJOR, turn_a, turn_b, (int)rows, (int)columns, (int)k, 1, (const float *)a.data,
                               (int)a.step, (const float *)b.data, (int)b.step, (float)add, (float *)c, (int)c_step);
    } else if (blas.wide) {
        ((Gemm64d)blas.twice)(ROW_MAJOR, turn_a, turn_b, rows, columns, k, 1, (const double *)a.data, a.step,
                              (const double *)b.data, b.step, (double)add, (double *)c, c_step);
    } else {
        ((Gemm32d)blas.twice)(ROW_MAJOR, turn_a, turn_b, (int)rows, (int)columns, (int)k, 1, (const double *)a.data,
                              (int)a.step, (const double *)b.data, (int)b.step, (double)add, (double *)c, (int)c_step);
    }
}

/* A few rows times a transposed matrix of floats, by way of the transposed product, which BLAS computes sooner. */
static void multiply_few_rows(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t k, BlasOperand a, BlasOperand b, int add,
                              float *c, ptrdiff_t c_step)
{
    float panel[PANEL * FEW_ROWS];
    BlasOperand turned = {a.data, a.step, 1};
    for (ptrdiff_t left = 0; left < columns; left += PANEL) {
        ptrdiff_t width = columns - left < PANEL ? columns - left : PANEL;
        BlasOperand part = {b.data + left * b.step * 4, b.step, 0};
        gemm(4, width, rows, k, part, turned, 0, (char *)panel, rows);
        for (ptrdiff_t row = 0; row < rows; row++) {
            float *out = c + row * c_step + left;
            for (ptrdiff_t column = 0; column < width; column++) {
                out[column] = (add ? out[column] : 0) + panel[column * rows + row];
            }
        }
    }
}

/* c = a b, or c += a b with `add` = 1. */
static void multiply(int size, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t k, BlasOperand a, BlasOperand b, int add,
                     char *c, ptrdiff_t c_step)
{
    if (size == 4 && rows <= FEW_ROWS && rows * columns >= FEW_RESULTS && !a.turned && b.turned) {
        multiply_few_rows(rows, columns, k, a, b, add, (float *)c, c_step);
    } else {
        gemm(size, rows, columns, k, a, b, add, c, c_step);
    }
}

/* One block of one of the products. */
static void multiply_block(const Product *p, npy_intp matrix, npy_intp row, npy_intp rows, npy_intp column,
                           npy_intp columns)
{
    const Matrix *a = &p->a, *b = &p->b, *c = &p->c;
    BlasOperand x = {a->data + matrix * a->stack + row * (a->turned ? 1 : a->step) * p->size, a->step, a->turned};
    BlasOperand y = {b->data + matrix * b->stack + column * (b->turned ? b->step : 1) * p->size, b->step, b->turned};
    char *z = c->data + matrix * c->stack + (row * c->step + column) * p->size;
    multiply((int)p->size, rows, columns, a->columns, x, y, p->add, z, c->step);
}

static npy_intp border(npy_intp size, npy_intp blocks, npy_intp block)
{
    npy_intp at = size * block / blocks;
    return block == blocks ? size : at - at % 16; /* so that blocks begin where vectors do */
}

/* Copy what is right of the diagonal, in rows from `top` to `bottom`, to the other side of it, by squares that fit into
   the cache. */
#define DEFINE_MIRROR(T)                                                                                               \
    static void mirror_##T(T *c, npy_intp size, npy_intp top, npy_intp bottom)                                         \
    {                                                                                                                  \
        for (npy_intp left = top; left < size; left += MIRRORED) {                                                     \
            npy_intp right = size - left < MIRRORED ? size : left + MIRRORED;                                          \
            for (npy_intp row = top; row < bottom; row++) {                                                            \
                for (npy_intp column = left > row ? left : row + 1; column < right; column++) {                        \
                    c[column * size + row] = c[row * size + column];                                                   \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
DEFINE_MIRROR(float)
DEFINE_MIRROR(double)

static void run_blocks(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Product *p = context;
    for (ptrdiff_t item = from; item < to; item++) {
        npy_intp column = item % p->column_blocks, row = item / p->column_blocks % p->row_blocks;
        npy_intp matrix = item / p->column_blocks / p->row_blocks;
        npy_intp top = border(p->c.rows, p->row_blocks, row), left = border(p->c.columns, p->column_blocks, column);
        npy_intp bottom = border(p->c.rows, p->row_blocks, row + 1);
        npy_intp right = border(p->c.columns, p->column_blocks, column + 1);
        if (p->mirrored) left = top;
        multiply_block(p, matrix, top, bottom - top, left, right - left);
        if (p->mirrored && p->size == 4) {
            mirror_float((float *)(p->c.data + matrix * p->c.stack), p->c.rows, top, bottom);
        } else if (p->mirrored) {
            mirror_double((double *)(p->c.data + matrix * p->c.stack), p->c.rows, top, bottom);
        }
    }
}

static int begin(void)
{
    if (blas.single == NULL) return 0;
    if (blas.inside++ == 0) {
        blas.before = blas.get_threads();
        if (blas.before != 1) blas.set_threads(1);
    }
    return 1;
}

static void end(void)
{
    if (--blas.inside == 0 && blas.before != 1) blas.set_threads(blas.before);
}

static void run(Product *p)
{
    double each = (double)p->c.rows * (double)p->c.columns * (double)p->a.columns, work = each * (double)p->matrices;
    int threads = pool_threads(), alone = each > OF_ONE_THREAD;
    p->row_blocks = p->column_blocks = 1;
    if (work < LET_OTHERS_RUN) {
        run_blocks(p, 0, p->matrices);
        return;
    }
    if (p->mirrored) {
        p->row_blocks = p->c.rows / MIRRORED_ROWS > 1 ? p->c.rows / MIRRORED_ROWS : 1;
    } else if (work >= SPLIT_FROM && p->matrices < 2 * threads && threads > 1) {
        npy_intp *blocks = p->c.rows >= p->c.columns ? &p->row_blocks : &p->column_blocks;
        npy_intp size = p->c.rows >= p->c.columns ? p->c.rows : p->c.columns;
        *blocks = work < LONG_FROM ? threads : 2 * threads; /* few: each of them packs the other matrix anew */
        if (*blocks > size / BLOCK) *blocks = size / BLOCK > 0 ? size / BLOCK : 1;
    }
    if (alone) begin();
    npy_intp items = p->matrices * p->row_blocks * p->column_blocks;
    Py_BEGIN_ALLOW_THREADS
    if (work < SPLIT_FROM || items < 2) {
        run_blocks(p, 0, items);
    } else {
        /* so many bytes that a block of a large matrix is taken by itself, and small matrices several at once */
        pool_run(run_blocks, p, items, (npy_intp)(work / (double)items / 4) + 1, work >= LONG_FROM);
    }
    Py_END_ALLOW_THREADS
    if (alone) end();
}

/* -- arrays -------------------------------------------------------------------------------------------------------- */

/* The matrices of an array: its last two dimensions. Those before must be as one, with one step from matrix to matrix.
   0 if they do not lie as BLAS wants them. */
static int read_matrix(PyArrayObject *array, Matrix *m, npy_intp size)
{
    int dimensions = PyArray_NDIM(array);
    for (int d = 0; d < dimensions - 3; d++) {
        if (PyArray_STRIDE(array, d) != PyArray_STRIDE(array, d + 1) * PyArray_DIM(array, d + 1)) return 0;
    }
    m->data = PyArray_BYTES(array);
    m->rows = PyArray_DIM(array, dimensions - 2), m->columns = PyArray_DIM(array, dimensions - 1);
    m->stack = dimensions > 2 ? PyArray_STRIDE(array, dimensions - 3) : 0;
    npy_intp down = PyArray_STRIDE(array, dimensions - 2), right = PyArray_STRIDE(array, dimensions - 1);
    npy_intp least = m->columns > 1 ? m->columns : 1;
    if ((right == size || m->columns == 1) && (m->rows == 1 || (down >= least * size && down % size == 0))) {
        m->turned = 0;
        m->step = m->rows == 1 ? least : down / size;
        return 1;
    }
    least = m->rows > 1 ? m->rows : 1;
    if ((down == size || m->rows == 1) && (m->columns == 1 || (right >= least * size && right % size == 0))) {
        m->turned = 1;
        m->step = m->columns == 1 ? least : right / size;
        return 1;
    }
    return 0;
}

static int is_usual(PyObject *object, int type)
{
    return PyArray_CheckExact(object) && PyArray_TYPE((PyArrayObject *)object) == type &&
           PyArray_ISBEHAVED_RO((PyArrayObject *)object);
}

/* The matrices that are to be multiplied, and the shape of the result. 0: for NumPy. */
static int read_factors(PyObject *const *args, Product *p, npy_intp *shape)
{
    PyArrayObject *a = (PyArrayObject *)args[0], *b = (PyArrayObject *)args[1];
    int type = PyArray_TYPE(a), dimensions = PyArray_NDIM(a);
    if (dimensions < 2 || !is_usual(args[0], type) || !is_usual(args[1], type) || PyArray_NDIM(b) < 2) return 0;
    if (!read_matrix(a, &p->a, p->size) || !read_matrix(b, &p->b, p->size)) return 0;
    p->matrices = 1;
    if (PyArray_NDIM(b) == 2 && dimensions > 2) { /* a single product of a taller matrix */
        if (!PyArray_IS_C_CONTIGUOUS(a) || p->a.columns == 0) return 0;
        p->a.rows = PyArray_SIZE(a) / p->a.columns;
        p->a.step = p->a.columns, p->a.turned = 0;
    } else if (PyArray_NDIM(b) != dimensions || !PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), dimensions - 2)) {
        return 0;
    } else {
        p->matrices = PyArray_MultiplyList(PyArray_DIMS(a), dimensions - 2);
    }
    memcpy(shape, PyArray_DIMS(a), sizeof(npy_intp) * (size_t)dimensions);
    shape[dimensions - 1] = p->b.columns;
    return p->a.columns == p->b.rows && p->a.columns && p->a.rows && p->b.columns && p->matrices;
}

static int is_mirrored(const Product *p)
{
    return p->a.data == p->b.data && p->a.rows == p->b.columns && p->a.stack == p->b.stack &&
           p->a.step == p->b.step && p->a.turned != p->b.turned;
}

/* product(a, b) or product(a, b, bias). NULL without an exception: for NumPy. */
static PyObject *product(PyObject *const *args, Py_ssize_t given)
{
    if (blas.single == NULL || given < 2 || given > 3 || !PyArray_CheckExact(args[0])) return NULL;
    int type = PyArray_TYPE((PyArrayObject *)args[0]), dimensions = PyArray_NDIM((PyArrayObject *)args[0]);
    if (type != NPY_FLOAT && type != NPY_DOUBLE) return NULL;
    PyArrayObject *bias = NULL;
    Product p = {.size = type == NPY_FLOAT ? 4 : 8};
    npy_intp shape[NPY_MAXDIMS];
    if (!read_factors(args, &p, shape)) return NULL;
    if (!blas.wide && (p.a.step > INT_MAX || p.b.step > INT_MAX || p.b.columns > INT_MAX || p.a.rows > INT_MAX)) return NULL;
    if (given == 3) {
        bias = (PyArrayObject *)args[2];
        if (!PyArray_CheckExact(args[2]) || PyArray_TYPE(bias) != type || PyArray_NDIM(bias) > 2 ||
            PyArray_NDIM(bias) < 1) return NULL;
    }
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(dimensions, shape, type);
    if (out == NULL) return NULL;
    if (bias != NULL) {
        if (PyArray_CopyInto(out, bias) < 0) {
            PyErr_Clear(); /* shapes that do not fit: NumPy has the words for it */
            Py_DECREF(out);
            return NULL;
        }
        p.add = 1;
    }
    p.mirrored = bias == NULL && is_mirrored(&p);
    p.c = (Matrix){PyArray_BYTES(out), p.a.rows, p.b.columns, p.b.columns, p.a.rows * p.b.columns * p.size, 0};
    run(&p);
    return (PyObject *)out;
}

#include "bfloat16_products.h"
#include "many_vectors.h"
#include "triangular.h"

/* -- the module ---------------------------------------------------------------------------------------------------- */

static PyObject *use(PyObject *module, PyObject *args)
{
    unsigned long long single, twice, single_triangle, twice_triangle, set_threads, get_threads;
    int wide;
    if (!PyArg_ParseTuple(args, "pKKKKKK:use", &wide, &single, &twice, &single_triangle, &twice_triangle,
                          &set_threads, &get_threads)) {
        return NULL;
    }
    blas.single = (void *)(uintptr_t)single;
    blas.twice = (void *)(uintptr_t)twice;
    blas.single_triangle = (void *)(uintptr_t)single_triangle;
    blas.twice_triangle = (void *)(uintptr_t)twice_triangle;
    blas.set_threads = (void (*)(int))(uintptr_t)set_threads;
    blas.get_threads = (int (*)(void))(uintptr_t)get_threads;
    blas.wide = wide;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"use", use, METH_VARARGS,
     "use(wide, sgemm, dgemm, strsm, dtrsm, set_threads, get_threads): addresses of functions of a BLAS"},
    {NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leafgrad.kernels._products",
    .m_doc = "Products of matrices by NumPy's BLAS, on the threads of leafgrad.",
    .m_size = -1,
    .m_methods = methods,
};

static const NativeFunction functions[] = {
    {"product", product},
    {"half_product", half_product},
    {"two_products", two_products},
    {"weighted", weighted},
    {"dot", dot},
    {"times_vector", times_vector},
    {"substitute", substitute},
    {NULL, NULL},
};
static const BlasFunctions lent = {begin, end, multiply};

PyMODINIT_FUNC PyInit__products(void)
{
    import_array();
    PyObject *module = pool_import() < 0 ? NULL : PyModule_Create(&definition);
    PyObject *capsule = PyCapsule_New((void *)&lent, BLAS_CAPSULE, NULL);
    if (module != NULL && (capsule == NULL || PyModule_AddObjectRef(module, "blas", capsule) < 0 ||
                           native_prepare(module, functions) < 0)) {
        Py_CLEAR(module);
    }
    Py_XDECREF(capsule);
    return module;
}
