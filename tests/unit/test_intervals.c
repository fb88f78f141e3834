/* test_intervals.c - trace/intervals.h: unions count shared time once. */
#include "tests/unit/unit.h"
#include "trace/intervals.h"

static struct intervals set_of(size_t count, const int64_t pairs[])
{
    struct intervals set = { 0 };
    for (size_t i = 0; i < count; i++)
        intervals_add(&set, pairs[2 * i], pairs[2 * i + 1]);
    intervals_merge(&set);
    return set;
}
#define COUNT_PAIRS(...) (sizeof((const int64_t[]){ __VA_ARGS__ }) / (2 * sizeof(int64_t)))
#define SET(...) set_of(COUNT_PAIRS(__VA_ARGS__), (const int64_t[]){ __VA_ARGS__ })

static void check(const struct intervals *got, size_t count, const int64_t pairs[])
{
    assert_int_equal(got->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(got->at[i].start_ns, pairs[2 * i]);
        assert_int_equal(got->at[i].end_ns, pairs[2 * i + 1]);
    }
}
#define CHECK(got, ...) check(got, COUNT_PAIRS(__VA_ARGS__), (const int64_t[]){ __VA_ARGS__ })

/*
 *   0    5    10   15   20
 *        [====)              added second
 *   [======)                 added first: 0..7
 *                  [==)      15..18
 *                     [=)    18..20 touches it
 */
TEST(overlap_counts_shared_time_once)
{
    struct intervals set = SET(15, 18, 0, 7, 5, 10, 18, 20);
    CHECK(&set, 0, 10, 15, 20);
    assert_int_equal(intervals_length(&set), 15);
    assert_int_equal(intervals_length_within(&set, 8, 16), 2 + 1);
    assert_int_equal(intervals_length_within(&set, 10, 15), 0);
    size_t near = 7; /* beyond the set */
    for (int64_t start_ns = 25; start_ns-- > 0;)
        for (int64_t end_ns = start_ns; end_ns < 25; end_ns++)
            assert_int_equal(intervals_length_near(&set, start_ns, end_ns, &near),
                             intervals_length_within(&set, start_ns, end_ns));
    intervals_release(&set);
}

/* Callees before their caller, threads one after the other, anyhow: the moments are those of an array of marks. */
TEST(any_order_gives_the_same_set)
{
    enum { MOMENTS = 400 };
    uint64_t random = 7;
    for (int round = 0; round < 300; round++) {
        struct intervals set = { 0 };
        bool marks[MOMENTS] = { false };
        for (int i = 0; i < round; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            int64_t start = (int64_t)(random >> 33) % (MOMENTS - 40),
                    length = (int64_t)(random >> 50) % (1 + round % 40);
            if (round % 3 == 0)
                start = (start / 50) * 50 + i % 50 % 11; /* stairs */
            if (round % 3 == 1)
                start = MOMENTS - 41 - i % (MOMENTS - 41); /* from the end to the beginning */
            intervals_add(&set, start, start + length);
            for (int64_t at = start; at < start + length; at++)
                marks[at] = true;
        }
        intervals_merge(&set);
        for (int64_t at = 0; at < MOMENTS; at++)
            assert_int_equal(intervals_contain(&set, at), marks[at]);
        for (size_t i = 1; i < set.count; i++)
            assert_true(set.at[i - 1].end_ns < set.at[i].start_ns);
        intervals_release(&set);
    }
}

TEST(empty_and_inverted_intervals_are_nothing)
{
    struct intervals set = SET(5, 5, 9, 3);
    assert_int_equal(set.count, 0);
    assert_int_equal(intervals_length(&set), 0);
    assert_false(intervals_contain(&set, 5));
    intervals_release(&set);
}

TEST(an_interval_holds_its_start_but_not_its_end)
{
    struct intervals set = SET(2, 4, 6, 8);
    assert_false(intervals_contain(&set, 1));
    assert_true(intervals_contain(&set, 2));
    assert_false(intervals_contain(&set, 4));
    assert_true(intervals_contain(&set, 7));
    assert_false(intervals_contain(&set, 8));
    intervals_release(&set);
}

/*
 *        0    5    10   15   20   25
 *   a    [=========)    [=========)
 *   b       [==)   [====)  [==)   [==)
 */
TEST(algebra)
{
    struct intervals a = SET(0, 10, 15, 25), b = SET(3, 6, 10, 15, 18, 21, 25, 28), out = { 0 };
    intervals_union(&a, &b, &out);
    CHECK(&out, 0, 28);
    intervals_intersect(&a, &b, &out);
    CHECK(&out, 3, 6, 18, 21);
    intervals_subtract(&a, &b, &out);
    CHECK(&out, 0, 3, 6, 10, 15, 18, 21, 25);
    intervals_subtract(&b, &a, &out);
    CHECK(&out, 10, 15, 25, 28);
    intervals_clip(&a, 5, 16, &out);
    CHECK(&out, 5, 10, 15, 16);
    intervals_clip(&a, 16, 5, &out);
    assert_int_equal(out.count, 0);
    intervals_release(&a);
    intervals_release(&b);
    intervals_release(&out);
}

/* One interval of b may cut several of a, and one of a may hold several of b. */
TEST(subtracting_what_spans_several)
{
    struct intervals a = SET(0, 4, 6, 8, 10, 14), b = SET(2, 11, 12, 13), out = { 0 };
    intervals_subtract(&a, &b, &out);
    CHECK(&out, 0, 2, 11, 12, 13, 14);
    intervals_release(&a);
    intervals_release(&b);
    intervals_release(&out);
}

static void note_owner(void *context, size_t owner, int64_t start_ns, int64_t end_ns)
{
    for (int64_t t = start_ns; t < end_ns; t++) {
        assert_int_equal(((int *)context)[t], -1); /* each moment once */
        ((int *)context)[t] = (int)owner;
    }
}

/* Against counting moment by moment, over many small random sets: |A| + |B| = |A or B| + |A and B|. */
TEST(algebra_agrees_with_counting_moments)
{
    uint32_t seed = 1;
    for (int round = 0; round < 500; round++) {
        bool in_a[64] = { 0 }, in_b[64] = { 0 };
        struct intervals a = { 0 }, b = { 0 }, either = { 0 }, both = { 0 }, only = { 0 };
        for (int i = 0; i < 8; i++) {
            seed = seed * 1664525 + 1013904223;
            int start = (int)(seed >> 26), length = (int)(seed >> 16 & 7);
            int end = start + length < 64 ? start + length : 64;
            bool to_a = seed >> 10 & 1;
            intervals_add(to_a ? &a : &b, start, end);
            for (int t = start; t < end; t++)
                (to_a ? in_a : in_b)[t] = true;
        }
        intervals_merge(&a);
        intervals_merge(&b);
        intervals_union(&a, &b, &either);
        intervals_intersect(&a, &b, &both);
        intervals_subtract(&a, &b, &only);
        for (int t = 0; t < 64; t++) {
            assert_int_equal(intervals_contain(&either, t), in_a[t] || in_b[t]);
            assert_int_equal(intervals_contain(&both, t), in_a[t] && in_b[t]);
            assert_int_equal(intervals_contain(&only, t), in_a[t] && !in_b[t]);
        }
        assert_int_equal(intervals_length(&a) + intervals_length(&b),
                         intervals_length(&either) + intervals_length(&both));
        const struct intervals parts[] = { only, b, a };
        int owner[64];
        memset(owner, 0xff, sizeof owner);
        intervals_each(parts, 3, note_owner, owner);
        for (int t = 0; t < 64; t++)
            assert_int_equal(owner[t], in_a[t] && !in_b[t] ? 0 : in_b[t] ? 1 : -1);
        intervals_release(&a);
        intervals_release(&b);
        intervals_release(&either);
        intervals_release(&both);
        intervals_release(&only);
    }
}
