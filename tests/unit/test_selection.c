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

#include "tests/unit/drawn.h"
#include "derive/step_list.h"
#include "trace/span.h"

#define US INT64_C(1000)

static const struct trace_wants *drawn_wants =
    &(const struct trace_wants){ .args = WANT(DEVICE) | WANT(STREAM) };

static void draw_us(const char *category, const char *name, int64_t start_us, int64_t dur_us)
{
    draw_host(category, name, 1, start_us * US, dur_us * US);
}

static void draw_kernel_of(int64_t device, int64_t stream, const char *name, int64_t start_us, int64_t dur_us)
{
    draw_work("kernel", name, device, stream, start_us * US, dur_us * US, DRAW_NO_CALL);
}

static struct trace *two_files(void)
{
    if (drawn())
        return drawn();
    drawn_file()->rank = 3;
    draw_step(1, 100 * US, 20 * US);
    draw_step(2, 120 * US, 20 * US);
    draw_us("cpu_op", "mm", 100, 6);
    draw_us("cpu_op", "add", 110, 7);
    draw_us("cpu_op", "mm", 120, 6);
    draw_us("user_annotation", "epoch", 130, 9);
    draw_kernel_of(0, 7, "gemm", 104, 6);
    draw_kernel_of(0, 7, "vec", 114, 5);
    draw_kernel_of(0, 7, "gemm", 124, 6);
    draw_kernel_of(1, 9, "ncclSum", 110, 20);
    draw_file("other.json");
    draw_step(2, 1000 * US, 16 * US);
    draw_us("cpu_op", "mm", 1003, 6);
    draw_us("cpu_op", "mm", 1016, 6);
    return drawn();
}

/* How many events called NAME (NULL: any) QUERY selects. */
static size_t count(struct selection_query query, const char *name)
{
    struct tpa_error err = { 0 };
    SCOPED_OBJECT struct selection *selection = selection_open(two_files(), &query, &err);
    if (selection == NULL)
        fail_msg("refused: %s", err.message);
    size_t held = 0;
    for (event_id e = 0; e < two_files()->event_count; e++)
        held +=
            selection_holds(selection, e) && (name == NULL || strcmp(name, trace_name(two_files(), e)) == 0);
    return held;
}

static void assert_refused(struct selection_query query, const char *message, const char *hint)
{
    struct tpa_error err = { 0 };
    assert_null(selection_open(two_files(), &query, &err));
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
    SCOPED_OBJECT struct selection *selection =
        selection_open(two_files(), &(struct selection_query){ 0 }, NULL);
    assert_true(selection_is_all(selection));
    assert_int_equal(count((struct selection_query){ 0 }, NULL), two_files()->event_count);
}

TEST(names_are_filtered_by_regular_expressions)
{
    assert_int_equal(count((struct selection_query){ .filter = "^(mm|gemm)$" }, NULL), 6);
    assert_int_equal(count((struct selection_query){ .filter = "mm", .exclude = "^g" }, NULL), 4);
    assert_int_equal(count((struct selection_query){ .exclude = "(?i)PROFILERSTEP" }, NULL),
                     two_files()->event_count - 3);
    struct tpa_error err = { 0 };
    assert_null(selection_open(two_files(), &(struct selection_query){ .filter = "mm(" }, &err));
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
    assert_true(trace_file_span(two_files(), 0).start_ns == 100 * US &&
                trace_file_span(two_files(), 0).end_ns == 140 * US);
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
