#include "whatif/editing.h"

#include "analyze/selection.h"
#include "trace/builder.h"

bool *editing_names(const struct editing *editing, struct tpa_error *err)
{
    char *pattern = mem_strndup(editing->edit->pattern, editing->edit->pattern_len);
    bool *matches = selection_match_names(editing->trace->names, pattern, NULL, err);
    free(pattern);
    return matches;
}

struct name_flags name_flags_of(const struct trace *trace, bool (*are)(const char *name))
{
    struct name_flags names = { trace, mem_zalloc(names_count(trace->names) + 1, sizeof *names.flags) };
    for (name_id id = 0; id < names_count(trace->names); id++)
        names.flags[id] = are(names_text(trace->names, id));
    return names;
}

bool name_flags_has(const void *names, event_id e)
{
    const struct name_flags *flags = names;
    return flags->flags[flags->trace->name[e]];
}

bool editing_piece_is_own(const struct replay_graph *graph, moment_id m)
{
    if (!(graph->has_edges[m / 64] >> (m % 64) & 1))
        return true;
    struct edge_range range = replay_edges_of(graph, m);
    return !ANY_FROM(k, range.first, range.end, replay_edge_at(graph, k).relation == RELATION_ROOM) &&
           replay_binding(graph, m).from == MOMENT_NONE;
}

static int64_t length_of_piece(const struct replay_graph *graph, moment_id m)
{
    return m > 0 && graph->inner[m] != EVENT_NONE
               ? replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1)
               : 0;
}

void editing_scale_piece(const struct editing *editing, moment_id m, double factor)
{
    factors_scale(&editing->changes->piece, m, factor);
    editing->effect->time_ns += length_of_piece(editing->graph, m);
}

void editing_scale_work(const struct editing *editing, size_t i, double factor)
{
    factors_scale(&editing->changes->work, i, factor);
    editing->effect->time_ns += trace_dur_ns(editing->trace, editing->graph->gpu->event[i]);
    editing->effect->count++;
}

bool editing_fits(const struct editing *editing, struct tpa_error *err)
{
    const struct replay_graph *graph = editing->graph;
    const double most_ns = (double)TRACE_LATEST_NS, ns_per_year = 365.25 * 86400e9;
    double sum_ns = 0;
    for (moment_id m = 1; m < graph->host_count; m++) /* between spans, too */
        if (factors_get(&editing->changes->piece, m) > 1 &&
            replay_moment_ns(graph, m) > replay_moment_ns(graph, m - 1))
            sum_ns += (double)factors_get(&editing->changes->piece, m) *
                      (double)(replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1));
    for (size_t i = 0; i < graph->gpu->count; i++)
        if (factors_get(&editing->changes->work, i) > 1)
            sum_ns += (double)factors_get(&editing->changes->work, i) *
                      (double)trace_dur_ns(editing->trace, graph->gpu->event[i]);
    if (sum_ns <= most_ns)
        return true;
    tpa_fail(err, TPA_NOWHERE, "what is scaled would take %.3g years, expected at most %.0f",
             sum_ns / ns_per_year, most_ns / ns_per_year);
    return tpa_hint(err, "use a smaller factor");
}

bool editing_holds(const struct editing *editing, const struct intervals *ranges, event_id call)
{
    uint32_t thread = editing->graph->thread_of_track[editing->trace->track[call]];
    return thread != UINT32_MAX &&
           intervals_contain(&ranges[thread], replay_event_start(editing->graph, call));
}

struct intervals *editing_ranges(const struct editing *editing,
                                 bool (*takes)(const void *context, event_id e), const void *context)
{
    const struct replay_graph *graph = editing->graph;
    struct intervals *ranges = arena_open(mem_times(graph->thread_count + 1, sizeof *ranges));
    ARENA_OWNS_EACH(arena_of(ranges), ranges, graph->thread_count, at);
    for (event_id e = 0; e < editing->trace->event_count; e++) {
        if (editing->trace->kind[e] > EVENT_DRIVER || !takes(context, e) ||
            editing->trace->flags[e] & (EVENT_ASYNC | EVENT_POINT))
            continue;
        uint32_t thread = graph->thread_of_track[editing->trace->track[e]];
        if (thread == UINT32_MAX)
            continue;
        intervals_add(&ranges[thread], replay_event_start(graph, e), replay_event_end(graph, e));
        editing->effect->count++;
    }
    for (size_t t = 0; t < graph->thread_count; t++) {
        intervals_merge(&ranges[t]);
        editing->effect->time_ns += intervals_length(&ranges[t]);
    }
    return ranges;
}

void editing_scale_ranges(const struct editing *editing, const struct intervals *ranges, double factor)
{
    for (size_t t = 0; t < editing->graph->thread_count; t++)
        for (size_t i = 0; i < ranges[t].count; i++)
            changes_scale_range(editing->changes, t, ranges[t].at[i].start_ns, ranges[t].at[i].end_ns,
                                factor);
}
