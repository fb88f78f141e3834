/*
 * rounds.h - meetings judged in rounds, for engines with collectives in separate files on many machines.
 *
 *     rounds_save_ends(&job, &files, out, &err);      // on any machine: slices -> their ends
 *     rounds_save_clocks(&job, &files, out, &err);    // on one: the ends of all -> clocks
 *     rounds_save_judged(&job, &files, out, &err);    // on any: slices and clocks -> who was last and who waited
 *     rounds_load_judged(&meetings, &job, &files, &err);   // on one: clocks and judged meetings -> result of
 *                                                          fleet_meetings_judge
 *
 * JOB is of facts that have at least the recordings, groups and steps of all ranks. Files are tables in Arrow's format,
 * like those of facts_file.h; an engine may concatenate files of one kind. Ends take 40 bytes for each arrival, judged
 * meetings 32, and 230 for each collective.
 */
#ifndef TPA_FLEET_ROUNDS_H
#define TPA_FLEET_ROUNDS_H

#include "fleet/meetings.h"

/* The kind of the file SOURCE, of which some bytes are consumed; FLEET_FILES: none of these. */
enum fleet_file rounds_kind(struct source *source);

/* Can each slice be judged by itself? False and ERR if only some collectives of a group are numbered, which can be
 * matched only with all slices together. */
bool rounds_possible(const struct fleet_job *job, struct tpa_error *err);

/* Write the result for FILES to OUT. False and ERR if a file cannot be read, or writing fails. */
bool rounds_save_ends(const struct fleet_job *job, const struct fleet_files *files, FILE *out,
                      struct tpa_error *err);
bool rounds_save_clocks(const struct fleet_job *job, const struct fleet_files *files, FILE *out,
                        struct tpa_error *err);
bool rounds_save_judged(const struct fleet_job *job, const struct fleet_files *files, FILE *out,
                        struct tpa_error *err);

/* New, by member; free with free(): the clocks in FILES, else those by the collectives in FILES or, if NULL, in the facts. NULL and ERR
 * if a file cannot be read. */
struct rank_clock *rounds_find_clocks(const struct fleet_job *job, const struct fleet_files *files,
                                      struct tpa_error *err);

/* Set MEETINGS as fleet_meetings_judge does. False and ERR if a file is damaged. */
bool rounds_load_judged(struct fleet_meetings *meetings, const struct fleet_job *job,
                        const struct fleet_files *files, struct tpa_error *err);

#endif
