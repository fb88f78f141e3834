/*
 * whatif.h - what a set of edits would gain: the step time now and then.
 *
 *     struct edit edits[] = { { .kind = EDIT_NO_DATA_WAIT } };
 *     struct whatif *whatif = whatif_open(graph, edits, 1, false, &err);
 *     int64_t saved_ns = whatif->steps->now_ns - whatif->steps->then_ns;
 *     whatif_free(whatif);
 *
 * For one figure alone, as the price of a finding:
 *
 *     struct step_gain gain;
 *     if (!whatif_gain(graph, edits, 1, &gain, &err)) ...
 *
 * Gains of single edits do not add up: two that hide the same idle time gain it once, and one may only help when another is made.
 */
#ifndef TPA_WHATIF_WHATIF_H
#define TPA_WHATIF_WHATIF_H

#include "whatif/edits.h"
#include "whatif/path.h"
#include "whatif/step_times.h"

/* What one of the edits would gain alone. */
struct edit_gain {
    struct edit_effect effect;
    int64_t then_ns; /* the step time */
};

struct whatif {
    const struct replay_graph *graph; /* borrowed */
    struct step_times *steps;         /* with all edits made */
    struct edit_gain *gains;          /* of each edit, as many as were given */
    size_t edit_count;
    double batch; /* times the samples of a step, as edits say; 1: as recorded */
    /* The step time at the least and the most that contention costs, if communication is hidden, or that a larger batch takes;
     * INT64_MIN: not known. */
    int64_t then_low_ns, then_high_ns;
    /* How sure: of the critical path of the median step, the share of time that the recording does not explain and the replay
     * keeps as it was: gaps of the host, except those of the loading of data, of modules and annotations that edits shorten; pauses
     * of streams, what is unknown. */
    double unexplained_share;
    /* The critical path of that step, from its begin to the next on the host: what it is made of, now and then. All 0 where no
     * thread runs the steps. */
    int64_t now_parts_ns[PATH_PARTS], then_parts_ns[PATH_PARTS];
};

/* New; free with whatif_free. WHOLE: the recording is one step. NULL and ERR when an edit does not fit the trace. */
struct whatif *whatif_open(const struct replay_graph *graph, const struct edit *edits, size_t count,
                           bool whole, struct tpa_error *err);
void whatif_free(struct whatif *whatif);

/* The replay with all of EDITS made. New; free with replay_free. NULL and ERR when an edit does not fit the trace. */
struct replay *whatif_replay(const struct replay_graph *graph, const struct edit *edits, size_t count,
                             struct tpa_error *err);

/* False and ERR when an edit does not fit the trace. One replay: linear time. */
bool whatif_gain(const struct replay_graph *graph, const struct edit *edits, size_t count,
                 struct step_gain *gain, struct tpa_error *err);

/* The same for changes that the caller made. */
struct step_gain whatif_gain_of(const struct changes *changes);

#endif
