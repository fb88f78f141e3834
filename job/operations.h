/* operations.h - the operations of a job's pipeline. */
#ifndef TPA_JOB_OPERATIONS_H
#define TPA_JOB_OPERATIONS_H

#include "figures/gather.h"
#include "fleet/meetings.h"

/*
 * operations.c - what the ranks of a parallel job did: computations of microbatches, messages between stages, collectives.
 *
 *     struct operations *all = operations_open(facts, NULL, &steps, &err);
 *     for (size_t i = 0; i < all->count; i++)
 *         if (operation_computes(&all->at[i]))
 *             computed_ns += all->at[i].end_ns - all->at[i].start_ns;
 *     arena_free(all);
 *
 * Times are on one clock, from the start of the first recording. Operations are sorted by step, rank and start. A stage is one
 * of the model: with several chunks on a rank there are more stages than ranks in a pipeline.
 */

/* A rank is a member of a group in each dimension. */
enum job_dimension {
    JOB_DP, /* replicas of the model, or shards of its state */
    JOB_PP, /* stages */
    JOB_TP,
    JOB_CP,
    JOB_EP,
    JOB_DIMENSIONS,
    JOB_WORLD = JOB_DIMENSIONS, /* of communication: all ranks */
    JOB_NO_DIMENSION,           /* of communication: not known */
};

/* A coordinate, a stage or a microbatch that is not known. */
#define JOB_UNKNOWN INT64_MIN

struct job_rank {
    int64_t number;
    int64_t at[JOB_DIMENSIONS];
    uint32_t others
        [JOB_DIMENSIONS]; /* equal for ranks that are equal in all other dimensions: others[JOB_PP] is the pipeline */
};

/* Types of operations. From OPERATION_OTHER on they have a name in operations.types: "optimizer", "dp-all_reduce" ... */
enum operation_type {
    FORWARD_COMPUTE,
    BACKWARD_COMPUTE,
    WEIGHT_COMPUTE,
    FORWARD_SEND,
    FORWARD_RECV,
    BACKWARD_SEND,
    BACKWARD_RECV,
    OPERATION_OTHER,
};

#define OPERATION_NONE UINT32_MAX

struct operation {
    uint32_t type;
    uint32_t rank; /* index among the ranks */
    uint32_t step; /* index among the steps */
    uint32_t chunk;
    uint32_t serves; /* of a message: the computation that it leaves or reaches; OPERATION_NONE: not known */
    bool meets;      /* a collective: begins when those of other ranks do */
    int64_t start_ns, end_ns;
    int64_t microbatch, stage;
    int64_t number; /* of timelines: among equal ones of its rank and step */
};

static inline bool operation_computes(const struct operation *op)
{
    return op->type <= WEIGHT_COMPUTE;
}

static inline bool operation_is_message(const struct operation *op)
{
    return op->type >= FORWARD_SEND && op->type <= BACKWARD_RECV;
}

static inline bool operation_is_recv(const struct operation *op)
{
    return op->type == FORWARD_RECV || op->type == BACKWARD_RECV;
}

/* Is it a computation of a backward pass, or a message of one? */
static inline bool operation_is_backward(const struct operation *op)
{
    return op->type == BACKWARD_COMPUTE || op->type == WEIGHT_COMPUTE || op->type == BACKWARD_SEND ||
           op->type == BACKWARD_RECV;
}

/* A message or a collective as recorded, whether or not it is an operation. */
struct talk {
    uint32_t rank, step;
    uint32_t dimension; /* enum job_dimension */
    enum collective_kind kind;
    int64_t start_ns, end_ns;
    int64_t exposed_ns; /* the part in which nothing else ran on the devices of the rank */
};

static inline bool talk_is_message(const struct talk *talk)
{
    return talk->kind == COLLECTIVE_SEND || talk->kind == COLLECTIVE_RECV;
}

/* A collection of garbage by Python. */
struct collection {
    uint32_t rank, step;
    int64_t start_ns, end_ns;
};

enum job_form {
    JOB_OF_DEVICES,
    JOB_OF_HOSTS, /* nothing ran on devices: operators compute, gloo communicates */
    JOB_TIMELINE, /* slices are operations; those of communication are their transfers only */
};

struct operations {
    VEC_OF(struct operation);
    VEC_OF(struct job_rank) ranks; /* by number */
    VEC_OF(int64_t) steps;         /* numbers, ascending */
    VEC_OF(struct talk) talks;
    VEC_OF(struct collection) collections;
    struct names *types; /* the type less OPERATION_OTHER is the id */
    enum job_form form;
    bool marked;                  /* marks name the microbatches; else they are counted */
    bool corrected;               /* the clocks of the hosts differ, and were corrected */
    int64_t size[JOB_DIMENSIONS]; /* coordinates that there are; 0: none is known */
    int64_t world_size;           /* as recorded; 0: not known */
    int64_t left_out;        /* recordings: other ones of the same ranks, of other jobs, or without a rank */
    int64_t incomplete;      /* ranks with a recording that is cut short, damaged, or lost records */
    int64_t incomplete_rank; /* the first of them */
};

#define OPERATIONS_WANTS                                                                                     \
    (COLLECTIVES_WANTS | WANT(STEP) | WANT(SEQ_ID) | WANT(MICROBATCH) | WANT(MODEL_CHUNK))

/* Those of STEPS in FACTS, which are finished and were gathered with job_gather: the ranks are those of
 * fleet_job_init. FILES: their collectives, or clocks, if these are in files apart; else NULL. The rows of
 * FACTS_OPERATIONS are gone afterwards, for room. New; free with arena_free (NULL is allowed). NULL and
 * ERR if facts of a rank have no operations, or a file cannot be read. */
struct operations *operations_open(struct facts *facts, const struct fleet_files *files,
                                   const struct ranges *steps, struct tpa_error *err);

/* gather.c: reads the operations of the files of a trace, whose arguments OPERATIONS_WANTS are there. */
extern const struct gather_operations job_gather;

/* Leave in FACTS only what operations_open needs. */
void operations_trim(struct facts *facts);

/* The kind of a collection of garbage in FACTS_OPERATIONS. */
#define JOB_COLLECTION "gc"

/* The name of TYPE, an enum operation_type below OPERATION_OTHER, and that of a form. */
const char *operation_type_word(uint32_t type);
const char *job_form_name(enum job_form form);

/* "forward-compute", "dp-all_reduce". Borrowed. */
const char *operation_type_name(const struct operations *all, uint32_t type);

/* The type with NAME; OPERATION_NONE if there is none. */
uint32_t operation_type_find(const struct operations *all, const char *name);

/* "dp"; "world"; "-" */
const char *job_dimension_name(unsigned dimension);

/* operations_read.c - parts of operations_open: see operations.h. */

/* ---- timeline.c ---- */

/* Set the stages of operations, and what messages serve. */
void timeline_find_served(struct operations *all);

/* ---- coordinates.c ---- */

/* The coordinates of all ranks are known: count sizes, and compare ranks. */
void coordinates_finish(struct operations *all, bool has_pipeline);

#endif
