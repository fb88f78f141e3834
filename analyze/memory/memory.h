/*
 * memory.h - where memory peaked, what was alive then, and which operators allocate.
 *
 *     memory_add_tables(trace, selection, &(struct memory_options){ 0 }, result);
 */
#ifndef TPA_ANALYZE_MEMORY_MEMORY_H
#define TPA_ANALYZE_MEMORY_MEMORY_H

#include "analyze/selection.h"
#include "base/result.h"
#include "trace/trace.h"

/* What tells blocks apart that were allocated on one device. */
enum memory_by {
    MEMORY_BY_OPERATOR,
    MEMORY_BY_MODULE, /* the innermost nn.Module, as in code_paths.h */
    MEMORY_BY_LINE,   /* the innermost function outside PyTorch, likewise */
    MEMORY_BY_STEP,
    MEMORY_BY_THREAD, /* of the host */
    MEMORY_BY_DEVICE, /* nothing */
};

struct memory_options {
    enum memory_by by;
    bool filtered; /* only operators with certain names were asked for: what is in none is none of them */
    struct ranges devices; /* only these, and the host; zero-initialised: all */
    bool brief;            /* only the tables "memory" and "steps", and no operator in them */
};

/* What the reader must decode; by module and line it is more. */
extern const struct trace_wants memory_wants, memory_code_wants;

/*
 * Add the tables "memory" (per device and for the host), "alive" (at the peak, by operator), "operators" (what each
 * allocates and frees; by anything else "allocations"), "steps" (growth; when there are steps) and "unfreed" (blocks
 * that lived on) to RESULT.
 */
void memory_add_tables(const struct trace *trace, const struct selection *selection,
                       const struct memory_options *options, struct result *result);

#endif
