/* op_cost.h - operations and bytes of calls of operators. */
#ifndef TPA_DERIVE_OP_COST_H
#define TPA_DERIVE_OP_COST_H

#include "derive/tensor_types.h"
#include "derive/shapes.h"

/*
 * op_call.c - a call of an operator, from its recorded arguments: sizes, strides and types of inputs, numbers as texts.
 *
 *     struct op_call call;
 *     if (op_call_read(&call, dims, types, strides, concrete))
 *         ... call.in[0].sizes.size[0], call.in[0].type ...
 */

enum { OP_MAX_INPUTS = 64 };

/* An unknown size or number of operations. */
#define OP_UNKNOWN TABLE_INT_MISSING

struct op_input {
    bool sized;         /* a tensor with sizes, not a number, a tensor of 0 dimensions or a list of tensors */
    struct shape sizes; /* of a sized one */
    int64_t elements;   /* their product; OP_UNKNOWN beyond 64 bits, as below */
    int64_t stored;     /* the same, with a dimension of stride 0 counted as one: elements in memory */
    const struct tensor_type *type; /* NULL: not recorded, unknown, or no tensor */
    bool listed;                    /* by its type, it is a list of numbers */
    struct text concrete;           /* its value, as text; empty when not recorded */
};

struct op_call {
    struct op_input in[OP_MAX_INPUTS];
    size_t count;
    struct shape
        output; /* of a convolution, if the caller knows it from its backward pass; count 0: not known */
};

/* From `Input Dims`, `Input type`, `Input Strides` and `Concrete Inputs`; each but the first may be NULL: not recorded.
 * False if they are not such lists, or have more than OP_MAX_INPUTS inputs. Texts are borrowed from them. */
bool op_call_read(struct op_call *call, const char *dims, const char *types, const char *strides,
                  const char *concrete);

/* Does input INDEX exist, with sizes? */
static inline bool op_call_sized(const struct op_call *call, size_t index)
{
    return index < call->count && call->in[index].sized;
}

/* The numbers of input INDEX, "[2, 2]"; false if it is not such a list. */
bool op_call_numbers(const struct op_call *call, size_t index, struct shape *numbers);

/* The value of input INDEX; MISSING if it is not an integer. */
int64_t op_call_integer(const struct op_call *call, size_t index, int64_t missing);

/* Is the value of input INDEX recorded, and 0? */
bool op_call_is_zero(const struct op_call *call, size_t index);

enum op_flag { OP_FLAG_UNKNOWN = -1, OP_FALSE, OP_TRUE };

/* "True" or "False" of input INDEX; of its element ELEMENT if it is a list of such words. */
enum op_flag op_call_flag(const struct op_call *call, size_t index);
enum op_flag op_call_flag_at(const struct op_call *call, size_t index, size_t element);

/* arithmetic with counts that may be unknown; overflow of 64 bits is unknown as well. */

/* A times B; unknown (TABLE_INT_MISSING) if either is unknown or negative, or the product does not fit. */
static inline int64_t count_times(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? TABLE_INT_MISSING : product;
}

/* A plus B, in the same way. */
static inline int64_t count_plus(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? TABLE_INT_MISSING : sum;
}

/* the model of an operator, and its result. op_cost.h finds and evaluates models; op_cost_*.c define them. */

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

/* shared parts of the op_cost files: bytes of inputs, and the models. */

/* ELEMENTS of TYPE, in bytes; unknown if TYPE is NULL. */
static inline int64_t bytes_of(int64_t elements, const struct tensor_type *type)
{
    return type ? count_times(elements, type->size) : OP_UNKNOWN;
}

/* The bytes to read input INDEX once; 0 if it is not a tensor with sizes. */
static inline int64_t bytes_read(const struct op_call *call, size_t index)
{
    return op_call_sized(call, index) ? bytes_of(call->in[index].stored, call->in[index].type) : 0;
}

/* The same for the inputs FIRST to END (exclusive). */
static inline int64_t bytes_read_all(const struct op_call *call, size_t first, size_t end)
{
    int64_t sum = 0;
    for (size_t i = first; i < end && i < call->count; i++)
        sum = count_plus(sum, bytes_read(call, i));
    return sum;
}

/* The type of the ScalarType number in input INDEX, else OTHERWISE. */
static inline const struct tensor_type *requested_type(const struct op_call *call, size_t index,
                                                       const struct tensor_type *otherwise)
{
    int64_t number = op_call_integer(call, index, -1);
    const struct tensor_type *type = number < 0 ? NULL : tensor_type_numbered(number);
    return type ? type : otherwise;
}

typedef void op_cost_function(const struct op_model *model, const struct op_call *call, struct op_cost *cost);

/* op_cost_products.c; form: enum product_form. */
enum product_form {
    PRODUCT_MM,
    PRODUCT_BMM,
    PRODUCT_ADDMM,   /* the added tensor is the first input */
    PRODUCT_BADDBMM, /* the same */
    PRODUCT_SCALED,
    PRODUCT_SCALED_LISTS, /* with scales in lists */
    PRODUCT_INT,
    PRODUCT_MV,
    PRODUCT_ADDMV,
    PRODUCT_GROUPED,
    PRODUCT_SCALED_GROUPED,
    PRODUCT_EXPERTS, /* both products of a mixture of experts */
};
extern op_cost_function op_cost_product;

/* op_cost_convolution.c; form: enum convolution_form. */
enum convolution_form {
    CONVOLUTION_ATEN,
    CONVOLUTION_CUDNN,
    CONVOLUTION_MIOPEN,
    CONVOLUTION_CUDNN_TRANSPOSED,
    CONVOLUTION_MIOPEN_TRANSPOSED,
    CONVOLUTION_RELU,
    CONVOLUTION_ADD_RELU,
};
extern op_cost_function op_cost_convolution, op_cost_convolution_backward;

/* Of old versions, which have an operator for each gradient: that of the input is one of its own; all others are of that around both,
 * whose own work is the gradient of the weights. */
extern op_cost_function op_cost_convolution_by_input, op_cost_convolution_by_weight;

/* op_cost_attention.c; form: enum attention_form. */
enum attention_form {
    ATTENTION_SDPA_FLASH,
    ATTENTION_SDPA_EFFICIENT,
    ATTENTION_SDPA_OVERRIDEABLE,
    ATTENTION_FLASH,
    ATTENTION_EFFICIENT,
    ATTENTION_FLASH_ATTN,
    ATTENTION_SDPA_FLASH_BACKWARD,
    ATTENTION_SDPA_CPU_BACKWARD,
    ATTENTION_SDPA_CUDNN_BACKWARD,
    ATTENTION_FLASH_BACKWARD,
    ATTENTION_EFFICIENT_BACKWARD,
    ATTENTION_FLASH_ATTN_BACKWARD,
};
extern op_cost_function op_cost_attention, op_cost_attention_varied;

/* op_cost_elements.c: element by element; form: enum element_form. */
enum element_form {
    ELEMENTS_PLAIN,
    ELEMENTS_FLOAT,   /* integers become floats */
    ELEMENTS_DIVIDE,  /* the same, unless rounding is requested */
    ELEMENTS_COMPARE, /* the output is bool */
    ELEMENTS_WHERE,   /* the first input only chooses */
};
extern op_cost_function op_cost_elements;
bool op_elements_find(const char *name, struct op_model *model);

/* op_cost_passes.c: norms, softmax, reductions, moves. */
enum norm_form {
    NORM_SOFTMAX,
    NORM_SOFTMAX_BACKWARD,
    NORM_LAYER,
    NORM_GROUP,
    NORM_BATCH,
    NORM_RMS,
    NORM_LAYER_BACKWARD,
    NORM_GROUP_BACKWARD,
    NORM_BATCH_BACKWARD,
    NORM_CUDNN_BATCH_BACKWARD,
    NORM_RMS_BACKWARD,
};
extern op_cost_function op_cost_norm;

/* Operators of serving engines that write into given tensors: the first `form` tensors are read and written. */
extern op_cost_function op_cost_given;

enum reduction_form { REDUCTION_SUM, REDUCTION_MEAN, REDUCTION_EXTREME, REDUCTION_INDEX, REDUCTION_NORM };
extern op_cost_function op_cost_reduction;

enum move_form { MOVE_COPY, MOVE_FILL, MOVE_INDEX_SELECT, MOVE_GATHER, MOVE_EMBEDDING };
extern op_cost_function op_cost_move;

extern op_cost_function op_cost_fused;

/*
 * op_cost.c - the cost of an operator call: floating-point operations and bytes to move, from its recorded inputs.
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

/* The arguments needed for the cost of a call. */
#define OP_COST_WANTS (WANT(INPUT_DIMS) | WANT(INPUT_TYPES) | WANT(INPUT_STRIDES) | WANT(CONCRETE_INPUTS))

/* The model of the operator called NAME; false if there is none. Call once per name. */
bool op_model_find(const char *name, struct op_model *model);

/* Why the operations of a call of operator NAME could not be told, a literal; NULL: there is no model of it. */
const char *op_model_lacks(const char *name);

/* The cost of CALL. False, not modelled, if neither operations nor bytes are known, or both are 0, as for tensors
 * without elements. */
bool op_cost_of(const struct op_model *model, const struct op_call *call, struct op_cost *cost);

/* Does MODEL compute attention? For variable length, its operations are only in the annotations of serving engines. */
bool op_model_is_attention(const struct op_model *model);

#endif
