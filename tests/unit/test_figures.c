/* test_figures.c - report/figures.h and report/exact.h: figures for people and for programs. */
#include "tests/unit/unit.h"
#include "report/exact.h"
#include "report/figures.h"

#include <float.h>
#include <math.h>

static void figure(enum table_kind kind, union table_cell cell, const char *wanted)
{
    SCRATCH_BUFFER(out);
    figure_add(&out, kind, &cell, TIME_FITTING);
    assert_string_equal(out.at, wanted);
}

static void time_in(enum time_unit unit, int64_t ns, const char *wanted)
{
    SCRATCH_BUFFER(out);
    union table_cell cell = table_int(ns);
    figure_add(&out, TABLE_NS, &cell, unit);
    assert_string_equal(out.at, wanted);
}

TEST(times_can_all_be_in_one_unit)
{
    time_in(TIME_US, 320, "0.320us");
    time_in(TIME_US, 362846000, "362846.000us");
    time_in(TIME_MS, 499, "0.000ms"); /* half away from zero */
    time_in(TIME_MS, 500, "0.001ms");
    time_in(TIME_MS, -1500500, "-1.501ms");
    time_in(TIME_S, 1089499999, "1.089s");
    time_in(TIME_S, 1089500000, "1.090s");
    time_in(TIME_S, INT64_MAX, "9223372036.855s");
    time_in(TIME_US, INT64_MIN + 1, "-9223372036854775.807us");
}

TEST(times_take_the_unit_that_fits)
{
    figure(TABLE_NS, table_int(0), "0ns");
    figure(TABLE_NS, table_int(999), "999ns");
    figure(TABLE_NS, table_int(1000), "1.000us");
    figure(TABLE_NS, table_int(4983), "4.983us");
    figure(TABLE_NS, table_int(999999), "999.999us");
    figure(TABLE_NS, table_int(1000000), "1.000ms");
    figure(TABLE_NS, table_int(362845500), "362.846ms"); /* half goes up */
    figure(TABLE_NS, table_int(362845499), "362.845ms");
    figure(TABLE_NS, table_int(999999499), "999.999ms");
    figure(TABLE_NS, table_int(999999500), "1.000s"); /* not 1000.000ms */
    figure(TABLE_NS, table_int(-362845500), "-362.846ms");
    figure(TABLE_NS, table_int(86400000000000), "86400.000s");
    figure(TABLE_NS, table_int(INT64_MAX), "9223372036.855s");
    figure(TABLE_NS, table_int(INT64_MIN + 1), "-9223372036.855s");
    figure(TABLE_NS, table_int(TABLE_INT_MISSING), "-");
}

TEST(moments_are_seconds_to_the_microsecond)
{
    figure(TABLE_MOMENT, table_int(0), "0.000000s");
    figure(TABLE_MOMENT, table_int(12500000499), "12.500000s");
    figure(TABLE_MOMENT, table_int(12500000500), "12.500001s");
    figure(TABLE_MOMENT, table_int(-1500), "-0.000002s");
}

TEST(sizes_go_in_steps_of_1024)
{
    figure(TABLE_BYTES, table_int(0), "0 B");
    figure(TABLE_BYTES, table_int(1023), "1023 B");
    figure(TABLE_BYTES, table_int(1024), "1.00 KB");
    figure(TABLE_BYTES, table_int(1536), "1.50 KB");
    figure(TABLE_BYTES, table_int(1048575), "1.00 MB"); /* not 1024.00 KB */
    figure(TABLE_BYTES, table_int(-1868310773), "-1.74 GB");
    figure(TABLE_BYTES, table_int(INT64_MAX), "8192.00 PB");
    figure(TABLE_BYTES, table_int(TABLE_INT_MISSING), "-");
}

TEST(other_figures)
{
    figure(TABLE_COUNT, table_int(1234567), "1234567");
    figure(TABLE_COUNT, table_int(INT64_MIN + 1), "-9223372036854775807");
    figure(TABLE_FLOPS, table_int(999), "999 FLOP");
    figure(TABLE_FLOPS, table_int(851969999999), "851.970 GFLOP");
    figure(TABLE_FLOPS, table_int(INT64_MAX), "9223.372 PFLOP");
    figure(TABLE_SHARE, table_number(0.1234), "12.3 %");
    figure(TABLE_SHARE, table_number(-0.5), "-50.0 %");
    figure(TABLE_SHARE, table_number(1e298), "1.000e+300 %"); /* not 300 digits */
    figure(TABLE_SHARE, table_number(NAN), "-");
    figure(TABLE_NUMBER, table_number(1.25), "1.250");
    figure(TABLE_NUMBER, table_number(0), "0.000");
    figure(TABLE_NUMBER, table_number(0.000123456), "1.235e-04");
    figure(TABLE_NUMBER, table_number(1e300), "1.000e+300");
    figure(TABLE_NUMBER, table_number(INFINITY), "inf");
    figure(TABLE_BOOL, table_int(1), "yes");
    figure(TABLE_BOOL, table_int(0), "no");
}

static void exact(double value, const char *wanted)
{
    SCRATCH_BUFFER(out);
    exact_add_double(&out, value);
    assert_string_equal(out.at, wanted);
}

TEST(doubles_take_the_fewest_digits)
{
    exact(0, "0");
    exact(-0.0, "0");
    exact(1, "1");
    exact(-3, "-3");
    exact(0.1, "0.1");
    exact(0.1 + 0.2, "0.30000000000000004");
    exact(1.0 / 3, "0.3333333333333333");
    exact(2.0 / 3, "0.6666666666666666");
    exact(5.0 / 3, "1.6666666666666667");
    exact(0.00001, "0.00001");
    exact(0.5, "0.5");
    exact(-0.25, "-0.25");
    exact(123456.789, "123456.789");
    exact(9007199254740992.0, "9007199254740992");
    exact(1e22, "1e+22");
    exact(5e-324, "4.94065645841247e-324"); /* C's own digits where size is not everyday */
    exact(999999999999999.9, "999999999999999.9");
    exact(0.9999999999999999, "0.9999999999999999");
}

/* For shares i/j and numbers of all sizes: they read back, and no shorter printf does. */
TEST(doubles_read_back_and_are_shortest)
{
    uint64_t random = 1;
    SCRATCH_BUFFER(out);
    for (int round = 0; round < 50000; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        double value = (double)(random >> 40) / (double)((random & 0xffffff) + 1);
        if (round % 3 == 0)
            value /= 16777216;
        if (round % 3 == 1)
            value *= 1e-3;
        if (round % 5 == 0) /* beside powers of two the steps differ */
            value = nextafter(ldexp(1, (int)(random >> 58) - 20), round % 2 ? 0 : INFINITY);
        buffer_clear(&out);
        exact_add_double(&out, value);
        assert_true(strtod(out.at, NULL) == value);
        size_t digits = 0;
        bool leading = true;
        for (const char *at = out.at; *at && *at != 'e'; at++)
            if (*at >= '0' && *at <= '9' && (!leading || *at != '0')) {
                leading = false;
                digits++;
            }
        char shorter[40];
        snprintf(shorter, sizeof shorter, "%.*e", (int)digits - 2, value);
        if (digits > 1 && value != floor(value))
            assert_true(strtod(shorter, NULL) != value);
    }
}

TEST(keys_of_times_end_in_ns)
{
    SCRATCH_BUFFER(out);
    exact_add_key(&out, "cuda_time", TABLE_NS);
    exact_add_key(&out, " start", TABLE_MOMENT);
    exact_add_key(&out, " gap_ns", TABLE_NS);
    exact_add_key(&out, " bytes", TABLE_BYTES);
    assert_string_equal(out.at, "cuda_time_ns start_ns gap_ns bytes");
}
