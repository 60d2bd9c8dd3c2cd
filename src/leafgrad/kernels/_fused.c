/* The launcher of the kernels that translator.py has made of Python.

   A `Kernel` is called with arrays and numbers, in the order of the function in Python, and perhaps with one argument
   more, the array (or a tuple of arrays) for what it returns. What is not as the loops want it (another dtype, a shape
   that is no block of memory, tensors) goes to the function in Python. Large work is shared with the helper threads of
   pool.h, in pieces whose borders do not depend on how many there are, so that sums do not either.

       elementwise   operands of one shape, or such that numpy would broadcast; looked at as rows of contiguous elements
       rowwise       the last dimension is a row
       summed        all elements, whatever their shape; a result is one number
*/
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "pool.h"
#include "vector_math.h"
#include "vectors.h"

#define CLONES VECTORISED

#define MOST_ARRAYS 16
#define MOST_NUMBERS 16
#define MOST_CONSTANT 6      /* operands that are one number for a whole row */
#define BLOCK 2048           /* elements that are worked on at once where operands have to be filled in first */
#define SPLIT_WORK 131072    /* additions: from here on helpers pay, */
#define LONG_WORK (16 * SPLIT_WORK) /* and from here on they are worth being woken */
#define LET_OTHERS_RUN 65536 /* additions: from here on the interpreter lock is let go */
#define ROWS_AT_ONCE 128     /* rows whose sums by columns are added up in single precision */
#define CHUNKS 16            /* parts in which columns are added up */
#define SUMMED 4096          /* elements of a part of a sum of everything */

typedef void (*Function)(ptrdiff_t rows, ptrdiff_t n, char *const *arrays, const double *options, void *scratch);

typedef struct {
    const char *name, *kind, *arguments, *results;
    int cost, scratch;
    Function run[2]; /* for float and double */
} Entry;

#include "fused_kernels.h"

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

/* -- arguments ----------------------------------------------------------------------------------------------------- */

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

static void bounds(PyArrayObject *array, char **low, char **high)
{
    *low = PyArray_BYTES(array);
    *high = *low + PyArray_ITEMSIZE(array);
    for (int d = 0; d < PyArray_NDIM(array); d++) {
        npy_intp reach = (PyArray_DIM(array, d) - 1) * PyArray_STRIDE(array, d);
        *(reach < 0 ? low : high) += reach;
    }
}

static int same_elements(PyArrayObject *a, PyArrayObject *b)
{
    int dimensions = PyArray_NDIM(a);
    if (PyArray_BYTES(a) != PyArray_BYTES(b) || dimensions != PyArray_NDIM(b)) return 0;
    for (int d = 0; d < dimensions; d++) {
        if (PyArray_DIM(a, d) != PyArray_DIM(b, d)) return 0;
        if (PyArray_DIM(a, d) > 1 && PyArray_STRIDE(a, d) != PyArray_STRIDE(b, d)) return 0;
    }
    return 1;
}

/* Are two arrays columns of one matrix, beside each other, as the gates of a cell are? */
static int are_columns(PyArrayObject *a, PyArrayObject *b)
{
    if (PyArray_NDIM(a) != 2 || PyArray_NDIM(b) != 2 || PyArray_STRIDE(a, 0) != PyArray_STRIDE(b, 0)) return 0;
    npy_intp row = PyArray_STRIDE(a, 0), size = PyArray_ITEMSIZE(a);
    if (row <= 0 || PyArray_STRIDE(a, 1) != size || PyArray_STRIDE(b, 1) != PyArray_ITEMSIZE(b)) return 0;
    npy_intp apart = (PyArray_BYTES(a) - PyArray_BYTES(b)) % row;
    if (apart < 0) apart += row;
    return apart >= PyArray_DIM(b, 1) * PyArray_ITEMSIZE(b) && apart + PyArray_DIM(a, 1) * size <= row;
}

/* May a result be written to `out` while the arguments are read? `exact`: also if it is one of them, element by
   element. */
static int is_apart(PyArrayObject *out, const Call *call, int arrays, int exact)
{
    char *low, *high, *from, *to;
    bounds(out, &low, &high);
    for (int i = 0; i < arrays; i++) {
        PyArrayObject *array = call->arrays[i];
        if (array == NULL || (exact && same_elements(out, array))) continue;
        bounds(array, &from, &to);
        if (from < high && low < to && !are_columns(out, array)) return 0;
    }
    return 1;
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

/* -- element by element -------------------------------------------------------------------------------------------- */

/* Rows of n elements. In each operand the elements of a row follow each other, or all are one. */
typedef struct {
    Function run;
    int operands;
    char *base[MOST_ARRAYS];
    npy_intp row_stride[MOST_ARRAYS];
    npy_intp size[MOST_ARRAYS]; /* of an element */
    int constant[MOST_ARRAYS];
    int constants;
    npy_intp rows, n, block, blocks; /* blocks: of a row */
    const double *numbers;
} Elements;

static void fill(char *to, const char *from, npy_intp size, npy_intp count)
{
    if (size == 4) {
        float value;
        memcpy(&value, from, 4);
        for (npy_intp i = 0; i < count; i++) ((float *)to)[i] = value;
    } else if (size == 8) {
        double value;
        memcpy(&value, from, 8);
        for (npy_intp i = 0; i < count; i++) ((double *)to)[i] = value;
    } else {
        memset(to, *from, count);
    }
}

/* Blocks `from` to `to`, counted through all rows. */
static void run_blocks(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Elements *e = context;
    double filled[MOST_CONSTANT * BLOCK]; /* left alone if there is nothing to fill in */
    npy_intp row_before = -1;
    for (ptrdiff_t item = from; item < to; item++) {
        npy_intp row = item / e->blocks, start = (item % e->blocks) * e->block;
        npy_intp count = e->n - start < e->block ? e->n - start : e->block;
        char *pointers[MOST_ARRAYS];
        int constants = 0;
        for (int i = 0; i < e->operands; i++) {
            char *pointer = e->base[i] + row * e->row_stride[i];
            if (!e->constant[i]) {
                pointers[i] = pointer + start * e->size[i];
                continue;
            }
            pointers[i] = (char *)(filled + BLOCK * constants++);
            if (row != row_before && pointer != NULL && (row_before < 0 || e->row_stride[i])) {
                fill(pointers[i], pointer, e->size[i], e->block);
            }
        }
        row_before = row;
        e->run(1, count, pointers, e->numbers, NULL);
    }
}

static void run_elements(Elements *e, int cost)
{
    double work = (double)e->rows * (double)e->n * cost;
    if (e->constants || e->rows > 1 || work >= SPLIT_WORK) {
        e->block = e->constants ? BLOCK : 2 * BLOCK;
        if (e->block > e->n) e->block = e->n;
        e->blocks = (e->n + e->block - 1) / e->block;
    } else {
        e->block = e->n;
        e->blocks = 1;
    }
    npy_intp items = e->rows * e->blocks;
    if (work < LET_OTHERS_RUN) {
        run_blocks(e, 0, items);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (work < SPLIT_WORK || items < 2) {
        run_blocks(e, 0, items);
    } else {
        pool_run(run_blocks, e, items, e->block * 8, work >= LONG_WORK);
    }
    Py_END_ALLOW_THREADS
}

/* The dimensions of a call in the order in which they lie in memory, those that can be walked in one go joined. */
typedef struct {
    int dimensions, order[NPY_MAXDIMS];
    npy_intp shape[NPY_MAXDIMS];            /* of the result */
    npy_intp strides[MOST_ARRAYS][NPY_MAXDIMS]; /* of every operand, 0 where it is repeated */
} Walk;

/* The shape that operands have together, and their steps in it. 0 if they do not fit. */
static int broadcast(const Call *call, int arrays, Walk *walk)
{
    int dimensions = 0;
    for (int i = 0; i < arrays; i++) {
        if (call->arrays[i] != NULL && PyArray_NDIM(call->arrays[i]) > dimensions) {
            dimensions = PyArray_NDIM(call->arrays[i]);
        }
    }
    walk->dimensions = dimensions;
    for (int d = 0; d < dimensions; d++) walk->shape[d] = 1;
    for (int i = 0; i < arrays; i++) {
        PyArrayObject *array = call->arrays[i];
        int lead = array == NULL ? dimensions : dimensions - PyArray_NDIM(array);
        for (int d = 0; d < dimensions; d++) {
            npy_intp size = d < lead ? 1 : PyArray_DIM(array, d - lead);
            walk->strides[i][d] = size == 1 ? 0 : PyArray_STRIDE(array, d - lead);
            if (size == 1) continue;
            if (walk->shape[d] != 1 && walk->shape[d] != size) return 0;
            walk->shape[d] = size;
        }
    }
    return 1;
}

static npy_intp magnitude(npy_intp x) { return x < 0 ? -x : x; }

/* Dimensions with the largest steps first, by the first operand that has all elements; as they are if none has. */
static void find_order(const Call *call, int arrays, Walk *walk)
{
    for (int d = 0; d < walk->dimensions; d++) walk->order[d] = d;
    for (int i = 0; i < arrays; i++) {
        int whole = call->arrays[i] != NULL;
        for (int d = 0; d < walk->dimensions && whole; d++) {
            whole = walk->shape[d] == 1 || walk->strides[i][d] != 0;
        }
        if (!whole) continue;
        for (int d = 1; d < walk->dimensions; d++) { /* a few dimensions: inserted one by one */
            int dim = walk->order[d], to = d;
            if (walk->shape[dim] == 1) continue;
            while (to > 0 && walk->shape[walk->order[to - 1]] != 1 &&
                   magnitude(walk->strides[i][walk->order[to - 1]]) < magnitude(walk->strides[i][dim])) {
                walk->order[to] = walk->order[to - 1];
                to--;
            }
            walk->order[to] = dim;
        }
        return;
    }
}

/* The operands as rows. 0 if that cannot be done with one step from row to row. */
static int as_rows(const Walk *walk, int operands, Elements *e)
{
    npy_intp shape[2] = {1, 1}, strides[MOST_ARRAYS][2];
    int found = 0; /* dimensions so far, the innermost first */
    memset(strides, 0, sizeof strides);
    for (int d = walk->dimensions - 1; d >= 0; d--) {
        int dim = walk->order[d];
        npy_intp size = walk->shape[dim];
        if (size == 1) continue;
        int joins = found > 0;
        for (int i = 0; i < operands && joins; i++) {
            joins = walk->strides[i][dim] == strides[i][found - 1] * shape[found - 1];
        }
        if (joins) {
            shape[found - 1] *= size;
            continue;
        }
        if (found == 2) return 0;
        shape[found] = size;
        for (int i = 0; i < operands; i++) strides[i][found] = walk->strides[i][dim];
        found++;
    }
    e->n = shape[0], e->rows = shape[1], e->constants = 0;
    for (int i = 0; i < operands; i++) {
        e->constant[i] = e->base[i] == NULL || (strides[i][0] == 0 && e->n > 1);
        if (!e->constant[i] && e->n > 1 && strides[i][0] != e->size[i]) return 0;
        e->row_stride[i] = e->base[i] == NULL ? 0 : strides[i][1];
        e->constants += e->constant[i];
    }
    return e->constants <= MOST_CONSTANT;
}

/* An array for a result, new or given by the caller. NULL without an exception: for the function in Python. */
static PyArrayObject *place_for(const Kernel *self, const Call *call, int index, Walk *walk)
{
    char letter = call->letters[self->arrays + index];
    PyObject *wanted = wanted_out(call, index, self->results);
    if (wanted == NULL || wanted == Py_None) {
        npy_intp strides[NPY_MAXDIMS], step = size_of(letter, call->kind);
        for (int d = walk->dimensions - 1; d >= 0; d--) {
            strides[walk->order[d]] = step;
            step *= walk->shape[walk->order[d]];
        }
        return new_result(call, letter, walk->dimensions, walk->shape, strides);
    }
    PyArrayObject *out = (PyArrayObject *)wanted;
    PyArray_Descr *descr = result_descr(letter, call->kind);
    int fits = is_plain(wanted, descr) && PyArray_ISWRITEABLE(out) && PyArray_NDIM(out) == walk->dimensions &&
               PyArray_CompareLists(PyArray_DIMS(out), walk->shape, walk->dimensions) &&
               is_apart(out, call, self->arrays, 1);
    Py_DECREF(descr);
    return fits ? (PyArrayObject *)Py_NewRef(wanted) : NULL;
}

/* Returns NULL without an exception if the function in Python is to be called. */
static PyObject *call_elementwise(const Kernel *self, Call *call)
{
    Walk walk;
    Elements e;
    int operands = self->arrays + self->results, made = 0;
    if (!broadcast(call, self->arrays, &walk)) {
        return NULL;
    }
    find_order(call, self->arrays, &walk);
    PyArrayObject **results = call->arrays + self->arrays;
    for (; made < self->results; made++) {
        results[made] = place_for(self, call, made, &walk);
        if (results[made] == NULL) goto other;
        for (int d = 0; d < walk.dimensions; d++) {
            walk.strides[self->arrays + made][d] = PyArray_STRIDE(results[made], d);
        }
    }
    for (int i = 0; i < operands; i++) {
        e.base[i] = call->arrays[i] == NULL ? NULL : PyArray_BYTES(call->arrays[i]);
        e.size[i] = size_of(call->letters[i], call->kind);
    }
    if (!as_rows(&walk, operands, &e)) goto other;
    e.run = self->entry->run[call->kind];
    e.operands = operands;
    e.numbers = call->numbers;
    if (PyArray_SIZE(results[0]) > 0) {
        run_elements(&e, self->entry->cost);
    }
    return returned(self, results);
other:
    while (made-- > 0) {
        Py_DECREF(results[made]);
    }
    return NULL;
}

/* -- row by row ---------------------------------------------------------------------------------------------------- */

typedef struct {
    Function run;
    const char *letters;
    int operands, arguments, scratch, sums; /* sums: results that are sums of columns */
    char *base[MOST_ARRAYS];
    npy_intp size[MOST_ARRAYS];
    npy_intp rows, n, chunk; /* chunk: rows of a part of the sums */
    double *parts;           /* sums of columns, chunk after chunk */
    const double *numbers;
    atomic_int failed; /* no memory for scratch rows */
} Rows;

static void row_pointers(const Rows *w, npy_intp row, char **pointers)
{
    for (int i = 0; i < w->operands; i++) {
        char letter = w->letters[i];
        npy_intp step = letter == 's' || letter == 'c' ? 0 : letter == 'p' || letter == 'i' ? 1 : w->n;
        pointers[i] = w->base[i] == NULL ? NULL : w->base[i] + row * step * w->size[i];
    }
}

static void run_rows(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Rows *w = context;
    char *pointers[MOST_ARRAYS];
    void *scratch = w->scratch ? malloc((size_t)w->scratch * w->n * sizeof(double)) : NULL;
    if (w->scratch && scratch == NULL) {
        atomic_fetch_or(&w->failed, 1);
        return;
    }
    row_pointers(w, from, pointers);
    w->run(to - from, w->n, pointers, w->numbers, scratch);
    free(scratch);
}

/* Chunks of rows whose columns are added up: some rows in the dtype, those sums in double precision. */
static void run_chunks(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Rows *w = context;
    char *pointers[MOST_ARRAYS];
    npy_intp size = w->size[w->arguments], each = w->n * size;
    char *memory = malloc((size_t)(w->scratch * w->n * (npy_intp)sizeof(double) + w->sums * each));
    if (memory == NULL) {
        atomic_fetch_or(&w->failed, 1);
        return;
    }
    char *sums = memory + w->scratch * w->n * sizeof(double);
    for (ptrdiff_t chunk = from; chunk < to; chunk++) {
        npy_intp end = (chunk + 1) * w->chunk < w->rows ? (chunk + 1) * w->chunk : w->rows;
        double *part = w->parts + chunk * w->sums * w->n;
        memset(part, 0, (size_t)(w->sums * w->n) * sizeof(double));
        for (npy_intp row = chunk * w->chunk; row < end; row += ROWS_AT_ONCE) {
            npy_intp count = end - row < ROWS_AT_ONCE ? end - row : ROWS_AT_ONCE;
            row_pointers(w, row, pointers);
            int sum = 0;
            for (int i = w->arguments; i < w->operands; i++) {
                if (w->letters[i] == 'c') pointers[i] = sums + each * sum++;
            }
            memset(sums, 0, (size_t)(w->sums * each));
            w->run(count, w->n, pointers, w->numbers, memory);
            for (npy_intp i = 0; i < w->sums * w->n; i++) {
                part[i] += size == 4 ? ((float *)sums)[i] : ((double *)sums)[i];
            }
        }
    }
    free(memory);
}

static void add_up_parts(const Rows *w, npy_intp chunks)
{
    int sum = 0;
    for (int i = w->arguments; i < w->operands; i++) {
        if (w->letters[i] != 'c') continue;
        for (npy_intp column = 0; column < w->n; column++) {
            double total = 0;
            for (npy_intp chunk = 0; chunk < chunks; chunk++) {
                total += w->parts[(chunk * w->sums + sum) * w->n + column];
            }
            if (w->size[i] == 4) {
                ((float *)w->base[i])[column] = (float)total;
            } else {
                ((double *)w->base[i])[column] = total;
            }
        }
        sum++;
    }
}

/* Returns -1 with an exception if there was no memory. */
static int run_all_rows(Rows *w, int cost)
{
    npy_intp chunks = 0, items = w->rows;
    pool_work work = run_rows;
    double amount = (double)w->rows * (double)w->n * cost;
    if (w->sums) {
        w->chunk = (w->rows + CHUNKS - 1) / CHUNKS;
        if (w->chunk < 16) w->chunk = 16; /* the sums of a chunk have to be added up as well */
        items = chunks = (w->rows + w->chunk - 1) / w->chunk;
        work = run_chunks;
        w->parts = malloc((size_t)(chunks * w->sums * w->n) * sizeof(double) + 1);
        if (w->parts == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    atomic_init(&w->failed, 0);
    if (amount < LET_OTHERS_RUN) {
        work(w, 0, items);
    } else {
        npy_intp bytes = w->n * 8 * (w->sums ? w->chunk : 1);
        Py_BEGIN_ALLOW_THREADS
        if (amount < SPLIT_WORK || items < 2) {
            work(w, 0, items);
        } else {
            pool_run(work, w, items, bytes, amount >= LONG_WORK);
        }
        Py_END_ALLOW_THREADS
    }
    if (w->sums) {
        add_up_parts(w, chunks);
        free(w->parts);
    }
    if (atomic_load(&w->failed)) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* Do the arrays fit rows of `form`? */
static int rows_fit(const Call *call, int arrays, PyArrayObject *form, npy_intp rows, npy_intp n)
{
    for (int i = 0; i < arrays; i++) {
        PyArrayObject *array = call->arrays[i];
        switch (array == NULL ? 'u' : call->letters[i]) {
        case 'v': case 'm':
            if (PyArray_NDIM(array) != PyArray_NDIM(form) ||
                !PyArray_CompareLists(PyArray_DIMS(array), PyArray_DIMS(form), PyArray_NDIM(form))) return 0;
            break;
        case 's':
            if (PyArray_SIZE(array) != n) return 0;
            break;
        case 'p': case 'i':
            if (PyArray_SIZE(array) != rows) return 0;
            break;
        default:
            return 0;
        }
    }
    return 1;
}

/* A new array for a result over rows, or the one that the caller wants if it can be written to at once. */
static PyArrayObject *row_result(const Kernel *self, const Call *call, int index, PyArrayObject *form)
{
    char letter = call->letters[self->arrays + index];
    npy_intp shape[NPY_MAXDIMS];
    int dimensions = PyArray_NDIM(form);
    memcpy(shape, PyArray_DIMS(form), sizeof(npy_intp) * (size_t)dimensions);
    if (letter == 'p') {
        shape[dimensions - 1] = 1;
    } else if (letter == 'c') {
        shape[0] = shape[dimensions - 1];
        dimensions = 1;
    }
    PyObject *wanted = wanted_out(call, index, self->results);
    if (wanted != NULL && is_plain(wanted, kinds[call->kind]) && letter != 'm') {
        PyArrayObject *out = (PyArrayObject *)wanted;
        if (PyArray_IS_C_CONTIGUOUS(out) && PyArray_ISWRITEABLE(out) && PyArray_NDIM(out) == dimensions &&
            PyArray_CompareLists(PyArray_DIMS(out), shape, dimensions) && is_apart(out, call, self->arrays, 0)) {
            return (PyArrayObject *)Py_NewRef(wanted);
        }
    }
    return new_result(call, letter, dimensions, shape, NULL);
}

/* What was computed apart from where the caller wants it is copied there. */
static PyObject *delivered(const Kernel *self, const Call *call, PyArrayObject **results)
{
    for (int i = 0; i < self->results; i++) {
        PyObject *wanted = wanted_out(call, i, self->results);
        if (wanted == NULL || wanted == Py_None || wanted == (PyObject *)results[i]) continue;
        if (!PyArray_Check(wanted) || PyArray_CopyInto((PyArrayObject *)wanted, results[i]) < 0) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "out: expected an array");
            for (int k = 0; k < self->results; k++) Py_DECREF(results[k]);
            return NULL;
        }
        Py_INCREF(wanted);
        Py_SETREF(results[i], (PyArrayObject *)wanted);
    }
    return returned(self, results);
}

static PyObject *call_rowwise(const Kernel *self, Call *call)
{
    PyArrayObject *form = NULL, *copies[MOST_ARRAYS] = {NULL}, *results[MOST_ARRAYS] = {NULL};
    for (int i = 0; i < self->arrays && form == NULL; i++) {
        if (call->letters[i] == 'v') form = call->arrays[i];
    }
    if (form == NULL || PyArray_NDIM(form) < 1) {
        return NULL;
    }
    Rows w = {.run = self->entry->run[call->kind], .letters = call->letters, .scratch = self->entry->scratch,
              .arguments = self->arrays, .operands = self->arrays + self->results, .numbers = call->numbers};
    w.n = PyArray_DIM(form, PyArray_NDIM(form) - 1);
    if (w.n == 0) {
        return NULL;
    }
    w.rows = PyArray_SIZE(form) / w.n;
    if (!rows_fit(call, self->arrays, form, w.rows, w.n)) {
        return NULL;
    }
    PyObject *answer = NULL;
    int failed = 0;
    for (int i = 0; i < self->arrays; i++) {
        copies[i] = (PyArrayObject *)PyArray_FROM_OF((PyObject *)call->arrays[i], NPY_ARRAY_C_CONTIGUOUS);
        failed |= copies[i] == NULL;
        if (!failed) w.base[i] = PyArray_BYTES(copies[i]);
        w.size[i] = size_of(call->letters[i], call->kind);
    }
    for (int i = 0; i < self->results && !failed; i++) {
        results[i] = row_result(self, call, i, form);
        failed |= results[i] == NULL;
        if (!failed) w.base[self->arrays + i] = PyArray_BYTES(results[i]);
        w.size[self->arrays + i] = size_of(call->letters[self->arrays + i], call->kind);
        w.sums += call->letters[self->arrays + i] == 'c';
    }
    if (!failed && run_all_rows(&w, self->entry->cost) == 0) {
        answer = delivered(self, call, results);
    } else {
        for (int i = 0; i < self->results; i++) Py_XDECREF(results[i]);
    }
    for (int i = 0; i < self->arrays; i++) Py_XDECREF(copies[i]);
    return answer;
}

/* -- sums of everything -------------------------------------------------------------------------------------------- */

typedef struct {
    Rows rows;
    npy_intp count;
    double *totals; /* part after part */
} Total;

static void run_parts(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Total *t = context;
    int results = t->rows.operands - t->rows.arguments;
    for (ptrdiff_t part = from; part < to; part++) {
        char *pointers[MOST_ARRAYS];
        npy_intp start = part * SUMMED, count = t->count - start < SUMMED ? t->count - start : SUMMED;
        for (int i = 0; i < t->rows.arguments; i++) pointers[i] = t->rows.base[i] + start * t->rows.size[i];
        for (int i = 0; i < results; i++) pointers[t->rows.arguments + i] = (char *)(t->totals + part * results + i);
        t->rows.run(1, count, pointers, t->rows.numbers, NULL);
    }
}

static PyObject *call_summed(const Kernel *self, Call *call)
{
    PyArrayObject *copies[MOST_ARRAYS] = {NULL}, *results[MOST_ARRAYS] = {NULL}, *form = call->arrays[0];
    if (form == NULL || !rows_fit(call, self->arrays, form, -1, -1)) {
        return NULL;
    }
    Total t = {.rows = {.run = self->entry->run[call->kind], .arguments = self->arrays,
                        .operands = self->arrays + self->results, .numbers = call->numbers},
               .count = PyArray_SIZE(form)};
    npy_intp parts = (t.count + SUMMED - 1) / SUMMED;
    double small[MOST_ARRAYS], work = (double)t.count * self->entry->cost;
    t.totals = parts > 1 ? malloc((size_t)(parts * self->results) * sizeof(double)) : small;
    int failed = t.totals == NULL;
    for (int i = 0; i < self->arrays; i++) {
        copies[i] = (PyArrayObject *)PyArray_FROM_OF((PyObject *)call->arrays[i], NPY_ARRAY_C_CONTIGUOUS);
        failed |= copies[i] == NULL;
        if (!failed) t.rows.base[i] = PyArray_BYTES(copies[i]);
        t.rows.size[i] = size_of(call->letters[i], call->kind);
    }
    if (!failed && work < LET_OTHERS_RUN) {
        run_parts(&t, 0, parts);
    } else if (!failed) {
        Py_BEGIN_ALLOW_THREADS
        if (work < SPLIT_WORK || parts < 2) {
            run_parts(&t, 0, parts);
        } else {
            pool_run(run_parts, &t, parts, SUMMED * 8, work >= LONG_WORK);
        }
        Py_END_ALLOW_THREADS
    }
    for (int i = 0; i < self->results && !failed; i++) {
        results[i] = new_result(call, 'v', 0, NULL, NULL);
        failed |= results[i] == NULL;
        double total = 0;
        for (npy_intp part = 0; part < parts; part++) total += t.totals[part * self->results + i];
        if (!failed && call->kind == FLOAT32) {
            *(float *)PyArray_DATA(results[i]) = (float)total;
        } else if (!failed) {
            *(double *)PyArray_DATA(results[i]) = total;
        }
    }
    if (t.totals != small) free(t.totals);
    for (int i = 0; i < self->arrays; i++) Py_XDECREF(copies[i]);
    if (failed) {
        for (int i = 0; i < self->results; i++) Py_XDECREF(results[i]);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    return delivered(self, call, results);
}

/* -- updates of many parameters at once ---------------------------------------------------------------------------- */

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

static void run_updates(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Updates *u = context;
    double absent[BLOCK]; /* stands for an array that a parameter does not have: read for nothing, written for nobody */
    npy_intp low = 0, high = u->parameters;
    memset(absent, 0, sizeof absent);
    while (high - low > 1) { /* the parameter of the first block */
        npy_intp middle = (low + high) / 2;
        *(u->starts[middle] <= from ? &low : &high) = middle;
    }
    for (ptrdiff_t item = from; item < to; item++) {
        while (u->starts[low + 1] <= item) low++;
        npy_intp start = (item - u->starts[low]) * BLOCK;
        npy_intp count = u->counts[low] - start < BLOCK ? u->counts[low] - start : BLOCK;
        char *pointers[MOST_ARRAYS];
        for (int i = 0; i < u->each; i++) {
            char *base = u->bases[low * u->each + i];
            pointers[i] = base == NULL ? (char *)absent : base + start * u->size;
        }
        for (int i = u->each; i < u->operands; i++) pointers[i] = pointers[u->homes[i - u->each]];
        u->run(1, count, pointers, u->numbers, NULL);
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
        memset(bases, 0, (size_t)u->each * sizeof(char *));
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
        pool_run(run_updates, u, blocks, u->elements / blocks * 8, work >= LONG_WORK);
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
    const Entry *entry = entries;
    while (entry->name != NULL && strcmp(entry->name, name) != 0) {
        entry++;
    }
    if (entry->name == NULL) {
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
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Kernel", (PyObject *)&Kernel_type) < 0 ||
        PyModule_AddStringConstant(module, "instructions", instructions()) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
