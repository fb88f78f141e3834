/* intervals.c - see intervals.h. Every operation is one walk over sorted arrays. */
#include "trace/intervals.h"

#include "base/search.h"
#include <assert.h>

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

/* The union of two sets, from A and B up to their ends, which goes to OUT; how many intervals it has. */
static size_t unite(const struct interval *a, const struct interval *a_end, const struct interval *b,
                    const struct interval *b_end, struct interval *out)
{
    struct interval *last = NULL, *first = out;
    while (a < a_end || b < b_end) {
        bool from_a = b == b_end || (a < a_end && a->start_ns <= b->start_ns);
        struct interval next = from_a ? *a++ : *b++;
        if (!last || next.start_ns > last->end_ns) {
            last = out++;
            *last = next;
        } else if (next.end_ns > last->end_ns) {
            last->end_ns = next.end_ns;
        }
    }
    return (size_t)(out - first);
}

/* What is added are threads or streams one after the other: a few long runs, each of which is a set. Neighbours are
 * united until one is left. */
void intervals_merge(struct intervals *set)
{
    size_t sorted = 1; /* mostly all of it is a set already */
    while (sorted < set->count && set->at[sorted - 1].end_ns < set->at[sorted].start_ns)
        sorted++;
    if (sorted >= set->count)
        return;
    SCOPED VEC_OF(size_t) runs = { 0 }; /* where each begins; the count at the end */
    *VEC_PUSH(&runs) = 0;
    for (size_t i = sorted; i < set->count; i++)
        if (set->at[i - 1].end_ns >= set->at[i].start_ns)
            *VEC_PUSH(&runs) = i;
    *VEC_PUSH(&runs) = set->count;
    struct interval *spare = mem_alloc(mem_times(set->count, sizeof *spare)), *from = set->at, *to = spare;
    while (runs.count > 2) {
        size_t kept = 0, count = 0;
        for (size_t r = 0; r + 1 < runs.count; r += 2) {
            size_t middle = runs.at[r + 1], end = r + 2 < runs.count ? runs.at[r + 2] : middle;
            size_t united = unite(from + runs.at[r], from + middle, from + middle, from + end, to + count);
            runs.at[kept++] = count;
            count += united;
        }
        runs.at[kept++] = count;
        runs.count = kept;
        set->count = count;
        struct interval *other = from;
        from = to;
        to = other;
    }
    if (from != set->at)
        memcpy(set->at, from, set->count * sizeof *from);
    free(spare);
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
    return PLACE(i, set->count, !(set->at[i].end_ns > moment_ns));
}

/* Time of [START, END) that SET covers from interval FIRST on. */
static int64_t length_from(const struct intervals *set, size_t first, int64_t start_ns, int64_t end_ns)
{
    int64_t length = 0;
    for (size_t i = first; i < set->count && set->at[i].start_ns < end_ns; i++) {
        if (set->at[i].end_ns <= start_ns)
            continue;
        int64_t from = set->at[i].start_ns > start_ns ? set->at[i].start_ns : start_ns;
        int64_t to = set->at[i].end_ns < end_ns ? set->at[i].end_ns : end_ns;
        length = (int64_t)((uint64_t)length + (uint64_t)to - (uint64_t)from); /* absurd times wrap around */
    }
    return length;
}

int64_t intervals_length_within(const struct intervals *set, int64_t start_ns, int64_t end_ns)
{
    size_t first = set->count == 1 ? 0 : first_after(set, start_ns); /* often it is one window */
    return length_from(set, first, start_ns, end_ns);
}

int64_t intervals_length_near(const struct intervals *set, int64_t start_ns, int64_t end_ns, size_t *near)
{
    size_t first = *near;
    if (first <= set->count && (first == set->count || end_ns <= set->at[first].start_ns) &&
        (first == 0 || set->at[first - 1].end_ns <= start_ns))
        return 0; /* between the same two intervals as what was looked for last, as mostly */
    SEARCH_NEAR(first, *near, set->count, !(set->at[first].end_ns > start_ns));
    *near = first;
    return length_from(set, first, start_ns, end_ns);
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

int64_t intervals_length_outside(const struct intervals *a, const struct intervals *b)
{
    return intervals_length(a) - intervals_length_of_both(a, b);
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
    out->count = unite(a->at, a->at + a->count, b->at, b->at + b->count, out->at);
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

/* What is next of the set at OWNER: its first interval that has not ended, NEVER where there is none. */
struct next_interval {
    int64_t start_ns, end_ns;
    size_t at, owner;
};

#define NEVER INT64_MAX

static void take_next(struct next_interval *next, const struct intervals *set, int64_t now_ns)
{
    while (next->at < set->count && set->at[next->at].end_ns <= now_ns)
        next->at++;
    bool any = next->at < set->count;
    next->start_ns = any ? set->at[next->at].start_ns : NEVER;
    next->end_ns = any ? set->at[next->at].end_ns : NEVER;
}

void intervals_each(const struct intervals *sets, size_t count, intervals_visit *visit, void *context)
{
    SCOPED struct next_interval *next = mem_zalloc(count + 1, sizeof *next); /* of sets that are not empty */
    int64_t now_ns = NEVER;
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (sets[i].count == 0)
            continue;
        next[left].owner = i;
        take_next(&next[left], &sets[i], INT64_MIN);
        now_ns = next[left].start_ns < now_ns ? next[left].start_ns : now_ns;
        left++;
    }
    while (now_ns != NEVER) {
        size_t first = 0;
        int64_t end_ns = NEVER; /* when one that goes before begins */
        for (; first < left && next[first].start_ns > now_ns; first++)
            end_ns = next[first].start_ns < end_ns ? next[first].start_ns : end_ns;
        if (first < left) {
            end_ns = next[first].end_ns < end_ns ? next[first].end_ns : end_ns;
            visit(context, next[first].owner, now_ns, end_ns);
        }
        now_ns = end_ns;
        for (size_t i = first; i < left; i++)
            if (next[i].end_ns <= now_ns)
                take_next(&next[i], &sets[next[i].owner], now_ns);
    }
}

void intervals_clip(const struct intervals *set, int64_t start_ns, int64_t end_ns, struct intervals *out)
{
    assert(out != set);
    struct interval whole = { start_ns, end_ns };
    struct intervals window = { .at = &whole, .count = start_ns < end_ns, .capacity = 1 };
    size_t first = set->count ? first_after(set, start_ns) : 0;
    struct intervals rest = { .at = set->at ? set->at + first : NULL, .count = set->count - first };
    intervals_intersect(&rest, &window, out);
}
