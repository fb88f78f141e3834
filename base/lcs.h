/*
 * lcs.h - the longest common subsequence of two sequences of numbers that differ little.
 *
 *     struct lcs_pairs pairs = { 0 };
 *     if (lcs_find(a, n, b, m, 4000, &pairs))
 *         ... a[pairs.at[i].a] == b[pairs.at[i].b] ...
 *     VEC_FREE(&pairs);
 */
#ifndef TPA_BASE_LCS_H
#define TPA_BASE_LCS_H

#include "base/memory.h"
#include <stdint.h>

/* An element that equals nothing, not even itself. */
#define LCS_NOTHING UINT32_MAX

struct lcs_pair {
    uint32_t a, b; /* places in the two sequences */
};

struct lcs_pairs {
    struct lcs_pair *at;
    size_t count, capacity;
};

/* Add the pairs, ascending on both sides, to PAIRS. False, with nothing added, when more than MOST_EDITS elements occur
 * in only one sequence. Takes time of (N + M) times the edits and memory of their square (Myers, An O(ND) Difference
 * Algorithm and Its Variations, 1986); equal sequences take N steps. */
bool lcs_find(const uint32_t *a, size_t n, const uint32_t *b, size_t m, size_t most_edits,
              struct lcs_pairs *pairs);

#endif
