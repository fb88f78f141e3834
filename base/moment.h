/*
 * moment.h - points in time as people write them, in UTC.
 *
 *     2026-11-20   2026-11-20 03:00   2026-11-20T03:00:00Z   @1763600400
 *
 * The last form counts seconds since 1970.
 */
#ifndef TPA_BASE_MOMENT_H
#define TPA_BASE_MOMENT_H

#include "base/buffer.h"

/* False, with nothing stored, when TEXT is of none of these forms or there is no such day. */
bool moment_parse(const char *text, int64_t *time_ns);

/* Append "2026-11-20 03:00:00". */
void moment_append(struct buffer *out, int64_t time_ns);

/* The current time in nanoseconds since 1970. */
int64_t moment_now(void);

/* Nanoseconds on a clock that is never set. */
int64_t moment_steady(void);

#endif
