#include "analyze/contention/contention.h"

#include "analyze/contention/strata.h"
#include "base/search.h"
#include "derive/collective_matches.h"
#include "derive/step_list.h"
#include <math.h>

/* A transfer, or on one rank the collective. */
struct transfer {
    uint32_t class; /* of beside.classes: the collective and its group */
    const char *type;
    int64_t size_bytes, start_ns, end_ns, step;
    double share; /* of it, in which any of its ranks computed */
    bool several, one_clock;
    int64_t error_ns; /* of the clocks, where they were corrected */
    int64_t beside_waiting_ns, beside_transfer_ns;
};

struct transfer_query {
    const struct contention *contention;
    const struct collectives *collectives;
    struct collective_matches *matches;
    const struct step_list *steps;
    VEC_OF(struct transfer) transfers;
    struct intervals computing, within;
};

/* Add when the rank of COLLECTIVE, whose clock is AHEAD, computed in [START, END) to the set of all ranks. Returns how long. */
static int64_t add_computation(struct transfer_query *query, const struct collective *collective,
                               int64_t ahead_ns, int64_t start_ns, int64_t end_ns)
{
    const struct collective_place *place = &query->collectives->places[collective->place];
    intervals_clip(&place->computation, start_ns + ahead_ns, end_ns + ahead_ns, &query->within);
    for (size_t i = 0; i < query->within.count; i++)
        intervals_add(&query->computing, query->within.at[i].start_ns - ahead_ns,
                      query->within.at[i].end_ns - ahead_ns);
    return intervals_length(&query->within);
}

static const struct rank_clock *clock_of(const struct transfer_query *query, size_t collective)
{
    const struct collectives *all = query->collectives;
    return &query->matches->clocks[all->places[all->at[collective].place].file];
}

/* How far the clock of COLLECTIVE's rank is ahead at its start; 0 if the ranks have ONE_CLOCK. */
static int64_t ahead_of(const struct transfer_query *query, size_t collective, bool one_clock)
{
    int64_t start_ns = trace_start_ns(query->collectives->trace, query->collectives->at[collective].event);
    return one_clock ? 0 : start_ns - rank_clock_moment(clock_of(query, collective), start_ns);
}

/* Can the clocks of the COUNT collectives be corrected? *ERROR becomes the largest error between two of them. */
static bool are_clocks_sure(const struct transfer_query *query, const size_t *member, size_t count,
                            int64_t *error_ns)
{
    int64_t largest_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const struct rank_clock *clock = clock_of(query, member[i]);
        if (!clock->sure || clock->root != clock_of(query, member[0])->root)
            return false;
        largest_ns = clock->error_ns > largest_ns ? clock->error_ns : largest_ns;
    }
    *error_ns = 2 * largest_ns;
    return true;
}

/* Add the transfer of COUNT collectives, indices MEMBER, of one match. Without ONE_CLOCK clocks are corrected; if that is not possible, that of the
 * first alone is known. */
static void add_transfer(struct transfer_query *query, const size_t *member, size_t count, uint32_t class,
                         bool one_clock)
{
    const struct collectives *all = query->collectives;
    const struct trace *trace = all->trace;
    const struct collective *first = &all->at[member[0]];
    uint32_t file = all->places[first->place].file;
    const struct step *step = step_list_at(query->steps, file, collective_issued_ns(all, first));
    struct transfer transfer = { .class = class,
                                 .type = first->type,
                                 .size_bytes = first->size_bytes,
                                 .start_ns = INT64_MIN,
                                 .end_ns = INT64_MAX,
                                 .step = step ? step - query->steps->at : -1,
                                 .several = count > 1,
                                 .one_clock = one_clock };
    if (!one_clock)
        transfer.one_clock = are_clocks_sure(query, member, count, &transfer.error_ns);
    count = transfer.one_clock ? count : 1;
    for (size_t i = 0; i < count; i++) {
        int64_t ahead_ns = ahead_of(query, member[i], one_clock),
                start_ns = trace_start_ns(trace, all->at[member[i]].event) - ahead_ns,
                end_ns = trace_end_ns(trace, all->at[member[i]].event) - ahead_ns;
        transfer.start_ns = start_ns > transfer.start_ns ? start_ns : transfer.start_ns;
        transfer.end_ns = end_ns < transfer.end_ns ? end_ns : transfer.end_ns;
    }
    if (transfer.end_ns <= transfer.start_ns)
        return;
    intervals_clear(&query->computing);
    for (size_t i = 0; i < count; i++) {
        const struct collective *one = &all->at[member[i]];
        int64_t ahead_ns = ahead_of(query, member[i], one_clock);
        transfer.beside_transfer_ns +=
            add_computation(query, one, ahead_ns, transfer.start_ns, transfer.end_ns);
        transfer.beside_waiting_ns += collective_place_computed(
            &all->places[one->place], trace_start_ns(trace, one->event), transfer.start_ns + ahead_ns);
    }
    intervals_merge(&query->computing);
    transfer.share =
        (double)intervals_length(&query->computing) / (double)(transfer.end_ns - transfer.start_ns);
    *VEC_PUSH(&query->transfers) = transfer;
}

/* The class of COLLECTIVE; UINT32_MAX if it ran on the host. */
static uint32_t class_of(const struct transfer_query *query, const struct collective *collective)
{
    const struct beside *beside = query->contention->beside;
    const struct collective_place *place = &query->collectives->places[collective->place];
    if (place->device < 0 || !collective->timed)
        return UINT32_MAX;
    size_t device = gpu_first_device(beside->gpu, place->file);
    while (beside->gpu->devices[device].id != place->device)
        device++;
    const struct gpu_device *of = &beside->gpu->devices[device];
    int64_t start_ns = trace_start_ns(beside->trace, collective->event);
    size_t i =
        PLACE(k, of->count, trace_start_ns(beside->trace, beside->gpu->event[of->first + k]) < start_ns);
    while (i < of->count && beside->gpu->event[of->first + i] != collective->event)
        i++;
    return i < of->count ? beside->class_of[of->first + i] : UINT32_MAX;
}

static void collect(struct transfer_query *query, const struct selection *selection)
{
    const struct collectives *all = query->collectives;
    const struct collective_matches *matches = query->matches;
    for (size_t i = 0; i < all->count; i++) {
        uint32_t class = class_of(query, &all->at[i]);
        size_t m = matches->match_of[i];
        if (class == UINT32_MAX ||
            (selection && !selection_holds_work(selection, all->at[i].event, all->at[i].launch)))
            continue;
        if (m == MATCH_NONE)
            add_transfer(query, &i, 1, class, false);
        else if (matches->member[matches->at[m].first] == i && !matches->at[m].before_recording)
            add_transfer(query, matches->member + matches->at[m].first, matches->at[m].count, class,
                         matches->at[m].one_clock);
    }
}

/* ---- rows ---- */

static const struct key by_cell[] = { ASC(struct transfer, class),    ASC(struct transfer, several),
                                      ASC(struct transfer, type),     ASC(struct transfer, size_bytes),
                                      ASC(struct transfer, start_ns), KEY_END };
static const struct key of_row[] = { ASC(struct transfer, class), ASC(struct transfer, several), KEY_END };
static const struct key of_cell[] = { ASC(struct transfer, type), ASC(struct transfer, size_bytes), KEY_END };

static void add_cell(struct strata *strata, const struct transfer *at, size_t count, bool has_steps)
{
    SCOPED struct candidate *candidates = mem_alloc(mem_times(count, sizeof *candidates));
    for (size_t i = 0; i < count; i++)
        candidates[i] = (struct candidate){ .start_ns = at[i].start_ns,
                                            .step = at[i].step,
                                            .duration = (double)(at[i].end_ns - at[i].start_ns),
                                            .share = at[i].share,
                                            .side = at[i].share < 0.5 ? SIDE_ALONE : SIDE_BESIDE,
                                            .bin = (uint32_t)(at[i].share * (CONTENTION_BINS - 1)) };
    strata_add_cell(strata, candidates, count, has_steps ? STRATA_BY_STEPS : STRATA_IN_TIME);
}

static const char *row_doubt(const struct transfer *at, size_t count, const struct strata *strata,
                             const struct contention_estimate *estimate, double tick)
{
    bool one_clock = true;
    size_t sides[2] = { 0 };
    for (size_t i = 0; i < count; i++) {
        one_clock &= at[i].one_clock;
        sides[at[i].share >= 0.5]++;
    }
    if (!at->several)
        return "its time includes waiting for other ranks";
    if (!one_clock)
        return "its ranks have no common clock";
    if (!sides[1])
        return "never beside computation for half of its time";
    if (!sides[0])
        return "always beside computation for half of its time";
    if (!strata_suffice(strata, estimate))
        return "too few";
    if (!strata_are_long(strata, tick))
        return "too short for the clock of the file";
    return estimate->high < 1 ? "runs faster beside it: not the same work" : NULL;
}

static struct contended_collective row_of(const struct transfer_query *query, const struct transfer *at,
                                          size_t count, double tick)
{
    struct strata strata = { .keeps_excess = true };
    struct contended_collective row = {
        .collective = beside_class_text(query->contention->beside, at->class),
        .group = beside_class_group(query->contention->beside, at->class),
        .count = (int64_t)count,
        .beside_waiting_ns = at->several ? 0 : TABLE_INT_MISSING,
        .beside_transfer_ns = at->several ? 0 : TABLE_INT_MISSING,
    };
    FOR_GROUPS_OF(at, count, of_cell, first, end)
        add_cell(&strata, at + first, end - first, query->steps->count > 0);
    for (size_t i = 0; i < count; i++)
        tick = fmax(tick, (double)at[i].error_ns);
    for (size_t i = 0; at->several && i < count; i++) {
        row.beside_waiting_ns += at[i].beside_waiting_ns;
        row.beside_transfer_ns += at[i].beside_transfer_ns;
    }
    struct contention_estimate estimate = strata_estimate(&strata, tick);
    row.factor = estimate.factor;
    row.factor_low = estimate.low;
    row.factor_high = estimate.high;
    row.p = estimate.p;
    row.why = as_text(row_doubt(at, count, &strata, &estimate, tick));
    row.judged = !row.why.at;
    VEC_FREE(&strata.samples);
    return row;
}

static const struct key by_count[] = { DESC(struct contended_collective, count), KEY_END };

struct contended_collectives *contended_collectives_open(const struct contention *contention,
                                                         const struct selection *selection)
{
    struct contended_collectives *all = arena_open(sizeof *all);
    ARENA_OWNS(arena_of(all), &all->rows);
    struct transfer_query query = { .contention = contention,
                                    .collectives = contention->beside->collectives,
                                    .matches = collective_matches_open(contention->beside->collectives),
                                    .steps = step_list_of(contention->trace) };
    collect(&query, selection);
    SORT(&query.transfers, by_cell);
    FOR_GROUPS(&query.transfers, of_row, first, end)
        *VEC_PUSH(&all->rows) = row_of(&query, &query.transfers.at[first], end - first, contention->tick_ns);
    VEC_OF(double) p = { 0 };
    for (size_t i = 0; i < all->rows.count; i++)
        if (all->rows.at[i].judged)
            *VEC_PUSH(&p) = all->rows.at[i].p;
    double limit = false_discovery_limit(p.at, p.count);
    VEC_FREE(&p);
    FOR_EACH(row, &all->rows)
        row->slower = row->judged && row->factor_low > 1 && row->p <= limit;
    SORT(&all->rows, by_count);
    EACH(intervals_release, &query.computing, &query.within);
    VEC_FREE(&query.transfers);
    arena_free(query.matches);
    return all;
}
