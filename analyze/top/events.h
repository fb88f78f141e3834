/*
 * events.h - first stage of top: the query, and how each event counts. Later stages read it and change nothing.
 *
 *     names.h    what follows from a name
 *     events.h   how each event counts
 *     links.h    which operator launched what, and on which thread torch counts a call
 *     calls.h    who called whom
 *     rows.h     which row an event belongs to
 *     counts.h   the figures of the rows: host, devices, memory; in torch's own arithmetic, too
 *     top.h      all of it in order, and the rows as a table
 */
#ifndef TPA_ANALYZE_TOP_EVENTS_H
#define TPA_ANALYZE_TOP_EVENTS_H

#include "analyze/top/names.h"
#include "derive/async_regions.h"

/* How an event counts. */
enum top_role {
    ROLE_NONE,
    ROLE_CALL,          /* a node of the call tree */
    ROLE_ASYNC,         /* on the host, but on no thread's stack: has a total and nothing else */
    ROLE_DEVICE,        /* on a device */
    ROLE_MEMORY,        /* a [memory] record */
    ROLE_OUT_OF_MEMORY, /* an [OutOfMemory] record: a node without duration */
};

struct top_file {
    bool is_torch; /* torch's rules about threads and regions that were open at the end apply */
    bool has_gpu, counts_flops;
};

struct top_events {
    const struct trace *trace;
    const struct top_options *options;
    unsigned by;   /* set of enum top_dimension, never empty */
    bool per_call; /* rows are named by operators: nested calls of one row all count, as in torch */
    struct top_names names;
    const struct open_regions *open;
    struct top_file *files;
    uint8_t *role;          /* enum top_role, by event */
    VEC_OF(event_id) steps; /* on the host, by their names; in order of the file */
    uint64_t *selected;     /* a bit per event that is in the range or step requested; NULL: all are */
};

/* TRACE and OPTIONS must live as long. Release with top_events_release. */
void top_events_open(struct top_events *events, const struct trace *trace, const struct top_options *options);
void top_events_release(struct top_events *events);

/* Does the selection of OPTIONS choose among events, and not just names? Then it asks what launched them. */
bool top_chooses_events(const struct top_options *options);

/* The role of E in the rows. */
static inline enum top_role top_role(const struct top_events *events, event_id e)
{
    return (enum top_role)events->role[e];
}

/* Is E in the range or step requested? */
static inline bool top_is_selected(const struct top_events *events, event_id e)
{
    return !events->selected || events->selected[e / 64] >> (e % 64) & 1;
}

/* The file of E. */
static inline uint32_t top_file_of(const struct top_events *events, event_id e)
{
    return events->trace->file_count == 1 ? 0 : events->trace->tracks[events->trace->track[e]].file;
}

/* Does the file of E follow torch's rules of counting? */
static inline bool top_is_torch(const struct top_events *events, event_id e)
{
    return events->files[top_file_of(events, e)].is_torch;
}

/* The row key of the name of E: an id of events->names.keys. */
static inline uint32_t top_key_of(const struct top_events *events, event_id e)
{
    name_id name = events->trace->name[e];
    return events->trace->kind[e] == EVENT_OP ? events->names.operator_key_of[name]
                                              : events->names.key_of[name];
}

/* Where E comes in torch's list among events that start and end alike. */
uint64_t top_order(const struct top_events *events, event_id e);

/* Does what E takes count once in a row that has a caller of it, too? */
bool top_counts_once(const struct top_events *events, event_id e);

/* Is E a Python frame (not one of the collector's pauses, which have the same category)? */
bool top_is_frame(const struct top_events *events, event_id e);

#endif
