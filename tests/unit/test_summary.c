/* test_summary.c - summary/summary.h: the verdict, and what rules without a price find, and that they are quiet otherwise. */

#include "summary/findings.h"
#include "summary/rules.h"
#include "tests/unit/summarized.h"
#include <inttypes.h>

/*
 *              0                                   100
 *   host       [ mm                                 )    launches at 0..2
 *   stream 7    [ gemm                              )    2..100
 */
TEST(a_busy_device_is_no_finding)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 100);
    draw_kernel("gemm", 0, 2, 2, 98, 1);
    answer();
    assert_int_equal(result->tables.count, 2); /* no findings */
    assert_string_equal(result->tables.at[0]->key, "overview");
    assert_string_equal(result->tables.at[1]->key, "operators");
    assert_string_equal(result->notices.at[0].kind, "verdict");
    assert_string_equal(
        result->answer->verdict,
        "100.0 % of the GPU's time is computing; aten::mm takes 100.0 % of all recorded work.");
    assert_int_equal(result->answer->bars.count, 1);
    assert_int_equal(result->answer->bars.at[0].parts.count, 1);
    assert_true(result->answer->bars.at[0].parts.at[0].share == 1);
    assert_int_equal(result->answer->findings.count, 0);
    assert_non_null(result->answer->nothing);
    assert_string_equal(result->notices.at[1].kind, "answer"); /* which is that there is none */
}

/* A step of 1000 has 600 of idle time. If all changes save 299, which is less than half of it, the sentence says that no change was found for
 * the rest. It does not say so if they save 300, or if another limit is known. */
TEST(for_the_rest_no_change_is_found_below_half)
{
    static const struct {
        int64_t together_ns;
        enum step_bound_kind bound;
        bool leaves;
    } cases[] = {
        { 701, BOUND_UNKNOWN, true }, { 1000, BOUND_UNKNOWN, true }, { 700, BOUND_UNKNOWN, false },
        { 0, BOUND_UNKNOWN, false },  { 701, BOUND_HOST, false },    { 701, BOUND_DEVICE, false },
        { 701, BOUND_WORK, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct findings findings = { .step_ns = 1000,
                                     .together_ns = cases[i].together_ns,
                                     .bound.kind = cases[i].bound };
        assert_true(findings_leave_rest(&findings, 0.6) == cases[i].leaves);
    }
}

static const char *verdict(void)
{
    answer();
    return result->answer->verdict;
}

/* Of each step 30 of 100 in mm and 60 in a collective, or 60 in mm: the step's own time is no operator's. */
TEST(on_the_host_the_largest_part_of_a_step_is_the_verdict)
{
    for (int communicates = 0; communicates < 2; communicates++) {
        for (int64_t step = 0; step < 3; step++) {
            draw_step(step, 100 * step, 100);
            draw_host("cpu_op", "aten::mm", 1, 100 * step, communicates ? 30 : 60);
            if (communicates)
                draw_host("user_annotation", "gloo:all_reduce", 1, 100 * step + 30, 60);
        }
        assert_string_equal(verdict(),
                            communicates
                                ? "60.0 % of a step is communication; no GPU was recorded."
                                : "aten::mm takes 60.0 % of the operators' own time; no GPU was recorded.");
    }
}

/* Kernels of 1 ms with one pause of 10 ms between the second and the third, or pauses of 5 ms between all. */
TEST(one_long_gap_is_named)
{
    for (int once = 0; once < 2; once++) {
        for (int64_t n = 0, us = 0; n < 3; n++) {
            draw_kernel_us("gemm", us, 10, us + 12, 1000, n + 1);
            us += once ? n == 1 ? 11002 : 1002 : 6002;
        }
        assert_int_equal(strstr(verdict(), ", in one gap of ") != NULL, once);
    }
}

/* Neither work whose launch is not in the file, nor a call that launches, is an operator that takes most of the work. */
TEST(what_is_no_operator_is_not_named)
{
    for (int launched = 0; launched < 2; launched++) {
        draw_host("cpu_op", "aten::mm", 2, 0, 100);
        if (launched)
            draw_call("cudaLaunchKernel", 1, 0, 2, 1);
        draw_work("kernel", "gemm", 0, 7, 2, 98, 1);
        assert_string_equal(verdict(), "100.0 % of the GPU's time is computing.");
    }
}

/*
 *              0         100        200        300        400        500
 *   host       [ Step#0  )[ Step#1  )[ Step#2  )[ Step#3  )[ Step#4  )     each allocates 9 of the device's 100
 *   stream 7   [ volta_sgemm, launched by mm                          )    in use: 50, 59, 68, 77, 86, 95
 */
TEST(memory_that_is_nearly_full_and_grows_is_a_remark)
{
    *VEC_PUSH(&drawn_file()->devices) =
        (struct trace_device){ .name = "V100", .total_memory = 100, .compute_major = 7 };
    draw_host("cpu_op", "aten::mm", 2, 0, 500);
    draw_call("cudaLaunchKernel", 2, 0, 1, 1);
    draw_work("kernel", "volta_sgemm_128x64_nn", 0, 7, 1, 499, 1);
    for (int i = 0; i < 5; i++) {
        draw_step(i, 100 * i, 100);
        struct chunk_event record = {
            .phase = 'i',
            .start_ns = 100 * i + 50,
            .dur_ns = -1,
            .name = trace_chunk_name(draw_chunk_now(), "[memory]", 8),
            .track =
                trace_chunk_track(draw_chunk_now(), &(struct track_key){ .pid = DRAW_PROCESS, .tid = 1 }),
            .category = trace_chunk_category(draw_chunk_now(), "cpu_instant_event", 17),
        };
        trace_chunk_event(draw_chunk_now(), &record);
        draw_arg(ARG_DEVICE_TYPE, 1);
        draw_arg(ARG_DEVICE_ID, 0);
        draw_arg(ARG_BYTES, 9);
        draw_arg(ARG_ADDRESS, 0xA00 + i);
        draw_arg(ARG_TOTAL_ALLOCATED, 59 + 9 * i);
    }
    answer();
    struct table *remarks = table_called(result, "remarks");
    assert_int_equal(remarks->row_count, 2);
    assert_string_equal(text_called(remarks, 0, "rule"), "memory_full");
    assert_float_equal(number_called(remarks, 0, "share"), 0.95, 1e-12);
    assert_row(remarks, 0, "bytes=95, device=cuda:0");
    assert_row(remarks, 1, "rule=memory_grows, bytes=9");
}

/* ---- every rule finds something in one drawing, and nothing in nearly the same ---- */

/* A step of 100 on the host, with a launch at its begin that starts a kernel at START for DUR. */
static void draw_short_step(int number, int64_t start_ns, int64_t dur_ns)
{
    draw_step(number, 100 * number, 100);
    draw_kernel("elementwise", 100 * number, 1, start_ns, dur_ns, number + 1);
}

/* Four steps of 100; the last lasts until 600 on the device, which is 200 more than the median, of 600. */
static void draw_slow_step(bool wrong)
{
    for (int i = 0; i < 4; i++)
        draw_short_step(i, 100 * i + 1, wrong && i == 3 ? 299 : 99);
}

static void draw_data_parallel(bool wrong)
{
    draw_host("user_annotation", "DataParallel.forward", 1, 0, 30);
    draw_kernel("elementwise", 0, 1, 1, 99, 1);
    draw_call("cudaLaunchKernel", 1, 1, 1, 2);
    draw_work("kernel", "elementwise", wrong ? 1 : 0, wrong ? 7 : 8, 2, 98, 2);
}

static void draw_backend(bool wrong)
{
    drawn_file()->backend =
        trace_builder_strndup(draw_builder_now(), wrong ? "gloo" : "cpu:gloo,cuda:nccl", wrong ? 4 : 18);
    draw_host("user_annotation", "gloo:all_reduce", 1, 0, 30);
    draw_kernel("elementwise", 0, 1, 1, 99, 1);
}

/* Rank 1 arrives at 60, or at 11, where rank 0 has been since 10. */
static void draw_straggler(bool wrong)
{
    for (int rank = 0; rank < 2; rank++) {
        if (rank == 1)
            draw_file("rank1.json");
        int64_t start_ns = rank == 0 ? 10 : wrong ? 60 : 11;
        drawn_file()->rank = rank;
        draw_host("cpu_op", "aten::add", 1, 0, 100);
        draw_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 1, start_ns, 90 - start_ns, 1);
        draw_reduces(2, 1);
    }
}

/* Each of two ranks waits 50 for the other; or 1. */
static void draw_turns(bool wrong)
{
    int64_t late_ns = wrong ? 50 : 1;
    for (int rank = 0; rank < 2; rank++) {
        draw_rank(rank);
        draw_host("cpu_op", "aten::add", 1, 0, 200);
        draw_call("cudaLaunchKernel", 1, 1, 1, 1);
        draw_call("cudaLaunchKernel", 1, 3, 1, 2);
        for (int n = 0; n < 2; n++) {
            int64_t start_ns = 10 + 100 * n + (n == rank ? late_ns : 0);
            draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 7, start_ns,
                      90 + 100 * n - start_ns, n + 1);
            draw_reduces(2, n + 1);
        }
    }
}

/* 95 of the device's 100 bytes, or 80. */
static void draw_memory_full(bool wrong)
{
    draw_device(100);
    draw_host("cpu_op", "aten::empty", 1, 0, 100);
    draw_memory(50, 1, 0, 0xA00, 10, wrong ? 95 : 80);
}

/* Five steps that keep 9 each; or the fourth frees it. */
static void draw_memory_grows(bool wrong)
{
    int64_t in_use = 0;
    for (int i = 0; i < 5; i++) {
        draw_short_step(i, 100 * i + 1, 99);
        draw_memory(100 * i + 50, 1, 0, 0xA00 + i, 9, in_use += 9);
        if (!wrong && i == 3)
            draw_memory(100 * i + 60, 1, 0, 0xA00 + i, -9, in_use -= 9);
    }
}

/* Five steps that keep 1 each. The first needs 60 for a while, the last, which ends with 5 in use, no more than these. */
TEST(growth_is_a_share_of_the_largest_step)
{
    draw_device(1000);
    draw_memory(5, 1, 0, 0xF00, 60, 60);
    draw_memory(6, 1, 0, 0xF00, -60, 0);
    for (int i = 0; i < 5; i++) {
        draw_short_step(i, 100 * i + 1, 99);
        draw_memory(100 * i + 50, 1, 0, 0xA00 + i, 1, i + 1);
    }
    answer();
    struct table *remarks = table_called(result, "remarks");
    assert_int_equal(remarks->row_count, 1);
    assert_string_equal(text_called(remarks, 0, "rule"), "memory_grows");
    assert_float_equal(number_called(remarks, 0, "share"), 1 / 60.0, 1e-12);
}

/*
 * No steps, and the operators are over before the work that they queued begins: kernels take all of the device's span,
 * 30..230. None runs while the operators do, which says nothing.
 */
TEST(work_that_outlasts_the_operators_is_work)
{
    draw_host("cpu_op", "aten::add", 1, 0, 20);
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_call("cudaLaunchKernel", 1, 2, 1, 2);
    draw_work("kernel", "elementwise", 0, 7, 30, 100, 1);
    draw_work("kernel", "elementwise", 0, 7, 130, 100, 2);
    answer();
    for (size_t t = 0; t < result->tables.count; t++)
        assert_string_not_equal(result->tables.at[t]->key, "findings");
}

/* Three steps of 1000 us, of which a forward pass takes FORWARD_US and a backward pass 100. */
static const char *phases_with_forward(int64_t forward_us)
{
    for (int n = 0; n < 3; n++) {
        draw_step(n, 1000000 * n, 1000000);
        draw_host("user_annotation", "forward", 1, 1000000 * n, 1000 * forward_us);
        draw_host("user_annotation", "backward", 1, 1000000 * n + 1000 * forward_us, 100000);
        draw_host("cpu_op", "aten::mm", 1, 1000000 * n, 1000 * forward_us);
    }
    answer();
    return result_answer(result)->phases;
}

/* The line of phases is there if they explain half of a step, and not if they explain less. */
TEST(phases_are_told_if_they_explain_half_of_a_step)
{
    assert_string_equal(phases_with_forward(400), "By phase: other 50.0 %, forward 40.0 %, backward 10.0 %");

    assert_null(phases_with_forward(399));
}

TEST(every_rule_finds_and_is_quiet)
{
    static const struct {
        const char *rule;
        void (*draw)(bool wrong);
    } cases[] = {
        { "slow_step", draw_slow_step },
        { "data_parallel", draw_data_parallel },
        { "backend", draw_backend },
        { "straggler", draw_straggler },
        { "turns", draw_turns },
        { "memory_full", draw_memory_full },
        { "memory_grows", draw_memory_grows },
    };
    assert_int_equal(sizeof cases / sizeof *cases, RULES);
    for (size_t i = 0; i < RULES; i++) {
        assert_string_equal(cases[i].rule, summary_rules[i].key);
        for (int wrong = 0; wrong < 2; wrong++) {
            cases[i].draw(wrong);
            answer();
            size_t found = 0;
            for (size_t t = 0; t < result->tables.count; t++)
                for (size_t row = 0; strcmp(result->tables.at[t]->key, "remarks") == 0 &&
                                     row < result->tables.at[t]->row_count;
                     row++) {
                    const struct table *findings = result->tables.at[t];
                    if (strcmp(text_called(findings, row, "rule"), cases[i].rule) != 0)
                        continue;
                    found++;
                    assert_true(number_called(findings, row, "share") >
                                number_called(findings, row, "threshold"));
                    assert_true(strncmp(text_called(findings, row, "see"), "tpa ", 4) == 0);
                    assert_non_null(text_called(findings, row, "advice"));
                }
            if (found != (size_t)wrong)
                fail_msg("%s is found %zu times where it is %s", cases[i].rule, found,
                         wrong ? "wrong" : "fine");
        }
    }
}
