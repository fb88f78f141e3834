/* factors.c - see factors.h. */
#include "replay/factors.h"

#include "base/memory.h"
#include <stdlib.h>

void factors_init(struct factors *factors, size_t count)
{
    factors->block_count = count / FACTORS_OF_BLOCK + 1;
    factors->blocks = mem_zalloc(factors->block_count, sizeof *factors->blocks);
}

void factors_clear(struct factors *factors)
{
    for (size_t b = 0; b < factors->block_count; b++) {
        free(factors->blocks[b]);
        factors->blocks[b] = NULL;
    }
}

void factors_release(struct factors *factors)
{
    factors_clear(factors);
    free(factors->blocks);
    *factors = (struct factors){ 0 };
}

void factors_set(struct factors *factors, size_t i, float factor)
{
    float **block = &factors->blocks[i / FACTORS_OF_BLOCK];
    if (!*block && factor == 1)
        return;
    if (!*block) {
        *block = mem_alloc(FACTORS_OF_BLOCK * sizeof **block);
        for (size_t k = 0; k < FACTORS_OF_BLOCK; k++)
            (*block)[k] = 1;
    }
    (*block)[i % FACTORS_OF_BLOCK] = factor;
}
