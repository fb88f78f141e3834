/* diff_answer.h - what the page of a comparison begins with: the verdict on a step, its bars, what changed most. */
#ifndef TPA_COMPARE_DIFF_ANSWER_H
#define TPA_COMPARE_DIFF_ANSWER_H

#include "compare/diff.h"

/* Fill the answer of RESULT. Texts are copied. */
void diff_add_answer(const struct diff *diff, struct result *result);

#endif
