/* test_top_nodes.c - analyze/top/nodes.c and calls.c: what top keeps of each node, in few bytes. */

#include "tests/unit/unit.h"
#include "analyze/top/top.h"

enum { EVENTS = 200 };

/* Events 1, 2 and 190 are wanted, of which 2 is no call. Nodes are numbered backwards, so that 190 is node 9 and 1 is 197. */
TEST(wanted_nodes_are_found)
{
    event_id event[EVENTS];
    node_id count = 0;
    for (event_id e = EVENTS; e-- > 0;)
        if (e != 2)
            event[count++] = e;
    struct trace trace = { .event_count = EVENTS };
    struct calltree tree = { .trace = &trace, .event = event, .count = count };
    struct top_nodes nodes;
    SCOPED_ARENA struct arena arena = { 0 };
    top_nodes_open(&nodes, &trace, &arena);
    top_nodes_want(&nodes, 190);
    top_nodes_want(&nodes, 2);
    top_nodes_want(&nodes, EVENT_NONE);
    top_nodes_want(&nodes, 1);
    top_nodes_want(&nodes, 190);
    top_nodes_find(&nodes, &tree, &arena);
    assert_int_equal(nodes.count, 3);
    assert_int_equal(top_node_of(&nodes, 1), 197);
    assert_int_equal(top_node_of(&nodes, 2), NODE_NONE);
    assert_int_equal(top_node_of(&nodes, 190), 9);
    assert_true(top_nodes_wants(&nodes, 190));
    assert_false(top_nodes_wants(&nodes, 191));
}

/* Around the last row that 16 bits hold: those before it stay what they were. */
TEST(rows_of_nodes_take_any_number)
{
    static const uint32_t rows[] = {
        0, ROW_NONE, UINT16_MAX - 1, ROW_NONE, UINT16_MAX, 7, ROW_NONE, 1000000
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    struct calltree tree = { .count = ROWS };
    for (node_id set = 1; set <= ROWS; set++) {
        struct top_calls calls = { .tree = &tree };
        top_calls_make_rows(&calls);
        for (node_id n = 0; n < set; n++)
            top_calls_set_row(&calls, n, rows[n]);
        for (node_id n = 0; n < set; n++)
            assert_int_equal(top_row_of_node(&calls, n), rows[n]);
        assert_int_equal(calls.wide_row_of_node != NULL, set > 4);
        free(calls.row_of_node);
        free(calls.wide_row_of_node);
    }
}
