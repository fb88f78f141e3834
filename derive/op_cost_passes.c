/* op_cost_passes.c - operators that pass over tensors once or twice: norms, softmax, reductions, copies, lookups. */
#include "derive/op_cost.h"

/* ---- norms and softmax ---- */

/* Bytes written for the weight and the bias in a norm's backward pass, if the mask at MASK requests them. */
static int64_t parameters_written(const struct op_call *call, size_t weight, size_t bias, size_t mask)
{
    int64_t each =
        op_call_sized(call, weight) ? bytes_of(call->in[weight].elements, call->in[weight].type) : 0;
    int64_t sum = 0;
    if (op_call_flag_at(call, mask, 1) != OP_FALSE)
        sum = count_plus(sum, each);
    if (bias && op_call_flag_at(call, mask, 2) != OP_FALSE)
        sum = count_plus(sum, each);
    return sum;
}

/* Indices of input, weight and mask in the backward pass of a norm. */
struct norm_layout {
    uint8_t input, weight, mask, has_bias;
};

static const struct norm_layout norm_layouts[] = {
    [NORM_LAYER_BACKWARD] = { 1, 5, 7, true }, [NORM_GROUP_BACKWARD] = { 1, 4, 9, true },
    [NORM_BATCH_BACKWARD] = { 1, 2, 9, true }, [NORM_CUDNN_BATCH_BACKWARD] = { 0, 2, OP_MAX_INPUTS, true },
    [NORM_RMS_BACKWARD] = { 1, 4, 5, false }, /* others: forward passes */
};

/* Operations for each element of a forward pass; 0: not recorded. */
static int64_t norm_operations(const struct op_model *model, const struct op_call *call)
{
    switch ((enum norm_form)model->form) {
    case NORM_LAYER: return model->operations + op_call_sized(call, 2) + op_call_sized(call, 3);
    case NORM_GROUP: return model->operations + op_call_sized(call, 1) + op_call_sized(call, 2);
    case NORM_BATCH: {
        enum op_flag training = op_call_flag(call, 5);
        return training == OP_FLAG_UNKNOWN ? 0 : training ? model->operations : 2;
    }
    default: return model->operations;
    }
}

void op_cost_norm(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    enum { SCALAR_FLOAT = 6 };
    bool backward = model->form >= NORM_LAYER_BACKWARD;
    const struct norm_layout *at = backward ? &norm_layouts[model->form] : NULL;
    size_t first = backward ? at->input : 0;
    if (!op_call_sized(call, first) || (model->form == NORM_SOFTMAX_BACKWARD && !op_call_sized(call, 1)))
        return;
    const struct op_input *input = &call->in[first];
    const struct tensor_type *written = input->type;
    int64_t operations = norm_operations(model, call);
    if (model->form == NORM_SOFTMAX && op_call_flag(call, 2) == OP_TRUE)
        written = tensor_type_numbered(SCALAR_FLOAT);
    if (model->form == NORM_SOFTMAX_BACKWARD)
        written = requested_type(call, 3, written);
    cost->type = input->type;
    cost->flops = operations ? count_times(input->elements, operations) : OP_UNKNOWN;
    cost->bytes = count_plus(bytes_read_all(call, 0, model->inputs), bytes_of(input->elements, written));
    if (backward)
        cost->bytes = count_plus(cost->bytes, parameters_written(call, at->weight, at->has_bias, at->mask));
}

void op_cost_given(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    if (!op_call_sized(call, 0))
        return;
    cost->flops = count_times(call->in[0].elements, model->operations);
    cost->bytes = count_plus(bytes_read_all(call, 0, model->inputs), bytes_read_all(call, 0, model->form));
}

void op_cost_fused(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    cost->type = NULL;
    for (size_t i = 0; i < call->count; i++)
        if (call->in[i].sized && !cost->type)
            cost->type = call->in[i].type;
    int64_t bytes = bytes_read_all(call, 0, model->inputs);
    cost->bytes = bytes > 0 ? bytes : OP_UNKNOWN;
}

/* ---- reductions ---- */

/* The elements of input 0 after reducing the dimensions in input DIMS; all dimensions if it has none. */
static int64_t elements_left(const struct op_call *call, size_t dims)
{
    const struct shape *sizes = &call->in[0].sizes;
    struct shape gone;
    bool is_gone[SHAPE_MAX_SIZES] = { false };
    int64_t left = 1;
    if (!op_call_numbers(call, dims, &gone)) {
        if (dims < call->count && call->in[dims].concrete.len) {
            gone.count = 1;
            gone.size[0] = op_call_integer(call, dims, OP_UNKNOWN);
        } else {
            gone.count = 0;
        }
    }
    for (size_t i = 0; i < gone.count; i++) {
        int64_t count = (int64_t)sizes->count;
        int64_t d = gone.size[i] < 0 && gone.size[i] >= -count ? gone.size[i] + count : gone.size[i];
        if (d < 0 || d >= count)
            return OP_UNKNOWN;
        is_gone[d] = true;
    }
    for (size_t d = 0; d < sizes->count && gone.count; d++)
        left = is_gone[d] ? left : count_times(left, sizes->size[d]);
    return left;
}

/* The index of the input with the dimensions; OP_MAX_INPUTS: none, all are reduced. DTYPE: the one with a type. */
static size_t dimensions_of(const struct op_model *model, const struct op_call *call, size_t *dtype)
{
    size_t dims = model->form == REDUCTION_NORM ? 2 : 1;
    bool whole =
        call->count <= dims + 1 && model->form != REDUCTION_EXTREME && model->form != REDUCTION_INDEX;
    *dtype = whole ? dims : dims + 2;
    return whole ? OP_MAX_INPUTS : dims;
}

void op_cost_reduction(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    enum { SCALAR_INT64 = 4 };
    if (!op_call_sized(call, 0))
        return;
    const struct op_input *input = &call->in[0];
    const struct tensor_type *written = input->type;
    size_t dtype, dims = dimensions_of(model, call, &dtype);
    if (written && (model->form == REDUCTION_INDEX ||
                    (model->form == REDUCTION_SUM && written->sort <= ELEMENT_INTEGER)))
        written = tensor_type_numbered(SCALAR_INT64);
    if (model->form != REDUCTION_EXTREME && model->form != REDUCTION_INDEX)
        written = requested_type(call, dtype, written);
    for (size_t i = model->inputs; i < call->count; i++)
        written = call->in[i].type ? call->in[i].type : written;
    cost->flops = count_times(input->elements, model->operations);
    cost->bytes = count_plus(bytes_read(call, 0), bytes_of(elements_left(call, dims), written));
}

/* ---- moves ---- */

/* The number of elements that an index_select, gather or embedding writes. */
static int64_t elements_looked_up(const struct op_model *model, const struct op_call *call)
{
    const struct shape *sizes = &call->in[0].sizes;
    size_t index = model->form == MOVE_EMBEDDING ? 1 : 2;
    if (!op_call_sized(call, index))
        return OP_UNKNOWN;
    if (model->form == MOVE_GATHER)
        return call->in[index].elements;
    int64_t along = model->form == MOVE_EMBEDDING ? 0 : op_call_integer(call, 1, OP_UNKNOWN);
    along += along < 0 && along != OP_UNKNOWN ? (int64_t)sizes->count : 0;
    if (along < 0 || along >= (int64_t)sizes->count)
        return OP_UNKNOWN;
    int64_t elements = call->in[index].elements;
    for (size_t d = 0; d < sizes->count; d++)
        elements = d == (size_t)along ? elements : count_times(elements, sizes->size[d]);
    return elements;
}

void op_cost_move(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    if (!op_call_sized(call, 0))
        return;
    const struct op_input *self = &call->in[0];
    int64_t bytes = bytes_of(self->elements, self->type);
    if (model->form == MOVE_COPY)
        bytes = count_plus(bytes, bytes_read(call, 1));
    else if (model->form != MOVE_FILL)
        bytes = count_plus(count_times(2, bytes_of(elements_looked_up(model, call), self->type)),
                           bytes_read(call, model->form == MOVE_EMBEDDING ? 1 : 2));
    cost->bytes = bytes;
    cost->flops = bytes == OP_UNKNOWN ? OP_UNKNOWN : 0;
}
