/* json_value.h - values that were read as JSON text, written as JSON. */
#ifndef TPA_CLI_JSON_VALUE_H
#define TPA_CLI_JSON_VALUE_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Can TEXT be written as it is: is it a JSON value, all of printable ASCII? */
bool json_value_is_plain(const char *text, size_t len);

/*
 * Add the JSON value TEXT to OUT: what its strings hold is escaped as base/escape.h does, all else stays. What is not a JSON
 * is written as a string: readers of traces take much, but what `tpa` writes can be read by everyone.
 */
void json_value_put(struct buffer *out, const char *text, size_t len);

#endif
