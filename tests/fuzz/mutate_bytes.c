/* mutate_bytes.c - for programs without a fuzzer: what mutators fall back on. */
#include "tests/fuzz/mutate.h"

/* In place of libFuzzer's: one byte changed, put in or taken out. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    static uint64_t state = 1;
    size_t at = mutate_random(&state, size);
    struct mutated input = { data, size, most };
    uint8_t byte = (uint8_t)mutate_random(&state, 256);
    size_t end = at + (size > 0 && mutate_random(&state, 3) > 0);
    mutate_replace(&input, at, end, &byte, mutate_random(&state, 4) > 0);
    return input.size;
}
