/* The first listed word that a name contains decides. */
#include "trace/call_names.h"

#include "base/memory.h"

static const struct {
    const char *word;
    enum call_sort sort;
} words[] = {
    { "GraphLaunch", CALL_GRAPH_LAUNCH },
    { "StreamBeginCapture", CALL_CAPTURE_BEGIN },
    { "StreamEndCapture", CALL_CAPTURE_END },
    { "Hccl@", CALL_OTHER }, /* stages of a collective of Ascend, which Node@launch launches */
    { "HCCL@", CALL_OTHER },
    { "Node@launch", CALL_LAUNCH },
    { "Launch", CALL_LAUNCH },
    { "Synchronize", CALL_SYNC },
    { "Memset", CALL_MEMSET },
    { "HostAlloc", CALL_HOST_ALLOC },
    { "HostMalloc", CALL_HOST_ALLOC },
    { "MallocHost", CALL_HOST_ALLOC },
    { "MemAllocHost", CALL_HOST_ALLOC },
    { "HostRegister", CALL_HOST_ALLOC },
    { "HostUnregister", CALL_HOST_ALLOC },
    { "FreeHost", CALL_HOST_ALLOC },
    { "HostFree", CALL_HOST_ALLOC },
    { "Malloc", CALL_ALLOC },
    { "MemAlloc", CALL_ALLOC },
    { "MemFree", CALL_ALLOC },
    { "cudaFree", CALL_ALLOC },
    { "hipFree", CALL_ALLOC },
    { "MemCreate", CALL_ALLOC },
    { "MemMap", CALL_ALLOC },
    { "MemUnmap", CALL_ALLOC },
    { "MemRelease", CALL_ALLOC },
    { "MemSetAccess", CALL_ALLOC },
};

/* Calls are C functions. Names of kernels are long, and excluded by their brackets. */
enum call_sort call_sort_of(const char *name)
{
    if (strpbrk(name, "<(["))
        return CALL_OTHER;
    if (strstr(name, "Memcpy"))
        return strstr(name, "Async") || strstr(name, "Batch") ? CALL_COPY : CALL_COPY_SYNC;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i].word))
            return words[i].sort;
    return CALL_OTHER;
}

bool overhead_is_full_queue(const char *name)
{
    return strcmp(name, "Command Buffer Full") == 0;
}

unsigned char *call_sorts_open(const struct names *names)
{
    size_t count = names_count(names);
    unsigned char *sorts = mem_alloc(count + 1);
    for (name_id id = 0; id < count; id++)
        sorts[id] = (unsigned char)call_sort_of(names_text(names, id));
    return sorts;
}
