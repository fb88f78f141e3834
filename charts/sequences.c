/* sequences.c - chains of operations that repeat: how long the device works in them, and how long it is idle between
 * the operations; and what short operations in a row cost, by why the device was idle. */
#include "analyze/sequences/sequences.h"
#include "charts/parts.h"
#include "derive/features.h"
#include <inttypes.h>

struct chain_row {
    struct text label;
    int64_t work_ns, gaps_ns;
};

static const struct table_column chain_columns[] = {
    COLUMN(struct chain_row, label, "chain", "Chain", TABLE_NAME,
           "its operations, in few words, and how often it occurs"),
    COLUMN(struct chain_row, work_ns, "work", "Operations", TABLE_NS,
           "durations of the operations, of all occurrences"),
    COLUMN(struct chain_row, gaps_ns, "gaps", "Idle between them", TABLE_NS,
           "from the end of an operation to the next"),
};

struct cause_row {
    struct text label;
    int64_t work_ns, host_ns, device_ns, late_ns;
};

static const struct table_column cause_columns[] = {
    COLUMN(struct cause_row, label, "run", "Run", TABLE_NAME,
           "from which operation to which, and how many operations"),
    COLUMN(struct cause_row, work_ns, "work", "Operations", TABLE_NS, "durations of the operations"),
    COLUMN(struct cause_row, host_ns, "host", "Idle: launched late", TABLE_NS,
           "idle time before operations launched late"),
    COLUMN(struct cause_row, device_ns, "device", "Idle: queued", TABLE_NS,
           "idle time although work was queued"),
    COLUMN(struct cause_row, late_ns, "unknown", "Idle: launch unknown", TABLE_NS,
           "idle time whose launch is unknown"),
};

static const enum chart_color cause_colors[] = { CHART_COLOR_OF_COMPUTATION, CHART_COLOR_OF_COMPUTATION,
                                                 CHART_COLOR_OF_HOST, CHART_COLOR_OF_IDLE,
                                                 CHART_COLOR_OF_OTHER };

static void sequences_add_series(struct chart *chart, struct table *table, const struct table_column *columns,
                                 size_t y, enum chart_color color)
{
    chart_add_series(
        chart, (struct chart_series){
                   .title = columns[y].title, .mark = CHART_BAR, .color = color, .table = table, .y = y });
}

/* The chains with the most idle time; BARS of them at most. */
static void add_chains(struct picture *picture, const struct sequences *sequences, size_t bars)
{
    size_t count = sequences->repeats.count;
    if (count == 0)
        return;
    struct chart *chart = picture_add_times(picture, "chains", "Chains of operations that repeat");
    struct table *table =
        chart_add_table(chart, TABLE_OF_ROWS("chains", NULL, chain_columns, (struct chain_row *)NULL, 0));
    for (size_t i = 0; i < count && (bars == 0 || i < bars); i++) {
        const struct repeat_row *row = &sequences->repeats.at[i];
        struct chain_row chain = { as_text(arena_printf(&chart->arena, "%" PRId64 " x %s", row->count,
                                                        row->operations.at ? row->operations.at
                                                                           : "(operations)")),
                                   row->work_ns, row->gaps_ns };
        table_add_rows(table, &chain, 1, sizeof chain);
    }
    if (bars && count > bars)
        chart->note =
            arena_printf(&chart->arena, "the %zu of %zu chains with the most idle time", bars, count);
    sequences_add_series(chart, table, chain_columns, 1, CHART_COLOR_OF_COMPUTATION);
    sequences_add_series(chart, table, chain_columns, 2, CHART_COLOR_OF_IDLE);
}

/* Runs of short operations, the largest gain first. */
static void add_runs(struct picture *picture, const struct sequences *sequences, size_t bars)
{
    size_t count = sequences->runs.count;
    if (count == 0)
        return;
    struct chart *chart = picture_add_times(
        picture, "short_works", "Short operations in a row, and why the device is idle between them");
    struct table *table =
        chart_add_table(chart, TABLE_OF_ROWS("runs", NULL, cause_columns, (struct cause_row *)NULL, 0));
    bool any[5] = { false };
    for (size_t i = 0; i < count && (bars == 0 || i < bars); i++) {
        const struct run_row *row = &sequences->runs.at[i];
        /* the start distinguishes runs that are equal in all else */
        struct cause_row run = { as_text(arena_printf(&chart->arena, "at %s: %" PRId64 ", %s to %s",
                                                      TIME_TEXT(row->start_ns), row->operations,
                                                      row->first.at ? row->first.at : "?",
                                                      row->last.at ? row->last.at : "?")),
                                 row->work_ns, row->host_ns, row->device_ns, row->late_ns };
        any[1] |= row->work_ns > 0;
        any[2] |= row->host_ns > 0;
        any[3] |= row->device_ns > 0;
        any[4] |= row->late_ns > 0;
        table_add_rows(table, &run, 1, sizeof run);
    }
    if (bars && count > bars)
        chart->note = arena_printf(&chart->arena, "the %zu of %zu runs with the largest gain", bars, count);
    for (size_t column = 1; column < 5; column++)
        if (any[column])
            sequences_add_series(chart, table, cause_columns, column, cause_colors[column]);
}

static bool sequences_draw(const struct chart_request *request, struct picture *picture,
                           struct tpa_error *err)
{
    SCOPED_OBJECT struct sequences *sequences =
        sequences_analyze(request->trace, request->selection, BY(DEVICE), &sequence_defaults, err);
    if (!sequences)
        return false;
    add_chains(picture, sequences, request->bars);
    add_runs(picture, sequences, request->bars);
    return chart_is_drawn(picture, err, "no operations repeat, and no short ones follow each other");
}

const struct chart_type chart_type_sequences = {
    .name = "sequences",
    .title = "Sequences",
    .help = "chains of operations that repeat and short operations in a row: work, and idle time between",
    .wants = { &sequences_wants },
    .needs = FEATURE_GPU,
    .draw = sequences_draw,
};
