/*
 * steps.h - where the time of each step went, and why the slowest was slow.
 *
 *     struct steps *steps = steps_analyze(trace, selection, &(struct steps_options){ 0 }, &err);
 *     if (!steps)
 *         ...                                              // --step-name is not a regular expression, or nothing matches
 *     for (size_t i = 0; i < steps->count; i++)
 *         printf("%" PRId64 "\n", steps->at[i].part_ns[STEP_KERNEL]);
 *     steps_free(steps);
 *
 * Steps are as they ran (device_steps.h). Within a step each moment counts for the first of these that was going on:
 * kernel, memcpy, memset, communication, runtime, data loading, CPU; else for "other". So they add up to the step.
 */
#ifndef TPA_ANALYZE_STEPS_H
#define TPA_ANALYZE_STEPS_H

#include "analyze/analysis.h"
#include "base/memory.h"

extern const struct trace_wants steps_wants;

/* In order of precedence. */
enum step_part {
    STEP_KERNEL, /* one that does not communicate */
    STEP_MEMCPY,
    STEP_MEMSET,
    STEP_COMMUNICATION, /* a kernel that communicates, or a collective on the host */
    STEP_RUNTIME,       /* a call of the runtime or driver */
    STEP_DATA_LOADING,
    STEP_CPU, /* an operator, or an annotation */
    STEP_OTHER,
    STEP_PARTS
};

/* What makes a row besides BY(RANK), BY(DEVICE), BY(STREAM) and BY(STEP): all steps of a name. */
#define STEPS_BY_NAME BY_OWN(0)

/* A step, or several that are added up. */
struct step_row {
    uint32_t file;
    int64_t rank, device, stream; /* TABLE_INT_MISSING: of all devices, of all streams */
    struct text name;             /* "ProfilerStep#3"; "(all)" for a file without steps */
    int64_t start_ns;             /* from the origin of the file */
    int64_t duration_ns;          /* work on devices included: what the next add up to */
    int64_t part_ns[STEP_PARTS];
    int64_t gpu_events;        /* that it launched; TABLE_INT_MISSING of one device or stream */
    int64_t host_duration_ns;  /* of its range on the host */
    bool complete;             /* recorded to its end */
    int64_t count, average_ns; /* how many steps are added up, and their mean duration */
};

/* Over complete steps. */
struct step_figures {
    int64_t average_ns, median_ns, stddev_ns, min_ns, max_ns;
    int64_t slowest_ns, difference_ns; /* in the slowest step; that less the median */
    double share;                      /* of the time of these steps; NaN where they took none */
};

/* The complete steps of a rank, or of all. */
struct steps_summary {
    int64_t rank; /* TABLE_INT_MISSING: of all */
    int64_t complete;
    int64_t total_ns; /* their durations added up */
    struct text slowest;
    enum step_part
        because; /* where the slowest is most above the median; STEP_PARTS: nowhere, or it is the only one */
    struct step_figures step, part[STEP_PARTS];
};

typedef VEC_OF(struct step_row) step_rows;

struct steps {
    VEC_OF(struct step_row); /* the rows requested */
    step_rows each;          /* every step as a whole; with steps_options.by_rank by rank */
    VEC_OF(struct steps_summary)
    summaries;                 /* of all: none without a complete step; with by_rank of each rank */
    enum step_part first_part; /* the trace can have nothing of the parts before it */
    unsigned by;
    bool several_ranks;
    /* For notices: */
    const char *no_steps;            /* none are marked, and each file is one: how to mark them; else NULL */
    bool no_devices;                 /* rows of devices were requested, and there are none */
    int64_t overlapping, incomplete; /* steps left out, and those at the end that were cut */
    int64_t left_out;                /* devices or streams, where rows would be too many */
    struct steps *own;               /* to be freed; NULL: it is kept with the trace */
};

struct steps_options {
    unsigned by;      /* BY(RANK), BY(DEVICE), BY(STREAM), BY(STEP), STEPS_BY_NAME, or-ed; 0: BY(STEP) */
    const char *name; /* annotations that match this regular expression are the steps; NULL: ProfilerStep#N */
    bool by_rank;     /* a summary for each rank instead of one */
};

/* NULL and ERR when the name is not a regular expression or nothing matches. Texts are borrowed from TRACE. Give back with
 * steps_free (NULL is allowed): of all of TRACE, without options, they are computed once and kept with TRACE. */
const struct steps *steps_analyze(const struct trace *trace, const struct selection *selection,
                                  const struct steps_options *options, struct tpa_error *err);
void steps_free(const struct steps *steps);

/* "Kernel", "Comm." ... as in tables and charts; its key. */
const char *step_part_title(enum step_part part);
const char *step_part_key(enum step_part part);

/* Add the tables "steps" and, about whole steps, "summary", and notices. */
void steps_add_result(const struct steps *steps, struct result *result);

#endif
