/*
 * mutate_tpa.c - a .tpa file into another whose checksums are right: blocks dropped, doubled and swapped, columns and
 * values changed.
 *
 * A block that is changed is unpacked, planes and all, and put back stored. What is no block is left as it is. trace/tpafile.h
 * has the layout.
 */
#define XXH_INLINE_ALL
#include "tests/fuzz/mutate.h"

#include "trace/tpafile.h"
#include "trace/tpafile_bytes.h"
#include <stdlib.h>
#include <xxhash.h>
#include <zstd.h>

enum { MOST_BLOCKS = 512, MOST_COLUMNS = 128, MOST_VALUES = 1 << 16, MOST_PAYLOAD = 1 << 20 };

struct place {
    size_t begin, end;
};

struct places {
    struct place at[MOST_BLOCKS];
    size_t count;
};

struct column {
    unsigned field, form, planes;
    uint32_t count;
    uint64_t base, first;
    uint8_t *plane[TPAFILE_MOST_PLANES]; /* COUNT bytes each; owned */
};

struct block {
    uint8_t head[TPAFILE_BLOCK_HEAD];
    struct column at[MOST_COLUMNS];
    size_t count;
};

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void find_blocks(const uint8_t *data, size_t size, struct places *blocks)
{
    blocks->count = 0;
    for (size_t at = 0; at + TPAFILE_BLOCK_HEAD <= size && blocks->count < MOST_BLOCKS;) {
        size_t left = size - at - TPAFILE_BLOCK_HEAD;
        if (memcmp(data + at, TPAFILE_BLOCK_MAGIC, 4) != 0 || get_u32(data + at + 12) > left) {
            at++;
            continue;
        }
        size_t end = at + TPAFILE_BLOCK_HEAD + get_u32(data + at + 12);
        blocks->at[blocks->count++] = (struct place){ at, end };
        at = end;
    }
}

/* ---- a block taken apart ---- */

static void release(struct block *block)
{
    for (size_t c = 0; c < block->count; c++)
        for (unsigned p = 0; p < TPAFILE_MOST_PLANES; p++)
            free(block->at[c].plane[p]);
    block->count = 0;
}

/* The plane of COUNT bytes that SIZE bytes at AT stand for; NULL when they are damaged. */
static uint8_t *unpack_plane(const uint8_t *at, size_t size, uint32_t count)
{
    uint8_t *plane = checked(calloc(count + 1, 1));
    if (size == 0)
        return plane;
    if (size == count)
        memcpy(plane, at, count);
    else if (ZSTD_isError(ZSTD_decompress(plane, count, at, size))) {
        free(plane);
        return NULL;
    }
    return plane;
}

/* The next column of a payload; false at its end, and where it is damaged. */
static bool take_column(const uint8_t *payload, size_t size, size_t *at, struct column *column)
{
    const uint8_t *head = payload + *at;
    *column = (struct column){ 0 };
    if (size - *at < TPAFILE_COLUMN_HEAD)
        return false;
    column->field = get_u16(head);
    column->form = head[2];
    column->planes = head[3];
    column->count = get_u32(head + 4);
    column->base = get_u64(head + 8);
    column->first = get_u64(head + 16);
    size_t next = *at + TPAFILE_COLUMN_HEAD + 4 * (size_t)column->planes;
    if (column->planes > TPAFILE_MOST_PLANES || column->count > MOST_VALUES || next > size)
        return false;
    for (unsigned p = 0; p < column->planes; p++) {
        uint32_t packed = get_u32(head + TPAFILE_COLUMN_HEAD + 4 * (size_t)p);
        column->plane[p] = packed <= size - next ? unpack_plane(payload + next, packed, column->count) : NULL;
        if (!column->plane[p]) {
            while (p-- > 0)
                free(column->plane[p]);
            return false;
        }
        next += packed;
    }
    *at = next;
    return true;
}

static bool take_apart(const uint8_t *data, struct place place, struct block *block)
{
    const uint8_t *payload = data + place.begin + TPAFILE_BLOCK_HEAD;
    size_t packed = place.end - place.begin - TPAFILE_BLOCK_HEAD, size = packed;
    uint8_t *unpacked = NULL;
    memcpy(block->head, data + place.begin, TPAFILE_BLOCK_HEAD);
    block->count = 0;
    if (block->head[6] == TPAFILE_ZSTD) {
        size = get_u32(block->head + 16);
        if (size > MOST_PAYLOAD)
            return false;
        unpacked = checked(malloc(size + 1));
        if (ZSTD_isError(ZSTD_decompress(unpacked, size, payload, packed))) {
            free(unpacked);
            return false;
        }
        payload = unpacked;
    }
    for (size_t at = 0;
         block->count < MOST_COLUMNS && take_column(payload, size, &at, &block->at[block->count]);)
        block->count++;
    free(unpacked);
    return block->count > 0;
}

/* ---- and put together ---- */

static void seal(uint8_t *block, size_t payload)
{
    store_u32(block + 12, (uint32_t)payload);
    store_u64(block + 24, XXH3_64bits(block + TPAFILE_BLOCK_HEAD, payload));
    store_u64(block + 32, XXH3_64bits(block, 32));
}

static bool put_back(struct mutated *input, struct place place, const struct block *block)
{
    size_t size = TPAFILE_BLOCK_HEAD;
    for (size_t c = 0; c < block->count; c++)
        size += TPAFILE_COLUMN_HEAD + (size_t)block->at[c].planes * (4 + (size_t)block->at[c].count);
    uint8_t *bytes = checked(malloc(size)), *to = bytes + TPAFILE_BLOCK_HEAD;
    memcpy(bytes, block->head, TPAFILE_BLOCK_HEAD);
    for (size_t c = 0; c < block->count; c++) {
        const struct column *column = &block->at[c];
        store_u16(to, (uint16_t)column->field);
        to[2] = (uint8_t)column->form;
        to[3] = (uint8_t)column->planes;
        store_u32(to + 4, column->count);
        store_u64(to + 8, column->base);
        store_u64(to + 16, column->first);
        to += TPAFILE_COLUMN_HEAD;
        for (unsigned p = 0; p < column->planes; p++, to += 4)
            store_u32(to, column->count);
        for (unsigned p = 0; p < column->planes; p++, to += column->count)
            memcpy(to, column->plane[p], column->count);
    }
    bytes[6] = TPAFILE_STORED;
    store_u32(bytes + 16, (uint32_t)(size - TPAFILE_BLOCK_HEAD));
    seal(bytes, size - TPAFILE_BLOCK_HEAD);
    bool fits = mutate_replace(input, place.begin, place.end, bytes, size);
    free(bytes);
    return fits;
}

/* ---- changes ---- */

static uint64_t edge(uint64_t *state)
{
    static const uint64_t edges[] = {
        0,
        1,
        2,
        3,
        7,
        255,
        256,
        65535,
        1 << 20,
        (1 << 20) + 1,
        INT32_MAX,
        UINT32_MAX,
        UINT64_C(1) << 62,
        INT64_MAX,
        (uint64_t)INT64_MAX + 1,
        UINT64_MAX,
        UINT64_MAX - 1,
        1000,
        1000000000,
        UINT64_C(1700000000000000000),
    };
    return edges[mutate_random(state, sizeof edges / sizeof *edges)];
}

static void set_count(struct column *column, uint32_t count)
{
    for (unsigned p = 0; p < column->planes; p++) {
        column->plane[p] = checked(realloc(column->plane[p], (size_t)count + 1));
        if (count > column->count)
            memset(column->plane[p] + column->count, 0, count - column->count);
    }
    column->count = count;
}

/* Let value ROW of COLUMN be BITS, before base and differences. */
static void set_value(struct column *column, size_t row, uint64_t bits, uint64_t *state)
{
    if (mutate_random(state, 2))
        for (; column->planes < TPAFILE_MOST_PLANES; column->planes++)
            column->plane[column->planes] = checked(calloc((size_t)column->count + 1, 1));
    for (unsigned p = 0; p < column->planes; p++)
        column->plane[p][row] = (uint8_t)(bits >> 8 * p);
}

static uint64_t value_at(const struct column *column, size_t row)
{
    uint64_t bits = 0;
    for (unsigned p = 0; p < column->planes; p++)
        bits |= (uint64_t)column->plane[p][row] << 8 * p;
    return bits;
}

static bool change_value(struct block *block, struct column *column, uint64_t *state)
{
    if (column->count == 0)
        return false;
    size_t row = mutate_random(state, column->count);
    const struct column *other = &block->at[mutate_random(state, block->count)];
    switch (mutate_random(state, 4)) {
    case 0: set_value(column, row, edge(state), state); break;
    case 1: set_value(column, row, value_at(column, mutate_random(state, column->count)), state); break;
    case 2: set_value(column, row, value_at(column, row) + mutate_random(state, 5) - 2, state); break;
    default:
        if (other->count == 0)
            return false;
        set_value(column, row, value_at(other, mutate_random(state, other->count)), state);
    }
    return true;
}

static bool change_bytes(struct column *column, uint64_t *state)
{
    if (column->planes == 0 || column->count == 0)
        return false;
    uint8_t *plane = column->plane[mutate_random(state, column->planes)];
    size_t now =
        LLVMFuzzerMutate(plane, column->count, column->count); /* what it took away is left as it is */
    return now > 0;
}

static bool drop_column(struct block *block, size_t c)
{
    for (unsigned p = 0; p < TPAFILE_MOST_PLANES; p++)
        free(block->at[c].plane[p]);
    memmove(block->at + c, block->at + c + 1, (block->count - c - 1) * sizeof *block->at);
    block->count--;
    return true;
}

static bool double_column(struct block *block, size_t c)
{
    if (block->count == MOST_COLUMNS)
        return false;
    struct column *copy = &block->at[block->count++];
    *copy = block->at[c];
    for (unsigned p = 0; p < copy->planes; p++) {
        copy->plane[p] = checked(malloc((size_t)copy->count + 1));
        memcpy(copy->plane[p], block->at[c].plane[p], copy->count);
    }
    return true;
}

static bool change_block(struct block *block, uint64_t *state)
{
    size_t c = mutate_random(state, block->count), d = mutate_random(state, block->count);
    struct column *column = &block->at[c];
    switch (mutate_random(state, 14)) {
    case 0: return drop_column(block, c);
    case 1: return double_column(block, c);
    case 2: {
        struct column kept = block->at[c];
        block->at[c] = block->at[d];
        block->at[d] = kept;
        return true;
    }
    case 3:
        column->field = mutate_random(state, 2) ? block->at[d].field : (unsigned)mutate_random(state, 300);
        return true;
    case 4:
        column->form = (unsigned)mutate_random(state, 4) | (mutate_random(state, 2) ? TPAFILE_DICTIONARY : 0);
        return true;
    case 5:
        set_count(column, mutate_random(state, 2)
                              ? block->at[d].count
                              : (uint32_t)mutate_random(state, 2 * (size_t)column->count + 3));
        return true;
    case 6: column->base = edge(state); return true;
    case 7: column->first = edge(state); return true;
    case 8:
        store_u32(block->head + 8, mutate_random(state, 2) ? (uint32_t)edge(state) : column->count);
        return true;
    case 9: store_u16(block->head + 4, (uint16_t)mutate_random(state, 100)); return true;
    case 10: return change_bytes(column, state);
    default: return change_value(block, column, state);
    }
}

static bool change_blocks(struct mutated *input, const struct places *blocks, uint64_t *state)
{
    struct place a = blocks->at[mutate_random(state, blocks->count)],
                 b = blocks->at[mutate_random(state, blocks->count)];
    uint8_t *copy = checked(malloc(a.end - a.begin + 1));
    memcpy(copy, input->at + a.begin, a.end - a.begin);
    bool done;
    switch (mutate_random(state, 4)) {
    case 0: done = mutate_replace(input, a.begin, a.end, "", 0); break;
    case 1: done = mutate_replace(input, b.end, b.end, copy, a.end - a.begin); break;
    case 2: done = mutate_replace(input, b.begin, b.end, copy, a.end - a.begin); break;
    default: /* its head, or the bytes of its payload */
        done = LLVMFuzzerMutate(input->at + a.begin + 4, TPAFILE_BLOCK_HEAD - 4, TPAFILE_BLOCK_HEAD - 4) > 0;
        seal(input->at + a.begin, a.end - a.begin - TPAFILE_BLOCK_HEAD);
    }
    free(copy);
    return done;
}

static bool change_once(struct mutated *input, uint64_t *state)
{
    static struct places blocks;
    static struct block block;
    if (mutate_random(state, 24) == 0 && input->size >= TPAFILE_HEADER_SIZE) {
        LLVMFuzzerMutate(input->at, TPAFILE_HEADER_SIZE, TPAFILE_HEADER_SIZE);
        store_u64(input->at + 56, XXH3_64bits(input->at, 56));
        return true;
    }
    find_blocks(input->at, input->size, &blocks);
    if (blocks.count == 0)
        return false;
    if (mutate_random(state, 6) == 0)
        return change_blocks(input, &blocks, state);
    struct place place = blocks.at[mutate_random(state, blocks.count)];
    if (!take_apart(input->at, place, &block))
        return false;
    bool changed = change_block(&block, state) && put_back(input, place, &block);
    release(&block);
    return changed;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t state = seed;
    struct mutated input = { data, size, most };
    bool changed = false;
    for (size_t i = 1 + mutate_random(&state, 4); i > 0 && mutate_random(&state, 32) > 0; i--)
        changed |= change_once(&input, &state);
    return changed ? input.size : LLVMFuzzerMutate(data, size, most);
}

/* A block of the second put behind one of the first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                                 uint8_t *out, size_t most, unsigned seed)
{
    static struct places blocks, others;
    uint64_t state = seed;
    size1 = size1 < most ? size1 : most;
    memcpy(out, data1, size1);
    struct mutated input = { out, size1, most };
    find_blocks(out, size1, &blocks);
    find_blocks(data2, size2, &others);
    if (blocks.count && others.count) {
        struct place at = blocks.at[mutate_random(&state, blocks.count)];
        struct place from = others.at[mutate_random(&state, others.count)];
        mutate_replace(&input, at.end, mutate_random(&state, 2) ? at.end : input.size, data2 + from.begin,
                       from.end - from.begin);
    }
    return input.size;
}
