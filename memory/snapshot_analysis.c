#include "memory/snapshot_analysis.h"

#include "base/rows.h"
#include <inttypes.h>
#include <math.h>

/* ---- moments ---- */

bool snapshot_moment_parse(const char *text, struct snapshot_moment *moment, struct tpa_error *err)
{
    static const char *const words[] = {
        /* others: a number */ [MOMENT_PEAK] = "peak", [MOMENT_END] = "end", [MOMENT_OOM] = "oom"
    };
    *moment = (struct snapshot_moment){ MOMENT_PEAK };
    for (int i = 0; text && i <= MOMENT_OOM; i++)
        if (strcmp(text, words[i]) == 0)
            moment->kind = (enum moment_kind)i;
    if (!text || strcmp(text, words[moment->kind]) == 0)
        return true;
    if (quantity_parse_integer(text, strlen(text), &moment->entry)) {
        moment->kind = MOMENT_ENTRY;
        return moment->entry >= HISTORY_BEFORE_FIRST ||
               tpa_fail(err, TPA_NOWHERE, "--at %s: entries are counted from 0; -1 is before the first",
                        text);
    }
    moment->kind = MOMENT_TIME;
    if (quantity_parse_time(text, strlen(text), &moment->time_ns))
        return true;
    tpa_fail(err, TPA_NOWHERE, "--at %s is not a moment", text);
    return tpa_hint(err,
                    "it takes peak, end, oom, the number of an entry, or a time from the first one: 1.5s");
}

static bool find_oom(const struct allocator_history *replay, int64_t *entry)
{
    for (int64_t e = 0; replay->actions[ENTRY_OOM] && e < replay->entry_count; e++)
        if (replay->snapshot->entries.action[replay->device->first + (uint64_t)e] == ENTRY_OOM) {
            *entry = e - 1;
            return true;
        }
    return false;
}

/* The entry of MOMENT. False: the device has no such moment (no OOM, no such entry, no times). */
static bool snapshot_moment_find(const struct allocator_history *replay, const struct snapshot_moment *moment,
                                 int64_t *entry)
{
    switch (moment->kind) {
    case MOMENT_PEAK: *entry = replay->allocated.peak_entry; return true;
    case MOMENT_END: *entry = replay->entry_count - 1; return true;
    case MOMENT_OOM: return find_oom(replay, entry);
    case MOMENT_ENTRY: *entry = moment->entry; return moment->entry < replay->entry_count;
    case MOMENT_TIME: {
        int64_t first_us = allocator_history_time(replay, 0);
        if (first_us == SNAPSHOT_NO_TIME)
            return false;
        *entry = allocator_history_entry_at(replay, first_us + moment->time_ns / 1000);
        return true;
    }
    }
    return false;
}

/* ---- rows ---- */

static void add_in_use(struct snapshot_answers *answers, const struct allocator_history *replay,
                       const char *file, int64_t entry, enum alive_by by)
{
    SCOPED struct buffer stack = { 0 };
    SCOPED_OBJECT struct alive *alive = alive_find(replay, entry, by);
    FOR_EACH(from, &alive->rows) {
        struct in_use_row row = {
            .file = as_text(file),
            .name = { arena_strndup(arena_of(answers), from->name, from->length), from->length },
            .device = allocator_history_device_number(replay),
            .bytes = from->bytes,
            .count = from->count,
            .average_bytes = from->bytes / from->count,
            .share = alive->bytes ? (double)from->bytes / (double)alive->bytes : NAN,
        };
        if (from->stack != STACK_NONE && by != ALIVE_BY_STACK) {
            buffer_clear(&stack);
            snapshot_stack_text(replay->snapshot, from->stack, &stack);
            row.stack = (struct text){ arena_strndup(arena_of(answers), stack.at, stack.count), stack.count };
        }
        *VEC_PUSH(&answers->in_use) = row;
    }
}

static struct text pool_name(struct arena *arena, const struct snapshot *snapshot, uint32_t pool)
{
    const struct snapshot_pool *at = &snapshot->pools.at[pool];
    return as_text(arena_printf(arena, "(%" PRId64 ", %" PRId64 ")", at->a, at->b));
}

static void snapshot_analysis_add_segments(struct snapshot_answers *answers,
                                           const struct allocator_history *replay, const char *file,
                                           int64_t entry)
{
    const struct snapshot *snapshot = replay->snapshot;
    struct state state;
    state_find(replay, entry, &state);
    FOR_EACH(range, &state.ranges) {
        const struct life *largest = NULL;
        for (size_t p = 0; p < range->piece_count; p++) {
            uint32_t life = state.pieces.at[range->first_piece + p].life;
            if (life != LIFE_NONE && (!largest || replay->lives.at[life].size > largest->size))
                largest = &replay->lives.at[life];
        }
        frame_id frame = largest ? snapshot_user_frame(snapshot, largest->stack) : FRAME_NONE;
        *VEC_PUSH(&answers->segments) = (struct segment_row){
            .file = as_text(file),
            .pool = pool_name(arena_of(answers), snapshot, range->pool),
            .kind = as_text(range->small ? "small" : "large"),
            .address = as_text(arena_printf(arena_of(answers), "0x%" PRIx64, range->addr)),
            .device = allocator_history_device_number(replay),
            .expandable = range->expandable,
            .bytes = range->size,
            .active = range->active,
            .free = range->free,
            .largest_free = range->largest_free,
            .blocks = range->blocks,
            .used = range->size ? (double)range->active / (double)range->size : NAN,
            .line = frame != FRAME_NONE ? as_text(snapshot_frame_text(snapshot, frame, arena_of(answers)))
                    : largest ? as_text(largest->born < 0 ? alive_before_recording : alive_no_frames)
                              : (struct text){ 0 },
        };
    }
    EACH(VEC_FREE, &state.ranges, &state.pieces);
}

static void add_pools(struct snapshot_answers *answers, const struct snapshot *snapshot, const char *file,
                      const struct ranges *devices)
{
    struct segment_groups groups = { 0 };
    segment_groups_find(snapshot, &groups);
    FOR_EACH(sums, &groups.rows) {
        bool host = sums->device == SNAPSHOT_HOST;
        if (!host && !ranges_hold(devices, sums->device))
            continue;
        *VEC_PUSH(&answers->pools) = (struct pool_row){
            .file = as_text(file),
            .pool = pool_name(arena_of(answers), snapshot, sums->pool),
            .kind = as_text(host          ? "host"
                            : sums->small ? "small"
                                          : "large"),
            .device = host ? TABLE_INT_MISSING : (int64_t)sums->device,
            .expandable = sums->expandable,
            .sums = *sums,
            .returned = sums->inactive_whole + sums->free_pages,
        };
    }
    VEC_FREE(&groups.rows);
}

static const struct key by_bytes[] = { DESC(struct in_use_row, bytes), KEY_END };

static void answer_device(const struct snapshot *snapshot, const struct snapshot_device *device,
                          const struct snapshot_query *query, struct snapshot_answers *answers)
{
    const char *file = snapshot->path;
    struct allocator_history *replay = allocator_history_open(snapshot, device);
    *VEC_PUSH(&answers->replays) = arena_hold(arena_of(answers), replay);
    *VEC_PUSH(&answers->files) = file;
    device_row_add(replay, file, &answers->devices);
    int64_t entry;
    if (snapshot_moment_find(replay, &query->at, &entry)) {
        add_in_use(answers, replay, file, entry, query->by);
        snapshot_analysis_add_segments(answers, replay, file, entry);
    } else {
        answers->moments_missing += replay->entry_count > 0;
    }
    ooms_find(replay, file, &answers->ooms);
    size_t first = answers->scopes.rows.count;
    scopes_find(replay, file, &answers->scopes);
    size_t count = answers->scopes.rows.count - first;
    struct scope_rows own = { .rows = { count ? answers->scopes.rows.at + first : NULL, count, 0 } };
    leaks_find(replay, file, &own, &answers->leaks);
    churn_find(replay, file, &answers->churn);
}

struct snapshot_answers *snapshot_answer(const struct snapshots *snapshots,
                                         const struct snapshot_query *query)
{
    struct snapshot_answers *answers = arena_open(sizeof *answers);
    struct arena *arena = arena_of(answers);
    ARENA_OWNS(arena, &answers->replays, &answers->files, &answers->devices.rows, &answers->in_use,
               &answers->pools, &answers->segments, &answers->scopes.rows, &answers->ooms.rows,
               &answers->leaks.rows, &answers->churn.rows);
    answers->moment = query->at.kind;
    answers->by = query->by;
    for (size_t i = 0; i < snapshots->of.count; i++) {
        const struct snapshot *snapshot = snapshots->of.at[i];
        FOR_EACH(device, &snapshot->devices)
            if (device->device == SNAPSHOT_HOST || ranges_hold(&query->devices, device->device))
                answer_device(snapshot, device, query, answers);
        add_pools(answers, snapshot, snapshot->path, &query->devices);
    }
    struct arena *own[] = { &answers->devices.arena, &answers->ooms.arena, &answers->leaks.arena,
                            &answers->churn.arena };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        arena_adopt(arena, own[i]);
    SORT(&answers->in_use, by_bytes);
    return answers;
}
