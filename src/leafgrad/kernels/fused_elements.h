/* Kernels that do the same with every element: operands that numpy would broadcast, looked at as rows of contiguous
   elements. Included by _fused.c. */
#ifndef LEAFGRAD_FUSED_ELEMENTS_H
#define LEAFGRAD_FUSED_ELEMENTS_H

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

#endif
