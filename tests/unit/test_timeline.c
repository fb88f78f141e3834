/* test_timeline.c - charts/timeline.h, base/timeline.h: what lies where, what is left out, and what strips add up to. */
#include "tests/unit/drawn.h"

#include "charts/timeline.h"
#include "charts/timeline_parts.h"

SCRATCH_OF(timeline)

static void launch(int64_t start_ns, const char *kernel, int64_t kernel_ns, int64_t dur_ns, int64_t id)
{
    draw_host("cuda_runtime", "cudaLaunchKernel", DRAW_PROCESS, start_ns, 5);
    draw_arg(ARG_CORRELATION, id);
    draw_event("kernel", kernel, 0, 7, kernel_ns, dur_ns);
    draw_arg(ARG_CORRELATION, id);
}

/*
 *   host    [ProfilerStep#3 0......................................1000)
 *            [train.py(7): step 10.....500)
 *             [torch/nn/modules/module.py(9): _call_impl 20..400)
 *              [aten::mm 30.......100) launches at 40; a second one launches at 600
 *   stream        [gemm 100......300)            [add 700...800)
 */
static struct trace *one_step(void)
{
    draw_host("user_annotation", "ProfilerStep#3", DRAW_PROCESS, 0, 1000);
    draw_host("python_function", "train.py(7): step", DRAW_PROCESS, 10, 490);
    draw_host("python_function", "torch/nn/modules/module.py(9): _call_impl", DRAW_PROCESS, 20, 380);
    draw_host("cpu_op", "aten::mm", DRAW_PROCESS, 30, 70);
    launch(40, "gemm", 100, 200, 1);
    launch(600, "add", 700, 100, 2);
    return drawn();
}

static struct timeline *timeline_of(const struct trace *trace)
{
    const struct selection *selection = selection_all(trace);
    struct timeline *timeline = scratch_timeline(chart_timeline(trace, selection));
    return timeline;
}

static const struct timeline_span *span_called(const struct timeline *timeline, const char *name, int place)
{
    for (size_t i = 0; i < timeline->spans.count; i++) {
        const struct timeline_span *span = &timeline->spans.at[i];
        if (strcmp(names_text(timeline->names, span->name), name) == 0 &&
            (int)timeline->lanes.at[span->lane].place == place)
            return span;
    }
    fail_msg("no span %s", name);
    return NULL;
}

TEST(devices_come_first_then_the_critical_path_then_threads)
{
    struct trace *trace = one_step();
    struct timeline *timeline = timeline_of(trace);
    assert_int_equal(timeline->start_ns, 0);
    assert_int_equal(timeline->dur_ns, 1000);
    assert_int_equal(timeline->left_out, 0);
    assert_int_equal(timeline->lanes.count, 4);
    assert_string_equal(timeline->lanes.at[0].title, "device 0, idle");
    assert_string_equal(timeline->lanes.at[1].title, "device 0, stream 7");
    assert_string_equal(timeline->lanes.at[2].title, "critical path");
    assert_string_equal(timeline->lanes.at[3].title, "thread 100");
    assert_int_equal(timeline->steps.count, 1);
    assert_int_equal(timeline->steps.at[0].number, 3);
}

TEST(frames_of_pytorch_are_folded_and_those_below_know_how_many)
{
    struct trace *trace = one_step();
    struct timeline *timeline = timeline_of(trace);
    const struct timeline_span *step = span_called(timeline, "train.py(7): step", TIMELINE_HOST),
                               *mm = span_called(timeline, "aten::mm", TIMELINE_HOST),
                               *inner = span_called(timeline, "torch/nn/modules/module.py(9): _call_impl",
                                                    TIMELINE_HOST);
    assert_int_equal(step->kind, SPAN_PYTHON);
    assert_false(step->folded);
    assert_true(inner->folded);
    assert_int_equal(inner->inner, 0);
    assert_int_equal(mm->depth, 3);
    assert_int_equal(mm->inner, 1);
}

/* A host that loads, in an annotation or, as older profilers record it, an operator; and that communicates. */
TEST(what_loads_and_what_communicates_on_the_host_have_kinds_of_their_own)
{
    static const char loader[] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    draw_host("user_annotation", "enumerate(DataPipe)#Shuffler", DRAW_PROCESS, 0, 100);
    draw_host("cpu_op", loader, DRAW_PROCESS, 200, 100);
    draw_host("user_annotation", "gloo:all_reduce", DRAW_PROCESS, 400, 100);
    draw_host("user_annotation", "forward", DRAW_PROCESS, 600, 100);
    draw_host("cpu_op", "aten::mm", DRAW_PROCESS, 610, 10);
    struct timeline *timeline = timeline_of(drawn());
    static const struct {
        const char *name;
        uint32_t kind;
    } wanted[] = { { "enumerate(DataPipe)#Shuffler", SPAN_LOADING },
                   { loader, SPAN_LOADING },
                   { "gloo:all_reduce", SPAN_HOST_COMMUNICATION },
                   { "forward", SPAN_ANNOTATION },
                   { "aten::mm", SPAN_OPERATOR } };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_int_equal(span_called(timeline, wanted[i].name, TIMELINE_HOST)->kind, wanted[i].kind);
}

TEST(work_knows_its_kind_and_call_and_gaps_their_cause)
{
    struct trace *trace = one_step();
    struct timeline *timeline = timeline_of(trace);
    const struct timeline_span *gemm = span_called(timeline, "gemm", TIMELINE_DEVICE),
                               *add = span_called(timeline, "add", TIMELINE_DEVICE),
                               *gap = span_called(timeline, "idle: host", TIMELINE_DEVICE);
    assert_int_equal(gemm->kind, SPAN_MATRIX);
    assert_int_equal(add->kind, SPAN_COMPUTATION);
    assert_string_equal(trace_name(trace, gemm->call), "cudaLaunchKernel");
    assert_int_equal(trace_start_ns(trace, gemm->call), 40);
    assert_int_equal(gemm->correlation, 1);
    /* From 300 to 700: the call of add began at 600, so most of it the host was late. */
    assert_int_equal(gap->start_ns, 300);
    assert_int_equal(gap->dur_ns, 400);
}

/* Busy 200 + 100; the gap: host 300, call 5, latency 95. Before the first and after the last work nothing is said. */
TEST(a_strip_adds_up)
{
    struct trace *trace = one_step();
    struct timeline *timeline = timeline_of(trace);
    int64_t sums[TIMELINE_MOST_KINDS] = { 0 };
    assert_int_equal(timeline->strips.count, 1);
    for (size_t bin = 0; bin < timeline->bins; bin++)
        for (size_t kind = 0; kind < TIMELINE_MOST_KINDS; kind++)
            sums[kind] += timeline->strips.at[0].ns[bin * TIMELINE_MOST_KINDS + kind];
    assert_int_equal(sums[SPAN_MATRIX], 200);
    assert_int_equal(sums[SPAN_COMPUTATION], 100);
}

/* Ten bins of 10 ns: 20 of the 40 ns from 15 to 55 are spread evenly: half of each bin that is covered. */
TEST(a_strip_spreads_time_evenly)
{
    struct timeline *timeline = scratch_timeline(timeline_open("t", 100, 100, 10));
    timeline_add_kind(timeline, "k", "g", CHART_BLUE);
    size_t strip = timeline_add_strip(timeline, "s");
    timeline_fill_strip(timeline, strip, 0, 115, 155, 20);
    static const int64_t expected[10] = { 0, 2, 5, 5, 5, 2, 0, 0, 0, 0 };
    for (size_t bin = 0; bin < 10; bin++)
        assert_int_equal(timeline->strips.at[strip].ns[bin * TIMELINE_MOST_KINDS], expected[bin]);
    timeline_fill_strip(timeline, strip, 0, 0, 1000, 1000); /* reaches out at both ends */
    assert_int_equal(timeline->strips.at[strip].ns[0], 10);
}

/* Seven bins of 1000 ns, each 142 or 143 long: pieces of 10 ns come to the same in any order, and so do highest values. */
TEST(strips_and_series_are_the_same_in_any_order)
{
    struct timeline *timeline = scratch_timeline(timeline_open("t", 100, 1000, 7));
    timeline_add_kind(timeline, "k", "g", CHART_BLUE);
    size_t forwards = timeline_add_strip(timeline, "f"), mixed = timeline_add_strip(timeline, "m");
    size_t up = timeline_add_series(timeline, "u", 0), any = timeline_add_series(timeline, "a", 0);
    for (int64_t i = 0; i < 100; i++) {
        int64_t from_ns = 100 + 10 * i, other_ns = 100 + 10 * (i * 37 % 100);
        timeline_fill_strip(timeline, forwards, 0, from_ns, from_ns + 10, 10);
        timeline_fill_strip(timeline, mixed, 0, other_ns, other_ns + 10, 10);
        timeline_set_series(timeline, up, from_ns, from_ns + 10, from_ns);
        timeline_set_series(timeline, any, other_ns, other_ns + 10, other_ns);
    }
    for (size_t bin = 0; bin < 7; bin++) {
        int64_t length_ns = 1000 * (int64_t)(bin + 1) / 7 - 1000 * (int64_t)bin / 7;
        assert_int_equal(timeline->strips.at[forwards].ns[bin * TIMELINE_MOST_KINDS], length_ns);
        assert_int_equal(timeline->strips.at[mixed].ns[bin * TIMELINE_MOST_KINDS], length_ns);
        int64_t last_ns =
            (1000 * (int64_t)(bin + 1) / 7 - 1) / 10 * 10 + 100; /* the last piece that begins in it */
        assert_int_equal(timeline->series.at[up].most[bin], last_ns);
        assert_int_equal(timeline->series.at[any].most[bin], last_ns);
    }
}

TEST(spans_are_cut_at_the_ends_and_the_heaviest_have_the_lowest_ranks)
{
    struct timeline *timeline = scratch_timeline(timeline_open("t", 100, 100, 1));
    timeline_add_lane(timeline, "lane", "", TIMELINE_HOST);
    timeline_add_span(timeline, &(struct timeline_span){ .start_ns = 50, .dur_ns = 60, .weight = 1 });
    timeline_add_span(timeline, &(struct timeline_span){ .start_ns = 0, .dur_ns = 10, .weight = 5 });
    timeline_add_span(timeline, &(struct timeline_span){ .start_ns = 190, .dur_ns = 60, .weight = 3 });
    timeline_rank(timeline);
    assert_int_equal(timeline->spans.count, 2);
    assert_int_equal(timeline->spans.at[0].start_ns, 100);
    assert_int_equal(timeline->spans.at[0].dur_ns, 10);
    assert_int_equal(timeline->spans.at[0].rank, 1);
    assert_int_equal(timeline->spans.at[1].start_ns, 190);
    assert_int_equal(timeline->spans.at[1].dur_ns, 10);
    assert_int_equal(timeline->spans.at[1].rank, 0);
}

/* Whatever is cut, and in however many turns, what is left is what a ranking of all would have first. */
TEST(what_is_cut_is_what_a_ranking_has_last)
{
    enum { SPANS = 500, TURN = 70 };
    uint32_t seed = 1;
    for (size_t most = 1; most <= 400; most += 57) {
        struct timeline *all = scratch_timeline(timeline_open("t", 0, 100000, 1)),
                        *cut = scratch_timeline(timeline_open("t", 0, 100000, 1));
        for (uint32_t i = 0; i < SPANS; i++) {
            seed = seed * 1103515245 + 12345;
            struct timeline_span span = { .event = i, .start_ns = seed >> 16 & 7, .lane = seed >> 20 & 3 };
            span.weight = i % 3 ? (int64_t)(seed >> 24 & 15) - 4 : INT64_C(1) << (seed >> 22 & 31);
            timeline_add_span(all, &span);
            timeline_add_span(cut, &span);
            if (i % TURN == 0)
                timeline_cut(cut, most);
        }
        int64_t least_weight = timeline_cut(cut, most);
        timeline_rank(cut);
        timeline_rank(all);
        assert_int_equal(cut->spans.count, most);
        for (size_t i = 0, k = 0; i < SPANS; i++) {
            const struct timeline_span *span = &all->spans.at[i];
            if (span->rank >= most)
                continue;
            assert_int_equal(cut->spans.at[k].event, span->event);
            assert_int_equal(cut->spans.at[k++].rank, span->rank);
            assert_true(span->rank + 1 < most || span->weight == least_weight);
        }
        assert_true(timeline_cut(cut, most) == INT64_MIN);
    }
}

TEST(a_series_keeps_the_most_of_each_bin)
{
    struct timeline *timeline = scratch_timeline(timeline_open("t", 0, 100, 4));
    size_t series = timeline_add_series(timeline, "memory", TIMELINE_BYTES);
    static const int64_t most[] = { 7, 7, 5, INT64_MIN };
    timeline_set_series(timeline, series, 3, 30, 7);
    timeline_set_series(timeline, series, 30, 60, 5);
    timeline_set_series(timeline, series, 60, 60, 2);
    timeline_set_series(timeline, series, 60, 50, 9);
    timeline_set_series(timeline, series, 200, 300, 9);
    for (int bin = 0; bin < 4; bin++)
        assert_true(timeline->series.at[series].most[bin] == most[bin]);
}

TEST(a_finer_series_is_read_by_its_changes)
{
    struct timeline *timeline = scratch_timeline(timeline_open("t", 100, 100, 4));
    SCOPED struct timeline_changes changes = { 0 };
    timeline->finer = 25; /* a cell for each nanosecond */
    size_t series = timeline_add_series(timeline, "queue", 0);
    timeline_set_series(timeline, series, 110, 120, 2);
    timeline_set_series(timeline, series, 120, 121, 5);
    timeline_set_series(timeline, series, 121, 200, 0);
    static const struct timeline_change all[] = { { 110, 2 }, { 120, 5 }, { 121, 0 } };
    for (int ended = 0; ended < 2; ended++) { /* as cells, then as runs */
        changes.count = 0;
        timeline_read_series(timeline, series, 100, 200, 1000, &changes);
        assert_int_equal(changes.count, 3);
        assert_memory_equal(changes.at, all, sizeof all);
        changes.count = 0;
        timeline_read_series(timeline, series, 115, 119, 1000, &changes);
        assert_int_equal(changes.count, 1);
        assert_int_equal(changes.at[0].value, 2);
        changes.count = 0;
        timeline_read_series(timeline, series, 100, 200, 10, &changes); /* the most of each ten or so */
        assert_true(changes.count > 1 && changes.count <= 11);
        assert_int_equal(changes.at[0].value + changes.at[1].value, 2 + 5);
        if (!ended)
            timeline_end_series(timeline, series);
        assert_null(timeline->series.at[series].most);
        assert_int_equal(timeline->series.at[series].runs.count, 4);
        assert_true(timeline_series_most(timeline, series, 0, 10) == INT64_MIN);
    }
}

/* The first kernel waits from 40 to 100, the second from 600 to 700. */
TEST(work_waits_in_the_queue_from_its_call_to_its_start)
{
    struct trace *trace = one_step();
    struct timeline *timeline = timeline_of(trace);
    assert_int_equal(timeline->series.count, 1);
    const struct timeline_series *queue = &timeline->series.at[0];
    assert_string_equal(queue->title, "device 0: queue");
    assert_int_equal(queue->strip, 0);
    for (size_t bin = 0; bin < timeline->bins; bin++) {
        int64_t from_ns = timeline->dur_ns * (int64_t)bin / (int64_t)timeline->bins,
                to_ns = timeline->dur_ns * (int64_t)(bin + 1) / (int64_t)timeline->bins;
        bool waits = (to_ns > 40 && from_ns < 100) || (to_ns > 600 && from_ns < 700);
        if (from_ns < to_ns) /* some bins are shorter than a nanosecond */
            assert_int_equal(
                timeline_series_most(timeline, 0, bin * timeline->finer, (bin + 1) * timeline->finer), waits);
    }
}

TEST(an_empty_trace_has_no_timeline)
{
    draw_begin(drawn_wants);
    assert_null(timeline_of(drawn()));
}
