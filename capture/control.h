/*
 * control.h - when to record.
 *
 * Recording is on while everything that was requested holds: the time has come and is not over, nobody paused it, we
 * are inside the range or step that was named, and it is not one that pace.h leaves out. Whoever changes one of these
 * calls a function here, on any thread; CUPTI is switched before it returns, so that the next launch is recorded, or
 * is not.
 */
#ifndef TPA_CAPTURE_CONTROL_H
#define TPA_CAPTURE_CONTROL_H

#include "capture/clock.h"
#include "capture/pace.h"
#include <pthread.h>
#include <stdatomic.h>

/* A time in which recording was on. */
struct control_window {
    int64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: still on */
    const char *why;          /* what switched it on; a constant */
};

/* The last so many are kept until they are taken: those of a ring when it is written, which may be in hours. */
enum { CONTROL_MOST_WINDOWS = 16384 };

/* Why the ring of --ring is to be written. What ended just now is in it only when the device is done with it. */
enum { CONTROL_WRITE_AFTER_NS = 500000000 };
struct control_write {
    int64_t due_ns; /* 0: not wanted */
    char why[160];
};

struct control {
    const struct capture_settings *settings; /* borrowed */
    void (*turn)(bool on);                   /* switch CUPTI; called under the lock */
    pthread_mutex_t lock;
    atomic_bool recording; /* what NVTX functions look at */
    atomic_uint toggles;   /* signals that the writer has not dealt with */
    bool armed, over, paused;
    bool ended; /* control_end was called */
    int64_t begun_ns, first_on_ns;
    int64_t ranges_entered;   /* of --range */
    unsigned selected_inside; /* threads inside one that --steps selects */
    int64_t inside_since_ns;  /* the first of them entered; 0: none is inside */
    int64_t step;             /* of tpa_capture_step; -1: none yet */
    int64_t step_ns;          /* when it began */
    bool step_wanted;         /* by --steps and --sample */
    struct pace pace;
    struct control_write write;
    struct control_window
        windows[CONTROL_MOST_WINDOWS]; /* not taken yet, number N at N % most; the last may be open */
    size_t window_first, window_end;   /* numbers: the oldest kept, and behind the last */
    int64_t window_lost_ns; /* when the last one ended for which there was no room; 0: there was for all */
};

void control_init(struct control *control, const struct capture_settings *settings, void (*turn)(bool on));

/* CUPTI can be switched from now on: *RUNNING becomes true, and what is being recorded is switched on. */
void control_join(struct control *control, atomic_bool *running);

/*
 * Time passed: deal with --start-after, --duration, --window and signals. OWN_NS is what our threads and CUPTI took so
 * far. True when all that was requested is recorded.
 */
bool control_tick(struct control *control, int64_t now_ns, int64_t own_ns);

/* When control_tick should be called again at the latest; INT64_MAX when there is nothing to wait for. */
int64_t control_next_ns(struct control *control);

/* Is the ring to be written at NOW? Then WHY is the reason as text, and the request is cleared. */
bool control_take_write(struct control *control, int64_t now_ns, char *why, size_t why_size);

/* At the begin: add a note on what will be left out, for who reads the log of a process that was killed. */
void control_tell_begin(const struct control *control);

/* At the end: add the notes on what was left out, and on what never came. */
void control_tell_end(struct control *control);

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

/*
 * What was recorded since the last call, the oldest first, up to COUNT windows; call again until fewer come. The open
 * one comes again when it has ended.
 */
size_t control_take_windows(struct control *control, struct control_window *windows, size_t count);

/* Did windows that ended after SINCE go missing, for lack of room? True once. */
bool control_lost_windows(struct control *control, int64_t since_ns);

#endif
