/* peaks.c - a row per device, with its peak and the allocation that reached it. */
#include "memory/memory.h"

#include "base/sum.h"
#include "derive/callers.h"
#include <math.h>

/* Limit on the calls of a stack, the innermost: there may be very many devices with deep stacks. */
enum { MOST_CALLS = 64 };

/* "ProfilerStep#3 > aten::mm": the stack around RECORD; "... > aten::mm" if it is shortened. */
static struct text stack_of(const struct memory_query *query, const struct memory_record *record)
{
    const struct calltree *tree = query->records->tree;
    SCOPED VEC_OF(node_id) path = { 0 };
    SCOPED struct buffer text = { 0 };
    struct text stack = { 0 };
    node_id n = tree->parent[record->node];
    for (; n != NODE_NONE && path.count < MOST_CALLS; n = tree->parent[n])
        *VEC_PUSH(&path) = n;
    if (n != NODE_NONE)
        buffer_puts(&text, "... > ");
    for (size_t i = path.count; i-- > 0;) {
        buffer_puts(&text, i + 1 < path.count ? " > " : "");
        buffer_puts(&text, trace_name(query->trace, tree->event[path.at[i]]));
    }
    if (text.count)
        stack = memory_keep_text(query, text.at, text.count);
    return stack;
}

/* Not on the host: PyTorch's allocator there always reports 0 reserved bytes. */
static bool tells_unused(const struct memory_record *record)
{
    return record->reserved > 0 && record->reserved >= record->allocated;
}

static void set_peak(struct memory_peak *row, const struct memory_query *query,
                     const struct memory_record *peak)
{
    row->record = (uint32_t)(peak - query->records->at);
    row->bytes = peak->allocated;
    row->time_ns = memory_moment(query, peak->event);
    row->step = memory_step_number(query, peak->event);
    if (peak->reserved >= 0)
        row->reserved_at_peak_bytes = peak->reserved;
    if (tells_unused(peak))
        row->unused_at_peak = 1.0 - (double)peak->allocated / (double)peak->reserved;
    if (query->options->brief)
        return;
    if (peak->category == NAME_NONE)
        row->op = memory_owner_text(query, memory_owner(query, peak));
    row->stack = stack_of(query, peak);
}

void memory_add_lines(const struct memory_query *query)
{
    const struct trace *trace = query->trace;
    struct memory_peak *rows = query->memory->peaks.at;
    size_t count = query->memory->peaks.count;
    SCOPED event_id *moments = mem_zalloc(count + 1, sizeof *moments),
                    *functions = mem_zalloc(count + 1, sizeof *functions);
    for (size_t i = 0; i < count; i++)
        moments[i] = query->records->at[rows[i].record].event;
    callers_functions_at(trace, moments, count, functions);
    for (size_t i = 0; i < count; i++)
        rows[i].line.at =
            callers_line_of(trace, functions[i], query->records->at[rows[i].record].owner, &rows[i].line.len);
}

/* The records of a device with the largest values; RECORD_NONE: unknown. */
struct extremes {
    uint32_t peak, reserved, unused, first, last, count;
};

/* Reserved bytes that are not in use. */
static int64_t unused_bytes(const struct memory_record *record)
{
    return sum_plus(record->reserved, -record->allocated);
}

static struct extremes find_extremes(const struct memory_query *query, const struct memory_device *device)
{
    const struct memory_record *at = query->records->at;
    struct extremes found = { RECORD_NONE, RECORD_NONE, RECORD_NONE, RECORD_NONE, RECORD_NONE, 0 };
    for (uint32_t i = device->first; i < device->first + device->count; i++) {
        if (!memory_is_selected(query, &at[i]))
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

/* Count the blocks allocated and freed, and their bytes. Changes of category are neither. */
static void set_sums(struct memory_peak *row, const struct memory_query *query,
                     const struct memory_device *device)
{
    int64_t allocations = 0, allocated = 0, frees = 0, freed = 0;
    bool any = false;
    for (uint32_t i = device->first; i < device->first + device->count; i++) {
        const struct memory_record *record = &query->records->at[i];
        if (record->change != MEMORY_BLOCK || !memory_is_selected(query, record))
            continue;
        any = true;
        allocations += record->bytes > 0;
        frees += record->bytes < 0;
        if (record->bytes > 0)
            sum_add(&allocated, record->bytes);
        else
            sum_add(&freed, -record->bytes);
    }
    if (!any)
        return;
    row->allocations = allocations;
    row->allocated_bytes = allocated;
    row->frees = frees;
    row->freed_bytes = freed;
}

static struct memory_peak empty_row(const struct memory_query *query, const struct memory_device *device)
{
    int64_t missing = TABLE_INT_MISSING;
    return (struct memory_peak){ .place = memory_place_of(query, device),
                                 .reserved_bytes = missing,
                                 .reserved_ns = missing,
                                 .reserved_at_peak_bytes = missing,
                                 .unused_at_peak = NAN,
                                 .most_unused_bytes = missing,
                                 .most_unused_ns = missing,
                                 .allocations = missing,
                                 .allocated_bytes = missing,
                                 .frees = missing,
                                 .freed_bytes = missing };
}

bool memory_add_peak(const struct memory_query *query, const struct memory_device *device)
{
    const struct memory_record *at = query->records->at;
    struct extremes found = find_extremes(query, device);
    if (found.count == 0)
        return false;
    struct memory_peak row = empty_row(query, device);
    row.first_cycle = row.last_cycle = row.place.cycle;
    set_peak(&row, query, &at[found.peak]);
    set_sums(&row, query, device);
    if (found.reserved != RECORD_NONE) {
        row.reserved_bytes = at[found.reserved].reserved;
        row.reserved_ns = memory_moment(query, at[found.reserved].event);
    }
    if (found.unused != RECORD_NONE) {
        row.most_unused_bytes = unused_bytes(&at[found.unused]);
        row.most_unused_ns = memory_moment(query, at[found.unused].event);
    }
    row.start_bytes = found.first == device->first ? device->before : at[found.first - 1].allocated;
    row.end_bytes = at[found.last].allocated;
    row.records = found.count;
    *VEC_PUSH(&query->memory->peaks) = row;
    return true;
}
