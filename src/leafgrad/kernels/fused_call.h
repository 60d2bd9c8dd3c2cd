/* What a kernel has been called with: arrays and numbers, and where results go. Included by _fused.c. */
#ifndef LEAFGRAD_FUSED_CALL_H
#define LEAFGRAD_FUSED_CALL_H

enum { FLOAT32, FLOAT64, KINDS };
static PyArray_Descr *kinds[KINDS];

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    const Entry *entry;
    PyObject *python; /* the function that the kernel was made of */
    int given, arrays, numbers, results;
} Kernel;

/* What a call has been given. `arrays` are those of the arguments, then those of the results. */
typedef struct {
    int kind;
    PyArrayObject *arrays[MOST_ARRAYS]; /* NULL for an operand that is absent */
    char letters[MOST_ARRAYS];
    double numbers[MOST_NUMBERS];
    PyObject *out; /* borrowed: what the caller wants to have written to, or NULL */
} Call;

static int size_of(char letter, int kind)
{
    return letter == 'm' ? 1 : letter == 'i' || letter == 't' ? 8 : kind == FLOAT32 ? 4 : 8;
}

static int is_option(char letter) { return letter == 'n' || letter == 'b'; }

static int is_of_type(PyObject *object, int type)
{
    return PyArray_CheckExact(object) && PyArray_TYPE((PyArrayObject *)object) == type &&
           PyArray_ISBEHAVED_RO((PyArrayObject *)object);
}

/* By its number, not by its object: arrays that were unpickled have a dtype object of their own. */
static int is_plain(PyObject *object, PyArray_Descr *descr) { return is_of_type(object, descr->type_num); }

/* An option. Returns 0 if it is something else than a number. */
static int read_number(PyObject *object, double *number)
{
    if (PyFloat_Check(object)) { /* np.float64 as well */
        *number = PyFloat_AS_DOUBLE(object);
        return 1;
    }
    if (PyLong_Check(object)) { /* bools as well */
        *number = PyLong_AsDouble(object);
        if (*number == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
        return 1;
    }
    return 0;
}

/* An option as its letter says: a number, or two as in betas=(0.9, 0.999). Returns how many there were. */
static int read_option(char letter, PyObject *object, double *numbers)
{
    if (letter == 'n') {
        return read_number(object, numbers);
    }
    if (!(PyTuple_Check(object) || PyList_Check(object)) || PySequence_Fast_GET_SIZE(object) != 2) {
        return 0;
    }
    PyObject **items = PySequence_Fast_ITEMS(object);
    return read_number(items[0], numbers) && read_number(items[1], numbers + 1) ? 2 : 0;
}

/* Read the arguments. Returns 0 if they are for the function in Python. */
static int read_arguments(const Kernel *self, PyObject *const *args, Py_ssize_t count, Call *call)
{
    const char *letters = self->entry->arguments;
    int arrays = 0, numbers = 0;
    call->kind = -1;
    for (int i = 0; i < self->given; i++) {
        if (is_option(letters[i])) {
            int found = read_option(letters[i], args[i], call->numbers + numbers);
            if (found == 0) return 0;
            numbers += found;
            continue;
        }
        PyArrayObject *array = (PyArrayObject *)args[i];
        if (args[i] == Py_None && letters[i] == 'u') {
            array = NULL;
        } else if (letters[i] == 'm') {
            if (!is_of_type(args[i], NPY_BOOL)) return 0;
        } else if (letters[i] == 'i') {
            if (!is_of_type(args[i], NPY_INT64)) return 0;
        } else {
            if (call->kind < 0) {
                call->kind = is_plain(args[i], kinds[FLOAT32]) ? FLOAT32 : FLOAT64;
            }
            if (!is_plain(args[i], kinds[call->kind])) return 0;
        }
        call->letters[arrays] = letters[i];
        call->arrays[arrays++] = array;
    }
    memcpy(call->letters + arrays, self->entry->results, self->results);
    call->out = count > self->given && args[self->given] != Py_None ? args[self->given] : NULL;
    return call->kind >= 0;
}

static PyArray_Descr *result_descr(char letter, int kind)
{
    return letter == 'm' ? PyArray_DescrFromType(NPY_BOOL) : (PyArray_Descr *)Py_NewRef((PyObject *)kinds[kind]);
}

static PyArrayObject *new_result(const Call *call, char letter, int dimensions, npy_intp *shape, npy_intp *strides)
{
    return (PyArrayObject *)PyArray_NewFromDescr(
        &PyArray_Type, result_descr(letter, call->kind), dimensions, shape, strides, NULL, 0, NULL);
}

/* The array that result number `index` is to be written to: borrowed, NULL if none is wanted. */
static PyObject *wanted_out(const Call *call, int index, int results)
{
    PyObject *out = call->out;
    if (out == NULL) return NULL;
    if (PyTuple_CheckExact(out)) return index < PyTuple_GET_SIZE(out) ? PyTuple_GET_ITEM(out, index) : NULL;
    if (PyList_CheckExact(out)) return index < PyList_GET_SIZE(out) ? PyList_GET_ITEM(out, index) : NULL;
    return results == 1 ? out : NULL;
}

static PyObject *returned(const Kernel *self, PyArrayObject **results)
{
    if (self->results == 1) {
        return (PyObject *)results[0];
    }
    PyObject *tuple = PyTuple_New(self->results);
    for (int i = 0; i < self->results; i++) {
        if (tuple != NULL) {
            PyTuple_SET_ITEM(tuple, i, (PyObject *)results[i]);
        } else {
            Py_XDECREF(results[i]);
        }
    }
    return tuple;
}

#endif
