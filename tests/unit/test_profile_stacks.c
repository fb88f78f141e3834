/* test_profile_stacks.c - profile/stacks.h, on call graphs small enough to draw. */
#include "tests/unit/unit.h"
#include "profile/view.h"

/* Functions are called by one letter: the name, in file "f" at line 1. */
static function_id id_of(struct profile *profile, const char *letter)
{
    return profile_function(profile, "f", 1, 1, letter, 1);
}

/* List function NAME, with callers as pairs of a letter and the cost of the calls, ended by NULL. */
struct caller {
    const char *name;
    double total_s, cumulative_s;
    int64_t calls;
};
static void list(struct profile *profile, const char *name, double total_s, double cumulative_s,
                 int64_t calls, const struct caller *callers)
{
    uint32_t first = (uint32_t)profile->edge_count;
    for (; callers && callers->name; callers++)
        profile_add_edge(profile, first,
                         &(struct profile_edge){ .caller = id_of(profile, callers->name),
                                                 .count_only = callers->total_s < 0,
                                                 .cost = { callers->calls, callers->calls, callers->total_s,
                                                           callers->cumulative_s } });
    profile_list(profile, id_of(profile, name), &(struct profile_cost){ calls, calls, total_s, cumulative_s },
                 first, (uint32_t)profile->edge_count - first);
}
#define CALLERS(...)                                                                                         \
    (const struct caller[])                                                                                  \
    {                                                                                                        \
        __VA_ARGS__,                                                                                         \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }

/* Each stack as "a;b~ 5": frames, "~" where apportioned, "?" in front when it has no place. */
struct lines {
    const struct profile *profile;
    struct buffer text;
};

static void add_line(void *context, const struct profile_stack *stack)
{
    struct lines *lines = context;
    if (stack->kind == STACK_UNPLACED)
        buffer_putc(&lines->text, '?');
    for (size_t i = 0; i < stack->depth; i++)
        buffer_printf(&lines->text, "%s%c%s", i > 0 ? ";" : "",
                      lines->profile->functions[stack->frames[i]].name[0],
                      stack->kind == STACK_APPORTIONED && i >= stack->exact_depth ? "~" : "");
    buffer_printf(&lines->text, " %g\n", (double)stack->time_ns / 1e9);
}

static void check_stacks(struct profile *profile, double min_share, const char *expected)
{
    profile_finish(profile);
    struct lines lines = { .profile = profile };
    profile_stacks(profile, min_share, add_line, &lines);
    assert_string_equal(lines.text.at, expected);
    buffer_release(&lines.text);
    profile_free(profile);
}

/*
 *   a (1 s) -> b (2 s) -> c (4 s): every function has one caller
 */
TEST(a_chain_is_exact)
{
    struct profile *profile = profile_open();
    list(profile, "a", 1, 7, 1, NULL);
    list(profile, "b", 2, 6, 1, CALLERS({ "a", 2, 6, 1 }));
    list(profile, "c", 4, 4, 1, CALLERS({ "b", 4, 4, 1 }));
    check_stacks(profile, 0, "a 1\na;b 2\na;b;c 4\n");
}

/*
 *   a (1 s) -> c: 1 s of it, 4 s with what it called
 *   b (2 s) -> c: 3 s of it, 12 s with what it called
 *   c (4 s) -> d (12 s)
 * c's own time by caller is reported: exact. d has 16 s in c's name, of which a quarter is a's: 3 s and 9 s.
 */
TEST(below_several_callers_time_is_apportioned)
{
    struct profile *profile = profile_open();
    list(profile, "a", 1, 5, 1, NULL);
    list(profile, "b", 2, 14, 1, NULL);
    list(profile, "c", 4, 16, 2, CALLERS({ "a", 1, 4, 1 }, { "b", 3, 12, 1 }));
    list(profile, "d", 12, 12, 2, CALLERS({ "c", 12, 12, 2 }));
    check_stacks(profile, 0, "a 1\na;c 1\na;c;d~ 3\nb 2\nb;c 3\nb;c;d~ 9\n");
}

/* r calls itself: 1 s in the outer call, 2 s in the inner ones, which all are a's. */
TEST(recursion_is_shown_once)
{
    struct profile *profile = profile_open();
    list(profile, "a", 1, 4, 1, NULL);
    list(profile, "r", 3, 3, 9, CALLERS({ "a", 1, 3, 1 }, { "r", 2, 2, 8 }));
    check_stacks(profile, 0, "a 1\na;r 1\na;r;r 2\n");
}

/* The module `profile` counts calls only: 1 of 4 calls is a's, so a quarter of the 8 s. */
TEST(counted_calls_are_apportioned)
{
    struct profile *profile = profile_open();
    list(profile, "a", 1, 3, 1, NULL);
    list(profile, "b", 1, 7, 1, NULL);
    list(profile, "c", 8, 8, 4, CALLERS({ "a", -1, -1, 1 }, { "b", -1, -1, 3 }));
    check_stacks(profile, 0, "a 1\na;c~ 2\nb 1\nb;c~ 6\n");
}

/* Below the threshold of 10 % of 100 s calls are not followed, and their time is given out without callers. */
TEST(what_is_not_followed_is_not_lost)
{
    struct profile *profile = profile_open();
    list(profile, "a", 95, 100, 1, NULL);
    list(profile, "b", 5, 5, 1, CALLERS({ "a", 5, 5, 1 }));
    check_stacks(profile, 0.1, "a 95\n?b 5\n");
}

/* m has no figures: the profiler was switched on inside it. */
TEST(a_caller_without_figures_begins_a_stack)
{
    struct profile *profile = profile_open();
    list(profile, "a", 2, 2, 1, CALLERS({ "m", 2, 2, 1 }));
    check_stacks(profile, 0, "m;a 2\n");
}

/* a -> b 60 s, a -> c 39.5 s, b -> d 0.05 s. The node d is below 0.5 %, so its edge has no end. */
