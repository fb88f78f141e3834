/* Tests of replay/edits and replay/whatif: what each edit changes, and what that gains, worked out by hand. */

#include "whatif/whatif.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &(const struct trace_wants){ .args = EDIT_WANTS };

enum { MS = 1000000 };

/* EDIT applied to the drawing, WHOLE or a step of it; fails when the edit does not fit. */
static struct whatif *whatif_of(struct edit edit, bool whole)
{
    if (edit.pattern && !edit.pattern_len)
        edit.pattern_len = strlen(edit.pattern);
    struct whatif *whatif = scratch(whatif_open(replay_graph_of(drawn()), &edit, 1, whole, NULL));
    assert_non_null(whatif);
    return whatif;
}

static int64_t then_with(struct edit edit, bool whole)
{
    return whatif_of(edit, whole)->steps->then_ns;
}

/* The same with an edit that is its kind alone. */
static int64_t then_of(enum edit_kind kind, bool whole)
{
    return then_with((struct edit){ .kind = kind }, whole);
}

static struct edit scaled(const char *text)
{
    struct edit edit;
    assert_true(edit_parse_scale(text, &edit, NULL));
    return edit;
}

static int64_t then_scaled(const char *text)
{
    return then_with(scaled(text), true);
}

static int64_t step_scaled(const char *text)
{
    return then_with(scaled(text), false);
}

/*
 * In ms. A step is 100: 40 of loading, 10 of forward, and a wait for a kernel of 45 that is launched at 45 of the step.
 *
 *     thread   [ loading 0-40 ][forward 40-50      ][item 50-100: cudaMemcpyAsync 52-98  ]
 *                               [launch 45-46]
 *     stream                        [gemm 50-95                             ][copy 95-97 ]
 */
static void draw_full_step(int64_t step)
{
    int64_t at = 100 * MS * step;
    draw_host("user_annotation", step ? "ProfilerStep#1" : "ProfilerStep#0", 1, at, 100 * MS);
    draw_host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, at,
              40 * MS);
    draw_host("cpu_op", "aten::stack", 1, at, 40 * MS);
    draw_host("cpu_op", "forward", 1, at + 40 * MS, 10 * MS);
    draw_kernel("gemm", at + 45 * MS, 1 * MS, at + 50 * MS, 45 * MS, 10 * step + 1);
    draw_host("cpu_op", "aten::item", 1, at + 50 * MS, 50 * MS);
    draw_call("cudaMemcpyAsync", 1, at + 52 * MS, 46 * MS, 10 * step + 2);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, at + 95 * MS, 2 * MS, 10 * step + 2);
}

static void draw_steps(void)
{
    draw_full_step(0);
    draw_full_step(1);
}

/*
 * Twice the batch: loading 80, forward 10 as recorded, the kernel from 90 on. It takes 45 at least, as nothing says that it fills the
 * device, and the copy 2: the call ends 1 later at 138, the operator at 140. At most 90 and 4: 180, 184, 185, 187.
 */
TEST(a_larger_batch_is_a_range)
{
    draw_steps();
    struct whatif *whatif = whatif_of((struct edit){ .kind = EDIT_BATCH, .factor = 2 }, false);
    assert_int_equal(whatif->batch, 2);
    assert_int_equal(whatif->then_low_ns, 140 * MS);
    assert_int_equal(whatif->then_high_ns, 187 * MS);
    assert_in_range(whatif->steps->then_ns, 141 * MS, 186 * MS);
}

TEST(a_step_takes_from_begin_to_begin)
{
    draw_steps();
    /* Without loading, the step is the other 60. */
    assert_int_equal(then_of(EDIT_NO_DATA_WAIT, false), 60 * MS);
    /*
     * Nobody waits for the kernel: loading and forward, 50, then the operator without its call, 2 and 2. The kernel of the
     * second step is launched at 54 + 45, when the first, 50 to 95, is over.
     */
    assert_int_equal(then_with((struct edit){ .kind = EDIT_NO_SYNC, .pattern = "aten::item" }, false),
                     54 * MS);
    assert_int_equal(then_with((struct edit){ .kind = EDIT_NO_SYNC, .pattern = "Memcpy" }, false), 54 * MS);
    /* The copy of results to the host is not one that pinned memory would free. */
    assert_int_equal(then_of(EDIT_PINNED_COPIES, false), 100 * MS);
}

/*
 * In ms. One step: the host takes 100 and waits for nothing; two kernels of 30 are launched at 10 and 50. Ten times faster, the
 * host is through after 10, but the device is busy for 60 in each step.
 *
 *     thread   [ forward 0-100: launch 10-11, launch 50-51 ]
 *     stream         [gemm 12-42]    [gemm 52-82]
 */
TEST(a_single_step_takes_no_less_than_its_devices)
{
    draw_step(0, 0, 100 * MS);
    draw_host("cpu_op", "forward", 1, 0, 100 * MS);
    draw_kernel("gemm", 10 * MS, 1 * MS, 12 * MS, 30 * MS, 1);
    draw_kernel("gemm", 50 * MS, 1 * MS, 52 * MS, 30 * MS, 2);
    assert_int_equal(step_scaled("op:forward=0.1"), 60 * MS);
}

/*
 * In us. The only step begins with a wait for work from before the recording, and its own work ends after it:
 *
 *     thread   [ step 0-1000: cudaDeviceSynchronize 0-400, ten launches of 10 from 450 on, 50 apart ]
 *     stream   [ gemm before 0-400 ]                           [ten kernels of 70, 462-1162]
 *
 * The next step waits for these kernels, not for 400: from the end of one wait to the next 50 to the launch, 12 to the first kernel and
 * 700 of kernels. Seven eighths of these are 612.5. Without any, the host takes its 600 and 20 for a call that waits for nothing.
 */
TEST(a_wait_for_what_came_before_is_of_no_step)
{
    enum { US = 1000 };
    draw_step(0, 0, 1000 * US);
    draw_call("cudaDeviceSynchronize", 1, 0, 400 * US, 1);
    draw_work("kernel", "gemm before", 0, 7, 0, 400 * US, 100);
    for (int64_t i = 0; i < 10; i++) {
        draw_kernel("gemm", (450 + 50 * i) * US, 10 * US, (462 + 70 * i) * US, 70 * US, i + 2);
    }
    assert_int_equal(step_scaled("kernel:^gemm$=1"), 762 * US);
    assert_int_equal(step_scaled("kernel:^gemm$=0.875"), 674500);
    assert_int_equal(step_scaled("kernel:^gemm$=0"), 620 * US);
}

/*
 * In ms. An annotation from 0 to 100, of which operators fill 20 to 60 and 80 to 100. The recording begins at 20: the annotation's
 * first 20 are before it, and gain nothing. All of it in a fifth of its time: 80 become 16, of which 12 are operators.
 */
TEST(what_comes_before_a_recording_gains_nothing)
{
    draw_host("user_annotation", "outer", 1, 0, 100 * MS);
    draw_host("cpu_op", "first", 1, 20 * MS, 40 * MS);
    draw_host("cpu_op", "second", 1, 80 * MS, 20 * MS);
    struct whatif *whatif = whatif_of(scaled("annotation:outer=0.2"), true);
    assert_int_equal(whatif->steps->now_ns, 80 * MS);
    assert_int_equal(whatif->steps->then_ns, 16 * MS);
    assert_int_equal(whatif->then_parts_ns[PART_OPERATOR], 12 * MS);
    assert_int_equal(whatif->then_parts_ns[PART_GAP], 4 * MS);
}

/* In ms: the host takes 10 for a step and its device 20; nothing waits for anything but at the end. The job takes 20 a step. */
TEST(devices_that_fall_behind_are_the_step)
{
    for (int64_t step = 0; step < 4; step++) {
        draw_step(step, 10 * MS * step, 10 * MS);
        draw_host("cpu_op", "forward", 1, 10 * MS * step, 10 * MS);
        draw_kernel("gemm", 10 * MS * step + 1 * MS, 1 * MS, 2 * MS + 20 * MS * step, 20 * MS, step + 1);
    }
    draw_call("cudaDeviceSynchronize", 1, 40 * MS, 43 * MS, 9);
    assert_int_equal(then_of(EDIT_NO_ALLOC, false), 20 * MS);
    assert_int_equal(step_scaled("kernel:gemm=0.5"), 10 * MS);
    assert_int_equal(step_scaled("kernel:gemm=0.75"), 15 * MS);
}

/*
 * In ms: the host begins steps 5 and 35 apart by turns, as it runs ahead and is held up; its device takes 20 for each, one after the
 * other. The job takes 20 a step. With kernels of half, nothing says that the host would be held up less: it takes 20 a step itself.
 */
TEST(an_uneven_host_keeps_its_own_time)
{
    for (int64_t step = 0; step < 6; step++) {
        int64_t at = (step / 2 * 40 + step % 2 * 5) * MS;
        draw_step(step, at, 5 * MS);
        draw_host("cpu_op", "forward", 1, at, 4 * MS);
        draw_kernel("gemm", at + 1 * MS, 1 * MS, (2 + 20 * step) * MS, 20 * MS, step + 1);
    }
    struct whatif *whatif = whatif_of(scaled("kernel:gemm=0.5"), false);
    assert_int_equal(whatif->steps->now_ns, 20 * MS);
    assert_int_equal(whatif->steps->then_ns, 20 * MS);
    assert_int_equal(whatif->steps->bound.kind, BOUND_HOST);
}

/*
 * In us: the host takes 70 a step, and 120 to evaluate behind the first; its device 80 a step, one behind the other but for that. The
 * rounds hold no evaluation, as the device's first step has no begin, so the replay of the recording says what is saved: down to the
 * work of a step, and no further.
 */
TEST(no_step_takes_less_than_its_work)
{
    static const int64_t at_us[] = { 0, 190, 260, 330 }, work_us[] = { 5, 195, 275, 355 };
    for (int64_t i = 0; i < 4; i++) {
        draw_step(i, 1000 * at_us[i], 1000 * (i == 0 ? 190 : 70));
        draw_host("cpu_op", "forward", 1, 1000 * at_us[i], 60000);
        draw_kernel("gemm", 1000 * (at_us[i] + 2), 1000, 1000 * work_us[i], 80000, i + 1);
    }
    draw_host("user_annotation", "eval", 1, 70000, 120000);
    assert_int_equal(step_scaled("annotation:eval=0"), 80000);
}

/*
 * In us: 950 launches of 1 each, of kernels of 100 each, fill the queue. The next three return 2 after kernels 9, 10 and 11 are
 * over, at 1005, 1105 and 1205. With kernels of 10 there is room: they take 1 each.
 */
TEST(a_launch_waits_for_room_in_the_queue)
{
    draw_step(0, 0, 950000);
    draw_step(1, 950000, 257000);
    draw_step(2, 1207000, 1000);
    for (int64_t i = 0; i < 953; i++) {
        int64_t at = i < 950 ? i : i == 950 ? 950 : 1007 + 100 * (i - 951), until = 1007 + 100 * (i - 950);
        draw_kernel("gemm", 1000 * at, i < 950 ? 1000 : 1000 * (until - at), 5000 + 100000 * i, 100000,
                    i + 1);
    }
    draw_host("cpu_op", "next", 1, 1207000, 1000);
    /* The host takes 950 for the first step and 3 for the second; of two the median is the mean. */
    assert_int_equal(step_scaled("kernel:gemm=0.1"), (950000 + 3000) / 2);
}

/*
 * In us: the third launch, 10-115, is recorded to wait for room, 12-113; the first kernel, 10-110, makes it. With kernels of 10 it returns
 * 5 after that, at 25, and the operator behind it, of 885, ends at 910.
 */
TEST(a_recorded_wait_for_room_is_one)
{
    for (int64_t i = 0; i < 3; i++) {
        draw_kernel("gemm", 5000 * i, i < 2 ? 5000 : 105000, 10000 + 100000 * i, 100000, i + 1);
    }
    draw_host("overhead", "Command Buffer Full", 1, 12000, 101000);
    draw_host("cpu_op", "next", 1, 115000, 885000);
    assert_int_equal(then_scaled("kernel:gemm=0.1"), 910000);
}

/* Three kernels of a day each may take a thousand times as long, 8 years, but not a million times. */
TEST(what_is_scaled_fits_into_64_bits)
{
    const int64_t day_ns = 86400 * INT64_C(1000000000);
    for (int64_t i = 0; i < 3; i++) {
        draw_kernel("gemm", 10000 * i, 5000, 10000 + day_ns * i, day_ns, i + 1);
    }
    assert_int_equal(then_scaled("kernel:gemm=100000%"), 3000 * day_ns + 10000);
    struct edit longer = scaled("kernel:gemm=1000000%");
    struct tpa_error err = { 0 };
    assert_null(whatif_open(replay_graph_of(drawn()), &longer, 1, true, &err));
    assert_string_equal(err.message, "what is scaled would take 82.1 years, expected at most 73");
}

/*
 * In us: a kernel, 10-110, which waits for pages of managed memory to come, 50-52 and 100-102. In half its time it ends at 60, and the wait
 * for it at 65. Nobody launched these copies, and a replay does not know when they would come: they do not count.
 */
TEST(pages_of_managed_memory_are_not_the_end)
{
    draw_kernel("gemm", 0, 5000, 10000, 100000, 1);
    draw_work("gpu_memcpy", "Memcpy HtoD (Unified memory)", 0, 9, 50000, 2000, 77);
    draw_work("gpu_memcpy", "Memcpy HtoD (Unified memory)", 0, 9, 100000, 2000, 78);
    draw_call("cudaDeviceSynchronize", 1, 20000, 95000, 2);
    assert_int_equal(then_scaled("kernel:gemm=0.5"), 65000);
}

/*
 * In us: two kernels of 10, launched at 0 and 500. Between, the host reads a page of unified memory, which moves at 200: what it computes
 * with it cannot be in a graph. Without the page, both kernels are launched at once.
 */
TEST(a_graph_leaves_what_the_host_does_with_pages)
{
    for (int touches = 0; touches < 2; touches++) {
        for (int64_t n = 0; n < 2; n++) {
            draw_kernel("gemm", 500000 * n, 10000, 500000 * n + 12000, 10000, n + 1);
        }
        if (touches)
            draw_work("gpu_memcpy", "Memcpy DtoH (Unified memory)", 0, 9, 200000, 10000, DRAW_NO_CALL);
        int64_t then_ns = then_of(EDIT_CUDA_GRAPH, true);
        if (touches)
            assert_in_range(then_ns, 490000, 522000);
        else
            assert_in_range(then_ns, 20000, 40000);
    }
}

/* In us: cudaMalloc takes 100, cudaFree before a launch 50, and cudaFree behind all else 200, which steps would not do. 500 less 150. */
TEST(what_a_program_frees_at_its_end_is_no_saving)
{
    draw_call("cudaMalloc", 1, 0, 100000, 1);
    draw_call("cudaFree", 1, 100000, 50000, 2);
    draw_kernel("gemm", 150000, 150000, 290000, 10000, 3);
    draw_call("cudaFree", 1, 300000, 200000, 4);
    assert_int_equal(then_of(EDIT_NO_ALLOC, true), 350000);
}

TEST(gains_of_edits_do_not_add_up)
{
    draw_steps();
    struct edit edits[] = {
        { .kind = EDIT_NO_DATA_WAIT },
        { .kind = EDIT_SCALE, .target = TARGET_KERNEL, .pattern = "gemm", .pattern_len = 4, .factor = 0 }
    };
    struct whatif *whatif = scratch(whatif_open(replay_graph_of(drawn()), edits, 2, false, NULL));
    assert_non_null(whatif);
    assert_int_equal(whatif->steps->now_ns, 100 * MS);
    assert_int_equal(whatif->gains[0].then_ns, 60 * MS);
    /*
     * A kernel of no time is over at 50. The copy cannot begin before its call does, at 52; it ends at 54, its call 1 later and
     * the operator 2 later: 57.
     */
    assert_int_equal(whatif->gains[1].then_ns, 57 * MS);
    assert_int_equal(whatif->steps->then_ns, 17 * MS);
    assert_int_equal(whatif->gains[0].effect.count, 2);
    assert_int_equal(whatif->gains[1].effect.count, 2);
    struct step_gain gain;
    assert_true(whatif_gain(replay_graph_of(drawn()), edits, 2, &gain, NULL));
    assert_int_equal(gain.then_ns, 17 * MS);
}

static size_t moments_in_order(const struct replay_graph *graph)
{
    size_t count = 0;
    for (size_t r = 0; r < graph->order.count; r++)
        count += graph->order.length[r];
    return count;
}

/* The steps of draw_step, COUNT of them, each a bit different from the one before. */
static void draw_many_steps(int64_t count)
{
    for (int64_t step = 0; step < count; step++) {
        int64_t at = 20 * MS * step, longer = step * step % 11 * 10000;
        draw_step(step, at, 20 * MS);
        for (int64_t k = 0; k < 5; k++) {
            int64_t op = at + k * MS, number = 100 * step + 10 * k + 1;
            draw_host("cpu_op", "aten::mm", 1, op, MS - 1000);
            draw_call("cudaLaunchKernel", 1, op + 100000, 200000 + longer, number);
            draw_work("kernel", k % 2 ? "gemm" : "add", 0, k % 2 ? 7 : 8, op + 310000 + longer, 1900000,
                      number);
        }
        draw_call("cudaDeviceSynchronize", 1, at + 6 * MS, MS, 100 * step + 99);
    }
}

/* Of so many steps that rounds leave out most, a graph of the moments of the rounds prices edits as the whole graph does. */
TEST(the_graph_of_the_rounds_prices_as_the_whole_does)
{
    static const struct edit edits[] = {
        { .kind = EDIT_CUDA_GRAPH },
        { .kind = EDIT_NO_SYNC, .pattern = ".*", .pattern_len = 2 },
        { .kind = EDIT_SCALE, .target = TARGET_NAME, .pattern = "add", .pattern_len = 3, .factor = 0.25 },
        { .kind = EDIT_NO_FIRST_USE },
    };
    draw_many_steps(20000);
    const struct replay_graph *graphs[] = { step_times_graph_of(drawn()), replay_graph_of(drawn()) };
    assert_true(moments_in_order(graphs[0]) < graphs[0]->moment_count * 3 / 4);
    assert_int_equal(moments_in_order(graphs[1]), graphs[1]->moment_count);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct step_gain gains[2];
        struct edit_effect effects[2];
        for (size_t g = 0; g < 2; g++) {
            struct changes *changes = scratch(changes_open(graphs[g]));
            assert_true(edit_apply(&edits[i], changes, &effects[g], NULL));
            gains[g] = step_times_gain(changes);
        }
        assert_int_equal(gains[0].now_ns, gains[1].now_ns);
        assert_int_equal(gains[0].then_ns, gains[1].then_ns);
        assert_int_equal(effects[0].count, effects[1].count);
        assert_int_equal(effects[0].time_ns, effects[1].time_ns);
        if (edits[i].kind != EDIT_NO_FIRST_USE)
            assert_true(gains[0].then_ns < gains[0].now_ns);
    }
}

/* A wait takes what waits in it along, whether the kernel, 10-50, was still running, or was over at 15. */
TEST(a_wait_goes_with_the_wait_in_it)
{
    for (int over = 0; over < 2; over++) {
        draw_call("hipLaunchKernel", 1, 0, 5, 1);
        draw_work("kernel", "gemm", 0, 7, 10, over ? 5 : 40, 1);
        draw_call("hipStreamSynchronize", 1, 20, 40, 2);
        draw_call("hsa_signal_wait_scacquire", 1, 25, 30, 3);
        draw_host("cpu_op", "next", 1, 60, 100);
        assert_int_equal(
            then_with((struct edit){ .kind = EDIT_NO_SYNC, .pattern = "^hipStreamSynchronize$" }, true), 120);
    }
}

/*
 * In us: the second launch takes 1000, as its kernel is loaded; the work before ends at 30, when the call has begun. The stream was
 * ready last, but it is the call that the kernel waits for: without a first use it takes 5 as the others do, and the kernel begins 995
 * earlier, at 30, when the stream is free. So the wait that ends 10 after it ends at 50, not at 1045.
 *
 *     thread   [launch 0-5] [launch 20-1020                 ] [sync 1025-1045]
 *     stream      [a 10-30]                                [b 1025-1035]
 */
TEST(a_kernel_waits_for_the_end_of_a_late_launch)
{
    for (int64_t i = 0; i < 5; i++) {
        draw_kernel("a", -100000 + 20000 * i, 5000, -90000 + 20000 * i, 5000, 10 + i);
    }
    draw_kernel("a", 0, 5000, 10000, 20000, 1);
    draw_kernel("b", 20000, 1000000, 1025000, 10000, 2);
    draw_call("cudaDeviceSynchronize", 1, 1025000, 20000, 3);
    assert_int_equal(then_of(EDIT_NO_FIRST_USE, true), 150000);
}

/*
 * Two kernels of 10 us that the host launches 100 us apart, and a wait. As a graph: both launches at once, the kernels back to
 * back from 10 to 30, and the wait that ends 5 us later. The host's time from 0, the first launch, to 105 is gone.
 */
TEST(a_graph_launches_all_at_once)
{
    draw_kernel("a", 0, 5000, 10000, 10000, 1);
    draw_host("cpu_op", "slow", 1, 5000, 95000);
    draw_kernel("b", 100000, 5000, 110000, 10000, 2);
    draw_call("cudaDeviceSynchronize", 1, 110000, 15000, 3);
    /* Launched at 0, b is ready 10 us later as it was recorded, and a microsecond after a is over, at 21: 21-31, then 5. */
    assert_int_equal(then_of(EDIT_CUDA_GRAPH, true), 36000);
}

/* The same, but from 20 to 90 us a graph is captured, which the next step would not do again: that stays. */
TEST(the_capture_of_a_graph_is_no_launching)
{
    draw_kernel("a", 0, 5000, 10000, 10000, 1);
    draw_host("cpu_op", "slow", 1, 5000, 95000);
    draw_call("cudaStreamBeginCapture", 1, 20000, 1000, 4);
    draw_call("cudaLaunchKernel", 1, 50000, 1000, 5);
    draw_call("cudaStreamEndCapture", 1, 89000, 1000, 6);
    draw_kernel("b", 100000, 5000, 110000, 10000, 2);
    draw_call("cudaDeviceSynchronize", 1, 110000, 15000, 3);
    /* Launched at 70, b is ready 10 us later: 80-90, then 5. */
    assert_int_equal(then_of(EDIT_CUDA_GRAPH, true), 95000);
}

/*
 * In us: the second kernel was queued from 105 and began at 600, the device being idle since 20; nothing says why. Launched at 0, it
 * waits as long after the first: from 20 to 515, and ends at 525. Where the call returns at 590, it was queued for less than 30: that
 * is the latency of its launch, 500 as recorded, from the begin of the call.
 */
TEST(a_graph_keeps_what_was_queued_for_no_known_reason)
{
    for (int queued = 0; queued < 2; queued++) {
        draw_kernel("a", 0, 5000, 10000, 10000, 1);
        draw_host("cpu_op", "slow", 1, 5000, 95000);
        draw_kernel("b", 100000, queued ? 5000 : 490000, 600000, 10000, 2);
        assert_int_equal(then_of(EDIT_CUDA_GRAPH, true), queued ? 525000 : 510000);
    }
}

/* In us, from AT: a step of the devices, 15-80, of two kernels that thread 2 launches 55 apart. */
static void draw_device_step(const char *name, int64_t at, int correlation)
{
    draw_host("user_annotation", name, 9, (at + 15) * 1000, 65000);
    draw_call("cudaLaunchKernel", 2, (at + 5) * 1000, 5000, correlation);
    draw_work("kernel", "a", 0, 7, (at + 15) * 1000, 10000, correlation);
    draw_host("cpu_op", "slow", 2, (at + 10) * 1000, 50000);
    draw_call("cudaLaunchKernel", 2, (at + 60) * 1000, 5000, correlation + 1);
    draw_work("kernel", "b", 0, 7, (at + 70) * 1000, 10000, correlation + 1);
}

/*
 * Only the devices mark the steps, 15-80 and 115-180, and the first thread of the file does nothing meanwhile. As a graph each is
 * launched at once: the second kernel begins a microsecond after the first is over, 26-36. So a single step takes 21, and of two,
 * whose host pauses for 40 between them, the first takes from 15 to 55.
 */
TEST(a_step_of_the_devices_begins_with_its_work)
{
    for (int two = 0; two < 2; two++) {
        draw_host("cpu_op", "python", 1, 0, 1000);
        draw_device_step("device [step 0]", 0, 1);
        if (two)
            draw_device_step("device [step 1]", 100, 3);
        draw_host("cpu_op", "python", 1, 900000, 1000);
        assert_int_equal(then_of(EDIT_CUDA_GRAPH, false), two ? 40000 : 21000);
        assert_int_equal(then_of(EDIT_NO_ALLOC, false), two ? 100000 : 65000);
    }
}

/*
 * In the predicted timeline the mark of such a step, from 15, moves with its work: as a graph it ends with the second kernel at 36. A
 * shadow of an annotation around that, 69-81, begins 1 before it, at 25, and ends 1 after it, at 37.
 */
TEST(a_mark_of_devices_moves_with_its_work)
{
    draw_host("cpu_op", "python", 1, 0, 1000);
    draw_device_step("device [step 0]", 0, 1);
    draw_work("gpu_user_annotation", "shadow", 0, 7, 69000, 12000, 99);
    const struct replay_graph *graph = replay_graph_of(drawn());
    struct edit as_graph = { .kind = EDIT_CUDA_GRAPH };
    struct replay *replay = whatif_replay(graph, &as_graph, 1, NULL);
    assert_non_null(replay);
    struct moved *moved = scratch(moved_open(replay));
    for (event_id e = 0; e < drawn()->event_count; e++) {
        struct moved_times times = moved_times_of(moved, e);
        if (strcmp(trace_name(drawn(), e), "device [step 0]") == 0) {
            assert_int_equal(times.start_ns, 15000);
            assert_int_equal(times.end_ns, 36000);
        } else if (strcmp(trace_name(drawn(), e), "shadow") == 0) {
            assert_int_equal(times.start_ns, 25000);
            assert_int_equal(times.end_ns, 37000);
        }
    }
    replay_free(replay);
}

/*
 * In us: the last of seven steps, which is the median, waits for a kernel that was launched 470 earlier, in the second. So its path,
 * from the end: 5 of an operator, 5 until the call returns, and the kernel. Nothing changes, and then it is the same.
 */
TEST(a_path_finds_what_began_long_before_its_step)
{
    static const int64_t lengths[] = { 130, 70, 120, 80, 110, 90, 100 };
    enum { STEPS = sizeof lengths / sizeof *lengths, KERNELS = 40, LONG = 9999 };
    int64_t at = 0;
    for (int step = 0; step < STEPS; step++) {
        draw_step(step, at * 1000, lengths[step] * 1000);
        draw_host("cpu_op", "op", 1, at * 1000, lengths[step] * 1000);
        if (step == 1) {
            draw_call("cudaLaunchKernel", 1, 131000, 1000, LONG);
            draw_work("kernel", "long", 0, 9, 135000, 555000, LONG);
        }
        for (int k = 0; k < KERNELS && step < STEPS - 1; k++) {
            int64_t own_ns = (at + 4 + k) * 1000;
            draw_kernel("short", own_ns, 500, own_ns + 2000, 700, step * KERNELS + k + 1);
        }
        at += lengths[step];
    }
    draw_call("cudaDeviceSynchronize", 1, 610000, 85000, LONG + 1);
    draw_step(7, at * 1000, 300000);
    struct whatif *whatif = whatif_of((struct edit){ .kind = EDIT_NO_ALLOC }, false);
    assert_int_equal(whatif->now_parts_ns[PART_KERNEL], 90000);
    assert_int_equal(whatif->now_parts_ns[PART_OPERATOR], 5000);
    assert_memory_equal(whatif->then_parts_ns, whatif->now_parts_ns, sizeof whatif->now_parts_ns);
}

/* Two steps as far apart as times can be: no window around the first fits 64 bits. Half of its operator is gone, and the pause stays. */
TEST(a_step_may_be_as_long_as_time)
{
    const int64_t far_ns = INT64_C(2200000000000000000), long_ns = INT64_C(1000000000000000000);
    draw_step(0, -far_ns, long_ns);
    draw_host("cpu_op", "op", 1, -far_ns, long_ns);
    draw_step(1, far_ns, 1000);
    draw_host("cpu_op", "op", 1, far_ns, 1000);
    assert_int_equal(step_scaled("op:op=0.5"), 2 * far_ns - long_ns / 2);
}

/*
 * In ms: six steps of 10, each with a kernel that the host waits for; the first launch takes 30 longer. That makes one step shorter, and is
 * not what a step gains: 10 as before. FIRST or a later one.
 */
TEST(a_first_use_shortens_one_step)
{
    for (int64_t first = 0; first < 2; first++) {
        for (int64_t step = 0, at = 0; step < 6; step++) {
            int64_t extra = step == 2 * first ? 30 : 0;
            const char *kernel = first && step < 2 ? "other" : "gemm";
            draw_step(step, at * MS, (10 + extra) * MS);
            draw_host("cpu_op", "forward", 1, at * MS, (10 + extra) * MS);
            draw_kernel(kernel, at * MS, (1 + extra) * MS, (at + extra + 2) * MS, 7 * MS, 2 * step + 1);
            draw_call("cudaStreamSynchronize", 1, (at + extra + 2) * MS, 7500000, 2 * step + 2);
            at += 10 + extra;
        }
        assert_int_equal(then_of(EDIT_NO_FIRST_USE, false), 10 * MS);
    }
}

/*
 * In ms: steps of 35 and 8 by turns, with kernels of 30 and 3 that the host waits for, from 10 to 33 and from 3 to 6. Without the waits it
 * takes 12 and 5 for them, and the kernels follow one another: 33 for two steps.
 */
TEST(kinds_of_steps_share_the_devices)
{
    for (int64_t step = 0, at = 0; step < 6; step++) {
        bool is_long = step % 2 == 0;
        int64_t all = is_long ? 35 : 8, wait_at = is_long ? 10 : 3;
        draw_step(step, at * MS, all * MS);
        draw_host("cpu_op", "forward", 1, at * MS, all * MS);
        draw_kernel("gemm", at * MS, 1 * MS, (at + 2) * MS, (is_long ? 30 : 3) * MS, 2 * step + 1);
        draw_call("cudaStreamSynchronize", 1, (at + wait_at) * MS, (is_long ? 23 : 3) * MS, 2 * step + 2);
        at += all;
    }
    assert_int_equal(then_with((struct edit){ .kind = EDIT_NO_SYNC, .pattern = "." }, false), 16500000);
}

/*
 * In us: steps of 100, whose kernels end at 95; every second one is launched 10 later and is 10 shorter. Without them the devices are
 * done after 110 and 90 by turns. The host waits for neither, so that a step takes 100 as before.
 */
TEST(devices_that_keep_up_are_not_the_step)
{
    for (int64_t step = 0; step < 6; step++) {
        int64_t at = 100000 * step, late = step % 2 * 10000;
        draw_step(step, at, 100000);
        draw_host("cpu_op", "op", 1, at, 100000);
        draw_kernel("k", at + 50000 + late, 1000, at + 55000 + late, 40000 - late, step + 1);
    }
    assert_int_equal(step_scaled("kernel:k=0"), 100000);
}

/*
 * In us: four kernels, each launched twice, for 1000 at first and for 10 then; half of the launches are first ones. Launches usually
 * take 10, as those do that are no first ones: 8 of them, a pause of 20 after each, and the 100 of the operator that follows.
 */
TEST(first_uses_do_not_count_as_usual)
{
    static const char *const kernels[] = { "a", "b", "c", "d" };
    int64_t at = 0, correlation = 1;
    for (int k = 0; k < 4; k++) {
        for (int again = 0; again < 2; again++, correlation++) {
            int64_t ns = again ? 10000 : 1000000;
            draw_kernel(kernels[k], at, ns, at + ns + 1000, 2000, correlation);
            at += ns + 20000;
        }
    }
    draw_host("cpu_op", "last", 1, at, 100000);
    assert_in_range(then_of(EDIT_NO_FIRST_USE, true), 339990, 340000); /* factors are of 24 bits */
}

/*
 * In us: a module is loaded for 4000, another for 30000, with a pause of 20 after each, then an operator of 100. Each load is the first use
 * of its module, whatever other loads take: 140 are left.
 */
TEST(each_module_that_is_loaded_is_first_used)
{
    draw_call("hipModuleLoadData", 1, 0, 4000000, 1);
    draw_call("hipModuleLoadData", 1, 4020000, 30000000, 2);
    draw_host("cpu_op", "last", 1, 34040000, 100000);
    assert_int_equal(then_of(EDIT_NO_FIRST_USE, true), 140000);
}

/*
 * In us: two streams whose kernels, launched 50 ahead, always began just when one of the other had ended: 50-150, 151-251. Where the file
 * records no waits of streams, the second waited for the first, as it may have; else it did not: launched at once, both run from 50 on.
 */
TEST(a_graph_keeps_the_order_of_streams_whose_waits_are_not_recorded)
{
    for (int recorded = 0; recorded < 2; recorded++) {
        draw_kernel("a", 0, 5000, 50000, 100000, 1);
        draw_host("cpu_op", "slow", 1, 5000, 95000);
        if (recorded)
            draw_call("cudaStreamWaitEvent", 2, 0, 1000, 9);
        draw_call("cudaLaunchKernel", 1, 101000, 5000, 2);
        draw_work("kernel", "b", 0, 20, 151000, 100000, 2);
        assert_int_equal(then_of(EDIT_CUDA_GRAPH, true), recorded ? 150000 : 251000);
    }
}

/* A graph cannot hold what communicates everywhere: an operator of 100 us around a collective stays, another is gone. */
static int64_t then_as_graphs_around(const char *operator, const char * kernel)
{
    draw_kernel("gemm", 0, 10000, 10000, 10000, 1);
    draw_host("cpu_op", operator, 1, 100000, 100000);
    draw_call("cudaLaunchKernel", 1, 150000, 10000, 2);
    draw_work("kernel", kernel, 0, 20, 170000, 20000, 2);
    draw_kernel("gemm", 300000, 10000, 320000, 10000, 3);
    return then_of(EDIT_CUDA_GRAPH, true);
}

TEST(graphs_lie_between_collectives)
{
    /* The operator takes 0-100, and the last launch comes at 100: its kernel 120-130. */
    assert_int_equal(then_as_graphs_around("c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
                     130000);
    /* All launches come at 0: the kernels 10-20, 20-40 and 20-30. */
    assert_int_equal(then_as_graphs_around("aten::add", "add"), 40000);
}

/* A blocking upload of 500 us, of which 490 are the call's: its work follows at once all the same. */
TEST(a_pinned_upload_frees_the_host_and_not_the_device)
{
    draw_call("cudaMemcpyAsync", 1, 0, 500000, 1);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 20000, 470000, 1);
    draw_host("cpu_op", "next", 1, 500000, 100000);
    draw_kernel("gemm", 550000, 5000, 560000, 10000, 2);
    /*
     * The call takes 10 us, the operator 10-110, its launch at 60. The kernel is ready at 490, when the copy is over (its launch
     * bound it with a lag of 10, 60 + 10): 490-500.
     */
    assert_int_equal(then_of(EDIT_PINNED_COPIES, true), 500000);
}

/* Copies of 2 MiB whose calls return at once: 1 ms from pageable memory, 0.1 ms from pinned memory. */
TEST(a_pinned_upload_counts_where_only_the_copy_gets_shorter)
{
    draw_call("cudaMemcpyAsync", 1, 0, 5000, 1);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 10000, MS, 1);
    draw_arg(ARG_BYTES, 2 << 20);
    draw_call("cudaMemcpyAsync", 1, 10000, 5000, 2);
    draw_work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, 10000 + MS, MS / 10, 2);
    draw_arg(ARG_BYTES, 2 << 20);
    struct whatif *whatif = whatif_of((struct edit){ .kind = EDIT_PINNED_COPIES }, true);
    assert_int_equal(whatif->gains[0].effect.count, 1);
    assert_int_equal(whatif->gains[0].effect.time_ns, MS);
    assert_int_equal(whatif->steps->now_ns, 10000 + MS + MS / 10);
    assert_in_range(whatif->steps->then_ns, 10000 + MS / 5,
                    10000 + MS / 5 + 2001); /* and what any copy takes */
}

/* 20 steps of 50 launches, each of which waits 100 us until the kernel 1,000 places before begins: all of these were launched before the
 * recording, and no call found room. */
TEST(launches_wait_for_work_from_before_the_recording)
{
    enum { US = 1000, AHEAD = 1000, LAUNCHES = 50, STEPS = 20 };
    for (int64_t k = 0; k < AHEAD + STEPS * LAUNCHES; k++)
        draw_work("kernel", "gemm", 0, 7, k * 100 * US, 100 * US, 1 + k);
    for (int64_t step = 0; step < STEPS; step++) {
        draw_step(step, step * LAUNCHES * 100 * US, LAUNCHES * 100 * US);
        for (int64_t k = step * LAUNCHES; k < (step + 1) * LAUNCHES; k++)
            draw_call("cudaLaunchKernel", 1, k * 100 * US, 100 * US, 1 + AHEAD + k);
    }
    struct whatif *whatif = whatif_of(scaled("kernel:gemm=0.5"), false);
    assert_int_equal(whatif->steps->now_ns, 5 * MS);
    assert_in_range(whatif->steps->then_ns, 5 * MS / 2, 5 * MS / 2 + 50 * US);
    assert_int_equal(whatif->steps->bound.kind, BOUND_DEVICE); /* the host waits for it as long */
}

TEST(allocation_and_first_use_are_of_calls)
{
    draw_host("cpu_op", "aten::empty", 1, 0, 400000);
    draw_call("cudaMalloc", 1, 100000, 200000, 1);
    for (int64_t k = 0; k < 5; k++) {
        /* The first launch loads the kernel: 300 us instead of 5. */
        draw_kernel("gemm", 400000 + k * 1000000, k ? 5000 : 300000, 800000 + k * 1000000, 1000, 10 + k);
    }
    /* The last kernel ends at 4,801,000. */
    assert_int_equal(then_of(EDIT_NO_ALLOC, true), 4601000);
    /* 295 us of the first launch, and the single cudaMalloc of 200 us, which counts as setting up. */
    assert_int_equal(then_of(EDIT_NO_FIRST_USE, true), 4306000);
}

/*
 * On an H100, 1024^3 in bfloat16: 2^31 operations at 989.4 TFLOP/s are 2170.5 ns, at 20 % 10852, at 2 % more than the 100000 that
 * it takes. 8^3 is done in no time, but no kernel gets shorter than the shortest: 5000. It begins 19000 after the first call.
 */
TEST(slow_operators_reach_a_share_of_the_peak)
{
    static const char *const dims[] = { "[[1024,1024],[1024,1024]]", "[[8,8],[8,8]]" };
    static const int64_t then_ns[][3] = { { 29852, 119000, 119000 }, { 24000, 24000, 119000 } };
    static const double factors[] = { 0.2, 0.02, 1e-6 };
    for (int round = 0; round < 2; round++) {
        *VEC_PUSH(&drawn_file()->devices) = (struct trace_device){ .name = "NVIDIA H100 80GB HBM3" };
        draw_host("cpu_op", "aten::mm", 1, 5000, 12000);
        draw_inputs(dims[round], "[\"c10::BFloat16\",\"c10::BFloat16\"]");
        draw_call("cudaLaunchKernel", 1, 10000, 5000, 10);
        draw_kernel("other", 1000, 1000, 3000, 5000, 20);
        draw_work("kernel", "gemm", 0, 7, 20000, 100000, 10);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(then_with((struct edit){ .kind = EDIT_AT_PEAK, .factor = factors[i] }, true),
                             then_ns[round][i]);
    }
}

/* The all_reduce with NUMBER of two ranks of a group of RANKS, on the current one. */
static void draw_reduce_of(int64_t ranks, int64_t number, int64_t start_ns, int64_t end_ns, int64_t call)
{
    draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 9, start_ns, end_ns - start_ns, call);
    draw_reduces(ranks, number);
    draw_text(ARG_DTYPE, "Float");
    draw_arg(ARG_IN_ELEMENTS, 250000);
    draw_arg(ARG_OUT_ELEMENTS, 250000);
}

/*
 * In us: two ranks, an all_reduce of 1 MB. Rank 1 arrives at 80, rank 0 at 30; transfer 80-120 for both, then 5.
 */
static void draw_ranks(void)
{
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank(rank);
        draw_host("cpu_op", "forward", 1, 0, rank ? 70000 : 20000);
        draw_call("cudaLaunchKernel", 1, rank ? 70000 : 20000, 5000, 1);
        draw_reduce_of(2, 3, rank ? 80000 : 30000, 120000, 1);
        draw_call("cudaDeviceSynchronize", 1, rank ? 90000 : 40000, rank ? 35000 : 85000, 2);
    }
}

TEST(communication_can_be_hidden_or_of_another_bandwidth)
{
    draw_ranks();
    /* Hidden: rank 1's call at 90 does not wait but returns, as it did, 5 after it was ready. */
    assert_int_equal(then_of(EDIT_OVERLAP_COMM, true), 95000);
    /* 1 MB among two ranks is 1 MB on the bus; at 100 GB/s it takes 10 us: 80-90, then 5. */
    assert_int_equal(then_with((struct edit){ .kind = EDIT_COMM_BANDWIDTH, .factor = 100e9 }, true), 95000);
    /* At 10 GB/s it takes 100: 180, then 5. */
    assert_int_equal(then_with((struct edit){ .kind = EDIT_COMM_BANDWIDTH, .factor = 10e9 }, true), 185000);
}

/*
 * In us: two ranks of a group of RANKS. Rank 1 arrives at 80, rank 0 at 30; both wait on until 120. The next moves as much in 10. If not
 * LINKED, which call launched a collective or waited for it is not recorded, and the rest takes until 255.
 *
 *     rank 0   [forward 0-20][launch][wait 40 -------125][launch][rest 130-155]
 *     rank 1   [forward 0-70        ][launch][wait 90-125][launch][rest 130-155]
 */
static void draw_two_of(int64_t ranks, bool linked)
{
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank(rank);
        draw_host("cpu_op", "forward", 1, 0, rank ? 70000 : 20000);
        draw_host("cpu_op", "wait", 1, rank ? 90000 : 40000, rank ? 35000 : 85000);
        draw_host("cpu_op", "rest", 1, 130000, linked ? 25000 : 125000);
        if (linked) {
            draw_call("cudaLaunchKernel", 1, rank ? 70000 : 20000, 5000, 1);
            draw_call("cudaDeviceSynchronize", 1, rank ? 90000 : 40000, rank ? 35000 : 85000, 2);
            draw_call("cudaLaunchKernel", 1, 125000, 5000, 3);
            draw_call("cudaDeviceSynchronize", 1, 130000, 25000, 4);
        }
        draw_reduce_of(ranks, 3, rank ? 80000 : 30000, 120000, linked ? 1 : DRAW_NO_CALL);
        draw_reduce_of(ranks, 4, 140000, 150000, linked ? 3 : DRAW_NO_CALL);
    }
}

TEST(a_rank_in_time_gains_nothing_where_all_wait_for_one_that_was_not_recorded)
{
    /* Of a group of two rank 1 launches at 20, and all comes 50 earlier; another rank of 8 comes as late as it did. */
    draw_two_of(2, true);
    assert_int_equal(then_of(EDIT_RANKS_LIKE_MEDIAN, true), 105000);
    draw_two_of(8, true);
    assert_int_equal(then_of(EDIT_RANKS_LIKE_MEDIAN, true), 155000);
}

TEST(threads_may_wait_with_a_collective_whose_call_was_not_recorded)
{
    /* Half of what rank 1 does from 90 until 125 is 17.5. */
    draw_two_of(2, false);
    assert_int_equal(then_scaled("op:wait=0.5"), 237500);
    /* It may be a wait for the collective, which ends as late as the one of 8 that was not recorded lets it. */
    draw_two_of(8, false);
    assert_int_equal(then_scaled("op:wait=0.5"), 255000);
}

TEST(a_slow_rank_can_be_as_fast_as_the_median)
{
    draw_ranks();
    /*
     * The hosts took 40 (20 + 5 + a gap of 15) and 90 (70 + 5 + 15) of their own; the median of two is the faster. All that rank 1
     * takes longer is in forward, which takes 20 then: it launches at 20 and arrives 10 later, as rank 0; 40 of transfer and 5 to
     * return make 75.
     */
    assert_int_equal(then_of(EDIT_RANKS_LIKE_MEDIAN, true), 75000);
    /* Their devices did nothing but communicate. */
    assert_int_equal(then_of(EDIT_GPUS_LIKE_MEDIAN, true), 125000);
}

/*
 * In ms: two ranks, and a collective on a thread of gloo. The thread that trains is idle from 21, or 61, until all are done; or on
 * rank 0 BUSY with something else meanwhile, which by chance was over just before.
 *
 *     rank 0   [forward 0-20][issue 20-21]                               [next 83-93]
 *       gloo                     [22-82                                 ]
 *     rank 1   [forward 0-20][late 20-60                ][issue 60-61]   [next 83-93]
 *       gloo                                                 [62-82     ]
 */
static void draw_ranks_on_host(bool busy)
{
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank(rank);
        draw_host("cpu_op", "forward", 1, 0, 20 * MS);
        if (rank)
            draw_host("cpu_op", "late", 1, 20 * MS, 40 * MS);
        draw_host("cpu_op", "c10d::allreduce_", 1, rank ? 60 * MS : 20 * MS, 1 * MS);
        draw_host("user_annotation", "gloo:all_reduce", 2, rank ? 62 * MS : 22 * MS,
                  rank ? 20 * MS : 60 * MS);
        if (busy && !rank)
            draw_host("cpu_op", "backward", 1, 21 * MS, 60 * MS);
        draw_host("cpu_op", "next", 1, 83 * MS, 10 * MS);
    }
}

TEST(ranks_wait_for_one_another_on_the_host_too)
{
    draw_ranks_on_host(false);
    /* Rank 1 arrives at 22, after rank 0 that was ready at 21; 20 of transfer and 1 to go on make 43, and 10 more. */
    assert_int_equal(then_scaled("op:late=0"), 53 * MS);
    /* It arrives at 142. */
    assert_int_equal(then_scaled("op:late=300%"), 173 * MS);
    /* Hidden: rank 1 goes on at 61. */
    assert_int_equal(then_of(EDIT_OVERLAP_COMM, true), 71 * MS);
    draw_ranks_on_host(true);
    /* What rank 0 does next comes after its backward, and nothing says that it waited for anybody. */
    assert_int_equal(then_scaled("op:late=0"), 93 * MS);
    assert_int_equal(then_scaled("op:backward=0.5"), 93 * MS); /* as rank 1 still ends then */
}

/*
 * In ms: steps of 100 on two ranks. Rank 0 works for 30 of it, then waits for rank 1, which works for 80.
 *
 *     rank 0   [work 0-30][issue 30-31]                 [rest 99-100]
 *       gloo               [31-98                     ]
 *     rank 1   [work 0-80             ][issue 80-81]    [rest 99-100]
 *       gloo                            [81-98        ]
 */
TEST(a_job_is_as_fast_as_its_slowest_rank)
{
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank(rank);
        for (int64_t step = 0; step < 3; step++) {
            int64_t at = 100 * MS * step, work = rank ? 80 * MS : 30 * MS;
            draw_step(step, at, 100 * MS);
            draw_host("cpu_op", "work", 1, at, work);
            draw_host("cpu_op", "c10d::allreduce_", 1, at + work, 1 * MS);
            draw_host("user_annotation", "gloo:all_reduce", 2, at + work + 1 * MS, 97 * MS - work);
            draw_host("cpu_op", "rest", 1, at + 99 * MS, 1 * MS);
        }
    }
    /* Without waiting for one another, rank 0 would take 32 and rank 1 82: no job trains with one of two ranks. */
    assert_int_equal(then_of(EDIT_OVERLAP_COMM, false), 82 * MS);
    /* Rank 1 takes 32/82 of its 80, and 1 or so for each of the others. */
    assert_in_range(then_of(EDIT_RANKS_LIKE_MEDIAN, false), 48 * MS, 51 * MS);
}

/*
 * In ms. Nothing links the threads, but the first goes on when the second is done, having been idle.
 *
 *     thread 1  [a 0-20             ]                      [b 41-50]
 *     thread 2     [work 2-40                             ]
 */
TEST(a_thread_is_waited_for)
{
    draw_host("cpu_op", "a", 1, 0, 20 * MS);
    draw_host("cpu_op", "b", 1, 41 * MS, 9 * MS);
    draw_host("cpu_op", "work", 2, 2 * MS, 38 * MS);
    /* It is done at 2 + 19, and b begins 1 later. */
    assert_int_equal(then_scaled("op:work=0.5"), 31 * MS);
    /* It is done at 2 + 9.5, when a still runs: b begins at 20. */
    assert_int_equal(then_scaled("op:work=0.25"), 29 * MS);
    /* It is started by a, which takes no time: work 0-38, b 39-48. */
    assert_int_equal(then_scaled("op:a=0"), 48 * MS);
}

/*
 *     thread   block 0-100
 *                  Linear_0 10-60
 *                      [aten::mm 20-50 ][cudaDeviceSynchronize 50-110                    ]
 *                         [launch 30-40]
 *     stream                              [mm_kernel 60-100                      ]
 *
 * What was recorded takes 90, from 20, where the first span begins, to 110.
 */
/*
 * In ms; three works below one operator, of which the first two are called FIRST and "sub". A call takes 1:
 *
 *     thread   [softmax 0-30: calls at 1, 11, 21 ]
 *     stream        [FIRST 5-45         ][sub 45-65    ][gemm 65-70]
 */
static int64_t then_fused(const char *first)
{
    draw_host("cpu_op", "aten::softmax", 1, 0, 30 * MS);
    for (int i = 0; i < 3; i++)
        draw_call("cudaLaunchKernel", 1, (10 * i + 1) * MS, MS, i + 1);
    draw_work("kernel", first, 0, 7, 5 * MS, 40 * MS, 1);
    draw_work("kernel", "sub", 0, 7, 45 * MS, 20 * MS, 2);
    draw_work("kernel", "my_gemm", 0, 7, 65 * MS, 5 * MS, 3);
    return then_of(EDIT_FUSE, true);
}

/* Where sizes are not recorded, one of two saves at most the time of the shorter: sub, 20. A matrix product is not fused. */
TEST(neighbours_become_one)
{
    assert_int_equal(then_fused("max"), 50 * MS);
    assert_int_equal(then_fused("other_gemm"), 70 * MS);
}

/*
 * The call of what is fused goes, too; in ms:
 *
 *     thread   [softmax 0-30: calls 1-2, 13-19       ]
 *     stream         [max 4-14][sub 14.5-19.5]
 *
 * Then the operator takes the 24 that are left, and sub none.
 */
TEST(what_is_fused_is_not_launched)
{
    draw_host("cpu_op", "aten::softmax", 1, 0, 30 * MS);
    draw_kernel("max", 1 * MS, 1 * MS, 4 * MS, 10 * MS, 1);
    draw_kernel("sub", 13 * MS, 6 * MS, 14 * MS + MS / 2, 5 * MS, 2);
    assert_int_equal(then_of(EDIT_FUSE, true), 24 * MS);
}

TEST(what_is_scaled_is_chosen_by_kind_and_name)
{
    draw_host("user_annotation", "block", 1, 0, 100);
    draw_host("python_function", "nn.Module: Linear_0", 1, 10, 50);
    draw_host("cpu_op", "aten::mm", 1, 20, 30);
    draw_kernel("mm_kernel", 30, 10, 60, 40, 1);
    draw_call("cudaDeviceSynchronize", 1, 50, 60, 2);
    /* The kernel runs 60-80, the call ends 10 later. */
    assert_int_equal(then_scaled("kernel:mm=0.5"), 90 - 20);
    assert_int_equal(then_scaled("kernel:mm=2x"), 90 - 20);
    assert_int_equal(then_scaled("category:kernel=0"), 90 - 40);
    /* The call is launched 10 earlier, the kernel and the rest with it; without the call's own time nothing changes. */
    assert_int_equal(then_scaled("op:mm=0"), 90 - 10);
    assert_int_equal(then_scaled("call:Launch=0"), 90);
    assert_int_equal(then_scaled("name:mm=0"), 90 - 10 - 40);
    /* All of the module: 10 of the gap before the operator, which begins at 10 then; so does its call. The kernel is ready 30
     * later, takes nothing, and the call returns 10 after it, at 50. */
    assert_int_equal(then_scaled("module:Linear=0"), 50 - 10);
    /* All of the annotation: everything at 0, the kernel at 30, the return at 40. */
    assert_int_equal(then_scaled("annotation:block=0"), 40);
    assert_int_equal(then_scaled("block=0"), 40); /* nothing else has that name */
}

/* forward launches the gemm of each step, 45 ms, which keeps its time whether forward is called by its kind or not; a kernel has none. */
TEST(work_that_a_scaled_operator_launched_is_reported)
{
    static const struct {
        const char *text;
        int64_t kept_ns;
    } cases[] = { { "op:forward=0.5", 90 * MS },
                  { "forward=0.5", 90 * MS },
                  { "name:forward|gemm=0.5", 0 },
                  { "kernel:gemm=0.5", 0 } };
    draw_steps();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct edit edit = scaled(cases[i].text);
        struct whatif *whatif = whatif_of(edit, true);
        assert_int_equal(whatif->gains[0].effect.kept_ns, cases[i].kept_ns);
        struct result *result = scratch_result(result_open("tpa.whatif/2"));
        whatif_add_tables(whatif, &edit, result);
        size_t reported = 0, assumed = 0;
        for (size_t k = 0; k < result->notices.count; k++) {
            reported += strcmp(result->notices.at[k].kind, "kept_work") == 0;
            assumed += strcmp(result->notices.at[k].kind, "assumption") == 0;
        }
        assert_int_equal(reported, cases[i].kept_ns > 0);
        assert_int_equal(assumed, 1);
    }
}

TEST(factors_are_parsed)
{
    double factor = -1;
    assert_true(edit_parse_factor("0.5", 3, &factor) && factor == 0.5);
    assert_true(edit_parse_factor("2x", 2, &factor) && factor == 0.5);
    assert_true(edit_parse_factor("25%", 3, &factor) && factor == 0.25);
    assert_true(edit_parse_factor("0", 1, &factor) && factor == 0);
    assert_false(edit_parse_factor("", 0, &factor));
    assert_false(edit_parse_factor("-1", 2, &factor));
    assert_false(edit_parse_factor("0x", 2, &factor));
    assert_false(edit_parse_factor("nan", 3, &factor));
    assert_false(edit_parse_factor("1e5", 3, &factor));
    struct edit edit;
    struct tpa_error err = { 0 };
    assert_true(edit_parse_scale("kernel:a=b=0.5", &edit, &err));
    assert_int_equal(edit.target, TARGET_KERNEL);
    assert_int_equal(edit.pattern_len, 3);                     /* a=b */
    assert_true(edit_parse_scale("aten::mm=2x", &edit, &err)); /* "aten" is no kind: all of it is the name */
    assert_int_equal(edit.target, TARGET_NAME);
    assert_int_equal(edit.pattern_len, 8);
    assert_false(edit_parse_scale("kernel:=0.5", &edit, &err));
    assert_false(edit_parse_scale("kernel:a", &edit, &err));
}

TEST(a_name_that_nothing_has_is_an_error)
{
    draw_steps();
    static const char *const scales[] = {
        "kernel:conv=0",        "op:gemm=0",     "call:forward=0", "module:Linear=0",
        "annotation:nothing=0", "category:no=0", "kernel:(=0"
    };
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        struct edit edit = scaled(scales[i]);
        struct tpa_error err = { 0 };
        assert_null(whatif_open(replay_graph_of(drawn()), &edit, 1, false, &err));
    }
}

/* What the first sentence is about, and when it is no promise. */
TEST(the_first_sentence_is_true)
{
    draw_steps();
    struct edit edit = { .kind = EDIT_NO_DATA_WAIT };
    struct whatif *whatif = scratch(whatif_open(replay_graph_of(drawn()), &edit, 1, false, NULL));
    static const struct {
        int64_t then_ms;
        double unexplained;
        const char *says;
    } cases[] = {
        { 80, 0.5, "a step would take 80.000ms instead of 100.000ms (-20.0 %)" },
        { 99, 0, "a step would take 99.000ms instead of 100.000ms (-1.0 %)" },
        { 101, 0, "a step would take 101.000ms instead of 100.000ms (+1.0 %)" },
        { 80, 0.995,
          "a step would take 80.000ms instead of 100.000ms (-20.0 %); at best, as the recording has no reason for 99.5 % of "
          "its path" },
        { 110, 0.995, "a step would take 110.000ms instead of 100.000ms (+10.0 %)" },
    };
    assert_non_null(whatif);
    whatif->steps->now_ns = 100 * MS;
    whatif->steps->bound.kind = BOUND_UNKNOWN;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result *result = scratch_result(result_open("tpa.whatif/2"));
        whatif->steps->then_ns = cases[i].then_ms * MS;
        whatif->unexplained_share = cases[i].unexplained;
        whatif_add_tables(whatif, &edit, result);
        assert_string_equal(result->notices.at[0].text, cases[i].says);
    }
}

/*
 * Four programs of XLA of 100 ms, of which two may be in flight: one thread waits for its place, another launches. In ms:
 *
 *     thread 1  [Acquire semaphore 5-103][Acquire semaphore FROM-203][Acquire semaphore FROM + 100-303]
 *     thread 2  A 0  B 1                C LAUNCH                      D LAUNCH + 100; each call takes 1
 *     device     [A 2-102][B 102-202][C 202-302][D 302-402]
 */
static void draw_programs(int64_t from, int64_t launch)
{
    const int64_t launches[] = { 0, 1, launch, launch + 100 };
    draw_host("python_function", "Acquire semaphore", 1, 5 * MS, 98 * MS);
    draw_host("python_function", "Acquire semaphore", 1, from * MS, (203 - from) * MS);
    draw_host("python_function", "Acquire semaphore", 1, (from + 100) * MS, (203 - from) * MS);
    for (int64_t i = 0; i < 4; i++) {
        draw_call("cudaLaunchKernel", 2, launches[i] * MS, MS, i + 1);
        draw_work("kernel", "program", 0, 7, (2 + 100 * i) * MS, 100 * MS, i + 1);
    }
}

/*
 * The host waits on, so the 6 ms from the end of A to the launch of C are the device's. Ten times as fast: A ends at 12, so C is
 * launched at 18, before B ends at 22; that launches D at 28. Without any time A ends at 2, C is launched at 8, and D behind
 * that call at 9, which returns at 10. Where the host works for 20 ms from the end of the wait to the launch, 1 ms after A or after
 * the begin of the wait at 5 it goes on, at 6: C is launched at 26, D 1 + 20 ms after that call at 48, which returns at 49.
 */
TEST(a_thread_of_xla_waits_for_room_for_a_program)
{
    draw_programs(103, 108);
    assert_int_equal(then_scaled("kernel:program=1"), 402 * MS);
    assert_int_equal(then_scaled("kernel:program=0.1"), 42 * MS);
    assert_int_equal(then_scaled("kernel:program=0"), 10 * MS);
    draw_programs(124, 123);
    assert_int_equal(then_scaled("kernel:program=1"), 402 * MS);
    assert_int_equal(then_scaled("kernel:program=0"), 49 * MS);
}

/* In ms, as above, but B and D are launched by a third thread, and half a millisecond lies between waits. It had nothing to do from 5 on, not
 * from the last wait on: without any time B ends at 2, and D is launched 6 later; the call returns at 9. */
TEST(a_thread_of_xla_has_nothing_to_do_during_several_waits)
{
    for (int64_t i = 0; i < 3; i++)
        draw_host("python_function", "Acquire semaphore", 1, i ? (103 + 100 * (i - 1)) * MS + MS / 2 : 5 * MS,
                  i ? 99 * MS + MS / 2 : 98 * MS);
    const int64_t launches[] = { 0, 1, 108, 208 };
    for (int64_t i = 0; i < 4; i++) {
        draw_call("cudaLaunchKernel", 2 + i % 2, launches[i] * MS, MS, i + 1);
        draw_work("kernel", "program", 0, 7, (2 + 100 * i) * MS, 100 * MS, i + 1);
    }
    assert_int_equal(then_scaled("kernel:program=1"), 402 * MS);
    assert_int_equal(then_scaled("kernel:program=0"), 9 * MS);
}
