/*
 * label.h - sizes of a run, written behind its file: "a.pickle@batch=16,seq=128".
 *
 *     const char *label = label_of(operand), *name;      // "batch=16,seq=128"; NULL: none
 *     while (*label && label_next(&label, &name, &name_len, &value)) ...
 */
#ifndef TPA_BASE_LABEL_H
#define TPA_BASE_LABEL_H

#include <stdbool.h>
#include <stddef.h>

/* The label of OPERAND: what follows its last '@', if that is NAME=NUMBER[,...] and nothing else. NULL: it has none. Borrowed. */
const char *label_of(const char *operand);

/* The next NAME=NUMBER of *TEXT, which is moved behind it; NUMBER is above 0. False: there is none. */
bool label_next(const char **text, const char **name, size_t *name_len, double *value);

#endif
