/*
 * ranking.h - statements without a figure: which kernel or operator takes the most time, which of two takes more.
 *
 * "The largest kernel is X", "X is the slowest kernel", "most GPU time goes to X", "X takes more time than Y". A sentence is read only if
 * each of its words is known here; one that may mean several figures counts only if all of them agree.
 */
#ifndef TPA_CHECK_RANKING_H
#define TPA_CHECK_RANKING_H

#include "check/prose.h"

enum ranking_outcome { RANKING_NONE, RANKING_HOLDS, RANKING_FAILS };

struct ranking {
    enum ranking_outcome outcome;
    const char *subject;  /* who is said to be first, or to be more */
    const char *first;    /* who is; of two, the other */
    const char *quantity; /* key of the column by which */
    bool of_kernels;      /* tpa kernels has it, else tpa top */
};

/* What the tokens from FIRST to END, a sentence, say; RANKING_NONE: no ranking, or one that cannot be judged. Texts live as long as FACTS. */
struct ranking ranking_read(const struct check_facts *facts, const struct tokens *tokens, size_t first,
                            size_t end);

#endif
