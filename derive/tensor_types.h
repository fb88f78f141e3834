/*
 * tensor_types.h - the types of elements that tensors have: their size, and the units that compute with them.
 *
 *     const struct tensor_type *type = tensor_type_named("c10::BFloat16", 13);
 *     int64_t bytes = type ? elements * type->size : -1;        // NULL: no tensor, or an unknown type
 *
 * Names are those of C++, as Kineto writes them into `Input type`; numbers are those of c10::ScalarType, as in a
 * recorded argument `dtype`.
 */
#ifndef TPA_DERIVE_TENSOR_TYPES_H
#define TPA_DERIVE_TENSOR_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* Types with a peak rate: on matrix units (tensor cores), then on vector units. */
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
    /* on matrix units; PEAK_NONE: not supported, such as float32 unless rounded to TF32 */
    enum peak_rate matrix;
};

/* The type called NAME (LEN bytes); NULL if unknown. */
const struct tensor_type *tensor_type_named(const char *name, size_t len);

/* The type with NUMBER; NULL if unknown. */
const struct tensor_type *tensor_type_numbered(int64_t number);

/* The type that torch promotes A and B to (c10::promoteTypes). Either may be NULL: the other. */
const struct tensor_type *tensor_type_promote(const struct tensor_type *a, const struct tensor_type *b);

#endif
