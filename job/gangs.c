/* gangs.c - which operations begin together: see job.h. */
#include "base/rows.h"
#include "job/job.h"

/* What an operation meets the others as. */
struct meeting {
    uint32_t step, type; /* of a message: FORWARD_SEND or BACKWARD_SEND for both ends */
    uint32_t place;      /* the pipeline, or the group */
    int64_t stage;       /* of a message: that which sends; of others 0 */
    int64_t number;      /* of a message: the microbatch; of others the number in the step */
    uint32_t op;
};

struct meetings {
    VEC_OF(struct meeting);
};

static const struct key by_meeting[] = { ASC(struct meeting, step),   ASC(struct meeting, type),
                                         ASC(struct meeting, place),  ASC(struct meeting, stage),
                                         ASC(struct meeting, number), KEY_END };

static void gangs_add_message(struct meetings *meetings, const struct operations *all, uint32_t i)
{
    const struct operation *op = &all->at[i];
    if (op->stage == JOB_UNKNOWN || op->serves == OPERATION_NONE)
        return;
    bool backward = operation_is_backward(op);
    int64_t from = !operation_is_recv(op) ? op->stage : backward ? op->stage + 1 : op->stage - 1;
    *VEC_PUSH(meetings) = (struct meeting){ op->step,
                                            backward ? BACKWARD_SEND : FORWARD_SEND,
                                            all->ranks.at[op->rank].others[JOB_PP],
                                            from,
                                            op->microbatch,
                                            i };
}

/* The dimension whose groups meet in operations of TYPE; JOB_WORLD: all ranks do. */
static unsigned type_dimension(const struct operations *all, uint32_t type)
{
    const char *name = operation_type_name(all, type);
    if (all->form == JOB_TIMELINE)
        return strcmp(name, "optimizer-clip-main-grad") == 0     ? JOB_WORLD
               : strcmp(name, "embedding-grads-all-reduce") == 0 ? JOB_PP
                                                                 : JOB_DP;
    for (unsigned d = 0; d < JOB_DIMENSIONS; d++)
        if (strncmp(name, job_dimension_name(d), 2) == 0 && name[2] == '-')
            return d;
    return JOB_WORLD;
}

/* New, by operation: how many of its type, rank and step are before it. */
static int64_t *number_equals(const struct operations *all)
{
    int64_t *number = mem_zalloc(all->count + 1, sizeof *number);
    SCOPED VEC_OF(int64_t) seen = { 0 };
    for (size_t i = 0; i < all->count; i++) {
        const struct operation *op = &all->at[i];
        if (i == 0 || all->at[i - 1].rank != op->rank || all->at[i - 1].step != op->step)
            seen.count = 0;
        while (seen.count <= op->type)
            *VEC_PUSH(&seen) = 0;
        number[i] = seen.at[op->type]++;
    }
    return number;
}

static void gangs_add_collectives(struct meetings *meetings, const struct operations *all)
{
    SCOPED int64_t *number = number_equals(all);
    for (uint32_t i = 0; i < all->count; i++) {
        const struct operation *op = &all->at[i];
        if (!op->meets)
            continue;
        unsigned dimension = type_dimension(all, op->type);
        *VEC_PUSH(meetings) = (struct meeting){
            op->step,
            op->type,
            dimension < JOB_DIMENSIONS ? all->ranks.at[op->rank].others[dimension] : 0,
            0,
            all->form == JOB_TIMELINE ? op->number : number[i],
            i,
        };
    }
}

uint32_t gangs_find(const struct operations *all, uint32_t *gang_of)
{
    SCOPED struct meetings meetings = { 0 };
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        gang_of[i] = OPERATION_NONE;
        if (operation_is_message(&all->at[i]))
            gangs_add_message(&meetings, all, i);
    }
    gangs_add_collectives(&meetings, all);
    SORT(&meetings, by_meeting);
    FOR_GROUPS(&meetings, by_meeting, first, end) {
        for (size_t i = first; i < end; i++)
            gang_of[meetings.at[i].op] = count;
        count++;
    }
    for (size_t i = 0; i < all->count; i++)
        if (gang_of[i] == OPERATION_NONE)
            gang_of[i] = count++;
    return count;
}
