/*
 * host_state.h - what blocked each host thread, as disjoint sets of intervals.
 *
 *     const struct host_state *host = host_state_of(trace);
 *     int64_t lost_ns = intervals_length_within(&host->threads[track].in[HOST_ALLOCATION], start_ns, end_ns);
 */
#ifndef TPA_DERIVE_HOST_STATE_H
#define TPA_DERIVE_HOST_STATE_H

#include "trace/intervals.h"
#include "trace/trace.h"

/* Recordings of XLA have what a thread calls of the runtime in a track of its own, beside that of its
 * functions. Such a track, with nothing but calls and their operators, waits while a thread of its file waits
 * until what devices compute is ready. */

/* In order of precedence: a moment counts for the first that applies. Calls come first, as they are innermost. */
enum host_activity {
    HOST_WAITING,       /* in a synchronisation or a blocking copy, as in host_waits.h */
    HOST_ALLOCATION,    /* in a call that allocates or frees memory of device or host */
    HOST_DATA_LOADING,  /* waiting for the next batch */
    HOST_COMMUNICATION, /* in an operator or annotation that communicates */
    HOST_ACTIVITIES
};

struct host_thread {
    struct intervals waiting;             /* as HOST_WAITING, with the overhead */
    struct intervals in[HOST_ACTIVITIES]; /* disjoint, and without the overhead of its file */
};

struct host_state {
    struct host_thread *threads; /* by track */
    size_t thread_count;
    struct intervals *overhead; /* by file: the profiler's own records */
    size_t file_count;
};

/* That of TRACE, derived when first requested; reads HOST_WAITS_WANTS. Borrowed; lives as long as TRACE. */
const struct host_state *host_state_of(const struct trace *trace);

/* Does a program of JAX, or XLA in one of its threads, wait for devices in a function of this name? */
bool host_blocks_until_ready(const char *name);

#endif
