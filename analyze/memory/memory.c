/*
 * memory.c - see memory.h.
 *
 * Everything is worked out device by device; the tables lie in files of their own (memory_tables.h).
 */
#include "analyze/memory/memory.h"

#include "facts/callers.h"
#include "analyze/many_rows.h"
#include "analyze/memory/tables.h"
#include "analyze/row_keys.h"
#include "facts/features.h"
#include "trace/span.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants memory_wants = { .args = MEMORY_RECORDS_WANTS | CALLERS_WANTS };
const struct trace_wants memory_code_wants = { .args =
                                                   MEMORY_RECORDS_WANTS | CALLERS_WANTS | CODE_PATHS_WANTS };

/* ---- what the tables share ---- */

struct table *memory_open_table(const struct memory_question *question, const char *key, const char *title,
                                const struct table_column *columns, size_t count)
{
    struct table *table = table_open(key, title, columns, count);
    if (question->trace->file_count > 1)
        table->columns[MEMORY_RANK].flags = 0;
    return table;
}

struct table *memory_open_table_by(const struct memory_question *question, const char *key, const char *title,
                                   const struct table_column *columns, size_t count)
{
    /* clang-format off */
    static const struct table_column ways[] = {
        [MEMORY_BY_MODULE] = { "module", "Module", TABLE_NAME, "the innermost nn.Module around the allocation", 0, NULL },
        [MEMORY_BY_LINE] = { "line", "Line", TABLE_NAME, "the innermost function outside PyTorch around the allocation", 0, NULL },
        [MEMORY_BY_STEP] = { "step", "Step", TABLE_NAME, "the step of the allocation", 0, NULL },
        [MEMORY_BY_THREAD] = { "thread", "Thread", TABLE_TEXT, "number and name of the host thread that allocated", 0, NULL },
        [MEMORY_BY_DEVICE] = { "key", "Key", TABLE_TEXT, "nothing", TABLE_HIDDEN, NULL },
    };
    /* clang-format on */
    struct table *table = memory_open_table(question, key, title, columns, count);
    if (question->options->by != MEMORY_BY_OPERATOR)
        table->columns[MEMORY_KEY] = ways[question->options->by];
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

static void set_text(struct table *table, size_t row, const char *text)
{
    table_set_text(table, row, MEMORY_KEY, text, strlen(text));
}

void memory_set_key(struct table *table, size_t row, const struct memory_question *question, uint32_t key)
{
    const struct trace *trace = question->trace;
    bool none = key == question->key_count;
    struct buffer text = { 0 };
    switch (question->options->by) {
    case MEMORY_BY_OPERATOR: memory_set_owner(table, row, MEMORY_KEY, question, key); break;
    case MEMORY_BY_MODULE:
    case MEMORY_BY_LINE:
        if (!none)
            set_text(table, row, names_text(question->paths->labels, key));
        else
            set_text(table, row,
                     question->options->by == MEMORY_BY_LINE ? "(outside any line)" : "(outside any module)");
        break;
    case MEMORY_BY_STEP:
        set_text(table, row, none ? "(outside steps)" : trace_name(trace, question->steps->at[key].event));
        break;
    case MEMORY_BY_THREAD:
        row_keys_show_thread(trace, key, &text);
        table_set_text(table, row, MEMORY_KEY, text.at, text.count);
        break;
    case MEMORY_BY_DEVICE: break;
    }
    buffer_release(&text);
}

bool memory_owner_is_selected(const struct memory_question *question, const struct memory_record *record)
{
    if (record->owner == EVENT_NONE)
        return !question->options->filtered;
    return selection_holds_name(question->selection, question->trace->name[record->owner]);
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
    const struct step *step = step_list_at(question->steps, file, trace->start_ns[e]);
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
    enum memory_by by = question->options->by;
    if (question->paths && !(trace_features(trace) & FEATURE_STACKS))
        result_add_notice(
            result, "no_stacks", 0, NULL, TPA_NOWHERE,
            "the trace holds no %s, so no block is on a line or in a module; to record them, %s",
            trace_feature_name(FEATURE_STACKS), trace_feature_recipe(FEATURE_STACKS));
    if (by == MEMORY_BY_STEP && question->steps->count == 0)
        result_add_notice(result, "no_steps", 0, NULL, TPA_NOWHERE,
                          "the trace marks no steps; to record them, %s",
                          trace_feature_recipe(FEATURE_STEPS));
    if (lost_frees)
        result_add_notice(
            result, "lost_frees", lost_frees, NULL, TPA_NOWHERE,
            "blocks were allocated where another still lay: its free is not in the file, and is taken "
            "to be just before");
}

static uint32_t step_of(const struct memory_question *question, event_id e)
{
    const struct trace *trace = question->trace;
    const struct step *step =
        step_list_at(question->steps, trace->tracks[trace->track[e]].file, trace->start_ns[e]);
    return step ? (uint32_t)(step - question->steps->at) : question->key_count;
}

static uint32_t label_of(const struct memory_question *question, event_id e)
{
    assert(question->paths); /* rows are code places */
    uint32_t path = code_place_of(question->paths, e).path;
    return path == CODE_OUTSIDE ? question->key_count : question->paths->at[path].label;
}

/* What tells rows apart, worked out for each record. */
static void find_keys(struct memory_question *question)
{
    const struct trace *trace = question->trace;
    enum memory_by by = question->options->by;
    question->key_count = question->no_operator;
    if (by == MEMORY_BY_OPERATOR)
        return;
    if (by == MEMORY_BY_MODULE || by == MEMORY_BY_LINE) {
        question->paths = code_paths_open(trace, by == MEMORY_BY_LINE ? CODE_LINES : CODE_MODULES);
        question->key_count = (uint32_t)names_count(question->paths->labels);
    }
    if (by == MEMORY_BY_STEP)
        question->key_count = (uint32_t)question->steps->count;
    if (by == MEMORY_BY_THREAD)
        question->key_count = (uint32_t)trace->track_count;
    if (by == MEMORY_BY_DEVICE) {
        question->key_count = 1;
        return;
    }
    question->keys = mem_alloc((question->records->count + 1) * sizeof *question->keys);
    for (uint32_t i = 0; i < question->records->count; i++) {
        event_id e = question->records->at[i].event;
        question->keys[i] = by == MEMORY_BY_STEP     ? step_of(question, e)
                            : by == MEMORY_BY_THREAD ? trace->track[e]
                                                     : label_of(question, e);
    }
}

static void open_question(struct memory_question *question, const struct trace *trace,
                          const struct selection *selection, const struct memory_options *options,
                          const struct memory_records *records)
{
    size_t name_count = names_count(trace->names);
    int64_t number;
    *question = (struct memory_question){
        .trace = trace, .selection = selection, .options = options, .records = records
    };
    question->steps = step_list_of(trace);
    question->origins = mem_alloc((trace->file_count + 1) * sizeof *question->origins);
    for (uint32_t f = 0; f < trace->file_count; f++)
        question->origins[f] = trace_file_span(trace, f).start_ns;
    question->is_step = mem_zalloc(name_count + 1, sizeof *question->is_step);
    for (name_id id = 0; id < name_count; id++)
        question->is_step[id] = step_number(names_text(trace->names, id), &number);
    question->no_operator = (name_id)name_count;
    find_keys(question);
}

static void release_question(struct memory_question *question)
{
    free(question->is_step);
    free(question->origins);
    free(question->keys);
    code_paths_free(question->paths);
}

/* Put TABLE, sorted, into RESULT; without rows it says nothing. */
static void give_table(struct result *result, struct table *table, size_t sort)
{
    if (sort != TABLE_NO_COLUMN)
        table_sort(table, sort, false);
    table_drop_hidden(table);
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
    struct memory_records *records =
        memory_records_open(trace, options->brief ? MEMORY_LEVELS : MEMORY_OWNERS);
    struct memory_question question;
    open_question(&question, trace, selection, options, records);
    struct table *peaks = memory_open_peaks(&question), *alive = memory_open_alive(&question),
                 *categories = memory_open_categories(&question),
                 *operators = memory_open_operators(&question), *steps = memory_open_steps(&question),
                 *unfreed = memory_open_unfreed(&question);
    struct memory_board *board = options->brief ? NULL : memory_board_open(&question);
    VEC_OF(uint32_t) peak_of_row = { 0 };
    int64_t left_out = 0;
    for (size_t d = 0; d < records->device_count; d++) {
        const struct memory_device *device = &records->devices[d];
        uint32_t peak = is_wanted(options, device) ? memory_add_peak(peaks, &question, device) : RECORD_NONE;
        if (peak == RECORD_NONE)
            continue;
        *VEC_PUSH(&peak_of_row) = peak;
        left_out += many_rows(steps) || many_rows(operators);
        if (!many_rows(steps))
            memory_add_steps(steps, &question, device);
        if (options->brief)
            continue;
        if (device->has_categories)
            memory_add_categories(categories, &question, device, peak);
        if ((device->has_owners || !device->has_categories) && !many_rows(operators))
            memory_add_operators(operators, &question, board, device);
        if (device->has_addresses) {
            memory_add_alive(alive, &question, device, peak);
            memory_add_unfreed(unfreed, &question, device);
        }
    }
    if (!options->brief)
        memory_add_lines(peaks, &question, peak_of_row.at);
    VEC_FREE(&peak_of_row);
    memory_close_peaks(peaks);
    give_table(result, peaks, TABLE_NO_COLUMN);
    give_table(result, categories, MEMORY_CATEGORY_AT_PEAK);
    give_table(result, alive, MEMORY_ALIVE_BYTES);
    give_table(result, operators, MEMORY_SELF_ALLOCATED);
    give_table(result, steps, TABLE_NO_COLUMN);
    give_table(result, unfreed, MEMORY_UNFREED_BYTES);
    add_notices(&question, result);
    many_rows_tell(result, left_out);
    memory_board_free(board);
    release_question(&question);
    memory_records_free(records);
}
