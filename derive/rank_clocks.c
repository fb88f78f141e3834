/* Breadth first over members: a member whose clock is known visits each of its meetings that was not visited before,
 * and computes the offsets of all other members there. So each end is used once. */
#include "derive/rank_clocks.h"

#include "base/rows.h"
#include "base/wide.h"
#include "base/stats.h"
#include "base/sum.h"

enum {
    LEAST_ANCHORS = 3,
    MOST_ERROR_NS = 1000000,
    DRIFT_LEAST_ANCHORS = 20,
    DRIFT_LEAST_SPAN_NS = 1000000000,
    DRIFT_MOST_ANCHORS = 96, /* at most this many, spread evenly */
};

/* An end of a collective, seen by a member and by one whose clock is known. */
struct anchor {
    uint32_t member;
    int64_t end_ns;   /* by the member's clock */
    int64_t ahead_ns; /* ahead of the first rank's clock */
};

struct search {
    const struct clock_problem *problem;
    struct rank_clock *clocks;
    size_t *met, *met_first; /* meetings by member; where those of a member begin */
    bool *looked_at;         /* by meeting */
    bool *known;             /* by member */
    uint32_t *queue;
    size_t queued;
    VEC_OF(struct anchor) anchors;
};

static const struct key by_member_end_ahead[] = { ASC(struct anchor, member), ASC(struct anchor, end_ns),
                                                  ASC(struct anchor, ahead_ns), KEY_END };

int64_t rank_clocks_deviation(int64_t *values, size_t count, int64_t centre)
{
    for (size_t i = 0; i < count; i++)
        if (__builtin_sub_overflow(values[i], centre, &values[i]) || values[i] == INT64_MIN)
            values[i] = INT64_MAX;
        else if (values[i] < 0)
            values[i] = -values[i];
    SORT_NUMBERS(values, count);
    int64_t low = values[(count - 1) / 2], high = values[count / 2];
    return low + (high - low) / 2;
}

int64_t rank_clocks_slack(int64_t anchors, int64_t error_ns, int64_t left_ns)
{
    enum { ENOUGH = 8, RELEASE_NS = 100000, ERRORS = 20, MOST_NS = 1000000 };
    left_ns = left_ns < 0 ? -left_ns : left_ns;
    if (anchors < ENOUGH || error_ns > MOST_NS / ERRORS || left_ns > MOST_NS)
        return MOST_NS;
    int64_t slack_ns = RELEASE_NS + ERRORS * error_ns + left_ns;
    return slack_ns < MOST_NS ? slack_ns : MOST_NS;
}

static const int64_t trillion = INT64_C(1000000000000);

/* PART / OF in units of 10^-12, clamped. */
static int64_t slope_of(int64_t part, int64_t of)
{
    int64_t slope = wide_scaled(part, trillion, of);
    return slope > trillion ? trillion : slope < -trillion ? -trillion : slope;
}

static int64_t drifted(int64_t drift, int64_t since_ns)
{
    return wide_scaled(drift, since_ns, trillion);
}

/* The median slope between pairs of COUNT anchors of a member, by time. */
static int64_t find_drift(const struct anchor *anchors, size_t count)
{
    size_t used = count < DRIFT_MOST_ANCHORS ? count : DRIFT_MOST_ANCHORS, slopes = 0;
    int64_t *slope = mem_alloc(mem_times(used * used / 2 + 1, sizeof *slope)), drift = 0;
    for (size_t i = 0; i < used; i++)
        for (size_t j = i + 1; j < used; j++) {
            const struct anchor *a = &anchors[i * (count - 1) / (used - 1)],
                                *b = &anchors[j * (count - 1) / (used - 1)];
            int64_t gained_ns;
            if (b->end_ns > a->end_ns && !__builtin_sub_overflow(b->ahead_ns, a->ahead_ns, &gained_ns))
                slope[slopes++] = slope_of(gained_ns, b->end_ns - a->end_ns);
        }
    if (slopes)
        drift = stats_lower_median(slope, slopes);
    free(slope);
    return drift;
}

/* AHEAD and ERROR of a clock that gains DRIFT, by its anchors. */
static void fit(struct rank_clock *clock, const struct anchor *anchors, size_t count, int64_t drift)
{
    SCOPED int64_t *ahead = mem_alloc(mem_times(count, sizeof *ahead));
    clock->drift = drift;
    clock->middle_ns = anchors[count / 2].end_ns;
    for (size_t i = 0; i < count; i++)
        ahead[i] = anchors[i].ahead_ns - drifted(drift, anchors[i].end_ns - clock->middle_ns);
    clock->ahead_ns = stats_lower_median(ahead, count);
    clock->error_ns = rank_clocks_deviation(ahead, count, clock->ahead_ns);
}

static bool same_host(const struct clock_problem *problem, uint32_t a, uint32_t b)
{
    return problem->host[a] != CLOCK_NO_HOST && problem->host[a] == problem->host[b];
}

/* The clock of a member from its COUNT anchors, by time, which are relative to FROM. */
static void set_clock(struct search *search, const struct anchor *anchors, size_t count, uint32_t from)
{
    struct rank_clock *clocks = search->clocks;
    struct rank_clock clock = { .anchors = (int64_t)count };
    fit(&clock, anchors, count, 0);
    int64_t span_ns;
    if (count >= DRIFT_LEAST_ANCHORS &&
        !__builtin_sub_overflow(anchors[count - 1].end_ns, anchors[0].end_ns, &span_ns) &&
        span_ns >= DRIFT_LEAST_SPAN_NS) {
        struct rank_clock drifting = { .anchors = (int64_t)count };
        fit(&drifting, anchors, count, find_drift(anchors, count));
        int64_t gained_ns = drifted(drifting.drift, span_ns);
        if ((gained_ns < 0 ? -gained_ns : gained_ns) / 3 > drifting.error_ns)
            clock = drifting;
    }
    int64_t on_the_way_ns = clocks[from].error_ns;
    int64_t apart_ns;
    bool noise = clock.drift == 0 && same_host(search->problem, anchors[0].member, from) &&
                 !__builtin_sub_overflow(clock.ahead_ns, clocks[from].applied_ns, &apart_ns) &&
                 apart_ns <= greater_of(clock.error_ns, MOST_ERROR_NS) &&
                 apart_ns >= -greater_of(clock.error_ns, MOST_ERROR_NS);
    clock.applied_ns = noise ? clocks[from].applied_ns : clock.ahead_ns;
    if (__builtin_add_overflow(clock.error_ns, on_the_way_ns, &clock.error_ns))
        clock.error_ns = INT64_MAX;
    clock.sure = count >= LEAST_ANCHORS && clock.error_ns <= MOST_ERROR_NS && clocks[from].sure;
    clock.root = clocks[from].root;
    clocks[anchors[0].member] = clock;
}

int64_t rank_clock_moment(const struct rank_clock *clock, int64_t moment_ns)
{
    int64_t since_ns = 0, right_ns;
    if (clock->ahead_ns == CLOCK_UNKNOWN ||
        (clock->drift && __builtin_sub_overflow(moment_ns, clock->middle_ns, &since_ns)) ||
        __builtin_sub_overflow(moment_ns, clock->applied_ns, &right_ns) ||
        __builtin_sub_overflow(right_ns, drifted(clock->drift, since_ns), &right_ns))
        return moment_ns;
    return right_ns;
}

/* ---- from member to member ---- */

static void list_meetings(struct search *search)
{
    const struct clock_problem *problem = search->problem;
    search->met_first = mem_zalloc(problem->members + 2, sizeof *search->met_first);
    size_t ends = 0;
    for (size_t m = 0; m < problem->count; m++)
        for (size_t i = 0; i < problem->meetings[m].count; i++, ends++)
            search->met_first[problem->ends[problem->meetings[m].first + i].member + 2]++;
    search->met = mem_alloc(mem_times(ends + 1, sizeof *search->met));
    for (size_t m = 1; m < problem->members + 2; m++)
        search->met_first[m] += search->met_first[m - 1];
    for (size_t m = 0; m < problem->count; m++)
        for (size_t i = 0; i < problem->meetings[m].count; i++)
            search->met[search->met_first[problem->ends[problem->meetings[m].first + i].member + 1]++] = m;
}

/* Compare the ends of MEETING with that of MEMBER, whose clock is known. */
static void rank_clocks_inspect(struct search *search, const struct clock_meeting *meeting, uint32_t member)
{
    const struct clock_end *ends = search->problem->ends + meeting->first;
    size_t own = 0;
    while (ends[own].member != member)
        own++;
    int64_t end_ns = rank_clock_moment(&search->clocks[member], ends[own].end_ns), ahead_ns;
    for (size_t i = 0; i < meeting->count; i++)
        if (!search->known[ends[i].member] && !__builtin_sub_overflow(ends[i].end_ns, end_ns, &ahead_ns))
            *VEC_PUSH(&search->anchors) = (struct anchor){ ends[i].member, ends[i].end_ns, ahead_ns };
}

static void go_on_from(struct search *search, uint32_t member)
{
    search->anchors.count = 0;
    for (size_t i = search->met_first[member]; i < search->met_first[member + 1]; i++) {
        size_t m = search->met[i];
        if (search->looked_at[m])
            continue;
        search->looked_at[m] = true;
        rank_clocks_inspect(search, &search->problem->meetings[m], member);
    }
    SORT(&search->anchors, by_member_end_ahead);
    FOR_RUNS(first, end, search->anchors.count,
             search->anchors.at[end].member == search->anchors.at[first].member) {
        uint32_t found = search->anchors.at[first].member;
        set_clock(search, search->anchors.at + first, end - first, member);
        search->known[found] = true;
        search->queue[search->queued++] = found;
    }
}

struct rank_clock *rank_clocks_find(const struct clock_problem *problem)
{
    size_t members = problem->members;
    struct search search = { .problem = problem };
    struct rank_clock *clocks = search.clocks = mem_zalloc(members + 1, sizeof *clocks);
    list_meetings(&search);
    search.looked_at = mem_zalloc(problem->count + 1, sizeof *search.looked_at);
    search.known = mem_zalloc(members + 1, sizeof *search.known);
    search.queue = mem_alloc(mem_times(members + 1, sizeof *search.queue));
    for (uint32_t m = 0; m < members; m++) {
        if (search.known[m])
            continue;
        bool meets = problem->meets[m];
        clocks[m] = (struct rank_clock){ .ahead_ns = meets ? 0 : CLOCK_UNKNOWN,
                                         .error_ns = meets ? 0 : CLOCK_UNKNOWN,
                                         .root = m,
                                         .sure = meets };
        search.known[m] = true;
        search.queue[search.queued++] = m;
        for (size_t q = search.queued - 1; q < search.queued; q++)
            go_on_from(&search, search.queue[q]);
    }
    EACH(free, search.met, search.met_first, search.looked_at, search.known, search.queue);
    VEC_FREE(&search.anchors);
    return clocks;
}
