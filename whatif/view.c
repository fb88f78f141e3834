#include "whatif/replay.h"

/* Does the edge K of M lead to it as late as the replay of VIEW has it? */
static bool reaches(const struct replay_graph *view, uint32_t k, moment_id m)
{
    const struct replay_graph *graph = view->view_of->graph; /* as recorded */
    const struct changes *changes = view->view_with;
    const struct replay_edge of = replay_edge_at(graph, k), *edge = &of;
    if (edge->from == m || changes_dropped(changes, k))
        return false;
    if (edge->relation == RELATION_QUEUED)
        return changes->keeps_queued &&
               replay_moment_ns(view, edge->from) + replay_queued_ns(graph, edge->from, m) ==
                   replay_moment_ns(view, m);
    if (edge->relation == RELATION_ROOM && changes->keeps_queued)
        return false;
    int64_t recorded_ns = replay_moment_ns(graph, m) - replay_moment_ns(graph, edge->from);
    if (edge->binds && !edge->keeps &&
        replay_moment_ns(view, edge->from) + recorded_ns == replay_moment_ns(view, m))
        return true; /* as recorded */
    int64_t lag_ns =
        edge->keeps || edge->relation == RELATION_TURN || edge->relation == RELATION_ROOM ? recorded_ns : 0;
    if (!edge->keeps && edge->relation == RELATION_STREAM)
        lag_ns = replay_least_pause(graph, changes, edge->from, m);
    if (edge->keeps && edge->relation == RELATION_LAUNCH)
        lag_ns = replay_launch_lag(graph, changes, edge->from, m);
    bool is_transfer = edge->relation == RELATION_COLLECTIVE && m >= graph->host_count;
    return is_transfer ? replay_moment_ns(view, edge->from) < replay_moment_ns(view, m)
                       : replay_moment_ns(view, edge->from) + lag_ns == replay_moment_ns(view, m);
}

struct replay_edge view_binding(const struct replay_graph *view, moment_id m)
{
    struct edge_range range = replay_edges_of(view, m);
    struct replay_edge chosen = { .from = MOMENT_NONE };
    for (uint32_t k = range.end; k-- > range.first;)
        if (reaches(view, k, m) && (!chosen.binds || view->edges.kind[k] & EDGE_BINDS))
            chosen = replay_edge_at(view, k);
    return chosen;
}

struct replay_graph *view_open(const struct replay *replay, const struct changes *changes, bool *lacks)
{
    struct replay_graph *view = mem_alloc(sizeof *view);
    *view = *replay->graph;
    view->shifts = &replay->shifts;
    view->view_of = replay;
    view->view_with = changes;
    view->view_lacks = lacks;
    return view;
}
