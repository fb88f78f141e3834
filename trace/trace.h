/*
 * trace.h - a trace in memory: the header to read first.
 *
 * A trace is what happened, in columns: one array per field, one element per event, in the order
 * of the file (of the files, one after the other, when there are several). An event is its index. Times are packed, and read
 * by a function.
 *
 *     for (event_id e = 0; e < trace->event_count; e++)
 *         if (trace->kind[e] == EVENT_KERNEL)
 *             busy_ns += trace_dur_ns(trace, e);
 *     const char *name = names_text(trace->names, trace->name[e]);
 *
 * Events lie on tracks (a host thread, a stream of a device). They overlap as they like: nothing
 * here says that events of one track nest. What several analyses need beyond the columns is derived
 * on demand: the call tree of each thread (calltree.h), kernel -> call -> operator (launches.h),
 * merged intervals (intervals.h).
 *
 * Time is integer nanoseconds, as the file gives it; file->base_ns plus an event's start_ns is the
 * absolute time if the file records its base. A trace is built by a struct trace_builder
 * (builder.h), never changes afterwards, and may be read by several threads.
 */
#ifndef TPA_TRACE_TRACE_H
#define TPA_TRACE_TRACE_H

#include "base/arena.h"
#include "base/names.h"
#include "trace/container.h"
#include "trace/packed.h"

typedef uint32_t event_id;
typedef uint32_t track_id;
#define EVENT_NONE UINT32_MAX
#define TRACK_NONE UINT32_MAX

/* The kind of an event, independent of the producer's name of the category. */
enum event_kind {
    EVENT_OTHER,      /* anything else on the host */
    EVENT_OP,         /* framework operator: cpu_op */
    EVENT_ANNOTATION, /* record_function, ProfilerStep#N, NVTX range: user_annotation */
    EVENT_PYTHON,     /* python_function */
    EVENT_RUNTIME,    /* cudaLaunchKernel, hipMemcpy ...: cuda_runtime, *_runtime */
    EVENT_DRIVER,     /* cuLaunchKernelEx ...: cuda_driver */
    EVENT_OVERHEAD,   /* the profiler's own: overhead */
    EVENT_INSTANT,    /* a point in time on the host; `[memory]` records among them */
    EVENT_KERNEL,     /* from here on: on a device. A kernel: what computes on it, or communicates */
    EVENT_MEMCPY,
    EVENT_MEMSET,
    EVENT_SYNC,           /* cuda_sync: a stream waits */
    EVENT_GPU_ANNOTATION, /* an annotation's shadow on a stream: gpu_user_annotation */
    EVENT_GPU_OTHER,      /* another device event: mtia_insight, cuda_profiler_range ... */
    EVENT_SPAN,           /* the profiler's recording window: cat Trace */
    EVENT_KINDS
};

/* Does the event run on a device: is its device type not CPU to torch? */
static inline bool event_on_device(enum event_kind kind)
{
    return kind >= EVENT_KERNEL && kind <= EVENT_GPU_OTHER;
}

/* Is it a runtime or driver call? */
static inline bool event_is_call(enum event_kind kind)
{
    return kind == EVENT_RUNTIME || kind == EVENT_DRIVER;
}

/* Is it something on a device that a call may have launched? Annotations' shadows are not. */
static inline bool event_is_launched(enum event_kind kind)
{
    return event_on_device(kind) && kind != EVENT_GPU_ANNOTATION;
}

/* Does it occupy the device: kernel, copy or memset (not waits, not annotations)? */
static inline bool event_is_gpu_work(enum event_kind kind)
{
    return kind == EVENT_KERNEL || kind == EVENT_MEMCPY || kind == EVENT_MEMSET;
}

/* Per-event bits in trace->flags. */
enum event_flags {
    EVENT_ASYNC = 1,       /* from b/e or S/F pairs: belongs to an id, not to a thread's stack */
    EVENT_UNFINISHED = 2,  /* still open when recording stopped ("finished": false, a B without E) */
    EVENT_POINT = 4,       /* an instant: it has no duration, rather than one of zero */
    EVENT_NO_DURATION = 8, /* an X without dur: counted, its duration is taken as 0 */
};

/*
 * Optional arguments. A reader decodes those that were requested (struct trace_wants) and skips
 * the rest. Kinds of value:
 *   INT      int64_t; unsigned 64-bit addresses keep their bits
 *   DECIMAL  double
 *   TEXT     name_id of the string
 *   JSON     name_id of the value's text without the blanks outside strings, e.g. "[[8,3],[]]"
 *   BOOL     0 or 1
 * One row per argument: constant, kind, keys as files spell them separated by '|'.
 */
#define TRACE_ARGS(ARG)                                                                                      \
    ARG(CORRELATION, INT, "correlation|correlation_id")                                                      \
    ARG(EXTERNAL_ID, INT, "External id|external id")                                                         \
    ARG(STREAM, INT, "stream")                                                                               \
    ARG(DEVICE, INT, "device")                                                                               \
    ARG(CONTEXT, INT, "context")                                                                             \
    ARG(BYTES, INT, "bytes|Bytes")                                                                           \
    ARG(BANDWIDTH, DECIMAL, "memory bandwidth (GB/s)")                                                       \
    ARG(REGISTERS, INT, "registers per thread")                                                              \
    ARG(SHARED_MEMORY, INT, "shared memory")                                                                 \
    ARG(BLOCKS_PER_SM, DECIMAL, "blocks per SM")                                                             \
    ARG(WARPS_PER_SM, DECIMAL, "warps per SM")                                                               \
    ARG(GRID, JSON, "grid")                                                                                  \
    ARG(BLOCK, JSON, "block")                                                                                \
    ARG(OCCUPANCY, DECIMAL, "est. achieved occupancy %")                                                     \
    ARG(GRAPH_ID, INT, "graph id|cuda_graph_id")                                                             \
    ARG(GRAPH_NODE_ID, INT, "graph node id|cuda_graph_node_id")                                              \
    ARG(CBID, INT, "cbid")                                                                                   \
    ARG(SYNC_KIND, TEXT, "cuda_sync_kind")                                                                   \
    ARG(WAIT_ON_STREAM, INT, "wait_on_stream")                                                               \
    ARG(WAIT_ON_CORRELATION, INT, "wait_on_cuda_event_record_corr_id")                                       \
    ARG(DEVICE_TYPE, INT, "Device Type")                                                                     \
    ARG(DEVICE_ID, INT, "Device Id")                                                                         \
    ARG(ADDRESS, INT, "Addr")                                                                                \
    ARG(TOTAL_ALLOCATED, INT, "Total Allocated")                                                             \
    ARG(TOTAL_RESERVED, INT, "Total Reserved")                                                               \
    ARG(MEMORY_CATEGORY, TEXT, "Memory Category")                                                            \
    ARG(SEQUENCE, INT, "Sequence number")                                                                    \
    ARG(FWD_THREAD, INT, "Fwd thread id")                                                                    \
    ARG(INPUT_DIMS, JSON, "Input Dims|Input dims")                                                           \
    ARG(INPUT_TYPES, JSON, "Input type")                                                                     \
    ARG(INPUT_STRIDES, JSON, "Input Strides")                                                                \
    ARG(CONCRETE_INPUTS, JSON, "Concrete Inputs")                                                            \
    ARG(CALL_STACK, TEXT, "Call stack")                                                                      \
    ARG(MODULE_HIERARCHY, TEXT, "Module Hierarchy")                                                          \
    ARG(PYTHON_ID, INT, "Python id")                                                                         \
    ARG(PYTHON_PARENT_ID, INT, "Python parent id")                                                           \
    ARG(PYTHON_MODULE_ID, INT, "Python module id")                                                           \
    ARG(FINISHED, BOOL, "finished")                                                                          \
    ARG(EVENT_INDEX, INT, "Ev Idx|Profiler Event Index")                                                     \
    ARG(COLLECTIVE, TEXT, "Collective name")                                                                 \
    ARG(DTYPE, TEXT, "dtype")                                                                                \
    ARG(IN_ELEMENTS, INT, "In msg nelems")                                                                   \
    ARG(OUT_ELEMENTS, INT, "Out msg nelems")                                                                 \
    ARG(IN_SPLIT, JSON, "In split size")                                                                     \
    ARG(OUT_SPLIT, JSON, "Out split size")                                                                   \
    ARG(GROUP_SIZE, INT, "Group size")                                                                       \
    ARG(GROUP_NAME, TEXT, "Process Group Name")                                                              \
    ARG(GROUP_DESCRIPTION, TEXT, "Process Group Description")                                                \
    ARG(GROUP_RANKS, TEXT, "Process Group Ranks")                                                            \
    ARG(SEQ_IN_GROUP, INT, "Seq")                                                                            \
    ARG(MODULE, TEXT, "hlo_module")                                                                          \
    ARG(LONG_NAME, TEXT, "long_name|long name")                                                              \
    ARG(NVTX_CATEGORY, TEXT, "NVTX category")                                                                \
    ARG(COPY_MEMORY, TEXT, "copy memory")                                                                    \
    ARG(LAUNCHED_KERNEL, TEXT, "kernel")                                                                     \
    ARG(FLOPS, INT, "flops|model_flops")                                                                     \
    ARG(BYTES_ACCESSED, INT, "bytes_accessed")                                                               \
    ARG(ISSUED_AHEAD, INT, "issued ahead (ns)")                                                              \
    ARG(STEP, INT, "step")                                                                                   \
    ARG(SEQ_ID, INT, "seq_id")                                                                               \
    ARG(MICROBATCH, INT, "mb_id")                                                                            \
    ARG(MODEL_CHUNK, INT, "model_chunk")                                                                     \
    ARG(WAITED_RANK, INT, "waited for rank")                                                                 \
    ARG(WAITED_NS, INT, "waited (ns)")

enum trace_arg {
#define TRACE_ARG_CONSTANT(id, kind, keys) ARG_##id,
    TRACE_ARGS(TRACE_ARG_CONSTANT)
#undef TRACE_ARG_CONSTANT
        ARG_COUNT
};

/* What an analysis needs beyond name, time and track; what is not requested costs nothing. */
struct trace_wants {
    uint64_t args; /* bit 1 << ARG_... */
    bool flows;    /* flow arrows (s/t/f) */
    bool counters; /* counter samples (C) */
    bool programs; /* what compiled programs hold in memory: TRACE_PROGRAM_MEMORY */
    bool
        as_written; /* only what is read: no kinds, links, or judgement of times; for a reader that makes another trace of it */
    bool
        only_count; /* not what there is but how much: events_counted ...; of formats that come in chunks or columns */
    /* Memory that the command takes beside the trace, per event, rather too low; 0: TRACE_WORK_BYTES. See trace/room.c. */
    uint16_t work_bytes;
};

/* What most commands take beside a trace, at least. */
enum { TRACE_WORK_BYTES = 12 };

/* Add to ALL what MORE decodes of events; only_count stays. */
static inline void trace_wants_join(struct trace_wants *all, const struct trace_wants *more)
{
    all->work_bytes = all->work_bytes > more->work_bytes ? all->work_bytes : more->work_bytes;
    all->args |= more->args;
    all->flows |= more->flows;
    all->counters |= more->counters;
    all->programs |= more->programs;
}
#define WANT(arg) (UINT64_C(1) << ARG_##arg)
_Static_assert(ARG_COUNT <= 64, "trace_wants.args is one bit per argument");

/* One argument over all events: a bit per event that has it, and the values packed in event
 * order. Read it through trace_arg() and friends. */
struct trace_arg_column {
    const uint64_t *present; /* bit e: event e has a value; NULL when none has */
    const uint32_t *rank;    /* values before event 512 * i */
    struct packed values;    /* int64_t (doubles: their bits) */
    size_t count;
};

enum track_kind {
    TRACK_THREAD, /* a host thread */
    TRACK_STREAM, /* a stream or queue of a device */
    TRACK_OTHER,  /* "Spans", "Traces": the producer's own bookkeeping */
};

/* Where events happen. Two tracks are the same when file, pid and tid are. The number 7 and the text "7" are the same,
 * the number 7 and the text "stream 7" are not. 64-bit, negative and 0 stay distinct. */
struct track {
    uint32_t file; /* index into trace->files */
    enum track_kind kind;
    int64_t pid, tid;                                  /* numbers; 0 when written as text or missing */
    name_id pid_text, tid_text;                        /* in trace->texts; NAME_NONE when it is a number */
    name_id process_name, process_labels, thread_name; /* from metadata events; NAME_NONE when not given */
    int64_t process_sort_index, thread_sort_index;
    int32_t device; /* device number for TRACK_STREAM, else -1 */
    int64_t stream; /* stream number for TRACK_STREAM (-1: none), else -1 */
    uint32_t event_count;
};

/* A category as files write it, e.g. "cpu_op". Index is trace->category[e]. */
struct trace_category {
    name_id text; /* in trace->texts */
    enum event_kind kind;
    uint64_t event_count; /* events kept; flows, counters and metadata are counted apart */
};

struct trace_device {
    int32_t id;
    const char *name;     /* "NVIDIA H100 80GB HBM3" */
    int64_t total_memory; /* bytes; 0 when unknown, as below */
    int compute_major, compute_minor;
    int sm_count, warp_size;
    int max_threads_per_sm, max_threads_per_block, regs_per_sm;
    int64_t shared_memory_per_sm;
};

/* A top-level key of the file other than the fields below: kept as text. */
struct trace_property {
    const char *key;
    const char *value; /* JSON text; a string's without quotes and escapes */
    bool is_string;
};

enum trace_producer {
    PRODUCER_UNKNOWN,
    PRODUCER_KINETO,
    PRODUCER_TENSORFLOW,
    PRODUCER_JAX,
    PRODUCER_VIZTRACER,
    PRODUCER_CHROME,
    PRODUCER_TPA,
    PRODUCER_NSYS,
    PRODUCER_ROCPROF,
    PRODUCER_TORCH_NPU,
    PRODUCER_MSPROF,
    PRODUCER_UNITRACE,
    PRODUCER_ONNX,
    PRODUCER_PROTON,
    PRODUCERS
};

/* A process group that the rank of a file is in, as its distributedInfo lists them. */
struct trace_group {
    name_id name, description; /* in trace->texts; NAME_NONE when not given, as below */
    name_id ranks;             /* "[0, 1]", as the arguments of collectives have it */
    const char *backends;      /* "cpu:gloo,cuda:nccl"; NULL when not given */
    int64_t size;              /* ranks in it; -1 when not given */
};

/* Launches of a file, and those whose work is not in it: see lost_work.h. */
struct trace_lost {
    uint64_t launches, lost_launches; /* of kernels */
    uint64_t graphs, lost_graphs;     /* replays of graphs */
    uint64_t partial_graphs;          /* replays of which a part of the work is not in the file */
    uint64_t copies, lost_copies;     /* calls of CUDA that copy memory */
    uint64_t hip_copies,
        lost_hip_copies; /* calls of HIP: the host may make them, so that these alone are never much */
    uint64_t work,
        callless; /* kernels, copies and memsets; those whose call should be in the file and is not known */
    uint64_t untimed; /* records of devices that were left out for their time */
    int64_t untimed_ns,
        late_ns; /* how long the work among them took, and work whose end is not known, as far as known */
    bool much_unknown;       /* both together are much of the time of all work */
    bool much, much_untimed; /* so many that absence is not idleness */
    bool much_callless;      /* so many that who waits for what is not known */
};

/* One input file: one process, usually one rank. */
struct trace_file {
    const char *path;
    const char *format;        /* "Chrome JSON" ... */
    int packing;               /* enum source_packing */
    int64_t packed_size, size; /* bytes on disk (-1: unknown), bytes of text */
    enum trace_producer producer;
    event_id first_event, event_count;
    unsigned lacks; /* set of enum lacks: not all of the recording is here. Ask before a verdict */
    struct trace_lost lost;
    bool has_base;
    int64_t base_ns; /* baseTimeNanoseconds */
    /* The profiler's window: start and stop of the span of category Trace. */
    bool has_window;
    int64_t window_start_ns, window_end_ns;
    const char *host_name, *trace_name, *trace_id; /* NULL when not given */
    /* distributedInfo; rank is -1 when not given */
    int64_t rank, world_size;
    const char *backend, *nccl_version;
    VEC_OF(struct trace_group) groups;
    bool has_all_groups; /* no group of the rank is missing from them, as far as recorded */
    /* profiler flags: -1 not recorded, else 0 or 1 */
    int record_shapes, profile_memory, with_stack, with_flops, with_modules;
    VEC_OF(struct trace_device) devices; /* by number */
    VEC_OF(struct trace_property) properties;
    /* The .tpa file that holds it, else NULL; PATH and what follows it are those of the file that was converted. Several
     * files may lie in one. */
    struct trace_container *container;
};

/* Something odd that was met, and where first. One per kind and file; of all files, one per kind and text. */
struct trace_notice {
    const char *kind; /* stable word for scripts: "bad_event" */
    const char *text; /* one sentence */
    uint32_t file;
    uint64_t count;
    int64_t offset;    /* byte offset (decoded) of the first, or TPA_NOWHERE */
    bool of_container; /* it is about the .tpa file that FILE lies in */
    bool of_all;       /* it is about the files as a whole, or about no single file; FILE is 0 */
};

struct trace_flow {
    int64_t id, ts_ns;
    name_id category, name; /* in texts; never NAME_NONE */
    track_id track;
    char phase; /* 's', 't' or 'f' */
    bool bind_enclosing;
};

/* One sample of one series of a counter. */
struct trace_sample {
    int64_t ts_ns;
    double value;
    name_id counter; /* name of the counter and of the series, "name series", in texts; never NAME_NONE */
    track_id track;
};

/* What the user says that several files are. */
enum trace_files_are {
    TRACE_FILES_AS_FOUND,  /* nothing: evidence decides, see file_set.h */
    TRACE_FILES_ARE_JOB,   /* ranks and recordings of one job */
    TRACE_FILES_ARE_APART, /* separate runs */
    TRACE_FILES_ARE_SIDES, /* two sides of a comparison; only commands that compare know it */
};

struct trace {
    bool is_kept; /* by somebody who asks more of it: trace_free leaves it as it is */
    /* The columns: event_count elements each. */
    size_t event_count;
    struct packed start_ns, dur_ns; /* trace_start_ns(), trace_dur_ns() */
    const name_id *name;            /* in names */
    const track_id *track;
    const uint16_t *category; /* index into categories */
    const uint8_t *kind;      /* enum event_kind */
    const uint8_t *flags;     /* enum event_flags */

    struct trace_arg_column args[ARG_COUNT];
    struct trace_wants wants; /* what the reader was requested */
    unsigned workers;         /* threads that analyses may use at once, as given to the reader; 0: 1 */
    enum trace_files_are files_are;
    bool no_inferred_steps; /* as the user says: steps are marked, or there are none */

    const struct names *names; /* event names: ids count up in order of first event */
    const struct names *texts; /* all other strings */

    const struct track *tracks;
    size_t track_count;
    const struct trace_category *categories;
    size_t category_count;
    const struct trace_file *files;
    size_t file_count;
    const struct trace_notice *notices;
    size_t notice_count;
    unsigned lacks_of_all; /* as file->lacks, about the files as a whole: unreadable ones */
    size_t flow_count;     /* stored, see trace_flow(); see flows_seen for how many the files hold */
    const struct trace_sample *samples;
    size_t sample_count;
    uint64_t flows_seen, samples_seen, metadata_seen;
    uint64_t events_counted, flows_counted, samples_counted; /* where that is all that was wanted */

    struct arena arena;            /* owns the strings above */
    struct trace_storage *storage; /* private: how large the columns are; see storage.h */
};

/* Free TRACE and all it owns. NULL is allowed. */
void trace_free(struct trace *trace);
FREE_AT(trace)

/* What TRACE lacks, of any of its files and of the files as a whole: a set of enum lacks; 0: nothing is known to lack. */
unsigned trace_lacks(const struct trace *trace);

/* A property that says which ranges are the steps of a run whose profiler marks none: a regular expression that their
 * names match. Given by the user, or guessed by a reader, which adds a notice. Kept in converted traces. */
#define TRACE_STEP_RANGE "step range"

/* A property of a file that is one rank of several in a merged file: how the rank was found. Kept in
 * converted traces. */
#define TRACE_RANK_BY "rank by"
#define TRACE_RANK_BY_LABELS "labels of processes"
#define TRACE_RANK_BY_PROCESSES "processes that mark steps"

/* The same: its coordinates in the job, as far as the merged file has them: "dp=0 pp=2 tp=1". */
#define TRACE_COORDINATES "coordinates"

/*
 * The keys of properties that begin so, followed by the name of a compiled program, say what its compiler assigned it in memory.
 * The value is lines of fields between tabs, sizes in bytes:
 *
 *     space   NUMBER peak parameters output thread-local constants temporary aliased total
 *     buffer  NUMBER kind bytes unpadded count instruction opcode shape operator line
 *
 * See memory/program_memory.h for what they mean. "buffer" are those in use at the peak, and add up to it. UNPADDED is -1
 * if unknown. COUNT is more than 1 for a sum of small ones, without texts. Kept in converted traces.
 */
#define TRACE_PROGRAM_MEMORY "program memory: "

/* The value of KEY in FILE; NULL: none. */
const char *trace_file_property(const struct trace_file *file, const char *key);

/* The description of device ID in FILE, the first if there are two; NULL if there is none. */
const struct trace_device *trace_file_device(const struct trace_file *file, int64_t id);

/* Value I of COLUMN, of those that there are. */
static inline int64_t trace_arg_value(const struct trace_arg_column *column, size_t i)
{
    return packed_value(&column->values, i);
}

/* Has event E the argument, and which value? False and *VALUE untouched when not. */
bool trace_arg(const struct trace *trace, enum trace_arg arg, event_id e, int64_t *value);

/* The value, or MISSING. */
int64_t trace_arg_or(const struct trace *trace, enum trace_arg arg, event_id e, int64_t missing);

/* A DECIMAL argument, or NAN. */
double trace_arg_decimal(const struct trace *trace, enum trace_arg arg, event_id e);

/* The text of a TEXT or JSON argument; NULL when the event has none; borrowed. */
const char *trace_arg_text(const struct trace *trace, enum trace_arg arg, event_id e);

static inline uint32_t trace_file_of(const struct trace *trace, event_id e)
{
    return trace->tracks[trace->track[e]].file;
}

/* From the origin of the trace. */
static inline int64_t trace_start_ns(const struct trace *trace, event_id e)
{
    return packed_value(&trace->start_ns, e);
}

/* Never negative. */
static inline int64_t trace_dur_ns(const struct trace *trace, event_id e)
{
    return packed_value(&trace->dur_ns, e);
}

/* The start and the duration added up. */
static inline int64_t trace_end_ns(const struct trace *trace, event_id e)
{
    return trace_start_ns(trace, e) +
           trace_dur_ns(trace, e); /* the builder checked that this does not overflow */
}

/* Flow I of trace->flow_count. */
struct trace_flow trace_flow(const struct trace *trace, size_t i);

/* For passes over all flows: the same, of which a block is unpacked at a time. Zero-initialise it. Borrowed until the next. */
struct flow_scan {
    size_t first, end;
    struct trace_flow at[512];
};
const struct trace_flow *flow_scan_get(struct flow_scan *scan, const struct trace *trace, size_t i);

/* The name of E, NUL-terminated; borrowed, lives as long as TRACE. */
static inline const char *trace_name(const struct trace *trace, event_id e)
{
    return names_text(trace->names, trace->name[e]);
}

const char *event_kind_name(enum event_kind kind);             /* "kernel", "operator" ... */
const char *trace_producer_name(enum trace_producer producer); /* "PyTorch (Kineto)" ... */

#endif
