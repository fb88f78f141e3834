/*
 * job.h - what a PyTorch program was doing: advice for training makes no sense to someone who serves a model.
 */
#ifndef TPA_SUMMARY_JOB_H
#define TPA_SUMMARY_JOB_H

#include "trace/trace.h"

enum job {
    JOB_UNKNOWN,   /* no operators were recorded */
    JOB_TRAINING,  /* a backward pass or an optimizer was recorded */
    JOB_VLLM,      /* operators or Python files of vLLM */
    JOB_SGLANG,    /* those of SGLang */
    JOB_INFERENCE, /* operators, and none of these */
    JOBS
};

/* What the names of TRACE say: training first, then the engine with more names. */
enum job job_of(const struct trace *trace);

#endif
