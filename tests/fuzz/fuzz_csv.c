/* fuzz_csv.c - any bytes as a table of rocprofv3, and as a tree of Proton. */
#include "tests/fuzz/fuzz.h"

extern const struct format format_rocprof_csv, format_hatchet;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (format_hatchet.sniff((const char *)data, size))
        profile_free(fuzz_profile(&format_hatchet, data, size));
    else
        trace_free(fuzz_read(&format_rocprof_csv, data, size));
    return 0;
}
