/*
 * launch_calls.c - see launch_calls.h.
 *
 * The captures of a file are the spans between the calls that begin and end them, which may nest or overlap on several
 * threads; their union counts.
 */
#include "facts/launch_calls.h"

#include "base/runs.h"
#include "base/search.h"
#include "base/stats.h"
#include "facts/call_names.h"
#include "facts/gpu_events.h"
#include "trace/derived.h"
#include "trace/intervals.h"
#include <stdlib.h>

/* A capture begins at the start of its first call, and ends at the end of the call that ends it. */
struct edge {
    uint32_t file;
    int64_t at_ns;
    int change; /* change in the number of open captures */
};

static bool comes_behind(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct edge *a = left, *b = right;
    return a->file != b->file ? a->file > b->file : a->at_ns > b->at_ns;
}

struct finding {
    const struct trace *trace;
    struct launch_calls *calls;
    VEC_OF(struct edge) edges;
    struct intervals *captures; /* by file */
};

static void find_calls(struct finding *finding)
{
    const struct trace *trace = finding->trace;
    unsigned char *kinds = call_sorts_open(trace->names);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!event_is_call(trace->kind[e]))
            continue;
        enum call_sort kind = kinds[trace->name[e]];
        uint32_t file = trace->tracks[trace->track[e]].file;
        if (kind == CALL_LAUNCH || kind == CALL_GRAPH_LAUNCH)
            *VEC_PUSH(finding->calls) =
                (struct launch_call){ .call = e, .is_graph = kind == CALL_GRAPH_LAUNCH };
        else if (kind == CALL_CAPTURE_BEGIN)
            *VEC_PUSH(&finding->edges) = (struct edge){ file, trace_start_ns(trace, e), 1 };
        else if (kind == CALL_CAPTURE_END)
            *VEC_PUSH(&finding->edges) = (struct edge){ file, trace_end_ns(trace, e), -1 };
    }
    free(kinds);
}

static void find_captures(struct finding *finding)
{
    const struct edge *edges = finding->edges.at;
    runs_sort(finding->edges.at, finding->edges.count, sizeof *edges, comes_behind, NULL);
    for (size_t first = 0, end; first < finding->edges.count; first = end) {
        struct intervals *captures = &finding->captures[edges[first].file];
        int64_t since_ns = INT64_MIN;
        int open = edges[first].change < 0; /* it was open when recording began */
        for (end = first; end < finding->edges.count && edges[end].file == edges[first].file; end++) {
            if (edges[end].change > 0 && open++ == 0)
                since_ns = edges[end].at_ns;
            if (edges[end].change < 0 && open > 0 && --open == 0)
                intervals_add(captures, since_ns, edges[end].at_ns);
        }
        if (open)
            intervals_add(captures, since_ns, INT64_MAX);
        intervals_merge(captures);
    }
}

/* The call E among CALLS, which are in order of their ids; NULL: not among them. */
static struct launch_call *call_at(struct launch_calls *calls, event_id e)
{
    size_t low;
    SEARCH(low, calls->count, calls->at[low].call < e);
    return low < calls->count && calls->at[low].call == e ? &calls->at[low] : NULL;
}

static void mark(struct finding *finding)
{
    const struct trace *trace = finding->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    for (size_t i = 0; i < gpu->count; i++) {
        struct launch_call *call = gpu->call[i] == EVENT_NONE ? NULL : call_at(finding->calls, gpu->call[i]);
        if (call)
            call->has_work = true;
    }
    for (size_t i = 0; i < finding->calls->count; i++) {
        struct launch_call *call = &finding->calls->at[i];
        const struct intervals *captures = &finding->captures[trace->tracks[trace->track[call->call]].file];
        call->captured = !call->has_work && captures->count &&
                         intervals_contain(captures, trace_start_ns(trace, call->call));
    }
}

static void *derive(const struct trace *trace)
{
    struct finding finding = { .trace = trace,
                               .calls = mem_zalloc(1, sizeof *finding.calls),
                               .captures = mem_zalloc(trace->file_count + 1, sizeof *finding.captures) };
    find_calls(&finding);
    find_captures(&finding);
    mark(&finding);
    VEC_FREE(&finding.edges);
    finding.calls->captures = finding.captures;
    finding.calls->file_count = trace->file_count;
    return finding.calls;
}

static void release(void *context)
{
    struct launch_calls *calls = context;
    for (size_t file = 0; file < calls->file_count; file++)
        intervals_release(&calls->captures[file]);
    free(calls->captures);
    VEC_FREE(calls);
    free(calls);
}

const struct launch_calls *launch_calls_of(const struct trace *trace)
{
    static const struct derivation derivation = { derive, release };
    return trace_derive(trace, &derivation);
}

int64_t launch_calls_median_ns(const struct launch_calls *calls, const struct trace *trace)
{
    VEC_OF(int64_t) durations = { 0 };
    for (size_t i = 0; i < calls->count; i++)
        if (!calls->at[i].is_graph && !calls->at[i].captured)
            *VEC_PUSH(&durations) = trace_dur_ns(trace, calls->at[i].call);
    int64_t median_ns = stats_of(durations.at, durations.count).median;
    VEC_FREE(&durations);
    return median_ns;
}
