/*
 * stream_waits.h - the calls that make a stream wait for an event: cudaStreamWaitEvent and similar ones.
 *
 *     const struct stream_waits *waits = stream_waits_of(trace);
 *     event_id call = stream_waits_before(waits, launch, stream, last_launch_ns);   // EVENT_NONE: none
 */
#ifndef TPA_DERIVE_STREAM_WAITS_H
#define TPA_DERIVE_STREAM_WAITS_H

#include "derive/attribution.h"

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

/*
 * The last call of the thread of LAUNCH, after AFTER_NS and before LAUNCH began, that makes STREAM or an unrecorded
 * stream wait; EVENT_NONE if there is none. Checks only the last 256 calls.
 */
event_id stream_waits_before(const struct stream_waits *waits, event_id launch, track_id stream,
                             int64_t after_ns);

#endif
