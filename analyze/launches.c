/*
 * launches.c - see launches.h.
 *
 * Each piece of work is paired with its call; sorted by call, the pairs of one call are a launch. Launches sorted by
 * the names of call and kernel are rows; launches sorted by stream and time are queues.
 */
#include "analyze/launches.h"

#include "facts/call_names.h"
#include "facts/gpu_events.h"
#include "base/stats.h"
#include "base/sum.h"
#include "facts/attribution.h"
#include "trace/span.h"
#include "facts/step_list.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants launches_wants = { .args = GPU_EVENTS_WANTS | WANT(GRAPH_ID) };

enum { QUEUE_LIMIT = 1024 }; /* launches that CUDA lets wait in one stream */

/* ---- columns ---- */

enum launch_column {
    LAUNCH_CALL,
    LAUNCH_KERNEL,
    LAUNCH_OPERATOR,
    LAUNCH_RANK,
    LAUNCH_DEVICE,
    LAUNCH_STREAM,
    LAUNCH_THREAD,
    LAUNCH_STEP,
    LAUNCH_COUNT,
    LAUNCH_CALL_TIME,
    LAUNCH_CALL_AVERAGE,
    LAUNCH_QUEUE_AVERAGE,
    LAUNCH_KERNEL_AVERAGE,
    LAUNCH_BOUND,
    LAUNCH_QUEUED,
    LAUNCH_QUEUE_TIME,
    LAUNCH_KERNEL_TIME,
    LAUNCH_TOTAL_TIME,
    LAUNCH_COLUMNS
};

enum queue_column {
    QUEUE_RANK,
    QUEUE_DEVICE,
    QUEUE_STREAM,
    QUEUE_LAUNCHES,
    QUEUE_MEAN,
    QUEUE_MAX,
    QUEUE_EMPTY,
    QUEUE_FULL,
    QUEUE_SPAN,
    QUEUE_COLUMNS
};

enum graph_column {
    GRAPH_CALL,
    GRAPH_GRAPH,
    GRAPH_LAUNCHES,
    GRAPH_LEAST,
    GRAPH_MOST,
    GRAPH_CALL_AVERAGE,
    GRAPH_QUEUE_AVERAGE,
    GRAPH_WORK_AVERAGE,
    GRAPH_SPAN_AVERAGE,
    GRAPH_COLUMNS
};

/* clang-format off */
static const struct table_column launch_columns[LAUNCH_COLUMNS] = {
    { "call", "Call", TABLE_NAME, "the call of the runtime or driver", 0, NULL },
    { "kernel", "Kernel", TABLE_NAME, "what it launched: a kernel, copy or memset, or a graph of several", 0, "name" },
    { "operator", "Operator", TABLE_NAME, "the operator that launched it", TABLE_HIDDEN, "op" },
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_HIDDEN, NULL },
    { "device", "Device", TABLE_COUNT, "number of the device", TABLE_HIDDEN, NULL },
    { "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_HIDDEN, NULL },
    { "thread", "Thread", TABLE_NAME, "the host thread that called", TABLE_HIDDEN, NULL },
    { "step", "Step", TABLE_COUNT, "number of the step in which the call began", TABLE_HIDDEN, NULL },
    { "count", "Count", TABLE_COUNT, "how many launches", 0, NULL },
    { "call_time", "Call time", TABLE_NS, "durations of the calls added up", 0, NULL },
    { "call_average", "Call avg", TABLE_NS, "mean duration of the call", 0, NULL },
    { "queue_average", "Queue avg", TABLE_NS, "mean time from the end of the call to the start of the work, of those that waited", 0, NULL },
    { "kernel_average", "Kernel avg", TABLE_NS, "mean time on the device", 0, NULL },
    { "launch_bound", "Launch-bound", TABLE_COUNT, "launches of kernels that took less time than the call", 0, NULL },
    { "queued", "Queued", TABLE_COUNT, "launches whose work began after the call had ended", 0, NULL },
    { "queue_time", "Queue time", TABLE_NS, "times from the end of the call to the start of the work added up", TABLE_OPTIONAL, NULL },
    { "kernel_time", "Kernel time", TABLE_NS, "durations of the work added up", TABLE_OPTIONAL, NULL },
    { "total_time", "Total time", TABLE_NS, "times from the start of the call to the end of call and work added up", TABLE_OPTIONAL, NULL },
};

static const struct table_column queue_columns[QUEUE_COLUMNS] = {
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL },
    { "device", "Device", TABLE_COUNT, "number of the device", 0, NULL },
    { "stream", "Stream", TABLE_COUNT, "number of the stream", 0, NULL },
    { "launches", "Launches", TABLE_COUNT, "launches into the stream", 0, NULL },
    { "mean_depth", "Mean depth", TABLE_NUMBER, "launches that waited, averaged over time", 0, NULL },
    { "max_depth", "Max depth", TABLE_COUNT, "most launches that waited at once", 0, NULL },
    { "empty", "Empty", TABLE_SHARE, "share of the time in which none waited", 0, NULL },
    { "full", "Full", TABLE_SHARE, "share of the time in which 1024 or more waited, so that launches block", 0, NULL },
    { "span", "Span", TABLE_NS, "from the first launch to the start of the last work", TABLE_OPTIONAL, NULL },
};

static const struct table_column graph_columns[GRAPH_COLUMNS] = {
    { "call", "Call", TABLE_NAME, "the call that launched the graph", 0, NULL },
    { "graph", "Graph", TABLE_COUNT, "number of the graph, where the file tells it", 0, NULL },
    { "launches", "Launches", TABLE_COUNT, "how often it was launched", 0, NULL },
    { "least_works", "Least works", TABLE_COUNT, "fewest kernels, copies and memsets of a launch", 0, NULL },
    { "most_works", "Most works", TABLE_COUNT, "most of them", 0, NULL },
    { "call_average", "Call avg", TABLE_NS, "mean duration of the call", 0, NULL },
    { "queue_average", "Queue avg", TABLE_NS, "mean time from the end of the call to the start of the first work, of those that waited", 0, NULL },
    { "work_average", "Work avg", TABLE_NS, "mean of the durations of a launch's work, added up", 0, NULL },
    { "span_average", "Span avg", TABLE_NS, "mean time from the start of the first work to the end of the last", 0, NULL },
};
/* clang-format on */

/* ---- launches ---- */

struct launch {
    event_id call;
    event_id first; /* the work that began first; EVENT_NONE when none is in the file */
    uint32_t works;
    bool has_kernel;
    int64_t work_ns;                /* their durations */
    int64_t end_ns;                 /* of the last work */
    name_id call_name, kernel_name; /* kernel: NAME_NONE for a graph, NAME_NOTHING for no work */
    int64_t graph;                  /* -1: not told */
    int64_t key[2];                 /* what makes a row */
};

#define NOT_TOLD INT64_MIN
#define NAME_NOTHING (NAME_NONE - 1)

struct pair {
    event_id call, work;
};

struct question {
    const struct trace *trace;
    const struct selection *selection;
    const struct gpu_events *gpu;
    unsigned char *sorts; /* by name: enum call_sort */
    struct {
        struct launch *at;
        size_t count, capacity;
    } found;
    size_t unlinked;
};

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    return a->work < b->work ? -1 : a->work > b->work;
}

/* Add a work to the launch. */
static void add_work(const struct trace *trace, struct launch *launch, event_id work)
{
    int64_t end_ns = trace_end_ns(trace, work);
    if (launch->first == EVENT_NONE || trace->start_ns[work] < trace->start_ns[launch->first])
        launch->first = work;
    if (launch->works == 0 || end_ns > launch->end_ns)
        launch->end_ns = end_ns;
    launch->works++;
    launch->has_kernel = launch->has_kernel || trace->kind[work] == EVENT_KERNEL;
    launch->work_ns += trace->dur_ns[work];
}

static struct launch new_launch(const struct trace *trace, event_id call)
{
    return (struct launch){ .call = call, .first = EVENT_NONE, .call_name = trace->name[call], .graph = -1 };
}

static void find_launches(struct question *question)
{
    const struct trace *trace = question->trace;
    const struct gpu_events *gpu = question->gpu;
    struct pair *pairs = mem_alloc((gpu->count + 1) * sizeof *pairs);
    size_t count = 0;
    bool sorted = true;
    for (size_t i = 0; i < gpu->count; i++) {
        if (!selection_holds(question->selection, gpu->event[i]))
            continue;
        event_id call = gpu->call[i];
        question->unlinked += call == EVENT_NONE;
        if (call == EVENT_NONE)
            continue;
        pairs[count++] = (struct pair){ call, gpu->event[i] };
        sorted = sorted && (count < 2 || compare_pairs(&pairs[count - 2], &pairs[count - 1]) < 0);
    }
    if (!sorted)
        qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t first = 0, end; first < count; first = end) {
        struct launch launch = new_launch(trace, pairs[first].call);
        for (end = first; end < count && pairs[end].call == launch.call; end++)
            add_work(trace, &launch, pairs[end].work);
        launch.kernel_name = launch.works > 1 ? NAME_NONE : trace->name[launch.first];
        launch.graph = trace_arg_or(trace, ARG_GRAPH_ID, launch.first, -1);
        *VEC_PUSH(&question->found) = launch;
    }
    free(pairs);
}

/* Calls that should have launched something, but whose work is not in the file. */
static void find_launches_of_nothing(struct question *question)
{
    const struct trace *trace = question->trace;
    size_t next = 0, with_work = question->found.count; /* launches found so far are sorted by call */
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!event_is_call(trace->kind[e]))
            continue;
        enum call_sort sort = question->sorts[trace->name[e]];
        if (sort != CALL_LAUNCH && sort != CALL_GRAPH_LAUNCH)
            continue;
        while (next < with_work && question->found.at[next].call < e)
            next++;
        bool launched = next < with_work && question->found.at[next].call == e;
        if (launched || !selection_is_all(question->selection))
            continue; /* when only part was asked for, its work may just not be part of that */
        struct launch launch = new_launch(trace, e);
        launch.kernel_name = NAME_NOTHING;
        *VEC_PUSH(&question->found) = launch;
    }
}

static int64_t queue_ns(const struct trace *trace, const struct launch *launch)
{
    int64_t waited_ns =
        launch->works ? trace->start_ns[launch->first] - trace_end_ns(trace, launch->call) : 0;
    return waited_ns > 0 ? waited_ns : 0;
}

/* Did a kernel, or all of a graph with one, take less time than its launch? */
static bool is_launch_bound(const struct trace *trace, const struct launch *launch)
{
    return launch->has_kernel && launch->work_ns < trace->dur_ns[launch->call];
}

static bool is_graph(const struct question *question, const struct launch *launch)
{
    return launch->works > 1 ||
           (launch->works == 1 && question->sorts[launch->call_name] == CALL_GRAPH_LAUNCH);
}

/* ---- table: launches ---- */

/* The device is that of the work; a call whose work is not in the file has none. */
static void set_keys(struct question *question, enum launches_by by)
{
    const struct trace *trace = question->trace;
    struct step_list *steps = by == LAUNCHES_BY_STEP ? step_list_open(trace) : NULL;
    for (size_t i = 0; i < question->found.count; i++) {
        struct launch *launch = &question->found.at[i];
        track_id thread = trace->track[launch->call];
        track_id stream = launch->works ? trace->track[launch->first] : TRACK_NONE;
        event_id op;
        const struct step *step;
        switch (by) {
        case LAUNCHES_BY_KERNEL:
            launch->key[0] = launch->call_name;
            launch->key[1] = launch->kernel_name;
            break;
        case LAUNCHES_BY_CALL: launch->key[0] = launch->call_name; break;
        case LAUNCHES_BY_OPERATOR:
            op = attribution_operator(attribution_of(trace), launch->call);
            launch->key[0] = op == EVENT_NONE ? NOT_TOLD : trace->name[op];
            break;
        case LAUNCHES_BY_DEVICE:
            launch->key[0] = stream == TRACK_NONE ? NOT_TOLD : question->gpu->device_of_track[stream];
            break;
        case LAUNCHES_BY_STREAM: launch->key[0] = stream == TRACK_NONE ? NOT_TOLD : stream; break;
        case LAUNCHES_BY_THREAD: launch->key[0] = thread; break;
        case LAUNCHES_BY_STEP:
            step = step_list_at(steps, trace->tracks[thread].file, trace->start_ns[launch->call]);
            launch->key[0] = step ? step->number : NOT_TOLD;
            break;
        }
    }
    step_list_free(steps);
}

static int compare_keys(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    for (size_t i = 0; i < 2; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return a->call < b->call ? -1 : a->call > b->call;
}

static void set_name(struct table *table, size_t row, size_t column, const char *name)
{
    table_set_text(table, row, column, name, strlen(name));
}

static void set_row_key(struct table *table, size_t row, const struct question *question, enum launches_by by,
                        const struct launch *launch)
{
    const struct trace *trace = question->trace;
    const struct track *thread = &trace->tracks[trace->track[launch->call]];
    const struct track *stream = launch->works ? &trace->tracks[trace->track[launch->first]] : NULL;
    name_id kernel = launch->kernel_name;
    if (by == LAUNCHES_BY_KERNEL || by == LAUNCHES_BY_CALL)
        set_name(table, row, LAUNCH_CALL, names_text(trace->names, launch->call_name));
    if (by == LAUNCHES_BY_KERNEL)
        set_name(table, row, LAUNCH_KERNEL,
                 kernel == NAME_NONE      ? "(graph)"
                 : kernel == NAME_NOTHING ? "(no work in the file)"
                                          : names_text(trace->names, kernel));
    if (by == LAUNCHES_BY_OPERATOR)
        set_name(table, row, LAUNCH_OPERATOR,
                 launch->key[0] == NOT_TOLD ? "(no operator)"
                                            : names_text(trace->names, (name_id)launch->key[0]));
    if (by == LAUNCHES_BY_STEP && launch->key[0] != NOT_TOLD)
        table_set_int(table, row, LAUNCH_STEP, launch->key[0]);
    if (by == LAUNCHES_BY_THREAD) {
        char number[40];
        snprintf(number, sizeof number, "%" PRId64, thread->tid);
        const char *name = names_text(trace->texts, thread->thread_name),
                   *written =
                       thread->tid_text == NAME_NONE ? number : names_text(trace->texts, thread->tid_text);
        set_name(table, row, LAUNCH_THREAD, *name ? name : written);
    }
    if (by == LAUNCHES_BY_DEVICE || by == LAUNCHES_BY_STREAM || by == LAUNCHES_BY_THREAD)
        table_set_int(table, row, LAUNCH_RANK, selection_rank(trace, thread->file));
    if (stream && (by == LAUNCHES_BY_DEVICE || by == LAUNCHES_BY_STREAM))
        table_set_int(table, row, LAUNCH_DEVICE, stream->device);
    if (stream && by == LAUNCHES_BY_STREAM)
        table_set_int(table, row, LAUNCH_STREAM, stream->stream);
}

static void show_columns(struct table *table, enum launches_by by, bool several_files)
{
    static const struct {
        const char *title;
        enum launch_column first, last;
        bool with_rank;
    } shown[] = {
        [LAUNCHES_BY_KERNEL] = { "Launches by call and kernel", LAUNCH_CALL, LAUNCH_KERNEL, false },
        [LAUNCHES_BY_CALL] = { "Launches by call", LAUNCH_CALL, LAUNCH_CALL, false },
        [LAUNCHES_BY_OPERATOR] = { "Launches by operator", LAUNCH_OPERATOR, LAUNCH_OPERATOR, false },
        [LAUNCHES_BY_DEVICE] = { "Launches by device", LAUNCH_DEVICE, LAUNCH_DEVICE, true },
        [LAUNCHES_BY_STREAM] = { "Launches by stream", LAUNCH_DEVICE, LAUNCH_STREAM, true },
        [LAUNCHES_BY_THREAD] = { "Launches by thread", LAUNCH_THREAD, LAUNCH_THREAD, true },
        [LAUNCHES_BY_STEP] = { "Launches by step", LAUNCH_STEP, LAUNCH_STEP, false },
    };
    table->title = shown[by].title;
    for (size_t c = LAUNCH_CALL; c <= LAUNCH_STEP; c++)
        table->columns[c].flags = c >= shown[by].first && c <= shown[by].last ? 0 : TABLE_HIDDEN;
    if (shown[by].with_rank && several_files)
        table->columns[LAUNCH_RANK].flags = 0;
}

static int64_t divided(int64_t sum, size_t count)
{
    if (count == 0)
        return 0;
    sum_add(&sum, (int64_t)count / 2);
    return sum / (int64_t)count;
}

static void add_launches(struct table *table, const struct question *question, enum launches_by by,
                         const struct launch *launches, size_t count)
{
    const struct trace *trace = question->trace;
    int64_t call_ns = 0, waited_ns = 0, work_ns = 0, total_ns = 0;
    size_t queued = 0, bound = 0, with_work = 0;
    for (size_t i = 0; i < count; i++) {
        const struct launch *launch = &launches[i];
        int64_t call_end_ns = trace_end_ns(trace, launch->call), waited = queue_ns(trace, launch);
        int64_t end_ns = launch->works && launch->end_ns > call_end_ns ? launch->end_ns : call_end_ns;
        call_ns += trace->dur_ns[launch->call];
        sum_add(&waited_ns, waited);
        queued += waited > 0;
        work_ns += launch->work_ns;
        sum_add(&total_ns, end_ns - trace->start_ns[launch->call]);
        with_work += launch->works > 0;
        bound += is_launch_bound(trace, launch);
    }
    size_t row = table_add_row(table);
    set_row_key(table, row, question, by, launches);
    table_set_int(table, row, LAUNCH_COUNT, (int64_t)count);
    table_set_int(table, row, LAUNCH_CALL_TIME, call_ns);
    table_set_int(table, row, LAUNCH_CALL_AVERAGE, divided(call_ns, count));
    table_set_int(table, row, LAUNCH_TOTAL_TIME, total_ns);
    if (with_work == 0)
        return;
    if (queued)
        table_set_int(table, row, LAUNCH_QUEUE_AVERAGE, divided(waited_ns, queued));
    table_set_int(table, row, LAUNCH_KERNEL_AVERAGE, divided(work_ns, with_work));
    table_set_int(table, row, LAUNCH_BOUND, (int64_t)bound);
    table_set_int(table, row, LAUNCH_QUEUED, (int64_t)queued);
    table_set_int(table, row, LAUNCH_QUEUE_TIME, waited_ns);
    table_set_int(table, row, LAUNCH_KERNEL_TIME, work_ns);
}

static struct table *make_launches(struct question *question, enum launches_by by)
{
    const struct trace *trace = question->trace;
    struct launch *launches = question->found.at;
    size_t count = question->found.count, bound = 0;
    struct table *table =
        table_open("launches", "Launches by call and kernel", launch_columns, LAUNCH_COLUMNS);
    show_columns(table, by, trace->file_count > 1);
    set_keys(question, by);
    if (count)
        qsort(launches, count, sizeof *launches, compare_keys);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && launches[end].key[0] == launches[first].key[0] &&
                              launches[end].key[1] == launches[first].key[1];)
            end++;
        add_launches(table, question, by, &launches[first], end - first);
    }
    for (size_t i = 0; i < count; i++)
        bound += is_launch_bound(trace, &launches[i]);
    table_sort(table, LAUNCH_CALL_TIME, false);
    table_drop_hidden(table);
    table_add_footer(table, "launches", "Launches", TABLE_COUNT, table_int((int64_t)count));
    table_add_footer(table, "launch_bound", "Launch-bound", TABLE_COUNT, table_int((int64_t)bound));
    table_add_footer(table, "unlinked", "GPU events whose call is not in the file", TABLE_COUNT,
                     table_int((int64_t)question->unlinked));
    return table;
}

/* ---- table: queues ---- */

/* One launch in the queue of its stream. */
struct queued {
    track_id track;
    int64_t from_ns,
        to_ns; /* from the start of the call to that of the work, which by a clock's skew may be earlier */
};

static int compare_queued(const void *left, const void *right)
{
    const struct queued *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* A row for the queue of one stream: WAITS sorted by their begin; ENDS has room for as many times. */
static void add_queue(struct table *table, const struct trace *trace, const struct queued *waits,
                      size_t count, int64_t *ends)
{
    for (size_t i = 0; i < count; i++)
        ends[i] = waits[i].to_ns;
    qsort(ends, count, sizeof *ends, compare_times);
    double depth_ns = 0;
    int64_t empty_ns = 0, full_ns = 0, now_ns = waits[0].from_ns;
    size_t depth = 0, most = 0;
    for (size_t begun = 0, ended = 0; ended < count;) {
        bool begins = begun < count && waits[begun].from_ns < ends[ended];
        int64_t next_ns = begins ? waits[begun].from_ns : ends[ended];
        if (next_ns > now_ns) {
            depth_ns += (double)depth * (double)(next_ns - now_ns);
            empty_ns += depth == 0 ? next_ns - now_ns : 0;
            full_ns += depth >= QUEUE_LIMIT ? next_ns - now_ns : 0;
            now_ns = next_ns;
        }
        if (begins) {
            begun++;
            depth++;
            most = depth > most ? depth : most;
        } else if (begun > ended) {
            ended++;
            depth--;
        } else { /* it waited no time at all */
            begun++;
            ended++;
        }
    }
    int64_t span_ns = now_ns - waits[0].from_ns;
    const struct track *track = &trace->tracks[waits[0].track];
    size_t row = table_add_row(table);
    table_set_int(table, row, QUEUE_RANK, selection_rank(trace, track->file));
    table_set_int(table, row, QUEUE_DEVICE, track->device);
    table_set_int(table, row, QUEUE_STREAM, track->stream);
    table_set_int(table, row, QUEUE_LAUNCHES, (int64_t)count);
    table_set_int(table, row, QUEUE_MAX, (int64_t)most);
    table_set_int(table, row, QUEUE_SPAN, span_ns);
    if (span_ns > 0) {
        table_set_number(table, row, QUEUE_MEAN, depth_ns / (double)span_ns);
        table_set_number(table, row, QUEUE_EMPTY, (double)empty_ns / (double)span_ns);
        table_set_number(table, row, QUEUE_FULL, (double)full_ns / (double)span_ns);
    }
}

/* The launches that waited, by stream and begin. New array of *COUNT. */
static struct queued *find_queued(const struct question *question, size_t *count)
{
    const struct trace *trace = question->trace;
    struct queued *waits = mem_alloc((question->found.count + 1) * sizeof *waits);
    *count = 0;
    for (size_t i = 0; i < question->found.count; i++) {
        const struct launch *launch = &question->found.at[i];
        if (launch->works == 0)
            continue;
        int64_t called_ns = trace->start_ns[launch->call], started_ns = trace->start_ns[launch->first];
        waits[(*count)++] = (struct queued){ trace->track[launch->first],
                                             called_ns < started_ns ? called_ns : started_ns, started_ns };
    }
    if (*count)
        qsort(waits, *count, sizeof *waits, compare_queued);
    return waits;
}

static struct table *make_queues(const struct question *question)
{
    const struct trace *trace = question->trace;
    struct table *table = table_open("queues", "Queues of launches", queue_columns, QUEUE_COLUMNS);
    size_t count;
    struct queued *waits = find_queued(question, &count);
    int64_t *ends = mem_alloc((count + 1) * sizeof *ends);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && waits[end].track == waits[first].track;)
            end++;
        add_queue(table, trace, &waits[first], end - first, ends);
    }
    if (trace->file_count > 1)
        table->columns[QUEUE_RANK].flags = 0;
    table_sort(table, QUEUE_LAUNCHES, false);
    free(waits);
    free(ends);
    return table;
}

/* ---- depth over time ---- */

/* The depth of one queue whenever it changed. Where one launch leaves as another comes, it stays. */
static struct table *make_depths(const struct trace *trace, struct result *result, const struct queued *waits,
                                 size_t count, int64_t *ends)
{
    static const struct table_column columns[] = {
        { "time", "Time", TABLE_MOMENT, "from then on, from the origin of the file", 0, NULL },
        { "depth", "Depth", TABLE_COUNT, "launches that wait", 0, NULL },
    };
    const struct track *track = &trace->tracks[waits[0].track];
    int64_t origin_ns = trace_file_span(trace, track->file).start_ns;
    const char *title =
        arena_printf(&result->arena, "device %d, stream %lld", track->device, (long long)track->stream);
    if (trace->file_count > 1)
        title = arena_printf(&result->arena, "rank %lld, %s", (long long)selection_rank(trace, track->file),
                             title);
    struct table *table = table_open("depths", title, columns, 2);
    for (size_t i = 0; i < count; i++)
        ends[i] = waits[i].to_ns;
    qsort(ends, count, sizeof *ends, compare_times);
    for (size_t begun = 0, ended = 0; ended < count;) {
        int64_t now_ns =
            begun < count && waits[begun].from_ns < ends[ended] ? waits[begun].from_ns : ends[ended];
        while (begun < count && waits[begun].from_ns == now_ns)
            begun++;
        while (ended < count && ends[ended] == now_ns)
            ended++;
        size_t row = table_add_row(table);
        table_set_int(table, row, 0, now_ns - origin_ns);
        table_set_int(table, row, 1, (int64_t)(begun - ended));
    }
    return table;
}

/* The stream with the most launches first. */
static int compare_depths(const void *left, const void *right)
{
    const struct table *a = *(struct table *const *)left, *b = *(struct table *const *)right;
    if (a->row_count != b->row_count)
        return a->row_count > b->row_count ? -1 : 1;
    return strcmp(a->title, b->title);
}

/* ---- table: graphs ---- */

static int compare_graphs(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;
    if (a->call_name != b->call_name)
        return a->call_name < b->call_name ? -1 : 1;
    if (a->graph != b->graph)
        return a->graph < b->graph ? -1 : 1;
    return a->call < b->call ? -1 : a->call > b->call;
}

static void add_graph(struct table *table, const struct trace *trace, const struct launch *launches,
                      size_t count)
{
    int64_t call_ns = 0, waited_ns = 0, work_ns = 0, span_ns = 0;
    uint32_t least = launches->works, most = 0;
    size_t queued = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t waited = queue_ns(trace, &launches[i]);
        call_ns += trace->dur_ns[launches[i].call];
        waited_ns += waited;
        queued += waited > 0;
        work_ns += launches[i].work_ns;
        span_ns += launches[i].end_ns - trace->start_ns[launches[i].first];
        least = launches[i].works < least ? launches[i].works : least;
        most = launches[i].works > most ? launches[i].works : most;
    }
    size_t row = table_add_row(table);
    table_set_text(table, row, GRAPH_CALL, names_text(trace->names, launches->call_name),
                   names_length(trace->names, launches->call_name));
    if (launches->graph >= 0)
        table_set_int(table, row, GRAPH_GRAPH, launches->graph);
    table_set_int(table, row, GRAPH_LAUNCHES, (int64_t)count);
    table_set_int(table, row, GRAPH_LEAST, least);
    table_set_int(table, row, GRAPH_MOST, most);
    table_set_int(table, row, GRAPH_CALL_AVERAGE, divided(call_ns, count));
    if (queued)
        table_set_int(table, row, GRAPH_QUEUE_AVERAGE, divided(waited_ns, queued));
    table_set_int(table, row, GRAPH_WORK_AVERAGE, divided(work_ns, count));
    table_set_int(table, row, GRAPH_SPAN_AVERAGE, divided(span_ns, count));
}

/* NULL when no graph was launched. */
static struct table *make_graphs(const struct question *question)
{
    VEC_OF(struct launch) graphs = { 0 };
    for (size_t i = 0; i < question->found.count; i++)
        if (is_graph(question, &question->found.at[i]))
            *VEC_PUSH(&graphs) = question->found.at[i];
    if (graphs.count == 0)
        return NULL;
    struct table *table = table_open("graphs", "Graphs", graph_columns, GRAPH_COLUMNS);
    qsort(graphs.at, graphs.count, sizeof *graphs.at, compare_graphs);
    for (size_t first = 0, end; first < graphs.count; first = end) {
        for (end = first + 1; end < graphs.count && graphs.at[end].call_name == graphs.at[first].call_name &&
                              graphs.at[end].graph == graphs.at[first].graph;)
            end++;
        add_graph(table, question->trace, &graphs.at[first], end - first);
    }
    table_sort(table, GRAPH_LAUNCHES, false);
    VEC_FREE(&graphs);
    return table;
}

/* ---- the whole ---- */

static void open_question(struct question *question)
{
    question->gpu = gpu_events_of(question->trace);
    question->sorts = call_sorts_open(question->trace->names);
    find_launches(question);
}

static void release_question(struct question *question)
{
    VEC_FREE(&question->found);
    free(question->sorts);
}

void launches_add_tables(const struct trace *trace, const struct selection *selection, enum launches_by by,
                         struct result *result)
{
    struct question question = { .trace = trace, .selection = selection };
    open_question(&question);
    find_launches_of_nothing(&question);
    result_add_table(result, make_launches(&question, by));
    result_add_table(result, make_queues(&question));
    struct table *graphs = make_graphs(&question);
    if (graphs)
        result_add_table(result, graphs);
    release_question(&question);
}

struct result *launches_depths(const struct trace *trace, const struct selection *selection)
{
    struct question question = { .trace = trace, .selection = selection };
    struct result *result = result_open("");
    open_question(&question);
    size_t count;
    struct queued *waits = find_queued(&question, &count);
    int64_t *ends = mem_alloc((count + 1) * sizeof *ends);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && waits[end].track == waits[first].track;)
            end++;
        result_add_table(result, make_depths(trace, result, &waits[first], end - first, ends));
    }
    if (result->tables.count > 1)
        qsort(result->tables.at, result->tables.count, sizeof *result->tables.at, compare_depths);
    free(waits);
    free(ends);
    release_question(&question);
    return result;
}
