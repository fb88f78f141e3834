/*
 * trend.c - see trend.h: a result as an HTML page, tables as tables, and figures over runs as charts in SVG.
 *
 *     1.10 ms |              x x      x  worse (NEW, EXISTING)
 *             |  . .  . .  .          .  a run; the bar through it is its error
 *     1.00 ms |-------------------    -  the level it was compared with
 *              Nov 1         Nov 20
 *
 * Text goes through escape_html. Coordinates are printed with one decimal, so the same result gives the same page
 * everywhere.
 */
#include "report/trend.h"

#include "base/escape.h"
#include "report/figures.h"
#include "report/output.h"
#include <math.h>
#include <string.h>

/* ---- which table is one ---- */

struct trend_columns {
    size_t name, run, time, commit, value, error, reference, verdict;
};

static bool find_column(const struct table *table, const char *key, size_t *at)
{
    int column = table_find_column(table, key, strlen(key));
    *at = (size_t)column;
    return column >= 0;
}

static bool find_columns(const struct table *table, struct trend_columns *at)
{
    return find_column(table, TREND_NAME, &at->name) && find_column(table, TREND_RUN, &at->run) &&
           find_column(table, TREND_TIME, &at->time) && find_column(table, TREND_COMMIT, &at->commit) &&
           find_column(table, TREND_VALUE, &at->value) && find_column(table, TREND_ERROR, &at->error) &&
           find_column(table, TREND_REFERENCE, &at->reference) &&
           find_column(table, TREND_VERDICT, &at->verdict);
}

/* A figure as a double, NAN when it is missing. */
static double figure_at(const struct table *table, size_t row, size_t column)
{
    if (table_is_missing(table, row, column))
        return NAN;
    const union table_cell *cell = table_cell(table, row, column);
    return table_is_number(table->columns[column].kind) ? cell->f : (double)cell->i;
}

static void add_text(struct buffer *out, const struct table *table, size_t row, size_t column)
{
    if (!table_is_missing(table, row, column)) {
        const union table_cell *cell = table_cell(table, row, column);
        escape_html(out, cell->text.at, cell->text.len);
    }
}

static void add_figure(struct buffer *out, enum table_kind kind, double value)
{
    union table_cell cell;
    if (table_is_number(kind))
        cell.f = value;
    else
        cell.i = llround(value);
    struct buffer text = { 0 };
    figure_add(&text, kind, &cell, TIME_FITTING);
    escape_html(out, text.at, text.count);
    buffer_release(&text);
}

/* ---- a chart ---- */

enum { WIDTH = 860, HEIGHT = 200, LEFT = 90, RIGHT = 10, TOP = 12, BOTTOM = 24 };

/* From what is drawn to where: y grows downward. */
struct scale {
    double low, high;
    size_t count;
};

static double x_at(const struct scale *scale, size_t i)
{
    double room = WIDTH - LEFT - RIGHT;
    return LEFT + room * ((double)i + 0.5) / (double)scale->count;
}

static double y_at(const struct scale *scale, double value)
{
    double room = HEIGHT - TOP - BOTTOM;
    return TOP + room * (1 - (value - scale->low) / (scale->high - scale->low));
}

static void widen(struct scale *scale, double value)
{
    if (isnan(value))
        return;
    scale->low = fmin(scale->low, value);
    scale->high = fmax(scale->high, value);
}

static struct scale scale_of(const struct table *table, const struct trend_columns *at, size_t first,
                             size_t end)
{
    struct scale scale = { INFINITY, -INFINITY, end - first };
    for (size_t row = first; row < end; row++) {
        double value = figure_at(table, row, at->value), error = figure_at(table, row, at->error);
        error = isnan(error) ? 0 : error;
        widen(&scale, value - error);
        widen(&scale, value + error);
        widen(&scale, figure_at(table, row, at->reference));
    }
    if (!(scale.low <= scale.high))
        scale.low = scale.high = 0;
    double margin = (scale.high - scale.low) * 0.06;
    if (margin == 0)
        margin = scale.high != 0 ? fabs(scale.high) * 0.05 : 1;
    scale.low -= margin;
    scale.high += margin;
    return scale;
}

/* The class of a point, for its colour, and the word of it in the legend. */
static const char *class_of(const struct table *table, size_t row, size_t column)
{
    static const struct {
        const char *verdict, *class;
    } classes[] = {
        { "NEW", "new" },       { "EXISTING", "existing" }, { "FIXED", "fixed" },
        { "UNSURE", "unsure" }, { "better", "better" },     { "accepted", "accepted" },
    };
    if (!table_is_missing(table, row, column))
        for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
            if (strcmp(table_cell(table, row, column)->text.at, classes[i].verdict) == 0)
                return classes[i].class;
    return "same";
}

static void add_axis(struct buffer *out, const struct scale *scale, enum table_kind kind)
{
    for (int i = 0; i <= 4; i++) {
        double value = scale->low + (scale->high - scale->low) * i / 4, y = y_at(scale, value);
        buffer_printf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT,
                      WIDTH - RIGHT, y, y);
        buffer_printf(out, "<text class=\"tick\" x=\"%d\" y=\"%.1f\">", LEFT - 6, y + 4);
        add_figure(out, kind, value);
        buffer_puts(out, "</text>\n");
    }
}

/* The level that runs were compared with, as steps. */
static void add_reference(struct buffer *out, const struct table *table, const struct trend_columns *at,
                          const struct scale *scale, size_t first, size_t end)
{
    double half = (WIDTH - LEFT - RIGHT) / (double)scale->count / 2;
    buffer_puts(out, "<path class=\"reference\" d=\"");
    for (size_t row = first; row < end; row++) {
        double level = figure_at(table, row, at->reference), x = x_at(scale, row - first);
        if (!isnan(level))
            buffer_printf(out, "M%.1f %.1fH%.1f", x - half, y_at(scale, level), x + half);
    }
    buffer_puts(out, "\"/>\n");
}

static void add_point(struct buffer *out, const struct table *table, const struct trend_columns *at,
                      const struct scale *scale, size_t first, size_t row)
{
    double value = figure_at(table, row, at->value), error = figure_at(table, row, at->error);
    if (isnan(value))
        return;
    double x = x_at(scale, row - first);
    buffer_printf(out, "<g class=\"%s\">", class_of(table, row, at->verdict));
    if (!isnan(error) && error > 0)
        buffer_printf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>", x, x,
                      y_at(scale, value - error), y_at(scale, value + error));
    buffer_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>run %lld, ", x, y_at(scale, value),
                  (long long)table_cell(table, row, at->run)->i);
    add_text(out, table, row, at->time);
    if (!table_is_missing(table, row, at->commit)) {
        buffer_puts(out, ", commit ");
        add_text(out, table, row, at->commit);
    }
    buffer_puts(out, ": ");
    add_figure(out, table->columns[at->value].kind, value);
    buffer_puts(out, ", ");
    add_text(out, table, row, at->verdict);
    buffer_puts(out, "</title></circle></g>\n");
}

static void add_chart(struct buffer *out, const struct table *table, const struct trend_columns *at,
                      size_t first, size_t end)
{
    struct scale scale = scale_of(table, at, first, end);
    buffer_puts(out, "<figure><figcaption>");
    add_text(out, table, first, at->name);
    buffer_printf(out, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
    add_text(out, table, first, at->name);
    buffer_puts(out, " over runs\">\n");
    add_axis(out, &scale, table->columns[at->value].kind);
    add_reference(out, table, at, &scale, first, end);
    for (size_t row = first; row < end; row++)
        add_point(out, table, at, &scale, first, row);
    buffer_printf(out, "<text class=\"from\" x=\"%d\" y=\"%d\">", LEFT, HEIGHT - 6);
    add_text(out, table, first, at->time);
    buffer_printf(out, "</text><text class=\"to\" x=\"%d\" y=\"%d\">", WIDTH - RIGHT, HEIGHT - 6);
    add_text(out, table, end - 1, at->time);
    buffer_puts(out, "</text>\n</svg></figure>\n");
}

static bool add_charts(struct buffer *text, const struct table *table, const struct trend_columns *at,
                       FILE *out, struct tpa_error *err)
{
    bool ok = true;
    for (size_t first = 0, end; first < table->row_count && ok; first = end) {
        const union table_cell *name = table_cell(table, first, at->name);
        const char *key = name->text.at;
        size_t len = name->text.len;
        for (end = first; end < table->row_count; end++) {
            const union table_cell *other = table_cell(table, end, at->name);
            if (other->text.len != len || memcmp(other->text.at, key, len) != 0)
                break;
        }
        add_chart(text, table, at, first, end);
        ok = output_drain(text, out, err);
    }
    return ok;
}

/* ---- tables ---- */

static bool is_shown(const struct table *table, size_t column)
{
    return !(table->columns[column].flags & (TABLE_HIDDEN | TABLE_OPTIONAL));
}

static void add_cell(struct buffer *out, const struct table *table, size_t row, size_t column)
{
    enum table_kind kind = table->columns[column].kind;
    if (table_is_text(kind)) {
        buffer_printf(out, "<td class=\"%s\">",
                      strcmp(table->columns[column].key, TREND_VERDICT) == 0 ? class_of(table, row, column)
                                                                             : "");
        add_text(out, table, row, column);
    } else {
        buffer_puts(out, "<td class=\"figure\">");
        struct buffer text = { 0 };
        figure_add(&text, kind, table_cell(table, row, column), TIME_FITTING);
        escape_html(out, text.at, text.count);
        buffer_release(&text);
    }
    buffer_puts(out, "</td>");
}

static void add_footers(struct buffer *out, const struct table *table)
{
    if (table->footers.count == 0)
        return;
    buffer_puts(out, "<dl>\n");
    for (size_t i = 0; i < table->footers.count; i++) {
        const struct table_footer *footer = &table->footers.at[i];
        buffer_puts(out, "<dt>");
        escape_html(out, footer->title, strlen(footer->title));
        buffer_puts(out, "</dt><dd>");
        if (table_is_text(footer->kind)) {
            if (footer->value.text.at)
                escape_html(out, footer->value.text.at, footer->value.text.len);
        } else {
            struct buffer text = { 0 };
            figure_add(&text, footer->kind, &footer->value, TIME_FITTING);
            escape_html(out, text.at, text.count);
            buffer_release(&text);
        }
        buffer_puts(out, "</dd>\n");
    }
    buffer_puts(out, "</dl>\n");
}

static bool add_table(struct buffer *text, const struct table *table, FILE *out, struct tpa_error *err)
{
    bool ok = true;
    if (table->title) {
        buffer_puts(text, "<h2>");
        escape_html(text, table->title, strlen(table->title));
        buffer_puts(text, "</h2>\n");
    }
    if (table->row_count > 0) {
        buffer_puts(text, "<table><thead><tr>");
        for (size_t c = 0; c < table->column_count; c++)
            if (is_shown(table, c)) {
                buffer_puts(text, "<th title=\"");
                escape_html(text, table->columns[c].help, strlen(table->columns[c].help));
                buffer_puts(text, "\">");
                escape_html(text, table->columns[c].title, strlen(table->columns[c].title));
                buffer_puts(text, "</th>");
            }
        buffer_puts(text, "</tr></thead>\n<tbody>\n");
        for (size_t row = 0; row < table->row_count && ok; row++) {
            buffer_puts(text, "<tr>");
            for (size_t c = 0; c < table->column_count; c++)
                if (is_shown(table, c))
                    add_cell(text, table, row, c);
            buffer_puts(text, "</tr>\n");
            ok = output_drain(text, out, err);
        }
        buffer_puts(text, "</tbody></table>\n");
    }
    if (table->row_count < table->total_rows)
        buffer_printf(text, "<p>%zu of %zu rows</p>\n", table->row_count, table->total_rows);
    add_footers(text, table);
    return ok;
}

/* ---- the page ---- */

static const char *const head =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color:#222;background:#fff}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:left;overflow-wrap:anywhere}\n"
    ".figure{text-align:right;white-space:nowrap}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:0 1em}dt{color:#666}dd{margin:0}\n"
    "figure{margin:1em 0}figcaption{font-weight:600;overflow-wrap:anywhere}svg{width:100%;height:auto}\n"
    ".grid{stroke:#e4e4e4}.tick,.to{text-anchor:end}text{font-size:11px;fill:#666}\n"
    ".reference{stroke:#8aa;stroke-width:2;fill:none}g line{stroke:currentColor}circle{fill:currentColor}\n"
    "g.same{color:#456}.new{color:#c0182b;font-weight:600}.existing{color:#c05a18}.unsure{color:#97820a}\n"
    ".fixed,.better{color:#1a7f37}.accepted{color:#5b3fb5}\n"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181a1b}th,td{border-color:#333}.grid{stroke:#333}"
    "text,dt{fill:#999;color:#999}g.same{color:#9ab}.new{color:#ff6b7a}.existing{color:#ff9d5c}.unsure{color:#d8c24a}"
    ".fixed,.better{color:#58c27d}.accepted{color:#a894f0}}\n"
    "</style>\n";

static void add_notices(struct buffer *out, const struct result *result)
{
    struct buffer line = { 0 };
    for (size_t i = 0; i < result->notices.count; i++) {
        buffer_clear(&line);
        figure_add_notice(&line, &result->notices.at[i]);
        buffer_puts(out, "<p>");
        escape_html(out, line.at, line.count);
        buffer_puts(out, "</p>\n");
    }
    buffer_release(&line);
}

static bool print_trend(const struct result *result, const struct print_options *options, FILE *out,
                        struct tpa_error *err)
{
    (void)options;
    struct buffer text = { 0 };
    struct buffer title = { 0 };
    buffer_printf(&title, "%.*s", (int)strcspn(result->schema, "/"), result->schema);
    for (char *dot = title.at; *dot; dot++)
        *dot = *dot == '.' ? ' ' : *dot;
    buffer_puts(&text, head);
    buffer_puts(&text, "<title>");
    escape_html(&text, title.at, title.count);
    buffer_puts(&text, "</title></head><body>\n<h1>");
    escape_html(&text, title.at, title.count);
    buffer_puts(&text, "</h1>\n");
    buffer_release(&title);
    add_notices(&text, result);
    bool ok = true;
    for (size_t i = 0; i < result->tables.count && ok; i++) {
        struct trend_columns at;
        const struct table *table = result->tables.at[i];
        if (!find_columns(table, &at)) {
            ok = add_table(&text, table, out, err);
            continue;
        }
        if (i == 0 || !find_columns(result->tables.at[i - 1], &at))
            buffer_puts(&text, "<h2>Over the runs</h2>\n");
        find_columns(table, &at);
        ok = add_charts(&text, table, &at, out, err);
    }
    buffer_puts(&text, "</body></html>\n");
    return output_finish(ok, &text, out, err);
}

const struct printer printer_trend = { "html",
                                       "a page with a chart over the runs for each figure that matters",
                                       print_trend };
