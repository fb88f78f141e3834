/*
 * diff.c - a join of two results.
 *
 * What either side took is asked of the analyses that answer it alone: tpa top by row and step, tpa steps. Their tables
 * become values per row and sample, which are joined by the row's name and judged.
 */
#include "analyze/diff.h"

#include "analyze/step_times.h"
#include "analyze/top.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/shift.h"
#include "trace/steps.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *diff_verdict_name(enum diff_verdict verdict)
{
    static const char *const names[] = {
        [DIFF_SAME] = "same", [DIFF_SLOWER] = "slower", [DIFF_FASTER] = "faster",
        [DIFF_NEW] = "new",   [DIFF_GONE] = "gone",     [DIFF_UNSURE] = "unsure",
    };
    return names[verdict];
}

/* ---- values per row and sample ---- */

struct value {
    name_id row; /* in the join's names */
    uint32_t sample;
    double time_ns, calls;
};

struct side {
    const struct trace *trace;
    struct names *samples; /* "rank step", in order of first sight */
    VEC_OF(struct value) values;
};

/* Rows of both sides, by name. */
struct join {
    struct names *rows;
    struct side sides[2];
    struct trace_wants wants;
};

static int compare_values(const void *left, const void *right)
{
    const struct value *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->sample < b->sample ? -1 : a->sample > b->sample;
}

static void join_release(struct join *join)
{
    names_free(join->rows);
    for (int i = 0; i < 2; i++) {
        names_free(join->sides[i].samples);
        VEC_FREE(&join->sides[i].values);
    }
}

static size_t column_of(const struct table *table, const char *key)
{
    int column = table_find_column(table, key, strlen(key));
    return column < 0 ? SIZE_MAX : (size_t)column;
}

static void add_text(struct buffer *out, const struct table *table, size_t row, size_t column)
{
    if (column != SIZE_MAX && !table_is_missing(table, row, column)) {
        const union table_cell *cell = table_cell(table, row, column);
        buffer_puts(out, "  ");
        buffer_add(out, cell->text.at, cell->text.len);
    }
}

static int64_t integer_at(const struct table *table, size_t row, size_t column)
{
    return column == SIZE_MAX || table_is_missing(table, row, column) ? 0 : table_cell(table, row, column)->i;
}

/* What names a row in both sides: its name, then whatever else --by tells rows apart by. */
static void name_row(const struct table *table, size_t row, struct buffer *out)
{
    static const char *const more[] = { "input_shapes", "overload_name", "source_location", "place" };
    buffer_clear(out);
    size_t name = column_of(table, "name");
    if (name != SIZE_MAX && !table_is_missing(table, row, name))
        buffer_add(out, table_cell(table, row, name)->text.at, table_cell(table, row, name)->text.len);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        add_text(out, table, row, column_of(table, more[i]));
}

/* Which times are compared. */
enum metric { METRIC_HOST, METRIC_DEVICE };

/*
 * The rows of SIDE by step. METRIC_HOST: self time on the host; METRIC_DEVICE: time of kernels, copies and memsets.
 * Annotations are left out: their shadows on devices span the time of others.
 */
static void collect(struct join *join, struct side *side, unsigned by, enum metric metric)
{
    struct steps *steps = steps_open(side->trace);
    bool has_steps = steps->count > 0;
    steps_free(steps);
    struct top_options options = { .by = by | TOP_RANK | (has_steps ? TOP_STEP : 0) };
    struct result *result = top_analyze(side->trace, &options);
    const struct table *table = result->tables.at[0];
    size_t step = column_of(table, "step"), rank = column_of(table, "rank"),
           count = column_of(table, "count");
    size_t device = column_of(table, "device_type"), annotation = column_of(table, "is_user_annotation");
    size_t time = column_of(table, metric == METRIC_HOST ? "self_cpu_time_total" : "self_device_time_total");
    struct buffer name = { 0 }, sample = { 0 };
    for (size_t row = 0; row < table->row_count; row++) {
        int64_t number;
        if (has_steps && (table_is_missing(table, row, step) ||
                          !step_number(table_cell(table, row, step)->text.at, &number)))
            continue; /* outside of all steps */
        bool on_device = device != SIZE_MAX && !table_is_missing(table, row, device) &&
                         strcmp(table_cell(table, row, device)->text.at, "CUDA") == 0;
        bool by_name = by & (TOP_OPERATOR | TOP_SHAPE | TOP_STACK | TOP_OVERLOAD | TOP_KERNEL);
        if (by_name && on_device != (metric == METRIC_DEVICE))
            continue;
        if (on_device && integer_at(table, row, annotation))
            continue;
        buffer_clear(&sample);
        buffer_printf(&sample, "%" PRId64, integer_at(table, row, rank));
        add_text(&sample, table, row, has_steps ? step : SIZE_MAX);
        name_row(table, row, &name);
        *VEC_PUSH(&side->values) = (struct value){
            .row = names_add(join->rows, name.at ? name.at : "", name.count),
            .sample = names_add(side->samples, sample.at, sample.count),
            .time_ns = (double)integer_at(table, row, time),
            .calls = (double)integer_at(table, row, count),
        };
    }
    buffer_release(&name);
    buffer_release(&sample);
    result_free(result);
    if (side->values.count > 1)
        qsort(side->values.at, side->values.count, sizeof *side->values.at, compare_values);
}

/* ---- judging ---- */

/* A figure of both sides: its values in all samples. */
struct figure {
    double *values[2];
    size_t count[2];
    double calls[2]; /* per sample */
    bool present[2];
};

struct judged {
    double mean[2], change;
    struct shift shift;
    enum diff_verdict verdict;
};

static double mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : 0;
}

static struct judged compare(const struct figure *figure)
{
    struct judged judged = { .mean = { mean(figure->values[0], figure->count[0]),
                                       mean(figure->values[1], figure->count[1]) } };
    judged.change = judged.mean[1] - judged.mean[0];
    shift_compare(figure->values[0], figure->count[0], figure->values[1], figure->count[1], &judged.shift);
    return judged;
}

/* P is that of the shift, corrected for the number of rows. */
static enum diff_verdict decide(const struct figure *figure, const struct judged *judged, double p,
                                int64_t min_change_ns)
{
    if (!figure->present[0] && figure->present[1])
        return DIFF_NEW;
    if (figure->present[0] && !figure->present[1])
        return DIFF_GONE;
    if (judged->change == 0 || fabs(judged->change) < (double)min_change_ns)
        return DIFF_SAME;
    if (!judged->shift.decidable)
        return DIFF_UNSURE;
    if (!(p < 0.05) || judged->shift.estimate == 0)
        return DIFF_SAME;
    return judged->shift.estimate > 0 ? DIFF_SLOWER : DIFF_FASTER;
}

/* ---- tables ---- */

/* clang-format off */
static const struct table_column columns[DIFF_COLUMNS] = {
    [DIFF_NAME] = { "name", "Name", TABLE_NAME, "what is compared", 0, NULL },
    [DIFF_BEFORE] = { "before", "Before", TABLE_NS, "mean per step of the first side", 0, "base" },
    [DIFF_AFTER] = { "after", "After", TABLE_NS, "mean per step of the second side", 0, "new" },
    [DIFF_CHANGE] = { "change", "Change", TABLE_NS, "after less before: positive is slower", 0, NULL },
    [DIFF_CHANGE_SHARE] = { "change_share", "Change %", TABLE_SHARE, "change as a share of before", 0, NULL },
    [DIFF_VERDICT] = { "verdict", "Verdict", TABLE_TEXT, "slower, faster, same, new, gone or unsure (too few steps to tell)", 0, NULL },
    [DIFF_PART] = { "part", "Of all", TABLE_SHARE, "change as a share of the change of the step time, or of all functions", 0, NULL },
    [DIFF_CALLS_BEFORE] = { "calls_before", "Calls before", TABLE_NUMBER, "calls per step of the first side", 0, NULL },
    [DIFF_CALLS_AFTER] = { "calls_after", "Calls after", TABLE_NUMBER, "calls per step of the second side", 0, NULL },
    [DIFF_CALL_BEFORE] = { "call_before", "Per call before", TABLE_NS, "time of one call on the first side", TABLE_OPTIONAL, NULL },
    [DIFF_CALL_AFTER] = { "call_after", "Per call after", TABLE_NS, "time of one call on the second side", TABLE_OPTIONAL, NULL },
    [DIFF_LOW] = { "low", "From", TABLE_NS, "lower end of the 95 % interval of the change of a step (Hodges-Lehmann)", TABLE_OPTIONAL, NULL },
    [DIFF_HIGH] = { "high", "To", TABLE_NS, "upper end of it", TABLE_OPTIONAL, NULL },
    [DIFF_P] = { "p", "p", TABLE_NUMBER, "Mann-Whitney U, two-sided, after Holm's correction over the rows", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

static void set_ns(struct table *table, size_t row, size_t column, double ns)
{
    if (isfinite(ns))
        table_set_int(table, row, column, (int64_t)llround(ns));
}

static void set_share(struct table *table, size_t row, size_t column, double part, double whole)
{
    if (whole != 0)
        table_set_number(table, row, column, part == 0 ? 0 : part / whole);
}

/* A row for FIGURE. STEP_CHANGE is the head's, 0 when not known. */
static void add_row(struct table *table, const char *name, size_t len, const struct figure *figure,
                    const struct judged *judged, double p, double step_change)
{
    size_t row = table_add_row(table);
    table_set_text(table, row, DIFF_NAME, name, len);
    /* The means are rounded, and the change is theirs, so that a row adds up. */
    int64_t before = llround(judged->mean[0]), after = llround(judged->mean[1]);
    table_set_int(table, row, DIFF_BEFORE, before);
    table_set_int(table, row, DIFF_AFTER, after);
    table_set_int(table, row, DIFF_CHANGE, after - before);
    set_share(table, row, DIFF_CHANGE_SHARE, judged->change, judged->mean[0]);
    const char *verdict = diff_verdict_name(judged->verdict);
    table_set_text(table, row, DIFF_VERDICT, verdict, strlen(verdict));
    set_share(table, row, DIFF_PART, judged->change, step_change);
    set_ns(table, row, DIFF_LOW, judged->shift.low);
    set_ns(table, row, DIFF_HIGH, judged->shift.high);
    table_set_number(table, row, DIFF_P, p);
    for (int i = 0; i < 2; i++) {
        if (figure->calls[i] <= 0)
            continue;
        table_set_number(table, row, i ? DIFF_CALLS_AFTER : DIFF_CALLS_BEFORE, figure->calls[i]);
        set_ns(table, row, i ? DIFF_CALL_AFTER : DIFF_CALL_BEFORE, judged->mean[i] / figure->calls[i]);
    }
}

static void figure_release(struct figure *figure)
{
    free(figure->values[0]);
    free(figure->values[1]);
}

/* The values of ROW in SIDE from *NEXT on, one per sample; 0 in samples that lack it. Moves *NEXT behind them. */
static void take_values(const struct side *side, name_id row, size_t *next, struct figure *figure, int which)
{
    size_t samples = names_count(side->samples);
    figure->count[which] = samples;
    figure->values[which] = mem_zalloc(samples, sizeof *figure->values[which]);
    for (; *next < side->values.count && side->values.at[*next].row == row; ++*next) {
        const struct value *value = &side->values.at[*next];
        figure->values[which][value->sample] += value->time_ns;
        figure->calls[which] += value->calls / (double)samples;
        figure->present[which] = true;
    }
}

static int compare_changes(const void *left, const void *right)
{
    const union table_cell *a = left, *b = right;
    int64_t x = a[DIFF_CHANGE].i < 0 ? -a[DIFF_CHANGE].i : a[DIFF_CHANGE].i;
    int64_t y = b[DIFF_CHANGE].i < 0 ? -b[DIFF_CHANGE].i : b[DIFF_CHANGE].i;
    if (x != y)
        return x > y ? -1 : 1;
    return strcmp(a[DIFF_NAME].text.at, b[DIFF_NAME].text.at);
}

/* One table of rows, largest change first, and in its foot what the rows leave open of the step time. */
static struct table *rows_table(struct join *join, const char *key, const char *title,
                                const struct diff_options *options, int64_t step_change)
{
    size_t count = names_count(join->rows), next[2] = { 0, 0 };
    struct figure *figures = mem_zalloc(count, sizeof *figures);
    struct judged *judged = mem_alloc(count * sizeof *judged);
    double *p = mem_alloc((count + 1) * sizeof *p);
    for (name_id row = 0; row < count; row++) {
        for (int i = 0; i < 2; i++)
            take_values(&join->sides[i], row, &next[i], &figures[row], i);
        judged[row] = compare(&figures[row]);
        bool asked = figures[row].present[0] && figures[row].present[1] && judged[row].shift.decidable;
        p[row] = asked ? judged[row].shift.p : NAN;
    }
    shift_holm(p, count);
    struct table *table = table_open(key, title, columns, DIFF_COLUMNS);
    int64_t sum = 0;
    for (name_id row = 0; row < count; row++) {
        judged[row].verdict = decide(&figures[row], &judged[row], p[row], options->min_change_ns);
        add_row(table, names_text(join->rows, row), names_length(join->rows, row), &figures[row],
                &judged[row], p[row], (double)step_change);
        sum += table_cell(table, row, DIFF_CHANGE)->i;
        figure_release(&figures[row]);
    }
    if (count > 1)
        qsort(table->cells, count, DIFF_COLUMNS * sizeof *table->cells, compare_changes);
    table->sort_column = DIFF_CHANGE;
    table_add_footer(table, "rows_change", "Changes of the rows", TABLE_NS, (union table_cell){ .i = sum });
    table_add_footer(table, "not_in_rows", "Change that no row explains", TABLE_NS,
                     (union table_cell){ .i = step_change - sum });
    free(figures);
    free(judged);
    free(p);
    return table;
}

/* ---- the head ---- */

/* The head's rows are no operators: nobody asks for their calls. */
static struct table *open_head(const char *title)
{
    struct table *head = table_open("head", title, columns, DIFF_COLUMNS);
    for (int column = DIFF_CALLS_BEFORE; column <= DIFF_CALL_AFTER; column++)
        head->columns[column].flags = TABLE_OPTIONAL;
    return head;
}

/* Column COLUMN of the table of steps of both sides; steps that were not recorded to their end do not count. */
static struct figure steps_figure(struct table *const tables[2], size_t column)
{
    struct figure figure = { .present = { true, true } };
    for (int i = 0; i < 2; i++) {
        figure.values[i] = mem_zalloc(tables[i]->row_count, sizeof *figure.values[i]);
        size_t complete = column_of(tables[i], "complete");
        for (size_t row = 0; row < tables[i]->row_count; row++)
            if (integer_at(tables[i], row, complete))
                figure.values[i][figure.count[i]++] = (double)integer_at(tables[i], row, column);
    }
    return figure;
}

/* Self time on the host, or time on devices, summed over all rows for each sample. */
static struct figure total_figure(const struct join *join)
{
    struct figure figure = { .present = { true, true } };
    for (int i = 0; i < 2; i++) {
        const struct side *side = &join->sides[i];
        figure.count[i] = names_count(side->samples);
        figure.values[i] = mem_zalloc(figure.count[i], sizeof *figure.values[i]);
        for (size_t v = 0; v < side->values.count; v++)
            figure.values[i][side->values.at[v].sample] += side->values.at[v].time_ns;
    }
    return figure;
}

static int64_t add_head_row(struct table *head, const char *name, struct figure *figure,
                            const struct diff_options *options, int64_t step_change)
{
    struct judged judged = compare(figure);
    judged.verdict = decide(figure, &judged, judged.shift.p, options->min_change_ns);
    double p = judged.shift.decidable ? judged.shift.p : NAN;
    add_row(head, name, strlen(name), figure, &judged, p, (double)step_change);
    figure_release(figure);
    return table_cell(head, head->row_count - 1, DIFF_CHANGE)->i;
}

/* Step time first, then the parts that add up to it. Its change, 0 when there are no steps. */
static int64_t add_steps(struct table *head, const struct trace *const traces[2],
                         const struct diff_options *options)
{
    struct result *results[2];
    struct table *tables[2];
    bool both = true;
    for (int i = 0; i < 2; i++) {
        struct tpa_error ignored = { 0 };
        struct step_times_options all = { 0 };
        struct selection *everything = selection_open(traces[i], &(struct selection_query){ 0 }, &ignored);
        results[i] = result_open("");
        both &= everything && step_times_add_tables(traces[i], everything, &all, results[i], &ignored) &&
                results[i]->tables.count > 0;
        selection_free(everything);
        tables[i] = results[i]->tables.count ? results[i]->tables.at[0] : NULL;
    }
    int64_t change = 0;
    if (both && column_of(tables[0], "duration") != SIZE_MAX) {
        size_t time = column_of(tables[0], "duration");
        struct figure figure = steps_figure(tables, time);
        change = add_head_row(head, "step time", &figure, options, 0);
        for (size_t column = time + 1; column < tables[0]->column_count; column++) {
            if (tables[0]->columns[column].kind != TABLE_NS ||
                strcmp(tables[0]->columns[column].key, "host_duration") == 0)
                continue;
            char name[64];
            snprintf(name, sizeof name, "  %s", tables[0]->columns[column].title);
            figure = steps_figure(tables, column);
            add_head_row(head, name, &figure, options, change);
        }
    }
    for (int i = 0; i < 2; i++)
        result_free(results[i]);
    return change;
}

/* ---- both sides ---- */

struct trace_wants diff_wants(const struct diff_options *options)
{
    struct top_options top = { .by = (options->by ? options->by : TOP_OPERATOR) | TOP_STEP };
    struct trace_wants wants = top_wants(&top);
    wants.args |= step_times_wants.args;
    wants.flows |= step_times_wants.flows;
    return wants;
}

static void join_open(struct join *join, const struct trace *const traces[2], unsigned by, enum metric metric)
{
    *join = (struct join){ .rows = names_open() };
    for (int i = 0; i < 2; i++) {
        join->sides[i].trace = traces[i];
        join->sides[i].samples = names_open();
        collect(join, &join->sides[i], by, metric);
    }
}

static void tell_device(struct buffer *out, const struct trace *trace)
{
    const struct trace_file *file = &trace->files[0];
    for (size_t i = 0; i < file->devices.count; i++) {
        bool used = false;
        for (size_t t = 0; t < trace->track_count; t++)
            used |= trace->tracks[t].device == file->devices.at[i].id && trace->tracks[t].event_count;
        if (used) {
            buffer_puts(out, file->devices.at[i].name);
            return;
        }
    }
    buffer_puts(out, "no device");
}

/* What makes the sides hard to compare is said, and does not stop the comparison. */
static void tell_differences(struct result *result, const struct trace *const traces[2],
                             const struct join *join)
{
    struct buffer devices[2] = { { 0 }, { 0 } };
    for (int i = 0; i < 2; i++)
        tell_device(&devices[i], traces[i]);
    if (strcmp(devices[0].at, devices[1].at) != 0)
        result_add_notice(result, "other_device", 1, NULL, TPA_NOWHERE, "not the same device: %s against %s",
                          devices[0].at, devices[1].at);
    for (int i = 0; i < 2; i++)
        buffer_release(&devices[i]);
    if (traces[0]->file_count != traces[1]->file_count)
        result_add_notice(result, "other_files", 1, NULL, TPA_NOWHERE, "%zu files against %zu",
                          traces[0]->file_count, traces[1]->file_count);
    size_t before = names_count(join->sides[0].samples), after = names_count(join->sides[1].samples);
    if (before != after)
        result_add_notice(result, "other_steps", 1, NULL, TPA_NOWHERE,
                          "%zu steps against %zu: all figures are per step", before, after);
    double *few = mem_zalloc(before + after + 1, sizeof *few);
    struct shift shift;
    shift_compare(few, before, few, after, &shift);
    free(few);
    if (!shift.decidable)
        result_add_notice(
            result, "too_few_steps", 1, NULL, TPA_NOWHERE,
            "%zu and %zu steps are too few to tell a change from chance: it needs at least 4 a side", before,
            after);
}

struct result *diff_analyze(const struct trace *before, const struct trace *after,
                            const struct diff_options *options, struct tpa_error *err)
{
    const struct trace *const traces[2] = { before, after };
    bool kernels = options->by & (TOP_KERNEL | TOP_STREAM | TOP_DEVICE);
    unsigned by = options->by ? options->by : TOP_OPERATOR;
    struct join host, device;
    join_open(&host, traces, kernels ? TOP_OPERATOR : by, METRIC_HOST);
    join_open(&device, traces, kernels ? options->by : TOP_KERNEL, METRIC_DEVICE);
    struct result *result = result_open("tpa.diff/1");
    bool empty = host.sides[0].values.count + device.sides[0].values.count == 0 ||
                 host.sides[1].values.count + device.sides[1].values.count == 0;
    if (!empty) {
        struct table *head = open_head("Per step");
        int64_t change = add_steps(head, traces, options);
        struct figure figure = total_figure(&host);
        add_head_row(head, "host time (self CPU)", &figure, options, change);
        bool on_device = device.sides[0].values.count || device.sides[1].values.count;
        figure = total_figure(&device);
        if (on_device)
            add_head_row(head, "device time (kernels, copies)", &figure, options, change);
        else
            figure_release(&figure);
        result_add_table(result, head);
        if (!kernels)
            result_add_table(result,
                             rows_table(&host, "operators", "Time on the host, by row", options, change));
        if (on_device && (kernels || options->by == 0))
            result_add_table(result,
                             rows_table(&device, "kernels", "Time on devices, by row", options, change));
        tell_differences(result, traces, &host);
    } else {
        tpa_fail(err, TPA_NOWHERE,
                 "there is nothing to compare: a side holds no events, or none within its steps");
    }
    join_release(&host);
    join_release(&device);
    if (!empty)
        return result;
    result_free(result);
    return NULL;
}

/* ---- Python profiles ---- */

static void collect_functions(struct join *join, struct side *side, const struct profile *profile)
{
    double files = profile->files.count ? (double)profile->files.count : 1;
    struct buffer name = { 0 };
    names_add(side->samples, "", 0);
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *function = &profile->functions[profile->listed[i]];
        if (!isfinite(function->cost.total_s))
            continue;
        buffer_clear(&name);
        profile_function_text(function, &name);
        *VEC_PUSH(&side->values) = (struct value){
            .row = names_add(join->rows, name.at ? name.at : "", name.count),
            .time_ns = function->cost.total_s * 1e9 / files,
            .calls = (double)function->cost.calls / files,
        };
    }
    buffer_release(&name);
    if (side->values.count > 1)
        qsort(side->values.at, side->values.count, sizeof *side->values.at, compare_values);
}

struct result *diff_profiles(const struct profile *before, const struct profile *after,
                             const struct diff_options *options)
{
    const struct profile *const profiles[2] = { before, after };
    struct join join = { .rows = names_open() };
    for (int i = 0; i < 2; i++) {
        join.sides[i].samples = names_open();
        collect_functions(&join, &join.sides[i], profiles[i]);
    }
    struct result *result = result_open("tpa.diff/1");
    struct table *head = open_head("Per profile");
    struct figure figure = total_figure(&join);
    int64_t change = add_head_row(head, "time in all functions", &figure, options, 0);
    result_add_table(result, head);
    result_add_table(result, rows_table(&join, "functions", "Time in functions, without what they called",
                                        options, change));
    result_add_notice(result, "no_spread", 1, NULL, TPA_NOWHERE,
                      "a profile holds sums, not steps: whether a change is real it can not tell");
    join_release(&join);
    return result;
}
