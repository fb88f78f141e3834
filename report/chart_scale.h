/*
 * chart_scale.h - from where to where an axis reaches, in which unit, and where its ticks are.
 *
 *     struct chart_scale x = chart_scale_x(chart), y = chart_scale_y(chart);
 *     double tick[CHART_MOST_TICKS];
 *     size_t count = chart_scale_ticks(&y, 6, tick);
 *     for (size_t i = 0; i < count; i++) {
 *         chart_scale_add_tick(&text, &y, tick[i]);      // "250"
 *         ...                                            // at chart_scale_place(&y, tick[i]), 0..1
 *     }
 *     chart_scale_add_title(&text, &y, &chart->y);       // "Time (us)"
 *
 * All renderers of charts share it, so that a picture reads the same everywhere.
 */
#ifndef TPA_REPORT_CHART_SCALE_H
#define TPA_REPORT_CHART_SCALE_H

#include "base/buffer.h"
#include "base/chart.h"

enum { CHART_MOST_TICKS = 24 };

struct chart_scale {
    double least,
        most; /* in the unit of the cells; least < most; of categories: their places, -0.5 to count - 0.5 */
    bool log;
    enum table_kind kind;
    double divisor;   /* a cell's value over this is the figure shown */
    const char *unit; /* of the figures shown: "ms"; NULL: none, or ticks tell it themselves */
};

/* Of the axis X or Y of CHART, whichever side it is drawn on. A chart with no figures gets 0 to 1. */
struct chart_scale chart_scale_x(const struct chart *chart);
struct chart_scale chart_scale_y(const struct chart *chart);

/* Where VALUE lies between the ends of SCALE: 0 to 1, or beyond. NAN where a logarithmic scale has no place for it. */
double chart_scale_place(const struct chart_scale *scale, double value);

/* Round values in the unit of the cells, about WANTED of them and at most CHART_MOST_TICKS. Not for categories. */
size_t chart_scale_ticks(const struct chart_scale *scale, size_t wanted, double tick[CHART_MOST_TICKS]);

/* Which bars are drawn where there are more of them than COLUMNS of pixels: of each column the highest. An element for each
 * category; free with free(). */
bool *chart_bars_shown(const struct chart *chart, size_t columns);

/* The greatest value in the columns that the areas of CHART's dots stand for (chart_series.size); 0 where there is none. */
double chart_most_size(const struct chart *chart);

/* Of a dot for SIZE, in pixels: 40 for MOST, less by its area for less, and never below 5. */
double chart_dot_diameter(double size, double most);

/* Every how many of COUNT categories has a label, so that there are no more than MOST: 1, 2, 5, 10, 20 ... */
size_t chart_label_step(size_t count, size_t most);

/* Where the x axis of CHART is named row by row (chart_axis.names): about WANTED rows of its first series' table whose names to
 * show, evenly apart, the last one among them. 0 where it is not. */
size_t chart_scale_names(const struct chart *chart, size_t wanted, size_t row[CHART_MOST_TICKS]);

/* The text of a tick. */
void chart_scale_add_tick(struct buffer *out, const struct chart_scale *scale, double tick);

/* The title of the axis with its unit; adds nothing when AXIS has no title. */
void chart_scale_add_title(struct buffer *out, const struct chart_scale *scale,
                           const struct chart_axis *axis);

/* The lower and upper edge of the bar, span, area or band of series S in ROW. False when a cell is missing. TOPS holds,
 * for each row, how high the series before reach (zero-initialise it), and is updated. */
bool chart_edges(const struct chart *chart, size_t s, size_t row, double *tops, double *low, double *high);

/* The figure of category I for people: all its bars together, "369.629us", or the way of its span, "-12.000us"; and TOP,
 * where its bars end. False when it has none. */
bool chart_category_figure(const struct chart *chart, size_t i, double *top, struct buffer *out);

#endif
