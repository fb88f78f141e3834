/*
 * gpu.h - what the devices did with their time.
 *
 *     gpu_add_tables(trace, selection, false, result);
 *
 * Each moment of a device's span counts once: it computes; else it communicates; else it copies; else it is idle.
 * docs/definitions.md has every figure.
 */
#ifndef TPA_ANALYZE_GPU_H
#define TPA_ANALYZE_GPU_H

#include "analyze/selection.h"
#include "base/table.h"
#include "trace/trace.h"

extern const struct trace_wants gpu_wants;

/*
 * Add the tables "devices", "efficiency" and "copies" to RESULT, and notices of what is special. With BY_STREAM each
 * stream is looked at for itself, as if it were a device.
 */
void gpu_add_tables(const struct trace *trace, const struct selection *selection, bool by_stream,
                    struct result *result);

#endif
