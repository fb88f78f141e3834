/* test_xplane.c - ingest/xplane/xplane.c: what an XSpace becomes, by hand-made planes. Picoseconds are "ps" here. */

#include "tests/unit/scratch.h"
#include "cli/convert/parts.h"
#include "derive/attribution.h"
#include "derive/step_list.h"
#include "tests/read_bytes.h"
#include "trace/memory_change.h"
#include <string.h>

extern const struct format format_xplane;

static struct trace *read_bytes(const struct buffer *text)
{
    struct ingest_options options = { .wants = { .args = want_everything().args } };
    struct trace *trace = read_bytes_as(&format_xplane, text->at, text->count, &options, NULL);
    assert_non_null(trace);
    return scratch_trace(trace);
}

/* A table entry {ID, {2 name NAME, 4 display name}} as field NUMBER of a plane. */
static void put_entry(struct buffer *out, uint32_t number, int64_t id, const char *name, const char *display)
{
    size_t entry = wire_open(out, number);
    wire_append_number(out, 1, id);
    size_t value = wire_open(out, 2);
    wire_append_text(out, 2, name, strlen(name));
    if (display)
        wire_append_text(out, 4, display, strlen(display));
    wire_close(out, value);
    wire_close(out, entry);
}

static size_t open_plane(struct buffer *out, const char *name)
{
    size_t plane = wire_open(out, 1);
    wire_append_text(out, 2, name, strlen(name));
    return plane;
}

static size_t open_line(struct buffer *out, int64_t id, const char *name, int64_t timestamp_ns)
{
    size_t line = wire_open(out, 3);
    wire_append_number(out, 1, id);
    wire_append_text(out, 2, name, strlen(name));
    wire_append_number(out, 3, timestamp_ns);
    return line;
}

static size_t open_event(struct buffer *out, int64_t name, int64_t offset_ps, int64_t duration_ps)
{
    size_t event = wire_open(out, 4);
    wire_append_number(out, 1, name);
    wire_append_number(out, 2, offset_ps);
    wire_append_number(out, 3, duration_ps);
    return event;
}

static void put_event(struct buffer *out, int64_t name, int64_t offset_ps, int64_t duration_ps)
{
    wire_close(out, open_event(out, name, offset_ps, duration_ps));
}

static void put_stat(struct buffer *out, int64_t name, uint32_t type, int64_t value)
{
    size_t stat = wire_open(out, 4);
    wire_append_number(out, 1, name);
    wire_append_number(out, type, value);
    wire_close(out, stat);
}

/*
 * Begin and end are rounded down, each for itself. From 7000 ns on:
 *   outer  1999 ps .. 5001 ps    7001 .. 7005 ns
 *   inner  1999 ps .. 2998 ps    7001 .. 7002 ns: 1 ns long, though its duration is 999 ps
 *   early  -1 ps .. 0 ps         6999 .. 7000 ns
 */
TEST(picoseconds_are_rounded_down_at_both_ends)
{
    SCRATCH_BUFFER(text);
    size_t plane = open_plane(&text, "/host:CPU"), line = open_line(&text, 5, "main", 7000);
    put_event(&text, 1, 1999, 3002);
    put_event(&text, 2, 1999, 999);
    put_event(&text, 3, -1, 1);
    wire_close(&text, line);
    put_entry(&text, 4, 1, "outer", NULL);
    put_entry(&text, 4, 2, "inner", NULL);
    put_entry(&text, 4, 3, "early", NULL);
    wire_close(&text, plane);
    struct trace *trace = read_bytes(&text);
    static const int64_t expected[][2] = { { 7001, 4 }, { 7001, 1 }, { 6999, 1 } };
    assert_int_equal(trace->event_count, 3);
    for (event_id e = 0; e < 3; e++) {
        assert_int_equal(trace_start_ns(trace, e), expected[e][0]);
        assert_int_equal(trace_dur_ns(trace, e), expected[e][1]);
    }
    assert_string_equal(trace_name(trace, 1), "inner");
    assert_string_equal(names_text(trace->texts, trace->tracks[0].thread_name), "main");
}

/* Names of stats, used by the planes below. */
enum {
    CORRELATION = 1,
    HLO_OP,
    HLO_MODULE,
    STEP_NUM,
    TEXT_OP,
    TEXT_MODULE,
    ALLOCATED,
    BYTES,
    ALLOCATOR,
    TEXT_ALLOCATOR,
    TF_OP,
    TEXT_TF_OP,
    TEXT_NO_TF_OP
};

static void put_stat_names(struct buffer *out)
{
    static const char *const names[] = {
        "correlation_id", "hlo_op",    "hlo_module",      "step_num",
        "fusion.1",       "jit_step",  "bytes_allocated", "allocation_bytes",
        "allocator_name", "GPU_3_bfc", "tf_op",           "dense/MatMul:MatMul",
        "XlaModule:"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_entry(out, 5, (int64_t)i + 1, names[i], NULL);
}

/*
 * Writers write fields by their number, and reading is quick for that. These are the same four events: as writers have
 * it; backwards, and so is its stat; with numbers given twice, of which the last count; and with a long stat that says
 * nothing to us. The name has a large id.
 */
TEST(an_event_is_the_same_however_it_is_written)
{
    enum { UNKNOWN_STAT = 999 };
    const int64_t name = INT64_C(1) << 40;
    static const char long_text[300] = "x";
    SCRATCH_BUFFER(text);
    size_t plane = open_plane(&text, "/host:CPU"), line = open_line(&text, 5, "main", 7000);
    size_t event = open_event(&text, name, 2000, 3000);
    put_stat(&text, CORRELATION, 4, 77);
    wire_close(&text, event);

    event = wire_open(&text, 4);
    size_t stat = wire_open(&text, 4);
    wire_append_number(&text, 4, 77);
    wire_append_number(&text, 1, CORRELATION);
    wire_close(&text, stat);
    wire_append_number(&text, 3, 3000);
    wire_append_number(&text, 2, 2000);
    wire_append_number(&text, 1, name);
    wire_close(&text, event);

    event = open_event(&text, 3, 9, 9);
    wire_append_number(&text, 1, name);
    wire_append_number(&text, 2, 2000);
    wire_append_number(&text, 3, 3000);
    stat = wire_open(&text, 4);
    wire_append_number(&text, 1, UNKNOWN_STAT);
    wire_append_number(&text, 1, CORRELATION);
    wire_append_number(&text, 3, 77);
    wire_close(&text, stat);
    wire_close(&text, event);

    event = open_event(&text, name, 2000, 3000);
    put_stat(&text, UNKNOWN_STAT, 4, 5);
    put_stat(&text, CORRELATION, 3, 77);
    stat = wire_open(&text, 4);
    wire_append_number(&text, 1, CORRELATION);
    wire_append_text(&text, 9, long_text, sizeof long_text);
    wire_append_number(&text, 3, 77);
    wire_close(&text, stat);
    wire_close(&text, event);

    wire_close(&text, line);
    put_entry(&text, 4, name, "cuLaunchKernel", NULL);
    put_stat_names(&text);
    wire_close(&text, plane);
    struct trace *trace = read_bytes(&text);
    assert_int_equal(trace->event_count, 4);
    for (event_id e = 0; e < 4; e++) {
        assert_int_equal(trace_start_ns(trace, e), 7002);
        assert_int_equal(trace_dur_ns(trace, e), 3);
        assert_string_equal(trace_name(trace, e), "cuLaunchKernel");
        assert_int_equal(trace_arg_or(trace, ARG_CORRELATION, e, -1), 77);
        assert_int_equal(trace->kind[e], EVENT_DRIVER);
    }
}

static void put_operator(struct buffer *out)
{
    put_stat(out, HLO_OP, 7, TEXT_OP);
    put_stat(out, HLO_MODULE, 7, TEXT_MODULE);
}

/* Kernels of call 77: the first may name fusion.1, a second names fusion.2. */
static void put_gpu(struct buffer *out, bool names_operator, bool has_second)
{
    size_t plane = open_plane(out, "/device:GPU:2"), line = open_line(out, 13, "Stream #13(Compute)", 0);
    size_t event = open_event(out, 1, 50000, 10000);
    put_stat(out, CORRELATION, 3, 77);
    if (names_operator)
        put_operator(out);
    wire_close(out, event);
    if (has_second) {
        event = open_event(out, 1, 70000, 10000);
        put_stat(out, CORRELATION, 3, 77);
        put_stat(out, HLO_OP, 7, TEXT_ALLOCATOR);
        wire_close(out, event);
    }
    wire_close(out, line);
    put_entry(out, 4, 1, "gemm", NULL);
    put_stat_names(out);
    wire_close(out, plane);
}

/* The call, in an operator of its own. */
static void put_host(struct buffer *out, bool names_operator)
{
    size_t plane = open_plane(out, "/host:CPU"), line = open_line(out, 5, "main", 0);
    put_event(out, 2, 5000, 90000);
    size_t event = open_event(out, 1, 10000, 5000);
    put_stat(out, CORRELATION, 3, 77);
    if (names_operator)
        put_operator(out);
    wire_close(out, event);
    wire_close(out, line);
    put_entry(out, 4, 1, "cuLaunchKernel", NULL);
    put_entry(out, 4, 2, "jit_step:XLA GPU module", NULL);
    put_stat_names(out);
    wire_close(out, plane);
}

/*
 * A kernel belongs to the call with its number, and to the operator that the call tells of, or that the work of the call does, in
 * whatever order the planes come; where works of one call tell of several, to the one around the call.
 */
TEST(kernels_find_their_call_and_operator)
{
    static const struct {
        bool by_call, by_work, has_second, host_first;
        const char *name;
    } cases[] = {
        { true, false, false, false, "jit_step/fusion.1" },
        { false, true, false, false, "jit_step/fusion.1" },
        { false, true, false, true, "jit_step/fusion.1" },
        { false, true, true, false, "jit_step:XLA GPU module" },
        { false, true, true, true, "jit_step:XLA GPU module" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCRATCH_BUFFER(text);
        if (!cases[i].host_first)
            put_gpu(&text, cases[i].by_work, cases[i].has_second);
        put_host(&text, cases[i].by_call);
        if (cases[i].host_first)
            put_gpu(&text, cases[i].by_work, cases[i].has_second);
        struct trace *trace = read_bytes(&text);
        event_id kernel = 0;
        while (trace->kind[kernel] != EVENT_KERNEL)
            kernel++;
        const struct track *track = &trace->tracks[trace->track[kernel]];
        assert_int_equal(track->device, 2);
        assert_int_equal(track->stream, 13);
        struct attribution *launches = scratch(attribution_open(trace));
        event_id call = attribution_call(launches, kernel), op = attribution_operator(launches, kernel);
        assert_int_equal(trace->kind[call], EVENT_DRIVER);
        assert_string_equal(trace_name(trace, op), cases[i].name);
    }
}

/* A plane with the program NAME of COUNT instructions fusion.1, fusion.2 ... of model.py, in line 11, 12 ... */
static void put_program(struct buffer *out, const char *name, int count)
{
    size_t plane = open_plane(out, "/host:metadata"), entry = wire_open(out, 4), value = wire_open(out, 2);
    wire_append_text(out, 2, name, strlen(name));
    size_t stat = wire_open(out, 5), proto = wire_open(out, 6), module = wire_open(out, 1);
    wire_append_text(out, 1, name, strlen(name));
    wire_append_number(out, 5, count);
    size_t computation = wire_open(out, 3);
    wire_append_number(out, 5, 1);
    for (int i = 1; i <= count; i++) {
        char fusion[16];
        snprintf(fusion, sizeof fusion, "fusion.%d", i);
        size_t instruction = wire_open(out, 2);
        wire_append_text(out, 1, fusion, strlen(fusion));
        wire_append_text(out, 2, "add", 3);
        size_t metadata = wire_open(out, 7);
        wire_append_text(out, 3, "model.py", 8);
        wire_append_number(out, 4, 10 + i);
        wire_close(out, metadata);
        wire_close(out, instruction);
    }
    const size_t open[] = { computation, module, proto, stat, value, entry, plane };
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        wire_close(out, open[i]);
}

/* Work that comes behind its call gives it its operator, with what its program says of it, wherever programs stand. */
TEST(operators_have_what_programs_say_wherever_they_stand)
{
    for (int order = 0; order < 3; order++) {
        SCRATCH_BUFFER(text);
        put_host(&text, false);
        if (order < 2)
            put_program(&text, "jit_step", 1);
        if (order == 0)
            put_program(&text, "jit_other", 100);
        put_gpu(&text, true, false);
        if (order == 2)
            put_program(&text, "jit_step", 1);
        if (order > 0)
            put_program(&text, "jit_other", 100);
        struct trace *trace = read_bytes(&text);
        event_id op = 0;
        while (op < trace->event_count && strcmp(trace_name(trace, op), "jit_step/fusion.1") != 0)
            op++;
        assert_true(op < trace->event_count);
        const char *stack = trace_arg_text(trace, ARG_CALL_STACK, op);
        assert_non_null(stack);
        assert_string_equal(stack, "model.py(11): [function]");
    }
}

/*
 * Kernels that tell the operator of TensorFlow only: of two launches the first is in an event of that operator, which gets
 * no second one. "XlaModule:" names none.
 */
TEST(operators_come_from_tf_op_where_there_is_no_hlo)
{
    SCRATCH_BUFFER(text);
    size_t plane = open_plane(&text, "/device:GPU:0"), line = open_line(&text, 13, "Stream #13(Compute)", 0);
    for (int64_t i = 0; i < 3; i++) {
        size_t event = open_event(&text, 1, 50000 + i * 10000, 10000);
        put_stat(&text, CORRELATION, 3, 77 + i);
        put_stat(&text, TF_OP, 7, i < 2 ? TEXT_TF_OP : TEXT_NO_TF_OP);
        wire_close(&text, event);
    }
    wire_close(&text, line);
    put_entry(&text, 4, 1, "gemm", NULL);
    put_stat_names(&text);
    wire_close(&text, plane);
    plane = open_plane(&text, "/host:CPU"), line = open_line(&text, 5, "main", 0);
    put_event(&text, 2, 5000, 10000);
    for (int64_t i = 0; i < 3; i++) {
        size_t event = open_event(&text, 1, 10000 + i * 10000, 5000);
        put_stat(&text, CORRELATION, 3, 77 + i);
        wire_close(&text, event);
    }
    wire_close(&text, line);
    put_entry(&text, 4, 1, "cuLaunchKernel", NULL);
    put_entry(&text, 4, 2, "dense/MatMul:MatMul", NULL);
    put_stat_names(&text);
    wire_close(&text, plane);
    struct trace *trace = read_bytes(&text);
    struct attribution *launches = scratch(attribution_open(trace));
    size_t kernels = 0, operators = 0;
    for (event_id e = 0; e < trace->event_count; e++) {
        operators += trace->kind[e] == EVENT_OP;
        if (trace->kind[e] != EVENT_KERNEL)
            continue;
        event_id op = attribution_operator(launches, e);
        if (kernels++ < 2)
            assert_string_equal(trace_name(trace, op), "dense/MatMul:MatMul");
        else
            assert_int_equal(op, EVENT_NONE);
    }
    assert_int_equal(kernels, 3);
    assert_int_equal(operators, 2);
}

/* train 0..100 with step_num 4 is step 4; "end: dot" is the end of an operator told twice. */
TEST(steps_come_from_step_num_and_twins_are_left_out)
{
    SCRATCH_BUFFER(text);
    size_t plane = open_plane(&text, "/host:CPU"), line = open_line(&text, 5, "main", 0);
    size_t event = open_event(&text, 1, 0, 100000);
    put_stat(&text, STEP_NUM, 4, 4);
    wire_close(&text, event);
    event = open_event(&text, 2, 10000, 20000);
    put_stat(&text, HLO_OP, 7, TEXT_OP);
    wire_close(&text, event);
    put_event(&text, 3, 30000, 0);
    wire_close(&text, line);
    put_entry(&text, 4, 1, "train", NULL);
    put_entry(&text, 4, 2, "dot", NULL);
    put_entry(&text, 4, 3, "end: dot", NULL);
    put_stat_names(&text);
    wire_close(&text, plane);
    struct trace *trace = read_bytes(&text);
    assert_int_equal(trace->event_count, 2);
    assert_string_equal(trace_name(trace, 0), "train [step 4]");
    struct step_list *steps = scratch(step_list_open(trace));
    assert_int_equal(steps->count, 1);
    assert_int_equal(steps->at[0].number, 4);
    assert_int_equal(steps->at[0].end_ns - steps->at[0].start_ns, 100);
    assert_int_equal(trace->kind[1], EVENT_OP);
    assert_int_equal(trace->notice_count, 1);
    assert_string_equal(trace->notices[0].kind, "operator_ends");
}

TEST(allocations_become_memory_records)
{
    SCRATCH_BUFFER(text);
    size_t plane = open_plane(&text, "/host:CPU"), line = open_line(&text, 5, "main", 0);
    for (int64_t name = 1; name <= 2; name++) {
        size_t event = open_event(&text, name, name * 1000, 0);
        put_stat(&text, ALLOCATOR, 7, TEXT_ALLOCATOR);
        put_stat(&text, BYTES, 4, 512);
        put_stat(&text, ALLOCATED, 4, name == 1 ? 1512 : 1000);
        wire_close(&text, event);
    }
    wire_close(&text, line);
    put_entry(&text, 4, 1, "MemoryAllocation", NULL);
    put_entry(&text, 4, 2, "MemoryDeallocation", NULL);
    put_stat_names(&text);
    wire_close(&text, plane);
    struct trace *trace = read_bytes(&text);
    struct memory_change_ids ids = memory_change_ids(trace);
    static const int64_t bytes[] = { 512, -512 }, allocated[] = { 1512, 1000 };
    for (event_id e = 0; e < 2; e++) {
        assert_int_equal(memory_change_of(&ids, trace, e), MEMORY_BLOCK);
        assert_int_equal(trace_arg_or(trace, ARG_BYTES, e, 0), bytes[e]);
        assert_int_equal(trace_arg_or(trace, ARG_TOTAL_ALLOCATED, e, 0), allocated[e]);
        assert_int_equal(trace_arg_or(trace, ARG_DEVICE_TYPE, e, 0), 1);
        assert_int_equal(trace_arg_or(trace, ARG_DEVICE_ID, e, 0), 3);
    }
}

/* The first event says 5 bytes where 2 follow; its length outside is right, so the next event is read. */
TEST(a_damaged_event_costs_that_event)
{
    SCRATCH_BUFFER(text);
    size_t plane = open_plane(&text, "/host:CPU"), line = open_line(&text, 5, "main", 0);
    wire_append_text(&text, 4,
                     "\x22\x05"
                     "ab",
                     4);
    put_event(&text, 1, 1000, 1000);
    wire_close(&text, line);
    put_entry(&text, 4, 1, "good", NULL);
    wire_close(&text, plane);
    wire_append_text(&text, 1, "", 0);
    text.count--; /* and the file is cut: the length of its last plane is missing */
    struct trace *trace = read_bytes(&text);
    assert_int_equal(trace->event_count, 1);
    assert_string_equal(trace_name(trace, 0), "good");
    assert_int_equal(trace->notice_count, 2);
    assert_string_equal(trace->notices[0].kind, "bad_message");
    assert_string_equal(trace->notices[1].kind, "cut_short");
}

/* What of the last plane is there is read, up to the last whole event; what of its names is not is a number. */
TEST(a_cut_file_gives_the_whole_events_of_its_last_plane)
{
    SCRATCH_BUFFER(text);
    size_t plane = open_plane(&text, "/host:first"), line = open_line(&text, 5, "main", 0);
    put_event(&text, 1, 1000, 1000);
    wire_close(&text, line);
    put_entry(&text, 4, 1, "whole", NULL);
    wire_close(&text, plane);
    plane = open_plane(&text, "/host:CPU");
    line = open_line(&text, 6, "worker", 0);
    put_event(&text, 7, 1000, 1000);
    size_t there = text.count;
    put_event(&text, 7, 3000, 1000);
    size_t cut = text.count - 1;
    put_event(&text, 7, 5000, 1000);
    wire_close(&text, line);
    put_entry(&text, 4, 7, "lost", NULL);
    wire_close(&text, plane);
    for (size_t i = there + 1; i <= cut; i++) { /* in the second event of the line, wherever */
        text.count = i;
        struct trace *trace = read_bytes(&text);
        assert_int_equal(trace->event_count, 2);
        assert_string_equal(trace_name(trace, 0), "whole");
        assert_string_equal(trace_name(trace, 1), "#7");
        assert_int_equal(trace->notice_count, 1);
        assert_string_equal(trace->notices[0].kind, "cut_short");
        assert_non_null(strstr(trace->notices[0].text, "in the middle of plane /host:CPU"));
    }
}

/* Operators on a TPU belong to the program that runs then, and it to the launch with its run_id. */
TEST(work_on_a_tpu_finds_its_launch)
{
    static const char *const stats[] = { "run_id", "device_ordinal" };
    SCRATCH_BUFFER(text);
    size_t plane = open_plane(&text, "/device:TPU:1"), line = open_line(&text, 2, "XLA Modules", 0);
    size_t event = open_event(&text, 1, 10000, 50000);
    put_stat(&text, 1, 3, 9);
    wire_close(&text, event);
    wire_close(&text, line);
    line = open_line(&text, 3, "XLA Ops", 0);
    put_event(&text, 2, 20000, 5000);
    wire_close(&text, line);
    put_entry(&text, 4, 1, "jit_f(1)", NULL);
    put_entry(&text, 4, 2, "%dot.7 = f32[8] dot(...)", "dot.7");
    put_entry(&text, 5, 1, stats[0], NULL);
    wire_close(&text, plane);
    plane = open_plane(&text, "/host:CPU");
    line = open_line(&text, 5, "main", 0);
    event = open_event(&text, 1, 1000, 2000);
    put_stat(&text, 1, 3, 9);
    put_stat(&text, 2, 3, 1);
    wire_close(&text, event);
    wire_close(&text, line);
    put_entry(&text, 4, 1, "DoEnqueueProgram", NULL);
    put_entry(&text, 5, 1, stats[0], NULL);
    put_entry(&text, 5, 2, stats[1], NULL);
    wire_close(&text, plane);
    struct trace *trace = read_bytes(&text);
    assert_int_equal(trace->kind[0], EVENT_GPU_ANNOTATION);
    assert_int_equal(trace->kind[1], EVENT_KERNEL);
    assert_string_equal(trace_name(trace, 1), "dot.7");
    assert_int_equal(trace->tracks[trace->track[1]].device, 1);
    struct attribution *launches = scratch(attribution_open(trace));
    event_id call = attribution_call(launches, 1);
    assert_string_equal(trace_name(trace, call), "DoEnqueueProgram");
}
