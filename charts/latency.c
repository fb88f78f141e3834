/* latency.c - how long what repeats takes: the share that takes no longer, and over time. */
#include "analyze/latency/latency.h"
#include "charts/parts.h"
#include "derive/features.h"
#include "trace/span.h"
#include <math.h>

enum { SERIES = 7 }; /* as many as there are colours */

struct point {
    int64_t start_ns, duration_ns;
    double share; /* of the ranges of the row that take no longer */
    struct text name;
};

static const struct table_column columns[] = {
    COLUMN(struct point, start_ns, "start", "Start", TABLE_MOMENT,
           "when it began, from the origin of the file"),
    COLUMN(struct point, duration_ns, "duration", "Duration", TABLE_NS, "how long it took"),
    COLUMN(struct point, share, "share", "Share", TABLE_SHARE, "of all that take no longer"),
    COLUMN(struct point, name, "name", "Name", TABLE_NAME, "its name in the file"),
};

/* The ranges of ROW, the shortest first. */
static struct table *points_of(const struct latency *latency, const struct trace *trace,
                               const struct latency_row *row)
{
    struct table *table = TABLE_OF_ROWS("ranges", NULL, columns, (struct point *)NULL, 0);
    for (int64_t i = 0; i < row->count; i++) {
        const struct latency_range *range = &latency->ranges.at[row->first + (size_t)i];
        uint32_t file = trace->tracks[trace->track[range->event]].file;
        struct point point = { .start_ns = range->start_ns - trace_file_span(trace, file).start_ns,
                               .duration_ns = range->duration_ns,
                               .share = (double)(i + 1) / (double)row->count,
                               .name = latency_name_of(trace, row, range) };
        table_add_rows(table, &point, 1, sizeof point);
    }
    return table;
}

static void latency_add_series(struct chart *chart, const struct latency *latency, const struct trace *trace,
                               enum chart_mark mark, size_t x, size_t y)
{
    for (size_t i = 0; i < latency->rows.count && i < SERIES; i++) {
        const struct latency_row *row = &latency->rows.at[i];
        const char *title = arena_strndup(&chart->arena, row->name.at, row->name.len);
        struct table *table = chart_add_table(chart, points_of(latency, trace, row));
        chart_add_series(chart, (struct chart_series){ .title = title,
                                                       .mark = mark,
                                                       .color = chart_color_at(i),
                                                       .table = table,
                                                       .x = x,
                                                       .y = y,
                                                       .low = TABLE_NO_COLUMN });
    }
    if (latency->rows.count > SERIES)
        chart->note = arena_printf(&chart->arena, "the %d of %zu names that take the most time", SERIES,
                                   latency->rows.count);
}

static bool latency_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    const struct trace *trace = request->trace;
    const struct latency *latency = latency_analyze(trace, request->selection, 0, &latency_defaults, err);
    if (!latency)
        return false;
    if (latency->rows.count) {
        struct chart *chart = picture_add_chart(picture, "latency_shares", "Share that takes no longer");
        chart->x = (struct chart_axis){ .title = "Duration", .kind = TABLE_NS, .log = true };
        chart->y = (struct chart_axis){
            .title = "Share", .kind = TABLE_SHARE, .has_least = true, .has_most = true, .most = 1
        };
        latency_add_series(chart, latency, trace, CHART_STAIRS, 1, 2);
        chart = picture_add_chart(picture, "latency_over_time", "How long each takes, over time");
        chart->x = trace->file_count == 1 ? chart_time_axis(request, 0)
                                          : (struct chart_axis){ .title = "Time from the start of the file",
                                                                 .kind = TABLE_MOMENT };
        chart->y = (struct chart_axis){ .title = "Duration", .kind = TABLE_NS, .log = true };
        latency_add_series(chart, latency, trace, CHART_POINT, 0, 1);
    }
    arena_free(latency);
    if (chart_is_drawn(picture, err, "no annotation, step or request occurs twice"))
        return true;
    return tpa_hint(err, "record several iterations, and %s",
                    trace_feature_recipe(trace, FEATURE_ANNOTATIONS));
}

const struct chart_type chart_type_latency = {
    .name = "latency",
    .title = "Latency",
    .help = "how long annotations, steps and requests take: the share that takes no longer, and over time",
    .wants = { &latency_wants },
    .needs = FEATURE_EVENTS,
    .draw = latency_draw,
};
