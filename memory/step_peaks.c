/* step_peaks.c - memory in use at the start, peak and end of each step. */
#include "memory/memory.h"
#include "base/sum.h"

/* One pass suffices, because both steps and records are in order of time. */
void memory_add_steps(const struct memory_query *query, const struct memory_device *device)
{
    const struct trace *trace = query->trace;
    const struct memory_record *at = query->records->at;
    const struct step_list *steps = query->steps;
    struct memory *memory = query->memory;
    struct memory_place place = memory_place_of(query, device);
    uint32_t i = device->first, end = device->first + device->count;
    int64_t level = device->before, reserved = -1;
    for (size_t s = 0; s < steps->count; s++) {
        const struct step *step = &steps->at[s];
        if (step->file != device->file)
            continue;
        int64_t end_ns = step_list_end_ns(steps, s);
        for (; i < end && trace_start_ns(trace, at[i].event) < step->start_ns; i++) {
            level = at[i].allocated;
            reserved = at[i].reserved;
        }
        int64_t start = level, peak = level;
        for (; i < end && trace_start_ns(trace, at[i].event) < end_ns; i++) {
            level = at[i].allocated;
            reserved = at[i].reserved;
            peak = level > peak ? level : peak;
        }
        if (!selection_holds_place(query->selection, step->event))
            continue;
        *VEC_PUSH(&memory->steps) =
            (struct memory_step){ .place = place,
                                  .step = step->number,
                                  .start_bytes = start,
                                  .peak_bytes = peak,
                                  .end_bytes = level,
                                  .growth_bytes = sum_plus(level, -start),
                                  .reserved_bytes = reserved >= 0 ? reserved : TABLE_INT_MISSING };
        memory->reserves |= reserved > 0;
    }
}
