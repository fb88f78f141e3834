/*
 * serving_names.h - the phase, requests and tokens of a step, from the annotations of serving engines.
 *
 *     struct serving_step step;
 *     if (serving_step_of("execute_context_1(888)_generation_31(31)", &step))
 *         ...                                          // SERVING_MIXED, 32 requests, 919 tokens
 *
 * Call once per name, never per event. Supported formats:
 *
 *     vLLM          execute_[N_]context_C(T)_generation_G(T), T a number or sq..sk..sqsq..sqsk..
 *     SGLang        step[EXTEND|PREFILL|DECODE|MIXED bs=N toks=T ...]
 *     ATOM          prefill[bs=N tok=T ...], decode[bs=N/PADDED tok=T ...]
 *     TensorRT-LLM  [Executor] _forward_step I: C ctx reqs, T ctx tokens, G gen reqs
 *     diffusion     execute_diffusion_N_WIDTHxHEIGHT
 *
 * A number may be followed by another after an underscore (888_788544), which is ignored. Annotations of a capture give
 * no phase.
 */
#ifndef TPA_DERIVE_SERVING_NAMES_H
#define TPA_DERIVE_SERVING_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum serving_phase {
    SERVING_PREFILL, /* only requests whose prompt is processed */
    SERVING_DECODE,  /* only requests that generate tokens */
    SERVING_MIXED,   /* both */
    SERVING_DIFFUSION,
    SERVING_PHASES
};

struct serving_step {
    enum serving_phase phase;
    int64_t requests, tokens; /* tokens that go through the model; -1: not recorded */
};

/* Is NAME the annotation of a step? If not, STEP is untouched. */
bool serving_step_of(const char *name, struct serving_step *step);

/* "prefill", "decode", "mixed", "diffusion". */
const char *serving_phase_name(enum serving_phase phase);

#endif
