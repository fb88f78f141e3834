/*
 * fuzz_sqlite.c - any bytes as a database of Nsight Systems or of AMD's profilers.
 *
 * SQLite itself is fuzzed elsewhere, at length; what is looked for here is in what we make of its rows.
 */
#include "tests/fuzz/fuzz.h"

extern const struct format format_nsys;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trace_free(fuzz_read(&format_nsys, data, size));
    return 0;
}
