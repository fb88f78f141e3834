/* top.h - operations and kernels by time, and what the files of this folder share. */
#ifndef TPA_ANALYZE_TOP_TOP_H
#define TPA_ANALYZE_TOP_TOP_H

#include "analyze/selection.h"
#include "derive/step_list.h"
#include "derive/async_regions.h"
#include "analyze/group.h"
#include "base/sum.h"
#include "derive/device_types.h"
#include "derive/code_paths.h"
#include "derive/unlinked_work.h"
#include "trace/time_scan.h"
#include "base/bits.h"

/* the options of top: what makes a row, and which events count. */

/* What makes a row. Operators, shapes, stacks and kernels name it; the others tell rows of one name apart or, alone,
 * make one row of all that happens in one place. */
enum top_dimension {
    TOP_OPERATOR = 1, /* name, device type, annotation or not: torch's key */
    TOP_SHAPE = 2,    /* ... and the shapes of the inputs */
    TOP_STACK = 4,    /* ... and the innermost frames of the Python stack */
    TOP_OVERLOAD = 8, /* ... and the overload: add.Tensor, add.out */
    TOP_KERNEL = 16,  /* kernels, copies and memsets only */
    TOP_CATEGORY = 32,
    TOP_THREAD = 64,
    TOP_STREAM = 128,
    TOP_DEVICE = 256,
    TOP_STEP = 512,
    TOP_RANK = 1024,   /* which file; alone, it tells operators apart */
    TOP_MODULE = 2048, /* the innermost nn.Module; of the backward pass, that of its forward operator */
    TOP_LINE = 4096,   /* the innermost function outside PyTorch, likewise */
    TOP_CYCLE = 8192,  /* which recording of its rank; alone, it tells operators apart */
};

/* Alone, these make rows that hold both what ran on the host and what it launched. */
#define TOP_BOTH_SIDES (TOP_STEP | TOP_MODULE | TOP_LINE)

/* Where they differ and the file does not record its version. */
enum torch_version {
    TORCH_UNKNOWN, /* as 2.14 */
    TORCH_2_14,
    TORCH_2_15, /* a runtime call without an operator has no kernels, whatever its number */
};

struct top_options {
    unsigned by;          /* set of enum top_dimension; 0 is TOP_OPERATOR */
    unsigned stack_depth; /* frames TOP_STACK looks at; 0 is 5 */
    /* By TOP_STEP, the steps there are: what happens in none of them is in no step. NULL: all of the trace. Borrowed. */
    const struct step_list *steps;
    bool python;         /* rows for Python frames too (include_python_functions=True) */
    bool without_memory; /* no figures of memory: who requests times need not wait for them */
    bool float_times;    /* also the figures torch's own text is made of, in its arithmetic */
    enum torch_version torch;
    /* Only what it holds; NULL: everything. GPU work is held when the call that launched it is (its own
     * start decides when that is not in the file). Names are not its business but those of: */
    const struct selection *selection;
    const char *filter,
        *exclude; /* regular expressions, known to be right, over the names of rows; NULL: none */
};

/* names.c - what follows from an event's name alone, computed once per name. */

enum top_name_flags {
    NAME_DROPPED = 1,   /* torch leaves it out */
    NAME_MEMORY = 2,    /* [memory] */
    NAME_NO_MEMORY = 4, /* [OutOfMemory] */
    NAME_ASYNC = 8,     /* begins like a region that c10d flags asynchronous */
    NAME_FLOPS = 16,    /* torch counts its operations */
    NAME_GRAPH = 32,    /* launches a graph */
    NAME_FORKED = 64,   /* what TorchScript calls a function that torch.jit.fork started */
    NAME_STEP = 128,    /* a step's: ProfilerStep#3 */
    NAME_RECORD = NAME_MEMORY | NAME_NO_MEMORY,
};

struct top_names {
    uint32_t *key_of;          /* by name_id: row key; equal for what torch gives one name */
    uint32_t *operator_key_of; /* the same for operators, whose names may carry an overload */
    uint8_t *flags;            /* enum top_name_flags */
    uint8_t any_flags;         /* of all names together */
    struct names *keys;        /* texts of the keys; copied */
    uint32_t *
        captured_key; /* by text of a capture (derive/code_paths.h): row key of the operator; NULL: none was given */
    bool *wanted; /* by key: do --filter and --exclude keep it? NULL: all are kept */
};

/* Compute the keys of all names of TRACE. */
void top_names_open(struct top_names *names, const struct trace *trace, const struct top_options *options);

/*
 * events.c - first stage of top: the query, and how each event counts. Later stages read it and change nothing.
 *
 *     names.c    what follows from a name
 *     events.c   how each event counts
 *     links.c    which operator launched what, and on which thread torch counts a call
 *     calls.c    who called whom
 *     rows.c     which row an event belongs to
 *     host.c, device.c, memory.c, float.c    the figures of the rows; in torch's own arithmetic, too
 *     top.c      all of it in order, and the rows as a table
 */

/* How an event counts. */
enum top_role {
    ROLE_NONE,
    ROLE_CALL,          /* a node of the call tree */
    ROLE_ASYNC,         /* on the host, but on no thread's stack: has a total and nothing else */
    ROLE_DEVICE,        /* on a device */
    ROLE_MEMORY,        /* a [memory] record */
    ROLE_OUT_OF_MEMORY, /* an [OutOfMemory] record: a node without duration */
};

struct top_file {
    bool is_torch; /* torch's rules about threads and regions that were open at the end apply */
    bool has_gpu, counts_flops;
};

struct top_events {
    const struct trace *trace;
    const struct top_options *options;
    unsigned by;   /* set of enum top_dimension, never empty */
    bool per_call; /* rows are named by operators: nested calls of one row all count, as in torch */
    struct top_names names;
    const struct open_regions *open;
    struct top_file *files;
    uint8_t *role;          /* enum top_role, by event */
    VEC_OF(event_id) steps; /* on the host, by their names; in order of the file */
    uint64_t *selected;     /* a bit per event that is in the range or step requested; NULL: all are */
};

/* TRACE and OPTIONS must live as long. */
void top_events_open(struct top_events *events, const struct trace *trace, const struct top_options *options);

/* Does the selection of OPTIONS choose among events, and not just names? Then it asks what launched them. */
bool top_chooses_events(const struct top_options *options);

/* The role of E in the rows. */
static inline enum top_role top_role(const struct top_events *events, event_id e)
{
    return (enum top_role)events->role[e];
}

/* Is E in the range or step requested? */
static inline bool top_is_selected(const struct top_events *events, event_id e)
{
    return !events->selected || events->selected[e / 64] >> (e % 64) & 1;
}

/* The file of E. */
static inline uint32_t top_file_of(const struct top_events *events, event_id e)
{
    return events->trace->file_count == 1 ? 0 : events->trace->tracks[events->trace->track[e]].file;
}

/* Does the file of E follow torch's rules of counting? */
static inline bool top_is_torch(const struct top_events *events, event_id e)
{
    return events->files[top_file_of(events, e)].is_torch;
}

/* The row key of the name of E: an id of events->names.keys. */
static inline uint32_t top_key_of(const struct top_events *events, event_id e)
{
    name_id name = events->trace->name[e];
    return events->trace->kind[e] == EVENT_OP ? events->names.operator_key_of[name]
                                              : events->names.key_of[name];
}

/* Where E comes in torch's list among events that start and end alike. */
uint64_t top_order(const struct top_events *events, event_id e);

/* Does what E takes count once in a row that has a caller of it, too? */
bool top_counts_once(const struct top_events *events, event_id e);

/* Is E a Python frame (not one of the collector's pauses, which have the same category)? */
bool top_is_frame(const struct top_events *events, event_id e);

/*
 * links.c - stage of top: which operator launched what, and on which thread torch counts a call.
 *
 * torch puts a runtime call on the thread of the operator it is linked to, and a call linked to none on the
 * thread that stopped the profiler, whatever thread made it: the event queries of an NCCL watchdog nest
 * inside operators of the main thread. The overhead records of CUPTI go there too.
 *
 * And torch, up to 2.14, looks up kernels by the id of every unlinked host event. The id of an unlinked runtime call is its
 * correlation, another range of numbers that overlaps with the operators' ids: such a lookalike is given
 * the operator's kernels too, and may drag the operator's calls to its own thread. In 2.15 it is not.
 */

/* A call without operator whose correlation is the id of an operator: torch takes it for that operator. */
struct lookalike {
    uint32_t process; /* of attribution.h */
    int64_t id;
    event_id call;
};

struct top_links {
    const struct attribution *launches;
    VEC_OF(struct calltree_move) moves;  /* of calls to the thread torch counts them on; by event */
    uint64_t moved_calls;                /* without operator, of other threads */
    track_id *stop_thread;               /* by process: where its unlinked calls are counted */
    VEC_OF(struct lookalike) lookalikes; /* by process, id, event; none by the rules of 2.15 */
    uint8_t *lookalike_filter;           /* a bit per id & lookalike_mask; NULL when there are none */
    size_t lookalike_mask;
};

void top_links_open(struct top_links *links, const struct top_events *events);

/* May a call that belongs to no operator have ID, too? */
bool top_may_have_lookalike(const struct top_links *links, int64_t id);

/* The link of a device event; the calls that torch takes for its operator too are those from
 * *LOOKALIKE on, as long as top_is_lookalike; *LOOKALIKE == links->lookalikes.count for none. */
struct launch_link top_link(const struct top_links *links, event_id e, const int64_t *external_id,
                            const int64_t *correlation, size_t *lookalike);

/* Does the lookalike at I stand for the same operator as the one at FIRST? */
static inline bool top_is_lookalike(const struct top_links *links, size_t first, size_t i)
{
    return i < links->lookalikes.count &&
           links->lookalikes.at[i].process == links->lookalikes.at[first].process &&
           links->lookalikes.at[i].id == links->lookalikes.at[first].id;
}

/* May the file of E be from torch 2.15 or from one before, and do the options not say which? */
bool top_version_is_open(const struct top_links *links, const struct top_events *events, event_id e);

/*
 * launched.c - stage of top: of all that calls launched, the call and the operator.
 *
 * Looking them up needs nothing of the rows: so it is done while host time is counted, in parts.
 *
 *     struct top_launched launched;
 *     top_launched_open(&launched, links, events);
 *     for (part = 0 up to launched.part_count)                  // by any thread each
 *         top_launched_find(&launched, part);
 *     top_launched_join(&launched);
 *     for (event_id e ...)
 *         if (top_is_launched(events, e))
 *             ... launched.at[next++] ...
 */

struct top_launched_work {
    event_id call; /* EVENT_NONE: it is not in the file */
    event_id op;   /* that made the call; EVENT_NONE: none is known */
};

/* Work AT is also that of the calls that torch takes for its operator, from LOOKALIKE on as top_link has it. */
struct top_alike_work {
    size_t at, lookalike;
};

struct top_launched {
    const struct top_links *links;
    const struct top_events *events;
    struct top_launched_work *at; /* in order of the file */
    size_t count;
    VEC_OF(struct top_alike_work) alike; /* of few of them; in their order */
    size_t part_count;
    struct top_launched_part *parts;
};

/* Is E among them: on a device, launched by a call, and chosen? */
static inline bool top_is_launched(const struct top_events *events, event_id e)
{
    return top_role(events, e) == ROLE_DEVICE && event_is_launched((enum event_kind)events->trace->kind[e]);
}

/* LINKS and EVENTS must live as long. */
void top_launched_open(struct top_launched *launched, const struct top_links *links,
                       const struct top_events *events);

/* Find those of one part. Parts write to nothing that another one looks at. */
void top_launched_find(struct top_launched *launched, size_t part);

/* All parts are found. */
void top_launched_join(struct top_launched *launched);

/* Free what LAUNCHED owns. */

/*
 * rows.c - stage of top: which row an event belongs to, and the figures of the rows while they are added up.
 *
 *     uint32_t row = top_row_of(&rows, e);
 *     if (row != ROW_NONE) {
 *         top_row_count(&rows, row, &(struct top_occurrence){ e, start_ns, end_ns, order });
 *         add_wrapped(&rows.at[row].cpu_ns, duration_ns);
 *     }
 */

#define ROW_NONE UINT32_MAX

/* What tells rows apart: equal bytes, same row. Parts that are not requested stay 0. */
struct row_key {
    uint32_t name;        /* in top_names.keys */
    uint16_t device_type; /* enum device_type; the host's, too, where a row holds both sides */
    uint16_t is_annotation;
    uint32_t shape, stack, overload, line; /* in top_rows.texts */
    uint32_t group;                        /* of top_rows.group */
};

/* One of the events of a row: when, and what torch's list has before it. */
struct top_occurrence {
    event_id event;
    int64_t start_ns, end_ns;
    uint64_t order;
    bool is_async, has_parent;
};

/* The same figures as torch has them: float64 microseconds, added up in the order torch adds. */
struct top_float_figures {
    double cpu_us, self_cpu_us, device_us, self_device_us;
};

struct row_sums {
    struct row_key key;
    struct top_occurrence first; /* where torch would list it: the first by (file, start, -end, order) */
    int64_t count, cpu_ns, self_cpu_ns, device_ns, self_device_ns;
    int64_t captured; /* operations of graphs that were captured from it */
    int64_t cpu_bytes, self_cpu_bytes, device_bytes, self_device_bytes, flops;
    struct top_float_figures as_torch;
    uint64_t seen;         /* the last kernel that was added, where each counts once */
    node_id covered_until; /* nodes before this one are callees of one that is in the row */
};

/* Where the row of a kind of event follows from its name. */
struct top_named_rows {
    const uint32_t *row_of_key; /* ROW_NONE: not yet. NULL: more than the name tells the row */
    const uint32_t *key_of;     /* by name */
};

struct top_rows {
    const struct top_events *events;
    const struct attribution *launches;
    const struct device_types *types;
    event_id *stack_event;          /* by event: whose stack it is listed under; NULL: its own. Taken */
    const struct code_paths *lines; /* NULL when nobody asks */
    struct group *group;            /* NULL when no dimension of it is requested; the result takes it */
    struct names *texts;            /* of shapes, stacks ... */
    bool several_types;             /* device events of a name may be of several device types */
    VEC_OF(struct row_sums);

    /* How rows are found. */
    struct top_named_rows named[EVENT_KINDS];
    uint32_t *row_of_key[4];         /* by host or device, annotation or not; then by key */
    struct names *composites;        /* struct row_key as bytes; ids are rows */
    uint32_t *shape_of_text;         /* by text id of Input Dims: in texts, +1; 0: not computed yet */
    uint32_t *stack_of_text;         /* the same for Call stack */
    const struct graph_links *links; /* NULL: no capture was given */
    uint32_t *shape_of_captured;     /* by text of the capture: as shape_of_text */
    uint32_t no_shape, nothing;
    struct buffer buffer;
};

/* New; free with arena_free. STACK_EVENT is taken. */
struct top_rows *top_rows_open(const struct top_events *events, event_id *stack_event);

/* As top_row_of, of any event. */
uint32_t top_find_row(struct top_rows *rows, event_id e);

/* The row of event E, which is to be counted there; ROW_NONE when it is counted in no row. */
static inline uint32_t top_row_of(struct top_rows *rows, event_id e)
{
    const struct trace *trace = rows->events->trace;
    const struct top_named_rows *named = &rows->named[trace->kind[e]];
    uint32_t row = named->row_of_key ? named->row_of_key[named->key_of[trace->name[e]]] : ROW_NONE;
    return row != ROW_NONE ? row : top_find_row(rows, e);
}

/* The row of the operator that E, work of a graph launched by CALL, was captured from; ROW_NONE when it is counted in
 * no row of operators. */
uint32_t top_row_of_captured(struct top_rows *rows, event_id e, event_id call);

/* Count a call in row INDEX. */
void top_row_count(struct top_rows *rows, uint32_t index, const struct top_occurrence *one);

/* The same of a call that begins at START_NS, where that tells that the row does not begin with it. Else false, and it is not
 * counted. */
static inline bool top_row_count_later(struct top_rows *rows, uint32_t index, int64_t start_ns)
{
    struct row_sums *row = &rows->at[index];
    if (row->count == 0 || start_ns <= row->first.start_ns || rows->events->trace->file_count > 1)
        return false;
    row->count++;
    return true;
}

/* Would torch list the row of A before that of B? As compared by qsort. */
int top_compare_first(const struct trace *trace, const struct top_occurrence *a,
                      const struct top_occurrence *b);

/* Do rows hold both what ran on the host and what it launched? */
static inline bool top_rows_hold_both_sides(const struct top_events *events)
{
    return events->by & TOP_BOTH_SIDES && !events->per_call && !(events->by & (TOP_CATEGORY | TOP_THREAD));
}

/* calls.c - stage of top: who called whom, by torch's rules. */

/* In state: a caller of this node is in the same row, whose totals hold what the node took. */
enum { NODE_COVERED = 4 };

#define ROW_NONE_NARROW UINT16_MAX /* ROW_NONE in 16 bits */

struct top_calls {
    struct calltree *tree;
    uint8_t *state; /* enum node_state and, once host time is counted, NODE_COVERED; by node */
    /* top_row_of_node, once host time is counted: 16 bits, which do for nearly all, or 32; the other is NULL */
    uint16_t *row_of_node;
    uint32_t *wide_row_of_node;
};

/* Find the calls. */
void top_calls_open(struct top_calls *calls, const struct top_events *events);

/* Nest them, each on the thread that LINKS says. */
void top_calls_nest(struct top_calls *calls, const struct top_events *events, const struct top_links *links);

/* Before the rows of nodes are set, which is from the first node to the last. */
void top_calls_make_rows(struct top_calls *calls);

/* Of COUNT nodes the rows are set: hold these and all others in 32 bits. */
void top_calls_widen_rows(struct top_calls *calls, node_id count);

/* Node N counts in ROW, or in none: ROW_NONE. For nodes in order, after top_calls_make_rows. */
static inline void top_calls_set_row(struct top_calls *calls, node_id n, uint32_t row)
{
    if (!calls->wide_row_of_node && row != ROW_NONE && row >= ROW_NONE_NARROW)
        top_calls_widen_rows(calls, n);
    if (calls->wide_row_of_node)
        calls->wide_row_of_node[n] = row;
    else
        calls->row_of_node[n] = (uint16_t)row; /* ROW_NONE becomes ROW_NONE_NARROW */
}

/* The row that node N counts in; ROW_NONE: in none. */
static inline uint32_t top_row_of_node(const struct top_calls *calls, node_id n)
{
    if (calls->wide_row_of_node)
        return calls->wide_row_of_node[n];
    return calls->row_of_node[n] == ROW_NONE_NARROW ? ROW_NONE : calls->row_of_node[n];
}

/* Free what CALLS owns. */

/* New, free with free(); by event: whose Python stack it is listed under. Autograd runs backward operators on a thread of its
 * own, where no Python is on the stack. torch lists each, and all it calls, under the stack of the forward operator with the
 * same sequence number. */
event_id *top_borrow_stacks(const struct top_calls *calls, const struct top_links *links);

/*
 * last stages of top: the figures of the rows.
 *
 * Every host event is a node of its thread's call tree. Its duration goes to its row's total and self time, and is taken
 * from the self time of its parent's row; so rows are summed without a figure per event. A kernel's duration goes to its own
 * row, to the self time of the operator that launched it, and up the chain of parents to everybody's total.
 */

/* GPU work of which something is to be said. */
struct top_work {
    uint64_t count;
    int64_t total_ns;
};

/* The figures of the notes below the table. */
struct top_counts {
    struct top_work unlinked, graph;          /* without operator, out of graphs */
    struct top_work callless[UNLINKED_SORTS]; /* without call, by why */
    struct top_work lost;                     /* of operators that were folded */
    struct top_work waits;  /* of streams: in the time of devices, as in torch, though they are no work */
    uint64_t moved_calls;   /* counted on the thread that stopped the profiler */
    uint64_t unfinished;    /* regions that were open at the end */
    uint64_t guessed_async; /* regions treated as asynchronous by their names */
    uint64_t forked;        /* functions that torch.jit.fork started */
    uint64_t lookalikes;    /* runtime calls that got kernels by their number, as torch up to 2.14 has it */
    int64_t self_device_ns; /* of all rows on devices that are not annotations */
    bool has_device, has_memory, has_flops;
};

/* Host time, calls and floating-point operations. Finds the row of each node. */
void top_count_host(struct top_rows *rows, struct top_calls *calls, struct top_counts *counts);

/* A gpu_user_annotation as long as the work it covers; Kineto writes it wider. */
struct narrowed {
    event_id event;
    int64_t start_ns, end_ns;
};

struct narrowings {
    VEC_OF(struct narrowed); /* by event */
};

/* Undo Kineto's widening of annotations on streams. Release with VEC_FREE. */
struct narrowings top_narrow_annotations(const struct top_events *events);

/* Set *START_NS and *END_NS of E; *NEXT, 0 at first, only grows: events are queried in order. */
static inline void top_device_time(struct time_scan *times, const struct narrowings *narrowings, size_t *next,
                                   event_id e, int64_t *start_ns, int64_t *end_ns)
{
    size_t at = time_scan_at(times, e);
    *start_ns = times->start_ns[at];
    *end_ns = times->start_ns[at] + times->dur_ns[at];
    while (*next < narrowings->count && narrowings->at[*next].event < e)
        ++*next;
    if (*next < narrowings->count && narrowings->at[*next].event == e) {
        *start_ns = narrowings->at[*next].start_ns;
        *end_ns = narrowings->at[*next].end_ns;
    }
}

/* Device time: of the rows of devices, and of the calls that launched the work. After top_count_host. */
void top_count_devices(struct top_rows *rows, const struct top_calls *calls, const struct top_links *links,
                       const struct top_launched *launched, const struct narrowings *narrowings,
                       struct top_counts *counts);

/*
 * Memory that calls allocated less what they freed. What calls have is found beside what devices have, once host time is counted:
 * it writes to nothing but MEMORY and ARENA, of which its memory is.
 *
 *     struct top_memory memory;
 *     top_memory_find(&memory, calls, events, row_count, &arena);
 *     top_count_memory(rows, calls, &memory, counts, leftovers);
 *     arena_release(&arena);
 */
struct top_bytes {
    int64_t cpu, device, self_cpu, self_device;
};

struct top_memory {
    const struct top_events *events;
    const struct top_calls *calls;
    struct memory_records *files; /* the records, by file; NULL: there are none */
    struct top_bytes *of_rows;    /* of the calls of each of the ROW_COUNT rows that are there */
    size_t row_count;
};

/* Find the bytes of the calls of each of ROW_COUNT rows. CALLS, EVENTS and ARENA must outlive MEMORY. */
void top_memory_find(struct top_memory *memory, const struct top_calls *calls,
                     const struct top_events *events, size_t row_count, struct arena *arena);

/* Add what was found to the rows. A record in no call has a row of its own: LEFTOVERS (NULL: not wanted) gets its bit, by
 * event. */
void top_count_memory(struct top_rows *rows, struct top_memory *memory, struct top_counts *counts,
                      uint64_t *leftovers);

/* Times in torch's own arithmetic. After all others; they say which rows there are. */
void top_sum_as_torch(struct top_rows *rows, const struct top_calls *calls, const struct top_links *links,
                      const struct narrowings *narrowings, const uint64_t *leftovers);

/*
 * nodes.c - the nodes of a few events of a call tree, in the memory of a few: calltree_nodes has one for every event.
 *
 *     struct top_nodes nodes;
 *     top_nodes_open(&nodes, trace, &arena);
 *     top_nodes_want(&nodes, op);                // for each event that will be queried
 *     top_nodes_find(&nodes, tree, &arena);
 *     node_id n = top_node_of(&nodes, op);
 *     arena_release(&arena);
 */

struct top_nodes {
    uint64_t *wanted; /* a bit per event */
    uint32_t *before; /* by word of bits: how many are wanted before it */
    node_id *node;    /* by index; NODE_NONE: it takes no part */
    size_t words, count;
};

/* No event of TRACE is wanted yet. The memory is of ARENA. */
void top_nodes_open(struct top_nodes *nodes, const struct trace *trace, struct arena *arena);

/* Before top_nodes_find. E may be wanted several times, and EVENT_NONE is ignored. */
static inline void top_nodes_want(struct top_nodes *nodes, event_id e)
{
    if (e != EVENT_NONE)
        nodes->wanted[e / 64] |= UINT64_C(1) << (e % 64);
}

/* Find them all, in one pass over TREE. */
void top_nodes_find(struct top_nodes *nodes, const struct calltree *tree, struct arena *arena);

/* Is the node of E wanted? */
static inline bool top_nodes_wants(const struct top_nodes *nodes, event_id e)
{
    return nodes->wanted[e / 64] >> (e % 64) & 1;
}

/* Which of the wanted events E is, which must be wanted: less than nodes->count. */
static inline size_t top_nodes_index(const struct top_nodes *nodes, event_id e)
{
    uint64_t before = nodes->wanted[e / 64] & ((UINT64_C(1) << (e % 64)) - 1);
    return nodes->before[e / 64] + bits_count(before);
}

/* The node of E, which must be wanted. */
static inline node_id top_node_of(const struct top_nodes *nodes, event_id e)
{
    return nodes->node[top_nodes_index(nodes, e)];
}

/*
 * top.c - which operators, calls and kernels took the time: what torch's key_averages() answers, from the file.
 *
 *     struct top_options options = { .by = TOP_OPERATOR };
 *     struct trace *trace = ingest_read(..., .wants = top_wants(&options), ...);
 *     struct top *top = top_analyze(trace, &options);
 *     for (size_t i = 0; i < top->count; i++)
 *         printf("%s %" PRId64 "\n", top->at[i].name.at, top->at[i].self_cpu_ns);
 *     arena_free(top);
 *
 * Every figure follows torch 2.14; docs/definitions.md says what each counts. Files are answered apart (call
 * trees, links and memory never cross from one to another) and added up in the rows.
 */

/* The order of rows, before their times. */
enum top_order {
    TOP_WORK,
    TOP_NAMES_AGAIN, /* operators that communicate: their kernels have rows of their own */
    TOP_REST,        /* without time on devices, where there is any */
    TOP_RANGES,      /* annotations on devices */
};

struct top_row {
    struct text name;        /* of the operator, call or kernel; of the place, where rows are places */
    struct text place;       /* category, device, stream or thread; "" when none makes a row */
    struct text device_type; /* "CPU", "CUDA" ...; missing where a row holds both sides */
    bool on_device, is_annotation;
    bool is_gpu_work; /* a kernel, copy or memset: neither a wait nor an annotation */
    /* What else makes a row; missing when not requested: */
    struct text shapes, overload, stack, line;
    struct group_key key;
    uint32_t file; /* by rank, its file; else that of its first event */
    int64_t count;
    int64_t
        captured; /* operations of graphs that were captured from it; missing where no capture was given */
    int64_t cpu_ns, self_cpu_ns, cpu_average_ns;          /* on the host */
    int64_t device_ns, self_device_ns, device_average_ns; /* on devices */
    double self_cpu_share, cpu_share,
        self_device_share; /* of the totals of all rows; NaN when there are none */
    int64_t cpu_bytes, self_cpu_bytes, device_bytes, self_device_bytes; /* allocated less freed */
    int64_t flops;
    /* Of its first event in torch's list: */
    bool is_async, is_top_level;
    int64_t node_id, scope; /* torch's, as far as a file tells */
    /* The times in torch's own arithmetic, in microseconds; NaN unless requested. */
    struct {
        double cpu_us, self_cpu_us, cpu_average_us, device_us, self_device_us, device_average_us;
    } as_torch;
    enum top_order order; /* set by top_sort */
};

struct top {
    const struct trace *trace;           /* borrowed */
    unsigned by;                         /* set of enum top_dimension */
    bool per_call;                       /* rows are named by operators, else by places */
    bool as_torch;                       /* the rows have torch's own figures */
    bool sorted;                         /* by top_sort; else they are in torch's order */
    VEC_OF(struct top_row);              /* those that --filter and --exclude keep */
    int64_t self_cpu_ns, self_device_ns; /* of all rows; of devices without annotations */
    const char *device_name;             /* what headings call the devices: "CUDA" */
    /* Is there anything on the host, time on devices, memory of the host, of devices, FLOPs? */
    bool has_host, has_device_time, has_memory, has_device_memory, has_flops;
    bool no_code;      /* no module, or line, is in the recorded stacks */
    uint64_t captured; /* operations of graphs that have an operator by a capture */
    struct top_counts counts;
    struct group *group; /* of the keys; NULL: no dimension of it */
    struct names *texts; /* of the rows: each once, however many have it */
};

/* What the reader must decode. */
extern const struct trace_wants top_least_wants; /* by operator alone */
struct trace_wants top_wants(const struct top_options *options);

/* New; free with arena_free (NULL is allowed). Texts live as long as it and TRACE. */
struct top *top_analyze(const struct trace *trace, const struct top_options *options);

/* Sort the rows as people read them first: by the time of devices, else of the host. Operators that communicate come after
 * all work, if their kernels have rows, and ranges of devices last: they are one more name of work that has a row, and a
 * range counts in no total. */
void top_sort(struct top *top);

/* The table "operators". New; free with table_free. */
struct table *top_table(const struct top *top);

/* What `tpa top` answers: its table and notices. New; free with result_free. */
struct result *top_result(const struct trace *trace, const struct top_options *options);

/* Say what is special about the trace and its figures. */
void top_add_notices(const struct top *top, struct result *result);

/* Add to OUT what tells rows of one name apart, as people read it. */
void top_append_detail(const struct top_row *row, struct buffer *out);

/* The tables that may come of it, for `tpa help`; ends in { 0 }. */
extern const struct table_shape top_tables[];

#endif
