/* Systems of equations with a triangular matrix, solved in place by BLAS; a part of _products.c.

       substitute(a, x, upper, left, unit)    `x` holds the right sides, transposed and row after row: those of AX = B,
                                              or without `left` of XA = B. With `unit` the diagonal counts as ones.

   The equations for single columns of X (or rows, without `left`) have nothing to do with each other, so that they are
   shared between threads. */
#define ON_THE_LEFT 141
#define ON_THE_RIGHT 142
#define UPPER 121
#define LOWER 122
#define ANY_DIAGONAL 131
#define OF_ONES 132

typedef void (*Trsm64f)(int, int, int, int, int, int64_t, int64_t, float, const float *, int64_t, float *, int64_t);
typedef void (*Trsm64d)(int, int, int, int, int, int64_t, int64_t, double, const double *, int64_t, double *, int64_t);
typedef void (*Trsm32f)(int, int, int, int, int, int, int, float, const float *, int, float *, int);
typedef void (*Trsm32d)(int, int, int, int, int, int, int, double, const double *, int, double *, int);

typedef struct {
    Matrix a, x; /* x in its memory: transposed */
    npy_intp size;
    npy_intp vectors, all, block; /* of one matrix, of all of them, and of those that a thread takes at once */
    int upper, left, unit;
} Triangular;

/* Solve for `count` vectors of one matrix. In memory XᵀAᵀ = Bᵀ is to be solved, with Aᵀ on the right. */
static void solve_vectors(const Triangular *t, const char *a, char *x, npy_intp count)
{
    int side = t->left ? ON_THE_RIGHT : ON_THE_LEFT, triangle = t->upper != t->a.turned ? UPPER : LOWER;
    int turn = t->a.turned ? AS_IT_IS : TRANSPOSED, diagonal = t->unit ? OF_ONES : ANY_DIAGONAL;
    npy_intp rows = t->left ? count : t->x.rows, columns = t->left ? t->x.columns : count;
    if (t->size == 4 && blas.wide) {
        ((Trsm64f)blas.single_triangle)(ROW_MAJOR, side, triangle, turn, diagonal, rows, columns, 1, (const float *)a,
                                        t->a.step, (float *)x, t->x.step);
    } else if (t->size == 4) {
        ((Trsm32f)blas.single_triangle)(ROW_MAJOR, side, triangle, turn, diagonal, (int)rows, (int)columns, 1,
                                        (const float *)a, (int)t->a.step, (float *)x, (int)t->x.step);
    } else if (blas.wide) {
        ((Trsm64d)blas.twice_triangle)(ROW_MAJOR, side, triangle, turn, diagonal, rows, columns, 1, (const double *)a,
                                       t->a.step, (double *)x, t->x.step);
    } else {
        ((Trsm32d)blas.twice_triangle)(ROW_MAJOR, side, triangle, turn, diagonal, (int)rows, (int)columns, 1,
                                       (const double *)a, (int)t->a.step, (double *)x, (int)t->x.step);
    }
}

/* Blocks of vectors, which are counted through all matrices. */
static void solve_blocks(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Triangular *t = context;
    from *= t->block, to = to * t->block < t->all ? to * t->block : t->all;
    while (from < to) {
        ptrdiff_t matrix = from / t->vectors, first = from % t->vectors;
        ptrdiff_t count = t->vectors - first < to - from ? t->vectors - first : to - from;
        char *x = t->x.data + matrix * t->x.stack + first * (t->left ? t->x.step : 1) * t->size;
        solve_vectors(t, t->a.data + matrix * t->a.stack, x, count);
        from += count;
    }
}

static PyObject *substitute(PyObject *const *args, Py_ssize_t given)
{
    if (blas.single_triangle == NULL || given != 5 || !PyArray_CheckExact(args[0])) return NULL;
    PyArrayObject *a = (PyArrayObject *)args[0], *x = (PyArrayObject *)args[1];
    int type = PyArray_TYPE(a), dimensions = PyArray_NDIM(a);
    Triangular t = {.size = type == NPY_FLOAT ? 4 : 8};
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || dimensions < 2 || !is_usual(args[0], type) ||
        !is_usual(args[1], type) || PyArray_NDIM(x) != dimensions || !PyArray_IS_C_CONTIGUOUS(x) ||
        !PyArray_ISWRITEABLE(x) || PyArray_SIZE(x) == 0 ||
        !PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(x), dimensions - 2)) return NULL;
    t.upper = args[2] == Py_True, t.left = args[3] == Py_True, t.unit = args[4] == Py_True;
    if (!read_matrix(a, &t.a, t.size) || !read_matrix(x, &t.x, t.size)) return NULL;
    npy_intp n = t.left ? t.x.columns : t.x.rows;
    if (t.x.turned || t.a.rows != n || t.a.columns != n) return NULL;
    if (!blas.wide && (t.a.step > INT_MAX || t.x.rows > INT_MAX || t.x.columns > INT_MAX)) return NULL;
    t.vectors = t.left ? t.x.rows : t.x.columns;
    t.block = t.all = t.vectors * PyArray_MultiplyList(PyArray_DIMS(x), dimensions - 2);
    double each = (double)n * (double)n / 2, work = each * (double)t.all;
    if (work < LET_OTHERS_RUN) {
        solve_blocks(&t, 0, 1);
        return Py_NewRef(args[1]);
    }
    if (work >= SPLIT_FROM) t.block = t.all / (2 * pool_threads()) > BLOCK ? t.all / (2 * pool_threads()) : BLOCK;
    npy_intp blocks = (t.all + t.block - 1) / t.block;
    begin();
    Py_BEGIN_ALLOW_THREADS
    pool_run(solve_blocks, &t, blocks, (npy_intp)(each * (double)t.block) + 1, work >= LONG_FROM);
    Py_END_ALLOW_THREADS
    end();
    return Py_NewRef(args[1]);
}
