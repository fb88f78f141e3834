/*
 * transfers.h - copies between host and devices, their bandwidth, and who waited for them.
 *
 *     const struct transfers *transfers = transfers_analyze(trace, selection, BY(DEVICE));
 *     for (size_t i = 0; i < transfers->stalls.count; i++)
 *         blocked_ns += transfers->stalls.at[i].blocked_ns;
 *     arena_free(transfers);
 */
#ifndef TPA_ANALYZE_TRANSFERS_H
#define TPA_ANALYZE_TRANSFERS_H

#include "analyze/analysis.h"
#include "derive/copy_names.h"
#include "derive/advice.h"
#include "derive/host_waits.h"

extern const struct trace_wants transfers_wants;

#define TRANSFERS_BY_DEFAULT BY(DEVICE)

/* Copies of one group, direction and kind of host memory. Times in ns; a bandwidth is in bytes per ns, which are
 * GB/s. */
struct transfer_row {
    struct group_key key;
    struct copy_kind kind;
    struct text direction, memory; /* as words; memory is missing if neither side is the host */
    int64_t count, bytes;
    int64_t time_ns;    /* durations added up */
    int64_t union_ns;   /* time in which one of them ran; several devices added up */
    int64_t exposed_ns; /* part of the union in which no kernel ran on the device */
    int64_t blocked_ns; /* time in which host threads waited for one of them */
    /* NaN if no copy has a recorded size and nonzero time */
    double bandwidth, median_bandwidth, best_bandwidth;
};

/* Calls of one operator and line in which host threads waited for the same reason. */
struct stall_row {
    int64_t rank;     /* missing unless rows are by rank */
    struct text op;   /* the operator; without one, the call */
    struct text line; /* of Python; missing if stacks were not recorded */
    struct text call;
    enum host_wait_kind kind;
    struct copy_kind copy;     /* zero if no copy is involved */
    struct text cause, advice; /* of the kind of wait, as text */
    struct code_change code;   /* what to change */
    struct text transfer;      /* direction and host memory of the copy; missing if none is involved */
    int64_t count, blocked_ns, longest_ns;
    int64_t
        saving_ns; /* time of the calls beyond launch_ns each: an upper bound; nothing of waits at an end of the recording */
    int64_t communication_ns; /* of blocked_ns, in waits for communication */
    int64_t
        queued_ns; /* of blocked_ns, while its device was idle though work was queued: nothing of that is saved */
    int64_t bytes; /* of the copies; missing if there is none */
};

struct transfers {
    VEC_OF(struct transfer_row) rows; /* largest time first */
    VEC_OF(struct stall_row) stalls;  /* the longest first */
    int64_t blocked_ns;               /* of all stalls */
    int64_t launch_ns;                /* time of a launch: launch_calls_median_ns */
    struct group *group;
};

/* The copies of SELECTION, by direction, host memory and BY; and the stalls, whose ranks are distinguished if BY holds
 * the rank. Texts live as long as the result and TRACE. Release with arena_free (NULL is allowed); the result for
 * all of TRACE, by default, is computed once and cached with TRACE. */
const struct transfers *transfers_analyze(const struct trace *trace, const struct selection *selection,
                                          unsigned by);

#endif
