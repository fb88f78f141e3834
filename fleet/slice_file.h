/*
 * slice_file.h - the collectives of facts in separate files, each with all ranks of some collectives.
 *
 *     struct slicing *slicing = slicing_open(facts, 64);       // of one rank, on its machine
 *     for (size_t i = 0; i < 64; i++)
 *         slicing_save(slicing, i, files[i]);
 *     slicing_free(slicing);
 *     ...                                                      // join files of equal number of all ranks
 *     slice_add_file(&slice, facts, mixed, false, source, &err); // and look at one after another
 *     slice_finish(&slice);
 *
 * The file of a collective depends on its group and its number in it; unnumbered ones of a group go to one file. So
 * collectives that meet are in one file, except for mixed groups with numbered and unnumbered ones: these are read from
 * all files together. A row also holds the needed data of the previous one of its group.
 *
 * A file is a table "arrivals", in Arrow's format like those of facts_file.h; files may be concatenated.
 */
#ifndef TPA_FLEET_SLICE_FILE_H
#define TPA_FLEET_SLICE_FILE_H

#include "base/source.h"
#include "fleet/slice.h"
#include <stdio.h>

struct slicing;

/* New: FACTS, finished and borrowed, divided into COUNT files. Free with slicing_free (NULL is allowed). */
struct slicing *slicing_open(struct facts *facts, size_t count);
void slicing_free(struct slicing *slicing);

/* Does any collective go to file NUMBER? */
bool slicing_has(const struct slicing *slicing, size_t number);

/* Write file NUMBER. False, with errno set, if writing fails. */
bool slicing_save(const struct slicing *slicing, size_t number, FILE *file);

/* Add the collectives of SOURCE to FACTS, undoing the separation. False and ERR if it is damaged or cannot be read. */
bool slice_merge(struct facts *facts, struct source *source, struct tpa_error *err);

/* By row of the table of groups: is it a mixed group, with numbered and unnumbered collectives? */
bool *slice_find_mixed(const struct fleet_job *job, bool *any);

/*
 * Add the records of SOURCE that belong to members of the job, and whose group is mixed if WANTED, else not. Texts are
 * added to FACTS, which are those of the job. False and ERR if it is damaged.
 */
bool slice_add_file(struct slice *slice, struct facts *facts, const bool *mixed, bool wanted,
                    struct source *source, struct tpa_error *err);

/* Sort the records of several files in the order of facts. */
void slice_sort(struct slice *slice);

#endif
