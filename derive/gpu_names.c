/*
 * gpu_names.c - lists of words, learnt from the kernels of PyTorch 1.8 to 2.14, cuBLAS, cuDNN, CUTLASS, Triton, vLLM,
 * SGLang, TensorRT-LLM, rocBLAS and MIOpen.
 *
 * A name in no list is unknown. The lists are ordered: the first that matches a name decides.
 */
#include "derive/gpu_names.h"

#include "base/memory.h"
#include "derive/communication.h"
#include <ctype.h>

/* C++ names are demangled up to this length, too. */
enum { BYTES_LOOKED_AT = 16 << 10 };

/* The first bytes of NAME in lower case; new. */
static char *lower_case(const char *name)
{
    char *lower = mem_strndup(name, strnlen(name, BYTES_LOOKED_AT));
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return lower;
}

static bool holds_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strstr(text, *words))
            return true;
    return false;
}

/* ---- tensor cores ---- */

/* Explicitly without tensor cores, although other words of the name suggest otherwise. */
static const char *const plain_words[] = { "simt", "ffma", "subtensorop", NULL };

static const char *const tensor_words[] = {
    /* instruction shapes in names of cuBLAS, cuDNN and CUTLASS 2: h884 is m8n8k4 on half */
    "h884",
    "s884",
    "i884",
    "h1688",
    "s1688",
    "c1688",
    "i8816",
    "i16832",
    "16816",
    "161616",
    "s1684",
    "d884",
    "tensor16x8x",
    "tensor8x8x",
    "tensorop",
    "xmma",
    "hmma",
    "imma",
    "dmma",
    "wmma",
    "wgmma",
    "qgmma",
    /* Hopper and Blackwell */
    "nvjet",
    "cutlass3x",
    "tcgen05",
    "dp256b",
    "dp128b",
    "umma",
    "deep_gemm",
    "deepgemm",
    /* attention and quantised products that are written for tensor cores only */
    "flash_fwd",
    "flash_bwd",
    "flashattn",
    "flash_attn",
    "fmha_v2",
    "fmhasm",
    "fmha_cutlassf_f16",
    "fmha_cutlassf_bf16",
    "fmha_cutlassb_f16",
    "fmha_cutlassb_bf16",
    "marlin",
    /* AMD's matrix cores: Tensile's MI16x16x1, composable kernel's xdl, MIOpen's gtcx */
    "mfma",
    "_mi16x16x",
    "_mi32x32x",
    "_mi4x4x",
    "xdlops",
    "_xdl",
    "_gtcx",
    NULL,
};

/* Families that move, add and compare, or multiply on the ordinary units. */
static const char *const ordinary_words[] = {
    "at::native::",
    "at::cuda::",
    "elementwise",
    "vectorized_",
    "reduce_kernel",
    "splitkreduce",
    "cub::",
    "thrust::",
    "sgemm",
    "dgemm",
    "cgemm",
    "zgemm",
    "gemv",
    "gemvx",
    "scudnn",
    "winograd",
    "fft",
    "nchwtonhwc",
    "nhwctonchw",
    "bn_fw",
    "bn_bw",
    "batch_norm",
    "batchnorm",
    "layer_norm",
    "layernorm",
    "rms_norm",
    "rmsnorm",
    "softmax",
    "dropout",
    "multi_tensor_apply",
    "split_embedding",
    "permute_pooled",
    "rotary_embedding",
    "reshape_and_cache",
    "act_and_mul",
    "triton_poi_",
    "triton_red_",
    "triton_per_", /* Inductor's pointwise and reduction kernels contain no tl.dot */
    "batched_transpose",
    "offsetskernel",
    "rocclr_",
    "memory_copy",
    "rocprim::",
    "im2col",
    "nll",
    "dgrad_engine",
    "wgrad_alg0_engine",
    "wgrad_nchw_helper",
    "cudnn::ops::",
    "epilogue::impl::",
    "scal_kernel",
    "fbgemm_gpu::",
    "linearize_index",
    "bounds_check_indices",
    "recat_copy",
    "moe::dev::routing",
    "moe::dev::finalize",
    "quant_kernel",
    "quantize_",
    NULL,
};

enum tensor_use kernel_tensor_use(const char *name)
{
    SCOPED char *lower = lower_case(name);
    enum tensor_use use = TENSOR_UNKNOWN;
    if (kernel_is_communication(name) || holds_one_of(lower, plain_words))
        use = TENSOR_NO;
    else if (holds_one_of(lower, tensor_words))
        use = TENSOR_YES;
    else if (holds_one_of(lower, ordinary_words))
        use = TENSOR_NO;
    return use;
}

const char *tensor_use_name(enum tensor_use use)
{
    static const char *const names[] = {
        [TENSOR_UNKNOWN] = "unknown", [TENSOR_NO] = "no", [TENSOR_YES] = "yes"
    };
    return names[use];
}

/* ---- products ---- */

/* Words of kernels that multiply matrices, convolve or attend. */
static const char *const product_words[] = {
    "gemm",        "gemv",      "cijk_",       "nvjet",          "cutlass",   "xmma",         "matmul",
    "marlin",      "splitk",    "cublas",      "epilogue::impl", "dgrad",     "wgrad",        "fprop",
    "winograd",    "convolve",  "convolution", "conv2d",         "conv3d",    "implicit_con", "scudnn",
    "cudnn_infer", "fft",       "flash_",      "fmha",           "attention", "attn",         "dot_product",
    "_moe_kernel", "fused_moe", NULL,
};

/* Names of operators without their namespace, and beginnings of such. */
static const char *const product_operators[] = {
    "mm",         "addmm",   "bmm",         "baddbmm",
    "matmul",     "linear",  "mv",          "addmv",
    "dot",        "einsum",  "addbmm",      "_addmm_activation",
    "_scaled_mm", "_int_mm", "_grouped_mm", "_scaled_grouped_mm",
    NULL,
};
static const char *const product_beginnings[] = {
    "conv",
    "cudnn_conv",
    "miopen_conv",
    "mkldnn_conv",
    "_conv",
    "_scaled_dot_product",
    "scaled_dot_product",
    "_flash_attention",
    "_efficient_attention",
    "unified_attention",
    "slow_conv",
    NULL,
};

bool kernel_is_product(const char *name)
{
    SCOPED char *lower = lower_case(name);
    return holds_one_of(lower, product_words);
}

bool operator_is_product(const char *name)
{
    const char *colons = strstr(name, "::");
    const char *own = colons ? colons + 2 : name;
    for (size_t i = 0; product_operators[i]; i++)
        if (strcmp(own, product_operators[i]) == 0)
            return true;
    for (size_t i = 0; product_beginnings[i]; i++)
        if (strncmp(own, product_beginnings[i], strlen(product_beginnings[i])) == 0)
            return true;
    return false;
}

/* ---- data loading ---- */

static bool begins_and_ends(const char *name, const char *begin, const char *end)
{
    size_t len = strlen(name), begin_len = strlen(begin), end_len = strlen(end);
    return len >= begin_len + end_len && strncmp(name, begin, begin_len) == 0 &&
           strcmp(name + len - end_len, end) == 0;
}

bool annotation_is_data_loading(const char *name)
{
    static const char tf_data[] = "IteratorGetNext";
    const char *type = strrchr(name, ':');
    if (strncmp(type && type > name && type[-1] != ':' ? type + 1 : name, tf_data, sizeof tf_data - 1) == 0)
        return true;
    return begins_and_ends(name, "enumerate(DataLoader)#", ".__next__") ||
           begins_and_ends(name, "enumerate(DataPipe)#", "");
}
