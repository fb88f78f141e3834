/*
 * op_model.h - the model of an operator, and its result. op_cost.h finds and evaluates models; op_cost_*.c define them.
 */
#ifndef TPA_DERIVE_OP_MODEL_H
#define TPA_DERIVE_OP_MODEL_H

#include "derive/op_call.h"

enum op_class {
    OP_MATRIX, /* products of matrices, convolutions, attention: for matrix units */
    OP_VECTOR, /* element by element, norms, reductions; the operations are conventions, the bytes matter */
    OP_MOVE,   /* copies, fills, lookups: no operations */
    OP_FUSED,  /* kernels of torch.compile: the operations are not recorded */
    OP_CLASSES
};

struct op_cost {
    int64_t flops, bytes; /* OP_UNKNOWN if unknown, as below */
    int64_t
        /* those of the operations that repeat the forward pass: attention's scores in its backward pass */
        recomputed;
    const struct tensor_type *type; /* of its first matrix or tensor; NULL: not recorded */
};

struct op_model {
    enum op_class class;
    void (*cost)(const struct op_model *model, const struct op_call *call, struct op_cost *cost);
    uint8_t inputs;     /* number of its own inputs: tensors after them are out= */
    uint8_t form;       /* variant within its family; for COST */
    uint8_t operations; /* operations per element, if COST uses it */
    bool in_place;      /* it writes its first input */
    bool own_alone;     /* its operations are those of its own work, beside those of operators in it */
};

#endif
