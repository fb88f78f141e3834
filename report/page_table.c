/*
 * page_table.c - a table on a page (page.h).
 *
 * It has a few columns at first: what names the row, what the rows are sorted by, a verdict, and the next ones from the
 * left that say anything; "More columns" shows the rest. A row's anchor is "gaps.causes-3", or "gaps-3" where section and
 * table have one key, and stays the same however the reader sorts.
 */
#include "report/page_parts.h"

#include "report/exact.h"
#include "report/figures.h"
#include "report/output.h"

enum { LONG_TEXT = 24, TALL_TEXT = 160, FIRST_COLUMNS = 5 };

/* A column as the page has it. */
struct page_column {
    size_t column; /* of the table */
    bool folded;   /* shown with "More columns" only */
};

struct page_columns {
    VEC_OF(struct page_column);
    bool any_folded;
};

static bool is_figure(enum table_kind kind)
{
    return !table_is_text(kind);
}

/* ---- which columns ---- */

/* Where a row is: a rank, a device, a stream. Narrow, and no figure. */
static bool is_place(const struct table_column *column)
{
    static const char *const keys[] = { "rank", "device", "stream", "step" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(column->key, keys[i]) == 0)
            return column->kind != TABLE_NS;
    return false;
}

/* Has COLUMN a value other than 0 in any row of the page? */
static bool says_anything(const struct table *table, size_t c, size_t rows)
{
    enum table_kind kind = table->columns[c].kind;
    for (size_t row = 0; row < rows; row++) {
        const union table_cell *cell = table_cell(table, row, c);
        if (table_cell_is_missing(cell, kind))
            continue;
        if (table_is_text(kind) || (table_is_number(kind) ? cell->f != 0 : cell->i != 0))
            return true;
    }
    return false;
}

/* Do several of the page's rows all have the same text in C, which says nothing of any one of them? */
static bool is_constant(const struct table *table, size_t c, size_t rows)
{
    if (table->columns[c].kind != TABLE_TEXT || rows < 2)
        return false;
    const struct text *first = &table_cell(table, 0, c)->text;
    for (size_t row = 0; row < rows; row++) {
        const struct text *text = &table_cell(table, row, c)->text;
        if (!first->at || !text->at || text->len != first->len ||
            memcmp(text->at, first->at, first->len) != 0)
            return false;
    }
    return true;
}

/* The column that names a row: of those with a value in any of ROWS the first of names, else of texts; else the first. */
static size_t naming_column(const struct table *table, size_t rows)
{
    size_t text = TABLE_NO_COLUMN, first = TABLE_NO_COLUMN;
    for (size_t c = 0; c < table->column_count; c++) {
        if (!table_shows(table, c, TABLE_FOR_PEOPLE))
            continue;
        first = first == TABLE_NO_COLUMN ? c : first;
        if (table->columns[c].kind == TABLE_NAME && says_anything(table, c, rows))
            return c;
        if (table->columns[c].kind == TABLE_TEXT && text == TABLE_NO_COLUMN && says_anything(table, c, rows))
            text = c;
    }
    return text != TABLE_NO_COLUMN && text < 3 ? text : first;
}

/* What launched the work that rows are of, or the works that make up a row, where that is known. */
static size_t origin_column(const struct table *table, size_t rows)
{
    int c = table_find_column(table, "operators", strlen("operators"));
    c = c >= 0 ? c : table_find_column(table, "works", strlen("works"));
    bool known = c >= 0 && table->columns[c].kind == TABLE_TEXT &&
                 table_shows(table, (size_t)c, TABLE_FOR_PROGRAMS) && says_anything(table, (size_t)c, rows);
    return known && (size_t)c != naming_column(table, rows) && (size_t)c != table->sort_column
               ? (size_t)c
               : TABLE_NO_COLUMN;
}

static void page_table_add_column(struct page_columns *columns, size_t c, bool folded)
{
    *VEC_PUSH(columns) = (struct page_column){ .column = c, .folded = folded };
    columns->any_folded |= folded;
}

/* Sum of column C, of times. */
static double sum_of(const struct table *table, size_t c, size_t rows)
{
    double sum = 0;
    for (size_t row = 0; row < rows; row++)
        if (!table_cell_is_missing(table_cell(table, row, c), TABLE_NS))
            sum += (double)table_cell(table, row, c)->i;
    return sum;
}

/* Where rows are split into parts that add up: is C a time that gives way to larger ones, as only ROOM of them are seen at
 * first? The whole comes before its parts; what is busy is all of them but one. */
static bool gives_way(const struct table *table, size_t c, size_t rows, size_t room)
{
    bool splits = false;
    for (size_t i = 0; i < table->footers.count; i++)
        splits |= strcmp(table->footers.at[i].key, "parts_total") == 0;
    if (!splits || table->columns[c].kind != TABLE_NS)
        return false;
    size_t larger = 0;
    double sum = sum_of(table, c, rows);
    for (size_t other = 0; other < table->column_count; other++) {
        if (other == c || table->columns[other].kind != TABLE_NS ||
            !table_shows(table, other, TABLE_FOR_PEOPLE) || strcmp(table->columns[other].key, "busy") == 0)
            continue;
        double of_other = sum_of(table, other, rows);
        larger += of_other > sum || (of_other == sum && other < c);
    }
    return larger >= room || strcmp(table->columns[c].key, "busy") == 0;
}

/* Places, the name, what the rows are sorted by, of kernels the operators that launch them, and the others as they come. */
static struct page_columns choose_columns(const struct table *table, size_t rows)
{
    struct page_columns columns = { 0 };
    size_t name = naming_column(table, rows), sort = table->sort_column, room = FIRST_COLUMNS - 1;
    bool sorts = sort != TABLE_NO_COLUMN && sort != name && table_shows(table, sort, TABLE_FOR_PROGRAMS);
    for (size_t c = 0; c < table->column_count; c++)
        if (c != sort && is_place(&table->columns[c]) && table_shows(table, c, TABLE_FOR_PEOPLE))
            page_table_add_column(&columns, c, false);
    if (name != TABLE_NO_COLUMN && (name == sort || !is_place(&table->columns[name])))
        page_table_add_column(&columns, name, false);
    if (sorts) {
        page_table_add_column(&columns, sort, false);
        room--;
    }
    size_t origin = origin_column(table, rows);
    if (origin != TABLE_NO_COLUMN) {
        page_table_add_column(&columns, origin, false);
        room--;
    }
    int verdict = table_find_column(table, "verdict", strlen("verdict"));
    room -= verdict >= 0 && table_shows(table, (size_t)verdict, TABLE_FOR_PEOPLE);
    const size_t all = room;
    for (size_t c = 0; c < table->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        bool first = table_shows(table, c, TABLE_FOR_PEOPLE);
        if (c == name || (sorts && c == sort) || c == origin || (first && is_place(column)) ||
            !table_shows(table, c, TABLE_FOR_PROGRAMS) || column->flags & TABLE_FOREIGN)
            continue;
        bool kept = (int)c == verdict ||
                    (first && room > 0 && !(column->flags & TABLE_LINE) && says_anything(table, c, rows) &&
                     !is_constant(table, c, rows) && !gives_way(table, c, rows, all));
        room -= kept && (int)c != verdict;
        page_table_add_column(&columns, c, !kept);
    }
    return columns;
}

/* ---- cells ---- */

/* A verdict of tpa diff or tpa nightly has a colour beside its word, as charts have: worse, better, or neither. */
static const char *class_of_verdict(const struct table_column *column, const union table_cell *cell)
{
    static const struct {
        const char *word, *class;
    } verdicts[] = {
        { "slower", " worse" },   { "more", " worse" },    { "new", " worse" },   { "NEW", " worse" },
        { "EXISTING", " worse" }, { "faster", " better" }, { "less", " better" }, { "gone", " better" },
        { "better", " better" },  { "FIXED", " better" },
    };
    if (strcmp(column->key, "verdict") == 0 && cell->text.at)
        for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
            if (strcmp(cell->text.at, verdicts[i].word) == 0)
                return verdicts[i].class;
    return "";
}

static const char *class_of_text(const struct table_column *column)
{
    return column->flags & TABLE_FIGURES ? "text right" : "text";
}

/* Below what names ROW: the columns that are prose. */
static void emit_lines(struct writing *page, const struct table *table, size_t row)
{
    for (size_t c = 0; c < table->column_count; c++) {
        const struct text *text = &table_cell(table, row, c)->text;
        if (!(table->columns[c].flags & TABLE_LINE) || !table_shows(table, c, TABLE_FOR_PEOPLE) || !text->at)
            continue;
        page_writing_emit(page, "<div class=\"line\"><span class=\"faint\">");
        emit_text(page, table->columns[c].title);
        page_writing_emit(page, ":</span> ");
        escape_html(&page->text, text->at, text->len);
        page_writing_emit(page, "</div>");
    }
}

static bool has_lines(const struct table *table)
{
    for (size_t c = 0; c < table->column_count; c++)
        if (table->columns[c].flags & TABLE_LINE && table_shows(table, c, TABLE_FOR_PEOPLE))
            return true;
    return false;
}

/* PATH with the places at which it may be broken: after a directory, a file and its line. */
static void append_path(struct buffer *out, const struct text *path)
{
    size_t from = 0;
    for (size_t i = 0; i + 1 < path->len; i++)
        if (strchr("/:", path->at[i]) && !strchr("/:", path->at[i + 1])) {
            escape_html(out, path->at + from, i + 1 - from);
            buffer_puts(out, "<wbr/>");
            from = i + 1;
        }
    escape_html(out, path->at + from, path->len - from);
}

/* A name or another text: a long name shortened, with all of it as title; a long text no higher than a few lines. */
static void emit_text_cell(struct writing *page, const struct table *table, size_t row,
                           const struct page_column *of)
{
    const struct table_column *column = &table->columns[of->column];
    const union table_cell *cell = table_cell(table, row, of->column);
    struct text text = cell->text.at ? cell->text : as_text("-"), shown = { 0 };
    bool is_name = column->kind == TABLE_NAME, shorter = false;
    if (is_name && cell->text.at)
        shorter = apart_fill_names(page->names, &text, &shown, cell->text.at, cell->text.len);
    bool tall = !is_name && text.len > TALL_TEXT, lines = is_name && has_lines(table);
    buffer_printf(&page->text, "<td class=\"%s%s%s%s\"", is_name ? "name" : class_of_text(column),
                  !is_name && text.len > LONG_TEXT ? " long" : "", of->folded ? " o" : "",
                  class_of_verdict(column, cell));
    if (shorter || lines) { /* what is copied and sorted by */
        page_writing_emit(page, " title=\"");
        escape_html(&page->text, text.at, text.len);
        page_writing_emit(page, "\"");
    }
    page_writing_emit(page, tall ? "><div class=\"tall\">" : ">");
    shown = shorter ? shown : text;
    if (is_name && memchr(shown.at, '/', shown.len))
        append_path(&page->text, &shown);
    else
        escape_html(&page->text, shown.at, shown.len);
    if (lines)
        emit_lines(page, table, row);
    page_writing_emit(page, tall ? "</div></td>" : "</td>");
}

static void emit_value(struct writing *page, enum table_kind kind, const union table_cell *cell)
{
    if (!table_is_text(kind))
        figure_add(&page->text, kind, cell, TIME_FITTING); /* letters, digits, blanks, points */
    else if (cell->text.at == NULL)
        page_writing_emit(page, "-");
    else
        escape_html(&page->text, cell->text.at, cell->text.len);
}

static double figure_of(enum table_kind kind, const union table_cell *cell)
{
    return table_cell_is_missing(cell, kind) ? 0 : table_is_number(kind) ? cell->f : (double)cell->i;
}

/* The largest figure of the column that TABLE is sorted by, for bars in its cells; 0: it has none. */
static double most_of(const struct table *table, size_t rows)
{
    double most = 0;
    if (table->sort_column >= table->column_count || rows < 2)
        return 0;
    enum table_kind kind = table->columns[table->sort_column].kind;
    if (kind != TABLE_NS && kind != TABLE_BYTES && kind != TABLE_SHARE)
        return 0;
    for (size_t row = 0; row < rows; row++) {
        double figure = figure_of(kind, table_cell(table, row, table->sort_column));
        if (figure < 0)
            return 0;
        most = figure > most ? figure : most;
    }
    return most;
}

/* MOST: the figure whose bar fills the cell; 0: it has no bar. */
static void emit_figure_cell(struct writing *page, const struct page_column *of, enum table_kind kind,
                             const union table_cell *cell, double most)
{
    buffer_printf(&page->text, "<td class=\"n%s", of->folded ? " o" : "");
    if (most > 0)
        buffer_printf(&page->text, " cell-bar w%d", (int)(50 * figure_of(kind, cell) / most + 0.5) * 2);
    page_writing_emit(page, "\"");
    if (!table_cell_is_missing(cell, kind)) {
        page_writing_emit(page, " data-v=\"");
        if (table_is_number(kind))
            buffer_printf(&page->text, "%.9g", cell->f);
        else
            exact_add_integer(&page->text, cell->i);
        page_writing_emit(page, "\"");
    }
    page_writing_emit(page, ">");
    emit_value(page, kind, cell);
    page_writing_emit(page, "</td>");
}

/* ---- rows ---- */

static void page_table_emit_head(struct writing *page, const struct table *table,
                                 const struct page_columns *columns)
{
    page_writing_emit(page, "<thead><tr>");
    for (size_t i = 0; i < columns->count; i++) {
        const struct page_column *of = &columns->at[i];
        const struct table_column *column = &table->columns[of->column];
        buffer_printf(&page->text,
                      "<th scope=\"col\" data-key=\"%s\"%s class=\"%s%s\" aria-sort=\"%s\" title=\"",
                      column->key,
                      column->kind == TABLE_MOMENT ? " data-kind=\"moment\""
                      : column->kind == TABLE_NS   ? " data-kind=\"ns\""
                                                   : "",
                      is_figure(column->kind)      ? "n"
                      : column->kind == TABLE_NAME ? "name"
                                                   : class_of_text(column),
                      of->folded ? " o" : "",
                      of->column != table->sort_column ? "none"
                      : is_figure(column->kind) ? column->kind == TABLE_MOMENT ? "ascending" : "descending"
                                                : "ascending");
        emit_text(page, column->help ? column->help : "");
        page_writing_emit(page, "\"><button type=\"button\">");
        emit_text(page, column->title);
        page_writing_emit(page, "</button></th>");
    }
    page_writing_emit(page, "</tr></thead>\n");
}

static bool emit_rows(struct writing *page, const struct table *table, const char *section,
                      const struct page_columns *columns, size_t rows)
{
    bool one_key = strcmp(section, table->key) == 0;
    double most = most_of(table, rows);
    page_writing_emit(page, "<tbody>\n");
    for (size_t row = 0; row < rows; row++) {
        page_writing_emit(page, "<tr id=\"");
        emit_text(page, section);
        if (!one_key) {
            page_writing_emit(page, ".");
            emit_text(page, table->key);
        }
        buffer_printf(&page->text, "-%zu\"%s>", row + 1, row < PAGE_FIRST_ROWS ? "" : " class=\"more\"");
        for (size_t i = 0; i < columns->count; i++) {
            const struct page_column *of = &columns->at[i];
            const struct table_column *column = &table->columns[of->column];
            const union table_cell *cell = table_cell(table, row, of->column);
            if (is_figure(column->kind))
                emit_figure_cell(page, of, column->kind, cell, of->column == table->sort_column ? most : 0);
            else
                emit_text_cell(page, table, row, of);
        }
        page_writing_emit(page, "</tr>\n");
        if (!output_drain(&page->text, page->out, page->err))
            return false;
    }
    page_writing_emit(page, "</tbody>\n");
    return true;
}

/* ---- around the rows ---- */

/* What stands below a table in a terminal: one card each. */
static void emit_footers(struct writing *page, const struct table *table)
{
    if (table->footers.count == 0)
        return;
    page_writing_emit(page, "<dl class=\"figures\">\n");
    for (size_t i = 0; i < table->footers.count; i++) {
        const struct table_footer *footer = &table->footers.at[i];
        page_writing_emit(page, "<div><dt>");
        emit_text(page, footer->title);
        page_writing_emit(page, "</dt><dd>");
        emit_value(page, footer->kind, &footer->value);
        page_writing_emit(page, "</dd></div>\n");
    }
    page_writing_emit(page, "</dl>\n");
}

static void emit_definitions(struct writing *page, const struct table *table,
                             const struct page_columns *columns)
{
    page_writing_emit(page, "<details><summary>What the columns mean</summary><dl>\n");
    for (size_t i = 0; i < columns->count; i++) {
        const struct table_column *column = &table->columns[columns->at[i].column];
        if (!column->help || !*column->help)
            continue;
        page_writing_emit(page, "<dt>");
        emit_text(page, column->title);
        page_writing_emit(page, "</dt><dd>");
        emit_text(page, column->help);
        page_writing_emit(page, "</dd>\n");
    }
    page_writing_emit(page, "</dl></details>\n");
}

/* A heading, and buttons; a table that is seen whole needs no filter. */
static void emit_tools(struct writing *page, const char *heading, const struct page_columns *columns,
                       size_t rows)
{
    bool large = rows > PAGE_FIRST_ROWS;
    page_writing_emit(page, "<div class=\"above\">");
    emit_element(page, "h3", heading);
    page_writing_emit(page, "<div class=\"tools\">");
    if (large)
        buffer_printf(&page->text,
                      "<label>Filter <input type=\"search\" id=\"filter-%zu\" placeholder=\"words\" "
                      "autocomplete=\"off\"/></label><span class=\"told-rows faint\" role=\"status\"></span>",
                      page->tables);
    page_writing_emit(page, "<span class=\"grow\"></span>");
    if (columns->any_folded)
        page_writing_emit(
            page,
            "<button type=\"button\" class=\"more-columns\" aria-pressed=\"false\">More columns</button>");
    if (large)
        page_writing_emit(
            page, "<button type=\"button\" class=\"more-rows\" aria-pressed=\"false\">All rows</button>");
    page_writing_emit(page, "<button type=\"button\" class=\"copy\">Copy</button></div></div>\n");
}

static bool has_columns(const struct table *table)
{
    for (size_t c = 0; c < table->column_count; c++)
        if (table_shows(table, c, TABLE_FOR_PROGRAMS))
            return true;
    return false;
}

static bool emit_grid(struct writing *page, const struct table *table, const char *heading,
                      const struct page_section *section)
{
    size_t rows = table->row_count < PAGE_MOST_ROWS ? table->row_count : PAGE_MOST_ROWS;
    struct page_columns columns = choose_columns(table, rows);
    page->tables++;
    page_writing_emit(page, "<div class=\"table\" data-key=\"");
    emit_text(page, table->key);
    buffer_printf(&page->text, "\" data-limit=\"%d\">\n", PAGE_FIRST_ROWS);
    emit_tools(page, heading, &columns, rows);
    page_writing_emit(page, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    emit_text(page, table->title ? table->title : table->key);
    page_writing_emit(page, "\"><table>\n");
    page_table_emit_head(page, table, &columns);
    bool good = emit_rows(page, table, section->key, &columns, rows);
    if (good) {
        page_writing_emit(page, "</table></div>\n");
        if (table->total_rows > rows)
            buffer_printf(&page->text, "<p class=\"faint\">The first %zu of %zu rows.</p>\n", rows,
                          table->total_rows);
        emit_footers(page, table);
        emit_definitions(page, table, &columns);
        page_writing_emit(page, "</div>\n");
    }
    VEC_FREE(&columns);
    return good;
}

bool page_emit_table(struct writing *page, const struct table *table, const struct page_section *section,
                     bool titled)
{
    titled |= section->title && table->title && strcmp(section->title, table->title) == 0;
    const char *heading = titled ? NULL : table->title;
    if (has_columns(table) && table->row_count > 0)
        return emit_grid(page, table, heading, section);
    emit_element(page, "h3", heading);
    if (has_columns(table))
        emit_element(page, "p", table->none ? table->none : "There are none.");
    emit_footers(page, table);
    return true;
}
