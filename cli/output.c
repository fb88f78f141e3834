#include "cli/output.h"

#include "base/escape.h"
#include "cli/command_line.h"
#include "cli/output_file.h"
#include "cli/output_tables.h"
#include "cli/terminal.h"
#include "report/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- $PAGER, as git does ---- */

static bool pager_fits(const char *text, size_t len, size_t height)
{
    size_t lines = SUM(size_t, i, len, text[i] == '\n');
    return height == 0 || lines < height;
}

/* Show the LEN bytes at TEXT in $PAGER (less if that is unset) and wait until it ends. False, and nothing was
 * shown: they fit on HEIGHT lines, $PAGER is empty or "cat", $TERM is dumb, or there is no such program. Less
 * gets LESS=FRX unless that is set. */
static bool pager_show(const char *text, size_t len, size_t height)
{
    enum { NOT_FOUND = 127 };
    const char *pager = getenv("PAGER"), *term = getenv("TERM");
    if (!pager)
        pager = "less";
    if (!*pager || strcmp(pager, "cat") == 0 || !term || strcmp(term, "dumb") == 0 ||
        pager_fits(text, len, height))
        return false;
    setenv("LESS", "FRX", 0);
    fflush(stdout);
    FILE *to = popen(pager, "w"); /* NOLINT(cert-env33-c): PAGER is a command line of the user's */
    if (!to)
        return false;
    void (*interrupted)(int) = signal(SIGINT, SIG_IGN); /* it is for the pager */
    fwrite(text, 1, len, to);
    int status = pclose(to);
    signal(SIGINT, interrupted);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
}

/* ---- results ---- */

const struct opt_choice output_colors[] = {
    [COLOR_AUTO] = { "auto", "on a terminal, unless NO_COLOR is set" },
    [COLOR_ALWAYS] = { "always" },
    [COLOR_NEVER] = { "never" },
    { 0 },
};

/* Number INDEX of the printers of every command, followed by those of OWN; NULL past the end. */
static const struct printer *printer_at(const struct printer *const *own, size_t index)
{
    for (size_t i = 0; printers[i]; i++)
        if (index-- == 0)
            return printers[i];
    for (size_t i = 0; own && own[i]; i++)
        if (index-- == 0)
            return own[i];
    return NULL;
}

bool output_format_of(const struct printer *const *own, size_t index, struct opt_choice *choice)
{
    const struct printer *printer = printer_at(own, index);
    if (printer)
        *choice = (struct opt_choice){ printer->name, printer->help, NULL };
    return printer != NULL;
}

bool output_format_at(size_t index, struct opt_choice *choice)
{
    return output_format_of(NULL, index, choice);
}

const struct printer *output_printer(const struct output_args *args)
{
    return printer_at(args->own, (size_t)args->format);
}

/* --- a budget ----------------------------------------------------------------------------------------------- */

static bool parse_budget(const struct opt *opt, const char *text, void *field)
{
    (void)opt;
    int64_t number;
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;
    if (!digits || !quantity_parse_integer(text, digits, &number) || number > INT64_MAX / 5000)
        return false;
    if (!*unit)
        number = number < BUDGET_LEAST_TOKENS ? 0 : number * 5 / 2;
    else if (strcmp(unit, "kB") == 0 || strcmp(unit, "k") == 0)
        number *= 1000;
    else if (strcmp(unit, "MB") == 0 || strcmp(unit, "M") == 0)
        number = number > INT64_MAX / 1000000 ? INT64_MAX : number * 1000000;
    else if (strcmp(unit, "B") != 0)
        return false;
    *(int64_t *)field = number;
    return number >= BUDGET_LEAST_BYTES;
}

static void append_budget(const struct opt *opt, const void *field, struct buffer *out)
{
    (void)opt;
    if (*(const int64_t *)field)
        buffer_printf(out, "%" PRId64 "B", *(const int64_t *)field);
}

const struct opt_type opt_budget = {
    "budget", "tokens, such as 2000 (200 and more), or a size such as 8kB (500B and more)", parse_budget,
    append_budget
};

/* As PRINTER does, within the budget of ARGS. */
static bool print_in_budget(const struct printer *printer, const struct result *result,
                            const struct print_options *options, const struct output_args *args, FILE *out,
                            struct tpa_error *err)
{
    static const char *const rankings[] = { "tpa.top/1", "tpa.gaps/1", "tpa.kernels/1", "tpa.launches/1" };
    SCOPED struct buffer more = { 0 };
    bool beginning = ANY(i, sizeof rankings / sizeof *rankings, strcmp(result->schema, rankings[i]) == 0);
    command_line_add_more(&more);
    bool good =
        printer->for_programs
            ? budget_print_json(result, (size_t)args->budget, more.at, beginning, out, err)
            : budget_print_text(printer, result, options, (size_t)args->budget, more.at, beginning, out, err);
    return good;
}

/* Only the table and JSON can be cut so that the reader sees it. */
static bool check_budget(const struct printer *printer, const struct output_args *args, struct tpa_error *err)
{
    if (!args->budget || strcmp(printer->name, "json") == 0 || strcmp(printer->name, "table") == 0)
        return true;
    tpa_fail(err, TPA_NOWHERE,
             "--budget is for --format table and json: %s has no place for what is left out", printer->name);
    return tpa_hint(err, "--limit N prints fewer rows");
}

/* --- columns ------------------------------------------------------------------------------------------------- */

/* Was a column called KEY in a table before table T, or in T before column C? */
static bool was_listed(const struct result *result, size_t t, size_t c, const char *key)
{
    for (size_t i = 0; i <= t; i++) {
        const struct table *table = result->tables.at[i];
        if (ANY(k, (i == t ? c : table->column_count), strcmp(table->columns[k].key, key) == 0))
            return true;
    }
    return false;
}

static bool unknown_column(const struct result *result, const char *word, size_t len, struct tpa_error *err)
{
    struct suggest near = suggest_for(word, len);
    SCOPED struct buffer keys = { 0 };
    for (size_t t = 0; t < result->tables.count; t++) {
        const struct table *table = result->tables.at[t];
        for (size_t c = 0; c < table->column_count; c++) {
            const char *key = table->columns[c].key;
            if (was_listed(result, t, c, key))
                continue;
            buffer_printf(&keys, "%s%s", keys.count > 0 ? ", " : "", key);
        }
    }
    for (size_t t = 0; t < result->tables.count; t++)
        table_suggest_column(result->tables.at[t], &near);
    if (near.best)
        tpa_fail(err, TPA_NOWHERE, "there is no column '%.*s'; did you mean %s?", (int)len, word, near.best);
    else
        tpa_fail(err, TPA_NOWHERE, "there is no column '%.*s'", (int)len, word);
    if (keys.count > 0)
        tpa_hint(err, "the columns are %s", keys.at);
    return false;
}

/* Every word must be a column of some table. */
static bool check_columns(const struct result *result, const char *list, struct tpa_error *err)
{
    const char *word;
    size_t len;
    while (output_next_word(&list, &word, &len)) {
        bool known = ANY(t, result->tables.count, table_find_column(result->tables.at[t], word, len) >= 0);
        if (!known)
            return unknown_column(result, word, len, err);
    }
    return true;
}

/* Reduce TABLE to the columns of LIST that it has; false when it has none of them. */
static bool select_from(struct table *table, const char *list)
{
    SCOPED VEC_OF(size_t) chosen = { 0 };
    const char *word;
    size_t len;
    while (output_next_word(&list, &word, &len)) {
        int column = table_find_column(table, word, len);
        if (column >= 0)
            *VEC_PUSH(&chosen) = (size_t)column;
    }
    bool any = chosen.count > 0;
    if (any)
        table_select(table, chosen.at, chosen.count);
    table->chosen = any;
    return any;
}

static void print_optional_columns(struct table *table)
{
    for (size_t c = 0; c < table->column_count; c++)
        table->columns[c].flags &= ~(unsigned)TABLE_OPTIONAL;
}

bool output_select_columns(struct result *result, const char *columns, struct tpa_error *err)
{
    bool all = strcmp(columns, "all") == 0;
    if (!all && !check_columns(result, columns, err))
        return false;
    size_t kept = 0;
    for (size_t t = 0; t < result->tables.count; t++) {
        struct table *table = result->tables.at[t];
        if (all)
            print_optional_columns(table);
        if (all || select_from(table, columns)) {
            result->tables.at[kept++] = table;
        } else {
            table_free(table);
        }
    }
    result->tables.count = kept;
    return true;
}

bool output_limit_given(const struct output_args *args)
{
    return args->limit.is_share || args->limit.share != LIMIT_NOT_GIVEN;
}

bool output_is_for_people(const struct output_args *args)
{
    return !output_printer(args)->for_programs;
}

struct limit output_limit_or(const struct output_args *args, uint64_t for_people)
{
    if (output_limit_given(args))
        return args->limit;
    return (struct limit){ .count = output_is_for_people(args) ? for_people : 0 };
}

void output_limit_rows(struct result *result, const struct limit *limit)
{
    for (size_t t = 0; t < result->tables.count; t++) {
        struct table *table = result->tables.at[t];
        if (!table->uncut)
            table_truncate(table, limit_rows(limit, table->row_count));
    }
}

/* --- printing ------------------------------------------------------------------------------------------------ */

void output_print_notices(const struct result *result)
{
    SCOPED struct buffer line = { 0 }, safe = { 0 };
    for (size_t i = 0; i < result->notices.count; i++) {
        buffer_clear(&line);
        buffer_clear(&safe);
        figure_add_notice(&line, &result->notices.at[i]);
        escape_terminal(&safe, line.at, line.count); /* ends of lines, too: a notice is one line */
        terminal_print("%s\n", safe.at);
    }
}

/* Binary output on a terminal would be unreadable, and might control it. */
static bool check_terminal(const struct printer *printer, const struct output_file *file,
                           struct tpa_error *err)
{
    if (!printer->binary || !isatty(fileno(file->stream)))
        return true;
    tpa_fail(err, TPA_NOWHERE, "--format %s is binary, and this is a terminal", printer->name);
    return tpa_hint(err, "name a file with -o FILE, or send it to a program");
}

/* As the printer does, through a pager if the result is longer than the terminal. */
static bool print_in_pager(const struct printer *printer, const struct result *result,
                           const struct print_options *options, FILE *out, struct tpa_error *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);
    if (!memory)
        return printer->print(result, options, out, err);
    bool good = printer->print(result, options, memory, err);
    fclose(memory);
    if (good && !pager_show(text, len, options->height) && fwrite(text, 1, len, out) < len)
        good = tpa_fail(err, TPA_NOWHERE, "cannot write to standard output: %s", strerror(errno));
    free(text);
    return good;
}

static bool output_began;

void output_begin(void)
{
    output_began = false;
}

bool output_has_begun(void)
{
    return output_began;
}

static bool print_to_file(const struct printer *printer, const struct result *result,
                          struct print_options *options, const struct output_args *args,
                          struct tpa_error *err)
{
    struct output_file file;
    if (!output_file_open(&file, args->path, err))
        return false;
    bool on_stdout = file.path == NULL;
    options->width = args->wide ? 0 : terminal_width(on_stdout ? STDOUT_FILENO : -1);
    options->height = on_stdout ? terminal_height(STDOUT_FILENO) : 0;
    options->color = args->color == COLOR_ALWAYS ||
                     (args->color == COLOR_AUTO && on_stdout && terminal_takes_color(STDOUT_FILENO));
    bool in_pager = args->all && !args->no_pager && options->height && !printer->for_programs;
    output_began = on_stdout;
    if (check_terminal(printer, &file, err) &&
        (args->budget ? print_in_budget(printer, result, options, args, file.stream, err)
         : in_pager   ? print_in_pager(printer, result, options, file.stream, err)
                      : printer->print(result, options, file.stream, err)))
        return output_file_commit(&file, err);
    output_file_discard(&file);
    if (!on_stdout || !output_reader_is_gone())
        return false;
    *err = (struct tpa_error){ 0 };
    return true;
}

bool output_result_with(const struct printer *printer, struct result *result, const struct output_args *args,
                        struct tpa_error *err)
{
    result_order_notices(result);
    if (result->cannot.reason && !result->cannot.instead[0] && !result->cannot.of_facts) {
        SCOPED struct buffer line = { 0 };
        command_line_add_other(&line, "info");
        result_answer_instead(result, line.at);
    }
    if (!check_budget(printer, args, err))
        return false;
    if ((args->tables && !output_select_tables(result, args->tables, err)) ||
        (args->columns && !output_select_columns(result, args->columns, err)))
        return false;
    output_limit_rows(result, &args->limit);
    const char *all = getenv("TPA_ALL");
    struct print_options options = { .wide = args->wide,
                                     .unicode = terminal_takes_unicode(),
                                     .answer = args->answer && !args->all && !(all && *all) &&
                                               !args->tables && !args->columns,
                                     .all = args->all || (all && *all),
                                     .all_notes = args->all || args->all_notes || (all && *all),
                                     .time_unit = (enum time_unit)args->time_unit };
    bool folder = output_is_folder(args->path);
    if (folder ? !output_to_folder(printer, result, &options, args->path, err)
               : !print_to_file(printer, result, &options, args, err))
        return false;
    if (printer->joins_tables && !folder)
        output_print_joined(result);
    if (printer->rows_only)
        output_print_notices(result);
    return true;
}

bool output_result(struct result *result, const struct output_args *args, struct tpa_error *err)
{
    return output_result_with(output_printer(args), result, args, err);
}
