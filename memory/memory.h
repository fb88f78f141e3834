/* memory.h - memory of devices. */
#ifndef TPA_MEMORY_MEMORY_H
#define TPA_MEMORY_MEMORY_H

#include "derive/code_paths.h"
#include "analyze/selection.h"
#include "memory/memory_records.h"
#include "derive/step_list.h"

/*
 * The results of `tpa memory`: rows per device, category, operator, step and kind of block.
 *
 * Sizes are bytes, times nanoseconds from the origin of the file. Unrecorded values are TABLE_INT_MISSING, NAN, or a
 * text without AT.
 */

/* What blocks allocated on one device are grouped by. */
enum memory_by {
    MEMORY_BY_OPERATOR,
    MEMORY_BY_MODULE, /* the innermost nn.Module, as in code_paths.h */
    MEMORY_BY_LINE,   /* the innermost function outside PyTorch, likewise */
    MEMORY_BY_STEP,
    MEMORY_BY_THREAD, /* of the host */
    MEMORY_BY_CYCLE,  /* of the profiler: the recording of the rank */
    MEMORY_BY_DEVICE, /* no grouping */
};

struct memory_options {
    enum memory_by by;
    bool
        /* only operators with certain names are selected: records outside of operators are excluded */
        filtered;
    struct ranges devices; /* only these and the host; zero-initialised: all */
    bool brief;            /* only peaks and steps, without operators */
};

/* The memory that a row is about. */
struct memory_place {
    int64_t rank;
    struct text device; /* "cpu" or "cuda:0"; missing when not recorded */
    int64_t number;     /* of the device; missing if it has none, like the host */
    bool is_host;
    uint32_t
        cycle; /* recording of the rank, from 0; of a row about several: that of the peak, or the first */
};

/* A device, or the host: its peak and the allocation that reached it. */
struct memory_peak {
    struct memory_place place;
    int64_t bytes, time_ns, step; /* of the peak */
    struct text op;               /* operator that made the allocation which reached the peak */
    struct text line, stack;      /* of Python; of operators and annotations, outermost first */
    int64_t reserved_bytes, reserved_ns, reserved_at_peak_bytes;
    double unused_at_peak; /* share of the bytes reserved at that time */
    int64_t most_unused_bytes, most_unused_ns;
    int64_t start_bytes, end_bytes; /* in use before the first record, after the last */
    int64_t allocations, allocated_bytes, frees, freed_bytes, records;
    uint32_t record; /* at which it peaked, in memory_records */
    uint32_t first_cycle, last_cycle;
};

/* A category of memory, from a memory timeline. */
struct memory_category {
    struct memory_place place;
    struct text category;
    int64_t peak_bytes; /* at the peak of the device */
    double share;       /* of that peak */
    int64_t most_bytes, start_bytes, end_bytes, allocated_bytes, freed_bytes;
};

/* Blocks of one key: in use at the peak; or never freed, those of one size. */
struct memory_blocks {
    struct memory_place place;
    struct text key;
    int64_t bytes;
    double share; /* of the peak */
    int64_t count, largest_bytes;
    int64_t first_ns, first_step; /* of those never freed: when the first was allocated */
};

/* What an operator, or another key, allocates and frees: itself, and with callees. */
struct memory_operator {
    struct memory_place place;
    struct text key;
    int64_t self_allocated_bytes, allocated_bytes, self_net_bytes, net_bytes;
    int64_t self_allocations, allocations, self_frees, self_freed_bytes, frees, freed_bytes;
};

/* A step on a device. */
struct memory_step {
    struct memory_place place;
    int64_t step, start_bytes, peak_bytes, end_bytes, growth_bytes, reserved_bytes;
};

struct memory {
    enum memory_by by;
    bool several_files;
    VEC_OF(struct memory_peak) peaks;
    VEC_OF(struct memory_category) categories;
    VEC_OF(struct memory_blocks) alive; /* at the peak */
    VEC_OF(struct memory_operator) operators;
    VEC_OF(struct memory_step) steps; /* device after device */
    VEC_OF(struct memory_blocks) unfreed;
    bool reserves; /* a step has reserved bytes other than 0 */

    int64_t failures;                          /* allocations for which a device had no memory */
    int64_t without_totals, without_addresses; /* records */
    int64_t timelines;                         /* devices of a memory timeline */
    int64_t lost_frees, left_out;              /* left_out: devices, of tables that are full */
    bool lacks_stacks, lacks_steps;            /* data that BY needs */
    struct names *texts;                       /* owns texts that are not borrowed from the trace */
    const struct code_paths *paths;            /* or from these; NULL: rows are not places in code */
};

/*
 * memory.c - peaks of memory, blocks in use at them, and allocations by operator.
 *
 *     struct memory *memory = memory_analyze(trace, selection, &(struct memory_options){ 0 });
 *     for (size_t i = 0; i < memory->peaks.count; i++)
 *         printf("%s %" PRId64 "\n", memory->peaks.at[i].place.device.at, memory->peaks.at[i].bytes);
 *     arena_free(memory);
 */

/* The parts of a trace that its reader must decode; more for rows by module and line. */
extern const struct trace_wants memory_wants, memory_code_wants;

/* New; free with arena_free (NULL is allowed). Lives no longer than TRACE. */
struct memory *memory_analyze(const struct trace *trace, const struct selection *selection,
                              const struct memory_options *options);

/* The notice that a device ran out of memory, if any did. */
void memory_add_failures(const struct memory *memory, struct result *result);

/* Add the tables "memory" (per device and for the host), "categories", "alive" (at the peak, by operator),
 * "operators" (what each allocates and frees; by anything else "allocations"), "steps" (growth; if there are
 * steps) and "unfreed" (blocks that were not freed), those of program_memory.h, and notices to RESULT. A
 * table without rows is left out. */
void memory_add_tables(const struct trace *trace, const struct selection *selection,
                       const struct memory_options *options, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape memory_tables[];

/*
 * memory_query.c - state shared by the parts of the memory analysis; for memory/ only.
 *
 *     memory.c      runs the parts for each device
 *     peaks.c categories.c blocks.c operators.c step_peaks.c rows of a device
 *     cycles.c      one row where the cycles of a rank have one each
 *     memory_tables.c the columns
 */

struct memory_query {
    const struct trace *trace;
    const struct selection *selection;
    const struct memory_options *options;
    const struct memory_records *records;
    const struct step_list *steps;
    int64_t *origins;    /* by file */
    bool *is_step;       /* by name */
    name_id no_operator; /* index for "no operator" in arrays by name: the number of names */
    /* A key identifies a row of a device: the name of the operator, else the label of the module or line, the index of
     * the step or the track. KEY_COUNT: none. */
    uint32_t *keys; /* by record; NULL: the names of the operators, or nothing */
    uint32_t key_count;
    struct memory *memory; /* the result */
};

/* Set up QUERY for a pass over RECORDS; what it points to is borrowed, MEMORY gets the rows. Release after use,
 * which frees the arrays of QUERY, not the result. */
void memory_query_open(struct memory_query *query, const struct trace *trace,
                       const struct selection *selection, const struct memory_options *options,
                       const struct memory_records *records, struct memory *memory);

/* Does the selection contain the time and place of RECORD? */
static inline bool memory_is_selected(const struct memory_query *query, const struct memory_record *record)
{
    return selection_holds_place(query->selection, record->event);
}

/* Is the operator of RECORD selected? */
bool memory_owner_is_selected(const struct memory_query *query, const struct memory_record *record);

/* The name of the operator of RECORD, or query->no_operator; its text. */
static inline name_id memory_owner(const struct memory_query *query, const struct memory_record *record)
{
    return record->owner == EVENT_NONE ? query->no_operator : query->trace->name[record->owner];
}
struct text memory_owner_text(const struct memory_query *query, name_id name);

/* The key of the row of RECORD; the text of KEY. */
static inline uint32_t memory_key(const struct memory_query *query, const struct memory_record *record)
{
    if (query->keys)
        return query->keys[record - query->records->at];
    return query->options->by == MEMORY_BY_OPERATOR ? memory_owner(query, record) : 0;
}
struct text memory_key_text(const struct memory_query *query, uint32_t key);

/* The one copy of TEXT, LEN bytes, that the result owns. */
struct text memory_keep_text(const struct memory_query *query, const char *text, size_t len);

/* The rank and device of a row about DEVICE; texts are borrowed. */
struct memory_place memory_place_of(const struct memory_query *query, const struct memory_device *device);

/* The moment of E, from the origin of its file; the number of the step that contains it, or TABLE_INT_MISSING. */
int64_t memory_moment(const struct memory_query *query, event_id e);
int64_t memory_step_number(const struct memory_query *query, event_id e);

/* peaks.c: add the row of DEVICE; false, and no row, if nothing of it is selected. And set the line of each row's
 * peak. */
bool memory_add_peak(const struct memory_query *query, const struct memory_device *device);
void memory_add_lines(const struct memory_query *query);

/* categories.c, blocks.c, step_peaks.c: add the rows of a device; PEAK is the record at which it peaked. */
void memory_add_categories(const struct memory_query *query, const struct memory_device *device,
                           uint32_t peak);
void memory_add_alive(const struct memory_query *query, const struct memory_device *device, uint32_t peak);
void memory_add_unfreed(const struct memory_query *query, const struct memory_device *device);
void memory_add_steps(const struct memory_query *query, const struct memory_device *device);

/* operators.c: the same. The board holds its totals. */
struct memory_board;
struct memory_board *memory_board_open(const struct memory_query *query); /* New; free with arena_free. */
void memory_add_operators(const struct memory_query *query, struct memory_board *board,
                          const struct memory_device *device);

/* cycles.c: add up the rows of the cycles of each rank: the largest peak with its blocks, sums of allocations. */
void memory_add_up_cycles(struct memory *memory);

/* memory_tables.c: add the tables of MEMORY to RESULT. */
struct result;
void memory_show(const struct memory *memory, struct result *result);

#endif
