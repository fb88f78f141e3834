/*
 * mutate.h - what the mutators share: random numbers, and bytes that grow and shrink within a given room.
 *
 * A mutator makes one input out of another so that the reader gets past its first checks. Each is a file mutate_X.c that
 * defines libFuzzer's hook; a target whose name is in the list of X in tests/CMakeLists.txt is linked with it. replay.c calls
 * the hook too, always with the same seeds.
 */
#ifndef TPA_TESTS_FUZZ_MUTATE_H
#define TPA_TESTS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Given by libFuzzer, and by replay.c: change SIZE bytes at DATA in some simple way; the new size, at most MOST. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* The hooks. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                                 uint8_t *out, size_t most, unsigned seed);

/* A number below BELOW; 0 when that is 0. */
static inline size_t mutate_random(uint64_t *state, size_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below ? (size_t)(*state >> 33) % below : 0;
}

/* The input that is being changed. */
struct mutated {
    uint8_t *at;
    size_t size, most;
};

/* Put LEN bytes of TEXT (which may lie in no part of INPUT) in place of those from BEGIN to END. False: no room. */
static inline bool mutate_replace(struct mutated *input, size_t begin, size_t end, const void *text,
                                  size_t len)
{
    size_t rest = input->size - end;
    if (begin + len + rest > input->most)
        return false;
    memmove(input->at + begin + len, input->at + end, rest);
    if (len)
        memcpy(input->at + begin, text, len);
    input->size = begin + len + rest;
    return true;
}

#endif
