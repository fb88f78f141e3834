/* page.c - see page.h. The style sheet and the script lie in page/, and are put into the program when it is built. */
#include "report/page.h"

#include "report/figures.h"
#include "report/json_writer.h"
#include "report/output.h"
#include "report/page_parts.h"
#include "report/svg.h"
#include <stdlib.h>
#include <string.h>

struct page_section *page_add_section(struct page *page, const char *key, const char *title,
                                      const char *intro)
{
    struct page_section *section = VEC_PUSH(&page->sections);
    *section = (struct page_section){ .key = key, .title = title, .intro = intro };
    return section;
}

/* Does the first screen say NOTICE, as its sentence or in a card? */
static bool is_on_first_screen(const struct answer *answer, const struct table_notice *notice)
{
    return answer && (notice->in_answer ||
                      (notice->is_answer && answer->verdict && strcmp(notice->text, answer->verdict) == 0));
}

void page_add_result(struct page *page, const struct result *result)
{
    for (size_t i = 0; i < result->tables.count; i++) {
        const struct table *table = result->tables.at[i];
        bool of_answer = result->answer && table->column_count == 0; /* figures that the first screen tells */
        struct page_section *section = page_add_section(page, table->key, table->title, NULL);
        if (!of_answer)
            *VEC_PUSH(&section->tables) = table;
        for (size_t n = 0; i == 0 && n < result->notices.count; n++)
            if (!is_on_first_screen(result->answer, &result->notices.at[n]))
                *VEC_PUSH(&section->notices) = result->notices.at[n];
        if (i == 0 && result->twins)
            page_add_section(page, "trees", "Call trees side by side", NULL)->twins = result->twins;
    }
    page->answer = result->answer;
    if (result->tables.count == 0 && result->notices.count > 0) {
        struct page_section *section = page_add_section(page, "notes", "Notes", NULL);
        for (size_t n = 0; n < result->notices.count; n++)
            *VEC_PUSH(&section->notices) = result->notices.at[n];
    }
    if (result->picture) {
        struct page_section *section =
            page_add_section(page, result->picture->key, result->picture->title, NULL);
        *VEC_PUSH(&section->pictures) = result->picture;
    }
}

void page_release(struct page *page)
{
    for (size_t i = 0; i < page->sections.count; i++) {
        struct page_section *section = &page->sections.at[i];
        VEC_FREE(&section->tables);
        VEC_FREE(&section->pictures);
        VEC_FREE(&section->timelines);
        VEC_FREE(&section->flames);
        VEC_FREE(&section->notices);
    }
    VEC_FREE(&page->sections);
}

/* ---- charts ---- */

/* Panels with the same axes stand close, each with its title and note in one line. A chart's anchor is "trend.chart-2". */
static bool emit_picture(struct writing *page, const struct picture *picture, const char *section,
                         size_t *number)
{
    for (size_t i = 0; i < picture->charts.count; i++) {
        const struct chart *chart = picture->charts.at[i];
        struct chart_panels panels = chart_panels_of(picture, i);
        bool panel = panels.end - panels.first > 1;
        buffer_printf(&page->text, "<figure id=\"%s.chart-%zu\"%s><figcaption>", section, ++*number,
                      panel ? " class=\"panel\"" : "");
        emit_text(page, chart->title);
        page_writing_emit(page, "</figcaption>\n");
        if (chart->note) {
            page_writing_emit(page, "<p class=\"faint\">");
            emit_text(page, chart->note);
            page_writing_emit(page, "</p>\n");
        }
        page_writing_emit(page, "<div class=\"chart\">\n");
        svg_add_chart(&page->text, picture, i);
        page_writing_emit(page, "</div></figure>\n");
        if (!output_drain(&page->text, page->out, page->err))
            return false;
    }
    return true;
}

/* ---- timelines and flames: data that the script draws ---- */

/* JSON between the tags of a script element: nothing in it may end the element or begin a comment. */
static void emit_data(struct writing *page, const struct buffer *json)
{
    buffer_printf(&page->text, "<script type=\"application/json\" id=\"data-%zu\">", page->views);
    for (size_t i = 0; i < json->count; i++)
        if (json->at[i] == '<' || json->at[i] == '>' || json->at[i] == '&')
            buffer_printf(&page->text, "\\u%04x", (unsigned)json->at[i]);
        else
            buffer_putc(&page->text, json->at[i]);
    page_writing_emit(page, "</script>\n");
}

static void add_names(struct json_writer *json, const struct names *names)
{
    json_key(json, "names");
    json_begin_array(json);
    for (name_id id = 0; id < names_count(names); id++)
        json_emit_string(json, names_text(names, id), names_length(names, id));
    json_end_array(json);
}

/* TAG: of its heading, "h3" in a section. */
static void begin_view(struct writing *page, const char *tag, const char *kind, const char *of)
{
    page->views++;
    buffer_printf(&page->text, "<div>\n<%s>%s: ", tag, kind);
    emit_text(page, of);
    buffer_printf(&page->text, "</%s>\n", tag);
    buffer_printf(
        &page->text,
        "<div class=\"tools\"><label>Find <input type=\"search\" id=\"find-%zu\" placeholder=\"part of a "
        "name\" autocomplete=\"off\"/></label>"
        "<button type=\"button\" data-do=\"in\" aria-label=\"zoom in\">+</button>"
        "<button type=\"button\" data-do=\"out\" aria-label=\"zoom out\">&#8722;</button>"
        "<button type=\"button\" data-do=\"all\">All</button>",
        page->views);
}

static void end_view(struct writing *page, const char *kind, const char *label, const struct buffer *json)
{
    buffer_printf(
        &page->text,
        "</div>\n<div class=\"view\" data-%s=\"data-%zu\"><div class=\"window\"><canvas tabindex=\"0\" "
        "role=\"application\" aria-label=\"",
        kind, page->views);
    emit_text(page, label);
    page_writing_emit(page,
                      "\"></canvas></div><div class=\"told\" role=\"status\" aria-live=\"polite\"><span "
                      "class=\"no-script\">This picture needs scripts.</span></div></div>\n");
    emit_data(page, json);
    page_writing_emit(page, "</div>\n");
}

static void emit_timeline(struct writing *page, const struct timeline *timeline)
{
    size_t offset = (size_t)ftello(page->out) + page->text.count;
    *VEC_PUSH(&page->holes) = (struct page_hole){ timeline, ++page->views, offset };
}

/* Is there a time of devices to choose in place of the host's? */
static bool has_device_time(const struct flame *flame)
{
    for (size_t i = 0; i < flame->frames.count && !flame->bytes; i++)
        if (flame->frames.at[i].device_ns > 0)
            return true;
    return false;
}

static bool emit_flame(struct writing *page, const char *tag, const struct flame *flame)
{
    struct buffer text = { 0 };
    struct json_writer json = { .text = &text };
    json_begin_object(&json);
    add_names(&json, flame->names);
    json_key(&json, "frames");
    json_begin_array(&json);
    for (size_t i = 0; i < flame->frames.count; i++) {
        const struct flame_frame *frame = &flame->frames.at[i];
        json_emit_integer(&json, frame->parent == FRAME_NONE ? -1 : (int64_t)frame->parent);
        json_emit_integer(&json, frame->name);
        json_emit_integer(&json, (int64_t)frame->count);
        json_emit_integer(&json, frame->host_ns);
        json_emit_integer(&json, frame->device_ns);
    }
    json_end_array(&json);
    if (flame->bytes) {
        json_add_integer(&json, "bytes", 1);
    }
    json_end_object(&json);

    begin_view(page, tag, flame->bytes ? "Memory" : "Call tree", flame->title);
    if (has_device_time(flame))
        page_writing_emit(
            page,
            "<span class=\"grow\"></span><button type=\"button\" data-metric=\"host\" aria-pressed=\"true\">CPU "
            "time</button><button type=\"button\" data-metric=\"device\" aria-pressed=\"false\">GPU time</button>");
    end_view(
        page, "flame",
        flame->bytes
            ? "Memory in use, callers above their callees, as wide as their bytes. Arrow keys move and zoom, 0 "
              "shows all, n and p choose the next and the previous call, Enter zooms to it."
            : "Call tree, callers above their callees, as wide as the time they took. Arrow keys move and zoom, 0 shows "
              "all, n and p choose the next and the previous call, Enter zooms to it.",
        &text);
    buffer_release(&text);
    return output_drain(&page->text, page->out, page->err);
}

/* ---- sections ---- */

static void emit_notice(struct writing *page, const struct table_notice *notice)
{
    page_writing_emit(page, "<li>");
    if (notice->file) {
        emit_text(page, notice->file);
        page_writing_emit(page, ": ");
    }
    emit_text(page, notice->text);
    if (notice->offset != TPA_NOWHERE)
        buffer_printf(&page->text, " (first at byte %lld)", (long long)notice->offset);
    page_writing_emit(page, "</li>\n");
}

/* Does A say what B says, and perhaps more? */
static bool says_as_much(const struct table_notice *a, const struct table_notice *b)
{
    return strcmp(a->kind, b->kind) == 0 && strncmp(a->text, b->text, strlen(b->text)) == 0 &&
           a->offset == b->offset && strcmp(a->file ? a->file : "", b->file ? b->file : "") == 0;
}

/* What is said of missing ranks, the longest text, where a fact of the answer is about ranks; NULL: none is. */
static const char *missing_ranks_of(const struct page *of)
{
    const char *found = NULL;
    bool has_fact = false;
    for (size_t i = 0; of->answer && i < of->answer->facts.count; i++)
        has_fact |= strcmp(of->answer->facts.at[i].label, PAGE_FACT_RANKS) == 0;
    for (size_t s = 0; has_fact && s < of->sections.count; s++)
        for (size_t i = 0; i < of->sections.at[s].notices.count; i++) {
            const struct table_notice *notice = &of->sections.at[s].notices.at[i];
            if (strcmp(notice->kind, "missing_ranks") == 0 && notice->lacks &&
                (!found || strlen(notice->text) > strlen(found)))
                found = notice->text;
        }
    return found;
}

/* What the recordings lack, from the notices of all sections, each once; of missing ranks a fact says it. */
static void emit_lacks(struct writing *page, const struct page *of)
{
    VEC_OF(const struct table_notice *) lacks = { 0 };
    bool in_facts = missing_ranks_of(of) != NULL;
    for (size_t s = 0; s < of->sections.count; s++)
        for (size_t i = 0; i < of->sections.at[s].notices.count; i++) {
            const struct table_notice *notice = &of->sections.at[s].notices.at[i];
            const char *verdict = of->answer ? of->answer->verdict : NULL; /* which may say it */
            bool known = notice->lacks == 0 || (in_facts && strcmp(notice->kind, "missing_ranks") == 0) ||
                         (verdict && strncmp(verdict, notice->text, strlen(notice->text)) == 0);
            for (size_t k = 0; k < lacks.count && !known; k++) {
                lacks.at[k] = says_as_much(notice, lacks.at[k]) ? notice : lacks.at[k];
                known = says_as_much(lacks.at[k], notice);
            }
            if (!known)
                *VEC_PUSH(&lacks) = notice;
        }
    if (lacks.count)
        page_writing_emit(page, "<ul class=\"notes lacks\" aria-label=\"What the recording lacks\">\n");
    for (size_t i = 0; i < lacks.count; i++)
        emit_notice(page, lacks.at[i]);
    if (lacks.count)
        page_writing_emit(page, "</ul>\n");
    VEC_FREE(&lacks);
}

/* The first few; the others are folded away. Lacks stand at the top of the page. */
static void emit_notices(struct writing *page, const struct page_section *section)
{
    enum { MOST = 5 };
    size_t count = 0, emitted = 0;
    for (size_t i = 0; i < section->notices.count; i++)
        count += section->notices.at[i].lacks == 0;
    if (count == 0)
        return;
    page_writing_emit(page, "<ul class=\"notes\">\n");
    for (size_t i = 0; i < section->notices.count; i++) {
        if (section->notices.at[i].lacks)
            continue;
        if (emitted == MOST)
            buffer_printf(&page->text,
                          "</ul>\n<details><summary>%zu more note%s</summary><ul class=\"notes\">\n",
                          count - MOST, count - MOST == 1 ? "" : "s");
        emit_notice(page, &section->notices.at[i]);
        emitted++;
    }
    page_writing_emit(page, count > MOST ? "</ul></details>\n" : "</ul>\n");
}

/* Has SECTION anything but its words and notices? */
static bool is_empty(const struct page_section *section)
{
    for (size_t i = 0; i < section->tables.count; i++)
        if (section->tables.at[i]->row_count || section->tables.at[i]->footers.count)
            return false;
    return !section->twins && section->pictures.count + section->timelines.count + section->flames.count == 0;
}

/* Do the devices and the host have a timeline, of which the first screen draws a step? */
static bool has_step_drawing(const struct page *of)
{
    for (size_t i = 0; i < of->sections.count; i++)
        for (size_t t = 0; t < of->sections.at[i].timelines.count; t++)
            if (!of->sections.at[i].timelines.at[t]->alive)
                return true;
    return false;
}

/* Is SECTION the flame of a profile, which the first screen has? */
static bool is_first_flame(const struct page *of, const struct page_section *section)
{
    return of->answer && !has_step_drawing(of) && section->flames.count && !section->tables.count;
}

/* Or another picture that comes first: the figures over the runs, or who waits for whom? */
static bool is_first_picture(const struct page *of, const struct page_section *section)
{
    return is_first_flame(of, section) ||
           (of->answer && !has_step_drawing(of) &&
            (strcmp(section->key, "trend") == 0 || strcmp(section->key, "hang") == 0 ||
             strcmp(section->key, "fleet") == 0));
}

/* Pictures of the first screen, then timelines, then all else. */
static int page_place(const struct page *of, const struct page_section *section)
{
    return is_first_picture(of, section) ? 0 : of->answer && section->timelines.count ? 1 : 2;
}

/* The sections in the order of the page. New, free(). */
static const struct page_section **page_order(const struct page *of)
{
    const struct page_section **order = mem_alloc(mem_times(of->sections.count + 1, sizeof *order));
    size_t count = 0;
    for (int place = 0; place < 3; place++)
        for (size_t i = 0; i < of->sections.count; i++)
            if (page_place(of, &of->sections.at[i]) == place)
                order[count++] = &of->sections.at[i];
    return order;
}

/* Does a finding of the answer lead to SECTION, or is it a timeline, or a picture that the answer does not draw small, or is there no answer
 * that would show what matters? */
static bool starts_open(const struct page *of, const struct page_section *section)
{
    if (!of->answer || !section->title || section->timelines.count || of->sections.count == 1 ||
        (is_first_picture(of, section) && !of->answer->trends.count))
        return true;
    for (size_t i = 0; i < answer_first_findings(of->answer); i++) {
        const char *key = of->answer->findings.at[i].section;
        if (key && strcmp(key, section->key) == 0)
            return true;
    }
    return false;
}

/* "157": the rows of the first table of SECTION, or its own figure. Nothing where it has neither. */
static void section_emit_figure(struct writing *page, const struct page_section *section)
{
    page_writing_emit(page, "<small>");
    if (section->figure)
        emit_text(page, section->figure);
    else if (section->tables.count && section->tables.at[0]->total_rows)
        figure_add_value(&page->text, TABLE_COUNT, (double)section->tables.at[0]->total_rows);
    page_writing_emit(page, "</small>");
}

/* A section without content is a line: its title, and why there is nothing. */
static bool emit_empty(struct writing *page, const struct page_section *section)
{
    buffer_printf(&page->text, "<section id=\"%s\" class=\"empty\">\n", section->key);
    emit_element(page, "h2", section->title);
    if (section->tables.count)
        emit_element(page, "p",
                     section->tables.at[0]->none ? section->tables.at[0]->none : "There are none.");
    emit_notices(page, section);
    page_writing_emit(page, "</section>\n");
    return output_drain(&page->text, page->out, page->err);
}

/* Begin what is folded into a line in an open section: TITLE, of COUNT. */
static void begin_part(struct writing *page, const char *title, size_t count)
{
    page_writing_emit(page, "<details class=\"fold part\"><summary>");
    emit_element(page, "h3", title);
    page_writing_emit(page, "<small>");
    figure_add_value(&page->text, TABLE_COUNT, (double)count);
    page_writing_emit(page, "</small></summary>\n");
}

/* Are the charts of PICTURE so many panels that they tell no more at a glance than the table above them? */
static bool has_many_panels(const struct picture *picture)
{
    enum { MOST = 4 };
    struct chart_panels panels = { 0 };
    if (picture->charts.count)
        panels = chart_panels_of(picture, 0);
    return panels.end - panels.first > MOST;
}

/* Is timeline or flame I of SECTION that of the device which the answer is about, or is the answer about none? */
static bool is_of_answer(const struct page *of, const struct page_section *section, size_t i)
{
    const char *about = of->answer ? of->answer->curve_of : NULL;
    const struct timeline *timeline = i < section->timelines.count ? section->timelines.at[i] : NULL;
    return !about || !timeline || !timeline->of || strcmp(timeline->of, about) == 0;
}

static bool emit_section(struct writing *page, const struct page *of, const struct page_section *section)
{
    bool good = true,
         folds = of->answer && section->title && of->sections.count > 1; /* all but what comes first in it */
    bool shown = section->tables.count && section->tables.at[0]->row_count; /* has a table been, with rows? */
    size_t charts = 0;
    if (is_first_flame(of, section))
        return true; /* which is there already */
    if (section->title && is_empty(section))
        return emit_empty(page, section);
    buffer_printf(&page->text, "<section id=\"%s\">\n", section->key);
    if (section->title) {
        buffer_printf(&page->text, "<details class=\"fold\"%s><summary><h2>",
                      starts_open(of, section) ? " open=\"open\"" : "");
        emit_text(page, section->title);
        page_writing_emit(page, "</h2> ");
        section_emit_figure(page, section);
        page_writing_emit(page, "</summary>\n");
    }
    emit_element(page, "p", section->intro);
    if (section->more) {
        page_writing_emit(page, "<p class=\"faint\">See also: <code>");
        emit_text(page, section->more);
        page_writing_emit(page, "</code></p>\n");
    }
    /* First what is alike for all, the figures; then what they look like. */
    if (section->tables.count)
        good = page_emit_table(page, section->tables.at[0], section, false);
    emit_notices(page, section);
    good = good && (!section->twins || page_emit_twins(page, section->twins));
    for (size_t i = 0; i < section->pictures.count && good; i++) {
        const struct picture *picture = section->pictures.at[i];
        bool folded = folds && has_many_panels(picture);
        if (folded)
            begin_part(page, picture->title, picture->charts.count);
        good = emit_picture(page, picture, section->key, &charts);
        page_writing_emit(page, folded ? "</details>\n" : "");
    }
    for (size_t i = 1; i < section->tables.count && good; i++) {
        const struct table *table = section->tables.at[i];
        bool folded = folds && shown && table->title && table->row_count > 0;
        shown |= table->row_count > 0;
        if (folded)
            begin_part(page, table->title, table->total_rows);
        good = page_emit_table(page, table, section, folded);
        page_writing_emit(page, folded ? "</details>\n" : "");
    }
    for (size_t i = 0; i < section->timelines.count && good; i++) {
        const struct timeline *timeline = section->timelines.at[i];
        bool folded = folds && !is_of_answer(of, section, i);
        if (folded)
            begin_part(page, timeline->title, timeline->spans.count);
        emit_timeline(page, timeline);
        page_writing_emit(page, folded ? "</details>\n" : "");
    }
    for (size_t i = 0; i < section->flames.count && good; i++) {
        const struct flame *flame = section->flames.at[i];
        bool folded = folds && !is_of_answer(of, section, i);
        if (folded)
            begin_part(page, flame->title, flame->frames.count);
        good = emit_flame(page, "h3", flame);
        page_writing_emit(page, folded ? "</details>\n" : "");
    }
    page_writing_emit(page, section->title ? "</details></section>\n" : "</section>\n");
    return good && output_drain(&page->text, page->out, page->err);
}

/* The flame of a profile, above what to do: a part of it is seen, and the rest is scrolled to. */
static bool emit_first_flame(struct writing *page, const struct page_section *section)
{
    bool good = true;
    buffer_printf(&page->text, "<div id=\"%s\" class=\"first-flame\">\n", section->key);
    for (size_t i = 0; i < section->flames.count && good; i++)
        good = emit_flame(page, "h2", section->flames.at[i]);
    if (section->intro) {
        page_writing_emit(page, "<p class=\"faint\">");
        emit_text(page, section->intro);
        page_writing_emit(page, "</p>\n");
    }
    page_writing_emit(page, "</div>\n");
    return good;
}

/* Links to the sections; not where there is but one, or none that has a title. */
static void emit_contents(struct writing *page, const struct page *of)
{
    size_t titles = 0;
    for (size_t i = 0; i < of->sections.count; i++)
        titles += of->sections.at[i].title != NULL;
    if (titles < 2)
        return;
    const struct page_section **order = page_order(of);
    page_writing_emit(page, "<nav aria-label=\"Sections\"><ul>\n");
    for (size_t i = 0; i < of->sections.count; i++) {
        if (!order[i]->title)
            continue;
        buffer_printf(&page->text, "<li><a href=\"#%s\"><span>", order[i]->key);
        emit_text(page, order[i]->title);
        page_writing_emit(page, "</span> ");
        section_emit_figure(page, order[i]);
        page_writing_emit(page, "</a></li>\n");
    }
    page_writing_emit(page, "</ul></nav>\n");
    free(order);
}

/* Hatched colours of idle time, which style sheets refer to: "url(#idle-4)". */
static void emit_patterns(struct writing *page)
{
    page_writing_emit(page, "<svg class=\"patterns\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>");
    for (int color = 0; color < CHART_COLORS; color++)
        buffer_printf(&page->text,
                      "<pattern id=\"idle-%d\" class=\"c%d\" width=\"6\" height=\"6\" "
                      "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path class=\"fill\" "
                      "d=\"M0 0h6v6h-6z\"/><path class=\"space\" d=\"M0 0h2v6h-2z\"/></pattern>",
                      color, color);
    page_writing_emit(page, "</defs></svg>\n");
}

static bool emit_beginning(struct writing *page, const struct page *of)
{
    bool good = true;
    page_writing_emit(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    buffer_printf(
        &page->text,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
        "script-src 'sha256-%s'",
        page_style_hash, page_script_hash);
    if (of->live)
        buffer_printf(&page->text, " 'sha256-%s'; connect-src 'self'", page_live_hash);
    page_writing_emit(page, "; base-uri 'none'; form-action 'none'\"/>\n");
    page_writing_emit(page, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                            "<meta name=\"referrer\" content=\"no-referrer\"/>\n<title>");
    emit_text(page, of->title);
    page_writing_emit(page, " - ");
    emit_text(page, of->maker);
    page_writing_emit(page, "</title>\n<style>");
    buffer_add(&page->text, (const char *)page_style, page_style_size);
    page_writing_emit(
        page,
        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n<h1>");
    emit_text(page, of->title);
    page_writing_emit(page, "</h1>\n");
    if (of->subtitle) {
        page_writing_emit(page, "<p class=\"faint\">");
        emit_text(page, of->subtitle);
        page_writing_emit(page, "</p>\n");
    }
    if (of->answer)
        page_add_facts(&page->text, of->answer, missing_ranks_of(of));
    emit_lacks(page, of);
    page_writing_emit(page, "</header>\n");
    emit_contents(page, of);
    page_writing_emit(page, "<main id=\"main\">\n");
    emit_patterns(page);
    if (of->answer) {
        page_begin_answer(&page->text, of->answer, of, missing_ranks_of(of));
        for (size_t i = 0; i < of->sections.count && good; i++)
            if (is_first_flame(of, &of->sections.at[i]))
                good = emit_first_flame(page, &of->sections.at[i]);
        page_end_answer(&page->text, of->answer, of, page->names);
    }
    return good;
}

static void emit_end(struct writing *page, const struct page *of)
{
    page_writing_emit(page, "</main>\n<footer class=\"faint\"><p>Made by ");
    emit_text(page, of->maker);
    page_writing_emit(
        page,
        ". Times are from the profiler's clock; each figure is "
        "defined below its table. Commands are shown without their files, which follow them.</p></footer>\n");
    if (of->live) {
        page_writing_emit(page, "<script type=\"application/json\" id=\"live\">");
        page_add_script_data(&page->text, of->live);
        page_writing_emit(page, "</script>\n");
    }
    page_writing_emit(page, "<script>");
    buffer_add(&page->text, (const char *)page_script, page_script_size);
    if (of->live) {
        page_writing_emit(page, "</script>\n<script>");
        buffer_add(&page->text, (const char *)page_live, page_live_size);
    }
    page_writing_emit(page, "</script>\n</body>\n</html>\n");
}

/* The page without its timelines in *TEXT, which is to be freed whether it fails or not. */
static bool page_join(struct writing *writing, const struct page *page, char **text, size_t *size)
{
    writing->out = open_memstream(text, size);
    if (!writing->out)
        return tpa_fail_errno(writing->err, "cannot put the page together");
    const struct page_section **order = page_order(page);
    bool good = emit_beginning(writing, page);
    for (size_t i = 0; i < page->sections.count && good; i++)
        good = emit_section(writing, page, order[i]);
    free(order);
    if (good)
        emit_end(writing, page);
    good = output_finish(good, &writing->text, writing->out, writing->err);
    if (fclose(writing->out) != 0)
        good = good && tpa_fail_errno(writing->err, "cannot put the page together");
    return good;
}

/* The timelines, which may take ROOM bytes together; *SIZE grows by what they take. */
static struct buffer *page_fill(const struct writing *writing, size_t room, size_t *size)
{
    enum { LEAST_ROOM = 10000 };
    struct buffer *filled = mem_zalloc(writing->holes.count + 1, sizeof *filled);
    for (size_t i = 0; i < writing->holes.count; i++) {
        const struct page_hole *hole = &writing->holes.at[i];
        size_t part = room / (writing->holes.count - i);
        page_add_timeline(&filled[i], hole->timeline, writing->names, hole->view,
                          part > LEAST_ROOM ? part : LEAST_ROOM);
        room -= filled[i].count < room ? filled[i].count : room;
        *size += filled[i].count;
    }
    return filled;
}

/* TEXT with each timeline in its place. */
static bool page_put(const struct writing *writing, const char *text, size_t size,
                     const struct buffer *filled, FILE *out)
{
    size_t from = 0;
    bool good = true;
    for (size_t i = 0; i < writing->holes.count && good; i++) {
        size_t to = writing->holes.at[i].offset;
        good = fwrite(text + from, 1, to - from, out) == to - from &&
               fwrite(filled[i].at, 1, filled[i].count, out) == filled[i].count;
        from = to;
    }
    return good && fwrite(text + from, 1, size - from, out) == size - from;
}

/* Timelines may take what the rest of the page leaves, which is put together first: in memory. */
bool page_write(const struct page *page, FILE *out, struct tpa_error *err)
{
    enum { AROUND = 6000 }; /* bytes of a timeline besides its data */
    char *text = NULL;
    size_t rest = 0, budget = page->budget ? page->budget : PAGE_BUDGET;
    bool limited = page->budget && page->budget < PAGE_BUDGET; /* somebody wants it small */
    struct writing writing = { .err = err, .names = page_names_of(page) };
    struct buffer *filled = NULL;
    bool good = page_join(&writing, page, &text, &rest);
    size_t size = rest, least = rest + writing.holes.count * AROUND;
    if (good)
        filled = page_fill(&writing, least < budget ? budget - least : 1, &size);
    if (good && limited && size > page->budget) {
        tpa_fail(err, TPA_NOWHERE,
                 "without a timeline's events the page still takes %zu bytes, and its budget is %zu", size,
                 page->budget);
        good = tpa_hint(err, "give a larger --budget, or fewer sections with --sections");
    }
    if (good && !page_put(&writing, text, rest, filled, out))
        good = tpa_fail_errno(err, "cannot write the result");
    for (size_t i = 0; filled && i < writing.holes.count; i++)
        buffer_release(&filled[i]);
    free(filled);
    VEC_FREE(&writing.holes);
    arena_free(writing.names);
    free(text);
    return good;
}
