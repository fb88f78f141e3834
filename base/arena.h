/*
 * arena.h - many allocations with one lifetime and one free.
 *
 * For names, texts and metadata that live as long as a trace or a table:
 *
 *     struct arena arena = { 0 };
 *     char *copy = arena_strndup(&arena, s, len);
 *     arena_release(&arena);                     // copy is gone
 *
 * A result is an object with an arena of its own. Arrays that grow stay on the heap: the arena frees at its end what they
 * hold then. So a result needs no function that frees it:
 *
 *     struct longest *longest = arena_open(sizeof *longest);
 *     ARENA_OWNS(arena_of(longest), &longest->rows, &longest->shifts);
 *     longest->group = arena_hold(arena_of(longest), group_open(trace, by));
 *     ...
 *     arena_free(longest);
 */
#ifndef TPA_BASE_ARENA_H
#define TPA_BASE_ARENA_H

#include "base/error.h"
#include <stddef.h>
#include <string.h>

struct arena_block;
struct arena_owned;

struct arena {
    struct arena_block *blocks; /* newest first */
    size_t used, size;          /* of the newest block */
    struct arena_owned *owned;  /* newest first */
};

/* SIZE bytes, aligned for any type, not cleared; borrowed, lives as long as ARENA. Never NULL. */
void *arena_alloc(struct arena *arena, size_t size);

/* COUNT elements of SIZE bytes, zero. */
void *arena_zalloc(struct arena *arena, size_t count, size_t size);

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

/* ---- other memory, until the end of an arena ---- */

/* Call RELEASE(OF) when ARENA is released or cleared; what was added last comes first. */
void arena_defer(struct arena *arena, void (*release)(void *of), void *of);

/* Free at the end of ARENA what pointers and vectors hold then; the arguments are their addresses, which must last as long. */
#define ARENA_OWNS(arena, ...) arena_owns(arena, (void *[]){ __VA_ARGS__, NULL })
void arena_owns(struct arena *arena, void **holders);

/* The same for a member of each of COUNT structs AT. */
#define ARENA_OWNS_EACH(arena, at, count, member)                                                            \
    ((count) ? arena_owns_each(arena, &(at)->member, count, sizeof *(at)) : (void)0)
void arena_owns_each(struct arena *arena, void *holder, size_t count, size_t stride);

/* COUNT zeroed elements of SIZE bytes in ARENA, each a vector or a struct that begins with one, freed as by ARENA_OWNS. */
void *arena_vectors(struct arena *arena, size_t count, size_t size);

/* ---- objects with an arena of their own ---- */

/* New: SIZE bytes, zero, aligned for any type; free with arena_free. */
void *arena_open(size_t size);

/* The arena of OBJECT, which arena_open returned. */
struct arena *arena_of(const void *object);

/* Free OBJECT and everything in its arena; NULL is allowed. No effect while another keeps it (arena_keep). */
void arena_free(const void *object);

/* As SCOPED (base/memory.h), of a struct arena, and of a pointer to an object. Variables of a block end in the reverse order of their
 * declarations: what such an arena owns of them is declared before it. */
#define SCOPED_ARENA __attribute__((cleanup(arena_release)))
#define SCOPED_OBJECT __attribute__((cleanup(arena_free_at)))
static inline void arena_free_at(void *holder)
{
    const void *object;
    memcpy(&object, holder, sizeof object);
    arena_free(object);
}

/* Free OBJECT, which is returned, at the end of ARENA. */
void *arena_hold(struct arena *arena, const void *object);

/* Let arena_free have no effect on OBJECT while KEPT: it is shared, and its owner frees it. NULL is allowed. */
void arena_keep(const void *object, bool kept);

#endif
