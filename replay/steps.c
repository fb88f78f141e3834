/* steps.c - see steps.h. */
#include "replay/steps.h"

#include "analyze/selection.h"
#include "base/memory.h"
#include "base/stats.h"
#include "facts/step_list.h"
#include "replay/path.h"
#include "trace/derived.h"
#include <math.h>
#include <stdlib.h>

/* New, by file, free with free(): its first thread; UINT32_MAX: it has none. */
static uint32_t *first_threads(const struct replay_graph *graph)
{
    uint32_t *first = mem_alloc(mem_times(graph->trace->file_count + 1, sizeof *first));
    for (size_t f = 0; f < graph->trace->file_count; f++)
        first[f] = UINT32_MAX;
    for (uint32_t t = (uint32_t)graph->thread_count; t-- > 0;)
        first[graph->trace->tracks[graph->threads[t].track].file] = t;
    return first;
}

/* The thread that stands for the host in STEP: the one it was marked on, else the first of its file. */
static uint32_t thread_of_step(const struct replay_graph *graph, const uint32_t *first,
                               const struct step *step)
{
    uint32_t thread = graph->thread_of_track[graph->trace->track[step->event]];
    return thread != UINT32_MAX ? thread : first[step->file];
}

/* The moment of THREAD recorded at NS; MOMENT_NONE: nothing of it is. */
static moment_id moment_at(const struct replay_graph *graph, uint32_t thread, int64_t ns)
{
    moment_id m = thread == UINT32_MAX ? MOMENT_NONE : replay_moment_from(graph, thread, ns);
    return m != MOMENT_NONE && replay_moment_ns(graph, m) == ns ? m : MOMENT_NONE;
}

static int64_t when(const struct replay *replay, uint32_t thread, int64_t ns)
{
    return thread == UINT32_MAX ? ns : replay_time_at(replay, thread, ns);
}

/* Work of one step, from FIRST (a place among the GPU events) up to END. */
struct work_run {
    uint32_t step, first, end;
};

/* The steps of a trace that do not overlap, and the work of each: the same for every replay. */
struct work_steps {
    struct step_list *steps;
    size_t overlapping; /* left out */
    VEC_OF(struct work_run) runs;
};

/* The step of STEPS that CALL began in; NULL: in none. LAST is a guess, or NULL. */
static const struct step *step_of_call(const struct trace *trace, const struct step_list *steps,
                                       event_id call, const struct step *last)
{
    uint32_t file = trace->tracks[trace->track[call]].file;
    int64_t start_ns = trace_start_ns(trace, call);
    return last && last->file == file && last->start_ns <= start_ns && start_ns < last->end_ns
               ? last
               : step_list_at(steps, file, start_ns);
}

static void *derive_work_steps(const struct trace *trace)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    struct work_steps *of = mem_zalloc(1, sizeof *of);
    of->steps = step_list_open(trace);
    of->overlapping = step_list_drop_overlaps(of->steps);
    const struct step *last = NULL;
    for (uint32_t i = 0; i < gpu->count; i++) {
        event_id call = gpu->call[i];
        const struct step *step = call == EVENT_NONE ? NULL : step_of_call(trace, of->steps, call, last);
        if (!step)
            continue;
        struct work_run *run = step == last ? &of->runs.at[of->runs.count - 1] : NULL;
        if (run && run->end == i)
            run->end++;
        else
            *VEC_PUSH(&of->runs) = (struct work_run){ (uint32_t)(step - of->steps->at), i, i + 1 };
        last = step;
    }
    return of;
}

static void release_work_steps(void *value)
{
    struct work_steps *of = value;
    step_list_free(of->steps);
    VEC_FREE(&of->runs);
    free(of);
}

static const struct work_steps *work_steps_of(const struct trace *trace)
{
    static const struct derivation derivation = { derive_work_steps, release_work_steps };
    return trace_derive(trace, &derivation);
}

/* When the devices were done with what a step launched. */
struct device_time {
    bool any;
    int64_t end_now_ns, end_then_ns;
};

/* New, by step: free with free(). */
static struct device_time *device_times(const struct replay *replay, const struct work_steps *of)
{
    const struct replay_graph *graph = replay->graph;
    struct device_time *times = mem_zalloc(of->steps->count + 1, sizeof *times);
    for (const struct work_run *run = of->runs.at; run < of->runs.at + of->runs.count; run++) {
        struct device_time *time = &times[run->step];
        for (size_t i = run->first; i < run->end; i++) {
            moment_id end = replay_work_end(graph, i);
            int64_t now_ns = replay_moment_ns(graph, end), then_ns = replay_time_of(replay, end);
            if (!time->any || now_ns > time->end_now_ns)
                time->end_now_ns = now_ns;
            if (!time->any || then_ns > time->end_then_ns)
                time->end_then_ns = then_ns;
            time->any = true;
        }
    }
    return times;
}

/* The devices needed NOW_NS for ONE, and would need THEN_NS. */
static void need(struct step_time *one, int64_t now_ns, int64_t then_ns)
{
    int64_t ahead_ns = now_ns > one->now_ns ? now_ns - one->now_ns : 0;
    if (then_ns - ahead_ns > one->then_ns)
        one->then_ns = then_ns - ahead_ns;
    one->device_now_ns = now_ns > one->device_now_ns ? now_ns : one->device_now_ns;
    one->device_then_ns = then_ns > one->device_then_ns ? then_ns : one->device_then_ns;
}

/*
 * The host's time and that of the devices, of the step ONE, which begins on the host at START_THEN_NS of the replay: see
 * steps.h. BEFORE, NEXT: the steps beside it; NULL: there is none.
 */
static void pace(struct step_time *one, int64_t start_then_ns, const struct device_time *before,
                 const struct device_time *own, const struct device_time *next)
{
    if (!own->any)
        return;
    if (before && before->any) {
        need(one, own->end_now_ns - before->end_now_ns, own->end_then_ns - before->end_then_ns);
    } else if (next && next->any) {
        need(one, next->end_now_ns - own->end_now_ns, next->end_then_ns - own->end_then_ns);
    } else {
        need(one, own->end_now_ns - one->start_ns, own->end_then_ns - start_then_ns);
    }
}

/* Do devices fall behind in the steps from FIRST to END: from one end of their work to the next more than from begin to begin? */
static bool fall_behind(const struct step_time *first, const struct step_time *end)
{
    enum { LEAST_STEPS = 3 };
    const double behind = 1.05;
    double host_ns = 0, devices_ns = 0;
    for (const struct step_time *one = first; one < end; one++) {
        if (one->device_now_ns <= 0)
            return false;
        host_ns += one + 1 < end ? (double)one->now_ns : 0;         /* the first to the last begin */
        devices_ns += one > first ? (double)one->device_now_ns : 0; /* the first to the last end */
    }
    return end - first >= LEAST_STEPS && devices_ns > behind * host_ns;
}

/* How far the periods from FIRST to END, OF_DEVICES or the host's, are from their mean: the mean of that, as a share of the mean. */
static double unevenness(const struct step_time *first, const struct step_time *end, bool of_devices)
{
    double sum_ns = 0, apart_ns = 0, count = (double)(end - first);
    for (const struct step_time *one = first; one < end; one++)
        sum_ns += (double)(of_devices ? one->device_now_ns : one->now_ns);
    for (const struct step_time *one = first; one < end; one++)
        apart_ns += fabs((double)(of_devices ? one->device_now_ns : one->now_ns) - sum_ns / count);
    return sum_ns > 0 ? apart_ns / sum_ns : 0;
}

/* Is the host, which runs ahead of its devices in some steps and is held up in others, far less even than they are? */
static bool is_uneven(const struct step_time *first, const struct step_time *end)
{
    enum { LEAST_STEPS = 4 };
    const double even = 0.05;
    while (first < end && !end[-1].is_period)
        end--;
    for (const struct step_time *one = first; one < end; one++)
        if (one->device_now_ns <= 0)
            return false;
    return end - first >= LEAST_STEPS && unevenness(first, end, false) > even &&
           unevenness(first + 1, end, true) < unevenness(first, end, false) / 2;
}

/*
 * Of the steps of a file from FIRST to END: where the devices fall behind, as the host waits for them at the end of the recording
 * alone, they are what the job is as fast as. On the host its steps take less until the queue of launches is full. Where the host
 * is uneven, the same job takes what its devices take for each step, and the median of the host's steps is a matter of chance.
 */
static void pace_by_devices(struct step_time *first, const struct step_time *end)
{
    if (is_uneven(first, end)) {
        for (struct step_time *one = first; one < end; one++)
            if (one->is_period) {
                one->now_ns = one->device_now_ns;
                one->then_ns = one->device_then_ns;
            }
        return;
    }
    if (!fall_behind(first, end))
        return;
    for (struct step_time *one = first; one < end; one++) {
        if (!one->is_period)
            continue;
        one->now_ns = one->device_now_ns > one->now_ns ? one->device_now_ns : one->now_ns;
        one->then_ns = one->device_then_ns > one->then_ns ? one->device_then_ns : one->then_ns;
    }
}

static void add_steps(struct step_times *times, const struct replay *replay)
{
    const struct replay_graph *graph = replay->graph;
    const struct work_steps *of = work_steps_of(graph->trace);
    const struct step_list *steps = of->steps;
    struct device_time *devices = device_times(replay, of);
    times->overlapping = of->overlapping;
    uint32_t *first = first_threads(graph);
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->at[i];
        bool is_period = i + 1 < steps->count && steps->at[i + 1].file == step->file;
        bool has_before = i > 0 && steps->at[i - 1].file == step->file;
        const struct step *until = is_period ? &steps->at[i + 1] : step;
        int64_t start_ns = replay_time(graph, step->file, step->start_ns);
        int64_t end_ns = replay_time(graph, step->file, is_period ? until->start_ns : step->end_ns);
        int64_t start_then_ns = when(replay, thread_of_step(graph, first, step), start_ns);
        struct step_time one = {
            .file = step->file,
            .number = step->number,
            .is_period = is_period,
            .start_ns = start_ns,
            .start = moment_at(graph, thread_of_step(graph, first, step), start_ns),
            .end = moment_at(graph, thread_of_step(graph, first, until), end_ns),
            .now_ns = end_ns - start_ns,
            .then_ns = when(replay, thread_of_step(graph, first, until), end_ns) - start_then_ns,
        };
        pace(&one, start_then_ns, has_before ? &devices[i - 1] : NULL, &devices[i],
             is_period ? &devices[i + 1] : NULL);
        *VEC_PUSH(times) = one;
    }
    for (size_t from = 0, end; from < times->count; from = end) {
        for (end = from; end < times->count && times->at[end].file == times->at[from].file;)
            end++;
        pace_by_devices(&times->at[from], &times->at[end - 1] + 1);
    }
    free(first);
    free(devices);
}

/* When the replay of a recording begins and ends. */
struct extent {
    int64_t begin_ns, end_ns;
};

/* The files whose recordings belong together, each group as one step. What came before the first moment may take less, too: then
 * the replay begins earlier. */
static void add_recordings(struct step_times *times, const struct replay *replay)
{
    const struct replay_graph *graph = replay->graph;
    struct path_windows *whole = path_windows_whole(graph);
    size_t *window_of = mem_zalloc(graph->trace->file_count + 1, sizeof *window_of); /* by group */
    struct extent *extents = mem_zalloc(whole->count + 1, sizeof *extents);
    for (size_t w = 0; w < whole->count; w++) {
        window_of[whole->at[w].file] = w;
        extents[w] = (struct extent){ whole->at[w].start_ns, INT64_MIN };
        *VEC_PUSH(times) = (struct step_time){
            .file = whole->at[w].file,
            .number = INT64_MIN,
            .start = MOMENT_NONE,
            .end = MOMENT_NONE,
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
        struct extent *extent = &extents[window_of[graph->group[graph->trace->tracks[track].file]]];
        int64_t from_ns = replay_time_of(replay, kind == MOMENT_WORK_START ? m : m - 1),
                ns = replay_time_of(replay, m);
        extent->begin_ns = from_ns < extent->begin_ns ? from_ns : extent->begin_ns;
        extent->end_ns = ns > extent->end_ns ? ns : extent->end_ns;
    }
    for (size_t w = 0; w < whole->count; w++) {
        times->at[w].begin_then_ns = extents[w].begin_ns;
        times->at[w].then_ns = extents[w].end_ns - extents[w].begin_ns;
    }
    free(extents);
    free(window_of);
    path_windows_free(whole);
}

/* A step that counts, of a rank. */
struct rank_step {
    int64_t rank, now_ns, then_ns;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct rank_step *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static int64_t longer(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* The steps of a rank into TIMES, where they are longer than those of the ranks so far. */
static void take_rank(struct step_times *times, const struct rank_step *steps, size_t count)
{
    int64_t *now = mem_alloc(mem_times(count, sizeof *now)),
            *then = mem_alloc(mem_times(count, sizeof *then));
    for (size_t i = 0; i < count; i++) {
        now[i] = steps[i].now_ns;
        then[i] = steps[i].then_ns;
    }
    struct stats now_stats = stats_of(now, count), then_stats = stats_of(then, count);
    times->now_ns = longer(times->now_ns, now_stats.median);
    times->then_ns = longer(times->then_ns, then_stats.median);
    times->mean_now_ns = longer(times->mean_now_ns, now_stats.mean);
    times->mean_then_ns = longer(times->mean_then_ns, then_stats.mean);
    free(now);
    free(then);
}

/* The slowest rank is how fast the job is. That matters where an edit lets ranks no longer wait for one another. */
static void take_medians(struct step_times *times, const struct trace *trace)
{
    bool any = false;
    for (size_t i = 0; i < times->count; i++)
        any |= times->at[i].is_period;
    VEC_OF(struct rank_step) steps = { 0 };
    for (size_t i = 0; i < times->count; i++)
        if (times->at[i].is_period || !any)
            *VEC_PUSH(&steps) = (struct rank_step){ selection_rank(trace, times->at[i].file),
                                                    times->at[i].now_ns, times->at[i].then_ns };
    if (steps.count)
        qsort(steps.at, steps.count, sizeof *steps.at, compare_ranks);
    for (size_t first = 0, end; first < steps.count; first = end) {
        for (end = first; end < steps.count && steps.at[end].rank == steps.at[first].rank;)
            end++;
        take_rank(times, &steps.at[first], end - first);
    }
    VEC_FREE(&steps);
}

struct step_times *step_times_open(const struct replay *replay, bool whole)
{
    struct step_times *times = mem_zalloc(1, sizeof *times);
    if (!whole)
        add_steps(times, replay);
    if (times->count == 0)
        add_recordings(times, replay);
    take_medians(times, replay->graph->trace);
    return times;
}

void step_times_free(struct step_times *times)
{
    if (times)
        VEC_FREE(times);
    free(times);
}
