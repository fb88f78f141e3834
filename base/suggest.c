/* suggest.c - the distance is Damerau and Levenshtein's with adjacent swaps ("optimal string alignment"), in three
 * rows of a table. */
#include "base/suggest.h"
#include "base/memory.h"

#include <ctype.h>
#include <stdint.h>

enum { LONGEST = 64 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char fold(char c)
{
    return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

size_t suggest_distance(const char *word, size_t len, const char *text)
{
    size_t text_len = strlen(text);
    if (len > LONGEST || text_len > LONGEST)
        return SIZE_MAX;

    /* rows[..][j]: distance between the letters of WORD seen so far and the first J letters of TEXT. */
    size_t rows[3][LONGEST + 1];
    size_t *two_back = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= text_len; j++)
        last[j] = j;
    for (size_t i = 1; i <= len; i++) {
        now[0] = i;
        for (size_t j = 1; j <= text_len; j++) {
            char a = fold(word[i - 1]), b = fold(text[j - 1]);
            now[j] = smaller(last[j - 1] + (a != b), smaller(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a == fold(text[j - 2]) && fold(word[i - 2]) == b)
                now[j] = smaller(now[j], two_back[j - 2] + 1);
        }
        size_t *spare = two_back;
        two_back = last;
        last = now;
        now = spare;
    }
    return last[text_len];
}

struct suggest suggest_for(const char *word, size_t len)
{
    return (struct suggest){ .word = word, .len = len, .best_distance = SIZE_MAX };
}

/* Does TEXT begin with the word? Abbreviations are not accepted, but they are good suggestions. */
static bool is_abbreviation(const struct suggest *suggest, const char *text)
{
    if (suggest->len < 2)
        return false;
    return !ANY(i, suggest->len, text[i] == '\0' || fold(text[i]) != fold(suggest->word[i]));
}

void suggest_consider(struct suggest *suggest, const char *candidate)
{
    size_t distance = suggest_distance(suggest->word, suggest->len, candidate);
    if (distance != SIZE_MAX && distance > 1 && is_abbreviation(suggest, candidate))
        distance = 1;
    /* One mistake in three letters is near: "tpo" is top, but "foo" is not. */
    if (distance <= (suggest->len + 1) / 3 && distance < suggest->best_distance) {
        suggest->best = candidate;
        suggest->best_distance = distance;
    }
}

void suggest_consider_words(struct suggest *suggest, const char *words)
{
    for (size_t len; *words; words += len) {
        char word[sizeof suggest->own];
        words += strspn(words, " ");
        len = strcspn(words, " ");
        if (len == 0 || len >= sizeof word)
            continue;
        memcpy(word, words, len);
        word[len] = '\0';
        size_t before = suggest->best_distance;
        suggest_consider(suggest, word);
        if (suggest->best_distance == before)
            continue;
        memcpy(suggest->own, word, len + 1);
        suggest->best = suggest->own;
    }
}
