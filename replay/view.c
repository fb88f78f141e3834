/* view.c - see view.h. */
#include "replay/view.h"

#include "base/memory.h"
#include <stdlib.h>

/* Does the edge K of M lead to it as late as the replay has it? */
static bool reaches(const struct replay *replay, const struct changes *changes, uint32_t k, moment_id m)
{
    const struct replay_graph *graph = replay->graph;
    const struct replay_edge *edge = &graph->edges[k];
    if (edge->from == m || changes_dropped(changes, k))
        return false;
    if (edge->relation == RELATION_QUEUED)
        return changes->keeps_queued &&
               replay->at_ns[edge->from] + replay_queued_ns(graph, edge->from, m) == replay->at_ns[m];
    int64_t lag_ns =
        edge->binds || edge->relation == RELATION_TURN ? graph->time_ns[m] - graph->time_ns[edge->from] : 0;
    if (edge->binds && edge->relation == RELATION_LAUNCH)
        lag_ns = replay_launch_lag(graph, changes, edge->from, m);
    bool is_transfer = edge->relation == RELATION_COLLECTIVE && m >= graph->host_count;
    return is_transfer ? replay->at_ns[edge->from] < replay->at_ns[m]
                       : replay->at_ns[edge->from] + lag_ns == replay->at_ns[m];
}

/* Does M come so late because of the moment before it? Only where nothing was to be waited for any longer. */
static bool follows(const struct replay *replay, const struct changes *changes, moment_id m)
{
    const struct replay_graph *graph = replay->graph;
    for (uint32_t k = graph->first_edge[m]; k < graph->first_edge[m + 1]; k++)
        if (reaches(replay, changes, k, m))
            return false;
    return true;
}

static void bind(const struct replay *replay, const struct changes *changes, struct replay_edge *edges,
                 moment_id m)
{
    const struct replay_graph *graph = replay->graph;
    uint32_t first = graph->first_edge[m], end = graph->first_edge[m + 1], chosen = end;
    for (uint32_t k = first; k < end; k++)
        edges[k].binds = false;
    if (first == end || follows(replay, changes, m))
        return;
    for (uint32_t k = end; k-- > first;)
        if (reaches(replay, changes, k, m) &&
            (chosen == end || !graph->edges[chosen].binds || graph->edges[k].binds))
            chosen = k;
    edges[chosen].binds = true;
}

struct replay_graph *view_open(const struct replay *replay, const struct changes *changes)
{
    const struct replay_graph *graph = replay->graph;
    struct replay_graph *view = mem_alloc(sizeof *view);
    *view = *graph;
    view->time_ns = replay->at_ns;
    view->edges = mem_alloc(mem_times(graph->edge_count + 1, sizeof *view->edges));
    memcpy(view->edges, graph->edges, graph->edge_count * sizeof *view->edges);
    for (size_t m = 0; m < graph->moment_count; m++)
        bind(replay, changes, view->edges, (moment_id)m);
    return view;
}

void view_free(struct replay_graph *view)
{
    if (view)
        free(view->edges);
    free(view);
}
