/*
 * gnuplot_parts.h - what the two ways to write a script for gnuplot share (gnuplot.c, gnuplot_text.c).
 */
#ifndef TPA_REPORT_GNUPLOT_PARTS_H
#define TPA_REPORT_GNUPLOT_PARTS_H

#include "report/chart_scale.h"
#include "report/gnuplot_options.h"
#include <stdint.h>

/* A script in the making: its texts, its data blocks, its commands. */
struct gnuplot_parts {
    const struct gnuplot_options *options;
    struct buffer texts, blocks, commands;
    size_t text_count;
    const struct chart *chart; /* the one at hand */
    size_t number;             /* of it, from 1 */
    bool horizontal;           /* its bars lie */
    struct chart_scale x, y;
};

/* Begin the next chart: fill in what is about it. */
void gnuplot_begin_chart(struct gnuplot_parts *parts, const struct chart *chart, bool horizontal);

/* Keep LEN bytes at TEXT, made safe to show and shortened to MAX columns; its number, for Text(N) in commands. */
size_t gnuplot_text(struct gnuplot_parts *parts, const char *text, size_t len, size_t max);

/* The label of category I, for a tick. */
size_t gnuplot_category_text(struct gnuplot_parts *parts, size_t i, size_t max);

/* Do the chart's title and the name of the file fit in MAX columns? */
bool gnuplot_title_fits(const struct chart *chart, const struct picture *picture, size_t max);

/* The title of PICTURE's chart at hand with the name of the file, in at most MAX columns; without that name
 * where there is no room for it. */
size_t gnuplot_title(struct gnuplot_parts *parts, const struct picture *picture, size_t max);

/* Begin the command for a label that shows TEXT; where and how is to follow. */
void gnuplot_begin_label(struct gnuplot_parts *parts, size_t text);

/* The text of LABEL with its figure: "160.00 KB aten::mm". */
size_t gnuplot_label_text(struct gnuplot_parts *parts, const struct chart_label *label, size_t max);

/* Has any series of CHART an entry in the legend? */
bool gnuplot_has_legend(const struct chart *chart);

/* Append VALUE as gnuplot reads it; NAN is a point that is not drawn. */
void gnuplot_add_figure(struct buffer *out, double value);

/* Write the commands for all charts as text. */
void gnuplot_text_charts(struct gnuplot_parts *parts, const struct picture *picture);

#endif
