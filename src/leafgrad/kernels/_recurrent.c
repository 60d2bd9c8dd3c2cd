/* The steps of recurrent layers, one after the other, without Python between them.

   What a step needs of the one before is a product of its states and the weights (blas.h), and then a kernel of
   leafgrad/kernels/fused/recurrent.py for each row. Sequences do not know of each other, so they are cut into groups,
   each of which goes through all steps in one thread; groups depend on the number of sequences only, and so do results.

   A group has memory of its own for its states, or for their gradients, and for what the inputs of a few steps add to
   the gates. The rows of groups lie beside each other, often in one page: where a thread read what it had written there,
   its core fetched the neighbours' as well, and both waited for each other's lines (two threads took as long as one).

   Rows of steps, `sizes` and `reverse` are those of recurrent.py, where the same functions stand on NumPy. */
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

#include "blas.h"
#include "fused_entry.h"
#include "native.h"
#include "pool.h"

#define MOST 9               /* arrays of a layer */
#define LET_OTHERS_RUN 16384 /* products of numbers: from here on the interpreter lock is let go, */
#define SPLIT_FROM 1000000   /* a second thread pays, */
#define LONG_FROM 12000000   /* and is worth being woken */
#define SMALL 1000000        /* products of numbers that OpenBLAS computes without rearranging matrices, */
#define COLUMNS 64           /* in blocks of so many columns */
#define FEWEST 8             /* sequences of a group, at least, */
#define GROUP 32             /* and at most; rows of inputs that are multiplied at once, at least */
#define PAGE 4096

static const BlasFunctions *blas;
static const Entry *kernels;

/* A cell. Arrays are told by letters, those that are given and those that are made:
       i  the initial states          n  states after all steps      g  their gates     N  the same as n, or None
       w  weights, (states, gates)    v  weights, (gates, states)    b  a bias of the gates, or None
       x  inputs of all steps         u  weights, (inputs, gates) */
typedef struct {
    int gates;
    const char *given, *made, *name;
    pool_work run;      /* groups of sequences of a Layer */
    const Entry *entry; /* the kernel `name` */
} Cell;

typedef struct {
    const Cell *cell;
    char *arrays[MOST]; /* those that are given, then those that are made; NULL: absent */
    int size;           /* of a number, in bytes */
    npy_intp inputs;    /* numbers of an input; 0 in backward passes */
    npy_intp n, count, steps, group;
    npy_intp *starts; /* the first row of each step, and the end of the last */
    int reverse;
    char *zeros;     /* a row of gates */
    char *at_once;   /* what the inputs of all steps add to the gates, if there is one group only */
    atomic_int full; /* was there no memory left? */
    Function kernel;
} Layer;

/* -- rows ---------------------------------------------------------------------------------------------------------- */

/* The rows of a group in one step, and those of the step that was read before: sequences `low` to `shared` were in it
   already, the others up to `high` begin here. */
typedef struct {
    npy_intp low, shared, high, start, before;
} Rows;

static npy_intp step_at(const Layer *l, npy_intp place) { return l->reverse ? l->steps - 1 - place : place; }

static npy_intp least(npy_intp a, npy_intp b) { return a < b ? a : b; }

/* Returns 0 if the group has no sequence in this step. */
static int find_rows(const Layer *l, npy_intp group, npy_intp place, Rows *rows)
{
    npy_intp step = step_at(l, place), low = group * l->group;
    npy_intp high = least(least(low + l->group, l->count), l->starts[step + 1] - l->starts[step]);
    *rows = (Rows){low, low, high, l->starts[step], 0};
    if (place > 0) {
        npy_intp before = step_at(l, place - 1), size = l->starts[before + 1] - l->starts[before];
        rows->before = l->starts[before];
        rows->shared = size > low ? least(size, high) : low;
    }
    return low < high;
}

static char *row_of(const Layer *l, int array, npy_intp row, npy_intp wide)
{
    return l->arrays[array] == NULL ? l->zeros : l->arrays[array] + row * wide * l->n * l->size;
}

/* The state of a sequence before a step. */
static char *state_before(const Layer *l, const Rows *rows, int initial, int states, npy_intp sequence)
{
    return sequence < rows->shared ? row_of(l, states, rows->before + sequence, 1) : row_of(l, initial, sequence, 1);
}

/* In blocks of the weights that OpenBLAS multiplies as they lie in memory: it would rearrange larger ones first, for
   every step anew, which takes as long as the product of 16 rows (256 states: 116 instead of 70 GFLOP/s). */
static void multiply(const Layer *l, npy_intp rows, npy_intp k, const char *a, int w, npy_intp columns, int add, char *c)
{
    if (rows == 0) return;
    int whole = (double)rows * (double)columns * (double)k <= SMALL;
    npy_intp wide = whole ? columns : COLUMNS, deep = SMALL / (rows * COLUMNS) / COLUMNS * COLUMNS;
    if (whole || deep > k) deep = k;
    for (npy_intp column = 0; column < columns; column += wide) {
        for (npy_intp row = 0; row < k; row += deep) {
            BlasOperand left = {a + row * l->size, k, 0};
            BlasOperand right = {l->arrays[w] + (row * columns + column) * l->size, columns, 0};
            blas->multiply(l->size, rows, least(wide, columns - column), least(deep, k - row), left, right,
                           add || row > 0, c + column * l->size, columns);
        }
    }
}

/* What `rows` rows of inputs add to the gates, bias included. */
static void add_inputs(const Layer *l, npy_intp rows, const char *x, int w, int bias, char *gates)
{
    npy_intp width = l->cell->gates * l->n;
    for (npy_intp row = 0; row < rows; row++) {
        memcpy(gates + row * width * l->size, row_of(l, bias, 0, 0), (size_t)(width * l->size));
    }
    multiply(l, rows, l->inputs, x, w, width, 1, gates);
}

/* The memory of a group: its states, and what the inputs of the next steps add to the gates. */
typedef struct {
    char *memory, *h, *c, *x, *gates;
    npy_intp at, end; /* which steps these are */
    char *next;       /* and the gates of the first of them */
} Own;

/* 0 if there is no memory. The states begin as those of arrays `h` and `c`. */
static int begin_group(Layer *l, npy_intp group, int h, int c, Own *own)
{
    npy_intp low = group * l->group, count = least(l->group, l->count - low), bytes = l->n * l->size;
    npy_intp states = l->group * bytes, inputs = 2 * GROUP * l->inputs * l->size;
    npy_intp gates = l->inputs ? 2 * GROUP * l->cell->gates * bytes : 0;
    *own = (Own){.memory = malloc((size_t)(2 * states + inputs + gates + 2 * PAGE))};
    if (own->memory == NULL) {
        atomic_fetch_or(&l->full, 1);
        return 0;
    }
    own->h = own->memory + PAGE - (uintptr_t)own->memory % PAGE;
    own->c = c == h ? own->h : own->h + states; /* of one array, if a cell has one state */
    own->gates = own->c + states, own->x = own->gates + gates;
    memcpy(own->h, row_of(l, h, low, 1), (size_t)(count * bytes));
    memcpy(own->c, row_of(l, c, low, 1), (size_t)(count * bytes));
    return 1;
}

/* What the inputs add to the gates of a step, rows that may be written to: those of several steps are computed at once,
   because products of few rows are slow. */
static char *of_inputs(const Layer *l, npy_intp group, npy_intp place, const Rows *rows, int x, int w, int bias, Own *own)
{
    npy_intp bytes = l->inputs * l->size, width = l->cell->gates * l->n * l->size, total = 0;
    if (l->at_once != NULL) return l->at_once + (rows->start + rows->low) * width;
    if (place >= own->end) {
        Rows more;
        for (own->end = place; own->end < l->steps && total < GROUP; own->end++) {
            if (!find_rows(l, group, own->end, &more)) continue;
            npy_intp count = more.high - more.low;
            memcpy(own->x + total * bytes, row_of(l, x, 0, 0) + (more.start + more.low) * bytes, (size_t)(count * bytes));
            total += count;
        }
        own->next = own->gates;
        add_inputs(l, total, own->x, w, bias, own->gates);
    }
    char *found = own->next;
    own->next += (rows->high - rows->low) * width;
    return found;
}

/* Copy the states of a group after a step to where all of them are. */
static void keep(const Layer *l, const Rows *rows, int array, const char *states)
{
    memcpy(row_of(l, array, rows->start + rows->low, 1), states, (size_t)((rows->high - rows->low) * l->n * l->size));
}

/* The end of a backward group, whose states are gradients of the initial states. */
static void end_group(const Layer *l, npy_intp group, int h, int c, Own *own)
{
    npy_intp low = group * l->group, bytes = least(l->group, l->count - low) * l->n * l->size;
    memcpy(row_of(l, h, low, 1), own->h, (size_t)bytes);
    memcpy(row_of(l, c, low, 1), own->c, (size_t)bytes);
    free(own->memory);
}

/* The gradient of the states before a step: that of its gates times the weights. */
static void states_of_gates(const Layer *l, const Rows *rows, int gates, int w, int add, Own *own)
{
    npy_intp wide = l->cell->gates;
    multiply(l, rows->high - rows->low, wide * l->n, row_of(l, gates, rows->start + rows->low, wide), w, l->n, add,
             own->h);
}

static int part(char **arrays, char *row, int count, npy_intp bytes)
{
    for (int k = 0; k < count; k++) arrays[k] = row + k * bytes;
    return count;
}

/* -- LSTM: (x, h0, c0, w_ih, w_hh, bias) makes (out, cells, gates) ---------------------------------------------------- */

static void lstm_steps(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Layer *l = context;
    enum { X, H0, C0, W_IH, W_HH, BIAS, OUT, CELLS, GATES };
    npy_intp bytes = l->n * l->size;
    Rows r;
    Own own;
    for (ptrdiff_t group = from; group < to && begin_group(l, group, H0, C0, &own); group++) {
        for (npy_intp place = 0; place < l->steps; place++) {
            if (!find_rows(l, group, place, &r)) continue;
            char *sums = of_inputs(l, group, place, &r, X, W_IH, BIAS, &own);
            multiply(l, r.high - r.low, l->n, own.h, W_HH, 4 * l->n, 1, sums);
            for (npy_intp i = 0; i < r.high - r.low; i++) {
                char *arrays[11];
                part(arrays, sums + i * 4 * bytes, 4, bytes);
                part(arrays + 5, row_of(l, GATES, r.start + r.low + i, 4), 4, bytes);
                arrays[4] = arrays[9] = own.c + i * bytes;
                arrays[10] = own.h + i * bytes;
                l->kernel(1, l->n, arrays, NULL, NULL);
            }
            keep(l, &r, OUT, own.h);
            keep(l, &r, CELLS, own.c);
        }
        free(own.memory);
    }
}

/* (of_out, of_cells, c0, w, cells, gates) makes (back, dh, dc) */
static void lstm_steps_backward(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Layer *l = context;
    enum { OF_OUT, OF_CELLS, C0, W, CELLS, GATES, BACK, DH, DC };
    Rows r;
    Own own;
    for (ptrdiff_t group = from; group < to && begin_group(l, group, DH, DC, &own); group++) {
        for (npy_intp place = l->steps; place-- > 0;) {
            if (!find_rows(l, group, place, &r)) continue;
            for (npy_intp i = r.low; i < r.high; i++) {
                char *arrays[15];
                arrays[0] = own.h + (i - r.low) * l->n * l->size;
                arrays[1] = row_of(l, OF_OUT, r.start + i, 1);
                arrays[2] = arrays[14] = own.c + (i - r.low) * l->n * l->size;
                arrays[3] = row_of(l, OF_CELLS, r.start + i, 1);
                part(arrays + 4, row_of(l, GATES, r.start + i, 4), 4, l->n * l->size);
                arrays[8] = state_before(l, &r, C0, CELLS, i);
                arrays[9] = row_of(l, CELLS, r.start + i, 1);
                part(arrays + 10, row_of(l, BACK, r.start + i, 4), 4, l->n * l->size);
                l->kernel(1, l->n, arrays, NULL, NULL);
            }
            states_of_gates(l, &r, BACK, W, 0, &own);
        }
        end_group(l, group, DH, DC, &own);
    }
}

/* -- GRU: (x, h0, w_ih, w_hh, b_ih, b_hh) makes (out, gates, news) --------------------------------------------------- */

static void gru_steps(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Layer *l = context;
    enum { X, H0, W_IH, W_HH, B_IH, B_HH, OUT, GATES, NEWS };
    npy_intp bytes = l->n * l->size;
    Rows r;
    Own own;
    for (ptrdiff_t group = from; group < to && begin_group(l, group, H0, H0, &own); group++) {
        for (npy_intp place = 0; place < l->steps; place++) {
            if (!find_rows(l, group, place, &r)) continue;
            char *pre = of_inputs(l, group, place, &r, X, W_IH, B_IH, &own);
            multiply(l, r.high - r.low, l->n, own.h, W_HH, 3 * l->n, 0, row_of(l, GATES, r.start + r.low, 3));
            for (npy_intp i = 0; i < r.high - r.low; i++) {
                char *gates = row_of(l, GATES, r.start + r.low + i, 3), *arrays[15];
                part(arrays, gates, 3, bytes);
                part(arrays + 3, row_of(l, B_HH, 0, 3), 3, bytes);
                part(arrays + 6, pre + i * 3 * bytes, 3, bytes);
                part(arrays + 10, gates, 3, bytes);
                arrays[9] = arrays[14] = own.h + i * bytes;
                arrays[13] = row_of(l, NEWS, r.start + r.low + i, 1);
                l->kernel(1, l->n, arrays, NULL, NULL);
            }
            keep(l, &r, OUT, own.h);
        }
        free(own.memory);
    }
}

/* (of_out, h0, w, out, gates, news) makes (back, inner, dh) */
static void gru_steps_backward(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Layer *l = context;
    enum { OF_OUT, H0, W, OUT, GATES, NEWS, BACK, INNER, DH };
    npy_intp bytes = l->n * l->size;
    Rows r;
    Own own;
    for (ptrdiff_t group = from; group < to && begin_group(l, group, DH, DH, &own); group++) {
        for (npy_intp place = l->steps; place-- > 0;) {
            if (!find_rows(l, group, place, &r)) continue;
            for (npy_intp i = r.low; i < r.high; i++) {
                char *back = row_of(l, BACK, r.start + i, 3), *inner = row_of(l, INNER, r.start + i, 3), *arrays[12];
                arrays[0] = arrays[11] = own.h + (i - r.low) * bytes;
                arrays[1] = row_of(l, OF_OUT, r.start + i, 1);
                part(arrays + 2, row_of(l, GATES, r.start + i, 3), 3, bytes);
                arrays[5] = row_of(l, NEWS, r.start + i, 1);
                arrays[6] = state_before(l, &r, H0, OUT, i);
                part(arrays + 7, back, 3, bytes);
                arrays[10] = inner + 2 * bytes;
                l->kernel(1, l->n, arrays, NULL, NULL);
                memcpy(inner, back, (size_t)(2 * bytes));
            }
            states_of_gates(l, &r, INNER, W, 1, &own);
        }
        end_group(l, group, DH, DH, &own);
    }
}

/* -- RNN: (x, h0, w_ih, w_hh, bias) makes (out) ----------------------------------------------------------------------- */

static void rnn_steps(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Layer *l = context;
    enum { X, H0, W_IH, W_HH, BIAS, OUT };
    Rows r;
    Own own;
    for (ptrdiff_t group = from; group < to && begin_group(l, group, H0, H0, &own); group++) {
        for (npy_intp place = 0; place < l->steps; place++) {
            if (!find_rows(l, group, place, &r)) continue;
            char *sums = of_inputs(l, group, place, &r, X, W_IH, BIAS, &own), *arrays[2] = {sums, own.h};
            multiply(l, r.high - r.low, l->n, own.h, W_HH, l->n, 1, sums);
            l->kernel(1, (r.high - r.low) * l->n, arrays, NULL, NULL);
            keep(l, &r, OUT, own.h);
        }
        free(own.memory);
    }
}

/* (of_out, h0, w, out) makes (back, dh) */
static void rnn_steps_backward(void *context, ptrdiff_t from, ptrdiff_t to)
{
    Layer *l = context;
    enum { OF_OUT, H0, W, OUT, BACK, DH };
    Rows r;
    Own own;
    for (ptrdiff_t group = from; group < to && begin_group(l, group, DH, DH, &own); group++) {
        for (npy_intp place = l->steps; place-- > 0;) {
            if (!find_rows(l, group, place, &r)) continue;
            npy_intp row = r.start + r.low;
            char *arrays[4] = {own.h, row_of(l, OF_OUT, row, 1), row_of(l, OUT, row, 1),
                               row_of(l, BACK, row, 1)};
            l->kernel(1, (r.high - r.low) * l->n, arrays, NULL, NULL);
            states_of_gates(l, &r, BACK, W, 0, &own);
        }
        end_group(l, group, DH, DH, &own);
    }
}

/* -- arrays -------------------------------------------------------------------------------------------------------- */

static void shape_of(const Layer *l, char letter, npy_intp *shape)
{
    npy_intp total = l->starts[l->steps], wide = l->cell->gates * l->n;
    shape[0] = letter == 'i' ? l->count : letter == 'w' ? l->n : letter == 'v' ? wide : letter == 'b' ? 1 : total;
    if (letter == 'u') shape[0] = l->inputs;
    shape[1] = letter == 'x' ? l->inputs : strchr("gwub", letter) != NULL ? wide : l->n;
}

/* A new reference to an array of the shape of its letter that lies row by row, a copy if need be; NULL if it is none. */
static PyArrayObject *operand(const Layer *l, PyObject *object, char letter, int type)
{
    npy_intp shape[2];
    shape_of(l, letter, shape);
    if (!PyArray_CheckExact(object)) return NULL;
    PyArrayObject *array = (PyArrayObject *)object;
    int is_vector = letter == 'b';
    if (PyArray_TYPE(array) != type || !PyArray_ISBEHAVED_RO(array) || PyArray_NDIM(array) != 2 - is_vector ||
        !PyArray_CompareLists(PyArray_DIMS(array), shape + is_vector, 2 - is_vector)) return NULL;
    return (PyArrayObject *)PyArray_GETCONTIGUOUS(array);
}

/* Where the rows of each step are. 0 if the sizes are none that can only become fewer, or no memory is left. */
static int read_sizes(Layer *l, PyObject *sizes)
{
    if (!PyTuple_CheckExact(sizes) || PyTuple_GET_SIZE(sizes) == 0) return 0;
    l->steps = PyTuple_GET_SIZE(sizes);
    l->starts = malloc((size_t)(l->steps + 1) * sizeof *l->starts);
    if (l->starts == NULL) return 0;
    npy_intp before = l->count;
    l->starts[0] = 0;
    for (npy_intp step = 0; step < l->steps; step++) {
        npy_intp size = PyLong_AsSsize_t(PyTuple_GET_ITEM(sizes, step));
        if (PyErr_Occurred()) PyErr_Clear(), size = -1;
        if (size <= 0 || size > before || (step == 0 && size != l->count)) return 0;
        l->starts[step + 1] = l->starts[step] + size;
        before = size;
    }
    return 1;
}

/* What inputs `from` to `to`, in units of GROUP rows, of all steps add to the gates. */
static void inputs_at_once(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Layer *l = context;
    npy_intp low = from * GROUP, high = least(to * GROUP, l->starts[l->steps]);
    const char *letters = l->cell->given;
    int w = (int)(strchr(letters, 'u') - letters), bias = (int)(strchr(letters, 'b') - letters);
    for (npy_intp row = low; row < high; row += GROUP) {
        add_inputs(l, least(GROUP, high - row), l->arrays[0] + row * l->inputs * l->size, w, bias,
                   l->at_once + row * l->cell->gates * l->n * l->size);
    }
}

static void run_layer(Layer *l)
{
    npy_intp total = l->starts[l->steps];
    double each = (double)total * (double)l->n * l->cell->gates;
    double of_states = each * (double)l->n, of_inputs = each * (double)l->inputs, work = of_states + of_inputs;
    l->group = (l->count / 2 + FEWEST - 1) / FEWEST * FEWEST;
    l->group = l->group < FEWEST ? FEWEST : least(l->group, GROUP);
    npy_intp groups = (l->count + l->group - 1) / l->group;
    if (work < LET_OTHERS_RUN) {
        l->cell->run(l, 0, groups);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (groups < 2 && of_inputs >= SPLIT_FROM) { /* what one thread may do with each step, many can do before them */
        l->at_once = malloc((size_t)(total * l->cell->gates * l->n * l->size));
        if (l->at_once != NULL) {
            pool_run(inputs_at_once, l, (total + GROUP - 1) / GROUP, INT_MAX, of_inputs >= LONG_FROM);
        }
    }
    if (work < SPLIT_FROM || groups < 2) {
        l->cell->run(l, 0, groups);
    } else {
        pool_run(l->cell->run, l, groups, INT_MAX, work >= LONG_FROM);
    }
    free(l->at_once);
    Py_END_ALLOW_THREADS
}

/* cell(given..., sizes, reverse) returns a tuple of what it makes. NULL without an exception: for NumPy. */
static PyObject *compute(const Cell *cell, PyObject *const *args, Py_ssize_t given)
{
    Layer l = {.cell = cell};
    int count = (int)strlen(cell->given), made = (int)strlen(cell->made), held = 0;
    PyArrayObject *arrays[MOST];
    PyObject *initial = args[strchr(cell->given, 'i') - cell->given], *results = NULL;
    if (given != count + 2 || !PyArray_CheckExact(initial) || PyArray_NDIM((PyArrayObject *)initial) != 2) return NULL;
    int type = PyArray_TYPE((PyArrayObject *)initial);
    if (cell->given[0] == 'x') {
        if (!PyArray_CheckExact(args[0]) || PyArray_NDIM((PyArrayObject *)args[0]) != 2) return NULL;
        l.inputs = PyArray_DIM((PyArrayObject *)args[0], 1);
        if (l.inputs == 0) return NULL;
    }
    if (type != NPY_FLOAT && type != NPY_DOUBLE) return NULL;
    l.size = type == NPY_FLOAT ? 4 : 8;
    l.kernel = cell->entry->run[type == NPY_DOUBLE];
    l.count = PyArray_DIM((PyArrayObject *)initial, 0), l.n = PyArray_DIM((PyArrayObject *)initial, 1);
    l.reverse = args[count + 1] == Py_True;
    if (l.count == 0 || l.n == 0 || l.n > INT_MAX / cell->gates || !blas->begin()) return NULL;
    if (!read_sizes(&l, args[count])) goto end;
    l.zeros = calloc((size_t)(cell->gates * l.n), (size_t)l.size);
    if (l.zeros == NULL) goto end;
    for (; held < count + made; held++) {
        char letter = held < count ? cell->given[held] : cell->made[held - count];
        npy_intp shape[2];
        arrays[held] = NULL;
        if (held < count && args[held] == Py_None && (letter == 'N' || letter == 'b')) continue;
        if (held >= count) shape_of(&l, letter, shape);
        arrays[held] = held < count ? operand(&l, args[held], letter, type)
                       : letter == 'i' ? (PyArrayObject *)PyArray_ZEROS(2, shape, type, 0)
                                       : (PyArrayObject *)PyArray_SimpleNew(2, shape, type);
        if (arrays[held] == NULL) goto end;
        l.arrays[held] = PyArray_BYTES(arrays[held]);
    }
    atomic_init(&l.full, 0);
    run_layer(&l);
    results = atomic_load(&l.full) ? PyErr_NoMemory() : PyTuple_New(made);
    for (int k = 0; k < made && results != NULL; k++) {
        PyTuple_SET_ITEM(results, k, Py_NewRef((PyObject *)arrays[count + k]));
    }
end:
    blas->end();
    while (held-- > 0) Py_XDECREF(arrays[held]);
    free(l.zeros);
    free(l.starts);
    return results;
}

#define CELL(name, gates, given, made, kernel, run)                                                                    \
    static PyObject *name(PyObject *const *args, Py_ssize_t count)                                                     \
    {                                                                                                                  \
        static Cell cell = {gates, given, made, kernel, run, NULL};                                                    \
        if (cell.entry == NULL && (cell.entry = fused_entry(kernels, kernel)) == NULL) return NULL;                    \
        return compute(&cell, args, count);                                                                            \
    }
CELL(lstm, 4, "xiiuwb", "nng", "lstm_step", lstm_steps)
CELL(lstm_backward, 4, "NNivng", "gii", "lstm_step_backward", lstm_steps_backward)
CELL(gru, 3, "xiuwbb", "ngn", "gru_step", gru_steps)
CELL(gru_backward, 3, "nivngn", "ggi", "gru_step_backward", gru_steps_backward)
CELL(rnn_tanh, 1, "xiuwb", "n", "rnn_tanh_step", rnn_steps)
CELL(rnn_tanh_backward, 1, "nivn", "ni", "rnn_tanh_step_backward", rnn_steps_backward)
CELL(rnn_relu, 1, "xiuwb", "n", "rnn_relu_step", rnn_steps)
CELL(rnn_relu_backward, 1, "nivn", "ni", "rnn_relu_step_backward", rnn_steps_backward)

/* -- the module ---------------------------------------------------------------------------------------------------- */

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leafgrad.kernels._recurrent",
    .m_doc = "The steps of recurrent layers.",
    .m_size = -1,
};

static const NativeFunction functions[] = {
    {"lstm", lstm},         {"lstm_backward", lstm_backward},
    {"gru", gru},           {"gru_backward", gru_backward},
    {"rnn_tanh", rnn_tanh}, {"rnn_tanh_backward", rnn_tanh_backward},
    {"rnn_relu", rnn_relu}, {"rnn_relu_backward", rnn_relu_backward},
    {NULL, NULL},
};

PyMODINIT_FUNC PyInit__recurrent(void)
{
    import_array();
    if (pool_import() < 0 || (blas = blas_import()) == NULL || (kernels = fused_import()) == NULL) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && native_prepare(module, functions) < 0) {
        Py_CLEAR(module);
    }
    return module;
}
