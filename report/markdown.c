/* markdown.c - GitHub tables, for issues and pull requests: figures as in the terminal, long names shortened as there. */
#include "report/printer.h"

#include "base/escape.h"
#include "report/output.h"
#include "report/shorten.h"

/* A comment on GitHub takes 65,536 characters, and a kernel's name can have thousands. */
enum { LONGEST_NAME = 80 };

static void markdown_add_name(struct buffer *text, const union table_cell *cell,
                              const struct print_options *options)
{
    struct buffer full = { 0 }, shown = { 0 };
    bool shorter = shorten_readable(&full, &shown, cell->text.at, cell->text.len, LONGEST_NAME);
    const struct buffer *name = shorter && !options->wide ? &shown : &full;
    escape_markdown(text, name->at ? name->at : "", name->count);
    EACH(buffer_release, &full, &shown);
}

static void markdown_add_cell(struct buffer *text, enum table_kind kind, const union table_cell *cell,
                              const struct print_options *options)
{
    if (!table_is_text(kind))
        figure_add(text, kind, cell, options->time_unit);
    else if (!cell->text.at)
        buffer_putc(text, '-');
    else if (kind == TABLE_NAME)
        markdown_add_name(text, cell, options);
    else
        escape_markdown(text, cell->text.at, cell->text.len);
}

static void markdown_add_text(struct buffer *text, const char *s)
{
    escape_markdown(text, s, strlen(s));
}

static bool print_rows(const struct table *table, const struct print_options *options, struct buffer *text,
                       FILE *out, struct tpa_error *err)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table_shows(table, i, TABLE_FOR_PEOPLE))
            continue;
        buffer_puts(text, "| ");
        markdown_add_text(text, table->columns[i].title);
        buffer_putc(text, ' ');
    }
    buffer_puts(text, "|\n");
    for (size_t i = 0; i < table->column_count; i++)
        if (table_shows(table, i, TABLE_FOR_PEOPLE))
            buffer_puts(text, table_is_text(table->columns[i].kind) ? "| :--- " : "| ---: ");
    buffer_puts(text, "|\n");

    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            if (!table_shows(table, i, TABLE_FOR_PEOPLE))
                continue;
            buffer_puts(text, "| ");
            markdown_add_cell(text, table->columns[i].kind, table_cell(table, row, i), options);
            buffer_putc(text, ' ');
        }
        buffer_puts(text, "|\n");
        if (!output_drain(text, out, err))
            return false;
    }
    return true;
}

/* Nothing may stand directly under a table: it would be treated as a row. */
static bool markdown_print_table(const struct table *table, const struct print_options *options,
                                 struct buffer *text, FILE *out, struct tpa_error *err)
{
    if (table->folds) {
        buffer_puts(text, "<details open><summary>");
        escape_html(text, table->title, strlen(table->title));
        buffer_puts(text, "</summary>\n\n"); /* Markdown begins again behind an empty line */
    } else if (table->title) {
        buffer_puts(text, "### ");
        markdown_add_text(text, table->title);
        buffer_puts(text, "\n\n");
    }
    bool has_columns = false;
    for (size_t i = 0; i < table->column_count; i++)
        has_columns |= table_shows(table, i, TABLE_FOR_PEOPLE);
    if (has_columns && !print_rows(table, options, text, out, err))
        return false;
    if (table->footers.count) {
        if (has_columns)
            buffer_putc(text, '\n');
        for (size_t i = 0; i < table->footers.count; i++) {
            const struct table_footer *footer = &table->footers.at[i];
            buffer_puts(text, "- ");
            markdown_add_text(text, footer->title);
            buffer_puts(text, ": ");
            markdown_add_cell(text, footer->kind, &footer->value, options);
            buffer_putc(text, '\n');
        }
    }
    if (table->row_count < table->total_rows)
        buffer_printf(text, "\n%zu of %zu rows; `--limit 0` shows all.\n", table->row_count,
                      table->total_rows);
    if (table->folds)
        buffer_puts(text, "\n</details>\n");
    return true;
}

/* Those that stand above the tables, or those below, each a quotation; how many there were. */
static size_t markdown_add_notices(const struct result *result, bool above, bool apart, struct buffer *text)
{
    size_t count = 0;
    for (size_t i = 0; i < result->notices.count; i++) {
        if ((notice_place(&result->notices.at[i]) < NOTICE_BELOW) != above)
            continue;
        struct buffer notice = { 0 };
        figure_add_notice(&notice, &result->notices.at[i]);
        buffer_puts(text, count || apart ? "\n> " : "> ");
        escape_markdown(text, notice.at, notice.count);
        buffer_putc(text, '\n');
        buffer_release(&notice);
        count++;
    }
    return count;
}

static bool print_markdown(const struct result *result, const struct print_options *options, FILE *out,
                           struct tpa_error *err)
{
    struct buffer text = { 0 };
    bool ok = true;
    size_t before = markdown_add_notices(result, true, false, &text);
    for (size_t i = 0; i < result->tables.count && ok; i++) {
        if (i + before)
            buffer_putc(&text, '\n');
        ok = markdown_print_table(result->tables.at[i], options, &text, out, err);
    }
    markdown_add_notices(result, false, result->tables.count + before > 0, &text);
    return output_finish(ok, &text, out, err);
}

const struct printer printer_markdown = { "md", "GitHub tables, for issues and pull requests",
                                          print_markdown };
