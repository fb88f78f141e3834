/*
 * control.h - when to record.
 *
 * Recording is on while everything that was asked for holds: the time has come and is not over, nobody paused it, and
 * we are inside the range or step that was named. Whoever changes one of these calls a function here, on any thread;
 * CUPTI is switched before it returns, so that the next launch is recorded, or is not.
 */
#ifndef TPA_CAPTURE_CONTROL_H
#define TPA_CAPTURE_CONTROL_H

#include "capture/settings.h"
#include <pthread.h>
#include <stdatomic.h>

/* A time in which recording was on. */
struct control_window {
    int64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: still on */
    const char *why;          /* what switched it on; a constant */
};

enum { CONTROL_MOST_WINDOWS = 256 };

struct control {
    const struct capture_settings *settings; /* borrowed */
    void (*turn)(bool on);                   /* switch CUPTI; called under the lock */
    pthread_mutex_t lock;
    atomic_bool recording; /* what NVTX functions look at */
    atomic_uint toggles;   /* signals that the writer has not dealt with */
    bool armed, over, paused;
    bool ended; /* control_end was called */
    int64_t begun_ns, first_on_ns;
    int64_t ranges_entered;                              /* of --range */
    unsigned selected_inside;                            /* threads inside one that --steps selects */
    int64_t step;                                        /* of tpa_capture_step; -1: none yet */
    struct control_window windows[CONTROL_MOST_WINDOWS]; /* not taken yet; the last may be open */
    size_t window_count;
};

void control_init(struct control *control, const struct capture_settings *settings, void (*turn)(bool on));

/* CUPTI can be switched from now on: *RUNNING becomes true, and what is being recorded is switched on. */
void control_join(struct control *control, atomic_bool *running);

/* Time passed: deal with --start-after, --duration and signals. True when all that was asked for is recorded. */
bool control_tick(struct control *control, int64_t now_ns);

/* tpa_capture_start and tpa_capture_stop. */
void control_pause(struct control *control, bool pause);

/* Is NAME of DOMAIN the range that --range names? Cheap when there is none. */
bool control_is_range(const struct control *control, const char *name, size_t len, const char *domain);

/* Such a range began on this thread. True when it is one that counts, and control_range_left must follow. */
bool control_range_entered(struct control *control);
void control_range_left(struct control *control);

/* A step begins. Its number. */
int64_t control_step(struct control *control);

/* Switch off for good, and end the last window. */
void control_end(struct control *control);

/* What was recorded since the last call, up to COUNT windows; the open one comes again when it has ended. */
size_t control_take_windows(struct control *control, struct control_window *windows, size_t count);

int64_t control_now_ns(void);

#endif
