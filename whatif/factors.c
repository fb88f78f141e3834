#include "whatif/replay.h"

void factors_init(struct factors *factors, struct arena *arena, size_t count)
{
    *factors = (struct factors){ .block_count = count / FACTORS_OF_BLOCK + 1 };
    factors->block = arena_zalloc(arena, factors->block_count, sizeof *factors->block);
    ARENA_OWNS(arena, &factors->places, &factors->values);
    factors_clear(factors);
}

void factors_clear(struct factors *factors)
{
    EACH(VEC_FREE, &factors->places, &factors->values);
    memset(factors->block, 0, factors->block_count * sizeof *factors->block);
    memset(factors->slots, 0, sizeof factors->slots);
    factors->table_count = 0;
}

/* The place of FACTOR in the table; FACTORS_OF_TABLE: it is not there, and the table is full. */
static unsigned factors_place_of(struct factors *factors, float factor)
{
    enum { SLOTS = sizeof factors->slots / sizeof *factors->slots };
    uint32_t bits, bits_there;
    memcpy(&bits, &factor, sizeof bits);
    size_t slot = bits * UINT32_C(0x9e3779b1) >> 23;
    for (; factors->slots[slot % SLOTS]; slot++) {
        unsigned place = factors->slots[slot % SLOTS] - 1u;
        memcpy(&bits_there, &factors->table[place], sizeof bits_there);
        if (bits_there == bits)
            return place;
    }
    if (factors->table_count == FACTORS_OF_TABLE)
        return FACTORS_OF_TABLE;
    factors->table[factors->table_count] = factor;
    factors->slots[slot % SLOTS] = (uint16_t)(factors->table_count + 1);
    return factors->table_count++;
}

/* The floats of BLOCK, which has none: from now on it is made of these. */
static struct factor_values *factors_widen(struct factors *factors, uint32_t *block)
{
    struct factor_values *values = VEC_PUSH(&factors->values);
    size_t first = (size_t)(block - factors->block) * FACTORS_OF_BLOCK;
    for (size_t k = 0; k < FACTORS_OF_BLOCK; k++)
        values->at[k] = factors_get(factors, first + k);
    *block = (uint32_t)factors->values.count | FACTORS_BIT; /* the places, few of which are given up, stay */
    return values;
}

/* Give BLOCK, whose factors are all the same, a place for each. */
static void spread(struct factors *factors, uint32_t *block)
{
    struct factor_places *places = VEC_PUSH(&factors->places);
    memset(places->at, *block & ONE_FACTOR_BIT ? (int)(*block ^ ONE_FACTOR_BIT) : 0, sizeof places->at);
    *block = (uint32_t)factors->places.count;
}

void factors_set(struct factors *factors, size_t i, float factor)
{
    uint32_t *block = &factors->block[i / FACTORS_OF_BLOCK];
    if (*block == 0 && factor == 1)
        return;
    if (*block & FACTORS_BIT) {
        factors->values.at[(*block ^ FACTORS_BIT) - 1].at[i % FACTORS_OF_BLOCK] = factor;
        return;
    }
    if (factors->table_count == 0)
        factors_place_of(factors, 1);
    unsigned place = factors_place_of(factors, factor);
    if (place == FACTORS_OF_TABLE) {
        factors_widen(factors, block)->at[i % FACTORS_OF_BLOCK] = factor;
        return;
    }
    if (*block == (ONE_FACTOR_BIT | place))
        return;
    if (*block == 0 || *block & ONE_FACTOR_BIT)
        spread(factors, block);
    uint8_t *places = factors->places.at[*block - 1].at;
    places[i % FACTORS_OF_BLOCK] = (uint8_t)place;
    if (i % FACTORS_OF_BLOCK == FACTORS_OF_BLOCK - 1 && *block == factors->places.count &&
        memcmp(places, places + 1, FACTORS_OF_BLOCK - 1) == 0) { /* all are this one */
        factors->places.count--;
        *block = ONE_FACTOR_BIT | place;
    }
}

bool factors_can_lay_over(const struct factors *to, const struct factors *more)
{
    for (size_t i = 0; i < more->block_count * FACTORS_OF_BLOCK; i++) {
        if (i % FACTORS_OF_BLOCK == 0 && factors_are_one(more, i)) {
            i += FACTORS_OF_BLOCK - 1;
            continue;
        }
        float own = factors_get(to, i), other = factors_get(more, i);
        if (own != 1 && other != 1 && (double)own * (double)other != 0)
            return false;
    }
    return true;
}

void factors_lay_over(struct factors *to, const struct factors *more)
{
    for (size_t i = 0; i < more->block_count * FACTORS_OF_BLOCK; i++) {
        if (i % FACTORS_OF_BLOCK == 0 && factors_are_one(more, i)) {
            i += FACTORS_OF_BLOCK - 1;
            continue;
        }
        float own = factors_get(to, i), other = factors_get(more, i);
        if (other != 1)
            factors_set(to, i, own == 1 ? other : 0);
    }
}
