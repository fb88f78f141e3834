/* The axis begins where levels and bands do, not at 0: a line shows differences. */
#include "report/page_parts.h"

#include "base/escape.h"
#include "report/figures.h"
#include <math.h>

enum { LEFT = 74, WIDTH = 480, RIGHT = WIDTH - 10, TOP = 14, HEIGHT = 96, BOTTOM = TOP + HEIGHT };

struct drawing {
    const struct answer_trend *trend;
    double least, most;
};

static double trend_across(const struct drawing *drawing, size_t run)
{
    return LEFT + (double)(RIGHT - LEFT) * (double)run / (double)(drawing->trend->runs.count - 1);
}

static double trend_down(const struct drawing *drawing, double value)
{
    return BOTTOM - (value - drawing->least) / (drawing->most - drawing->least) * HEIGHT;
}

static void append_escaped(struct buffer *out, const char *text)
{
    escape_html(out, text, strlen(text));
}

/* All levels and bands, and a little room around them. */
static void find_ends(struct drawing *drawing)
{
    drawing->least = INFINITY;
    drawing->most = -INFINITY;
    for (size_t i = 0; i < drawing->trend->runs.count; i++) {
        const struct answer_run *run = &drawing->trend->runs.at[i];
        drawing->least = fmin(drawing->least, fmin(run->level, isnan(run->low) ? run->level : run->low));
        drawing->most = fmax(drawing->most, fmax(run->level, isnan(run->high) ? run->level : run->high));
    }
    double room =
        drawing->most > drawing->least ? (drawing->most - drawing->least) / 10 : fabs(drawing->most) / 10 + 1;
    drawing->least = drawing->least > room ? drawing->least - room : 0;
    drawing->most += room;
}

/* Where runs without any change are expected; runs for which nothing is expected end a band. */
static void append_bands(struct buffer *out, const struct drawing *drawing)
{
    const struct answer_trend *trend = drawing->trend;
    for (size_t from = 0, to; from < trend->runs.count; from = to) {
        for (to = from; to < trend->runs.count && !isnan(trend->runs.at[to].low);)
            to++;
        if (to - from > 1) {
            buffer_puts(out, "<polygon class=\"c4 band\" points=\"");
            for (size_t i = from; i < to; i++)
                buffer_printf(out, "%.1f,%.1f ", trend_across(drawing, i),
                              trend_down(drawing, trend->runs.at[i].high));
            for (size_t i = to; i-- > from;)
                buffer_printf(out, "%.1f,%.1f ", trend_across(drawing, i),
                              trend_down(drawing, trend->runs.at[i].low));
            buffer_puts(out, "\"><title>where runs without any change are expected</title></polygon>");
        }
        to += to < trend->runs.count;
    }
}

static void append_levels(struct buffer *out, const struct drawing *drawing)
{
    const struct answer_trend *trend = drawing->trend;
    buffer_puts(out, "<polyline class=\"c0 line\" points=\"");
    for (size_t i = 0; i < trend->runs.count; i++)
        buffer_printf(out, "%.1f,%.1f ", trend_across(drawing, i),
                      trend_down(drawing, trend->runs.at[i].level));
    buffer_puts(out, "\"/>");
    for (size_t i = 0; i < trend->runs.count; i++) {
        const struct answer_run *run = &trend->runs.at[i];
        buffer_printf(out, "<circle class=\"c%d fill\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>",
                      run->worse ? (int)CHART_VERMILION : (int)CHART_BLUE, trend_across(drawing, i),
                      trend_down(drawing, run->level), run->worse ? "4.5" : "2.5");
        append_escaped(out, run->label);
        buffer_puts(out, ": ");
        figure_add_value(out, trend->kind, run->level);
        buffer_puts(out, "</title></circle>");
    }
}

static void append_tick(struct buffer *out, double x, double y, const char *anchor)
{
    buffer_printf(out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
}

static void append_ends(struct buffer *out, const struct drawing *drawing)
{
    const struct answer_trend *trend = drawing->trend;
    for (int i = 0; i <= 2; i++) {
        double value = drawing->least + (drawing->most - drawing->least) * i / 2,
               y = trend_down(drawing, value);
        buffer_printf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, RIGHT,
                      y, y);
        append_tick(out, LEFT - 6, y + 4, "end");
        figure_add_value(out, trend->kind, value);
        buffer_puts(out, "</text>");
    }
    append_tick(out, LEFT, BOTTOM + 16, "start");
    append_escaped(out, trend->runs.at[0].tick);
    buffer_puts(out, "</text>");
    append_tick(out, RIGHT, BOTTOM + 16, "end");
    append_escaped(out, trend->runs.at[trend->runs.count - 1].tick);
    buffer_puts(out, "</text>");
}

void page_add_trend(struct buffer *out, const struct answer_trend *trend)
{
    struct drawing drawing = { .trend = trend };
    if (trend->runs.count < 2)
        return;
    find_ends(&drawing);
    buffer_puts(out, "<figure class=\"trend\"><figcaption>");
    append_escaped(out, trend->title);
    buffer_puts(out, " <small>run by run; the axis does not begin at 0</small></figcaption>\n");
    buffer_printf(out, "<div class=\"chart\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
                  BOTTOM + 22);
    append_escaped(out, trend->title);
    buffer_puts(out, " of each run\">");
    append_ends(out, &drawing);
    append_bands(out, &drawing);
    append_levels(out, &drawing);
    buffer_puts(out, "</svg></div></figure>\n");
}
