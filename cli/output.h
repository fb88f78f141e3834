/*
 * output.h - printing results: the shared output options.
 *
 *     struct top_args { ...; struct output_args output; };
 *     static const struct top_args top_defaults = { .output = { .limit = { .count = 20 } } };
 *     static const struct opt top_opts[] = { ..., OUTPUT_OPTIONS(struct top_args, output), OPT_END };
 *     ...
 *     return output_result(result, &args->output, err) ? EXIT_FINE : EXIT_TROUBLE;
 */
#ifndef TPA_CLI_OUTPUT_H
#define TPA_CLI_OUTPUT_H

#include "base/options.h"
#include "report/printer.h"

enum output_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Zero-initialised: a table on standard output, all rows, colours if it is a terminal. */
struct output_args {
    int format;                       /* index into the printers of every command followed by OWN */
    const struct printer *const *own; /* printers of this command only, ending in NULL; NULL: none */
    const char *tables;               /* keys separated by commas; NULL: all */
    const char *columns;              /* keys separated by commas; NULL: the default columns */
    struct limit limit;               /* of rows, for each table */
    int64_t budget;                   /* bytes of the output at most; 0: any number */
    bool wide, all_notes;
    bool all;         /* tables that are details, too, and all notes */
    bool no_pager;    /* with ALL: on a terminal, too */
    bool answer;      /* text may show the answer instead of tables, as no number of rows was requested */
    const char *path; /* NULL: standard output */
    enum output_color color;
    int time_unit; /* enum time_unit; for commands that have an option for it */
};

/* For a command that by default shows some rows to people and all to programs: the default of `limit.share`, which
 * cannot be typed. */
#define LIMIT_NOT_GIVEN (-1.0)

/* The given limit, or else FOR_PEOPLE rows, or all of them for formats read by programs. */
struct limit output_limit_or(const struct output_args *args, uint64_t for_people);
bool output_limit_given(const struct output_args *args);

/* Is the format one that people read, rather than programs? */
bool output_is_for_people(const struct output_args *args);

/* The names of printers, for --format. */
opt_choice_at output_format_at;

/*
 * A command with printers of its own has them in the defaults of its arguments, and a function that names them all:
 *
 *     static const struct printer *const own_printers[] = { &printer_junit, &printer_github, NULL };
 *     static const struct diff_args diff_defaults = { .output = { .own = own_printers } };
 *     OUTPUT_FORMATS(diff_format_at, own_printers);
 *     ... OUTPUT_OPTIONS_WITH(struct diff_args, output, diff_format_at) ...
 *
 * If the text is written by the command itself instead of from a result, the printer's print is NULL, and the
 * command looks whether output_printer() is that one.
 */
#define OUTPUT_FORMATS(format_at, own)                                                                       \
    static bool format_at(size_t index, struct opt_choice *choice)                                           \
    {                                                                                                        \
        return output_format_of(own, index, choice);                                                         \
    }                                                                                                        \
    static bool format_at(size_t index, struct opt_choice *choice)
bool output_format_of(const struct printer *const *own, size_t index, struct opt_choice *choice);

/* The selected printer. */
const struct printer *output_printer(const struct output_args *args);
extern const struct opt_choice output_colors[];

/* How much may be printed: "2000" (tokens of 2.5 bytes), "8kB"; int64_t, in bytes. */
extern const struct opt_type opt_budget;

/* clang-format off */
#define OPT_BUDGET(T, field) \
    OPT_VALUE(0, "budget", T, field, int64_t, opt_budget, "N", \
              "print at most N tokens (2.5 bytes each), or a size such as 8kB, and say what is left out", .flags = 0)
#define OUTPUT_OPTIONS(T, field) OUTPUT_OPTIONS_WITH(T, field, output_format_at)

/* The same with the formats of FORMAT_AT, for a command with its own. */
#define OUTPUT_OPTIONS_WITH(T, field, format_at) \
    OPT_GROUP("Output"), \
    OPT_CHOICE_OF('f', "format", T, field.format, format_at, "FORMAT", "how to print the result"), \
    OPT_TEXT(0, "table", T, field.tables, "KEYS", "only these tables, by the keys that JSON has, separated by commas"), \
    OPT_TEXT('c', "columns", T, field.columns, "KEYS", \
             "columns to show, in this order, separated by commas; \"all\" shows every column"), \
    OPT_LIMIT('n', "limit", T, field.limit, "N", "show the first N rows of each table, or N%; 0 shows all"), \
    OPT_BUDGET(T, field.budget), \
    OPT_FLAG('w', "wide", T, field.wide, "show names in full, however wide that gets"), \
    OPT_FLAG(0, "notes", T, field.all_notes, "print all notes, also those that explain how rows are counted"), \
    OPT_FILE('o', "output", T, field.path, "FILE", \
             "write to FILE, which appears whole or not at all; to a folder, a file for each table"), \
    OPT_CHOICE(0, "color", T, field.color, output_colors, "WHEN", "use colours")
/* clang-format on */

/* For a command with tables that are details (base/table.h). */
#define OPT_ALL(T, field)                                                                                    \
    OPT_FLAG('a', "all", T, field.all, "print everything: tables of details, too, and all notes"),           \
        OPT_FLAG(0, "no-pager", T, field.no_pager, "do not show that in $PAGER, as is done on a terminal")

/* Print RESULT according to ARGS, and check that it was written. Columns and rows that were not requested are removed
 * from RESULT. A reader that closed its end of the pipe is not an error. */
bool output_result(struct result *result, const struct output_args *args, struct tpa_error *err);

/* The same, with a printer that the command chose itself. */
bool output_result_with(const struct printer *printer, struct result *result, const struct output_args *args,
                        struct tpa_error *err);

/* Has a result been sent to standard output since output_begin()? */
void output_begin(void);
bool output_has_begun(void);

/* Print the notices of RESULT on stderr, for formats without a place for them, such as CSV. */
void output_print_notices(const struct result *result);

/* The steps of it, for commands that need them separately: columns, limit; both change RESULT. */
bool output_select_columns(struct result *result, const char *columns, struct tpa_error *err);
void output_limit_rows(struct result *result, const struct limit *limit);

#endif
