/*
 * fuzz_perfetto.c - any bytes as a Perfetto trace, read twice: with all arguments, flows and counters, and with none. Neither may crash,
 * and both must give the same events.
 */
#include "tests/fuzz/fuzz.h"

extern const struct format format_perfetto;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct trace *full = fuzz_read(&format_perfetto, data, size),
                 *bare = read_bytes_as(&format_perfetto, data, size, &(struct ingest_options){ .workers = 1 },
                                       &err);
    must((full == NULL) == (bare == NULL));
    if (full)
        must_have_same_events(full, bare);
    trace_free(full);
    trace_free(bare);
    return 0;
}
