/*
 * names.c - an open-addressed table of ids over texts kept in an arena.
 *
 * A slot holds the upper half of the hash, its tag, beside the id, so that a probe reads a text only when it almost
 * certainly matches. Linear probing, at most half full. The first bits of the tag give the slot: a larger table holds
 * the slots in the same order, and is filled from the smaller one in one pass over both, without reading texts.
 */
#define XXH_INLINE_ALL
#include "base/names.h"

#include "base/arena.h"
#include "base/memory.h"
#include <assert.h>
#include <xxhash.h>

struct slot {
    uint32_t tag; /* upper half of the hash */
    name_id id;   /* NAME_NONE: empty */
};

struct names_block {
    const char *at;
    size_t len;
};

struct names {
    struct slot *slots;
    size_t mask;   /* number of slots - 1 */
    unsigned bits; /* there are 2^bits slots */
    VEC_OF(struct names_block) texts;
    size_t bytes; /* of all texts */
};

static struct slot *new_slots(size_t count)
{
    struct slot *slots = mem_alloc(mem_times(count, sizeof *slots));
    for (size_t i = 0; i < count; i++)
        slots[i] = (struct slot){ 0, NAME_NONE };
    return slots;
}

struct names *names_open(void)
{
    struct names *names = arena_open(sizeof *names);
    ARENA_OWNS(arena_of(names), &names->texts, &names->slots);
    names->bits = 8;
    names->mask = ((size_t)1 << names->bits) - 1;
    names->slots = new_slots(names->mask + 1);
    return names;
}

void names_free(struct names *names)
{
    arena_free(names);
}

size_t names_count(const struct names *names)
{
    return names->texts.count;
}

size_t names_bytes(const struct names *names)
{
    return names->bytes;
}

/* The slot where the search for a text with TAG begins. */
static size_t home_of(const struct names *names, uint32_t tag)
{
    return (size_t)((uint64_t)tag << 32 >> (64 - names->bits));
}

/* The slot that holds the text, or the empty slot where it would go. */
static struct slot *find_slot(const struct names *names, const char *s, size_t len, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    for (size_t i = home_of(names, tag);; i = (i + 1) & names->mask) {
        struct slot *slot = &names->slots[i];
        if (slot->id == NAME_NONE)
            return slot;
        const struct names_block *text = &names->texts.at[slot->id];
        if (slot->tag == tag && text->len == len && memcmp(text->at, s, len) == 0)
            return slot;
    }
}

static void grow(struct names *names)
{
    struct slot *old = names->slots;
    size_t old_count = names->mask + 1;
    names->bits++;
    names->mask = names->mask * 2 + 1;
    names->slots = new_slots(names->mask + 1);
    for (size_t from = 0; from < old_count; from++) {
        if (old[from].id == NAME_NONE)
            continue;
        size_t to = home_of(names, old[from].tag);
        while (names->slots[to].id != NAME_NONE)
            to = (to + 1) & names->mask;
        names->slots[to] = old[from];
    }
    free(old);
}

name_id names_add(struct names *names, const char *s, size_t len)
{
    uint64_t hash = XXH3_64bits(s, len);
    struct slot *slot = find_slot(names, s, len, hash);
    if (slot->id != NAME_NONE)
        return slot->id;
    if (names->texts.count >= NAME_NONE - 1)
        mem_out_of_memory(len); /* limit: 4 billion distinct names */
    name_id id = (name_id)names->texts.count;
    *VEC_PUSH(&names->texts) = (struct names_block){ arena_strndup(arena_of(names), s, len), len };
    *slot = (struct slot){ (uint32_t)(hash >> 32), id };
    names->bytes += len;
    if (names->texts.count * 2 > names->mask)
        grow(names);
    return id;
}

name_id names_find(const struct names *names, const char *s, size_t len)
{
    return find_slot(names, s, len, XXH3_64bits(s, len))->id;
}

const char *names_text(const struct names *names, name_id id)
{
    assert(id == NAME_NONE || id < names->texts.count);
    return id == NAME_NONE ? "" : names->texts.at[id].at;
}

size_t names_length(const struct names *names, name_id id)
{
    assert(id == NAME_NONE || id < names->texts.count);
    return id == NAME_NONE ? 0 : names->texts.at[id].len;
}
