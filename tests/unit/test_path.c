/* Tests of replay/: the critical path, piece by piece, and where everything moves when something takes another time. */

#include "tests/unit/drawn.h"
#include "whatif/path_places.h"
#include <inttypes.h>

static const struct trace_wants *drawn_wants =
    &(const struct trace_wants){ .args = REPLAY_WANTS | PATH_PLACES_WANTS };

/* The path of all that was recorded as text: "operator 0-10 aten::mm, gap 10-30, ...". */
static const char *path_of(const struct trace *trace)
{
    static char text[2048];
    const struct replay_graph *graph = replay_graph_of(trace);
    struct path_windows *windows = scratch(path_windows_whole(graph));
    size_t len = 0;
    text[0] = '\0';
    for (size_t w = 0; w < windows->count; w++) {
        struct path *path = scratch(path_open(graph, &windows->at[w]));
        for (size_t i = 0; i < path->count && len < sizeof text; i++) {
            const struct path_segment *one = &path->at[i];
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %" PRId64 "-%" PRId64 "%s%s",
                                    i ? ", " : "", path_part_name(one->part), one->start_ns, one->end_ns,
                                    one->event == EVENT_NONE ? "" : " ",
                                    one->event == EVENT_NONE ? "" : trace_name(trace, one->event));
        }
    }
    return text;
}

/* When the last moment of all comes, with the work and the host pieces called NAME taking FACTOR of their time. */
static int64_t end_with(const struct trace *trace, const char *name, double factor)
{
    const struct replay_graph *graph = replay_graph_of(trace);
    struct changes *changes = scratch(changes_open(graph));
    for (size_t i = 0; i < graph->gpu->count; i++)
        if (strcmp(trace_name(trace, graph->gpu->event[i]), name) == 0)
            factors_set(&changes->work, i, (float)factor);
    for (moment_id m = 0; m < graph->host_count; m++)
        if (graph->inner[m] != EVENT_NONE && strcmp(trace_name(trace, graph->inner[m]), name) == 0)
            factors_set(&changes->piece, m, (float)factor);
    struct replay *replay = replay_open(graph, changes);
    int64_t end_ns = INT64_MIN;
    for (moment_id m = 0; m < graph->moment_count; m++)
        if (replay_time_of(replay, m) > end_ns)
            end_ns = replay_time_of(replay, m);
    replay_free(replay);
    return end_ns;
}

/* Work that starts 30 us after its launch and later was queued, for whatever reason; as in tpa gaps that is no latency of launches. */
TEST(late_work_was_queued)
{
    for (int64_t late = 0; late < 2; late++) {
        draw_kernel("gemm", 0, 5, 5 + 29999 + late, 40, 1);
        assert_string_equal(path_of(drawn()),
                            late ? "call 0-5 cudaLaunchKernel, queued 5-30005 gemm, kernel 30005-30045 gemm"
                                 : "call 0-5 cudaLaunchKernel, launch 5-30004 gemm, kernel 30004-30044 gemm");
    }
}

/*
 * What a call calls to wait with waits as it does: for the kernel. In half its time that ends at 30, and the call 10 later.
 *
 *     thread   [launch 0-5]  [hipStreamSynchronize 20-60 [hsa_signal_wait 25-55] ]
 *     stream         [gemm 10-50                        ]
 */
TEST(a_wait_within_a_call_that_waits_is_one)
{
    draw_call("hipLaunchKernel", 1, 0, 5, 1);
    draw_work("kernel", "gemm", 0, 7, 10, 40, 1);
    draw_call("hipStreamSynchronize", 1, 20, 40, 2);
    draw_call("hsa_signal_wait_scacquire", 1, 25, 30, 3);
    assert_string_equal(path_of(drawn()), "call 0-5 hipLaunchKernel, launch 5-10 gemm, kernel 10-50 gemm, "
                                          "sync 50-60 hipStreamSynchronize");
    assert_int_equal(end_with(drawn(), "gemm", 0.5), 40);
}

/*
 * The kernel is over before the synchronisation begins, so nobody waited for it: the path stays on the host.
 *
 *     thread   [ aten::mm 0-40          ]      [sync 60-70]
 *                  [launch 10-15]
 *     stream                [gemm 20-50 ]
 */
TEST(a_synchronisation_that_waits_for_nothing_is_a_call)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 40);
    draw_kernel("gemm", 10, 5, 20, 30, 1);
    draw_call("cudaDeviceSynchronize", 1, 60, 10, 2);
    assert_string_equal(path_of(drawn()),
                        "operator 0-10 aten::mm, call 10-15 cudaLaunchKernel, operator 15-40 aten::mm, "
                        "gap 40-60, call 60-70 cudaDeviceSynchronize");
    /* A kernel of twice its time ends at 80, and the synchronisation with it. */
    assert_int_equal(end_with(drawn(), "gemm", 2), 80);
    /* One of half its time changes nothing; an operator of half takes 5 + 5 + 12 and 20 + 10 for the rest. */
    assert_int_equal(end_with(drawn(), "gemm", 0.5), 70);
    assert_int_equal(end_with(drawn(), "aten::mm", 0.5), 52);
}

/* Of more pieces than MOST those that take LEAST_NS: as one that is looked through afterwards. */
TEST(short_pieces_of_a_long_path_are_left_out)
{
    for (int i = 0; i < 40; i++)
        draw_host("cpu_op", i % 3 ? "aten::mm" : "aten::add", 1, i * 20, i % 7 + 3);
    const struct replay_graph *graph = replay_graph_of(drawn());
    struct path_windows *windows = scratch(path_windows_whole(graph));
    struct path *all = scratch(path_open(graph, &windows->at[0]));
    assert_int_equal(all->count, 79); /* and the gaps between them */
    for (size_t most = 0; most <= all->count; most++)
        for (int64_t least_ns = 0; least_ns < 18; least_ns += 4) {
            struct path *some = scratch(path_open_long(graph, &windows->at[0], most, least_ns));
            size_t k = 0;
            for (size_t i = 0; i < all->count; i++) {
                const struct path_segment *piece = &all->at[i];
                if (most < all->count && piece->end_ns - piece->start_ns < least_ns)
                    continue;
                assert_true(k < some->count);
                assert_int_equal(some->at[k].start_ns, piece->start_ns);
                assert_int_equal(some->at[k].event, piece->event);
                assert_int_equal(some->at[k++].end_ns, piece->end_ns);
            }
            assert_int_equal(some->count, k);
        }
}

/*
 *     thread   [aten::mm 0-20] [sync 25 ................................... 115]
 *               [launch 5-8][launch 10-14]
 *     stream 7        [a 15-60                ][b 62-110                ]
 *
 * Back from 115: the call ended 5 after b, b was queued behind a (60 is later than 10, when its call began), and a was ready when
 * its call began, at 5.
 */
TEST(a_wait_leads_to_the_work_and_through_its_queue_to_a_launch)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 20);
    draw_call("cudaLaunchKernel", 1, 5, 3, 1);
    draw_call("cudaLaunchKernel", 1, 10, 4, 2);
    draw_work("kernel", "a", 0, 7, 15, 45, 1);
    draw_work("kernel", "b", 0, 7, 62, 48, 2);
    draw_call("cudaDeviceSynchronize", 1, 25, 90, 3);
    assert_string_equal(path_of(drawn()),
                        "operator 0-5 aten::mm, call 5-8 cudaLaunchKernel, launch 8-15 a, kernel 15-60 a, "
                        "stream 60-62 b, kernel 62-110 b, sync 110-115 cudaDeviceSynchronize");
    /* a takes no time: it ends at 15, b runs 17-65, the call ends at 70. */
    assert_int_equal(end_with(drawn(), "a", 0), 70);
    /* b takes none either way: it ends at 62, the call at 67. */
    assert_int_equal(end_with(drawn(), "b", 0), 67);
    /* b half as fast: 62-158, then 5. */
    assert_int_equal(end_with(drawn(), "b", 2), 163);
}

/* A synchronisation does not wait for what was launched after it began, on another thread. */
TEST(work_launched_during_a_synchronisation_is_not_awaited)
{
    draw_call("cudaLaunchKernel", 1, 0, 5, 1);
    draw_work("kernel", "a", 0, 7, 10, 20, 1); /* ends at 30 */
    draw_call("cudaDeviceSynchronize", 1, 10, 40, 2);
    draw_call("cudaLaunchKernel", 2, 20, 5, 3);
    draw_work("kernel", "late", 0, 8, 30, 15, 3); /* ends at 45, launched at 20 */
    assert_string_equal(path_of(drawn()), "call 0-5 cudaLaunchKernel, launch 5-10 a, kernel 10-30 a, "
                                          "sync 30-50 cudaDeviceSynchronize");
}

/*
 * A stream waits for another, by record: side was launched last on stream 8 before the event was recorded at 30, and join is the
 * first work launched on stream 7 after the wait call at 40.
 *
 *     thread    [launch 0-4][launch 10-14] [record 30] [wait 40] [launch 50-54] [sync 60 ... 135]
 *     stream 8  [side 5-90                                          ]
 *     stream 7               [main 15-40        ]                     [join 95-130]
 */
TEST(a_stream_waits_for_the_event_that_was_recorded)
{
    draw_call("cudaLaunchKernel", 1, 0, 4, 1);
    draw_work("kernel", "side", 0, 8, 5, 85, 1);
    draw_kernel("main", 10, 4, 15, 25, 2);
    draw_call("cudaEventRecord", 1, 30, 2, 3);
    draw_call("cudaStreamWaitEvent", 1, 40, 2, 4);
    draw_work("cuda_sync", "Stream Wait Event", 0, 7, 40, 1, 4);
    draw_arg(ARG_WAIT_ON_STREAM, 8);
    draw_arg(ARG_WAIT_ON_CORRELATION, 3);
    draw_kernel("join", 50, 4, 95, 35, 5);
    draw_call("cudaStreamSynchronize", 1, 60, 75, 6);
    assert_string_equal(path_of(drawn()),
                        "call 0-4 cudaLaunchKernel, launch 4-5 side, kernel 5-90 side, event 90-95 join, "
                        "kernel 95-130 join, sync 130-135 cudaStreamSynchronize");
    /* side of no time ends at 5. join is launched at 50 and follows main at 40: 50-85, and the call ends 5 later. */
    assert_int_equal(end_with(drawn(), "side", 0), 90);
}

/* Without records: of the work of other streams launched before the wait call at 20, what ended last before join began. */
TEST(without_records_a_wait_is_for_what_ended_last)
{
    draw_call("cudaLaunchKernel", 1, 0, 4, 1);
    draw_work("kernel", "side", 0, 8, 5, 55, 1); /* ends at 60 */
    draw_call("cudaStreamWaitEvent", 1, 20, 2, 2);
    draw_call("cudaLaunchKernel", 1, 30, 4, 3);
    draw_work("kernel", "other", 0, 9, 35, 26, 3); /* ends at 61, but was launched after the wait */
    draw_kernel("join", 40, 4, 62, 8, 4);
    assert_string_equal(path_of(drawn()),
                        "call 0-4 cudaLaunchKernel, launch 4-5 side, kernel 5-60 side, event 60-62 join, "
                        "kernel 62-70 join");
}

/*
 * Thread 2 runs the backward of number 4; thread 1 waits for it from 20 to 55.
 *
 *     thread 1  [forward 0-20]                      [next 55-60]
 *     thread 2                 [backward 25-50    ]
 */
TEST(the_backward_thread_hands_over)
{
    draw_host("cpu_op", "forward", 1, 0, 20);
    draw_arg(ARG_SEQUENCE, 4);
    draw_host("cpu_op", "backward", 2, 25, 25);
    draw_arg(ARG_SEQUENCE, 4);
    draw_arg(ARG_FWD_THREAD, 1);
    draw_host("cpu_op", "next", 1, 55, 5);
    assert_string_equal(path_of(drawn()),
                        "operator 0-20 forward, gap 20-25, operator 25-50 backward, gap 50-55, "
                        "operator 55-60 next");
    /* Forward in half its time: all comes 10 earlier. Backward in none: 25 earlier. */
    assert_int_equal(end_with(drawn(), "forward", 0.5), 50);
    assert_int_equal(end_with(drawn(), "backward", 0), 35);
}

/*
 * Calls alone, as a log of calls has them: nothing links the threads, but they take turns.
 *
 *     thread 1  [launch 0-10]                      [launch 60-70]
 *     thread 2                 [launch 20-50     ]
 *
 * The path stays on its thread. In the replay thread 2 follows thread 1, and thread 1 thread 2.
 */
TEST(threads_that_take_turns_follow_one_another)
{
    draw_kernel("a", 0, 10, 5, 1, 1);
    draw_call("cuLaunchKernel", 2, 20, 30, 2);
    draw_work("kernel", "b", 0, 7, 25, 1, 2);
    draw_kernel("c", 60, 10, 65, 1, 3);
    assert_string_equal(path_of(drawn()),
                        "call 0-10 cudaLaunchKernel, gap 10-60, call 60-70 cudaLaunchKernel");
    /* Thread 2's call in a tenth of its time: 20-23; the gap of 10 after it ends at 33, the last call at 43. */
    assert_int_equal(end_with(drawn(), "cuLaunchKernel", 0.1), 43);
}

/* A copy that its call waited for; and one that was over when its call had not begun, which no clock can explain. */
TEST(a_copy_blocks_its_call_where_the_call_ended_after_it)
{
    draw_host("cpu_op", "aten::item", 1, 0, 50);
    draw_call("cudaMemcpyAsync", 1, 10, 35, 1);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, 20, 15, 1);
    assert_string_equal(path_of(drawn()),
                        "operator 0-10 aten::item, call 10-20 cudaMemcpyAsync, "
                        "copy 20-35 Memcpy DtoH (Device -> Pageable), sync 35-45 cudaMemcpyAsync, "
                        "operator 45-50 aten::item");
}

/* Work that began 3 before its call did: the path goes on where its thread was then. */
TEST(work_that_began_before_its_call_goes_on_where_the_thread_was)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 30);
    draw_kernel("gemm", 20, 5, 17, 43, 1);
    assert_string_equal(path_of(drawn()), "operator 0-17 aten::mm, kernel 17-60 gemm");
    assert_int_equal(replay_graph_of(drawn())->early_work, 1);
    /* The operator's first piece of 20 takes 10; the work is kept 17 behind the begin of the piece. */
    assert_int_equal(end_with(drawn(), "gemm", 0.5), 38);
}

TEST(work_of_which_nothing_is_known_is_unknown)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 10);
    draw_work("kernel", "graph", 0, 7, 20, 10, DRAW_NO_CALL);
    assert_string_equal(path_of(drawn()), "unknown 0-20, kernel 20-30 graph");
    assert_int_equal(replay_graph_of(drawn())->unknown_starts, 1);
}

/*
 * Everything at one moment, with work of no duration and calls that claim to wait for what they launch: no circle, no hang, and
 * nothing moves.
 */
TEST(what_happens_at_one_moment_has_an_order)
{
    for (int64_t k = 0; k < 20; k++) {
        draw_host("cpu_op", "op", k % 3 + 1, 10, 0);
        draw_arg(ARG_SEQUENCE, k % 2);
        draw_arg(ARG_FWD_THREAD, k % 3);
        draw_call(k % 2 ? "cudaMemcpyAsync" : "cudaDeviceSynchronize", k % 3 + 1, 10, k % 5 == 0, 100 + k);
        draw_work(k % 2 ? "gpu_memcpy" : "kernel", "w", 0, 7 + k % 2, 10, 0, 100 + k);
    }
    const struct replay_graph *graph = replay_graph_of(drawn());
    struct replay *replay = replay_open(graph, NULL);
    for (moment_id m = 0; m < graph->moment_count; m++)
        assert_int_equal(replay_time_of(replay, m), replay_moment_ns(graph, m));
    replay_free(replay);
    path_of(drawn());
}

/*
 * Two ranks, one all_reduce: rank 1 comes to it at 80, rank 0 at 30; it ends for both at 120.
 *
 *     rank 0  [mm 0-20] [launch 20-25][nccl 30-120              ]  [sync 40 .. 125]
 *     rank 1  [slow 0-70] [launch 70-75]     [nccl 80-120       ]  [sync 90 .. 124]
 */
TEST(a_collective_leads_to_the_last_rank)
{
    for (int64_t rank = 0; rank < 2; rank++) {
        draw_rank(rank);
        draw_host("cpu_op", rank ? "slow" : "mm", 1, 0, rank ? 70 : 20);
        draw_call("cudaLaunchKernel", 1, rank ? 70 : 20, 5, 1);
        draw_work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 9, rank ? 80 : 30, rank ? 40 : 90,
                  1);
        draw_reduces(2, 3);
        draw_call("cudaDeviceSynchronize", 1, rank ? 90 : 40, rank ? 34 : 85, 2);
    }
    assert_string_equal(path_of(drawn()), "operator 0-70 slow, call 70-75 cudaLaunchKernel, "
                                          "launch 75-80 ncclDevKernel_AllReduce_Sum_f32_RING_LL, "
                                          "communication 80-120 ncclDevKernel_AllReduce_Sum_f32_RING_LL, "
                                          "sync 120-125 cudaDeviceSynchronize");
    /* slow in half its time: it arrives at 45, the transfer of 40 ends at 85, the call at 90. */
    assert_int_equal(end_with(drawn(), "slow", 0.5), 90);
    /* In none: it arrives at 10, and rank 0, at 30, is the last: 70, then 5. */
    assert_int_equal(end_with(drawn(), "slow", 0), 75);
}

TEST(a_trace_of_other_events_has_a_path_of_these)
{
    draw_host("python_function", "main", 1, 0, 30);
    draw_host("python_function", "load", 1, 5, 10);
    assert_string_equal(path_of(drawn()), "operator 0-5 main, operator 5-15 load, operator 15-30 main");
}

/* Spans that overlap and do not nest: the one that began last is the innermost. */
TEST(overlapping_spans_are_of_the_last_to_begin)
{
    draw_host("cpu_op", "a", 1, 0, 20);
    draw_host("cpu_op", "b", 1, 10, 30);
    draw_host("cpu_op", "c", 1, 15, 10);
    assert_string_equal(path_of(drawn()),
                        "operator 0-10 a, operator 10-15 b, operator 15-25 c, operator 25-40 b");
}

/*
 *   host     0 [ train.py(1): step                                                        ) 100
 *             10 [ Linear_0              ) 40
 *               15 [ mm: launch 20-24 ) 35      60 [ cudaDeviceSynchronize ) 82    85 [ add ) 95
 *   device              30 [ gemm                                  ) 80
 *
 * mm 15-20, the launch 20-24, its latency 24-30 and gemm 30-80 are Linear_0's: 65 ns. All 80 are step's.
 */
TEST(a_path_leads_through_modules_and_lines)
{
    draw_host("python_function", "train.py(1): step", 1, 0, 100);
    draw_host("python_function", "nn.Module: Linear_0", 1, 10, 30);
    draw_host("cpu_op", "aten::mm", 1, 15, 20);
    draw_kernel("gemm", 20, 4, 30, 50, 1);
    draw_call("cudaDeviceSynchronize", 1, 60, 22, 2);
    draw_host("cpu_op", "aten::add", 1, 85, 10);
    static const struct {
        const char *name;
        int64_t time_ns, self_ns;
    } expected[] = {
        [CODE_MODULES] = { "Linear_0", 65, 65 }, [CODE_LINES] = { "train.py(1): step", 80, 80 }
    };
    struct path_windows *windows = scratch(path_windows_whole(replay_graph_of(drawn())));
    struct path *path = scratch(path_open(replay_graph_of(drawn()), &windows->at[0]));
    for (int frames = 0; frames < 2; frames++) {
        const struct code_paths *code = code_paths_of(drawn(), (enum code_frames)frames);
        SCOPED struct path_places places = path_places_of(replay_graph_of(drawn()), path, code);
        assert_int_equal(places.count, 1);
        assert_string_equal(code_path_name(code, places.at[0].path), expected[frames].name);
        assert_int_equal(places.at[0].time_ns, expected[frames].time_ns);
        assert_int_equal(places.at[0].self_ns, expected[frames].self_ns);
    }
}

/*
 * One gap, and one piece of an operator, in which the thread comes by several functions.
 *
 *     train.py(1): step     [0                                           100]
 *     train.py(9): log            [15          45]
 *     operators               [10-15]         (gap 15-60)    [mine 60-100]
 *     mine.py(3): sleep                                       [70-95]
 */
TEST(a_gap_is_where_the_thread_was_at_each_moment)
{
    draw_host("python_function", "train.py(1): step", 1, 0, 100);
    draw_host("cpu_op", "aten::mm", 1, 10, 5);
    draw_host("python_function", "train.py(9): log", 1, 15, 30);
    draw_host("cpu_op", "mine", 1, 60, 40);
    draw_host("python_function", "mine.py(3): sleep", 1, 70, 25);
    static const struct {
        const char *name;
        int64_t time_ns, self_ns;
    } expected[] = {
        { "train.py(1): step", 90, 35 }, /* 10-15, 45-60, 60-70, 95-100 */
        { "train.py(9): log", 30, 30 },
        { "mine.py(3): sleep", 25, 25 },
    };
    struct path_windows *windows = scratch(path_windows_whole(replay_graph_of(drawn())));
    struct path *path = scratch(path_open(replay_graph_of(drawn()), &windows->at[0]));
    const struct code_paths *code = code_paths_of(drawn(), CODE_LINES);
    SCOPED struct path_places places = path_places_of(replay_graph_of(drawn()), path, code);
    assert_int_equal(places.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(code_path_name(code, places.at[i].path), expected[i].name);
        assert_int_equal(places.at[i].time_ns, expected[i].time_ns);
        assert_int_equal(places.at[i].self_ns, expected[i].self_ns);
    }
}

/*
 * The same of annotations, but for the step. Work is where it was launched.
 *
 *     annotations   [ProfilerStep#0                          ]     [load 0-40][forward 40-60]
 *     operators     (gap 0-40) [mm 40-50: launch 42-44](gap 50-60)
 *     stream                          [gemm 50-90]                 [synchronize 60-92]
 */
TEST(annotations_say_what_gaps_are)
{
    draw_step(0, 0, 100);
    draw_host("user_annotation", "load", 1, 0, 40);
    draw_host("cpu_op", "aten::empty", 1, 0, 1);
    draw_host("user_annotation", "forward", 1, 40, 20);
    draw_host("cpu_op", "aten::mm", 1, 40, 10);
    draw_kernel("gemm", 42, 2, 50, 40, 1);
    draw_call("cudaDeviceSynchronize", 1, 60, 32, 2);
    struct path_windows *windows = scratch(path_windows_whole(replay_graph_of(drawn())));
    struct path *path = scratch(path_open(replay_graph_of(drawn()), &windows->at[0]));
    const struct code_paths *code = code_paths_of(drawn(), CODE_ANNOTATIONS);
    SCOPED struct path_places places = path_places_of(replay_graph_of(drawn()), path, code);
    assert_int_equal(places.count, 2);
    assert_string_equal(code_path_name(code, places.at[0].path), "forward"); /* 40-50, and gemm 50-90 */
    assert_int_equal(places.at[0].self_ns, 50);
    assert_string_equal(code_path_name(code, places.at[1].path), "load");
    assert_int_equal(places.at[1].self_ns, 40);
}
