/*
 * ranks.c - a bar for each rank: what its devices did, and how much of its communication was transfer and how much waiting.
 *
 * The two charts have the same ranks in the same order, so a slow rank is seen at once: it computes longest and waits least.
 */
#include "analyze/comm.h"
#include "analyze/gpu.h"
#include "charts/parts.h"
#include "derive/features.h"
#include <inttypes.h>
#include <math.h>

/* A rank; or, where a rank has several devices, one of them. */
struct rank_row {
    int64_t rank, device;
    struct text label;
    int64_t computation_ns, exposed_communication_ns, exposed_copies_ns, idle_ns;
    int64_t transfer_ns, waited_ns; /* of its collectives; missing: not found on other ranks */
};

static const struct table_column columns[] = {
    COLUMN(struct rank_row, label, "rank", "Rank", TABLE_NAME, "the rank"),
    COLUMN(struct rank_row, computation_ns, "computation", "Computation", TABLE_NS, "it computes"),
    COLUMN(struct rank_row, exposed_communication_ns, "communication", "Exposed communication", TABLE_NS,
           "it communicates and does not compute"),
    COLUMN(struct rank_row, exposed_copies_ns, "copies", "Exposed copies", TABLE_NS,
           "it copies, and does neither"),
    COLUMN(struct rank_row, idle_ns, "idle", "Idle", TABLE_NS, "it does nothing"),
    COLUMN(struct rank_row, transfer_ns, "transfer", "Transfer", TABLE_NS,
           "time of collectives after the last rank had arrived"),
    COLUMN(struct rank_row, waited_ns, "waited", "Waiting for other ranks", TABLE_NS,
           "time of collectives before"),
};

enum { COLUMN_COMPUTATION = 1, COLUMN_COPIES = 3, COLUMN_IDLE, COLUMN_TRANSFER, COLUMN_WAITED };

static const enum chart_color colors[] = { [COLUMN_COMPUTATION] = CHART_COLOR_OF_COMPUTATION,
                                           [COLUMN_COMPUTATION + 1] = CHART_COLOR_OF_COMMUNICATION,
                                           [COLUMN_COPIES] = CHART_COLOR_OF_COPIES,
                                           [COLUMN_IDLE] = CHART_COLOR_OF_IDLE,
                                           [COLUMN_TRANSFER] = CHART_COLOR_OF_COMMUNICATION,
                                           [COLUMN_WAITED] = CHART_COLOR_OF_WAITING };

static const struct key by_rank[] = { ASC(struct rank_row, rank), ASC(struct rank_row, device), KEY_END };

/* New, free(): a row for each device of GPU that did anything, by rank. */
static struct rank_row *make_rows(const struct gpu *gpu, struct arena *arena)
{
    struct rank_row *rows = mem_zalloc(gpu->count + 1, sizeof *rows);
    for (size_t i = 0; i < gpu->count; i++) {
        const struct gpu_row *of = &gpu->at[i];
        rows[i] = (struct rank_row){ .rank = of->key.rank,
                                     .device = of->key.device,
                                     .computation_ns = of->computation_ns,
                                     .exposed_communication_ns = of->exposed_communication_ns,
                                     .exposed_copies_ns = of->exposed_copies_ns,
                                     .idle_ns = of->idle_ns,
                                     .transfer_ns = TABLE_INT_MISSING,
                                     .waited_ns = TABLE_INT_MISSING };
    }
    if (gpu->count > 1)
        SORT_ARRAY(rows, gpu->count, by_rank);
    bool several = false;
    for (size_t i = 1; i < gpu->count; i++)
        several |= rows[i].rank == rows[i - 1].rank;
    for (size_t i = 0; i < gpu->count; i++)
        rows[i].label = as_text(
            several ? arena_printf(arena, "%" PRId64 ", device %" PRId64, rows[i].rank, rows[i].device)
                    : arena_printf(arena, "%" PRId64, rows[i].rank));
    return rows;
}

/* What collectives took on each rank; false when none was found on several ranks. */
static bool add_communication(struct rank_row *rows, size_t count, const struct comm *comm)
{
    bool any = false;
    FOR_EACH(of, &comm->ranks) {
        struct rank_row key = { .rank = of->rank, .device = of->device };
        struct rank_row *row = rows_find(rows, count, sizeof *rows, by_rank, &key);
        if (!row)
            continue;
        row->transfer_ns = of->transfer_ns;
        row->waited_ns = of->waited_ns;
        any = true;
    }
    return any;
}

static void ranks_add_chart(struct picture *picture, const char *key, const char *title,
                            const struct rank_row *rows, size_t count, size_t first, size_t last)
{
    struct chart *chart = picture_add_chart(picture, key, title);
    chart->horizontal = true;
    chart->x = (struct chart_axis){ .title = "Rank", .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Time", .kind = TABLE_NS };
    struct table *table = chart_add_table(chart, TABLE_OF_ROWS(key, NULL, columns, rows, count));
    for (size_t column = first; column <= last; column++)
        chart_add_series(chart, (struct chart_series){ .title = columns[column].title,
                                                       .mark = CHART_BAR,
                                                       .color = colors[column],
                                                       .idle = column == COLUMN_IDLE,
                                                       .table = table,
                                                       .y = column });
}

/* Both charts have one axis, so that waiting is seen against what else the time went to. */
static void ranks_share_axis(struct picture *picture)
{
    double most = 0;
    for (size_t i = 0; i < picture->charts.count; i++) {
        const struct chart *chart = picture->charts.at[i];
        for (size_t row = 0; row < chart_category_count(chart); row++) {
            double sum = SUM(double, s, chart->series.count,
                             fmax(0, chart_value(chart->series.at[s].table, row, chart->series.at[s].y)));
            most = fmax(most, sum);
        }
    }
    for (size_t i = 0; i < picture->charts.count; i++) {
        picture->charts.at[i]->y.has_most = true;
        picture->charts.at[i]->y.most = most;
    }
}

static bool ranks_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    const struct gpu *gpu = gpu_analyze(request->trace, request->selection, BY(RANK) | BY(DEVICE));
    struct comm_options options = { .by = COMM_BY_DEFAULT };
    SCOPED_OBJECT struct comm *comm = comm_analyze(request->trace, request->selection, &options, err);
    if (comm && gpu->count > 0) {
        SCOPED struct rank_row *rows = make_rows(gpu, &picture->arena);
        bool matched = add_communication(rows, gpu->count, comm);
        ranks_add_chart(picture, "ranks", "What the devices of each rank did", rows, gpu->count,
                        COLUMN_COMPUTATION, COLUMN_IDLE);
        if (matched)
            ranks_add_chart(picture, "ranks_communication",
                            "Collectives of each rank: transfer, and waiting for others", rows, gpu->count,
                            COLUMN_TRANSFER, COLUMN_WAITED);
        ranks_share_axis(picture);
    }
    arena_free(gpu);
    if (!comm)
        return false;
    return chart_is_drawn(picture, err, "nothing that was launched in the selected time ran on a device");
}

const struct chart_type chart_type_ranks = {
    .name = "ranks",
    .title = "Ranks",
    .help = "a bar for each rank: what its devices did, and how long its collectives transferred and waited",
    .wants = { &gpu_wants, &comm_wants },
    .needs = FEATURE_GPU,
    .draw = ranks_draw,
};
