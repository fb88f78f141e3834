/* Records are read with the structs of CUPTI 11.8, the oldest supported version. Later versions of CUPTI write longer
 * records (CUpti_ActivityKernel9, 10 ...), which begin with the same fields at the same offsets; so the running CUPTI
 * may be older or newer than the headers. The assertions below check that for the newest header here. */
#include "capture/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME_PLACE(old, new, field)                                                                          \
    _Static_assert(offsetof(old, field) == offsetof(new, field), #new " does not begin as " #old)
#if CUPTI_API_VERSION >= 130000
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, start);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, name);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, clusterZ);
SAME_PLACE(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, channelType);
SAME_PLACE(CUpti_ActivityMemory3, CUpti_ActivityMemory4, memoryPoolConfig);
SAME_PLACE(CUpti_ActivityOverhead, CUpti_ActivityOverhead3, end);
SAME_PLACE(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, cudaEventId);
SAME_PLACE(CUpti_ActivityGraphTrace, CUpti_ActivityGraphTrace2, streamId);
SAME_PLACE(CUpti_ActivityDevice4, CUpti_ActivityDevice5, name);
SAME_PLACE(CUpti_ActivityDevice4, CUpti_ActivityDevice5, computeInstanceId);
SAME_PLACE(CUpti_ActivityContext, CUpti_ActivityContext3, nullStreamId);
#endif

/* CUPTI's value for "none". */
static int64_t unless(uint32_t value, uint32_t none)
{
    return value == none ? TPAFILE_NONE : (int64_t)value;
}

/* An unfinished record has no end: the device was lost, or the process ended. */
static int64_t duration(uint64_t start, uint64_t end)
{
    return start == 0 || end == 0 ? TPAFILE_NONE : (int64_t)(end - start);
}

static int64_t translate_text(struct translator *translator, const char *string)
{
    return string && *string ? tpafile_writer_text(translator->log, string, strlen(string)) : 0;
}

static void fill_none(int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = TPAFILE_NONE;
}

/* An array `values` for a record of KIND, with all values unknown. */
#define RECORD(kind)                                                                                         \
    int64_t values[TPAFILE_##kind##_FIELDS_END];                                                             \
    fill_none(values, TPAFILE_##kind##_FIELDS_END)
#define ADD(kind) (translator->failed |= !tpafile_writer_add(translator->log, TPAFILE_##kind, values))

void translate_thread_name(struct translator *translator, int64_t tid, const char *name, size_t len)
{
    RECORD(THREAD);
    values[TPAFILE_THREAD_THREAD] = tid;
    values[TPAFILE_THREAD_TID] = tid;
    values[TPAFILE_THREAD_NAME] = len ? tpafile_writer_text(translator->log, name, len) : 0;
    ADD(THREAD);
}

struct thread_name {
    int64_t tid;
    char name[64];
};

static void read_thread_name(void *argument)
{
    struct thread_name *thread = argument;
    process_thread_name(thread->tid, thread->name, sizeof thread->name);
}

void translate_thread(struct translator *translator, int64_t tid)
{
    size_t low = 0, high = translator->thread_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (translator->threads[middle] < tid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < translator->thread_count && translator->threads[low] == tid)
        return;
    if (translator->thread_count == translator->thread_capacity) {
        size_t next = translator->thread_capacity ? translator->thread_capacity * 2 : 64;
        int64_t *moved = realloc(translator->threads, next * sizeof *moved);
        if (!moved)
            return;
        translator->threads = moved;
        translator->thread_capacity = next;
    }
    memmove(translator->threads + low + 1, translator->threads + low,
            (translator->thread_count - low) * sizeof *translator->threads);
    translator->threads[low] = tid;
    translator->thread_count++;

    struct thread_name thread = { .tid = tid };
    own_files_run(translator->files, read_thread_name, &thread);
    translate_thread_name(translator, tid, thread.name, strlen(thread.name));
}

static void add_kernel(struct translator *translator, const CUpti_ActivityKernel8 *kernel)
{
    RECORD(KERNEL);
    values[TPAFILE_KERNEL_START] = (int64_t)kernel->start;
    values[TPAFILE_KERNEL_DURATION] = duration(kernel->start, kernel->end);
    values[TPAFILE_KERNEL_CORRELATION] = kernel->correlationId;
    values[TPAFILE_KERNEL_NAME] = translate_text(translator, kernel->name);
    values[TPAFILE_KERNEL_DEVICE] = kernel->deviceId;
    values[TPAFILE_KERNEL_CONTEXT] = kernel->contextId;
    values[TPAFILE_KERNEL_STREAM] = kernel->streamId;
    values[TPAFILE_KERNEL_GRID_X] = kernel->gridX;
    values[TPAFILE_KERNEL_GRID_Y] = kernel->gridY;
    values[TPAFILE_KERNEL_GRID_Z] = kernel->gridZ;
    values[TPAFILE_KERNEL_BLOCK_X] = kernel->blockX;
    values[TPAFILE_KERNEL_BLOCK_Y] = kernel->blockY;
    values[TPAFILE_KERNEL_BLOCK_Z] = kernel->blockZ;
    values[TPAFILE_KERNEL_REGISTERS] = kernel->registersPerThread;
    values[TPAFILE_KERNEL_STATIC_SHARED] = kernel->staticSharedMemory;
    values[TPAFILE_KERNEL_DYNAMIC_SHARED] = kernel->dynamicSharedMemory;
    values[TPAFILE_KERNEL_GRAPH] = kernel->graphId;
    values[TPAFILE_KERNEL_GRAPH_NODE] = (int64_t)kernel->graphNodeId;
    if (kernel->queued != CUPTI_TIMESTAMP_UNKNOWN)
        values[TPAFILE_KERNEL_QUEUED] = (int64_t)kernel->queued;
    if (kernel->submitted != CUPTI_TIMESTAMP_UNKNOWN)
        values[TPAFILE_KERNEL_SUBMITTED] = (int64_t)kernel->submitted;
    values[TPAFILE_KERNEL_LOCAL_PER_THREAD] = kernel->localMemoryPerThread;
    values[TPAFILE_KERNEL_LAUNCH_TYPE] = kernel->launchType;
    values[TPAFILE_KERNEL_CHANNEL] = kernel->channelID;
    values[TPAFILE_KERNEL_CLUSTER_X] = kernel->clusterX;
    values[TPAFILE_KERNEL_CLUSTER_Y] = kernel->clusterY;
    values[TPAFILE_KERNEL_CLUSTER_Z] = kernel->clusterZ;
    values[TPAFILE_KERNEL_SHARED_EXECUTED] = kernel->sharedMemoryExecuted;
    ADD(KERNEL);
}

/* The common fields of a copy on one device and a copy between two, whose structs differ. */
#define FILL_COPY(copy)                                                                                      \
    do {                                                                                                     \
        values[TPAFILE_MEMCPY_START] = (int64_t)(copy)->start;                                               \
        values[TPAFILE_MEMCPY_DURATION] = duration((copy)->start, (copy)->end);                              \
        values[TPAFILE_MEMCPY_CORRELATION] = (copy)->correlationId;                                          \
        values[TPAFILE_MEMCPY_KIND] = (copy)->copyKind;                                                      \
        values[TPAFILE_MEMCPY_BYTES] = (int64_t)(copy)->bytes;                                               \
        values[TPAFILE_MEMCPY_SOURCE_KIND] = (copy)->srcKind;                                                \
        values[TPAFILE_MEMCPY_TARGET_KIND] = (copy)->dstKind;                                                \
        values[TPAFILE_MEMCPY_DEVICE] = (copy)->deviceId;                                                    \
        values[TPAFILE_MEMCPY_CONTEXT] = (copy)->contextId;                                                  \
        values[TPAFILE_MEMCPY_STREAM] = (copy)->streamId;                                                    \
        values[TPAFILE_MEMCPY_FLAGS] = (copy)->flags;                                                        \
        values[TPAFILE_MEMCPY_GRAPH] = (copy)->graphId;                                                      \
        values[TPAFILE_MEMCPY_GRAPH_NODE] = (int64_t)(copy)->graphNodeId;                                    \
        values[TPAFILE_MEMCPY_CHANNEL] = (copy)->channelID;                                                  \
    } while (0)

static void add_memcpy(struct translator *translator, const CUpti_ActivityMemcpy5 *copy)
{
    RECORD(MEMCPY);
    FILL_COPY(copy);
    ADD(MEMCPY);
}

static void add_peer_copy(struct translator *translator, const CUpti_ActivityMemcpyPtoP4 *copy)
{
    RECORD(MEMCPY);
    FILL_COPY(copy);
    values[TPAFILE_MEMCPY_SOURCE_DEVICE] = copy->srcDeviceId;
    values[TPAFILE_MEMCPY_TARGET_DEVICE] = copy->dstDeviceId;
    values[TPAFILE_MEMCPY_SOURCE_CONTEXT] = copy->srcContextId;
    values[TPAFILE_MEMCPY_TARGET_CONTEXT] = copy->dstContextId;
    ADD(MEMCPY);
}

static void add_memset(struct translator *translator, const CUpti_ActivityMemset4 *set)
{
    RECORD(MEMSET);
    values[TPAFILE_MEMSET_START] = (int64_t)set->start;
    values[TPAFILE_MEMSET_DURATION] = duration(set->start, set->end);
    values[TPAFILE_MEMSET_CORRELATION] = set->correlationId;
    values[TPAFILE_MEMSET_BYTES] = (int64_t)set->bytes;
    values[TPAFILE_MEMSET_VALUE] = set->value;
    values[TPAFILE_MEMSET_MEMORY_KIND] = set->memoryKind;
    values[TPAFILE_MEMSET_DEVICE] = set->deviceId;
    values[TPAFILE_MEMSET_CONTEXT] = set->contextId;
    values[TPAFILE_MEMSET_STREAM] = set->streamId;
    values[TPAFILE_MEMSET_FLAGS] = set->flags;
    values[TPAFILE_MEMSET_GRAPH] = set->graphId;
    values[TPAFILE_MEMSET_GRAPH_NODE] = (int64_t)set->graphNodeId;
    values[TPAFILE_MEMSET_CHANNEL] = set->channelID;
    ADD(MEMSET);
}

static void name_call(struct translator *translator, enum capture_api api, uint32_t cbid)
{
    translator->named[api][cbid] = true;
    RECORD(FUNCTION);
    values[TPAFILE_FUNCTION_API] = api;
    values[TPAFILE_FUNCTION_CBID] = cbid;
    values[TPAFILE_FUNCTION_NAME] = translate_text(translator, translator->calls->names[api][cbid]);
    ADD(FUNCTION);
}

static void add_call(struct translator *translator, const CUpti_ActivityAPI *call)
{
    enum capture_api api =
        call->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CAPTURE_API_RUNTIME : CAPTURE_API_DRIVER;
    if (call->cbid < CAPTURE_MOST_CALLS) {
        bool named = translator->calls->names[api][call->cbid] != NULL;
        if (named && !translator->calls->wanted[api][call->cbid])
            return;
        if (named && !translator->named[api][call->cbid])
            name_call(translator, api, call->cbid);
    }
    translate_thread(translator, call->threadId);
    RECORD(API);
    values[TPAFILE_API_START] = (int64_t)call->start;
    values[TPAFILE_API_DURATION] = duration(call->start, call->end);
    values[TPAFILE_API_CORRELATION] = call->correlationId;
    values[TPAFILE_API_API] = api;
    values[TPAFILE_API_CBID] = call->cbid;
    values[TPAFILE_API_THREAD] = call->threadId;
    values[TPAFILE_API_RESULT] = call->returnValue;
    ADD(API);
}

static void add_sync(struct translator *translator, const CUpti_ActivitySynchronization *sync)
{
    RECORD(SYNC);
    values[TPAFILE_SYNC_START] = (int64_t)sync->start;
    values[TPAFILE_SYNC_DURATION] = duration(sync->start, sync->end);
    values[TPAFILE_SYNC_CORRELATION] = sync->correlationId;
    values[TPAFILE_SYNC_TYPE] = sync->type;
    values[TPAFILE_SYNC_CONTEXT] = sync->contextId;
    values[TPAFILE_SYNC_STREAM] = unless(sync->streamId, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
    values[TPAFILE_SYNC_EVENT] = unless(sync->cudaEventId, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
    ADD(SYNC);
}

static void add_memory(struct translator *translator, const CUpti_ActivityMemory3 *memory)
{
    RECORD(MEMORY);
    values[TPAFILE_MEMORY_TIME] = (int64_t)memory->timestamp;
    values[TPAFILE_MEMORY_OPERATION] = memory->memoryOperationType;
    values[TPAFILE_MEMORY_ADDRESS] = (int64_t)memory->address;
    values[TPAFILE_MEMORY_BYTES] = (int64_t)memory->bytes;
    values[TPAFILE_MEMORY_MEMORY_KIND] = memory->memoryKind;
    values[TPAFILE_MEMORY_DEVICE] = unless(memory->deviceId, UINT32_MAX);
    values[TPAFILE_MEMORY_CONTEXT] = unless(memory->contextId, CUPTI_INVALID_CONTEXT_ID);
    values[TPAFILE_MEMORY_STREAM] = unless(memory->streamId, CUPTI_INVALID_STREAM_ID);
    values[TPAFILE_MEMORY_CORRELATION] = memory->correlationId;
    values[TPAFILE_MEMORY_ASYNCHRONOUS] = memory->isAsync;
    if (memory->memoryPoolConfig.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID) {
        values[TPAFILE_MEMORY_POOL_TYPE] = memory->memoryPoolConfig.memoryPoolType;
        values[TPAFILE_MEMORY_POOL] = (int64_t)memory->memoryPoolConfig.address;
        values[TPAFILE_MEMORY_POOL_SIZE] = (int64_t)memory->memoryPoolConfig.pool.size;
        values[TPAFILE_MEMORY_POOL_USED] = (int64_t)memory->memoryPoolConfig.utilizedSize;
    }
    ADD(MEMORY);
}

static void add_graph(struct translator *translator, const CUpti_ActivityGraphTrace *graph)
{
    RECORD(GRAPH);
    values[TPAFILE_GRAPH_START] = (int64_t)graph->start;
    values[TPAFILE_GRAPH_DURATION] = duration(graph->start, graph->end);
    values[TPAFILE_GRAPH_CORRELATION] = graph->correlationId;
    values[TPAFILE_GRAPH_GRAPH] = graph->graphId;
    values[TPAFILE_GRAPH_DEVICE] = graph->deviceId;
    values[TPAFILE_GRAPH_CONTEXT] = graph->contextId;
    values[TPAFILE_GRAPH_STREAM] = graph->streamId;
    ADD(GRAPH);
}

static void add_external(struct translator *translator, const CUpti_ActivityExternalCorrelation *external)
{
    RECORD(EXTERNAL);
    values[TPAFILE_EXTERNAL_CORRELATION] = external->correlationId;
    values[TPAFILE_EXTERNAL_KIND] = external->externalKind;
    values[TPAFILE_EXTERNAL_ID] = (int64_t)external->externalId;
    ADD(EXTERNAL);
}

static void add_overhead(struct translator *translator, const CUpti_ActivityOverhead *overhead)
{
    /* Most values are in the upper half of the word. */
    static const char *const names[] = { NULL,
                                         "Buffer Flush",
                                         "Instrumentation",
                                         "Resource",
                                         "Runtime Triggered Module Loading",
                                         "Lazy Function Loading",
                                         "Command Buffer Full",
                                         "Activity Buffer Request",
                                         "UVM Activity Init" };
    uint32_t upper = (uint32_t)overhead->overheadKind >> 16;
    RECORD(OVERHEAD);
    values[TPAFILE_OVERHEAD_START] = (int64_t)overhead->start;
    values[TPAFILE_OVERHEAD_DURATION] = duration(overhead->start, overhead->end);
    values[TPAFILE_OVERHEAD_KIND] = overhead->overheadKind;
    values[TPAFILE_OVERHEAD_NAME] = translate_text(
        translator, overhead->overheadKind == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER ? "Driver Compiler"
                    : upper < sizeof names / sizeof *names                            ? names[upper]
                                                                                      : NULL);
    if (overhead->end > overhead->start)
        translator->overhead_ns += (int64_t)(overhead->end - overhead->start);
    if (overhead->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) {
        values[TPAFILE_OVERHEAD_THREAD] = overhead->objectId.pt.threadId;
        translate_thread(translator, overhead->objectId.pt.threadId);
    }
    ADD(OVERHEAD);
}

/* Other users of the device, and what is unknown because of them. */
static void describe_sharing(const CUpti_ActivityDevice4 *device)
{
    if (device->isMigEnabled)
        notes_add(
            "mig",
            "device %u is a slice of a GPU (MIG instance %u.%u): only its own work is recorded, and its peaks "
            "(bandwidth, clock, number of SMs) may be those of the whole GPU",
            device->id, device->gpuInstanceId, device->computeInstanceId);
    if (driver_attribute((int)device->id, DRIVER_MPS_ENABLED) == 1)
        notes_add(
            "mps",
            "device %u is shared by MPS: only this process's work is recorded, and where its kernels are "
            "slow or the device is idle, kernels of another process may have run",
            device->id);
}

static void add_device(struct translator *translator, const CUpti_ActivityDevice4 *device)
{
    char uuid[48] = "GPU-";
    size_t at = 4;
    for (size_t i = 0; i < 16; i++)
        at += (size_t)snprintf(uuid + at, sizeof uuid - at,
                               i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                               (unsigned)(unsigned char)device->uuid.bytes[i]);
    RECORD(DEVICE);
    values[TPAFILE_DEVICE_DEVICE] = device->id;
    values[TPAFILE_DEVICE_NAME] = translate_text(translator, device->name);
    values[TPAFILE_DEVICE_UUID] = translate_text(translator, uuid);
    values[TPAFILE_DEVICE_TOTAL_MEMORY] = (int64_t)device->globalMemorySize;
    values[TPAFILE_DEVICE_COMPUTE_MAJOR] = device->computeCapabilityMajor;
    values[TPAFILE_DEVICE_COMPUTE_MINOR] = device->computeCapabilityMinor;
    values[TPAFILE_DEVICE_SM_COUNT] = device->numMultiprocessors;
    values[TPAFILE_DEVICE_WARP_SIZE] = device->numThreadsPerWarp;
    values[TPAFILE_DEVICE_MAX_THREADS_PER_SM] =
        (int64_t)device->maxWarpsPerMultiprocessor * device->numThreadsPerWarp;
    values[TPAFILE_DEVICE_MAX_THREADS_PER_BLOCK] = device->maxThreadsPerBlock;
    values[TPAFILE_DEVICE_REGISTERS_PER_SM] = device->maxRegistersPerMultiprocessor;
    values[TPAFILE_DEVICE_SHARED_PER_SM] = device->maxSharedMemoryPerMultiprocessor;
    values[TPAFILE_DEVICE_CLOCK_KHZ] = device->coreClockRate;
    values[TPAFILE_DEVICE_BANDWIDTH] = (int64_t)device->globalMemoryBandwidth;
    values[TPAFILE_DEVICE_L2_BYTES] = device->l2CacheSize;
    ADD(DEVICE);
    describe_sharing(device);
}

static void add_context(struct translator *translator, const CUpti_ActivityContext *context)
{
    RECORD(CONTEXT);
    values[TPAFILE_CONTEXT_CONTEXT] = context->contextId;
    values[TPAFILE_CONTEXT_DEVICE] = context->deviceId;
    values[TPAFILE_CONTEXT_NULL_STREAM] = context->nullStreamId;
    values[TPAFILE_CONTEXT_API] = context->computeApiKind;
    ADD(CONTEXT);
}

static void add_stream(struct translator *translator, const CUpti_ActivityStream *stream)
{
    RECORD(STREAM);
    values[TPAFILE_STREAM_STREAM] = stream->streamId;
    values[TPAFILE_STREAM_CONTEXT] = stream->contextId;
    values[TPAFILE_STREAM_PRIORITY] = (int32_t)stream->priority;
    values[TPAFILE_STREAM_FLAGS] = stream->flag;
    ADD(STREAM);
}

static void add_record(struct translator *translator, const CUpti_Activity *record)
{
    /* Through void *: the records are packed, and aligned to 8 bytes. */
    const void *at = record;
    switch ((int)record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: add_kernel(translator, at); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY: add_memcpy(translator, at); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2: add_peer_copy(translator, at); break;
    case CUPTI_ACTIVITY_KIND_MEMSET: add_memset(translator, at); break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: add_call(translator, at); break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: add_sync(translator, at); break;
    case CUPTI_ACTIVITY_KIND_MEMORY2: add_memory(translator, at); break;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: add_graph(translator, at); break;
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: add_external(translator, at); break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD: add_overhead(translator, at); break;
    case CUPTI_ACTIVITY_KIND_DEVICE: add_device(translator, at); break;
    case CUPTI_ACTIVITY_KIND_CONTEXT: add_context(translator, at); break;
    case CUPTI_ACTIVITY_KIND_STREAM: add_stream(translator, at); break;
    default: translator->unknown++; break;
    }
}

static bool is_environment(const CUpti_Activity *record)
{
    return record->kind == CUPTI_ACTIVITY_KIND_DEVICE || record->kind == CUPTI_ACTIVITY_KIND_CONTEXT ||
           record->kind == CUPTI_ACTIVITY_KIND_STREAM;
}

static bool translate(struct translator *translator, uint8_t *bytes, size_t size, bool all)
{
    CUpti_Activity *record = NULL;
    CUptiResult result;
    while ((result = translator->cupti->cuptiActivityGetNextRecord(bytes, size, &record)) == CUPTI_SUCCESS)
        if (all || is_environment(record))
            add_record(translator, record);
    if (result == CUPTI_ERROR_INVALID_KIND)
        translator->unknown++; /* CUPTI itself could not continue */
    return !translator->failed;
}

bool translate_buffer(struct translator *translator, uint8_t *bytes, size_t size)
{
    return translate(translator, bytes, size, true);
}

bool translate_environment(struct translator *translator, uint8_t *bytes, size_t size)
{
    return translate(translator, bytes, size, false);
}
