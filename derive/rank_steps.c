#include "derive/rank_steps.h"

#include "base/rows.h"
#include <inttypes.h>

static const struct key by_rank[] = { ASC(struct rank_step, job), ASC(struct rank_step, rank), KEY_END };

static const struct key by_number[] = { ASC(struct rank_step, job), ASC(struct rank_step, rank),
                                        ASC(struct rank_step, number), KEY_END };

static const struct key by_job[] = { ASC(struct rank_step, job), KEY_END };

struct numbers {
    VEC_OF(int64_t);
};

/* The numbers that at least half of RANKS ranks have, of COUNT steps. */
static struct numbers find_common(const struct rank_step *steps, size_t count, size_t ranks)
{
    struct numbers all = { 0 }, common = { 0 };
    for (size_t i = 0; i < count; i++)
        if (steps[i].number != RANK_STEP_NONE)
            *VEC_PUSH(&all) = steps[i].number;
    SORT_NUMBERS(all.at, all.count);
    FOR_GROUPS(&all, rows_ascending_i64, first, end)
        if (2 * (end - first) >= ranks)
            *VEC_PUSH(&common) = all.at[first];
    VEC_FREE(&all);
    return common;
}

/* Does the rank with these COUNT steps lack more of the COMMON ones than the first and the last? */
static bool find_lack(const struct rank_step *steps, size_t count, const struct numbers *common,
                      struct rank_steps_lack *lack)
{
    *lack = (struct rank_steps_lack){ steps->job, steps->rank, steps->source, 0, (int64_t)common->count };
    size_t next = 0, lost = 0;
    for (size_t i = 0; i < common->count; i++) {
        while (next < count && steps[next].number < common->at[i])
            next++;
        bool has = next < count && steps[next].number == common->at[i];
        lack->has += has;
        lost += !has && i > 0 && i + 1 < common->count;
    }
    return lost > 0 || 2 * lack->has <= lack->of;
}

struct rank_steps rank_steps_lacking(struct rank_step *steps, size_t count)
{
    struct rank_steps lacking = { 0 };
    SORT_ARRAY(steps, count, by_number);
    count = rows_unique(steps, count, sizeof *steps, by_number);
    FOR_GROUPS_OF(steps, count, by_job, first, end) {
        size_t ranks = rows_count_groups(steps + first, end - first, sizeof *steps, by_rank);
        if (ranks < 2)
            continue;
        SCOPED struct numbers common = find_common(steps + first, end - first, ranks);
        FOR_GROUPS_OF(steps + first, end - first, by_rank, own, behind) {
            struct rank_steps_lack lack;
            if (common.count && find_lack(steps + first + own, behind - own, &common, &lack))
                *VEC_PUSH(&lacking) = lack;
        }
    }
    return lacking;
}

void rank_steps_describe(const struct rank_steps_lack *lack, struct buffer *out)
{
    buffer_printf(out, "rank %" PRId64 " has %" PRId64 " of the %" PRId64 " steps that most ranks have",
                  lack->rank, lack->has, lack->of);
}
