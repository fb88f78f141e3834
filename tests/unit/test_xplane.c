/* test_xplane.c - ingest/xplane/xplane.c: what an XSpace becomes, by hand-made planes. Picoseconds are "ps" here. */

#include "tests/unit/scratch.h"
#include "cli/convert/parts.h"
#include "derive/step_list.h"
#include "tests/read_bytes.h"
#include "tests/unit/wire_text.h"
#include "trace/memory_change.h"

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
    wire_text(out, "%u{1=%" PRId64 " 2{2'%s'", number, id, name);
    wire_text(out, display ? "4'%s' }}" : "}}", display);
}

/* A plane with a line, to which events are added. */
static void open_line(struct buffer *out, const char *plane, int64_t id, const char *name,
                      int64_t timestamp_ns)
{
    wire_text(out, "1{2'%s' 3{1=%" PRId64 " 2'%s' 3=%" PRId64, plane, id, name, timestamp_ns);
}

static void open_event(struct buffer *out, int64_t name, int64_t offset_ps, int64_t duration_ps)
{
    wire_text(out, "4{1=%" PRId64 " 2=%" PRId64 " 3=%" PRId64, name, offset_ps, duration_ps);
}

static void put_event(struct buffer *out, int64_t name, int64_t offset_ps, int64_t duration_ps)
{
    open_event(out, name, offset_ps, duration_ps);
    wire_text(out, "}");
}

static void put_stat(struct buffer *out, int64_t name, uint32_t type, int64_t value)
{
    wire_text(out, "4{1=%" PRId64 " %u=%" PRId64 "}", name, type, value);
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
    open_line(&text, "/host:CPU", 5, "main", 7000);
    put_event(&text, 1, 1999, 3002);
    put_event(&text, 2, 1999, 999);
    put_event(&text, 3, -1, 1);
    wire_text(&text, "}");
    put_entry(&text, 4, 1, "outer", NULL);
    put_entry(&text, 4, 2, "inner", NULL);
    put_entry(&text, 4, 3, "early", NULL);
    wire_text(&text, "}");
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
    open_line(&text, "/host:CPU", 5, "main", 7000);
    open_event(&text, name, 2000, 3000);
    put_stat(&text, CORRELATION, 4, 77);
    wire_text(&text, "}");

    wire_text(&text, "4{4{4=77 1=%d} 3=3000 2=2000 1=%" PRId64 "}", CORRELATION, name);

    open_event(&text, 3, 9, 9);
    wire_text(&text, "1=%" PRId64 " 2=2000 3=3000 4{1=%d 1=%d 3=77}}", name, UNKNOWN_STAT, CORRELATION);

    open_event(&text, name, 2000, 3000);
    put_stat(&text, UNKNOWN_STAT, 4, 5);
    put_stat(&text, CORRELATION, 3, 77);
    wire_text(&text, "4{1=%d", CORRELATION);
    wire_append_text(&text, 9, long_text, sizeof long_text);
    wire_text(&text, "3=77} } }");
    put_entry(&text, 4, name, "cuLaunchKernel", NULL);
    put_stat_names(&text);
    wire_text(&text, "}");
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
    open_line(out, "/device:GPU:2", 13, "Stream #13(Compute)", 0);
    open_event(out, 1, 50000, 10000);
    put_stat(out, CORRELATION, 3, 77);
    if (names_operator)
        put_operator(out);
    wire_text(out, "}");
    if (has_second) {
        open_event(out, 1, 70000, 10000);
        put_stat(out, CORRELATION, 3, 77);
        put_stat(out, HLO_OP, 7, TEXT_ALLOCATOR);
        wire_text(out, "}");
    }
    wire_text(out, "}");
    put_entry(out, 4, 1, "gemm", NULL);
    put_stat_names(out);
    wire_text(out, "}");
}

/* The call, in an operator of its own. */
static void put_host(struct buffer *out, bool names_operator)
{
    open_line(out, "/host:CPU", 5, "main", 0);
    put_event(out, 2, 5000, 90000);
    open_event(out, 1, 10000, 5000);
    put_stat(out, CORRELATION, 3, 77);
    if (names_operator)
        put_operator(out);
    wire_text(out, "} }");
    put_entry(out, 4, 1, "cuLaunchKernel", NULL);
    put_entry(out, 4, 2, "jit_step:XLA GPU module", NULL);
    put_stat_names(out);
    wire_text(out, "}");
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
    wire_text(out, "1{2'/host:metadata' 4{2{2'%s' 5{6{1{1'%s' 5=%d 3{5=1", name, name, count);
    for (int i = 1; i <= count; i++)
        wire_text(out, "2{1'fusion.%d' 2'add' 7{3'model.py' 4=%d}}", i, 10 + i);
    wire_text(out, "}}}} }}}");
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
    open_line(&text, "/device:GPU:0", 13, "Stream #13(Compute)", 0);
    for (int64_t i = 0; i < 3; i++) {
        open_event(&text, 1, 50000 + i * 10000, 10000);
        put_stat(&text, CORRELATION, 3, 77 + i);
        put_stat(&text, TF_OP, 7, i < 2 ? TEXT_TF_OP : TEXT_NO_TF_OP);
        wire_text(&text, "}");
    }
    wire_text(&text, "}");
    put_entry(&text, 4, 1, "gemm", NULL);
    put_stat_names(&text);
    wire_text(&text, "}");
    open_line(&text, "/host:CPU", 5, "main", 0);
    put_event(&text, 2, 5000, 10000);
    for (int64_t i = 0; i < 3; i++) {
        open_event(&text, 1, 10000 + i * 10000, 5000);
        put_stat(&text, CORRELATION, 3, 77 + i);
        wire_text(&text, "}");
    }
    wire_text(&text, "}");
    put_entry(&text, 4, 1, "cuLaunchKernel", NULL);
    put_entry(&text, 4, 2, "dense/MatMul:MatMul", NULL);
    put_stat_names(&text);
    wire_text(&text, "}");
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
    open_line(&text, "/host:CPU", 5, "main", 0);
    open_event(&text, 1, 0, 100000);
    put_stat(&text, STEP_NUM, 4, 4);
    wire_text(&text, "}");
    open_event(&text, 2, 10000, 20000);
    put_stat(&text, HLO_OP, 7, TEXT_OP);
    wire_text(&text, "}");
    put_event(&text, 3, 30000, 0);
    wire_text(&text, "}");
    put_entry(&text, 4, 1, "train", NULL);
    put_entry(&text, 4, 2, "dot", NULL);
    put_entry(&text, 4, 3, "end: dot", NULL);
    put_stat_names(&text);
    wire_text(&text, "}");
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
    open_line(&text, "/host:CPU", 5, "main", 0);
    for (int64_t name = 1; name <= 2; name++) {
        open_event(&text, name, name * 1000, 0);
        put_stat(&text, ALLOCATOR, 7, TEXT_ALLOCATOR);
        put_stat(&text, BYTES, 4, 512);
        put_stat(&text, ALLOCATED, 4, name == 1 ? 1512 : 1000);
        wire_text(&text, "}");
    }
    wire_text(&text, "}");
    put_entry(&text, 4, 1, "MemoryAllocation", NULL);
    put_entry(&text, 4, 2, "MemoryDeallocation", NULL);
    put_stat_names(&text);
    wire_text(&text, "}");
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
    open_line(&text, "/host:CPU", 5, "main", 0);
    wire_append_text(&text, 4,
                     "\x22\x05"
                     "ab",
                     4);
    put_event(&text, 1, 1000, 1000);
    wire_text(&text, "}");
    put_entry(&text, 4, 1, "good", NULL);
    wire_text(&text, "}");
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
    open_line(&text, "/host:first", 5, "main", 0);
    put_event(&text, 1, 1000, 1000);
    wire_text(&text, "}");
    put_entry(&text, 4, 1, "whole", NULL);
    wire_text(&text, "}");
    open_line(&text, "/host:CPU", 6, "worker", 0);
    put_event(&text, 7, 1000, 1000);
    size_t there = text.count;
    put_event(&text, 7, 3000, 1000);
    size_t cut = text.count - 1;
    put_event(&text, 7, 5000, 1000);
    wire_text(&text, "}");
    put_entry(&text, 4, 7, "lost", NULL);
    wire_text(&text, "}");
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
    open_line(&text, "/device:TPU:1", 2, "XLA Modules", 0);
    open_event(&text, 1, 10000, 50000);
    put_stat(&text, 1, 3, 9);
    wire_text(&text, "} }");
    wire_text(&text, "3{1=3 2'XLA Ops' 3=0");
    put_event(&text, 2, 20000, 5000);
    wire_text(&text, "}");
    put_entry(&text, 4, 1, "jit_f(1)", NULL);
    put_entry(&text, 4, 2, "%dot.7 = f32[8] dot(...)", "dot.7");
    put_entry(&text, 5, 1, stats[0], NULL);
    wire_text(&text, "}");
    open_line(&text, "/host:CPU", 5, "main", 0);
    open_event(&text, 1, 1000, 2000);
    put_stat(&text, 1, 3, 9);
    put_stat(&text, 2, 3, 1);
    wire_text(&text, "} }");
    put_entry(&text, 4, 1, "DoEnqueueProgram", NULL);
    put_entry(&text, 5, 1, stats[0], NULL);
    put_entry(&text, 5, 2, stats[1], NULL);
    wire_text(&text, "}");
    struct trace *trace = read_bytes(&text);
    assert_int_equal(trace->kind[0], EVENT_GPU_ANNOTATION);
    assert_int_equal(trace->kind[1], EVENT_KERNEL);
    assert_string_equal(trace_name(trace, 1), "dot.7");
    assert_int_equal(trace->tracks[trace->track[1]].device, 1);
    struct attribution *launches = scratch(attribution_open(trace));
    event_id call = attribution_call(launches, 1);
    assert_string_equal(trace_name(trace, call), "DoEnqueueProgram");
}
