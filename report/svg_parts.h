/* svg_parts.h - what svg.c, which lays a chart out, and svg_marks.c, which draws what is in it, share. */
#ifndef TPA_REPORT_SVG_PARTS_H
#define TPA_REPORT_SVG_PARTS_H

#include "report/chart_scale.h"

enum { SVG_BOX_LINE = 20 }; /* of a line of boxes, its gap included */

/* A chart being drawn: where its plot lies, and its scales. */
struct svg_plot {
    const struct chart *chart;
    const struct picture *picture;
    struct chart_panels panels; /* those that CHART is one of */
    bool is_first, is_last;     /* of them */
    struct buffer *out;
    bool horizontal;
    size_t category_count;
    double left, top, width, height;
    struct chart_scale x, y;
};

/* VALUE with at most two decimals; and NAME="VALUE". */
void svg_add_number(struct buffer *out, double value);
void svg_add_attribute(struct buffer *out, const char *name, double value);

/* A text of at most MAX columns at X, Y; ANCHOR is "start", "middle" or "end"; CLASS may be NULL. */
void svg_add_text(struct svg_plot *plot, double x, double y, const char *anchor, const char *class,
                  const char *text, size_t len, size_t max);

/* "class=" of series S with its manner: "fill", "line", "band". */
void svg_add_class(struct svg_plot *plot, size_t s, const char *manner);

/* Across the page, of a figure of the axis that goes across; down the page, of one of y where bars do not lie. */
double svg_across(const struct svg_plot *plot, const struct chart_scale *scale, double value);
double svg_down(const struct svg_plot *plot, double value);

/* The room of a category along its axis, where that of category I begins, and its label, borrowed. */
double svg_room_of_category(const struct svg_plot *plot);
double svg_begin_of_category(const struct svg_plot *plot, size_t i);
const union table_cell *svg_label_of_category(const struct svg_plot *plot, size_t i);

/* Draw series S, of its mark. TOPS as chart_edges has them; SHOWN as chart_bars_shown. */
void svg_add_bars(struct svg_plot *plot, size_t s, double *tops, const bool *shown);
void svg_add_area(struct svg_plot *plot, size_t s, double *tops);
void svg_add_path(struct svg_plot *plot, size_t s);
void svg_add_dots(struct svg_plot *plot, size_t s);
void svg_add_boxes(struct svg_plot *plot, size_t s);

#endif
