/* For each file there is a set of intervals per part, made disjoint by subtracting parts of higher precedence. The
 * parts of the host are computed once; the work of a device or stream, which has precedence, is subtracted from them.
 * So the cost of a device depends only on its own work. */
#include "analyze/steps.h"

#include "analyze/account_tables.h"
#include "analyze/many_rows.h"
#include "analyze/step_phases.h"
#include "base/rows.h"
#include "base/runs.h"
#include "base/search.h"
#include "base/stats.h"
#include "base/sum.h"
#include "derive/collective_names.h"
#include "derive/device_steps.h"
#include "derive/features.h"
#include "derive/file_set.h"
#include "derive/gpu_names.h"
#include "trace/derived.h"
#include "trace/span.h"
#include <assert.h>
#include <math.h>

const struct trace_wants steps_wants = { .args = GPU_EVENTS_WANTS | WANT(STEP) };

/* ---- which ranges are the steps ---- */

/* The annotations whose names match; NULL and ERR if NAME is not a valid expression. */
static struct step_list *ranges_called(const struct trace *trace, const char *name, struct tpa_error *err)
{
    SCOPED bool *wanted = selection_match_names(trace->names, name, NULL, err);
    if (!wanted)
        return NULL;
    struct step_list *ranges = step_list_new();
    for (event_id e = 0; e < trace->event_count; e++)
        if (wanted[trace->name[e]] && !(trace->flags[e] & EVENT_POINT) &&
            (trace->kind[e] == EVENT_ANNOTATION || trace->kind[e] == EVENT_OP ||
             trace->kind[e] == EVENT_OTHER))
            *VEC_PUSH(ranges) = (struct step){ trace->tracks[trace->track[e]].file, 0,
                                               trace_start_ns(trace, e), trace_end_ns(trace, e), e };
    return ranges;
}

/* All of each file as one step. */
static struct step_list *whole_files(const struct trace *trace)
{
    struct step_list *ranges = step_list_new();
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct interval span = trace_file_span(trace, f);
        if (span.start_ns < span.end_ns)
            *VEC_PUSH(ranges) = (struct step){ f, 0, span.start_ns, span.end_ns, EVENT_NONE };
    }
    return ranges;
}

/* The steps of torch.profiler, or of timelines, as a list of our own. */
static struct step_list *profiler_steps(const struct trace *trace)
{
    const struct step_list *of_trace = step_list_of(trace);
    of_trace = of_trace->count ? of_trace : step_list_of_timelines(trace);
    struct step_list *ranges = step_list_new();
    for (size_t i = 0; i < of_trace->count; i++)
        *VEC_PUSH(ranges) = of_trace->at[i];
    return ranges;
}

/* The steps. Marks the annotations that are steps, which are not parts of themselves, in PARTS_BY_NAME: see
 * part_of_name. */
static struct step_list *find_ranges(const struct trace *trace, const struct steps_options *options,
                                     struct steps *steps, uint8_t *parts_by_name, struct tpa_error *err)
{
    struct step_list *ranges =
        options->name ? ranges_called(trace, options->name, err) : profiler_steps(trace);
    if (!ranges)
        return NULL;
    if (ranges->count == 0 && options->name) {
        arena_free(ranges);
        tpa_fail(err, TPA_NOWHERE, "no annotation matches '%s'", options->name);
        tpa_hint(err, "tpa top --by category lists what there is; tpa top --filter shows names");
        return NULL;
    }
    steps->no_steps = ranges->count == 0 ? trace_feature_recipe(trace, FEATURE_STEPS) : NULL;
    if (steps->no_steps) {
        arena_free(ranges);
        return whole_files(trace);
    }
    for (size_t i = 0; i < ranges->count; i++)
        if (trace->kind[ranges->at[i].event] == EVENT_ANNOTATION)
            parts_by_name[trace->name[ranges->at[i].event]] = 1 + STEP_OTHER;
    steps->overlapping = (int64_t)step_list_drop_overlaps(ranges);
    return ranges;
}

/* ---- parts over time ---- */

/* The part of an operator or annotation by name, cached per name; 0: not determined. */
static enum step_part part_of_name(const struct trace *trace, uint8_t *parts_by_name, name_id id)
{
    if (parts_by_name[id] == 0) {
        const char *name = names_text(trace->names, id);
        int64_t number;
        parts_by_name[id] = 1 + (annotation_is_data_loading(name) ? STEP_DATA_LOADING
                                 : collective_runs_on_host(name)  ? STEP_COMMUNICATION
                                 : step_number(name, &number)     ? STEP_OTHER
                                                                  : STEP_CPU);
    }
    return (enum step_part)(parts_by_name[id] - 1);
}

static enum step_part part_of_host_event(const struct trace *trace, uint8_t *parts_by_name, event_id e)
{
    if (event_is_call(trace->kind[e]))
        return STEP_RUNTIME;
    bool is_region = trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION;
    return is_region ? part_of_name(trace, parts_by_name, trace->name[e]) : STEP_OTHER;
}

static enum step_part part_of_work(uint8_t work)
{
    switch (work) {
    case GPU_MEMCPY: return STEP_MEMCPY;
    case GPU_MEMSET: return STEP_MEMSET;
    case GPU_NCCL:
    case GPU_COMMUNICATION: return STEP_COMMUNICATION;
    default: return STEP_KERNEL;
    }
}

/* The owner of device work: a file, a device or a stream. */
struct lane {
    uint32_t file;
    const struct gpu_device *device; /* NULL: all devices of the file */
    const struct gpu_stream *stream; /* NULL: all streams of the device */
};

/* The inputs of the times of all lanes. */
struct steps_query {
    const struct trace *trace;
    const struct selection *selection;
    const struct gpu_events *gpu;
    const struct gpu_streams *streams; /* NULL unless rows are by stream */
    const struct device_steps *steps;
    uint8_t *parts_by_name; /* by name: 1 + enum step_part; 0: not determined yet */
    bool only_durations;    /* of the options */
};

static bool steps_add_work(const struct steps_query *query, size_t at, struct intervals sets[STEP_PARTS])
{
    const struct trace *trace = query->trace;
    const struct selection *selection = query->selection;
    event_id e = query->gpu->event[at];
    if (selection->tracks && !selection->tracks[trace->track[e]])
        return false;
    intervals_add(&sets[part_of_work(query->gpu->work[at])], trace_start_ns(trace, e),
                  trace_end_ns(trace, e));
    return true;
}

enum { DEVICES_AT_ONCE = 8 };

/* Add the work of COUNT devices, at most DEVICES_AT_ONCE, in order of start, so that nothing needs sorting afterwards. */
static bool add_devices(const struct steps_query *query, const struct gpu_device *devices, size_t count,
                        struct intervals sets[STEP_PARTS])
{
    const struct gpu_events *gpu = query->gpu;
    size_t done[DEVICES_AT_ONCE] = { 0 };
    int64_t next_ns[DEVICES_AT_ONCE]; /* when its first that is not done begins */
    bool any = false;
    for (size_t d = 0; d < count; d++)
        next_ns[d] = trace_start_ns(query->trace, gpu->event[devices[d].first]);
    for (;;) {
        size_t first = count;
        for (size_t d = 0; d < count; d++)
            if (done[d] < devices[d].count && (first == count || next_ns[d] < next_ns[first]))
                first = d;
        if (first == count)
            return any;
        size_t at = devices[first].first + done[first]++;
        any |= steps_add_work(query, at, sets);
        if (done[first] < devices[first].count)
            next_ns[first] = trace_start_ns(query->trace, gpu->event[at + 1]);
    }
}

/* Add the intervals of each device part. Returns whether LANE has selected work. */
static bool find_work(const struct steps_query *query, const struct lane *lane,
                      struct intervals sets[STEP_PARTS])
{
    const struct gpu_events *gpu = query->gpu;
    bool any = false;
    if (lane->stream) {
        const uint32_t *position = &query->streams->position[lane->stream->first];
        for (size_t i = 0; i < lane->stream->count; i++)
            any |= steps_add_work(query, position[i], sets);
        return any;
    }
    if (lane->device)
        return add_devices(query, lane->device, 1, sets);
    size_t end = gpu_first_device(gpu, lane->file);
    for (size_t first = end; first < gpu->device_count && gpu->devices[first].file == lane->file;
         first = end) {
        while (end < gpu->device_count && end < first + DEVICES_AT_ONCE &&
               gpu->devices[end].file == lane->file)
            end++;
        any |= add_devices(query, &gpu->devices[first], end - first, sets);
    }
    return any;
}

static void find_host_parts(const struct steps_query *query, uint32_t file, struct intervals sets[STEP_PARTS])
{
    const struct trace *trace = query->trace;
    const struct trace_file *of = &trace->files[file];
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        enum step_part part = part_of_host_event(trace, query->parts_by_name, e);
        if (part != STEP_OTHER)
            intervals_add(&sets[part], trace_start_ns(trace, e), trace_end_ns(trace, e));
    }
}

enum { SPANS_OF_SUM = 16 };

/* Intervals of a part of the host. */
struct host_spans {
    VEC_OF(struct interval);
    VEC_OF(int64_t) before_ns; /* by block of SPANS_OF_SUM: the total length of those before it */
};

/* The intervals of host parts: each part without those of higher precedence, in order of time. */
struct host_parts {
    struct host_spans part[STEP_OTHER];
};

/* What the spans before the one at INDEX took. */
static int64_t spans_before(const struct host_spans *spans, size_t index)
{
    int64_t sum_ns = spans->before_ns.at[index / SPANS_OF_SUM];
    for (size_t i = index / SPANS_OF_SUM * SPANS_OF_SUM; i < index; i++)
        sum_ns += spans->at[i].end_ns - spans->at[i].start_ns;
    return sum_ns;
}

/* An intervals_visit. */
static void add_host_span(void *context, size_t part, int64_t start_ns, int64_t end_ns)
{
    struct host_spans *spans = &((struct host_parts *)context)->part[part];
    if (spans->count % SPANS_OF_SUM == 0) {
        size_t last = spans->count - 1;
        int64_t before_ns =
            spans->count ? spans_before(spans, last) + spans->at[last].end_ns - spans->at[last].start_ns : 0;
        *VEC_PUSH(&spans->before_ns) = before_ns;
    }
    *VEC_PUSH(spans) = (struct interval){ start_ns, end_ns };
}

/* The parts of the host in FILE. New; free with arena_free. */
static struct host_parts *host_parts_open(const struct steps_query *query, uint32_t file)
{
    struct host_parts *host = arena_open(sizeof *host);
    ARENA_OWNS_EACH(arena_of(host), host->part, STEP_OTHER, at);
    ARENA_OWNS_EACH(arena_of(host), host->part, STEP_OTHER, before_ns);
    SCOPED_ARENA struct arena scratch = { 0 };
    struct intervals *sets = arena_vectors(&scratch, STEP_PARTS, sizeof *sets);
    find_host_parts(query, file, sets);
    for (size_t p = 0; p < STEP_OTHER; p++)
        intervals_merge(&sets[p]);
    intervals_each(sets, STEP_OTHER, add_host_span, host);
    return host;
}

/* The total length of SPANS before a moment. *AT is 0, or as left by the call for an earlier moment. */
static int64_t host_before(const struct host_spans *spans, size_t *at, int64_t moment_ns)
{
    size_t first = *at, far = 1;
    for (; first + far < spans->count && spans->at[first + far].start_ns < moment_ns; far *= 2)
        first += far;
    size_t end = first + far < spans->count ? first + far : spans->count, next;
    SEARCH_BETWEEN(next, first, end, spans->at[next].start_ns < moment_ns);
    *at = next ? next - 1 : 0;
    if (next == 0)
        return 0;
    const struct interval *last = &spans->at[*at];
    return spans_before(spans, *at) + (moment_ns < last->end_ns ? moment_ns : last->end_ns) - last->start_ns;
}

/* The length of each disjoint part up to the moments at which steps begin or end. */
struct part_times {
    int64_t *moment_ns; /* ascending */
    int64_t (*before_ns)[STEP_OTHER];
    size_t count, known; /* moments; those already passed */
    int64_t so_far_ns[STEP_OTHER];
    const struct host_parts *host; /* NULL: the sets hold those of the host, too */
    size_t host_at[STEP_OTHER];    /* see host_before */
};

/* Add the length of each part of the host before a moment to SUMS, or subtract it if SIGN is -1. Moments ascend. */
static void steps_add_host(struct part_times *times, int64_t moment_ns, int sign, int64_t sums[STEP_OTHER])
{
    for (size_t p = STEP_COMMUNICATION; times->host && p < STEP_OTHER; p++)
        sums[p] += sign * host_before(&times->host->part[p], &times->host_at[p], moment_ns);
}

/* An intervals_visit of device work, which takes precedence over the host. */
static void add_part_time(void *context, size_t part, int64_t start_ns, int64_t end_ns)
{
    struct part_times *times = context;
    int64_t host_ns[STEP_OTHER] = { 0 }; /* up to its start */
    if (!times->host && (times->known == times->count || times->moment_ns[times->known] >= end_ns)) {
        times->so_far_ns[part] += end_ns - start_ns; /* as mostly: no step begins or ends in it */
        return;
    }
    steps_add_host(times, start_ns, 1, host_ns);
    for (; times->known < times->count && times->moment_ns[times->known] < end_ns; times->known++) {
        int64_t *before_ns = times->before_ns[times->known], moment_ns = times->moment_ns[times->known];
        memcpy(before_ns, times->so_far_ns, sizeof times->so_far_ns);
        if (moment_ns <= start_ns)
            continue;
        before_ns[part] += moment_ns - start_ns;
        for (size_t p = STEP_COMMUNICATION; p < STEP_OTHER; p++)
            before_ns[p] += host_ns[p];
        steps_add_host(times, moment_ns, -1, before_ns);
    }
    times->so_far_ns[part] += end_ns - start_ns;
    for (size_t p = STEP_COMMUNICATION; p < STEP_OTHER; p++)
        times->so_far_ns[p] += host_ns[p];
    steps_add_host(times, end_ns, -1, times->so_far_ns);
}

/* The prefix lengths for the COUNT steps at FIRST, of the work in SETS, which need not be merged, and HOST, or NULL
 * where SETS hold its parts. Free it after use. */
static struct part_times part_times_open(const struct device_step *first, size_t count,
                                         struct intervals sets[STEP_PARTS], const struct host_parts *host)
{
    struct part_times times = { .count = 2 * count, .host = host };
    times.moment_ns = mem_alloc(mem_times(times.count + 1, sizeof *times.moment_ns));
    times.before_ns = mem_alloc(mem_times(times.count + 1, sizeof *times.before_ns));
    for (size_t i = 0; i < count; i++) {
        times.moment_ns[2 * i] = first[i].start_ns;
        times.moment_ns[2 * i + 1] = first[i].end_ns;
    }
    SORT_NUMBERS(times.moment_ns, times.count);
    for (size_t p = 0; p < STEP_OTHER; p++)
        intervals_merge(&sets[p]);
    intervals_each(sets, STEP_OTHER, add_part_time, &times);
    while (times.known < times.count)
        memcpy(times.before_ns[times.known++], times.so_far_ns, sizeof times.so_far_ns);
    memset(times.host_at, 0, sizeof times.host_at);
    for (size_t i = 0; i < times.count; i++)
        steps_add_host(&times, times.moment_ns[i], 1, times.before_ns[i]);
    return times;
}

static const int64_t *before(const struct part_times *times, int64_t moment_ns)
{
    return times->before_ns[search_from(times->moment_ns, times->count, moment_ns)];
}

/* ---- rows ---- */

static struct step_row steps_row_of(const struct trace *trace, const struct lane *lane,
                                    const struct device_step *step, const struct part_times *times,
                                    int64_t origin_ns)
{
    struct step_row row = {
        .file = step->file,
        .rank = selection_rank(trace, step->file),
        .cycle = file_set_of(trace)->files[step->file].cycle + 1,
        .device = lane->device ? lane->device->id : TABLE_INT_MISSING,
        .stream = lane->stream ? trace->tracks[lane->stream->track].stream : TABLE_INT_MISSING,
        .name = { "(all)", 5 },
        .start_ns = step->start_ns - origin_ns,
        .duration_ns = step->end_ns - step->start_ns,
        .gpu_events = lane->device ? TABLE_INT_MISSING : (int64_t)step->work,
        .host_duration_ns = step->host_end_ns - step->host_start_ns,
        .complete = step->complete,
        .count = 1,
        .average_ns = step->end_ns - step->start_ns,
    };
    if (step->name)
        row.name = as_text(step->name);
    else if (step->event != EVENT_NONE)
        row.name = (struct text){ trace_name(trace, step->event),
                                  names_length(trace->names, trace->name[step->event]) };
    int64_t left_ns = row.duration_ns;
    for (size_t p = 0; p < STEP_OTHER && step->start_ns < step->end_ns; p++) {
        row.part_ns[p] = before(times, step->end_ns)[p] - before(times, step->start_ns)[p];
        left_ns -= row.part_ns[p];
    }
    assert(left_ns >= 0);
    row.part_ns[STEP_OTHER] = left_ns;
    return row;
}

static bool is_requested(const struct selection *selection, const struct device_step *step)
{
    return (selection->files == NULL || selection->files[step->file]) &&
           (step->event == EVENT_NONE || selection_holds_time(selection, step->file, step->host_start_ns));
}

/* Add rows of LANE for all steps of its file; SETS are the intervals of its work; HOST: see part_times_open. */
static void steps_add_rows(const struct steps_query *query, const struct lane *lane,
                           struct intervals sets[STEP_PARTS], const struct host_parts *host, step_rows *rows)
{
    int64_t origin_ns = trace_file_span(query->trace, lane->file).start_ns;
    size_t first, end = device_steps_of_file(query->steps, lane->file, &first);
    struct part_times times = part_times_open(query->steps->at + first, end - first, sets, host);
    for (size_t i = first; i < end; i++)
        if (is_requested(query->selection, &query->steps->at[i]))
            *VEC_PUSH(rows) = steps_row_of(query->trace, lane, &query->steps->at[i], &times, origin_ns);
    EACH(free, times.moment_ns, times.before_ns);
}

/* Rows for all steps, file by file. Work goes before the host, whose parts follow its own in precedence, so both fit in the same
 * sets: cheaper than host_parts, which lanes share. */
static void add_steps(const struct steps_query *query, step_rows *rows)
{
    size_t first;
    for (uint32_t file = 0; file < query->trace->file_count; file++) {
        if (device_steps_of_file(query->steps, file, &first) == first)
            continue;
        struct lane whole = { .file = file };
        SCOPED_ARENA struct arena scratch = { 0 };
        struct intervals *sets = arena_vectors(&scratch, STEP_PARTS, sizeof *sets);
        if (!query->only_durations) {
            find_work(query, &whole, sets);
            find_host_parts(query, file, sets);
        }
        steps_add_rows(query, &whole, sets, NULL, rows);
    }
}

/* Add rows of LANE with its own work and the shared HOST; none if it has no work. */
static void add_lane(const struct steps_query *query, const struct lane *lane, const struct host_parts *host,
                     step_rows *rows)
{
    SCOPED_ARENA struct arena scratch = { 0 };
    struct intervals *sets = arena_vectors(&scratch, STEP_PARTS, sizeof *sets);
    if (find_work(query, lane, sets))
        steps_add_rows(query, lane, sets, host, rows);
}

/* The same for each device or stream of FILE. Returns how many did not fit. */
static int64_t add_lanes(const struct steps_query *query, uint32_t file, step_rows *rows)
{
    int64_t left_out = 0;
    const struct gpu_events *gpu = query->gpu;
    SCOPED_OBJECT struct host_parts *host = host_parts_open(query, file);
    size_t count = query->streams ? query->streams->count : gpu->device_count;
    for (size_t i = 0; i < count; i++) {
        const struct gpu_stream *stream = query->streams ? &query->streams->at[i] : NULL;
        const struct gpu_device *device = &gpu->devices[stream ? stream->device : i];
        struct lane lane = { file, device, stream };
        if (device->file != file)
            continue;
        if (rows->count >= MANY_ROWS)
            left_out++;
        else
            add_lane(query, &lane, host, rows);
    }
    return left_out;
}

/* ---- totals ---- */

/* Compare by the words in BY: 0 if the two belong together. */
static int steps_compare_rows(const struct step_row *a, const struct step_row *b, unsigned by)
{
    int order = by & STEPS_BY_NAME ? text_compare(a->name.at, a->name.len, b->name.at, b->name.len) : 0;
    if (!order && by & (BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM)))
        order = compare_integers(a->rank, b->rank);
    if (!order && by & BY(CYCLE))
        order = compare_integers(a->cycle, b->cycle);
    if (!order && by & (BY(DEVICE) | BY(STREAM)))
        order = compare_integers(a->device, b->device);
    return !order && by & BY(STREAM) ? compare_integers(a->stream, b->stream) : order;
}

static bool steps_belongs_behind(const void *by, const void *left, const void *right)
{
    return steps_compare_rows(left, right, *(const unsigned *)by) > 0;
}

/* Add MORE to ROW; saturating, as durations may be invalid. */
static void add_to_row(struct step_row *row, const struct step_row *more)
{
    row->count += more->count;
    sum_add(&row->duration_ns, more->duration_ns);
    sum_add(&row->host_duration_ns, more->host_duration_ns);
    for (size_t p = 0; p < STEP_PARTS; p++)
        sum_add(&row->part_ns[p], more->part_ns[p]);
    if (row->gpu_events != TABLE_INT_MISSING)
        row->gpu_events += more->gpu_events;
}

/* Add up the rows that belong together; a rank may have several files, with others between them. */
static void steps_sum_up(step_rows *rows, unsigned by)
{
    size_t kept = 0;
    runs_sort(rows->at, rows->count, sizeof *rows->at, steps_belongs_behind, &by);
    for (size_t i = 0; i < rows->count; i++)
        if (kept && steps_compare_rows(&rows->at[kept - 1], &rows->at[i], by) == 0)
            add_to_row(&rows->at[kept - 1], &rows->at[i]);
        else
            rows->at[kept++] = rows->at[i];
    rows->count = kept;
    for (size_t i = 0; i < kept; i++) {
        uint64_t count = (uint64_t)rows->at[i].count;
        rows->at[i].average_ns = (int64_t)(((uint64_t)rows->at[i].duration_ns + count / 2) / count);
    }
}

/* Figures over the values at OFFSET of the complete steps of ROWS, of which SLOWEST is one. VALUES has room for
 * them. */
static struct step_figures steps_figures_of(const struct step_row *rows, size_t count, size_t offset,
                                            const struct step_row *slowest, double all_ns, int64_t *values)
{
    size_t complete = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].complete)
            values[complete++] = *(const int64_t *)((const char *)&rows[i] + offset);
    struct stats stats = stats_of(values, complete);
    int64_t slowest_ns = *(const int64_t *)((const char *)slowest + offset);
    return (struct step_figures){ .average_ns = stats.mean,
                                  .median_ns = stats.median,
                                  .stddev_ns = (int64_t)llround(stats.deviation),
                                  .min_ns = stats.least,
                                  .max_ns = stats.greatest,
                                  .slowest_ns = slowest_ns,
                                  .difference_ns = slowest_ns - stats.median,
                                  .share = all_ns > 0 ? (double)stats.sum / all_ns : NAN };
}

/* Sum up the COUNT ROWS of RANK, or of all; nothing if no step is complete. */
static void summarize(struct steps *steps, int64_t rank, const struct step_row *rows, size_t count)
{
    struct steps_summary summary = { .rank = rank, .because = STEP_PARTS };
    const struct step_row *slowest = NULL;
    double all_ns = 0; /* for shares; a double, as invalid times may overflow */
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].complete)
            continue;
        summary.complete++;
        sum_add(&summary.total_ns, rows[i].duration_ns);
        all_ns += (double)rows[i].duration_ns;
        if (!slowest || rows[i].duration_ns > slowest->duration_ns)
            slowest = &rows[i];
    }
    if (!slowest)
        return;
    int64_t most_ns = 0, *values = mem_zalloc(count + 1, sizeof *values);
    summary.slowest = slowest->name;
    summary.slowest_rank = slowest->rank;
    summary.step =
        steps_figures_of(rows, count, offsetof(struct step_row, duration_ns), slowest, all_ns, values);
    for (size_t p = 0; p < STEP_PARTS; p++) {
        size_t offset = offsetof(struct step_row, part_ns) + p * sizeof(int64_t);
        summary.part[p] = steps_figures_of(rows, count, offset, slowest, all_ns, values);
        if (p >= steps->first_part && summary.complete > 1 && summary.part[p].difference_ns > most_ns) {
            most_ns = summary.part[p].difference_ns;
            summary.because = (enum step_part)p;
        }
    }
    free(values);
    *VEC_PUSH(&steps->summaries) = summary;
}

/* Compare by rank, so that the steps of a rank with several files are adjacent. */
static void summarize_ranks(struct steps *steps)
{
    struct step_row *at = steps->each.at;
    SORT_BY(at, steps->each.count, i, at[i].rank);
    FOR_RUNS(first, end, steps->each.count, at[end].rank == at[first].rank)
        summarize(steps, at[first].rank, at + first, end - first);
}

static bool has_calls(const struct trace *trace)
{
    return ANY(e, trace->event_count, event_is_call(trace->kind[e]));
}

/* The first part that the trace can contain. */
static enum step_part first_part_of(const struct trace *trace, const struct gpu_events *gpu)
{
    if (gpu->count)
        return STEP_KERNEL;
    if (ANY(id, names_count(trace->names), collective_runs_on_host(names_text(trace->names, id))))
        return STEP_COMMUNICATION;
    return has_calls(trace) ? STEP_RUNTIME : STEP_DATA_LOADING;
}

static void steps_find_rows(struct steps *steps, struct steps_query *query)
{
    step_rows rows = { 0 };
    if (steps->by & (BY(DEVICE) | BY(STREAM))) {
        SCOPED_OBJECT struct gpu_streams *streams =
            steps->by & BY(STREAM) ? gpu_streams_open(query->gpu) : NULL;
        query->streams = streams;
        for (uint32_t file = 0; file < query->trace->file_count; file++)
            steps->left_out += add_lanes(query, file, &rows);
        steps->no_devices = query->gpu->count == 0;
    } else {
        for (size_t i = 0; i < steps->each.count; i++)
            *VEC_PUSH(&rows) = steps->each.at[i];
    }
    if (!(steps->by & BY(STEP)))
        steps_sum_up(&rows, steps->by);
    steps->at = rows.at;
    steps->count = rows.count;
}

static struct steps *steps_own_analyze(const struct trace *trace, const struct selection *selection,
                                       const struct steps_options *options, struct tpa_error *err)
{
    struct steps *steps = arena_open(sizeof *steps);
    ARENA_OWNS(arena_of(steps), &steps->at, &steps->each, &steps->summaries);
    SCOPED uint8_t *parts_by_name = mem_zalloc(names_count(trace->names) + 1, sizeof *parts_by_name);
    SCOPED_OBJECT struct step_list *ranges = find_ranges(trace, options, steps, parts_by_name, err);
    if (!ranges) {
        arena_free(steps);
        return NULL;
    }
    const struct gpu_events *gpu = gpu_events_of(trace);
    bool marked = !options->name && step_list_of(trace)->count > 0;
    SCOPED_OBJECT struct device_steps *other = marked ? NULL : device_steps_open(ranges, gpu);
    const struct device_steps *as_they_ran = marked ? device_steps_of(trace) : other;
    struct steps_query query = {
        trace, selection, gpu, NULL, as_they_ran, parts_by_name, options->only_durations
    };
    steps->by = options->by ? options->by : BY(STEP);
    steps->several_ranks = trace->file_count > 1;
    steps->first_part = first_part_of(trace, gpu);
    add_steps(&query, &steps->each);
    for (size_t i = 0; i < steps->each.count; i++)
        steps->incomplete += !steps->each.at[i].complete;
    if (options->by_rank)
        summarize_ranks(steps);
    else
        summarize(steps, TABLE_INT_MISSING, steps->each.at, steps->each.count);
    steps_find_rows(steps, &query);
    return steps;
}

/* The result that the first screen of a report, a section and a chart share. */
static struct steps *steps_find_usual(const struct trace *trace)
{
    struct tpa_error none = { 0 }; /* without a name nothing fails */
    return steps_own_analyze(trace, selection_all(trace), &(struct steps_options){ 0 }, &none);
}

static const struct steps *steps_usual(const struct trace *trace);
DERIVED(steps, steps_usual, steps_find_usual);

const struct steps *steps_analyze(const struct trace *trace, const struct selection *selection,
                                  const struct steps_options *options, struct tpa_error *err)
{
    bool usual = (options->by == 0 || options->by == BY(STEP)) && !options->name && !options->by_rank &&
                 selection_is_all(selection);
    if (usual && (!options->only_durations || trace_derived(trace, &steps_usual_derivation)))
        return steps_usual(trace);
    return steps_own_analyze(trace, selection, options, err);
}

/* ---- tables ---- */

/* A row of the table "summary". */
struct part_row {
    int64_t rank;
    struct text part;
    struct step_figures of;
};

/* clang-format off */
#define PART(part, key, title, help) COLUMN(struct step_row, part_ns[part], key, title, TABLE_NS, help)
static const struct table_column step_columns[] = {
    COLUMN(struct step_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct step_row, cycle, "cycle", "Cycle", TABLE_COUNT, "recording of the rank, in order of time from 1", .flags = TABLE_HIDDEN),
    COLUMN(struct step_row, device, "device", "Device", TABLE_COUNT, "number of the device", .flags = TABLE_HIDDEN),
    COLUMN(struct step_row, stream, "stream", "Stream", TABLE_COUNT, "number of the stream", .flags = TABLE_HIDDEN),
    COLUMN(struct step_row, name, "step", "Step", TABLE_NAME, "name of the step", .aliases = "name"),
    COLUMN(struct step_row, count, "count", "Steps", TABLE_TALLY, "number of steps in the row", .flags = TABLE_HIDDEN),
    COLUMN(struct step_row, start_ns, "start", "Start", TABLE_MOMENT, "when it began, from the origin of the file", .flags = TABLE_OPTIONAL),
    COLUMN(struct step_row, duration_ns, "duration", "As it ran", TABLE_NS, "how long it took as it ran, from the end of the step before, if that is later, to the end of its work: no host step and no device step", .aliases = "time total"),
    COLUMN(struct step_row, average_ns, "average", "Average", TABLE_NS, "mean time of a step", .flags = TABLE_HIDDEN),
    PART(STEP_KERNEL, "kernel", "Kernel", "a kernel that does not communicate ran"),
    PART(STEP_MEMCPY, "memcpy", "Memcpy", "else: something was copied"),
    PART(STEP_MEMSET, "memset", "Memset", "else: memory was set"),
    PART(STEP_COMMUNICATION, "communication", "Comm.", "else: a kernel communicated, or a collective on the host"),
    PART(STEP_RUNTIME, "runtime", "Runtime", "else: a call of the runtime or driver was running"),
    PART(STEP_DATA_LOADING, "data_loading", "Data loading", "else: the host waited for the next batch"),
    PART(STEP_CPU, "cpu", "CPU", "else: an operator or annotation was running on the host"),
    PART(STEP_OTHER, "other", "Other", "else"),
    COLUMN(struct step_row, gpu_events, "gpu_events", "GPU events", TABLE_TALLY, "kernels, copies and memsets that it launched", .flags = TABLE_OPTIONAL),
    COLUMN(struct step_row, host_duration_ns, "host_duration", "On the host", TABLE_NS, "how long its range on the host is", .flags = TABLE_OPTIONAL),
    COLUMN(struct step_row, complete, "complete", "Complete", TABLE_BOOL, "was it recorded to its end?", .flags = TABLE_OPTIONAL),
};

static const struct table_column summary_columns[] = {
    COLUMN(struct part_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_IF_ANY),
    COLUMN(struct part_row, part, "part", "Part", TABLE_NAME, "part of the steps' time"),
    COLUMN(struct part_row, of.average_ns, "average", "Average", TABLE_NS, "mean over the complete steps", .aliases = "avg mean"),
    COLUMN(struct part_row, of.share, "share", "Share", TABLE_SHARE, "share of the time of the complete steps"),
    COLUMN(struct part_row, of.median_ns, "median", "Median", TABLE_NS, "median over the complete steps"),
    COLUMN(struct part_row, of.stddev_ns, "stddev", "Std dev", TABLE_NS, "standard deviation over the complete steps", .aliases = "deviation"),
    COLUMN(struct part_row, of.slowest_ns, "slowest", "Slowest step", TABLE_NS, "in the slowest step"),
    COLUMN(struct part_row, of.difference_ns, "difference", "Over median", TABLE_NS, "in the slowest step, above the median"),
    COLUMN(struct part_row, of.min_ns, "min", "Min", TABLE_NS, "least"),
    COLUMN(struct part_row, of.max_ns, "max", "Max", TABLE_NS, "most"),
};
/* clang-format on */

/* The column of PART. */
static size_t part_column(enum step_part part)
{
    size_t c = 0;
    while (step_columns[c].offset != offsetof(struct step_row, part_ns) + (size_t)part * sizeof(int64_t))
        c++;
    return c;
}

const char *step_part_title(enum step_part part)
{
    return step_columns[part_column(part)].title;
}

const char *step_part_key(enum step_part part)
{
    return step_columns[part_column(part)].key;
}

/* Select the columns that apply to rows of BY. */
static void steps_add_columns(const struct steps *steps, struct table *table)
{
    unsigned by = steps->by;
    if (steps->several_ranks || by & BY(RANK))
        TABLE_FLAG(table, struct step_row, rank, 0);
    if (by & BY(CYCLE))
        TABLE_FLAG(table, struct step_row, cycle, 0);
    if (by & (BY(DEVICE) | BY(STREAM))) {
        TABLE_FLAG(table, struct step_row, device, 0);
        TABLE_FLAG(table, struct step_row, gpu_events, TABLE_HIDDEN);
    }
    if (by & BY(STREAM))
        TABLE_FLAG(table, struct step_row, stream, 0);
    for (size_t p = 0; p < steps->first_part; p++)
        table->columns[part_column((enum step_part)p)].flags = TABLE_OPTIONAL;
    if (by & BY(STEP))
        return;
    TABLE_FLAG(table, struct step_row, count, 0);
    TABLE_FLAG(table, struct step_row, average_ns, 0);
    TABLE_FLAG(table, struct step_row, start_ns, TABLE_HIDDEN);
    TABLE_FLAG(table, struct step_row, complete, TABLE_HIDDEN);
    if (!(by & STEPS_BY_NAME))
        TABLE_FLAG(table, struct step_row, name, TABLE_HIDDEN);
    if (!(by & (BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM))))
        TABLE_FLAG(table, struct step_row, rank, TABLE_HIDDEN);
}

static struct table *steps_table(const struct steps *steps)
{
    struct table *table = TABLE_OF_ROWS("steps", "Steps as they ran, and where their time went", step_columns,
                                        steps->at, steps->count);
    int64_t parts_ns = 0, steps_ns = 0;
    for (size_t i = 0; i < steps->count; i++) {
        sum_add(&steps_ns, steps->at[i].duration_ns);
        for (size_t p = 0; p < STEP_PARTS; p++)
            sum_add(&parts_ns, steps->at[i].part_ns[p]);
    }
    steps_add_columns(steps, table);
    table_drop_hidden(table);
    table_add_footer(table, "parts_total", "Sum of the parts", TABLE_NS, table_int(parts_ns));
    table_add_footer(table, "steps_total", "Sum of the steps", TABLE_NS, table_int(steps_ns));
    return table;
}

static struct table *summary_table_of(const struct steps *steps)
{
    struct table *table =
        TABLE_OF_ROWS("summary", "Complete steps as they ran: average, spread, and the slowest",
                      summary_columns, (struct part_row *)NULL, 0);
    FOR_EACH(of, &steps->summaries) {
        for (size_t p = steps->first_part; p < STEP_PARTS; p++) {
            struct part_row row = { of->rank, as_text(step_part_title((enum step_part)p)), of->part[p] };
            table_add_rows(table, &row, 1, sizeof row);
        }
        struct part_row row = { of->rank, as_text("Step as it ran"), of->step };
        table_add_rows(table, &row, 1, sizeof row);
        if (of->rank == TABLE_INT_MISSING) {
            table_add_footer(table, "steps", "Complete steps", TABLE_COUNT, table_int(of->complete));
            table_add_text_footer(table, "slowest_step", "Slowest step", of->slowest.at, of->slowest.len);
            if (steps->several_ranks)
                table_add_footer(table, "slowest_rank", "Its rank", TABLE_COUNT, table_int(of->slowest_rank));
            const char *why = of->because == STEP_PARTS ? NULL : step_part_title(of->because);
            if (why)
                table_add_text_footer(table, "slowest_because", "It differs most in", why, strlen(why));
        } else {
            TABLE_FLAG(table, struct part_row, rank, 0);
        }
    }
    table_drop_hidden(table);
    table->uncut = true;
    return table;
}

void steps_add_result(const struct steps *steps, struct result *result)
{
    if (steps->no_steps)
        ADD_NOTICE(
            result, "no_steps", 0,
            "the trace marks no steps, so each file is shown as one; to record them, %s; --step-name takes "
            "other ranges",
            steps->no_steps);
    if (steps->overlapping)
        ADD_NOTICE(result, "overlapping_steps", steps->overlapping,
                   "ranges overlap the one before and are left out");
    result_add_table(result, steps_table(steps));
    result_add_table(result, summary_table_of(steps));
    if (steps->no_steps)
        result_cannot_answer(result, trace_feature_reason(FEATURE_STEPS), "the trace marks no steps",
                             steps->no_steps);
    if (steps->no_devices)
        ADD_NOTICE(result, "no_devices", 0,
                   "nothing ran on a device, or it was not recorded, so there are no rows of devices");
    many_rows_notice(result, steps->left_out);
    if (steps->incomplete)
        ADD_NOTICE(
            result, "incomplete_steps", steps->incomplete,
            "steps at the end launched far less work than the one before: recording stopped during them, "
            "and the summary leaves them out");
}

/* ---- the command ---- */

static bool run_phases(const struct analysis_query *query, const char *step_name, struct result *result,
                       struct tpa_error *err)
{
    if (step_name)
        return tpa_fail(err, TPA_NOWHERE,
                        "phases are those of the account of a step, which knows no --step-name");
    if (query->by & (BY(DEVICE) | BY(STREAM) | STEPS_BY_NAME))
        return tpa_fail(err, TPA_NOWHERE,
                        "phases are of whole steps: --by phase has rows for ranks and steps alone");
    SCOPED_OBJECT const struct account *account = account_open(query->trace, query->selection);
    SCOPED_OBJECT struct step_phases *phases = step_phases_open(query->trace, account);
    account_notice(account, result);
    step_phases_add_tables(phases, result);
    return true;
}

static bool run_steps(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    struct steps_options own = *(const struct steps_options *)query->options;
    if (query->by & STEPS_BY_PHASE)
        return run_phases(query, own.name, result, err);
    own.by = query->by;
    SCOPED_OBJECT const struct steps *steps = steps_analyze(query->trace, query->selection, &own, err);
    if (!steps)
        return false;
    SCOPED_OBJECT const struct account *account =
        own.name ? NULL : account_open(query->trace, query->selection);
    bool has_account = account && account->has_steps;
    if (has_account)
        account_notice(account, result);
    steps_add_result(steps, result);
    if (has_account)
        account_add_table(account, result);
    return true;
}

static const struct steps_options defaults = { 0 };

static const struct opt options[] = {
    OPT_TEXT(0, "step-name", struct steps_options, name, "REGEX",
             "the annotations and NVTX ranges that match REGEX are the steps, instead of ProfilerStep#N"),
    OPT_END,
};

static const struct opt_choice own_words[] = {
    { "name", "all steps of a name together, such as the ranges of --step-name", NULL },
    { "phase", "forward, backward, optimizer, data, other: of a step, and of each", NULL },
    { .name = "op",
      .aliases = "operator kernel",
      .refusal =
          "a moment of a step counts once, for a part and not for names; tpa top --by op,step has names" },
    { .name = "thread",
      .refusal = "the host is one in a step; tpa top --by thread,step has rows per thread" },
    { 0 },
};

static const struct table_shape tables[] = {
    TABLE_SHAPE("steps", step_columns),
    TABLE_SHAPE("summary", summary_columns),
    TABLE_SHAPE("account", account_columns),
    TABLE_SHAPE("phases", phase_columns),
    TABLE_SHAPE("step_phases", step_phase_columns),
    { 0 },
};

const struct analysis analysis_steps = {
    .name = "steps",
    .summary = "where the time of each step went, and why the slowest was slow",
    .description =
        "One row per step. A step ends when the work that it launched on devices has ended, and the next begins no "
        "earlier. Each moment of it counts once: a kernel ran; else a copy; else a memset; else communication; else a "
        "runtime call; else data loading; else an operator or annotation; else other. So the parts add up to the step.\n\n"
        "Below, average and spread of each part over the complete steps, and how the slowest step differs from the "
        "median.\n\n"
        "Steps are what torch.profiler marks as ProfilerStep#N. Without them, name other ranges with --step-name; "
        "else each file is one step.",
    .schema = "tpa.steps/1",
    .examples = {
        "tpa steps trace.json",
        "tpa steps --step-name '^iteration [0-9]+$' trace.json  # ranges of your own",
        "tpa steps --by phase trace.json  # forward, backward, optimizer, data",
        "tpa steps --by name --step-name '^(forward|backward)$' trace.json",
        "tpa steps --format csv runs/today/  # every step of every rank",
    },
    .wants = &steps_wants,
    .compares = true,
    .needs = FEATURE_EVENTS,
    .dimensions = BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM) | BY(STEP),
    .by_default = BY(STEP),
    .own_words = own_words,
    .by_help = "what makes a row of the first table, each step if not given",
    .options = options,
    ANALYSIS_DEFAULTS(defaults),
    .sorts = true,
    .tables = { tables },
    .run = run_steps,
    .section = "Steps",
    .section_intro =
        "Where the time of each step went. Each moment counts once, for the first of kernel, memcpy, memset, communication, "
        "runtime, data loading, CPU that was going on.",
    .section_needs = FEATURE_STEPS,
    .charts = "steps",
};
