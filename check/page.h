/*
 * page.h - compares the figures on the first screen of a page of tpa report with those of the page that its traces give.
 *
 *     if (check_is_page(text, len))
 *         check = check_page(facts, &input, right_page, right_len);
 */
#ifndef TPA_CHECK_PAGE_H
#define TPA_CHECK_PAGE_H

#include "check/check.h"

/* Is the text an HTML page? */
bool check_is_page(const char *text, size_t len);

/* A row for each figure between the title and the end of the answer of the page INPUT: confirmed if the page RIGHT has the
 * same at its place, below the same name, not checkable if it has no such line. Of a line that RIGHT does not have a row for what it ranks, by
 * FACTS. New; free with arena_free. NULL if INPUT is no page of tpa report. */
struct check *check_page(struct check_facts *facts, const struct check_input *input, const char *right,
                         size_t right_len);

#endif
