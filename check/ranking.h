/*
 * ranking.h - statements about an order: which kernel, operator, step or rank takes the most time, which of two takes more.
 *
 * "The largest kernel is X", "X is the slowest kernel", "most GPU time goes to X", "X takes more time than Y", "step 5 is the longest",
 * "rank 3 is slower than rank 0". A sentence is read only if each of its words is known here, up to a figure at its end; one that may mean
 * several figures, or those of several ranks, counts only if all of them agree.
 */
#ifndef TPA_CHECK_RANKING_H
#define TPA_CHECK_RANKING_H

#include "check/prose.h"

enum ranking_outcome { RANKING_NONE, RANKING_HOLDS, RANKING_FAILS };

enum ranking_of { RANKING_OPERATORS, RANKING_KERNELS, RANKING_STEPS, RANKING_RANKS };

struct ranking {
    enum ranking_outcome outcome;
    enum ranking_of of;
    const char *subject;          /* who is said to be first, or to be more; NULL: a step or rank */
    const char *first;            /* who is; of two, the other */
    int64_t number, first_number; /* the same of steps and ranks */
    const char *quantity;         /* key of the column by which */
};

/* What the tokens from FIRST to END, a sentence, say; RANKING_NONE: no ranking, or one that cannot be judged. Texts live as long as FACTS. */
struct ranking ranking_read(struct check_facts *facts, const struct tokens *tokens, size_t first, size_t end);

#endif
