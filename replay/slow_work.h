/*
 * slow_work.h - the device work of operators that run far below what their device could, and how much of it there is.
 *
 *     const struct slow_work *slow = slow_work_of(trace);
 *     for (size_t i = 0; i < slow->count; i++)
 *         editing_scale_work(editing, slow->work[i], slow->factor[i]);
 *
 * That is what analyze/roofline.h tells, without its calls, which take six times the memory.
 */
#ifndef TPA_REPLAY_SLOW_WORK_H
#define TPA_REPLAY_SLOW_WORK_H

#include "trace/trace.h"

struct slow_work {
    uint32_t *work; /* places in gpu_events, ascending */
    double *factor; /* of its time, with which its operator would reach SHARE */
    size_t count;
    bool rated; /* else what the devices can do at most is unknown */
    int64_t slow_ns,
        time_ns; /* of operators below ROOFLINE_SLOW on devices whose peak is known; of all work */
    char *
        slowest; /* of these, what could win most: "aten::mm [[8, 8], [8, 8]], mostly bound by memory"; "": nothing is slow */
};

/* Where operators do not reach SHARE of the peak. New; free with slow_work_free (NULL is allowed). */
struct slow_work *slow_work_open(const struct trace *trace, double share);
void slow_work_free(struct slow_work *slow);

/* Those of TRACE that do not reach ROOFLINE_SLOW, computed when first requested. Borrowed; live as long as TRACE. */
const struct slow_work *slow_work_of(const struct trace *trace);

#endif
