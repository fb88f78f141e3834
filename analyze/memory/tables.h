/*
 * tables.h - what the tables of `tpa memory` share; for analyze/memory*.c only.
 *
 * Each table has a file of its own, with one function that opens it and one that adds the rows of a device.
 */
#ifndef TPA_ANALYZE_MEMORY_TABLES_H
#define TPA_ANALYZE_MEMORY_TABLES_H

#include "facts/code_paths.h"
#include "analyze/memory/memory.h"
#include "facts/memory_records.h"
#include "analyze/selection.h"
#include "base/table.h"
#include "facts/step_list.h"

struct memory_question {
    const struct trace *trace;
    const struct selection *selection;
    const struct memory_options *options;
    const struct memory_records *records;
    const struct step_list *steps;
    int64_t *origins;    /* by file */
    bool *is_step;       /* by name */
    name_id no_operator; /* stands for it in arrays by name: one more than there are names */
    /*
     * A key is what tells the rows of a device apart: the name of the operator, else the label of the module or line,
     * the place of the step or the track. KEY_COUNT stands for none.
     */
    uint32_t *keys; /* by record; NULL: the names of the operators, or nothing */
    uint32_t key_count;
    struct code_paths *paths; /* by module or line */
};

/* The first columns of every table. Columns about an operator, or what else makes rows, come third. */
enum { MEMORY_RANK, MEMORY_DEVICE, MEMORY_KEY };

/* clang-format off */
#define MEMORY_DEVICE_COLUMNS \
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL }, \
    { "device", "Device", TABLE_TEXT, "the memory: cpu, or a device such as cuda:0; missing when the file does not tell", 0, NULL }
/* clang-format on */

/* Does the selection hold the time and place of RECORD? */
static inline bool memory_is_selected(const struct memory_question *question,
                                      const struct memory_record *record)
{
    return selection_holds_place(question->selection, record->event);
}

/* The name of the operator of RECORD, or question->no_operator. */
static inline name_id memory_owner(const struct memory_question *question, const struct memory_record *record)
{
    return record->owner == EVENT_NONE ? question->no_operator : question->trace->name[record->owner];
}

/* New table; where there are several files, their ranks are shown. */
struct table *memory_open_table(const struct memory_question *question, const char *key, const char *title,
                                const struct table_column *columns, size_t count);

/* What tells the row of RECORD apart. */
static inline uint32_t memory_key(const struct memory_question *question, const struct memory_record *record)
{
    if (question->keys)
        return question->keys[record - question->records->at];
    return question->options->by == MEMORY_BY_OPERATOR ? memory_owner(question, record) : 0;
}

/* Was the operator of RECORD asked for? */
bool memory_owner_is_selected(const struct memory_question *question, const struct memory_record *record);

/* New table whose third column tells what makes its rows. */
struct table *memory_open_table_by(const struct memory_question *question, const char *key, const char *title,
                                   const struct table_column *columns, size_t count);

/* A new row of TABLE, about DEVICE. */
size_t memory_add_row(struct table *table, const struct memory_question *question,
                      const struct memory_device *device);

/* Cells: what KEY stands for; the operator called NAME; the moment of E, from the origin of its file; the number of the step it lies in. */
void memory_set_key(struct table *table, size_t row, const struct memory_question *question, uint32_t key);
void memory_set_owner(struct table *table, size_t row, size_t column, const struct memory_question *question,
                      name_id name);
void memory_set_moment(struct table *table, size_t row, size_t column, const struct memory_question *question,
                       event_id e);
void memory_set_step(struct table *table, size_t row, size_t column, const struct memory_question *question,
                     event_id e);

/* memory_peaks.c. The record at which DEVICE peaked; RECORD_NONE, and no row, when nothing of it is selected. */
struct table *memory_open_peaks(const struct memory_question *question);
uint32_t memory_add_peak(struct table *table, const struct memory_question *question,
                         const struct memory_device *device);
/* Tell the lines of code of the rows of TABLE; PEAKS: what memory_add_peak returned for each. */
void memory_add_lines(struct table *table, const struct memory_question *question, const uint32_t *peaks);
void memory_close_peaks(struct table *table); /* what no row tells is shown only to those who ask */

/* memory_blocks.c */
enum { MEMORY_ALIVE_BYTES = MEMORY_KEY + 1, MEMORY_UNFREED_BYTES = MEMORY_KEY + 1 };
struct table *memory_open_alive(const struct memory_question *question);
void memory_add_alive(struct table *table, const struct memory_question *question,
                      const struct memory_device *device, uint32_t peak);
struct table *memory_open_unfreed(const struct memory_question *question);
void memory_add_unfreed(struct table *table, const struct memory_question *question,
                        const struct memory_device *device);

/* memory_operators.c. The board is where it sums up. */
enum { MEMORY_SELF_ALLOCATED = MEMORY_KEY + 1 };
struct memory_board;
struct memory_board *memory_board_open(const struct memory_question *question);
void memory_board_free(struct memory_board *board); /* NULL is allowed */
struct table *memory_open_operators(const struct memory_question *question);
void memory_add_operators(struct table *table, const struct memory_question *question,
                          struct memory_board *board, const struct memory_device *device);

/* memory_steps.c */
struct table *memory_open_steps(const struct memory_question *question);
void memory_add_steps(struct table *table, const struct memory_question *question,
                      const struct memory_device *device);

/* memory_categories.c */
enum { MEMORY_CATEGORY_AT_PEAK = MEMORY_DEVICE + 2 };
struct table *memory_open_categories(const struct memory_question *question);
void memory_add_categories(struct table *table, const struct memory_question *question,
                           const struct memory_device *device, uint32_t peak);

#endif
