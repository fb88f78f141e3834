/*
 * tensor_types.h - the types of elements that tensors have: how large they are, and what computes with them.
 *
 *     const struct tensor_type *type = tensor_type_named("c10::BFloat16", 13);
 *     int64_t bytes = type ? elements * type->size : -1;        // NULL: no tensor, or a type that is unknown
 *
 * Names are those of C++, as Kineto writes them into `Input type`; numbers are those of c10::ScalarType, as which an argument
 * `dtype` is recorded.
 */
#ifndef TPA_FACTS_TENSOR_TYPES_H
#define TPA_FACTS_TENSOR_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* What a device has a peak rate for: types on matrix units (tensor cores), then types without these. */
enum peak_rate {
    PEAK_FP4,
    PEAK_FP8,
    PEAK_INT8,
    PEAK_FP16,
    PEAK_BF16,
    PEAK_TF32,
    PEAK_FP64_MATRIX,
    PEAK_FP32, /* vector units */
    PEAK_FP64, /* vector units */
    PEAK_RATES,
    PEAK_NONE = PEAK_RATES
};

enum tensor_sort { ELEMENT_BOOL, ELEMENT_INTEGER, ELEMENT_FLOAT, ELEMENT_COMPLEX };

struct tensor_type {
    const char *name; /* "c10::BFloat16" */
    int64_t size;     /* bytes of an element */
    enum tensor_sort sort;
    int number; /* of c10::ScalarType */
    enum peak_rate
        matrix; /* on matrix units; PEAK_NONE: these do not take it, as float32 where it is not rounded to TF32 */
};

/* The type called NAME (LEN bytes); NULL when none is. */
const struct tensor_type *tensor_type_named(const char *name, size_t len);

/* The type with NUMBER; NULL when none has it. */
const struct tensor_type *tensor_type_numbered(int64_t number);

/* What torch makes of elements of A and B together (c10::promoteTypes). Either may be NULL: the other. */
const struct tensor_type *tensor_type_promote(const struct tensor_type *a, const struct tensor_type *b);

#endif
