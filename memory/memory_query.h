/*
 * memory_query.h - state shared by the parts of the memory analysis; for memory/ only.
 *
 *     memory.c      runs the parts for each device
 *     peaks.c categories.c blocks.c operators.c step_peaks.c rows of a device
 *     cycles.c      one row where the cycles of a rank have one each
 *     memory_tables.c the columns
 */
#ifndef TPA_MEMORY_MEMORY_QUERY_H
#define TPA_MEMORY_MEMORY_QUERY_H

#include "memory/memory.h"
#include "memory/memory_records.h"
#include "derive/step_list.h"

struct memory_query {
    const struct trace *trace;
    const struct selection *selection;
    const struct memory_options *options;
    const struct memory_records *records;
    const struct step_list *steps;
    int64_t *origins;    /* by file */
    bool *is_step;       /* by name */
    name_id no_operator; /* index for "no operator" in arrays by name: the number of names */
    /*
     * A key identifies a row of a device: the name of the operator, else the label of the module or line, the index of
     * the step or the track. KEY_COUNT: none.
     */
    uint32_t *keys; /* by record; NULL: the names of the operators, or nothing */
    uint32_t key_count;
    struct memory *memory; /* the result */
};

/* Set up QUERY for a pass over RECORDS; what it points to is borrowed, MEMORY gets the rows. Release after use,
 * which frees the arrays of QUERY, not the result. */
void memory_query_open(struct memory_query *query, const struct trace *trace,
                       const struct selection *selection, const struct memory_options *options,
                       const struct memory_records *records, struct memory *memory);
void memory_query_release(struct memory_query *query);

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
struct memory_board *memory_board_open(const struct memory_query *query);
void memory_board_free(struct memory_board *board); /* NULL is allowed */
void memory_add_operators(const struct memory_query *query, struct memory_board *board,
                          const struct memory_device *device);

/* cycles.c: add up the rows of the cycles of each rank: the largest peak with its blocks, sums of allocations. */
void memory_add_up_cycles(struct memory *memory);

/* memory_tables.c: add the tables of MEMORY to RESULT. */
struct result;
void memory_show(const struct memory *memory, struct result *result);

#endif
