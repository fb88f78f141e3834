/* nightly_answer.h - what the page of a nightly run begins with: which run, the verdict, what became worse. */
#ifndef TPA_COMPARE_NIGHTLY_ANSWER_H
#define TPA_COMPARE_NIGHTLY_ANSWER_H

#include "compare/nightly.h"

/* Fill the answer of RESULT from NIGHTLY, which is judged. Texts are copied. */
void nightly_add_answer(const struct nightly *nightly, struct result *result);

#endif
