/*
 * tables.c - a profile as tables.
 *
 * Times become integer nanoseconds here, each once, from the exact double: a percall is the quotient of two figures of
 * the file, rounded, not a quotient of rounded figures.
 */
#include "profile/view.h"

#include "base/rows.h"
#include "base/sum.h"

#include <inttypes.h>
#include <math.h>

struct function_row {
    struct text name, ncalls;
    int64_t calls, primitive_calls;
    int64_t tottime_ns, cumtime_ns, tottime_percall_ns, cumtime_percall_ns;
    double tottime_share, cumtime_share;
    struct text file, function;
    int64_t line;
};

/* The calls of a function by one caller, or to one callee. */
struct call_row {
    struct text name, other, ncalls;
    int64_t calls, primitive_calls, tottime_ns, cumtime_ns;
    double share;
};

/* A kernel, or a scope that launched some. */
struct device_row {
    struct text name, device_type;
    int64_t device, self_device_ns, device_ns, count, flops, bytes;
    double share, tflops, tbs, intensity;
};

struct action_row {
    struct text name;
    int64_t mean_ns, calls, total_ns;
    double share;
};

/* clang-format off */
static const struct table_column function_columns[] = {
    COLUMN(struct function_row, name, "name", "filename:lineno(function)", TABLE_NAME, "the function; built-in ones in braces"),
    COLUMN(struct function_row, ncalls, "ncalls", "ncalls", TABLE_TEXT, "calls, and behind the slash those not from within itself when they are fewer", .flags = TABLE_FIGURES),
    COLUMN(struct function_row, calls, "calls", "calls", TABLE_TALLY, "calls, recursive ones too", .flags = TABLE_OPTIONAL, .aliases = "count"),
    COLUMN(struct function_row, primitive_calls, "pcalls", "primitive calls", TABLE_TALLY, "calls not from within the function itself", .flags = TABLE_OPTIONAL),
    COLUMN(struct function_row, tottime_ns, "tottime", "tottime", TABLE_NS, "time in the function itself, without what it called", .aliases = "time self_cpu_time_total"),
    COLUMN(struct function_row, tottime_share, "tottime_share", "tottime %", TABLE_SHARE, "tottime as a share of that of all functions"),
    COLUMN(struct function_row, tottime_percall_ns, "tottime_percall", "percall", TABLE_NS, "tottime by calls", .aliases = "self_cpu_time"),
    COLUMN(struct function_row, cumtime_ns, "cumtime", "cumtime", TABLE_NS, "time in the function and all that it called; recursive calls count once", .aliases = "cumulative cpu_time_total"),
    COLUMN(struct function_row, cumtime_share, "cumtime_share", "cumtime %", TABLE_SHARE, "cumtime as a share of the tottime of all functions"),
    COLUMN(struct function_row, cumtime_percall_ns, "cumtime_percall", "percall", TABLE_NS, "cumtime by primitive calls", .aliases = "cpu_time"),
    COLUMN(struct function_row, file, "file", "file", TABLE_TEXT, "where it is defined; ~ for built-in functions", .flags = TABLE_OPTIONAL, .aliases = "filename module"),
    COLUMN(struct function_row, line, "line", "line", TABLE_COUNT, "the line where it begins", .flags = TABLE_OPTIONAL),
    COLUMN(struct function_row, function, "function", "function", TABLE_TEXT, "its name alone", .flags = TABLE_OPTIONAL),
};

#define CALL_COLUMNS(other_key, other_help) { \
    COLUMN(struct call_row, name, "name", "function", TABLE_NAME, "the selected function"), \
    COLUMN(struct call_row, other, other_key, other_key, TABLE_NAME, other_help), \
    COLUMN(struct call_row, ncalls, "ncalls", "ncalls", TABLE_TEXT, "calls from the caller to the callee; behind the slash those that were not recursive", .flags = TABLE_FIGURES), \
    COLUMN(struct call_row, calls, "calls", "calls", TABLE_TALLY, "calls from the caller to the callee", .flags = TABLE_OPTIONAL, .aliases = "count"), \
    COLUMN(struct call_row, primitive_calls, "pcalls", "primitive calls", TABLE_TALLY, "those of them that were not recursive", .flags = TABLE_OPTIONAL), \
    COLUMN(struct call_row, tottime_ns, "tottime", "tottime", TABLE_NS, "time in the callee itself during these calls"), \
    COLUMN(struct call_row, cumtime_ns, "cumtime", "cumtime", TABLE_NS, "time in the callee and all that it called, during these calls"), \
    COLUMN(struct call_row, share, "share", "share", TABLE_SHARE, "cumtime of these calls as a share of the function's"), \
}
static const struct table_column caller_columns[] = CALL_COLUMNS("caller", "who called it");
static const struct table_column callee_columns[] = CALL_COLUMNS("callee", "whom it called");

static const struct table_column device_columns[] = {
    COLUMN(struct device_row, name, "name", "Name", TABLE_NAME, "the kernel, or the scope around it"),
    COLUMN(struct device_row, device, "device", "Device", TABLE_COUNT, "number of the device, with --by device", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, device_type, "device_type", "Device type", TABLE_TEXT, "type of the device of a kernel; CPU for a scope; missing where it ran on several", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, self_device_ns, "self_device_time_total", "Self device", TABLE_NS, "time of the kernel itself on devices", .aliases = "tottime time self_cuda_time_total"),
    COLUMN(struct device_row, share, "self_device_percent", "Self device %", TABLE_SHARE, "part of the time of all kernels"),
    COLUMN(struct device_row, device_ns, "device_time_total", "Device total", TABLE_NS, "time on devices of all that it launched", .aliases = "cumtime cumulative cuda_time_total"),
    COLUMN(struct device_row, count, "count", "# of Calls", TABLE_TALLY, "how often the kernel ran; of scopes not recorded", .aliases = "calls ncalls"),
    COLUMN(struct device_row, flops, "flops", "Total FLOPs", TABLE_FLOPS, "floating-point operations of the kernel, as the program gave Proton", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, bytes, "bytes", "Bytes", TABLE_BYTES, "bytes that the kernel moved, as the program gave Proton", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, tflops, "tflops", "TFLOP/s", TABLE_NUMBER, "10^12 operations per second of the time of runs with FLOPs", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, tbs, "tbs", "TB/s", TABLE_NUMBER, "10^12 bytes per second of the time of runs with bytes", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, intensity, "intensity", "FLOP/B", TABLE_NUMBER, "operations for each byte, where all runs have both", .flags = TABLE_OPTIONAL),
};

static const struct table_column action_columns[] = {
    COLUMN(struct action_row, name, "name", "Action", TABLE_NAME, "what Lightning did; actions may run inside one another"),
    COLUMN(struct action_row, mean_ns, "mean", "Mean duration", TABLE_NS, "total time by calls"),
    COLUMN(struct action_row, calls, "count", "Num calls", TABLE_TALLY, "how often it was done", .aliases = "calls ncalls"),
    COLUMN(struct action_row, total_ns, "total", "Total time", TABLE_NS, "how long it took in all", .aliases = "cpu_time_total time tottime cumtime"),
    COLUMN(struct action_row, share, "share", "Percentage", TABLE_SHARE, "of the time since the profiler was made"),
};
/* clang-format on */

/* The texts of a row, until it is in the table. */
struct row_texts {
    struct buffer name, other;
    char ncalls[64];
};

static struct text tables_name_of(struct buffer *text, const struct profile_function *function)
{
    buffer_clear(text);
    profile_function_text(function, text);
    return (struct text){ text->at ? text->at : "", text->count };
}

/* "12", or "12/3" if some are recursive. */
static struct text ncalls_of(char text[64], int64_t calls, int64_t primitive_calls)
{
    int len = calls == primitive_calls ? snprintf(text, 64, "%" PRId64, calls)
                                       : snprintf(text, 64, "%" PRId64 "/%" PRId64, calls, primitive_calls);
    return (struct text){ text, (size_t)len };
}

/* The calls of a function, with yappi's swapped counts corrected. */
static void true_calls(const struct profile *profile, const struct profile_cost *cost, int64_t *calls,
                       int64_t *primitive_calls)
{
    *calls = profile->counts_swapped ? cost->primitive_calls : cost->calls;
    *primitive_calls = profile->counts_swapped ? cost->calls : cost->primitive_calls;
}

/* A time that is not a finite number of nanoseconds below 2^63 is shown as missing: see add_odd_times. */
static bool has_ns(double seconds)
{
    return fabs(seconds) < 0x1p63 / 1e9;
}

static int64_t ns_of(double seconds)
{
    return has_ns(seconds) ? profile_ns(seconds) : TABLE_INT_MISSING;
}

static double tables_share_of(double part, double whole)
{
    return whole > 0 && isfinite(part / whole) ? part / whole : NAN;
}

/* SECONDS divided by CALLS. */
static int64_t percall_of(const struct profile *profile, double seconds, int64_t calls)
{
    return calls != 0 && !profile->sampled ? ns_of(seconds / (double)calls) : TABLE_INT_MISSING;
}

/* The row of FUNCTION; valid until the next one is made with the same TEXTS. */
static struct function_row function_row_of(const struct profile *profile,
                                           const struct profile_function *function, struct row_texts *texts)
{
    const struct profile_cost *cost = &function->cost;
    int64_t calls, primitive_calls;
    true_calls(profile, cost, &calls, &primitive_calls);
    return (struct function_row){
        .name = tables_name_of(&texts->name, function),
        .ncalls = ncalls_of(texts->ncalls, calls, primitive_calls),
        .calls = calls,
        .primitive_calls = primitive_calls,
        .tottime_ns = ns_of(cost->total_s),
        .cumtime_ns = ns_of(cost->cumulative_s),
        .tottime_percall_ns = percall_of(profile, cost->total_s, calls),
        .cumtime_percall_ns = percall_of(profile, cost->cumulative_s, primitive_calls),
        .tottime_share = tables_share_of(cost->total_s, profile->total.total_s),
        .cumtime_share = tables_share_of(cost->cumulative_s, profile->total.total_s),
        .file = { function->file, function->file_length },
        .function = { function->name, function->name_length },
        .line = function->line == PROFILE_NAME_LINE ? 0 : function->line,
    };
}

/* Rename the columns if calls are samples. */
static void name_for_samples(struct table *table)
{
    const struct {
        size_t offset;
        const char *title;
    } titles[] = {
        { offsetof(struct function_row, ncalls), "samples" },
        { offsetof(struct function_row, calls), "samples on the stack" },
        { offsetof(struct function_row, primitive_calls), "samples in itself" },
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table->columns[table_column_at(table, titles[i].offset)].title = titles[i].title;
    table->columns[table_column_at(table, offsetof(struct function_row, ncalls))].help =
        "samples with the function on the stack, and behind the slash those in it itself";
    TABLE_FLAG(table, struct function_row, tottime_percall_ns, TABLE_HIDDEN);
    TABLE_FLAG(table, struct function_row, cumtime_percall_ns, TABLE_HIDDEN);
}

/* Columns and figures of time become counts or bytes if the profile measures these. */
static void add_figures(struct table *table, const struct profile *profile)
{
    if (profile_is_timed(profile))
        return;
    enum table_kind kind = profile->figures == PROFILE_BYTES ? TABLE_BYTES : TABLE_COUNT;
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].kind == TABLE_NS)
            table->columns[c].kind = kind;
    for (size_t f = 0; f < table->footers.count; f++)
        if (table->footers.at[f].kind == TABLE_NS) {
            table->footers.at[f].kind = kind;
            table->footers.at[f].title = "Total";
        }
}

static const struct key by_function[] = { ASC(struct profile_work, function),
                                          ASC(struct profile_work, device), KEY_END };

static int64_t count_of_number(double number)
{
    return number > 0 && number < 0x1p62 ? (int64_t)number : TABLE_INT_MISSING;
}

/* The row of the COUNT shares of a function, which is there at least once. */
static struct device_row device_row_of(const struct profile *profile, const struct profile_work *shares,
                                       size_t count, bool by_device)
{
    const struct profile_function *function = &profile->functions[shares->function];
    struct profile_work sum = shares[0];
    for (size_t i = 1; i < count; i++) {
        sum.cost.total_s += shares[i].cost.total_s;
        sum.cost.cumulative_s += shares[i].cost.cumulative_s;
        sum_add(&sum.cost.calls, shares[i].cost.calls);
        sum.flops += shares[i].flops;
        sum.bytes += shares[i].bytes;
        sum.flops_s += shares[i].flops_s;
        sum.bytes_s += shares[i].bytes_s;
        if (sum.device_type &&
            (!shares[i].device_type || strcmp(sum.device_type, shares[i].device_type) != 0))
            sum.device_type = NULL;
    }
    bool is_kernel = sum.cost.calls > 0;
    bool all_have_both = sum.flops_s >= sum.cost.total_s && sum.bytes_s >= sum.cost.total_s && sum.bytes > 0;
    return (struct device_row){
        .name = { function->name, function->name_length },
        .device = by_device ? sum.device : TABLE_INT_MISSING,
        .device_type = as_text(is_kernel ? sum.device_type : "CPU"),
        .self_device_ns = ns_of(sum.cost.total_s),
        .device_ns = ns_of(sum.cost.cumulative_s),
        .count = is_kernel ? sum.cost.calls : TABLE_INT_MISSING,
        .share = tables_share_of(sum.cost.total_s, profile->total.total_s),
        .flops = count_of_number(sum.flops),
        .bytes = count_of_number(sum.bytes),
        .tflops = sum.flops_s > 0 ? sum.flops / sum.flops_s / 1e12 : NAN,
        .tbs = sum.bytes_s > 0 ? sum.bytes / sum.bytes_s / 1e12 : NAN,
        .intensity = all_have_both ? sum.flops / sum.bytes : NAN,
    };
}

/* Add the rows of COUNT shares of one function. */
static void add_device_rows_of(struct table *table, const struct profile *profile,
                               const struct profile_work *shares, size_t count, bool by_device)
{
    FOR_RUNS(first, end, count, !by_device || shares[end].device == shares[first].device) {
        struct device_row row = device_row_of(profile, shares + first, end - first, by_device);
        table_add_rows(table, &row, 1, sizeof row);
        if (row.flops != TABLE_INT_MISSING) {
            TABLE_FLAG(table, struct device_row, flops, 0);
            TABLE_FLAG(table, struct device_row, tflops, 0);
        }
        if (row.bytes != TABLE_INT_MISSING) {
            TABLE_FLAG(table, struct device_row, bytes, 0);
            TABLE_FLAG(table, struct device_row, tbs, 0);
        }
    }
}

/* Kernels and scopes, in the words of traces: there are no functions. */
static void add_device_rows(struct result *result, const struct profile *profile,
                            const struct profile_view *view)
{
    struct table *table =
        TABLE_OF_ROWS("operators", "Kernels and scopes", device_columns, (struct device_row *)NULL, 0);
    size_t count = profile->device_work.count;
    struct profile_work *shares = mem_alloc(mem_times(count + 1, sizeof *shares));
    struct part {
        size_t first, count;
    } *parts = mem_zalloc(profile->function_count + 1, sizeof *parts);
    if (count)
        memcpy(shares, profile->device_work.at, count * sizeof *shares);
    SORT_ARRAY(shares, count, by_function);
    FOR_RUNS(first, end, count, shares[end].function == shares[first].function)
        parts[shares[first].function] = (struct part){ first, end - first };
    for (size_t i = 0; i < view->count; i++) {
        const struct profile_work nothing = { .function = view->at[i], .device = TABLE_INT_MISSING };
        const struct part *part = &parts[view->at[i]];
        add_device_rows_of(table, profile, part->count ? shares + part->first : &nothing,
                           part->count ? part->count : 1, view->by_device);
    }
    EACH(free, parts, shares);
    if (view->by_device)
        table->columns[table_column_at(table, offsetof(struct device_row, device))].flags = 0;
    table_add_footer(table, "self_device_time_total", "Self device time total", TABLE_NS,
                     table_int(ns_of(profile->total.total_s)));
    if (view->reductions.count > 0 && view->reductions.at[view->reductions.count - 1].by_limit)
        table->total_rows = view->reductions.at[view->reductions.count - 1].before;
    result_add_table(result, table);
}

void profile_add_functions(struct result *result, const struct profile *profile,
                           const struct profile_view *view)
{
    if (profile->figures == PROFILE_DEVICE_TIME) {
        add_device_rows(result, profile, view);
        return;
    }
    struct table *table =
        TABLE_OF_ROWS("functions", "Python functions", function_columns, (struct function_row *)NULL, 0);
    struct row_texts texts = { 0 };
    for (size_t i = 0; i < view->count; i++) {
        struct function_row row = function_row_of(profile, &profile->functions[view->at[i]], &texts);
        table_add_rows(table, &row, 1, sizeof row);
    }
    EACH(buffer_release, &texts.name, &texts.other);
    if (profile->sampled)
        name_for_samples(table);

    int64_t calls, primitive_calls;
    true_calls(profile, &profile->total, &calls, &primitive_calls);
    table_add_footer(table, "calls", profile->sampled ? "Samples on stacks" : "Function calls", TABLE_TALLY,
                     table_int(calls));
    table_add_footer(table, "pcalls", profile->sampled ? "Samples" : "Primitive calls", TABLE_TALLY,
                     table_int(primitive_calls));
    table_add_footer(table, "tottime", "Total time", TABLE_NS, table_int(ns_of(profile->total.total_s)));
    if (view->reductions.count > 0 && view->reductions.at[view->reductions.count - 1].by_limit)
        table->total_rows = view->reductions.at[view->reductions.count - 1].before;
    add_figures(table, profile);
    result_add_table(result, table);
}

/* The row of CALL, of which FUNCTION is one end; NULL: a row for "none". */
static struct call_row call_row_of(const struct profile *profile, const struct profile_function *function,
                                   const struct profile_call *call, struct row_texts *texts)
{
    struct call_row row = { .name = tables_name_of(&texts->name, function),
                            .calls = TABLE_INT_MISSING,
                            .primitive_calls = TABLE_INT_MISSING,
                            .tottime_ns = TABLE_INT_MISSING,
                            .cumtime_ns = TABLE_INT_MISSING,
                            .share = NAN };
    if (!call)
        return row;
    const struct profile_edge *edge = &profile->edges[call->edge];
    row.other = tables_name_of(&texts->other, &profile->functions[call->callee]);
    row.ncalls = ncalls_of(texts->ncalls, edge->cost.calls, edge->cost.primitive_calls);
    row.calls = edge->cost.calls;
    row.primitive_calls = edge->cost.primitive_calls;
    if (edge->count_only)
        return row;
    row.tottime_ns = ns_of(edge->cost.total_s);
    row.cumtime_ns = ns_of(edge->cost.cumulative_s);
    row.share = tables_share_of(edge->cost.cumulative_s, function->cost.cumulative_s);
    return row;
}

void profile_add_calls(struct result *result, const struct profile *profile, const struct profile_view *view,
                       bool callees)
{
    struct table *table =
        callees ? TABLE_OF_ROWS("callees", "Callees", callee_columns, (struct call_row *)NULL, 0)
                : TABLE_OF_ROWS("callers", "Callers", caller_columns, (struct call_row *)NULL, 0);
    struct arena scratch = { 0 };
    struct profile_callees by_caller = { 0 };
    struct profile_calls calls = { 0 };
    struct row_texts texts = { 0 };
    if (callees)
        profile_callees_make(&by_caller, profile, &scratch);
    for (size_t i = 0; i < view->count; i++) {
        const struct profile_function *function = &profile->functions[view->at[i]];
        profile_calls_of(&calls, profile, view->at[i], callees ? &by_caller : NULL);
        /* Longest first; without times, by calls; they come by file, line and name. */
        SORT_BY(calls.at, calls.count, c, ~(int64_t)profile->edges[calls.at[c].edge].cost.calls);
        SORT_BY_VALUE(double, rows_ascending_f64, calls.at, calls.count, c,
                      -profile->edges[calls.at[c].edge].cost.cumulative_s);
        for (size_t c = 0; c < calls.count || c == 0; c++) {
            struct call_row row = call_row_of(profile, function, calls.count ? &calls.at[c] : NULL, &texts);
            table_add_rows(table, &row, 1, sizeof row);
        }
    }
    EACH(buffer_release, &texts.name, &texts.other);
    VEC_FREE(&calls);
    arena_release(&scratch);
    add_figures(table, profile);
    result_add_table(result, table);
}

/* Infinite and huge times are missing in the tables, as a table holds nanoseconds. */
static void add_odd_times(struct result *result, const struct profile *profile, const char *file)
{
    int64_t odd = 0;
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_cost *cost = &profile->functions[profile->listed[i]].cost;
        odd += !has_ns(cost->total_s) || !has_ns(cost->cumulative_s);
    }
    if (odd)
        result_add_notice(
            result, "odd_times", odd, file, TPA_NOWHERE,
            "functions have times that are not numbers, or beyond 292 years; they are left empty");
}

void sums_add_notices(struct result *result, const struct sums_origin *origin)
{
    FOR_EACH(notice, &origin->notices) {
        result_add_notice(result, notice->kind, (int64_t)notice->count, notice->path, notice->offset, "%s",
                          notice->text);
    }
}

void profile_add_notices(struct result *result, const struct profile *profile,
                         const struct profile_view *view, bool rows_tell_limit)
{
    const char *file = profile->files.count > 0 ? profile->files.at[0].path : NULL;
    FOR_EACH(reduction, &view->reductions) {
        if (reduction->by_limit && rows_tell_limit)
            continue;
        ADD_NOTICE(result, "reduced", (int64_t)(reduction->before - reduction->after),
                   "List reduced from %zu to %zu due to restriction <%s>", reduction->before,
                   reduction->after, reduction->restriction);
    }
    static const char *const figures[] = {
        [PROFILE_TIME] =
            "a sampled profile: counts are samples, not calls, and times are samples times the interval",
        [PROFILE_COUNT] =
            "a sampled profile whose weights have no unit: tottime and cumtime are weights, not times",
        [PROFILE_BYTES] = "a profile of memory: tottime and cumtime are bytes, not times",
        [PROFILE_DEVICE_TIME] = "a sampled profile of devices",
    };
    if (profile->sampled)
        result_add_notice(result, "sampled", profile->total.primitive_calls, file, TPA_NOWHERE, "%s",
                          figures[profile->figures]);
    if (profile->counts_swapped)
        result_add_notice(result, "counts_swapped", (int64_t)profile->listed_count, file, TPA_NOWHERE,
                          "calls and primitive calls are swapped, as yappi writes them; this was corrected");
    if (profile->merged_edges > 0)
        ADD_NOTICE(result, "merged_callers", (int64_t)profile->merged_edges,
                   "%" PRIu64
                   " callers became the same as another without directories, and were added to it; "
                   "pstats keeps only the last of them",
                   profile->merged_edges);
    add_odd_times(result, profile, file);
    if (profile->odd_entries > 0)
        result_add_notice(result, "odd_entries", (int64_t)profile->odd_entries, file, profile->odd_offset,
                          "entries are not a function with its figures and were left out");
    if (profile->trailing_bytes > 0)
        result_add_notice(
            result, "trailing_bytes", (int64_t)profile->trailing_bytes, file, profile->trailing_offset,
            "%" PRIu64 " bytes behind the end of the profile were not looked at", profile->trailing_bytes);
    sums_add_notices(result, &profile->origin);
}

void actions_add_table(struct result *result, const struct action_report *report)
{
    struct table *table =
        TABLE_OF_ROWS("actions", "Lightning actions", action_columns, (struct action_row *)NULL, 0);
    FOR_EACH(action, &report->actions) {
        struct action_row row = { { action->name, strlen(action->name) },
                                  action->mean_ns,
                                  action->calls >= 0 ? action->calls : TABLE_INT_MISSING,
                                  action->total_ns,
                                  action->share };
        table_add_rows(table, &row, 1, sizeof row);
    }
    if (report->total_ns >= 0)
        table_add_footer(table, "total", "Total time", TABLE_NS, (union table_cell){ .i = report->total_ns });
    if (report->total_calls >= 0)
        table_add_footer(table, "count", "Calls", TABLE_TALLY,
                         (union table_cell){ .i = report->total_calls });
    result_add_table(result, table);
    actions_add_notices(result, report);
}

void actions_add_notices(struct result *result, const struct action_report *report)
{
    ADD_NOTICE(result, "five_digits", (int64_t)report->actions.count,
               "the report has five digits of each time; actions run inside one another, so that shares add "
               "up to more than the whole");
    if (report->odd_lines > 0)
        result_add_notice(result, "odd_lines", (int64_t)report->odd_lines, NULL, report->odd_offset,
                          "lines with bars are not rows of the table and were left out");
    sums_add_notices(result, &report->origin);
}

const struct table_shape profile_top_tables[] = {
    TABLE_SHAPE("functions", function_columns, .of = "profiles"),
    TABLE_SHAPE("functions", function_columns, .of = "profiles", .figures = TABLE_COUNT),
    TABLE_SHAPE("functions", function_columns, .of = "profiles", .figures = TABLE_BYTES),
    TABLE_SHAPE("operators", device_columns, .of = "profiles of devices"),
    TABLE_SHAPE("actions", action_columns, .of = "actions"),
    { 0 },
};

const struct table_shape profile_callers_tables[] = {
    TABLE_SHAPE("callers", caller_columns),
    TABLE_SHAPE("callers", caller_columns, .of = "profiles", .figures = TABLE_COUNT),
    TABLE_SHAPE("callers", caller_columns, .of = "profiles", .figures = TABLE_BYTES),
    { 0 },
};

const struct table_shape profile_action_tables[] = {
    TABLE_SHAPE("actions", action_columns, .of = "actions"),
    { 0 },
};

void profile_mark_sorted(struct result *result, bool cumulative)
{
    struct table *table = result->tables.at[result->tables.count - 1];
    table->sort_column = table_column_at(table, cumulative ? offsetof(struct function_row, cumtime_ns)
                                                           : offsetof(struct function_row, tottime_ns));
}

const struct table_shape profile_overview_tables[] = {
    TABLE_SHAPE("own", function_columns, .of = "profiles"),
    TABLE_SHAPE("own", function_columns, .of = "profiles", .figures = TABLE_COUNT),
    TABLE_SHAPE("own", function_columns, .of = "profiles", .figures = TABLE_BYTES),
    TABLE_SHAPE("cumulative", function_columns, .of = "profiles"),
    TABLE_SHAPE("cumulative", function_columns, .of = "profiles", .figures = TABLE_COUNT),
    TABLE_SHAPE("cumulative", function_columns, .of = "profiles", .figures = TABLE_BYTES),
    TABLE_SHAPE("callers", caller_columns, .of = "profiles"),
    TABLE_SHAPE("callers", caller_columns, .of = "profiles", .figures = TABLE_COUNT),
    TABLE_SHAPE("callers", caller_columns, .of = "profiles", .figures = TABLE_BYTES),
    TABLE_SHAPE("callees", callee_columns, .of = "profiles"),
    TABLE_SHAPE("callees", callee_columns, .of = "profiles", .figures = TABLE_COUNT),
    TABLE_SHAPE("callees", callee_columns, .of = "profiles", .figures = TABLE_BYTES),
    { 0 },
};

const struct table_shape profile_callees_tables[] = {
    TABLE_SHAPE("callees", callee_columns),
    TABLE_SHAPE("callees", callee_columns, .of = "profiles", .figures = TABLE_COUNT),
    TABLE_SHAPE("callees", callee_columns, .of = "profiles", .figures = TABLE_BYTES),
    { 0 },
};
