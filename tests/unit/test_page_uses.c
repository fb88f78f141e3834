/* test_page_uses.c - report/page_uses.h: what lines of code have in use at a time, exact or at rounded times. */
#include "tests/unit/drawn.h"

#include "report/page_uses.h"

SCRATCH_OF(timeline)

/*
 *   us     0    1    2    3    4    5    6    7    8
 *   a      [100..............)[40..................
 *   b           [7.......)
 *   a                [5)                                (begins and ends in one microsecond)
 */
static struct timeline *two_lines(void)
{
    struct timeline *timeline = scratch_timeline(timeline_open("blocks", 0, 8000, 1));
    name_id a = names_add(timeline->names, "a", 1), b = names_add(timeline->names, "b", 1);
    const struct timeline_use uses[] = {
        { 4000, -100, a, -1 }, { 0, 100, a, 1 },  { 4000, 40, a, 1 },  { 3000, -7, b, -1 },
        { 1000, 7, b, 1 },     { 2000, 5, a, 1 }, { 2000, -5, a, -1 },
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        *VEC_PUSH(&timeline->uses) = uses[i];
    return timeline;
}

static void assert_use(const struct timeline_use *use, int64_t at_ns, int64_t bytes, int32_t blocks)
{
    assert_int_equal(use->at_ns, at_ns);
    assert_int_equal(use->bytes, bytes);
    assert_int_equal(use->blocks, blocks);
}

TEST(uses_of_one_line_and_time_are_one)
{
    struct timeline *timeline = two_lines();
    SCOPED struct page_uses uses = page_uses_of(timeline, 100);
    assert_int_equal(uses.every_ns, 1000);
    assert_int_equal(uses.count, 4);
    assert_use(&uses.at[0], 0, 100, 1);
    assert_use(&uses.at[1], 1000, 7, 1);
    assert_use(&uses.at[2], 3000, -7, -1);
    assert_use(&uses.at[3], 4000, -60, 0); /* another block of the same line */
}

TEST(uses_without_room_are_exact_at_rounded_times)
{
    struct timeline *timeline = two_lines();
    SCOPED struct page_uses uses = page_uses_of(timeline, 2);
    assert_int_equal(uses.every_ns, 4000); /* b comes and goes between two of them */
    assert_int_equal(uses.count, 2);
    assert_use(&uses.at[0], 0, 100, 1);
    assert_use(&uses.at[1], 4000, -60, 0);
}

TEST(uses_end_rounding_when_one_time_is_left)
{
    struct timeline *timeline = two_lines();
    SCOPED struct page_uses uses = page_uses_of(timeline, 0);
    assert_true(uses.every_ns > timeline->dur_ns);
}
