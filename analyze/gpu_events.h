/*
 * gpu_events.h - the devices of a trace, and the work of each in order of its start.
 *
 *     struct gpu_events *gpu = gpu_events_open(trace, launches);
 *     for (size_t d = 0; d < gpu->device_count; d++)
 *         for (size_t i = gpu->devices[d].first; i < gpu->devices[d].first + gpu->devices[d].count; i++)
 *             if (gpu->work[i] == GPU_MEMCPY)
 *                 copies_ns += trace->dur_ns[gpu->event[i]];
 *     gpu_events_free(gpu);
 *
 * Work is what occupies a device: kernels, copies, memsets. Work whose launch is not in the file is there like any
 * other. Device 0 of one file is not device 0 of another: ranks have devices of their own.
 */
#ifndef TPA_ANALYZE_GPU_EVENTS_H
#define TPA_ANALYZE_GPU_EVENTS_H

#include "trace/launches.h"
#include "trace/trace.h"

/* A kernel communicates when its name says so, when it carries the arguments of a collective, or when the operator
 * that launched it is one that communicates. */
enum gpu_work {
    GPU_COMPUTATION,
    GPU_NCCL,          /* communicates, and is called nccl or rccl */
    GPU_COMMUNICATION, /* communicates by any other means */
    GPU_MEMCPY,
    GPU_MEMSET,
};

struct gpu_device {
    uint32_t file;
    int32_t id;
    const struct trace_device *properties; /* NULL when the file tells none */
    size_t first, count;                   /* of gpu_events.event */
    uint32_t stream_count;
};

struct gpu_events {
    const struct trace *trace;  /* borrowed */
    struct gpu_device *devices; /* by file and id */
    size_t device_count;
    event_id *event; /* device after device; by start, then in order of the file */
    uint8_t *work;   /* enum gpu_work, beside event */
    size_t count;
    uint32_t *device_of_track; /* index into devices; UINT32_MAX: no work on this track */
};

#define GPU_EVENTS_WANTS (LAUNCHES_WANTS | WANT(COLLECTIVE))

static inline bool gpu_work_communicates(uint8_t work)
{
    return work == GPU_NCCL || work == GPU_COMMUNICATION;
}

static inline bool gpu_work_is_kernel(uint8_t work)
{
    return work <= GPU_COMMUNICATION;
}

/* New; free with gpu_events_free (NULL is allowed). LAUNCHES is read only here. */
struct gpu_events *gpu_events_open(const struct trace *trace, const struct launches *launches);
void gpu_events_free(struct gpu_events *gpu);

#endif
