/*
 * gaps.c - see gaps.h.
 *
 * The work of a device is visited by start; if an operation begins after all earlier ones have ended, there is a gap.
 * Its parts follow from the call that launched the next work and from what blocked its thread (host_state.h). Only the
 * gaps that are listed are described in words, because that takes the call tree of the threads.
 */
#include "analyze/gaps.h"

#include "base/runs.h"
#include "base/sum.h"
#include "facts/code_paths.h"
#include "facts/features.h"
#include "facts/gpu_events.h"
#include "facts/host_state.h"
#include "facts/host_waits.h"
#include "facts/step_list.h"
#include "facts/stream_waits.h"
#include "trace/calltree.h"
#include "trace/derived.h"
#include "trace/intervals.h"
#include "trace/span.h"
#include <stdlib.h>
#include <string.h>

const struct trace_wants gaps_wants = { .args = HOST_WAITS_WANTS | CODE_PATHS_WANTS };
const struct gaps_options gaps_defaults = { .min_ns = 10000, .latency_below_ns = 30000 };

#define CAUSE_ROW(id, owner, word, column, color, meaning, verdict) { owner, word, color, meaning, verdict },
const struct gap_cause_info gap_causes[GAP_CAUSES] = { GAP_CAUSE_ROWS(CAUSE_ROW) };

/* ---- the parts of a gap ---- */

struct cause_sum {
    int64_t count, time_ns, longest_ns;
};

struct group_sums {
    struct cause_sum of[GAP_CAUSES];
};

struct gaps_query {
    const struct trace *trace;
    const struct selection *selection;
    const struct gaps_options *options;
    const struct gpu_events *gpu;
    const struct host_state *host;
    const struct stream_waits *waits;
    struct gaps *gaps;
    VEC_OF(struct gap) listed;
    VEC_OF(struct group_sums) sums; /* by group */
    /* Of the current file: */
    uint32_t first_uses_file;
    event_id *first_use; /* by name of a kernel: the call that was the first to launch it */
    event_id *last_call; /* by track: the call that launched the latest work there */
    /* calls that launched the work before the current gap: on the stream of the next work, on the device */
    event_id previous_call, before_call;
    /* Position of the last search: by file, and by track and activity. */
    size_t *near_overhead, (*near_activity)[HOST_ACTIVITIES];
};

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The starts of the phases of GAP, and its end. With skewed clocks a call may begin after its work. */
static void find_edges(const struct trace *trace, const struct gap *gap, int64_t edge_ns[GAP_PHASES + 1])
{
    edge_ns[0] = gap->start_ns;
    edge_ns[1] = clamp(trace_start_ns(trace, gap->call), gap->start_ns, gap->end_ns);
    edge_ns[2] = clamp(trace_end_ns(trace, gap->call), edge_ns[1], gap->end_ns);
    edge_ns[3] = gap->end_ns;
}

/* Compute first_use for the file of DEVICE; devices are visited file by file. */
static void find_first_uses(struct gaps_query *query, uint32_t device)
{
    const struct trace *trace = query->trace;
    const struct gpu_events *gpu = query->gpu;
    uint32_t file = gpu->devices[device].file;
    if (query->first_use && query->first_uses_file == file)
        return;
    size_t name_count = names_count(trace->names);
    if (!query->first_use)
        query->first_use = mem_alloc(mem_times(name_count + 1, sizeof *query->first_use));
    for (name_id id = 0; id < name_count; id++)
        query->first_use[id] = EVENT_NONE;
    query->first_uses_file = file;
    for (size_t d = gpu_first_device(gpu, file); d < gpu->device_count && gpu->devices[d].file == file; d++)
        for (size_t i = gpu->devices[d].first; i < gpu->devices[d].first + gpu->devices[d].count; i++) {
            event_id call = gpu->call[i], *first = &query->first_use[trace->name[gpu->event[i]]];
            if (call != EVENT_NONE && gpu_work_is_kernel(gpu->work[i]) &&
                (*first == EVENT_NONE || trace_start_ns(trace, call) < trace_start_ns(trace, *first)))
                *first = call;
        }
}

/* Had the call launched other work already, so that both are nodes of a graph? */
static bool launched_before(const struct gaps_query *query, const struct gap *gap)
{
    return query->previous_call == gap->call || query->before_call == gap->call;
}

static enum gap_cause cause_in_call(const struct gaps_query *query, const struct gap *gap)
{
    const struct trace *trace = query->trace;
    const struct host_thread *thread = &query->host->threads[trace->track[gap->call]];
    if (intervals_contain(&thread->waiting, trace_start_ns(trace, gap->call)))
        return GAP_SYNCHRONIZATION; /* the call is a blocking copy itself */
    bool first = query->first_use[trace->name[gap->after]] == gap->call && !launched_before(query, gap);
    return first && trace_dur_ns(trace, gap->call) >= query->options->latency_below_ns ? GAP_FIRST_USE
                                                                                       : GAP_LAUNCH_CALL;
}

/* The call that made the stream of the work after GAP wait, between the launches of that work and of its
 * predecessor. */
static event_id find_wait(const struct gaps_query *query, const struct gap *gap)
{
    const struct trace *trace = query->trace;
    int64_t since_ns =
        query->previous_call == EVENT_NONE ? INT64_MIN : trace_start_ns(trace, query->previous_call);
    return stream_waits_before(query->waits, gap->call, trace->track[gap->after], since_ns);
}

static enum gap_cause cause_after_call(const struct gaps_query *query, const struct gap *gap,
                                       int64_t length_ns)
{
    if (launched_before(query, gap))
        return GAP_GRAPH;
    if (length_ns < query->options->latency_below_ns)
        return GAP_LAUNCH_LATENCY;
    return gap->wait != EVENT_NONE ? GAP_STREAM_WAIT : GAP_QUEUED;
}

static const enum gap_cause cause_of_activity[HOST_ACTIVITIES] = {
    [HOST_WAITING] = GAP_SYNCHRONIZATION,
    [HOST_ALLOCATION] = GAP_ALLOCATION,
    [HOST_DATA_LOADING] = GAP_DATA_LOADING,
    [HOST_COMMUNICATION] = GAP_COMMUNICATION,
};

/* Add what the thread of the call did in [START, END), of which LEFT_NS are not overhead. */
static void split_before_call(const struct gaps_query *query, struct gap *gap, int64_t start_ns,
                              int64_t end_ns, int64_t left_ns)
{
    track_id track = query->trace->track[gap->call];
    const struct host_thread *thread = &query->host->threads[track];
    for (size_t a = 0; a < HOST_ACTIVITIES && left_ns > 0; a++) {
        int64_t length_ns =
            intervals_length_near(&thread->in[a], start_ns, end_ns, &query->near_activity[track][a]);
        gap->part_ns[cause_of_activity[a]] += length_ns;
        left_ns -= length_ns;
    }
    gap->part_ns[GAP_HOST] += left_ns;
}

/* How long the profiler itself was at work in [START, END), in the file of GAP. */
static int64_t overhead_ns(const struct gaps_query *query, const struct gap *gap, int64_t start_ns,
                           int64_t end_ns)
{
    uint32_t file = query->gpu->devices[gap->device].file;
    return intervals_length_near(&query->host->overhead[file], start_ns, end_ns, &query->near_overhead[file]);
}

static void split_phases(const struct gaps_query *query, struct gap *gap)
{
    int64_t edge_ns[GAP_PHASES + 1];
    find_edges(query->trace, gap, edge_ns);
    for (size_t phase = 0; phase < GAP_PHASES; phase++) {
        gap->phase_ns[phase] = edge_ns[phase + 1] - edge_ns[phase];
        if (gap->phase_ns[phase] == 0)
            continue;
        int64_t taken_ns = overhead_ns(query, gap, edge_ns[phase], edge_ns[phase + 1]);
        int64_t left_ns = gap->phase_ns[phase] - taken_ns;
        gap->part_ns[GAP_PROFILER] += taken_ns;
        if (phase == GAP_BEFORE_CALL)
            split_before_call(query, gap, edge_ns[phase], edge_ns[phase + 1], left_ns);
        else if (phase == GAP_IN_CALL)
            gap->part_ns[cause_in_call(query, gap)] += left_ns;
        else
            gap->part_ns[cause_after_call(query, gap, gap->phase_ns[phase])] += left_ns;
    }
}

static void split(const struct gaps_query *query, struct gap *gap)
{
    gap->wait = gap->call == EVENT_NONE ? EVENT_NONE : find_wait(query, gap);
    if (gap->call == EVENT_NONE) {
        gap->part_ns[GAP_PROFILER] = overhead_ns(query, gap, gap->start_ns, gap->end_ns);
        gap->part_ns[GAP_UNKNOWN] = gap->end_ns - gap->start_ns - gap->part_ns[GAP_PROFILER];
    } else {
        split_phases(query, gap);
    }
    for (size_t c = 1; c < GAP_CAUSES; c++)
        if (gap->part_ns[c] > gap->part_ns[gap->cause])
            gap->cause = (enum gap_cause)c;
}

/* ---- finding gaps ---- */

static const int64_t range_starts[] = { 1000, 2000, 5000 };

int64_t gaps_length_from_ns(size_t range)
{
    if (range == 0)
        return 0;
    int64_t from_ns = range_starts[(range - 1) % 3];
    for (size_t i = 0; i < (range - 1) / 3; i++)
        from_ns *= 10;
    return from_ns;
}

/* The last range includes all longer gaps: 10^16 ns are over a hundred days. */
static size_t range_of(int64_t length_ns)
{
    size_t range = 0;
    while (range + 1 < GAP_LENGTHS && length_ns >= gaps_length_from_ns(range + 1))
        range++;
    return range;
}

static struct group_sums *sums_of(struct gaps_query *query, const struct gap *gap)
{
    uint32_t id = group_of(query->gaps->group, gap->after, gap->call, gap->op);
    while (query->sums.count <= id)
        *VEC_PUSH(&query->sums) = (struct group_sums){ 0 };
    return &query->sums.at[id];
}

static void take_gap(struct gaps_query *query, struct gap gap)
{
    struct gaps *gaps = query->gaps;
    int64_t length_ns = gap.end_ns - gap.start_ns;
    if (query->options->only_listed && length_ns < query->options->min_ns)
        return;
    split(query, &gap);
    struct group_sums *sums = sums_of(query, &gap);
    size_t range = range_of(length_ns);
    for (size_t c = 0; c < GAP_CAUSES; c++) {
        int64_t part_ns = gap.part_ns[c];
        if (part_ns == 0)
            continue;
        struct cause_sum *sum = &sums->of[c];
        sum->count++;
        sum_add(&sum->time_ns, part_ns);
        sum->longest_ns = part_ns > sum->longest_ns ? part_ns : sum->longest_ns;
        sum_add(&gaps->part_ns[c], part_ns);
        sum_add(&gaps->length_ns[range][c], part_ns);
    }
    sum_add(&gaps->idle_ns, length_ns);
    if (length_ns < query->options->min_ns) {
        gaps->short_count++;
        sum_add(&gaps->short_ns, length_ns);
    } else if (!query->options->only_causes) {
        *VEC_PUSH(&query->listed) = gap;
    }
}

/* Add the gaps between COUNT operations of DEVICE, at the indices POSITION or, if NULL, from FIRST on. */
static void find_gaps(struct gaps_query *query, uint32_t device, const uint32_t *position, size_t first,
                      size_t count)
{
    const struct trace *trace = query->trace;
    const struct gpu_events *gpu = query->gpu;
    event_id last = EVENT_NONE; /* the work that ended last so far */
    find_first_uses(query, device);
    for (size_t i = first; i < first + count; i++) {
        size_t at = position ? position[i] : i;
        event_id e = gpu->event[at];
        query->previous_call = query->last_call[trace->track[e]];
        query->last_call[trace->track[e]] = gpu->call[at];
        if (!selection_holds_work(query->selection, e, gpu->call[at]))
            continue;
        if (last != EVENT_NONE && trace_start_ns(trace, e) > trace_end_ns(trace, last))
            take_gap(query, (struct gap){ .start_ns = trace_end_ns(trace, last),
                                          .end_ns = trace_start_ns(trace, e),
                                          .before = last,
                                          .after = e,
                                          .call = gpu->call[at],
                                          .op = gpu->op[at],
                                          .device = device,
                                          .meanwhile = EVENT_NONE });
        if (last == EVENT_NONE || trace_end_ns(trace, e) >= trace_end_ns(trace, last)) {
            last = e;
            query->before_call = gpu->call[at];
        }
    }
}

static void find_all_gaps(struct gaps_query *query)
{
    const struct gpu_events *gpu = query->gpu;
    const bool *files = query->selection->files;
    if (query->gaps->by & BY(STREAM)) {
        struct gpu_streams *streams = gpu_streams_open(gpu);
        for (size_t s = 0; s < streams->count; s++) {
            const struct gpu_stream *stream = &streams->at[s];
            if (!files || files[gpu->devices[stream->device].file])
                find_gaps(query, stream->device, streams->position, stream->first, stream->count);
        }
        gpu_streams_free(streams);
        return;
    }
    for (uint32_t d = 0; d < gpu->device_count; d++)
        if (!files || files[gpu->devices[d].file])
            find_gaps(query, d, NULL, gpu->devices[d].first, gpu->devices[d].count);
}

/* ---- host activity during gaps ---- */

/* All nesting events of host threads, except steps, which contain everything. */
struct activities {
    const struct trace *trace;
    struct calltree *tree;
    const struct calltree_thread **thread; /* by track; NULL: nothing on it */
    bool *is_step;                         /* by name */
    node_id *skips;                        /* by node: see calltree_around */
    const struct code_paths *paths;
};

static bool is_activity(const void *context, event_id e)
{
    const struct activities *activities = context;
    const struct trace *trace = activities->trace;
    enum event_kind kind = trace->kind[e];
    return (kind == EVENT_OP || kind == EVENT_ANNOTATION || kind == EVENT_PYTHON || event_is_call(kind)) &&
           !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT)) && !activities->is_step[trace->name[e]];
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
    activities->thread = mem_zalloc(trace->track_count + 1, sizeof(struct calltree_thread *));
    for (size_t t = 0; t < activities->tree->thread_count; t++)
        activities->thread[activities->tree->threads[t].track] = &activities->tree->threads[t];
    if (trace_features(trace) & FEATURE_STACKS)
        activities->paths = code_paths_of(trace, CODE_LINES);
}

static void release_activities(struct activities *activities)
{
    calltree_free(activities->tree);
    free(activities->thread);
    free(activities->skips);
    free(activities->is_step);
}

static int64_t overlap_ns(const struct trace *trace, event_id e, const struct interval *stretch)
{
    return clamp(trace_end_ns(trace, e), stretch->start_ns, stretch->end_ns) -
           clamp(trace_start_ns(trace, e), stretch->start_ns, stretch->end_ns);
}

/* Make *LONGEST the longest interval of SET within [START, END) if that is longer. */
static void lengthen(struct interval *longest, const struct intervals *set, int64_t start_ns, int64_t end_ns)
{
    struct intervals within = { 0 };
    intervals_clip(set, start_ns, end_ns, &within);
    for (size_t i = 0; i < within.count; i++)
        if (within.at[i].end_ns - within.at[i].start_ns > longest->end_ns - longest->start_ns)
            *longest = within.at[i];
    intervals_release(&within);
}

/* The longest interval before the call in which the thread was in none of its activities. */
static struct interval longest_of_host(const struct gaps_query *query, const struct gap *gap,
                                       int64_t start_ns, int64_t end_ns)
{
    const struct host_thread *thread = &query->host->threads[query->trace->track[gap->call]];
    struct intervals all = { 0 }, piece = { 0 }, rest = { 0 };
    intervals_clip(&query->host->overhead[query->gpu->devices[gap->device].file], start_ns, end_ns, &all);
    for (size_t a = 0; a < HOST_ACTIVITIES; a++) {
        intervals_clip(&thread->in[a], start_ns, end_ns, &piece);
        for (size_t i = 0; i < piece.count; i++)
            intervals_add(&all, piece.at[i].start_ns, piece.at[i].end_ns);
    }
    intervals_merge(&all);
    struct interval whole = { start_ns, end_ns }, longest = { start_ns, start_ns };
    intervals_subtract(&(struct intervals){ .at = &whole, .count = 1 }, &all, &rest);
    lengthen(&longest, &rest, start_ns, end_ns);
    intervals_release(&all);
    intervals_release(&piece);
    intervals_release(&rest);
    return longest;
}

/* The longest interval of the largest part of GAP; empty if that part is not about its thread. */
static struct interval longest_stretch(const struct gaps_query *query, const struct gap *gap)
{
    struct interval longest = { 0, 0 };
    int64_t edge_ns[GAP_PHASES + 1];
    find_edges(query->trace, gap, edge_ns);
    const struct host_thread *thread = &query->host->threads[query->trace->track[gap->call]];
    if (gap->cause == GAP_HOST)
        return longest_of_host(query, gap, edge_ns[0], edge_ns[1]);
    for (size_t a = 0; a < HOST_ACTIVITIES; a++)
        if (cause_of_activity[a] == gap->cause)
            lengthen(&longest, &thread->in[a], edge_ns[0], edge_ns[1]);
    bool of_call =
        gap->cause == GAP_LAUNCH_CALL || gap->cause == GAP_FIRST_USE || gap->cause == GAP_SYNCHRONIZATION;
    if (of_call && gap->phase_ns[GAP_IN_CALL] > longest.end_ns - longest.start_ns)
        longest = (struct interval){ edge_ns[1], edge_ns[2] };
    return longest;
}

/* The innermost of NODE and its callers that covers at least half of STRETCH. */
static node_id innermost_half(const struct activities *activities, node_id node,
                              const struct interval *stretch)
{
    const struct calltree *tree = activities->tree;
    int64_t length_ns = stretch->end_ns - stretch->start_ns, half_ns = length_ns - length_ns / 2;
    while (node != NODE_NONE && overlap_ns(tree->trace, tree->event[node], stretch) < half_ns) {
        node_id skip = activities->skips[node];
        bool too_short = skip != node && overlap_ns(tree->trace, tree->event[skip], stretch) < half_ns;
        node = too_short ? skip : tree->parent[node];
    }
    return node;
}

/* Describe what the thread of the call did: an event that covers half of an interval is open in its middle. */
static void describe(const struct gaps_query *query, const struct activities *activities, struct gap *gap)
{
    if (gap->call == EVENT_NONE)
        return;
    const struct calltree *tree = activities->tree;
    const struct calltree_thread *thread = activities->thread[query->trace->track[gap->call]];
    struct interval stretch = longest_stretch(query, gap);
    event_id at = gap->cause == GAP_STREAM_WAIT ? gap->wait : gap->call;
    gap->meanwhile = gap->cause == GAP_STREAM_WAIT ? gap->wait : EVENT_NONE;
    if (stretch.start_ns < stretch.end_ns && thread) {
        int64_t middle_ns = stretch.start_ns + (stretch.end_ns - stretch.start_ns) / 2;
        node_id open = calltree_open_at(tree, activities->skips, thread, middle_ns);
        node_id most = innermost_half(activities, open, &stretch);
        gap->meanwhile = most == NODE_NONE ? EVENT_NONE : tree->event[most];
        at = open == NODE_NONE ? at : tree->event[open];
    }
    if (!activities->paths)
        return;
    const char *line = code_path_name(activities->paths, code_place_of(activities->paths, at).path);
    if (*line)
        gap->line = (struct text){ arena_strndup(&query->gaps->texts, line, strlen(line)), strlen(line) };
}

/* Longest first, then by time. */
static int compare_gaps(const void *left, const void *right)
{
    const struct gap *a = left, *b = right;
    int64_t a_ns = a->end_ns - a->start_ns, b_ns = b->end_ns - b->start_ns;
    if (a_ns != b_ns)
        return a_ns > b_ns ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->after < b->after ? -1 : a->after > b->after;
}

static void list_gaps(struct gaps_query *query)
{
    struct gaps *gaps = query->gaps;
    size_t most = query->options->in_order ? 0 : query->options->most_gaps;
    if (query->listed.count && !query->options->in_order)
        qsort(query->listed.at, query->listed.count, sizeof *query->listed.at, compare_gaps);
    gaps->at = query->listed.at;
    gaps->listed = query->listed.count;
    gaps->count = most && most < gaps->listed ? most : gaps->listed;
    if (gaps->count == 0 || query->options->in_order)
        return;
    struct activities activities = { 0 };
    open_activities(&activities, query->trace);
    for (size_t i = 0; i < gaps->count; i++)
        describe(query, &activities, &gaps->at[i]);
    release_activities(&activities);
}

/* ---- sums ---- */

static bool belongs_behind(const void *context, const void *left, const void *right)
{
    (void)context;
    return ((const struct gap_cause_row *)left)->time_ns < ((const struct gap_cause_row *)right)->time_ns;
}

/* Add rows for SUMS, largest first. Returns how many. */
static size_t fill_rows(struct gap_cause_row *rows, const struct group_sums *sums, struct group_key key)
{
    double idle_ns = 0; /* for shares; a double, as invalid times may overflow */
    size_t count = 0;
    for (size_t c = 0; c < GAP_CAUSES; c++)
        idle_ns += (double)sums->of[c].time_ns;
    for (size_t c = 0; c < GAP_CAUSES; c++)
        if (sums->of[c].count)
            rows[count++] = (struct gap_cause_row){ .key = key,
                                                    .cause = (enum gap_cause)c,
                                                    .name = as_text(gap_causes[c].name),
                                                    .meaning = as_text(gap_causes[c].meaning),
                                                    .time_ns = sums->of[c].time_ns,
                                                    .share = (double)sums->of[c].time_ns / idle_ns,
                                                    .count = sums->of[c].count,
                                                    .longest_ns = sums->of[c].longest_ns };
    runs_sort(rows, count, sizeof *rows, belongs_behind, NULL);
    return count;
}

/* Are the groups devices or streams, whose rows stay together? */
static bool is_of_places(unsigned by)
{
    return !(by & ~(BY(DEVICE) | BY(STREAM)));
}

static void sum_up(struct gaps_query *query)
{
    struct gaps *gaps = query->gaps;
    gaps->causes = mem_zalloc(mem_times(query->sums.count, GAP_CAUSES) + 1, sizeof *gaps->causes);
    for (uint32_t id = 0; id < query->sums.count; id++)
        gaps->cause_count +=
            fill_rows(gaps->causes + gaps->cause_count, &query->sums.at[id], group_key(gaps->group, id));
    if (!is_of_places(gaps->by))
        runs_sort(gaps->causes, gaps->cause_count, sizeof *gaps->causes, belongs_behind, NULL);
}

static struct gaps *analyze(const struct trace *trace, const struct selection *selection, unsigned by,
                            const struct gaps_options *options)
{
    struct gaps *gaps = mem_zalloc(1, sizeof *gaps);
    gaps->own = gaps;
    gaps->trace = trace;
    gaps->by = by;
    gaps->group = group_open(trace, by);
    struct gaps_query query = {
        .trace = trace,
        .selection = selection,
        .options = options,
        .gpu = gpu_events_of(trace),
        .host = host_state_of(trace),
        .waits = stream_waits_of(trace),
        .gaps = gaps,
        .last_call = mem_alloc(mem_times(trace->track_count + 1, sizeof *query.last_call)),
        .near_overhead = mem_zalloc(trace->file_count + 1, sizeof *query.near_overhead),
        .near_activity = mem_zalloc(trace->track_count + 1, sizeof *query.near_activity),
    };
    for (track_id t = 0; t < trace->track_count; t++)
        query.last_call[t] = EVENT_NONE;
    find_all_gaps(&query);
    sum_up(&query);
    list_gaps(&query);
    VEC_FREE(&query.sums);
    free(query.first_use);
    free(query.last_call);
    free(query.near_overhead);
    free(query.near_activity);
    return gaps;
}

static void release(void *value)
{
    struct gaps *gaps = value;
    free(gaps->at);
    free(gaps->causes);
    group_free(gaps->group);
    arena_release(&gaps->texts);
    free(gaps);
}

/* What a report asks for its first screen and the colours of the timeline: computed once. */
static void *derive_usual(const struct trace *trace)
{
    struct selection *all = selection_open(trace, &(struct selection_query){ 0 }, &(struct tpa_error){ 0 });
    struct gaps_options options = gaps_defaults;
    options.only_causes = true;
    struct gaps *usual = analyze(trace, all, BY(DEVICE), &options);
    usual->own = NULL;
    selection_free(all);
    return usual;
}

const struct gaps *gaps_analyze(const struct trace *trace, const struct selection *selection, unsigned by,
                                const struct gaps_options *options)
{
    static const struct derivation usual = { derive_usual, release };
    if (by == BY(DEVICE) && options->only_causes && !options->only_listed &&
        options->min_ns == gaps_defaults.min_ns &&
        options->latency_below_ns == gaps_defaults.latency_below_ns && selection_is_all(selection))
        return trace_derive(trace, &usual);
    return analyze(trace, selection, by, options);
}

void gaps_free(const struct gaps *gaps)
{
    if (gaps && gaps->own)
        release(gaps->own);
}

/* ---- tables ---- */

/* A row of the table "gaps". */
struct gap_row {
    int64_t rank, device, stream;
    int64_t start_ns, length_ns;
    struct text cause;
    double share;
    struct text op, meanwhile, line, after, before, call;
    int64_t before_call_ns, in_call_ns, after_call_ns;
};

/* clang-format off */
static const struct table_column cause_columns[] = {
    GROUP_COLUMNS(struct gap_cause_row, key),
    COLUMN(struct gap_cause_row, name, "cause", "Cause", TABLE_NAME, "what a part of the idle time is due to"),
    COLUMN(struct gap_cause_row, time_ns, "time", "Idle", TABLE_NS, "such parts of the gaps added up", .aliases = "idle total"),
    COLUMN(struct gap_cause_row, share, "share", "Share", TABLE_SHARE, "share of the idle time of the device, stream, operator ..."),
    COLUMN(struct gap_cause_row, count, "count", "Gaps", TABLE_TALLY, "how many gaps have such a part", .aliases = "gaps"),
    COLUMN(struct gap_cause_row, longest_ns, "longest", "Longest", TABLE_NS, "the longest part"),
    COLUMN(struct gap_cause_row, meaning, "meaning", "Meaning", TABLE_TEXT, "what the cause means", .flags = TABLE_OPTIONAL),
};

static const struct table_column gap_columns[] = {
    COLUMN(struct gap_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct gap_row, device, "device", "Device", TABLE_COUNT, "number of the device", .flags = TABLE_OPTIONAL),
    COLUMN(struct gap_row, stream, "stream", "Stream", TABLE_COUNT, "number of the stream", .flags = TABLE_HIDDEN),
    COLUMN(struct gap_row, start_ns, "start", "Start", TABLE_MOMENT, "when the device ran dry, from the origin of the file"),
    COLUMN(struct gap_row, length_ns, "length", "Length", TABLE_NS, "length of the gap, until the next work started", .aliases = "duration"),
    COLUMN(struct gap_row, cause, "cause", "Cause", TABLE_TEXT, "of its largest part"),
    COLUMN(struct gap_row, share, "cause_share", "Of it", TABLE_SHARE, "the part that is due to this cause"),
    COLUMN(struct gap_row, op, "operator", "Operator", TABLE_NAME, "the operator that launched the work after the gap"),
    COLUMN(struct gap_row, meanwhile, "meanwhile", "Meanwhile", TABLE_NAME, "the innermost call that took most of that part on the launching thread; of a stream wait, the call that requested it"),
    COLUMN(struct gap_row, line, "line", "Line", TABLE_NAME, "line of source that the thread was in", .flags = TABLE_IF_ANY),
    COLUMN(struct gap_row, after, "after", "After", TABLE_NAME, "the work that ended the gap"),
    COLUMN(struct gap_row, before, "before", "Before", TABLE_NAME, "the work that ended last before it"),
    COLUMN(struct gap_row, call, "call", "Call", TABLE_NAME, "the call that launched the work after the gap", .flags = TABLE_OPTIONAL),
    COLUMN(struct gap_row, before_call_ns, "before_call", "Before the call", TABLE_NS, "of the gap, before that call began", .flags = TABLE_OPTIONAL),
    COLUMN(struct gap_row, in_call_ns, "in_call", "In the call", TABLE_NS, "of the gap, while it ran", .flags = TABLE_OPTIONAL),
    COLUMN(struct gap_row, after_call_ns, "after_call", "After the call", TABLE_NS, "of the gap, after it had returned", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

struct table *gaps_causes_table(const struct gaps *gaps)
{
    struct table *table =
        TABLE_OF_ROWS("causes", "Why the devices were idle", cause_columns, gaps->causes, gaps->cause_count);
    table->none = "No device was idle here.";
    group_show(gaps->group, table, offsetof(struct gap_cause_row, key));
    table->uncut = is_of_places(gaps->by); /* these have few rows; operators have many */
    table_add_footer(table, "idle_total", "Idle", TABLE_NS, table_int(gaps->idle_ns));
    return table;
}

static struct text name_of(const struct trace *trace, event_id e)
{
    if (e == EVENT_NONE)
        return (struct text){ 0 };
    return (struct text){ trace_name(trace, e), names_length(trace->names, trace->name[e]) };
}

static struct gap_row row_of(const struct gaps *gaps, const struct gap *gap, const int64_t *origins)
{
    const struct trace *trace = gaps->trace;
    const struct track *stream = &trace->tracks[trace->track[gap->after]];
    int64_t length_ns = gap->end_ns - gap->start_ns;
    bool known = gap->call != EVENT_NONE;
    return (struct gap_row){
        .rank = selection_rank(trace, stream->file),
        .device = stream->device,
        .stream = stream->stream,
        .start_ns = gap->start_ns - origins[stream->file],
        .length_ns = length_ns,
        .cause = as_text(gap_causes[gap->cause].name),
        .share = (double)gap->part_ns[gap->cause] / (double)length_ns,
        .op = name_of(trace, gap->op),
        .meanwhile = name_of(trace, gap->meanwhile),
        .line = gap->line,
        .after = name_of(trace, gap->after),
        .before = name_of(trace, gap->before),
        .call = name_of(trace, gap->call),
        .before_call_ns = known ? gap->phase_ns[GAP_BEFORE_CALL] : TABLE_INT_MISSING,
        .in_call_ns = known ? gap->phase_ns[GAP_IN_CALL] : TABLE_INT_MISSING,
        .after_call_ns = known ? gap->phase_ns[GAP_AFTER_CALL] : TABLE_INT_MISSING,
    };
}

struct table *gaps_table(const struct gaps *gaps)
{
    const struct trace *trace = gaps->trace;
    int64_t *origins = mem_zalloc(trace->file_count + 1, sizeof *origins);
    for (uint32_t f = 0; f < trace->file_count; f++)
        origins[f] = trace_file_span(trace, f).start_ns;
    struct gap_row *rows = mem_zalloc(gaps->count + 1, sizeof *rows);
    for (size_t i = 0; i < gaps->count; i++)
        rows[i] = row_of(gaps, &gaps->at[i], origins);
    struct table *table = TABLE_OF_ROWS("gaps", "The longest gaps", gap_columns, rows, gaps->count);
    table->none = "No gap here is long enough to be listed.";
    if (gaps->by & BY(STREAM))
        TABLE_FLAG(table, struct gap_row, stream, 0);
    if (trace->file_count > 1)
        TABLE_FLAG(table, struct gap_row, rank, 0);
    if (gpu_events_of(trace)->device_count > 1)
        TABLE_FLAG(table, struct gap_row, device, 0);
    table->total_rows = gaps->listed;
    table->sort_column = table_column_at(table, offsetof(struct gap_row, length_ns));
    table_add_footer(table, "micro_gaps", "Shorter gaps, not listed", TABLE_TALLY,
                     table_int((int64_t)gaps->short_count));
    table_add_footer(table, "micro_gaps_time", "Time of these", TABLE_NS, table_int(gaps->short_ns));
    free(rows);
    free(origins);
    return table;
}

/* ---- the command ---- */

static const struct opt options[] = {
    OPT_TIME('m', "min", struct gaps_options, min_ns, "TIME",
             "list gaps of TIME and more; shorter ones count for the causes, but are not listed"),
    OPT_TIME(0, "latency-below", struct gaps_options, latency_below_ns, "TIME",
             "queued work that starts less than TIME after its call returned had launch latency"),
    OPT_END,
};

static bool run_gaps(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    (void)err;
    struct gaps_options own = *(const struct gaps_options *)query->options;
    own.most_gaps = query->most_rows;
    const struct gaps *gaps = gaps_analyze(query->trace, query->selection, query->by, &own);
    result_add_table(result, gaps_causes_table(gaps));
    result_add_table(result, gaps_table(gaps));
    gaps_free(gaps);
    return true;
}

static const struct table_shape tables[] = {
    TABLE_SHAPE("causes", cause_columns),
    TABLE_SHAPE("gaps", gap_columns),
    { 0 },
};

const struct analysis analysis_gaps = {
    .name = "gaps",
    .summary = "why each GPU was idle: its gaps, split into parts that have a cause each",
    .description =
        "Every time in which a device had nothing to do, between its first and its last work, is split where the call "
        "that launched the next work began and returned. Before the call the host was late: it was loading data, in a "
        "synchronization, allocating, communicating, or in Python and operators. In the call it was launching. After it, the "
        "work was queued: launch latency, a wait of the stream for an event, a graph, or what is not recorded. The "
        "parts add up to the idle time of tpa gpu.\n\n"
        "The longest gaps are listed with their largest part, the work before and after, the operator that launched "
        "the work after, and the innermost call and, with stacks, the line of source that took the time. Of the peers, "
        "Nsight Systems lists gaps from 500 ms, and HTA takes gaps of queued work below 30 us for launch latency.",
    .schema = "tpa.gaps/1",
    .examples = {
        "tpa gaps trace.json",
        "tpa gaps --min 500ms trace.json  # as Nsight Systems' rule gpu_gaps",
        "tpa gaps --by op trace.json  # which operators leave the device idle before them",
        "tpa gaps --by stream --stream 7 trace.json",
        "tpa gaps --steps 3..7 --limit 5 --wide trace.json",
    },
    .wants = &gaps_wants,
    .needs = FEATURE_GPU,
    .dimensions = BY(RANK) | BY(DEVICE) | BY(STREAM) | BY(THREAD) | BY(STEP) | BY(OP) | BY(CALL) | BY(MODULE) |
                  BY(KERNEL) | BY(CATEGORY),
    .by_default = BY(DEVICE),
    .by_help = "what makes a row of the causes, device if not given; with stream the gaps are those of each stream",
    .options = options,
    ANALYSIS_DEFAULTS(gaps_defaults),
    .tables = { tables },
    .run = run_gaps,
    .section = "Idle gaps",
    .section_intro =
        "Every time a device was idle, with one cause each.",
    .charts = "gaps",
};
