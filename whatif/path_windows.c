/* path_windows.c - the windows that get a critical path: see path.h. */
#include "derive/step_list.h"
#include "whatif/path.h"

/* Widen WINDOW to reach from START to END. */
static void path_windows_widen(struct path_window *window, bool *any, int64_t start_ns, int64_t end_ns)
{
    if (!*any || start_ns < window->start_ns)
        window->start_ns = start_ns;
    if (!*any || end_ns > window->end_ns)
        window->end_ns = end_ns;
    *any = true;
}

/* The first moment of THREAD at which a span begins, and the last at which one ends. */
static bool busy_range(const struct replay_graph *graph, const struct replay_thread *thread,
                       int64_t *start_ns, int64_t *end_ns)
{
    moment_id first = thread->first + 1, last = thread->first + thread->count - 1;
    while (first <= last && graph->inner[first] == EVENT_NONE)
        first++;
    if (first > last)
        return false;
    while (graph->inner[last] == EVENT_NONE)
        last--;
    *start_ns = replay_moment_ns(graph, first - 1);
    *end_ns = replay_moment_ns(graph, last);
    return true;
}

struct path_windows *path_windows_whole(const struct replay_graph *graph)
{
    struct path_windows *windows = arena_open(sizeof *windows);
    ARENA_OWNS(arena_of(windows), &windows->at);
    size_t files = graph->trace->file_count;
    struct path_window *of_group = mem_zalloc(files + 1, sizeof *of_group);
    bool *any = mem_zalloc(files + 1, sizeof *any);
    for (size_t t = 0; t < graph->thread_count; t++) {
        uint32_t group = graph->group[graph->trace->tracks[graph->threads[t].track].file];
        int64_t start_ns, end_ns;
        if (busy_range(graph, &graph->threads[t], &start_ns, &end_ns))
            path_windows_widen(&of_group[group], &any[group], start_ns, end_ns);
    }
    for (size_t i = 0; i < graph->gpu->count; i++) {
        uint32_t group = graph->group[graph->trace->tracks[graph->trace->track[graph->gpu->event[i]]].file];
        path_windows_widen(&of_group[group], &any[group],
                           replay_moment_ns(graph, replay_work_start(graph, i)),
                           replay_moment_ns(graph, replay_work_end(graph, i)));
    }
    for (uint32_t f = 0; f < files; f++) {
        if (!any[f])
            continue;
        of_group[f].file = f;
        of_group[f].thread = UINT32_MAX;
        of_group[f].event = EVENT_NONE;
        *VEC_PUSH(windows) = of_group[f];
    }
    EACH(free, of_group, any);
    return windows;
}

static struct path_window window_of(const struct replay_graph *graph, event_id e, int64_t number,
                                    bool is_step)
{
    track_id track = graph->trace->track[e];
    uint32_t file = graph->trace->tracks[track].file;
    return (struct path_window){
        .start_ns = replay_event_start(graph, e),
        .end_ns = replay_event_end(graph, e),
        .file = file,
        .thread = graph->thread_of_track[track],
        .event = e,
        .number = number,
        .is_step = is_step,
    };
}

/* An inferred step begins with its event, but does not end with it. */
static struct path_window window_of_step(const struct replay_graph *graph, const struct step *step)
{
    struct path_window window = window_of(graph, step->event, step->number, true);
    if (step->evidence != STEP_IS_MARKED)
        window.end_ns = replay_time(graph, step->file, step->end_ns);
    return window;
}

static const struct key by_number_end[] = { ASC(struct path_window, number), DESC(struct path_window, end_ns),
                                            ASC(struct path_window, event), KEY_END };

struct path_windows *path_windows_steps(const struct replay_graph *graph)
{
    struct path_windows *windows = arena_open(sizeof *windows);
    ARENA_OWNS(arena_of(windows), &windows->at);
    const struct step_list *steps = step_list_of(graph->trace);
    struct path_window *all = mem_alloc(mem_times(steps->count + 1, sizeof *all));
    for (size_t i = 0; i < steps->count; i++)
        all[i] = window_of_step(graph, &steps->at[i]);
    SORT_ARRAY(all, steps->count, by_number_end);
    SORT_BY(all, steps->count, i, graph->group[all[i].file]);
    for (size_t i = 0; i < steps->count; i++) {
        const struct path_window *window = &all[i], *before = i ? &all[i - 1] : NULL;
        bool repeated = before && graph->group[before->file] == graph->group[window->file] &&
                        before->number == window->number && before->file != window->file;
        bool seen = false;
        for (size_t k = windows->count; repeated && k-- > 0 && windows->at[k].number == window->number;)
            seen |= windows->at[k].file != window->file;
        if (!seen)
            *VEC_PUSH(windows) = *window;
    }
    free(all);
    return windows;
}

struct path_windows *path_windows_named(const struct replay_graph *graph, const char *name)
{
    struct path_windows *windows = arena_open(sizeof *windows);
    ARENA_OWNS(arena_of(windows), &windows->at);
    const struct trace *trace = graph->trace;
    int64_t number = 0;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] > EVENT_DRIVER || trace->flags[e] & (EVENT_POINT | EVENT_ASYNC) ||
            strcmp(trace_name(trace, e), name) != 0)
            continue;
        *VEC_PUSH(windows) = window_of(graph, e, number++, false);
    }
    return windows;
}
