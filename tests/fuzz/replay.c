/*
 * replay.c - run a fuzz target without a fuzzer: over files and the files of directories.
 *
 *     fuzz_chrome samples tests/fuzz/corpus/chrome
 *
 * Each file is fed whole; a small one that is not packed also cut at some places and with some bytes
 * changed, and as the target's mutator changes it if there is one: always the same, so that a failure comes back. The
 * target itself says what is wrong by crashing, or a sanitizer does.
 */
#include "tests/fuzz/mutate.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not there where no mutator is linked. */
#pragma weak LLVMFuzzerCustomMutator

#ifndef VARIANTS
#define VARIANTS                                                                                             \
    16 /* cuts, and as many changes, of each small file; targets that run whole commands have fewer */
#endif

enum {
    MUTANTS = VARIANTS / 2,    /* of a small file, each of the one before */
    SMALL_FILE_BYTES = 8192,   /* above this, only the whole file is fed */
    LARGE_FILE_BYTES = 1 << 26 /* not fed at all */
};

/* Feed a copy of exactly SIZE bytes on the heap, so that ASan sees a read past its end. */
static void feed(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void feed_variants(uint8_t *data, size_t size)
{
    static const char telling[] = "{}[]\",:\\0-e \n\0\xff";
    uint32_t state = (uint32_t)size;
    for (int i = 0; i < VARIANTS; i++)
        feed(data, next_random(&state) % size);
    for (int i = 0; i < VARIANTS; i++) {
        size_t at = next_random(&state) % size;
        uint8_t kept = data[at];
        data[at] = (uint8_t)telling[next_random(&state) % (sizeof telling - 1)];
        feed(data, size);
        data[at] = kept;
    }
}

static void feed_mutants(const uint8_t *data, size_t size)
{
    size_t most = 2 * size + 64;
    uint8_t *copy = malloc(most);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    for (unsigned i = 0; i < MUTANTS; i++) {
        size = LLVMFuzzerCustomMutator(copy, size, most, i);
        feed(copy, size);
    }
    free(copy);
}

/* gzip or zstd? Small ones may hold much, and damage in them mostly ends at a checksum. */
static int is_packed(const uint8_t *data, size_t size)
{
    return size >= 4 && (memcmp(data, "\x1f\x8b", 2) == 0 || memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0);
}

static void replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size + 1);
    if (!file || !data) {
        perror(path);
        exit(2);
    }
    size = fread(data, 1, size, file);
    fclose(file);
    feed(data, size);
    if (size > 0 && size <= SMALL_FILE_BYTES && !is_packed(data, size)) {
        feed_variants(data, size);
        if (LLVMFuzzerCustomMutator)
            feed_mutants(data, size);
    }
    free(data);
}

int main(int argc, char **argv)
{
    int files = 0;
    (void)argc;
    FTS *tree = fts_open(argv + 1, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; tree && (entry = fts_read(tree)) != NULL;)
        if (entry->fts_info == FTS_F && entry->fts_statp->st_size <= LARGE_FILE_BYTES) {
            replay_file(entry->fts_path, (size_t)entry->fts_statp->st_size);
            files++;
        }
    if (tree)
        fts_close(tree);
    printf("%d files\n", files);
    return files ? 0 : 2;
}
