/* test_fleet_sketch.c - figures/sketch.h: exact while small, within the bound beyond, and the same however it came
 * together. */

#include "tests/unit/unit.h"
#include "figures/sketch.h"

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 8;
}

/* 5 1 3: sorted 1 3 5. The lower median of four values, 1 3 5 9, is 3. */
TEST(few_values_are_exact)
{
    struct sketch sketch = { 0 };
    assert_true(sketch_quantile(&sketch, 1, 2) == INT64_MIN);
    sketch_add(&sketch, 5);
    sketch_add(&sketch, 1);
    sketch_add(&sketch, 3);
    assert_int_equal(sketch_quantile(&sketch, 1, 2), 3);
    sketch_add(&sketch, 9);
    assert_int_equal(sketch_quantile(&sketch, 1, 2), 3);
    assert_int_equal(sketch_quantile(&sketch, 0, 1), 1);
    assert_int_equal(sketch_quantile(&sketch, 1, 1), 9);
    sketch_release(&sketch);
}

TEST(many_values_are_within_a_hundredth)
{
    struct sketch sketch = { 0 };
    for (int64_t value = 1; value <= 100000; value++)
        sketch_add(&sketch, value * 1000);
    assert_true(sketch.in_buckets);
    for (uint64_t percent = 0; percent <= 100; percent++) {
        int64_t exact = ((int64_t)(99999 * percent / 100) + 1) * 1000,
                estimated = sketch_quantile(&sketch, percent, 100);
        assert_true(llabs(estimated - exact) * 125 <= exact); /* 0.8 % */
    }
    sketch_add(&sketch, INT64_MAX);
    assert_true(sketch_quantile(&sketch, 1, 1) > INT64_MAX / 100 * 99);
    sketch_release(&sketch);
}

static void encode(struct sketch *sketch, struct buffer *text)
{
    buffer_clear(text);
    sketch_encode(sketch, text);
}

/* COUNT values come one by one, or in parts of random sizes that are joined in random pairs. */
static void check_merging(size_t count, unsigned seed)
{
    enum { PARTS = 7 };
    struct sketch whole = { 0 }, parts[PARTS] = { { 0 } };
    SCOPED struct buffer one = { 0 }, other = { 0 };
    for (size_t i = 0; i < count; i++) {
        int64_t value = (int64_t)(next_random(&seed) % 100000);
        sketch_add(&whole, value);
        sketch_add(&parts[next_random(&seed) % PARTS], value);
    }
    for (size_t left = PARTS; left > 1; left--) {
        size_t into = next_random(&seed) % left, from = (into + 1 + next_random(&seed) % (left - 1)) % left;
        encode(&parts[from], &one);
        assert_true(sketch_decode(&parts[into], one.at, one.count));
        sketch_release(&parts[from]);
        parts[from] = parts[left - 1];
        parts[left - 1] = (struct sketch){ 0 };
        if (into == left - 1)
            into = from;
    }
    encode(&whole, &one);
    encode(&parts[0], &other);
    assert_int_equal(one.count, other.count);
    assert_memory_equal(one.at, other.at, one.count);
    sketch_release(&whole);
    sketch_release(&parts[0]);
}

TEST(any_order_gives_the_same_text)
{
    for (unsigned seed = 1; seed < 40; seed++)
        check_merging(seed * 61, seed);
    check_merging(SKETCH_EXACT_BELOW - 1, 1);
    check_merging(SKETCH_EXACT_BELOW, 2);
    check_merging(SKETCH_EXACT_BELOW * 20, 3); /* every part is in buckets before it is joined */
}

TEST(what_is_no_sketch_is_refused)
{
    static const char *const texts[] = {
        "", "x", "=!", "=g", "=BA", "=CAA", "~A", "=gggggggggggggggA", "=BgggggggggggggggB"
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sketch sketch = { 0 };
        assert_false(sketch_decode(&sketch, texts[i], strlen(texts[i])));
        assert_int_equal(sketch.count, 0);
        sketch_release(&sketch);
    }
}
