/* Memory of large arrays, in huge pages, kept for the next array.

   A page that a program touches for the first time has to be found and cleared by the system: for four megabytes in pages
   of four kilobytes that takes ten times as long as to multiply them, and with huge pages a tenth of that. Afterwards
   huge pages are faster as well, because the processor finds them with fewer looks into its tables: a product of four
   million elements takes half the time. A huge page needs two megabytes that begin at a multiple of that, which the
   heap of the C library has by chance only. So large arrays have regions of their own, and lie in them side by side.
   A region begins with two megabytes of ordinary pages, for arrays of up to half a megabyte: programs that have few of
   these take no more than they need.

       large_malloc(size, &touched)   pages of which the first `touched` bytes may hold something, the others are zero;
                                      NULL if the system has none to give
       large_free(start, size)

   Free pieces are in a list by address, so that neighbours become one. They are used from the start on: so of a piece the
   first bytes have been touched, and the others not, or not since they were given back to the system. That happens to
   what is more than `keep_at_most`.
*/
#ifndef LEAFGRAD_LARGE_MEMORY_H
#define LEAFGRAD_LARGE_MEMORY_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *start;
    size_t size, touched;
} Piece;

static struct {
    Piece *pieces; /* free ones */
    size_t count, room;
    size_t in_use, kept; /* bytes: of arrays, and touched ones of free pieces */
    size_t keep_at_most, page;
} large = {.keep_at_most = (size_t)1 << 28};

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) /* which wants to see each array by itself */

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)1 << 21)
#define REGION ((size_t)1 << 30) /* bytes of address space that are asked for at once: nothing until they are touched */

static pthread_mutex_t large_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t up_to(size_t size, size_t whole) { return (size + whole - 1) / whole * whole; }

/* Put a piece into the list, as the `at`th. There is room for it. */
static void put_piece(size_t at, Piece piece)
{
    memmove(large.pieces + at + 1, large.pieces + at, (large.count++ - at) * sizeof piece);
    large.pieces[at] = piece;
}

static void drop_piece(size_t at)
{
    memmove(large.pieces + at, large.pieces + at + 1, (--large.count - at) * sizeof *large.pieces);
}

/* Of two neighbours the bytes up to the last that was touched. */
static Piece joined(Piece a, Piece b)
{
    return (Piece){a.start, a.size + b.size, b.touched ? a.size + b.touched : a.touched};
}

/* Returns 0 if there is no memory for the list itself. */
static int add_piece(Piece piece)
{
    if (large.count == large.room) {
        size_t room = 2 * large.room + 64;
        Piece *pieces = realloc(large.pieces, room * sizeof *pieces);
        if (pieces == NULL) return 0;
        large.pieces = pieces;
        large.room = room;
    }
    size_t at = 0, end = large.count;
    while (at < end) { /* the first behind it */
        size_t middle = (at + end) / 2;
        if (large.pieces[middle].start < piece.start) at = middle + 1;
        else end = middle;
    }
    if (at < large.count && piece.start + piece.size == large.pieces[at].start) {
        large.kept -= large.pieces[at].touched;
        piece = joined(piece, large.pieces[at]);
        drop_piece(at);
    }
    if (at > 0 && large.pieces[at - 1].start + large.pieces[at - 1].size == piece.start) {
        large.kept -= large.pieces[at - 1].touched;
        piece = joined(large.pieces[at - 1], piece);
        drop_piece(--at);
    }
    large.kept += piece.touched;
    put_piece(at, piece);
    return 1;
}

static char *map(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

static int add_region(size_t size)
{
    size_t needed = up_to(size, HUGE_PAGE) + 2 * HUGE_PAGE, whole = needed < REGION ? REGION : needed;
    char *mapped = map(whole);
    if (mapped == MAP_FAILED && whole > needed) mapped = map(whole = needed); /* it may be limited */
    if (mapped == MAP_FAILED) return 0;
    size_t before = -(size_t)mapped % HUGE_PAGE + HUGE_PAGE;
    madvise(mapped + before, whole - before, MADV_HUGEPAGE); /* where the system has them */
    if (!add_piece((Piece){mapped + before, whole - before, 0})) {
        munmap(mapped, whole);
        return 0;
    }
    for (int i = 1; i <= 4; i++) { /* with gaps, so that they do not become one; of all that fit the smallest is taken */
        add_piece((Piece){mapped + before - i * HUGE_PAGE / 4, HUGE_PAGE / 4 - large.page, 0});
    }
    return 1;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* The piece of at least this size that was touched most, of several the smallest, or none: `count`. */
static size_t find_piece(size_t size)
{
    size_t found = large.count;
    for (size_t i = 0; i < large.count; i++) {
        const Piece *piece = large.pieces + i, *best = large.pieces + found;
        if (piece->size < size) continue;
        size_t warm = least(piece->touched, size), warmest = found < large.count ? least(best->touched, size) : 0;
        if (found == large.count || warm > warmest || (warm == warmest && piece->size < best->size)) found = i;
    }
    return found;
}

/* Give back what is more than may be kept, beginning with the largest piece. */
static void give_back(void)
{
    while (large.kept > large.keep_at_most) {
        Piece *most = large.pieces;
        for (size_t i = 1; i < large.count; i++) {
            if (large.pieces[i].touched > most->touched) most = large.pieces + i;
        }
        size_t more = least(up_to(large.kept - large.keep_at_most, HUGE_PAGE), most->touched);
        if (madvise(most->start + most->touched - more, more, MADV_DONTNEED) != 0) return;
        most->touched -= more;
        large.kept -= more;
    }
}

static void *large_malloc(size_t size, size_t *touched)
{
    char *start = NULL;
    size = up_to(size, large.page);
    pthread_mutex_lock(&large_lock);
    size_t at = find_piece(size);
    if (at == large.count && add_region(size)) at = find_piece(size);
    if (at < large.count) {
        Piece *piece = large.pieces + at;
        start = piece->start;
        *touched = least(piece->touched, size);
        piece->start += size;
        piece->size -= size;
        piece->touched -= *touched;
        if (piece->size == 0) drop_piece(at);
        large.kept -= *touched;
        large.in_use += size;
    }
    pthread_mutex_unlock(&large_lock);
    return start;
}

static void large_free(void *start, size_t size)
{
    size = up_to(size, large.page);
    pthread_mutex_lock(&large_lock);
    if (add_piece((Piece){start, size, size})) give_back();
    else munmap(start, size);
    large.in_use -= size;
    pthread_mutex_unlock(&large_lock);
}

/* A process that is made while another thread is here must find the list whole. */
static void lock_large(void) { pthread_mutex_lock(&large_lock); }
static void unlock_large(void) { pthread_mutex_unlock(&large_lock); }

static void large_prepare(void)
{
    if (large.page) return;
    large.page = (size_t)sysconf(_SC_PAGESIZE);
    pthread_atfork(lock_large, unlock_large, unlock_large);
}

#else

static void *large_malloc(size_t size, size_t *touched) { return NULL; }
static void large_free(void *start, size_t size) {}
static void large_prepare(void) {}

#endif
#endif
