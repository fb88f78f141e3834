#include "derive/host_waits.h"

#include "base/search.h"
#include "base/rows.h"
#include "trace/derived.h"

enum { MOST_STEPS_BACK = 256 };

/* The stream that each call makes wait, by event, if recorded. New, free with free(); NULL: nowhere. */
static track_id *recorded_streams(const struct trace *trace)
{
    track_id *stream = NULL;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_SYNC || trace->tracks[trace->track[e]].stream < 0)
            continue;
        event_id call = attribution_call(attribution_of(trace), e);
        if (call == EVENT_NONE)
            continue;
        if (!stream) {
            stream = mem_alloc(mem_times(trace->event_count + 1, sizeof *stream));
            for (event_id i = 0; i < trace->event_count; i++)
                stream[i] = TRACK_NONE;
        }
        stream[call] = trace->track[e];
    }
    return stream;
}

static void *stream_waits_derive(const struct trace *trace)
{
    struct stream_waits *waits = arena_open(sizeof *waits);
    ARENA_OWNS(arena_of(waits), &waits->at);
    waits->trace = trace;
    size_t name_count = names_count(trace->names);
    bool *is_wait = mem_zalloc(name_count + 1, sizeof *is_wait), any = false;
    for (name_id id = 0; id < name_count; id++)
        any |= is_wait[id] = strstr(names_text(trace->names, id), "StreamWaitEvent") != NULL;
    SCOPED track_id *stream = any ? recorded_streams(trace) : NULL;
    for (event_id e = 0; any && e < trace->event_count; e++)
        if (event_is_call(trace->kind[e]) && is_wait[trace->name[e]])
            *VEC_PUSH(waits) = (struct stream_wait){ e, stream ? stream[e] : TRACK_NONE };
    SORT_BY(waits->at, waits->count, i, trace_start_ns(trace, waits->at[i].call));
    SORT_BY(waits->at, waits->count, i, trace->track[waits->at[i].call]);
    free(is_wait);
    return waits;
}

DERIVED(stream_waits, stream_waits_of, stream_waits_derive);

event_id stream_waits_before(const struct stream_waits *waits, event_id launch, track_id stream,
                             int64_t after_ns)
{
    const struct trace *trace = waits->trace;
    size_t i; /* the first wait that is not before LAUNCH on its thread */
    track_id track = trace->track[launch], of;
    SEARCH(i, waits->count,
           (of = trace->track[waits->at[i].call],
            of < track ||
                (of == track && trace_start_ns(trace, waits->at[i].call) < trace_start_ns(trace, launch))));
    for (size_t steps = 0; i-- > 0 && steps < MOST_STEPS_BACK; steps++) {
        const struct stream_wait *wait = &waits->at[i];
        if (trace->track[wait->call] != trace->track[launch] || trace_start_ns(trace, wait->call) <= after_ns)
            break;
        if (wait->stream == stream || wait->stream == TRACK_NONE)
            return wait->call;
    }
    return EVENT_NONE;
}
