/*
 * meetings.c - see meetings.h. What makes collectives one is written down as a few numbers; sorted by these, they lie
 * side by side, as in facts/collective_matches.c.
 */
#include "fleet/meetings.h"

#include "base/memory.h"
#include "base/runs.h"
#include "base/sum.h"
#include "fleet/medians.h"
#include "facts/collective_names.h"
#include <stdlib.h>
#include <string.h>

/* A collective and what makes it the same as another. */
struct entry {
    name_id group_name, group_ranks;
    bool paired;            /* a send or receive whose two sides are known */
    int64_t source, target; /* of such */
    name_id kind;
    int64_t bytes;  /* where it must be the same on all ranks; else, and when not recorded, -1 */
    int64_t step;   /* INT64_MIN: in none, or not to be looked at */
    int64_t number; /* in the group; -1: not recorded */
    size_t order;   /* among those of one place that are alike up to here */
    int64_t device;
    size_t index; /* of the table */
    uint32_t member;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_groups(const struct entry *a, const struct entry *b)
{
    int order = compare_numbers(a->group_name, b->group_name);
    order = order ? order : compare_numbers(a->group_ranks, b->group_ranks);
    order = order ? order : compare_numbers(a->paired, b->paired);
    order = order ? order : compare_numbers(a->source, b->source);
    return order ? order : compare_numbers(a->target, b->target);
}

/* As far as being alike does not depend on the order. */
static int compare_kinds(const struct entry *a, const struct entry *b)
{
    int order = compare_groups(a, b);
    order = order ? order : compare_numbers(a->kind, b->kind);
    order = order ? order : compare_numbers(a->bytes, b->bytes);
    order = order ? order : compare_numbers(a->step, b->step);
    return order ? order : compare_numbers(a->number, b->number);
}

static int compare_places(const struct entry *a, const struct entry *b)
{
    int order = compare_numbers(a->member, b->member);
    return order ? order : compare_numbers(a->device, b->device);
}

/* Rows of a recording are by device and start. */
static int compare_indices(const struct entry *a, const struct entry *b)
{
    return (a->index > b->index) - (a->index < b->index);
}

static int compare_by_group(const void *left, const void *right)
{
    int order = compare_groups(left, right);
    return order ? order : compare_indices(left, right);
}

static int compare_within_places(const void *left, const void *right)
{
    int order = compare_kinds(left, right);
    order = order ? order : compare_places(left, right);
    return order ? order : compare_indices(left, right);
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = compare_kinds(a, b);
    order = order ? order : (a->order > b->order) - (a->order < b->order);
    return order ? order : compare_places(a, b);
}

static bool are_one(const struct entry *a, const struct entry *b)
{
    return a->order == b->order && compare_kinds(a, b) == 0;
}

/* ---- kinds ---- */

static enum collective_kind kind_of(const struct facts *facts, name_id kind)
{
    const char *text = names_text(facts->texts, kind);
    for (int k = 1; k < COLLECTIVE_KINDS; k++)
        if (strcmp(text, collective_kind_name((enum collective_kind)k)) == 0)
            return (enum collective_kind)k;
    return COLLECTIVE_UNKNOWN;
}

/* Does every rank have to arrive before any can leave? */
static bool fleet_joins_all(const struct facts *facts, const struct facts_collective *collective)
{
    return collective_joins_all(kind_of(facts, collective->kind));
}

/* Is the size the same on all ranks? Then it helps where the order is that of several threads. */
static bool has_one_size(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_BROADCAST || kind == COLLECTIVE_REDUCE;
}

/* ---- entries ---- */

/* Do all members in which something was communicated have marked steps? */
static bool have_steps(const struct fleet_job *job)
{
    const struct facts_step *steps = facts_rows(job->facts, FACTS_STEPS);
    for (size_t m = 0; m < job->members.count; m++) {
        const struct fleet_member *member = &job->members.at[m];
        if (member->count[FACTS_COLLECTIVES] == 0)
            continue;
        if (member->count[FACTS_STEPS] == 0 || steps[member->first[FACTS_STEPS]].number == FACTS_MISSING)
            return false;
    }
    return true;
}

static struct entry make_entry(const struct fleet_job *job, uint32_t m, size_t index, bool by_step)
{
    const struct facts *facts = job->facts;
    const struct fleet_member *member = &job->members.at[m];
    const struct facts_collective *one =
        (const struct facts_collective *)facts_rows(facts, FACTS_COLLECTIVES) + index;
    const struct facts_group *groups = facts_rows(facts, FACTS_GROUPS), *group = NULL;
    if (one->group >= 0 && (size_t)one->group < member->count[FACTS_GROUPS])
        group = &groups[member->first[FACTS_GROUPS] + (size_t)one->group];
    enum collective_kind kind = kind_of(facts, one->kind);
    bool one_way = kind == COLLECTIVE_SEND || kind == COLLECTIVE_RECV;
    bool paired = one_way && one->source != FACTS_MISSING;
    return (struct entry){
        .group_name = group ? group->name : NAME_NONE,
        .group_ranks = group ? group->ranks : NAME_NONE,
        .paired = paired,
        .source = paired ? one->source : -1,
        .target = paired ? one->target : -1,
        .kind = one_way ? NAME_NONE : one->kind,
        .bytes = has_one_size(kind) && one->bytes != FACTS_MISSING ? one->bytes
                 : has_one_size(kind)                              ? -1
                                                                   : -2,
        .step = by_step ? one->step : INT64_MIN,
        .number = one->sequence == FACTS_MISSING ? -1 : one->sequence,
        .device = one->device,
        .index = index,
        .member = m,
    };
}

static struct entry *make_entries(const struct fleet_job *job, size_t *count)
{
    bool by_step = have_steps(job);
    size_t all = 0;
    for (size_t m = 0; m < job->members.count; m++)
        all += job->members.at[m].count[FACTS_COLLECTIVES];
    struct entry *entries = mem_alloc(mem_times(all + 1, sizeof *entries));
    *count = 0;
    for (uint32_t m = 0; m < job->members.count; m++) {
        size_t first = job->members.at[m].first[FACTS_COLLECTIVES];
        for (size_t i = 0; i < job->members.at[m].count[FACTS_COLLECTIVES]; i++)
            entries[(*count)++] = make_entry(job, m, first + i, by_step);
    }
    return entries;
}

/* Where all of a group tell their number, it alone decides; else number and order say nothing of one another. */
static void settle_numbers(struct entry *entries, size_t count)
{
    if (count)
        qsort(entries, count, sizeof *entries, compare_by_group);
    for (size_t first = 0, end; first < count; first = end) {
        bool all = !entries[first].paired; /* each side counts its sends and receives for itself */
        bool all_sized = true;
        for (end = first; end < count && compare_groups(&entries[first], &entries[end]) == 0; end++) {
            all = all && entries[end].number >= 0;
            all_sized = all_sized && entries[end].bytes != -1;
        }
        for (size_t i = first; i < end; i++) {
            if (all) {
                entries[i].kind = NAME_NONE;
                entries[i].step = INT64_MIN;
            } else {
                entries[i].number = -1;
            }
            if (all || !all_sized)
                entries[i].bytes = -1;
        }
    }
}

static void count_orders(struct entry *entries, size_t count)
{
    if (count)
        qsort(entries, count, sizeof *entries, compare_within_places);
    for (size_t i = 1; i < count; i++)
        if (compare_places(&entries[i], &entries[i - 1]) == 0 &&
            compare_kinds(&entries[i], &entries[i - 1]) == 0)
            entries[i].order = entries[i - 1].order + 1;
}

/* ---- meetings ---- */

static struct fleet_arrival arrival_of(const struct fleet_meetings *meetings, const struct entry *entry,
                                       const struct facts_collective *const *before)
{
    const struct facts_collective *all = facts_rows(meetings->job->facts, FACTS_COLLECTIVES);
    const struct facts_collective *one = &all[entry->index];
    return (struct fleet_arrival){ .member = entry->member,
                                   .collective = one,
                                   .before = before[entry->index],
                                   .start_ns = one->start_ns,
                                   .end_ns = one->start_ns + one->duration_ns };
}

/* New, by index: the collective before of the same group at the same place. ENTRIES are in any order, and in
 * another behind. */
static const struct facts_collective **find_before(const struct fleet_job *job, struct entry *entries,
                                                   size_t count)
{
    const struct facts_collective *all = facts_rows(job->facts, FACTS_COLLECTIVES);
    const struct facts_collective **before =
        mem_zalloc(job->facts->tables[FACTS_COLLECTIVES].count + 1, sizeof *before);
    if (count)
        qsort(entries, count, sizeof *entries, compare_by_group);
    for (size_t i = 1; i < count; i++)
        if (compare_groups(&entries[i - 1], &entries[i]) == 0 &&
            compare_places(&entries[i - 1], &entries[i]) == 0)
            before[entries[i].index] = &all[entries[i - 1].index];
    return before;
}

static void find_meetings(struct fleet_meetings *meetings, struct entry *entries, size_t count)
{
    const struct facts_collective **before = find_before(meetings->job, entries, count);
    if (count)
        qsort(entries, count, sizeof *entries, compare_entries);
    meetings->arrivals = mem_alloc(mem_times(count + 1, sizeof *meetings->arrivals));
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && are_one(&entries[first], &entries[end]); end++)
            ;
        if (end - first < 2) {
            meetings->unmatched++;
            continue;
        }
        struct fleet_meeting meeting = { .first = meetings->arrival_count,
                                         .count = end - first,
                                         .by_order = entries[first].number < 0,
                                         .cause = FLEET_CAUSES };
        meeting.number = meeting.by_order ? (int64_t)entries[first].order + 1 : entries[first].number;
        for (size_t i = first; i < end; i++)
            meetings->arrivals[meetings->arrival_count++] = arrival_of(meetings, &entries[i], before);
        *VEC_PUSH(meetings) = meeting;
    }
    free(before);
}

/* New, by member: the number of its host. */
static uint32_t *hosts_of(const struct fleet_job *job)
{
    uint32_t *hosts = mem_alloc(mem_times(job->members.count + 1, sizeof *hosts));
    for (size_t m = 0; m < job->members.count; m++) {
        name_id host = job->members.at[m].recording->host;
        hosts[m] = host == NAME_NONE ? CLOCK_NO_HOST : host;
    }
    return hosts;
}

/* By the moments of the arrivals, which are those of the members' own clocks. */
static void find_clocks(struct fleet_meetings *meetings)
{
    size_t members = meetings->job->members.count;
    uint32_t *hosts = hosts_of(meetings->job);
    bool *meets = mem_zalloc(members + 1, sizeof *meets);
    struct clock_end *ends = mem_alloc(mem_times(meetings->arrival_count + 1, sizeof *ends));
    struct clock_meeting *joining = mem_alloc(mem_times(meetings->count + 1, sizeof *joining));
    struct clock_problem problem = {
        .members = members, .host = hosts, .meets = meets, .meetings = joining, .ends = ends
    };
    for (size_t a = 0; a < meetings->arrival_count; a++)
        ends[a] = (struct clock_end){ meetings->arrivals[a].member, meetings->arrivals[a].end_ns };
    for (size_t m = 0; m < meetings->count; m++) {
        const struct fleet_meeting *meeting = &meetings->at[m];
        for (size_t i = 0; i < meeting->count; i++)
            meets[ends[meeting->first + i].member] = true;
        if (fleet_joins_all(meetings->job->facts, meetings->arrivals[meeting->first].collective))
            joining[problem.count++] = (struct clock_meeting){ meeting->first, meeting->count };
    }
    free(meetings->clocks);
    meetings->clocks = rank_clocks_find(&problem);
    free(hosts);
    free(meets);
    free(ends);
    free(joining);
}

static void set_clocks_right(struct fleet_meetings *meetings)
{
    for (size_t a = 0; a < meetings->arrival_count; a++) {
        struct fleet_arrival *arrival = &meetings->arrivals[a];
        arrival->start_ns = rank_clock_moment(&meetings->clocks[arrival->member], arrival->start_ns);
        arrival->end_ns = arrival->start_ns + arrival->collective->duration_ns;
    }
}

/* The step that most of its ranks count it to, the lower of two in the middle: some may count theirs from elsewhere. */
static void set_steps(struct fleet_meetings *meetings)
{
    int64_t *steps = mem_alloc(mem_times(meetings->arrival_count + 1, sizeof *steps));
    for (size_t m = 0; m < meetings->count; m++) {
        struct fleet_meeting *meeting = &meetings->at[m];
        for (size_t i = 0; i < meeting->count; i++)
            steps[i] = meetings->arrivals[meeting->first + i].collective->step;
        meeting->step = fleet_median(steps, meeting->count);
    }
    free(steps);
}

/* ---- what was no meeting ---- */

/* Did they end together? Ranks are not let go in one moment: up to a millisecond and half the transfer is together. */
static bool ended_together(const struct fleet_meetings *meetings, const struct fleet_meeting *meeting)
{
    const struct fleet_arrival *arrivals = meetings->arrivals + meeting->first;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, shortest_ns = INT64_MAX, apart_ns;
    for (size_t i = 0; i < meeting->count; i++) {
        const struct facts_collective *one = arrivals[i].collective;
        const struct rank_clock *clock = &meetings->clocks[arrivals[i].member];
        if (clock->ahead_ns == FACTS_MISSING || one->device < 0 ||
            !fleet_joins_all(meetings->job->facts, one))
            return true;
        int64_t end_ns = rank_clock_moment(clock, arrivals[i].end_ns);
        shortest_ns = one->duration_ns < shortest_ns ? one->duration_ns : shortest_ns;
        first_ns = end_ns < first_ns ? end_ns : first_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    return !__builtin_sub_overflow(last_ns, first_ns, &apart_ns) && apart_ns <= 1000000 + shortest_ns / 2;
}

static void check_meetings(struct fleet_meetings *meetings)
{
    size_t kept = 0;
    for (size_t m = 0; m < meetings->count; m++) {
        if (meetings->at[m].by_order && !ended_together(meetings, &meetings->at[m]))
            meetings->refuted += meetings->at[m].count;
        else
            meetings->at[kept++] = meetings->at[m];
    }
    meetings->count = kept;
}

/* ---- who was last ---- */

/* All are sure, and count from the clock of one member. */
static bool has_sure_clocks(const struct fleet_meetings *meetings, const struct fleet_meeting *meeting)
{
    for (size_t i = 0; i < meeting->count; i++) {
        const struct rank_clock *clock = &meetings->clocks[meetings->arrivals[meeting->first + i].member];
        if (!clock->sure || clock->root != meetings->clocks[meetings->arrivals[meeting->first].member].root)
            return false;
    }
    return true;
}

static int64_t difference(int64_t a, int64_t b)
{
    int64_t apart;
    return !__builtin_sub_overflow(a, b, &apart) ? apart : a > b ? INT64_MAX : -INT64_MAX;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Is LATE more than the clocks and the ends of the two leave in doubt? */
static bool is_sure(const struct fleet_meetings *meetings, const struct fleet_meeting *meeting)
{
    const struct fleet_arrival *last = &meetings->arrivals[meeting->last],
                               *earliest = &meetings->arrivals[meeting->earliest];
    const struct rank_clock *a = &meetings->clocks[last->member], *b = &meetings->clocks[earliest->member];
    int64_t doubt_ns = larger(a->error_ns, b->error_ns);
    if (fleet_joins_all(meetings->job->facts, last->collective)) {
        int64_t apart_ns = difference(last->end_ns, earliest->end_ns);
        doubt_ns = larger(doubt_ns, apart_ns < 0 ? -apart_ns : apart_ns);
    }
    return meeting->late_ns > doubt_ns;
}

static void judge_by_clock(struct fleet_meetings *meetings, struct fleet_meeting *meeting)
{
    struct fleet_arrival *arrivals = meetings->arrivals;
    int64_t before_ns = INT64_MIN; /* the start of the last but one */
    meeting->last = meeting->earliest = meeting->first;
    for (size_t i = meeting->first + 1; i < meeting->first + meeting->count; i++) {
        if (arrivals[i].start_ns > arrivals[meeting->last].start_ns) {
            before_ns = arrivals[meeting->last].start_ns;
            meeting->last = i;
        } else if (arrivals[i].start_ns > before_ns) {
            before_ns = arrivals[i].start_ns;
        }
        if (arrivals[i].start_ns < arrivals[meeting->earliest].start_ns)
            meeting->earliest = i;
    }
    const struct fleet_arrival *last = &arrivals[meeting->last];
    meeting->late_ns = difference(last->start_ns, arrivals[meeting->earliest].start_ns);
    meeting->cost_ns = difference(last->start_ns, before_ns);
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        int64_t waited_ns = difference(last->start_ns, arrivals[i].start_ns),
                most_ns = arrivals[i].collective->duration_ns;
        arrivals[i].waited_ns = waited_ns < most_ns ? waited_ns : most_ns;
    }
    meeting->sure = is_sure(meetings, meeting);
}

static void judge_by_duration(struct fleet_meetings *meetings, struct fleet_meeting *meeting)
{
    struct fleet_arrival *arrivals = meetings->arrivals;
    int64_t next_ns = INT64_MAX; /* the shortest but one */
    meeting->last = meeting->earliest = meeting->first;
    for (size_t i = meeting->first + 1; i < meeting->first + meeting->count; i++) {
        int64_t dur_ns = arrivals[i].collective->duration_ns,
                shortest_ns = arrivals[meeting->last].collective->duration_ns;
        if (dur_ns < shortest_ns) {
            next_ns = shortest_ns;
            meeting->last = i;
        } else if (dur_ns < next_ns) {
            next_ns = dur_ns;
        }
        if (dur_ns > arrivals[meeting->earliest].collective->duration_ns)
            meeting->earliest = i;
    }
    int64_t transfer_ns = arrivals[meeting->last].collective->duration_ns;
    meeting->late_ns = arrivals[meeting->earliest].collective->duration_ns - transfer_ns;
    meeting->cost_ns = next_ns - transfer_ns;
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++)
        arrivals[i].waited_ns = arrivals[i].collective->duration_ns - transfer_ns;
    meeting->sure = meeting->late_ns > 0;
}

/* ---- why ---- */

const char *fleet_cause_name(enum fleet_cause cause)
{
    static const char *const names[FLEET_CAUSES + 1] = { "computation", "communication", "copies",
                                                         "data loading", "host" };
    return names[cause];
}

/* What the device of ARRIVAL did since the collective before, or, without one, since its first work; false when
 * that is not known. */
static bool spent(const struct fleet_arrival *arrival, int64_t ns[FLEET_CAUSES])
{
    static const struct facts_collective beginning = { 0 };
    const struct facts_collective *to = arrival->collective,
                                  *from = arrival->before ? arrival->before : &beginning;
    if (to->computed_before_ns == FACTS_MISSING || from->computed_until_ns == FACTS_MISSING)
        return false;
    ns[CAUSE_COMPUTATION] = difference_wrapped(to->computed_before_ns, from->computed_until_ns);
    ns[CAUSE_COMMUNICATION] = difference_wrapped(to->communicated_before_ns, from->communicated_until_ns);
    ns[CAUSE_COPIES] = difference_wrapped(to->copied_before_ns, from->copied_until_ns);
    ns[CAUSE_LOADING] = difference_wrapped(to->loading_before_ns, from->loading_until_ns);
    ns[CAUSE_HOST] = difference_wrapped(to->host_before_ns, from->host_until_ns);
    return true;
}

struct way {
    size_t arrival;
    int64_t length_ns;
};

static bool is_longer(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct way *)a)->length_ns > ((const struct way *)b)->length_ns;
}

/* The arrival whose way since the collective before is the one in the middle, the lower of two; SIZE_MAX: none is
 * known. */
static size_t find_middle(const struct fleet_meetings *meetings, const struct fleet_meeting *meeting,
                          struct way *ways)
{
    size_t count = 0;
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        const struct fleet_arrival *arrival = &meetings->arrivals[i];
        int64_t ns[FLEET_CAUSES];
        if (!spent(arrival, ns))
            continue;
        ways[count] = (struct way){ .arrival = i };
        for (int c = 0; c < FLEET_CAUSES; c++)
            add_wrapped(&ways[count].length_ns, ns[c]);
        count++;
    }
    runs_sort(ways, count, sizeof *ways, is_longer, NULL);
    return count ? ways[(count - 1) / 2].arrival : SIZE_MAX;
}

/* What the last did longer than the rank in the middle. */
static void explain(struct fleet_meetings *meetings, struct fleet_meeting *meeting, struct way *ways)
{
    int64_t own[FLEET_CAUSES], usual[FLEET_CAUSES];
    size_t middle = find_middle(meetings, meeting, ways);
    meeting->carried_ns = meeting->late_ns;
    if (!meeting->sure || middle == SIZE_MAX || middle == meeting->last ||
        !spent(&meetings->arrivals[meeting->last], own) || !spent(&meetings->arrivals[middle], usual))
        return;
    for (int c = 0; c < FLEET_CAUSES; c++) {
        meeting->grew_ns[c] = difference_wrapped(own[c], usual[c]);
        meeting->carried_ns = difference_wrapped(meeting->carried_ns, meeting->grew_ns[c]);
        if (meeting->grew_ns[c] > 0 &&
            (meeting->cause == FLEET_CAUSES || meeting->grew_ns[c] > meeting->grew_ns[meeting->cause]))
            meeting->cause = (enum fleet_cause)c;
    }
    /* Recordings need not begin at one moment: what was done since then explains only what it comes close to. */
    int64_t rest_ns = meeting->carried_ns < 0 ? -meeting->carried_ns : meeting->carried_ns;
    if (!meetings->arrivals[meeting->last].before && rest_ns > meeting->late_ns / 2)
        meeting->cause = FLEET_CAUSES;
}

static void judge_meetings(struct fleet_meetings *meetings)
{
    struct way *ways = mem_alloc(mem_times(meetings->arrival_count + 1, sizeof *ways));
    for (size_t m = 0; m < meetings->count; m++) {
        struct fleet_meeting *meeting = &meetings->at[m];
        meeting->by_clock = has_sure_clocks(meetings, meeting);
        if (meeting->by_clock)
            judge_by_clock(meetings, meeting);
        else
            judge_by_duration(meetings, meeting);
        meeting->transfer_ns = meetings->arrivals[meeting->last].collective->duration_ns;
        for (size_t i = 0; i < meeting->count; i++)
            sum_add(&meeting->waited_ns, meetings->arrivals[meeting->first + i].waited_ns);
        explain(meetings, meeting, ways);
    }
    free(ways);
}

/* ---- who is to blame ---- */

/* An arrival among those of its device, by time. */
struct visit {
    size_t arrival, meeting;
};

static bool is_later_visit(const void *context, const void *left, const void *right)
{
    const struct fleet_meetings *meetings = context;
    const struct fleet_arrival *a = &meetings->arrivals[((const struct visit *)left)->arrival],
                               *b = &meetings->arrivals[((const struct visit *)right)->arrival];
    int order = compare_numbers(a->member, b->member);
    order = order ? order : compare_numbers(a->collective->device, b->collective->device);
    return (order ? order : compare_numbers(a->collective->start_ns, b->collective->start_ns)) > 0;
}

/* New, by device and time; INDEX: where each arrival came to lie. */
static struct visit *list_visits(const struct fleet_meetings *meetings, size_t *index)
{
    struct visit *visits = mem_alloc(mem_times(meetings->arrival_count + 1, sizeof *visits));
    size_t count = 0;
    for (size_t m = 0; m < meetings->count; m++)
        for (size_t i = 0; i < meetings->at[m].count; i++)
            visits[count++] = (struct visit){ meetings->at[m].first + i, m };
    runs_sort(visits, count, sizeof *visits, is_later_visit, meetings);
    for (size_t i = 0; i < count; i++)
        index[visits[i].arrival] = i;
    return visits;
}

/* The meeting in which the last of MEETING waited longest since it met this group before; NULL: in none for long
 * enough. */
static const struct fleet_meeting *find_reason(const struct fleet_meetings *meetings,
                                               const struct fleet_meeting *meeting,
                                               const struct visit *visits, const size_t *index)
{
    enum { MOST_VISITS = 4096 };
    const struct fleet_arrival *last = &meetings->arrivals[meeting->last];
    int64_t from_ns = last->before ? last->before->start_ns + last->before->duration_ns : INT64_MIN;
    int64_t longest_ns = 0, waited_ns = 0;
    const struct fleet_meeting *reason = NULL;
    for (size_t i = index[meeting->last], looked_at = 0; i > 0 && looked_at < MOST_VISITS; i--, looked_at++) {
        const struct fleet_arrival *visit = &meetings->arrivals[visits[i - 1].arrival];
        if (visit->member != last->member || visit->collective->device != last->collective->device ||
            visit->collective->start_ns < from_ns)
            break;
        sum_add(&waited_ns, visit->waited_ns);
        if (visit->waited_ns > longest_ns) {
            longest_ns = visit->waited_ns;
            reason = &meetings->at[visits[i - 1].meeting];
        }
    }
    return reason && reason->sure && waited_ns >= meeting->grew_ns[CAUSE_COMMUNICATION] / 2 ? reason : NULL;
}

/* Meetings are by the start of the last, so that what a meeting goes back to has been settled before. */
static void find_blamed(struct fleet_meetings *meetings)
{
    size_t *index = mem_alloc(mem_times(meetings->arrival_count + 1, sizeof *index));
    struct visit *visits = list_visits(meetings, index);
    for (size_t m = 0; m < meetings->count; m++) {
        struct fleet_meeting *meeting = &meetings->at[m];
        meeting->blamed = meeting->last;
        meeting->blamed_cause = meeting->cause;
        const struct fleet_meeting *reason =
            meeting->cause == CAUSE_COMMUNICATION ? find_reason(meetings, meeting, visits, index) : NULL;
        if (!reason || reason >= meeting)
            continue;
        meeting->blamed = reason->blamed;
        meeting->blamed_cause = reason->blamed_cause;
    }
    free(visits);
    free(index);
}

static bool is_later(const void *context, const void *a, const void *b)
{
    const struct fleet_meetings *meetings = context;
    const struct fleet_meeting *left = a, *right = b;
    int64_t left_ns = meetings->arrivals[left->last].start_ns,
            right_ns = meetings->arrivals[right->last].start_ns;
    return left_ns != right_ns ? left_ns > right_ns : left->first > right->first;
}

void fleet_meetings_init(struct fleet_meetings *meetings, const struct fleet_job *job)
{
    size_t count;
    struct entry *entries = make_entries(job, &count);
    *meetings = (struct fleet_meetings){ .job = job };
    settle_numbers(entries, count);
    count_orders(entries, count);
    find_meetings(meetings, entries, count);
    free(entries);
    find_clocks(meetings);
    check_meetings(meetings);
    if (meetings->refuted) /* the others tell better how far clocks are apart */
        find_clocks(meetings);
    set_clocks_right(meetings);
    set_steps(meetings);
    judge_meetings(meetings);
    runs_sort(meetings->at, meetings->count, sizeof *meetings->at, is_later, meetings);
    find_blamed(meetings);
}

void fleet_meetings_release(struct fleet_meetings *meetings)
{
    VEC_FREE(meetings);
    free(meetings->arrivals);
    free(meetings->clocks);
    *meetings = (struct fleet_meetings){ 0 };
}
