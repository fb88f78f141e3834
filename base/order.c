#include "base/order.h"

#include "base/memory.h"
#include "base/runs.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

uint32_t *order_open(size_t count)
{
    uint32_t *order = mem_alloc(mem_times(count + 1, sizeof *order));
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    return order;
}

/* PLACE, how many items there are of each digit, becomes where the first of them goes. */
static void places_of(size_t place[DIGITS])
{
    for (size_t digit = 0, before = 0; digit < DIGITS; digit++) {
        size_t items = place[digit];
        place[digit] = before;
        before += items;
    }
}

/* Sort FROM into TO by the digit at SHIFT. */
static void sort_by_digit(const uint32_t *from, uint32_t *to, size_t count, const uint64_t *keys, int shift)
{
    size_t place[DIGITS] = { 0 };
    for (size_t i = 0; i < count; i++)
        place[keys[i] >> shift & (DIGITS - 1)]++;
    places_of(place);
    for (size_t i = 0; i < count; i++)
        to[place[keys[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
}

/* Fewer items, and more where one of so many is less than the one before, are faster to merge than to sort by digits. */
enum { FEW = 256 };

static bool is_greater(const void *context, const void *left, const void *right)
{
    const uint64_t *keys = context;
    return keys[*(const uint32_t *)left] > keys[*(const uint32_t *)right];
}

/* How many runs of ORDER are to be merged, about: items that lie behind a few larger ones are put in their places before. */
static size_t runs_to_merge(const uint32_t *order, size_t count, const uint64_t *keys)
{
    enum { NEAR = 12 };
    size_t before = 0;
    for (size_t i = NEAR; i < count; i++)
        before += keys[order[i]] < keys[order[i - NEAR]];
    return before / NEAR + 1;
}

/* How often each item is moved where so many RUNS, or one more, are merged in pairs. */
static int levels_of(size_t runs)
{
    return 64 - __builtin_clzll((unsigned long long)runs);
}

/* Is ORDER, with DESCENTS, merged with fewer moves of each item than there are digits in which the keys DIFFER? */
static bool merging_is_faster(const uint32_t *order, size_t count, const uint64_t *keys, size_t descents,
                              uint64_t differ)
{
    int digits = 0;
    for (int shift = 0; shift < 64; shift += DIGIT_BITS)
        digits += (differ >> shift & (DIGITS - 1)) != 0;
    return levels_of(descents) <= digits || levels_of(runs_to_merge(order, count, keys)) <= digits;
}

void order_by(uint32_t *order, size_t count, const uint64_t *keys)
{
    uint64_t differ = 0;
    size_t descents = 0;
    for (size_t i = 1; i < count; i++) {
        differ |= keys[i] ^ keys[0];
        descents += keys[order[i]] < keys[order[i - 1]];
    }
    if (descents == 0)
        return;
    if (count < FEW || (descents < count / FEW && merging_is_faster(order, count, keys, descents, differ))) {
        runs_sort(order, count, sizeof *order, is_greater, keys);
        return;
    }
    SCOPED uint32_t *spare = mem_alloc(mem_times(count, sizeof *spare));
    uint32_t *from = order, *to = spare;
    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_by_digit(from, to, count, keys, shift);
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != order)
        memcpy(order, from, count * sizeof *order);
}

void order_values(uint64_t *values, size_t count)
{
    uint64_t differ = 0;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        differ |= values[i] ^ values[0];
        sorted = sorted && values[i - 1] <= values[i];
    }
    if (sorted)
        return;
    uint64_t *spare = mem_alloc(mem_times(count, sizeof *spare)), *from = values, *to = spare;
    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        size_t place[DIGITS] = { 0 };
        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            place[from[i] >> shift & (DIGITS - 1)]++;
        places_of(place);
        for (size_t i = 0; i < count; i++)
            to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
        uint64_t *done = to;
        to = from;
        from = done;
    }
    if (from != values)
        memcpy(values, from, count * sizeof *values);
    free(spare);
}
