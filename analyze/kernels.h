/*
 * kernels.h - one row per kernel: count, times, launch shape, launching operators.
 *
 *     struct kernels *kernels = kernels_analyze(trace, selection, BY(OP));
 *     for (size_t i = 0; i < kernels->count; i++)
 *         printf("%s %" PRId64 "\n", kernels->at[i].name.at, kernels->at[i].durations.total_ns);
 *     arena_free(kernels);
 */
#ifndef TPA_ANALYZE_KERNELS_H
#define TPA_ANALYZE_KERNELS_H

#include "analyze/analysis.h"
#include "derive/gpu_names.h"

extern const struct trace_wants kernels_wants;

/* The analysis's own words of --by, which add to the dimensions. */
#define KERNELS_BY_SHAPE BY_OWN(0) /* grid, block, registers, shared memory */

/* The durations of the runs of a row, in nanoseconds. */
struct kernel_durations {
    int64_t count;
    int64_t total_ns, average_ns, median_ns, min_ns, max_ns;
    int64_t stddev_ns; /* as of a sample */
};

struct kernel_row {
    struct text name; /* demangled */
    name_id name_id;  /* in the trace */
    struct group_key key;
    struct kernel_durations durations;
    double share; /* of the sum of all totals */
    enum tensor_use tensor_use;
    struct text tensor_core;         /* "yes", "no" or "unknown" */
    double occupancy, blocks_per_sm; /* weighted by time; NaN if not recorded */
    /* Of the launch shape with the most time (on ties, the one that ran first): */
    struct text grid, block;                /* "64x1x1" */
    int64_t registers, shared_memory_bytes; /* per thread, per block; TABLE_INT_MISSING if not recorded */
    int64_t shapes;                         /* number of launch shapes */
    struct text operators;                  /* that launch it, most often first */
};

struct kernels {
    VEC_OF(struct kernel_row); /* largest total first */
    int64_t total_ns;
    const struct trace *trace; /* borrowed */
    struct group *group;
    struct names *texts; /* of the rows: each once, however many have it */
};

/* The kernels of SELECTION, a row for each name and group of BY (dimensions and KERNELS_BY_SHAPE). New; free with
 * arena_free. Texts live as long as the result and TRACE. */
struct kernels *kernels_analyze(const struct trace *trace, const struct selection *selection, unsigned by);

/* The table "kernels". New; free with table_free. */
struct table *kernels_table(const struct kernels *kernels, unsigned by);

#endif
