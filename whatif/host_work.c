#include "whatif/host_work.h"

#include "base/search.h"
#include "derive/communication.h"
#include "derive/gpu_names.h"
#include "derive/host_state.h"
#include "derive/host_waits.h"
#include "derive/python_names.h"
#include "derive/step_list.h"
#include "trace/derived.h"
#include "whatif/editing.h"
#include "whatif/whatif.h"

/* By name, what is known of it: 0 at first. */
struct host_names {
    const struct trace *trace;
    uint8_t *known;
};

enum {
    LEAST_MEAN_NS = 100000,
    LEAST_LAUNCH_NS = 1000000 /* of own time for each launch: no launch takes as long */
};

/* An operator of a library, such as aten: no range, no node of the backward pass, nothing that waits for others or for a device. */
static bool may_compute(const char *name)
{
    return strstr(name, "::") && strncmp(name, "autograd::", strlen("autograd::")) != 0 &&
           !operator_is_communication(name) && !annotation_is_data_loading(name) &&
           !operator_reads_scalar(name);
}

/* When calls began that launch work, by thread of the graph, sorted. */
struct launch_starts {
    VEC_OF(int64_t);
};

static struct launch_starts *launch_starts_open(const struct replay_graph *graph)
{
    struct launch_starts *starts = mem_zalloc(graph->thread_count + 1, sizeof *starts);
    for (size_t i = 0; i < graph->gpu->count; i++) {
        /* The operator, too: a thread may leave the launch to another. */
        const event_id of[] = { graph->gpu->call[i], graph->gpu->op[i] };
        for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
            uint32_t thread =
                of[k] == EVENT_NONE ? UINT32_MAX : graph->thread_of_track[graph->trace->track[of[k]]];
            if (thread != UINT32_MAX)
                *VEC_PUSH(&starts[thread]) = trace_start_ns(graph->trace, of[k]);
        }
    }
    for (size_t t = 0; t < graph->thread_count; t++)
        SORT_NUMBERS(starts[t].at, starts[t].count);
    return starts;
}

/* How much is launched in E, of a thread of GRAPH: each launch may count twice. */
static size_t launches_in(const struct replay_graph *graph, const struct launch_starts *starts, event_id e)
{
    uint32_t thread = graph->thread_of_track[graph->trace->track[e]];
    if (thread == UINT32_MAX) /* of which the graph knows nothing */
        return UINT32_MAX;
    return search_from(starts[thread].at, starts[thread].count, trace_end_ns(graph->trace, e)) -
           search_from(starts[thread].at, starts[thread].count, trace_start_ns(graph->trace, e));
}

/* Of each name the operators: how many, how long with all that they call. */
struct operator_sum {
    int64_t count, time_ns;
};

static void find_own_times(const struct replay_graph *graph, int64_t *own_ns)
{
    int64_t before_ns = 0;
    for (moment_id m = 0; m < graph->host_count; m++) {
        event_id span = graph->inner[m];
        int64_t ns = replay_moment_ns(graph, m);
        if (m > 0 && span != EVENT_NONE && graph->trace->kind[span] == EVENT_OP &&
            editing_piece_is_own(graph, m))
            own_ns[graph->trace->name[span]] += ns - before_ns;
        before_ns = ns;
    }
}

/* Operators in which work is launched do not compute, unless their own time is far more than that takes. */
static void leave_out_launching(const struct replay_graph *graph, const int64_t *own_ns, bool *computes)
{
    const struct trace *trace = graph->trace;
    struct launch_starts *starts = launch_starts_open(graph);
    size_t *launches = mem_zalloc(names_count(trace->names) + 1, sizeof *launches);
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_OP && computes[trace->name[e]])
            launches[trace->name[e]] += launches_in(graph, starts, e);
    for (name_id id = 0; id < names_count(trace->names); id++)
        computes[id] = computes[id] && (double)own_ns[id] >= LEAST_LAUNCH_NS * (double)launches[id];
    for (size_t t = 0; t < graph->thread_count; t++)
        VEC_FREE(&starts[t]);
    EACH(free, starts, launches);
}

/* The graphs of a trace have the same moments of threads and the same edges to them: any of them will do. */
static struct host_work *host_work_open(const struct trace *trace)
{
    const double mostly = 0.8;
    const struct replay_graph *graph = replay_graph_known(trace);
    graph = graph ? graph : rounds_graph_of(trace);
    size_t names = names_count(trace->names);
    bool any = false;
    struct host_work *work = arena_open(sizeof *work);
    work->computes = arena_zalloc(arena_of(work), names + 1, sizeof *work->computes);
    work->own_ns = arena_zalloc(arena_of(work), names + 1, sizeof *work->own_ns);
    if (graph->gpu->count == 0)
        return work;
    struct operator_sum *sums = mem_zalloc(names + 1, sizeof *sums);
    find_own_times(graph, work->own_ns);
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_OP) {
            sums[trace->name[e]].count++;
            sums[trace->name[e]].time_ns += trace_dur_ns(trace, e);
        }
    for (name_id id = 0; id < names; id++) {
        work->computes[id] = work->own_ns[id] >= LEAST_MEAN_NS &&
                             work->own_ns[id] / sums[id].count >= LEAST_MEAN_NS &&
                             (double)work->own_ns[id] >= mostly * (double)sums[id].time_ns &&
                             may_compute(names_text(trace->names, id));
        any |= work->computes[id];
    }
    free(sums);
    if (any)
        leave_out_launching(graph, work->own_ns, work->computes);
    return work;
}

static const struct host_work *host_work_of_trace(const struct trace *trace);
DERIVED(host_work, host_work_of_trace, host_work_open);

const struct host_work *host_work_of(const struct replay_graph *graph)
{
    return host_work_of_trace(graph->trace);
}

/* ---- pauses ---- */

static bool has_other_name(const struct host_names *names, event_id e)
{
    uint8_t *known = &names->known[names->trace->name[e]];
    enum { NO = 1, YES };
    if (*known == 0) {
        const char *name = trace_name(names->trace, e);
        *known =
            annotation_is_data_loading(name) || operator_is_communication(name) || python_frame_profiles(name)
                ? YES
                : NO;
    }
    return *known == YES;
}

/* Is E what XLA itself does on the host? */
static bool is_of_xla(const struct trace *trace, event_id e)
{
    enum trace_producer producer = trace->files[trace->tracks[trace->track[e]].file].producer;
    return trace->kind[e] == EVENT_OTHER && (producer == PRODUCER_JAX || producer == PRODUCER_TENSORFLOW) &&
           !python_function_of_xla(trace_name(trace, e)) && !host_blocks_until_ready(trace_name(trace, e));
}

/* Does an event loop wait in the function NAME? Python's, where what waits for one thing uses select or poll. */
static bool waits_for_events(const char *name)
{
    return strstr(name, "select.epoll") || strstr(name, "select.kqueue");
}

struct intervals *event_waits_open(const struct trace *trace)
{
    size_t names = names_count(trace->names), count = 0;
    bool *waits = mem_zalloc(names + 1, sizeof *waits);
    struct intervals *of = mem_zalloc(trace->track_count + 1, sizeof *of);
    for (name_id id = 0; id < names; id++)
        count += waits[id] = waits_for_events(names_text(trace->names, id));
    for (event_id e = 0; count && e < trace->event_count; e++)
        if (waits[trace->name[e]] && trace->kind[e] == EVENT_PYTHON)
            intervals_add(&of[trace->track[e]], trace_start_ns(trace, e), trace_end_ns(trace, e));
    for (track_id t = 0; t < trace->track_count; t++)
        intervals_merge(&of[t]);
    free(waits);
    return of;
}

void event_waits_free(const struct trace *trace, struct intervals *waits)
{
    for (track_id t = 0; t < trace->track_count; t++)
        intervals_release(&waits[t]);
    free(waits);
}

/* New, by file: when a batch was loaded, something communicated, the profiler ran, or an operator did, on any thread: a thread may wait
 * for another, such as that of the backward pass, or have nothing to do while another works. */
static struct intervals *other_ranges(const struct replay_graph *graph)
{
    const struct trace *trace = graph->trace;
    struct host_names names = { trace, mem_zalloc(names_count(trace->names) + 1, 1) };
    struct intervals *others = mem_zalloc(trace->file_count + 1, sizeof *others);
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] <= EVENT_DRIVER && !(trace->flags[e] & EVENT_POINT) &&
            (trace->kind[e] == EVENT_OP || has_other_name(&names, e) || is_of_xla(trace, e)))
            intervals_add(&others[trace->tracks[trace->track[e]].file], trace_start_ns(trace, e),
                          trace_end_ns(trace, e));
    for (uint32_t f = 0; f < trace->file_count; f++)
        intervals_merge(&others[f]);
    free(names.known);
    return others;
}

/* New, by track: does it run none of the Python functions of its file, so that its gaps are times without a task? */
static bool *tracks_without_python(const struct trace *trace)
{
    bool *without = mem_zalloc(trace->track_count + 1, sizeof *without),
         *any = mem_zalloc(trace->file_count + 1, sizeof *any);
    for (track_id t = 0; t < trace->track_count; t++)
        without[t] = true;
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_PYTHON ||
            (trace->kind[e] == EVENT_OTHER && python_function_of_xla(trace_name(trace, e)))) {
            without[trace->track[e]] = false;
            any[trace->tracks[trace->track[e]].file] = true;
        }
    for (track_id t = 0; t < trace->track_count; t++)
        without[t] &= any[trace->tracks[t].file];
    free(any);
    return without;
}

/* Does the gap from START to END of FILE lie in a step, where there are steps? */
static bool is_in_step(const struct step_list *steps, uint32_t file, int64_t start_ns, int64_t end_ns)
{
    const struct step *step = step_list_at(steps, file, start_ns);
    return steps->count == 0 || (step && end_ns <= step->end_ns);
}

/* Known by other names than pauses; NULL until the first gap asks for them. */
struct not_pauses {
    struct intervals *others; /* by file: other_ranges */
    struct intervals *waits;  /* by track: event_waits_open */
};

/* Is the gap from START_NS to END_NS before M, of THREAD, a pause? */
static bool is_pause(const struct replay_graph *graph, struct not_pauses *known, size_t thread, moment_id m,
                     int64_t start_ns, int64_t end_ns)
{
    uint32_t file = graph->trace->tracks[graph->threads[thread].track].file;
    int64_t shift_ns = graph->shift_ns[file];
    if (end_ns - start_ns < HOST_PAUSE_NS || !editing_piece_is_own(graph, m))
        return false;
    if (!known->others) {
        known->others = other_ranges(graph);
        known->waits = event_waits_open(graph->trace);
    }
    const struct intervals *waits = &known->waits[graph->threads[thread].track];
    return 2 * intervals_length_within(&known->others[file], start_ns - shift_ns, end_ns - shift_ns) <
               end_ns - start_ns &&
           2 * intervals_length_within(waits, start_ns - shift_ns, end_ns - shift_ns) < end_ns - start_ns &&
           2 * intervals_length_within(&host_state_of(graph->trace)->overhead[file], start_ns - shift_ns,
                                       end_ns - shift_ns) <
               end_ns - start_ns &&
           is_in_step(step_list_of(graph->trace), file, start_ns - shift_ns, end_ns - shift_ns);
}

int64_t *host_starts_open(const struct trace *trace)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    int64_t *ends_ns = mem_alloc(mem_times(trace->file_count + 1, sizeof *ends_ns));
    bool any = false;
    for (uint32_t f = 0; f < trace->file_count; f++) {
        enum trace_producer producer = trace->files[f].producer;
        ends_ns[f] = producer == PRODUCER_NSYS || producer == PRODUCER_ROCPROF ? INT64_MAX : INT64_MIN;
        any |= ends_ns[f] == INT64_MAX;
    }
    for (size_t i = 0; any && i < gpu->count; i++) {
        event_id call = gpu->call[i];
        int64_t *end_ns = call == EVENT_NONE ? NULL : &ends_ns[trace->tracks[trace->track[call]].file];
        if (end_ns && trace_start_ns(trace, call) < *end_ns)
            *end_ns = trace_start_ns(trace, call);
    }
    return ends_ns;
}

struct host_pauses host_pauses_find(const struct replay_graph *graph)
{
    struct host_pauses pauses = { 0 };
    struct not_pauses known = { 0 };
    bool *without = tracks_without_python(graph->trace);
    int64_t *starts_ns = host_starts_open(graph->trace);
    for (size_t t = 0; t < graph->thread_count; t++) {
        const struct replay_thread *thread = &graph->threads[t];
        uint32_t file = graph->trace->tracks[thread->track].file;
        if (without[thread->track] || thread->count == 0)
            continue;
        int64_t before_ns = replay_moment_ns(graph, thread->first), ns;
        for (moment_id m = thread->first + 1; m < thread->first + thread->count; m++, before_ns = ns) {
            ns = replay_moment_ns(graph, m);
            if (graph->inner[m] == EVENT_NONE && before_ns - graph->shift_ns[file] >= starts_ns[file] &&
                is_pause(graph, &known, t, m, before_ns, ns))
                *VEC_PUSH(&pauses) = m;
        }
    }
    EACH(free, without, starts_ns);
    for (uint32_t f = 0; known.others && f < graph->trace->file_count; f++)
        intervals_release(&known.others[f]);
    if (known.waits)
        event_waits_free(graph->trace, known.waits);
    free(known.others);
    return pauses;
}
