/*
 * csv.c - rows for spreadsheets and data frames, by RFC 4180 but with LF line ends.
 *
 * The first line holds the columns' keys, as in JSON. Figures are exact and without unit: nanoseconds, bytes, shares from
 * 0 to 1, true and false; a missing cell is empty. Several tables follow one another, each after a line "# key" and
 * with an empty line between; a single table comes bare. Footers are in no row, so only other formats have them;
 * notices are printed by the caller (see rows_only of struct printer).
 */
#include "report/printer.h"

#include "base/escape.h"
#include "report/exact.h"
#include "report/output.h"
#include <math.h>

static void csv_add_cell(struct buffer *text, enum table_kind kind, const union table_cell *cell)
{
    if (table_cell_is_missing(cell, kind))
        return;
    if (table_is_text(kind))
        escape_csv(text, cell->text.at, cell->text.len);
    else if (table_is_number(kind) && isinf(cell->f))
        buffer_puts(text, cell->f < 0 ? "-inf" : "inf");
    else if (table_is_number(kind))
        exact_add_double(text, cell->f);
    else if (kind == TABLE_BOOL)
        buffer_puts(text, cell->i ? "true" : "false");
    else
        exact_add_integer(text, cell->i);
}

static bool csv_print_table(const struct table *table, struct buffer *text, FILE *out, struct tpa_error *err)
{
    struct buffer key = { 0 };
    bool first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        if (!table_shows(table, i, TABLE_FOR_PROGRAMS))
            continue;
        if (!first)
            buffer_putc(text, ',');
        first = false;
        buffer_clear(&key);
        exact_add_key(&key, column->key, column->kind);
        escape_csv(text, key.at, key.count);
    }
    buffer_release(&key);
    buffer_putc(text, '\n');

    for (size_t row = 0; row < table->row_count; row++) {
        size_t row_start = text->count;
        first = true;
        for (size_t i = 0; i < table->column_count; i++) {
            if (!table_shows(table, i, TABLE_FOR_PROGRAMS))
                continue;
            if (!first)
                buffer_putc(text, ',');
            first = false;
            csv_add_cell(text, table->columns[i].kind, table_cell(table, row, i));
        }
        if (text->count == row_start)
            buffer_puts(text, "\"\""); /* the only cell is empty: an empty line would not be a row */
        buffer_putc(text, '\n');
        if (!output_drain(text, out, err))
            return false;
    }
    return true;
}

/* A table that is all footers has no rows to write; its figures become rows of key and value. */
static void print_figures(const struct table *table, struct buffer *text)
{
    struct buffer key = { 0 };
    buffer_puts(text, "key,value\n");
    for (size_t i = 0; i < table->footers.count; i++) {
        const struct table_footer *footer = &table->footers.at[i];
        buffer_clear(&key);
        exact_add_key(&key, footer->key, footer->kind);
        escape_csv(text, key.at, key.count);
        buffer_putc(text, ',');
        csv_add_cell(text, footer->kind, &footer->value);
        buffer_putc(text, '\n');
    }
    buffer_release(&key);
}

static bool print_csv(const struct result *result, const struct print_options *options, FILE *out,
                      struct tpa_error *err)
{
    (void)options;
    struct buffer text = { 0 };
    bool ok = true;
    for (size_t i = 0; i < result->tables.count && ok; i++) {
        const struct table *table = result->tables.at[i];
        if (result->tables.count > 1) {
            buffer_puts(&text, i ? "\n# " : "# ");
            escape_csv(&text, table->key, strlen(table->key));
            buffer_putc(&text, '\n');
        }
        if (table->column_count)
            ok = csv_print_table(table, &text, out, err);
        else
            print_figures(table, &text);
    }
    return output_finish(ok, &text, out, err);
}

const struct printer printer_csv = { "csv",
                                     "rows for spreadsheets and data frames",
                                     print_csv,
                                     .rows_only = true,
                                     .joins_tables = true,
                                     .for_programs = true,
                                     .ending = ".csv" };
