/*
 * kernel_class.h - what a kernel computes and in which precision, by its name.
 *
 *     struct kernel_class class = kernel_class_of("ampere_bf16_s16816gemm_bf16_128x64_nn");
 *     printf("%s", kernel_family_name(class.family));            // "matrix product"
 *     printf("%s", kernel_precision_name(class.precision));      // "bf16"
 *
 * Of products and convolutions the precision is that of their inputs, tf32 where float32 goes to tensor cores. A name that does not say
 * it has none. Call once per name.
 */
#ifndef TPA_DERIVE_KERNEL_CLASS_H
#define TPA_DERIVE_KERNEL_CLASS_H

#include "derive/gpu_names.h"

enum kernel_family {
    FAMILY_PRODUCT,
    FAMILY_CONVOLUTION,
    FAMILY_ATTENTION,
    FAMILY_NORM,
    FAMILY_SOFTMAX,
    FAMILY_OPTIMIZER,
    FAMILY_REDUCTION,
    FAMILY_ELEMENTWISE,
    FAMILY_INDEX, /* gathers, scatters, sorts, embeddings */
    FAMILY_COMMUNICATION,
    FAMILY_COPY, /* copies and memsets */
    FAMILY_OTHER,
    KERNEL_FAMILIES
};

enum kernel_precision {
    PRECISION_UNKNOWN,
    PRECISION_FP64,
    PRECISION_FP32,
    PRECISION_TF32,
    PRECISION_FP16,
    PRECISION_BF16,
    PRECISION_FP8,
    PRECISION_FP4,
    PRECISION_INT8,
    KERNEL_PRECISIONS
};

struct kernel_class {
    enum kernel_family family;
    enum kernel_precision precision; /* of products and convolutions; else unknown */
    enum tensor_use tensor_use;      /* the same */
};

struct kernel_class kernel_class_of(const char *name);

const char *kernel_family_name(enum kernel_family family);
const char *kernel_precision_name(enum kernel_precision precision); /* "" for the unknown one */

#endif
