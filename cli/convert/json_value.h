/* json_value.h - writing values that were read as JSON text. */
#ifndef TPA_CLI_JSON_VALUE_H
#define TPA_CLI_JSON_VALUE_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Can TEXT be written as it is: is it a JSON value, all of printable ASCII? */
bool json_value_is_plain(const char *text, size_t len);

/*
 * Add the JSON value TEXT to OUT: its strings are escaped as in base/escape.h, the rest is unchanged. Invalid JSON is
 * written as a string: readers of traces may be lenient, but the output of `tpa` is always valid.
 */
void json_value_append(struct buffer *out, const char *text, size_t len);

#endif
