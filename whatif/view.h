/*
 * view.h - a replay seen as a graph of its own: what would be critical then.
 *
 *     struct replay_graph *view = view_open(replay, changes, NULL);
 *     struct path *path = path_open_at(view, &window, m);      // the window on the clock of the replay
 *     path_free(path);
 *     view_free(view);
 *
 * The moments are those of the recording; they come when the replay has them, and of each that relation binds by which it comes so
 * late: the one that bound in the recording if it does, else the moment before, else the first of the edges.
 */
#ifndef TPA_WHATIF_VIEW_H
#define TPA_WHATIF_VIEW_H

#include "whatif/replay.h"

/*
 * New; free with view_free (NULL is allowed). Borrows REPLAY, its graph, CHANGES, which may be NULL, and LACKS, which is
 * set to true if a time is requested that REPLAY forgot; NULL for one that forgot nothing.
 */
struct replay_graph *view_open(const struct replay *replay, const struct changes *changes, bool *lacks);
void view_free(struct replay_graph *view);

/* The edge by which M comes so late in VIEW; from MOMENT_NONE: none, it is the moment before. It is found when requested: a path asks
 * of few moments. replay_binding calls this. */
struct replay_edge view_binding(const struct replay_graph *view, moment_id m);

#endif
