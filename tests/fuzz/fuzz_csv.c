/* fuzz_csv.c - any bytes as a table of rocprofv3, and as a tree of Proton. */
#include "ingest/formats.h"

extern const struct format format_rocprof_csv, format_hatchet;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_table(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct ingest_options options = {
        .wants = { .args = UINT64_MAX >> (64 - ARG_COUNT), .flows = true, .counters = true },
    };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    if (!source)
        return;
    struct trace_builder *builder = trace_builder_open(&options.wants);
    trace_builder_file(builder, "fuzz", "CSV");
    if (format_rocprof_csv.read(source, builder, &options, &err))
        trace_free(trace_builder_finish(builder));
    else
        trace_builder_free(builder);
    source_free(source);
}

static void read_tree(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    if (!source)
        return;
    profile_free(format_hatchet.read_profile(source, &err));
    source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    format_rocprof_csv.sniff((const char *)data, size);
    if (format_hatchet.sniff((const char *)data, size))
        read_tree(data, size);
    else
        read_table(data, size);
    return 0;
}
