/* test_launches.c - derive/attribution.h: GPU work -> call -> operator, in every generation of trace. */
#include "tests/unit/drawn.h"

#include "derive/attribution.h"

static const struct trace_wants *drawn_wants = &(const struct trace_wants){ .args = ATTRIBUTION_WANTS };

static void call(int64_t tid, const char *name, int64_t start_ns, int64_t correlation)
{
    draw_host("cuda_runtime", name, tid, start_ns, 2);
    draw_arg(ARG_CORRELATION, correlation);
}

static void kernel(const char *name, int64_t start_ns, int64_t correlation)
{
    draw_event("kernel", name, 0, 7, start_ns, 10);
    draw_arg(ARG_CORRELATION, correlation);
}

static void id(int64_t external_id)
{
    draw_arg(ARG_EXTERNAL_ID, external_id);
}

static const char *name_of(const struct trace *trace, event_id e)
{
    return e == EVENT_NONE ? "-" : trace_name(trace, e);
}

static const char *operator_of(const struct attribution *launches, const struct trace *trace,
                               const char *name)
{
    return name_of(trace, attribution_operator(launches, event_called(trace, name)));
}

/*
 *   host     [mm 11==========)          [add 12===)
 *              [launch 1)  [sync 2)       [copy 3)   [query 4)     query is outside
 *   stream        [gemm 1=)                  [vec 3=)     [old 9)  the call of old is not in the file
 */
static struct trace *drawn_calls(bool ids, bool own_numbers, bool keep_own)
{
    draw_host("cpu_op", "mm", 1, 0, 20);
    if (ids)
        id(11);
    draw_host("cpu_op", "add", 1, 30, 10);
    if (ids)
        id(12);
    static const struct {
        const char *name, *kernel;
        int64_t start_ns, correlation, op;
    } calls[] = {
        { "launch", "gemm", 2, 1, 11 },
        { "sync", NULL, 10, 2, 11 },
        { "copy", "vec", 32, 3, 12 },
        { "query", NULL, 50, 4, 0 },
    };
    for (size_t i = 0; i < 4; i++) {
        int64_t linked = own_numbers   ? calls[i].correlation
                         : calls[i].op ? calls[i].op
                         : keep_own    ? calls[i].correlation
                                       : 0;
        call(1, calls[i].name, calls[i].start_ns, calls[i].correlation);
        if (ids && linked)
            id(linked);
        if (calls[i].kernel) {
            kernel(calls[i].kernel, calls[i].start_ns + 5, calls[i].correlation);
            if (ids && linked)
                id(linked);
        }
    }
    kernel("old", 60, 9);
    if (ids && (own_numbers || keep_own))
        id(9);
    return drawn();
}

/* Whatever the generation, the answers are the same. */
static void check_drawn(struct trace *trace, int generation, enum launch_links links)
{
    struct attribution *launches = scratch(attribution_open(trace));
    assert_int_equal(attribution_generation(launches, 0), generation);
    assert_int_equal(attribution_links(launches, 0), links);
    assert_string_equal(operator_of(launches, trace, "launch"), "mm");
    assert_string_equal(operator_of(launches, trace, "gemm"), "mm");
    assert_string_equal(operator_of(launches, trace, "sync"), "mm");
    assert_string_equal(operator_of(launches, trace, "copy"), "add");
    assert_string_equal(operator_of(launches, trace, "vec"), "add");
    assert_string_equal(operator_of(launches, trace, "query"), "-");
    assert_string_equal(operator_of(launches, trace, "old"), "-");
    assert_string_equal(name_of(trace, attribution_call(launches, event_called(trace, "gemm"))), "launch");
    assert_string_equal(name_of(trace, attribution_call(launches, event_called(trace, "vec"))), "copy");
    assert_string_equal(name_of(trace, attribution_call(launches, event_called(trace, "old"))), "-");
}

TEST(ids_that_repeat_the_correlation_link_nothing)
{
    check_drawn(drawn_calls(true, true, true), 2, LINKS_BY_NESTING);
}

TEST(an_own_correlation_among_ids_is_no_link)
{
    check_drawn(drawn_calls(true, false, true), 3, LINKS_BY_ID);
}

TEST(an_absent_id_is_no_link)
{
    check_drawn(drawn_calls(true, false, false), 4, LINKS_BY_ID);
}

TEST(without_ids_nesting_links)
{
    check_drawn(drawn_calls(false, false, false), 0, LINKS_BY_NESTING);
}

/*
 * A file that leaves the key out where there is no operator: an id that equals the event's own correlation is a link by
 * chance of numbers, as much as any other.
 *
 *   host 1   [mm 5=======) [add 6===)
 *             [launch 5)    [copy 9)  [query 7)
 */
TEST(an_id_that_equals_the_correlation_links_where_the_key_may_be_absent)
{
    for (int absent = 0; absent < 2; absent++) {
        draw_host("cpu_op", "mm", 1, 0, 20), id(5);
        draw_host("cpu_op", "add", 1, 30, 10), id(6);
        call(1, "launch", 2, 5), id(5);
        kernel("gemm", 7, 5), id(5);
        call(1, "copy", 32, 9), id(6);
        call(1, "query", 50, 7);
        if (!absent)
            id(7);
        struct attribution *launches = scratch(attribution_open(drawn()));
        assert_int_equal(attribution_generation(launches, 0), absent ? 4 : 3);
        assert_string_equal(operator_of(launches, drawn(), "launch"), absent ? "mm" : "-");
        assert_string_equal(operator_of(launches, drawn(), "gemm"), absent ? "mm" : "-");
        assert_string_equal(operator_of(launches, drawn(), "copy"), "add");
        assert_string_equal(operator_of(launches, drawn(), "query"), "-");
    }
}

/*
 * Operators have ids and no call has one: of MTIA, no call belongs to an operator, though it lies within one; of CUDA, as the
 * CUPTI backend of PyTorch 2.15 writes it, the call belongs to the one around it.
 */
TEST(calls_without_ids_beside_operators_with_ids_nest_but_for_mtia)
{
    for (int mtia = 0; mtia < 2; mtia++) {
        draw_host("cpu_op", "mm", 1, 0, 20), id(5);
        draw_host(mtia ? "mtia_runtime" : "cuda_runtime", "launch", 1, 2, 5);
        draw_arg(ARG_CORRELATION, 3);
        draw_event(mtia ? "mtia_ccp_events" : "kernel", "gemm", 0, 7, 10, 10);
        draw_arg(ARG_CORRELATION, 3);
        struct attribution *launches = scratch(attribution_open(drawn()));
        assert_int_equal(attribution_links(launches, 0), mtia ? LINKS_BY_ID : LINKS_BY_NESTING);
        assert_string_equal(operator_of(launches, drawn(), "gemm"), mtia ? "-" : "mm");
        assert_string_equal(name_of(drawn(), attribution_call(launches, event_called(drawn(), "gemm"))),
                            "launch");
    }
}

/* In 2021 an id is a link even when the operator has the number of the call. */
TEST(the_first_generation_means_every_id)
{
    draw_host("Operator", "mm", 1, 0, 20), id(5);
    draw_host("Operator", "add", 1, 30, 10), id(6);
    draw_host("Runtime", "launch", 1, 2, 2), draw_arg(ARG_CORRELATION, 5), id(5);
    draw_host("Runtime", "other", 1, 32, 2), draw_arg(ARG_CORRELATION, 7), id(6);
    struct attribution *launches = scratch(attribution_open(drawn()));
    assert_int_equal(attribution_generation(launches, 0), 1);
    assert_string_equal(operator_of(launches, drawn(), "launch"), "mm");
    assert_string_equal(operator_of(launches, drawn(), "other"), "add");
}

/*
 * Ids and correlations are ranges of their own: where ids say nothing, operator 3 has nothing to do with
 * the call whose correlation is 3.
 *
 *   host 1   [mm 3=======)
 *   host 2                  [launch 3)
 */
TEST(equal_numbers_alone_are_no_link)
{
    draw_host("cpu_op", "mm", 1, 0, 20), id(3);
    call(2, "launch", 22, 3), id(3);
    kernel("gemm", 25, 3), id(3);
    struct attribution *launches = scratch(attribution_open(drawn()));
    assert_string_equal(operator_of(launches, drawn(), "gemm"), "-");
    assert_string_equal(name_of(drawn(), attribution_call(launches, event_called(drawn(), "gemm"))),
                        "launch");
}

/*
 *   0    5    10   15
 *   [outer========)
 *   [step============)          an annotation is no operator
 *        [inner)
 *        [at start)             begins with inner, is longer, and belongs to it
 *                 [at end)      begins where outer ends: still outer's
 *                  [after)      one later: nobody's
 */
TEST(a_call_belongs_to_the_innermost_operator_around_its_start)
{
    draw_host("user_annotation", "step", 1, 0, 16), id(20);
    draw_host("cpu_op", "outer", 1, 0, 13), id(21);
    draw_host("cpu_op", "inner", 1, 5, 3), id(22);
    draw_host("cuda_runtime", "at start", 1, 5, 4), draw_arg(ARG_CORRELATION, 1), id(1);
    call(1, "at end", 13, 2), id(2);
    call(1, "after", 14, 3), id(3);
    struct attribution *launches = scratch(attribution_open(drawn()));
    assert_string_equal(operator_of(launches, drawn(), "at start"), "inner");
    assert_string_equal(operator_of(launches, drawn(), "at end"), "outer");
    assert_string_equal(operator_of(launches, drawn(), "after"), "-");
}

/* Numbers too far apart for a table: every one is found all the same, and none that is not there. */
TEST(scattered_numbers_are_found)
{
    enum { COUNT = 500 };
    for (int64_t i = 0; i < COUNT; i++) {
        int64_t correlation = (i * 7919 % COUNT) * INT64_C(1000000007);
        call(1, "launch", 10 * i, correlation);
        kernel("gemm", 10 * i + 5, i % 5 ? correlation : correlation + 1);
    }
    struct attribution *launches = scratch(attribution_open(drawn()));
    for (event_id e = 1; e < drawn()->event_count; e += 2)
        assert_int_equal(attribution_call(launches, e), e / 2 % 5 ? e - 1 : EVENT_NONE);
}

/* One launch of a graph, many kernels; and two files with equal numbers. */
TEST(kernels_share_a_call_but_files_do_not)
{
    call(1, "cudaGraphLaunch", 0, 8);
    kernel("first", 5, 8);
    kernel("second", 20, 8);
    draw_rank(1);
    call(1, "cudaLaunchKernel", 0, 8);
    kernel("third", 5, 8);
    struct attribution *launches = scratch(attribution_open(drawn()));
    event_id graph = event_called(drawn(), "cudaGraphLaunch"),
             plain = event_called(drawn(), "cudaLaunchKernel");
    assert_int_equal(attribution_call(launches, event_called(drawn(), "first")), graph);
    assert_int_equal(attribution_call(launches, event_called(drawn(), "second")), graph);
    assert_int_equal(attribution_call(launches, event_called(drawn(), "third")), plain);
    assert_true(attribution_is_graph_launch(trace_name(drawn(), graph)));
    assert_false(attribution_is_graph_launch(trace_name(drawn(), plain)));
}

static void event_of(int64_t pid, int64_t tid, const char *category, const char *name, int64_t start_ns,
                     int64_t correlation)
{
    draw_event(category, name, pid, tid, start_ns, 2);
    draw_arg(ARG_CORRELATION, correlation);
}

/*
 * Two processes merged into one file, with the same correlations, 10 ns apart; a device each:
 *   process 100  [0]  [100]  [200]            device 0   5   105   205
 *   process 200  [10] [110]  [210]            device 1   15  115   215, and one piece of work that only 100 launched
 * Before them all lies the work that was launched before recording: nobody's.
 */
TEST(processes_of_one_file_keep_their_numbers)
{
    event_of(0, 7, "kernel", "early", -50, 1);
    for (int64_t i = 0; i < 3; i++) {
        event_of(1, 7, "kernel", "second", 15 + 100 * i, 1 + i);
        event_of(0, 7, "kernel", "first", 5 + 100 * i, 1 + i);
        event_of(200, 200, "cuda_runtime", "of second", 10 + 100 * i, 1 + i);
        event_of(100, 100, "cuda_runtime", "of first", 0 + 100 * i, 1 + i);
    }
    event_of(100, 100, "cuda_runtime", "visiting", 400, 9);
    event_of(1, 7, "kernel", "visitor", 420, 9);
    struct attribution *launches = scratch(attribution_open(drawn()));
    assert_int_equal(attribution_process_count(launches), 2);
    assert_int_equal(attribution_shared_calls(launches, 0), 6);
    for (event_id e = 1; e < 13; e += 4) {
        assert_int_equal(attribution_call(launches, e), e + 2);
        assert_int_equal(attribution_call(launches, e + 1), e + 3);
        assert_int_equal(attribution_process(launches, e), attribution_process(launches, e + 2));
    }
    assert_string_equal(name_of(drawn(), attribution_call(launches, event_called(drawn(), "visitor"))),
                        "visiting");
    /* Clocks may be skewed: work before its call is still its device's process's. */
    assert_int_equal(attribution_process(launches, 0),
                     attribution_process(launches, event_called(drawn(), "first")));
}
