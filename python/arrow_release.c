/*
 * arrow_release.c - the ends of what the Python package hands out by Arrow's C data interface.
 *
 * The consumer of a table (pandas, polars, DuckDB, pyarrow) releases it at any time: on any thread, or while a Python
 * exception is on its way, when no Python code may run. So these functions are C. What a struct points at is held by one Python object,
 * its private_data, to which it owns a reference.
 *
 * No header of Python is needed: these functions are part of its stable ABI, and are found in the process that loads this.
 */
#include <stdint.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

typedef void object; /* PyObject */
int Py_IsInitialized(void);
int PyGILState_Ensure(void);
void PyGILState_Release(int state);
void PyErr_Fetch(object **type, object **value, object **traceback);
void PyErr_Restore(object *type, object *value, object *traceback);
void Py_DecRef(object *it);
void *PyCapsule_GetPointer(object *capsule, const char *name);

/* https://arrow.apache.org/docs/format/CDataInterface.html */
struct schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct schema **children, *dictionary;
    void (*release)(struct schema *);
    object *private_data;
};

struct array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct array **children, *dictionary;
    void (*release)(struct array *);
    object *private_data;
};

struct stream {
    int (*get_schema)(struct stream *, struct schema *);
    int (*get_next)(struct stream *, struct array *);
    const char *(*get_last_error)(struct stream *);
    void (*release)(struct stream *);
    object *private_data;
};

/* Called from Python only (ctypes). */
EXPORT void tpa_release_schema(struct schema *it);
EXPORT void tpa_release_array(struct array *it);
EXPORT void tpa_release_stream(struct stream *it);
EXPORT void *tpa_new_struct(size_t size);
EXPORT void tpa_free_schema(object *capsule);
EXPORT void tpa_free_stream(object *capsule);

/* Let go of what HELD keeps. When Python is gone, so is that. */
static void drop(object *held)
{
    if (!held || !Py_IsInitialized())
        return;
    object *type, *value, *traceback;
    int state = PyGILState_Ensure();
    PyErr_Fetch(&type, &value, &traceback);
    Py_DecRef(held);
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(state);
}

/* A child that was moved elsewhere has no release here any more. */
#define RELEASE_PARTS(it)                                                                                    \
    for (int64_t i = 0; i < (it)->n_children; i++)                                                           \
        if ((it)->children[i]->release)                                                                      \
            (it)->children[i]->release((it)->children[i]);                                                   \
    if ((it)->dictionary && (it)->dictionary->release)                                                       \
    (it)->dictionary->release((it)->dictionary)

EXPORT void tpa_release_schema(struct schema *it)
{
    RELEASE_PARTS(it);
    it->release = NULL;
    drop(it->private_data);
}

EXPORT void tpa_release_array(struct array *it)
{
    RELEASE_PARTS(it);
    it->release = NULL;
    drop(it->private_data);
}

EXPORT void tpa_release_stream(struct stream *it)
{
    it->release = NULL;
    drop(it->private_data);
}

/* Zeroed memory for a struct that a capsule points at; its destructor frees it. NULL when there is none. */
EXPORT void *tpa_new_struct(size_t size)
{
    return calloc(1, size);
}

/* Destructors of capsules: release what nobody took. */
EXPORT void tpa_free_schema(object *capsule)
{
    struct schema *it = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (it && it->release)
        it->release(it);
    free(it);
}

EXPORT void tpa_free_stream(object *capsule)
{
    struct stream *it = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (it && it->release)
        it->release(it);
    free(it);
}
