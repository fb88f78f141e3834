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

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 4 << 20, ALIGN = alignof(max_align_t) };

struct arena_block {
    struct arena_block *next;
    size_t size; /* of the bytes */
    alignas(ALIGN) char bytes[];
};

static void add_block(struct arena *arena, size_t at_least)
{
    size_t size = arena->size ? arena->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < at_least)
        size = at_least;
    struct arena_block *block = mem_alloc(sizeof *block + size);
    block->next = arena->blocks;
    block->size = size;
    ASAN_POISON_MEMORY_REGION(block->bytes, size);
    arena->blocks = block;
    arena->size = size;
    arena->used = 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t taken = (size + RED_ZONE + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!arena->blocks || arena->size - arena->used < taken)
        add_block(arena, taken);
    char *at = arena->blocks->bytes + arena->used;
    arena->used += taken;
    ASAN_UNPOISON_MEMORY_REGION(at, size);
    return at;
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

void arena_clear(struct arena *arena)
{
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
    free_blocks(arena->blocks);
    *arena = (struct arena){ 0 };
}
