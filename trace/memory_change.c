#include "trace/memory_change.h"

const char *const memory_change_names[MEMORY_CHANGES] = {
    [MEMORY_BLOCK] = "[memory]",
    [MEMORY_EXISTING] = "[memory existing]",
    [MEMORY_CATEGORY] = "[memory category]",
};

struct memory_change_ids memory_change_ids(const struct trace *trace)
{
    struct memory_change_ids ids;
    for (int change = 0; change < MEMORY_CHANGES; change++)
        ids.of[change] =
            names_find(trace->names, memory_change_names[change], strlen(memory_change_names[change]));
    return ids;
}
