/* test_process_groups.c - ingest/distributed_info.h, derive/collectives.h: groups that a file lists for its collectives. */

#include "analyze/comm.h"
#include "analyze/registry.h"
#include "ingest/distributed_info.h"
#include "tests/unit/drawn.h"
#include <math.h>

static const struct trace_wants *drawn_wants = &comm_wants;

static struct result *result;
static struct table *collectives;

static void draw_info(const char *json)
{
    distributed_info_apply(draw_builder_now(), json, strlen(json));
}

static void answer(void)
{
    result = scratch_result(result_open("tpa.comm/1"));
    const struct selection *selection = selection_all(drawn());
    ask_analysis(&analysis_comm, drawn(), selection, COMM_BY_DEFAULT, result);
    collectives = table_called(result, "collectives");
}

/* 400 bytes in 40 ns: 10 GB/s; on N ranks the bus carries 2 (N - 1) / N times that. */
static void draw_gloo(void)
{
    draw_host("user_annotation", "gloo:all_reduce", 2, 10, 40);
    draw_inputs("[[100]]", "[\"float\"]");
}

/* 4 ranks: 10 * 2 * 3/4 = 15 GB/s. */
TEST(the_only_group_is_that_of_collectives_that_tell_none)
{
    draw_info(
        "{\"backend\": \"gloo\", \"rank\": 1, \"world_size\": 4, \"pg_count\": 1, \"pg_config\": [{\"pg_name\": "
        "\"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"cpu:gloo,cuda:gloo\", \"pg_size\": 4, "
        "\"ranks\": [0, 1,2, 3]}]}");
    draw_gloo();
    answer();
    assert_int_equal(drawn()->files[0].rank, 1);
    assert_int_equal(drawn()->files[0].world_size, 4);
    assert_string_equal(drawn()->files[0].backend, "gloo");
    assert_int_equal(collectives->row_count, 1);
    assert_string_equal(text_called(collectives, 0, "group"), "0 (default_pg)");
    assert_string_equal(text_called(collectives, 0, "members"), "[0, 1, 2, 3]");
    assert_row(collectives, 0, "ranks=4, bus_bandwidth=15");
    assert_int_equal(notice_called(result, "no_group"), 0);
}

/* The group of the other backend does not come into question: 2 ranks, 10 * 2 * 1/2 = 10 GB/s. */
TEST(a_group_serves_the_libraries_of_its_backends)
{
    draw_info(
        "{\"pg_count\":2,\"pg_config\":[{\"pg_name\":\"0\",\"backend_config\":\"cuda:nccl\",\"pg_size\":8},"
        "{\"pg_name\":\"7\",\"pg_desc\":\"undefined\",\"backend_config\":\"cpu:gloo\",\"ranks\":[0,4]}]}");
    draw_gloo();
    answer();
    assert_row(collectives, 0, "group=7, ranks=2, bus_bandwidth=10");
}

/* HSDP: one group shards, one replicates; which of them it was, nobody tells. The sizes differ, so the bus is not known. */
TEST(of_several_groups_only_a_common_size_is_known)
{
    draw_info(
        "{\"pg_count\":2,\"pg_config\":[{\"pg_name\":\"1\",\"backend_config\":\"cpu:gloo\",\"pg_size\":4},"
        "{\"pg_name\":\"2\",\"backend_config\":\"cpu:gloo\",\"pg_size\":2}]}");
    draw_gloo();
    answer();
    assert_int_equal(collectives->row_count, 1);
    assert_row(collectives, 0, "group=-, bus_bandwidth=-, bandwidth=10");
    assert_int_equal(notice_called(result, "no_group"), 1);

    /* the same with groups of 2 ranks each */
    draw_info(
        "{\"pg_count\":2,\"pg_config\":[{\"pg_name\":\"1\",\"backend_config\":\"cpu:gloo\",\"pg_size\":2},"
        "{\"pg_name\":\"2\",\"backend_config\":\"cpu:gloo\",\"pg_size\":2}]}");
    draw_gloo();
    answer();
    assert_row(collectives, 0, "group=-, ranks=2, bus_bandwidth=10");
}

/* pg_count says that there are more groups than the file lists: it may have been any of those. */
TEST(a_list_that_is_cut_short_does_not_tell_by_itself)
{
    draw_info(
        "{\"pg_count\":40,\"pg_config\":[{\"pg_name\":\"1\",\"backend_config\":\"cpu:gloo\",\"pg_size\":2}]}");
    draw_gloo();
    answer();
    assert_row(collectives, 0, "group=-, bus_bandwidth=-");
}

/* A kernel that names its group finds it among several, and in a list that is cut short: 2 ranks, 8 bytes a ns. */
TEST(a_name_finds_its_group)
{
    draw_info(
        "{\"pg_count\":40,\"pg_config\":[{\"pg_name\":\"0\",\"pg_size\":8},{\"pg_name\":\"3\",\"pg_desc\":"
        "\"replicate\",\"pg_size\":2,\"ranks\":[1,5]}]}");
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, 0, 50, DRAW_NO_CALL);
    draw_text(ARG_COLLECTIVE, "allreduce");
    draw_text(ARG_DTYPE, "Float");
    draw_arg(ARG_IN_ELEMENTS, 100);
    draw_arg(ARG_OUT_ELEMENTS, 100);
    draw_text(ARG_GROUP_NAME, "3");
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, 60, 50, DRAW_NO_CALL);
    draw_text(ARG_GROUP_NAME, "9"); /* not listed: shown as it is, its size missing */
    answer();
    assert_int_equal(collectives->row_count, 2);
    size_t known = int_called(collectives, 0, "size") == 400 ? 0 : 1;
    assert_string_equal(text_called(collectives, known, "group"), "3 (replicate)");
    assert_string_equal(text_called(collectives, known, "members"), "[1, 5]");
    assert_true(number_called(collectives, known, "bus_bandwidth") == 8);
    assert_row(collectives, !known, "group=9, bus_bandwidth=-");
}

/* What an event says of its group goes before what the file lists. */
TEST(the_collective_itself_is_believed_first)
{
    draw_info("{\"pg_config\":[{\"pg_name\":\"0\",\"pg_desc\":\"default_pg\",\"pg_size\":8}]}");
    draw_gloo();
    draw_arg(ARG_GROUP_SIZE, 2); /* a group without a name is not group 0 */
    answer();
    assert_row(collectives, 0, "group=-, ranks=2");
}

TEST(what_is_no_list_of_groups_is_left_alone)
{
    static const char *const texts[] = { "",
                                         "7",
                                         "[]",
                                         "{",
                                         "{\"pg_config\":7}",
                                         "{\"pg_config\":[7,{},[]]}",
                                         "{\"pg_config\":[{\"ranks\":{}}]",
                                         "{\"pg_config\":[{\"pg_size\":-3}]}" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        draw_info(texts[i]);
        draw_gloo();
        answer();
        assert_int_equal(collectives->row_count, 1);
        assert_true(isnan(number_called(collectives, 0, "bus_bandwidth")));
    }
}
