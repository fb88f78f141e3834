/*
 * blocks.c - the tables "alive" (whose blocks were in use at the peak) and "unfreed" (blocks that lived on).
 *
 * Both gather blocks, sort them by operator (or what else makes rows) and size, and make a row of each run.
 */
#include "analyze/memory/tables.h"

#include <stdlib.h>
#include <string.h>

struct block {
    uint32_t key;
    int64_t bytes;
    uint32_t record;
};

struct blocks {
    struct block *at;
    size_t count, capacity;
};

static int compare_blocks(const void *left, const void *right)
{
    const struct block *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return a->record < b->record ? -1 : a->record > b->record;
}

static void add_block(struct blocks *blocks, const struct memory_question *question, uint32_t record)
{
    const struct memory_record *of = &question->records->at[record];
    *VEC_PUSH(blocks) = (struct block){ memory_key(question, of), of->bytes, record };
}

static void sort_blocks(struct blocks *blocks)
{
    if (blocks->count)
        qsort(blocks->at, blocks->count, sizeof *blocks->at, compare_blocks);
}

static int64_t sum_of(const struct block *blocks, size_t count)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes = memory_plus(bytes, blocks[i].bytes);
    return bytes;
}

/* ---- in use at the peak ---- */

enum alive_column {
    ALIVE_BYTES = MEMORY_ALIVE_BYTES,
    ALIVE_SHARE,
    ALIVE_COUNT,
    ALIVE_LARGEST,
    ALIVE_COLUMNS
};

/* clang-format off */
static const struct table_column alive_columns[ALIVE_COLUMNS] = {
    MEMORY_DEVICE_COLUMNS,
    { "operator", "Operator", TABLE_NAME, "operator that allocated the blocks; [before recording]: what is left of the peak", 0, NULL },
    { "bytes", "Bytes", TABLE_BYTES, "bytes of its blocks in use at the peak", 0, NULL },
    { "share", "Share", TABLE_SHARE, "share of the peak", 0, NULL },
    { "count", "Blocks", TABLE_COUNT, "how many blocks", 0, NULL },
    { "largest", "Largest", TABLE_BYTES, "the largest of them", 0, NULL },
};
/* clang-format on */

struct table *memory_open_alive(const struct memory_question *question)
{
    bool by_operator = question->options->by == MEMORY_BY_OPERATOR;
    return memory_open_table_by(question, "alive",
                                by_operator ? "In use at the peak, by the operator that allocated it"
                                            : "In use at the peak",
                                alive_columns, ALIVE_COLUMNS);
}

static void set_alive(struct table *table, size_t row, int64_t bytes, int64_t whole)
{
    table_set_int(table, row, ALIVE_BYTES, bytes);
    if (whole)
        table_set_number(table, row, ALIVE_SHARE, (double)bytes / (double)whole);
}

void memory_add_alive(struct table *table, const struct memory_question *question,
                      const struct memory_device *device, uint32_t peak)
{
    static const char before_recording[] = "[before recording]";
    const struct memory_record *at = question->records->at;
    bool one_row = question->options->by == MEMORY_BY_DEVICE; /* for what was there before, too */
    int64_t whole = at[peak].allocated, rest = whole;
    struct blocks blocks = { 0 };
    for (uint32_t i = device->first; i <= peak; i++)
        if (at[i].bytes > 0 && at[i].ended_by > peak)
            add_block(&blocks, question, i);
    sort_blocks(&blocks);
    for (size_t first = 0, end; first < blocks.count; first = end) {
        for (end = first + 1; end < blocks.count && blocks.at[end].key == blocks.at[first].key;)
            end++;
        int64_t bytes = sum_of(&blocks.at[first], end - first);
        rest = memory_plus(rest, -bytes);
        if (one_row) {
            bytes = whole;
            rest = 0;
        }
        size_t row = memory_add_row(table, question, device);
        memory_set_key(table, row, question, blocks.at[first].key);
        set_alive(table, row, bytes, whole);
        table_set_int(table, row, ALIVE_COUNT, (int64_t)(end - first));
        table_set_int(table, row, ALIVE_LARGEST, blocks.at[end - 1].bytes);
    }
    VEC_FREE(&blocks);
    if (rest == 0)
        return;
    size_t row = memory_add_row(table, question, device);
    if (!one_row)
        table_set_text(table, row, MEMORY_KEY, before_recording, strlen(before_recording));
    set_alive(table, row, rest, whole);
}

/* ---- never freed ---- */

enum unfreed_column {
    UNFREED_BYTES = MEMORY_UNFREED_BYTES,
    UNFREED_COUNT,
    UNFREED_SIZE,
    UNFREED_FIRST,
    UNFREED_STEP,
    UNFREED_COLUMNS
};

/* clang-format off */
static const struct table_column unfreed_columns[UNFREED_COLUMNS] = {
    MEMORY_DEVICE_COLUMNS,
    { "operator", "Operator", TABLE_NAME, "operator that allocated the blocks", 0, NULL },
    { "bytes", "Bytes", TABLE_BYTES, "bytes of these blocks", 0, NULL },
    { "count", "Blocks", TABLE_COUNT, "how many blocks", 0, NULL },
    { "size", "Size", TABLE_BYTES, "of each", 0, NULL },
    { "first", "First at", TABLE_MOMENT, "when the first of them was allocated", 0, NULL },
    { "first_step", "Step", TABLE_COUNT, "step in which that was", 0, NULL },
};
/* clang-format on */

struct table *memory_open_unfreed(const struct memory_question *question)
{
    return memory_open_table_by(question, "unfreed", "Allocated and not freed while recording",
                                unfreed_columns, UNFREED_COLUMNS);
}

/* Is it a block that lived on, and was it asked for? */
static bool is_unfreed(const struct memory_question *question, const struct memory_record *record)
{
    return record->bytes > 0 && record->ended_by == RECORD_NONE && memory_is_selected(question, record) &&
           memory_owner_is_selected(question, record);
}

void memory_add_unfreed(struct table *table, const struct memory_question *question,
                        const struct memory_device *device)
{
    const struct memory_record *at = question->records->at;
    struct blocks blocks = { 0 };
    for (uint32_t i = device->first; i < device->first + device->count; i++)
        if (is_unfreed(question, &at[i]))
            add_block(&blocks, question, i);
    sort_blocks(&blocks);
    for (size_t first = 0, end; first < blocks.count; first = end) {
        const struct block *block = &blocks.at[first];
        for (end = first + 1;
             end < blocks.count && blocks.at[end].key == block->key && blocks.at[end].bytes == block->bytes;)
            end++;
        size_t row = memory_add_row(table, question, device);
        memory_set_key(table, row, question, block->key);
        table_set_int(table, row, UNFREED_BYTES, sum_of(block, end - first));
        table_set_int(table, row, UNFREED_COUNT, (int64_t)(end - first));
        table_set_int(table, row, UNFREED_SIZE, block->bytes);
        memory_set_moment(table, row, UNFREED_FIRST, question, at[block->record].event);
        memory_set_step(table, row, UNFREED_STEP, question, at[block->record].event);
    }
    VEC_FREE(&blocks);
}
