/* memory_tables.c - the columns of the tables of memory, and how they are shown. */
#include "memory/memory.h"

/* clang-format off */
#define PLACE_COLUMNS(row) \
    COLUMN(row, place.rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL), \
    COLUMN(row, place.device, "device", "Device", TABLE_TEXT, "the memory: cpu, or a device such as cuda:0 or npu:0; missing when not recorded")

static const struct table_column peak_columns[] = {
    PLACE_COLUMNS(struct memory_peak),
    COLUMN(struct memory_peak, bytes, "peak_allocated", "Peak", TABLE_BYTES, "most bytes in use after any record", .aliases = "peak"),
    COLUMN(struct memory_peak, time_ns, "peak_time", "Peak at", TABLE_MOMENT, "when that was first so"),
    COLUMN(struct memory_peak, step, "peak_step", "Step", TABLE_COUNT, "step at the peak"),
    COLUMN(struct memory_peak, op, "peak_operator", "Operator at peak", TABLE_NAME, "operator that made the allocation which reached the peak"),
    COLUMN(struct memory_peak, line, "peak_line", "Line at peak", TABLE_NAME, "Python function and line, where stacks were recorded"),
    COLUMN(struct memory_peak, reserved_bytes, "peak_reserved", "Peak reserved", TABLE_BYTES, "most bytes that the allocator held of the device", .aliases = "reserved"),
    COLUMN(struct memory_peak, unused_at_peak, "unused_at_peak", "Unused at peak", TABLE_SHARE, "share of the reserved bytes that was not in use at the peak", .aliases = "fragmentation"),
    COLUMN(struct memory_peak, start_bytes, "start", "At start", TABLE_BYTES, "bytes in use before the first record", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_peak, end_bytes, "end", "At end", TABLE_BYTES, "bytes in use after the last record"),
    COLUMN(struct memory_peak, allocations, "allocations", "Allocations", TABLE_TALLY, "how many blocks were allocated"),
    COLUMN(struct memory_peak, allocated_bytes, "allocated", "Allocated", TABLE_BYTES, "bytes of these blocks"),
    COLUMN(struct memory_peak, frees, "frees", "Frees", TABLE_TALLY, "how many blocks were freed", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_peak, freed_bytes, "freed", "Freed", TABLE_BYTES, "bytes of these blocks", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_peak, records, "records", "Records", TABLE_TALLY, "how many records there are", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_peak, reserved_ns, "peak_reserved_time", "Reserved at", TABLE_MOMENT, "when the peak of the reserved bytes was reached", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_peak, reserved_at_peak_bytes, "reserved_at_peak", "Reserved then", TABLE_BYTES, "reserved bytes at the peak of those in use", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_peak, most_unused_bytes, "most_unused", "Most unused", TABLE_BYTES, "most bytes that were reserved and not in use at once", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_peak, most_unused_ns, "most_unused_time", "Most unused at", TABLE_MOMENT, "when that was first so", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_peak, stack, "peak_stack", "Stack at peak", TABLE_TEXT, "operators and annotations at the peak, outermost first"),
};

static const struct table_column category_columns[] = {
    PLACE_COLUMNS(struct memory_category),
    COLUMN(struct memory_category, category, "category", "Category", TABLE_NAME, "use of the memory, as determined by the profiler"),
    COLUMN(struct memory_category, peak_bytes, "bytes", "At peak", TABLE_BYTES, "bytes of this category in use at the peak of the device", .aliases = "at_peak"),
    COLUMN(struct memory_category, share, "share", "Share", TABLE_SHARE, "share of the peak"),
    COLUMN(struct memory_category, most_bytes, "most", "Most", TABLE_BYTES, "most bytes of this category at any time"),
    COLUMN(struct memory_category, start_bytes, "start", "At start", TABLE_BYTES, "bytes before the first record"),
    COLUMN(struct memory_category, end_bytes, "end", "At end", TABLE_BYTES, "bytes after the last record"),
    COLUMN(struct memory_category, allocated_bytes, "allocated", "Allocated", TABLE_BYTES, "bytes of the blocks that were allocated as this", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_category, freed_bytes, "freed", "Freed", TABLE_BYTES, "bytes of the blocks that were freed as this", .flags = TABLE_OPTIONAL),
};

static const struct table_column alive_columns[] = {
    PLACE_COLUMNS(struct memory_blocks),
    COLUMN(struct memory_blocks, key, "operator", "Operator", TABLE_NAME, "operator that allocated the blocks; [before recording]: the rest of the peak"),
    COLUMN(struct memory_blocks, bytes, "bytes", "Bytes", TABLE_BYTES, "bytes of its blocks in use at the peak"),
    COLUMN(struct memory_blocks, share, "share", "Share", TABLE_SHARE, "share of the peak"),
    COLUMN(struct memory_blocks, count, "count", "Blocks", TABLE_TALLY, "how many blocks"),
    COLUMN(struct memory_blocks, largest_bytes, "largest", "Largest", TABLE_BYTES, "the largest of them"),
};

static const struct table_column unfreed_columns[] = {
    PLACE_COLUMNS(struct memory_blocks),
    COLUMN(struct memory_blocks, key, "operator", "Operator", TABLE_NAME, "operator that allocated the blocks"),
    COLUMN(struct memory_blocks, bytes, "bytes", "Bytes", TABLE_BYTES, "bytes of these blocks"),
    COLUMN(struct memory_blocks, count, "count", "Blocks", TABLE_TALLY, "how many blocks"),
    COLUMN(struct memory_blocks, largest_bytes, "size", "Size", TABLE_BYTES, "of each"),
    COLUMN(struct memory_blocks, first_ns, "first", "First at", TABLE_MOMENT, "when the first of them was allocated"),
    COLUMN(struct memory_blocks, first_step, "first_step", "Step", TABLE_COUNT, "step in which that was"),
};

static const struct table_column operator_columns[] = {
    PLACE_COLUMNS(struct memory_operator),
    COLUMN(struct memory_operator, key, "operator", "Operator", TABLE_NAME, "innermost operator, else annotation, around the record", .aliases = "name"),
    COLUMN(struct memory_operator, self_allocated_bytes, "self_allocated", "Self allocated", TABLE_BYTES, "bytes it allocated itself"),
    COLUMN(struct memory_operator, allocated_bytes, "allocated", "Allocated", TABLE_BYTES, "bytes it and all it called allocated"),
    COLUMN(struct memory_operator, self_net_bytes, "self_net", "Self kept", TABLE_BYTES, "bytes it allocated less bytes it freed itself"),
    COLUMN(struct memory_operator, net_bytes, "net", "Kept", TABLE_BYTES, "the same with all it called"),
    COLUMN(struct memory_operator, self_allocations, "self_allocations", "Self allocations", TABLE_TALLY, "how many blocks it allocated itself", .aliases = "count"),
    COLUMN(struct memory_operator, allocations, "allocations", "Allocations", TABLE_TALLY, "how many blocks it and all it called allocated", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_operator, self_frees, "self_frees", "Self frees", TABLE_TALLY, "how many blocks it freed itself", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_operator, self_freed_bytes, "self_freed", "Self freed", TABLE_BYTES, "bytes it freed itself", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_operator, frees, "frees", "Frees", TABLE_TALLY, "how many blocks it and all it called freed", .flags = TABLE_OPTIONAL),
    COLUMN(struct memory_operator, freed_bytes, "freed", "Freed", TABLE_BYTES, "bytes it and all it called freed", .flags = TABLE_OPTIONAL),
};

/* For keys other than operators there is no self and total. */
static const struct table_column allocation_columns[] = {
    PLACE_COLUMNS(struct memory_operator),
    COLUMN(struct memory_operator, key, "key", "Key", TABLE_NAME, "what makes rows"),
    COLUMN(struct memory_operator, allocated_bytes, "allocated", "Allocated", TABLE_BYTES, "bytes allocated there"),
    COLUMN(struct memory_operator, net_bytes, "net", "Kept", TABLE_BYTES, "bytes allocated less bytes freed there"),
    COLUMN(struct memory_operator, allocations, "allocations", "Allocations", TABLE_TALLY, "how many blocks were allocated there"),
    COLUMN(struct memory_operator, frees, "frees", "Frees", TABLE_TALLY, "how many blocks were freed there"),
    COLUMN(struct memory_operator, freed_bytes, "freed", "Freed", TABLE_BYTES, "bytes freed there"),
};

static const struct table_column step_columns[] = {
    PLACE_COLUMNS(struct memory_step),
    COLUMN(struct memory_step, step, "step", "Step", TABLE_COUNT, "number of the step"),
    COLUMN(struct memory_step, start_bytes, "start", "At start", TABLE_BYTES, "bytes in use as the step began"),
    COLUMN(struct memory_step, peak_bytes, "peak", "Peak", TABLE_BYTES, "most bytes in use during the step"),
    COLUMN(struct memory_step, end_bytes, "end", "At end", TABLE_BYTES, "bytes in use as it ended"),
    COLUMN(struct memory_step, growth_bytes, "growth", "Growth", TABLE_BYTES, "end minus start"),
    COLUMN(struct memory_step, reserved_bytes, "reserved", "Reserved", TABLE_BYTES, "bytes that the allocator held of the device as it ended", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

/* The column of TABLE at OFFSET holds the key of rows: title it accordingly. */
static void name_key(const struct memory *memory, struct table *table, size_t offset)
{
    static const struct {
        const char *key, *title, *help;
        enum table_kind kind;
        unsigned flags;
    } ways[] = {
        [MEMORY_BY_MODULE] = { "module", "Module", "the innermost nn.Module around the allocation",
                               TABLE_NAME, 0 },
        [MEMORY_BY_LINE] = { "line", "Line", "the innermost function outside PyTorch around the allocation",
                             TABLE_NAME, 0 },
        [MEMORY_BY_STEP] = { "step", "Step", "the step of the allocation", TABLE_NAME, 0 },
        [MEMORY_BY_THREAD] = { "thread", "Thread", "number and name of the host thread that allocated",
                               TABLE_TEXT, 0 },
        [MEMORY_BY_CYCLE] = { "cycle", "Cycle", "recording of the rank, in order of time from 1", TABLE_TEXT,
                              0 },
        [MEMORY_BY_DEVICE] = { "key", "Key", "nothing", TABLE_TEXT, TABLE_HIDDEN },
        [MEMORY_BY_OPERATOR] = { 0 }, /* unchanged */
    };
    struct table_column *column = &table->columns[table_column_at(table, offset)];
    if (memory->by == MEMORY_BY_OPERATOR)
        return;
    column->key = ways[memory->by].key;
    column->title = ways[memory->by].title;
    column->help = ways[memory->by].help;
    column->kind = ways[memory->by].kind;
    column->flags = ways[memory->by].flags;
    column->aliases = NULL;
}

/* Put TABLE into RESULT, unless it has no rows. If there are several files, their ranks are shown. */
static void memory_tables_assign(const struct memory *memory, struct table *table, struct result *result)
{
    if (memory->several_files)
        table->columns[0].flags = 0;
    table_drop_hidden(table);
    if (table->row_count)
        result_add_table(result, table);
    else
        table_free(table);
}

/* Columns without values are shown on request only. */
static struct table *peak_table(const struct memory *memory)
{
    static const size_t often_missing[] = {
        offsetof(struct memory_peak, step),
        offsetof(struct memory_peak, op),
        offsetof(struct memory_peak, line),
        offsetof(struct memory_peak, allocations),
        offsetof(struct memory_peak, allocated_bytes),
        offsetof(struct memory_peak, reserved_bytes),
        offsetof(struct memory_peak, unused_at_peak),
        offsetof(struct memory_peak, stack),
    };
    struct table *table =
        TABLE_OF_ROWS("memory", "Memory by device", peak_columns, memory->peaks.at, memory->peaks.count);
    for (size_t i = 0; i < sizeof often_missing / sizeof *often_missing; i++) {
        size_t column = table_column_at(table, often_missing[i]), row = 0;
        while (row < table->row_count && table_is_missing(table, row, column))
            row++;
        if (row == table->row_count)
            table->columns[column].flags = TABLE_OPTIONAL;
    }
    return table;
}

static struct table *blocks_table(const struct memory *memory, struct table *table)
{
    name_key(memory, table, offsetof(struct memory_blocks, key));
    TABLE_SORT(table, struct memory_blocks, bytes);
    return table;
}

static struct table *operator_table(const struct memory *memory)
{
    const struct memory_operator *rows = memory->operators.at;
    size_t count = memory->operators.count;
    struct table *table;
    if (memory->by == MEMORY_BY_OPERATOR) {
        table =
            TABLE_OF_ROWS("operators", "Allocations and frees by operator", operator_columns, rows, count);
        TABLE_SORT(table, struct memory_operator, self_allocated_bytes);
    } else {
        table = TABLE_OF_ROWS("allocations", "Allocations and frees", allocation_columns, rows, count);
        name_key(memory, table, offsetof(struct memory_operator, key));
        TABLE_SORT(table, struct memory_operator, allocated_bytes);
    }
    return table;
}

void memory_show(const struct memory *memory, struct result *result)
{
    memory_tables_assign(memory, peak_table(memory), result);
    struct table *categories = TABLE_OF_ROWS("categories", "By category", category_columns,
                                             memory->categories.at, memory->categories.count);
    TABLE_SORT(categories, struct memory_category, peak_bytes);
    memory_tables_assign(memory, categories, result);
    const char *title = memory->by == MEMORY_BY_OPERATOR
                            ? "In use at the peak, by the operator that allocated it"
                            : "In use at the peak";
    memory_tables_assign(memory,
                         blocks_table(memory, TABLE_OF_ROWS("alive", title, alive_columns, memory->alive.at,
                                                            memory->alive.count)),
                         result);
    memory_tables_assign(memory, operator_table(memory), result);
    struct table *steps =
        TABLE_OF_ROWS("steps", "From step to step", step_columns, memory->steps.at, memory->steps.count);
    if (memory->reserves)
        TABLE_FLAG(steps, struct memory_step, reserved_bytes, 0);
    memory_tables_assign(memory, steps, result);
    memory_tables_assign(
        memory,
        blocks_table(memory, TABLE_OF_ROWS("unfreed", "Allocated and not freed while recording",
                                           unfreed_columns, memory->unfreed.at, memory->unfreed.count)),
        result);
}

const struct table_shape memory_tables[] = {
    TABLE_SHAPE("memory", peak_columns),        TABLE_SHAPE("categories", category_columns),
    TABLE_SHAPE("alive", alive_columns),        TABLE_SHAPE("unfreed", unfreed_columns),
    TABLE_SHAPE("operators", operator_columns), TABLE_SHAPE("allocations", allocation_columns),
    TABLE_SHAPE("steps", step_columns),         { 0 },
};
