/*
 * unlinked_work.h - why the call that launched a piece of work is not known.
 *
 *     const struct unlinked_work *unlinked = unlinked_work_of(trace);
 *     if (gpu->call[i] == EVENT_NONE)
 *         count[unlinked_sort_of(unlinked, gpu->event[i])]++;
 *
 * A stream runs its work in the order of the launches. So work was launched before recording began only if no work on its
 * stream before it has a call in the file (on a stream whose work has none at all: if it began before all work of the file
 * that has one).
 */
#ifndef TPA_DERIVE_UNLINKED_WORK_H
#define TPA_DERIVE_UNLINKED_WORK_H

#include "derive/gpu_events.h"

enum unlinked_sort {
    UNLINKED_EARLY,     /* it was launched before recording began */
    UNLINKED_NO_NUMBER, /* it records no number of a call */
    UNLINKED_LOST, /* its call should be in the file and is not: it was lost, or such calls are not recorded */
    UNLINKED_SORTS
};

struct unlinked_work;

/* That of TRACE, computed when first requested. Borrowed; lives as long as TRACE. */
const struct unlinked_work *unlinked_work_of(const struct trace *trace);

/* Of E, work without a call. */
enum unlinked_sort unlinked_sort_of(const struct unlinked_work *unlinked, event_id e);

#endif
