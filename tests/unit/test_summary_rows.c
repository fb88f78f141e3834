/* test_summary_rows.c - summary/summary.h: the rows of operators, ranks and devices. */

#include "tests/unit/summarized.h"

/*
 *   0    10   20   30   40   50
 *   [ train.py(10): step     )      a Python function: 50 - 30 = 20
 *    [ aten::mm     )               4..34, of which the two in it take 20 and 18, for they overlap: 30 - 38 is less than 0
 *    [ a      )
 *         [ b       )
 *
 * All own times are 20 - 8 + 20 + 18 = 50, of which shares are, as in tpa top --python.
 */
TEST(without_devices_operators_and_functions_come_by_their_own_time)
{
    draw_host("python_function", "train.py(10): step", 1, 0, 50);
    draw_arg(ARG_PYTHON_ID, 1);
    draw_host("cpu_op", "aten::mm", 1, 4, 30);
    draw_host("cpu_op", "a", 1, 5, 20);
    draw_host("cpu_op", "b", 1, 16, 18);
    answer();
    struct table *operators = table_called(result, "operators");
    assert_int_equal(operators->row_count, 3);
    assert_row(operators, 0, "name=a, time=20");
    assert_float_equal(number_called(operators, 0, "share_of_all"), 20 / 50.0, 1e-12);
    assert_row(operators, 1, "name=train.py(10): step, time=20");
    assert_string_equal(text_called(operators, 2, "name"), "b");
}

/* torch's profiler starts for 30 and marks a step for 20, by frames of its own; the program takes 15 and 25. */
TEST(the_profiler_is_no_part_of_the_program)
{
    draw_host("python_function", "torch/autograd/profiler.py(423): _start_trace", 1, 0, 30);
    draw_arg(ARG_PYTHON_ID, 1);
    draw_host("python_function", "train.py(10): step", 1, 30, 40);
    draw_arg(ARG_PYTHON_ID, 2);
    draw_host("cpu_op", "aten::mm", 1, 40, 15);
    draw_host("python_function", "/usr/lib/python3/torch/profiler/profiler.py(859): step", 1, 70, 20);
    draw_arg(ARG_PYTHON_ID, 3);
    answer();
    struct table *operators = table_called(result, "operators");
    assert_int_equal(operators->row_count, 2);
    assert_row(operators, 0, "name=train.py(10): step, time=25");
    assert_float_equal(number_called(operators, 0, "share_of_all"), 25 / 40.0, 1e-12);
    assert_row(operators, 1, "name=aten::mm, time=15");
}

/* Five operators of 15 cross in one of 20, which has 20 - 5 * 15 = -55 for itself. All are 20 then; shares are of the 75. */
TEST(shares_of_own_time_are_no_more_than_all)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 20);
    for (int64_t n = 0; n < 5; n++)
        draw_host("cpu_op", n == 4 ? "b" : "a", 1, 1 + n, 15);
    answer();
    struct table *operators = table_called(result, "operators");
    assert_int_equal(operators->row_count, 2);
    assert_row(operators, 0, "name=a, time=60");
    assert_float_equal(number_called(operators, 0, "share_of_all"), 0.8, 1e-12);
    assert_float_equal(number_called(operators, 1, "share_of_all"), 0.2, 1e-12);
}

/* The annotations take no time themselves. That with the name of an operator is one of its calls, the other is no row. */
TEST(calls_of_one_name_count_also_where_they_take_no_time)
{
    draw_host("user_annotation", "aten::mm", 1, 0, 10);
    draw_host("user_annotation", "b", 1, 0, 10);
    draw_host("cpu_op", "c", 1, 0, 10);
    draw_host("cpu_op", "aten::mm", 1, 20, 20);
    answer();
    struct table *operators = table_called(result, "operators");
    assert_int_equal(operators->row_count, 2);
    assert_row(operators, 0, "name=aten::mm, count=2");
    assert_string_equal(text_called(operators, 1, "name"), "c");
}

/* mm launches 60 and 20. A graph launch without an operator launches 15, and 5 have no call in the file: they count by their kernel. */
TEST(the_most_expensive_operators_come_first)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 10);
    draw_call("cudaLaunchKernel", 1, 0, 1, 1);
    draw_call("cudaLaunchKernel", 1, 2, 1, 2);
    draw_call("cudaGraphLaunch", 1, 20, 1, 3);
    draw_work("kernel", "gemm", 0, 7, 1, 60, 1);
    draw_work("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 0, 7, 61, 20, 2);
    draw_work("kernel", "gemm", 0, 7, 81, 15, 3);
    draw_work("kernel", "gemm", 0, 7, 96, 5, DRAW_NO_CALL);
    answer();
    struct table *operators = table_called(result, "operators");
    assert_int_equal(operators->row_count, 2);
    assert_row(operators, 0, "name=aten::mm, time=80");
    assert_float_equal(number_called(operators, 0, "share_of_all"), 0.8, 1e-12);
    assert_int_equal(int_called(operators, 0, "count"), 2);
    assert_row(operators, 1, "name=gemm, time=20, count=2");
}

/*
 * rank 0         0    10   20   30   40   50   60   70   80   90  100
 *   host         [ ProfilerStep#1                                 )
 *                [ mm   )[ add       )                                   launches at 0..2, 17..19, 20..22
 *   device 0     .[ gemm                                          )      2..100
 *   device 1               [add)          [add)                          20..30, 50..60
 *
 * rank 1
 *   host         [ ProfilerStep#1                                 )
 *                [ item ...                                       )      launch at 0..2, wait 5..95
 *   device 0          [gemm)                                             10..20
 *
 * Of the step of 100 device 1 idles 80, and both devices of rank 0 compute 98 + 20 of 200.
 * Of the wait of 90 on rank 1 a launch would have taken 2.
 */
static void draw_two_ranks(void)
{
    draw_step(1, 0, 100);
    draw_host("cpu_op", "aten::mm", 1, 0, 15);
    draw_call("cudaLaunchKernel", 1, 0, 2, 1);
    draw_host("cpu_op", "aten::add", 1, 16, 24);
    draw_call("cudaLaunchKernel", 1, 17, 2, 2);
    draw_call("cudaLaunchKernel", 1, 20, 2, 3);
    draw_work("kernel", "gemm", 0, 7, 2, 98, 1);
    draw_work("kernel", "add", 1, 7, 20, 10, 2);
    draw_work("kernel", "add", 1, 7, 50, 10, 3);
    draw_file("second.json");
    draw_step(1, 0, 100);
    draw_host("cpu_op", "aten::item", 1, 0, 99);
    draw_call("cudaLaunchKernel", 1, 0, 2, 1);
    draw_call("cudaDeviceSynchronize", 1, 5, 90, 2);
    draw_work("kernel", "gemm", 0, 7, 10, 10, 1);
}

TEST(each_rank_has_figures_of_its_own)
{
    draw_two_ranks();
    answer_by(SUMMARY_BY_RANK);
    struct table *overview = table_called(result, "overview"), *operators = table_called(result, "operators");
    static const int64_t figures[2][6] = { { 0, 100, 1, 100, 2, 0 }, { 1, 100, 1, 100, 1, 90 } };
    static const char *const keys[] = { "rank", "host_time", "steps", "step", "devices", "host_blocked" };
    assert_int_equal(overview->row_count, 2);
    for (size_t row = 0; row < 2; row++)
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(int_called(overview, row, keys[i]), figures[row][i]);
    assert_float_equal(number_called(overview, 0, "computing"), 118.0 / 200.0, 1e-12);
    assert_float_equal(number_called(overview, 0, "idle"), 82.0 / 200.0, 1e-12);
    assert_float_equal(number_called(overview, 1, "computing"), 0.1, 1e-12);

    assert_int_equal(operators->row_count, 3); /* mm and add of rank 0, item of rank 1 */
    assert_string_equal(text_called(operators, 0, "name"), "aten::mm");
    assert_float_equal(number_called(operators, 0, "share_of_all"), 98.0 / 118.0, 1e-12);
    assert_int_equal(int_called(operators, 1, "time"), 20);
    assert_row(operators, 2, "rank=1, time=10");
}

TEST(each_device_has_figures_of_its_own)
{
    draw_two_ranks();
    answer_by(SUMMARY_BY_DEVICE);
    struct table *overview = table_called(result, "overview"), *operators = table_called(result, "operators");
    static const int64_t places[3][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 } };
    static const double computing[3] = { 1.0, 0.5, 1.0 };
    assert_int_equal(overview->row_count, 3);
    assert_int_equal(operators->row_count, 3);
    for (size_t row = 0; row < 3; row++) {
        assert_int_equal(int_called(overview, row, "rank"), places[row][0]);
        assert_int_equal(int_called(overview, row, "device"), places[row][1]);
        assert_float_equal(number_called(overview, row, "computing"), computing[row], 1e-12);
        assert_int_equal(int_called(operators, row, "device"), places[row][1]);
        assert_float_equal(number_called(operators, row, "share_of_all"), 1.0, 1e-12);
    }
    assert_row(operators, 1, "name=aten::add, count=2");
}

/* Two files that say that they are of one rank are one row. */
TEST(files_of_one_rank_share_a_row)
{
    for (enum summary_by by = SUMMARY_BY_RANK; by <= SUMMARY_BY_DEVICE; by++) {
        for (int file = 0; file < 3; file++) {
            if (file)
                draw_file("another.json");
            drawn_file()->rank = file == 1 ? 5 : 4;
            draw_host("cpu_op", "aten::mm", 1, 0, 20);
            draw_kernel("gemm", 0, 2, 10, 10, 1);
        }
        answer_by(by);
        struct table *overview = table_called(result, "overview");
        assert_int_equal(overview->row_count, 2);
        assert_int_equal(int_called(overview, 0, "rank"), 4);
        assert_int_equal(int_called(overview, 1, "rank"), 5);
    }
}

/* Rank 1 is given before rank 0: steps of 100 and of 40. */
TEST(ranks_come_in_any_order)
{
    for (enum summary_by by = SUMMARY_BY_RANK; by <= SUMMARY_BY_DEVICE; by++) {
        for (int rank = 1; rank >= 0; rank--) {
            if (rank == 0)
                draw_file("another.json");
            drawn_file()->rank = rank;
            draw_step(1, 0, rank ? 100 : 40);
            draw_kernel("gemm", 0, 2, 2, 20, 1);
        }
        answer_by(by);
        const struct table *overview = table_called(result, "overview");
        assert_int_equal(overview->row_count, 2);
        for (size_t row = 0; row < 2; row++) {
            int64_t rank = int_called(overview, row, "rank");
            assert_int_equal(rank, 1 - row);
            assert_int_equal(int_called(overview, row, "steps"), 1);
            assert_int_equal(int_called(overview, row, "step"), rank ? 100 : 40);
        }
    }
}

/*
 * Two cycles of rank 4 and one of rank 5, which ran beside the first. The second goes on at 200, with the next step, and is 10
 * times as long. In each:
 *
 *                    0    10   20   30   40   50   60   70   80   90  100
 *   host             [ ProfilerStep#1                                 )
 *                    [ mm                                             )     launch at 0..2, wait 10..60
 *   device 0         .[ gemm                                          )     2..100
 */
static void draw_cycle(int64_t rank, const char *step, int64_t from, int64_t times)
{
    drawn_file()->rank = rank;
    draw_device(0);
    draw_host("user_annotation", step, 1, from, 100 * times);
    draw_host("cpu_op", "aten::mm", 1, from, 100 * times);
    draw_call("cudaLaunchKernel", 1, from, 2, 1);
    draw_call("cudaStreamSynchronize", 1, from + 10 * times, 50 * times, 2);
    draw_work("kernel", "volta_sgemm_128x64_nn", 0, 7, from + 2, 100 * times - 2, 1);
}

/*
 * Rank 4 is 100 + 1000 long, and so are its steps; its waits take 50 + 500. All of the time of its kernels, 98 + 998,
 * is of aten::mm. Of all ranks, which ran side by side, the recording is as long as that of the longest.
 */
TEST(cycles_of_a_rank_are_added_up)
{
    for (enum summary_by by = SUMMARY_BY_RANK; by <= SUMMARY_BY_DEVICE; by++) {
        draw_cycle(4, "ProfilerStep#1", 0, 1);
        draw_file("second.json");
        draw_cycle(5, "ProfilerStep#1", 0, 1);
        draw_file("third.json");
        draw_cycle(4, "ProfilerStep#2", 200, 10);
        answer_by(by);
        const struct table *overview = table_called(result, "overview"),
                           *operators = table_called(result, "operators");
        assert_int_equal(overview->row_count, 2);
        assert_int_equal(int_called(overview, 0, "host_time"), 1100);
        assert_int_equal(int_called(overview, 1, "host_time"), 100);
        assert_row(overview, 0, "steps=2, step=550");
        assert_int_equal(int_called(overview, 1, "step"), 100);
        if (by == SUMMARY_BY_RANK) {
            assert_row(overview, 0, "devices=1, host_blocked=550");
        }
        assert_int_equal(operators->row_count, 2);
        assert_int_equal(int_called(operators, 0, "rank"), 4);
        assert_int_equal(int_called(operators, 0, "time"), 98 + 998);
        assert_int_equal(int_called(operators, 0, "count"), 2);
        assert_float_equal(number_called(operators, 0, "share_of_all"), 1.0, 1e-12);
        assert_int_equal(int_called(operators, 1, "rank"), 5);

        answer(); /* of all: two devices, and three files */
        overview = table_called(result, "overview");
        assert_string_equal(overview->footers.at[0].key, "host_time");
        assert_int_equal(overview->footers.at[0].value.i, 1100);
        assert_string_equal(overview->footers.at[3].key, "devices");
        assert_int_equal(overview->footers.at[3].value.i, 2);
    }
}

/* The most on a device is no peak of the host; that is reported of files without any on a device. */
TEST(memory_of_the_host_is_not_of_a_device)
{
    static const struct {
        int64_t host, device, peak;
        const char *title;
    } cases[] = {
        { 5000, 100, 100, "Most memory on a device" },
        { 5000, 0, 5000, "Most memory on the host" },
        { 0, 100, 100, "Most memory on a device" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int64_t host_number = -1; host_number <= 0; host_number++) {
            draw_host("cpu_op", "aten::empty", 1, 0, 100);
            draw_kernel("gemm", 1, 1, 2, 98, 1);
            if (cases[i].host)
                draw_memory(40, 0, host_number, 0xB00, cases[i].host, cases[i].host);
            if (cases[i].device)
                draw_memory(50, 1, 0, 0xA00, cases[i].device, cases[i].device);
            answer();
            const struct table *overview = table_called(result, "overview");
            const struct table_footer *last = &overview->footers.at[overview->footers.count - 1];
            assert_string_equal(last->title, cases[i].title);
            assert_int_equal(last->value.i, cases[i].peak);

            answer_by(SUMMARY_BY_RANK);
            assert_int_equal(int_called(table_called(result, "overview"), 0, "peak_memory"), cases[i].peak);

            answer_by(SUMMARY_BY_DEVICE);
            assert_int_equal(int_called(table_called(result, "overview"), 0, "peak_memory"),
                             cases[i].device ? cases[i].device : TABLE_INT_MISSING);
        }
}

/* Three ranks of 140 years each, in which a kernel runs at the begin and the other at the end of all. */
TEST(sums_of_long_files_do_not_overflow)
{
    const int64_t far_ns = INT64_C(2200000000000000000);
    for (enum summary_by by = SUMMARY_BY_ALL; by <= SUMMARY_BY_DEVICE; by++) {
        for (int file = 0; file < 3; file++) {
            draw_rank(file);
            draw_work("kernel", "gemm", 0, 7, -far_ns, 1, DRAW_NO_CALL);
            for (int i = 0; i < 3; i++) {
                draw_step(i + 1, 10 * i - far_ns, 10);
                draw_call("cudaLaunchKernel", 1, 10 * i - far_ns, 2, i + 1);
                draw_host("cpu_op", "aten::add", 1, far_ns + 10 * i, 1); /* the host is recorded to the end */
                draw_work("kernel", "ncclDevKernel_AllReduce", 0, 7, far_ns + 10 * i, 1, i + 1);
            }
        }
        answer_by(by);
        struct table *overview = table_called(result, "overview");
        if (by == SUMMARY_BY_ALL) {
            assert_string_equal(overview->footers.at[0].key, "host_time");
            assert_int_equal(overview->footers.at[0].value.i, 2 * far_ns + 21);
        } else {
            assert_int_equal(overview->row_count, 3);
            assert_int_equal(int_called(overview, 2, "host_time"), 2 * far_ns + 21);
        }
        for (size_t t = 0; t < result->tables.count; t++)
            for (size_t row = 0;
                 strcmp(result->tables.at[t]->key, "findings") == 0 && row < result->tables.at[t]->row_count;
                 row++) {
                const struct table *findings = result->tables.at[t];
                double share = number_called(findings, row, "saves_share");
                if (share < 0 || share > 1 || int_called(findings, row, "time") < 0)
                    fail_msg("%s: a share of %g", text_called(findings, row, "rule"), share);
            }
    }
}
