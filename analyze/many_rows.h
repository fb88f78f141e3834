/*
 * many_rows.h - the end of tables that have a row for each of one thing in each of another: operators of devices, devices in
 * steps.
 *
 * A trace of a megabyte may have thousands of both, whose combinations are more rows than memory holds. So a table takes
 * whole devices (or streams) until it is full, and a notice tells how many are left out.
 *
 *     if (rows.count >= MANY_ROWS)
 *         left_out++;
 *     else
 *         add_rows_of(device, &rows);
 *     ...
 *     many_rows_tell(result, left_out);
 */
#ifndef TPA_ANALYZE_MANY_ROWS_H
#define TPA_ANALYZE_MANY_ROWS_H

#include "base/result.h"

/* Rows of a table that is full. */
enum { MANY_ROWS = 1 << 18 };

/* Add the notice that LEFT_OUT devices or streams are not in the tables; none when it is 0. */
void many_rows_tell(struct result *result, int64_t left_out);

#endif
