/* sensitivity.c - see sensitivity.h. Where the gain bends is found by halving. */
#include "whatif/sensitivity.h"

#include "whatif/replay.h"

struct probe {
    const struct replay_graph *graph;
    const struct path_window *window;
    const struct path_item *item;
    struct changes *changes;
    moment_id start, end; /* start MOMENT_NONE: it does not move */
};

static bool is_of_host(enum path_part part)
{
    return part == PART_OPERATOR || part == PART_CALL;
}

static bool is_of_device(enum path_part part)
{
    return part == PART_KERNEL || part == PART_COPY || part == PART_MEMSET || part == PART_COMMUNICATION;
}

static bool lies_within(const struct probe *probe, int64_t start_ns, int64_t end_ns)
{
    return end_ns > probe->window->start_ns && start_ns < probe->window->end_ns;
}

/* Is the piece that leads to M of the item? */
static bool piece_is_of(const struct probe *probe, moment_id m)
{
    const struct trace *trace = probe->graph->trace;
    event_id span = probe->graph->inner[m];
    return span != EVENT_NONE && trace->name[span] == probe->item->name &&
           event_is_call((enum event_kind)trace->kind[span]) == (probe->item->part == PART_CALL) &&
           lies_within(probe, replay_moment_ns(probe->graph, m - 1), replay_moment_ns(probe->graph, m));
}

static bool work_is_of(const struct probe *probe, size_t i)
{
    const struct replay_graph *graph = probe->graph;
    return graph->trace->name[graph->gpu->event[i]] == probe->item->name &&
           path_part_of_work(graph, i) == probe->item->part &&
           lies_within(probe, replay_moment_ns(graph, replay_work_start(graph, i)),
                       replay_moment_ns(graph, replay_work_end(graph, i)));
}

/* Did the thread of M wait for a collective of the item? */
static bool wait_is_of(const struct probe *probe, moment_id m)
{
    const struct replay_graph *graph = probe->graph;
    struct edge_range range = replay_edges_of(graph, m);
    for (uint32_t k = range.first; k < range.end; k++) {
        const struct replay_edge edge = replay_edge_at(graph, k);
        if (edge.relation == RELATION_COLLECTIVE && edge.from != m &&
            graph->trace->name[replay_collective_of(graph, edge.from)] == probe->item->name)
            return lies_within(probe, replay_moment_ns(graph, edge.from), replay_moment_ns(graph, m));
    }
    return false;
}

/* How much shorter the window is when the item takes FACTOR of its time. */
static int64_t gain_at(const struct probe *probe, double factor)
{
    const struct replay_graph *graph = probe->graph;
    if (is_of_host(probe->item->part)) {
        for (moment_id m = 1; m < graph->host_count; m++)
            if (piece_is_of(probe, m))
                factors_set(&probe->changes->piece, m, (float)factor);
    } else {
        for (moment_id m = 0; m < graph->host_count && probe->item->part == PART_COMMUNICATION; m++)
            if (wait_is_of(probe, m))
                factors_set(&probe->changes->piece, m, (float)factor);
        for (size_t i = 0; i < graph->gpu->count; i++)
            if (work_is_of(probe, i))
                factors_set(&probe->changes->work, i, (float)factor);
    }
    struct replay *replay = replay_open(graph, probe->changes);
    int64_t gain_ns = replay_moment_ns(graph, probe->end) - replay_time_of(replay, probe->end);
    if (probe->start != MOMENT_NONE)
        gain_ns -= replay_moment_ns(graph, probe->start) - replay_time_of(replay, probe->start);
    replay_free(replay);
    return gain_ns;
}

/* Does taking SHARE off the item still gain that share of its time on the path? One part in a hundred may be missing. */
static bool gains_all(const struct probe *probe, double share)
{
    return (double)gain_at(probe, 1 - share) >= 0.99 * share * (double)probe->item->time_ns - 1;
}

struct sensitivity sensitivity_of(const struct replay_graph *graph, const struct path_window *window,
                                  const struct path_item *item)
{
    enum { HALVINGS = 7 };
    struct sensitivity sensitivity = { .known = is_of_host(item->part) || is_of_device(item->part) };
    struct probe probe = { .graph = graph, .window = window, .item = item, .start = MOMENT_NONE };
    probe.end = path_last_moment(graph, window);
    if (!sensitivity.known || probe.end == MOMENT_NONE)
        return (struct sensitivity){ .known = false };
    if (window->thread != UINT32_MAX)
        probe.start = replay_moment_from(graph, window->thread, window->start_ns);
    probe.changes = changes_open(graph);
    sensitivity.gone_saves_ns = gain_at(&probe, 0);
    double low = 0, high = 1;
    if (gains_all(&probe, 1))
        low = 1;
    for (int i = 0; i < HALVINGS && low < 1; i++) {
        double middle = (low + high) / 2;
        if (gains_all(&probe, middle))
            low = middle;
        else
            high = middle;
    }
    sensitivity.leaves_share = low;
    changes_free(probe.changes);
    return sensitivity;
}
