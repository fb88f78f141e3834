/* timeline_marks.c - what lies beside the events of a timeline: its steps, the critical path, memory in use, counters. */
#include "charts/timeline_parts.h"

#include "analyze/latency/latency.h"
#include "derive/device_steps.h"
#include "memory/memory_records.h"
#include <inttypes.h>

void timeline_add_steps(struct timeline_making *making)
{
    const struct selection *selection = making->selection;
    const struct device_steps *steps = device_steps_of(making->trace);
    FOR_EACH(step, steps) {
        if (selection && ((selection->files && !selection->files[step->file]) ||
                          !selection_holds_time(selection, step->file, step->host_start_ns)))
            continue;
        *VEC_PUSH(&making->timeline->steps) = (struct timeline_step){
            .number = step->number,
            .start_ns = step->start_ns + making->shift_ns[step->file],
            .dur_ns = step->end_ns - step->start_ns,
            .host_ns = step->host_start_ns + making->shift_ns[step->file],
            .host_end_ns = step->host_end_ns + making->shift_ns[step->file],
            .file = step->file,
        };
    }
}

/* A step of a serving engine. */
static void add_request(struct timeline_making *making)
{
    struct tpa_error none = { 0 };
    struct timeline *timeline = making->timeline;
    SCOPED_OBJECT struct selection *all =
        selection_open(making->trace, &(struct selection_query){ 0 }, &none);
    SCOPED_OBJECT const struct latency *latency =
        latency_analyze(making->trace, all, 0, &latency_defaults, &none);
    const struct phase_example *example = &latency->serving.example;
    if (example->phase) {
        uint32_t file = making->trace->tracks[making->trace->track[example->event]].file;
        timeline->excerpt = (struct timeline_excerpt){
            .title = arena_printf(&timeline->arena, "One %s step", example->phase),
            .note = arena_printf(&timeline->arena, "of %" PRId64 " request%s, of median length",
                                 example->requests, example->requests == 1 ? "" : "s"),
            .start_ns = example->start_ns + making->shift_ns[file],
            .dur_ns = example->end_ns - example->start_ns,
            .file = file,
        };
    }
}

/* All that devices did; without devices all there is. */
static void add_whole(struct timeline_making *making)
{
    struct timeline *timeline = making->timeline;
    const struct gpu_events *gpu = making->gpu;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, end_ns = timeline->start_ns + timeline->dur_ns;
    for (size_t d = 0; d < gpu->device_count; d++)
        for (size_t i = gpu->devices[d].first; i < gpu->devices[d].first + gpu->devices[d].count; i++) {
            int64_t shift_ns = making->shift_ns[gpu->devices[d].file],
                    start_ns = trace_start_ns(making->trace, gpu->event[i]) + shift_ns,
                    stop_ns = trace_end_ns(making->trace, gpu->event[i]) + shift_ns;
            first_ns = start_ns < first_ns ? start_ns : first_ns;
            last_ns = stop_ns > last_ns ? stop_ns : last_ns;
        }
    first_ns = first_ns > timeline->start_ns ? first_ns : timeline->start_ns;
    last_ns = last_ns < end_ns ? last_ns : end_ns;
    bool any = first_ns < last_ns;
    timeline->excerpt = (struct timeline_excerpt){
        .title = "What ran",
        .note = any ? "from the first to the last work of devices" : "in the whole recording",
        .start_ns = any ? first_ns : timeline->start_ns,
        .dur_ns = any ? last_ns - first_ns : timeline->dur_ns,
    };
}

void timeline_add_excerpt(struct timeline_making *making)
{
    if (making->timeline->steps.count)
        return;
    if (!making->selection)
        add_request(making);
    if (!making->timeline->excerpt.title)
        add_whole(making);
}

/* ---- the critical path ---- */

static void collect_segment(struct timeline_making *making, const struct path_segment *segment, uint32_t lane)
{
    struct buffer *out = &making->text;
    const char *part = path_part_title(segment->part);
    const char *name = segment->event == EVENT_NONE ? part : trace_name(making->trace, segment->event);
    struct timeline_span span = {
        .lane = lane,
        .kind = SPAN_PATH + (uint32_t)segment->part,
        .event = TIMELINE_NO_EVENT,
        .call = segment->event == EVENT_NONE ? TIMELINE_NO_EVENT : segment->event,
        .operation = EVENT_NONE,
        .start_ns = segment->start_ns,
        .dur_ns = segment->end_ns - segment->start_ns,
        .weight = segment->end_ns - segment->start_ns,
    };
    if (making->take) {
        making->take(making->take_context, &span);
        return;
    }
    buffer_clear(out);
    if (segment->event != EVENT_NONE)
        buffer_printf(out, "On the critical path: %s", part);
    span.name = names_add(making->timeline->names, name, strlen(name));
    span.detail = names_add(making->timeline->details, out->count ? out->at : "", out->count);
    timeline_add_span(making->timeline, &span); /* is on the common clock already */
}

/* Of a long path the pieces that can be seen when all of it is. */
void timeline_find_path(struct timeline_making *making)
{
    enum { MOST_PIECES = 20000 };
    const struct selection *selection = making->selection;
    if (!making->graph)
        return;
    SCOPED_OBJECT struct path_windows *windows = path_windows_whole(making->graph);
    for (size_t w = 0; w < windows->count; w++) {
        const struct path_window *window = &windows->at[w];
        if (selection && selection->files && !selection->files[window->file])
            continue;
        SCOPED_OBJECT struct path *path =
            path_open_long(making->graph, window, MOST_PIECES, making->timeline->dur_ns / MOST_PIECES);
        for (size_t i = 0; i < path->count; i++)
            *VEC_PUSH(&making->pieces) = (struct timeline_piece){ path->at[i], w, window->file };
    }
    making->has_windows = windows->count > 1;
    arena_free(making->own_graph);
    making->graph = making->own_graph = NULL;
}

/* A lane for each window. */
void timeline_add_path(struct timeline_making *making)
{
    uint32_t lane = UINT32_MAX;
    for (size_t i = 0; i < making->pieces.count; i++) {
        const struct timeline_piece *piece = &making->pieces.at[i];
        if (i == 0 || piece[-1].window != piece->window)
            lane = timeline_add_lane(making->timeline, "critical path",
                                     making->has_windows ? timeline_name_file(making, piece->file) : "",
                                     TIMELINE_MARKS);
        collect_segment(making, &piece->segment, lane);
    }
    VEC_FREE(&making->pieces);
}

/* ---- memory ---- */

static void add_levels(struct timeline_making *making, const struct memory_records *records,
                       const struct memory_device *device)
{
    const struct trace *trace = making->trace;
    const char *type = memory_device_type_name(device->type);
    const char *rank = timeline_name_file(making, device->file);
    char title[96];
    int len =
        snprintf(title, sizeof title, "%s%smemory of %s", rank, *rank ? ", " : "", type ? type : "a device");
    if (device->id >= 0 && len > 0 && (size_t)len < sizeof title)
        snprintf(title + len, sizeof title - (size_t)len, ":%" PRId64, device->id);
    size_t series = timeline_add_series(making->timeline, title, TIMELINE_BYTES);
    int64_t shift_ns = making->shift_ns[device->file],
            end_ns = making->timeline->start_ns + making->timeline->dur_ns;
    for (uint32_t i = device->first, last = i + device->count - 1; i <= last; i++)
        timeline_set_series(making->timeline, series, trace_start_ns(trace, records->at[i].event) + shift_ns,
                            i < last ? trace_start_ns(trace, records->at[i + 1].event) + shift_ns : end_ns,
                            records->at[i].allocated);
    timeline_end_series(making->timeline, series);
}

void timeline_add_memory(struct timeline_making *making)
{
    enum { MOST_DEVICES = 16 };
    size_t count = 0;
    const struct selection *selection = making->selection;
    const struct memory_records *kept = memory_records_kept(making->trace),
                                *records = kept ? kept : memory_records_open(making->trace, MEMORY_LEVELS);
    for (int host = 0; host < 2; host++) /* devices first */
        for (size_t d = 0; d < records->device_count; d++)
            if (memory_is_host(&records->devices[d]) == host && records->devices[d].count > 1 &&
                count < MOST_DEVICES &&
                !(selection && selection->files && !selection->files[records->devices[d].file]))
                add_levels(making, records, &records->devices[d]), count++;
    arena_free(records); /* no effect on those that are kept */
}

/* ---- counters ---- */

struct counted {
    uint32_t file;
    name_id counter;
    track_id track;
    int64_t at_ns;
    double value;
};

static const struct key by_counter[] = { ASC(struct counted, file), ASC(struct counted, counter),
                                         ASC(struct counted, track), KEY_END };
static const struct key by_counter_and_time[] = { ASC(struct counted, file), ASC(struct counted, counter),
                                                  ASC(struct counted, track), ASC(struct counted, at_ns),
                                                  KEY_END };

/* A counter in thousandths. */
static int64_t thousandths(double value)
{
    const double most = 1e15;
    return value > 0 ? (int64_t)((value < most ? value : most) * 1000 + 0.5) : 0;
}

/* A lane of each counter of each process: from a sample on it has its value. */
void timeline_add_counters(struct timeline_making *making)
{
    enum { MOST_COUNTERS = 32 };
    const struct trace *trace = making->trace;
    struct timeline *timeline = making->timeline;
    SCOPED VEC_OF(struct counted) samples = { 0 };
    size_t count = 0;
    FOR_EACH_OF(sample, trace->samples, trace->sample_count) {
        uint32_t file = trace->tracks[sample->track].file;
        if (making->selection && making->selection->files && !making->selection->files[file])
            continue;
        *VEC_PUSH(&samples) = (struct counted){ file, sample->counter, sample->track,
                                                sample->ts_ns + making->shift_ns[file], sample->value };
    }
    SORT(&samples, by_counter_and_time);
    FOR_GROUPS(&samples, by_counter, first, end) {
        if (count++ == MOST_COUNTERS)
            break;
        const char *file = timeline_name_file(making, samples.at[first].file);
        const char *title = arena_printf(&timeline->arena, "%s%s%s", file, *file ? ", " : "",
                                         names_text(trace->texts, samples.at[first].counter));
        size_t series = timeline_add_series(timeline, title, TIMELINE_COUNTER);
        for (size_t i = first; i < end; i++)
            timeline_set_series(timeline, series, samples.at[i].at_ns,
                                i + 1 < end ? samples.at[i + 1].at_ns : timeline->start_ns + timeline->dur_ns,
                                thousandths(samples.at[i].value));
        timeline_end_series(timeline, series);
    }
}
