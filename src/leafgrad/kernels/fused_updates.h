/* Updates of many parameters at once, in place: an elementwise kernel for each. Included by _fused.c. */
#ifndef LEAFGRAD_FUSED_UPDATES_H
#define LEAFGRAD_FUSED_UPDATES_H

typedef struct {
    Function run;
    int each, operands;  /* arrays of a parameter; those and the results */
    int homes[MOST_ARRAYS]; /* for each result, the argument whose memory it goes to */
    npy_intp *starts;    /* for each parameter, the number of its first block; then that of all */
    npy_intp *counts;    /* elements */
    char **bases;
    npy_intp size, parameters, elements;
    double numbers[MOST_NUMBERS];
} Updates;

/* As few and as long runs as there can be: a kernel computes what depends on its options alone at the start of each. */
static void run_updates(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Updates *u = context;
    npy_intp low = 0, high = u->parameters;
    while (high - low > 1) { /* the parameter of the first block */
        npy_intp middle = (low + high) / 2;
        *(u->starts[middle] <= from ? &low : &high) = middle;
    }
    for (; from < to; low++) {
        npy_intp start = (from - u->starts[low]) * BLOCK;
        npy_intp end = to < u->starts[low + 1] ? (to - u->starts[low]) * BLOCK : u->counts[low];
        char *pointers[MOST_ARRAYS];
        for (int i = 0; i < u->each; i++) pointers[i] = u->bases[low * u->each + i] + start * u->size;
        for (int i = u->each; i < u->operands; i++) pointers[i] = pointers[u->homes[i - u->each]];
        if (end > start) u->run(1, end - start, pointers, u->numbers, NULL);
        from = u->starts[low + 1];
    }
}

/* Can the arrays of a parameter be worked on as they lie? */
static int is_updatable(PyObject *const *items, Py_ssize_t given, PyArray_Descr *descr)
{
    PyArrayObject *param = (PyArrayObject *)items[0];
    for (Py_ssize_t i = 0; i < given; i++) {
        PyArrayObject *array = (PyArrayObject *)items[i];
        if (!is_plain(items[i], descr) || !PyArray_IS_C_CONTIGUOUS(array) ||
            PyArray_SIZE(array) != PyArray_SIZE(param) || (i != 1 && !PyArray_ISWRITEABLE(array))) return 0;
    }
    return 1;
}

static int by_address(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    return (x > y) - (x < y);
}

/* Is a parameter there twice? Two threads must not work on it. `addresses`: memory for them. */
static int is_repeated(const Updates *u, char **addresses)
{
    for (npy_intp p = 0; p < u->parameters; p++) addresses[p] = u->bases[p * u->each];
    qsort(addresses, (size_t)u->parameters, sizeof(char *), by_address);
    for (npy_intp p = 1; p < u->parameters; p++) {
        if (addresses[p] == addresses[p - 1]) return 1;
    }
    return 0;
}

/* Note the parameters of one dtype, whose arrays lie one after the other from `items` on. Those of no dtype of ours go
   to `others`, if that is not NULL. `places` tells which argument each array is. */
static int collect(Updates *u, PyObject *const *items, Py_ssize_t parameters, PyObject *const *places,
                   Py_ssize_t given, int kind, PyObject *others)
{
    npy_intp blocks = 0;
    u->parameters = u->elements = 0;
    u->size = size_of('v', kind);
    for (Py_ssize_t p = 0; p < parameters; p++) {
        PyObject *const *mine = items + p * given;
        if (!is_updatable(mine, given, kinds[kind])) {
            if (others != NULL && !is_updatable(mine, given, kinds[FLOAT32])) {
                PyObject *number = PyLong_FromSsize_t(p);
                int failed = number == NULL || PyList_Append(others, number) < 0;
                Py_XDECREF(number);
                if (failed) return -1;
            }
            continue;
        }
        char **bases = u->bases + u->parameters * u->each;
        /* For an array that is not kept the parameter stands: it is read for nothing, and what is written to it is
           overwritten at once by the parameter's own result, which a kernel stores last. */
        for (int i = 0; i < u->each; i++) bases[i] = PyArray_BYTES((PyArrayObject *)mine[0]);
        for (Py_ssize_t i = 0; i < given; i++) {
            bases[PyLong_AsLong(places[i])] = PyArray_BYTES((PyArrayObject *)mine[i]);
        }
        npy_intp count = PyArray_SIZE((PyArrayObject *)mine[0]);
        u->starts[u->parameters] = blocks;
        u->counts[u->parameters++] = count;
        blocks += (count + BLOCK - 1) / BLOCK;
        u->elements += count;
    }
    u->starts[u->parameters] = blocks;
    return 0;
}

static void run_all_updates(Updates *u, int cost, char **addresses)
{
    npy_intp blocks = u->starts[u->parameters];
    double work = (double)u->elements * cost;
    if (work < LET_OTHERS_RUN) {
        run_updates(u, 0, blocks);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (work < SPLIT_WORK || blocks < 2 || is_repeated(u, addresses)) {
        run_updates(u, 0, blocks);
    } else {
        pool_run(run_updates, u, blocks, u->elements / blocks * u->size, work >= LONG_WORK);
    }
    Py_END_ALLOW_THREADS
}

/* The options and where results go. Returns 0 if an option is no number. */
static int read_options(const Kernel *self, PyObject *options, Updates *u)
{
    int results = 0, numbers = 0, option = 0;
    for (int i = 0; i < self->given; i++) {
        char letter = self->entry->arguments[i];
        if (is_option(letter)) {
            int found = read_option(letter, PyTuple_GET_ITEM(options, option++), u->numbers + numbers);
            if (found == 0) return 0;
            numbers += found;
        } else if (letter == 'u') {
            u->homes[results++] = i;
        }
    }
    u->each = self->arrays;
    u->operands = self->arrays + self->results;
    return 1;
}

PyDoc_STRVAR(update_doc,
"update(arrays, options, places): compute new values for parameters, in place.\n\n"
"`arrays` is a list: each parameter, its gradient, and what is kept for it, one parameter after the other; `places` is a\n"
"tuple that tells which argument each of these is: those that are not there are not kept. Returns the numbers of the\n"
"parameters whose arrays are not as the loops want them, which were left alone; None if the options are not numbers.");

static PyObject *Kernel_update(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    Kernel *self = (Kernel *)object;
    Updates u;
    if (count != 3 || !PyList_CheckExact(args[0]) || !PyTuple_CheckExact(args[1]) || !PyTuple_CheckExact(args[2]) ||
        strcmp(self->entry->kind, "elementwise") != 0) {
        PyErr_SetString(PyExc_TypeError, "update: expected a list of arrays, a tuple of numbers and one of places");
        return NULL;
    }
    Py_ssize_t size = PyList_GET_SIZE(args[0]), given = PyTuple_GET_SIZE(args[2]);
    PyObject *const *places = ((PyTupleObject *)args[2])->ob_item;
    int fits = given > 0 && size % given == 0 && PyTuple_GET_SIZE(args[1]) == self->given - self->arrays;
    for (Py_ssize_t i = 0; i < given && fits; i++) {
        fits = PyLong_Check(places[i]) && PyLong_AsLong(places[i]) >= 0 && PyLong_AsLong(places[i]) < self->arrays;
    }
    if (!fits) {
        return PyErr_Format(PyExc_TypeError, "update: %s has other arguments", self->entry->name);
    }
    if (!read_options(self, args[1], &u)) {
        Py_RETURN_NONE;
    }
    Py_ssize_t parameters = size / given;
    PyObject *others = PyList_New(0);
    u.starts = malloc((size_t)(2 * parameters + 1) * sizeof(npy_intp));
    u.bases = malloc((size_t)(parameters * (self->arrays + 1)) * sizeof(char *) + 1); /* the rest is for addresses */
    u.counts = u.starts + parameters + 1;
    int failed = others == NULL || u.starts == NULL || u.bases == NULL;
    if (failed) PyErr_NoMemory();
    for (int kind = 0; kind < KINDS && !failed; kind++) {
        PyObject *const *items = ((PyListObject *)args[0])->ob_item;
        failed = collect(&u, items, parameters, places, given, kind, kind == FLOAT64 ? others : NULL) < 0;
        u.run = self->entry->run[kind];
        if (!failed && u.elements > 0) {
            run_all_updates(&u, self->entry->cost, u.bases + parameters * self->arrays);
        }
    }
    free(u.starts), free(u.bases);
    if (failed) Py_CLEAR(others);
    return others;
}

#endif
