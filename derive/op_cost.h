/*
 * op_cost.h - the cost of an operator call: floating-point operations and bytes to move, from its recorded inputs.
 *
 *     struct op_model model;
 *     struct op_cost cost;
 *     if (op_model_find("aten::mm", &model) && op_call_read(&call, dims, types, strides, concrete) &&
 *         op_cost_of(&model, &call, &cost))
 *         ... cost.flops, cost.bytes ...
 *
 * Bytes are the least that the operator must move: each input tensor read once, the main output written once. A
 * dimension of stride 0 holds one element. Numbers and tensors of 0 dimensions do not count; neither do statistics that
 * are saved, and workspaces. A tensor after an operator's own inputs is its out=, which is not read.
 * docs/definitions.md has the operators.
 *
 * torch counts differently (flops.h): `tpa top` shows torch's counts.
 */
#ifndef TPA_DERIVE_OP_COST_H
#define TPA_DERIVE_OP_COST_H

#include "derive/op_model.h"

/* The arguments needed for the cost of a call. */
#define OP_COST_WANTS (WANT(INPUT_DIMS) | WANT(INPUT_TYPES) | WANT(INPUT_STRIDES) | WANT(CONCRETE_INPUTS))

/* The model of the operator called NAME; false if there is none. Call once per name. */
bool op_model_find(const char *name, struct op_model *model);

/* The cost of CALL. False, not modelled, if neither operations nor bytes are known, or both are 0, as for tensors
 * without elements. */
bool op_cost_of(const struct op_model *model, const struct op_call *call, struct op_cost *cost);

/* Does MODEL compute attention? For variable length, its operations are only in the annotations of serving engines. */
bool op_model_is_attention(const struct op_model *model);

#endif
