/* operations.c - the operations of each stream in a row, and what made the gaps between them. See parts.h. */
#include "analyze/sequences/parts.h"

#include "base/rows.h"
#include "base/search.h"
#include "derive/step_list.h"
#include "trace/derived.h"

/* ---- what a device did ---- */

struct busy_time {
    struct intervals set;
    size_t near; /* where was searched last */
};

static struct intervals busy_of(const struct trace *trace, const struct gpu_events *gpu,
                                const struct gpu_device *device)
{
    struct intervals set = { 0 };
    for (size_t i = device->first; i < device->first + device->count; i++)
        intervals_add(&set, trace_start_ns(trace, gpu->event[i]), trace_end_ns(trace, gpu->event[i]));
    intervals_merge(&set);
    return set;
}

int64_t busy_times_idle_ns(struct busy_time *busy, uint32_t device, int64_t start_ns, int64_t end_ns)
{
    return start_ns >= end_ns
               ? 0
               : end_ns - start_ns -
                     intervals_length_near(&busy[device].set, start_ns, end_ns, &busy[device].near);
}

struct busy_time *busy_times_open(const struct stream_operations *operations)
{
    const struct gpu_events *gpu = operations->gpu;
    struct busy_time *busy = arena_open(mem_times(gpu->device_count + 1, sizeof *busy));
    ARENA_OWNS_EACH(arena_of(busy), busy, gpu->device_count, set.at);
    for (size_t d = 0; d < gpu->device_count; d++)
        busy[d] = (struct busy_time){ busy_of(operations->trace, gpu, &gpu->devices[d]), 0 };
    return busy;
}

/* ---- operations in a row ---- */

struct row_query {
    const struct trace *trace;
    const struct selection *selection;
    const struct gpu_events *gpu;
    const struct step_list *steps; /* NULL: they part no operations */
};

/* The step of the work at POSITION of the device events; NULL: in none, or steps do not matter. NEAR: as of step_list_near. */
static const struct step *step_of(const struct row_query *query, uint32_t position, size_t *near)
{
    const struct trace *trace = query->trace;
    event_id call = query->gpu->call[position];
    if (!query->steps)
        return NULL;
    event_id e = call == EVENT_NONE ? query->gpu->event[position] : call;
    return step_list_near(query->steps, trace->tracks[trace->track[e]].file, trace_start_ns(trace, e), near);
}

static enum late_because late_because(const struct trace *trace, event_id call, event_id call_before,
                                      int64_t empty_ns)
{
    if (call == EVENT_NONE)
        return LATE_UNKNOWN;
    if (call_before == call)
        return LATE_DEVICE;
    return trace_start_ns(trace, call) > empty_ns ? LATE_HOST : LATE_DEVICE;
}

/* The work at POSITION of the device events, which follows that at BEFORE (NULL: it is the stream's first), where all had
 * ended at EMPTY_NS. FOLLOWS: it is of the same step, and that is selected. */
static struct stream_work work_at(const struct row_query *query, uint32_t position, const uint32_t *before,
                                  int64_t empty_ns, bool follows)
{
    const struct gpu_events *gpu = query->gpu;
    const struct trace *trace = query->trace;
    struct stream_work work = { .position = position };
    work.because =
        (uint8_t)late_because(trace, gpu->call[position], before ? gpu->call[*before] : EVENT_NONE, empty_ns);
    work.alone = !before || !follows;
    work.paused =
        work.alone || trace_start_ns(trace, gpu->event[position]) - trace_end_ns(trace, gpu->event[*before]) >
                          SEQUENCE_PAUSE_NS;
    return work;
}

static void add_stream(struct stream_operations *operations, const struct row_query *query,
                       const struct gpu_streams *streams, const struct gpu_stream *stream)
{
    size_t first = operations->count, near = 0;
    int64_t empty_ns = INT64_MIN;
    bool adjacent = false;
    const struct step *last_step = NULL;
    for (size_t i = stream->first; i < stream->first + stream->count; i++) {
        const uint32_t *position = &streams->position[i];
        const struct step *step = step_of(query, *position, &near);
        struct stream_work work = work_at(query, *position, i > stream->first ? position - 1 : NULL, empty_ns,
                                          adjacent && step == last_step);
        last_step = step;
        adjacent = selection_holds_work(query->selection, work_event(operations, &work),
                                        work_call(operations, &work));
        if (adjacent)
            operations->at[operations->count++] = work;
        int64_t end_ns = work_end_ns(operations, &work);
        empty_ns = end_ns > empty_ns ? end_ns : empty_ns;
    }
    if (operations->count > first)
        *VEC_PUSH(&operations->streams) =
            (struct operations_of_stream){ stream->device, stream->track, first, operations->count - first };
}

struct stream_operations *stream_operations_open(const struct trace *trace, const struct selection *selection,
                                                 bool by_steps)
{
    struct stream_operations *operations = arena_open(sizeof *operations);
    ARENA_OWNS(arena_of(operations), &operations->at, &operations->streams);
    operations->trace = trace;
    operations->gpu = gpu_events_of(trace);
    struct row_query query = { .trace = trace,
                               .selection = selection,
                               .gpu = operations->gpu,
                               .steps = by_steps ? step_list_of(trace) : NULL };
    operations->at = mem_alloc(mem_times(operations->gpu->count + 1, sizeof *operations->at));
    const struct gpu_streams *streams = gpu_streams_of(trace);
    for (size_t s = 0; s < streams->count; s++)
        add_stream(operations, &query, streams, &streams->at[s]);
    return operations;
}

void stream_operations_place(const struct stream_operations *operations,
                             const struct operations_of_stream *stream, int64_t *rank, int64_t *device,
                             int64_t *number)
{
    const struct track *track = &operations->trace->tracks[stream->track];
    *rank = selection_rank(operations->trace, track->file);
    *device = track->device;
    *number = track->stream;
}

/* ---- the outermost operators ---- */

struct outer_taking {
    const struct trace *trace;
    const bool *names;
};

static bool is_taken(const void *context, event_id e)
{
    const struct outer_taking *taking = context;
    const struct trace *trace = taking->trace;
    return trace->kind[e] == EVENT_OP && !(trace->flags[e] & (EVENT_POINT | EVENT_ASYNC)) &&
           (!taking->names || taking->names[trace->name[e]]);
}

static struct outer_operators find_outer(const struct trace *trace, const bool *names, struct arena *arena)
{
    struct outer_operators outer = { 0 };
    SCOPED_OBJECT struct calltree *tree =
        calltree_open(trace, is_taken, &(struct outer_taking){ trace, names });
    outer.first = arena_zalloc(arena, trace->track_count + 1, sizeof *outer.first);
    for (size_t t = 0, thread = 0; t < trace->track_count; t++) {
        if (thread < tree->thread_count && tree->threads[thread].track == t) {
            const struct calltree_thread *own = &tree->threads[thread++];
            size_t first = outer.count;
            for (node_id n = own->first; n < own->first + own->count; n++)
                if (outer.count == first || trace_start_ns(trace, tree->event[n]) >=
                                                trace_end_ns(trace, tree->event[outer.count - 1]))
                    tree->event[outer.count++] = tree->event[n];
        }
        outer.first[t + 1] = outer.count;
    }
    outer.at = arena_alloc(arena, mem_times(outer.count + 1, sizeof *outer.at));
    if (outer.count)
        memcpy(outer.at, tree->event, outer.count * sizeof *outer.at);
    return outer;
}

static struct outer_operators *outer_operators_find(const struct trace *trace)
{
    struct outer_operators *outer = arena_open(sizeof *outer);
    *outer = find_outer(trace, NULL, arena_of(outer));
    return outer;
}

static const struct outer_operators *all_outer_operators(const struct trace *trace);
DERIVED(outer_operators, all_outer_operators, outer_operators_find);

struct outer_operators outer_operators_open(const struct trace *trace, const bool *names, struct arena *arena)
{
    struct outer_operators outer = names ? find_outer(trace, names, arena) : *all_outer_operators(trace);
    outer.near = arena_zalloc(arena, trace->track_count + 1, sizeof *outer.near);
    return outer;
}

size_t outer_operator_of(struct outer_operators *outer, const struct trace *trace, event_id call)
{
    if (call == EVENT_NONE)
        return SIZE_MAX;
    track_id thread = trace->track[call];
    size_t first = outer->first[thread], count = outer->first[thread + 1] - first, i;
    int64_t moment_ns = trace_start_ns(trace, call);
    SEARCH_NEAR(i, outer->near[thread], count, trace_start_ns(trace, outer->at[first + i]) <= moment_ns);
    outer->near[thread] = i;
    return i == 0 || trace_end_ns(trace, outer->at[first + i - 1]) <= moment_ns ? SIZE_MAX : first + i - 1;
}
