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
    if (full) {
        must(full->event_count == bare->event_count && full->track_count >= bare->track_count);
        must(full->flows_seen == bare->flows_seen && full->samples_seen == bare->samples_seen);
        for (event_id e = 0; e < full->event_count; e++) {
            must(trace_start_ns(full, e) == trace_start_ns(bare, e) &&
                 trace_dur_ns(full, e) == trace_dur_ns(bare, e));
            must(trace_dur_ns(full, e) >= 0 && full->kind[e] == bare->kind[e]);
        }
    }
    trace_free(full);
    trace_free(bare);
    return 0;
}
