/*
 * nsys_text.h - the reports of `nsys stats --format csv`, for --format nsys.
 *
 * The columns and figures are those of Nsight Systems 2023.4; names are quoted as CSV requires, which it does not do.
 */
#ifndef TPA_CLI_NSYS_TEXT_H
#define TPA_CLI_NSYS_TEXT_H

#include "trace/trace.h"
#include <stdio.h>

/* Write every report that TRACE, read with nsys_reports_wants, has rows for. Errors are left in OUT for ferror(). */
void nsys_text_print(const struct trace *trace, FILE *out);

#endif
