/*
 * svg.h - a chart as SVG, to be put into a page.
 *
 *     svg_add_chart(&page, picture, 0);
 *
 * One <svg> element, well formed, without scripts, styles and references: colours, fonts and line widths come from the
 * page's style sheet by class (c0 to c8 are the colours of enum chart_color; fill, band, line, grid, axis, tick, peak, on:
 * text on a colour).
 * All texts are escaped. It is drawn 960 units wide and scales.
 */
#ifndef TPA_REPORT_SVG_H
#define TPA_REPORT_SVG_H

#include "report/printer.h"

/* Chart I of PICTURE. Panels with the same axes are small; the first has the legend of all, the last the title of the axis. */
void svg_add_chart(struct buffer *out, const struct picture *picture, size_t i);

/* All of PICTURE as a file of its own, with its titles and a style sheet, WIDTH pixels wide and HEIGHT high; where these are 0,
 * 960, and as high as that needs. What is drawn scales. */
void svg_add_picture(struct buffer *out, const struct picture *picture, size_t width, size_t height);

/* The picture of a result as such a file; a result without one is an error. */
extern const struct printer printer_svg;

#endif
