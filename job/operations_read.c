/* operations_read.c - see operations_read.h and operations.h: the ranks, the steps, and the order of what the readers find. */
#include "job/operations_read.h"

#include "base/rows.h"
#include "derive/file_set.h"
#include <string.h>

uint32_t operation_type_add(struct operations *all, const char *name)
{
    uint32_t type = operation_type_find(all, name);
    return type != OPERATION_NONE ? type : OPERATION_OTHER + names_add(all->types, name, strlen(name));
}

int64_t reading_clamp(int64_t moment_ns)
{
    const int64_t most_ns = INT64_C(1) << 52;
    return moment_ns > most_ns ? most_ns : moment_ns < -most_ns ? -most_ns : moment_ns;
}

uint32_t reading_add(struct reading *reading, uint32_t type, uint32_t rank, int64_t step, int64_t start_ns,
                     int64_t end_ns)
{
    *VEC_PUSH(reading->all) = (struct operation){ .type = type,
                                                  .rank = rank,
                                                  .serves = OPERATION_NONE,
                                                  .start_ns = start_ns,
                                                  .end_ns = end_ns,
                                                  .microbatch = JOB_UNKNOWN,
                                                  .stage = JOB_UNKNOWN };
    *VEC_PUSH(&reading->step_of) = step;
    return (uint32_t)reading->all->count - 1;
}

/* ---- ranks ---- */

static const struct key by_number[] = { ASC(struct job_rank, number), KEY_END };

static void find_ranks(struct reading *reading)
{
    struct operations *all = reading->all;
    const struct trace *trace = all->trace;
    const struct file_set *set = file_set_of(trace);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct job_rank rank = { .number = set->files[f].number };
        for (unsigned d = 0; d < JOB_DIMENSIONS; d++)
            rank.at[d] = JOB_UNKNOWN;
        *VEC_PUSH(&all->ranks) = rank;
        if (trace->files[f].world_size > all->world_size)
            all->world_size = trace->files[f].world_size;
    }
    SORT(&all->ranks, by_number);
    all->ranks.count = rows_unique(all->ranks.at, all->ranks.count, sizeof *all->ranks.at, by_number);
    reading->rank_of = mem_alloc(mem_times(trace->file_count + 1, sizeof *reading->rank_of));
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct job_rank wanted = { .number = set->files[f].number };
        const struct job_rank *found =
            rows_find(all->ranks.at, all->ranks.count, sizeof *all->ranks.at, by_number, &wanted);
        reading->rank_of[f] = (uint32_t)(found - all->ranks.at);
    }
}

/* ---- steps and order ---- */

static bool is_wanted(int64_t step, const struct ranges *steps)
{
    return step != STEP_UNKNOWN && ranges_hold(steps, step);
}

/* The steps with operations; of a job without a pipeline those with communication. */
static void list_steps(struct reading *reading, const struct ranges *steps)
{
    struct operations *all = reading->all;
    for (size_t i = 0; i < all->count; i++)
        if (is_wanted(reading->step_of.at[i], steps))
            *VEC_PUSH(&all->steps) = reading->step_of.at[i];
    for (size_t i = 0; i < all->talks.count && all->count == 0; i++)
        if (is_wanted(reading->talk_step_of.at[i], steps))
            *VEC_PUSH(&all->steps) = reading->talk_step_of.at[i];
    SORT(&all->steps, rows_ascending_i64);
    all->steps.count =
        rows_unique(all->steps.at, all->steps.count, sizeof *all->steps.at, rows_ascending_i64);
}

/* The index of the step with NUMBER; OPERATION_NONE: it is not among the steps. */
static uint32_t step_index(const struct operations *all, int64_t number)
{
    const int64_t *found =
        rows_find(all->steps.at, all->steps.count, sizeof *all->steps.at, rows_ascending_i64, &number);
    return found ? (uint32_t)(found - all->steps.at) : OPERATION_NONE;
}

struct placed {
    struct operation op;
    uint32_t was;
};

static const struct key by_place[] = { ASC(struct placed, op.step), ASC(struct placed, op.rank),
                                       ASC(struct placed, op.start_ns), ASC(struct placed, op.end_ns),
                                       KEY_END };

/* Keep the operations of the steps, sorted, and let messages serve the same ones as before. */
static void sort_operations(struct reading *reading)
{
    struct operations *all = reading->all;
    VEC_OF(struct placed) kept = { 0 };
    uint32_t *now = mem_alloc(mem_times(all->count + 1, sizeof *now));
    for (uint32_t i = 0; i < all->count; i++) {
        now[i] = OPERATION_NONE;
        uint32_t step = step_index(all, reading->step_of.at[i]);
        if (step == OPERATION_NONE)
            continue;
        all->at[i].step = step;
        *VEC_PUSH(&kept) = (struct placed){ all->at[i], i };
    }
    SORT(&kept, by_place);
    for (uint32_t i = 0; i < kept.count; i++)
        now[kept.at[i].was] = i;
    for (size_t i = 0; i < kept.count; i++) {
        all->at[i] = kept.at[i].op;
        if (all->at[i].serves != OPERATION_NONE)
            all->at[i].serves = now[all->at[i].serves];
    }
    all->count = kept.count;
    free(now);
    VEC_FREE(&kept);
}

static void keep_others(struct reading *reading)
{
    struct operations *all = reading->all;
    size_t kept = 0;
    for (size_t i = 0; i < all->talks.count; i++) {
        uint32_t step = step_index(all, reading->talk_step_of.at[i]);
        if (step == OPERATION_NONE)
            continue;
        all->talks.at[kept] = all->talks.at[i];
        all->talks.at[kept++].step = step;
    }
    all->talks.count = kept;
    kept = 0;
    for (size_t i = 0; i < all->collections.count; i++) {
        uint32_t step = step_index(all, reading->collection_of.at[i]);
        if (step == OPERATION_NONE)
            continue;
        all->collections.at[kept] = all->collections.at[i];
        all->collections.at[kept++].step = step;
    }
    all->collections.count = kept;
}

struct operations *operations_open(const struct trace *trace, const struct ranges *steps)
{
    struct operations *all = mem_zalloc(1, sizeof *all);
    struct reading reading = { .all = all };
    all->trace = trace;
    all->types = names_open();
    find_ranks(&reading);
    coordinates_find(&reading);
    if (timeline_is(trace))
        timeline_read(&reading);
    else
        kineto_read(&reading);
    list_steps(&reading, steps);
    sort_operations(&reading);
    keep_others(&reading);
    VEC_FREE(&reading.step_of);
    VEC_FREE(&reading.talk_step_of);
    VEC_FREE(&reading.collection_of);
    free(reading.rank_of);
    return all;
}
