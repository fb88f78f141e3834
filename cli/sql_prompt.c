/* sql_prompt.c - see sql_prompt.h. */
#include "cli/sql_prompt.h"

#include "analyze/registry.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "sql/sql_tables.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int interrupted; /* by a handler of signals, and read by the watchdog, too */

static void record_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void sql_prompt_print(const struct tpa_error *err)
{
    fflush(stdout);
    tpa_error_print(err, "tpa sql", stderr);
}

/* Run the statements of TEXT, and print each. */
static void sql_prompt_run(struct trace_sql *sql, const char *text, const struct output_args *output)
{
    struct tpa_error err = { 0 };
    struct table *table = NULL;
    size_t most = output->limit.is_share ? 0 : (size_t)output->limit.count;
    bool good = true;
    while (good && (good = trace_sql_next(sql, &text, most, &table, &err)) && table) {
        struct result *result = result_open("tpa.sql/1");
        result_add_table(result, table);
        trace_sql_add_notices(sql, result);
        good = output_result(result, output, &err);
        result_free(result);
    }
    if (!good)
        sql_prompt_print(&err);
}

/* There is no table NAME. */
static bool fail_no_table(const char *name, struct tpa_error *err)
{
    struct suggest near = suggest_for(name, strlen(name));
    for (size_t t = 0; sql_tables[t].name; t++)
        suggest_consider(&near, sql_tables[t].name);
    for (size_t i = 0; analyses[i]; i++)
        if (strcmp(analyses[i]->name, name) == 0) {
            tpa_fail(err, TPA_NOWHERE, "%s is an analysis, not a table", name);
            return tpa_hint(err, "select * from %s() limit 1 shows its columns", name);
        }
    tpa_fail(err, TPA_NOWHERE,
             near.best ? "there is no table '%s'; did you mean %s?" : "there is no table '%s'", name,
             near.best);
    return tpa_hint(err, ".tables lists the tables");
}

/* The tables, or, with a NAME, the columns of that table, one per line. */
static bool print_schema(const char *begin, struct tpa_error *err)
{
    bool any = false;
    for (size_t t = 0; sql_tables[t].name; t++) {
        const struct sql_table *table = &sql_tables[t];
        if (*begin && strcmp(begin, table->name) != 0)
            continue;
        any = true;
        printf("%s: %s\n", table->name, table->help);
        struct buffer text = { 0 };
        struct sql_column column;
        for (size_t i = 0; *begin && sql_table_column(table, i, &text, &column); i++)
            printf("  %-24s %s\n", column.name, column.help);
        buffer_release(&text);
    }
    if (!any)
        return fail_no_table(begin, err);
    if (!*begin)
        puts(
            "next: .schema kernels shows the columns of a table; select * from gaps('--by op') runs an analysis");
    return true;
}

enum sql_prompt_answer sql_prompt_command(const char *line, struct tpa_error *err)
{
    bool good = true;
    size_t len = strcspn(line, " \t");
    const char *rest = line + len + strspn(line + len, " \t");
    if (strncmp(line, ".quit", len) == 0 || strncmp(line, ".exit", len) == 0)
        return SQL_PROMPT_ENDS;
    if (len == strlen(".schema") && strncmp(line, ".schema", len) == 0)
        good = print_schema(rest, err);
    else if (len == strlen(".tables") && strncmp(line, ".tables", len) == 0)
        good = print_schema("", err);
    else if (len == strlen(".help") && strncmp(line, ".help", len) == 0)
        puts(
            ".tables          the tables\n"
            ".schema [TABLE]  the tables, or the columns of one\n"
            ".quit            end; so does Ctrl-D\n"
            "A statement ends in a semicolon and may take several lines; Ctrl-C gives it up, or ends it while it runs.");
    else {
        good = tpa_fail(err, TPA_NOWHERE, "there is no command '%.*s'", (int)len, line);
        tpa_hint(err, "the commands are .tables, .schema [TABLE], .help and .quit; all else is SQL");
    }
    return good ? SQL_PROMPT_GOES_ON : SQL_PROMPT_FAILS;
}

void sql_prompt_give_up(bool too_long)
{
    struct tpa_error err = { 0 };
    tpa_fail(&err, TPA_NOWHERE,
             too_long ? "the query took longer than the limit, and SQLite does not end it"
                      : "the query was interrupted, and SQLite does not end it");
    tpa_hint(&err, "a function such as instr() or replace() of large values cannot be stopped: tpa ends");
    tpa_error_print(&err, "tpa", stderr);
    fflush(stderr);
    _exit(EXIT_TROUBLE);
}

enum line_end { LINE_READ, LINE_GIVEN_UP, LINE_NO_MORE };

/* Read a line from standard input into LINE, without its end. */
static enum line_end read_line(const char *prompt, char **line, size_t *capacity)
{
    fputs(prompt, stdout);
    fflush(stdout);
    errno = 0;
    ssize_t len = getline(line, capacity, stdin);
    if (len < 0) {
        bool given_up = errno == EINTR;
        putchar('\n');
        clearerr(stdin);
        interrupted = 0;
        return given_up ? LINE_GIVEN_UP : LINE_NO_MORE;
    }
    if (len > 0 && (*line)[len - 1] == '\n')
        (*line)[len - 1] = '\0';
    return LINE_READ;
}

bool sql_prompt(struct trace_sql *sql, const struct output_args *output, int64_t timeout_ns,
                struct tpa_error *err)
{
    (void)err;
    struct buffer text = { 0 };
    char *line = NULL;
    size_t capacity = 0;
    trace_sql_limit(sql, timeout_ns, &interrupted, sql_prompt_give_up);
    puts("SQL over the trace; .schema shows the tables, .help the rest");
    struct sigaction old, action = { .sa_handler = record_interrupt };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old); /* without SA_RESTART: it also ends the reading of a line */
    enum line_end end;
    while ((end = read_line(text.count ? "...> " : "tpa> ", &line, &capacity)) != LINE_NO_MORE) {
        if (end == LINE_GIVEN_UP) {
            buffer_clear(&text);
            continue;
        }
        if (text.count == 0 && line[0] == '.') {
            struct tpa_error failed = { 0 };
            enum sql_prompt_answer answer = sql_prompt_command(line, &failed);
            if (answer == SQL_PROMPT_FAILS)
                sql_prompt_print(&failed);
            if (answer == SQL_PROMPT_ENDS)
                break;
            continue;
        }
        if (text.count || line[strspn(line, " \t")])
            buffer_printf(&text, "%s%s", text.count ? "\n" : "", line);
        if (text.count && trace_sql_is_complete(text.at)) {
            sql_prompt_run(sql, text.at, output);
            buffer_clear(&text);
            interrupted = 0;
        }
    }
    sigaction(SIGINT, &old, NULL);
    free(line);
    buffer_release(&text);
    return true;
}
