/* Constraints of a query are used where they save most: one event by its number; events of one name, which are adjacent
 * in the order by name; a range of time, by binary search in the order by time. Kinds and tracks are checked row by
 * row, which is cheaper here than in SQLite. SQLite checks every row again in any case, so unused constraints are never
 * wrong. */
#include "sql/parts.h"

#include "base/search.h"
#include "trace/arg_rows.h"
#include <math.h>

/* ---- the kind of scan: idxNum of SQLite ---- */

enum scan {
    SCAN_ID = 1,
    SCAN_NAME = 2,
    SCAN_FROM = 4,
    SCAN_TO = 8,
    SCAN_KIND = 16,
    SCAN_TRACK = 32,
    ORDER_TIME = 64,
    ORDER_NAME = 128,
    ORDER_DOWN = 256,
};

struct module {
    struct sql_source *source;
    size_t table;               /* of sql_tables */
    const struct table *answer; /* or the table returned by a function */
};

struct virtual_table {
    sqlite3_vtab base;
    const struct module *module;
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct module *module;
    const event_id *ids; /* of a table of events */
    int64_t at, end, step;
    int64_t track; /* only this one; -1: all */
    uint32_t kinds;
    event_id one; /* target of IDS for a single event */
};

static const struct sql_table *table_of(const struct module *module)
{
    return &sql_tables[module->table];
}

static int connect_table(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **out,
                         char **error)
{
    (void)argc, (void)argv, (void)error;
    const struct module *module = context;
    struct buffer schema = { 0 };
    sql_add_schema(&schema, table_of(module));
    int code = sqlite3_declare_vtab(db, schema.at);
    buffer_release(&schema);
    if (code != SQLITE_OK)
        return code;
    struct virtual_table *table = mem_zalloc(1, sizeof *table);
    table->module = module;
    *out = &table->base;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct cursor *cursor = mem_zalloc(1, sizeof *cursor);
    cursor->module = ((struct virtual_table *)table)->module;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    free(cursor);
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->at == cursor->end;
}

/* ---- tables of events ---- */

/* Record what the reader must decode for the columns of a statement. COLUMNS is SQLite's: bit 63 means all columns from
 * there on. */
static void record_wants(const struct module *module, uint64_t columns)
{
    const struct sql_table *table = table_of(module);
    struct trace_wants *wants = &module->source->wants;
    wants->args |= table->wants.args;
    wants->flows |= table->wants.flows;
    wants->counters |= table->wants.counters;
    struct sql_column column;
    SCOPED struct buffer text = { 0 };
    for (size_t i = 0; table->kinds && sql_event_column(table, i, &text, &column); i++)
        if (columns >> (i < 63 ? i : 63) & 1)
            wants->args |= sql_event_column_wants(table, i).args;
}

/* The use of constraint I; 0: none. */
static int use_of(sqlite3_index_info *info, int i)
{
    int op = info->aConstraint[i].op;
    bool equal = op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (!info->aConstraint[i].usable)
        return 0;
    switch (info->aConstraint[i].iColumn) {
    case -1:
    case EVENT_COLUMN_ID: return equal ? SCAN_ID : 0;
    case EVENT_COLUMN_TRACK: return equal ? SCAN_TRACK : 0;
    case EVENT_COLUMN_NAME:
    case EVENT_COLUMN_KIND:
        if (!equal || strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            return 0;
        return info->aConstraint[i].iColumn == EVENT_COLUMN_NAME ? SCAN_NAME : SCAN_KIND;
    case EVENT_COLUMN_START:
        return equal || op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE ? SCAN_FROM
               : op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE        ? SCAN_TO
                                                                                             : 0;
    default: return 0;
    }
}

/* The requested order, if a scan that uses USED can provide it. */
static int order_of(const sqlite3_index_info *info, int used)
{
    if (info->nOrderBy != 1 || used & (SCAN_ID | SCAN_NAME))
        return 0;
    int down = info->aOrderBy[0].desc ? ORDER_DOWN : 0;
    if (info->aOrderBy[0].iColumn == EVENT_COLUMN_START)
        return ORDER_TIME | down;
    if (info->aOrderBy[0].iColumn == EVENT_COLUMN_NAME && !(used & (SCAN_FROM | SCAN_TO)))
        return ORDER_NAME | down;
    return 0;
}

static void estimate(const struct module *module, sqlite3_index_info *info, int used)
{
    const struct trace *trace = module->source->trace;
    double rows = trace ? (double)sql_event_rows(module->source, module->table)->count + 1 : 1e6;
    double names = trace ? (double)names_count(trace->names) + 1 : 1000;
    if (used & SCAN_ID)
        rows = 1;
    if (used & SCAN_NAME)
        rows = rows / names + 1;
    if (used & SCAN_FROM)
        rows = rows / 4 + 1;
    if (used & SCAN_TO)
        rows = rows / 4 + 1;
    info->estimatedCost = rows;
    info->estimatedRows = (sqlite3_int64)rows;
    if (used & SCAN_ID)
        info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
}

/* Accept one constraint per use, the best uses first, and pass their values in the order of the bits. */
static int choose_events(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct module *module = ((struct virtual_table *)base)->module;
    static const int uses[] = { SCAN_ID, SCAN_NAME, SCAN_FROM, SCAN_TO, SCAN_KIND, SCAN_TRACK };
    int used = 0, argument = 0;
    record_wants(module, info->colUsed);
    for (size_t u = 0; u < sizeof uses / sizeof *uses; u++) {
        if ((uses[u] & (SCAN_FROM | SCAN_TO) && used & (SCAN_ID | SCAN_NAME)) ||
            (uses[u] == SCAN_NAME && used & SCAN_ID))
            continue;
        for (int i = 0; i < info->nConstraint && !(used & uses[u]); i++)
            if (use_of(info, i) == uses[u]) {
                info->aConstraintUsage[i].argvIndex = ++argument;
                used |= uses[u];
            }
    }
    int order = order_of(info, used);
    info->idxNum = used | order;
    info->orderByConsumed = order != 0;
    estimate(module, info, used);
    return SQLITE_OK;
}

/* VALUE as a limit of integers: the nearest integer on the side that keeps more rows. Other values than numbers are no
 * limit. */
static int64_t limit_of(sqlite3_value *value, bool lower)
{
    int type = sqlite3_value_type(value);
    double number = sqlite3_value_double(value);
    if (type == SQLITE_INTEGER)
        return sqlite3_value_int64(value);
    if (type != SQLITE_FLOAT || number < -9e18 || number > 9e18)
        return lower ? INT64_MIN : INT64_MAX;
    return (int64_t)(lower ? floor(number) : ceil(number));
}

/* The number of events of BY_TIME that start before MOMENT_NS; with ALSO, at it as well. */
static int64_t count_before(const struct sql_source *source, const event_id *by_time, size_t count,
                            int64_t moment_ns, bool also)
{
    size_t low = PLACE(i, count,
                       also ? sql_start_ns(source, by_time[i]) <= moment_ns
                            : sql_start_ns(source, by_time[i]) < moment_ns);
    return (int64_t)low;
}

static void scan_one(struct cursor *cursor, sqlite3_value *value)
{
    int64_t id = sqlite3_value_int64(value);
    const struct trace *trace = cursor->module->source->trace;
    bool there = id >= 0 && (uint64_t)id < trace->event_count &&
                 table_of(cursor->module)->kinds >> trace->kind[id] & 1;
    cursor->one = (event_id)id;
    cursor->ids = &cursor->one;
    cursor->end = there;
}

static void scan_name(struct cursor *cursor, sqlite3_value *value)
{
    struct sql_source *source = cursor->module->source;
    const char *text = (const char *)sqlite3_value_text(value);
    name_id name =
        text ? names_find(source->trace->names, text, (size_t)sqlite3_value_bytes(value)) : NAME_NONE;
    const struct event_rows *rows = sql_event_rows_by_name(source, cursor->module->table);
    cursor->ids = rows->by_name;
    if (name == NAME_NONE)
        return;
    cursor->at = (int64_t)rows->first[source->name_rank[name]];
    cursor->end = (int64_t)rows->first[source->name_rank[name] + 1];
}

static void scan_many(struct cursor *cursor, int how, sqlite3_value **from, sqlite3_value **to)
{
    struct sql_source *source = cursor->module->source;
    size_t table = cursor->module->table;
    bool by_time = how & (ORDER_TIME | SCAN_FROM | SCAN_TO);
    const struct event_rows *rows = by_time            ? sql_event_rows_by_time(source, table)
                                    : how & ORDER_NAME ? sql_event_rows_by_name(source, table)
                                                       : sql_event_rows(source, table);
    cursor->ids = by_time ? rows->by_time : how & ORDER_NAME ? rows->by_name : rows->ids;
    cursor->end = (int64_t)rows->count;
    if (from)
        cursor->at = count_before(source, cursor->ids, rows->count, limit_of(*from, true), false);
    if (to)
        cursor->end = count_before(source, cursor->ids, rows->count, limit_of(*to, false), true);
    if (cursor->end < cursor->at)
        cursor->end = cursor->at;
    if (how & ORDER_DOWN) {
        int64_t first = cursor->at;
        cursor->at = cursor->end - 1;
        cursor->end = first - 1;
        cursor->step = -1;
    }
}

static uint32_t kinds_called(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    uint32_t kinds = 0;
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        if (text && strcmp(event_kind_name((enum event_kind)kind), text) == 0)
            kinds |= 1u << kind;
    return kinds;
}

static void pass_over(struct cursor *cursor)
{
    const struct trace *trace = cursor->module->source->trace;
    while (cursor->at != cursor->end) {
        event_id e = cursor->ids[cursor->at];
        if (cursor->kinds >> trace->kind[e] & 1 && (cursor->track < 0 || trace->track[e] == cursor->track))
            return;
        cursor->at += cursor->step;
    }
}

static int scan_events(sqlite3_vtab_cursor *base, int how, const char *unused, int argc, sqlite3_value **argv)
{
    (void)unused;
    struct cursor *cursor = (struct cursor *)base;
    *cursor = (struct cursor){
        .base = cursor->base, .module = cursor->module, .step = 1, .track = -1, .kinds = UINT32_MAX
    };
    if (!cursor->module->source->trace)
        return SQLITE_OK;
    for (int i = 0; i < argc; i++)
        if (sqlite3_value_type(argv[i]) == SQLITE_NULL) /* NULL equals nothing */
            return SQLITE_OK;
    sqlite3_value **next = argv;
    sqlite3_value **id = how & SCAN_ID ? next++ : NULL, **name = how & SCAN_NAME ? next++ : NULL;
    sqlite3_value **from = how & SCAN_FROM ? next++ : NULL, **to = how & SCAN_TO ? next++ : NULL;
    if (id)
        scan_one(cursor, *id);
    else if (name)
        scan_name(cursor, *name);
    else
        scan_many(cursor, how, from, to);
    if (how & SCAN_KIND)
        cursor->kinds = kinds_called(*next++);
    if (how & SCAN_TRACK) {
        int64_t track = sqlite3_value_int64(*next);
        cursor->track = track < 0 ? INT64_MAX : track;
    }
    pass_over(cursor);
    return SQLITE_OK;
}

static int next_event(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor->at += cursor->step;
    pass_over(cursor);
    return SQLITE_OK;
}

static int event_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    const struct cursor *cursor = (const struct cursor *)base;
    sql_event_cell(cursor->module->source, table_of(cursor->module), (size_t)column, cursor->ids[cursor->at],
                   out);
    return SQLITE_OK;
}

static int event_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    const struct cursor *cursor = (const struct cursor *)base;
    *id = cursor->ids[cursor->at];
    return SQLITE_OK;
}

/* ---- other tables ---- */

/* Only `args` supports a scan of one event. */
static int choose_rows(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct module *module = ((struct virtual_table *)base)->module;
    record_wants(module, info->colUsed);
    info->estimatedCost = module->source->trace ? (double)table_of(module)->count(module->source) + 1 : 1e6;
    for (int i = 0; i < info->nConstraint && table_of(module)->is_row && !info->idxNum; i++)
        if (info->aConstraint[i].usable && info->aConstraint[i].iColumn == 0 &&
            info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
            info->aConstraintUsage[i].argvIndex = 1;
            info->idxNum = SCAN_ID;
            info->estimatedCost = ARG_COUNT;
        }
    info->estimatedRows = (sqlite3_int64)info->estimatedCost;
    return SQLITE_OK;
}

static void pass_over_gaps(struct cursor *cursor)
{
    const struct sql_table *table = table_of(cursor->module);
    while (table->is_row && cursor->at != cursor->end && !table->is_row(cursor->module->source, cursor->at))
        cursor->at++;
}

static int scan_rows(sqlite3_vtab_cursor *base, int how, const char *unused, int argc, sqlite3_value **argv)
{
    (void)unused, (void)argc;
    struct cursor *cursor = (struct cursor *)base;
    struct sql_source *source = cursor->module->source;
    cursor->at = cursor->end = 0;
    if (!source->trace)
        return SQLITE_OK;
    if (how & SCAN_ID) {
        int64_t event = sqlite3_value_int64(argv[0]);
        bool there = sqlite3_value_type(argv[0]) != SQLITE_NULL && event >= 0 &&
                     (uint64_t)event < source->trace->event_count;
        cursor->at = there ? event * ARG_COUNT : 0;
        cursor->end = there ? cursor->at + ARG_COUNT : 0;
    } else {
        cursor->end = table_of(cursor->module)->count(source);
    }
    pass_over_gaps(cursor);
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor->at++;
    pass_over_gaps(cursor);
    return SQLITE_OK;
}

static int row_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    const struct cursor *cursor = (const struct cursor *)base;
    table_of(cursor->module)->cell(cursor->module->source, cursor->at, (size_t)column, out);
    return SQLITE_OK;
}

static int row_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = ((const struct cursor *)base)->at;
    return SQLITE_OK;
}

/* ---- results of functions ---- */

static bool is_shown(const struct table *table, size_t column)
{
    return table_shows(table, column, TABLE_FOR_PROGRAMS);
}

const char *sql_answer_column(const struct table *table, size_t index, struct buffer *text)
{
    const struct table_column *column = &table->columns[index];
    size_t len = strlen(column->key);
    bool has_unit = len > 3 && strcmp(column->key + len - 3, "_ns") == 0;
    if (column->kind == TABLE_MOMENT && strncmp(column->key, "start", 5) == 0 && (len == 5 || len == 8))
        return "at_ns";
    buffer_clear(text);
    buffer_printf(text, "%s%s", column->key, table_is_time(column->kind) && !has_unit ? "_ns" : "");
    return text->at;
}

static int connect_answer(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **out,
                          char **error)
{
    (void)argc, (void)argv, (void)error;
    const struct module *module = context;
    struct buffer schema = { 0 }, name = { 0 };
    buffer_puts(&schema, "CREATE TABLE answer(");
    for (size_t i = 0; i < module->answer->column_count; i++) {
        buffer_printf(&schema, "%s\"%s\" ", i ? ", " : "", sql_answer_column(module->answer, i, &name));
        sql_add_type(&schema, module->answer->columns[i].kind);
        if (!is_shown(module->answer, i))
            buffer_puts(&schema, " HIDDEN");
    }
    buffer_puts(&schema, ")");
    int code = sqlite3_declare_vtab(db, schema.at);
    EACH(buffer_release, &schema, &name);
    if (code != SQLITE_OK)
        return code;
    struct virtual_table *table = mem_zalloc(1, sizeof *table);
    table->module = module;
    *out = &table->base;
    return SQLITE_OK;
}

static int choose_answer(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct module *module = ((struct virtual_table *)base)->module;
    info->estimatedCost = (double)module->answer->row_count + 1;
    info->estimatedRows = (sqlite3_int64)module->answer->row_count + 1;
    return SQLITE_OK;
}

static int scan_answer(sqlite3_vtab_cursor *base, int how, const char *unused, int argc, sqlite3_value **argv)
{
    (void)how, (void)unused, (void)argc, (void)argv;
    struct cursor *cursor = (struct cursor *)base;
    cursor->at = 0;
    cursor->end = (int64_t)cursor->module->answer->row_count;
    return SQLITE_OK;
}

static int next_of_answer(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->at++;
    return SQLITE_OK;
}

static int answer_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int number)
{
    const struct cursor *cursor = (const struct cursor *)base;
    const struct table *table = cursor->module->answer;
    const union table_cell *cell = table_cell(table, (size_t)cursor->at, (size_t)number);
    enum table_kind kind = table->columns[number].kind;
    if (table_cell_is_missing(cell, kind))
        return SQLITE_OK;
    if (table_is_text(kind))
        sql_add_text(out, cell->text.at, cell->text.len);
    else if (table_is_number(kind))
        sqlite3_result_double(out, cell->f);
    else
        sqlite3_result_int64(out, cell->i);
    return SQLITE_OK;
}

/* ---- modules ---- */

static const sqlite3_module events_module = {
    .xConnect = connect_table,
    .xBestIndex = choose_events,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = scan_events,
    .xNext = next_event,
    .xEof = is_at_end,
    .xColumn = event_column,
    .xRowid = event_rowid,
};

static const sqlite3_module rows_module = {
    .xConnect = connect_table,
    .xBestIndex = choose_rows,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = scan_rows,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = row_column,
    .xRowid = row_rowid,
};

static const sqlite3_module answer_module = {
    .xConnect = connect_answer,
    .xBestIndex = choose_answer,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = scan_answer,
    .xNext = next_of_answer,
    .xEof = is_at_end,
    .xColumn = answer_column,
    .xRowid = row_rowid,
};

/* Make SQLite connect the table NAME now: later it may be forbidden. */
static int connect_now(sqlite3 *db, const char *name)
{
    sqlite3_stmt *statement = NULL;
    char *text = sqlite3_mprintf("SELECT 1 FROM \"%w\"", name);
    int code = text ? sqlite3_prepare_v2(db, text, -1, &statement, NULL) : SQLITE_NOMEM;
    sqlite3_finalize(statement);
    sqlite3_free(text);
    return code;
}

int sql_add_tables(sqlite3 *db, struct sql_source *source, const char *prefix)
{
    SCOPED struct buffer name = { 0 };
    int code = SQLITE_OK;
    for (size_t i = 0; sql_tables[i].name && code == SQLITE_OK; i++) {
        struct module *module = mem_zalloc(1, sizeof *module);
        *module = (struct module){ source, i, NULL };
        buffer_clear(&name);
        buffer_printf(&name, "%s%s", prefix, sql_tables[i].name);
        code = sqlite3_create_module_v2(db, name.at, sql_tables[i].kinds ? &events_module : &rows_module,
                                        module, free);
        if (code == SQLITE_OK)
            code = connect_now(db, name.at);
    }
    return code;
}

int sql_add_answer(sqlite3 *db, const char *name, const struct table *table)
{
    struct module *module = mem_zalloc(1, sizeof *module);
    module->answer = table;
    int code = sqlite3_create_module_v2(db, name, &answer_module, module, free);
    return code == SQLITE_OK ? connect_now(db, name) : code;
}
