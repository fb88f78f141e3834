/* dimensions.c - messages and collectives by the dimension whose ranks they join: see job.h. */
#include "base/rows.h"
#include "job/job.h"

/* A collective as the n-th of its kind in a group and step. */
struct meeting {
    uint32_t step, dimension, kind, place;
    int64_t number;
    uint32_t rank;
    int64_t start_ns;
    uint32_t talk;
};

static const struct key by_order[] = { ASC(struct meeting, step), ASC(struct meeting, dimension),
                                       ASC(struct meeting, kind), ASC(struct meeting, place),
                                       ASC(struct meeting, rank), ASC(struct meeting, start_ns),
                                       ASC(struct meeting, talk), KEY_END };
static const struct key by_rank[] = { ASC(struct meeting, step), ASC(struct meeting, dimension),
                                      ASC(struct meeting, kind), ASC(struct meeting, place),
                                      ASC(struct meeting, rank), KEY_END };
static const struct key by_meeting[] = { ASC(struct meeting, step),   ASC(struct meeting, dimension),
                                         ASC(struct meeting, kind),   ASC(struct meeting, place),
                                         ASC(struct meeting, number), KEY_END };

/* One who takes part, from its arrival to the end. */
struct member {
    int64_t start_ns, end_ns;
};

/* Add the waiting and the transfers of COUNT that met to ROW. */
static void add_waiting(struct job_dimension_row *row, const struct member *members, size_t count)
{
    int64_t last_ns = INT64_MIN;
    for (size_t i = 0; i < count; i++)
        last_ns = members[i].start_ns > last_ns ? members[i].start_ns : last_ns;
    for (size_t i = 0; i < count && count > 1; i++) {
        int64_t length_ns = members[i].end_ns - members[i].start_ns,
                waited_ns = last_ns - members[i].start_ns;
        waited_ns = waited_ns < length_ns ? waited_ns : length_ns;
        row->waited_ns += (double)waited_ns;
        row->transfer_ns += (double)(length_ns - waited_ns);
    }
}

struct members {
    VEC_OF(struct member);
};

/* Returns whether messages met. */
static bool dimensions_add_messages(const struct job *job, struct job_dimension_row *row)
{
    bool any = false;
    SCOPED struct members members = { 0 };
    FOR_EACH(gang, &job->graph->gangs) {
        if (!operation_is_message(&job->all->at[job->graph->member[gang->first]]))
            continue;
        members.count = 0;
        for (uint32_t m = gang->first; m < gang->first + gang->count; m++) {
            const struct operation *op = &job->all->at[job->graph->member[m]];
            *VEC_PUSH(&members) = (struct member){ op->start_ns, op->end_ns };
        }
        add_waiting(row, members.at, members.count);
        any |= members.count > 1;
    }
    return any;
}

static void dimensions_add_collectives(const struct job *job, struct job_dimension_row *rows)
{
    const struct operations *all = job->all;
    SCOPED VEC_OF(struct meeting) list = { 0 };
    SCOPED struct members members = { 0 };
    for (uint32_t i = 0; i < all->talks.count; i++) {
        const struct talk *talk = &all->talks.at[i];
        if (!talk_is_message(talk) && talk->dimension != JOB_NO_DIMENSION)
            *VEC_PUSH(&list) = (struct meeting){ talk->step,
                                                 talk->dimension,
                                                 talk->kind,
                                                 talk->dimension < JOB_DIMENSIONS
                                                     ? all->ranks.at[talk->rank].others[talk->dimension]
                                                     : 0,
                                                 0,
                                                 talk->rank,
                                                 talk->start_ns,
                                                 i };
    }
    SORT(&list, by_order);
    FOR_GROUPS(&list, by_rank, first, end)
        for (size_t i = first; i < end; i++)
            list.at[i].number = (int64_t)(i - first);
    SORT(&list, by_meeting);
    FOR_GROUPS(&list, by_meeting, first, end) {
        members.count = 0;
        for (size_t i = first; i < end; i++)
            *VEC_PUSH(&members) = (struct member){ all->talks.at[list.at[i].talk].start_ns,
                                                   all->talks.at[list.at[i].talk].end_ns };
        add_waiting(&rows[list.at[first].dimension], members.at, members.count);
    }
}

static const struct key by_name[] = { ASC(struct job_dimension_row, dimension.at), KEY_END };

void job_find_dimensions(struct job *job)
{
    const struct operations *all = job->all;
    struct job_dimension_row rows[JOB_NO_DIMENSION + 1] = { 0 };
    for (unsigned d = 0; d <= JOB_NO_DIMENSION; d++) {
        rows[d].dimension = as_text(job_dimension_name(d));
        rows[d].size = d < JOB_DIMENSIONS && all->size[d] ? all->size[d] : TABLE_INT_MISSING;
    }
    for (size_t i = 0; i < all->talks.count; i++) {
        struct job_dimension_row *row = &rows[all->talks.at[i].dimension];
        row->count++;
        row->time_ns += (double)(all->talks.at[i].end_ns - all->talks.at[i].start_ns);
        row->exposed_ns += (double)all->talks.at[i].exposed_ns;
    }
    bool any_messages = job->has_pipeline && dimensions_add_messages(job, &rows[JOB_PP]);
    dimensions_add_collectives(job, rows);
    for (unsigned d = 0; d <= JOB_NO_DIMENSION; d++)
        if (rows[d].count || (d == JOB_PP && any_messages))
            *VEC_PUSH(&job->dimensions) = rows[d];
    SORT(&job->dimensions, by_name);
}
