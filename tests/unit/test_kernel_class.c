/* Tests of derive/kernel_class: names that libraries give their kernels, and what these compute. */

#include "tests/unit/unit.h"
#include "derive/kernel_class.h"

TEST(names_tell_family_and_precision)
{
    static const struct {
        const char *name;
        enum kernel_family family;
        enum kernel_precision precision;
        enum tensor_use use;
    } known[] = {
        { "ampere_sgemm_128x64_nn", FAMILY_PRODUCT, PRECISION_FP32, TENSOR_NO },
        { "volta_sgemm_32x128_nt", FAMILY_PRODUCT, PRECISION_FP32, TENSOR_NO },
        { "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", FAMILY_PRODUCT, PRECISION_BF16,
          TENSOR_YES },
        { "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn", FAMILY_PRODUCT, PRECISION_FP16,
          TENSOR_YES },
        { "volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_nn", FAMILY_PRODUCT, PRECISION_FP16, TENSOR_YES },
        { "turing_fp16_s1688gemm_fp16_64x64_ldg8_f2f_tn", FAMILY_PRODUCT, PRECISION_FP16, TENSOR_YES },
        { "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nt_align4>(int)", FAMILY_PRODUCT,
          PRECISION_TF32, TENSOR_YES },
        { "void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(int)", FAMILY_PRODUCT,
          PRECISION_FP32, TENSOR_NO },
        { "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_stage3", FAMILY_PRODUCT, PRECISION_TF32,
          TENSOR_YES },
        { "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1", FAMILY_PRODUCT,
          PRECISION_BF16, TENSOR_YES },
        { "sm90_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize64x64x64", FAMILY_PRODUCT, PRECISION_FP16,
          TENSOR_YES },
        { "nvjet_hsh_128x128_64x6_1x2_h_bz_TNT", FAMILY_PRODUCT, PRECISION_FP16, TENSOR_YES },
        { "nvjet_tst_192x192_64x4_2x1_v_bz_TNT", FAMILY_PRODUCT, PRECISION_BF16, TENSOR_YES },
        { "nvjet_qqtst_128x128_128x6_1x2_h_bz_TNT", FAMILY_PRODUCT, PRECISION_FP8, TENSOR_YES },
        { "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256_MI16x16x1", FAMILY_PRODUCT,
          PRECISION_BF16, TENSOR_YES },
        { "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw", FAMILY_CONVOLUTION,
          PRECISION_TF32, TENSOR_YES },
        { "void implicit_convolve_sgemm<float, float, 128, 6, 7, 3, 3, 5, 1>(int)", FAMILY_CONVOLUTION,
          PRECISION_FP32, TENSOR_NO },
        { "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", FAMILY_CONVOLUTION, PRECISION_FP32,
          TENSOR_NO },
        { "void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, cutlass::bfloat16_t> >(int)",
          FAMILY_ATTENTION, PRECISION_UNKNOWN, TENSOR_UNKNOWN },
        { "void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)", FAMILY_REDUCTION, PRECISION_UNKNOWN,
          TENSOR_UNKNOWN },
        { "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)",
          FAMILY_ELEMENTWISE, PRECISION_UNKNOWN, TENSOR_UNKNOWN },
        { "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<AdamFunctor>(int)",
          FAMILY_OPTIMIZER, PRECISION_UNKNOWN, TENSOR_UNKNOWN },
        { "void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, false, false>(int)",
          FAMILY_SOFTMAX, PRECISION_UNKNOWN, TENSOR_UNKNOWN },
        { "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", FAMILY_COMMUNICATION,
          PRECISION_UNKNOWN, TENSOR_UNKNOWN },
        { "Memcpy HtoD (Pinned -> Device)", FAMILY_COPY, PRECISION_UNKNOWN, TENSOR_UNKNOWN },
        { "triton_poi_fused_add_0", FAMILY_ELEMENTWISE, PRECISION_UNKNOWN, TENSOR_UNKNOWN },
        { "my_kernel", FAMILY_OTHER, PRECISION_UNKNOWN, TENSOR_UNKNOWN },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct kernel_class class = kernel_class_of(known[i].name);
        if (class.family != known[i].family || class.precision != known[i].precision ||
            class.tensor_use != known[i].use)
            fail_msg("%s is a %s of '%s', tensor use %s", known[i].name, kernel_family_name(class.family),
                     kernel_precision_name(class.precision), tensor_use_name(class.tensor_use));
    }
}
