/* make_graph.c - see replay.h: the stages are in threads.c, device.c, full_queues.c, ranks.c and order.c. */
#include "whatif/replay.h"

#include "trace/call_names.h"
#include "trace/derived.h"

/* An event has two moments at most, and may cut a piece of another thread at both; joins are fewer than operations. */
static bool is_too_large(const struct trace *trace)
{
    return trace->event_count > UINT32_MAX / 5;
}

static void release_columns(void *of)
{
    struct replay_graph *graph = of;
    moment_times_release(&graph->times);
    column_free(graph->edges.from, mem_times(graph->edges.room, sizeof *graph->edges.from));
    column_free(graph->edges.kind, graph->edges.room);
    column_free(graph->order.first, mem_times(graph->order.room, sizeof *graph->order.first));
    column_free(graph->order.length, graph->order.room);
}

struct replay_graph *replay_graph_open_for(const struct trace *trace, replay_graph_choose *only,
                                           void *context)
{
    static const struct gpu_events no_work;
    struct replay_graph *graph = arena_open(sizeof *graph);
    ARENA_OWNS(arena_of(graph), &graph->threads, &graph->thread_of_track, &graph->inner, &graph->has_edges,
               &graph->first_edge, &graph->join_last, &graph->join_event, &graph->join_stays,
               &graph->shift_ns, &graph->group);
    arena_defer(arena_of(graph), release_columns, graph);
    graph->trace = trace;
    graph->too_large = is_too_large(trace);
    if (graph->too_large) {
        graph->gpu = &no_work;
        graph->shift_ns = mem_zalloc(trace->file_count + 1, sizeof *graph->shift_ns);
        graph->group = mem_zalloc(trace->file_count + 1, sizeof *graph->group);
        graph->has_edges = mem_zalloc(1, sizeof *graph->has_edges);
        graph->thread_of_track = mem_alloc(mem_times(trace->track_count + 1, sizeof *graph->thread_of_track));
        memset(graph->thread_of_track, 0xff, (trace->track_count + 1) * sizeof *graph->thread_of_track);
        return graph;
    }
    graph->gpu = gpu_events_of(trace);
    struct graph_maker maker = { .graph = graph, .launches = attribution_of(trace) };
    maker.call_sorts = call_sorts_open(trace->names);
    graph_match_ranks(&maker);
    graph_add_threads(&maker);
    graph_add_device(&maker);
    graph_add_full_queues(&maker);
    graph_add_joins(&maker);
    uint64_t *chosen = only ? only(context, graph) : NULL;
    maker.only = chosen;
    graph_order(&maker);
    EACH(free, maker.call_sorts, chosen);
    return graph;
}

struct replay_graph *replay_graph_open(const struct trace *trace)
{
    return replay_graph_open_for(trace, NULL, NULL);
}

DERIVED(replay_graph, replay_graph_of, replay_graph_open);

const struct replay_graph *replay_graph_known(const struct trace *trace)
{
    return trace_derived(trace, &replay_graph_of_derivation);
}
