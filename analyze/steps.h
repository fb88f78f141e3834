/*
 * steps.h - where the time of each step went, and why the slowest was slow.
 *
 *     struct steps *steps = steps_analyze(trace, selection, &(struct steps_options){ 0 }, &err);
 *     if (!steps)
 *         ...                                              // --step-name is not a regular expression, or nothing
 *                                                          matches
 *     for (size_t i = 0; i < steps->count; i++)
 *         printf("%" PRId64 "\n", steps->at[i].part_ns[STEP_KERNEL]);
 *     arena_free(steps);
 *
 * Steps are as they ran (device_steps.h). Within a step each moment counts for the first of these that was active:
 * kernel, memcpy, memset, communication, runtime, data loading, CPU; else for "other". So the parts add up to the step.
 */
#ifndef TPA_ANALYZE_STEPS_H
#define TPA_ANALYZE_STEPS_H

#include "analyze/analysis.h"

extern const struct trace_wants steps_wants;

/* In order of precedence. */
enum step_part {
    STEP_KERNEL, /* a kernel that does not communicate */
    STEP_MEMCPY,
    STEP_MEMSET,
    STEP_COMMUNICATION, /* a kernel that communicates, or a collective on the host */
    STEP_RUNTIME,       /* a call of the runtime or driver */
    STEP_DATA_LOADING,
    STEP_CPU, /* an operator, or an annotation */
    STEP_OTHER,
    STEP_PARTS
};

/* What makes a row besides BY(RANK), BY(CYCLE), BY(DEVICE), BY(STREAM) and BY(STEP): all steps of a name. */
#define STEPS_BY_NAME BY_OWN(0)
/* Not rows of these: forward, backward, optimizer, data and other (step_phases.h). */
#define STEPS_BY_PHASE BY_OWN(1)

/* A step, or the total of several. */
struct step_row {
    uint32_t file;
    int64_t rank, cycle;    /* the recording of the rank, from 1 */
    int64_t device, stream; /* TABLE_INT_MISSING: of all devices, of all streams */
    struct text name;       /* "ProfilerStep#3"; "(all)" for a file without steps */
    int64_t start_ns;       /* from the origin of the file */
    int64_t duration_ns;    /* work on devices included: the sum of the parts */
    int64_t part_ns[STEP_PARTS];
    int64_t gpu_events;        /* that it launched; TABLE_INT_MISSING for rows of one device or stream */
    int64_t host_duration_ns;  /* of its range on the host */
    bool complete;             /* recorded to its end */
    int64_t count, average_ns; /* number of steps added up, and their mean duration */
};

/* A part over the complete steps. */
struct step_figures {
    int64_t average_ns, median_ns, stddev_ns, min_ns, max_ns;
    int64_t slowest_ns, difference_ns; /* in the slowest step; that minus the median */
    double share;                      /* of the time of these steps; NaN if that is 0 */
};

/* The complete steps of a rank, or of all. */
struct steps_summary {
    int64_t rank; /* TABLE_INT_MISSING: all ranks */
    int64_t complete;
    int64_t total_ns; /* their durations added up */
    struct text slowest;
    int64_t slowest_rank;
    enum step_part
        /* the part in which the slowest exceeds the median most; STEP_PARTS: none, or there is only one step */
        because;
    struct step_figures step, part[STEP_PARTS];
};

typedef VEC_OF(struct step_row) step_rows;

struct steps {
    VEC_OF(struct step_row); /* the requested rows */
    step_rows each;          /* each whole step; sorted by rank with steps_options.by_rank */
    VEC_OF(struct steps_summary)
    summaries;                 /* of all ranks, none without a complete step; one per rank with by_rank */
    enum step_part first_part; /* the trace cannot contain the parts before it */
    unsigned by;
    bool several_ranks;
    /* For notices: */
    const char *no_steps; /* how to mark steps, if none are marked and each file is one; else NULL */
    bool no_devices;      /* rows of devices were requested, and there are none */
    int64_t overlapping, incomplete; /* steps left out, and cut steps at the end */
    int64_t left_out;                /* devices or streams left out because of too many rows */
};

struct steps_options {
    unsigned
        by; /* BY(RANK), BY(CYCLE), BY(DEVICE), BY(STREAM), BY(STEP), STEPS_BY_NAME, or-ed; 0: BY(STEP) */
    const char *name;    /* regular expression for annotations that are the steps; NULL: ProfilerStep#N */
    bool by_rank;        /* a summary for each rank instead of one */
    bool only_durations; /* part_ns, the figures of parts and because need not be known: they may be wrong */
};

/* NULL and ERR if the name is not a valid regular expression or nothing matches. Texts are borrowed from
 * TRACE. Release with arena_free (NULL is allowed): those of all of TRACE, without options, are computed once
 * and kept with TRACE. */
const struct steps *steps_analyze(const struct trace *trace, const struct selection *selection,
                                  const struct steps_options *options, struct tpa_error *err);

/* "Kernel", "Comm." ... as in tables and charts; its key. */
const char *step_part_title(enum step_part part);
const char *step_part_key(enum step_part part);

/* Add the tables "steps" and, about whole steps, "summary", and notices. */
void steps_add_result(const struct steps *steps, struct result *result);

#endif
