/*
 * gather.h - the facts of a trace: what is kept of each of its files for answers about a whole job.
 *
 *     struct facts *facts = facts_open();
 *     facts_gather(facts, trace, &(struct gather_options){ .job = "pretrain" });
 *     facts_finish(facts);
 */
#ifndef TPA_FLEET_GATHER_H
#define TPA_FLEET_GATHER_H

#include "fleet/facts.h"
#include "trace/trace.h"

/* What must have been read of a trace. */
extern const struct trace_wants gather_wants;

struct gather_options {
    const char *job; /* name of the job; NULL: not recorded */
};

/* Add a recording for each file of TRACE. Linear in events except sorting; facts_finish is needed afterwards. */
void facts_gather(struct facts *facts, const struct trace *trace, const struct gather_options *options);

#endif
