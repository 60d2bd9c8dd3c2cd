/* Elementwise loops: NumPy's own, called with less ado and on several cores.

   A ufunc holds C loops, one for each combination of types: `functions[i](pointers, count, strides, data)`. What a
   ufunc does around them (looking for overrides, promoting, broadcasting, choosing an iterator) takes longer than the
   arithmetic on a few thousand elements. A `Loop` is made of a ufunc. For the arrays that nearly all calls have,

       exact ndarrays, all of one of the dtypes below, C-contiguous, of one shape or one of two zero-dimensional

   it allocates the result, of the same dtype or, of a comparison, bools, and calls the ufunc's loop itself. Arrays that
   are broadcast or whose elements lie apart are run row by row: see elements.h. Numbers of 16 bits are computed in
   float32, block by block. Anything else is handed to the ufunc, or to the function `otherwise`. Numbers, dtypes,
   layouts, warnings and errors are the ufunc's. One thing is not: a zero-dimensional result is an array, where the ufunc
   would make a NumPy scalar.

   Large ranges are cut into pieces, and helper threads take their share of them: see pool.h. They are here.
*/
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <fenv.h>
#include <stddef.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/npy_math.h>
#include <numpy/ufuncobject.h>

#include "aligned_memory.h"
#include "elements.h"
#include "half_numbers.h"
#include "own_loops.h"
#include "pool_threads.h"

#define MOST_OPERANDS 4       /* three inputs and a result */
#define LET_OTHERS_RUN 16384  /* elements: from here on the interpreter lock is let go */
#define LONG 16               /* times split_from: where helpers are worth being woken for this alone */

enum { FLOAT32, FLOAT64, LONG_INTEGER, INTEGER, BOOL, COMPLEX64, COMPLEX128, KINDS };

static PyArray_Descr *kinds[KINDS], *bools; /* NumPy's own dtype objects: byte order and metadata are as usual */
static const int type_numbers[KINDS] = {NPY_FLOAT, NPY_DOUBLE, NPY_INT64, NPY_INT32, NPY_BOOL, NPY_CFLOAT, NPY_CDOUBLE};

static npy_intp size_of_kind(int kind) { return PyDataType_ELSIZE(kinds[kind]); }

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyUFuncObject *ufunc;
    PyObject *otherwise;  /* what is called for other operands: the ufunc, unless told */
    npy_intp split_from;  /* elements: where helpers begin to pay */
    int fills;            /* is its loop slow where an operand is one number? */
    PyUFuncGenericFunction functions[KINDS];
    void *data[KINDS];
    PyArray_Descr *made[KINDS]; /* what results are, borrowed: the same kind, or bools */
} Loop;

/* -- floating point errors: the loops raise flags in the processor, NumPy is told of them -------------------------- */

#define WATCHED (FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID)

static void clear_flags(void)
{
    if (fetestexcept(WATCHED)) { /* asking is much cheaper than clearing */
        feclearexcept(WATCHED);
    }
}

/* What np.errstate asks for (nothing, a warning, an exception) happens. Returns -1 for an exception. */
static int report_flags(const Loop *self, int flags)
{
    int errors = 0;
    if (flags & FE_DIVBYZERO) errors |= NPY_FPE_DIVIDEBYZERO;
    if (flags & FE_OVERFLOW) errors |= NPY_FPE_OVERFLOW;
    if (flags & FE_UNDERFLOW) errors |= NPY_FPE_UNDERFLOW;
    if (flags & FE_INVALID) errors |= NPY_FPE_INVALID;
    return PyUFunc_GiveFloatingpointErrors(self->ufunc->name, errors);
}

/* -- running a loop ------------------------------------------------------------------------------------------------ */

/* A range of elements and what to do with them; `flags` collects the floating point flags of everybody who helps. */
typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    int operands;
    char *pointers[MOST_OPERANDS];
    npy_intp strides[MOST_OPERANDS];
    Elements *rows; /* instead of `pointers`, if they do not lie there as one range */
    atomic_int flags;
} Range;

static void run_row(const Elements *e, npy_intp count, char **pointers)
{
    const Range *range = e->loop;
    range->function(pointers, &count, range->strides, range->data);
}

static void run_piece(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Range *range = context;
    char *pointers[MOST_OPERANDS];
    npy_intp count = to - from;
    clear_flags();
    if (range->rows != NULL) {
        run_items(range->rows, from, to);
    } else {
        for (int i = 0; i < range->operands; i++) {
            pointers[i] = range->pointers[i] + from * range->strides[i];
        }
        range->function(pointers, &count, range->strides, range->data);
    }
    int flags = fetestexcept(WATCHED);
    if (flags) {
        atomic_fetch_or(&range->flags, flags);
    }
}

/* Run pieces of a range, of `count` elements in `items` of `size` bytes. */
static int run_range(const Loop *self, Range *range, npy_intp count, npy_intp items, npy_intp size)
{
    atomic_init(&range->flags, 0);
    if (count < LET_OTHERS_RUN) {
        run_piece(range, 0, items);
    } else {
        Py_BEGIN_ALLOW_THREADS
        if (count < self->split_from || items < 2) {
            run_piece(range, 0, items);
        } else {
            pool_run(run_piece, range, items, size, count >= LONG * self->split_from);
        }
        Py_END_ALLOW_THREADS
    }
    int flags = atomic_load(&range->flags);
    return flags ? report_flags(self, flags) : 0;
}

static int run(const Loop *self, int kind, int operands, PyArrayObject **arrays, npy_intp count)
{
    npy_intp size = size_of_kind(kind);
    Range range = {self->functions[kind], self->data[kind], operands};
    for (int i = 0; i < operands; i++) {
        range.pointers[i] = PyArray_BYTES(arrays[i]);
        /* a zero-dimensional operand stays where it is */
        range.strides[i] = PyArray_NDIM(arrays[i]) ? size : 0;
    }
    /* also of a single result: zero would mean that everything is added up in it */
    range.strides[operands - 1] = PyDataType_ELSIZE(self->made[kind]);
    return run_range(self, &range, count, count, size);
}

/* The same for operands that are broadcast, or whose rows lie apart. Returns NULL without an exception for those that
   the ufunc has to have. `out` is NULL if there is none yet. */
static PyObject *run_rows(const Loop *self, int kind, PyArrayObject **arrays, PyArrayObject *out)
{
    Walk walk;
    Elements e;
    int inputs = self->ufunc->nin;
    npy_intp size = size_of_kind(kind);
    if (size > (npy_intp)sizeof(double)) return NULL; /* numbers that could not be filled in */
    if (!broadcast(arrays, inputs, &walk)) return NULL;
    find_order(arrays, inputs, &walk);
    if (out == NULL) {
        out = new_in_order((PyArray_Descr *)Py_NewRef((PyObject *)self->made[kind]), &walk);
        if (out == NULL) return NULL;
    } else if (PyArray_ISWRITEABLE(out) && PyArray_NDIM(out) == walk.dimensions &&
               PyArray_CompareLists(PyArray_DIMS(out), walk.shape, walk.dimensions) &&
               is_apart(out, arrays, inputs, self->made[kind] != bools)) {
        Py_INCREF(out);
    } else {
        return NULL;
    }
    arrays[inputs] = out;
    for (int d = 0; d < walk.dimensions; d++) walk.strides[inputs][d] = PyArray_STRIDE(out, d);
    for (int i = 0; i < inputs; i++) e.size[i] = size;
    e.size[inputs] = PyDataType_ELSIZE(self->made[kind]);
    npy_intp count = PyArray_SIZE(out);
    int failed = count > 0 && !as_rows(arrays, inputs, inputs + 1, &walk, &e, 1);
    if (count > 0 && !failed) {
        Range range = {self->functions[kind], self->data[kind], inputs + 1, {NULL}, {0}, &e};
        e.run = run_row;
        e.numbers_stay = 1;
        e.columns_stay = !self->fills && kind != BOOL; /* NumPy has no loop for bools with one of them either */
        e.loop = &range;
        npy_intp items = cut(&e, count >= self->split_from);
        for (int i = 0; i <= inputs; i++) {
            int stays = e.one_number[i] && !e.filled[i];
            range.strides[i] = stays ? 0 : is_strided(&e, i) ? e.strides[i][0] : e.size[i];
        }
        failed = run_range(self, &range, count, items, e.group * e.block * size) < 0;
    }
    if (failed) Py_CLEAR(out);
    return (PyObject *)out;
}

/* -- which arrays -------------------------------------------------------------------------------------------------- */

static inline int is_usual(PyObject *object, PyArray_Descr *kind)
{
    return PyArray_CheckExact(object) && PyArray_DESCR((PyArrayObject *)object) == kind &&
           (PyArray_FLAGS((PyArrayObject *)object) & NPY_ARRAY_ALIGNED);
}

static inline int same_shape(PyArrayObject *a, PyArrayObject *b)
{
    int dimensions = PyArray_NDIM(a);
    if (dimensions != PyArray_NDIM(b)) return 0;
    for (int i = 0; i < dimensions; i++) {
        if (PyArray_DIM(a, i) != PyArray_DIM(b, i)) return 0;
    }
    return 1;
}

/* May results be written to `out` while `input` is read element by element? If they are the same elements, or none is.
   A zero-dimensional input is read for every element, so it must not be one of the results. */
static int may_write(PyArrayObject *out, PyArrayObject *input)
{
    char *start = PyArray_BYTES(out), *other = PyArray_BYTES(input);
    if (start == other && PyArray_NDIM(out) == PyArray_NDIM(input) && PyArray_DESCR(out) == PyArray_DESCR(input)) return 1;
    return other + PyArray_NBYTES(input) <= start || start + PyArray_NBYTES(out) <= other;
}

/* KINDS for another one. */
static int kind_of(PyArray_Descr *descr)
{
    int kind = 0;
    while (kind < KINDS && descr != kinds[kind]) kind++;
    return kind;
}

/* -- numbers of 16 bits, in float32 -------------------------------------------------------------------------------- */

#define WIDENED 1024 /* elements that are in float32 at once */

typedef struct {
    const Loop *loop;
    int inputs, brain; /* is it bfloat16? */
    const char *pointers[MOST_OPERANDS];
    int is_number[MOST_OPERANDS];
    char *out;
    atomic_int flags;
} Halves;

static void run_halves_piece(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Halves *work = context;
    const Loop *self = work->loop;
    float wide[MOST_OPERANDS][WIDENED];
    char *pointers[MOST_OPERANDS];
    npy_intp strides[MOST_OPERANDS];
    int inputs = work->inputs, makes_bools = self->made[FLOAT32] == bools;
    void (*widen)(const uint16_t *, uint32_t *, ptrdiff_t) = work->brain ? widen_bfloat16 : widen_float16;
    clear_flags();
    for (int i = 0; i < inputs; i++) {
        pointers[i] = (char *)wide[i];
        strides[i] = work->is_number[i] ? 0 : sizeof(float);
        if (work->is_number[i]) widen((const uint16_t *)work->pointers[i], (uint32_t *)wide[i], 1);
    }
    strides[inputs] = makes_bools ? 1 : sizeof(float);
    for (npy_intp count; from < to; from += count) {
        count = to - from < WIDENED ? to - from : WIDENED;
        for (int i = 0; i < inputs; i++) {
            if (!work->is_number[i]) widen((const uint16_t *)work->pointers[i] + from, (uint32_t *)wide[i], count);
        }
        pointers[inputs] = makes_bools ? work->out + from : (char *)wide[inputs];
        self->functions[FLOAT32](pointers, &count, strides, self->data[FLOAT32]);
        if (!makes_bools) {
            (work->brain ? narrow_bfloat16 : narrow_float16)(
                (const uint32_t *)wide[inputs], (uint16_t *)work->out + from, count);
        }
    }
    int flags = fetestexcept(WATCHED);
    if (flags) atomic_fetch_or(&work->flags, flags);
}

/* Dense arrays of float16 or bfloat16, as `run` has them. NULL without an exception: for the ufunc. */
static PyObject *run_halves(const Loop *self, PyObject *const *args)
{
    Halves work = {.loop = self, .inputs = self->ufunc->nin};
    PyArray_Descr *descr = PyArray_DESCR((PyArrayObject *)args[0]);
    PyArrayObject *form = (PyArrayObject *)args[0];
    work.brain = is_bfloat16(descr);
    if (!(work.brain || descr->type_num == NPY_HALF) || !PyDataType_ISNOTSWAPPED(descr)) return NULL;
    if (self->functions[FLOAT32] == NULL) return NULL;
    for (int i = 0; i < work.inputs; i++) {
        PyArrayObject *x = (PyArrayObject *)args[i];
        if (!is_usual(args[i], descr) || !PyArray_IS_C_CONTIGUOUS(x)) return NULL;
        if (!same_shape(form, x)) {
            if (PyArray_NDIM(form) == 0) {
                form = x;
            } else if (PyArray_NDIM(x) != 0) {
                return NULL;
            }
        }
        work.pointers[i] = PyArray_BYTES(x);
        work.is_number[i] = PyArray_NDIM(x) == 0;
    }
    PyArray_Descr *made = self->made[FLOAT32] == bools ? bools : descr;
    Py_INCREF(made);
    PyArrayObject *out = (PyArrayObject *)PyArray_NewFromDescr(
        &PyArray_Type, made, PyArray_NDIM(form), PyArray_DIMS(form), NULL, NULL, 0, NULL);
    if (out == NULL) return NULL;
    npy_intp count = PyArray_SIZE(out);
    work.out = PyArray_BYTES(out);
    atomic_init(&work.flags, 0);
    if (count < LET_OTHERS_RUN) {
        run_halves_piece(&work, 0, count);
    } else {
        Py_BEGIN_ALLOW_THREADS
        if (count < self->split_from) {
            run_halves_piece(&work, 0, count);
        } else {
            pool_run(run_halves_piece, &work, count, sizeof(float), count >= LONG * self->split_from);
        }
        Py_END_ALLOW_THREADS
    }
    int flags = atomic_load(&work.flags);
    if (flags && report_flags(self, flags) < 0) Py_CLEAR(out);
    return (PyObject *)out;
}

/* loop(x), loop(x, y), loop(x, y, z), or with one more argument: the array that the result is written to. */
static PyObject *Loop_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Loop *self = (Loop *)callable;
    Py_ssize_t given = PyVectorcall_NARGS(flags);
    int inputs = self->ufunc->nin;
    PyArrayObject *arrays[MOST_OPERANDS];
    if (keywords != NULL || (given != inputs && given != inputs + 1) || !PyArray_CheckExact(args[0])) {
        goto other;
    }
    int kind = kind_of(PyArray_DESCR((PyArrayObject *)args[0]));
    if (kind == KINDS && given == inputs) {
        PyObject *result = run_halves(self, args);
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
    }
    if (kind == KINDS || self->functions[kind] == NULL) {
        goto other;
    }
    int dense = NPY_ARRAY_C_CONTIGUOUS;
    for (int i = 0; i < given; i++) {
        if (!is_usual(args[i], i < inputs ? kinds[kind] : self->made[kind])) {
            goto other;
        }
        arrays[i] = (PyArrayObject *)args[i];
        dense &= PyArray_FLAGS(arrays[i]);
    }
    PyArrayObject *form = (PyArrayObject *)args[0]; /* the result has its shape */
    for (int i = 1; i < inputs; i++) {
        if (!same_shape(form, arrays[i])) {
            if (PyArray_NDIM(form) == 0) {
                form = arrays[i];
            } else if (PyArray_NDIM(arrays[i]) != 0) {
                dense = 0;
            }
        }
    }
    if (!dense) {
        PyObject *result = run_rows(self, kind, arrays, given == inputs ? NULL : arrays[inputs]);
        if (result != NULL || PyErr_Occurred()) {
            return result;
        }
        goto other;
    }
    PyArrayObject *out;
    if (given == inputs) {
        Py_INCREF(self->made[kind]);
        out = (PyArrayObject *)PyArray_NewFromDescr(
            &PyArray_Type, self->made[kind], PyArray_NDIM(form), PyArray_DIMS(form), NULL, NULL, 0, NULL);
        if (out == NULL) {
            return NULL;
        }
        arrays[inputs] = out;
    } else {
        out = arrays[inputs];
        if (!PyArray_ISWRITEABLE(out) || !same_shape(out, form)) {
            goto other;
        }
        for (int i = 0; i < inputs; i++) {
            if (!may_write(out, arrays[i])) {
                goto other;
            }
        }
        Py_INCREF(out);
    }
    if (run(self, kind, inputs + 1, arrays, PyArray_SIZE(form)) < 0) {
        Py_DECREF(out);
        return NULL;
    }
    return (PyObject *)out;
other:
    return PyObject_Vectorcall(self->otherwise, args, flags, keywords);
}

/* -- the type ------------------------------------------------------------------------------------------------------ */

/* Find the loop of a ufunc whose operands are all of one kind, or all but a result of bools. NULL if there is none. */
static void find_loop(Loop *self, int kind)
{
    PyUFuncObject *ufunc = self->ufunc;
    for (int i = 0; i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + i * ufunc->nargs;
        char made = types[ufunc->nin];
        int fits = (made == type_numbers[kind] || made == NPY_BOOL) && ufunc->functions[i] != NULL;
        for (int k = 0; k < ufunc->nin; k++) {
            fits = fits && types[k] == type_numbers[kind];
        }
        if (fits) {
            self->data[kind] = ufunc->data == NULL ? NULL : ufunc->data[i];
            PyUFuncGenericFunction own = own_loop(ufunc->name, type_numbers[kind]);
            self->functions[kind] = own == NULL ? ufunc->functions[i] : own;
            self->made[kind] = made == NPY_BOOL ? bools : kinds[kind];
            return;
        }
    }
}

static PyObject *Loop_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"ufunc", "otherwise", "split_from", "real", "fills", NULL};
    PyObject *ufunc, *otherwise = Py_None;
    Py_ssize_t split_from = 1 << 18;
    int real = 0; /* are complex numbers left to `otherwise`? */
    int fills = 0;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O!|Onpp:Loop", names, &PyUFunc_Type, &ufunc, &otherwise, &split_from, &real, &fills)) {
        return NULL;
    }
    PyUFuncObject *u = (PyUFuncObject *)ufunc;
    if (u->nout != 1 || u->nin >= MOST_OPERANDS || u->core_enabled) {
        return PyErr_Format(PyExc_TypeError, "Loop: %R is no elementwise function of one to three arguments", ufunc);
    }
    Loop *self = (Loop *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->call = Loop_call;
    self->ufunc = (PyUFuncObject *)Py_NewRef(ufunc);
    self->otherwise = Py_NewRef(otherwise == Py_None ? ufunc : otherwise);
    self->split_from = split_from;
    self->fills = fills;
    for (int kind = 0; kind < KINDS; kind++) {
        if (!real || !PyTypeNum_ISCOMPLEX(type_numbers[kind])) find_loop(self, kind);
    }
    return (PyObject *)self;
}

static void Loop_dealloc(PyObject *object)
{
    Loop *self = (Loop *)object;
    Py_XDECREF((PyObject *)self->ufunc);
    Py_XDECREF(self->otherwise);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *Loop_repr(PyObject *object)
{
    return PyUnicode_FromFormat("<loop of %R>", ((Loop *)object)->ufunc);
}

static PyObject *Loop_name(PyObject *object, void *unused)
{
    return PyUnicode_FromString(((Loop *)object)->ufunc->name);
}

static PyObject *Loop_ufunc(PyObject *object, void *unused)
{
    return Py_NewRef((PyObject *)((Loop *)object)->ufunc);
}

static PyGetSetDef Loop_fields[] = {
    {"__name__", Loop_name, NULL, "the name of the ufunc", NULL},
    {"ufunc", Loop_ufunc, NULL, "the ufunc whose loops these are", NULL},
    {NULL},
};

static PyTypeObject Loop_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "leafgrad.kernels._loops.Loop",
    .tp_doc = "Loop(ufunc, otherwise=None, split_from=262144): a ufunc that is faster on dense arrays",
    .tp_basicsize = sizeof(Loop),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = Loop_new,
    .tp_dealloc = Loop_dealloc,
    .tp_repr = Loop_repr,
    .tp_getset = Loop_fields,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Loop, call),
};

/* -- the module ---------------------------------------------------------------------------------------------------- */

static PyObject *set_threads(PyObject *module, PyObject *count)
{
    long wanted = PyLong_AsLong(count);
    if (wanted == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (wanted < 1) {
        return PyErr_Format(PyExc_ValueError, "set_threads: at least one thread is needed, not %ld", wanted);
    }
    pool_set_threads(wanted < POOL_MOST_THREADS ? (int)wanted : POOL_MOST_THREADS);
    Py_RETURN_NONE;
}

static PyObject *get_threads(PyObject *module, PyObject *unused)
{
    return PyLong_FromLong(pool_threads());
}

static PyMethodDef functions[] = {
    {"set_threads", set_threads, METH_O, "set_threads(count): how many threads work on a large array"},
    {"align_memory", align_memory, METH_NOARGS, "align_memory(): arrays begin where lines of the cache do"},
    {"large_arrays", large_arrays, METH_NOARGS, "large_arrays(): bytes in use, kept, kept at most"},
    {"get_threads", get_threads, METH_NOARGS, "get_threads(): how many threads work on a large array"},
    {NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leafgrad.kernels._loops",
    .m_doc = "NumPy's elementwise loops, called directly and on several cores.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__loops(void)
{
    import_array();
    import_umath();
    for (int kind = 0; kind < KINDS; kind++) {
        kinds[kind] = PyArray_DescrFromType(type_numbers[kind]);
    }
    bools = PyArray_DescrFromType(NPY_BOOL);
    if (PyType_Ready(&Loop_type) < 0) {
        return NULL;
    }
    pool_prepare();
    shared_pool = &own_pool;
    PyObject *module = PyModule_Create(&definition);
    PyObject *capsule = PyCapsule_New((void *)shared_pool, POOL_CAPSULE, NULL);
    if (module == NULL || capsule == NULL || PyModule_AddObjectRef(module, "Loop", (PyObject *)&Loop_type) < 0 ||
        PyModule_AddObjectRef(module, "pool", capsule) < 0) {
        Py_CLEAR(module);
    }
    Py_XDECREF(capsule);
    return module;
}
