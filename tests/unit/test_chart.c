/*
 * test_chart.c - base/chart.h and what draws it: scales (report/chart_scale.h), cells (report/chart_cells.h) and scripts
 * (report/gnuplot.h) and texts (report/chart_text.h).
 */

#include "tests/unit/unit.h"
#include "report/chart_cells.h"
#include "report/chart_scale.h"
#include "report/chart_text.h"
#include "report/gnuplot.h"
#include "report/svg.h"
#include <math.h>

SCRATCH_OF(picture)

static struct picture *picture;
static struct chart *chart;
static struct table *table;

/* A chart over a table of a name or figure of kind X, and two figures of kind Y. */
static void begin(enum table_kind x, enum table_kind y)
{
    const struct table_column columns[] = { { "x", "X", x, "", 0, NULL },
                                            { "y", "Y", y, "", 0, NULL },
                                            { "z", "Z", y, "", 0, NULL } };
    picture = scratch_picture(picture_open("test", "Test"));
    chart = picture_add_chart(picture, "one", "One");
    chart->x = (struct chart_axis){ .title = "Across", .kind = x };
    chart->y = (struct chart_axis){ .title = "Up", .kind = y };
    table = chart_add_table(chart, table_open("t", NULL, columns, 3));
}

static void add_bar(const char *name, int64_t y, int64_t z)
{
    size_t row = table_add_row(table);
    table_set_text(table, row, 0, name, strlen(name));
    table_set_int(table, row, 1, y);
    table_set_int(table, row, 2, z);
}

static void add_point(int64_t x, int64_t y)
{
    size_t row = table_add_row(table);
    table_set_int(table, row, 0, x);
    table_set_int(table, row, 1, y);
}

static void add_series(enum chart_mark mark, size_t y, const char *title)
{
    chart_add_series(
        chart, (struct chart_series){
                   .title = title, .mark = mark, .color = chart_color_at(y - 1), .table = table, .y = y });
}

/* ---- scales ---- */

/* Bars of 300us + 600us pile up to 900us: the axis ends at the next round figure, 1000us. */
TEST(bars_pile_up_on_the_scale)
{
    begin(TABLE_NAME, TABLE_NS);
    add_bar("a", 300000, 600000);
    add_bar("b", 100000, 0);
    add_series(CHART_BAR, 1, "one");
    add_series(CHART_BAR, 2, "two");
    struct chart_scale x = chart_scale_x(chart), y = chart_scale_y(chart);
    assert_true(x.least == -0.5 && x.most == 1.5);
    assert_true(y.least == 0 && y.most == 1000000);
    assert_string_equal(y.unit, "us");
    assert_true(chart_scale_place(&y, 250000) == 0.25);
    double tick[CHART_MOST_TICKS];
    assert_int_equal(chart_scale_ticks(&y, 6, tick), 6);
    assert_true(tick[1] == 200000);
    SCRATCH_BUFFER(text);
    chart_scale_add_tick(&text, &y, tick[1]);
    assert_string_equal(text.at, "200");
    buffer_clear(&text);
    chart_scale_add_title(&text, &y, &chart->y);
    assert_string_equal(text.at, "Up (us)");
}

/* 5 B to 3 MB: from 4 B to 4 MB, in powers of two; ticks tell their unit. */
TEST(logarithmic_sizes)
{
    begin(TABLE_BYTES, TABLE_COUNT);
    chart->x.log = true;
    add_point(5, 1);
    add_point(3 << 20, 1);
    add_point(0, 1); /* has no place */
    add_series(CHART_POINT, 1, NULL);
    struct chart_scale x = chart_scale_x(chart);
    assert_true(x.least == 4 && x.most == 4 << 20);
    assert_true(isnan(chart_scale_place(&x, 0)));
    assert_true(fabs(chart_scale_place(&x, 4096) - 0.5) < 1e-12);
    double tick[CHART_MOST_TICKS];
    size_t count = chart_scale_ticks(&x, 8, tick);
    assert_true(count >= 4 && count <= 8);
    SCRATCH_BUFFER(text);
    chart_scale_add_tick(&text, &x, 32768);
    assert_string_equal(text.at, "32 KB");
}

TEST(a_chart_of_nothing_has_scales)
{
    for (int log = 0; log < 2; log++) {
        begin(TABLE_MOMENT, TABLE_SHARE);
        chart->x.log = chart->y.log = log;
        struct chart_scale x = chart_scale_x(chart), y = chart_scale_y(chart);
        assert_true(x.least < x.most && y.least < y.most);
        double tick[CHART_MOST_TICKS];
        assert_true(chart_scale_ticks(&x, 5, tick) > 0);
        assert_true(chart_scale_ticks(&y, 1000, tick) <= CHART_MOST_TICKS);
    }
}

/* Units follow the largest figure, and figures are never scaled so that ticks collapse. */
TEST(ticks_are_few_and_within)
{
    static const int64_t most[] = { 1, 7, 999, 1000, 123456, 999999999, 1000000000, INT64_MAX / 2 };
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        begin(TABLE_MOMENT, TABLE_NS);
        add_point(0, 0);
        add_point(most[i], most[i]);
        add_series(CHART_LINE, 1, NULL);
        struct chart_scale scales[] = { chart_scale_x(chart), chart_scale_y(chart) };
        for (size_t s = 0; s < 2; s++) {
            double tick[CHART_MOST_TICKS];
            size_t count = chart_scale_ticks(&scales[s], 6, tick);
            assert_in_range(count, 2, 8);
            for (size_t t = 0; t < count; t++)
                assert_true(chart_scale_place(&scales[s], tick[t]) > -1e-6 &&
                            chart_scale_place(&scales[s], tick[t]) < 1 + 1e-6);
        }
        assert_true(scales[1].most >= (double)most[i]);
    }
}

/* ---- cells ---- */

static void assert_cells(bool horizontal, size_t columns, size_t rows, const char *wanted)
{
    struct chart_cells cells = chart_cells_draw(chart, horizontal, columns, rows);
    SCRATCH_BUFFER(text);
    for (size_t r = rows; r-- > 0; buffer_putc(&text, '\n'))
        for (size_t c = 0; c < columns; c++)
            buffer_putc(&text, " 123"[cells.at[r * columns + c]]);
    assert_string_equal(text.at, wanted);
    free(cells.at);
}

/* Of 10: 4 + 6, 5 + 0; a third has neither. */
TEST(bars_lie_and_stand)
{
    begin(TABLE_NAME, TABLE_COUNT);
    add_bar("a", 4, 6);
    add_bar("b", 5, 0);
    size_t row = table_add_row(table);
    table_set_text(table, row, 0, "c", 1);
    add_series(CHART_BAR, 1, "one");
    add_series(CHART_BAR, 2, "two");
    assert_cells(true, 10, 3,
                 "1111222222\n"
                 "11111     \n"
                 "          \n");
    assert_cells(false, 9, 5,
                 "22       \n"
                 "22       \n"
                 "22 11    \n"
                 "11 11    \n"
                 "11 11    \n");
}

/* Six categories in three columns: the higher of each two is seen. */
TEST(narrow_bars_keep_the_highest)
{
    begin(TABLE_NAME, TABLE_COUNT);
    static const int64_t heights[] = { 1, 4, 3, 0, 0, 2 };
    for (size_t i = 0; i < 6; i++)
        add_bar("x", heights[i], 0);
    add_series(CHART_BAR, 1, NULL);
    assert_cells(false, 3, 4,
                 "1  \n"
                 "11 \n"
                 "111\n"
                 "111\n");
}

/* From 0..8 in 8 columns: 4 until 3, a peak of 8 at 3 for one tenth of a column, then 2. */
TEST(stairs_keep_their_peaks)
{
    const struct table_column columns[] = { { "x", "X", TABLE_NS, "", 0, NULL },
                                            { "y", "Y", TABLE_COUNT, "", 0, NULL } };
    picture = scratch_picture(picture_open("test", "Test"));
    chart = picture_add_chart(picture, "one", "One");
    chart->x.kind = TABLE_NS;
    chart->y.kind = TABLE_COUNT;
    table = chart_add_table(chart, table_open("t", NULL, columns, 2));
    add_point(0, 4);
    add_point(3000, 8);
    add_point(3100, 2);
    add_point(8000, 2);
    add_series(CHART_STAIRS, 1, NULL);
    assert_cells(false, 8, 4,
                 "   1    \n"
                 "1111    \n"
                 "   11111\n"
                 "        \n");
}

/* ---- scripts ---- */

/*
 * Names that try to get out of their block or to be run. In the script each must stand in the block of texts, as a line
 * that begins with a colon, and nowhere else.
 */
TEST(names_are_never_commands)
{
    static const char *const names[] = {
        "`touch PWNED`",
        "\"); system('touch PWNED') #",
        "EOD",
        "\nEOD\nsystem 'touch PWNED'\n",
        "@PWNED",
        "$text[1] PWNED",
        "%s%n PWNED",
        "{/Symbol PWNED_a^b}",
        "'; !touch PWNED #",
        "\\\\ PWNED \\n",
        "\x1b]0;PWNED\x07",
    };
    enum { NAMES = sizeof names / sizeof *names };
    static const enum gnuplot_terminal terminals[] = { GNUPLOT_SVG, GNUPLOT_PNG, GNUPLOT_PDF };
    for (size_t t = 0; t < 3; t++) {
        begin(TABLE_NAME, TABLE_NS);
        for (size_t i = 0; i < NAMES; i++)
            add_bar(names[i], 1000 + (int64_t)i, 0);
        add_series(CHART_BAR, 1, "`touch PWNED`");
        chart->note = "'; system('touch PWNED')";
        picture->source = "\"`touch PWNED`.json";
        SCRATCH_BUFFER(script);
        gnuplot_script(picture, &(struct gnuplot_options){ .terminal = terminals[t] }, &script);
        bool in_texts = false;
        size_t ends = 0, found = 0;
        for (char *line = script.at, *next; line; line = next) {
            next = strchr(line, '\n');
            if (next)
                *next++ = '\0';
            if (strcmp(line, "$text << EOD") == 0)
                in_texts = true;
            else if (in_texts && strcmp(line, "EOD") == 0) {
                in_texts = false;
                ends++;
            } else if (in_texts)
                assert_int_equal(line[0], ':');
            if (strstr(line, "PWNED")) {
                assert_true(in_texts);
                found++;
            }
            for (char *c = line; *c; c++)
                assert_true((unsigned char)*c >= ' ');
        }
        assert_int_equal(ends, 1);
        assert_true(found >= 8); /* some lose the word when they are shortened */
    }
}

/* A million rows make a script of a few thousand lines. */
TEST(a_script_is_thinned)
{
    begin(TABLE_MOMENT, TABLE_BYTES);
    for (int64_t i = 0; i < 1000000; i++)
        add_point(i, i % 1000 == 7 ? 5000 : 1000 + i % 3);
    add_series(CHART_STAIRS, 1, NULL);
    SCRATCH_BUFFER(script);
    gnuplot_script(picture, &(struct gnuplot_options){ .terminal = GNUPLOT_SVG, .width = 900 }, &script);
    assert_true(script.count < 200000);
    size_t peaks = 0;
    for (const char *at = script.at; (at = strstr(at, " 4.8828125\n")); at++) /* 5000 B in KB */
        peaks++;
    assert_in_range(peaks, 900, 1000);
}

/* No line of TEXT takes more than WIDTH columns, escape sequences aside. */
static void assert_widest(const struct buffer *text, size_t width)
{
    size_t column = 0;
    for (const char *at = text->at; *at; at++) {
        if (*at == '\033')
            at = strchr(at, 'm');
        else if (*at == '\n')
            column = 0;
        else if (((unsigned char)*at & 0xc0) != 0x80) /* begins a character */
            assert_true(++column <= width);
    }
}

/* Charts of all marks, with and without anything in them, at all sizes: whatever comes is a script. */
TEST(odd_charts_are_scripts)
{
    for (unsigned mark = CHART_BAR; mark <= CHART_BOX; mark++)
        for (int64_t rows = 0; rows < 4; rows++)
            for (size_t width = 0; width < 60; width += 59)
                for (unsigned log = 0; log < 2; log++) {
                    bool categories = mark <= CHART_SPAN;
                    begin(categories ? TABLE_NAME : TABLE_MOMENT, TABLE_NS);
                    chart->horizontal = categories && log;
                    chart->y.log = !categories && log;
                    for (int64_t i = 0; i < rows; i++)
                        if (categories)
                            add_bar("name", i, 0);
                        else
                            add_point(i, i);
                    if (rows == 3)
                        table_add_row(table); /* all missing */
                    add_series(mark, 1, "series");
                    chart_add_label(chart, 0, 0, "label");
                    for (unsigned t = GNUPLOT_SVG; t <= GNUPLOT_PDF; t++) {
                        SCRATCH_BUFFER(script);
                        gnuplot_script(
                            picture,
                            &(struct gnuplot_options){ .terminal = t, .width = width, .height = width / 2 },
                            &script);
                        assert_non_null(strstr(script.at, "\nplot NaN notitle"));
                    }
                    for (unsigned manner = 0; manner < 4; manner++) {
                        struct chart_text_options options = { width, width / 2, manner & 1, manner & 2 };
                        SCRATCH_BUFFER(text);
                        chart_text_add(&text, picture, &options);
                        assert_widest(&text, width > 40 ? width : width ? 40 : 100);
                    }
                    SCRATCH_BUFFER(svg);
                    svg_add_picture(&svg, picture, width, 0);
                    assert_non_null(strstr(svg.at, "</svg>\n</svg>\n"));
                    assert_null(strstr(svg.at, "nan"));
                }
}

/* ---- texts ---- */

static void assert_text(const struct chart_text_options *options, const char *wanted)
{
    SCRATCH_BUFFER(text);
    chart_text_add(&text, picture, options);
    assert_string_equal(text.at, wanted);
}

/*
 * The axis ends at 40us and has 40 - 4 - 13 = 23 columns: 40us are all of them, 10us are 5.75 or 46 eighths, so 5 columns and
 * 6 eighths; in whole columns 6.
 */
TEST(bars_end_at_eighths)
{
    begin(TABLE_NAME, TABLE_NS);
    add_bar("a", 40000, 0);
    add_bar("b", 10000, 0);
    add_series(CHART_BAR, 1, NULL);
    chart->horizontal = true;
    chart->x.title = chart->y.title = NULL;
    struct chart_text_options options = { .width = 40 };
    assert_text(&options, " One\n"
                          " a |####################### 40.000us\n"
                          " b |###### 10.000us\n"
                          "   +-----------------------\n"
                          "    0          20         40\n");
    options.unicode = true;
    assert_text(
        &options,
        " One\n"
        " a \u2502\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588"
        "\u2588\u2588\u2588\u2588\u2588\u2588\u2588 40.000us\n"
        " b \u2502\u2588\u2588\u2588\u2588\u2588\u258a 10.000us\n"
        "   \u2514\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500"
        "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\n"
        "    0          20         40\n");
}

/* Two kernels differ in their functor only, which is what every renderer shows of them. */
TEST(labels_of_lying_bars_differ)
{
    begin(TABLE_NAME, TABLE_NS);
    add_bar(
        "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, Array<char*, 3> >(int)",
        40000, 0);
    add_bar(
        "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>, Array<char*, 3> >(int)",
        10000, 0);
    add_series(CHART_BAR, 1, NULL);
    chart->horizontal = true;
    struct buffer shown[3] = { 0 };
    chart_text_add(&shown[0], picture, &(struct chart_text_options){ .width = 60 });
    svg_add_chart(&shown[1], picture, 0);
    gnuplot_script(picture, &(struct gnuplot_options){ .terminal = GNUPLOT_SVG, .width = 500 }, &shown[2]);
    for (size_t i = 0; i < 3; i++) {
        buffer_putc(&shown[i], '\0');
        assert_non_null(strstr(shown[i].at, "Add"));
        assert_non_null(strstr(shown[i].at, "Mul"));
        assert_true(i == 1 || !strstr(shown[i].at, "at::native"));
        buffer_release(&shown[i]);
    }
}

/* main 0..10 calls a 0..6 and b 6..10; of 38 columns a has 23 and b 15. */
TEST(boxes_hold_their_names)
{
    const struct table_column columns[] = { { "name", "Name", TABLE_NAME, "", 0, NULL },
                                            { "from", "From", TABLE_NS, "", 0, NULL },
                                            { "to", "To", TABLE_NS, "", 0, NULL },
                                            { "line", "Line", TABLE_COUNT, "", 0, NULL } };
    picture = scratch_picture(picture_open("test", "Test"));
    chart = picture_add_chart(picture, "one", "One");
    chart->x.kind = TABLE_NS;
    chart->y.kind = TABLE_COUNT;
    table = chart_add_table(chart, table_open("t", NULL, columns, 4));
    static const int64_t boxes[][3] = { { 0, 10, 0 }, { 0, 6, 1 }, { 6, 10, 1 } };
    for (size_t i = 0; i < 3; i++) {
        size_t row = table_add_row(table);
        table_set_text(table, row, 0, i == 0 ? "main" : i == 1 ? "<a>" : "b", i == 0 ? 4 : i == 1 ? 3 : 1);
        for (size_t c = 0; c < 3; c++)
            table_set_int(table, row, c + 1, boxes[i][c]);
    }
    chart_add_series(chart,
                     (struct chart_series){ .mark = CHART_BOX, .table = table, .x = 2, .y = 3, .low = 1 });
    assert_int_equal(chart_box_lines(chart), 2);
    struct chart_text_options options = { .width = 40 };
    assert_text(&options, " One\n"
                          "|[main                                ]\n"
                          "|[<a>                  ][b            ]\n"
                          "+--------------------------------------\n"
                          " 0                  5                 10\n");
    SCRATCH_BUFFER(svg);
    svg_add_chart(&svg, picture, 0);
    assert_non_null(strstr(svg.at, "<title>&lt;a&gt;: 6ns, 60.0 %</title>"));
    assert_null(strstr(svg.at, "<a>"));
}

/* 3, 30 and 300 of 17 labels at most, and of 4: every 1, 2 and 20; 1, 10 and 100. None fit: all are one. */
TEST(labels_thin_out)
{
    assert_int_equal(chart_label_step(3, 17), 1);
    assert_int_equal(chart_label_step(30, 17), 2);
    assert_int_equal(chart_label_step(300, 17), 20);
    assert_int_equal(chart_label_step(3, 4), 1);
    assert_int_equal(chart_label_step(30, 4), 10);
    assert_int_equal(chart_label_step(300, 4), 100);
    assert_int_equal(chart_label_step(0, 4), 1);
}

/* Contrast of each colour against white by WCAG 2.1: 3:1 is what parts of charts need. */
TEST(colors_are_seen_on_white)
{
    for (size_t i = 0; i < CHART_COLORS; i++) {
        static const double weights[] = { 0.2126, 0.7152, 0.0722 };
        unsigned parts[3];
        double luminance = 0;
        assert_int_equal(
            sscanf(chart_color_code((enum chart_color)i), "#%2x%2x%2x", &parts[0], &parts[1], &parts[2]), 3);
        for (size_t p = 0; p < 3; p++) {
            double c = parts[p] / 255.0;
            luminance += weights[p] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
        }
        assert_true(1.05 / (luminance + 0.05) >= 3);
    }
}

TEST(colors_are_seven_and_then_again)
{
    assert_string_equal(chart_color_code(chart_color_at(0)), "#1257b0");
    assert_int_equal(chart_color_at(7), chart_color_at(0));
    for (size_t i = 0; i < CHART_COLORS; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(chart_color_code((enum chart_color)i),
                                    chart_color_code((enum chart_color)j));
}
