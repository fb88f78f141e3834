#include "whatif/replay.h"

void shifts_init(struct shifts *shifts, size_t count)
{
    shifts_init_few(shifts, NULL, count / SHIFTS_OF_BLOCK);
}

void shifts_init_few(struct shifts *shifts, const uint32_t *place, size_t count)
{
    shifts->block_count = count + 1;
    shifts->place = place;
    shifts->blocks = mem_alloc(mem_times(shifts->block_count, sizeof *shifts->blocks));
    for (size_t b = 0; b < shifts->block_count; b++)
        shifts->blocks[b] = (struct shifts_block){ SHIFTS_UNSET, NULL };
}

void shifts_release(struct shifts *shifts)
{
    for (size_t b = 0; b < shifts->block_count; b++)
        free(shifts->blocks[b].apart);
    free(shifts->blocks);
    *shifts = (struct shifts){ 0 };
}

void shifts_forget(struct shifts *shifts, size_t block)
{
    free(shifts->blocks[block].apart);
    shifts->blocks[block] = (struct shifts_block){ SHIFTS_UNSET, NULL };
}

/* How many bytes a number takes that is APART_NS from the base: 2, 3 or 4; 8: more than these hold. */
static unsigned bytes_of(int64_t apart_ns)
{
    enum { MOST_OF_2 = INT16_MAX, MOST_OF_3 = 0x7fffff };
    uint64_t size = apart_ns < 0 ? (uint64_t) - (apart_ns + 1) : (uint64_t)apart_ns;
    return size <= MOST_OF_2 ? 2 : size <= MOST_OF_3 ? 3 : size <= INT32_MAX ? 4 : 8;
}

static void shifts_add(struct shifts_apart *apart, size_t i, int64_t ns)
{
    if (apart->bytes == 8) {
        apart->whole[i] = ns;
    } else if (apart->bytes == 4) {
        apart->four[i] = (int32_t)ns;
    } else {
        apart->low[i] = (uint16_t)ns;
        if (apart->bytes == 3)
            apart->high[i] = (int8_t)((ns - (uint16_t)ns) / 65536);
    }
}

/* Let the numbers of BLOCK have BYTES. */
static void shifts_widen(struct shifts_block *block, unsigned bytes)
{
    static const size_t ends[] = { [2] = offsetof(struct shifts_apart, high),
                                   [3] = offsetof(struct shifts_apart, high) + SHIFTS_OF_BLOCK,
                                   [4] = offsetof(struct shifts_apart, four) +
                                         sizeof(int32_t) * SHIFTS_OF_BLOCK,
                                   [8] = sizeof(struct shifts_apart) };
    struct shifts_apart *wider = mem_zalloc(1, ends[bytes]);
    wider->bytes = (uint16_t)bytes;
    int64_t from_ns = bytes == 8 ? 0 : block->base_ns;
    for (size_t i = 0; i < SHIFTS_OF_BLOCK && block->base_ns != SHIFTS_UNSET; i++)
        shifts_add(wider, i, (block->apart ? shifts_apart_get(block, i) : block->base_ns) - from_ns);
    free(block->apart);
    block->apart = wider;
    if (bytes == 8)
        block->base_ns = SHIFTS_ARE_WIDE;
}

void shifts_set_apart(struct shifts_block *block, size_t i, int64_t ns)
{
    if (block->base_ns == SHIFTS_UNSET && ns != SHIFTS_UNSET && ns != SHIFTS_ARE_WIDE) {
        block->base_ns = ns;
        return;
    }
    int64_t apart_ns = ns;
    unsigned bytes = 8;
    if (block->base_ns != SHIFTS_ARE_WIDE && block->base_ns != SHIFTS_UNSET &&
        !__builtin_sub_overflow(ns, block->base_ns, &apart_ns))
        bytes = bytes_of(apart_ns);
    if (!block->apart || block->apart->bytes < bytes)
        shifts_widen(block, bytes);
    shifts_add(block->apart, i, block->apart->bytes == 8 ? ns : apart_ns);
}
