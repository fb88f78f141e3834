/* steps.c - see steps.h. */
#include "replay/steps.h"

#include "base/memory.h"
#include "base/stats.h"
#include "facts/step_list.h"
#include "replay/path.h"
#include <stdlib.h>

/* The thread that stands for the host of FILE: of STEP's track, else the one with the most moments; UINT32_MAX: none. */
static uint32_t thread_of_step(const struct replay_graph *graph, const struct step *step)
{
    uint32_t thread = graph->thread_of_track[graph->trace->track[step->event]];
    for (uint32_t t = 0; thread == UINT32_MAX && t < graph->thread_count; t++)
        if (graph->trace->tracks[graph->threads[t].track].file == step->file)
            thread = t;
    return thread;
}

static int64_t when(const struct replay *replay, uint32_t thread, int64_t ns)
{
    return thread == UINT32_MAX ? ns : replay_time_at(replay, thread, ns);
}

static void add_steps(struct step_times *times, const struct replay *replay)
{
    const struct replay_graph *graph = replay->graph;
    struct step_list *steps = step_list_open(graph->trace);
    times->overlapping = step_list_drop_overlaps(steps);
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->at[i];
        bool is_period = i + 1 < steps->count && steps->at[i + 1].file == step->file;
        const struct step *until = is_period ? &steps->at[i + 1] : step;
        int64_t start_ns = replay_time(graph, step->file, step->start_ns);
        int64_t end_ns = replay_time(graph, step->file, is_period ? until->start_ns : step->end_ns);
        *VEC_PUSH(times) = (struct step_time){
            .file = step->file,
            .number = step->number,
            .is_period = is_period,
            .start_ns = start_ns,
            .now_ns = end_ns - start_ns,
            .then_ns = when(replay, thread_of_step(graph, until), end_ns) -
                       when(replay, thread_of_step(graph, step), start_ns),
        };
    }
    step_list_free(steps);
}

/* The files whose recordings belong together, each group as one step. */
static void add_recordings(struct step_times *times, const struct replay *replay)
{
    const struct replay_graph *graph = replay->graph;
    struct path_windows *whole = path_windows_whole(graph);
    size_t *window_of = mem_zalloc(graph->trace->file_count + 1, sizeof *window_of); /* by group */
    for (size_t w = 0; w < whole->count; w++) {
        window_of[whole->at[w].file] = w;
        *VEC_PUSH(times) = (struct step_time){
            .file = whole->at[w].file,
            .number = INT64_MIN,
            .start_ns = whole->at[w].start_ns,
            .now_ns = whole->at[w].end_ns - whole->at[w].start_ns,
        };
    }
    for (moment_id m = 0; m < graph->moment_count; m++) {
        enum moment_kind kind = replay_moment_kind(graph, m);
        if (kind == MOMENT_JOIN || (kind == MOMENT_HOST && graph->inner[m] == EVENT_NONE))
            continue;
        track_id track = kind == MOMENT_HOST
                             ? graph->threads[replay_thread_of(graph, m)].track
                             : graph->trace->track[graph->gpu->event[replay_work_of(graph, m)]];
        struct step_time *one = &times->at[window_of[graph->group[graph->trace->tracks[track].file]]];
        if (replay_time_of(replay, m) - one->start_ns > one->then_ns)
            one->then_ns = replay_time_of(replay, m) - one->start_ns;
    }
    free(window_of);
    path_windows_free(whole);
}

static void take_medians(struct step_times *times)
{
    bool any = false;
    VEC_OF(int64_t) now = { 0 }, then = { 0 };
    for (size_t i = 0; i < times->count; i++)
        any |= times->at[i].is_period;
    for (size_t i = 0; i < times->count; i++) {
        if (any && !times->at[i].is_period)
            continue;
        *VEC_PUSH(&now) = times->at[i].now_ns;
        *VEC_PUSH(&then) = times->at[i].then_ns;
    }
    times->now_ns = stats_of(now.at, now.count).median;
    times->then_ns = stats_of(then.at, then.count).median;
    VEC_FREE(&now);
    VEC_FREE(&then);
}

struct step_times *step_times_open(const struct replay *replay, bool whole)
{
    struct step_times *times = mem_zalloc(1, sizeof *times);
    if (!whole)
        add_steps(times, replay);
    if (times->count == 0)
        add_recordings(times, replay);
    take_medians(times);
    return times;
}

void step_times_free(struct step_times *times)
{
    if (times)
        VEC_FREE(times);
    free(times);
}
