/*
 * graph_maker.h - what the files that make the graph share: each adds moments or relations to it.
 *
 * In this order: clocks (shift_ns), threads (moments of the host), device (those of work, and launches, streams, stream
 * waits and awaited work, full queues), collectives (joins), and last order.
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

/*
 * Loose edges come in parts of 1 MiB, which are given back one after the other as the edges are sorted: so not all are there twice.
 */
enum { EDGES_OF_PART = (1 << 20) / sizeof(struct loose_edge) };
#define EDGE_PART_BYTES (EDGES_OF_PART * sizeof(struct loose_edge) + 4096) /* a mapping of its own */

struct loose_edges {
    VEC_OF(struct loose_edge *); /* parts */
    size_t edge_count;
};

struct graph_maker {
    struct replay_graph *graph;
    const struct attribution *launches;
    struct loose_edges edges;
    unsigned char *call_sorts; /* by name: enum call_sort */
};

static inline struct loose_edge *graph_loose_edge(const struct graph_maker *maker, size_t k)
{
    return &maker->edges.at[k / EDGES_OF_PART][k % EDGES_OF_PART];
}

static inline void graph_add_edge(struct graph_maker *maker, moment_id from, moment_id to,
                                  enum relation relation, bool binds)
{
    size_t k = maker->edges.edge_count++;
    if (k % EDGES_OF_PART == 0)
        *VEC_PUSH(&maker->edges) = column_resize(NULL, 0, EDGE_PART_BYTES);
    *graph_loose_edge(maker, k) = (struct loose_edge){ to, { from, (uint8_t)relation, binds } };
}

/* Find the moments of host threads, their pieces, and where linked threads hand over. */
void graph_add_threads(struct graph_maker *maker);

/* Find what each piece of device work waited for, and which calls waited for work. */
void graph_add_device(struct graph_maker *maker);

/* Find which launching calls waited for a place in a full queue. After the device. */
void graph_add_full_queues(struct graph_maker *maker);

/* Match collectives over files: graph->matches, shift_ns and group. Before threads. */
void graph_match_ranks(struct graph_maker *maker);

/* Add the joins and their edges. After the device. */
void graph_add_joins(struct graph_maker *maker);

/* Sort the edges by where they lead to, and the moments; leave out the edges that close circles. */
void graph_order(struct graph_maker *maker);

#endif
