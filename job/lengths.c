/* lengths.c - lengths that operations would have if all of a kind were equal: see job.h. */
#include "base/rows.h"
#include "job/job.h"
#include <math.h>

double job_mean(const double *values, size_t count)
{
    double sum = SUM(double, i, count, values[i]);
    return count ? sum / (double)count : NAN;
}

double job_median(double *values, size_t count)
{
    if (!count)
        return NAN;
    SORT_NUMBERS(values, count);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double job_over(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

/* A mean for types that the rank itself makes longer or shorter; a median for communication, whose ends others decide. */
static bool is_averaged(const struct operations *all, uint32_t type)
{
    const char *name = operation_type_name(all, type);
    return type <= WEIGHT_COMPUTE || strcmp(name, "gc") == 0 || strcmp(name, "optimizer") == 0;
}

struct lengths {
    VEC_OF(double);
};

static void find_ideal(struct job *job)
{
    const struct operations *all = job->all;
    uint32_t types = OPERATION_OTHER + (uint32_t)names_count(all->types);
    SCOPED struct lengths *of = mem_zalloc(types, sizeof *of);
    SCOPED double *ideal = mem_alloc(mem_times(types, sizeof *ideal));
    for (size_t i = 0; i < all->count; i++)
        *VEC_PUSH(&of[all->at[i].type]) = job->graph->real_ns[i];
    for (uint32_t type = 0; type < types; type++) {
        ideal[type] = is_averaged(all, type) ? job_mean(of[type].at, of[type].count)
                                             : job_median(of[type].at, of[type].count);
        VEC_FREE(&of[type]);
    }
    for (size_t i = 0; i < all->count; i++)
        job->ideal_ns[i] = ideal[all->at[i].type];
}

/* A computation in its cell. */
struct celled {
    uint32_t type, chunk;
    int64_t pp;
    uint32_t op;
};

static const struct key by_cell[] = { ASC(struct celled, type), ASC(struct celled, chunk),
                                      ASC(struct celled, pp), KEY_END };
static const struct key by_type[] = { ASC(struct celled, type), KEY_END };

struct celled_list {
    VEC_OF(struct celled);
};

/* The structural length of a type is the mean of the medians of its cells. */
static void find_structural(struct job *job, const struct celled_list *list)
{
    FOR_GROUPS(list, by_type, first, end) {
        double sum = 0;
        size_t cells = 0;
        for (size_t i = first; i < end; i++)
            if (i == first || rows_compare(&list->at[i - 1], &list->at[i], by_cell) != 0) {
                sum += job->median_ns[list->at[i].op];
                cells++;
            }
        for (size_t i = first; i < end; i++)
            job->structural_ns[list->at[i].op] = sum / (double)cells;
    }
}

static void find_medians(struct job *job)
{
    const struct operations *all = job->all;
    SCOPED struct celled_list list = { 0 };
    SCOPED struct lengths lengths = { 0 };
    for (uint32_t i = 0; i < all->count; i++)
        if (operation_computes(&all->at[i]))
            *VEC_PUSH(&list) = (struct celled){ all->at[i].type, all->at[i].chunk,
                                                all->ranks.at[all->at[i].rank].at[JOB_PP], i };
    SORT(&list, by_cell);
    FOR_GROUPS(&list, by_cell, first, end) {
        lengths.count = 0;
        for (size_t i = first; i < end; i++)
            *VEC_PUSH(&lengths) = job->graph->real_ns[list.at[i].op];
        double median = job_median(lengths.at, lengths.count);
        for (size_t i = first; i < end; i++)
            job->median_ns[list.at[i].op] = median;
    }
    find_structural(job, &list);
}

void job_find_lengths(struct job *job)
{
    size_t count = job->all->count + 1;
    job->ideal_ns = mem_zalloc(count, sizeof *job->ideal_ns);
    job->median_ns = mem_zalloc(count, sizeof *job->median_ns);
    job->structural_ns = mem_zalloc(count, sizeof *job->structural_ns);
    find_ideal(job);
    find_medians(job);
}
