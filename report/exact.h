/* exact.h - figures for programs: exact, without unit, the same in CSV and JSON. */
#ifndef TPA_REPORT_EXACT_H
#define TPA_REPORT_EXACT_H

#include "base/buffer.h"
#include "base/table.h"

/* VALUE in decimal. */
void exact_add_integer(struct buffer *out, int64_t value);

/* The fewest digits that read back as the same double. VALUE is finite. A whole number has no point: 1, not 1.0. */
void exact_add_double(struct buffer *out, double value);

/* The column's key; of a time, with "_ns" at the end. */
void exact_add_key(struct buffer *out, const char *key, enum table_kind kind);

#endif
