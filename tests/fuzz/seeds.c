/*
 * seeds.c - run a fuzz target that ends in two bytes, the format and the question, without a fuzzer: every question of a
 * number of seeds.
 *
 *     fields_seeds 0 24        # seeds 0 to 23, each through every question, always the same
 *     fields_seeds 0 24 4      # each through every fourth, another one with each seed
 *
 * What fails says so by crashing, or a sanitizer does; the seed and the question are told before.
 */
#include "tests/fuzz/questions.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef QUESTIONS
#define QUESTIONS (QUESTION_COUNT + 1) /* the last: what a store is asked */
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

int main(int argc, char **argv)
{
    unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    unsigned long every = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
    every = every ? every : 1;
    signal(SIGABRT, on_abort);
    enum { SEED_BYTES = 12 };
    for (unsigned long seed = first; seed < first + count; seed++)
        for (unsigned question = 0; question < QUESTIONS; question++) {
            if ((seed + question) % every != 0)
                continue;
            uint8_t data[SEED_BYTES + 2];
            uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
            for (int i = 0; i < SEED_BYTES; i++) {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                data[i] = (uint8_t)(state >> 56);
            }
            data[SEED_BYTES] = (uint8_t)(seed * 37 + question * 101); /* every format now and then */
            data[SEED_BYTES + 1] = (uint8_t)question;
            now_len = snprintf(now, sizeof now, "seed %lu, question %u\n", seed, question);
            LLVMFuzzerTestOneInput(data, sizeof data);
        }
    printf("%lu seeds\n", count);
    return 0;
}
