/* tpa_bytes.h - .tpa files in memory, for tests. */
#ifndef TPA_TESTS_TPA_BYTES_H
#define TPA_TESTS_TPA_BYTES_H

#include "base/buffer.h"
#include "trace/tpafile_decode.h"
#include "trace/tpafile_save.h"

static inline bool take_bytes(void *context, const void *bytes, size_t size)
{
    buffer_add(context, bytes, size);
    return true;
}

/* TRACE as a .tpa file, in blocks of BLOCK_EVENTS events (0: the default). New; release with buffer_release. */
static inline struct buffer tpa_of_trace(const struct trace *trace, size_t block_events)
{
    struct buffer bytes = { 0 };
    struct tpafile_save_options options = { .sink = take_bytes,
                                            .context = &bytes,
                                            .block_events = block_events };
    if (!tpafile_save(trace, &options, NULL))
        buffer_clear(&bytes);
    return bytes;
}

/* A writer into BYTES. */
static inline struct tpafile_writer *tpa_writer(struct buffer *bytes, uint32_t rows)
{
    return tpafile_writer_open(&(struct tpafile_writer_options){ .sink = take_bytes,
                                                                 .context = bytes,
                                                                 .rows = rows,
                                                                 .wall_ns = 1700000000000000000,
                                                                 .monotonic_ns = 77,
                                                                 .pid = 9 });
}

/* How many whole blocks of KIND lie in the first LEN bytes of a file that is not damaged, and of how many records. */
static inline uint64_t tpa_count_records(const char *bytes, size_t len, unsigned kind)
{
    uint64_t records = 0;
    struct tpafile_head head;
    for (size_t at = TPAFILE_HEADER_SIZE;
         at + TPAFILE_BLOCK_HEAD <= len && tpafile_decode_head((const unsigned char *)bytes + at, &head);) {
        at += TPAFILE_BLOCK_HEAD + (size_t)head.packed;
        if (at <= len && head.kind == kind)
            records += head.rows;
    }
    return records;
}

#endif
