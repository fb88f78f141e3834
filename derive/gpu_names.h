/*
 * gpu_names.h - classifies kernels by their names and those of the operators that launched them.
 *
 * Call once per name, never per event. Names are matched as substrings, ignoring case: libraries put their families in
 * the middle of mangled and demangled names.
 */
#ifndef TPA_DERIVE_GPU_NAMES_H
#define TPA_DERIVE_GPU_NAMES_H

#include <stdbool.h>

/* Does the kernel run on tensor cores (AMD: matrix cores)? */
enum tensor_use {
    TENSOR_UNKNOWN, /* unknown by its name */
    TENSOR_NO,
    TENSOR_YES,
};

/* The use of tensor cores by the kernel NAME. */
enum tensor_use kernel_tensor_use(const char *name);

/* "yes", "no", "unknown". */
const char *tensor_use_name(enum tensor_use use);

/* Is the kernel one that no other can easily be fused with: a matrix product, a convolution, attention? And the same
 * for operators, whose launches belong to it. */
bool kernel_is_product(const char *name);
bool operator_is_product(const char *name);

/* Is it a wait for the next batch: enumerate(DataLoader)#...__next__ and the like; IteratorGetNext of tf.data, as a
 * function of TensorFlow or as an operator with its type? */
bool annotation_is_data_loading(const char *name);

#endif
