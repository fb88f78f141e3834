#include "memory/parts.h"

#include <inttypes.h>

/* The innermost annotation of the device at TIME_US; NAME_NONE: none. */
static name_id annotation_at(const struct allocator_history *replay, int64_t time_us)
{
    const struct snapshot *snapshot = replay->snapshot;
    name_id innermost = NAME_NONE;
    int64_t latest = INT64_MIN;
    FOR_EACH(at, &snapshot->annotations) {
        bool holds = at->device == replay->device->device && at->start_us != SNAPSHOT_NO_TIME &&
                     at->start_us <= time_us && (at->end_us == SNAPSHOT_NO_TIME || at->end_us >= time_us);
        if (holds && at->start_us >= latest) {
            latest = at->start_us;
            innermost = at->name;
        }
    }
    return innermost;
}

static void add_peak(const struct allocator_history *replay, struct device_row *row)
{
    row->allocated_peak = replay->allocated.peak;
    row->active_peak = replay->active.peak;
    row->reserved_peak = replay->reserved.peak;
    row->peak_entry = replay->allocated.peak_entry;
    row->active_peak_entry = replay->active.peak_entry;
    row->reserved_peak_entry = replay->reserved.peak_entry;
    row->start = replay->allocated.start;
    row->end = replay->allocated.end;
    row->peak_count = row->before_at_peak = 0;
    FOR_EACH(life, &replay->lives) {
        if (!life_is_allocated(life, row->peak_entry))
            continue;
        row->peak_count++;
        row->before_at_peak += life->born < 0 ? life->size : 0;
    }
    int64_t time_us = allocator_history_time(replay, row->peak_entry),
            first_us = allocator_history_time(replay, 0);
    if (time_us == SNAPSHOT_NO_TIME || first_us == SNAPSHOT_NO_TIME)
        return;
    row->peak_time_us = time_us;
    row->peak_moment_ns = (time_us - first_us) * 1000;
    name_id scope = annotation_at(replay, time_us);
    if (scope != NAME_NONE)
        row->peak_scope = (struct text){ names_text(replay->snapshot->names, scope),
                                         names_length(replay->snapshot->names, scope) };
}

void device_row_add(const struct allocator_history *replay, const char *file, struct device_rows *rows)
{
    bool host = replay->device->device == SNAPSHOT_HOST;
    struct device_row row = {
        .file = { file, strlen(file) },
        .device = allocator_history_device_number(replay),
        .sums = segment_sums_of(replay->snapshot, replay->device->device),
        .entries = replay->entry_count,
        .allocated_peak = TABLE_INT_MISSING,
        .active_peak = TABLE_INT_MISSING,
        .reserved_peak = TABLE_INT_MISSING,
        .peak_entry = TABLE_INT_MISSING,
        .active_peak_entry = TABLE_INT_MISSING,
        .reserved_peak_entry = TABLE_INT_MISSING,
        .peak_time_us = TABLE_INT_MISSING,
        .peak_moment_ns = TABLE_INT_MISSING,
        .peak_count = TABLE_INT_MISSING,
        .start = TABLE_INT_MISSING,
        .end = TABLE_INT_MISSING,
        .before_at_peak = TABLE_INT_MISSING,
    };
    const char *name = host ? "host" : arena_printf(&rows->arena, "%" PRIu32, replay->device->device);
    row.name = (struct text){ name, strlen(name) };
    if (replay->entry_count > 0)
        add_peak(replay, &row);
    *VEC_PUSH(&rows->rows) = row;
}
