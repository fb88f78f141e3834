/*
 * test_profile_overview.c - profile/overview.h, on a profile of three functions:
 *
 *     main   2 s itself, 11 s in all   calls  work  2 times, 9 s
 *     work   3 s itself,  9 s in all   calls  leaf  6 times, 6 s, and itself
 *     leaf   6 s
 */
#include "tests/unit/scratch.h"
#include "profile/view.h"

SCRATCH_OF(profile)

static struct profile *profile;

static function_id function(const char *name)
{
    return profile_function(profile, "/a/b/run.py", strlen("/a/b/run.py"), 1, name, strlen(name));
}

static void list(const char *name, int64_t calls, double own_s, double all_s, const char *caller,
                 int64_t from_caller, bool recursive)
{
    uint32_t first = (uint32_t)profile->edge_count, count = 0;
    struct profile_cost cost = {
        .calls = calls, .primitive_calls = calls, .total_s = own_s, .cumulative_s = all_s
    };
    if (caller) {
        struct profile_edge edge = { .cost = cost, .caller = function(caller) };
        edge.cost.calls = from_caller;
        profile_add_edge(profile, first, &edge);
        count++;
    }
    if (recursive) {
        profile_add_edge(profile, first, &(struct profile_edge){ .cost = cost, .caller = function(name) });
        count++;
    }
    profile_list(profile, function(name), &cost, first, count);
    profile->total.calls += calls;
    profile->total.total_s += own_s;
}

static void draw(void)
{
    profile = scratch_profile(profile_open());
    list("main", 1, 2, 11, NULL, 0, false);
    list("work", 2, 3, 9, "main", 2, true);
    list("leaf", 6, 6, 6, "work", 6, false);
}

TEST(the_verdict_names_the_costliest_by_itself_and_with_what_it_calls)
{
    draw();
    struct result *result = scratch_result(result_open("tpa.test/1"));
    assert_true(profile_add_overview(result, profile, 2, NULL));
    assert_string_equal(
        result->answer->verdict,
        "b/run.py:1(leaf) takes 54.5 % of the time itself; b/run.py:1(work) takes 81.8 % with what it calls.");
    /* No module was called, so what main, of this file, takes is the program's. */
    assert_string_equal(result->answer->facts.at[0].text, "run.py");
    assert_int_equal(result->tables.count, 4);
    assert_int_equal(result->tables.at[0]->row_count, 2);
    assert_string_equal(table_cell(result->tables.at[0], 0, 0)->text.at, "/a/b/run.py:1(leaf)");
    assert_string_equal(table_cell(result->tables.at[1], 0, 0)->text.at, "/a/b/run.py:1(main)");
    /* The bar: 6 s, 3 s, and 2 s of others: the first two are in the view. */
    assert_int_equal(result->answer->bars.count, 1);
    assert_int_equal(result->answer->bars.at[0].parts.count, 3);
    assert_string_equal(result->answer->bars.at[0].parts.at[2].figure, "2.000s");
}

/* leaf alone takes 8 of 11 s, what calls it all, and small 1 s with all that it calls, which tells nothing. */
TEST(a_function_that_takes_less_with_all_it_calls_is_not_named)
{
    profile = scratch_profile(profile_open());
    list("main", 1, 1, 11, NULL, 0, false);
    list("work", 2, 1, 10, "main", 2, false);
    list("leaf", 6, 8, 8, "work", 6, false);
    list("small", 1, 1, 1, "work", 1, false);
    struct result *result = scratch_result(result_open("tpa.test/1"));
    assert_true(profile_add_overview(result, profile, 4, NULL));
    assert_string_equal(result->answer->verdict, "b/run.py:1(leaf) takes 72.7 % of the time itself.");
}

/* Of 40 s threads wait 29 for a pool: what works is in other processes, and no function's own time is what the program takes. */
TEST(who_waits_for_a_pool_is_to_profile_its_processes)
{
    static const char file[] = "/lib/multiprocessing/pool.py", name[] = "_handle_tasks";
    draw();
    const function_id pool = profile_function(profile, file, strlen(file), 531, name, strlen(name));
    profile_list(profile, pool, &(struct profile_cost){ 1, 1, 29, 29 }, (uint32_t)profile->edge_count, 0);
    profile->total.total_s += 29;
    struct result *result = scratch_result(result_open("tpa.test/1"));
    assert_true(profile_add_overview(result, profile, 2, NULL));
    const struct answer *of = result->answer;
    assert_string_equal(of->findings.at[0].action, "Profile the processes that do the work");
    assert_string_equal(of->findings.at[0].saves, "gain not known: 72.5 % of the time is waiting");
    assert_string_equal(of->findings.at[1].advice, "do less in it, or call it less often");
    assert_int_equal(of->from_ns, 0);
}

TEST(the_call_tree_cuts_recursion_and_gives_callers_their_share)
{
    static const int64_t wanted_s[] = { 11, 9, 6 };
    draw();
    struct flame *flame = profile_flame(profile);
    assert_int_equal(flame->frames.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(flame->frames.at[i].host_ns, wanted_s[i] * 1000000000);
        assert_true(flame->frames.at[i].parent == (i ? i - 1 : FRAME_NONE));
    }
    assert_int_equal(flame->frames.at[2].count, 6);
    flame_free(flame);
}
