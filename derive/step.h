/* step.h - a step of a run, for the ways to find them (step_list.h, step_infer.h). */
#ifndef TPA_DERIVE_STEP_H
#define TPA_DERIVE_STEP_H

#include "trace/trace.h"

/* The evidence for a step. */
enum step_evidence {
    STEP_IS_MARKED,
    STEP_BY_OPTIMIZER, /* inferred: see step_infer.h */
    STEP_BY_LOADER,
    STEP_BY_REPETITION,
};

struct step {
    uint32_t file;
    int64_t number; /* N of ProfilerStep#N, of "train [step N]" */
    int64_t start_ns, end_ns;
    event_id event;  /* the range that marks it; of an inferred one its first event */
    bool of_devices; /* only devices mark it: step_name_is_of_devices */
    enum step_evidence evidence;
    const char *name; /* of an inferred one; lives as long as the trace. NULL: that of EVENT */
};

/* "ProfilerStep#3", "inferred [step 3]". Lives as long as TRACE. */
static inline const char *step_text(const struct trace *trace, const struct step *step)
{
    return step->name ? step->name : trace_name(trace, step->event);
}

struct step_list {
    VEC_OF(struct step); /* by file and start */
};

#endif
