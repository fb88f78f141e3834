/*
 * tops.c - bars of what took the most time: operators and kernels.
 *
 * Rows are sorted by the figure drawn. Those that are not shown are told in the note, with their share.
 */
#include "charts/parts.h"
#include "analyze/kernels.h"
#include "analyze/top/top.h"
#include "base/sum.h"
#include "facts/communication.h"
#include "facts/features.h"
#include <stdlib.h>

/* A row of the table that the chart is made of. */
struct ranked {
    size_t row;
    int64_t value;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* The rows of TABLE with a figure above 0 in column VALUE for which TYPE is NULL or in column device_type, largest first. */
static struct ranked *rank_rows(const struct table *table, const char *value, const char *type, size_t *count)
{
    struct ranked *ranked = mem_alloc((table->row_count + 1) * sizeof *ranked);
    *count = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        int64_t figure = chart_integer(table, row, value);
        const char *found = type ? chart_cell(table, row, "device_type")->text.at : NULL;
        if (figure > 0 && (!type || (found && strcmp(found, type) == 0)))
            ranked[(*count)++] = (struct ranked){ row, figure };
    }
    qsort(ranked, *count, sizeof *ranked, compare_ranked);
    return ranked;
}

/* "15 of 56 operators, 93.0 % of the time" when not all are shown. */
static const char *tell_shown(struct chart *chart, const struct ranked *ranked, size_t shown, size_t count,
                              const char *things)
{
    if (shown == count)
        return NULL;
    double sum = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        sum += i < shown ? (double)ranked[i].value : 0;
        all += (double)ranked[i].value;
    }
    return arena_printf(&chart->arena, "the first %zu of %zu %s: %.1f %% of the time of all", shown, count,
                        things, 100 * sum / all);
}

static size_t shown_of(size_t count, size_t bars)
{
    return bars && bars < count ? bars : count;
}

static struct chart *add_bars(struct picture *picture, const char *key, const char *title)
{
    struct chart *chart = picture_add_chart(picture, key, title);
    chart->horizontal = true;
    chart->x = (struct chart_axis){ .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Time", .kind = TABLE_NS };
    return chart;
}

/* ---- operators ---- */

static void add_operators(struct picture *picture, const struct table *operators, size_t bars,
                          const char *key, const char *title, const char *value, enum chart_color color)
{
    static const struct table_column columns[] = {
        { "name", "Name", TABLE_NAME, "operator, annotation or call", 0, NULL },
        { "time", "Time", TABLE_NS, "its time", 0, NULL },
    };
    size_t count;
    struct ranked *ranked = rank_rows(operators, value, "CPU", &count);
    size_t shown = shown_of(count, bars);
    if (shown > 0) {
        struct chart *chart = add_bars(picture, key, title);
        struct table *table = chart_add_table(chart, table_open(key, title, columns, 2));
        for (size_t i = 0; i < shown; i++) {
            const union table_cell *name = chart_cell(operators, ranked[i].row, "name");
            size_t row = table_add_row(table);
            table_set_text(table, row, 0, name->text.at, name->text.len);
            table_set_int(table, row, 1, ranked[i].value);
        }
        chart->note = tell_shown(chart, ranked, shown, count, "rows");
        chart_add_series(chart,
                         (struct chart_series){ .mark = CHART_BAR, .color = color, .table = table, .y = 1 });
    }
    free(ranked);
}

void chart_operators(struct picture *picture, const struct table *operators, size_t bars)
{
    add_operators(picture, operators, bars, "device", "Operators by the device time of their own kernels",
                  "self_device_time_total", CHART_COLOR_OF_COMPUTATION);
    add_operators(picture, operators, bars, "host", "Operators and calls by their own time on the host",
                  "self_cpu_time_total", CHART_COLOR_OF_HOST);
}

static struct trace_wants operators_wants(void)
{
    return top_wants(&(struct top_options){ .by = TOP_OPERATOR });
}

static bool draw_operators(const struct chart_question *question, struct picture *picture,
                           struct tpa_error *err)
{
    struct top_options options = { .by = TOP_OPERATOR, .selection = question->selection };
    struct result *result = top_analyze(question->trace, &options);
    chart_operators(picture, chart_find_table(result, "operators"), question->bars);
    result_free(result);
    return chart_is_drawn(picture, err, "no operator took any time");
}

const struct chart_type chart_type_operators = {
    .name = "operators",
    .title = "Operators",
    .help = "operators by the device time of their kernels, and by their own time on the host",
    .wants = operators_wants,
    .needs = FEATURE_EVENTS,
    .draw = draw_operators,
};

/* ---- kernels ---- */

/* Which column of the chart's table a kernel's bar is in. */
enum { KERNEL_COMMUNICATES = 4, KERNEL_COLUMNS };

static size_t column_of(const struct kernel_row *kernel)
{
    static const size_t columns[] = { [TENSOR_YES] = 1, [TENSOR_NO] = 2, [TENSOR_UNKNOWN] = 3 };
    return kernel_is_communication(kernel->name.at) ? KERNEL_COMMUNICATES : columns[kernel->tensor_use];
}

void chart_kernels(struct picture *picture, const struct kernels *kernels, size_t bars)
{
    static const struct table_column columns[] = {
        { "name", "Name", TABLE_NAME, "the kernel", 0, NULL },
        { "yes", "Tensor cores", TABLE_NS, "time of a kernel on tensor cores", 0, NULL },
        { "no", "No tensor cores", TABLE_NS, "of a kernel that uses none", 0, NULL },
        { "unknown", "Unknown from its name", TABLE_NS, "of any other", 0, NULL },
        { "communication", "Communication", TABLE_NS, "of one that communicates", 0, NULL },
    };
    static const enum chart_color colors[] = { CHART_BLUE, CHART_ORANGE, CHART_GREY,
                                               CHART_COLOR_OF_COMMUNICATION };
    size_t used[KERNEL_COLUMNS] = { 0 }, count = 0;
    while (count < kernels->count && kernels->at[count].durations.total_ns > 0)
        count++;
    size_t shown = shown_of(count, bars);
    if (shown == 0)
        return;
    struct chart *chart = add_bars(picture, "kernels", "Kernels by total time");
    struct table *table = chart_add_table(chart, table_open("kernels", NULL, columns, KERNEL_COLUMNS));
    int64_t shown_ns = 0;
    for (size_t i = 0; i < shown; i++) {
        const struct kernel_row *kernel = &kernels->at[i];
        size_t row = table_add_row(table), column = column_of(kernel);
        table_set_text(table, row, 0, kernel->name.at, kernel->name.len);
        table_set_int(table, row, column, kernel->durations.total_ns);
        sum_add(&shown_ns, kernel->durations.total_ns);
        used[column]++;
    }
    if (shown < count)
        chart->note = arena_printf(&chart->arena, "the first %zu of %zu kernels: %.1f %% of the time of all",
                                   shown, count, 100 * (double)shown_ns / (double)kernels->total_ns);
    for (size_t column = 1; column < KERNEL_COLUMNS; column++)
        if (used[column])
            chart_add_series(chart, (struct chart_series){ .title = columns[column].title,
                                                           .mark = CHART_BAR,
                                                           .color = colors[column - 1],
                                                           .table = table,
                                                           .y = column });
}

static struct trace_wants wants_of_kernels(void)
{
    return kernels_wants;
}

static bool draw_kernels(const struct chart_question *question, struct picture *picture,
                         struct tpa_error *err)
{
    struct kernels *kernels = kernels_analyze(question->trace, question->selection, 0);
    chart_kernels(picture, kernels, question->bars);
    kernels_free(kernels);
    return chart_is_drawn(picture, err, "no kernel took any time");
}

const struct chart_type chart_type_kernels = {
    .name = "kernels",
    .title = "Kernels",
    .help = "kernels by total time, and whether they run on tensor cores or communicate",
    .wants = wants_of_kernels,
    .needs = FEATURE_GPU,
    .draw = draw_kernels,
};
