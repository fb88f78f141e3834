/*
 * blocks.c - blocks in use at the peak by owner, and blocks that were not freed.
 *
 * Both collect blocks, sort them by operator (or another key of rows) and size, and make a row of each run.
 */
#include "memory/memory.h"
#include "base/rows.h"
#include "base/sum.h"

#include <math.h>

struct block {
    uint32_t key;
    int64_t bytes;
    uint32_t record;
};

struct blocks {
    VEC_OF(struct block);
};

static const struct key by_blocks[] = { ASC(struct block, key), ASC(struct block, bytes),
                                        ASC(struct block, record), KEY_END };

static void blocks_add_block(struct blocks *blocks, const struct memory_query *query, uint32_t record)
{
    const struct memory_record *of = &query->records->at[record];
    *VEC_PUSH(blocks) = (struct block){ memory_key(query, of), of->bytes, record };
}

static void sort_blocks(struct blocks *blocks)
{
    if (blocks->count)
        SORT(blocks, by_blocks);
}

static int64_t sum_of(const struct block *blocks, size_t count)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        sum_add(&bytes, blocks[i].bytes);
    return bytes;
}

/* ---- in use at the peak ---- */

static double share_of(int64_t bytes, int64_t whole)
{
    return whole ? (double)bytes / (double)whole : NAN;
}

void memory_add_alive(const struct memory_query *query, const struct memory_device *device, uint32_t peak)
{
    static const char before_recording[] = "[before recording]";
    const struct memory_record *at = query->records->at;
    struct memory *memory = query->memory;
    bool one_row = query->options->by == MEMORY_BY_DEVICE; /* also for memory in use before */
    struct memory_blocks row = { .place = memory_place_of(query, device) };
    int64_t whole = at[peak].allocated, rest = whole;
    struct blocks blocks = { 0 };
    for (uint32_t i = device->first; i <= peak; i++)
        if (at[i].bytes > 0 && at[i].ended_by > peak)
            blocks_add_block(&blocks, query, i);
    sort_blocks(&blocks);
    FOR_RUNS(first, end, blocks.count, blocks.at[end].key == blocks.at[first].key) {
        int64_t bytes = sum_of(&blocks.at[first], end - first);
        sum_add(&rest, -bytes);
        if (one_row) {
            bytes = whole;
            rest = 0;
        }
        row.key = memory_key_text(query, blocks.at[first].key);
        row.bytes = bytes;
        row.share = share_of(bytes, whole);
        row.count = (int64_t)(end - first);
        row.largest_bytes = blocks.at[end - 1].bytes;
        *VEC_PUSH(&memory->alive) = row;
    }
    VEC_FREE(&blocks);
    if (rest == 0)
        return;
    row.key = one_row ? (struct text){ 0 } : (struct text){ before_recording, strlen(before_recording) };
    row.bytes = rest;
    row.share = share_of(rest, whole);
    row.count = row.largest_bytes = TABLE_INT_MISSING;
    *VEC_PUSH(&memory->alive) = row;
}

/* ---- never freed ---- */

/* Is it a block that was not freed, and selected? */
static bool is_unfreed(const struct memory_query *query, const struct memory_record *record)
{
    return record->bytes > 0 && record->ended_by == RECORD_NONE && memory_is_selected(query, record) &&
           memory_owner_is_selected(query, record);
}

void memory_add_unfreed(const struct memory_query *query, const struct memory_device *device)
{
    struct memory_place place = memory_place_of(query, device);
    const struct memory_record *at = query->records->at;
    SCOPED struct blocks blocks = { 0 };
    for (uint32_t i = device->first; i < device->first + device->count; i++)
        if (is_unfreed(query, &at[i]))
            blocks_add_block(&blocks, query, i);
    sort_blocks(&blocks);
    FOR_RUNS(first, end, blocks.count,
             blocks.at[end].key == blocks.at[first].key && blocks.at[end].bytes == blocks.at[first].bytes) {
        const struct block *block = &blocks.at[first];
        *VEC_PUSH(&query->memory->unfreed) = (struct memory_blocks){
            .place = place,
            .key = memory_key_text(query, block->key),
            .bytes = sum_of(block, end - first),
            .count = (int64_t)(end - first),
            .largest_bytes = block->bytes,
            .first_ns = memory_moment(query, at[block->record].event),
            .first_step = memory_step_number(query, at[block->record].event),
        };
    }
}
