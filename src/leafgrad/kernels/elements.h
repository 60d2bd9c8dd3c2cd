/* Operands that numpy would broadcast, looked at as rows of contiguous elements, for loops that do the same with every
   element. Included by _loops.c and _fused.c.

   Dimensions that can be walked in one go are joined. The innermost of what is left is a row, of `n` elements. In each
   operand the elements of a row follow each other, or all of them are one, which is filled into memory of its own
   first; loops with steps take elements that lie apart as well. Where rows are short and follow each other too, some are run at once: an operand that has one row for all of
   them, as the bias of a layer is, is repeated for so many. */
#ifndef LEAFGRAD_ELEMENTS_H
#define LEAFGRAD_ELEMENTS_H

#include "vectors.h"

#define MOST_ARRAYS 16
#define MOST_FILLED 6 /* operands that are filled in */
#define BLOCK 2048    /* elements that are worked on at once where operands are filled in */
#define LONG_ROW 256  /* elements of a row that is worth a call of the loop */

typedef struct Elements {
    void (*run)(const struct Elements *e, npy_intp count, char **pointers);
    const void *loop; /* what `run` wants to know */
    int numbers_stay; /* does `run` take an operand that is one number as it is, with steps of zero? */
    int columns_stay; /* and one of which each row is one number, where rows are long? */
    int operands;
    char *base[MOST_ARRAYS];    /* NULL for one that is absent */
    npy_intp size[MOST_ARRAYS]; /* of an element */
    int one_number[MOST_ARRAYS]; /* is a row of it one number? */
    int filled[MOST_ARRAYS];     /* is it filled in? */
    /* dimensions, the innermost first: a row, the rows, and those that number the planes of rows */
    int dimensions;
    npy_intp shape[NPY_MAXDIMS], strides[MOST_ARRAYS][NPY_MAXDIMS];
    npy_intp n, rows, planes;
    npy_intp group;         /* rows that are run at once; 1 if a row is run in */
    npy_intp block, blocks; /* so many elements, so many times */
    npy_intp items;         /* of a plane */
} Elements;

/* -- running ------------------------------------------------------------------------------------------------------- */

VECTORISED static void fill(char *to, const char *from, npy_intp size, npy_intp count)
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

/* `bytes` that are at `from`, again and again. */
static void repeat(char *to, const char *from, npy_intp bytes, npy_intp times)
{
    memcpy(to, from, bytes);
    for (npy_intp done = 1; done < times;) {
        npy_intp more = done < times - done ? done : times - done;
        memcpy(to + done * bytes, to, more * bytes);
        done += more;
    }
}

/* What `rows` rows of an operand are filled in with, of which the first is at `from`. */
static void fill_in(const Elements *e, int i, char *to, const char *from, npy_intp rows)
{
    npy_intp size = e->size[i], n = e->group > 1 ? e->n : e->block;
    if (!e->one_number[i]) {
        repeat(to, from, n * size, e->group);
    } else if (e->strides[i][1] == 0) {
        fill(to, from, size, n * e->group);
    } else {
        for (npy_intp row = 0; row < rows; row++) {
            fill(to + row * n * size, from + row * e->strides[i][1], size, n);
        }
    }
}

static void find_plane(const Elements *e, npy_intp plane, char **bases)
{
    memcpy(bases, e->base, e->operands * sizeof *bases);
    for (int d = 2; d < e->dimensions; d++) {
        npy_intp at = plane % e->shape[d];
        plane /= e->shape[d];
        for (int i = 0; i < e->operands; i++) bases[i] += at * e->strides[i][d];
    }
}

/* Where an item is: in which plane, at which row and where in it. */
typedef struct {
    npy_intp plane, row, start;
} Place;

static void advance(const Elements *e, Place *place)
{
    place->start += e->block;
    if (place->start < e->n) return;
    place->start = 0;
    place->row += e->group;
    if (place->row < e->rows) return;
    place->row = 0;
    place->plane++;
}

/* Items `from` to `to`: groups of rows or blocks of rows, counted through all planes. */
static void run_items(void *context, ptrdiff_t from, ptrdiff_t to)
{
    const Elements *e = context;
    double memory[MOST_FILLED * BLOCK]; /* left alone if there is nothing to fill in */
    char *bases[MOST_ARRAYS], *pointers[MOST_ARRAYS];
    npy_intp rest = from % e->items;
    Place at = {from / e->items, e->group * (rest / e->blocks), rest % e->blocks * e->block}, before = {-1, -1};
    for (ptrdiff_t item = from; item < to; item++) {
        npy_intp rows = e->rows - at.row < e->group ? e->rows - at.row : e->group;
        npy_intp count = e->group > 1 ? rows * e->n : e->n - at.start < e->block ? e->n - at.start : e->block;
        if (at.plane != before.plane) find_plane(e, at.plane, bases);
        for (int i = 0, filled = 0; i < e->operands; i++) {
            char *pointer = bases[i] + at.row * e->strides[i][1];
            if (!e->filled[i]) {
                pointers[i] = pointer + at.start * e->strides[i][0];
                continue;
            }
            pointers[i] = (char *)(memory + BLOCK * filled++);
            int is_new = at.plane != before.plane || (at.row != before.row && e->strides[i][1]);
            if (is_new && bases[i] != NULL) fill_in(e, i, pointers[i], pointer, rows);
        }
        e->run(e, count, pointers);
        before = at;
        advance(e, &at);
    }
}

/* Do the elements of a row lie apart? */
static int is_strided(const Elements *e, int i)
{
    return !e->one_number[i] && e->n > 1 && e->strides[i][0] != e->size[i];
}

/* May several rows be run at once? If an operand lies there row after row, or can be filled in. */
static int has_groups(Elements *e)
{
    int filled = 0;
    if (e->rows == 1 || 2 * e->n > BLOCK) return 0;
    for (int i = 0; i < e->operands; i++) {
        if (is_strided(e, i)) return 0;
        int dense = !e->one_number[i] && e->strides[i][1] == e->n * e->size[i];
        if (!dense && !e->one_number[i] && e->strides[i][1] != 0) return 0;
        filled += !dense;
    }
    return filled <= MOST_FILLED;
}

static int is_number(const Elements *e, int i)
{
    for (int d = 0; d < e->dimensions; d++) {
        if (e->strides[i][d] != 0) return 0;
    }
    return 1;
}

/* Is a long row of some operand one number that may stay, as in a matrix times a column? Then rows are run one by one: a
   million products take three quarters of the time that they take if it is filled in. */
static int has_columns(const Elements *e)
{
    int any = 0;
    for (int i = 0; i < e->operands; i++) any |= e->one_number[i] && !is_number(e, i);
    return any && e->columns_stay && e->n >= LONG_ROW;
}

/* Decide what is run at once, in pieces for several threads if it is `large`. Returns how many items there are. */
static npy_intp cut(Elements *e, int large)
{
    int any = 0, columns = has_columns(e), groups = !columns && has_groups(e);
    for (int i = 0; i < e->operands; i++) {
        e->filled[i] = (e->one_number[i] && !columns) || (groups && e->strides[i][1] == 0);
        if (e->numbers_stay && is_number(e, i)) e->filled[i] = 0;
        any |= e->filled[i];
    }
    e->group = groups ? BLOCK / e->n : 1;
    e->block = groups || !(any || large || e->rows * e->planes > 1) ? e->n : any ? BLOCK : 2 * BLOCK;
    if (e->block > e->n) e->block = e->n;
    e->blocks = (e->n + e->block - 1) / e->block;
    e->items = (e->rows + e->group - 1) / e->group * e->blocks;
    return e->items * e->planes;
}

/* -- where elements lie -------------------------------------------------------------------------------------------- */

/* The dimensions of a call in the order in which they lie in memory. */
typedef struct {
    int dimensions, order[NPY_MAXDIMS];
    npy_intp shape[NPY_MAXDIMS];                /* of the result */
    npy_intp strides[MOST_ARRAYS][NPY_MAXDIMS]; /* of every operand, 0 where it is repeated */
} Walk;

/* The shape that operands have together, and their steps in it. 0 if they do not fit. */
static int broadcast(PyArrayObject *const *arrays, int count, Walk *walk)
{
    int dimensions = 0;
    for (int i = 0; i < count; i++) {
        if (arrays[i] != NULL && PyArray_NDIM(arrays[i]) > dimensions) {
            dimensions = PyArray_NDIM(arrays[i]);
        }
    }
    walk->dimensions = dimensions;
    for (int d = 0; d < dimensions; d++) walk->shape[d] = 1;
    for (int i = 0; i < count; i++) {
        PyArrayObject *array = arrays[i];
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
static void find_order(PyArrayObject *const *arrays, int count, Walk *walk)
{
    for (int d = 0; d < walk->dimensions; d++) walk->order[d] = d;
    for (int i = 0; i < count; i++) {
        int whole = arrays[i] != NULL;
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

/* A new array for a result whose dimensions lie in this order. Takes over the reference to its dtype. */
static PyArrayObject *new_in_order(PyArray_Descr *descr, Walk *walk)
{
    npy_intp strides[NPY_MAXDIMS], step = PyDataType_ELSIZE(descr);
    for (int d = walk->dimensions - 1; d >= 0; d--) {
        strides[walk->order[d]] = step;
        step *= walk->shape[walk->order[d]];
    }
    return (PyArrayObject *)PyArray_NewFromDescr(
        &PyArray_Type, descr, walk->dimensions, walk->shape, strides, NULL, 0, NULL);
}

/* The operands as rows: `arrays` are first those that are read. 0 if the elements of a row do not follow each other, in
   results or anywhere; in what is read they may lie apart if the loop is one `with_steps`. */
static int as_rows(PyArrayObject *const *arrays, int inputs, int operands, const Walk *walk, Elements *e, int with_steps)
{
    int found = 0;
    for (int d = walk->dimensions - 1; d >= 0; d--) {
        int dim = walk->order[d], joins = found > 0;
        npy_intp size = walk->shape[dim];
        if (size == 1) continue;
        for (int i = 0; i < operands && joins; i++) {
            joins = walk->strides[i][dim] == e->strides[i][found - 1] * e->shape[found - 1];
        }
        if (joins) {
            e->shape[found - 1] *= size;
            continue;
        }
        e->shape[found] = size;
        for (int i = 0; i < operands; i++) e->strides[i][found] = walk->strides[i][dim];
        found++;
    }
    e->dimensions = found;
    for (; found < 2; found++) {
        e->shape[found] = 1;
        for (int i = 0; i < operands; i++) e->strides[i][found] = 0;
    }
    e->operands = operands;
    e->n = e->shape[0], e->rows = e->shape[1], e->planes = 1;
    for (int d = 2; d < e->dimensions; d++) e->planes *= e->shape[d];
    int numbers = 0;
    for (int i = 0; i < operands; i++) {
        e->base[i] = arrays[i] == NULL ? NULL : PyArray_BYTES(arrays[i]);
        e->one_number[i] = arrays[i] == NULL || (e->strides[i][0] == 0 && e->n > 1);
        if (is_strided(e, i) && !(with_steps && i < inputs)) return 0;
        for (int d = 0; d < e->dimensions && i >= inputs; d++) {
            if (e->strides[i][d] == 0) return 0; /* a result that is one number in many places */
        }
        numbers += e->one_number[i];
    }
    return numbers <= MOST_FILLED;
}

/* -- where results may go ------------------------------------------------------------------------------------------ */

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
static int is_apart(PyArrayObject *out, PyArrayObject *const *arrays, int count, int exact)
{
    char *low, *high, *from, *to;
    if (PyArray_SIZE(out) == 0) return 1;
    bounds(out, &low, &high);
    for (int i = 0; i < count; i++) {
        PyArrayObject *array = arrays[i];
        if (array == NULL || (exact && same_elements(out, array))) continue;
        bounds(array, &from, &to);
        if (from < high && low < to && !are_columns(out, array)) return 0;
    }
    return 1;
}

#endif
