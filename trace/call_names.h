/*
 * call_names.h - classifies calls of the runtime or driver by name: CUDA, HIP and similar ones.
 *
 * Call once per name, never per event.
 */
#ifndef TPA_TRACE_CALL_NAMES_H
#define TPA_TRACE_CALL_NAMES_H

#include "base/names.h"

enum call_sort {
    CALL_OTHER,
    CALL_LAUNCH,       /* a kernel: cudaLaunchKernel, cuLaunchKernelEx, hipExtModuleLaunchKernel */
    CALL_GRAPH_LAUNCH, /* a whole graph */
    CALL_COPY,         /* starts a copy and returns: cudaMemcpyAsync */
    CALL_COPY_SYNC,    /* returns when the copy is done: cudaMemcpy, hipMemcpyWithStream */
    CALL_MEMSET,
    CALL_SYNC,          /* waits for a device, stream or event */
    CALL_ALLOC,         /* allocates or frees memory of the device, which may wait for it */
    CALL_HOST_ALLOC,    /* allocates, pins or frees memory of the host */
    CALL_CAPTURE_BEGIN, /* from here on, launches become nodes of a graph */
    CALL_CAPTURE_END,
    CALL_SORTS
};

/* The kind of call NAME; classified by the words in it. */
enum call_sort call_sort_of(const char *name);

/* Does the call NAME load code on a device: cuModuleLoadData, hipModuleLoad, cuLibraryLoadFromFile? */
bool call_loads_code(const char *name);

/* Is the overhead NAME, as CUPTI records it, that of a call that waited for room in a full queue, not one of the profiler? */
bool overhead_is_full_queue(const char *name);

/* Is NAME that of work which no call launches: pages of unified memory, which move as they are touched? */
bool work_moves_pages(const char *name);

/* New: enum call_sort by name_id; free with free(). */
unsigned char *call_sorts_open(const struct names *names);

#endif
