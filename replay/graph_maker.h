/*
 * graph_maker.h - what the files that make the graph share: each adds moments or relations to it.
 *
 * In this order: clocks (shift_ns), threads (moments of the host), device (those of work, and launches, streams, stream
 * waits and awaited work), collectives (joins), and last order.
 */
#ifndef TPA_REPLAY_GRAPH_MAKER_H
#define TPA_REPLAY_GRAPH_MAKER_H

#include "base/memory.h"
#include "replay/graph.h"

/* An edge before all are sorted by the moment they lead to. */
struct loose_edge {
    moment_id to;
    struct replay_edge edge;
};

struct graph_maker {
    struct replay_graph *graph;
    const struct attribution *launches;
    VEC_OF(struct loose_edge) edges;
    unsigned char *call_sorts; /* by name: enum call_sort */
};

static inline void graph_add_edge(struct graph_maker *maker, moment_id from, moment_id to,
                                  enum relation relation, bool binds)
{
    *VEC_PUSH(&maker->edges) = (struct loose_edge){ to, { from, (uint8_t)relation, binds } };
}

/* Find the moments of host threads, their pieces, and where linked threads hand over. */
void graph_add_threads(struct graph_maker *maker);

/* Find what each piece of device work waited for, and which calls waited for work. */
void graph_add_device(struct graph_maker *maker);

/* Match collectives over files: graph->matches, shift_ns and group. Before threads. */
void graph_match_ranks(struct graph_maker *maker);

/* Add the joins and their edges. After the device. */
void graph_add_joins(struct graph_maker *maker);

/* Sort the edges by where they lead to, and the moments; leave out the edges that close circles. */
void graph_order(struct graph_maker *maker);

#endif
