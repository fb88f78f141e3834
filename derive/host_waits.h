/*
 * host_waits.h - the calls in which a host thread was blocked, and what it waited for.
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
#ifndef TPA_DERIVE_HOST_WAITS_H
#define TPA_DERIVE_HOST_WAITS_H

#include "derive/gpu_events.h"

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

#endif
