/* gap_finder.h finds them. They are added up, and no more of them are kept than are listed: a trace may have a million.
 * Only these are described in words, because that takes the call tree of the threads. */
#include "analyze/gaps.h"

#include "base/rows.h"
#include "base/sum.h"
#include "derive/code_paths.h"
#include "derive/features.h"
#include "derive/file_set.h"
#include "derive/host_waits.h"
#include "derive/step_list.h"
#include "trace/derived.h"
#include "trace/lost_work.h"
#include "trace/span.h"

const struct trace_wants gaps_wants = { .args = HOST_WAITS_WANTS | CODE_PATHS_WANTS };
enum { LISTED_FROM_NS = 10000 };
const struct gaps_options gaps_defaults = { .min_ns = LISTED_FROM_NS,
                                            .latency_below_ns = GAP_LATENCY_BELOW_NS };

/* ---- listing ---- */

struct cause_sum {
    int64_t count, time_ns, longest_ns;
};

struct group_sums {
    struct cause_sum of[GAP_CAUSES];
};

struct gaps_query {
    const struct gaps_options *options;
    struct gaps *gaps;
    VEC_OF(struct gap) listed;
    bool cut; /* the first options->most_gaps of LISTED are the longest so far, in order; others follow */
    VEC_OF(struct group_sums) sums; /* by group */
};

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

/* Sort what is listed, and keep as many as are wanted. */
static void cut_list(struct gaps_query *query)
{
    size_t most = query->options->most_gaps;
    if (query->listed.count)
        qsort(query->listed.at, query->listed.count, sizeof *query->listed.at, compare_gaps);
    if (most && query->listed.count > most)
        query->listed.count = most;
    query->cut = most && query->listed.count == most;
}

/* A list that is cut now and then takes little memory, and few gaps are added to it later. It is cut when it is twice as long as
 * wanted, so that gaps that grow take no more sorting than others. */
static void list_gap(struct gaps_query *query, const struct gap *gap)
{
    enum { SHORT = 1000 }; /* not worth a cut */
    size_t most = query->options->most_gaps;
    if (query->cut && compare_gaps(gap, &query->listed.at[most - 1]) > 0)
        return;
    *VEC_PUSH(&query->listed) = *gap;
    if (most && query->listed.count >= SHORT && query->listed.count / 2 >= most)
        cut_list(query);
}

/* ---- adding up ---- */

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
    for (int64_t tens = 1; range + 1 < GAP_LENGTHS; tens *= 10)
        for (size_t i = 0; i < 3 && range + 1 < GAP_LENGTHS; i++) {
            if (length_ns < range_starts[i] * tens)
                return range;
            range++;
        }
    return range;
}

static struct group_sums *sums_of(struct gaps_query *query, const struct gap *gap)
{
    uint32_t id = group_of(query->gaps->group, gap->after, gap->call, gap->op);
    while (query->sums.count <= id)
        *VEC_PUSH(&query->sums) = (struct group_sums){ 0 };
    return &query->sums.at[id];
}

/* A gap_taker. */
void gaps_add_usual(void *context, const struct gap *gap)
{
    struct gaps_query *query = context;
    struct gaps *gaps = query->gaps;
    struct group_sums *sums = sums_of(query, gap);
    int64_t length_ns = gap->end_ns - gap->start_ns;
    size_t range = range_of(length_ns);
    for (size_t c = 0; c < GAP_CAUSES; c++) {
        int64_t part_ns = gap->part_ns[c];
        if (part_ns == 0)
            continue;
        struct cause_sum *sum = &sums->of[c];
        sum->count++;
        sum_add(&sum->time_ns, part_ns);
        sum->longest_ns = part_ns > sum->longest_ns ? part_ns : sum->longest_ns;
        if (part_ns > gaps->longest[c].part_ns[c])
            gaps->longest[c] = *gap;
        sum_add(&gaps->part_ns[c], part_ns);
        sum_add(&gaps->length_ns[range][c], part_ns);
    }
    sum_add(&gaps->idle_ns, length_ns);
    if (length_ns < query->options->min_ns) {
        gaps->short_count++;
        sum_add(&gaps->short_ns, length_ns);
        return;
    }
    gaps->listed++;
    if (!query->options->only_causes)
        list_gap(query, gap);
}

/* ---- host activity during gaps ---- */

/* All nesting events of host threads, except steps, which contain everything. */
struct activities {
    const struct trace *trace;
    const struct gpu_events *gpu;
    const struct host_state *host;
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
    activities->gpu = gpu_events_of(trace);
    activities->host = host_state_of(trace);
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

static int64_t overlap_ns(const struct trace *trace, event_id e, const struct interval *stretch)
{
    int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
    start_ns = start_ns > stretch->start_ns ? start_ns : stretch->start_ns;
    end_ns = end_ns < stretch->end_ns ? end_ns : stretch->end_ns;
    return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* Make *LONGEST the longest interval of SET within [START, END) if that is longer. */
static void lengthen(struct interval *longest, const struct intervals *set, int64_t start_ns, int64_t end_ns)
{
    SCOPED_BY(intervals_release) struct intervals within = { 0 };
    intervals_clip(set, start_ns, end_ns, &within);
    for (size_t i = 0; i < within.count; i++)
        if (within.at[i].end_ns - within.at[i].start_ns > longest->end_ns - longest->start_ns)
            *longest = within.at[i];
}

/* The longest interval before the call in which the thread was in none of its activities. */
static struct interval longest_of_host(const struct activities *activities, const struct gap *gap,
                                       int64_t start_ns, int64_t end_ns)
{
    const struct host_thread *thread = &activities->host->threads[activities->trace->track[gap->call]];
    SCOPED_BY(intervals_release) struct intervals all = { 0 }, piece = { 0 }, rest = { 0 };
    intervals_clip(&activities->host->overhead[activities->gpu->devices[gap->device].file], start_ns, end_ns,
                   &all);
    for (size_t a = 0; a < HOST_ACTIVITIES; a++) {
        intervals_clip(&thread->in[a], start_ns, end_ns, &piece);
        for (size_t i = 0; i < piece.count; i++)
            intervals_add(&all, piece.at[i].start_ns, piece.at[i].end_ns);
    }
    intervals_merge(&all);
    struct interval whole = { start_ns, end_ns }, longest = { start_ns, start_ns };
    intervals_subtract(&(struct intervals){ .at = &whole, .count = 1 }, &all, &rest);
    lengthen(&longest, &rest, start_ns, end_ns);
    return longest;
}

/* The longest interval of the largest part of GAP; empty if that part is not about its thread. */
static struct interval longest_stretch(const struct activities *activities, const struct gap *gap)
{
    struct interval longest = { 0, 0 };
    int64_t edge_ns[GAP_PHASES + 1];
    gap_edges(activities->trace, gap, edge_ns);
    const struct host_thread *thread = &activities->host->threads[activities->trace->track[gap->call]];
    if (gap->cause == GAP_HOST)
        return longest_of_host(activities, gap, edge_ns[0], edge_ns[1]);
    for (size_t a = 0; a < HOST_ACTIVITIES; a++)
        if (gap_cause_of_activity[a] == gap->cause)
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
static void describe(const struct activities *activities, struct gap *gap, struct arena *texts)
{
    if (gap->call == EVENT_NONE)
        return;
    const struct calltree *tree = activities->tree;
    const struct calltree_thread *thread = activities->thread[activities->trace->track[gap->call]];
    struct interval stretch = longest_stretch(activities, gap);
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
        gap->line = (struct text){ arena_strndup(texts, line, strlen(line)), strlen(line) };
}

static void describe_gaps(struct gaps *gaps)
{
    if (gaps->count == 0)
        return;
    struct activities activities = { 0 };
    open_activities(&activities, gaps->trace);
    for (size_t i = 0; i < gaps->count; i++)
        describe(&activities, &gaps->at[i], arena_of(gaps));
    arena_free(activities.tree);
    EACH(free, activities.thread, activities.skips, activities.is_step);
}

/* ---- sums ---- */

static const struct key by_time[] = { DESC(struct gap_cause_row, time_ns), KEY_END };

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
    SORT_ARRAY(rows, count, by_time);
    return count;
}

/* Are the groups devices or streams, whose rows stay together? */
static bool is_of_places(unsigned by)
{
    return !(by & ~(BY(DEVICE) | BY(STREAM)));
}

static void gaps_sum_up(struct gaps_query *query)
{
    struct gaps *gaps = query->gaps;
    gaps->causes = mem_zalloc(mem_times(query->sums.count, GAP_CAUSES) + 1, sizeof *gaps->causes);
    for (uint32_t id = 0; id < query->sums.count; id++)
        gaps->cause_count +=
            fill_rows(gaps->causes + gaps->cause_count, &query->sums.at[id], group_key(gaps->group, id));
    if (!is_of_places(gaps->by))
        SORT_ARRAY(gaps->causes, gaps->cause_count, by_time);
}

/* A query for the gaps of TRACE, of which none is there yet. OPTIONS are borrowed. */
static struct gaps_query gaps_query_of(const struct trace *trace, unsigned by,
                                       const struct gaps_options *options)
{
    struct gaps *gaps = arena_open(sizeof *gaps);
    ARENA_OWNS(arena_of(gaps), &gaps->at, &gaps->causes);
    gaps->trace = trace;
    gaps->by = by;
    gaps->group = arena_hold(arena_of(gaps), group_open(trace, by));
    return (struct gaps_query){ .options = options, .gaps = gaps };
}

/* The gaps of QUERY, all of which are there. */
static struct gaps *gaps_finish(struct gaps_query *query)
{
    gaps_sum_up(query);
    cut_list(query);
    query->gaps->at = query->listed.at;
    query->gaps->count = query->listed.count;
    VEC_FREE(&query->sums);
    return query->gaps;
}

/* The gaps that are listed are not described. */
static struct gaps *gaps_own_analyze(const struct trace *trace, const struct selection *selection,
                                     unsigned by, const struct gaps_options *options)
{
    struct gaps_query query = gaps_query_of(trace, by, options);
    struct gap_finder *finder = gap_finder_open(trace, selection, 0, options->latency_below_ns);
    if (by & BY(STREAM))
        gap_finder_visit_streams(finder, gaps_add_usual, &query);
    else
        for (uint32_t d = 0; d < gpu_events_of(trace)->device_count; d++)
            gap_finder_visit(finder, d, gaps_add_usual, &query);
    arena_free(finder);
    return gaps_finish(&query);
}

/* What a report asks for its first screen, its section and the colours of the timeline: computed once. */
enum { USUALLY_LISTED = 1000 };
static const struct gaps_options usual_options = { .min_ns = LISTED_FROM_NS,
                                                   .latency_below_ns = GAP_LATENCY_BELOW_NS,
                                                   .most_gaps = USUALLY_LISTED };

static struct gaps *gaps_find_usual(const struct trace *trace)
{
    return gaps_own_analyze(trace, NULL, BY(DEVICE), &usual_options);
}

static const struct gaps *gaps_usual(const struct trace *trace);
DERIVED(gaps, gaps_usual, gaps_find_usual);

struct gaps_query *gaps_open_usual(const struct trace *trace)
{
    if (trace_derived(trace, &gaps_usual_derivation))
        return NULL;
    struct gaps_query *query = mem_alloc(sizeof *query);
    *query = gaps_query_of(trace, BY(DEVICE), &usual_options);
    return query;
}

void gaps_close_usual(struct gaps_query *query)
{
    struct gaps *gaps = gaps_finish(query);
    free(query);
    trace_offer(gaps->trace, &gaps_usual_derivation, gaps);
}

/* The same with the first MOST gaps, to be described; borrows causes and group. */
static struct gaps *with_gaps_of(const struct gaps *usual, size_t most)
{
    struct gaps *gaps = arena_open(sizeof *gaps);
    *gaps = *usual;
    gaps->count = usual->count < most ? usual->count : most;
    gaps->at = arena_alloc(arena_of(gaps), mem_times(gaps->count, sizeof *gaps->at));
    if (gaps->count)
        memcpy(gaps->at, usual->at, gaps->count * sizeof *gaps->at);
    return gaps;
}

const struct gaps *gaps_analyze(const struct trace *trace, const struct selection *selection, unsigned by,
                                const struct gaps_options *options)
{
    bool listed_usually = options->most_gaps && options->most_gaps <= USUALLY_LISTED;
    const struct gaps *usual = NULL;
    if (by == BY(DEVICE) && (options->only_causes || listed_usually) &&
        options->min_ns == gaps_defaults.min_ns &&
        options->latency_below_ns == gaps_defaults.latency_below_ns && selection_is_all(selection))
        usual = gaps_usual(trace);
    if (usual && options->only_causes)
        return usual;
    struct gaps *gaps =
        usual ? with_gaps_of(usual, options->most_gaps) : gaps_own_analyze(trace, selection, by, options);
    describe_gaps(gaps);
    return gaps;
}

/* ---- tables ---- */

/* A row of the table "gaps". */
struct gap_row {
    int64_t rank, cycle, device, stream;
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
    COLUMN(struct gap_row, cycle, "cycle", "Cycle", TABLE_COUNT, "recording of the rank, in order of time from 1, if a rank has several", .flags = TABLE_IF_ANY),
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
    group_fill_texts(gaps->group, table, offsetof(struct gap_cause_row, key));
    table->uncut = is_of_places(gaps->by); /* these have few rows; operators have many */
    table_add_footer(table, "idle_total",
                     trace_lost_much(gaps->trace) ? "Idle, or work that was lost" : "Idle", TABLE_NS,
                     table_int(gaps->idle_ns));
    return table;
}

static struct text gaps_name_of(const struct trace *trace, event_id e)
{
    if (e == EVENT_NONE)
        return (struct text){ 0 };
    return (struct text){ trace_name(trace, e), names_length(trace->names, trace->name[e]) };
}

static struct gap_row gaps_row_of(const struct gaps *gaps, const struct gap *gap, const int64_t *origins)
{
    const struct trace *trace = gaps->trace;
    const struct track *stream = &trace->tracks[trace->track[gap->after]];
    int64_t length_ns = gap->end_ns - gap->start_ns;
    bool known = gap->call != EVENT_NONE;
    return (struct gap_row){
        .rank = selection_rank(trace, stream->file),
        .cycle = selection_cycle(trace, stream->file),
        .device = stream->device,
        .stream = stream->stream,
        .start_ns = gap->start_ns - origins[stream->file],
        .length_ns = length_ns,
        .cause = as_text(gap_causes[gap->cause].name),
        .share = (double)gap->part_ns[gap->cause] / (double)length_ns,
        .op = gaps_name_of(trace, gap->op),
        .meanwhile = gaps_name_of(trace, gap->meanwhile),
        .line = gap->line,
        .after = gaps_name_of(trace, gap->after),
        .before = gaps_name_of(trace, gap->before),
        .call = gaps_name_of(trace, gap->call),
        .before_call_ns = known ? gap->phase_ns[GAP_BEFORE_CALL] : TABLE_INT_MISSING,
        .in_call_ns = known ? gap->phase_ns[GAP_IN_CALL] : TABLE_INT_MISSING,
        .after_call_ns = known ? gap->phase_ns[GAP_AFTER_CALL] : TABLE_INT_MISSING,
    };
}

struct table *gaps_table(const struct gaps *gaps)
{
    const struct trace *trace = gaps->trace;
    SCOPED int64_t *origins = mem_zalloc(trace->file_count + 1, sizeof *origins);
    for (uint32_t f = 0; f < trace->file_count; f++)
        origins[f] = trace_file_span(trace, f).start_ns;
    SCOPED struct gap_row *rows = mem_zalloc(gaps->count + 1, sizeof *rows);
    for (size_t i = 0; i < gaps->count; i++)
        rows[i] = gaps_row_of(gaps, &gaps->at[i], origins);
    struct table *table = TABLE_OF_ROWS("gaps", "The longest gaps", gap_columns, rows, gaps->count);
    table->none = "No gap here is long enough to be listed.";
    if (gaps->by & BY(STREAM))
        TABLE_FLAG(table, struct gap_row, stream, 0);
    if (file_set_of(trace)->ranks > 1)
        TABLE_FLAG(table, struct gap_row, rank, 0);
    if (gpu_events_of(trace)->device_count > 1)
        TABLE_FLAG(table, struct gap_row, device, 0);
    table->total_rows = gaps->listed;
    table->sort_column = table_column_at(table, offsetof(struct gap_row, length_ns));
    table_add_footer(table, "micro_gaps", "Shorter gaps, not listed", TABLE_TALLY,
                     table_int((int64_t)gaps->short_count));
    table_add_footer(table, "micro_gaps_time", "Time of these", TABLE_NS, table_int(gaps->short_ns));
    return table;
}

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
    SCOPED_OBJECT const struct gaps *gaps = gaps_analyze(query->trace, query->selection, query->by, &own);
    result_add_table(result, gaps_causes_table(gaps));
    result_add_table(result, gaps_table(gaps));
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
        "The longest gaps are listed with their largest part, the work before and after, and the operator that launched "
        "the work after. The innermost call and, with stacks, the line of source tell where the time went. Of the peers, "
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
    .dimensions = BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM) | BY(THREAD) | BY(STEP) | BY(OP) | BY(CALL) | BY(MODULE) |
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
