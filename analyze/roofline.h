/*
 * roofline.h - how fast operators compute and move, against what the device could.
 *
 *     const struct roofline *roofline = roofline_analyze(trace, selection, BY(OP) | BY(SHAPE), NULL);
 *     for (size_t i = 0; i < roofline->rows.count; i++)
 *         ... roofline->rows.at[i].share ...
 *     arena_free(roofline);
 *
 * Operators whose costs are known (derive/op_cost.h) are modelled. Device work belongs to the innermost modelled
 * operator around its launch; its time is the sum of its durations. At the peak a call takes the longer of operations /
 * peak rate and bytes / bandwidth (derive/device_peaks.h); the peak rate is that of matrix units for the type of the
 * first matrix, float32 there only if a kernel says TF32, else that of vector units. docs/definitions.md has the
 * details.
 *
 * If nothing ran on a device, times are those of the host: of each call without the modelled calls in it.
 */
#ifndef TPA_ANALYZE_ROOFLINE_H
#define TPA_ANALYZE_ROOFLINE_H

#include "analyze/group.h"
#include "analyze/roofline_calls.h"
#include "analyze/tensor_cores.h"

extern const struct trace_wants roofline_wants;

/* Work below this share of the peak is called slow. */
#define ROOFLINE_SLOW 0.2

struct roofline_row {
    struct group_key key;
    struct text name, shapes, types; /* missing unless rows are by op, by shape */
    int64_t count;                   /* calls */
    int64_t launching;               /* of these, calls that launched work themselves */
    int64_t flops, bytes;            /* of all calls; TABLE_INT_MISSING if one is unknown, as below */
    int64_t time_ns;                 /* of their operations */
    double tflops, tbs,
        intensity;     /* 10^12 per second, of calls with work; operations per byte; NAN: missing, as below */
    struct text bound; /* "compute", "memory" */
    struct text units; /* "bf16 matrix", "fp32 vector": the units of the peak; missing if calls differ */
    double share;      /* of the peak: time at the peak / time */
    int64_t at_peak_ns, won_ns; /* time at the peak; the saving, at least 0 */
    bool above;                 /* faster than the peak: a cache served it, or the count is wrong */
};

/* A device, as a whole. */
struct roofline_device {
    int64_t rank, device;
    struct text name;    /* missing if not recorded */
    int64_t time_ns;     /* of its operations, added up */
    int64_t modelled_ns; /* of those in modelled operators */
    double modelled;     /* modelled_ns as a share */
    int64_t rated_ns;    /* of modelled operations whose time at the peak is known */
    int64_t at_peak_ns, won_ns;
    double share;    /* at_peak_ns of rated_ns */
    int64_t slow_ns; /* operations in calls below ROOFLINE_SLOW of the peak */
    double slow;     /* of time_ns */
};

/* A peak of a device that its calls need. */
struct roofline_peak {
    int64_t rank, device;
    struct text name, rate, source; /* "NVIDIA H100 80GB HBM3", "bf16" or "hbm", the data sheet */
    double per_second;              /* 10^12 operations or bytes */
};

/* A step or, without marked steps, the recording of a rank. */
struct roofline_step {
    int64_t rank, step; /* TABLE_INT_MISSING: the whole recording */
    int64_t devices, duration_ns;
    int64_t flops;       /* of matrix operators, executed */
    int64_t model_flops; /* the same without recomputed ones */
    int64_t products_ns; /* device time of matrix products, convolutions and attention, modelled or not */
    double modelled;     /* share of it whose operations are known; NAN: there are none */
    bool at_least;       /* less than 90 % of it is: MFU and HFU are lower bounds */
    double hfu, mfu;     /* time of these at the peak of their type, divided by duration and devices */
};

/* Device time that is not modelled, by operator; by call or kernel without one. */
struct roofline_rest {
    struct text name;
    int64_t count, time_ns;
    double share;    /* of the device time */
    struct text why; /* missing: there is no model of it */
};

/* The work of calls below a share of the peak, longer than the shortest kernel: shorter none gets. */
struct roofline_slow {
    uint32_t *work; /* places in gpu_events, ascending */
    double *factor; /* of its time, with which its call would reach that share */
    size_t count;
};

struct roofline {
    const struct trace *trace; /* borrowed */
    struct roofline_calls
        calls; /* of the cached result without `at` and `of_work`: they are most of its memory */
    struct roofline_slow slow;        /* below ROOFLINE_SLOW; of the cached result only, as is the next */
    struct tensor_cores tensor_cores; /* what tensor cores could do */
    int64_t rate_ns[PEAK_RATES + 1];  /* time of the calls that are held to each enum peak_rate */
    VEC_OF(struct roofline_row) rows; /* largest time first */
    VEC_OF(struct roofline_device) devices;
    VEC_OF(struct roofline_peak) peaks;
    VEC_OF(struct roofline_step) steps;
    VEC_OF(struct roofline_rest) rest; /* largest time first */
    int64_t time_ns, modelled_ns;      /* of all devices */
    struct group *group;
};

enum { ROOFLINE_BY_DEFAULT = BY(OP) | BY(SHAPE) };

/* Rows BY dimensions (BY(OP) | BY(SHAPE): by name, shapes and types). OVERRIDE: figures other than 0 replace those of
 * all devices; NULL: none. Release with arena_free (NULL is allowed); the result for all of TRACE, by default and
 * without OVERRIDE, is computed once and cached with TRACE. */
const struct roofline *roofline_analyze(const struct trace *trace, const struct selection *selection,
                                        unsigned by, const struct device_peaks *override);
struct roofline *roofline_open(const struct trace *trace, const struct selection *selection, unsigned by,
                               const struct device_peaks *override); /* the same, never cached */

/* That cached result. Borrowed; lives as long as TRACE. */
const struct roofline *roofline_of(const struct trace *trace);

/* The work below SHARE of the peak, of a result with its calls; it lives as long as ARENA. */
struct roofline_slow roofline_find_slow(const struct roofline *roofline, double share, struct arena *arena);

#endif
