/* queue.c - how many launches waited in the queue of each stream, over time. */
#include "charts/parts.h"
#include "derive/features.h"
#include <math.h>

/* "Launches waiting for rank 1, device 0, stream 7" */
static const char *title_of(struct chart *chart, const struct trace *trace, track_id stream)
{
    const struct track *track = &trace->tracks[stream];
    const char *rank = "";
    if (trace->file_count > 1)
        rank = arena_printf(&chart->arena, "rank %lld, ", (long long)selection_rank(trace, track->file));
    return arena_printf(&chart->arena, "Launches waiting for %sdevice %d, stream %lld", rank, track->device,
                        (long long)track->stream);
}

static void add_depths(struct picture *picture, const struct chart_request *request, size_t number,
                       const struct queue_depths *depths)
{
    static const struct table_column columns[] = {
        COLUMN(struct queue_depth, time_ns, "time", "Time", TABLE_MOMENT,
               "from then on, from the origin of the file"),
        COLUMN(struct queue_depth, depth, "depth", "Depth", TABLE_COUNT, "launches that wait"),
    };
    struct chart *chart = picture_add_chart(picture, "queue", NULL);
    chart->key = arena_printf(&chart->arena, "queue_%zu", number);
    chart->title = title_of(chart, request->trace, depths->stream);
    chart->x = request->trace->file_count == 1
                   ? chart_time_axis(request, 0)
                   : (struct chart_axis){ .title = "Time from the start of the file", .kind = TABLE_MOMENT };
    chart->y = (struct chart_axis){ .title = "Launches", .kind = TABLE_COUNT };
    struct table *table = chart_add_table(
        chart, TABLE_OF_ROWS("depths", NULL, columns, depths->changes.at, depths->changes.count));
    chart_add_series(chart,
                     (struct chart_series){
                         .mark = CHART_STAIRS, .color = CHART_COLOR_OF_COMPUTATION, .table = table, .y = 1 });
}

/* The deepest queue and the latest change of those that are drawn. */
struct queue_reach {
    int64_t deepest, latest_ns;
};

/* Charts below each other are compared by eye, so all have the axes of the longest and the deepest. */
static void share_axes(struct picture *picture, const struct queue_reach *reach)
{
    for (size_t i = 0; i < picture->charts.count && picture->charts.count > 1; i++) {
        struct chart *chart = picture->charts.at[i];
        chart->y.has_most = true;
        chart->y.most = (double)reach->deepest;
        if (chart->x.has_most)
            continue;
        chart->x.has_least = chart->x.has_most = true;
        chart->x.most = (double)reach->latest_ns;
    }
}

static int64_t deepest_of(const struct queue_depths *depths)
{
    int64_t deepest = 0;
    for (size_t i = 0; i < depths->changes.count; i++)
        deepest = depths->changes.at[i].depth > deepest ? depths->changes.at[i].depth : deepest;
    return deepest;
}

static void widen_reach(struct queue_reach *reach, const struct queue_depths *depths, int64_t deepest)
{
    int64_t latest_ns = depths->changes.at[depths->changes.count - 1].time_ns;
    reach->deepest = deepest > reach->deepest ? deepest : reach->deepest;
    reach->latest_ns = latest_ns > reach->latest_ns ? latest_ns : reach->latest_ns;
}

/* Charts of the streams that matter; of others, whose queues stay below a tenth of the deepest, a note tells. */
void chart_queues(struct picture *picture, const struct chart_request *request,
                  const struct launches *launches)
{
    const struct queue_depths *depths = launches->depths;
    int64_t deepest = 0, next = 0;
    size_t count = launches->depth_count, shown = 0, shallow = 0;
    struct queue_reach reach = { 0, 0 };
    for (size_t i = 0; i < count; i++)
        deepest = deepest_of(&depths[i]) > deepest ? deepest_of(&depths[i]) : deepest;
    for (size_t i = 0; i < count; i++) {
        int64_t depth = deepest_of(&depths[i]);
        if (depth < deepest / 10) {
            shallow++;
            next = depth > next ? depth : next;
        } else if (shown++ < CHART_MOST_PANELS) {
            add_depths(picture, request, i + 1, &depths[i]);
            widen_reach(&reach, &depths[i], depth);
        }
    }
    share_axes(picture, &reach);
    if (shallow) {
        struct chart *chart = picture->charts.at[0];
        chart->note = arena_printf(&chart->arena,
                                   "not shown: %zu other stream%s, with no more than %lld launch%s waiting",
                                   shallow, shallow == 1 ? "" : "s", (long long)next, next == 1 ? "" : "es");
    }
    chart_describe_panels(picture, CHART_MOST_PANELS, shown, "streams");
}

static bool queue_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    SCOPED_OBJECT struct launches *launches = launches_analyze(request->trace, request->selection, 0);
    chart_queues(picture, request, launches);
    return chart_is_drawn(picture, err, "no call that launched work is in the file");
}

const struct chart_type chart_type_queue = {
    .name = "queue",
    .title = "Queue depth",
    .help = "launches that wait for each stream, over time",
    .wants = { &launches_wants },
    .needs = FEATURE_GPU,
    .draw = queue_draw,
};
