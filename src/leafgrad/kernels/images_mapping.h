/* Maps along dimensions, as the loops of images_maps.h read them. */
#ifndef LEAFGRAD_IMAGES_MAPPING_H
#define LEAFGRAD_IMAGES_MAPPING_H

#include <stdint.h>

#include "images.h"
#include "pool.h"

#define ROWS_AT_ONCE 4

/* Result q is the sum of elements start[q] to start[q + 1] of the list, each times its weight. */
typedef struct {
    ptrdiff_t in, out;
    const int64_t *start, *element;
    const char *weight; /* NULL: one */
    ptrdiff_t each;     /* elements of every result, 0 if that differs */
} Map;

typedef struct {
    const char *input;
    char *output;
    Map map[DIMS];
    atomic_int failed;
} Mapping;

#endif
