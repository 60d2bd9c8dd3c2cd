/* A function in C before one in Python: Native(name, otherwise).

   It is called with positional arguments. The function in C returns a new reference, NULL with an exception, or NULL
   without one: then it does not take these arguments, and `otherwise` gets them. An extension defines

       static const NativeFunction functions[] = {{"name", function}, ..., {NULL}};

   after it has included this, and calls native_prepare(module, functions) when it is imported. */
#ifndef LEAFGRAD_NATIVE_H
#define LEAFGRAD_NATIVE_H

typedef struct {
    const char *name;
    PyObject *(*run)(PyObject *const *args, Py_ssize_t given);
} NativeFunction;

static const NativeFunction *native_functions;

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    const NativeFunction *function;
    PyObject *otherwise;
} Native;

static PyObject *Native_call(PyObject *callable, PyObject *const *args, size_t flags, PyObject *keywords)
{
    const Native *self = (Native *)callable;
    if (keywords == NULL) {
        PyObject *result = self->function->run(args, PyVectorcall_NARGS(flags));
        if (result != NULL || PyErr_Occurred()) return result;
    }
    return PyObject_Vectorcall(self->otherwise, args, flags, keywords);
}

static PyObject *Native_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    const char *name;
    PyObject *otherwise;
    if (!PyArg_ParseTuple(args, "sO:Native", &name, &otherwise)) return NULL;
    for (const NativeFunction *function = native_functions; function->name; function++) {
        if (strcmp(function->name, name) == 0) {
            Native *self = (Native *)type->tp_alloc(type, 0);
            if (self == NULL) return NULL;
            self->call = Native_call;
            self->function = function;
            self->otherwise = Py_NewRef(otherwise);
            return (PyObject *)self;
        }
    }
    return PyErr_Format(PyExc_ValueError, "Native: there is no %s", name);
}

static void Native_dealloc(PyObject *object)
{
    Py_XDECREF(((Native *)object)->otherwise);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *Native_name(PyObject *object, void *unused)
{
    return PyUnicode_FromString(((Native *)object)->function->name);
}

static PyObject *Native_otherwise(PyObject *object, void *unused)
{
    return Py_NewRef(((Native *)object)->otherwise);
}

static PyGetSetDef Native_fields[] = {
    {"__name__", Native_name, NULL, "what it computes", NULL},
    {"otherwise", Native_otherwise, NULL, "the function that computes it for all other arguments", NULL},
    {NULL},
};

static PyTypeObject Native_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "leafgrad.kernels.Native",
    .tp_doc = "Native(name, otherwise): a function in C, and one in Python for the arguments that it does not take",
    .tp_basicsize = sizeof(Native),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = Native_new,
    .tp_dealloc = Native_dealloc,
    .tp_getset = Native_fields,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Native, call),
};

static int native_prepare(PyObject *module, const NativeFunction *functions)
{
    native_functions = functions;
    return PyType_Ready(&Native_type) < 0 ? -1 : PyModule_AddObjectRef(module, "Native", (PyObject *)&Native_type);
}

#endif
