/* facts_file.c - see facts_file.h. Tables and columns are those of facts_tables. */
#include "figures/facts_file.h"

#include "report/arrow_stream.h"
#include <inttypes.h>
#include <xxhash.h>

enum { MOST_COLUMNS = 64, BATCH_ROWS = 65536 };

static const char version_key[] = "tpa.facts", table_key[] = "tpa.table", check_key[] = "check";

/* ---- writing ---- */

static void add_value(struct arrow_column *out, const struct facts *facts, const struct facts_column *column,
                      const char *row)
{
    int64_t number;
    name_id id;
    struct facts_bytes bytes;
    switch (column->type) {
    case FACTS_INT64:
        memcpy(&number, row + column->offset, sizeof number);
        if (number == FACTS_MISSING)
            arrow_add_missing(out);
        else
            arrow_add_int(out, number);
        return;
    case FACTS_TEXT:
        memcpy(&id, row + column->offset, sizeof id);
        if (id == NAME_NONE)
            arrow_add_missing(out);
        else
            arrow_add_text(out, names_text(facts->texts, id), names_length(facts->texts, id));
        return;
    case FACTS_BYTES:
        memcpy(&bytes, row + column->offset, sizeof bytes);
        if (bytes.at)
            arrow_add_text(out, bytes.at, bytes.len);
        else
            arrow_add_missing(out);
    }
}

/* Where messages go. */
struct writing {
    struct buffer *out;
    FILE *file;  /* gets the content of OUT after each message; NULL: it stays in OUT */
    size_t from; /* where in OUT the current message begins */
    uint64_t sum;
    bool failed;
};

/* A message has been appended. */
static void end_message(struct writing *to)
{
    struct buffer *out = to->out;
    to->sum = XXH64(out->at + to->from, out->count - to->from, to->sum);
    if (to->file) {
        to->failed = to->failed || fwrite(out->at, 1, out->count, to->file) != out->count;
        buffer_clear(out);
    }
    to->from = out->count;
}

static void write_schema(struct writing *to, const char *table, const struct arrow_field *fields,
                         size_t count)
{
    char version[16];
    snprintf(version, sizeof version, "%d", FACTS_VERSION);
    const struct arrow_fact facts[] = { { version_key, version }, { table_key, table } };
    arrow_append_schema(to->out, fields, count, facts, 2);
    end_message(to);
}

static void write_end(struct writing *to)
{
    arrow_append_end(to->out);
    end_message(to);
}

/* ROWS by SCHEMA, with texts of FACTS. */
static void write_rows(struct writing *to, const struct facts *facts, const struct facts_schema *schema,
                       const struct facts_rows *rows)
{
    struct arrow_column columns[MOST_COLUMNS] = { 0 };
    struct arrow_fact help[MOST_COLUMNS];
    struct arrow_field fields[MOST_COLUMNS];
    for (size_t c = 0; c < schema->column_count; c++) {
        columns[c].type = schema->columns[c].type == FACTS_INT64 ? ARROW_INT64 : ARROW_TEXT;
        help[c] = (struct arrow_fact){ "help", schema->columns[c].help };
        fields[c] = (struct arrow_field){
            .name = schema->columns[c].key, .type = columns[c].type, .facts = &help[c], .fact_count = 1
        };
    }
    write_schema(to, schema->key, fields, schema->column_count);
    for (size_t first = 0, end; !to->failed && first < rows->count; first = end) {
        end = rows->count - first > BATCH_ROWS ? first + BATCH_ROWS : rows->count;
        for (size_t c = 0; c < schema->column_count; c++) {
            arrow_clear(&columns[c]);
            for (size_t row = first; row < end; row++)
                add_value(&columns[c], facts, &schema->columns[c],
                          (const char *)rows->at + row * schema->row_size);
        }
        arrow_append_batch(to->out, columns, schema->column_count);
        end_message(to);
    }
    write_end(to);
    for (size_t c = 0; c < schema->column_count; c++)
        arrow_release(&columns[c]);
}

/* The checksum of all messages until now. False if writing failed. */
static bool write_check(struct writing *to)
{
    struct arrow_column sum = { .type = ARROW_INT64 };
    const struct arrow_fact help = {
        "help", "XXH64 of the messages before this table, each seeded with that of the one before"
    };
    const struct arrow_field field = {
        .name = "xxh64", .type = ARROW_INT64, .facts = &help, .fact_count = 1
    };
    arrow_add_int(&sum, (int64_t)to->sum);
    write_schema(to, check_key, &field, 1);
    arrow_append_batch(to->out, &sum, 1);
    end_message(to);
    write_end(to);
    arrow_release(&sum);
    return !to->failed && (!to->file || fflush(to->file) == 0);
}

static bool write_facts(struct writing to, const struct facts *facts)
{
    for (size_t t = 0; t < FACTS_TABLES; t++)
        write_rows(&to, facts, &facts_tables[t], &facts->tables[t]);
    return write_check(&to);
}

void facts_write(const struct facts *facts, struct buffer *out)
{
    write_facts((struct writing){ .out = out, .from = out->count }, facts);
}

bool facts_save(const struct facts *facts, FILE *file)
{
    SCOPED struct buffer out = { 0 };
    bool good = write_facts((struct writing){ .out = &out, .file = file }, facts);
    return good;
}

bool facts_save_rows(const struct facts *facts, const struct facts_schema *schema,
                     const struct facts_rows *rows, FILE *file)
{
    SCOPED struct buffer out = { 0 };
    struct writing to = { .out = &out, .file = file };
    write_rows(&to, facts, schema, rows);
    return write_check(&to);
}

/* ---- reading ---- */

bool facts_look_like(const char *bytes, size_t len)
{
    return len >= 8 && memcmp(bytes, "\xff\xff\xff\xff", 4) == 0;
}

/* *NUMBER gets the version of the current stream. */
static bool check_version(const struct arrow_reader *reader, long *number, struct tpa_error *err)
{
    struct text version = arrow_fact(reader, version_key);
    char digits[16];
    if (!version.at || version.len == 0 || version.len >= sizeof digits) {
        tpa_fail(err, 0, "this is an Arrow stream, but does not hold facts of tpa");
        return tpa_hint(err, "tpa facts TRACE -o FILE makes some");
    }
    memcpy(digits, version.at, version.len);
    digits[version.len] = '\0';
    char *end;
    *number = strtol(digits, &end, 10);
    if (*end || *number < 1)
        return tpa_fail(err, 0, "the version of these facts, \"%s\", is not a number", digits);
    if (*number > FACTS_VERSION) {
        tpa_fail(err, 0, "these facts are of version %ld, and this tpa knows versions up to %d", *number,
                 FACTS_VERSION);
        return tpa_hint(err, "use the tpa that made them, or a newer one");
    }
    return true;
}

/* Is the current stream a table of this name? */
static bool is_table(const struct arrow_reader *reader, const char *key)
{
    struct text is = arrow_fact(reader, table_key);
    return is.at && is.len == strlen(key) && memcmp(is.at, key, is.len) == 0;
}

/* The table of the current stream; FACTS_TABLES: unknown. */
static enum facts_table table_of(const struct arrow_reader *reader)
{
    for (size_t t = 0; t < FACTS_TABLES; t++)
        if (is_table(reader, facts_tables[t].key))
            return (enum facts_table)t;
    return FACTS_TABLES;
}

/* The field of the stream that holds COLUMN; SIZE_MAX: none. */
static size_t facts_file_field_of(const struct arrow_reader *reader, const struct facts_column *column)
{
    enum arrow_read_type type = column->type == FACTS_INT64 ? ARROW_READ_INT64 : ARROW_READ_TEXT;
    size_t len = strlen(column->key);
    for (size_t f = 0; f < reader->fields.count; f++) {
        const struct arrow_read_field *field = &reader->fields.at[f];
        if (field->type == type && field->name.at && field->name.len == len &&
            memcmp(field->name.at, column->key, len) == 0)
            return f;
    }
    return SIZE_MAX;
}

static void set_value(struct facts *facts, const struct facts_column *column, char *row,
                      const struct arrow_batch *batch, size_t field, size_t at)
{
    if (column->type == FACTS_INT64) {
        int64_t number = field == SIZE_MAX ? FACTS_MISSING : arrow_int(batch, field, at);
        memcpy(row + column->offset, &number, sizeof number);
        return;
    }
    struct text text = field == SIZE_MAX ? (struct text){ 0 } : arrow_text(batch, field, at);
    if (column->type == FACTS_TEXT) {
        name_id id = text.at ? names_add(facts->texts, text.at, text.len) : NAME_NONE;
        memcpy(row + column->offset, &id, sizeof id);
    } else {
        struct facts_bytes bytes = { text.at ? arena_strndup(&facts->arena, text.at, text.len) : NULL,
                                     text.len };
        memcpy(row + column->offset, &bytes, sizeof bytes);
    }
}

/* Pass each row of the current stream, read by SCHEMA, to ADD, with texts and bytes of FACTS; if SCHEMA is NULL, skip
 * it. */
static bool read_table(struct facts *facts, struct arrow_reader *reader, const struct facts_schema *schema,
                       void (*add)(void *context, const void *row), void *context, struct tpa_error *err)
{
    size_t fields[MOST_COLUMNS] = { 0 };
    for (size_t c = 0; schema && c < schema->column_count; c++)
        fields[c] = facts_file_field_of(reader, &schema->columns[c]);
    if (schema && fields[0] == SIZE_MAX)
        return tpa_fail(err, reader->at, "table %s has no column \"recording\"", schema->key);
    struct arrow_batch batch = { 0 };
    SCOPED char *row = mem_zalloc(1, schema ? schema->row_size : 1);
    while (arrow_read_batch(reader, &batch, err))
        for (size_t i = 0; schema && i < batch.rows; i++) {
            for (size_t c = 0; c < schema->column_count; c++)
                set_value(facts, &schema->columns[c], row, &batch, fields[c], i);
            add(context, row);
        }
    VEC_FREE(&batch.columns);
    return !err->failed;
}

struct target {
    struct facts *facts;
    enum facts_table table;
};

static void add_to_table(void *context, const void *row)
{
    const struct target *target = context;
    facts_add(target->facts, target->table, row);
}

/* The current stream, which begins where the sum of the messages before it is SUM, is the table "check". */
static bool read_check(struct arrow_reader *reader, uint64_t sum, struct tpa_error *err)
{
    struct arrow_batch batch = { 0 };
    int64_t at = reader->at, rows = 0, recorded = 0;
    bool is_number = reader->fields.count == 1 && reader->fields.at[0].type == ARROW_READ_INT64;
    while (arrow_read_batch(reader, &batch, err))
        for (size_t i = 0; is_number && i < batch.rows; i++, rows++)
            recorded = arrow_int(&batch, 0, i);
    VEC_FREE(&batch.columns);
    arrow_begin_sum(reader);
    if (err->failed || (rows == 1 && (uint64_t)recorded == sum))
        return !err->failed;
    tpa_fail(err, at,
             "the facts before this place are damaged: their checksum is %016" PRIx64 ", and %016" PRIx64
             " was written",
             sum, (uint64_t)recorded);
    return tpa_hint(err, "copy them once more, or make them again with tpa facts");
}

/* Pass each stream of SOURCE that holds a table to READ, and check what was written at once by its checksum. Returns the
 * version of the last stream; check ERR. */
static long read_streams(struct source *source,
                         bool (*read)(void *context, struct arrow_reader *reader, struct tpa_error *err),
                         void *context, struct tpa_error *err)
{
    struct arrow_reader reader;
    long version = 0;
    bool checked = true;
    arrow_reader_init(&reader, source);
    while (!err->failed && arrow_read_schema(&reader, err)) {
        if (!check_version(&reader, &version, err))
            break;
        checked = version < 5 || is_table(&reader, check_key);
        if (version >= 5 && checked)
            read_check(&reader, reader.sum, err);
        else
            read(context, &reader, err);
    }
    if (!err->failed && !checked) {
        tpa_fail(err, reader.at, "the file ends before its checksum");
        tpa_hint(err, "it was cut short; make it again");
    }
    arrow_reader_release(&reader);
    return version;
}

/* The rows that facts_read_rows passes on. */
struct passing {
    struct facts *facts;
    const struct facts_schema *schema;
    void (*add)(void *context, const void *row);
    void *context;
};

static bool pass_rows(void *context, struct arrow_reader *reader, struct tpa_error *err)
{
    const struct passing *to = context;
    return read_table(to->facts, reader, is_table(reader, to->schema->key) ? to->schema : NULL, to->add,
                      to->context, err);
}

bool facts_read_rows(struct facts *facts, const struct facts_schema *schema, struct source *source,
                     void (*add)(void *context, const void *row), void *context, struct tpa_error *err)
{
    read_streams(source, pass_rows, &(struct passing){ facts, schema, add, context }, err);
    return !err->failed;
}

size_t facts_begin_with(struct source *source, const char *const keys[], size_t count)
{
    struct arrow_reader reader;
    struct tpa_error err = { 0 };
    size_t k = 0;
    arrow_reader_init(&reader, source);
    bool good = arrow_read_schema(&reader, &err);
    while (k < count && !(good && is_table(&reader, keys[k])))
        k++;
    arrow_reader_release(&reader);
    return k;
}

/* Reject rows of a recording that is missing. */
static bool check_recordings(const struct facts *facts, struct tpa_error *err)
{
    SCOPED_OBJECT struct names *known = names_open();
    const struct facts_recording *recordings = facts_rows(facts, FACTS_RECORDINGS);
    for (size_t i = 0; i < facts->tables[FACTS_RECORDINGS].count; i++)
        names_add(known, (const char *)&recordings[i].recording, sizeof recordings[i].recording);
    bool good = names_count(known) == facts->tables[FACTS_RECORDINGS].count;
    for (size_t t = 0; t < FACTS_TABLES && good; t++)
        for (size_t i = 0; i < facts->tables[t].count && good; i++)
            good = names_find(known, (const char *)facts->tables[t].at + i * facts_tables[t].row_size,
                              sizeof(int64_t)) != NAME_NONE;
    return good ||
           tpa_fail(err, TPA_NOWHERE, "the facts have rows of a recording that is not in them, or one twice");
}

/* The tables that facts_read reads. */
struct tables_read {
    struct facts *facts;
    size_t seen; /* a bit for each table */
};

static bool read_known_table(void *context, struct arrow_reader *reader, struct tpa_error *err)
{
    struct tables_read *read = context;
    enum facts_table table = table_of(reader);
    bool known = table < FACTS_TABLES;
    struct target target = { read->facts, table };
    if (!read_table(read->facts, reader, known ? &facts_tables[table] : NULL, add_to_table, &target, err))
        return false;
    read->seen |= known ? (size_t)1 << table : 0;
    return true;
}

bool facts_read(struct facts *facts, struct source *source, struct tpa_error *err)
{
    struct tables_read read = { .facts = facts_open() };
    if (read_streams(source, read_known_table, &read, err) < 4) /* which had none */
        read.seen |= (size_t)1 << FACTS_OPERATIONS;
    if (!err->failed && read.seen != ((size_t)1 << FACTS_TABLES) - 1) {
        tpa_fail(err, TPA_NOWHERE, "the file ends before all tables were there");
        tpa_hint(err, "it was cut short; make it again");
    }
    if (!err->failed && check_recordings(read.facts, err)) {
        facts_check(read.facts);
        facts_collect(facts, read.facts);
    }
    arena_free(read.facts);
    return !err->failed;
}
