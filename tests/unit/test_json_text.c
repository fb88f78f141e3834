/* test_json_text.c - ingest/json_text.h: numbers and times exactly, strings as meant. */
#include "tests/unit/unit.h"
#include "ingest/json_text.h"

struct number {
    const char *text;
    bool good;
    int64_t value;
};

TEST(microseconds_become_nanoseconds_exactly)
{
    static const struct number cases[] = {
        { "0", true, 0 },
        { "5", true, 5000 },
        { "007", true, 7000 },
        { "+5", true, 5000 },
        { "-1.5", true, -1500 },
        { "0.5", true, 500 },
        { "4432.1", true, 4432100 },
        { "4432.25", true, 4432250 },
        { "4432.05", true, 4432050 },
        { "4432.1e1", true, 44321000 },
        { "4432.1x", false, 0 },
        /* 2^53 ns is nine days: a double would be off here */
        { "1661203462598738.123", true, INT64_C(1661203462598738123) },
        { "1712167898123456.789", true, INT64_C(1712167898123456789) },
        { "1750244461563845.0", true, INT64_C(1750244461563845000) },
        { "4458676983423.243", true, INT64_C(4458676983423243) },
        /* more than three decimals: rounded half away from zero */
        { "10.1234", true, 10123 },
        { "10.1235", true, 10124 },
        { "-10.1235", true, -10124 },
        { "10.9999", true, 11000 },
        { "10.12345678901234567890123", true, 10123 },
        { "1e3", true, 1000000 },
        { "1.5E+2", true, 150000 },
        { "1.2345e-2", true, 12 },
        { "1e-400", true, 0 },
        { "0e999999999", true, 0 },
        { "1.", true, 1000 },
        { ".75", true, 750 },
        /* 2^61 - 1 ns is the last that is taken, so that no moments are more than 2^62 ns apart */
        { "2305843009213693.951", true, (INT64_C(1) << 61) - 1 },
        { "-2305843009213693.951", true, -(INT64_C(1) << 61) + 1 },
        { "2305843009213693.952", false, 0 },
        { "-2305843009213693.952", false, 0 },
        { "9223372036854775.807", false, 0 },
        { "99999999999999999999", false, 0 },
        { "1e30", false, 0 },
        { "", false, 0 },
        { ".", false, 0 },
        { "-", false, 0 },
        { "1e", false, 0 },
        { "1.5e+", false, 0 },
        { "100a", false, 0 },
        { "1.2.3", false, 0 },
        { "NaN", false, 0 },
        { "Infinity", false, 0 },
        { "null", false, 0 },
        { "0x10", false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ns = -77;
        const char *text = cases[i].text;
        bool good = json_microseconds(text, text + strlen(text), &ns);
        if (good != cases[i].good || (good && ns != cases[i].value))
            fail_msg("%s: %s %lld", text, good ? "read as" : "not read", (long long)ns);
    }
}

TEST(integers_keep_64_bits)
{
    static const struct number cases[] = {
        { "0", true, 0 },
        { "-5", true, -5 },
        { "12345678", true, 12345678 },
        { "123456789012345678", true, INT64_C(123456789012345678) },
        { "1234567890123456789", true, INT64_C(1234567890123456789) },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "-9223372036854775809", false, 0 },
        /* addresses: the bits are kept */
        { "9223372036854775808", true, INT64_MIN },
        { "18446744073709551615", true, -1 },
        { "18446744073709551616", false, 0 },
        { "99999999999999999999", false, 0 },
        { "7.9", true, 7 },
        { "-7.9", true, -7 },
        { "3.0", true, 3 },
        { "1e3", true, 1000 },
        { "12e-1", true, 1 },
        { "true", false, 0 },
        { "", false, 0 },
        { "12 ", false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = -77;
        const char *text = cases[i].text;
        bool good = json_integer(text, text + strlen(text), &value);
        if (good != cases[i].good || (good && value != cases[i].value))
            fail_msg("%s: %s %lld", text, good ? "read as" : "not read", (long long)value);
    }
}

TEST(decimals_are_the_nearest_doubles)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        { "0", 0 },
        { "4.740741", 4.740741 },
        { "-0.25", -0.25 },
        { "75", 75 },
        { "1e300", 1e300 },
        { "1.7976931348623157e308", 1.7976931348623157e308 },
        { "5e-324", 5e-324 },
        { "0.1", 0.1 },
        { "123456789012345678901234567890", 123456789012345678901234567890.0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = -77;
        const char *text = cases[i].text;
        assert_true(json_decimal(text, text + strlen(text), &value));
        assert_true(value == cases[i].value);
    }
    double value;
    assert_false(json_decimal("nan", (const char *)"nan" + 3, &value));
}

static void check_unescape(const char *text, const char *expected, bool good)
{
    SCRATCH_BUFFER(out);
    assert_int_equal(json_unescape(text, text + strlen(text), &out), good);
    assert_string_equal(out.at ? out.at : "", expected);
}

TEST(escapes_are_undone_and_bad_ones_kept)
{
    check_unescape("plain", "plain", true);
    check_unescape("a\\\"b\\\\c\\/d", "a\"b\\c/d", true);
    check_unescape("\\b\\f\\n\\r\\t", "\b\f\n\r\t", true);
    check_unescape("\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac", true);
    check_unescape("\\uD83D\\uDE00", "\xf0\x9f\x98\x80", true);         /* a pair */
    check_unescape("\\uD83D.", "\xef\xbf\xbd.", true);                  /* alone */
    check_unescape("\\uDE00\\uD83D", "\xef\xbf\xbd\xef\xbf\xbd", true); /* the wrong way round */
    check_unescape("\\u0000", "\xef\xbf\xbd", true);
    check_unescape("\\q", "\\q", false);
    check_unescape("\\u00zz", "\\u00zz", false);
    check_unescape("end\\", "end\\", false);
}

TEST(compacting_spares_strings)
{
    SCRATCH_BUFFER(out);
    const char *text = "[ [8,\n 3], \"a b\\\" c\",\t{} ]";
    json_compact(text, text + strlen(text), &out);
    assert_string_equal(out.at, "[[8,3],\"a b\\\" c\",{}]");
}

/* Integers of each length, which are read in several ways, and a byte in them that is no digit. */
TEST(integers_of_every_length_are_read)
{
    static const char digits[] = "9081726354192837465";
    for (size_t len = 1; len < sizeof digits - 1; len++) {
        char text[sizeof digits];
        int64_t value = 0, wanted = 0;
        memcpy(text, digits, len);
        for (size_t i = 0; i < len; i++)
            wanted = wanted * 10 + (digits[i] - '0');
        assert_true(json_integer(text, text + len, &value));
        assert_true(value == wanted);
        for (size_t i = 0; i < len; i++) {
            text[i] = i % 2 ? ':' : '/'; /* the neighbours of '9' and '0' */
            assert_false(json_integer(text, text + len, &value));
            text[i] = digits[i];
        }
    }
}
