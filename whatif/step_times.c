#include "whatif/whatif.h"

#include "analyze/account.h"
#include "base/search.h"
#include "base/stats.h"
#include "derive/copy_names.h"
#include "derive/step_list.h"
#include "trace/derived.h"
#include "base/sum.h"
#include <math.h>

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

/* Work of one step, from FIRST (a place among the GPU events) up to END, whose ends have shifts of one block. */
struct work_run {
    uint32_t step, first, end;
    int64_t end_ns; /* when the last of it ended, as recorded, on the clock of the graph */
};

/* When the devices were done with what a step launched. */
struct device_time {
    bool any;
    moment_id first;  /* the start of what began first */
    int64_t begin_ns; /* of it, as recorded */
    int64_t end_now_ns, end_then_ns;
};

/* The steps of a trace that do not overlap, and the work of each: the same for every replay. */
struct work_steps {
    struct step_list *steps;
    size_t overlapping; /* left out */
    VEC_OF(struct work_run) runs;
    struct device_time *now; /* by step: as recorded */
    VEC_OF(moment_id) kept;  /* ascending: those that tell when steps begin and end in a replay */
};

/* Add work I of the graph, of the step at INDEX, whose run is the last or a new one. */
static void add_work(struct work_steps *of, const struct replay_graph *graph, uint32_t i, uint32_t index)
{
    moment_id end = replay_work_end(graph, i);
    int64_t end_ns = replay_recorded_ns(graph, end);
    struct work_run *run = of->runs.count ? &of->runs.at[of->runs.count - 1] : NULL;
    if (!run || run->step != index || run->end != i ||
        replay_work_end(graph, run->first) / SHIFTS_OF_BLOCK != end / SHIFTS_OF_BLOCK) {
        run = VEC_PUSH(&of->runs);
        *run = (struct work_run){ index, i, i, end_ns };
    }
    run->end++;
    run->end_ns = end_ns > run->end_ns ? end_ns : run->end_ns;
    struct device_time *now = &of->now[index];
    moment_id start = replay_work_start(graph, i);
    int64_t begin_ns = replay_recorded_ns(graph, start);
    if (!now->any || begin_ns < now->begin_ns) {
        now->first = start;
        now->begin_ns = begin_ns;
    }
    if (!now->any || end_ns > now->end_now_ns)
        now->end_now_ns = end_ns;
    now->any = true;
}

/* Note what tells when the host is at NS of FILE, where STEP is marked. */
static void keep_moments(struct work_steps *of, const struct replay_graph *graph, const uint32_t *first,
                         const struct step *step, int64_t ns)
{
    uint32_t thread = thread_of_step(graph, first, step);
    if (thread == UINT32_MAX)
        return;
    struct replay_moments at = replay_moments_at(graph, thread, replay_time(graph, step->file, ns));
    *VEC_PUSH(&of->kept) = at.at;
    if (at.before != MOMENT_NONE)
        *VEC_PUSH(&of->kept) = at.before;
}

/* The moments at which steps begin, and, where none follows, end. */
static void keep_all_moments(struct work_steps *of, const struct replay_graph *graph)
{
    uint32_t *first = first_threads(graph);
    for (size_t i = 0; i < of->steps->count; i++) {
        const struct step *step = &of->steps->at[i];
        keep_moments(of, graph, first, step, step->start_ns);
        keep_moments(of, graph, first, step, step->end_ns);
        bool is_first = i == 0 || of->steps->at[i - 1].file != step->file;
        if ((is_first || step->of_devices) && of->now[i].any)
            *VEC_PUSH(&of->kept) = of->now[i].first;
    }
    free(first);
    SORT_NUMBERS(of->kept.at, of->kept.count);
    size_t kept = 0;
    for (size_t i = 0; i < of->kept.count; i++)
        if (kept == 0 || of->kept.at[kept - 1] != of->kept.at[i])
            of->kept.at[kept++] = of->kept.at[i];
    of->kept.count = kept;
}

static void *derive_work_steps(const struct trace *trace)
{
    const struct replay_graph *graph = replay_graph_of(trace);
    struct work_steps *of = arena_open(sizeof *of);
    ARENA_OWNS(arena_of(of), &of->runs, &of->kept, &of->now);
    of->steps = arena_hold(arena_of(of), step_list_open(trace));
    of->overlapping = step_list_drop_overlaps(of->steps);
    of->now = mem_zalloc(of->steps->count + 1, sizeof *of->now);
    const struct step *last = NULL;
    for (uint32_t i = 0; i < graph->gpu->count; i++) {
        const struct step *step =
            step_list_of_work(of->steps, trace, graph->gpu->event[i], graph->gpu->call[i], last);
        if (!step)
            continue;
        add_work(of, graph, i, (uint32_t)(step - of->steps->at));
        last = step;
    }
    keep_all_moments(of, graph);
    return of;
}

static const struct work_steps *work_steps_of(const struct trace *trace)
{
    static const struct derivation derivation = { derive_work_steps };
    return trace_derive(trace, &derivation);
}

/* What steps need to know of a replay, gathered block by block. */
struct gathering {
    const struct work_steps *of;
    struct device_time *devices; /* by step */
    int64_t *kept_ns;            /* shifts of OF->kept */
};

/* New, of no block; free with arena_free. */
static struct gathering *gathering_open(const struct work_steps *of)
{
    struct gathering *gathering = arena_open(sizeof *gathering);
    struct arena *arena = arena_of(gathering);
    gathering->of = of;
    gathering->devices = arena_alloc(arena, mem_times(of->steps->count + 1, sizeof *gathering->devices));
    gathering->kept_ns = arena_alloc(arena, mem_times(of->kept.count + 1, sizeof *gathering->kept_ns));
    for (size_t step = 0; step < of->steps->count; step++) {
        gathering->devices[step] = of->now[step];
        gathering->devices[step].end_then_ns = INT64_MIN;
    }
    return gathering;
}

/* When the work of RUN, whose shifts are of one block, is done. */
static void gather_run(struct gathering *gathering, const struct replay *replay, const struct work_run *run)
{
    moment_id first = replay_work_end(replay->graph, run->first);
    int64_t *then_ns = &gathering->devices[run->step].end_then_ns;
    if (shifts_are_alike(&replay->shifts, first)) {
        int64_t end_ns = (int64_t)((uint64_t)run->end_ns + (uint64_t)shifts_get(&replay->shifts, first));
        *then_ns = end_ns > *then_ns ? end_ns : *then_ns;
        return;
    }
    for (size_t i = run->first; i < run->end; i++) {
        int64_t end_ns = replay_time_of(replay, replay_work_end(replay->graph, i));
        *then_ns = end_ns > *then_ns ? end_ns : *then_ns;
    }
}

/* A replay_visit. */
static bool gather_block(void *context, const struct replay *replay, size_t block)
{
    struct gathering *gathering = context;
    const struct work_steps *of = gathering->of;
    const struct replay_graph *graph = replay->graph;
    size_t first = block * SHIFTS_OF_BLOCK, end = first + SHIFTS_OF_BLOCK, i;
    SEARCH(i, of->kept.count, of->kept.at[i] < first);
    for (; i < of->kept.count && of->kept.at[i] < end; i++)
        gathering->kept_ns[i] = shifts_get(&replay->shifts, of->kept.at[i]);
    SEARCH(i, of->runs.count, replay_work_end(graph, of->runs.at[i].first) < first);
    for (; i < of->runs.count && replay_work_end(graph, of->runs.at[i].first) < end; i++)
        gather_run(gathering, replay, &of->runs.at[i]);
    return false;
}

/* The devices needed NOW_NS for ONE, and would need THEN_NS. */
static void need(struct step_time *one, int64_t now_ns, int64_t then_ns)
{
    int64_t ahead_ns = now_ns > one->now_ns ? now_ns - one->now_ns : 0;
    one->then_ns = greater_of(one->then_ns, then_ns - ahead_ns);
    one->device_now_ns = greater_of(one->device_now_ns, now_ns);
    one->device_then_ns = greater_of(one->device_then_ns, then_ns);
}

/* How far the period of ONE is from NS. */
static int64_t apart(const struct step_time *one, int64_t ns)
{
    return one->now_ns > ns ? one->now_ns - ns : ns - one->now_ns;
}

static bool is_like(const struct step_time *one, int64_t ns)
{
    return one->now_ns >= ns / 2 && one->now_ns / 2 <= ns;
}

/* Which of the COUNT steps of a file, beside OF, tells what the first needs, of those that follow work: the next whose period is from half to
 * twice its own, as steps of several kinds may alternate; else the one with the closest. 0: none does. */
static size_t like_first(const struct step_time *steps, const struct device_time *of, size_t count)
{
    const int64_t own_ns = steps->now_ns;
    size_t best = 0;
    for (size_t i = 1; i < count && (best == 0 || !is_like(&steps[best], own_ns)); i++)
        if (of[i].any && of[i - 1].any &&
            (best == 0 || (steps[i].is_period && apart(&steps[i], own_ns) < apart(&steps[best], own_ns))))
            best = i;
    return best;
}

/* The devices' time of the COUNT steps of a file: see whatif.h. OF: when the devices were done, beside them. */
static void pace(struct step_time *steps, const struct device_time *of, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct step_time *one = &steps[i];
        size_t like = i ? i : of->any ? like_first(steps, of, count) : 0;
        if (!of[i].any)
            continue;
        one->devices_begin_ns = of[i].begin_ns;
        one->devices_end_now_ns = of[i].end_now_ns;
        one->devices_end_then_ns = of[i].end_then_ns;
        if (like > 0 && of[like - 1].any)
            need(one, of[like].end_now_ns - of[like - 1].end_now_ns,
                 of[like].end_then_ns - of[like - 1].end_then_ns);
        else
            need(one, of[i].end_now_ns - one->start_ns, of[i].end_then_ns - one->begin_then_ns);
    }
}

/* Of the steps of a file from FIRST to END, three periods and more: one in which the devices need greater_of
 * than the host is followed by others in which they need less. So the steps together take what the host takes
 * for all, or what the devices need for all, whichever is more; each gets that share of the time by which its
 * own devices need greater_of that this comes to. It grows steadily, from none. */
static void share_needs(struct step_time *first, const struct step_time *end)
{
    enum { LEAST_STEPS = 3 };
    double host_ns = 0, devices_ns = 0, longer_ns = 0;
    size_t count = 0;
    for (const struct step_time *one = first + 1; one < end; one++) {
        if (!one->is_period || one->device_now_ns <= 0)
            continue;
        int64_t ahead_ns = one->device_now_ns > one->now_ns ? one->device_now_ns - one->now_ns : 0;
        host_ns += (double)one->host_then_ns;
        devices_ns += (double)(one->device_then_ns - ahead_ns);
        longer_ns += (double)(one->then_ns - one->host_then_ns);
        count++;
    }
    if (count < LEAST_STEPS || longer_ns <= 0)
        return;
    double share = devices_ns > host_ns ? (devices_ns - host_ns) / longer_ns : 0;
    for (struct step_time *one = first; one < end; one++)
        if (one->is_period)
            one->then_ns = one->host_then_ns + (int64_t)(share * (double)(one->then_ns - one->host_then_ns));
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

/* What the devices need: the median of several steps, and the median of how far they are from it. */
struct usual_need {
    int64_t ns, apart_ns;
};

static struct usual_need usual_need(const struct step_time *first, const struct step_time *end)
{
    size_t count = (size_t)(end - first);
    int64_t *ns = mem_alloc(mem_times(count + 1, sizeof *ns));
    struct usual_need usual;
    for (size_t i = 0; i < count; i++)
        ns[i] = first[i].device_now_ns;
    usual.ns = stats_of(ns, count).median;
    for (size_t i = 0; i < count; i++)
        ns[i] = llabs(first[i].device_now_ns - usual.ns);
    usual.apart_ns = stats_of(ns, count).median;
    free(ns);
    return usual;
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
 * What the replay makes of the steps from FIRST to END, which mostly take the devices equally long, as a share of the time of all that do;
 * and no less than what the host needs from begin to begin, if it is only HELD_UP by the devices. 0: they take the devices greater_of for
 * some than for others.
 *
 * With the first step, where none is unusual, that time begins with its first work, which no work moves. So work that ends earlier makes
 * no step greater_of, be it of the step before it.
 */
static double speed_up(const struct step_time *first, const struct step_time *end, bool held_up)
{
    const double even = 0.03, unusual = 0.25;
    const struct usual_need usual = usual_need(first + 1, end);
    double now_ns = 0, then_ns = 0, host_now_ns = 0, host_then_ns = 0, devices_ns = 0;
    bool all_usual = true;
    for (const struct step_time *one = first + 1; one < end; one++) {
        if (fabs((double)(one->device_now_ns - usual.ns)) <= unusual * (double)usual.ns) {
            now_ns += (double)one->device_now_ns;
            then_ns += (double)one->device_then_ns;
        } else {
            all_usual = false;
        }
    }
    int64_t first_ns = first->devices_end_now_ns - first->devices_begin_ns;
    if (all_usual && (double)first_ns < (1 + 2 * unusual) * (double)usual.ns) {
        now_ns += (double)first_ns;
        then_ns += (double)(first->devices_end_then_ns - first->devices_begin_then_ns);
    }
    if ((held_up ? unevenness(first + 1, end, true) : (double)usual.apart_ns / (double)usual.ns) > even)
        return 0;
    for (const struct step_time *one = first; one < end && one->is_period; one++) {
        host_now_ns += (double)one->now_ns;
        host_then_ns += (double)one->host_then_ns;
        devices_ns += (double)one->device_now_ns;
    }
    double share = then_ns / now_ns;
    double of_host = host_then_ns / (host_now_ns > devices_ns ? host_now_ns : devices_ns);
    return held_up && of_host > share ? of_host : share;
}

/* Of the steps of a file from FIRST to END: where the devices fall behind, as the host waits for them at the
 * end of the recording alone, they are what the job is as fast as. On the host its steps take less until the
 * queue of launches is full. Where the host is uneven, the same job takes what its devices take for each
 * step, and the median of the host's steps is a matter of chance. */
static void pace_by_devices(struct step_time *first, const struct step_time *end)
{
    bool uneven = is_uneven(first, end);
    if (!uneven)
        share_needs(first, end);
    if (!uneven && !fall_behind(first, end))
        return;
    double faster = speed_up(first, end, !uneven);
    for (struct step_time *one = first; one < end; one++) {
        if (!one->is_period)
            continue;
        one->now_ns = uneven ? one->device_now_ns : greater_of(one->device_now_ns, one->now_ns);
        one->then_ns = faster > 0 ? (int64_t)(faster * (double)one->now_ns)
                       : uneven   ? one->device_then_ns
                                  : greater_of(one->device_then_ns, one->then_ns);
    }
}

/* When the host is at NS of STEP in REPLAY, its begin or end; THREAD is that of the step. */
static int64_t host_time(const struct replay *replay, uint32_t thread, int64_t ns)
{
    return thread == UINT32_MAX ? ns : replay_time_at(replay, thread, ns);
}

/* When the step that only DEVICES mark, and that began at NS, begins in REPLAY: with its first work. */
static int64_t device_begin(const struct replay *replay, const struct device_time *devices, int64_t ns)
{
    return devices->any ? ns + (replay_kept_time_of(replay, devices->first) -
                                replay_recorded_ns(replay->graph, devices->first))
                        : ns;
}

/* When ONE, the time of STEP, begins in REPLAY, and what it takes: up to UNTIL, the next or the end of STEP itself. DEVICES:
 * those of STEP; those of the next follow. FIRST: first_threads. */
static void find_then(struct step_time *one, const struct replay *replay, const uint32_t *first,
                      const struct step *step, const struct step *until, const struct device_time *devices)
{
    const struct replay_graph *graph = replay->graph;
    int64_t end_ns = one->start_ns + one->now_ns, start_then_ns, end_then_ns;
    one->start = one->end = MOMENT_NONE;
    if (step->of_devices) {
        start_then_ns = device_begin(replay, devices, one->start_ns);
        end_then_ns = one->is_period ? device_begin(replay, &devices[1], end_ns)
                      : devices->any ? end_ns + (devices->end_then_ns - devices->end_now_ns)
                                     : end_ns;
    } else {
        uint32_t thread = thread_of_step(graph, first, step),
                 end_thread = thread_of_step(graph, first, until);
        one->start = moment_at(graph, thread, one->start_ns);
        one->end = moment_at(graph, end_thread, end_ns);
        start_then_ns = host_time(replay, thread, one->start_ns);
        end_then_ns = host_time(replay, end_thread, end_ns);
    }
    one->begin_then_ns = start_then_ns;
    one->then_ns = one->host_then_ns = end_then_ns - start_then_ns;
}

static void step_times_add_steps(struct step_times *times, const struct replay *replay,
                                 const struct gathering *gathered)
{
    const struct replay_graph *graph = replay->graph;
    const struct work_steps *of = gathered->of;
    const struct step_list *steps = of->steps;
    const struct device_time *devices = gathered->devices;
    times->overlapping = of->overlapping;
    uint32_t *first = first_threads(graph);
    for (size_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->at[i];
        bool is_period = i + 1 < steps->count && steps->at[i + 1].file == step->file;
        const struct step *until = is_period ? &steps->at[i + 1] : step;
        int64_t start_ns = replay_time(graph, step->file, step->start_ns);
        int64_t end_ns = replay_time(graph, step->file, is_period ? until->start_ns : step->end_ns);
        struct step_time one = {
            .file = step->file,
            .number = step->number,
            .is_period = is_period,
            .start_ns = start_ns,
            .now_ns = end_ns - start_ns,
        };
        find_then(&one, replay, first, step, until, &devices[i]);
        if (i == 0 || steps->at[i - 1].file != step->file)
            one.devices_begin_then_ns = device_begin(replay, &devices[i], devices[i].begin_ns);
        *VEC_PUSH(times) = one;
    }
    FOR_RUNS(from, end, times->count, times->at[end].file == times->at[from].file) {
        pace(&times->at[from], &devices[from], end - from);
        pace_by_devices(&times->at[from], &times->at[end - 1] + 1);
    }
    free(first);
}

/* When a recording, and its replay, begins and ends. */
struct extent {
    int64_t now_begin_ns, now_end_ns, begin_ns, end_ns;
};

/* New, by name, free with free(): copies of pages of managed memory. Nothing launches them: they come while a kernel or the host needs the
 * pages. A replay leaves them where they are, which says nothing about how long that takes. */
static bool *migrations(const struct trace *trace)
{
    bool *migrates = mem_zalloc(names_count(trace->names) + 1, sizeof *migrates);
    for (name_id id = 0; id < names_count(trace->names); id++)
        migrates[id] = copy_kind_of(names_text(trace->names, id)).direction == COPY_MANAGED;
    return migrates;
}

/* Let *BEGIN_NS to *END_NS hold what lasts from FROM_NS to NS. */
static void extend(int64_t *begin_ns, int64_t *end_ns, int64_t from_ns, int64_t ns)
{
    *begin_ns = from_ns < *begin_ns ? from_ns : *begin_ns;
    *end_ns = greater_of(*end_ns, ns);
}

/* How long the files of WHOLE waited for a rank whose recording had not begun: no edit is about that time. */
static int64_t unrecorded_in(const struct replay_graph *graph, const struct path_window *whole)
{
    const struct unrecorded_waits *waits = unrecorded_waits_of(graph->trace);
    int64_t most_ns = 0;
    for (uint32_t f = 0; waits->count && f < graph->trace->file_count; f++)
        if (graph->group[f] == graph->group[whole->file])
            most_ns = greater_of(most_ns, unrecorded_waits_between(waits, f, INT64_MIN, INT64_MAX));
    return most_ns < whole->end_ns - whole->start_ns ? most_ns : 0;
}

/* The files whose recordings belong together, each group as one step. What came before the first moment may take less, too: then
 * the replay begins earlier. */
static void add_recordings(struct step_times *times, const struct replay *replay)
{
    const struct replay_graph *graph = replay->graph;
    struct path_windows *whole = path_windows_whole(graph);
    size_t *window_of = mem_zalloc(graph->trace->file_count + 1, sizeof *window_of); /* by group */
    struct extent *extents = mem_zalloc(whole->count + 1, sizeof *extents);
    bool *migrates = migrations(graph->trace);
    for (size_t w = 0; w < whole->count; w++) {
        window_of[whole->at[w].file] = w;
        extents[w] = (struct extent){ whole->at[w].start_ns, INT64_MIN, whole->at[w].start_ns, INT64_MIN };
        *VEC_PUSH(times) = (struct step_time){
            .file = whole->at[w].file,
            .number = INT64_MIN,
            .start = MOMENT_NONE,
            .end = MOMENT_NONE,
            .start_ns = whole->at[w].start_ns,
            .now_ns = whole->at[w].end_ns - whole->at[w].start_ns - unrecorded_in(graph, &whole->at[w]),
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
        if (kind != MOMENT_HOST && migrates[graph->trace->name[graph->gpu->event[replay_work_of(graph, m)]]])
            continue;
        moment_id from = kind == MOMENT_WORK_START ? m : m - 1;
        extend(&extent->now_begin_ns, &extent->now_end_ns, replay_recorded_ns(graph, from),
               replay_recorded_ns(graph, m));
        extend(&extent->begin_ns, &extent->end_ns, replay_time_of(replay, from), replay_time_of(replay, m));
    }
    for (size_t w = 0; w < whole->count; w++) {
        const struct extent *extent = &extents[w];
        times->at[w].begin_then_ns = extent->begin_ns;
        uint64_t longer_ns = (uint64_t)extent->end_ns - (uint64_t)extent->begin_ns -
                             ((uint64_t)extent->now_end_ns - (uint64_t)extent->now_begin_ns);
        times->at[w].then_ns = (int64_t)((uint64_t)times->at[w].now_ns + longer_ns);
    }
    EACH(free, migrates, extents, window_of);
    arena_free(whole);
}

/* A step that counts, of a rank. */
struct rank_step {
    int64_t rank, now_ns, then_ns;
};

static const struct key by_ranks[] = { ASC(struct rank_step, rank), KEY_END };

/* The steps of a rank into TIMES, where they are greater_of than those of the ranks so far. */
static void collect_rank(struct step_times *times, const struct rank_step *steps, size_t count)
{
    int64_t *now = mem_alloc(mem_times(count, sizeof *now)),
            *then = mem_alloc(mem_times(count, sizeof *then));
    for (size_t i = 0; i < count; i++) {
        now[i] = steps[i].now_ns;
        then[i] = steps[i].then_ns;
    }
    struct stats now_stats = stats_of(now, count), then_stats = stats_of(then, count);
    times->median_now_ns = greater_of(times->median_now_ns, now_stats.median);
    times->median_then_ns = greater_of(times->median_then_ns, then_stats.median);
    times->now_ns = greater_of(times->now_ns, now_stats.mean);
    times->then_ns = greater_of(times->then_ns, then_stats.mean);
    EACH(free, now, then);
}

/* The slowest rank is how fast the job is. That matters where an edit lets ranks no greater_of wait for one another. */
static void collect_medians(struct step_times *times, const struct trace *trace)
{
    bool any = ANY(i, times->count, times->at[i].is_period);
    VEC_OF(struct rank_step) steps = { 0 };
    for (size_t i = 0; i < times->count; i++)
        if (times->at[i].is_period || !any)
            *VEC_PUSH(&steps) = (struct rank_step){ selection_rank(trace, times->at[i].file),
                                                    times->at[i].now_ns, times->at[i].then_ns };
    if (steps.count)
        SORT(&steps, by_ranks);
    FOR_RUNS(first, end, steps.count, steps.at[end].rank == steps.at[first].rank)
        collect_rank(times, &steps.at[first], end - first);
    VEC_FREE(&steps);
}

/* Are there rounds, and without changes are they how the job was recorded? Not where a few steps only filled a queue. */
static bool rounds_are_steady(const struct trace *trace)
{
    const double far = 0.25;
    double now_ns = (double)account_of(trace)->all.step_ns, recorded_ns = rounds_recorded(trace)->step_ns;
    return rounds_of(trace) && recorded_ns > 0 && fabs(recorded_ns - now_ns) <= far * now_ns;
}

const struct replay_graph *step_times_graph_of(const struct trace *trace)
{
    return rounds_are_steady(trace) ? rounds_graph_of(trace) : replay_graph_of(trace);
}

/* The step time of the account, and as the rounds have it with CHANGES. False: they do not tell it. */
static bool find_steady(const struct replay_graph *graph, const struct changes *changes,
                        struct step_gain *gain)
{
    const double nearly_all = 0.99;
    if (!rounds_are_steady(graph->trace))
        return false;
    const struct steady *recorded = rounds_recorded(graph->trace);
    struct steady steady = rounds_replay(rounds_of(graph->trace), graph, changes);
    gain->now_ns = account_of(graph->trace)->all.step_ns;
    double then_ns = steady.step_ns / recorded->step_ns * (double)gain->now_ns;
    gain->bound = (struct step_bound){ steady.limit == STEADY_HOST ? BOUND_HOST : BOUND_DEVICE,
                                       selection_rank(graph->trace, steady.file), llround(steady.device_ns) };
    if (then_ns < steady.device_ns) {
        then_ns = steady.device_ns;
        gain->bound.kind = BOUND_WORK;
    } else if (steady.device_ns >=
               nearly_all * then_ns) { /* a host that waits for its device takes as long as it */
        gain->bound.kind = BOUND_DEVICE;
    }
    gain->then_ns = llround(then_ns);
    return true;
}

/* Where rounds do not tell the step time, the account's step takes the share of its time that is left of the recorded periods, and no
 * less than the work that is left of it. */
static void scale_to_account(struct step_times *times, const struct replay_graph *graph,
                             const struct changes *changes)
{
    const struct account *account = account_of(graph->trace);
    const struct rounds *rounds = rounds_of(graph->trace);
    if (!account->has_steps || account->all.step_ns <= 0 || times->now_ns <= 0)
        return;
    times->then_ns = llround((double)times->then_ns / (double)times->now_ns * (double)account->all.step_ns);
    times->now_ns = account->all.step_ns;
    bool saves = rounds && times->then_ns < times->now_ns;
    int64_t least_ns = saves ? llround(rounds_least(rounds, graph, changes)) : 0;
    if (times->then_ns < least_ns && least_ns <= times->now_ns) { /* more: these steps only filled a queue */
        times->then_ns = least_ns;
        times->bound = (struct step_bound){ BOUND_WORK, account->all.rank, least_ns };
    }
}

static void find_step_time(struct step_times *times, const struct replay_graph *graph,
                           const struct changes *changes)
{
    struct step_gain gain;
    if (!find_steady(graph, changes, &gain)) {
        scale_to_account(times, graph, changes);
        return;
    }
    times->now_ns = gain.now_ns;
    times->then_ns = gain.then_ns;
    times->bound = gain.bound;
}

struct step_gain step_times_gain(const struct changes *changes)
{
    struct step_gain gain = { 0 };
    if (find_steady(changes->graph, changes, &gain))
        return gain;
    struct step_times *times = step_times_with(changes);
    gain = (struct step_gain){ times->now_ns, times->then_ns, times->bound, 0 };
    arena_free(times);
    return gain;
}

struct step_times *step_times_open(const struct replay *replay, const struct changes *changes, bool whole)
{
    struct step_times *times = arena_open(sizeof *times);
    ARENA_OWNS(arena_of(times), &times->at);
    if (!whole) {
        struct gathering *gathering = gathering_open(work_steps_of(replay->graph->trace));
        for (size_t block = 0; block < replay->shifts.block_count; block++)
            gather_block(gathering, replay, block);
        step_times_add_steps(times, replay, gathering);
        arena_free(gathering);
    }
    if (times->count == 0)
        add_recordings(times, replay);
    collect_medians(times, replay->graph->trace);
    if (!whole)
        find_step_time(times, replay->graph, changes);
    return times;
}

struct step_times *step_times_with(const struct changes *changes)
{
    const struct replay_graph *graph = changes->graph;
    const struct work_steps *of = work_steps_of(graph->trace);
    if (of->steps->count == 0) { /* then every moment matters */
        struct replay *replay = replay_open(graph, changes);
        struct step_times *times = step_times_open(replay, changes, false);
        replay_free(replay);
        return times;
    }
    struct step_times *times = arena_open(sizeof *times);
    ARENA_OWNS(arena_of(times), &times->at);
    struct gathering *gathering = gathering_open(of);
    struct replay *replay = replay_pass_by(graph, changes, gather_block, gathering);
    replay->kept = of->kept.at;
    replay->kept_ns = gathering->kept_ns;
    replay->kept_count = of->kept.count;
    step_times_add_steps(times, replay, gathering);
    collect_medians(times, graph->trace);
    find_step_time(times, graph, changes);
    replay_free(replay);
    arena_free(gathering);
    return times;
}
