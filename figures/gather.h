/*
 * gather.h - the facts of a trace: the data kept of each of its files for the analysis of a whole job.
 *
 *     struct facts *facts = facts_open();
 *     facts_gather(facts, trace, &(struct gather_options){ .job = "pretrain" });
 *     facts_finish(facts);
 */
#ifndef TPA_FIGURES_GATHER_H
#define TPA_FIGURES_GATHER_H

#include "figures/facts.h"
#include "trace/trace.h"

/* The parts of a trace that must be read. */
extern const struct trace_wants gather_wants;

struct gather_options {
    const char *job; /* name of the job; NULL: not recorded */
};

/* Add a recording for each file of TRACE. Time is linear in events except for sorting; call facts_finish afterwards. */
void facts_gather(struct facts *facts, const struct trace *trace, const struct gather_options *options);

#endif
