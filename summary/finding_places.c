#include "summary/finding_places.h"

#include "base/runs.h"
#include "base/sum.h"
#include "trace/call_names.h"
#include "trace/derived.h"
#include "derive/callers.h"
#include "summary/findings.h"
#include <math.h>

/* What the events of a name took in all; the first of them, and the first of those that took most. */
struct named_time {
    int64_t time_ns, longest_ns;
    event_id first, longest; /* EVENT_NONE: there are none */
};

struct named_times {
    uint64_t names;
    struct named_time at[]; /* by name */
};

static struct named_times *named_times_open(const struct trace *trace)
{
    size_t count = names_count(trace->names);
    struct named_times *times = arena_open(sizeof *times + mem_times(count, sizeof *times->at));
    times->names = count;
    for (name_id id = 0; id < count; id++)
        times->at[id] = (struct named_time){ 0, -1, EVENT_NONE, EVENT_NONE };
    for (event_id e = 0; e < trace->event_count; e++) {
        struct named_time *of = &times->at[trace->name[e]];
        int64_t dur_ns = trace_dur_ns(trace, e);
        if (of->first == EVENT_NONE)
            of->first = e;
        sum_add(&of->time_ns, dur_ns);
        if (dur_ns > of->longest_ns) {
            of->longest = e;
            of->longest_ns = dur_ns;
        }
    }
    return times;
}

/* Computed once, as most rules ask for a place. */
static const struct named_times *named_times_of(const struct trace *trace);
DERIVED(named_times, named_times_of, named_times_open);

/* Whether an event is in the place may depend on its name alone, and names are few: HOLDS is called once for each. */
struct place place_find(const struct trace *trace, place_holds *holds)
{
    const struct named_times *times = named_times_of(trace);
    struct place place = { .longest = EVENT_NONE, .name = NAME_NONE };
    for (name_id id = 0; id < times->names; id++) {
        const struct named_time *of = &times->at[id];
        if (of->first == EVENT_NONE || !holds(trace, of->first))
            continue;
        sum_add(&place.all_ns, of->time_ns);
        if (place.name == NAME_NONE || of->time_ns > place.time_ns) {
            place.time_ns = of->time_ns;
            place.name = id;
            place.longest = of->longest;
        }
    }
    return place;
}

/* The calls behind the events of a place, and what they took: parallel arrays. */
struct place_calls {
    VEC_OF(event_id) calls, events;
};

static struct place_calls calls_of(const struct trace *trace, const struct place *place)
{
    const struct attribution *launches = attribution_of(trace);
    struct place_calls found = { 0 };
    for (event_id e = 0; e < trace->event_count; e++) {
        if (trace->name[e] != place->name || trace->kind[e] != trace->kind[place->longest])
            continue;
        event_id call = event_on_device((enum event_kind)trace->kind[e]) ? attribution_call(launches, e) : e;
        if (call == EVENT_NONE)
            continue;
        *VEC_PUSH(&found.calls) = call;
        *VEC_PUSH(&found.events) = e;
    }
    return found;
}

/* What the operator of CALL is called; NAME_NONE: there is none around it. */
static name_id operator_around(const struct trace *trace, const struct callers *callers, event_id call)
{
    event_id op = callers_operator(callers, call);
    return op == EVENT_NONE || op == call ? NAME_NONE : trace->name[op];
}

/* Add ", BY OPERATOR" and the line of CALL to OUT, as far as they are known. */
static void add_caller(const struct trace *trace, const struct callers *callers, event_id call,
                       const char *by, struct buffer *out)
{
    name_id op = operator_around(trace, callers, call);
    size_t len = 0;
    const char *line = callers_line(callers, call, &len);
    if (op != NAME_NONE)
        buffer_printf(out, "%s%s %s", out->count ? ", " : "", by, names_text(trace->names, op));
    if (line)
        buffer_printf(out, "%s%.*s", out->count ? ", " : "", (int)len, line);
}

void place_add_caller_of(const struct trace *trace, event_id call, struct buffer *out)
{
    struct callers *callers = callers_open(trace, &call, 1);
    add_caller(trace, callers, call, "by", out);
    arena_free(callers);
}

/* What the events of a place took in all, and in calls of one operator, or of none. */
struct caller_sum {
    int64_t time_ns, longest_ns;
    event_id call; /* of the longest */
};

void place_add_caller(const struct trace *trace, const struct place *place, struct buffer *out)
{
    struct place_calls found = calls_of(trace, place);
    struct callers *callers =
        found.calls.count ? callers_open(trace, found.calls.at, found.calls.count) : NULL;
    size_t none = names_count(trace->names), most = none;
    struct caller_sum *sums = mem_zalloc(none + 1, sizeof *sums);
    int64_t all_ns = 0;
    for (size_t i = 0; i < found.calls.count; i++) {
        name_id op = operator_around(trace, callers, found.calls.at[i]);
        size_t at = op == NAME_NONE ? none : op;
        int64_t dur_ns = trace_dur_ns(trace, found.events.at[i]);
        if (sums[at].time_ns == 0 || dur_ns > sums[at].longest_ns) {
            sums[at].longest_ns = dur_ns;
            sums[at].call = found.calls.at[i];
        }
        sums[at].time_ns += dur_ns;
        all_ns += dur_ns;
        if (sums[at].time_ns > sums[most].time_ns)
            most = at;
    }
    if (all_ns > 0)
        add_caller(trace, callers, sums[most].call,
                   sums[most].time_ns > all_ns - sums[most].time_ns ? "mostly by" : "the most by", out);
    arena_free(callers);
    free(sums);
    EACH(VEC_FREE, &found.calls, &found.events);
}

/* The calls of a name; the first call that launched a kernel of that name. */
struct first_calls {
    int64_t count, all_ns;
    event_id first, launch;
};

static bool begins_before(const struct trace *trace, event_id a, event_id b)
{
    return b == EVENT_NONE || trace_start_ns(trace, a) < trace_start_ns(trace, b);
}

/* By name; new, free(). Calls that wait are left out. */
static struct first_calls *first_calls_of(const struct trace *trace)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    size_t name_count = names_count(trace->names);
    struct first_calls *calls = mem_zalloc(name_count + 1, sizeof *calls);
    unsigned char *sorts = call_sorts_open(trace->names);
    for (name_id id = 0; id < name_count; id++)
        calls[id].first = calls[id].launch = EVENT_NONE;
    for (event_id e = 0; e < trace->event_count; e++) {
        struct first_calls *of = &calls[trace->name[e]];
        unsigned char sort = sorts[trace->name[e]];
        if (!event_is_call((enum event_kind)trace->kind[e]) || sort == CALL_SYNC || sort == CALL_COPY_SYNC)
            continue;
        of->count++;
        of->all_ns += trace_dur_ns(trace, e);
        of->first = begins_before(trace, e, of->first) ? e : of->first;
    }
    for (size_t i = 0; i < gpu->count; i++) {
        struct first_calls *of = &calls[trace->name[gpu->event[i]]];
        if (gpu->call[i] != EVENT_NONE && sorts[trace->name[gpu->call[i]]] == CALL_LAUNCH)
            of->launch = begins_before(trace, gpu->call[i], of->launch) ? gpu->call[i] : of->launch;
    }
    free(sorts);
    return calls;
}

event_id place_first_use(const struct trace *trace)
{
    enum { TIMES_USUAL = 10 };
    struct first_calls *calls = first_calls_of(trace);
    event_id longest = EVENT_NONE;
    for (name_id id = 0; id < names_count(trace->names); id++) {
        const event_id firsts[] = { calls[id].first, calls[id].launch };
        for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
            event_id e = firsts[i];
            if (e == EVENT_NONE)
                continue;
            const struct first_calls *of = &calls[trace->name[e]];
            int64_t dur_ns = trace_dur_ns(trace, e);
            int64_t usual_ns = of->count > 1 ? (of->all_ns - dur_ns) / (of->count - 1) : 0;
            if (dur_ns / TIMES_USUAL > usual_ns &&
                (longest == EVENT_NONE || dur_ns > trace_dur_ns(trace, longest)))
                longest = e;
        }
    }
    free(calls);
    return longest;
}

/* "37.0 to 42.4 % of the time of 16 of 16 ranks, most of rank 0": SHARES of the time of each rank. Nothing for a single one. */
void shares_add_ranks(const struct summary *summary, const double *shares, struct buffer *out)
{
    size_t worst = 0, found = 0;
    double least = INFINITY;
    if (summary->rank_count < 2)
        return;
    for (size_t r = 0; r < summary->rank_count; r++) {
        if (!(shares[r] >= FINDINGS_LEAST_SHARE))
            continue;
        found++;
        least = fmin(least, shares[r]);
        worst = shares[r] > shares[worst] ? r : worst;
    }
    if (found == 0)
        return;
    buffer_printf(out, "%s%.1f", out->count ? "; " : "", quantity_percent(least));
    if (shares[worst] > least)
        buffer_printf(out, " to %.1f", quantity_percent(shares[worst]));
    buffer_printf(out, " %% of the time of %zu of %zu ranks, most of rank %lld", found, summary->rank_count,
                  (long long)summary->ranks[worst].rank);
}

/* By rank, the share of its time that the events of HOLDS took; all 0 where there is one rank, of which nothing is
 * said. New; free(). HOLDS depends on name and kind alone, so it is called once for each pair: calls for every
 * kernel took a sixth of `tpa summary`. */
double *shares_of_ranks(const struct summary *summary, place_holds *holds)
{
    const struct trace *trace = summary->trace;
    double *shares = mem_zalloc(summary->rank_count + 1, sizeof *shares);
    if (summary->rank_count < 2)
        return shares;
    enum { NOT_CHECKED, NO, YES };
    uint8_t *answers = mem_zalloc(names_count(trace->names) + 1, EVENT_KINDS);
    for (event_id e = 0; e < trace->event_count; e++) {
        uint8_t *answer = &answers[(size_t)trace->name[e] * EVENT_KINDS + trace->kind[e]];
        if (*answer == NOT_CHECKED)
            *answer = holds(trace, e) ? YES : NO;
        if (*answer == NO)
            continue;
        const struct summary_rank *rank =
            summary_rank_of(summary, selection_rank(trace, trace->tracks[trace->track[e]].file));
        if (rank && rank->time_ns > 0)
            shares[rank - summary->ranks] += (double)trace_dur_ns(trace, e) / (double)rank->time_ns;
    }
    free(answers);
    return shares;
}

/* By rank, the share of the span of its devices in which they idled for CAUSES. New; free(). */
double *shares_of_idle_time(const struct summary *summary, const enum gap_cause *causes, size_t count)
{
    double *shares = mem_zalloc(summary->rank_count + 1, sizeof *shares);
    double *spans = mem_zalloc(summary->rank_count + 1, sizeof *spans);
    for (size_t i = 0; i < summary->gpu->count; i++) {
        const struct summary_rank *rank = summary_rank_of(summary, summary->gpu->at[i].key.rank);
        if (rank)
            spans[rank - summary->ranks] += (double)summary->gpu->at[i].span_ns;
    }
    for (size_t i = 0; i < summary->gaps->cause_count; i++) {
        const struct gap_cause_row *row = &summary->gaps->causes[i];
        const struct summary_rank *rank = summary_rank_of(summary, row->key.rank);
        for (size_t c = 0; rank && c < count; c++)
            if (row->cause == causes[c] && spans[rank - summary->ranks] > 0)
                shares[rank - summary->ranks] += (double)row->time_ns / spans[rank - summary->ranks];
    }
    free(spans);
    return shares;
}

struct rank_excess rank_excess_of(const struct summary *summary, int64_t rank)
{
    const struct trace *trace = summary->trace;
    const double nearly_all = 0.8;
    struct rank_excess excess = { NAME_NONE, 0 };
    size_t name_count = names_count(trace->names), others = summary->rank_count - 1;
    double *own = mem_zalloc(name_count + 1, sizeof *own), *rest = mem_zalloc(name_count + 1, sizeof *rest);
    double most = 0;
    if (summary->rank_count < 2)
        others = 1;
    for (event_id e = 0; e < trace->event_count; e++) {
        bool is_own = selection_rank(trace, trace->tracks[trace->track[e]].file) == rank;
        (is_own ? own : rest)[trace->name[e]] += (double)trace_dur_ns(trace, e);
    }
    for (name_id id = 0; id < name_count; id++)
        most = fmax(most, own[id] - rest[id] / (double)others);
    for (name_id id = 0; id < name_count && most > 0; id++) {
        double longer = own[id] - rest[id] / (double)others;
        if (longer < nearly_all * most || (excess.name != NAME_NONE && own[id] > own[excess.name]))
            continue;
        excess = (struct rank_excess){ id, (int64_t)fmin(longer, 9.2e18) };
    }
    EACH(free, own, rest);
    return excess;
}

int64_t idle_time_for(const struct summary *summary, const enum gap_cause *causes, size_t count)
{
    int64_t sum_ns = 0;
    for (size_t c = 0; summary->gaps && c < count; c++)
        sum_ns += summary->gaps->part_ns[causes[c]];
    return sum_ns;
}
