
#include "tests/unit/unit.h"
#include "base/regex.h"

SCRATCH_OF(regex)

static bool matches(const char *pattern, const char *text, size_t len)
{
    struct tpa_error err = { 0 };
    struct regex *regex = scratch_regex(regex_open(pattern, &err));
    bool matched = false;
    if (regex == NULL || !regex_match(regex, text, len, &matched, &err))
        fail_msg("%s", err.message);
    return matched;
}

TEST(patterns_match_anywhere_unless_anchored)
{
    assert_true(matches("mm", "aten::addmm", 11));
    assert_false(matches("^mm", "aten::addmm", 11));
    assert_true(matches("::(mm|addmm)$", "aten::addmm", 11));
    assert_true(matches("(?i)ATEN", "aten::addmm", 11));
    assert_true(matches("", "", 0));
}

TEST(bytes_that_are_no_text_match_nothing_and_harm_nothing)
{
    assert_true(matches("b$", "a\xff\xfe\0b", 5));
    assert_false(matches("a.b",
                         "a\xff"
                         "b",
                         3));
    assert_true(matches("^.$", "\xc3\xa9", 2)); /* one character of two bytes */
}

TEST(wrong_patterns_say_where)
{
    struct tpa_error err = { 0 };
    assert_null(regex_open("a(b", &err));
    assert_string_equal(err.message,
                        "regular expression 'a(b' is wrong at character 4: missing closing parenthesis");
}

TEST(costly_matches_are_errors_not_hangs)
{
    struct tpa_error err = { 0 };
    struct regex *regex = scratch_regex(regex_open("^(a+)+[0-9]$", &err));
    assert_non_null(regex);
    char text[5001];
    memset(text, 'a', 5000);
    text[5000] = 'c';
    bool matched = true;
    assert_false(regex_match(regex, text, sizeof text, &matched, &err));
    assert_non_null(strstr(err.message, "cannot be matched"));
}

/* Each letter more doubles the steps: some are answered, and from one length on all are errors. */
TEST(steps_for_one_name_are_limited)
{
    struct tpa_error err = { 0 };
    struct regex *regex = scratch_regex(regex_open("^(a|a)*[bc]d$", &err));
    assert_non_null(regex);
    char text[64]; /* ends in the letter without which no match would be tried */
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 'd';
    bool matched = true;
    size_t letters = 0;
    while (letters < sizeof text &&
           regex_match(regex, text + sizeof text - 1 - letters, letters + 1, &matched, &err)) {
        assert_false(matched);
        letters++;
    }
    assert_in_range(letters, 14, 23); /* 2,000,000 is some 2^21 */
    struct tpa_error last = { 0 };
    assert_false(regex_match(regex, text, sizeof text, &matched, &last));
}

/* 16 letters take 2^16 steps: for one name that is fine, for thousands it is an error before long. */
TEST(steps_for_all_names_are_limited)
{
    struct tpa_error err = { 0 };
    struct regex *regex = scratch_regex(regex_open("^(a|a)*[bc]d$", &err));
    assert_non_null(regex);
    bool matched;
    int names = 0;
    while (names < 1000 && regex_match(regex, "aaaaaaaaaaaaaaaad", 17, &matched, &err))
        names++;
    assert_int_equal(names, 250);
    assert_non_null(strstr(err.message, "for 250 names"));
}

/* What is looked through from every letter on is no step: 65,536 letters squared are a second, four million were hours. */
TEST(looking_through_long_names_ends)
{
    struct tpa_error err = { 0 };
    struct regex *regex = scratch_regex(regex_open("(?<=a)a*[bd]", &err));
    assert_non_null(regex);
    size_t len = 4000000;
    char *text = scratch_heap(malloc(len));
    memset(text, 'a', len);
    bool matched = true;
    int names = 0;
    while (names < 100 && regex_match(regex, text, names ? 20000 : len, &matched, &err))
        assert_false((names++, matched));
    assert_in_range(names, 0, 99);
    assert_non_null(strstr(err.message, "all names together"));
}

TEST(deep_recursion_ends)
{
    struct regex *regex = scratch_regex(regex_open("^((a|b)*c?)*$", NULL));
    assert_non_null(regex);
    size_t len = 1000000;
    char *text = scratch_heap(malloc(len));
    memset(text, 'a', len);
    bool matched;
    regex_match(regex, text, len, &matched, NULL); /* whatever it says, it ends */
}
