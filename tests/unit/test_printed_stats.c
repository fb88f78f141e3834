/* test_printed_stats.c - ingest/printed_stats.c: the text of print_stats(), and of Lightning's AdvancedProfiler. */
#include "tests/unit/unit.h"
#include "ingest/formats.h"

SCRATCH_OF(profile)

extern const struct format format_printed_stats;

static struct profile *read_text(const char *text)
{
    struct source *source = source_open_memory(text, strlen(text), "test", NULL);
    assert_non_null(source);
    struct profile *profile = scratch_profile(format_printed_stats.read_profile(source, NULL));
    source_free(source);
    return profile;
}

#define HEAD(totals) totals "\n\n   Ordered by: internal time\n\n"
#define COLUMNS "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"

static const struct profile_cost *cost_of(const struct profile *profile, const char *file, int64_t line,
                                          const char *name)
{
    function_id id = profile_find(profile, file, line, name);
    assert_true(id != FUNCTION_NONE && profile->functions[id].listed);
    return &profile->functions[id].cost;
}

/* Names with brackets, blanks and colons, the ones of built-in functions, and a function without primitive calls. */
TEST(each_column_is_read_exactly)
{
    struct profile *profile = read_text(
        "loss 0.5\n" HEAD("         25 function calls (14 primitive calls) in 1.503 seconds") COLUMNS
        "    14/10    1.250    0.089    1.500    0.150 C:\\my code\\a b.py:12(f(x))\n"
        "        4    0.250    0.063    0.250    0.063 {method 'append' of 'list' objects}\n"
        "      7/0    0.003    0.000    0.003          <frozen importlib._bootstrap>:1002(_find)\n"
        "        0    0.000             0.000          name\n\n\nloss 0.25\n");
    assert_non_null(profile);
    assert_int_equal(profile->listed_count, 4);
    assert_int_equal(profile->total.calls, 25);
    assert_int_equal(profile->total.primitive_calls, 14);
    assert_int_equal(profile_ns(profile->total.total_s), 1503000000);
    const struct profile_cost *f = cost_of(profile, "C:\\my code\\a b.py", 12, "f(x)");
    assert_int_equal(f->calls, 14);
    assert_int_equal(f->primitive_calls, 10);
    assert_int_equal(profile_ns(f->total_s), 1250000000);
    assert_int_equal(profile_ns(f->cumulative_s), 1500000000);
    assert_int_equal(cost_of(profile, "~", 0, "<method 'append' of 'list' objects>")->calls, 4);
    assert_int_equal(cost_of(profile, "<frozen importlib._bootstrap>", 1002, "_find")->primitive_calls, 0);
    assert_int_equal(cost_of(profile, "~", 0, "name")->calls, 0);
    assert_int_equal(profile->origin.lacks, 0);
    assert_int_equal(profile->odd_entries, 0);
    assert_false(profile_has_callers(profile));
}

static const char twice[] = HEAD("  6 function calls in 0.004 seconds") COLUMNS
    "  2 0.001 0.000 0.004 0.002 a.py:1(f)\n"
    "  4 0.003 0.001 0.003 0.001 a.py:2(g)\n\n" HEAD("  6 function calls in 0.004 seconds") COLUMNS
    "  4 0.003 0.001 0.003 0.001 a.py:2(g)\n"
    "  2 0.001 0.000 0.004 0.002 a.py:1(f)\n\n";

/* Printed by two keys it is one profile; under the titles of two actions it is two. */
TEST(a_profile_printed_twice_counts_once)
{
    struct profile *profile = read_text(twice);
    assert_int_equal(profile->total.calls, 6);
    assert_int_equal(cost_of(profile, "a.py", 1, "f")->calls, 2);
    assert_int_equal(profile->origin.lacks, 0);

    char text[2 * sizeof twice + 100];
    size_t half = (sizeof twice - 1) / 2;
    snprintf(text, sizeof text, "Profile stats for: one\n%.*sProfile stats for: two\n%s", (int)half, twice,
             twice + half);
    profile = read_text(text);
    assert_int_equal(profile->total.calls, 12);
    assert_int_equal(cost_of(profile, "a.py", 1, "f")->calls, 4);
    assert_int_equal(profile_ns(cost_of(profile, "a.py", 2, "g")->total_s), 6000000);
}

/* A reduced list is a lack, and so is one whose calls are fewer than its heading says, as of a text that was cut. */
TEST(missing_functions_are_lacks)
{
    struct profile *profile = read_text("  6 function calls in 0.004 seconds\n\n   Ordered by: call count\n"
                                        "   List reduced from 2 to 1 due to restriction <1>\n\n" COLUMNS
                                        "  4 0.003 0.001 0.003 0.001 a.py:2(g)\n\n");
    assert_int_equal(profile->origin.lacks, lack_sort(LACK_CUT_AT_LIMIT));
    assert_int_equal(profile->total.calls, 6);
    profile = read_text(HEAD("  6 function calls in 0.004 seconds") COLUMNS
                        "  4 0.003 0.001 0.003 0.001 a.py:2(g)\n  2 0.001 0.0");
    assert_int_equal(profile->origin.lacks, lack_sort(LACK_LOST_SUMS));
    assert_int_equal(profile->odd_entries, 1);
    assert_null(read_text(HEAD("  6 function calls in 0.004 seconds") COLUMNS));
}
