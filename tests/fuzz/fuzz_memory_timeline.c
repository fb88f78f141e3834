/* fuzz_memory_timeline.c - any bytes as a memory timeline, and what tpa memory makes of it. */
#include "memory/memory.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    extern const struct format format_memory_timeline;
    struct tpa_error err = { 0 };
    struct ingest_options options = { .wants = memory_wants };
    format_memory_timeline.sniff((const char *)data, size);
    struct trace *trace = read_bytes_as(&format_memory_timeline, data, size, &options, &err);
    if (!trace)
        return 0;
    SCOPED_OBJECT struct selection *selection = selection_open(trace, &(struct selection_query){ 0 }, &err);
    struct result *result = result_open("fuzz");
    if (selection)
        memory_add_tables(trace, selection, &(struct memory_options){ 0 }, result);
    result_free(result);
    trace_free(trace);
    return 0;
}
