/*
 * actions.h - named actions of a program and how long they took in all: what PyTorch Lightning's SimpleProfiler tells.
 *
 * Actions overlap: one may run inside another, so their times do not add up to the run's.
 */
#ifndef TPA_TRACE_ACTIONS_H
#define TPA_TRACE_ACTIONS_H

#include "base/arena.h"
#include "trace/container.h"

struct action {
    const char *name; /* lives as long as the report */
    int64_t mean_ns, total_ns;
    int64_t calls; /* -1: not recorded */
    double share;  /* of the time since the profiler was made; NAN: not recorded */
};

struct action_report {
    const char *stage; /* "FIT", "TEST" ...; "" when not recorded */
    VEC_OF(struct action) actions;
    int64_t total_calls, total_ns; /* of the row "Total"; -1: there was none */
    uint64_t odd_lines;            /* lines that are not rows, and were skipped */
    int64_t odd_offset;            /* of the first one */
    struct sums_origin origin;
    struct arena arena;
};

/* Free REPORT (from mem_zalloc) and all it owns. NULL is allowed. */
void action_report_free(struct action_report *report);

#endif
