/*
 * mutate_any.c - for targets that run whole commands: what comes before the last two bytes, which choose the question and the
 * format, is changed by the mutator that knows its format.
 */
#include "tests/fuzz/mutate.h"

/* clang-format off */
#define MUTATORS(mutator) mutator(json) mutator(marshal) mutator(pickle) mutator(sqlite) mutator(tpa) mutator(wire)
/* clang-format on */

#define DECLARE(name) size_t mutate_##name(uint8_t *data, size_t size, size_t most, unsigned seed);
MUTATORS(DECLARE)
#undef DECLARE

enum { CHOICES = 2 };

static bool begins_with(const uint8_t *data, size_t size, const char *magic, size_t len)
{
    return size >= len && memcmp(data, magic, len) == 0;
}

static size_t mutate(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    if (begins_with(data, size, "SQLite format 3", 15))
        return mutate_sqlite(data, size, most, seed);
    if (begins_with(data, size, "\x89TPA", 4))
        return mutate_tpa(data, size, most, seed);
    if (begins_with(data, size, "\x80", 1))
        return mutate_pickle(data, size, most, seed);
    if (begins_with(data, size, "\xfb", 1) || begins_with(data, size, "{(", 2) ||
        begins_with(data, size, "{\xa9", 2))
        return mutate_marshal(data, size, most, seed);
    if (size > 0 && data[0] && strchr("{[ \n\r\t\"", data[0]))
        return mutate_json(data, size, most, seed);
    return mutate_wire(data, size, most, seed);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint8_t choices[CHOICES];
    if (size < CHOICES || most < size + CHOICES)
        return LLVMFuzzerMutate(data, size, most);
    uint64_t state = seed;
    memcpy(choices, data + size - CHOICES, CHOICES);
    if (mutate_random(&state, 3) == 0)
        choices[mutate_random(&state, CHOICES)] = (uint8_t)mutate_random(&state, 256);
    size = mutate(data, size - CHOICES, most - CHOICES, seed);
    memcpy(data + size, choices, CHOICES);
    return size + CHOICES;
}
