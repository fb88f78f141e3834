/* nightly_answer.h - the verdict on a nightly run in a sentence, and the head of its page: the run, regressions. */
#ifndef TPA_HISTORY_NIGHTLY_ANSWER_H
#define TPA_HISTORY_NIGHTLY_ANSWER_H

#include "history/nightly.h"

/* What happened in the judged run, in one or two sentences: how long a step takes and was, since which run and commit,
 * how much nights vary, the row to blame, and the command that shows more of STORE. New in ARENA. */
const char *nightly_headline(const struct nightly *nightly, const char *store, struct arena *arena);

/* Fill the answer of RESULT from NIGHTLY, after nightly_judge. Texts are copied. */
void nightly_add_answer(const struct nightly *nightly, const char *store, struct result *result);

/* STORE as a word of a shell. New in ARENA. */
const char *nightly_store_word(const char *store, struct arena *arena);

#endif
