/* Kernels that do the same with every element. Included by _fused.c. */
#ifndef LEAFGRAD_FUSED_ELEMENTS_H
#define LEAFGRAD_FUSED_ELEMENTS_H

typedef struct {
    Function run;
    const double *numbers;
} Translated;

static void run_translated(const Elements *e, npy_intp count, char **pointers)
{
    const Translated *loop = e->loop;
    loop->run(1, count, pointers, loop->numbers, NULL);
}

static void run_elements(Elements *e, int cost)
{
    if (cost < 2) cost = 2; /* to read and to write an element takes as long as two additions */
    double work = (double)e->n * (double)e->rows * (double)e->planes * cost;
    npy_intp items = cut(e, work >= SPLIT_WORK);
    if (work < LET_OTHERS_RUN) {
        run_items(e, 0, items);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    if (work < SPLIT_WORK || items < 2) {
        run_items(e, 0, items);
    } else {
        pool_run(run_items, e, items, e->group * e->block * 8, work >= LONG_WORK);
    }
    Py_END_ALLOW_THREADS
}

/* An array for a result, new or given by the caller. NULL without an exception: for the function in Python. */
static PyArrayObject *place_for(const Kernel *self, const Call *call, int index, Walk *walk)
{
    char letter = call->letters[self->arrays + index];
    PyObject *wanted = wanted_out(call, index, self->results);
    if (wanted == NULL || wanted == Py_None) {
        return new_in_order(result_descr(letter, call->kind), walk);
    }
    PyArrayObject *out = (PyArrayObject *)wanted;
    PyArray_Descr *descr = result_descr(letter, call->kind);
    int fits = is_plain(wanted, descr) && PyArray_ISWRITEABLE(out) && PyArray_NDIM(out) == walk->dimensions &&
               PyArray_CompareLists(PyArray_DIMS(out), walk->shape, walk->dimensions) &&
               is_apart(out, call->arrays, self->arrays, 1);
    Py_DECREF(descr);
    return fits ? (PyArrayObject *)Py_NewRef(wanted) : NULL;
}

/* Returns NULL without an exception if the function in Python is to be called. */
static PyObject *call_elementwise(const Kernel *self, Call *call)
{
    Walk walk;
    Elements e;
    int operands = self->arrays + self->results, made = 0;
    if (self->entry->run[call->kind] == NULL || !broadcast(call->arrays, self->arrays, &walk)) {
        return NULL;
    }
    find_order(call->arrays, self->arrays, &walk);
    PyArrayObject **results = call->arrays + self->arrays;
    for (; made < self->results; made++) {
        results[made] = place_for(self, call, made, &walk);
        if (results[made] == NULL) goto other;
        for (int d = 0; d < walk.dimensions; d++) {
            walk.strides[self->arrays + made][d] = PyArray_STRIDE(results[made], d);
        }
    }
    for (int i = 0; i < operands; i++) {
        e.size[i] = size_of(call->letters[i], call->kind);
    }
    if (!as_rows(call->arrays, self->arrays, operands, &walk, &e, 0)) goto other;
    Translated loop = {self->entry->run[call->kind], call->numbers};
    e.run = run_translated;
    e.numbers_stay = e.columns_stay = 0;
    e.loop = &loop;
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
