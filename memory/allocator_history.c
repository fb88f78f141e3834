#include "memory/allocator_history.h"
#include "base/search.h"
#include "base/id_table.h"

/* ---- lives ---- */

struct making {
    struct allocator_history *replay;
    struct id_table
        last; /* life of each address; an ended one stays, so that a second free of it is detected */
    VEC_OF(struct life) old; /* from before the first entry */
    enum entry_action active_leaves_at;
};

/* The provisional number of an old life: these count down. */
#define OLD_LIFE(index) (LIFE_NONE - 1 - (uint32_t)(index))

static struct life *life_at(struct making *making, uint32_t number)
{
    return number < making->replay->lives.count ? &making->replay->lives.at[number]
                                                : &making->old.at[LIFE_NONE - 1 - number];
}

static uint32_t add_old(struct making *making, uint64_t addr, int64_t size)
{
    *VEC_PUSH(&making->replay->old_addresses) = addr;
    *VEC_PUSH(&making->old) =
        (struct life){ size, STACK_NONE, HISTORY_BEFORE_FIRST, LIFE_GOES_ON, LIFE_GOES_ON };
    return OLD_LIFE(making->old.count - 1);
}

static void begin_life(struct making *making, int32_t entry, uint64_t e)
{
    struct allocator_history *replay = making->replay;
    const struct snapshot_entries *entries = &replay->snapshot->entries;
    uint32_t last = id_table_find(&making->last, entries->addr[e]);
    if (last != ID_TABLE_NONE) {
        struct life *former = life_at(making, last);
        if (former->freed == LIFE_GOES_ON || former->completed == LIFE_GOES_ON) {
            replay->realloc_of_live++;
            *VEC_PUSH(&replay->replaced) = last;
            former->freed = former->freed < entry ? former->freed : entry;
            former->completed = former->completed < entry ? former->completed : entry;
        }
    }
    uint32_t number = (uint32_t)replay->lives.count;
    *VEC_PUSH(&replay->lives) =
        (struct life){ entries->size[e], entries->stack[e], entry, LIFE_GOES_ON, LIFE_GOES_ON };
    id_table_set(&making->last, entries->addr[e], number);
    replay->life_of[entry] = number;
}

static void end_life(struct making *making, int32_t entry, uint64_t e, enum entry_action action)
{
    struct allocator_history *replay = making->replay;
    const struct snapshot_entries *entries = &replay->snapshot->entries;
    uint32_t number = id_table_find(&making->last, entries->addr[e]);
    if (number == ID_TABLE_NONE) { /* it existed before the first entry */
        number = add_old(making, entries->addr[e], entries->size[e]);
        id_table_set(&making->last, entries->addr[e], number);
        if (action != replay->leaves_at) /* its tensor had died before as well */
            life_at(making, number)->freed = HISTORY_BEFORE_FIRST;
    }
    struct life *life = life_at(making, number);
    bool ends = false;
    if ((action == replay->leaves_at || action == ENTRY_FREE_COMPLETED) && life->freed == LIFE_GOES_ON) {
        life->freed = entry;
        ends = true;
    }
    if (action == making->active_leaves_at && life->completed == LIFE_GOES_ON) {
        life->completed = entry;
        ends = true;
    }
    if (ends)
        replay->life_of[entry] = number;
    else
        replay->frees_ignored++;
}

/* Blocks in use at the end: those without an allocation entry existed before the first. */
static void compare_with_blocks(struct making *making)
{
    struct allocator_history *replay = making->replay;
    const struct snapshot *snapshot = replay->snapshot;
    uint64_t in_both = 0;
    size_t end = snapshot_end_of_segments(snapshot, replay->device->device);
    for (size_t s = snapshot_first_segment(snapshot, replay->device->device); s < end; s++) {
        const struct snapshot_segment *segment = &snapshot->segments.at[s];
        for (size_t b = 0; b < segment->block_count; b++) {
            const struct snapshot_block *block = &snapshot->blocks.at[segment->first_block + b];
            if (block->state == BLOCK_INACTIVE)
                continue;
            uint32_t number = id_table_find(&making->last, block->addr);
            if (number != ID_TABLE_NONE) {
                bool live = life_at(making, number)->completed == LIFE_GOES_ON;
                in_both += live;
                replay->segments_not_live += !live;
                continue;
            }
            number = add_old(making, block->addr, block->requested);
            struct life *life = life_at(making, number);
            life->stack = block->stack;
            if (block->state == BLOCK_PENDING_FREE && replay->leaves_at == ENTRY_FREE_REQUESTED)
                life->freed = HISTORY_BEFORE_FIRST;
            id_table_set(&making->last, block->addr, number);
            in_both++;
        }
    }
    uint64_t live = SUM(uint64_t, i, replay->lives.count, replay->lives.at[i].completed == LIFE_GOES_ON);
    for (size_t i = 0; i < making->old.count; i++)
        live += making->old.at[i].completed == LIFE_GOES_ON;
    replay->live_not_in_segments = live > in_both ? live - in_both : 0;
}

/* Give old lives their final numbers, after the others. */
static void place_old(struct making *making)
{
    struct allocator_history *replay = making->replay;
    replay->first_old = replay->lives.count;
    for (int64_t e = 0; e < replay->entry_count; e++)
        if (replay->life_of[e] != LIFE_NONE && replay->life_of[e] >= replay->first_old)
            replay->life_of[e] = (uint32_t)replay->first_old + (LIFE_NONE - 1 - replay->life_of[e]);
    for (size_t i = 0; i < replay->replaced.count; i++)
        if (replay->replaced.at[i] >= replay->first_old)
            replay->replaced.at[i] = (uint32_t)replay->first_old + (LIFE_NONE - 1 - replay->replaced.at[i]);
    for (size_t i = 0; i < making->old.count; i++)
        *VEC_PUSH(&replay->lives) = making->old.at[i];
}

static void count_entries(struct allocator_history *replay)
{
    const struct snapshot_entries *entries = &replay->snapshot->entries;
    int64_t latest = SNAPSHOT_NO_TIME;
    for (uint64_t e = replay->device->first; e < replay->device->end; e++) {
        replay->actions[entries->action[e]]++;
        replay->action_bytes[entries->action[e]] += entries->size[e];
        replay->with_stack += entries->stack[e] != STACK_NONE;
        if (entries->time_us[e] == SNAPSHOT_NO_TIME)
            continue;
        replay->has_times = true;
        replay->time_goes_back += entries->time_us[e] < latest;
        latest = entries->time_us[e];
    }
    replay->has_history = replay->actions[ENTRY_ALLOC] || replay->actions[ENTRY_FREE_REQUESTED] ||
                          replay->actions[ENTRY_FREE_COMPLETED];
}

static void make_lives(struct allocator_history *replay)
{
    struct making making = { .replay = replay };
    making.active_leaves_at =
        replay->actions[ENTRY_FREE_COMPLETED] ? ENTRY_FREE_COMPLETED : ENTRY_FREE_REQUESTED;
    const struct snapshot_entries *entries = &replay->snapshot->entries;
    for (int64_t i = 0; i < replay->entry_count; i++) {
        uint64_t e = replay->device->first + (uint64_t)i;
        replay->life_of[i] = LIFE_NONE;
        if (entries->action[e] == ENTRY_ALLOC)
            begin_life(&making, (int32_t)i, e);
        else if (entries->action[e] == ENTRY_FREE_REQUESTED || entries->action[e] == ENTRY_FREE_COMPLETED)
            end_life(&making, (int32_t)i, e, (enum entry_action)entries->action[e]);
    }
    compare_with_blocks(&making);
    place_old(&making);
    id_table_release(&making.last);
    VEC_FREE(&making.old);
}

/* ---- figures over time ---- */

static void begin_courses(struct allocator_history *replay)
{
    int64_t allocated = 0, active = 0, reserved = 0;
    for (size_t i = replay->first_old; i < replay->lives.count; i++) {
        const struct life *life = &replay->lives.at[i];
        allocated += life_is_allocated(life, HISTORY_BEFORE_FIRST) ? life->size : 0;
        active += life_is_active(life, HISTORY_BEFORE_FIRST) ? life->size : 0;
    }
    const struct snapshot *snapshot = replay->snapshot;
    size_t end = snapshot_end_of_segments(snapshot, replay->device->device);
    for (size_t s = snapshot_first_segment(snapshot, replay->device->device); s < end; s++)
        reserved += snapshot->segments.at[s].total;
    reserved -= replay->action_bytes[ENTRY_SEGMENT_ALLOC] + replay->action_bytes[ENTRY_SEGMENT_MAP] -
                replay->action_bytes[ENTRY_SEGMENT_FREE] - replay->action_bytes[ENTRY_SEGMENT_UNMAP];
    replay->allocated = (struct course){ allocated, allocated, allocated, HISTORY_BEFORE_FIRST };
    replay->active = (struct course){ active, active, active, HISTORY_BEFORE_FIRST };
    replay->reserved = (struct course){ reserved, reserved, reserved, HISTORY_BEFORE_FIRST };
}

static void follow(struct course *course, int64_t bytes, int64_t entry)
{
    course->end = bytes;
    if (bytes > course->peak) {
        course->peak = bytes;
        course->peak_entry = entry;
    }
}

struct allocator_history *allocator_history_open(const struct snapshot *snapshot,
                                                 const struct snapshot_device *device)
{
    struct allocator_history *replay = arena_open(sizeof *replay);
    ARENA_OWNS(arena_of(replay), &replay->lives, &replay->old_addresses, &replay->replaced, &replay->life_of);
    replay->snapshot = snapshot;
    replay->device = device;
    replay->entry_count = (int64_t)(device->end - device->first);
    replay->life_of = mem_alloc(mem_times((size_t)replay->entry_count + 1, sizeof *replay->life_of));
    count_entries(replay);
    replay->leaves_at = replay->actions[ENTRY_FREE_REQUESTED] ? ENTRY_FREE_REQUESTED : ENTRY_FREE_COMPLETED;
    make_lives(replay);
    begin_courses(replay);
    for (struct walk walk = walk_begin(replay); walk_next(&walk);) {
        follow(&replay->allocated, walk.allocated, walk.entry);
        follow(&replay->active, walk.active, walk.entry);
        follow(&replay->reserved, walk.reserved, walk.entry);
    }
    return replay;
}

/* ---- walking ---- */

struct walk walk_begin(const struct allocator_history *replay)
{
    return (struct walk){
        .replay = replay,
        .entry = HISTORY_BEFORE_FIRST,
        .allocated = replay->allocated.start,
        .active = replay->active.start,
        .reserved = replay->reserved.start,
    };
}

static void leave(struct walk *walk, const struct life *life)
{
    walk->allocated -= life->freed == walk->entry && life->born < walk->entry ? life->size : 0;
    walk->active -= life->completed == walk->entry && life->born < walk->entry ? life->size : 0;
}

bool walk_next(struct walk *walk)
{
    const struct allocator_history *replay = walk->replay;
    if (walk->entry + 1 >= replay->entry_count)
        return false;
    walk->entry++;
    walk->reserved +=
        allocator_history_reserved_change(replay->snapshot, replay->device->first + (uint64_t)walk->entry);
    if (replay->life_of[walk->entry] == LIFE_NONE)
        return true;
    const struct life *life = &replay->lives.at[replay->life_of[walk->entry]];
    if (life->born != walk->entry) {
        leave(walk, life);
        return true;
    }
    while (walk->replaced < replay->replaced.count) {
        const struct life *former = &replay->lives.at[replay->replaced.at[walk->replaced]];
        if (former->freed != walk->entry && former->completed != walk->entry)
            break;
        leave(walk, former);
        walk->replaced++;
    }
    walk->allocated += life->size;
    walk->active += life->size;
    return true;
}

void walk_to(struct walk *walk, int64_t entry)
{
    while (walk->entry < entry && walk_next(walk))
        ;
}

int64_t allocator_history_time(const struct allocator_history *replay, int64_t entry)
{
    if (entry < 0 || entry >= replay->entry_count)
        return SNAPSHOT_NO_TIME;
    return replay->snapshot->entries.time_us[replay->device->first + (uint64_t)entry];
}

int64_t allocator_history_entry_at(const struct allocator_history *replay, int64_t time_us)
{
    if (replay->time_goes_back || !replay->has_times) {
        int64_t last = HISTORY_BEFORE_FIRST;
        for (int64_t e = 0; e < replay->entry_count; e++)
            if (allocator_history_time(replay, e) != SNAPSHOT_NO_TIME &&
                allocator_history_time(replay, e) <= time_us)
                last = e;
        return last;
    }
    int64_t i = PLACE(k, replay->entry_count, allocator_history_time(replay, k) <= time_us);
    return i - 1;
}
