/* Reductions over any dimensions: Reduction("sum", otherwise)(x, dims, keepdim).

   For exact ndarrays of float32, float64, int64, bool and, in float32, numbers of 16 bits, whatever their strides;
   everything else is handed to the function `otherwise`, which computes the same with NumPy. The result lies in rows, and is an array if it has no
   dimensions, too.

   Dimensions are put in the order of their strides, and those that continue each other become one. Then two are left to
   the loops of reduction_loops.h, the finest that is kept and the finest that is reduced: they see a tile of at most
   BLOCK results. The other kept dimensions number the tiles, the other reduced ones are walked through for each.
   Large work is shared with helper threads by tiles; where there are few, by chunks of what is reduced to one, whose
   sizes do not depend on the number of threads, and neither do results. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "ctc_paths.h"
#include "extreme_loops.h"
#include "native.h"
#include "reduction_plan.h"
#include "scan_loops.h"

#define SUMS_OF_HALVES {LOOPS(sum_float16), LOOPS(sum_bfloat16)}
static const Method methods[] = {
    {"sum", ITSELF, 1, {LOOPS(sum_f32), LOOPS(sum_f64), LOOPS(sum_i64), LOOPS(nonzero_bool)}, SUMS_OF_HALVES},
    {"mean", MEAN, 1, {LOOPS(sum_f32), LOOPS(sum_f64)}, SUMS_OF_HALVES},
    {"sum_of_squares", ITSELF, 1, {LOOPS(squares_f32), LOOPS(squares_f64)}},
    {"norm", ROOT, 1, {LOOPS(squares_f32), LOOPS(squares_f64)}},
    {"sum_of_sizes", ITSELF, 1, {LOOPS(sizes_f32), LOOPS(sizes_f64)}},
    {"prod", ITSELF, -1, {LOOPS(product_f32), LOOPS(product_f64), LOOPS(product_i64)}},
    {"max", ITSELF, 0, {LOOPS(largest_f32), LOOPS(largest_f64), LOOPS(largest_i64)}},
    {"min", ITSELF, 0, {LOOPS(smallest_f32), LOOPS(smallest_f64), LOOPS(smallest_i64)}},
    {"count_nonzero", COUNT, 1, {LOOPS(nonzero_f32), LOOPS(nonzero_f64), LOOPS(nonzero_i64), LOOPS(nonzero_bool)}},
    {"any", ANY, 1, {LOOPS(nonzero_f32), LOOPS(nonzero_f64), LOOPS(nonzero_i64), LOOPS(nonzero_bool)}},
    {"all", ALL, 1, {LOOPS(nonzero_f32), LOOPS(nonzero_f64), LOOPS(nonzero_i64), LOOPS(nonzero_bool)}},
    {"var", VARIANCE, -1, {MOMENTS(f32), MOMENTS(f64)}},
    {"std", DEVIATION, -1, {MOMENTS(f32), MOMENTS(f64)}},
};

/* -- arguments ----------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    const Method *method;
    PyObject *otherwise;
} Reduction;

/* Which dimensions are reduced: all for None. Returns 0 for what only `otherwise` understands. */
static int chosen_dims(PyObject *dims, int ndim, char *chosen)
{
    memset(chosen, dims == Py_None, ndim);
    if (dims == Py_None) return 1;
    Py_ssize_t count = PyTuple_CheckExact(dims) ? PyTuple_GET_SIZE(dims) : 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *dim = PyTuple_CheckExact(dims) ? PyTuple_GET_ITEM(dims, i) : dims;
        if (!PyLong_CheckExact(dim)) return 0;
        long place = PyLong_AsLong(dim);
        if (place < 0 && PyErr_Occurred()) PyErr_Clear();
        if (place < 0) place += ndim;
        if (place < 0 || place >= ndim || chosen[place]) return 0;
        chosen[place] = 1;
    }
    return 1;
}

static PyArray_Descr *result_type(const Plan *plan, PyArray_Descr *descr)
{
    Ending ending = plan->method->ending;
    if (ending == ANY || ending == ALL) return kinds[BOOL];
    if (ending == COUNT || plan->kind == BOOL) return kinds[INT64];
    return plan->narrow ? descr : kinds[plan->kind];
}

/* What the numbers are, and in what they are reduced. Returns 0 for those that only `otherwise` reduces. */
static int find_kind(Plan *plan, PyArray_Descr *descr)
{
    plan->widen = NULL, plan->narrow = NULL;
    for (plan->kind = 0; plan->kind < KINDS && kinds[plan->kind] != descr;) plan->kind++;
    if (plan->kind == KINDS) {
        int brain = is_bfloat16(descr);
        if (!(brain || descr->type_num == NPY_HALF) || !PyDataType_ISNOTSWAPPED(descr)) return 0;
        plan->kind = FLOAT32;
        plan->widen = brain ? widen_bfloat16 : widen_float16;
        plan->narrow = brain ? narrow_bfloat16 : narrow_float16;
    }
    plan->size = PyDataType_ELSIZE(descr);
    plan->loops = &plan->method->loops[plan->kind];
    if (plan->widen && plan->method->halves[0].begin) {
        plan->loops = &plan->method->halves[plan->widen == widen_bfloat16];
        plan->widen = NULL;
    }
    return plan->loops->begin != NULL;
}

/* Fills in dimensions, and makes the result. NULL without an exception: `otherwise` has to do it. */
static PyArrayObject *prepare(Plan *plan, PyArrayObject *x, const char *chosen, int keepdim)
{
    npy_intp shape[NPY_MAXDIMS], out_step = 1;
    int ndim = PyArray_NDIM(x), out_ndim = 0;
    plan->data = PyArray_BYTES(x);
    plan->outer = plan->folds = 0;
    plan->repeated = 1;
    plan->count = 1;
    for (int i = 0; i < ndim; i++) {
        if (!chosen[i]) {
            shape[out_ndim++] = PyArray_DIM(x, i);
        } else if (keepdim) {
            shape[out_ndim++] = 1;
        }
    }
    PyArray_Descr *descr = result_type(plan, PyArray_DESCR(x));
    for (int i = ndim - 1; i >= 0; i--) {
        npy_intp size = PyArray_DIM(x, i), step = PyArray_STRIDE(x, i);
        if (chosen[i]) plan->count *= (double)size;
        if (size == 1) continue;
        if (chosen[i] && step == 0) {
            if (plan->method->repeats < 0) return NULL;
            if (plan->method->repeats) plan->repeated *= size;
            continue;
        }
        Dim dim = {size, step, chosen[i] ? 0 : out_step * PyDataType_ELSIZE(descr)};
        if (chosen[i]) {
            if (step < 0) { /* from the other end */
                plan->data += (size - 1) * step;
                dim.step = -step;
            }
            plan->reduced[plan->folds++] = dim;
        } else {
            plan->kept[plan->outer++] = dim;
            out_step *= size;
        }
    }
    Py_INCREF(descr);
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, out_ndim, shape, NULL, NULL, 0, NULL);
}

/* reduction(x, dims=None, keepdim=False), and variance(x, dims, correction, keepdim) */
static PyObject *Reduction_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    const Reduction *self = (Reduction *)callable;
    Py_ssize_t given = PyVectorcall_NARGS(flags);
    char chosen[NPY_MAXDIMS];
    Plan plan;
    if (keywords != NULL || given < 1 || !PyArray_CheckExact(args[0])) goto other;
    PyArrayObject *x = (PyArrayObject *)args[0];
    plan.method = self->method;
    npy_intp total = PyArray_SIZE(x);
    if (!PyArray_ISALIGNED(x) || total == 0 || !find_kind(&plan, PyArray_DESCR(x))) goto other;
    if (!chosen_dims(given > 1 ? args[1] : Py_None, PyArray_NDIM(x), chosen)) goto other;
    int corrected = self->method->ending == VARIANCE || self->method->ending == DEVIATION;
    plan.correction = corrected && given > 2 ? PyFloat_AsDouble(args[2]) : 0;
    int keepdim = given > 2 + corrected ? PyObject_IsTrue(args[2 + corrected]) : 0;
    if (PyErr_Occurred()) return NULL;
    PyArrayObject *out = prepare(&plan, x, chosen, keepdim);
    if (out == NULL) {
        if (PyErr_Occurred()) return NULL;
        goto other;
    }
    plan.out = PyArray_BYTES(out);
    plan.outer = arrange(plan.kept, plan.outer);
    plan.folds = arrange(plan.reduced, plan.folds);
    choose_loop(&plan);
    share(&plan, total);
    if (run(&plan, total) < 0) {
        Py_DECREF(out);
        return PyErr_NoMemory();
    }
    return (PyObject *)out;
other:
    return PyObject_Vectorcall(self->otherwise, args, flags, keywords);
}

/* -- the type and the module --------------------------------------------------------------------------------------- */

static PyObject *Reduction_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    const char *name;
    PyObject *otherwise;
    if (!PyArg_ParseTuple(args, "sO:Reduction", &name, &otherwise)) return NULL;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (strcmp(methods[i].name, name) == 0) {
            Reduction *self = (Reduction *)type->tp_alloc(type, 0);
            if (self == NULL) return NULL;
            self->call = Reduction_call;
            self->method = &methods[i];
            self->otherwise = Py_NewRef(otherwise);
            return (PyObject *)self;
        }
    }
    return PyErr_Format(PyExc_ValueError, "Reduction: there is no %s", name);
}

static void Reduction_dealloc(PyObject *object)
{
    Py_XDECREF(((Reduction *)object)->otherwise);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *Reduction_name(PyObject *object, void *unused)
{
    return PyUnicode_FromString(((Reduction *)object)->method->name);
}

static PyObject *Reduction_otherwise(PyObject *object, void *unused)
{
    return Py_NewRef(((Reduction *)object)->otherwise);
}

static PyGetSetDef Reduction_fields[] = {
    {"__name__", Reduction_name, NULL, "what it computes", NULL},
    {"otherwise", Reduction_otherwise, NULL, "the function that computes it for all other arrays", NULL},
    {NULL},
};

static PyTypeObject Reduction_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "leafgrad.kernels._reductions.Reduction",
    .tp_doc = "Reduction(name, otherwise): a function (x, dims=None, keepdim=False) of arrays",
    .tp_basicsize = sizeof(Reduction),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = Reduction_new,
    .tp_dealloc = Reduction_dealloc,
    .tp_getset = Reduction_fields,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Reduction, call),
};

static const NativeFunction functions[] = {
    {"argmax", argmax},
    {"argmin", argmin},
    {"max_along", max_along},
    {"min_along", min_along},
    {"running_sum", running_sum},
    {"running_product", running_product},
    {"running_max", running_max},
    {"running_min", running_min},
    {"ctc_losses", ctc_losses},
    {NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leafgrad.kernels._reductions",
    .m_doc = "Sums, means, norms, extremes, products, counts and variances over any dimensions.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__reductions(void)
{
    import_array();
    if (pool_import() < 0 || PyType_Ready(&Reduction_type) < 0) return NULL;
    for (int kind = 0; kind < KINDS; kind++) kinds[kind] = PyArray_DescrFromType(type_numbers[kind]);
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddObjectRef(module, "Reduction", (PyObject *)&Reduction_type) < 0) Py_CLEAR(module);
    if (module != NULL && native_prepare(module, functions) < 0) Py_CLEAR(module);
    return module;
}
