/*
 * rows.h - stage of top: which row an event belongs to, and the figures of the rows while they are added up.
 *
 *     uint32_t row = top_row_of(&rows, e);
 *     if (row != ROW_NONE) {
 *         top_row_count(&rows, row, &(struct top_occurrence){ e, start_ns, end_ns, order });
 *         add_wrapped(&rows.at[row].cpu_ns, duration_ns);
 *     }
 */
#ifndef TPA_ANALYZE_TOP_ROWS_H
#define TPA_ANALYZE_TOP_ROWS_H

#include "analyze/group.h"
#include "analyze/top/events.h"
#include "base/sum.h"
#include "derive/device_types.h"
#include "derive/graph_links.h"

#define ROW_NONE UINT32_MAX

/* What tells rows apart: equal bytes, same row. Parts that are not requested stay 0. */
struct row_key {
    uint32_t name;        /* in top_names.keys */
    uint16_t device_type; /* enum device_type; the host's, too, where a row holds both sides */
    uint16_t is_annotation;
    uint32_t shape, stack, overload, line; /* in top_rows.texts */
    uint32_t group;                        /* of top_rows.group */
};

/* One of the events of a row: when, and what torch's list has before it. */
struct top_occurrence {
    event_id event;
    int64_t start_ns, end_ns;
    uint64_t order;
    bool is_async, has_parent;
};

/* The same figures as torch has them: float64 microseconds, added up in the order torch adds. */
struct top_float_figures {
    double cpu_us, self_cpu_us, device_us, self_device_us;
};

struct row_sums {
    struct row_key key;
    struct top_occurrence first; /* where torch would list it: the first by (file, start, -end, order) */
    int64_t count, cpu_ns, self_cpu_ns, device_ns, self_device_ns;
    int64_t captured; /* operations of graphs that were captured from it */
    int64_t cpu_bytes, self_cpu_bytes, device_bytes, self_device_bytes, flops;
    struct top_float_figures as_torch;
    uint64_t seen;         /* the last kernel that was added, where each counts once */
    node_id covered_until; /* nodes before this one are callees of one that is in the row */
};

/* Where the row of a kind of event follows from its name. */
struct top_named_rows {
    const uint32_t *row_of_key; /* ROW_NONE: not yet. NULL: more than the name tells the row */
    const uint32_t *key_of;     /* by name */
};

struct top_rows {
    const struct top_events *events;
    const struct attribution *launches;
    const struct device_types *types;
    event_id *stack_event;          /* by event: whose stack it is listed under; NULL: its own. Taken */
    const struct code_paths *lines; /* NULL when nobody asks */
    struct group *group;            /* NULL when no dimension of it is requested */
    struct names *texts;            /* of shapes, stacks ... */
    bool several_types;             /* device events of a name may be of several device types */
    VEC_OF(struct row_sums);

    /* How rows are found. */
    struct top_named_rows named[EVENT_KINDS];
    uint32_t *row_of_key[4];         /* by host or device, annotation or not; then by key */
    struct names *composites;        /* struct row_key as bytes; ids are rows */
    uint32_t *shape_of_text;         /* by text id of Input Dims: in texts, +1; 0: not computed yet */
    uint32_t *stack_of_text;         /* the same for Call stack */
    const struct graph_links *links; /* NULL: no capture was given */
    uint32_t *shape_of_captured;     /* by text of the capture: as shape_of_text */
    uint32_t no_shape, nothing;
    struct buffer buffer;
};

/* STACK_EVENT is taken. Release with top_rows_release. */
void top_rows_open(struct top_rows *rows, const struct top_events *events, event_id *stack_event);
void top_rows_release(struct top_rows *rows);

/* As top_row_of, of any event. */
uint32_t top_find_row(struct top_rows *rows, event_id e);

/* The row of event E, which is to be counted there; ROW_NONE when it is counted in no row. */
static inline uint32_t top_row_of(struct top_rows *rows, event_id e)
{
    const struct trace *trace = rows->events->trace;
    const struct top_named_rows *named = &rows->named[trace->kind[e]];
    uint32_t row = named->row_of_key ? named->row_of_key[named->key_of[trace->name[e]]] : ROW_NONE;
    return row != ROW_NONE ? row : top_find_row(rows, e);
}

/*
 * The row of the operator that E, work of a graph launched by CALL, was captured from; ROW_NONE when it is counted in
 * no row of operators.
 */
uint32_t top_row_of_captured(struct top_rows *rows, event_id e, event_id call);

/* Count a call in row INDEX. */
void top_row_count(struct top_rows *rows, uint32_t index, const struct top_occurrence *one);

/*
 * The same of a call that begins at START_NS, where that tells that the row does not begin with it. Else false, and it is not
 * counted.
 */
static inline bool top_row_count_later(struct top_rows *rows, uint32_t index, int64_t start_ns)
{
    struct row_sums *row = &rows->at[index];
    if (row->count == 0 || start_ns <= row->first.start_ns || rows->events->trace->file_count > 1)
        return false;
    row->count++;
    return true;
}

/* Would torch list the row of A before that of B? As compared by qsort. */
int top_compare_first(const struct trace *trace, const struct top_occurrence *a,
                      const struct top_occurrence *b);

/* Do rows hold both what ran on the host and what it launched? */
static inline bool top_rows_hold_both_sides(const struct top_events *events)
{
    return events->by & TOP_BOTH_SIDES && !events->per_call && !(events->by & (TOP_CATEGORY | TOP_THREAD));
}

#endif
