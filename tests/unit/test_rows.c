/* test_rows.c - base/rows.h: arrays of structs sorted, grouped and folded by lists of members. */
#include "tests/unit/unit.h"
#include "base/rows.h"

#include <math.h>
// clang-format off
// clang-format on

enum color { RED, GREEN, BLUE };

struct item {
    const char *text;
    double share;
    int64_t ns;
    uint64_t bytes;
    int32_t level;
    uint32_t index;
    uint16_t port;
    bool open;
    enum color color;
};

struct sums {
    int64_t count, total_ns, mean_ns, least_ns, most_ns, shares;
    const char *text;
    bool open;
};

#define ROW(op, to, from) op(struct sums, to, struct item, from)
static const struct fold folds[] = {
    ROW(COUNT_OF, count, ns),    ROW(SUM_OF, total_ns, ns), ROW(MEAN_OF, mean_ns, ns),
    ROW(LEAST_OF, least_ns, ns), ROW(MOST_OF, most_ns, ns), ROW(SUM_OF, shares, share),
    ROW(FIRST_OF, text, text),   ROW(FIRST_OF, open, open), FOLD_END,
};

static const struct key by_color_and_ns[] = { ASC(struct item, color), DESC(struct item, ns), KEY_END };
static const struct key by_color[] = { ASC(struct item, color), KEY_END };
static const struct key by_text[] = { ASC(struct item, text), KEY_END };
static const struct key by_share[] = { DESC(struct item, share), KEY_END };
static const struct key by_level[] = { ASC(struct item, level), KEY_END };
static const struct key by_bytes[] = { DESC(struct item, bytes), KEY_END };
static const struct key by_all[] = { ASC(struct item, port), DESC(struct item, open), ASC(struct item, level),
                                     ASC(struct item, share), KEY_END };

TEST(items_sort_by_the_most_important_key_first)
{
    struct item items[] = { { .color = BLUE, .ns = 1 },
                            { .color = RED, .ns = 5 },
                            { .color = BLUE, .ns = 9 },
                            { .color = RED, .ns = -7 } };
    SORT_ARRAY(items, 4, by_color_and_ns);
    assert_int_equal(items[0].ns, 5);
    assert_int_equal(items[1].ns, -7);
    assert_int_equal(items[2].ns, 9);
    assert_int_equal(items[3].ns, 1);
}

TEST(equal_items_stay_in_their_order)
{
    struct item items[] = { { .level = 3, .index = 0 },
                            { .level = -3, .index = 1 },
                            { .level = 3, .index = 2 },
                            { .level = -3, .index = 3 } };
    SORT_ARRAY(items, 4, by_level);
    assert_int_equal(items[0].index, 1);
    assert_int_equal(items[1].index, 3);
    assert_int_equal(items[2].index, 0);
    assert_int_equal(items[3].index, 2);
}

TEST(texts_sort_by_bytes_and_null_comes_first)
{
    struct item items[] = { { .text = "b" }, { .text = "a" }, { .text = NULL }, { .text = "aa" } };
    SORT_ARRAY(items, 4, by_text);
    assert_null(items[0].text);
    assert_string_equal(items[1].text, "a");
    assert_string_equal(items[2].text, "aa");
    assert_string_equal(items[3].text, "b");
}

TEST(zero_has_one_sign_and_nan_is_last)
{
    double numbers[] = { NAN, 0.0, -0.0, -INFINITY, -1, INFINITY };
    SORT_NUMBERS(numbers, 6);
    assert_true(numbers[0] == -INFINITY && numbers[1] == -1);
    assert_false(signbit(numbers[2])); /* 0.0 came before -0.0 and equals it */
    assert_true(signbit(numbers[3]));
    assert_true(numbers[4] == INFINITY && isnan(numbers[5]));

    struct item items[] = { { .share = 0.5 }, { .share = NAN }, { .share = 0.75 } };
    SORT_ARRAY(items, 3,
               by_share); /* descending: missing ones first, as with every key the other way round */
    assert_true(isnan(items[0].share));
    assert_true(items[1].share == 0.75 && items[2].share == 0.5);
}

TEST(many_numbers_are_sorted_as_few_are)
{
    enum { MANY = 3000 };
    int64_t numbers[MANY];
    for (size_t i = 0; i < MANY; i++)
        numbers[i] = (int64_t)((uint64_t)i * 0x9e3779b97f4a7c15) >> i % 60;
    numbers[7] = INT64_MIN;
    numbers[8] = INT64_MAX;
    SORT_NUMBERS(numbers, MANY);
    assert_true(numbers[0] == INT64_MIN && numbers[MANY - 1] == INT64_MAX);
    for (size_t i = 1; i < MANY; i++)
        assert_true(numbers[i - 1] <= numbers[i]);
}

TEST(an_order_keeps_equals_as_they_were_ordered)
{
    struct pair {
        int64_t key, other;
    } pairs[300];
    static const struct key by_key[] = { ASC(struct pair, key), KEY_END };
    uint32_t order[300];
    for (uint32_t i = 0; i < 300; i++) {
        pairs[i] = (struct pair){ i % 7, i };
        order[i] = 299 - i;
    }
    rows_order(order, pairs, 300, sizeof *pairs, by_key);
    rows_permute(pairs, 300, sizeof *pairs, order);
    for (size_t i = 1; i < 300; i++)
        assert_true(pairs[i - 1].key < pairs[i].key ||
                    (pairs[i - 1].key == pairs[i].key && pairs[i - 1].other > pairs[i].other));
}

TEST(large_unsigned_numbers_are_not_negative)
{
    struct item items[] = { { .bytes = 1 }, { .bytes = UINT64_MAX }, { .bytes = UINT64_C(1) << 63 } };
    SORT_ARRAY(items, 3, by_bytes);
    assert_true(items[0].bytes == UINT64_MAX && items[1].bytes == UINT64_C(1) << 63 && items[2].bytes == 1);
}

/* Both ways of sorting, for few and for many items, give the order of rows_compare. */
TEST(many_items_sort_as_few_do)
{
    enum { MANY = 3000 };
    static struct item items[MANY];
    uint64_t seed = 7;
    for (uint32_t i = 0; i < MANY; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        items[i] = (struct item){ .index = i,
                                  .port = (uint16_t)(seed >> 60),
                                  .open = seed >> 59 & 1,
                                  .level = (int32_t)(seed >> 56 & 7) - 4,
                                  .share = (double)(int64_t)(seed >> 50 & 63) - 32 };
    }
    SORT_ARRAY(items, MANY, by_all);
    for (size_t i = 1; i < MANY; i++) {
        int order = rows_compare(&items[i - 1], &items[i], by_all);
        assert_true(order < 0 || (order == 0 && items[i - 1].index < items[i].index));
    }
}

TEST(groups_end_where_a_key_differs)
{
    struct item items[] = { { .color = RED }, { .color = RED }, { .color = BLUE } };
    size_t ends[3], groups = 0;
    FOR_GROUPS_OF(items, 3, by_color, first, end)
        ends[groups++] = end;
    assert_int_equal(groups, 2);
    assert_int_equal(ends[0], 2);
    assert_int_equal(ends[1], 3);
    assert_int_equal(rows_count_groups(items, 3, sizeof *items, by_color), 2);
    assert_int_equal(rows_unique(items, 3, sizeof *items, by_color), 2);
    assert_int_equal(items[1].color, BLUE);
    assert_int_equal(rows_count_groups(items, 0, sizeof *items, by_color), 0);
}

/* Neighbours that follow each other: 3 4 5, 9, 1 2. A loop may end early and pass over a run. */
TEST(runs_end_where_neighbours_do_not_belong_together)
{
    const int numbers[] = { 3, 4, 5, 9, 1, 2 };
    size_t ends[7], runs = 0;
    FOR_RUNS(first, end, 6, numbers[end] == numbers[end - 1] + 1)
        ends[runs++] = end;
    assert_int_equal(runs, 3);
    assert_true(ends[0] == 3 && ends[1] == 4 && ends[2] == 6);
    FOR_RUNS(first, end, 6, numbers[end] == numbers[end - 1] + 1) {
        if (first == 0)
            continue;
        assert_true(first == 3 && end == 4);
        break;
    }
    FOR_RUNS(first, end, 0 * runs, true)
        fail();
}

/* By the last number, then by the one before, then as they were; few and many are sorted differently. */
TEST(items_sort_by_numbers_that_are_no_members)
{
    for (size_t count = 0; count <= 1000; count = count * 4 + 1) {
        uint32_t numbers[1000];
        for (size_t i = 0; i < count; i++)
            numbers[i] = (uint32_t)(i * 7919 % 1000);
        SORT_BY(numbers, count, i, ~(int64_t)(numbers[i] % 10));
        SORT_BY(numbers, count, i, (int64_t)(numbers[i] / 100) - 5);
        for (size_t i = 1; i < count; i++) {
            uint32_t a = numbers[i - 1], b = numbers[i];
            assert_true(a / 100 <= b / 100 && (a / 100 < b / 100 || a % 10 >= b % 10));
        }
    }
}

TEST(the_first_of_equal_items_is_found)
{
    struct item items[] = { { .color = RED }, { .color = BLUE, .index = 1 }, { .color = BLUE, .index = 2 } };
    const struct item *found = rows_find(items, 3, sizeof *items, by_color, &(struct item){ .color = BLUE });
    assert_ptr_equal(found, &items[1]);
    assert_null(rows_find(items, 3, sizeof *items, by_color, &(struct item){ .color = GREEN }));
    assert_null(rows_find(items, 0, sizeof *items, by_color, &(struct item){ .color = RED }));
}

/* 3 + 4 = 7, mean 3.5, halves up: 4; the missing one is in nothing. Shares: 0.4 and 2.6 are rounded to 0 and 3. */
TEST(missing_values_are_in_no_fold)
{
    struct item items[] = { { .ns = 3, .share = 0.4, .text = "first", .open = true },
                            { .ns = ROWS_MISSING, .share = NAN, .text = "second" },
                            { .ns = 4, .share = 2.6, .text = "third" } };
    struct sums sums;
    rows_fold(&sums, folds, items, 3, sizeof *items);
    assert_int_equal(sums.count, 2);
    assert_int_equal(sums.total_ns, 7);
    assert_int_equal(sums.mean_ns, 4);
    assert_int_equal(sums.least_ns, 3);
    assert_int_equal(sums.most_ns, 4);
    assert_int_equal(sums.shares, 3);
    assert_string_equal(sums.text, "first");
    assert_true(sums.open);
    rows_fold(&sums, folds, &items[1], 1, sizeof *items);
    assert_int_equal(sums.count, 0);
    assert_true(sums.total_ns == ROWS_MISSING && sums.mean_ns == ROWS_MISSING &&
                sums.most_ns == ROWS_MISSING);
}

/* -3 and -4: the mean is -3.5, rounded up to -3. Sums that do not fit stay at the limit. */
TEST(means_of_negative_numbers_round_halves_up_and_sums_saturate)
{
    struct item items[] = { { .ns = -3 }, { .ns = -4 } };
    struct sums sums;
    rows_fold(&sums, folds, items, 2, sizeof *items);
    assert_int_equal(sums.mean_ns, -3);
    items[0].ns = items[1].ns = INT64_MAX;
    rows_fold(&sums, folds, items, 2, sizeof *items);
    assert_true(sums.total_ns == INT64_MAX);
}
