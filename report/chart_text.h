/*
 * chart_text.h - a picture in characters, for terminals.
 *
 *     struct chart_text_options options = { .width = 100, .unicode = true };
 *     chart_text_add(&out, picture, &options);
 *
 * One chart below the other: title, note, the chart, its axes, a legend. With block characters a bar ends at an eighth of a
 * column and lines have twice the height; without them each cell shows one character of one series, `#` or `+`.
 */
#ifndef TPA_REPORT_CHART_TEXT_H
#define TPA_REPORT_CHART_TEXT_H

#include "base/buffer.h"
#include "base/chart.h"

struct chart_text_options {
    size_t width;  /* columns; 0: 100, and never less than 40 */
    size_t height; /* lines of a chart whose bars do not lie; 0: 24 */
    bool color;    /* escape sequences are welcome: 16 million colours are not needed, 256 are */
    bool unicode;  /* so are block characters in UTF-8 */
};

/* Append all charts of PICTURE to OUT. Lines have no blanks at their ends. */
void chart_text_add(struct buffer *out, const struct picture *picture,
                    const struct chart_text_options *options);

/* What fills a cell with COLOR: a block in colour, a pattern of its own where there are none, ASCII without UNICODE. */
const char *chart_text_pattern(enum chart_color color, bool unicode, bool in_color);

/* The nearest of 256 colours of a terminal. */
unsigned chart_text_shade(enum chart_color color);

#endif
