/*
 * packer.h - a long text in parts: made by several threads, packed, and written in order.
 *
 *     static void make(const void *context, size_t part, struct buffer *text)
 *     {
 *         ... append part PART of the text ...
 *     }
 *     const struct packer packer = { .packing = SOURCE_GZIP, .workers = 4, .make = make, .context = &rows };
 *     if (!packer_write(&packer, part_count, out, &err))
 *         ...
 *
 * Parts of some megabytes pack well. No more than a few are in memory at a time, however many there are.
 */
#ifndef TPA_BASE_PACKER_H
#define TPA_BASE_PACKER_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/source.h"

struct packer {
    enum source_packing packing;
    unsigned workers; /* threads; 0: one per CPU */
    /* Append part PART to TEXT. Called by several threads at once, for different parts. */
    void (*make)(const void *context, size_t part, struct buffer *text);
    const void *context; /* borrowed */
};

/*
 * Write parts 0 .. COUNT - 1 to OUT. gzip is one member, zstd a frame a part. False and ERR when packing or writing
 * fails; that the reader of a pipe went away is such a failure, too.
 */
bool packer_write(const struct packer *packer, size_t count, FILE *out, struct tpa_error *err);

#endif
