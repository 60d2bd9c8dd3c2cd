/* All loops for one kind of number and one instruction set. */
#if ROWS == 8
#define DOT_ROWS 4
#else
#define DOT_ROWS 2
#endif
#define DOT_COLUMNS 6

#define ROW_OF_TILES(make, rows) make(rows, 1) make(rows, 2) make(rows, 3)
#define ROW_OF_TABLE(kind, rows) {NAME(kind##_##rows##_1), NAME(kind##_##rows##_2), NAME(kind##_##rows##_3)},
#define EACH_SMALL_TILE(make) ROW_OF_TILES(make, 1) ROW_OF_TILES(make, 2) ROW_OF_TILES(make, 4)
#define SMALL_TABLE(kind) ROW_OF_TABLE(kind, 1) ROW_OF_TABLE(kind, 2) ROW_OF_TABLE(kind, 4)
#if ROWS == 8
#define EACH_TILE(make) EACH_SMALL_TILE(make) ROW_OF_TILES(make, 8)
#define TABLE_OF_TILES(kind) SMALL_TABLE(kind) ROW_OF_TABLE(kind, 8)
#else
#define EACH_TILE(make) EACH_SMALL_TILE(make)
#define TABLE_OF_TILES(kind) SMALL_TABLE(kind)
#endif

#include "images_products.h"
#include "images_tasks.h"
#include "images_pooling.h"
#include "images_sampling.h"
#include "images_maps.h"

static const Loops NAME(loops) = {
    LANES, ROWS,
    NAME(convolve), NAME(pack_weights), NAME(correlate_units), NAME(add_sums),
    NAME(max_planes), NAME(mean_planes), NAME(spread_planes), NAME(put_planes),
    NAME(sample_points), NAME(sample_back), NAME(add_groups), NAME(map_planes),
};

#undef ROW_OF_TILES
#undef ROW_OF_TABLE
#undef EACH_SMALL_TILE
#undef SMALL_TABLE
#undef EACH_TILE
#undef TABLE_OF_TILES
#undef DOT_ROWS
#undef DOT_COLUMNS
#undef REAL
#undef INT
#undef LANES
#undef SET
