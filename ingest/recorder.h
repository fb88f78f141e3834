/*
 * recorder.h - converts the records of GPU profilers to events named as by PyTorch's profiler.
 *
 * For readers of databases and the like (Nsight Systems, rocprofv3), whose rows are kernels, copies, calls and ranges.
 * All analyses for Kineto's traces apply to the result. A recorder is one process, which becomes one file of the trace:
 * numbers that link work to calls are per process.
 *
 *     struct recorder *recorder = recorder_open(builder, pid, "python3");
 *     recorder_work(recorder, &(struct recorder_work){ RECORDER_WORK, .kind = RECORDER_KERNEL, .name = name, ... });
 *     recorder_append(recorder, &err);        // to the builder's current file; any number of times
 *     recorder_free(recorder);
 *
 * Times are nanoseconds. RECORDER_NONE: not recorded.
 */
#ifndef TPA_INGEST_RECORDER_H
#define TPA_INGEST_RECORDER_H

#include "trace/builder.h"

#define RECORDER_NONE INT64_MIN

enum recorder_kind {
    RECORDER_KERNEL,
    RECORDER_MEMCPY,
    RECORDER_MEMSET,
    RECORDER_SYNC,
    RECORDER_RUNTIME,
    RECORDER_DRIVER,
    RECORDER_HIP,
    RECORDER_HSA,
    RECORDER_OVERHEAD,
    RECORDER_OPERATOR,
    RECORDER_ANNOTATION,        /* nests on its thread */
    RECORDER_ANNOTATION_ACROSS, /* begins on one thread, ends on another */
    RECORDER_INSTANT,
    RECORDER_SYSTEM,  /* calls of the operating system's libraries */
    RECORDER_LIBRARY, /* calls of other libraries: MPI, cuBLAS, HSA */
    RECORDER_PYTHON,
    RECORDER_CANN,           /* calls of Ascend's runtime */
    RECORDER_TASK_QUEUE,     /* torch_npu's Enqueue and Dequeue */
    RECORDER_LEVEL_ZERO,     /* calls of Intel's runtimes: Level Zero, Unified Runtime, OpenCL */
    RECORDER_GPU_OTHER,      /* a mark on a device that is no work */
    RECORDER_GPU_ANNOTATION, /* a range on a device, whose work is recorded beside it */
    RECORDER_KINDS
};

struct recorder;

/* New; free with recorder_free (NULL is allowed). NAME, of the process, may be NULL. */
struct recorder *recorder_open(struct trace_builder *builder, int64_t pid, const char *name);
void recorder_free(struct recorder *recorder);

/* Call the devices WORD, a literal: "NPU". Before the first work; GPU otherwise. */
void recorder_call_devices(struct recorder *recorder, const char *word);

/* The process id of the recorder; its chunk, which interns names and texts; both borrowed. */
int64_t recorder_pid(const struct recorder *recorder);
struct trace_chunk *recorder_chunk(struct recorder *recorder);

/* Append the waiting events to the builder's current file; recorder_flush does so only if they are many. False and ERR if it has no
 * room. */
bool recorder_append(struct recorder *recorder, struct tpa_error *err);
bool recorder_flush(struct recorder *recorder, struct tpa_error *err);

/* Add notices about odd data to the current file. */
void recorder_describe(const struct recorder *recorder);

/* Is the argument ARG wanted by the builder? */
bool recorder_wants(const struct recorder *recorder, enum trace_arg arg);

/* Ids within the recorder, as of trace_chunk_name and trace_chunk_text. */
name_id recorder_name(struct recorder *recorder, const char *text, size_t len);
name_id recorder_text(struct recorder *recorder, const char *text);
const char *recorder_name_text(const struct recorder *recorder, name_id name); /* borrowed */

/* The track of thread TID, of the recorder's process or of process PID; created if new. */
track_id recorder_thread(struct recorder *recorder, int64_t tid);
track_id recorder_thread_of(struct recorder *recorder, int64_t pid, int64_t tid);
void recorder_name_thread(struct recorder *recorder, track_id thread, const char *name);

/* Set the number of multiprocessors of DEVICE, and the threads of a warp: for blocks and warps per multiprocessor. */
void recorder_device(struct recorder *recorder, int64_t device, int64_t multiprocessors, int64_t warp_size);

/* Add an event from START_NS to END_NS. If the end is missing or before the start, the event has no duration, which is
 * flagged. False if it has no valid time, which is counted. Arguments follow with recorder_arg. */
bool recorder_event(struct recorder *recorder, enum recorder_kind kind, track_id track, name_id name,
                    int64_t start_ns, int64_t end_ns, unsigned flags);

/* Set an argument of the event added last unless VALUE is RECORDER_NONE. */
void recorder_arg(struct recorder *recorder, enum trace_arg arg, int64_t value);

/* Work on a device. */
struct recorder_work {
    enum recorder_kind kind;
    name_id name;
    int64_t start_ns, end_ns;
    int64_t device, stream, context, correlation;
    int64_t ordinal;           /* the number of the device in the process, if different */
    int64_t graph, graph_node; /* 0 means none, too */
    int64_t bytes;             /* of copies and memsets */
    int64_t grid[3], block[3]; /* grid in blocks; if [0] is RECORDER_NONE, all are */
    int64_t registers, static_shared, dynamic_shared;
};
/* A work record with nothing recorded. */
#define RECORDER_WORK_NONE                                                                                   \
    (struct recorder_work)                                                                                   \
    {                                                                                                        \
        .start_ns = RECORDER_NONE, .end_ns = RECORDER_NONE, .device = RECORDER_NONE,                         \
        .stream = RECORDER_NONE, .context = RECORDER_NONE, .correlation = RECORDER_NONE,                     \
        .ordinal = RECORDER_NONE, .graph = RECORDER_NONE, .graph_node = RECORDER_NONE,                       \
        .bytes = RECORDER_NONE, .grid = { RECORDER_NONE }, .block = { RECORDER_NONE },                       \
        .registers = RECORDER_NONE, .static_shared = RECORDER_NONE, .dynamic_shared = RECORDER_NONE          \
    }

/* Add it; false as recorder_event. Work with both times 0 was not timed by its profiler, and is counted separately. */
bool recorder_work(struct recorder *recorder, const struct recorder_work *work);

/* Memory: allocations and frees of the driver. Rows may come in any order of time, and are added by recorder_finish,
 * which computes the memory in use. A release whose BYTES are missing or 0 takes those of the allocation at its
 * address. */
struct recorder_memory {
    int64_t time_ns, address, bytes;
    int64_t device;      /* -1: the host's; RECORDER_NONE of a release: that of the allocation */
    int64_t memory_kind; /* kinds on a device are counted separately */
    int64_t pid,
        /* of the calling thread; tid RECORDER_NONE: looked up by CORRELATION, else the process's first */
        tid;
    int64_t correlation;
    bool release;
};
void recorder_memory(struct recorder *recorder, const struct recorder_memory *memory);

/* Record the thread of a call that may allocate memory. */
void recorder_memory_call(struct recorder *recorder, int64_t correlation, int64_t tid);

/* Call after the last record of the process: adds waiting events. Then call recorder_append. */
void recorder_finish(struct recorder *recorder);

/* An operation of a framework's allocator that records the bytes in use itself: ALLOCATED and RESERVED on DEVICE from
 * TIME_NS on; BYTES of the block, negative when it was freed. */
struct recorder_block {
    int64_t time_ns, bytes, address, device, allocated, reserved;
};
bool recorder_block(struct recorder *recorder, track_id thread, const struct recorder_block *block);

/* The track of STREAM of DEVICE; either may be RECORDER_NONE. */
track_id recorder_stream(struct recorder *recorder, int64_t device, int64_t stream);

/* Add one sample of a counter, if counters are wanted. The name is that of counter and series. */
void recorder_sample(struct recorder *recorder, track_id track, const char *counter, int64_t time_ns,
                     double value);

/* The track of counters of a device. */
track_id recorder_counters(struct recorder *recorder, int64_t device);

/* Does a call of the runtime or driver of this name allocate or free memory? */
bool recorder_is_memory_call(const char *name);

#endif
