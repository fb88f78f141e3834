/*
 * flops.h - the floating-point operations of an operator call, counted as in torch.
 *
 * torch counts seven operators (torch/csrc/profiler/util.cpp, computeFlops); all others count as 0. So do calls with
 * unsupported shapes: a convolution of three dimensions, one whose padding is a word, a tensor of no elements.
 *
 *     conv2d         2 N Ho Wo Kh Kw Cin Cout / groups, with Ho = (H + 2 padding - dilation (Kh - 1) - 1) / stride + 1
 *     mm, addmm      2 m k n
 *     bmm, baddbmm   2 b m k n
 *     mul, add       one per element of the first input
 */
#ifndef TPA_DERIVE_FLOPS_H
#define TPA_DERIVE_FLOPS_H

#include <stddef.h>
#include <stdint.h>

enum flops_operator {
    FLOPS_NONE,
    FLOPS_CONV2D,
    FLOPS_MM,
    FLOPS_ADDMM,
    FLOPS_BMM,
    FLOPS_BADDBMM,
    FLOPS_MUL,
    FLOPS_ADD,
};

/* Which of the seven NAME is ("aten::mm"). */
enum flops_operator flops_operator_of(const char *name);

/* The operations of a call, from its `Input Dims` and `Concrete Inputs` (NULL when not recorded). */
int64_t flops_count(enum flops_operator op, const char *input_dims, const char *concrete_inputs);

#endif
