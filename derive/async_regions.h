/*
 * async_regions.h - host regions that belong to no thread's stack, as far as a file records it.
 *
 *     const struct open_regions *open = open_regions_of(trace);
 *     int64_t end_ns = region_end_ns(trace, open, e);       // where torch ends E
 *
 * torch calls a region asynchronous if it was flagged so, if it ends on another thread than it began on, or if it was
 * still open when recording stopped. Only the last is in the file. c10d flags its regions, which are recognised by
 * name.
 *
 * A region that was open at the end is written up to the end of the window, or beyond it. torch ends it with the
 * innermost completed region around its start on that thread (an operator, annotation or Python frame), or with the
 * window if there is none.
 */
#ifndef TPA_DERIVE_ASYNC_REGIONS_H
#define TPA_DERIVE_ASYNC_REGIONS_H

#include "trace/trace.h"

/* Is NAME like those that c10d's backends give their regions: nccl:all_reduce, gloo:broadcast? */
bool is_async_by_name(const char *name);

/* Was region E (an operator or annotation) open when recording stopped, by its mark or because it ends after the
 * window? */
bool region_was_open(const struct trace *trace, event_id e);

struct open_region {
    event_id event;
    int64_t end_ns;
};

/* The regions of torch's traces that were open when recording stopped, by event. */
struct open_regions {
    VEC_OF(struct open_region);
};

/* Those of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
const struct open_regions *open_regions_of(const struct trace *trace);

/* The end of E in ns: as recorded, unless it is one of REGIONS. */
int64_t region_end_ns(const struct trace *trace, const struct open_regions *regions, event_id e);

#endif
