/* The BLAS that NumPy has loaded, for extensions that have many products of their own to compute.

       blas_import()    when an extension is imported; `_products` has the functions
       begin()          with the interpreter lock: asks BLAS to use one thread; 0 if none was found
       multiply()       in any thread: c = a @ b, or c += a @ b
       end()            with the interpreter lock: gives it the threads back that it had */
#ifndef LEAFGRAD_BLAS_H
#define LEAFGRAD_BLAS_H

#include <Python.h>
#include <stddef.h>

#include "capsule.h"

/* Where the elements of rows follow each other; with `turned`, those of columns. `step` elements lie between rows (or
   columns). */
typedef struct {
    const char *data;
    ptrdiff_t step;
    int turned;
} BlasOperand;

typedef struct {
    int (*begin)(void);
    void (*end)(void);
    void (*multiply)(int size, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t k, BlasOperand a, BlasOperand b, int add,
                     char *c, ptrdiff_t c_step);
} BlasFunctions;

#define BLAS_MODULE "leafgrad.kernels._products"
#define BLAS_CAPSULE BLAS_MODULE ".blas"

/* Returns NULL, with an exception, where `_products` was not built. */
static inline const BlasFunctions *blas_import(void)
{
    return capsule_import(BLAS_MODULE, "blas", BLAS_CAPSULE);
}

#endif
