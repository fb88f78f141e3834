/*
 * packer.h - make a long text in parts by several threads, compress them, and write them in order.
 *
 *     static void make(const void *context, size_t part, struct buffer *text)
 *     {
 *         ... append part PART of the text ...
 *     }
 *     const struct packer packer = { .packing = SOURCE_GZIP, .workers = 4, .make = make, .context = &rows };
 *     if (!packer_write(&packer, part_count, out, &err))
 *         ...
 *
 * Parts of some megabytes compress well. At most a few are in memory at a time, regardless of their number.
 */
#ifndef TPA_BASE_PACKER_H
#define TPA_BASE_PACKER_H

#include "base/buffer.h"
#include "base/source.h"

struct packer {
    enum source_packing packing;
    unsigned workers; /* threads; 0: one per CPU */
    /* Append part PART to TEXT. Called by several threads at once, for different parts. */
    void (*make)(const void *context, size_t part, struct buffer *text);
    const void *context; /* borrowed */
};

/* Write parts 0 .. COUNT - 1 to OUT. gzip output is one member, zstd output one frame per part. False and ERR when
 * packing or writing fails, also when the reader of a pipe is gone. */
bool packer_write(const struct packer *packer, size_t count, FILE *out, struct tpa_error *err);

/* The same in several calls: packer_begin, then packer_add for each group of parts, which may differ in all but
 * PACKING, then packer_end. Errors as for packer_write. */
struct packer_output {
    FILE *out;
    enum source_packing packing;
    uint32_t crc;
    uint64_t size; /* of the text */
};

/* See struct packer_output. OUT is borrowed; nothing needs to be freed after packer_end or a failure. */
bool packer_begin(struct packer_output *output, enum source_packing packing, FILE *out,
                  struct tpa_error *err);
bool packer_add(struct packer_output *output, const struct packer *packer, size_t count,
                struct tpa_error *err);
bool packer_end(struct packer_output *output, struct tpa_error *err);

/* Append TEXT to OUT in zlib's format (RFC 1950). */
void packer_deflate(const struct buffer *text, struct buffer *out);

#endif
