/*
 * gather.h - the facts of a trace: the data kept of each of its files for the analysis of a whole job.
 *
 *     struct facts *facts = facts_open();
 *     facts_gather(facts, trace, &(struct gather_options){ .job = "pretrain" });
 *     facts_finish(facts);
 */
#ifndef TPA_FIGURES_GATHER_H
#define TPA_FIGURES_GATHER_H

#include "derive/collectives.h"
#include "figures/facts.h"

/* The parts of a trace that must be read. */
extern const struct trace_wants gather_wants;

/* Adds what the rank of each file did as FACTS_OPERATIONS: of tpa job, which knows how. */
struct gather_operations {
    void *(*open)(const struct trace *trace, const struct collectives *collectives);
    /* Add those of FILE, once, to OWN, the facts of its recording, and what is known of them to ROW. */
    void (*add)(void *opened, uint32_t file, struct facts *own, struct facts_recording *row);
    void (*close)(void *opened);
};

struct gather_options {
    const char *job;                            /* name of the job; NULL: not recorded */
    const struct gather_operations *operations; /* NULL: facts without them */
    bool
        only_operations; /* leave out names, and what devices did in steps and until collectives: for tpa job alone */
};

/* Add a recording for each file of TRACE. Time is linear in events except for sorting; call facts_finish afterwards. */
void facts_gather(struct facts *facts, const struct trace *trace, const struct gather_options *options);

#endif
