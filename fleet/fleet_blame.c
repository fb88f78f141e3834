/* fleet_blame.c - collectives as rows, who caused the waiting in them, and what their groups cost; see fleet.h. */
#include "fleet/fleet.h"

#include "base/runs.h"
#include "base/sum.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct facts_group *group_at(const struct fleet *fleet, const struct fleet_arrival *arrival)
{
    const struct fleet_member *member = &fleet->job.members.at[arrival->member];
    const struct facts_group *groups = facts_rows(fleet->job.facts, FACTS_GROUPS);
    int64_t group = arrival->collective->group;
    return group >= 0 && (size_t)group < member->count[FACTS_GROUPS]
               ? &groups[member->first[FACTS_GROUPS] + (size_t)group]
               : NULL;
}

/* "0 (default_pg)"; missing when the group has no name. */
static struct text group_text(struct fleet *fleet, const struct facts_group *group)
{
    const struct facts *facts = fleet->job.facts;
    const char *name = group ? names_text(facts->texts, group->name) : "",
               *description = group ? names_text(facts->texts, group->description) : "";
    if (strcmp(description, "undefined") == 0)
        description = "";
    if (*name && *description)
        name = arena_printf(&fleet->texts, "%s (%s)", name, description);
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
    return fleet->job.members.at[fleet->meetings.arrivals[arrival].member].rank;
}

static int64_t difference(int64_t a, int64_t b)
{
    int64_t apart;
    return !__builtin_sub_overflow(a, b, &apart) ? apart : a > b ? INT64_MAX : -INT64_MAX;
}

static void add_row(struct fleet *fleet, const struct fleet_meeting *meeting, int64_t origin_ns)
{
    const struct fleet_arrival *last = &fleet->meetings.arrivals[meeting->last];
    struct fleet_collective_row row = {
        .kind = fleet_text(fleet->job.facts, last->collective->kind),
        .group = group_text(fleet, group_at(fleet, last)),
        .number = meeting->number,
        .step = meeting->step,
        .bytes = last->collective->bytes,
        .ranks = (int64_t)meeting->count,
        .start_ns = difference(last->start_ns, origin_ns),
        .last = rank_of(fleet, meeting->last),
        .first = rank_of(fleet, meeting->earliest),
        .blamed = meeting->sure ? rank_of(fleet, meeting->blamed) : FACTS_MISSING,
        .last_device = last->collective->device < 0 ? FACTS_MISSING : last->collective->device,
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
    sum_add(&fleet->waited_ns, meeting->waited_ns);
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++)
        sum_add(&fleet_rank(fleet, rank_of(fleet, i))->waited_ns, fleet->meetings.arrivals[i].waited_ns);
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
    for (size_t i = 0; i < fleet->ranks.count; i++) {
        struct fleet_rank_row *row = &fleet->ranks.at[i];
        enum fleet_cause most = FLEET_CAUSES;
        for (int c = 0; c < FLEET_CAUSES; c++)
            if (row->caused_by_ns[c] > (most == FLEET_CAUSES ? 0 : row->caused_by_ns[most]))
                most = (enum fleet_cause)c;
        row->why = why_text(most);
        if (fleet->blamed_ns > 0)
            row->caused_share = (double)row->caused_ns / (double)fleet->blamed_ns;
    }
}

/* ---- groups ---- */

/* A collective and the purpose of its group. */
struct part {
    name_id purpose, name, ranks;
    const struct facts_collective *collective;
    int64_t waited_ns;
    int64_t rank;
};

static bool comes_behind(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct part *a = left, *b = right;
    if (a->purpose != b->purpose)
        return a->purpose > b->purpose;
    if (a->name != b->name)
        return a->name > b->name;
    return a->ranks > b->ranks;
}

static bool exposes_less(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct fleet_group_row *)a)->exposed_ns < ((const struct fleet_group_row *)b)->exposed_ns;
}

static int compare_integers(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* How many different ranks have the COUNT PARTS. */
static int64_t count_ranks(const struct part *parts, size_t count)
{
    int64_t *ranks = mem_alloc(mem_times(count, sizeof *ranks)), different = 0;
    for (size_t i = 0; i < count; i++)
        ranks[i] = parts[i].rank;
    qsort(ranks, count, sizeof *ranks, compare_integers);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || ranks[i] != ranks[i - 1];
    free(ranks);
    return different;
}

static void add_group(struct fleet *fleet, const struct part *parts, size_t count)
{
    struct fleet_group_row row = { .group = fleet_text(fleet->job.facts, parts->purpose),
                                   .count = (int64_t)count };
    bool met = false;
    for (size_t i = 0; i < count; i++) {
        const struct facts_collective *one = parts[i].collective;
        row.groups += i == 0 || comes_behind(NULL, &parts[i], &parts[i - 1]);
        sum_add(&row.bytes, one->bytes == FACTS_MISSING ? 0 : one->bytes);
        sum_add(&row.time_ns, one->duration_ns);
        sum_add(&row.exposed_ns, one->exposed_ns == FACTS_MISSING ? 0 : one->exposed_ns);
        if (parts[i].waited_ns == FACTS_MISSING)
            continue;
        met = true;
        sum_add(&row.waited_ns, parts[i].waited_ns);
        sum_add(&row.transfer_ns, one->duration_ns - parts[i].waited_ns);
    }
    if (!met)
        row.waited_ns = row.transfer_ns = FACTS_MISSING;
    row.ranks = count_ranks(parts, count);
    *VEC_PUSH(&fleet->groups) = row;
}

/* What groups with this description are for; groups without one are distinguished by their names. */
static name_id purpose_of(const struct fleet *fleet, const struct facts_group *group)
{
    if (!group)
        return NAME_NONE;
    const char *description = names_text(fleet->job.facts->texts, group->description);
    return *description && strcmp(description, "undefined") != 0 ? group->description : group->name;
}

/* New, by index of the facts' collectives: how long each waited; missing of those found on one rank only. */
static int64_t *find_waits(const struct fleet *fleet)
{
    const struct facts *facts = fleet->job.facts;
    const struct facts_collective *all = facts_rows(facts, FACTS_COLLECTIVES);
    size_t count = facts->tables[FACTS_COLLECTIVES].count;
    int64_t *waits = mem_alloc(mem_times(count + 1, sizeof *waits));
    for (size_t i = 0; i < count; i++)
        waits[i] = FACTS_MISSING;
    for (size_t m = 0; m < fleet->meetings.count; m++)
        for (size_t i = 0; i < fleet->meetings.at[m].count; i++) {
            const struct fleet_arrival *arrival = &fleet->meetings.arrivals[fleet->meetings.at[m].first + i];
            waits[arrival->collective - all] = arrival->waited_ns;
        }
    return waits;
}

static void find_groups(struct fleet *fleet)
{
    const struct facts_collective *all = facts_rows(fleet->job.facts, FACTS_COLLECTIVES);
    int64_t *waits = find_waits(fleet);
    VEC_OF(struct part) parts = { 0 };
    for (uint32_t m = 0; m < fleet->job.members.count; m++) {
        const struct fleet_member *member = &fleet->job.members.at[m];
        size_t first = member->first[FACTS_COLLECTIVES], count = member->count[FACTS_COLLECTIVES];
        fleet_rank(fleet, member->rank)->collectives += (int64_t)count;
        for (size_t i = first; i < first + count; i++) {
            struct fleet_arrival arrival = { .member = m, .collective = &all[i] };
            const struct facts_group *group = group_at(fleet, &arrival);
            *VEC_PUSH(&parts) = (struct part){ purpose_of(fleet, group),
                                               group ? group->name : NAME_NONE,
                                               group ? group->ranks : NAME_NONE,
                                               &all[i],
                                               waits[i],
                                               member->rank };
        }
    }
    runs_sort(parts.at, parts.count, sizeof *parts.at, comes_behind, NULL);
    for (size_t first = 0, end; first < parts.count; first = end) {
        for (end = first + 1; end < parts.count && parts.at[end].purpose == parts.at[first].purpose; end++)
            ;
        add_group(fleet, parts.at + first, end - first);
    }
    runs_sort(fleet->groups.at, fleet->groups.count, sizeof *fleet->groups.at, exposes_less, NULL);
    VEC_FREE(&parts);
    free(waits);
}

/* Where nobody met anybody nothing is known of waiting. */
static void forget_waiting(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->ranks.count; i++) {
        struct fleet_rank_row *row = &fleet->ranks.at[i];
        row->waited_ns = row->caused_ns = row->cost_ns = row->last = FACTS_MISSING;
        for (int c = 0; c <= FLEET_CAUSES; c++)
            row->caused_by_ns[c] = FACTS_MISSING;
    }
    fleet->waited_ns = fleet->blamed_ns = fleet->unsure_ns = FACTS_MISSING;
}

void fleet_find_blame(struct fleet *fleet)
{
    int64_t origin_ns = INT64_MAX;
    for (size_t a = 0; a < fleet->meetings.arrival_count; a++)
        if (fleet->meetings.arrivals[a].start_ns < origin_ns)
            origin_ns = fleet->meetings.arrivals[a].start_ns;
    for (size_t m = 0; m < fleet->meetings.count; m++) {
        add_row(fleet, &fleet->meetings.at[m], origin_ns);
        blame(fleet, &fleet->meetings.at[m]);
    }
    set_shares(fleet);
    find_groups(fleet);
    if (fleet->meetings.count == 0)
        forget_waiting(fleet);
}
