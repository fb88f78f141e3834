/* test_trace_profile.c - profile/view.h: calls of a trace summed up, on a trace small enough to draw. */
#include "profile/view.h"
#include "tests/unit/drawn.h"

SCRATCH_OF(profile)

static void check(const struct profile_cost *cost, int64_t calls, int64_t primitive_calls, int64_t self_ns,
                  int64_t cumulative_ns)
{
    assert_int_equal(cost->calls, calls);
    assert_int_equal(cost->primitive_calls, primitive_calls);
    assert_int_equal(profile_ns(cost->total_s), self_ns);
    assert_int_equal(profile_ns(cost->cumulative_s), cumulative_ns);
}

/*
 *   0         10        20        30        40
 *   ProfilerStep#1----------------) ProfilerStep#2---)     0..32, 33..50
 *     a----------------)   a---)      b--)                 2..20, 24..29, 35..38
 *       b---) a----)                                       4..9, 10..16
 *               b-)                                        12..14
 * a: 3 calls, 2 of them not in another a; self (18 - 5 - 6) + (6 - 2) + 5 = 16; cumulative 18 + 5 = 23.
 * b: 3 calls, 5 + 2 + 3; two by a, 5 + 2; one by the steps.
 * a by a: 1 call of 6. ProfilerStep*: 2 calls, 32 + 17; self (32 - 18 - 5) + (17 - 3) = 23.
 */
TEST(calls_are_summed_up_by_caller)
{
    draw_step(1, 0, 32);
    draw_step(2, 33, 17);
    draw_host("cpu_op", "a", 1, 2, 18);
    draw_host("cpu_op", "b", 1, 4, 5);
    draw_host("cpu_op", "a", 1, 10, 6);
    draw_host("cpu_op", "b", 1, 12, 2);
    draw_host("cpu_op", "a", 1, 24, 5);
    draw_host("cpu_op", "b", 1, 35, 3);
    struct profile *profile = scratch_profile(trace_profile(drawn(), selection_all(drawn())));

    function_id step = profile_find(profile, "~", PROFILE_NAME_LINE, "ProfilerStep*");
    function_id a = profile_find(profile, "~", PROFILE_NAME_LINE, "a"),
                b = profile_find(profile, "~", PROFILE_NAME_LINE, "b");
    assert_int_equal(profile->listed_count, 3);
    const struct profile_function *f = profile->functions;
    check(&f[step].cost, 2, 2, 23, 49);
    check(&f[a].cost, 3, 2, 16, 23);
    check(&f[b].cost, 3, 3, 10, 10);

    assert_int_equal(f[a].edge_count, 2);
    assert_int_equal(f[b].edge_count, 2);
    for (uint32_t e = f[a].first_edge; e < f[a].first_edge + 2; e++) {
        const struct profile_edge *edge = &profile->edges[e];
        if (edge->caller == a)
            check(&edge->cost, 1, 1, 4, 6);
        else
            check(&edge->cost, 2, 2, 12, 23);
    }
    for (uint32_t e = f[b].first_edge; e < f[b].first_edge + 2; e++) {
        const struct profile_edge *edge = &profile->edges[e];
        if (edge->caller == a)
            check(&edge->cost, 2, 2, 7, 7);
        else
            check(&edge->cost, 1, 1, 3, 3);
    }
}

/*
 *   [wrap==================)      0..30
 *     [nccl:all_reduce=====)      2..28: asynchronous by its name, so that mm is wrap's callee
 *         [mm====)                5..15
 *   [<forward op>)                40..50: a name as it is, no built-in function of Python
 */
TEST(regions_of_no_stack_call_nobody)
{
    draw_host("user_annotation", "wrap", 1, 0, 30);
    draw_host("user_annotation", "nccl:all_reduce", 1, 2, 26);
    draw_host("cpu_op", "mm", 1, 5, 10);
    draw_host("cpu_op", "<forward op>", 1, 40, 10);
    struct profile *profile = scratch_profile(trace_profile(drawn(), selection_all(drawn())));
    const struct profile_function *f = profile->functions;
    function_id wrap = profile_find(profile, "~", PROFILE_NAME_LINE, "wrap");
    function_id reduce = profile_find(profile, "~", PROFILE_NAME_LINE, "nccl:all_reduce");
    function_id mm = profile_find(profile, "~", PROFILE_NAME_LINE, "mm");
    check(&f[wrap].cost, 1, 1, 20, 30);
    check(&f[reduce].cost, 1, 1, 0, 26);
    check(&f[mm].cost, 1, 1, 10, 10);
    assert_int_equal(f[reduce].edge_count, 0);
    assert_int_equal(f[mm].edge_count, 1);
    assert_int_equal(profile->edges[f[mm].first_edge].caller, wrap);
    SCRATCH_BUFFER(text);
    profile_function_text(&f[profile_find(profile, "~", PROFILE_NAME_LINE, "<forward op>")], &text);
    assert_memory_equal(text.at, "<forward op>", 12);
}
