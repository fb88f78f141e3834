/*
 * pace.h - decides what is left out on purpose: --sample records one step in N, --window part of every period, and
 * --budget makes either rarer until recording costs at most a given share of the time. Also detects slow steps.
 *
 * The cost of a recorded step is measured: the median duration of the last recorded steps minus that of the last
 * unrecorded ones, plus the time for switching on and off. So with a budget at most every other step is recorded. For
 * windows no such comparison is possible, because the program is not observed between them: their cost is the CPU time
 * of our threads, the time that CUPTI reports as its own (OVERHEAD), and that of switching; the time that CUPTI adds to
 * each launch is not included.
 *
 * Belongs to control.h, under whose lock all functions are called. Times are ns of CLOCK_MONOTONIC.
 */
#ifndef TPA_CAPTURE_PACE_H
#define TPA_CAPTURE_PACE_H

#include "capture/settings.h"

enum {
    PACE_TIMES = 31,      /* number of recent steps considered */
    PACE_LEAST = 5,       /* steps of each kind needed to compute a cost */
    PACE_SLOW_AFTER = 10, /* steps needed before one can be slow */
};

/* The last few durations. */
struct pace_times {
    int64_t at[PACE_TIMES];
    uint64_t count; /* of all durations so far */
};

struct pace {
    const struct capture_settings *settings; /* borrowed */
    bool open;                               /* the current step or window is recorded */
    /* current rate: one step in this many, or one window each this many ns */
    int64_t every;
    int64_t next;           /* step or time of the next recording */
    int64_t seen, recorded; /* steps or windows that began */
    /* time spent switching on and off so far; counted by control.c */
    int64_t switched_ns;

    int64_t begun_ns, switched_before; /* of the current step; begun_ns 0: none */
    struct pace_times on, off;
    int64_t cost_ns,
        base_ns; /* of a recorded step or window; what an unrecorded step takes. 0: not known yet */

    int64_t window_start_ns, own_before; /* of the last window */

    struct pace_times usual; /* durations that slow steps are compared with */
    int64_t slow;            /* number of slow steps */
};

/* Begin as SETTINGS say, which are borrowed. Nothing needs to be released. */
void pace_init(struct pace *pace, const struct capture_settings *settings);

/* Step NUMBER begins at NOW and the one before ends. Is the new one recorded? Call pace_step_begun after switching. */
bool pace_step(struct pace *pace, int64_t number, int64_t now_ns);
void pace_step_begun(struct pace *pace, int64_t now_ns);

/* Called regularly; OWN_NS is the time that our threads and CUPTI used so far. Sets pace->open for windows. */
void pace_tick(struct pace *pace, int64_t now_ns, int64_t own_ns);

/* Time of the next beginning or end of a window; INT64_MAX without windows. */
int64_t pace_next_change(const struct pace *pace);

/* A step took DURATION: is it slow compared to the median of earlier ones, which is stored in *USUAL? */
bool pace_is_slow(struct pace *pace, int64_t duration_ns, int64_t *usual_ns);

/* A sentence on what was left out and what recording cost; "" if nothing was left out. */
void pace_describe(const struct pace *pace, char *text, size_t size);

#endif
