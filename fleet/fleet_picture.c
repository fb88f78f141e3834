/* fleet_picture.c - a job as a picture: the time of each rank, and slow ranks by step; see fleet.h. */
#include "fleet/fleet.h"

#include <inttypes.h>

enum { RANKS_DRAWN = 64 };

struct bar_row {
    struct text rank;
    int64_t computation_ns, overlapped_ns, exposed_ns, copies_ns, idle_ns;
};

/* clang-format off */
static const struct table_column bar_columns[] = {
    COLUMN(struct bar_row, rank, "rank", "Rank", TABLE_NAME, "the rank"),
    COLUMN(struct bar_row, computation_ns, "computation", "Computation", TABLE_NS, "it computes and does not communicate"),
    COLUMN(struct bar_row, overlapped_ns, "overlapped", "Computation and communication", TABLE_NS, "it does both"),
    COLUMN(struct bar_row, exposed_ns, "exposed", "Exposed communication", TABLE_NS, "it communicates and does not compute"),
    COLUMN(struct bar_row, copies_ns, "copies", "Exposed copies", TABLE_NS, "it copies, and does neither"),
    COLUMN(struct bar_row, idle_ns, "idle", "Idle", TABLE_NS, "it does nothing"),
};
/* clang-format on */
enum { BAR_COLUMNS = sizeof bar_columns / sizeof *bar_columns };

static const enum chart_color bar_colors[BAR_COLUMNS] = {
    [1] = CHART_COLOR_OF_COMPUTATION,
    CHART_PURPLE,
    CHART_COLOR_OF_COMMUNICATION,
    CHART_COLOR_OF_COPIES,
    CHART_COLOR_OF_IDLE,
};

static void fleet_picture_draw_bars(const struct fleet *fleet, struct picture *picture)
{
    struct bar_row rows[RANKS_DRAWN];
    struct chart *chart =
        picture_add_chart(picture, "ranks", "What the devices of each rank did in its complete steps");
    size_t count = 0, left = 0;
    FOR_EACH(row, &fleet->ranks) {
        if (row->total_ns <= 0)
            continue;
        if (count == RANKS_DRAWN) {
            left++;
            continue;
        }
        const char *name = arena_printf(&chart->arena, "%" PRId64, row->rank);
        int64_t both_ns = row->overlapped_ns < row->computation_ns ? row->overlapped_ns : row->computation_ns;
        rows[count++] = (struct bar_row){ as_text(name),  row->computation_ns - both_ns,
                                          both_ns,        row->exposed_ns,
                                          row->copies_ns, row->idle_ns };
    }
    if (left)
        chart->note =
            arena_printf(&chart->arena, "those that hold others up most; %zu more ranks are not drawn", left);
    chart->horizontal = true;
    chart->x = (struct chart_axis){ .title = "Rank", .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Time", .kind = TABLE_NS };
    struct table *table = chart_add_table(chart, TABLE_OF_ROWS("ranks", NULL, bar_columns, rows, count));
    for (size_t column = 1; column < BAR_COLUMNS; column++)
        chart_add_series(chart, (struct chart_series){ .title = bar_columns[column].title,
                                                       .mark = CHART_BAR,
                                                       .color = bar_colors[column],
                                                       .table = table,
                                                       .y = column,
                                                       .idle = bar_colors[column] == CHART_COLOR_OF_IDLE });
}

struct field_row {
    struct text ranks;
    int64_t line, first, end; /* indices of steps */
};

/* clang-format off */
static const struct table_column field_columns[] = {
    COLUMN(struct field_row, ranks, "ranks", "Ranks", TABLE_NAME, "the ranks"),
    COLUMN(struct field_row, line, "line", "Line", TABLE_COUNT, "from the top"),
    COLUMN(struct field_row, first, "first", "First step", TABLE_COUNT, "its place among the steps"),
    COLUMN(struct field_row, end, "end", "End", TABLE_COUNT, "the place after its last step"),
};

/* The same classes as the characters of the table: LESS is in thousandths. */
static const struct {
    int64_t less;
    const char *title;
    enum chart_color color;
} shades[] = {
    { 20, "less than 2 % longer", CHART_PALE },
    { 50, "2 to 5 %", CHART_SKY },
    { 100, "5 to 10 %", CHART_BLUE },
    { 250, "10 to 25 %", CHART_ORANGE },
    { INT64_MAX, "25 % and more", CHART_VERMILION },
};
/* clang-format on */

/* Add the fields of HEAT with values from FROM up to LESS (exclusive). */
static struct table *table_of_fields(const struct fleet *fleet, int64_t from, int64_t less)
{
    SCOPED VEC_OF(struct field_row) rows = { 0 };
    size_t columns = fleet->heat_columns;
    for (size_t i = 0; i < fleet->heat.count * columns; i++) {
        size_t column = i % columns, steps = fleet->steps.count;
        if (fleet->heat_more[i] < from || fleet->heat_more[i] >= less)
            continue;
        *VEC_PUSH(&rows) = (struct field_row){ fleet->heat.at[i / columns].ranks, (int64_t)(i / columns),
                                               (int64_t)((column * steps + columns - 1) / columns),
                                               (int64_t)(((column + 1) * steps + columns - 1) / columns) };
    }
    return TABLE_OF_ROWS("heat", NULL, field_columns, rows.at, rows.count);
}

static void fleet_picture_draw_heat(const struct fleet *fleet, struct picture *picture)
{
    struct chart *chart = picture_add_chart(picture, "heat", "Which ranks took longer in which steps");
    chart->note =
        "a line for each rank, or neighbouring ranks; without exposed communication, against the rank in the "
        "middle of the step";
    chart->x = (struct chart_axis){ .title = "Step, by its place", .kind = TABLE_COUNT };
    chart->y = (struct chart_axis){ .kind = TABLE_COUNT };
    int64_t from = 0;
    for (size_t s = 0; s < sizeof shades / sizeof *shades; s++) {
        struct table *table = chart_add_table(chart, table_of_fields(fleet, from, shades[s].less));
        chart_add_series(chart, (struct chart_series){ .title = shades[s].title,
                                                       .mark = CHART_BOX,
                                                       .color = shades[s].color,
                                                       .table = table,
                                                       .x = 3,
                                                       .y = 1,
                                                       .low = 2 });
        from = shades[s].less;
    }
}

struct picture *fleet_picture(const struct fleet *fleet)
{
    if (fleet->heat.count == 0)
        return NULL;
    struct picture *picture = picture_open("fleet", "Ranks and steps");
    if (fleet->total_ns > 0)
        fleet_picture_draw_bars(fleet, picture);
    fleet_picture_draw_heat(fleet, picture);
    return picture;
}
