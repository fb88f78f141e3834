/*
 * slice_file.h - the collectives of facts in files apart, each of which has some whole ones: all ranks of each.
 *
 *     struct slicing *slicing = slicing_open(facts, 64);       // of one rank, on its machine
 *     for (size_t i = 0; i < 64; i++)
 *         slicing_save(slicing, i, files[i]);
 *     slicing_free(slicing);
 *     ...                                                      // join files of equal number of all ranks
 *     slice_add_file(&slice, facts, mixed, false, source, &err); // and look at one after another
 *     slice_finish(&slice);
 *
 * Which file a collective goes to depends on its group and its number there; those of a group that are not numbered go to
 * one. So what meets is in one file, except groups of which some collectives are numbered and others not: they are read from all files
 * together. A row also tells what it needs of the one before of its group.
 *
 * A file is a table "arrivals", in Arrow's form as the tables of facts_file.h; files put one behind the other are one.
 */
#ifndef TPA_FLEET_SLICE_FILE_H
#define TPA_FLEET_SLICE_FILE_H

#include "base/source.h"
#include "fleet/slice.h"
#include <stdio.h>

struct slicing;

/* New: FACTS, which are finished and must live as long, cut into COUNT files. Free with slicing_free (NULL is allowed). */
struct slicing *slicing_open(struct facts *facts, size_t count);
void slicing_free(struct slicing *slicing);

/* Does any collective go to file NUMBER? */
bool slicing_has(const struct slicing *slicing, size_t number);

/* Write file NUMBER. False, and errno is set, when writing fails. */
bool slicing_save(const struct slicing *slicing, size_t number, FILE *file);

/* Add the collectives of SOURCE to FACTS, where they are as they were before they were put apart. */
bool slice_merge(struct facts *facts, struct source *source, struct tpa_error *err);

/* By row of the table of groups: is it a group that is mixed, of which some collectives are numbered and others not? */
bool *slice_find_mixed(const struct fleet_job *job, bool *any);

/*
 * Add the records of SOURCE that are of members of the job, and whose group is mixed as WANTED says. Texts are added to FACTS, which are those
 * of the job. False and ERR when it is damaged.
 */
bool slice_add_file(struct slice *slice, struct facts *facts, const bool *mixed, bool wanted,
                    struct source *source, struct tpa_error *err);

/* Bring the records of several files into the order that they had in facts. */
void slice_sort(struct slice *slice);

#endif
