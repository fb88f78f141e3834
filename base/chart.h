/*
 * chart.h - description of a picture: what to draw from which columns, but not how.
 *
 * An analysis describes a picture with tables (base/table.h) and draws nothing; a renderer draws any picture and knows
 * nothing of kernels. A picture is one or more charts, one below the other; a chart is two axes and series; a series
 * shows two or three columns of a table in one style.
 *
 *     struct picture *picture = picture_open("steps", "Steps");
 *     struct chart *chart = picture_add_chart(picture, "steps", "Where the time of each step went");
 *     chart->x = (struct chart_axis){ .title = "Step", .kind = TABLE_NAME };       // a place for each row, labelled
 *     chart->y = (struct chart_axis){ .title = "Time", .kind = TABLE_NS };         // the renderer picks us, ms or s
 *     struct table *table = chart_add_table(chart, table_open("steps", NULL, columns, 3));
 *     ...                                                                          // fill it
 *     chart_add_series(chart, (struct chart_series){ .title = "Kernel", .mark = CHART_BAR, .color = CHART_BLUE,
 *                                                    .table = table, .x = 0, .y = 1, .low = TABLE_NO_COLUMN });
 *     chart_add_series(chart, ...);                                                // CHART_BARs pile up
 *     ...
 *     picture_free(picture);
 *
 * Cells are exact, as everywhere: nanoseconds, bytes, shares. The renderer chooses units, scales and ticks, escapes
 * texts for its format, and thins data that exceeds what it can show (report/thin.h).
 *
 * Rules for every chart:
 * - Where an axis is of kind TABLE_NAME or TABLE_TEXT, the chart is one of categories: row I of a table has its place
 *   at I, and its label is the text in column x. All tables of the chart then have the same rows. The other axis starts
 *   at 0. With `horizontal` the categories go down the picture, the first on top, and the axes change sides; x remains
 *   the axis of the categories.
 * - Else x is a figure. Rows of a table that is drawn as CHART_LINE, CHART_STAIRS, CHART_AREA or CHART_BAND are sorted
 *   by x. The tables of CHART_AREA series of one chart have the same x.
 * - CHART_BOXes are in a chart of their own, whose y axis is not drawn: it counts lines from the top.
 *   With `lanes` the lines have names; the series before is below, and a short label fills its box with a pattern.
 * - A row whose cells are missing is not drawn; of a line, that is a break.
 */
#ifndef TPA_BASE_CHART_H
#define TPA_BASE_CHART_H

#include "base/table.h"

/* Colours that people with any colour vision distinguish, and two greys. Their hues are those of Okabe and Ito ("Color
 * Universal Design", 2008), darkened until each has a contrast of 3:1 or more against white (WCAG 2.1, 1.4.11), and
 * moved apart: as Machado, Oliveira and Fernandes (2009) simulate the three colour blindnesses, no two are closer than
 * 11 in CIELAB, while the two closest originals are 9 apart. One meaning has one colour in all charts; see
 * CHART_COLOR_OF_... */
enum chart_color {
    CHART_BLUE,
    CHART_ORANGE,
    CHART_GREEN,
    CHART_VERMILION,
    CHART_SKY,
    CHART_PURPLE,
    CHART_OLIVE,
    CHART_GREY,
    CHART_PALE, /* idle time and other absences */
    CHART_AZURE,
    CHART_BROWN,
    CHART_INDIGO,
    CHART_COFFEE,
    CHART_COLORS
};

/* Colours by meaning, the same in all charts. */
#define CHART_COLOR_OF_COMPUTATION CHART_BLUE
#define CHART_COLOR_OF_OTHER_KERNELS CHART_AZURE /* where matrix kernels are CHART_COLOR_OF_COMPUTATION */
#define CHART_COLOR_OF_COMMUNICATION CHART_VERMILION
#define CHART_COLOR_OF_COPIES CHART_GREEN
#define CHART_COLOR_OF_HOST CHART_SKY
#define CHART_COLOR_OF_ANNOTATION CHART_BROWN
#define CHART_COLOR_OF_PYTHON CHART_PURPLE
#define CHART_COLOR_OF_CALLS                                                                                 \
    CHART_ORANGE /* of a runtime or driver, also what these do: allocation, first use */
#define CHART_COLOR_OF_WAITING CHART_INDIGO /* for devices, or others */
#define CHART_COLOR_OF_LOADING CHART_COFFEE /* of data */
#define CHART_COLOR_OF_IDLE CHART_PALE
#define CHART_COLOR_OF_OTHER CHART_GREY

/* "#1257b0": for SVG, HTML and gnuplot. */
const char *chart_color_code(enum chart_color color);

/* Colour I for series without a meaning of their own; colours repeat after seven. */
enum chart_color chart_color_at(size_t i);

enum chart_mark {
    CHART_BAR,    /* categories: a bar of length y, on top of the CHART_BARs of the series before */
    CHART_SPAN,   /* categories: a bar from low to y, which may be less */
    CHART_AREA,   /* what is below y, on top of the CHART_AREAs before; y holds until the next row */
    CHART_BAND,   /* what is between low and y, paler than its colour */
    CHART_LINE,   /* straight from row to row */
    CHART_STAIRS, /* y is constant until the next row */
    CHART_POINT,  /* a dot for each row; on hover, shows the table's first text column */
    CHART_BOX, /* a box from low to x in line y, 0 on top; the first text column is written in it, if it fits */
};

struct chart_axis {
    const char *title;    /* "Time"; a renderer adds the unit that it chose. NULL: no title */
    enum table_kind kind; /* kind of the values, or of categories */
    const char *unit;     /* unit of TABLE_NUMBER: "GB/s"; else NULL */
    bool log;             /* logarithmic; values of 0 or less are not drawn */
    bool has_least,
        has_most; /* limits of the axis instead of the range of the data; in the unit of the cells */
    double least, most;
    /* x only: column of the first series' table that holds the text of a tick at each row; 0: numbers */
    size_t names;
};

struct chart_series {
    const char *title; /* in the legend; NULL: it has no entry */
    enum chart_mark mark;
    enum chart_color color;
    const struct table *table; /* borrowed; see chart_add_table */
    size_t x, y;               /* columns */
    size_t low;                /* CHART_SPAN, CHART_BAND, CHART_BOX: column of the lower edge; else unused */
    bool idle;                 /* time in which nothing ran, which is hatched */
    size_t size;               /* CHART_POINT: column shown as the area of a dot; 0: all dots are small */
    size_t tip; /* CHART_BOX: column of the text shown on hover; 0: that which is written in it */
};

/* A label beside a marked point of the chart; the renderer prefixes the value of y: "1.74 GB aten::mm". */
struct chart_label {
    double x, y; /* in the unit of the cells; not for charts of categories */
    const char *text;
};

struct chart {
    const char *key;   /* "steps": its identifier in scripts and HTML; unique in its picture */
    const char *title; /* heading */
    const char *note;  /* a line below the title: what is left out, how to read it; or NULL */
    struct chart_axis x, y;
    bool horizontal;
    bool panel; /* one of several charts of the same kind for different objects: see chart_panels_of */
    VEC_OF(struct chart_series) series;
    VEC_OF(struct chart_label) labels;
    bool ramp; /* of CHART_BOXes: its series are classes of one figure, the least first */
    VEC_OF(const char *)
    lanes; /* of CHART_BOXes: the name of each line, borrowed; none: lines have no names */
    VEC_OF(struct table *) tables; /* owned */
    struct arena arena;            /* owns texts made at run time */
};

struct picture {
    const char *key;               /* "steps", as in --type */
    const char *title;             /* "Steps", without the file's name */
    const char *source;            /* name of the file or files, for the title; or NULL */
    VEC_OF(struct chart *) charts; /* owned */
    struct arena arena;            /* owns SOURCE, and texts made at run time */
};

/* New, empty; free with picture_free (NULL is allowed), which frees its charts and their tables. Texts are borrowed. */
struct picture *picture_open(const char *key, const char *title);
void picture_free(struct picture *picture);

/* A new chart below the others, to be filled in; owned by PICTURE. Its texts are borrowed. */
struct chart *picture_add_chart(struct picture *picture, const char *key, const char *title);

/* Remove the chart that was added last. */
void picture_drop_chart(struct picture *picture);

/* Charts FIRST to END (exclusive) of a picture. */
struct chart_panels {
    size_t first, end;
};

/* Chart I of PICTURE and its neighbours that are panels with the same axes. A renderer draws several panels small, with
 * one shared legend, which holds the entries of all, and one title per axis. A chart that is no panel is returned
 * alone. */
struct chart_panels chart_panels_of(const struct picture *picture, size_t i);

/* Add TABLE, which is taken: it lives as long as the chart. */
struct table *chart_add_table(struct chart *chart, struct table *table);

/* Add a series, which is copied; its texts are borrowed, and its table must be one of CHART. */
void chart_add_series(struct chart *chart, struct chart_series series);

/* TEXT is copied. */
void chart_add_label(struct chart *chart, double x, double y, const char *text);

/* Does the chart have categories? */
bool chart_has_categories(const struct chart *chart);

/* Number of its categories, which are the rows of its tables; 0 if it has none. */
size_t chart_category_count(const struct chart *chart);

/* Number of lines of a chart of boxes; 0 for other charts. */
size_t chart_box_lines(const struct chart *chart);

/* The first text column of TABLE; TABLE_NO_COLUMN if there is none. */
size_t chart_text_column(const struct table *table);

/* The cell at ROW and COLUMN as a double: exact below 2^53. NAN when it is missing or a text. */
double chart_value(const struct table *table, size_t row, size_t column);

#endif
