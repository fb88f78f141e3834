/* steps.c - where the time of each step went: a pile of parts for each step, a chart for each rank; and a histogram of
 * their times. */
#include "base/rows.h"
#include "charts/parts.h"
#include "derive/features.h"
#include "derive/step_list.h"
#include <inttypes.h>

/* The parts of a step from the bottom of the pile. */
static const struct {
    enum step_part part;
    enum chart_color color;
} pile[STEP_PARTS] = {
    { STEP_KERNEL, CHART_COLOR_OF_COMPUTATION },
    { STEP_COMMUNICATION, CHART_COLOR_OF_COMMUNICATION },
    { STEP_MEMCPY, CHART_COLOR_OF_COPIES },
    { STEP_MEMSET, CHART_OLIVE },
    { STEP_RUNTIME, CHART_ORANGE },
    { STEP_DATA_LOADING, CHART_COLOR_OF_LOADING },
    { STEP_CPU, CHART_COLOR_OF_HOST },
    { STEP_OTHER, CHART_COLOR_OF_OTHER },
};

/* A bar of the chart. */
struct bar_row {
    struct text label;
    int64_t part_ns[STEP_PARTS]; /* in the order of the pile */
};

/* "12" for ProfilerStep#12; else the name. */
static struct text steps_label_of(struct text name, struct arena *arena)
{
    int64_t number;
    if (!step_number(name.at, &number))
        return name;
    const char *text = arena_printf(arena, "%" PRId64, number);
    return (struct text){ text, strlen(text) };
}

/* The COUNT ROWS of one rank; SEVERAL: there are others. */
static void add_rank(struct picture *picture, const struct step_row *rows, size_t count, bool several)
{
    struct chart *chart = picture_add_chart(picture, "steps", "Where the time of each step went");
    if (several) {
        chart->key = arena_printf(&chart->arena, "steps_%" PRId64, rows[0].rank);
        chart->title = arena_printf(&chart->arena, "%s, rank %" PRId64, chart->title, rows[0].rank);
    }
    chart->x = (struct chart_axis){ .title = "Step", .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Time", .kind = TABLE_NS };
    struct table_column columns[STEP_PARTS + 1] = {
        COLUMN(struct bar_row, label, "step", "Step", TABLE_NAME, "number of the step"),
    };
    for (size_t p = 0; p < STEP_PARTS; p++)
        columns[p + 1] =
            (struct table_column){ .key = step_part_key(pile[p].part),
                                   .title = step_part_title(pile[p].part),
                                   .kind = TABLE_NS,
                                   .offset = offsetof(struct bar_row, part_ns) + p * sizeof(int64_t),
                                   .member = MEMBER_INT64 };
    struct table *table =
        chart_add_table(chart, TABLE_OF_ROWS("steps", NULL, columns, (struct bar_row *)NULL, 0));
    bool any[STEP_PARTS] = { false };
    for (size_t i = 0; i < count; i++) {
        struct bar_row bar = { .label = steps_label_of(rows[i].name, &chart->arena) };
        for (size_t p = 0; p < STEP_PARTS; p++) {
            bar.part_ns[p] = rows[i].part_ns[pile[p].part];
            any[p] |= bar.part_ns[p] > 0;
        }
        table_add_rows(table, &bar, 1, sizeof bar);
    }
    for (size_t p = 0; p < STEP_PARTS; p++)
        if (any[p])
            chart_add_series(chart, (struct chart_series){ .title = columns[p + 1].title,
                                                           .mark = CHART_BAR,
                                                           .color = pile[p].color,
                                                           .table = table,
                                                           .y = p + 1 });
    if (chart->series.count == 0)
        picture_drop_chart(picture);
}

/* ---- how long they take ---- */

enum { LEAST_STEPS = 10, BINS = 30 };

struct bin_row {
    int64_t from_ns, count;
};

static const struct table_column bin_columns[] = {
    COLUMN(struct bin_row, from_ns, "from", "From", TABLE_NS,
           "steps that took so long, and up to that of the next row"),
    COLUMN(struct bin_row, count, "count", "Steps", TABLE_COUNT, "how many"),
};

/* The least of 1, 2, 5, 10 ... ns of which BINS reach over SPAN. */
static int64_t bin_width_ns(int64_t span_ns)
{
    int64_t width = 1;
    for (int i = 0; span_ns / width >= BINS; i++)
        width = i % 3 == 1 ? width / 2 * 5 : width * 2;
    return width;
}

struct step_length {
    int64_t duration_ns;
};

/* Where the axis of the histogram of COUNT steps of LEAST to MOST ns ends: at MOST, or behind nine tenths of the steps and half as far
 * again, where the axis would otherwise be three times as long as these need. */
static int64_t histogram_end_ns(const struct step_row *rows, size_t count, int64_t least_ns, int64_t most_ns)
{
    static const struct key by_duration[] = { ASC(struct step_length, duration_ns), KEY_END };
    struct step_length *lengths = mem_alloc(mem_times(count, sizeof *lengths));
    for (size_t i = 0; i < count; i++)
        lengths[i].duration_ns = rows[i].duration_ns;
    SORT_ARRAY(lengths, count, by_duration);
    int64_t usual_ns = lengths[count - 1 - count / 10].duration_ns, room_ns = usual_ns - least_ns;
    free(lengths);
    if (room_ns < usual_ns / 20) /* equal steps shall look equal */
        room_ns = usual_ns / 20;
    return (most_ns - least_ns) / 3 > room_ns ? least_ns + room_ns + room_ns / 2 : most_ns;
}

/* A histogram of the COUNT ROWS, of all ranks. */
static void add_histogram(struct picture *picture, const struct step_row *rows, size_t count)
{
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = rows[i].duration_ns < least ? rows[i].duration_ns : least;
        most = rows[i].duration_ns > most ? rows[i].duration_ns : most;
    }
    if (count < LEAST_STEPS || least < 0)
        return;
    int64_t end = histogram_end_ns(rows, count, least, most), span = end - least;
    int64_t width = bin_width_ns(span > end / 20 ? span : end / 20), first = least / width,
            bins = end / width - first + 1;
    size_t longer = 0;
    struct bin_row bin[BINS + 3] = { 0 };
    for (int64_t b = 0; b <= bins; b++)
        bin[b].from_ns = (first + b) * width;
    for (size_t i = 0; i < count; i++) {
        int64_t of = rows[i].duration_ns / width - first;
        bin[of < bins ? of : bins - 1].count++;
        longer += of >= bins;
    }
    struct chart *chart = picture_add_chart(picture, "step_times", "How long steps take");
    chart->note = arena_printf(&chart->arena, "%zu steps", count);
    if (longer)
        chart->note = arena_printf(
            &chart->arena, "%s; %zu of them %s longer than the axis, up to %s, and %s counted at its end",
            chart->note, longer, longer == 1 ? "takes" : "take", TIME_TEXT(most), longer == 1 ? "is" : "are");
    chart->x = (struct chart_axis){ .title = "Time of a step", .kind = TABLE_NS };
    chart->y = (struct chart_axis){ .title = "Steps", .kind = TABLE_COUNT };
    struct table *table =
        chart_add_table(chart, TABLE_OF_ROWS("step_times", NULL, bin_columns, bin, (size_t)bins + 1));
    chart_add_series(chart,
                     (struct chart_series){
                         .mark = CHART_AREA, .color = CHART_COLOR_OF_COMPUTATION, .table = table, .y = 1 });
}

/* Charts of ranks get one axis of time, which ends at the longest step. */
static void steps_share_axis(struct picture *picture, const struct step_row *rows, size_t count)
{
    int64_t longest_ns = 0;
    for (size_t i = 0; i < count; i++)
        longest_ns = rows[i].duration_ns > longest_ns ? rows[i].duration_ns : longest_ns;
    for (size_t i = 0; i < picture->charts.count && picture->charts.count > 1; i++) {
        picture->charts.at[i]->y.has_most = true;
        picture->charts.at[i]->y.most = (double)longest_ns;
    }
}

void chart_steps(struct picture *picture, const struct steps *steps)
{
    const struct step_row *at = steps->each.at;
    size_t ranks = 0, count = steps->each.count;
    FOR_RUNS(first, end, count, at[end].rank == at[first].rank)
        if (ranks++ < CHART_MOST_PANELS)
            add_rank(picture, at + first, end - first, first > 0 || end < count);
    steps_share_axis(picture, at, count);
    chart_describe_panels(picture, CHART_MOST_PANELS, ranks, "ranks");
    add_histogram(picture, at, count);
}

static bool steps_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    SCOPED_OBJECT const struct steps *steps =
        steps_analyze(request->trace, request->selection, &(struct steps_options){ 0 }, err);
    if (!steps)
        return false;
    chart_steps(picture, steps);
    return chart_is_drawn(picture, err, "no step took any time");
}

const struct chart_type chart_type_steps = {
    .name = "steps",
    .title = "Steps",
    .help = "where the time of each step went, and how long steps take",
    .wants = { &steps_wants },
    .needs = FEATURE_EVENTS,
    .draw = steps_draw,
};
