/*
 * rounds.h - meetings judged in rounds, for engines that have collectives in files apart on many machines.
 *
 *     rounds_save_ends(&job, &files, out, &err);      // on any machine: slices -> their ends
 *     rounds_save_clocks(&job, &files, out, &err);    // on one: the ends of all -> clocks
 *     rounds_save_judged(&job, &files, out, &err);    // on any: slices and clocks -> who was last and who waited
 *     rounds_load_judged(&meetings, &job, &files, &err);   // on one: clocks and what was judged, as fleet_meetings_judge gives it
 *
 * JOB is of facts that have at least the recordings, groups and steps of all ranks. Files are tables in Arrow's form, as those of facts_file.h;
 * an engine may put files of one kind one behind the other. Ends take 40 bytes for each arrival, what was judged 32, and 230 for each collective.
 */
#ifndef TPA_FLEET_ROUNDS_H
#define TPA_FLEET_ROUNDS_H

#include "base/source.h"
#include "fleet/ends.h"
#include "fleet/meetings.h"
#include <stdio.h>

/* The kind of file that SOURCE is, of which this takes some bytes; FLEET_FILES: none of these. */
enum fleet_file rounds_kind(struct source *source);

/*
 * Is each slice enough by itself? False and ERR where collectives of a group are numbered in part, which all slices together can match
 * alone.
 */
bool rounds_possible(const struct fleet_job *job, struct tpa_error *err);

/* Write to OUT what is made of FILES. False and ERR when a file cannot be read, or writing fails. */
bool rounds_save_ends(const struct fleet_job *job, const struct fleet_files *files, FILE *out,
                      struct tpa_error *err);
bool rounds_save_clocks(const struct fleet_job *job, const struct fleet_files *files, FILE *out,
                        struct tpa_error *err);
bool rounds_save_judged(const struct fleet_job *job, const struct fleet_files *files, FILE *out,
                        struct tpa_error *err);

/* MEETINGS as fleet_meetings_judge gives them. False and ERR when a file is damaged. */
bool rounds_load_judged(struct fleet_meetings *meetings, const struct fleet_job *job,
                        const struct fleet_files *files, struct tpa_error *err);

#endif
