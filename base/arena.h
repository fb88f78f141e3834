/*
 * arena.h - many small allocations with one lifetime and one free.
 *
 * For names, texts and metadata that live as long as a trace or a table. Not for arrays that grow.
 *
 *     struct arena arena = { 0 };
 *     char *copy = arena_strndup(&arena, s, len);
 *     arena_release(&arena);                     // copy is gone
 */
#ifndef TPA_BASE_ARENA_H
#define TPA_BASE_ARENA_H

#include "base/error.h"
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    size_t used, size;          /* of the newest block */
};

/* SIZE bytes, aligned for any type, not cleared; borrowed, lives as long as ARENA. Never NULL. */
void *arena_alloc(struct arena *arena, size_t size);

/* A NUL-terminated copy of the LEN bytes at S. */
char *arena_strndup(struct arena *arena, const char *s, size_t len);

/* As sprintf, into the arena. */
char *arena_printf(struct arena *arena, const char *fmt, ...) TPA_PRINTF(2, 3);

/* Move all allocations of FROM to ARENA: they live as long as ARENA, and FROM is empty. */
void arena_adopt(struct arena *arena, struct arena *from);

/* Bytes of memory that it takes. */
size_t arena_bytes(const struct arena *arena);

/* Discard all allocations but keep some memory for the next ones. */
void arena_clear(struct arena *arena);

/* Free all allocations. The arena can be used again. */
void arena_release(struct arena *arena);

#endif
