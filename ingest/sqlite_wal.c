#include "ingest/sqlite_open.h"

#include <endian.h>

enum { HEADER = 32, FRAME_HEADER = 24, SALTS = 8, LEAST_PAGE = 512, MOST_PAGE = 65536 };

/* A log: pages of PAGE bytes that are there, the first whose checksum is wrong excluded. */
struct wal {
    const char *frames;
    size_t page, count; /* COUNT: frames up to the end of the last finished transaction */
    uint32_t pages;     /* of the database after it */
};

static uint32_t number_at(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return be32toh(value);
}

/* Add LEN bytes at AT, a multiple of 8, to the running checksum SUM; words are of the order that the log's magic tells. */
static void add_to_checksum(uint32_t sum[2], const char *at, size_t len, bool is_big)
{
    for (size_t i = 0; i + 8 <= len; i += 8) {
        uint32_t word[2];
        memcpy(word, at + i, sizeof word);
        sum[0] += (is_big ? be32toh(word[0]) : le32toh(word[0])) + sum[1];
        sum[1] += (is_big ? be32toh(word[1]) : le32toh(word[1])) + sum[0];
    }
}

static struct wal wal_open(const char *log, size_t len)
{
    const uint32_t magic = 0x377f0682; /* its lowest bit: words of checksums are big endian */
    struct wal wal = { .frames = log + HEADER };
    uint32_t sum[2] = { 0, 0 };
    if (len < HEADER || (number_at(log) & ~UINT32_C(1)) != magic)
        return wal;
    bool is_big = number_at(log) & 1;
    wal.page = number_at(log + 8);
    add_to_checksum(sum, log, HEADER - 8, is_big);
    if (wal.page < LEAST_PAGE || wal.page > MOST_PAGE || (wal.page & (wal.page - 1)) ||
        sum[0] != number_at(log + 24) || sum[1] != number_at(log + 28))
        return wal;
    size_t frame = FRAME_HEADER + wal.page, there = (len - HEADER) / frame;
    for (size_t i = 0; i < there; i++) {
        const char *at = wal.frames + i * frame;
        add_to_checksum(sum, at, 8, is_big);
        add_to_checksum(sum, at + FRAME_HEADER, wal.page, is_big);
        if (memcmp(at + 8, log + 16, SALTS) != 0 || sum[0] != number_at(at + 16) ||
            sum[1] != number_at(at + 20) || number_at(at) == 0)
            break; /* of an earlier use of the file */
        if (number_at(at + 4)) {
            wal.count = i + 1;
            wal.pages = number_at(at + 4);
        }
    }
    return wal;
}

bool sqlite_wal_has_pages(const char *log, size_t len)
{
    return wal_open(log, len).count > 0;
}

char *sqlite_wal_apply(char *bytes, size_t *size, const char *log, size_t len)
{
    struct wal wal = wal_open(log, len);
    /* Pages that neither the file nor the log has cannot be: a size that tells of more is damage. */
    if (wal.count == 0 || wal.pages > *size / wal.page + wal.count)
        return bytes;
    size_t whole = (size_t)wal.pages * wal.page;
    bytes = mem_realloc(bytes, whole);
    if (whole > *size)
        memset(bytes + *size, 0, whole - *size);
    for (size_t i = 0; i < wal.count; i++) {
        const char *at = wal.frames + i * (FRAME_HEADER + wal.page);
        if (number_at(at) <= wal.pages)
            memcpy(bytes + (number_at(at) - 1) * wal.page, at + FRAME_HEADER, wal.page);
    }
    *size = whole;
    return bytes;
}
