/* Large column memory comes straight from the kernel: mremap grows it without copying. Huge
 * pages were tried, and are not requested: they save most page faults, but a machine that has to find and clear 2 MiB
 * at a time, as virtual machines must, spends more time on that than they save (twice the system time on a trace of 2
 * GB). Under AddressSanitizer all column memory is plain heap, so that overruns are detected. */
#define _GNU_SOURCE
#include "base/memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define COLUMNS_ON_HEAP 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define COLUMNS_ON_HEAP 1
#endif
#endif
#if !defined(COLUMNS_ON_HEAP) && !defined(MREMAP_MAYMOVE)
#define COLUMNS_ON_HEAP 1
#endif

static void out_of_memory(size_t size)
{
    fprintf(stderr, "tpa: out of memory: %zu more bytes were needed\n", size);
    exit(2);
}

void (*mem_out_of_memory)(size_t size) = out_of_memory;

static void *checked(void *block, size_t size)
{
    if (!block) {
        mem_out_of_memory(size);
        abort(); /* a handler must not return */
    }
    return block;
}

size_t mem_times(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        checked(NULL, SIZE_MAX);
    return count * size;
}

void mem_return_large_blocks(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

static bool keeps_blocks;

void mem_return_free_memory(void)
{
#ifdef __GLIBC__
    if (!keeps_blocks)
        malloc_trim(0);
#endif
}

void mem_keep_small_blocks(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

void mem_keep_blocks(void)
{
    keeps_blocks = true;
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the maximum that mallopt accepts */
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

void *mem_alloc(size_t size)
{
    return checked(malloc(size ? size : 1), size);
}

void *mem_zalloc(size_t count, size_t size)
{
    size_t all = size && count > SIZE_MAX / size ? SIZE_MAX : count * size;
    return checked(calloc(count ? count : 1, size ? size : 1), all);
}

void *mem_realloc(void *block, size_t size)
{
    return checked(realloc(block, size ? size : 1), size);
}

char *mem_strndup(const char *text, size_t len)
{
    char *copy = mem_alloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *mem_strdup(const char *text)
{
    return mem_strndup(text, strlen(text));
}

void *vec_grow(void *at, size_t *capacity, size_t wanted, size_t size)
{
    size_t next = *capacity ? *capacity : 8;
    while (next < wanted)
        next = next > SIZE_MAX / 2 ? SIZE_MAX : next * 2;
    *capacity = next;
    return mem_realloc(at, mem_times(next, size));
}

#ifdef COLUMNS_ON_HEAP

void *column_resize(void *block, size_t old_size, size_t new_size)
{
    char *moved = mem_realloc(block, new_size);
    if (new_size > old_size)
        memset(moved + old_size, 0, new_size - old_size);
    return moved;
}

void column_free(void *block, size_t size)
{
    (void)size;
    free(block);
}

#else

/* From this size on a column is a mapping of its own. */
#define MAPPED_FROM ((size_t)128 << 10)

static size_t mapped_size(size_t size)
{
    return (size + 4095) & ~(size_t)4095;
}

static void *map_new(size_t size)
{
    void *block = mmap(NULL, mapped_size(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        checked(NULL, size);
    return block;
}

void *column_resize(void *block, size_t old_size, size_t new_size)
{
    if (new_size < MAPPED_FROM && old_size < MAPPED_FROM) {
        char *moved = mem_realloc(block, new_size);
        if (new_size > old_size)
            memset(moved + old_size, 0, new_size - old_size);
        return moved;
    }
    if (old_size < MAPPED_FROM) { /* heap -> mapping */
        void *moved = map_new(new_size);
        if (old_size)
            memcpy(moved, block, old_size);
        free(block);
        return moved;
    }
    if (new_size < MAPPED_FROM) { /* mapping -> heap */
        void *moved = mem_alloc(new_size);
        memcpy(moved, block, new_size);
        munmap(block, mapped_size(old_size));
        return moved;
    }
    void *moved = block;
    if (mapped_size(old_size) != mapped_size(new_size)) {
        moved = mremap(block, mapped_size(old_size), mapped_size(new_size), MREMAP_MAYMOVE);
        if (moved == MAP_FAILED)
            checked(NULL, new_size);
    }
    /* The last page may hold bytes of a former, larger use. */
    if (new_size < old_size)
        memset((char *)moved + new_size, 0,
               (mapped_size(new_size) < old_size ? mapped_size(new_size) : old_size) - new_size);
    return moved;
}

void column_free(void *block, size_t size)
{
    if (!block)
        return;
    if (size < MAPPED_FROM)
        free(block);
    else
        munmap(block, mapped_size(size));
}

#endif
