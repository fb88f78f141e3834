/*
 * table.h - a result: typed columns and rows, which commands fill and printers show.
 *
 * An analysis fills tables and prints nothing; a printer shows any table and knows no kernel.
 *
 *     static const struct table_column columns[] = {
 *         { "name", "Name", TABLE_NAME, "operator, runtime call or kernel" },
 *         { "count", "# of Calls", TABLE_COUNT, "how often it ran" },
 *         { "cpu_time_total", "CPU total", TABLE_NS, "time from start to end, children included" },
 *     };
 *     struct table *table = table_open("operators", "Operators", columns, 3);
 *     size_t row = table_add_row(table);
 *     table_set_text(table, row, 0, "aten::mm", 8);   // copied
 *     table_set_int(table, row, 1, 3);
 *     table_set_int(table, row, 2, 120500);           // nanoseconds
 *
 * Exact values live in a table: times are integer nanoseconds, sizes integer bytes. Units, rounding
 * and escaping are the printers' business. A cell that was not set is missing, which is not zero.
 *
 * A table without columns but with footers is a list of figures.
 *
 * An analysis returns structs, and nothing computes from a table. The columns of a table are a list of members of a row
 * struct, which the compiler checks:
 *
 *     struct kernel_row { struct text name; int64_t count, total_ns; double share; };
 *
 *     static const struct table_column columns[] = {
 *         COLUMN(struct kernel_row, name, "name", "Name", TABLE_NAME, "the kernel"),
 *         COLUMN(struct kernel_row, total_ns, "total", "Total", TABLE_NS, "its durations added up", .aliases = "sum"),
 *     };
 *     struct table *table = TABLE_OF_ROWS("kernels", "Kernels", columns, rows, row_count);
 *     TABLE_SORT(table, struct kernel_row, total_ns);
 */
#ifndef TPA_BASE_TABLE_H
#define TPA_BASE_TABLE_H

#include "base/arena.h"
#include "base/memory.h"
#include "base/suggest.h"

enum table_kind {
    TABLE_NAME,   /* text that names the row; shortened in the middle on a narrow terminal */
    TABLE_TEXT,   /* any other text; may hold any bytes, printers escape it */
    TABLE_NS,     /* a duration: integer nanoseconds. JSON key ends in _ns */
    TABLE_MOMENT, /* a point in time: integer nanoseconds from the origin of the trace. JSON key ends in _ns */
    TABLE_BYTES,  /* integer bytes, may be negative */
    TABLE_COUNT,  /* integer without unit: a number that identifies something, such as a rank or a step */
    TABLE_TALLY,  /* a number of things: "count" in JSON, 1,428 for people */
    TABLE_FLOPS,  /* integer floating-point operations */
    TABLE_SHARE,  /* double, 0..1; text printers show percent */
    TABLE_NUMBER, /* double without unit */
    TABLE_RATE,   /* double, GB/s (10^9 bytes); "number" in JSON, 422 KB/s for people */
    TABLE_BOOL,   /* integer 0 or 1; JSON true and false */
};

enum table_flags {
    TABLE_OPTIONAL = 1, /* text and Markdown leave the column out unless requested by name */
    /* in no output unless requested by name; for values that other columns are computed from */
    TABLE_HIDDEN = 2,
    TABLE_IF_ANY = 4,   /* hidden by table_of_rows if no row has a value */
    TABLE_LINE = 8,     /* prose: text prints it below the row, on its own lines */
    TABLE_FIGURES = 16, /* a text of figures, such as 753/1: HTML aligns it to the right, like numbers */
    TABLE_LIST = 32,    /* names separated by ", ", the most important first: shortened at the end */
    /* a text drawn with block characters: replaced by ASCII where those are unavailable */
    TABLE_PICTURE = 64,
    TABLE_FOREIGN =
        128, /* means nothing on the devices of this trace: only programs get it, unless requested by name */
};

/* A text of a row: borrowed, LEN bytes, NUL-terminated; may hold NULs inside. AT is NULL when it is missing. */
struct text {
    const char *at;
    size_t len;
};

/* TEXT up to its NUL; missing when it is NULL. */
static inline struct text as_text(const char *text)
{
    return (struct text){ text, text ? strlen(text) : 0 };
}

/* How a row's member stores a cell; COLUMN derives it. */
enum table_member { MEMBER_NONE, MEMBER_INT64, MEMBER_DOUBLE, MEMBER_BOOL, MEMBER_TEXT };

struct table_column {
    const char *key;   /* as in --sort, --columns, CSV and JSON: "self_cpu_time_total" */
    const char *title; /* as people read it: "Self CPU" */
    enum table_kind kind;
    const char *help;    /* one line for --help and docs */
    unsigned flags;      /* enum table_flags */
    const char *aliases; /* other words for --sort and --columns, separated by blanks, or NULL */
    size_t offset;       /* COLUMN: offset of the member that holds the cell */
    enum table_member member;
};

union table_cell {
    int64_t i; /* TABLE_INT_MISSING if missing */
    double f;  /* NAN if missing */
    struct text text;
};

#define TABLE_INT_MISSING INT64_MIN

/* clang-format off */
#define TABLE_MEMBER(row, field) \
    _Generic(((row *)0)->field, int64_t : MEMBER_INT64, double : MEMBER_DOUBLE, bool : MEMBER_BOOL, \
             struct text : MEMBER_TEXT)
/* A column made of the member FIELD of struct ROW; .flags and .aliases may follow. An int64_t holds cells of integer
 * kinds, a bool BOOL, a struct text NAME and TEXT, and a double any figure: table_figure() of it, for figures that are
 * means, and for one list of columns shared by tables of several kinds. */
#define COLUMN(row, field, key_, title_, kind_, help_, ...) \
    { .key = key_, .title = title_, .kind = kind_, .help = help_, .offset = offsetof(row, field), \
      .member = TABLE_MEMBER(row, field), __VA_ARGS__ }
/* clang-format on */

/* A figure about the whole table, shown below it: "Self CPU time total: 1.124s". */
struct table_footer {
    const char *key, *title;
    enum table_kind kind;
    union table_cell value;
};

#define TABLE_NO_COLUMN ((size_t)-1)

struct table;

/* A table that a command may return, for descriptions of the program: its key, and all columns that it may have. A list
 * of them, next to the columns, ends in { 0 }. */
struct table_shape {
    const char *key;
    const struct table_column *columns;
    size_t column_count;
    /* kind of the columns of TABLE_NS in this table, if they are not times; 0: times */
    enum table_kind figures;
    const char *of; /* "profiles", "snapshots" ...: for these inputs only; NULL: for all */
};

/* clang-format off */
#define TABLE_SHAPE(key_, columns_, ...) \
    { .key = (key_), .columns = (columns_), .column_count = sizeof(columns_) / sizeof *(columns_), __VA_ARGS__ }
/* clang-format on */

struct names;

enum table_single {
    SINGLE_LISTED,     /* as a list of titles and values */
    SINGLE_IF_ALL_FIT, /* as a row if shortening its texts suffices, else as a list */
    SINGLE_ROW         /* as a row, without the columns that do not fit */
};

struct table {
    const char *key;              /* "operators": key of the table in JSON */
    const char *title;            /* "Operators": heading; may be NULL */
    struct table_column *columns; /* a copy */
    size_t column_count;
    /* the column the rows are sorted by, which narrow terminals always show; or TABLE_NO_COLUMN */
    size_t sort_column;
    union table_cell *cells; /* row after row; read with table_cell */
    size_t row_count, row_capacity;
    VEC_OF(struct table_footer) footers;
    const char *none; /* text for no rows: "The device was never idle."; NULL: a general one */
    bool folds;       /* Markdown puts it into a collapsible part of the page */
    bool chosen; /* columns were selected by name: on a narrow terminal, figures are dropped before texts */
    bool detail; /* left out of text for people, unless --all or --table requests it */
    enum table_single single; /* how text shows a single row that is too wide */
    bool uncut;               /* --limit keeps all its rows: there are always few */
    size_t total_rows;  /* rows before table_truncate, at least row_count; printers say "10 of 312 rows" */
    struct arena arena; /* owns the cells' texts, except the long ones */
    struct names *long_texts; /* one copy of each distinct text; NULL: none yet */
};

/* New; free with table_free. COLUMNS is copied; KEY, TITLE and the columns' texts are borrowed (mostly literals). */
struct table *table_open(const char *key, const char *title, const struct table_column *columns,
                         size_t count);
void table_free(struct table *table);

/* A table of COUNT ROWS of SIZE bytes each, by COLUMN_COUNT columns written with COLUMN. New; free with table_free.
 * Texts are copied. Missing values are TABLE_INT_MISSING, NaN, and texts whose AT is NULL. A column with TABLE_IF_ANY
 * is hidden if all are missing. */
struct table *table_of_rows(const char *key, const char *title, const struct table_column *columns,
                            size_t column_count, const void *rows, size_t count, size_t size);
#define TABLE_OF_ROWS(key, title, columns, rows, count)                                                      \
    table_of_rows(key, title, columns, sizeof(columns) / sizeof *(columns), rows, count, sizeof *(rows))

/* Append COUNT more ROWS of the struct the table's columns were written for. */
void table_add_rows(struct table *table, const void *rows, size_t count, size_t size);

/* The column made of the member at OFFSET, which must exist. */
size_t table_column_at(const struct table *table, size_t offset);
#define TABLE_SORT(table, row, field) table_sort(table, table_column_at(table, offsetof(row, field)), false)

/* Give the column made of the member FIELD the FLAGS (enum table_flags; 0: shown). */
#define TABLE_FLAG(table, row, field, flags_)                                                                \
    ((void)((table)->columns[table_column_at(table, offsetof(row, field))].flags = (flags_)))

/* Who reads an output: optional columns are hidden from people unless requested; programs and pages that unfold get
 * them. */
enum table_reader { TABLE_FOR_PEOPLE, TABLE_FOR_PROGRAMS };

/* Is COLUMN part of an output for READER? The one place where this is decided. */
bool table_shows(const struct table *table, size_t column, enum table_reader reader);

/* Index of the column called KEY, which may be a key, a key as JSON has it (with "_ns") or an alias; or -1.
 * Keys win over aliases. */
int table_find_column(const struct table *table, const char *key, size_t len);

/* Append a row whose cells are all missing; its index. */
size_t table_add_row(struct table *table);

/* The cell at ROW and COLUMN; borrowed until a row is added or columns are selected. */
static inline union table_cell *table_cell(const struct table *table, size_t row, size_t column)
{
    return table->cells + row * table->column_count + column;
}

/* Set a cell of an integer kind, a double kind, a text kind. Text is copied; NULL is missing.
 * TABLE_INT_MISSING and NaN make the cell missing. */
void table_set_int(struct table *table, size_t row, size_t column, int64_t value);
void table_set_number(struct table *table, size_t row, size_t column, double value);
void table_set_text(struct table *table, size_t row, size_t column, const char *text, size_t len);

/* Set a cell of any kind except text to table_figure(). */
void table_set_figure(struct table *table, size_t row, size_t column, double value);

bool table_is_text(enum table_kind kind);   /* NAME, TEXT */
bool table_is_number(enum table_kind kind); /* SHARE, NUMBER, RATE: doubles */
bool table_is_time(enum table_kind kind);   /* NS, MOMENT: keys end in "_ns" in outputs for programs */
bool table_is_missing(const struct table *table, size_t row, size_t column);
bool table_cell_is_missing(const union table_cell *cell, enum table_kind kind);

/* The word for KIND in JSON: "name", "text", "ns", "moment", "bytes", "count", "flops", "share", "number", "bool". */
const char *table_kind_name(enum table_kind kind);

/* The unit of KIND: "ns", "B", "FLOP"; NULL if it has none. */
const char *table_kind_unit(enum table_kind kind);

/* Make a cell of each type, for footers. */
static inline union table_cell table_int(int64_t value)
{
    return (union table_cell){ .i = value };
}
static inline union table_cell table_number(double value)
{
    return (union table_cell){ .f = value };
}

/* A computed VALUE as a cell of KIND (no text): rounded for integer kinds; missing if not finite. */
union table_cell table_figure(enum table_kind kind, double value);

/* Add a footer; KEY and TITLE are borrowed, a text value is copied. */
void table_add_footer(struct table *table, const char *key, const char *title, enum table_kind kind,
                      union table_cell value);
void table_add_text_footer(struct table *table, const char *key, const char *title, const char *text,
                           size_t len);

/* As table_find_column, for a sort key given by the user. Returns -1 and ERR, with suggestions, if there is no such
 * column. */
int table_sort_column(const struct table *table, const char *key, struct tpa_error *err);

/* Call suggest_consider for every word that table_find_column accepts. The table must outlive the suggestion of
 * NEAR. */
void table_suggest_column(const struct table *table, struct suggest *near);

/* Sort rows by COLUMN, stably: figures from large to small, moments from early to late, texts from A to Z
 * (bytewise), missing cells last; REVERSE reverses the order of the values but keeps missing ones last. */
void table_sort(struct table *table, size_t column, bool reverse);

/* Put the last row first. */
void table_reverse(struct table *table);

/* Keep the first COUNT rows. total_rows is unchanged. */
void table_truncate(struct table *table, size_t count);

/* Keep the rows for which keep[row] is true. total_rows excludes the removed rows: they were not requested. */
void table_filter(struct table *table, const bool *keep);

/* Keep only the given columns, in the given order, each once. COLUMNS holds COUNT indices. Because they were
 * requested, they are neither optional nor hidden any more. If the column sorted by is removed, the order of
 * the rows stays. */
void table_select(struct table *table, const size_t *columns, size_t count);

/* Remove the hidden columns, which do not apply to these rows. Otherwise, when a column is requested by key, a table
 * with a hidden column of the same key would be shown as well. */
void table_drop_hidden(struct table *table);

#endif
