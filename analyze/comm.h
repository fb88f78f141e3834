/*
 * comm.h - collectives: how large, how fast, how much of them shows, and, over several ranks, who waited for whom.
 *
 *     struct comm_options options = { .by = COMM_BY_DEFAULT };
 *     if (!comm_add_tables(trace, selection, &options, result, &err))
 *         ...                                           // filter or exclude is no regular expression
 */
#ifndef TPA_ANALYZE_COMM_H
#define TPA_ANALYZE_COMM_H

#include "analyze/selection.h"
#include "base/error.h"
#include "base/result.h"
#include "trace/trace.h"

extern const struct trace_wants comm_wants;

/* What tells rows apart. */
enum comm_dimension {
    COMM_COLLECTIVE = 1,
    COMM_LIBRARY = 2,
    COMM_GROUP = 4,
    COMM_TYPE = 8,
    COMM_SIZE = 16,
    COMM_OPERATOR = 32,
    COMM_KERNEL = 64,
    COMM_RANK = 128,
    COMM_DEVICE = 256,
    COMM_STREAM = 512,
    COMM_STEP = 1024,
    COMM_BY_DEFAULT = COMM_COLLECTIVE | COMM_LIBRARY | COMM_GROUP | COMM_TYPE | COMM_SIZE,
};

struct comm_options {
    unsigned by; /* enum comm_dimension, or-ed */
    /* Regular expressions; NULL: none. They look at the collective ("all_reduce"), the kernel and the operator. */
    const char *filter, *exclude;
};

/*
 * Add the table "collectives", most time first; where collectives of several ranks are found to be the same, also
 * "ranks" and "waits", longest waited for first. SELECTION must select no names; it looks at when a collective was
 * issued. False and ERR when an expression is wrong.
 */
bool comm_add_tables(const struct trace *trace, const struct selection *selection,
                     const struct comm_options *options, struct result *result, struct tpa_error *err);

#endif
