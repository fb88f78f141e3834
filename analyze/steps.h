/*
 * steps.h - where the time of each step went, and why the slowest was slow.
 *
 *     struct steps_options options = { .name = NULL };        // the steps of torch.profiler
 *     if (!steps_add_tables(trace, selection, &options, result, &err))
 *         ...                                                      // --step-name is no regular expression
 *
 * Steps are as they ran (device_steps.h). Within a step each moment counts for the first of these that was going on:
 * kernel, memcpy, memset, communication, runtime, data loading, CPU; else for "other". So they add up to the step.
 */
#ifndef TPA_ANALYZE_STEPS_H
#define TPA_ANALYZE_STEPS_H

#include "analyze/selection.h"
#include "base/error.h"
#include "base/result.h"
#include "trace/trace.h"

extern const struct trace_wants steps_wants;

/* What makes a row, or-ed; 0 is STEP_BY_STEP. Without that, the times of the steps that belong together are added up. */
enum step_dimension {
    STEP_BY_STEP = 1,
    STEP_BY_NAME = 2, /* all ranges of a name, which --step-name may give many of */
    STEP_BY_RANK = 4,
    STEP_BY_DEVICE = 8,  /* what goes on there and on the host, whatever other devices do */
    STEP_BY_STREAM = 16, /* likewise */
};

struct steps_options {
    unsigned by;      /* enum step_dimension, or-ed */
    const char *name; /* annotations that match this regular expression are the steps; NULL: ProfilerStep#N */
    bool
        summary_by_rank; /* both tables are in order of the ranks; "summary" has rows for each, and says no slowest step */
};

/* Add the tables "steps" and, about each step as a whole, "summary". False and ERR when the name is no regular expression or nothing matches. */
bool steps_add_tables(const struct trace *trace, const struct selection *selection,
                      const struct steps_options *options, struct result *result, struct tpa_error *err);

#endif
