/* test_comm.c - analyze/comm.h: what collectives were, how fast, and who waited for whom. */

#include "analyze/comm.h"
#include "analyze/gpu.h"
#include "analyze/registry.h"
#include "derive/shapes.h"
#include "tests/unit/drawn.h"
#include <math.h>

static const struct trace_wants *drawn_wants = &comm_wants;

/* Add to RESULT what `tpa comm` answers. */
static bool ask_comm(const struct trace *of, const struct selection *selection, struct comm_options options,
                     struct result *answer)
{
    struct analysis_query query = { .trace = of,
                                    .selection = selection,
                                    .by = options.by ? options.by : COMM_BY_DEFAULT,
                                    .filter = options.filter,
                                    .exclude = options.exclude };
    return analysis_comm.run(&query, answer, NULL);
}

static struct result *result;
static struct table *collectives;

static void answer_with(struct selection_query query, struct comm_options options)
{
    const struct selection *selection = scratch_selection(drawn(), query);
    result = scratch_result(result_open("tpa.comm/1"));
    assert_true(ask_comm(drawn(), selection, options, result));
    collectives = table_called(result, "collectives");
}

static void answer(void)
{
    answer_with((struct selection_query){ 0 }, (struct comm_options){ 0 });
}

/* A further file, of RANK, whose times count from BASE. */
static void draw_rank_from(int64_t rank, int64_t base_ns)
{
    if (rank > 0)
        draw_file("drawn.json");
    struct trace_file *file = drawn_file();
    file->rank = rank;
    file->has_base = true;
    file->base_ns = base_ns;
}

/* The arguments that PyTorch since 2.2 gives to a kernel of NCCL. */
static void draw_facts(const char *name, int64_t in, int64_t out, const char *type, int64_t ranks,
                       int64_t number)
{
    draw_text(ARG_COLLECTIVE, name);
    draw_arg(ARG_IN_ELEMENTS, in);
    draw_arg(ARG_OUT_ELEMENTS, out);
    draw_text(ARG_DTYPE, type);
    draw_arg(ARG_GROUP_SIZE, ranks);
    draw_text(ARG_GROUP_NAME, "0");
    draw_text(ARG_GROUP_DESCRIPTION, "default_pg");
    draw_text(ARG_GROUP_RANKS, "[0, 1]");
    if (number >= 0)
        draw_arg(ARG_SEQ_IN_GROUP, number);
}

static void draw_all_reduce(int64_t device, int64_t start_ns, int64_t dur_ns, int64_t number)
{
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", device, 20, start_ns, dur_ns,
              DRAW_NO_CALL);
    draw_facts("allreduce", 1000, 1000, "Float", 2, number);
}

static size_t row_of_rank(const struct table *table, int64_t rank)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (int_called(table, row, "rank") == rank)
            return row;
    fail_msg("no row of rank %d", (int)rank);
    return 0;
}

/* ---- names ---- */

TEST(names_tell_the_collective)
{
    static const struct {
        const char *name;
        enum collective_kind kind;
    } rows[] = {
        { "allreduce", COLLECTIVE_ALL_REDUCE },
        { "nccl:all_reduce", COLLECTIVE_ALL_REDUCE },
        { "c10d::allreduce_", COLLECTIVE_ALL_REDUCE },
        { "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
          COLLECTIVE_ALL_REDUCE },
        { "void vllm::cross_device_reduce_2stage<c10::Half, 8>(...)", COLLECTIVE_ALL_REDUCE },
        { "symm_mem::multimem_all_reduce_", COLLECTIVE_ALL_REDUCE },
        { "_allgather_base", COLLECTIVE_ALL_GATHER },
        { "reduce_scatter_tensor_coalesced", COLLECTIVE_REDUCE_SCATTER },
        { "ncclKernel_ReduceScatter_RING_LL_Sum_float(ncclWorkElem)", COLLECTIVE_REDUCE_SCATTER },
        { "all_to_allv", COLLECTIVE_ALL_TO_ALL },
        { "c10d::alltoall_base_", COLLECTIVE_ALL_TO_ALL },
        { "deep_ep::intranode::dispatch", COLLECTIVE_ALL_TO_ALL },
        { "_broadcast_oop", COLLECTIVE_BROADCAST },
        { "_reduce_oop", COLLECTIVE_REDUCE },
        { "gather", COLLECTIVE_GATHER },
        { "scatter", COLLECTIVE_SCATTER },
        { "nccl:all_reduce_barrier", COLLECTIVE_BARRIER },
        { "nccl:send 0->1", COLLECTIVE_SEND },
        { "recvAnySource", COLLECTIVE_RECV },
        { "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", COLLECTIVE_SEND_RECV },
        { "all-gather.12", COLLECTIVE_ALL_GATHER },
        { "wait", COLLECTIVE_UNKNOWN },
        { "init", COLLECTIVE_UNKNOWN },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(collective_kind_of(rows[i].name), rows[i].kind);
}

TEST(names_tell_the_library)
{
    assert_string_equal(collective_library_of("ncclDevKernel_Generic"), "NCCL");
    assert_string_equal(collective_library_of("rcclGenericKernel"), "RCCL");
    assert_string_equal(collective_library_of("multimem_all_reduce_kernel<c10::BFloat16, 16>"),
                        "symmetric memory");
    assert_string_equal(collective_library_of("void vllm::cross_device_reduce_1stage"), "custom");
    assert_string_equal(collective_library_of("gloo:all_reduce"), "gloo");
    assert_string_equal(collective_library_of("hcom_allReduce"), "HCCL");
    assert_int_equal(collective_kind_of("hcom_receive"), COLLECTIVE_RECV);
    assert_null(collective_library_of("c10d::allreduce_"));
    assert_true(collective_runs_on_host("gloo:broadcast"));
    assert_false(collective_runs_on_host("nccl:broadcast"));
}

TEST(types_are_known_by_all_their_spellings)
{
    static const struct {
        const char *text, *name;
        int size;
    } rows[] = { { "Float", "float32", 4 },       { "float", "float32", 4 },
                 { "BFloat16", "bfloat16", 2 },   { "c10::BFloat16", "bfloat16", 2 },
                 { "long int", "int64", 8 },      { "Long", "int64", 8 },
                 { "signed char", "int8", 1 },    { "Float8_e4m3fn", "float8_e4m3fn", 1 },
                 { "unsigned char", "uint8", 1 }, { "Float8_e5m2fnuz", "float8_e5m2fnuz", 1 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct element_type *type = element_type_of(rows[i].text, strlen(rows[i].text));
        assert_non_null(type);
        assert_string_equal(type->name, rows[i].name);
        assert_int_equal(type->size_bytes, rows[i].size);
    }
    assert_null(element_type_of("TensorList", strlen("TensorList")));
    assert_string_equal(element_type_of_kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)")->name,
                        "bfloat16");
    assert_string_equal(element_type_of_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(x)")->name, "float32");
    assert_string_equal(element_type_of_kernel("ncclKernel_Reduce_RING_LL_Sum___nv_bfloat16(x)")->name,
                        "bfloat16");
    /* What only moves is moved as bytes: that is not its type. */
    assert_null(element_type_of_kernel("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)"));
}

/* NCCL's tests: 8 ranks; all-reduce 2 * 7 / 8, gather-like 7 / 8, rooted 1. */
TEST(the_bus_carries_what_nccls_tests_say)
{
    assert_true(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 8) == 1.75);
    assert_true(collective_bus_factor(COLLECTIVE_ALL_GATHER, 8) == 0.875);
    assert_true(collective_bus_factor(COLLECTIVE_REDUCE_SCATTER, 8) == 0.875);
    assert_true(collective_bus_factor(COLLECTIVE_ALL_TO_ALL, 8) == 0.875);
    assert_true(collective_bus_factor(COLLECTIVE_BROADCAST, -1) == 1);
    assert_true(collective_bus_factor(COLLECTIVE_SEND, -1) == 1);
    assert_true(isnan(collective_bus_factor(COLLECTIVE_ALL_REDUCE, -1)));
    assert_true(isnan(collective_bus_factor(COLLECTIVE_BARRIER, 8)));
}

TEST(the_size_is_what_one_rank_holds_of_the_whole)
{
    assert_int_equal(collective_size(COLLECTIVE_ALL_REDUCE, 100, 100, 8), 100);
    assert_int_equal(collective_size(COLLECTIVE_ALL_GATHER, 100, 800, 8), 800);
    assert_int_equal(collective_size(COLLECTIVE_ALL_GATHER, 100, -1, 8), 800);
    assert_int_equal(collective_size(COLLECTIVE_ALL_GATHER, 100, -1, -1), -1);
    assert_int_equal(collective_size(COLLECTIVE_REDUCE_SCATTER, 800, 100, 8), 800);
    assert_int_equal(collective_size(COLLECTIVE_ALL_TO_ALL, 800, 640, 8), 800);
    assert_int_equal(collective_size(COLLECTIVE_GATHER, 100, 800, 8), 800); /* on the root */
    assert_int_equal(collective_size(COLLECTIVE_GATHER, 100, 100, 8), 800); /* elsewhere */
    assert_int_equal(collective_size(COLLECTIVE_BARRIER, 1, 1, 8), -1);
    assert_int_equal(collective_size(COLLECTIVE_ALL_GATHER, INT64_MAX, -1, 2), -1);
}

TEST(elements_of_shapes_count_lists_of_tensors)
{
    assert_int_equal(shape_elements("[[3,4],[5]]", 0), 12);
    assert_int_equal(shape_elements("[[3,4],[5]]", 1), 5);
    assert_int_equal(shape_elements("[[3,4],[5]]", 2), -1);
    assert_int_equal(shape_elements("[[[3,4],[5]],[]]", 0), 17);
    assert_int_equal(shape_elements("[[],[5]]", 0), -1);
    assert_int_equal(shape_elements("[[4611686018427387904,4]]", 0), -1);
    assert_int_equal(shape_elements("nonsense", 0), -1);
}

/* ---- one rank ---- */

/*
 *              0    10   20   30   40
 *   stream 20  [ all_reduce     )          0..40, 1000 floats: 4000 bytes in 40 ns are 100 GB/s
 *   stream 7        [ gemm )    [ memset ) gemm 10..20; memset 30..50; a copy 0..5 computes nothing
 *
 * Exposed: 0..10 and 20..30. On the bus, 2 ranks: 2 * 1 / 2 = 1 time that.
 */
TEST(bandwidth_and_exposed_time_of_an_all_reduce)
{
    draw_all_reduce(0, 0, 40, 7);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 9, 0, 5, DRAW_NO_CALL);
    draw_work("kernel", "gemm", 0, 7, 10, 10, DRAW_NO_CALL);
    draw_work("gpu_memset", "Memset (Device)", 0, 7, 30, 20, DRAW_NO_CALL);
    answer();
    assert_int_equal(collectives->row_count, 1);
    assert_row(collectives, 0,
               "collective=all_reduce, library=NCCL, group=0 (default_pg), dtype=float32, "
               "ranks=2, size=4000, time=40, exposed=20, overlapped=0.5, bandwidth=100, "
               "bus_bandwidth=100");
    assert_int_equal(collectives->footers.at[0].value.i, 40);
    assert_int_equal(collectives->footers.at[1].value.i, 20);
    assert_int_equal(notice_called(result, "one_rank"), 1);
    assert_int_equal(notice_called(result, "no_size"), 0);
}

/*
 * Two at once on two streams, 0..40 and 20..60, and gemm 30..50: both durations count in the row (80), in which gemm
 * overlaps 10 + 20; the union below is 60, of which 40 are exposed.
 */
TEST(the_union_counts_moments_once)
{
    draw_all_reduce(0, 0, 40, 7);
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 21, 20, 40, DRAW_NO_CALL);
    draw_facts("allreduce", 1000, 1000, "Float", 2, 8);
    draw_work("kernel", "gemm", 0, 7, 30, 20, DRAW_NO_CALL);
    answer();
    assert_row(collectives, 0, "count=2, time=80, exposed=50");
    assert_int_equal(collectives->footers.at[0].value.i, 60);
    assert_int_equal(collectives->footers.at[1].value.i, 40);
    assert_true(number_called(collectives, 0, "bandwidth") == 100); /* 8000 bytes in 80 ns */
}

/* Nothing is told but the kernel's name: the row is there, and what is not known is missing. */
TEST(missing_facts_are_missing_and_drop_no_row)
{
    draw_work("kernel", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", 0, 20, 0, 40,
              DRAW_NO_CALL);
    draw_work("kernel", "nvshmemi_transfer_rma", 0, 20, 50, 10, DRAW_NO_CALL);
    answer();
    assert_int_equal(collectives->row_count, 2);
    assert_row(collectives, 0,
               "collective=send_recv, group=-, dtype=-, size=-, ranks=-, bandwidth=-, "
               "time=40");
    /* of no known kind: by the name of the kernel */
    assert_row(collectives, 1, "collective=nvshmemi_transfer_rma, library=NVSHMEM");
    assert_int_equal(notice_called(result, "no_size"), 2);
}

/*
 * A file of 2022: kernels carry nothing, and ids link nothing. The launch lies in nccl:all_to_all, in
 * record_param_comms, in c10d::alltoall_base_. The annotation's input has 500 floats.
 */
TEST(old_files_tell_by_what_is_around_the_launch)
{
    draw_host("cpu_op", "c10d::alltoall_base_", 1, 0, 30);
    draw_text(ARG_INPUT_DIMS, "[[],[],[]]");
    draw_host("cpu_op", "record_param_comms", 1, 2, 26);
    draw_host("user_annotation", "nccl:all_to_all", 1, 5, 20);
    draw_inputs("[[5,100]]", "[\"float\"]");
    draw_call("cudaLaunchKernel", 1, 10, 5, 100);
    draw_work("kernel", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", 0, 20, 20, 40, 100);
    answer_with((struct selection_query){ 0 },
                (struct comm_options){ .by = COMM_BY_DEFAULT | BY(OP) | BY(KERNEL) });
    assert_int_equal(collectives->row_count, 1);
    assert_row(collectives, 0,
               "collective=all_to_all, operator=c10d::alltoall_base_, dtype=float32, "
               "size=2000");
    assert_true(number_called(collectives, 0, "bandwidth") == 50); /* 2000 bytes in 40 ns */
    assert_int_equal(notice_called(result, "no_group"), 1);
    assert_int_equal(notice_called(result, "without_kernel"), 0);
}

/* What 16 regions tell is learnt: the type of the outermost of 16, but not of the outermost of 17. */
TEST(regions_around_a_launch_are_looked_at_so_far)
{
    for (int64_t depth = 16; depth <= 17; depth++) {
        for (int64_t i = 0; i < depth; i++) {
            draw_host("cpu_op", i == depth - 16 ? "c10d::outermost" : "c10d::allreduce_", 1, i, 100 - 2 * i);
            if (i == 0)
                draw_text(ARG_DTYPE, "Double");
        }
        draw_call("cudaLaunchKernel", 1, 30, 5, 100);
        draw_work("kernel", "ncclDevKernel_AllReduce", 0, 20, 40, 40, 100);
        answer_with((struct selection_query){ 0 }, (struct comm_options){ .by = COMM_BY_DEFAULT | BY(OP) });
        assert_int_equal(collectives->row_count, 1);
        assert_string_equal(text_called(collectives, 0, "operator"), "c10d::outermost");
        bool known = !table_is_missing(collectives, 0, (size_t)table_find_column(collectives, "dtype", 5));
        assert_int_equal(known, depth == 16);
    }
}

/* What goes in and what comes out of a gather tell how many ranks there are: 800 / 100. */
TEST(an_all_gather_tells_its_ranks)
{
    draw_host("cpu_op", "c10d::_allgather_base_", 1, 0, 30);
    draw_inputs("[[800],[100],[]]", "[\"signed char\",\"signed char\",\"\"]");
    draw_host("user_annotation", "nccl:_all_gather_base", 1, 5, 20);
    draw_inputs("[[100]]", "[\"signed char\"]");
    draw_call("cudaLaunchKernel", 1, 10, 5, 100);
    draw_work("kernel", "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)", 0, 20, 20, 100, 100);
    answer();
    assert_row(collectives, 0, "ranks=8, size=800");
    assert_true(number_called(collectives, 0, "bus_bandwidth") == 7); /* 8 GB/s, of which 7/8 */
}

/* An asynchronous send lasts until it is received, while its thread goes on: of 40, an operator with its own code hides 25. What
 * receives within does not compute, and neither does what is around it. */
TEST(a_send_is_hidden_by_what_its_own_thread_computes)
{
    draw_host("user_annotation", "gloo:send", 1, 10, 40);
    draw_host("cpu_op", "Work", 1, 15, 25);
    draw_host("cpu_op", "aten::empty", 1, 16, 1);
    draw_host("cpu_op", "Receive", 1, 41, 9);
    draw_host("cpu_op", "c10d::recv_", 1, 43, 5);
    answer();
    assert_row(collectives, 0, "time=40, exposed=15");
}

/* gloo runs on threads of the host; an operator of another thread computes beside it, 20..30. */
TEST(regions_of_gloo_are_collectives)
{
    draw_host("cpu_op", "c10d::allreduce_", 1, 0, 5);
    draw_host("user_annotation", "gloo:all_reduce", 2, 10, 40);
    draw_inputs("[[100]]", "[\"float\"]");
    draw_host("cpu_op", "DistributedDataParallel.forward", 1, 5, 60); /* waits, and calls */
    draw_host("cpu_op", "aten::add", 1, 20, 10);
    answer();
    assert_int_equal(collectives->row_count, 1);
    assert_row(collectives, 0, "library=gloo, time=40, exposed=30, size=400, bandwidth=10");
}

/* Five times, 10 ms after one another, ranks 0 and 1, and 2 and 3, reduce; the begins of 1 and 3 vary, and they are waited for. Both
 * pairs end together, 0.5 ms after the last began. Without BY_PAIRS all four do, after rank 3. */
static void draw_pairs(bool by_pairs)
{
    static const int64_t began_us[4][5] = {
        { 0, 0, 0, 0, 0 }, { 900, 300, 100, 700, 500 }, { 0, 0, 0, 0, 0 }, { 2000, 3500, 2900, 3900, 2500 }
    };
    for (int rank = 0; rank < 4; rank++) {
        draw_rank_from(rank, 0);
        draw_host("user_annotation", "before", 1, -1000000, 10);
        for (int i = 0; i < 5; i++) {
            int64_t last_us = began_us[by_pairs ? rank | 1 : 3][i], first_us = 10000 * i;
            draw_host("user_annotation", "gloo:all_reduce", 2, 1000 * (first_us + began_us[rank][i]),
                      1000 * (last_us + 500 - began_us[rank][i]));
        }
    }
    answer();
}

TEST(ranks_that_end_together_are_a_group_where_none_is_recorded)
{
    draw_pairs(true);
    const struct table *ranks = table_called(result, "ranks"), *waits = table_called(result, "waits");
    assert_int_equal(notice_called(result, "groups_unknown"), 2);
    assert_int_equal(waits->row_count, 10);
    for (size_t row = 0; row < waits->row_count; row++)
        assert_int_equal(int_called(waits, row, "seen"), 2);
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 0), "waited"), 2500000);
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 2), "waited"), 14800000);
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 1), "late"), 2500000);

    draw_pairs(false);
    ranks = table_called(result, "ranks"), waits = table_called(result, "waits");
    assert_int_equal(notice_called(result, "groups_unknown"), 0);
    assert_int_equal(waits->row_count, 5);
    assert_int_equal(int_called(waits, 0, "seen"), 4);
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 1), "waited"), 12300000);
}

/* UCC serves hosts and devices. A region around a launch is the issue of that kernel; one on its own in a process with a
 * device is an issue without its kernel; in a process without a device it ran on the host. */
TEST(regions_of_ucc_are_issues_where_a_device_communicates)
{
    draw_host("user_annotation", "ucc:all_reduce", 1, 0, 50);
    draw_call("xpuEnqueueKernel", 1, 10, 5, 100);
    draw_work("kernel", "oneccl_allreduce_kernel", 0, 20, 20, 100, 100);
    draw_host("user_annotation", "ucc:all_reduce", 1, 200, 50);
    answer();
    assert_int_equal(collectives->row_count, 1);
    assert_row(collectives, 0, "count=1, time=100");

    draw_host("user_annotation", "ucc:all_reduce", 1, 0, 50);
    answer();
    assert_row(collectives, 0, "count=1, time=50, library=UCC");
}

/* No device was recorded: what was issued to NCCL counts, but nobody knows its time. "wait" is no collective. */
TEST(issued_collectives_without_a_device_have_no_time)
{
    draw_host("cpu_op", "record_param_comms", 1, 0, 10);
    draw_facts("allreduce", 1000, 1000, "Float", 2, 7);
    draw_host("user_annotation", "nccl:all_reduce", 1, 2, 5);
    draw_host("cpu_op", "record_param_comms", 1, 20, 10);
    draw_text(ARG_COLLECTIVE, "wait");
    answer();
    assert_int_equal(collectives->row_count, 1);
    assert_row(collectives, 0, "count=1, bytes=4000, time=-");
    assert_int_equal(notice_called(result, "not_timed"), 1);
    assert_int_equal(notice_called(result, "one_rank"), 0);
}

TEST(calls_without_a_kernel_are_reported)
{
    draw_host("cpu_op", "record_param_comms", 1, 0, 10);
    draw_facts("allreduce", 1000, 1000, "Float", 2, 7);
    draw_all_reduce(0, 30, 10, 6); /* of a call before the recording */
    answer();
    assert_int_equal(int_called(collectives, 0, "count"), 1);
    assert_int_equal(notice_called(result, "without_kernel"), 1);
}

/* Chosen by when it was issued: the kernel of a call in step 1 runs in step 2. */
TEST(a_collective_is_of_the_step_that_issued_it)
{
    draw_step(1, 0, 50);
    draw_step(2, 50, 50);
    draw_call("cudaLaunchKernel", 1, 40, 5, 100);
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, 60, 10, 100);
    answer_with((struct selection_query){ .steps = { .at = { { 1, 1 } }, .count = 1 } },
                (struct comm_options){ .by = BY(STEP) });
    assert_int_equal(collectives->row_count, 1);
    assert_int_equal(int_called(collectives, 0, "step"), 1);
    answer_with((struct selection_query){ .steps = { .at = { { 2, 2 } }, .count = 1 } },
                (struct comm_options){ .by = BY(STEP) });
    assert_int_equal(collectives->row_count, 0);
}

TEST(filters_look_at_collective_kernel_and_operator)
{
    draw_all_reduce(0, 0, 40, 7);
    draw_work("kernel", "ncclDevKernel_Broadcast_RING_LL", 0, 20, 50, 10, DRAW_NO_CALL);
    answer_with((struct selection_query){ 0 }, (struct comm_options){ .filter = "^all_reduce$" });
    assert_int_equal(collectives->row_count, 1);
    answer_with((struct selection_query){ 0 }, (struct comm_options){ .filter = "Kernel_Broad" });
    assert_string_equal(text_called(collectives, 0, "collective"), "broadcast");
    answer_with((struct selection_query){ 0 }, (struct comm_options){ .exclude = "broadcast" });
    assert_int_equal(collectives->row_count, 1);
    assert_string_equal(text_called(collectives, 0, "collective"), "all_reduce");
}

/* ---- several ranks ---- */

/*
 * Rank 1's clock is 1000000 ahead. It misses number 5, is 30 late for 6 and 10 early for 7:
 *
 *   rank 0:  5: 0..20   6: 100..150   7: 210..240
 *   rank 1:             6: 130..150   7: 200..240    before 6: gemm 90..125; so in 100..130 gemm 25, idle 5
 *
 * Transfers: 6 takes 20, 7 takes 30. Rank 0 waited 30 for 6, rank 1 10 for 7. 4000 bytes in 20 and 30 ns.
 */
TEST(the_last_to_arrive_tells_the_transfer)
{
    draw_rank_from(0, 0);
    draw_all_reduce(0, 0, 20, 5);
    draw_all_reduce(0, 100, 50, 6);
    draw_all_reduce(0, 210, 30, 7);
    draw_rank_from(1, 1000000);
    draw_all_reduce(1, 130, 20, 6);
    draw_work("kernel", "gemm", 1, 7, 90, 35, DRAW_NO_CALL);
    draw_all_reduce(1, 200, 40, 7);
    answer();
    struct table *ranks = table_called(result, "ranks"), *waits = table_called(result, "waits");
    assert_row(collectives, 0, "count=5, waited=40");
    assert_true(number_called(collectives, 0, "transfer_bus_bandwidth") == 160); /* 16000 in 2 * (20 + 30) */

    size_t first = row_of_rank(ranks, 0), second = row_of_rank(ranks, 1);
    assert_row(ranks, first, "count=2, transfer=50, waited=30, last=1, late=10");
    assert_string_equal(text_called(ranks, first, "meanwhile"), "100 % idle");
    assert_row(ranks, second, "waited=10, late=30, late_max=30, last_share=0.5");
    assert_string_equal(text_called(ranks, second, "meanwhile"), "83 % gemm");
    assert_int_equal(int_called(ranks, first, "clock"), 0);
    assert_int_equal(int_called(ranks, second, "clock"), 1000000);

    assert_int_equal(waits->row_count, 2);
    assert_row(waits, 0,
               "number=6, transfer=20, longest_wait=30, last=1, first=0, "
               "transfer_bus_bandwidth=200");
    assert_int_equal(notice_called(result, "unmatched"), 1); /* number 5 */
    assert_int_equal(notice_called(result, "clocks"), 0);    /* a millisecond may be the network's doing */
}

/*
 * The recording of rank 1 begins at 1000 (a gemm), when rank 0 waits for it in the first since 0. It is late by 30 in the
 * second, as the host of rank 0 ran ahead, is not last in the third, and late by 20 in the fourth: only that is its own.
 *
 *             first           second          third           fourth
 *     rank 0  [0 -------1120) [1200 -- 1250)  [1320 - 1350)   [1400 - 1440)
 *     rank 1      [1100-1120)    [1230-1250)  [1310 - 1350)     [1420-1440)
 */
TEST(what_a_rank_did_before_its_recording_is_not_known)
{
    draw_rank_from(0, 0);
    draw_all_reduce(0, 0, 1120, 1);
    draw_all_reduce(0, 1200, 50, 2);
    draw_all_reduce(0, 1320, 30, 3);
    draw_all_reduce(0, 1400, 40, 4);
    draw_rank_from(1, 0);
    draw_work("kernel", "gemm", 1, 7, 1000, 35, DRAW_NO_CALL);
    draw_all_reduce(1, 1100, 20, 1);
    draw_all_reduce(1, 1230, 20, 2);
    draw_all_reduce(1, 1310, 40, 3);
    draw_all_reduce(1, 1420, 20, 4);
    answer();
    struct table *ranks = table_called(result, "ranks"), *waits = table_called(result, "waits");
    assert_int_equal(waits->row_count, 2); /* the third and the fourth */
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 1), "late"), 20);
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 0), "late"), 10);
    assert_int_equal(int_called(collectives, 0, "count"), 4);
    assert_int_equal(notice_called(result, "before_recording"), 2);
    const struct selection *all = selection_all(drawn());
    const struct gpu *gpu = scratch(gpu_analyze(drawn(), all, BY(DEVICE)));
    assert_int_equal(gpu->at[0].unrecorded_ns,
                     1000); /* of the 1100 it waited, rank 1 was recorded in the last 100 */
}

/* The recording of rank 1 begins at 10, when rank 0 has waited for 10 of 100: most of its lateness is recorded, and counts. */
TEST(a_rank_that_was_recorded_for_most_of_its_lateness_is_last)
{
    draw_rank_from(0, 0);
    draw_all_reduce(0, 0, 120, 1);
    draw_rank_from(1, 0);
    draw_work("kernel", "gemm", 1, 7, 10, 60, DRAW_NO_CALL);
    draw_all_reduce(1, 100, 20, 1);
    answer();
    struct table *ranks = table_called(result, "ranks");
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 1), "late"), 100);
    assert_int_equal(int_called(collectives, 0, "waited"), 100);
    assert_int_equal(notice_called(result, "before_recording"), 0);
    const struct selection *all = selection_all(drawn());
    const struct gpu *gpu = scratch(gpu_analyze(drawn(), all, BY(DEVICE)));
    assert_int_equal(gpu->at[0].unrecorded_ns, 10);
}

/*
 * Two ranks of a group of RANKS. Both have arrived in the first at 30, and wait on until 150; the second moves as much in 20.
 *
 *     rank 0  [0 ------150) [200-220)
 *     rank 1     [30 --150) [200-220)
 */
static void draw_two_of(int64_t ranks)
{
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank_from(rank, 0);
        draw_work("kernel", "gemm", rank, 7, 0, rank ? 28 : 2, DRAW_NO_CALL);
        for (int64_t number = 1; number <= 2; number++) {
            int64_t start_ns = number == 2 ? 200 : rank ? 30 : 0;
            draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", rank, 20, start_ns,
                      (number == 2 ? 220 : 150) - start_ns, DRAW_NO_CALL);
            draw_facts("allreduce", 1000, 1000, "Float", ranks, number);
        }
    }
    answer();
}

TEST(nobody_is_to_blame_where_all_wait_for_ranks_that_were_not_recorded)
{
    const struct comm_options options = { 0 };
    struct tpa_error err;
    draw_two_of(8);
    assert_int_equal(notice_called(result, "outside"), 1);
    assert_int_equal(int_called(table_called(result, "lateness"), 0, "cost"), 0);
    const struct comm *comm = scratch(comm_analyze(drawn(), selection_all(drawn()), &options, &err));
    assert_int_equal(comm->outside_ns, 200); /* of 120 on each rank all but the 20 of the second */
    assert_int_equal(comm->blame.count, 0);

    draw_two_of(2); /* all of the group: whatever made it slow, rank 1 was late */
    assert_int_equal(notice_called(result, "outside"), 0);
    assert_int_equal(int_called(table_called(result, "lateness"), 0, "cost"), 30);
    comm = scratch(comm_analyze(drawn(), selection_all(drawn()), &options, &err));
    assert_int_equal(comm->outside_ns, 0);
    assert_int_equal(comm->blame.at[0].rank, 1);
    assert_int_equal(comm->blame.at[0].caused_ns, 30);
}

/* Rank 1 counts from 0 and does not tell since when: ten times the difference of the clocks would not fit 64 bits. */
TEST(clocks_may_be_decades_apart)
{
    const int64_t base_ns = INT64_C(1700000000000000000);
    draw_rank_from(0, base_ns);
    for (int64_t i = 0; i < 10; i++)
        draw_all_reduce(0, 100 * i, 20, i);
    draw_rank_from(1, 0);
    for (int64_t i = 0; i < 10; i++)
        draw_all_reduce(1, 100 * i, 20, i);
    answer();
    struct table *ranks = table_called(result, "ranks");
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 1), "clock"), -base_ns);
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 1), "count"), 10);
}

/* Without numbers: the n-th of the group. Equal durations: nobody waited, nobody was last. */
TEST(without_numbers_the_order_decides)
{
    draw_rank_from(0, 0);
    draw_all_reduce(0, 0, 20, -1);
    draw_all_reduce(0, 100, 20, -1);
    draw_rank_from(1, 0);
    draw_all_reduce(1, 0, 20, -1);
    draw_all_reduce(1, 90, 30, -1);
    answer();
    struct table *ranks = table_called(result, "ranks"), *waits = table_called(result, "waits");
    assert_int_equal(waits->row_count, 2);
    assert_row(waits, 0, "number=2, longest_wait=10");
    assert_row(waits, 1, "longest_wait=0, last=-");
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 0), "last"), 1);
    assert_int_equal(int_called(ranks, row_of_rank(ranks, 1), "last"), 0);
}

/*
 * Rank 1's recording lacks the first of three; its second and third would be taken for the first and second. Three of
 * another group tell the clocks. In ms: rank 0 has all-reduces that end at 110, 210, 310, rank 1 at 210, 310.
 */
TEST(what_did_not_end_together_is_not_the_same)
{
    enum { MS = 1000000 };
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank_from(rank, 0);
        for (int64_t i = 1; i <= 3; i++) {
            draw_work("kernel", "ncclDevKernel_AllGather_RING_LL", rank, 30, i * 40 * MS, 10 * MS,
                      DRAW_NO_CALL);
            draw_text(ARG_GROUP_NAME, "other");
        }
        for (int64_t i = 1 + rank; i <= 3; i++)
            draw_all_reduce(rank, i * 100 * MS, 10 * MS, -1);
    }
    answer();
    assert_int_equal(table_called(result, "waits")->row_count, 3);
    assert_int_equal(notice_called(result, "not_together"), 4);
    assert_int_equal(notice_called(result, "unmatched"), 5);
}

/*
 * All-reduces of 400 us come every 500 us, and rank 1's recording lacks the first: each would be taken for the one before it, as ends up to
 * a millisecond apart would be for the same. Ten of another group end at the same moments on both ranks: the clocks are better than that.
 */
TEST(clocks_that_are_known_well_tell_neighbours_apart)
{
    enum { US = 1000, ALIKE = 10, ALL = 9 };
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank_from(rank, 0);
        for (int64_t i = 0; i < ALIKE; i++) {
            draw_work("kernel", "ncclDevKernel_AllGather_RING_LL", rank, 30, i * 500 * US, 50 * US,
                      DRAW_NO_CALL);
            draw_text(ARG_GROUP_NAME, "other");
        }
        for (int64_t i = rank; i < ALL; i++)
            draw_all_reduce(rank, i * 500 * US, 400 * US, -1);
    }
    answer();
    assert_int_equal(table_called(result, "waits")->row_count, ALIKE);
    assert_int_equal(notice_called(result, "not_together"), 2 * (ALL - 1));
}

/* Of rank 0 a kernel from before the recording runs during step 1: it is of no step, so that the first of step 1 is the one launched there. */
TEST(work_from_before_the_recording_is_not_counted_in_a_step)
{
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank_from(rank, 0);
        draw_step(1, 0, 500);
        if (rank == 0)
            draw_all_reduce(0, 20, 100, -1);
        draw_call("cudaLaunchKernel", 1, 10, 5, 100);
        draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", rank, 20, 200, 30, 100);
        draw_facts("allreduce", 1000, 1000, "Float", 2, -1);
    }
    answer();
    struct table *waits = table_called(result, "waits");
    assert_int_equal(waits->row_count, 1);
    assert_row(waits, 0, "step=1, longest_wait=0");
    assert_int_equal(notice_called(result, "unmatched"), 1);
}

/* Rank 0 was recorded from earlier on: two of its kernels are from before the recording, one of rank 1's. The last of each ended together. */
TEST(before_the_steps_the_last_are_the_same)
{
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank_from(rank, 0);
        draw_step(1, 0, 500);
        if (rank == 0)
            draw_all_reduce(0, 10, 5, -1);
        draw_all_reduce(rank, 60 + 10 * rank, 30 - 10 * rank, -1);
        draw_call("cudaLaunchKernel", 1, 10, 5, 100);
        draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", rank, 20, 200, 30, 100);
        draw_facts("allreduce", 1000, 1000, "Float", 2, -1);
    }
    answer();
    struct table *waits = table_called(result, "waits");
    assert_int_equal(waits->row_count, 2);
    assert_int_equal(int_called(waits, 0, "longest_wait"), 10); /* not 15, that of [10 15] and [70 90] */
    assert_int_equal(int_called(waits, 1, "longest_wait"), 0);
    assert_int_equal(notice_called(result, "unmatched"), 1);
}

/* Rank 0 sends to 1 and to 2; the group's order alone would match the wrong ones. */
TEST(sends_are_matched_with_their_receives)
{
    static const struct {
        int64_t rank;
        const char *what;
        int64_t start_ns, dur_ns;
    } rows[] = { { 0, "nccl:send 0->2", 0, 50 },
                 { 0, "nccl:send 0->1", 100, 20 },
                 { 1, "nccl:recv 1<-0", 90, 30 },
                 { 2, "nccl:recv 2<-0", 40, 10 } };
    for (int64_t rank = 0; rank < 3; rank++) {
        draw_rank_from(rank, 0);
        draw_host("user_annotation", "before", 1, -100, 10); /* all are recorded since then */
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (rows[i].rank != rank)
                continue;
            draw_host("user_annotation", rows[i].what, 1, rows[i].start_ns, 10);
            draw_call("cudaLaunchKernel", 1, rows[i].start_ns + 1, 2, 100 + (int64_t)i);
            draw_work("kernel", "ncclDevKernel_SendRecv", rank, 20, rows[i].start_ns, rows[i].dur_ns,
                      100 + (int64_t)i);
        }
    }
    answer();
    struct table *waits = table_called(result, "waits");
    assert_int_equal(waits->row_count, 2);
    assert_string_equal(text_called(waits, 0, "last"), "2"); /* 0->2: 50 against 10 */
    assert_int_equal(int_called(waits, 0, "longest_wait"), 40);
    assert_string_equal(text_called(waits, 1, "last"), "0"); /* 0->1: 20 against 30 */
    assert_int_equal(int_called(waits, 1, "longest_wait"), 10);
}

/* Two devices of one process are two ranks; the tables tell them apart. */
TEST(devices_of_one_file_are_ranks_too)
{
    draw_all_reduce(0, 0, 50, 1);
    draw_all_reduce(3, 20, 30, 1);
    answer_with((struct selection_query){ 0 }, (struct comm_options){ .by = BY(DEVICE) });
    assert_int_equal(collectives->row_count, 2);
    struct table *ranks = table_called(result, "ranks"), *waits = table_called(result, "waits");
    assert_int_equal(ranks->row_count, 2);
    assert_int_equal(ranks->columns[1].flags, 0); /* the device is shown */
    assert_string_equal(text_called(waits, 0, "last"), "0, device 3");
}

/* Of a rank of the test below: aten::index, which takes OP_NS and holds INNER_NS of another, and k, which it launches. */
static void draw_index(int64_t op_ns, int64_t inner_ns)
{
    int64_t end_ns = 225 + op_ns;
    draw_host("cpu_op", "aten::index", 1, 225, op_ns);
    if (inner_ns)
        draw_host("cpu_op", "aten::nonzero", 1, 230, inner_ns);
    draw_kernel("k", end_ns - 5, 4, end_ns + 5, 10, 100);
}

/*
 * All begin together until number 3 ends at 220; the device then waits for k, which aten::index launches at its end:
 *
 *   rank 0:  index 225..245                         k 250..260   number 4: 300..400
 *   rank 1:  index 225..325, in it nonzero 230..310 k 330..340   number 4: 380..400
 *
 * Rank 1 is 80 late, which nonzero made: of index itself there are 20 on both, before and after it 5 each.
 */
TEST(an_operator_makes_a_rank_late)
{
    for (int rank = 0; rank < 2; rank++) {
        draw_rank_from(rank, 1000 * rank);
        for (int number = 1; number <= 3; number++)
            draw_all_reduce(0, 100 * number - 100, 20, number);
        draw_index(rank ? 100 : 20, rank ? 80 : 0);
        draw_all_reduce(0, rank ? 380 : 300, rank ? 20 : 100, 4);
    }
    answer();
    struct table *late = table_called(result, "lateness");
    assert_int_equal(late->row_count, 4);
    assert_row(late, 3,
               "last=1, late=80, cost=80, computation=0, operators=80, host=0, queued=0, "
               "before=0, grew=aten::nonzero, grew_by=80");
}

/* Two files of rank 0, which ran at the same time, are two runs: nothing in them is the same collective. */
TEST(files_of_one_rank_are_not_matched)
{
    draw_rank_from(0, 0);
    draw_all_reduce(0, 0, 50, 1);
    draw_file("again.json");
    drawn_file()->rank = 0;
    draw_all_reduce(0, 20, 30, 1);
    struct tpa_error err = { 0 };
    const struct selection *selection = selection_all(drawn());
    result = scratch_result(result_open("tpa.comm/1"));
    struct analysis_query query = { .trace = drawn(), .selection = selection, .by = COMM_BY_DEFAULT };
    assert_false(analysis_comm.run(&query, result, &err));
    assert_string_equal(err.message, "the files are 2 separate runs, and this answers for one job");
    assert_int_equal(result->tables.count, 0);
}

/* Only rank 1 was requested: its row and the waits it took part in, told against all files. */
TEST(a_rank_is_judged_against_the_files_left_out)
{
    draw_rank_from(0, 0);
    draw_all_reduce(0, 0, 50, 1);
    draw_rank_from(1, 0);
    draw_host("user_annotation", "before", 1, -100, 10); /* it is recorded since then */
    draw_all_reduce(1, 20, 30, 1);
    answer_with((struct selection_query){ .ranks = { .at = { { 1, 1 } }, .count = 1 } },
                (struct comm_options){ 0 });
    struct table *ranks = table_called(result, "ranks");
    assert_int_equal(int_called(collectives, 0, "count"), 1);
    assert_int_equal(ranks->row_count, 1);
    assert_int_equal(int_called(ranks, 0, "late"), 20);
    assert_int_equal(table_called(result, "waits")->row_count, 1);
}

TEST(an_empty_trace_gives_empty_tables)
{
    draw_begin(drawn_wants);
    answer();
    assert_int_equal(collectives->row_count, 0);
    assert_int_equal(result->tables.count, 1);
    assert_int_equal(result->notices.count, 0);
}

static void draw_on_host(int64_t rank, const char *host)
{
    draw_rank_from(rank, 0);
    struct trace_file *file = drawn_file();
    file->host_name = host;
    draw_host("user_annotation", "before", 1, -100, 10); /* it is recorded since then */
}

/*
 *                0    10   20   30   40   50   60
 *   rank 0       [ A              )               0..40
 *                     [ B                    )    10..60
 *   rank 1            [ A              )          10..45: began last, though it took less than rank 0
 *                                [ B    )         30..50: ended first, but on one host the last to begin
 *
 * On one host rank 0 waited 10 in A (0..10) and 20 in B (10..30).
 * By durations it would be 5 (40 - 35) and 30 (50 - 20).
 */
TEST(on_one_host_the_clock_tells_who_came_last)
{
    static const struct {
        const char *hosts[2];
        int64_t waited_a, waited_b;
    } cases[] = { { { "node7", "node7" }, 10, 20 }, { { "node7", "node8" }, 5, 30 } };
    for (size_t i = 0; i < 2; i++) {
        draw_on_host(0, cases[i].hosts[0]);
        draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 7, 0, 40, DRAW_NO_CALL);
        draw_facts("allreduce", 100, 100, "Float", 2, 1);
        draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 9, 10, 50, DRAW_NO_CALL);
        draw_facts("allreduce", 100, 100, "Float", 2, 2);
        draw_on_host(1, cases[i].hosts[1]);
        draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 7, 10, 35, DRAW_NO_CALL);
        draw_facts("allreduce", 100, 100, "Float", 2, 1);
        draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 9, 30, 20, DRAW_NO_CALL);
        draw_facts("allreduce", 100, 100, "Float", 2, 2);
        answer();
        const struct table *waits = table_called(result, "waits"), *ranks = table_called(result, "ranks");
        assert_int_equal(waits->row_count, 2);
        for (size_t row = 0; row < 2; row++) {
            bool is_a = int_called(waits, row, "number") == 1;
            assert_string_equal(text_called(waits, row, "last"), "1");
            assert_int_equal(int_called(waits, row, "waited"), is_a ? cases[i].waited_a : cases[i].waited_b);
        }
        size_t row = int_called(ranks, 0, "rank") == 0 ? 0 : 1;
        assert_int_equal(int_called(ranks, row, "waited"), cases[i].waited_a + cases[i].waited_b);
        assert_int_equal(int_called(ranks, row, "transfer") + int_called(ranks, row, "waited"), 90);
    }
}

/*
 * Two collectives of rank 0 wait at once, 0..30 and 10..30, for rank 1, whose both begin at 30: 30 + 20 of waiting in
 * 30 of wall time.
 */
TEST(waits_at_once_add_up_but_the_union_is_wall_time)
{
    draw_on_host(0, "node7");
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 7, 0, 40, DRAW_NO_CALL);
    draw_facts("allreduce", 100, 100, "Float", 2, 1);
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 9, 10, 30, DRAW_NO_CALL);
    draw_facts("allreduce", 100, 100, "Float", 2, 2);
    draw_on_host(1, "node7");
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 7, 30, 10, DRAW_NO_CALL);
    draw_facts("allreduce", 100, 100, "Float", 2, 1);
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 9, 30, 10, DRAW_NO_CALL);
    draw_facts("allreduce", 100, 100, "Float", 2, 2);
    answer();
    const struct table *ranks = table_called(result, "ranks");
    size_t row = int_called(ranks, 0, "rank") == 0 ? 0 : 1;
    assert_row(ranks, row, "waited=50, waited_union=30");
    assert_int_equal(int_called(collectives, 0, "waited"), 50);
}
