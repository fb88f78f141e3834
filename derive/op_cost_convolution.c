/*
 * op_cost_convolution.c - convolutions: for each output position, all weights are applied.
 *
 * Weights are [outputs, inputs of a group, kernel ...], transposed ones [inputs, outputs of a group, kernel ...]: so
 * the number of elements already accounts for groups. A transposed convolution spreads each input position over all
 * weights.
 */
#include "derive/op_cost.h"

enum { ABSENT = 255 };

/* The indices of inputs. */
struct layout {
    uint8_t stride, padding, dilation, transposed, output_padding, groups;
    bool is_transposed; /* regardless of the input `transposed` */
    bool may_shift;     /* old versions have a bias before the padding */
};

/* clang-format off */
static const struct layout layouts[] = {
    [CONVOLUTION_ATEN] =              { 3, 4, 5, 6,      7,      8, false, false },
    [CONVOLUTION_CUDNN] =             { 3, 2, 4, ABSENT, ABSENT, 5, false, true },
    [CONVOLUTION_MIOPEN] =            { 4, 3, 5, ABSENT, ABSENT, 6, false, false },
    [CONVOLUTION_CUDNN_TRANSPOSED] =  { 4, 2, 5, ABSENT, 3,      6, true,  true },
    [CONVOLUTION_MIOPEN_TRANSPOSED] = { 5, 3, 6, ABSENT, 4,      7, true,  false },
    [CONVOLUTION_RELU] =              { 3, 4, 5, ABSENT, ABSENT, 6, false, false },
    [CONVOLUTION_ADD_RELU] =          { 5, 6, 7, ABSENT, ABSENT, 8, false, false },
};
/* clang-format on */

/* Number D of the list in input INDEX; a list of one number applies to all. OTHERWISE if there is no such input. */
static int64_t op_cost_convolution_number_at(const struct op_call *call, size_t index, size_t d,
                                             int64_t otherwise)
{
    struct shape numbers;
    if (index == ABSENT)
        return otherwise;
    if (!op_call_numbers(call, index, &numbers) || numbers.count == 0)
        return OP_UNKNOWN;
    return numbers.count == 1 ? numbers.size[0] : d < numbers.count ? numbers.size[d] : OP_UNKNOWN;
}

/* The output size in spatial dimension D; unknown if the parameters are not recorded, or invalid. */
static int64_t output_size(const struct op_call *call, const struct layout *at, size_t d, bool transposed)
{
    int64_t size = call->in[0].sizes.size[2 + d], kernel = call->in[1].sizes.size[2 + d];
    int64_t stride = op_cost_convolution_number_at(call, at->stride, d, 1),
            padding = op_cost_convolution_number_at(call, at->padding, d, 0);
    int64_t dilation = op_cost_convolution_number_at(call, at->dilation, d, 1);
    int64_t more = transposed ? op_cost_convolution_number_at(call, at->output_padding, d, 0) : 0;
    enum { MOST = 1 << 30 }; /* limit of each, so that the results fit 64 bits */
    if (stride < 1 || stride > MOST || padding < 0 || padding > MOST || dilation < 1 || dilation > MOST ||
        more < 0 || more > MOST || size < 0 || size > MOST || kernel < 1 || kernel > MOST)
        return OP_UNKNOWN;
    int64_t reach = dilation * (kernel - 1);
    int64_t output = transposed ? (size - 1) * stride - 2 * padding + reach + more + 1
                                : (size + 2 * padding - reach - 1) / stride + 1;
    return !transposed && size + 2 * padding < reach + 1 ? OP_UNKNOWN : output < 0 ? OP_UNKNOWN : output;
}

static int64_t space_of(const struct op_input *input)
{
    int64_t space = 1;
    for (size_t d = 2; d < input->sizes.count; d++)
        space = count_times(space, input->sizes.size[d]);
    return space;
}

/* Are inputs 0 and 1 a batch and weights of the same dimensions? */
static bool are_sizes(const struct op_call *call, size_t input, size_t weight)
{
    return op_call_sized(call, input) && op_call_sized(call, weight) && call->in[input].sizes.count >= 3 &&
           call->in[input].sizes.count == call->in[weight].sizes.count;
}

/* From the sizes of the output, where numbers such as the stride are not recorded. Weights of groups are counted by their elements. */
static void cost_by_output(const struct op_call *call, size_t inputs, struct op_cost *cost)
{
    const struct op_input *input = &call->in[0], *weight = &call->in[1];
    int64_t space = 1;
    if (call->output.count != input->sizes.count || call->output.size[1] != weight->sizes.size[0])
        return;
    for (size_t d = 2; d < call->output.count; d++)
        space = count_times(space, call->output.size[d]);
    int64_t outputs = count_times(input->sizes.size[0], count_times(weight->sizes.size[0], space));
    cost->flops = count_times(2, count_times(count_times(input->sizes.size[0], weight->elements), space));
    cost->bytes = count_plus(bytes_read_all(call, 0, inputs), bytes_of(outputs, input->type));
}

void op_cost_convolution(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    struct layout at = layouts[model->form];
    if (!are_sizes(call, 0, 1))
        return;
    const struct op_input *input = &call->in[0], *weight = &call->in[1];
    struct shape numbers;
    if (call->output.count && !at.is_transposed) {
        cost_by_output(call, model->inputs, cost);
        return;
    }
    if (at.may_shift && !op_call_numbers(call, 2, &numbers)) {
        at.stride++;
        at.padding++;
        at.dilation++;
        at.groups++;
        at.output_padding += at.output_padding != ABSENT;
    }
    enum op_flag flag =
        at.transposed == ABSENT ? (enum op_flag)at.is_transposed : op_call_flag(call, at.transposed);
    if (flag == OP_FLAG_UNKNOWN)
        return;
    int64_t space = 1;
    for (size_t d = 0; d + 2 < input->sizes.count; d++)
        space = count_times(space, output_size(call, &at, d, flag == OP_TRUE));
    int64_t groups = op_call_integer(call, at.groups, OP_UNKNOWN);
    int64_t channels = flag == OP_TRUE ? count_times(weight->sizes.size[1], groups) : weight->sizes.size[0];
    int64_t outputs = count_times(input->sizes.size[0], count_times(channels, space));
    cost->flops = count_times(2, count_times(count_times(input->sizes.size[0], weight->elements),
                                             flag == OP_TRUE ? space_of(input) : space));
    cost->bytes = count_plus(bytes_read_all(call, 0, model->inputs), bytes_of(outputs, input->type));
}

/* (gradient, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask):
 * the cost of the forward pass for each requested gradient of input and weight. */
void op_cost_convolution_backward(const struct op_model *model, const struct op_call *call,
                                  struct op_cost *cost)
{
    (void)model;
    enum { GRADIENT, INPUT, WEIGHT, TRANSPOSED = 7, MASK = 10 };
    enum op_flag transposed = op_call_flag(call, TRANSPOSED), wants[3];
    if (!are_sizes(call, INPUT, WEIGHT) || !are_sizes(call, GRADIENT, WEIGHT) ||
        transposed == OP_FLAG_UNKNOWN)
        return;
    for (size_t i = 0; i < 3; i++)
        if ((wants[i] = op_call_flag_at(call, MASK, i)) == OP_FLAG_UNKNOWN)
            return;
    const struct op_input *gradient = &call->in[GRADIENT], *input = &call->in[INPUT],
                          *weight = &call->in[WEIGHT];
    int64_t once = count_times(2, count_times(count_times(input->sizes.size[0], weight->elements),
                                              space_of(transposed ? input : gradient)));
    int64_t bytes = bytes_read(call, GRADIENT);
    if (wants[0])
        bytes =
            count_plus(bytes, count_plus(bytes_read(call, WEIGHT), bytes_of(input->elements, input->type)));
    if (wants[1])
        bytes =
            count_plus(bytes, count_plus(bytes_read(call, INPUT), bytes_of(weight->elements, weight->type)));
    if (wants[2])
        bytes = count_plus(bytes, bytes_of(gradient->sizes.size[1], weight->type));
    cost->flops = count_times(once, (int64_t)wants[0] + (int64_t)wants[1]);
    cost->bytes = bytes;
}

/* The product of GRADIENT, at each of its positions, with all of WEIGHT, inputs of CALL. */
static int64_t flops_by_gradient(const struct op_call *call, size_t gradient, size_t weight)
{
    return count_times(2,
                       count_times(count_times(call->in[gradient].sizes.size[0], call->in[weight].elements),
                                   space_of(&call->in[gradient])));
}

/* (sizes of the input, gradient, weight, ...): the input's gradient is as large as these sizes, which are not recorded. */
void op_cost_convolution_by_input(const struct op_model *model, const struct op_call *call,
                                  struct op_cost *cost)
{
    (void)model;
    enum { GRADIENT = 1, WEIGHT };
    if (are_sizes(call, GRADIENT, WEIGHT) &&
        call->in[GRADIENT].sizes.size[1] == call->in[WEIGHT].sizes.size[0])
        cost->flops = flops_by_gradient(call, GRADIENT, WEIGHT);
    cost->type = GRADIENT < call->count ? call->in[GRADIENT].type : NULL;
}

/* (input, gradient, weight, ...) */
void op_cost_convolution_by_weight(const struct op_model *model, const struct op_call *call,
                                   struct op_cost *cost)
{
    (void)model;
    enum { INPUT, GRADIENT, WEIGHT };
    if (!are_sizes(call, INPUT, WEIGHT) || !are_sizes(call, GRADIENT, WEIGHT) ||
        call->in[GRADIENT].sizes.size[1] != call->in[WEIGHT].sizes.size[0])
        return;
    cost->flops = flops_by_gradient(call, GRADIENT, WEIGHT);
    cost->bytes = count_plus(count_plus(bytes_read(call, INPUT), bytes_read(call, GRADIENT)),
                             bytes_of(call->in[WEIGHT].elements, call->in[WEIGHT].type));
}
