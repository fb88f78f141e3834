/*
 * chart_cells.h - a chart in the character cells of a terminal.
 *
 *     struct chart_cells cells = chart_cells_draw(chart, horizontal, columns, rows);
 *     if (cells.at[row * cells.columns + column])                  // row 0 is the lowest
 *         ...                                                      // number of the series there, from 1
 *     free(cells.at);
 *
 * A cell shows the series drawn last in it; bars and areas fill the cells that they cover half. Boxes are left out.
 */
#ifndef TPA_REPORT_CHART_CELLS_H
#define TPA_REPORT_CHART_CELLS_H

#include "base/chart.h"

struct chart_cells {
    size_t columns, rows;
    uint8_t *at; /* row after row from the bottom; 0: nothing, else the series + 1 */
};

/* Free `at` with free(). HORIZONTAL: a row for each category, the first on top; ROWS is then their number. COLUMNS and ROWS are above 0. */
struct chart_cells chart_cells_draw(const struct chart *chart, bool horizontal, size_t columns, size_t rows);

#endif
