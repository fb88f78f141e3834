/* kernel_class.c - see kernel_class.h. The lists are ordered: the first that matches a name decides. */
#include "derive/kernel_class.h"

#include "base/memory.h"
#include "derive/communication.h"
#include <ctype.h>

/* Demangled names of templates are long; what they are is said early. */
enum { BYTES_READ = 16 << 10 };

static const struct {
    const char *word;
    enum kernel_family family;
} families[] = {
    { "memcpy", FAMILY_COPY },
    { "memset", FAMILY_COPY },
    { "copybuffer", FAMILY_COPY },
    { "fillbuffer", FAMILY_COPY },
    { "flash", FAMILY_ATTENTION },
    { "fmha", FAMILY_ATTENTION },
    { "attention", FAMILY_ATTENTION },
    { "attn", FAMILY_ATTENTION },
    { "multi_tensor_apply", FAMILY_OPTIMIZER },
    { "multi_tensor", FAMILY_OPTIMIZER },
    { "adam", FAMILY_OPTIMIZER },
    { "splitkreduce", FAMILY_REDUCTION },
    { "reducesplitk", FAMILY_REDUCTION },
    { "layer_norm", FAMILY_NORM },
    { "layernorm", FAMILY_NORM },
    { "batch_norm", FAMILY_NORM },
    { "batchnorm", FAMILY_NORM },
    { "group_norm", FAMILY_NORM },
    { "groupnorm", FAMILY_NORM },
    { "rms_norm", FAMILY_NORM },
    { "rmsnorm", FAMILY_NORM },
    { "rowwisemoments", FAMILY_NORM },
    { "gammabeta", FAMILY_NORM },
    { "bn_fw", FAMILY_NORM },
    { "bn_bw", FAMILY_NORM },
    { "softmax", FAMILY_SOFTMAX },
    { "nchwtonhwc", FAMILY_ELEMENTWISE },
    { "nhwctonchw", FAMILY_ELEMENTWISE },
    { "embedding", FAMILY_INDEX },
    { "gather", FAMILY_INDEX },
    { "scatter", FAMILY_INDEX },
    { "indexselect", FAMILY_INDEX },
    { "index_select", FAMILY_INDEX },
    { "index_elementwise", FAMILY_INDEX },
    { "radixsort", FAMILY_INDEX },
    { "conv", FAMILY_CONVOLUTION }, /* implicit_convolve_sgemm, conv2d_grouped, convolution */
    { "scudnn", FAMILY_CONVOLUTION },
    { "winograd", FAMILY_CONVOLUTION },
    { "implicit_gemm", FAMILY_CONVOLUTION },
    { "fprop", FAMILY_CONVOLUTION },
    { "dgrad", FAMILY_CONVOLUTION },
    { "wgrad", FAMILY_CONVOLUTION },
    { "gemm", FAMILY_PRODUCT },
    { "gemv", FAMILY_PRODUCT },
    { "gemk1", FAMILY_PRODUCT },
    { "nvjet", FAMILY_PRODUCT },
    { "cijk_", FAMILY_PRODUCT },
    { "matmul", FAMILY_PRODUCT },
    { "triton_mm", FAMILY_PRODUCT },
    { "triton_tem_", FAMILY_PRODUCT },
    { "marlin", FAMILY_PRODUCT },
    { "dot_kernel", FAMILY_PRODUCT },
    { "triton_red_", FAMILY_REDUCTION },
    { "triton_per_", FAMILY_REDUCTION },
    { "reduce", FAMILY_REDUCTION },
    { "reduction", FAMILY_REDUCTION },
    { "triton_poi_", FAMILY_ELEMENTWISE },
    { "elementwise", FAMILY_ELEMENTWISE },
    { "catarray", FAMILY_ELEMENTWISE },
    { "dropout", FAMILY_ELEMENTWISE },
    { "act_and_mul", FAMILY_ELEMENTWISE },
    { "rotary", FAMILY_ELEMENTWISE },
};

/* Precisions in names of cuBLAS (s16816gemm_bf16, nvjet_tst), cuDNN and cuBLASLt (f32f32_tf32f32, bf16bf16_bf16f32), CUTLASS
 * (tensorop_s1688gemm), templates (c10::BFloat16) and Tensile (_BBS_). */
static const struct {
    const char *word;
    enum kernel_precision precision;
} precisions[] = {
    { "fp4", PRECISION_FP4 },       { "e2m1", PRECISION_FP4 },
    { "e4m3", PRECISION_FP8 },      { "e5m2", PRECISION_FP8 },
    { "fp8", PRECISION_FP8 },       { "float8", PRECISION_FP8 },
    { "qgmma", PRECISION_FP8 },     { "nvjet_qq", PRECISION_FP8 },
    { "_f8", PRECISION_FP8 },       { "bf16", PRECISION_BF16 },
    { "bfloat16", PRECISION_BF16 }, { "nvjet_ts", PRECISION_BF16 },
    { "nvjet_tt", PRECISION_BF16 }, { "_bbs_", PRECISION_BF16 },
    { "_b_b_", PRECISION_BF16 },    { "tf32", PRECISION_TF32 },
    { "xf32", PRECISION_TF32 },     { "f16", PRECISION_FP16 },
    { "fp16", PRECISION_FP16 },     { "half", PRECISION_FP16 },
    { "hgemm", PRECISION_FP16 },    { "h884", PRECISION_FP16 },
    { "h1688", PRECISION_FP16 },    { "h16816", PRECISION_FP16 },
    { "hmma", PRECISION_FP16 },     { "s884", PRECISION_FP16 },
    { "nvjet_hs", PRECISION_FP16 }, { "nvjet_hh", PRECISION_FP16 },
    { "_hhs_", PRECISION_FP16 },    { "_hb_", PRECISION_FP16 },
    { "imma", PRECISION_INT8 },     { "int8", PRECISION_INT8 },
    { "i8816", PRECISION_INT8 },    { "i16832", PRECISION_INT8 },
    { "igemm", PRECISION_INT8 },    { "dgemm", PRECISION_FP64 },
    { "dmma", PRECISION_FP64 },     { "d884", PRECISION_FP64 },
    { "double", PRECISION_FP64 },   { "f64f64", PRECISION_FP64 },
    { "_db_", PRECISION_FP64 },     { "s1688", PRECISION_TF32 },
    { "s1684", PRECISION_TF32 },    { "tensorop_s", PRECISION_TF32 },
    { "nvjet_ss", PRECISION_TF32 }, { "sgemm", PRECISION_FP32 },
    { "scudnn", PRECISION_FP32 },   { "simt_s", PRECISION_FP32 },
    { "ffma", PRECISION_FP32 },     { "f32f32_f32f32", PRECISION_FP32 },
    { "_sb_", PRECISION_FP32 },     { "_s_b_", PRECISION_FP32 },
    { "<float", PRECISION_FP32 },   { " float", PRECISION_FP32 },
};

struct kernel_class kernel_class_of(const char *name)
{
    struct kernel_class class = { .family = FAMILY_OTHER };
    if (kernel_is_communication(name)) {
        class.family = FAMILY_COMMUNICATION;
        return class;
    }
    SCOPED char *lower = mem_strndup(name, strnlen(name, BYTES_READ));
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    for (size_t i = 0; i < sizeof families / sizeof *families && class.family == FAMILY_OTHER; i++)
        if (strstr(lower, families[i].word))
            class.family = families[i].family;
    if (class.family == FAMILY_PRODUCT || class.family == FAMILY_CONVOLUTION) {
        class.tensor_use = kernel_tensor_use(name);
        for (size_t i = 0; i < sizeof precisions / sizeof *precisions && class.precision == PRECISION_UNKNOWN;
             i++)
            if (strstr(lower, precisions[i].word))
                class.precision = precisions[i].precision;
    }
    return class;
}

const char *kernel_family_name(enum kernel_family family)
{
    static const char *const names[KERNEL_FAMILIES] = {
        [FAMILY_PRODUCT] = "matrix product",
        [FAMILY_CONVOLUTION] = "convolution",
        [FAMILY_ATTENTION] = "attention",
        [FAMILY_NORM] = "normalization",
        [FAMILY_SOFTMAX] = "softmax",
        [FAMILY_OPTIMIZER] = "optimizer",
        [FAMILY_REDUCTION] = "reduction",
        [FAMILY_ELEMENTWISE] = "elementwise",
        [FAMILY_INDEX] = "index, sort, embedding",
        [FAMILY_COMMUNICATION] = "communication",
        [FAMILY_COPY] = "copy, memset",
        [FAMILY_OTHER] = "other",
    };
    return names[family];
}

const char *kernel_precision_name(enum kernel_precision precision)
{
    static const char *const names[KERNEL_PRECISIONS] = {
        [PRECISION_UNKNOWN] = "",  [PRECISION_FP64] = "fp64", [PRECISION_FP32] = "fp32",
        [PRECISION_TF32] = "tf32", [PRECISION_FP16] = "fp16", [PRECISION_BF16] = "bf16",
        [PRECISION_FP8] = "fp8",   [PRECISION_FP4] = "fp4",   [PRECISION_INT8] = "int8",
    };
    return names[precision];
}
