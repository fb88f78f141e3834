/*
 * size.h - forms that repeat the texts of each event: estimates their size
 *
 * A reader keeps each text once, like .tpa files, profiles and databases. In a file of a few megabytes a million events
 * may share a text of megabytes.
 */
#ifndef TPA_CLI_CONVERT_SIZE_H
#define TPA_CLI_CONVERT_SIZE_H

#include "cli/convert/convert.h"

/*
 * False and ERR if names, places and arguments of the events of TRACE, repeated for each, exceed what any program
 * records: more than 1 GiB, and than 8 KiB an event; or than 256 MiB in some 8,192 events, which are in memory at once.
 * --max-ratio 0 lifts both.
 */
bool convert_check_size(const struct trace *trace, const struct convert_args *args, struct tpa_error *err);

#endif
