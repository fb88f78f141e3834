/* graph.c - see graph.h. */
#include "profile/graph.h"
#include "base/rows.h"

#include <stdlib.h>

enum { NO_NODE = 0 }; /* node_of holds indices from 1 */

static double graph_share_of(const struct profile *profile, double seconds)
{
    return profile->total.total_s > 0 ? seconds / profile->total.total_s : 0;
}

/* `profile` records only counts of a caller's calls: then they get their share of the function's time. */
static double edge_seconds(const struct profile_function *callee, const struct profile_edge *edge)
{
    if (!edge->count_only)
        return edge->cost.cumulative_s;
    return callee->cost.calls > 0
               ? callee->cost.cumulative_s * (double)edge->cost.calls / (double)callee->cost.calls
               : 0;
}

static int compare_nodes(const void *left, const void *right, void *data)
{
    const struct profile *profile = data;
    const struct profile_graph_node *a = left, *b = right;
    if (a->cumulative_share != b->cumulative_share)
        return a->cumulative_share < b->cumulative_share ? 1 : -1;
    return profile_function_compare(&profile->functions[a->function], &profile->functions[b->function]);
}

static const struct key by_edges[] = { DESC(struct profile_graph_edge, share),
                                       ASC(struct profile_graph_edge, caller),
                                       ASC(struct profile_graph_edge, callee), KEY_END };

static void add_node(struct profile_graph *graph, const struct profile *profile, function_id id,
                     double cumulative_s)
{
    const struct profile_function *f = &profile->functions[id];
    *VEC_PUSH(&graph->nodes) = (struct profile_graph_node){
        .function = id,
        .cumulative_share = graph_share_of(profile, cumulative_s),
        .total_share = graph_share_of(profile, f->listed ? f->cost.total_s : 0),
    };
}

static void add_nodes(struct profile_graph *graph, const struct profile *profile, double node_share)
{
    /* Add callees of functions without figures. */
    double *called_s = mem_zalloc(profile->function_count + 1, sizeof *called_s);
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *f = &profile->functions[profile->listed[i]];
        for (uint32_t e = f->first_edge; e < f->first_edge + f->edge_count; e++)
            called_s[profile->edges[e].caller] += edge_seconds(f, &profile->edges[e]);
    }
    for (function_id id = 0; id < profile->function_count; id++) {
        const struct profile_function *f = &profile->functions[id];
        double cumulative_s = f->listed ? f->cost.cumulative_s : called_s[id];
        if (graph_share_of(profile, cumulative_s) >= node_share)
            add_node(graph, profile, id, cumulative_s);
        else
            graph->nodes_left_out++;
    }
    free(called_s);
    if (graph->nodes.count > 1)
        qsort_r(graph->nodes.at, graph->nodes.count, sizeof *graph->nodes.at, compare_nodes,
                (void *)(uintptr_t)profile);
}

static void add_edges(struct profile_graph *graph, const struct profile *profile, double edge_share,
                      const size_t *node_of)
{
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *f = &profile->functions[profile->listed[i]];
        for (uint32_t e = f->first_edge; e < f->first_edge + f->edge_count; e++) {
            size_t caller = node_of[profile->edges[e].caller], callee = node_of[profile->listed[i]];
            double share = graph_share_of(profile, edge_seconds(f, &profile->edges[e]));
            if (caller != NO_NODE && callee != NO_NODE && share >= edge_share)
                *VEC_PUSH(&graph->edges) = (struct profile_graph_edge){
                    .caller = caller - 1, .callee = callee - 1, .edge = e, .share = share
                };
            else
                graph->edges_left_out++;
        }
    }
    if (graph->edges.count > 1)
        SORT(&graph->edges, by_edges);
}

static bool is_called(const struct profile_graph *graph, size_t node)
{
    for (size_t e = 0; e < graph->edges.count; e++)
        if (graph->edges.at[e].callee == node && graph->edges.at[e].caller != node)
            return true;
    return false;
}

static void find_hot_path(struct profile_graph *graph)
{
    if (graph->nodes.count == 0)
        return;
    size_t node = 0;
    while (node < graph->nodes.count && is_called(graph, node))
        node++;
    node = node == graph->nodes.count ? 0 : node;
    for (bool going = true; going;) {
        graph->nodes.at[node].hot = true;
        going = false;
        /* Edges come longest first. */
        for (size_t e = 0; e < graph->edges.count && !going; e++) {
            struct profile_graph_edge *edge = &graph->edges.at[e];
            if (edge->caller != node || graph->nodes.at[edge->callee].hot)
                continue;
            edge->hot = going = true;
            node = edge->callee;
        }
    }
}

void profile_graph_make(struct profile_graph *graph, const struct profile *profile, double node_share,
                        double edge_share)
{
    add_nodes(graph, profile, node_share);
    size_t *node_of = mem_zalloc(profile->function_count + 1, sizeof *node_of);
    for (size_t n = 0; n < graph->nodes.count; n++)
        node_of[graph->nodes.at[n].function] = n + 1;
    add_edges(graph, profile, edge_share, node_of);
    free(node_of);
    find_hot_path(graph);
}

void profile_graph_release(struct profile_graph *graph)
{
    VEC_FREE(&graph->nodes);
    VEC_FREE(&graph->edges);
}
