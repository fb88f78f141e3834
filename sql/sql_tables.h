/*
 * sql_tables.h - the tables that a trace has in SQL, and their columns: their names, for .schema and the docs, and
 * their cells.
 *
 * Some tables hold events of some kinds (events, operators, kernels ...); their columns are chosen from one list. The
 * others have rows of their own (steps, tracks, files ...).
 */
#ifndef TPA_SQL_SQL_TABLES_H
#define TPA_SQL_SQL_TABLES_H

#include "base/buffer.h"
#include "base/table.h"
#include "memory/memory_records.h"
#include "trace/calltree.h"
#include <sqlite3.h>

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

/* Free the data allocated by SOURCE. */
void sql_source_release(struct sql_source *source);

/* Return a text as a cell; missing if NULL. It must live as long as the trace. */
void sql_add_text(sqlite3_context *out, const char *text, size_t len);
void sql_add_name(sqlite3_context *out, const struct names *names, name_id id);

#endif
