/* Each block is laid out in a buffer of its own; then it is known how many lines there are, and
 * how many rows have to go. */
#include "report/text_answer.h"

#include "base/demangle.h"
#include "base/escape.h"
#include "base/quantity.h"
#include "base/unicode.h"
#include "report/apart.h"
#include "report/chart_text.h"
#include "report/shorten.h"
#include "report/wrap.h"
#include <math.h>

#define BOLD "\x1b[1m"
#define PLAIN "\x1b[0m"

enum { MOST_BAR = 100, MOST_LEGEND_LINES = 2, LABEL = 12, LEAST_LINES = 12 };

struct screen {
    const struct answer *answer;
    const struct print_options *options;
    size_t width;
    struct buffer head, tail;
    size_t findings, rows; /* rows that are shown */
    size_t notes;          /* that are not */
};

static size_t count_lines(const struct buffer *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->count; i++)
        count += text->at[i] == '\n';
    return count;
}

/* TEXT, escaped, wrapped; in bold where colours are welcome. */
static void add_paragraph(const struct screen *screen, struct buffer *out, const char *text, size_t indent,
                          bool bold)
{
    struct buffer safe = { 0 };
    escape_terminal(&safe, text, strlen(text));
    bold = bold && screen->options->color;
    if (bold)
        buffer_puts(out, BOLD);
    wrap_text(out, safe.at ? safe.at : "", safe.count, 0, indent, screen->width);
    if (bold) { /* the end of the line comes behind the style */
        out->count--;
        buffer_puts(out, PLAIN "\n");
    }
    buffer_release(&safe);
}

/* TEXT, escaped, in at most MAX columns; returns how many it took. */
static size_t add_cut(struct buffer *out, const char *text, size_t max)
{
    struct buffer safe = { 0 };
    escape_terminal(&safe, text, strlen(text));
    size_t width = safe.count ? shorten_middle(out, safe.at, safe.count, max) : 0;
    buffer_release(&safe);
    return width;
}

/* As much of the prose TEXT, escaped, as fits in MAX columns: whole words, and "..." for the rest. */
static void add_begin(struct buffer *out, const char *text, size_t max)
{
    struct buffer safe = { 0 };
    size_t kept = 0, width = escape_terminal(&safe, text, strlen(text));
    for (size_t i = 0; width > max && i < safe.count; i++)
        if (safe.at[i] == ' ' && unicode_text_width(safe.at, i) + 3 <= max)
            kept = i;
    buffer_add(out, safe.at, width > max ? kept : safe.count);
    if (width > max)
        buffer_puts(out, "...");
    buffer_release(&safe);
}

static void end_line(struct buffer *out)
{
    while (out->count && out->at[out->count - 1] == ' ')
        out->count--;
    buffer_putc(out, '\n');
}

/* ---- the bar ---- */

/* The color of each part: its own unless one before it has that. */
static void color_parts(const struct answer_bar *bar, enum chart_color *colors)
{
    bool taken[CHART_COLORS] = { false };
    for (size_t i = 0; i < bar->parts.count; i++) {
        enum chart_color color = bar->parts.at[i].color;
        for (int other = 0; taken[color] && other < CHART_COLORS; other++)
            if (!taken[other])
                color = (enum chart_color)other;
        taken[color] = true;
        colors[i] = color;
    }
}

static void add_bar_cells(const struct screen *screen, struct buffer *out, enum chart_color color,
                          size_t count)
{
    const char *cell = chart_text_pattern(color, screen->options->unicode, screen->options->color);
    if (screen->options->color)
        buffer_printf(out, "\x1b[38;5;%um", chart_text_shade(color));
    for (size_t i = 0; i < count; i++)
        buffer_puts(out, cell);
    if (screen->options->color)
        buffer_puts(out, PLAIN);
}

/* The legend, in few lines: parts that do not fit are the smallest, and "..." stands for them. */
static void add_legend(const struct screen *screen, const struct answer_bar *bar,
                       const enum chart_color *colors, const size_t *cells, struct buffer *out)
{
    size_t column = 0, lines = 1;
    for (size_t i = 0; i < bar->parts.count; i++) {
        const struct answer_part *part = &bar->parts.at[i];
        struct buffer entry = { 0 };
        escape_terminal(&entry, part->title, strlen(part->title));
        buffer_printf(&entry, " %.1f %%", quantity_percent(part->share));
        size_t width = 2 + unicode_text_width(entry.at, entry.count), gap = column ? 3 : 0;
        bool fits = column + gap + width <= screen->width;
        if (cells[i] == 0 || (!fits && lines == MOST_LEGEND_LINES)) {
            buffer_release(&entry);
            continue;
        }
        if (!fits && column) {
            end_line(out);
            lines++;
            column = gap = 0;
        }
        buffer_pad(out, ' ', gap);
        add_bar_cells(screen, out, colors[i], 1);
        buffer_putc(out, ' ');
        buffer_add(out, entry.at, entry.count);
        column += gap + width;
        buffer_release(&entry);
    }
    end_line(out);
}

/* One bar that is the whole. Cells are rounded so that they add up. */
static void add_bar(const struct screen *screen, struct buffer *out)
{
    const struct answer *answer = screen->answer;
    if (answer->bars.count == 0)
        return;
    const struct answer_bar *bar = &answer->bars.at[0];
    enum chart_color *colors = mem_alloc(mem_times(bar->parts.count + 1, sizeof *colors));
    size_t *cells = mem_alloc(mem_times(bar->parts.count + 1, sizeof *cells));
    size_t all = screen->width < MOST_BAR ? screen->width : MOST_BAR, done = 0;
    double share = 0;
    color_parts(bar, colors);
    for (size_t i = 0; i < bar->parts.count; i++) {
        share += bar->parts.at[i].share;
        double until = fmin(fmax(share, 0), 1) * (double)all;
        size_t end = (size_t)(until + 0.5);
        cells[i] = end > done ? end - done : 0;
        done = end > done ? end : done;
        add_bar_cells(screen, out, colors[i], cells[i]);
    }
    end_line(out);
    add_legend(screen, bar, colors, cells, out);
    EACH(free, cells, colors);
}

static void add_phases(const struct screen *screen, struct buffer *out)
{
    if (screen->answer->bars.count && screen->answer->phases)
        add_paragraph(screen, out, screen->answer->phases, 0, false);
    if (screen->answer->pattern)
        add_paragraph(screen, out, screen->answer->pattern, 0, false);
}

/* "A step takes 487.338us -> 258.605us at best; what the GPUs did in it:". */
static void add_whole(const struct screen *screen, struct buffer *out)
{
    const struct answer *answer = screen->answer;
    struct buffer line = { 0 };
    if (answer->now_and_then)
        buffer_puts(&line, answer->now_and_then);
    if (answer->bars.count && answer->now_and_then && answer->bars_of)
        buffer_printf(&line, "; %s:", answer->bars_of);
    else if (answer->bars.count && answer->bars_title)
        buffer_printf(&line, "%s%s:", line.count ? ". " : "", answer->bars_title);
    else if (line.count)
        buffer_putc(&line, '.');
    if (line.count)
        add_paragraph(screen, out, line.at, 0, false);
    buffer_release(&line);
}

/* ---- findings ---- */

static const char *title_of(const struct answer_finding *finding)
{
    return finding->action ? finding->action : finding->title;
}

static const char *gain_of(const struct answer_finding *finding)
{
    return finding->gain ? finding->gain : finding->saves ? finding->saves : "";
}

/* The change as code, in MAX columns; else as prose. */
static void add_change(struct buffer *out, const struct answer_finding *finding, size_t max)
{
    struct buffer both = { 0 };
    if (finding->code && finding->was)
        buffer_printf(&both, "%s -> %s", finding->was, finding->code);
    if (both.count && unicode_text_width(both.at, both.count) <= max)
        add_cut(out, both.at, max);
    else if (finding->code)
        add_cut(out, finding->code, max);
    else if (finding->advice)
        add_begin(out, finding->advice, max);
    buffer_release(&both);
}

enum { NUMBER = 3, GAP = 2, LEAST_PLACE = 20 };

/* The change; where nothing is known of it, or the first line had no room for it, the place. */
static void add_second_line(const struct screen *screen, struct buffer *out,
                            const struct answer_finding *finding, bool has_place)
{
    struct buffer change = { 0 };
    size_t room = screen->width > NUMBER ? screen->width - NUMBER : 1;
    add_change(&change, finding, room);
    size_t width = unicode_text_width(change.at ? change.at : "", change.count), gap = change.count ? GAP : 0;
    buffer_pad(out, ' ', NUMBER);
    buffer_add(out, change.at ? change.at : "", change.count);
    if (finding->where && !has_place && room >= width + gap + LEAST_PLACE) {
        buffer_pad(out, ' ', gap);
        add_cut(out, finding->where, room - width - gap);
    }
    end_line(out);
    buffer_release(&change);
}

/* Two lines for each: what to do, what it saves, and where; and the change. */
static void add_findings(const struct screen *screen, struct buffer *out)
{
    const struct answer *answer = screen->answer;
    size_t title_width = 0, gain_width = 0,
           most_title = screen->width / 2 > NUMBER ? screen->width / 2 : NUMBER;
    for (size_t i = 0; i < screen->findings; i++) {
        const struct answer_finding *finding = &answer->findings.at[i];
        size_t title = unicode_text_width(title_of(finding), strlen(title_of(finding)));
        size_t gain = unicode_text_width(gain_of(finding), strlen(gain_of(finding)));
        title_width = title > title_width ? title : title_width;
        gain_width = gain > gain_width ? gain : gain_width;
    }
    title_width = title_width > most_title ? most_title : title_width;
    for (size_t i = 0; i < screen->findings; i++) {
        const struct answer_finding *finding = &answer->findings.at[i];
        size_t used = NUMBER + title_width + GAP;
        buffer_printf(out, "%zu. ", i + 1);
        size_t title = add_cut(out, title_of(finding), title_width);
        buffer_pad(out, ' ', title_width - title + GAP);
        size_t room = screen->width > used ? screen->width - used : 1;
        size_t gain = add_cut(out, gain_of(finding), room);
        used += gain_width + GAP;
        bool has_place = finding->where && (finding->code || finding->advice) && gain <= gain_width &&
                         screen->width >= used + LEAST_PLACE;
        if (has_place) {
            buffer_pad(out, ' ', gain_width - gain + GAP);
            add_cut(out, finding->where, screen->width - used);
        }
        end_line(out);
        add_second_line(screen, out, finding, has_place);
    }
}

/* ---- what takes longest ---- */

static void add_label(struct buffer *out, const char *label)
{
    buffer_puts(out, label);
    buffer_pad(out, ' ', strlen(label) < LABEL ? LABEL - strlen(label) : 1);
}

static void add_answer_rows(const struct screen *screen, struct buffer *out)
{
    enum { SHARE = 7 };
    const struct answer *answer = screen->answer;
    size_t widest = 0;
    struct buffer *times = mem_zalloc(screen->rows + 1, sizeof *times);
    for (size_t i = 0; i < screen->rows; i++) {
        quantity_append_rounded_time(&times[i], (double)answer->rows.at[i].ns);
        widest = times[i].count > widest ? times[i].count : widest;
    }
    size_t used = LABEL + SHARE + GAP + widest + GAP;
    struct apart *names = apart_open(screen->width > used ? screen->width - used : 1);
    for (size_t i = 0; i < screen->rows; i++)
        apart_add(names, answer->rows.at[i].name, strlen(answer->rows.at[i].name));
    for (size_t i = 0; i < screen->rows; i++) {
        const struct answer_row *row = &answer->rows.at[i];
        struct text full, shown = { 0 };
        add_label(out, i ? "" : answer->rows_word);
        buffer_printf(out, "%5.1f %%  %*s  ", quantity_percent(row->share), (int)widest, times[i].at);
        if (apart_fill_names(names, &full, &shown, row->name, strlen(row->name)))
            buffer_add(out, shown.at, shown.len);
        else
            escape_terminal(out, full.at, full.len);
        end_line(out);
        buffer_release(&times[i]);
    }
    free(times);
    arena_free(names);
}

/* ---- the whole ---- */

/* LABEL, and as much of TEXT as fits on LINES lines. */
static void add_line(const struct screen *screen, struct buffer *out, const char *label, const char *text,
                     size_t lines)
{
    size_t room = screen->width > LABEL ? screen->width - LABEL : 1;
    struct buffer begin = { 0 };
    if (!text)
        return;
    add_begin(&begin, text, screen->width == SIZE_MAX ? SIZE_MAX : lines * room - (lines - 1) * room / 8);
    add_label(out, label);
    wrap_text(out, begin.at, begin.count, LABEL, LABEL, screen->width);
    buffer_release(&begin);
}

/* The notes at PLACE, without those that the answer has. */
static void add_notices(struct screen *screen, const struct result *result, enum notice_place place,
                        struct buffer *out)
{
    for (size_t i = 0; i < result->notices.count; i++) {
        const struct table_notice *notice = &result->notices.at[i];
        if (notice_place(notice) != place || (notice->in_answer && !screen->options->all_notes))
            continue;
        if (place == NOTICE_ON_TOP && notice->in_answer)
            continue;
        if (place == NOTICE_BELOW && notice->minor && !screen->options->all_notes) {
            screen->notes++;
            continue;
        }
        struct buffer line = { 0 };
        figure_add_notice(&line, notice);
        add_paragraph(screen, out, line.at, 6, false);
        buffer_release(&line);
    }
}

/* What is not shown, and how to see it. */
static void add_more(const struct screen *screen, struct buffer *out)
{
    const struct answer *answer = screen->answer;
    size_t more = answer->more_findings + answer->findings.count - screen->findings;
    struct buffer line = { 0 };
    buffer_puts(&line, "--all: ");
    if (more)
        buffer_printf(&line, "%zu more finding%s, ", more, more == 1 ? "" : "s");
    buffer_puts(&line, "tables with all figures");
    if (screen->notes)
        buffer_printf(&line, "; --notes: %zu note%s", screen->notes, screen->notes == 1 ? "" : "s");
    add_line(screen, out, "More", line.at, 1);
    buffer_release(&line);
}

/* How many lines all of it takes: a finding two, and a blank one before each block. */
static size_t lines_of(const struct screen *screen)
{
    return count_lines(&screen->head) + (screen->findings ? 1 + 2 * screen->findings : 0) + 1 + screen->rows +
           count_lines(&screen->tail) + 1;
}

/* Leave out rows until it fits: of what takes longest down to three, of findings down to three, and then by turns. */
static void fit_rows(struct screen *screen)
{
    size_t height = screen->options->height, most = TEXT_ANSWER_LINES;
    if (height && height <= most) /* a line is left for the prompt */
        most = height > LEAST_LINES ? height - 1 : LEAST_LINES;
    while (lines_of(screen) > most && (screen->findings > 1 || screen->rows > 0)) {
        if (screen->rows > 3 || (screen->rows > 0 && screen->findings <= 3))
            screen->rows--;
        else
            screen->findings--;
    }
}

void text_answer_add(struct buffer *out, const struct result *result, const struct print_options *options)
{
    const struct answer *answer = result->answer;
    struct screen screen = { .answer = answer,
                             .options = options,
                             .width = options->wide || !options->width ? SIZE_MAX : options->width,
                             .findings = answer->findings.count,
                             .rows = answer->rows_word ? answer->rows.count : 0 };
    add_notices(&screen, result, NOTICE_LACKS, &screen.head);
    add_notices(&screen, result, NOTICE_OF_INPUT, &screen.head);
    if (answer->verdict)
        add_paragraph(&screen, &screen.head, answer->verdict, 0, true);
    else if (answer->nothing && !answer->headline) /* else a notice says the same */
        add_paragraph(&screen, &screen.head, answer->nothing, 0, true);
    add_notices(&screen, result, NOTICE_ON_TOP, &screen.head);
    add_whole(&screen, &screen.head);
    add_bar(&screen, &screen.head);
    add_phases(&screen, &screen.head);
    add_notices(&screen, result, NOTICE_BELOW, &screen.tail);
    add_line(&screen, &screen.tail, "Together", answer->together, 1);
    add_line(&screen, &screen.tail, "Unknown", answer->unexplained, 2);
    add_line(&screen, &screen.tail, "Not seen", answer->blind, 1);
    fit_rows(&screen);
    buffer_add(out, screen.head.at, screen.head.count);
    if (screen.findings) {
        buffer_puts(out, screen.head.count ? "\n" : "");
        add_findings(&screen, out);
    }
    buffer_puts(out, out->count ? "\n" : "");
    add_answer_rows(&screen, out);
    buffer_add(out, screen.tail.at, screen.tail.count);
    add_more(&screen, out);
    EACH(buffer_release, &screen.head, &screen.tail);
}
