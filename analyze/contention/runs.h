/* runs.h - the executions of kernels, as contention.c compares them. */
#ifndef TPA_ANALYZE_CONTENTION_RUNS_H
#define TPA_ANALYZE_CONTENTION_RUNS_H

#include "analyze/contention/beside.h"
#include "analyze/selection.h"

/* An execution of a kernel that does not communicate. There are many: the order of the fields leaves no gaps. */
struct run {
    int64_t start_ns, duration_ns;
    int64_t any_ns;       /* time beside anything */
    double level;         /* of its step: what its duration is divided by, to compare places */
    uint32_t position;    /* of gpu_events.event */
    uint32_t device;      /* of gpu_events.devices */
    uint32_t kernel;      /* id of device and name */
    uint32_t cell;        /* id of what makes executions alike */
    uint32_t nth;         /* of its name in the operator call */
    uint32_t place;       /* of the cell in its step */
    event_id owner;       /* the operator or call that launched it; EVENT_NONE */
    name_id name, before; /* BEFORE: of the work before it on its stream */
    int32_t step;         /* index into the steps; -1: in none */
    uint32_t first_overlap;
    uint32_t overlaps : 30; /* of contention_runs.overlaps */
    bool has_launch : 1;    /* are grid and block recorded? */
    bool has_shapes : 1;
};

/* The time that a run spent beside a class. */
struct overlap {
    uint32_t class;
    int64_t ns;
};

struct contention_runs {
    VEC_OF(struct run) runs; /* by kernel, cell and start */
    VEC_OF(struct overlap) overlaps;
    VEC_OF(bool) has_steps;  /* by file */
    VEC_OF(int64_t) tick_ns; /* by file: resolution of its clock */
};

/* The runs of SELECTION with what ran beside them. Release with contention_runs_release. */
struct contention_runs contention_runs_collect(const struct beside *beside,
                                               const struct selection *selection);
void contention_runs_release(struct contention_runs *all);

/* Did it run alone: beside anything for at most 1 % of its duration? */
static inline bool run_is_alone(const struct run *run)
{
    return run->any_ns * 100 <= run->duration_ns;
}

#endif
