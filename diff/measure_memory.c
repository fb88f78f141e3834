/*
 * measure_memory.c - peaks of memory by sample; see measure_parts.h.
 *
 * The level of a device between two records applies to all steps that begin there: so a record raises a range of steps,
 * ordered by start, in a segment tree, and the peaks of steps are read from the tree at the end. There may be many
 * devices and steps: querying each device for each step took 15 s for 10,000 of each.
 */
#include "diff/measure_parts.h"

#include "base/rows.h"
#include "base/search.h"
#include "memory/memory_records.h"
#include <math.h>

enum memory_place { ON_DEVICES, ON_HOST, PLACES };

struct peaks {
    const struct measuring *measuring;
    const struct memory_records *records;
    const struct measured_step **steps; /* by file and start */
    size_t count;
    int64_t *tree[PLACES];           /* in heap order: step i is leaf count + i; INT64_MIN: no value */
    enum memory_place order[PLACES]; /* places that occur in any step, in order of first occurrence */
    size_t places;
};

static void peaks_open(struct peaks *peaks, struct arena *arena)
{
    size_t count = peaks->count = peaks->measuring->steps.count;
    peaks->steps = arena_alloc(arena, mem_times(count + 1, sizeof *peaks->steps));
    for (size_t i = 0; i < count; i++)
        peaks->steps[i] = &peaks->measuring->steps.at[i];
    SORT_BY(peaks->steps, count, i, peaks->steps[i]->step->host_start_ns);
    SORT_BY(peaks->steps, count, i, peaks->steps[i]->step->file);
    for (int place = 0; place < PLACES; place++) {
        peaks->tree[place] = arena_alloc(arena, mem_times(2 * count + 1, sizeof *peaks->tree[place]));
        for (size_t i = 0; i < 2 * count + 1; i++)
            peaks->tree[place][i] = INT64_MIN;
    }
}

/* Raise the peaks of steps FIRST to END (exclusive) to at least LEVEL. */
static void raise_peaks(struct peaks *peaks, enum memory_place place, size_t first, size_t end, int64_t level)
{
    int64_t *tree = peaks->tree[place];
    for (first += peaks->count, end += peaks->count; first < end; first /= 2, end /= 2) {
        if (first % 2) {
            tree[first] = level > tree[first] ? level : tree[first];
            first++;
        }
        if (end % 2) {
            end--;
            tree[end] = level > tree[end] ? level : tree[end];
        }
    }
}

static int64_t peak_of(const struct peaks *peaks, enum memory_place place, size_t step)
{
    int64_t peak = INT64_MIN;
    for (size_t node = step + peaks->count; node > 0; node /= 2)
        peak = peaks->tree[place][node] > peak ? peaks->tree[place][node] : peak;
    return peak;
}

/* Apply the memory DEVICE had in use at the beginning of each step of its file, and after each record in it. */
static void add_device(struct peaks *peaks, const struct memory_device *device)
{
    enum memory_place place = memory_is_host(device) ? ON_HOST : ON_DEVICES;
    size_t next, end;
    SEARCH(next, peaks->count, peaks->steps[next]->step->file < device->file);
    SEARCH_BETWEEN(end, next, peaks->count, peaks->steps[end]->step->file == device->file);
    size_t first = next;
    if (first == end)
        return;
    if (peaks->places == 0 || (peaks->places == 1 && peaks->order[0] != place))
        peaks->order[peaks->places++] = place;
    int64_t level = device->before;
    for (uint32_t r = device->first; r < device->first + device->count; r++) {
        int64_t moment_ns = trace_start_ns(peaks->records->trace, peaks->records->at[r].event);
        size_t begun = PLACE_BETWEEN(i, next, end, peaks->steps[i]->step->host_start_ns <= moment_ns);
        raise_peaks(peaks, place, next, begun, level);
        next = begun;
        level = peaks->records->at[r].allocated;
        if (begun > first && moment_ns < peaks->steps[begun - 1]->step->host_end_ns)
            raise_peaks(peaks, place, begun - 1, begun, level);
    }
    raise_peaks(peaks, place, next, end, level);
}

/* The maximum that DEVICE had in use. */
static int64_t peak_of_all(const struct memory_records *records, const struct memory_device *device)
{
    int64_t peak = device->before;
    for (uint32_t r = device->first; r < device->first + device->count; r++)
        peak = records->at[r].allocated > peak ? records->at[r].allocated : peak;
    return peak;
}

static const char *const keys[PLACES] = { [ON_DEVICES] = "memory_peak", [ON_HOST] = "host_memory_peak" };

static void set_peak(struct sampling *sampling, enum memory_place place, uint32_t sample, int64_t peak)
{
    static const char *const titles[] = { [ON_DEVICES] = "memory peak", [ON_HOST] = "host memory peak" };
    const struct measure_metric *metric = sampling_metric(sampling, keys[place]);
    double known = metric && metric->values.count > sample ? metric->values.at[sample] : NAN;
    if (!(known >= (double)peak)) /* the device with the most counts */
        sampling_set(sampling, keys[place], titles[place], TABLE_BYTES, sample, (double)peak);
    struct measure_metric *set = sampling_metric(sampling, keys[place]);
    if (!(set->whole >= (double)peak))
        set->whole = (double)peak;
}

static void set_peaks_of_steps(const struct peaks *peaks)
{
    for (size_t p = 0; p < peaks->places; p++)
        for (size_t i = 0; i < peaks->count; i++) {
            int64_t peak = peak_of(peaks, peaks->order[p], i);
            if (peak != INT64_MIN)
                set_peak(&peaks->measuring->measures->by_step, peaks->order[p], peaks->steps[i]->sample,
                         peak);
        }
}

void measure_memory(const struct measuring *measuring)
{
    struct measures *measures = measuring->measures;
    if (names_find(measuring->trace->names, "[memory]", strlen("[memory]")) == NAME_NONE)
        return;
    const struct memory_records *records = memory_records_of(measuring->trace, MEMORY_LEVELS);
    struct peaks peaks = { .measuring = measuring, .records = records };
    SCOPED_ARENA struct arena scratch = { 0 };
    peaks_open(&peaks, &scratch);
    FOR_EACH_OF(device, records->devices, records->device_count) {
        set_peak(&measures->by_file, memory_is_host(device) ? ON_HOST : ON_DEVICES,
                 measuring->file_sample[device->file], peak_of_all(records, device));
        add_device(&peaks, device);
    }
    set_peaks_of_steps(&peaks);
    /* A peak outside of all steps counts as well. */
    for (size_t i = 0; i < PLACES; i++) {
        const struct measure_metric *of_files = sampling_metric(&measures->by_file, keys[i]);
        struct measure_metric *of_steps = sampling_metric(&measures->by_step, keys[i]);
        if (of_files && of_steps)
            of_steps->whole = of_files->whole;
    }
}
