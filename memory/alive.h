/*
 * alive.h - memory in use at a moment, by the code that allocated it.
 *
 *     struct alive alive;
 *     alive_find(replay, replay->allocated.peak_entry, ALIVE_BY_LINE, &alive);
 *     for (size_t i = 0; i < alive.rows.count; i++)
 *         printf("%s %lld\n", alive.rows.at[i].name, alive.rows.at[i].bytes);
 *     alive_release(&alive);
 *
 * Memory from before recording began without a stack is a separate row, "[before recording]"; later allocations without
 * one are "[no frames]".
 */
#ifndef TPA_MEMORY_ALIVE_H
#define TPA_MEMORY_ALIVE_H

#include "memory/allocator_history.h"

enum alive_by {
    ALIVE_BY_LINE,       /* snapshot_user_frame */
    ALIVE_BY_STACK,      /* all frames, innermost first, with " <- " between them */
    ALIVE_BY_ANNOTATION, /* the innermost user scope in which it was allocated; needs times */
    ALIVE_BY_CATEGORY,   /* parameter, gradient ...; recorded by _profile_to_snapshot */
    ALIVE_BY_POOL,
    ALIVE_BY_STREAM,
    ALIVE_BY_CONTEXT, /* of torch.compile: the number of the graph */
    ALIVE_BY_METADATA,
    ALIVE_BY_COUNT
};

extern const char alive_before_recording[], alive_no_frames[];

struct alive_row {
    const char *name; /* in the arena */
    size_t length;
    stack_id stack; /* of the largest block; STACK_NONE: none */
    int64_t bytes;  /* requested */
    int64_t count;
};

struct alive {
    VEC_OF(struct alive_row) rows; /* by bytes, then by name */
    int64_t bytes, count;
    int64_t before_bytes, before_count; /* part of these from before recording began */
    struct arena arena;
};

/* Find the memory allocated after ENTRY (HISTORY_BEFORE_FIRST .. the last). Release with alive_release. */
void alive_find(const struct allocator_history *replay, int64_t entry, enum alive_by by, struct alive *alive);
void alive_release(struct alive *alive);

/* ---- for other aggregations of lives ---- */

/*
 * Names of lives: dense ids, equal for equal names. Computed once per replay, because every stack is visited.
 */
struct life_names {
    const struct allocator_history *replay;
    enum alive_by by;
    uint32_t *of_stack;    /* for line and stack: by stack, for those of the device */
    uint32_t *of_life;     /* else: by life */
    struct names *names;   /* the texts */
    uint32_t before, none; /* "[before recording]" and "[no frames]" */
};
void life_names_open(const struct allocator_history *replay, enum alive_by by, struct life_names *names);
void life_names_release(struct life_names *names);

/* New, free with free(): by stack, does an entry or a life of REPLAY have it? A device has few of all stacks. */
bool *allocator_history_stacks(const struct allocator_history *replay);

/* The name of life number LIFE, as an id of names->names. */
uint32_t life_name(const struct life_names *names, size_t life);

/* "a:1:f <- b:2:g": the frames of STACK, innermost first, appended to OUT. */
struct buffer;
void snapshot_stack_text(const struct snapshot *snapshot, stack_id stack, struct buffer *out);

#endif
