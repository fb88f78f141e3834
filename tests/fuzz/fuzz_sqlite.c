/*
 * fuzz_sqlite.c - any bytes as a database of Nsight Systems or of AMD's profilers.
 *
 * SQLite itself is fuzzed elsewhere, at length; what is looked for here is in what we make of its rows.
 */
#include "ingest/formats.h"

extern const struct format format_nsys;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct ingest_options options = {
        .wants = { .args = UINT64_MAX >> (64 - ARG_COUNT), .flows = true, .counters = true },
    };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    if (!source)
        return 0;
    struct trace_builder *builder = trace_builder_open(&options.wants);
    trace_builder_file(builder, "fuzz", "SQLite");
    if (format_nsys.read(source, builder, &options, &err))
        trace_free(trace_builder_finish(builder));
    else
        trace_builder_free(builder);
    source_free(source);
    return 0;
}
