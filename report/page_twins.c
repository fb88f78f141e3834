/* Without scripts it is a table whose names are set in by their depth; page/twins.js makes a tree of it. */
#include "report/page_parts.h"

#include "report/figures.h"
#include "report/output.h"

enum { DEEPEST = 24 };

static void emit_name(struct writing *page, const struct twin_row *row, int side)
{
    const struct text *name = &row->sides[side].name;
    page_writing_emit(page, row->is_work ? "<td class=\"name twin work\"" : "<td class=\"name twin\"");
    struct text full = as_text(""), shown = { 0 };
    bool shorter = name->at && apart_fill_names(page->names, &full, &shown, name->at, name->len);
    if (shorter) {
        page_writing_emit(page, " title=\"");
        escape_html(&page->text, full.at, full.len);
        page_writing_emit(page, "\"");
    }
    page_writing_emit(page, "><div>");
    for (uint32_t i = 0; i < row->depth && i < DEEPEST; i++)
        page_writing_emit(page, "<i></i>");
    if (side == 0)
        page_writing_emit(page, "<b></b>");
    page_writing_emit(page, "<span>");
    escape_html(&page->text, shorter ? shown.at : full.at, shorter ? shown.len : full.len);
    page_writing_emit(page, "</span></div></td>");
}

static void emit_figure(struct writing *page, enum table_kind kind, int64_t value)
{
    page_writing_emit(page, "<td class=\"n\">");
    figure_add(&page->text, kind, &(union table_cell){ .i = value }, TIME_FITTING);
    page_writing_emit(page, "</td>");
}

static void page_twins_emit_row(struct writing *page, const struct twin_row *row)
{
    buffer_printf(&page->text, "<tr data-depth=\"%u\"%s>", (unsigned)row->depth,
                  row->open ? " data-open=\"\"" : "");
    for (int side = 0; side < 2; side++) {
        emit_name(page, row, side);
        if (row->sides[side].name.at) {
            emit_figure(page, TABLE_TALLY, row->sides[side].calls);
            emit_figure(page, TABLE_NS, row->sides[side].ns);
        } else {
            page_writing_emit(page, "<td class=\"n\"></td><td class=\"n\"></td>");
        }
    }
    int64_t change = row->sides[1].ns - row->sides[0].ns;
    buffer_printf(&page->text, "<td class=\"n%s\">%s",
                  change > 0   ? " worse"
                  : change < 0 ? " better"
                               : "",
                  change > 0 ? "+" : "");
    figure_add(&page->text, TABLE_NS, &(union table_cell){ .i = change }, TIME_FITTING);
    buffer_printf(&page->text, "</td><td class=\"text\">%s</td></tr>\n", row->label ? row->label : "");
}

static void page_twins_emit_head(struct writing *page, const char *time)
{
    static const char *const sides[] = { "before", "after" };
    page_writing_emit(page, "<thead><tr>");
    for (int side = 0; side < 2; side++)
        buffer_printf(&page->text,
                      "<th scope=\"col\" class=\"name\">Tree %s</th><th scope=\"col\" class=\"n\">Calls</th>"
                      "<th scope=\"col\" class=\"n\">%s</th>",
                      sides[side], time);
    page_writing_emit(page,
                      "<th scope=\"col\" class=\"n\">Change</th><th scope=\"col\">Label</th></tr></thead>\n");
}

bool page_emit_twins(struct writing *page, const struct twin_tree *tree)
{
    buffer_printf(
        &page->text,
        "<p>One row for what is the same on both sides, largest change first. %s of a row is that of all "
        "below it, added up over all its calls. The largest change is open.</p>\n",
        tree->time);
    page_writing_emit(
        page,
        "<div class=\"twins\">\n<div class=\"tools\"><span class=\"faint\">Arrow keys move, open and close.</span>"
        "<span class=\"grow\"></span><button type=\"button\" data-do=\"largest\">Largest change</button>"
        "<button type=\"button\" data-do=\"all\">Open all</button>"
        "<button type=\"button\" data-do=\"none\">Close all</button></div>\n"
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Call trees side by side\"><table>\n");
    page_twins_emit_head(page, tree->time);
    page_writing_emit(page, "<tbody>\n");
    bool good = true;
    for (size_t i = 0; i < tree->rows.count && good; i++) {
        page_twins_emit_row(page, &tree->rows.at[i]);
        good = output_drain(&page->text, page->out, page->err);
    }
    page_writing_emit(page, "</tbody></table></div></div>\n");
    if (tree->left_out)
        buffer_printf(&page->text,
                      "<p class=\"faint\">%zu row%s with smaller changes %s not on the page.</p>\n",
                      tree->left_out, tree->left_out == 1 ? "" : "s", tree->left_out == 1 ? "is" : "are");
    return good;
}
