/*
 * text.c - the table in a terminal.
 *
 *     Operators
 *     Name                      Self CPU  Self CPU %
 *     ------------------------  --------  ----------
 *     aten::mm                  40.857ms      22.5 %
 *     at::native::vect...(int)   1.089us       0.1 %
 *
 *     Self CPU time total: 181.624ms
 *     2 of 312 rows; --limit 0 shows all
 *
 *     note: 48 kernels were launched before the trace began; ...
 *
 * Every line fits the width. When the columns are too wide together, texts give way first, the widest most, down to
 * a width that still tells something; then whole columns go from the right, but never the first, nor the one that the
 * rows are sorted by, nor a verdict, and a line says which. Different names never look the same (apart.h). Figures are never cut. A single
 * row that does not fit is shown as a list, and so is a table without columns: one figure a line.
 */

#include "base/demangle.h"
#include "base/escape.h"
#include "report/apart.h"
#include "report/cuts.h"
#include "report/output.h"
#include "report/shorten.h"
#include "report/text_answer.h"
#include "report/wrap.h"
#include "base/unicode.h"

#define BOLD "\x1b[1m"
#define DIM "\x1b[2m"
#define PLAIN "\x1b[0m"
enum { GAP = 2, NARROWEST_NAME = 20, NARROWEST_TEXT = 12 };

/* A column that is shown. */
struct shown {
    size_t column;
    size_t natural; /* columns of the terminal that its widest cell takes, or its title */
    size_t width;   /* what it gets */
    bool is_text;
    struct apart *apart; /* of a column of names that has to be shortened; else NULL */
    struct cuts *cuts;   /* of a column of other texts that has to be; else NULL */
};

struct page {
    struct buffer text;    /* what is ready to be written */
    struct buffer scratch; /* one cell */
    struct buffer key;     /* the names of a row */
    size_t width;          /* of the terminal, or SIZE_MAX */
    bool color;
    bool unicode;
    enum time_unit time_unit;
};

static void add_styled(struct page *page, const char *style, const char *s, size_t len)
{
    if (page->color && len)
        buffer_puts(&page->text, style);
    buffer_add(&page->text, s, len);
    if (page->color && len)
        buffer_puts(&page->text, PLAIN);
}

/* A picture as ASCII: it consists of that and the signs below. */
static void add_drawn(struct buffer *out, const char *s)
{
    static const char *const signs[][2] = { { "\u2588", "#" }, { "\u2593", "*" }, { "\u2592", "+" },
                                            { "\u2591", ":" }, { "\u2584", "=" }, { "\u00b7", "." },
                                            { "\u2571", "/" }, { "\u2500", "-" }, { "\u2550", "=" } };
    enum { SIGNS = sizeof signs / sizeof *signs };
    while (*s) {
        size_t i = 0;
        while (i < SIGNS && strncmp(s, signs[i][0], strlen(signs[i][0])) != 0)
            i++;
        buffer_putc(out, i < SIGNS ? *signs[i][1] : *s >= ' ' && *s <= '~' ? *s : '?');
        s += i < SIGNS ? strlen(signs[i][0]) : 1;
    }
}

/* Put the cell of COLUMN into page->scratch; returns its width. */
static size_t text_add_cell(struct page *page, const struct table_column *column,
                            const union table_cell *cell)
{
    enum table_kind kind = column->kind;
    buffer_clear(&page->scratch);
    if (column->flags & TABLE_PICTURE && !page->unicode && cell->text.at) {
        add_drawn(&page->scratch, cell->text.at);
        return page->scratch.count;
    }
    if (kind == TABLE_NAME && cell->text.at && strncmp(cell->text.at, "_Z", 2) == 0) {
        struct buffer readable = { 0 };
        bool ok = demangle_name(&readable, cell->text.at);
        size_t width = ok ? escape_terminal(&page->scratch, readable.at, readable.count) : 0;
        buffer_release(&readable);
        if (ok)
            return width;
    }
    if (table_is_text(kind) && cell->text.at)
        return escape_terminal(&page->scratch, cell->text.at, cell->text.len);
    if (table_is_text(kind))
        buffer_putc(&page->scratch, '-');
    else
        figure_add(&page->scratch, kind, cell, page->time_unit);
    return page->scratch.count; /* figures are ASCII */
}

static size_t text_add_text(struct page *page, const char *s)
{
    buffer_clear(&page->scratch);
    return escape_terminal(&page->scratch, s, strlen(s));
}

/* Shorten what is in page->scratch, of COLUMN, into page->text; returns its width. */
static size_t add_shortened(struct page *page, const struct table_column *column, size_t max)
{
    struct buffer *scratch = &page->scratch;
    if (column->flags & TABLE_LIST)
        return shorten_list(&page->text, scratch->at, scratch->count, max);
    if (column->kind == TABLE_NAME)
        return shorten_name(&page->text, scratch->at, scratch->count, max);
    return shorten_middle(&page->text, scratch->at, scratch->count, max);
}

/* What is in page->scratch, with breaks at blanks; COLUMN columns of the first line are taken. */
static void add_wrapped_from(struct page *page, size_t column, size_t indent)
{
    wrap_text(&page->text, page->scratch.at, page->scratch.count, column, indent, page->width);
}

static void text_add_wrapped(struct page *page, const char *s, size_t indent)
{
    text_add_text(page, s);
    add_wrapped_from(page, 0, indent);
}

/* --- layout --------------------------------------------------------------------------------------------------- */

static size_t text_measure(struct page *page, const struct table *table, struct shown *shown)
{
    size_t count = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        if (!table_shows(table, i, TABLE_FOR_PEOPLE) || column->flags & TABLE_LINE)
            continue;
        size_t widest = text_add_text(page, column->title);
        for (size_t row = 0; row < table->row_count; row++) {
            size_t width = text_add_cell(page, column, table_cell(table, row, i));
            if (width > widest)
                widest = width;
        }
        shown[count++] = (struct shown){ i, widest, widest, table_is_text(column->kind), NULL, NULL };
    }
    return count;
}

/* The least a column can do with: a heading that is cut tells nothing. */
static size_t least_width(struct page *page, const struct table *table, const struct shown *shown)
{
    if (!shown->is_text)
        return shown->natural;
    size_t least = text_add_text(page, table->columns[shown->column].title);
    size_t narrowest = table->columns[shown->column].flags & TABLE_LIST ? NARROWEST_NAME : NARROWEST_TEXT;
    if (least < narrowest)
        least = narrowest;
    if (table->columns[shown->column].kind == TABLE_NAME) {
        if (least < page->width / 3)
            least = page->width / 3;
        if (least < NARROWEST_NAME)
            least = NARROWEST_NAME;
    }
    return least < shown->natural ? least : shown->natural;
}

static size_t total_width(const struct shown *shown, size_t count)
{
    size_t total = count ? (count - 1) * GAP : 0;
    for (size_t i = 0; i < count; i++)
        total += shown[i].width;
    return total;
}

/* Give texts less, the widest first and each no less than LEAST, until EXCESS columns are saved. */
static void narrow_texts(struct shown *shown, size_t count, const size_t *least, size_t excess)
{
    while (excess) {
        size_t widest = count;
        for (size_t i = 0; i < count; i++)
            if (shown[i].is_text && shown[i].width > least[i] &&
                (widest == count || shown[i].width > shown[widest].width))
                widest = i;
        if (widest == count)
            return;
        /* Down to the next widest at once, so that a name of a megabyte is not a million steps. */
        size_t down_to = least[widest];
        for (size_t i = 0; i < count; i++)
            if (i != widest && shown[i].is_text && shown[i].width > least[i] && shown[i].width > down_to)
                down_to = shown[i].width < shown[widest].width ? shown[i].width : shown[widest].width - 1;
        if (down_to < least[widest])
            down_to = least[widest];
        size_t cut = shown[widest].width - down_to;
        if (cut > excess)
            cut = excess;
        shown[widest].width -= cut;
        excess -= cut;
    }
}

/* Make the columns fit: returns how many stay. Those that go are moved behind them, from left to right. */
static size_t fit(struct page *page, const struct table *table, struct shown *shown, size_t count)
{
    size_t total = total_width(shown, count);
    if (total <= page->width)
        return count;

    size_t *least = mem_alloc(mem_times(count + 1, sizeof *least));
    size_t least_total = (count - 1) * GAP, kept = count;
    for (size_t i = 0; i < count; i++) {
        least[i] = least_width(page, table, &shown[i]);
        least_total += least[i];
    }
    for (int texts_too = !table->chosen; texts_too < 2; texts_too++)
        for (size_t i = kept; i-- > 1 && least_total > page->width;) {
            if (shown[i].column == table->sort_column || (shown[i].is_text && !texts_too) ||
                strcmp(table->columns[shown[i].column].key, "verdict") == 0)
                continue;
            struct shown gone = shown[i];
            least_total -= least[i] + GAP;
            memmove(&shown[i], &shown[i + 1], (kept - i - 1) * sizeof *shown);
            memmove(&least[i], &least[i + 1], (kept - i - 1) * sizeof *least);
            shown[--kept] = gone;
        }
    total = total_width(shown, kept);
    if (total > page->width)
        narrow_texts(shown, kept, least, total - page->width);
    total = total_width(shown, kept);
    if (total >
        page->width) { /* a very narrow terminal: texts shrink to the remaining width, possibly to dots */
        for (size_t i = 0; i < kept; i++)
            least[i] = 1;
        narrow_texts(shown, kept, least, total - page->width);
    }
    free(least);
    return kept;
}

/* --- tables --------------------------------------------------------------------------------------------------- */

static void add_header(struct page *page, const struct table *table, const struct shown *shown, size_t count)
{
    struct buffer *scratch = &page->scratch;
    for (size_t i = 0; i < count; i++) {
        size_t title = text_add_text(page, table->columns[shown[i].column].title);
        struct buffer cut = { 0 };
        if (title > shown[i].width) {
            title = shorten_middle(&cut, scratch->at, scratch->count, shown[i].width);
            buffer_clear(scratch);
            buffer_add(scratch, cut.at, cut.count);
        }
        buffer_release(&cut);
        if (!shown[i].is_text)
            buffer_pad(&page->text, ' ', shown[i].width - title);
        add_styled(page, BOLD, scratch->at, scratch->count);
        if (i + 1 < count)
            buffer_pad(&page->text, ' ', GAP + (shown[i].is_text ? shown[i].width - title : 0));
    }
    buffer_putc(&page->text, '\n');

    buffer_clear(scratch);
    for (size_t i = 0; i < count; i++) {
        buffer_pad(scratch, ' ', i ? GAP : 0);
        buffer_pad(scratch, '-', shown[i].width);
    }
    add_styled(page, DIM, scratch->at, scratch->count);
    buffer_putc(&page->text, '\n');
}

static void text_end_line(struct page *page)
{
    struct buffer *text = &page->text;
    while (text->count && text->at[text->count - 1] == ' ')
        text->count--;
    buffer_putc(text, '\n');
}

/* A name among others that have to be shortened; returns its width. */
static size_t add_name_among(struct page *page, struct apart *apart, const union table_cell *cell)
{
    struct text full, shown = { 0 };
    if (!cell->text.at || !apart_fill_names(apart, &full, &shown, cell->text.at, cell->text.len))
        shown = (struct text){ page->scratch.at ? page->scratch.at : "", page->scratch.count };
    buffer_add(&page->text, shown.at, shown.len);
    return unicode_text_width(shown.at, shown.len);
}

/* The names of the column SHOWN, which is too wide for all of them. */
static struct apart *text_collect_names(const struct table *table, const struct shown *shown)
{
    struct apart *apart = apart_open(shown->width);
    for (size_t row = 0; row < table->row_count; row++) {
        const struct text *name = &table_cell(table, row, shown->column)->text;
        if (name->at)
            apart_add(apart, name->at, name->len);
    }
    return apart;
}

/* The names of ROW into page->key: texts of rows with other names need not be told apart. */
static const char *text_row_names(struct page *page, const struct table *table, size_t row)
{
    buffer_clear(&page->key);
    buffer_puts(&page->key, "");
    for (size_t i = 0; i < table->column_count; i++) {
        const struct text *name = &table_cell(table, row, i)->text;
        if (table->columns[i].kind == TABLE_NAME && name->at && table_shows(table, i, TABLE_FOR_PEOPLE))
            buffer_printf(&page->key, "%s\n", name->at);
    }
    return page->key.at;
}

/* The texts of the column SHOWN, which is too wide for all of them; a list or a picture is cut by itself. */
static struct cuts *text_collect_texts(struct page *page, const struct table *table,
                                       const struct shown *shown)
{
    const struct table_column *column = &table->columns[shown->column];
    if (column->kind != TABLE_TEXT || column->flags & (TABLE_LIST | TABLE_PICTURE))
        return NULL;
    struct cuts *cuts = cuts_open(shown->width);
    for (size_t row = 0; row < table->row_count; row++) {
        text_add_cell(page, column, table_cell(table, row, shown->column));
        cuts_add(cuts, text_row_names(page, table, row), page->scratch.at ? page->scratch.at : "",
                 page->scratch.count);
    }
    return cuts;
}

/* The text in page->scratch, of ROW, among those of its column; returns its width. */
static size_t add_text_among(struct page *page, struct cuts *cuts, const struct table *table, size_t row)
{
    struct text shown = cuts_shown(cuts, text_row_names(page, table, row),
                                   page->scratch.at ? page->scratch.at : "", page->scratch.count);
    buffer_add(&page->text, shown.at, shown.len);
    return unicode_text_width(shown.at, shown.len);
}

static void text_add_row(struct page *page, const struct table *table, size_t row, const struct shown *shown,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct table_column *column = &table->columns[shown[i].column];
        size_t width = text_add_cell(page, column, table_cell(table, row, shown[i].column));
        if (shown[i].apart) {
            width = add_name_among(page, shown[i].apart, table_cell(table, row, shown[i].column));
        } else if (shown[i].cuts) {
            width = add_text_among(page, shown[i].cuts, table, row);
        } else if (shown[i].is_text) {
            width = add_shortened(page, column, shown[i].width);
        } else {
            buffer_pad(&page->text, ' ', width < shown[i].width ? shown[i].width - width : 0);
            buffer_add(&page->text, page->scratch.at, page->scratch.count);
        }
        if (i + 1 < count)
            buffer_pad(&page->text, ' ', GAP + (shown[i].is_text ? shown[i].width - width : 0));
    }
    text_end_line(page);
}

/* Columns that are prose, below their row; a text that equals that of the row above is not repeated. */
static void text_add_lines(struct page *page, const struct table *table, size_t row)
{
    enum { INDENT = 2 };
    size_t widest = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < table->column_count; i++) {
            const struct table_column *column = &table->columns[i];
            if (!(column->flags & TABLE_LINE) || !table_shows(table, i, TABLE_FOR_PEOPLE))
                continue;
            const struct text *text = &table_cell(table, row, i)->text;
            const struct text *above = row > 0 ? &table_cell(table, row - 1, i)->text : NULL;
            size_t title = text_add_text(page, column->title);
            if (pass == 0)
                widest = title > widest ? title : widest;
            if (pass == 0 || !text->at ||
                (above && above->at && above->len == text->len &&
                 memcmp(above->at, text->at, text->len) == 0))
                continue;
            buffer_pad(&page->text, ' ', INDENT);
            buffer_add(&page->text, page->scratch.at, page->scratch.count);
            buffer_putc(&page->text, ':');
            buffer_pad(&page->text, ' ', widest - title + 1);
            text_add_cell(page, column, table_cell(table, row, i));
            add_wrapped_from(page, INDENT + widest + 2, INDENT + widest + 2);
        }
}

/* One "Title: value" of a list whose titles take TITLE_WIDTH columns with the colon. */
static void add_item(struct page *page, const struct table_column *column, const union table_cell *cell,
                     size_t title_width)
{
    text_add_text(page, column->title);
    size_t used = shorten_middle(&page->text, page->scratch.at, page->scratch.count, title_width - 1) + 1;
    buffer_putc(&page->text, ':');
    text_add_cell(page, column, cell);
    buffer_pad(&page->text, ' ', title_width - used + 1);
    size_t room = page->width > title_width + 1 ? page->width - title_width - 1 : 1;
    add_shortened(page, column, room);
    text_end_line(page);
}

/* Columns for the titles of a list, WIDEST the width of the widest. */
static size_t title_column(const struct page *page, size_t widest)
{
    widest++;
    return widest > page->width / 2 ? page->width / 2 + 1 : widest;
}

static void add_footers(struct page *page, const struct table *table)
{
    size_t widest = 0;
    for (size_t i = 0; i < table->footers.count; i++) {
        size_t width = text_add_text(page, table->footers.at[i].title);
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; i < table->footers.count; i++) {
        const struct table_footer *footer = &table->footers.at[i];
        add_item(page, &(struct table_column){ .title = footer->title, .kind = footer->kind }, &footer->value,
                 title_column(page, widest));
    }
}

static void add_only_row_as_list(struct page *page, const struct table *table, const struct shown *shown,
                                 size_t count)
{
    size_t widest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t width = text_add_text(page, table->columns[shown[i].column].title);
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; i < count; i++) {
        const struct table_column *column = &table->columns[shown[i].column];
        add_item(page, column, table_cell(table, 0, shown[i].column), title_column(page, widest));
    }
    text_add_lines(page, table, 0);
}

static void text_add_left_out(struct page *page, const struct table *table, const struct shown *gone,
                              size_t count)
{
    struct buffer line = { 0 };
    for (size_t i = 0; i < count; i++)
        buffer_printf(&line, "%s%s", i ? ", " : "not shown: ", table->columns[gone[i].column].key);
    buffer_puts(&line, " (--wide shows all, --columns picks)");
    text_add_wrapped(page, line.at, 2);
    buffer_release(&line);
}

static void add_title(struct page *page, const char *title)
{
    if (!title)
        return;
    buffer_puts(&page->text, page->color ? BOLD : "");
    text_add_wrapped(page, title, 2);
    if (page->color) {
        page->text.count--; /* the end of the line comes behind the style */
        buffer_puts(&page->text, PLAIN "\n");
    }
}

/* What a table without rows comes to, in a sentence, and its figures. */
static void add_none(struct page *page, const struct table *table)
{
    struct buffer line = { 0 };
    if (table->none)
        buffer_puts(&line, table->none);
    else
        buffer_printf(&line, "%s: none", table->title ? table->title : table->key);
    text_add_wrapped(page, line.at, 2);
    buffer_release(&line);
    add_footers(page, table);
}

/* Is TABLE a single row that does not fit? */
static bool is_list(struct page *page, const struct table *table, const struct shown *shown, size_t count)
{
    if (count == 0 || table->row_count != 1 || total_width(shown, count) <= page->width)
        return false;
    if (table->single != SINGLE_IF_ALL_FIT)
        return table->single == SINGLE_LISTED;
    struct shown *tried = mem_alloc(mem_times(count, sizeof *tried));
    memcpy(tried, shown, count * sizeof *tried);
    bool fits = fit(page, table, tried, count) == count;
    free(tried);
    return !fits;
}

static bool add_table(struct page *page, const struct table *table, FILE *out, struct tpa_error *err)
{
    struct shown *shown = mem_alloc(mem_times(table->column_count + 1, sizeof *shown));
    size_t count = text_measure(page, table, shown), kept = count;
    bool ok = true;
    if (count && !table->row_count && !table->total_rows) {
        free(shown);
        add_none(page, table);
        return true;
    }
    add_title(page, table->title);
    if (is_list(page, table, shown, count)) {
        add_only_row_as_list(page, table, shown, count);
    } else if (count) {
        kept = fit(page, table, shown, count);
        add_header(page, table, shown, kept);
        for (size_t i = 0; i < kept; i++)
            if (table->columns[shown[i].column].kind == TABLE_NAME && shown[i].width < shown[i].natural)
                shown[i].apart = text_collect_names(table, &shown[i]);
            else if (shown[i].width < shown[i].natural)
                shown[i].cuts = text_collect_texts(page, table, &shown[i]);
        for (size_t row = 0; row < table->row_count && ok; row++) {
            text_add_row(page, table, row, shown, kept);
            text_add_lines(page, table, row);
            ok = output_drain(&page->text, out, err);
        }
    }
    if (count && table->footers.count)
        buffer_putc(&page->text, '\n');
    add_footers(page, table);
    bool cut = table->row_count < table->total_rows;
    if (count && !table->footers.count && (cut || kept < count))
        buffer_putc(&page->text, '\n');
    if (cut) {
        struct buffer line = { 0 };
        buffer_printf(&line, "%zu of %zu rows; --limit 0 shows all", table->row_count, table->total_rows);
        text_add_wrapped(page, line.at, 2);
        buffer_release(&line);
    }
    if (kept < count)
        text_add_left_out(page, table, shown + kept, count - kept);
    for (size_t i = 0; i < count; i++) {
        arena_free(shown[i].apart);
        arena_free(shown[i].cuts);
    }
    free(shown);
    return ok;
}

static bool is_above(const struct table_notice *notice)
{
    return notice_place(notice) < NOTICE_BELOW;
}

/* Append the notes that stand above the tables, or those below: ALL, or all but explanations, whose number is added to
 * *LEFT_OUT. Returns how many were appended. */
static size_t text_add_notices(struct page *page, const struct result *result, bool above, bool all,
                               size_t *left_out)
{
    size_t count = 0;
    for (size_t i = 0; i < result->notices.count; i++) {
        const struct table_notice *notice = &result->notices.at[i];
        if (is_above(notice) != above)
            continue;
        if (!above && !all && notice->minor) {
            ++*left_out;
            continue;
        }
        if (!above && count == 0 && result->tables.count)
            buffer_putc(&page->text, '\n');
        count++;
        struct buffer line = { 0 };
        figure_add_notice(&line, notice);
        text_add_wrapped(page, line.at, notice->is_answer ? 0 : 6);
        buffer_release(&line);
    }
    return count;
}

/* "4 more tables: --all; 1 note: --notes": what is not shown, and how to see it. NOTED: notes stand above this line. */
static void text_add_hints(struct page *page, const struct result *result, bool noted, size_t tables,
                           size_t notes)
{
    if (tables + notes && !noted && result->tables.count)
        buffer_putc(&page->text, '\n');
    if (tables)
        buffer_printf(&page->text, "%zu more table%s: --all%s", tables, tables == 1 ? "" : "s",
                      notes ? "; " : "\n");
    if (notes)
        buffer_printf(&page->text, "%zu%s note%s: --notes\n", notes, noted ? " more" : "",
                      notes == 1 ? "" : "s");
}

static bool print_text(const struct result *result, const struct print_options *options, FILE *out,
                       struct tpa_error *err)
{
    struct page page = { .color = options->color,
                         .unicode = options->unicode,
                         .time_unit = options->time_unit,
                         .width = options->wide || !options->width ? SIZE_MAX : options->width };
    bool ok = true;
    if (options->answer && result->answer && result->answer->in_text) {
        text_answer_add(&page.text, result, options);
        return output_finish(true, &page.text, out, err);
    }
    size_t shown = 0, details = 0, notes = 0, before = text_add_notices(&page, result, true, true, &notes);
    for (size_t i = 0; i < result->tables.count && ok; i++) {
        if (result->tables.at[i]->detail && !options->all) {
            details++;
            continue;
        }
        if (shown++ + before)
            buffer_putc(&page.text, '\n');
        ok = add_table(&page, result->tables.at[i], out, err);
    }
    bool noted = text_add_notices(&page, result, false, options->all_notes, &notes) > 0;
    text_add_hints(&page, result, noted, details, notes);
    EACH(buffer_release, &page.key, &page.scratch);
    return output_finish(ok, &page.text, out, err);
}

const struct printer printer_text = { "table", "a table that fits the terminal", print_text };
