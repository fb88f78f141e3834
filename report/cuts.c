/* Texts that look the same are a group. Its members are shown from where they begin to differ, which
 * parts it into groups whose members differ further behind. Texts of different groups may look the same in the end: those are
 * numbered. */
#include "report/cuts.h"

#include "base/names.h"
#include "base/rows.h"
#include "report/shorten.h"
#include <assert.h>

enum { MOST_ROUNDS = 16, MOST_CONTEXT = 8 };

/* A text, with the names of its row. */
struct cut {
    const char *shown, *text;
    uint32_t row, id;      /* the names of the row; its place */
    uint32_t group, mates; /* those it is not parted from, so far and in this round */
};

struct cuts {
    size_t max;
    struct names *rows, *texts, *pairs; /* a pair: a row and a text */
    struct buffer key;
    VEC_OF(struct cut) cut; /* by pair; in the order of looks while they are parted */
    bool parted;
};

struct cuts *cuts_open(size_t max)
{
    struct cuts *cuts = arena_open(sizeof *cuts);
    ARENA_OWNS(arena_of(cuts), &cuts->cut, &cuts->key);
    cuts->max = max;
    cuts->rows = arena_hold(arena_of(cuts), names_open());
    cuts->texts = arena_hold(arena_of(cuts), names_open());
    cuts->pairs = arena_hold(arena_of(cuts), names_open());
    return cuts;
}

/* The pair of ROW and a text; what is new is added. */
static name_id pair_of(struct cuts *cuts, const char *row, const char *text, size_t len)
{
    name_id ids[] = { names_add(cuts->rows, row, strlen(row)), names_add(cuts->texts, text, len) };
    return names_add(cuts->pairs, (const char *)ids, sizeof ids);
}

void cuts_add(struct cuts *cuts, const char *row, const char *text, size_t len)
{
    name_id id = pair_of(cuts, row, text, len);
    if (id < cuts->cut.count)
        return;
    struct buffer shown = { 0 };
    shorten_middle(&shown, text, len, cuts->max);
    *VEC_PUSH(&cuts->cut) = (struct cut){
        .shown = arena_strndup(arena_of(cuts), shown.at ? shown.at : "", shown.count),
        .text = arena_strndup(arena_of(cuts), text, len),
        .row = names_add(cuts->rows, row, strlen(row)),
        .group = names_add(cuts->rows, row, strlen(row)),
        .id = id,
    };
    buffer_release(&shown);
}

/* How many bytes the texts A and B have in common at their begin. */
static size_t common_begin(const char *a, const char *b)
{
    size_t at = 0;
    while (a[at] && a[at] == b[at])
        at++;
    return at;
}

/* Is the byte at S not the first of a character? */
static bool is_within(const char *s)
{
    return ((unsigned char)*s & 0xc0) == 0x80;
}

/* Where to begin to show TEXT, so that the character at DIFFERS is seen: in front of its word, if that is near. */
static size_t begin_before(const char *text, size_t differs, size_t max)
{
    size_t most = max > 10 ? (max - 6) / 2 : 1, at = differs;
    most = most < MOST_CONTEXT ? most : MOST_CONTEXT;
    while (at > 0 && differs - at < most && !strchr(" [(,/", text[at - 1]))
        at--;
    if (differs - at == most)
        at = differs;
    while (at > 0 && is_within(text + at))
        at--;
    return at;
}

/* Show the COUNT texts of GROUP, which look the same, from where they differ. */
static void part_group(struct cuts *cuts, struct cut *group, size_t count)
{
    size_t differs = SIZE_MAX;
    for (size_t i = 1; i < count; i++) {
        size_t common = common_begin(group[0].text, group[i].text);
        differs = common < differs ? common : differs;
    }
    for (size_t i = 0; i < count; i++) {
        const char *text = group[i].text;
        size_t len = strlen(text), end = differs < len ? differs + 1 : len;
        while (end < len && is_within(text + end))
            end++;
        struct buffer shown = { 0 };
        shorten_from(&shown, text, len, begin_before(text, differs, cuts->max), end, cuts->max);
        group[i].shown = arena_strndup(arena_of(cuts), shown.at ? shown.at : "", shown.count);
        buffer_release(&shown);
    }
}

/* CUT as no other of its row was shown so far, with a number behind it if need be. LOOKS are those of the rows. */
static void number_text(struct cuts *cuts, struct cut *cut, struct names *looks)
{
    struct buffer shown = { 0 };
    for (size_t number = 1;; number++) {
        char mark[24] = "";
        size_t wide = number > 1 ? (size_t)snprintf(mark, sizeof mark, " #%zu", number) : 0;
        if (wide >= cuts->max)
            break;
        buffer_clear(&shown);
        shorten_middle(&shown, cut->shown, strlen(cut->shown), cuts->max - wide);
        buffer_puts(&shown, mark);
        buffer_clear(&cuts->key);
        buffer_printf(&cuts->key, "%u %s", cut->row, shown.at);
        size_t count = names_count(looks);
        if (names_add(looks, cuts->key.at, cuts->key.count) < count)
            continue;
        cut->shown = arena_strndup(arena_of(cuts), shown.at, shown.count);
        break;
    }
    buffer_release(&shown);
}

static void part_texts(struct cuts *cuts)
{
    static const struct key by_look[] = { ASC(struct cut, group), ASC(struct cut, shown), ASC(struct cut, id),
                                          KEY_END };
    static const struct key look[] = { ASC(struct cut, group), ASC(struct cut, shown), KEY_END };
    static const struct key by_pair[] = { ASC(struct cut, id), KEY_END };
    bool any = true;
    for (int round = 0; round < MOST_ROUNDS && any; round++) {
        any = false;
        SORT(&cuts->cut, by_look);
        FOR_GROUPS(&cuts->cut, look, first, end) {
            if (end - first > 1)
                part_group(cuts, &cuts->cut.at[first], end - first);
            any |= end - first > 1;
            for (size_t i = first; i < end; i++)
                cuts->cut.at[i].mates = (uint32_t)first;
        }
        for (size_t i = 0; i < cuts->cut.count; i++)
            cuts->cut.at[i].group = cuts->cut.at[i].mates;
    }
    SORT(&cuts->cut, by_pair);
    struct names *looks = names_open();
    for (size_t i = 0; i < cuts->cut.count; i++)
        number_text(cuts, &cuts->cut.at[i], looks);
    names_free(looks);
    cuts->parted = true;
}

struct text cuts_shown(struct cuts *cuts, const char *row, const char *text, size_t len)
{
    name_id id = pair_of(cuts, row, text, len);
    assert(id < cuts->cut.count);
    if (!cuts->parted)
        part_texts(cuts);
    return as_text(cuts->cut.at[id].shown);
}
