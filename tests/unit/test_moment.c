/* test_moment.c - base/moment.h; the seconds are those of `date -u -d ... +%s`. */
#include "tests/unit/unit.h"
#include "base/moment.h"

static void check(const char *text, int64_t seconds)
{
    int64_t time_ns = -1;
    if (!moment_parse(text, &time_ns) || time_ns != seconds * 1000000000)
        fail_msg("%s is %lld", text, (long long)time_ns);
}

TEST(moments_are_utc)
{
    check("1970-01-01", 0);
    check("2026-11-20", 1795132800);
    check("2026-11-20 03:04", 1795143840);
    check("2026-11-20 03:04:05", 1795143845);
    check("2026-11-20T03:04:05Z", 1795143845);
    check("2024-02-29", 1709164800);
    check("1969-12-31", -86400);
    check("@1795143845", 1795143845);
    SCRATCH_BUFFER(text);
    moment_append(&text, INT64_C(1795143845999999999));
    assert_string_equal(text.at, "2026-11-20 03:04:05");
    buffer_clear(&text);
    moment_append(&text, -1);
    assert_string_equal(text.at, "1969-12-31 23:59:59");
}

TEST(what_is_no_moment_is_refused)
{
    static const char *const texts[] = { "",           "today",       "2026-13-01",          "2026-02-30",
                                         "2025-02-29", "2026-11-20 ", "2026-11-20 25:00",    "@",
                                         "@1e9",       "20261120",    "@9223372036854775807" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t time_ns = 7;
        if (moment_parse(texts[i], &time_ns))
            fail_msg("'%s' is taken for %lld", texts[i], (long long)time_ns);
        assert_int_equal(time_ns, 7);
    }
}
