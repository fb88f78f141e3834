/*
 * known_lists.h - what lists of references to frames have become, found by their bytes.
 *
 * Most of a large snapshot is such lists, a hundred references each, and few of them differ: in one recording 5,325 lists
 * are 355 stacks. References mean the same all through a pickle, as long as no number of the memo is given again; so what
 * has the same bytes is the same stack, and its references need not be looked up.
 *
 *     if (!known_lists_guess(&lists, bytes, end, &len, &stack)) {
 *         len = ...;                                              // look where the list ends
 *         uint64_t hash = known_lists_hash(bytes, len);
 *         if (!known_lists_find(&lists, bytes, len, hash, &stack))
 *             known_lists_add(&lists, bytes, len, hash, stack = ...);
 *     }
 *
 * A program that trains does the same again and again: so the list that followed last time is tried first, and when its
 * bytes stand there, with their end, not even the end has to be looked for.
 */
#ifndef TPA_INGEST_KNOWN_LISTS_H
#define TPA_INGEST_KNOWN_LISTS_H

#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_list {
    uint64_t hash;
    uint32_t first, length; /* in `bytes`, with the byte that ends it; a length of 0: the slot is free */
    uint32_t next;          /* the slot of the list that came behind it last time */
    uint64_t value;
};

/* All zero: empty. Its size is bounded: when it is full, it begins anew. */
struct known_lists {
    struct known_list *slots;
    uint32_t last; /* the slot of the list found last */
    VEC_OF(uint8_t) bytes;
};

/* The list that stands from BYTES on, before END, and its length, if it is the one that followed last time. */
bool known_lists_guess(struct known_lists *lists, const uint8_t *bytes, const uint8_t *end, size_t *len,
                       uint64_t *value);

/* Of LEN bytes, the list with the byte that ends it. */
uint64_t known_lists_hash(const uint8_t *bytes, size_t len);

/* What was added with the same bytes; false when nothing was, or it is forgotten. */
bool known_lists_find(struct known_lists *lists, const uint8_t *bytes, size_t len, uint64_t hash,
                      uint64_t *value);

/* Keep VALUE for LEN bytes, which are copied; they are not in it yet. */
void known_lists_add(struct known_lists *lists, const uint8_t *bytes, size_t len, uint64_t hash,
                     uint64_t value);

/* Forget all: references mean something else from now on. */
void known_lists_clear(struct known_lists *lists);

void known_lists_release(struct known_lists *lists);

#endif
