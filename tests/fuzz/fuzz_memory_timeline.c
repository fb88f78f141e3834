/* fuzz_memory_timeline.c - any bytes as a memory timeline, and what tpa memory makes of it. */
#include "memory/memory.h"
#include "ingest/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    extern const struct format format_memory_timeline;
    struct tpa_error err = { 0 };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    if (!source)
        return 0;
    struct trace_builder *builder = trace_builder_open(&memory_wants);
    trace_builder_file(builder, "fuzz", format_memory_timeline.name);
    format_memory_timeline.sniff((const char *)data, size);
    bool good = format_memory_timeline.read(source, builder, &(struct ingest_options){ 0 }, &err);
    source_free(source);
    if (!good) {
        trace_builder_free(builder);
        return 0;
    }
    struct trace *trace = trace_builder_finish(builder);
    struct selection *selection = selection_open(trace, &(struct selection_query){ 0 }, &err);
    struct result *result = result_open("fuzz");
    if (selection)
        memory_add_tables(trace, selection, &(struct memory_options){ 0 }, result);
    result_free(result);
    arena_free(selection);
    trace_free(trace);
    return 0;
}
