/*
 * test_fleet.c - fleet/fleet.h on a job of three ranks, small enough to work out by hand.
 *
 * One group of all, numbers told. In true time, in us ('[' begins, ']' ends):
 *
 *     number   rank 0      rank 1      rank 2      last   late   waited
 *     1        [100 210]   [150 210]   [200 210]   2      100    100 + 50 + 0   = 150
 *     2        [310 420]   [410 420]   [320 420]   1      100    100 + 0 + 90   = 190
 *     3        [520 531]   [521 531]   [521 531]   1 or 2   1    in doubt: the clocks are 0.5 us apart
 *
 * The clock of rank 1 is 7000 us ahead, that of rank 2 is 40 us behind; their ends vary by up to 2 us (below).
 * Between 1 and 2, rank 1 computes 200 us and is idle for nothing, ranks 0 and 2 compute 100 and 110 us.
 */

#include "tests/unit/scratch.h"
#include "fleet/fleet.h"
#include <math.h>

enum { RANKS = 3, COLLECTIVES = 3 };

static const int64_t us = 1000, ahead_us[RANKS] = { 0, 7000, -40 };
static const int64_t start_us[COLLECTIVES][RANKS] = { { 100, 150, 200 },
                                                      { 310, 410, 320 },
                                                      { 520, 521, 521 } };
static const int64_t end_us[COLLECTIVES][RANKS] = { { 210, 210, 210 }, { 420, 421, 420 }, { 531, 530, 533 } };

/* By how much all ranks leave the first later than above, and how many the group has. */
static int64_t later_us = 0, group_size = RANKS;

/* How many ranks have a recorder that says that they waited for rank 3 until all left the first, but for 8 us. */
static int waiting_ranks = 0;

static void add_rank(struct facts *all, int rank, int64_t world_size, const char *file)
{
    struct facts *facts = scratch(facts_open());
    facts_add(facts, FACTS_RECORDINGS,
              &(struct facts_recording){ .rank = rank,
                                         .world_size = world_size,
                                         .job = NAME_NONE,
                                         .file = facts_text(facts, file),
                                         .host = NAME_NONE,
                                         .producer = NAME_NONE,
                                         .device = NAME_NONE,
                                         .version = NAME_NONE,
                                         .start_ns = ahead_us[rank] * us,
                                         .end_ns = (ahead_us[rank] + 600) * us });
    facts_add(facts, FACTS_GROUPS,
              &(struct facts_group){ .name = facts_text(facts, "world"),
                                     .description = NAME_NONE,
                                     .ranks = NAME_NONE,
                                     .size = group_size,
                                     .collectives = COLLECTIVES });
    int64_t computed_us = 0;
    for (int c = 0; c < COLLECTIVES; c++) {
        computed_us += start_us[c][rank] - (c ? end_us[c - 1][rank] : 0);
        facts_add(facts, FACTS_COLLECTIVES,
                  &(struct facts_collective){
                      .kind = facts_text(facts, "all_reduce"),
                      .type = NAME_NONE,
                      .sequence = c + 1,
                      .step = FACTS_MISSING,
                      .bytes = 1024,
                      .source = FACTS_MISSING,
                      .target = FACTS_MISSING,
                      .waited_rank = rank < waiting_ranks ? RANKS : FACTS_MISSING,
                      .waited_ns = rank < waiting_ranks ? (c ? 0 : later_us + 2) * us : FACTS_MISSING,
                      .start_ns = (start_us[c][rank] + ahead_us[rank]) * us,
                      .duration_ns = (end_us[c][rank] + (c ? 0 : later_us) - start_us[c][rank]) * us,
                      .computed_before_ns = computed_us * us,
                      .computed_until_ns = computed_us * us });
    }
    facts_seal(facts);
    facts_merge(all, facts);
}

static struct facts *make_job(void)
{
    struct facts *facts = facts_open();
    for (int rank = RANKS - 1; rank >= 0; rank--)
        add_rank(facts, rank, 4, "trace.json");
    return facts;
}

static const struct fleet_rank_row *row_of(const struct fleet *fleet, int64_t rank)
{
    for (size_t i = 0; i < fleet->ranks.count; i++)
        if (fleet->ranks.at[i].rank == rank)
            return &fleet->ranks.at[i];
    return NULL;
}

/* Ends of rank 1 are later by 7000, 7001 and 6999 us: 7000, deviations 0 1 1. Of rank 2 by -40, -40, -38: -40, 0 0
 * 2. */
TEST(clocks_are_set_by_ends)
{
    struct facts *facts = scratch(make_job());
    facts_finish(facts);
    struct fleet *fleet = scratch(fleet_open(facts));
    assert_int_equal(row_of(fleet, 0)->clock_ns, 0);
    assert_int_equal(row_of(fleet, 1)->clock_ns, 7000 * us);
    assert_int_equal(row_of(fleet, 1)->clock_error_ns, 1 * us);
    assert_int_equal(row_of(fleet, 2)->clock_ns, -40 * us);
    assert_int_equal(row_of(fleet, 2)->clock_error_ns, 0);
    assert_int_equal(row_of(fleet, 2)->anchors, 3);
    assert_true(row_of(fleet, 1)->clock_sure && row_of(fleet, 2)->clock_sure);
}

TEST(the_last_is_blamed_for_all_waiting)
{
    struct facts *facts = scratch(make_job());
    facts_finish(facts);
    struct fleet *fleet = scratch(fleet_open(facts));
    assert_int_equal(fleet->collectives.count, 3);
    const struct fleet_collective_row *row = fleet->collectives.at;
    assert_int_equal(row[0].last, 2);
    assert_int_equal(row[0].first, 0);
    assert_int_equal(row[0].late_ns, 100 * us);
    assert_int_equal(row[0].cost_ns, 50 * us);
    assert_int_equal(row[0].waited_ns, 150 * us);
    assert_int_equal(row[1].last, 1);
    assert_int_equal(row[1].late_ns, 100 * us);
    assert_int_equal(row[1].waited_ns, 190 * us);
    assert_true(row[0].sure && row[1].sure && !row[2].sure);
    assert_int_equal(row[2].late_ns, 1 * us);
    assert_int_equal(row[2].blamed, FACTS_MISSING);
    assert_int_equal(row_of(fleet, 2)->caused_ns, 150 * us);
    assert_int_equal(row_of(fleet, 1)->caused_ns, 190 * us);
    assert_int_equal(row_of(fleet, 0)->waited_ns, 201 * us);
    assert_int_equal(fleet->waited_ns, fleet->blamed_ns + fleet->unsure_ns);
    assert_int_equal(fleet->ranks.at[0].rank, 1); /* who is waited for most comes first */
}

/* The first takes 50 us from when rank 2 is there, others of as many bytes 9 and 11: a fourth rank of the group came later than rank 2. */
TEST(nobody_is_blamed_where_all_wait_for_a_rank_that_was_not_recorded)
{
    later_us = 40;
    for (group_size = RANKS; group_size <= RANKS + 1; group_size++) {
        bool lacks = group_size > RANKS;
        struct facts *facts = scratch(make_job());
        facts_finish(facts);
        struct fleet *fleet = scratch(fleet_open(facts));
        assert_int_equal(fleet->meetings.outside, lacks);
        assert_int_equal(fleet->collectives.at[0].last, 2);
        assert_int_equal(fleet->collectives.at[0].blamed, lacks ? FACTS_MISSING : 2);
        assert_int_equal(row_of(fleet, 2)->caused_ns, lacks ? 0 : 150 * us);
        assert_int_equal(row_of(fleet, 1)->caused_ns, 190 * us);
        assert_int_equal(fleet->meetings.outside_rank, -1);
    }
    later_us = 0;
    group_size = RANKS;
}

/* The same where the recorder of each says so: of the 50 us rank 3 is waited for 42, by three ranks. */
TEST(the_rank_that_was_not_recorded_is_known_where_it_is_told)
{
    later_us = 40;
    waiting_ranks = group_size = RANKS;
    struct facts *facts = scratch(make_job());
    facts_finish(facts);
    struct fleet *fleet = scratch(fleet_open(facts));
    assert_int_equal(fleet->meetings.outside, 1);
    assert_int_equal(fleet->meetings.outside_rank, 3);
    assert_int_equal(fleet->meetings.outside_size, RANKS);
    assert_int_equal(fleet->meetings.outside_ns, 3 * 42 * us);
    assert_int_equal(fleet->collectives.at[0].blamed, FACTS_MISSING);
    assert_int_equal(row_of(fleet, 1)->caused_ns, 190 * us);
    later_us = waiting_ranks = 0;
}

/* Ten collectives of two ranks end together. Of the last, rank 0's is over, at 1010 us, before rank 1's begins, at 1200 us: whatever this is,
 * rank 0 did not wait for it. */
TEST(nobody_waits_for_one_that_begins_after_the_end)
{
    enum { KNOWN = 10 };
    struct facts *all = scratch(facts_open());
    for (int rank = 0; rank < 2; rank++) {
        struct facts *facts = scratch(facts_open());
        facts_add(facts, FACTS_RECORDINGS,
                  &(struct facts_recording){ .rank = rank,
                                             .world_size = 2,
                                             .job = NAME_NONE,
                                             .file = facts_text(facts, "trace.json"),
                                             .host = NAME_NONE,
                                             .producer = NAME_NONE,
                                             .device = NAME_NONE,
                                             .version = NAME_NONE,
                                             .end_ns = 2000 * us });
        facts_add(facts, FACTS_GROUPS,
                  &(struct facts_group){ .name = facts_text(facts, "world"),
                                         .description = NAME_NONE,
                                         .ranks = NAME_NONE,
                                         .size = 2,
                                         .collectives = KNOWN + 1 });
        for (int c = 0; c <= KNOWN; c++)
            facts_add(facts, FACTS_COLLECTIVES,
                      &(struct facts_collective){ .kind = facts_text(facts, "all_reduce"),
                                                  .waited_rank = FACTS_MISSING,
                                                  .waited_ns = FACTS_MISSING,
                                                  .type = NAME_NONE,
                                                  .sequence = c + 1,
                                                  .step = FACTS_MISSING,
                                                  .bytes = 1024,
                                                  .source = FACTS_MISSING,
                                                  .target = FACTS_MISSING,
                                                  .start_ns = (c * 100 + (c == KNOWN ? 200 * rank : 0)) * us,
                                                  .duration_ns = c == KNOWN && rank ? 9 * us : 10 * us });
        facts_seal(facts);
        facts_merge(all, facts);
    }
    facts_finish(all);
    struct fleet *fleet = scratch(fleet_open(all));
    const struct fleet_collective_row *row = &fleet->collectives.at[KNOWN];
    assert_int_equal(row->number, KNOWN + 1);
    assert_int_equal(row->late_ns, 200 * us);
    assert_false(row->sure);
    assert_int_equal(row_of(fleet, 1)->caused_ns, 0);
}

/* Rank 2 held others up for 150 us, rank 1 for 190 us. */
TEST(ranks_that_are_waited_for_in_turn_are_several)
{
    struct facts *facts = scratch(make_job());
    facts_finish(facts);
    struct fleet *fleet = scratch(fleet_open(facts));
    struct result *result = result_open("tpa.fleet/1");
    fleet_add_result(fleet, result);
    bool said = false;
    for (size_t i = 0; i < result->notices.count; i++)
        said |= strstr(result->notices.at[i].text,
                       "others wait for several ranks, most for rank 1: 55.9 %") != NULL;
    assert_true(said);
    result_free(result);
}

/* Before number 2 rank 1 computed 200 us, rank 2, in the middle, 110 us: 90 us of the 100 us; the rest is rank 0's
 * being early. */
TEST(what_grew_is_reported)
{
    struct facts *facts = scratch(make_job());
    facts_finish(facts);
    struct fleet *fleet = scratch(fleet_open(facts));
    const struct fleet_collective_row *row = &fleet->collectives.at[1];
    assert_string_equal(row->why.at, "computation");
    assert_int_equal(row->grew_ns[CAUSE_COMPUTATION], 90 * us);
    assert_int_equal(row->carried_ns, 10 * us);
    assert_int_equal(row_of(fleet, 1)->caused_by_ns[CAUSE_COMPUTATION], 190 * us);
}

/* Rank 3 of 4 is missing. A second recording of rank 1 at the same time is left out, as is one of a job of 64 ranks. */
TEST(what_is_not_of_the_job_is_left_out)
{
    struct facts *facts = scratch(make_job());
    add_rank(facts, 1, 4, "trace.again.json");
    add_rank(facts, 2, 64, "other.json");
    facts_finish(facts);
    struct fleet *fleet = scratch(fleet_open(facts));
    assert_int_equal(fleet->job.ranks, 3);
    assert_int_equal(fleet->job.world_size, 4);
    assert_int_equal(fleet->job.missing_count, 1);
    assert_int_equal(fleet->job.missing.at[0].first, 3);
    assert_int_equal(fleet->left_out.count, 2);
    assert_int_equal(fleet->left_out.at[0].rank, 1);
    assert_string_equal(fleet->left_out.at[1].file.at, "other.json");
    assert_int_equal(row_of(fleet, 1)->caused_ns, 190 * us);
}

TEST(one_rank_alone_tells_nothing_of_waiting)
{
    struct facts *facts = scratch(facts_open());
    add_rank(facts, 0, 4, "trace.json");
    facts_finish(facts);
    struct fleet *fleet = scratch(fleet_open(facts));
    assert_int_equal(fleet->collectives.count, 0);
    assert_int_equal(fleet->ranks.at[0].caused_ns, FACTS_MISSING);
    assert_int_equal(fleet->ranks.at[0].waited_ns, FACTS_MISSING);
    assert_true(isnan(fleet->ranks.at[0].caused_share));
}
