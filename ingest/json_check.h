/* json_check.h - is a text JSON, strictly? The readers of traces are more lenient. */
#ifndef TPA_INGEST_JSON_CHECK_H
#define TPA_INGEST_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Are the LEN bytes at TEXT one value according to RFC 8259, with optional blanks around it? Bytes of strings are only
 * checked for control characters. A value nested deeper than 1024 is rejected.
 */
bool json_is_value(const char *text, size_t len);

#endif
