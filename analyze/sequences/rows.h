/* rows.h - what `tpa sequences` answers; sequences.h works it out. */
#ifndef TPA_ANALYZE_SEQUENCES_ROWS_H
#define TPA_ANALYZE_SEQUENCES_ROWS_H

#include "analyze/group.h"

enum {
    SEQUENCE_LEAST = 2, /* operations of a chain that repeats */
    SEQUENCE_MOST = 16,
    SEQUENCE_PAUSE_NS = 1000000, /* a chain goes over no longer pause */
    GRAPH_WORK_NS = 1000,        /* idle time before each operation that a graph leaves */
};

/* A chain that occurs at least twice on a stream; occurrences do not overlap. */
struct repeat_row {
    int64_t rank, cycle, device, stream; /* cycle: missing if no rank has several */
    int64_t count, length;               /* occurrences; operations of each */
    int64_t every; /* least number of operations from the start of an occurrence to that of the next */
    int64_t work_ns,
        gaps_ns; /* of all occurrences: durations; from the end of an operation to the start of the next */
    int64_t start_ns;              /* of the first occurrence, from the origin of the file */
    int64_t alike;                 /* chains left out, which lie shifted over this one; missing with ALL */
    struct text operations, names; /* in few words; whole, with " | " between */
};

/* What short operations in a row come to in a group. Idle time before an operation is of the group of that work. */
struct short_row {
    struct group_key key;
    int64_t runs;                         /* with at least one operation of the group */
    int64_t operations, work_ns, idle_ns; /* idle time of the device between them */
    int64_t host_ns, device_ns,
        late_ns; /* of it: the launch was late, the work was queued, the launch is unknown */
};

/* A run of short operations. */
struct run_row {
    int64_t rank, cycle, device, stream, start_ns, operations, work_ns, idle_ns, host_ns, device_ns, late_ns;
    int64_t not_queued;      /* operations that were launched after the stream had run empty */
    int64_t gain_ns;         /* of a CUDA graph, at most; missing where fewer than half were not queued */
    struct text first, last; /* operators; without one the work */
};

/* Chains of operations that could be one, of equal names below one operator. */
struct fusion_row {
    struct text op; /* outermost operator that launched the first; missing when it is unknown */
    int64_t count, length, work_ns, gaps_ns;
    int64_t host_ns, device_ns; /* of the gaps: the launch was late; all others */
    int64_t bytes;   /* tensors that one wrote and the next read; missing where no sizes were recorded */
    int64_t gain_ns; /* at most */
    struct text operations, names;
};

/* What the outermost calls of the operator requested launched. */
struct pattern_row {
    struct text op;
    int64_t count, length, device_ns, host_ns;
    struct text operations, names;
};

/* An operation that could be part of the one before it, of a chain that the fusions add up. */
struct fused_work {
    uint32_t work;    /* place in gpu_events */
    int64_t saved_ns; /* at most, of writing and reading what lies between */
};

struct sequence_options {
    int64_t short_ns; /* operations shorter than this are short */
    int64_t least;    /* operations of a run */
    bool all;         /* every chain that repeats, not one for those that lie shifted over each other */
    const char *op;   /* name of an operator or regular expression for all of one; NULL: no patterns */
};

struct sequences {
    VEC_OF(struct repeat_row) repeats;   /* most time in gaps first */
    VEC_OF(struct short_row) shorts;     /* most idle time first */
    VEC_OF(struct run_row) runs;         /* largest gain first, then most idle time */
    VEC_OF(struct fusion_row) fusions;   /* largest gain first */
    VEC_OF(struct pattern_row) patterns; /* by operator, then the most often first */
    struct short_row total;
    int64_t graphs, graph_gain_ns; /* runs for a CUDA graph, and their gains */
    int64_t fusion_gain_ns;
    VEC_OF(struct fused_work) fused; /* stream after stream, by start */
    int64_t nameless;                /* rows without whole names, which would take too much memory */
    int64_t left_out;                /* chains that repeat beyond those that the rows have room for */
    int64_t unlinked; /* operations whose call is not in the file: what made the gap before them is unknown */
    unsigned by;
    struct group *group;
};

#endif
