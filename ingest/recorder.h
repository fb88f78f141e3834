/*
 * recorder.h - what profilers of GPUs record, as events with the names that PyTorch's profiler gives such things.
 *
 * For readers of databases and the like (Nsight Systems, rocprofv3), whose rows are kernels, copies, calls and ranges.
 * What goes through here can be asked every question that Kineto's traces can be asked. A recorder is one process,
 * which becomes one file of the trace: numbers that link work to calls are a process's own.
 *
 *     struct recorder *recorder = recorder_open(builder, pid, "python3");
 *     recorder_work(recorder, &(struct recorder_work){ RECORDER_WORK, .kind = RECORDER_KERNEL, .name = name, ... });
 *     recorder_append(recorder, &err);        // to the builder's current file; as often as wanted
 *     recorder_free(recorder);
 *
 * Times are nanoseconds. RECORDER_NONE stands for what is not recorded.
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
    RECORDER_KINDS
};

struct recorder;

/* New; free with recorder_free (NULL is allowed). NAME, of the process, may be NULL. */
struct recorder *recorder_open(struct trace_builder *builder, int64_t pid, const char *name);
void recorder_free(struct recorder *recorder);

int64_t recorder_pid(const struct recorder *recorder);
struct trace_chunk *recorder_chunk(struct recorder *recorder);

/* Events that wait to be appended. */
size_t recorder_waiting(const struct recorder *recorder);

/* Give them to the builder's current file. */
bool recorder_append(struct recorder *recorder, struct tpa_error *err);

/* To the current file: what was odd. */
void recorder_tell(const struct recorder *recorder);

bool recorder_wants(const struct recorder *recorder, enum trace_arg arg);

/* Ids within the recorder, as of trace_chunk_name and trace_chunk_text. */
name_id recorder_name(struct recorder *recorder, const char *text, size_t len);
name_id recorder_text(struct recorder *recorder, const char *text);

track_id recorder_thread(struct recorder *recorder, int64_t tid);
track_id recorder_thread_of(struct recorder *recorder, int64_t pid, int64_t tid);
void recorder_name_thread(struct recorder *recorder, track_id thread, const char *name);

/* How many multiprocessors DEVICE has, and the threads of a warp: for blocks and warps per multiprocessor. */
void recorder_device(struct recorder *recorder, int64_t device, int64_t multiprocessors, int64_t warp_size);

/*
 * Add an event from START_NS to END_NS. An end that is missing or before the start: it has no duration, which is
 * flagged. False: it has no time that can be kept, and is counted. Arguments follow with recorder_arg.
 */
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
    int64_t ordinal;           /* what the process calls the device, if that is another number */
    int64_t graph, graph_node; /* 0 means none, too */
    int64_t bytes;             /* of copies and sets */
    int64_t grid[3], block[3]; /* grid in blocks; [0] decides for all */
    int64_t registers, static_shared, dynamic_shared;
};
/* Nothing is reported of it. */
#define RECORDER_WORK_NONE                                                                                   \
    (struct recorder_work)                                                                                   \
    {                                                                                                        \
        .start_ns = RECORDER_NONE, .end_ns = RECORDER_NONE, .device = RECORDER_NONE,                         \
        .stream = RECORDER_NONE, .context = RECORDER_NONE, .correlation = RECORDER_NONE,                     \
        .ordinal = RECORDER_NONE, .graph = RECORDER_NONE, .graph_node = RECORDER_NONE,                       \
        .bytes = RECORDER_NONE, .grid = { RECORDER_NONE }, .block = { RECORDER_NONE },                       \
        .registers = RECORDER_NONE, .static_shared = RECORDER_NONE, .dynamic_shared = RECORDER_NONE          \
    }

/* Add it; false as recorder_event. Work of which both times are 0 was not timed by its profiler, and is counted apart. */
bool recorder_work(struct recorder *recorder, const struct recorder_work *work);

/*
 * Memory: what the driver was requested. Rows may come in any order of time, and are added by recorder_finish, which
 * counts up what is in use. A release whose BYTES are missing or 0 takes those of the allocation at its address.
 */
struct recorder_memory {
    int64_t time_ns, address, bytes;
    int64_t device;      /* -1: the host's; RECORDER_NONE of a release: that of the allocation */
    int64_t memory_kind; /* what is counted apart from other kinds in use on the device */
    int64_t pid,
        tid; /* of the thread that asked; tid RECORDER_NONE: looked up by CORRELATION, else the process's first */
    int64_t correlation;
    bool release;
};
void recorder_memory(struct recorder *recorder, const struct recorder_memory *memory);

/* A call that may have requested memory: its thread. */
void recorder_memory_call(struct recorder *recorder, int64_t correlation, int64_t tid);

/* All of the process was recorded: add what had to wait. To be followed by recorder_append. */
void recorder_finish(struct recorder *recorder);

/* One sample of a counter, where counters are wanted. The name is that of counter and series. */
void recorder_sample(struct recorder *recorder, track_id track, const char *counter, int64_t time_ns,
                     double value);

/* The track of counters of a device. */
track_id recorder_counters(struct recorder *recorder, int64_t device);

/* Does a call of the runtime or driver of this name allocate or free memory? */
bool recorder_is_memory_call(const char *name);

#endif
