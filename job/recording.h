/*
 * recording.h - what a profiler recorded of a rank, as far as operations are made of it. For kineto.c and its parts.
 *
 * Times are on the clock of the file; recording_moment converts them.
 */
#ifndef TPA_JOB_RECORDING_H
#define TPA_JOB_RECORDING_H

#include "derive/step_list.h"
#include "job/marks.h"
#include "job/operations_read.h"

struct mark {
    int64_t start_ns, end_ns;
    track_id track;
    struct mark_name name;
};

/* Computation: a kernel, a copy, a collective within an operation; on hosts an operator. */
struct work {
    int64_t issued_ns, issued_end_ns; /* the call that launched it; an operator itself */
    int64_t start_ns, end_ns;
    track_id track;    /* of an operator */
    bool communicates; /* a collective on the device */
};

struct message {
    int64_t issued_ns, start_ns, end_ns;
    enum collective_kind kind;
    uint32_t dimension; /* enum job_dimension */
};

struct recording {
    uint32_t file, rank;
    VEC_OF(struct mark) marks;         /* of computations, by start */
    VEC_OF(struct mark) message_marks; /* by start */
    VEC_OF(struct work) work;          /* on devices by issue, on hosts by track and start */
    VEC_OF(struct message) messages;   /* sends, receives and collectives, by issue */
    VEC_OF(int64_t) arrivals;          /* ends of the receives, ascending */
    VEC_OF(struct interval) optimizer_steps;
    struct intervals optimizers; /* all ranges of an optimizer */
    struct intervals backward;   /* in which the host computes gradients */
    VEC_OF(struct interval) collections;
    uint32_t first_op, op_count; /* its computations in the reading */
};

struct recordings {
    struct reading *reading;
    const struct step_list *steps;   /* NULL: none are marked */
    const struct rank_clock *clocks; /* by file; NULL: all have one clock */
    struct recording *at;            /* by file */
    int64_t origin_ns;               /* the first start in the first file */
};

/* MOMENT_NS of FILE on the clock of all. */
int64_t recording_moment(const struct recordings *all, uint32_t file, int64_t moment_ns);

/* The number of the step of FILE with MOMENT; STEP_UNKNOWN: none. Of recordings without marked steps: 0. */
int64_t recording_step(const struct recordings *all, uint32_t file, int64_t moment_ns);

/* Add a computation of OF that was issued in [ISSUED, ISSUED_END); its place. */
uint32_t recording_add(struct recordings *all, const struct recording *of, uint32_t type, int64_t step,
                       struct interval issued, struct interval ran);

/* marks_read.c: add the computations that marks name. */
void recording_add_marked(struct recordings *all, struct recording *of);

/* unmarked.c: add those of a recording without marks. */
void recording_add_unmarked(struct recordings *all, struct recording *of);

/* messages.c: add its messages, and what follows the last computation of each step. */
void recording_add_messages(struct recordings *all, struct recording *of);

#endif
