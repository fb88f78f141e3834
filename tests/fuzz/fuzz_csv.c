/* fuzz_csv.c - any bytes as a table of rocprofv3, and as a tree of Proton. */
#include "tests/fuzz/fuzz.h"

extern const struct format format_rocprof_csv, format_hatchet;

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
    if (format_hatchet.sniff((const char *)data, size))
        read_tree(data, size);
    else
        trace_free(fuzz_read(&format_rocprof_csv, data, size));
    return 0;
}
