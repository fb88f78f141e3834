/* sequences.c - the whole, and its command. See sequences.h. */
#include "analyze/sequences/sequences.h"

#include "analyze/sequences/parts.h"
#include "trace/derived.h"
#include "derive/advice.h"
#include "derive/device_types.h"
#include "derive/code_paths.h"
#include "derive/features.h"
#include "derive/file_set.h"
#include <inttypes.h>

const struct trace_wants sequences_wants = {
    /* Modules are those of recorded Python frames, which the last two carry over to the backward pass. */
    .args = GPU_EVENTS_WANTS | WANT(INPUT_DIMS) | WANT(INPUT_TYPES) | WANT(SEQUENCE) | WANT(FWD_THREAD),
};

/* ---- columns ---- */

/* clang-format off */
static const struct table_column short_columns[] = {
    GROUP_COLUMNS(struct short_row, key),
    COLUMN(struct short_row, runs, "runs", "Runs", TABLE_TALLY, "runs of short operations with at least one of the row"),
    COLUMN(struct short_row, operations, "works", "Operations", TABLE_TALLY, "operations of these", .aliases = "operations"),
    COLUMN(struct short_row, work_ns, "work", "Work", TABLE_NS, "their durations added up"),
    COLUMN(struct short_row, idle_ns, "idle", "Idle", TABLE_NS, "time before them, within the runs, in which the device had no work"),
    COLUMN(struct short_row, host_ns, "idle_host", "By host", TABLE_NS, "of it, before operations that were launched after the stream had run empty"),
    COLUMN(struct short_row, device_ns, "idle_device", "By device", TABLE_NS, "of it, before operations that were queued already, or are of the same graph"),
    COLUMN(struct short_row, late_ns, "idle_unknown", "Unknown", TABLE_NS, "of it, before operations whose call is not in the file", .flags = TABLE_OPTIONAL),
};

static const struct table_column run_columns[] = {
    COLUMN(struct run_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct run_row, cycle, "cycle", "Cycle", TABLE_COUNT, "recording of the rank, in order of time from 1, if a rank has several", .flags = TABLE_IF_ANY),
    COLUMN(struct run_row, start_ns, "start", "Start", TABLE_MOMENT, "when the first work began, from the origin of the file"),
    COLUMN(struct run_row, device, "device", "Device", TABLE_COUNT, "number of the device"),
    COLUMN(struct run_row, stream, "stream", "Stream", TABLE_COUNT, "number of the stream"),
    COLUMN(struct run_row, operations, "works", "Operations", TABLE_TALLY, "operations in the run", .aliases = "operations"),
    COLUMN(struct run_row, work_ns, "work", "Work", TABLE_NS, "their durations added up"),
    COLUMN(struct run_row, idle_ns, "idle", "Idle", TABLE_NS, "time between them in which the device had no work"),
    COLUMN(struct run_row, host_ns, "idle_host", "By host", TABLE_NS, "of it, before operations that were launched after the stream had run empty"),
    COLUMN(struct run_row, device_ns, "idle_device", "By device", TABLE_NS, "of it, before operations that were queued already, or are of the same graph", .flags = TABLE_OPTIONAL),
    COLUMN(struct run_row, late_ns, "idle_unknown", "Unknown", TABLE_NS, "of it, before operations whose call is not in the file", .flags = TABLE_OPTIONAL),
    COLUMN(struct run_row, not_queued, "not_queued", "Not queued", TABLE_TALLY, "operations that were launched after the stream had run empty"),
    COLUMN(struct run_row, gain_ns, "graph_gain", "Graph gains", TABLE_NS, "most that launching the run as one graph would gain: its idle time less 1us an operation; missing where most operations were queued", .aliases = "gain"),
    COLUMN(struct run_row, first, "first", "From", TABLE_NAME, "operator of the first work; without one the work"),
    COLUMN(struct run_row, last, "last", "To", TABLE_NAME, "operator of the last work; without one the work"),
};

static const struct table_column fusion_columns[] = {
    COLUMN(struct fusion_row, op, "op", "Below", TABLE_NAME, "outermost operator that launched the first work", .aliases = "operator"),
    COLUMN(struct fusion_row, operations, "works", "Kernels", TABLE_TEXT, "the operations in few words", .flags = TABLE_LIST, .aliases = "operations"),
    COLUMN(struct fusion_row, count, "count", "Times", TABLE_TALLY, "how often these operations lie together"),
    COLUMN(struct fusion_row, length, "length", "Operations", TABLE_TALLY, "operations that could be one"),
    COLUMN(struct fusion_row, work_ns, "work", "Work", TABLE_NS, "their durations added up"),
    COLUMN(struct fusion_row, gaps_ns, "gaps", "Gaps", TABLE_NS, "from the end of each to the start of the next"),
    COLUMN(struct fusion_row, host_ns, "gaps_host", "By host", TABLE_NS, "of the gaps, before operations that were launched after the stream had run empty: fusion or a graph saves them"),
    COLUMN(struct fusion_row, device_ns, "gaps_device", "By device", TABLE_NS, "of the gaps, all others: a graph hardly helps", .flags = TABLE_OPTIONAL),
    COLUMN(struct fusion_row, bytes, "bytes", "Between", TABLE_BYTES, "tensors that one wrote and the next read; missing without sizes", .flags = TABLE_OPTIONAL),
    COLUMN(struct fusion_row, gain_ns, "gain", "Gains about", TABLE_NS, "estimated: the gaps, and the time to write and read these tensors at the bandwidth of the memory"),
    COLUMN(struct fusion_row, names, "names", "Names", TABLE_NAME, "their whole names, with | between", .flags = TABLE_OPTIONAL),
};

static const struct table_column repeat_columns[] = {
    COLUMN(struct repeat_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct repeat_row, cycle, "cycle", "Cycle", TABLE_COUNT, "recording of the rank, in order of time from 1, if a rank has several", .flags = TABLE_IF_ANY),
    COLUMN(struct repeat_row, device, "device", "Device", TABLE_COUNT, "number of the device"),
    COLUMN(struct repeat_row, stream, "stream", "Stream", TABLE_COUNT, "number of the stream"),
    COLUMN(struct repeat_row, count, "count", "Times", TABLE_TALLY, "how often the chain occurs; occurrences do not overlap"),
    COLUMN(struct repeat_row, length, "length", "Operations", TABLE_TALLY, "operations of the chain"),
    COLUMN(struct repeat_row, every, "every", "Every", TABLE_TALLY, "fewest operations from the start of an occurrence to that of the next"),
    COLUMN(struct repeat_row, gaps_ns, "gaps_inside", "Gaps", TABLE_NS, "from the end of each operation to the start of the next, of all occurrences", .aliases = "gaps"),
    COLUMN(struct repeat_row, work_ns, "work", "Work", TABLE_NS, "sum of the durations of the operations of all occurrences"),
    COLUMN(struct repeat_row, start_ns, "start", "First at", TABLE_MOMENT, "when the first began, from the origin of the file", .flags = TABLE_OPTIONAL),
    COLUMN(struct repeat_row, alike, "alike", "Alike", TABLE_COUNT, "chains left out, most of whose operations are of this row; --all shows them", .flags = TABLE_OPTIONAL),
    COLUMN(struct repeat_row, operations, "works", "Kernels", TABLE_TEXT, "the operations in few words", .flags = TABLE_LIST, .aliases = "operations"),
    COLUMN(struct repeat_row, names, "names", "Names", TABLE_NAME, "their whole names, with | between", .flags = TABLE_OPTIONAL),
};

static const struct table_column pattern_columns[] = {
    COLUMN(struct pattern_row, op, "op", "Operator", TABLE_NAME, "the operator", .aliases = "operator"),
    COLUMN(struct pattern_row, count, "count", "Calls", TABLE_TALLY, "outermost calls that launched exactly these operations"),
    COLUMN(struct pattern_row, length, "length", "Operations", TABLE_TALLY, "operations that each launched"),
    COLUMN(struct pattern_row, device_ns, "device_time", "Device time", TABLE_NS, "sum of the durations of the operations of all calls", .aliases = "device"),
    COLUMN(struct pattern_row, host_ns, "host_time", "Host time", TABLE_NS, "durations of the calls added up", .aliases = "host"),
    COLUMN(struct pattern_row, operations, "works", "Kernels", TABLE_TEXT, "the operations in few words, by start", .flags = TABLE_LIST, .aliases = "operations"),
    COLUMN(struct pattern_row, names, "names", "Names", TABLE_NAME, "their whole names, with | between", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

const struct sequence_options sequence_defaults = { .short_ns = 10000, .least = 3 };

struct sequences *sequences_analyze(const struct trace *trace, const struct selection *selection, unsigned by,
                                    const struct sequence_options *options, struct tpa_error *err)
{
    struct sequences *sequences = arena_open(sizeof *sequences);
    ARENA_OWNS(arena_of(sequences), &sequences->repeats, &sequences->shorts, &sequences->runs,
               &sequences->fusions, &sequences->patterns, &sequences->fused);
    struct stream_operations *operations =
        stream_operations_open(trace, selection, selection->by_steps || (by & BY(STEP)) != 0);
    struct work_words *words = work_words_open(trace, arena_of(sequences));
    bool good = true;
    sequences->by = by;
    sequences->group = arena_hold(arena_of(sequences), group_open(trace, by));
    for (size_t i = 0; i < operations->count; i++)
        sequences->unlinked += work_call(operations, &operations->at[i]) == EVENT_NONE;
    if (options->op) {
        good = sequences_add_patterns(sequences, operations, words, options->op, err);
    } else {
        sequences_add_runs(sequences, operations, options, false);
        sequences_add_fusions(sequences, operations, words);
        sequences_add_repeats(sequences, operations, words, options->all);
    }
    sequences->nameless = words->left_out;
    arena_free(words);
    arena_free(operations);
    if (good)
        return sequences;
    arena_free(sequences);
    return NULL;
}

static struct sequences *sequences_find_gains(const struct trace *trace)
{
    struct sequences *sequences = arena_open(sizeof *sequences);
    ARENA_OWNS(arena_of(sequences), &sequences->repeats, &sequences->shorts, &sequences->runs,
               &sequences->fusions, &sequences->patterns, &sequences->fused);
    SCOPED_OBJECT struct stream_operations *operations =
        stream_operations_open(trace, selection_all(trace), true);
    SCOPED_OBJECT struct work_words *words = work_words_open(trace, arena_of(sequences));
    sequences->group = arena_hold(arena_of(sequences), group_open(trace, 0));
    sequences_add_runs(sequences, operations, &sequence_defaults, true);
    sequences_add_fusions(sequences, operations, words);
    return sequences;
}

DERIVED(sequences, sequences_gains_of, sequences_find_gains);

/* ---- the command ---- */

static const struct opt options[] = {
    OPT_TIME(0, "short", struct sequence_options, short_ns, "TIME", "operations shorter than TIME are short"),
    OPT_INT(0, "least", struct sequence_options, least, 2, 1000000, "N",
            "so many short operations in a row are a run"),
    OPT_FLAG('a', "all", struct sequence_options, all,
             "every chain that repeats, also those that lie shifted over another"),
    OPT_TEXT(0, "op", struct sequence_options, op, "NAME",
             "what the calls of this operator launched instead; a regular expression takes several"),
    OPT_END,
};

/* What the runs come to, for the first line that people read. */
static void notice_runs(const struct sequences *sequences, const struct sequence_options *own,
                        const char *graph, const char *graph_option, struct result *result)
{
    const struct short_row *total = &sequences->total;
    SCOPED struct buffer text = { 0 };
    if (total->runs == 0) {
        buffer_puts(&text, "no operations shorter than ");
        quantity_append_time(&text, own->short_ns);
        buffer_printf(&text, " come %" PRId64 " and more in a row", own->least);
    } else {
        buffer_printf(&text, "%" PRId64 " operations shorter than ", total->operations);
        quantity_append_time(&text, own->short_ns);
        buffer_printf(&text,
                      " lie in %" PRId64 " %s of %" PRId64
                      " and more; they take %s, and between them the device is "
                      "idle for %s, %s of it because the host launched late",
                      total->runs, total->runs == 1 ? "run" : "runs", own->least, TIME_TEXT(total->work_ns),
                      TIME_TEXT(total->idle_ns), TIME_TEXT(total->host_ns));
        if (sequences->graph_gain_ns)
            buffer_printf(&text,
                          "; %ss of %" PRId64
                          " of the runs would save %s at most within them (of all work: tpa whatif %s)",
                          graph, sequences->graphs, TIME_TEXT(sequences->graph_gain_ns), graph_option);
    }
    ADD_NOTICE(result, "short_runs", total->runs, "%s", text.at);
    result_make_clause(result);
}

static struct table *shorts_table(const struct sequences *sequences, const char *graph)
{
    const struct short_row *total = &sequences->total;
    struct table *table = TABLE_OF_ROWS("short_runs", "Short operations in a row", short_columns,
                                        sequences->shorts.at, sequences->shorts.count);
    table->none = "No short operations follow one another here.";
    group_fill_texts(sequences->group, table, offsetof(struct short_row, key));
    table->sort_column = table_column_at(table, offsetof(struct short_row, idle_ns));
    table_drop_hidden(table);
    table_add_footer(table, "runs", "Runs", TABLE_TALLY, table_int(total->runs));
    table_add_footer(table, "works", "Operations", TABLE_TALLY, table_int(total->operations));
    table_add_footer(table, "work", "Time of these", TABLE_NS, table_int(total->work_ns));
    table_add_footer(table, "idle", "Idle between", TABLE_NS, table_int(total->idle_ns));
    table_add_footer(table, "idle_host", "Launched late", TABLE_NS, table_int(total->host_ns));
    table_add_footer(table, "graphs", arena_printf(&table->arena, "Runs for a %s", graph), TABLE_TALLY,
                     table_int(sequences->graphs));
    table_add_footer(table, "graph_gain", "Graphs of these runs gain at most", TABLE_NS,
                     table_int(sequences->graph_gain_ns));
    return table;
}

static struct table *runs_table(const struct sequences *sequences, const struct trace *trace)
{
    struct table *table = TABLE_OF_ROWS("runs", "Runs of short operations", run_columns, sequences->runs.at,
                                        sequences->runs.count);
    table->none = "No short operations follow one another here.";
    if (file_set_of(trace)->ranks > 1)
        TABLE_FLAG(table, struct run_row, rank, 0);
    table->sort_column = table_column_at(table, offsetof(struct run_row, gain_ns));
    return table;
}

static struct table *fusions_table(const struct sequences *sequences)
{
    struct table *table = TABLE_OF_ROWS("fusion", "Operations that could be one", fusion_columns,
                                        sequences->fusions.at, sequences->fusions.count);
    table->none = "No two operations in a row could be one.";
    table->sort_column = table_column_at(table, offsetof(struct fusion_row, gain_ns));
    table_add_footer(table, "fusion_gain", "Fusion gains about", TABLE_NS,
                     table_int(sequences->fusion_gain_ns));
    return table;
}

static struct table *repeats_table(const struct sequences *sequences, const struct trace *trace)
{
    struct table *table = TABLE_OF_ROWS("repeats", "Chains that repeat", repeat_columns,
                                        sequences->repeats.at, sequences->repeats.count);
    if (file_set_of(trace)->ranks > 1)
        TABLE_FLAG(table, struct repeat_row, rank, 0);
    table->none = "No chain of operations repeats on a stream.";
    table->sort_column = table_column_at(table, offsetof(struct repeat_row, gaps_ns));
    return table;
}

static void add_notices(const struct sequences *sequences, struct result *result)
{
    if (sequences->unlinked)
        ADD_NOTICE(result, "unlinked", sequences->unlinked,
                   "the call of %" PRId64 " %s is not in the file: what made the gap before is not known",
                   sequences->unlinked, sequences->unlinked == 1 ? "operation" : "operations");
    if (sequences->left_out)
        ADD_NOTICE(result, "chains_left_out", sequences->left_out,
                   "%" PRId64 " more chains repeat, with less time in their gaps", sequences->left_out);
    if (sequences->nameless)
        ADD_NOTICE(result, "names_left_out", sequences->nameless,
                   "%" PRId64 " rows have no whole names: these would take more than 64 MiB",
                   sequences->nameless);
}

static bool run_sequences(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    const struct sequence_options *own = query->options;
    SCOPED_OBJECT struct sequences *sequences =
        sequences_analyze(query->trace, query->selection, query->by, own, err);
    if (!sequences)
        return false;
    if (own->op) {
        struct table *table = TABLE_OF_ROWS("patterns", "What the calls launched", pattern_columns,
                                            sequences->patterns.at, sequences->patterns.count);
        result_add_table(result, table);
    } else {
        const char *graph = trace_advice(query->trace, ADVICE_GRAPH);
        notice_runs(sequences, own, graph, device_type_graph_option(trace_device_type(query->trace)), result);
        result_add_table(result, shorts_table(sequences, graph));
        result_add_table(result, runs_table(sequences, query->trace));
        result_add_table(result, fusions_table(sequences));
        result_add_table(result, repeats_table(sequences, query->trace));
        add_notices(sequences, result);
    }
    return true;
}

static const struct table_shape tables[] = {
    TABLE_SHAPE("short_runs", short_columns), TABLE_SHAPE("runs", run_columns),
    TABLE_SHAPE("fusion", fusion_columns),    TABLE_SHAPE("repeats", repeat_columns),
    TABLE_SHAPE("patterns", pattern_columns), { 0 },
};

const struct analysis analysis_sequences = {
    .name = "sequences",
    .summary = "operations in a row: runs of short ones, what to fuse or put into a graph, chains that repeat",
    .description =
        "Runs of short kernels, copies and memsets on a stream, with the time between them in which the device had "
        "nothing to do. Either the host launched the next too late, or it was queued and the device was late. A CUDA graph "
        "saves the former. Then neighbours that one kernel could do instead, and an estimate of what that "
        "gains. Then chains of 2 to 16 operations that repeat; of those that differ only in where they begin, one "
        "is shown.\n\n"
        "With --op, the operations that the calls of an operator launched, and how often.",
    .schema = "tpa.sequences/1",
    .examples = {
        "tpa sequences trace.json",
        "tpa sequences --by op trace.json  # whose short kernels leave the device idle",
        "tpa sequences --op aten::linear trace.json  # what it launches",
        "tpa sequences --all --format json trace.json",
    },
    .wants = &sequences_wants,
    .needs = FEATURE_GPU,
    .dimensions = BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM) | BY(THREAD) | BY(STEP) | BY(OP) | BY(CALL) | BY(MODULE) |
                  BY(KERNEL),
    .by_default = BY(DEVICE),
    .by_help = "what makes a row of the short operations; device when not given",
    .options = options,
    ANALYSIS_DEFAULTS(sequence_defaults),
    .sorts = true,
    .tables = { tables },
    .run = run_sequences,
    .section = "Sequences",
    .section_intro = "Short operations in a row, which one launch for all or fusion could save the time between, and chains of operations that "
                     "repeat.",
};
