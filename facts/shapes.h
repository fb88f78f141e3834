/*
 * shapes.h - the sizes of an operator's inputs, as Kineto records them in `Input Dims`.
 *
 * The argument is JSON: a list with one element per input. A tensor is its list of sizes, a list of tensors a
 * list of such lists, anything else (numbers, None, scalar tensors) an empty list:
 *
 *     [[4,3,16,16],[8,3,3,3],[],[[2],[2]]]
 */
#ifndef TPA_FACTS_SHAPES_H
#define TPA_FACTS_SHAPES_H

#include "base/buffer.h"
#include "base/table.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHAPE_MAX_SIZES = 16 };

struct shape {
    int64_t size[SHAPE_MAX_SIZES];
    size_t count;
};

/*
 * Take the next element of a JSON list: AT, which begins as the list's text, moves on; ELEMENT is the element's text, borrowed from
 * it. False at the end, and for what is not a list.
 */
bool list_next(const char **at, struct text *element);

/* The flat list of whole numbers that all of ELEMENT is. */
bool shape_read(struct text element, struct shape *shape);

/* Sizes of input INDEX. False when there is no such input, or it is not a flat list of whole numbers. */
bool shape_of_input(const char *input_dims, size_t index, struct shape *shape);

/* Elements of all tensors of input INDEX, which may be a list of them; -1 when it is not a tensor or a scalar one. */
int64_t shape_elements(const char *input_dims, size_t index);

/* The list of whole numbers that all of TEXT is, e.g. "[1, 1]". */
bool shape_parse(const char *text, struct shape *shape);

/* Text INDEX of a JSON list of strings (`Concrete Inputs`), which must need no unescaping; borrowed from LIST. */
bool concrete_input(const char *list, size_t index, const char **text, size_t *len);

/* Add the key by which torch groups: the shapes as Python prints them, lists of tensors as []. */
void shapes_show(struct buffer *out, const char *input_dims);

#endif
