/*
 * fleet_side.h - files of facts as input of a comparison: a side of `tpa diff`, a run of `tpa nightly`.
 *
 *     struct fleet_map map;
 *     if (fleet_side_is(paths, count) && fleet_side_measure(measures, paths, count, &load, &options, result, &map, err))
 *         ... map.facts
 *     fleet_map_release(&map);
 */
#ifndef TPA_CLI_FLEET_SIDE_H
#define TPA_CLI_FLEET_SIDE_H

#include "cli/fleet_map.h"
#include "diff/measure.h"

/* Is a file of facts among the COUNT PATHS, or one that ends in ".facts" in a directory of them? */
bool fleet_side_is(char *const *paths, size_t count);

/* Measure the facts, and other files among PATHS, as one job. Notices about omitted files go to RESULT. False and ERR
 * if nothing can be read, or OPTIONS need data that facts do not have. Release MAP in any case. */
bool fleet_side_measure(struct measures *measures, char *const *paths, size_t count,
                        const struct load_args *load, const struct measure_options *options,
                        struct result *result, struct fleet_map *map, struct tpa_error *err);

#endif
