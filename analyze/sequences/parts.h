/*
 * parts.h - what the files of analyze/sequences share.
 *
 *     struct stream_operations *operations = stream_operations_open(trace, selection, by_steps);
 *     for (size_t s = 0; s < operations->streams.count; s++)
 *         for (size_t i = operations->streams.at[s].first; ...)
 *             ...
 *     arena_free(operations);
 */
#ifndef TPA_ANALYZE_SEQUENCES_PARTS_H
#define TPA_ANALYZE_SEQUENCES_PARTS_H

#include "analyze/selection.h"
#include "analyze/sequences/rows.h"
#include "derive/gpu_events.h"

/* Why a stream had nothing to do before an operation. */
enum late_because {
    LATE_DEVICE,  /* the work was queued already, or is of the same graph */
    LATE_HOST,    /* its call began after all before it on the stream had ended */
    LATE_UNKNOWN, /* its call is not in the file */
    LATE_CAUSES
};

/* Of each operation only what is not the trace's: they are most of the memory of a large one. */
struct stream_work {
    uint32_t position; /* in gpu_events */
    uint8_t because;   /* enum late_because */
    bool alone;  /* does not follow the work before it: that is of another stream, step, or not selected */
    bool paused; /* no chain reaches over the gap before it: ALONE, or too long */
};

struct operations_of_stream {
    uint32_t device; /* of gpu_events.devices */
    track_id track;
    size_t first, count; /* of stream_operations.at */
};

struct stream_operations {
    const struct trace *trace;
    const struct gpu_events *gpu;
    struct stream_work *at; /* stream after stream, by start */
    size_t count;
    VEC_OF(struct operations_of_stream) streams;
};

/* The operations of SELECTION; with BY_STEPS those of different steps do not follow each other. New; free with
 * arena_free. */
struct stream_operations *stream_operations_open(const struct trace *trace, const struct selection *selection,
                                                 bool by_steps);

/* The event of an operation, a kernel, copy or memset. */
static inline event_id work_event(const struct stream_operations *operations, const struct stream_work *work)
{
    return operations->gpu->event[work->position];
}

/* The call that launched it; EVENT_NONE: it is not in the file. */
static inline event_id work_call(const struct stream_operations *operations, const struct stream_work *work)
{
    return operations->gpu->call[work->position];
}

/* The operator that did; EVENT_NONE: none is known. */
static inline event_id work_op(const struct stream_operations *operations, const struct stream_work *work)
{
    return operations->gpu->op[work->position];
}

/* Its start, end and duration, as trace_start_ns and others: the next three functions. */
static inline int64_t work_start_ns(const struct stream_operations *operations,
                                    const struct stream_work *work)
{
    return trace_start_ns(operations->trace, work_event(operations, work));
}

static inline int64_t work_end_ns(const struct stream_operations *operations, const struct stream_work *work)
{
    return trace_end_ns(operations->trace, work_event(operations, work));
}

static inline int64_t work_dur_ns(const struct stream_operations *operations, const struct stream_work *work)
{
    return trace_dur_ns(operations->trace, work_event(operations, work));
}

/* From the end of the work before to its start; 0 when that is later, and where ALONE. */
static inline int64_t work_gap_ns(const struct stream_operations *operations, const struct stream_work *work)
{
    if (work->alone)
        return 0;
    int64_t gap_ns = work_start_ns(operations, work) - work_end_ns(operations, work - 1);
    return gap_ns > 0 ? gap_ns : 0;
}

/* When each device was busy. New; free with arena_free. */
struct busy_time *busy_times_open(const struct stream_operations *operations);

/* Time within [START, END) in which DEVICE of BUSY had no work. Ask in the order of time. */
int64_t busy_times_idle_ns(struct busy_time *busy, uint32_t device, int64_t start_ns, int64_t end_ns);

/* Rank of the file, and numbers of device and stream, of the operations of STREAM. */
void stream_operations_place(const struct stream_operations *operations,
                             const struct operations_of_stream *stream, int64_t *rank, int64_t *device,
                             int64_t *number);

/* The outermost operators of a trace, thread after thread by start: those that lie in no other of them. Names is by
 * name_id: which take part; NULL: all. */
struct outer_operators {
    event_id *at;
    size_t count;
    size_t *first; /* by track, and one more */
    size_t *near;  /* by track: where was searched last */
};

/* They live as long as ARENA, those of all names as long as TRACE. NAMES is not needed afterwards. */
struct outer_operators outer_operators_open(const struct trace *trace, const bool *names,
                                            struct arena *arena);

/* Index of the one that was open when CALL began, on its thread; SIZE_MAX when none was. Ask in the order of time. */
size_t outer_operator_of(struct outer_operators *outer, const struct trace *trace, event_id call);

/* Readable names of operations, each computed once. */
struct work_words {
    const struct trace *trace;
    struct arena *texts;      /* of what is returned */
    struct text *full, *word; /* by name_id; AT is NULL: not yet */
    size_t bytes;             /* of the texts returned */
    int64_t left_out;         /* texts that were not made, as they would be more than memory should hold */
};

/* New; TRACE and TEXTS must outlive it and what it returns. Free with arena_free. */
struct work_words *work_words_open(const struct trace *trace, struct arena *texts);

/* The names of COUNT operations in few words: without arguments and namespaces, equal neighbours once: "fill x3, copy". */
struct text operations_in_few_words(struct work_words *words, const name_id *names, size_t count);

/* The same whole, demangled, with " | " between; AT is NULL when left out. */
struct text operations_in_full(struct work_words *words, const name_id *names, size_t count);

/* Each adds its rows to SEQUENCES. ONLY_GAINS: no rows, what graphs gain alone. */
void sequences_add_repeats(struct sequences *sequences, const struct stream_operations *operations,
                           struct work_words *words, bool all);
void sequences_add_runs(struct sequences *sequences, const struct stream_operations *operations,
                        const struct sequence_options *options, bool only_gains);
void sequences_add_fusions(struct sequences *sequences, const struct stream_operations *operations,
                           struct work_words *words);

/* False and ERR when no operator is called OP, a name or a regular expression. */
bool sequences_add_patterns(struct sequences *sequences, const struct stream_operations *operations,
                            struct work_words *words, const char *op, struct tpa_error *err);

#endif
