/* Helper threads that share one large piece of work with the thread that has it.

       pool_run(work, context, count, size, long_work)   calls work(context, from, to) until 0 .. count is done;
                                                         an element has `size` bytes
       pool_threads()                                    how many threads may work, with the caller

   All native extensions use the same helpers, so that they do not fight for cores: `_loops` has them (pool_threads.h),
   and another extension is lent them when it is imported:

       #include "pool.h"
       PyMODINIT_FUNC PyInit__other(void)
       {
           if (pool_import() < 0) return NULL;

   Elements may be numbers of a few bytes or tasks of many kilobytes: `size` decides how many are taken at once.
   `long_work` says that sleeping helpers are worth being woken, as they are for half a millisecond of work and more.
   `work` runs without the interpreter lock, in any thread, several times at once, and once for everything if helpers
   are busy or not wanted. It may call pool_run itself: then its caller's thread does that work alone.
*/
#ifndef LEAFGRAD_POOL_H
#define LEAFGRAD_POOL_H

#include <Python.h>
#include <stddef.h>

#include "capsule.h"

#if defined(_WIN32) /* no helpers there, so plain variables do for what they would share */
typedef int atomic_int;
#define atomic_init(place, value) (*(place) = (value))
#define atomic_load(place) (*(place))
#define atomic_fetch_or(place, value) (*(place) |= (value))
#else
#include <stdatomic.h>
#endif

typedef void (*pool_work)(void *context, ptrdiff_t from, ptrdiff_t to);

typedef struct {
    void (*run)(pool_work work, void *context, ptrdiff_t count, ptrdiff_t size, int long_work);
    int (*threads)(void);
} PoolFunctions;

#define POOL_MODULE "leafgrad.kernels._loops"
#define POOL_CAPSULE POOL_MODULE ".pool"

static const PoolFunctions *shared_pool;

static inline void pool_run(pool_work work, void *context, ptrdiff_t count, ptrdiff_t size, int long_work)
{
    shared_pool->run(work, context, count, size, long_work);
}

static inline int pool_threads(void) { return shared_pool->threads(); }

/* Returns -1, with an exception, where `_loops` was not built. */
static inline int pool_import(void)
{
    shared_pool = capsule_import(POOL_MODULE, "pool", POOL_CAPSULE);
    return shared_pool == NULL ? -1 : 0;
}

#endif
