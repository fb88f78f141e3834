/* gnuplot_options.h - what a script for gnuplot is to draw on; see gnuplot.h. */
#ifndef TPA_REPORT_GNUPLOT_OPTIONS_H
#define TPA_REPORT_GNUPLOT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum gnuplot_terminal { GNUPLOT_TEXT, GNUPLOT_SVG, GNUPLOT_PNG, GNUPLOT_PDF };

struct gnuplot_options {
    enum gnuplot_terminal terminal;
    size_t width; /* in pixels, of text in columns; 0: what suits */
    size_t
        height; /* of the whole picture, in pixels; of each chart as text, in lines, where it is free; 0: what suits */
    bool color; /* of text: escape sequences are welcome */
};

#endif
