/* fuzz.h - for fuzz targets: the function that each defines, and its checks. */
#ifndef TPA_TESTS_FUZZ_FUZZ_H
#define TPA_TESTS_FUZZ_FUZZ_H

#include "tests/read_bytes.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool condition)
{
    if (!condition)
        abort();
}

/* The trace in DATA with all that can be requested; NULL if reading fails. Free with trace_free. */
static inline struct trace *fuzz_read(const struct format *format, const uint8_t *data, size_t size)
{
    struct ingest_options options = { .wants = want_everything(), .workers = 1 };
    format->sniff((const char *)data, size < 4096 ? size : 4096);
    return read_bytes_as(format, data, size, &options, &(struct tpa_error){ 0 });
}

/* What FORMAT makes of DATA, a profile; NULL if reading fails. */
static inline struct profile *fuzz_profile(const struct format *format, const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    struct profile *profile = source ? format->read_profile(source, &err) : NULL;
    source_free(source);
    return profile;
}

/* A trace that was read with all arguments, and one with none, have the same events. */
static inline void must_have_same_events(const struct trace *full, const struct trace *bare)
{
    must(full->event_count == bare->event_count && full->track_count >= bare->track_count);
    must(full->flows_seen == bare->flows_seen && full->samples_seen == bare->samples_seen);
    for (event_id e = 0; e < full->event_count; e++) {
        must(trace_start_ns(full, e) == trace_start_ns(bare, e) &&
             trace_dur_ns(full, e) == trace_dur_ns(bare, e));
        must(trace_dur_ns(full, e) >= 0 && full->kind[e] == bare->kind[e]);
    }
}

#endif
