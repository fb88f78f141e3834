/*
 * roofline.h - how fast operators compute, against how much they compute for each byte that they move.
 *
 *     struct roofline roofline = roofline_analyze(trace, selection);
 *     struct roof roof = roof_of(trace);
 *     ...
 *     roofline_release(&roofline);
 *
 * Of the operators whose operations are known (flops.h), one row for each name, shapes and types of inputs. Their bytes
 * are the least that they must move: each input read once, the output written once. An operator that moves more, because
 * its data does not stay in the caches, lies below the roof for that reason, too.
 */
#ifndef TPA_ANALYZE_ROOFLINE_H
#define TPA_ANALYZE_ROOFLINE_H

#include "analyze/selection.h"
#include "base/arena.h"
#include "base/memory.h"
#include "base/table.h"
#include "trace/trace.h"

extern const struct trace_wants roofline_wants;

/* The calls of one operator with equal shapes and types of inputs. */
struct roofline_row {
    struct text name, shapes; /* borrowed from the trace; from the answer */
    int64_t calls, flops, bytes;
    int64_t
        time_ns; /* on devices, of all that the calls launched; where there are none, on the host; never 0 */
    double intensity; /* operations per byte */
    double gflops;    /* 10^9 operations per second */
};

struct roofline {
    VEC_OF(struct roofline_row) rows; /* the most time first */
    struct arena texts;
};

/* No rows when no operator tells shapes, types and time. Release with roofline_release. */
struct roofline roofline_analyze(const struct trace *trace, const struct selection *selection);
void roofline_release(struct roofline *roofline);

/* What a device can do at most, by its data sheet; 0: not known. */
struct roof {
    const char *device;   /* name of the device */
    double matrix_gflops; /* bfloat16 on tensor (matrix) cores, dense; where there is none, float16 */
    double vector_gflops; /* float32 without them */
    double bandwidth_gbs; /* of its memory */
};

/* Of the first device of TRACE that is known. */
struct roof roof_of(const struct trace *trace);

/* Of the device called NAME: "NVIDIA A100-SXM4-80GB". All 0 when it is not known. */
struct roof roof_of_device(const char *name);

#endif
