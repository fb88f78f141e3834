/* A column stands for a stretch of time, and shows the moment of it at which most was in use. */
#include "report/page_parts.h"

#include "base/escape.h"
#include "report/figures.h"
#include "report/page_uses.h"

enum {
    COLUMNS = 450,
    COLUMN_WIDTH = 2,
    LEFT = 80, /* where the columns begin */
    TOP = 16,
    HEIGHT = 110,
    MOST_PARTS = 8
};

struct moment {
    int64_t bytes[MOST_PARTS], total;
};

struct curve {
    const struct timeline *timeline;
    const struct answer_bar *bar;
    struct moment columns[COLUMNS];
    int64_t most, peak_ns;
    size_t peak; /* its column */
};

/* The part of the bar that the code NAME is; what has no part of its own is in the last. */
static size_t curve_part_of(const struct answer_bar *bar, const char *name)
{
    for (size_t i = 0; i < bar->parts.count; i++)
        if (bar->parts.at[i].name && strcmp(bar->parts.at[i].name, name) == 0)
            return i;
    return bar->parts.count - 1;
}

static size_t column_at(const struct curve *curve, int64_t at_ns)
{
    size_t column = (size_t)((double)at_ns / (double)curve->timeline->dur_ns * COLUMNS);
    return column < COLUMNS ? column : COLUMNS - 1;
}

static void take(struct curve *curve, size_t column, const struct moment *now)
{
    if (now->total >= curve->columns[column].total)
        curve->columns[column] = *now;
}

/* USES are by time. */
static void curve_fill(struct curve *curve, const struct page_uses *uses, const size_t *parts)
{
    struct moment now = { 0 };
    size_t column = 0;
    for (size_t i = 0; i < uses->count;) {
        int64_t at_ns = uses->at[i].at_ns;
        for (size_t next = column_at(curve, at_ns); column < next;) {
            take(curve, column++, &now);
            curve->columns[column] = now;
        }
        for (; i < uses->count && uses->at[i].at_ns == at_ns; i++) {
            now.bytes[parts[uses->at[i].name]] += uses->at[i].bytes;
            now.total += uses->at[i].bytes;
        }
        take(curve, column, &now);
        if (now.total > curve->most) {
            curve->most = now.total;
            curve->peak = column;
            curve->peak_ns = at_ns;
        }
    }
    while (column + 1 < COLUMNS)
        curve->columns[++column] = now;
}

/* What the parts up to PART take, as a shape; equal columns are one. */
static void append_area(struct buffer *out, const struct curve *curve, size_t part)
{
    int last = -1;
    buffer_printf(out, "<path class=\"fill c%d\" d=\"M%d %d", (int)curve->bar->parts.at[part].color, LEFT,
                  TOP + HEIGHT);
    for (size_t c = 0; c < COLUMNS; c++) {
        int64_t sum = 0;
        for (size_t i = 0; i <= part; i++)
            sum += curve->columns[c].bytes[i];
        int y = TOP + HEIGHT - (int)((double)(sum > 0 ? sum : 0) / (double)curve->most * HEIGHT + 0.5);
        if (y != last)
            buffer_printf(out, "H%zuV%d", LEFT + c * COLUMN_WIDTH, y);
        last = y;
    }
    buffer_printf(out, "H%dV%dz\"><title>", LEFT + COLUMNS * COLUMN_WIDTH, TOP + HEIGHT);
    escape_html(out, curve->bar->parts.at[part].title, strlen(curve->bar->parts.at[part].title));
    buffer_puts(out, "</title></path>");
}

static void append_axes(struct buffer *out, const struct curve *curve)
{
    enum { MARKS = 5, RIGHT = LEFT + COLUMNS * COLUMN_WIDTH, BOTTOM = TOP + HEIGHT };
    for (int i = 0; i <= 2; i++) {
        int y = BOTTOM - HEIGHT * i / 2;
        buffer_printf(out,
                      "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/><text class=\"tick\" "
                      "x=\"%d\" y=\"%d\" text-anchor=\"end\">",
                      LEFT, RIGHT, y, y, LEFT - 6, y + 4);
        figure_add_value(out, TABLE_BYTES, (double)curve->most * i / 2);
        buffer_puts(out, "</text>");
    }
    for (int i = 0; i <= MARKS; i++) {
        buffer_printf(out, "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">",
                      LEFT + (RIGHT - LEFT) * i / MARKS, BOTTOM + 14,
                      i == 0       ? "start"
                      : i == MARKS ? "end"
                                   : "middle");
        figure_add_value(out, TABLE_NS, (double)curve->timeline->dur_ns * i / MARKS);
        buffer_puts(out, "</text>");
    }
}

static void append_peak(struct buffer *out, const struct curve *curve)
{
    size_t x = LEFT + curve->peak * COLUMN_WIDTH + COLUMN_WIDTH / 2;
    bool right = curve->peak > COLUMNS / 2;
    buffer_printf(
        out,
        "<line class=\"axis\" x1=\"%zu\" x2=\"%zu\" y1=\"4\" y2=\"%d\"/><circle class=\"peak\" cx=\"%zu\" "
        "cy=\"%d\" r=\"3.5\"/><text class=\"over\" x=\"%zu\" y=\"11\" text-anchor=\"%s\">peak, ",
        x, x, TOP + HEIGHT, x, TOP, right ? x - 8 : x + 8, right ? "end" : "start");
    figure_add_value(out, TABLE_NS, (double)curve->peak_ns);
    buffer_puts(out, " after the first entry</text>");
}

static void append_curve(struct buffer *out, const struct curve *curve, size_t number)
{
    buffer_puts(out, "<figure class=\"one-step\"><figcaption>In use over time, by what held the peak "
                     "<small>requested bytes; <a href=\"#");
    struct buffer address = { 0 };
    if (number > 1)
        buffer_printf(&address, "%zu.", number);
    buffer_printf(&address, "m=%lld", (long long)curve->peak_ns);
    buffer_printf(
        out,
        "%s\">open the peak in the timeline</a></small></figcaption>\n<div class=\"chart\"><a href=\"#%s\" "
        "aria-label=\"the peak in the timeline\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Memory in use over "
        "time\">",
        address.at, address.at, LEFT + COLUMNS * COLUMN_WIDTH, TOP + HEIGHT + 18);
    append_axes(out, curve);
    for (size_t part = curve->bar->parts.count; part-- > 0;)
        append_area(out, curve, part);
    append_peak(out, curve);
    buffer_puts(out, "</svg></a></div></figure>\n");
    buffer_release(&address);
}

void page_add_curve(struct buffer *out, const struct timeline *timeline, size_t number,
                    const struct answer *answer)
{
    bool own = timeline->of && answer->curve_of && strcmp(timeline->of, answer->curve_of) == 0;
    if (!own || answer->bars.count == 0 || answer->bars.at[0].parts.count > MOST_PARTS)
        return;
    struct curve *curve = mem_zalloc(1, sizeof *curve);
    struct page_uses uses = page_uses_of(timeline, SIZE_MAX);
    size_t names = names_count(timeline->names), *parts = mem_alloc(mem_times(names + 1, sizeof *parts));
    curve->timeline = timeline;
    curve->bar = &answer->bars.at[0];
    for (name_id id = 0; id < names; id++)
        parts[id] = curve_part_of(curve->bar, names_text(timeline->names, id));
    curve_fill(curve, &uses, parts);
    if (curve->most > 0)
        append_curve(out, curve, number);
    EACH(free, parts, curve);
    VEC_FREE(&uses);
}
