/* steps.c - where the time of each step went: a pile of parts for each step, a chart for each rank. */
#include "charts/parts.h"
#include "analyze/steps.h"
#include "facts/features.h"
#include "facts/step_list.h"
#include <inttypes.h>

/* The parts of a step, as table "steps" calls them, from the bottom of the pile. */
static const struct {
    const char *key;
    enum chart_color color;
} parts[] = {
    { "kernel", CHART_COLOR_OF_COMPUTATION },
    { "communication", CHART_COLOR_OF_COMMUNICATION },
    { "memcpy", CHART_COLOR_OF_COPIES },
    { "memset", CHART_YELLOW },
    { "runtime", CHART_ORANGE },
    { "data_loading", CHART_PURPLE },
    { "cpu", CHART_COLOR_OF_HOST },
    { "other", CHART_COLOR_OF_OTHER },
};

enum { PARTS = sizeof parts / sizeof *parts };

/* "12" for ProfilerStep#12; else the name. */
static void set_label(struct table *table, size_t row, const union table_cell *name)
{
    int64_t number;
    char text[32];
    if (step_number(name->text.at, &number)) {
        int len = snprintf(text, sizeof text, "%" PRId64, number);
        table_set_text(table, row, 0, text, (size_t)len);
    } else {
        table_set_text(table, row, 0, name->text.at, name->text.len);
    }
}

/* The COUNT rows of STEPS from FIRST on, which are of one rank; SEVERAL: there are others. */
static void add_rank(struct picture *picture, const struct table *steps, size_t first, size_t count,
                     bool several)
{
    struct chart *chart = picture_add_chart(picture, "steps", "Where the time of each step went");
    if (several) {
        int64_t rank = chart_integer(steps, first, "rank");
        chart->key = arena_printf(&chart->arena, "steps_%" PRId64, rank);
        chart->title = arena_printf(&chart->arena, "%s, rank %" PRId64, chart->title, rank);
    }
    chart->x = (struct chart_axis){ .title = "Step", .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Time", .kind = TABLE_NS };
    struct table_column columns[PARTS + 1] = { { "step", "Step", TABLE_NAME, "number of the step", 0,
                                                 NULL } };
    for (size_t p = 0; p < PARTS; p++) {
        columns[p + 1] = steps->columns[table_find_column(steps, parts[p].key, strlen(parts[p].key))];
        columns[p + 1].flags = 0;
    }
    struct table *table = chart_add_table(chart, table_open("steps", NULL, columns, PARTS + 1));
    int64_t sums[PARTS] = { 0 };
    for (size_t i = first; i < first + count; i++) {
        size_t row = table_add_row(table);
        set_label(table, row, chart_cell(steps, i, "step"));
        for (size_t p = 0; p < PARTS; p++) {
            int64_t part_ns = chart_integer(steps, i, parts[p].key);
            table_set_int(table, row, p + 1, part_ns);
            sums[p] += part_ns;
        }
    }
    for (size_t p = 0; p < PARTS; p++)
        if (sums[p] > 0)
            chart_add_series(chart, (struct chart_series){ .title = columns[p + 1].title,
                                                           .mark = CHART_BAR,
                                                           .color = parts[p].color,
                                                           .table = table,
                                                           .y = p + 1 });
    if (chart->series.count == 0)
        picture_drop_chart(picture);
}

void chart_steps(struct picture *picture, const struct table *steps)
{
    size_t ranks = 0;
    for (size_t first = 0, end; first < steps->row_count; first = end, ranks++) {
        int64_t rank = chart_integer(steps, first, "rank");
        for (end = first + 1; end < steps->row_count && chart_integer(steps, end, "rank") == rank;)
            end++;
        if (ranks < CHART_MOST_PANELS)
            add_rank(picture, steps, first, end - first, first > 0 || end < steps->row_count);
    }
    chart_tell_panels(picture, CHART_MOST_PANELS, ranks, "ranks");
}

static struct trace_wants wants(void)
{
    return steps_wants;
}

static bool draw(const struct chart_question *question, struct picture *picture, struct tpa_error *err)
{
    struct result *result = result_open("");
    bool good =
        steps_add_tables(question->trace, question->selection, &(struct steps_options){ 0 }, result, err);
    if (good)
        chart_steps(picture, chart_find_table(result, "steps"));
    result_free(result);
    return good && chart_is_drawn(picture, err, "no step took any time");
}

const struct chart_type chart_type_steps = {
    .name = "steps",
    .title = "Steps",
    .help = "where the time of each step went",
    .wants = wants,
    .needs = FEATURE_EVENTS,
    .draw = draw,
};
