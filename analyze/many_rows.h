/*
 * many_rows.h - limit on tables with a row for each combination of two things: operators and devices, devices and
 * steps.
 *
 * A trace of a megabyte may have thousands of both, whose combinations are more rows than memory holds. So whole
 * devices (or streams) are added to a table until it is full, and a notice gives the number left out.
 *
 *     if (rows.count >= MANY_ROWS)
 *         left_out++;
 *     else
 *         add_rows_of(device, &rows);
 *     ...
 *     many_rows_notice(result, left_out);
 */
#ifndef TPA_ANALYZE_MANY_ROWS_H
#define TPA_ANALYZE_MANY_ROWS_H

#include "base/result.h"

/* The number of rows at which a table is full. */
enum { MANY_ROWS = 1 << 18 };

/* Add the notice that LEFT_OUT devices or streams are not in the tables; does nothing if it is 0. */
void many_rows_notice(struct result *result, int64_t left_out);

#endif
