/*
 * parts.h - what the files of top's analysis share; for analyze/top*.c only.
 *
 *     top.c         the way through: who takes part, the tree, host times, GPU work
 *     top_names.c   what follows from a name alone
 *     top_links.c   which operator launched what, and on which thread torch counts a call
 *     top_stacks.c  Python stacks of the backward pass
 *     top_rows.c    which row an event belongs to
 *     top_memory.c  [memory] records
 *     top_float.c   torch's own arithmetic, for its own text
 *     top_table.c   columns, footers, notices
 */
#ifndef TPA_ANALYZE_TOP_PARTS_H
#define TPA_ANALYZE_TOP_PARTS_H

#include "facts/code_paths.h"
#include "analyze/top/top.h"
#include "base/memory.h"
#include "trace/calltree.h"
#include "facts/attribution.h"
#include "facts/step_list.h"

/* How an event takes part. */
enum top_role {
    ROLE_NONE,
    ROLE_CALL,          /* a node of the call tree */
    ROLE_ASYNC,         /* on the host, but on no thread's stack: has a total and nothing else */
    ROLE_DEVICE,        /* on a device */
    ROLE_MEMORY,        /* a [memory] record */
    ROLE_OUT_OF_MEMORY, /* an [OutOfMemory] record: a node without duration */
};

/* What follows from a name. */
enum top_name_flags {
    NAME_DROPPED = 1,   /* torch leaves it out */
    NAME_MEMORY = 2,    /* [memory] */
    NAME_NO_MEMORY = 4, /* [OutOfMemory] */
    NAME_ASYNC = 8,     /* begins like a region that c10d flags asynchronous */
    NAME_FLOPS = 16,    /* torch counts its operations */
    NAME_GRAPH = 32,    /* launches a graph */
    NAME_RECORD = NAME_MEMORY | NAME_NO_MEMORY,
};

struct top_names {
    uint32_t *key_of;          /* by name_id: row key; equal for what torch gives one name */
    uint32_t *operator_key_of; /* the same for operators, whose names may carry an overload */
    uint8_t *flags;            /* enum top_name_flags */
    uint8_t any_flags;         /* of all names together */
    struct names *keys;        /* texts of the keys; copied */
    bool *wanted;              /* by key: do --filter and --exclude keep it? */
};

#define ROW_NONE UINT32_MAX

/* Alone, these make rows that hold both what ran on the host and what it launched. */
#define TOP_BOTH_SIDES (TOP_STEP | TOP_MODULE | TOP_LINE)

/* What tells rows apart: equal bytes, same row. Parts that are not asked for stay 0. */
struct row_key {
    uint32_t name; /* in top_names.keys */
    uint16_t on_device, is_annotation;
    uint32_t shape; /* in top->texts, as are stack and overload */
    uint32_t stack;
    uint32_t overload;
    uint32_t category; /* + 1, as the ones below */
    uint32_t track;
    uint32_t device; /* file and device together: index of a track of it + 1 */
    uint32_t step;   /* in top->texts */
    uint32_t module; /* in top->texts, + 1, as line */
    uint32_t line;
    uint32_t file;
};

/* In top->state: a caller of this node is in the same row, whose totals hold what the node took. */
enum { NODE_COVERED = 4 };

struct top_row {
    struct row_key key;
    /* Where torch would list it: the first of its events by (start, -end, order). */
    uint32_t first_file;
    int64_t first_start_ns, first_end_ns;
    uint64_t first_order;
    event_id first_event;
    bool first_is_async, first_has_parent;
    int64_t count, cpu_ns, self_cpu_ns, device_ns, self_device_ns;
    int64_t cpu_bytes, self_cpu_bytes, device_bytes, self_device_bytes, flops;
    uint64_t seen;         /* the last kernel that was added, where each counts once */
    node_id covered_until; /* nodes before this one are callees of one that is in the row */
};

/* The same figures as torch has them: float64 microseconds, added up in the order torch adds. */
struct top_float_row {
    double cpu_us, self_cpu_us, device_us, self_device_us;
};

struct top_file {
    bool is_torch; /* torch's rules about threads and regions that were open at the end apply */
    bool has_gpu, counts_flops;
};

/* A gpu_user_annotation as long as the work it covers; Kineto writes it wider. */
struct narrowed {
    event_id event;
    int64_t start_ns, end_ns;
};

/* A call without operator whose correlation is the id of an operator: torch takes it for that operator. */
struct lookalike {
    uint32_t process; /* of launches.h */
    int64_t id;
    event_id call;
};

/* What the notices tell. */
struct top_counts {
    uint64_t unlinked_gpu, callless_gpu, graph_gpu; /* without operator, without call, out of graphs */
    int64_t unlinked_gpu_ns, callless_gpu_ns, graph_gpu_ns;
    uint64_t lost_gpu; /* of operators that were folded */
    int64_t lost_gpu_ns;
    uint64_t moved_calls, unfinished, guessed_async;
};

struct top {
    const struct trace *trace;
    const struct top_options *options;
    unsigned by;
    bool per_call; /* rows are named by operators: nested calls of one row all count, as in torch */
    struct top_file *files;
    struct top_names names;
    struct names *texts;           /* of shapes, stacks ... */
    const struct step_list *steps; /* NULL when nobody asks, as modules and lines */
    struct code_paths *modules, *lines;
    struct attribution *launches;
    track_id *stop_thread; /* by process of launches.h: where its unlinked calls are counted */
    struct calltree *tree;
    uint8_t *state;        /* enum node_state and NODE_COVERED, by node */
    uint32_t *row_of_node; /* ROW_NONE: counted in no row */
    int64_t *launched_ns;  /* by node, while devices are counted: the work it launched; NULL: none so far */
    node_id *node_of;      /* by event */
    VEC_OF(struct top_row) rows;
    struct top_float_row *float_rows;    /* by row; NULL unless asked for */
    VEC_OF(struct narrowed) narrowed;    /* by event */
    VEC_OF(struct lookalike) lookalikes; /* by process, id, event */
    uint8_t *lookalike_filter;           /* a bit per id modulo LOOKALIKE_BITS; NULL when there are none */
    struct top_counts counts;
    uint8_t *role;         /* enum top_role, by event */
    uint64_t *selected;    /* a bit per event that is in the range or step asked for; NULL: all are */
    uint64_t *leftovers;   /* a bit per [memory] record that is a row of its own; NULL unless float_times */
    event_id *stack_event; /* by event: whose stack it is listed under; NULL: its own */
    bool has_device, has_memory, has_flops;
    int64_t self_device_ns; /* of all rows on devices that are no annotations */
    struct row_maker *row_maker;
};

enum { LOOKALIKE_BITS = 1 << 16 };

/*
 * Sums of a file's figures, which may be absurd: they wrap around, so that taking away what was added
 * always gives back what was there.
 */
static inline int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline void add_to(int64_t *sum, int64_t value)
{
    *sum = plus(*sum, value);
}

/* ---- top.c ---- */

static inline enum top_role top_role(const struct top *top, event_id e)
{
    return top->role[e];
}

/* Is E in the range or step asked for? */
static inline bool top_is_selected(const struct top *top, event_id e)
{
    return !top->selected || top->selected[e / 64] >> (e % 64) & 1;
}

/* Where E comes in torch's list among events that start and end alike. */
uint64_t top_order(const struct top *top, event_id e);

/* End of a host event: torch ends what was still open where recording stopped. */
int64_t top_end_ns(const struct top *top, event_id e);

/* The step that E, or the call that launched it, began in; NULL when in none. Needs top->steps. */
const struct step *top_step_of(const struct top *top, event_id e);

/* Does what E takes count once in a row that has a caller of it, too? */
bool top_counts_once(const struct top *top, event_id e);

/* Is E a Python frame (not one of the collector's pauses, which have the same category)? */
bool top_is_frame(const struct top *top, event_id e);

static inline uint32_t top_file_of(const struct top *top, event_id e)
{
    return top->trace->file_count == 1 ? 0 : top->trace->tracks[top->trace->track[e]].file;
}

static inline uint32_t top_key_of(const struct top *top, event_id e)
{
    name_id name = top->trace->name[e];
    return top->trace->kind[e] == EVENT_OP ? top->names.operator_key_of[name] : top->names.key_of[name];
}

/* ---- top_names.c ---- */

void top_names_open(struct top_names *names, const struct trace *trace, const struct top_options *options);
void top_names_release(struct top_names *names);

/* ---- top_links.c ---- */

/* Find the processes' stopping threads and the links of calls; put calls on the threads torch counts them on. */
void top_link_calls(struct top *top);

/* The link of a device event; the calls that torch takes for its operator too are those from
 * *LOOKALIKE on, as long as top_is_lookalike; *LOOKALIKE == top->lookalikes.count for none. */
struct launch_link top_link(const struct top *top, event_id e, const int64_t *external_id,
                            const int64_t *correlation, size_t *lookalike);

/* Does the lookalike at I stand for the same operator as the one at FIRST? */
static inline bool top_is_lookalike(const struct top *top, size_t first, size_t i)
{
    return i < top->lookalikes.count && top->lookalikes.at[i].process == top->lookalikes.at[first].process &&
           top->lookalikes.at[i].id == top->lookalikes.at[first].id;
}

/* Undo Kineto's widening of annotations on streams. */
void top_narrow_annotations(struct top *top);

/* ---- top_stacks.c ---- */

/* Give operators of a backward pass the stack of the operator of the forward pass that they belong to. */
void top_borrow_stacks(struct top *top);

/* ---- top_rows.c ---- */

void top_rows_open(struct top *top);
void top_rows_close(struct top *top);

/* The row of event E, which is to be counted there; ROW_NONE when it is counted in no row. */
uint32_t top_row_of(struct top *top, event_id e);

/* Count a call of event E in ROW. */
void top_row_count(struct top *top, uint32_t row, event_id e, int64_t start_ns, int64_t end_ns,
                   uint64_t order, bool is_async, bool has_parent);

/* ---- top_memory.c ---- */

void top_memory(struct top *top);

/* ---- top_float.c ---- */

void top_float(struct top *top);

/* ---- top_table.c ---- */

struct result *top_result(struct top *top);

void top_give_rows(struct top *top, top_take *take, void *context);

#endif
