/*
 * op_cost.h - what a call of an operator must compute and move: floating-point operations and bytes, by its recorded inputs.
 *
 *     struct op_model model;
 *     struct op_cost cost;
 *     if (op_model_find("aten::mm", &model) && op_call_read(&call, dims, types, strides, concrete) &&
 *         op_cost_of(&model, &call, &cost))
 *         ... cost.flops, cost.bytes ...
 *
 * Bytes are the least that the operator must move: each input tensor read once, the main output written once. A dimension of
 * stride 0 holds one element. Numbers, and tensors of no dimensions, count nothing, nor do statistics that are saved, and
 * workspaces. A tensor behind an operator's own inputs is its out=, which is not read. docs/definitions.md has the operators.
 *
 * torch's own counts are others (flops.h): `tpa top` shows those.
 */
#ifndef TPA_FACTS_OP_COST_H
#define TPA_FACTS_OP_COST_H

#include "facts/op_call.h"

enum op_class {
    OP_MATRIX, /* products of matrices, convolutions, attention: what matrix units are for */
    OP_VECTOR, /* element by element, norms, reductions; the operations are conventions, the bytes matter */
    OP_MOVE,   /* copies, fills, lookups: no operations */
    OP_FUSED,  /* kernels of torch.compile: the operations are not told */
    OP_CLASSES
};

struct op_cost {
    int64_t flops, bytes; /* OP_UNKNOWN where the call does not tell, as below */
    int64_t
        recomputed; /* of the operations, those that the forward pass did already: attention's scores in its backward pass */
    const struct tensor_type *type; /* of its first matrix or tensor; NULL: not told */
};

struct op_model {
    enum op_class class;
    void (*cost)(const struct op_model *model, const struct op_call *call, struct op_cost *cost);
    uint8_t inputs;     /* how many are its own: tensors behind them are out= */
    uint8_t form;       /* which of its family; for COST */
    uint8_t operations; /* for each element, where COST asks */
    bool in_place;      /* it writes its first input */
};

/* The model of the operator called NAME; false where there is none. To be asked once per name. */
bool op_model_find(const char *name, struct op_model *model);

/* The cost of CALL. False where the call tells neither operations nor bytes, or has none, as tensors without elements: it is
 * not modelled then. */
bool op_cost_of(const struct op_model *model, const struct op_call *call, struct op_cost *cost);

/* Does MODEL compute attention? Of variable length, its operations stand in the annotations of serving engines only. */
bool op_model_is_attention(const struct op_model *model);

/* How much of two sequences the requests of a step see of each other: sums over requests, as vLLM and SGLang annotate steps. */
struct op_attended {
    int64_t context_sqsq, context_sqsk; /* prefill: query by query, query by key tokens */
    int64_t generation_sqsk;            /* decode */
};

/* Read "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)"; false for any other name. */
bool op_attended_parse(const char *annotation, struct op_attended *attended);

/* The operations of CALL, attention of variable length, in a step with ATTENDED; OP_UNKNOWN where its inputs do not tell heads. */
int64_t op_attended_flops(const struct op_call *call, const struct op_attended *attended);

/* "matrix", "vector", "move", "fused". */
const char *op_class_name(enum op_class class);

#endif
