/*
 * play_records.c - random records of every kind, and the lines that dump_log must print of them.
 *
 * Written from CUPTI's headers and docs/tpa-file.md, not from capture/translate.c, so that the two check each other.
 */
#include "tests/capture/play.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static uint32_t below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(next_random(state) >> 33) % bound;
}

/* Names as CUPTI hands them out: one pointer each. */
static const char *kernel_name(uint64_t *state)
{
    static const char *const names[] = {
        "_Z4axpyPfS_fi",
        "ampere_sgemm_128x64_nn",
        "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_15gelu_kernel_cudaERNS_18TensorIteratorBase",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "k\"quoted\"",
        "größe",
    };
    return names[below(state, sizeof names / sizeof *names)];
}

static void print_name(FILE *expect, const char *name)
{
    for (const char *c = name; *c; c++)
        fprintf(expect, *c == '"' ? "\\22" : "%c", *c);
}

static void play_kernel(uint64_t *state, uint64_t start, FILE *expect)
{
    bool graph = below(state, 4) == 0, open = below(state, 1000) == 0;
    fake_kernel kernel = {
        .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
        .start = start,
        .end = open ? 0 : start + below(state, 2000000),
        .correlationId = below(state, UINT32_MAX),
        .name = kernel_name(state),
        .deviceId = below(state, 8),
        .contextId = 1 + below(state, 3),
        .streamId = 7 + below(state, 40),
        .gridX = (int32_t)(1 + below(state, 70000)),
        .gridY = (int32_t)(1 + below(state, 3)),
        .gridZ = 1,
        .blockX = (int32_t)(32 * (1 + below(state, 32))),
        .blockY = 1,
        .blockZ = 1,
        .registersPerThread = (uint16_t)below(state, 256),
        .staticSharedMemory = (int32_t)below(state, 49152),
        .dynamicSharedMemory = (int32_t)below(state, 228 << 10),
        .localMemoryPerThread = below(state, 3),
        .graphId = graph ? 1 + below(state, 9) : 0,
        .graphNodeId = graph ? (UINT64_C(1) << 32) + below(state, 1000) : 0,
        .launchType = (uint8_t)below(state, 3),
        .channelID = below(state, 16),
        .clusterX = 1 + below(state, 2),
        .clusterY = 1,
        .clusterZ = 1,
        .sharedMemoryExecuted = below(state, 233472),
    };
    if (!fake_cupti_emit(&kernel))
        return;
    fprintf(expect, "KERNEL START=%" PRIu64, kernel.start);
    if (!open)
        fprintf(expect, " DURATION=%" PRIu64, kernel.end - kernel.start);
    fprintf(expect, " CORRELATION=%u NAME=\"", kernel.correlationId);
    print_name(expect, kernel.name);
    fprintf(
        expect,
        "\" DEVICE=%u CONTEXT=%u STREAM=%u GRID_X=%d GRID_Y=%d GRID_Z=%d BLOCK_X=%d BLOCK_Y=%d BLOCK_Z=%d "
        "REGISTERS=%u STATIC_SHARED=%d DYNAMIC_SHARED=%d GRAPH=%u GRAPH_NODE=%" PRIu64
        " LOCAL_PER_THREAD=%u LAUNCH_TYPE=%u CHANNEL=%u CLUSTER_X=%u CLUSTER_Y=%u CLUSTER_Z=%u "
        "SHARED_EXECUTED=%u\n",
        kernel.deviceId, kernel.contextId, kernel.streamId, kernel.gridX, kernel.gridY, kernel.gridZ,
        kernel.blockX, kernel.blockY, kernel.blockZ, kernel.registersPerThread, kernel.staticSharedMemory,
        kernel.dynamicSharedMemory, kernel.graphId, kernel.graphNodeId, kernel.localMemoryPerThread,
        kernel.launchType, kernel.channelID, kernel.clusterX, kernel.clusterY, kernel.clusterZ,
        kernel.sharedMemoryExecuted);
}

static void play_memcpy(uint64_t *state, uint64_t start, FILE *expect)
{
    fake_memcpy copy = {
        .kind = CUPTI_ACTIVITY_KIND_MEMCPY,
        .copyKind = (uint8_t)(1 + below(state, 8)),
        .srcKind = (uint8_t)(1 + below(state, 3)),
        .dstKind = (uint8_t)(1 + below(state, 3)),
        .flags = (uint8_t)below(state, 2),
        .bytes = (uint64_t)below(state, UINT32_MAX) * 5,
        .start = start,
        .end = start + 1 + below(state, 100000),
        .deviceId = below(state, 8),
        .contextId = 1,
        .streamId = 7 + below(state, 3),
        .correlationId = below(state, UINT32_MAX),
        .channelID = below(state, 4),
    };
    if (fake_cupti_emit(&copy))
        fprintf(expect,
                "MEMCPY START=%" PRIu64 " DURATION=%" PRIu64 " CORRELATION=%u KIND=%u BYTES=%" PRIu64
                " SOURCE_KIND=%u TARGET_KIND=%u DEVICE=%u CONTEXT=%u STREAM=%u FLAGS=%u GRAPH=0 GRAPH_NODE=0 "
                "CHANNEL=%u\n",
                copy.start, copy.end - copy.start, copy.correlationId, copy.copyKind, copy.bytes,
                copy.srcKind, copy.dstKind, copy.deviceId, copy.contextId, copy.streamId, copy.flags,
                copy.channelID);
}

static void play_peer_copy(uint64_t *state, uint64_t start, FILE *expect)
{
    CUpti_ActivityMemcpyPtoP4 copy = {
        .kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
        .copyKind = 10,
        .srcKind = 3,
        .dstKind = 3,
        .flags = 1,
        .bytes = next_random(state) >> 24,
        .start = start,
        .end = start + 5,
        .deviceId = below(state, 8),
        .contextId = 1,
        .streamId = 20,
        .srcDeviceId = below(state, 8),
        .srcContextId = 1,
        .dstDeviceId = below(state, 8),
        .dstContextId = 2,
        .correlationId = below(state, UINT32_MAX),
    };
    if (fake_cupti_emit(&copy))
        fprintf(expect,
                "MEMCPY START=%" PRIu64 " DURATION=5 CORRELATION=%u KIND=10 BYTES=%" PRIu64
                " SOURCE_KIND=3 TARGET_KIND=3 DEVICE=%u CONTEXT=1 STREAM=20 FLAGS=1 GRAPH=0 GRAPH_NODE=0 "
                "SOURCE_DEVICE=%u TARGET_DEVICE=%u SOURCE_CONTEXT=1 TARGET_CONTEXT=2 CHANNEL=0\n",
                copy.start, copy.correlationId, copy.bytes, copy.deviceId, copy.srcDeviceId,
                copy.dstDeviceId);
}

static void play_memset(uint64_t *state, uint64_t start, FILE *expect)
{
    CUpti_ActivityMemset4 set = {
        .kind = CUPTI_ACTIVITY_KIND_MEMSET,
        .value = below(state, 256),
        .bytes = next_random(state) >> 30,
        .start = start,
        .end = start + below(state, 5000),
        .deviceId = below(state, 8),
        .contextId = 1,
        .streamId = 7,
        .correlationId = below(state, UINT32_MAX),
        .flags = (uint16_t)below(state, 2),
        .memoryKind = 3,
    };
    if (fake_cupti_emit(&set))
        fprintf(
            expect,
            "MEMSET START=%" PRIu64 " DURATION=%" PRIu64 " CORRELATION=%u BYTES=%" PRIu64
            " VALUE=%u MEMORY_KIND=3 DEVICE=%u CONTEXT=1 STREAM=7 FLAGS=%u GRAPH=0 GRAPH_NODE=0 CHANNEL=0\n",
            set.start, set.end - set.start, set.correlationId, set.bytes, set.value, set.deviceId, set.flags);
}

/* cudaLaunchKernel, cudaMalloc, cuLaunchKernel, and two that only ask. */
static const struct {
    bool driver, wanted;
    uint32_t cbid;
} calls[] = {
    { false, true, 211 }, { false, true, 20 }, { true, true, 307 }, { false, false, 17 }, { true, false, 1 }
};

static void play_call(uint64_t *state, uint64_t start, uint32_t tid, FILE *expect)
{
    uint32_t which = below(state, sizeof calls / sizeof *calls);
    CUpti_ActivityAPI call = {
        .kind = calls[which].driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME,
        .cbid = calls[which].cbid,
        .start = start,
        .end = start + below(state, 30000),
        .processId = 1,
        .threadId = tid,
        .correlationId = below(state, UINT32_MAX),
        .returnValue = below(state, 50) == 0 ? 719 : 0,
    };
    fake_cupti_emit(&call);
    if (calls[which].wanted)
        fprintf(expect,
                "API START=%" PRIu64 " DURATION=%" PRIu64
                " CORRELATION=%u API=%d CBID=%u THREAD=%u RESULT=%u\n",
                call.start, call.end - call.start, call.correlationId, calls[which].driver, call.cbid, tid,
                call.returnValue);
}

static void play_sync(uint64_t *state, uint64_t start, FILE *expect)
{
    bool whole = below(state, 2);
    fake_sync sync = {
        .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
        .type = whole ? CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE
                      : CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
        .start = start,
        .end = start + 77,
        .correlationId = below(state, UINT32_MAX),
        .contextId = 1,
        .streamId = whole ? CUPTI_SYNCHRONIZATION_INVALID_VALUE : 9,
        .cudaEventId = whole ? CUPTI_SYNCHRONIZATION_INVALID_VALUE : 12,
    };
    if (fake_cupti_emit(&sync))
        fprintf(expect, "SYNC START=%" PRIu64 " DURATION=77 CORRELATION=%u TYPE=%d CONTEXT=1%s\n", sync.start,
                sync.correlationId, whole ? 4 : 2, whole ? "" : " STREAM=9 EVENT=12");
}

static void play_memory(uint64_t *state, uint64_t start, FILE *expect)
{
    bool pool = below(state, 3) == 0;
    fake_memory memory = {
        .kind = CUPTI_ACTIVITY_KIND_MEMORY2,
        .memoryOperationType = below(state, 2) ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
                                               : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
        .memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
        .correlationId = below(state, UINT32_MAX),
        .address = 0x7f0000000000 + ((uint64_t)below(state, 1 << 20) << 9),
        .bytes = (uint64_t)below(state, 1 << 22) << 9,
        .timestamp = start,
        .processId = 1,
        .deviceId = below(state, 8),
        .contextId = 1,
        .streamId = pool ? 13 : CUPTI_INVALID_STREAM_ID,
        .isAsync = pool,
    };
    if (pool) {
        memory.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
        memory.memoryPoolConfig.address = 0xabc000;
        memory.memoryPoolConfig.pool.size = 1 << 25;
        memory.memoryPoolConfig.utilizedSize = 4096;
    }
    if (!fake_cupti_emit(&memory))
        return;
    fprintf(expect,
            "MEMORY TIME=%" PRIu64 " OPERATION=%d ADDRESS=%" PRIu64 " BYTES=%" PRIu64
            " MEMORY_KIND=3 DEVICE=%u CONTEXT=1%s "
            "CORRELATION=%u%s ASYNCHRONOUS=%d\n",
            memory.timestamp, (int)memory.memoryOperationType, memory.address, memory.bytes, memory.deviceId,
            pool ? " STREAM=13" : "", memory.correlationId,
            pool ? " POOL_TYPE=1 POOL=11255808 POOL_SIZE=33554432 POOL_USED=4096" : "", pool);
}

static void play_other(uint64_t *state, uint64_t start, uint32_t tid, FILE *expect)
{
    uint32_t correlation = below(state, UINT32_MAX);
    switch (below(state, 3)) {
    case 0: {
        fake_graph graph = { .kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                             .correlationId = correlation,
                             .start = start,
                             .end = start + 900,
                             .deviceId = 1,
                             .graphId = 4,
                             .contextId = 1,
                             .streamId = 7 };
        if (fake_cupti_emit(&graph))
            fprintf(expect,
                    "GRAPH START=%" PRIu64
                    " DURATION=900 CORRELATION=%u GRAPH=4 DEVICE=1 CONTEXT=1 STREAM=7\n",
                    start, correlation);
        break;
    }
    case 1: {
        CUpti_ActivityExternalCorrelation external = { .kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                                       .externalKind =
                                                           CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0,
                                                       .externalId = next_random(state) >> 1,
                                                       .correlationId = correlation };
        if (fake_cupti_emit(&external))
            fprintf(expect, "EXTERNAL CORRELATION=%u KIND=%d ID=%" PRIu64 "\n", correlation,
                    (int)CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, external.externalId);
        break;
    }
    default: {
        fake_overhead overhead = { .kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
                                   .overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH,
                                   .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
                                   .start = start,
                                   .end = start + 11 };
        overhead.objectId.pt.processId = 1;
        overhead.objectId.pt.threadId = tid;
        if (fake_cupti_emit(&overhead))
            fprintf(expect,
                    "OVERHEAD START=%" PRIu64 " DURATION=11 KIND=65536 THREAD=%u NAME=\"Buffer Flush\"\n",
                    start, tid);
        break;
    }
    }
}

void play_record(uint64_t *state, uint64_t start, uint32_t tid, FILE *expect)
{
    uint32_t which = below(state, 100);
    if (which < 40)
        play_kernel(state, start, expect);
    else if (which < 80)
        play_call(state, start, tid, expect);
    else if (which < 85)
        play_memcpy(state, start, expect);
    else if (which < 87)
        play_peer_copy(state, start, expect);
    else if (which < 90)
        play_memset(state, start, expect);
    else if (which < 93)
        play_sync(state, start, expect);
    else if (which < 97)
        play_memory(state, start, expect);
    else
        play_other(state, start, tid, expect);
}

void play_environment(FILE *expect)
{
    fake_device device = { .kind = CUPTI_ACTIVITY_KIND_DEVICE,
                           .globalMemoryBandwidth = 3352320000,
                           .globalMemorySize = UINT64_C(85021163520),
                           .l2CacheSize = 52428800,
                           .numThreadsPerWarp = 32,
                           .coreClockRate = 1980000,
                           .numMultiprocessors = 132,
                           .maxWarpsPerMultiprocessor = 64,
                           .maxSharedMemoryPerMultiprocessor = 233472,
                           .maxRegistersPerMultiprocessor = 65536,
                           .maxThreadsPerBlock = 1024,
                           .computeCapabilityMajor = 9,
                           .id = 3,
                           .name = "NVIDIA H100 80GB HBM3" };
    device.isMigEnabled = getenv("FAKE_CUDA_MIG") != NULL;
    device.gpuInstanceId = 2;
    device.computeInstanceId = 1;
    for (int i = 0; i < 16; i++)
        device.uuid.bytes[i] = (char)(0x10 + i);
    fake_context context = { .kind = CUPTI_ACTIVITY_KIND_CONTEXT,
                             .contextId = 1,
                             .deviceId = 3,
                             .computeApiKind = 1,
                             .nullStreamId = 7 };
    CUpti_ActivityStream stream = { .kind = CUPTI_ACTIVITY_KIND_STREAM,
                                    .contextId = 1,
                                    .streamId = 13,
                                    .priority = (uint32_t)-5,
                                    .flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING };
    if (fake_cupti_emit(&device))
        fputs(
            "DEVICE DEVICE=3 NAME=\"NVIDIA H100 80GB HBM3\" UUID=\"GPU-10111213-1415-1617-1819-1a1b1c1d1e1f\" "
            "TOTAL_MEMORY=85021163520 COMPUTE_MAJOR=9 COMPUTE_MINOR=0 SM_COUNT=132 WARP_SIZE=32 "
            "MAX_THREADS_PER_SM=2048 MAX_THREADS_PER_BLOCK=1024 REGISTERS_PER_SM=65536 SHARED_PER_SM=233472 "
            "CLOCK_KHZ=1980000 BANDWIDTH=3352320000 L2_BYTES=52428800\n",
            expect);
    if (fake_cupti_emit(&context))
        fputs("CONTEXT CONTEXT=1 DEVICE=3 NULL_STREAM=7 API=1\n", expect);
    if (fake_cupti_emit(&stream))
        fprintf(expect, "STREAM STREAM=13 CONTEXT=1 PRIORITY=-5 FLAGS=%d\n",
                (int)CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
}
