/*
 * transfers.h - what was copied between host and devices, how fast, and who had to wait for it.
 *
 *     transfers_add_tables(trace, selection, TRANSFERS_BY_KIND, result);
 */
#ifndef TPA_ANALYZE_TRANSFERS_H
#define TPA_ANALYZE_TRANSFERS_H

#include "analyze/selection.h"
#include "base/result.h"
#include "trace/trace.h"

extern const struct trace_wants transfers_wants;

/* What makes a row of the table of transfers besides device, direction and host memory. */
enum transfers_by {
    TRANSFERS_BY_KIND, /* nothing */
    TRANSFERS_BY_RANK, /* nothing; but of the waits the rank */
    TRANSFERS_BY_STREAM,
    TRANSFERS_BY_STEP, /* in which the copy was launched */
    TRANSFERS_BY_OPERATOR,
};

/*
 * Add the tables "transfers" (per device, direction and host memory) and "stalls" (per operator, line and cause, the
 * costliest first) to RESULT.
 */
void transfers_add_tables(const struct trace *trace, const struct selection *selection, enum transfers_by by,
                          struct result *result);

#endif
