/* test_calltree.c - trace/calltree.h: who called whom, by torch's rules. */
#include "tests/unit/drawn.h"

#include "trace/calltree.h"

static bool takes_all(const void *context, event_id e)
{
    (void)context, (void)e;
    return true;
}

static bool same_name(const void *context, event_id a, event_id b)
{
    const struct trace *trace = context;
    return trace->name[a] == trace->name[b];
}

/* The name of the caller of the first event called NAME, "-" for none. */
static const char *caller(const struct calltree *tree, const char *name)
{
    for (node_id n = 0; n < tree->count; n++)
        if (strcmp(trace_name(tree->trace, tree->event[n]), name) == 0)
            return tree->parent[n] == NODE_NONE ? "-" : trace_name(tree->trace, tree->event[tree->parent[n]]);
    return "?";
}

/* Events and their callers, EXPECTED as "b<a c<a a<-". */
static void assert_callers(const struct calltree *tree, const char *expected)
{
    char event[16], by[16];
    for (int used; sscanf(expected, " %15[^<]<%15s%n", event, by, &used) == 2; expected += used)
        assert_string_equal(caller(tree, event), by);
    assert_string_equal(expected, "");
}

static struct calltree *nested(const struct trace *trace)
{
    struct calltree *tree = calltree_open(trace, takes_all, NULL);
    calltree_nest(tree);
    return tree;
}

/*
 *      0    5    10   15   20   25   30
 *      [a=======================)
 *       [b=======)[c====)        [e)
 *         [d=)
 * The file holds them in another order.
 */
TEST(events_nest_by_time_whatever_their_order)
{
    draw_host("cpu_op", "d", 1, 3, 3);
    draw_host("cpu_op", "c", 1, 11, 6);
    draw_host("cpu_op", "e", 1, 26, 3);
    draw_host("cpu_op", "a", 1, 0, 25);
    draw_host("cpu_op", "b", 1, 1, 9);
    struct calltree *tree = scratch(nested(drawn()));
    assert_int_equal(tree->count, 5);
    assert_int_equal(tree->thread_count, 1);
    assert_callers(tree, "a<- b<a c<a d<b e<-");
    for (node_id n = 1; n < tree->count; n++)
        assert_true(tree->parent[n] == NODE_NONE || tree->parent[n] < n);
}

/*
 *      0    5    10   15   20
 *      [a========)
 *           [end=)               ends with a: its child
 *                [next)          starts where a ends: not its child
 *                [point          nothing long, at the start of next: its child
 */
TEST(a_child_may_end_with_its_parent_but_not_start_at_its_end)
{
    draw_host("cpu_op", "a", 1, 0, 10);
    draw_host("cpu_op", "end", 1, 5, 5);
    draw_host("cpu_op", "next", 1, 10, 5);
    draw_host("cpu_op", "point", 1, 10, 0);
    struct calltree *tree = scratch(nested(drawn()));
    assert_callers(tree, "end<a next<- point<next");
}

/*
 *      0    5    10   15   20   25
 *      [a===================)
 *       [b===)
 *          [c=======)            begins within b, ends after it: a's child, and b is closed for good
 *           [d)                  within b's time too, but c's child
 *                      [e========) begins within a, ends after it: nobody's child
 *                       [f)      e's child, not a's
 */
TEST(what_only_overlaps_closes_the_call_it_leaves)
{
    draw_host("cpu_op", "a", 1, 0, 20);
    draw_host("cpu_op", "b", 1, 1, 4);
    draw_host("cpu_op", "c", 1, 4, 8);
    draw_host("cpu_op", "d", 1, 4, 1);
    draw_host("cpu_op", "e", 1, 16, 9);
    draw_host("cpu_op", "f", 1, 17, 2);
    struct calltree *tree = scratch(nested(drawn()));
    assert_callers(tree, "b<a c<a d<c e<- f<e");
    assert_int_equal(tree->overlaps, 2);
}

/* Equal intervals nest in order of the file, and the longer of two that start together is the parent. */
TEST(of_equal_events_the_first_is_the_parent)
{
    draw_host("cpu_op", "short", 1, 0, 4);
    draw_host("cpu_op", "first", 1, 0, 9);
    draw_host("cpu_op", "second", 1, 0, 9);
    struct calltree *tree = scratch(nested(drawn()));
    assert_callers(tree, "first<- second<first short<second");
}

/*
 *   thread 1   [a===========)            thread 2   [x===)
 *                                                     [call)   moved to thread 1
 *                                                   [lost)     moved to a thread without events
 */
TEST(moved_events_nest_on_their_new_thread)
{
    draw_host("cpu_op", "a", 1, 0, 20);
    draw_host("cpu_op", "x", 2, 0, 10);
    draw_host("cuda_runtime", "call", 2, 2, 6);
    draw_host("cuda_runtime", "lost", 2, 1, 1);
    struct calltree *tree = scratch(calltree_open(drawn(), takes_all, NULL));
    struct calltree_move moves[] = { { 2, drawn()->track[0] }, { 3, 77 } };
    calltree_move(tree, moves, 2);
    calltree_nest(tree);
    assert_int_equal(tree->count, 4);
    assert_int_equal(tree->thread_count, 3);
    assert_int_equal(tree->threads[2].track, 77);
    assert_callers(tree, "call<a lost<-");
    node_id *nodes = calltree_nodes(tree);
    for (event_id e = 0; e < 4; e++)
        assert_int_equal(tree->event[nodes[e]], e);
    free(nodes);
}

/*
 *      0         10        20        30
 *      [to=======================)           the call
 *       [to====================)             its only child, same name: folded into it
 *        [to=================)               again: folded too
 *         [copy==)  [copy==)                 two children of one name: they stay, as children of the first
 */
TEST(an_only_child_of_the_same_name_is_folded)
{
    draw_host("cpu_op", "to", 1, 0, 25);
    draw_host("cpu_op", "to", 1, 1, 23);
    draw_host("cpu_op", "to", 1, 2, 20);
    draw_host("cpu_op", "copy", 1, 3, 5);
    draw_host("cpu_op", "copy", 1, 10, 5);
    struct calltree *tree = scratch(nested(drawn()));
    uint8_t *folded = scratch_heap(calltree_fold(tree, same_name, drawn()));
    /* Kernels of the innermost of the three are the call's; those of the other two are nobody's. */
    assert_int_equal(folded[0], NODE_KERNELS_GONE);
    assert_int_equal(folded[1], NODE_FOLDED | NODE_KERNELS_GONE);
    assert_int_equal(folded[2], NODE_FOLDED);
    assert_int_equal(tree->parent[2], 0);
    assert_int_equal(folded[3], 0);
    assert_int_equal(tree->parent[3], 0);
    assert_int_equal(tree->parent[4], 0);
}

/* Many events in an order that has only short runs: sorted, each with the parent a slow search finds. */
TEST(random_events_get_the_parents_a_slow_search_finds)
{
    enum { COUNT = 700 };
    uint32_t seed = 7;
    for (int i = 0; i < COUNT; i++) {
        seed = seed * 1664525 + 1013904223;
        int64_t start = seed >> 22, length = seed >> 8 & 127;
        draw_host("cpu_op", "op", 1 + (i % 3), start, length);
    }
    struct calltree *tree = scratch(nested(drawn()));
    assert_int_equal(tree->count, COUNT);
    for (size_t t = 0; t < tree->thread_count; t++) {
        node_id first = tree->threads[t].first;
        for (node_id n = first; n < first + tree->threads[t].count; n++) {
            event_id e = tree->event[n];
            if (n > first) {
                event_id before = tree->event[n - 1];
                assert_true(trace_start_ns(drawn(), before) < trace_start_ns(drawn(), e) ||
                            (trace_start_ns(drawn(), before) == trace_start_ns(drawn(), e) &&
                             (trace_dur_ns(drawn(), before) > trace_dur_ns(drawn(), e) ||
                              (trace_dur_ns(drawn(), before) == trace_dur_ns(drawn(), e) && before < e))));
            }
            /* An earlier node is on the stack when no node since has closed it. */
            node_id found = NODE_NONE;
            for (node_id p = n; p-- > first && found == NODE_NONE;) {
                bool open = true;
                for (node_id q = p + 1; q <= n && open; q++) {
                    event_id by = tree->event[q];
                    open = trace_start_ns(drawn(), by) < trace_end_ns(drawn(), tree->event[p]) &&
                           trace_end_ns(drawn(), by) <= trace_end_ns(drawn(), tree->event[p]);
                }
                if (open)
                    found = p;
            }
            assert_int_equal(tree->parent[n], found);
        }
    }
}

/* Nested up to 400 deep, in each of several threads: the same as one step after the other. */
TEST(what_is_around_is_found_by_skips)
{
    uint32_t seed = 11;
    for (int i = 0; i < 900; i++) {
        seed = seed * 1664525 + 1013904223;
        draw_host("cpu_op", "op", 1 + (i % 2), i, i % 400 < 380 ? 2000 - 2 * i : (int64_t)(seed >> 26));
    }
    struct calltree *tree = scratch(nested(drawn()));
    node_id *skips = calltree_skips(tree);
    size_t deepest = 0;
    for (node_id n = 0; n < tree->count; n++) {
        size_t depth = 0, hops = 0;
        for (node_id p = n; tree->parent[p] != NODE_NONE; p = tree->parent[p])
            depth++;
        for (node_id p = n; tree->parent[p] != NODE_NONE; p = skips[p])
            hops++;
        deepest = depth > deepest ? depth : deepest;
        assert_true(hops <= 20); /* 2 log2(depth) + 2 */
        for (int64_t moment = 0; moment < 2100; moment += 7) {
            node_id expected = n;
            while (expected != NODE_NONE && trace_end_ns(drawn(), tree->event[expected]) <= moment)
                expected = tree->parent[expected];
            assert_int_equal(calltree_around(tree, skips, n, moment), expected);
        }
    }
    assert_true(deepest > 300);
    for (size_t i = 0; i < tree->thread_count; i++)
        for (int64_t moment = 0; moment < 2100; moment++) {
            const struct calltree_thread *thread = &tree->threads[i];
            node_id expected = NODE_NONE;
            for (node_id n = thread->first; n < thread->first + thread->count; n++)
                if (trace_start_ns(drawn(), tree->event[n]) <= moment &&
                    moment < trace_end_ns(drawn(), tree->event[n]))
                    expected = n;
            assert_int_equal(calltree_open_at(tree, skips, thread, moment), expected);
        }
    assert_int_equal(calltree_around(tree, skips, NODE_NONE, 0), NODE_NONE);
    free(skips);
}

static bool takes_two_of_three(const void *context, event_id e)
{
    (void)context;
    return e % 3 != 0;
}

/* 600 events at random on three threads and a stream, whose files hold them in no order: each tree is the same with and
 * without the order that is kept, also one that takes a part, and one with events of the stream. */
TEST(trees_are_the_same_with_the_order_kept)
{
    srand(7);
    for (int i = 0; i < 600; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%d", i);
        if (i % 5 == 4)
            draw_event("kernel", name, 0, 7, rand() % 900, rand() % 90);
        else
            draw_host("cpu_op", name, 1 + rand() % 3, rand() % 900, rand() % 90);
    }
    struct calltree *before[2] = { nested(drawn()), calltree_open(drawn(), takes_two_of_three, NULL) };
    calltree_nest(before[1]);
    calltree_keep_order(drawn());
    struct calltree *after[2] = { nested(drawn()), calltree_open(drawn(), takes_two_of_three, NULL) };
    calltree_nest(after[1]);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(after[i]->count, before[i]->count);
        assert_int_equal(after[i]->thread_count, before[i]->thread_count);
        assert_int_equal(after[i]->overlaps, before[i]->overlaps);
        assert_memory_equal(after[i]->event, before[i]->event, before[i]->count * sizeof(event_id));
        assert_memory_equal(after[i]->parent, before[i]->parent, before[i]->count * sizeof(node_id));
        for (size_t t = 0; t < before[i]->thread_count; t++)
            assert_int_equal(after[i]->threads[t].first, before[i]->threads[t].first);
        EACH(arena_free, before[i], after[i]);
    }
}

/* Takes what is open within a stretch, and counts how often it was asked. */
struct asking {
    const struct trace *trace;
    struct interval stretch;
    size_t *asked;
};

static bool takes_within(const void *context, event_id e)
{
    const struct asking *asking = context;
    ++*asking->asked;
    return trace_start_ns(asking->trace, e) < asking->stretch.end_ns &&
           trace_end_ns(asking->trace, e) > asking->stretch.start_ns;
}

/* 4000 calls of 5 ns, one every 10, and one around those of the first half: what is open in a stretch with three of them is found
 * by asking about two blocks of events, that of the stretch and that of the call around it. */
TEST(a_tree_of_a_stretch_leaves_out_events_far_away)
{
    draw_host("cpu_op", "around", 1, 0, 20000);
    for (int i = 0; i < 4000; i++)
        draw_host("cpu_op", "call", 1, 10 * i + 1, 5);
    size_t asked = 0;
    struct asking asking = { drawn(), { 10002, 10023 }, &asked };
    struct intervals within = { .at = &asking.stretch, .count = 1, .capacity = 1 };
    for (int kept = 0; kept < 2; kept++) {
        struct calltree *all = calltree_open(drawn(), takes_within, &asking);
        assert_int_equal(asked, 4001);
        asked = 0;
        struct calltree *tree = calltree_open_within(drawn(), &within, takes_within, &asking);
        calltree_nest(tree);
        assert_int_equal(asked, 2 * PACKED_VALUES);
        assert_int_equal(tree->count, 4);
        assert_memory_equal(tree->event, all->event, 4 * sizeof(event_id));
        assert_string_equal(caller(tree, "call"), "around");
        EACH(arena_free, all, tree);
        calltree_keep_order(drawn());
        asked = 0;
    }
}
