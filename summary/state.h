/*
 * state.h - what the parts of summary share: the answers of the analyses it asks, its findings, and the ranks.
 *
 *     summary.c     asks, and shows what was found
 *     rules.c       remarks without a price
 *     findings.c    what to change, with a price: finding_rules.c and finding_work.c look, with what finding_kit.c has,
 *                   finding_places.c says where, pricing.c replays
 *     finding_pipeline.c
 *                   what holds a pipeline up, priced by job/
 *     figures.c     the figures of one screen
 */
#ifndef TPA_SUMMARY_STATE_H
#define TPA_SUMMARY_STATE_H

#include "analyze/comm.h"
#include "analyze/gaps.h"
#include "analyze/gpu.h"
#include "memory/memory.h"
#include "analyze/account.h"
#include "analyze/steps.h"
#include "analyze/transfers.h"

/* What the figures and operators are about, and what rules look at that do not look at devices anyway. */
enum summary_by {
    SUMMARY_BY_ALL,
    SUMMARY_BY_RANK,
    SUMMARY_BY_DEVICE, /* the rules as by rank */
};

enum rule {
    RULE_SLOW_STEP,
    RULE_DATA_PARALLEL,
    RULE_BACKEND,
    RULE_STRAGGLER,
    RULE_TURNS,
    RULE_MEMORY_FULL,
    RULE_MEMORY_GROWS,
    RULES
};

struct finding {
    enum rule rule;
    int64_t rank;
    const char *device; /* "0"; for memory "cuda:0"; NULL: none */
    const char *detail; /* NULL: none */
    const char *advice;
    double share;
    int64_t time_ns, bytes; /* TABLE_INT_MISSING: not about that */
    size_t order;
};

/* Time of a rank, or of one of its devices, that a rule asks about: how much of the whole is at stake. */
struct stake {
    enum rule rule;
    int64_t rank, device; /* TABLE_INT_MISSING: not of a device */
    const char *detail;
    double time_ns, whole_ns; /* for a share; times may be absurd */
    size_t order;
};

/* A rank, whose files, one for each cycle of a profiler, may be several. */
struct summary_rank {
    int64_t rank;
    uint32_t file;   /* the first of them, which stands for all */
    int64_t time_ns; /* how long they are together, as far as they were requested */
};

/* An operator that costs much, of all ranks and devices. */
struct summary_top {
    const char *name; /* in the arena of the summary */
    int64_t time_ns;
    double share; /* of the time of all operators */
    bool named;   /* an operator: no step, no call that launched work, no work whose launch is not recorded */
};

enum { SUMMARY_TOP = 5 };

struct summary {
    const struct trace *trace;
    const struct selection *selection;
    enum summary_by by;
    unsigned features;         /* of the trace: enum trace_feature */
    bool has_frames;           /* Python functions were recorded */
    const struct steps *steps; /* NULL where none are marked */
    const struct account
        *account;            /* of a step; NULL without steps, and of a selection by name, device or stream */
    const struct gpu *gpu;   /* by device; NULL: nothing ran on one, as below */
    const struct gaps *gaps; /* by device, sums only */
    const struct transfers *transfers; /* NULL where nothing ran on a device */
    struct comm *comm;                 /* NULL unless there are several files */
    struct job *job;                   /* of ranks that send each other messages; NULL */
    double
        pipeline_ns; /* what a step takes less without what holds their pipeline up; 0: is not known, or too little */
    struct memory *memory;      /* peaks and steps; NULL where none was recorded */
    struct summary_rank *ranks; /* in order */
    size_t rank_count;
    VEC_OF(struct finding) findings;
    VEC_OF(struct stake) stakes;         /* while the rules look */
    struct summary_top top[SUMMARY_TOP]; /* what summary_add_operators found, the costliest first */
    size_t top_count;
    double top_ns; /* the time of all operators */
    int64_t teardown_ns,
        teardown_longest_ns; /* left out of it: what only released something, behind all else */
    const char *teardown;    /* which of these took longest; NULL: there were none */
    bool top_is_work;        /* they are kernels and copies: no operator is known */
    struct arena arena;      /* texts of findings */
};

/* How long FILE is, as far as it was requested. */
int64_t summary_file_time(const struct summary *summary, uint32_t file);

/* Fill SUMMARY->ranks, to be freed; which of them RANK is, NULL when no file is of it. */
void summary_find_ranks(struct summary *summary);
const struct summary_rank *summary_rank_of(const struct summary *summary, int64_t rank);

/* The steps of SUMMARY; ONLY_DURATIONS: without what they are made of. NULL and ERR where there are none; free with arena_free. */
const struct steps *summary_steps(const struct summary *summary, bool only_durations, struct tpa_error *err);

/* Did ranks send each other messages, as stages of a pipeline do? What they wait for one another is its schedule. */
bool summary_is_pipeline(const struct summary *summary);

/* The first file of RANK; NULL when there is none. */
const struct trace_file *summary_file_of(const struct summary *summary, int64_t rank);

#endif
