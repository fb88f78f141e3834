/*
 * kernels.h - one row per kernel: how often, how long, how launched, by which operators.
 *
 *     struct kernels_options options = { .by = KERNELS_BY_NAME };
 *     kernels_add_table(trace, selection, &options, result);
 */
#ifndef TPA_ANALYZE_KERNELS_H
#define TPA_ANALYZE_KERNELS_H

#include "analyze/selection.h"
#include "base/table.h"
#include "trace/trace.h"

extern const struct trace_wants kernels_wants;

/* What makes a row, besides the name. */
enum kernels_by {
    KERNELS_BY_NAME,
    KERNELS_BY_SHAPE, /* grid, block, registers, shared memory */
    KERNELS_BY_OPERATOR,
    KERNELS_BY_DEVICE,
    KERNELS_BY_STREAM,
    KERNELS_BY_STEP, /* in which it was launched */
};

struct kernels_options {
    enum kernels_by by;
};

/* Add the table "kernels" to RESULT, largest total first. */
void kernels_add_table(const struct trace *trace, const struct selection *selection,
                       const struct kernels_options *options, struct result *result);

#endif
