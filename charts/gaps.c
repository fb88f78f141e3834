/* gaps.c - how much idle time there was in gaps of each length, and why. */
#include "charts/parts.h"
#include "derive/features.h"

/* Gaps of one range of lengths. */
struct length_row {
    struct text from;
    int64_t part_ns[GAP_CAUSES];
};

static const struct table_column length_column =
    COLUMN(struct length_row, from, "length", "Length", TABLE_NAME,
           "gaps of this length, and up to that of the next row");

/* "< 1.000us", "2.000us": the shortest gap of RANGE, kept in ARENA. */
static struct text range_text(size_t range, struct arena *arena)
{
    SCOPED struct buffer text = { 0 };
    buffer_puts(&text, range ? "" : "< ");
    quantity_append_time(&text, gaps_length_from_ns(range ? range : 1));
    struct text kept = { arena_strndup(arena, text.at, text.count), text.count };
    return kept;
}

/* "launch_call" for "launch call", kept in ARENA. */
static const char *key_of(const char *name, struct arena *arena)
{
    char *key = arena_strndup(arena, name, strlen(name));
    for (char *c = key; *c; c++)
        *c = *c == ' ' ? '_' : *c;
    return key;
}

/* Rows for the ranges from the shortest to the longest gap; how many. */
static size_t fill_rows(const struct gaps *gaps, struct length_row rows[GAP_LENGTHS], struct arena *arena)
{
    size_t count = 0, last = 0;
    for (size_t range = 0; range < GAP_LENGTHS; range++) {
        bool any = false;
        for (size_t c = 0; c < GAP_CAUSES; c++)
            any |= gaps->length_ns[range][c] > 0;
        if (!any && count == 0)
            continue;
        rows[count].from = range_text(range, arena);
        memcpy(rows[count].part_ns, gaps->length_ns[range], sizeof rows[count].part_ns);
        count++;
        last = any ? count : last;
    }
    return last;
}

void chart_gaps(struct picture *picture, const struct gaps *gaps)
{
    if (gaps->idle_ns == 0)
        return;
    struct chart *chart =
        picture_add_chart(picture, "gaps", "Idle time by the length of the gaps, and its causes");
    chart->x = (struct chart_axis){ .title = "Length of a gap, from", .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Idle time", .kind = TABLE_NS };
    struct table_column columns[GAP_CAUSES + 1] = { length_column };
    for (size_t c = 0; c < GAP_CAUSES; c++)
        columns[c + 1] =
            (struct table_column){ .key = key_of(gap_causes[c].name, &chart->arena),
                                   .title = gap_causes[c].name,
                                   .kind = TABLE_NS,
                                   .help = gap_causes[c].meaning,
                                   .offset = offsetof(struct length_row, part_ns) + c * sizeof(int64_t),
                                   .member = MEMBER_INT64 };
    struct length_row rows[GAP_LENGTHS];
    size_t count = fill_rows(gaps, rows, &chart->arena);
    struct table *table = chart_add_table(chart, TABLE_OF_ROWS("gaps", NULL, columns, rows, count));
    for (size_t c = 0; c < GAP_CAUSES; c++)
        if (gaps->part_ns[c] > 0)
            chart_add_series(chart, (struct chart_series){ .title = columns[c + 1].title,
                                                           .mark = CHART_BAR,
                                                           .color = gap_causes[c].color,
                                                           .idle = true,
                                                           .table = table,
                                                           .y = c + 1 });
}

static bool gaps_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    struct gaps_options options = gaps_defaults;
    options.only_causes = true;
    SCOPED_OBJECT const struct gaps *gaps =
        gaps_analyze(request->trace, request->selection, BY(DEVICE), &options);
    chart_gaps(picture, gaps);
    return chart_is_drawn(picture, err, "no device was idle between two operations");
}

const struct chart_type chart_type_gaps = {
    .name = "gaps",
    .title = "Gaps",
    .help = "idle time of the devices by the length of the gaps, and its causes",
    .wants = { &gaps_wants },
    .needs = FEATURE_GPU,
    .draw = gaps_draw,
};
