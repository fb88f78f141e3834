/*
 * page_answer.c - see page_answer.h. Bars are SVG without text, stretched to the room there is; what they stand for is text
 * beside them, so that it wraps, can be read aloud and copied. The page's policy forbids style attributes.
 */
#include "report/page_answer.h"

#include "base/escape.h"
#include "report/apart.h"
#include "report/figures.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A figure and its "%" stay in one line. */
static void append_prose(struct buffer *out, const char *text, size_t len)
{
    size_t from = 0;
    for (size_t i = 1; i + 1 < len; i++)
        if (text[i] == ' ' && text[i + 1] == '%' && text[i - 1] >= '0' && text[i - 1] <= '9') {
            escape_html(out, text + from, i - from);
            buffer_puts(out, "\xc2\xa0");
            from = i + 1;
        }
    escape_html(out, text + from, len - from);
}

static void append_text(struct buffer *out, const char *text)
{
    escape_html(out, text, strlen(text));
}

/* <TAG class="CLASS">TEXT</TAG>; nothing when there is no text. */
static void append_element(struct buffer *out, const char *tag, const char *class, const char *text)
{
    if (!text)
        return;
    buffer_printf(out, "<%s class=\"%s\">", tag, class);
    append_prose(out, text, strlen(text));
    buffer_printf(out, "</%s>\n", tag);
}

static void append_share(struct buffer *out, double share)
{
    figure_add_value(out, TABLE_SHARE, share);
}

static void append_time(struct buffer *out, int64_t ns)
{
    figure_add_value(out, TABLE_NS, (double)ns);
}

void page_add_facts(struct buffer *out, const struct answer *answer)
{
    if (answer->facts.count == 0)
        return;
    buffer_puts(out, "<dl class=\"ran\">\n");
    for (size_t i = 0; i < answer->facts.count; i++) {
        buffer_puts(out, "<div><dt>");
        append_text(out, answer->facts.at[i].label);
        buffer_puts(out, "</dt><dd>");
        append_text(out, answer->facts.at[i].text);
        buffer_puts(out, "</dd></div>\n");
    }
    buffer_puts(out, "</dl>\n");
}

/* ---- bars ---- */

static const struct page_section *find_section(const struct page *page, const char *key)
{
    for (size_t i = 0; key && i < page->sections.count; i++)
        if (strcmp(page->sections.at[i].key, key) == 0)
            return &page->sections.at[i];
    return NULL;
}

/* "computing 7.9 %, idle: host 81.3 %" */
static void append_bar_text(struct buffer *out, const struct answer_bar *bar)
{
    if (bar->title) {
        append_text(out, bar->title);
        buffer_puts(out, ": ");
    }
    for (size_t i = 0; i < bar->parts.count; i++) {
        buffer_puts(out, i ? ", " : "");
        append_text(out, bar->parts.at[i].title);
        buffer_putc(out, ' ');
        append_share(out, bar->parts.at[i].share);
    }
}

static void append_bar(struct buffer *out, const struct answer_bar *bar)
{
    double at = 0;
    const double width = 1000;
    append_element(out, "span", "of", bar->title);
    buffer_puts(
        out,
        "<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"");
    append_bar_text(out, bar);
    buffer_puts(out, "\">");
    for (size_t i = 0; i < bar->parts.count; i++) {
        const struct answer_part *part = &bar->parts.at[i];
        double wide = part->share * bar->length * width;
        buffer_printf(out, "<rect class=\"fill c%d\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"10\"><title>",
                      (int)part->color, at, wide);
        append_text(out, part->title);
        buffer_puts(out, ": ");
        append_share(out, part->share);
        buffer_puts(out, ", ");
        append_text(out, part->figure);
        buffer_puts(out, "</title></rect>");
        at += wide;
    }
    buffer_puts(out, "</svg>\n");
}

/* What a colour is, and its figures; OF the bar that has it, NULL: the one that the legend is of. */
static void append_part(struct buffer *out, const struct answer_part *part, const char *of,
                        const struct page *page)
{
    bool links = find_section(page, part->section) != NULL;
    buffer_printf(out, "<li><span class=\"swatch c%d\"></span>", (int)part->color);
    if (links)
        buffer_printf(out, "<a href=\"#%s\">", part->section);
    buffer_puts(out, "<span class=\"what\" title=\"");
    append_text(out, part->title); /* which the page may cut */
    buffer_puts(out, "\">");
    append_text(out, part->title);
    buffer_puts(out, links ? "</span></a> <b>" : "</span> <b>");
    append_share(out, part->share);
    buffer_puts(out, "</b> <span class=\"faint\">");
    append_text(out, part->figure);
    if (of) {
        buffer_puts(out, ", ");
        append_text(out, of);
    }
    buffer_puts(out, "</span></li>\n");
}

/* The part of BAR that is called TITLE; NULL when there is none. */
static const struct answer_part *find_part(const struct answer_bar *bar, const char *title)
{
    for (size_t i = 0; i < bar->parts.count; i++)
        if (strcmp(bar->parts.at[i].title, title) == 0)
            return &bar->parts.at[i];
    return NULL;
}

/* Of the parts that are called as PART, of bar B, is it the largest (of equals, the first)? */
static bool is_largest(const struct answer *answer, size_t b, const struct answer_part *part)
{
    for (size_t i = 0; i < answer->bars.count; i++) {
        const struct answer_part *other = find_part(&answer->bars.at[i], part->title);
        if (other && (i < b ? other->share >= part->share : other->share > part->share))
            return false;
    }
    return true;
}

/* What the colours are: of the bar that the legend is of, then what only others have, where it is largest. */
static void append_parts(struct buffer *out, const struct answer *answer, const struct page *page)
{
    const struct answer_bar *legend = &answer->bars.at[answer->legend];
    buffer_puts(out, "<ul class=\"parts\">\n");
    for (size_t i = 0; i < legend->parts.count; i++)
        append_part(out, &legend->parts.at[i], NULL, page);
    for (size_t b = 0; b < answer->bars.count; b++) {
        const struct answer_bar *bar = &answer->bars.at[b];
        for (size_t i = 0; i < bar->parts.count; i++)
            if (!find_part(legend, bar->parts.at[i].title) && is_largest(answer, b, &bar->parts.at[i]))
                append_part(out, &bar->parts.at[i], bar->title, page);
    }
    buffer_puts(out, "</ul>\n");
}

static void append_bars(struct buffer *out, const struct answer *answer, const struct page *page)
{
    if (answer->bars.count == 0)
        return;
    buffer_puts(out, "<figure class=\"whole\"><figcaption>");
    append_text(out, answer->bars_title);
    buffer_printf(out, "</figcaption>\n<div class=\"%s\">\n",
                  answer->bars.count > 1 ? "bars titled" : "bars");
    for (size_t i = 0; i < answer->bars.count; i++)
        append_bar(out, &answer->bars.at[i]);
    buffer_puts(out, "</div>\n");
    append_parts(out, answer, page);
    buffer_puts(out, "</figure>\n");
}

/* ---- steps over time ---- */

static const char *step_word(const struct answer *answer)
{
    return answer->step_word ? answer->step_word : "step";
}

static int compare_times(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static int64_t median_of(const struct answer *answer)
{
    size_t count = answer->steps.count;
    int64_t *times = mem_alloc(mem_times(count, sizeof *times));
    for (size_t i = 0; i < count; i++)
        times[i] = answer->steps.at[i].ns;
    qsort(times, count, sizeof *times, compare_times);
    int64_t median = count % 2 ? times[count / 2] : times[count / 2 - 1] / 2 + times[count / 2] / 2;
    free(times);
    return median;
}

/* A column for each step; where they are more than fit, for the slowest of a few that follow one another. */
static void append_columns(struct buffer *out, const struct answer *answer, const struct answer_step *slowest,
                           bool stands_out)
{
    enum { MOST = 150 };
    size_t count = answer->steps.count, columns = count < MOST ? count : MOST;
    const double height = 100;
    double wide = 1000.0 / (double)columns;
    for (size_t c = 0; c < columns; c++) {
        size_t first = c * count / columns, end = (c + 1) * count / columns;
        const struct answer_step *step = &answer->steps.at[first];
        for (size_t i = first + 1; i < end; i++)
            step = answer->steps.at[i].ns > step->ns ? &answer->steps.at[i] : step;
        double tall = height * (double)step->ns / (double)slowest->ns;
        buffer_printf(out, "<rect class=\"fill c%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"",
                      step->worse || (stands_out && step == slowest) ? (int)CHART_VERMILION
                                                                     : (int)CHART_COLOR_OF_OTHER,
                      (double)c * wide + wide * 0.1, height - tall, wide * 0.8, tall);
        if (step->start_ns >= 0)
            buffer_printf(out, " data-at=\"%" PRId64 ",%" PRId64 "\"", step->start_ns, step->ns);
        buffer_printf(out, "><title>%s ", step_word(answer));
        append_text(out, step->label);
        buffer_puts(out, ": ");
        append_time(out, step->ns);
        buffer_puts(out, "</title></rect>");
    }
}

static void append_steps(struct buffer *out, const struct answer *answer, const struct page *page)
{
    size_t count = answer->steps.count;
    const struct answer_step *slowest = answer->steps.at, *fastest = slowest;
    for (size_t i = 1; i < count; i++) {
        slowest = answer->steps.at[i].ns > slowest->ns ? &answer->steps.at[i] : slowest;
        fastest = answer->steps.at[i].ns < fastest->ns ? &answer->steps.at[i] : fastest;
    }
    if (count < 2 || slowest->ns <= 0)
        return;
    int64_t median = median_of(answer);
    bool links = find_section(page, "steps") != NULL,
         stands_out = slowest->worse || slowest->ns - median > median / 10;
    buffer_printf(out, "<figure class=\"over-time\"><figcaption>%s", links ? "<a href=\"#steps\">" : "");
    append_text(out, answer->steps_title);
    buffer_printf(out,
                  "%s</figcaption>\n<svg class=\"columns\" viewBox=\"0 0 1000 100\" "
                  "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"the time of each step\">",
                  links ? "</a>" : "");
    append_columns(out, answer, slowest, stands_out);
    buffer_printf(out, "</svg>\n<p class=\"faint\">%zu %ss: fastest ", count, step_word(answer));
    append_time(out, fastest->ns);
    buffer_puts(out, ", median ");
    append_time(out, median);
    buffer_printf(out, ", <span%s>slowest ", stands_out ? " class=\"worse\"" : "");
    append_time(out, slowest->ns);
    buffer_printf(out, " (%s ", step_word(answer));
    append_text(out, slowest->label);
    buffer_puts(out, ")</span></p></figure>\n");
}

/* ---- what to do ---- */

/* TEXT with the places at which a long name may be broken: after what joins its words. */
static void append_breakable(struct buffer *out, const char *text, size_t len)
{
    for (size_t from = 0, i = 0; i < len; i++) {
        bool figure = i + 1 < len && text[i] == '.' && text[i + 1] >= '0' && text[i + 1] <= '9';
        if (i + 1 < len && (figure || !strchr("_,(<:./", text[i])))
            continue;
        append_prose(out, text + from, i + 1 - from);
        buffer_puts(out, i + 1 < len ? "<wbr/>" : "");
        from = i + 1;
    }
}

/* The title of a card: a name of the trace shortened, with all of it as title. */
static void append_title(struct buffer *out, const struct answer_finding *finding, struct apart *names)
{
    struct text full = as_text(finding->title), shown = { 0 };
    bool shorter =
        finding->named && apart_fill_names(names, &full, &shown, finding->title, strlen(finding->title));
    buffer_puts(out, "<h3 class=\"title\"");
    if (shorter) {
        buffer_puts(out, " title=\"");
        escape_html(out, full.at, full.len);
        buffer_putc(out, '"');
    }
    buffer_putc(out, '>');
    append_breakable(out, shorter ? shown.at : full.at, shorter ? shown.len : full.len);
    buffer_puts(out, "</h3>\n");
}

/* The link to SECTION, or to the row of it. */
static void append_link(struct buffer *out, const struct answer_finding *finding,
                        const struct page_section *section)
{
    buffer_printf(out, "<a href=\"#%s", section->key);
    if (finding->row && finding->row <= PAGE_MOST_ROWS && section->tables.count &&
        strcmp(section->tables.at[0]->key, section->key) == 0 &&
        finding->row <= section->tables.at[0]->row_count)
        buffer_printf(out, "-%zu", finding->row);
    buffer_puts(out, "\">");
    append_text(out, section->title);
    buffer_puts(out, "</a>");
}

/* A card, "finding-1"; the script adds a link to its place in the timeline. */
static void append_finding(struct buffer *out, const struct answer_finding *finding, size_t number,
                           const struct page *page, struct apart *names)
{
    const struct page_section *section = find_section(page, finding->section);
    buffer_printf(out, "<li id=\"finding-%zu\"%s", number, finding->good ? " class=\"good\"" : "");
    if (finding->place) {
        buffer_puts(out, " data-place=\"");
        append_text(out, finding->place);
        buffer_putc(out, '"');
    }
    buffer_putc(out, '>');
    append_title(out, finding, names);
    append_element(out, "p", "saves", finding->saves);
    if (finding->where) {
        buffer_puts(out, "<p class=\"where\">");
        append_breakable(out, finding->where, strlen(finding->where));
        buffer_puts(out, "</p>\n");
    }
    append_element(out, "p", "advice", finding->advice);
    if (section || finding->command) {
        buffer_puts(out, "<p class=\"faint\">");
        if (section) {
            append_link(out, finding, section);
            buffer_puts(out, finding->command ? "; " : "");
        }
        if (finding->command)
            append_element(out, "code", "command", finding->command);
        buffer_puts(out, "</p>");
    }
    buffer_puts(out, "</li>\n");
}

static void append_findings(struct buffer *out, const struct answer *answer, const struct page *page,
                            struct readable *readable)
{
    if (answer->findings.count == 0 && !answer->nothing)
        return;
    buffer_puts(out, "<h2>");
    append_text(out, answer->findings_title ? answer->findings_title : "What to do first");
    buffer_puts(out, "</h2>\n");
    if (answer->findings.count == 0) {
        append_element(out, "p", "nothing", answer->nothing);
        return;
    }
    struct apart *names = apart_open_shared(readable);
    for (size_t i = 0; i < answer->findings.count; i++)
        if (answer->findings.at[i].named)
            apart_add(names, answer->findings.at[i].title, strlen(answer->findings.at[i].title));
    buffer_puts(out, "<ol class=\"findings\">\n");
    for (size_t i = 0; i < answer->findings.count; i++)
        append_finding(out, &answer->findings.at[i], i + 1, page, names);
    buffer_puts(out, "</ol>\n");
    apart_free(names);
}

void page_add_answer(struct buffer *out, const struct answer *answer, const struct page *page,
                     struct readable *names)
{
    buffer_puts(out, "<section id=\"answer\" aria-label=\"The answer\">\n");
    append_element(out, "p", "verdict", answer->verdict);
    if (answer->bars.count || answer->steps.count > 1) {
        buffer_puts(out, "<div class=\"halves\">\n");
        append_bars(out, answer, page);
        if (answer->steps.count > 1)
            append_steps(out, answer, page);
        buffer_puts(out, "</div>\n");
    }
    append_findings(out, answer, page, names);
    buffer_puts(out, "</section>\n");
}
