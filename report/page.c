/* page.c - see page.h. The style sheet and the script lie in page/, and are put into the program when it is built. */
#include "report/page.h"

#include "base/escape.h"
#include "report/exact.h"
#include "report/figures.h"
#include "report/json_writer.h"
#include "report/output.h"
#include "report/page_files.h"
#include "report/page_timeline.h"
#include "report/shorten.h"
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

void page_add_result(struct page *page, const struct result *result)
{
    for (size_t i = 0; i < result->tables.count; i++) {
        const struct table *table = result->tables.at[i];
        struct page_section *section = page_add_section(page, table->key, table->title, NULL);
        *VEC_PUSH(&section->tables) = table;
        for (size_t n = 0; i == 0 && n < result->notices.count; n++)
            *VEC_PUSH(&section->notices) = result->notices.at[n];
    }
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

/* A page being written. */
struct writing {
    struct buffer text;
    FILE *out;
    struct tpa_error *err;
    size_t tables, views; /* so far; names of elements count up */
    size_t budget, after; /* bytes that the page may have; that are kept for what follows timelines */
    const size_t *written;
};

static void put(struct writing *page, const char *markup)
{
    buffer_puts(&page->text, markup);
}

static void put_text(struct writing *page, const char *text)
{
    escape_html(&page->text, text, strlen(text));
}

/* <TAG>TEXT</TAG>; nothing when there is no text. */
static void put_element(struct writing *page, const char *tag, const char *text)
{
    if (!text)
        return;
    buffer_printf(&page->text, "<%s>", tag);
    put_text(page, text);
    buffer_printf(&page->text, "</%s>\n", tag);
}

/* ---- tables ---- */

static bool is_figure(enum table_kind kind)
{
    return !table_is_text(kind);
}

static bool is_optional(const struct table_column *column)
{
    return column->flags & TABLE_OPTIONAL;
}

static void put_value(struct writing *page, enum table_kind kind, const union table_cell *cell)
{
    if (!table_is_text(kind))
        figure_add(&page->text, kind, cell, TIME_FITTING); /* letters, digits, blanks, points */
    else if (cell->text.at == NULL)
        put(page, "-");
    else
        escape_html(&page->text, cell->text.at, cell->text.len);
}

/* A verdict of tpa diff or tpa nightly has a colour beside its word: worse, better, or neither. */
static const char *class_of_verdict(const struct table_column *column, const union table_cell *cell)
{
    static const struct {
        const char *word, *class;
    } verdicts[] = {
        { "slower", " worse" },  { "more", " worse" },  { "NEW", " worse" },     { "EXISTING", " worse" },
        { "faster", " better" }, { "less", " better" }, { "better", " better" }, { "FIXED", " better" },
    };
    if (strcmp(column->key, "verdict") == 0 && cell->text.at)
        for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
            if (strcmp(cell->text.at, verdicts[i].word) == 0)
                return verdicts[i].class;
    return "";
}

enum { LONGEST_NAME = 64, LONG_TEXT = 24 };

/* A name or another text: a long name shortened, with all of it as title. */
static void put_text_cell(struct writing *page, const struct table_column *column,
                          const union table_cell *cell)
{
    struct buffer full = { 0 }, shown = { 0 };
    bool is_name = column->kind == TABLE_NAME, shorter = false;
    const char *text = cell->text.at ? cell->text.at : "-";
    size_t len = cell->text.at ? cell->text.len : 1;
    if (is_name) {
        shorter = shorten_readable(&full, &shown, text, len, LONGEST_NAME);
        text = full.at ? full.at : "";
        len = full.count;
    }
    buffer_printf(&page->text, "<td class=\"%s%s%s%s\"", is_name ? "name" : "text",
                  !is_name && len > LONG_TEXT ? " long" : "", is_optional(column) ? " o" : "",
                  class_of_verdict(column, cell));
    if (shorter) {
        put(page, " title=\"");
        escape_html(&page->text, text, len);
        put(page, "\"");
    }
    put(page, ">");
    escape_html(&page->text, shorter ? shown.at : text, shorter ? shown.count : len);
    put(page, "</td>");
    buffer_release(&full);
    buffer_release(&shown);
}

static void put_cell(struct writing *page, const struct table_column *column, const union table_cell *cell)
{
    if (!is_figure(column->kind)) {
        put_text_cell(page, column, cell);
        return;
    }
    buffer_printf(&page->text, "<td class=\"n%s\"", is_optional(column) ? " o" : "");
    if (!table_cell_is_missing(cell, column->kind)) {
        put(page, " data-v=\"");
        if (table_is_number(column->kind))
            buffer_printf(&page->text, "%.9g", cell->f);
        else
            exact_add_integer(&page->text, cell->i);
        put(page, "\"");
    }
    put(page, ">");
    put_value(page, column->kind, cell);
    put(page, "</td>");
}

static void put_head(struct writing *page, const struct table *table)
{
    put(page, "<thead><tr>");
    for (size_t c = 0; c < table->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        if (!table_shows(table, c, TABLE_FOR_PROGRAMS))
            continue;
        buffer_printf(&page->text, "<th scope=\"col\" data-key=\"%s\"%s class=\"%s%s\" aria-sort=\"%s\" title=\"",
                      column->key,
                      column->kind == TABLE_MOMENT ? " data-kind=\"moment\""
                      : column->kind == TABLE_NS   ? " data-kind=\"ns\""
                                                   : "",
                      is_figure(column->kind) ? "n" : "text", is_optional(column) ? " o" : "",
                      c != table->sort_column   ? "none"
                      : is_figure(column->kind) ? column->kind == TABLE_MOMENT ? "ascending" : "descending"
                                                : "ascending");
        put_text(page, column->help ? column->help : "");
        put(page, "\"><button type=\"button\">");
        put_text(page, column->title);
        put(page, "</button></th>");
    }
    put(page, "</tr></thead>\n");
}

static bool put_rows(struct writing *page, const struct table *table, size_t rows)
{
    put(page, "<tbody>\n");
    for (size_t row = 0; row < rows; row++) {
        put(page, row < PAGE_FIRST_ROWS ? "<tr>" : "<tr class=\"more\">");
        for (size_t c = 0; c < table->column_count; c++)
            if (table_shows(table, c, TABLE_FOR_PROGRAMS))
                put_cell(page, &table->columns[c], table_cell(table, row, c));
        put(page, "</tr>\n");
        if (!output_drain(&page->text, page->out, page->err))
            return false;
    }
    put(page, "</tbody>\n");
    return true;
}

/* What stands below a table in a terminal: one card each. */
static void put_footers(struct writing *page, const struct table *table)
{
    if (table->footers.count == 0)
        return;
    put(page, "<dl class=\"figures\">\n");
    for (size_t i = 0; i < table->footers.count; i++) {
        const struct table_footer *footer = &table->footers.at[i];
        put(page, "<div><dt>");
        put_text(page, footer->title);
        put(page, "</dt><dd>");
        put_value(page, footer->kind, &footer->value);
        put(page, "</dd></div>\n");
    }
    put(page, "</dl>\n");
}

static void put_definitions(struct writing *page, const struct table *table)
{
    put(page, "<details><summary>What the columns mean</summary><dl>\n");
    for (size_t c = 0; c < table->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        if (!table_shows(table, c, TABLE_FOR_PROGRAMS) || !column->help || !*column->help)
            continue;
        put(page, "<dt>");
        put_text(page, column->title);
        put(page, "</dt><dd>");
        put_text(page, column->help);
        put(page, "</dd>\n");
    }
    put(page, "</dl></details>\n");
}

static void put_tools(struct writing *page, const struct table *table, size_t rows)
{
    bool any_optional = false;
    for (size_t c = 0; c < table->column_count; c++)
        any_optional |= table_shows(table, c, TABLE_FOR_PROGRAMS) && is_optional(&table->columns[c]);
    buffer_printf(
        &page->text,
        "<div class=\"tools\"><label>Filter <input type=\"search\" id=\"filter-%zu\" placeholder=\"words\" "
        "autocomplete=\"off\"/></label>",
        page->tables);
    put(page, "<span class=\"told-rows faint\" role=\"status\"></span><span class=\"grow\"></span>");
    if (any_optional)
        put(page,
            "<button type=\"button\" class=\"more-columns\" aria-pressed=\"false\">More columns</button>");
    if (rows > PAGE_FIRST_ROWS)
        put(page, "<button type=\"button\" class=\"more-rows\" aria-pressed=\"false\">All rows</button>");
    put(page, "<button type=\"button\" class=\"copy\">Copy</button></div>\n");
}

/* TITLED: the section has told the table's title. */
static bool put_table(struct writing *page, const struct table *table, bool titled)
{
    const char *heading = titled ? NULL : table->title;
    bool any = false;
    for (size_t c = 0; c < table->column_count; c++)
        any |= table_shows(table, c, TABLE_FOR_PROGRAMS);
    if (!any || table->row_count == 0) {
        put_element(page, "h3", heading);
        put_footers(page, table);
        return true;
    }
    size_t rows = table->row_count < PAGE_MOST_ROWS ? table->row_count : PAGE_MOST_ROWS;
    page->tables++;
    buffer_printf(&page->text, "<div class=\"table\" data-key=\"");
    put_text(page, table->key);
    buffer_printf(&page->text, "\" data-limit=\"%d\">\n", PAGE_FIRST_ROWS);
    put_element(page, "h3", heading);
    put_tools(page, table, rows);
    put(page, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    put_text(page, table->title ? table->title : table->key);
    put(page, "\"><table>\n");
    put_head(page, table);
    if (!put_rows(page, table, rows))
        return false;
    put(page, "</table></div>\n");
    if (table->total_rows > rows)
        buffer_printf(&page->text, "<p class=\"faint\">The first %zu of %zu rows.</p>\n", rows,
                      table->total_rows);
    put_footers(page, table);
    put_definitions(page, table);
    put(page, "</div>\n");
    return true;
}

/* ---- charts ---- */

static bool put_picture(struct writing *page, const struct picture *picture)
{
    for (size_t i = 0; i < picture->charts.count; i++) {
        const struct chart *chart = picture->charts.at[i];
        put(page, "<figure><figcaption>");
        put_text(page, chart->title);
        put(page, "</figcaption>\n");
        if (chart->note) {
            put(page, "<p class=\"faint\">");
            put_text(page, chart->note);
            put(page, "</p>\n");
        }
        put(page, "<div class=\"chart\">\n");
        svg_add_chart(&page->text, chart);
        put(page, "</div></figure>\n");
        if (!output_drain(&page->text, page->out, page->err))
            return false;
    }
    return true;
}

/* ---- timelines and flames: data that the script draws ---- */

/* JSON between the tags of a script element: nothing in it may end the element or begin a comment. */
static void put_data(struct writing *page, const struct buffer *json)
{
    buffer_printf(&page->text, "<script type=\"application/json\" id=\"data-%zu\">", page->views);
    for (size_t i = 0; i < json->count; i++)
        if (json->at[i] == '<' || json->at[i] == '>' || json->at[i] == '&')
            buffer_printf(&page->text, "\\u%04x", (unsigned)json->at[i]);
        else
            buffer_putc(&page->text, json->at[i]);
    put(page, "</script>\n");
}

static void add_names(struct json_writer *json, const struct names *names)
{
    json_key(json, "names");
    json_begin_array(json);
    for (name_id id = 0; id < names_count(names); id++)
        json_put_string(json, names_text(names, id), names_length(names, id));
    json_end_array(json);
}

static void begin_view(struct writing *page, const char *kind, const char *of)
{
    page->views++;
    buffer_printf(&page->text, "<div>\n<h3>%s: ", kind);
    put_text(page, of);
    put(page, "</h3>\n");
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
    put_text(page, label);
    put(page, "\"></canvas></div><div class=\"told\" role=\"status\" aria-live=\"polite\"><span "
              "class=\"no-script\">This picture needs scripts.</span></div></div>\n");
    put_data(page, json);
    put(page, "</div>\n");
}

/* What the page may still grow by, less what follows timelines. */
static size_t find_room(struct writing *page)
{
    size_t least = 10000, used = page->after + page->text.count;
    fflush(page->out);
    used += *page->written;
    return used + least < page->budget ? page->budget - used : least;
}

static bool put_timeline(struct writing *page, const struct timeline *timeline)
{
    page->views++;
    page_add_timeline(&page->text, timeline, page->views, find_room(page));
    return output_drain(&page->text, page->out, page->err);
}

static bool put_flame(struct writing *page, const struct flame *flame)
{
    struct buffer text = { 0 };
    struct json_writer json = { .text = &text };
    json_begin_object(&json);
    add_names(&json, flame->names);
    json_key(&json, "frames");
    json_begin_array(&json);
    for (size_t i = 0; i < flame->frames.count; i++) {
        const struct flame_frame *frame = &flame->frames.at[i];
        json_put_integer(&json, frame->parent == FRAME_NONE ? -1 : (int64_t)frame->parent);
        json_put_integer(&json, frame->name);
        json_put_integer(&json, (int64_t)frame->count);
        json_put_integer(&json, frame->host_ns);
        json_put_integer(&json, frame->device_ns);
    }
    json_end_array(&json);
    if (flame->bytes) {
        json_key(&json, "bytes");
        json_put_integer(&json, 1);
    }
    json_end_object(&json);

    begin_view(page, flame->bytes ? "Memory" : "Call tree", flame->title);
    if (!flame->bytes)
        put(page,
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

static void put_notices(struct writing *page, const struct page_section *section)
{
    if (section->notices.count == 0)
        return;
    put(page, "<ul class=\"notes\">\n");
    for (size_t i = 0; i < section->notices.count; i++) {
        const struct table_notice *notice = &section->notices.at[i];
        put(page, "<li>");
        if (notice->file) {
            put_text(page, notice->file);
            put(page, ": ");
        }
        put_text(page, notice->text);
        if (notice->offset != TPA_NOWHERE)
            buffer_printf(&page->text, " (first at byte %lld)", (long long)notice->offset);
        put(page, "</li>\n");
    }
    put(page, "</ul>\n");
}

static bool titles_all(const struct page_section *section, const struct table *table)
{
    return section->title && table->title && strcmp(section->title, table->title) == 0;
}

static bool put_section(struct writing *page, const struct page_section *section)
{
    bool good = true;
    buffer_printf(&page->text, "<section id=\"%s\">\n", section->key);
    put_element(page, "h2", section->title);
    put_element(page, "p", section->intro);
    if (section->more) {
        put(page, "<p class=\"faint\">More of it: <code>");
        put_text(page, section->more);
        put(page, "</code></p>\n");
    }
    /* First what is alike for all, the figures; then what they look like. */
    if (section->tables.count)
        good = put_table(page, section->tables.at[0], titles_all(section, section->tables.at[0]));
    put_notices(page, section);
    for (size_t i = 0; i < section->pictures.count && good; i++)
        good = put_picture(page, section->pictures.at[i]);
    for (size_t i = 1; i < section->tables.count && good; i++)
        good = put_table(page, section->tables.at[i], false);
    for (size_t i = 0; i < section->timelines.count && good; i++)
        good = put_timeline(page, section->timelines.at[i]);
    for (size_t i = 0; i < section->flames.count && good; i++)
        good = put_flame(page, section->flames.at[i]);
    put(page, "</section>\n");
    return good && output_drain(&page->text, page->out, page->err);
}

/* Links to the sections; not where there is but one, or none that has a title. */
static void put_contents(struct writing *page, const struct page *of)
{
    size_t titles = 0;
    for (size_t i = 0; i < of->sections.count; i++)
        titles += of->sections.at[i].title != NULL;
    if (titles < 2)
        return;
    put(page, "<nav aria-label=\"Sections\"><ul>\n");
    for (size_t i = 0; i < of->sections.count; i++) {
        if (!of->sections.at[i].title)
            continue;
        buffer_printf(&page->text, "<li><a href=\"#%s\">", of->sections.at[i].key);
        put_text(page, of->sections.at[i].title);
        put(page, "</a></li>\n");
    }
    put(page, "</ul></nav>\n");
}

static void put_beginning(struct writing *page, const struct page *of)
{
    put(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    buffer_printf(
        &page->text,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
        "script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\"/>\n",
        page_style_hash, page_script_hash);
    put(page, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
              "<meta name=\"referrer\" content=\"no-referrer\"/>\n<title>");
    put_text(page, of->title);
    put(page, " - ");
    put_text(page, of->maker);
    put(page, "</title>\n<style>");
    buffer_add(&page->text, (const char *)page_style, page_style_size);
    put(page,
        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n<h1>");
    put_text(page, of->title);
    put(page, "</h1>\n");
    if (of->subtitle) {
        put(page, "<p class=\"faint\">");
        put_text(page, of->subtitle);
        put(page, "</p>\n");
    }
    put(page, "</header>\n");
    put_contents(page, of);
    put(page, "<main id=\"main\">\n");
}

static void put_end(struct writing *page, const struct page *of)
{
    put(page, "</main>\n<footer class=\"faint\"><p>Made by ");
    put_text(page, of->maker);
    put(page, ". Times are from the profiler's clock; each figure is "
              "defined below its table.</p></footer>\n<script>");
    buffer_add(&page->text, (const char *)page_script, page_script_size);
    put(page, "</script>\n</body>\n</html>\n");
}

/* Flames come behind timelines, and so do style and script: how large they will be, or a little less. */
static size_t size_behind(const struct page *page)
{
    size_t size = page_script_size + 20000;
    for (size_t i = 0; i < page->sections.count; i++)
        for (size_t f = 0; f < page->sections.at[i].flames.count; f++)
            size += page->sections.at[i].flames.at[f]->frames.count * 32 +
                    names_bytes(page->sections.at[i].flames.at[f]->names) * 5 / 4;
    return size;
}

/* The page is put together in memory: how large it is says how much of a timeline it may hold. */
bool page_write(const struct page *page, FILE *out, struct tpa_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return tpa_fail_errno(err, "cannot put the page together");
    struct writing writing = { .out = memory,
                               .err = err,
                               .budget = page->budget ? page->budget : PAGE_BUDGET,
                               .after = size_behind(page),
                               .written = &size };
    bool good = true;
    put_beginning(&writing, page);
    for (size_t i = 0; i < page->sections.count && good; i++)
        good = put_section(&writing, &page->sections.at[i]);
    if (good)
        put_end(&writing, page);
    good = output_finish(good, &writing.text, memory, err);
    if (fclose(memory) != 0)
        good = good && tpa_fail_errno(err, "cannot put the page together");
    if (good && fwrite(text, 1, size, out) != size)
        good = tpa_fail_errno(err, "cannot write the result");
    free(text);
    return good;
}
