/*
 * One trace of two files, drawn in microseconds. File 0 (rank 3) has a host thread and streams 7 and 9 of devices 0
 * and 1; file 1 tells no rank.
 *
 *              100       110       120       130       140
 *  host 0      [ProfilerStep#1    ][ProfilerStep#2    ]
 *              [ mm ]    [ add ]   [ mm ]    [ epoch ]
 *  stream 7        [gemm]    [vec]     [gemm]
 *  stream 9              [ncclSum           ]
 *
 *              1000      1010
 *  host 1      [ProfilerStep#2]
 *                 [ mm ]      [ mm ]
 */

#include "tests/unit/unit.h"
#include "analyze/selection.h"
#include "trace/builder.h"
#include "trace/span.h"
#include "derive/step_list.h"
#include <string.h>

#define US INT64_C(1000)

static struct trace *trace;

static void add(struct trace_chunk *chunk, struct track_key key, const char *category, const char *name,
                int64_t start_us, int64_t dur_us)
{
    trace_chunk_event(chunk, &(struct chunk_event){
                                 .phase = 'X',
                                 .start_ns = start_us * US,
                                 .dur_ns = dur_us * US,
                                 .name = trace_chunk_name(chunk, name, strlen(name)),
                                 .track = trace_chunk_track(chunk, &key),
                                 .category = trace_chunk_category(chunk, category, strlen(category)),
                             });
}

static void add_device(struct trace_chunk *chunk, int64_t device, int64_t stream, const char *category,
                       const char *name, int64_t start_us, int64_t dur_us)
{
    add(chunk, (struct track_key){ .pid = device, .tid = stream }, category, name, start_us, dur_us);
    trace_chunk_arg(chunk, ARG_DEVICE, device);
    trace_chunk_arg(chunk, ARG_STREAM, stream);
}

static int build(void **state)
{
    (void)state;
    struct trace_wants wants = { .args = WANT(DEVICE) | WANT(STREAM) };
    struct trace_builder *builder = trace_builder_open(&wants);
    struct tpa_error err = { 0 };
    struct track_key host = { .pid = 4000, .tid = 4000 };

    trace_builder_file(builder, "rank3.json", "Chrome JSON");
    trace_builder_current_file(builder)->rank = 3;
    struct trace_chunk *chunk = trace_chunk_open(builder);
    add(chunk, host, "user_annotation", "ProfilerStep#1", 100, 20);
    add(chunk, host, "user_annotation", "ProfilerStep#2", 120, 20);
    add(chunk, host, "cpu_op", "mm", 100, 6);
    add(chunk, host, "cpu_op", "add", 110, 7);
    add(chunk, host, "cpu_op", "mm", 120, 6);
    add(chunk, host, "user_annotation", "epoch", 130, 9);
    add_device(chunk, 0, 7, "kernel", "gemm", 104, 6);
    add_device(chunk, 0, 7, "kernel", "vec", 114, 5);
    add_device(chunk, 0, 7, "kernel", "gemm", 124, 6);
    add_device(chunk, 1, 9, "kernel", "ncclSum", 110, 20);
    assert_true(trace_builder_append(builder, chunk, &err));
    trace_chunk_free(chunk);

    trace_builder_file(builder, "other.json", "Chrome JSON");
    chunk = trace_chunk_open(builder);
    add(chunk, host, "user_annotation", "ProfilerStep#2", 1000, 16);
    add(chunk, host, "cpu_op", "mm", 1003, 6);
    add(chunk, host, "cpu_op", "mm", 1016, 6);
    assert_true(trace_builder_append(builder, chunk, &err));
    trace_chunk_free(chunk);

    trace = trace_builder_finish(builder);
    return trace == NULL;
}

static int release(void **state)
{
    (void)state;
    trace_free(trace);
    return 0;
}

/* How many events called NAME (NULL: any) QUERY selects. */
static size_t count(struct selection_query query, const char *name)
{
    struct tpa_error err = { 0 };
    SCOPED_OBJECT struct selection *selection = selection_open(trace, &query, &err);
    if (selection == NULL)
        fail_msg("refused: %s", err.message);
    size_t held = 0;
    for (event_id e = 0; e < trace->event_count; e++)
        held += selection_holds(selection, e) && (name == NULL || strcmp(name, trace_name(trace, e)) == 0);
    return held;
}

static void assert_refused(struct selection_query query, const char *message, const char *hint)
{
    struct tpa_error err = { 0 };
    assert_null(selection_open(trace, &query, &err));
    assert_string_equal(err.message, message);
    assert_string_equal(err.hint, hint);
}

static struct ranges ranges(const char *text)
{
    struct ranges result;
    assert_true(quantity_parse_ranges(text, strlen(text), &result));
    return result;
}

TEST(an_empty_query_selects_everything)
{
    SCOPED_OBJECT struct selection *selection = selection_open(trace, &(struct selection_query){ 0 }, NULL);
    assert_true(selection_is_all(selection));
    assert_int_equal(count((struct selection_query){ 0 }, NULL), trace->event_count);
}

TEST(names_are_filtered_by_regular_expressions)
{
    assert_int_equal(count((struct selection_query){ .filter = "^(mm|gemm)$" }, NULL), 6);
    assert_int_equal(count((struct selection_query){ .filter = "mm", .exclude = "^g" }, NULL), 4);
    assert_int_equal(count((struct selection_query){ .exclude = "(?i)PROFILERSTEP" }, NULL),
                     trace->event_count - 3);
    struct tpa_error err = { 0 };
    assert_null(selection_open(trace, &(struct selection_query){ .filter = "mm(" }, &err));
    assert_non_null(strstr(err.message, "regular expression 'mm(' is wrong at character 4"));
}

TEST(events_belong_to_the_step_they_start_in)
{
    /* Step 1 is [100, 120): mm at 100, not mm at 120. ncclSum starts in it and ends later. */
    struct selection_query first = { .steps = ranges("1") };
    assert_int_equal(count(first, "mm"), 1);
    assert_int_equal(count(first, "gemm"), 1);
    assert_int_equal(count(first, "ncclSum"), 1);
    /* Step 2: [120, 140) of file 0 and [1000, 1016) of file 1. */
    assert_int_equal(count((struct selection_query){ .steps = ranges("2..9") }, "mm"), 2);
    assert_int_equal(count((struct selection_query){ .steps = ranges("1..2") }, "mm"), 3);
    assert_refused((struct selection_query){ .steps = ranges("5..7") }, "there is no step 5..7",
                   "the trace has step 1, 2");
}

TEST(times_count_from_the_begin_of_each_file)
{
    assert_true(trace_file_span(trace, 0).start_ns == 100 * US &&
                trace_file_span(trace, 0).end_ns == 140 * US);
    /* [10us, 20us) is [110, 120) of file 0 and [1010, 1020) of file 1. */
    struct selection_query query = { .range = "10us..20us" };
    assert_int_equal(count(query, NULL), 4);
    assert_int_equal(count(query, "add"), 1);
    assert_int_equal(count(query, "vec"), 1);
    assert_int_equal(count(query, "ncclSum"), 1);
    assert_int_equal(count(query, "mm"), 1);
    assert_int_equal(count((struct selection_query){ .range = "30us.." }, NULL), 1);
    assert_int_equal(count((struct selection_query){ .range = "..1us" }, NULL), 3);
    assert_refused((struct selection_query){ .range = "2us..1us" }, "the time range '2us..1us' is empty", "");
}

TEST(a_range_may_be_an_annotation)
{
    assert_int_equal(count((struct selection_query){ .range = "epoch" }, NULL), 1);
    assert_int_equal(count((struct selection_query){ .range = "ProfilerStep#1" }, "gemm"), 1);
    /* Within the operator mm, [100, 106) and [120, 126), the kernels at 104 and 124 start. */
    assert_int_equal(count((struct selection_query){ .range = "mm" }, "gemm"), 2);
    assert_int_equal(count((struct selection_query){ .range = "mm" }, "vec"), 0);
    assert_refused((struct selection_query){ .range = "epcoh" },
                   "'epcoh' is neither a time range nor an annotation; did you mean epoch?",
                   "write 1.5s..2s, 10ms.. or ..3s, counted from the beginning of the trace");
}

TEST(steps_and_range_together_are_what_both_hold)
{
    /* Step 2 and [10us, 20us): nothing of file 0; [1010, 1016) of file 1, where nothing starts. */
    assert_int_equal(count((struct selection_query){ .steps = ranges("2"), .range = "10us..20us" }, NULL), 0);
}

TEST(devices_and_streams_leave_the_host_alone)
{
    assert_int_equal(count((struct selection_query){ .devices = ranges("0") }, "gemm"), 2);
    assert_int_equal(count((struct selection_query){ .devices = ranges("0") }, "ncclSum"), 0);
    assert_int_equal(count((struct selection_query){ .devices = ranges("0") }, "mm"), 4);
    assert_int_equal(count((struct selection_query){ .streams = ranges("9") }, "ncclSum"), 1);
    assert_int_equal(count((struct selection_query){ .streams = ranges("9") }, "vec"), 0);
    assert_refused((struct selection_query){ .devices = ranges("2..3") }, "there is no device 2..3",
                   "the trace has device 0, 1");
}

TEST(a_file_without_a_rank_has_its_place)
{
    assert_int_equal(count((struct selection_query){ .ranks = ranges("3") }, "mm"), 2);
    assert_int_equal(count((struct selection_query){ .ranks = ranges("1") }, NULL), 3);
    assert_refused((struct selection_query){ .ranks = ranges("0") }, "there is no rank 0",
                   "the trace has rank 1, 3");
}

TEST(step_numbers_are_read_from_names)
{
    int64_t number = -1;
    assert_true(step_number("ProfilerStep#7", &number) && number == 7);
    const char *const others[] = { "ProfilerStep#",   "ProfilerStep#-1", "ProfilerStep#7x",
                                   "ProfilerStep# 7", "ProfilerStep#+7", "Optimizer.step#SGD" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(step_number(others[i], &number));
}

TESTS_WITHIN(build, release)
