/* host_waits.h - waits of the host and of streams. */
#ifndef TPA_DERIVE_HOST_WAITS_H
#define TPA_DERIVE_HOST_WAITS_H

#include "derive/gpu_events.h"

/*
 * host_waits.c - the calls in which a host thread was blocked, and what it waited for.
 *
 *     const struct host_waits *waits = host_waits_of(trace);
 *     for (size_t i = 0; i < waits->count; i++)
 *         blocked_ns += trace_dur_ns(trace, waits->at[i].call);
 *
 * A host thread is blocked for as long as one of these calls lasts:
 *
 * - a synchronous copy (cudaMemcpy), or a copy of pageable memory by any call, since the driver has to stage it;
 * - a synchronisation. It waited for the work that ended last while it waited, among the work launched before it, on
 *   the stream that it synchronised with if recorded (cuda_sync events), else on all streams of the file. If that is a
 *   copy, the wait is for the copy;
 * - an allocation of pinned memory.
 *
 * A call inside another of its thread is part of that and not listed.
 */

enum host_wait_kind {
    WAIT_SYNC_COPY,     /* in a synchronous copy */
    WAIT_PAGEABLE_COPY, /* in an asynchronous copy of pageable memory */
    WAIT_FOR_COPY,      /* in a synchronisation, for a copy */
    WAIT_FOR_KERNEL,    /* in a synchronisation, for other work */
    WAIT_FOR_NOTHING,   /* in a synchronisation, although all work launched before had ended */
    WAIT_FOR_UNKNOWN, /* in a synchronisation, for work that is not in the file: it was lost, or none was recorded */
    WAIT_PINNING, /* in the allocation of pinned memory */
    WAIT_KINDS
};

struct host_wait {
    event_id call;
    event_id work; /* what it waited for; EVENT_NONE if unknown */
    enum host_wait_kind kind;
    /* A wait at an end of the recording, which the job does not repeat: */
    bool
        at_begin; /* before anything is launched in its file, or for work that was launched before the recording */
    bool at_end; /* after the last kernel was launched */
};

struct host_waits {
    VEC_OF(struct host_wait); /* by call */
};

#define HOST_WAITS_WANTS (GPU_EVENTS_WANTS | WANT(COPY_MEMORY))

/* Those of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
const struct host_waits *host_waits_of(const struct trace *trace);

/*
 * stream_waits.c - the calls that make a stream wait for an event: cudaStreamWaitEvent and similar ones.
 *
 *     const struct stream_waits *waits = stream_waits_of(trace);
 *     event_id call = stream_waits_before(waits, launch, stream, last_launch_ns);   // EVENT_NONE: none
 */

struct stream_wait {
    event_id call;
    track_id stream; /* the stream that waits; TRACK_NONE: not recorded (needs cuda_sync events) */
};

struct stream_waits {
    const struct trace *trace;
    VEC_OF(struct stream_wait); /* by thread of the call, then by its start */
};

/* Those of TRACE, derived when first requested; reads ATTRIBUTION_WANTS. Borrowed; live as long as TRACE. */
const struct stream_waits *stream_waits_of(const struct trace *trace);

/* The last call of the thread of LAUNCH, after AFTER_NS and before LAUNCH began, that makes STREAM or an unrecorded
 * stream wait; EVENT_NONE if there is none. Checks only the last 256 calls. */
event_id stream_waits_before(const struct stream_waits *waits, event_id launch, track_id stream,
                             int64_t after_ns);

/* Does an operator of this name read a number of a tensor? Of one on a device it waits for what computes it, also where no call that would
 * tell was recorded. */
bool operator_reads_scalar(const char *name);

#endif
