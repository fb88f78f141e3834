/* op_cost.c - see op_cost.h: which operators there are. Each family has a file of its own. */
#include "derive/op_cost.h"

/* clang-format off */
#define PRODUCT(inputs, form) { OP_MATRIX, op_cost_product, inputs, form, 0, false }
#define CONVOLUTION(inputs, form) { OP_MATRIX, op_cost_convolution, inputs, form, 0, false }
#define ATTENTION(inputs, form) { OP_MATRIX, op_cost_attention, inputs, form, 0, false }
#define VARIED(inputs) { OP_MATRIX, op_cost_attention_varied, inputs, 0, 0, false }
#define NORM(inputs, form, operations) { OP_VECTOR, op_cost_norm, inputs, form, operations, false }
#define GIVEN(in_place, operations) { OP_VECTOR, op_cost_given, 8, in_place, operations, false }
#define REDUCTION(inputs, form, operations) { OP_VECTOR, op_cost_reduction, inputs, form, operations, false }
#define MOVE(inputs, form) { OP_MOVE, op_cost_move, inputs, form, 0, false }

static const struct {
    const char *name;
    struct op_model model;
} models[] = {
    { "aten::mm", PRODUCT(2, PRODUCT_MM) },
    { "aten::addmm", PRODUCT(5, PRODUCT_ADDMM) },
    { "aten::bmm", PRODUCT(2, PRODUCT_BMM) },
    { "aten::baddbmm", PRODUCT(5, PRODUCT_BADDBMM) },
    { "aten::_addmm_activation", PRODUCT(6, PRODUCT_ADDMM) },
    { "aten::addmm_", PRODUCT(5, PRODUCT_ADDMM) },
    { "aten::baddbmm_", PRODUCT(5, PRODUCT_BADDBMM) },
    { "aten::_scaled_mm", PRODUCT(8, PRODUCT_SCALED) },
    { "aten::_scaled_mm_v2", PRODUCT(12, PRODUCT_SCALED_LISTS) },
    { "aten::_int_mm", PRODUCT(2, PRODUCT_INT) },
    { "aten::mv", PRODUCT(2, PRODUCT_MV) },
    { "aten::addmv", PRODUCT(5, PRODUCT_ADDMV) },
    { "aten::addmv_", PRODUCT(5, PRODUCT_ADDMV) },
    { "aten::_grouped_mm", PRODUCT(5, PRODUCT_GROUPED) },
    { "aten::_scaled_grouped_mm", PRODUCT(9, PRODUCT_SCALED_GROUPED) },
    { "vllm::inplace_fused_experts", PRODUCT(5, PRODUCT_EXPERTS) },
    { "vllm::outplace_fused_experts", PRODUCT(5, PRODUCT_EXPERTS) },
    { "sglang::inplace_fused_experts", PRODUCT(5, PRODUCT_EXPERTS) },
    { "sglang::outplace_fused_experts", PRODUCT(5, PRODUCT_EXPERTS) },
    { "sgl_kernel::fused_experts_cpu", PRODUCT(5, PRODUCT_EXPERTS) },
    { "aiter::fused_moe_", PRODUCT(5, PRODUCT_EXPERTS) },

    { "aten::convolution", CONVOLUTION(9, CONVOLUTION_ATEN) },
    { "aten::_convolution", CONVOLUTION(13, CONVOLUTION_ATEN) },
    { "aten::convolution_overrideable", CONVOLUTION(9, CONVOLUTION_ATEN) },
    { "aten::cudnn_convolution", CONVOLUTION(10, CONVOLUTION_CUDNN) },
    { "aten::miopen_convolution", CONVOLUTION(9, CONVOLUTION_MIOPEN) },
    { "aten::miopen_depthwise_convolution", CONVOLUTION(9, CONVOLUTION_MIOPEN) },
    { "aten::mkldnn_convolution", CONVOLUTION(7, CONVOLUTION_MIOPEN) },
    { "aten::cudnn_convolution_transpose", CONVOLUTION(11, CONVOLUTION_CUDNN_TRANSPOSED) },
    { "aten::miopen_convolution_transpose", CONVOLUTION(10, CONVOLUTION_MIOPEN_TRANSPOSED) },
    { "aten::cudnn_convolution_relu", CONVOLUTION(7, CONVOLUTION_RELU) },
    { "aten::miopen_convolution_relu", CONVOLUTION(7, CONVOLUTION_RELU) },
    { "aten::cudnn_convolution_add_relu", CONVOLUTION(9, CONVOLUTION_ADD_RELU) },
    { "aten::miopen_convolution_add_relu", CONVOLUTION(9, CONVOLUTION_ADD_RELU) },
    { "aten::cudnn_convolution_backward", { OP_MATRIX, op_cost_convolution_by_weight, 11, 0, 0, false, true } },
    { "aten::miopen_convolution_backward", { OP_MATRIX, op_cost_convolution_by_weight, 10, 0, 0, false, true } },
    { "aten::cudnn_convolution_backward_input", { OP_MATRIX, op_cost_convolution_by_input, 10, 0, 0, false } },
    { "aten::miopen_convolution_backward_input", { OP_MATRIX, op_cost_convolution_by_input, 9, 0, 0, false } },
    { "aten::convolution_backward", { OP_MATRIX, op_cost_convolution_backward, 11, 0, 0, false } },

    { "aten::_scaled_dot_product_flash_attention", ATTENTION(7, ATTENTION_SDPA_FLASH) },
    { "aten::_scaled_dot_product_flash_attention_for_cpu", ATTENTION(7, ATTENTION_SDPA_FLASH) },
    { "aten::_scaled_dot_product_efficient_attention", ATTENTION(8, ATTENTION_SDPA_EFFICIENT) },
    { "aten::_scaled_dot_product_cudnn_attention", ATTENTION(9, ATTENTION_SDPA_EFFICIENT) },
    { "aten::_scaled_dot_product_fused_attention_overrideable", ATTENTION(8, ATTENTION_SDPA_OVERRIDEABLE) },
    { "aten::_flash_attention_forward", ATTENTION(15, ATTENTION_FLASH) },
    { "aten::_efficient_attention_forward", ATTENTION(14, ATTENTION_EFFICIENT) },
    { "flash_attn::_flash_attn_forward", ATTENTION(11, ATTENTION_FLASH_ATTN) },
    { "aten::_scaled_dot_product_flash_attention_backward", ATTENTION(15, ATTENTION_SDPA_FLASH_BACKWARD) },
    { "aten::_scaled_dot_product_flash_attention_for_cpu_backward", ATTENTION(10, ATTENTION_SDPA_CPU_BACKWARD) },
    { "aten::_scaled_dot_product_efficient_attention_backward", ATTENTION(13, ATTENTION_SDPA_FLASH_BACKWARD) },
    { "aten::_scaled_dot_product_cudnn_attention_backward", ATTENTION(16, ATTENTION_SDPA_CUDNN_BACKWARD) },
    { "aten::_flash_attention_backward", ATTENTION(17, ATTENTION_FLASH_BACKWARD) },
    { "aten::_efficient_attention_backward", ATTENTION(20, ATTENTION_EFFICIENT_BACKWARD) },
    { "flash_attn::_flash_attn_backward", ATTENTION(6, ATTENTION_FLASH_ATTN_BACKWARD) },
    { "flash_attn::_flash_attn_varlen_forward", VARIED(7) },
    { "vllm::unified_attention", VARIED(3) },
    { "vllm::unified_attention_with_output", VARIED(4) },
    { "_vllm_fa2_C::varlen_fwd", VARIED(3) },
    { "_vllm_fa3_C::fwd", VARIED(3) },

    { "aten::_softmax", NORM(3, NORM_SOFTMAX, 5) },
    { "aten::_log_softmax", NORM(3, NORM_SOFTMAX, 5) },
    { "aten::_softmax_backward_data", NORM(4, NORM_SOFTMAX_BACKWARD, 4) },
    { "aten::_log_softmax_backward_data", NORM(4, NORM_SOFTMAX_BACKWARD, 4) },
    { "aten::native_layer_norm", NORM(5, NORM_LAYER, 5) },
    { "aten::native_group_norm", NORM(8, NORM_GROUP, 5) },
    { "aten::native_batch_norm", NORM(8, NORM_BATCH, 5) },
    { "aten::_native_batch_norm_legit", NORM(8, NORM_BATCH, 5) },
    { "aten::cudnn_batch_norm", NORM(8, NORM_BATCH, 5) },
    { "aten::miopen_batch_norm", NORM(8, NORM_BATCH, 5) },
    { "aten::_fused_rms_norm", NORM(4, NORM_RMS, 4) },
    { "aten::native_layer_norm_backward", NORM(8, NORM_LAYER_BACKWARD, 8) },
    { "aten::native_group_norm_backward", NORM(10, NORM_GROUP_BACKWARD, 8) },
    { "aten::native_batch_norm_backward", NORM(10, NORM_BATCH_BACKWARD, 8) },
    { "aten::cudnn_batch_norm_backward", NORM(9, NORM_CUDNN_BATCH_BACKWARD, 8) },
    { "aten::miopen_batch_norm_backward", NORM(8, NORM_CUDNN_BATCH_BACKWARD, 8) },
    { "aten::_fused_rms_norm_backward", NORM(6, NORM_RMS_BACKWARD, 8) },

    { "_C::rms_norm", GIVEN(0, 4) },
    { "sgl_kernel::rmsnorm", GIVEN(0, 4) },
    { "aiter::rmsnorm", GIVEN(0, 4) },
    { "aiter::rms_norm", NORM(3, NORM_RMS, 4) },
    { "_C::fused_add_rms_norm", GIVEN(2, 5) },
    { "aiter::add_rmsnorm", GIVEN(0, 5) },
    { "aiter::rmsnorm2d_fwd_with_add_ck", GIVEN(0, 5) },
    { "sgl_kernel::fused_add_rmsnorm", GIVEN(2, 5) },
    { "_C::silu_and_mul", GIVEN(0, 3) },
    { "sgl_kernel::silu_and_mul", GIVEN(0, 3) },
    { "_C::static_scaled_fp8_quant", GIVEN(0, 2) },
    { "_C::dynamic_scaled_fp8_quant", GIVEN(0, 2) },
    { "_C::dynamic_per_token_scaled_fp8_quant", GIVEN(0, 2) },

    { "aten::sum", REDUCTION(4, REDUCTION_SUM, 1) },
    { "aten::mean", REDUCTION(4, REDUCTION_MEAN, 1) },
    { "aten::amax", REDUCTION(3, REDUCTION_EXTREME, 1) },
    { "aten::amin", REDUCTION(3, REDUCTION_EXTREME, 1) },
    { "aten::argmax", REDUCTION(3, REDUCTION_INDEX, 1) },
    { "aten::argmin", REDUCTION(3, REDUCTION_INDEX, 1) },
    { "aten::norm", REDUCTION(5, REDUCTION_NORM, 2) },
    { "aten::linalg_vector_norm", REDUCTION(5, REDUCTION_NORM, 2) },

    { "aten::copy_", MOVE(2, MOVE_COPY) },
    { "aten::fill_", MOVE(2, MOVE_FILL) },
    { "aten::zero_", MOVE(1, MOVE_FILL) },
    { "aten::index_select", MOVE(3, MOVE_INDEX_SELECT) },
    { "aten::gather", MOVE(4, MOVE_GATHER) },
    { "aten::embedding", MOVE(5, MOVE_EMBEDDING) },
};
/* clang-format on */

/* Kernels that torch.compile makes: element by element, reductions. Its templates multiply matrices, but their names do
 * not show it. */
static bool is_fused(const char *name)
{
    return strncmp(name, "triton_poi_", 11) == 0 || strncmp(name, "triton_red_", 11) == 0 ||
           strncmp(name, "triton_per_", 11) == 0;
}

bool op_model_find(const char *name, struct op_model *model)
{
    if (is_fused(name)) {
        *model = (struct op_model){ .class = OP_FUSED, .cost = op_cost_fused, .inputs = OP_MAX_INPUTS };
        return true;
    }
    if (!strstr(name, "::"))
        return false;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(name, models[i].name) == 0) {
            *model = models[i].model;
            return true;
        }
    return op_elements_find(name, model);
}

const char *op_model_lacks(const char *name)
{
    static const char *const without_weights[] = { "vllm::moe_forward", "vllm::moe_forward_shared" };
    struct op_model model;
    if (ANY(i, sizeof without_weights / sizeof *without_weights, strcmp(name, without_weights[i]) == 0))
        return "the experts' weights are none of its inputs";
    return op_model_find(name, &model) ? "its sizes were not recorded, or do not fit" : NULL;
}

bool op_cost_of(const struct op_model *model, const struct op_call *call, struct op_cost *cost)
{
    *cost = (struct op_cost){ OP_UNKNOWN, OP_UNKNOWN, 0, call->count ? call->in[0].type : NULL };
    model->cost(model, call, cost);
    return cost->flops > 0 || cost->bytes > 0; /* OP_UNKNOWN is below 0 */
}

bool op_model_is_attention(const struct op_model *model)
{
    return model->cost == op_cost_attention || model->cost == op_cost_attention_varied;
}
