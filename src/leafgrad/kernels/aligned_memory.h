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

#define LINE 64
#define PAGE 4096
#define SMALL 1024  /* bytes: smaller arrays are left as they come, */
#define LARGE 65536 /* and these begin with a page */

typedef struct {
    void *block; /* as NumPy's own handler has given it */
    size_t size; /* of the block */
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

static void *noted(char *block, size_t size)
{
    if (block == NULL) return NULL;
    char *numbers = numbers_in(block, size);
    Before before = {block, block_size(size)};
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
    if (size > SIZE_MAX / 2) return NULL;
    return noted(numpys.malloc(numpys.ctx, block_size(size)), size);
}

static void *aligned_calloc(void *context, size_t count, size_t each)
{
    (void)context;
    if (each && count > SIZE_MAX / 2 / each) return NULL;
    return noted(numpys.calloc(numpys.ctx, 1, block_size(count * each)), count * each);
}

static void aligned_free(void *context, void *numbers, size_t size)
{
    (void)context, (void)size;
    if (numbers == NULL) return;
    Before before = noted_before(numbers);
    numpys.free(numpys.ctx, before.block, before.size);
}

static void *aligned_realloc(void *context, void *numbers, size_t size)
{
    if (numbers == NULL) return aligned_malloc(context, size);
    if (size > SIZE_MAX / 2) return NULL;
    Before before = noted_before(numbers);
    size_t start = (size_t)((char *)numbers - (char *)before.block), kept = before.size - start;
    char *block = numpys.realloc(numpys.ctx, before.block, block_size(size) > before.size ? block_size(size) : before.size);
    if (block == NULL) return NULL;
    memmove(numbers_in(block, size), block + start, kept < size ? kept : size);
    return noted(block, size);
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
    PyObject *handler = PyCapsule_New(&aligned_handler, "mem_handler", NULL);
    PyObject *before = handler == NULL ? NULL : PyDataMem_SetHandler(handler);
    Py_XDECREF(handler);
    if (before == NULL) return NULL;
    Py_DECREF(before);
    Py_RETURN_TRUE;
}

#endif
