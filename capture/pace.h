/*
 * pace.h - what is left out on purpose: --sample records one step in N, --window a while in every period, and --budget
 * makes either rarer until recording costs no more than its share of the time. And which steps are slow.
 *
 * What a recorded step costs is measured: the median of the last recorded steps less that of the last others, and the
 * time that switching on and off took. So with a budget at most every other step is recorded. Of windows no such
 * comparison is possible, as nothing is known of the program outside of them: there the cost is the CPU time of our
 * threads, the time that CUPTI says it took (OVERHEAD), and that of switching; what CUPTI adds to each launch is not
 * in it.
 *
 * Belongs to control.h, under whose lock all of this is called. Times are ns of CLOCK_MONOTONIC.
 */
#ifndef TPA_CAPTURE_PACE_H
#define TPA_CAPTURE_PACE_H

#include "capture/settings.h"

enum {
    PACE_TIMES = 31,      /* so many of the last steps are looked at */
    PACE_LEAST = 5,       /* of each kind, before a cost is computed */
    PACE_SLOW_AFTER = 10, /* steps, before one can be slow */
};

/* The last few durations. */
struct pace_times {
    int64_t at[PACE_TIMES];
    uint64_t count; /* of all there were */
};

struct pace {
    const struct capture_settings *settings; /* borrowed */
    bool open;                               /* this step, or this while, is recorded */
    int64_t every;                           /* now: one step in so many, or a window each so many ns */
    int64_t next;                            /* the step, or the time, of the next */
    int64_t seen, recorded;                  /* steps, or windows, that began */
    int64_t switched_ns;                     /* that switching on and off took so far; counted by control.c */

    int64_t begun_ns, switched_before; /* of the present step; begun_ns 0: none */
    struct pace_times on, off;
    int64_t cost_ns,
        base_ns; /* of a recorded step or window; what an unrecorded step takes. 0: not known yet */

    int64_t window_start_ns, own_before; /* of the last window */

    struct pace_times usual; /* of steps that may be slow */
    int64_t slow;            /* how many were */
};

void pace_init(struct pace *pace, const struct capture_settings *settings);

/* Step NUMBER begins at NOW and the one before ends. Is the new one recorded? After switching comes pace_step_begun. */
bool pace_step(struct pace *pace, int64_t number, int64_t now_ns);
void pace_step_begun(struct pace *pace, int64_t now_ns);

/* Time passed; OWN_NS is what our threads and CUPTI took so far. Sets pace->open for windows. */
void pace_tick(struct pace *pace, int64_t now_ns, int64_t own_ns);

/* When a window begins or ends next; INT64_MAX without windows. */
int64_t pace_next_change(const struct pace *pace);

/* A step took DURATION: is it slow, against the median of those before, which is in *USUAL? */
bool pace_is_slow(struct pace *pace, int64_t duration_ns, int64_t *usual_ns);

/* What was left out and what recording cost, as a sentence; "" when nothing was left out. */
void pace_describe(const struct pace *pace, char *text, size_t size);

#endif
