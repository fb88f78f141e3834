/*
 * sensitivity.h - how much shorter a window gets when something on its critical path does.
 *
 * At first the window gets shorter by all that is taken off the path. Then something else is the last to be ready, and what is
 * taken off further gains less, or nothing.
 *
 *     struct sensitivity sensitivity = sensitivity_of(graph, &window, &item);
 */
#ifndef TPA_WHATIF_SENSITIVITY_H
#define TPA_WHATIF_SENSITIVITY_H

#include "whatif/path.h"

struct sensitivity {
    bool known; /* false of parts that are waits: they have no time of their own that could be less */
    int64_t gone_saves_ns; /* how much shorter the window is when the item takes no time in it */
    double
        leaves_share; /* how much less it may take, as a share of its time, until less gains less; 1: to the end */
};

/* Of what ITEM says (part and name), within WINDOW, on its path or not. Some ten replays. */
struct sensitivity sensitivity_of(const struct replay_graph *graph, const struct path_window *window,
                                  const struct path_item *item);

#endif
