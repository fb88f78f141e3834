/*
 * tensor_cores.h - matrix products and convolutions that run in float32 without tensor cores, where the device has some.
 *
 *     const struct tensor_cores *found = &roofline_of(trace)->tensor_cores;
 *     for (size_t i = 0; i < found->work.count; i++)
 *         ... found->work.at[i].place of gpu_events takes found->work.at[i].factor of its time ...
 *
 * On tensor cores such a kernel would take at least its time times the peak of float32 over that of TF32 (float16 where the device
 * has no TF32), by the data sheet; half where that is not known. No less than its bytes take, where they are known, nor than the
 * shortest kernel recorded, or 2 us.
 */
#ifndef TPA_ANALYZE_TENSOR_CORES_H
#define TPA_ANALYZE_TENSOR_CORES_H

#include "analyze/roofline_calls.h"

/* A kernel that tensor cores could do. */
struct tensor_core_work {
    uint32_t place; /* in gpu_events */
    double factor;  /* of its time, at least */
};

struct tensor_cores {
    VEC_OF(struct tensor_core_work) work; /* by place */
    int64_t time_ns, then_ns,
        kernels_ns;      /* of these as recorded, and at least on tensor cores; of all kernels */
    name_id longest;     /* the name with most of time_ns; NAME_NONE: none */
    bool knows_device;   /* a device's compute capability is recorded */
    enum peak_rate rate; /* PEAK_TF32 or PEAK_FP16; of the first device that has such work */
    double now, then;    /* its peaks of float32 and of RATE a second; 0: not known */
};

/* Those of the trace of CALLS; release with VEC_FREE(&found.work). */
struct tensor_cores tensor_cores_find(const struct roofline_calls *calls);

#endif
