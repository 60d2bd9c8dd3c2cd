/* What the loops of images_sampling.h share: an image, a grid of places in it, and how it is looked at. */
#ifndef LEAFGRAD_IMAGES_PLACES_H
#define LEAFGRAD_IMAGES_PLACES_H

#include "images.h"

#define POINTS 64     /* that are looked at together */
#define TAPS_ALONG 4  /* elements around a point, at most, along a dimension */
#define MOST_TAPS 16  /* and in all: of a cubic in two dimensions */
#define CHANNELS 4    /* whose sums are computed together */
#define MOST_GROUPS 16 /* of channels, in a backward pass over few images */

enum { MODE_LINEAR, MODE_NEAREST, MODE_CUBIC };
enum { PAD_ZEROS, PAD_BORDER, PAD_REFLECTION };

typedef struct {
    const char *image, *grid, *g;
    char *out, *of_image, *of_grid;
    ptrdiff_t n, c, points, sizes[DIMS];
    int dims, mode, padding, align;
    int along, taps;          /* of a point: along one dimension, and in all */
    ptrdiff_t blocks, groups; /* of points and of channels, in a sample */
} Sampling;

#endif
