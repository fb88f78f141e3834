/* snapshot_missing.c - why something is missing or inconsistent in a snapshot: see analysis.h. */
#include "memory/snapshot_analysis.h"

#include <inttypes.h>
#include <stdarg.h>

struct telling {
    struct missing_list *list;
    const char *file;
};

static void TPA_PRINTF(4, 5)
    tell(struct telling *telling, const char *kind, int64_t count, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *copy = arena_strndup(&telling->list->arena, text, strlen(text));
    *VEC_PUSH(&telling->list->rows) =
        (struct missing_data){ kind, { copy, strlen(copy) }, telling->file, count, -1 };
}

/* "device 0: ", then FMT. */
static void TPA_PRINTF(5, 6) tell_of(struct telling *telling, const struct allocator_history *replay,
                                     const char *kind, int64_t count, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (replay->device->device == SNAPSHOT_HOST)
        tell(telling, kind, count, "pinned host memory: %s", text);
    else
        tell(telling, kind, count, "device %" PRIu32 ": %s", replay->device->device, text);
}

/* Is the one entry of DEVICE what enabled="state" leaves? */
static bool is_of_state(const struct snapshot *snapshot, const struct snapshot_device *device)
{
    if (device->end - device->first != 1)
        return false;
    uint8_t action = snapshot->entries.action[device->first];
    return action == ENTRY_FREE_COMPLETED || action == ENTRY_SNAPSHOT || action == ENTRY_SEGMENT_FREE;
}

/* Entries overwritten in a ring: blocks with a stack but without their allocation. */
static void describe_lost(struct telling *telling, const struct allocator_history *replay)
{
    if (!replay->has_history || is_of_state(replay->snapshot, replay->device))
        return; /* no recording, so the ring lost nothing */
    int64_t count = 0, bytes = 0;
    for (size_t i = replay->first_old; i < replay->lives.count; i++)
        if (replay->lives.at[i].stack != STACK_NONE) {
            count++;
            bytes += replay->lives.at[i].size;
        }
    if (count == 0)
        return;
    tell_of(
        telling, replay, "ring_overwritten", count,
        "the entries of at least %" PRId64 " allocations (%" PRId64
        " bytes that are still in use) were overwritten: history begins in the middle; a larger max_entries of "
        "_record_memory_history() keeps them",
        count, bytes);
}

static void describe_stacks(struct telling *telling, const struct allocator_history *replay)
{
    int64_t allocs = replay->actions[ENTRY_ALLOC], without = 0, bytes = 0;
    for (size_t i = 0; i < replay->first_old; i++)
        if (replay->lives.at[i].stack == STACK_NONE) {
            without++;
            bytes += replay->lives.at[i].size;
        }
    if (without == 0)
        return;
    if (without == allocs)
        tell_of(telling, replay, "no_stacks", allocs,
                "no allocation has a stack, so lines of code are not known; "
                "_record_memory_history(context=\"all\") records them");
    else
        tell_of(
            telling, replay, "some_without_stack", without,
            "%" PRId64 " of %" PRId64 " allocations (%" PRId64
            " bytes) have no stack: the backward pass runs in C++, of which stacks=\"all\" records frames",
            without, allocs, bytes);
}

static void describe_actions(struct telling *telling, const struct allocator_history *replay)
{
    int64_t requested = replay->actions[ENTRY_FREE_REQUESTED],
            completed = replay->actions[ENTRY_FREE_COMPLETED];
    if (!requested && completed > 1)
        tell_of(telling, replay, "skipped_actions", completed,
                "no free_requested was recorded (skip_actions?), so allocated bytes fall where "
                "active bytes do, at free_completed");
    else if (requested > 1 && !completed)
        tell_of(telling, replay, "skipped_actions", requested,
                "no free_completed was recorded (skip_actions?), so active bytes fall where "
                "allocated bytes do, at free_requested");
    else if (replay->actions[ENTRY_ALLOC] == 0 && requested + completed > 1)
        tell_of(telling, replay, "skipped_actions", requested + completed,
                "no alloc was recorded (skip_actions?), so all memory seems to be from before recording");
    if (replay->reserved.start < 0)
        tell_of(telling, replay, "skipped_segments", 1,
                "segments were freed or allocated without an entry (skip_actions?): reserved bytes "
                "before the end are not true");
}

static void describe_contradictions(struct telling *telling, const struct allocator_history *replay)
{
    if (replay->realloc_of_live)
        tell_of(telling, replay, "free_missing", (int64_t)replay->realloc_of_live,
                "%" PRIu64 " addresses were allocated while in use: they count as freed there",
                replay->realloc_of_live);
    if (replay->frees_ignored)
        tell_of(telling, replay, "frees_ignored", (int64_t)replay->frees_ignored,
                "%" PRIu64 " frees are of addresses that are not in use, and are ignored",
                replay->frees_ignored);
    if (replay->live_not_in_segments || replay->segments_not_live)
        tell_of(telling, replay, "history_and_segments_differ",
                (int64_t)(replay->live_not_in_segments + replay->segments_not_live),
                "at the end, %" PRIu64 " blocks are in use by the history and not by the segments, and "
                "%" PRIu64 " the other way round",
                replay->live_not_in_segments, replay->segments_not_live);
    if (replay->time_goes_back)
        tell_of(telling, replay, "time_goes_back", (int64_t)replay->time_goes_back,
                "time goes back between entries; their order is kept");
}

/* Was it made from a profile by _profile_to_snapshot, the only writer of categories? */
static bool is_of_profile(const struct snapshot *snapshot)
{
    const struct snapshot_column *category = &snapshot->entries.category;
    return category->at || (snapshot->entries.count && category->same != NAME_NONE);
}

/* Is COLUMN, which holds names, empty in all entries? */
static bool is_silent(const struct snapshot *snapshot, const struct snapshot_column *column)
{
    return !column->at && (column->same == NAME_NONE || names_length(snapshot->names, column->same) == 0);
}

/* Explain why there is only one row if rows are grouped by something that is not recorded. */
static void describe_grouping(struct telling *telling, const struct snapshot *snapshot, enum alive_by by)
{
    int64_t count = (int64_t)snapshot->entries.count;
    if (count == 0)
        return;
    if (by == ALIVE_BY_CATEGORY && is_silent(snapshot, &snapshot->entries.category))
        tell(
            telling, "no_categories", count,
            "no categories are recorded: only _profile_to_snapshot() of torch.cuda._memory_viz writes them, of a profile "
            "with profile_memory, record_shapes and with_stack");
    if (by == ALIVE_BY_METADATA && is_silent(snapshot, &snapshot->entries.user_metadata))
        tell(
            telling, "no_metadata", count,
            "no metadata is recorded: PyTorch writes what torch.cuda.memory._set_memory_metadata() was given");
    if (by == ALIVE_BY_CONTEXT && is_silent(snapshot, &snapshot->entries.compile_context))
        tell(telling, "no_graphs", count,
             "no compiled graphs are recorded: PyTorch 2.8 and later records them");
}

static void describe_device(struct telling *telling, const struct allocator_history *replay)
{
    if (replay->entry_count == 0)
        return;
    describe_lost(telling, replay);
    describe_stacks(telling, replay);
    describe_actions(telling, replay);
    describe_contradictions(telling, replay);
    if (!replay->has_times)
        tell_of(telling, replay, "no_times", replay->entry_count,
                "entries record no time (%s): moments are numbers of entries",
                is_of_profile(replay->snapshot) ? "_profile_to_snapshot writes none" : "PyTorch before 2.2");
}

/* For all devices together: was there a recording? */
static void describe_recording(struct telling *telling, const struct snapshot *snapshot)
{
    uint64_t entries = 0, of_state = 0;
    FOR_EACH(device, &snapshot->devices) {
        entries += device->end - device->first;
        of_state += is_of_state(snapshot, device);
    }
    if (entries == 0 || entries == of_state)
        tell(telling, "no_history", (int64_t)entries,
             "%s, so there is no peak of a history, and what is shown is the moment of the snapshot; call "
             "torch.cuda.memory._record_memory_history() before",
             entries ? "no history was recorded but the last entry (enabled=\"state\")"
                     : "no history was recorded");
    if (is_of_profile(snapshot))
        tell(
            telling, "of_a_profile", 1,
            "made of a profile (_profile_to_snapshot): the device with the highest number is the CPU, and a segment is "
            "the span of its addresses, so that what is reserved and free in it says nothing; --by category shows what "
            "memory is used for");
    if (snapshot->overflowed)
        tell(telling, "ring_overflowed", 1,
             "the file says that its ring of entries overflowed: the oldest ones were lost");
    if (snapshot->segments.count == 0 && entries > 0)
        tell(telling, "no_segments", 1,
             "there are no segments in the file: reserved bytes and fragmentation are not known");
    int64_t odd = SUM(int64_t, d, snapshot->devices.count,
                      segment_sums_of(snapshot, snapshot->devices.at[d].device).do_not_add_up);
    if (odd)
        tell(telling, "segments_do_not_add_up", odd,
             "segments are larger or smaller than their blocks together");
}

void snapshot_missing(const struct snapshots *snapshots, const struct snapshot_answers *answers,
                      struct missing_list *list)
{
    for (size_t i = 0; i < snapshots->of.count; i++) {
        const struct snapshot *snapshot = snapshots->of.at[i];
        struct telling telling = { list, snapshot->path };
        describe_recording(&telling, snapshot);
        describe_grouping(&telling, snapshot, answers->by);
        for (size_t r = 0; r < answers->replays.count; r++)
            if (answers->replays.at[r]->snapshot == snapshot)
                describe_device(&telling, answers->replays.at[r]);
        FOR_EACH(notice, &snapshot->notices) {
            *VEC_PUSH(&list->rows) = (struct missing_data){ notice->kind,
                                                            { notice->text, strlen(notice->text) },
                                                            snapshot->path,
                                                            (int64_t)notice->count,
                                                            notice->offset };
        }
    }
    struct telling all = { list, NULL };
    if (answers->scopes.rows.count && answers->leaks.longest < LEAK_FEWEST_STEPS)
        tell(
            &all, "too_few_steps", answers->leaks.longest,
            "growth per step is not known: it takes at least %d steps on a device; recorded: at most %" PRId64,
            LEAK_FEWEST_STEPS, answers->leaks.longest);
    if (answers->moments_missing)
        tell(&all, "no_such_moment", answers->moments_missing,
             "%" PRId64 " of %zu devices had %s, and what was in use there is not shown",
             answers->moments_missing, answers->devices.rows.count,
             answers->moment == MOMENT_OOM     ? "no out-of-memory error"
             : answers->moment == MOMENT_ENTRY ? "fewer entries"
                                               : "no times");
    if (answers->ooms.left_out)
        tell(&all, "ooms_left_out", answers->ooms.left_out,
             "more out-of-memory errors than are shown: %" PRId64 " were left out", answers->ooms.left_out);
}
