#include "derive/collective_identity.h"

/* clang-format off */
#define ID(member) ASC(struct identity, member)
#define GROUP_KEYS ID(job), ID(group_name), ID(group_ranks), ID(paired), ID(source), ID(target)
#define KIND_KEYS GROUP_KEYS, ID(kind), ID(size), ID(step), ID(round), ID(number)
/* clang-format on */

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

void identities_match(struct identity *at, size_t count)
{
    settle_numbers(at, count);
    SORT_ARRAY(at, count, by_seat_index);
    FOR_GROUPS_OF(at, count, by_seat, first, end)
        for (size_t i = first; i < end; i++)
            at[i].order = i - first;
    SORT_ARRAY(at, count, by_order_index);
}
