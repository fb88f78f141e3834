/* test_svg_numbers.c - report/svg_parts.h: numbers of pictures are what printf makes of them, without zeros at the end. */
#include "tests/unit/unit.h"
#include "report/svg_parts.h"

#include <math.h>

static void expect_as_printed(double value)
{
    char printed[400];
    SCRATCH_BUFFER(out);
    snprintf(printed, sizeof printed, "%.2f", value);
    size_t len = strlen(printed);
    while (printed[len - 1] == '0')
        len--;
    printed[printed[len - 1] == '.' ? len - 1 : len] = '\0';
    svg_add_number(&out, value);
    assert_string_equal(out.at, strcmp(printed, "-0") == 0 ? "0" : printed);
}

TEST(hundredths_and_what_lies_between_them)
{
    for (int i = -4000; i <= 4000; i++) {
        expect_as_printed(i / 800.0);
        expect_as_printed(i / 1000.0);
        expect_as_printed(nextafter(i / 200.0, 9));
        expect_as_printed(nextafter(i / 200.0, -9));
        expect_as_printed(i * 12345.678901);
    }
}

TEST(small_and_large_ones)
{
    static const double values[] = {
        0,       -0.0,      0.005,     -0.005,       -0.004,   1e-300, 9999999.994999999,
        1e7 - 1, 1e7 + 0.3, 123456789, 1e20 / 3 * 2, -1e15 / 7
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        expect_as_printed(values[i]);
}
