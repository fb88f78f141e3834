/*
 * full_queues.c - launching calls that had to wait for a place in the queue of their device.
 *
 * A device takes a thousand launches or so ahead. A host that runs ahead of it launches until its queue is full; from then on each
 * launch takes as long as the device needs for some work, and the host is as fast as that. CUPTI records it as an overhead of that name.
 * Where it is not recorded, nearly a thousand pieces of work were queued, the call took longer than others, and it returned when
 * one of these was done.
 */
#include "whatif/replay.h"

#include "base/search.h"
#include "trace/call_names.h"

enum {
    QUEUED = 900,             /* pieces of work; NVIDIA's queues hold 1024 */
    USUAL_NS = 10000,         /* at most, of a launching call of a recording in which all queues are full */
    LATEST_RETURN_NS = 40000, /* of the call after the end of the work that made room */
    LOOKED_AT = 8             /* pieces of work that may have made it */
};

static bool is_launch(const struct graph_maker *maker, size_t work)
{
    event_id call = maker->graph->gpu->call[work];
    return call != EVENT_NONE && maker->call_sorts[maker->graph->trace->name[call]] == CALL_LAUNCH;
}

static int64_t full_queues_start_of(const struct replay_graph *graph, size_t work)
{
    return replay_moment_ns(graph, replay_work_start(graph, work));
}

static int64_t full_queues_end_of(const struct replay_graph *graph, size_t work)
{
    return replay_moment_ns(graph, replay_work_end(graph, work));
}

/* Was a queue nearly full as work I, of a device whose first is FIRST, was launched? */
static bool is_queue_full(const struct replay_graph *graph, size_t first, size_t i)
{
    return i - first >= QUEUED &&
           full_queues_start_of(graph, i - QUEUED) > replay_event_start(graph, graph->gpu->call[i]);
}

/* What a launching call takes that does not wait: the tenth percentile of those that found room. Where all queues were full, of all, but no more
 * than USUAL_NS: each of them may have waited. 1 at least, as 0 is for not asked yet. */
static int64_t usual_launch(const struct graph_maker *maker)
{
    const struct replay_graph *graph = maker->graph;
    VEC_OF(int64_t) durations = { 0 }, waiting = { 0 };
    FOR_EACH_OF(device, graph->gpu->devices, graph->gpu->device_count) {
        for (size_t i = device->first; i < device->first + device->count; i++) {
            if (!is_launch(maker, i))
                continue;
            int64_t duration_ns = trace_dur_ns(graph->trace, graph->gpu->call[i]);
            if (is_queue_full(graph, device->first, i))
                *VEC_PUSH(&waiting) = duration_ns;
            else
                *VEC_PUSH(&durations) = duration_ns;
        }
    }
    int64_t usual_ns = 0;
    if (durations.count) {
        SORT_NUMBERS(durations.at, durations.count);
        usual_ns = durations.at[durations.count / 10];
    } else if (waiting.count) {
        SORT_NUMBERS(waiting.at, waiting.count);
        usual_ns = waiting.at[waiting.count / 10] < USUAL_NS ? waiting.at[waiting.count / 10] : USUAL_NS;
    }
    VEC_FREE(&durations);
    VEC_FREE(&waiting);
    return usual_ns > 0 ? usual_ns : 1;
}

/* Of the work from FIRST to before I, in order of starts, what ended last between START_NS and END_NS; SIZE_MAX: none did. */
static size_t last_ended(const struct replay_graph *graph, size_t first, size_t i, int64_t start_ns,
                         int64_t end_ns)
{
    size_t last = SIZE_MAX, started;
    SEARCH(started, i - first, full_queues_start_of(graph, first + started) <= end_ns);
    for (size_t k = 0; k < LOOKED_AT && k < started; k++) {
        size_t work = first + started - 1 - k;
        if (full_queues_end_of(graph, work) > start_ns && full_queues_end_of(graph, work) <= end_ns &&
            (last == SIZE_MAX || full_queues_end_of(graph, work) > full_queues_end_of(graph, last)))
            last = work;
    }
    return last;
}

/* The call that ended at END_NS returned as WORK made room. */
static void add_room(struct graph_maker *maker, event_id call, int64_t end_ns, size_t work)
{
    struct replay_graph *graph = maker->graph;
    uint32_t thread = graph->thread_of_track[graph->trace->track[call]];
    moment_id m = thread == UINT32_MAX ? MOMENT_NONE : replay_moment_from(graph, thread, end_ns);
    if (m != MOMENT_NONE && replay_moment_ns(graph, m) == end_ns && graph->inner[m] == call)
        graph_add_edge(maker, replay_work_end(graph, work), m, RELATION_ROOM, false);
}

static uint32_t full_queues_file_of(const struct replay_graph *graph, event_id e)
{
    return graph->trace->tracks[graph->trace->track[e]].file;
}

/* Work I, of a device whose first is FIRST: did the call that launched it wait for room? */
static void full_queues_inspect(struct graph_maker *maker, size_t first, size_t i)
{
    struct replay_graph *graph = maker->graph;
    if (!is_launch(maker, i) || !is_queue_full(graph, first, i))
        return;
    event_id call = graph->gpu->call[i];
    int64_t start_ns = replay_event_start(graph, call), end_ns = replay_event_end(graph, call);
    if (graph->usual_launch_ns == 0)
        graph->usual_launch_ns = usual_launch(maker);
    size_t ended = last_ended(graph, first, i, start_ns, end_ns);
    if (end_ns - start_ns < 2 * graph->usual_launch_ns || ended == SIZE_MAX ||
        end_ns - full_queues_end_of(graph, ended) > LATEST_RETURN_NS)
        return;
    add_room(maker, call, end_ns, ended);
}

/* The launching call in which its thread was when the overhead E began and ended; EVENT_NONE: there is none. */
static event_id call_around(const struct graph_maker *maker, event_id e)
{
    const struct replay_graph *graph = maker->graph;
    uint32_t thread = graph->thread_of_track[graph->trace->track[e]];
    moment_id m =
        thread == UINT32_MAX ? MOMENT_NONE : replay_moment_from(graph, thread, replay_event_end(graph, e));
    event_id call = m == MOMENT_NONE ? EVENT_NONE : graph->inner[m];
    return call != EVENT_NONE && replay_lies_in(graph, e, call) &&
                   maker->call_sorts[graph->trace->name[call]] == CALL_LAUNCH
               ? call
               : EVENT_NONE;
}

/* Work of a process. */
struct ended {
    uint32_t process, work;
};

/* All work, process by process, by its end; of equal ends that of the first device last. */
struct ended_list {
    VEC_OF(struct ended);
};

static void list_ends(const struct graph_maker *maker, struct ended_list *ends)
{
    const struct gpu_events *gpu = maker->graph->gpu;
    for (size_t d = gpu->device_count; d-- > 0;) {
        const struct gpu_device *device = &gpu->devices[d];
        size_t process = device->count ? attribution_process(maker->launches, gpu->event[device->first]) : 0;
        for (size_t i = device->first; i < device->first + device->count; i++)
            *VEC_PUSH(ends) = (struct ended){ (uint32_t)process, (uint32_t)i };
    }
    SORT_BY(ends->at, ends->count, i, full_queues_end_of(maker->graph, ends->at[i].work));
    SORT_BY(ends->at, ends->count, i, ends->at[i].process);
}

/* The overhead E says that a call waited for room: until the work of its process that ended last meanwhile. False: not which call. */
static bool collect_record(struct graph_maker *maker, struct ended_list *ends, event_id e)
{
    struct replay_graph *graph = maker->graph;
    event_id call = call_around(maker, e);
    if (call == EVENT_NONE)
        return false;
    if (ends->count == 0) {
        list_ends(maker, ends);
        graph->usual_launch_ns = usual_launch(maker);
    }
    int64_t start_ns = replay_event_start(graph, call), end_ns = replay_event_end(graph, e);
    size_t process = attribution_process(maker->launches, call), i;
    SEARCH(i, ends->count,
           ends->at[i].process < process ||
               (ends->at[i].process == process && full_queues_end_of(graph, ends->at[i].work) <= end_ns));
    if (i > 0 && ends->at[i - 1].process == process &&
        full_queues_end_of(graph, ends->at[i - 1].work) > start_ns)
        add_room(maker, call, replay_event_end(graph, call), ends->at[i - 1].work);
    return true;
}

void graph_add_full_queues(struct graph_maker *maker)
{
    const struct replay_graph *graph = maker->graph;
    const struct trace *trace = graph->trace;
    const struct gpu_events *gpu = graph->gpu;
    struct ended_list ends = { 0 }; /* empty before there is a record */
    bool *has_records = mem_zalloc(trace->file_count + 1, sizeof *has_records);
    for (event_id e = 0; e < trace->event_count && gpu->count > 0; e++)
        if (trace->kind[e] == EVENT_OVERHEAD && overhead_is_full_queue(trace_name(trace, e)) &&
            collect_record(maker, &ends, e))
            has_records[full_queues_file_of(graph, e)] = true;
    FOR_EACH_OF(device, gpu->devices, gpu->device_count) {
        for (size_t i = device->first; i < device->first + device->count && !has_records[device->file]; i++)
            full_queues_inspect(maker, device->first, i);
    }
    VEC_FREE(&ends);
    free(has_records);
}
