/* gaps.c - how much idle time there was in gaps of each length, and why. */
#include "charts/parts.h"
#include "analyze/gaps.h"
#include "base/sum.h"
#include "facts/features.h"

/* The colour of each cause by its name; what is the device's own business is pale. */
static enum chart_color color_of(const char *cause)
{
    static const struct {
        const char *cause;
        enum chart_color color;
    } colors[] = {
        { "host", CHART_COLOR_OF_HOST },     { "launch latency", CHART_ORANGE },
        { "synchronisation", CHART_YELLOW }, { "allocation", CHART_BLUE },
        { "data loading", CHART_PURPLE },    { "communication wait", CHART_COLOR_OF_COMMUNICATION },
        { "profiler overhead", CHART_GREY }, { "unknown", CHART_PALE },
    };
    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
        if (strcmp(colors[i].cause, cause) == 0)
            return colors[i].color;
    return CHART_GREEN;
}

void chart_gaps(struct picture *picture, const struct table *lengths)
{
    if (lengths->row_count == 0)
        return;
    struct chart *chart =
        picture_add_chart(picture, "gaps", "Idle time by the length of the gaps, and its cause");
    chart->x = (struct chart_axis){ .title = "Length of a gap, from", .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Idle time", .kind = TABLE_NS };
    struct table *table =
        chart_add_table(chart, table_open("gaps", NULL, lengths->columns, lengths->column_count));
    for (size_t i = 0; i < lengths->row_count; i++) {
        size_t row = table_add_row(table);
        const union table_cell *length = table_cell(lengths, i, 0);
        table_set_text(table, row, 0, length->text.at, length->text.len);
        for (size_t c = 1; c < lengths->column_count; c++)
            table_set_int(table, row, c, table_cell(lengths, i, c)->i);
    }
    for (size_t c = 1; c < table->column_count; c++) {
        int64_t sum_ns = 0;
        for (size_t row = 0; row < table->row_count; row++)
            sum_add(&sum_ns, table_cell(table, row, c)->i);
        if (sum_ns > 0)
            chart_add_series(chart, (struct chart_series){ .title = table->columns[c].title,
                                                           .mark = CHART_BAR,
                                                           .color = color_of(table->columns[c].title),
                                                           .table = table,
                                                           .y = c });
    }
}

static struct trace_wants wants(void)
{
    return gaps_wants;
}

static bool draw(const struct chart_question *question, struct picture *picture, struct tpa_error *err)
{
    struct table *lengths = gaps_lengths(question->trace, question->selection);
    chart_gaps(picture, lengths);
    table_free(lengths);
    return chart_is_drawn(picture, err, "no device was idle between two works");
}

const struct chart_type chart_type_gaps = {
    .name = "gaps",
    .title = "Gaps",
    .help = "idle time of the devices by the length of the gaps, and its causes",
    .wants = wants,
    .needs = FEATURE_GPU,
    .draw = draw,
};
