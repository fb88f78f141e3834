
#include "tests/unit/unit.h"
#include "base/quantity.h"

static int64_t time_of(const char *text)
{
    int64_t ns = -1;
    return quantity_parse_time(text, strlen(text), &ns) ? ns : -1;
}

static int64_t size_of(const char *text)
{
    int64_t bytes = -1;
    return quantity_parse_size(text, strlen(text), &bytes) ? bytes : -1;
}

TEST(times_are_exact_nanoseconds)
{
    assert_true(time_of("0") == 0);
    assert_true(time_of("7ns") == 7);
    assert_true(time_of("10us") == 10000);
    assert_true(time_of("10\xc2\xb5s") == 10000);
    assert_true(time_of("1.5ms") == 1500000);
    assert_true(time_of("2s") == 2000000000);
    assert_true(time_of(".5min") == INT64_C(30000000000));
    assert_true(time_of("0.25h") == INT64_C(900000000000));
    /* A double holds 53 bits, about 16 digits: it would lose the last of these. */
    assert_true(time_of("9007199254.740993s") == INT64_C(9007199254740993000));
    assert_true(time_of("9223372036.854775807s") == INT64_MAX);
}

TEST(times_finer_than_a_nanosecond_are_rounded)
{
    assert_true(time_of("1.4ns") == 1);
    assert_true(time_of("1.5ns") == 2);
    assert_true(time_of("0.0015us") == 2);
}

TEST(wrong_times_are_refused)
{
    const char *const wrong[] = { "",
                                  "10",
                                  "ms",
                                  "-1ms",
                                  "1.5 ms",
                                  "1e3us",
                                  "10m",
                                  "inf",
                                  ".",
                                  "1..2ms",
                                  "10usx",
                                  "9223372036.854775808s",
                                  "99999999999999999999ns" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (time_of(wrong[i]) != -1)
            fail_msg("'%s' was taken as %lld ns", wrong[i], (long long)time_of(wrong[i]));
}

TEST(sizes_count_in_1024_unless_written_as_kB)
{
    assert_true(size_of("0") == 0);
    assert_true(size_of("4096") == 4096);
    assert_true(size_of("12B") == 12);
    assert_true(size_of("4k") == 4096);
    assert_true(size_of("4K") == 4096);
    assert_true(size_of("4KiB") == 4096);
    assert_true(size_of("4kB") == 4000);
    assert_true(size_of("1.5GiB") == INT64_C(1610612736));
    assert_true(size_of("10MB") == 10000000);
    assert_true(size_of("2T") == INT64_C(2199023255552));
    assert_true(size_of("8388608T") == -1); /* 2^63 */
    assert_true(size_of("4kiB ") == -1);
    assert_true(size_of("4x") == -1);
    assert_true(size_of("k") == -1);
}

TEST(a_share_is_a_percentage_or_a_fraction)
{
    double share = 0;
    assert_true(quantity_parse_share("5%", 2, &share) && share == 0.05);
    assert_true(quantity_parse_share("0.05", 4, &share) && share == 0.05);
    assert_true(quantity_parse_share("250%", 4, &share) && share == 2.5);
    assert_true(quantity_parse_share("1", 1, &share) && share == 1);
    assert_false(quantity_parse_share("5", 1, &share)); /* 5 % or 500 %? */
    assert_false(quantity_parse_share("%", 1, &share));
    assert_false(quantity_parse_share("5%%", 3, &share));
}

static size_t rows_of(const char *text, size_t total)
{
    struct limit limit = { 0 };
    return quantity_parse_limit(text, strlen(text), &limit) ? limit_rows(&limit, total) : SIZE_MAX;
}

TEST(limits_are_counts_or_shares)
{
    assert_int_equal(rows_of("10", 312), 10);
    assert_int_equal(rows_of("10", 3), 3);
    assert_int_equal(rows_of("0", 312), 312);
    assert_int_equal(rows_of("20%", 312), 62); /* 62.4 */
    assert_int_equal(rows_of("20%", 3), 1);    /* 0.6 */
    assert_int_equal(rows_of("100%", 7), 7);
    assert_int_equal(rows_of("101%", 7), SIZE_MAX);
    assert_int_equal(rows_of("1.5", 7), SIZE_MAX);
    assert_int_equal(rows_of("-1", 7), SIZE_MAX);
    assert_int_equal(limit_rows(&(struct limit){ 0 }, 7), 7);
    struct limit share = { 0 };
    assert_true(quantity_parse_limit("33.3%", 5, &share));
    assert_true(share.share == 0.333); /* and not the double beside it, which pstats' text would show */
}

TEST(ranges_include_both_ends)
{
    struct ranges ranges = { 0 };
    assert_true(ranges_hold(&ranges, 123)); /* none given: all */
    assert_true(quantity_parse_ranges("3..7", 4, &ranges));
    assert_false(ranges_hold(&ranges, 2));
    assert_true(ranges_hold(&ranges, 3));
    assert_true(ranges_hold(&ranges, 7));
    assert_false(ranges_hold(&ranges, 8));
    assert_true(quantity_parse_ranges("1,4,6..", 7, &ranges));
    assert_true(ranges_hold(&ranges, 1));
    assert_false(ranges_hold(&ranges, 2));
    assert_true(ranges_hold(&ranges, INT64_MAX));
    assert_true(quantity_parse_ranges("..-1", 4, &ranges));
    assert_true(ranges_hold(&ranges, INT64_MIN));
    assert_false(ranges_hold(&ranges, 0));
}

TEST(wrong_ranges_are_refused)
{
    struct ranges ranges = { 0 };
    const char *const wrong[] = { "",
                                  "..",
                                  "7..3",
                                  "a",
                                  "1,",
                                  ",1",
                                  "1..2..3",
                                  "1.5",
                                  "9223372036854775808",
                                  "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (quantity_parse_ranges(wrong[i], strlen(wrong[i]), &ranges))
            fail_msg("'%s' was taken", wrong[i]);
    assert_int_equal(ranges.count, 0);
}

TEST(what_is_shown_parses_to_the_same)
{
    SCRATCH_BUFFER(out);
    const int64_t times[] = { 0, 1, 999, 1000, 1500000, 1000000000, INT64_C(7200000000000), INT64_MAX };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        buffer_clear(&out);
        quantity_append_time(&out, times[i]);
        assert_true(time_of(out.at) == times[i]);
    }
    const int64_t sizes[] = { 0, 1, 1000, 1024, 1048576, INT64_C(3) << 40, INT64_MAX };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        buffer_clear(&out);
        quantity_append_size(&out, sizes[i]);
        assert_true(size_of(out.at) == sizes[i]);
    }
    struct ranges ranges = { 0 };
    assert_true(quantity_parse_ranges("..2,4,6..8,10..", 15, &ranges));
    buffer_clear(&out);
    quantity_append_ranges(&out, &ranges);
    assert_string_equal(out.at, "..2,4,6..8,10..");
}

/* printf alone rounds what a double holds exactly to the even digit: 31.2 and 6.2, 0.000 and 0.002. */
TEST(sentences_round_halves_away_from_zero)
{
    assert_true(quantity_percent(0.3125) == 31.3);
    assert_true(quantity_percent(-0.0625) == -6.3);
    assert_true(quantity_percent(1.0 / 2000) == 0.1);
    assert_true(quantity_percent(0) == 0);
    assert_true(quantity_ms(500) == 0.001);
    assert_true(quantity_ms(2500) == 0.003);
    assert_true(quantity_ms(1000500) == 1.001);
    assert_true(quantity_ms(-500) == -0.001);
}
