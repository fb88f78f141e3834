/* test_search.c - base/search.h: a search from a place nearby finds what any other finds. */
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
