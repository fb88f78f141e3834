#include "derive/unlinked_work.h"

#include "trace/derived.h"

struct unlinked_work {
    const struct trace *trace;
    int64_t *since_ns; /* by track: from when on the calls of its work are in the file; INT64_MIN: always */
};

static void *unlinked_work_derive(const struct trace *trace)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    struct unlinked_work *unlinked = arena_open(sizeof *unlinked);
    ARENA_OWNS(arena_of(unlinked), &unlinked->since_ns);
    SCOPED int64_t *of_file = mem_alloc(mem_times(trace->file_count + 1, sizeof *of_file));
    unlinked->trace = trace;
    unlinked->since_ns = mem_alloc(mem_times(trace->track_count + 1, sizeof *unlinked->since_ns));
    for (uint32_t f = 0; f < trace->file_count; f++)
        of_file[f] = INT64_MAX;
    for (track_id t = 0; t < trace->track_count; t++)
        unlinked->since_ns[t] = INT64_MAX;
    for (size_t i = 0; i < gpu->count; i++) {
        track_id track = trace->track[gpu->event[i]];
        int64_t start_ns = trace_start_ns(trace, gpu->event[i]),
                *first_ns = &of_file[trace->tracks[track].file];
        if (gpu->call[i] == EVENT_NONE)
            continue;
        unlinked->since_ns[track] =
            start_ns < unlinked->since_ns[track] ? start_ns : unlinked->since_ns[track];
        *first_ns = start_ns < *first_ns ? start_ns : *first_ns;
    }
    for (track_id t = 0; t < trace->track_count; t++) {
        int64_t first_ns = of_file[trace->tracks[t].file];
        if (unlinked->since_ns[t] == INT64_MAX)
            unlinked->since_ns[t] = first_ns == INT64_MAX ? INT64_MIN : first_ns;
    }
    return unlinked;
}

DERIVED(unlinked_work, unlinked_work_of, unlinked_work_derive);

enum unlinked_sort unlinked_sort_of(const struct unlinked_work *unlinked, event_id e)
{
    const struct trace *trace = unlinked->trace;
    int64_t number;
    if (!trace_arg(trace, ARG_CORRELATION, e, &number))
        return UNLINKED_NO_NUMBER;
    return trace_start_ns(trace, e) < unlinked->since_ns[trace->track[e]] ? UNLINKED_EARLY : UNLINKED_LOST;
}
