#include "base/runs.h"

#include "base/memory.h"
#include <stdint.h>

struct sorting {
    size_t size;
    runs_after *after;
    const void *context;
};

/* Most items have one of these sizes, for which a copy is one or two moves instead of a call. */
static inline void copy_item(char *to, const char *from, size_t size)
{
    switch (size) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 16: memcpy(to, from, 16); break;
    case 24: memcpy(to, from, 24); break;
    default: memcpy(to, from, size);
    }
}

/* Merge the sorted [first, middle) and [middle, end) of FROM into TO. */
static void merge(const struct sorting *sorting, const char *from, char *to, size_t first, size_t middle,
                  size_t end)
{
    size_t size = sorting->size;
    const char *left = from + first * size, *right = from + middle * size;
    const char *left_end = right, *right_end = from + end * size;
    to += first * size;
    while (left < left_end && right < right_end) {
        const char **next = sorting->after(sorting->context, left, right) ? &right : &left;
        copy_item(to, *next, size);
        *next += size;
        to += size;
    }
    memcpy(to, left, (size_t)(left_end - left));
    memcpy(to + (left_end - left), right, (size_t)(right_end - right));
}

/* Items of more bytes are not moved one by one. */
enum { MOST_BYTES = 24 };

/* The place of item I in the sorted [FIRST, I); SIZE_MAX: it is further back than a few items. */
static size_t place_of(const struct sorting *sorting, const char *items, size_t first, size_t i)
{
    enum { FEW = 12 };
    size_t size = sorting->size, few = size <= MOST_BYTES ? FEW : 0, to = i;
    for (; to > first && sorting->after(sorting->context, items + (to - 1) * size, items + i * size); to--)
        if (i - to == few)
            return SIZE_MAX;
    return to;
}

/* Move item FROM to TO, before it. */
static void move_back(char *items, size_t size, size_t from, size_t to)
{
    char item[MOST_BYTES];
    memcpy(item, items + from * size, size);
    memmove(items + (to + 1) * size, items + to * size, (from - to) * size);
    memcpy(items + to * size, item, size);
}

void runs_sort(void *items, size_t count, size_t size, runs_after *after, const void *context)
{
    struct sorting sorting = { size, after, context };
    SCOPED VEC_OF(size_t) runs = { 0 }; /* start of each run; COUNT at the end */
    for (size_t i = 0, first = 0; i < count; i++) {
        size_t to = i > 0 ? place_of(&sorting, items, first, i) : SIZE_MAX;
        if (to == SIZE_MAX) {
            first = i;
            *VEC_PUSH(&runs) = i;
        } else if (to < i) {
            move_back(items, size, i, to);
        }
    }
    *VEC_PUSH(&runs) = count;
    SCOPED char *spare = runs.count > 2 ? mem_alloc(count * size) : NULL;
    char *from = items, *to = spare;
    while (runs.count > 2) {
        size_t kept = 0;
        for (size_t r = 0; r + 1 < runs.count; r += 2) {
            size_t middle = runs.at[r + 1], end = r + 2 < runs.count ? runs.at[r + 2] : middle;
            merge(&sorting, from, to, runs.at[r], middle, end);
            runs.at[kept++] = runs.at[r];
        }
        runs.at[kept++] = count;
        runs.count = kept;
        char *other = from;
        from = to;
        to = other;
    }
    if (from != (char *)items)
        memcpy(items, from, count * size);
}
