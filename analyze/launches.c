/*
 * launches.c - see launches.h.
 *
 * Each operation is paired with its call; sorted by call, the pairs of one call are a launch. Launches sorted by group
 * and kernel are rows; launches sorted by stream and time are queues.
 */
#include "analyze/launches.h"

#include "base/order.h"
#include "base/runs.h"
#include "base/sum.h"
#include "facts/attribution.h"
#include "facts/features.h"
#include "facts/gpu_events.h"
#include "facts/launch_calls.h"
#include "trace/span.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants launches_wants = { .args = GPU_EVENTS_WANTS | WANT(GRAPH_ID) };

enum { QUEUE_LIMIT = 1024 }; /* launches that can wait in one stream in CUDA */

/* ---- columns ---- */

/* clang-format off */
static const struct table_column launch_columns[] = {
    GROUP_COLUMNS(struct launch_row, key),
    COLUMN(struct launch_row, count, "count", "Count", TABLE_TALLY, "how many launches"),
    COLUMN(struct launch_row, call_ns, "call_time", "Call time", TABLE_NS, "durations of the calls added up"),
    COLUMN(struct launch_row, call_average_ns, "call_average", "Call avg", TABLE_NS, "mean duration of the call"),
    COLUMN(struct launch_row, queue_average_ns, "queue_average", "Queue avg", TABLE_NS, "mean time from the end of the call to the start of the work, of those that waited"),
    COLUMN(struct launch_row, kernel_average_ns, "kernel_average", "Kernel avg", TABLE_NS, "mean time on the device"),
    COLUMN(struct launch_row, launch_bound, "launch_bound", "Launch-bound", TABLE_TALLY, "launches of kernels that took less time than the call"),
    COLUMN(struct launch_row, queued, "queued", "Queued", TABLE_TALLY, "launches whose work began after the call had ended"),
    COLUMN(struct launch_row, queue_ns, "queue_time", "Queue time", TABLE_NS, "times from the end of the call to the start of the work added up", .flags = TABLE_OPTIONAL),
    COLUMN(struct launch_row, kernel_ns, "kernel_time", "Kernel time", TABLE_NS, "durations of the work added up", .flags = TABLE_OPTIONAL),
    COLUMN(struct launch_row, total_ns, "total_time", "Total time", TABLE_NS, "times from the start of the call to the end of call and work added up", .flags = TABLE_OPTIONAL),
};

static const struct table_column queue_columns[] = {
    COLUMN(struct queue_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct queue_row, device, "device", "Device", TABLE_COUNT, "number of the device"),
    COLUMN(struct queue_row, stream, "stream", "Stream", TABLE_COUNT, "number of the stream"),
    COLUMN(struct queue_row, launches, "launches", "Launches", TABLE_TALLY, "launches into the stream"),
    COLUMN(struct queue_row, mean_depth, "mean_depth", "Mean depth", TABLE_NUMBER, "launches that waited, averaged over time"),
    COLUMN(struct queue_row, max_depth, "max_depth", "Max depth", TABLE_COUNT, "most launches that waited at once"),
    COLUMN(struct queue_row, empty, "empty", "Empty", TABLE_SHARE, "share of the time in which none waited"),
    COLUMN(struct queue_row, full, "full", "Full", TABLE_SHARE, "share of the time in which 1024 or more waited, so that launches block"),
    COLUMN(struct queue_row, span_ns, "span", "Span", TABLE_NS, "from the first launch to the start of the last work", .flags = TABLE_OPTIONAL),
};

static const struct table_column graph_columns[] = {
    COLUMN(struct graph_row, call, "call", "Call", TABLE_NAME, "the call that launched the graph"),
    COLUMN(struct graph_row, graph, "graph", "Graph", TABLE_COUNT, "number of the graph, where recorded"),
    COLUMN(struct graph_row, launches, "launches", "Launches", TABLE_TALLY, "how often it was launched"),
    COLUMN(struct graph_row, min_operations, "min_operations", "Min ops", TABLE_COUNT, "fewest kernels, copies and memsets in one launch", .aliases = "least_works"),
    COLUMN(struct graph_row, max_operations, "max_operations", "Max ops", TABLE_COUNT, "most kernels, copies and memsets in one launch", .aliases = "most_works"),
    COLUMN(struct graph_row, call_average_ns, "call_average", "Call avg", TABLE_NS, "mean duration of the call"),
    COLUMN(struct graph_row, queue_average_ns, "queue_average", "Queue avg", TABLE_NS, "mean time from the end of the call to the start of the first work, of those that waited"),
    COLUMN(struct graph_row, work_average_ns, "work_average", "Work avg", TABLE_NS, "mean of the durations of a launch's work, added up"),
    COLUMN(struct graph_row, span_average_ns, "span_average", "Span avg", TABLE_NS, "mean time from the start of the first work to the end of the last"),
};
/* clang-format on */

/* ---- launches ---- */

/* Pseudo kernels of launches without work in the file, and of graphs. */
#define KERNEL_NONE (NAME_NONE - 1)
#define KERNEL_GRAPH NAME_NONE

struct launch {
    event_id call, op;
    event_id first; /* the work that began first; EVENT_NONE if none is in the file */
    uint32_t operations;
    bool has_kernel;
    int64_t work_ns;            /* their durations */
    int64_t end_ns;             /* of the last work */
    int64_t graph;              /* -1: not recorded */
    name_id kernel, row_kernel; /* row_kernel: 0 unless rows are by kernel */
    uint32_t group;
};

struct launch_query {
    const struct trace *trace;
    const struct selection *selection;
    const struct gpu_events *gpu;
    VEC_OF(struct launch) found;
    int64_t unlinked, captured;
};

/* Add an operation to the launch. */
static void add_work(const struct trace *trace, struct launch *launch, event_id work)
{
    int64_t start_ns = trace_start_ns(trace, work), end_ns = trace_end_ns(trace, work);
    int64_t first_ns = launch->first == EVENT_NONE ? INT64_MAX : trace_start_ns(trace, launch->first);
    if (start_ns < first_ns || (start_ns == first_ns && work < launch->first))
        launch->first = work;
    if (launch->operations == 0 || end_ns > launch->end_ns)
        launch->end_ns = end_ns;
    launch->operations++;
    launch->has_kernel = launch->has_kernel || trace->kind[work] == EVENT_KERNEL;
    launch->work_ns += trace_dur_ns(trace, work);
}

/* By position in gpu->event: the calls of what is in SELECTION; EVENT_NONE for the others. New; free with free(). */
static uint64_t *find_calls(struct launch_query *query)
{
    const struct gpu_events *gpu = query->gpu;
    uint64_t *calls = mem_alloc(mem_times(gpu->count + 1, sizeof *calls));
    for (size_t i = 0; i < gpu->count; i++) {
        bool held = selection_holds(query->selection, gpu->event[i]);
        calls[i] = held ? gpu->call[i] : EVENT_NONE;
        query->unlinked += held && gpu->call[i] == EVENT_NONE;
    }
    return calls;
}

static struct launch new_launch(const struct trace *trace, event_id call)
{
    return (struct launch){ .call = call,
                            .op = attribution_operator(attribution_of(trace), call),
                            .first = EVENT_NONE,
                            .graph = -1 };
}

static void find_launches(struct launch_query *query)
{
    const struct trace *trace = query->trace;
    size_t count = query->gpu->count;
    uint64_t *calls = find_calls(query);
    uint32_t *order = order_open(count);
    order_by(order, count, calls);
    for (size_t first = 0, end; first < count && calls[order[first]] != EVENT_NONE; first = end) {
        struct launch launch = new_launch(trace, (event_id)calls[order[first]]);
        for (end = first; end < count && calls[order[end]] == launch.call; end++)
            add_work(trace, &launch, query->gpu->event[order[end]]);
        bool is_graph = launch.operations > 1 ||
                        attribution_is_graph_launch(names_text(trace->names, trace->name[launch.call]));
        launch.kernel = is_graph ? KERNEL_GRAPH : trace->name[launch.first];
        launch.graph = trace_arg_or(trace, ARG_GRAPH_ID, launch.first, -1);
        *VEC_PUSH(&query->found) = launch;
    }
    free(calls);
    free(order);
}

/*
 * Add calls of launches whose work is not in the file. If names, devices or streams were selected, it is unknown
 * whether they belong, so they are left out.
 */
static void find_launches_of_nothing(struct launch_query *query)
{
    const struct trace *trace = query->trace;
    const struct selection *selection = query->selection;
    const struct launch_calls *calls = launch_calls_of(trace);
    if (selection->names || selection->tracks)
        return;
    for (size_t i = 0; i < calls->count; i++) {
        const struct launch_call *call = &calls->at[i];
        if (call->has_work || !selection_holds_place(selection, call->call))
            continue;
        query->captured += call->captured;
        if (call->captured)
            continue;
        struct launch launch = new_launch(trace, call->call);
        launch.kernel = call->is_graph ? KERNEL_GRAPH : KERNEL_NONE;
        *VEC_PUSH(&query->found) = launch;
    }
}

static int64_t queue_ns(const struct trace *trace, const struct launch *launch)
{
    int64_t waited_ns =
        launch->operations ? trace_start_ns(trace, launch->first) - trace_end_ns(trace, launch->call) : 0;
    return waited_ns > 0 ? waited_ns : 0;
}

/* Did a kernel, or all of a graph with one, take less time than its launch? */
static bool is_launch_bound(const struct trace *trace, const struct launch *launch)
{
    return launch->has_kernel && launch->work_ns < trace_dur_ns(trace, launch->call);
}

/* ---- rows of launches ---- */

static int64_t divided(int64_t sum, int64_t count)
{
    if (count == 0)
        return TABLE_INT_MISSING;
    sum_add(&sum, count / 2);
    return sum / count;
}

/* Of the launches FOUND those of one row after those of another, each by call: new, free(). */
static uint32_t *order_by_row(const struct launch *found, size_t count)
{
    uint32_t *order = order_open(count);
    uint64_t *keys = mem_alloc(mem_times(count + 1, sizeof *keys));
    for (size_t i = 0; i < count; i++)
        keys[i] = found[i].call;
    order_by(order, count, keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = found[i].row_kernel;
    order_by(order, count, keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = found[i].group;
    order_by(order, count, keys);
    free(keys);
    return order;
}

static struct text name_text(const struct trace *trace, name_id id)
{
    return (struct text){ names_text(trace->names, id), names_length(trace->names, id) };
}

static struct text kernel_text(const struct trace *trace, name_id kernel)
{
    static const char graph[] = "(graph)", none[] = "(no work in the file)";
    return kernel == KERNEL_GRAPH  ? (struct text){ graph, sizeof graph - 1 }
           : kernel == KERNEL_NONE ? (struct text){ none, sizeof none - 1 }
                                   : name_text(trace, kernel);
}

/* A row of the COUNT launches of FOUND that are next in ORDER. */
static void add_row(struct launches *launches, const struct trace *trace, unsigned by,
                    const struct launch *found, const uint32_t *order, size_t count)
{
    const struct launch *of = &found[order[0]];
    struct launch_row row = { .key = group_key(launches->group, of->group), .count = (int64_t)count };
    int64_t with_work = 0;
    if (by & LAUNCHES_BY_KERNEL)
        row.key.kernel = kernel_text(trace, of->kernel);
    for (size_t i = 0; i < count; i++) {
        const struct launch *launch = &found[order[i]];
        int64_t call_end_ns = trace_end_ns(trace, launch->call), waited_ns = queue_ns(trace, launch);
        int64_t end_ns = launch->operations && launch->end_ns > call_end_ns ? launch->end_ns : call_end_ns;
        row.call_ns += trace_dur_ns(trace, launch->call);
        sum_add(&row.queue_ns, waited_ns);
        row.queued += waited_ns > 0;
        row.kernel_ns += launch->work_ns;
        sum_add(&row.total_ns, end_ns - trace_start_ns(trace, launch->call));
        with_work += launch->operations > 0;
        row.launch_bound += is_launch_bound(trace, launch);
    }
    launches->launch_bound += row.launch_bound;
    row.call_average_ns = divided(row.call_ns, row.count);
    row.queue_average_ns = divided(row.queue_ns, row.queued);
    row.kernel_average_ns = divided(row.kernel_ns, with_work);
    if (with_work == 0)
        row.queued = row.queue_ns = row.kernel_ns = row.launch_bound = TABLE_INT_MISSING;
    *VEC_PUSH(&launches->rows) = row;
}

static bool has_less_call_time(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct launch_row *)a)->call_ns < ((const struct launch_row *)b)->call_ns;
}

static void add_rows(struct launches *launches, struct launch_query *query, unsigned by)
{
    struct launch *found = query->found.at;
    size_t count = query->found.count;
    for (size_t i = 0; i < count; i++) {
        found[i].group = group_of(launches->group, found[i].first, found[i].call, found[i].op);
        found[i].row_kernel = by & LAUNCHES_BY_KERNEL ? found[i].kernel : 0;
    }
    uint32_t *order = order_by_row(found, count);
    for (size_t first = 0, end; first < count; first = end) {
        const struct launch *of = &found[order[first]];
        for (end = first + 1; end < count && found[order[end]].group == of->group &&
                              found[order[end]].row_kernel == of->row_kernel;)
            end++;
        add_row(launches, query->trace, by, found, &order[first], end - first);
    }
    free(order);
    runs_sort(launches->rows.at, launches->rows.count, sizeof *launches->rows.at, has_less_call_time, NULL);
}

/* ---- queues ---- */

/* One launch in the queue of its stream: from the start of the call to that of the work, which may be earlier with
 * skewed clocks. */
struct queued {
    track_id track;
    int64_t from_ns, to_ns;
};

static bool is_queued_later(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct queued *a = left, *b = right;
    return a->track != b->track ? a->track > b->track : a->from_ns > b->from_ns;
}

static bool is_later(const void *context, const void *left, const void *right)
{
    (void)context;
    return *(const int64_t *)left > *(const int64_t *)right;
}

/* The launches that waited, by stream and start. New array of *COUNT. */
static struct queued *find_queued(const struct launch_query *query, size_t *count)
{
    const struct trace *trace = query->trace;
    struct queued *waits = mem_alloc(mem_times(query->found.count + 1, sizeof *waits));
    *count = 0;
    for (size_t i = 0; i < query->found.count; i++) {
        const struct launch *launch = &query->found.at[i];
        if (launch->operations == 0)
            continue;
        int64_t called_ns = trace_start_ns(trace, launch->call),
                started_ns = trace_start_ns(trace, launch->first);
        waits[(*count)++] = (struct queued){ trace->track[launch->first],
                                             called_ns < started_ns ? called_ns : started_ns, started_ns };
    }
    runs_sort(waits, *count, sizeof *waits, is_queued_later, NULL);
    return waits;
}

/* The depth of one queue at each change, from WAITS of one stream, by start. If one launch leaves at the moment when
 * another enters, the depth does not change; ENDS is scratch space for COUNT times. */
static struct queue_depths depths_of(const struct queued *waits, size_t count, int64_t *ends)
{
    struct queue_depths depths = { .stream = waits[0].track, .launches = (int64_t)count };
    for (size_t i = 0; i < count; i++)
        ends[i] = waits[i].to_ns;
    runs_sort(ends, count, sizeof *ends, is_later, NULL);
    for (size_t begun = 0, ended = 0; ended < count;) {
        int64_t now_ns =
            begun < count && waits[begun].from_ns < ends[ended] ? waits[begun].from_ns : ends[ended];
        while (begun < count && waits[begun].from_ns == now_ns)
            begun++;
        while (ended < count && ends[ended] == now_ns)
            ended++;
        *VEC_PUSH(&depths.changes) = (struct queue_depth){ now_ns, (int64_t)(begun - ended) };
    }
    return depths;
}

/* The depths of all streams; times are those of the trace. New array of *COUNT. */
static struct queue_depths *find_depths(const struct launch_query *query, size_t *count)
{
    size_t wait_count;
    struct queued *waits = find_queued(query, &wait_count);
    int64_t *ends = mem_alloc(mem_times(wait_count + 1, sizeof *ends));
    VEC_OF(struct queue_depths) depths = { 0 };
    VEC_RESERVE(&depths, 1);
    for (size_t first = 0, end; first < wait_count; first = end) {
        for (end = first + 1; end < wait_count && waits[end].track == waits[first].track;)
            end++;
        *VEC_PUSH(&depths) = depths_of(&waits[first], end - first, ends);
    }
    free(waits);
    free(ends);
    *count = depths.count;
    return depths.at;
}

static struct queue_row queue_of(const struct trace *trace, const struct queue_depths *depths)
{
    const struct track *track = &trace->tracks[depths->stream];
    const struct queue_depth *at = depths->changes.at;
    size_t count = depths->changes.count;
    double depth_ns = 0;
    int64_t empty_ns = 0, full_ns = 0;
    struct queue_row row = { .rank = selection_rank(trace, track->file),
                             .device = track->device,
                             .stream = track->stream,
                             .launches = depths->launches,
                             .span_ns = at[count - 1].time_ns - at[0].time_ns };
    for (size_t i = 0; i + 1 < count; i++) {
        int64_t length_ns = at[i + 1].time_ns - at[i].time_ns;
        depth_ns += (double)at[i].depth * (double)length_ns;
        empty_ns += at[i].depth == 0 ? length_ns : 0;
        full_ns += at[i].depth >= QUEUE_LIMIT ? length_ns : 0;
        row.max_depth = at[i].depth > row.max_depth ? at[i].depth : row.max_depth;
    }
    double span_ns = row.span_ns > 0 ? (double)row.span_ns : NAN;
    row.mean_depth = depth_ns / span_ns;
    row.empty = (double)empty_ns / span_ns;
    row.full = (double)full_ns / span_ns;
    return row;
}

static bool has_fewer_launches(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct queue_row *)a)->launches < ((const struct queue_row *)b)->launches;
}

/* The queue that changed most often first, then by rank, device and stream. */
static bool changes_less(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct queue_depths *a = left, *b = right;
    return a->changes.count < b->changes.count;
}

static void add_queues(struct launches *launches, const struct launch_query *query)
{
    const struct trace *trace = query->trace;
    launches->depths = find_depths(query, &launches->depth_count);
    for (size_t i = 0; i < launches->depth_count; i++) {
        struct queue_depths *depths = &launches->depths[i];
        int64_t origin_ns = trace_file_span(trace, trace->tracks[depths->stream].file).start_ns;
        *VEC_PUSH(&launches->queues) = queue_of(trace, depths);
        for (size_t c = 0; c < depths->changes.count; c++)
            depths->changes.at[c].time_ns -= origin_ns;
    }
    runs_sort(launches->depths, launches->depth_count, sizeof *launches->depths, changes_less, NULL);
    runs_sort(launches->queues.at, launches->queues.count, sizeof *launches->queues.at, has_fewer_launches,
              NULL);
}

/* ---- graphs ---- */

static int compare_graphs(const struct trace *trace, const struct launch *a, const struct launch *b)
{
    name_id call_of_a = trace->name[a->call], call_of_b = trace->name[b->call];
    if (call_of_a != call_of_b)
        return call_of_a < call_of_b ? -1 : 1;
    return (a->graph > b->graph) - (a->graph < b->graph);
}

static bool is_later_graph(const void *context, const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    int order = compare_graphs(context, a, b);
    return order ? order > 0 : a->call > b->call;
}

static struct graph_row graph_of(const struct trace *trace, const struct launch *of, size_t count)
{
    int64_t call_ns = 0, waited_ns = 0, work_ns = 0, span_ns = 0, queued = 0, with_work = 0;
    struct graph_row row = { .call = name_text(trace, trace->name[of->call]),
                             .graph = of->graph >= 0 ? of->graph : TABLE_INT_MISSING,
                             .launches = (int64_t)count,
                             .min_operations = TABLE_INT_MISSING,
                             .max_operations = TABLE_INT_MISSING };
    for (size_t i = 0; i < count; i++) {
        const struct launch *launch = &of[i];
        int64_t waited = queue_ns(trace, launch);
        call_ns += trace_dur_ns(trace, launch->call);
        if (launch->operations == 0)
            continue;
        sum_add(&waited_ns, waited);
        queued += waited > 0;
        work_ns += launch->work_ns;
        sum_add(&span_ns, launch->end_ns - trace_start_ns(trace, launch->first));
        if (with_work++ == 0 || launch->operations < row.min_operations)
            row.min_operations = launch->operations;
        if (launch->operations > row.max_operations)
            row.max_operations = launch->operations;
    }
    row.call_average_ns = divided(call_ns, row.launches);
    row.queue_average_ns = divided(waited_ns, queued);
    row.work_average_ns = divided(work_ns, with_work);
    row.span_average_ns = divided(span_ns, with_work);
    return row;
}

static bool has_fewer_graph_launches(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct graph_row *)a)->launches < ((const struct graph_row *)b)->launches;
}

static void add_graphs(struct launches *launches, const struct launch_query *query)
{
    VEC_OF(struct launch) graphs = { 0 };
    for (size_t i = 0; i < query->found.count; i++)
        if (query->found.at[i].kernel == KERNEL_GRAPH)
            *VEC_PUSH(&graphs) = query->found.at[i];
    runs_sort(graphs.at, graphs.count, sizeof *graphs.at, is_later_graph, query->trace);
    for (size_t first = 0, end; first < graphs.count; first = end) {
        for (end = first + 1;
             end < graphs.count && compare_graphs(query->trace, &graphs.at[end], &graphs.at[first]) == 0;)
            end++;
        *VEC_PUSH(&launches->graphs) = graph_of(query->trace, &graphs.at[first], end - first);
    }
    VEC_FREE(&graphs);
    runs_sort(launches->graphs.at, launches->graphs.count, sizeof *launches->graphs.at,
              has_fewer_graph_launches, NULL);
}

/* ---- all ---- */

struct launches *launches_analyze(const struct trace *trace, const struct selection *selection, unsigned by)
{
    struct launch_query query = { .trace = trace, .selection = selection, .gpu = gpu_events_of(trace) };
    struct launches *launches = mem_zalloc(1, sizeof *launches);
    launches->group = group_open(trace, by & ~LAUNCHES_BY_KERNEL);
    find_launches(&query);
    find_launches_of_nothing(&query);
    launches->count = (int64_t)query.found.count;
    launches->unlinked = query.unlinked;
    launches->captured = query.captured;
    add_rows(launches, &query, by);
    add_queues(launches, &query);
    add_graphs(launches, &query);
    VEC_FREE(&query.found);
    return launches;
}

void launches_free(struct launches *launches)
{
    if (!launches)
        return;
    VEC_FREE(&launches->rows);
    VEC_FREE(&launches->queues);
    VEC_FREE(&launches->graphs);
    for (size_t i = 0; i < launches->depth_count; i++)
        VEC_FREE(&launches->depths[i].changes);
    free(launches->depths);
    group_free(launches->group);
    free(launches);
}

/* ---- the command ---- */

static struct table *launches_table(const struct launches *launches, unsigned by)
{
    struct table *table =
        TABLE_OF_ROWS("launches", "Launches", launch_columns, launches->rows.at, launches->rows.count);
    table->none = "Nothing was launched here.";
    group_show(launches->group, table, offsetof(struct launch_row, key));
    if (by & LAUNCHES_BY_KERNEL)
        TABLE_FLAG(table, struct launch_row, key.kernel, 0);
    table->sort_column = table_column_at(table, offsetof(struct launch_row, call_ns));
    table_drop_hidden(table);
    table_add_footer(table, "launches", "Launches", TABLE_TALLY, table_int(launches->count));
    table_add_footer(table, "launch_bound", "Launch-bound", TABLE_TALLY, table_int(launches->launch_bound));
    table_add_footer(table, "unlinked", "GPU events whose call is not in the file", TABLE_TALLY,
                     table_int(launches->unlinked));
    return table;
}

static struct table *queues_table(const struct launches *launches, const struct trace *trace)
{
    struct table *table = TABLE_OF_ROWS("queues", "Queues of launches", queue_columns, launches->queues.at,
                                        launches->queues.count);
    if (trace->file_count > 1)
        TABLE_FLAG(table, struct queue_row, rank, 0);
    table->sort_column = table_column_at(table, offsetof(struct queue_row, launches));
    return table;
}

void launches_add_result(const struct launches *launches, const struct trace *trace, unsigned by,
                         struct result *result)
{
    result_add_table(result, launches_table(launches, by));
    result_add_table(result, queues_table(launches, trace));
    if (launches->graphs.count) {
        struct table *graphs =
            TABLE_OF_ROWS("graphs", "Graphs", graph_columns, launches->graphs.at, launches->graphs.count);
        graphs->sort_column = table_column_at(graphs, offsetof(struct graph_row, launches));
        result_add_table(result, graphs);
    }
    if (launches->captured)
        result_add_notice(result, "captured_calls", launches->captured, NULL, TPA_NOWHERE,
                          "%" PRId64
                          " %s recorded into a graph that was being captured, and launched nothing",
                          launches->captured, launches->captured == 1 ? "call was" : "calls were");
}

static bool run_launches(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    (void)err;
    struct launches *launches = launches_analyze(query->trace, query->selection, query->by);
    launches_add_result(launches, query->trace, query->by, result);
    launches_free(launches);
    return true;
}

static const struct opt_choice own_words[] = {
    { "kernel", "by kernel, copy or memset launched; a graph of several is one", NULL },
    { 0 },
};

static const struct table_shape tables[] = {
    TABLE_SHAPE("launches", launch_columns),
    TABLE_SHAPE("queues", queue_columns),
    TABLE_SHAPE("graphs", graph_columns),
    { 0 },
};

const struct analysis analysis_launches = {
    .name = "launches",
    .summary = "what launching costs: calls, queues, kernels shorter than their launch, graphs",
    .description =
        "Per call and kernel the three phases of a launch, as in Nsight Systems: the time in the call, the time in the "
        "queue (from the end of the call to the start of the kernel, where that is later), the time on the device; and "
        "how many launches took longer than what they launched.\n\n"
        "Then the queues: how many launches waited in each stream. A queue that is mostly empty means that the host "
        "does not keep the device busy. Then the graphs, one launch for many kernels.\n\n"
        "Calls that were recorded into a graph, between cudaStreamBeginCapture and cudaStreamEndCapture, launch nothing and "
        "are left out.",
    .schema = "tpa.launches/1",
    .examples = {
        "tpa launches trace.json",
        "tpa launches --sort launch_bound --limit 10 trace.json",
        "tpa launches --by op trace.json  # who launches too little at a time",
        "tpa launches --columns stream,mean_depth,max_depth,empty trace.json",
    },
    .wants = &launches_wants,
    .needs = FEATURE_GPU | FEATURE_LAUNCHES,
    .dimensions = BY(RANK) | BY(DEVICE) | BY(STREAM) | BY(THREAD) | BY(STEP) | BY(OP) | BY(CALL) | BY(MODULE),
    .by_default = LAUNCHES_BY_DEFAULT,
    .own_words = own_words,
    .by_help = "what makes a row of the launches; call,kernel when not given",
    .sorts = true,
    .limited = "launches",
    .tables = { tables },
    .run = run_launches,
    .section = "Launches",
    .section_intro =
        "The cost of launching work: time in the call, in the queue, on the device.",
    .charts = "queue",
};
