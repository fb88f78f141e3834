/* test_thin.c - report/thin.h: few points, and every peak. */

#include "tests/unit/unit.h"
#include "report/thin.h"
#include <math.h>

/*
 * Two columns over 0..10, so 0..5 and 5..10:
 *
 *     x   0  1  2  3  4 | 5  6  7  8
 *     y   5  9  1  6  5 | 2  2  3  2
 *
 * Of the first column the first, highest, lowest and last stay: 0, 1, 2, 4. Of the second the first, which is the lowest
 * too, the highest and the last: 5, 7, 8.
 */
TEST(a_column_keeps_its_ends_and_extremes)
{
    double x[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 }, y[] = { 5, 9, 1, 6, 5, 2, 2, 3, 2 };
    size_t kept[9], wanted[] = { 0, 1, 2, 4, 5, 7, 8 };
    assert_int_equal(thin_line(x, y, 9, 0, 10, 2, kept), 7);
    assert_memory_equal(kept, wanted, sizeof wanted);
}

TEST(a_break_stays_and_parts_the_line)
{
    double x[] = { 0, 1, 2, 3 }, y[] = { 1, NAN, 2, 3 };
    size_t kept[4];
    assert_int_equal(thin_line(x, y, 4, 0, 100, 1, kept), 4);
    assert_int_equal(thin_line(x, y, 0, 0, 100, 1, kept), 0);
}

/* A million points, flat but for single peaks and dips; each must survive in 1000 columns, and the rest must not. */
TEST(every_peak_of_a_million_points_stays)
{
    enum { COUNT = 1000000, COLUMNS = 1000, PEAKS = 700 };
    double *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    SCOPED size_t *kept = malloc(COUNT * sizeof *kept);
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = (double)i;
        y[i] = 100;
    }
    for (size_t p = 0; p < PEAKS; p++)
        y[p * (COUNT / PEAKS) + 77] = p % 2 ? 200.0 + (double)p : -(double)p;
    size_t count = thin_line(x, y, COUNT, 0, COUNT, COLUMNS, kept), found = 0;
    assert_true(count <= 4 * COLUMNS);
    for (size_t k = 0; k < count; k++) {
        found += y[kept[k]] < 100 || y[kept[k]] > 100;
        assert_true(k == 0 || kept[k] > kept[k - 1]);
    }
    assert_int_equal(found, PEAKS);
    free(x);
    free(y);
}

TEST(dots_keep_one_of_a_cell)
{
    double x[] = { 0.1, 0.2, 0.9, NAN, 0.9 }, y[] = { 0.1, 0.3, 0.1, 0.5, 0.9 };
    double least[] = { 0, 0 }, most[] = { 1, 1 };
    size_t kept[5], wanted[] = { 0, 2, 4 };
    assert_int_equal(thin_dots(x, y, 5, least, most, 2, 2, kept), 3);
    assert_memory_equal(kept, wanted, sizeof wanted);
}
