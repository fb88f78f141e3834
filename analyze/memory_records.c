/*
 * memory_records.c - see memory_records.h.
 *
 * Records are sorted twice: by device and time, which is how they stay, and an index of them by device, address and
 * time, in which the record after an allocation is the one that ends its block.
 */
#include "analyze/memory_records.h"

#include "base/memory.h"
#include "trace/steps.h"
#include <stdlib.h>
#include <string.h>

/* What records are sorted by. */
struct raw_record {
    uint32_t file;
    int64_t type, id, at_ns;
    event_id event;
};

int64_t memory_plus(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum) && sum != INT64_MIN)
        return sum;
    return a > 0 ? INT64_MAX : -INT64_MAX;
}

const char *memory_device_type_name(int64_t type)
{
    static const char *const names[] = { "cpu", "cuda", "mkldnn",       "opengl", "opencl", "ideep",
                                         "hip", "fpga", "maia",         "xla",    "vulkan", "metal",
                                         "xpu", "mps",  "meta",         "hpu",    "ve",     "lazy",
                                         "ipu", "mtia", "privateuseone" };
    return type >= 0 && type < (int64_t)(sizeof names / sizeof *names) ? names[type] : NULL;
}

bool memory_is_host(const struct memory_device *device)
{
    return device->type == 0 || device->type == 2 || device->type == 5;
}

/* ---- who: the call tree ---- */

struct taking {
    const struct trace *trace;
    name_id memory; /* "[memory]"; NAME_NONE when no event is called so */
};

static bool is_record(const struct taking *taking, event_id e)
{
    return taking->trace->kind[e] == EVENT_INSTANT && taking->trace->name[e] == taking->memory;
}

static bool takes_part(const void *context, event_id e)
{
    const struct taking *taking = context;
    const struct trace *trace = taking->trace;
    if (trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION)
        return !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT));
    return is_record(taking, e);
}

event_id memory_operator(const struct memory_records *records, const struct memory_record *record)
{
    const struct trace *trace = records->trace;
    event_id annotation = EVENT_NONE;
    int64_t number;
    for (node_id n = records->tree->parent[record->node]; n != NODE_NONE; n = records->tree->parent[n]) {
        event_id e = records->tree->event[n];
        if (trace->kind[e] == EVENT_OP)
            return e;
        if (annotation == EVENT_NONE && !step_number(trace_name(trace, e), &number))
            annotation = e;
    }
    return annotation;
}

/* ---- where and when ---- */

static int compare_devices(const struct raw_record *a, const struct raw_record *b)
{
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static int compare_times(const void *left, const void *right)
{
    const struct raw_record *a = left, *b = right;
    int order = compare_devices(a, b);
    if (order)
        return order;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static int64_t size_arg(const struct trace *trace, enum trace_arg arg, event_id e, int64_t missing)
{
    return memory_plus(trace_arg_or(trace, arg, e, missing), 0);
}

/* Fill DEVICE's records from RAW ones, as many as it has. */
static void fill_device(struct memory_records *records, struct memory_device *device,
                        const struct raw_record *raw, const node_id *nodes)
{
    const struct trace *trace = records->trace;
    int64_t unused, allocated = 0;
    device->has_totals = device->has_addresses = true;
    for (uint32_t i = 0; i < device->count; i++) {
        device->has_totals &= trace_arg(trace, ARG_TOTAL_ALLOCATED, raw[i].event, &unused);
        device->has_addresses &= trace_arg(trace, ARG_ADDRESS, raw[i].event, &unused);
    }
    for (uint32_t i = 0; i < device->count; i++) {
        event_id e = raw[i].event;
        int64_t bytes = size_arg(trace, ARG_BYTES, e, 0);
        allocated =
            device->has_totals ? size_arg(trace, ARG_TOTAL_ALLOCATED, e, 0) : memory_plus(allocated, bytes);
        records->at[device->first + i] = (struct memory_record){
            .event = e,
            .node = nodes[e],
            .ended_by = RECORD_NONE,
            .bytes = bytes,
            .allocated = allocated,
            .reserved = size_arg(trace, ARG_TOTAL_RESERVED, e, -1),
        };
    }
    const struct memory_record *first = &records->at[device->first];
    device->before = device->has_totals ? memory_plus(first->allocated, -first->bytes) : 0;
}

/* ---- the two ends of a block ---- */

struct place {
    int64_t address;
    uint32_t record;
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->record < b->record ? -1 : a->record > b->record;
}

/* PLACES has room for the device's records. */
static void match_device(struct memory_records *records, struct memory_device *device, struct place *places)
{
    if (!device->has_addresses)
        return;
    for (uint32_t i = 0; i < device->count; i++) {
        uint32_t record = device->first + i;
        places[i] =
            (struct place){ trace_arg_or(records->trace, ARG_ADDRESS, records->at[record].event, 0), record };
    }
    qsort(places, device->count, sizeof *places, compare_places);
    for (uint32_t i = 1; i < device->count; i++) {
        struct memory_record *begin = &records->at[places[i - 1].record];
        if (places[i - 1].address != places[i].address || begin->bytes <= 0)
            continue;
        begin->ended_by = places[i].record;
        device->lost_frees += records->at[places[i].record].bytes > 0;
    }
}

/* ---- the whole ---- */

struct memory_records *memory_records_open(const struct trace *trace)
{
    struct memory_records *records = mem_zalloc(1, sizeof *records);
    records->trace = trace;
    struct taking taking = { trace, names_find(trace->names, "[memory]", 8) };
    records->tree = calltree_open(trace, takes_part, &taking);
    calltree_nest(records->tree);
    node_id *nodes = calltree_nodes(records->tree);

    VEC_OF(struct raw_record) raw = { 0 };
    for (event_id e = 0; e < trace->event_count; e++)
        if (is_record(&taking, e))
            *VEC_PUSH(&raw) = (struct raw_record){
                .file = trace->tracks[trace->track[e]].file,
                .type = trace_arg_or(trace, ARG_DEVICE_TYPE, e, 0),
                .id = trace_arg_or(trace, ARG_DEVICE_ID, e, -1),
                .at_ns = trace->start_ns[e],
                .event = e,
            };
    bool sorted = true; /* as most files have them */
    for (size_t i = 1; i < raw.count && sorted; i++)
        sorted = compare_times(&raw.at[i - 1], &raw.at[i]) < 0;
    if (!sorted)
        qsort(raw.at, raw.count, sizeof *raw.at, compare_times);
    records->count = (uint32_t)raw.count;
    records->at = mem_alloc((raw.count + 1) * sizeof *records->at);
    VEC_OF(struct memory_device) devices = { 0 };
    struct place *places = mem_alloc((raw.count + 1) * sizeof *places);
    for (size_t first = 0, end; first < raw.count; first = end) {
        for (end = first + 1; end < raw.count && compare_devices(&raw.at[first], &raw.at[end]) == 0;)
            end++;
        struct memory_device *device = VEC_PUSH(&devices);
        *device = (struct memory_device){ .file = raw.at[first].file,
                                          .type = raw.at[first].type,
                                          .id = raw.at[first].id,
                                          .first = (uint32_t)first,
                                          .count = (uint32_t)(end - first) };
        fill_device(records, device, &raw.at[first], nodes);
        match_device(records, device, places);
    }
    records->devices = devices.at;
    records->device_count = devices.count;
    VEC_FREE(&raw);
    free(places);
    free(nodes);
    return records;
}

void memory_records_free(struct memory_records *records)
{
    if (!records)
        return;
    calltree_free(records->tree);
    free(records->at);
    free(records->devices);
    free(records);
}
