/*
 * workload.h - what a PyTorch program was doing, by the names of what ran: advice for training makes no sense to someone who
 * serves a model.
 *
 *     if (workload_of(trace) == WORKLOAD_VLLM) ...
 */
#ifndef TPA_DERIVE_WORKLOAD_H
#define TPA_DERIVE_WORKLOAD_H

#include "trace/trace.h"

enum workload {
    WORKLOAD_UNKNOWN,   /* no operators were recorded */
    WORKLOAD_TRAINING,  /* a backward pass or an optimizer was recorded */
    WORKLOAD_VLLM,      /* operators or Python files of vLLM */
    WORKLOAD_SGLANG,    /* those of SGLang */
    WORKLOAD_INFERENCE, /* operators, and none of these */
    WORKLOADS
};

/* What the names of TRACE say: training first, then the engine with more names. */
enum workload workload_of(const struct trace *trace);

#endif
