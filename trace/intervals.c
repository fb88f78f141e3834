/* intervals.c - see intervals.h. Every operation is one walk over sorted arrays. */
#include "trace/intervals.h"

#include "base/runs.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

void intervals_release(struct intervals *set)
{
    VEC_FREE(set);
}

void intervals_clear(struct intervals *set)
{
    set->count = 0;
}

void intervals_add_over(struct intervals *set, int64_t start_ns, int64_t end_ns)
{
    while (set->count) {
        struct interval *last = &set->at[set->count - 1];
        if (start_ns > last->end_ns || end_ns < last->start_ns)
            break;
        if (start_ns >= last->start_ns) {
            if (end_ns > last->end_ns)
                last->end_ns = end_ns;
            return;
        }
        if (last->end_ns > end_ns) /* a caller that is added after its callees takes them in, one by one */
            end_ns = last->end_ns;
        set->count--;
    }
    *VEC_PUSH(set) = (struct interval){ start_ns, end_ns };
}

static bool starts_after(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct interval *)a)->start_ns > ((const struct interval *)b)->start_ns;
}

void intervals_merge(struct intervals *set)
{
    size_t sorted = 1; /* mostly all of it is a set already */
    while (sorted < set->count && set->at[sorted - 1].end_ns < set->at[sorted].start_ns)
        sorted++;
    if (sorted >= set->count)
        return;
    /* What is added are threads or streams one after the other: long runs that ascend already. */
    runs_sort(set->at, set->count, sizeof *set->at, starts_after, NULL);
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        struct interval next = set->at[i];
        if (kept && next.start_ns <= set->at[kept - 1].end_ns) {
            if (next.end_ns > set->at[kept - 1].end_ns)
                set->at[kept - 1].end_ns = next.end_ns;
        } else {
            set->at[kept++] = next;
        }
    }
    set->count = kept;
}

int64_t intervals_length(const struct intervals *set)
{
    int64_t length = 0;
    for (size_t i = 0; i < set->count; i++)
        length = (int64_t)((uint64_t)length + (uint64_t)set->at[i].end_ns - (uint64_t)set->at[i].start_ns);
    return length;
}

/* Index of the first interval that ends after MOMENT. */
static size_t first_after(const struct intervals *set, int64_t moment_ns)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->at[middle].end_ns > moment_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t intervals_length_within(const struct intervals *set, int64_t start_ns, int64_t end_ns)
{
    int64_t length = 0;
    for (size_t i = first_after(set, start_ns); i < set->count && set->at[i].start_ns < end_ns; i++) {
        int64_t from = set->at[i].start_ns > start_ns ? set->at[i].start_ns : start_ns;
        int64_t to = set->at[i].end_ns < end_ns ? set->at[i].end_ns : end_ns;
        length = (int64_t)((uint64_t)length + (uint64_t)to - (uint64_t)from); /* absurd times wrap around */
    }
    return length;
}

int64_t intervals_length_of_both(const struct intervals *a, const struct intervals *b)
{
    int64_t length = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct interval *left = &a->at[i], *right = &b->at[j];
        int64_t from = left->start_ns > right->start_ns ? left->start_ns : right->start_ns;
        int64_t to = left->end_ns < right->end_ns ? left->end_ns : right->end_ns;
        if (from < to)
            length = (int64_t)((uint64_t)length + (uint64_t)to - (uint64_t)from);
        if (left->end_ns < right->end_ns)
            i++;
        else
            j++;
    }
    return length;
}

bool intervals_contain(const struct intervals *set, int64_t moment_ns)
{
    size_t i = first_after(set, moment_ns);
    return i < set->count && set->at[i].start_ns <= moment_ns;
}

void intervals_union(const struct intervals *a, const struct intervals *b, struct intervals *out)
{
    assert(out != a && out != b);
    intervals_clear(out);
    VEC_RESERVE(out, a->count + b->count);
    if (a->count == 0 || b->count == 0) {
        const struct intervals *all = a->count ? a : b;
        if (all->count)
            memcpy(out->at, all->at, all->count * sizeof *all->at);
        out->count = all->count;
        return;
    }
    size_t i = 0, j = 0;
    struct interval *last = NULL;
    while (i < a->count || j < b->count) {
        bool from_a = j == b->count || (i < a->count && a->at[i].start_ns <= b->at[j].start_ns);
        struct interval next = from_a ? a->at[i++] : b->at[j++];
        if (!last || next.start_ns > last->end_ns) {
            last = &out->at[out->count++];
            *last = next;
        } else if (next.end_ns > last->end_ns) {
            last->end_ns = next.end_ns;
        }
    }
}

void intervals_intersect(const struct intervals *a, const struct intervals *b, struct intervals *out)
{
    assert(out != a && out != b);
    intervals_clear(out);
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct interval *left = &a->at[i], *right = &b->at[j];
        intervals_add(out, left->start_ns > right->start_ns ? left->start_ns : right->start_ns,
                      left->end_ns < right->end_ns ? left->end_ns : right->end_ns);
        if (left->end_ns < right->end_ns)
            i++;
        else
            j++;
    }
}

void intervals_subtract(const struct intervals *a, const struct intervals *b, struct intervals *out)
{
    assert(out != a && out != b);
    intervals_clear(out);
    size_t j = 0;
    for (size_t i = 0; i < a->count; i++) {
        int64_t start = a->at[i].start_ns, end = a->at[i].end_ns;
        while (j < b->count && b->at[j].end_ns <= start)
            j++;
        for (size_t k = j; k < b->count && b->at[k].start_ns < end; k++) {
            intervals_add(out, start, b->at[k].start_ns);
            start = b->at[k].end_ns;
        }
        intervals_add(out, start, end);
    }
}

void intervals_clip(const struct intervals *set, int64_t start_ns, int64_t end_ns, struct intervals *out)
{
    assert(out != set);
    struct interval whole = { start_ns, end_ns };
    struct intervals window = { &whole, start_ns < end_ns, 1 };
    intervals_intersect(set, &window, out);
}
