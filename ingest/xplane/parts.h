/*
 * parts.h - what the files of the XSpace reader share; for xplane*.c only.
 *
 * xplane.c walks the file: planes, their names, their lines. names.c keeps the two tables of a plane that ids
 * point to. event.c makes an event of the trace out of an XEvent. work.c keeps
 * which operator a launch was for.
 */
#ifndef TPA_INGEST_XPLANE_PARTS_H
#define TPA_INGEST_XPLANE_PARTS_H

#include "ingest/whole.h"
#include "ingest/xla_details.h"
#include "ingest/xplane/hlo.h"

/* Stats that mean something to us: one row each, by the name in the file. */
#define XPLANE_STATS(STAT)                                                                                   \
    STAT(CORRELATION, "correlation_id")                                                                      \
    STAT(KERNEL_DETAILS, "kernel_details")                                                                   \
    STAT(MEMCPY_DETAILS, "memcpy_details")                                                                   \
    STAT(MEMSET_DETAILS, "memset_details")                                                                   \
    STAT(HLO_OP, "hlo_op")                                                                                   \
    STAT(TF_OP, "tf_op")                                                                                     \
    STAT(HLO_MODULE, "hlo_module")                                                                           \
    STAT(PROGRAM_ID, "program_id")                                                                           \
    STAT(GRAPH_ID, "cuda_graph_id")                                                                          \
    STAT(GRAPH_NODE_ID, "cuda_graph_node_id")                                                                \
    STAT(STEP_NUM, "step_num")                                                                               \
    STAT(STEP_NAME, "step_name")                                                                             \
    STAT(GROUP_ID, "group_id")                                                                               \
    STAT(RUN_ID, "run_id")                                                                                   \
    STAT(DEVICE_ORDINAL, "device_ordinal")                                                                   \
    STAT(INDEX_ON_HOST, "index_on_host")                                                                     \
    STAT(ALLOCATOR, "allocator_name")                                                                        \
    STAT(ADDRESS, "addr")                                                                                    \
    STAT(ALLOCATION_BYTES, "allocation_bytes")                                                               \
    STAT(REQUESTED_BYTES, "requested_bytes")                                                                 \
    STAT(BYTES_ALLOCATED, "bytes_allocated")                                                                 \
    STAT(BYTES_RESERVED, "bytes_reserved")                                                                   \
    STAT(BYTES_AVAILABLE, "bytes_available")                                                                 \
    STAT(FLOPS, "flops")                                                                                     \
    STAT(MODEL_FLOPS, "model_flops")                                                                         \
    STAT(BYTES_ACCESSED, "bytes_accessed")                                                                   \
    STAT(PRODUCER_TYPE, "_pt")                                                                               \
    STAT(PRODUCER_ID, "_p")                                                                                  \
    STAT(CONSUMER_TYPE, "_ct")                                                                               \
    STAT(CONSUMER_ID, "_c")

enum xplane_stat {
#define XPLANE_STAT_CONSTANT(id, text) STAT_##id,
    XPLANE_STATS(XPLANE_STAT_CONSTANT)
#undef XPLANE_STAT_CONSTANT
        STAT_COUNT,
    STAT_UNKNOWN = STAT_COUNT
};

/* The value of a stat. Numbers of every type are in NUMBER, too, when they are integers. */
struct xplane_value {
    bool is_number;
    int64_t number;
    struct wire_text text; /* str, or what a reference points to */
};

/* The stats of an event that mean something. */
struct xplane_stats {
    uint32_t present; /* bit 1 << STAT_... */
    struct xplane_value at[STAT_COUNT];
};
_Static_assert(STAT_COUNT <= 32, "xplane_stats.present is one bit per stat");

/* Does the event have STAT? */
static inline bool xplane_has(const struct xplane_stats *stats, enum xplane_stat stat)
{
    return stats->present >> stat & 1;
}

/* The integer that STAT tells, in *NUMBER; false when it tells none. */
bool xplane_number(const struct xplane_stats *stats, enum xplane_stat stat, int64_t *number);

/* ---- what ids point to ---- */

struct xplane_stat_name {
    struct wire_text text;
    uint8_t meaning; /* enum xplane_stat */
};

struct xplane_event_name {
    name_id id, long_id; /* the chunk's, valid in SERIAL; LONG_ID: of the text NAME, NAME_NONE: none yet */
    uint32_t serial;     /* of the reader; 0: none yet */
    uint32_t step;       /* 1 + index of the reader's device_steps; 0: not looked up yet; or NO_STEP */
    uint32_t first_stat,
        stat_count;             /* of the plane's NAME_STATS: what is the same for all events of this name */
    bool is_twin;               /* "end: ...", see event.c */
    bool is_allocation;         /* an allocator's event, */
    bool is_free;               /* which frees */
    bool is_context;            /* TensorFlow's "TraceContext" */
    bool is_jax, is_tensorflow; /* who has events of this name */
    struct wire_text name, display;
};

#define NO_STEP UINT32_MAX

/* A stat of a name that means something. */
struct xplane_name_stat {
    enum xplane_stat stat;
    struct xplane_value value;
};

enum xplane_plane_kind {
    PLANE_HOST,
    PLANE_GPU,
    PLANE_TPU, /* operators of HLO by themselves, with no streams */
};

struct xplane_program {
    int64_t start_ns, end_ns, correlation; /* correlation -1: none */
};

struct xplane_plane {
    struct wire_text name;
    enum xplane_plane_kind kind;
    int64_t pid, number; /* number: N of "/device:GPU:N" */
    struct wire fields;  /* all of it */
    struct id_table stat_ids, event_ids;
    VEC_OF(struct xplane_stat_name) stat_names;
    VEC_OF(struct xplane_event_name) event_names;
    VEC_OF(struct wire) name_fields; /* by event name: its entry */
    VEC_OF(struct xplane_name_stat) name_stats;
    VEC_OF(struct wire) stats; /* its own */
    /* The programs that ran on a TPU, by start: their operators belong to their launch. */
    VEC_OF(struct xplane_program) programs;
    size_t last_program; /* where the last look-up ended */
    bool has_lines;
    bool lines_come_first; /* all that they need stands behind them: what was read of them can go */
    bool is_cut;           /* the file ends in its middle */
};

/* Read the two tables of PLANE, whose fields are known, and keep what they point to. Free them with xplane_names_release. */
void xplane_names_read(struct whole *whole, struct xplane_plane *plane);
void xplane_names_release(struct xplane_plane *plane);

/* Read the XStat at IN. False: it means nothing to us. */
bool xplane_stat_read(const struct xplane_plane *plane, struct wire in, enum xplane_stat *stat,
                      struct xplane_value *value);

/* Read the XStat of LEN bytes at AT, the same; it may be more than one field of an event, of which the last counts. */
void xplane_stat_take(const struct xplane_plane *plane, const uint8_t *at, size_t len, const uint8_t *end,
                      struct xplane_stats *stats);

/* Text of the stat of PLANE itself called NAME: numbers in *VALUE, texts, too. False when it has none. */
bool xplane_plane_stat(const struct xplane_plane *plane, const char *name, struct xplane_value *value);

/* ---- events ---- */

/* A span that says which step it is. */
struct xplane_step {
    int64_t number, start_ns, end_ns;
};

struct xplane_allocator {
    struct wire_text name;
    int64_t type, id; /* of the device, as the framework numbers them */
};

/* Details that were read, by their position in the file. */
struct xplane_known_details {
    struct wire_text text;
    struct xla_details details;
};

/* An operator that launches were for: its name in the chunk, valid in SERIAL. */
struct xplane_operator {
    name_id id;
    uint32_t serial;          /* of the reader; 0: none yet */
    struct hlo_operator *hlo; /* NULL: unknown */
};

/* The same by the position of its texts in the file. */
struct xplane_known_operator {
    struct wire_text operation, module;
    int64_t program; /* -1: unknown */
    uint32_t id;
};

struct xplane_work_page;

struct xplane_reader {
    struct trace_builder *builder;
    struct trace_chunk *chunk;
    const struct ingest_options *options;
    struct tpa_error *err;
    struct whole whole;
    struct buffer text;                    /* a name in the making */
    struct buffer line_name, line_display; /* of the line that is read */
    uint32_t serial;                       /* counts how often the chunk was emptied, from 1 */
    bool is_jax, is_tensorflow, is_amd;
    uint64_t host_steps;
    uint16_t no_category, kernel, copy, memset, annotation, grouping, operation, runtime, driver, tpu_runtime,
        instant;
    struct xplane_known_details details[256];
    VEC_OF(struct xplane_step) device_steps; /* one by number */
    struct id_table step_places;             /* number -> index of device_steps */
    VEC_OF(struct xplane_allocator) allocators;
    struct hlo_programs hlo;
    /* What launches were for, see work.c. */
    struct names *operator_names;             /* NULL: none yet */
    VEC_OF(struct xplane_operator) operators; /* by id of these */
    VEC_OF(struct xplane_work_page) work_pages;
    struct id_table work_page_of;
    struct xplane_known_operator known_operators[512];
};

struct xplane_line {
    int64_t id, timestamp_ns;
    struct wire_text name, display;
    uint64_t order;  /* in its plane, from 1 */
    track_id track;  /* TRACK_NONE: nothing lies on it yet */
    bool is_derived; /* made by a reader out of other lines */
    bool is_steps;   /* of a device */
    bool is_work;    /* of a TPU: operators that belong to a program */
    /* The event of the host that began last and is no call: its name, valid in SERIAL of the reader, and its end. */
    name_id last_name;
    uint32_t last_serial;
    int64_t last_end_ns;
};

/* Offset in the file, for notices. */
static inline int64_t xplane_offset(const struct xplane_reader *reader, const uint8_t *at)
{
    return at - reader->whole.at;
}

/* Set the categories of events. */
void xplane_event_init(struct xplane_reader *reader);

/* Begin and end of a span in ns: both are rounded down, so that what nests in picoseconds nests in nanoseconds and order
 * stays. False: it is out of range. */
bool xplane_span(const struct xplane_line *line, int64_t offset_ps, int64_t duration_ps, int64_t *start_ns,
                 int64_t *end_ns);

/* The parts of an XEvent. */
struct xplane_event {
    uint64_t metadata_id;
    int64_t offset_ps, duration_ps;
    bool is_sum; /* it tells how often something happened, and not when */
    struct xplane_stats stats;
};
/* Read the XEvent that FIELD holds, which was read last of LINE, a message in WHOLE. False: it is damaged. */
bool xplane_event_read(struct whole *whole, const struct xplane_plane *plane, const struct wire *line,
                       const struct wire_field *field, struct xplane_event *event);

/* Add EVENT, which was read from AT on, to the chunk. */
void xplane_event_add(struct xplane_reader *reader, struct xplane_plane *plane, struct xplane_line *line,
                      struct xplane_event *event, const uint8_t *at);

/* The operator that an event with STATS names: of HLO; else of TensorFlow, "dense/MatMul:MatMul" in tf_op, which says
 * "XlaModule:" and the like where there is none. Its length is 0 where there is none. */
struct wire_text xplane_operator(const struct xplane_stats *stats);

/* Keep the operator of an event on a GPU with STATS, when they name one, for the call that launched it. */
void xplane_work_record(struct xplane_reader *reader, const struct xplane_stats *stats);

/* The same for all events of PLANE, a GPU's, whose fields are known; nothing else is read of it. */
void xplane_work_scan(struct xplane_reader *reader, struct xplane_plane *plane);

/* The operator that a call with STATS launched for, as a name of the chunk: "jit_step/dot.1", as operators of
 * several programs have one name. The call says it, or its work did; *HLO is what its program says of it, or
 * NULL. False: unknown, or several. */
bool xplane_work_operator(struct xplane_reader *reader, const struct xplane_stats *stats, name_id *name,
                          struct hlo_operator **hlo);

/* What its program says of the operator of XLA that STATS name; NULL: nothing. */
struct hlo_operator *xplane_hlo(struct xplane_reader *reader, const struct xplane_stats *stats);

/* Does the user want something of what programs tell? */
bool xplane_wants_hlo(const struct xplane_reader *reader);

/* Free the operators that were kept. */
void xplane_work_release(struct xplane_reader *reader);

/* Add a step as a span of its own on TRACK. */
void xplane_step_add(struct xplane_reader *reader, track_id track, const struct xplane_step *step);

/* The number that a launch of RUN on TPU has, so that work and launch can be joined. */
int64_t xplane_launch_number(int64_t device, int64_t run);

#endif
