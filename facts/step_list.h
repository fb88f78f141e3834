/*
 * step_list.h - the steps of a run: what torch.profiler marks as ProfilerStep#N, and others by step_name.h or ranges.
 *
 *     struct step_list *steps = step_list_open(trace);
 *     const struct step *step = step_list_at(steps, file, trace_start_ns(trace, e));   // NULL: in none
 */
#ifndef TPA_FACTS_STEP_LIST_H
#define TPA_FACTS_STEP_LIST_H

#include "base/memory.h"
#include "trace/step_name.h"
#include "trace/trace.h"

struct step {
    uint32_t file;
    int64_t number; /* N of ProfilerStep#N, of "train [step N]" */
    int64_t start_ns, end_ns;
    event_id event;
};

struct step_list {
    VEC_OF(struct step); /* by file and start */
};

/* New; free with step_list_free (NULL is allowed). */
struct step_list *step_list_open(const struct trace *trace);
void step_list_free(struct step_list *steps);

/* Those of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
const struct step_list *step_list_of(const struct trace *trace);

/* The step of FILE that MOMENT lies in, its start included and its end not; NULL when in none. */
const struct step *step_list_at(const struct step_list *steps, uint32_t file, int64_t moment_ns);

/* Keep of the STEPS of a file that overlap the first, of those that begin together the longest; how many went. */
size_t step_list_drop_overlaps(struct step_list *steps);

/* When the step at INDEX ends, at the latest as the next of its file begins: so that no moment is of two steps. */
int64_t step_list_end_ns(const struct step_list *steps, size_t index);

/* How the steps of this NUMBER are called, by the first of them; NULL: there are none. Borrowed; lives as long as TRACE. */
const char *step_name_of(const struct trace *trace, int64_t number);

#endif
