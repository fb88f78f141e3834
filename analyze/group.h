/*
 * group.h - grouping of rows, `--by rank,op` etc., for every command.
 *
 *     struct kernel_row { struct group_key key; int64_t count, total_ns; };
 *     static const struct table_column columns[] = {
 *         GROUP_COLUMNS(struct kernel_row, key),
 *         COLUMN(struct kernel_row, count, "count", "Count", TABLE_COUNT, "how often it ran"), ... };
 *
 *     struct group *group = group_open(trace, BY(STREAM) | BY(OP));
 *     uint32_t id = group_of(group, work, call, op);       // equal keys have equal ids, which count up from 0
 *     ... add up by id ... rows[id].key = group_key(group, id); struct table *table =
 *     TABLE_OF_ROWS("kernels", "Kernels", columns, rows, count); group_fill_texts(group, table, offsetof(struct kernel_row,
 *     key)); arena_free(group);
 *
 * Ranks are never merged silently. Dimensions below a rank (cycle, device, stream, thread, step) have rows of one rank, which
 * the table shows if there are several. The cycles of a rank add up, unless they are one of the dimensions. Rows by name (op, call, kernel, module, category, shape) add up the ranks,
 * unless rank is one of the dimensions. A step is one execution: two steps of the same number are two rows.
 * docs/definitions.md has these rules for users.
 *
 * An event without a value of a dimension belongs to the group "none" of that dimension: a text in parentheses, such
 * as "(no operator)", and a missing number.
 */
#ifndef TPA_ANALYZE_GROUP_H
#define TPA_ANALYZE_GROUP_H

#include "base/options.h"
#include "base/table.h"
#include "trace/trace.h"

enum dimension {
    DIMENSION_RANK,
    DIMENSION_CYCLE, /* recording of a rank: see file_set.h */
    DIMENSION_DEVICE,
    DIMENSION_STREAM,
    DIMENSION_THREAD,   /* host thread of the call, else of the operator */
    DIMENSION_STEP,     /* in which the call began; without a call, the work; without work, the operator */
    DIMENSION_OP,       /* the operator; without one, the call */
    DIMENSION_CALL,     /* name of the runtime or driver call */
    DIMENSION_MODULE,   /* the nn.Module that the operator or call was in */
    DIMENSION_KERNEL,   /* name of the work, demangled */
    DIMENSION_CATEGORY, /* as recorded: of the work, else the call, else the operator */
    DIMENSION_SHAPE,    /* of the operator's inputs */
    DIMENSIONS
};

/* Sets of dimensions: BY(RANK) | BY(OP). */
#define BY(dimension) (1u << DIMENSION_##dimension)

/* Arguments that a group of all dimensions reads beyond those of attribution; a set of them needs fewer. */
uint64_t group_wants(unsigned dimensions);

/* The key of a row. Numbers are TABLE_INT_MISSING, and texts have no AT, if the dimension is not requested. */
struct group_key {
    int64_t rank, cycle, device, stream;
    struct text thread;
    int64_t step;
    struct text op, call, module, kernel, category, shape;
};

/* clang-format off */
#define GROUP_COLUMNS(row, key) \
    COLUMN(row, key.rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_HIDDEN), \
    COLUMN(row, key.cycle, "cycle", "Cycle", TABLE_COUNT, "recording of the rank, in order of time from 1", .flags = TABLE_HIDDEN), \
    COLUMN(row, key.device, "device", "Device", TABLE_COUNT, "number of the device", .flags = TABLE_HIDDEN), \
    COLUMN(row, key.stream, "stream", "Stream", TABLE_COUNT, "number of the stream", .flags = TABLE_HIDDEN), \
    COLUMN(row, key.thread, "thread", "Thread", TABLE_TEXT, "number of the host thread, and its name", .flags = TABLE_HIDDEN), \
    COLUMN(row, key.step, "step", "Step", TABLE_COUNT, "number of the step; missing outside of steps", .flags = TABLE_HIDDEN), \
    COLUMN(row, key.op, "op", "Operator", TABLE_NAME, "the operator; the call where there is none", .flags = TABLE_HIDDEN, .aliases = "operator"), \
    COLUMN(row, key.call, "call", "Call", TABLE_NAME, "the runtime or driver call", .flags = TABLE_HIDDEN), \
    COLUMN(row, key.module, "module", "Module", TABLE_NAME, "the nn.Module", .flags = TABLE_HIDDEN), \
    COLUMN(row, key.kernel, "kernel", "Kernel", TABLE_NAME, "kernel, copy or memset", .flags = TABLE_HIDDEN), \
    COLUMN(row, key.category, "category", "Category", TABLE_TEXT, "category in the file", .flags = TABLE_HIDDEN), \
    COLUMN(row, key.shape, "shape", "Shape", TABLE_TEXT, "sizes of the operator's inputs", .flags = TABLE_HIDDEN)
/* clang-format on */

/* The word of DIMENSION in --by, with its help; in the order of enum dimension. */
extern const struct opt_choice group_words[DIMENSIONS + 1];

struct group;
struct step_list;

/* New; free with arena_free (NULL is allowed). DIMENSIONS, a set, may be empty: then all events are one group. */
struct group *group_open(const struct trace *trace, unsigned dimensions);

/* Call before the first event: use only STEPS, borrowed, as steps. They contain what was launched in them: work without
 * a call is in no step if its file has calls, because it was launched before the recording began. */
void group_set_steps(struct group *group, const struct step_list *steps);

/* The group of WORK on a device, the CALL that launched it and the operator OP that made the call. Any may be
 * EVENT_NONE; for an operator alone the first two are. All must be of one file. */
uint32_t group_of(struct group *group, event_id work, event_id call, event_id op);

/* The key of group ID. Texts are borrowed from the group and its trace. */
struct group_key group_key(struct group *group, uint32_t id);

/* Do rows of these DIMENSIONS have a rank if there are several files? */
bool group_is_below_rank(unsigned dimensions);

/* Show the columns that distinguish the groups in TABLE, whose rows have their key at OFFSET. */
void group_fill_texts(const struct group *group, struct table *table, size_t offset);

/* Is the member of group_key at OFFSET one of those that distinguish the groups? */
bool group_has_column(const struct group *group, size_t offset);

/* Are modules requested but missing from the recorded stacks? */
bool group_has_no_modules(const struct group *group);

/* Append the name of a host thread for tables: its number and name. */
void group_append_thread(const struct trace *trace, track_id thread, struct buffer *out);

#endif
