/*
 * fuzz_chrome.c - any bytes as a trace, read twice: in one window and by shapes, then the careful way in
 * small windows on three threads. Neither may crash, and both must give the same events.
 */
#include "tests/fuzz/fuzz.h"

extern const struct format format_chrome;

static struct trace *read_windows(const uint8_t *data, size_t size, unsigned workers, size_t window,
                                  bool careful)
{
    struct ingest_options options = {
        .wants = want_everything(), .workers = workers, .careful = careful, .window_size = window
    };
    return read_bytes_as(&format_chrome, data, size, &options, &(struct tpa_error){ 0 });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace *whole = read_windows(data, size, 1, 0, false);
    /* Many windows, but not tens of thousands. */
    struct trace *parts = read_windows(data, size, 3, 61 + size / 256, true);
    must((whole == NULL) == (parts == NULL));
    if (whole) {
        size_t count = whole->event_count;
        must(count == parts->event_count && whole->flow_count == parts->flow_count);
        must(whole->sample_count == parts->sample_count && whole->notice_count == parts->notice_count);
        for (int arg = 0; arg < ARG_COUNT; arg++) {
            must(whole->args[arg].count == parts->args[arg].count);
            for (event_id e = 0; e < count && whole->args[arg].count; e++)
                must(trace_arg_or(whole, (enum trace_arg)arg, e, -77) ==
                     trace_arg_or(parts, (enum trace_arg)arg, e, -77));
        }
        if (count) {
            must(memcmp(whole->category, parts->category, count * sizeof *whole->category) == 0);
            must(memcmp(whole->flags, parts->flags, count) == 0);
            for (event_id e = 0; e < count; e++)
                must(trace_start_ns(whole, e) == trace_start_ns(parts, e) &&
                     trace_dur_ns(whole, e) == trace_dur_ns(parts, e));
            must(memcmp(whole->name, parts->name, count * sizeof *whole->name) == 0);
            must(memcmp(whole->track, parts->track, count * sizeof *whole->track) == 0);
        }
        for (size_t i = 0; i < whole->sample_count; i++) {
            const struct trace_sample *a = &whole->samples[i], *b = &parts->samples[i];
            must(a->ts_ns == b->ts_ns && a->counter == b->counter && a->track == b->track);
            must(memcmp(&a->value, &b->value, sizeof a->value) == 0);
        }
        for (size_t i = 0; i < whole->notice_count; i++)
            must(whole->notices[i].count == parts->notices[i].count &&
                 whole->notices[i].offset == parts->notices[i].offset);
    }
    trace_free(whole);
    trace_free(parts);
    return 0;
}
