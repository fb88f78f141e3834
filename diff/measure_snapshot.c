/* measure_snapshot.c - memory snapshots as samples: peaks, and memory in use by line of code; see measure.h. */
#include "diff/measure.h"
#include "memory/snapshot_analysis.h"

#include <inttypes.h>

static void add_lines(const struct allocator_history *replay, int64_t entry, struct measure_rows *rows,
                      uint32_t sample)
{
    SCOPED_OBJECT struct alive *alive = alive_find(replay, entry, ALIVE_BY_LINE);
    for (size_t i = 0; i < alive->rows.count; i++)
        measure_rows_add(rows, alive->rows.at[i].name, alive->rows.at[i].length, sample,
                         (double)alive->rows.at[i].bytes, (double)alive->rows.at[i].count);
}

/* The blocks in use at the end, so that two snapshots of one process can be compared block by block. */
static void add_blocks(struct measures *measures, const struct allocator_history *replay)
{
    const struct snapshot *snapshot = replay->snapshot;
    if (!measures->block_texts)
        measures->block_texts = arena_hold(arena_of(measures), names_open());
    SCOPED_OBJECT struct life_names *lines = life_names_open(replay, ALIVE_BY_LINE);
    SCOPED name_id *stacks = mem_alloc(mem_times(snapshot->stacks.count + 1, sizeof *stacks));
    SCOPED bool *has = allocator_history_stacks(replay);
    SCOPED struct buffer text = { 0 };
    for (size_t s = 0; s < snapshot->stacks.count; s++) {
        if (!has[s])
            continue;
        buffer_clear(&text);
        snapshot_stack_text(snapshot, (stack_id)s, &text);
        stacks[s] = names_add(measures->block_texts, text.at, text.count);
    }
    SCOPED name_id *shared = mem_alloc(mem_times(names_count(lines->names), sizeof *shared));
    for (name_id n = 0; n < names_count(lines->names); n++)
        shared[n] =
            names_add(measures->block_texts, names_text(lines->names, n), names_length(lines->names, n));
    for (size_t i = 0; i < replay->lives.count; i++) {
        const struct life *life = &replay->lives.at[i];
        if (!life_is_allocated(life, replay->entry_count - 1))
            continue;
        *VEC_PUSH(&measures->blocks) = (struct measure_block){
            .device = replay->device->device,
            .addr = allocator_history_address(replay, i),
            .bytes = life->size,
            .stack = life->stack == STACK_NONE ? NAME_NONE : stacks[life->stack],
            .line = shared[life_name(lines, i)],
        };
    }
}

static void measure_device(struct measures *measures, const struct allocator_history *replay,
                           int64_t peaks[3])
{
    struct sampling *by = &measures->by_file;
    uint32_t sample = (uint32_t)by->samples.count - 1;
    struct measure_rows *at_peak =
        sampling_open_rows(by, "memory_at_peak", "Memory in use at the peak, by line of code", TABLE_BYTES);
    struct measure_rows *at_end =
        sampling_open_rows(by, "memory_at_end", "Memory in use at the end, by line of code", TABLE_BYTES);
    at_peak->may_be_renamed = false;
    add_lines(replay, replay->allocated.peak_entry, at_peak, sample);
    add_lines(replay, replay->entry_count - 1, at_end, sample);
    add_blocks(measures, replay);
    /* Of several devices, the one with the most in use counts: it runs out of memory first. */
    int64_t of_device[3] = { replay->allocated.peak, replay->reserved.peak, replay->allocated.end };
    for (int i = 0; i < 3; i++)
        peaks[i] = of_device[i] > peaks[i] ? of_device[i] : peaks[i];
}

bool measure_snapshots(struct measures *measures, const struct snapshots *snapshots, struct tpa_error *err)
{
    if (!measures_part(measures, MEASURE_SNAPSHOTS, err))
        return false;
    for (size_t i = 0; i < snapshots->of.count; i++) {
        const struct snapshot *snapshot = snapshots->of.at[i];
        struct measure_sample sample = { (uint32_t)measures->parts - 1, (uint32_t)i, (int64_t)i, -1 };
        uint32_t number = sampling_add(&measures->by_file, &sample);
        int64_t peaks[3] = { 0 };
        measures->files++;
        measures->files_without_steps++;
        for (size_t d = 0; d < snapshot->devices.count; d++) {
            if (snapshot->devices.at[d].device == SNAPSHOT_HOST)
                continue;
            SCOPED_OBJECT struct allocator_history *replay =
                allocator_history_open(snapshot, &snapshot->devices.at[d]);
            measure_device(measures, replay, peaks);
        }
        struct sampling *by = &measures->by_file;
        sampling_set(by, "memory_peak", "memory peak", TABLE_BYTES, number, (double)peaks[0]);
        sampling_set(by, "memory_reserved_peak", "reserved peak", TABLE_BYTES, number, (double)peaks[1]);
        sampling_set(by, "memory_end", "memory at the end", TABLE_BYTES, number, (double)peaks[2]);
    }
    return true;
}
