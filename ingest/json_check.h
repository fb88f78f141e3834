/* json_check.h - is a text JSON, strictly? The readers of traces are more lenient. */
#ifndef TPA_INGEST_JSON_CHECK_H
#define TPA_INGEST_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Are the LEN bytes at TEXT one value as RFC 8259 has it, with blanks around it or none? Which bytes strings hold is not
 * looked at, but that they are not controls. A value nested deeper than 1024 is rejected.
 */
bool json_is_value(const char *text, size_t len);

#endif
