/* read_bytes.h - for tests: bytes in memory, read by one reader. */
#ifndef TPA_TESTS_READ_BYTES_H
#define TPA_TESTS_READ_BYTES_H

#include "base/source.h"
#include "ingest/formats.h"

/* Everything that can be requested. */
static inline struct trace_wants want_everything(void)
{
    return (struct trace_wants){ .args = UINT64_MAX >> (64 - ARG_COUNT), .flows = true, .counters = true };
}

/* The trace in the SIZE bytes of DATA, which is new; NULL and ERR if reading fails. */
static inline struct trace *read_bytes_as(const struct format *format, const void *data, size_t size,
                                          const struct ingest_options *options, struct tpa_error *err)
{
    struct source *source = source_open_memory(data, size, "bytes", err);
    if (!source)
        return NULL;
    struct trace_builder *builder = trace_builder_open(&options->wants);
    trace_builder_file(builder, "bytes", format->name);
    bool good = format->read(source, builder, options, err);
    source_free(source);
    if (good)
        return trace_builder_finish(builder);
    trace_builder_free(builder);
    return NULL;
}

#endif
