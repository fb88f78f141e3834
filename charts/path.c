/* path.c - what the critical path of each step is made of: a pile of its parts for each step. */
#include "charts/parts.h"
#include "whatif/path.h"
#include <inttypes.h>

static const struct trace_wants path_wants = { .args = REPLAY_WANTS };

const enum chart_color path_colors[PATH_PARTS] = {
    [PART_KERNEL] = CHART_COLOR_OF_COMPUTATION,
    [PART_COMMUNICATION] = CHART_COLOR_OF_COMMUNICATION,
    [PART_COPY] = CHART_COLOR_OF_COPIES,
    [PART_MEMSET] = CHART_COLOR_OF_COPIES,
    [PART_OPERATOR] = CHART_COLOR_OF_HOST,
    [PART_CALL] = CHART_ORANGE,
    [PART_LAUNCH] = CHART_OLIVE,
    [PART_QUEUED] = CHART_GREY,
    [PART_STREAM] = CHART_COLOR_OF_WAITING,
    [PART_EVENT] = CHART_COLOR_OF_WAITING,
    [PART_SYNC] = CHART_COLOR_OF_WAITING,
    [PART_GAP] = CHART_COLOR_OF_IDLE,
    [PART_UNKNOWN] = CHART_COLOR_OF_OTHER,
};

/* From the bottom of the pile: the device, the host, waits. */
static const enum path_part order[PATH_PARTS] = {
    PART_KERNEL, PART_COMMUNICATION, PART_COPY,  PART_MEMSET, PART_OPERATOR, PART_CALL,    PART_LAUNCH,
    PART_QUEUED, PART_STREAM,        PART_EVENT, PART_SYNC,   PART_GAP,      PART_UNKNOWN,
};

static void add_row(struct table *table, const struct replay_graph *graph, const struct path_window *window,
                    int64_t *sums)
{
    int64_t parts_ns[PATH_PARTS];
    struct path *path = path_open(graph, window);
    path_add_up(path, parts_ns);
    arena_free(path);
    char label[32];
    int len = window->is_step ? snprintf(label, sizeof label, "%" PRId64, window->number)
                              : snprintf(label, sizeof label, "all");
    size_t row = table_add_row(table);
    table_set_text(table, row, 0, label, (size_t)len);
    for (int i = 0; i < PATH_PARTS; i++) {
        table_set_int(table, row, (size_t)i + 1, parts_ns[order[i]]);
        sums[i] += parts_ns[order[i]];
    }
}

static void fill(struct picture *picture, const struct replay_graph *graph,
                 const struct path_windows *windows, const struct selection *selection)
{
    struct chart *chart = picture_add_chart(picture, "path", "The critical path of each step");
    chart->x = (struct chart_axis){ .title = "Step", .kind = TABLE_NAME };
    chart->y = (struct chart_axis){ .title = "Time", .kind = TABLE_NS };
    struct table_column columns[PATH_PARTS + 1] = {
        { .key = "step", .title = "Step", .kind = TABLE_NAME, .help = "its number" }
    };
    for (int i = 0; i < PATH_PARTS; i++)
        columns[i + 1] = (struct table_column){ .key = path_part_name(order[i]),
                                                .title = path_part_title(order[i]),
                                                .kind = TABLE_NS,
                                                .help = path_part_help(order[i]) };
    struct table *table = chart_add_table(chart, table_open("path", NULL, columns, PATH_PARTS + 1));
    int64_t sums[PATH_PARTS] = { 0 };
    FOR_EACH(window, windows)
        if (!window->is_step || selection_holds_place(selection, window->event))
            add_row(table, graph, window, sums);
    for (int i = 0; i < PATH_PARTS; i++)
        if (sums[i] > 0)
            chart_add_series(chart, (struct chart_series){ .title = path_part_title(order[i]),
                                                           .mark = CHART_BAR,
                                                           .color = path_colors[order[i]],
                                                           .table = table,
                                                           .y = (size_t)i + 1 });
    if (chart->series.count == 0)
        picture_drop_chart(picture);
}

static bool path_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    const struct replay_graph *graph = replay_graph_of(request->trace);
    struct path_windows *windows = path_windows_steps(graph);
    if (windows->count == 0) {
        arena_free(windows);
        windows = path_windows_whole(graph);
    }
    fill(picture, graph, windows, request->selection);
    arena_free(windows);
    return chart_is_drawn(picture, err, "nothing with a duration was recorded on a thread or device");
}

const struct chart_type chart_type_path = {
    .name = "path",
    .title = "Critical path",
    .help = "what the critical path of each step is made of",
    .wants = { &path_wants },
    .draw = path_draw,
};
