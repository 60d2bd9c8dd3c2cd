/* The launcher of the kernels that the translator has made of Python.

   A `Kernel` is called with arrays and numbers, in the order of the function in Python, and perhaps with one argument
   more, the array (or a tuple of arrays) for what it returns. What is not as the loops want it (another dtype, a shape
   that is no block of memory, tensors) goes to the function in Python. Large work is shared with the helper threads of
   pool.h, in pieces whose borders do not depend on how many there are, so that sums do not either.

       elementwise   operands of one shape, or such that numpy would broadcast; looked at as rows of contiguous elements
       rowwise       the last dimension is a row
       summed        all elements, whatever their shape; a result is one number
*/
#define _GNU_SOURCE /* lgamma_r */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "elements.h"
#include "fused_entry.h"
#include "lanes.h"
#include "pool.h"
#include "vector_math.h"
#include "vectors.h"

#define CLONES VECTORISED

#define MOST_NUMBERS 16
#define SPLIT_WORK 131072    /* additions: from here on helpers pay, */
#define LONG_WORK (16 * SPLIT_WORK) /* and from here on they are worth being woken */
#define LET_OTHERS_RUN 65536 /* additions: from here on the interpreter lock is let go */
#define ROWS_AT_ONCE 128     /* rows whose sums by columns are added up in single precision */
#define CHUNKS 16            /* parts in which columns are added up */
#define SUMMED 4096          /* elements of a part of a sum of everything */

#include "fused_kernels.h" /* made by the translator when the package is built */

#include "special_kernels.h"

#include "fused_call.h"
#include "fused_elements.h"
#include "fused_rows.h"
#include "fused_updates.h"

/* -- the type ------------------------------------------------------------------------------------------------------ */

static PyObject *Kernel_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Kernel *self = (Kernel *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    Call call;
    if (keywords == NULL && (count == self->given || count == self->given + 1) &&
        read_arguments(self, args, count, &call)) {
        char kind = self->entry->kind[0];
        PyObject *answer = kind == 'e'   ? call_elementwise(self, &call)
                           : kind == 'r' ? call_rowwise(self, &call)
                                         : call_summed(self, &call);
        if (answer != NULL || PyErr_Occurred()) {
            return answer;
        }
    }
    return PyObject_Vectorcall(self->python, args, flags, keywords);
}

static PyObject *Kernel_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    const char *name;
    PyObject *python;
    static char *names[] = {"name", "python", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sO:Kernel", names, &name, &python)) {
        return NULL;
    }
    const Entry *entry = fused_entry(entries, name);
    if (entry == NULL) entry = fused_entry(entries_in_c, name);
    if (entry == NULL) {
        return PyErr_Format(PyExc_KeyError, "%s is not among the kernels that were translated", name);
    }
    Kernel *self = (Kernel *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->call = Kernel_call;
    self->entry = entry;
    self->python = Py_NewRef(python);
    self->given = (int)strlen(entry->arguments);
    self->results = (int)strlen(entry->results);
    for (const char *letter = entry->arguments; *letter; letter++) {
        *(is_option(*letter) ? &self->numbers : &self->arrays) += *letter == 'b' ? 2 : 1;
    }
    if (self->arrays + self->results > MOST_ARRAYS || self->numbers > MOST_NUMBERS) {
        Py_DECREF(self);
        return PyErr_Format(PyExc_TypeError, "%s has too many arguments", name);
    }
    return (PyObject *)self;
}

static void Kernel_dealloc(PyObject *object)
{
    Py_XDECREF(((Kernel *)object)->python);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *Kernel_repr(PyObject *object)
{
    return PyUnicode_FromFormat("<native kernel %s>", ((Kernel *)object)->entry->name);
}

static PyObject *Kernel_name(PyObject *object, void *unused)
{
    return PyUnicode_FromString(((Kernel *)object)->entry->name);
}

static PyObject *Kernel_python(PyObject *object, void *unused)
{
    return Py_NewRef(((Kernel *)object)->python);
}

static PyGetSetDef Kernel_fields[] = {
    {"__name__", Kernel_name, NULL, "the name of the function", NULL},
    {"python", Kernel_python, NULL, "the function in Python", NULL},
    {NULL},
};

static PyMethodDef Kernel_methods[] = {
    {"update", (PyCFunction)(void (*)(void))Kernel_update, METH_FASTCALL, update_doc},
    {NULL},
};

static PyTypeObject Kernel_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "leafgrad.kernels._fused.Kernel",
    .tp_doc = "Kernel(name, python): a kernel in machine code, and the function in Python that it was made of",
    .tp_basicsize = sizeof(Kernel),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = Kernel_new,
    .tp_dealloc = Kernel_dealloc,
    .tp_repr = Kernel_repr,
    .tp_getset = Kernel_fields,
    .tp_methods = Kernel_methods,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Kernel, call),
};

/* For which processors the loops were compiled of which one is running here. */
static const char *instructions(void)
{
#if defined(__x86_64__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
    return __builtin_cpu_supports("x86-64-v4") ? "x86-64-v4" : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3" : "x86-64";
#else
    return "those of the compiler";
#endif
}

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leafgrad.kernels._fused",
    .m_doc = "Kernels written in Python, as machine code.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__fused(void)
{
    import_array();
    if (pool_import() < 0) {
        return NULL;
    }
    kinds[FLOAT32] = PyArray_DescrFromType(NPY_FLOAT);
    kinds[FLOAT64] = PyArray_DescrFromType(NPY_DOUBLE);
    if (PyType_Ready(&Kernel_type) < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition), *table = PyCapsule_New((void *)entries, FUSED_CAPSULE, NULL);
    if (module == NULL || table == NULL || PyModule_AddObjectRef(module, "entries", table) < 0 ||
        PyModule_AddObjectRef(module, "Kernel", (PyObject *)&Kernel_type) < 0 ||
        PyModule_AddStringConstant(module, "instructions", instructions()) < 0) {
        Py_CLEAR(module);
    }
    Py_XDECREF(table);
    return module;
}
