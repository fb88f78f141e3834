/* op_cost_elements.c - operators that work element by element: one operation for each of the output's, by
 * convention. */
#include "derive/op_cost.h"

#include "base/search.h"

#include <ctype.h>

/* Their names after "aten::", sorted; in-place variants with a trailing '_' are equal. */
/* clang-format off */
static const struct elements_operator {
    const char *name;
    uint8_t inputs, form, operations;
} operators[] = {
    { "__and__", 2, ELEMENTS_PLAIN, 1 },
    { "__lshift__", 2, ELEMENTS_PLAIN, 1 },
    { "__or__", 2, ELEMENTS_PLAIN, 1 },
    { "__rshift__", 2, ELEMENTS_PLAIN, 1 },
    { "__xor__", 2, ELEMENTS_PLAIN, 1 },
    { "_prelu_kernel", 2, ELEMENTS_PLAIN, 1 },
    { "_prelu_kernel_backward", 3, ELEMENTS_PLAIN, 1 },
    { "abs", 1, ELEMENTS_PLAIN, 1 },
    { "acos", 1, ELEMENTS_FLOAT, 1 },
    { "acosh", 1, ELEMENTS_FLOAT, 1 },
    { "add", 3, ELEMENTS_PLAIN, 1 },
    { "addcdiv", 4, ELEMENTS_FLOAT, 3 },
    { "addcmul", 4, ELEMENTS_PLAIN, 3 },
    { "asin", 1, ELEMENTS_FLOAT, 1 },
    { "asinh", 1, ELEMENTS_FLOAT, 1 },
    { "atan", 1, ELEMENTS_FLOAT, 1 },
    { "atan2", 2, ELEMENTS_FLOAT, 1 },
    { "atanh", 1, ELEMENTS_FLOAT, 1 },
    { "bitwise_and", 2, ELEMENTS_PLAIN, 1 },
    { "bitwise_left_shift", 2, ELEMENTS_PLAIN, 1 },
    { "bitwise_not", 1, ELEMENTS_PLAIN, 1 },
    { "bitwise_or", 2, ELEMENTS_PLAIN, 1 },
    { "bitwise_right_shift", 2, ELEMENTS_PLAIN, 1 },
    { "bitwise_xor", 2, ELEMENTS_PLAIN, 1 },
    { "ceil", 1, ELEMENTS_PLAIN, 1 },
    { "celu", 2, ELEMENTS_PLAIN, 1 },
    { "clamp", 3, ELEMENTS_PLAIN, 1 },
    { "clamp_max", 2, ELEMENTS_PLAIN, 1 },
    { "clamp_min", 2, ELEMENTS_PLAIN, 1 },
    { "copysign", 2, ELEMENTS_FLOAT, 1 },
    { "cos", 1, ELEMENTS_FLOAT, 1 },
    { "cosh", 1, ELEMENTS_FLOAT, 1 },
    { "deg2rad", 1, ELEMENTS_FLOAT, 1 },
    { "digamma", 1, ELEMENTS_FLOAT, 1 },
    { "div", 2, ELEMENTS_DIVIDE, 1 },
    { "elu", 4, ELEMENTS_PLAIN, 1 },
    { "elu_backward", 6, ELEMENTS_PLAIN, 1 },
    { "eq", 2, ELEMENTS_COMPARE, 1 },
    { "erf", 1, ELEMENTS_FLOAT, 1 },
    { "erfc", 1, ELEMENTS_FLOAT, 1 },
    { "erfinv", 1, ELEMENTS_FLOAT, 1 },
    { "exp", 1, ELEMENTS_FLOAT, 1 },
    { "exp2", 1, ELEMENTS_FLOAT, 1 },
    { "expm1", 1, ELEMENTS_FLOAT, 1 },
    { "floor", 1, ELEMENTS_PLAIN, 1 },
    { "floor_divide", 2, ELEMENTS_PLAIN, 1 },
    { "fmax", 2, ELEMENTS_PLAIN, 1 },
    { "fmin", 2, ELEMENTS_PLAIN, 1 },
    { "fmod", 2, ELEMENTS_PLAIN, 1 },
    { "frac", 1, ELEMENTS_PLAIN, 1 },
    { "ge", 2, ELEMENTS_COMPARE, 1 },
    { "gelu", 2, ELEMENTS_PLAIN, 1 },
    { "gelu_backward", 3, ELEMENTS_PLAIN, 1 },
    { "gt", 2, ELEMENTS_COMPARE, 1 },
    { "hardshrink", 2, ELEMENTS_PLAIN, 1 },
    { "hardsigmoid", 1, ELEMENTS_PLAIN, 1 },
    { "hardsigmoid_backward", 2, ELEMENTS_PLAIN, 1 },
    { "hardswish", 1, ELEMENTS_PLAIN, 1 },
    { "hardswish_backward", 2, ELEMENTS_PLAIN, 1 },
    { "hardtanh", 3, ELEMENTS_PLAIN, 1 },
    { "hardtanh_backward", 4, ELEMENTS_PLAIN, 1 },
    { "heaviside", 2, ELEMENTS_PLAIN, 1 },
    { "hypot", 2, ELEMENTS_PLAIN, 1 },
    { "isinf", 1, ELEMENTS_COMPARE, 1 },
    { "isnan", 1, ELEMENTS_COMPARE, 1 },
    { "isneginf", 1, ELEMENTS_COMPARE, 1 },
    { "isposinf", 1, ELEMENTS_COMPARE, 1 },
    { "le", 2, ELEMENTS_COMPARE, 1 },
    { "leaky_relu", 2, ELEMENTS_PLAIN, 1 },
    { "leaky_relu_backward", 4, ELEMENTS_PLAIN, 1 },
    { "lerp", 3, ELEMENTS_PLAIN, 3 },
    { "lgamma", 1, ELEMENTS_FLOAT, 1 },
    { "log", 1, ELEMENTS_FLOAT, 1 },
    { "log10", 1, ELEMENTS_FLOAT, 1 },
    { "log1p", 1, ELEMENTS_FLOAT, 1 },
    { "log2", 1, ELEMENTS_FLOAT, 1 },
    { "log_sigmoid_forward", 1, ELEMENTS_PLAIN, 1 },
    { "logaddexp", 2, ELEMENTS_FLOAT, 1 },
    { "logical_and", 2, ELEMENTS_COMPARE, 1 },
    { "logical_not", 1, ELEMENTS_COMPARE, 1 },
    { "logical_or", 2, ELEMENTS_COMPARE, 1 },
    { "logical_xor", 2, ELEMENTS_COMPARE, 1 },
    { "logit", 2, ELEMENTS_FLOAT, 1 },
    { "logit_backward", 3, ELEMENTS_FLOAT, 1 },
    { "lt", 2, ELEMENTS_COMPARE, 1 },
    { "masked_fill", 3, ELEMENTS_PLAIN, 1 },
    { "maximum", 2, ELEMENTS_PLAIN, 1 },
    { "minimum", 2, ELEMENTS_PLAIN, 1 },
    { "mish", 1, ELEMENTS_PLAIN, 1 },
    { "mish_backward", 2, ELEMENTS_PLAIN, 1 },
    { "mul", 2, ELEMENTS_PLAIN, 1 },
    { "nan_to_num", 4, ELEMENTS_PLAIN, 1 },
    { "ne", 2, ELEMENTS_COMPARE, 1 },
    { "neg", 1, ELEMENTS_PLAIN, 1 },
    { "nextafter", 2, ELEMENTS_PLAIN, 1 },
    { "pow", 2, ELEMENTS_PLAIN, 1 },
    { "rad2deg", 1, ELEMENTS_FLOAT, 1 },
    { "reciprocal", 1, ELEMENTS_FLOAT, 1 },
    { "relu", 1, ELEMENTS_PLAIN, 1 },
    { "remainder", 2, ELEMENTS_PLAIN, 1 },
    { "round", 1, ELEMENTS_PLAIN, 1 },
    { "rsqrt", 1, ELEMENTS_FLOAT, 1 },
    { "rsub", 3, ELEMENTS_PLAIN, 1 },
    { "sgn", 1, ELEMENTS_PLAIN, 1 },
    { "sigmoid", 1, ELEMENTS_FLOAT, 1 },
    { "sigmoid_backward", 2, ELEMENTS_PLAIN, 1 },
    { "sign", 1, ELEMENTS_PLAIN, 1 },
    { "signbit", 1, ELEMENTS_COMPARE, 1 },
    { "silu", 1, ELEMENTS_PLAIN, 1 },
    { "silu_backward", 2, ELEMENTS_PLAIN, 1 },
    { "sin", 1, ELEMENTS_FLOAT, 1 },
    { "sinc", 1, ELEMENTS_FLOAT, 1 },
    { "sinh", 1, ELEMENTS_FLOAT, 1 },
    { "softplus", 3, ELEMENTS_PLAIN, 1 },
    { "softplus_backward", 4, ELEMENTS_PLAIN, 1 },
    { "softshrink", 2, ELEMENTS_PLAIN, 1 },
    { "sqrt", 1, ELEMENTS_FLOAT, 1 },
    { "sub", 3, ELEMENTS_PLAIN, 1 },
    { "tan", 1, ELEMENTS_FLOAT, 1 },
    { "tanh", 1, ELEMENTS_FLOAT, 1 },
    { "tanh_backward", 2, ELEMENTS_PLAIN, 1 },
    { "threshold", 3, ELEMENTS_PLAIN, 1 },
    { "threshold_backward", 3, ELEMENTS_PLAIN, 1 },
    { "trunc", 1, ELEMENTS_PLAIN, 1 },
    { "where", 3, ELEMENTS_WHERE, 1 },
    { "xlogy", 2, ELEMENTS_FLOAT, 1 },
};
/* clang-format on */

static const struct elements_operator *find(const char *name, size_t len)
{
    size_t i, count = sizeof operators / sizeof *operators;
    SEARCH(i, count, strncmp(operators[i].name, name, len) < 0);
    bool found = i < count && strncmp(operators[i].name, name, len) == 0 && !operators[i].name[len];
    return found ? &operators[i] : NULL;
}

bool op_elements_find(const char *name, struct op_model *model)
{
    if (strncmp(name, "aten::", 6) != 0)
        return false;
    const char *rest = name + 6;
    size_t len = strlen(rest);
    const struct elements_operator *found = find(rest, len);
    bool in_place = !found && len > 1 && rest[len - 1] == '_';
    if (in_place)
        found = find(rest, len - 1);
    if (!found)
        return false;
    *model = (struct op_model){ OP_VECTOR,   op_cost_elements,  found->inputs,
                                found->form, found->operations, in_place };
    return true;
}

/* Sizes as torch broadcasts them: aligned at the last dimension, 1 is expanded. False if they do not match. */
static bool broadcast(struct shape *all, const struct shape *one)
{
    struct shape joined = { .count = all->count > one->count ? all->count : one->count };
    for (size_t d = 1; d <= joined.count; d++) {
        int64_t left = d <= all->count ? all->size[all->count - d] : 1;
        int64_t right = d <= one->count ? one->size[one->count - d] : 1;
        if (left != right && left != 1 && right != 1)
            return false;
        joined.size[joined.count - d] = left == 1 ? right : left;
    }
    *all = joined;
    return true;
}

/* Is input INDEX a floating-point number, or a tensor of no dimensions with one? */
static bool is_float_number(const struct op_input *input)
{
    if (input->sized || input->listed)
        return false;
    if (input->type)
        return input->type->sort == ELEMENT_FLOAT;
    return input->concrete.len &&
           (input->concrete.at[0] == '-' || isdigit((unsigned char)input->concrete.at[0])) &&
           (memchr(input->concrete.at, '.', input->concrete.len) ||
            memchr(input->concrete.at, 'e', input->concrete.len));
}

static bool has_word(const struct op_call *call, size_t index)
{
    struct text text = index < call->count ? call->in[index].concrete : (struct text){ "", 0 };
    return text.len >= 5 && (memcmp(text.at, "trunc", 5) == 0 || memcmp(text.at, "floor", 5) == 0);
}

/* The result type of the inputs; JOINED is that of the tensors with sizes. NULL: unknown. */
static const struct tensor_type *type_made(const struct op_model *model, const struct op_call *call,
                                           const struct tensor_type *joined)
{
    enum { SCALAR_INT64 = 4, SCALAR_FLOAT = 6, SCALAR_BOOL = 11 };
    bool becomes_float =
             model->form == ELEMENTS_FLOAT || (model->form == ELEMENTS_DIVIDE && !has_word(call, 2)),
         becomes_long = false;
    if (!joined || model->form == ELEMENTS_COMPARE)
        return joined ? tensor_type_numbered(SCALAR_BOOL) : NULL;
    if (joined->sort >= ELEMENT_FLOAT)
        return joined;
    for (size_t i = 0; i < call->count && i < model->inputs; i++) {
        const struct op_input *input = &call->in[i];
        becomes_float = becomes_float || is_float_number(input);
        becomes_long = becomes_long || (!input->sized && input->type && input->type->sort == ELEMENT_INTEGER);
    }
    if (becomes_float)
        return tensor_type_numbered(SCALAR_FLOAT);
    return joined->sort == ELEMENT_BOOL && becomes_long ? tensor_type_numbered(SCALAR_INT64) : joined;
}

/* The out= tensor after the operator's own inputs; NULL: none. */
static const struct op_input *out_of(const struct op_model *model, const struct op_call *call)
{
    for (size_t i = model->inputs; i < call->count; i++)
        if (call->in[i].sized)
            return &call->in[i];
    return NULL;
}

void op_cost_elements(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    struct shape output = { .count = 0 };
    const struct tensor_type *joined = NULL, *written;
    bool typed = true, any = false;
    int64_t elements = 1, read = 0;
    for (size_t i = 0; i < call->count && i < model->inputs; i++) {
        const struct op_input *input = &call->in[i];
        if (!input->sized)
            continue;
        if (!broadcast(&output, &input->sizes))
            return;
        any = true;
        typed = typed && input->type;
        if (i > 0 || model->form != ELEMENTS_WHERE)
            joined = tensor_type_promote(joined, input->type);
        read = count_plus(read, bytes_read(call, i));
    }
    if (!any)
        return;
    for (size_t d = 0; d < output.count; d++)
        elements = count_times(elements, output.size[d]);
    const struct op_input *out = out_of(model, call);
    written = !typed ? NULL : model->in_place ? call->in[0].type : type_made(model, call, joined);
    if (out && out->type)
        written = out->type;
    if (!cost->type || !call->in[0].sized)
        cost->type = joined;
    cost->flops = count_times(elements, model->operations);
    cost->bytes = count_plus(read, bytes_of(elements, written));
}
