/* memory.c - memory in use and reserved over time, for each device, then the host; the peak with its operator. */
#include "charts/parts.h"
#include "memory/memory.h"
#include "derive/features.h"
#include "trace/span.h"
#include <inttypes.h>
#include <math.h>

enum { COLUMN_TIME, COLUMN_ALLOCATED, COLUMN_RESERVED, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    { "time", "Time", TABLE_MOMENT, "when it became so, from the origin of the file", 0, NULL },
    { "allocated", "In use", TABLE_BYTES, "bytes in use from then on", 0, NULL },
    { "reserved", "Reserved", TABLE_BYTES, "bytes that the allocator holds of the device from then on", 0,
      NULL },
};

/* "cuda:0", with the rank when there are several files. */
static const char *device_name(struct chart *chart, const struct trace *trace,
                               const struct memory_device *device)
{
    const char *name = memory_device_type_name(device->type);
    if (device->type == MEMORY_TYPE_UNKNOWN)
        name = "a device that the file does not name";
    else if (name == NULL)
        name = arena_printf(&chart->arena, "device type %" PRId64, device->type);
    if (device->id >= 0)
        name = arena_printf(&chart->arena, "%s:%" PRId64, name, device->id);
    if (trace->file_count > 1)
        name = arena_printf(&chart->arena, "%s, rank %" PRId64, name, selection_rank(trace, device->file));
    return name;
}

/* A chart of DEVICE; dropped again, and false, when none of its records was requested. */
static bool memory_add_device(const struct chart_request *request, struct picture *picture,
                              const struct memory_records *records, const struct memory_device *device)
{
    const struct trace *trace = request->trace;
    int64_t origin_ns = trace_file_span(trace, device->file).start_ns;
    struct chart *chart = picture_add_chart(picture, "memory", NULL);
    struct table *table = chart_add_table(chart, table_open("memory", NULL, columns, COLUMNS));
    uint32_t peak = RECORD_NONE;
    bool reserves = false;
    for (uint32_t i = device->first; i < device->first + device->count; i++) {
        const struct memory_record *record = &records->at[i];
        if (!selection_holds_time(request->selection, device->file, trace_start_ns(trace, record->event)))
            continue;
        size_t row = table_add_row(table);
        table_set_int(table, row, COLUMN_TIME, trace_start_ns(trace, record->event) - origin_ns);
        table_set_int(table, row, COLUMN_ALLOCATED, record->allocated);
        if (record->reserved >= 0)
            table_set_int(table, row, COLUMN_RESERVED, record->reserved);
        reserves |= record->reserved > 0;
        if (peak == RECORD_NONE || record->allocated > records->at[peak].allocated)
            peak = i;
    }
    if (peak == RECORD_NONE) {
        picture_drop_chart(picture);
        return false;
    }
    const char *name = device_name(chart, trace, device);
    chart->key = arena_printf(&chart->arena, "memory_%zu", picture->charts.count);
    chart->title = arena_printf(&chart->arena, "Memory of %s", name);
    chart->note =
        device->has_totals ? NULL : "counted from the start of recording: what was there before is not known";
    chart->x = chart_time_axis(request, device->file);
    chart->y = (struct chart_axis){ .title = "Memory", .kind = TABLE_BYTES };
    if (reserves)
        chart_add_series(chart, (struct chart_series){ .title = "Reserved by the allocator",
                                                       .mark = CHART_STAIRS,
                                                       .color = CHART_ORANGE,
                                                       .table = table,
                                                       .y = COLUMN_RESERVED });
    chart_add_series(chart, (struct chart_series){ .title = "In use",
                                                   .mark = CHART_STAIRS,
                                                   .color = CHART_BLUE,
                                                   .table = table,
                                                   .y = COLUMN_ALLOCATED });
    event_id op = records->at[peak].owner;
    chart_add_label(chart, (double)(trace_start_ns(trace, records->at[peak].event) - origin_ns),
                    (double)records->at[peak].allocated,
                    op == EVENT_NONE ? "(no operator)" : trace_name(trace, op));
    return true;
}

/* The charts of devices, from FIRST on, get one axis of bytes: a device that uses less looks like one. */
static void memory_share_axis(struct picture *picture, size_t first, size_t end)
{
    double most = 0;
    for (size_t i = first; i < end; i++) {
        const struct table *table = picture->charts.at[i]->tables.at[0];
        for (size_t row = 0; row < table->row_count; row++)
            for (size_t column = COLUMN_ALLOCATED; column < COLUMNS; column++)
                most = fmax(most, chart_value(table, row, column)); /* which passes over what is missing */
    }
    for (size_t i = first; i < end && end - first > 1; i++) {
        picture->charts.at[i]->y.has_most = true;
        picture->charts.at[i]->y.most = most * 1.1; /* room for the text at the peak */
    }
}

/* Charts of the devices, or with HOST those of hosts; how many there are. */
static size_t add_devices(const struct chart_request *request, struct picture *picture,
                          const struct memory_records *records, bool host)
{
    const struct selection *selection = request->selection;
    size_t found = 0, first = picture->charts.count;
    FOR_EACH_OF(device, records->devices, records->device_count) {
        if (memory_is_host(device) != host || (selection->files && !selection->files[device->file]) ||
            (!host && device->type != MEMORY_TYPE_UNKNOWN && !ranges_hold(&request->devices, device->id)))
            continue;
        if (picture->charts.count < CHART_MOST_PANELS)
            found += memory_add_device(request, picture, records, device);
        else
            found++;
    }
    memory_share_axis(picture, first, picture->charts.count);
    return found;
}

static bool memory_draw(const struct chart_request *request, struct picture *picture, struct tpa_error *err)
{
    const struct memory_records *records = memory_records_of(request->trace, MEMORY_OWNERS);
    size_t found = add_devices(request, picture, records, false);
    found += add_devices(request, picture, records, true);
    chart_describe_panels(picture, CHART_MOST_PANELS, found, "devices");
    return chart_is_drawn(picture, err, "no memory was allocated in the selected time");
}

const struct chart_type chart_type_memory = {
    .name = "memory",
    .title = "Memory",
    .help = "memory in use and reserved over time, and the operator at the peak",
    .wants = { &memory_wants },
    .needs = FEATURE_MEMORY,
    .draw = memory_draw,
};
