/*
 * fleet_map.h - the merged facts of many traces, read by several processes in parallel.
 *
 *     struct fleet_map map = { .jobs = 0 };
 *     if (!fleet_map(operands, count, &map, &err))
 *         return EXIT_TROUBLE;                          // nothing could be read at all
 *     for (size_t i = 0; i < map.failures.count; i++)
 *         ...                                           // left out, and why
 *     fleet_map_release(&map);
 *
 * A trace that cannot be read, or that crashes its process, is left out and does not affect the others. Memory is that
 * of the traces read at the same time, and of the facts. The result does not depend on the order of the operands or on
 * the number of processes.
 */
#ifndef TPA_CLI_FLEET_MAP_H
#define TPA_CLI_FLEET_MAP_H

#include "cli/load.h"
#include "figures/gather.h"
#include "fleet/meetings.h"

struct fleet_failure {
    char *path;
    char *reason; /* one line */
};

struct fleet_map {
    /* The query: */
    struct load_args load; /* JOBS: processes at once; also max_ratio, step_range, progress and strict */
    const char *job;       /* name of the job; NULL: not recorded */
    bool apart;            /* do not load collectives from separate files */
    bool for_job;          /* only what tpa job needs of them: job_trim */
    /* The result: */
    struct facts *facts;                   /* finished */
    size_t files;                          /* number of files processed */
    size_t facts_read;                     /* of these, files of facts */
    VEC_OF(struct fleet_failure) failures; /* by path */
    struct fleet_files apart_files;        /* those that were given */
};

/* The facts of COUNT traces, directories of them, and files of facts. In directories, files with the ending
 * of traces or ".facts" are looked at. False and ERR if there is no file, or none of them can be read.
 * Release it in any case. */
bool fleet_map(char *const *operands, size_t count, struct fleet_map *map, struct tpa_error *err);
void fleet_map_release(struct fleet_map *map);

/* Are there facts among COUNT operands, or so many traces that each is better read by itself? */
bool fleet_map_wanted(char *const *operands, size_t count);

/* The separate files, for fleet_open_apart; NULL if there are none. */
const struct fleet_files *fleet_map_apart(struct fleet_map *map);

/* Add a notice to RESULT for each of the first failures, and one for the number of others. */
void fleet_map_add_notices(const struct fleet_map *map, struct result *result);

/* The same, and what the recordings of JOB lack, which are those of MAP. */
void fleet_map_notice_job(const struct fleet_map *map, const struct fleet_job *job, struct result *result);

#endif
