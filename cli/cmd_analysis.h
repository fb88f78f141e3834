/*
 * cmd_analysis.h - the command that every analysis of analyze/registry.h gets: read the traces, select, analyze, print.
 *
 * Its options are --by, --sort and --reverse if the analysis has them, the analysis's own, and those that all commands
 * share.
 */
#ifndef TPA_CLI_CMD_ANALYSIS_H
#define TPA_CLI_CMD_ANALYSIS_H

#include "analyze/analysis.h"
#include "cli/command.h"
#include "sql/trace_sql.h"

/* The command of the analysis at INDEX of `analyses`; NULL past the last. Created when first requested; lives as long
 * as the program. */
const struct command *cmd_analysis_at(size_t index);

/* The result of the analysis NAME, which must exist, for TRACE with OPTIONS, as on the command line: all rows unless
 * --limit is given, but not every footer. TRACE must have been read with all data it may want. New; NULL and ERR on failure. */
struct result *cmd_analysis_answer(const char *name, const char *options, const struct trace *trace,
                                   struct tpa_error *err);

/* The same for SQL, of all analyses. */
extern const struct trace_sql_functions cmd_analysis_functions;

#endif
