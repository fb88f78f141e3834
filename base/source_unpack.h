/*
 * source_unpack.h - internals of a source: packed bytes and how they are unpacked.
 *
 * Only source.c, source_packed.c and the unpackers (source_gzip.c, source_zstd.c) include this. A new kind of
 * compression is one more file with a `struct unpacker` and a row in source.c.
 */
#ifndef TPA_BASE_SOURCE_UNPACK_H
#define TPA_BASE_SOURCE_UNPACK_H

#include "base/error.h"
#include "base/source_packing.h"
#include <stddef.h>

/* The bytes of the file, not yet unpacked. The buffered bytes are LEFT bytes at AT. */
struct packed {
    const unsigned char *at;
    size_t left;
    int64_t taken; /* bytes read from the file so far, buffered ones included */
    int64_t size;  /* of the file; -1 when unknown */
    bool at_end;   /* nothing follows the buffered bytes */

    int64_t idle; /* bytes of those that carry no data: skippable frames, padding */

    int fd;                /* -1: all bytes are in memory from the start */
    unsigned char *buffer; /* buffer for bytes read from fd; NULL for memory */

    char damage[320]; /* why the input ended early; "" while all is well */
};

/* Position in the file of the first buffered byte. */
static inline int64_t packed_offset(const struct packed *in)
{
    return in->taken - (int64_t)in->left;
}

/* Consume COUNT of the buffered bytes. */
static inline void packed_skip(struct packed *in, size_t count)
{
    in->at += count;
    in->left -= count;
}

#define PACKED_MOST_NEEDED 4096

/* Allocate the buffer of an input that is read from a file; free() it. */
void packed_allocate(struct packed *in);

/* Copy the next SIZE bytes to BUFFER, still packed. Returns how many; fewer only at the end. -1 and ERR when reading
 * fails. */
int64_t packed_read(struct packed *in, unsigned char *buffer, size_t size, struct tpa_error *err);

/* Buffer at least WANTED bytes (at most PACKED_MOST_NEEDED), fewer only at the end of the file. May move the buffered
 * bytes. False and ERR when reading fails. */
bool packed_need(struct packed *in, size_t wanted, struct tpa_error *err);

/* Record why the input ends here. The first reason is kept. Returns false, for the caller to pass on. */
bool packed_damaged(struct packed *in, const char *fmt, ...) TPA_PRINTF(2, 3);

/* As packed_damaged: the data ended at OFFSET and what follows is not a KIND, e.g. "gzip". */
bool packed_garbage(struct packed *in, const char *kind);

/* A decompressor. */
struct unpacker {
    enum source_packing packing;
    /* Does packed data start with these LEN bytes? LEN is at least 4, unless the file is shorter. */
    bool (*recognise)(const unsigned char *bytes, size_t len);
    void *(*open)(void);
    void (*free)(void *state);
    /* Unpack the next bytes of IN to OUT, SIZE of them unless the data ends or is damaged before. Returns how many; -1
     * and ERR when unpacking cannot continue and no byte can be returned. */
    int64_t (*read)(void *state, struct packed *in, unsigned char *out, size_t size, struct tpa_error *err);
};

extern const struct unpacker gzip_unpacker, zstd_unpacker;

#endif
