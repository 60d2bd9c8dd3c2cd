/* Convolution, pooling and sampling natively, on several cores: see images_layout.h for the idea of convolution, convolution.py
   and pooling.py for the definitions.

   All functions take contiguous arrays, of float32 or of float64. Loops are compiled for several instruction sets;
   which one fits is found out when the module is imported. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <stdint.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "images_axes.h"
#include "images_mapping.h"
#include "images_places.h"
#include "images_setup.h"

/* -- loops for each instruction set -------------------------------------------------------------------------------- */

typedef struct {
    int lanes, rows;
    pool_work convolve, pack, correlate, add;
    pool_work max, mean, spread, put;
    pool_work sample, sample_back, add_groups, map;
} Loops;

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

#define NAME(x) JOIN(x, SET)

#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
#define SEVERAL_SETS
#define ROWS 8
#define TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")))
#define REAL float
#define INT int32_t
#define LANES 16
#define SET float_512
#include "images_set.h"
#define REAL double
#define INT int64_t
#define LANES 8
#define SET double_512
#include "images_set.h"
#undef ROWS
#undef TARGET
#define ROWS 4
#define TARGET __attribute__((target("avx2,fma")))
#define REAL float
#define INT int32_t
#define LANES 8
#define SET float_256
#include "images_set.h"
#define REAL double
#define INT int64_t
#define LANES 4
#define SET double_256
#include "images_set.h"
#undef ROWS
#undef TARGET
#endif

#if defined(__aarch64__)
#define ROWS 8 /* there are 32 registers */
#else
#define ROWS 4
#endif
#define TARGET
#define REAL float
#define INT int32_t
#define LANES 4
#define SET float_128
#include "images_set.h"
#define REAL double
#define INT int64_t
#define LANES 2
#define SET double_128
#include "images_set.h"

static const Loops *single, *twofold; /* precision, for the processor at hand */

/* The longest vectors that the processor has, of at most so many bytes. */
static void choose_loops(long most)
{
    single = &loops_float_128;
    twofold = &loops_double_128;
#ifdef SEVERAL_SETS
    if (most >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        single = &loops_float_256;
        twofold = &loops_double_256;
        if (most >= 64 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
            single = &loops_float_512;
            twofold = &loops_double_512;
        }
    }
#endif
}

#include "images_convolution.h"
#include "images_pools.h"
#include "images_mappings.h"
#include "images_samplers.h"

/* use_vectors(most): so that tests can try the loops for other processors. Returns how many bytes they have. */
static PyObject *use_vectors(PyObject *module, PyObject *most)
{
    long bytes = PyLong_AsLong(most);
    if (bytes == -1 && PyErr_Occurred()) return NULL;
    choose_loops(bytes);
    return PyLong_FromLong(single->lanes * (long)sizeof(float));
}

/* -- the module ---------------------------------------------------------------------------------------------------- */

static PyMethodDef functions[] = {
    {"convolve", (PyCFunction)(void (*)(void))convolve, METH_FASTCALL,
     "convolve(images, w, bias, stride, padding, dilation, groups[, sizes]): a convolution; with sizes, transposed"},
    {"weights", (PyCFunction)(void (*)(void))weights, METH_FASTCALL,
     "weights(x, y, window, stride, padding, dilation, groups): the gradient by the weights; None if it is not finite"},
    {"pool_max", (PyCFunction)(void (*)(void))pool_max, METH_FASTCALL,
     "pool_max(x, positions, windows, indices): the largest elements of windows, and where they are if asked"},
    {"pool_mean", (PyCFunction)(void (*)(void))pool_mean, METH_FASTCALL,
     "pool_mean(x, positions, windows, include_pad, divisor): the means of windows"},
    {"pool_spread", (PyCFunction)(void (*)(void))pool_spread, METH_FASTCALL,
     "pool_spread(g, sizes, windows, include_pad, divisor): the gradient of pool_mean"},
    {"pool_put", (PyCFunction)(void (*)(void))pool_put, METH_FASTCALL,
     "pool_put(g, indices, size): the gradient of pool_max, plane by plane"},
    {"sample", (PyCFunction)(void (*)(void))sample, METH_FASTCALL,
     "sample(image, grid, mode, padding, align_corners): images in the places of a grid"},
    {"sample_back", (PyCFunction)(void (*)(void))sample_back, METH_FASTCALL,
     "sample_back(g, image, grid, mode, padding, align_corners, of_image, of_grid): those of its gradients"},
    {"map_axes", (PyCFunction)(void (*)(void))map_axes, METH_FASTCALL,
     "map_axes(x, maps): linear maps (starts, elements, weights) along the last dimensions"},
    {"use_vectors", use_vectors, METH_O, "use_vectors(most): vectors of at most so many bytes; returns how many"},
    {NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leafgrad.kernels._images",
    .m_doc = "Convolution, pooling and sampling on several cores.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__images(void)
{
    import_array();
    if (pool_import() < 0) return NULL;
    choose_loops(64);
    return PyModule_Create(&definition);
}
