#include "cli/convert/parts.h"

#include "trace/arg_rows.h"
#include "trace/arg_scan.h"

enum { EVENTS_AT_ONCE = 8192, BYTES_AN_EVENT = 8 << 10, BYTES_AT_ONCE = 256 << 20 };
#define BYTES_ALWAYS_FINE (UINT64_C(1) << 30)

struct sizes {
    const struct trace *trace;
    uint64_t *of_track; /* size of the place of an event */
    enum trace_arg args[ARG_COUNT];
    struct arg_scan scans[ARG_COUNT];
    size_t arg_count; /* texts */
};

static void size_find_args(struct sizes *sizes)
{
    for (int arg = 0; arg < ARG_COUNT; arg++)
        if (sizes->trace->args[arg].count &&
            (arg_rows[arg].form == FORM_TEXT || arg_rows[arg].form == FORM_JSON)) {
            sizes->args[sizes->arg_count] = (enum trace_arg)arg;
            sizes->scans[sizes->arg_count++] = arg_scan_of(sizes->trace, (enum trace_arg)arg);
        }
}

static void find_places(struct sizes *sizes)
{
    const struct trace *trace = sizes->trace;
    sizes->of_track = mem_alloc(mem_times(trace->track_count + 1, sizeof *sizes->of_track));
    for (track_id t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        const name_id texts[] = { track->pid_text, track->tid_text, track->process_name, track->thread_name };
        sizes->of_track[t] = 0;
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            sizes->of_track[t] += names_length(trace->texts, texts[i]);
    }
}

static uint64_t size_of(struct sizes *sizes, event_id e)
{
    const struct trace *trace = sizes->trace;
    uint64_t bytes = names_length(trace->names, trace->name[e]) + sizes->of_track[trace->track[e]] +
                     names_length(trace->texts, trace->categories[trace->category[e]].text);
    int64_t value;
    for (size_t i = 0; i < sizes->arg_count; i++)
        if (arg_scan_get(&sizes->scans[i], e, &value))
            bytes += names_length(trace->texts, (name_id)value);
    return bytes;
}

/* Texts that the input itself repeats for each event: not more than its size. */
static uint64_t recorded_bytes(const struct trace *trace)
{
    uint64_t bytes = 0;
    for (size_t f = 0; f < trace->file_count; f++)
        if (!trace->files[f].container && trace->files[f].size > 0)
            bytes += (uint64_t)trace->files[f].size;
    return bytes;
}

static bool refuse(uint64_t bytes, size_t events, struct tpa_error *err)
{
    tpa_fail(err, TPA_NOWHERE,
             "the texts of %zu events, which the input holds once, are %.1f GB where each event has its own",
             events, (double)bytes / 1e9);
    return tpa_hint(
        err,
        "is the file from an untrusted source? --max-ratio 0 writes it nevertheless; .tpa and Perfetto's "
        "form keep each text once");
}

bool convert_check_size(const struct trace *trace, const struct convert_args *args, struct tpa_error *err)
{
    /* Quick check: all texts in every event would be little for most traces. */
    uint64_t all = names_bytes(trace->names) + names_bytes(trace->texts);
    if (args->load.max_ratio == 0 || trace->event_count < BYTES_ALWAYS_FINE / (all + 1) / ARG_COUNT)
        return true;
    struct sizes sizes = { .trace = trace };
    size_find_args(&sizes);
    find_places(&sizes);
    uint64_t bytes = 0, recorded = recorded_bytes(trace);
    bool good = true;
    for (event_id e = 0; e < trace->event_count && good;) {
        uint64_t before = bytes;
        size_t end = e + EVENTS_AT_ONCE < trace->event_count ? e + EVENTS_AT_ONCE : trace->event_count;
        for (; e < end; e++)
            bytes += size_of(&sizes, e);
        good = bytes <= recorded ||
               (bytes - before <= BYTES_AT_ONCE &&
                (bytes <= BYTES_ALWAYS_FINE || bytes / BYTES_AN_EVENT <= trace->event_count));
    }
    free(sizes.of_track);
    return good || refuse(bytes, trace->event_count, err);
}
