/*
 * table.h - a result: typed columns and rows, which every command makes and every printer shows.
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
 * A table may have no columns but only footers: a list of figures.
 *
 * An analysis answers with structs, and nothing computes from a table. The columns of a table are a list over the
 * members of a row, which the compiler checks:
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
#include "base/error.h"
#include "base/memory.h"
#include "base/suggest.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum table_kind {
    TABLE_NAME,   /* text that names the row; shortened in the middle when the terminal is narrow */
    TABLE_TEXT,   /* any other text; may hold anything, printers escape it */
    TABLE_NS,     /* a duration: integer nanoseconds. JSON key ends in _ns */
    TABLE_MOMENT, /* a point in time: integer nanoseconds from the origin of the trace. JSON key ends in _ns */
    TABLE_BYTES,  /* integer bytes, may be negative */
    TABLE_COUNT,  /* integer without unit: a number that names something, such as a rank or a step */
    TABLE_TALLY,  /* how many of a thing: "count" to programs, and people read 1,428 */
    TABLE_FLOPS,  /* integer floating-point operations */
    TABLE_SHARE,  /* double, 0..1; text printers show percent */
    TABLE_NUMBER, /* double without unit */
    TABLE_RATE,   /* double, GB/s (10^9 bytes); "number" to programs, and people read 422 KB/s */
    TABLE_BOOL,   /* integer 0 or 1; JSON true and false */
};

enum table_flags {
    TABLE_OPTIONAL = 1, /* text and Markdown leave the column out unless it is requested by name */
    TABLE_HIDDEN = 2,   /* in no output unless requested by name; for values other columns are made of */
    TABLE_IF_ANY = 4,   /* hidden by table_of_rows where no row has a value */
    TABLE_LINE = 8,     /* prose: text puts it below the row, on lines of its own */
    TABLE_FIGURES = 16, /* a text of figures, such as 753/1: a page puts it to the right, as numbers */
    TABLE_LIST = 32,    /* a text of names between ", ", what matters most first: its end goes first */
    TABLE_PICTURE = 64, /* a text that is drawn of blocks and shades: of ASCII where there are no others */
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

/* How a row's member holds a cell; COLUMN finds it out. */
enum table_member { MEMBER_NONE, MEMBER_INT64, MEMBER_DOUBLE, MEMBER_BOOL, MEMBER_TEXT };

struct table_column {
    const char *key;   /* as in --sort, --columns, CSV and JSON: "self_cpu_time_total" */
    const char *title; /* as people read it: "Self CPU" */
    enum table_kind kind;
    const char *help;    /* one line for --help and docs */
    unsigned flags;      /* enum table_flags */
    const char *aliases; /* other words for --sort and --columns, separated by blanks, or NULL */
    size_t offset;       /* COLUMN: of the member that holds the cell */
    enum table_member member;
};

union table_cell {
    int64_t i; /* TABLE_INT_MISSING when missing */
    double f;  /* NAN when missing */
    struct text text;
};

#define TABLE_INT_MISSING INT64_MIN

/* clang-format off */
#define TABLE_MEMBER(row, field) \
    _Generic(((row *)0)->field, int64_t : MEMBER_INT64, double : MEMBER_DOUBLE, bool : MEMBER_BOOL, \
             struct text : MEMBER_TEXT)
/* A column made of the member FIELD of struct ROW; .flags and .aliases may follow. An int64_t holds cells of integer
 * kinds, a bool BOOL, a struct text NAME and TEXT, and a double any figure: table_figure() of it, for figures that are
 * means, and where one list of columns is for tables of several kinds. */
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

/*
 * A table that a command may make, for what describes the program: its key, and every column that it may have. A list
 * of them, next to the columns, ends in { 0 }.
 */
struct table_shape {
    const char *key;
    const struct table_column *columns;
    size_t column_count;
    enum table_kind
        figures; /* what the columns of TABLE_NS hold in this table, where that is not a time; 0: as they are */
    const char *of; /* "profiles", "snapshots" ...: made of these inputs only; NULL: of all */
};

/* clang-format off */
#define TABLE_SHAPE(key_, columns_, ...) \
    { .key = (key_), .columns = (columns_), .column_count = sizeof(columns_) / sizeof *(columns_), __VA_ARGS__ }
/* clang-format on */

struct names;

struct table {
    const char *key;              /* "operators": names the table in JSON */
    const char *title;            /* "Operators": heading; may be NULL */
    struct table_column *columns; /* a copy */
    size_t column_count;
    size_t sort_column; /* what the rows are sorted by, which narrow terminals show too; or TABLE_NO_COLUMN */
    union table_cell *cells; /* row after row; read them by table_cell */
    size_t row_count, row_capacity;
    VEC_OF(struct table_footer) footers;
    const char
        *none;  /* what to say where it has no rows: "The device was never idle."; NULL: nothing of its own */
    bool folds; /* Markdown puts it into a part of the page that can be folded away */
    bool chosen;        /* columns were selected by name: a narrow terminal drops figures before texts */
    bool uncut;         /* --limit leaves all its rows: there are few of a thing */
    size_t total_rows;  /* rows before table_truncate, at least row_count; printers say "10 of 312 rows" */
    struct arena arena; /* owns the cells' texts, except the long ones */
    struct names *long_texts; /* one copy of each, however many rows have it; NULL: none yet */
};

/* New; free with table_free. COLUMNS is copied; KEY, TITLE and the columns' texts are borrowed (mostly literals). */
struct table *table_open(const char *key, const char *title, const struct table_column *columns,
                         size_t count);
void table_free(struct table *table);

/*
 * A table of COUNT ROWS of SIZE bytes each, by COLUMN_COUNT columns written with COLUMN. New; free with table_free.
 * Texts are copied. Missing are TABLE_INT_MISSING, NaN, and texts without AT. A column with TABLE_IF_ANY is hidden
 * where all are.
 */
struct table *table_of_rows(const char *key, const char *title, const struct table_column *columns,
                            size_t column_count, const void *rows, size_t count, size_t size);
#define TABLE_OF_ROWS(key, title, columns, rows, count)                                                      \
    table_of_rows(key, title, columns, sizeof(columns) / sizeof *(columns), rows, count, sizeof *(rows))

/* Append COUNT more ROWS of the struct the table's columns were written for. */
void table_add_rows(struct table *table, const void *rows, size_t count, size_t size);

/* The column made of the member at OFFSET; there must be one. */
size_t table_column_at(const struct table *table, size_t offset);
#define TABLE_SORT(table, row, field) table_sort(table, table_column_at(table, offsetof(row, field)), false)

/* Give the column made of the member FIELD the FLAGS (enum table_flags; 0: shown). */
#define TABLE_FLAG(table, row, field, flags_)                                                                \
    ((void)((table)->columns[table_column_at(table, offsetof(row, field))].flags = (flags_)))

/* Who reads an output: people see no optional columns unless requested; programs and pages that unfold do. */
enum table_reader { TABLE_FOR_PEOPLE, TABLE_FOR_PROGRAMS };

/* Is COLUMN part of an output for READER? The one place where this is decided. */
bool table_shows(const struct table *table, size_t column, enum table_reader reader);

/*
 * Index of the column called KEY, which may be a key, a key as JSON has it (with "_ns") or an alias; or -1.
 * Keys win over aliases.
 */
int table_find_column(const struct table *table, const char *key, size_t len);

/* Append a row whose cells are all missing; its index. */
size_t table_add_row(struct table *table);

/* The cell at ROW and COLUMN; borrowed until a row is added or columns are selected. */
static inline union table_cell *table_cell(const struct table *table, size_t row, size_t column)
{
    return table->cells + row * table->column_count + column;
}

/*
 * Set a cell of an integer kind, a double kind, a text kind. Text is copied; NULL is missing.
 * Not TABLE_INT_MISSING, nor NaN, unless the cell is to be missing.
 */
void table_set_int(struct table *table, size_t row, size_t column, int64_t value);
void table_set_number(struct table *table, size_t row, size_t column, double value);
void table_set_text(struct table *table, size_t row, size_t column, const char *text, size_t len);

/* Set a cell of any kind but text to table_figure(). */
void table_set_figure(struct table *table, size_t row, size_t column, double value);

bool table_is_text(enum table_kind kind);   /* NAME, TEXT */
bool table_is_number(enum table_kind kind); /* SHARE, NUMBER, RATE: doubles */
bool table_is_time(enum table_kind kind); /* NS, MOMENT: keys end in "_ns" where files are read by programs */
bool table_is_missing(const struct table *table, size_t row, size_t column);
bool table_cell_is_missing(const union table_cell *cell, enum table_kind kind);

/* The word for KIND in JSON: "name", "text", "ns", "moment", "bytes", "count", "flops", "share", "number", "bool". */
const char *table_kind_name(enum table_kind kind);

/* What figures of KIND are counted in: "ns", "B", "FLOP"; NULL where there is no unit. */
const char *table_kind_unit(enum table_kind kind);

/* A cell of each sort, for footers. */
static inline union table_cell table_int(int64_t value)
{
    return (union table_cell){ .i = value };
}
static inline union table_cell table_number(double value)
{
    return (union table_cell){ .f = value };
}

/* VALUE, which was computed, as a cell of KIND (no text): rounded where that holds integers; missing if not finite. */
union table_cell table_figure(enum table_kind kind, double value);

/* Add a footer; KEY and TITLE are borrowed, a text value is copied. */
void table_add_footer(struct table *table, const char *key, const char *title, enum table_kind kind,
                      union table_cell value);
void table_add_text_footer(struct table *table, const char *key, const char *title, const char *text,
                           size_t len);

/* As table_find_column, for a sort key given by the user; -1 and ERR, with suggestions, if there is no such column. */
int table_sort_column(const struct table *table, const char *key, struct tpa_error *err);

/* Consider every word that table_find_column takes. The table must outlive what NEAR finds. */
void table_suggest_column(const struct table *table, struct suggest *near);

/*
 * Sort rows by COLUMN, stably: figures from large to small, moments from early to late, texts from A to Z
 * (bytewise), missing cells last; REVERSE turns the order of the values round but keeps missing ones last.
 */
void table_sort(struct table *table, size_t column, bool reverse);

/* Put the last row first. */
void table_reverse(struct table *table);

/* Keep the first COUNT rows. total_rows goes on telling how many there were. */
void table_truncate(struct table *table, size_t count);

/* Keep the rows for which keep[row] is true. The others were not requested: total_rows forgets them. */
void table_filter(struct table *table, const bool *keep);

/*
 * Keep only the given columns, in the given order, each once. COLUMNS holds COUNT indices. They were requested,
 * so they are neither optional nor hidden any more. When the column sorted by goes, the order of the rows stays.
 */
void table_select(struct table *table, const size_t *columns, size_t count);

/*
 * Take the hidden columns away: those that have nothing to say about the rows that were made. Otherwise a table whose
 * column has the key of another's would be shown where only that one was requested.
 */
void table_drop_hidden(struct table *table);

#endif
