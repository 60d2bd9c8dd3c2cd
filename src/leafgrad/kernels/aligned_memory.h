/* Memory of arrays that begins where a line of the cache does, and if it is much where a page does.

   A vector register is as wide as a line, so from other places each of its loads and stores takes two. Worse, a processor
   compares the last twelve bits only to see whether a load meets a store that is still under way. Blocks that the C
   library gives out one after the other are alike in those but for a few bytes, so that a loop which reads one array and
   writes another seems to read what it has just written: softmax of 4 MB took up to 27 % longer than with this. If both
   begin with a page, it reads ahead of what it writes.

   NumPy has its memory from a handler of the context that a thread runs in. This one asks NumPy's own for a little
   more, and puts before the numbers where that begins. */
#ifndef LEAFGRAD_ALIGNED_MEMORY_H
#define LEAFGRAD_ALIGNED_MEMORY_H

#include <stdint.h>
#include <string.h>

#include "large_memory.h"
#include "pool_threads.h"

#define LINE 64
#define PAGE 4096
#define SMALL 1024  /* bytes: smaller arrays are left as they come, */
#define LARGE 65536 /* and these begin with a page, of large_memory.h if it has any */
#define SHARED 262144        /* bytes that helpers clear as well, */
#define WORTH_WAKING 4194304 /* and for which they are woken */

typedef struct {
    char *block;
    size_t size : 8 * sizeof(size_t) - 1, is_large : 1; /* of the block; is it large_memory.h's, or NumPy's own handler's? */
} Before;

static PyDataMemAllocator numpys;

static size_t alignment(size_t size) { return size < SMALL ? 1 : size < LARGE ? LINE : PAGE; }

static size_t block_size(size_t size) { return size + sizeof(Before) + alignment(size) - 1; }

/* Where numbers begin in a block. */
static char *numbers_in(char *block, size_t size)
{
    char *start = block + sizeof(Before);
    return start + -(uintptr_t)start % alignment(size);
}

static void *noted(char *block, size_t size, int is_large)
{
    if (block == NULL) return NULL;
    char *numbers = numbers_in(block, size);
    Before before = {block, block_size(size), is_large};
    memcpy(numbers - sizeof before, &before, sizeof before);
    return numbers;
}

static Before noted_before(const void *numbers)
{
    Before before;
    memcpy(&before, (const char *)numbers - sizeof before, sizeof before);
    return before;
}

static void *aligned_malloc(void *context, size_t size)
{
    (void)context;
    if (size > SIZE_MAX / 4) return NULL;
    size_t touched;
    char *block = size < LARGE ? NULL : large_malloc(block_size(size), &touched);
    if (block != NULL) return noted(block, size, 1);
    return noted(numpys.malloc(numpys.ctx, block_size(size)), size, 0);
}

static void zero_bytes(void *block, ptrdiff_t first, ptrdiff_t last) { memset((char *)block + first, 0, last - first); }

static void zero_memory(char *block, size_t size)
{
    if (size < SHARED) memset(block, 0, size);
    else run_shared(zero_bytes, block, (ptrdiff_t)size, 1, size >= WORTH_WAKING);
}

static void *aligned_calloc(void *context, size_t count, size_t each)
{
    (void)context;
    if (each && count > SIZE_MAX / 4 / each) return NULL;
    size_t size = count * each, touched;
    char *block = size < LARGE ? NULL : large_malloc(block_size(size), &touched);
    if (block == NULL) return noted(numpys.calloc(numpys.ctx, 1, block_size(size)), size, 0);
    zero_memory(block, touched);
    return noted(block, size, 1);
}

static void aligned_free(void *context, void *numbers, size_t size)
{
    (void)context, (void)size;
    if (numbers == NULL) return;
    Before before = noted_before(numbers);
    if (before.is_large) large_free(before.block, before.size);
    else numpys.free(numpys.ctx, before.block, before.size);
}

static void *aligned_realloc(void *context, void *numbers, size_t size)
{
    if (numbers == NULL) return aligned_malloc(context, size);
    Before before = noted_before(numbers);
    size_t kept = before.size - (size_t)((char *)numbers - before.block);
    void *other = aligned_malloc(context, size);
    if (other == NULL) return NULL;
    memcpy(other, numbers, kept < size ? kept : size);
    aligned_free(context, numbers, kept);
    return other;
}

static PyDataMem_Handler aligned_handler = {
    "leafgrad_aligned", 1, {NULL, aligned_malloc, aligned_calloc, aligned_realloc, aligned_free}};

/* From now on in this context. If memory is somebody else's affair already, it stays so. */
static PyObject *align_memory(PyObject *module, PyObject *unused)
{
    PyObject *current = PyDataMem_GetHandler();
    if (current == NULL) return NULL;
    int is_numpys = current == PyDataMem_DefaultHandler;
    Py_DECREF(current);
    if (!is_numpys) Py_RETURN_FALSE;
    const PyDataMem_Handler *own = PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler");
    if (own == NULL) return NULL;
    numpys = own->allocator;
    large_prepare();
    PyObject *handler = PyCapsule_New(&aligned_handler, "mem_handler", NULL);
    PyObject *before = handler == NULL ? NULL : PyDataMem_SetHandler(handler);
    Py_XDECREF(handler);
    if (before == NULL) return NULL;
    Py_DECREF(before);
    Py_RETURN_TRUE;
}

/* Of large arrays: bytes that they have, that are kept for others, and that may be. */
static PyObject *large_arrays(PyObject *module, PyObject *unused)
{
    return Py_BuildValue("nnn", (Py_ssize_t)large.in_use, (Py_ssize_t)large.kept, (Py_ssize_t)large.keep_at_most);
}

#endif
