/*
 * teardown.h - calls that only release what a program held, behind all else in a recording.
 *
 *     const struct teardown *teardown = teardown_of(trace);
 *     for (size_t i = 0; i < teardown->count; i++)
 *         own_ns[trace->name[teardown->at[i].call]] -= teardown->at[i].own_ns;   // what is left is the job's
 *
 * A program ends once, and its steps do not: TFE_DeleteTensorHandle, cudaFree or destroy_process_group that begin when nothing else
 * begins any more tell nothing of how fast it is. Calls within a step are the job's.
 */
#ifndef TPA_DERIVE_TEARDOWN_H
#define TPA_DERIVE_TEARDOWN_H

#include "trace/trace.h"

struct teardown_call {
    event_id call;
    int64_t own_ns; /* without what it calls */
};

struct teardown {
    VEC_OF(struct teardown_call); /* by event */
};

/* Those of TRACE, derived when first requested. Borrowed; live as long as TRACE. */
const struct teardown *teardown_of(const struct trace *trace);

bool teardown_holds(const struct teardown *teardown, event_id call);

/* Is NAME that of a call that releases something? */
bool teardown_releases(const char *name);

#endif
