/* fleet_blame.c - collectives as rows, who caused the waiting in them, and what their groups cost; see fleet.h. */
#include "base/rows.h"
#include "fleet/fleet.h"

#include "base/sum.h"
#include "derive/rank_turns.h"
#include <math.h>

/* "0 (default_pg)"; missing if the group has no name. */
static struct text group_text(struct fleet *fleet, const struct facts_group *group)
{
    const struct facts *facts = fleet->job.facts;
    const char *name = group ? names_text(facts->texts, group->name) : "",
               *description = group ? names_text(facts->texts, group->description) : "";
    if (strcmp(description, "undefined") == 0)
        description = "";
    if (*name && *description)
        name = arena_printf(arena_of(fleet), "%s (%s)", name, description);
    const char *text = *name ? name : description;
    return *text ? (struct text){ text, strlen(text) } : (struct text){ 0 };
}

static struct text why_text(enum fleet_cause cause)
{
    const char *name = fleet_cause_name(cause);
    return name ? (struct text){ name, strlen(name) } : (struct text){ 0 };
}

static int64_t rank_of(const struct fleet *fleet, size_t arrival)
{
    return fleet->job.members.at[fleet->meetings.arrivals.at[arrival].member].rank;
}

static void add_row(struct fleet *fleet, const struct fleet_meeting *meeting)
{
    const struct fleet_arrival *last = &fleet->meetings.arrivals.at[meeting->last];
    struct fleet_collective_row row = {
        .kind = fleet_text(fleet->job.facts, meeting->kind),
        .group = group_text(fleet, meeting->group),
        .number = meeting->number,
        .step = meeting->step,
        .bytes = meeting->bytes,
        .ranks = (int64_t)meeting->count,
        .start_ns = difference_saturated(meeting->start_ns, fleet->meetings.first_ns),
        .last = rank_of(fleet, meeting->last),
        .first = rank_of(fleet, meeting->earliest),
        .blamed = meeting->sure && !meeting->of_pipeline ? rank_of(fleet, meeting->blamed) : FACTS_MISSING,
        .last_device = last->device < 0 ? FACTS_MISSING : last->device,
        .late_ns = meeting->late_ns,
        .waited_ns = meeting->waited_ns,
        .cost_ns = meeting->cost_ns,
        .transfer_ns = meeting->transfer_ns,
        .sure = meeting->sure,
        .by_clock = meeting->by_clock,
        .why = why_text(meeting->cause),
        .carried_ns = meeting->carried_ns,
    };
    memcpy(row.grew_ns, meeting->grew_ns, sizeof row.grew_ns);
    *VEC_PUSH(&fleet->collectives) = row;
}

static void blame(struct fleet *fleet, const struct fleet_meeting *meeting)
{
    if (meeting->before_recording || meeting->waits_outside || meeting->of_pipeline)
        return;
    sum_add(&fleet->waited_ns, meeting->waited_ns);
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++)
        sum_add(&fleet_rank(fleet, rank_of(fleet, i))->waited_ns, fleet->meetings.arrivals.at[i].waited_ns);
    if (!meeting->sure) {
        sum_add(&fleet->unsure_ns, meeting->waited_ns);
        return;
    }
    struct fleet_rank_row *row = fleet_rank(fleet, rank_of(fleet, meeting->blamed));
    sum_add(&fleet->blamed_ns, meeting->waited_ns);
    sum_add(&row->caused_ns, meeting->waited_ns);
    sum_add(&row->caused_by_ns[meeting->blamed_cause], meeting->waited_ns);
    sum_add(&row->cost_ns, meeting->cost_ns);
    fleet_rank(fleet, rank_of(fleet, meeting->last))->last++;
}

static void set_shares(struct fleet *fleet)
{
    FOR_EACH(row, &fleet->ranks) {
        enum fleet_cause most = FLEET_CAUSES;
        for (int c = 0; c < FLEET_CAUSES; c++)
            if (row->caused_by_ns[c] > row->caused_by_ns[most]) /* unknown: where that is most */
                most = (enum fleet_cause)c;
        row->why = why_text(most);
        if (fleet->blamed_ns > 0)
            row->caused_share = (double)row->caused_ns / (double)fleet->blamed_ns;
    }
}

/* ---- groups ---- */

static const struct key by_exposed[] = { DESC(struct fleet_group_row, exposed_ns), KEY_END };
static const struct key by_name_ranks[] = { ASC(struct fleet_group_sum, name),
                                            ASC(struct fleet_group_sum, ranks), KEY_END };

/* The purpose of groups with this description; groups without one are distinguished by their names. */
static name_id purpose_of(const struct fleet *fleet, const struct fleet_group_sum *sum)
{
    const char *description = names_text(fleet->job.facts->texts, sum->description);
    return *description && strcmp(description, "undefined") != 0 ? sum->description : sum->name;
}

/* The number of different ranks in the COUNT SUMS. */
static int64_t count_ranks(const struct fleet_group_sum *sums, size_t count)
{
    SCOPED int64_t *ranks = mem_alloc(mem_times(count, sizeof *ranks));
    for (size_t i = 0; i < count; i++)
        ranks[i] = sums[i].rank;
    SORT_NUMBERS(ranks, count);
    return (int64_t)rows_count_groups(ranks, count, sizeof *ranks, rows_ascending_i64);
}

/* Add a row for COUNT SUMS of one purpose. */
static void add_group(struct fleet *fleet, const struct fleet_group_sum *sums, size_t count)
{
    struct fleet_group_row row = { .group = fleet_text(fleet->job.facts, purpose_of(fleet, sums)),
                                   .groups =
                                       (int64_t)rows_count_groups(sums, count, sizeof *sums, by_name_ranks) };
    int64_t met = 0;
    for (size_t i = 0; i < count; i++) {
        row.count += sums[i].count;
        met += sums[i].met;
        sum_add(&row.bytes, sums[i].bytes);
        sum_add(&row.time_ns, sums[i].time_ns);
        sum_add(&row.exposed_ns, sums[i].exposed_ns);
        sum_add(&row.waited_ns, sums[i].waited_ns);
        sum_add(&row.transfer_ns, sums[i].transfer_ns);
    }
    if (met == 0)
        row.waited_ns = row.transfer_ns = FACTS_MISSING;
    row.ranks = count_ranks(sums, count);
    *VEC_PUSH(&fleet->groups) = row;
}

static void find_groups(struct fleet *fleet)
{
    struct fleet_group_sum *sums = fleet->meetings.groups.at;
    size_t count = fleet->meetings.groups.count;
    for (size_t i = 0; i < count; i++)
        fleet_rank(fleet, sums[i].rank)->collectives += sums[i].count;
    SORT_ARRAY(sums, count, by_name_ranks);
    SORT_BY(sums, count, i, purpose_of(fleet, &sums[i]));
    FOR_RUNS(first, end, count, purpose_of(fleet, &sums[end]) == purpose_of(fleet, &sums[first]))
        add_group(fleet, sums + first, end - first);
    SORT(&fleet->groups, by_exposed);
}

/* Without any meetings, waiting is unknown. */
static void forget_waiting(struct fleet *fleet)
{
    FOR_EACH(row, &fleet->ranks) {
        row->waited_ns = row->caused_ns = row->cost_ns = row->last = FACTS_MISSING;
        for (int c = 0; c <= FLEET_CAUSES; c++)
            row->caused_by_ns[c] = FACTS_MISSING;
    }
    fleet->waited_ns = fleet->blamed_ns = fleet->unsure_ns = FACTS_MISSING;
}

static bool are_in_turn(const struct fleet *fleet)
{
    SCOPED struct rank_turn *turns = mem_alloc(mem_times(fleet->ranks.count + 1, sizeof *turns));
    for (size_t i = 0; i < fleet->ranks.count; i++)
        turns[i] = (struct rank_turn){ fleet->ranks.at[i].caused_ns, fleet->ranks.at[i].waited_ns };
    return ranks_take_turns(turns, fleet->ranks.count);
}

void fleet_find_blame(struct fleet *fleet)
{
    for (size_t m = 0; m < fleet->meetings.count; m++) {
        add_row(fleet, &fleet->meetings.at[m]);
        blame(fleet, &fleet->meetings.at[m]);
    }
    set_shares(fleet);
    fleet->in_turn = are_in_turn(fleet);
    find_groups(fleet);
    if (fleet->meetings.count == 0)
        forget_waiting(fleet);
}
