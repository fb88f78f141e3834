/* test_memory_timeline.c - ingest/memory_timeline.c: both forms, and where they are damaged. */

#include "tests/unit/scratch.h"
#include "tests/read_bytes.h"
#include "trace/memory_change.h"

extern const struct format format_memory_timeline;

static const struct trace_wants wants = { .args = WANT(BYTES) | WANT(MEMORY_CATEGORY) };

static struct trace *read_text(const char *text)
{
    struct ingest_options options = { .wants = wants };
    struct trace *trace = read_bytes_as(&format_memory_timeline, text, strlen(text), &options, NULL);
    assert_non_null(trace);
    return scratch_trace(trace);
}

static void check(const struct trace *trace, event_id e, int64_t at_ns, enum memory_change change,
                  int64_t bytes, const char *category)
{
    assert_int_equal(trace_start_ns(trace, e), at_ns);
    assert_string_equal(trace_name(trace, e), memory_change_names[change]);
    assert_int_equal(trace_arg_or(trace, ARG_BYTES, e, 0), bytes);
    assert_string_equal(trace_arg_text(trace, ARG_MEMORY_CATEGORY, e), category);
}

TEST(raw_records_keep_time_action_and_category)
{
    struct trace *trace = read_text("[[-1, 1, 400, 0], [-1,1,100,1],\n [1795230239122701568, 2, 8, 4],"
                                    "[1795230239122701570, 3, -8, 4], [1795230239122701570, 3, 8, 5], "
                                    "[1795230239122701571, 4, -8, 5], [1795230239122701572, 2, 16, 8]]\n");
    const int64_t base = 1795230239122701568;
    assert_int_equal(trace->event_count, 7);
    check(trace, 0, base, MEMORY_EXISTING, 400,
          "parameter"); /* -1 is before the first time that is reported */
    check(trace, 1, base, MEMORY_EXISTING, 100, "optimizer state");
    check(trace, 2, base, MEMORY_BLOCK, 8, "activation");
    check(trace, 3, base + 2, MEMORY_CATEGORY, -8, "activation");
    check(trace, 4, base + 2, MEMORY_CATEGORY, 8, "gradient");
    check(trace, 5, base + 3, MEMORY_BLOCK, -8, "gradient");
    check(trace, 6, base + 4, MEMORY_BLOCK, 16, "another");
    assert_int_equal(trace->notice_count, 0);
}

/* Less comes first, so that nothing in between is larger than before and after. The first column stands for nothing. */
TEST(rows_become_what_they_differ_by)
{
    struct trace *trace = read_text("[[7, 7, 9], [[0, 400,0,0,0,0,0,0,0], [0, 400,0,8,0,0,0,0,0], "
                                    "[0, 400,0,0,0,0,12,0,0]]]");
    assert_int_equal(trace->event_count, 4);
    check(trace, 0, 7000, MEMORY_EXISTING, 400, "parameter"); /* two rows of one time: the first was -1 */
    check(trace, 1, 7000, MEMORY_CATEGORY, 8, "input");
    check(trace, 2, 9000, MEMORY_CATEGORY, -8, "input");
    check(trace, 3, 9000, MEMORY_CATEGORY, 12, "gradient");
}

/* Four times look like one record until the rows begin. */
TEST(four_times_are_no_record)
{
    struct trace *trace =
        read_text("[[1,2,3,4],[[0,1,0,0,0,0,0,0,0],[0,1,0,0,0,0,0,0,0],[0,2,0,0,0,0,0,0,0],[0]]]");
    assert_int_equal(trace->event_count, 3);
    check(trace, 0, 1000, MEMORY_CATEGORY, 1, "parameter");
    check(trace, 1, 3000, MEMORY_CATEGORY, 1, "parameter");
    check(trace, 2, 4000, MEMORY_CATEGORY, -2, "parameter");
    assert_int_equal(trace->notice_count, 0);
    trace = read_text("[[1,2,3,4]]");
    assert_int_equal(trace->event_count, 1);
}

TEST(what_was_read_before_damage_stands)
{
    static const struct {
        const char *text, *notice;
        size_t events;
    } cases[] = {
        { "[[1,2,8,4],[2,2,8", "cut_short", 1 },
        { "[[1,2,8,4],[2,2,8,4]", "cut_short", 2 },
        { "[[1,2,8,4],[2,\"x\",8,4]]", "bad_record", 1 },
        { "[[1,2,8,4],[2,7,8,4]]", "unknown_action", 1 },
        { "[[1,2,3],[[0,1,0,0,0,0,0,0,0],[0,2", "cut_short", 1 },
        { "[[1,2", "cut_short", 0 },
        { "[[],[]]", NULL, 0 },
        { "[[-1,1,5,0]]", NULL, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace *trace = read_text(cases[i].text);
        assert_int_equal(trace->event_count, cases[i].events);
        assert_int_equal(trace->notice_count, cases[i].notice != NULL);
        if (cases[i].notice)
            assert_string_equal(trace->notices[0].kind, cases[i].notice);
    }
}

TEST(only_lists_of_lists_of_numbers_are_timelines)
{
    assert_true(format_memory_timeline.sniff(" [ [-1, 1", 9) > 0);
    assert_true(format_memory_timeline.sniff("[[],[]]", 7) > 0);
    assert_int_equal(format_memory_timeline.sniff("[{\"ph\":", 7), 0);
    assert_int_equal(format_memory_timeline.sniff("[[\"a\"", 5), 0);
    assert_int_equal(format_memory_timeline.sniff("[[", 2), 0);
}
