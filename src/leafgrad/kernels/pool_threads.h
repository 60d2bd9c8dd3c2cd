/* The helper threads behind pool.h. Included by _loops.c alone, which owns the pool and lends it to other extensions.

   Everybody has a share of the work, the same one each time: what a thread has written, the next operation finds in the
   cache of the same core. (Two operations that follow each other took twice as long where pieces went to whoever came
   first.) The caller takes the pieces of its share, one after the other, then those that are left of the others', and
   so does every helper that is awake. Nobody is waited for who has not begun: a helper that the system wakes late finds
   nothing left. Helpers stay awake for a fifth of a millisecond after their work, because the next operation that they
   share often follows within that, and then sleep until they are called. (Steps of a small classifier took a third
   longer, those of a convolutional network a quarter, while it was an eighth of that.)

   To call a helper that sleeps takes the caller twenty microseconds, and the helper comes after fifty. That pays if
   it is long work, or if work has followed work closely for a while, so that more can be expected.

   A helper may be interrupted in the middle of a piece when other programs want its core, and then the caller waits for
   milliseconds. Whoever had to wait like that twice in a row, and longer than it worked itself, works alone for a while,
   longer each time it happens again. Once is no sign of it: a helper that was woken takes twice as long as its caller
   for the first piece, whose data and code are not in the cache of its core yet.

   Systems like to wake a thread on the core of the one that calls it. There a helper only takes turns with its caller, so
   it leaves that core, and keeps away from it: chains of operations on a million elements took twice as long
   until the system had moved it by itself.

   There is one pool. If a second thread comes while it is in use, that thread does its work alone. A process made by
   fork() has no helpers, and makes new ones when it needs them. Helpers never touch Python.
*/
#ifndef LEAFGRAD_POOL_THREADS_H
#define LEAFGRAD_POOL_THREADS_H

#include "pool.h"

#define POOL_MOST_THREADS 64
#define POOL_PIECE (128 * 1024) /* bytes of each operand, at most: three of them fit into a core's own cache */
#define POOL_SHARE 4            /* pieces for each thread, at least: who begins late can still take some */

#if defined(_WIN32)

/* No threads of the POSIX kind: the caller works alone. */
static void pool_prepare(void) {}
static void pool_set_threads(int count) { (void)count; }
static int wanted_threads(void) { return 1; }
static void run_shared(pool_work work, void *context, ptrdiff_t count, ptrdiff_t size, int long_work)
{
    (void)size;
    (void)long_work;
    work(context, 0, count);
}

#else

#include <pthread.h>
#include <signal.h>
#include <time.h>
#if defined(__linux__)
#include <sched.h>
#endif

/* How often a thread looks for news before it goes to sleep; a look takes some 25 nanoseconds. */
#define LOOKS_FOR_WORK 8000
#define LOOKS_FOR_THE_END 4000

/* Nanoseconds: the most between two pieces of work that follow each other closely, and how long that must go on. */
#define CLOSELY 50000
#define A_WHILE 200000

/* Nanoseconds to wait for helpers after which something must have come between; for how many calls to do without. */
#define TOO_LONG 100000
#define ALONE_LEAST 16
#define ALONE_MOST 512

/* A part of the work, on a line of the cache of its own. */
typedef struct {
    _Alignas(64) _Atomic ptrdiff_t next; /* the first element that nobody has taken */
    ptrdiff_t end;
} Share;

static struct {
    atomic_int threads; /* wanted, with the caller */
    atomic_flag in_use;

    /* The work at hand. Written by the caller while no helper is inside. */
    pool_work work;
    void *context;
    ptrdiff_t piece;
    int sharing; /* threads that have a share, with the caller */
    Share shares[POOL_MOST_THREADS];

    pthread_mutex_t lock; /* guards what follows; the two atomic ones may be looked at without it */
    pthread_cond_t called, finished;
    atomic_uint calls;  /* so far: a helper sees by this number that there is something new */
    atomic_int inside;  /* helpers that are at work */
    atomic_int core;    /* that the caller was on */
    int open;           /* may helpers begin? */
    int helpers;        /* that exist */
    atomic_int asleep;

    long long began; /* when the first of all the work that followed each other closely did, */
    long long ended; /* and the last of it */

    int slow;      /* so many calls in a row helpers were too slow; */
    int alone;     /* for so many calls the caller works alone, */
    int last_time; /* and so many it was when helpers had last been too slow */
} pool = {.threads = 1, .in_use = ATOMIC_FLAG_INIT};

static inline void breathe(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void take_pieces(int mine)
{
    for (int k = 0; k < pool.sharing; k++) {
        Share *share = &pool.shares[(mine + k) % pool.sharing];
        for (;;) {
            ptrdiff_t from = atomic_fetch_add(&share->next, pool.piece);
            if (from >= share->end) {
                break;
            }
            ptrdiff_t to = share->end - from > pool.piece ? from + pool.piece : share->end;
            pool.work(pool.context, from, to);
        }
    }
}

/* Whole pieces for everybody. */
static void divide(ptrdiff_t count, ptrdiff_t piece, int threads)
{
    ptrdiff_t pieces = (count + piece - 1) / piece;
    pool.piece = piece;
    pool.sharing = threads;
    for (int k = 0; k < threads; k++) {
        atomic_store(&pool.shares[k].next, pieces * k / threads * piece);
        pool.shares[k].end = k + 1 < threads ? pieces * (k + 1) / threads * piece : count;
    }
}

#if defined(__linux__)

static int this_core(void) { return sched_getcpu(); }

/* Called by a helper: go to any other core of those that were `allowed` to it, if there is one. */
static void leave_core(int core, cpu_set_t allowed)
{
    CPU_CLR(core, &allowed);
    if (CPU_COUNT(&allowed)) sched_setaffinity(0, sizeof allowed, &allowed);
}

#else /* the system decides */

typedef int cpu_set_t;
static int this_core(void) { return -1; }
static int sched_getaffinity(int thread, size_t size, cpu_set_t *allowed) { return -1; }
static void leave_core(int core, cpu_set_t allowed) {}

#endif

static void *help(void *number)
{
    int mine = (int)(ptrdiff_t)number;
    unsigned seen = 0;
    cpu_set_t allowed;
    int may_move = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    for (;;) {
        for (int look = 0; look < LOOKS_FOR_WORK && atomic_load(&pool.calls) == seen; look++) {
            breathe();
        }
        pthread_mutex_lock(&pool.lock);
        while (atomic_load(&pool.calls) == seen) {
            atomic_fetch_add(&pool.asleep, 1);
            pthread_cond_wait(&pool.called, &pool.lock);
            atomic_fetch_sub(&pool.asleep, 1);
        }
        int core = atomic_load(&pool.core);
        if (may_move && this_core() == core) {
            pthread_mutex_unlock(&pool.lock);
            leave_core(core, allowed);
            pthread_mutex_lock(&pool.lock);
        }
        seen = atomic_load(&pool.calls);
        int begin = pool.open && mine < pool.sharing;
        if (begin) {
            atomic_fetch_add(&pool.inside, 1);
        }
        pthread_mutex_unlock(&pool.lock);
        if (begin) {
            take_pieces(mine);
            pthread_mutex_lock(&pool.lock);
            if (atomic_fetch_sub(&pool.inside, 1) == 1) {
                pthread_cond_signal(&pool.finished);
            }
            pthread_mutex_unlock(&pool.lock);
        }
    }
    return NULL;
}

/* Make the helpers that are missing. Called by the one who has the pool. */
static void hire(int wanted)
{
    if (pool.helpers >= wanted) {
        return;
    }
    /* Signals are for Python's threads. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.helpers < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, help, (void *)(ptrdiff_t)(pool.helpers + 1)) != 0) {
            break; /* fewer will do */
        }
        pthread_detach(thread);
        pool.helpers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* How many elements are taken at once: one, if it is large. Otherwise whole kilobytes, so that pieces do not share
   cache lines or vectors. */
static ptrdiff_t piece_of(ptrdiff_t count, ptrdiff_t size, int threads)
{
    ptrdiff_t bytes = count * size / (POOL_SHARE * threads) & ~(ptrdiff_t)1023;
    if (bytes > POOL_PIECE) bytes = POOL_PIECE;
    if (bytes < 1024) bytes = 1024;
    return bytes > size ? bytes / size : 1;
}

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void run_shared(pool_work work, void *context, ptrdiff_t count, ptrdiff_t size, int long_work)
{
    int wanted = atomic_load(&pool.threads);
    if (wanted < 2 || atomic_flag_test_and_set(&pool.in_use)) {
        work(context, 0, count);
        return;
    }
    long long time = now();
    if (time - pool.ended > CLOSELY) {
        pool.began = time;
    }
    int worth_waking = long_work || time - pool.began > A_WHILE;
    int nobody_awake = atomic_load(&pool.asleep) == pool.helpers;
    if (pool.alone > 0 || (nobody_awake && !worth_waking)) {
        if (pool.alone > 0) {
            pool.alone--;
        }
        work(context, 0, count);
        pool.ended = now();
        atomic_flag_clear(&pool.in_use);
        return;
    }
    hire(wanted - 1);

    pthread_mutex_lock(&pool.lock);
    pool.work = work;
    pool.context = context;
    divide(count, piece_of(count, size, wanted), wanted);
    atomic_store(&pool.core, this_core());
    pool.open = 1;
    atomic_fetch_add(&pool.calls, 1);
    if (worth_waking && atomic_load(&pool.asleep)) {
        pthread_cond_broadcast(&pool.called);
    }
    pthread_mutex_unlock(&pool.lock);

    take_pieces(0);

    long long done = now();
    pthread_mutex_lock(&pool.lock);
    pool.open = 0;
    pthread_mutex_unlock(&pool.lock);
    for (int look = 0; look < LOOKS_FOR_THE_END && atomic_load(&pool.inside); look++) {
        breathe();
    }
    if (atomic_load(&pool.inside)) {
        pthread_mutex_lock(&pool.lock);
        while (atomic_load(&pool.inside)) {
            pthread_cond_wait(&pool.finished, &pool.lock);
        }
        pthread_mutex_unlock(&pool.lock);
    }
    pool.ended = now();
    long long waited = pool.ended - done;
    if (waited <= TOO_LONG || waited <= done - time) {
        pool.slow = 0;
        pool.last_time /= 2;
    } else if (++pool.slow == 2) {
        pool.slow = 0;
        pool.alone = pool.last_time = pool.last_time < ALONE_MOST / 2 ? 2 * pool.last_time + ALONE_LEAST : ALONE_MOST;
    }
    atomic_flag_clear(&pool.in_use);
}

/* In a new process: helpers did not come along, and the lock may have been held by one of them. */
static void start_over(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.called, NULL);
    pthread_cond_init(&pool.finished, NULL);
    atomic_store(&pool.calls, 0);
    atomic_store(&pool.inside, 0);
    atomic_store(&pool.asleep, 0);
    pool.open = pool.helpers = pool.slow = pool.alone = pool.last_time = 0;
    atomic_flag_clear(&pool.in_use);
}

static void pool_prepare(void)
{
    start_over();
    pthread_atfork(NULL, NULL, start_over);
}

static void pool_set_threads(int count) { atomic_store(&pool.threads, count); }
static int wanted_threads(void) { return atomic_load(&pool.threads); }

#endif

static const PoolFunctions own_pool = {run_shared, wanted_threads};

#endif
