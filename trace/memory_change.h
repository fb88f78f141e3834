/*
 * memory_change.h - the names of memory records: instants that mark a change in allocated memory.
 *
 * "[memory]" is the framework's own word, and stands for a block that was allocated (its bytes are positive) or freed
 * (negative). Memory timelines know two more changes, which no allocator made.
 */
#ifndef TPA_TRACE_MEMORY_CHANGE_H
#define TPA_TRACE_MEMORY_CHANGE_H

#include "trace/trace.h"

enum memory_change {
    MEMORY_BLOCK,    /* allocated or freed */
    MEMORY_EXISTING, /* was there before recording began */
    MEMORY_CATEGORY, /* a category holds more or less: blocks came or went, or changed into another category */
    MEMORY_CHANGES
};

extern const char *const memory_change_names[MEMORY_CHANGES];

/* The ids of these names in TRACE; NAME_NONE where no event is called so. */
struct memory_change_ids {
    name_id of[MEMORY_CHANGES];
};
struct memory_change_ids memory_change_ids(const struct trace *trace);

/* The kind of memory record E; MEMORY_CHANGES if it is not one. */
static inline enum memory_change memory_change_of(const struct memory_change_ids *ids,
                                                  const struct trace *trace, event_id e)
{
    if (trace->kind[e] != EVENT_INSTANT)
        return MEMORY_CHANGES;
    for (int change = 0; change < MEMORY_CHANGES; change++)
        if (trace->name[e] == ids->of[change])
            return (enum memory_change)change;
    return MEMORY_CHANGES;
}

#endif
