#include "base/runs.h"

#include "base/memory.h"

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

void runs_sort(void *items, size_t count, size_t size, runs_after *after, const void *context)
{
    struct sorting sorting = { size, after, context };
    VEC_OF(size_t) runs = { 0 }; /* start of each run; COUNT at the end */
    for (size_t i = 0; i < count; i++)
        if (i == 0 || after(context, (char *)items + (i - 1) * size, (char *)items + i * size))
            *VEC_PUSH(&runs) = i;
    *VEC_PUSH(&runs) = count;
    char *spare = runs.count > 2 ? mem_alloc(count * size) : NULL;
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
    free(spare);
    VEC_FREE(&runs);
}
