/* test_graph_links.c - derive/code_paths.h: what the operations of a graph were captured from; base/lcs.h. */
#include "tests/unit/drawn.h"

#include "base/lcs.h"
#include "derive/code_paths.h"

/* A launch in a capture: NAME, which the call tells (NULL: it does not), in OPERATOR. */
struct launch {
    const char *name, *op;
};

/* A trace in which LAUNCHES, COUNT of them, are captured; after it the next capture of the same file begins. */
static int64_t capture(const struct launch *launches, size_t count, int64_t now)
{
    draw_host("cuda_runtime", "cudaStreamBeginCapture", 1, now, 1);
    for (size_t i = 0; i < count; i++) {
        now += 10;
        draw_host("cpu_op", launches[i].op, 1, now, 8);
        draw_text(ARG_INPUT_DIMS, "[[2,3]]");
        draw_host("cuda_runtime", "cudaStreamGetCaptureInfo", 1, now + 1, 1); /* launches nothing */
        draw_host("cuda_runtime", "cudaLaunchKernel", 1, now + 3, 2);
        if (launches[i].name)
            draw_text(ARG_LAUNCHED_KERNEL, launches[i].name);
    }
    draw_host("cuda_runtime", "cudaStreamEndCapture", 1, now + 10, 1);
    return now + 20;
}

static struct graph_bodies *captured(const struct launch *launches, size_t count)
{
    capture(launches, count, 0);
    struct graph_bodies *bodies = graph_bodies_open();
    assert_int_equal(graph_bodies_add(bodies, drawn()), 1);
    return bodies;
}

/* One replay: operations NAMES on STREAMS, one after the other. */
static void replay(const char *const *names, const int64_t *streams, size_t count, int64_t correlation,
                   int64_t now)
{
    draw_host("cuda_runtime", "cudaGraphLaunch", 1, now, 5);
    draw_arg(ARG_CORRELATION, correlation);
    for (size_t i = 0; i < count; i++) {
        draw_event("kernel", names[i], 0, streams ? streams[i] : 7, now + 100 + 10 * (int64_t)i, 4);
        draw_arg(ARG_CORRELATION, correlation);
    }
}

/* The operator of each work of TRACE, apart by blanks. */
static const char *operators_of(const struct trace *trace)
{
    static char text[1024];
    const struct graph_links *links = graph_links_of(trace);
    text[0] = '\0';
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!graph_link_is_work(links, e))
            continue;
        strcat(text, *text ? " " : "");
        strcat(text, graph_link_text(links, graph_link_name_id(links, e)));
    }
    return text;
}

static const struct launch three[] = { { "gemm", "mm" }, { "add_k", "add" }, { "gemm", "linear" } };

static struct trace *replayed(const char *const *names, const int64_t *streams, size_t count)
{
    replay(names, streams, count, 1, 0);
    return drawn();
}

TEST(operations_get_the_operators_in_order)
{
    const char *const names[] = { "gemm", "add_k", "gemm" };
    struct trace *trace = replayed(names, NULL, 3);
    assert_null(graph_links_of(trace));
    graph_links_attach(trace, captured(three, 3));
    const struct graph_links *links = graph_links_of(trace);
    assert_string_equal(operators_of(trace), "mm add linear");
    assert_int_equal(links->operations, 3);
    assert_int_equal(links->matched, 3);
    assert_int_equal(links->by_place, 0);
    assert_int_equal(links->matched_ns, 12);
    for (event_id e = 0; e < trace->event_count; e++)
        if (graph_link_op(links, e))
            assert_string_equal(graph_link_text(links, graph_link_op(links, e)->dims), "[[2,3]]");
}

/* An operation more in front shifts nothing, and has no operator; of the launches one that did not run is passed over. */
TEST(what_was_not_captured_shifts_nothing)
{
    const char *const names[] = { "copy_k", "gemm", "gemm" };
    struct trace *trace = replayed(names, NULL, 3);
    graph_links_attach(trace, captured(three, 3));
    assert_string_equal(operators_of(trace), "(graph) mm linear");
    assert_int_equal(graph_links_of(trace)->matched, 2);
}

/* A trace with one capture of LAUNCHES, COUNT of them, whose nodes are NODES; -1: not known. */
static struct graph_bodies *captured_nodes(const struct launch *launches, const int64_t *nodes, int count)
{
    draw_host("cuda_runtime", "cudaStreamBeginCapture", 1, 0, 1);
    for (int i = 0; i < count; i++) {
        draw_host("cpu_op", launches[i].op, 1, 10 + 10 * i, 8);
        draw_host("cuda_runtime", "cudaLaunchKernel", 1, 13 + 10 * i, 2);
        draw_text(ARG_LAUNCHED_KERNEL, launches[i].name);
        if (nodes[i] >= 0)
            draw_arg(ARG_GRAPH_NODE_ID, nodes[i]);
    }
    draw_host("cuda_runtime", "cudaStreamEndCapture", 1, 10 + 10 * count, 1);
    struct graph_bodies *bodies = graph_bodies_open();
    assert_int_equal(graph_bodies_add(bodies, drawn()), 1);
    return bodies;
}

/* A trace with one replay: operations NAMES of NODES; -1: not known. */
static struct trace *replayed_nodes(const char *const *names, const int64_t *nodes, int count)
{
    draw_host("cuda_runtime", "cudaGraphLaunch", 1, 0, 5);
    draw_arg(ARG_CORRELATION, 1);
    for (int i = 0; i < count; i++) {
        draw_event("kernel", names[i], 0, 7, 100 + 10 * i, 4);
        draw_arg(ARG_CORRELATION, 1);
        if (nodes[i] >= 0)
            draw_arg(ARG_GRAPH_NODE_ID, nodes[i]);
    }
    return drawn();
}

static const int64_t three_nodes[] = { 11, 12, 13 };

/*
 * Nodes that both sides number need no names and no order: the works ran in another order than they were captured in, which by
 * names would be "mm linear (graph)".
 */
TEST(numbered_nodes_are_matched_exactly)
{
    static const int64_t nodes[] = { 13, 11, 99 };
    const char *const names[] = { "gemm", "gemm", "other" };
    struct trace *trace = replayed_nodes(names, nodes, 3);
    graph_links_attach(trace, captured_nodes(three, three_nodes, 3));
    assert_string_equal(operators_of(trace), "linear mm (graph)");
    assert_int_equal(graph_links_of(trace)->matched, 2);
    assert_int_equal(graph_links_of(trace)->matched_ns, 8);
}

/* A recording numbers some launches only: the others are matched by sequence, within the launches that are left. */
TEST(operations_without_a_node_are_matched_by_sequence)
{
    static const int64_t ran[] = { 13, -1, -1 }, captured_as[] = { -1, -1, 13 };
    const char *const names[] = { "gemm", "gemm", "add_k" };
    struct trace *trace = replayed_nodes(names, ran, 3);
    graph_links_attach(trace, captured_nodes(three, captured_as, 3));
    assert_string_equal(operators_of(trace), "linear mm add");
    assert_int_equal(graph_links_of(trace)->matched, 3);
    assert_int_equal(graph_links_of(trace)->matched_ns, 12);
}

/* Programs number nodes from the same number: a node of another name is of another program. */
TEST(a_node_of_another_name_is_none)
{
    const char *const names[] = { "add_k", "gemm", "x" };
    struct trace *trace = replayed_nodes(names, three_nodes, 3);
    graph_links_attach(trace, captured_nodes(three, three_nodes, 3));
    assert_string_equal(operators_of(trace), "add linear (graph)");
}

TEST(less_than_half_is_refused_with_the_reason)
{
    const char *const names[] = { "gemm", "x", "y" };
    struct trace *trace = replayed(names, NULL, 3);
    graph_links_attach(trace, captured(three, 3));
    const struct graph_links *links = graph_links_of(trace);
    assert_int_equal(links->matched, 0);
    assert_int_equal(links->refused, 1);
    assert_non_null(strstr(links->reason, "number 2: add_k was captured, and x ran"));
    assert_string_equal(operators_of(trace), "(graph) (graph) (graph)");
}

/* Without names the place tells, if the numbers are equal: that is said. */
TEST(without_names_the_place_tells)
{
    static const struct launch nameless[] = { { NULL, "mm" }, { NULL, "add" }, { NULL, "linear" } };
    const char *const names[] = { "gemm", "add_k", "gemm", "more" };
    struct trace *trace = replayed(names, NULL, 3);
    graph_links_attach(trace, captured(nameless, 3));
    assert_string_equal(operators_of(trace), "mm add linear");
    assert_int_equal(graph_links_of(trace)->by_place, 3);
    trace = replayed(names, NULL, 4);
    graph_links_attach(trace, captured(nameless, 3));
    assert_int_equal(graph_links_of(trace)->matched, 0);
}

/* Two streams: that with more operations takes first, and the other gets what is left. */
TEST(streams_share_a_body)
{
    static const struct launch body[] = {
        { "a", "A" }, { "s", "S" }, { "b", "B" }, { "t", "T" }, { "c", "C" }
    };
    const char *const names[] = { "s", "a", "b", "t", "c" };
    const int64_t streams[] = { 20, 7, 7, 20, 7 };
    struct trace *trace = replayed(names, streams, 5);
    graph_links_attach(trace, captured(body, 5));
    assert_string_equal(operators_of(trace), "S A B T C");
}

/* Pieces that look alike are captured and replayed in one order: each replay gets the next body. */
TEST(alike_bodies_take_turns)
{
    static const struct launch first[] = { { "k", "first" } }, second[] = { { "k", "second" } };
    int64_t now = capture(first, 1, 0);
    capture(second, 1, now);
    struct graph_bodies *bodies = graph_bodies_open();
    assert_int_equal(graph_bodies_add(bodies, drawn()), 2);

    const char *const names[] = { "k" };
    for (int64_t i = 0; i < 4; i++)
        replay(names, NULL, 1, i + 1, 1000 * i);
    graph_links_attach(drawn(), bodies);
    assert_string_equal(operators_of(drawn()), "first second first second");
}

/* ---- sequences ---- */

static uint32_t random_state = 7;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % below;
}

static void fill(uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = draw(8) ? draw(3) : LCS_NOTHING;
}

static size_t longest(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    size_t best[16][16] = { 0 };
    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;) {
            best[i][j] = best[i + 1][j] > best[i][j + 1] ? best[i + 1][j] : best[i][j + 1];
            if (a[i] == b[j] && a[i] != LCS_NOTHING)
                best[i][j] = best[i + 1][j + 1] + 1;
        }
    return best[0][0];
}

TEST(common_subsequences_are_the_longest)
{
    for (int i = 0; i < 2000; i++) {
        uint32_t a[15], b[15];
        size_t n = draw(15), m = draw(15);
        fill(a, n);
        fill(b, m);
        SCOPED struct lcs_pairs pairs = { 0 };
        assert_true(lcs_find(a, n, b, m, 100, &pairs));
        assert_int_equal(pairs.count, longest(a, n, b, m));
        for (size_t p = 0; p < pairs.count; p++) {
            assert_int_equal(a[pairs.at[p].a], b[pairs.at[p].b]);
            assert_true(p == 0 || (pairs.at[p].a > pairs.at[p - 1].a && pairs.at[p].b > pairs.at[p - 1].b));
        }
        size_t edits = n + m - 2 * pairs.count;
        assert_true(lcs_find(a, n, b, m, edits, &pairs));
        assert_true(edits == 0 || !lcs_find(a, n, b, m, edits - 1, &pairs));
    }
}
