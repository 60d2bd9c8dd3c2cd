/* Kernels over rows, the last dimension of their operands, and those that add everything up. Included by _fused.c. */
#ifndef LEAFGRAD_FUSED_ROWS_H
#define LEAFGRAD_FUSED_ROWS_H

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
            PyArray_CompareLists(PyArray_DIMS(out), shape, dimensions) && is_apart(out, call->arrays, self->arrays, 0)) {
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

#endif
