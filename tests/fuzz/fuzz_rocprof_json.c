/* fuzz_rocprof_json.c - any bytes as the JSON of rocprofv3. */
#include "ingest/formats.h"

extern const struct format format_rocprof_json;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct ingest_options options = {
        .wants = { .args = UINT64_MAX >> (64 - ARG_COUNT), .flows = true, .counters = true },
    };
    format_rocprof_json.sniff((const char *)data, size);
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    if (!source)
        return 0;
    struct trace_builder *builder = trace_builder_open(&options.wants);
    trace_builder_file(builder, "fuzz", "JSON");
    if (format_rocprof_json.read(source, builder, &options, &err))
        trace_free(trace_builder_finish(builder));
    else
        trace_builder_free(builder);
    source_free(source);
    return 0;
}
