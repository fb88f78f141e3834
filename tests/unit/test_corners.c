/*
 * test_corners.c - small traces full of corners, and what each question makes of them. Most ask about this one:
 *
 *                        0         20        40        60        80        100       120 ...
 *   thread 1             [ aten::x        )[ -------- the rest of ProfilerStep#1, to 2000 ---------
 *     calls              1  2   3  4                5  6 [ 7                )  [8  )
 *   device 0, stream 0         [ a       )[ -- )[ a   )                              a: 10..30 and 50..60
 *   device 0, stream 7              [ b          )    |z                 [g[g[g ...  b: 20..50; z: at 60, of no time
 *   device 1, stream 7                       [ b            )[ copy    )            b: 40..70; copy: 70..90
 *
 * Streams 0 and 7 of device 0 overlap at 20..30; the second a touches the end of b, z that of a; stream 7 is there twice. Call 5
 * begins at 45, after its kernel (b of device 1, at 40): the clocks differ. Call 6 launches a function of the host, so that no
 * work is lost. Call 7, 60..92, copies pageable memory. Call 8, 100..110, launches a graph of 502 kernels g of 2 each, 4 apart: the
 * last ends at 120 + 501 * 4 + 2 = 2126.
 */

#include "analyze/comm.h"
#include "analyze/gaps.h"
#include "analyze/gpu.h"
#include "analyze/kernels.h"
#include "analyze/registry.h"
#include "analyze/launches.h"
#include "memory/memory.h"
#include "analyze/modules.h"
#include "analyze/steps.h"
#include "analyze/transfers.h"
#include "tests/unit/drawn.h"

static const struct selection *selection;
static struct result *result;

static void draw_corners(struct selection_query query)
{
    struct trace_wants wants = { .args = gpu_wants.args | gaps_wants.args | kernels_wants.args |
                                         launches_wants.args | transfers_wants.args | steps_wants.args |
                                         comm_wants.args | memory_wants.args };
    draw_begin(&wants);
    draw_step(1, 0, 2000);
    draw_host("cpu_op", "aten::x", 1, 0, 20);
    draw_call("cudaLaunchKernel", 1, 0, 5, 1);
    draw_call("cudaLaunchKernel", 1, 6, 3, 2);
    draw_call("cudaLaunchKernel", 1, 10, 3, 3);
    draw_call("cudaLaunchKernel", 1, 14, 2, 4);
    draw_call("cudaLaunchKernel", 1, 45, 3, 5);
    draw_call("cudaLaunchHostFunc", 1, 50, 2, 6);
    draw_call("cudaMemcpyAsync", 1, 60, 32, 7);
    draw_call("cudaGraphLaunch", 1, 100, 10, 8);
    draw_work("kernel", "a", 0, 0, 10, 20, 1);
    draw_work("kernel", "b", 0, 7, 20, 30, 2);
    draw_work("kernel", "a", 0, 0, 50, 10, 3);
    draw_work("kernel", "z", 0, 7, 60, 0, 4);
    draw_work("kernel", "b", 1, 7, 40, 30, 5);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 1, 7, 70, 20, 7);
    draw_arg(ARG_BYTES, 40);
    for (int64_t i = 0; i < 502; i++)
        draw_work("kernel", "g", 0, 7, 120 + 4 * i, 2, 8);
    selection = scratch_selection(drawn(), query);
    result = scratch_result(result_open("tpa.corners/1"));
}

/* The row in which the column KEY holds VALUE. */
static size_t row_with(const struct table *table, const char *key, int64_t value)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (int_called(table, row, key) == value)
            return row;
    fail_msg("no row whose %s is %d", key, (int)value);
    return 0;
}

static size_t row_named(const struct table *table, const char *key, const char *text)
{
    for (size_t row = 0; row < table->row_count; row++)
        if (text_called(table, row, key) && strcmp(text_called(table, row, key), text) == 0)
            return row;
    fail_msg("no row whose %s is %s", key, text);
    return 0;
}

/*
 * Device 0: span 10..2126, busy 10..60 and 502 times 2; idle 60 (60..120) and 501 times 2; the gap before z has no length.
 * Kernel durations 20 + 30 + 10 + 0 + 1004. Device 1 works all of 40..90; b and the copy touch, so the copy is exposed.
 */
TEST(devices_share_no_stream)
{
    draw_corners((struct selection_query){ 0 });
    ask_analysis(&analysis_gpu, drawn(), selection, BY(DEVICE), result);
    const struct table *devices = table_called(result, "devices");
    assert_int_equal(devices->row_count, 2);
    size_t row = row_with(devices, "device", 0);
    assert_row(devices, row,
               "span=2116, busy=1054, computation=1054, idle=1062, gaps=502, "
               "longest_gap=60, kernels=506, kernel_sum=1064");
    assert_string_equal(text_called(devices, row, "streams"), "0, 7");
    row = row_with(devices, "device", 1);
    assert_row(devices, row, "span=50, computation=30, exposed_memcpy=20, idle=0, gaps=0");
}

/*
 * Stream 0 of device 0: 10..60, busy 30, idle 30..50. Stream 7 of device 0: 20..2126, busy 30 + 0 + 1004; idle 50..60,
 * 60..120, and 501 times 2. Stream 7 of device 1 has no gap.
 */
TEST(streams_are_distinguished_by_device)
{
    draw_corners((struct selection_query){ 0 });
    ask_analysis(&analysis_gpu, drawn(), selection, BY(STREAM), result);
    const struct table *streams = table_called(result, "devices");
    assert_int_equal(streams->row_count, 3);
    size_t row = row_with(streams, "stream", 0);
    assert_row(streams, row, "span=50, busy=30, idle=20");
    row = row_with(streams, "span", 2106);
    assert_row(streams, row, "stream=7, device=0, busy=1034, idle=1072, gaps=503");
    row = row_with(streams, "device", 1);
    assert_row(streams, row, "stream=7, idle=0");
}

/*
 * As device 0 ran dry at 60 the thread went into the blocking copy, to 92, and launched the graph by a call of 100..110; it
 * began at 120. The 501 gaps of 2 lie within the graph.
 */
TEST(gaps_are_split_by_what_the_host_did)
{
    draw_corners((struct selection_query){ 0 });
    const struct gaps *gaps = scratch(gaps_analyze(drawn(), selection, BY(DEVICE), &gaps_defaults));
    assert_int_equal(gaps->part_ns[GAP_SYNCHRONIZATION], 32);
    assert_int_equal(gaps->part_ns[GAP_HOST], 8);
    assert_int_equal(gaps->part_ns[GAP_LAUNCH_CALL], 10);
    assert_int_equal(gaps->part_ns[GAP_LAUNCH_LATENCY], 10);
    assert_int_equal(gaps->part_ns[GAP_GRAPH], 1002);
    assert_int_equal(gaps->idle_ns, 1062);
}

/* In 65..123 the graph was launched, of whose 502 kernels most run later: 120..2126, of which 2 in 4 are idle. */
TEST(a_range_may_end_before_the_work_that_was_launched)
{
    draw_corners(
        (struct selection_query){ .range = "65ns..123ns", .devices = { .at = { { 0, 0 } }, .count = 1 } });
    ask_analysis(&analysis_gpu, drawn(), selection, BY(DEVICE), result);
    const struct gaps *gaps = scratch(gaps_analyze(drawn(), selection, BY(DEVICE), &gaps_defaults));
    assert_int_equal(gaps->idle_ns, 1002);
    const struct table *devices = table_called(result, "devices");
    assert_int_equal(devices->row_count, 1);
    assert_row(devices, 0, "span=2006, busy=1004, idle=1002, gaps=501");
}

/* b ran on both devices, 30 each; z took no time and counts. By stream, streams 7 are two rows of b. */
TEST(kernels_count_whatever_their_length_and_place)
{
    draw_corners((struct selection_query){ 0 });
    ask_analysis(&analysis_kernels, drawn(), selection, 0, result);
    const struct table *kernels = table_called(result, "kernels");
    assert_int_equal(kernels->row_count, 4);
    assert_row(kernels, 0, "name=g, count=502, total=1004");
    size_t a = row_named(kernels, "name", "a"), b = row_named(kernels, "name", "b"),
           z = row_named(kernels, "name", "z");
    assert_row(kernels, a, "total=30, average=15");
    assert_row(kernels, b, "count=2, total=60");
    assert_row(kernels, z, "count=1, total=0");

    draw_corners((struct selection_query){ 0 });
    ask_analysis(&analysis_kernels, drawn(), selection, BY(STREAM), result);
    kernels = table_called(result, "kernels");
    assert_int_equal(kernels->row_count, 5); /* a; b, z and g of device 0; b of device 1 */
    size_t of_b = 0;
    for (size_t row = 0; row < kernels->row_count; row++)
        if (strcmp(text_called(kernels, row, "name"), "b") == 0) {
            assert_row(kernels, row, "stream=7, total=30");
            of_b++;
        }
    assert_int_equal(of_b, 2);
}

/*
 * Launches of b: that of device 0 waited 20 - 9 = 11; that of device 1 began before its call ended: nothing queued. The
 * graph is one launch of 502 works, its queue time 120 - 110; the call without work is there.
 */
TEST(launches_with_none_one_and_502_kernels)
{
    draw_corners((struct selection_query){ 0 });
    ask_analysis(&analysis_launches, drawn(), selection, LAUNCHES_BY_DEFAULT, result);
    const struct table *launches = table_called(result, "launches");
    size_t b = row_named(launches, "kernel", "b"),
           none = row_named(launches, "kernel", "(no work in the file)");
    assert_row(launches, b, "count=2, queue_time=11, kernel_time=60");
    assert_row(launches, none, "count=1, call_time=2");
    size_t graph = row_named(launches, "call", "cudaGraphLaunch");
    assert_row(launches, graph, "count=1, queue_time=10, kernel_time=1004");
    const struct table *queues = table_called(result, "queues");
    assert_int_equal(queues->row_count, 3); /* streams 0 and 7 of device 0, 7 of device 1 */
}

/* The copy runs on device 1 after b, at whose end it begins: all of its 20 are exposed; the host sat in the call for 32. */
TEST(a_copy_that_touches_a_kernel_is_exposed)
{
    draw_corners((struct selection_query){ 0 });
    ask_analysis(&analysis_transfers, drawn(), selection, TRANSFERS_BY_DEFAULT, result);
    const struct table *transfers = table_called(result, "transfers");
    assert_int_equal(transfers->row_count, 1);
    assert_row(transfers, 0, "device=1, bytes=40, time=20, exposed=20, blocked=32, bandwidth=2");
}

/*
 * The step lasts from 0 to 2126, the end of the last kernel it launched. Kernels of both devices: 10..70 and 1004; the
 * copy: 70..90; calls beside them: 0..5, 6..9, 90..92, 100..110; aten::x beside those: 5..6, 9..10; the rest is other.
 */
TEST(a_step_is_the_sum_of_its_parts)
{
    draw_corners((struct selection_query){ 0 });
    ask_analysis(&analysis_steps, drawn(), selection, BY(STEP), result);
    const struct table *steps = table_called(result, "steps");
    assert_int_equal(steps->row_count, 1);
    assert_row(steps, 0,
               "duration=2126, kernel=1064, memcpy=20, memset=0, communication=0, runtime=20, "
               "data_loading=0, cpu=2, other=1020");
    assert_int_equal(int_called(steps, 0, "gpu_events"), 508); /* a, b, a, z, b, the copy and 502 times g */
}

/* Nothing communicates and no allocator was recorded: empty tables, no guesses. */
TEST(what_is_not_there_gives_no_rows)
{
    draw_corners((struct selection_query){ 0 });
    ask_analysis(&analysis_comm, drawn(), selection, COMM_BY_DEFAULT, result);
    assert_int_equal(table_called(result, "collectives")->row_count, 0);
    size_t count = result->tables.count;
    memory_add_tables(drawn(), selection, &(struct memory_options){ 0 }, result);
    assert_int_equal(result->tables.count, count); /* `tpa memory` adds no empty table */
}

/* ---- collectives ---- */

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

/*
 *                       0    10   20   30   40   50   60
 *   thread 1            1  2  3  4  5                 6          launches; that of C at 12, after it began; 6: of nothing
 *   device 0, stream 0       [ add)[ A       )[add)              10..20, 20..40, 40..45: touching
 *   device 0, stream 7          [ B       )                      15..35: over both
 *   device 0, stream 9                            |z             at 50, of no time
 *   device 1, stream 7       [ C       )                         10..30
 *
 * Exposed are all 20 of A, 15 of B, all 20 of C. On device 0 something communicates 15..40, and alone 20..40.
 */
static void draw_collectives(void)
{
    draw_begin(&comm_wants);
    draw_call("cudaLaunchKernel", 1, 0, 2, 1);
    draw_call("cudaLaunchKernel", 1, 3, 2, 2);
    draw_call("cudaLaunchKernel", 1, 6, 2, 3);
    draw_call("cudaLaunchKernel", 1, 9, 2, 4);
    draw_call("cudaLaunchKernel", 1, 12, 2, 5);
    draw_call("cudaLaunchKernel", 1, 60, 2, 6);
    draw_work("kernel", "add", 0, 0, 10, 10, 1);
    draw_work("kernel", ALL_REDUCE, 0, 0, 20, 20, 2);
    draw_work("kernel", "add", 0, 0, 40, 5, 3);
    draw_work("kernel", ALL_REDUCE, 0, 7, 15, 20, 4);
    draw_work("kernel", ALL_REDUCE, 0, 9, 50, 0, DRAW_NO_CALL);
    draw_work("kernel", ALL_REDUCE, 1, 7, 10, 20, 5);
}

TEST(collectives_overlap_touch_and_take_no_time)
{
    static const int64_t rows[4][4] = {
        { 0, 0, 20, 20 }, { 0, 7, 20, 15 }, { 0, 9, 0, 0 }, { 1, 7, 20, 20 }
    };
    draw_collectives();
    selection = selection_all(drawn());
    result = scratch_result(result_open("tpa.corners/1"));
    ask_analysis(&analysis_comm, drawn(), selection, BY(DEVICE) | BY(STREAM), result);
    const struct table *collectives = table_called(result, "collectives");
    assert_int_equal(collectives->row_count, 4);
    for (size_t i = 0; i < 4; i++) {
        size_t row = 0;
        while (int_called(collectives, row, "device") != rows[i][0] ||
               int_called(collectives, row, "stream") != rows[i][1])
            row++;
        assert_int_equal(int_called(collectives, row, "count"), 1);
        assert_int_equal(int_called(collectives, row, "time"), rows[i][2]);
        assert_int_equal(int_called(collectives, row, "exposed"), rows[i][3]);
    }
    assert_int_equal(collectives->footers.at[0].value.i, 25 + 20); /* communication */
    assert_int_equal(collectives->footers.at[1].value.i, 20 + 20); /* of it exposed */
    ask_analysis(&analysis_gpu, drawn(), selection, BY(DEVICE), result);
    const struct table *devices = table_called(result, "devices");
    for (size_t row = 0; row < 2; row++) {
        bool first = int_called(devices, row, "device") == 0;
        assert_int_equal(int_called(devices, row, "communication"), first ? 25 : 20);
        assert_int_equal(int_called(devices, row, "exposed_communication"), 20);
    }
}

/* ---- modules ---- */

/*
 *                       0    10   20   30   40   50   60   70   80   90   100 ...
 *   thread 1            [ A                      )[ C           )         A 0..50; C 50..80: touching
 *                                 |B                                      B at 20, of no time, in A
 *     calls              1             2          3    4                  4 launched nothing
 *   device 0, stream 0   [ a )                                            3..13: before call 1 at 5
 *   device 0, stream 7                                       [u )[g[g[g   u 90..95: no call; g: 502 of 2, by call 2
 *   device 1, stream 7                                 [ c )              60..70, by call 3, which begins as A ends
 */
TEST(modules_have_the_work_of_their_calls)
{
    static const struct {
        const char *name;
        int64_t calls, cpu, device, operations;
    } rows[] = { { "A_0", 1, 50, 10 + 1004, 503 },
                 { "B_0", 1, 0, 0, 0 },
                 { "C_0", 1, 30, 10, 1 },
                 { "(outside any module)", TABLE_INT_MISSING, 0, 5, 1 } };
    draw_begin(&modules_wants);
    draw_host("python_function", "nn.Module: A_0", 1, 0, 50);
    draw_host("python_function", "nn.Module: B_0", 1, 20, 0);
    draw_host("python_function", "nn.Module: C_0", 1, 50, 30);
    draw_call("cudaLaunchKernel", 1, 5, 5, 1);
    draw_call("cudaGraphLaunch", 1, 30, 5, 2);
    draw_call("cudaLaunchKernel", 1, 50, 5, 3);
    draw_call("cudaLaunchKernel", 1, 60, 2, 4);
    draw_work("kernel", "a", 0, 0, 3, 10, 1);
    draw_work("kernel", "u", 0, 7, 90, 5, DRAW_NO_CALL);
    for (int64_t i = 0; i < 502; i++)
        draw_work("kernel", "g", 0, 7, 100 + 4 * i, 2, 2);
    draw_work("kernel", "c", 1, 7, 60, 10, 3);
    selection = selection_all(drawn());
    result = scratch_result(result_open("tpa.corners/1"));
    assert_true(modules_add_table(drawn(), selection, &(struct modules_options){ 0 }, result, NULL));
    const struct table *modules = table_called(result, "modules");
    assert_int_equal(modules->row_count, 4);
    for (size_t i = 0; i < 4; i++) {
        size_t row = row_named(modules, "name", rows[i].name);
        assert_int_equal(int_called(modules, row, "count"), rows[i].calls);
        assert_int_equal(int_called(modules, row, "cpu_total"), rows[i].cpu);
        assert_int_equal(int_called(modules, row, "device_total"), rows[i].device);
        assert_int_equal(int_called(modules, row, "works"), rows[i].operations);
    }
    assert_int_equal(modules->footers.at[0].value.i, 80);
    assert_int_equal(modules->footers.at[1].value.i, 1014 + 10 + 5);
}

/* ---- memory ---- */

/*
 *             0    10   20   30   40   50   60   70   80   90   100
 *   host      [ ProfilerStep#1         )[ ProfilerStep#2         )
 *                  [ mm )[ add)
 *   cuda:0         A    B    C          -A,D  Z                  -D
 *   cuda:1                        E
 *
 * A, at the begin of mm, is mm's; B, where mm ends and add begins, add's; C, at the end of add, nobody's. A goes and D comes
 * at the moment at which step 2 begins, so both are of step 2; D goes as it ends: in no step. Z has no size. E has
 * the address of A. In use: 100, 150, 160 (the peak), then 60, 160 again, and 60 at the end.
 */
TEST(moments_at_the_edges_of_steps_and_operators)
{
    static const struct {
        const char *step;
        int64_t allocated, freed;
    } sums[] = { { "ProfilerStep#1", 160, 0 },
                 { "ProfilerStep#2", 100, 100 },
                 { "(outside steps)", 0, 100 } };
    draw_begin(&memory_wants);
    draw_step(1, 0, 50);
    draw_step(2, 50, 50);
    draw_host("cpu_op", "aten::mm", 1, 10, 10);
    draw_host("cpu_op", "aten::add", 1, 20, 10);
    draw_memory(10, 1, 0, 0xA00, 100, 100);
    draw_memory(20, 1, 0, 0xB00, 50, 150);
    draw_memory(30, 1, 0, 0xC00, 10, 160);
    draw_memory(40, 1, 1, 0xA00, 7, 7);
    draw_memory(50, 1, 0, 0xA00, -100, 60);
    draw_memory(50, 1, 0, 0xD00, 100, 160);
    draw_memory(60, 1, 0, 0xF00, 0, 160);
    draw_memory(100, 1, 0, 0xD00, -100, 60);
    selection = selection_all(drawn());
    result = scratch_result(result_open("tpa.corners/1"));
    memory_add_tables(drawn(), selection, &(struct memory_options){ 0 }, result);
    const struct table *memory = table_called(result, "memory"), *steps = table_called(result, "steps"),
                       *operators = table_called(result, "operators"),
                       *unfreed = table_called(result, "unfreed");
    size_t device = row_named(memory, "device", "cuda:0");
    static const struct {
        const char *key;
        int64_t value;
    } figures[] = { { "peak_allocated", 160 }, { "peak_time", 30 },  { "start", 0 }, { "end", 60 },
                    { "allocations", 4 },      { "allocated", 260 }, { "frees", 2 }, { "freed", 200 } };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assert_int_equal(int_called(memory, device, figures[i].key), figures[i].value);
    assert_int_equal(int_called(operators, row_named(operators, "operator", "aten::mm"), "self_allocated"),
                     100);
    assert_int_equal(int_called(operators, row_named(operators, "operator", "aten::add"), "self_allocated"),
                     50);
    for (size_t row = 0; row < steps->row_count; row++) {
        if (strcmp(text_called(steps, row, "device"), "cuda:0") != 0)
            continue;
        bool first = int_called(steps, row, "step") == 1;
        assert_int_equal(int_called(steps, row, "start"), first ? 0 : 160);
        assert_int_equal(int_called(steps, row, "peak"), 160);
        assert_int_equal(int_called(steps, row, "growth"), first ? 160 : 0);
    }
    assert_int_equal(unfreed->row_count, 3); /* B and C; E, which nothing on its own device ends */
    assert_int_equal(int_called(unfreed, row_named(unfreed, "device", "cuda:1"), "bytes"), 7);

    result = scratch_result(result_open("tpa.corners/1"));
    memory_add_tables(drawn(), selection, &(struct memory_options){ .by = MEMORY_BY_STEP }, result);
    const struct table *apart = table_called(result, "allocations");
    for (size_t i = 0; i < 3; i++)
        for (size_t row = 0; row < apart->row_count; row++)
            if (strcmp(text_called(apart, row, "device"), "cuda:0") == 0 &&
                strcmp(text_called(apart, row, "step"), sums[i].step) == 0) {
                assert_int_equal(int_called(apart, row, "allocated"), sums[i].allocated);
                assert_int_equal(int_called(apart, row, "freed"), sums[i].freed);
            }
    assert_int_equal(apart->row_count, 4); /* three of cuda:0, E of cuda:1 */
}
