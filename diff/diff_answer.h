/* diff_answer.h - the head of a comparison: the verdict on a step; on HTML pages also bars and the largest changes. */
#ifndef TPA_DIFF_DIFF_ANSWER_H
#define TPA_DIFF_DIFF_ANSWER_H

#include "diff/diff.h"

/* Add the verdict to RESULT as a notice on top: how the first figure changed, and why. Call before other notices are
 * added. */
void diff_add_verdict(const struct diff *diff, struct result *result);

/* Fill the answer of RESULT. Texts are copied. */
void diff_add_answer(const struct diff *diff, struct result *result);

#endif
