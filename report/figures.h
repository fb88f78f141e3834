/*
 * figures.h - figures for people: a fitting unit in each cell, rounded.
 *
 *     320ns  4.983us  362.846ms  1.089s      times: 3 decimals, half away from zero
 *     12.500000s                             moments: seconds from the trace's origin, to the microsecond
 *     512 B  1.74 GB                         sizes, in steps of 1024
 *     851.970 GFLOP                          floating-point operations, in steps of 1000
 *     4711  1,428                            numbers that name something; how many of a thing
 *     12.3 %  x 2362                         shares; a change to so many times as much
 *     25.304  422 KB/s                       GB/s; less than a tenth of that with its own unit
 *     1.250  yes  -                          numbers, yes or no, what is missing
 *
 * All times of a table can be shown in one unit instead: 0.320us  4.983us  362846.000us.
 */
#ifndef TPA_REPORT_FIGURES_H
#define TPA_REPORT_FIGURES_H

#include "base/result.h"

/* The unit of times. Moments are in seconds whatever is chosen. */
enum time_unit { TIME_FITTING, TIME_S, TIME_MS, TIME_US, TIME_NS };

/* CELL, which is not of a text kind; a time in UNIT. */
void figure_add(struct buffer *out, enum table_kind kind, const union table_cell *cell, enum time_unit unit);

/* VALUE, which was computed, as table_figure() makes a cell of it; a time in the unit that fits. */
void figure_add_value(struct buffer *out, enum table_kind kind, double value);

/* The notice in one line, not escaped: "note: run.json: 3 events ... (first at byte 17)". */
void figure_add_notice(struct buffer *out, const struct table_notice *notice);

#endif
