#include "report/svg.h"

#include "report/svg_parts.h"
#include "base/escape.h"
#include "report/chart_labels.h"
#include "report/exact.h"
#include "report/shorten.h"
#include "base/unicode.h"
#include <math.h>

enum {
    WIDTH = 960,
    PLOT_HEIGHT = 260, /* where x is a figure, or bars stand */
    PAIR_HEIGHT = 150, /* of each of two panels */
    PANEL_HEIGHT = 80, /* of each of more */
    BAR_HEIGHT = 20,   /* of a lying bar, its gap included */
    LETTER = 8,        /* width of an average letter, rather too much than too little */
    LEGEND_HEIGHT = 20,
    LONGEST_LABEL = 42,  /* columns of a category's label beside a lying bar */
    STANDING_LABEL = 40, /* pixels that a label below a standing bar gets at least */
    NAME_WIDTH = 160,    /* the same of the name of a row below a line */
};

/* ---- texts and figures ---- */

/* As "%.2f" without zeros at the end; by integers, as a chart has tens of thousands. What lies in the middle between two
 * hundredths, or seems to, is left to printf, which knows all digits. */
void svg_add_number(struct buffer *out, double value)
{
    double hundredths = fabs(value) * 100, rest = hundredths - floor(hundredths);
    char text[40];
    if (!(hundredths < 1e9) || fabs(rest - 0.5) < 1e-6) {
        int len = snprintf(text, sizeof text, "%.2f", value);
        while (len > 1 && text[len - 1] == '0')
            len--;
        if (text[len - 1] == '.')
            len--;
        bool is_zero = len == 2 && text[0] == '-' && text[1] == '0';
        buffer_add(out, is_zero ? "0" : text, is_zero ? 1 : (size_t)len);
        return;
    }
    int64_t number = (int64_t)(hundredths + 0.5);
    if (value < 0 && number)
        buffer_putc(out, '-');
    exact_add_integer(out, number / 100);
    if (number % 100) {
        const char digits[] = { '.', (char)('0' + number % 100 / 10), (char)('0' + number % 10) };
        buffer_add(out, digits, number % 10 ? 3 : 2);
    }
}

/* NAME="VALUE". */
void svg_add_attribute(struct buffer *out, const char *name, double value)
{
    buffer_putc(out, ' ');
    buffer_puts(out, name);
    buffer_puts(out, "=\"");
    svg_add_number(out, value);
    buffer_putc(out, '"');
}

/* SHOWN, which stands for TEXT, at X, Y; ANCHOR is "start", "middle" or "end". */
static void add_shown(struct svg_plot *plot, double x, double y, const char *anchor, const char *class,
                      const struct buffer *shown, const char *text, size_t len)
{
    buffer_puts(plot->out, "<text");
    svg_add_attribute(plot->out, "x", x);
    svg_add_attribute(plot->out, "y", y);
    if (strcmp(anchor, "start") != 0)
        buffer_printf(plot->out, " text-anchor=\"%s\"", anchor);
    if (class)
        buffer_printf(plot->out, " class=\"%s\"", class);
    buffer_putc(plot->out, '>');
    if (text) {
        buffer_puts(plot->out, "<title>");
        escape_html(plot->out, text, len);
        buffer_puts(plot->out, "</title>");
    }
    escape_html(plot->out, shown->at ? shown->at : "", shown->count);
    buffer_puts(plot->out, "</text>\n");
}

/* A text of at most MAX columns; of what it stands for, where that is more, the whole is shown where one points. */
void svg_add_text(struct svg_plot *plot, double x, double y, const char *anchor, const char *class,
                  const char *text, size_t len, size_t max)
{
    struct buffer safe = { 0 }, shown = { 0 };
    escape_terminal(&safe, text, len);
    shorten_name(&shown, safe.at ? safe.at : "", safe.count, max);
    add_shown(plot, x, y, anchor, class, &shown, shown.count < safe.count ? text : NULL, len);
    EACH(buffer_release, &safe, &shown);
}

static void svg_add_line(struct svg_plot *plot, const char *class, double x1, double y1, double x2, double y2)
{
    buffer_printf(plot->out, "<line class=\"%s\"", class);
    svg_add_attribute(plot->out, "x1", x1);
    svg_add_attribute(plot->out, "y1", y1);
    svg_add_attribute(plot->out, "x2", x2);
    svg_add_attribute(plot->out, "y2", y2);
    buffer_puts(plot->out, "/>\n");
}

/* ---- places ---- */

static double between(double least, double value, double most)
{
    return value < least ? least : value > most ? most : value;
}

/* Across the page, of a figure of the axis that goes across. */
double svg_across(const struct svg_plot *plot, const struct chart_scale *scale, double value)
{
    double place = chart_scale_place(scale, value);
    return plot->left + between(0, isnan(place) ? 0 : place, 1) * plot->width;
}

/* Down the page, of a figure of the y axis of a chart that is not horizontal. */
double svg_down(const struct svg_plot *plot, double value)
{
    double place = chart_scale_place(&plot->y, value);
    return plot->top + (1 - between(0, isnan(place) ? 0 : place, 1)) *
                           plot->height; /* 0 of a logarithmic axis: its end */
}

/* The room of a category along its axis, and where that of category I begins. */
double svg_room_of_category(const struct svg_plot *plot)
{
    return (plot->horizontal ? plot->height : plot->width) /
           (double)(plot->category_count ? plot->category_count : 1);
}

double svg_begin_of_category(const struct svg_plot *plot, size_t i)
{
    return (plot->horizontal ? plot->top : plot->left) + svg_room_of_category(plot) * (double)i;
}

/* "class=" of series S with its manner. */
void svg_add_class(struct svg_plot *plot, size_t s, const char *manner)
{
    buffer_puts(plot->out, " class=\"c");
    exact_add_integer(plot->out, plot->chart->series.at[s].color);
    buffer_putc(plot->out, ' ');
    buffer_puts(plot->out, manner);
    buffer_puts(plot->out, plot->chart->series.at[s].idle ? " idle\"" : "\"");
}

/* ---- axes ---- */

static void add_tick(struct svg_plot *plot, const struct chart_scale *scale, double tick, double x, double y,
                     const char *anchor)
{
    struct buffer text = { 0 };
    chart_scale_add_tick(&text, scale, tick);
    svg_add_text(plot, x, y, anchor, "tick", text.at ? text.at : "", text.count, 24);
    buffer_release(&text);
}

static void add_axis_across(struct svg_plot *plot, const struct chart_scale *scale, bool grid)
{
    double tick[CHART_MOST_TICKS], bottom = plot->top + plot->height;
    size_t count = chart_scale_ticks(scale, (size_t)plot->width / 90, tick);
    for (size_t i = 0; i < count; i++) {
        double x = svg_across(plot, scale, tick[i]);
        svg_add_line(plot, grid ? "grid" : "axis", x, grid ? plot->top : bottom, x, bottom + (grid ? 0 : 4));
        add_tick(plot, scale, tick[i], x, bottom + 16, x > WIDTH - 20 ? "end" : "middle");
    }
}

static void add_axis_down(struct svg_plot *plot)
{
    double tick[CHART_MOST_TICKS];
    size_t count = chart_scale_ticks(&plot->y, (size_t)plot->height / 40, tick);
    for (size_t i = 0; i < count; i++) {
        double y = svg_down(plot, tick[i]);
        svg_add_line(plot, "grid", plot->left, y, plot->left + plot->width, y);
        add_tick(plot, &plot->y, tick[i], plot->left - 6, y + 4, "end");
    }
}

/* Names of some rows, in place of figures. */
static void add_names_across(struct svg_plot *plot)
{
    const struct chart_series *series = &plot->chart->series.at[0];
    double bottom = plot->top + plot->height;
    size_t row[CHART_MOST_TICKS],
        count = chart_scale_names(plot->chart, (size_t)plot->width / NAME_WIDTH, row);
    for (size_t i = 0; i < count; i++) {
        const union table_cell *cell = table_cell(series->table, row[i], plot->chart->x.names);
        double x = svg_across(plot, &plot->x, chart_value(series->table, row[i], series->x));
        double width = cell->text.at ? (double)(unicode_text_width(cell->text.at, cell->text.len) * 6) : 0;
        svg_add_line(plot, "axis", x, bottom, x, bottom + 4);
        bool last = x + width / 2 > WIDTH;
        svg_add_text(plot, x, bottom + 16, last ? "end" : "middle", "tick",
                     cell->text.at ? cell->text.at : "", cell->text.len, NAME_WIDTH / 6);
    }
}

const union table_cell *svg_label_of_category(const struct svg_plot *plot, size_t i)
{
    const struct chart_series *series = &plot->chart->series.at[0];
    return table_cell(series->table, i, series->x);
}

/* Beside lying bars. */
static void add_lying_labels(struct svg_plot *plot)
{
    struct chart_labels *labels = chart_labels_open(plot->chart, LONGEST_LABEL);
    struct buffer shown = { 0 };
    for (size_t i = 0; i < plot->category_count; i++) {
        const struct text *text = &svg_label_of_category(plot, i)->text;
        buffer_clear(&shown);
        chart_labels_add(labels, &shown, i);
        bool whole =
            text->len == 0 || (shown.count == text->len && memcmp(shown.at, text->at, text->len) == 0);
        add_shown(plot, plot->left - 6, svg_begin_of_category(plot, i) + svg_room_of_category(plot) / 2 + 4,
                  "end", NULL, &shown, whole ? NULL : text->at, text->len);
    }
    buffer_release(&shown);
    arena_free(labels);
}

static void add_standing_labels(struct svg_plot *plot)
{
    size_t step = chart_label_step(plot->category_count, (size_t)plot->width / STANDING_LABEL);
    double room = svg_room_of_category(plot);
    for (size_t i = 0; i < plot->category_count; i += step) {
        const union table_cell *cell = svg_label_of_category(plot, i);
        const char *text = cell->text.at ? cell->text.at : "";
        double middle = svg_begin_of_category(plot, i) + room / 2;
        size_t fits = (size_t)(room * (double)step / LETTER);
        svg_add_text(plot, middle, plot->top + plot->height + 16, "middle", "tick", text, cell->text.len,
                     fits > 4 ? fits : 4);
    }
}

static void add_title_of_axis(struct svg_plot *plot, const struct chart_scale *scale,
                              const struct chart_axis *axis, bool goes_down)
{
    struct buffer title = { 0 };
    chart_scale_add_title(&title, scale, axis);
    if (title.count && goes_down)
        svg_add_text(plot, 4, plot->top - 8, "start", "tick", title.at, title.count, 60);
    else if (title.count)
        svg_add_text(plot, plot->left + plot->width / 2, plot->top + plot->height + 34, "middle", "tick",
                     title.at, title.count, 60);
    buffer_release(&title);
}

/* The figure at the end of each lying bar. */
static void svg_add_bar_figures(struct svg_plot *plot)
{
    struct buffer figure = { 0 };
    double top;
    for (size_t i = 0; i < plot->category_count; i++) {
        buffer_clear(&figure);
        if (chart_category_figure(plot->chart, i, &top, &figure))
            svg_add_text(plot, svg_across(plot, &plot->y, top) + 5,
                         svg_begin_of_category(plot, i) + svg_room_of_category(plot) / 2 + 4, "start", "tick",
                         figure.at, figure.count, 24);
    }
    buffer_release(&figure);
}

static void svg_add_labels(struct svg_plot *plot)
{
    for (size_t i = 0; i < plot->chart->labels.count; i++) {
        const struct chart_label *label = &plot->chart->labels.at[i];
        double x = svg_across(plot, &plot->x, label->x), y = svg_down(plot, label->y);
        bool right = x > plot->left + plot->width / 2;
        struct buffer text = { 0 };
        figure_add_value(&text, plot->y.kind, label->y);
        buffer_printf(&text, "  %s", label->text);
        buffer_puts(plot->out, "<circle class=\"peak\" r=\"3.5\"");
        svg_add_attribute(plot->out, "cx", x);
        svg_add_attribute(plot->out, "cy", y);
        buffer_puts(plot->out, "/>\n");
        svg_add_text(plot, right ? x - 8 : x + 8, fmax(y - 6, plot->top + 10), right ? "end" : "start", NULL,
                     text.at, text.count, 60);
        buffer_release(&text);
    }
}

/* ---- the legend, above the plot ---- */

static size_t width_of_entry(const struct chart_series *series)
{
    return 26 + unicode_text_width(series->title, strlen(series->title)) * LETTER;
}

/* Is the title of SERIES, of chart OF, that of a series before it? */
static bool is_again(const struct svg_plot *plot, size_t of, const struct chart_series *series)
{
    for (size_t i = plot->panels.first; i <= of; i++) {
        const struct chart *chart = plot->picture->charts.at[i];
        for (size_t s = 0; s < chart->series.count && &chart->series.at[s] != series; s++)
            if (chart->series.at[s].title && strcmp(chart->series.at[s].title, series->title) == 0)
                return true;
    }
    return false;
}

static void add_entry(struct svg_plot *plot, const struct chart_series *series, double x, double y)
{
    buffer_printf(plot->out, "<rect class=\"c%d %s%s\"", (int)series->color,
                  series->mark == CHART_BAND ? "band" : "fill", series->idle ? " idle" : "");
    svg_add_attribute(plot->out, "x", x);
    svg_add_attribute(plot->out, "y", y);
    buffer_puts(plot->out, " width=\"12\" height=\"12\"/>\n");
    svg_add_text(plot, x + 17, y + 10, "start", NULL, series->title, strlen(series->title), 80);
}

/* Place the entries of all panels; DRAW them. How many rows they take. */
static size_t lay_out_legend(struct svg_plot *plot, bool draw)
{
    size_t rows = 0, x = 0;
    for (size_t i = plot->panels.first; i < plot->panels.end && plot->is_first; i++) {
        const struct chart *chart = plot->picture->charts.at[i];
        for (size_t s = 0; s < chart->series.count; s++) {
            const struct chart_series *series = &chart->series.at[s];
            if (!series->title || (plot->panels.end - plot->panels.first > 1 && is_again(plot, i, series)))
                continue;
            size_t width = width_of_entry(series);
            if (rows == 0 || x + width > WIDTH - 8) {
                rows++;
                x = 4;
            }
            if (draw)
                add_entry(plot, series, (double)x, (double)(rows - 1) * LEGEND_HEIGHT + 4);
            x += width;
        }
    }
    return rows;
}

/* ---- the whole ---- */

static double width_of_labels(const struct svg_plot *plot)
{
    size_t widest = 4;
    for (size_t i = 0; i < plot->category_count; i++) {
        const union table_cell *cell = svg_label_of_category(plot, i);
        size_t width = cell->text.at ? unicode_text_width(cell->text.at, cell->text.len) : 0;
        widest = width > widest ? width : widest;
    }
    return (double)((widest < LONGEST_LABEL ? widest : LONGEST_LABEL) * LETTER + 10);
}

static double width_of_lanes(const struct chart *chart)
{
    size_t widest = 4;
    for (size_t i = 0; i < chart->lanes.count; i++)
        widest = strlen(chart->lanes.at[i]) > widest ? strlen(chart->lanes.at[i]) : widest;
    return (double)(widest * LETTER + 10);
}

static double height_of_panel(const struct svg_plot *plot)
{
    size_t count = plot->panels.end - plot->panels.first;
    return count == 1 ? PLOT_HEIGHT : count == 2 ? PAIR_HEIGHT : PANEL_HEIGHT;
}

static struct svg_plot svg_lay_out(struct buffer *out, const struct picture *picture, size_t i,
                                   double *height)
{
    const struct chart *chart = picture->charts.at[i];
    struct svg_plot plot = { .chart = chart,
                             .picture = picture,
                             .panels = chart_panels_of(picture, i),
                             .out = out,
                             .horizontal = chart->horizontal };
    plot.is_first = i == plot.panels.first;
    plot.is_last = i + 1 == plot.panels.end;
    plot.category_count = chart_has_categories(chart) ? chart_category_count(chart) : 0;
    plot.x = chart_scale_x(chart);
    plot.y = chart_scale_y(chart);
    bool title_on_top = !plot.horizontal && chart->y.title && plot.is_first;
    plot.top = (double)(lay_out_legend(&plot, false) * LEGEND_HEIGHT) + (title_on_top ? 28 : 8);
    size_t lines = chart_box_lines(chart);
    plot.left = chart->lanes.count ? width_of_lanes(chart)
                : lines            ? 16
                : plot.horizontal  ? width_of_labels(&plot)
                                   : 74;
    plot.width = WIDTH - plot.left - 16;
    plot.height = plot.horizontal ? (double)(plot.category_count * BAR_HEIGHT) : height_of_panel(&plot);
    if (lines)
        plot.height = (double)(lines * SVG_BOX_LINE);
    if (plot.horizontal)
        plot.y.most += (plot.y.most - plot.y.least) * 0.14; /* for the figures at the ends of bars */
    *height = plot.top + plot.height + (plot.is_last ? 42 : 22);
    return plot;
}

static void svg_add_axes(struct svg_plot *plot)
{
    if (plot->horizontal) {
        add_axis_across(plot, &plot->y, true);
        return;
    }
    if (chart_box_lines(plot->chart) == 0)
        add_axis_down(plot);
    if (plot->chart->x.names)
        add_names_across(plot);
    else if (!chart_has_categories(plot->chart))
        add_axis_across(plot, &plot->x, false);
}

static void add_series(struct svg_plot *plot)
{
    const struct chart *chart = plot->chart;
    size_t rows = 0;
    for (size_t s = 0; s < chart->series.count; s++)
        rows = chart->series.at[s].table->row_count > rows ? chart->series.at[s].table->row_count : rows;
    double *tops = mem_zalloc(rows + 1, sizeof *tops);
    bool *shown = chart_bars_shown(chart, (size_t)(plot->horizontal ? plot->height : plot->width));
    for (size_t s = 0; s < chart->series.count; s++)
        switch (chart->series.at[s].mark) {
        case CHART_BAR:
        case CHART_SPAN: svg_add_bars(plot, s, tops, shown); break;
        case CHART_AREA:
        case CHART_BAND: svg_add_area(plot, s, tops); break;
        case CHART_LINE:
        case CHART_STAIRS: svg_add_path(plot, s); break;
        case CHART_POINT: svg_add_dots(plot, s); break;
        case CHART_BOX: svg_add_boxes(plot, s); break;
        }
    EACH(free, shown, tops);
}

/* The element of chart I of PICTURE: alone, or, with TOP at least 0, inside another so far below its top. Its height. */
static double svg_own_add_chart(struct buffer *out, const struct picture *picture, size_t i, double top)
{
    double height;
    const struct chart *chart = picture->charts.at[i];
    struct svg_plot plot = svg_lay_out(out, picture, i, &height);
    buffer_puts(out, "<svg");
    if (top >= 0) {
        svg_add_attribute(out, "y", top);
        svg_add_attribute(out, "width", WIDTH);
        svg_add_attribute(out, "height", height);
    }
    buffer_printf(out, " viewBox=\"0 0 %d ", WIDTH);
    svg_add_number(out, height);
    buffer_puts(out, "\" role=\"img\" aria-label=\"");
    escape_html(out, chart->title, strlen(chart->title));
    buffer_puts(out, "\">\n");
    lay_out_legend(&plot, true);
    svg_add_axes(&plot);
    add_series(&plot);
    if (plot.category_count)
        plot.horizontal ? add_lying_labels(&plot) : add_standing_labels(&plot);
    if (plot.horizontal)
        svg_add_bar_figures(&plot);
    svg_add_labels(&plot);
    for (size_t lane = 0; lane < chart->lanes.count; lane++)
        svg_add_text(&plot, plot.left - 6, plot.top + (double)(lane + 1) * SVG_BOX_LINE - 6, "end", NULL,
                     chart->lanes.at[lane], strlen(chart->lanes.at[lane]), 40);
    svg_add_line(&plot, "axis", plot.left, plot.top, plot.left, plot.top + plot.height);
    svg_add_line(&plot, "axis", plot.left, plot.top + plot.height, plot.left + plot.width,
                 plot.top + plot.height);
    if (plot.is_last)
        add_title_of_axis(&plot, plot.horizontal ? &plot.y : &plot.x, plot.horizontal ? &chart->y : &chart->x,
                          false);
    if (!plot.horizontal && plot.is_first)
        add_title_of_axis(&plot, &plot.y, &chart->y, true);
    buffer_puts(out, "</svg>\n");
    return height;
}

void svg_add_chart(struct buffer *out, const struct picture *picture, size_t i)
{
    svg_own_add_chart(out, picture, i, -1);
}

/* ---- a picture of its own ---- */

enum { TITLE_HEIGHT = 26, NOTE_HEIGHT = 18, MARGIN = 4 };

/* Are there boxes of idle time, which are hatched? */
static bool has_idle_boxes(const struct picture *picture)
{
    for (size_t i = 0; i < picture->charts.count; i++)
        for (size_t s = 0; s < picture->charts.at[i]->series.count; s++) {
            const struct chart_series *series = &picture->charts.at[i]->series.at[s];
            if (series->idle && series->mark == CHART_BOX)
                return true;
        }
    return false;
}

/* What a page's style sheet says of charts, for a picture without a page. */
static void add_style(struct buffer *out, bool hatched)
{
    buffer_puts(
        out,
        "<style>text { fill: #1f2328; font: 12px sans-serif; } .title { font-size: 15px; font-weight: bold; } "
        ".tick, .note { fill: #656d76; font-size: 11px; } .grid { stroke: #d8dee4; } .axis { stroke: #656d76; } "
        ".fill { fill: currentColor; } .on { fill: #ffffff; font-size: 11px; } .band { fill: currentColor; fill-opacity: .25; } .peak { fill: #1f2328; } "
        ".line { stroke: currentColor; stroke-width: 1.6; fill: none; stroke-linejoin: round; }");
    for (int color = 0; color < CHART_COLORS; color++)
        buffer_printf(out, " .c%d { color: %s; }", color, chart_color_code((enum chart_color)color));
    if (hatched)
        buffer_printf(out, " .idle { fill: url(#idle); stroke: currentColor; }");
    buffer_puts(out, "</style>\n");
    if (hatched)
        buffer_printf(out,
                      "<defs><pattern id=\"idle\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                      "patternTransform=\"rotate(45)\"><path d=\"M0 0h6v6h-6z\" fill=\"#ffffff\"/>"
                      "<path d=\"M0 0h2v6h-2z\" fill=\"%s\"/></pattern></defs>\n",
                      chart_color_code(CHART_COLOR_OF_IDLE));
}

/* TEXT in lines of at most WIDTH columns, broken at blanks; returns where the next thing begins. */
static double add_heading(struct buffer *out, double top, double height, const char *class, const char *text,
                          size_t width)
{
    size_t len = strlen(text);
    while (len > 0) {
        size_t end = len;
        while (end > 0 && unicode_text_width(text, end) > width)
            for (end--; end > 0 && text[end] != ' ';)
                end--;
        if (end == 0) /* one word that is too long */
            end = len;
        buffer_puts(out, "<text");
        svg_add_attribute(out, "x", MARGIN);
        svg_add_attribute(out, "y", top + height - 8);
        buffer_printf(out, " class=\"%s\">", class);
        escape_html(out, text, end);
        buffer_puts(out, "</text>\n");
        top += height;
        end += strspn(text + end, " ");
        text += end;
        len -= end;
    }
    return top;
}

void svg_add_picture(struct buffer *out, const struct picture *picture, size_t width, size_t height)
{
    enum { TITLE_LETTERS = 120, NOTE_LETTERS = 165 };
    struct buffer body = { 0 }, title = { 0 };
    double top = MARGIN;
    for (size_t i = 0; i < picture->charts.count; i++) {
        const struct chart *chart = picture->charts.at[i];
        buffer_clear(&title);
        buffer_puts(&title, chart->title);
        if (i == 0 && picture->source)
            buffer_printf(&title, " - %s", picture->source);
        top = add_heading(&body, top, TITLE_HEIGHT, "title", title.at, TITLE_LETTERS);
        if (chart->note)
            top = add_heading(&body, top, NOTE_HEIGHT, "note", chart->note, NOTE_LETTERS);
        top += svg_own_add_chart(&body, picture, i, top);
    }
    buffer_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n",
        width ? width : WIDTH, height ? (double)height : top * (width ? (double)width / WIDTH : 1), WIDTH,
        top);
    add_style(out, has_idle_boxes(picture));
    buffer_puts(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    buffer_add(out, body.at, body.count);
    buffer_puts(out, "</svg>\n");
    EACH(buffer_release, &body, &title);
}
