/*
 * memory.c - see memory.h.
 *
 * Everything is worked out device by device: sums by operator lie in arrays by name, which are emptied again after each
 * device. What a call allocates with all it called is summed up the call tree, but only where records lie, so that
 * a device with few records costs little.
 */
#include "analyze/memory.h"

#include "analyze/memory_records.h"
#include "trace/span.h"
#include "trace/steps.h"
#include <stdlib.h>

const struct trace_wants memory_wants = { .args = MEMORY_RECORDS_WANTS };

/* Sums of allocations and of frees; all not negative. */
enum { ALLOCATED, FREED, WAYS };
struct sums {
    int64_t count[WAYS], bytes[WAYS];
};

/* Sums by operator, of one device at a time. */
struct board {
    struct sums *self, *total; /* by name; the last is for records in no operator */
    bool *listed;              /* by name: is it in NAMES? */
    VEC_OF(name_id) names;     /* those with a sum */
    struct sums *calls;        /* by node: what the call allocated itself, then with what it called */
    bool *visited;             /* by node: is it in NODES? */
    VEC_OF(node_id) nodes;     /* calls with records in them */
    uint32_t *open;            /* by name: calls of it on the stack */
    VEC_OF(node_id) stack;
};

struct question {
    const struct trace *trace;
    const struct selection *selection;
    const struct memory_records *records;
    struct steps *steps;
    int64_t *origins;    /* by file */
    bool *is_step;       /* by name */
    name_id no_operator; /* stands for it in arrays by name */
    struct board board;
    struct table *memory, *alive, *operators, *growth, *unfreed;
};

static bool is_selected(const struct question *question, const struct memory_record *record)
{
    return selection_holds_place(question->selection, record->event);
}

static name_id operator_of(const struct question *question, const struct memory_record *record)
{
    event_id e = memory_operator(question->records, record);
    return e == EVENT_NONE ? question->no_operator : question->trace->name[e];
}

/* ---- cells that several tables have ---- */

/* The first columns of every table. */
enum { COLUMN_RANK, COLUMN_DEVICE, COLUMN_OPERATOR };

/* clang-format off */
#define DEVICE_COLUMNS \
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL }, \
    { "device", "Device", TABLE_TEXT, "the memory: cpu, or a device such as cuda:0", 0, NULL }
/* clang-format on */

/* A new row of TABLE, about DEVICE. */
static size_t add_row(struct table *table, const struct question *question,
                      const struct memory_device *device)
{
    size_t row = table_add_row(table);
    const char *type = memory_device_type_name(device->type);
    struct buffer text = { 0 };
    if (type)
        buffer_puts(&text, type);
    else
        buffer_printf(&text, "type %lld", (long long)device->type);
    if (device->id >= 0)
        buffer_printf(&text, ":%lld", (long long)device->id);
    table_set_int(table, row, COLUMN_RANK, selection_rank(question->trace, device->file));
    table_set_text(table, row, COLUMN_DEVICE, text.at, text.count);
    buffer_release(&text);
    return row;
}

static void set_operator(struct table *table, size_t row, size_t column, const struct question *question,
                         name_id name)
{
    const struct names *names = question->trace->names;
    if (name == question->no_operator)
        table_set_text(table, row, column, "[no operator]", strlen("[no operator]"));
    else
        table_set_text(table, row, column, names_text(names, name), names_length(names, name));
}

static void set_moment(struct table *table, size_t row, size_t column, const struct question *question,
                       const struct memory_device *device, event_id e)
{
    table_set_int(table, row, column, question->trace->start_ns[e] - question->origins[device->file]);
}

static void set_step(struct table *table, size_t row, size_t column, const struct question *question,
                     const struct memory_device *device, event_id e)
{
    const struct step *step = steps_at(question->steps, device->file, question->trace->start_ns[e]);
    if (step)
        table_set_int(table, row, column, step->number);
}

/* ---- memory by device ---- */

enum memory_column {
    MEMORY_PEAK = COLUMN_DEVICE + 1,
    MEMORY_PEAK_TIME,
    MEMORY_PEAK_STEP,
    MEMORY_OPERATOR,
    MEMORY_RESERVED,
    MEMORY_UNUSED,
    MEMORY_START,
    MEMORY_END,
    MEMORY_ALLOCATIONS,
    MEMORY_ALLOCATED,
    MEMORY_FREES,
    MEMORY_FREED,
    MEMORY_RECORDS,
    MEMORY_RESERVED_TIME,
    MEMORY_RESERVED_AT_PEAK,
    MEMORY_STACK,
    MEMORY_COLUMNS
};

/* clang-format off */
static const struct table_column memory_columns[MEMORY_COLUMNS] = {
    DEVICE_COLUMNS,
    { "peak_allocated", "Peak", TABLE_BYTES, "most bytes in use after any record", 0, "peak" },
    { "peak_time", "Peak at", TABLE_MOMENT, "when that was first so", 0, NULL },
    { "peak_step", "Step", TABLE_COUNT, "step at the peak", 0, NULL },
    { "peak_operator", "Operator at peak", TABLE_NAME, "operator that made the allocation which reached the peak", 0, NULL },
    { "peak_reserved", "Peak reserved", TABLE_BYTES, "most bytes that the allocator held of the device", 0, "reserved" },
    { "unused_at_peak", "Unused at peak", TABLE_SHARE, "share of the reserved bytes that was not in use at the peak", 0, "fragmentation" },
    { "start", "At start", TABLE_BYTES, "bytes in use before the first record", TABLE_OPTIONAL, NULL },
    { "end", "At end", TABLE_BYTES, "bytes in use after the last record", 0, NULL },
    { "allocations", "Allocations", TABLE_COUNT, "how many blocks were allocated", 0, NULL },
    { "allocated", "Allocated", TABLE_BYTES, "bytes of these blocks", 0, NULL },
    { "frees", "Frees", TABLE_COUNT, "how many blocks were freed", TABLE_OPTIONAL, NULL },
    { "freed", "Freed", TABLE_BYTES, "bytes of these blocks", TABLE_OPTIONAL, NULL },
    { "records", "Records", TABLE_COUNT, "how many records there are", TABLE_OPTIONAL, NULL },
    { "peak_reserved_time", "Reserved at", TABLE_MOMENT, "when the peak of the reserved bytes was reached", TABLE_OPTIONAL, NULL },
    { "reserved_at_peak", "Reserved then", TABLE_BYTES, "reserved bytes at the peak of those in use", TABLE_OPTIONAL, NULL },
    { "peak_stack", "Stack at peak", TABLE_TEXT, "operators and annotations at the peak, outermost first", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

/* "ProfilerStep#3 > aten::mm": what RECORD lies in. */
static void set_stack(struct table *table, size_t row, const struct question *question,
                      const struct memory_record *record)
{
    const struct calltree *tree = question->records->tree;
    VEC_OF(node_id) path = { 0 };
    struct buffer text = { 0 };
    for (node_id n = tree->parent[record->node]; n != NODE_NONE; n = tree->parent[n])
        *VEC_PUSH(&path) = n;
    for (size_t i = path.count; i-- > 0;) {
        buffer_puts(&text, i + 1 < path.count ? " > " : "");
        buffer_puts(&text, trace_name(question->trace, tree->event[path.at[i]]));
    }
    table_set_text(table, row, MEMORY_STACK, text.at, text.count);
    buffer_release(&text);
    VEC_FREE(&path);
}

static void set_peak(struct table *table, size_t row, const struct question *question,
                     const struct memory_device *device, const struct memory_record *peak)
{
    table_set_int(table, row, MEMORY_PEAK, peak->allocated);
    set_moment(table, row, MEMORY_PEAK_TIME, question, device, peak->event);
    set_step(table, row, MEMORY_PEAK_STEP, question, device, peak->event);
    set_operator(table, row, MEMORY_OPERATOR, question, operator_of(question, peak));
    set_stack(table, row, question, peak);
    if (peak->reserved >= 0)
        table_set_int(table, row, MEMORY_RESERVED_AT_PEAK, peak->reserved);
    if (peak->reserved > 0)
        table_set_number(table, row, MEMORY_UNUSED, 1.0 - (double)peak->allocated / (double)peak->reserved);
}

/* A row for DEVICE. The record at which memory peaked, RECORD_NONE when none is selected. */
static uint32_t add_device(struct question *question, const struct memory_device *device)
{
    const struct memory_record *at = question->records->at;
    struct table *table = question->memory;
    uint32_t peak = RECORD_NONE, reserved = RECORD_NONE, first = RECORD_NONE, last = RECORD_NONE, count = 0;
    struct sums sums = { 0 };
    for (uint32_t i = device->first; i < device->first + device->count; i++) {
        if (!is_selected(question, &at[i]))
            continue;
        first = count++ ? first : i;
        last = i;
        if (peak == RECORD_NONE || at[i].allocated > at[peak].allocated)
            peak = i;
        if (at[i].reserved >= 0 && (reserved == RECORD_NONE || at[i].reserved > at[reserved].reserved))
            reserved = i;
        int way = at[i].bytes < 0 ? FREED : ALLOCATED;
        sums.count[way] += at[i].bytes != 0;
        sums.bytes[way] = memory_plus(sums.bytes[way], llabs(at[i].bytes));
    }
    if (peak == RECORD_NONE)
        return RECORD_NONE;
    size_t row = add_row(table, question, device);
    set_peak(table, row, question, device, &at[peak]);
    if (reserved != RECORD_NONE) {
        table_set_int(table, row, MEMORY_RESERVED, at[reserved].reserved);
        set_moment(table, row, MEMORY_RESERVED_TIME, question, device, at[reserved].event);
    }
    table_set_int(table, row, MEMORY_START,
                  first == device->first ? device->before : at[first - 1].allocated);
    table_set_int(table, row, MEMORY_END, at[last].allocated);
    table_set_int(table, row, MEMORY_ALLOCATIONS, sums.count[ALLOCATED]);
    table_set_int(table, row, MEMORY_ALLOCATED, sums.bytes[ALLOCATED]);
    table_set_int(table, row, MEMORY_FREES, sums.count[FREED]);
    table_set_int(table, row, MEMORY_FREED, sums.bytes[FREED]);
    table_set_int(table, row, MEMORY_RECORDS, count);
    return peak;
}

/* ---- sums by operator ---- */

static void board_init(struct board *board, size_t names, size_t nodes)
{
    *board = (struct board){
        .self = mem_zalloc(names + 1, sizeof *board->self),
        .total = mem_zalloc(names + 1, sizeof *board->total),
        .listed = mem_zalloc(names + 1, sizeof *board->listed),
        .open = mem_zalloc(names + 1, sizeof *board->open),
        .calls = mem_zalloc(nodes + 1, sizeof *board->calls),
        .visited = mem_zalloc(nodes + 1, sizeof *board->visited),
    };
}

static void board_release(struct board *board)
{
    free(board->self);
    free(board->total);
    free(board->listed);
    free(board->open);
    free(board->calls);
    free(board->visited);
    VEC_FREE(&board->names);
    VEC_FREE(&board->nodes);
    VEC_FREE(&board->stack);
}

/* Ready for the next device. */
static void board_clear(struct board *board)
{
    for (size_t i = 0; i < board->names.count; i++) {
        name_id name = board->names.at[i];
        board->self[name] = board->total[name] = (struct sums){ 0 };
        board->listed[name] = false;
    }
    for (size_t i = 0; i < board->nodes.count; i++) {
        board->calls[board->nodes.at[i]] = (struct sums){ 0 };
        board->visited[board->nodes.at[i]] = false;
    }
    board->names.count = board->nodes.count = 0;
}

static void add_sums(struct sums *to, const struct sums *from)
{
    for (int way = 0; way < WAYS; way++) {
        to->count[way] += from->count[way];
        to->bytes[way] = memory_plus(to->bytes[way], from->bytes[way]);
    }
}

static void list_name(struct board *board, name_id name)
{
    if (!board->listed[name])
        *VEC_PUSH(&board->names) = name;
    board->listed[name] = true;
}

static void board_add(struct question *question, const struct memory_record *record)
{
    struct board *board = &question->board;
    const struct calltree *tree = question->records->tree;
    int way = record->bytes < 0 ? FREED : ALLOCATED;
    struct sums sums = { 0 };
    sums.count[way] = record->bytes != 0;
    sums.bytes[way] = llabs(record->bytes);

    name_id name = operator_of(question, record);
    list_name(board, name);
    add_sums(&board->self[name], &sums);
    if (name == question->no_operator)
        add_sums(&board->total[name], &sums);
    node_id parent = tree->parent[record->node];
    if (parent != NODE_NONE)
        add_sums(&board->calls[parent], &sums);
    for (node_id n = parent; n != NODE_NONE && !board->visited[n]; n = tree->parent[n]) {
        board->visited[n] = true;
        *VEC_PUSH(&board->nodes) = n;
    }
}

static int compare_nodes(const void *left, const void *right)
{
    node_id a = *(const node_id *)left, b = *(const node_id *)right;
    return (a > b) - (a < b);
}

/* What was added to the calls goes up to their callers and into the totals of names; nested calls of a name count once. */
static void board_sum_up(struct question *question)
{
    struct board *board = &question->board;
    const struct calltree *tree = question->records->tree;
    if (board->nodes.count)
        qsort(board->nodes.at, board->nodes.count, sizeof *board->nodes.at, compare_nodes);
    for (size_t i = board->nodes.count; i-- > 0;) {
        node_id n = board->nodes.at[i];
        if (tree->parent[n] != NODE_NONE)
            add_sums(&board->calls[tree->parent[n]], &board->calls[n]);
    }
    const name_id *name = question->trace->name;
    for (size_t i = 0; i <= board->nodes.count; i++) { /* callers first; at last the stack is emptied */
        node_id n = i < board->nodes.count ? board->nodes.at[i] : NODE_NONE;
        node_id parent = n == NODE_NONE ? NODE_NONE : tree->parent[n];
        while (board->stack.count && board->stack.at[board->stack.count - 1] != parent)
            board->open[name[tree->event[board->stack.at[--board->stack.count]]]]--;
        if (n == NODE_NONE)
            break;
        name_id own = name[tree->event[n]];
        if (board->open[own]++ == 0 && !question->is_step[own]) {
            list_name(board, own);
            add_sums(&board->total[own], &board->calls[n]);
        }
        *VEC_PUSH(&board->stack) = n;
    }
}

/* ---- alive at the peak ---- */

enum alive_column {
    ALIVE_BYTES = COLUMN_OPERATOR + 1,
    ALIVE_SHARE,
    ALIVE_COUNT,
    ALIVE_LARGEST,
    ALIVE_COLUMNS
};

/* clang-format off */
static const struct table_column alive_columns[ALIVE_COLUMNS] = {
    DEVICE_COLUMNS,
    { "operator", "Operator", TABLE_NAME, "operator that allocated the blocks; [before recording]: what is left of the peak", 0, NULL },
    { "bytes", "Bytes", TABLE_BYTES, "bytes of its blocks in use at the peak", 0, NULL },
    { "share", "Share", TABLE_SHARE, "share of the peak", 0, NULL },
    { "count", "Blocks", TABLE_COUNT, "how many blocks", 0, NULL },
    { "largest", "Largest", TABLE_BYTES, "the largest of them", 0, NULL },
};
/* clang-format on */

static void add_alive(struct question *question, const struct memory_device *device, uint32_t peak)
{
    const struct memory_record *at = question->records->at;
    struct board *board = &question->board;
    struct table *table = question->alive;
    int64_t whole = at[peak].allocated, rest = whole;
    for (uint32_t i = device->first; i <= peak; i++) {
        if (at[i].bytes <= 0 || at[i].ended_by <= peak)
            continue;
        name_id name = operator_of(question, &at[i]);
        list_name(board, name);
        board->self[name].count[ALLOCATED]++;
        board->self[name].bytes[ALLOCATED] = memory_plus(board->self[name].bytes[ALLOCATED], at[i].bytes);
        if (at[i].bytes > board->total[name].bytes[ALLOCATED]) /* here: the largest block */
            board->total[name].bytes[ALLOCATED] = at[i].bytes;
        rest = memory_plus(rest, -at[i].bytes);
    }
    for (size_t i = 0; i < board->names.count; i++) {
        name_id name = board->names.at[i];
        size_t row = add_row(table, question, device);
        set_operator(table, row, COLUMN_OPERATOR, question, name);
        table_set_int(table, row, ALIVE_BYTES, board->self[name].bytes[ALLOCATED]);
        table_set_int(table, row, ALIVE_COUNT, board->self[name].count[ALLOCATED]);
        table_set_int(table, row, ALIVE_LARGEST, board->total[name].bytes[ALLOCATED]);
        if (whole)
            table_set_number(table, row, ALIVE_SHARE,
                             (double)board->self[name].bytes[ALLOCATED] / (double)whole);
    }
    board_clear(board);
    if (rest == 0)
        return;
    size_t row = add_row(table, question, device);
    table_set_text(table, row, COLUMN_OPERATOR, "[before recording]", strlen("[before recording]"));
    table_set_int(table, row, ALIVE_BYTES, rest);
    if (whole)
        table_set_number(table, row, ALIVE_SHARE, (double)rest / (double)whole);
}

/* ---- operators ---- */

enum operator_column {
    OPERATOR_SELF = COLUMN_OPERATOR + 1,
    OPERATOR_TOTAL,
    OPERATOR_NET,
    OPERATOR_NET_TOTAL,
    OPERATOR_COUNT,
    OPERATOR_COUNT_TOTAL,
    OPERATOR_FREES,
    OPERATOR_FREED,
    OPERATOR_FREES_TOTAL,
    OPERATOR_FREED_TOTAL,
    OPERATOR_COLUMNS
};

/* clang-format off */
static const struct table_column operator_columns[OPERATOR_COLUMNS] = {
    DEVICE_COLUMNS,
    { "operator", "Operator", TABLE_NAME, "innermost operator, else annotation, around the record", 0, "name" },
    { "self_allocated", "Self allocated", TABLE_BYTES, "bytes it allocated itself", 0, NULL },
    { "allocated", "Allocated", TABLE_BYTES, "bytes it and all it called allocated", 0, NULL },
    { "self_net", "Self kept", TABLE_BYTES, "bytes it allocated less bytes it freed itself", 0, NULL },
    { "net", "Kept", TABLE_BYTES, "the same with all it called", 0, NULL },
    { "self_allocations", "Self allocations", TABLE_COUNT, "how many blocks it allocated itself", 0, "count" },
    { "allocations", "Allocations", TABLE_COUNT, "how many blocks it and all it called allocated", TABLE_OPTIONAL, NULL },
    { "self_frees", "Self frees", TABLE_COUNT, "how many blocks it freed itself", TABLE_OPTIONAL, NULL },
    { "self_freed", "Self freed", TABLE_BYTES, "bytes it freed itself", TABLE_OPTIONAL, NULL },
    { "frees", "Frees", TABLE_COUNT, "how many blocks it and all it called freed", TABLE_OPTIONAL, NULL },
    { "freed", "Freed", TABLE_BYTES, "bytes it and all it called freed", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

static void add_operators(struct question *question, const struct memory_device *device)
{
    struct board *board = &question->board;
    struct table *table = question->operators;
    for (uint32_t i = device->first; i < device->first + device->count; i++)
        if (is_selected(question, &question->records->at[i]))
            board_add(question, &question->records->at[i]);
    board_sum_up(question);
    for (size_t i = 0; i < board->names.count; i++) {
        name_id name = board->names.at[i];
        if (name != question->no_operator && !selection_holds_name(question->selection, name))
            continue;
        const struct sums *self = &board->self[name], *total = &board->total[name];
        size_t row = add_row(table, question, device);
        set_operator(table, row, COLUMN_OPERATOR, question, name);
        table_set_int(table, row, OPERATOR_SELF, self->bytes[ALLOCATED]);
        table_set_int(table, row, OPERATOR_TOTAL, total->bytes[ALLOCATED]);
        table_set_int(table, row, OPERATOR_NET, self->bytes[ALLOCATED] - self->bytes[FREED]);
        table_set_int(table, row, OPERATOR_NET_TOTAL, total->bytes[ALLOCATED] - total->bytes[FREED]);
        table_set_int(table, row, OPERATOR_COUNT, self->count[ALLOCATED]);
        table_set_int(table, row, OPERATOR_COUNT_TOTAL, total->count[ALLOCATED]);
        table_set_int(table, row, OPERATOR_FREES, self->count[FREED]);
        table_set_int(table, row, OPERATOR_FREED, self->bytes[FREED]);
        table_set_int(table, row, OPERATOR_FREES_TOTAL, total->count[FREED]);
        table_set_int(table, row, OPERATOR_FREED_TOTAL, total->bytes[FREED]);
    }
    board_clear(board);
}

/* ---- steps ---- */

enum growth_column {
    GROWTH_STEP = COLUMN_DEVICE + 1,
    GROWTH_START,
    GROWTH_PEAK,
    GROWTH_END,
    GROWTH_GROWTH,
    GROWTH_COLUMNS
};

/* clang-format off */
static const struct table_column growth_columns[GROWTH_COLUMNS] = {
    DEVICE_COLUMNS,
    { "step", "Step", TABLE_COUNT, "number of the step", 0, NULL },
    { "start", "At start", TABLE_BYTES, "bytes in use as the step began", 0, NULL },
    { "peak", "Peak", TABLE_BYTES, "most bytes in use during the step", 0, NULL },
    { "end", "At end", TABLE_BYTES, "bytes in use as it ended", 0, NULL },
    { "growth", "Growth", TABLE_BYTES, "what the end has more than the start", 0, NULL },
};
/* clang-format on */

/* Step after step: both steps and records come in order of time, so one pass does it. */
static void add_growth(struct question *question, const struct memory_device *device)
{
    const struct trace *trace = question->trace;
    const struct memory_record *at = question->records->at;
    const struct steps *steps = question->steps;
    struct table *table = question->growth;
    uint32_t i = device->first, end = device->first + device->count;
    int64_t level = device->before;
    for (size_t s = 0; s < steps->count; s++) {
        const struct step *step = &steps->at[s];
        if (step->file != device->file)
            continue;
        bool cut = s + 1 < steps->count && steps->at[s + 1].file == step->file &&
                   steps->at[s + 1].start_ns < step->end_ns;
        int64_t end_ns = cut ? steps->at[s + 1].start_ns : step->end_ns;
        for (; i < end && trace->start_ns[at[i].event] < step->start_ns; i++)
            level = at[i].allocated;
        int64_t start = level, peak = level;
        for (; i < end && trace->start_ns[at[i].event] < end_ns; i++) {
            level = at[i].allocated;
            peak = level > peak ? level : peak;
        }
        if (!selection_holds_place(question->selection, step->event))
            continue;
        size_t row = add_row(table, question, device);
        table_set_int(table, row, GROWTH_STEP, step->number);
        table_set_int(table, row, GROWTH_START, start);
        table_set_int(table, row, GROWTH_PEAK, peak);
        table_set_int(table, row, GROWTH_END, level);
        table_set_int(table, row, GROWTH_GROWTH, memory_plus(level, -start));
    }
}

/* ---- blocks never freed ---- */

enum unfreed_column {
    UNFREED_BYTES = COLUMN_OPERATOR + 1,
    UNFREED_COUNT,
    UNFREED_SIZE,
    UNFREED_FIRST,
    UNFREED_STEP,
    UNFREED_COLUMNS
};

/* clang-format off */
static const struct table_column unfreed_columns[UNFREED_COLUMNS] = {
    DEVICE_COLUMNS,
    { "operator", "Operator", TABLE_NAME, "operator that allocated the blocks", 0, NULL },
    { "bytes", "Bytes", TABLE_BYTES, "bytes of these blocks", 0, NULL },
    { "count", "Blocks", TABLE_COUNT, "how many blocks", 0, NULL },
    { "size", "Size", TABLE_BYTES, "of each", 0, NULL },
    { "first", "First at", TABLE_MOMENT, "when the first of them was allocated", 0, NULL },
    { "first_step", "Step", TABLE_COUNT, "step in which that was", 0, NULL },
};
/* clang-format on */

struct unfreed {
    name_id name;
    int64_t bytes;
    uint32_t record;
};

static int compare_unfreed(const void *left, const void *right)
{
    const struct unfreed *a = left, *b = right;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return a->record < b->record ? -1 : a->record > b->record;
}

static void add_unfreed(struct question *question, const struct memory_device *device)
{
    const struct memory_record *at = question->records->at;
    struct table *table = question->unfreed;
    VEC_OF(struct unfreed) blocks = { 0 };
    for (uint32_t i = device->first; i < device->first + device->count; i++) {
        if (at[i].bytes <= 0 || at[i].ended_by != RECORD_NONE || !is_selected(question, &at[i]))
            continue;
        name_id name = operator_of(question, &at[i]);
        if (name == question->no_operator || selection_holds_name(question->selection, name))
            *VEC_PUSH(&blocks) = (struct unfreed){ name, at[i].bytes, i };
    }
    if (blocks.count)
        qsort(blocks.at, blocks.count, sizeof *blocks.at, compare_unfreed);
    for (size_t first = 0, end; first < blocks.count; first = end) {
        const struct unfreed *block = &blocks.at[first];
        int64_t bytes = 0;
        for (end = first;
             end < blocks.count && blocks.at[end].name == block->name && blocks.at[end].bytes == block->bytes;
             end++)
            bytes = memory_plus(bytes, block->bytes);
        size_t row = add_row(table, question, device);
        set_operator(table, row, COLUMN_OPERATOR, question, block->name);
        table_set_int(table, row, UNFREED_BYTES, bytes);
        table_set_int(table, row, UNFREED_COUNT, (int64_t)(end - first));
        table_set_int(table, row, UNFREED_SIZE, block->bytes);
        set_moment(table, row, UNFREED_FIRST, question, device, at[block->record].event);
        set_step(table, row, UNFREED_STEP, question, device, at[block->record].event);
    }
    VEC_FREE(&blocks);
}

/* ---- the whole ---- */

static void add_notices(const struct question *question, struct result *result)
{
    int64_t untold_totals = 0, untold_addresses = 0, lost_frees = 0, failures = 0;
    for (size_t d = 0; d < question->records->device_count; d++) {
        const struct memory_device *device = &question->records->devices[d];
        untold_totals += device->has_totals ? 0 : device->count;
        untold_addresses += device->has_addresses ? 0 : device->count;
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
            "records do not tell the bytes in use, which are therefore counted from the start of "
            "recording: what was allocated before is not in the peak");
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

/* Several files tell their ranks. */
static struct table *open_table(const struct question *question, const char *key, const char *title,
                                const struct table_column *columns, size_t count)
{
    struct table *table = table_open(key, title, columns, count);
    if (question->trace->file_count > 1)
        table->columns[COLUMN_RANK].flags = 0;
    return table;
}

static void open_question(struct question *question)
{
    const struct trace *trace = question->trace;
    size_t name_count = names_count(trace->names);
    int64_t number;
    question->steps = steps_open(trace);
    question->origins = mem_alloc((trace->file_count + 1) * sizeof *question->origins);
    for (uint32_t f = 0; f < trace->file_count; f++)
        question->origins[f] = trace_file_span(trace, f).start_ns;
    question->is_step = mem_zalloc(name_count + 1, sizeof *question->is_step);
    for (name_id id = 0; id < name_count; id++)
        question->is_step[id] = step_number(names_text(trace->names, id), &number);
    question->no_operator = (name_id)name_count;
    board_init(&question->board, name_count, question->records->tree->count);
    question->memory = open_table(question, "memory", "Memory by device", memory_columns, MEMORY_COLUMNS);
    question->alive = open_table(question, "alive", "In use at the peak, by the operator that allocated it",
                                 alive_columns, ALIVE_COLUMNS);
    question->operators = open_table(question, "operators", "Allocations and frees by operator",
                                     operator_columns, OPERATOR_COLUMNS);
    question->growth = open_table(question, "steps", "From step to step", growth_columns, GROWTH_COLUMNS);
    question->unfreed = open_table(question, "unfreed", "Allocated and not freed while recording",
                                   unfreed_columns, UNFREED_COLUMNS);
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

void memory_add_tables(const struct trace *trace, const struct selection *selection,
                       const struct memory_options *options, struct result *result)
{
    struct memory_records *records = memory_records_open(trace);
    struct question question = { .trace = trace, .selection = selection, .records = records };
    open_question(&question);
    for (size_t d = 0; d < records->device_count; d++) {
        const struct memory_device *device = &records->devices[d];
        if (!memory_is_host(device) && !ranges_hold(&options->devices, device->id))
            continue;
        uint32_t peak = add_device(&question, device);
        if (peak == RECORD_NONE)
            continue;
        add_operators(&question, device);
        add_growth(&question, device);
        if (device->has_addresses) {
            add_alive(&question, device, peak);
            add_unfreed(&question, device);
        }
    }
    give_table(result, question.memory, TABLE_NO_COLUMN);
    give_table(result, question.alive, ALIVE_BYTES);
    give_table(result, question.operators, OPERATOR_SELF);
    give_table(result, question.growth, TABLE_NO_COLUMN);
    give_table(result, question.unfreed, UNFREED_BYTES);
    add_notices(&question, result);
    board_release(&question.board);
    free(question.is_step);
    free(question.origins);
    steps_free(question.steps);
    memory_records_free(records);
}
