/* The first pass collects the ends of collectives that need all ranks, for the clocks; the
 * second pass visits collectives again and keeps only the results; finally waiting is attributed to ranks. */
#include "fleet/meetings.h"

#include "base/runs.h"
#include "base/search.h"
#include "base/sum.h"
#include "derive/collective_matches.h"
#include <inttypes.h>

/* ---- last ranks ---- */

/* A meeting of SLICE that is judged: FIRST, LAST and EARLIEST of MEETING are among the arrivals of the slice. */
struct hearing {
    struct fleet_meetings *meetings;
    struct slice_arrival *arrivals;
    struct fleet_meeting *meeting;
};

static void set_clocks_right(struct hearing *hearing)
{
    const struct fleet_meeting *meeting = hearing->meeting;
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        struct slice_arrival *arrival = &hearing->arrivals[i];
        arrival->start_ns =
            rank_clock_moment(&hearing->meetings->clocks[arrival->row->member], arrival->start_ns);
        arrival->end_ns = arrival->start_ns + arrival->row->collective->duration_ns;
        if (arrival->start_ns < hearing->meetings->first_ns)
            hearing->meetings->first_ns = arrival->start_ns;
    }
}

/* The step in which its ranks issued it, a lower median: ranks may count from different origins. */
static void set_step(const struct hearing *hearing, int64_t *steps)
{
    struct fleet_meeting *meeting = hearing->meeting;
    for (size_t i = 0; i < meeting->count; i++)
        steps[i] = hearing->arrivals[meeting->first + i].row->collective->step;
    meeting->step = fleet_median(steps, meeting->count);
}

/* Are all clocks sure, and relative to the clock of one member? */
static bool has_sure_clocks(const struct hearing *hearing)
{
    const struct rank_clock *clocks = hearing->meetings->clocks;
    const struct slice_arrival *arrivals = hearing->arrivals + hearing->meeting->first;
    for (size_t i = 0; i < hearing->meeting->count; i++) {
        const struct rank_clock *clock = &clocks[arrivals[i].row->member];
        if (!clock->sure || clock->root != clocks[arrivals[0].row->member].root)
            return false;
    }
    return true;
}

/* Does LATE exceed the uncertainty of the clocks and the ends of the two? Where all ranks must arrive, none is over before the last begins:
 * then these are not the same, or the clocks are worse than they seem. */
static bool is_sure(const struct hearing *hearing)
{
    enum { ERRORS = 3 };
    const struct fleet_meetings *meetings = hearing->meetings;
    const struct slice_arrival *last = &hearing->arrivals[hearing->meeting->last],
                               *earliest = &hearing->arrivals[hearing->meeting->earliest];
    int64_t doubt_ns = greater_of(meetings->clocks[last->row->member].error_ns,
                                  meetings->clocks[earliest->row->member].error_ns);
    if (slice_joins_all(meetings->job, last->row->collective)) {
        int64_t apart_ns = difference_saturated(last->end_ns, earliest->end_ns);
        if (difference_saturated(last->start_ns, earliest->end_ns) > ERRORS * doubt_ns)
            return false;
        doubt_ns = greater_of(doubt_ns, apart_ns < 0 ? -apart_ns : apart_ns);
    }
    return hearing->meeting->late_ns > doubt_ns;
}

static void judge_by_clock(const struct hearing *hearing)
{
    struct slice_arrival *arrivals = hearing->arrivals;
    struct fleet_meeting *meeting = hearing->meeting;
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
    const struct slice_arrival *last = &arrivals[meeting->last];
    meeting->late_ns = difference_saturated(last->start_ns, arrivals[meeting->earliest].start_ns);
    meeting->cost_ns = difference_saturated(last->start_ns, before_ns);
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        int64_t waited_ns = difference_saturated(last->start_ns, arrivals[i].start_ns),
                most_ns = arrivals[i].row->collective->duration_ns;
        arrivals[i].waited_ns = waited_ns < most_ns ? waited_ns : most_ns;
    }
    meeting->sure = is_sure(hearing);
}

static void judge_by_duration(const struct hearing *hearing)
{
    struct slice_arrival *arrivals = hearing->arrivals;
    struct fleet_meeting *meeting = hearing->meeting;
    int64_t next_ns = INT64_MAX; /* the shortest but one */
    meeting->last = meeting->earliest = meeting->first;
    for (size_t i = meeting->first + 1; i < meeting->first + meeting->count; i++) {
        int64_t dur_ns = arrivals[i].row->collective->duration_ns,
                shortest_ns = arrivals[meeting->last].row->collective->duration_ns;
        if (dur_ns < shortest_ns) {
            next_ns = shortest_ns;
            meeting->last = i;
        } else if (dur_ns < next_ns) {
            next_ns = dur_ns;
        }
        if (dur_ns > arrivals[meeting->earliest].row->collective->duration_ns)
            meeting->earliest = i;
    }
    int64_t transfer_ns = arrivals[meeting->last].row->collective->duration_ns;
    meeting->late_ns = arrivals[meeting->earliest].row->collective->duration_ns - transfer_ns;
    meeting->cost_ns = next_ns - transfer_ns;
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++)
        arrivals[i].waited_ns = arrivals[i].row->collective->duration_ns - transfer_ns;
    meeting->sure = meeting->late_ns > 0;
}

/* ---- causes ---- */

const char *fleet_cause_name(enum fleet_cause cause)
{
    static const char *const names[FLEET_CAUSES + 1] = { "computation", "communication", "copies",
                                                         "data loading", "host" };
    return names[cause];
}

/* What the device did until ROW since the collective before, or, without one, since its first work; false if
 * unknown. */
static bool spent(const struct slice_row *row, int64_t ns[FLEET_CAUSES])
{
    static const struct facts_collective beginning = { 0 };
    const struct facts_collective *to = row->collective, *from = row->before ? row->before : &beginning;
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

static const struct key by_length[] = { ASC(struct way, length_ns), KEY_END };

/* The arrival with the (lower) median time since the previous collective; SIZE_MAX if unknown. */
static size_t find_middle(const struct hearing *hearing, struct way *ways)
{
    const struct fleet_meeting *meeting = hearing->meeting;
    size_t count = 0;
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        int64_t ns[FLEET_CAUSES];
        if (!spent(hearing->arrivals[i].row, ns))
            continue;
        ways[count] = (struct way){ .arrival = i };
        for (int c = 0; c < FLEET_CAUSES; c++)
            add_wrapped(&ways[count].length_ns, ns[c]);
        count++;
    }
    SORT_ARRAY(ways, count, by_length);
    return count ? ways[(count - 1) / 2].arrival : SIZE_MAX;
}

/* What the last did longer than the median rank. */
static void explain(const struct hearing *hearing, struct way *ways)
{
    struct fleet_meeting *meeting = hearing->meeting;
    const struct slice_row *last = hearing->arrivals[meeting->last].row;
    int64_t own[FLEET_CAUSES], usual[FLEET_CAUSES];
    size_t middle = find_middle(hearing, ways);
    meeting->carried_ns = meeting->late_ns;
    if (!meeting->sure || middle == SIZE_MAX || middle == meeting->last || !spent(last, own) ||
        !spent(hearing->arrivals[middle].row, usual))
        return;
    for (int c = 0; c < FLEET_CAUSES; c++) {
        meeting->grew_ns[c] = difference_wrapped(own[c], usual[c]);
        meeting->carried_ns = difference_wrapped(meeting->carried_ns, meeting->grew_ns[c]);
        if (meeting->grew_ns[c] > 0 &&
            (meeting->cause == FLEET_CAUSES || meeting->grew_ns[c] > meeting->grew_ns[meeting->cause]))
            meeting->cause = (enum fleet_cause)c;
    }
    /* Recordings may begin at different moments: work since then explains lateness only if the sums nearly agree. */
    int64_t rest_ns = meeting->carried_ns < 0 ? -meeting->carried_ns : meeting->carried_ns;
    if (!last->before && rest_ns > meeting->late_ns / 2)
        meeting->cause = FLEET_CAUSES;
}

/* Whom all wait for, if the recorder of the last says so: a rank that is not among them. */
static void find_known_outside(const struct hearing *hearing, const struct facts_collective *last)
{
    struct fleet_meeting *meeting = hearing->meeting;
    const struct slice_arrival *arrivals = hearing->arrivals + meeting->first;
    const struct fleet_member *members = hearing->meetings->job->members.at;
    meeting->outside_rank = -1;
    meeting->outside_ns = 0;
    meeting->tells_last = last->waited_rank != FACTS_MISSING && last->waited_ns != FACTS_MISSING;
    if (!meeting->tells_last ||
        ANY(i, meeting->count, members[arrivals[i].row->member].rank == last->waited_rank))
        return;
    meeting->outside_ns = group_transfer_outside(last->duration_ns, last->waited_ns);
    meeting->outside_rank = meeting->outside_ns ? last->waited_rank : -1;
}

/* Data about the last that is needed after the slice is released. */
static void describe_last(const struct hearing *hearing)
{
    struct fleet_meeting *meeting = hearing->meeting;
    const struct slice_arrival *last = &hearing->arrivals[meeting->last];
    const struct facts_collective *one = last->row->collective, *before = last->row->before;
    meeting->transfer_ns = one->duration_ns;
    meeting->kind = one->kind;
    meeting->bytes = one->bytes;
    meeting->source = one->source;
    meeting->target = one->target;
    meeting->group = slice_group(hearing->meetings->job, last->row);
    meeting->start_ns = last->start_ns;
    meeting->since_ns = before ? before->start_ns + before->duration_ns : INT64_MIN;
    find_known_outside(hearing, one);
}

static void judge(const struct hearing *hearing, struct way *ways)
{
    struct fleet_meeting *meeting = hearing->meeting;
    meeting->by_clock = has_sure_clocks(hearing);
    if (meeting->by_clock)
        judge_by_clock(hearing);
    else
        judge_by_duration(hearing);
    for (size_t i = 0; i < meeting->count; i++)
        sum_add(&meeting->waited_ns, hearing->arrivals[meeting->first + i].waited_ns);
    describe_last(hearing);
    explain(hearing, ways);
}

/* Was the last recorded for less than half of its lateness? What it did before is not recorded, and whether it was late is not
 * known: the profiler of a rank may start seconds after that of another. */
static bool is_before_recording(const struct hearing *hearing)
{
    const struct slice_row *last = hearing->arrivals[hearing->meeting->last].row;
    int64_t begin_ns = hearing->meetings->job->members.at[last->member].recording->start_ns;
    return begin_ns != FACTS_MISSING &&
           difference_saturated(last->collective->start_ns, begin_ns) < hearing->meeting->late_ns / 2;
}

/* ---- what is kept ---- */

/* Is the step in which COLLECTIVE was issued a complete one of its device? */
static bool is_in_complete_step(const struct fleet_job *job, const struct slice_row *row)
{
    const struct fleet_member *member = &job->members.at[row->member];
    size_t i, count = member->count[FACTS_STEPS];
    if (count == 0)
        return false;
    const struct facts_step *steps =
        (const struct facts_step *)facts_rows(job->facts, FACTS_STEPS) + member->first[FACTS_STEPS];
    int64_t device = row->collective->device, number = row->collective->step;
    SEARCH(i, count, steps[i].device < device || (steps[i].device == device && steps[i].number < number));
    return i < count && steps[i].device == device && steps[i].number == number && steps[i].complete == 1;
}

/* Count the waiting in MEETING of SLICE as before a recording: nobody waited for anyone that is known. */
static void meetings_leave_out(struct fleet_meetings *meetings, const struct slice *slice,
                               struct fleet_meeting *meeting)
{
    for (size_t i = meeting->first; i < meeting->first + meeting->count; i++) {
        struct slice_arrival *arrival = &slice->arrivals[i];
        int64_t exposed_ns = arrival->row->collective->exposed_ns;
        if (exposed_ns != FACTS_MISSING && is_in_complete_step(slice->job, arrival->row))
            sum_add(&meetings->unrecorded_ns,
                    exposed_ns < arrival->waited_ns ? exposed_ns : arrival->waited_ns);
        arrival->waited_ns = 0;
    }
    meeting->before_recording = true;
    meeting->sure = false;
    meeting->waited_ns = meeting->cost_ns = 0;
}

/* Add MEETING, whose arrivals are those of the slice, and the kept data of these; WAITS are by row of the slice. */
static void keep(struct fleet_meetings *meetings, const struct slice *slice, struct fleet_meeting meeting,
                 int64_t *waits)
{
    size_t first = meetings->arrivals.count;
    for (size_t i = meeting.first; i < meeting.first + meeting.count; i++) {
        const struct slice_arrival *arrival = &slice->arrivals[i];
        const struct facts_collective *one = arrival->row->collective;
        *VEC_PUSH(&meetings->arrivals) =
            (struct fleet_arrival){ arrival->row->member, one->device, one->start_ns, arrival->waited_ns };
        waits[arrival->row - slice->rows.at] = arrival->waited_ns + meeting.outside_ns;
        if (one->exposed_ns == FACTS_MISSING || !is_in_complete_step(slice->job, arrival->row))
            continue;
        int64_t waited_ns = one->exposed_ns < arrival->waited_ns ? one->exposed_ns : arrival->waited_ns,
                rest_ns = one->exposed_ns - waited_ns;
        sum_add(&meetings->exposed_wait_ns, waited_ns);
        sum_add(&meetings->exposed_outside_ns, rest_ns < meeting.outside_ns ? rest_ns : meeting.outside_ns);
    }
    meeting.last += first - meeting.first;
    meeting.earliest += first - meeting.first;
    meeting.first = first;
    *VEC_PUSH(meetings) = meeting;
}

static const struct key by_group[] = { ASC(struct fleet_group_sum, name),
                                       ASC(struct fleet_group_sum, description),
                                       ASC(struct fleet_group_sum, ranks), ASC(struct fleet_group_sum, rank),
                                       KEY_END };

/* Sort and merge the sums from FIRST on, one for each group and rank. */
static void join_sums(struct fleet_meetings *meetings, size_t first)
{
    struct fleet_group_sum *sums = meetings->groups.at;
    size_t kept = first;
    if (meetings->groups.count == first)
        return;
    SORT_ARRAY(sums + first, meetings->groups.count - first, by_group);
    for (size_t i = first; i < meetings->groups.count; i++) {
        if (kept == first || rows_compare(&sums[kept - 1], &sums[i], by_group) != 0) {
            sums[kept++] = sums[i];
            continue;
        }
        struct fleet_group_sum *sum = &sums[kept - 1];
        sum->count += sums[i].count;
        sum->met += sums[i].met;
        sum_add(&sum->bytes, sums[i].bytes);
        sum_add(&sum->time_ns, sums[i].time_ns);
        sum_add(&sum->exposed_ns, sums[i].exposed_ns);
        sum_add(&sum->waited_ns, sums[i].waited_ns);
        sum_add(&sum->transfer_ns, sums[i].transfer_ns);
    }
    meetings->groups.count = kept;
}

static void add_sums(struct fleet_meetings *meetings, const struct slice *slice, const int64_t *waits)
{
    enum { MOST_AT_ONCE = 65536 };
    size_t first = meetings->groups.count, most = MOST_AT_ONCE;
    for (size_t i = 0; i < slice->rows.count; i++) {
        const struct facts_collective *one = slice->rows.at[i].collective;
        const struct facts_group *group = slice_group(slice->job, &slice->rows.at[i]);
        bool met = waits[i] != FACTS_MISSING;
        *VEC_PUSH(&meetings->groups) = (struct fleet_group_sum){
            .name = group ? group->name : NAME_NONE,
            .description = group ? group->description : NAME_NONE,
            .ranks = group ? group->ranks : NAME_NONE,
            .rank = slice->job->members.at[slice->rows.at[i].member].rank,
            .count = 1,
            .bytes = one->bytes == FACTS_MISSING ? 0 : one->bytes,
            .time_ns = one->duration_ns,
            .exposed_ns = one->exposed_ns == FACTS_MISSING ? 0 : one->exposed_ns,
            .met = met,
            .waited_ns = met ? waits[i] : 0,
            .transfer_ns = met ? one->duration_ns - waits[i] : 0,
        };
        if (meetings->groups.count - first < most)
            continue;
        join_sums(meetings, first);
        most = 2 * (meetings->groups.count - first) + MOST_AT_ONCE;
    }
    join_sums(meetings, first);
}

/* Judge all meetings of SLICE. *JOINING: index of its first meeting among those of ENDS; advanced to the next slice. */
static void judge_slice(struct fleet_meetings *meetings, struct slice *slice, const struct ends *ends,
                        size_t *joining)
{
    SCOPED struct way *ways = mem_alloc(mem_times(slice->arrival_count + 1, sizeof *ways));
    SCOPED int64_t *steps = mem_alloc(mem_times(slice->arrival_count + 1, sizeof *steps));
    SCOPED int64_t *waits = mem_alloc(mem_times(slice->rows.count + 1, sizeof *waits));
    VEC_RESERVE(&meetings->arrivals, slice->arrival_count);
    VEC_RESERVE(meetings, slice->meetings.count);
    for (size_t i = 0; i < slice->rows.count; i++)
        waits[i] = FACTS_MISSING;
    FOR_EACH(found, &slice->meetings) {
        bool refuted = ends_has(slice, found) && ends->joining.at[(*joining)++].refuted;
        struct fleet_meeting meeting = { .first = found->first,
                                         .count = found->count,
                                         .number = found->number,
                                         .by_order = found->by_order,
                                         .cause = FLEET_CAUSES };
        struct hearing hearing = { meetings, slice->arrivals, &meeting };
        set_clocks_right(&hearing);
        if (refuted)
            continue;
        set_step(&hearing, steps);
        judge(&hearing, ways);
        if (is_before_recording(&hearing))
            meetings_leave_out(meetings, slice, &meeting);
        keep(meetings, slice, meeting, waits);
        for (size_t i = 0; meeting.before_recording && i < meeting.count; i++)
            waits[slice->arrivals[meeting.first + i].row - slice->rows.at] = FACTS_MISSING;
    }
    add_sums(meetings, slice, waits);
    meetings->unmatched += slice->unmatched;
    meetings->found_groups += slice->found_groups;
}

/* ---- attribution ---- */

/* An arrival among those of its device, by time. */
struct visit {
    size_t arrival, meeting;
};

/* New, by device and time; INDEX: the position of each arrival. */
static struct visit *list_visits(const struct fleet_meetings *meetings, size_t *index)
{
    struct visit *visits = mem_alloc(mem_times(meetings->arrivals.count + 1, sizeof *visits));
    size_t count = 0;
    for (size_t m = 0; m < meetings->count; m++)
        for (size_t i = 0; i < meetings->at[m].count; i++)
            visits[count++] = (struct visit){ meetings->at[m].first + i, m };
    const struct fleet_arrival *arrivals = meetings->arrivals.at;
    SORT_BY(visits, count, i, arrivals[visits[i].arrival].began_ns);
    SORT_BY(visits, count, i, arrivals[visits[i].arrival].device);
    SORT_BY(visits, count, i, arrivals[visits[i].arrival].member);
    for (size_t i = 0; i < count; i++)
        index[visits[i].arrival] = i;
    return visits;
}

/* The meeting in which the last of MEETING waited longest since it met this group before; NULL: none long enough. */
static const struct fleet_meeting *find_reason(const struct fleet_meetings *meetings,
                                               const struct fleet_meeting *meeting,
                                               const struct visit *visits, const size_t *index)
{
    enum { MOST_VISITS = 4096 };
    const struct fleet_arrival *last = &meetings->arrivals.at[meeting->last];
    int64_t longest_ns = 0, waited_ns = 0;
    const struct fleet_meeting *reason = NULL;
    for (size_t i = index[meeting->last], looked_at = 0; i > 0 && looked_at < MOST_VISITS; i--, looked_at++) {
        const struct fleet_arrival *visit = &meetings->arrivals.at[visits[i - 1].arrival];
        if (visit->member != last->member || visit->device != last->device ||
            visit->began_ns < meeting->since_ns)
            break;
        sum_add(&waited_ns, visit->waited_ns);
        if (visit->waited_ns > longest_ns) {
            longest_ns = visit->waited_ns;
            reason = &meetings->at[visits[i - 1].meeting];
        }
    }
    return reason && reason->sure && waited_ns >= meeting->grew_ns[CAUSE_COMMUNICATION] / 2 ? reason : NULL;
}

/* A rank that was late since before its recording began goes on being late for as long as it is the last: the
 * hosts of the others ran ahead while they waited. So much of its lateness is not known to be its own. VISITS
 * are those of all devices. */
static void carry_over(struct fleet_meetings *meetings, const struct visit *visits)
{
    int64_t late_ns = 0;
    for (size_t i = 0; i < meetings->arrivals.count; i++) {
        const struct fleet_arrival *visit = &meetings->arrivals.at[visits[i].arrival],
                                   *before = i ? &meetings->arrivals.at[visits[i - 1].arrival] : visit;
        struct fleet_meeting *meeting = &meetings->at[visits[i].meeting];
        bool is_last = meeting->last == visits[i].arrival;
        if (before->member != visit->member || before->device != visit->device)
            late_ns = 0;
        if (is_last && meeting->before_recording) {
            sum_add(&late_ns, meeting->late_ns);
        } else if (is_last && late_ns > 0 && meeting->late_ns <= late_ns) {
            late_ns -= meeting->late_ns;
            meeting->before_recording = true;
            meeting->sure = false;
        } else {
            late_ns = 0;
        }
    }
    for (size_t m = 0; m < meetings->count; m++)
        meetings->unrecorded += meetings->at[m].before_recording;
}

/* Members of MEETING wait on for OUTSIDE_NS: nobody here is to blame. */
static void set_outside(struct fleet_meetings *meetings, struct fleet_meeting *meeting, int64_t outside_ns)
{
    meeting->waits_outside = true;
    meeting->sure = false;
    meeting->cost_ns = 0;
    meetings->outside++;
    sum_add(&meetings->outside_ns, (int64_t)meeting->count * outside_ns);
}

static void find_outside_rank(struct fleet_meetings *meetings)
{
    SCOPED VEC_OF(struct rank_wait) waits = { 0 };
    FOR_EACH(meeting, meetings)
        if (meeting->outside_ns > 0)
            *VEC_PUSH(&waits) =
                (struct rank_wait){ meeting->outside_rank, meeting->group ? meeting->group->size : -1,
                                    (int64_t)meeting->count * meeting->outside_ns };
    struct rank_wait longest = rank_wait_longest(waits.at, waits.count);
    meetings->outside_rank = longest.rank;
    meetings->outside_size = longest.size;
}

/* Find the meetings whose members wait on for ranks that were not recorded. */
static void find_outside(struct fleet_meetings *meetings)
{
    const struct fleet_job *job = meetings->job;
    SCOPED VEC_OF(struct group_transfer) transfers = { 0 };
    for (size_t m = 0; m < meetings->count; m++) {
        struct fleet_meeting *meeting = &meetings->at[m];
        const struct facts_group *group = meeting->group;
        if (meeting->outside_ns > 0)
            set_outside(meetings, meeting, meeting->outside_ns);
        enum collective_kind kind = collective_kind_of(names_text(job->facts->texts, meeting->kind));
        int64_t size = group && group->size > 0 ? group->size : job->world_size;
        bool lacks = size == FACTS_MISSING || size <= 0 || size > (int64_t)meeting->count;
        if (lacks && !meeting->tells_last && meeting->bytes > 0 && meeting->transfer_ns > 0 &&
            collective_joins_all(kind))
            *VEC_PUSH(&transfers) = (struct group_transfer){ .group_name = group ? group->name : NAME_NONE,
                                                             .group_ranks = group ? group->ranks : NAME_NONE,
                                                             .kind = kind,
                                                             .bytes = meeting->bytes,
                                                             .ns = meeting->transfer_ns,
                                                             .index = m };
    }
    group_transfers_judge(transfers.at, transfers.count);
    for (size_t i = 0; i < transfers.count; i++) {
        if (transfers.at[i].outside_ns > 0)
            set_outside(meetings, &meetings->at[transfers.at[i].index], transfers.at[i].outside_ns);
    }
    find_outside_rank(meetings);
}

/* Meetings are sorted by the start of the last, so that earlier meetings are resolved first. */
static void find_blamed(struct fleet_meetings *meetings)
{
    SCOPED size_t *index = mem_alloc(mem_times(meetings->arrivals.count + 1, sizeof *index));
    SCOPED struct visit *visits = list_visits(meetings, index);
    carry_over(meetings, visits);
    find_outside(meetings);
    FOR_EACH(meeting, meetings) {
        meeting->blamed = meeting->last;
        meeting->blamed_cause = meeting->cause;
        const struct fleet_meeting *reason =
            meeting->cause == CAUSE_COMMUNICATION ? find_reason(meetings, meeting, visits, index) : NULL;
        if (!reason || reason >= meeting)
            continue;
        meeting->blamed = reason->blamed;
        meeting->blamed_cause = reason->blamed_cause;
    }
}

/* By the start of the last. The rest only breaks ties, independent of the order in which they were found. */
static int compare_meetings(const struct fleet_meetings *meetings, const struct fleet_meeting *a,
                            const struct fleet_meeting *b)
{
    const struct fleet_arrival *last = &meetings->arrivals.at[a->last],
                               *other = &meetings->arrivals.at[b->last];
    int order = compare_integers(a->start_ns, b->start_ns);
    order = order ? order : compare_integers(last->member, other->member);
    order = order ? order : compare_integers(last->device, other->device);
    order =
        order ? order : compare_integers(a->group ? a->group->group : -1, b->group ? b->group->group : -1);
    order = order ? order : compare_integers(a->number, b->number);
    order = order ? order : compare_integers(a->source, b->source);
    order = order ? order : compare_integers(a->target, b->target);
    order = order ? order : compare_integers(a->transfer_ns, b->transfer_ns);
    order = order ? order : compare_integers(a->bytes, b->bytes);
    order = order ? order
                  : strcmp(names_text(meetings->job->facts->texts, a->kind),
                           names_text(meetings->job->facts->texts, b->kind));
    order = order ? order : compare_integers((int64_t)a->count, (int64_t)b->count);
    return order ? order : compare_integers(a->late_ns, b->late_ns);
}

static bool is_later(const void *context, const void *a, const void *b)
{
    return compare_meetings(context, a, b) > 0;
}

/* ---- slices ---- */

struct pass {
    const struct fleet_job *job;
    const struct fleet_files *files; /* NULL: all collectives are in the facts */
    bool *mixed;                     /* by group: no slice has all of its collectives */
    bool any_mixed;
    struct slice *kept; /* slice of the facts, made once; NULL: not yet, or taken */
};

static void pass_init(struct pass *pass, const struct fleet_job *job, const struct fleet_files *files)
{
    *pass = (struct pass){ .job = job, .files = files };
    if (files)
        pass->mixed = slice_find_mixed(job, &pass->any_mixed);
}

static bool add_file(const struct pass *pass, struct slice *slice, size_t file, bool mixed,
                     struct tpa_error *err)
{
    const char *path = pass->files->of[FILE_SLICE].at[file];
    SCOPED_BY(source_free_at)
    struct source *source = source_open(path, &(struct source_limits){ .max_ratio = 0 }, err);
    bool good = source && slice_add_file(slice, pass->files->facts, pass->mixed, mixed, source, err);
    return good || tpa_in_file(err, path);
}

static size_t slice_count(const struct pass *pass)
{
    return pass->files ? pass->files->of[FILE_SLICE].count + pass->any_mixed : 1;
}

/* Load slice INDEX; after those of the files, the one of groups that are not complete in any. *LOADED is new in any case;
 * free with arena_free. */
static bool collect_slice(struct pass *pass, struct slice **loaded, size_t index, struct tpa_error *err)
{
    if (!pass->files) {
        *loaded = pass->kept ? pass->kept : slice_of_facts(pass->job);
        pass->kept = NULL;
        return true;
    }
    size_t files = pass->files->of[FILE_SLICE].count;
    bool good = true, mixed = index == files;
    struct slice *slice = *loaded = slice_open(pass->job);
    for (size_t file = mixed ? 0 : index; good && file < (mixed ? files : index + 1); file++)
        good = add_file(pass, slice, file, mixed, err);
    if (good && mixed)
        slice_sort(slice);
    if (good)
        slice_finish(slice);
    return good;
}

static bool find_ends(struct pass *pass, struct ends *ends, struct tpa_error *err)
{
    bool good = true;
    for (size_t i = 0; i < slice_count(pass) && good; i++) {
        struct slice *slice;
        good = collect_slice(pass, &slice, i, err);
        if (good)
            ends_add(ends, slice);
        if (!pass->files)
            pass->kept = slice;
        else
            arena_free(slice);
    }
    return good;
}

static bool judge_slices(struct pass *pass, struct fleet_meetings *meetings, const struct ends *ends,
                         struct tpa_error *err)
{
    size_t joining = 0;
    bool good = true;
    for (size_t i = 0; i < slice_count(pass) && good; i++) {
        struct slice *slice;
        good = collect_slice(pass, &slice, i, err);
        if (good)
            judge_slice(meetings, slice, ends, &joining);
        meetings->rows += slice->rows.count;
        if (!pass->files || i < pass->files->of[FILE_SLICE].count)
            meetings->strangers += slice->strangers;
        arena_free(slice);
    }
    join_sums(meetings, 0);
    return good;
}

bool fleet_meetings_find_ends(struct ends *ends, const struct fleet_files *files, struct tpa_error *err)
{
    struct pass pass;
    pass_init(&pass, ends->job, files);
    bool good = find_ends(&pass, ends, err);
    arena_free(pass.kept);
    free(pass.mixed);
    return good;
}

bool fleet_meetings_judge(struct fleet_meetings *meetings, const struct fleet_job *job,
                          const struct fleet_files *files, const struct fleet_clocks *clocks,
                          struct tpa_error *err)
{
    struct ends ends;
    struct pass pass;
    struct fleet_clocks found = { NULL, NULL };
    *meetings = (struct fleet_meetings){ .job = job, .first_ns = INT64_MAX };
    SCOPED_ARENA struct arena scratch = { 0 };
    ends_init(&ends, job, &scratch);
    pass_init(&pass, job, files);
    bool good = find_ends(&pass, &ends, err);
    if (good && !clocks)
        ends_find_clocks(&ends, &found);
    if (good && clocks) {
        size_t bytes = mem_times(job->members.count, sizeof *found.settled);
        found.settled = memcpy(mem_alloc(bytes), clocks->settled, bytes);
    }
    meetings->clocks = found.settled;
    if (good) {
        meetings->refuted = ends_refute(&ends, clocks ? clocks->first : found.first);
        good = judge_slices(&pass, meetings, &ends, err);
    }
    free(found.first);
    arena_free(pass.kept);
    free(pass.mixed);
    return good;
}

/* Duplicates are an error; collectives mentioned in the facts but missing are counted. */
static bool count_absent(struct fleet_meetings *meetings, const struct fleet_files *files,
                         struct tpa_error *err)
{
    uint64_t recorded = SUM(uint64_t, m, meetings->job->members.count,
                            (uint64_t)slice_collectives_of(meetings->job, &meetings->job->members.at[m]));
    meetings->absent = recorded > meetings->rows ? recorded - meetings->rows : 0;
    return !files || meetings->rows <= recorded ||
           tpa_fail(err, TPA_NOWHERE,
                    "the separate files hold %" PRIu64 " collectives, but the facts record %" PRIu64
                    ": is one given twice?",
                    meetings->rows, recorded);
}

bool fleet_meetings_finish(struct fleet_meetings *meetings, const struct fleet_files *files,
                           struct tpa_error *err)
{
    if (!count_absent(meetings, files, err))
        return false;
    join_sums(meetings, 0);
    runs_sort(meetings->at, meetings->count, sizeof *meetings->at, is_later, meetings);
    find_blamed(meetings);
    return true;
}
