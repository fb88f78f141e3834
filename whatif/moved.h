/*
 * moved.h - when every event of a trace comes in a replay: the predicted timeline.
 *
 *     struct moved *moved = moved_open(replay);
 *     struct moved_times times = moved_times_of(moved, e);
 *     moved_free(moved);
 */
#ifndef TPA_WHATIF_MOVED_H
#define TPA_WHATIF_MOVED_H

#include "whatif/replay.h"

struct moved;

/* New: of REPLAY, which is borrowed and kept all moments. Free with moved_free (NULL is allowed). */
struct moved *moved_open(const struct replay *replay);
void moved_free(struct moved *moved);

struct moved_times {
    int64_t start_ns, end_ns;
};

/*
 * When event E begins and ends, on the clock of its file, in ns; it never ends before it begins. Spans and work come when the replay
 * says, other events of their threads in proportion. What only marks work of devices, such as a step that only they mark, an annotation's
 * shadow or an operator of XLA, begins as much sooner as the first work that began within it, and ends as the last that ended: of its
 * stream, else of its device, and of its file for a mark that lies on no stream. Without any it moves with the work before it. Events of other
 * threads stay.
 */
struct moved_times moved_times_of(const struct moved *moved, event_id e);

#endif
