/*
 * blocks.c - reads blocks from the bytes of a .tpa file, even if damaged.
 *
 * A head has its own checksum, so its length can be trusted. If no valid block begins, the next magic number with a
 * valid checksum is searched byte by byte, and the bytes in between are lost. A head with an incomplete payload at the
 * end of the file is a block being written, or left by a killed process.
 */
#define _GNU_SOURCE /* memmem */
#include "ingest/tpalog/tpalog.h"

#include "trace/tpafile_bytes.h"

enum { STEP = 256 << 10, PATIENCE = 64 << 20 };

static size_t available(const struct tpalog_blocks *blocks)
{
    return blocks->count - blocks->start;
}

/* Buffer WANTED bytes from the start, or all remaining. Memory grows with the bytes actually read. */
static bool fill(struct tpalog_blocks *blocks, size_t wanted, struct tpa_error *err)
{
    while (available(blocks) < wanted && !blocks->ended) {
        if (blocks->start > 0) {
            memmove(blocks->bytes, blocks->bytes + blocks->start, available(blocks));
            blocks->offset += (int64_t)blocks->start;
            blocks->count -= blocks->start;
            blocks->start = 0;
        }
        if (blocks->capacity - blocks->count < STEP) {
            blocks->capacity = blocks->capacity * 2 + STEP;
            blocks->bytes = mem_realloc(blocks->bytes, blocks->capacity);
        }
        size_t room = blocks->capacity - blocks->count;
        int64_t got = source_read(blocks->source, blocks->bytes + blocks->count, room, err);
        if (got < 0)
            return false;
        blocks->count += (size_t)got;
        blocks->ended = (size_t)got < room;
    }
    return true;
}

static void blocks_read(struct tpalog_blocks *blocks, size_t size)
{
    blocks->at = blocks->offset + (int64_t)blocks->start;
    blocks->payload = blocks->bytes + blocks->start;
    blocks->start += size;
}

static void skip(struct tpalog_blocks *blocks, size_t size)
{
    if (blocks->first_skipped == TPA_NOWHERE)
        blocks->first_skipped = blocks->offset + (int64_t)blocks->start;
    blocks->skipped_bytes += (int64_t)size;
    blocks->start += size;
}

/* The offset of the first valid block head, or header, FROM bytes after the start or later; SIZE_MAX if there is
 * none. */
static size_t find_next(const struct tpalog_blocks *blocks, size_t from)
{
    const unsigned char *at = blocks->bytes + blocks->start + from, *end = blocks->bytes + blocks->count;
    for (; at < end; at++) {
        struct tpafile_head head;
        if (*at != (unsigned char)TPAFILE_BLOCK_MAGIC[0] && *at != (unsigned char)TPAFILE_MAGIC[0])
            continue;
        if (end - at >= TPAFILE_BLOCK_HEAD && tpafile_decode_head(at, &head))
            return (size_t)(at - blocks->bytes) - blocks->start;
        if (end - at >= TPAFILE_HEADER_SIZE && tpafile_check_header(at))
            return (size_t)(at - blocks->bytes) - blocks->start;
    }
    return SIZE_MAX;
}

/* Skip to the next valid beginning, FROM bytes after the start or later. */
static bool resynchronise(struct tpalog_blocks *blocks, size_t from, struct tpa_error *err)
{
    for (;;) {
        if (!fill(blocks, from + STEP, err))
            return false;
        size_t found = find_next(blocks, from);
        if (found != SIZE_MAX) {
            skip(blocks, found);
            return true;
        }
        if (blocks->ended) {
            skip(blocks, available(blocks));
            return true;
        }
        /* Keep bytes that may be the first part of a head. */
        size_t passed = available(blocks) - TPAFILE_HEADER_SIZE;
        skip(blocks, passed);
        from = 0;
    }
}

/* Could the few bytes that are left be the first ones of a block's head? */
static bool begins_like_a_block(const unsigned char *bytes, size_t count)
{
    return memcmp(bytes, TPAFILE_BLOCK_MAGIC, count < 4 ? count : 4) == 0;
}

static enum tpalog_item end_in_the_middle(struct tpalog_blocks *blocks)
{
    blocks->tail_at = blocks->offset + (int64_t)blocks->start;
    blocks->tail_bytes = (int64_t)available(blocks);
    blocks->start = blocks->count;
    return TPALOG_END;
}

static void count_block(struct tpalog_blocks *blocks)
{
    blocks->blocks++;
    if (blocks->head.number > blocks->next_number)
        blocks->lost_blocks += blocks->head.number - blocks->next_number;
    blocks->next_number = blocks->head.number + 1;
}

/* Examine the bytes at the start. Sets *DONE if ITEM is complete, else the caller continues. */
static bool look(struct tpalog_blocks *blocks, bool *done, enum tpalog_item *item, struct tpa_error *err)
{
    *done = true;
    size_t left = available(blocks);
    const unsigned char *at = blocks->bytes + blocks->start;
    if (left == 0) {
        *item = TPALOG_END;
        return true;
    }
    if (left >= TPAFILE_HEADER_SIZE && tpafile_check_header(at)) {
        uint32_t size = get_u32(at + 12);
        blocks_read(blocks, TPAFILE_HEADER_SIZE);
        blocks->next_number = 0;
        /* A later minor version may have a longer header. */
        if (size > TPAFILE_HEADER_SIZE && size <= 4096 && fill(blocks, size - TPAFILE_HEADER_SIZE, err) &&
            available(blocks) >= size - TPAFILE_HEADER_SIZE)
            blocks->start += size - TPAFILE_HEADER_SIZE;
        *item = TPALOG_HEADER;
        return true;
    }
    if (left >= TPAFILE_BLOCK_HEAD && tpafile_decode_head(at, &blocks->head)) {
        size_t whole = TPAFILE_BLOCK_HEAD + (size_t)blocks->head.packed;
        if (!fill(blocks, whole, err))
            return false;
        if (available(blocks) >= whole &&
            tpafile_check_payload(&blocks->head, blocks->bytes + blocks->start + TPAFILE_BLOCK_HEAD)) {
            blocks_read(blocks, whole);
            blocks->payload += TPAFILE_BLOCK_HEAD;
            count_block(blocks);
            *item = TPALOG_BLOCK;
            return true;
        }
        if (available(blocks) < whole && find_next(blocks, TPAFILE_BLOCK_HEAD) == SIZE_MAX) {
            *item = end_in_the_middle(blocks);
            return true;
        }
        *done = false;
        /* Other blocks may begin inside, if bytes are missing; but a block must not be read repeatedly. */
        blocks->wasted += blocks->head.packed;
        bool patient = blocks->wasted < PATIENCE + 8 * (blocks->offset + (int64_t)blocks->start);
        size_t from = patient || available(blocks) < whole ? TPAFILE_BLOCK_HEAD : whole;
        return resynchronise(blocks, from, err);
    }
    if (left < TPAFILE_BLOCK_HEAD && begins_like_a_block(at, left)) {
        *item = end_in_the_middle(blocks);
        return true;
    }
    if (blocks->offset + (int64_t)blocks->start == 0) {
        if (left < TPAFILE_HEADER_SIZE && memcmp(at, TPAFILE_MAGIC, left < 8 ? left : 8) == 0) {
            *item = end_in_the_middle(blocks);
            return true;
        }
        blocks->header_damaged = true;
    }
    *done = false;
    return resynchronise(blocks, 1, err);
}

enum tpalog_item tpalog_blocks_next(struct tpalog_blocks *blocks, struct tpa_error *err)
{
    for (;;) {
        bool done;
        enum tpalog_item item = TPALOG_FAILED;
        if (!fill(blocks, TPAFILE_HEADER_SIZE, err) || !look(blocks, &done, &item, err))
            return TPALOG_FAILED;
        if (done)
            return item;
    }
}
