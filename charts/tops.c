/*
 * tops.c - bars of what took the most time: operators and kernels.
 *
 * Rows are sorted by the figure drawn. Those that are not shown are reported in the note, with their share.
 */
#include "base/rows.h"
#include "charts/parts.h"
#include "analyze/top/top.h"
#include "derive/communication.h"
#include "derive/features.h"

/* A bar. */
struct ranked {
    const struct top_row *row;
    int64_t time_ns;
};

static const struct key by_time[] = { DESC(struct ranked, time_ns), KEY_END };

struct ranking {
    VEC_OF(struct ranked);
};

/* The rows of the host with a time above 0 on the host or on DEVICES, largest first. */
static struct ranking rank_rows(const struct top *top, bool devices)
{
    struct ranking ranking = { 0 };
    FOR_EACH(row, top) {
        int64_t time_ns = devices ? row->self_device_ns : row->self_cpu_ns;
        if (time_ns > 0 && !row->on_device)
            *VEC_PUSH(&ranking) = (struct ranked){ row, time_ns };
    }
    SORT(&ranking, by_time);
    return ranking;
}

/* "15 of 56 operators, 93.0 % of the time" when not all are shown. */
static const char *describe_shown(struct chart *chart, const struct ranking *ranking, size_t shown)
{
    if (shown == ranking->count)
        return NULL;
    double sum = 0, all = 0;
    for (size_t i = 0; i < ranking->count; i++) {
        sum += i < shown ? (double)ranking->at[i].time_ns : 0;
        all += (double)ranking->at[i].time_ns;
    }
    return arena_printf(&chart->arena, "the first %zu of %zu rows: %.1f %% of the time of all", shown,
                        ranking->count, quantity_percent(sum / all));
}

static size_t shown_of(size_t count, size_t bars)
{
    return bars && bars < count ? bars : count;
}

struct chart *picture_add_times(struct picture *picture, const char *key, const char *title)
{
    struct chart *chart = picture_add_chart(picture, key, title);
    chart->horizontal = true;
    chart->x = (struct chart_axis){ .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Time", .kind = TABLE_NS };
    return chart;
}

/* ---- operators ---- */

static void add_operators(struct picture *picture, const struct top *top, size_t bars, bool devices)
{
    struct operator_bar {
        struct text name;
        int64_t time_ns;
    };
    static const struct table_column columns[] = {
        COLUMN(struct operator_bar, name, "name", "Name", TABLE_NAME, "operator, annotation or call"),
        COLUMN(struct operator_bar, time_ns, "time", "Time", TABLE_NS, "its time"),
    };
    const char *key = devices ? "device" : "host";
    const char *title = devices ? "Operators by the device time of their own kernels"
                                : "Operators and calls by their own time on the host";
    SCOPED struct ranking ranking = rank_rows(top, devices);
    size_t shown = shown_of(ranking.count, bars);
    if (shown > 0) {
        struct chart *chart = picture_add_times(picture, key, title);
        struct table *table =
            chart_add_table(chart, TABLE_OF_ROWS(key, title, columns, (struct operator_bar *)NULL, 0));
        for (size_t i = 0; i < shown; i++) {
            struct operator_bar bar = { ranking.at[i].row->name, ranking.at[i].time_ns };
            table_add_rows(table, &bar, 1, sizeof bar);
        }
        chart->note = describe_shown(chart, &ranking, shown);
        chart_add_series(
            chart, (struct chart_series){ .mark = CHART_BAR,
                                          .color = devices ? CHART_COLOR_OF_COMPUTATION : CHART_COLOR_OF_HOST,
                                          .table = table,
                                          .y = 1 });
    }
}

void chart_operators(struct picture *picture, const struct top *top, size_t bars)
{
    add_operators(picture, top, bars, true);
    add_operators(picture, top, bars, false);
}

static bool draw_operators(const struct chart_request *request, struct picture *picture,
                           struct tpa_error *err)
{
    struct top_options options = { .by = TOP_OPERATOR, .selection = request->selection };
    SCOPED_OBJECT struct top *top = top_analyze(request->trace, &options);
    chart_operators(picture, top, request->bars);
    return chart_is_drawn(picture, err, "no operator took any time");
}

const struct chart_type chart_type_operators = {
    .name = "operators",
    .title = "Operators",
    .help = "operators by the device time of their kernels, and by their own time on the host",
    .wants = { &top_least_wants },
    .needs = FEATURE_EVENTS,
    .draw = draw_operators,
};

/* ---- kernels ---- */

/* Which column of the chart's table a kernel's bar is in. */
enum { KERNEL_UNKNOWN = 3, KERNEL_COMMUNICATES, KERNEL_COLUMNS };

static size_t tops_column_of(const struct kernel_row *kernel, bool has_tensor_cores)
{
    static const size_t columns[] = { [TENSOR_YES] = 1, [TENSOR_NO] = 2, [TENSOR_UNKNOWN] = KERNEL_UNKNOWN };
    return kernel_is_communication(kernel->name.at) ? KERNEL_COMMUNICATES
           : has_tensor_cores                       ? columns[kernel->tensor_use]
                                                    : KERNEL_UNKNOWN;
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
    bool has_tensor_cores = device_type_has_cuda(trace_device_type(kernels->trace));
    while (count < kernels->count && kernels->at[count].durations.total_ns > 0)
        count++;
    size_t shown = shown_of(count, bars);
    if (shown == 0)
        return;
    struct chart *chart = picture_add_times(picture, "kernels", "Kernels by total time");
    struct table *table = chart_add_table(chart, table_open("kernels", NULL, columns, KERNEL_COLUMNS));
    int64_t shown_ns = 0;
    FOR_EACH_OF(kernel, kernels->at, shown) {
        size_t row = table_add_row(table), column = tops_column_of(kernel, has_tensor_cores);
        table_set_text(table, row, 0, kernel->name.at, kernel->name.len);
        table_set_int(table, row, column, kernel->durations.total_ns);
        sum_add(&shown_ns, kernel->durations.total_ns);
        used[column]++;
    }
    if (shown < count)
        chart->note =
            arena_printf(&chart->arena, "the first %zu of %zu kernels: %.1f %% of the time of all", shown,
                         count, quantity_percent((double)shown_ns / (double)kernels->total_ns));
    for (size_t column = 1; column < KERNEL_COLUMNS; column++)
        if (used[column])
            chart_add_series(chart,
                             (struct chart_series){ .title = column == KERNEL_UNKNOWN && !has_tensor_cores
                                                                 ? "Computation"
                                                                 : columns[column].title,
                                                    .mark = CHART_BAR,
                                                    .color = colors[column - 1],
                                                    .table = table,
                                                    .y = column });
}

static bool draw_kernels(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    SCOPED_OBJECT struct kernels *kernels = kernels_analyze(request->trace, request->selection, 0);
    chart_kernels(picture, kernels, request->bars);
    return chart_is_drawn(picture, err, "no kernel took any time");
}

const struct chart_type chart_type_kernels = {
    .name = "kernels",
    .title = "Kernels",
    .help = "kernels by total time, and whether they run on tensor cores or communicate",
    .wants = { &kernels_wants },
    .needs = FEATURE_GPU,
    .draw = draw_kernels,
};
