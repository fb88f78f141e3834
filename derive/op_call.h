/*
 * op_call.h - a call of an operator, from its recorded arguments: sizes, strides and types of inputs, numbers as texts.
 *
 *     struct op_call call;
 *     if (op_call_read(&call, dims, types, strides, concrete))
 *         ... call.in[0].sizes.size[0], call.in[0].type ...
 */
#ifndef TPA_DERIVE_OP_CALL_H
#define TPA_DERIVE_OP_CALL_H

#include "base/table.h"
#include "derive/tensor_types.h"
#include "derive/shapes.h"

enum { OP_MAX_INPUTS = 64 };

/* An unknown size or number of operations. */
#define OP_UNKNOWN TABLE_INT_MISSING

struct op_input {
    bool sized;         /* a tensor with sizes, not a number, a tensor of 0 dimensions or a list of tensors */
    struct shape sizes; /* of a sized one */
    int64_t elements;   /* their product; OP_UNKNOWN beyond 64 bits, as below */
    int64_t stored;     /* the same, with a dimension of stride 0 counted as one: elements in memory */
    const struct tensor_type *type; /* NULL: not recorded, unknown, or no tensor */
    bool listed;                    /* by its type, it is a list of numbers */
    struct text concrete;           /* its value, as text; empty when not recorded */
};

struct op_call {
    struct op_input in[OP_MAX_INPUTS];
    size_t count;
    struct shape
        output; /* of a convolution, if the caller knows it from its backward pass; count 0: not known */
};

/*
 * From `Input Dims`, `Input type`, `Input Strides` and `Concrete Inputs`; each but the first may be NULL: not recorded.
 * False if they are not such lists, or have more than OP_MAX_INPUTS inputs. Texts are borrowed from them.
 */
bool op_call_read(struct op_call *call, const char *dims, const char *types, const char *strides,
                  const char *concrete);

/* Does input INDEX exist, with sizes? */
static inline bool op_call_sized(const struct op_call *call, size_t index)
{
    return index < call->count && call->in[index].sized;
}

/* The numbers of input INDEX, "[2, 2]"; false if it is not such a list. */
bool op_call_numbers(const struct op_call *call, size_t index, struct shape *numbers);

/* The value of input INDEX; MISSING if it is not an integer. */
int64_t op_call_integer(const struct op_call *call, size_t index, int64_t missing);

/* Is the value of input INDEX recorded, and 0? */
bool op_call_is_zero(const struct op_call *call, size_t index);

enum op_flag { OP_FLAG_UNKNOWN = -1, OP_FALSE, OP_TRUE };

/* "True" or "False" of input INDEX; of its element ELEMENT if it is a list of such words. */
enum op_flag op_call_flag(const struct op_call *call, size_t index);
enum op_flag op_call_flag_at(const struct op_call *call, size_t index, size_t element);

#endif
