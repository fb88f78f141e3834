/*
 * memory.c - see memory.h.
 *
 * Everything is worked out device by device; the tables lie in files of their own (memory_tables.h).
 */
#include "analyze/memory.h"

#include "analyze/callers.h"
#include "analyze/memory_tables.h"
#include "trace/span.h"
#include <stdlib.h>
#include <string.h>

const struct trace_wants memory_wants = { .args = MEMORY_RECORDS_WANTS | CALLERS_WANTS };

/* ---- what the tables share ---- */

struct table *memory_open_table(const struct memory_question *question, const char *key, const char *title,
                                const struct table_column *columns, size_t count)
{
    struct table *table = table_open(key, title, columns, count);
    if (question->trace->file_count > 1)
        table->columns[MEMORY_RANK].flags = 0;
    return table;
}

size_t memory_add_row(struct table *table, const struct memory_question *question,
                      const struct memory_device *device)
{
    size_t row = table_add_row(table);
    table_set_int(table, row, MEMORY_RANK, selection_rank(question->trace, device->file));
    if (device->type == MEMORY_TYPE_UNTOLD)
        return row;
    const char *type = memory_device_type_name(device->type);
    struct buffer text = { 0 };
    if (type)
        buffer_puts(&text, type);
    else
        buffer_printf(&text, "type %lld", (long long)device->type);
    if (device->id >= 0)
        buffer_printf(&text, ":%lld", (long long)device->id);
    table_set_text(table, row, MEMORY_DEVICE, text.at, text.count);
    buffer_release(&text);
    return row;
}

void memory_set_owner(struct table *table, size_t row, size_t column, const struct memory_question *question,
                      name_id name)
{
    const struct names *names = question->trace->names;
    if (name == question->no_operator)
        table_set_text(table, row, column, "[no operator]", strlen("[no operator]"));
    else
        table_set_text(table, row, column, names_text(names, name), names_length(names, name));
}

void memory_set_moment(struct table *table, size_t row, size_t column, const struct memory_question *question,
                       event_id e)
{
    const struct trace *trace = question->trace;
    uint32_t file = trace->tracks[trace->track[e]].file;
    table_set_int(table, row, column, trace->start_ns[e] - question->origins[file]);
}

void memory_set_step(struct table *table, size_t row, size_t column, const struct memory_question *question,
                     event_id e)
{
    const struct trace *trace = question->trace;
    uint32_t file = trace->tracks[trace->track[e]].file;
    const struct step *step = steps_at(question->steps, file, trace->start_ns[e]);
    if (step)
        table_set_int(table, row, column, step->number);
}

/* ---- the whole ---- */

static void add_notices(const struct memory_question *question, struct result *result)
{
    int64_t untold_totals = 0, untold_addresses = 0, lost_frees = 0, failures = 0, timelines = 0;
    for (size_t d = 0; d < question->records->device_count; d++) {
        const struct memory_device *device = &question->records->devices[d];
        bool timeline = device->has_categories && !device->has_totals && !device->has_addresses;
        timelines += timeline;
        untold_totals += device->has_totals || timeline ? 0 : device->count;
        untold_addresses += device->has_addresses || timeline ? 0 : device->count;
        lost_frees += device->lost_frees;
    }
    const struct trace *trace = question->trace;
    name_id out_of_memory = names_find(trace->names, "[OutOfMemory]", strlen("[OutOfMemory]"));
    for (event_id e = 0; e < trace->event_count; e++)
        failures += trace->name[e] == out_of_memory && selection_holds_place(question->selection, e);
    if (failures)
        result_add_notice(result, "out_of_memory", failures, NULL, TPA_NOWHERE,
                          "a device ran out of memory: allocations that failed");
    if (untold_totals)
        result_add_notice(
            result, "untold_totals", untold_totals, NULL, TPA_NOWHERE,
            "records do not tell the bytes in use, which are therefore counted: of what was allocated before "
            "recording only that is in the peak which was freed while it went on");
    if (timelines)
        result_add_notice(
            result, "memory_timeline", timelines, NULL, TPA_NOWHERE,
            "a memory timeline tells neither the device nor operators, blocks and reserved bytes; a "
            "trace recorded with profile_memory=True does");
    if (untold_addresses)
        result_add_notice(
            result, "untold_addresses", untold_addresses, NULL, TPA_NOWHERE,
            "records do not tell addresses, so what was alive at the peak, and what was never freed, is "
            "not known");
    if (lost_frees)
        result_add_notice(
            result, "lost_frees", lost_frees, NULL, TPA_NOWHERE,
            "blocks were allocated where another still lay: its free is not in the file, and is taken "
            "to be just before");
}

static void open_question(struct memory_question *question, const struct trace *trace,
                          const struct selection *selection)
{
    size_t name_count = names_count(trace->names);
    int64_t number;
    *question = (struct memory_question){ .trace = trace, .selection = selection };
    question->steps = steps_of(trace);
    question->origins = mem_alloc((trace->file_count + 1) * sizeof *question->origins);
    for (uint32_t f = 0; f < trace->file_count; f++)
        question->origins[f] = trace_file_span(trace, f).start_ns;
    question->is_step = mem_zalloc(name_count + 1, sizeof *question->is_step);
    for (name_id id = 0; id < name_count; id++)
        question->is_step[id] = step_number(names_text(trace->names, id), &number);
    question->no_operator = (name_id)name_count;
}

static void release_question(struct memory_question *question)
{
    free(question->is_step);
    free(question->origins);
}

/* Put TABLE, sorted, into RESULT; without rows it says nothing. */
static void give_table(struct result *result, struct table *table, size_t sort)
{
    if (sort != TABLE_NO_COLUMN)
        table_sort(table, sort, false);
    if (table->row_count)
        result_add_table(result, table);
    else
        table_free(table);
}

/* Is the memory that of a device asked for? The host's always is, and that of which the file does not tell. */
static bool is_wanted(const struct memory_options *options, const struct memory_device *device)
{
    return memory_is_host(device) || device->type == MEMORY_TYPE_UNTOLD ||
           ranges_hold(&options->devices, device->id);
}

void memory_add_tables(const struct trace *trace, const struct selection *selection,
                       const struct memory_options *options, struct result *result)
{
    struct memory_records *records = memory_records_open(trace);
    struct memory_question question;
    open_question(&question, trace, selection);
    question.records = records;
    struct table *peaks = memory_open_peaks(&question), *alive = memory_open_alive(&question),
                 *categories = memory_open_categories(&question),
                 *operators = memory_open_operators(&question), *steps = memory_open_steps(&question),
                 *unfreed = memory_open_unfreed(&question);
    struct memory_board *board = memory_board_open(&question);
    for (size_t d = 0; d < records->device_count; d++) {
        const struct memory_device *device = &records->devices[d];
        uint32_t peak = is_wanted(options, device) ? memory_add_peak(peaks, &question, device) : RECORD_NONE;
        if (peak == RECORD_NONE)
            continue;
        memory_add_steps(steps, &question, device);
        if (options->brief)
            continue;
        if (device->has_categories)
            memory_add_categories(categories, &question, device, peak);
        if (device->has_owners || !device->has_categories)
            memory_add_operators(operators, &question, board, device);
        if (device->has_addresses) {
            memory_add_alive(alive, &question, device, peak);
            memory_add_unfreed(unfreed, &question, device);
        }
    }
    memory_close_peaks(peaks);
    give_table(result, peaks, TABLE_NO_COLUMN);
    give_table(result, categories, MEMORY_CATEGORY_AT_PEAK);
    give_table(result, alive, MEMORY_ALIVE_BYTES);
    give_table(result, operators, MEMORY_SELF_ALLOCATED);
    give_table(result, steps, TABLE_NO_COLUMN);
    give_table(result, unfreed, MEMORY_UNFREED_BYTES);
    add_notices(&question, result);
    memory_board_free(board);
    release_question(&question);
    memory_records_free(records);
}
