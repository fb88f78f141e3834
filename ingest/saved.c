/*
 *     {"schema": "tpa.top/1", "tables": [{"key": "...", "title": "...", "columns": [{"key": "...", "kind": "ns", "title":
 *     "...", "help": "..."}, ...], "rows": [{"name": "...", ...}, ...], "total_rows": 312, "footer": {...}}, ...],
 *     "notices": [{"kind": "...", "count": 1, "text": "...", "file": null, "offset": null}, ...]}
 *
 * The files are written by tpa itself, so the reader is strict: a row has every column exactly once, and integers are
 * integers. This also limits the memory for a malicious file to a few times its size. Unknown keys are skipped: they
 * may come from a newer tpa of the same schema.
 */
#include "ingest/saved.h"

#include "base/quantity.h"
#include "ingest/formats.h"
#include "ingest/json_text.h"

/* tpa writes no larger tables. */
enum { MOST_COLUMNS = 256, MOST_TABLES = 1024 };

/* The first bytes, which distinguish it from any trace. */
static const char beginning[] = "{\"schema\": \"tpa.";

int saved_sniff(const char *bytes, size_t len)
{
    size_t need = sizeof beginning - 1, at = 0;
    for (size_t i = 0; i < need; i++) { /* blanks between the words do not matter */
        if (beginning[i] == ' ')
            continue;
        at = json_behind_blanks(bytes, len, at);
        if (at == len || bytes[at++] != beginning[i])
            return 0;
    }
    return 100;
}

/* ---- tokens ---- */

struct reader {
    struct json_pull in;
    const char *start;
    struct buffer text; /* the string read last */
    struct result *result;
    struct tpa_error *err;
};

static bool bad(struct reader *reader, const char *expected)
{
    const char *at = reader->in.at;
    while (at < reader->in.end && json_is_blank(*at))
        at++;
    if (at == reader->in.end)
        tpa_fail(reader->err, at - reader->start, "the saved result ends where %s was expected", expected);
    else if (*at > ' ' && *at < 0x7f)
        tpa_fail(reader->err, at - reader->start, "'%c' where %s was expected", *at, expected);
    else
        tpa_fail(reader->err, at - reader->start, "byte 0x%02x where %s was expected", (unsigned char)*at,
                 expected);
    return false;
}

static bool saved_enter(struct reader *reader, char bracket, const char *expected)
{
    return json_enter(&reader->in, bracket) || bad(reader, expected);
}

/* After the loop over an object or array: did it end as it should? */
static bool left(struct reader *reader, char bracket)
{
    const char *at = reader->in.at;
    return (at > reader->start && at[-1] == bracket) ||
           bad(reader, bracket == '}' ? "a key or '}'" : "a value or ']'");
}

static bool saved_take(struct reader *reader, struct json_text *value)
{
    return json_read(&reader->in, value) || bad(reader, "a value");
}

static bool is_null(const struct json_text *value)
{
    return !value->is_string && json_text_is(value, "null");
}

/* Read the next string, unescaped, into reader->text; null is "" and *IS_NULL. */
static bool saved_read_string(struct reader *reader, bool *null, const char *what)
{
    struct json_text value;
    const char *before = reader->in.at;
    if (!saved_take(reader, &value))
        return false;
    *null = is_null(&value);
    buffer_clear(&reader->text);
    buffer_puts(&reader->text, ""); /* ensure that there is a text, possibly empty */
    if (*null)
        return true;
    if (!value.is_string || !json_unescape(value.at, value.at + value.len, &reader->text)) {
        reader->in.at = before;
        return bad(reader, what);
    }
    if (!reader->text.at)
        buffer_puts(&reader->text, "");
    return true;
}

/* Copy the text to ARENA. */
static const char *keep(struct reader *reader, struct arena *arena)
{
    return arena_strndup(arena, reader->text.at ? reader->text.at : "", reader->text.count);
}

static bool saved_read_integer(struct reader *reader, int64_t *value)
{
    struct json_text text;
    const char *before = reader->in.at;
    if (!saved_take(reader, &text))
        return false;
    if (!text.is_string && quantity_parse_integer(text.at, text.len, value))
        return true;
    reader->in.at = before;
    return bad(reader, "an integer");
}

/* ---- cells ---- */

static bool read_double(struct reader *reader, double *value)
{
    struct json_text text;
    const char *before = reader->in.at;
    if (!saved_take(reader, &text))
        return false;
    if (!text.is_string && json_decimal(text.at, text.at + text.len, value))
        return true;
    reader->in.at = before;
    return bad(reader, "a number");
}

static bool read_bool(struct reader *reader, int64_t *value)
{
    struct json_text text;
    const char *before = reader->in.at;
    if (!saved_take(reader, &text))
        return false;
    *value = !text.is_string && json_text_is(&text, "true");
    if (*value || (!text.is_string && json_text_is(&text, "false")))
        return true;
    reader->in.at = before;
    return bad(reader, "true or false");
}

/* Is null next? Consumes it. */
static bool read_null(struct reader *reader)
{
    struct json_text text;
    struct json_pull ahead = reader->in;
    if (!json_read(&ahead, &text) || !is_null(&text))
        return false;
    reader->in = ahead;
    return true;
}

static bool read_cell(struct reader *reader, struct table *table, size_t row, size_t column)
{
    enum table_kind kind = table->columns[column].kind;
    union table_cell *cell = table_cell(table, row, column);
    if (read_null(reader))
        return true;
    if (table_is_text(kind)) {
        bool null;
        if (!saved_read_string(reader, &null, "a string"))
            return false;
        table_set_text(table, row, column, reader->text.at ? reader->text.at : "", reader->text.count);
        return true;
    }
    if (table_is_number(kind))
        return read_double(reader, &cell->f);
    return kind == TABLE_BOOL ? read_bool(reader, &cell->i) : saved_read_integer(reader, &cell->i);
}

/* ---- columns ---- */

static bool kind_called(const char *word, enum table_kind *kind)
{
    for (int i = TABLE_NAME; i <= TABLE_BOOL; i++)
        if (strcmp(word, table_kind_name((enum table_kind)i)) == 0) {
            *kind = (enum table_kind)i;
            return true;
        }
    return false;
}

/* One column of the list; its texts live as long as the result. */
static bool read_column(struct reader *reader, struct table_column *column)
{
    struct json_text key;
    bool null, has_kind = false;
    *column = (struct table_column){ .key = "", .title = "", .help = "" };
    if (!saved_enter(reader, '{', "a column"))
        return false;
    while (json_next_key(&reader->in, &key)) {
        bool is_kind = json_text_is(&key, "kind");
        const char **text = json_text_is(&key, "key")     ? &column->key
                            : json_text_is(&key, "title") ? &column->title
                            : json_text_is(&key, "help")  ? &column->help
                                                          : NULL;
        const char *before = reader->in.at;
        if (!text && !is_kind) {
            if (!json_skip(&reader->in))
                return bad(reader, "a value");
            continue;
        }
        if (!saved_read_string(reader, &null, "a string"))
            return false;
        if (text)
            *text = keep(reader, &reader->result->arena);
        else if (!(has_kind = kind_called(reader->text.at, &column->kind))) {
            reader->in.at = before;
            return bad(reader, "the kind of a column, such as \"ns\"");
        }
    }
    if (!left(reader, '}'))
        return false;
    size_t len = strlen(column->key);
    if (len == 0 || !has_kind)
        return bad(reader, "a column with key and kind before this");
    if (table_is_time(column->kind)) { /* the key of a time ends in _ns where programs read it */
        if (len < 4 || strcmp(column->key + len - 3, "_ns") != 0)
            return bad(reader, "a key that ends in _ns, for a column of times, before this");
        column->key = arena_strndup(&reader->result->arena, column->key, len - 3);
    }
    return true;
}

static bool read_columns(struct reader *reader, struct table_column *columns, size_t *count)
{
    *count = 0;
    if (!saved_enter(reader, '[', "a list of columns"))
        return false;
    while (json_next_element(&reader->in)) {
        if (*count == MOST_COLUMNS)
            return bad(reader, "no more than 256 columns");
        if (!read_column(reader, &columns[(*count)++]))
            return false;
    }
    return left(reader, ']');
}

/* ---- rows ---- */

/* Is KEY the JSON key of COLUMN? */
static bool is_key_of(const struct json_text *key, const struct table_column *column)
{
    size_t len = strlen(column->key);
    if (!table_is_time(column->kind))
        return key->len == len && memcmp(key->at, column->key, len) == 0;
    return key->len == len + 3 && memcmp(key->at, column->key, len) == 0 &&
           memcmp(key->at + len, "_ns", 3) == 0;
}

/* Read a row: the columns in order, each once. */
static bool saved_read_row(struct reader *reader, struct table *table)
{
    struct json_text key;
    if (!saved_enter(reader, '{', "a row"))
        return false;
    size_t row = table_add_row(table), column = 0;
    for (; column < table->column_count; column++) {
        const char *before = reader->in.at;
        if (!json_next_key(&reader->in, &key) || !is_key_of(&key, &table->columns[column])) {
            reader->in.at = before;
            return tpa_fail(reader->err, before - reader->start,
                            "this row has no \"%s%s\" where it was expected", table->columns[column].key,
                            table_is_time(table->columns[column].kind) ? "_ns" : "");
        }
        if (!read_cell(reader, table, row, column))
            return false;
    }
    if (json_next_key(&reader->in, &key))
        return tpa_fail(reader->err, key.at - reader->start, "this row has more than its columns");
    return left(reader, '}');
}

static bool saved_read_rows(struct reader *reader, struct table *table)
{
    if (table->column_count == 0) { /* a table of footers: rows are empty */
        return json_skip(&reader->in) || bad(reader, "a list of rows");
    }
    if (!saved_enter(reader, '[', "a list of rows"))
        return false;
    while (json_next_element(&reader->in))
        if (!saved_read_row(reader, table))
            return false;
    return left(reader, ']');
}

/* ---- footers ---- */

static bool read_footer_value(struct reader *reader, struct table *table, const char *key)
{
    size_t len = strlen(key);
    bool is_time = len > 3 && strcmp(key + len - 3, "_ns") == 0;
    struct json_text value;
    struct json_pull ahead = reader->in;
    if (is_time)
        key = arena_strndup(&reader->result->arena, key, len - 3);
    if (!json_read(&ahead, &value))
        return bad(reader, "a value");
    if (value.is_string) {
        bool null;
        if (!saved_read_string(reader, &null, "a string"))
            return false;
        table_add_text_footer(table, key, key, reader->text.at ? reader->text.at : "", reader->text.count);
    } else if (json_text_is(&value, "true") || json_text_is(&value, "false")) {
        reader->in = ahead;
        table_add_footer(table, key, key, TABLE_BOOL, table_int(json_text_is(&value, "true")));
    } else if (is_null(&value)) {
        reader->in = ahead;
        table_add_footer(table, key, key, is_time ? TABLE_NS : TABLE_COUNT, table_int(TABLE_INT_MISSING));
    } else if (is_time || !(memchr(value.at, '.', value.len) || memchr(value.at, 'e', value.len))) {
        int64_t integer = 0;
        if (!saved_read_integer(reader, &integer))
            return false;
        table_add_footer(table, key, key, is_time ? TABLE_NS : TABLE_COUNT, table_int(integer));
    } else {
        double number = 0;
        if (!read_double(reader, &number))
            return false;
        table_add_footer(table, key, key, TABLE_NUMBER, table_number(number));
    }
    return true;
}

static bool read_footers(struct reader *reader, struct table *table)
{
    struct json_text key;
    if (!saved_enter(reader, '{', "an object of footers"))
        return false;
    while (json_next_key(&reader->in, &key)) {
        if (table->footers.count == MOST_COLUMNS)
            return bad(reader, "no more than 256 footers");
        if (!read_footer_value(reader, table, arena_strndup(&reader->result->arena, key.at, key.len)))
            return false;
    }
    return left(reader, '}');
}

/* ---- tables ---- */

/* The table is created when its columns are known; values before them are kept. */
struct table_parts {
    const char *key, *title;
    struct table *table;
};

static bool read_part(struct reader *reader, const struct json_text *key, struct table_parts *parts)
{
    bool null;
    if (json_text_is(key, "key") || json_text_is(key, "title")) {
        bool is_title = json_text_is(key, "title");
        if (!saved_read_string(reader, &null, "a string"))
            return false;
        *(is_title ? &parts->title : &parts->key) =
            is_title && null ? NULL : keep(reader, &reader->result->arena);
    } else if (json_text_is(key, "columns") && !parts->table) {
        SCOPED struct table_column *columns = mem_zalloc(MOST_COLUMNS, sizeof *columns);
        size_t count;
        bool good = read_columns(reader, columns, &count);
        if (good) {
            parts->table = table_open(parts->key, parts->title, columns, count);
            result_add_table(reader->result, parts->table);
        }
        return good;
    } else if (json_text_is(key, "rows")) {
        return parts->table ? saved_read_rows(reader, parts->table)
                            : bad(reader, "the columns before the rows");
    } else if (json_text_is(key, "footer")) {
        return parts->table ? read_footers(reader, parts->table)
                            : bad(reader, "the columns before the footer");
    } else if (json_text_is(key, "total_rows") && parts->table) {
        int64_t total;
        if (!saved_read_integer(reader, &total))
            return false;
        if (total > (int64_t)parts->table->row_count)
            parts->table->total_rows = (size_t)total;
    } else {
        return json_skip(&reader->in) || bad(reader, "a value");
    }
    return true;
}

static bool saved_read_tables(struct reader *reader)
{
    if (!saved_enter(reader, '[', "a list of tables"))
        return false;
    while (json_next_element(&reader->in)) {
        struct table_parts parts = { "", NULL, NULL };
        struct json_text key;
        if (reader->result->tables.count == MOST_TABLES)
            return bad(reader, "no more than 1024 tables");
        if (!saved_enter(reader, '{', "a table"))
            return false;
        while (json_next_key(&reader->in, &key))
            if (!read_part(reader, &key, &parts))
                return false;
        if (!left(reader, '}'))
            return false;
        if (!parts.table)
            return bad(reader, "a table with columns before this");
    }
    return left(reader, ']');
}

/* ---- notices ---- */

static bool read_notice(struct reader *reader)
{
    struct json_text key;
    const char *kind = "", *text = "", *file = NULL;
    int64_t count = 0, offset = TPA_NOWHERE;
    if (!saved_enter(reader, '{', "a notice"))
        return false;
    while (json_next_key(&reader->in, &key)) {
        const char **to = json_text_is(&key, "kind")   ? &kind
                          : json_text_is(&key, "text") ? &text
                          : json_text_is(&key, "file") ? &file
                                                       : NULL;
        int64_t *number = json_text_is(&key, "count")    ? &count
                          : json_text_is(&key, "offset") ? &offset
                                                         : NULL;
        bool null;
        if (to) {
            if (!saved_read_string(reader, &null, "a string"))
                return false;
            *to = null ? NULL : keep(reader, &reader->result->arena);
        } else if (number) {
            if (!read_null(reader) && !saved_read_integer(reader, number))
                return false;
        } else if (!json_skip(&reader->in)) {
            return bad(reader, "a value");
        }
    }
    result_add_notice(reader->result, kind ? kind : "", count, file, offset, "%s", text ? text : "");
    return left(reader, '}');
}

static bool read_notices(struct reader *reader)
{
    if (!saved_enter(reader, '[', "a list of notices"))
        return false;
    while (json_next_element(&reader->in))
        if (!read_notice(reader))
            return false;
    return left(reader, ']');
}

/* Schemas whose columns have another meaning than in their first version, and what they are now. */
static const char *const changed_schemas[] = { "tpa.whatif/2", NULL };

/* "tpa.top/1". */
static bool check_schema(struct reader *reader, const char *schema)
{
    const char *slash = strchr(schema, '/'), *version = "/1";
    if (strncmp(schema, "tpa.", 4) != 0 || !slash)
        return tpa_fail(reader->err, TPA_NOWHERE, "this is not a result that tpa saved");
    for (size_t i = 0; changed_schemas[i]; i++)
        if (strncmp(schema, changed_schemas[i], (size_t)(slash + 1 - schema)) == 0)
            version = strchr(changed_schemas[i], '/');
    if (strcmp(slash, version) == 0)
        return true;
    tpa_fail(reader->err, TPA_NOWHERE, "the result was saved as %.60s, and this tpa knows version %s of it",
             schema, version + 1);
    return tpa_hint(reader->err, "save it again with this tpa, or use the tpa that saved it");
}

static bool read_whole(struct reader *reader)
{
    struct json_text key;
    bool null;
    if (!saved_enter(reader, '{', "a saved result"))
        return false;
    while (json_next_key(&reader->in, &key)) {
        bool good;
        if (json_text_is(&key, "schema")) {
            good = saved_read_string(reader, &null, "the name of a schema");
            if (good)
                reader->result->schema = keep(reader, &reader->result->arena);
            good = good && check_schema(reader, reader->result->schema);
        } else if (json_text_is(&key, "tables")) {
            good = saved_read_tables(reader);
        } else if (json_text_is(&key, "notices")) {
            good = read_notices(reader);
        } else {
            good = json_skip(&reader->in) || bad(reader, "a value");
        }
        if (!good)
            return false;
    }
    return left(reader, '}');
}

struct result *saved_read(struct source *source, struct tpa_error *err)
{
    struct tpa_error ignored = { 0 };
    SCOPED struct buffer text = { 0 };
    char block[65536];
    int64_t got;
    while ((got = source_read(source, block, sizeof block, err)) > 0)
        buffer_add(&text, block, (size_t)got);
    buffer_puts(&text, ""); /* ends in a NUL, if it is empty too */
    struct reader reader = { .in = { text.at, text.at + text.count },
                             .start = text.at,
                             .result = result_open(""),
                             .err = err ? err : &ignored };
    bool good = got == 0 && text.count > 0 && read_whole(&reader);
    if (got == 0 && text.count == 0)
        tpa_fail(err, 0, "the file is empty");
    if (!good) {
        result_free(reader.result);
        reader.result = NULL;
    }
    buffer_release(&reader.text);
    return reader.result;
}

extern const struct format format_saved;
const struct format format_saved = {
    .name = "saved result",
    .description = "what tpa wrote with --format json, for tpa diff",
    .sniff = saved_sniff,
    .read_result = saved_read,
};
