/* test_number_table.c - derive/number_table.h: the first event with a number has it, however the numbers lie. */
#include "tests/unit/drawn.h"

#include "derive/number_table.h"

static const struct trace_wants *drawn_wants = &(const struct trace_wants){ .args = WANT(CORRELATION) };

/* The table of events 0, 1, 2 ..., whose numbers are the COUNT at NUMBERS, must find the first of each and nothing else. */
static void check(const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        draw_host("cuda_runtime", "call", 1, (int64_t)i, 1);
        draw_arg(ARG_CORRELATION, numbers[i]);
    }
    struct number_table table = { 0 };
    for (size_t i = 0; i < count; i++)
        number_table_add(&table, numbers[i], (event_id)i);
    number_table_build(&table, drawn(), ARG_CORRELATION);
    assert_int_equal(table.count, count);
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (numbers[first] != numbers[i])
            first++;
        int64_t at = number_table_find(&table, numbers[i]);
        assert_in_range(at, 0, count - 1);
        assert_int_equal(table.events[at], first);
        for (int away = -1; away <= 1; away += 2) {
            bool there = false;
            for (size_t k = 0; k < count; k++)
                there |= numbers[k] == numbers[i] + away;
            assert_int_equal(number_table_find(&table, numbers[i] + away) >= 0, there);
        }
    }
    /* Each event is there once, those that do not have their number behind all that have. */
    uint64_t seen = 0;
    bool behind = false;
    for (size_t i = 0; i < count; i++) {
        bool has = number_table_find(&table, numbers[table.events[i]]) == (int64_t)i;
        assert_false(has && behind && !table.sorted);
        behind |= !has;
        seen |= UINT64_C(1) << table.events[i];
    }
    assert_int_equal(seen, (UINT64_C(1) << count) - 1);
    EACH(free, table.page_of, table.words, table.sorted, table.events);
}

#define CHECK(...)                                                                                           \
    check((const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

TEST(numbers_that_count_up_are_found)
{
    CHECK(7);
    CHECK(1, 2, 3, 4, 6);
    CHECK(62, 63, 64, 65, 127, 128, 1023, 1024, 2047, 2048, 5000);
}

TEST(numbers_in_any_order_are_found)
{
    CHECK(5, 3, 900, 64, 4);
    CHECK(2000, -1, -64, 0, 70, -2000);
}

TEST(of_equal_numbers_the_first_event_is_found)
{
    CHECK(9, 9);
    CHECK(5, 3, 5, 4, 3, 3, 70);
}

TEST(scattered_numbers_are_found)
{
    CHECK(1, INT64_MAX - 1, -7, 1, INT64_C(1) << 40);
    CHECK(INT64_MIN + 1, 0, INT64_MAX - 1);
}
