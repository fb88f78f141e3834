/*
 * What is below the headings of a chart is put on a canvas of character cells:
 *
 *     line 0                     title of the upright axis, where there is one
 *          top ..                the chart, in lines
 *          top + rows            the other axis
 *          ..                    its ticks, its title, the legend
 */
#include "report/chart_text.h"

#include "base/escape.h"
#include "base/unicode.h"
#include "report/chart_cells.h"
#include "report/chart_labels.h"
#include "report/chart_scale.h"
#include "report/figures.h"
#include "report/shorten.h"
#include <assert.h>
#include <math.h>

enum {
    DEFAULT_WIDTH = 100,
    DEFAULT_HEIGHT = 24,
    PANEL_HEIGHT = 12,
    LEAST_WIDTH = 40,
    LEAST_ROWS = 4,
    MOST_LYING = 40, /* more categories than these stand, whatever the chart requests */
    FIGURE_WIDTH = 12,
    STANDING_LABEL = 8,
    LEAST_NAME = 7, /* columns below which a name that does not fit in a box is left out */
    EIGHTHS = 8,
    HALVES = 2,
    NO_COLOR = CHART_COLORS, /* the terminal's own */
    ON_COLOR,                /* white, on a background of another */
};

/* As unlike as can be; one per colour, so that a meaning has one character too. */
static const char *const marks[CHART_COLORS] = {
    [CHART_BLUE] = "#",   [CHART_ORANGE] = "+", [CHART_GREEN] = "=", [CHART_VERMILION] = "*",
    [CHART_SKY] = "o",    [CHART_PURPLE] = "%", [CHART_OLIVE] = "@", [CHART_GREY] = "-",
    [CHART_PALE] = ".",   [CHART_AZURE] = "~",  [CHART_BROWN] = "&", [CHART_INDIGO] = "$",
    [CHART_COFFEE] = "x",
};

#define FULL_BLOCK "\u2588"

/* The same where block characters are welcome and colours are not. */
static const char *const patterns[CHART_COLORS] = {
    [CHART_BLUE] = FULL_BLOCK,    [CHART_ORANGE] = "\u2592", [CHART_GREEN] = "\u2593",
    [CHART_VERMILION] = "\u259a", [CHART_SKY] = "\u2591",    [CHART_PURPLE] = "\u2573",
    [CHART_OLIVE] = "\u2550",     [CHART_GREY] = "\u2500",   [CHART_PALE] = "\u00b7",
    [CHART_AZURE] = "\u25a4",     [CHART_BROWN] = "\u25a5",  [CHART_INDIGO] = "\u25a6",
    [CHART_COFFEE] = "\u25a7",
};

/* The nearest of 256 colours. */
static const unsigned char shades[CHART_COLORS] = {
    [CHART_BLUE] = 25,   [CHART_ORANGE] = 172, [CHART_GREEN] = 36, [CHART_VERMILION] = 124,
    [CHART_SKY] = 68,    [CHART_PURPLE] = 133, [CHART_OLIVE] = 64, [CHART_GREY] = 240,
    [CHART_PALE] = 245,  [CHART_AZURE] = 32,   [CHART_BROWN] = 95, [CHART_INDIGO] = 54,
    [CHART_COFFEE] = 52,
};

/* Classes of one figure, the least first; and the same in ASCII. */
static const char *const ramp[][2] = {
    { "\u00b7", "." }, { "\u2591", ":" }, { "\u2592", "+" }, { "\u2593", "*" }, { FULL_BLOCK, "#" },
};

const char *chart_text_pattern(enum chart_color color, bool unicode, bool in_color)
{
    return !unicode ? marks[color] : in_color ? FULL_BLOCK : patterns[color];
}

unsigned chart_text_shade(enum chart_color color)
{
    return shades[color];
}

/* A cell of the canvas: a character with its combining marks; nothing in the second cell of a wide one. */
struct glyph {
    char bytes[14];
    unsigned char len, front, back; /* colours */
    bool is_covered;                /* by the wide character before */
};

struct canvas {
    size_t columns, lines;
    struct glyph *at;
};

struct layout {
    const struct chart *chart;
    const struct chart_text_options *options;
    bool horizontal;
    bool plain; /* all that is drawn has one colour: no patterns are needed to tell it apart */
    struct chart_scale x, y;
    size_t width, left, columns; /* of the canvas; before the upright axis; of the chart */
    size_t top, rows, lines;     /* above the chart; of the chart; of the canvas */
    struct canvas canvas;
};

/* ---- the canvas ---- */

static struct glyph *glyph_at(const struct layout *layout, size_t column, size_t line)
{
    if (column >= layout->width || line >= layout->lines)
        return NULL;
    return &layout->canvas.at[line * layout->canvas.columns + column];
}

static void emit_glyph(struct layout *layout, size_t column, size_t line, const char *bytes, size_t len,
                       unsigned front, unsigned back)
{
    struct glyph *glyph = glyph_at(layout, column, line);
    if (!glyph || len > sizeof glyph->bytes)
        return;
    *glyph = (struct glyph){ .len = (unsigned char)len,
                             .front = (unsigned char)front,
                             .back = (unsigned char)back };
    memcpy(glyph->bytes, bytes, len);
}

/* TEXT, which escape_terminal made, from COLUMN on. */
static void chart_text_emit_text(struct layout *layout, size_t column, size_t line, const char *text,
                                 size_t len, unsigned front, unsigned back)
{
    uint32_t character;
    assert(text || len == 0);
    for (size_t at = 0, size; at < len; at += size) {
        size = utf8_decode(text + at, len - at, &character);
        int width = unicode_width(character);
        struct glyph *last = column > 0 ? glyph_at(layout, column - 1, line) : NULL;
        if (width == 0 && last && last->len + size <= sizeof last->bytes) {
            memcpy(last->bytes + last->len, text + at, size);
            last->len = (unsigned char)(last->len + size);
        }
        if (width <= 0)
            continue;
        if (column + (size_t)width > layout->width)
            return;
        emit_glyph(layout, column++, line, text + at, size, front, back);
        if (width == 2)
            glyph_at(layout, column++, line)->is_covered = true;
    }
}

/* TEXT of a trace in at most MAX columns; returns those it takes. A name is shortened as names are. */
static size_t fit_text(struct buffer *out, const char *text, size_t len, size_t max, bool is_name)
{
    struct buffer safe = { 0 };
    escape_terminal(&safe, text, len);
    const char *at = safe.at ? safe.at : "";
    size_t width =
        is_name ? shorten_name(out, at, safe.count, max) : shorten_middle(out, at, safe.count, max);
    buffer_release(&safe);
    return width;
}

static void emit_shown(struct layout *layout, size_t column, size_t line, const struct buffer *text)
{
    if (text->count)
        chart_text_emit_text(layout, column, line, text->at, text->count, NO_COLOR, NO_COLOR);
}

static void select_colors(struct buffer *out, unsigned front, unsigned back)
{
    buffer_puts(out, "\033[0");
    if (front == ON_COLOR)
        buffer_puts(out, ";38;5;231");
    else if (front != NO_COLOR)
        buffer_printf(out, ";38;5;%d", shades[front]);
    if (back != NO_COLOR)
        buffer_printf(out, ";48;5;%d", shades[back]);
    buffer_putc(out, 'm');
}

static void print_line(struct buffer *out, const struct layout *layout, size_t line)
{
    const struct glyph *at = glyph_at(layout, 0, line);
    size_t end = layout->width;
    while (end > 0 && at[end - 1].len == 0 && !at[end - 1].is_covered)
        end--;
    unsigned front = NO_COLOR, back = NO_COLOR;
    for (size_t c = 0; c < end; c++) {
        if (at[c].is_covered)
            continue;
        if (layout->options->color && at[c].len && (at[c].front != front || at[c].back != back))
            select_colors(out, front = at[c].front, back = at[c].back);
        else if (at[c].len == 0 && (front != NO_COLOR || back != NO_COLOR))
            select_colors(out, front = NO_COLOR, back = NO_COLOR);
        buffer_add(out, at[c].len ? at[c].bytes : " ", at[c].len ? at[c].len : 1);
    }
    if (front != NO_COLOR || back != NO_COLOR)
        select_colors(out, NO_COLOR, NO_COLOR);
    buffer_putc(out, '\n');
}

/* ---- what is drawn ---- */

static bool is_curve(enum chart_mark mark)
{
    return mark == CHART_LINE || mark == CHART_STAIRS || mark == CHART_POINT;
}

/* Are boxes filled with patterns, in lines that have names? */
static bool has_lanes(const struct layout *layout)
{
    return layout->chart->lanes.count > 0;
}

/* What fills a whole cell of series S. */
static const char *pattern_of(const struct layout *layout, size_t s)
{
    const struct chart_series *series = &layout->chart->series.at[s];
    if (layout->chart->ramp && !layout->options->color && s < sizeof ramp / sizeof *ramp)
        return ramp[s][!layout->options->unicode];
    if (has_lanes(layout) && series->idle)
        return layout->options->unicode ? "\u2571" : "/";
    bool plain = layout->options->color || layout->plain;
    if (layout->options->unicode && !plain && is_curve(series->mark))
        return marks[series->color];
    return chart_text_pattern(series->color, layout->options->unicode, plain);
}

static void emit_series(struct layout *layout, size_t column, size_t line, size_t s)
{
    const char *pattern = pattern_of(layout, s);
    emit_glyph(layout, column, line, pattern, strlen(pattern), layout->chart->series.at[s].color, NO_COLOR);
}

/* A block that covers a part of a cell in the colour of series S, numbered from 1, over that of UNDER; 0: nothing. */
static void emit_block(struct layout *layout, size_t column, size_t line, uint32_t block, size_t s,
                       size_t under)
{
    char bytes[3] = { (char)(0xe0 | block >> 12), (char)(0x80 | (block >> 6 & 63)),
                      (char)(0x80 | (block & 63)) };
    emit_glyph(layout, column, line, bytes, sizeof bytes, layout->chart->series.at[s - 1].color,
               under ? layout->chart->series.at[under - 1].color : NO_COLOR);
}

/* Can a part of a cell be filled with series S, numbered from 1? */
static bool takes_blocks(const struct layout *layout, size_t s)
{
    return layout->options->unicode && strcmp(pattern_of(layout, s - 1), FULL_BLOCK) == 0;
}

/* The cell whose eighths from left to right hold the series PART. */
static void emit_eighths(struct layout *layout, size_t column, size_t line, const uint8_t *part)
{
    enum { LEFT_BLOCKS = 0x2590, RIGHT_HALF = 0x2590 }; /* left blocks go down from the full one, 8 of 8 */
    size_t first = part[0], count = 1;
    while (count < EIGHTHS && part[count] == first)
        count++;
    size_t rest = count < EIGHTHS ? part[count] : first, most = count >= EIGHTHS / 2 ? first : rest;
    bool both = first && rest && first != rest;
    if (count == EIGHTHS || (both && !layout->options->color)) {
        if (most)
            emit_series(layout, column, line, most - 1);
    } else if (first && takes_blocks(layout, first)) {
        emit_block(layout, column, line, LEFT_BLOCKS - (uint32_t)count, first, rest);
    } else if (!first && takes_blocks(layout, rest) && count > 1 && count < EIGHTHS - 1) {
        emit_block(layout, column, line, RIGHT_HALF, rest, 0);
    } else if (most) {
        emit_series(layout, column, line, most - 1);
    }
}

/* The cell with series UPPER and LOWER in its halves. */
static void emit_halves(struct layout *layout, size_t column, size_t line, size_t lower, size_t upper)
{
    enum { LOWER_HALF = 0x2584, UPPER_HALF = 0x2580 };
    size_t any = lower ? lower : upper;
    if (!any)
        return;
    if (lower == upper || !takes_blocks(layout, any) || (lower && upper && !layout->options->color))
        emit_series(layout, column, line, any - 1);
    else if (lower)
        emit_block(layout, column, line, LOWER_HALF, lower, upper);
    else
        emit_block(layout, column, line, UPPER_HALF, upper, 0);
}

static void draw_cells(struct layout *layout)
{
    size_t across = layout->options->unicode && layout->horizontal ? EIGHTHS : 1;
    size_t down = layout->options->unicode && !layout->horizontal ? HALVES : 1;
    struct chart_cells cells =
        chart_cells_draw(layout->chart, layout->horizontal, layout->columns * across, layout->rows * down);
    for (size_t line = 0; line < layout->rows; line++)
        for (size_t c = 0; c < layout->columns; c++) {
            size_t row = (layout->rows - 1 - line) * down;
            const uint8_t *at = &cells.at[row * cells.columns + c * across];
            if (across == EIGHTHS)
                emit_eighths(layout, layout->left + c, layout->top + line, at);
            else
                emit_halves(layout, layout->left + c, layout->top + line, at[0],
                            down == HALVES ? at[cells.columns] : at[0]);
        }
    free(cells.at);
}

/* The box of ROW of SERIES: "[name   ]", or its name on its colour, with a column free behind it. */
static void draw_box(struct layout *layout, const struct chart_series *series, size_t row)
{
    double low = chart_scale_place(&layout->x, chart_value(series->table, row, series->low));
    double high = chart_scale_place(&layout->x, chart_value(series->table, row, series->x));
    double line = chart_value(series->table, row, series->y);
    if (isnan(low) || isnan(high) || isnan(line))
        return;
    size_t from = (size_t)lround(low * (double)layout->columns),
           to = (size_t)lround(high * (double)layout->columns);
    if (to <= from)
        return;
    size_t room = to - from, down = layout->top + (size_t)line, name = chart_text_column(series->table);
    unsigned front = layout->options->color ? ON_COLOR : NO_COLOR;
    unsigned back = layout->options->color ? series->color : NO_COLOR;
    from += layout->left;
    for (size_t c = 0; c + (room > 1) < room; c++)
        emit_glyph(layout, from + c, down, " ", 1, front, back);
    struct buffer shown = { 0 };
    bool colored = layout->options->color;
    size_t most = room - (colored ? 1 : 2);
    if (room > 2 && name != TABLE_NO_COLUMN) {
        const union table_cell *cell = table_cell(series->table, row, name);
        fit_text(&shown, cell->text.at ? cell->text.at : "", cell->text.len, most, true);
        bool is_cut = shown.count < cell->text.len;
        if (is_cut && most < LEAST_NAME)
            buffer_clear(&shown);
    }
    if (shown.count)
        chart_text_emit_text(layout, from + !colored, down, shown.at, shown.count, front, back);
    if (!colored)
        emit_glyph(layout, from, down, room > 1 ? "[" : "|", 1, NO_COLOR, NO_COLOR);
    if (!colored && room > 1)
        emit_glyph(layout, from + room - 1, down, "]", 1, NO_COLOR, NO_COLOR);
    buffer_release(&shown);
}

/* The box of ROW of series S in a line with a name: a short label, then its pattern; no more than what it covers. */
static void draw_lane_box(struct layout *layout, size_t s, size_t row)
{
    const struct chart_series *series = &layout->chart->series.at[s];
    double low = chart_scale_place(&layout->x, chart_value(series->table, row, series->low));
    double high = chart_scale_place(&layout->x, chart_value(series->table, row, series->x));
    double line = chart_value(series->table, row, series->y);
    if (isnan(low) || isnan(high) || isnan(line))
        return;
    size_t from = (size_t)lround(low * (double)layout->columns),
           to = (size_t)lround(high * (double)layout->columns), down = layout->top + (size_t)line;
    for (size_t c = from; c < to; c++)
        emit_series(layout, layout->left + c, down, s);
    const struct text *label = &table_cell(series->table, row, chart_text_column(series->table))->text;
    bool colored = layout->options->color;
    struct buffer safe = { 0 };
    size_t width = label->len ? escape_terminal(&safe, label->at, label->len) : 0;
    if (width && width + !colored <= to - from && to > from)
        chart_text_emit_text(layout, layout->left + from, down, safe.at, safe.count,
                             colored ? ON_COLOR : NO_COLOR, colored ? series->color : NO_COLOR);
    buffer_release(&safe);
}

static void draw_boxes(struct layout *layout)
{
    for (size_t s = 0; s < layout->chart->series.count; s++)
        for (size_t row = 0; row < layout->chart->series.at[s].table->row_count; row++)
            if (has_lanes(layout))
                draw_lane_box(layout, s, row);
            else
                draw_box(layout, &layout->chart->series.at[s], row);
}

/* A text beside its point, on the side where there is room. */
static void draw_labels(struct layout *layout)
{
    for (size_t i = 0; i < layout->chart->labels.count; i++) {
        const struct chart_label *label = &layout->chart->labels.at[i];
        double x = chart_scale_place(&layout->x, label->x), y = chart_scale_place(&layout->y, label->y);
        if (isnan(x) || isnan(y))
            continue;
        size_t column = (size_t)lround(fmax(fmin(x, 1), 0) * (double)(layout->columns - 1));
        size_t above = (size_t)lround(fmax(fmin(y, 1), 0) * (double)layout->rows) + 1;
        size_t line = layout->top + (above < layout->rows ? layout->rows - 1 - above : 0);
        size_t room = x > 0.5 ? column : layout->columns - column;
        struct buffer text = { 0 }, shown = { 0 };
        figure_add_value(&text, layout->y.kind, label->y);
        buffer_printf(&text, "  %s", label->text);
        size_t width = fit_text(&shown, text.at, text.count, room > 8 ? room : 8, false);
        size_t at = layout->left + column;
        emit_shown(layout, x > 0.5 ? (at > width ? at - width : 0) : at, line, &shown);
        EACH(buffer_release, &text, &shown);
    }
}

static void draw_bar_figures(struct layout *layout)
{
    struct buffer figure = { 0 };
    double top;
    for (size_t i = 0; i < layout->rows; i++) {
        buffer_clear(&figure);
        if (!chart_category_figure(layout->chart, i, &top, &figure))
            continue;
        double place = fmax(fmin(chart_scale_place(&layout->y, top), 1), 0);
        emit_shown(layout, layout->left + (size_t)ceil(place * (double)layout->columns - 0.06) + 1,
                   layout->top + i, &figure);
    }
    buffer_release(&figure);
}

/* ---- axes ---- */

static const char *upright(const struct layout *layout)
{
    return layout->options->unicode ? "\u2502" : "|";
}

static void draw_axis_lines(struct layout *layout)
{
    const char *up = upright(layout), *corner = layout->options->unicode ? "\u2514" : "+",
               *across = layout->options->unicode ? "\u2500" : "-";
    for (size_t line = 0; line < layout->rows; line++)
        emit_glyph(layout, layout->left - 1, layout->top + line, up, strlen(up), NO_COLOR, NO_COLOR);
    emit_glyph(layout, layout->left - 1, layout->top + layout->rows, corner, strlen(corner), NO_COLOR,
               NO_COLOR);
    for (size_t c = 0; c < layout->columns; c++)
        emit_glyph(layout, layout->left + c, layout->top + layout->rows, across, strlen(across), NO_COLOR,
                   NO_COLOR);
}

/* TEXT below the axis with its middle at PLACE (0..1), unless that would touch what ends at FREE. */
static size_t emit_tick(struct layout *layout, double place, const struct buffer *text, size_t free_from)
{
    size_t width = unicode_text_width(text->at ? text->at : "", text->count);
    double at = (double)layout->left + place * (double)layout->columns - (double)width / 2;
    double most = (double)layout->width - (double)width;
    size_t column = (size_t)lround(fmax(fmin(at, most), 0));
    if (width == 0 || column < free_from || column + width > layout->width)
        return free_from;
    emit_shown(layout, column, layout->top + layout->rows + 1, text);
    return column + width + 1;
}

static void draw_ticks_across(struct layout *layout, const struct chart_scale *scale)
{
    double tick[CHART_MOST_TICKS];
    struct buffer text = { 0 };
    size_t count = chart_scale_ticks(scale, layout->columns / 12, tick);
    for (size_t i = 0, next = 0; i < count; i++) {
        buffer_clear(&text);
        chart_scale_add_tick(&text, scale, tick[i]);
        next = emit_tick(layout, chart_scale_place(scale, tick[i]), &text, next);
    }
    buffer_release(&text);
}

/* Names of some rows, in place of figures. */
static void draw_names_across(struct layout *layout)
{
    const struct chart_series *series = &layout->chart->series.at[0];
    size_t row[CHART_MOST_TICKS], count = chart_scale_names(layout->chart, layout->columns / 22, row);
    for (size_t i = 0, next = 0; i < count; i++) {
        const union table_cell *cell = table_cell(series->table, row[i], layout->chart->x.names);
        struct buffer shown = { 0 };
        fit_text(&shown, cell->text.at ? cell->text.at : "", cell->text.len, 21, true);
        next = emit_tick(layout, chart_scale_place(&layout->x, chart_value(series->table, row[i], series->x)),
                         &shown, next);
        buffer_release(&shown);
    }
}

static void draw_ticks_up(struct layout *layout)
{
    double tick[CHART_MOST_TICKS];
    struct buffer text = { 0 };
    size_t count = chart_scale_ticks(&layout->y, layout->rows / 3, tick);
    for (size_t i = 0; i < count; i++) {
        buffer_clear(&text);
        chart_scale_add_tick(&text, &layout->y, tick[i]);
        double place = chart_scale_place(&layout->y, tick[i]) * (double)layout->rows;
        size_t up = (size_t)lround(fmax(place, 0)), end = layout->left - 2;
        if (up <= layout->rows && text.count <= end)
            emit_shown(layout, end - text.count, layout->top + layout->rows - up, &text);
    }
    buffer_release(&text);
}

static const union table_cell *category_label(const struct chart *chart, size_t i)
{
    const struct chart_series *series = &chart->series.at[0];
    return table_cell(series->table, i, series->x);
}

/* As many labels as fit below bars that stand. */
static void draw_standing_labels(struct layout *layout)
{
    size_t count = chart_category_count(layout->chart), most = layout->columns / (STANDING_LABEL + 2);
    size_t step = chart_label_step(count, most), next = 0;
    for (size_t i = 0; i < count; i += step) {
        const union table_cell *cell = category_label(layout->chart, i);
        struct buffer shown = { 0 };
        fit_text(&shown, cell->text.at ? cell->text.at : "", cell->text.len, STANDING_LABEL, true);
        next = emit_tick(layout, ((double)i + 0.5) / (double)count, &shown, next);
        buffer_release(&shown);
    }
}

static void draw_axis_titles(struct layout *layout)
{
    struct buffer title = { 0 };
    const struct chart *chart = layout->chart;
    const struct chart_scale *across = layout->horizontal ? &layout->y : &layout->x;
    if (layout->top > 0) {
        chart_scale_add_title(&title, layout->horizontal ? &layout->x : &layout->y,
                              layout->horizontal ? &chart->x : &chart->y);
        emit_shown(layout, 1, 0, &title);
    }
    buffer_clear(&title);
    chart_scale_add_title(&title, across, layout->horizontal ? &chart->y : &chart->x);
    size_t width = unicode_text_width(title.at ? title.at : "", title.count);
    size_t middle = layout->left + layout->columns / 2;
    size_t column = middle > width / 2 ? middle - width / 2 : 0;
    if (column + width > layout->width)
        column = width < layout->width ? layout->width - width : 0;
    emit_shown(layout, column, layout->top + layout->rows + 2, &title);
    buffer_release(&title);
}

/* ---- legend ---- */

/* Entries "# Kernel" in lines from FIRST on, or nowhere; how many lines there are. */
static size_t lay_legend(struct layout *layout, size_t first, bool drawn)
{
    const struct chart *chart = layout->chart;
    size_t line = 0, column = 1;
    bool any = false, same = chart_box_lines(chart) > 0 && !layout->options->color &&
                             !has_lanes(layout); /* boxes look alike without */
    for (size_t s = 0; s < chart->series.count && !same; s++) {
        const struct chart_series *series = &chart->series.at[s];
        if (!series->title)
            continue;
        struct buffer entry = { 0 };
        size_t taken = 2 + fit_text(&entry, series->title, strlen(series->title), layout->width - 6, false);
        if (any && column + taken > layout->width) {
            line++;
            column = 1;
        }
        any = true;
        if (drawn) {
            emit_series(layout, column, first + line, s);
            emit_shown(layout, column + 2, first + line, &entry);
        }
        column += taken + 3;
        buffer_release(&entry);
    }
    return any ? line + 1 : 0;
}

/* ---- where things are ---- */

/* Room for ticks of the upright axis. */
static size_t widest_tick(const struct chart_scale *scale, size_t wanted)
{
    double tick[CHART_MOST_TICKS];
    struct buffer text = { 0 };
    size_t count = chart_scale_ticks(scale, wanted, tick), widest = 0;
    for (size_t i = 0; i < count; i++) {
        buffer_clear(&text);
        chart_scale_add_tick(&text, scale, tick[i]);
        widest = text.count > widest ? text.count : widest;
    }
    buffer_release(&text);
    return widest;
}

/* Room for labels of lying bars: what the longest needs, and no more than half of the width. */
static size_t widest_category(const struct layout *layout)
{
    size_t widest = 0, most = layout->width * 45 / 100;
    for (size_t i = 0; i < chart_category_count(layout->chart); i++) {
        const union table_cell *cell = category_label(layout->chart, i);
        struct buffer safe = { 0 };
        size_t taken = escape_terminal(&safe, cell->text.at ? cell->text.at : "", cell->text.len);
        widest = taken > widest ? taken : widest;
        buffer_release(&safe);
    }
    return widest < most ? widest : most;
}

static size_t widest_lane(const struct chart *chart)
{
    size_t widest = 4; /* the title above */
    for (size_t i = 0; i < chart->lanes.count; i++)
        widest = strlen(chart->lanes.at[i]) > widest ? strlen(chart->lanes.at[i]) : widest;
    return widest;
}

static bool is_plain(const struct chart *chart)
{
    for (size_t s = 1; s < chart->series.count; s++)
        if (chart->series.at[s].color != chart->series.at[0].color)
            return false;
    return true;
}

/* Has the axis that goes across a title? */
static bool has_title_below(const struct layout *layout)
{
    return (layout->horizontal ? layout->chart->y.title : layout->chart->x.title) != NULL;
}

/* HEADINGS: lines above the canvas, which a chart of figures leaves room for. PANEL: it is one of several. */
static struct layout chart_text_lay_out(const struct chart *chart, const struct chart_text_options *options,
                                        size_t headings, bool panel)
{
    size_t categories = chart_category_count(chart), boxes = chart_box_lines(chart);
    struct layout layout = { .chart = chart,
                             .options = options,
                             .horizontal = categories > 0 && categories <= MOST_LYING,
                             .plain = is_plain(chart),
                             .x = chart_scale_x(chart),
                             .y = chart_scale_y(chart),
                             .width = options->width ? options->width : DEFAULT_WIDTH };
    if (layout.width < LEAST_WIDTH)
        layout.width = LEAST_WIDTH;
    size_t legend = lay_legend(&layout, 0, false), below = 2 + has_title_below(&layout) + legend;
    size_t most = options->height ? options->height : panel ? PANEL_HEIGHT : DEFAULT_HEIGHT;
    layout.top = (boxes && !has_lanes(&layout)) || (layout.horizontal && !chart->x.title) ? 0 : 1;
    if (layout.horizontal) {
        layout.rows = categories;
        layout.left = widest_category(&layout) + 3;
        layout.columns = layout.width - layout.left - 1 - FIGURE_WIDTH;
    } else {
        size_t other = headings + layout.top + below;
        layout.rows = boxes ? boxes : most > other + LEAST_ROWS ? most - other : LEAST_ROWS;
        layout.left = has_lanes(&layout) ? widest_lane(chart) + 3
                      : boxes            ? 1
                                         : widest_tick(&layout.y, layout.rows / 3) + 3;
        layout.columns = layout.width - layout.left - 1;
    }
    layout.lines = layout.top + layout.rows + below;
    layout.canvas = (struct canvas){ layout.width, layout.lines,
                                     mem_zalloc(layout.width * layout.lines, sizeof(struct glyph)) };
    for (size_t i = 0; i < layout.width * layout.lines; i++)
        layout.canvas.at[i].front = layout.canvas.at[i].back = NO_COLOR;
    return layout;
}

/* ---- headings ---- */

/* TEXT, which is safe, in lines of at most WIDTH columns, broken at blanks. How many. */
static size_t chart_text_add_wrapped(struct buffer *out, const char *text, size_t len, size_t width)
{
    size_t lines = 0;
    while (len > 0) {
        size_t end = len;
        while (end > 0 && unicode_text_width(text, end) > width)
            for (end--; end > 0 && text[end] != ' ';)
                end--;
        if (end == 0) /* one word that is too long */
            end = len;
        buffer_putc(out, ' ');
        buffer_add(out, text, end);
        buffer_putc(out, '\n');
        lines++;
        while (end < len && text[end] == ' ')
            end++;
        text += end;
        len -= end;
    }
    return lines;
}

/* Title with the name of the file, and the note. How many lines. */
static size_t chart_text_add_headings(struct buffer *out, const struct picture *picture,
                                      const struct chart *chart, size_t width)
{
    struct buffer title = { 0 };
    escape_terminal(&title, chart->title, strlen(chart->title));
    if (picture->source) {
        buffer_puts(&title, " - ");
        escape_terminal(&title, picture->source, strlen(picture->source));
    }
    size_t lines = chart_text_add_wrapped(out, title.at, title.count, width - 2);
    buffer_clear(&title);
    if (chart->note) {
        escape_terminal(&title, chart->note, strlen(chart->note));
        lines += chart_text_add_wrapped(out, title.at, title.count, width - 2);
    }
    buffer_release(&title);
    return lines;
}

/* To the left of lying bars. */
static void emit_lying_labels(struct layout *layout)
{
    size_t room = layout->left - 3;
    struct chart_labels *labels = chart_labels_open(layout->chart, room);
    struct buffer shown = { 0 };
    for (size_t row = 0; row < layout->rows; row++) {
        buffer_clear(&shown);
        size_t width = chart_labels_add(labels, &shown, row);
        if (shown.count)
            chart_text_emit_text(layout, 1 + room - width, layout->top + row, shown.at, shown.count, NO_COLOR,
                                 NO_COLOR);
    }
    buffer_release(&shown);
    arena_free(labels);
}

static void chart_text_add_chart(struct buffer *out, const struct picture *picture, size_t i,
                                 const struct chart_text_options *options)
{
    const struct chart *chart = picture->charts.at[i];
    struct chart_panels panels = chart_panels_of(picture, i);
    size_t width = options->width ? options->width : DEFAULT_WIDTH;
    size_t headings = chart_text_add_headings(out, picture, chart, width < LEAST_WIDTH ? LEAST_WIDTH : width);
    struct layout layout = chart_text_lay_out(chart, options, headings, panels.end - panels.first > 1);
    bool boxes = chart_box_lines(chart) > 0;
    draw_axis_lines(&layout);
    for (size_t lane = 0; lane < chart->lanes.count && lane < layout.rows; lane++)
        chart_text_emit_text(&layout, layout.left - 2 - strlen(chart->lanes.at[lane]), layout.top + lane,
                             chart->lanes.at[lane], strlen(chart->lanes.at[lane]), NO_COLOR, NO_COLOR);
    if (boxes)
        draw_boxes(&layout);
    else
        draw_cells(&layout);
    if (layout.horizontal) {
        emit_lying_labels(&layout);
        draw_bar_figures(&layout);
    }
    if (!layout.horizontal && !boxes)
        draw_ticks_up(&layout);
    if (chart->x.names)
        draw_names_across(&layout);
    else if (!layout.horizontal && chart_has_categories(chart))
        draw_standing_labels(&layout);
    else
        draw_ticks_across(&layout, layout.horizontal ? &layout.y : &layout.x);
    draw_labels(&layout);
    draw_axis_titles(&layout);
    lay_legend(&layout, layout.top + layout.rows + 2 + has_title_below(&layout), true);
    for (size_t line = 0; line < layout.lines; line++)
        print_line(out, &layout, line);
    free(layout.canvas.at);
}

void chart_text_add(struct buffer *out, const struct picture *picture,
                    const struct chart_text_options *options)
{
    for (size_t i = 0; i < picture->charts.count; i++) {
        if (i)
            buffer_putc(out, '\n');
        chart_text_add_chart(out, picture, i, options);
    }
}
