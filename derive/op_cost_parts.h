/* op_cost_parts.h - shared parts of the op_cost files: bytes of inputs, and the models. */
#ifndef TPA_DERIVE_OP_COST_PARTS_H
#define TPA_DERIVE_OP_COST_PARTS_H

#include "derive/op_count.h"
#include "derive/op_model.h"

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

#endif
