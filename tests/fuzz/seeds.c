/*
 * seeds.c - run a fuzz target that ends in two bytes, the format and the question, without a fuzzer: every question of a
 * number of seeds.
 *
 *     fields_seeds 0 24             # seeds 0 to 23, each through every question, always the same
 *     fields_seeds 0 24 4           # each through every fourth, another one with each seed
 *     commands_seeds 0 24 4 FILE... # each is one of the files in turn, changed by the target's mutator
 *     fields_seeds -o DIR 0 24      # write what each seed makes to DIR/SEED, and ask nothing
 *
 * What fails says so by crashing, or a sanitizer does; the seed and the question are told before.
 */
#include "tests/fuzz/make_tpa.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/command_lines.h"

#include <signal.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not there where they are not linked. */
#pragma weak LLVMFuzzerCustomMutator
#pragma weak make_tpa

#ifndef COMMAND_LINES
#define COMMAND_LINES (COMMAND_LINE_COUNT + 1) /* the last: what a store is asked */
#endif

static char now[64];
static int now_len;

/* Called where the program is about to end, for which only write() is good. */
void __asan_on_error(void);
void __asan_on_error(void)
{
    (void)!write(STDERR_FILENO, now, (size_t)now_len);
}

static void on_abort(int signal_number)
{
    (void)signal_number;
    (void)!write(STDERR_FILENO, now, (size_t)now_len);
}

enum { SEED_BYTES = 12, CHOICES = 2, LARGEST_FILE = 1 << 20, MOST_CHANGES = 4 };

/* Random bytes, with room for the choices. New. */
static uint8_t *make_seed(unsigned long seed, size_t *size)
{
    uint8_t *data = malloc((size_t)SEED_BYTES + CHOICES);
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (int i = 0; data && i < SEED_BYTES; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        data[i] = (uint8_t)(state >> 56);
    }
    *size = SEED_BYTES;
    return data;
}

/* The same of the file at PATH, changed some times. */
static uint8_t *make_mutant(const char *path, unsigned long seed, size_t *size)
{
    const size_t most = LARGEST_FILE + LARGEST_FILE / 2;
    uint8_t *data = malloc(most);
    FILE *file = fopen(path, "rb");
    if (!data || !file) {
        perror(path);
        exit(2);
    }
    *size = fread(data, 1, LARGEST_FILE, file);
    fclose(file);
    memset(data + *size, 0, CHOICES);
    *size += CHOICES;
    for (unsigned long i = 0; i < 1 + seed % MOST_CHANGES; i++)
        *size = LLVMFuzzerCustomMutator(data, *size, most, (unsigned)(seed * MOST_CHANGES + i));
    *size -= CHOICES;
    return data;
}

/* What the target would make of DATA, as a file. */
static void write_input(const char *folder, unsigned long seed, const uint8_t *data, size_t size)
{
    char path[4096];
    SCOPED struct buffer made = { 0 };
    if (make_tpa)
        make_tpa(data, size, &made);
    else
        buffer_add(&made, (const char *)data, size);
    snprintf(path, sizeof path, "%s/%lu", folder, seed);
    FILE *file = fopen(path, "wb");
    if (!file || (made.at && fwrite(made.at, 1, made.count, file) != made.count) || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

static void ask_all(unsigned long seed, unsigned long every, uint8_t *data, size_t size)
{
    for (unsigned long command = 0; command < COMMAND_LINES; command++) {
        if ((seed + command) % every != 0)
            continue;
        data[size] = (uint8_t)(seed * 37 + command * 101); /* every format now and then */
        data[size + 1] = (uint8_t)command;
        now_len = snprintf(now, sizeof now, "seed %lu, question %lu\n", seed, command);
        LLVMFuzzerTestOneInput(data, size + CHOICES);
    }
}

int main(int argc, char **argv)
{
    const char *folder = argc > 2 && strcmp(argv[1], "-o") == 0 ? argv[2] : NULL;
    unsigned long numbers[] = { 0, 1, 1 };
    argc -= folder ? 2 : 0;
    argv += folder ? 2 : 0;
    for (int i = 0; i < 3 && i + 1 < argc && argv[i + 1]; i++)
        numbers[i] = strtoul(argv[i + 1], NULL, 10);
    unsigned long first = numbers[0], count = numbers[1], every = numbers[2];
    unsigned long files = argc > 4 ? (unsigned long)argc - 4 : 0;
    every = every ? every : 1;
    signal(SIGABRT, on_abort);
    for (unsigned long seed = first; seed < first + count; seed++) {
        size_t size;
        SCOPED uint8_t *data =
            files ? make_mutant(argv[4 + seed % files], seed, &size) : make_seed(seed, &size);
        if (data && folder)
            write_input(folder, seed, data, size);
        else if (data)
            ask_all(seed, every, data, size);
    }
    printf("%lu seeds\n", count);
    return 0;
}
