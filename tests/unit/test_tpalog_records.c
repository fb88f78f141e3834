/*
 * What the capture library logs becomes events. One log, small enough to draw (times in us):
 *
 *     thread 9   |aten::mm 100..160, seq 12, shapes                 |   [memory] 20..21: cudaMalloc
 *                    |cudaLaunchKernel 110..115 (corr. 1)|
 *     stream 7                 |gemm 130..150| |copy 155..157|
 */
#include "tests/unit/scratch.h"
#include "tests/unit/tpa_bytes.h"
#include "tests/unit/trace_dump.h"

static int64_t text(struct tpafile_writer *log, const char *string)
{
    return tpafile_writer_text(log, string, strlen(string));
}

/* A record of KIND whose fields are not known but for those that follow. */
#define ADD(log, kind, ...)                                                                                  \
    do {                                                                                                     \
        const int64_t pairs[][2] = { __VA_ARGS__ };                                                          \
        add_record(log, TPAFILE_##kind, pairs, sizeof pairs / sizeof *pairs);                                \
    } while (0)

static void add_record(struct tpafile_writer *log, enum tpafile_kind kind, const int64_t (*pairs)[2],
                       size_t count)
{
    int64_t values[TPAFILE_MOST_FIELDS];
    for (size_t i = 0; i < TPAFILE_MOST_FIELDS; i++)
        values[i] = TPAFILE_NONE;
    for (size_t i = 0; i < count; i++)
        values[pairs[i][0]] = pairs[i][1];
    assert_true(tpafile_writer_add(log, kind, values));
}

static void add_facts(struct tpafile_writer *log)
{
    ADD(log, PROCESS, { TPAFILE_PROCESS_PID, 9 }, { TPAFILE_PROCESS_HOST, text(log, "box") },
        { TPAFILE_PROCESS_EXECUTABLE, text(log, "/usr/bin/python3") },
        { TPAFILE_PROCESS_COMMAND, text(log, "python3 train.py") }, { TPAFILE_PROCESS_RANK, 3 },
        { TPAFILE_PROCESS_WORLD_SIZE, 8 });
    ADD(log, CLOCK, { TPAFILE_CLOCK_TIME, 1000 }, { TPAFILE_CLOCK_WALL, 1700000000000001000 });
    ADD(log, DEVICE, { TPAFILE_DEVICE_DEVICE, 0 }, { TPAFILE_DEVICE_NAME, text(log, "NVIDIA H100") },
        { TPAFILE_DEVICE_SM_COUNT, 4 }, { TPAFILE_DEVICE_WARP_SIZE, 32 });
    ADD(log, CONTEXT, { TPAFILE_CONTEXT_CONTEXT, 1 }, { TPAFILE_CONTEXT_DEVICE, 0 });
    ADD(log, FUNCTION, { TPAFILE_FUNCTION_API, 0 }, { TPAFILE_FUNCTION_CBID, 211 },
        { TPAFILE_FUNCTION_NAME, text(log, "cudaLaunchKernel") });
    ADD(log, FUNCTION, { TPAFILE_FUNCTION_API, 0 }, { TPAFILE_FUNCTION_CBID, 20 },
        { TPAFILE_FUNCTION_NAME, text(log, "cudaMalloc") });
}

static void add_call(struct tpafile_writer *log, int64_t start_us, int64_t cbid, int64_t correlation,
                     int64_t result)
{
    ADD(log, API, { TPAFILE_API_START, start_us * 1000 }, { TPAFILE_API_DURATION, 5000 },
        { TPAFILE_API_CORRELATION, correlation }, { TPAFILE_API_API, 0 }, { TPAFILE_API_CBID, cbid },
        { TPAFILE_API_THREAD, 9 }, { TPAFILE_API_RESULT, result });
}

static void add_work(struct tpafile_writer *log)
{
    ADD(log, KERNEL, { TPAFILE_KERNEL_START, 130000 }, { TPAFILE_KERNEL_DURATION, 20000 },
        { TPAFILE_KERNEL_CORRELATION, 1 }, { TPAFILE_KERNEL_NAME, text(log, "gemm") },
        { TPAFILE_KERNEL_DEVICE, 0 }, { TPAFILE_KERNEL_CONTEXT, 1 }, { TPAFILE_KERNEL_STREAM, 7 },
        { TPAFILE_KERNEL_GRID_X, 8 }, { TPAFILE_KERNEL_GRID_Y, 2 }, { TPAFILE_KERNEL_GRID_Z, 1 },
        { TPAFILE_KERNEL_BLOCK_X, 128 }, { TPAFILE_KERNEL_BLOCK_Y, 1 }, { TPAFILE_KERNEL_BLOCK_Z, 1 },
        { TPAFILE_KERNEL_REGISTERS, 32 }, { TPAFILE_KERNEL_STATIC_SHARED, 100 },
        { TPAFILE_KERNEL_DYNAMIC_SHARED, 28 }, { TPAFILE_KERNEL_GRAPH, 0 });
    ADD(log, MEMCPY, { TPAFILE_MEMCPY_START, 155000 }, { TPAFILE_MEMCPY_DURATION, 2000 },
        { TPAFILE_MEMCPY_KIND, 1 }, { TPAFILE_MEMCPY_SOURCE_KIND, 2 }, { TPAFILE_MEMCPY_TARGET_KIND, 3 },
        { TPAFILE_MEMCPY_BYTES, 4000 }, { TPAFILE_MEMCPY_DEVICE, 0 }, { TPAFILE_MEMCPY_STREAM, 7 });
    ADD(log, MEMSET, { TPAFILE_MEMSET_START, 158000 }, { TPAFILE_MEMSET_DURATION, 500 },
        { TPAFILE_MEMSET_MEMORY_KIND, 3 }, { TPAFILE_MEMSET_BYTES, 64 }, { TPAFILE_MEMSET_DEVICE, 0 },
        { TPAFILE_MEMSET_STREAM, 7 });
    ADD(log, SYNC, { TPAFILE_SYNC_START, 160000 }, { TPAFILE_SYNC_DURATION, 1000 }, { TPAFILE_SYNC_TYPE, 3 },
        { TPAFILE_SYNC_CONTEXT, 1 }, { TPAFILE_SYNC_STREAM, 7 });
    ADD(log, GRAPH, { TPAFILE_GRAPH_START, 170000 }, { TPAFILE_GRAPH_DURATION, 4000 },
        { TPAFILE_GRAPH_GRAPH, 5 }, { TPAFILE_GRAPH_DEVICE, 0 }, { TPAFILE_GRAPH_STREAM, 7 });
}

static void add_range(struct tpafile_writer *log, const char *string, int64_t start_us, int64_t end_us,
                      const char *domain)
{
    struct tpafile_message message = tpafile_writer_message(log, string, strlen(string));
    ADD(log, RANGE, { TPAFILE_RANGE_START, start_us * 1000 },
        { TPAFILE_RANGE_DURATION, (end_us - start_us) * 1000 }, { TPAFILE_RANGE_TYPE, TPAFILE_PUSH },
        { TPAFILE_RANGE_THREAD, 9 }, { TPAFILE_RANGE_DOMAIN, domain ? text(log, domain) : 0 },
        { TPAFILE_RANGE_NAME, message.name }, { TPAFILE_RANGE_NUMBER, message.number },
        { TPAFILE_RANGE_NUMBER_2, message.number_2 }, { TPAFILE_RANGE_TAIL, message.tail });
}

static void add_marker(struct tpafile_writer *log, int64_t type, int64_t id, int64_t time_us,
                       const char *name)
{
    ADD(log, MARKER, { TPAFILE_MARKER_TIME, time_us * 1000 }, { TPAFILE_MARKER_TYPE, type },
        { TPAFILE_MARKER_ID, id }, { TPAFILE_MARKER_THREAD, 9 },
        { TPAFILE_MARKER_NAME, name ? text(log, name) : 0 });
}

static struct trace *read_log(struct buffer *bytes)
{
    struct trace *trace = trace_from_bytes(bytes->at, bytes->count, 1, 0, NULL);
    assert_non_null(trace);
    return scratch_trace(trace);
}

/* LOG, which is freed, as it is written to BYTES. */
static struct trace *close_and_read(struct tpafile_writer *log, struct buffer *bytes)
{
    assert_true(tpafile_writer_close(log, 200000, 0));
    tpafile_writer_free(log);
    return read_log(bytes);
}

/* The only event called NAME. */
static event_id find_event(const struct trace *trace, const char *name)
{
    event_id found = EVENT_NONE;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (strcmp(trace_name(trace, e), name) != 0)
            continue;
        assert_int_equal(found, EVENT_NONE);
        found = e;
    }
    assert_int_not_equal(found, EVENT_NONE);
    return found;
}

static void check_event(const struct trace *trace, const char *name, enum event_kind kind, int64_t start_ns,
                        int64_t dur_ns, int64_t pid, int64_t tid)
{
    event_id e = find_event(trace, name);
    const struct track *track = &trace->tracks[trace->track[e]];
    assert_int_equal(trace->kind[e], kind);
    assert_int_equal(trace_start_ns(trace, e), start_ns);
    assert_int_equal(trace_dur_ns(trace, e), dur_ns);
    assert_int_equal(track->pid, pid);
    assert_int_equal(track->tid, tid);
}

TEST(device_work_and_calls_are_events_as_kineto_names_them)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *log = tpa_writer(&bytes, 64);
    add_facts(log);
    add_call(log, 110, 211, 1, 0);
    add_work(log);
    struct trace *trace = close_and_read(log, &bytes);

    check_event(trace, "cudaLaunchKernel", EVENT_RUNTIME, 110000, 5000, 9, 9);
    check_event(trace, "gemm", EVENT_KERNEL, 130000, 20000, 0, 7);
    check_event(trace, "Memcpy HtoD (Pinned -> Device)", EVENT_MEMCPY, 155000, 2000, 0, 7);
    check_event(trace, "Memset (Device)", EVENT_MEMSET, 158000, 500, 0, 7);
    check_event(trace, "Stream Sync", EVENT_SYNC, 160000, 1000, 0, 7);
    check_event(trace, "CUDA graph 5", EVENT_KERNEL, 170000, 4000, 0, 7);
    event_id kernel = find_event(trace, "gemm"), copy = find_event(trace, "Memcpy HtoD (Pinned -> Device)");
    assert_int_equal(trace_arg_or(trace, ARG_CORRELATION, kernel, 0), 1);
    assert_int_equal(trace_arg_or(trace, ARG_CORRELATION, find_event(trace, "cudaLaunchKernel"), 0), 1);
    assert_int_equal(trace_arg_or(trace, ARG_STREAM, kernel, 0), 7);
    assert_int_equal(trace_arg_or(trace, ARG_SHARED_MEMORY, kernel, 0), 128);
    assert_int_equal(trace_arg_or(trace, ARG_GRAPH_ID, kernel, -1), -1);
    assert_int_equal(trace_arg_or(trace, ARG_GRAPH_ID, find_event(trace, "CUDA graph 5"), -1), 5);
    assert_string_equal(trace_arg_text(trace, ARG_GRID, kernel), "[8,2,1]");
    assert_string_equal(trace_arg_text(trace, ARG_BLOCK, kernel), "[128,1,1]");
    /* 16 blocks on 4 multiprocessors; each block is 4 warps. 4000 bytes in 2000 ns. */
    assert_true(trace_arg_decimal(trace, ARG_BLOCKS_PER_SM, kernel) == 4.0);
    assert_true(trace_arg_decimal(trace, ARG_WARPS_PER_SM, kernel) == 16.0);
    assert_true(trace_arg_decimal(trace, ARG_BANDWIDTH, copy) == 2.0);
    assert_null(find_notice(trace, "unfinished_file"));
}

TEST(facts_become_the_file_s)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *log = tpa_writer(&bytes, 64);
    add_facts(log);
    ADD(log, WINDOW, { TPAFILE_WINDOW_START, 50000 }, { TPAFILE_WINDOW_DURATION, 150000 });
    ADD(log, THREAD, { TPAFILE_THREAD_THREAD, 77 }, { TPAFILE_THREAD_TID, 10 },
        { TPAFILE_THREAD_NAME, text(log, "loader") });
    ADD(log, API, { TPAFILE_API_START, 60000 }, { TPAFILE_API_DURATION, 1 }, { TPAFILE_API_CBID, 7 },
        { TPAFILE_API_API, 1 }, { TPAFILE_API_THREAD, 77 });
    struct trace *trace = close_and_read(log, &bytes);
    const struct trace_file *file = &trace->files[0];
    assert_int_equal(file->producer, PRODUCER_TPA);
    assert_string_equal(file->host_name, "box");
    assert_int_equal(file->rank, 3);
    assert_int_equal(file->world_size, 8);
    assert_true(file->has_base);
    assert_int_equal(file->base_ns, 1700000000000000000);
    assert_true(file->has_window);
    assert_int_equal(file->window_start_ns, 50000);
    assert_int_equal(file->window_end_ns, 200000);
    assert_int_equal(file->devices.count, 1);
    assert_string_equal(file->devices.at[0].name, "NVIDIA H100");
    assert_true(file->container->is_log && file->container->closed);
    /* Thread 77 of the records is the system's 10, and a function that the log does not name is called by its number. */
    check_event(trace, "driver call 7", EVENT_DRIVER, 60000, 1, 9, 10);
    const struct track *track = &trace->tracks[trace->track[find_event(trace, "driver call 7")]];
    assert_string_equal(names_text(trace->texts, track->thread_name), "loader");
    assert_string_equal(names_text(trace->texts, track->process_name), "python3");
}

TEST(messages_of_emit_nvtx_become_operators)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *log = tpa_writer(&bytes, 64);
    add_facts(log);
    add_range(log, "aten::mm, seq = 12, op_id = 40, sizes = [[8, 3], [3, 4], []]", 100, 160, NULL);
    add_range(log, "aten::add, op_id = 41", 161, 162, NULL);
    add_range(log, "forward", 90, 170, NULL);
    add_range(log, "ncclAllReduce", 171, 172, "NCCL");
    ADD(log, RANGE, { TPAFILE_RANGE_START, 173000 }, { TPAFILE_RANGE_DURATION, 1000 },
        { TPAFILE_RANGE_THREAD, 9 }, { TPAFILE_RANGE_NAME, text(log, "batch") },
        { TPAFILE_RANGE_CATEGORY, 7 }, { TPAFILE_RANGE_CATEGORY_NAME, text(log, "loader") });
    ADD(log, MARKER, { TPAFILE_MARKER_TIME, 174500 }, { TPAFILE_MARKER_TYPE, TPAFILE_MARK },
        { TPAFILE_MARKER_THREAD, 9 }, { TPAFILE_MARKER_NAME, text(log, "here") },
        { TPAFILE_MARKER_CATEGORY, 8 });
    add_range(log,
              "autograd::engine::evaluate_function: MmBackward0, seq = 12, op_id = 42, sizes = [[8, 4]], "
              "input_op_ids = [(40, 0)]",
              180, 190, NULL);
    struct trace *trace = close_and_read(log, &bytes);
    check_event(trace, "aten::mm", EVENT_OP, 100000, 60000, 9, 9);
    event_id mm = find_event(trace, "aten::mm");
    assert_int_equal(trace_arg_or(trace, ARG_SEQUENCE, mm, 0), 12);
    assert_string_equal(trace_arg_text(trace, ARG_INPUT_DIMS, mm), "[[8,3],[3,4],[]]");
    check_event(trace, "aten::add", EVENT_OP, 161000, 1000, 9, 9);
    assert_int_equal(trace_arg_or(trace, ARG_SEQUENCE, find_event(trace, "aten::add"), -7), -7);
    check_event(trace, "forward", EVENT_ANNOTATION, 90000, 80000, 9, 9);
    check_event(trace, "NCCL: ncclAllReduce", EVENT_ANNOTATION, 171000, 1000, 9, 9);
    assert_string_equal(trace_arg_text(trace, ARG_NVTX_CATEGORY, find_event(trace, "batch")), "loader");
    assert_string_equal(trace_arg_text(trace, ARG_NVTX_CATEGORY, find_event(trace, "here")), "8");
    assert_null(trace_arg_text(trace, ARG_NVTX_CATEGORY, find_event(trace, "NCCL: ncclAllReduce")));
    check_event(trace, "autograd::engine::evaluate_function: MmBackward0", EVENT_OP, 180000, 10000, 9, 9);
}

/* Ranges that cross, one of which is still open; a pop without a push; a mark; steps. */
TEST(halves_of_ranges_find_each_other)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *log = tpa_writer(&bytes, 2); /* halves in different blocks */
    add_facts(log);
    add_marker(log, TPAFILE_PUSH, 1, 10, "outer");
    add_marker(log, TPAFILE_PUSH, 2, 20, "inner");
    add_marker(log, TPAFILE_MARK, 3, 25, "here");
    add_marker(log, TPAFILE_POP, 2, 30, NULL);
    add_marker(log, TPAFILE_OPEN, 4, 35, "crossing");
    add_marker(log, TPAFILE_POP, 1, 40, NULL);
    add_marker(log, TPAFILE_CLOSE, 4, 45, NULL);
    add_marker(log, TPAFILE_POP, 99, 46, NULL);
    add_marker(log, TPAFILE_PUSH, 5, 50, "open");
    ADD(log, STEP, { TPAFILE_STEP_TIME, 60000 }, { TPAFILE_STEP_NUMBER, 0 }, { TPAFILE_STEP_THREAD, 9 });
    ADD(log, STEP, { TPAFILE_STEP_TIME, 80000 }, { TPAFILE_STEP_NUMBER, 1 }, { TPAFILE_STEP_THREAD, 9 });
    add_call(log, 90, 211, 1, 0); /* the last event ends at 95 us */
    struct trace *trace = close_and_read(log, &bytes);
    check_event(trace, "outer", EVENT_ANNOTATION, 10000, 30000, 9, 9);
    check_event(trace, "inner", EVENT_ANNOTATION, 20000, 10000, 9, 9);
    check_event(trace, "crossing", EVENT_ANNOTATION, 35000, 10000, 9, 9);
    check_event(trace, "open", EVENT_ANNOTATION, 50000, 45000, 9, 9);
    assert_int_equal(trace->flags[find_event(trace, "inner")], 0);
    assert_int_equal(trace->flags[find_event(trace, "crossing")], EVENT_ASYNC);
    assert_int_equal(trace->flags[find_event(trace, "open")], EVENT_UNFINISHED);
    assert_int_equal(trace->flags[find_event(trace, "here")], EVENT_POINT);
    check_event(trace, "ProfilerStep#0", EVENT_ANNOTATION, 60000, 20000, 9, 9);
    check_event(trace, "ProfilerStep#1", EVENT_ANNOTATION, 80000, 15000, 9, 9);
    assert_int_equal(find_notice(trace, "lone_ends")->count, 1);
}

static void add_memory(struct tpafile_writer *log, int64_t time_us, int64_t operation, int64_t kind,
                       int64_t bytes, int64_t in_use, int64_t correlation)
{
    ADD(log, MEMORY, { TPAFILE_MEMORY_TIME, time_us * 1000 }, { TPAFILE_MEMORY_OPERATION, operation },
        { TPAFILE_MEMORY_ADDRESS, 4096 * time_us }, { TPAFILE_MEMORY_BYTES, bytes },
        { TPAFILE_MEMORY_MEMORY_KIND, kind }, { TPAFILE_MEMORY_DEVICE, 0 }, { TPAFILE_MEMORY_IN_USE, in_use },
        { TPAFILE_MEMORY_CORRELATION, correlation });
}

/* Device memory (kind 3) and managed memory (5) of a device add up; pinned memory (2) is the host's. */
TEST(memory_records_tell_what_is_in_use)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *log = tpa_writer(&bytes, 64);
    add_facts(log);
    add_memory(log, 30, 1, 5, 70, TPAFILE_NONE, 3); /* later than the next: logs may be out of order */
    add_memory(log, 20, 1, 3, 1000, 1500, 2);       /* 500 were in use before the log began */
    add_memory(log, 40, 1, 2, 9, TPAFILE_NONE, 4);
    add_memory(log, 50, 2, 3, 1000, 500, 5);
    add_memory(log, 60, 2, 5, 100, TPAFILE_NONE, 6); /* more than is known to be there */
    ADD(log, API, { TPAFILE_API_START, 19000 }, { TPAFILE_API_DURATION, 2000 },
        { TPAFILE_API_CORRELATION, 2 }, { TPAFILE_API_API, 0 }, { TPAFILE_API_CBID, 20 },
        { TPAFILE_API_THREAD, 11 });
    struct trace *trace = close_and_read(log, &bytes);
    static const int64_t expected[][5] = {
        /* time, bytes, type, total, thread */
        { 20000, 1000, 1, 1500, 11 }, { 30000, 70, 1, 1570, 9 },  { 40000, 9, 0, 9, 9 },
        { 50000, -1000, 1, 570, 9 },  { 60000, -100, 1, 500, 9 },
    };
    size_t found = 0;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (strcmp(trace_name(trace, e), "[memory]") != 0)
            continue;
        assert_true(found < 5);
        assert_int_equal(trace->kind[e], EVENT_INSTANT);
        assert_int_equal(trace_start_ns(trace, e), expected[found][0]);
        assert_int_equal(trace_arg_or(trace, ARG_BYTES, e, 0), expected[found][1]);
        assert_int_equal(trace_arg_or(trace, ARG_DEVICE_TYPE, e, -1), expected[found][2]);
        assert_int_equal(trace_arg_or(trace, ARG_TOTAL_ALLOCATED, e, -1), expected[found][3]);
        assert_int_equal(trace->tracks[trace->track[e]].tid, expected[found][4]);
        found++;
    }
    assert_int_equal(found, 5);
}

TEST(what_went_wrong_is_reported)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *log = tpa_writer(&bytes, 64);
    add_facts(log);
    add_call(log, 10, 20, 1, 2);   /* cudaErrorMemoryAllocation */
    add_call(log, 20, 20, 2, 600); /* not ready: no failure */
    ADD(log, KERNEL, { TPAFILE_KERNEL_START, 0 }, { TPAFILE_KERNEL_NAME, text(log, "lost") });
    ADD(log, DROPPED, { TPAFILE_DROPPED_COUNT, 30 }, { TPAFILE_DROPPED_WHY, TPAFILE_DROPPED_BEHIND });
    ADD(log, DROPPED, { TPAFILE_DROPPED_COUNT, 12 }, { TPAFILE_DROPPED_WHY, TPAFILE_DROPPED_BEHIND });
    ADD(log, NOTE, { TPAFILE_NOTE_WORD, text(log, "no_privilege") },
        { TPAFILE_NOTE_TEXT, text(log, "ask root") });
    assert_true(tpafile_writer_flush(log));
    tpafile_writer_free(log); /* killed: there is no end */
    struct trace *trace = read_log(&bytes);
    assert_int_equal(trace->event_count, 2);
    assert_int_equal(find_notice(trace, "failed_calls")->count, 1);
    assert_non_null(strstr(find_notice(trace, "failed_calls")->text, "cudaMalloc, which returned 2"));
    assert_int_equal(find_notice(trace, "dropped_behind")->count, 42);
    assert_string_equal(find_notice(trace, "no_privilege")->text, "ask root");
    assert_int_equal(find_notice(trace, "no_time")->count, 1);
    assert_non_null(find_notice(trace, "unfinished_file"));
    assert_false(trace->files[0].container->closed);
}

/* As a log grows, each time it was flushed it can be read, and holds one event more. */
TEST(a_log_can_be_read_while_it_is_written)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *log = tpa_writer(&bytes, 64);
    add_facts(log);
    for (int i = 1; i < 20; i++) {
        add_call(log, 10 * i, i % 2 ? 20 : 211, i, 0);
        assert_true(tpafile_writer_flush(log));
        struct trace *trace = read_log(&bytes);
        assert_int_equal(trace->event_count, i);
        assert_non_null(find_notice(trace, "unfinished_file"));
    }
    tpafile_writer_free(log);
}

/* A log converted is the same trace, without its log. */
TEST(a_log_can_be_converted)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *log = tpa_writer(&bytes, 64);
    add_facts(log);
    add_call(log, 110, 211, 1, 0);
    add_work(log);
    add_range(log, "aten::mm, seq = 12", 100, 160, NULL);
    struct trace *trace = close_and_read(log, &bytes);
    SCOPED struct buffer converted = tpa_of_trace(trace, 0);
    struct trace *again = read_log(&converted);
    assert_int_equal(again->event_count, trace->event_count);
    assert_int_equal(again->files[0].producer, PRODUCER_TPA);
    assert_int_equal(again->files[0].base_ns, trace->files[0].base_ns);
    for (event_id e = 0; e < trace->event_count; e++) {
        assert_string_equal(trace_name(again, e), trace_name(trace, e));
        assert_int_equal(trace_start_ns(again, e), trace_start_ns(trace, e));
        assert_int_equal(again->kind[e], trace->kind[e]);
    }
}

/* What a killed recording left says so when it is converted, too, and what is made of that. */
TEST(an_unfinished_log_stays_one)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *log = tpa_writer(&bytes, 64);
    add_facts(log);
    add_call(log, 110, 211, 1, 0);
    assert_true(tpafile_writer_flush(log));
    tpafile_writer_free(log); /* killed: there is no end */
    struct trace *trace = read_log(&bytes);
    for (int times = 0; times < 2; times++) {
        SCOPED struct buffer converted = tpa_of_trace(trace, 0);
        struct trace *again = read_log(&converted);
        assert_true(again->files[0].container->closed);
        assert_string_equal(find_notice(again, "unfinished_file")->text,
                            find_notice(trace, "unfinished_file")->text);
        assert_int_equal(find_notice(again, "unfinished_file")->count, 1);
        trace = again;
    }
}
