/*
 * arrow.c - a result as Arrow IPC streams, typed: what data frames and databases take without parsing.
 *
 * Each table is one stream; several follow one another, each directly after the end of the one before. A result
 * without tables is one stream without columns, so that there always is one to carry the notices. A table of figures only
 * is one row, with a column for each figure.
 *
 * What JSON has beside the rows is in the metadata of the schema: schema, table, title, total_rows and, as JSON, footer and
 * notices; of each column kind, unit, title and help.
 */
#include "report/printer.h"

#include "base/names.h"
#include "report/arrow_stream.h"
#include "report/exact.h"
#include "report/json_parts.h"
#include "report/output.h"
#include <math.h>

enum { ROWS_OF_BATCH = 65536, COLUMN_FACTS = 4 };

/* A column of the stream. */
struct shown {
    size_t column; /* of the table */
    enum table_kind kind;
    struct names *names; /* NAME: the distinct texts; else NULL */
};

struct stream {
    const struct table *table;
    size_t count;
    struct shown *shown;
    struct arrow_field *fields;
    struct arrow_column *columns;
    struct arena arena;
};

static enum arrow_type type_of(enum table_kind kind)
{
    switch (kind) {
    case TABLE_NAME: return ARROW_NAME;
    case TABLE_TEXT: return ARROW_TEXT;
    case TABLE_SHARE:
    case TABLE_RATE:
    case TABLE_NUMBER: return ARROW_DOUBLE;
    case TABLE_BOOL: return ARROW_BOOL;
    default: return ARROW_INT64;
    }
}

static const char *unit_of(enum table_kind kind)
{
    switch (kind) {
    case TABLE_NS:
    case TABLE_MOMENT: return "ns";
    case TABLE_BYTES: return "bytes";
    case TABLE_FLOPS: return "FLOP";
    default: return NULL;
    }
}

static void add_field(struct stream *stream, size_t column, const char *key, enum table_kind kind,
                      const char *title, const char *help)
{
    struct buffer name = { 0 };
    exact_add_key(&name, key, kind);
    struct arrow_fact *facts = arena_alloc(&stream->arena, COLUMN_FACTS * sizeof *facts);
    facts[0] = (struct arrow_fact){ "kind", table_kind_name(kind) };
    facts[1] = (struct arrow_fact){ "unit", unit_of(kind) };
    facts[2] = (struct arrow_fact){ "title", title };
    facts[3] = (struct arrow_fact){ "help", help };
    size_t i = stream->count++;
    stream->shown[i] = (struct shown){ column, kind, kind == TABLE_NAME ? names_open() : NULL };
    stream->fields[i] = (struct arrow_field){ .name = arena_strndup(&stream->arena, name.at, name.count),
                                              .type = type_of(kind),
                                              .facts = facts,
                                              .fact_count = COLUMN_FACTS };
    stream->columns[i].type = type_of(kind);
    buffer_release(&name);
}

/* The columns of TABLE; those of a table of figures are its figures. */
static struct stream stream_of(const struct table *table)
{
    struct stream stream = { .table = table };
    size_t most = table->column_count + table->footers.count;
    stream.shown = mem_zalloc(most + 1, sizeof *stream.shown);
    stream.fields = mem_zalloc(most + 1, sizeof *stream.fields);
    stream.columns = mem_zalloc(most + 1, sizeof *stream.columns);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct table_column *column = &table->columns[i];
        if (table_shows(table, i, TABLE_FOR_PROGRAMS))
            add_field(&stream, i, column->key, column->kind, column->title, column->help);
    }
    for (size_t i = 0; table->column_count == 0 && i < table->footers.count; i++) {
        const struct table_footer *footer = &table->footers.at[i];
        add_field(&stream, i, footer->key, footer->kind, footer->title, NULL);
    }
    return stream;
}

static void release(struct stream *stream)
{
    for (size_t i = 0; i < stream->count; i++) {
        names_free(stream->shown[i].names);
        arrow_release(&stream->columns[i]);
    }
    EACH(free, stream->shown, stream->fields, stream->columns);
    arena_release(&stream->arena);
}

static size_t row_count(const struct table *table)
{
    return table->column_count ? table->row_count : table->footers.count > 0;
}

static const union table_cell *cell_of(const struct table *table, size_t row, size_t column)
{
    return table->column_count ? table_cell(table, row, column) : &table->footers.at[column].value;
}

/* The number of TEXT in the dictionary of NAMES, where it is added the first time. */
static name_id code_of(struct names *names, const struct text *text)
{
    struct buffer valid = { 0 };
    arrow_add_utf8(&valid, text->at, text->len);
    name_id code = names_add(names, valid.at ? valid.at : "", valid.count);
    buffer_release(&valid);
    return code;
}

/* Collect the distinct names of each column, and see which texts need wide offsets. */
static void collect_texts(struct stream *stream)
{
    for (size_t i = 0; i < stream->count; i++) {
        const struct shown *shown = &stream->shown[i];
        size_t bytes = 0;
        for (size_t row = 0; row < row_count(stream->table) && table_is_text(shown->kind); row++) {
            const struct text *text = &cell_of(stream->table, row, shown->column)->text;
            if (text->at && shown->names)
                code_of(shown->names, text);
            bytes += text->at ? text->len : 0;
        }
        if (shown->names)
            bytes = names_bytes(shown->names);
        stream->fields[i].wide_texts = stream->columns[i].wide_texts = bytes > ARROW_TEXTS_MOST;
    }
}

static void append_names(const struct stream *stream, size_t field, struct buffer *out)
{
    const struct names *names = stream->shown[field].names;
    struct arrow_column texts = { .type = ARROW_TEXT, .wide_texts = stream->fields[field].wide_texts };
    for (name_id id = 0; id < names_count(names); id++)
        arrow_add_text(&texts, names_text(names, id), names_length(names, id));
    arrow_append_names(out, field, &texts);
    arrow_release(&texts);
}

static void arrow_add_cell(struct arrow_column *column, const struct shown *shown,
                           const union table_cell *cell)
{
    if (table_cell_is_missing(cell, shown->kind))
        arrow_add_missing(column);
    else if (shown->names)
        arrow_add_index(column, code_of(shown->names, &cell->text));
    else if (shown->kind == TABLE_TEXT)
        arrow_add_text(column, cell->text.at, cell->text.len);
    else if (table_is_number(shown->kind))
        arrow_add_double(column, cell->f);
    else if (shown->kind == TABLE_BOOL)
        arrow_add_bool(column, cell->i != 0);
    else
        arrow_add_int(column, cell->i);
}

static bool append_rows(struct stream *stream, struct buffer *text, FILE *out, struct tpa_error *err)
{
    size_t rows = stream->count ? row_count(stream->table) : 0;
    bool ok = true;
    for (size_t first = 0; first < rows && ok; first += ROWS_OF_BATCH) {
        size_t end = rows - first > ROWS_OF_BATCH ? first + ROWS_OF_BATCH : rows;
        for (size_t i = 0; i < stream->count; i++) {
            arrow_clear(&stream->columns[i]);
            for (size_t row = first; row < end; row++)
                arrow_add_cell(&stream->columns[i], &stream->shown[i],
                               cell_of(stream->table, row, stream->shown[i].column));
        }
        arrow_append_batch(text, stream->columns, stream->count);
        ok = output_drain(text, out, err);
    }
    return ok;
}

static void append_schema(const struct stream *stream, const struct result *result, struct buffer *out)
{
    struct buffer notices = { 0 }, footer = { 0 }, total = { 0 };
    json_emit_notices(&(struct json_writer){ .text = &notices }, result);
    json_emit_footers(&(struct json_writer){ .text = &footer }, stream->table);
    exact_add_integer(&total, (int64_t)stream->table->total_rows);
    const struct arrow_fact facts[] = {
        { "schema", result->schema }, { "table", stream->table->key }, { "title", stream->table->title },
        { "total_rows", total.at },   { "footer", footer.at },         { "notices", notices.at },
    };
    arrow_append_schema(out, stream->fields, stream->count, facts, sizeof facts / sizeof *facts);
    EACH(buffer_release, &notices, &footer, &total);
}

static bool arrow_append_table(const struct result *result, const struct table *table, struct buffer *text,
                               FILE *out, struct tpa_error *err)
{
    struct stream stream = stream_of(table);
    collect_texts(&stream);
    append_schema(&stream, result, text);
    for (size_t i = 0; i < stream.count; i++)
        if (stream.shown[i].names)
            append_names(&stream, i, text);
    bool ok = append_rows(&stream, text, out, err);
    arrow_append_end(text);
    release(&stream);
    return ok;
}

static bool print_arrow(const struct result *result, const struct print_options *options, FILE *out,
                        struct tpa_error *err)
{
    (void)options;
    static const struct table none = { 0 };
    struct buffer text = { 0 };
    bool ok = true;
    for (size_t i = 0; i < result->tables.count && ok; i++)
        ok = arrow_append_table(result, result->tables.at[i], &text, out, err);
    if (result->tables.count == 0)
        ok = arrow_append_table(result, &none, &text, out, err);
    return output_finish(ok, &text, out, err);
}

const struct printer printer_arrow = {
    "arrow",        "typed columns, for data frames and databases: Arrow IPC streams",
    print_arrow,    .for_programs = true,
    .binary = true, .ending = ".arrows"
};
