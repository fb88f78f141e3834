/*
 * known_lists.h - what lists of references to frames have become, found by their bytes.
 *
 * Most of a large snapshot is such lists, a hundred references each, and few of them differ: in one recording 5,325 lists
 * are 355 stacks. References mean the same all through a pickle, as long as no number of the memo is given again; so what
 * has the same bytes is the same stack, and its references need not be looked up.
 *
 *     uint64_t hash = known_lists_hash(bytes, len);
 *     if (!known_lists_find(&lists, bytes, len, hash, &stack))
 *         known_lists_add(&lists, bytes, len, hash, stack = ...);
 */
#ifndef TPA_INGEST_KNOWN_LISTS_H
#define TPA_INGEST_KNOWN_LISTS_H

#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_list {
    uint64_t hash;
    uint32_t first, length; /* in `bytes`; a length of 0: the slot is free */
    uint64_t value;
};

/* All zero: empty. Its size is bounded: when it is full, it begins anew. */
struct known_lists {
    struct known_list *slots;
    VEC_OF(uint8_t) bytes;
};

/* Of LEN bytes. */
uint64_t known_lists_hash(const uint8_t *bytes, size_t len);

/* What was added with the same bytes; false when nothing was, or it is forgotten. */
bool known_lists_find(const struct known_lists *lists, const uint8_t *bytes, size_t len, uint64_t hash,
                      uint64_t *value);

/* Keep VALUE for LEN bytes, which are copied; they are not in it yet. */
void known_lists_add(struct known_lists *lists, const uint8_t *bytes, size_t len, uint64_t hash,
                     uint64_t value);

/* Forget all: references mean something else from now on. */
void known_lists_clear(struct known_lists *lists);

void known_lists_release(struct known_lists *lists);

#endif
