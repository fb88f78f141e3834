/* One pass over all operations, with a binary search for the step of each. */
#include "derive/device_steps.h"

#include "base/search.h"
#include "trace/derived.h"
#include "base/sum.h"

/* What each step launched. */
struct launched {
    int64_t first_start_ns, last_end_ns;
    size_t count;
};

/* Does CALL, which launched WORK in STEP, end after it? The call of a queue that was filled before has no part in that. */
static bool call_outlasts(const struct trace *trace, event_id work, event_id call, const struct step *step)
{
    int64_t issued_ns;
    attribution_issued(trace, work, call, &issued_ns);
    return call != EVENT_NONE && issued_ns == trace_start_ns(trace, call) &&
           trace_end_ns(trace, call) > step->end_ns;
}

/* Store what each step launched in LAUNCHED, and the step of each operation in STEP_OF. */
static void match_work(const struct step_list *ranges, const struct gpu_events *gpu,
                       struct launched *launched, uint32_t *step_of)
{
    const struct trace *trace = gpu->trace;
    const struct step *step = NULL;
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i], call = gpu->call[i];
        const struct step *began_in = step_list_of_work(ranges, trace, e, call, step);
        step_of[i] = UINT32_MAX;
        if (!began_in)
            continue;
        step = began_in;
        if (!step->of_devices && call_outlasts(trace, e, call, step))
            continue;
        step_of[i] = (uint32_t)(step - ranges->at); /* steps are events, of which there are fewer */
        struct launched *of = &launched[step_of[i]];
        if (of->count == 0 || trace_start_ns(trace, e) < of->first_start_ns)
            of->first_start_ns = trace_start_ns(trace, e);
        if (of->count == 0 || trace_end_ns(trace, e) > of->last_end_ns)
            of->last_end_ns = trace_end_ns(trace, e);
        of->count++;
    }
}

/* The end of the work before the first step of FILE. */
static int64_t end_before_first(const struct gpu_events *gpu, const uint32_t *step_of,
                                const struct step *first, const struct launched *launched)
{
    const struct trace *trace = gpu->trace;
    int64_t end_ns = first->start_ns;
    if (launched->count == 0 || first->of_devices)
        return end_ns;
    FOR_EACH_OF(device, gpu->devices, gpu->device_count) {
        if (device->file != first->file)
            continue;
        for (size_t i = device->first; i < device->first + device->count; i++) {
            if (trace_start_ns(trace, gpu->event[i]) >= launched->first_start_ns)
                break;
            int64_t work_end_ns = trace_end_ns(trace, gpu->event[i]);
            if (step_of[i] == UINT32_MAX && work_end_ns < launched->first_start_ns)
                end_ns = greater_of(end_ns, work_end_ns);
        }
    }
    return end_ns;
}

/* Mark the COUNT steps of a file that were only partly recorded. */
static void find_incomplete(struct device_step *steps, size_t count)
{
    size_t last = count;
    while (last > 0 && steps[last - 1].work == 0)
        last--;
    if (last == 0)
        return; /* no step has work on a device: completeness is known from the host only */
    if (last >= 2 && 10 * steps[last - 1].work < 8 * steps[last - 2].work)
        last--;
    for (size_t i = last; i < count; i++)
        steps[i].complete = false;
}

struct device_steps *device_steps_open(const struct step_list *ranges, const struct gpu_events *gpu)
{
    struct device_steps *steps = arena_open(sizeof *steps);
    ARENA_OWNS(arena_of(steps), &steps->at);
    SCOPED struct launched *launched = mem_zalloc(ranges->count + 1, sizeof *launched);
    SCOPED uint32_t *step_of = mem_alloc(mem_times(gpu->count + 1, sizeof *step_of));
    match_work(ranges, gpu, launched, step_of);
    int64_t previous_end_ns = 0;
    size_t first = 0; /* of the file */
    for (size_t i = 0; i < ranges->count; i++) {
        const struct step *range = &ranges->at[i];
        if (i == 0 || range->file != ranges->at[i - 1].file) {
            first = i;
            previous_end_ns = end_before_first(gpu, step_of, range, &launched[i]);
        }
        int64_t start_ns = greater_of(previous_end_ns, range->start_ns);
        int64_t end_ns = greater_of(start_ns, range->end_ns);
        if (launched[i].count)
            end_ns = greater_of(end_ns, launched[i].last_end_ns);
        previous_end_ns = end_ns;
        *VEC_PUSH(steps) = (struct device_step){
            .file = range->file,
            .event = range->event,
            .name = range->name,
            .host_start_ns = range->start_ns,
            .host_end_ns = range->end_ns,
            .start_ns = start_ns,
            .end_ns = end_ns,
            .number = range->number,
            .work = launched[i].count,
            .work_start_ns = launched[i].first_start_ns,
            .work_end_ns = launched[i].last_end_ns,
            .complete = true,
        };
        if (i + 1 == ranges->count || ranges->at[i + 1].file != range->file)
            find_incomplete(&steps->at[first], i + 1 - first);
    }
    return steps;
}

static void *device_steps_derive(const struct trace *trace)
{
    SCOPED_OBJECT struct step_list *ranges = step_list_open(trace);
    step_list_drop_overlaps(ranges);
    return device_steps_open(ranges, gpu_events_of(trace));
}

DERIVED(device_steps, device_steps_of, device_steps_derive);

/* Index of the first step of FILE or of a greater_of one. */
static size_t first_step_from(const struct device_steps *steps, uint64_t file)
{
    return PLACE(i, steps->count, steps->at[i].file < file);
}

size_t device_steps_of_file(const struct device_steps *steps, uint32_t file, size_t *first)
{
    *first = first_step_from(steps, file);
    return first_step_from(steps, (uint64_t)file + 1);
}
