/* What an extension of leafgrad has lent to the others: a pointer in a capsule, an attribute of its module. */
#ifndef LEAFGRAD_CAPSULE_H
#define LEAFGRAD_CAPSULE_H

#include <Python.h>

/* `name` is that of the capsule, the module's with the attribute behind it. PyCapsule_Import would do the same, but for
   looking into packages that are still being imported. Returns NULL, with an exception, where the module was not built. */
static inline const void *capsule_import(const char *module_name, const char *attribute, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *capsule = module == NULL ? NULL : PyObject_GetAttrString(module, attribute);
    const void *found = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, name);
    Py_XDECREF(capsule);
    Py_XDECREF(module);
    return found;
}

#endif
