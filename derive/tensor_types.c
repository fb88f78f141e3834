#include "derive/tensor_types.h"

#include "base/memory.h"

/* clang-format off */
static const struct tensor_type types[] = {
    { "float",                4, ELEMENT_FLOAT,   6,  PEAK_NONE },
    { "c10::BFloat16",        2, ELEMENT_FLOAT,   15, PEAK_BF16 },
    { "c10::Half",            2, ELEMENT_FLOAT,   5,  PEAK_FP16 },
    { "long int",             8, ELEMENT_INTEGER, 4,  PEAK_NONE },
    { "int",                  4, ELEMENT_INTEGER, 3,  PEAK_NONE },
    { "bool",                 1, ELEMENT_BOOL,    11, PEAK_NONE },
    { "double",               8, ELEMENT_FLOAT,   7,  PEAK_FP64_MATRIX },
    { "unsigned char",        1, ELEMENT_INTEGER, 0,  PEAK_INT8 },
    { "signed char",          1, ELEMENT_INTEGER, 1,  PEAK_INT8 },
    { "short int",            2, ELEMENT_INTEGER, 2,  PEAK_NONE },
    { "c10::complex<c10::Half>", 4, ELEMENT_COMPLEX, 8, PEAK_NONE },
    { "c10::complex<float>",  8, ELEMENT_COMPLEX, 9,  PEAK_NONE },
    { "c10::complex<double>", 16, ELEMENT_COMPLEX, 10, PEAK_NONE },
    { "c10::qint8",           1, ELEMENT_INTEGER, 12, PEAK_INT8 },
    { "c10::quint8",          1, ELEMENT_INTEGER, 13, PEAK_INT8 },
    { "c10::qint32",          4, ELEMENT_INTEGER, 14, PEAK_NONE },
    { "c10::Float8_e5m2",     1, ELEMENT_FLOAT,   23, PEAK_FP8 },
    { "c10::Float8_e4m3fn",   1, ELEMENT_FLOAT,   24, PEAK_FP8 },
    { "c10::Float8_e5m2fnuz", 1, ELEMENT_FLOAT,   25, PEAK_FP8 },
    { "c10::Float8_e4m3fnuz", 1, ELEMENT_FLOAT,   26, PEAK_FP8 },
    { "unsigned short",       2, ELEMENT_INTEGER, 27, PEAK_NONE },
    { "unsigned int",         4, ELEMENT_INTEGER, 28, PEAK_NONE },
    { "unsigned long",        8, ELEMENT_INTEGER, 29, PEAK_NONE },
    { "c10::Float8_e8m0fnu",  1, ELEMENT_FLOAT,   44, PEAK_NONE },
    { "c10::Float4_e2m1fn_x2", 1, ELEMENT_FLOAT,  45, PEAK_FP4 }, /* two numbers in an element */
    /* other spellings of the same */
    { "long",                 8, ELEMENT_INTEGER, 4,  PEAK_NONE },
    { "long long",            8, ELEMENT_INTEGER, 4,  PEAK_NONE },
    { "short",                2, ELEMENT_INTEGER, 2,  PEAK_NONE },
    { "short unsigned int",   2, ELEMENT_INTEGER, 27, PEAK_NONE },
    { "long unsigned int",    8, ELEMENT_INTEGER, 29, PEAK_NONE },
};
/* clang-format on */

enum { TYPES = sizeof types / sizeof *types };

const struct tensor_type *tensor_type_named(const char *name, size_t len)
{
    return FIND_OF(type, types, TYPES, strlen(type->name) == len && memcmp(type->name, name, len) == 0);
}

const struct tensor_type *tensor_type_numbered(int64_t number)
{
    return FIND_OF(type, types, TYPES, type->number == number);
}

const struct tensor_type *tensor_type_promote(const struct tensor_type *a, const struct tensor_type *b)
{
    if (!a || !b || a->number == b->number)
        return a ? a : b;
    if (a->sort != b->sort)
        return a->sort > b->sort ? a : b;
    if (a->size != b->size)
        return a->size > b->size ? a : b;
    /* Half and BFloat16 promote to float, an unsigned and a signed byte to 16 bits. */
    return tensor_type_numbered(a->sort == ELEMENT_FLOAT ? 6 : a->size == 1 ? 2 : a->number);
}
