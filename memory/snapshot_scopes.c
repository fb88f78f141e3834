#include "memory/parts.h"

#include "base/rows.h"
#include "base/search.h"

/* Is NAME a step of a profiler: "ProfilerStep#3"? */
static bool scope_is_step(const char *name)
{
    return strncmp(name, "ProfilerStep#", 13) == 0;
}

/* ---- peaks between entries ---- */

/* The maximum of every block of entries, so that a peak over many steps is found quickly, and the state of the walk
 * before each block: figures within a block are recomputed, because storing a figure per entry would take as much
 * memory as the columns. */
enum { BLOCK = 128 };
struct heights {
    struct walk *starts; /* after entry BLOCK * i - 1 */
    int64_t *block_peaks;
};

/* The first maximum of a part. */
struct highest {
    int64_t entry, bytes;
};

static struct heights heights_of(const struct allocator_history *replay)
{
    struct heights heights;
    size_t blocks = (size_t)replay->entry_count / BLOCK + 1, i = 0;
    heights.starts = mem_alloc(mem_times(blocks, sizeof *heights.starts));
    heights.block_peaks = mem_alloc(mem_times(blocks, sizeof *heights.block_peaks));
    struct walk walk = walk_begin(replay);
    do {
        int64_t *peak = &heights.block_peaks[i / BLOCK];
        if (i % BLOCK == 0)
            heights.starts[i / BLOCK] = walk;
        *peak = i % BLOCK == 0 || walk.allocated > *peak ? walk.allocated : *peak;
        i++;
    } while (walk_next(&walk));
    return heights;
}

/* The figures after ENTRY, which may be HISTORY_BEFORE_FIRST. */
static struct walk walk_at(const struct heights *heights, int64_t entry)
{
    struct walk walk = heights->starts[(entry + 1) / BLOCK];
    walk_to(&walk, entry);
    return walk;
}

/* The first peak after entries FIRST to LAST. */
static struct highest peak_between(const struct heights *heights, int64_t first, int64_t last)
{
    struct highest best = { first, INT64_MIN };
    for (int64_t from = first; from <= last;) {
        int64_t block = (from + 1) / BLOCK, block_last = (block + 1) * BLOCK - 2;
        bool whole = (from + 1) % BLOCK == 0 && block_last <= last;
        int64_t to = block_last < last ? block_last : last;
        if (!whole || heights->block_peaks[block] > best.bytes) {
            struct walk walk = walk_at(heights, from);
            do
                if (walk.allocated > best.bytes)
                    best = (struct highest){ walk.entry, walk.allocated };
            while (walk.entry < to && walk_next(&walk));
        }
        from = to + 1;
    }
    return best;
}

static const struct key by_start_us_duration[] = { ASC(struct scope_row, start_us),
                                                   DESC(struct scope_row, duration_ns), KEY_END };

void scopes_find(const struct allocator_history *replay, const char *file, struct scope_rows *rows)
{
    const struct snapshot *snapshot = replay->snapshot;
    if (!replay->has_times || snapshot->annotations.count == 0)
        return;
    struct heights heights = heights_of(replay);
    size_t first = rows->rows.count;
    FOR_EACH(scope, &snapshot->annotations) {
        if (scope->device != replay->device->device || scope->start_us == SNAPSHOT_NO_TIME)
            continue;
        bool closed = scope->end_us != SNAPSHOT_NO_TIME && scope->end_us >= scope->start_us;
        struct scope_row row = {
            .file = as_text(file),
            .name = { names_text(snapshot->names, scope->name), names_length(snapshot->names, scope->name) },
            .device = scope->device,
            .start_us = scope->start_us,
            .end_us = closed ? scope->end_us : TABLE_INT_MISSING,
            .duration_ns = closed ? (scope->end_us - scope->start_us) * 1000 : TABLE_INT_MISSING,
            .start_entry = allocator_history_entry_at(replay, scope->start_us),
            .end_entry = closed ? allocator_history_entry_at(replay, scope->end_us) : replay->entry_count - 1,
        };
        if (row.end_entry < row.start_entry)
            row.end_entry = row.start_entry;
        struct highest peak = peak_between(&heights, row.start_entry, row.end_entry);
        row.start_bytes = walk_at(&heights, row.start_entry).allocated;
        row.end_bytes = walk_at(&heights, row.end_entry).allocated;
        row.growth_bytes = row.end_bytes - row.start_bytes;
        row.peak_entry = peak.entry;
        row.peak_bytes = peak.bytes;
        *VEC_PUSH(&rows->rows) = row;
    }
    if (rows->rows.count > first)
        SORT_ARRAY(rows->rows.at + first, rows->rows.count - first, by_start_us_duration);
    EACH(free, heights.starts, heights.block_peaks);
}

/* ---- leaks ---- */

typedef VEC_OF(int64_t) entries;

/* The entries at which steps of the device end, ascending: of the profiler, else of the most frequent scope. */
static void find_boundaries(const struct allocator_history *replay, const char *file,
                            const struct scope_rows *scopes, void *out)
{
    entries *boundaries = out;
    SCOPED_OBJECT struct names *names = names_open();
    SCOPED VEC_OF(int64_t) counts = { 0 };
    size_t best = 0;
    bool stepped = false;
    for (int pass = 0; pass < 2; pass++)
        FOR_EACH(row, &scopes->rows) {
            if (row->device != replay->device->device || strcmp(row->file.at, file) != 0 ||
                row->end_us == TABLE_INT_MISSING)
                continue;
            bool step = scope_is_step(row->name.at);
            if (pass == 0) {
                stepped = stepped || step;
                name_id name = names_add(names, row->name.at, row->name.len);
                if (name >= counts.count)
                    *VEC_PUSH(&counts) = 0;
                counts.at[name]++;
                best = counts.at[name] > counts.at[best] ? name : best;
            } else if (stepped ? step : names_find(names, row->name.at, row->name.len) == best) {
                *VEC_PUSH(boundaries) = row->end_entry;
            }
        }
    if (boundaries->count)
        SORT_NUMBERS(boundaries->at, boundaries->count);
}

/* From boundary AT on, STACK holds this much more. */
struct change {
    stack_id stack;
    int64_t at, bytes, count;
};

static const struct key by_changes[] = { ASC(struct change, stack), ASC(struct change, at), KEY_END };

/* Does one stack, with COUNT CHANGES, grow in every step after the second? If so, set *ROW. */
static bool grows(const struct change *changes, size_t count, int64_t boundaries, struct leak_row *row)
{
    int64_t bytes = 0, before = 0, blocks = 0;
    size_t next = 0;
    if (boundaries <= 2)
        return false;
    for (int64_t b = 0; b < boundaries; b++) {
        for (; next < count && changes[next].at <= b; next++) {
            bytes += changes[next].bytes;
            blocks += changes[next].count;
        }
        if (b >= 2 && bytes <= before)
            return false;
        if (b == 1)
            row->first_bytes = bytes;
        before = bytes;
    }
    row->last_bytes = bytes;
    row->count = blocks;
    row->steps = boundaries - 2;
    row->slope = (row->last_bytes - row->first_bytes) / row->steps;
    return true;
}

static const struct key by_slope[] = { DESC(struct leak_row, slope), KEY_END };

void leaks_find(const struct allocator_history *replay, const char *file, const struct scope_rows *scopes,
                struct leaks *leaks)
{
    const struct snapshot *snapshot = replay->snapshot;
    SCOPED entries boundaries = { 0 };
    find_boundaries(replay, file, scopes, &boundaries);
    if ((int64_t)boundaries.count > leaks->longest)
        leaks->longest = (int64_t)boundaries.count;
    SCOPED VEC_OF(struct change) changes = { 0 };
    for (size_t i = 0; boundaries.count >= LEAK_FEWEST_STEPS && i < replay->first_old; i++) {
        const struct life *life = &replay->lives.at[i];
        int64_t first = (int64_t)search_from(boundaries.at, boundaries.count, life->born);
        int64_t gone = (int64_t)search_from(boundaries.at, boundaries.count, life->freed);
        if (first == gone || life->stack == STACK_NONE)
            continue;
        *VEC_PUSH(&changes) = (struct change){ life->stack, first, life->size, 1 };
        *VEC_PUSH(&changes) = (struct change){ life->stack, gone, -life->size, -1 };
    }
    if (changes.count)
        SORT(&changes, by_changes);
    SCOPED struct buffer text = { 0 };
    FOR_RUNS(i, end, changes.count, changes.at[end].stack == changes.at[i].stack) {
        struct leak_row row = { .device = replay->device->device, .stack_id = changes.at[i].stack };
        if (!grows(changes.at + i, end - i, (int64_t)boundaries.count, &row))
            continue;
        frame_id frame = snapshot_user_frame(snapshot, row.stack_id);
        buffer_clear(&text);
        snapshot_stack_text(snapshot, row.stack_id, &text);
        row.file = as_text(file);
        row.line = as_text(snapshot_frame_text(snapshot, frame, &leaks->arena));
        row.stack = (struct text){ arena_strndup(&leaks->arena, text.at, text.count), text.count };
        *VEC_PUSH(&leaks->rows) = row;
    }
    SORT(&leaks->rows, by_slope);
}
