/* test_cuts.c - report/cuts.h: different texts of rows with the same names never look the same. */
#include "tests/unit/unit.h"
#include "report/cuts.h"
#include "base/unicode.h"

enum { MOST = 64 };

struct row {
    const char *names, *text;
};

/* Show the texts of COUNT rows in MAX columns; they fit. */
static void show(const struct row *rows, size_t count, size_t max, char shown[][MOST])
{
    SCOPED_OBJECT struct cuts *cuts = cuts_open(max);
    for (size_t i = 0; i < count; i++)
        cuts_add(cuts, rows[i].names, rows[i].text, strlen(rows[i].text));
    for (size_t i = 0; i < count; i++) {
        struct text text = cuts_shown(cuts, rows[i].names, rows[i].text, strlen(rows[i].text));
        assert_true(unicode_text_width(text.at, text.len) <= max);
        snprintf(shown[i], MOST, "%.*s", (int)text.len, text.at);
    }
}

TEST(texts_are_shown_from_where_they_differ)
{
    static const struct row rows[] = {
        { "mm", "[[2048], [16, 512], [512, 2048], [], []]" },
        { "mm", "[[2048], [32, 512], [512, 2048], [], []]" },
        { "mm", "[[4096], [16, 512], [512, 2048], [], []]" },
        { "mm", "[[2048]]" },
        { "bmm", "[[8, 128, 512], [8, 512, 64], [2, 512]]" },
        { "bmm", "[[8, 128, 512], [8, 512, 96], [2, 512]]" },
    };
    char shown[6][MOST];
    show(rows, 6, 16, shown);
    assert_string_equal(shown[0], "[[2048], [16,...");
    assert_string_equal(shown[1], "[[2048], [32,...");
    assert_string_equal(shown[2], "[[4096],..., []]");
    assert_string_equal(shown[3], "[[2048]]");
    assert_string_equal(shown[4], "...64], [2, 5...");
    assert_string_equal(shown[5], "...96], [2, 5...");
}

/* What is in front has room, so that only the end goes. */
TEST(the_begin_stays_if_the_difference_is_near)
{
    static const struct row rows[] = { { "mm", "[[16, 512, 7], [512, 2048]]" },
                                       { "mm", "[[16, 518, 7], [512, 2048]]" } };
    char shown[2][MOST];
    show(rows, 2, 16, shown);
    assert_string_equal(shown[0], "[[16, 512, 7]...");
    assert_string_equal(shown[1], "[[16, 518, 7]...");
}

TEST(rows_with_other_names_are_apart_anyway)
{
    static const struct row rows[] = { { "mm", "[[16, 512], [512, 2048]]" },
                                       { "bmm", "[[16, 768], [512, 2048]]" } };
    char shown[2][MOST];
    show(rows, 2, 14, shown);
    assert_string_equal(shown[0], "[[16, 5...48]]");
    assert_string_equal(shown[1], "[[16, 7...48]]");
}

TEST(no_two_texts_look_the_same_in_any_width)
{
    enum { TEXTS = 40 };
    static char texts[TEXTS][MOST + 40];
    struct row rows[TEXTS];
    for (int i = 0; i < TEXTS; i++) {
        snprintf(texts[i], sizeof texts[i],
                 "[[%d, 512, \u20ac], [512, 51%d, 2048, 2048], [%d, 7], [16, 51%d], []]", i % 2, i / 2 % 3,
                 i / 6 % 5, i);
        rows[i] = (struct row){ "mm", texts[i] };
    }
    for (size_t max = 10; max < MOST; max++) {
        char shown[TEXTS][MOST];
        show(rows, TEXTS, max, shown);
        for (size_t a = 0; a < TEXTS; a++)
            for (size_t b = 0; b < a; b++)
                assert_string_not_equal(shown[a], shown[b]);
    }
}
