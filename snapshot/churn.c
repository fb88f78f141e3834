/* churn.c - see churn.h. */
#include "snapshot/churn.h"

#include "base/runs.h"
#include "snapshot/alive.h"
#include <stdlib.h>
#include <string.h>

/* A lifetime and the line it belongs to: sorted, those of a line follow one another. */
struct lifetime {
    uint32_t line;
    int64_t ns;
};

static int compare_lifetimes(const void *a, const void *b)
{
    const struct lifetime *left = a, *right = b;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    return left->ns < right->ns ? -1 : left->ns > right->ns;
}

static void add_lives(const struct memory_replay *replay, const struct life_names *names,
                      struct churn_row *rows)
{
    struct lifetime *lifetimes = mem_alloc(mem_times(replay->first_old + 1, sizeof *lifetimes));
    size_t count = 0;
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
        int64_t born = memory_replay_time(replay, life->born),
                freed = memory_replay_time(replay, life->freed);
        if (born != SNAPSHOT_NO_TIME && freed != SNAPSHOT_NO_TIME)
            lifetimes[count++] = (struct lifetime){ life_name(names, i), (freed - born) * 1000 };
    }
    if (count)
        qsort(lifetimes, count, sizeof *lifetimes, compare_lifetimes);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && lifetimes[end].line == lifetimes[i].line; end++)
            ;
        struct churn_row *row = &rows[lifetimes[i].line];
        row->lifetime_median_ns = lifetimes[i + (end - i - 1) / 2].ns;
        row->lifetime_p90_ns = lifetimes[i + (end - i - 1) * 9 / 10].ns;
        row->lifetime_longest_ns = lifetimes[end - 1].ns;
    }
    free(lifetimes);
}

static void add_segments(const struct memory_replay *replay, const struct life_names *names,
                         struct churn_row *rows)
{
    const struct snapshot_entries *entries = &replay->snapshot->entries;
    for (uint64_t e = replay->device->first; e < replay->device->end; e++) {
        int64_t change = memory_replay_reserved_change(replay->snapshot, e);
        if (change == 0)
            continue;
        struct churn_row *row =
            &rows[entries->stack[e] == STACK_NONE ? names->none : names->of_stack[entries->stack[e]]];
        row->segments += change > 0;
        row->segment_bytes += change > 0 ? change : 0;
        row->segments_freed += change < 0;
    }
}

static bool less(const void *context, const void *a, const void *b)
{
    (void)context;
    const struct churn_row *left = a, *right = b;
    return left->allocated_bytes != right->allocated_bytes ? left->allocated_bytes < right->allocated_bytes
                                                           : left->allocations < right->allocations;
}

void churn_find(const struct memory_replay *replay, const char *file, struct churn *churn)
{
    if (replay->entry_count == 0)
        return;
    struct life_names names;
    life_names_open(replay, ALIVE_BY_LINE, &names);
    size_t count = names_count(names.names);
    struct churn_row *rows = mem_zalloc(count, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i].lifetime_median_ns = rows[i].lifetime_p90_ns = rows[i].lifetime_longest_ns =
            TABLE_INT_MISSING;
    add_lives(replay, &names, rows);
    add_segments(replay, &names, rows);
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].allocations && !rows[i].segments && !rows[i].segments_freed)
            continue;
        size_t len = names_length(names.names, (name_id)i);
        rows[i].file = (struct text){ file, strlen(file) };
        rows[i].line =
            (struct text){ arena_strndup(&churn->arena, names_text(names.names, (name_id)i), len), len };
        rows[i].device = memory_replay_device_number(replay);
        rows[i].average_bytes =
            rows[i].allocations ? rows[i].allocated_bytes / rows[i].allocations : TABLE_INT_MISSING;
        *VEC_PUSH(&churn->rows) = rows[i];
    }
    free(rows);
    life_names_release(&names);
    runs_sort(churn->rows.at, churn->rows.count, sizeof *churn->rows.at, less, NULL);
}

void churn_release(struct churn *churn)
{
    VEC_FREE(&churn->rows);
    arena_release(&churn->arena);
}
