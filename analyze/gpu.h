/*
 * gpu.h - what the devices did with their time.
 *
 *     gpu_add_tables(trace, selection, GPU_ROWS_DEVICE, result);
 *
 * Each moment of a device's span counts once: it computes; else it communicates; else it copies; else it is idle.
 * docs/definitions.md has every figure.
 */
#ifndef TPA_ANALYZE_GPU_H
#define TPA_ANALYZE_GPU_H

#include "analyze/selection.h"
#include "base/result.h"
#include "trace/trace.h"

extern const struct trace_wants gpu_wants;

/* What makes a row. */
enum gpu_rows {
    GPU_ROWS_DEVICE,
    GPU_ROWS_STREAM, /* each stream for itself, as if it were a device */
    GPU_ROWS_STEP,   /* what of the device's span lies in each step's range on the host, and what in none */
};

/* Add the tables "devices", "efficiency" and "copies" to RESULT, and notices of what is special. */
void gpu_add_tables(const struct trace *trace, const struct selection *selection, enum gpu_rows rows,
                    struct result *result);

#endif
