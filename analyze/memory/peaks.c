/* peaks.c - the table "memory": a row per device, with its peak and what led there. */
#include "analyze/memory/tables.h"

#include "facts/callers.h"
#include <stdlib.h>

enum column {
    COLUMN_PEAK = MEMORY_DEVICE + 1,
    COLUMN_PEAK_TIME,
    COLUMN_PEAK_STEP,
    COLUMN_OPERATOR,
    COLUMN_LINE,
    COLUMN_RESERVED,
    COLUMN_UNUSED,
    COLUMN_START,
    COLUMN_END,
    COLUMN_ALLOCATIONS,
    COLUMN_ALLOCATED,
    COLUMN_FREES,
    COLUMN_FREED,
    COLUMN_RECORDS,
    COLUMN_RESERVED_TIME,
    COLUMN_RESERVED_AT_PEAK,
    COLUMN_MOST_UNUSED,
    COLUMN_MOST_UNUSED_TIME,
    COLUMN_STACK,
    COLUMNS
};

/* clang-format off */
static const struct table_column columns[COLUMNS] = {
    MEMORY_DEVICE_COLUMNS,
    { "peak_allocated", "Peak", TABLE_BYTES, "most bytes in use after any record", 0, "peak" },
    { "peak_time", "Peak at", TABLE_MOMENT, "when that was first so", 0, NULL },
    { "peak_step", "Step", TABLE_COUNT, "step at the peak", 0, NULL },
    { "peak_operator", "Operator at peak", TABLE_NAME, "operator that made the allocation which reached the peak", 0, NULL },
    { "peak_line", "Line at peak", TABLE_NAME, "Python function and line, where stacks were recorded", 0, NULL },
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
    { "most_unused", "Most unused", TABLE_BYTES, "most bytes that were reserved and not in use at once", TABLE_OPTIONAL, NULL },
    { "most_unused_time", "Most unused at", TABLE_MOMENT, "when that was first so", TABLE_OPTIONAL, NULL },
    { "peak_stack", "Stack at peak", TABLE_TEXT, "operators and annotations at the peak, outermost first", 0, NULL },
};
/* clang-format on */

struct table *memory_open_peaks(const struct memory_question *question)
{
    return memory_open_table(question, "memory", "Memory by device", columns, COLUMNS);
}

void memory_close_peaks(struct table *table)
{
    static const enum column often_untold[] = { COLUMN_PEAK_STEP,   COLUMN_OPERATOR,  COLUMN_LINE,
                                                COLUMN_ALLOCATIONS, COLUMN_ALLOCATED, COLUMN_RESERVED,
                                                COLUMN_UNUSED,      COLUMN_STACK };
    for (size_t i = 0; i < sizeof often_untold / sizeof *often_untold; i++) {
        bool told = false;
        for (size_t row = 0; row < table->row_count && !told; row++)
            told = !table_is_missing(table, row, often_untold[i]);
        if (!told)
            table->columns[often_untold[i]].flags = TABLE_OPTIONAL;
    }
}

/* A stack has so many calls at most, the innermost: each of very many devices has a peak, and may have it deep down. */
enum { MOST_CALLS = 64 };

/* "ProfilerStep#3 > aten::mm": what RECORD lies in; "... > aten::mm" when not all of it is told. */
static void set_stack(struct table *table, size_t row, const struct memory_question *question,
                      const struct memory_record *record)
{
    const struct calltree *tree = question->records->tree;
    VEC_OF(node_id) path = { 0 };
    struct buffer text = { 0 };
    node_id n = tree->parent[record->node];
    for (; n != NODE_NONE && path.count < MOST_CALLS; n = tree->parent[n])
        *VEC_PUSH(&path) = n;
    if (n != NODE_NONE)
        buffer_puts(&text, "... > ");
    for (size_t i = path.count; i-- > 0;) {
        buffer_puts(&text, i + 1 < path.count ? " > " : "");
        buffer_puts(&text, trace_name(question->trace, tree->event[path.at[i]]));
    }
    if (text.count)
        table_set_text(table, row, COLUMN_STACK, text.at, text.count);
    buffer_release(&text);
    VEC_FREE(&path);
}

/* Not on the host: PyTorch's allocator there says that it holds none, whatever is in use. */
static bool tells_unused(const struct memory_record *record)
{
    return record->reserved > 0 && record->reserved >= record->allocated;
}

static void set_peak(struct table *table, size_t row, const struct memory_question *question,
                     const struct memory_record *peak)
{
    table_set_int(table, row, COLUMN_PEAK, peak->allocated);
    memory_set_moment(table, row, COLUMN_PEAK_TIME, question, peak->event);
    memory_set_step(table, row, COLUMN_PEAK_STEP, question, peak->event);
    if (peak->reserved >= 0)
        table_set_int(table, row, COLUMN_RESERVED_AT_PEAK, peak->reserved);
    if (tells_unused(peak))
        table_set_number(table, row, COLUMN_UNUSED, 1.0 - (double)peak->allocated / (double)peak->reserved);
    if (question->options->brief)
        return;
    if (peak->category == NAME_NONE)
        memory_set_owner(table, row, COLUMN_OPERATOR, question, memory_owner(question, peak));
    set_stack(table, row, question, peak);
}

void memory_add_lines(struct table *table, const struct memory_question *question, const uint32_t *peaks)
{
    const struct trace *trace = question->trace;
    size_t count = table->row_count;
    event_id *moments = mem_alloc((count + 1) * sizeof *moments),
             *functions = mem_alloc((count + 1) * sizeof *functions);
    for (size_t row = 0; row < count; row++)
        moments[row] = question->records->at[peaks[row]].event;
    callers_functions_at(trace, moments, count, functions);
    for (size_t row = 0; row < count; row++) {
        size_t len;
        const char *line =
            callers_line_of(trace, functions[row], question->records->at[peaks[row]].owner, &len);
        if (line)
            table_set_text(table, row, COLUMN_LINE, line, len);
    }
    free(moments);
    free(functions);
}

/* The records of a device at which something is largest; RECORD_NONE: it is told of none. */
struct extremes {
    uint32_t peak, reserved, unused, first, last, count;
};

/* Reserved bytes that are not in use. */
static int64_t unused_bytes(const struct memory_record *record)
{
    return memory_plus(record->reserved, -record->allocated);
}

static struct extremes find_extremes(const struct memory_question *question,
                                     const struct memory_device *device)
{
    const struct memory_record *at = question->records->at;
    struct extremes found = { RECORD_NONE, RECORD_NONE, RECORD_NONE, RECORD_NONE, RECORD_NONE, 0 };
    for (uint32_t i = device->first; i < device->first + device->count; i++) {
        if (!memory_is_selected(question, &at[i]))
            continue;
        found.first = found.count++ ? found.first : i;
        found.last = i;
        if (found.peak == RECORD_NONE || at[i].allocated > at[found.peak].allocated)
            found.peak = i;
        if (at[i].reserved < 0)
            continue;
        if (found.reserved == RECORD_NONE || at[i].reserved > at[found.reserved].reserved)
            found.reserved = i;
        if (tells_unused(&at[i]) &&
            (found.unused == RECORD_NONE || unused_bytes(&at[i]) > unused_bytes(&at[found.unused])))
            found.unused = i;
    }
    return found;
}

/* How many blocks were allocated and freed, and their bytes. What changes its category does neither. */
static void set_sums(struct table *table, size_t row, const struct memory_question *question,
                     const struct memory_device *device)
{
    int64_t allocations = 0, allocated = 0, frees = 0, freed = 0;
    bool told = false;
    for (uint32_t i = device->first; i < device->first + device->count; i++) {
        const struct memory_record *record = &question->records->at[i];
        if (record->change != MEMORY_BLOCK || !memory_is_selected(question, record))
            continue;
        told = true;
        allocations += record->bytes > 0;
        frees += record->bytes < 0;
        if (record->bytes > 0)
            allocated = memory_plus(allocated, record->bytes);
        else
            freed = memory_plus(freed, -record->bytes);
    }
    if (!told)
        return;
    table_set_int(table, row, COLUMN_ALLOCATIONS, allocations);
    table_set_int(table, row, COLUMN_ALLOCATED, allocated);
    table_set_int(table, row, COLUMN_FREES, frees);
    table_set_int(table, row, COLUMN_FREED, freed);
}

uint32_t memory_add_peak(struct table *table, const struct memory_question *question,
                         const struct memory_device *device)
{
    const struct memory_record *at = question->records->at;
    struct extremes found = find_extremes(question, device);
    if (found.count == 0)
        return RECORD_NONE;
    size_t row = memory_add_row(table, question, device);
    set_peak(table, row, question, &at[found.peak]);
    set_sums(table, row, question, device);
    if (found.reserved != RECORD_NONE) {
        table_set_int(table, row, COLUMN_RESERVED, at[found.reserved].reserved);
        memory_set_moment(table, row, COLUMN_RESERVED_TIME, question, at[found.reserved].event);
    }
    if (found.unused != RECORD_NONE) {
        table_set_int(table, row, COLUMN_MOST_UNUSED, unused_bytes(&at[found.unused]));
        memory_set_moment(table, row, COLUMN_MOST_UNUSED_TIME, question, at[found.unused].event);
    }
    table_set_int(table, row, COLUMN_START,
                  found.first == device->first ? device->before : at[found.first - 1].allocated);
    table_set_int(table, row, COLUMN_END, at[found.last].allocated);
    table_set_int(table, row, COLUMN_RECORDS, found.count);
    return found.peak;
}
