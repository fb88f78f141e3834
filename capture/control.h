/*
 * control.h - when to record.
 *
 * Recording is on while all requested conditions hold: the start time has come and the duration is not over, it is not
 * paused, we are inside the named range or step, and pace.h does not leave it out. A change of a condition is reported
 * by a function below, on any thread; CUPTI is switched before the function returns, so the change applies to the next
 * launch.
 */
#ifndef TPA_CAPTURE_CONTROL_H
#define TPA_CAPTURE_CONTROL_H

#include "capture/clock.h"
#include "capture/pace.h"
#include <pthread.h>
#include <stdatomic.h>

/* A window of time in which recording was on. */
struct control_window {
    int64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: still on */
    const char *why;          /* what switched it on; a literal */
};

/* The last windows are kept until the writer takes them; with --ring that is when the ring is written, perhaps after
 * hours. */
enum { CONTROL_MOST_WINDOWS = 16384 };

/* Why the ring of --ring is to be written. Work that just ended is in the ring only when the device has finished it. */
enum { CONTROL_WRITE_AFTER_NS = 500000000 };
struct control_write {
    int64_t due_ns; /* 0: not requested */
    char why[160];
};

struct control {
    const struct capture_settings *settings; /* borrowed */
    void (*turn)(bool on);                   /* switch CUPTI; called under the lock */
    pthread_mutex_t lock;
    atomic_bool recording; /* checked by NVTX functions */
    atomic_uint toggles;   /* signals that the writer has not handled yet */
    bool armed, over, paused;
    bool ended; /* control_end was called */
    int64_t begun_ns, first_on_ns;
    int64_t ranges_entered;   /* entries of the range of --range */
    unsigned selected_inside; /* threads inside a range that --steps selects */
    int64_t inside_since_ns;  /* when the first of them entered; 0: none is inside */
    int64_t step;             /* of tpa_capture_step; -1: none yet */
    int64_t step_ns;          /* when it began */
    bool step_wanted;         /* selected by --steps and --sample */
    struct pace pace;
    struct control_write write;
    struct control_window
        /* not taken yet; window N is at N % CONTROL_MOST_WINDOWS; the last may be open */
        windows[CONTROL_MOST_WINDOWS];
    size_t window_first, window_end; /* numbers of the oldest kept and one past the last */
    int64_t window_lost_ns; /* end of the latest window for which there was no room; 0: none was lost */
};

/* Begin as SETTINGS say, which are borrowed. TURN switches recording on or off; it is called under the lock. */
void control_init(struct control *control, const struct capture_settings *settings, void (*turn)(bool on));

/* CUPTI can be switched from now on: sets *RUNNING, and switches CUPTI on if recording is on. */
void control_join(struct control *control, atomic_bool *running);

/*
 * Called regularly: handles --start-after, --duration, --window and signals. OWN_NS is the time in ns that our threads
 * and CUPTI used so far. True when all that was requested has been recorded.
 */
bool control_tick(struct control *control, int64_t now_ns, int64_t own_ns);

/* Latest time of the next control_tick, in ns; INT64_MAX if there is nothing to wait for. */
int64_t control_next_ns(struct control *control);

/* Must the ring be written at NOW? Then WHY holds the reason as text, and the request is cleared. */
bool control_collect_write(struct control *control, int64_t now_ns, char *why, size_t why_size);

/* At the beginning: add a note on what will be left out, for readers of the log of a killed process. */
void control_describe_begin(const struct control *control);

/* At the end: add notes on what was left out, and on requested ranges and steps that never occurred. */
void control_describe_end(struct control *control);

/* tpa_capture_start and tpa_capture_stop. */
void control_pause(struct control *control, bool pause);

/* Is NAME of DOMAIN the range that --range names? Cheap without --range. */
bool control_is_range(const struct control *control, const char *name, size_t len, const char *domain);

/* Such a range began on this thread. True if it counts; control_range_left must then follow. */
bool control_range_entered(struct control *control);
void control_range_left(struct control *control);

/* A step begins. Returns its number. */
int64_t control_step(struct control *control);

/* Switch off for good, and end the last window. */
void control_end(struct control *control);

/*
 * Copy the windows since the last call, oldest first, up to COUNT; call again until fewer are returned. The open window
 * is returned again after it has ended.
 */
size_t control_collect_windows(struct control *control, struct control_window *windows, size_t count);

/* Were windows that ended after SINCE lost for lack of room? Returns true once. */
bool control_lost_windows(struct control *control, int64_t since_ns);

#endif
