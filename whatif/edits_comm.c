/* edits_comm.c - edits of communication. */
#include "whatif/editing.h"

#include "derive/host_computing.h"

/* The host's regions of a library that communicates there, such as gloo's. */
static bool is_host_communication(const void *context, event_id e)
{
    const bool *names = context;
    return names[e];
}

/* The operators of TRACK go on in regions that only began on it. */
static void leave_computing(const struct editing *editing, struct intervals *ranges, track_id track)
{
    const struct replay_graph *graph = editing->graph;
    const struct intervals *computing = &host_computing_of(editing->trace)->threads[track];
    uint32_t thread = graph->thread_of_track[track], file = editing->trace->tracks[track].file;
    if (thread == UINT32_MAX || computing->count == 0 || ranges[thread].count == 0)
        return;
    struct intervals moved = { 0 }, rest = { 0 };
    for (size_t i = 0; i < computing->count; i++)
        intervals_add(&moved, replay_time(graph, file, computing->at[i].start_ns),
                      replay_time(graph, file, computing->at[i].end_ns));
    intervals_subtract(&ranges[thread], &moved, &rest);
    EACH(intervals_release, &moved, &ranges[thread]);
    ranges[thread] = rest;
}

static void hide_host_communication(const struct editing *editing)
{
    const struct trace *trace = editing->trace;
    bool *by_name = mem_zalloc(names_count(trace->names) + 1, sizeof *by_name);
    bool *by_event = mem_zalloc(trace->event_count + 1, sizeof *by_event);
    for (name_id id = 0; id < names_count(trace->names); id++)
        by_name[id] = collective_runs_on_host(names_text(trace->names, id));
    for (event_id e = 0; e < trace->event_count; e++)
        by_event[e] = by_name[trace->name[e]];
    struct intervals *ranges = editing_ranges(editing, is_host_communication, by_event);
    for (track_id t = 0; t < trace->track_count; t++)
        leave_computing(editing, ranges, t);
    editing_scale_ranges(editing, ranges, 0);
    arena_free(ranges);
    EACH(free, by_name, by_event);
}

/* The gaps in which threads waited for a collective on the host. */
static void hide_waits_of_threads(const struct editing *editing)
{
    const struct replay_graph *graph = editing->graph;
    for (moment_id m = 0; m < graph->host_count; m++) {
        bool waits = false;
        struct edge_range range = replay_edges_of(graph, m);
        for (uint32_t k = range.first; k < range.end; k++) {
            const struct replay_edge edge = replay_edge_at(graph, k);
            if (edge.relation != RELATION_COLLECTIVE || !edge.binds)
                continue;
            changes_drop_edge(editing->changes, k);
            waits = true;
        }
        if (!waits)
            continue;
        editing_scale_piece(editing, m, 0);
        editing->effect->time_ns += replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1);
        editing->effect->count++;
    }
}

static void drop_waits_for_ranks(const struct editing *editing, size_t work)
{
    const struct replay_graph *graph = editing->graph;
    moment_id end = replay_work_end(graph, work);
    struct edge_range range = replay_edges_of(graph, end);
    for (uint32_t k = range.first; k < range.end; k++)
        if (replay_edge_at(graph, k).relation == RELATION_COLLECTIVE)
            changes_drop_edge(editing->changes, k);
}

void edit_overlap_comm(const struct editing *editing)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    hide_host_communication(editing);
    hide_waits_of_threads(editing);
    for (size_t i = 0; i < gpu->count; i++) {
        if (!gpu_work_communicates(gpu->work[i]))
            continue;
        editing_scale_work(editing, i, 0);
        drop_waits_for_ranks(editing, i);
    }
    edit_take_contention(editing);
}

/* From when the last rank is there: what of WORK is transfer. */
static int64_t transfer_of(const struct replay_graph *graph, size_t work)
{
    moment_id end = replay_work_end(graph, work);
    struct edge_range range = replay_edges_of(graph, end);
    for (uint32_t k = range.first; k < range.end; k++)
        if (replay_edge_at(graph, k).relation == RELATION_COLLECTIVE)
            return replay_moment_ns(graph, end) - replay_moment_ns(graph, replay_edge_at(graph, k).from);
    return replay_moment_ns(graph, end) - replay_moment_ns(graph, end - 1);
}

struct sized {
    event_id event;
    double bus_bytes;
};

static const struct key by_sized[] = { ASC(struct sized, event), KEY_END };

void edit_comm_bandwidth(const struct editing *editing)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    struct collectives *all = collectives_open(editing->trace);
    struct sized *sized = mem_alloc(mem_times(all->count + 1, sizeof *sized));
    size_t count = 0;
    FOR_EACH(one, all) {
        double bytes = (double)one->size_bytes * collective_bus_factor(one->kind, one->group_size);
        if (one->timed && one->size_bytes >= 0 && bytes >= 0)
            sized[count++] = (struct sized){ one->event, bytes };
    }
    if (count)
        SORT_ARRAY(sized, count, by_sized);
    for (size_t i = 0; i < gpu->count && count; i++) {
        struct sized key = { .event = gpu->event[i] };
        const struct sized *found = rows_find(sized, count, sizeof key, by_sized, &key);
        int64_t transfer_ns = transfer_of(editing->graph, i);
        if (found && transfer_ns > 0)
            editing_scale_work(editing, i,
                               found->bus_bytes / editing->edit->factor * 1e9 / (double)transfer_ns);
    }
    free(sized);
    arena_free(all);
}
