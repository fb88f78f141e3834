/*
 * printer.h - a way to show a result: as a terminal table, CSV, JSON, Markdown ...
 *
 * A printer knows tables (base/table.h) and nothing of traces, so that every command can be shown in
 * every format. A new one is one file that ends in one constant, and one row in printers.c:
 *
 *     const struct printer printer_csv = { "csv", "comma-separated values, for spreadsheets", print_csv };
 *
 *     const struct printer *printer = printer_find("csv");
 *     if (!printer->print(result, &(struct print_options){ 0 }, stdout, &err))
 *         ...
 *
 * A printer writes to OUT and neither flushes nor closes it. A failed write is an error.
 */
#ifndef TPA_REPORT_PRINTER_H
#define TPA_REPORT_PRINTER_H

#include "report/figures.h"

/* How the reader of the output sees it. All zero is right for a file: no limit, no colour. */
struct print_options {
    size_t width;             /* columns of the terminal; 0: no limit */
    bool color;               /* escape sequences are welcome */
    bool unicode;             /* so are block characters in UTF-8, of which pictures are made */
    bool wide;                /* show names in full and all columns, however wide that gets */
    bool answer;              /* the answer of the result instead of its tables, where it is for that */
    size_t height;            /* lines of the terminal; 0: it is none */
    bool all;                 /* also tables that are details */
    bool all_notes;           /* those that are explanations, too */
    enum time_unit time_unit; /* for people; programs get integer nanoseconds */
};

struct printer {
    const char *name; /* as in --format: "csv" */
    const char *help; /* one line for --help and docs */
    bool (*print)(const struct result *result, const struct print_options *options, FILE *out,
                  struct tpa_error *err);
    bool rows_only;    /* shows no notices: the caller must print them on stderr */
    bool for_programs; /* who reads it wants every row and every column, and no figure rounded */
    bool joins_tables; /* several tables become one text, which no reader of that format takes apart */
    bool binary;       /* no text: a terminal is not a place for it */
    const char *
        ending; /* of the files of a folder that gets a file for each table: ".csv"; NULL: it is not for folders */
};

/* All printers; the first is the default; ends in NULL. */
extern const struct printer *const printers[];

/* The printer called NAME, or NULL. */
const struct printer *printer_find(const char *name);

#endif
