/* is_bfloat16(descr): bfloat16 is a dtype that a package adds to NumPy, with a number that is known only then. */
#ifndef LEAFGRAD_BFLOAT16_H
#define LEAFGRAD_BFLOAT16_H

#include <string.h>

static int is_bfloat16(PyArray_Descr *descr)
{
    if (descr->type_num < NPY_USERDEF || PyDataType_ELSIZE(descr) != 2) return 0;
    const char *name = strrchr(descr->typeobj->tp_name, '.');
    return strcmp(name == NULL ? descr->typeobj->tp_name : name + 1, "bfloat16") == 0;
}

#endif
