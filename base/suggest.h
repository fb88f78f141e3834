/*
 * suggest.h - "did you mean ...?" for words people type: options, commands, columns, choices.
 *
 *     struct suggest near = suggest_for("sotr", 4);
 *     for (size_t i = 0; i < count; i++)
 *         suggest_consider(&near, names[i]);
 *     if (near.best)
 *         ... "did you mean near.best?"
 */
#ifndef TPA_BASE_SUGGEST_H
#define TPA_BASE_SUGGEST_H

#include <stddef.h>

struct suggest {
    const char *word; /* what was typed; borrowed, not NUL-terminated */
    size_t len;
    const char *best; /* the nearest candidate so far, or NULL when none is near; borrowed */
    char own[64];     /* `best` may point here: do not copy the struct then */
    size_t best_distance;
};

/* A search for words like the LEN bytes at WORD, which are borrowed. */
struct suggest suggest_for(const char *word, size_t len);

/* Keep CANDIDATE if it is nearer than the best so far, and near enough to be suggested. */
void suggest_consider(struct suggest *suggest, const char *candidate);

/* The same for each of the blank-separated WORDS. */
void suggest_consider_words(struct suggest *suggest, const char *words);

/* How many letters must be added, dropped, changed or swapped with their neighbour to turn the LEN bytes at
 * WORD into TEXT. Upper and lower case count as the same letter, and so do '-' and '_'. SIZE_MAX when either
 * is too long. */
size_t suggest_distance(const char *word, size_t len, const char *text);

#endif
