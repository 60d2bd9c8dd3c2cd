/* What the functions of _images take from Python, and how their work is shared out. */
#ifndef LEAFGRAD_IMAGES_ARGUMENTS_H
#define LEAFGRAD_IMAGES_ARGUMENTS_H

#define FEW_PRODUCTS 100000    /* below which other threads need not be called */
#define MANY_PRODUCTS 10000000 /* from which on they are worth being woken */
#define FEW_ELEMENTS 20000     /* the same of pools */
#define MANY_ELEMENTS 1000000
#define TASK_BYTES (1 << 20)   /* tasks are taken one by one */

static void run(pool_work work, void *context, ptrdiff_t count, ptrdiff_t products)
{
    if (products < FEW_PRODUCTS) {
        work(context, 0, count);
    } else {
        pool_run(work, context, count, TASK_BYTES, products >= MANY_PRODUCTS);
    }
}

/* An array that the loops can read: one of the two precisions, the same as `like`, with this many dimensions. */
static PyArrayObject *checked(PyObject *object, int dimensions, PyArrayObject *like)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_Check(object) || !PyArray_ISCARRAY_RO(array) || PyArray_NDIM(array) != dimensions ||
        (PyArray_TYPE(array) != NPY_FLOAT && PyArray_TYPE(array) != NPY_DOUBLE) ||
        (like != NULL && PyArray_TYPE(array) != PyArray_TYPE(like))) {
        PyErr_SetString(PyExc_TypeError, "expected contiguous arrays of one of float32 and float64");
        return NULL;
    }
    return array;
}

/* One number for each dimension, from `least` on; dimensions that are missing in front have `otherwise`. */
static int numbers(PyObject *tuple, int dims, ptrdiff_t least, ptrdiff_t otherwise, ptrdiff_t *to)
{
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != dims) {
        PyErr_Format(PyExc_TypeError, "expected a tuple of %d numbers", dims);
        return 0;
    }
    for (int i = 0; i < DIMS; i++) {
        int at = i - (DIMS - dims);
        to[i] = at < 0 ? otherwise : PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, at));
        if (to[i] < least) {
            if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "expected numbers from %zd on", least);
            return 0;
        }
    }
    return 1;
}

static void sizes_of(PyArrayObject *array, ptrdiff_t *to)
{
    int dims = PyArray_NDIM(array) - 2;
    for (int i = 0; i < DIMS; i++) to[i] = i < DIMS - dims ? 1 : PyArray_DIM(array, i - (DIMS - dims) + 2);
}

static int fits(int condition)
{
    if (!condition) PyErr_SetString(PyExc_ValueError, "the shapes of a convolution do not fit together");
    return condition;
}

static const Loops *loops_for(PyArrayObject *array) { return PyArray_TYPE(array) == NPY_FLOAT ? single : twofold; }

static PyObject *finished(PyArrayObject *out, int good)
{
    if (good) return (PyObject *)out;
    Py_DECREF(out);
    return PyErr_NoMemory();
}

#endif
