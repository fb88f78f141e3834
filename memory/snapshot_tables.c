#include "memory/snapshot_analysis.h"

#include <inttypes.h>

/* clang-format off */
#define FILE_COLUMN(row) COLUMN(struct row, file, "file", "File", TABLE_NAME, "the snapshot", .flags = TABLE_OPTIONAL)
#define DEVICE_COLUMN(row) COLUMN(struct row, device, "device", "Device", TABLE_COUNT, "the device; pinned host memory has none", .aliases = "gpu")
#define BYTES(row, field, key, title, help, ...) COLUMN(struct row, field, key, title, TABLE_BYTES, help, __VA_ARGS__)

static const struct table_column device_columns[] = {
    FILE_COLUMN(device_row),
    DEVICE_COLUMN(device_row),
    BYTES(device_row, allocated_peak, "allocated_peak_bytes", "Peak", "most that was allocated at once in the history; requested bytes", .aliases = "peak"),
    COLUMN(struct device_row, peak_moment_ns, "peak_time", "At", TABLE_MOMENT, "when, from the first entry of the device"),
    COLUMN(struct device_row, peak_entry, "peak_entry", "Entry", TABLE_COUNT, "the entry after which it was; -1: before the first"),
    COLUMN(struct device_row, peak_scope, "peak_annotation", "In", TABLE_NAME, "the innermost annotation at the peak"),
    COLUMN(struct device_row, peak_count, "peak_blocks", "Blocks", TABLE_TALLY, "blocks in use at the peak", .flags = TABLE_OPTIONAL),
    BYTES(device_row, before_at_peak, "before_recording_bytes", "From before", "of the peak, what was there before recording began"),
    BYTES(device_row, active_peak, "active_peak_bytes", "Active peak", "most that was active: allocated, or freed and still used by another stream", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, active_peak_entry, "active_peak_entry", "Active peak entry", TABLE_COUNT, "the entry after which it was", .flags = TABLE_OPTIONAL),
    BYTES(device_row, reserved_peak, "reserved_peak_bytes", "Reserved peak", "most that the allocator had from the device"),
    COLUMN(struct device_row, reserved_peak_entry, "reserved_peak_entry", "Reserved peak entry", TABLE_COUNT, "the entry after which it was", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, peak_time_us, "peak_time_us", "Peak, us since 1970", TABLE_COUNT, "when the peak was, microseconds since 1970", .flags = TABLE_OPTIONAL),
    BYTES(device_row, start, "start_bytes", "At start", "allocated before the first entry; requested bytes", .flags = TABLE_OPTIONAL),
    BYTES(device_row, end, "end_bytes", "At end", "allocated after the last entry; requested bytes", .flags = TABLE_OPTIONAL),
    BYTES(device_row, sums.reserved, "reserved_bytes", "Reserved", "what the allocator has from the device when the snapshot is taken"),
    BYTES(device_row, sums.allocated, "allocated_bytes", "Allocated", "of it, blocks that tensors have; rounded bytes"),
    BYTES(device_row, sums.active, "active_bytes", "Active", "allocated, and freed blocks that another stream still uses; rounded bytes"),
    BYTES(device_row, sums.pending, "pending_free_bytes", "Pending", "freed blocks that another stream still uses", .flags = TABLE_OPTIONAL),
    BYTES(device_row, sums.inactive, "inactive_bytes", "Inactive", "reserved and not active"),
    BYTES(device_row, sums.inactive_split, "inactive_split_bytes", "Split", "of it, in segments that hold active blocks, too: empty_cache() cannot return it"),
    BYTES(device_row, sums.inactive_whole, "inactive_whole_segments_bytes", "Whole", "of it, whole segments, which empty_cache() returns", .flags = TABLE_OPTIONAL),
    BYTES(device_row, sums.inactive_expandable, "inactive_expandable_bytes", "Expandable", "of it, in expandable segments", .flags = TABLE_OPTIONAL),
    BYTES(device_row, sums.requested, "requested_active_bytes", "Requested", "requested bytes of the active blocks", .flags = TABLE_OPTIONAL),
    BYTES(device_row, sums.rounding, "rounding_waste_bytes", "Rounding", "allocated bytes beyond the requested ones", .flags = TABLE_OPTIONAL),
    BYTES(device_row, sums.largest_free, "largest_free_block_bytes", "Largest free", "the largest free block", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, sums.segments, "segments", "Segments", TABLE_TALLY, "segments", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, sums.blocks, "blocks", "Blocks at end", TABLE_TALLY, "blocks in the segments, free ones included", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, sums.free_blocks, "free_blocks", "Free blocks", TABLE_TALLY, "of them, free", .flags = TABLE_OPTIONAL),
    COLUMN(struct device_row, entries, "entries", "Entries", TABLE_TALLY, "entries of the history"),
};

#define IN_USE_COLUMNS(key, title, help) { \
    COLUMN(struct in_use_row, name, key, title, TABLE_NAME, help, .aliases = "name"), \
    FILE_COLUMN(in_use_row), \
    DEVICE_COLUMN(in_use_row), \
    BYTES(in_use_row, bytes, "bytes", "Bytes", "requested bytes in use"), \
    COLUMN(struct in_use_row, share, "share", "Share", TABLE_SHARE, "of all that is in use on the device"), \
    COLUMN(struct in_use_row, count, "count", "Blocks", TABLE_TALLY, "blocks"), \
    BYTES(in_use_row, average_bytes, "average_bytes", "Average", "bytes per block", .flags = TABLE_OPTIONAL), \
    COLUMN(struct in_use_row, stack, "stack", "Stack", TABLE_TEXT, "the stack of the largest of them, innermost frame first", .flags = TABLE_OPTIONAL), \
}

static const struct table_column in_use_columns[ALIVE_BY_COUNT][8] = {
    [ALIVE_BY_LINE] = IN_USE_COLUMNS("line", "Line of code", "the innermost line of user code that allocated"),
    [ALIVE_BY_STACK] = IN_USE_COLUMNS("line", "Stack", "the frames that allocated, innermost first"),
    [ALIVE_BY_ANNOTATION] = IN_USE_COLUMNS("line", "Annotation", "the innermost annotation in which it was allocated"),
    [ALIVE_BY_CATEGORY] = IN_USE_COLUMNS("line", "Category", "what the memory is used for"),
    [ALIVE_BY_POOL] = IN_USE_COLUMNS("line", "Pool", "the pool; (0, 0) is the default one"),
    [ALIVE_BY_STREAM] = IN_USE_COLUMNS("line", "Stream", "the handle of the stream; 0 is the default one"),
    [ALIVE_BY_CONTEXT] = IN_USE_COLUMNS("line", "Compiled graph", "the graph of torch.compile"),
    [ALIVE_BY_METADATA] = IN_USE_COLUMNS("line", "User metadata", "the text that the program set"),
};

static const struct table_column oom_columns[] = {
    FILE_COLUMN(oom_row),
    DEVICE_COLUMN(oom_row),
    COLUMN(struct oom_row, entry, "entry", "Entry", TABLE_COUNT, "the entry of the history"),
    COLUMN(struct oom_row, verdict, "verdict", "Why", TABLE_NAME, "why it did not fit"),
    BYTES(oom_row, request, "request_bytes", "Requested", "requested bytes, rounded"),
    BYTES(oom_row, device_free, "device_free_bytes", "Device free", "what the device had free"),
    BYTES(oom_row, missing, "missing_bytes", "Missing", "of the request, what no free memory could have held"),
    BYTES(oom_row, allocated, "allocated_bytes", "Allocated", "requested bytes in use just before"),
    BYTES(oom_row, active, "active_bytes", "Active", "the same with what another stream still used", .flags = TABLE_OPTIONAL),
    BYTES(oom_row, reserved, "reserved_bytes", "Reserved", "what the allocator had from the device just before"),
    BYTES(oom_row, inactive, "inactive_bytes", "Inactive", "of it, free"),
    BYTES(oom_row, inactive_split, "inactive_split_bytes", "Split", "of that, in segments that hold active blocks, too", .flags = TABLE_OPTIONAL),
    BYTES(oom_row, largest_free, "largest_free_block_bytes", "Largest free", "the largest free piece"),
    COLUMN(struct oom_row, time_us, "time_us", "us since 1970", TABLE_COUNT, "microseconds since 1970", .flags = TABLE_OPTIONAL),
    COLUMN(struct oom_row, line, "line", "Line of code", TABLE_NAME, "the line that requested it"),
};

static const struct table_column scope_columns[] = {
    COLUMN(struct scope_row, name, "name", "Annotation", TABLE_NAME, "the annotation: a step, or another user scope"),
    FILE_COLUMN(scope_row),
    DEVICE_COLUMN(scope_row),
    COLUMN(struct scope_row, duration_ns, "duration", "Duration", TABLE_NS, "from its begin to its end"),
    BYTES(scope_row, start_bytes, "start_bytes", "At begin", "allocated when it begins; requested bytes"),
    BYTES(scope_row, peak_bytes, "peak_bytes", "Peak", "most in between, both ends included"),
    BYTES(scope_row, end_bytes, "end_bytes", "At end", "allocated when it ends"),
    BYTES(scope_row, growth_bytes, "growth_bytes", "Growth", "end less begin"),
    COLUMN(struct scope_row, peak_entry, "peak_entry", "Peak entry", TABLE_COUNT, "the entry of that peak", .flags = TABLE_OPTIONAL),
    COLUMN(struct scope_row, start_us, "start_us", "Begin, us since 1970", TABLE_COUNT, "when it begins", .flags = TABLE_OPTIONAL),
    COLUMN(struct scope_row, end_us, "end_us", "End, us since 1970", TABLE_COUNT, "when it ends; none: it was not closed, and is taken to go to the last entry", .flags = TABLE_OPTIONAL),
};

static const struct table_column leak_columns[] = {
    COLUMN(struct leak_row, line, "line", "Line of code", TABLE_NAME, "the line that allocated"),
    FILE_COLUMN(leak_row),
    DEVICE_COLUMN(leak_row),
    BYTES(leak_row, slope, "slope_bytes", "Per step", "by how much it grows with every step"),
    COLUMN(struct leak_row, steps, "steps", "Steps", TABLE_COUNT, "steps that it grew in: all after the second"),
    BYTES(leak_row, first_bytes, "first_bytes", "At first", "in use at the end of the second step"),
    BYTES(leak_row, last_bytes, "last_bytes", "At last", "in use at the end of the last step"),
    COLUMN(struct leak_row, count, "count", "Blocks", TABLE_TALLY, "blocks in use at the end of the last step"),
    COLUMN(struct leak_row, stack, "stack", "Stack", TABLE_TEXT, "the frames, innermost first", .flags = TABLE_OPTIONAL),
};

static const struct table_column pool_columns[] = {
    FILE_COLUMN(pool_row),
    DEVICE_COLUMN(pool_row),
    COLUMN(struct pool_row, pool, "pool", "Pool", TABLE_NAME, "(0, 0) is the default one; CUDA graphs have others"),
    COLUMN(struct pool_row, kind, "segment_type", "Kind", TABLE_TEXT, "for requests of up to 1 MiB (small), or larger ones"),
    COLUMN(struct pool_row, expandable, "expandable", "Expandable", TABLE_BOOL, "expandable segments?"),
    COLUMN(struct pool_row, sums.segments, "segments", "Segments", TABLE_TALLY, "segments"),
    BYTES(pool_row, sums.reserved, "reserved_bytes", "Reserved", "bytes of the segments"),
    BYTES(pool_row, sums.allocated, "allocated_bytes", "Allocated", "of it, blocks that tensors have"),
    BYTES(pool_row, sums.active, "active_bytes", "Active", "allocated and pending", .flags = TABLE_OPTIONAL),
    BYTES(pool_row, sums.pending, "pending_free_bytes", "Pending", "freed blocks that another stream still uses"),
    BYTES(pool_row, sums.inactive, "inactive_bytes", "Inactive", "free"),
    BYTES(pool_row, sums.inactive_split, "inactive_split_bytes", "Split", "of it, in segments that hold active blocks, too"),
    BYTES(pool_row, returned, "empty_cache_bytes", "empty_cache()", "what torch.cuda.empty_cache() would return: whole segments, and the free pages of expandable ones"),
    BYTES(pool_row, sums.rounding, "rounding_waste_bytes", "Rounding", "allocated bytes beyond the requested ones"),
    BYTES(pool_row, sums.largest_free, "largest_free_block_bytes", "Largest free", "the largest free block"),
};

static const struct table_column churn_columns[] = {
    COLUMN(struct churn_row, line, "line", "Line of code", TABLE_NAME, "the line that allocated"),
    FILE_COLUMN(churn_row),
    DEVICE_COLUMN(churn_row),
    COLUMN(struct churn_row, allocations, "count", "Allocations", TABLE_TALLY, "how often it allocated", .aliases = "allocations"),
    BYTES(churn_row, allocated_bytes, "bytes", "Bytes", "requested, all together"),
    COLUMN(struct churn_row, freed, "freed_count", "Freed", TABLE_TALLY, "of these, freed"),
    BYTES(churn_row, freed_bytes, "freed_bytes", "Freed bytes", "of these, freed", .flags = TABLE_OPTIONAL),
    BYTES(churn_row, average_bytes, "average_bytes", "Average", "bytes per allocation"),
    BYTES(churn_row, largest_bytes, "largest_bytes", "Largest", "the largest one", .flags = TABLE_OPTIONAL),
    COLUMN(struct churn_row, lifetime_median_ns, "lifetime_median", "Lifetime", TABLE_NS, "median time from allocation to free, of what was freed"),
    COLUMN(struct churn_row, lifetime_p90_ns, "lifetime_p90", "p90", TABLE_NS, "nine of ten were freed earlier", .flags = TABLE_OPTIONAL),
    COLUMN(struct churn_row, lifetime_longest_ns, "lifetime_longest", "Longest", TABLE_NS, "the longest time", .flags = TABLE_OPTIONAL),
    COLUMN(struct churn_row, segments, "segments", "Segments", TABLE_TALLY, "segments got from the device for it: cudaMalloc, or pages mapped"),
    BYTES(churn_row, segment_bytes, "segment_bytes", "Segment bytes", "bytes of these"),
    COLUMN(struct churn_row, segments_freed, "segments_freed", "Given back", TABLE_COUNT, "segments given back to the device in calls of this line"),
};

static const struct table_column segment_columns[] = {
    FILE_COLUMN(segment_row),
    DEVICE_COLUMN(segment_row),
    COLUMN(struct segment_row, address, "address", "Address", TABLE_NAME, "where it begins"),
    COLUMN(struct segment_row, pool, "pool", "Pool", TABLE_TEXT, "(0, 0) is the default one"),
    COLUMN(struct segment_row, kind, "segment_type", "Kind", TABLE_TEXT, "small or large"),
    COLUMN(struct segment_row, expandable, "expandable", "Expandable", TABLE_BOOL, "a mapped range of an expandable segment?", .flags = TABLE_OPTIONAL),
    BYTES(segment_row, bytes, "bytes", "Bytes", "its size"),
    BYTES(segment_row, active, "active_bytes", "Active", "of it, in use"),
    COLUMN(struct segment_row, used, "used", "Used", TABLE_SHARE, "active as a share of its size"),
    COLUMN(struct segment_row, blocks, "blocks", "Blocks", TABLE_TALLY, "blocks in use"),
    BYTES(segment_row, largest_free, "largest_free_bytes", "Largest free", "the largest free piece"),
    COLUMN(struct segment_row, line, "line", "Largest block of", TABLE_NAME, "the line of code that has the largest block"),
};
/* clang-format on */

#define ADD_TABLE(key, title, columns, rows)                                                                 \
    add_table(result, empty, (rows).count,                                                                   \
              table_of_rows(key, title, columns, sizeof(columns) / sizeof *(columns), (rows).at,             \
                            (rows).count, sizeof *(rows).at))

static struct table *add_table(struct result *result, bool empty, size_t rows, struct table *table)
{
    if (rows == 0 && !empty) {
        table_free(table);
        return NULL;
    }
    result_add_table(result, table);
    return table;
}

/* Show a column of files only if there are several. */
static void add_files(const struct snapshot_answers *answers, struct result *result)
{
    bool several =
        ANY_FROM(i, 1, answers->files.count, strcmp(answers->files.at[i], answers->files.at[0]) != 0);
    if (several)
        result_add_column(result, "file");
}

/* ---- contents of a file ---- */

struct held_row {
    struct text file, form, keys;
    int64_t bytes, devices, entries, segments, blocks, stacks, frames, annotations, span_ns;
};
struct action_row {
    struct text action;
    int64_t device, count, bytes;
};
struct setting_row {
    struct text key, value;
};

/* clang-format off */
static const struct table_column held_columns[] = {
    COLUMN(struct held_row, file, "file", "File", TABLE_NAME, "the snapshot"),
    COLUMN(struct held_row, form, "format", "Form", TABLE_TEXT, "how it is written"),
    BYTES(held_row, bytes, "bytes", "Bytes", "unpacked"),
    COLUMN(struct held_row, devices, "devices", "Devices", TABLE_COUNT, "devices; pinned host memory is one of them"),
    COLUMN(struct held_row, entries, "entries", "Entries", TABLE_TALLY, "entries of the history, of all devices"),
    COLUMN(struct held_row, span_ns, "span", "Span", TABLE_NS, "from the first entry to the last one"),
    COLUMN(struct held_row, segments, "segments", "Segments", TABLE_TALLY, "what the allocator has from the devices"),
    COLUMN(struct held_row, blocks, "blocks", "Blocks", TABLE_TALLY, "the pieces of them"),
    COLUMN(struct held_row, stacks, "stacks", "Stacks", TABLE_TALLY, "different call stacks"),
    COLUMN(struct held_row, frames, "frames", "Frames", TABLE_TALLY, "different frames in them", .flags = TABLE_OPTIONAL),
    COLUMN(struct held_row, annotations, "annotations", "Annotations", TABLE_TALLY, "user scopes: steps and others"),
    COLUMN(struct held_row, keys, "keys", "Keys", TABLE_TEXT, "of the dict that the file is", .flags = TABLE_OPTIONAL),
};
static const struct table_column action_columns[] = {
    COLUMN(struct action_row, action, "action", "Action", TABLE_NAME, "what the allocator did"),
    DEVICE_COLUMN(action_row),
    COLUMN(struct action_row, count, "count", "Entries", TABLE_TALLY, "entries of it"),
    BYTES(action_row, bytes, "bytes", "Bytes", "their sizes added up"),
};
static const struct table_column setting_columns[] = {
    COLUMN(struct setting_row, key, "setting", "Setting", TABLE_NAME, "of the allocator"),
    COLUMN(struct setting_row, value, "value", "Value", TABLE_TEXT, "its value"),
};
/* clang-format on */

static struct text name_text(const struct snapshot *snapshot, name_id id)
{
    return (struct text){ names_text(snapshot->names, id), names_length(snapshot->names, id) };
}

static struct held_row held_by(const struct snapshot *snapshot, struct arena *arena)
{
    SCOPED struct buffer keys = { 0 };
    int64_t first_us = INT64_MAX, last_us = INT64_MIN;
    for (size_t i = 0; i < snapshot->keys.count; i++)
        buffer_printf(&keys, "%s%s", i ? ", " : "", names_text(snapshot->names, snapshot->keys.at[i]));
    for (size_t e = 0; e < snapshot->entries.count; e++) {
        int64_t time_us = snapshot->entries.time_us[e];
        if (time_us == SNAPSHOT_NO_TIME)
            continue;
        first_us = time_us < first_us ? time_us : first_us;
        last_us = time_us > last_us ? time_us : last_us;
    }
    struct held_row row = {
        .file = { snapshot->path, strlen(snapshot->path) },
        .form = { snapshot->form, strlen(snapshot->form) },
        .keys = { arena_strndup(arena, keys.at ? keys.at : "", keys.count), keys.count },
        .bytes = snapshot->bytes,
        .devices = (int64_t)snapshot->devices.count,
        .entries = (int64_t)snapshot->entries.count,
        .segments = (int64_t)snapshot->segments.count,
        .blocks = (int64_t)snapshot->blocks.count,
        .stacks = (int64_t)snapshot->stacks.count,
        .frames = (int64_t)snapshot->frames.count,
        .annotations = (int64_t)snapshot->annotations.count,
        .span_ns = first_us <= last_us ? (last_us - first_us) * 1000 : TABLE_INT_MISSING,
    };
    return row;
}

static void add_actions(const struct snapshot *snapshot, struct table *table)
{
    FOR_EACH(device, &snapshot->devices) {
        struct action_row rows[ENTRY_ACTIONS] = { 0 };
        for (uint64_t e = device->first; e < device->end; e++) {
            rows[snapshot->entries.action[e]].count++;
            rows[snapshot->entries.action[e]].bytes += snapshot->entries.size[e];
        }
        for (int a = 0; a < ENTRY_ACTIONS; a++) {
            if (rows[a].count == 0)
                continue;
            rows[a].action = (struct text){ entry_action_names[a], strlen(entry_action_names[a]) };
            rows[a].device = device->device == SNAPSHOT_HOST ? TABLE_INT_MISSING : (int64_t)device->device;
            table_add_rows(table, &rows[a], 1, sizeof rows[a]);
        }
    }
}

void snapshot_add_info(const struct snapshots *snapshots, struct result *result)
{
    struct table *held =
        TABLE_OF_ROWS("snapshots", "Memory snapshots", held_columns, (struct held_row *)NULL, 0);
    struct table *actions = TABLE_OF_ROWS("actions", "Entries", action_columns, (struct action_row *)NULL, 0);
    struct table *settings = TABLE_OF_ROWS("settings", "Settings of the allocator", setting_columns,
                                           (struct setting_row *)NULL, 0);
    for (size_t i = 0; i < snapshots->of.count; i++) {
        const struct snapshot *snapshot = snapshots->of.at[i];
        struct held_row row = held_by(snapshot, &result->arena);
        table_add_rows(held, &row, 1, sizeof row);
        add_actions(snapshot, actions);
        for (size_t s = 0; s < snapshot->settings.count; s++) {
            struct setting_row setting = { name_text(snapshot, snapshot->settings.at[s].key),
                                           name_text(snapshot, snapshot->settings.at[s].value) };
            table_add_rows(settings, &setting, 1, sizeof setting);
        }
    }
    result_add_table(result, held);
    if (actions->row_count)
        result_add_table(result, actions);
    else
        table_free(actions);
    if (settings->row_count)
        result_add_table(result, settings);
    else
        table_free(settings);
    snapshot_add_file_notices(snapshots, result);
}

static bool is_peak(const struct snapshot_tables_options *options)
{
    return !options->at || strcmp(options->at, "peak") == 0;
}

void snapshot_add_tables(const struct snapshot_answers *answers,
                         const struct snapshot_tables_options *options, bool empty, struct result *result)
{
    bool any_history = ANY(i, answers->devices.rows.count, answers->devices.rows.at[i].entries > 0);
    const char *title = !any_history       ? "In use when the snapshot was taken"
                        : is_peak(options) ? "In use at the peak"
                                           : arena_printf(&result->arena, "In use at %s", options->at);
    ADD_TABLE("ooms", "Out of memory", oom_columns, answers->ooms.rows);
    ADD_TABLE("devices", "Devices", device_columns, answers->devices.rows);
    ADD_TABLE(is_peak(options) ? "alive_at_peak" : "alive", title, in_use_columns[options->by],
              answers->in_use);
    if (options->segments)
        ADD_TABLE("segments", "Segments", segment_columns, answers->segments);
    ADD_TABLE("leaks", "Grows with every step", leak_columns, answers->leaks.rows);
    ADD_TABLE("steps", "Steps and other annotations", scope_columns, answers->scopes.rows);
    ADD_TABLE("fragmentation", "Segments by pool", pool_columns, answers->pools);
    ADD_TABLE("churn", "Allocations by line", churn_columns, answers->churn.rows);
    add_files(answers, result);
}

void snapshot_add_notices(const struct snapshots *snapshots, const struct snapshot_answers *answers,
                          struct result *result)
{
    struct missing_list list = { 0 };
    snapshot_missing(snapshots, answers, &list);
    FOR_EACH(row, &list.rows)
        result_add_notice(result, row->kind, row->count, row->file, row->offset, "%s", row->text.at);
    VEC_FREE(&list.rows);
    arena_release(&list.arena);
}

void snapshot_add_file_notices(const struct snapshots *snapshots, struct result *result)
{
    for (size_t i = 0; i < snapshots->of.count; i++)
        FOR_EACH(notice, &snapshots->of.at[i]->notices) {
            result_add_notice(result, notice->kind, (int64_t)notice->count, snapshots->of.at[i]->path,
                              notice->offset, "%s", notice->text);
        }
}

const struct table_shape snapshot_tables[] = {
    TABLE_SHAPE("ooms", oom_columns, .of = "snapshots"),
    TABLE_SHAPE("devices", device_columns, .of = "snapshots"),
    TABLE_SHAPE("alive_at_peak", in_use_columns[0], .of = "snapshots"),
    TABLE_SHAPE("alive", in_use_columns[0], .of = "snapshots"),
    TABLE_SHAPE("segments", segment_columns, .of = "snapshots"),
    TABLE_SHAPE("leaks", leak_columns, .of = "snapshots"),
    TABLE_SHAPE("steps", scope_columns, .of = "snapshots"),
    TABLE_SHAPE("fragmentation", pool_columns, .of = "snapshots"),
    TABLE_SHAPE("churn", churn_columns, .of = "snapshots"),
    { 0 },
};

const struct table_shape snapshot_info_tables[] = {
    TABLE_SHAPE("snapshots", held_columns, .of = "snapshots"),
    TABLE_SHAPE("actions", action_columns, .of = "snapshots"),
    TABLE_SHAPE("settings", setting_columns, .of = "snapshots"),
    { 0 },
};
