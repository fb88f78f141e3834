/* runs.c - separate runs side by side, as of a sweep: samples a second, the time of a step, memory. */
#include "charts/parts.h"
#include "derive/features.h"
#include "derive/file_set.h"
#include "memory/memory.h"
#include "summary/runs.h"
#include <math.h>

static const struct table_column columns[] = {
    COLUMN(struct summary_run, name, "run", "Run", TABLE_NAME, "its folder or file"),
    COLUMN(struct summary_run, samples, "samples", "Samples a second", TABLE_NUMBER,
           "batch times ranks over the time of a step"),
    COLUMN(struct summary_run, step_ns, "step", "A step takes", TABLE_NS, "time of a step"),
    COLUMN(struct summary_run, peak_bytes, "peak_memory", "Peak memory", TABLE_BYTES, "most bytes in use"),
};

/* Bars of COLUMN, unless no run has it. */
static void runs_add_chart(struct picture *picture, const struct summary_runs *runs, size_t column,
                           const char *title)
{
    struct table *table = TABLE_OF_ROWS(columns[column].key, NULL, columns, runs->at.at, runs->at.count);
    bool any = false;
    for (size_t i = 0; i < runs->at.count; i++)
        any |= !isnan(chart_value(table, i, column));
    if (!any) {
        table_free(table);
        return;
    }
    struct chart *chart = picture_add_chart(picture, columns[column].key, title);
    chart->horizontal = true;
    chart->x = (struct chart_axis){ .title = "Run", .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = columns[column].title, .kind = columns[column].kind };
    chart_add_series(chart, (struct chart_series){ .title = columns[column].title,
                                                   .mark = CHART_BAR,
                                                   .color = chart_color_at(column - 1),
                                                   .table = chart_add_table(chart, table),
                                                   .y = column });
}

static bool runs_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    if (file_set_of(request->trace)->jobs < 2) {
        tpa_fail(err, TPA_NOWHERE, "there is nothing to draw: these files are one run");
        return tpa_hint(err, "give those of several, such as bs32/ bs64/, or say --as files");
    }
    static const struct run_sizes none;
    struct summary_runs runs;
    bool good = summary_find_runs(request->trace, request->query, request->sizes ? request->sizes : &none,
                                  &runs, err);
    if (good) {
        runs_add_chart(picture, &runs, 1, "Samples a second");
        runs_add_chart(picture, &runs, 2, "Time of a step");
        runs_add_chart(picture, &runs, 3, "Peak memory");
        if (!runs.any_batch && picture->charts.count)
            picture->charts.at[0]->note =
                "samples a second need the size of a batch: FILE@batch=N, --batch N for all, or record_shapes=True";
    }
    VEC_FREE(&runs.at);
    return good && chart_is_drawn(picture, err, "no run holds work");
}

const struct chart_type chart_type_runs = {
    .name = "runs",
    .title = "Runs side by side",
    .help = "runs of a sweep: samples a second, the time of a step, peak memory",
    .wants = { &steps_wants, &memory_wants },
    .needs = FEATURE_EVENTS,
    .draw = runs_draw,
};
