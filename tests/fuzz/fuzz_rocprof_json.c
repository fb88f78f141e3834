/* fuzz_rocprof_json.c - any bytes as the JSON of rocprofv3. */
#include "tests/fuzz/fuzz.h"

extern const struct format format_rocprof_json;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trace_free(fuzz_read(&format_rocprof_json, data, size));
    return 0;
}
