#include "whatif/replay.h"

#include "base/search.h"

size_t replay_thread_of(const struct replay_graph *graph, moment_id m)
{
    size_t low = 0, high = graph->thread_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (graph->threads[middle].first <= m)
            low = middle;
        else
            high = middle;
    }
    return low;
}

moment_id replay_moment_from(const struct replay_graph *graph, size_t thread, int64_t ns)
{
    const struct replay_thread *own = &graph->threads[thread];
    size_t at;
    SEARCH(at, own->count, replay_recorded_ns(graph, own->first + (moment_id)at) < ns);
    return at < own->count ? own->first + (moment_id)at : MOMENT_NONE;
}

moment_id replay_moment_near(const struct replay_graph *graph, size_t thread, int64_t ns, size_t *near)
{
    const struct replay_thread *own = &graph->threads[thread];
    size_t at;
    SEARCH_NEAR(at, *near, own->count, replay_recorded_ns(graph, own->first + (moment_id)at) < ns);
    *near = at;
    return at < own->count ? own->first + (moment_id)at : MOMENT_NONE;
}

struct replay_edge replay_binding(const struct replay_graph *graph, moment_id m)
{
    if (graph->view_of)
        return view_binding(graph, m);
    struct edge_range range = replay_edges_of(graph, m);
    for (uint32_t k = range.first; k < range.end; k++)
        if (graph->edges.kind[k] & EDGE_BINDS)
            return replay_edge_at(graph, k);
    return (struct replay_edge){ .from = MOMENT_NONE };
}

int64_t replay_queued_ns(const struct replay_graph *graph, moment_id from, moment_id m)
{
    int64_t idle_ns = replay_recorded_ns(graph, from),
            queued_ns = replay_event_end(graph, graph->gpu->call[replay_work_of(graph, m)]);
    return replay_recorded_ns(graph, m) - (idle_ns > queued_ns ? idle_ns : queued_ns);
}
