/* test_page_step.c - page_add_step of report/page_parts.h: which step is drawn, in which lanes, and the words in them. */
#include "tests/unit/drawn.h"

#include "report/page_parts.h"

enum { MATRIX, COMMUNICATION, LOADING_GAP, OPERATOR };

/* A recording of [0, 9000) ns of FILES ranks, without lanes. */
static struct timeline *timeline_of_ranks(size_t files)
{
    struct timeline *timeline = timeline_open("The whole recording", 0, 9000, 1);
    timeline_add_kind(timeline, "matrix kernels", "device", CHART_BLUE);
    timeline_add_kind(timeline, "communication", "device", CHART_VERMILION);
    timeline_add_kind(timeline, "data loading", "idle", CHART_COFFEE);
    timeline_add_kind(timeline, "operators", "host", CHART_SKY);
    for (size_t i = 0; i < files; i++)
        *VEC_PUSH(&timeline->files) = (struct timeline_file){ .rank = (int64_t)i, .name = "a file" };
    return timeline;
}

static uint32_t lane_of(struct timeline *timeline, const char *title, const char *group,
                        enum timeline_place place, uint32_t strip)
{
    uint32_t lane = timeline_add_lane(timeline, title, group, place);
    timeline->lanes.at[lane].strip = strip;
    return lane;
}

static void run_in(struct timeline *timeline, uint32_t lane, uint32_t kind, const char *name,
                   int64_t start_ns, int64_t dur_ns)
{
    timeline_add_span(timeline,
                      &(struct timeline_span){ .lane = lane,
                                               .kind = kind,
                                               .name = names_add(timeline->names, name, strlen(name)),
                                               .event = TIMELINE_NO_EVENT,
                                               .call = TIMELINE_NO_EVENT,
                                               .start_ns = start_ns,
                                               .dur_ns = dur_ns });
}

static void add_step(struct timeline *timeline, int64_t number, int64_t start_ns, int64_t dur_ns)
{
    *VEC_PUSH(&timeline->steps) =
        (struct timeline_step){ .number = number, .start_ns = start_ns, .dur_ns = dur_ns };
}

/* The figure of TIMELINE; free it. */
static char *draw(struct timeline *timeline, struct answer *answer)
{
    struct buffer out = { 0 };
    page_add_step(&out, timeline, answer);
    timeline_free(timeline);
    VEC_FREE(&answer->culprits);
    assert_non_null(out.at);
    return out.at;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

/*
 *   rank 0, device 0, stream 7    [gemm 0.....400)
 *                     stream 9              [all_reduce 300........1000)
 *   rank 1, device 1, stream 7    [gemm 0................900)
 */
TEST(of_a_job_a_lane_has_all_streams_of_a_device)
{
    struct timeline *timeline = timeline_of_ranks(2);
    uint32_t first = lane_of(timeline, "device 0, stream 7", "rank 0", TIMELINE_DEVICE, 0),
             second = lane_of(timeline, "device 0, stream 9", "rank 0", TIMELINE_DEVICE, 0),
             slow = lane_of(timeline, "device 1, stream 7", "rank 1", TIMELINE_DEVICE, 1);
    run_in(timeline, first, MATRIX, "gemm", 0, 400);
    run_in(timeline, second, COMMUNICATION, "all_reduce", 300, 700);
    run_in(timeline, slow, MATRIX, "gemm", 0, 900);
    *VEC_PUSH(&timeline->steps) = (struct timeline_step){ .number = 1, .dur_ns = 1000, .file = 1 };
    struct answer answer = { 0 };
    *VEC_PUSH(&answer.culprits) = (struct answer_culprit){ .who = "rank 1" };
    *VEC_PUSH(&answer.culprits) = (struct answer_culprit){ .who = "1 other" };
    SCOPED char *page = draw(timeline, &answer);
    assert_int_equal(count_of(page, "class=\"lane\""), 2);
    assert_non_null(strstr(page, ">rank 1, device 1</text>"));
    assert_non_null(strstr(page, ">1 other, as rank 0</text>"));
    /* Columns 150 to 1050 are the step: gemm lies over the first 100 ns of what communicates meanwhile. */
    assert_non_null(strstr(page, "<rect class=\"c0\" x=\"150\" y=\"43\" width=\"360\""));
    assert_non_null(strstr(page, "<rect class=\"c3\" x=\"510\" y=\"43\" width=\"540\""));
}

/* Of four steps, 1000, 1010, 990 and 1020 ns long, the median ones are the first and the second. */
TEST(of_two_median_steps_the_first_step_is_not_drawn)
{
    struct timeline *timeline = timeline_of_ranks(1);
    uint32_t lane = lane_of(timeline, "device 0, stream 7", "", TIMELINE_DEVICE, 0);
    for (int64_t at_ns = 100; at_ns < 4000; at_ns += 500)
        run_in(timeline, lane, MATRIX, "gemm", at_ns, 400);
    add_step(timeline, 1, 0, 1000);
    add_step(timeline, 2, 1000, 1010);
    add_step(timeline, 3, 2010, 990);
    add_step(timeline, 4, 3000, 1020);
    SCOPED char *page = draw(timeline, &(struct answer){ 0 });
    assert_non_null(strstr(page, "One step <small>number 2 of 1 to 4, of median length"));
}

/*
 *   step   [0............................................1000)
 *   device       gap 100...250     [gemm 250.............1000)       250 of 1000 ns are 225 columns; 150 ns 135
 */
TEST(a_gap_has_its_cause_where_there_is_no_room_for_more)
{
    struct timeline *timeline = timeline_of_ranks(1);
    uint32_t idle = lane_of(timeline, "device 0, idle", "", TIMELINE_DEVICE, 0),
             lane = lane_of(timeline, "device 0, stream 7", "", TIMELINE_DEVICE, 0);
    run_in(timeline, idle, LOADING_GAP, "idle: data loading", 100, 150);
    run_in(timeline, lane, MATRIX, "gemm", 0, 100);
    run_in(timeline, lane, MATRIX, "gemm", 250, 600);
    add_step(timeline, 1, 0, 1000);
    SCOPED char *page = draw(timeline, &(struct answer){ 0 });
    assert_non_null(strstr(page, ">data loading</text>"));
    assert_null(strstr(page, "mostly"));
}

/* Of a step of 8000 ns 300 were recorded. */
TEST(a_step_is_drawn_as_far_as_it_was_recorded)
{
    struct timeline *timeline = timeline_of_ranks(1);
    uint32_t lane = lane_of(timeline, "device 0, stream 7", "", TIMELINE_DEVICE, 0);
    run_in(timeline, lane, MATRIX, "gemm", 100, 200);
    add_step(timeline, 1, 0, 8000);
    SCOPED char *page = draw(timeline, &(struct answer){ 0 });
    assert_non_null(strstr(page, "as far as it was recorded"));
    assert_non_null(strstr(page, "<rect class=\"c0\" x=\"450\" y=\"18\" width=\"600\""));
}

/* And a number that people know stays. */
TEST(a_thread_whose_number_tells_nothing_is_called_by_its_name)
{
    struct timeline *timeline = timeline_of_ranks(1);
    uint32_t first = lane_of(timeline, "thread -4343206011828162162 tf_pool/-4343206011828162162", "",
                             TIMELINE_HOST, 0),
             second = lane_of(timeline, "thread 4711 worker", "", TIMELINE_HOST, 0);
    run_in(timeline, first, OPERATOR, "add", 0, 900);
    run_in(timeline, second, OPERATOR, "add", 100, 700);
    add_step(timeline, 1, 0, 1000);
    SCOPED char *page = draw(timeline, &(struct answer){ 0 });
    assert_non_null(strstr(page, ">tf_pool</text>"));
    assert_non_null(strstr(page, ">thread 4711 worker</text>"));
}
