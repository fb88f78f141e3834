/* test_ascend.c - ingest/ascend: what tasks are, and the operators that issued them. */

#include "tests/unit/scratch.h"
#include "derive/gpu_events.h"
#include "ingest/ascend/ascend.h"

static struct trace_builder *builder;
static struct ascend *ascend;
static struct trace *trace;

static void begin(void)
{
    static const struct trace_wants wants = { .args = UINT64_MAX >> (64 - ARG_COUNT) };
    builder = trace_builder_open(&wants);
    trace_builder_file(builder, "made", "Ascend");
    ascend = ascend_open(builder, 1, PRODUCER_TORCH_NPU);
}

static void no_args(void *context, struct recorder *recorder, const struct ascend_host *host)
{
    (void)context, (void)recorder, (void)host;
}

static void end(void)
{
    assert_true(ascend_write(ascend, no_args, NULL, NULL));
    ascend_free(ascend);
    trace = scratch_trace(trace_builder_finish(builder));
}

static void host(enum ascend_host_kind kind, const char *name, int64_t tid, int64_t start_ns, int64_t end_ns,
                 int64_t link)
{
    ascend_add_host(ascend, &(struct ascend_host){
                                .start_ns = start_ns,
                                .end_ns = end_ns,
                                .pid = 1,
                                .tid = tid,
                                .link = link,
                                .name = recorder_name(ascend_recorder(ascend), name, strlen(name)),
                                .kind = (uint8_t)kind,
                            });
}

static void task(const char *name, const char *type, int64_t stream, int64_t start_ns, int64_t end_ns,
                 int64_t link, enum ascend_role role)
{
    ascend_add_task(ascend, &(struct ascend_task){
                                .start_ns = start_ns,
                                .end_ns = end_ns,
                                .stream = stream,
                                .link = link,
                                .bytes = RECORDER_NONE,
                                .elements = RECORDER_NONE,
                                .rank_count = RECORDER_NONE,
                                .source = RECORDER_NONE,
                                .target = RECORDER_NONE,
                                .name = name,
                                .type = type,
                                .role = (uint8_t)role,
                            });
}

/* The operator of work I by start, by its name; "" if none is known. */
static const char *operator_of(size_t i)
{
    event_id op = gpu_events_of(trace)->op[i];
    return op == EVENT_NONE ? "" : trace_name(trace, op);
}

/*
 *     thread 1   |aten::outer 0..100: |aten::mm 10..40: Enqueue 20..30|     Enqueue 110..120 in no operator
 *     thread 2      Dequeue 50..90: call 60..80                            Dequeue 130..150: call 135..140
 *     stream 5                    kernel 100..200                            kernel 210..220
 */
TEST(work_is_of_the_operator_around_its_enqueue)
{
    begin();
    host(ASCEND_OPERATOR, "aten::outer", 1, 0, 100, RECORDER_NONE);
    host(ASCEND_OPERATOR, "aten::mm", 1, 10, 40, RECORDER_NONE);
    host(ASCEND_ENQUEUE, "Enqueue", 1, 20, 30, 7);
    host(ASCEND_ENQUEUE, "Enqueue", 1, 110, 120, 8);
    host(ASCEND_DEQUEUE, "Dequeue@mm", 2, 50, 90, 7);
    host(ASCEND_DEQUEUE, "Dequeue@mm", 2, 130, 150, 8);
    host(ASCEND_CALL, "Node@launch", 2, 60, 80, 70);
    host(ASCEND_CALL, "Node@launch", 2, 135, 140, 80);
    task("MatMul", "AI_CORE", 5, 100, 200, 70, ASCEND_BY_TYPE);
    task("MatMul", "AI_CORE", 5, 210, 220, 80, ASCEND_BY_TYPE);
    end();
    assert_int_equal(gpu_events_of(trace)->count, 2);
    assert_string_equal(operator_of(0), "aten::mm");
    assert_string_equal(operator_of(1), "");
    int64_t issued_ns;
    assert_true(
        attribution_issued(trace, gpu_events_of(trace)->event[0], gpu_events_of(trace)->call[0], &issued_ns));
    assert_int_equal(issued_ns, 20); /* not 60, when the call began */
}

/* Without a queue the operator is around the call; without calls an arrow says where it was. */
TEST(work_is_of_the_operator_around_its_call_or_arrow)
{
    begin();
    host(ASCEND_OPERATOR, "aten::mm", 1, 10, 40, RECORDER_NONE);
    host(ASCEND_OPERATOR, "aten::add", 1, 50, 60, RECORDER_NONE);
    host(ASCEND_CALL, "Node@launch", 1, 15, 20, 70);
    task("MatMul", "AI_CORE", 5, 100, 200, 70, ASCEND_BY_TYPE);
    task("Add", "AI_VECTOR_CORE", 5, 300, 310, RECORDER_NONE, ASCEND_BY_TYPE);
    task("Add", "AI_VECTOR_CORE", 6, 300, 310, RECORDER_NONE, ASCEND_BY_TYPE); /* no arrow ends on stream 6 */
    ascend_add_arrow(ascend, 0, 5, 300, 1, 1, 55);
    end();
    assert_int_equal(gpu_events_of(trace)->count, 3);
    assert_string_equal(operator_of(0), "aten::mm");
    assert_string_equal(operator_of(1), "aten::add");
    assert_string_equal(operator_of(2), "");
}

/* A piece of the collective that runs at START_NS, from rank SOURCE to rank TARGET. */
static void piece(const char *name, int64_t source, int64_t target, int64_t start_ns, int64_t end_ns)
{
    ascend_add_task(ascend, &(struct ascend_task){ .start_ns = start_ns,
                                                   .end_ns = end_ns,
                                                   .stream = RECORDER_NONE,
                                                   .link = RECORDER_NONE,
                                                   .source = source,
                                                   .target = target,
                                                   .name = name,
                                                   .type = "",
                                                   .role = ASCEND_PIECE });
}

/*
 * Rank 1 of 4. In the first it waits for ranks 2, 0, 3 until 110, 120 and 180, then copies and waits once more; in the second all of 4 are
 * not met. That of the group 88 has two ranks: whether its numbers are those of the job is not known.
 */
TEST(a_collective_knows_the_peer_that_notified_last)
{
    begin();
    trace_builder_current_file(builder)->rank = 1;
    task("hcom_allReduce__77_0_1", "", RECORDER_NONE, 100, 200, 9, ASCEND_COLLECTIVE);
    task("hcom_allReduce__77_1_1", "", RECORDER_NONE, 300, 400, 10, ASCEND_COLLECTIVE);
    task("hcom_allReduce__88_0_1", "", RECORDER_NONE, 500, 600, 11, ASCEND_COLLECTIVE);
    piece("Notify_Wait", 1, 2, 100, 110);
    piece("Notify_Wait", 1, 0, 100, 120);
    piece("Notify_Wait", 1, 3, 101, 180);
    piece("Memcpy", 1, 3, 180, 195);
    piece("Notify_Wait", 1, 0, 195, 199);
    piece("Notify_Wait", 1, 4294967295, 100, 199);
    piece("Notify_Record", 1, 2, 300, 399);
    piece("Notify_Wait", 1, 3, 310, 320);
    piece("Notify_Wait", 1, 0, 500, 510);
    end();
    const struct gpu_events *gpu = gpu_events_of(trace);
    static const int64_t rank[] = { 3, 3, -1 }, waited_ns[] = { 80, 20, 10 }, size[] = { 4, -1, 2 };
    assert_int_equal(gpu->count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(trace_arg_or(trace, ARG_WAITED_RANK, gpu->event[i], -1), rank[i]);
        assert_int_equal(trace_arg_or(trace, ARG_WAITED_NS, gpu->event[i], -1), waited_ns[i]);
        assert_int_equal(trace_arg_or(trace, ARG_GROUP_SIZE, gpu->event[i], -1), size[i]);
    }
}

/* A collective is one, on the stream of its pieces; an event wait of its connection is the stream's own. */
TEST(pieces_of_a_collective_are_not_work)
{
    begin();
    task("hcom_allReduce__77_3_1", "", RECORDER_NONE, 100, 200, 9, ASCEND_COLLECTIVE);
    task("Notify Wait", "Notify Wait", 4, 100, 110, 9, ASCEND_BY_TYPE);
    task("SDMA", "SDMA", 4, 110, 190, 9, ASCEND_BY_TYPE);
    task("EVENT_WAIT", "EVENT_WAIT_SQE", 3, 90, 100, 9, ASCEND_BY_TYPE);
    task("MEMCPY_ASYNC", "SDMA_SQE", 2, 300, 310, RECORDER_NONE, ASCEND_BY_TYPE);
    task("EVENT_RECORD", "PLACE_HOLDER_SQE", 2, 320, 330, RECORDER_NONE, ASCEND_BY_TYPE);
    end();
    const struct gpu_events *gpu = gpu_events_of(trace);
    assert_int_equal(gpu->count, 2);
    assert_string_equal(trace_name(trace, gpu->event[0]), "hcom_allReduce");
    assert_int_equal(gpu->work[0], GPU_COMMUNICATION);
    assert_int_equal(trace->tracks[trace->track[gpu->event[0]]].stream, 4);
    assert_string_equal(trace_arg_text(trace, ARG_GROUP_NAME, gpu->event[0]), "77");
    assert_int_equal(trace_arg_or(trace, ARG_SEQ_IN_GROUP, gpu->event[0], -1), 3);
    assert_string_equal(trace_name(trace, gpu->event[1]), "Memcpy DtoD");
    size_t waits = 0, marks = 0;
    for (event_id e = 0; e < trace->event_count; e++) {
        waits += trace->kind[e] == EVENT_SYNC;
        marks += trace->kind[e] == EVENT_GPU_OTHER && trace->flags[e] & EVENT_POINT;
    }
    assert_int_equal(waits, 1);
    assert_int_equal(marks, 1);
}

TEST(lists_become_those_of_torch)
{
    static const struct {
        void (*convert)(const char *text, struct buffer *out);
        const char *text, *wanted;
    } rows[] = {
        { ascend_shapes, "32,3;;64", "[[32,3],[],[64]]" },
        { ascend_shapes, ";\r\n", "[[],[]]" },
        { ascend_shapes, "a tensor list;4", "[[],[4]]" },
        { ascend_types, "float;\r\nNone", "[\"float\",\"None\"]" },
        { ascend_stack, "a.py(1): f;\r\nb.py(2): g", "a.py(1): f;b.py(2): g" },
    };
    SCRATCH_BUFFER(out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rows[i].convert(rows[i].text, &out);
        buffer_putc(&out, '\0');
        assert_string_equal(out.at, rows[i].wanted);
    }
    assert_int_equal(ascend_copy_of("acl_memcpy_host_to_device"), ASCEND_COPY_HTOD);
    assert_int_equal(ascend_copy_of("addr device to device"), ASCEND_COPY_DTOD);
    assert_int_equal(ascend_copy_of("other"), ASCEND_COPY_UNKNOWN);
}
