/* cmd_report.h - the page of `tpa report`, for a command that compares it with another. */
#ifndef TPA_CLI_CMD_REPORT_H
#define TPA_CLI_CMD_REPORT_H

#include "cli/load.h"

/* Write the page that `tpa report` makes of COUNT TRACES without options but those of LOAD. False and ERR on failure. */
bool report_page(char **traces, size_t count, const struct load_args *load, FILE *into,
                 struct tpa_error *err);

#endif
