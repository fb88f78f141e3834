/*
 * nodes.h - the nodes of a few events of a call tree, in the memory of a few: calltree_nodes has one for every event.
 *
 *     struct top_nodes nodes;
 *     top_nodes_open(&nodes, trace);
 *     top_nodes_want(&nodes, op);                // for each event that will be queried
 *     top_nodes_find(&nodes, tree);
 *     node_id n = top_node_of(&nodes, op);
 *     top_nodes_release(&nodes);
 */
#ifndef TPA_ANALYZE_TOP_NODES_H
#define TPA_ANALYZE_TOP_NODES_H

#include "base/bits.h"
#include "trace/calltree.h"

struct top_nodes {
    uint64_t *wanted; /* a bit per event */
    uint32_t *before; /* by word of bits: how many are wanted before it */
    node_id *node;    /* by index; NODE_NONE: it takes no part */
    size_t words, count;
};

/* No event of TRACE is wanted yet. Release with top_nodes_release. */
void top_nodes_open(struct top_nodes *nodes, const struct trace *trace);
void top_nodes_release(struct top_nodes *nodes);

/* Before top_nodes_find. E may be wanted several times, and EVENT_NONE is ignored. */
static inline void top_nodes_want(struct top_nodes *nodes, event_id e)
{
    if (e != EVENT_NONE)
        nodes->wanted[e / 64] |= UINT64_C(1) << (e % 64);
}

/* Find them all, in one pass over TREE. */
void top_nodes_find(struct top_nodes *nodes, const struct calltree *tree);

/* Is the node of E wanted? */
static inline bool top_nodes_wants(const struct top_nodes *nodes, event_id e)
{
    return nodes->wanted[e / 64] >> (e % 64) & 1;
}

/* Which of the wanted events E is, which must be wanted: less than nodes->count. */
static inline size_t top_nodes_index(const struct top_nodes *nodes, event_id e)
{
    uint64_t before = nodes->wanted[e / 64] & ((UINT64_C(1) << (e % 64)) - 1);
    return nodes->before[e / 64] + bits_count(before);
}

/* The node of E, which must be wanted. */
static inline node_id top_node_of(const struct top_nodes *nodes, event_id e)
{
    return nodes->node[top_nodes_index(nodes, e)];
}

#endif
