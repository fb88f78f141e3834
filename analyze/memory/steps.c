/* steps.c - the table "steps": what each step began with, reached and left. */
#include "analyze/memory/tables.h"

enum column {
    COLUMN_STEP = MEMORY_DEVICE + 1,
    COLUMN_START,
    COLUMN_PEAK,
    COLUMN_END,
    COLUMN_GROWTH,
    COLUMN_RESERVED,
    COLUMNS
};

/* clang-format off */
static const struct table_column columns[COLUMNS] = {
    MEMORY_DEVICE_COLUMNS,
    { "step", "Step", TABLE_COUNT, "number of the step", 0, NULL },
    { "start", "At start", TABLE_BYTES, "bytes in use as the step began", 0, NULL },
    { "peak", "Peak", TABLE_BYTES, "most bytes in use during the step", 0, NULL },
    { "end", "At end", TABLE_BYTES, "bytes in use as it ended", 0, NULL },
    { "growth", "Growth", TABLE_BYTES, "what the end has more than the start", 0, NULL },
    { "reserved", "Reserved", TABLE_BYTES, "bytes that the allocator held of the device as it ended", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

struct table *memory_open_steps(const struct memory_question *question)
{
    return memory_open_table(question, "steps", "From step to step", columns, COLUMNS);
}

/* Step after step: both steps and records come in order of time, so one pass does it. */
void memory_add_steps(struct table *table, const struct memory_question *question,
                      const struct memory_device *device)
{
    const struct trace *trace = question->trace;
    const struct memory_record *at = question->records->at;
    const struct step_list *steps = question->steps;
    uint32_t i = device->first, end = device->first + device->count;
    int64_t level = device->before, reserved = -1;
    for (size_t s = 0; s < steps->count; s++) {
        const struct step *step = &steps->at[s];
        if (step->file != device->file)
            continue;
        int64_t end_ns = step_list_end_ns(steps, s);
        for (; i < end && trace->start_ns[at[i].event] < step->start_ns; i++) {
            level = at[i].allocated;
            reserved = at[i].reserved;
        }
        int64_t start = level, peak = level;
        for (; i < end && trace->start_ns[at[i].event] < end_ns; i++) {
            level = at[i].allocated;
            reserved = at[i].reserved;
            peak = level > peak ? level : peak;
        }
        if (!selection_holds_place(question->selection, step->event))
            continue;
        size_t row = memory_add_row(table, question, device);
        table_set_int(table, row, COLUMN_STEP, step->number);
        table_set_int(table, row, COLUMN_START, start);
        table_set_int(table, row, COLUMN_PEAK, peak);
        table_set_int(table, row, COLUMN_END, level);
        table_set_int(table, row, COLUMN_GROWTH, memory_plus(level, -start));
        if (reserved >= 0)
            table_set_int(table, row, COLUMN_RESERVED, reserved);
        if (reserved > 0)
            table->columns[COLUMN_RESERVED].flags = 0;
    }
}
