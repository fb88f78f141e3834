#include "cli/convert/perfetto.h"

#include "base/search.h"
#include "cli/convert/parts.h"

static void add_end(struct perfetto_flow_ends *ends, event_id e, uint32_t number)
{
    *VEC_PUSH(ends) = (struct perfetto_flow_end){ e, number };
}

static uint64_t flow_id(int kind, uint64_t number)
{
    return (uint64_t)kind << FLOW_KIND_SHIFT | number;
}

static void add_launches(struct perfetto_flows *flows, const struct trace *trace, uint64_t *next)
{
    SCOPED_OBJECT struct attribution *launches = attribution_open(trace);
    flows->is_launched = mem_zalloc(trace->event_count / 64 + 1, sizeof *flows->is_launched);
    flows->launches.first_id = flow_id(FLOW_LAUNCH, *next);
    for (event_id e = 0; e < trace->event_count; e++) {
        event_id call = event_is_launched(trace->kind[e]) ? attribution_call(launches, e) : EVENT_NONE;
        if (call == EVENT_NONE)
            continue;
        add_end(&flows->launches, call, e);
        flows->is_launched[e / 64] |= UINT64_C(1) << e % 64;
        flows->arrows++;
    }
    *next += trace->event_count;
}

/* One end of an arrow of the trace, and the operator there. */
struct arrow_end {
    int64_t id, ts_ns;
    event_id event; /* EVENT_NONE: none begins there */
    uint32_t track : 31, is_start : 1;
};

static uint32_t perfetto_flows_file_of(const struct trace *trace, const struct arrow_end *end)
{
    return trace->tracks[end->track].file;
}

/* Let each of the COUNT ends find its operator: the first in the trace that begins there. There are fewer ends than operators. */
static void find_operators(struct arrow_end *ends, size_t count, const struct trace *trace)
{
    SORT_BY(ends, count, i, ends[i].ts_ns);
    SORT_BY(ends, count, i, ends[i].track);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_OP)
            continue;
        uint32_t track = trace->track[e] & INT32_MAX;
        int64_t ns = trace_start_ns(trace, e);
        size_t i = PLACE(k, count, ends[k].track < track || (ends[k].track == track && ends[k].ts_ns < ns));
        for (; i < count && ends[i].track == track && ends[i].ts_ns == ns; i++)
            ends[i].event = ends[i].event == EVENT_NONE ? e : ends[i].event;
    }
}

static const struct key by_id_time[] = { ASC(struct arrow_end, id), ASC(struct arrow_end, ts_ns), KEY_END };

/* Arrows of the trace other than from a launch: from forward to backward. They point to the beginnings of operators. */
static void add_backward(struct perfetto_flows *flows, const struct trace *trace, uint64_t *next)
{
    SCOPED VEC_OF(struct arrow_end) ends = { 0 };
    flows->backward.first_id = flow_id(FLOW_BACKWARD, *next);
    for (size_t i = 0; i < trace->flow_count; i++) {
        const struct trace_flow flow = trace_flow(trace, i);
        if (strncmp(names_text(trace->texts, flow.category), "fwdbwd", 6) == 0)
            *VEC_PUSH(&ends) = (struct arrow_end){ flow.id, flow.ts_ns, EVENT_NONE, flow.track & INT32_MAX,
                                                   flow.phase == 's' };
    }
    if (ends.count) {
        find_operators(ends.at, ends.count, trace);
        SORT(&ends, by_id_time);
        SORT_BY(ends.at, ends.count, i, perfetto_flows_file_of(trace, &ends.at[i]));
    }
    for (size_t i = 0; i + 1 < ends.count; i++) {
        const struct arrow_end *from = &ends.at[i], *to = from + 1;
        if (!from->is_start || to->id != from->id ||
            perfetto_flows_file_of(trace, to) != perfetto_flows_file_of(trace, from) ||
            from->event == EVENT_NONE || to->event == EVENT_NONE)
            continue;
        add_end(&flows->backward, from->event, (uint32_t)i);
        add_end(&flows->backward, to->event, (uint32_t)i);
        flows->arrows++;
    }
    *next += ends.count;
}

static const struct key by_event_number[] = { ASC(struct perfetto_flow_end, event),
                                              ASC(struct perfetto_flow_end, number), KEY_END };

static void sort_ends(struct perfetto_flow_ends *ends)
{
    if (ends->count)
        SORT(ends, by_event_number);
}

void perfetto_flows_find(struct perfetto_flows *flows, const struct trace *trace,
                         struct perfetto_flow_ids *ids, struct perfetto_flow_ends *collectives)
{
    *flows = (struct perfetto_flows){ .collectives = *collectives };
    *collectives = (struct perfetto_flow_ends){ 0 };
    add_launches(flows, trace, &ids->launch);
    add_backward(flows, trace, &ids->backward);
    sort_ends(&flows->launches);
    sort_ends(&flows->backward);
    sort_ends(&flows->collectives);
}

/* One collective on all ranks: from the first of its members to each of the others. */
size_t perfetto_flows_between(struct perfetto_flow_ends *ends, const struct collectives *all)
{
    struct collective_matches *matches = collective_matches_open(all);
    size_t arrows = matches->count;
    ends->first_id = flow_id(FLOW_COLLECTIVE, 0);
    for (size_t m = 0; m < arrows; m++) {
        const struct collective_match *match = &matches->at[m];
        for (size_t i = 0; i < match->count; i++)
            add_end(ends, all->at[matches->member[match->first + i]].event, (uint32_t)m);
    }
    arena_free(matches);
    sort_ends(ends);
    return arrows;
}

size_t perfetto_flows_first(const struct perfetto_flow_ends *ends, event_id e)
{
    return PLACE(i, ends->count, ends->at[i].event < e);
}

/* Those of one kind. *NEXT: where the ends of the next event are likely to be. */
static void append_ends(const struct perfetto_flow_ends *ends, size_t *next, event_id e, struct buffer *out)
{
    size_t i = *next;
    if (i >= ends->count || ends->at[i].event < e || (i > 0 && ends->at[i - 1].event >= e))
        i = perfetto_flows_first(ends, e);
    for (; i < ends->count && ends->at[i].event == e; i++)
        wire_append_fixed64(out, 47, ends->first_id + ends->at[i].number);
    *next = i;
}

void perfetto_flows_append(const struct perfetto_flows *flows, struct perfetto_flow_scan *scan, event_id e,
                           struct buffer *out)
{
    if (flows->is_launched && flows->is_launched[e / 64] >> e % 64 & 1)
        wire_append_fixed64(out, 47, flows->launches.first_id + e);
    append_ends(&flows->launches, &scan->launches, e, out);
    append_ends(&flows->backward, &scan->backward, e, out);
    append_ends(&flows->collectives, &scan->collectives, e, out);
}

void perfetto_flows_release(struct perfetto_flows *flows)
{
    EACH(VEC_FREE, &flows->launches, &flows->backward, &flows->collectives);
    free(flows->is_launched);
    *flows = (struct perfetto_flows){ 0 };
}
