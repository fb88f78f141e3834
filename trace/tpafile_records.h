/*
 * tpafile_records.h - what a .tpa file can hold: the kinds of records and their fields.
 *
 * Everything about a kind comes from its rows here: the names below, the encoder, the decoder, the page
 * docs/tpa-file.md. A record is an int64_t a field:
 *
 *     int64_t call[TPAFILE_API_FIELDS_END] = { [TPAFILE_API_START] = begin, [TPAFILE_API_DURATION] = end - begin, ... };
 *
 * A field's number is its place in its kind, from 0; fields are added at the end of a kind and never removed,
 * and readers take a field that is not there for TPAFILE_NONE.
 */
#ifndef TPA_TRACE_TPAFILE_RECORDS_H
#define TPA_TRACE_TPAFILE_RECORDS_H

#include <stdint.h>

/* A value that is unknown. A column in which none is known is left out. */
#define TPAFILE_NONE INT64_MIN

/* The number of a file where a row is of none of them. */
#define TPAFILE_NO_FILE INT64_C(-1)

/* No time is further from 0 than this, in ns (73 years), no duration longer, and no size or number of a text larger. */
#define TPAFILE_LARGEST ((INT64_C(1) << 61) - 1)

/* Clocks tell a moment from 1970 on: to 2116. With the end of an event, which may be at 2 TPAFILE_LARGEST, it fits 64 bits. */
#define TPAFILE_LATEST_WALL ((INT64_C(1) << 62) - 1)

/*
 * The kinds of records and their fields: kind, constant, type, meaning. The types, and what readers take of each; a value
 * outside is unknown:
 *
 *     INT      any number: ids, numbers that CUPTI or a user made up
 *     BITS     any number: the 64 bits of a double
 *     TIME     ns of the log's clock, see CLOCK        -TPAFILE_LARGEST to TPAFILE_LARGEST
 *     MOMENT   ns from the trace's origin              the same
 *     WALL     ns since 1970, or since boot            -TPAFILE_LATEST_WALL to TPAFILE_LATEST_WALL
 *     NS       a duration in ns                        0 to TPAFILE_LARGEST
 *     SIZE     bytes, or how many                      the same
 *     TEXT     number of a text, 0: none               the same
 *     PLACE    place of a record of another kind       0 to 2^32 - 2
 *
 * What the capture library logs, as CUPTI tells it; numbers that CUPTI enumerates are kept as they are.
 */
#define TPAFILE_PROCESS_FIELDS(F)                                                                            \
    F(PROCESS, PID, INT, "process id")                                                                       \
    F(PROCESS, PARENT, INT, "process id of its parent")                                                      \
    F(PROCESS, HOST, TEXT, "name of the machine")                                                            \
    F(PROCESS, EXECUTABLE, TEXT, "path of the program")                                                      \
    F(PROCESS, COMMAND, TEXT, "command line, its words separated by spaces")                                 \
    F(PROCESS, START_WALL, WALL, "when the process began, CLOCK_REALTIME in ns")                             \
    F(PROCESS, RANK, INT, "rank in the job")                                                                 \
    F(PROCESS, LOCAL_RANK, INT, "rank on the machine")                                                       \
    F(PROCESS, WORLD_SIZE, INT, "ranks of the job")                                                          \
    F(PROCESS, WRITER, TEXT, "who wrote the log, with version")                                              \
    F(PROCESS, DRIVER_VERSION, INT, "CUDA version of the driver, 12040 for 12.4")                            \
    F(PROCESS, RUNTIME_VERSION, INT, "CUDA version of the runtime")                                          \
    F(PROCESS, CUPTI_VERSION, INT, "CUPTI's API version")                                                    \
    F(PROCESS, KINDS, TEXT, "kinds requested for recording")                                                 \
    F(PROCESS, DRIVER_NAME, TEXT, "version of the kernel driver, 550.54.14")                                 \
    F(PROCESS, SUBSCRIBED_BY, TEXT, "how CUPTI was taken: cuptiSubscribe or cuptiSubscribe_v2")              \
    F(PROCESS, HARDWARE_TIMES, INT, "1: kernel times are by the device's own event system")

/* The same moment on three clocks. Wherever TIME stands, it is on the clock of TIME here: CUPTI's timestamp. */
#define TPAFILE_CLOCK_FIELDS(F)                                                                              \
    F(CLOCK, TIME, TIME, "cuptiGetTimestamp")                                                                \
    F(CLOCK, WALL, WALL, "CLOCK_REALTIME in ns")                                                             \
    F(CLOCK, MONOTONIC, WALL, "CLOCK_MONOTONIC in ns")

#define TPAFILE_DEVICE_FIELDS(F)                                                                             \
    F(DEVICE, DEVICE, INT, "number of the device")                                                           \
    F(DEVICE, NAME, TEXT, "its name")                                                                        \
    F(DEVICE, UUID, TEXT, "its UUID")                                                                        \
    F(DEVICE, TOTAL_MEMORY, SIZE, "bytes")                                                                   \
    F(DEVICE, COMPUTE_MAJOR, INT, "compute capability")                                                      \
    F(DEVICE, COMPUTE_MINOR, INT, "compute capability")                                                      \
    F(DEVICE, SM_COUNT, INT, "streaming multiprocessors")                                                    \
    F(DEVICE, WARP_SIZE, INT, "threads of a warp")                                                           \
    F(DEVICE, MAX_THREADS_PER_SM, INT, "threads")                                                            \
    F(DEVICE, MAX_THREADS_PER_BLOCK, INT, "threads")                                                         \
    F(DEVICE, REGISTERS_PER_SM, INT, "32-bit registers")                                                     \
    F(DEVICE, SHARED_PER_SM, SIZE, "bytes of shared memory")                                                 \
    F(DEVICE, CLOCK_KHZ, SIZE, "core clock")                                                                 \
    F(DEVICE, MEMORY_CLOCK_KHZ, SIZE, "memory clock")                                                        \
    F(DEVICE, BANDWIDTH, SIZE, "peak of the memory, kB/s")                                                   \
    F(DEVICE, L2_BYTES, SIZE, "L2 cache")

#define TPAFILE_CONTEXT_FIELDS(F)                                                                            \
    F(CONTEXT, CONTEXT, INT, "number of the context")                                                        \
    F(CONTEXT, DEVICE, INT, "its device")                                                                    \
    F(CONTEXT, NULL_STREAM, INT, "number of its default stream")                                             \
    F(CONTEXT, API, INT, "CUpti_ActivityComputeApiKind")

#define TPAFILE_STREAM_FIELDS(F)                                                                             \
    F(STREAM, STREAM, INT, "number of the stream")                                                           \
    F(STREAM, CONTEXT, INT, "its context")                                                                   \
    F(STREAM, NAME, TEXT, "given by NVTX")                                                                   \
    F(STREAM, PRIORITY, INT, "priority")                                                                     \
    F(STREAM, FLAGS, INT, "CUpti_ActivityStreamFlag")

#define TPAFILE_THREAD_FIELDS(F)                                                                             \
    F(THREAD, THREAD, INT, "number by which records name it")                                                \
    F(THREAD, TID, INT, "thread id of the operating system")                                                 \
    F(THREAD, NAME, TEXT, "its name")

/* What API records call by number. */
#define TPAFILE_FUNCTION_FIELDS(F)                                                                           \
    F(FUNCTION, API, INT, "0 runtime, 1 driver")                                                             \
    F(FUNCTION, CBID, INT, "number of the function there")                                                   \
    F(FUNCTION, NAME, TEXT, "cudaLaunchKernel")

#define TPAFILE_KERNEL_FIELDS(F)                                                                             \
    F(KERNEL, START, TIME, "begin")                                                                          \
    F(KERNEL, DURATION, NS, "end - begin; not known when the end is 0")                                      \
    F(KERNEL, CORRELATION, INT, "of the call that launched it")                                              \
    F(KERNEL, NAME, TEXT, "as the compiler spells it")                                                       \
    F(KERNEL, DEVICE, INT, "device")                                                                         \
    F(KERNEL, CONTEXT, INT, "context")                                                                       \
    F(KERNEL, STREAM, INT, "stream")                                                                         \
    F(KERNEL, GRID_X, INT, "blocks")                                                                         \
    F(KERNEL, GRID_Y, INT, "blocks")                                                                         \
    F(KERNEL, GRID_Z, INT, "blocks")                                                                         \
    F(KERNEL, BLOCK_X, INT, "threads")                                                                       \
    F(KERNEL, BLOCK_Y, INT, "threads")                                                                       \
    F(KERNEL, BLOCK_Z, INT, "threads")                                                                       \
    F(KERNEL, REGISTERS, INT, "per thread")                                                                  \
    F(KERNEL, STATIC_SHARED, SIZE, "bytes a block")                                                          \
    F(KERNEL, DYNAMIC_SHARED, SIZE, "bytes a block")                                                         \
    F(KERNEL, GRAPH, INT, "graph that it belongs to; 0: none")                                               \
    F(KERNEL, GRAPH_NODE, INT, "node of that graph; 0: none")                                                \
    F(KERNEL, QUEUED, TIME, "when queued in the command buffer")                                             \
    F(KERNEL, SUBMITTED, TIME, "when submitted to the device")                                               \
    F(KERNEL, LOCAL_PER_THREAD, SIZE, "bytes of local memory")                                               \
    F(KERNEL, LAUNCH_TYPE, INT, "CUpti_ActivityLaunchType")                                                  \
    F(KERNEL, CHANNEL, INT, "hardware channel")                                                              \
    F(KERNEL, CLUSTER_X, INT, "blocks of a cluster")                                                         \
    F(KERNEL, CLUSTER_Y, INT, "blocks of a cluster")                                                         \
    F(KERNEL, CLUSTER_Z, INT, "blocks of a cluster")                                                         \
    F(KERNEL, SHARED_EXECUTED, SIZE, "bytes of shared memory that the driver set")

#define TPAFILE_MEMCPY_FIELDS(F)                                                                             \
    F(MEMCPY, START, TIME, "begin")                                                                          \
    F(MEMCPY, DURATION, NS, "end - begin")                                                                   \
    F(MEMCPY, CORRELATION, INT, "of the call")                                                               \
    F(MEMCPY, KIND, INT, "CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH ... 10 peer")                             \
    F(MEMCPY, BYTES, SIZE, "size")                                                                           \
    F(MEMCPY, SOURCE_KIND, INT,                                                                              \
      "CUpti_ActivityMemoryKind: 1 pageable, 2 pinned, 3 device, 4 array, 5 managed")                        \
    F(MEMCPY, TARGET_KIND, INT, "the same of where it goes")                                                 \
    F(MEMCPY, DEVICE, INT, "device that copies")                                                             \
    F(MEMCPY, CONTEXT, INT, "context")                                                                       \
    F(MEMCPY, STREAM, INT, "stream")                                                                         \
    F(MEMCPY, FLAGS, INT, "CUpti_ActivityFlag: 1 asynchronous")                                              \
    F(MEMCPY, GRAPH, INT, "graph; 0: none")                                                                  \
    F(MEMCPY, GRAPH_NODE, INT, "node of that graph; 0: none")                                                \
    F(MEMCPY, SOURCE_DEVICE, INT, "peer copies: from")                                                       \
    F(MEMCPY, TARGET_DEVICE, INT, "peer copies: to")                                                         \
    F(MEMCPY, SOURCE_CONTEXT, INT, "peer copies: from")                                                      \
    F(MEMCPY, TARGET_CONTEXT, INT, "peer copies: to")                                                        \
    F(MEMCPY, CHANNEL, INT, "hardware channel")                                                              \
    F(MEMCPY, COPY_COUNT, SIZE, "copies that this record sums up")

#define TPAFILE_MEMSET_FIELDS(F)                                                                             \
    F(MEMSET, START, TIME, "begin")                                                                          \
    F(MEMSET, DURATION, NS, "end - begin")                                                                   \
    F(MEMSET, CORRELATION, INT, "of the call")                                                               \
    F(MEMSET, BYTES, SIZE, "size")                                                                           \
    F(MEMSET, VALUE, INT, "what is written")                                                                 \
    F(MEMSET, MEMORY_KIND, INT, "CUpti_ActivityMemoryKind")                                                  \
    F(MEMSET, DEVICE, INT, "device")                                                                         \
    F(MEMSET, CONTEXT, INT, "context")                                                                       \
    F(MEMSET, STREAM, INT, "stream")                                                                         \
    F(MEMSET, FLAGS, INT, "CUpti_ActivityFlag")                                                              \
    F(MEMSET, GRAPH, INT, "graph; 0: none")                                                                  \
    F(MEMSET, GRAPH_NODE, INT, "node of that graph; 0: none")                                                \
    F(MEMSET, CHANNEL, INT, "hardware channel")

#define TPAFILE_API_FIELDS(F)                                                                                \
    F(API, START, TIME, "begin")                                                                             \
    F(API, DURATION, NS, "end - begin")                                                                      \
    F(API, CORRELATION, INT, "its number")                                                                   \
    F(API, API, INT, "0 runtime, 1 driver")                                                                  \
    F(API, CBID, INT, "which function: FUNCTION names it")                                                   \
    F(API, THREAD, INT, "thread that called")                                                                \
    F(API, RESULT, INT, "what it returned: 0 is success")

#define TPAFILE_SYNC_FIELDS(F)                                                                               \
    F(SYNC, START, TIME, "begin")                                                                            \
    F(SYNC, DURATION, NS, "end - begin")                                                                     \
    F(SYNC, CORRELATION, INT, "of the call")                                                                 \
    F(SYNC, TYPE, INT, "CUpti_ActivitySynchronizationType: 1 event, 2 stream waits, 3 stream, 4 context")    \
    F(SYNC, CONTEXT, INT, "context")                                                                         \
    F(SYNC, STREAM, INT, "stream; not known for the whole context")                                          \
    F(SYNC, EVENT, INT, "event id")                                                                          \
    F(SYNC, RESULT, INT, "what it returned")

#define TPAFILE_MEMORY_FIELDS(F)                                                                             \
    F(MEMORY, TIME, TIME, "when")                                                                            \
    F(MEMORY, OPERATION, INT, "CUpti_ActivityMemoryOperationType: 1 allocation, 2 release")                  \
    F(MEMORY, ADDRESS, INT, "where")                                                                         \
    F(MEMORY, BYTES, SIZE, "how much, never negative")                                                       \
    F(MEMORY, MEMORY_KIND, INT, "CUpti_ActivityMemoryKind")                                                  \
    F(MEMORY, DEVICE, INT, "device")                                                                         \
    F(MEMORY, CONTEXT, INT, "context")                                                                       \
    F(MEMORY, STREAM, INT, "stream of an asynchronous one")                                                  \
    F(MEMORY, CORRELATION, INT, "of the call")                                                               \
    F(MEMORY, THREAD, INT, "thread that called")                                                             \
    F(MEMORY, POOL_TYPE, INT, "CUpti_ActivityMemoryPoolType: 1 local, 2 imported")                           \
    F(MEMORY, POOL, INT, "address of the pool")                                                              \
    F(MEMORY, POOL_SIZE, SIZE, "bytes of the pool")                                                          \
    F(MEMORY, POOL_USED, SIZE, "bytes of the pool in use")                                                   \
    F(MEMORY, IN_USE, SIZE, "bytes of this memory kind and device in use after it, as the writer counts")    \
    F(MEMORY, SOURCE, TEXT, "shared object that called")                                                     \
    F(MEMORY, ASYNCHRONOUS, INT, "1 for cudaMallocAsync and the like")

/* A launch of a whole graph, where its nodes are not recorded one by one. */
#define TPAFILE_GRAPH_FIELDS(F)                                                                              \
    F(GRAPH, START, TIME, "begin")                                                                           \
    F(GRAPH, DURATION, NS, "end - begin")                                                                    \
    F(GRAPH, CORRELATION, INT, "of the call")                                                                \
    F(GRAPH, GRAPH, INT, "graph")                                                                            \
    F(GRAPH, DEVICE, INT, "device")                                                                          \
    F(GRAPH, CONTEXT, INT, "context")                                                                        \
    F(GRAPH, STREAM, INT, "stream")

/* Half of an NVTX range, or a mark: what is open when the process is killed is not lost. */
#define TPAFILE_MARKER_FIELDS(F)                                                                             \
    F(MARKER, TIME, TIME, "when")                                                                            \
    F(MARKER, TYPE, INT, "0 mark, 1 push, 2 pop, 3 start, 4 end: see enum tpafile_marker")                   \
    F(MARKER, ID, INT, "the same for the two halves of a range")                                             \
    F(MARKER, THREAD, INT, "thread")                                                                         \
    F(MARKER, DOMAIN, TEXT, "NVTX domain")                                                                   \
    F(MARKER, NAME, TEXT, "message, in parts: see tpafile_writer_message")                                   \
    F(MARKER, NUMBER, INT, "stands in NAME where its first byte 1 is")                                       \
    F(MARKER, CATEGORY, INT, "NVTX category")                                                                \
    F(MARKER, COLOR, INT, "ARGB")                                                                            \
    F(MARKER, PAYLOAD_TYPE, INT, "enum tpafile_payload")                                                     \
    F(MARKER, PAYLOAD, INT, "number, or the bits of a double")                                               \
    F(MARKER, NUMBER_2, INT, "stands in NAME where its second byte 1 is")                                    \
    F(MARKER, TAIL, TEXT, "follows NAME")                                                                    \
    F(MARKER, CATEGORY_NAME, TEXT, "what the program calls the category")

/* A whole NVTX range. */
#define TPAFILE_RANGE_FIELDS(F)                                                                              \
    F(RANGE, START, TIME, "begin")                                                                           \
    F(RANGE, DURATION, NS, "end - begin; not known: still open")                                             \
    F(RANGE, TYPE, INT, "1 push and pop, 3 start and end")                                                   \
    F(RANGE, ID, INT, "its number")                                                                          \
    F(RANGE, THREAD, INT, "thread that began it")                                                            \
    F(RANGE, DOMAIN, TEXT, "NVTX domain")                                                                    \
    F(RANGE, NAME, TEXT, "message, in parts: see tpafile_writer_message")                                    \
    F(RANGE, NUMBER, INT, "stands in NAME where its first byte 1 is")                                        \
    F(RANGE, CATEGORY, INT, "NVTX category")                                                                 \
    F(RANGE, COLOR, INT, "ARGB")                                                                             \
    F(RANGE, PAYLOAD_TYPE, INT, "enum tpafile_payload")                                                      \
    F(RANGE, PAYLOAD, INT, "number, or the bits of a double")                                                \
    F(RANGE, NUMBER_2, INT, "stands in NAME where its second byte 1 is")                                     \
    F(RANGE, TAIL, TEXT, "follows NAME")                                                                     \
    F(RANGE, CATEGORY_NAME, TEXT, "what the program calls the category")

#define TPAFILE_EXTERNAL_FIELDS(F)                                                                           \
    F(EXTERNAL, CORRELATION, INT, "CUPTI's")                                                                 \
    F(EXTERNAL, KIND, INT, "CUpti_ExternalCorrelationKind")                                                  \
    F(EXTERNAL, ID, INT, "the framework's")

#define TPAFILE_OVERHEAD_FIELDS(F)                                                                           \
    F(OVERHEAD, START, TIME, "begin")                                                                        \
    F(OVERHEAD, DURATION, NS, "end - begin")                                                                 \
    F(OVERHEAD, KIND, INT, "CUpti_ActivityOverheadKind")                                                     \
    F(OVERHEAD, THREAD, INT, "thread that it held up")                                                       \
    F(OVERHEAD, NAME, TEXT, "its name, where KIND is unknown")

/* Records that are missing from the file although they happened. */
#define TPAFILE_DROPPED_FIELDS(F)                                                                            \
    F(DROPPED, TIME, TIME, "when noticed")                                                                   \
    F(DROPPED, COUNT, SIZE, "records")                                                                       \
    F(DROPPED, WHY, INT, "enum tpafile_dropped_why")                                                         \
    F(DROPPED, KIND, INT, "kind of block they would be in; unknown: any")

/* Something a person should know: one sentence. */
#define TPAFILE_NOTE_FIELDS(F)                                                                               \
    F(NOTE, TIME, TIME, "when")                                                                              \
    F(NOTE, WORD, TEXT, "for scripts: no_privilege")                                                         \
    F(NOTE, TEXT, TEXT, "for people")                                                                        \
    F(NOTE, COUNT, SIZE, "how often")

/* Recording was on: between two of these nothing is known of what happened. */
#define TPAFILE_WINDOW_FIELDS(F)                                                                             \
    F(WINDOW, START, TIME, "begin")                                                                          \
    F(WINDOW, DURATION, NS, "end - begin; not known: to the end of the log")                                 \
    F(WINDOW, WHY, TEXT, "what switched it on")

/* A step of the training loop began (tpa_capture_step). */
#define TPAFILE_STEP_FIELDS(F)                                                                               \
    F(STEP, TIME, TIME, "when")                                                                              \
    F(STEP, NUMBER, INT, "of the step")                                                                      \
    F(STEP, THREAD, INT, "thread")

/* The last record of a log that was closed. */
#define TPAFILE_END_FIELDS(F)                                                                                \
    F(END, TIME, TIME, "when")                                                                               \
    F(END, WHY, TEXT, "exit, signal 15, duration ...; empty for a conversion")                               \
    F(END, BLOCKS, SIZE, "blocks before this one")                                                           \
    F(END, RECORDS, SIZE, "records in them, texts not counted")

/* What a converted trace holds beside its events; see trace.h for the meaning of each. Times there are
 * ns from the trace's own origin. */
#define TPAFILE_FILE_FIELDS(F)                                                                               \
    F(FILE, PATH, TEXT, "the file that it was converted from")                                               \
    F(FILE, FORMAT, TEXT, "format of that file")                                                             \
    F(FILE, PACKING, INT, "0 plain, 1 gzip, 2 zstd")                                                         \
    F(FILE, PACKED_SIZE, SIZE, "bytes on disk")                                                              \
    F(FILE, SIZE, SIZE, "bytes of text")                                                                     \
    F(FILE, PRODUCER, INT, "enum tpafile_producer")                                                          \
    F(FILE, EVENTS, SIZE, "events of this file; they follow each other, file by file")                       \
    F(FILE, BASE, WALL, "wall clock at the origin, ns")                                                      \
    F(FILE, WINDOW_START, MOMENT, "recording window, ns")                                                    \
    F(FILE, WINDOW_END, MOMENT, "recording window, ns")                                                      \
    F(FILE, HOST, TEXT, "name of the machine")                                                               \
    F(FILE, TRACE_NAME, TEXT, "name")                                                                        \
    F(FILE, TRACE_ID, TEXT, "id")                                                                            \
    F(FILE, RANK, INT, "rank")                                                                               \
    F(FILE, WORLD_SIZE, INT, "ranks")                                                                        \
    F(FILE, BACKEND, TEXT, "nccl, gloo")                                                                     \
    F(FILE, NCCL_VERSION, TEXT, "version")                                                                   \
    F(FILE, RECORD_SHAPES, INT, "0 or 1")                                                                    \
    F(FILE, PROFILE_MEMORY, INT, "0 or 1")                                                                   \
    F(FILE, WITH_STACK, INT, "0 or 1")                                                                       \
    F(FILE, WITH_FLOPS, INT, "0 or 1")                                                                       \
    F(FILE, WITH_MODULES, INT, "0 or 1")                                                                     \
    F(FILE, FLOWS_SEEN, SIZE, "flow events of all files; in the first row only")                             \
    F(FILE, SAMPLES_SEEN, SIZE, "counter samples of all files; in the first row only")                       \
    F(FILE, METADATA_SEEN, SIZE, "metadata events of all files; in the first row only")                      \
    F(FILE, NAMES, SIZE, "texts 1 to this are the names of events, in order; in the first row only")

#define TPAFILE_FILE_DEVICE_FIELDS(F)                                                                        \
    F(FILE_DEVICE, FILE, INT, "which file, from 0")                                                          \
    F(FILE_DEVICE, DEVICE, INT, "number")                                                                    \
    F(FILE_DEVICE, NAME, TEXT, "name")                                                                       \
    F(FILE_DEVICE, TOTAL_MEMORY, SIZE, "bytes")                                                              \
    F(FILE_DEVICE, COMPUTE_MAJOR, INT, "compute capability")                                                 \
    F(FILE_DEVICE, COMPUTE_MINOR, INT, "compute capability")                                                 \
    F(FILE_DEVICE, SM_COUNT, INT, "streaming multiprocessors")                                               \
    F(FILE_DEVICE, WARP_SIZE, INT, "threads of a warp")                                                      \
    F(FILE_DEVICE, MAX_THREADS_PER_SM, INT, "threads")                                                       \
    F(FILE_DEVICE, MAX_THREADS_PER_BLOCK, INT, "threads")                                                    \
    F(FILE_DEVICE, REGISTERS_PER_SM, INT, "32-bit registers")                                                \
    F(FILE_DEVICE, SHARED_PER_SM, SIZE, "bytes")

#define TPAFILE_PROPERTY_FIELDS(F)                                                                           \
    F(PROPERTY, FILE, INT, "which file, from 0")                                                             \
    F(PROPERTY, KEY, TEXT, "key")                                                                            \
    F(PROPERTY, VALUE, TEXT, "JSON text; a string's without quotes and escapes")                             \
    F(PROPERTY, IS_STRING, INT, "1: a string")

#define TPAFILE_CATEGORY_FIELDS(F) F(CATEGORY, NAME, TEXT, "cpu_op; its number is its place, from 0")

#define TPAFILE_TRACK_FIELDS(F)                                                                              \
    F(TRACK, FILE, INT, "which file, from 0; a track's number is its place, from 0")                         \
    F(TRACK, PID, INT, "process, where written as a number")                                                 \
    F(TRACK, TID, INT, "thread, where written as a number")                                                  \
    F(TRACK, PID_TEXT, TEXT, "process, where written as a text")                                             \
    F(TRACK, TID_TEXT, TEXT, "thread, where written as a text")                                              \
    F(TRACK, PROCESS_NAME, TEXT, "name")                                                                     \
    F(TRACK, PROCESS_LABELS, TEXT, "labels")                                                                 \
    F(TRACK, THREAD_NAME, TEXT, "name")                                                                      \
    F(TRACK, PROCESS_SORT_INDEX, INT, "order")                                                               \
    F(TRACK, THREAD_SORT_INDEX, INT, "order")

#define TPAFILE_NOTICE_FIELDS(F)                                                                             \
    F(NOTICE, FILE, INT, "which file, from 0, -1: none of them")                                             \
    F(NOTICE, WORD, TEXT, "for scripts")                                                                     \
    F(NOTICE, TEXT, TEXT, "for people")                                                                      \
    F(NOTICE, COUNT, SIZE, "how often")                                                                      \
    F(NOTICE, OFFSET, INT, "byte offset of the first, -1: nowhere")

#define TPAFILE_FLOW_FIELDS(F)                                                                               \
    F(FLOW, TIME, MOMENT, "ns")                                                                              \
    F(FLOW, ID, INT, "id")                                                                                   \
    F(FLOW, TRACK, PLACE, "track")                                                                           \
    F(FLOW, PHASE, INT, "s, t or f as a character")                                                          \
    F(FLOW, CATEGORY, TEXT, "category")                                                                      \
    F(FLOW, NAME, TEXT, "name")                                                                              \
    F(FLOW, BIND_ENCLOSING, INT, "0 or 1")

#define TPAFILE_SAMPLE_FIELDS(F)                                                                             \
    F(SAMPLE, TIME, MOMENT, "ns")                                                                            \
    F(SAMPLE, TRACK, PLACE, "track")                                                                         \
    F(SAMPLE, COUNTER, TEXT, "name of the counter and of the series")                                        \
    F(SAMPLE, VALUE, BITS, "the bits of a double")

/* What the events of a converted trace may have: see enum tpafile_events_field. */
#define TPAFILE_ARGUMENT_FIELDS(F)                                                                           \
    F(ARGUMENT, KEY, TEXT, "Chrome's key; its number is its place, from 0 to 63")                            \
    F(ARGUMENT, TYPE, INT, "enum tpafile_argument_type")

/* Kinds of blocks whose records are rows of the fields above: constant, number, the word for people.
 * Numbers are never used again for something else. */
#define TPAFILE_ROW_KINDS(K)                                                                                 \
    K(PROCESS, 2, "process")                                                                                 \
    K(CLOCK, 3, "clock")                                                                                     \
    K(DEVICE, 4, "device")                                                                                   \
    K(CONTEXT, 5, "context")                                                                                 \
    K(STREAM, 6, "stream")                                                                                   \
    K(THREAD, 7, "thread")                                                                                   \
    K(FUNCTION, 8, "function name")                                                                          \
    K(KERNEL, 16, "kernel")                                                                                  \
    K(MEMCPY, 17, "memcpy")                                                                                  \
    K(MEMSET, 18, "memset")                                                                                  \
    K(API, 19, "API call")                                                                                   \
    K(SYNC, 20, "synchronization")                                                                           \
    K(MEMORY, 21, "memory record")                                                                           \
    K(GRAPH, 22, "graph launch")                                                                             \
    K(MARKER, 23, "NVTX marker")                                                                             \
    K(RANGE, 24, "NVTX range")                                                                               \
    K(EXTERNAL, 25, "external correlation")                                                                  \
    K(OVERHEAD, 26, "overhead")                                                                              \
    K(DROPPED, 27, "dropped count")                                                                          \
    K(NOTE, 28, "note")                                                                                      \
    K(WINDOW, 29, "recording window")                                                                        \
    K(STEP, 30, "step")                                                                                      \
    K(END, 31, "end")                                                                                        \
    K(FILE, 64, "file")                                                                                      \
    K(FILE_DEVICE, 65, "device of a file")                                                                   \
    K(PROPERTY, 66, "property")                                                                              \
    K(CATEGORY, 67, "category")                                                                              \
    K(TRACK, 68, "track")                                                                                    \
    K(NOTICE, 69, "notice")                                                                                  \
    K(FLOW, 70, "flow arrow")                                                                                \
    K(SAMPLE, 71, "counter sample")                                                                          \
    K(ARGUMENT, 72, "argument")

/* Blocks of profiles and reports, which earlier versions of tpa wrote. */
enum { TPAFILE_SUMS_FIRST = 74, TPAFILE_SUMS_LAST = 79 };

enum tpafile_kind {
    TPAFILE_STRINGS = 1, /* texts; see enum tpafile_strings_field */
    TPAFILE_EVENTS = 73, /* events of a converted trace; see enum tpafile_events_field */
#define TPAFILE_KIND_CONSTANT(id, number, word) TPAFILE_##id = number,
    TPAFILE_ROW_KINDS(TPAFILE_KIND_CONSTANT)
#undef TPAFILE_KIND_CONSTANT
        TPAFILE_KIND_COUNT
};

/* TPAFILE_KERNEL_START ..., and TPAFILE_KERNEL_FIELDS_END, how many there are. */
#define TPAFILE_FIELD_CONSTANT(kind, id, type, meaning) TPAFILE_##kind##_##id,
#define TPAFILE_FIELDS_OF(kind, number, word)                                                                \
    enum { TPAFILE_##kind##_FIELDS(TPAFILE_FIELD_CONSTANT) TPAFILE_##kind##_FIELDS_END };
TPAFILE_ROW_KINDS(TPAFILE_FIELDS_OF)
#undef TPAFILE_FIELDS_OF

enum tpafile_argument_type {
    TPAFILE_ARGUMENT_INT,     /* a number; also 0 or 1 for no and yes */
    TPAFILE_ARGUMENT_DECIMAL, /* the bits of a double */
    TPAFILE_ARGUMENT_TEXT,    /* number of a text; of JSON too */
};

/* No kind has more fields than this. */
#define TPAFILE_MOST_FIELDS 32

enum tpafile_field_type {
    TPAFILE_INT,
    TPAFILE_BITS,
    TPAFILE_TIME,
    TPAFILE_MOMENT,
    TPAFILE_WALL,
    TPAFILE_NS,
    TPAFILE_SIZE,
    TPAFILE_TEXT,
    TPAFILE_PLACE,
};

struct tpafile_field_info {
    const char *name; /* "CORRELATION" */
    enum tpafile_field_type type;
};

/* What a field of TYPE may hold beside TPAFILE_NONE: from LEAST to MOST. */
struct tpafile_bounds {
    int64_t least, most;
};
extern const struct tpafile_bounds tpafile_bounds[];

struct tpafile_kind_info {
    const char *id;   /* "KERNEL"; NULL: there is no such kind of rows */
    const char *word; /* "kernel" */
    unsigned field_count;
    const struct tpafile_field_info *fields;
};

/* By kind, for kinds below TPAFILE_KIND_COUNT. */
extern const struct tpafile_kind_info tpafile_kinds[];

enum tpafile_marker { TPAFILE_MARK, TPAFILE_PUSH, TPAFILE_POP, TPAFILE_OPEN, TPAFILE_CLOSE };

enum tpafile_payload {
    TPAFILE_PAYLOAD_NONE,
    TPAFILE_PAYLOAD_UNSIGNED,
    TPAFILE_PAYLOAD_SIGNED,
    TPAFILE_PAYLOAD_DOUBLE
};

enum tpafile_dropped_why {
    TPAFILE_DROPPED_BY_CUPTI, /* cuptiActivityGetNumDroppedRecords */
    TPAFILE_DROPPED_BEHIND,   /* the writer could not keep up */
    TPAFILE_DROPPED_MEMORY,   /* out of memory */
    TPAFILE_DROPPED_DISK,     /* the file could not be written */
    TPAFILE_DROPPED_UNKNOWN,  /* records of a kind that the writer does not know */
};

#endif
