/*
 * host_state.h - what each host thread was held up by, as sets of moments.
 *
 *     struct host_state *host = host_state_open(trace);
 *     int64_t lost_ns = intervals_length_within(&host->threads[track].allocation, start_ns, end_ns);
 *     host_state_free(host);
 */
#ifndef TPA_FACTS_HOST_STATE_H
#define TPA_FACTS_HOST_STATE_H

#include "trace/intervals.h"
#include "trace/trace.h"

struct host_thread {
    struct intervals waiting;       /* in a synchronisation or a blocking copy */
    struct intervals allocation;    /* allocating or freeing memory of device or host */
    struct intervals data_loading;  /* waiting for the next batch */
    struct intervals communication; /* in an operator or annotation that communicates */
};

struct host_state {
    struct host_thread *threads; /* by track */
    size_t thread_count;
    struct intervals *overhead; /* by file: the profiler's own records */
    size_t file_count;
};

/* New; free with host_state_free (NULL is allowed). */
struct host_state *host_state_open(const struct trace *trace);
void host_state_free(struct host_state *host);

#endif
