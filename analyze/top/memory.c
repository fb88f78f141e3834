/*
 * memory.c - top_count_memory of counts.h: what calls allocated and freed, the [memory] records within their time.
 *
 * A call is given every record from its start to its end, both included, whichever thread made it. Records lie
 * sorted by time with running totals, so a call's share is the difference of two of them; calls of a thread come
 * in order of start, so the first record of the next is found by going on from the last. A record that lies in
 * no call at all is listed as a row of its own, [memory]; an [OutOfMemory] record always is, and takes
 * part in the call tree as a call without duration.
 */
#include "analyze/top/counts.h"

#include "base/memory.h"
#include <stdlib.h>

struct record {
    int64_t at_ns;
    event_id event;
};

/* The records of one file, by time. */
struct records {
    VEC_OF(struct record);
    int64_t *cpu, *device; /* bytes of all records before this one; count + 1 of them */
    int32_t *open;         /* calls that begin at this record less those that ended; count + 1 */
};

/* c10::DeviceType: CPU, MKLDNN and IDEEP are the host; CUDA, HIP, XPU and PrivateUse1 a device. */
static void bytes_of(const struct trace *trace, event_id e, int64_t *cpu, int64_t *device)
{
    int64_t bytes = trace_arg_or(trace, ARG_BYTES, e, 0);
    int64_t type = trace_arg_or(trace, ARG_DEVICE_TYPE, e, 0);
    *cpu = type == 0 || type == 2 || type == 5 ? bytes : 0;
    *device = type == 1 || type == 6 || type == 12 || type == 20 ? bytes : 0;
}

static int compare_records(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static void sum_up(struct records *records, const struct trace *trace)
{
    bool sorted = true;
    for (size_t i = 1; i < records->count && sorted; i++)
        sorted = records->at[i - 1].at_ns <= records->at[i].at_ns;
    if (!sorted)
        qsort(records->at, records->count, sizeof *records->at, compare_records);
    records->cpu = mem_zalloc(records->count + 1, sizeof *records->cpu);
    records->device = mem_zalloc(records->count + 1, sizeof *records->device);
    records->open = mem_zalloc(records->count + 1, sizeof *records->open);
    for (size_t i = 0; i < records->count; i++) {
        int64_t cpu, device;
        bytes_of(trace, records->at[i].event, &cpu, &device);
        records->cpu[i + 1] = sum_wrapped(records->cpu[i], cpu);
        records->device[i + 1] = sum_wrapped(records->device[i], device);
    }
}

/* How many records from FROM on lie before MOMENT, or at it when INCLUDED; and FROM. */
static size_t find_record(const struct records *records, size_t from, int64_t moment_ns, bool included)
{
    size_t step = 1, low = from, high = from; /* calls are short: look near first, in doubling steps */
    while (high < records->count &&
           (records->at[high].at_ns < moment_ns || (included && records->at[high].at_ns == moment_ns))) {
        low = high + 1;
        high += step;
        step *= 2;
    }
    if (high > records->count)
        high = records->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t at_ns = records->at[middle].at_ns;
        if (at_ns < moment_ns || (included && at_ns == moment_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct memory_state {
    struct top_rows *rows;
    const struct top_calls *calls;
    uint64_t *leftovers;
};

static void add_total(struct memory_state *state, uint32_t row, int64_t cpu, int64_t device)
{
    if (row == ROW_NONE)
        return;
    add_wrapped(&state->rows->at[row].cpu_bytes, cpu);
    add_wrapped(&state->rows->at[row].device_bytes, device);
}

static void add_self(struct memory_state *state, uint32_t row, int64_t cpu, int64_t device)
{
    if (row == ROW_NONE)
        return;
    add_wrapped(&state->rows->at[row].self_cpu_bytes, cpu);
    add_wrapped(&state->rows->at[row].self_device_bytes, device);
}

/* Node N has these bytes: in its row's total and self figure, no longer in its caller's self. */
static void give_to_call(struct memory_state *state, node_id n, int64_t cpu, int64_t device)
{
    const struct top_calls *calls = state->calls;
    node_id parent = calls->tree->parent[n];
    if (!(calls->state[n] & NODE_COVERED))
        add_total(state, top_row_of_node(calls, n), cpu, device);
    add_self(state, top_row_of_node(calls, n), cpu, device);
    if (parent != NODE_NONE)
        add_self(state, top_row_of_node(calls, parent), difference_wrapped(0, cpu),
                 difference_wrapped(0, device));
}

static void give_to_thread(struct memory_state *state, const struct calltree_thread *thread,
                           struct records *records)
{
    const struct top_events *events = state->rows->events;
    const struct trace *trace = events->trace;
    size_t first = 0;
    for (node_id n = thread->first; n < thread->first + thread->count; n++) {
        if (state->calls->state[n] & NODE_FOLDED)
            continue;
        event_id e = state->calls->tree->event[n];
        int64_t cpu, device;
        if (top_role(events, e) == ROLE_OUT_OF_MEMORY) {
            bytes_of(trace, e, &cpu, &device);
            give_to_call(state, n, cpu, device);
            continue;
        }
        first = find_record(records, first, trace_start_ns(trace, e), false);
        size_t end = find_record(records, first, trace_end_ns(trace, e), true);
        if (first == end)
            continue;
        records->open[first]++;
        records->open[end]--;
        give_to_call(state, n, difference_wrapped(records->cpu[end], records->cpu[first]),
                     difference_wrapped(records->device[end], records->device[first]));
    }
}

static void give_to_async(struct memory_state *state, struct records *by_file)
{
    const struct top_events *events = state->rows->events;
    const struct trace *trace = events->trace;
    for (event_id e = 0; e < trace->event_count; e++) {
        struct records *records = &by_file[top_file_of(events, e)];
        if (records->count == 0 || top_role(events, e) != ROLE_ASYNC)
            continue;
        size_t first = find_record(records, 0, trace_start_ns(trace, e), false);
        size_t end = find_record(records, first, region_end_ns(trace, events->open, e), true);
        records->open[first]++;
        records->open[end]--;
        add_total(state, top_row_of(state->rows, e),
                  difference_wrapped(records->cpu[end], records->cpu[first]),
                  difference_wrapped(records->device[end], records->device[first]));
    }
}

/* Records in no call. torch lists them after everything else that starts then. */
static void list_leftovers(struct memory_state *state, const struct records *records)
{
    const struct top_events *events = state->rows->events;
    int64_t open = 0;
    for (size_t i = 0; i < records->count; i++) {
        open += records->open[i];
        if (open)
            continue;
        event_id e = records->at[i].event;
        int64_t cpu, device, at_ns = records->at[i].at_ns;
        uint32_t row = top_row_of(state->rows, e);
        if (row == ROW_NONE)
            continue;
        bytes_of(events->trace, e, &cpu, &device);
        top_row_count(state->rows, row,
                      &(struct top_occurrence){ e, at_ns, at_ns, top_order(events, e), false, false });
        add_total(state, row, cpu, device);
        add_self(state, row, cpu, device);
        if (state->leftovers)
            state->leftovers[e / 64] |= UINT64_C(1) << (e % 64);
    }
}

/* New, free with free_records: the records, file by file. */
static struct records *collect_records(const struct top_events *events, struct top_counts *counts)
{
    const struct trace *trace = events->trace;
    struct records *by_file = mem_zalloc(trace->file_count + 1, sizeof *by_file);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!(events->names.flags[trace->name[e]] & NAME_RECORD))
            continue;
        enum top_role role = top_role(events, e);
        counts->has_memory |= role == ROLE_MEMORY || role == ROLE_OUT_OF_MEMORY;
        if (role == ROLE_MEMORY)
            *VEC_PUSH(&by_file[top_file_of(events, e)]) = (struct record){ trace_start_ns(trace, e), e };
    }
    for (uint32_t i = 0; i < trace->file_count; i++)
        sum_up(&by_file[i], trace);
    return by_file;
}

static void free_records(struct records *by_file, size_t file_count)
{
    for (size_t i = 0; i < file_count; i++) {
        VEC_FREE(&by_file[i]);
        free(by_file[i].cpu);
        free(by_file[i].device);
        free(by_file[i].open);
    }
    free(by_file);
}

void top_count_memory(struct top_rows *rows, const struct top_calls *calls, struct top_counts *counts,
                      uint64_t *leftovers)
{
    const struct top_events *events = rows->events;
    const struct calltree *tree = calls->tree;
    if (!(events->names.any_flags & NAME_RECORD))
        return;
    struct memory_state state = { rows, calls, leftovers };
    struct records *by_file = collect_records(events, counts);
    for (size_t t = 0; counts->has_memory && t < tree->thread_count; t++)
        give_to_thread(&state, &tree->threads[t],
                       &by_file[top_file_of(events, tree->event[tree->threads[t].first])]);
    if (counts->has_memory)
        give_to_async(&state, by_file);
    for (uint32_t i = 0; counts->has_memory && i < events->trace->file_count; i++)
        list_leftovers(&state, &by_file[i]);
    free_records(by_file, events->trace->file_count);
}
