/* diff_answer.h - what a comparison begins with: the verdict on a step; on the page its bars, and what changed most, too. */
#ifndef TPA_COMPARE_DIFF_ANSWER_H
#define TPA_COMPARE_DIFF_ANSWER_H

#include "compare/diff.h"

/* Add the verdict to RESULT as a notice on top: how the first figure changed, and by what. To be called before other notices are added. */
void diff_add_verdict(const struct diff *diff, struct result *result);

/* Fill the answer of RESULT. Texts are copied. */
void diff_add_answer(const struct diff *diff, struct result *result);

#endif
