/*
 * apart.c - see apart.h. Names that look the same are a group; the words of a name that not all of its group have are
 * what it differs in.
 */
#include "report/apart.h"

#include "base/memory.h"
#include "base/names.h"
#include "base/unicode.h"
#include "report/distinct.h"
#include "report/shorten.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_WORD = 20, NARROWEST_DIFFERENCE = 4 };

/* A shortened text, and how many different names look so. */
struct look {
    size_t names;
};

/* A word of a group: how many of its names have it. */
struct word {
    size_t names;
    name_id last; /* the name that had it last: each counts once */
};

struct apart {
    size_t max;
    struct names *full, *looks, *words; /* a word's key is its group, then the word */
    VEC_OF(name_id) look_of;            /* by name */
    VEC_OF(struct look) look;
    VEC_OF(struct word) word;
    bool counted;
    struct distinct *numbers;
    struct buffer key;
};

struct apart *apart_open(size_t max)
{
    struct apart *apart = mem_zalloc(1, sizeof *apart);
    apart->max = max;
    apart->full = names_open();
    apart->looks = names_open();
    apart->words = names_open();
    apart->numbers = distinct_open();
    return apart;
}

void apart_free(struct apart *apart)
{
    if (!apart)
        return;
    names_free(apart->full);
    names_free(apart->looks);
    names_free(apart->words);
    distinct_free(apart->numbers);
    VEC_FREE(&apart->look_of);
    VEC_FREE(&apart->look);
    VEC_FREE(&apart->word);
    buffer_release(&apart->key);
    free(apart);
}

void apart_add(struct apart *apart, const char *name, size_t len)
{
    name_id id = names_add(apart->full, name, len);
    if (id < apart->look_of.count)
        return;
    struct buffer full = { 0 }, shown = { 0 };
    bool shorter = shorten_readable(&full, &shown, name, len, apart->max);
    const struct buffer *look = shorter ? &shown : &full;
    name_id look_id = names_add(apart->looks, look->at ? look->at : "", look->count);
    if (look_id == apart->look.count)
        *VEC_PUSH(&apart->look) = (struct look){ 0 };
    assert(apart->look.at);
    apart->look.at[look_id].names++;
    *VEC_PUSH(&apart->look_of) = look_id;
    buffer_release(&full);
    buffer_release(&shown);
}

/* ---- words ---- */

static bool is_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Is the word of LEN bytes that begins at AT of TEXT one that says little of its own: a namespace, a keyword, a number? */
static bool is_noise(const struct buffer *text, size_t at, size_t len)
{
    static const char *const words[] = { "operator", "const", "void", "unsigned", "anonymous", "namespace" };
    size_t end = at + len;
    if (text->at[at] >= '0' && text->at[at] <= '9')
        return true;
    if (end + 1 < text->count && text->at[end] == ':' && text->at[end + 1] == ':')
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (len == strlen(words[i]) && memcmp(text->at + at, words[i], len) == 0)
            return true;
    return false;
}

/* The next word of TEXT from *AT on: its length, 0 at the end. A very long one is taken apart at its underscores. */
static size_t next_word(const struct buffer *text, size_t *at)
{
    while (*at < text->count && !is_letter(text->at[*at]))
        ++*at;
    size_t len = 0, piece = 0;
    while (*at + len < text->count && is_letter(text->at[*at + len])) {
        len++;
        if (!piece && len > 1 && *at + len < text->count && text->at[*at + len] == '_')
            piece = len;
    }
    return len > LONGEST_WORD && piece ? piece : len;
}

/* Valid until the next is requested. */
static struct word *word_of(struct apart *apart, name_id look, const char *word, size_t len)
{
    buffer_clear(&apart->key);
    buffer_add(&apart->key, (const char *)&look, sizeof look);
    buffer_add(&apart->key, word, len);
    name_id id = names_add(apart->words, apart->key.at, apart->key.count);
    if (id == apart->word.count)
        *VEC_PUSH(&apart->word) = (struct word){ 0, NAME_NONE };
    assert(apart->word.at);
    return &apart->word.at[id];
}

static void readable(struct buffer *full, const struct apart *apart, name_id name)
{
    struct buffer shown = { 0 };
    shorten_readable(full, &shown, names_text(apart->full, name), names_length(apart->full, name),
                     apart->max);
    buffer_release(&shown);
}

/* Count the words of the names that look like another. */
static void count_words(struct apart *apart)
{
    for (name_id name = 0; name < apart->look_of.count; name++) {
        name_id look = apart->look_of.at[name];
        if (apart->look.at[look].names < 2)
            continue;
        struct buffer full = { 0 };
        readable(&full, apart, name);
        for (size_t at = 0, len; (len = next_word(&full, &at)) > 0; at += len) {
            struct word *word = word_of(apart, look, full.at + at, len);
            word->names += word->last != name;
            word->last = name;
        }
        buffer_release(&full);
    }
    apart->counted = true;
}

/* Append what FULL has and not all names of its group, as far as it fits into MAX columns: "AddFunctor, bf16". Of NOISE
 * only, or of the other words. */
static void add_difference(struct apart *apart, struct buffer *out, name_id name, const struct buffer *full,
                           size_t max, bool noise)
{
    name_id look = apart->look_of.at[name];
    size_t begin = out->count;
    for (size_t at = 0, len; (len = next_word(full, &at)) > 0; at += len) {
        struct word *word = word_of(apart, look, full->at + at, len);
        bool said = word->last == NAME_NONE;
        if (word->names == apart->look.at[look].names || said || is_noise(full, at, len) != noise ||
            (out->count > begin && out->count - begin + 2 + len > max))
            continue;
        word->last = NAME_NONE; /* said once; see below */
        buffer_puts(out, out->count > begin ? ", " : "");
        buffer_add(out, full->at + at, len);
    }
    for (size_t at = 0, len; (len = next_word(full, &at)) > 0; at += len)
        word_of(apart, look, full->at + at, len)->last = name;
}

/* "elementwise_kernel [AddFunctor]" in no more than MAX columns; false when there is no room for it. */
static bool add_with_difference(struct apart *apart, struct buffer *shown, name_id name,
                                const struct buffer *full)
{
    struct buffer difference = { 0 };
    size_t most = apart->max / 2;
    add_difference(apart, &difference, name, full, most, false);
    if (difference.count == 0)
        add_difference(apart, &difference, name, full, most, true);
    size_t wide = unicode_text_width(difference.at ? difference.at : "", difference.count);
    bool fits = wide > 0 && most >= NARROWEST_DIFFERENCE;
    if (fits) {
        struct buffer cut = { 0 }, again = { 0 };
        wide = shorten_middle(&cut, difference.at, difference.count, wide < most ? wide : most);
        shorten_readable(&again, shown, names_text(apart->full, name), names_length(apart->full, name),
                         apart->max - wide - 3);
        buffer_puts(shown, " [");
        buffer_add(shown, cut.at, cut.count);
        buffer_puts(shown, "]");
        buffer_release(&cut);
        buffer_release(&again);
    }
    buffer_release(&difference);
    return fits;
}

/* SHOWN with " #NUMBER" behind it, no wider than MAX; where there is no room for that, as it is. */
static void add_number(struct buffer *shown, size_t number, size_t max)
{
    char mark[24];
    size_t wide = (size_t)snprintf(mark, sizeof mark, " #%zu", number);
    struct buffer cut = { 0 };
    if (wide >= max)
        return;
    shorten_middle(&cut, shown->at, shown->count, max - wide);
    buffer_clear(shown);
    buffer_add(shown, cut.at, cut.count);
    buffer_puts(shown, mark);
    buffer_release(&cut);
}

bool apart_show(struct apart *apart, struct buffer *full, struct buffer *shown, const char *name, size_t len)
{
    if (!shorten_readable(full, shown, name, len, apart->max))
        return false;
    name_id id = names_find(apart->full, name, len);
    if (id == NAME_NONE || apart->look.at[apart->look_of.at[id]].names < 2)
        return true;
    if (!apart->counted)
        count_words(apart);
    struct buffer other = { 0 };
    if (add_with_difference(apart, &other, id, full)) {
        buffer_clear(shown);
        buffer_add(shown, other.at, other.count);
    }
    buffer_release(&other);
    size_t number = distinct_number(apart->numbers, name, len, shown->at, shown->count);
    if (number > 1)
        add_number(shown, number, apart->max);
    return true;
}
