/* Names that look the same are a group; the words of a name that not all of its group have are
 * what it differs in. */
#include "report/apart.h"

#include "base/names.h"
#include "base/unicode.h"
#include "report/distinct.h"
#include "report/shorten.h"
#include <assert.h>

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

/* A name of the column. */
struct member {
    const struct readable_name *name;
    name_id look;
    struct text distinct; /* as it is shown, once it was */
};

struct apart {
    size_t max;
    struct readable *readable;
    struct names *names, *looks, *words; /* a word's key is its group, then the word */
    VEC_OF(struct member) member;        /* by name */
    VEC_OF(struct look) look;
    VEC_OF(struct word) word;
    bool counted;
    struct distinct *numbers;
    struct buffer key;
};

struct apart *apart_open(size_t max)
{
    struct apart *apart = arena_open(sizeof *apart);
    ARENA_OWNS(arena_of(apart), &apart->member, &apart->look, &apart->word, &apart->key);
    apart->readable = arena_hold(arena_of(apart), readable_open(max));
    apart->max = readable_max(apart->readable);
    apart->names = arena_hold(arena_of(apart), names_open());
    apart->looks = arena_hold(arena_of(apart), names_open());
    apart->words = arena_hold(arena_of(apart), names_open());
    apart->numbers = arena_hold(arena_of(apart), distinct_open());
    return apart;
}

void apart_add(struct apart *apart, const char *text, size_t len)
{
    name_id id = names_add(apart->names, text, len);
    if (id < apart->member.count)
        return;
    const struct readable_name *name = readable_of(apart->readable, text, len);
    const struct text *look = name->shorter ? &name->shown : &name->full;
    name_id look_id = names_add(apart->looks, look->at, look->len);
    if (look_id == apart->look.count)
        *VEC_PUSH(&apart->look) = (struct look){ 0 };
    assert(apart->look.at);
    apart->look.at[look_id].names++;
    *VEC_PUSH(&apart->member) = (struct member){ .name = name, .look = look_id };
}

/* ---- words ---- */

static bool is_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* Is the word of LEN bytes that begins at AT of TEXT one that says little of its own: a namespace, a keyword, a number? */
static bool is_noise(const struct text *text, size_t at, size_t len)
{
    static const char *const words[] = { "operator", "const", "void", "unsigned", "anonymous", "namespace" };
    size_t end = at + len;
    if (text->at[at] >= '0' && text->at[at] <= '9')
        return true;
    if (end + 1 < text->len && text->at[end] == ':' && text->at[end + 1] == ':')
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (len == strlen(words[i]) && memcmp(text->at + at, words[i], len) == 0)
            return true;
    return false;
}

/* The next word of TEXT from *AT on: its length, 0 at the end. A very long one is taken apart at its underscores. */
static size_t next_word(const struct text *text, size_t *at)
{
    while (*at < text->len && !is_letter(text->at[*at]))
        ++*at;
    size_t len = 0, piece = 0;
    while (*at + len < text->len && is_letter(text->at[*at + len])) {
        len++;
        if (!piece && len > 1 && *at + len < text->len && text->at[*at + len] == '_')
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

/* Count the words of the names that look like another. */
static void count_words(struct apart *apart)
{
    for (name_id id = 0; id < apart->member.count; id++) {
        const struct member *member = &apart->member.at[id];
        const struct text *full = &member->name->full;
        if (apart->look.at[member->look].names < 2)
            continue;
        for (size_t at = 0, len; (len = next_word(full, &at)) > 0; at += len) {
            struct word *word = word_of(apart, member->look, full->at + at, len);
            word->names += word->last != id;
            word->last = id;
        }
    }
    apart->counted = true;
}

/* Append what the name has and not all of its group, as far as it fits into MAX columns: "AddFunctor, bf16". Of NOISE
 * only, or of the other words. */
static void add_difference(struct apart *apart, struct buffer *out, name_id id, size_t max, bool noise)
{
    name_id look = apart->member.at[id].look;
    const struct text *full = &apart->member.at[id].name->full;
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
        word_of(apart, look, full->at + at, len)->last = id;
}

/* "elementwise_kernel [AddFunctor]" in no more than MAX columns; false when there is no room for it. */
static bool add_with_difference(struct apart *apart, struct buffer *shown, name_id id)
{
    struct buffer difference = { 0 };
    size_t most = apart->max / 2;
    add_difference(apart, &difference, id, most, false);
    if (difference.count == 0)
        add_difference(apart, &difference, id, most, true);
    size_t wide = unicode_text_width(difference.at ? difference.at : "", difference.count);
    bool fits = wide > 0 && most >= NARROWEST_DIFFERENCE;
    if (fits) {
        struct buffer cut = { 0 }, again = { 0 };
        wide = shorten_middle(&cut, difference.at, difference.count, wide < most ? wide : most);
        shorten_readable(&again, shown, names_text(apart->names, id), names_length(apart->names, id),
                         apart->max - wide - 3);
        buffer_puts(shown, " [");
        buffer_add(shown, cut.at, cut.count);
        buffer_puts(shown, "]");
        EACH(buffer_release, &cut, &again);
    }
    buffer_release(&difference);
    return fits;
}

/* SHOWN, of the name ID, with " #NUMBER" behind it, no wider than MAX; where there is no room for that, as it is. */
static void apart_add_number(struct apart *apart, struct buffer *shown, name_id id, size_t number)
{
    char mark[24];
    size_t wide = (size_t)snprintf(mark, sizeof mark, " #%zu", number);
    struct buffer cut = { 0 };
    if (wide >= apart->max)
        return;
    apart->max -= wide;
    if (!add_with_difference(apart, &cut, id))
        shorten_middle(&cut, shown->at, shown->count, apart->max);
    apart->max += wide;
    buffer_clear(shown);
    buffer_add(shown, cut.at, cut.count);
    buffer_puts(shown, mark);
    buffer_release(&cut);
}

/* The name ID as it is shown, distinguished from others that look the same. */
static struct text apart_distinguish(struct apart *apart, name_id id)
{
    const struct readable_name *name = apart->member.at[id].name;
    struct buffer shown = { 0 };
    if (!apart->counted)
        count_words(apart);
    if (!add_with_difference(apart, &shown, id))
        buffer_add(&shown, name->shown.at, name->shown.len);
    size_t number = distinct_number(apart->numbers, names_text(apart->names, id),
                                    names_length(apart->names, id), shown.at, shown.count);
    if (number > 1)
        apart_add_number(apart, &shown, id, number);
    struct text distinct = { arena_strndup(arena_of(apart), shown.at ? shown.at : "", shown.count),
                             shown.count };
    buffer_release(&shown);
    return distinct;
}

size_t apart_find_begin(const struct apart *apart, const char *text)
{
    size_t found = 0;
    for (size_t len = strcspn(text, ",;:"); len; len += text[len] ? 1 + strcspn(text + len + 1, ",;:") : 0) {
        found = names_find(apart->names, text, len) == NAME_NONE ? found : len;
        if (!text[len])
            break;
    }
    return found;
}

bool apart_fill_names(struct apart *apart, struct text *full, struct text *shown, const char *name,
                      size_t len)
{
    name_id id = names_find(apart->names, name, len);
    assert(id != NAME_NONE);
    struct member *member = &apart->member.at[id];
    *full = member->name->full;
    if (!member->name->shorter)
        return false;
    if (!member->distinct.at)
        member->distinct =
            apart->look.at[member->look].names < 2 ? member->name->shown : apart_distinguish(apart, id);
    *shown = member->distinct;
    return true;
}
