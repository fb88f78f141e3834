/*
 * graph.h - the call graph of a Python profile, reduced to its main parts, for drawing.
 */
#ifndef TPA_PROFILE_GRAPH_H
#define TPA_PROFILE_GRAPH_H

#include "trace/profile.h"

struct profile_graph_node {
    function_id function;
    double cumulative_share, total_share; /* of the tottime of all functions; recursion may pass 1 */
    bool hot;                             /* on the hot path */
};

struct profile_graph_edge {
    size_t caller, callee; /* indices of nodes */
    uint32_t edge;         /* of the profile */
    double share;          /* of the tottime of all functions */
    bool hot;
};

/* Zero-initialise; free with profile_graph_release. */
struct profile_graph {
    VEC_OF(struct profile_graph_node) nodes; /* the longest first */
    VEC_OF(struct profile_graph_edge) edges; /* the longest first */
    size_t nodes_left_out, edges_left_out;
};

/*
 * The functions with a cumulative time of at least NODE_SHARE of the whole, and the calls between them that took at
 * least EDGE_SHARE. A function without figures, which is only a caller, is included if one of its calls is.
 *
 * The hot path begins at the function with the longest cumulative time without callers, and follows the longest call
 * each time, until none is left or a function would repeat.
 */
void profile_graph_make(struct profile_graph *graph, const struct profile *profile, double node_share,
                        double edge_share);
void profile_graph_release(struct profile_graph *graph);

#endif
