/* test_perfetto.c - ingest/perfetto/perfetto.c, and cli/convert/perfetto.c with it: what is written is read back the same. */

#include "base/runs.h"
#include "cli/convert/perfetto.h"
#include "cli/convert/parts.h"
#include "tests/unit/drawn.h"
#include "tests/unit/wire_text.h"
#include <unistd.h>

extern const struct format format_perfetto;

/* Takes SOURCE. */
static struct trace *read_source(struct source *source)
{
    struct ingest_options options = {
        .wants = { .args = UINT64_MAX >> (64 - ARG_COUNT), .flows = true, .counters = true }
    };
    assert_non_null(source);
    struct trace_builder *builder = trace_builder_open(&options.wants);
    trace_builder_file(builder, "test", format_perfetto.name);
    assert_true(format_perfetto.read(source, builder, &options, NULL));
    source_free(source);
    return scratch_trace(trace_builder_finish(builder));
}

static struct trace *read_bytes(const char *bytes, size_t len)
{
    return read_source(source_open_memory(bytes, len, "test", NULL));
}

/* A BEGIN (1) or END (2) on track UUID at TS. */
static void put_event(struct buffer *out, int64_t ts, int64_t type, int64_t uuid, const char *name)
{
    wire_text(out, "1{8=%" PRId64 " 10=1 11{9=%" PRId64 " 11=%" PRId64, ts, type, uuid);
    if (name)
        wire_append_text(out, 23, name, strlen(name));
    wire_text(out, "}}");
}

static void put_thread(struct buffer *out, int64_t uuid, int64_t pid, int64_t tid)
{
    wire_text(out, "1{60{1=%" PRId64 " 4{1=%" PRId64 " 2=%" PRId64 "}}}", uuid, pid, tid);
}

static int64_t dur_of(const struct trace *trace, const char *name)
{
    assert_int_not_equal(event_called(trace, name), EVENT_NONE);
    return trace_dur_ns(trace, event_called(trace, name));
}

/*
 *        0    10   20   30   40   50
 *    x   [---------------------------   BEGIN 10, BEGIN 20, END 40, END 50:
 *    y        [---------]               nesting: y 20..40, x 10..50
 */
TEST(ends_close_the_innermost_slice)
{
    SCRATCH_BUFFER(text);
    put_event(&text, 10, 1, 2, "x");
    put_event(&text, 20, 1, 2, "y");
    put_event(&text, 40, 2, 2, NULL);
    put_event(&text, 50, 2, 2, NULL);
    put_thread(&text, 2, 7, 8); /* a descriptor holds for what stands before it, too */
    struct trace *trace = read_bytes(text.at, text.count);
    assert_int_equal(dur_of(trace, "x"), 40);
    assert_int_equal(dur_of(trace, "y"), 20);
    assert_int_equal(trace->tracks[trace->track[0]].pid, 7);
    assert_int_equal(trace->tracks[trace->track[0]].tid, 8);
}

static void put_clock(struct buffer *out, int64_t clock, int64_t at)
{
    wire_text(out, "1{1=%" PRId64 " 2=%" PRId64 "}", clock, at);
}

static void put_snapshot(struct buffer *out, int64_t ts, int64_t clock, int64_t at, int64_t other,
                         int64_t then)
{
    wire_text(out, "1{");
    if (ts)
        wire_append_number(out, 8, ts);
    wire_text(out, "6{");
    put_clock(out, clock, at);
    put_clock(out, other, then);
    wire_text(out, "}}");
}

/* The same packets after torch's mark: the k-th END of a run is the k-th BEGIN's. x 10..40, y 20..50. */
TEST(ends_of_torch_close_in_the_order_of_begins)
{
    SCRATCH_BUFFER(text);
    put_snapshot(&text, 1000, 6, 1000, 1, 1000);
    put_event(&text, 1010, 1, 2, "x");
    put_event(&text, 1020, 1, 2, "y");
    put_event(&text, 1040, 2, 2, NULL);
    put_event(&text, 1050, 2, 2, NULL);
    struct trace *trace = read_bytes(text.at, text.count);
    assert_int_equal(dur_of(trace, "x"), 30);
    assert_int_equal(dur_of(trace, "y"), 30);
    assert_int_equal(trace_start_ns(trace, 0), 10); /* the mark is the base of all times */
    assert_int_equal(trace->files[0].base_ns, 1000);
}

/*
 * torch cuts times to whole ns: w 10..40 and x 15..40 in it end 1 ns before y 20..41, which x called, and are moved by that.
 * z 30..60 crosses them for longer.
 */
TEST(callers_that_torch_ends_too_early_are_moved)
{
    static const struct {
        const char *name;
        int64_t begin, end, moved;
    } slices[] = { { "w", 10, 40, 1 }, { "x", 15, 40, 1 }, { "y", 20, 41, 0 }, { "z", 30, 60, 0 } };
    SCRATCH_BUFFER(text);
    put_snapshot(&text, 1000, 6, 1000, 1, 1000);
    put_thread(&text, 2, 7, 8);
    for (size_t i = 0; i < 4; i++)
        put_event(&text, 1000 + slices[i].begin, 1, 2, slices[i].name);
    for (size_t i = 0; i < 4; i++)
        put_event(&text, 1000 + slices[i].end, 2, 2, NULL);
    struct trace *trace = read_bytes(text.at, text.count);
    for (event_id e = 0; e < 4; e++) {
        assert_string_equal(trace_name(trace, e), slices[e].name);
        assert_int_equal(trace_start_ns(trace, e), slices[e].begin + slices[e].moved);
        assert_int_equal(trace_end_ns(trace, e), slices[e].end + slices[e].moved);
    }
}

/* MONOTONIC 400 was BOOTTIME 1000: an event at MONOTONIC 450 began at 1050. The snapshot comes late. */
TEST(clocks_are_converted_by_snapshots)
{
    SCRATCH_BUFFER(text);
    wire_text(&text, "1{8=450 58=3 11{9=3");
    wire_append_text(&text, 23, "mark", 4);
    wire_text(&text, "}}");
    put_snapshot(&text, 0, 6, 1000, 3, 400);
    struct trace *trace = read_bytes(text.at, text.count);
    assert_int_equal(trace->event_count, 1);
    assert_int_equal(trace_start_ns(trace, 0), 1050);
}

/*
 * a 0..40, b 10..30 in it, c 20..50 crosses a and b, d 40..40 at the end of a.
 * Lane 0: a b END(b) END(a) d END(d); lane 1: c END(c).
 */
TEST(slices_that_cross_get_a_lane_of_their_own)
{
    draw_host("cpu_op", "a", 1, 0, 40);
    draw_host("cpu_op", "b", 1, 10, 20);
    draw_host("cpu_op", "c", 1, 20, 30);
    draw_host("cpu_op", "d", 1, 40, 0);
    struct perfetto_plan plan;
    perfetto_plan_init(&plan, drawn(), 100, 100 + (uint32_t)drawn()->track_count);
    assert_int_equal(plan.lanes.count, 1);
    static const struct {
        event_id event;
        uint8_t type;
    } first[] = { { 0, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 }, { 3, 1 }, { 3, 2 } };
    size_t seen = 0, crossing = 0;
    for (size_t i = 0; i < plan.mark_count; i++) {
        const struct perfetto_mark mark = perfetto_plan_mark(&plan, i);
        if (mark.uuid != 100) {
            assert_int_equal(mark.event, 2);
            crossing++;
            continue;
        }
        assert_int_equal(mark.event, first[seen].event);
        assert_int_equal(mark.type, first[seen].type);
        seen++;
    }
    assert_int_equal(seen, 6);
    assert_int_equal(crossing, 2);
    perfetto_plan_release(&plan);
}

/* New: TRACE written as a Perfetto file and read again. */
static struct trace *write_and_read(const struct trace *trace)
{
    char *bytes = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&bytes, &len);
    struct convert_args args = { 0 };
    SCRATCH_BUFFER(summary);
    assert_true(convert_perfetto.write_trace(trace, &args, out, &summary, NULL));
    fclose(out);
    struct trace *back = read_bytes(bytes, len);
    free(bytes);
    return back;
}

static bool is_begun_later(const void *context, const void *left, const void *right)
{
    const struct trace *trace = context;
    event_id a = *(const event_id *)left, b = *(const event_id *)right;
    if (trace_start_ns(trace, a) != trace_start_ns(trace, b))
        return trace_start_ns(trace, a) > trace_start_ns(trace, b);
    return trace_dur_ns(trace, a) < trace_dur_ns(trace, b);
}

/*
 * Analyses nest events by start, the longer first, and of equal ones in the order of the trace, also where calls are moved from one
 * thread to another. That order is kept, with many starts and ends at one moment, on all threads.
 */
TEST(events_of_one_moment_keep_their_order)
{
    enum { COUNT = 40, SEEDS = 200 };
    uint64_t random = 1;
    for (int seed = 0; seed < SEEDS; seed++) {
        int64_t unit_ns = seed % 2 ? 1 : 1000;
        for (int i = 0; i < COUNT; i++) {
            char name[16];
            random = random * 6364136223846793005u + 1442695040888963407u;
            snprintf(name, sizeof name, "e%d", i);
            draw_host("cpu_op", name, (int64_t)(random >> 60) % 3, (int64_t)(random >> 50 & 7) * unit_ns,
                      (int64_t)(random >> 40 & 3) * unit_ns);
        }
        struct trace *trace = drawn(), *back = write_and_read(trace);
        event_id order[COUNT];
        for (event_id e = 0; e < COUNT; e++)
            order[e] = e;
        runs_sort(order, COUNT, sizeof *order, is_begun_later, trace);
        assert_int_equal(back->event_count, COUNT);
        for (event_id e = 0; e < COUNT; e++) {
            assert_string_equal(trace_name(back, e), trace_name(trace, order[e]));
            assert_int_equal(trace_start_ns(back, e), trace_start_ns(trace, order[e]));
            assert_int_equal(trace_dur_ns(back, e), trace_dur_ns(trace, order[e]));
            assert_int_equal(back->tracks[back->track[e]].tid, trace->tracks[trace->track[order[e]]].tid);
        }
    }
}

TEST(what_is_written_is_read_back)
{
    draw_host("cpu_op", "aten::mm", 1, 0, 40);
    draw_arg(ARG_EXTERNAL_ID, 3);
    draw_text(ARG_INPUT_DIMS, "[[8,3],[]]");
    draw_host("cuda_runtime", "cudaLaunchKernel", 1, 10, 5);
    draw_arg(ARG_CORRELATION, 7);
    draw_host("cpu_op", "crosses", 1, 20, 50);
    draw_event("kernel", "gemm", 0, 9, 30, 20);
    draw_arg(ARG_CORRELATION, 7);
    struct trace *trace = drawn(), *back = write_and_read(trace);
    assert_int_equal(back->event_count, trace->event_count);
    for (event_id e = 0; e < trace->event_count; e++) {
        event_id same = 0;
        while (strcmp(trace_name(back, same), trace_name(trace, e)) != 0)
            same++;
        const struct track *track = &trace->tracks[trace->track[e]],
                           *there = &back->tracks[back->track[same]];
        assert_int_equal(trace_start_ns(back, same), trace_start_ns(trace, e));
        assert_int_equal(trace_dur_ns(back, same), trace_dur_ns(trace, e));
        assert_int_equal(back->kind[same], trace->kind[e]);
        assert_int_equal(there->pid, track->pid);
        assert_int_equal(there->tid, track->tid);
        for (int arg = 0; arg < ARG_COUNT; arg++)
            if (arg != ARG_INPUT_DIMS)
                assert_int_equal(trace_arg_or(back, (enum trace_arg)arg, same, -5),
                                 trace_arg_or(trace, (enum trace_arg)arg, e, -5));
    }
    assert_string_equal(trace_arg_text(back, ARG_INPUT_DIMS, 0), "[[8,3],[]]");
    assert_int_equal(back->flow_count, 2); /* from the call to the kernel */
}

/* An element of a list: TEXT. */
static void put_element(struct buffer *out, const char *text)
{
    wire_text(out, "12{");
    wire_append_text(out, 6, text, strlen(text));
    wire_text(out, "}");
}

/* Lists within a debug annotation have nothing that says "empty": some producers write the text "[]". */
TEST(empty_lists_may_be_texts)
{
    static const char *const names[] = { "Input Dims", "Concrete Inputs" };
    SCRATCH_BUFFER(text);
    wire_text(&text, "1{8=10 10=1 11{9=3");
    wire_append_text(&text, 23, "x", 1);
    for (int i = 0; i < 2; i++) {
        wire_text(&text, "4{");
        wire_append_text(&text, 10, names[i], strlen(names[i]));
        put_element(&text, "[]");
        wire_text(&text, "}");
    }
    wire_text(&text, "}}");
    struct trace *trace = read_bytes(text.at, text.count);
    assert_string_equal(trace_arg_text(trace, ARG_INPUT_DIMS, 0), "[[]]");
    assert_string_equal(trace_arg_text(trace, ARG_CONCRETE_INPUTS, 0), "[\"[]\"]"); /* a list of texts */
}

/* A file is in memory by blocks: texts that are needed later, of ENDs, descriptors and names, stay valid. */
TEST(a_large_file_is_the_same_as_in_memory)
{
    enum { SLICES = 90000 };
    SCRATCH_BUFFER(text);
    for (int i = 0; i < SLICES; i++) {
        char name[40];
        snprintf(name, sizeof name, "slice number %d of a large file", i % 1000);
        put_event(&text, 10 + 2 * i, 1, 2 + i % 3, name);
        put_event(&text, 1000 + 2 * i, 2, 2 + i % 3, name); /* closes what has its name, across others */
    }
    for (int t = 0; t < 3; t++)
        put_thread(&text, 2 + t, 7, 8 + t);
    char path[] = "/tmp/test_perfetto.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.at, text.count), text.count);
    close(fd);
    struct trace *in_memory = read_bytes(text.at, text.count),
                 *trace = read_source(source_open(path, NULL, NULL));
    unlink(path);
    assert_true(text.count > (7 << 20)); /* else it is read as a whole */
    assert_int_equal(trace->event_count, in_memory->event_count);
    assert_true(trace->event_count > 0);
    assert_int_equal(trace->notice_count, in_memory->notice_count);
    for (event_id e = 0; e < trace->event_count; e++) {
        assert_string_equal(trace_name(trace, e), trace_name(in_memory, e));
        assert_int_equal(trace_dur_ns(trace, e), trace_dur_ns(in_memory, e));
        assert_int_equal(trace->track[e], in_memory->track[e]);
    }
}
