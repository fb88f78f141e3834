/*
 * host_computing.h - when host threads compute, whatever communicates beside them.
 *
 *     const struct intervals *computing = &host_computing_of(trace)->threads[track];
 *     int64_t hidden_ns = intervals_length_within(computing, start_ns, end_ns);
 *
 * A region of a library that communicates on the host (gloo:send) lasts from its issue to its completion, while its thread goes on:
 * it stops no operator that lies in it. A thread computes in operators that do not communicate and have none within that does, as
 * their time may be waiting; in regions of code around operators (DistributedDataParallel.forward) where they call none.
 */
#ifndef TPA_DERIVE_HOST_COMPUTING_H
#define TPA_DERIVE_HOST_COMPUTING_H

#include "trace/intervals.h"
#include "trace/trace.h"

struct host_computing {
    struct intervals *threads; /* by track */
    size_t thread_count;
};

/* That of TRACE, derived when first requested. Borrowed; lives as long as TRACE. */
const struct host_computing *host_computing_of(const struct trace *trace);

#endif
