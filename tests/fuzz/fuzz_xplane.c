/*
 * fuzz_xplane.c - any bytes as an XSpace, read twice: with all arguments, flows and counters, and with none. Neither may crash,
 * and both must give the same events.
 */
#include "memory/program_memory.h"
#include "tests/fuzz/fuzz.h"

extern const struct format format_xplane;

/* Was something left out of TRACE for its time? What else was recorded decides that, so that a reader that is told less keeps more. */
static bool leaves_out(const struct trace *trace)
{
    for (size_t i = 0; i < trace->notice_count; i++)
        if (strcmp(trace->notices[i].kind, "untimed") == 0 ||
            strcmp(trace->notices[i].kind, lack_word(LACK_UNTIMED_WORK)) == 0)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct ingest_options all = { .wants = want_everything(), .workers = 1 }, none = { .workers = 1 };
    all.wants.programs = true;
    format_xplane.sniff((const char *)data, size < 4096 ? size : 4096);
    struct trace *full = read_bytes_as(&format_xplane, data, size, &all, &err),
                 *bare = read_bytes_as(&format_xplane, data, size, &none, &err);
    must((full == NULL) == (bare == NULL));
    if (full) {
        struct result *result = result_open("fuzz");
        program_memory_add_tables(full, NULL, false, result);
        result_free(result);
    }
    if (full && !leaves_out(full))
        must_have_same_events(full, bare);
    trace_free(full);
    trace_free(bare);
    return 0;
}
