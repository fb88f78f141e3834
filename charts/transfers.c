/* transfers.c - copies: their size against their bandwidth, and how much of their time nothing hid. */
#include "charts/parts.h"
#include "analyze/transfers.h"
#include "derive/features.h"
#include <inttypes.h>

/* "HtoD pinned"; of copies between devices just "DtoD". */
static const char *group_title(struct chart *chart, enum copy_direction direction, const char *memory)
{
    return memory ? arena_printf(&chart->arena, "%s %s", copy_direction_name(direction), memory)
                  : copy_direction_name(direction);
}

enum { GROUPS = COPY_DIRECTIONS * COPY_MEMORIES };

static void add_sizes(const struct chart_request *request, struct picture *picture)
{
    static const struct table_column columns[] = {
        { "bytes", "Bytes", TABLE_BYTES, "size of a copy", 0, NULL },
        { "bandwidth", "GB/s", TABLE_NUMBER, "bytes over time, in 10^9 bytes per second", 0, NULL },
    };
    const struct trace *trace = request->trace;
    struct copy_kind *kinds = mem_alloc(mem_times(names_count(trace->names) + 1, sizeof *kinds));
    for (name_id id = 0; id < names_count(trace->names); id++)
        kinds[id] = copy_kind_of(names_text(trace->names, id));
    struct chart *chart = picture_add_chart(picture, "sizes", "Copies: size against bandwidth");
    chart->x = (struct chart_axis){ .title = "Size", .kind = TABLE_BYTES, .log = true };
    chart->y = (struct chart_axis){ .title = "Bandwidth", .kind = TABLE_RATE, .log = true };
    struct table *groups[GROUPS] = { NULL };
    for (event_id e = 0; e < trace->event_count; e++) {
        int64_t bytes = trace->kind[e] == EVENT_MEMCPY ? trace_arg_or(trace, ARG_BYTES, e, 0) : 0;
        if (bytes <= 0 || trace_dur_ns(trace, e) <= 0 || !selection_holds(request->selection, e))
            continue;
        struct copy_kind kind =
            copy_kind_with(kinds[trace->name[e]], trace_arg_text(trace, ARG_COPY_MEMORY, e));
        struct table **group = &groups[kind.direction * COPY_MEMORIES + kind.memory];
        if (*group == NULL)
            *group = chart_add_table(chart, table_open("copies", NULL, columns, 2));
        size_t row = table_add_row(*group);
        table_set_int(*group, row, 0, bytes);
        table_set_number(*group, row, 1, (double)bytes / (double)trace_dur_ns(trace, e));
    }
    size_t used = 0;
    for (size_t g = 0; g < GROUPS; g++)
        if (groups[g])
            chart_add_series(chart, (struct chart_series){
                                        .title = group_title(chart, (enum copy_direction)(g / COPY_MEMORIES),
                                                             copy_memory_name(g % COPY_MEMORIES)),
                                        .mark = CHART_POINT,
                                        .color = chart_color_at(used++),
                                        .table = groups[g],
                                        .y = 1 });
    free(kinds);
    if (used == 0)
        picture_drop_chart(picture);
}

/* ---- exposed time ---- */

/* The union of a row's copies in two parts. */
struct exposed_row {
    struct text copies;
    int64_t hidden_ns, exposed_ns;
};

/* clang-format off */
static const struct table_column exposed_columns[] = {
    COLUMN(struct exposed_row, copies, "copies", "Copies", TABLE_NAME, "direction and host memory"),
    COLUMN(struct exposed_row, hidden_ns, "hidden", "Beside kernels", TABLE_NS, "time in which a kernel ran, too"),
    COLUMN(struct exposed_row, exposed_ns, "exposed", "Exposed", TABLE_NS, "time in which no kernel ran on the device"),
};
/* clang-format on */

/* "HtoD pageable, device 1, rank 3", as far as rows differ in these. */
static struct text transfers_label_of(struct chart *chart, const struct transfer_row *row, bool devices,
                                      bool ranks)
{
    SCOPED struct buffer label = { 0 };
    buffer_printf(&label, "%s%s%s", row->direction.at, row->memory.at ? " " : "",
                  row->memory.at ? row->memory.at : "");
    if (devices || ranks)
        buffer_printf(&label, ", device %" PRId64, row->key.device);
    if (ranks)
        buffer_printf(&label, ", rank %" PRId64, row->key.rank);
    struct text text = { arena_strndup(&chart->arena, label.at, label.count), label.count };
    return text;
}

static void add_exposed_copies(struct picture *picture, const struct transfers *transfers)
{
    enum { MOST = 40 };
    static const enum chart_color colors[] = { CHART_COLOR_OF_COPIES, CHART_COLOR_OF_COMMUNICATION };
    const struct transfer_row *rows = transfers->rows.at;
    struct chart *chart =
        picture_add_chart(picture, "exposed", "Time of the copies, and how much of it no kernel hides");
    chart->horizontal = true;
    chart->x = (struct chart_axis){ .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Time", .kind = TABLE_NS };
    int64_t sums[2] = { 0, 0 };
    bool devices = false, ranks = false;
    for (size_t i = 1; i < transfers->rows.count; i++) {
        devices |= rows[i].key.device != rows[0].key.device;
        ranks |= rows[i].key.rank != rows[0].key.rank;
    }
    SCOPED VEC_OF(struct exposed_row) shown = { 0 };
    for (size_t i = 0; i < transfers->rows.count && i < MOST; i++) {
        if (rows[i].union_ns <= 0)
            continue;
        struct exposed_row row = { transfers_label_of(chart, &rows[i], devices, ranks),
                                   rows[i].union_ns - rows[i].exposed_ns, rows[i].exposed_ns };
        sums[0] += row.hidden_ns;
        sums[1] += row.exposed_ns;
        *VEC_PUSH(&shown) = row;
    }
    struct table *table =
        chart_add_table(chart, TABLE_OF_ROWS("exposed", NULL, exposed_columns, shown.at, shown.count));
    for (size_t column = 1; column < 3; column++)
        if (sums[column - 1] > 0)
            chart_add_series(chart, (struct chart_series){ .title = exposed_columns[column].title,
                                                           .mark = CHART_BAR,
                                                           .color = colors[column - 1],
                                                           .table = table,
                                                           .y = column });
    if (shown.count == 0)
        picture_drop_chart(picture);
}

static bool transfers_draw(const struct chart_request *request, struct picture *picture,
                           struct tpa_error *err)
{
    SCOPED_OBJECT const struct transfers *transfers =
        transfers_analyze(request->trace, request->selection, TRANSFERS_BY_DEFAULT);
    add_sizes(request, picture);
    add_exposed_copies(picture, transfers);
    return chart_is_drawn(picture, err, "nothing was copied");
}

const struct chart_type chart_type_transfers = {
    .name = "transfers",
    .title = "Transfers",
    .help = "copies: size against bandwidth by direction and host memory, and exposed time",
    .wants = { &transfers_wants },
    .needs = FEATURE_GPU,
    .draw = transfers_draw,
};
