/*
 * memory.c - what calls allocated and freed: the [memory] records within their time.
 *
 * A call is given every record from its start to its end, both included, whichever thread made it. Records lie
 * sorted by time with running totals, so a call's share is the difference of two of them; calls of a thread come
 * in order of start, so the first record of the next is found by going on from the last. A record that lies in
 * no call at all is listed as a row of its own, [memory]; an [OutOfMemory] record always is, and takes
 * part in the call tree as a call without duration.
 */
#include "analyze/top/parts.h"
#include <stdlib.h>

struct record {
    int64_t at_ns;
    event_id event;
};

/* The records of one file, by time. */
struct records {
    struct record *at;
    size_t count, capacity;
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
        records->cpu[i + 1] = plus(records->cpu[i], cpu);
        records->device[i + 1] = plus(records->device[i], device);
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

static void add_total(struct top *top, uint32_t row, int64_t cpu, int64_t device)
{
    if (row == ROW_NONE)
        return;
    add_to(&top->rows.at[row].cpu_bytes, cpu);
    add_to(&top->rows.at[row].device_bytes, device);
}

static void add_self(struct top *top, uint32_t row, int64_t cpu, int64_t device)
{
    if (row == ROW_NONE)
        return;
    add_to(&top->rows.at[row].self_cpu_bytes, cpu);
    add_to(&top->rows.at[row].self_device_bytes, device);
}

/* Node N has these bytes: in its row's total and self figure, no longer in its caller's self. */
static void give_to_call(struct top *top, node_id n, int64_t cpu, int64_t device)
{
    node_id parent = top->tree->parent[n];
    if (!(top->state[n] & NODE_COVERED))
        add_total(top, top->row_of_node[n], cpu, device);
    add_self(top, top->row_of_node[n], cpu, device);
    if (parent != NODE_NONE)
        add_self(top, top->row_of_node[parent], minus(0, cpu), minus(0, device));
}

static void give_to_calls(struct top *top, struct records *by_file)
{
    const struct trace *trace = top->trace;
    const struct calltree *tree = top->tree;
    for (size_t t = 0; t < tree->thread_count; t++) {
        const struct calltree_thread *thread = &tree->threads[t];
        struct records *records = &by_file[top_file_of(top, tree->event[thread->first])];
        size_t first = 0;
        for (node_id n = thread->first; n < thread->first + thread->count; n++) {
            if (top->state[n] & NODE_FOLDED)
                continue;
            event_id e = tree->event[n];
            int64_t cpu, device;
            if (top_role(top, e) == ROLE_OUT_OF_MEMORY) {
                bytes_of(trace, e, &cpu, &device);
                give_to_call(top, n, cpu, device);
                continue;
            }
            first = find_record(records, first, trace->start_ns[e], false);
            size_t end = find_record(records, first, trace_end_ns(trace, e), true);
            if (first == end)
                continue;
            records->open[first]++;
            records->open[end]--;
            give_to_call(top, n, minus(records->cpu[end], records->cpu[first]),
                         minus(records->device[end], records->device[first]));
        }
    }
}

static void give_to_async(struct top *top, struct records *by_file)
{
    const struct trace *trace = top->trace;
    for (event_id e = 0; e < trace->event_count; e++) {
        struct records *records = &by_file[top_file_of(top, e)];
        if (records->count == 0 || top_role(top, e) != ROLE_ASYNC)
            continue;
        size_t first = find_record(records, 0, trace->start_ns[e], false);
        size_t end = find_record(records, first, top_end_ns(top, e), true);
        records->open[first]++;
        records->open[end]--;
        add_total(top, top_row_of(top, e), minus(records->cpu[end], records->cpu[first]),
                  minus(records->device[end], records->device[first]));
    }
}

/* Records in no call. torch lists them after everything else that starts then. */
static void list_leftovers(struct top *top, const struct records *records)
{
    int64_t open = 0;
    for (size_t i = 0; i < records->count; i++) {
        open += records->open[i];
        if (open)
            continue;
        event_id e = records->at[i].event;
        int64_t cpu, device;
        uint32_t row = top_row_of(top, e);
        if (row == ROW_NONE)
            continue;
        bytes_of(top->trace, e, &cpu, &device);
        top_row_count(top, row, e, records->at[i].at_ns, records->at[i].at_ns, top_order(top, e), false,
                      false);
        add_total(top, row, cpu, device);
        add_self(top, row, cpu, device);
        if (top->leftovers)
            top->leftovers[e / 64] |= UINT64_C(1) << (e % 64);
    }
}

void top_memory(struct top *top)
{
    const struct trace *trace = top->trace;
    if (!(top->names.any_flags & NAME_RECORD))
        return;
    if (top->options->float_times)
        top->leftovers = mem_zalloc(trace->event_count / 64 + 1, sizeof *top->leftovers);
    struct records *by_file = mem_zalloc(trace->file_count + 1, sizeof *by_file);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!(top->names.flags[trace->name[e]] & NAME_RECORD))
            continue;
        enum top_role role = top_role(top, e);
        top->has_memory |= role == ROLE_MEMORY || role == ROLE_OUT_OF_MEMORY;
        if (role != ROLE_MEMORY)
            continue;
        struct records *records = &by_file[top_file_of(top, e)];
        *VEC_PUSH(records) = (struct record){ trace->start_ns[e], e };
    }
    for (uint32_t i = 0; i < trace->file_count; i++)
        sum_up(&by_file[i], trace);
    if (top->has_memory) {
        give_to_calls(top, by_file);
        give_to_async(top, by_file);
        for (uint32_t i = 0; i < trace->file_count; i++)
            list_leftovers(top, &by_file[i]);
    }
    for (uint32_t i = 0; i < trace->file_count; i++) {
        VEC_FREE(&by_file[i]);
        free(by_file[i].cpu);
        free(by_file[i].device);
        free(by_file[i].open);
    }
    free(by_file);
}
