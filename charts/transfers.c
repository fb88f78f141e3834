/*
 * transfers.c - copies: their size against their bandwidth, and how much of their time nothing hid.
 */
#include "charts/parts.h"
#include "facts/copy_names.h"
#include "facts/gpu_events.h"
#include "analyze/transfers.h"
#include "facts/features.h"
#include <inttypes.h>
#include <stdlib.h>

static struct trace_wants wants(void)
{
    return transfers_wants;
}

/* "HtoD pinned"; of copies between devices just "DtoD". */
static const char *group_title(struct chart *chart, enum copy_direction direction, const char *memory)
{
    return memory ? arena_printf(&chart->arena, "%s %s", copy_direction_name(direction), memory)
                  : copy_direction_name(direction);
}

/* ---- size against bandwidth ---- */

enum { GROUPS = COPY_DIRECTIONS * COPY_MEMORIES };

static void add_sizes(const struct chart_question *question, struct picture *picture)
{
    static const struct table_column columns[] = {
        { "bytes", "Bytes", TABLE_BYTES, "size of a copy", 0, NULL },
        { "bandwidth", "GB/s", TABLE_NUMBER, "bytes over time, in 10^9 bytes per second", 0, NULL },
    };
    const struct trace *trace = question->trace;
    struct copy_kind *kinds = mem_alloc((names_count(trace->names) + 1) * sizeof *kinds);
    for (name_id id = 0; id < names_count(trace->names); id++)
        kinds[id] = copy_kind_of(names_text(trace->names, id));
    struct chart *chart = picture_add_chart(picture, "sizes", "Copies: size against bandwidth");
    chart->x = (struct chart_axis){ .title = "Size", .kind = TABLE_BYTES, .log = true };
    chart->y = (struct chart_axis){ .title = "Bandwidth", .kind = TABLE_NUMBER, .unit = "GB/s", .log = true };
    struct table *groups[GROUPS] = { NULL };
    for (event_id e = 0; e < trace->event_count; e++) {
        int64_t bytes = trace->kind[e] == EVENT_MEMCPY ? trace_arg_or(trace, ARG_BYTES, e, 0) : 0;
        if (bytes <= 0 || trace->dur_ns[e] <= 0 || !selection_holds(question->selection, e))
            continue;
        struct copy_kind kind =
            copy_kind_with(kinds[trace->name[e]], trace_arg_text(trace, ARG_COPY_MEMORY, e));
        struct table **group = &groups[kind.direction * COPY_MEMORIES + kind.memory];
        if (*group == NULL)
            *group = chart_add_table(chart, table_open("copies", NULL, columns, 2));
        size_t row = table_add_row(*group);
        table_set_int(*group, row, 0, bytes);
        table_set_number(*group, row, 1, (double)bytes / (double)trace->dur_ns[e]);
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

void chart_exposed_copies(struct picture *picture, const struct table *transfers)
{
    static const struct table_column columns[] = {
        { "copies", "Copies", TABLE_NAME, "direction and host memory", 0, NULL },
        { "hidden", "Beside kernels", TABLE_NS, "time in which a kernel ran, too", 0, NULL },
        { "exposed", "Exposed", TABLE_NS, "time in which no kernel ran on the device", 0, NULL },
    };
    struct chart *chart =
        picture_add_chart(picture, "exposed", "Time of the copies, and how much of it no kernel hides");
    chart->horizontal = true;
    chart->x = (struct chart_axis){ .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Time", .kind = TABLE_NS };
    struct table *table = chart_add_table(chart, table_open("exposed", NULL, columns, 3));
    static const enum chart_color colors[] = { CHART_COLOR_OF_COPIES, CHART_COLOR_OF_COMMUNICATION };
    int64_t sums[2] = { 0, 0 };
    bool several = false, ranks = false;
    for (size_t i = 1; i < transfers->row_count; i++) {
        several |= chart_integer(transfers, i, "device") != chart_integer(transfers, 0, "device");
        ranks |= chart_integer(transfers, i, "rank") != chart_integer(transfers, 0, "rank");
    }
    for (size_t i = 0; i < transfers->row_count && i < 40; i++) {
        int64_t union_ns = chart_integer(transfers, i, "union"),
                exposed_ns = chart_integer(transfers, i, "exposed");
        const char *direction = chart_cell(transfers, i, "direction")->text.at;
        const char *memory = chart_cell(transfers, i, "memory")->text.at;
        if (union_ns <= 0)
            continue;
        struct buffer label = { 0 };
        buffer_printf(&label, "%s%s%s", direction, memory ? " " : "", memory ? memory : "");
        if (several || ranks)
            buffer_printf(&label, ", device %" PRId64, chart_integer(transfers, i, "device"));
        if (ranks)
            buffer_printf(&label, ", rank %" PRId64, chart_integer(transfers, i, "rank"));
        size_t row = table_add_row(table);
        table_set_text(table, row, 0, label.at, label.count);
        table_set_int(table, row, 1, union_ns - exposed_ns);
        table_set_int(table, row, 2, exposed_ns);
        sums[0] += union_ns - exposed_ns;
        sums[1] += exposed_ns;
        buffer_release(&label);
    }
    for (size_t column = 1; column < 3; column++)
        if (sums[column - 1] > 0)
            chart_add_series(chart, (struct chart_series){ .title = columns[column].title,
                                                           .mark = CHART_BAR,
                                                           .color = colors[column - 1],
                                                           .table = table,
                                                           .y = column });
    if (table->row_count == 0)
        picture_drop_chart(picture);
}

static bool draw(const struct chart_question *question, struct picture *picture, struct tpa_error *err)
{
    struct result *result = result_open("");
    transfers_add_tables(question->trace, question->selection, TRANSFERS_BY_KIND, result);
    add_sizes(question, picture);
    chart_exposed_copies(picture, chart_find_table(result, "transfers"));
    result_free(result);
    return chart_is_drawn(picture, err, "nothing was copied");
}

const struct chart_type chart_type_transfers = {
    .name = "transfers",
    .title = "Transfers",
    .help = "copies: size against bandwidth by direction and host memory, and exposed time",
    .wants = wants,
    .needs = FEATURE_GPU,
    .draw = draw,
};
