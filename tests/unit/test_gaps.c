/* test_gaps.c - analyze/gaps.h: gaps are split into parts, each with a cause. */

#include "analyze/gaps.h"
#include "derive/page_moves.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &gaps_wants;

static const struct gaps *gaps;

/* What MEMBER, an event of a gap, is called; "" for EVENT_NONE. */
#define NAME_OF(member) (gaps->at[0].member == EVENT_NONE ? "" : trace_name(drawn(), gaps->at[0].member))

static void answer_by(struct selection_query query, unsigned by, struct gaps_options options)
{
    const struct selection *selection = scratch_selection(drawn(), query);
    gaps = scratch(gaps_analyze(drawn(), selection, by, &options));
    for (size_t i = 0; i < gaps->count; i++) {
        int64_t parts_ns = 0;
        for (size_t c = 0; c < GAP_CAUSES; c++)
            parts_ns += gaps->at[i].part_ns[c];
        assert_int_equal(parts_ns, gaps->at[i].end_ns - gaps->at[i].start_ns);
    }
}

static void answer_with(struct selection_query query, struct gaps_options options)
{
    answer_by(query, BY(DEVICE), options);
}

/* Lists every gap; queued work is launch latency below 10. */
static void answer(void)
{
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .latency_below_ns = 10 });
}

/* The trace has one gap, LENGTH long, and all of it is due to CAUSE. */
static void assert_one_gap(int64_t length_ns, enum gap_cause cause)
{
    assert_int_equal(gaps->count, 1);
    assert_int_equal(gaps->at[0].end_ns - gaps->at[0].start_ns, length_ns);
    assert_int_equal(gaps->at[0].cause, cause);
    assert_int_equal(gaps->at[0].part_ns[cause], length_ns);
    assert_int_equal(gaps->cause_count, 1);
    assert_int_equal(gaps->idle_ns, length_ns);
}

/* The trace has one gap; this is its part that is due to CAUSE. */
static void assert_part(enum gap_cause cause, int64_t length_ns)
{
    assert_int_equal(gaps->count, 1);
    assert_int_equal(gaps->at[0].part_ns[cause], length_ns);
    assert_int_equal(gaps->part_ns[cause], length_ns);
}

/* Two kernels of stream 7 with a gap from 20 to 50; the second is launched by a call at CALL_NS that takes CALL_DUR_NS. */
static void draw_gap_of(int64_t call_ns, int64_t call_dur_ns)
{
    draw_kernel("a", 0, 2, 10, 10, 1);
    draw_kernel("b", call_ns, call_dur_ns, 50, 10, 2);
}

static void draw_gap(int64_t call_ns)
{
    draw_gap_of(call_ns, 2);
}

/*
 *              0    10   20   30   40   50   60
 *   host       l1                  l2              l2 at 40..42: 20 before it, 2 in it, 8 after it
 *   stream 7        [ a )               [ b )
 */
TEST(a_gap_is_split_by_its_launch)
{
    draw_gap(40);
    draw_host("cpu_op", "aten::mm", 1, 38, 6);
    draw_host("user_annotation", "thinking", 1, 22, 14);
    answer();
    assert_part(GAP_HOST, 20);
    assert_part(GAP_LAUNCH_CALL, 2);
    assert_part(GAP_LAUNCH_LATENCY, 8);
    assert_int_equal(gaps->at[0].cause, GAP_HOST);
    assert_int_equal(gaps->at[0].phase_ns[GAP_BEFORE_CALL], 20);
    assert_int_equal(gaps->at[0].phase_ns[GAP_IN_CALL], 2);
    assert_int_equal(gaps->at[0].phase_ns[GAP_AFTER_CALL], 8);
    assert_int_equal(gaps->at[0].start_ns, 20);
    assert_string_equal(NAME_OF(before), "a");
    assert_string_equal(NAME_OF(after), "b");
    assert_string_equal(NAME_OF(call), "cudaLaunchKernel");
    assert_string_equal(NAME_OF(op), "aten::mm");
    assert_string_equal(NAME_OF(meanwhile), "thinking"); /* 14 of the 20 before the call */
    assert_int_equal(gaps->cause_count, 3);
    assert_int_equal(gaps->causes[0].cause, GAP_HOST);
    assert_float_equal(gaps->causes[0].share, 20.0 / 30, 1e-12);
}

/* XLA's calls are on a track of their own: while its functions wait until what was computed is ready (24..36), so does that. */
TEST(calls_on_a_track_of_their_own_wait_as_the_program_does)
{
    draw_gap(40);
    draw_host("python_function", "api.py(3154): block_until_ready", 2, 24, 12);
    answer();
    assert_part(GAP_SYNCHRONIZATION, 12);
    assert_part(GAP_HOST, 8);

    draw_gap(40);
    draw_host("python_function", "api.py(3154): block_until_ready", 2, 24, 12);
    draw_host("python_function", "train.py(3): step", 1, 0,
              60); /* the thread of the calls tells what it does */
    answer();
    assert_part(GAP_HOST, 20);
}

/*
 *              0     10     20     30     40     50
 *   host       l1           [ l2   )                     l2 at 22..28
 *   stream 7         [ a  )                      [ b )
 *
 * The work was in the queue from 28 on: the host is to blame for 2, the call for 6, the queue for 22.
 */
TEST(the_host_is_not_blamed_for_queued_work)
{
    draw_gap_of(22, 6);
    answer();
    assert_part(GAP_HOST, 2);
    assert_part(GAP_LAUNCH_CALL, 6);
    assert_part(GAP_QUEUED, 22);
    assert_int_equal(gaps->at[0].cause, GAP_QUEUED);
    assert_string_equal(NAME_OF(meanwhile), "");
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .latency_below_ns = 23 });
    assert_part(GAP_LAUNCH_LATENCY, 22);
}

/* The same, and the thread told a stream to wait for an event at 21. Before a's launch it does not concern b. */
TEST(queued_behind_a_wait_for_an_event)
{
    draw_gap_of(22, 6);
    draw_call("cudaStreamWaitEvent", 1, 21, 1, 9);
    answer();
    assert_part(GAP_STREAM_WAIT, 22);
    assert_string_equal(NAME_OF(meanwhile), "cudaStreamWaitEvent");

    draw_gap_of(22, 6);
    draw_call("cudaStreamWaitEvent", 1, -3, 1, 9);
    answer();
    assert_part(GAP_QUEUED, 22);

    draw_gap_of(22, 6); /* the file says that another stream waits */
    draw_call("cudaStreamWaitEvent", 1, 21, 1, 9);
    draw_work("cuda_sync", "Stream Wait Event", 0, 9, 21, 1, 9);
    answer();
    assert_part(GAP_QUEUED, 22);
}

/* The first launch of b takes 25: its code is loaded. A second launch as long is a launch call. */
TEST(first_use)
{
    draw_gap_of(23, 25);
    answer();
    assert_part(GAP_HOST, 3);
    assert_part(GAP_FIRST_USE, 25);
    assert_part(GAP_LAUNCH_LATENCY, 2);
    assert_string_equal(NAME_OF(meanwhile), "cudaLaunchKernel");

    draw_gap_of(23, 25);
    draw_kernel("b", 3, 2, 12, 3, 3);
    answer();
    assert_part(GAP_LAUNCH_CALL, 25);
}

/* "thinking" takes 9 of the 20 before the call, less than half; "step" holds all, "ProfilerStep#1" does not count. */
TEST(what_the_host_did_meanwhile)
{
    draw_gap(40);
    draw_step(1, 0, 70);
    draw_host("user_annotation", "step", 1, 5, 60);
    draw_host("user_annotation", "thinking", 1, 26, 9);
    answer();
    assert_string_equal(NAME_OF(meanwhile), "step");

    draw_gap(40);
    draw_host("user_annotation", "step", 1, 5, 60);
    draw_host("user_annotation", "thinking", 1, 26, 10);
    answer();
    assert_string_equal(NAME_OF(meanwhile), "thinking");
}

/* With stacks: the innermost of outer 15..45 and inner 24..36, which took 12 of the 20 before the call. */
TEST(with_stacks_the_line_is_shown)
{
    draw_gap(40);
    draw_host("python_function", "train.py(3): outer", 1, 15, 30);
    draw_arg(ARG_PYTHON_ID, 1);
    draw_host("python_function", "train.py(9): inner", 1, 24, 12);
    draw_arg(ARG_PYTHON_ID, 2);
    answer();
    assert_string_equal(NAME_OF(meanwhile), "train.py(9): inner");
    assert_string_equal(gaps->at[0].line.at, "train.py(9): inner");
}

/* l2 at 15..17: in the queue before the device ran dry. The call of the second begins as it does. */
TEST(queued_work_is_latency_if_short)
{
    draw_gap(15);
    answer();
    assert_one_gap(30, GAP_QUEUED);
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .latency_below_ns = 31 });
    assert_one_gap(30, GAP_LAUNCH_LATENCY);

    draw_gap(20);
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .latency_below_ns = 31 });
    assert_part(GAP_LAUNCH_CALL, 2);
    assert_part(GAP_LAUNCH_LATENCY, 28);
}

/* The thread sits in a synchronization from 12 to 24: 4 of the 20 before the call, and 16 are its own. */
TEST(a_synchronization_takes_what_it_took)
{
    draw_gap(40);
    draw_call("cudaStreamSynchronize", 1, 12, 12, 3);
    answer();
    assert_part(GAP_SYNCHRONIZATION, 4);
    assert_part(GAP_HOST, 16);
    assert_int_equal(gaps->at[0].cause, GAP_HOST);

    /* The other thread's does not count. */
    draw_gap(40);
    draw_call("cudaStreamSynchronize", 2, 12, 12, 3);
    answer();
    assert_part(GAP_HOST, 20);
}

/*
 *              0    10   20   30   40   50
 *   host       l1     [memcpy )l2                  pageable, 15..28, of 10 from 16 to 26; l2 at 30..32
 *   stream 7        [ a )                          10..20
 *   stream 9          [ DtoH )                     16..26
 *   stream 7                     [ b )             40..50: gap 26..40
 */
TEST(a_blocking_copy_synchronizes)
{
    draw_kernel("a", 0, 2, 10, 10, 1);
    draw_call("cudaMemcpyAsync", 1, 15, 13, 2);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 9, 16, 10, 2);
    draw_kernel("b", 30, 2, 40, 10, 3);
    answer();
    assert_part(GAP_SYNCHRONIZATION, 2);
    assert_part(GAP_HOST, 2);
    assert_part(GAP_LAUNCH_CALL, 2);
    assert_part(GAP_LAUNCH_LATENCY, 8);
    assert_string_equal(NAME_OF(before), "Memcpy DtoH (Device -> Pageable)");
}

/* Of the 20 before the call the thread spends 8 in cudaMalloc, in two pieces, and 5 in a synchronization. */
TEST(what_is_before_the_call_is_split_by_what_the_thread_did)
{
    draw_gap(40);
    draw_call("cudaMalloc", 1, 21, 5, 3);
    draw_call("cudaMalloc", 1, 27, 3, 4);
    draw_call("cudaDeviceSynchronize", 1, 31, 5, 5);
    answer();
    assert_part(GAP_ALLOCATION, 8);
    assert_part(GAP_SYNCHRONIZATION, 5);
    assert_part(GAP_HOST, 7);
    assert_int_equal(gaps->at[0].cause,
                     GAP_ALLOCATION); /* of equals, 8 after the call, the first of the enum */
    assert_string_equal(NAME_OF(meanwhile), "cudaMalloc");
}

/* Of 20..38 in the loader 3 went to an allocation within: the innermost counts. */
TEST(data_loading)
{
    draw_gap(40);
    draw_host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1, 18, 20);
    draw_call("cudaHostAlloc", 1, 25, 3, 3);
    answer();
    assert_part(GAP_DATA_LOADING, 15);
    assert_part(GAP_ALLOCATION, 3);
    assert_part(GAP_HOST, 2);
}

/* In gloo until 35; and in an operator from 18 to 48 that launches the work itself. */
TEST(communication)
{
    draw_gap(40);
    draw_host("user_annotation", "gloo:all_reduce", 1, 18, 17);
    answer();
    assert_part(GAP_COMMUNICATION, 15);
    assert_part(GAP_HOST, 5);

    draw_gap(40);
    draw_host("cpu_op", "c10d::allreduce_", 1, 18, 30);
    answer();
    assert_part(GAP_COMMUNICATION, 20);
    assert_part(GAP_LAUNCH_CALL, 2);
}

/* The profiler is at work from 30 to 45: 10 before the call, 2 in it, 3 after it; it comes before all other causes. */
TEST(profiler_overhead)
{
    draw_gap(40);
    draw_call("cudaMalloc", 1, 20, 20, 3);
    draw_event("overhead", "Activity Buffer Request", -1, 0, 30, 15);
    answer();
    assert_part(GAP_PROFILER, 15);
    assert_part(GAP_ALLOCATION, 10);
    assert_part(GAP_LAUNCH_CALL, 0);
    assert_part(GAP_LAUNCH_LATENCY, 5);

    /* A full queue is no work of the profiler. */
    draw_gap(40);
    draw_call("cudaMalloc", 1, 20, 20, 3);
    draw_event("overhead", "Command Buffer Full", -1, 0, 30, 15);
    answer();
    assert_part(GAP_PROFILER, 0);
    assert_part(GAP_ALLOCATION, 20);
}

TEST(a_launch_that_is_not_in_the_file_is_unknown)
{
    draw_work("kernel", "a", 0, 7, 10, 10, 1);
    draw_work("kernel", "b", 0, 7, 50, 10, 2);
    answer();
    assert_one_gap(30, GAP_UNKNOWN);
    assert_int_equal(gaps->at[0].call, EVENT_NONE);
}

/* Pages of unified memory have no call: they move as the host touches them, 20-50, or the kernel that runs. */
TEST(pages_of_unified_memory_wait_for_the_host)
{
    draw_kernel("a", 0, 5, 10, 10, 1);
    draw_work("gpu_memcpy", "Memcpy HtoD (Unified memory)", 0, 9, 12, 3, DRAW_NO_CALL);
    draw_work("gpu_memcpy", "Memcpy DtoH (Unified memory)", 0, 9, 50, 10, DRAW_NO_CALL);
    answer();
    assert_one_gap(30, GAP_HOST);
    assert_int_equal(gaps->at[0].call, EVENT_NONE);
    const struct page_moves *moves = page_moves_of(drawn());
    assert_int_equal(intervals_length(&moves->by_host[0]), 10);
    assert_int_equal(intervals_length(&moves->by_kernels[0]), 3);
}

/* By the clocks' skew the call seems to begin at 55, after its kernel did at 50. */
TEST(a_call_after_its_kernel)
{
    draw_gap(55);
    draw_call("cudaMalloc", 1, 20, 16, 3);
    answer();
    assert_part(GAP_ALLOCATION, 16);
    assert_part(GAP_HOST, 14);
}

/*
 *              0    10   20   30   40   50   60
 *   device 0 stream 0   [ a  )[ b )                10..20, 20..30: they touch
 *            stream 7        [ c      )            15..35
 *            stream 0                 [d) |        40..45, a memset of no time at 50, k 60..65
 *   device 1 stream 0         [ e )     [ f )      20..30, 42..50
 *
 * Device 0: 35..40, 45..50, 50..60. Device 1: 30..42.
 */
TEST(streams_devices_and_empty_work)
{
    draw_work("kernel", "a", 0, 0, 10, 10, DRAW_NO_CALL);
    draw_work("kernel", "b", 0, 0, 20, 10, DRAW_NO_CALL);
    draw_work("kernel", "c", 0, 7, 15, 20, DRAW_NO_CALL);
    draw_work("kernel", "d", 0, 0, 40, 5, DRAW_NO_CALL);
    draw_work("gpu_memset", "Memset (Device)", 0, 0, 50, 0, DRAW_NO_CALL);
    draw_work("kernel", "k", 0, 0, 60, 5, DRAW_NO_CALL);
    draw_work("kernel", "e", 1, 0, 20, 10, DRAW_NO_CALL);
    draw_work("kernel", "f", 1, 0, 42, 8, DRAW_NO_CALL);
    answer();
    static const int64_t starts[] = { 30, 50, 35, 45 }, ends[] = { 42, 60, 40, 50 };
    assert_int_equal(gaps->count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(gaps->at[i].start_ns, starts[i]);
        assert_int_equal(gaps->at[i].end_ns, ends[i]);
        assert_int_equal(gaps->at[i].device, i == 0);
    }
    assert_string_equal(trace_name(drawn(), gaps->at[1].before), "Memset (Device)");
    assert_int_equal(gaps->cause_count, 2);
    assert_int_equal(gaps->causes[0].time_ns, 20);
    assert_int_equal(gaps->causes[1].time_ns, 12);
    assert_int_equal(gaps->causes[1].key.device, 1);

    /* Stream by stream, stream 0 of device 0 is idle 30..40 too; stream 7 never. */
    answer_by((struct selection_query){ .devices = { { { 0, 0 } }, 1 } }, BY(STREAM),
              (struct gaps_options){ 0 });
    assert_int_equal(gaps->cause_count, 1);
    assert_int_equal(gaps->causes[0].time_ns, 10 + 5 + 10);
    assert_int_equal(gaps->causes[0].key.stream, 0);
}

/* Work is chosen by its launch: a's at 0 and b's at 40. With both the gap 20..50 counts, whole; with one there is none. */
TEST(a_range_chooses_by_the_launch)
{
    draw_gap(40);
    answer_with((struct selection_query){ .range = "0..41ns" }, (struct gaps_options){ 0 });
    assert_int_equal(gaps->idle_ns, 30);
    answer_with((struct selection_query){ .range = "0..40ns" }, (struct gaps_options){ 0 });
    assert_int_equal(gaps->idle_ns, 0);
    answer_with((struct selection_query){ .range = "45ns..70ns" }, (struct gaps_options){ 0 });
    assert_int_equal(gaps->idle_ns, 0);
}

/*
 * A graph launched by one call at 5..8: 502 kernels of 10, each 1 after the one before; and a launch without a
 * kernel. */
TEST(one_launch_of_502_kernels)
{
    draw_call("cudaGraphLaunch", 1, 5, 3, 1);
    draw_call("cudaLaunchKernel", 1, 9, 3, 2);
    for (int64_t i = 0; i < 502; i++)
        draw_work("kernel", "node", 0, 7, 10 + 11 * i, 10, 1);
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .min_ns = 2, .latency_below_ns = 10 });
    assert_int_equal(gaps->count, 0);
    assert_int_equal(gaps->cause_count, 1);
    assert_int_equal(gaps->causes[0].cause, GAP_GRAPH);
    assert_int_equal(gaps->causes[0].count, 501);
    assert_int_equal(gaps->short_count, 501);
    assert_int_equal(gaps->short_ns, 501);
}

/* Gaps of 1, 2 and 3: with two the longest two are listed, and it is known that there are three. */
TEST(the_longest_are_listed)
{
    draw_work("kernel", "a", 0, 7, 0, 10, DRAW_NO_CALL);
    draw_work("kernel", "b", 0, 7, 11, 10, DRAW_NO_CALL);
    draw_work("kernel", "c", 0, 7, 23, 10, DRAW_NO_CALL);
    draw_work("kernel", "d", 0, 7, 36, 10, DRAW_NO_CALL);
    answer_with((struct selection_query){ 0 }, (struct gaps_options){ .most_gaps = 2 });
    assert_int_equal(gaps->count, 2);
    assert_int_equal(gaps->listed, 3);
    assert_int_equal(gaps->at[0].end_ns - gaps->at[0].start_ns, 3);
    assert_int_equal(gaps->at[1].end_ns - gaps->at[1].start_ns, 2);
    struct table *table = gaps_table(gaps);
    assert_int_equal(table->row_count, 2);
    assert_int_equal(table->total_rows, 3);
    table_free(table);
}

/* Gaps of 1 to 3001, each once, mixed: far more than are listed. */
TEST(of_many_gaps_the_longest_are_listed)
{
    enum { MANY = 3001 };
    static const int64_t most[] = { 3, 999, 1000, 1200, 1500, 3000 };
    int64_t at_ns = 0;
    for (int64_t i = 0; i <= MANY; i++) {
        draw_work("kernel", "k", 0, 7, at_ns, 1, DRAW_NO_CALL);
        at_ns += 1 + 1 + i * 1999 % MANY;
    }
    for (size_t m = 0; m < sizeof most / sizeof *most; m++) {
        answer_with((struct selection_query){ 0 }, (struct gaps_options){ .most_gaps = (size_t)most[m] });
        assert_int_equal(gaps->count, most[m]);
        assert_int_equal(gaps->listed, MANY);
        for (int64_t i = 0; i < most[m]; i++)
            assert_int_equal(gaps->at[i].end_ns - gaps->at[i].start_ns, MANY - i);
    }
    gaps = NULL;
}

/* What is asked in the usual way is kept with the trace: the causes alone, and then with the longest gaps. */
TEST(usual_gaps_are_found_once)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 60000);
    draw_call("cudaLaunchKernel", 1, 50000, 10, 1);
    draw_work("kernel", "a", 0, 7, 0, 10, DRAW_NO_CALL);
    draw_work("kernel", "b", 0, 7, 60010, 10, 1);
    draw_work("kernel", "c", 0, 7, 80020, 10, DRAW_NO_CALL);
    struct gaps_options options = gaps_defaults;
    options.only_causes = true;
    answer_with((struct selection_query){ 0 }, options);
    const struct gaps *causes = gaps;
    options = gaps_defaults;
    options.most_gaps = 1;
    answer_with((struct selection_query){ 0 }, options);
    assert_ptr_equal(gaps->causes, causes->causes);
    assert_int_equal(gaps->count, 1);
    assert_int_equal(gaps->listed, 2);
    assert_int_equal(gaps->at[0].end_ns, 60010);
    assert_string_equal(NAME_OF(meanwhile), "aten::mm");
}

/*
 *              0    10   20   30   40   50
 *   stream 7   [ k )     [ k )     [ k )[ k )     launched by mm in step 1, mm, add, on threads 1, 1, 2; gaps of 10, 10
 */
TEST(causes_are_summed_up_by_operator_step_and_thread)
{
    static const struct {
        unsigned by;
        size_t groups;
        int64_t first_ns;
    } cases[] = { { BY(DEVICE), 1, 20 }, { BY(OP), 2, 10 },   { BY(STEP), 2, 10 },
                  { BY(THREAD), 2, 10 }, { BY(RANK), 1, 20 }, { BY(OP) | BY(DEVICE), 2, 10 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        draw_step(1, 0, 25);
        draw_host("cpu_op", "aten::mm", 1, 0, 20);
        draw_host("cpu_op", "aten::add", 2, 29, 20);
        draw_call("cudaLaunchKernel", 1, 0, 1, 1);
        draw_call("cudaLaunchKernel", 1, 9, 0, 2);
        draw_call("cudaLaunchKernel", 2, 29, 0, 3);
        draw_work("kernel", "k", 0, 7, 0, 10, 1);
        draw_work("kernel", "k", 0, 7, 20, 10, 2);
        draw_work("kernel", "k", 0, 7, 40, 10, 3);
        answer_by((struct selection_query){ 0 }, cases[i].by, (struct gaps_options){ 0 });
        assert_int_equal(gaps->cause_count, cases[i].groups); /* all of it is "queued" */
        assert_int_equal(gaps->causes[0].time_ns, cases[i].first_ns);
        assert_float_equal(gaps->causes[0].share, 1.0, 1e-12);
        assert_int_equal(gaps->idle_ns, 20);
        if (cases[i].by & BY(OP))
            assert_string_equal(gaps->causes[0].key.op.at, "aten::mm");
        if (cases[i].by == BY(STEP))
            assert_int_equal(gaps->causes[1].key.step, TABLE_INT_MISSING); /* the other is in no step */
    }
}

/* One cause has one colour on all pages: what has no name of its own, as in "idle: other causes", is pale. */
TEST(each_cause_has_a_color_of_its_own)
{
    size_t uses[CHART_COLORS] = { 0 };
    for (size_t i = 0; i < GAP_CAUSES; i++)
        assert_int_equal(uses[gap_causes[i].color]++, 0);
    assert_int_equal(gap_causes[GAP_UNKNOWN].color, CHART_COLOR_OF_IDLE);
    assert_int_equal(gap_causes[GAP_HOST].color, CHART_COLOR_OF_HOST);
    assert_int_equal(gap_causes[GAP_SYNCHRONIZATION].color, CHART_COLOR_OF_WAITING);
}
