/* The captures of a file are the spans between the calls that begin and end them, which may nest or overlap on several
 * threads; their union counts. */
#include "trace/capture_times.h"

#include "base/runs.h"
#include "trace/call_names.h"
#include "trace/derived.h"

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

struct edges {
    VEC_OF(struct edge);
};

static void find_edges(const struct trace *trace, struct edges *edges)
{
    unsigned char *kinds = call_sorts_open(trace->names);
    for (event_id e = 0; e < trace->event_count; e++) {
        enum call_sort kind = event_is_call(trace->kind[e]) ? kinds[trace->name[e]] : CALL_OTHER;
        uint32_t file = trace->tracks[trace->track[e]].file;
        if (kind == CALL_CAPTURE_BEGIN)
            *VEC_PUSH(edges) = (struct edge){ file, trace_start_ns(trace, e), 1 };
        else if (kind == CALL_CAPTURE_END)
            *VEC_PUSH(edges) = (struct edge){ file, trace_end_ns(trace, e), -1 };
    }
    free(kinds);
    runs_sort(edges->at, edges->count, sizeof *edges->at, comes_behind, NULL);
}

static void *capture_times_derive(const struct trace *trace)
{
    struct capture_times *times = arena_open(sizeof *times);
    times->file_count = trace->file_count;
    times->of_file = arena_vectors(arena_of(times), trace->file_count + 1, sizeof *times->of_file);
    SCOPED struct edges edges = { 0 };
    find_edges(trace, &edges);
    for (size_t first = 0, end; first < edges.count; first = end) {
        struct intervals *captures = &times->of_file[edges.at[first].file];
        int64_t since_ns = INT64_MIN;
        int open = edges.at[first].change < 0; /* it was open when recording began */
        for (end = first; end < edges.count && edges.at[end].file == edges.at[first].file; end++) {
            if (edges.at[end].change > 0 && open++ == 0)
                since_ns = edges.at[end].at_ns;
            if (edges.at[end].change < 0 && open > 0 && --open == 0)
                intervals_add(captures, since_ns, edges.at[end].at_ns);
        }
        if (open)
            intervals_add(captures, since_ns, INT64_MAX);
        intervals_merge(captures);
    }
    return times;
}

const struct capture_times *capture_times_of(const struct trace *trace)
{
    static const struct derivation derivation = { capture_times_derive };
    return trace_derive(trace, &derivation);
}
