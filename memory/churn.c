#include "memory/parts.h"

#include "base/rows.h"
#include "base/runs.h"
#include <assert.h>

/* Lifetimes in microseconds of all rows: four bytes each if they differ by less than an hour. */
struct lifetimes {
    int64_t least;
    uint32_t *narrow; /* offset from the least */
    int64_t *wide;    /* NULL if `narrow` is used */
};

static int64_t lifetime_at(const struct lifetimes *lifetimes, size_t i)
{
    assert(lifetimes->narrow || lifetimes->wide);
    return lifetimes->narrow ? lifetimes->least + lifetimes->narrow[i] : lifetimes->wide[i];
}

static void set_lifetime(struct lifetimes *lifetimes, size_t i, int64_t us)
{
    assert(lifetimes->narrow || lifetimes->wide);
    if (lifetimes->narrow)
        lifetimes->narrow[i] = (uint32_t)(us - lifetimes->least);
    else
        lifetimes->wide[i] = us;
}

/* The value of rank RANK (from 0, ascending) of the COUNT values from FIRST on. */
static int64_t value_of_rank(const struct lifetimes *lifetimes, size_t first, size_t count, size_t rank)
{
    enum { BITS = 11, SLOTS = 1 << BITS };
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = first; i < first + count; i++) {
        uint64_t ordered = (uint64_t)lifetime_at(lifetimes, i) ^ UINT64_C(1) << 63;
        least = ordered < least ? ordered : least;
        most = ordered > most ? ordered : most;
    }
    unsigned width = 64 - (unsigned)__builtin_clzll((most - least) | 1); /* bits in which they differ */
    for (unsigned shift; width > 0; width = shift) {
        uint32_t counts[SLOTS] = { 0 };
        shift = width > BITS ? width - BITS : 0;
        for (size_t i = first; i < first + count; i++) {
            uint64_t slot = (((uint64_t)lifetime_at(lifetimes, i) ^ UINT64_C(1) << 63) - least) >> shift;
            counts[slot < SLOTS ? slot : SLOTS - 1] += slot < SLOTS;
        }
        size_t slot = 0;
        for (; rank >= counts[slot]; slot++)
            rank -= counts[slot];
        least += (uint64_t)slot << shift;
    }
    return (int64_t)(least ^ UINT64_C(1) << 63);
}

/* Quantiles of a row, from its COUNT lifetimes from FIRST on; at least one. */
static void set_quantiles(const struct lifetimes *lifetimes, size_t first, size_t count,
                          struct churn_row *row)
{
    enum { SORTED_MOST = 1000 }; /* counting costs more for fewer */
    size_t ranks[] = { (count - 1) / 2, (count - 1) * 9 / 10, count - 1 };
    int64_t *quantiles[] = { &row->lifetime_median_ns, &row->lifetime_p90_ns, &row->lifetime_longest_ns };
    int64_t sorted[SORTED_MOST];
    bool few = count <= SORTED_MOST;
    for (size_t i = 0; few && i < count; i++)
        sorted[i] = lifetime_at(lifetimes, first + i);
    if (few)
        SORT_NUMBERS(sorted, count);
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        *quantiles[i] = 1000 * (few ? sorted[ranks[i]] : value_of_rank(lifetimes, first, count, ranks[i]));
}

/* The lifetime of life I; false if unknown, or it has not ended. */
static bool lifetime_of(const struct allocator_history *replay, size_t i, int64_t *us)
{
    const struct life *life = &replay->lives.at[i];
    if (life->freed == LIFE_GOES_ON)
        return false;
    int64_t born = allocator_history_time(replay, life->born),
            freed = allocator_history_time(replay, life->freed);
    bool known = born != SNAPSHOT_NO_TIME && freed != SNAPSHOT_NO_TIME;
    *us = known ? freed - born : 0;
    return known;
}

/* The lifetimes of the lives of each of the COUNT ROWS, stored row by row. */
static void add_lifetimes(const struct allocator_history *replay, const struct life_names *names,
                          struct churn_row *rows, size_t count)
{
    SCOPED size_t *end = mem_zalloc(count + 1, sizeof *end); /* by row: end of its lifetimes so far */
    int64_t us, least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < replay->first_old; i++) {
        if (!lifetime_of(replay, i, &us))
            continue;
        end[life_name(names, i) + 1]++;
        least = us < least ? us : least;
        most = us > most ? us : most;
    }
    for (size_t row = 0; row < count; row++)
        end[row + 1] += end[row];
    struct lifetimes lifetimes = { .least = least };
    if (end[count] > 0 && most - least <= UINT32_MAX) /* times have 53 bits */
        lifetimes.narrow = mem_alloc(mem_times(end[count], sizeof *lifetimes.narrow));
    else
        lifetimes.wide = mem_alloc(mem_times(end[count] + 1, sizeof *lifetimes.wide));
    for (size_t i = 0; i < replay->first_old; i++)
        if (lifetime_of(replay, i, &us))
            set_lifetime(&lifetimes, end[life_name(names, i)]++, us);
    for (size_t row = 0, first = 0; row < count; first = end[row++])
        if (end[row] > first)
            set_quantiles(&lifetimes, first, end[row] - first, &rows[row]);
    EACH(free, lifetimes.narrow, lifetimes.wide);
}

static void add_lives(const struct allocator_history *replay, const struct life_names *names,
                      struct churn_row *rows)
{
    for (size_t i = 0; i < replay->first_old; i++) {
        const struct life *life = &replay->lives.at[i];
        struct churn_row *row = &rows[life_name(names, i)];
        row->allocations++;
        row->allocated_bytes += life->size;
        if (life->size > row->largest_bytes)
            row->largest_bytes = life->size;
        if (life->freed == LIFE_GOES_ON)
            continue;
        row->freed++;
        row->freed_bytes += life->size;
    }
}

static void churn_add_segments(const struct allocator_history *replay, const struct life_names *names,
                               struct churn_row *rows)
{
    const struct snapshot_entries *entries = &replay->snapshot->entries;
    for (uint64_t e = replay->device->first; e < replay->device->end; e++) {
        int64_t change = allocator_history_reserved_change(replay->snapshot, e);
        if (change == 0)
            continue;
        struct churn_row *row =
            &rows[entries->stack[e] == STACK_NONE ? names->none : names->of_stack[entries->stack[e]]];
        row->segments += change > 0;
        row->segment_bytes += change > 0 ? change : 0;
        row->segments_freed += change < 0;
    }
}

static const struct key by_bytes[] = { DESC(struct churn_row, allocated_bytes),
                                       DESC(struct churn_row, allocations), KEY_END };

void churn_find(const struct allocator_history *replay, const char *file, struct churn *churn)
{
    if (replay->entry_count == 0)
        return;
    struct life_names *names = life_names_open(replay, ALIVE_BY_LINE);
    size_t count = names_count(names->names);
    struct churn_row *rows = mem_zalloc(count, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i].lifetime_median_ns = rows[i].lifetime_p90_ns = rows[i].lifetime_longest_ns =
            TABLE_INT_MISSING;
    add_lives(replay, names, rows);
    add_lifetimes(replay, names, rows, count);
    churn_add_segments(replay, names, rows);
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].allocations && !rows[i].segments && !rows[i].segments_freed)
            continue;
        size_t len = names_length(names->names, (name_id)i);
        rows[i].file = (struct text){ file, strlen(file) };
        rows[i].line =
            (struct text){ arena_strndup(&churn->arena, names_text(names->names, (name_id)i), len), len };
        rows[i].device = allocator_history_device_number(replay);
        rows[i].average_bytes =
            rows[i].allocations ? rows[i].allocated_bytes / rows[i].allocations : TABLE_INT_MISSING;
        *VEC_PUSH(&churn->rows) = rows[i];
    }
    free(rows);
    arena_free(names);
    SORT(&churn->rows, by_bytes);
}
