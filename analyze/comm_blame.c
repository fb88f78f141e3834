/* comm_blame.c - the ranks that the others waited for in collectives, by the rule of fleet/meetings.c. Nobody is to blame where all waited on
 * for ranks that were not recorded. */
#include "analyze/comm.h"

#include "base/sum.h"
#include "derive/rank_turns.h"

/* By how much LATE grew by communication since this group met before, if that grew most; of one that did not meet before, all of
 * it may be that. 0: something else grew most. */
static int64_t grown_communication(const struct comm_late *late)
{
    int64_t grown_ns = late->part_ns[LATE_COMMUNICATION];
    if (grown_ns == TABLE_INT_MISSING)
        return late->late_ns;
    if (ANY(part, LATE_PARTS, late->part_ns[part] > grown_ns))
        return 0;
    return grown_ns > 0 ? grown_ns : 0;
}

static bool has_group_of(const struct collective *a, const struct collective *b)
{
    return a->group_name == b->group_name && a->group_description == b->group_description &&
           a->group_ranks == b->group_ranks;
}

/* The last of the match of LATE, by clocks where they are sure. */
static size_t last_of(const struct comm_query *query, const struct comm_late *late)
{
    return late->sure ? late->index_of_last : query->matches->at[late->match].last;
}

/* The match in which the last of the match of LATE waited longest since it met this group before; MATCH_NONE: it did not wait for most
 * of that time. */
static size_t find_reason(const struct comm_query *query, const struct comm_late *late)
{
    enum { MOST = 4096 };
    const struct collective_matches *matches = query->matches;
    const struct collective *all = query->collectives->at;
    int64_t grown_ns = grown_communication(late);
    size_t last = last_of(query, late), longest = MATCH_NONE;
    int64_t waited_ns = 0;
    for (size_t i = last, looked_at = 0; i > 0 && looked_at < MOST && grown_ns > 0; i--, looked_at++) {
        const struct collective *one = &all[i - 1];
        if (one->place != all[last].place || has_group_of(one, &all[last]))
            break;
        sum_add(&waited_ns, matches->waited_ns[i - 1]);
        if (matches->waited_ns[i - 1] > (longest == MATCH_NONE ? 0 : matches->waited_ns[longest]))
            longest = i - 1;
    }
    return longest == MATCH_NONE || waited_ns < grown_ns / 2 ? MATCH_NONE : matches->match_of[longest];
}

static struct comm_blame blame_of(const struct comm_query *query, size_t collective)
{
    uint32_t file = query->collectives->places[query->collectives->at[collective].place].file;
    return (struct comm_blame){ .rank = selection_rank(query->trace, file) };
}

/* Add what the members of MATCH waited, and that it was for the rank of the collective BLAMED. */
static void blame_add_match(const struct comm_query *query, const struct collective_match *match,
                            size_t blamed)
{
    struct comm_blame cause = blame_of(query, blamed);
    const size_t *member = query->matches->member + match->first;
    for (size_t i = 0; i < match->count; i++) {
        struct comm_blame wait = blame_of(query, member[i]);
        wait.waited_ns = query->held[member[i]] ? query->matches->waited_ns[member[i]] : 0;
        sum_add(&cause.caused_ns, wait.waited_ns);
        *VEC_PUSH(&query->comm->blame) = wait;
    }
    *VEC_PUSH(&query->comm->blame) = cause;
}

static const struct key by_rank[] = { ASC(struct comm_blame, rank), KEY_END };
static const struct key by_caused[] = { DESC(struct comm_blame, caused_ns), KEY_END };

/* One row for each rank. */
static void sum_up(struct comm *comm)
{
    size_t count = 0;
    SORT(&comm->blame, by_rank);
    FOR_GROUPS(&comm->blame, by_rank, first, end) {
        struct comm_blame sum = { .rank = comm->blame.at[first].rank };
        for (size_t i = first; i < end; i++) {
            sum_add(&sum.caused_ns, comm->blame.at[i].caused_ns);
            sum_add(&sum.waited_ns, comm->blame.at[i].waited_ns);
        }
        comm->blame.at[count++] = sum;
    }
    comm->blame.count = count;
}

void comm_find_blame(const struct comm_query *query)
{
    struct comm *comm = query->comm;
    size_t *blamed =
        mem_alloc(mem_times(query->matches->count + 1, sizeof *blamed)); /* by match, a collective */
    for (size_t m = 0; m < query->matches->count; m++)
        blamed[m] = MATCH_NONE;
    for (size_t i = 0; i < comm->lateness.count; i++) { /* by time: the reason of a match is before it */
        const struct comm_late *late = &comm->lateness.at[i];
        const struct collective_match *match = &query->matches->at[late->match];
        if (match->before_recording || match->outside_ns > 0 || match->wait_ns == 0)
            continue;
        size_t reason = find_reason(query, late);
        blamed[late->match] =
            reason == MATCH_NONE || blamed[reason] == MATCH_NONE ? last_of(query, late) : blamed[reason];
        blame_add_match(query, match, blamed[late->match]);
    }
    free(blamed);
    sum_up(comm);
    struct rank_turn *turns = mem_alloc(mem_times(comm->blame.count + 1, sizeof *turns));
    for (size_t i = 0; i < comm->blame.count; i++)
        turns[i] = (struct rank_turn){ comm->blame.at[i].caused_ns, comm->blame.at[i].waited_ns };
    comm->in_turn = ranks_take_turns(turns, comm->blame.count);
    free(turns);
    SORT(&comm->blame, by_caused);
}
