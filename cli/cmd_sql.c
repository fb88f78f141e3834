/* cmd_sql.c - `tpa sql`: SQL over traces; see sql/trace_sql.h. */
#include "analyze/registry.h"
#include "cli/cmd_analysis.h"
#include "cli/kept.h"
#include "cli/load.h"
#include "cli/timeline.h"
#include "sql/parts.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/* ---- the prompt ---- */

enum sql_prompt_answer { SQL_PROMPT_FAILS, SQL_PROMPT_GOES_ON, SQL_PROMPT_ENDS };

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
        SCOPED_BY(result_free_at) struct result *result = result_open("tpa.sql/1");
        result_add_table(result, table);
        trace_sql_add_notices(sql, result);
        good = output_result(result, output, &err);
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
        SCOPED struct buffer text = { 0 };
        struct sql_column column;
        for (size_t i = 0; *begin && sql_table_column(table, i, &text, &column); i++)
            printf("  %-24s %s\n", column.name, column.help);
    }
    if (!any)
        return fail_no_table(begin, err);
    if (!*begin)
        puts(
            "next: .schema kernels shows the columns of a table; select * from gaps('--by op') runs an analysis");
    return true;
}

/* Run LINE, which begins with a dot: .schema, .tables, .help, .quit. It fails with ERR if there is no such command or table. */
static enum sql_prompt_answer sql_prompt_command(const char *line, struct tpa_error *err)
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

/* A watchdog_give_up (sql/parts.h): print the reason, and end the process with EXIT_TROUBLE. */
static void sql_prompt_give_up(bool too_long)
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

/* Wait for a line. False: Ctrl-C came before it, also if that was just before the wait or in another thread. */
static bool sql_prompt_wait(void)
{
    enum { LOOK_MS = 100 };
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    while (!interrupted) {
        int ready = poll(&input, 1, LOOK_MS);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
    }
    return false;
}

/* Read a line from standard input into LINE, without its end. */
static enum line_end read_line(const char *prompt, char **line, size_t *capacity)
{
    fputs(prompt, stdout);
    fflush(stdout);
    bool is_there = sql_prompt_wait();
    errno = 0;
    ssize_t len = is_there ? getline(line, capacity, stdin) : -1;
    if (len < 0) {
        bool given_up = !is_there || errno == EINTR;
        putchar('\n');
        clearerr(stdin);
        interrupted = 0;
        return given_up ? LINE_GIVEN_UP : LINE_NO_MORE;
    }
    if (len > 0 && (*line)[len - 1] == '\n')
        (*line)[len - 1] = '\0';
    return LINE_READ;
}

/* Prompt until the end of input or .quit; errors are printed and do not end the prompt. Ctrl-C ends the running
 * statement, as does TIMEOUT_NS (0: no limit). Rows are printed according to OUTPUT. False and ERR if the terminal
 * cannot be read. */
static bool sql_prompt(struct trace_sql *sql, const struct output_args *output, int64_t timeout_ns,
                       struct tpa_error *err)
{
    (void)err;
    SCOPED struct buffer text = { 0 };
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
    return true;
}

/* ---- the command ---- */

struct sql_args {
    const char *query, *file;
    int64_t timeout_ns;
    struct load_args load;
    struct output_args output;
};

static const struct sql_args sql_defaults = {
    .timeout_ns = INT64_C(600000000000),
    .load = LOAD_DEFAULTS,
};

static const struct opt sql_opts[] = {
    OPT_GROUP("Query"),
    OPT_TEXT('c', "query", struct sql_args, query, "SQL",
             "run these statements; without -c and -f they come from standard input"),
    OPT_FILE('f', "file", struct sql_args, file, "FILE", "run the statements of FILE"),
    OPT_TIME(0, "timeout", struct sql_args, timeout_ns, "TIME",
             "give up on a statement that takes longer; 0 never does"),
    OPT_GROUP("Output"),
    OPT_CHOICE_OF(0, "format", struct sql_args, output.format, output_format_at, "FORMAT",
                  "how to print the rows"),
    OPT_TEXT(0, "columns", struct sql_args, output.columns, "KEYS",
             "columns to show, in this order, separated by commas; \"all\" shows every column"),
    OPT_LIMIT('n', "limit", struct sql_args, output.limit, "N",
              "show the first N rows of each statement, or N%; 0 shows all"),
    OPT_BUDGET(struct sql_args, output.budget),
    OPT_FLAG('w', "wide", struct sql_args, output.wide, "show names in full, however wide that gets"),
    OPT_FILE('o', "output", struct sql_args, output.path, "FILE",
             "write to FILE, which appears whole or not at all"),
    OPT_CHOICE(0, "color", struct sql_args, output.color, output_colors, "WHEN", "use colours"),
    LOAD_OPTIONS(struct sql_args, load),
    OPT_END,
};

/* Read all of the file at PATH (NULL: standard input) as text. */
static bool read_text(const char *path, struct buffer *text, struct tpa_error *err)
{
    FILE *file = path ? fopen(path, "rb") : stdin;
    char bytes[4096];
    size_t count;
    while (file && (count = fread(bytes, 1, sizeof bytes, file)) > 0 && text->count <= (1u << 20))
        buffer_add(text, bytes, count);
    bool good = file && !ferror(file);
    if (!good) {
        tpa_fail_errno(err, "cannot read the query");
        tpa_hint(err, "-f names a file of SQL; -c takes the SQL itself");
    } else if (text->count > (1u << 20))
        good = tpa_fail(err, TPA_NOWHERE, "the query is longer than 1 MiB");
    if (file && path)
        fclose(file);
    buffer_puts(text, "");
    if (good && strlen(text->at) != text->count)
        good = tpa_fail(err, TPA_NOWHERE, "the query contains a NUL byte, which SQL does not allow");
    return good || tpa_in_file(err, path ? path : "standard input");
}

/* The number of rows needed for --limit; 0: all. */
static size_t most_rows(const struct limit *limit)
{
    return limit->is_share ? 0 : (size_t)limit->count;
}

static bool run_text(const struct invocation *call, struct trace_sql *sql, const char *text,
                     const struct trace *trace, struct tpa_error *err)
{
    const struct output_args *output = &((const struct sql_args *)call->args)->output;
    struct result *result = result_open("tpa.sql/1");
    struct table *table = NULL;
    bool good;
    while ((good = trace_sql_next(sql, &text, most_rows(&output->limit), &table, err)) && table)
        result_add_table(result, table);
    if (good && result->tables.count == 0)
        good = tpa_fail(err, TPA_NOWHERE, "the query holds no statement") ||
               tpa_hint(err, "such as: select name, sum(dur_ns) from kernels group by name");
    if (good) {
        trace_sql_add_notices(sql, result);
        load_add_notices(trace, result);
        return kept_output(&(struct kept_query){ call, .is_cut = true }, result, output, err);
    }
    result_free(result);
    return false;
}

/* Run TEXT on TRACE; without it, prompt. */
static bool ask_trace(const struct invocation *call, struct trace_sql *sql, const char *text,
                      const struct trace *trace, struct tpa_error *err)
{
    const struct sql_args *args = call->args;
    SCOPED int64_t *shift_ns = timeline_shifts(trace);
    trace_sql_use(sql, trace, shift_ns);
    trace_sql_limit(sql, args->timeout_ns, NULL, sql_prompt_give_up);
    bool good =
        text ? run_text(call, sql, text, trace, err) : sql_prompt(sql, &args->output, args->timeout_ns, err);
    trace_sql_free(sql);
    return good;
}

/* Read the data that TEXT needs (NULL: everything), and run it. Takes SQL. */
static bool ask(const struct invocation *call, struct trace_sql *sql, const char *text, struct tpa_error *err)
{
    const struct sql_args *args = call->args;
    struct trace_wants wants = { 0 };
    if (text)
        trace_sql_wants(sql, text, &wants);
    else
        wants =
            (struct trace_wants){ .args = UINT64_MAX >> (64 - ARG_COUNT), .flows = true, .counters = true };
    SCOPED_BY(trace_free_at) struct trace *trace = load_traces(call, &args->load, &wants, err);
    if (!trace) {
        trace_sql_free(sql);
        return false;
    }
    return ask_trace(call, sql, text, trace, err);
}

static int sql_main(const struct invocation *call, struct tpa_error *err)
{
    const struct sql_args *args = call->args;
    struct buffer text = { 0 };
    if (args->query && args->file) {
        tpa_fail(err, TPA_NOWHERE, "-c and -f are two queries");
        return EXIT_TROUBLE;
    }
    bool prompts = !args->query && !args->file && isatty(STDIN_FILENO);
    if (args->query)
        buffer_puts(&text, args->query);
    bool good = args->query || prompts || read_text(args->file, &text, err);
    if (good && !prompts && text.at[0] == '.') { /* as at the prompt; it needs no trace */
        text.at[strcspn(text.at, "\n")] = '\0';
        good = sql_prompt_command(text.at, err) != SQL_PROMPT_FAILS;
        buffer_release(&text);
        return good ? EXIT_FINE : EXIT_TROUBLE;
    }
    if (good && call->operand_count == 0) {
        good = tpa_fail(err, TPA_NOWHERE, "operand missing: tpa sql [OPTIONS] TRACE...");
        tpa_hint(err, "only .tables, .schema TABLE and .help need no trace");
    }
    struct result *known =
        good && args->query ? kept_find(&(struct kept_query){ call, .is_cut = true }) : NULL;
    if (known) {
        buffer_release(&text);
        return output_result(known, &args->output, err) ? EXIT_FINE : EXIT_TROUBLE;
    }
    struct trace_sql *sql = good ? trace_sql_open(&cmd_analysis_functions, err) : NULL;
    good = sql && ask(call, sql, prompts ? NULL : text.at, err);
    buffer_release(&text);
    return good ? EXIT_FINE : EXIT_TROUBLE;
}

const struct command cmd_sql = {
    .name = "sql",
    .summary = "ask anything in SQL; most analyses are functions",
    .operands = "[TRACE...]",
    .description =
        "Runs SQL (SQLite's) on traces. The tables are events, operators, kernels, copies, calls, launches (work with the "
        "call and the operator that launched it), annotations, steps, tracks, args, memory, flows, counters and files; "
        "nothing is copied or written.\n\n"
        "Most analyses are functions that give a table; options stand in a text: gaps('--by op'), kernels(), steps('--by "
        "step,stream --table steps'). In all of them and in all tables, start_ns is on the clock of the run, which "
        "ranks share, and at_ns counts from the origin of the file.\n\n"
        "Without -c and -f, on a terminal, it prompts: .schema shows the tables, .help the rest.",
    .options = sql_opts,
    COMMAND_ARGS(sql_defaults),
    .main = sql_main,
    .examples = { "tpa sql -c 'select name, sum(dur_ns) from kernels group by name order by 2 desc limit 5' trace.json",
                  "tpa sql -c \"select * from gaps('--by op') where cause = 'host'\" --format csv trace.json",
                  "tpa sql trace.json  # prompt" },
    .section = SECTION_ANALYZE,
    .reads_traces = true,
};
