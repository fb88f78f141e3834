/*
 * shapes.h - the sizes of an operator's inputs, as Kineto records them in `Input Dims`.
 *
 * The argument is JSON: a list with one element per input. A tensor is its list of sizes, a list of tensors a
 * list of such lists, anything else (numbers, None, scalar tensors) an empty list:
 *
 *     [[4,3,16,16],[8,3,3,3],[],[[2],[2]]]
 */
#ifndef TPA_DERIVE_SHAPES_H
#define TPA_DERIVE_SHAPES_H

#include "base/buffer.h"
#include "base/table.h"

enum { SHAPE_MAX_SIZES = 16 };

struct shape {
    int64_t size[SHAPE_MAX_SIZES];
    size_t count;
};

/* Get the next element of a JSON list: AT, initially the list's text, is advanced; ELEMENT is the element's text,
 * borrowed from it. False at the end, and for other values than lists. */
bool list_next(const char **at, struct text *element);

/* Parse ELEMENT as a flat list of whole numbers. False if it is something else. */
bool shape_read(struct text element, struct shape *shape);

/* Sizes of input INDEX. False if there is no such input, or it is not a flat list of whole numbers. */
bool shape_of_input(const char *input_dims, size_t index, struct shape *shape);

/* Elements of all tensors of input INDEX, which may be a list of them; -1 when it is not a tensor or a scalar one. */
int64_t shape_elements(const char *input_dims, size_t index);

/* Parse TEXT as a list of whole numbers, e.g. "[1, 1]". False if it is something else. */
bool shape_parse(const char *text, struct shape *shape);

/* Text INDEX of a JSON list of strings (`Concrete Inputs`), without escapes; borrowed from LIST. */
bool concrete_input(const char *list, size_t index, const char **text, size_t *len);

/* Append the key by which torch groups: the shapes as Python prints them, lists of tensors as []. */
void shapes_append(struct buffer *out, const char *input_dims);

#endif
