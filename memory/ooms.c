#include "memory/parts.h"

static const char *const verdicts[] = {
    [OOM_FRAGMENTATION] = "fragmentation",
    [OOM_SPREAD] = "fragmentation, with what the device has free",
    [OOM_OUT_OF_MEMORY] = "not enough memory",
    [OOM_OTHER_POOL] = "free only in another pool or stream",
    [OOM_UNKNOWN] = "not known",
};

static enum oom_verdict judge(struct oom_row *row)
{
    if (row->reserved <= 0 && row->device_free <= 0)
        return OOM_UNKNOWN;
    if (row->request <= row->largest_free)
        return OOM_OTHER_POOL;
    if (row->request <= row->inactive)
        return OOM_FRAGMENTATION;
    if (row->request <= row->inactive + row->device_free)
        return OOM_SPREAD;
    row->missing = row->request - row->inactive - row->device_free;
    return OOM_OUT_OF_MEMORY;
}

static void add_row(const struct allocator_history *replay, const char *file, int64_t entry,
                    const struct walk *before, struct ooms *ooms)
{
    const struct snapshot *snapshot = replay->snapshot;
    uint64_t e = replay->device->first + (uint64_t)entry;
    frame_id frame = snapshot_user_frame(snapshot, snapshot->entries.stack[e]);
    uint64_t device_free = snapshot->entries.addr[e];
    struct oom_row row = {
        .file = as_text(file),
        .device = allocator_history_device_number(replay),
        .entry = entry,
        .time_us = allocator_history_time(replay, entry),
        .request = snapshot->entries.size[e],
        .device_free = device_free < UINT64_C(1) << 62 ? (int64_t)device_free : 0,
        .allocated = before->allocated,
        .active = before->active,
        .reserved = before->reserved,
        .line = as_text(frame == FRAME_NONE ? alive_no_frames
                                            : snapshot_frame_text(snapshot, frame, &ooms->arena)),
    };
    struct state state;
    state_find(replay, entry - 1, &state);
    row.largest_free = state.largest_free;
    row.inactive = state.inactive;
    row.inactive_split = state.inactive_split;
    EACH(VEC_FREE, &state.ranges, &state.pieces);
    row.kind = judge(&row);
    row.verdict = as_text(verdicts[row.kind]);
    *VEC_PUSH(&ooms->rows) = row;
}

void ooms_find(const struct allocator_history *replay, const char *file, struct ooms *ooms)
{
    struct walk walk = walk_begin(replay);
    for (int64_t e = 0; replay->actions[ENTRY_OOM] && e < replay->entry_count; e++) {
        struct walk before = walk;
        walk_next(&walk);
        if (replay->snapshot->entries.action[replay->device->first + (uint64_t)e] != ENTRY_OOM)
            continue;
        if (ooms->rows.count < OOMS_SHOWN)
            add_row(replay, file, e, &before, ooms);
        else
            ooms->left_out++;
    }
}
