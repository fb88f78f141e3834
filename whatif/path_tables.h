/* path_tables.h - critical paths as tables: their parts, what they are made of, and their pieces in order. */
#ifndef TPA_WHATIF_PATH_TABLES_H
#define TPA_WHATIF_PATH_TABLES_H

#include "base/result.h"
#include "whatif/path.h"

/* Add to RESULT the tables of the paths of WINDOWS: "parts" and "path", "modules" and "lines" where stacks
 * were recorded, and with SEGMENTS "segments". Of the first PROBED names of each path it is computed how much
 * less they may take until they leave it. A sentence about each of the first windows comes on top. */
void path_add_tables(const struct replay_graph *graph, const struct path_windows *windows, bool segments,
                     size_t probed, struct result *result);

/* What the recording contradicts or lacks, as notices. */
void path_add_notices(const struct replay_graph *graph, struct result *result);

/* The tables that may come of it, for `tpa help`; ends in { 0 }. */
extern const struct table_shape path_tables[];

#endif
