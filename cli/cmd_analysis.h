/*
 * cmd_analysis.h - the command that every analysis of analyze/registry.h gets: read the traces, select, ask, print.
 *
 * Its options are --by, --sort and --reverse where the analysis has them, the analysis's own, and those that all
 * commands share.
 */
#ifndef TPA_CLI_CMD_ANALYSIS_H
#define TPA_CLI_CMD_ANALYSIS_H

#include "analyze/analysis.h"
#include "cli/command.h"

/* The command of the analysis at INDEX of `analyses`; NULL past the last. Made when first requested; lives as long as the
 * program. */
const struct command *cmd_analysis_at(size_t index);

/*
 * What the analysis called NAME, which there is, answers about TRACE under OPTIONS, as they would stand on the command
 * line: all rows unless --limit says how many. TRACE was read for all that it may want. New; NULL and ERR when that
 * fails.
 */
struct result *cmd_analysis_answer(const char *name, const char *options, const struct trace *trace,
                                   struct tpa_error *err);

#endif
