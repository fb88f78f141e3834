/*
 * phases.h - steps of serving engines by phase and batch size: prefill, decode, mixed.
 *
 *     struct phases phases = { 0 };
 *     phases_find(&phases, activity, selection, group);
 *     ...
 *     phases_release(&phases);
 */
#ifndef TPA_ANALYZE_LATENCY_PHASES_H
#define TPA_ANALYZE_LATENCY_PHASES_H

#include "analyze/group.h"
#include "analyze/latency/activity.h"
#include "analyze/selection.h"
#include "derive/serving_names.h"

/* Steps of a serving engine, of one phase or of one phase and batch size. */
struct phase_row {
    struct group_key key;
    struct text phase;
    int64_t steps, batch;                 /* batch: requests of a step; missing in rows of all */
    int64_t requests, tokens;             /* missing where the name of a step lacks them */
    int64_t wall_ns, busy_ns, idle_ns;    /* busy and idle are missing where the file has no work */
    double tokens_per_second, mean_batch; /* NaN: unknown */
    int64_t least_batch, most_batch;
    int64_t step_ns, token_ns; /* wall time of a step, and of a token */
};

/* The step that stands for the others: of the phase that takes longest, that of median length. */
struct phase_example {
    event_id event;    /* its annotation */
    const char *phase; /* "decode"; NULL: there are no steps */
    int64_t requests;
    int64_t start_ns, end_ns; /* with the work that it launched */
};

struct phases {
    VEC_OF(struct phase_row) all, batches; /* a row for each phase; for each phase and batch size */
    struct phase_example example;
};

/* Add the rows of the annotations in SELECTION that mark steps, by GROUP. Texts are borrowed from GROUP. */
void phases_find(struct phases *phases, struct activity *activity, const struct selection *selection,
                 struct group *group);
void phases_release(struct phases *phases);

#endif
