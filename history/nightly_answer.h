/* nightly_answer.h - the head of the page of a nightly run: the run, the verdict, regressions. */
#ifndef TPA_HISTORY_NIGHTLY_ANSWER_H
#define TPA_HISTORY_NIGHTLY_ANSWER_H

#include "history/nightly.h"

/* Fill the answer of RESULT from NIGHTLY, after nightly_judge. Texts are copied. */
void nightly_add_answer(const struct nightly *nightly, struct result *result);

#endif
