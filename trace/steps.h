/*
 * steps.h - the steps of a run: what torch.profiler marks as ProfilerStep#N.
 *
 *     struct steps *steps = steps_open(trace);
 *     const struct step *step = steps_at(steps, file, trace->start_ns[e]);   // NULL: in none
 */
#ifndef TPA_TRACE_STEPS_H
#define TPA_TRACE_STEPS_H

#include "trace/trace.h"

struct step {
    uint32_t file;
    int64_t number; /* N of ProfilerStep#N */
    int64_t start_ns, end_ns;
    event_id event;
};

struct steps {
    struct step *at; /* by file and start */
    size_t count, capacity;
};

/* New; free with steps_free (NULL is allowed). */
struct steps *steps_open(const struct trace *trace);
void steps_free(struct steps *steps);

/* Those of TRACE, worked out when first asked for. Borrowed; live as long as TRACE. */
const struct steps *steps_of(const struct trace *trace);

/* The step of FILE that MOMENT lies in, its start included and its end not; NULL when in none. */
const struct step *steps_at(const struct steps *steps, uint32_t file, int64_t moment_ns);

/* Keep of the STEPS of a file that overlap the first, of those that begin together the longest; how many went. */
size_t steps_drop_overlaps(struct steps *steps);

/* When the step at INDEX ends, at the latest as the next of its file begins: so that no moment is of two steps. */
int64_t steps_end_ns(const struct steps *steps, size_t index);

/* Is NAME that of a step, and which number? */
bool step_number(const char *name, int64_t *number);

#endif
