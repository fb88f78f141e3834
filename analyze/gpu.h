/*
 * gpu.h - how the devices spent their time.
 *
 *     const struct gpu *gpu = gpu_analyze(trace, selection, BY(DEVICE));
 *     for (size_t i = 0; i < gpu->count; i++)
 *         printf("%" PRId64 "\n", gpu->at[i].idle_ns);
 *     arena_free(gpu);
 *
 * Each moment of a device's span counts once: it computes; else it communicates; else it copies; else it is idle.
 * docs/definitions.md defines every figure.
 */
#ifndef TPA_ANALYZE_GPU_H
#define TPA_ANALYZE_GPU_H

#include "analyze/analysis.h"
#include "derive/unlinked_work.h"

extern const struct trace_wants gpu_wants;

/* The work of a device, of one of its streams, or that a step launched on it. */
struct gpu_row {
    struct group_key key; /* rank and device; stream and step where they make rows */
    uint32_t file;
    struct text name; /* model of the device; missing if not recorded */
    int64_t span_ns;  /* from the start of the first work to the end of the last: the sum of the next four */
    int64_t computation_ns, exposed_communication_ns, exposed_copies_ns, idle_ns;
    int64_t busy_ns;
    int64_t
        unrecorded_ns; /* communication that waited for a rank whose recording had not begun: in none of the above */
    int64_t communication_ns, copies_ns, memsets_ns; /* unions, exposed or not */
    int64_t gaps, longest_gap_ns;                    /* times between work */
    int64_t events;                                  /* kernels, copies and memsets */
    struct text streams;                             /* "7, 20": their numbers */
    int64_t kernels, kernel_sum_ns, kernel_ns;       /* count, durations added up, union */
    int64_t nccl_kernels, nccl_ns, without_nccl_ns, exposed_nccl_ns;
    /* How well it was used; NaN: not recorded, or of zero time. */
    int64_t window_ns;        /* the analyzed time */
    int64_t kernel_window_ns; /* the part of it in which a kernel ran */
    double utilization, sm_efficiency, occupancy, tensor_core_share, tensor_core_unknown_share, busy_share;
};

/* Copies of one name (direction and kinds of memory) of a row. */
struct gpu_copies {
    struct group_key key;
    struct text name;
    int64_t count, bytes;
    int64_t sum_ns, union_ns, exposed_ns; /* exposed: while no kernel ran */
};

struct gpu {
    const struct trace *trace; /* borrowed */
    struct gpu_row *at;        /* by rank, device, stream, step */
    size_t count;
    VEC_OF(struct gpu_copies) copies; /* largest sum first */
    int64_t work, unlinked;           /* kernels, copies and memsets; of these, with no call in the file, */
    int64_t unlinked_by[UNLINKED_SORTS]; /* and why */
    int64_t calls;                       /* of the runtime and the driver */
    int64_t
        other; /* events on devices that are neither work nor waits of streams: they count nowhere else; */
    name_id first_other; /* the name of the first, */
    bool others_differ;  /* and whether others have other names */
    struct group *group;
};

/* The work of SELECTION, a row for each device and other group of BY (RANK, DEVICE, STREAM, STEP). Release
 * with arena_free (NULL is allowed); the result for all of TRACE BY(DEVICE) is computed once and cached with
 * TRACE. */
const struct gpu *gpu_analyze(const struct trace *trace, const struct selection *selection, unsigned by);

/* The same by device, sooner: of each row the key, file, name, times up to unrecorded_ns and gaps; no copies, calls and other. */
const struct gpu *gpu_find_uses(const struct trace *trace, const struct selection *selection);

#endif
