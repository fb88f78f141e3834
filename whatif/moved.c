#include "whatif/whatif.h"

#include "base/search.h"
#include "trace/step_name.h"

struct moved {
    const struct replay *replay;
    uint32_t *work_of; /* by event: index into gpu->event; UINT32_MAX: none */
    bool *is_mark;     /* by name: of a step that only devices mark */
};

/* What began first and ended last among work; UINT32_MAX: none did. */
struct first_and_last {
    uint32_t first, last;
};

struct moved *moved_open(const struct replay *replay)
{
    const struct trace *trace = replay->graph->trace;
    const struct gpu_events *gpu = replay->graph->gpu;
    struct moved *moved = arena_open(sizeof *moved);
    moved->replay = replay;
    moved->work_of = arena_alloc(arena_of(moved), mem_times(trace->event_count + 1, sizeof *moved->work_of));
    memset(moved->work_of, 0xff, (trace->event_count + 1) * sizeof *moved->work_of);
    for (size_t i = 0; i < gpu->count; i++)
        moved->work_of[gpu->event[i]] = (uint32_t)i;
    size_t name_count = names_count(trace->names);
    moved->is_mark = arena_zalloc(arena_of(moved), name_count + 1, sizeof *moved->is_mark);
    for (name_id id = 0; id < name_count; id++)
        moved->is_mark[id] = step_name_is_of_devices(names_text(trace->names, id));
    return moved;
}

static int64_t recorded(const struct moved *moved, moment_id m)
{
    return replay_recorded_ns(moved->replay->graph, m);
}

/* By how much M comes later than recorded. */
static int64_t moved_shift_of(const struct moved *moved, moment_id m)
{
    return replay_time_of(moved->replay, m) - recorded(moved, m);
}

static void moved_collect(const struct moved *moved, uint32_t work, struct first_and_last *found)
{
    const struct replay_graph *graph = moved->replay->graph;
    if (found->first == UINT32_MAX || recorded(moved, replay_work_start(graph, work)) <
                                          recorded(moved, replay_work_start(graph, found->first)))
        found->first = work;
    if (found->last == UINT32_MAX ||
        recorded(moved, replay_work_end(graph, work)) > recorded(moved, replay_work_end(graph, found->last)))
        found->last = work;
}

/* The work of DEVICE, of TRACK where that is not UINT32_MAX, that began from START_NS on and ended by END_NS. */
static void look_through(const struct moved *moved, const struct gpu_device *device, track_id track,
                         int64_t start_ns, int64_t end_ns, struct first_and_last *found)
{
    const struct replay_graph *graph = moved->replay->graph;
    size_t i, end = device->first + device->count;
    SEARCH_BETWEEN(i, device->first, end, recorded(moved, replay_work_start(graph, i)) < start_ns);
    for (; i < end && recorded(moved, replay_work_start(graph, i)) <= end_ns; i++)
        if ((track == UINT32_MAX || graph->trace->track[graph->gpu->event[i]] == track) &&
            recorded(moved, replay_work_end(graph, i)) <= end_ns)
            moved_collect(moved, (uint32_t)i, found);
}

/* By how much the last work of DEVICE that began before NS comes later; 0: there is none. */
static int64_t shift_before(const struct moved *moved, const struct gpu_device *device, int64_t ns)
{
    const struct replay_graph *graph = moved->replay->graph;
    size_t i, end = device->first + device->count;
    SEARCH_BETWEEN(i, device->first, end, recorded(moved, replay_work_start(graph, i)) <= ns);
    return i > device->first ? moved_shift_of(moved, replay_work_end(graph, i - 1)) : 0;
}

/* Move TIMES of event E, which lies on no program thread, with the work that it marks. */
static void move_mark(const struct moved *moved, event_id e, struct moved_times *times)
{
    const struct trace *trace = moved->replay->graph->trace;
    const struct gpu_events *gpu = moved->replay->graph->gpu;
    const struct track *track = &trace->tracks[trace->track[e]];
    bool is_stream = track->kind == TRACK_STREAM;
    if (!is_stream && !moved->is_mark[trace->name[e]])
        return;
    struct first_and_last found = { UINT32_MAX, UINT32_MAX };
    const struct gpu_device *own = NULL;
    for (int of_track = is_stream; of_track >= 0 && found.first == UINT32_MAX; of_track--)
        FOR_EACH_OF(device, gpu->devices, gpu->device_count) {
            if (device->file != track->file || (is_stream && device->id != track->device))
                continue;
            own = own ? own : device;
            look_through(moved, device, of_track ? trace->track[e] : UINT32_MAX, times->start_ns,
                         times->end_ns, &found);
        }
    int64_t start_shift_ns = 0, end_shift_ns = 0;
    if (found.first != UINT32_MAX) {
        start_shift_ns = moved_shift_of(moved, replay_work_start(moved->replay->graph, found.first));
        end_shift_ns = moved_shift_of(moved, replay_work_end(moved->replay->graph, found.last));
    } else if (own) {
        start_shift_ns = end_shift_ns = shift_before(moved, own, times->start_ns);
    }
    times->start_ns += start_shift_ns;
    times->end_ns += end_shift_ns;
}

struct moved_times moved_times_of(const struct moved *moved, event_id e)
{
    const struct replay_graph *graph = moved->replay->graph;
    const struct track *track = &graph->trace->tracks[graph->trace->track[e]];
    uint32_t thread = graph->thread_of_track[graph->trace->track[e]];
    struct moved_times times = { replay_event_start(graph, e), replay_event_end(graph, e) };
    if (moved->work_of[e] != UINT32_MAX) {
        times.start_ns = replay_time_of(moved->replay, replay_work_start(graph, moved->work_of[e]));
        times.end_ns = replay_time_of(moved->replay, replay_work_end(graph, moved->work_of[e]));
    } else if (thread != UINT32_MAX) {
        times.start_ns = replay_time_at(moved->replay, thread, times.start_ns);
        times.end_ns = replay_time_at(moved->replay, thread, times.end_ns);
    } else {
        move_mark(moved, e, &times);
    }
    times.end_ns = times.end_ns > times.start_ns ? times.end_ns : times.start_ns;
    times.start_ns -= graph->shift_ns[track->file];
    times.end_ns -= graph->shift_ns[track->file];
    return times;
}
