/*
 * op_attended.h - attention over sequences of different lengths: what it computes, from the annotations of serving engines.
 *
 *     struct op_attended attended;
 *     if (op_attended_parse(trace_name(trace, annotation), &attended))
 *         flops = op_attended_flops(&call, &attended);
 */
#ifndef TPA_FACTS_OP_ATTENDED_H
#define TPA_FACTS_OP_ATTENDED_H

#include "facts/op_call.h"

/* How much of two sequences the requests of a step see of each other: sums over requests, as vLLM and SGLang annotate steps. */
struct op_attended {
    int64_t context_sqsq, context_sqsk; /* prefill: query by query, query by key tokens */
    int64_t generation_sqsk;            /* decode */
};

/* Read "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)"; false for any other name. */
bool op_attended_parse(const char *annotation, struct op_attended *attended);

/* The operations of CALL, attention of variable length, in a step with ATTENDED; OP_UNKNOWN where its inputs do not tell heads. */
int64_t op_attended_flops(const struct op_call *call, const struct op_attended *attended);

#endif
