/*
 * graph_maker.h - what the files that make the graph share: each adds moments or relations to it.
 *
 * In this order: clocks (shift_ns), threads (moments of the host), device (those of work, stream waits and awaited work, full
 * queues), collectives (joins), and last order, which asks the device for the launches and streams of each piece of work.
 */
#ifndef TPA_WHATIF_GRAPH_MAKER_H
#define TPA_WHATIF_GRAPH_MAKER_H

#include "whatif/graph.h"

/* An edge before all are sorted by the moment they lead to. */
struct loose_edge {
    moment_id to;
    struct replay_edge edge;
};

struct graph_maker {
    struct replay_graph *graph;
    const struct attribution *launches;
    VEC_OF(struct loose_edge) loose;   /* except those to the start of work, which are most */
    VEC_OF(struct replay_edge) starts; /* those to the start of one piece of work */
    struct graph_device *device;       /* what tells these */
    unsigned char *call_sorts;         /* by name: enum call_sort */
};

/* TO does not come before FROM, for the reason RELATION; BINDS as in struct replay_edge. Not for starts of work. */
static inline void graph_add_edge(struct graph_maker *maker, moment_id from, moment_id to,
                                  enum relation relation, bool binds)
{
    *VEC_PUSH(&maker->loose) = (struct loose_edge){ to, { from, (uint8_t)relation, binds, binds } };
}

/* Find the moments of host threads, their pieces, and where linked threads hand over. */
void graph_add_threads(struct graph_maker *maker);

/* Add the moments of device work; find what streams waited for, and which calls waited for work. */
void graph_add_device(struct graph_maker *maker);

/* Put the edges to the start of work I, none of which leads back in time, into maker->starts: to be called for one after the other.
 * graph_forget_device then frees what they were found with. */
void graph_find_starts(struct graph_maker *maker, size_t i);
void graph_forget_device(struct graph_maker *maker);

/* Find which launching calls waited for a place in a full queue. After the device. */
void graph_add_full_queues(struct graph_maker *maker);

/* Match collectives over files: graph->matches, shift_ns and group. Before threads. */
void graph_match_ranks(struct graph_maker *maker);

/* Add the joins and their edges. After the device. */
void graph_add_joins(struct graph_maker *maker);

/* Bring the edges in order of where they lead to, and the moments in theirs; leave out the edges that close circles. */
void graph_order(struct graph_maker *maker);

#endif
