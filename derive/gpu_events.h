/*
 * gpu_events.h - the devices of a trace, and the work of each in order of its start.
 *
 *     const struct gpu_events *gpu = gpu_events_of(trace);
 *     for (size_t d = 0; d < gpu->device_count; d++)
 *         for (size_t i = gpu->devices[d].first; i < gpu->devices[d].first + gpu->devices[d].count; i++)
 *             if (gpu->work[i] == GPU_MEMCPY)
 *                 copies_ns += trace_dur_ns(trace, gpu->event[i]);
 *
 * Work is what occupies a device: kernels, copies, memsets. Work without a launch in the file is included. Device 0 of
 * one file is not device 0 of another: each rank has its own devices.
 */
#ifndef TPA_DERIVE_GPU_EVENTS_H
#define TPA_DERIVE_GPU_EVENTS_H

#include "derive/attribution.h"

/* A kernel communicates by its name, if it has the arguments of a collective, or if the operator that launched it
 * communicates. */
enum gpu_work {
    GPU_COMPUTATION,
    GPU_NCCL,          /* communicates, with nccl or rccl in its name */
    GPU_COMMUNICATION, /* communicates by any other means */
    GPU_MEMCPY,
    GPU_MEMSET,
    GPU_WORK_KINDS
};

struct gpu_device {
    uint32_t file;
    int32_t id;
    const struct trace_device *properties; /* NULL if not recorded */
    size_t first, count;                   /* of gpu_events.event */
    uint32_t stream_count;
};

struct gpu_events {
    const struct trace *trace;  /* borrowed */
    struct gpu_device *devices; /* by file and id */
    size_t device_count;
    event_id *event; /* device after device; by start, then in order of the file */
    uint8_t *work;   /* enum gpu_work, beside event */
    event_id *call;  /* beside event: the call that launched it; EVENT_NONE: not in the file */
    event_id *op;    /* beside event: the operator that made the call; EVENT_NONE: none is known */
    size_t count;
    uint32_t *device_of_track; /* index into devices; UINT32_MAX: no work on this track */
};

#define GPU_EVENTS_WANTS (ATTRIBUTION_WANTS | WANT(COLLECTIVE))

/* Is WORK, an enum gpu_work, communication? */
static inline bool gpu_work_communicates(uint8_t work)
{
    return work == GPU_NCCL || work == GPU_COMMUNICATION;
}

/* Is WORK, an enum gpu_work, a kernel, not a copy or memset? */
static inline bool gpu_work_is_kernel(uint8_t work)
{
    return work <= GPU_COMMUNICATION;
}

/* The first device of FILE or of a later one, as an index into devices; device_count when there is none. */
size_t gpu_first_device(const struct gpu_events *gpu, uint32_t file);

/* The work of one stream, for analyses by stream. */
struct gpu_stream {
    uint32_t device; /* of gpu_events.devices */
    track_id track;
    size_t first, count; /* of gpu_streams.position */
};

struct gpu_streams {
    struct gpu_stream *at; /* by device, then in order of the tracks; those with work */
    size_t count;
    uint32_t *position; /* of the work in gpu_events.event: stream after stream, each by start */
};

/* New; free with arena_free (NULL is allowed). One pass over the work. */
struct gpu_streams *gpu_streams_open(const struct gpu_events *gpu);

/* Those of gpu_events_of(TRACE), computed when first requested. Borrowed; live as long as TRACE. */
const struct gpu_streams *gpu_streams_of(const struct trace *trace);

/* Those of TRACE, with its launches, computed when first requested. Borrowed; live as long as TRACE. */
const struct gpu_events *gpu_events_of(const struct trace *trace);

/* How people call the devices of TRACE: "GPU", "TPU", "NPU" ... */
const char *trace_device_word(const struct trace *trace);

#endif
