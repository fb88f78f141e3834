/* queue.c - how many launches waited in the queue of each stream, over time. */
#include "charts/parts.h"
#include "analyze/launches.h"
#include "facts/features.h"

static struct trace_wants wants(void)
{
    return launches_wants;
}

static void copy_rows(struct table *to, const struct table *from)
{
    for (size_t i = 0; i < from->row_count; i++) {
        size_t row = table_add_row(to);
        table_set_int(to, row, 0, table_cell(from, i, 0)->i);
        table_set_int(to, row, 1, table_cell(from, i, 1)->i);
    }
}

static bool draw(const struct chart_question *question, struct picture *picture, struct tpa_error *err)
{
    struct result *depths = launches_depths(question->trace, question->selection);
    for (size_t i = 0; i < depths->tables.count && i < CHART_MOST_PANELS; i++) {
        const struct table *depth = depths->tables.at[i];
        struct chart *chart = picture_add_chart(picture, "queue", NULL);
        chart->key = arena_printf(&chart->arena, "queue_%zu", i + 1);
        chart->title = arena_printf(&chart->arena, "Launches waiting for %s", depth->title);
        chart->x =
            question->trace->file_count == 1
                ? chart_time_axis(question, 0)
                : (struct chart_axis){ .title = "Time from the start of the file", .kind = TABLE_MOMENT };
        chart->y = (struct chart_axis){ .title = "Launches", .kind = TABLE_COUNT };
        struct table *table = chart_add_table(chart, table_open("depths", NULL, depth->columns, 2));
        copy_rows(table, depth);
        chart_add_series(
            chart, (struct chart_series){
                       .mark = CHART_STAIRS, .color = CHART_COLOR_OF_COMPUTATION, .table = table, .y = 1 });
    }
    chart_tell_panels(picture, CHART_MOST_PANELS, depths->tables.count, "streams");
    result_free(depths);
    return chart_is_drawn(picture, err, "no call that launched work is in the file");
}

const struct chart_type chart_type_queue = {
    .name = "queue",
    .title = "Queue depth",
    .help = "launches that wait for each stream, over time",
    .wants = wants,
    .needs = FEATURE_GPU,
    .draw = draw,
};
