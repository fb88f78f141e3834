/*
 * json.c - a result for programs: everything in it, exactly.
 *
 *     {"schema": "tpa.top/1", "tables": [
 *     {"key": "operators", "title": "Operators", "columns": [
 *     {"key": "name", "kind": "name", "title": "Name", "help": "..."},
 *     {"key": "cpu_time_total_ns", "kind": "ns", "title": "CPU total", "help": "..."}], "rows": [
 *     {"name": "aten::mm", "cpu_time_total_ns": 120500}], "total_rows": 312,
 *     "footer": {"self_cpu_time_total_ns": 1124000}}], "notices": [
 *     {"kind": "...", "count": 1, "text": "...", "file": "...", "offset": 123}]}
 *
 * One row is one line, so that line tools see rows too. Columns left out of text for their width or because they are
 * optional are here; only hidden ones are not. Missing cells, and infinite numbers, are null.
 */
#include "report/printer.h"

#include "report/exact.h"
#include "report/json_parts.h"
#include "report/output.h"
#include <stdlib.h>
#include <string.h>

void json_emit_cell(struct json_writer *json, enum table_kind kind, const union table_cell *cell)
{
    if (table_cell_is_missing(cell, kind))
        json_emit_null(json);
    else if (table_is_text(kind))
        json_emit_string(json, cell->text.at, cell->text.len);
    else if (table_is_number(kind))
        json_emit_double(json, cell->f);
    else if (kind == TABLE_BOOL)
        json_emit_bool(json, cell->i != 0);
    else
        json_emit_integer(json, cell->i);
}

static void write_columns(struct json_writer *json, const struct table *table)
{
    struct buffer key = { 0 };
    json_key(json, "columns");
    json_begin_array(json);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        if (!table_shows(table, i, TABLE_FOR_PROGRAMS))
            continue;
        buffer_clear(&key);
        exact_add_key(&key, column->key, column->kind);
        json_newline(json);
        json_begin_object(json);
        json_key(json, "key");
        json_emit_string(json, key.at, key.count);
        json_add_text(json, "kind", table_kind_name(column->kind));
        json_add_text(json, "title", column->title);
        json_add_text(json, "help", column->help);
        json_end_object(json);
    }
    json_end_array(json);
    buffer_release(&key);
}

/* The keys are quoted once. */
bool json_add_rows(struct json_writer *json, const struct table *table, FILE *out, struct tpa_error *err)
{
    struct shown {
        size_t column, key_at, key_len;
    } *shown = mem_alloc(mem_times(table->column_count + 1, sizeof *shown));
    struct buffer keys = { 0 }, key = { 0 };
    size_t count = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table_shows(table, i, TABLE_FOR_PROGRAMS))
            continue;
        size_t at = keys.count;
        buffer_clear(&key);
        exact_add_key(&key, table->columns[i].key, table->columns[i].kind);
        json_quote_key(&keys, key.at, key.count);
        shown[count++] = (struct shown){ i, at, keys.count - at };
    }

    bool ok = true;
    json_begin_array(json);
    for (size_t row = 0; row < table->row_count && ok; row++) {
        json_newline(json);
        json_begin_object(json);
        for (size_t i = 0; i < count; i++) {
            json_quoted_key(json, keys.at + shown[i].key_at, shown[i].key_len);
            json_emit_cell(json, table->columns[shown[i].column].kind,
                           table_cell(table, row, shown[i].column));
        }
        json_end_object(json);
        ok = !out || output_drain(json->text, out, err);
    }
    json_end_array(json);
    buffer_release(&keys);
    buffer_release(&key);
    free(shown);
    return ok;
}

void json_emit_footers(struct json_writer *json, const struct table *table)
{
    struct buffer key = { 0 };
    json_begin_object(json);
    for (size_t i = 0; i < table->footers.count; i++) {
        const struct table_footer *footer = &table->footers.at[i];
        buffer_clear(&key);
        exact_add_key(&key, footer->key, footer->kind);
        json_key(json, key.at);
        json_emit_cell(json, footer->kind, &footer->value);
    }
    json_end_object(json);
    buffer_release(&key);
}

static bool write_table(struct json_writer *json, const struct table *table, FILE *out, struct tpa_error *err)
{
    json_newline(json);
    json_begin_object(json);
    json_add_text(json, "key", table->key);
    json_add_text(json, "title", table->title);
    write_columns(json, table);
    json_key(json, "rows");
    if (!json_add_rows(json, table, out, err))
        return false;
    json_add_integer(json, "total_rows", (int64_t)table->total_rows);
    json_newline(json);
    json_key(json, "footer");
    json_emit_footers(json, table);
    json_end_object(json);
    return true;
}

void json_emit_notice(struct json_writer *json, const struct table_notice *notice, bool brief)
{
    json_begin_object(json);
    json_add_text(json, "kind", notice->kind);
    if (!brief || notice->count) {
        json_add_integer(json, "count", notice->count);
    }
    json_add_text(json, "text", notice->text);
    if (!brief || notice->file) {
        json_add_text(json, "file", notice->file);
    }
    if (!brief || notice->offset != TPA_NOWHERE) {
        json_key(json, "offset");
        if (notice->offset == TPA_NOWHERE)
            json_emit_null(json);
        else
            json_emit_integer(json, notice->offset);
    }
    if (notice->lacks) {
        struct buffer sorts = { 0 };
        lacks_append(&sorts, notice->lacks);
        json_add_text(json, "lacks", sorts.at);
        buffer_release(&sorts);
    }
    json_end_object(json);
}

void json_emit_notices(struct json_writer *json, const struct result *result)
{
    json_begin_array(json);
    for (size_t i = 0; i < result->notices.count; i++) {
        json_newline(json);
        json_emit_notice(json, &result->notices.at[i], false);
    }
    json_end_array(json);
}

void json_add_cannot(struct json_writer *json, const struct cannot_answer *cannot)
{
    enum { MOST = sizeof cannot->instead / sizeof *cannot->instead };
    if (!cannot->reason)
        return;
    json_key(json, "cannot_answer");
    json_begin_object(json);
    json_add_text(json, "reason", cannot->reason);
    json_add_text(json, "text", cannot->text);
    json_add_text(json, "needs", cannot->needs);
    json_key(json, "instead");
    json_begin_array(json);
    for (size_t i = 0; i < MOST && cannot->instead[i]; i++)
        json_emit_text(json, cannot->instead[i]);
    json_end_array(json);
    json_end_object(json);
}

static bool print_json(const struct result *result, const struct print_options *options, FILE *out,
                       struct tpa_error *err)
{
    (void)options;
    struct buffer text = { 0 };
    struct json_writer json = { .text = &text };
    bool ok = true;
    json_begin_object(&json);
    json_add_text(&json, "schema", result->schema);
    json_add_cannot(&json, &result->cannot);
    json_key(&json, "tables");
    json_begin_array(&json);
    for (size_t i = 0; i < result->tables.count && ok; i++)
        ok = write_table(&json, result->tables.at[i], out, err);
    if (ok) {
        json_end_array(&json);
        json_key(&json, "notices");
        json_emit_notices(&json, result);
        json_end_object(&json);
        buffer_putc(&text, '\n');
    }
    return output_finish(ok, &text, out, err);
}

const struct printer printer_json = { "json", "everything, exactly, for programs", print_json,
                                      .for_programs = true, .ending = ".json" };
