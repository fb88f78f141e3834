/* test_search.c - base/search.h: a search from a place nearby finds what any other finds; searches of base/memory.h. */
#include "tests/unit/unit.h"
#include "base/search.h"

TEST(it_does_not_matter_where_a_search_begins)
{
    static const int64_t numbers[] = { -3, 1, 1, 4, 9, 9, 9, 12, 20, 21, 50 };
    for (size_t count = 0; count <= sizeof numbers / sizeof *numbers; count++)
        for (int64_t least = -4; least <= 51; least++)
            for (size_t near = 0; near <= count + 1; near++) {
                size_t i;
                SEARCH_NEAR(i, near, count, numbers[i] < least);
                assert_int_equal(i, search_from(numbers, count, least));
            }
}

/* ---- in order, of what is not sorted: base/memory.h ---- */

enum { ITEMS = 5 };

static const int items[ITEMS] = { 3, 1, 4, 1, 5 };

TEST(any_and_all_stop_at_the_number_that_decides)
{
    size_t evaluated = 0;
    assert_true(ANY(i, ITEMS, (evaluated++, items[i] == 4)));
    assert_int_equal(evaluated, 3);
    evaluated = 0;
    assert_false(ALL(i, ITEMS, (evaluated++, items[i] != 1)));
    assert_int_equal(evaluated, 2);
    assert_false(ANY(i, ITEMS, items[i] == 9));
    assert_true(ALL(i, ITEMS, items[i] < 9));
    assert_false(ANY_FROM(i, 1, ITEMS, items[i] == 3));
    assert_true(ALL_FROM(i, 4, ITEMS, items[i] == 5));
    assert_false(ANY(i, 0, true));
    assert_true(ALL(i, 0, false));
}

TEST(find_gives_the_first_item_and_sums_add_all)
{
    struct {
        VEC_OF(const int);
    } none = { 0 }, some = { .at = items, .count = ITEMS };
    assert_ptr_equal(FIND(item, &some, *item == 1), &items[1]);
    assert_null(FIND(item, &some, *item == 9));
    assert_null(FIND(item, &none, true));
    assert_ptr_equal(FIND_OF(item, items, 3, *item > 3), &items[2]);
    assert_int_equal(SUM(int, i, ITEMS, items[i]), 14);
    assert_int_equal(SUM(int, i, 0, 1), 0);
    int sum = 0;
    FOR_EACH(item, &some)
        sum = 10 * sum + *item;
    FOR_EACH(item, &none)
        sum += *item;
    assert_int_equal(sum, 31415);
}
