/* timeline_devices.c - the part of devices of a timeline: streams, idle gaps and their causes, what was done in
 * each bin. */
#include "charts/timeline_parts.h"

#include "derive/device_use.h"
#include <inttypes.h>

/* Work weighs more than what the host did: there is less of it, and it is what a run is for. Gaps do, too. */
enum { WEIGHT_OF_WORK = 4 };

/* Times of a damaged file may be absurd. */
static int64_t weight_of(int64_t dur_ns)
{
    return dur_ns > INT64_MAX / WEIGHT_OF_WORK ? INT64_MAX : dur_ns * WEIGHT_OF_WORK;
}

/* Where several operations overlap on a stream each gets a row of its own. */
enum { STREAM_ROWS = 4 };

/* A strip takes 600 kB of memory, and nobody looks through more. */
enum { MOST_DEVICES = 512 };

static bool holds_work(const struct timeline_making *making, size_t i)
{
    return !making->selection ||
           selection_holds_work(making->selection, making->gpu->event[i], making->gpu->call[i]);
}

static uint32_t kind_of_work(struct timeline_making *making, size_t i)
{
    return gpu_work_communicates(making->gpu->work[i]) ? SPAN_COMMUNICATION
                                                       : timeline_kind_of(making, making->gpu->event[i]);
}

static void collect_stream(struct timeline_making *making, const struct gpu_streams *streams,
                           const struct gpu_stream *stream, uint32_t lane)
{
    const struct trace *trace = making->trace;
    const struct gpu_events *gpu = making->gpu;
    int64_t end_ns[STREAM_ROWS] = { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN };
    for (size_t k = stream->first; k < stream->first + stream->count; k++) {
        size_t i = streams->position[k];
        event_id e = gpu->event[i];
        uint16_t row = 0;
        if (!holds_work(making, i))
            continue;
        while (row < STREAM_ROWS - 1 && end_ns[row] > trace_start_ns(trace, e))
            row++;
        if (trace_end_ns(trace, e) > end_ns[row])
            end_ns[row] = trace_end_ns(trace, e);
        int64_t weight = weight_of(trace_dur_ns(trace, e));
        if (timeline_leaves_out(making, weight))
            continue;
        timeline_collect(
            making, gpu->devices[stream->device].file,
            (struct timeline_span){ .lane = lane,
                                    .kind = kind_of_work(making, i),
                                    .depth = row,
                                    .event = e,
                                    .call = gpu->call[i] == EVENT_NONE ? TIMELINE_NO_EVENT : gpu->call[i],
                                    .operation = gpu->op[i],
                                    .start_ns = trace_start_ns(trace, e),
                                    .dur_ns = trace_dur_ns(trace, e),
                                    .weight = weight });
    }
}

/* ---- gaps ---- */

/* What the gaps of a cause are called. */
static name_id name_gap(struct timeline_making *making, enum gap_cause cause)
{
    buffer_clear(&making->text);
    buffer_puts(&making->text, "idle: ");
    buffer_puts(&making->text, gap_causes[cause].name);
    return names_add(making->timeline->names, making->text.at, making->text.count);
}

/* What ended a gap: there are far more gaps than names of work. */
static name_id describe_gap(struct timeline_making *making, const struct gap *gap)
{
    const struct trace *trace = making->trace;
    name_id name = trace->name[gap->after];
    if (making->ended_by[name] == NAME_NONE) {
        buffer_clear(&making->text);
        buffer_puts(&making->text, "Ended by: ");
        buffer_add(&making->text, names_text(trace->names, name), names_length(trace->names, name));
        making->ended_by[name] = names_add(making->timeline->details, making->text.at, making->text.count);
    }
    return making->ended_by[name];
}

static void add_span_of_gap(struct timeline_making *making, const struct gap *gap, uint32_t lane)
{
    int64_t dur_ns = gap->end_ns - gap->start_ns;
    struct timeline_span span = { .lane = lane,
                                  .kind = SPAN_IDLE + (uint32_t)gap->cause,
                                  .event = TIMELINE_NO_EVENT,
                                  .call = gap->call == EVENT_NONE ? TIMELINE_NO_EVENT : gap->call,
                                  .operation = gap->after,
                                  .start_ns = gap->start_ns,
                                  .dur_ns = dur_ns,
                                  .weight = weight_of(dur_ns) };
    if (timeline_leaves_out(making, span.weight))
        return;
    if (making->take) {
        span.call = gap->before;
    } else {
        span.name = making->gap_name[gap->cause];
        span.detail = describe_gap(making, gap);
    }
    timeline_collect(making, making->gpu->devices[gap->device].file, span);
}

/* ---- strips ---- */

/* Each moment once, for the first kind of work that ran: matrix kernels, others, communication, copies,
 * memsets. Between the starts of two pieces of work nothing else begins: what runs then are the kinds that
 * have not ended yet, one after the other. */
static void fill_busy(struct timeline_making *making, size_t strip, const struct gpu_device *device)
{
    const struct trace *trace = making->trace;
    const struct gpu_events *gpu = making->gpu;
    int64_t until_ns[SPAN_MEMSET + 1], shift_ns = making->shift_ns[device->file];
    for (uint32_t kind = 0; kind <= SPAN_MEMSET; kind++)
        until_ns[kind] = INT64_MIN; /* when what has begun will have ended */
    for (size_t i = device->first, end = i + device->count; i < end; i++) {
        int64_t now_ns = trace_start_ns(trace, gpu->event[i]), end_ns = trace_end_ns(trace, gpu->event[i]);
        int64_t next_ns = i + 1 < end ? trace_start_ns(trace, gpu->event[i + 1]) : INT64_MAX;
        uint32_t of = kind_of_work(making, i);
        if (holds_work(making, i) && end_ns > until_ns[of])
            until_ns[of] = end_ns;
        for (uint32_t kind = 0; kind <= SPAN_MEMSET && now_ns < next_ns; kind++) {
            int64_t to_ns = until_ns[kind] < next_ns ? until_ns[kind] : next_ns;
            if (to_ns <= now_ns)
                continue;
            timeline_fill_strip(making->timeline, strip, kind, now_ns + shift_ns, to_ns + shift_ns,
                                to_ns - now_ns);
            now_ns = to_ns;
        }
    }
}

/* The parts of a gap are spread over the whole of it: where in it they lie is not kept. */
static void fill_gap(struct timeline_making *making, size_t strip, const struct gap *gap)
{
    int64_t shift_ns = making->shift_ns[making->gpu->devices[gap->device].file];
    for (uint32_t cause = 0; cause < GAP_CAUSES; cause++)
        if (gap->part_ns[cause] > 0)
            timeline_fill_strip(making->timeline, strip, SPAN_IDLE + cause, gap->start_ns + shift_ns,
                                gap->end_ns + shift_ns, gap->part_ns[cause]);
}

/* Where the gaps of a device go. */
struct taking {
    struct timeline_making *making;
    uint32_t lane;
    size_t strip;
};

/* A gap_taker. */
static void collect_gap(void *context, const struct gap *gap)
{
    const struct taking *taking = context;
    add_span_of_gap(taking->making, gap, taking->lane);
    fill_gap(taking->making, taking->strip, gap);
}

/* What is left between the first and the last work of a bin's device lies in gaps that were too short to be listed. */
static void fill_rest(struct timeline_making *making, size_t strip)
{
    struct timeline *timeline = making->timeline;
    int64_t *ns = timeline->strips.at[strip].ns, bin_ns = timeline->dur_ns / (int64_t)timeline->bins;
    size_t first = SIZE_MAX, last = 0;
    for (size_t bin = 0; bin < timeline->bins; bin++)
        for (uint32_t kind = 0; kind < SPAN_IDLE; kind++)
            if (ns[bin * TIMELINE_MOST_KINDS + kind] > 0) {
                first = first == SIZE_MAX ? bin : first;
                last = bin;
            }
    for (size_t bin = first == SIZE_MAX ? last : first + 1; bin < last; bin++) {
        int64_t rest_ns = bin_ns;
        for (uint32_t kind = 0; kind < TIMELINE_MOST_KINDS; kind++)
            rest_ns -= ns[bin * TIMELINE_MOST_KINDS + kind];
        if (rest_ns > 0)
            ns[bin * TIMELINE_MOST_KINDS + SPAN_SHORT_GAPS] = rest_ns;
    }
}

/* ---- queues ---- */

/* When work I was launched, if it waited; INT64_MIN: it did not, or is not known to have. */
static int64_t launched_ns(const struct timeline_making *making, size_t i)
{
    event_id call = making->gpu->call[i];
    if (call == EVENT_NONE || !holds_work(making, i))
        return INT64_MIN;
    int64_t called_ns = trace_start_ns(making->trace, call);
    return called_ns < trace_start_ns(making->trace, making->gpu->event[i]) ? called_ns : INT64_MIN;
}

/* How much work was launched and had not begun. Calls are nearly in the order of what they launched. */
static void add_queue(struct timeline_making *making, const struct gpu_device *device, size_t strip)
{
    struct timeline *timeline = making->timeline;
    const event_id *work = making->gpu->event + device->first;
    size_t count = 0, k = 0;
    int64_t depth = 0, *calls = mem_alloc(mem_times(device->count + 1, sizeof *calls)),
            *called = mem_alloc(mem_times(device->count + 1, sizeof *called)); /* CALLED: by work */
    for (size_t i = 0; i < device->count; i++) {
        called[i] = launched_ns(making, device->first + i);
        if (called[i] != INT64_MIN)
            calls[count++] = called[i];
    }
    SORT_NUMBERS(calls, count);
    const char *title = arena_printf(&timeline->arena, "%s: queue", timeline->strips.at[strip].title);
    size_t series = count ? timeline_add_series(timeline, title, (uint32_t)strip) : 0;
    int64_t shift_ns = making->shift_ns[device->file], last_ns = timeline->start_ns - shift_ns;
    for (size_t i = 0; i < device->count; i++) {
        if (called[i] == INT64_MIN)
            continue;
        int64_t start_ns = trace_start_ns(making->trace, work[i]);
        for (; k < count && calls[k] < start_ns; last_ns = calls[k++])
            timeline_set_series(timeline, series, last_ns + shift_ns, calls[k] + shift_ns, depth++);
        timeline_set_series(timeline, series, last_ns + shift_ns, start_ns + shift_ns, depth--);
        last_ns = start_ns;
    }
    if (count) {
        timeline_set_series(timeline, series, last_ns + shift_ns, timeline->start_ns + timeline->dur_ns,
                            depth);
        timeline_end_series(timeline, series);
    }
    EACH(free, calls, called);
}

/* ---- without devices: what the busiest thread of a file did ---- */

static bool timeline_devices_takes(const void *context, event_id e)
{
    const struct timeline_making *making = context;
    const struct trace *trace = making->trace;
    enum event_kind kind = trace->kind[e];
    return (kind == EVENT_OP || kind == EVENT_RUNTIME || kind == EVENT_PYTHON || kind == EVENT_OTHER) &&
           !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT)) &&
           (!making->selection || selection_holds_place(making->selection, e));
}

/* The time of each call without those that it made, spread over it. */
static void fill_thread(struct timeline_making *making, const struct calltree *tree,
                        const struct calltree_thread *thread, const int64_t *inner_ns)
{
    const struct trace *trace = making->trace;
    const struct track *track = &trace->tracks[thread->track];
    size_t strip = timeline_add_strip(making->timeline, timeline_name_track(making, track));
    int64_t shift_ns = making->shift_ns[track->file];
    for (node_id n = thread->first; n < thread->first + thread->count; n++) {
        event_id e = tree->event[n];
        int64_t own_ns = trace_dur_ns(trace, e) - inner_ns[n];
        if (own_ns > 0)
            timeline_fill_strip(making->timeline, strip, timeline_kind_of(making, e),
                                trace_start_ns(trace, e) + shift_ns, trace_end_ns(trace, e) + shift_ns,
                                own_ns);
    }
}

static void add_thread_strips(struct timeline_making *making)
{
    enum { MOST_STRIPS = 8 };
    const struct trace *trace = making->trace;
    SCOPED_OBJECT struct calltree *tree = calltree_open(trace, timeline_devices_takes, making);
    calltree_nest(tree);
    SCOPED int64_t *inner_ns = mem_zalloc(tree->count + 1, sizeof *inner_ns);
    for (size_t n = 0; n < tree->count; n++)
        if (tree->parent[n] != NODE_NONE)
            inner_ns[tree->parent[n]] += trace_dur_ns(trace, tree->event[n]);
    for (uint32_t file = 0; file < trace->file_count && file < MOST_STRIPS; file++) {
        const struct calltree_thread *busiest = NULL;
        for (size_t t = 0; t < tree->thread_count; t++)
            if (trace->tracks[tree->threads[t].track].file == file &&
                (!busiest || tree->threads[t].count > busiest->count))
                busiest = &tree->threads[t];
        if (busiest)
            fill_thread(making, tree, busiest, inner_ns);
    }
}

static void timeline_devices_add_device(struct timeline_making *making, const struct gpu_streams *streams,
                                        uint32_t d, size_t *stream, struct gap_finder *gaps)
{
    enum { OPEN = 8 };
    const struct gpu_device *device = &making->gpu->devices[d];
    struct timeline *timeline = making->timeline;
    const char *rank = arena_printf(&timeline->arena, "%s", timeline_name_file(making, device->file));
    const char *name = arena_printf(&timeline->arena, "device %" PRId32, device->id);
    size_t strip =
        timeline_add_strip(timeline, *rank ? arena_printf(&timeline->arena, "%s, %s", rank, name) : name);
    uint32_t lane =
        timeline_add_lane(timeline, arena_printf(&timeline->arena, "%s, idle", name), rank, TIMELINE_DEVICE);
    timeline->lanes.at[lane].strip = (uint32_t)strip;
    fill_busy(making, strip, device);
    add_queue(making, device, strip);
    struct taking taking = { making, lane, strip };
    gap_finder_visit(gaps, d, collect_gap, &taking);
    fill_rest(making, strip);
    for (; *stream < streams->count && streams->at[*stream].device <= d; ++*stream) {
        const struct gpu_stream *of = &streams->at[*stream];
        if (of->device != d)
            continue;
        const char *title = arena_printf(&timeline->arena, "%s",
                                         timeline_name_track(making, &making->trace->tracks[of->track]));
        lane = timeline_add_lane(timeline, title, rank, TIMELINE_DEVICE);
        timeline->lanes.at[lane].strip = (uint32_t)strip;
        collect_stream(making, streams, of, lane);
        timeline->lanes.at[lane].closed = making->gpu->device_count > OPEN;
    }
}

void timeline_add_devices(struct timeline_making *making)
{
    const struct gpu_events *gpu = making->gpu;
    if (gpu->count == 0) {
        add_thread_strips(making);
        return;
    }
    size_t names = names_count(making->trace->names) + 1;
    making->ended_by = mem_alloc(mem_times(names, sizeof *making->ended_by));
    memset(making->ended_by, 0xff, names * sizeof *making->ended_by);
    for (int cause = 0; cause < GAP_CAUSES; cause++)
        making->gap_name[cause] = name_gap(making, (enum gap_cause)cause);
    SCOPED_OBJECT struct gap_finder *gaps = gap_finder_open(
        making->trace, making->selection, making->timeline->dur_ns / making->most_gaps, GAP_LATENCY_BELOW_NS);
    SCOPED_OBJECT struct gpu_streams *streams = gpu_streams_open(gpu);
    size_t stream = 0;
    for (uint32_t d = 0; d < gpu->device_count; d++) {
        uint32_t file = gpu->devices[d].file;
        if (making->selection && making->selection->files && !making->selection->files[file])
            continue;
        if (making->timeline->strips.count < MOST_DEVICES) {
            timeline_devices_add_device(making, streams, d, &stream, gaps);
            continue;
        }
        making->timeline->left_out += gpu->devices[d].count;
        making->timeline->devices_left_out++;
    }
    free(making->ended_by);
}
