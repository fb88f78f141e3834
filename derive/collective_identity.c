#include "derive/collective_identity.h"

#include "base/stats.h"
#include "base/sum.h"
#include <math.h>

/* clang-format off */
#define ID(member) ASC(struct identity, member)
#define GROUP_KEYS ID(job), ID(group_name), ID(group_ranks), ID(paired), ID(source), ID(target), ID(apart)
#define KIND_KEYS GROUP_KEYS, ID(kind), ID(size), ID(step), ID(round), ID(number)
/* clang-format on */

static const struct key by_round_seat_index[] = { GROUP_KEYS, ID(round), ID(seat), ID(index), KEY_END };
static const struct key round_of_group[] = { GROUP_KEYS, ID(round), KEY_END };
static const struct key seat_of_round[] = { GROUP_KEYS, ID(round), ID(seat), KEY_END };
static const struct key by_pair[] = { GROUP_KEYS, KEY_END };
static const struct key by_seat[] = { KIND_KEYS, ID(seat), KEY_END };
static const struct key by_seat_index[] = { KIND_KEYS, ID(seat), ID(index), KEY_END };
const struct key identities_by_collective[] = { KIND_KEYS, ID(order), KEY_END };
static const struct key by_order_index[] = { KIND_KEYS, ID(order), ID(index), KEY_END };
const struct key identity_by_group[] = { GROUP_KEYS, ID(index), KEY_END };
const struct key identity_of_seat[] = { GROUP_KEYS, ID(seat), KEY_END };

bool collective_has_one_size(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_BROADCAST || kind == COLLECTIVE_REDUCE;
}

static void settle_numbers(struct identity *at, size_t count)
{
    SORT_ARRAY(at, count, identity_by_group);
    FOR_GROUPS_OF(at, count, by_pair, first, end) {
        bool all = !at[first].paired; /* each side numbers its sends and receives separately */
        bool all_sized = true;
        for (size_t i = first; i < end; i++) {
            all = all && at[i].number >= 0;
            all_sized = all_sized && at[i].size != IDENTITY_ANY_SIZE;
        }
        for (size_t i = first; i < end; i++) {
            if (all) {
                at[i].kind = 0;
                at[i].step = INT64_MIN;
                at[i].round = 0;
            } else {
                at[i].number = -1;
            }
            if (all || !all_sized)
                at[i].size = IDENTITY_ANY_SIZE;
        }
    }
}

/* The first of AT from FIRST up to END that is of a step, STEP or later, and has no number; END: there is none. */
static size_t first_from_step(const struct identity *at, size_t first, size_t end, int64_t step)
{
    while (first < end && (at[first].step == INT64_MIN || at[first].step < step || at[first].number >= 0))
        first++;
    return first;
}

/* Of a group in a round, seat after seat in order of time: recordings begin at any moment before their first step, so that what is before the
 * first step that all have is counted back from there. */
static void settle_beginnings(struct identity *at, size_t count)
{
    int64_t latest = INT64_MIN;
    bool any_before = false;
    FOR_GROUPS_OF(at, count, seat_of_round, first, end) {
        size_t i = first_from_step(at, first, end, INT64_MIN);
        any_before |= i > first && i < end;
        if (i < end && at[i].step > latest)
            latest = at[i].step;
    }
    if (!any_before)
        return;
    FOR_GROUPS_OF(at, count, seat_of_round, first, end) {
        size_t until = first_from_step(at, first, end, latest);
        for (size_t i = first; i < until && until < end; i++)
            if (at[i].number < 0)
                at[i].step = IDENTITY_BEFORE;
    }
}

/* ---- groups that are not recorded ---- */

/* A member of a collective. */
struct part_taken {
    uint64_t seat;
    size_t collective; /* counts up */
    const struct identity *of;
};

static const struct key by_seat_collective[] = { ASC(struct part_taken, seat),
                                                 ASC(struct part_taken, collective), KEY_END };
static const struct key of_one_seat[] = { ASC(struct part_taken, seat), KEY_END };

/* Do the seats of A and B, A_COUNT and B_COUNT parts in order of collectives, end together? Then their ends lie apart by their clocks
 * alone, and that varies by a tenth of what their durations differ by at most, or by too little to matter. True if too few tell. */
static bool end_together(const struct part_taken *a, size_t a_count, const struct part_taken *b,
                         size_t b_count)
{
    enum { LEAST = 3, TENTH = 10, LITTLE_NS = 25000, LITTLE_OF_TIME = 500 };
    int64_t *apart_ns = mem_alloc(mem_times(a_count + 1, sizeof *apart_ns)), *sorted_ns;
    double varies_ns = 0, differ_ns = 0, first_ns = INFINITY, last_ns = -INFINITY;
    size_t both = 0;
    for (size_t i = 0, k = 0; i < a_count; i++) {
        while (k < b_count && b[k].collective < a[i].collective)
            k++;
        if (k == b_count || b[k].collective != a[i].collective || !a[i].of->joins_all)
            continue;
        const struct identity *one = a[i].of, *other = b[k].of;
        apart_ns[both++] = difference_saturated(other->end_ns, one->end_ns);
        differ_ns += fabs(((double)one->end_ns - (double)one->start_ns) -
                          ((double)other->end_ns - (double)other->start_ns));
        first_ns = fmin(first_ns, (double)one->end_ns);
        last_ns = fmax(last_ns, (double)one->end_ns);
    }
    sorted_ns = mem_alloc(mem_times(both + 1, sizeof *sorted_ns));
    memcpy(sorted_ns, apart_ns, both * sizeof *sorted_ns);
    double clock_ns = both ? (double)stats_lower_median(sorted_ns, both) : 0;
    for (size_t i = 0; i < both; i++)
        varies_ns += fabs((double)apart_ns[i] - clock_ns);
    EACH(free, apart_ns, sorted_ns);
    return both < LEAST || varies_ns <= differ_ns / TENTH || varies_ns <= (double)both * LITTLE_NS ||
           varies_ns <= (last_ns - first_ns) / LITTLE_OF_TIME;
}

/* Tell the groups of the COUNT identities AT of a group that is not recorded apart, in order of collectives; returns how many there are, or 0
 * where all are of one. Of very many none is known: then each seat is alone. */
static size_t find_groups(struct identity *at, size_t count)
{
    enum { LEAST_SEATS = 3, MOST_GROUPS = 64 };
    SCOPED struct part_taken *parts = mem_alloc(mem_times(count + 1, sizeof *parts));
    size_t collective = 0, seats = 0, groups = 0;
    FOR_GROUPS_OF(at, count, identities_by_collective, first, end) {
        for (size_t i = first; i < end; i++)
            parts[i] = (struct part_taken){ at[i].seat, collective, &at[i] };
        collective++;
    }
    SORT_ARRAY(parts, count, by_seat_collective);
    struct { /* the seat of each group that was found first */
        const struct part_taken *parts;
        size_t count;
    } known[MOST_GROUPS];
    SCOPED uint32_t *group_of = mem_zalloc(count + 1, sizeof *group_of);
    FOR_GROUPS_OF(parts, count, of_one_seat, first, end) {
        size_t g = 0;
        while (g < groups && g < MOST_GROUPS &&
               !end_together(known[g].parts, known[g].count, &parts[first], end - first))
            g++;
        if (g == groups && groups < MOST_GROUPS) {
            known[g].parts = &parts[first];
            known[g].count = end - first;
        }
        groups += g == groups;
        seats++;
        for (size_t i = first; i < end; i++)
            group_of[parts[i].of - at] = (uint32_t)g + 1;
    }
    bool several = seats >= LEAST_SEATS && groups > 1;
    for (size_t i = 0; i < count && several; i++)
        at[i].apart = at[i].is_message ? 0 : group_of[i]; /* that is of pairs of ranks */
    return several ? groups : 0;
}

/* Is the group of ONE not recorded, so that its members have to be found? */
static bool has_no_group(const struct identity *one)
{
    return one->group_name == NAME_NONE && one->group_ranks == NAME_NONE && !one->paired && one->number < 0 &&
           one->on_host;
}

size_t identities_match(struct identity *at, size_t count)
{
    size_t groups = 0;
    settle_numbers(at, count);
    SORT_ARRAY(at, count, by_round_seat_index);
    FOR_GROUPS_OF(at, count, round_of_group, first, end)
        settle_beginnings(at + first, end - first);
    SORT_ARRAY(at, count, by_seat_index);
    FOR_GROUPS_OF(at, count, by_seat, first, end)
        for (size_t i = first; i < end; i++)
            at[i].order = at[i].step == IDENTITY_BEFORE ? end - 1 - i : i - first;
    SORT_ARRAY(at, count, by_order_index);
    FOR_GROUPS_OF(at, count, by_pair, first, end)
        if (has_no_group(&at[first]))
            groups += find_groups(at + first, end - first);
    if (groups)
        SORT_ARRAY(at, count, by_order_index);
    return groups;
}
