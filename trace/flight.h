/*
 * flight.h - dumps of the Flight Recorder of PyTorch's process groups: the last operations of each rank of a job.
 *
 *     for (size_t d = 0; d < flight->dumps.count; d++) {
 *         const struct flight_dump *dump = &flight->dumps.at[d];
 *         for (size_t e = dump->first; e < dump->first + dump->count; e++)
 *             ... flight->entries.at[e].seq, flight_op(flight, e)->text ...
 *     }
 *
 * A dump is the file of one rank; its entries are in the order in which the process issued the operations. Texts, lists
 * of ranks, names of operations and sizes are kept once: the dumps of a large job repeat them.
 */
#ifndef TPA_TRACE_FLIGHT_H
#define TPA_TRACE_FLIGHT_H

#include "base/arena.h"
#include "base/memory.h"
#include "base/names.h"

/* Numbers of ranks, and of operations in a group, that are believed. */
#define FLIGHT_MOST_RANKS 1048576
#define FLIGHT_MOST_SEQ (INT64_C(1) << 40)
#define FLIGHT_NO_LIST UINT32_MAX
#define FLIGHT_NO_RANK UINT32_MAX

/* What an entry says about its operation; its writer decides how `state` and `retired` are read. */
enum flight_status {
    FLIGHT_PENDING, /* issued and not over */
    FLIGHT_DONE,
    FLIGHT_FAILED, /* timed out or aborted */
    FLIGHT_ENDED,  /* over, well or badly (gloo) */
    FLIGHT_ISSUED, /* whether it is over is not recorded (backends that report no completion), or not understood */
};

enum flight_writer {
    FLIGHT_DEVICE, /* nccl, rccl and the like */
    FLIGHT_GLOO,
    FLIGHT_HOOK, /* any other: c10d's FlightRecorderHook */
};

enum flight_kind {
    FLIGHT_OTHER,
    FLIGHT_ALL_REDUCE,
    FLIGHT_REDUCE_SCATTER,
    FLIGHT_ALL_GATHER,
    FLIGHT_ALL_TO_ALL,
    FLIGHT_BARRIER,
    FLIGHT_BROADCAST,
    FLIGHT_REDUCE,
    FLIGHT_GATHER,
    FLIGHT_SCATTER,
};

/* A distinct `profiling_name`. */
struct flight_op {
    name_id text; /* without the backend: "all_reduce", "send 0->3" */
    enum flight_writer writer;
    enum flight_kind kind;
    bool needs_all; /* it can end nowhere before every member has entered it */
    bool base;      /* its name contains "_base" */
    bool p2p;       /* a send or receive */
    bool sends;
    uint32_t peer; /* p2p: place of the other rank in the list of the group; FLIGHT_NO_RANK: not recorded */
};

/* Distinct sizes and types of an operation. Counts are elements per tensor. */
struct flight_shape {
    const int64_t *in, *out;
    uint32_t in_count, out_count;
    name_id types;     /* of inputs and outputs, sorted: "BFloat16, Float"; NAME_NONE: none recorded */
    name_id sizes;     /* "[64] -> [256]" */
    int64_t first_out; /* first dimension of the first output; 0: none */
};

struct flight_entry {
    int64_t record; /* its number in the process */
    int64_t seq;    /* collective_seq_id */
    int64_t op_id;
    int64_t created_ns;
    uint32_t group; /* of the groups of its dump */
    uint32_t op, shape;
    name_id call;        /* "train.py:88", the innermost frame outside of PyTorch; NAME_NONE */
    uint32_t timeout_ms; /* 0: not recorded */
    uint8_t status;      /* enum flight_status */
    bool started;        /* the device is in it */
    bool p2p;
    bool after_p2p; /* sends or receives came before it in its group */
};

/* A group as a dump names it. */
struct flight_group {
    name_id name, desc;
    uint32_t list;   /* of the lists: its ranks by place; FLIGHT_NO_LIST: pg_config does not tell */
    bool configured; /* it is in pg_config */
    bool has_id;
    bool ids_differ; /* its entries have several ids */
    int64_t id;      /* pg_id of its entries */
};

struct flight_standing {
    int64_t id;                           /* pg_id */
    int64_t enqueued, started, completed; /* -1: none */
};

struct flight_dump {
    const char *path, *folder, *prefix; /* PREFIX: the name before the number of the rank */
    uint32_t rank;
    bool is_json;
    bool names_library;  /* its comm_lib_version or nccl_version is not empty */
    size_t first, count; /* entries */
    size_t first_group, group_count;
    size_t first_standing, standing_count;
    uint32_t
        empty_name_list; /* list of the pg_config without a name, which gloo writes; FLIGHT_NO_LIST: none */
    int64_t latest_ns;   /* latest stamp */
    name_id version;
    bool
        is_known_version; /* its major number is that of the versions that are read: minor ones only add keys */
    bool
        has_no_list; /* a pickle without `entries`: written without its operations, as JSON is that has none */
    bool has_stamps; /* its entries tell processes apart: by threads, or by stamps that are finer than 1 us */
    size_t unknown_states; /* entries whose state is none of the three */
    name_id unknown_state; /* of the first of them */
    uint64_t hash;         /* of entries and standings: copies of a dump have the same */
};

/* A file that should be a dump and cannot be read, or is another one of a rank that has a newer one. */
struct flight_unreadable {
    const char *path, *folder, *prefix;
    uint32_t rank; /* FLIGHT_NO_RANK: its name does not tell */
    const char *reason;
};

struct flight_list {
    const uint32_t *ranks;
    size_t count;
};

struct flight {
    VEC_OF(struct flight_dump) dumps; /* by folder, prefix and rank */
    VEC_OF(struct flight_entry) entries;
    VEC_OF(struct flight_group) groups;
    VEC_OF(struct flight_standing) standings;
    VEC_OF(struct flight_unreadable) unreadable, older;
    VEC_OF(struct flight_list) lists;
    VEC_OF(struct flight_op) ops;
    VEC_OF(struct flight_shape) shapes;
    struct names *texts;
    /* for readers: keys of ops, shapes and lists, which have the same numbers; texts of lists and their numbers */
    struct names *op_names, *shape_keys, *list_keys, *list_texts;
    VEC_OF(uint32_t) list_by_text;
    size_t passed_over; /* files that are no dumps */
    size_t copies;      /* files that are copies of a dump of the same rank beside them */
    struct arena arena;
};

/* New, empty; free with flight_free (NULL is allowed). */
struct flight *flight_open(void);
void flight_free(struct flight *flight);

/* Number in `ops` of the profiling name of LEN bytes at NAME, with the text before the last colon as backend. */
uint32_t flight_op_of(struct flight *flight, const char *name, size_t len);

static inline const struct flight_op *flight_op(const struct flight *flight, size_t entry)
{
    return &flight->ops.at[flight->entries.at[entry].op];
}

static inline const struct flight_shape *flight_shape(const struct flight *flight, size_t entry)
{
    return &flight->shapes.at[flight->entries.at[entry].shape];
}

static inline const char *flight_text(const struct flight *flight, name_id id)
{
    return names_text(flight->texts, id);
}

#endif
