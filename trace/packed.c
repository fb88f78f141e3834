/* packed.c - see packed.h. */
#include "trace/packed.h"

#include "base/memory.h"

struct packed_block *packed_plain(size_t count)
{
    struct packed_block *blocks = mem_alloc(mem_times(packed_blocks(count), sizeof *blocks));
    for (size_t block = 0; block < packed_blocks(count); block++)
        blocks[block] = (struct packed_block){ 0, (uint32_t)(block * PACKED_VALUES), sizeof(int64_t) };
    return blocks;
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

static unsigned width_of(uint64_t most)
{
    return most == 0 ? 0 : most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
}

struct packed_block packed_write(uint64_t *to, size_t *words, const int64_t *values, size_t count)
{
    int64_t least = count ? values[0] : 0, most = least;
    for (size_t i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    unsigned width = width_of((uint64_t)most - (uint64_t)least);
    struct packed_block block = { least, (uint32_t)*words, (uint8_t)width };
    write_values(to + *words, width, values, count, least);
    *words += (count * width + sizeof *to - 1) / sizeof *to;
    return block;
}
