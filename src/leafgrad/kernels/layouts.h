/* Does a result lie in memory as PyTorch would lay it out? The same questions as in leafgrad/_layouts.py, which says what
   they are about and lays out anew what lies otherwise. Included by _moves.c. */
#ifndef LEAFGRAD_LAYOUTS_H
#define LEAFGRAD_LAYOUTS_H

#define MOST_LAID 8 /* arrays that a result is computed of */

typedef struct {
    int count, dimensions;
    npy_intp shape[NPY_MAXDIMS], steps[MOST_LAID][NPY_MAXDIMS];
} Laid;

static int slower(const Laid *laid, int one, int other)
{
    for (int i = 0; i < laid->count; i++) {
        npy_intp first = laid->steps[i][one], second = laid->steps[i][other];
        if (first == 0 || second == 0) continue;
        if (first != second) return first > second ? 1 : -1;
        if (laid->shape[one] > laid->shape[other]) return 1;
    }
    return 0;
}

/* order_in_memory, with the fastest dimension first */
static void find_common_order(const Laid *laid, int *order)
{
    for (int d = 0; d < laid->dimensions; d++) order[d] = laid->dimensions - 1 - d;
    for (int start = 1; start < laid->dimensions; start++) {
        for (int at = start, before = start - 1; before >= 0; before--) {
            int found = slower(laid, order[before], order[at]);
            if (found < 0) break;
            if (found > 0) {
                int moved = order[before];
                order[before] = order[at], order[at] = moved;
                at = before;
            }
        }
    }
}

static void note_steps(Laid *laid, PyArrayObject *array, PyArrayObject *out)
{
    npy_intp *steps = laid->steps[laid->count++];
    int lead = PyArray_NDIM(out) - PyArray_NDIM(array);
    for (int d = 0; d < PyArray_NDIM(out); d++) {
        int repeated = d < lead || (PyArray_DIM(array, d - lead) == 1 && PyArray_DIM(out, d) != 1);
        steps[d] = repeated ? 0 : PyArray_STRIDE(array, d - lead);
    }
}

/* in_common_order(arrays, out): `out` if it lies as it should. */
static PyObject *in_common_order(PyObject *const *args, Py_ssize_t given)
{
    if (given != 2 || !(PyTuple_Check(args[0]) || PyList_Check(args[0])) || !PyArray_CheckExact(args[1])) return NULL;
    PyArrayObject *out = (PyArrayObject *)args[1];
    int order[NPY_MAXDIMS], dimensions = PyArray_NDIM(out);
    Laid laid = {0, dimensions};
    if (dimensions < 2 || PyArray_SIZE(out) < 2) return Py_NewRef(args[1]);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(args[0]); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(args[0], i);
        if (item == Py_None) continue;
        if (!PyArray_CheckExact(item) || laid.count == MOST_LAID) return NULL;
        PyArrayObject *array = (PyArrayObject *)item;
        if (PyArray_NDIM(array) > dimensions) return NULL;
        if (PyArray_NDIM(array) > 0) note_steps(&laid, array, out);
    }
    memcpy(laid.shape, PyArray_DIMS(out), dimensions * sizeof *laid.shape);
    find_common_order(&laid, order);
    npy_intp step = PyArray_ITEMSIZE(out);
    for (int d = 0; d < dimensions; d++) {
        if (PyArray_STRIDE(out, order[d]) != step) return NULL;
        step *= PyArray_DIM(out, order[d]);
    }
    return Py_NewRef(args[1]);
}

#endif
