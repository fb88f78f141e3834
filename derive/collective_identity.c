#include "derive/collective_identity.h"

/* clang-format off */
#define ID(member) ASC(struct identity, member)
#define GROUP_KEYS ID(job), ID(group_name), ID(group_ranks), ID(paired), ID(source), ID(target)
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

void identities_match(struct identity *at, size_t count)
{
    settle_numbers(at, count);
    SORT_ARRAY(at, count, by_round_seat_index);
    FOR_GROUPS_OF(at, count, round_of_group, first, end)
        settle_beginnings(at + first, end - first);
    SORT_ARRAY(at, count, by_seat_index);
    FOR_GROUPS_OF(at, count, by_seat, first, end)
        for (size_t i = first; i < end; i++)
            at[i].order = at[i].step == IDENTITY_BEFORE ? end - 1 - i : i - first;
    SORT_ARRAY(at, count, by_order_index);
}
