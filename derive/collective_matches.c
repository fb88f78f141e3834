#include "derive/collective_matches.h"

#include "base/sum.h"
#include "derive/collective_identity.h"
#include "derive/file_set.h"
#include "derive/step_list.h"
#include "trace/derived.h"
#include "trace/span.h"
#include "base/stats.h"

/* Do all files with communication have steps? */
static bool have_steps(const struct collectives *all, const struct step_list *steps)
{
    bool *has_steps = mem_zalloc(all->trace->file_count + 1, sizeof *has_steps), every = true;
    for (size_t i = 0; i < steps->count; i++)
        has_steps[steps->at[i].file] = true;
    for (size_t i = 0; i < all->count; i++)
        every = every && has_steps[all->places[all->at[i].place].file];
    free(has_steps);
    return every;
}

/* A number for the rank and the device, or the host, of a file: equal for the cycles of a rank. Devices come before hosts. */
static uint64_t seat_of(const struct file_set *set, const struct collective_place *place)
{
    uint64_t rank = set->files[place->file].rank, is_host = place->device < 0;
    return is_host << 63 | rank << 31 | (is_host ? 0 : (uint32_t)place->device);
}

/* New, by file: was the recording given before? */
static bool *find_repeats(const struct file_set *set)
{
    bool *repeats = mem_zalloc(set->count + 1, sizeof *repeats);
    SCOPED_OBJECT struct names *seen = names_open();
    for (uint32_t file = 0; file < set->count; file++) {
        uint32_t key[] = { set->files[file].process, set->files[file].cycle };
        size_t known = names_count(seen);
        repeats[file] = names_add(seen, (const char *)key, sizeof key) < known;
    }
    return repeats;
}

/* MOMENT of a file as a time that is comparable between files, if they record the origin of their clocks. */
static int64_t absolute(const struct collectives *all, const struct collective *one, int64_t moment_ns)
{
    const struct trace_file *file = &all->trace->files[all->places[one->place].file];
    int64_t absolute_ns;
    if (!file->has_base || __builtin_add_overflow(moment_ns, file->base_ns, &absolute_ns))
        return moment_ns;
    return absolute_ns;
}

static struct identity *make_identities(const struct collectives *all, size_t *count)
{
    SCOPED_OBJECT struct step_list *steps = step_list_open(all->trace);
    const struct file_set *set = file_set_of(all->trace);
    bool by_step = have_steps(all, steps), *repeats = find_repeats(set),
         *launching = collective_places_launching(all);
    struct identity *identities = mem_alloc(mem_times(all->count + 1, sizeof *identities));
    *count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct collective *one = &all->at[i];
        const struct collective_place *place = &all->places[one->place];
        if (!one->timed || repeats[place->file])
            continue;
        bool from_before = one->launch == EVENT_NONE && launching[one->place];
        const struct step *step =
            by_step && !from_before ? step_list_at(steps, place->file, collective_issued_ns(all, one)) : NULL;
        bool one_way = one->kind == COLLECTIVE_SEND || one->kind == COLLECTIVE_RECV;
        bool paired = one_way && one->source >= 0;
        identities[(*count)++] = (struct identity){
            .group_name = one->group_name,
            .group_ranks = one->group_ranks,
            .paired = paired,
            .source = paired ? one->source : -1,
            .target = paired ? one->target : -1,
            .kind = one_way ? COLLECTIVE_SEND_RECV : one->kind,
            .size = !collective_has_one_size(one->kind) ? IDENTITY_NO_SIZE
                    : one->size_bytes >= 0              ? one->size_bytes
                                                        : IDENTITY_ANY_SIZE,
            .step = step ? step->number : INT64_MIN,
            .number = one->sequence,
            .round = set->files[place->file].round,
            .seat = seat_of(set, place),
            .on_host = place->device < 0,
            .is_message = one_way,
            .joins_all = collective_joins_all(one->kind),
            .start_ns = absolute(all, one, trace_start_ns(all->trace, one->event)),
            .end_ns = absolute(all, one, trace_end_ns(all->trace, one->event)),
            .job = set->files[place->file].job,
            .index = i,
        };
    }
    EACH(free, repeats, launching);
    return identities;
}

static void find_matches(struct collective_matches *matches, const struct identity *identities, size_t count)
{
    size_t members = 0;
    FOR_GROUPS_OF(identities, count, identities_by_collective, first, end) {
        if (end - first < 2)
            continue;
        for (size_t i = first; i < end; i++)
            matches->member[members + i - first] = identities[i].index;
        struct collective_match match = { .first = members,
                                          .count = end - first,
                                          .by_order = identities[first].number < 0 };
        match.number = match.by_order ? (int64_t)identities[first].order + 1 : identities[first].number;
        *VEC_PUSH(matches) = match;
        members += end - first;
    }
}

/* ---- clocks ---- */

enum { CLOCKS_DRIFT_NS = 1000000 }; /* smaller differences may be caused by the network */

/* The offsets of clocks, by the ends of collectives that ended for all at about the same time. Each round is compared with the
 * first place in it, as clocks drift from round to round. */
static void compare_clocks(struct collective_matches *matches)
{
    const struct collectives *all = matches->collectives;
    const struct file_set *set = file_set_of(all->trace);
    SCOPED VEC_OF(int64_t) *ahead = mem_zalloc(all->place_count + 1, sizeof *ahead);
    struct round_reference {
        uint64_t seat;
        uint32_t place;
    } *references = mem_alloc(mem_times(set->count + 1, sizeof *references)); /* by round */
    for (size_t r = 0; r < set->count; r++)
        references[r] = (struct round_reference){ UINT64_MAX, UINT32_MAX };
    for (size_t m = 0; m < matches->count; m++)
        for (size_t i = 0; i < matches->at[m].count; i++) {
            uint32_t p = all->at[matches->member[matches->at[m].first + i]].place;
            const struct collective_place *place = &all->places[p];
            struct round_reference *reference = &references[set->files[place->file].round];
            if (seat_of(set, place) < reference->seat)
                *reference = (struct round_reference){ seat_of(set, place), p };
        }
    FOR_EACH(match, matches) {
        const size_t *member = matches->member + match->first;
        const struct collective *first = &all->at[member[0]];
        uint32_t reference = references[set->files[all->places[first->place].file].round].place;
        for (size_t i = 1; i < match->count && first->place != reference; i++)
            first = &all->at[member[i]];
        if (first->place != reference || !collective_joins_all(first->kind))
            continue;
        int64_t end_ns = absolute(all, first, trace_end_ns(all->trace, first->event));
        for (size_t i = 0; i < match->count; i++) {
            const struct collective *one = &all->at[matches->member[match->first + i]];
            int64_t own_end_ns = absolute(all, one, trace_end_ns(all->trace, one->event)), ahead_ns;
            if (!__builtin_sub_overflow(own_end_ns, end_ns, &ahead_ns))
                *VEC_PUSH(&ahead[one->place]) = ahead_ns;
        }
    }
    for (size_t p = 0; p < all->place_count; p++) {
        matches->anchors[p] = (int64_t)ahead[p].count;
        matches->clock_ns[p] =
            ahead[p].count ? stats_lower_median(ahead[p].at, ahead[p].count) : CLOCK_UNKNOWN;
        matches->deviation_ns[p] =
            ahead[p].count ? rank_clocks_deviation(ahead[p].at, ahead[p].count, matches->clock_ns[p]) : 0;
        VEC_FREE(&ahead[p]);
    }
    free(references);
}

/* Do two files use the same clock? */
static bool share_clock(const struct trace *trace, uint32_t a, uint32_t b)
{
    const struct trace_file *one = &trace->files[a], *other = &trace->files[b];
    return a == b || (one->has_base && other->has_base && one->host_name && other->host_name &&
                      *one->host_name && strcmp(one->host_name, other->host_name) == 0);
}

/* Are the members on one host? Hosts of several machines may have one name; then their clocks differ, to judge by when
 * collectives ended. */
static bool is_on_one_clock(const struct collective_matches *matches, const size_t *members, size_t count)
{
    const struct collectives *all = matches->collectives;
    uint32_t first = all->at[members[0]].place;
    for (size_t i = 1; i < count; i++) {
        uint32_t place = all->at[members[i]].place;
        int64_t a = matches->clock_ns[first], b = matches->clock_ns[place], apart_ns;
        if (!share_clock(all->trace, all->places[first].file, all->places[place].file))
            return false;
        if (a != CLOCK_UNKNOWN && b != CLOCK_UNKNOWN &&
            (__builtin_sub_overflow(a, b, &apart_ns) || apart_ns > CLOCKS_DRIFT_NS ||
             apart_ns < -CLOCKS_DRIFT_NS))
            return false;
    }
    return true;
}

/* Find the last and first to arrive by durations: the last to arrive does not wait. */
static void find_last_by_duration(struct collective_match *match, const struct collectives *all,
                                  const size_t *members)
{
    int64_t longest_ns = INT64_MIN;
    match->transfer_ns = INT64_MAX;
    for (size_t i = 0; i < match->count; i++) {
        int64_t dur_ns = trace_dur_ns(all->trace, all->at[members[i]].event);
        if (dur_ns < match->transfer_ns) {
            match->transfer_ns = dur_ns;
            match->last = members[i];
        }
        if (dur_ns > longest_ns) {
            longest_ns = dur_ns;
            match->earliest = members[i];
        }
    }
}

/* The same by start times, on one clock. */
static void find_last_by_start(struct collective_match *match, const struct collectives *all,
                               const size_t *members)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t i = 0; i < match->count; i++) {
        const struct collective *one = &all->at[members[i]];
        int64_t start_ns = absolute(all, one, trace_start_ns(all->trace, one->event));
        if (start_ns > last_ns) {
            last_ns = start_ns;
            match->last = members[i];
        }
        if (start_ns < first_ns) {
            first_ns = start_ns;
            match->earliest = members[i];
        }
    }
    match->transfer_ns = trace_dur_ns(all->trace, all->at[match->last].event);
}

/* The time ONE of MATCH waited for the last to arrive, in ns. */
static int64_t wait_of(const struct collectives *all, const struct collective_match *match,
                       const struct collective *one)
{
    const struct collective *last = &all->at[match->last];
    int64_t dur_ns = trace_dur_ns(all->trace, one->event), waited_ns;
    if (!match->one_clock)
        return dur_ns - match->transfer_ns;
    if (__builtin_sub_overflow(absolute(all, last, trace_start_ns(all->trace, last->event)),
                               absolute(all, one, trace_start_ns(all->trace, one->event)), &waited_ns))
        return dur_ns;
    return waited_ns < dur_ns ? waited_ns : dur_ns;
}

/* How long the recording of the last to arrive had gone on when it arrived. */
static int64_t recorded_before(const struct collectives *all, const struct collective_match *match)
{
    const struct collective *last = &all->at[match->last];
    return trace_start_ns(all->trace, last->event) -
           trace_file_span(all->trace, all->places[last->place].file).start_ns;
}

/* The profiler of a rank may start seconds after that of another: was the last recorded for less than half of its lateness? */
static bool is_before_recording(const struct collectives *all, const struct collective_match *match)
{
    uint32_t last = all->places[all->at[match->last].place].file,
             earliest = all->places[all->at[match->earliest].place].file;
    return last != earliest && recorded_before(all, match) < match->wait_ns / 2;
}

/* Determine the last to arrive, and the waiting time. */
static void judge_matches(struct collective_matches *matches)
{
    const struct collectives *all = matches->collectives;
    FOR_EACH(match, matches) {
        const size_t *members = matches->member + match->first;
        match->one_clock = is_on_one_clock(matches, members, match->count);
        if (match->one_clock)
            find_last_by_start(match, all, members);
        else
            find_last_by_duration(match, all, members);
        match->wait_ns = wait_of(all, match, &all->at[match->earliest]);
        match->before_recording = is_before_recording(all, match);
    }
}

/* ---- waits for ranks that were not recorded ---- */

static const struct key group_transfer_by_group[] = { ASC(struct group_transfer, group_name),
                                                      ASC(struct group_transfer, group_ranks),
                                                      ASC(struct group_transfer, kind), KEY_END };
static const struct key group_transfer_by_bytes[] = {
    ASC(struct group_transfer, group_name), ASC(struct group_transfer, group_ranks),
    ASC(struct group_transfer, kind),       DESC(struct group_transfer, bytes),
    ASC(struct group_transfer, ns),         KEY_END
};

void group_transfers_judge(struct group_transfer *at, size_t count)
{
    enum { SEVERAL_TIMES = 3 };
    SORT_ARRAY(at, count, group_transfer_by_bytes);
    FOR_GROUPS_OF(at, count, group_transfer_by_group, first, end) {
        int64_t least_ns = INT64_MAX; /* of those with as many bytes or more */
        for (size_t i = first; i < end; i++) {
            least_ns = at[i].ns < least_ns ? at[i].ns : least_ns;
            at[i].outside_ns = at[i].ns / SEVERAL_TIMES > least_ns ? at[i].ns - least_ns : 0;
        }
    }
}

static const struct key rank_wait_by_rank[] = { ASC(struct rank_wait, rank), KEY_END };

struct rank_wait rank_wait_longest(struct rank_wait *at, size_t count)
{
    struct rank_wait longest = { -1, -1, 0 };
    SORT_ARRAY(at, count, rank_wait_by_rank);
    FOR_GROUPS_OF(at, count, rank_wait_by_rank, first, end) {
        struct rank_wait sum = at[first];
        for (size_t i = first + 1; i < end; i++)
            sum_add(&sum.ns, at[i].ns);
        longest = sum.ns > longest.ns ? sum : longest;
    }
    return longest;
}

int64_t group_transfer_outside(int64_t transfer_ns, int64_t waited_ns)
{
    enum { LEAST_PERCENT = 5 }; /* members exchange notifications within a transfer, too */
    int64_t outside_ns = waited_ns < transfer_ns ? waited_ns : transfer_ns;
    return outside_ns > transfer_ns / 100 * LEAST_PERCENT ? outside_ns : 0;
}

/* Is rank RANK of the job, or of its group, a member of MATCH? */
static bool has_rank(const struct collective_matches *matches, const struct collective_match *match,
                     int64_t rank)
{
    const struct collectives *all = matches->collectives;
    return ANY(i, match->count,
               all->trace->files[all->places[all->at[matches->member[match->first + i]].place].file].rank ==
                   rank);
}

/* Is MATCH of a group that has more members than were recorded, or may have more? */
static bool may_lack_members(const struct collectives *all, const struct collective_match *match,
                             const struct collective *one)
{
    const struct trace_file *file = &all->trace->files[all->places[one->place].file];
    int64_t size = one->group_size > 0 ? one->group_size : file->world_size;
    return size <= 0 || size > (int64_t)match->count;
}

/* How long all of a match waited on after the last that was recorded had arrived. */
static void find_outside_waits(struct collective_matches *matches)
{
    const struct collectives *all = matches->collectives;
    SCOPED VEC_OF(struct group_transfer) transfers = { 0 };
    for (size_t m = 0; m < matches->count; m++) {
        struct collective_match *match = &matches->at[m];
        const struct collective *one = &all->at[match->last];
        match->outside_ns = 0;
        match->outside_rank = -1;
        if (one->waited_rank >= 0 && one->waited_ns >= 0) {
            if (!has_rank(matches, match, one->waited_rank))
                match->outside_ns = group_transfer_outside(match->transfer_ns, one->waited_ns);
            match->outside_rank = match->outside_ns ? one->waited_rank : -1;
            continue;
        }
        if (one->size_bytes > 0 && match->transfer_ns > 0 && collective_joins_all(one->kind) &&
            may_lack_members(all, match, one))
            *VEC_PUSH(&transfers) = (struct group_transfer){ .group_name = one->group_name,
                                                             .group_ranks = one->group_ranks,
                                                             .kind = one->kind,
                                                             .bytes = one->size_bytes,
                                                             .ns = match->transfer_ns,
                                                             .index = m };
    }
    group_transfers_judge(transfers.at, transfers.count);
    for (size_t i = 0; i < transfers.count; i++)
        matches->at[transfers.at[i].index].outside_ns = transfers.at[i].outside_ns;
}

/* By how much the ends at PLACE may be off, whose times are corrected by APPLIED_NS. */
static int64_t slack_of(const struct collective_matches *matches, uint32_t place, int64_t applied_ns)
{
    int64_t left_ns;
    if (matches->collectives->places[place].device < 0 || matches->clock_ns[place] == CLOCK_UNKNOWN ||
        __builtin_sub_overflow(matches->clock_ns[place], applied_ns, &left_ns))
        return CLOCKS_DRIFT_NS;
    return rank_clocks_slack(matches->anchors[place], matches->deviation_ns[place], left_ns);
}

/* Did the members of a match end together, by a common clock or by clocks corrected? Differences up to the slack of the clocks and half the
 * transfer are allowed; of hosts, whose threads may be delayed by others, it is enough that all were in it at one moment. True if unknown,
 * and on hosts without a common clock. */
static bool ended_together(const struct collective_matches *matches, const struct collective_match *match)
{
    const struct collectives *all = matches->collectives;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, shortest_ns = INT64_MAX, most_ns = 0, apart_ns;
    bool any_host = false;
    int64_t joined_ns = INT64_MIN; /* when the last arrived */
    for (size_t i = 0; i < match->count; i++) {
        const struct collective *one = &all->at[matches->member[match->first + i]];
        int64_t clock_ns = match->one_clock ? 0 : matches->clock_ns[one->place], end_ns;
        if (clock_ns == CLOCK_UNKNOWN || (all->places[one->place].device < 0 && !match->one_clock) ||
            !collective_joins_all(one->kind) ||
            __builtin_sub_overflow(absolute(all, one, trace_end_ns(all->trace, one->event)), clock_ns,
                                   &end_ns))
            return true;
        int64_t dur_ns = trace_dur_ns(all->trace, one->event),
                slack_ns = slack_of(matches, one->place, clock_ns);
        shortest_ns = dur_ns < shortest_ns ? dur_ns : shortest_ns;
        most_ns = slack_ns > most_ns ? slack_ns : most_ns;
        first_ns = end_ns < first_ns ? end_ns : first_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
        joined_ns = end_ns - dur_ns > joined_ns ? end_ns - dur_ns : joined_ns;
        any_host |= all->places[one->place].device < 0;
    }
    return (any_host && joined_ns <= first_ns) ||
           (!__builtin_sub_overflow(last_ns, first_ns, &apart_ns) && apart_ns <= most_ns + shortest_ns / 2);
}

/* Drop the matches that contradict the clocks. */
static void check_matches(struct collective_matches *matches)
{
    size_t kept = 0;
    for (size_t m = 0; m < matches->count; m++) {
        if (matches->at[m].by_order && !ended_together(matches, &matches->at[m]))
            matches->refuted += matches->at[m].count;
        else
            matches->at[kept++] = matches->at[m];
    }
    matches->count = kept;
}

static void judge_by_clocks(struct collective_matches *matches)
{
    compare_clocks(matches);
    judge_matches(matches);
    check_matches(matches);
}

/* New, by rank: a number for its host. */
static uint32_t *hosts_of(const struct trace *trace, const struct file_set *set)
{
    SCOPED_OBJECT struct names *hosts = names_open();
    uint32_t *host = mem_alloc(mem_times(set->ranks + 1, sizeof *host));
    for (uint32_t rank = 0; rank < set->ranks; rank++) {
        const struct trace_file *file = &trace->files[set->first[rank]];
        bool known = file->has_base && file->host_name && *file->host_name;
        host[rank] = known ? names_add(hosts, file->host_name, strlen(file->host_name)) : CLOCK_NO_HOST;
    }
    return host;
}

/* New, by file: the clock of its rank. */
static struct rank_clock *clocks_of_files(const struct file_set *set, const struct rank_clock *of_ranks)
{
    struct rank_clock *clocks = mem_alloc(mem_times(set->count + 1, sizeof *clocks));
    for (size_t f = 0; f < set->count; f++) {
        clocks[f] = of_ranks[set->files[f].rank];
        clocks[f].root = set->first[clocks[f].root];
    }
    return clocks;
}

/* The clocks of the ranks, by the matches that were not refuted. */
static void find_clocks(struct collective_matches *matches)
{
    const struct collectives *all = matches->collectives;
    const struct trace *trace = all->trace;
    const struct file_set *set = file_set_of(trace);
    SCOPED uint32_t *hosts = hosts_of(trace, set);
    SCOPED bool *meets = mem_zalloc(set->ranks + 1, sizeof *meets);
    SCOPED struct clock_end *ends = mem_alloc(mem_times(all->count + 1, sizeof *ends));
    SCOPED struct clock_meeting *joining = mem_alloc(mem_times(matches->count + 1, sizeof *joining));
    struct clock_problem problem = {
        .members = set->ranks, .host = hosts, .meets = meets, .meetings = joining, .ends = ends
    };
    for (size_t m = 0, end = 0; m < matches->count; m++) {
        const size_t *member = matches->member + matches->at[m].first;
        struct clock_meeting meeting = { end, matches->at[m].count };
        for (size_t i = 0; i < meeting.count; i++, end++) {
            const struct collective *one = &all->at[member[i]];
            uint32_t rank = set->files[all->places[one->place].file].rank;
            ends[end] = (struct clock_end){ rank, absolute(all, one, trace_end_ns(trace, one->event)) };
            meets[rank] = true;
        }
        if (collective_joins_all(all->at[member[0]].kind))
            joining[problem.count++] = meeting;
    }
    SCOPED struct rank_clock *clocks = rank_clocks_find(&problem);
    matches->clocks = clocks_of_files(set, clocks);
}

/* The results for each collective. */
static void set_members(struct collective_matches *matches)
{
    const struct collectives *all = matches->collectives;
    matches->match_of = mem_alloc(mem_times(all->count + 1, sizeof *matches->match_of));
    matches->waited_ns = mem_zalloc(all->count + 1, sizeof *matches->waited_ns);
    for (size_t i = 0; i < all->count; i++)
        matches->match_of[i] = MATCH_NONE;
    for (size_t m = 0; m < matches->count; m++)
        for (size_t i = 0; i < matches->at[m].count; i++) {
            size_t index = matches->member[matches->at[m].first + i];
            matches->match_of[index] = m;
            matches->waited_ns[index] = wait_of(all, &matches->at[m], &all->at[index]);
        }
}

/* A rank that was late since before its recording began goes on being late for as long as it is the last: the hosts of the
 * others ran ahead while they waited. So much of its lateness is not known to be its own. */
static void carry_over(struct collective_matches *matches)
{
    const struct collectives *all = matches->collectives; /* place after place, by start */
    int64_t late_ns = 0;
    for (size_t i = 0; i < all->count; i++) {
        size_t m = matches->match_of[i];
        if (i > 0 && all->at[i].place != all->at[i - 1].place)
            late_ns = 0;
        if (m == MATCH_NONE)
            continue;
        struct collective_match *match = &matches->at[m];
        if (match->last == i && match->before_recording) {
            sum_add(&late_ns, match->wait_ns);
        } else if (match->last == i && late_ns > 0 && match->wait_ns <= late_ns) {
            late_ns -= match->wait_ns;
            match->before_recording = true;
        } else {
            late_ns = 0;
        }
    }
}

struct collective_matches *collective_matches_open(const struct collectives *all)
{
    struct collective_matches *matches = arena_open(sizeof *matches);
    ARENA_OWNS(arena_of(matches), &matches->at, &matches->member, &matches->match_of, &matches->waited_ns,
               &matches->clock_ns, &matches->deviation_ns, &matches->anchors, &matches->clocks);
    size_t count;
    struct identity *identities = make_identities(all, &count);
    matches->found_groups = identities_match(identities, count);
    matches->collectives = all;
    matches->member = mem_alloc(mem_times(count + 1, sizeof *matches->member));
    find_matches(matches, identities, count);
    free(identities);
    matches->clock_ns = mem_alloc(mem_times(all->place_count + 1, sizeof *matches->clock_ns));
    matches->deviation_ns = mem_alloc(mem_times(all->place_count + 1, sizeof *matches->deviation_ns));
    matches->anchors = mem_alloc(mem_times(all->place_count + 1, sizeof *matches->anchors));
    judge_by_clocks(matches);
    if (matches->refuted) /* the clocks of those that are kept may refute more */
        judge_by_clocks(matches);
    find_outside_waits(matches);
    find_clocks(matches);
    set_members(matches);
    carry_over(matches);
    return matches;
}

/* How much of the beginning of a collective, an index, waited for a rank whose recording had not begun, in ns. */
static int64_t unrecorded_ns(const struct collective_matches *matches, size_t collective)
{
    const struct collectives *all = matches->collectives;
    size_t m = matches->match_of[collective];
    if (m == MATCH_NONE ||
        all->places[all->at[collective].place].file == all->places[all->at[matches->at[m].last].place].file)
        return 0;
    return matches->waited_ns[collective] - recorded_before(all, &matches->at[m]);
}

const struct key unrecorded_wait_by_device[] = { ASC(struct unrecorded_wait, file),
                                                 ASC(struct unrecorded_wait, device),
                                                 ASC(struct unrecorded_wait, event), KEY_END };

static struct unrecorded_waits *unrecorded_waits_open(const struct trace *trace)
{
    if (trace->file_count < 2)
        return arena_open(sizeof(struct unrecorded_waits));
    SCOPED_OBJECT struct collectives *all = collectives_open(trace);
    struct unrecorded_waits *waits = arena_open(sizeof *waits + mem_times(all->count, sizeof waits->at[0]));
    SCOPED_OBJECT struct collective_matches *matches = collective_matches_open(all);
    for (size_t i = 0; i < all->count; i++) {
        const struct collective_place *place = &all->places[all->at[i].place];
        int64_t start_ns = trace_start_ns(trace, all->at[i].event), ns = unrecorded_ns(matches, i);
        if (ns <= 0 || place->device < 0)
            continue;
        ns -= collective_place_computed(place, start_ns, start_ns + ns);
        waits->at[waits->count++] =
            (struct unrecorded_wait){ all->at[i].event, place->file, place->device, start_ns, ns };
    }
    SORT(waits, unrecorded_wait_by_device);
    return waits;
}

DERIVED(unrecorded_waits, unrecorded_waits_of, unrecorded_waits_open);

int64_t unrecorded_waits_between(const struct unrecorded_waits *waits, uint32_t file, int64_t from_ns,
                                 int64_t to_ns)
{
    int64_t most_ns = 0, sum_ns = 0;
    for (size_t i = 0; i < waits->count; i++) {
        const struct unrecorded_wait *wait = &waits->at[i];
        if (i == 0 || waits->at[i - 1].file != wait->file || waits->at[i - 1].device != wait->device)
            sum_ns = 0;
        if (wait->file != file || wait->start_ns < from_ns || wait->start_ns >= to_ns)
            continue;
        sum_ns += wait->ns;
        most_ns = sum_ns > most_ns ? sum_ns : most_ns;
    }
    return most_ns;
}
