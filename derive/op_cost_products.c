/*
 * op_cost_products.c - products of matrices: 2 B M N K operations.
 *
 * All operands of a product have the type of its first matrix, except the scales and the output of _scaled_mm.
 */
#include "derive/op_cost.h"

#include <math.h>

/* A product of [batch, rows, inner] and [batch, inner, columns]. */
struct product {
    const struct op_input *a, *b;
    int64_t batch, rows, inner, columns;
};

/* The product of inputs FIRST and FIRST + 1 of DIMENSIONS each, 2 or 3; false if their sizes do not match. */
static bool find_product(const struct op_call *call, size_t first, size_t dimensions, struct product *product)
{
    if (!op_call_sized(call, first) || !op_call_sized(call, first + 1))
        return false;
    const struct op_input *a = &call->in[first], *b = &call->in[first + 1];
    if (a->sizes.count != dimensions || b->sizes.count != dimensions)
        return false;
    const int64_t *left = a->sizes.size + dimensions - 2, *right = b->sizes.size + dimensions - 2;
    if (left[1] != right[0] || (dimensions == 3 && a->sizes.size[0] != b->sizes.size[0]))
        return false;
    *product = (struct product){ a, b, dimensions == 3 ? a->sizes.size[0] : 1, left[0], left[1], right[1] };
    return true;
}

static int64_t outputs_of(const struct product *product)
{
    return count_times(product->batch, count_times(product->rows, product->columns));
}

static int64_t flops_of(const struct product *product)
{
    int64_t packed = product->a->type && product->a->type->matrix == PEAK_FP4 ? 2 : 1;
    return count_times(2 * packed, count_times(outputs_of(product), product->inner));
}

/* Both matrices read, OUTPUTS written, all of the type of the first. */
static int64_t bytes_of_product(const struct product *product, int64_t outputs)
{
    return bytes_of(count_plus(count_plus(product->a->stored, product->b->stored), outputs),
                    product->a->type);
}

/* The bytes of the added tensor, input 0, unless the input BETA is 0. */
static int64_t bytes_added(const struct op_call *call, size_t beta, const struct tensor_type *type)
{
    bool is_read = op_call_sized(call, 0) && !op_call_is_zero(call, beta);
    return is_read ? bytes_of(call->in[0].stored, type) : 0;
}

static void cost_plain(const struct op_call *call, size_t first, size_t dimensions, struct op_cost *cost)
{
    struct product product;
    if (!find_product(call, first, dimensions, &product))
        return;
    cost->type = product.a->type;
    cost->flops = flops_of(&product);
    cost->bytes = bytes_of_product(&product, outputs_of(&product));
    if (first == 1)
        cost->bytes = count_plus(cost->bytes, bytes_added(call, 3, cost->type));
}

/* (a, b, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum); until torch 2.4 (a, b, bias, out_dtype,
 * scale_a, scale_b, scale_result, use_fast_accum). */
static void cost_scaled(const struct op_call *call, size_t inputs, struct op_cost *cost)
{
    struct product product;
    if (!find_product(call, 0, 2, &product))
        return;
    size_t dtype = op_call_integer(call, 6, -1) < 0 && op_call_integer(call, 3, -1) >= 0 ? 3 : 6;
    const struct tensor_type *out = requested_type(call, dtype, product.a->type);
    int64_t read = count_plus(bytes_of_product(&product, 0), bytes_read_all(call, 2, inputs));
    cost->flops = flops_of(&product);
    cost->bytes = count_plus(read, bytes_of(outputs_of(&product), out));
}

/* (a, b, scales of a, ...): the sizes and types of lists are not recorded, so the total bytes are unknown. */
static void cost_scaled_lists(const struct op_call *call, struct op_cost *cost)
{
    struct product product;
    if (find_product(call, 0, 2, &product))
        cost->flops = flops_of(&product);
}

static void cost_int(const struct op_call *call, struct op_cost *cost)
{
    struct product product;
    if (!find_product(call, 0, 2, &product))
        return;
    cost->flops = flops_of(&product);
    cost->bytes =
        count_plus(bytes_of_product(&product, 0), bytes_of(outputs_of(&product), tensor_type_numbered(3)));
}

/* A matrix and a vector, inputs FIRST and FIRST + 1. */
static void cost_vector(const struct op_call *call, size_t first, struct op_cost *cost)
{
    if (!op_call_sized(call, first) || !op_call_sized(call, first + 1))
        return;
    const struct op_input *a = &call->in[first], *x = &call->in[first + 1];
    if (a->sizes.count != 2 || x->sizes.count != 1 || a->sizes.size[1] != x->sizes.size[0])
        return;
    cost->type = a->type;
    cost->flops = count_times(2, a->elements);
    cost->bytes = bytes_of(count_plus(count_plus(a->stored, x->stored), a->sizes.size[0]), a->type);
    if (first == 1)
        cost->bytes = count_plus(cost->bytes, bytes_added(call, 3, a->type));
}

/* Rows of a [M, K] times the matrix of their group in b [groups, K, N]; DTYPE is the input with the output type. */
static void cost_grouped(const struct op_call *call, size_t inputs, size_t dtype, struct op_cost *cost)
{
    if (!op_call_sized(call, 0) || !op_call_sized(call, 1))
        return;
    const struct op_input *a = &call->in[0], *b = &call->in[1];
    if (a->sizes.count != 2 || b->sizes.count != 3 || a->sizes.size[1] != b->sizes.size[1])
        return;
    int64_t outputs = count_times(a->sizes.size[0], b->sizes.size[2]);
    int64_t read =
        count_plus(bytes_of(count_plus(a->stored, b->stored), a->type), bytes_read_all(call, 2, inputs));
    cost->flops = count_times(2, count_times(outputs, a->sizes.size[1]));
    cost->bytes = count_plus(read, bytes_of(outputs, requested_type(call, dtype, a->type)));
}

/* (hidden [T, K], w1 [E, J, K], w2 [E, K, N], weights [T, k], experts [T, k]): each row by the J x K and the K x N matrix of its k experts,
 * of E. As many experts are read as T rows choose of E on average, if they choose evenly. */
static void cost_experts(const struct op_call *call, struct op_cost *cost)
{
    enum { HIDDEN, W1, W2, WEIGHTS, CHOSEN };
    for (size_t i = HIDDEN; i <= CHOSEN; i++)
        if (!op_call_sized(call, i) || call->in[i].sizes.count != (i == W1 || i == W2 ? 3 : 2))
            return;
    const struct op_input *hidden = &call->in[HIDDEN], *w1 = &call->in[W1], *w2 = &call->in[W2];
    int64_t rows = hidden->sizes.size[0], inner = hidden->sizes.size[1], experts = w1->sizes.size[0],
            chosen = call->in[CHOSEN].sizes.size[1];
    if (w1->sizes.size[2] != inner || w2->sizes.size[1] != inner || w2->sizes.size[0] != experts ||
        call->in[CHOSEN].sizes.size[0] != rows || experts < 1 || chosen > experts)
        return;
    double read = 1 - pow(1 - (double)chosen / (double)experts, (double)rows);
    int64_t weights = count_plus(bytes_of(w1->stored, w1->type), bytes_of(w2->stored, w2->type));
    cost->flops = count_times(
        2 * inner, count_times(count_times(rows, chosen), count_plus(w1->sizes.size[1], w2->sizes.size[2])));
    cost->type = w1->type && w1->type->matrix == PEAK_FP8 ? w1->type : hidden->type;
    if (weights < 0)
        return;
    cost->bytes =
        count_plus(bytes_of(count_times(2, hidden->stored), hidden->type),
                   count_plus((int64_t)(read * (double)weights), bytes_read_all(call, WEIGHTS, CHOSEN + 1)));
}

void op_cost_product(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    switch ((enum product_form)model->form) {
    case PRODUCT_MM: cost_plain(call, 0, 2, cost); break;
    case PRODUCT_BMM: cost_plain(call, 0, 3, cost); break;
    case PRODUCT_ADDMM: cost_plain(call, 1, 2, cost); break;
    case PRODUCT_BADDBMM: cost_plain(call, 1, 3, cost); break;
    case PRODUCT_SCALED: cost_scaled(call, model->inputs, cost); break;
    case PRODUCT_SCALED_LISTS: cost_scaled_lists(call, cost); break;
    case PRODUCT_INT: cost_int(call, cost); break;
    case PRODUCT_MV: cost_vector(call, 0, cost); break;
    case PRODUCT_ADDMV: cost_vector(call, 1, cost); break;
    case PRODUCT_GROUPED: cost_grouped(call, model->inputs, 4, cost); break;
    case PRODUCT_EXPERTS: cost_experts(call, cost); break;
    case PRODUCT_SCALED_GROUPED: cost_grouped(call, model->inputs, 7, cost); break;
    }
}
