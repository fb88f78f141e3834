/*
 * gnuplot.h - a picture (base/chart.h) as a script for gnuplot 5.4 or later, with its data.
 *
 *     struct gnuplot_options options = { .terminal = GNUPLOT_SVG, .width = 900 };
 *     gnuplot_script(picture, &options, &script);         // `gnuplot script` writes the picture to standard output
 *
 * Figures and texts travel as data blocks: no text of a trace is ever part of a command. Lines of text begin with a
 * colon, so none can end its block; commands name them by number, and nothing in them is interpreted.
 */
#ifndef TPA_REPORT_GNUPLOT_H
#define TPA_REPORT_GNUPLOT_H

#include "base/buffer.h"
#include "base/chart.h"

enum gnuplot_terminal { GNUPLOT_SVG, GNUPLOT_PNG, GNUPLOT_PDF };

struct gnuplot_options {
    enum gnuplot_terminal terminal;
    size_t width, height; /* of the whole picture, in pixels; 0: what suits */
};

/* Add the script to OUT. */
void gnuplot_script(const struct picture *picture, const struct gnuplot_options *options, struct buffer *out);

#endif
