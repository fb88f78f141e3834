/* arena.c - blocks are chained newest first; each new block is twice the size of the last, up to
 * 4 MiB. Under AddressSanitizer every allocation is followed by poisoned bytes, so that an overrun of one allocation is
 * detected although malloc sees only the block. */
#include "base/arena.h"

#include "base/memory.h"
#include <stdalign.h>
#include <stdarg.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif
#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
#define RED_ZONE 16
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define RED_ZONE 0
#endif

enum {
    FIRST_BLOCK = 4096,
    OBJECT_BLOCK = 512,
    LARGEST_BLOCK = 4 << 20,
    ALONE = 1 << 20,
    ALIGN = alignof(max_align_t)
};

struct arena_block {
    struct arena_block *next;
    size_t size; /* of the bytes */
    alignas(ALIGN) char bytes[];
};

struct arena_owned {
    struct arena_owned *next;
    void (*release)(void *of);
    void *of;
    size_t count, stride; /* RELEASE is called for each of COUNT */
};

struct arena_object {
    struct arena arena;
    struct arena_object *self; /* for what is freed by a pointer to const */
    bool kept;
    alignas(ALIGN) char of[];
};

static struct arena_block *new_block(size_t size, bool zero)
{
    struct arena_block *block = zero ? mem_zalloc(1, sizeof *block + size) : mem_alloc(sizeof *block + size);
    block->size = size;
    return block;
}

static void add_block(struct arena *arena, size_t at_least)
{
    size_t size = arena->size ? arena->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < at_least)
        size = at_least;
    struct arena_block *block = new_block(size, false);
    block->next = arena->blocks;
    ASAN_POISON_MEMORY_REGION(block->bytes, size);
    arena->blocks = block;
    arena->size = size;
    arena->used = 0;
}

/* A large allocation has a block of its own behind the newest, which continues to be filled. */
static void *alloc_alone(struct arena *arena, size_t size, bool zero)
{
    if (!arena->blocks)
        add_block(arena, 0);
    struct arena_block *block = new_block(size, zero);
    block->next = arena->blocks->next;
    arena->blocks->next = block;
    return block->bytes;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size >= ALONE)
        return alloc_alone(arena, size, false);
    size_t taken = (size + RED_ZONE + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!arena->blocks || arena->size - arena->used < taken)
        add_block(arena, taken);
    char *at = arena->blocks->bytes + arena->used;
    arena->used += taken;
    ASAN_UNPOISON_MEMORY_REGION(at, size);
    return at;
}

void *arena_zalloc(struct arena *arena, size_t count, size_t size)
{
    size_t all = mem_times(count, size);
    return all >= ALONE ? alloc_alone(arena, all, true) : memset(arena_alloc(arena, all), 0, all);
}

char *arena_strndup(struct arena *arena, const char *s, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);
    if (len)
        memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    size_t size = len < 0 ? 1 : (size_t)len + 1;
    char *text = arena_alloc(arena, size);
    text[0] = '\0';
    va_start(args, fmt);
    vsnprintf(text, size, fmt, args);
    va_end(args);
    return text;
}

void arena_adopt(struct arena *arena, struct arena *from)
{
    if (!arena->blocks) {
        *arena = *from;
    } else if (from->blocks) {
        /* Insert behind the newest block, which continues to be filled. */
        struct arena_block *last = from->blocks;
        while (last->next)
            last = last->next;
        last->next = arena->blocks->next;
        arena->blocks->next = from->blocks;
        struct arena_owned **end = &from->owned;
        while (*end)
            end = &(*end)->next;
        *end = arena->owned;
        arena->owned = from->owned;
    }
    *from = (struct arena){ 0 };
}

size_t arena_bytes(const struct arena *arena)
{
    size_t bytes = 0;
    for (const struct arena_block *block = arena->blocks; block; block = block->next)
        bytes += sizeof *block + block->size;
    return bytes;
}

static void free_blocks(struct arena_block *block)
{
    for (struct arena_block *next; block; block = next) {
        next = block->next;
        ASAN_UNPOISON_MEMORY_REGION(block->bytes, block->size);
        free(block);
    }
}

static void release_owned(struct arena *arena)
{
    for (struct arena_owned *owned; (owned = arena->owned);) {
        arena->owned = owned->next;
        for (size_t i = 0; i < owned->count; i++)
            owned->release(i ? (char *)owned->of + i * owned->stride
                             : owned->of); /* NULL may have no offset */
    }
}

void arena_clear(struct arena *arena)
{
    release_owned(arena);
    struct arena_block *newest = arena->blocks;
    if (!newest)
        return;
    free_blocks(newest->next);
    newest->next = NULL;
    ASAN_POISON_MEMORY_REGION(newest->bytes, newest->size);
    arena->used = 0;
}

void arena_release(struct arena *arena)
{
    release_owned(arena);
    free_blocks(arena->blocks);
    *arena = (struct arena){ 0 };
}

static void add_owned(struct arena *arena, void (*release)(void *of), void *of, size_t count, size_t stride)
{
    struct arena_owned *owned = arena_alloc(arena, sizeof *owned);
    *owned = (struct arena_owned){ arena->owned, release, of, count, stride };
    arena->owned = owned;
}

void arena_defer(struct arena *arena, void (*release)(void *of), void *of)
{
    add_owned(arena, release, of, 1, 0);
}

/* HOLDER is the address of a pointer to any type. */
static void free_held(void *holder)
{
    void *held;
    memcpy(&held, holder, sizeof held);
    free(held);
}

void arena_owns(struct arena *arena, void **holders)
{
    for (; *holders; holders++)
        add_owned(arena, free_held, *holders, 1, 0);
}

void arena_owns_each(struct arena *arena, void *holder, size_t count, size_t stride)
{
    add_owned(arena, free_held, holder, count, stride);
}

void *arena_vectors(struct arena *arena, size_t count, size_t size)
{
    void *vectors = arena_zalloc(arena, count, size);
    add_owned(arena, free_held, vectors, count, size);
    return vectors;
}

void *arena_open(size_t size)
{
    struct arena_object *object = mem_zalloc(1, sizeof *object + size);
    object->self = object;
    object->arena.size = OBJECT_BLOCK / 2;
    return object->of;
}

static struct arena_object *object_at(const void *of)
{
    const char *at = of;
    return ((const struct arena_object *)(const void *)(at - offsetof(struct arena_object, of)))->self;
}

struct arena *arena_of(const void *object)
{
    return &object_at(object)->arena;
}

void arena_free(const void *object)
{
    if (!object || object_at(object)->kept)
        return;
    arena_release(arena_of(object));
    free(object_at(object));
}

static void free_object(void *object)
{
    arena_free(object);
}

void *arena_hold(struct arena *arena, const void *object)
{
    if (!object)
        return NULL;
    arena_defer(arena, free_object, object_at(object)->of);
    return object_at(object)->of;
}

void arena_keep(const void *object, bool kept)
{
    if (object)
        object_at(object)->kept = kept;
}
