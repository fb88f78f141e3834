/* Arithmetic wraps like torch's, in 64 bits. */
#include "derive/flops.h"

#include "derive/shapes.h"

enum flops_operator flops_operator_of(const char *name)
{
    static const struct {
        const char *name;
        enum flops_operator op;
    } known[] = {
        { "aten::conv2d", FLOPS_CONV2D },   { "aten::mm", FLOPS_MM },   { "aten::addmm", FLOPS_ADDMM },
        { "aten::bmm", FLOPS_BMM },         { "aten::mul", FLOPS_MUL }, { "aten::add", FLOPS_ADD },
        { "aten::baddbmm", FLOPS_BADDBMM },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].op;
    return FLOPS_NONE;
}

static uint64_t elements(const struct shape *shape)
{
    uint64_t product = 1;
    for (size_t i = 0; i < shape->count; i++)
        product *= (uint64_t)shape->size[i];
    return product;
}

static bool has_zero(const struct shape *shape)
{
    return ANY(i, shape->count, shape->size[i] == 0);
}

/* 2 m k n for a (m x k) and b (k x n); BATCHED ones share a first dimension. */
static uint64_t matrix_product(const char *dims, size_t first, bool batched)
{
    struct shape a, b;
    if (!shape_of_input(dims, first, &a) || !shape_of_input(dims, first + 1, &b) || a.count == 0 ||
        b.count == 0 || has_zero(&a) || has_zero(&b))
        return 0;
    uint64_t product = elements(&a) / (uint64_t)a.size[a.count - 1];
    if (batched)
        product /= (uint64_t)a.size[0];
    return 2 * product * elements(&b);
}

/* Two numbers: stride, padding or dilation. A word ("same") is none. */
static bool pair_of(const char *concrete, size_t index, int64_t pair[2])
{
    const char *text;
    size_t len;
    struct shape numbers;
    char copy[64];
    if (!concrete_input(concrete, index, &text, &len) || len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (!shape_parse(copy, &numbers) || numbers.count != 2)
        return false;
    pair[0] = numbers.size[0];
    pair[1] = numbers.size[1];
    return true;
}

static uint64_t convolution(const char *dims, const char *concrete)
{
    struct shape input, weight;
    int64_t stride[2], padding[2], dilation[2];
    const char *text;
    size_t len;
    if (!concrete || !shape_of_input(dims, 0, &input) || !shape_of_input(dims, 1, &weight) ||
        input.count != 4 || weight.count != 4 || !pair_of(concrete, 3, stride) ||
        !pair_of(concrete, 4, padding) || !pair_of(concrete, 5, dilation) ||
        !concrete_input(concrete, 6, &text, &len))
        return 0;
    int64_t groups = strtoll(text, NULL, 10);
    if (groups <= 0 || stride[0] <= 0 || stride[1] <= 0)
        return 0;
    uint64_t product = 2 * (uint64_t)input.size[0];
    for (int i = 0; i < 2; i++) {
        uint64_t kernel = (uint64_t)weight.size[2 + i];
        uint64_t reach =
            (uint64_t)input.size[2 + i] + 2 * (uint64_t)padding[i] - (uint64_t)dilation[i] * (kernel - 1) - 1;
        product *= ((uint64_t)((int64_t)reach / stride[i]) + 1) * kernel;
    }
    return product * (uint64_t)input.size[1] * (uint64_t)weight.size[0] / (uint64_t)groups;
}

int64_t flops_count(enum flops_operator op, const char *input_dims, const char *concrete_inputs)
{
    struct shape first;
    if (!input_dims)
        return 0;
    switch (op) {
    case FLOPS_CONV2D: return (int64_t)convolution(input_dims, concrete_inputs);
    case FLOPS_MM: return (int64_t)matrix_product(input_dims, 0, false);
    case FLOPS_ADDMM: return (int64_t)matrix_product(input_dims, 1, false);
    case FLOPS_BMM: return (int64_t)matrix_product(input_dims, 0, true);
    case FLOPS_BADDBMM: return (int64_t)matrix_product(input_dims, 1, true);
    case FLOPS_MUL:
    case FLOPS_ADD: return shape_of_input(input_dims, 0, &first) ? (int64_t)elements(&first) : 0;
    case FLOPS_NONE: break;
    }
    return 0;
}
