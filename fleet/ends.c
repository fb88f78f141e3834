#include "fleet/parts.h"

#include "base/sum.h"

static void add_joining(struct ends *ends, const struct slice *slice, const struct slice_meeting *meeting)
{
    struct joining joining = { .first = ends->at.count,
                               .count = meeting->count,
                               .shortest_ns = INT64_MAX,
                               .checked = meeting->by_order };
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        const struct slice_arrival *arrival = &slice->arrivals[i];
        const struct facts_collective *one = arrival->row->collective;
        *VEC_PUSH(&ends->at) = (struct clock_end){ arrival->row->member, arrival->end_ns };
        if (one->duration_ns < joining.shortest_ns)
            joining.shortest_ns = one->duration_ns;
        joining.checked = joining.checked && one->device >= 0 && slice_joins_all(slice->job, one);
    }
    *VEC_PUSH(&ends->joining) = joining;
}

bool ends_has(const struct slice *slice, const struct slice_meeting *meeting)
{
    return slice_joins_all(slice->job, slice->arrivals[meeting->first].row->collective);
}

void ends_add(struct ends *ends, const struct slice *slice)
{
    FOR_EACH(meeting, &slice->meetings) {
        if (ends_has(slice, meeting)) {
            add_joining(ends, slice, meeting);
            continue;
        }
        for (size_t i = meeting->first; i < meeting->first + meeting->count; i++)
            ends->meets[slice->arrivals[i].row->member] = true;
    }
}

/* New, by member: a number for its host. */
static uint32_t *ends_hosts_of(const struct fleet_job *job)
{
    uint32_t *hosts = mem_alloc(mem_times(job->members.count + 1, sizeof *hosts));
    for (size_t m = 0; m < job->members.count; m++) {
        name_id host = job->members.at[m].recording->host;
        hosts[m] = host == NAME_NONE ? CLOCK_NO_HOST : host;
    }
    return hosts;
}

/* Clocks from the meetings that were not refuted. */
static struct rank_clock *find_clocks(const struct ends *ends)
{
    size_t members = ends->job->members.count;
    SCOPED uint32_t *hosts = ends_hosts_of(ends->job);
    SCOPED bool *meets = mem_alloc(members + 1);
    SCOPED struct clock_meeting *joining = mem_alloc(mem_times(ends->joining.count + 1, sizeof *joining));
    struct clock_problem problem = {
        .members = members, .host = hosts, .meets = meets, .meetings = joining, .ends = ends->at.at
    };
    memcpy(meets, ends->meets, members);
    FOR_EACH(one, &ends->joining) {
        for (size_t i = one->first; i < one->first + one->count && !one->refuted; i++)
            meets[ends->at.at[i].member] = true;
        if (!one->refuted)
            joining[problem.count++] = (struct clock_meeting){ one->first, one->count };
    }
    return rank_clocks_find(&problem);
}

/* Did they end together? Differences up to the slack of the clocks and half the transfer are allowed. */
static bool ended_together(const struct ends *ends, const struct joining *joining,
                           const struct rank_clock *clocks)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, most_ns = 0, apart_ns;
    for (size_t i = joining->first; i < joining->first + joining->count; i++) {
        const struct rank_clock *clock = &clocks[ends->at.at[i].member];
        if (clock->ahead_ns == FACTS_MISSING)
            return true;
        if (clock->root != ends->at.at[i].member) { /* the root is exact */
            int64_t slack_ns = rank_clocks_slack(clock->anchors, clock->error_ns,
                                                 difference_saturated(clock->ahead_ns, clock->applied_ns));
            most_ns = slack_ns > most_ns ? slack_ns : most_ns;
        }
        int64_t end_ns = rank_clock_moment(clock, ends->at.at[i].end_ns);
        first_ns = end_ns < first_ns ? end_ns : first_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    return !__builtin_sub_overflow(last_ns, first_ns, &apart_ns) &&
           apart_ns <= most_ns + joining->shortest_ns / 2;
}

uint64_t ends_refute(struct ends *ends, const struct rank_clock *clocks)
{
    uint64_t refuted = 0;
    FOR_EACH(joining, &ends->joining) {
        joining->refuted = joining->checked && !ended_together(ends, joining, clocks);
        refuted += joining->refuted ? joining->count : 0;
    }
    return refuted;
}

void ends_find_clocks(struct ends *ends, struct fleet_clocks *clocks)
{
    size_t members = ends->job->members.count;
    clocks->first = find_clocks(ends);
    if (ends_refute(ends, clocks->first)) { /* the others give better clock offsets, which may refute more */
        free(clocks->first);
        clocks->first = find_clocks(ends);
        ends_refute(ends, clocks->first);
        clocks->settled = find_clocks(ends);
        return;
    }
    clocks->settled = mem_alloc(mem_times(members + 1, sizeof *clocks->settled));
    memcpy(clocks->settled, clocks->first, members * sizeof *clocks->settled);
}

void ends_init(struct ends *ends, const struct fleet_job *job, struct arena *arena)
{
    *ends = (struct ends){ .job = job,
                           .meets = arena_zalloc(arena, job->members.count + 1, sizeof *ends->meets) };
    ARENA_OWNS(arena, &ends->at, &ends->joining);
}
