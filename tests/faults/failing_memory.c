/*
 * failing_memory.c - a library to preload: the n-th request for memory fails.
 *
 *     FAULT_AT=17 LD_PRELOAD=libfailing_memory.so tpa top x.json     malloc, calloc or realloc number 17 gives NULL
 *     FAULT_AT=17+ ...                                               and so do all after it
 *     FAULT_COUNT=FILE ...                                           how many there were, and how many blocks were
 *                                                                    not given back at the end, goes to FILE
 *
 * Requests of the C library itself, as in fopen(), count too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The library's reason to be: the project hides what is not said to be seen. */
#pragma GCC visibility push(default)
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void free(void *block);
int posix_memalign(void **block, size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
#pragma GCC visibility pop

static atomic_long requests, held;
static long fail_at;
static bool fail_on;
static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);

/* dlsym() itself requests memory before we know whom to ask: from here, never given back. */
static _Alignas(max_align_t) char early[16384];
static size_t early_used;

static void *take_early(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof early - early_used)
        abort();
    early_used += size;
    return early + early_used - size;
}

static void set_up(void)
{
    static bool begun;
    if (begun)
        return;
    begun = true;
    const char *at = getenv("FAULT_AT");
    fail_at = at ? strtol(at, NULL, 10) : 0;
    fail_on = at && strchr(at, '+');
    *(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
}

static bool fails(void)
{
    long number = atomic_fetch_add(&requests, 1) + 1;
    if (fail_at == 0 || number < fail_at || (number > fail_at && !fail_on))
        return false;
    errno = ENOMEM;
    return true;
}

/* BLOCK, one more that must be given back; NULL is none. */
static void *counted(void *block)
{
    if (block)
        atomic_fetch_add(&held, 1);
    return block;
}

void *malloc(size_t size)
{
    set_up();
    if (!real_malloc)
        return take_early(size);
    return fails() ? NULL : counted(real_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    set_up();
    if (!real_calloc)
        return take_early(count * size); /* is still zero */
    return fails() ? NULL : counted(real_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    set_up();
    if ((char *)block >= early && (char *)block < early + sizeof early) {
        void *moved = malloc(size);
        size_t left = (size_t)(early + sizeof early - (char *)block);
        return moved ? memcpy(moved, block, size < left ? size : left) : NULL;
    }
    if (fails())
        return NULL;
    return block ? real_realloc(block, size) : counted(real_realloc(NULL, size));
}

void free(void *block)
{
    static void (*real_free)(void *);
    if (!block || ((char *)block >= early && (char *)block < early + sizeof early))
        return;
    if (!real_free)
        *(void **)&real_free = dlsym(RTLD_NEXT, "free");
    atomic_fetch_sub(&held, 1);
    real_free(block);
}

/* Aligned blocks do not fail here, but are given back as others are. */
int posix_memalign(void **block, size_t alignment, size_t size)
{
    static int (*real)(void **, size_t, size_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "posix_memalign");
    int error = real(block, alignment, size);
    if (error == 0)
        counted(*block);
    return error;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    static void *(*real)(size_t, size_t);
    set_up();
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "aligned_alloc");
    return fails() ? NULL : counted(real(alignment, size));
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FAULT_COUNT");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd == -1)
        return;
    dprintf(fd, "%ld %ld\n", atomic_load(&requests), atomic_load(&held));
    close(fd);
}
