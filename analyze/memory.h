/*
 * memory.h - where memory peaked, what was alive then, and which operators allocate.
 *
 *     memory_add_tables(trace, selection, &(struct memory_options){ 0 }, result);
 */
#ifndef TPA_ANALYZE_MEMORY_H
#define TPA_ANALYZE_MEMORY_H

#include "analyze/selection.h"
#include "base/table.h"
#include "trace/trace.h"

struct memory_options {
    struct ranges devices; /* only these, and the host; zero-initialised: all */
    bool brief;            /* only the tables "memory" and "steps" */
};

extern const struct trace_wants memory_wants;

/*
 * Add the tables "memory" (per device and for the host), "alive" (at the peak, by operator), "operators" (what each
 * allocates and frees), "steps" (growth; when there are steps) and "unfreed" (blocks that lived on) to RESULT.
 */
void memory_add_tables(const struct trace *trace, const struct selection *selection,
                       const struct memory_options *options, struct result *result);

#endif
