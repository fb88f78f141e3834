/* sql_prompt.h - `tpa sql` at a terminal: statements and commands that begin with a dot. */
#ifndef TPA_CLI_SQL_PROMPT_H
#define TPA_CLI_SQL_PROMPT_H

#include "cli/output.h"
#include "sql/trace_sql.h"

/*
 * Prompt until the end of input or .quit; errors are printed and do not end the prompt. Ctrl-C ends the running
 * statement, as does TIMEOUT_NS (0: no limit). Rows are printed according to OUTPUT. False and ERR if the terminal
 * cannot be read.
 */
bool sql_prompt(struct trace_sql *sql, const struct output_args *output, int64_t timeout_ns,
                struct tpa_error *err);

/* Run LINE, which begins with a dot: .schema, .tables, .help, .quit. It fails with ERR if there is no such command or table. */
enum sql_prompt_answer { SQL_PROMPT_FAILS, SQL_PROMPT_GOES_ON, SQL_PROMPT_ENDS };
enum sql_prompt_answer sql_prompt_command(const char *line, struct tpa_error *err);

/* A watchdog_give_up (sql/watchdog.h): print the reason, and end the process with EXIT_TROUBLE. */
void sql_prompt_give_up(bool too_long);

#endif
