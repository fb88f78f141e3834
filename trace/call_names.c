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

/* Does any of the words, or of those that tell copies apart, begin with C? */
static bool begins_word(char c)
{
    switch (c) {
    case 'F':
    case 'G':
    case 'H':
    case 'L':
    case 'M':
    case 'N':
    case 'S':
    case 'c':
    case 'h': return true;
    default: return false;
    }
}

/* Calls are C functions. Names of kernels are long, and excluded by their brackets. One pass, as there may be very many names. */
enum call_sort call_sort_of(const char *name)
{
    enum { COUNT = sizeof words / sizeof *words };
    size_t first = COUNT;
    bool copies = false;
    for (const char *at = name; *at; at++) {
        if (*at == '<' || *at == '(' || *at == '[')
            return CALL_OTHER;
        if (!begins_word(*at))
            continue;
        copies = copies || strncmp(at, "Memcpy", strlen("Memcpy")) == 0;
        for (size_t i = 0; i < first; i++)
            if (words[i].word[0] == *at && strncmp(at, words[i].word, strlen(words[i].word)) == 0)
                first = i;
    }
    if (copies)
        return strstr(name, "Async") || strstr(name, "Batch") ? CALL_COPY : CALL_COPY_SYNC;
    return first < COUNT ? words[first].sort : CALL_OTHER;
}

bool call_loads_code(const char *name)
{
    return strstr(name, "ModuleLoad") || strstr(name, "LibraryLoad");
}

bool overhead_is_full_queue(const char *name)
{
    return strcmp(name, "Command Buffer Full") == 0;
}

bool work_moves_pages(const char *name)
{
    return strstr(name, "(Unified memory)") != NULL;
}

unsigned char *call_sorts_open(const struct names *names)
{
    size_t count = names_count(names);
    unsigned char *sorts = mem_alloc(count + 1);
    for (name_id id = 0; id < count; id++)
        sorts[id] = (unsigned char)call_sort_of(names_text(names, id));
    return sorts;
}
