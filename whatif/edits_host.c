/* edits_host.c - edits of what the host does: data loading, synchronisations, launches, allocation, first use. */
#include "whatif/editing.h"

#include "base/stats.h"
#include "trace/call_names.h"
#include "derive/communication.h"
#include "derive/compilation.h"
#include "derive/copy_names.h"
#include "derive/device_peaks.h"
#include "derive/gpu_names.h"
#include "derive/host_state.h"
#include "derive/host_waits.h"
#include "derive/launch_calls.h"
#include "derive/page_moves.h"
#include "derive/step_list.h"
#include "derive/teardown.h"
#include "whatif/host_work.h"

/* ---- data loading ---- */

/* All that the host does in ranges whose names ARE says takes no time. */
static void take_out(const struct editing *editing, bool (*are)(const char *name))
{
    struct name_flags names = name_flags_of(editing->trace, are);
    struct intervals *ranges = editing_ranges(editing, name_flags_has, &names);
    editing_scale_ranges(editing, ranges, 0);
    arena_free(ranges);
    free(names.flags);
}

void edit_no_data_wait(const struct editing *editing)
{
    take_out(editing, annotation_is_data_loading);
}

/* What other threads wait while one compiles takes as much less: nothing else is recorded of why they wait. */
static void shorten_gaps(const struct editing *editing, size_t thread, const struct intervals *compiling)
{
    const struct replay_graph *graph = editing->graph;
    moment_id first = graph->threads[thread].first, end = first + graph->threads[thread].count;
    for (moment_id m = first + 1; m < end; m++) {
        int64_t from_ns = replay_moment_ns(graph, m - 1), to_ns = replay_moment_ns(graph, m);
        int64_t less_ns = graph->inner[m] == EVENT_NONE && to_ns > from_ns
                              ? intervals_length_within(compiling, from_ns, to_ns)
                              : 0;
        if (less_ns > 0)
            factors_scale(&editing->changes->piece, m, 1 - (double)less_ns / (double)(to_ns - from_ns));
    }
}

void edit_no_compile(const struct editing *editing)
{
    const struct replay_graph *graph = editing->graph;
    take_out(editing, name_is_compilation);
    for (uint32_t f = 0; f < editing->trace->file_count && editing->effect->count > 0; f++) {
        struct intervals compiling = compilation_find(editing->trace, f), moved = { 0 };
        for (size_t i = 0; i < compiling.count; i++)
            intervals_add(&moved, compiling.at[i].start_ns + graph->shift_ns[f],
                          compiling.at[i].end_ns + graph->shift_ns[f]);
        intervals_merge(&moved);
        for (size_t t = 0; t < graph->thread_count; t++)
            if (editing->trace->tracks[graph->threads[t].track].file == f)
                shorten_gaps(editing, t, &moved);
        intervals_release(&compiling);
        intervals_release(&moved);
    }
}

/* ---- waits of calls ---- */

/* Let the piece that leads to M not wait for work, and take FACTOR of its recorded time. */
static void edits_host_release(const struct editing *editing, moment_id m, double factor)
{
    const struct replay_graph *graph = editing->graph;
    struct edge_range range = replay_edges_of(graph, m);
    for (uint32_t k = range.first; k < range.end; k++)
        if (replay_edge_at(graph, k).relation == RELATION_SYNC)
            changes_drop_edge(editing->changes, k);
    editing_scale_piece(editing, m, factor);
}

/* Is M a piece of a call that waited for work? */
static bool waited(const struct replay_graph *graph, moment_id m)
{
    if (!(graph->has_edges[m / 64] >> (m % 64) & 1))
        return false;
    const struct replay_edge edge = replay_binding(graph, m);
    return edge.from != MOMENT_NONE && edge.relation == RELATION_SYNC;
}

/* By event, is it a call that waits at the begin of the recording, which the job does not repeat? New; free(). */
static bool *waits_at_begins(const struct trace *trace)
{
    const struct host_waits *waits = host_waits_of(trace);
    bool *at_begins = mem_zalloc(trace->event_count + 1, sizeof *at_begins);
    for (size_t i = 0; i < waits->count; i++)
        at_begins[waits->at[i].call] = waits->at[i].at_begin;
    return at_begins;
}

bool edit_no_sync(const struct editing *editing, struct tpa_error *err)
{
    const struct trace *trace = editing->trace;
    const struct replay_graph *graph = editing->graph;
    struct name_flags names = { trace, editing_names(editing, err) };
    if (!names.flags)
        return false;
    struct edit_effect ignored = { 0, 0 };
    struct editing around = *editing;
    around.effect = &ignored;
    struct intervals *ranges = editing_ranges(&around, name_flags_has, &names);
    unsigned char *sorts = call_sorts_open(trace->names);
    bool *at_begins = waits_at_begins(trace);
    event_id last = EVENT_NONE;
    for (moment_id m = 0; m < graph->host_count; m++) {
        event_id call = graph->inner[m];
        if (call == EVENT_NONE || !event_is_call((enum event_kind)trace->kind[call]))
            continue;
        if ((waited(graph, m) || sorts[trace->name[call]] == CALL_SYNC) &&
            editing_holds(editing, ranges, call)) {
            if (call != last && !replay_lies_in(graph, call, last)) {
                editing->effect->count++;
                last = call;
            }
        } else if (!replay_lies_in(graph, call, last))
            continue;
        if (!at_begins[call])
            edits_host_release(editing, m, 0);
    }
    EACH(free, at_begins, sorts, names.flags);
    arena_free(ranges);
    if (editing->effect->count > 0)
        return true;
    tpa_fail(err, TPA_NOWHERE, "no call that waits is called, or lies in an operator that is called, '%.*s'",
             (int)editing->edit->pattern_len, editing->edit->pattern);
    return tpa_hint(err,
                    "--no-sync . takes all; tpa transfers lists the waits of the host and who made them");
}

/* ---- pinned copies ---- */

static bool is_pageable_upload(const struct trace *trace, event_id copy)
{
    struct copy_kind kind =
        copy_kind_with(copy_kind_of(trace_name(trace, copy)), trace_arg_text(trace, ARG_COPY_MEMORY, copy));
    return kind.direction == COPY_HTOD && kind.memory == MEMORY_PAGEABLE;
}

/* What the call of an asynchronous copy usually takes: the median of those that did not wait, at most 10 us. */
static int64_t usual_copy_call(const struct editing *editing, const unsigned char *sorts)
{
    enum { MOST_NS = 10000 };
    const struct trace *trace = editing->trace;
    const struct gpu_events *gpu = editing->graph->gpu;
    VEC_OF(int64_t) durations = { 0 };
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->work[i] == GPU_MEMCPY && gpu->call[i] != EVENT_NONE &&
            sorts[trace->name[gpu->call[i]]] == CALL_COPY &&
            trace_end_ns(trace, gpu->call[i]) < trace_end_ns(trace, gpu->event[i]))
            *VEC_PUSH(&durations) = trace_dur_ns(trace, gpu->call[i]);
    int64_t median_ns = durations.count ? stats_of(durations.at, durations.count).median : MOST_NS;
    VEC_FREE(&durations);
    return median_ns < MOST_NS ? median_ns : MOST_NS;
}

/* What copies of pinned memory usually reach over PCIe of a generation, in bytes per second: some 80 % of it, less of the fifth. */
static double usual_pinned_rate(int pcie)
{
    static const double rates[] = { [3] = 12e9, [4] = 25e9, [5] = 40e9 };
    return pcie >= 3 && pcie <= 5 ? rates[pcie] : 0;
}

/* What large copies of pinned memory reached in the recording at best, in bytes per second; 0: there are none. */
static double recorded_pinned_rate(const struct editing *editing)
{
    enum { LARGE = 1 << 20 };
    const struct trace *trace = editing->trace;
    const struct gpu_events *gpu = editing->graph->gpu;
    double best = 0;
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i];
        int64_t bytes = trace_arg_or(trace, ARG_BYTES, e, 0);
        if (gpu->work[i] != GPU_MEMCPY || bytes < LARGE || trace_dur_ns(trace, e) <= 0)
            continue;
        struct copy_kind kind =
            copy_kind_with(copy_kind_of(trace_name(trace, e)), trace_arg_text(trace, ARG_COPY_MEMORY, e));
        double rate = (double)bytes / (double)trace_dur_ns(trace, e) * 1e9;
        if (kind.direction == COPY_HTOD && kind.memory == MEMORY_PINNED && rate > best)
            best = rate;
    }
    return best;
}

/* A copy from pageable memory uses a buffer of the driver; from pinned memory it takes what the link takes. Returns whether that is less. */
static bool shorten_copy(const struct editing *editing, size_t work, double recorded_rate)
{
    enum { LATENCY_NS = 2000 };
    const struct trace *trace = editing->trace;
    event_id e = editing->graph->gpu->event[work];
    const struct track *track = &trace->tracks[trace->track[e]];
    const struct trace_device *device = trace_file_device(&trace->files[track->file], track->device);
    struct device_peaks peaks;
    device_peaks_find(device ? device->name : NULL, &peaks);
    double rate = recorded_rate > 0 ? recorded_rate : usual_pinned_rate(peaks.pcie);
    int64_t bytes = trace_arg_or(trace, ARG_BYTES, e, 0);
    double time_ns = rate > 0 ? LATENCY_NS + (double)bytes / rate * 1e9 : 0;
    if (bytes <= 0 || time_ns <= 0 || time_ns >= (double)trace_dur_ns(trace, e))
        return false;
    factors_set(&editing->changes->work, work,
                (float)((double)factors_get(&editing->changes->work, work) * time_ns /
                        (double)trace_dur_ns(trace, e)));
    return true;
}

/* The operator that made CALL, which copies WORK from pageable memory, waits for it, as the caller may change the memory then. With
 * pinned memory, and non_blocking=True, it does not: let the synchronisations behind CALL in it be gone. Returns whether there are any. */
static bool release_waits_behind(const struct editing *editing, size_t work, event_id call,
                                 const unsigned char *sorts)
{
    const struct replay_graph *graph = editing->graph;
    event_id op = graph->gpu->op[work];
    uint32_t thread = graph->thread_of_track[editing->trace->track[call]];
    bool any = false;
    if (op == EVENT_NONE || thread == UINT32_MAX)
        return false;
    moment_id end = graph->threads[thread].first + graph->threads[thread].count;
    int64_t op_end_ns = replay_event_end(graph, op);
    for (moment_id m = replay_moment_from(graph, thread, replay_event_end(graph, call));
         m < end && replay_moment_ns(graph, m) <= op_end_ns; m++) {
        event_id of = graph->inner[m];
        if (of == EVENT_NONE || of == call || !event_is_call((enum event_kind)editing->trace->kind[of]))
            continue;
        if (sorts[editing->trace->name[of]] != CALL_SYNC)
            break;
        edits_host_release(editing, m, 0);
        any = true;
    }
    return any;
}

void edit_pinned_copies(const struct editing *editing)
{
    const struct trace *trace = editing->trace;
    const struct replay_graph *graph = editing->graph;
    unsigned char *sorts = call_sorts_open(trace->names);
    int64_t usual_ns = usual_copy_call(editing, sorts);
    double rate = recorded_pinned_rate(editing);
    for (size_t i = 0; i < graph->gpu->count; i++) {
        event_id call = graph->gpu->call[i];
        if (graph->gpu->work[i] != GPU_MEMCPY || call == EVENT_NONE ||
            !is_pageable_upload(trace, graph->gpu->event[i]))
            continue;
        bool shorter = shorten_copy(editing, i, rate), freed = release_waits_behind(editing, i, call, sorts);
        uint32_t thread = graph->thread_of_track[trace->track[call]];
        int64_t start_ns = replay_event_start(graph, call), end_ns = replay_event_end(graph, call);
        bool blocks = thread != UINT32_MAX && end_ns - start_ns > usual_ns;
        editing->effect->count += shorter || freed || blocks;
        editing->effect->time_ns += shorter ? trace_dur_ns(trace, graph->gpu->event[i]) : 0;
        if (!blocks)
            continue;
        double factor = (double)usual_ns / (double)(end_ns - start_ns);
        moment_id m = replay_moment_from(graph, thread, start_ns);
        for (m++; m < graph->host_count && replay_moment_ns(graph, m) <= end_ns &&
                  replay_moment_ns(graph, m) > start_ns;
             m++)
            if (graph->inner[m] == call)
                edits_host_release(editing, m, factor);
    }
    free(sorts);
}

/* ---- graphs ---- */

/* From the first begin to the last end of launching calls of a thread in a step. */
struct launching {
    uint32_t thread;
    int64_t step; /* index into the steps; -1: in none */
    int64_t start_ns, end_ns;
    size_t count; /* of calls */
};

struct launchings {
    VEC_OF(struct launching);
};

static const struct key by_launching[] = { ASC(struct launching, thread), ASC(struct launching, step),
                                           ASC(struct launching, start_ns), KEY_END };

/* That of the call of work I; LAST: the step of the work before, NULL: of none, then that of I. */
static struct launching launching_of(const struct editing *editing, const struct step_list *steps, size_t i,
                                     const struct step **last)
{
    const struct trace *trace = editing->trace;
    const struct gpu_events *gpu = editing->graph->gpu;
    event_id call = gpu->call[i];
    const struct step *step = step_list_of_work(steps, trace, gpu->event[i], call, *last);
    *last = step;
    return (struct launching){
        .thread = editing->graph->thread_of_track[trace->track[call]],
        .step = step ? step - steps->at : -1,
        .start_ns = replay_event_start(editing->graph, call),
        .end_ns = replay_event_end(editing->graph, call),
        .count = 1,
    };
}

static bool are_together(const struct launching *a, const struct launching *b)
{
    return a->thread == b->thread && a->step == b->step;
}

static void join_launching(struct launching *to, const struct launching *other)
{
    to->start_ns = other->start_ns < to->start_ns ? other->start_ns : to->start_ns;
    to->end_ns = other->end_ns > to->end_ns ? other->end_ns : to->end_ns;
    to->count += other->count;
}

/* Those of all calls, by thread and step. What follows one another is mostly of one step, and joined at once. */
static void collect_launchings(const struct editing *editing, struct launchings *all)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    const struct step_list *steps = step_list_of(editing->trace);
    const struct step *last = NULL;
    for (size_t i = 0; i < gpu->count; i++) {
        if (gpu->call[i] == EVENT_NONE)
            continue;
        struct launching one = launching_of(editing, steps, i, &last);
        if (one.thread == UINT32_MAX || (one.step < 0 && steps->count > 0))
            continue;
        if (all->count && are_together(&all->at[all->count - 1], &one))
            join_launching(&all->at[all->count - 1], &one);
        else
            *VEC_PUSH(all) = one;
    }
    if (all->count)
        SORT(all, by_launching);
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (kept && are_together(&all->at[kept - 1], &all->at[i]))
            join_launching(&all->at[kept - 1], &all->at[i]);
        else
            all->at[kept++] = all->at[i];
    }
    all->count = kept;
}

/* The share of the LENGTH_NS from START_NS on that lies in SET; NEAR: as of intervals_length_near. */
static double share_within(const struct intervals *set, int64_t start_ns, int64_t length_ns, size_t *near)
{
    return length_ns > 0
               ? (double)intervals_length_near(set, start_ns, start_ns + length_ns, near) / (double)length_ns
               : 0;
}

/* The host time of THREAD from START to END that a graph takes the place of: operators, calls, and the Python between them. What
 * a graph cannot hold, or not everywhere, stays: waits for the device, the loading of data, operators that compute on the host, gaps in
 * which the host touches pages of unified memory,
 * operators that communicate (graphs lie between them), pauses of a millisecond and more, the profiler's own work, and the capture of
 * a graph itself, which is done once. NEAR: as of share_within. */
static void launch_at_once(const struct editing *editing, uint32_t thread, int64_t start_ns, int64_t end_ns,
                           const struct intervals *kept, const struct host_work *work, size_t *near)
{
    const struct replay_graph *graph = editing->graph;
    const struct replay_thread *own = &graph->threads[thread];
    uint32_t file = graph->trace->tracks[own->track].file;
    const struct intervals *captures = &capture_times_of(graph->trace)->of_file[file],
                           *overhead = &host_state_of(graph->trace)->overhead[file],
                           *pages = &page_moves_of(graph->trace)->by_host[file];
    moment_id m = replay_moment_from(graph, thread, start_ns), end = own->first + own->count;
    m = m == own->first ? m + 1 : m;
    int64_t from_ns = m < end ? replay_moment_ns(graph, m - 1) : 0, to_ns;
    for (; m < end && (to_ns = replay_moment_ns(graph, m)) <= end_ns; m++, from_ns = to_ns) {
        int64_t length_ns = to_ns - from_ns;
        bool in_gap = graph->inner[m] == EVENT_NONE;
        if (from_ns < start_ns || (in_gap && length_ns >= HOST_PAUSE_NS) || waited(graph, m) ||
            host_work_holds(work, graph, m) ||
            (in_gap && intervals_length_within(pages, from_ns - graph->shift_ns[file],
                                               to_ns - graph->shift_ns[file]) > 0) ||
            (kept[thread].count && intervals_contain(&kept[thread], from_ns)) ||
            (captures->count && intervals_contain(captures, from_ns - graph->shift_ns[file])))
            continue;
        factors_scale(&editing->changes->piece, m,
                      share_within(overhead, from_ns - graph->shift_ns[file], length_ns, near));
        editing->effect->time_ns += in_gap ? 0 : length_ns;
    }
}

enum { LONGEST_PAUSE_NS = 10000 };

/* Pauses of streams, each counted by how long it is: they are short, and there may be as many as operations. */
struct pauses {
    uint32_t of_length[LONGEST_PAUSE_NS];
    size_t count;
};

/* The length at PLACE, were they sorted. */
static int64_t pause_at(const struct pauses *pauses, size_t place)
{
    size_t ns = 0;
    for (size_t before = pauses->of_length[0]; before <= place; before += pauses->of_length[ns])
        ns++;
    return (int64_t)ns;
}

/* Rounded as base/stats.h does. */
static int64_t median_pause(const struct pauses *pauses)
{
    int64_t high_ns = pause_at(pauses, pauses->count / 2),
            low_ns = pauses->count % 2 ? high_ns : pause_at(pauses, pauses->count / 2 - 1);
    return (low_ns + high_ns + 1) / 2;
}

/* What a stream leaves free between the operations of a graph: the median of such pauses of graphs in the recording, else of work that was
 * queued well before the one before it was over; with too few of both a microsecond. */
static int64_t usual_pause(const struct editing *editing)
{
    enum { ENOUGH = 20, QUEUED_NS = 5000, USUAL_NS = 1000 };
    const struct replay_graph *graph = editing->graph;
    const struct gpu_events *gpu = graph->gpu;
    struct pauses *pauses = mem_zalloc(2, sizeof *pauses); /* queued, of graphs */
    uint32_t *last = mem_alloc(mem_times(graph->trace->track_count + 1, sizeof *last)); /* work by track */
    memset(last, 0xff, (graph->trace->track_count + 1) * sizeof *last);
    for (size_t i = 0; i < gpu->count; i++) {
        track_id track = graph->trace->track[gpu->event[i]];
        uint32_t before = last[track];
        last[track] = (uint32_t)i;
        if (before == UINT32_MAX || gpu->call[i] == EVENT_NONE)
            continue;
        int64_t over_ns = replay_moment_ns(graph, replay_work_end(graph, before)),
                pause_ns = replay_moment_ns(graph, replay_work_start(graph, i)) - over_ns;
        bool of_graph = gpu->call[before] == gpu->call[i];
        if (pause_ns >= 0 && pause_ns < LONGEST_PAUSE_NS &&
            (of_graph || replay_event_end(graph, gpu->call[i]) <= over_ns - QUEUED_NS)) {
            pauses[of_graph].of_length[pause_ns]++;
            pauses[of_graph].count++;
        }
    }
    free(last);
    int64_t usual_ns = USUAL_NS;
    for (int of_graph = 0; of_graph < 2; of_graph++)
        if (pauses[of_graph].count >= ENOUGH)
            usual_ns = median_pause(&pauses[of_graph]);
    free(pauses);
    return usual_ns;
}

void edit_cuda_graph(const struct editing *editing)
{
    const struct trace *trace = editing->trace;
    struct name_flags names = name_flags_of(trace, annotation_is_data_loading);
    for (name_id id = 0; id < names_count(trace->names); id++)
        names.flags[id] |= operator_is_communication(names_text(trace->names, id));
    struct edit_effect ignored = { 0, 0 };
    struct editing quietly = *editing;
    quietly.effect = &ignored;
    struct intervals *kept = editing_ranges(&quietly, name_flags_has, &names);
    const struct host_work *work = host_work_of(editing->graph);
    struct launchings all = { 0 };
    collect_launchings(editing, &all);
    size_t near = 0;
    for (size_t i = 0; i < all.count; i++) {
        launch_at_once(editing, all.at[i].thread, all.at[i].start_ns, all.at[i].end_ns, kept, work, &near);
        editing->effect->count += all.at[i].count;
    }
    editing->changes->least_pause_ns = usual_pause(editing);
    editing->changes->keeps_queued = true; /* else all that is launched at once would wait at once */
    arena_free(kept);
    free(names.flags);
    VEC_FREE(&all);
}

/* What a program frees when it ends is no saving of what it does before. */
void edit_no_alloc(const struct editing *editing)
{
    const struct replay_graph *graph = editing->graph;
    const struct teardown *teardown = teardown_of(editing->trace);
    unsigned char *sorts = call_sorts_open(editing->trace->names);
    event_id last = EVENT_NONE;
    for (moment_id m = 0; m < graph->host_count; m++) {
        event_id call = graph->inner[m];
        if (call == EVENT_NONE ||
            (sorts[editing->trace->name[call]] != CALL_ALLOC &&
             sorts[editing->trace->name[call]] != CALL_HOST_ALLOC) ||
            teardown_holds(teardown, call))
            continue;
        editing_scale_piece(editing, m, 0);
        editing->effect->count += call != last;
        last = call;
    }
    free(sorts);
}

/* ---- first use ---- */

/* An operator or call, how long it took itself without waiting, and what it is the first use of. */
struct use {
    name_id name, launched; /* launched: the kernel, of a call; NAME_NONE: it launched nothing */
    uint32_t file;
    event_id span;
    int64_t start_ns, own_ns;
};

static const struct key by_uses[] = { ASC(struct use, file),     ASC(struct use, name),
                                      ASC(struct use, launched), ASC(struct use, start_ns),
                                      ASC(struct use, span),     KEY_END };

static const struct key by_spans[] = { ASC(struct use, span), KEY_END };

struct uses {
    VEC_OF(struct use);
};

/* The own time of every span, without the pieces that ended because of work or another thread. */
static void collect_uses(const struct editing *editing, struct uses *uses)
{
    const struct replay_graph *graph = editing->graph;
    const struct trace *trace = editing->trace;
    for (moment_id m = 1; m < graph->host_count; m++) {
        event_id span = graph->inner[m];
        if (span != EVENT_NONE && editing_piece_is_own(graph, m))
            *VEC_PUSH(uses) =
                (struct use){ .name = trace->name[span],
                              .launched = NAME_NONE,
                              .file = trace->tracks[trace->track[span]].file,
                              .span = span,
                              .start_ns = trace_start_ns(trace, span),
                              .own_ns = replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1) };
    }
    if (uses->count)
        SORT(uses, by_spans);
    size_t kept = 0;
    for (size_t i = 0; i < uses->count; i++) {
        if (kept && uses->at[kept - 1].span == uses->at[i].span)
            uses->at[kept - 1].own_ns += uses->at[i].own_ns;
        else
            uses->at[kept++] = uses->at[i];
    }
    uses->count = kept;
}

/* Note of each call the kernel it launched, which the first time has to be loaded. */
static void record_kernels(const struct editing *editing, struct uses *uses)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    for (size_t i = 0; i < gpu->count; i++) {
        struct use key = { .span = gpu->call[i] };
        struct use *use = key.span == EVENT_NONE || uses->count == 0
                              ? NULL
                              : rows_find(uses->at, uses->count, sizeof key, by_spans, &key);
        if (use)
            use->launched = editing->trace->name[gpu->event[i]];
    }
}

static void scale_span(const struct editing *editing, event_id span, double factor)
{
    const struct replay_graph *graph = editing->graph;
    uint32_t thread = graph->thread_of_track[editing->trace->track[span]];
    int64_t end_ns = replay_event_end(graph, span);
    moment_id m = replay_moment_from(graph, thread, replay_event_start(graph, span));
    for (m++; m < graph->host_count && m < graph->threads[thread].first + graph->threads[thread].count &&
              replay_moment_ns(graph, m) <= end_ns;
         m++)
        if (graph->inner[m] == span)
            editing_scale_piece(editing, m, factor);
    editing->effect->count++;
}

/* Is the use at I of USES, from FIRST on those of one name, the first, or the first of what it launched? */
static bool is_first_use(const struct use *uses, size_t first, size_t i)
{
    return i == first || uses[i].launched != uses[i - 1].launched;
}

/* What the uses of one name in one file, from FIRST to END, usually take: the median of those that are no first ones, as these may be
 * as many as the others; with too few of them that of all; 0 of a single one. */
static int64_t usual_of(const struct use *uses, size_t first, size_t end)
{
    enum { ENOUGH = 3 };
    int64_t *own = mem_alloc(mem_times(end - first + 1, sizeof *own));
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        if (!is_first_use(uses, first, i))
            own[count++] = uses[i].own_ns;
    if (count < ENOUGH) {
        count = end - first;
        for (size_t i = 0; i < count; i++)
            own[i] = uses[first + i].own_ns;
    }
    int64_t median_ns = end - first > 1 ? stats_of(own, count).median : 0;
    free(own);
    return median_ns;
}

/* May a single use be treated as a first? Not of work that a program requests once: only calls that set something up. */
static bool may_be_set_up(const struct editing *editing, const struct use *use, unsigned char sort)
{
    return event_is_call((enum event_kind)editing->trace->kind[use->span]) &&
           (sort == CALL_OTHER || sort == CALL_ALLOC || sort == CALL_HOST_ALLOC);
}

void edit_no_first_use(const struct editing *editing)
{
    enum { TIMES_USUAL = 10, LEAST_EXTRA_NS = 50000 };
    unsigned char *sorts = call_sorts_open(editing->trace->names);
    editing->changes->shortens_launches = true; /* a kernel comes after its module was loaded */
    struct uses uses = { 0 };
    collect_uses(editing, &uses);
    record_kernels(editing, &uses);
    if (uses.count)
        SORT(&uses, by_uses);
    FOR_RUNS(first, end, uses.count,
             uses.at[end].file == uses.at[first].file && uses.at[end].name == uses.at[first].name) {
        const struct use *of = &uses.at[first];
        /* each load is of another module, the first use of it */
        bool loads = event_is_call((enum event_kind)editing->trace->kind[of->span]) &&
                     call_loads_code(names_text(editing->trace->names, of->name));
        int64_t usual_ns = loads ? 0 : usual_of(uses.at, first, end);
        if (end - first < 3 && !may_be_set_up(editing, of, sorts[of->name]))
            continue;
        for (size_t i = first; i < end; i++) {
            bool is_first = loads || is_first_use(uses.at, first, i);
            int64_t own_ns = uses.at[i].own_ns;
            if (is_first && own_ns / TIMES_USUAL > usual_ns && own_ns - usual_ns > LEAST_EXTRA_NS)
                scale_span(editing, uses.at[i].span, (double)usual_ns / (double)own_ns);
        }
    }
    free(sorts);
    VEC_FREE(&uses);
}
