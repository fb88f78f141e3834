/*
 * memory.c - top_count_memory of top.h: what calls allocated and freed, the [memory] records within their time.
 *
 * A call is given every record from its start to its end, both included, whichever thread made it. Records lie
 * sorted by time with running totals, so a call's share is the difference of two of them; calls of a thread come
 * in order of start, so the first record of the next is found by going on from the last. A record that lies in
 * no call at all is listed as a row of its own, [memory]; an [OutOfMemory] record always is, and takes
 * part in the call tree as a call without duration.
 */
#include "analyze/top/top.h"

#include "base/rows.h"
#include "base/search.h"

struct record {
    int64_t at_ns;
    event_id event;
};

/* The records of one file, by time. */
struct memory_records {
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

static const struct key by_at[] = { ASC(struct record, at_ns), KEY_END };

/* RECORDS come by event: each thread's are in order of time. */
static void sum_up(struct memory_records *records, const struct trace *trace, struct arena *arena)
{
    if (records->count > 1)
        SORT(records, by_at);
    records->cpu = arena_zalloc(arena, records->count + 1, sizeof *records->cpu);
    records->device = arena_zalloc(arena, records->count + 1, sizeof *records->device);
    records->open = arena_zalloc(arena, records->count + 1, sizeof *records->open);
    for (size_t i = 0; i < records->count; i++) {
        int64_t cpu, device;
        bytes_of(trace, records->at[i].event, &cpu, &device);
        records->cpu[i + 1] = sum_wrapped(records->cpu[i], cpu);
        records->device[i + 1] = sum_wrapped(records->device[i], device);
    }
}

/* How many records from FROM on lie before MOMENT, or at it when INCLUDED; and FROM. */
static size_t find_record(const struct memory_records *records, size_t from, int64_t moment_ns, bool included)
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
    return PLACE_BETWEEN(
        at, low, high, records->at[at].at_ns < moment_ns || (included && records->at[at].at_ns == moment_ns));
}

static void add_total(struct top_bytes *row, int64_t cpu, int64_t device)
{
    add_wrapped(&row->cpu, cpu);
    add_wrapped(&row->device, device);
}

static void add_self(struct top_bytes *row, int64_t cpu, int64_t device)
{
    add_wrapped(&row->self_cpu, cpu);
    add_wrapped(&row->self_device, device);
}

/* Node N has these bytes: in its row's total and self figure, no longer in its caller's self. */
static void memory_assign_to_call(struct top_memory *memory, node_id n, int64_t cpu, int64_t device)
{
    const struct top_calls *calls = memory->calls;
    node_id parent = calls->tree->parent[n];
    uint32_t row = top_row_of_node(calls, n);
    uint32_t parent_row = parent == NODE_NONE ? ROW_NONE : top_row_of_node(calls, parent);
    if (row != ROW_NONE && !(calls->state[n] & NODE_COVERED))
        add_total(&memory->of_rows[row], cpu, device);
    if (row != ROW_NONE)
        add_self(&memory->of_rows[row], cpu, device);
    if (parent_row != ROW_NONE)
        add_self(&memory->of_rows[parent_row], difference_wrapped(0, cpu), difference_wrapped(0, device));
}

/* A failed allocation counts the bytes that it requested. */
static bool assign_to_failure(struct top_memory *memory, node_id n, event_id e)
{
    int64_t cpu, device;
    if (!(memory->events->names.any_flags & NAME_NO_MEMORY) ||
        top_role(memory->events, e) != ROLE_OUT_OF_MEMORY)
        return false;
    bytes_of(memory->events->trace, e, &cpu, &device);
    memory_assign_to_call(memory, n, cpu, device);
    return true;
}

static void assign_to_thread(struct top_memory *memory, const struct calltree_thread *thread,
                             struct memory_records *records)
{
    const struct trace *trace = memory->events->trace;
    const struct top_calls *calls = memory->calls;
    size_t first = 0;
    for (node_id n = thread->first; n < thread->first + thread->count; n++) {
        event_id e = calls->tree->event[n];
        if (calls->state[n] & NODE_FOLDED || assign_to_failure(memory, n, e))
            continue;
        int64_t start_ns = trace_start_ns(trace, e);
        if (first < records->count && records->at[first].at_ns < start_ns)
            first = find_record(records, first, start_ns, false);
        if (first == records->count || records->at[first].at_ns > start_ns + trace_dur_ns(trace, e))
            continue; /* as in most calls, there is none in it */
        size_t end = find_record(records, first, trace_end_ns(trace, e), true);
        records->open[first]++;
        records->open[end]--;
        memory_assign_to_call(memory, n, difference_wrapped(records->cpu[end], records->cpu[first]),
                              difference_wrapped(records->device[end], records->device[first]));
    }
}

/* The records, file by file; they live as long as ARENA. NULL: there are none, nor failures. */
static struct memory_records *collect_records(const struct top_events *events, struct arena *arena)
{
    const struct trace *trace = events->trace;
    if (!(events->names.any_flags & NAME_RECORD))
        return NULL;
    bool any = false;
    struct memory_records *files = arena_vectors(arena, trace->file_count + 1, sizeof *files);
    for (event_id e = 0; e < trace->event_count; e++) {
        enum top_role role = top_role(events, e);
        any |= role == ROLE_MEMORY || role == ROLE_OUT_OF_MEMORY;
        if (role == ROLE_MEMORY)
            *VEC_PUSH(&files[top_file_of(events, e)]) = (struct record){ trace_start_ns(trace, e), e };
    }
    for (uint32_t i = 0; i < trace->file_count; i++)
        sum_up(&files[i], trace, arena);
    return any ? files : NULL;
}

void top_memory_find(struct top_memory *memory, const struct top_calls *calls,
                     const struct top_events *events, size_t row_count, struct arena *arena)
{
    const struct calltree *tree = calls->tree;
    *memory = (struct top_memory){
        .events = events, .calls = calls, .files = collect_records(events, arena), .row_count = row_count
    };
    if (!memory->files)
        return;
    memory->of_rows = arena_zalloc(arena, row_count + 1, sizeof *memory->of_rows);
    for (size_t t = 0; t < tree->thread_count; t++)
        assign_to_thread(memory, &tree->threads[t],
                         &memory->files[top_file_of(events, tree->event[tree->threads[t].first])]);
}

/* ---- into the rows ---- */

static void assign_to_async(struct top_rows *rows, const struct top_memory *memory)
{
    const struct top_events *events = memory->events;
    const struct trace *trace = events->trace;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (top_role(events, e) != ROLE_ASYNC || memory->files[top_file_of(events, e)].count == 0)
            continue;
        struct memory_records *records = &memory->files[top_file_of(events, e)];
        size_t first = find_record(records, 0, trace_start_ns(trace, e), false);
        size_t end = find_record(records, first, region_end_ns(trace, events->open, e), true);
        uint32_t row = top_row_of(rows, e);
        records->open[first]++;
        records->open[end]--;
        if (row == ROW_NONE)
            continue;
        add_wrapped(&rows->at[row].cpu_bytes, difference_wrapped(records->cpu[end], records->cpu[first]));
        add_wrapped(&rows->at[row].device_bytes,
                    difference_wrapped(records->device[end], records->device[first]));
    }
}

static void add_bytes(struct row_sums *row, const struct top_bytes *bytes)
{
    add_wrapped(&row->cpu_bytes, bytes->cpu);
    add_wrapped(&row->device_bytes, bytes->device);
    add_wrapped(&row->self_cpu_bytes, bytes->self_cpu);
    add_wrapped(&row->self_device_bytes, bytes->self_device);
}

/* Records in no call. torch lists them after everything else that starts then. */
static void list_leftovers(struct top_rows *rows, const struct memory_records *records, uint64_t *leftovers)
{
    const struct top_events *events = rows->events;
    int64_t open = 0;
    for (size_t i = 0; i < records->count; i++) {
        open += records->open[i];
        if (open)
            continue;
        event_id e = records->at[i].event;
        int64_t cpu, device, at_ns = records->at[i].at_ns;
        uint32_t row = top_row_of(rows, e);
        if (row == ROW_NONE)
            continue;
        bytes_of(events->trace, e, &cpu, &device);
        top_row_count(rows, row,
                      &(struct top_occurrence){ e, at_ns, at_ns, top_order(events, e), false, false });
        add_bytes(&rows->at[row], &(struct top_bytes){ cpu, device, cpu, device });
        if (leftovers)
            leftovers[e / 64] |= UINT64_C(1) << (e % 64);
    }
}

void top_count_memory(struct top_rows *rows, struct top_memory *memory, struct top_counts *counts,
                      uint64_t *leftovers)
{
    if (!memory->files)
        return;
    counts->has_memory = true;
    for (size_t row = 0; row < memory->row_count; row++)
        add_bytes(&rows->at[row], &memory->of_rows[row]);
    assign_to_async(rows, memory);
    for (uint32_t i = 0; i < rows->events->trace->file_count; i++)
        list_leftovers(rows, &memory->files[i], leftovers);
}
