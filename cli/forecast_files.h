/* forecast_files.h - the operands of a forecast: recordings of a job with their sizes, "a.pickle@batch=16". */
#ifndef TPA_CLI_FORECAST_FILES_H
#define TPA_CLI_FORECAST_FILES_H

#include "cli/load.h"
#include "memory/forecast/query.h"

/* Read the operands of CALL into QUERY. False and ERR if one cannot be read, has no size, or recorded no memory. */
bool forecast_files_read(const struct invocation *call, const struct load_args *load,
                         struct forecast_query *query, struct tpa_error *err);

/* Does the name of each operand of CALL end in sizes? */
bool forecast_files_are_sized(const struct invocation *call);

#endif
