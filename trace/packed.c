#include "trace/packed.h"

#include <string.h>

void packed_read_block(const struct packed *packed, size_t block, size_t count, int64_t *values)
{
    const struct packed_block *of = &packed->blocks[block];
    const uint64_t *at = (const uint64_t *)packed->values + of->at;
    uint64_t base = (uint64_t)of->base;
#define READ(more)                                                                                           \
    for (size_t i = 0; i < count; i++)                                                                       \
    values[i] = (int64_t)(base + (more))
    switch (of->width) {
    case 1: READ(((const uint8_t *)at)[i]); break;
    case 2: READ(((const uint16_t *)at)[i]); break;
    case PACKED_CHOSEN: READ(at[PACKED_CHOICE_WORDS + ((const uint8_t *)at)[i]]); break;
    case 4: READ(((const uint32_t *)at)[i]); break;
    case 8: READ(at[i]); break;
    default: READ(0); break;
    }
#undef READ
}

void packed_read_values(const struct packed *packed, size_t first, size_t count, int64_t *values)
{
    size_t end = first + count;
    for (; first < end && first % PACKED_VALUES; first++)
        *values++ = packed_value(packed, first);
    for (size_t some; first < end; first += some, values += some) {
        some = end - first < PACKED_VALUES ? end - first : PACKED_VALUES;
        packed_read_block(packed, first / PACKED_VALUES, some, values);
    }
}

/* Write how much more than BASE each of the COUNT values is. */
static void write_values(void *at, unsigned width, const int64_t *values, size_t count, int64_t base)
{
#define WRITE(type)                                                                                          \
    for (size_t i = 0; i < count; i++)                                                                       \
    ((type *)at)[i] = (type)((uint64_t)values[i] - (uint64_t)base)
    switch (width) {
    case 1: WRITE(uint8_t); break;
    case 2: WRITE(uint16_t); break;
    case 4: WRITE(uint32_t); break;
    case 8: WRITE(uint64_t); break;
    default: break; /* all are the same */
    }
#undef WRITE
}

/* Write which of the words behind them the COUNT values are, and these words. How many words that takes; 0, and nothing is
 * written, where it saves less than half. The three doubles that a kernel has are 1.5 bytes each for it. */
static size_t write_chosen(uint64_t *to, const int64_t *values, size_t count)
{
    enum { MOST = PACKED_VALUES / 2 - PACKED_CHOICE_WORDS, SLOTS = PACKED_VALUES };
    uint64_t words[MOST];
    uint8_t choice[PACKED_VALUES] = { 0 }, slots[SLOTS] = { 0 }; /* of a word: its place and 1; 0: free */
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = (uint64_t)values[i];
        size_t slot = value * UINT64_C(0x9e3779b97f4a7c15) >> 55;
        while (slots[slot] && words[slots[slot] - 1] != value)
            slot = (slot + 1) % SLOTS;
        if (!slots[slot]) {
            if (PACKED_CHOICE_WORDS + found >= count / 2)
                return 0;
            words[found++] = value;
            slots[slot] = (uint8_t)found;
        }
        choice[i] = (uint8_t)(slots[slot] - 1);
    }
    memcpy(to, choice, sizeof choice);
    memcpy(to + PACKED_CHOICE_WORDS, words, found * sizeof *words);
    return PACKED_CHOICE_WORDS + found;
}

static unsigned width_of(uint64_t most)
{
    return most == 0 ? 0 : most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
}

static uint8_t bits_needed(uint64_t most)
{
    return most ? (uint8_t)(64 - __builtin_clzll(most)) : 0;
}

struct packed_block packed_write(uint64_t *to, size_t *words, const int64_t *values, size_t count)
{
    int64_t least = count ? values[0] : 0, most = least;
    for (size_t i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    uint64_t range = (uint64_t)most - (uint64_t)least;
    unsigned width = width_of(range);
    struct packed_block block = { least, (uint32_t)*words, (uint8_t)width, bits_needed(range) };
    size_t chosen = width == sizeof *to ? write_chosen(to + *words, values, count) : 0;
    if (chosen) {
        block.base = 0;
        block.width = PACKED_CHOSEN;
        block.bits = PACKED_UNBOUNDED;
        *words += chosen;
        return block;
    }
    write_values(to + *words, width, values, count, least);
    *words += (count * width + sizeof *to - 1) / sizeof *to;
    return block;
}
