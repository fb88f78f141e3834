/*
 * Two ranks, drawn in nanoseconds:
 *
 *   file 0 (rank 0 of 2)    100          200          300        400
 *     thread 1              [ProfilerStep#4        ][ProfilerStep#5 ]
 *                           [ mm  ]   *[memory]*
 *                             [launch]
 *     device 0, stream 7             [gemm   ]  [copy]
 *   file 1 (rank 1 of 2): [add] on thread 1, nothing else
 */

#include "analyze/info.h"
#include "tests/unit/drawn.h"
#include "derive/features.h"

static const struct trace_wants *drawn_wants =
    &(const struct trace_wants){ .args = WANT(DEVICE) | WANT(STREAM) | WANT(CORRELATION) | FEATURE_WANTS };

static void describe_file(int64_t rank)
{
    struct trace_file *file = drawn_file();
    file->rank = rank;
    file->world_size = 2;
    file->backend = "nccl";
    file->record_shapes = 1;
    *VEC_PUSH(&file->properties) = (struct trace_property){ "cuda_runtime_version", "12040" };
    *VEC_PUSH(&file->properties) =
        (struct trace_property){ "note", rank == 0 ? "first\n   of  two" : "second" };
    *VEC_PUSH(&file->properties) = (struct trace_property){ "traceName", "t.json" };
    *VEC_PUSH(&file->devices) = (struct trace_device){
        .id = 0, .name = "H100", .total_memory = 80, .compute_major = 9, .sm_count = 132
    };
}

static struct result *draw(void)
{
    describe_file(0);
    draw_step(4, 100, 130);
    draw_step(5, 230, 171);
    draw_host("cpu_op", "mm", 1, 100, 60);
    draw_call("cudaLaunchKernel", 1, 120, 20, 9);
    draw_host("cpu_instant_event", "[memory]", 1, 170, 0);
    draw_work("kernel", "gemm", 0, 7, 200, 90, 9);
    draw_work("gpu_memcpy", "Memcpy HtoD", 0, 7, 310, 50, DRAW_NO_CALL);
    draw_file("rank1.json");
    describe_file(1);
    draw_host("cpu_op", "add", 1, 1000, 7);
    struct result *result = scratch_result(result_open("tpa.info/1"));
    info_add_tables(drawn(), result);
    return result;
}

TEST(files_tell_rank_span_and_steps)
{
    struct result *result = draw();
    const struct table *files = table_called(result, "files");
    assert_int_equal(files->row_count, 2);
    assert_int_equal(int_called(files, 1, "rank"), 1);
    assert_int_equal(int_called(files, 0, "world_size"), 2);
    assert_int_equal(int_called(files, 0, "span"), 301); /* 100 to 401 */
    assert_int_equal(int_called(files, 1, "span"), 7);
    assert_row(files, 0, "steps=2, first_step=4, last_step=5");
    assert_int_equal(int_called(files, 0, "step_annotation_avg"), 151); /* (130 + 171) / 2 = 150.5 */
    assert_int_equal(int_called(files, 0, "events"), 7);
    assert_int_equal(int_called(files, 1, "steps"), 0);
    assert_true(int_called(files, 1, "step_annotation_avg") == TABLE_INT_MISSING);
    assert_null(text_called(files, 0, "begin")); /* 100 ns after an unknown origin is no date */
}

TEST(what_files_say_alike_is_shown_once)
{
    struct result *result = draw();
    const struct table *facts = table_called(result, "facts");
    const char *const expected[][2] = {
        { "distributed backend", "nccl" }, { "record_shapes", "yes" }, { "CUDA runtime", "12.4" },
        { "note", "first of two" },        { "note", "second" },
    };
    assert_int_equal(facts->row_count, 5);
    for (size_t row = 0; row < 5; row++) {
        assert_string_equal(text_called(facts, row, "fact"), expected[row][0]);
        assert_string_equal(text_called(facts, row, "value"), expected[row][1]);
        assert_int_equal(int_called(facts, row, "files"), row < 3 ? 2 : 1);
    }
}

TEST(devices_tell_their_streams_and_events)
{
    struct result *result = draw();
    const struct table *devices = table_called(result, "devices");
    assert_int_equal(devices->row_count, 1);
    assert_row(devices, 0,
               "name=H100, compute_capability=9.0, sm_count=132, streams=1, events=2, "
               "files=2");
    assert_true(int_called(devices, 0, "warp_size") == TABLE_INT_MISSING);
}

TEST(categories_and_tracks_count_every_event_once)
{
    struct result *result = draw();
    const char *const keys[] = { "categories", "tracks" };
    for (size_t k = 0; k < 2; k++) {
        const struct table *table = table_called(result, keys[k]);
        int64_t sum = 0;
        for (size_t row = 0; row < table->row_count; row++)
            sum += int_called(table, row, "events");
        assert_int_equal(sum, drawn()->event_count);
    }
    const struct table *tracks = table_called(result, "tracks");
    assert_int_equal(tracks->row_count, 3);
    assert_row(tracks, 0, "events=5, span=301");
    assert_row(tracks, 1, "track=stream 7, process=device 0");
    assert_int_equal(int_called(tracks, 1, "span"), 160); /* 200 to 360 */
    assert_int_equal(int_called(tracks, 2, "rank"), 1);
}

/* The recording goes from 0 to 100; of a region that was open then, the file tells 90 to 5090. */
TEST(a_region_open_at_the_end_makes_neither_file_nor_track_longer)
{
    draw_host("cpu_op", "mm", 1, 20, 60);
    draw_host("user_annotation", "forward", 1, 90, 5000);
    draw_host("Trace", "PyTorch Profiler (0)", 2, 0, 100);
    struct result *result = scratch_result(result_open("tpa.info/1"));
    info_add_tables(drawn(), result);
    assert_int_equal(int_called(table_called(result, "files"), 0, "span"), 80);
    assert_int_equal(int_called(table_called(result, "tracks"), 0, "span"), 80);
}

TEST(a_date_needs_a_base_or_plain_times)
{
    drawn_file()->has_base = true;
    drawn_file()->base_ns = INT64_C(1751410836000000000);
    draw_host("cpu_op", "mm", 1, 4000000000, 60);
    draw_file("old.json");
    draw_host("cpu_op", "mm", 1, INT64_C(1661203462598738123), 60);
    draw_file("empty.json"); /* the window of the profiler alone begins nothing */
    drawn_file()->has_base = true;
    drawn_file()->base_ns = INT64_C(1751410836000000000);
    draw_host("Trace", "PyTorch Profiler (0)", 1, 0, 60);
    struct result *result = scratch_result(result_open("tpa.info/1"));
    info_add_tables(drawn(), result);
    const struct table *files = table_called(result, "files");
    assert_string_equal(text_called(files, 0, "begin"), "2025-07-01 23:00:40"); /* date -u -d @1751410840 */
    assert_string_equal(text_called(files, 1, "begin"), "2022-08-22 21:24:22"); /* date -u -d @1661203462 */
    assert_null(text_called(files, 2, "begin"));
}

TEST(an_empty_trace_has_files_only)
{
    draw_begin(drawn_wants);
    struct result *result = scratch_result(result_open("tpa.info/1"));
    info_add_tables(drawn(), result);
    assert_int_equal(result->tables.count, 1);
    assert_int_equal(int_called(table_called(result, "files"), 0, "events"), 0);
    assert_true(int_called(table_called(result, "files"), 0, "span") == TABLE_INT_MISSING);
    assert_int_equal(trace_features(drawn()), 0);
}

/* What a trace of one event of this category and name has. */
static unsigned features_with(const char *category, const char *name)
{
    draw_host(category, name, 1, 0, 5);
    unsigned features = trace_features(drawn());
    return features & ~(unsigned)FEATURE_EVENTS;
}

TEST(features_come_from_kinds_and_names)
{
    draw();
    assert_int_equal(trace_features(drawn()), FEATURE_EVENTS | FEATURE_OPS | FEATURE_GPU | FEATURE_LAUNCHES |
                                                  FEATURE_STEPS | FEATURE_MEMORY | FEATURE_ANNOTATIONS |
                                                  FEATURE_RANKS);
    assert_int_equal(features_with("python_function", "f"), FEATURE_STACKS);
    assert_int_equal(features_with("cuda_driver", "cuLaunchKernelEx"), FEATURE_LAUNCHES);
    assert_int_equal(features_with("user_annotation", "nccl:all_reduce"),
                     FEATURE_COLLECTIVES | FEATURE_ANNOTATIONS);
    assert_int_equal(features_with("user_annotation", "train"), FEATURE_ANNOTATIONS);
    assert_int_equal(features_with("Operator", "ProfilerStep#1"),
                     FEATURE_OPS | FEATURE_STEPS); /* PyTorch 1.8 */
    assert_int_equal(features_with("gpu_user_annotation", "ProfilerStep#1"), FEATURE_STEPS);

    draw_host("cpu_op", "mm", 1, 0, 5);
    draw_text(ARG_INPUT_DIMS, "[[2,3]]");
    assert_int_equal(trace_features(drawn()), FEATURE_EVENTS | FEATURE_OPS | FEATURE_SHAPES);
}

TEST(features_have_a_name_and_a_recipe)
{
    assert_string_equal(trace_feature_name(FEATURE_EVENTS), "events");
    assert_string_equal(trace_feature_name(FEATURE_MEMORY), "memory events");
    assert_string_equal(trace_feature_recipe(&(struct trace){ 0 }, FEATURE_MEMORY),
                        "profile with profile_memory=True");
    assert_string_equal(trace_feature_name(FEATURE_RANKS), "several ranks");
}
