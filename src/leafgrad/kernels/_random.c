/* A stream of random numbers in C: the class `Stream` of _random_numpy.py, which is the description of each method.

   The arrays that are filled must lie dense in memory; they hold float32 or float64 unless told otherwise. A stream is
   not locked: whoever owns it sees to it that one thread draws at a time, also while the interpreter lock is let go,
   which happens during large draws.
*/
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "pool.h"
#include "random_loops.h"
#include "random_rejection.h"

#define LET_OTHERS_RUN 16384  /* numbers: from here on the interpreter lock is let go */

typedef struct {
    PyObject_HEAD
    Twister twister;
    long long changes; /* of the state */
    char fresh;        /* seeded and nothing drawn yet */
} Stream;

/* -- arguments ----------------------------------------------------------------------------------------------------- */

/* An array to be filled, or NULL with an exception. */
static PyArrayObject *dense(PyObject *object)
{
    if (!PyArray_Check(object) || !PyArray_ISCARRAY((PyArrayObject *)object)) {
        PyErr_SetString(PyExc_TypeError, "Stream: a dense array is needed");
        return NULL;
    }
    return (PyArrayObject *)object;
}

static PyObject *wrong_dtype(PyArrayObject *array)
{
    return PyErr_Format(PyExc_TypeError, "Stream: cannot fill an array of %R", (PyObject *)PyArray_DESCR(array));
}

static int enough(const char *name, Py_ssize_t given, Py_ssize_t least, Py_ssize_t most)
{
    if (given < least || given > most) {
        PyErr_Format(PyExc_TypeError, "Stream.%s: %zd arguments given", name, given);
        return 0;
    }
    return 1;
}

/* Two floats; returns 0 with an exception if they are none. */
static int two_floats(PyObject *const *args, double *a, double *b)
{
    *a = PyFloat_AsDouble(args[0]);
    *b = PyFloat_AsDouble(args[1]);
    return !PyErr_Occurred();
}

/* -- drawing: f(stream, where to, how many, parameters) ------------------------------------------------------------ */

typedef struct {
    Twister *twister;
    void *out;
    ptrdiff_t count;
    double a, b; /* low and high, or mean and std */
    uint64_t base, span, limit;
    int wide, narrow;
} Draw;

typedef void (*drawing)(const Draw *);

static PyObject *draw(Stream *self, PyArrayObject *array, drawing function, Draw what)
{
    what.twister = &self->twister;
    what.out = PyArray_DATA(array);
    what.count = PyArray_SIZE(array);
    if (what.count) {
        self->changes++;
        self->fresh = 0;
        if (what.count < LET_OTHERS_RUN) {
            function(&what);
        } else {
            Py_BEGIN_ALLOW_THREADS
            function(&what);
            Py_END_ALLOW_THREADS
        }
    }
    Py_RETURN_NONE;
}

#define PIECES(size) ptrdiff_t from = 0, n; (n = what->count - from < (size) ? what->count - from : (size)) > 0; from += n

static void uniform32(const Draw *what)
{
    for (PIECES(PIECE)) {
        float *out = (float *)what->out + from;
        draw_units32(what->twister, out, n);
        if (what->a != 0 || what->b != 1) stretch32(out, n, (float)what->a, (float)what->b);
    }
}

static void uniform64(const Draw *what)
{
    for (PIECES(PIECE / 2)) {
        double *out = (double *)what->out + from;
        draw_units64(what->twister, out, n);
        if (what->a != 0 || what->b != 1) stretch64(out, n, what->a, what->b);
    }
}

static PyObject *Stream_uniform(Stream *self, PyObject *const *args, Py_ssize_t given)
{
    PyArrayObject *array;
    Draw what = {.a = 0, .b = 1};
    if (!enough("uniform", given == 2 ? 0 : given, 1, 3) || (array = dense(args[0])) == NULL) return NULL;
    if (given == 3 && !two_floats(args + 1, &what.a, &what.b)) return NULL;
    if (PyArray_TYPE(array) == NPY_FLOAT) return draw(self, array, uniform32, what);
    if (PyArray_TYPE(array) == NPY_DOUBLE) return draw(self, array, uniform64, what);
    return wrong_dtype(array);
}

/* -- normals ------------------------------------------------------------------------------------------------------- */

static void normal_blocks32(const Draw *what)
{
    uint32_t words[PIECE];
    float mean = (float)what->a, std = (float)what->b, *out = what->out;
    ptrdiff_t full = what->count - what->count % 16;
    for (ptrdiff_t from = 0, n; from < full; from += n) {
        n = full - from < PIECE ? full - from : PIECE;
        take(what->twister, words, n);
        normals32(words, out + from, n, mean, std);
    }
    if (full < what->count) { /* the last 16 numbers are drawn anew */
        if (!what->narrow) take(what->twister, words, what->count - full);
        take(what->twister, words, 16);
        normals32(words, out + what->count - 16, 16, mean, std);
    }
}

static void normal_blocks64(const Draw *what)
{
    double *out = what->out;
    ptrdiff_t full = what->count - what->count % 16;
    for (ptrdiff_t from = 0, n; from < full; from += n) {
        n = full - from < PIECE ? full - from : PIECE;
        draw_units64(what->twister, out + from, n);
        normals64(out + from, n, what->a, what->b);
    }
    if (full < what->count) {
        if (!what->narrow) draw_units64(what->twister, out + full, what->count - full);
        draw_units64(what->twister, out + what->count - 16, 16);
        normals64(out + what->count - 16, 16, what->a, what->b);
    }
}

static PyObject *Stream_normal_blocks(Stream *self, PyObject *const *args, Py_ssize_t given)
{
    PyArrayObject *array;
    Draw what = {0};
    if (!enough("normal_blocks", given, 4, 4) || (array = dense(args[0])) == NULL) return NULL;
    if (!two_floats(args + 1, &what.a, &what.b) || (what.narrow = PyObject_IsTrue(args[3])) < 0) return NULL;
    if (PyArray_SIZE(array) < 16) return PyErr_Format(PyExc_ValueError, "normal_blocks: fewer than 16 numbers");
    if (PyArray_TYPE(array) == NPY_FLOAT) return draw(self, array, normal_blocks32, what);
    if (PyArray_TYPE(array) == NPY_DOUBLE) return draw(self, array, normal_blocks64, what);
    return wrong_dtype(array);
}

/* What waits of a pair, after numbers that took as many words as they needed. */
static PyObject *after_draws(Stream *self, const Draws *draws)
{
    if (draws->drawn) {
        self->changes++;
        self->fresh = 0;
    }
    return draws->waits ? PyFloat_FromDouble(draws->waiting) : Py_NewRef(Py_None);
}

static PyObject *Stream_normal_pairs(Stream *self, PyObject *const *args, Py_ssize_t given)
{
    PyArrayObject *array;
    double mean, std;
    if (!enough("normal_pairs", given, 4, 4) || (array = dense(args[0])) == NULL) return NULL;
    if (!two_floats(args + 1, &mean, &std)) return NULL;
    int is_float = PyArray_TYPE(array) == NPY_FLOAT;
    if (!is_float && PyArray_TYPE(array) != NPY_DOUBLE) return wrong_dtype(array);
    int waits = args[3] != Py_None;
    double waiting = waits ? PyFloat_AsDouble(args[3]) : 0.0;
    if (waits && PyErr_Occurred()) return NULL;
    Draws draws = {&self->twister, 0, waits, waiting};
    npy_intp count = PyArray_SIZE(array);
    for (npy_intp i = 0; i < count; i++) {
        double number = fma(next_normal(&draws), std, mean);
        if (is_float) ((float *)PyArray_DATA(array))[i] = (float)number;
        else ((double *)PyArray_DATA(array))[i] = number;
    }
    return after_draws(self, &draws);
}

/* -- exponential numbers -------------------------------------------------------------------------------------------- */

#define CHUNK 32768 /* numbers whose logarithms threads share */

static void exponential(const Draw *what)
{
    double few[PIECE / 2], *many = what->count < LET_OTHERS_RUN ? NULL : malloc(CHUNK * sizeof *many);
    for (PIECES(many ? CHUNK : PIECE / 2)) {
        Logarithms work = {many ? many : few, (char *)what->out + from * (what->narrow ? 4 : 8), what->a, what->narrow};
        draw_units64(what->twister, many ? many : few, n);
        if (many) pool_run(take_logarithms, &work, n, 128, what->count >= 4 * CHUNK); /* as long as to move 128 bytes */
        else take_logarithms(&work, 0, n);
    }
    free(many);
}

static PyObject *Stream_exponential(Stream *self, PyObject *const *args, Py_ssize_t given)
{
    PyArrayObject *array;
    Draw what = {0};
    if (!enough("exponential", given, 2, 2) || (array = dense(args[0])) == NULL) return NULL;
    what.a = PyFloat_AsDouble(args[1]);
    if (PyErr_Occurred()) return NULL;
    what.narrow = PyArray_TYPE(array) == NPY_FLOAT;
    if (!what.narrow && PyArray_TYPE(array) != NPY_DOUBLE) return wrong_dtype(array);
    return draw(self, array, exponential, what);
}

/* -- zeros and ones, integers -------------------------------------------------------------------------------------- */

static void bernoulli8(const Draw *what)
{
    uint32_t words[PIECE];
    for (PIECES(PIECE / 2)) {
        take(what->twister, words, 2 * n);
        below(words, (uint8_t *)what->out + from, n, what->limit);
    }
}

static void bernoulli32(const Draw *what)
{
    uint32_t words[PIECE];
    uint8_t bits[PIECE / 2];
    for (PIECES(PIECE / 2)) {
        float *out = (float *)what->out + from;
        take(what->twister, words, 2 * n);
        below(words, bits, n, what->limit);
        for (ptrdiff_t i = 0; i < n; i++) out[i] = bits[i];
    }
}

static PyObject *Stream_bernoulli(Stream *self, PyObject *const *args, Py_ssize_t given)
{
    PyArrayObject *array;
    Draw what = {0};
    if (!enough("bernoulli", given, 2, 2) || (array = dense(args[0])) == NULL) return NULL;
    double p = PyFloat_AsDouble(args[1]);
    if (PyErr_Occurred()) return NULL;
    if (!(p >= 0 && p <= 1)) return PyErr_Format(PyExc_ValueError, "bernoulli: no probability");
    what.limit = (uint64_t)ceil(p * 0x1p53);
    int type = PyArray_TYPE(array);
    if (type == NPY_FLOAT) return draw(self, array, bernoulli32, what);
    if (type == NPY_BOOL || type == NPY_BYTE || type == NPY_UBYTE) return draw(self, array, bernoulli8, what);
    /* any other dtype: NumPy knows how to cast to it */
    PyArrayObject *drawn = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(array), PyArray_DIMS(array), NPY_BOOL);
    if (drawn == NULL) return NULL;
    PyObject *result = draw(self, drawn, bernoulli8, what);
    if (result != NULL && PyArray_CopyInto(array, drawn) < 0) Py_CLEAR(result);
    Py_DECREF(drawn);
    return result;
}

static void integers(const Draw *what)
{
    uint32_t words[PIECE];
    for (PIECES(PIECE / 2)) {
        int64_t *out = (int64_t *)what->out + from;
        take(what->twister, words, what->wide ? 2 * n : n);
        if (!what->wide && what->span >= 2 && what->span < 1u << 30) {
            remainders(words, out, n, (int32_t)what->span, (int64_t)what->base);
            continue;
        }
        for (ptrdiff_t i = 0; i < n; i++) {
            uint64_t word = what->wide ? (uint64_t)words[2 * i] << 32 | words[2 * i + 1] : words[i];
            out[i] = (int64_t)(what->base + (what->span ? word % what->span : word));
        }
    }
}

static PyObject *Stream_integers(Stream *self, PyObject *const *args, Py_ssize_t given)
{
    PyArrayObject *array;
    Draw what = {0};
    if (!enough("integers", given, 4, 4) || (array = dense(args[0])) == NULL) return NULL;
    what.base = PyLong_AsUnsignedLongLongMask(args[1]);
    what.span = PyLong_AsUnsignedLongLongMask(args[2]); /* zero stands for 2^64 */
    if (PyErr_Occurred() || (what.wide = PyObject_IsTrue(args[3])) < 0) return NULL;
    if (!PyArray_ISSIGNED(array) || PyArray_ITEMSIZE(array) != 8) return wrong_dtype(array);
    return draw(self, array, integers, what);
}

#define UNTIL_SIGNALS (1 << 24) /* exchanges between two looks for a signal, such as Ctrl-C */

static PyObject *Stream_permutation(Stream *self, PyObject *out)
{
    PyArrayObject *array = dense(out);
    if (array == NULL) return NULL;
    if (!PyArray_ISSIGNED(array) || PyArray_ITEMSIZE(array) != 8) return wrong_dtype(array);
    int64_t *numbers = PyArray_DATA(array);
    ptrdiff_t count = PyArray_SIZE(array), to;
    for (ptrdiff_t i = 0; i < count; i++) numbers[i] = i;
    if (count < 2) Py_RETURN_NONE; /* nothing is drawn */
    self->changes++;
    self->fresh = 0;
    for (ptrdiff_t from = 0; from < count - 1; from = to) {
        to = count - 1 - from < UNTIL_SIGNALS ? count - 1 : from + UNTIL_SIGNALS;
        if (count < LET_OTHERS_RUN) {
            exchange(&self->twister, numbers, count, from, to);
            continue;
        }
        Py_BEGIN_ALLOW_THREADS
        exchange(&self->twister, numbers, count, from, to);
        Py_END_ALLOW_THREADS
        if (PyErr_CheckSignals() < 0) return NULL;
    }
    Py_RETURN_NONE;
}

/* -- numbers that are accepted or rejected: f(draws, parameters, where to, how many) ------------------------------- */

typedef void (*rejecting)(Draws *, const void *, void *, ptrdiff_t);

/* Fill args[0], `rows` parameters for each number in args[1]. What waits of a pair of normals afterwards is returned. */
static PyObject *draw_by_rejection(Stream *self, PyObject *const *args, rejecting function, int rows, PyObject *waiting)
{
    PyArrayObject *out = dense(args[0]), *parameters = (PyArrayObject *)args[1];
    if (out == NULL) return NULL;
    if (!PyArray_Check(args[1]) || !PyArray_ISCARRAY_RO(parameters) || PyArray_TYPE(parameters) != PyArray_TYPE(out)
        || PyArray_SIZE(parameters) != rows * PyArray_SIZE(out)) {
        return PyErr_Format(PyExc_TypeError, "Stream: a dense array of parameters is needed");
    }
    Draws draws = {&self->twister, 0, waiting != Py_None, 0};
    if (draws.waits && (draws.waiting = PyFloat_AsDouble(waiting), PyErr_Occurred())) return NULL;
    ptrdiff_t count = PyArray_SIZE(out);
    if (count < LET_OTHERS_RUN / 16) { /* each takes as long as some sixteen uniforms */
        function(&draws, PyArray_DATA(parameters), PyArray_DATA(out), count);
    } else {
        Py_BEGIN_ALLOW_THREADS
        function(&draws, PyArray_DATA(parameters), PyArray_DATA(out), count);
        Py_END_ALLOW_THREADS
    }
    return after_draws(self, &draws);
}

static PyObject *Stream_gammas(Stream *self, PyObject *const *args, Py_ssize_t given)
{
    if (!enough("gammas", given, 3, 3) || dense(args[0]) == NULL) return NULL;
    int type = PyArray_TYPE((PyArrayObject *)args[0]);
    if (type != NPY_FLOAT && type != NPY_DOUBLE) return wrong_dtype((PyArrayObject *)args[0]);
    return draw_by_rejection(self, args, type == NPY_FLOAT ? gammas32 : gammas64, 1, args[2]);
}

static PyObject *events(Stream *self, PyObject *const *args, Py_ssize_t given, const char *name, rejecting function,
                        int rows)
{
    if (!enough(name, given, 2, 2) || dense(args[0]) == NULL) return NULL;
    if (PyArray_TYPE((PyArrayObject *)args[0]) != NPY_DOUBLE) return wrong_dtype((PyArrayObject *)args[0]);
    return draw_by_rejection(self, args, function, rows, Py_None);
}

static PyObject *Stream_poissons(Stream *self, PyObject *const *args, Py_ssize_t given)
{
    return events(self, args, given, "poissons", poissons, 1);
}

static PyObject *Stream_binomials(Stream *self, PyObject *const *args, Py_ssize_t given)
{
    return events(self, args, given, "binomials", binomials, sizeof(Trials) / sizeof(double));
}

/* -- the state ----------------------------------------------------------------------------------------------------- */

static PyObject *Stream_reseed(Stream *self, PyObject *seed)
{
    unsigned long number = PyLong_AsUnsignedLong(seed);
    if (PyErr_Occurred()) return NULL;
    twister_seed(&self->twister, (uint32_t)number);
    self->fresh = 1;
    self->changes++;
    Py_RETURN_NONE;
}

static PyObject *Stream_state(Stream *self, PyObject *unused)
{
    return Py_BuildValue("y#i", (const char *)self->twister.key, (Py_ssize_t)sizeof self->twister.key,
                         self->twister.used);
}

static PyObject *Stream_load(Stream *self, PyObject *args)
{
    const char *key;
    Py_ssize_t length;
    int position, fresh;
    if (!PyArg_ParseTuple(args, "y#ip:load", &key, &length, &position, &fresh)) return NULL;
    if (length != sizeof self->twister.key || position < 0 || position > WORDS) {
        return PyErr_Format(PyExc_ValueError, "Stream.load: no state of MT19937");
    }
    memcpy(self->twister.key, key, sizeof self->twister.key);
    temper(self->twister.key, self->twister.block);
    self->twister.used = position;
    self->fresh = (char)fresh;
    self->changes++;
    Py_RETURN_NONE;
}

static PyObject *Stream_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"seed", NULL};
    PyObject *seed;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Stream", names, &seed)) return NULL;
    PyObject *self = type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    PyObject *done = Stream_reseed((Stream *)self, seed);
    if (done == NULL) Py_CLEAR(self);
    Py_XDECREF(done);
    return self;
}

/* -- the module ---------------------------------------------------------------------------------------------------- */

#define METHOD(name, kind) {#name, (PyCFunction)(void (*)(void))Stream_##name, kind, NULL}

static PyMethodDef Stream_methods[] = {
    METHOD(reseed, METH_O), METHOD(state, METH_NOARGS), METHOD(load, METH_VARARGS),
    METHOD(uniform, METH_FASTCALL), METHOD(normal_blocks, METH_FASTCALL), METHOD(normal_pairs, METH_FASTCALL),
    METHOD(bernoulli, METH_FASTCALL), METHOD(integers, METH_FASTCALL), METHOD(permutation, METH_O),
    METHOD(exponential, METH_FASTCALL), METHOD(gammas, METH_FASTCALL), METHOD(poissons, METH_FASTCALL),
    METHOD(binomials, METH_FASTCALL),
    {NULL},
};

static PyMemberDef Stream_members[] = {
    {"changes", T_LONGLONG, offsetof(Stream, changes), READONLY, "how often the state has changed"},
    {"fresh", T_BOOL, offsetof(Stream, fresh), READONLY, "seeded and nothing drawn yet"},
    {NULL},
};

static PyTypeObject Stream_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "leafgrad.kernels._random.Stream",
    .tp_doc = "Stream(seed): a stream of random numbers, MT19937",
    .tp_basicsize = sizeof(Stream),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = Stream_new,
    .tp_methods = Stream_methods,
    .tp_members = Stream_members,
};

static PyObject *use_fma(PyObject *module, PyObject *wanted)
{
    int wish = PyObject_IsTrue(wanted);
    if (wish < 0) return NULL;
    uses_fma = wish && has_fma();
    return PyBool_FromLong(uses_fma);
}

static PyMethodDef functions[] = {
    {"use_fma", use_fma, METH_O, "use_fma(wanted): the processor's fused multiply-add, if it has one"},
    {NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leafgrad.kernels._random",
    .m_doc = "Random numbers in C.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__random(void)
{
    import_array();
    if (pool_import() < 0) return NULL;
    if (PyType_Ready(&Stream_type) < 0) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Stream", (PyObject *)&Stream_type) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    uses_fma = has_fma();
    return module;
}
