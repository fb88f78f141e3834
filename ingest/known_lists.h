/*
 * known_lists.h - cache of stacks by the bytes of their lists of references to frames.
 *
 * A large snapshot consists mostly of such lists, a hundred references each, and few of them differ: in one recording
 * 5,325 lists are 355 stacks. References are constant throughout a pickle, unless a number of the memo is reused; so
 * equal bytes are the same stack, and the references are not looked up.
 *
 *     if (!known_lists_guess(&lists, bytes, end, &len, &stack)) {
 *         len = ...;                                              // find the end of the list
 *         uint64_t hash = known_lists_hash(bytes, len);
 *         if (!known_lists_find(&lists, bytes, len, hash, &stack))
 *             known_lists_add(&lists, bytes, len, hash, stack = ...);
 *     }
 *
 * Training is repetitive: so the list that followed last time is tried first, and if its bytes match, including the
 * end, the end is not searched.
 */
#ifndef TPA_INGEST_KNOWN_LISTS_H
#define TPA_INGEST_KNOWN_LISTS_H

#include "base/memory.h"
#include <stdint.h>

struct known_list {
    uint64_t hash;
    uint32_t first, length; /* in `bytes`, with the byte that ends it; a length of 0: the slot is free */
    uint32_t next;          /* the slot of the list that followed last time */
    uint64_t value;
};

/* All zero: empty. Its size is bounded: when it is full, it is cleared. */
struct known_lists {
    struct known_list *slots;
    uint32_t last; /* the slot of the list found last */
    VEC_OF(uint8_t) bytes;
};

/* The list at BYTES, before END, and its length, if it is the one that followed last time. */
bool known_lists_guess(struct known_lists *lists, const uint8_t *bytes, const uint8_t *end, size_t *len,
                       uint64_t *value);

/* Of LEN bytes, the list with the byte that ends it. */
uint64_t known_lists_hash(const uint8_t *bytes, size_t len);

/* The value added with the same bytes; false if there is none. */
bool known_lists_find(struct known_lists *lists, const uint8_t *bytes, size_t len, uint64_t hash,
                      uint64_t *value);

/* Keep VALUE for LEN bytes, which are copied and must not be in it yet. */
void known_lists_add(struct known_lists *lists, const uint8_t *bytes, size_t len, uint64_t hash,
                     uint64_t value);

/* Clear the cache, because references change their meaning. */
void known_lists_clear(struct known_lists *lists);

/* Free what LISTS owns. */
void known_lists_release(struct known_lists *lists);

#endif
