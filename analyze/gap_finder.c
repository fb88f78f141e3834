/* The work of a device is visited by start; if an operation begins after all earlier ones have ended, there
 * is a gap. Its parts follow from the call that launched the next work and from what blocked its thread
 * (host_state.h). */
#include "analyze/gap_finder.h"

#include "derive/host_waits.h"
#include "derive/page_moves.h"

#define CAUSE_ROW(id, owner, word, column, color, meaning, verdict) { owner, word, color, meaning, verdict },
const struct gap_cause_info gap_causes[GAP_CAUSES] = { GAP_CAUSE_ROWS(CAUSE_ROW) };

/* ---- the parts of a gap ---- */

struct gap_finder {
    const struct trace *trace;
    const struct selection *selection;
    int64_t min_ns, latency_below_ns;
    const struct gpu_events *gpu;
    const struct host_state *host;
    const struct stream_waits *waits;
    const struct page_moves *pages;
    gap_taker *take;
    void *context; /* of TAKE */
    /* Of the current file: */
    uint32_t first_uses_file;
    event_id *first_use; /* by name of a kernel: the call that was the first to launch it */
    event_id *last_call; /* by track: the call that launched the latest work there */
    /* calls that launched the work before the current gap: on the stream of the next work, on the device */
    event_id previous_call, before_call;
    /* Position of the last search: by file, and by track and activity. */
    size_t *near_overhead, (*near_activity)[HOST_ACTIVITIES];
};

struct gap_finder *gap_finder_open(const struct trace *trace, const struct selection *selection,
                                   int64_t min_ns, int64_t latency_below_ns)
{
    struct gap_finder *finder = arena_open(sizeof *finder);
    *finder = (struct gap_finder){
        .trace = trace,
        .selection = selection,
        .min_ns = min_ns,
        .latency_below_ns = latency_below_ns,
        .gpu = gpu_events_of(trace),
        .host = host_state_of(trace),
        .waits = stream_waits_of(trace),
        .pages = page_moves_of(trace),
        .last_call =
            arena_alloc(arena_of(finder), mem_times(trace->track_count + 1, sizeof *finder->last_call)),
        .near_overhead = arena_zalloc(arena_of(finder), trace->file_count + 1, sizeof *finder->near_overhead),
        .near_activity =
            arena_zalloc(arena_of(finder), trace->track_count + 1, sizeof *finder->near_activity),
    };
    for (track_id t = 0; t < trace->track_count; t++)
        finder->last_call[t] = EVENT_NONE;
    return finder;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* With skewed clocks a call may begin after its work. */
void gap_edges(const struct trace *trace, const struct gap *gap, int64_t edge_ns[GAP_PHASES + 1])
{
    edge_ns[0] = gap->start_ns;
    edge_ns[1] = clamp(trace_start_ns(trace, gap->call), gap->start_ns, gap->end_ns);
    edge_ns[2] = clamp(trace_end_ns(trace, gap->call), edge_ns[1], gap->end_ns);
    edge_ns[3] = gap->end_ns;
}

/* Compute first_use for the file of DEVICE; devices are visited file by file. */
static void find_first_uses(struct gap_finder *finder, uint32_t device)
{
    const struct trace *trace = finder->trace;
    const struct gpu_events *gpu = finder->gpu;
    uint32_t file = gpu->devices[device].file;
    if (finder->first_use && finder->first_uses_file == file)
        return;
    size_t name_count = names_count(trace->names);
    if (!finder->first_use)
        finder->first_use =
            arena_alloc(arena_of(finder), mem_times(name_count + 1, sizeof *finder->first_use));
    for (name_id id = 0; id < name_count; id++)
        finder->first_use[id] = EVENT_NONE;
    finder->first_uses_file = file;
    for (size_t d = gpu_first_device(gpu, file); d < gpu->device_count && gpu->devices[d].file == file; d++)
        for (size_t i = gpu->devices[d].first; i < gpu->devices[d].first + gpu->devices[d].count; i++) {
            event_id call = gpu->call[i], *first = &finder->first_use[trace->name[gpu->event[i]]];
            if (call != EVENT_NONE && gpu_work_is_kernel(gpu->work[i]) &&
                (*first == EVENT_NONE || trace_start_ns(trace, call) < trace_start_ns(trace, *first)))
                *first = call;
        }
}

/* Had the call launched other work already, so that both are nodes of a graph? */
static bool launched_before(const struct gap_finder *finder, const struct gap *gap)
{
    return finder->previous_call == gap->call || finder->before_call == gap->call;
}

static enum gap_cause cause_in_call(const struct gap_finder *finder, const struct gap *gap)
{
    const struct trace *trace = finder->trace;
    const struct host_thread *thread = &finder->host->threads[trace->track[gap->call]];
    if (intervals_contain(&thread->waiting, trace_start_ns(trace, gap->call)))
        return GAP_SYNCHRONIZATION; /* the call is a blocking copy itself */
    bool first = finder->first_use[trace->name[gap->after]] == gap->call && !launched_before(finder, gap);
    return first && trace_dur_ns(trace, gap->call) >= finder->latency_below_ns ? GAP_FIRST_USE
                                                                               : GAP_LAUNCH_CALL;
}

/* The call that made the stream of the work after GAP wait, between the launches of that work and of its
 * predecessor. */
static event_id find_wait(const struct gap_finder *finder, const struct gap *gap)
{
    const struct trace *trace = finder->trace;
    int64_t since_ns =
        finder->previous_call == EVENT_NONE ? INT64_MIN : trace_start_ns(trace, finder->previous_call);
    return stream_waits_before(finder->waits, gap->call, trace->track[gap->after], since_ns);
}

static enum gap_cause cause_after_call(const struct gap_finder *finder, struct gap *gap, int64_t length_ns)
{
    if (launched_before(finder, gap))
        return GAP_GRAPH;
    if (length_ns < finder->latency_below_ns)
        return GAP_LAUNCH_LATENCY;
    gap->wait = find_wait(finder, gap);
    return gap->wait != EVENT_NONE ? GAP_STREAM_WAIT : GAP_QUEUED;
}

const enum gap_cause gap_cause_of_activity[HOST_ACTIVITIES] = {
    [HOST_WAITING] = GAP_SYNCHRONIZATION,
    [HOST_ALLOCATION] = GAP_ALLOCATION,
    [HOST_DATA_LOADING] = GAP_DATA_LOADING,
    [HOST_COMMUNICATION] = GAP_COMMUNICATION,
};

/* Add what the thread of the call did in [START, END), of which LEFT_NS are not overhead. */
static void split_before_call(const struct gap_finder *finder, struct gap *gap, int64_t start_ns,
                              int64_t end_ns, int64_t left_ns)
{
    track_id track = finder->trace->track[gap->call];
    const struct host_thread *thread = &finder->host->threads[track];
    for (size_t a = 0; a < HOST_ACTIVITIES && left_ns > 0; a++) {
        int64_t length_ns =
            intervals_length_near(&thread->in[a], start_ns, end_ns, &finder->near_activity[track][a]);
        gap->part_ns[gap_cause_of_activity[a]] += length_ns;
        left_ns -= length_ns;
    }
    gap->part_ns[GAP_HOST] += left_ns;
}

/* How long the profiler itself was at work in [START, END), in the file of GAP. */
static int64_t overhead_ns(const struct gap_finder *finder, const struct gap *gap, int64_t start_ns,
                           int64_t end_ns)
{
    uint32_t file = finder->gpu->devices[gap->device].file;
    return intervals_length_near(&finder->host->overhead[file], start_ns, end_ns,
                                 &finder->near_overhead[file]);
}

/* QUEUED_NS: how long work was queued after its call, of which GAP may be a stretch. */
static void split_phases(const struct gap_finder *finder, struct gap *gap, int64_t queued_ns)
{
    int64_t edge_ns[GAP_PHASES + 1];
    gap_edges(finder->trace, gap, edge_ns);
    if (queued_ns < 0)
        queued_ns = edge_ns[GAP_AFTER_CALL + 1] - edge_ns[GAP_AFTER_CALL];
    for (size_t phase = 0; phase < GAP_PHASES; phase++) {
        gap->phase_ns[phase] = edge_ns[phase + 1] - edge_ns[phase];
        if (gap->phase_ns[phase] == 0)
            continue;
        int64_t taken_ns = overhead_ns(finder, gap, edge_ns[phase], edge_ns[phase + 1]);
        int64_t left_ns = gap->phase_ns[phase] - taken_ns;
        gap->part_ns[GAP_PROFILER] += taken_ns;
        if (phase == GAP_BEFORE_CALL)
            split_before_call(finder, gap, edge_ns[phase], edge_ns[phase + 1], left_ns);
        else if (phase == GAP_IN_CALL)
            gap->part_ns[cause_in_call(finder, gap)] += left_ns;
        else
            gap->part_ns[cause_after_call(finder, gap, queued_ns)] += left_ns;
    }
}

/* Does GAP end with a page of unified memory that the host touches, or asks for? */
static bool is_of_pages(const struct gap_finder *finder, const struct gap *gap)
{
    uint32_t file = finder->gpu->devices[gap->device].file;
    return intervals_contain(&finder->pages->by_host[file], trace_start_ns(finder->trace, gap->after));
}

/* QUEUED_NS: as for split_phases; -1: GAP is whole. */
static void split(const struct gap_finder *finder, struct gap *gap, int64_t queued_ns)
{
    bool lost = finder->trace->files[finder->gpu->devices[gap->device].file].lost.much;
    if (gap->call == EVENT_NONE || lost) { /* work that was lost may have run in it */
        enum gap_cause cause = !lost && is_of_pages(finder, gap) ? GAP_HOST : GAP_UNKNOWN;
        gap->part_ns[GAP_PROFILER] = overhead_ns(finder, gap, gap->start_ns, gap->end_ns);
        gap->part_ns[cause] = gap->end_ns - gap->start_ns - gap->part_ns[GAP_PROFILER];
    } else {
        split_phases(finder, gap, queued_ns);
    }
    for (size_t c = 1; c < GAP_CAUSES; c++)
        if (gap->part_ns[c] > gap->part_ns[gap->cause])
            gap->cause = (enum gap_cause)c;
}

void gap_finder_split(const struct gap_finder *finder, const struct gap *gap, int64_t start_ns,
                      int64_t end_ns, int64_t part_ns[GAP_CAUSES])
{
    if (start_ns == gap->start_ns && end_ns == gap->end_ns) { /* all of it, as mostly */
        for (size_t c = 0; c < GAP_CAUSES; c++)
            part_ns[c] += gap->part_ns[c];
        return;
    }
    if (start_ns >= end_ns)
        return;
    struct gap stretch = *gap;
    stretch.start_ns = start_ns;
    stretch.end_ns = end_ns;
    for (size_t c = 0; c < GAP_CAUSES; c++)
        stretch.part_ns[c] = 0;
    split(finder, &stretch, gap->phase_ns[GAP_AFTER_CALL]);
    for (size_t c = 0; c < GAP_CAUSES; c++)
        part_ns[c] += stretch.part_ns[c];
}

/* ---- finding gaps ---- */

static void collect_gap(struct gap_finder *finder, struct gap *gap)
{
    split(finder, gap, -1);
    finder->take(finder->context, gap);
}

/* The gaps between COUNT operations of DEVICE, at the indices POSITION or, if NULL, from FIRST on. */
static void gap_finder_find_gaps(struct gap_finder *finder, uint32_t device, const uint32_t *position,
                                 size_t first, size_t count)
{
    const struct trace *trace = finder->trace;
    const struct gpu_events *gpu = finder->gpu;
    event_id last = EVENT_NONE; /* the work that ended last so far, */
    int64_t last_ns = 0;        /* and when */
    find_first_uses(finder, device);
    for (size_t i = first; i < first + count; i++) {
        size_t at = position ? position[i] : i;
        event_id e = gpu->event[at];
        finder->previous_call = finder->last_call[trace->track[e]];
        finder->last_call[trace->track[e]] = gpu->call[at];
        if (finder->selection && !selection_holds_work(finder->selection, e, gpu->call[at]))
            continue;
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        if (last != EVENT_NONE && start_ns > last_ns && start_ns - last_ns >= finder->min_ns)
            collect_gap(finder, &(struct gap){ .start_ns = last_ns,
                                               .end_ns = start_ns,
                                               .before = last,
                                               .after = e,
                                               .call = gpu->call[at],
                                               .op = gpu->op[at],
                                               .device = device,
                                               .wait = EVENT_NONE,
                                               .meanwhile = EVENT_NONE });
        if (last == EVENT_NONE || end_ns >= last_ns) {
            last = e;
            last_ns = end_ns;
            finder->before_call = gpu->call[at];
        }
    }
}

static bool holds_file(const struct gap_finder *finder, uint32_t file)
{
    return !finder->selection || !finder->selection->files || finder->selection->files[file];
}

void gap_finder_visit(struct gap_finder *finder, uint32_t device, gap_taker *take, void *context)
{
    const struct gpu_device *of = &finder->gpu->devices[device];
    finder->take = take;
    finder->context = context;
    if (holds_file(finder, of->file))
        gap_finder_find_gaps(finder, device, NULL, of->first, of->count);
}

void gap_finder_visit_streams(struct gap_finder *finder, gap_taker *take, void *context)
{
    SCOPED_OBJECT struct gpu_streams *streams = gpu_streams_open(finder->gpu);
    finder->take = take;
    finder->context = context;
    FOR_EACH(stream, streams)
        if (holds_file(finder, finder->gpu->devices[stream->device].file))
            gap_finder_find_gaps(finder, stream->device, streams->position, stream->first, stream->count);
}
