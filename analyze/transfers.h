/*
 * transfers.h - what was copied between host and devices, how fast, and who had to wait for it.
 *
 *     const struct transfers *transfers = transfers_analyze(trace, selection, BY(DEVICE));
 *     for (size_t i = 0; i < transfers->stalls.count; i++)
 *         blocked_ns += transfers->stalls.at[i].blocked_ns;
 *     transfers_free(transfers);
 */
#ifndef TPA_ANALYZE_TRANSFERS_H
#define TPA_ANALYZE_TRANSFERS_H

#include "analyze/analysis.h"
#include "facts/copy_names.h"
#include "facts/host_waits.h"

extern const struct trace_wants transfers_wants;

#define TRANSFERS_BY_DEFAULT BY(DEVICE)

/* Copies of one group, direction and kind of host memory. Times in ns; a bandwidth is in bytes per ns, which are GB/s. */
struct transfer_row {
    struct group_key key;
    struct copy_kind kind;
    struct text direction, memory; /* its words; memory is missing where no side is the host's */
    int64_t count, bytes;
    int64_t time_ns;    /* durations added up */
    int64_t union_ns;   /* when one of them ran; of several devices added up */
    int64_t exposed_ns; /* of the union, when no kernel ran on the device */
    int64_t blocked_ns; /* host threads waited for one of them */
    double bandwidth, median_bandwidth, best_bandwidth; /* NaN where no copy tells its size and took time */
};

/* Calls of one operator and line in which host threads waited for the same reason. */
struct stall_row {
    int64_t rank;     /* missing unless ranks make rows */
    struct text op;   /* the operator; where there is none the call */
    struct text line; /* of Python; missing where stacks were not recorded */
    struct text call;
    enum host_wait_kind kind;
    struct copy_kind copy;     /* of the copy; zero where none is part of it */
    struct text cause, advice; /* of the kind, in words */
    struct text transfer;      /* direction and host memory of the copy; missing where none is part of it */
    int64_t count, blocked_ns, longest_ns;
    int64_t saving_ns; /* what the calls took beyond launch_ns each: an upper bound */
    int64_t bytes;     /* of the copies; missing where there is none */
};

struct transfers {
    VEC_OF(struct transfer_row) rows; /* the most time first */
    VEC_OF(struct stall_row) stalls;  /* the longest first */
    int64_t blocked_ns;               /* of all stalls */
    int64_t launch_ns;                /* what a launch takes: launch_calls_median_ns */
    struct transfers *own;            /* to be freed; NULL: it is kept with the trace */
    struct group *group;
    struct arena texts;
};

/*
 * The copies of SELECTION, by direction, host memory and BY; and the stalls, whose ranks are distinguished if BY holds
 * the rank. Texts live as long as the answer and TRACE. Give back with transfers_free (NULL is allowed): of all of TRACE, by
 * default, it is computed once and kept with TRACE.
 */
const struct transfers *transfers_analyze(const struct trace *trace, const struct selection *selection,
                                          unsigned by);
void transfers_free(const struct transfers *transfers);

#endif
