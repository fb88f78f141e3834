/*
 * gaps.c - see gaps.h.
 *
 * The work of a device is walked by start; where the next begins after all before have ended there is a gap. Its cause
 * follows from the call that launched the next work and from what the calling thread was held up by (host_state.h).
 * Only the gaps that are listed are described in words, because that takes the call tree of the threads.
 */
#include "analyze/gaps.h"

#include "facts/gpu_events.h"
#include "facts/host_state.h"
#include "facts/host_waits.h"
#include "base/runs.h"
#include "base/quantity.h"
#include "base/sum.h"
#include "trace/calltree.h"
#include "trace/intervals.h"
#include "facts/attribution.h"
#include "trace/span.h"
#include "facts/step_list.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants gaps_wants = { .args = HOST_WAITS_WANTS };
const struct gaps_options gaps_defaults = { .min_ns = 10000, .latency_below_ns = 30000 };

enum cause {
    CAUSE_HOST,
    CAUSE_LATENCY,
    CAUSE_SYNC,
    CAUSE_ALLOCATION,
    CAUSE_DATA_LOADING,
    CAUSE_COMMUNICATION,
    CAUSE_OVERHEAD,
    CAUSE_UNKNOWN,
    CAUSES
};

static const struct {
    const char *name, *meaning;
} causes[CAUSES] = {
    [CAUSE_HOST] = { "host", "the host launched the next work only after the device ran dry" },
    [CAUSE_LATENCY] = { "launch latency", "the next work was queued already" },
    [CAUSE_SYNC] = { "synchronisation",
                     "the host sat in a synchronisation or blocking copy as the device ran dry" },
    [CAUSE_ALLOCATION] = { "allocation", "the host was allocating or freeing memory" },
    [CAUSE_DATA_LOADING] = { "data loading", "the host waited for the next batch" },
    [CAUSE_COMMUNICATION] = { "communication wait", "the host was in a communicating operator" },
    [CAUSE_OVERHEAD] = { "profiler overhead", "the profiler itself was at work" },
    [CAUSE_UNKNOWN] = { "unknown", "the launch is not in the file, or the work was queued long before" },
};

/* ---- columns ---- */

enum cause_column {
    CAUSE_RANK = ROW_KEY_RANK,
    CAUSE_DEVICE = ROW_KEY_DEVICE,
    CAUSE_STREAM = ROW_KEY_STREAM,
    CAUSE_NAME = ROW_KEYS,
    CAUSE_TIME,
    CAUSE_SHARE,
    CAUSE_COUNT,
    CAUSE_LONGEST,
    CAUSE_MEANING,
    CAUSE_COLUMNS
};

enum gap_column {
    GAP_RANK,
    GAP_DEVICE,
    GAP_STREAM,
    GAP_START,
    GAP_LENGTH,
    GAP_CAUSE,
    GAP_OPERATOR,
    GAP_MEANWHILE,
    GAP_AFTER,
    GAP_BEFORE,
    GAP_CALL,
    GAP_COLUMNS
};

/* clang-format off */
static const struct table_column cause_columns[CAUSE_COLUMNS] = {
    ROW_KEY_COLUMNS,
    { "cause", "Cause", TABLE_NAME, "why the device was idle", 0, NULL },
    { "time", "Idle", TABLE_NS, "length of the gaps added up", 0, "idle total" },
    { "share", "Share", TABLE_SHARE, "share of the idle time of the device, stream, operator ...", 0, NULL },
    { "count", "Gaps", TABLE_COUNT, "how many gaps", 0, "gaps" },
    { "longest", "Longest", TABLE_NS, "the longest of them", 0, NULL },
    { "meaning", "Meaning", TABLE_TEXT, "what the cause stands for", TABLE_OPTIONAL, NULL },
};

static const struct table_column gap_columns[GAP_COLUMNS] = {
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL },
    { "device", "Device", TABLE_COUNT, "number of the device", TABLE_OPTIONAL, NULL },
    { "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_HIDDEN, NULL },
    { "start", "Start", TABLE_MOMENT, "when the device ran dry, from the origin of the file", 0, NULL },
    { "length", "Length", TABLE_NS, "until it worked again", 0, "duration" },
    { "cause", "Cause", TABLE_TEXT, "why it was idle", 0, NULL },
    { "operator", "Operator", TABLE_NAME, "the operator that launched the work after the gap", 0, NULL },
    { "meanwhile", "Meanwhile", TABLE_NAME, "what took the calling thread longest during the gap", 0, NULL },
    { "after", "After", TABLE_NAME, "the work that ended the gap", 0, NULL },
    { "before", "Before", TABLE_NAME, "the work that ended last before it", 0, NULL },
    { "call", "Call", TABLE_NAME, "the call that launched the work after the gap", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

/* ---- finding gaps ---- */

struct gap {
    int64_t start_ns, end_ns;
    int64_t length_ns; /* as far as it was asked for */
    event_id before, after;
    event_id call, op; /* what launched the work after */
    uint32_t device;   /* of gpu->devices */
    uint8_t cause;
};

struct cause_sum {
    size_t count;
    int64_t time_ns, longest_ns;
};

/* A gap in the rows that it belongs to, where these are not about devices and streams. */
struct keyed_gap {
    int64_t key, length_ns;
    uint8_t cause;
};

struct question {
    const struct trace *trace;
    const struct selection *selection;
    const struct gaps_options *options;
    const struct gpu_events *gpu;
    struct host_state *host;
    struct {
        struct gap *at;
        size_t count, capacity;
    } listed;
    struct row_keys *places; /* devices or streams */
    struct row_keys *keys;   /* NULL: rows are about devices or streams */
    struct {
        struct keyed_gap *at;
        size_t count, capacity;
    } keyed;
    size_t micro_count;
    int64_t micro_ns, idle_ns;
    struct table *causes;
};

static int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool takes_half(const struct intervals *set, int64_t start_ns, int64_t end_ns)
{
    return end_ns > start_ns && 2 * intervals_length_within(set, start_ns, end_ns) >= end_ns - start_ns;
}

static enum cause cause_of(const struct question *question, const struct gap *gap)
{
    const struct trace *trace = question->trace;
    uint32_t file = question->gpu->devices[gap->device].file;
    if (takes_half(&question->host->overhead[file], gap->start_ns, gap->end_ns))
        return CAUSE_OVERHEAD;
    event_id call = gap->call;
    if (call == EVENT_NONE)
        return CAUSE_UNKNOWN;
    if (trace->start_ns[call] <= gap->start_ns)
        return gap->end_ns - gap->start_ns < question->options->latency_below_ns ? CAUSE_LATENCY
                                                                                 : CAUSE_UNKNOWN;
    /* From here on the host was late, until it made the call; by a clock's skew even until after the gap. */
    const struct host_thread *thread = &question->host->threads[trace->track[call]];
    int64_t until_ns = min_ns(trace->start_ns[call], gap->end_ns);
    if (takes_half(&thread->allocation, gap->start_ns, until_ns))
        return CAUSE_ALLOCATION;
    if (takes_half(&thread->data_loading, gap->start_ns, until_ns))
        return CAUSE_DATA_LOADING;
    if (takes_half(&thread->communication, gap->start_ns, until_ns) &&
        !intervals_contain(&thread->communication, trace->start_ns[call]))
        return CAUSE_COMMUNICATION; /* it waited there; one that launches the work itself does not wait */
    return intervals_contain(&thread->waiting, gap->start_ns) ? CAUSE_SYNC : CAUSE_HOST;
}

/* Length of the gap as far as it was asked for. */
static int64_t asked_length(const struct question *question, const struct gap *gap)
{
    const struct selection *selection = question->selection;
    if (!selection->windows)
        return gap->end_ns - gap->start_ns;
    return intervals_length_within(&selection->windows[question->gpu->devices[gap->device].file],
                                   gap->start_ns, gap->end_ns);
}

static void add_to_sum(struct cause_sum *sum, int64_t length_ns)
{
    sum->count++;
    sum_add(&sum->time_ns, length_ns);
    if (length_ns > sum->longest_ns)
        sum->longest_ns = length_ns;
}

static void take_gap(struct question *question, struct gap gap, struct cause_sum sums[CAUSES])
{
    gap.length_ns = asked_length(question, &gap);
    if (gap.length_ns <= 0)
        return;
    gap.cause = (uint8_t)cause_of(question, &gap);
    if (question->keys)
        *VEC_PUSH(&question->keyed) =
            (struct keyed_gap){ row_key_of(question->keys, gap.after, gap.call, gap.op), gap.length_ns,
                                gap.cause };
    else
        add_to_sum(&sums[gap.cause], gap.length_ns);
    sum_add(&question->idle_ns, gap.length_ns);
    if (gap.length_ns < question->options->min_ns) {
        question->micro_count++;
        sum_add(&question->micro_ns, gap.length_ns);
    } else if (!question->options->only_causes) {
        *VEC_PUSH(&question->listed) = gap;
    }
}

/* The gaps between COUNT works of DEVICE, which lie at POSITION, or with NULL from FIRST on. */
static void find_gaps(struct question *question, uint32_t device, const uint32_t *position, size_t first,
                      size_t count, struct cause_sum sums[CAUSES])
{
    const struct trace *trace = question->trace;
    const struct gpu_events *gpu = question->gpu;
    const struct selection *selection = question->selection;
    event_id last = EVENT_NONE; /* the work that ended last so far */
    for (size_t i = first; i < first + count; i++) {
        size_t at = position ? position[i] : i;
        event_id e = gpu->event[at];
        if (!selection_holds_name(selection, trace->name[e]) ||
            (selection->tracks && !selection->tracks[trace->track[e]]))
            continue;
        if (last != EVENT_NONE && trace->start_ns[e] > trace_end_ns(trace, last))
            take_gap(question,
                     (struct gap){ .start_ns = trace_end_ns(trace, last),
                                   .end_ns = trace->start_ns[e],
                                   .before = last,
                                   .after = e,
                                   .call = gpu->call[at],
                                   .op = gpu->op[at],
                                   .device = device },
                     sums);
        if (last == EVENT_NONE || trace_end_ns(trace, e) >= trace_end_ns(trace, last))
            last = e;
    }
}

/* ---- tables ---- */

/* The cause of the most time among those with gaps that were not ADDED; CAUSES when there is none. */
static size_t largest_cause(const struct cause_sum sums[CAUSES], const bool added[CAUSES])
{
    size_t largest = CAUSES;
    for (size_t c = 0; c < CAUSES; c++)
        if (sums[c].count && !added[c] && (largest == CAUSES || sums[c].time_ns > sums[largest].time_ns))
            largest = c;
    return largest;
}

/* Rows for SUMS, which are about KEY. */
static void add_causes(const struct question *question, const struct row_keys *keys, int64_t key,
                       const struct cause_sum sums[CAUSES])
{
    struct table *table = question->causes;
    double idle_ns = 0; /* for shares; times may be absurd */
    for (size_t c = 0; c < CAUSES; c++)
        idle_ns += (double)sums[c].time_ns;
    bool added[CAUSES] = { false };
    for (size_t c; (c = largest_cause(sums, added)) < CAUSES; added[c] = true) {
        size_t row = table_add_row(table);
        row_key_set(keys, table, row, key);
        table_set_text(table, row, CAUSE_NAME, causes[c].name, strlen(causes[c].name));
        table_set_int(table, row, CAUSE_TIME, sums[c].time_ns);
        table_set_number(table, row, CAUSE_SHARE, (double)sums[c].time_ns / idle_ns);
        table_set_int(table, row, CAUSE_COUNT, (int64_t)sums[c].count);
        table_set_int(table, row, CAUSE_LONGEST, sums[c].longest_ns);
        table_set_text(table, row, CAUSE_MEANING, causes[c].meaning, strlen(causes[c].meaning));
    }
}

/*
 * A tree of maxima over the nodes: leaf I is at count + I, the parent of I and I + 1 at half of I. Gaps of many streams
 * lie over the same events of the host; without it each would look at all of them.
 */
struct maxima {
    int64_t (*value)(const struct trace *, event_id);
    node_id *at;
};

/* The operators and annotations of the host, nested; steps are left out, because they hold everything. */
struct activities {
    const struct trace *trace;
    struct calltree *tree;
    const struct calltree_thread **thread; /* by track; NULL: nothing on it */
    bool *is_step;                         /* by name */
    struct maxima longest, latest;         /* by duration, by end */
    node_id *skips;                        /* by node: see calltree_around */
};

static bool is_activity(const void *context, event_id e)
{
    const struct activities *activities = context;
    const struct trace *trace = activities->trace;
    return (trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION) &&
           !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT)) && !activities->is_step[trace->name[e]];
}

/* Of two nodes the one whose event has more of it; the first of equals. A comes before B; either may be NODE_NONE. */
static node_id greater(const struct activities *activities, const struct maxima *of, node_id a, node_id b)
{
    const struct calltree *tree = activities->tree;
    if (a == NODE_NONE || b == NODE_NONE)
        return a == NODE_NONE ? b : a;
    return of->value(activities->trace, tree->event[b]) > of->value(activities->trace, tree->event[a]) ? b
                                                                                                       : a;
}

static void build_maxima(const struct activities *activities, struct maxima *of,
                         int64_t (*value)(const struct trace *, event_id))
{
    size_t count = activities->tree->count;
    of->value = value;
    of->at = mem_alloc((2 * count + 2) * sizeof *of->at);
    for (size_t i = 0; i < count; i++)
        of->at[count + i] = (node_id)i;
    for (size_t i = count; i-- > 1;) {
        node_id left = of->at[2 * i], right = of->at[2 * i + 1];
        of->at[i] =
            left < right ? greater(activities, of, left, right) : greater(activities, of, right, left);
    }
}

/* Of the nodes from FIRST up to END that with most of it; NODE_NONE when there are none. */
static node_id greatest(const struct activities *activities, const struct maxima *of, node_id first,
                        node_id end)
{
    size_t count = activities->tree->count;
    node_id left = NODE_NONE, right = NODE_NONE;
    for (size_t i = count + first, j = count + end; i < j; i /= 2, j /= 2) {
        if (i % 2)
            left = greater(activities, of, left, of->at[i++]);
        if (j % 2)
            right = greater(activities, of, of->at[--j], right);
    }
    return greater(activities, of, left, right);
}

static int64_t duration_ns(const struct trace *trace, event_id e)
{
    return trace->dur_ns[e];
}

static void open_activities(struct activities *activities, const struct trace *trace)
{
    activities->trace = trace;
    activities->is_step = mem_zalloc(names_count(trace->names) + 1, sizeof(bool));
    int64_t number;
    for (name_id id = 0; id < names_count(trace->names); id++)
        activities->is_step[id] = step_number(names_text(trace->names, id), &number);
    activities->tree = calltree_open(trace, is_activity, activities);
    calltree_nest(activities->tree);
    activities->skips = calltree_skips(activities->tree);
    build_maxima(activities, &activities->longest, duration_ns);
    build_maxima(activities, &activities->latest, trace_end_ns);
    activities->thread = mem_zalloc(trace->track_count + 1, sizeof(struct calltree_thread *));
    for (size_t t = 0; t < activities->tree->thread_count; t++)
        activities->thread[activities->tree->threads[t].track] = &activities->tree->threads[t];
}

static void release_activities(struct activities *activities)
{
    calltree_free(activities->tree);
    free(activities->thread);
    free(activities->longest.at);
    free(activities->latest.at);
    free(activities->skips);
    free(activities->is_step);
}

static int64_t overlap_ns(const struct trace *trace, event_id e, const struct gap *gap)
{
    int64_t start_ns = trace->start_ns[e] > gap->start_ns ? trace->start_ns[e] : gap->start_ns;
    int64_t end_ns = min_ns(trace_end_ns(trace, e), gap->end_ns);
    return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* The first node of THREAD that starts at MOMENT_NS or later. */
static node_id first_from(const struct activities *activities, const struct calltree_thread *thread,
                          int64_t moment_ns)
{
    node_id low = thread->first, high = thread->first + thread->count;
    while (low < high) {
        node_id middle = low + (high - low) / 2;
        if (activities->trace->start_ns[activities->tree->event[middle]] < moment_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Does one of the nodes from FIRST up to END, which are some, go on after MOMENT_NS? */
static bool goes_beyond(const struct activities *activities, node_id first, node_id end, int64_t moment_ns)
{
    node_id latest = greatest(activities, &activities->latest, first, end);
    return trace_end_ns(activities->trace, activities->tree->event[latest]) > moment_ns;
}

/* The first of them that does; END when none does. */
static node_id first_beyond(const struct activities *activities, node_id first, node_id end,
                            int64_t moment_ns)
{
    if (!goes_beyond(activities, first, end, moment_ns))
        return end;
    while (end - first > 1) {
        node_id middle = first + (end - first) / 2;
        if (goes_beyond(activities, first, middle, moment_ns))
            end = middle;
        else
            first = middle;
    }
    return first;
}

/*
 * What began from node FIRST up to END, which is in GAP, and took the longest of it. What goes on after the gap has the
 * less of it the later it began; so only the first of these needs a look, and what began before that.
 */
static event_id longest_begun(const struct activities *activities, const struct gap *gap, node_id first,
                              node_id end)
{
    const struct calltree *tree = activities->tree;
    const struct trace *trace = activities->trace;
    if (first == end)
        return EVENT_NONE;
    node_id beyond = first_beyond(activities, first, end, gap->end_ns);
    node_id most = greatest(activities, &activities->longest, first, beyond);
    if (most == NODE_NONE || (beyond < end && overlap_ns(trace, tree->event[beyond], gap) >
                                                  overlap_ns(trace, tree->event[most], gap)))
        most = beyond;
    return overlap_ns(trace, tree->event[most], gap) > 0 ? tree->event[most] : EVENT_NONE;
}

/* The outermost of NODE and what is around it that is FIRST or comes after it. */
static node_id outermost_from(const struct activities *activities, node_id node, node_id first)
{
    const struct calltree *tree = activities->tree;
    while (tree->parent[node] != NODE_NONE && tree->parent[node] >= first)
        node = activities->skips[node] >= first ? activities->skips[node] : tree->parent[node];
    return node;
}

/*
 * What took the thread TRACK longest during GAP, of what did not go on all the time, if that took half of the gap at
 * least; else the innermost that did; else whatever took longest.
 */
static event_id meanwhile(const struct activities *activities, track_id track, const struct gap *gap)
{
    const struct calltree_thread *thread = activities->thread[track];
    const struct calltree *tree = activities->tree;
    const struct trace *trace = activities->trace;
    if (!thread)
        return EVENT_NONE;
    node_id low = first_from(activities, thread, gap->start_ns);
    event_id longest = longest_begun(activities, gap, low, first_from(activities, thread, gap->end_ns));
    int64_t longest_ns = longest == EVENT_NONE ? 0 : overlap_ns(trace, longest, gap);
    /* What began before the gap lies in one another: the further out, the later it ended. */
    node_id before = low > thread->first ? low - 1 : NODE_NONE;
    node_id covers = calltree_around(tree, activities->skips, before, gap->end_ns - 1);
    event_id around = covers == NODE_NONE ? EVENT_NONE : tree->event[covers];
    if (before != covers) {
        node_id last = outermost_from(activities, before, covers == NODE_NONE ? thread->first : covers + 1);
        int64_t last_ns = overlap_ns(trace, tree->event[last], gap);
        if (last_ns >= longest_ns && last_ns > 0) { /* of equals the first to begin is shown */
            longest = tree->event[last];
            longest_ns = last_ns;
        }
    }
    return 2 * longest_ns >= gap->end_ns - gap->start_ns || around == EVENT_NONE ? longest : around;
}

static void set_name(struct table *table, size_t row, size_t column, const struct trace *trace, event_id e)
{
    if (e != EVENT_NONE)
        table_set_text(table, row, column, trace_name(trace, e), names_length(trace->names, trace->name[e]));
}

static void add_gap(struct table *table, const struct question *question, const struct activities *activities,
                    const struct gap *gap, const int64_t *origins)
{
    const struct trace *trace = question->trace;
    const struct gpu_device *device = &question->gpu->devices[gap->device];
    event_id call = gap->call;
    size_t row = table_add_row(table);
    table_set_int(table, row, GAP_RANK, selection_rank(trace, device->file));
    table_set_int(table, row, GAP_DEVICE, device->id);
    table_set_int(table, row, GAP_STREAM, trace->tracks[trace->track[gap->after]].stream);
    table_set_int(table, row, GAP_START, gap->start_ns - origins[device->file]);
    table_set_int(table, row, GAP_LENGTH, gap->length_ns);
    table_set_text(table, row, GAP_CAUSE, causes[gap->cause].name, strlen(causes[gap->cause].name));
    set_name(table, row, GAP_BEFORE, trace, gap->before);
    set_name(table, row, GAP_AFTER, trace, gap->after);
    set_name(table, row, GAP_CALL, trace, call);
    set_name(table, row, GAP_OPERATOR, trace, gap->op);
    if (call != EVENT_NONE)
        set_name(table, row, GAP_MEANWHILE, trace, meanwhile(activities, trace->track[call], gap));
}

/* The longest first; equal ones in order of time. */
static int compare_gaps(const void *left, const void *right)
{
    const struct gap *a = left, *b = right;
    if (a->length_ns != b->length_ns)
        return a->length_ns > b->length_ns ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->after < b->after ? -1 : a->after > b->after;
}

static struct table *make_gaps(struct question *question)
{
    const struct trace *trace = question->trace;
    struct table *table = table_open("gaps", "The longest gaps", gap_columns, GAP_COLUMNS);
    if (question->listed.count)
        qsort(question->listed.at, question->listed.count, sizeof *question->listed.at, compare_gaps);
    size_t rows = question->listed.count;
    if (question->options->most_rows && question->options->most_rows < rows)
        rows = question->options->most_rows;
    int64_t *origins = mem_alloc((trace->file_count + 1) * sizeof *origins);
    for (uint32_t f = 0; f < trace->file_count; f++)
        origins[f] = trace_file_span(trace, f).start_ns;
    struct activities activities = { 0 };
    if (rows)
        open_activities(&activities, trace);
    for (size_t i = 0; i < rows; i++)
        add_gap(table, question, &activities, &question->listed.at[i], origins);
    if (question->options->by == ROWS_BY_STREAM)
        table->columns[GAP_STREAM].flags = 0;
    if (trace->file_count > 1)
        table->columns[GAP_RANK].flags = 0;
    if (question->gpu->device_count > 1)
        table->columns[GAP_DEVICE].flags = 0;
    table->total_rows = question->listed.count;
    table->sort_column = GAP_LENGTH;
    if (rows)
        release_activities(&activities);
    free(origins);
    table_add_footer(table, "micro_gaps", "Shorter gaps, not listed", TABLE_COUNT,
                     table_int((int64_t)question->micro_count));
    table_add_footer(table, "micro_gaps_time", "Time of these", TABLE_NS, table_int(question->micro_ns));
    return table;
}

static void look_at_device(struct question *question, uint32_t device)
{
    const struct gpu_device *of = &question->gpu->devices[device];
    struct cause_sum sums[CAUSES] = { 0 };
    find_gaps(question, device, NULL, of->first, of->count, sums);
    if (!question->keys)
        add_causes(question, question->places,
                   row_key_of(question->places, question->gpu->event[of->first], EVENT_NONE, EVENT_NONE),
                   sums);
}

static void look_at_stream(struct question *question, const struct gpu_streams *streams,
                           const struct gpu_stream *stream)
{
    struct cause_sum sums[CAUSES] = { 0 };
    if (question->selection->tracks && !question->selection->tracks[stream->track])
        return;
    find_gaps(question, stream->device, streams->position, stream->first, stream->count, sums);
    add_causes(question, question->places, (int64_t)stream->track, sums);
}

static bool is_wanted(const struct question *question, uint32_t device)
{
    const struct selection *selection = question->selection;
    return selection->files == NULL || selection->files[question->gpu->devices[device].file];
}

static bool key_comes_after(const void *context, const void *left, const void *right)
{
    (void)context;
    return ((const struct keyed_gap *)left)->key > ((const struct keyed_gap *)right)->key;
}

/* Rows for operators, steps and the like: what their gaps add up to. */
static void add_keyed_causes(struct question *question)
{
    const struct keyed_gap *at = question->keyed.at;
    size_t count = question->keyed.count;
    runs_sort(question->keyed.at, count, sizeof *at, key_comes_after, NULL);
    for (size_t first = 0, end; first < count; first = end) {
        struct cause_sum sums[CAUSES] = { 0 };
        for (end = first; end < count && at[end].key == at[first].key; end++)
            add_to_sum(&sums[at[end].cause], at[end].length_ns);
        add_causes(question, question->keys, at[first].key, sums);
    }
    table_sort(question->causes, CAUSE_TIME, false);
}

static void open_question(struct question *question)
{
    question->gpu = gpu_events_of(question->trace);
    question->host = host_state_open(question->trace);
    question->causes = table_open("causes", "Why the devices were idle", cause_columns, CAUSE_COLUMNS);
    enum rows_by by = question->options->by;
    bool by_stream = by == ROWS_BY_STREAM;
    question->places = row_keys_open(question->trace, by_stream ? by : ROWS_BY_DEVICE);
    if (by != ROWS_BY_DEFAULT && by != ROWS_BY_DEVICE && !by_stream)
        question->keys = row_keys_open(question->trace, by);
    row_keys_show(question->keys ? question->keys : question->places, question->causes);
    struct gpu_streams *streams = by_stream ? gpu_streams_open(question->gpu) : NULL;
    for (uint32_t d = 0; !streams && d < question->gpu->device_count; d++)
        if (is_wanted(question, d))
            look_at_device(question, d);
    for (size_t s = 0; streams && s < streams->count; s++)
        if (is_wanted(question, streams->at[s].device))
            look_at_stream(question, streams, &streams->at[s]);
    gpu_streams_free(streams);
    if (question->keys)
        add_keyed_causes(question);
}

static void release_question(struct question *question)
{
    row_keys_free(question->places);
    if (question->keys)
        row_keys_free(question->keys);
    VEC_FREE(&question->keyed);
    VEC_FREE(&question->listed);
    host_state_free(question->host);
}

void gaps_add_tables(const struct trace *trace, const struct selection *selection,
                     const struct gaps_options *options, struct result *result)
{
    struct question question = { .trace = trace, .selection = selection, .options = options };
    open_question(&question);
    table_add_footer(question.causes, "idle_total", "Idle", TABLE_NS, table_int(question.idle_ns));
    result_add_table(result, question.causes);
    if (!options->only_causes)
        result_add_table(result, make_gaps(&question));
    release_question(&question);
}

/* ---- how long ---- */

/* The ends of the ranges, in turn 1, 2, 5 times a power of ten, from 1us on: range 0 is all below that. */
static int64_t range_end_ns(size_t range)
{
    static const int64_t first[] = { 1000, 2000, 5000 };
    int64_t end_ns = first[range % 3];
    for (size_t i = 0; i < range / 3; i++)
        end_ns *= 10;
    return end_ns;
}

enum { RANGES = 40 }; /* up to 10^16 ns, a hundred days: the last range holds whatever is longer */

static size_t range_of(int64_t length_ns)
{
    size_t range = 0;
    while (range + 1 < RANGES && length_ns >= range_end_ns(range))
        range++;
    return range;
}

static void set_range(struct table *table, size_t row, size_t range)
{
    struct buffer text = { 0 };
    buffer_puts(&text, range ? "" : "< ");
    quantity_show_time(&text, range_end_ns(range ? range - 1 : 0));
    table_set_text(table, row, 0, text.at, text.count);
    buffer_release(&text);
}

struct table *gaps_lengths(const struct trace *trace, const struct selection *selection)
{
    struct gaps_options options = gaps_defaults;
    options.min_ns = 0;
    struct question question = { .trace = trace, .selection = selection, .options = &options };
    open_question(&question);
    static const char *const keys[CAUSES] = { "cause_0", "cause_1", "cause_2", "cause_3",
                                              "cause_4", "cause_5", "cause_6", "cause_7" };
    struct table_column columns[CAUSES + 1] = {
        { "length", "Length", TABLE_NAME, "gaps of this length, and up to that of the next row", 0, NULL }
    };
    for (size_t c = 0; c < CAUSES; c++)
        columns[c + 1] =
            (struct table_column){ keys[c], causes[c].name, TABLE_NS, causes[c].meaning, 0, NULL };
    struct table *table =
        table_open("lengths", "How long the devices were idle at a time", columns, CAUSES + 1);
    int64_t sums[RANGES][CAUSES] = { { 0 } };
    size_t first = RANGES, last = 0;
    for (size_t i = 0; i < question.listed.count; i++) {
        const struct gap *gap = &question.listed.at[i];
        size_t range = range_of(gap->length_ns);
        sum_add(&sums[range][gap->cause], gap->length_ns);
        first = range < first ? range : first;
        last = range > last ? range : last;
    }
    for (size_t range = first; range <= last && first < RANGES; range++) {
        size_t row = table_add_row(table);
        set_range(table, row, range);
        for (size_t c = 0; c < CAUSES; c++)
            table_set_int(table, row, c + 1, sums[range][c]);
    }
    table_free(question.causes);
    release_question(&question);
    return table;
}
