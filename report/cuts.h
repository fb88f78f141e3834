/*
 * cuts.h - the texts of a column, cut where they agree, so that rows stay apart.
 *
 *     struct cuts *texts = cuts_open(14);
 *     cuts_add(texts, "aten::mm", text, len);                        // every text of the column, with the names of its row
 *     struct text shown = cuts_shown(texts, "aten::mm", text, len);    // each again
 *     arena_free(texts);
 *
 * A text is cut in its middle, as shorten_middle does. Where different texts of rows with the same names would look the same,
 * each is shown from where they begin to differ:
 *
 *     aten::addmm  [[2048], [16, 512], [512, 2048], [], []]      ...16, 512],...
 *     aten::addmm  [[2048], [32, 512], [512, 2048], [], []]      ...32, 512],...
 *
 * If even that does not help, they are numbered: "...16, 5... #2".
 */
#ifndef TPA_REPORT_CUTS_H
#define TPA_REPORT_CUTS_H

#include "base/table.h"

struct cuts;

/* New: texts are to take no more than MAX columns. Free with arena_free (NULL is allowed). */
struct cuts *cuts_open(size_t max);

/* Add a text of LEN bytes, as escape_terminal made it, of a row whose names are ROW; again is allowed. All are to be added before the
 * first is shown. */
void cuts_add(struct cuts *cuts, const char *row, const char *text, size_t len);

/* The text, which was added, in at most MAX columns; borrowed, lives as long as CUTS. */
struct text cuts_shown(struct cuts *cuts, const char *row, const char *text, size_t len);

#endif
