/*
 * links.c - which operation waits for which: see job.h.
 *
 * Computations of a rank follow one another; so do its messages of a type. A send waits for its computation, a computation for its
 * receive. A receive is posted behind the computation before the one that it serves, of the same direction; so the first of the
 * backward pass has none before it, and waits for the last but one before that pass began.
 */
#include "base/rows.h"
#include "job/job.h"

struct linking {
    const struct operations *all;
    struct graph_edges *edges;
    uint32_t *alike; /* by operation: the computation before it of its type on its rank; OPERATION_NONE */
    bool *receives;  /* by operation: a message arrives for it */
    bool separate;   /* of timelines: there is a separate-grads-all-reduce */
};

static void add_edge(struct linking *linking, uint32_t op, uint32_t before)
{
    if (op != OPERATION_NONE && before != OPERATION_NONE && op != before)
        *VEC_PUSH(linking->edges) = (struct graph_edge){ op, before };
}

/* The operations in [FIRST, END) are those of a rank and a step; its computations, by start. */
struct turn {
    uint32_t first, end;
    VEC_OF(uint32_t) computes;
    uint32_t last; /* the computation that ends last; OPERATION_NONE */
};

static void link_computations(struct linking *linking, struct turn *turn)
{
    const struct operations *all = linking->all;
    uint32_t alike[WEIGHT_COMPUTE + 1] = { OPERATION_NONE, OPERATION_NONE, OPERATION_NONE };
    turn->computes.count = 0;
    turn->last = OPERATION_NONE;
    for (uint32_t i = turn->first; i < turn->end; i++) {
        if (!operation_computes(&all->at[i]))
            continue;
        if (turn->computes.count)
            add_edge(linking, i, turn->computes.at[turn->computes.count - 1]);
        *VEC_PUSH(&turn->computes) = i;
        linking->alike[i] = alike[all->at[i].type];
        alike[all->at[i].type] = i;
        if (turn->last == OPERATION_NONE || all->at[i].end_ns > all->at[turn->last].end_ns)
            turn->last = i;
    }
}

/* The last but one computation before the first backward one; OPERATION_NONE: there is none. */
static uint32_t before_backward(const struct linking *linking, const struct turn *turn)
{
    size_t i = 0;
    while (i < turn->computes.count && !operation_is_backward(&linking->all->at[turn->computes.at[i]]))
        i++;
    return i >= 2 && i < turn->computes.count ? turn->computes.at[i - 2] : OPERATION_NONE;
}

struct ordered {
    int64_t order;
    uint32_t op;
};

struct ordered_list {
    VEC_OF(struct ordered);
};

static const struct key by_order[] = { ASC(struct ordered, order), ASC(struct ordered, op), KEY_END };

/* The operations of TYPE, by number in timelines, else by start. */
static void list_type(const struct linking *linking, const struct turn *turn, uint32_t type,
                      struct ordered_list *list)
{
    list->count = 0;
    for (uint32_t i = turn->first; i < turn->end; i++)
        if (linking->all->at[i].type == type)
            *VEC_PUSH(list) = (struct ordered){ linking->all->form == JOB_TIMELINE &&
                                                        operation_is_message(&linking->all->at[i])
                                                    ? linking->all->at[i].number
                                                    : linking->all->at[i].start_ns,
                                                i };
    SORT(list, by_order);
}

static void link_messages(struct linking *linking, const struct turn *turn)
{
    const struct operations *all = linking->all;
    SCOPED struct ordered_list list = { 0 };
    for (uint32_t type = FORWARD_SEND; type <= BACKWARD_RECV; type++) {
        list_type(linking, turn, type, &list);
        for (size_t m = 0; m < list.count; m++) {
            uint32_t i = list.at[m].op, served = all->at[i].serves;
            if (m > 0)
                add_edge(linking, i, list.at[m - 1].op);
            else if (type >= BACKWARD_SEND)
                add_edge(linking, i, before_backward(linking, turn));
            if (served == OPERATION_NONE)
                continue;
            add_edge(linking, i, operation_is_recv(&all->at[i]) ? linking->alike[served] : served);
            if (operation_is_recv(&all->at[i])) {
                add_edge(linking, served, i);
                linking->receives[served] = true;
            }
        }
    }
}

/* Let the operations of the type with NAME follow BEFORE and one another; the last of them, BEFORE if there are none. */
static uint32_t append_type(struct linking *linking, const struct turn *turn, const char *name,
                            uint32_t before)
{
    uint32_t type = operation_type_find(linking->all, name);
    for (uint32_t i = turn->first; i < turn->end && type != OPERATION_NONE; i++)
        if (linking->all->at[i].type == type) {
            add_edge(linking, i, before);
            before = i;
        }
    return before;
}

static uint32_t first_of(const struct operations *all, const struct turn *turn, const char *name)
{
    uint32_t type = operation_type_find(all, name);
    for (uint32_t i = turn->first; i < turn->end && type != OPERATION_NONE; i++)
        if (all->at[i].type == type)
            return i;
    return OPERATION_NONE;
}

/* What a timeline has before the first forward and behind the last computation. */
static void link_ends_of_timeline(struct linking *linking, const struct turn *turn)
{
    static const char scatter[] = "grads-reduce-scatter";
    const struct operations *all = linking->all;
    uint32_t gathered = append_type(linking, turn, "params-all-gather", OPERATION_NONE);
    add_edge(linking, first_of(all, turn, "forward-compute"), gathered);
    uint32_t before = turn->last;
    if (linking->separate) {
        uint32_t backward = OPERATION_NONE;
        for (size_t i = 0; i < turn->computes.count; i++)
            if (operation_is_backward(&all->at[turn->computes.at[i]]))
                backward = turn->computes.at[i];
        uint32_t scattered = append_type(linking, turn, scatter, backward);
        uint32_t tail = first_of(all, turn, "gc");
        add_edge(linking, tail == OPERATION_NONE ? first_of(all, turn, "layernorm-grads-all-reduce") : tail,
                 scattered == backward ? OPERATION_NONE : scattered);
    }
    before = append_type(linking, turn, "gc", before);
    before = append_type(linking, turn, "layernorm-grads-all-reduce", before);
    before = append_type(linking, turn, "embedding-grads-all-reduce", before);
    if (linking->separate)
        before = append_type(linking, turn, "separate-grads-all-reduce", before);
    else
        before = append_type(linking, turn, scatter, before);
    before = append_type(linking, turn, "optimizer-clip-main-grad", before);
    append_type(linking, turn, "optimizer", before);
}

/* In recordings the collectives and the optimizer behind the last computation follow one another by start. */
static void link_end(struct linking *linking, const struct turn *turn)
{
    uint32_t before = turn->last;
    for (uint32_t i = turn->first; i < turn->end; i++)
        if (linking->all->at[i].type >= OPERATION_OTHER) {
            add_edge(linking, i, before);
            before = i;
        }
}

/* ---- results that other ranks made ---- */

struct computation {
    uint32_t step, pipeline, type;
    int64_t stage, microbatch;
    uint32_t op;
};

static const struct key by_result[] = {
    ASC(struct computation, step),  ASC(struct computation, pipeline),   ASC(struct computation, type),
    ASC(struct computation, stage), ASC(struct computation, microbatch), KEY_END
};

static struct computation computation_of(const struct operations *all, uint32_t i)
{
    const struct operation *op = &all->at[i];
    return (struct computation){ op->step,       all->ranks.at[op->rank].others[JOB_PP],
                                 op->type,       op->stage,
                                 op->microbatch, i };
}

static void find_producers(const struct operations *all, uint32_t *producer)
{
    SCOPED VEC_OF(struct computation) list = { 0 };
    for (uint32_t i = 0; i < all->count; i++) {
        producer[i] = OPERATION_NONE;
        if (all->at[i].type <= BACKWARD_COMPUTE && all->at[i].stage != JOB_UNKNOWN)
            *VEC_PUSH(&list) = computation_of(all, i);
    }
    SORT(&list, by_result);
    for (size_t i = 0; i < list.count; i++) {
        struct computation wanted = list.at[i];
        wanted.stage += wanted.type == FORWARD_COMPUTE ? -1 : 1;
        const struct computation *found = rows_find(list.at, list.count, sizeof *list.at, by_result, &wanted);
        if (found)
            producer[list.at[i].op] = found->op;
    }
}

static bool has_separate_reduce(const struct operations *all)
{
    uint32_t type = operation_type_find(all, "separate-grads-all-reduce");
    return all->form == JOB_TIMELINE && type != OPERATION_NONE;
}

void links_find(const struct operations *all, struct graph_edges *edges, uint32_t *producer)
{
    struct linking linking = { .all = all, .edges = edges, .separate = has_separate_reduce(all) };
    linking.alike = mem_alloc(mem_times(all->count + 1, sizeof *linking.alike));
    linking.receives = mem_zalloc(all->count + 1, sizeof *linking.receives);
    struct turn turn = { 0 };
    for (turn.first = 0; turn.first < all->count; turn.first = turn.end) {
        turn.end = turn.first + 1;
        while (turn.end < all->count && all->at[turn.end].step == all->at[turn.first].step &&
               all->at[turn.end].rank == all->at[turn.first].rank)
            turn.end++;
        link_computations(&linking, &turn);
        link_messages(&linking, &turn);
        if (all->form == JOB_TIMELINE)
            link_ends_of_timeline(&linking, &turn);
        else
            link_end(&linking, &turn);
    }
    find_producers(all, producer);
    for (uint32_t i = 0; i < all->count; i++)
        if (!linking.receives[i])
            add_edge(&linking, i, producer[i]);
    VEC_FREE(&turn.computes);
    EACH(free, linking.alike, linking.receives);
}
