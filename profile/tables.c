/*
 * tables.c - sums of a profile as tables.
 *
 * A profile may have a million functions, whose cells would take more memory than the profile: so rows are made when
 * they are printed.
 *
 * Times become integer nanoseconds here, each once, from the exact double: a percall is the quotient of two figures of
 * the file, rounded, not a quotient of rounded figures.
 */
#include "profile/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
enum { F_NAME, F_NCALLS, F_CALLS, F_PCALLS, F_TOTTIME, F_TOTTIME_SHARE, F_TOTTIME_PERCALL, F_CUMTIME, F_CUMTIME_SHARE,
       F_CUMTIME_PERCALL, F_FILE, F_LINE, F_FUNCTION, F_COLUMNS };

static const struct table_column function_columns[F_COLUMNS] = {
    [F_NAME] = { "name", "filename:lineno(function)", TABLE_NAME, "the function; built-in ones in braces" },
    [F_NCALLS] = { "ncalls", "ncalls", TABLE_TEXT, "calls, and behind the slash those not from within itself when they are fewer" },
    [F_CALLS] = { "calls", "calls", TABLE_COUNT, "calls, recursive ones too", TABLE_OPTIONAL, "count" },
    [F_PCALLS] = { "pcalls", "primitive calls", TABLE_COUNT, "calls not from within the function itself", TABLE_OPTIONAL, NULL },
    [F_TOTTIME] = { "tottime", "tottime", TABLE_NS, "time in the function itself, without what it called", 0, "time self_cpu_time_total" },
    [F_TOTTIME_SHARE] = { "tottime_share", "tottime %", TABLE_SHARE, "tottime as a share of that of all functions" },
    [F_TOTTIME_PERCALL] = { "tottime_percall", "percall", TABLE_NS, "tottime by calls", 0, "self_cpu_time" },
    [F_CUMTIME] = { "cumtime", "cumtime", TABLE_NS, "time in the function and all that it called; recursive calls count once", 0, "cumulative cpu_time_total" },
    [F_CUMTIME_SHARE] = { "cumtime_share", "cumtime %", TABLE_SHARE, "cumtime as a share of the tottime of all functions" },
    [F_CUMTIME_PERCALL] = { "cumtime_percall", "percall", TABLE_NS, "cumtime by primitive calls", 0, "cpu_time" },
    [F_FILE] = { "file", "file", TABLE_TEXT, "where it is defined; ~ for built-in functions", TABLE_OPTIONAL, "filename module" },
    [F_LINE] = { "line", "line", TABLE_COUNT, "the line where it begins", TABLE_OPTIONAL, NULL },
    [F_FUNCTION] = { "function", "function", TABLE_TEXT, "its name alone", TABLE_OPTIONAL, NULL },
};

enum { C_NAME, C_OTHER, C_NCALLS, C_CALLS, C_PCALLS, C_TOTTIME, C_CUMTIME, C_SHARE, C_COLUMNS };

#define CALL_COLUMNS(other_key, other_help, share_help) { \
    [C_NAME] = { "name", "function", TABLE_NAME, "the function that was asked about" }, \
    [C_OTHER] = { other_key, other_key, TABLE_NAME, other_help }, \
    [C_NCALLS] = { "ncalls", "ncalls", TABLE_TEXT, "calls from the caller to the callee; behind the slash those that were not recursive" }, \
    [C_CALLS] = { "calls", "calls", TABLE_COUNT, "calls from the caller to the callee", TABLE_OPTIONAL, "count" }, \
    [C_PCALLS] = { "pcalls", "primitive calls", TABLE_COUNT, "those of them that were not recursive", TABLE_OPTIONAL, NULL }, \
    [C_TOTTIME] = { "tottime", "tottime", TABLE_NS, "time in the callee itself during these calls" }, \
    [C_CUMTIME] = { "cumtime", "cumtime", TABLE_NS, "time in the callee and all that it called, during these calls" }, \
    [C_SHARE] = { "share", "share", TABLE_SHARE, share_help }, \
}
static const struct table_column caller_columns[C_COLUMNS] =
    CALL_COLUMNS("caller", "who called it", "cumtime of these calls as a share of the function's");
static const struct table_column callee_columns[C_COLUMNS] =
    CALL_COLUMNS("callee", "whom it called", "cumtime of these calls as a share of the function's");

enum { A_NAME, A_MEAN, A_CALLS, A_TOTAL, A_SHARE, A_COLUMNS };

static const struct table_column action_columns[A_COLUMNS] = {
    [A_NAME] = { "name", "Action", TABLE_NAME, "what Lightning did; actions may run inside one another" },
    [A_MEAN] = { "mean", "Mean duration", TABLE_NS, "total time by calls" },
    [A_CALLS] = { "count", "Num calls", TABLE_COUNT, "how often it was done", 0, "calls ncalls" },
    [A_TOTAL] = { "total", "Total time", TABLE_NS, "how long it took in all", 0, "cpu_time_total time tottime cumtime" },
    [A_SHARE] = { "share", "Percentage", TABLE_SHARE, "of the time since the profiler was made" },
};
/* clang-format on */

/* The calls of a function, with yappi's two put right. */
static void true_calls(const struct profile *profile, const struct profile_cost *cost, int64_t *calls,
                       int64_t *primitive_calls)
{
    *calls = profile->counts_swapped ? cost->primitive_calls : cost->calls;
    *primitive_calls = profile->counts_swapped ? cost->calls : cost->primitive_calls;
}

static void set_calls(struct table *table, size_t row, size_t text_column, size_t calls_column,
                      size_t primitive_column, int64_t calls, int64_t primitive_calls)
{
    char text[64];
    int len = calls == primitive_calls
                  ? snprintf(text, sizeof text, "%" PRId64, calls)
                  : snprintf(text, sizeof text, "%" PRId64 "/%" PRId64, calls, primitive_calls);
    table_set_text(table, row, text_column, text, (size_t)len);
    table_set_int(table, row, calls_column, calls);
    table_set_int(table, row, primitive_column, primitive_calls);
}

/* A time that is no finite number, or no nanoseconds below 2^63, is left missing: see add_odd_times. */
static bool has_ns(double seconds)
{
    return fabs(seconds) < 0x1p63 / 1e9;
}

static void set_seconds(struct table *table, size_t row, size_t column, double seconds)
{
    if (has_ns(seconds))
        table_set_int(table, row, column, profile_ns(seconds));
}

static void set_name(struct table *table, size_t row, size_t column, const struct profile_function *function,
                     struct buffer *scratch)
{
    buffer_clear(scratch);
    profile_function_text(function, scratch);
    table_set_text(table, row, column, scratch->at ? scratch->at : "", scratch->count);
}

static void set_share(struct table *table, size_t row, size_t column, double part, double whole)
{
    if (whole > 0 && isfinite(part / whole))
        table_set_number(table, row, column, part / whole);
}

static void set_function_row(struct table *table, size_t row, const struct profile *profile,
                             const struct profile_function *function, struct buffer *scratch)
{
    const struct profile_cost *cost = &function->cost;
    int64_t calls, primitive_calls;
    true_calls(profile, cost, &calls, &primitive_calls);
    set_calls(table, row, F_NCALLS, F_CALLS, F_PCALLS, calls, primitive_calls);
    set_seconds(table, row, F_TOTTIME, cost->total_s);
    set_seconds(table, row, F_CUMTIME, cost->cumulative_s);
    set_share(table, row, F_TOTTIME_SHARE, cost->total_s, profile->total.total_s);
    set_share(table, row, F_CUMTIME_SHARE, cost->cumulative_s, profile->total.total_s);
    if (calls != 0 && !profile->sampled)
        set_seconds(table, row, F_TOTTIME_PERCALL, cost->total_s / (double)calls);
    if (primitive_calls != 0 && !profile->sampled)
        set_seconds(table, row, F_CUMTIME_PERCALL, cost->cumulative_s / (double)primitive_calls);
    set_name(table, row, F_NAME, function, scratch);
    table_set_text(table, row, F_FILE, function->file, function->file_length);
    table_set_int(table, row, F_LINE, function->line);
    table_set_text(table, row, F_FUNCTION, function->name, function->name_length);
}

struct function_rows {
    const struct profile *profile;
    const struct profile_view *view;
};

static void make_function_rows(const void *context, struct table *table, size_t first, size_t count)
{
    const struct function_rows *rows = context;
    struct buffer scratch = { 0 };
    for (size_t i = 0; i < count; i++)
        set_function_row(table, i, rows->profile, &rows->profile->functions[rows->view->at[first + i]],
                         &scratch);
    buffer_release(&scratch);
}

void profile_add_functions(struct result *result, const struct profile *profile,
                           const struct profile_view *view)
{
    struct table_column columns[F_COLUMNS];
    memcpy(columns, function_columns, sizeof columns);
    if (profile->sampled) {
        columns[F_NCALLS].title = "samples";
        columns[F_NCALLS].help =
            "samples with the function on the stack, and behind the slash those in it itself";
        columns[F_CALLS].title = "samples on the stack";
        columns[F_PCALLS].title = "samples in itself";
        columns[F_TOTTIME_PERCALL].flags |= TABLE_HIDDEN;
        columns[F_CUMTIME_PERCALL].flags |= TABLE_HIDDEN;
    }
    struct table *table = table_open("functions", "Python functions", columns, F_COLUMNS);
    struct function_rows *rows = mem_alloc(sizeof *rows);
    *rows = (struct function_rows){ profile, view };
    table_make_rows(table, view->count, &(struct table_maker){ make_function_rows, free, rows });

    int64_t calls, primitive_calls;
    true_calls(profile, &profile->total, &calls, &primitive_calls);
    table_add_footer(table, "calls", profile->sampled ? "Samples on stacks" : "Function calls", TABLE_COUNT,
                     (union table_cell){ .i = calls });
    table_add_footer(table, "pcalls", profile->sampled ? "Samples" : "Primitive calls", TABLE_COUNT,
                     (union table_cell){ .i = primitive_calls });
    table_add_footer(
        table, "tottime", "Total time", TABLE_NS,
        table_int(has_ns(profile->total.total_s) ? profile_ns(profile->total.total_s) : TABLE_INT_MISSING));
    if (view->reductions.count > 0 && view->reductions.at[view->reductions.count - 1].by_limit)
        table->total_rows = view->reductions.at[view->reductions.count - 1].before;
    result_add_table(result, table);
}

/* From long to short; what has no times, by calls; then by file, line and name. */
static int compare_calls(const void *left, const void *right, void *data)
{
    const struct profile *profile = data;
    const struct profile_call *a = left, *b = right;
    const struct profile_cost *p = &profile->edges[a->edge].cost, *q = &profile->edges[b->edge].cost;
    if (p->cumulative_s != q->cumulative_s)
        return p->cumulative_s < q->cumulative_s ? 1 : -1;
    if (p->calls != q->calls)
        return p->calls < q->calls ? 1 : -1;
    return profile_function_compare(&profile->functions[a->callee], &profile->functions[b->callee]);
}

struct call_rows {
    const struct profile *profile;
    const struct profile_view *view;
    bool callees;
    struct profile_callees by_caller; /* for callees */
    uint32_t *first_row; /* by place in the view, and one more: where the rows of the function begin */
    struct call_list *list;
};

/* The calls that were listed last: the rows of a function with many are made in several pieces. */
struct call_list {
    bool any;
    function_id of;
    struct profile_calls calls;
};

/* Who called function ID, or whom it called, from long to short; until the next is listed. */
static const struct profile_calls *list_calls(const struct call_rows *rows, function_id id)
{
    struct profile_calls *calls = &rows->list->calls;
    if (rows->list->any && rows->list->of == id)
        return calls;
    profile_calls_of(calls, rows->profile, id, rows->callees ? &rows->by_caller : NULL);
    if (calls->count > 1)
        qsort_r(calls->at, calls->count, sizeof *calls->at, compare_calls, (void *)(uintptr_t)rows->profile);
    rows->list->any = true;
    rows->list->of = id;
    return calls;
}

/* The place in the view of the function that ROW is about. */
static size_t find_place(const struct call_rows *rows, size_t row)
{
    size_t low = 0, high = rows->view->count; /* low begins at or before ROW, high behind it */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (rows->first_row[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void set_call_row(struct table *table, size_t row, const struct call_rows *rows,
                         const struct profile_function *function, const struct profile_call *call,
                         struct buffer *scratch)
{
    set_name(table, row, C_NAME, function, scratch);
    if (!call)
        return;
    const struct profile_edge *edge = &rows->profile->edges[call->edge];
    set_name(table, row, C_OTHER, &rows->profile->functions[call->callee], scratch);
    set_calls(table, row, C_NCALLS, C_CALLS, C_PCALLS, edge->cost.calls, edge->cost.primitive_calls);
    if (edge->count_only)
        return;
    set_seconds(table, row, C_TOTTIME, edge->cost.total_s);
    set_seconds(table, row, C_CUMTIME, edge->cost.cumulative_s);
    set_share(table, row, C_SHARE, edge->cost.cumulative_s, function->cost.cumulative_s);
}

static void make_call_rows(const void *context, struct table *table, size_t first, size_t count)
{
    const struct call_rows *rows = context;
    struct buffer scratch = { 0 };
    size_t row = first;
    for (size_t place = find_place(rows, first); row < first + count; place++) {
        function_id id = rows->view->at[place];
        const struct profile_calls *calls = list_calls(rows, id);
        for (; row < rows->first_row[place + 1] && row < first + count; row++)
            set_call_row(table, row - first, rows, &rows->profile->functions[id],
                         calls->count ? &calls->at[row - rows->first_row[place]] : NULL, &scratch);
    }
    buffer_release(&scratch);
}

static void free_call_rows(void *context)
{
    struct call_rows *rows = context;
    profile_callees_release(&rows->by_caller);
    VEC_FREE(&rows->list->calls);
    free(rows->list);
    free(rows->first_row);
    free(rows);
}

/* Where the rows of each function begin. One without calls has a row that says so. */
static void place_rows(struct call_rows *rows)
{
    const struct profile_view *view = rows->view;
    rows->first_row = mem_alloc((view->count + 1) * sizeof *rows->first_row);
    uint32_t row = 0;
    for (size_t i = 0; i < view->count; i++) {
        function_id id = view->at[i];
        uint32_t calls = rows->callees ? rows->by_caller.first[id + 1] - rows->by_caller.first[id]
                                       : rows->profile->functions[id].edge_count;
        rows->first_row[i] = row;
        row += calls ? calls : 1;
    }
    rows->first_row[view->count] = row;
}

void profile_add_calls(struct result *result, const struct profile *profile, const struct profile_view *view,
                       bool callees)
{
    struct table *table = callees ? table_open("callees", "Callees", callee_columns, C_COLUMNS)
                                  : table_open("callers", "Callers", caller_columns, C_COLUMNS);
    struct call_rows *rows = mem_zalloc(1, sizeof *rows);
    rows->profile = profile;
    rows->view = view;
    rows->callees = callees;
    rows->list = mem_zalloc(1, sizeof *rows->list);
    if (callees)
        profile_callees_make(&rows->by_caller, profile);
    place_rows(rows);
    table_make_rows(table, rows->first_row[view->count],
                    &(struct table_maker){ make_call_rows, free_call_rows, rows });
    result_add_table(result, table);
}

/* Infinite and absurd times are missing in the tables, as a table holds nanoseconds. */
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
            "functions have times that are no number, or beyond 292 years; they are left empty");
}

void sums_add_notices(struct result *result, const struct sums_origin *origin)
{
    for (size_t i = 0; i < origin->notices.count; i++) {
        const struct sums_notice *notice = &origin->notices.at[i];
        result_add_notice(result, notice->kind, (int64_t)notice->count, notice->path, notice->offset, "%s",
                          notice->text);
    }
}

void profile_add_notices(struct result *result, const struct profile *profile,
                         const struct profile_view *view, bool rows_tell_limit)
{
    const char *file = profile->files.count > 0 ? profile->files.at[0].path : NULL;
    for (size_t i = 0; i < view->reductions.count; i++) {
        const struct profile_reduction *reduction = &view->reductions.at[i];
        if (reduction->by_limit && rows_tell_limit)
            continue;
        result_add_notice(result, "reduced", (int64_t)(reduction->before - reduction->after), NULL,
                          TPA_NOWHERE, "List reduced from %zu to %zu due to restriction <%s>",
                          reduction->before, reduction->after, reduction->restriction);
    }
    if (profile->sampled)
        result_add_notice(
            result, "sampled", profile->total.primitive_calls, file, TPA_NOWHERE,
            "a sampled profile: counts are samples, not calls, and times are samples times the interval");
    if (profile->counts_swapped)
        result_add_notice(
            result, "counts_swapped", (int64_t)profile->listed_count, file, TPA_NOWHERE,
            "calls and primitive calls stand in each other's place, as yappi writes them; they were put "
            "right");
    if (profile->merged_edges > 0)
        result_add_notice(result, "merged_callers", (int64_t)profile->merged_edges, NULL, TPA_NOWHERE,
                          "%" PRIu64
                          " callers became the same as another without directories, and were added to it; "
                          "pstats keeps only the last of them",
                          profile->merged_edges);
    add_odd_times(result, profile, file);
    if (profile->odd_entries > 0)
        result_add_notice(result, "odd_entries", (int64_t)profile->odd_entries, file, profile->odd_offset,
                          "entries are no function with its figures, and were left out");
    if (profile->trailing_bytes > 0)
        result_add_notice(
            result, "trailing_bytes", (int64_t)profile->trailing_bytes, file, profile->trailing_offset,
            "%" PRIu64 " bytes behind the end of the profile were not looked at", profile->trailing_bytes);
    sums_add_notices(result, &profile->origin);
}

void actions_add_table(struct result *result, const struct action_report *report)
{
    struct table *table = table_open("actions", "Lightning actions", action_columns, A_COLUMNS);
    for (size_t i = 0; i < report->actions.count; i++) {
        const struct action *action = &report->actions.at[i];
        size_t row = table_add_row(table);
        table_set_text(table, row, A_NAME, action->name, strlen(action->name));
        table_set_int(table, row, A_MEAN, action->mean_ns);
        if (action->calls >= 0)
            table_set_int(table, row, A_CALLS, action->calls);
        table_set_int(table, row, A_TOTAL, action->total_ns);
        table_set_number(table, row, A_SHARE, action->share);
    }
    if (report->total_ns >= 0)
        table_add_footer(table, "total", "Total time", TABLE_NS, (union table_cell){ .i = report->total_ns });
    if (report->total_calls >= 0)
        table_add_footer(table, "count", "Calls", TABLE_COUNT,
                         (union table_cell){ .i = report->total_calls });
    result_add_table(result, table);
    actions_add_notices(result, report);
}

void actions_add_notices(struct result *result, const struct action_report *report)
{
    result_add_notice(
        result, "five_digits", (int64_t)report->actions.count, NULL, TPA_NOWHERE,
        "the report tells five digits of each time; actions run inside one another, so that shares add "
        "up to more than the whole");
    if (report->odd_lines > 0)
        result_add_notice(result, "odd_lines", (int64_t)report->odd_lines, NULL, report->odd_offset,
                          "lines with bars are no row of the table, and were left out");
    sums_add_notices(result, &report->origin);
}
