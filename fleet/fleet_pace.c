/*
 * fleet_pace.c - slow devices and hosts, and ranks with different work; see fleet.h.
 *
 * Of each kernel, the median of its runs on a rank is compared with the median of these medians over all ranks with
 * the same model of device. The pace of a rank is the weighted median over its kernels, weighted by the time that each
 * takes on all ranks: so one kernel with different work on one rank has no effect. Outliers are detected by a robust z
 * score: its distance from the median pace, in standard deviations estimated from the median absolute deviation.
 */
#include "base/rows.h"
#include "fleet/fleet.h"

#include "derive/communication.h"
#include "figures/sketch.h"
#include <math.h>

enum {
    LEAST_RANKS = 4, /* needed to detect an outlier */
};
static const double least_deviation = 0.002; /* smaller differences of medians are noise */
static const double outlier = 5;             /* standard deviations */
static const double least_slower = 1.03, least_slower_host = 1.1;

/* A name on a rank. */
struct run {
    name_id model, name;
    int64_t rank, count, sum_ns;
    double median_ns;
};

/* The pace of a rank by one name. */
struct vote {
    int64_t rank;
    double against, weight;
};

struct runs {
    VEC_OF(struct run) at;
};

struct votes {
    VEC_OF(struct vote) at;
};

static const struct key by_model_name_rank[] = { ASC(struct run, model), ASC(struct run, name),
                                                 ASC(struct run, rank), ASC(struct run, sum_ns), KEY_END };

static double median_of_sketch(const struct facts_name *name)
{
    SCOPED_BY(sketch_release) struct sketch sketch = { 0 };
    double median = NAN;
    if (name->sketch.at && sketch_decode(&sketch, name->sketch.at, name->sketch.len) && sketch.count)
        median = (double)sketch_quantile(&sketch, 1, 2);
    return median;
}

/* Runs of requested names of KIND, by model and name. */
static void find_runs(const struct fleet *fleet, const char *kind, bool (*is_left_out)(const char *name),
                      struct runs *runs)
{
    const struct facts *facts = fleet->job.facts;
    const struct facts_name *names = facts_rows(facts, FACTS_NAMES);
    name_id wanted = names_find(facts->texts, kind, strlen(kind));
    int8_t *left_out = mem_zalloc(names_count(facts->texts) + 1, sizeof *left_out); /* 0: not determined */
    for (size_t m = 0; m < fleet->job.members.count && wanted != NAME_NONE; m++) {
        const struct fleet_member *member = &fleet->job.members.at[m];
        for (size_t i = 0; i < member->count[FACTS_NAMES]; i++) {
            const struct facts_name *name = &names[member->first[FACTS_NAMES] + i];
            if (name->kind != wanted || name->name == NAME_NONE)
                continue;
            if (left_out[name->name] == 0)
                left_out[name->name] = is_left_out(names_text(facts->texts, name->name)) ? 1 : -1;
            if (left_out[name->name] < 0)
                *VEC_PUSH(&runs->at) = (struct run){
                    member->recording->device, name->name, member->rank, name->count, name->sum_ns,
                    median_of_sketch(name)
                };
        }
    }
    free(left_out);
    SORT(&runs->at, by_model_name_rank);
}

/* The paces of ranks by COUNT runs of one name on one model. */
static void vote(const struct run *runs, size_t count, struct votes *votes)
{
    double *medians = mem_alloc(mem_times(count, sizeof *medians)), weight = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        weight += (double)runs[i].sum_ns;
        if (runs[i].median_ns > 0)
            medians[known++] = runs[i].median_ns;
    }
    double usual = fleet_median_of(medians, known);
    free(medians);
    if (known < 2)
        return;
    for (size_t i = 0; i < count; i++)
        if (runs[i].median_ns > 0)
            *VEC_PUSH(&votes->at) = (struct vote){ runs[i].rank, runs[i].median_ns / usual, weight };
}

static const struct key by_rank_against[] = { ASC(struct vote, rank), ASC(struct vote, against), KEY_END };

/* The weighted median of COUNT votes of a rank, which ascend. */
static double weighted_median(const struct vote *votes, size_t count)
{
    double all = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        all += votes[i].weight;
    for (size_t i = 0; i < count; i++) {
        sum += votes[i].weight;
        if (2 * sum >= all)
            return votes[i].against;
    }
    return NAN;
}

/* Store the pace of each rank in PACES, by the index of its row; NaN if unknown. */
static void find_paces(struct fleet *fleet, const struct runs *runs, double *paces)
{
    struct votes votes = { 0 };
    const struct run *at = runs->at.at;
    FOR_RUNS(first, end, runs->at.count, at[end].model == at[first].model && at[end].name == at[first].name)
        vote(at + first, end - first, &votes);
    SORT(&votes.at, by_rank_against);
    for (size_t i = 0; i < fleet->ranks.count; i++)
        paces[i] = NAN;
    FOR_RUNS(first, end, votes.at.count, votes.at.at[end].rank == votes.at.at[first].rank) {
        paces[fleet_rank(fleet, votes.at.at[first].rank) - fleet->ranks.at] =
            weighted_median(votes.at.at + first, end - first);
    }
    VEC_FREE(&votes.at);
}

/* Store the robust z scores of COUNT paces in SCORES; NaN if there are too few. */
static void find_scores(const double *paces, size_t count, double *scores)
{
    SCOPED double *values = mem_alloc(mem_times(count + 1, sizeof *values));
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(paces[i]))
            values[known++] = paces[i];
    double middle = fleet_median_of(values, known);
    for (size_t i = 0; i < known; i++)
        values[i] = fabs(values[i] - middle);
    double deviation = fleet_median_of(values, known) * 1.4826;
    if (deviation < least_deviation)
        deviation = least_deviation;
    for (size_t i = 0; i < count; i++)
        scores[i] = known < LEAST_RANKS ? NAN : (paces[i] - middle) / deviation;
}

/* ---- differing work ---- */

/* The most common count of the COUNT runs of a name; on ties the lower. Sorts COUNTS. */
static int64_t usual_count(int64_t *counts, size_t count)
{
    int64_t usual = 0;
    size_t most = 0;
    fleet_median(counts, count); /* sorts */
    FOR_RUNS(first, end, count, counts[end] == counts[first]) {
        if (end - first > most) {
            most = end - first;
            usual = counts[first];
        }
    }
    return 2 * most > count ? usual : FACTS_MISSING;
}

static void describe_differing(struct fleet *fleet, struct fleet_rank_row *row, const struct run *runs,
                               int64_t sum_ns, int64_t *most_ns)
{
    row->differing++;
    if (sum_ns <= *most_ns)
        return;
    *most_ns = sum_ns;
    row->differs = fleet_text(fleet->job.facts, runs->name);
}

/* COUNT runs of a name, which are by rank. A name on less than half of the ranks is an extra one there. */
static void compare_counts(struct fleet *fleet, const struct run *runs, size_t count, int64_t *most_ns)
{
    size_t ranks = fleet->ranks.count, here = 0;
    int64_t *counts = mem_zalloc(ranks + count + 1, sizeof *counts), sum_ns = 0;
    struct fleet_rank_row **rows = mem_alloc(mem_times(count, sizeof *rows));
    for (size_t i = 0; i < count; i++) { /* COUNTS: of the ranks that have it */
        if (i == 0 || runs[i].rank != runs[i - 1].rank)
            rows[here++] = fleet_rank(fleet, runs[i].rank);
        counts[here - 1] += runs[i].count;
        sum_ns += runs[i].sum_ns;
    }
    if (2 * here > ranks) {
        int64_t *sorted = mem_zalloc(ranks + 1, sizeof *sorted);
        memcpy(sorted, counts, here * sizeof *sorted);
        int64_t usual = usual_count(sorted, ranks);
        free(sorted);
        size_t next = 0;
        for (size_t i = 0; i < ranks && usual != FACTS_MISSING; i++) {
            struct fleet_rank_row *row = &fleet->ranks.at[i];
            bool has = next < here && rows[next] == row;
            if ((has ? counts[next] : 0) != usual)
                describe_differing(fleet, row, runs, sum_ns, &most_ns[i]);
            next += has;
        }
    } else {
        for (size_t i = 0; i < here && 2 * here < ranks; i++)
            describe_differing(fleet, rows[i], runs, sum_ns, &most_ns[rows[i] - fleet->ranks.at]);
    }
    EACH(free, rows, counts);
}

/* Only where all ranks have as many steps can counts be compared, and only some ranks can differ from most. */
static void find_differing(struct fleet *fleet, struct runs *runs)
{
    SCOPED int64_t *most_ns = mem_zalloc(fleet->ranks.count + 1, sizeof *most_ns);
    bool comparable = fleet->ranks.count >= 3 && runs->at.count > 0;
    for (size_t i = 1; i < fleet->ranks.count; i++)
        comparable = comparable && fleet->ranks.at[i].steps == fleet->ranks.at[0].steps;
    for (size_t i = 0; i < fleet->ranks.count && comparable; i++)
        fleet->ranks.at[i].differing = 0;
    for (size_t i = 0; i < runs->at.count; i++) /* regardless of the device */
        runs->at.at[i].model = NAME_NONE;
    SORT(&runs->at, by_model_name_rank);
    FOR_RUNS(first, end, comparable ? runs->at.count : 0, runs->at.at[end].name == runs->at.at[first].name)
        compare_counts(fleet, runs->at.at + first, end - first, most_ns);
}

/* ---- over time ---- */

/* The computation of a step on a rank. */
struct spell {
    int64_t step, rank, computation_ns;
};

static const struct key by_step_rank[] = { ASC(struct spell, step), ASC(struct spell, rank), KEY_END };

/* Votes of the steps from FROM to TO of COUNT thirds, for the pace of each rank in that time. */
static void find_pace_of_third(struct fleet *fleet, const struct vote *votes, size_t count, bool late)
{
    FOR_RUNS(first, end, count, votes[end].rank == votes[first].rank) {
        struct fleet_rank_row *row = fleet_rank(fleet, votes[first].rank);
        *(late ? &row->gpu_late : &row->gpu_early) = weighted_median(votes + first, end - first);
    }
}

static void find_over_time(struct fleet *fleet)
{
    const struct facts_step *steps = facts_rows(fleet->job.facts, FACTS_STEPS);
    SCOPED VEC_OF(struct spell) spells = { 0 };
    FOR_EACH(member, &fleet->job.members) {
        for (size_t i = 0; i < member->count[FACTS_STEPS]; i++) {
            const struct facts_step *step = &steps[member->first[FACTS_STEPS] + i];
            if (step->complete == 1 && step->number != FACTS_MISSING && step->part_ns[PART_COMPUTATION] > 0)
                *VEC_PUSH(&spells) =
                    (struct spell){ step->number, member->rank, step->part_ns[PART_COMPUTATION] };
        }
    }
    SORT(&spells, by_step_rank);
    SCOPED double *values = mem_alloc(mem_times(spells.count + 1, sizeof *values));
    struct votes thirds[2] = { { { 0 } }, { { 0 } } };
    size_t step = 0;
    FOR_RUNS(first, end, spells.count, spells.at[end].step == spells.at[first].step) {
        for (size_t i = first; i < end; i++)
            values[i - first] = (double)spells.at[i].computation_ns;
        double usual = fleet_median_of(values, end - first);
        bool early = 3 * step++<fleet->steps.count, late = 3 * step> 2 * fleet->steps.count;
        if (end - first < LEAST_RANKS || (!early && !late))
            continue;
        for (size_t i = first; i < end; i++)
            *VEC_PUSH(&thirds[late].at) =
                (struct vote){ spells.at[i].rank, (double)spells.at[i].computation_ns / usual, 1 };
    }
    for (int late = 0; late < 2 && fleet->steps.count >= 3; late++) {
        SORT(&thirds[late].at, by_rank_against);
        find_pace_of_third(fleet, thirds[late].at.at, thirds[late].at.count, late);
    }
    EACH(VEC_FREE, &thirds[0].at, &thirds[1].at);
}

static bool says_nothing_of_hosts(const char *name)
{
    return operator_is_communication(name);
}

void fleet_find_pace(struct fleet *fleet)
{
    size_t count = fleet->ranks.count;
    SCOPED double *paces = mem_alloc(mem_times(count + 1, sizeof *paces));
    SCOPED double *scores = mem_alloc(mem_times(count + 1, sizeof *scores));
    struct runs kernels = { 0 }, operators = { 0 };
    find_runs(fleet, "kernel", kernel_is_communication, &kernels);
    find_paces(fleet, &kernels, paces);
    find_scores(paces, count, scores);
    for (size_t i = 0; i < count; i++) {
        struct fleet_rank_row *row = &fleet->ranks.at[i];
        row->gpu = paces[i];
        row->gpu_score = scores[i];
        row->slow_gpu = paces[i] >= least_slower && scores[i] >= outlier;
    }
    find_differing(fleet, &kernels);
    find_runs(fleet, "operator", says_nothing_of_hosts, &operators);
    for (size_t i = 0; i < operators.at.count; i++)
        operators.at.at[i].model = NAME_NONE;
    SORT(&operators.at, by_model_name_rank);
    find_paces(fleet, &operators, paces);
    find_scores(paces, count, scores);
    for (size_t i = 0; i < count; i++) {
        struct fleet_rank_row *row = &fleet->ranks.at[i];
        row->host_pace = paces[i];
        row->host_score = scores[i];
        row->slow_host = paces[i] >= least_slower_host && scores[i] >= outlier;
    }
    find_over_time(fleet);
    EACH(VEC_FREE, &kernels.at, &operators.at);
}
