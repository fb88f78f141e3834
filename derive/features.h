/*
 * features.h - the kinds of data in a trace, which determine the possible analyses.
 *
 *     if (!(trace_features(trace) & FEATURE_GPU))
 *         return tpa_fail(err, TPA_NOWHERE, "the trace holds no %s", trace_feature_name(FEATURE_GPU));
 */
#ifndef TPA_DERIVE_FEATURES_H
#define TPA_DERIVE_FEATURES_H

#include "trace/trace.h"

/* One row per feature: constant, name, the word for its absence (base/result.h), how to record it. A feature is a bit. */
#define TRACE_FEATURES(FEATURE)                                                                                             \
    FEATURE(EVENTS, "events", "no_events", "profile something: the trace is empty")                                         \
    FEATURE(OPS, "operators", "no_operators", "profile with ProfilerActivity.CPU")                                          \
    FEATURE(GPU, "GPU work", "no_gpu_work", "profile with ProfilerActivity.CUDA, on a machine with a GPU")                  \
    FEATURE(LAUNCHES, "runtime calls", "no_launches",                                                                       \
            "profile with ProfilerActivity.CPU and ProfilerActivity.CUDA")                                                  \
    FEATURE(                                                                                                                \
        STEPS, "steps", "no_steps",                                                                                         \
        "give the profiler a schedule= and call prof.step() after each iteration: without a schedule torch marks no steps") \
    FEATURE(MEMORY, "memory events", "no_memory", "profile with profile_memory=True")                                       \
    FEATURE(SHAPES, "operator shapes", "no_shapes", "profile with record_shapes=True")                                      \
    FEATURE(STACKS, "Python stacks", "no_stacks", "profile with with_stack=True")                                           \
    FEATURE(COLLECTIVES, "collectives", "no_collectives", "profile a job of several ranks")                                 \
    FEATURE(ANNOTATIONS, "annotations", "no_annotations",                                                                   \
            "mark what matters with torch.profiler.record_function or NVTX")                                                \
    FEATURE(RANKS, "several ranks", "one_rank", "give the traces of several ranks, or their directory")

enum trace_feature_index {
#define FEATURE_INDEX(id, name, reason, how) FEATURE_##id##_INDEX,
    TRACE_FEATURES(FEATURE_INDEX)
#undef FEATURE_INDEX
        FEATURE_COUNT
};

enum trace_feature {
#define FEATURE_BIT(id, name, reason, how) FEATURE_##id = 1 << FEATURE_##id##_INDEX,
    TRACE_FEATURES(FEATURE_BIT)
#undef FEATURE_BIT
};

/* The arguments that must be read to detect all features. */
#define FEATURE_WANTS                                                                                        \
    (WANT(INPUT_DIMS) | WANT(FLOPS) | WANT(COLLECTIVE) | WANT(CALL_STACK) | WANT(MODULE_HIERARCHY))

/* The features that TRACE has, as bits. */
unsigned trace_features(const struct trace *trace);

/* "memory events". FEATURE is one bit. */
const char *trace_feature_name(enum trace_feature feature);

/* The word for its absence: "no_memory". */
const char *trace_feature_reason(enum trace_feature feature);

/* The framework of the program, in whose terms advice is given: PyTorch; XLA (JAX, TensorFlow); CUDA or HIP
 * themselves. */
enum trace_framework { FRAMEWORK_TORCH, FRAMEWORK_XLA, FRAMEWORK_NONE, FRAMEWORKS };

/* Of the first file of TRACE; of recorders of CUDA or HIP, PyTorch if operators are recorded. */
enum trace_framework trace_framework(const struct trace *trace);

/* How to record it: "profile with profile_memory=True", or the equivalent for the program that wrote TRACE. */
const char *trace_feature_recipe(const struct trace *trace, enum trace_feature feature);

/* What the program that TRACE is of, or its recorder, calls a part of a model: "nn.Module", "named scope". A literal. */
const char *trace_module_word(const struct trace *trace);

#endif
