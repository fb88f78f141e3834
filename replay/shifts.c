/* shifts.c - see shifts.h. */
#include "replay/shifts.h"

#include "base/memory.h"
#include <stdlib.h>

void shifts_init(struct shifts *shifts, size_t count)
{
    shifts->block_count = count / SHIFTS_OF_BLOCK + 1;
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

/* All of BLOCK as whole shifts. */
static int64_t *widen(struct shifts_block *block)
{
    int64_t *wide = mem_zalloc(SHIFTS_OF_BLOCK, sizeof *wide);
    for (size_t i = 0; i < SHIFTS_OF_BLOCK && block->base_ns != SHIFTS_UNSET; i++)
        wide[i] = block->base_ns + (block->apart ? ((const int32_t *)block->apart)[i] : 0);
    free(block->apart);
    *block = (struct shifts_block){ SHIFTS_ARE_WIDE, wide };
    return wide;
}

void shifts_set_apart(struct shifts_block *block, size_t i, int64_t ns)
{
    int64_t apart_ns;
    if (block->base_ns == SHIFTS_UNSET && ns != SHIFTS_UNSET && ns != SHIFTS_ARE_WIDE) {
        block->base_ns = ns;
    } else if (block->base_ns == SHIFTS_ARE_WIDE) {
        ((int64_t *)block->apart)[i] = ns;
    } else if (block->base_ns == SHIFTS_UNSET || __builtin_sub_overflow(ns, block->base_ns, &apart_ns) ||
               apart_ns < INT32_MIN || apart_ns > INT32_MAX) {
        widen(block)[i] = ns;
    } else {
        if (!block->apart)
            block->apart = mem_zalloc(SHIFTS_OF_BLOCK, sizeof(int32_t));
        ((int32_t *)block->apart)[i] = (int32_t)apart_ns;
    }
}
