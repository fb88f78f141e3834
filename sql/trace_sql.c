/*
 * trace_sql.c - see trace_sql.h.
 *
 * Statements are prepared twice: first without a trace, to learn from SQLite which columns they read, so that the
 * reader decodes no others; then with it, so that the planner knows the number of rows.
 *
 * A function with options has columns that depend on these, which SQLite's own table-valued functions cannot have. So
 * gaps('--by op') is replaced in the text by the name of a table with its result: "gaps('--by op')" AS "gaps".
 */
#include "sql/trace_sql.h"

#include "analyze/selection.h"
#include "sql/parts.h"
#include "trace/span.h"
#include "base/moment.h"
#include "base/escape.h"
#include <ctype.h>
#include <math.h>
#include <time.h>

enum {
    STEPS_BETWEEN_LOOKS = 100000, /* of SQLite's machine: some milliseconds */
    LONGEST_STATEMENT = 1 << 20,  /* bytes */
    LONGEST_VALUE = 64 << 20,
    DEEPEST_EXPRESSION = 1000,
};
static const size_t LARGEST_RESULT = (size_t)1 << 30; /* usual limit on bytes of the rows of a statement */

struct query_answer {
    char *call; /* "gaps('--by op')" */
    struct result *result;
    struct table *table; /* in RESULT */
};

struct trace_sql {
    sqlite3 *db;
    const struct trace_sql_functions *functions;
    struct sql_source source;
    VEC_OF(struct query_answer) answers;
    size_t reported; /* results whose notices were added */
    int64_t limit_ns, deadline_ns;
    size_t most_bytes; /* of the rows of a statement */
    const atomic_int *interrupted;
    watchdog_give_up *give_up;
    bool too_long, is_ours; /* the statement is internal and may write */
};

/* ---- SQLite ---- */

static int look_around(void *context)
{
    struct trace_sql *sql = context;
    sql->too_long = sql->limit_ns && moment_steady() > sql->deadline_ns;
    return sql->too_long || (sql->interrupted && *sql->interrupted);
}

/* Allow only reading: nothing may be created, changed, attached or loaded. */
static int authorize(void *context, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)b, (void)c, (void)d;
    const struct trace_sql *sql = context;
    static const char *const pragmas[] = { "table_info", "table_xinfo", "function_list", "module_list",
                                           "pragma_list" };
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_PRAGMA:
        if (ANY(i, sizeof pragmas / sizeof *pragmas, sqlite3_stricmp(a, pragmas[i]) == 0))
            return SQLITE_OK;
        break;
    default: break;
    }
    return sql->is_ours ? SQLITE_OK : SQLITE_DENY;
}

struct trace_sql *trace_sql_open(const struct trace_sql_functions *functions, struct tpa_error *err)
{
    struct trace_sql *sql = mem_zalloc(1, sizeof *sql);
    sql->functions = functions;
    sql->most_bytes = LARGEST_RESULT;
    int code =
        sqlite3_open_v2(":memory:", &sql->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, temporary_vfs());
    if (code == SQLITE_OK)
        code = sql_add_tables(sql->db, &sql->source, "");
    if (code != SQLITE_OK) {
        tpa_fail(err, TPA_NOWHERE, "cannot start SQLite: %s", sqlite3_errstr(code));
        trace_sql_free(sql);
        return NULL;
    }
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    /* "nmae" is an unknown column, not a text */
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_limit(sql->db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_limit(sql->db, SQLITE_LIMIT_SQL_LENGTH, LONGEST_STATEMENT);
    sqlite3_limit(sql->db, SQLITE_LIMIT_EXPR_DEPTH, DEEPEST_EXPRESSION);
    sqlite3_set_authorizer(sql->db, authorize, sql);
    sqlite3_progress_handler(sql->db, STEPS_BETWEEN_LOOKS, look_around, sql);
    return sql;
}

void trace_sql_free(struct trace_sql *sql)
{
    if (!sql)
        return;
    sqlite3_close(sql->db);
    for (size_t i = 0; i < sql->answers.count; i++) {
        free(sql->answers.at[i].call);
        result_free(sql->answers.at[i].result);
    }
    VEC_FREE(&sql->answers);
    arena_release(&sql->source.arena);
    free(sql);
}

void trace_sql_use(struct trace_sql *sql, const struct trace *trace, const int64_t *shift_ns)
{
    struct sql_source *source = &sql->source;
    arena_release(&source->arena);
    *source = (struct sql_source){ 0 };
    source->trace = trace;
    source->shift_ns = shift_ns;
    source->origin_ns = arena_alloc(&source->arena, (trace->file_count + 1) * sizeof *source->origin_ns);
    source->rank = arena_alloc(&source->arena, (trace->file_count + 1) * sizeof *source->rank);
    for (uint32_t file = 0; file < trace->file_count; file++) {
        source->origin_ns[file] = trace_file_span(trace, file).start_ns;
        source->rank[file] = selection_rank(trace, file);
    }
}

void trace_sql_limit(struct trace_sql *sql, int64_t limit_ns, const atomic_int *interrupted,
                     void (*give_up)(bool too_long))
{
    sql->limit_ns = limit_ns;
    sql->interrupted = interrupted;
    sql->give_up = give_up;
}

void trace_sql_limit_rows(struct trace_sql *sql, size_t bytes)
{
    sql->most_bytes = bytes;
}

/* ---- words of a statement ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The end of the quoted text that begins at AT, which ends in CLOSE; a doubled one is part of it. */
static const char *end_of_quoted(const char *at, char close)
{
    for (at++; *at; at++)
        if (*at == close && *++at != close)
            return at;
    return at;
}

/* The end of the token at AT: a text, a comment, a word, blanks, or one character. */
static const char *end_of_token(const char *at)
{
    if (*at == '\'' || *at == '"' || *at == '`')
        return end_of_quoted(at, *at);
    if (*at == '[') {
        const char *end = strchr(at, ']');
        return end ? end + 1 : at + strlen(at);
    }
    if (at[0] == '-' && at[1] == '-')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (!is_word(*at))
        return at + 1;
    while (is_word(*at))
        at++;
    return at;
}

static bool is_blank(const char *at)
{
    return isspace((unsigned char)*at) || (at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*');
}

static const char *skip_blanks(const char *at)
{
    while (*at && is_blank(at))
        at = end_of_token(at);
    return at;
}

bool trace_sql_is_complete(const char *text)
{
    return sqlite3_complete(text);
}

/* ---- functions ---- */

static const char *function_called(const struct trace_sql *sql, const char *word, size_t len)
{
    const char *name;
    for (size_t i = 0; (name = sql->functions->name_at(i)); i++)
        if (strlen(name) == len && sqlite3_strnicmp(name, word, (int)len) == 0)
            return name;
    return NULL;
}

/* Is there a function call at AT, not preceded by a word, with a text or nothing in its parentheses? If so, returns its
 * name, its options in OPTIONS, and its end in *END. */
static const char *collect_call(const struct trace_sql *sql, const char *at, struct buffer *options,
                                const char **end)
{
    const char *behind = end_of_token(at);
    const char *name = is_word(*at) ? function_called(sql, at, (size_t)(behind - at)) : NULL;
    if (!name)
        return NULL;
    at = skip_blanks(behind);
    if (*at != '(')
        return NULL;
    at = skip_blanks(at + 1);
    buffer_clear(options);
    buffer_puts(options, "");
    if (*at == '\'') {
        const char *close = end_of_quoted(at, '\'');
        for (const char *c = at + 1; c < close - 1; c++) {
            buffer_putc(options, *c);
            c += *c == '\'';
        }
        at = skip_blanks(close);
    }
    *end = at + 1;
    return *at == ')' ? name : NULL;
}

/* Does the statement continue at AT without an alias for the preceding table? */
static bool lacks_alias(const char *at)
{
    at = skip_blanks(at);
    size_t len = (size_t)(end_of_token(at) - at);
    if (*at == '"' || *at == '`' || *at == '[' || *at == '\'')
        return false;
    return !is_word(*at) ||
           (sqlite3_keyword_check(at, (int)len) && !(len == 2 && sqlite3_strnicmp(at, "as", 2) == 0));
}

static struct table *table_called(const struct result *result, const char *key)
{
    for (size_t t = 0; t < result->tables.count; t++)
        if (strcmp(result->tables.at[t]->key, key) == 0)
            return result->tables.at[t];
    return result->tables.count ? result->tables.at[0] : NULL;
}

/* Evaluate NAME, unless it was evaluated before; CALL is the name of its table. */
static bool ask(struct trace_sql *sql, const char *name, const char *options, const char *call,
                struct tpa_error *err)
{
    if (ANY(i, sql->answers.count, strcmp(sql->answers.at[i].call, call) == 0))
        return true;
    struct result *result = sql->functions->answer(name, options, sql->source.trace, err);
    if (!result)
        return tpa_while(err, "asking %s", call);
    struct table *table = table_called(result, name);
    if (!table || table->column_count == 0) {
        const char *why = result->notices.count ? result->notices.at[0].text : "there is nothing to show";
        tpa_fail(err, TPA_NOWHERE, "%s has no rows: %s", call, why);
        result_free(result);
        return false;
    }
    *VEC_PUSH(&sql->answers) = (struct query_answer){ mem_strdup(call), result, table };
    sql->is_ours = true;
    int code = sql_add_answer(sql->db, call, table);
    sql->is_ours = false;
    return code == SQLITE_OK || tpa_fail(err, TPA_NOWHERE, "%s: %s", call, sqlite3_errmsg(sql->db));
}

/* Add the first statement of TEXT to OUT with the calls of functions replaced; *END is set to its end. */
static bool replace_calls(struct trace_sql *sql, const char *text, const char **end, struct buffer *out,
                          struct tpa_error *err)
{
    SCOPED struct buffer options = { 0 }, call = { 0 };
    bool good = true;
    buffer_puts(out, "");
    while (*text && *text != ';' && good) {
        const char *behind, *name = collect_call(sql, text, &options, &behind);
        if (name) {
            buffer_clear(&call);
            buffer_printf(&call, "%s('%s')", name, options.at);
            good = ask(sql, name, options.at, call.at, err);
            escape_sql_name(out, call.at);
            if (lacks_alias(behind))
                buffer_printf(out, " AS \"%s\"", name);
        } else {
            behind = end_of_token(text);
            buffer_add(out, text, (size_t)(behind - text));
        }
        text = behind;
    }
    *end = *text ? text + 1 : text;
    return good;
}

static bool calls_function(const struct trace_sql *sql, const char *text)
{
    SCOPED struct buffer options = { 0 };
    const char *behind, *name = NULL;
    for (; *text && !name; text = end_of_token(text))
        name = collect_call(sql, text, &options, &behind);
    return name != NULL;
}

void trace_sql_wants(struct trace_sql *sql, const char *text, struct trace_wants *wants)
{
    struct trace_wants *noted = &sql->source.wants;
    *noted = (struct trace_wants){ 0 };
    bool all = calls_function(sql, text);
    while (!all && *(text = skip_blanks(text))) {
        sqlite3_stmt *statement = NULL;
        all = sqlite3_prepare_v2(sql->db, text, -1, &statement, &text) != SQLITE_OK;
        sqlite3_finalize(statement);
    }
    if (all)
        *noted =
            (struct trace_wants){ .args = UINT64_MAX >> (64 - ARG_COUNT), .flows = true, .counters = true };
    wants->args |= noted->args;
    wants->flows |= noted->flows;
    wants->counters |= noted->counters;
}

/* ---- errors ---- */

static void list_tables(const struct trace_sql *sql, struct buffer *out)
{
    buffer_puts(out, "the tables are ");
    for (size_t i = 0; sql_tables[i].name; i++)
        buffer_printf(out, "%s%s", i ? ", " : "", sql_tables[i].name);
    const char *name;
    for (size_t i = 0; (name = sql->functions->name_at(i)); i++)
        buffer_printf(out, "%s%s()", i ? ", " : "; the analyses are ", name);
}

/* Called for each column of the tables and analyses that a statement names. */
typedef void column_visit(const char *column, void *context);

/* Does the token [AT, END) name the table NAME, perhaps in quotes? */
static bool token_names(const char *at, const char *end, const char *name)
{
    size_t quote = *at == '"', len = strlen(name);
    return (size_t)(end - at) == len + 2 * quote && sqlite3_strnicmp(at + quote, name, (int)len) == 0;
}

static bool statement_names(const char *text, const char *name)
{
    for (const char *end; *text; text = end) {
        end = end_of_token(text);
        if (token_names(text, end, name))
            return true;
    }
    return false;
}

static void visit_columns(struct trace_sql *sql, const char *statement, column_visit *visit, void *context)
{
    SCOPED struct buffer text = { 0 };
    for (size_t t = 0; sql_tables[t].name; t++) {
        struct sql_column column;
        if (statement_names(statement, sql_tables[t].name))
            for (size_t i = 0; sql_table_column(&sql_tables[t], i, &text, &column); i++)
                visit(column.name, context);
    }
    for (size_t a = 0; a < sql->answers.count; a++)
        if (statement_names(statement, sql->answers.at[a].call))
            for (size_t i = 0; i < sql->answers.at[a].table->column_count; i++)
                visit(sql_answer_column(sql->answers.at[a].table, i, &text), context);
}

static void consider_column(const char *column, void *context)
{
    struct suggest *near = context;
    const char *before = near->best;
    suggest_consider(near, column);
    if (near->best != before) {
        snprintf(near->own, sizeof near->own, "%s", column);
        near->best = near->own;
    }
}

static void list_column(const char *column, void *context)
{
    struct buffer *list = context;
    buffer_printf(list, "%s%s", list->count ? ", " : "", column);
}

/* Hint at the columns of STATEMENT, which names the column WORD, perhaps with its table (k.nme), that no table has. */
static void hint_column(struct trace_sql *sql, const char *word, const char *statement, struct tpa_error *err)
{
    const char *dot = strrchr(word, '.'), *column = dot ? dot + 1 : word;
    struct suggest near = suggest_for(column, strlen(column));
    struct buffer columns = { 0 };
    for (size_t i = 0; i < sql->answers.count; i++)
        if (strcmp(sql->answers.at[i].call, word) == 0) {
            tpa_hint(err, "an analysis gives a table: select * from %s", word);
            return;
        }
    visit_columns(sql, statement, consider_column, &near);
    visit_columns(sql, statement, list_column, &columns);
    if (near.best)
        tpa_hint(err, "did you mean %s? (the columns are %s)", near.best, columns.at);
    else if (columns.at)
        tpa_hint(err, "the columns are %s", columns.at);
    buffer_release(&columns);
}

/* Hint at a way out of the error TEXT of SQLite in STATEMENT. */
static void hint_statement(struct trace_sql *sql, const char *text, const char *statement,
                           struct tpa_error *err)
{
    static const char no_table[] = "no such table: ", no_column[] = "no such column: ",
                      no_function[] = "no such function: ";
    if (strncmp(text, no_table, strlen(no_table)) == 0) {
        const char *name = text + strlen(no_table), *function;
        struct suggest near = suggest_for(name, strlen(name));
        SCOPED struct buffer tables = { 0 };
        list_tables(sql, &tables);
        for (size_t i = 0; sql_tables[i].name; i++)
            suggest_consider(&near, sql_tables[i].name);
        bool is_table = near.best != NULL;
        for (size_t i = 0; !is_table && (function = sql->functions->name_at(i)); i++)
            suggest_consider(&near, function);
        if (function_called(sql, name, strlen(name)))
            tpa_hint(err, "%s is an analysis: write %s() or %s('OPTIONS')", name, name, name);
        else if (near.best)
            tpa_hint(err, "did you mean %s%s? (%s)", near.best, is_table ? "" : "()", tables.at);
        else
            tpa_hint(err, "%s", tables.at);
    } else if (strncmp(text, no_column, strlen(no_column)) == 0) {
        hint_column(sql, text + strlen(no_column), statement, err);
    } else if (strncmp(text, no_function, strlen(no_function)) == 0) {
        const char *name = text + strlen(no_function);
        if (function_called(sql, name, strlen(name)))
            tpa_hint(err, "%s is an analysis, which gives a table: select * from %s()", name, name);
        else
            tpa_hint(err,
                     "functions of values are SQLite's: count, sum, avg, min, max, round, substr, like ...");
    } else if (strstr(text, "syntax error") || strstr(text, "incomplete input")) {
        tpa_hint(err, "statements are SQLite's: select name, sum(dur_ns) from kernels group by name");
    }
}

static bool fail(struct trace_sql *sql, int code, const char *statement, struct tpa_error *err)
{
    const char *text = sqlite3_errmsg(sql->db);
    if (code == SQLITE_NOMEM)
        mem_out_of_memory(0);
    if (code == SQLITE_FULL) {
        tpa_fail(err, TPA_NOWHERE, "the query needs a temporary file of more than %lld GiB",
                 (long long)(temporary_most >> 30));
        return tpa_hint(err,
                        "sort or group fewer rows: with a condition, or from a smaller --range of the trace");
    }
    bool by_user = sql->interrupted && *sql->interrupted;
    if (code == SQLITE_INTERRUPT && (sql->too_long || (sql->limit_ns && !by_user))) {
        tpa_fail(err, TPA_NOWHERE, "the query took longer than the limit");
        return tpa_hint(err, "allow it more with --timeout, 0 for as long as it takes");
    }
    if (code == SQLITE_INTERRUPT)
        return tpa_fail(err, TPA_NOWHERE, "the query was interrupted");
    if (code == SQLITE_AUTH || strstr(text, "may not be modified")) {
        tpa_fail(err, TPA_NOWHERE, "this statement would change something, and tpa sql only reads");
        return tpa_hint(err, "tpa convert --to sqlite writes a database to work with");
    }
    tpa_fail(err, TPA_NOWHERE, "%s", text);
    hint_statement(sql, text, statement, err);
    return false;
}

/* ---- rows ---- */

struct value {
    int type; /* SQLITE_... */
    union table_cell cell;
};

/* The rows of a statement until the kinds of its columns are known. */
struct rows {
    size_t columns;
    VEC_OF(struct value) values;
    struct arena texts;
    size_t bytes;
};

static struct value collect_value(struct rows *rows, sqlite3_stmt *statement, int column)
{
    struct value value = { .type = sqlite3_column_type(statement, column) };
    if (value.type == SQLITE_INTEGER) {
        value.cell.i = sqlite3_column_int64(statement, column);
    } else if (value.type == SQLITE_FLOAT) {
        value.cell.f = sqlite3_column_double(statement, column);
    } else if (value.type != SQLITE_NULL) {
        const void *at = value.type == SQLITE_BLOB ? sqlite3_column_blob(statement, column)
                                                   : (const void *)sqlite3_column_text(statement, column);
        size_t len = (size_t)sqlite3_column_bytes(statement, column);
        value.cell.text = (struct text){ arena_strndup(&rows->texts, at ? at : "", len), len };
        rows->bytes += len;
    }
    rows->bytes += sizeof value;
    return value;
}

static bool collect_rows(struct trace_sql *sql, sqlite3_stmt *statement, size_t most, struct rows *rows,
                         struct tpa_error *err)
{
    int code = SQLITE_DONE;
    for (size_t count = 0; (most == 0 || count < most) && (code = sqlite3_step(statement)) == SQLITE_ROW;
         count++) {
        for (size_t i = 0; i < rows->columns; i++)
            *VEC_PUSH(&rows->values) = collect_value(rows, statement, (int)i);
        if (rows->bytes > sql->most_bytes) {
            size_t mib = sql->most_bytes >> 20;
            tpa_fail(err, TPA_NOWHERE, "the rows take more than %zu %s", mib % 1024 ? mib : mib / 1024,
                     mib % 1024 ? "MiB" : "GiB");
            return tpa_hint(err,
                            "ask for fewer columns or rows, or write all events with tpa convert --to arrow");
        }
    }
    return code == SQLITE_DONE || code == SQLITE_ROW || fail(sql, code, sqlite3_sql(statement), err);
}

static bool ends_in(const char *text, const char *ending)
{
    size_t len = strlen(text), end = strlen(ending);
    return len >= end && strcmp(text + len - end, ending) == 0;
}

/* The kind in the declared type, "INT_NS"; TABLE_COUNT: none. */
static enum table_kind declared_kind(const char *type)
{
    const char *word = type ? strchr(type, '_') : NULL;
    for (int kind = 0; word && kind <= TABLE_BOOL; kind++)
        if (strcmp(word + 1, table_kind_name((enum table_kind)kind)) == 0)
            return (enum table_kind)kind;
    return TABLE_COUNT;
}

/* The kind of column I, called NAME: from its values, or more specifically from its table or name. */
static enum table_kind kind_of(const struct rows *rows, size_t i, const char *name, const char *type)
{
    bool texts = false, decimals = false, numbers = false;
    for (size_t at = i; at < rows->values.count; at += rows->columns) {
        texts |= rows->values.at[at].type == SQLITE_TEXT || rows->values.at[at].type == SQLITE_BLOB;
        decimals |= rows->values.at[at].type == SQLITE_FLOAT;
        numbers |= rows->values.at[at].type == SQLITE_INTEGER;
    }
    enum table_kind declared = declared_kind(type);
    if (texts || (!decimals && !numbers && type && strncmp(type, "TEXT", 4) == 0))
        return declared == TABLE_NAME || strcmp(name, "name") == 0 ? TABLE_NAME : TABLE_TEXT;
    if (decimals)
        return declared == TABLE_SHARE ? TABLE_SHARE : TABLE_NUMBER;
    if (table_is_time(declared) && ends_in(name, "_ns"))
        return declared;
    if (declared == TABLE_BYTES || declared == TABLE_FLOPS || declared == TABLE_BOOL)
        return declared;
    return ends_in(name, "_ns") ? TABLE_NS : ends_in(name, "_bytes") ? TABLE_BYTES : TABLE_COUNT;
}

static void emit_cell(struct table *table, size_t row, size_t column, const struct value *value)
{
    enum table_kind kind = table->columns[column].kind;
    if (value->type == SQLITE_NULL)
        return;
    if (table_is_number(kind)) {
        table_set_number(table, row, column,
                         value->type == SQLITE_INTEGER ? (double)value->cell.i : value->cell.f);
    } else if (!table_is_text(kind)) {
        table_set_int(table, row, column, value->cell.i);
    } else if (value->type == SQLITE_TEXT || value->type == SQLITE_BLOB) {
        table_set_text(table, row, column, value->cell.text.at, value->cell.text.len);
    } else {
        char text[64];
        int len = value->type == SQLITE_INTEGER
                      ? snprintf(text, sizeof text, "%lld", (long long)value->cell.i)
                      : snprintf(text, sizeof text, "%.17g", value->cell.f);
        table_set_text(table, row, column, text, (size_t)len);
    }
}

/* A unique name for column I: like SQLite, "name:1". */
static const char *unique_name(const struct table_column *columns, size_t i, const char *name,
                               struct arena *arena)
{
    SCOPED struct buffer text = { 0 };
    buffer_puts(&text, name);
    for (size_t again = 1, j = 0; j < i; j++)
        if (strcmp(columns[j].key, text.at) == 0) {
            buffer_clear(&text);
            buffer_printf(&text, "%s:%zu", name, again++);
            j = SIZE_MAX; /* from the first again */
        }
    name = arena_strndup(arena, text.at, text.count);
    return name;
}

static struct table *table_of_values(const struct rows *rows, sqlite3_stmt *statement)
{
    SCOPED_ARENA struct arena names = { 0 };
    SCOPED struct table_column *columns = mem_zalloc(rows->columns + 1, sizeof *columns);
    for (size_t i = 0; i < rows->columns; i++) {
        const char *given = sqlite3_column_name(statement, (int)i);
        const char *name = unique_name(columns, i, given ? given : "", &names);
        enum table_kind kind = kind_of(rows, i, name, sqlite3_column_decltype(statement, (int)i));
        columns[i] = (struct table_column){ .key = name, .title = name, .kind = kind, .help = "" };
    }
    struct table *table = table_open("rows", NULL, columns, rows->columns);
    for (size_t i = 0; i < rows->columns; i++) { /* the names live as long as the table */
        const char *name = columns[i].key;
        table->columns[i].key = table->columns[i].title = arena_strndup(&table->arena, name, strlen(name));
    }
    for (size_t at = 0; rows->columns && at < rows->values.count; at++) {
        if (at % rows->columns == 0)
            table_add_row(table);
        emit_cell(table, at / rows->columns, at % rows->columns, &rows->values.at[at]);
    }
    return table;
}

static bool run_watched(struct trace_sql *sql, const char *text, size_t most, struct table **table,
                        struct tpa_error *err)
{
    sqlite3_stmt *statement = NULL;
    sql->too_long = false;
    sql->deadline_ns = moment_steady() + sql->limit_ns;
    int code = sqlite3_prepare_v2(sql->db, text, -1, &statement, NULL);
    if (code != SQLITE_OK)
        return fail(sql, code, text, err);
    if (sqlite3_bind_parameter_count(statement) > 0) {
        sqlite3_finalize(statement);
        tpa_fail(err, TPA_NOWHERE, "the query has a parameter, which tpa sql cannot set");
        return tpa_hint(err, "write the value itself");
    }
    struct rows rows = { .columns = (size_t)sqlite3_column_count(statement) };
    bool good = collect_rows(sql, statement, most, &rows, err);
    if (good)
        *table = table_of_values(&rows, statement);
    sqlite3_finalize(statement);
    VEC_FREE(&rows.values);
    arena_release(&rows.texts);
    return good;
}

static bool run(struct trace_sql *sql, const char *text, size_t most, struct table **table,
                struct tpa_error *err)
{
    struct watchdog *dog = watchdog_begin(sql->db, sql->limit_ns, sql->interrupted, sql->give_up);
    bool good = run_watched(sql, text, most, table, err);
    watchdog_end(dog);
    return good;
}

bool trace_sql_next(struct trace_sql *sql, const char **text, size_t most, struct table **table,
                    struct tpa_error *err)
{
    *table = NULL;
    while (*(*text = skip_blanks(*text)) == ';')
        (*text)++;
    if (!**text)
        return true;
    SCOPED struct buffer statement = { 0 };
    return replace_calls(sql, *text, text, &statement, err) && run(sql, statement.at, most, table, err);
}

void trace_sql_add_notices(struct trace_sql *sql, struct result *result)
{
    for (; sql->reported < sql->answers.count; sql->reported++) {
        const struct result *answer = sql->answers.at[sql->reported].result;
        FOR_EACH(notice, &answer->notices) {
            result_add_notice(result, notice->kind, notice->count, notice->file, notice->offset, "%s",
                              notice->text);
        }
    }
}

/* ---- writing a database ---- */

static bool export_table(struct trace_sql *sql, sqlite3 *db, const struct sql_table *table,
                         struct tpa_error *err)
{
    SCOPED struct buffer text = { 0 };
    sql_add_schema(&text, table);
    buffer_printf(&text, "; INSERT INTO %s SELECT * FROM tpa_%s;", table->name, table->name);
    int code = sqlite3_exec(db, text.at, NULL, NULL, NULL);
    (void)sql;
    return code == SQLITE_OK ||
           tpa_fail(err, TPA_NOWHERE, "SQLite cannot write %s: %s", table->name, sqlite3_errmsg(db));
}

bool trace_sql_export(struct trace_sql *sql, const char *path, struct tpa_error *err)
{
    sqlite3 *db = NULL;
    static const char prepare[] =
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 8192; BEGIN";
    bool good = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK &&
                sql_add_tables(db, &sql->source, "tpa_") == SQLITE_OK &&
                sqlite3_exec(db, prepare, NULL, NULL, NULL) == SQLITE_OK;
    if (!good)
        tpa_fail(err, TPA_NOWHERE, "SQLite cannot write: %s", db ? sqlite3_errmsg(db) : "no memory");
    for (size_t i = 0; good && sql_tables[i].name; i++)
        good = export_table(sql, db, &sql_tables[i], err);
    if (good && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        good = tpa_fail(err, TPA_NOWHERE, "SQLite cannot write: %s", sqlite3_errmsg(db));
    sqlite3_close(db);
    return good;
}
