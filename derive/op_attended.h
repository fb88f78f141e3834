/*
 * op_attended.h - operations of attention over sequences of different lengths, from the annotations of serving engines.
 *
 *     struct op_attended attended;
 *     if (op_attended_parse(trace_name(trace, annotation), &attended))
 *         flops = op_attended_flops(&call, &attended);
 */
#ifndef TPA_DERIVE_OP_ATTENDED_H
#define TPA_DERIVE_OP_ATTENDED_H

#include "derive/op_cost.h"

/* Products of sequence lengths, summed over the requests of a step, as vLLM and SGLang annotate steps. */
struct op_attended {
    int64_t context_sqsq, context_sqsk; /* prefill: query by query, query by key tokens */
    int64_t generation_sqsk;            /* decode */
};

/* Read "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)"; false for any other name. */
bool op_attended_parse(const char *annotation, struct op_attended *attended);

/* The operations of CALL, attention of variable length, in a step with ATTENDED; OP_UNKNOWN if its inputs do not give
 * the number of heads. */
int64_t op_attended_flops(const struct op_call *call, const struct op_attended *attended);

#endif
