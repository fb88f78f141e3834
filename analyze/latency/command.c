/* command.c - the columns of tpa latency, and the command. */
#include "analyze/latency/latency.h"

#include "derive/features.h"
#include "derive/file_set.h"
#include <inttypes.h>
#include <math.h>

/* clang-format off */
#define PART_COLUMN(id, word, key_, title_, help_) \
    COLUMN(struct latency_row, part_ns[LATENCY_##id], key_, title_, TABLE_NS, help_, .flags = TABLE_OPTIONAL),

static const struct table_column range_columns[] = {
    GROUP_COLUMNS(struct latency_row, key),
    COLUMN(struct latency_row, name, "name", "Name", TABLE_NAME, "the range, with * for numbers"),
    COLUMN(struct latency_row, count, "count", "Times", TABLE_TALLY, "how often it occurs"),
    COLUMN(struct latency_row, mean_ns, "mean", "Mean", TABLE_NS, "mean duration", .aliases = "average"),
    COLUMN(struct latency_row, p50_ns, "p50", "p50", TABLE_NS, "duration that half of them do not exceed; missing: fewer than three", .aliases = "median"),
    COLUMN(struct latency_row, p90_ns, "p90", "p90", TABLE_NS, "duration that 90 % of them do not exceed", .flags = TABLE_OPTIONAL),
    COLUMN(struct latency_row, p95_ns, "p95", "p95", TABLE_NS, "duration that 95 % of them do not exceed"),
    COLUMN(struct latency_row, p99_ns, "p99", "p99", TABLE_NS, "duration that 99 % of them do not exceed"),
    COLUMN(struct latency_row, max_ns, "max", "Max", TABLE_NS, "longest duration"),
    COLUMN(struct latency_row, stddev_ns, "stddev", "Std dev", TABLE_NS, "standard deviation of the durations", .flags = TABLE_OPTIONAL, .aliases = "deviation std"),
    COLUMN(struct latency_row, min_ns, "min", "Min", TABLE_NS, "shortest duration", .flags = TABLE_OPTIONAL),
    COLUMN(struct latency_row, total_ns, "total", "Total", TABLE_NS, "durations added up", .flags = TABLE_OPTIONAL, .aliases = "sum"),
    COLUMN(struct latency_row, busy_ns, "busy", "Busy", TABLE_NS, "time of them in which a device of their file had work"),
    COLUMN(struct latency_row, idle_ns, "idle", "Idle", TABLE_NS, "time of them in which none had"),
    COLUMN(struct latency_row, outliers, "outliers", "Outliers", TABLE_TALLY, "those that took far longer than the others"),
    COLUMN(struct latency_row, operations, "works", "Operations", TABLE_TALLY, "kernels, copies and memsets that their threads launched within", .flags = TABLE_OPTIONAL, .aliases = "operations"),
    COLUMN(struct latency_row, work_ns, "work", "Work", TABLE_NS, "durations of these added up", .flags = TABLE_OPTIONAL),
    LATENCY_PART_ROWS(PART_COLUMN)
};

static const struct table_column phase_columns[] = {
    GROUP_COLUMNS(struct phase_row, key),
    COLUMN(struct phase_row, phase, "phase", "Phase", TABLE_TEXT, "prefill, decode, mixed (both), diffusion"),
    COLUMN(struct phase_row, batch, "batch", "Batch", TABLE_COUNT, "requests of a step", .flags = TABLE_IF_ANY),
    COLUMN(struct phase_row, steps, "steps", "Steps", TABLE_COUNT, "steps of the phase"),
    COLUMN(struct phase_row, requests, "requests", "Requests", TABLE_TALLY, "requests of all steps added up", .flags = TABLE_OPTIONAL),
    COLUMN(struct phase_row, tokens, "tokens", "Tokens", TABLE_TALLY, "tokens that went through the model; missing where a step does not record them"),
    COLUMN(struct phase_row, wall_ns, "wall", "Wall", TABLE_NS, "from the start of each step to the end of it and of the work it launched"),
    COLUMN(struct phase_row, step_ns, "step", "A step", TABLE_NS, "mean wall time of a step", .aliases = "average"),
    COLUMN(struct phase_row, tokens_per_second, "tokens_per_second", "Tokens/s", TABLE_NUMBER, "tokens by wall time"),
    COLUMN(struct phase_row, token_ns, "token", "A token", TABLE_NS, "wall time by tokens", .aliases = "per_token"),
    COLUMN(struct phase_row, busy_ns, "device_busy", "Busy", TABLE_NS, "of wall: the steps' own work ran on a device", .aliases = "busy"),
    COLUMN(struct phase_row, idle_ns, "device_idle", "Idle", TABLE_NS, "of wall: none of it did", .aliases = "idle"),
    COLUMN(struct phase_row, mean_batch, "mean_batch", "Mean batch", TABLE_NUMBER, "mean requests of a step", .flags = TABLE_OPTIONAL),
    COLUMN(struct phase_row, least_batch, "min_batch", "Min batch", TABLE_COUNT, "fewest requests of a step", .flags = TABLE_OPTIONAL),
    COLUMN(struct phase_row, most_batch, "max_batch", "Max batch", TABLE_COUNT, "most requests of a step", .flags = TABLE_OPTIONAL),
};

static const struct table_column outlier_columns[] = {
    COLUMN(struct latency_outlier, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct latency_outlier, cycle, "cycle", "Cycle", TABLE_COUNT, "recording of the rank, in order of time from 1, if a rank has several", .flags = TABLE_IF_ANY),
    COLUMN(struct latency_outlier, start_ns, "start", "Start", TABLE_MOMENT, "when it began, from the origin of the file"),
    COLUMN(struct latency_outlier, name, "name", "Name", TABLE_NAME, "its name in the file"),
    COLUMN(struct latency_outlier, duration_ns, "duration", "Took", TABLE_NS, "its duration"),
    COLUMN(struct latency_outlier, median_ns, "median", "Median", TABLE_NS, "p50 of its row"),
    COLUMN(struct latency_outlier, longer_ns, "longer", "Longer by", TABLE_NS, "duration less median"),
    COLUMN(struct latency_outlier, part, "part", "What grew", TABLE_TEXT, "the part that is most above its median over the row"),
    COLUMN(struct latency_outlier, grew_ns, "grew", "By", TABLE_NS, "how much that is"),
    COLUMN(struct latency_outlier, operations, "works", "Operations", TABLE_TALLY, "kernels, copies and memsets launched within", .flags = TABLE_OPTIONAL, .aliases = "operations"),
    COLUMN(struct latency_outlier, median_operations, "median_works", "Median operations", TABLE_COUNT, "median of these over the row", .flags = TABLE_OPTIONAL, .aliases = "median_operations"),
    COLUMN(struct latency_outlier, thread, "thread", "Thread", TABLE_TEXT, "number of the host thread, and its name", .flags = TABLE_OPTIONAL),
};

static const struct table_column bar_columns[] = {
    GROUP_COLUMNS(struct latency_bar, key),
    COLUMN(struct latency_bar, name, "name", "Name", TABLE_NAME, "the range, with * for numbers"),
    COLUMN(struct latency_bar, from_ns, "from", "From", TABLE_NS, "this long"),
    COLUMN(struct latency_bar, to_ns, "to", "Below", TABLE_NS, "and shorter than this"),
    COLUMN(struct latency_bar, count, "count", "Times", TABLE_TALLY, "how many are"),
    COLUMN(struct latency_bar, share, "share", "Share", TABLE_SHARE, "of those of the row"),
};
/* clang-format on */

static const struct opt options[] = {
    OPT_TEXT(0, "name", struct latency_options, name, "REGEX",
             "only ranges whose name matches REGEX: also operators, Python functions and calls"),
    OPT_FLAG(0, "exact", struct latency_options, exact,
             "names that differ only in numbers are different rows"),
    OPT_INT(0, "least", struct latency_options, least, 1, 1000000, "N",
            "leave out what occurs less than N times"),
    OPT_FLAG(0, "histogram", struct latency_options, histogram, "also how many took how long"),
    OPT_END,
};

/* ---- the first line ---- */

static void append_time(struct buffer *out, int64_t ns)
{
    quantity_append_rounded_time(out, (double)ns);
}

static void append_phase(const struct phase_row *row, struct buffer *out)
{
    bool one = row->steps == 1;
    buffer_printf(out, "%s: a step takes ", row->phase.at);
    append_time(out, row->step_ns);
    if (one)
        buffer_printf(out, " (1 step, %.3g %s", row->mean_batch,
                      row->mean_batch == 1 ? "request" : "requests");
    else
        buffer_printf(out, " on average (%" PRId64 " steps of %.3g %s", row->steps, row->mean_batch,
                      row->mean_batch == 1 ? "request" : "requests");
    buffer_putc(out, ')');
    if (!isnan(row->tokens_per_second)) {
        buffer_printf(out, ", %s tokens a second", TALLY_TEXT(llround(row->tokens_per_second)));
    }
    if (row->idle_ns != TABLE_INT_MISSING && row->wall_ns > 0)
        buffer_printf(out, "; a device is busy with it for %.1f %% of that",
                      100 * (double)(row->wall_ns - row->idle_ns) / (double)row->wall_ns);
}

/* The row that takes the most time, and its worst outlier. */
static void append_row(const struct latency_row *row, struct buffer *out)
{
    buffer_printf(out, "%s: %" PRId64 " times, ", row->name.at, row->count);
    if (row->p50_ns != TABLE_INT_MISSING) {
        buffer_puts(out, "half of them within ");
        append_time(out, row->p50_ns);
        buffer_puts(out, ", 99 % within ");
        append_time(out, row->p99_ns);
    } else {
        append_time(out, row->mean_ns);
        buffer_puts(out, " on average");
    }
    buffer_puts(out, ", the longest ");
    append_time(out, row->max_ns);
    if (row->outliers)
        buffer_printf(out, "; %" PRId64 " took far longer than the others", row->outliers);
}

static void command_notice(const struct latency *latency, struct result *result)
{
    SCOPED struct buffer text = { 0 };
    size_t phases = latency->serving.all.count < 4 ? latency->serving.all.count : 4;
    for (size_t i = 0; i < (phases ? phases : latency->rows.count > 0); i++) {
        buffer_clear(&text);
        if (phases)
            append_phase(&latency->serving.all.at[i], &text);
        else
            append_row(&latency->rows.at[0], &text);
        ADD_NOTICE(result, phases ? "phase" : "latency", 1, "%s", text.at);
        result_make_clause(result);
    }
}

/* ---- tables ---- */

static struct table *ranges_table(const struct latency *latency)
{
    struct table *table =
        TABLE_OF_ROWS("ranges", "How long each takes", range_columns, latency->rows.at, latency->rows.count);
    table->none = "No name occurs often enough for statistics of its times.";
    group_fill_texts(latency->group, table, offsetof(struct latency_row, key));
    table->sort_column = table_column_at(table, offsetof(struct latency_row, total_ns));
    table_drop_hidden(table);
    return table;
}

static void add_phases(const struct latency *latency, struct result *result)
{
    struct table *phases = TABLE_OF_ROWS("phases", "Steps by phase", phase_columns, latency->serving.all.at,
                                         latency->serving.all.count);
    struct table *batches = TABLE_OF_ROWS("batches", "Steps by phase and batch size", phase_columns,
                                          latency->serving.batches.at, latency->serving.batches.count);
    group_fill_texts(latency->group, phases, offsetof(struct phase_row, key));
    group_fill_texts(latency->group, batches, offsetof(struct phase_row, key));
    TABLE_FLAG(batches, struct phase_row, mean_batch, TABLE_HIDDEN);
    TABLE_FLAG(batches, struct phase_row, least_batch, TABLE_HIDDEN);
    TABLE_FLAG(batches, struct phase_row, most_batch, TABLE_HIDDEN);
    table_drop_hidden(phases);
    table_drop_hidden(batches);
    result_add_table(result, phases);
    result_add_table(result, batches);
}

static void command_add_outliers(const struct latency *latency, const struct trace *trace,
                                 struct result *result)
{
    struct table *table =
        TABLE_OF_ROWS("outliers", "Outliers", outlier_columns, latency->outliers.at, latency->outliers.count);
    table->none = "No range took far longer than the others of its name.";
    if (file_set_of(trace)->ranks > 1)
        TABLE_FLAG(table, struct latency_outlier, rank, 0);
    table->sort_column = table_column_at(table, offsetof(struct latency_outlier, longer_ns));
    result_add_table(result, table);
}

static void command_add_bars(const struct latency *latency, struct result *result)
{
    struct table *table = TABLE_OF_ROWS("histogram", "How many took how long", bar_columns, latency->bars.at,
                                        latency->bars.count);
    group_fill_texts(latency->group, table, offsetof(struct latency_bar, key));
    table_drop_hidden(table);
    result_add_table(result, table);
}

static void add_notices(const struct latency *latency, const struct latency_options *own,
                        struct result *result)
{
    if (latency->rows.count == 0) {
        result_cannot_answer(result, "nothing_repeats", "nothing of this sort repeats",
                             "record several iterations, or name other ranges with --name");
        ADD_NOTICE(result, "nothing_repeats", 0, "no %s occurs %" PRId64 " times%s",
                   own->name ? "range of this name" : "annotation", own->least,
                   own->name ? "" : "; --name takes operators and other ranges, too");
    }
    if (latency->single)
        ADD_NOTICE(result, "rare", latency->single,
                   "%" PRId64 " %s of names that occur less than %" PRId64 " times %s left out",
                   latency->single, latency->single == 1 ? "range" : "ranges", own->least,
                   latency->single == 1 ? "is" : "are");
    if (latency->open)
        ADD_NOTICE(result, "open_ranges", latency->open,
                   "%" PRId64 " %s still open when recording stopped, and %s left out", latency->open,
                   latency->open == 1 ? "range was" : "ranges were", latency->open == 1 ? "is" : "are");
}

static bool run_latency(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    struct latency_options own = *(const struct latency_options *)query->options;
    SCOPED_OBJECT const struct latency *latency =
        latency_analyze(query->trace, query->selection, query->by, &own, err);
    if (!latency)
        return false;
    command_notice(latency, result);
    result_add_table(result, ranges_table(latency));
    if (latency->serving.all.count)
        add_phases(latency, result);
    if (latency->outliers.count || !query->for_people)
        command_add_outliers(latency, query->trace, result);
    if (own.histogram)
        command_add_bars(latency, result);
    add_notices(latency, &own, result);
    return true;
}

static const struct table_shape tables[] = {
    TABLE_SHAPE("ranges", range_columns),  TABLE_SHAPE("phases", phase_columns),
    TABLE_SHAPE("batches", phase_columns), TABLE_SHAPE("outliers", outlier_columns),
    TABLE_SHAPE("histogram", bar_columns), { 0 },
};

const struct analysis analysis_latency = {
    .name = "latency",
    .summary = "how long what repeats takes: annotations, NVTX ranges, steps, requests; prefill and decode",
    .description =
        "One row per name: the mean, the percentiles and the longest, and how long the devices were busy and idle within. "
        "Outliers took far longer than the others; each is listed with the part that grew: computation, communication, "
        "copies, waiting, allocation, data loading, or the host. Names that differ only in numbers are one row.\n\n"
        "Where annotations of vLLM, SGLang, ATOM or TensorRT-LLM mark steps, also a row for each phase (prefill, decode, "
        "mixed) and batch size: requests, tokens, tokens a second, time of a step and of a token.",
    .schema = "tpa.latency/1",
    .examples = {
        "tpa latency trace.json",
        "tpa latency --by rank rank*.json",
        "tpa latency --name '^aten::(mm|addmm)$' trace.json  # of operators",
        "tpa latency --histogram --limit 20 trace.json",
        "tpa chart --type latency trace.json",
    },
    .wants = &latency_wants,
    .needs = FEATURE_EVENTS,
    .dimensions = BY(RANK) | BY(CYCLE) | BY(THREAD) | BY(STEP) | BY(MODULE) | BY(CATEGORY),
    .by_help = "what makes a row besides the name",
    .options = options,
    ANALYSIS_DEFAULTS(latency_defaults),
    .sorts = true,
    .run = run_latency,
    .tables = { tables },
    .section = "Latency",
    .section_intro =
        "How long each annotation, step and request takes, what the devices did meanwhile, and which took far longer.",
    .section_needs = FEATURE_ANNOTATIONS,
    .charts = "latency",
};
