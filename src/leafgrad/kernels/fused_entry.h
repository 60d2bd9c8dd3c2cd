/* What is known of a kernel that the translator has made, and how other extensions come by the loops of `_fused`. */
#ifndef LEAFGRAD_FUSED_ENTRY_H
#define LEAFGRAD_FUSED_ENTRY_H

#include <Python.h>
#include <stddef.h>
#include <string.h>

#include "capsule.h"

typedef void (*Function)(ptrdiff_t rows, ptrdiff_t n, char *const *arrays, const double *options, void *scratch);

typedef struct {
    const char *name, *kind, *arguments, *results;
    int cost, scratch;
    Function run[2]; /* for float and double */
} Entry;

#define FUSED_MODULE "leafgrad.kernels._fused"
#define FUSED_CAPSULE FUSED_MODULE ".entries"

/* The kernels, up to one without a name. Returns NULL, with an exception, where `_fused` was not built. */
static inline const Entry *fused_import(void)
{
    return capsule_import(FUSED_MODULE, "entries", FUSED_CAPSULE);
}

static inline const Entry *fused_entry(const Entry *entries, const char *name)
{
    while (entries->name != NULL && strcmp(entries->name, name) != 0) entries++;
    return entries->name == NULL ? NULL : entries;
}

#endif
