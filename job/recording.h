/* recording.h - recordings of a job's ranks. */
#ifndef TPA_JOB_RECORDING_H
#define TPA_JOB_RECORDING_H

#include "derive/step_list.h"
#include "job/operations.h"

/* marks.c - names by which programs mark microbatches: "Forward 3" (ScheduleGPipe of torch), "PP:1F3", "PP:1SEND_F3" (the runtime of
 * its other schedules). */

enum mark_kind { MARK_NONE, MARK_COMPUTES, MARK_SENDS, MARK_RECEIVES };

struct mark_name {
    enum mark_kind kind;
    uint32_t type; /* enum operation_type of the computation that is marked, or served */
    int64_t stage; /* of the model; below 0: that of the rank */
    int64_t microbatch;
};

/* Read NAME; the kind is MARK_NONE if it marks nothing. */
struct mark_name mark_read(const char *name);

/*
 * what a profiler recorded of a rank, and the operations that are made of it, as rows of facts. For gather.c and its
 * parts.
 *
 * Times are on the clock of the file; those of rows count from the start of the recording. A row knows nothing of other ranks.
 */

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
    uint32_t found;     /* the operation that it is; OPERATION_NONE */
};

/* An operation, by its place in the recording. */
struct found {
    struct facts_operation row;
    uint32_t type;                    /* enum operation_type; OPERATION_OTHER: only the row has it */
    int64_t issued_ns, issued_end_ns; /* of a computation: when its launches began and ended */
};

struct recording {
    const struct trace *trace;
    const struct step_list *steps; /* NULL: none are marked in the file */
    uint32_t file;
    enum job_form form;
    int64_t origin_ns;                 /* its start */
    VEC_OF(struct mark) marks;         /* of computations, by start */
    VEC_OF(struct mark) message_marks; /* by start */
    VEC_OF(struct work) work;          /* on devices by issue, on hosts by track and start */
    VEC_OF(struct message) messages;   /* sends, receives and collectives, by issue */
    VEC_OF(int64_t) arrivals;          /* ends of the receives, ascending */
    VEC_OF(struct interval) optimizer_steps;
    struct intervals optimizers; /* all ranges of an optimizer */
    struct intervals backward;   /* in which the host computes gradients */
    VEC_OF(struct interval) collections;
    /* What is made of it: */
    struct facts *facts;
    VEC_OF(struct found) found; /* computations first */
    size_t computations;
    struct arena arena; /* until it was added to the facts */
};

/* The number of the step with MOMENT; FACTS_MISSING: none. Without marked steps: 0. */
int64_t recording_step(const struct recording *of, int64_t moment_ns);

/* Add an operation with the name TYPE that RAN; its place. What else is to know of it is missing. */
uint32_t recording_add(struct recording *of, const char *type, int64_t step, struct interval ran);

/* The same for a computation of TYPE, issued in [ISSUED, ISSUED_END). */
uint32_t recording_add_computation(struct recording *of, uint32_t type, int64_t step, struct interval issued,
                                   struct interval ran);

/* marks_read.c: add the computations that marks name. */
void recording_add_marked(struct recording *of);

/* unmarked.c: add those of a recording without marks. */
void recording_add_unmarked(struct recording *of);

/* messages.c: add its messages, and what follows the last computation of each step. */
void recording_add_messages(struct recording *of);

/* timeline.c: add its slices. */
void timeline_add(struct recording *of);

/* coordinates.c: the dimension that a group with DESCRIPTION (NULL: none) is of; JOB_WORLD for all ranks; JOB_NO_DIMENSION. */
enum job_dimension coordinates_dimension(const char *description);

/* coordinates.c: the coordinates that groups, labels and names of the file tell. */
void coordinates_read(const struct trace *trace, uint32_t file, struct facts_recording *row);

#endif
