/*
 * thin.h - a million points for a thousand pixels, with every peak still there.
 *
 * Both functions choose among COUNT points and write the indices of those kept, in order, to KEPT, which has room for
 * COUNT; they return how many there are. Points with a NAN are kept as they are: they are breaks of a line.
 */
#ifndef TPA_REPORT_THIN_H
#define TPA_REPORT_THIN_H

#include <stddef.h>

/* A line or stairs: points sorted by X, drawn between LEAST and MOST over COLUMNS pixels. Of each pixel
 * column the first, the lowest, the highest and the last point stay (Jugel et al., "M4", 2014), so what is
 * drawn is the same. */
size_t thin_line(const double *x, const double *y, size_t count, double least, double most, size_t columns,
                 size_t *kept);

/* Dots, in any order, over a grid of COLUMNS times ROWS from LEAST[0], LEAST[1] to MOST[0], MOST[1]: one per cell stays. */
size_t thin_dots(const double *x, const double *y, size_t count, const double least[2], const double most[2],
                 size_t columns, size_t rows, size_t *kept);

#endif
