#include "derive/launch_calls.h"

#include "base/search.h"
#include "base/stats.h"
#include "trace/call_names.h"
#include "derive/gpu_events.h"
#include "trace/derived.h"

static void launch_calls_find_calls(const struct trace *trace, struct launch_calls *calls)
{
    SCOPED unsigned char *kinds = call_sorts_open(trace->names);
    for (event_id e = 0; e < trace->event_count; e++) {
        enum call_sort kind = event_is_call(trace->kind[e]) ? kinds[trace->name[e]] : CALL_OTHER;
        if (kind == CALL_LAUNCH || kind == CALL_GRAPH_LAUNCH)
            *VEC_PUSH(calls) = (struct launch_call){ .call = e, .is_graph = kind == CALL_GRAPH_LAUNCH };
    }
}

/* The call E among CALLS, which are in order of their ids; NULL: not among them. NEAR: where the one before was looked for. */
static struct launch_call *call_at(struct launch_calls *calls, event_id e, size_t *near)
{
    size_t i = PLACE_NEAR(k, *near, calls->count, calls->at[k].call < e);
    *near = i;
    return i < calls->count && calls->at[i].call == e ? &calls->at[i] : NULL;
}

static void mark(const struct trace *trace, struct launch_calls *calls)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    size_t near = 0;
    for (size_t i = 0; i < gpu->count; i++) {
        struct launch_call *call = gpu->call[i] == EVENT_NONE ? NULL : call_at(calls, gpu->call[i], &near);
        if (call)
            call->has_work = true;
    }
    const struct capture_times *times = capture_times_of(trace);
    FOR_EACH(call, calls) {
        const struct intervals *captures = &times->of_file[trace->tracks[trace->track[call->call]].file];
        call->captured = !call->has_work && captures->count &&
                         intervals_contain(captures, trace_start_ns(trace, call->call));
    }
}

static void *launch_calls_derive(const struct trace *trace)
{
    struct launch_calls *calls = arena_open(sizeof *calls);
    ARENA_OWNS(arena_of(calls), &calls->at);
    launch_calls_find_calls(trace, calls);
    mark(trace, calls);
    return calls;
}

DERIVED(launch_calls, launch_calls_of, launch_calls_derive);

int64_t launch_calls_median_ns(const struct launch_calls *calls, const struct trace *trace)
{
    SCOPED VEC_OF(int64_t) durations = { 0 };
    for (size_t i = 0; i < calls->count; i++)
        if (!calls->at[i].is_graph && !calls->at[i].captured)
            *VEC_PUSH(&durations) = trace_dur_ns(trace, calls->at[i].call);
    return stats_of(durations.at, durations.count).median;
}
