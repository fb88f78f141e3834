/*
 * cmd_sql.c - `tpa sql`: SQL over traces; see sql/trace_sql.h.
 */
#include "cli/sql_prompt.h"

#include "analyze/registry.h"
#include "cli/cmd_analysis.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/timeline.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static const char *function_at(size_t index)
{
    return analyses[index] ? analyses[index]->name : NULL;
}

static const struct trace_sql_functions functions = { function_at, cmd_analysis_answer };

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

static bool run_text(struct trace_sql *sql, const char *text, const struct output_args *output,
                     const struct trace *trace, struct tpa_error *err)
{
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
        good = output_result(result, output, err);
    }
    result_free(result);
    return good;
}

/* Run TEXT on TRACE; without it, prompt. */
static bool ask_trace(const struct sql_args *args, struct trace_sql *sql, const char *text,
                      const struct trace *trace, struct tpa_error *err)
{
    int64_t *shift_ns = timeline_shifts(trace);
    trace_sql_use(sql, trace, shift_ns);
    trace_sql_limit(sql, args->timeout_ns, NULL, sql_prompt_give_up);
    bool good = text ? run_text(sql, text, &args->output, trace, err)
                     : sql_prompt(sql, &args->output, args->timeout_ns, err);
    trace_sql_free(sql);
    free(shift_ns);
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
    struct trace *trace = load_traces(call, &args->load, &wants, err);
    if (!trace) {
        trace_sql_free(sql);
        return false;
    }
    bool good = ask_trace(args, sql, text, trace, err);
    trace_free(trace);
    return good;
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
    struct trace_sql *sql = good ? trace_sql_open(&functions, err) : NULL;
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
