#include "summary/finding_places.h"

#include "base/rows.h"
#include "base/runs.h"
#include "base/sum.h"
#include "trace/call_names.h"
#include "trace/derived.h"
#include "trace/step_name.h"
#include "derive/callers.h"
#include "derive/gpu_events.h"
#include "derive/gpu_names.h"
#include "derive/host_waits.h"
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

/* The calls of a name, and those of them that are no first use; the first call that launched a kernel of that name. */
struct first_calls {
    int64_t count, all_ns, later, later_ns;
    event_id first, launch; /* first: of calls that load modules, each of which is a first use, the longest */
    bool loads;
};

struct first_use {
    event_id call;
};

static bool begins_before(const struct trace *trace, event_id a, event_id b)
{
    return b == EVENT_NONE || trace_start_ns(trace, a) < trace_start_ns(trace, b);
}

static const struct key by_event[] = { ASC(struct first_use, call), KEY_END };

/* A call may be the first of its name, and of several kernels: it is counted once. */
static void count_later_calls(const struct trace *trace, struct first_calls *calls, size_t name_count)
{
    struct first_use *uses = mem_alloc(mem_times(2 * name_count + 1, sizeof *uses));
    size_t count = 0;
    for (name_id id = 0; id < name_count; id++) {
        calls[id].later = calls[id].count;
        calls[id].later_ns = calls[id].all_ns;
        if (calls[id].first != EVENT_NONE)
            uses[count++].call = calls[id].first;
        if (calls[id].launch != EVENT_NONE)
            uses[count++].call = calls[id].launch;
    }
    SORT_ARRAY(uses, count, by_event);
    count = rows_unique(uses, count, sizeof *uses, by_event);
    FOR_EACH_OF(use, uses, count) {
        calls[trace->name[use->call]].later--;
        calls[trace->name[use->call]].later_ns -= trace_dur_ns(trace, use->call);
    }
    free(uses);
}

/* By name; new, free(). Calls that wait are left out. */
static struct first_calls *first_calls_of(const struct trace *trace)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    size_t name_count = names_count(trace->names);
    struct first_calls *calls = mem_zalloc(name_count + 1, sizeof *calls);
    unsigned char *sorts = call_sorts_open(trace->names);
    for (name_id id = 0; id < name_count; id++)
        calls[id] = (struct first_calls){ .first = EVENT_NONE,
                                          .launch = EVENT_NONE,
                                          .loads = call_loads_code(names_text(trace->names, id)) };
    for (event_id e = 0; e < trace->event_count; e++) {
        struct first_calls *of = &calls[trace->name[e]];
        unsigned char sort = sorts[trace->name[e]];
        if (!event_is_call((enum event_kind)trace->kind[e]) || sort == CALL_SYNC || sort == CALL_COPY_SYNC)
            continue;
        of->count++;
        of->all_ns += trace_dur_ns(trace, e);
        if (of->loads && of->first != EVENT_NONE)
            of->first = trace_dur_ns(trace, e) > trace_dur_ns(trace, of->first) ? e : of->first;
        else
            of->first = begins_before(trace, e, of->first) ? e : of->first;
    }
    for (size_t i = 0; i < gpu->count; i++) {
        struct first_calls *of = &calls[trace->name[gpu->event[i]]];
        if (gpu->call[i] != EVENT_NONE && sorts[trace->name[gpu->call[i]]] == CALL_LAUNCH)
            of->launch = begins_before(trace, gpu->call[i], of->launch) ? gpu->call[i] : of->launch;
    }
    free(sorts);
    count_later_calls(trace, calls, name_count);
    return calls;
}

/* What the calls of the name of E, a first use that CALLS counts, usually take: the mean of those that are none, as a program may use
 * many kernels once; with too few of them that of all others; 0 of a single one. */
static int64_t usual_of_calls(const struct trace *trace, const struct first_calls *calls, event_id e)
{
    enum { ENOUGH = 3 };
    const struct first_calls *of = &calls[trace->name[e]];
    if (of->loads)
        return 0;
    if (of->later >= ENOUGH)
        return of->later_ns / of->later;
    return of->count > 1 ? (of->all_ns - trace_dur_ns(trace, e)) / (of->count - 1) : 0;
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
            int64_t dur_ns = trace_dur_ns(trace, e);
            if (dur_ns / TIMES_USUAL > usual_of_calls(trace, calls, e) &&
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

/* ---- what a rank does longer ---- */

/* Of events of a name: on the rank, and on all others. */
struct name_sums {
    double own_ns, rest_ns, own, rest;
};

static void add_to_name(struct name_sums *sums, bool is_own, double dur_ns)
{
    *(is_own ? &sums->own_ns : &sums->rest_ns) += dur_ns;
    *(is_own ? &sums->own : &sums->rest) += 1;
}

/* How much longer all of the COUNT names take on the rank, and the name that most: the one with most time among those that explain nearly
 * all of the largest difference. */
static double longer_name_of(const struct name_sums *sums, size_t count, double others,
                             struct rank_difference *most)
{
    const double nearly_all = 0.8;
    double all_ns = 0, most_ns = 0;
    most->name = NAME_NONE;
    for (name_id id = 0; id < count; id++) {
        double longer_ns = sums[id].own_ns - sums[id].rest_ns / others;
        all_ns += longer_ns;
        most_ns = fmax(most_ns, longer_ns);
    }
    for (name_id id = 0; id < count && most_ns > 0; id++) {
        double longer_ns = sums[id].own_ns - sums[id].rest_ns / others;
        if (longer_ns < nearly_all * most_ns ||
            (most->name != NAME_NONE && sums[id].own_ns > sums[most->name].own_ns))
            continue;
        most->name = id;
        most->time_ns = (int64_t)fmin(longer_ns, 9.2e18);
    }
    return all_ns;
}

struct name_pace {
    double pace, weight_ns;
};

static const struct key by_pace[] = { ASC(struct name_pace, pace), KEY_END };

/* How long the rank takes for kernels of one name relative to the others, at least in three quarters of the time: NAN of a single name, of
 * which it may do more. */
static double pace_of(const struct name_sums *sums, size_t count, double others)
{
    VEC_OF(struct name_pace) paces = { 0 };
    double whole_ns = 0, until_ns = 0, pace = NAN;
    for (name_id id = 0; id < count; id++)
        if (sums[id].own > 0 && sums[id].rest_ns > 0) {
            *VEC_PUSH(&paces) =
                (struct name_pace){ (sums[id].own_ns / sums[id].own) / (sums[id].rest_ns / sums[id].rest),
                                    sums[id].rest_ns / others };
            whole_ns += sums[id].rest_ns / others;
        }
    SORT(&paces, by_pace);
    for (size_t i = 0; i < paces.count && paces.count > 1 && until_ns <= whole_ns / 4; i++) {
        pace = paces.at[i].pace;
        until_ns += paces.at[i].weight_ns;
    }
    VEC_FREE(&paces);
    return pace;
}

static struct rank_difference difference_of_kernels(const struct name_sums *kernels, size_t count,
                                                    double others, double late_ns)
{
    const double slower = 1.03, more_often = 1.02;
    struct rank_difference most = { .longer = LONGER_UNKNOWN };
    double own = 0, rest = 0;
    if (longer_name_of(kernels, count, others, &most) < late_ns / 2 || most.name == NAME_NONE)
        return (struct rank_difference){ .longer = LONGER_UNKNOWN, .name = NAME_NONE };
    for (name_id id = 0; id < count; id++) {
        own += kernels[id].own;
        rest += kernels[id].rest / others;
    }
    most.more = own - rest;
    most.pace = pace_of(kernels, count, others);
    most.longer = own > more_often * rest ? LONGER_KERNELS
                  : most.pace >= slower   ? LONGER_DEVICE
                                          : LONGER_KERNEL;
    return most;
}

/* New, by track, free(): is it of RANK? */
static bool *tracks_of_rank(const struct trace *trace, int64_t rank)
{
    bool *own = mem_zalloc(trace->track_count + 1, sizeof *own);
    for (track_id t = 0; t < trace->track_count; t++)
        own[t] = selection_rank(trace, trace->tracks[t].file) == rank;
    return own;
}

/* By how much longer the host of the rank whose tracks are OWN waits for devices, in ns: that is no work of its own. */
static double longer_waits_of(const struct summary *summary, const bool *own, double others)
{
    const struct trace *trace = summary->trace;
    const struct host_waits *waits = host_waits_of(trace);
    struct name_sums sums = { 0 };
    for (size_t i = 0; i < waits->count; i++)
        add_to_name(&sums, own[trace->track[waits->at[i].call]],
                    (double)trace_dur_ns(trace, waits->at[i].call));
    return sums.own_ns - sums.rest_ns / others;
}

struct rank_difference rank_difference_of(const struct summary *summary, int64_t rank, int64_t late_ns)
{
    const struct trace *trace = summary->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    size_t count = names_count(trace->names);
    double others = summary->rank_count > 2 ? (double)summary->rank_count - 1 : 1, least_ns = (double)late_ns;
    struct name_sums *kernels = mem_zalloc(count + 1, sizeof *kernels),
                     *events = mem_zalloc(count + 1, sizeof *events),
                     *loading = mem_zalloc(count + 1, sizeof *loading);
    bool *own = tracks_of_rank(trace, rank);
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->work[i] == GPU_COMPUTATION && trace->kind[gpu->event[i]] == EVENT_KERNEL)
            add_to_name(&kernels[trace->name[gpu->event[i]]], own[trace->track[gpu->event[i]]],
                        (double)trace_dur_ns(trace, gpu->event[i]));
    for (event_id e = 0; e < trace->event_count; e++)
        if (!event_on_device((enum event_kind)trace->kind[e]) || trace->kind[e] == EVENT_MEMCPY)
            add_to_name(&events[trace->name[e]], own[trace->track[e]], (double)trace_dur_ns(trace, e));
    for (name_id id = 0; id < count; id++) {
        const char *name = names_text(trace->names, id);
        if (annotation_is_data_loading(name))
            loading[id] = events[id];
        if (kernels[id].own + kernels[id].rest > 0)
            events[id] = kernels[id];
        /* Names of objects differ from process to process, and steps hold all that is longer. */
        if (strstr(name, " object at 0x") || step_name_is_mark(name, strlen(name)))
            events[id] = (struct name_sums){ 0 };
    }
    struct rank_difference found = difference_of_kernels(kernels, count, others, least_ns);
    if (found.longer == LONGER_UNKNOWN && longer_name_of(loading, count, others, &found) >= least_ns / 2)
        found.longer = LONGER_LOADING;
    if (found.longer == LONGER_UNKNOWN) {
        longer_name_of(events, count, others, &found);
        if (found.name != NAME_NONE && found.time_ns >= late_ns / 4 &&
            longer_waits_of(summary, own, others) < (double)found.time_ns / 2)
            found.longer = kernels[found.name].own > 0 ? LONGER_KERNEL : LONGER_EVENT;
    }
    if (found.longer == LONGER_UNKNOWN)
        found.name = NAME_NONE;
    EACH(free, kernels, events, loading, own);
    return found;
}

int64_t idle_time_for(const struct summary *summary, const enum gap_cause *causes, size_t count)
{
    int64_t sum_ns = 0;
    for (size_t c = 0; summary->gaps && c < count; c++)
        sum_ns += summary->gaps->part_ns[causes[c]];
    return sum_ns;
}
