/* parts.h - what the tables of SQL share. */
#ifndef TPA_SQL_PARTS_H
#define TPA_SQL_PARTS_H

#include "base/table.h"
#include "memory/memory_records.h"
#include <sqlite3.h>
#include <stdatomic.h>

/*
 * sql_tables.c - the tables that a trace has in SQL, and their columns: their names, for .schema and the docs, and
 * their cells.
 *
 * Some tables hold events of some kinds (events, operators, kernels ...); their columns are chosen from one list. The
 * others have rows of their own (steps, tracks, files ...).
 */

/* The events of a table in the orders that queries need; each is computed when first needed. */
struct event_rows {
    event_id *ids; /* in order of the file */
    size_t count;
    event_id *by_time; /* by start */
    event_id *by_name; /* by the bytes of the name */
    size_t *first;     /* by the rank of a name: start of its events in by_name; one more entry at the end */
};

enum { SQL_TABLES_MOST = 32 };

/* Operators within operators. By node of the tree: the number of enclosing operators, and its time without callees. */
struct sql_nesting {
    struct calltree *tree; /* NULL: not made yet */
    node_id *nodes;        /* by event */
    uint32_t *depth;
    int64_t *self_ns;
};

/* The data source of the tables. */
struct sql_source {
    const struct trace *trace; /* NULL: none yet; the tables have columns but no rows */
    const int64_t *shift_ns;   /* by file */
    int64_t *origin_ns, *rank; /* by file */
    uint32_t *name_rank;       /* by name: its rank in byte order; NULL: not made yet */
    struct event_rows rows[SQL_TABLES_MOST];
    const struct memory_records *memory; /* NULL: not requested yet */
    struct sql_nesting nesting;
    struct trace_wants wants; /* what the prepared statements read */
    struct arena arena;       /* of all that was made of the trace */
};

/* A column of a table that holds no events. */
struct sql_column {
    const char *name;
    enum table_kind kind;
    const char *help;
};

struct sql_table {
    const char *name, *help;
    uint32_t kinds;           /* a table of events: bit 1 << EVENT_... */
    uint64_t args;            /* ... and the arguments that are columns of it */
    bool links;               /* ... has the columns of calls and operators */
    bool nests;               /* ... has the columns of operators within operators; links or nests */
    struct trace_wants wants; /* no table of events: what it reads */
    const struct sql_column *columns;
    size_t column_count;
    int64_t (*count)(struct sql_source *source);
    void (*cell)(struct sql_source *source, int64_t row, size_t column, sqlite3_context *out);
    /* Is the row only a placeholder? NULL: no placeholders. */
    bool (*is_row)(struct sql_source *source, int64_t row);
};

extern const struct sql_table sql_tables[]; /* ends in one without a name */

/* Numbers of columns of tables of events. */
enum event_column {
    EVENT_COLUMN_ID,
    EVENT_COLUMN_TRACK,
    EVENT_COLUMN_KIND,
    EVENT_COLUMN_NAME,
    EVENT_COLUMN_START,
    EVENT_COLUMNS_OF_ALL = 18,
};

/* The column number INDEX of a table of events as a column; false past the last. NAME lives in TEXT. */
bool sql_event_column(const struct sql_table *table, size_t index, struct buffer *text,
                      struct sql_column *column);

/* The same of any table. */
bool sql_table_column(const struct sql_table *table, size_t index, struct buffer *text,
                      struct sql_column *column);

/* What the reader must decode for column INDEX of a table of events. */
struct trace_wants sql_event_column_wants(const struct sql_table *table, size_t index);

/* Return column INDEX of event E to SQLite. */
void sql_event_cell(struct sql_source *source, const struct sql_table *table, size_t index, event_id e,
                    sqlite3_context *out);

/* The rows of a table of events, by number TABLE of sql_tables; in order of time; by name. */
const struct event_rows *sql_event_rows(struct sql_source *source, size_t table);
const struct event_rows *sql_event_rows_by_time(struct sql_source *source, size_t table);
const struct event_rows *sql_event_rows_by_name(struct sql_source *source, size_t table);

/* The start of E in ns, on the common clock of all files. */
static inline int64_t sql_start_ns(const struct sql_source *source, event_id e)
{
    return trace_start_ns(source->trace, e) +
           source->shift_ns[source->trace->tracks[source->trace->track[e]].file];
}

/* The type in SQL of a column: INT_NS, TEXT, REAL_SHARE ... The word after the '_' is the kind. */
void sql_add_type(struct buffer *out, enum table_kind kind);

/* Append "CREATE TABLE name(...)" for TABLE. */
void sql_add_schema(struct buffer *out, const struct sql_table *table);

/* Return a text as a cell; missing if NULL. It must live as long as the trace. */
void sql_add_text(sqlite3_context *out, const char *text, size_t len);
void sql_add_name(sqlite3_context *out, const struct names *names, name_id id);

/* modules.c - virtual tables through which SQLite reads the tables of sql_tables.h, and results of
 * functions. */

/* Register every table of sql_tables in DB, with PREFIX before its name. SOURCE is borrowed. Returns SQLite's result
 * code. */
int sql_add_tables(sqlite3 *db, struct sql_source *source, const char *prefix);

/* Register a table NAME in DB with the rows of TABLE, which is borrowed and must outlive DB. Returns SQLite's result
 * code. */
int sql_add_answer(sqlite3 *db, const char *name, const struct table *table);

/* The name that column INDEX of TABLE, a result of a function, has in SQL: its key, with _ns for times; TEXT
 * is room for it. A moment counts from the origin of its file, so `start` is at_ns, as in the tables, where
 * start_ns is on another clock. */
const char *sql_answer_column(const struct table *table, size_t index, struct buffer *text);

/*
 * temporary.c - a limit on the temporary files of SQLite, into which it sorts.
 *
 *     const char *vfs = temporary_vfs();         // for sqlite3_open_v2; NULL: SQLite's own
 *
 * A statement whose temporary file would pass temporary_most bytes fails with SQLITE_FULL.
 */

/* Bytes of one temporary file: 4 GiB. Tests lower it. */
extern int64_t temporary_most;

/* The name of a file system of SQLite with the limit; NULL if it cannot be made. */
const char *temporary_vfs(void);

/*
 * watchdog.c - ends a statement of SQLite that takes too long, also within one long call of it.
 *
 *     struct watchdog *dog = watchdog_begin(db, limit_ns, &interrupted, give_up);
 *     ... sqlite3_step ...
 *     watchdog_end(dog);
 *
 * A progress handler is called between the steps of SQLite's machine; instr() of two large values is one step that may
 * take hours. A thread therefore interrupts SQLite at the limit or when *INTERRUPTED is set. If the statement has not
 * ended WATCHDOG_GRACE_NS later, it calls GIVE_UP, which must not return: it reports the reason and ends the process.
 */

#define WATCHDOG_GRACE_NS INT64_C(2000000000)

struct watchdog;

/* TOO_LONG: the limit was passed; otherwise the user interrupted. */
typedef void watchdog_give_up(bool too_long);

/* New; end it with watchdog_end. LIMIT_NS 0: no limit. INTERRUPTED and GIVE_UP may be NULL. NULL, which watchdog_end
 * accepts, if there is nothing to watch. */
struct watchdog *watchdog_begin(sqlite3 *db, int64_t limit_ns, const atomic_int *interrupted,
                                watchdog_give_up *give_up);
void watchdog_end(struct watchdog *dog);

#endif
