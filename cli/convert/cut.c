/* cut.c - a part of a trace; see part.h. */
#include "base/rows.h"
#include "cli/convert/part.h"

#include "base/search.h"
#include "trace/slice.h"

bool convert_is_cut(const struct selection_query *query)
{
    return query->filter || query->exclude || query->range || query->steps.count || query->devices.count ||
           query->streams.count || query->ranks.count;
}

/* ---- arrows ---- */

/* An event that stays. The latest end of it and those before it on its track. */
struct touched {
    track_id track;
    int64_t start_ns, end_ns;
};

static const struct key by_track_start[] = { ASC(struct touched, track), ASC(struct touched, start_ns),
                                             KEY_END };

struct touching {
    VEC_OF(struct touched);
};

static struct touching list_touching(const struct trace *trace, const bool *events)
{
    struct touching touching = { 0 };
    SCOPED bool *has_flow = mem_zalloc(trace->track_count + 1, sizeof *has_flow);
    for (size_t i = 0; i < trace->flow_count; i++)
        has_flow[trace_flow(trace, i).track] = true;
    for (event_id e = 0; e < trace->event_count; e++)
        if (events[e] && has_flow[trace->track[e]])
            *VEC_PUSH(&touching) =
                (struct touched){ trace->track[e], trace_start_ns(trace, e), trace_end_ns(trace, e) };
    SORT(&touching, by_track_start);
    for (size_t i = 1; i < touching.count; i++)
        if (touching.at[i].track == touching.at[i - 1].track &&
            touching.at[i].end_ns < touching.at[i - 1].end_ns)
            touching.at[i].end_ns = touching.at[i - 1].end_ns;
    return touching;
}

static bool touches(const struct touching *touching, const struct trace_flow *flow)
{
    size_t i = 0;
    SEARCH(i, touching->count,
           touching->at[i].track < flow->track ||
               (touching->at[i].track == flow->track && touching->at[i].start_ns <= flow->ts_ns));
    return i > 0 && touching->at[i - 1].track == flow->track && touching->at[i - 1].end_ns >= flow->ts_ns;
}

/* Ends that have an event, by what makes them one arrow. */
struct loose_end {
    size_t flow;
    name_id category;
    /* ids are local to a file, except for arrows between files, which have their own category */
    uint32_t file;
    int64_t id;
    bool begins;
};

static const struct key by_arrow[] = { ASC(struct loose_end, category), ASC(struct loose_end, file),
                                       ASC(struct loose_end, id), KEY_END };

/* New, by flow. */
static bool *find_flows(const struct trace *trace, const bool *events)
{
    bool *keep = mem_zalloc(trace->flow_count + 1, sizeof *keep);
    SCOPED struct touching touching = list_touching(trace, events);
    name_id between = names_find(trace->texts, CONVERT_COLLECTIVE, strlen(CONVERT_COLLECTIVE));
    SCOPED VEC_OF(struct loose_end) ends = { 0 };
    for (size_t i = 0; i < trace->flow_count; i++) {
        const struct trace_flow flow = trace_flow(trace, i);
        uint32_t file = flow.category == between ? 0 : trace->tracks[flow.track].file;
        if (touches(&touching, &flow))
            *VEC_PUSH(&ends) = (struct loose_end){ i, flow.category, file, flow.id, flow.phase == 's' };
    }
    SORT(&ends, by_arrow);
    FOR_RUNS(first, end, ends.count, rows_compare(&ends.at[first], &ends.at[end], by_arrow) == 0) {
        bool begins = false, goes_on = false;
        for (size_t i = first; i < end; i++) {
            begins |= ends.at[i].begins;
            goes_on |= !ends.at[i].begins;
        }
        for (size_t i = first; i < end; i++)
            keep[ends.at[i].flow] = begins && goes_on;
    }
    return keep;
}

/* ---- the rest ---- */

/* New, by sample. */
static bool *find_samples(const struct trace *trace, const struct selection *selection)
{
    bool *keep = mem_zalloc(trace->sample_count + 1, sizeof *keep);
    SCOPED bool *named =
        selection->names ? selection_match_names(trace->texts, selection->filter, selection->exclude, NULL)
                         : NULL;
    for (size_t i = 0; i < trace->sample_count; i++) {
        const struct trace_sample *sample = &trace->samples[i];
        keep[i] = selection_holds_track(selection, sample->track) &&
                  selection_holds_time(selection, trace->tracks[sample->track].file, sample->ts_ns) &&
                  (!named || named[sample->counter]);
    }
    return keep;
}

bool convert_cut(struct trace *trace, const struct selection_query *query, struct buffer *summary,
                 struct tpa_error *err)
{
    if (!convert_is_cut(query))
        return true;
    struct selection *selection = selection_open(trace, query, err);
    if (!selection)
        return false;
    size_t before = trace->event_count, kept = 0;
    bool *events = mem_zalloc(before + 1, sizeof *events);
    for (event_id e = 0; e < before; e++)
        kept += events[e] = selection_holds(selection, e);
    bool *flows = find_flows(trace, events), *samples = find_samples(trace, selection);
    bool *files =
        /* taken: the selection refers to the unchanged trace, and is freed before that changes */
        selection->files;
    selection->files = NULL;
    arena_free(selection);
    if (kept)
        trace_keep(trace, &(struct trace_part){ events, files, flows, samples });
    EACH(free, files, events, flows, samples);
    if (!kept)
        return tpa_fail(err, TPA_NOWHERE, "no event is selected, so there is nothing to write");
    buffer_printf(summary, "%zu of %zu events are selected\n", kept, before);
    return true;
}
