#include "memory/snapshot_analysis.h"

#include <inttypes.h>
#include <math.h>

static struct timeline_point point_of(const struct walk *walk, int64_t first_us)
{
    int64_t time_us = allocator_history_time(walk->replay, walk->entry);
    bool timed = walk->replay->has_times && time_us != SNAPSHOT_NO_TIME && first_us != SNAPSHOT_NO_TIME;
    int64_t moment_ns = timed ? (time_us - first_us) * 1000 : walk->entry;
    return (struct timeline_point){ walk->entry, moment_ns, walk->allocated, walk->active, walk->reserved };
}

/* The points to keep of a part of the history. */
enum { KEPT_LOW, KEPT_HIGH, KEPT_RESERVED, KEPT_LAST, KEPT };

static void keep(struct timeline_point kept[KEPT], const struct timeline_point *point, bool first)
{
    if (first || point->allocated < kept[KEPT_LOW].allocated)
        kept[KEPT_LOW] = *point;
    if (first || point->allocated > kept[KEPT_HIGH].allocated)
        kept[KEPT_HIGH] = *point;
    if (first || point->reserved > kept[KEPT_RESERVED].reserved)
        kept[KEPT_RESERVED] = *point;
    kept[KEPT_LAST] = *point;
}

static void add_kept(struct timeline_points *points, const struct timeline_point kept[KEPT])
{
    int64_t last = points->at.count ? points->at.at[points->at.count - 1].entry : INT64_MIN;
    for (int added = 0; added < KEPT; added++) {
        const struct timeline_point *next = NULL;
        for (int i = 0; i < KEPT; i++)
            if (kept[i].entry > last && (!next || kept[i].entry < next->entry))
                next = &kept[i];
        if (!next)
            return;
        last = next->entry;
        *VEC_PUSH(&points->at) = *next;
    }
}

/* At most about 4 * PARTS points, including the first and the last. Free with VEC_FREE. */
static void snapshot_timeline(const struct allocator_history *replay, size_t parts,
                              struct timeline_points *points)
{
    int64_t each = replay->entry_count / (int64_t)parts + 1, first_us = allocator_history_time(replay, 0);
    struct timeline_point kept[KEPT] = { 0 };
    struct walk walk = walk_begin(replay);
    while (walk_next(&walk)) {
        struct timeline_point point = point_of(&walk, first_us);
        keep(kept, &point, walk.entry % each == 0);
        if (walk.entry % each == each - 1 || walk.entry + 1 == replay->entry_count)
            add_kept(points, kept);
    }
}

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct timeline_point, moment_ns, "time", "Time", TABLE_MOMENT, "from the first entry of the device"),
    COLUMN(struct timeline_point, allocated, "allocated", "Allocated", TABLE_BYTES, "allocated from then on; requested bytes"),
    COLUMN(struct timeline_point, active, "active", "Active", TABLE_BYTES, "and with what is freed and still used by another stream"),
    COLUMN(struct timeline_point, reserved, "reserved", "Reserved", TABLE_BYTES, "what the allocator has from the device from then on"),
    COLUMN(struct timeline_point, entry, "entry", "Entry", TABLE_COUNT, "the entry of the history"),
};
/* clang-format on */
enum { COLUMN_TIME, COLUMN_ALLOCATED, COLUMN_ACTIVE, COLUMN_RESERVED, COLUMN_ENTRY };

/* A point with a label. */
struct labelled {
    double x, y;
    bool peak, oom;
};

/* The label in LABELS whose text would overlap one at (X, Y) of a chart WIDE and HIGH; NULL: none. */
static struct labelled *find_beside(struct labelled *labels, size_t count, double x, double y, double wide,
                                    double high)
{
    return FIND_OF(label, labels, count, fabs(label->x - x) <= wide / 5 && fabs(label->y - y) <= high / 20);
}

/* The peak and out-of-memory errors, which are often close together: then they share one label. */
static void add_labels(struct chart *chart, const struct allocator_history *replay, size_t x)
{
    enum { LABELS_MOST = 8 };
    struct labelled labels[LABELS_MOST];
    size_t count = 0;
    int64_t first_us = allocator_history_time(replay, 0),
            last_us = allocator_history_time(replay, replay->entry_count - 1);
    bool timed = x == COLUMN_TIME && first_us != SNAPSHOT_NO_TIME && last_us != SNAPSHOT_NO_TIME;
    double wide = timed ? ((double)last_us - (double)first_us) * 1000 : (double)replay->entry_count;
    for (struct walk walk = walk_begin(replay); walk_next(&walk);) {
        uint64_t e = replay->device->first + (uint64_t)walk.entry;
        bool oom = replay->snapshot->entries.action[e] == ENTRY_OOM,
             peak = walk.entry == replay->allocated.peak_entry;
        if (!oom && !peak)
            continue;
        struct timeline_point point = point_of(&walk, first_us);
        double at = (double)(x == COLUMN_TIME ? point.moment_ns : point.entry), y = (double)point.allocated;
        struct labelled *beside = find_beside(labels, count, at, y, wide, (double)replay->allocated.peak);
        if (!beside && (count < LABELS_MOST || peak)) {
            beside = &labels[count < LABELS_MOST ? count++ : LABELS_MOST - 1];
            *beside = (struct labelled){ at, y, false, false };
        }
        if (beside && peak)
            *beside = (struct labelled){ at, y, true, beside->oom };
        if (beside && oom)
            beside->oom = true;
    }
    for (size_t i = 0; i < count; i++)
        chart_add_label(chart, labels[i].x, labels[i].y,
                        !labels[i].oom   ? "peak"
                        : labels[i].peak ? "peak, out of memory"
                                         : "out of memory");
}

static void draw_device(struct picture *picture, const struct allocator_history *replay)
{
    enum { PARTS = 2000 };
    struct timeline_points points = { 0 };
    snapshot_timeline(replay, PARTS, &points);
    struct chart *chart = picture_add_chart(picture, "memory", NULL);
    struct table *table =
        chart_add_table(chart, TABLE_OF_ROWS("memory", NULL, columns, points.at.at, points.at.count));
    VEC_FREE(&points.at);
    size_t x = replay->has_times ? COLUMN_TIME : COLUMN_ENTRY;
    chart->key = arena_printf(&chart->arena, "memory_%zu", picture->charts.count);
    chart->title = replay->device->device == SNAPSHOT_HOST
                       ? "Pinned host memory"
                       : arena_printf(&chart->arena, "Memory of device %" PRIu32, replay->device->device);
    chart->note = "requested bytes; reserved is what the allocator has from the device";
    chart->x = (struct chart_axis){ .title = replay->has_times ? "Time" : "Entry",
                                    .kind = replay->has_times ? TABLE_MOMENT : TABLE_COUNT };
    chart->y = (struct chart_axis){ .title = "Memory", .kind = TABLE_BYTES };
    static const struct {
        const char *title;
        size_t column;
        enum chart_color color;
    } series[] = {
        { "Reserved", COLUMN_RESERVED, CHART_ORANGE },
        { "Active", COLUMN_ACTIVE, CHART_GREY },
        { "Allocated", COLUMN_ALLOCATED, CHART_BLUE },
    };
    bool active_differs = replay->active.peak != replay->allocated.peak;
    for (size_t i = 0; i < sizeof series / sizeof *series; i++)
        if (series[i].column != COLUMN_ACTIVE || active_differs)
            chart_add_series(chart, (struct chart_series){ .title = series[i].title,
                                                           .mark = CHART_STAIRS,
                                                           .color = series[i].color,
                                                           .table = table,
                                                           .x = x,
                                                           .y = series[i].column });
    add_labels(chart, replay, x);
}

size_t snapshot_draw(struct allocator_history *const *replays, size_t count, size_t most,
                     struct picture *picture)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (replays[i]->entry_count < 2)
            continue;
        if (found < most)
            draw_device(picture, replays[i]);
        found++;
    }
    return found;
}
