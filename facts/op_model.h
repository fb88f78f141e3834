/*
 * op_model.h - what a model of an operator is, and what it answers. op_cost.h finds and asks them; op_cost_*.c hold
 * them.
 */
#ifndef TPA_FACTS_OP_MODEL_H
#define TPA_FACTS_OP_MODEL_H

#include "facts/op_call.h"

enum op_class {
    OP_MATRIX, /* products of matrices, convolutions, attention: what matrix units are for */
    OP_VECTOR, /* element by element, norms, reductions; the operations are conventions, the bytes matter */
    OP_MOVE,   /* copies, fills, lookups: no operations */
    OP_FUSED,  /* kernels of torch.compile: the operations are not recorded */
    OP_CLASSES
};

struct op_cost {
    int64_t flops, bytes; /* OP_UNKNOWN where the call does not tell, as below */
    int64_t
        recomputed; /* of the operations, those that the forward pass did already: attention's scores in its backward pass */
    const struct tensor_type *type; /* of its first matrix or tensor; NULL: not recorded */
};

struct op_model {
    enum op_class class;
    void (*cost)(const struct op_model *model, const struct op_call *call, struct op_cost *cost);
    uint8_t inputs;     /* how many are its own: tensors behind them are out= */
    uint8_t form;       /* which of its family; for COST */
    uint8_t operations; /* for each element, where COST asks */
    bool in_place;      /* it writes its first input */
};

#endif
