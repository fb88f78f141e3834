/*
 * counts.h - last stages of top: the figures of the rows.
 *
 * Every host event is a node of its thread's call tree. Its duration goes to its row's total and self time, and is taken
 * from the self time of its parent's row; so rows are summed without a figure per event. A kernel's duration goes to its own
 * row, to the self time of the operator that launched it, and up the chain of parents to everybody's total.
 */
#ifndef TPA_ANALYZE_TOP_COUNTS_H
#define TPA_ANALYZE_TOP_COUNTS_H

#include "analyze/top/calls.h"
#include "analyze/top/launched.h"
#include "derive/unlinked_work.h"
#include "trace/time_scan.h"

/* GPU work of which something is to be said. */
struct top_work {
    uint64_t count;
    int64_t total_ns;
};

/* The figures of the notes below the table. */
struct top_counts {
    struct top_work unlinked, graph;          /* without operator, out of graphs */
    struct top_work callless[UNLINKED_SORTS]; /* without call, by why */
    struct top_work lost;                     /* of operators that were folded */
    struct top_work waits;  /* of streams: in the time of devices, as in torch, though they are no work */
    uint64_t moved_calls;   /* counted on the thread that stopped the profiler */
    uint64_t unfinished;    /* regions that were open at the end */
    uint64_t guessed_async; /* regions treated as asynchronous by their names */
    uint64_t forked;        /* functions that torch.jit.fork started */
    uint64_t lookalikes;    /* runtime calls that got kernels by their number, as torch up to 2.14 has it */
    int64_t self_device_ns; /* of all rows on devices that are not annotations */
    bool has_device, has_memory, has_flops;
};

/* Host time, calls and floating-point operations. Finds the row of each node. */
void top_count_host(struct top_rows *rows, struct top_calls *calls, struct top_counts *counts);

/* A gpu_user_annotation as long as the work it covers; Kineto writes it wider. */
struct narrowed {
    event_id event;
    int64_t start_ns, end_ns;
};

struct narrowings {
    VEC_OF(struct narrowed); /* by event */
};

/* Undo Kineto's widening of annotations on streams. Release with VEC_FREE. */
struct narrowings top_narrow_annotations(const struct top_events *events);

/* Set *START_NS and *END_NS of E; *NEXT, 0 at first, only grows: events are queried in order. */
static inline void top_device_time(struct time_scan *times, const struct narrowings *narrowings, size_t *next,
                                   event_id e, int64_t *start_ns, int64_t *end_ns)
{
    size_t at = time_scan_at(times, e);
    *start_ns = times->start_ns[at];
    *end_ns = times->start_ns[at] + times->dur_ns[at];
    while (*next < narrowings->count && narrowings->at[*next].event < e)
        ++*next;
    if (*next < narrowings->count && narrowings->at[*next].event == e) {
        *start_ns = narrowings->at[*next].start_ns;
        *end_ns = narrowings->at[*next].end_ns;
    }
}

/* Device time: of the rows of devices, and of the calls that launched the work. After top_count_host. */
void top_count_devices(struct top_rows *rows, const struct top_calls *calls, const struct top_links *links,
                       const struct top_launched *launched, const struct narrowings *narrowings,
                       struct top_counts *counts);

/*
 * Memory that calls allocated less what they freed. What calls have is found beside what devices have, once host time is counted:
 * it writes to nothing but MEMORY. Release with top_memory_release.
 *
 *     struct top_memory memory;
 *     top_memory_find(&memory, calls, events, row_count);
 *     top_count_memory(rows, calls, &memory, counts, leftovers);
 *     top_memory_release(&memory);
 */
struct top_bytes {
    int64_t cpu, device, self_cpu, self_device;
};

struct top_memory {
    const struct top_events *events;
    const struct top_calls *calls;
    struct memory_records *files; /* the records, by file; NULL: there are none */
    struct top_bytes *of_rows;    /* of the calls of each of the ROW_COUNT rows that are there */
    size_t row_count;
};

/* Find the bytes of the calls of each of ROW_COUNT rows. CALLS and EVENTS must outlive MEMORY; release with
 * top_memory_release. */
void top_memory_find(struct top_memory *memory, const struct top_calls *calls,
                     const struct top_events *events, size_t row_count);
void top_memory_release(struct top_memory *memory);

/*
 * Add what was found to the rows. A record in no call has a row of its own: LEFTOVERS (NULL: not wanted) gets its bit, by
 * event.
 */
void top_count_memory(struct top_rows *rows, struct top_memory *memory, struct top_counts *counts,
                      uint64_t *leftovers);

/* Times in torch's own arithmetic. After all others; they say which rows there are. */
void top_sum_as_torch(struct top_rows *rows, const struct top_calls *calls, const struct top_links *links,
                      const struct narrowings *narrowings, const uint64_t *leftovers);

#endif
