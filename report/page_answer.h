/* page_answer.h - the first screen of a page: base/answer.h as HTML. For page.c. */
#ifndef TPA_REPORT_PAGE_ANSWER_H
#define TPA_REPORT_PAGE_ANSWER_H

#include "base/answer.h"
#include "base/buffer.h"
#include "report/page_sections.h"
#include "report/apart.h"

/* Append what ran, a line of labels and texts that stands below the title. Nothing when nothing is known. */
void page_add_facts(struct buffer *out, const struct answer *answer);

/*
 * Append the verdict, the bars and what is drawn; then, behind what else belongs there, what to do first and what takes longest.
 * Links go to the sections that PAGE has; names are as wide as NAMES has them.
 */
void page_begin_answer(struct buffer *out, const struct answer *answer, const struct page *page);
void page_end_answer(struct buffer *out, const struct answer *answer, const struct page *page,
                     struct apart *names);

#endif
