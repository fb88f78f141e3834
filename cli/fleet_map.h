/*
 * fleet_map.h - the facts of many traces, read by several processes at once, and what they give merged.
 *
 *     struct fleet_map map = { .jobs = 0 };
 *     if (!fleet_map(operands, count, &map, &err))
 *         return EXIT_TROUBLE;                          // nothing could be read at all
 *     for (size_t i = 0; i < map.failures.count; i++)
 *         ...                                           // left out, and why
 *     fleet_map_release(&map);
 *
 * A trace that cannot be read, or that takes its process down, is left out and leaves the others alone. Memory is
 * that of as many traces as are read at once, and of the facts. The answer does not depend on the order of the
 * operands or on how many are read at once.
 */
#ifndef TPA_CLI_FLEET_MAP_H
#define TPA_CLI_FLEET_MAP_H

#include "base/result.h"
#include "fleet/gather.h"
#include "fleet/meetings.h"

struct fleet_failure {
    char *path;
    char *reason; /* one line */
};

struct fleet_map {
    /* The query: */
    uint64_t jobs;          /* processes at once; 0: one per CPU */
    uint64_t max_ratio;     /* as struct source_limits */
    const char *step_range; /* as struct ingest_options; NULL: as the files tell */
    const char *job;        /* name of the job; NULL: not recorded */
    bool progress;          /* show it on a terminal */
    bool apart;             /* leave collectives that are in files apart there */
    /* What is answered: */
    struct facts *facts;                   /* finished */
    size_t files;                          /* that were looked at */
    VEC_OF(struct fleet_failure) failures; /* by path */
    struct fleet_files apart_files;        /* those that were given */
};

/*
 * The facts of COUNT traces, directories of them, and files of facts. In directories, files with the ending of traces
 * or ".facts" are looked at. False and ERR when there is no file, or none of them can be read. To be released in any
 * case.
 */
bool fleet_map(char *const *operands, size_t count, struct fleet_map *map, struct tpa_error *err);
void fleet_map_release(struct fleet_map *map);

/* The files apart, for fleet_open_apart; NULL: there are none. */
const struct fleet_files *fleet_map_apart(struct fleet_map *map);

/* Add a notice to RESULT for each of the first failures, and one for how many more there are. */
void fleet_map_add_notices(const struct fleet_map *map, struct result *result);

#endif
