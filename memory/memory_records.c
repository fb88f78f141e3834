/* The events of records are collected and sorted by device and time, as most files have them already; then each record is
 * filled in its place, in one pass per device. The record that ends a block is the next of the same address: a table by
 * address remembers the last. */
#include "memory/memory_records.h"

#include "base/rows.h"
#include "derive/device_types.h"
#include "base/order.h"
#include "base/sum.h"
#include "base/runs.h"
#include "trace/arg_scan.h"
#include "trace/derived.h"
#include "derive/step_list.h"
#include "base/id_table.h"

/* What is needed of a record, beside it, until its device is known and the other end of its block. */
struct raw_record {
    int64_t start_ns;
    int64_t address; /* set when the record is filled, as are the last three */
    uint32_t device; /* index of devices */
    event_id event;
    bool has_address, has_total, has_call;
};

struct raw_device {
    uint32_t file;
    int64_t type, id;
};

struct raw_records {
    struct raw_record *at; /* beside the records */
    size_t count;
    VEC_OF(struct raw_device) devices;
};

const char *memory_device_type_name(int64_t type)
{
    static const char *const names[] = { "cpu", "cuda", "mkldnn",       "opengl", "opencl", "ideep",
                                         "hip", "fpga", "maia",         "xla",    "vulkan", "metal",
                                         "xpu", "mps",  "meta",         "hpu",    "ve",     "lazy",
                                         "ipu", "mtia", "privateuseone" };
    if (type == DEVICE_TYPE_NPU)
        return "npu";
    return type >= 0 && type < (int64_t)(sizeof names / sizeof *names) ? names[type] : NULL;
}

bool memory_is_host(const struct memory_device *device)
{
    return device->type == 0 || device->type == 2 || device->type == 5;
}

/* ---- collecting records ---- */

struct taking {
    const struct trace *trace;
    struct memory_change_ids names;
};

static bool takes_part(const void *context, event_id e)
{
    const struct taking *taking = context;
    const struct trace *trace = taking->trace;
    if (trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION)
        return !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT));
    return memory_change_of(&taking->names, trace, e) != MEMORY_CHANGES;
}

/* A size, which is never INT64_MIN. */
static int64_t size_of(int64_t bytes)
{
    return sum_plus(bytes, 0);
}

static const struct key by_device[] = { ASC(struct raw_device, file), ASC(struct raw_device, type),
                                        ASC(struct raw_device, id), KEY_END };

/* The index of DEVICE, by its bytes in KEYS; most records are of the device of the one before. */
static uint32_t index_of(struct raw_records *raw, struct names *keys, struct raw_device device, uint32_t last)
{
    const int64_t key[] = { device.file, device.type, device.id };
    if (last < raw->devices.count && rows_compare(&raw->devices.at[last], &device, by_device) == 0)
        return last;
    uint32_t index = names_add(keys, (const char *)key, sizeof key);
    if (index == raw->devices.count)
        *VEC_PUSH(&raw->devices) = device;
    return index;
}

/* The events of records and their devices, in the order of the file. */
static void collect_raw(const struct taking *taking, struct raw_records *raw)
{
    const struct trace *trace = taking->trace;
    struct arg_scan types = arg_scan_of(trace, ARG_DEVICE_TYPE), ids = arg_scan_of(trace, ARG_DEVICE_ID),
                    categories = arg_scan_of(trace, ARG_MEMORY_CATEGORY);
    SCOPED_OBJECT struct names *keys = names_open();
    size_t count =
        SUM(size_t, e, trace->event_count, memory_change_of(&taking->names, trace, e) != MEMORY_CHANGES);
    raw->at = mem_alloc(mem_times(count + 1, sizeof *raw->at));
    for (event_id e = 0; raw->count < count; e++) {
        if (memory_change_of(&taking->names, trace, e) == MEMORY_CHANGES)
            continue;
        int64_t category;
        bool recorded = arg_scan_get(&categories, e, &category);
        struct raw_device device = { trace->tracks[trace->track[e]].file, recorded ? MEMORY_TYPE_UNKNOWN : 0,
                                     -1 };
        arg_scan_get(&types, e, &device.type);
        arg_scan_get(&ids, e, &device.id);
        uint32_t last = raw->count ? raw->at[raw->count - 1].device : 0;
        raw->at[raw->count++] = (struct raw_record){ .start_ns = trace_start_ns(trace, e),
                                                     .device = index_of(raw, keys, device, last),
                                                     .event = e };
    }
}

static const struct key by_index[] = { ASC(struct raw_record, device), KEY_END };

/* Let the indices of devices be in order of file, type and number. */
static void sort_devices(struct raw_records *raw)
{
    size_t count = raw->devices.count;
    SCOPED uint32_t *order = order_open(count), *rank = mem_alloc(mem_times(count + 1, sizeof *rank));
    rows_order(order, raw->devices.at, count, sizeof *raw->devices.at, by_device);
    for (uint32_t k = 0; k < count; k++)
        rank[order[k]] = k;
    for (size_t i = 0; i < raw->count; i++)
        raw->at[i].device = rank[raw->at[i].device];
    rows_permute(raw->devices.at, count, sizeof *raw->devices.at, order);
}

/* Does record LEFT come after RIGHT? Those of a thread are in order already. */
static bool comes_after(const void *context, const void *left, const void *right)
{
    const struct raw_record *at = context, *a = &at[*(const uint32_t *)left],
                            *b = &at[*(const uint32_t *)right];
    if (a->device != b->device)
        return a->device > b->device;
    return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->event > b->event;
}

/* By device and time. Host and devices take turns in a file: by device there are only a few runs, whose places are merged. */
static void sort_raw(struct raw_records *raw)
{
    sort_devices(raw);
    SCOPED uint32_t *order = order_open(raw->count);
    rows_order(order, raw->at, raw->count, sizeof *raw->at, by_index);
    runs_sort(order, raw->count, sizeof *order, comes_after, raw->at);
    struct raw_record *sorted = mem_alloc(mem_times(raw->count + 1, sizeof *sorted));
    for (size_t i = 0; i < raw->count; i++)
        sorted[i] = raw->at[order[i]];
    free(raw->at);
    raw->at = sorted;
}

/* The records of RAW, which are in order: those of a device are mostly in the order of the file, too. */
static void fill_records(const struct taking *taking, struct memory_records *records, struct raw_records *raw)
{
    const struct trace *trace = taking->trace;
    struct arg_scan bytes = arg_scan_of(trace, ARG_BYTES), addresses = arg_scan_of(trace, ARG_ADDRESS),
                    totals = arg_scan_of(trace, ARG_TOTAL_ALLOCATED),
                    reserved = arg_scan_of(trace, ARG_TOTAL_RESERVED),
                    categories = arg_scan_of(trace, ARG_MEMORY_CATEGORY),
                    calls = arg_scan_of(trace, ARG_CORRELATION);
    records->at = mem_alloc(mem_times(raw->count + 1, sizeof *records->at));
    for (size_t i = 0; i < raw->count; i++) {
        struct raw_record *own = &raw->at[i];
        int64_t category = NAME_NONE, size = 0, total = 0, all = -1, unused;
        arg_scan_get(&categories, own->event, &category);
        arg_scan_get(&bytes, own->event, &size);
        arg_scan_get(&reserved, own->event, &all);
        own->has_address = arg_scan_get(&addresses, own->event, &own->address);
        own->has_total = arg_scan_get(&totals, own->event, &total);
        own->has_call = arg_scan_get(&calls, own->event, &unused);
        records->at[i] = (struct memory_record){
            .event = own->event,
            .owner = EVENT_NONE,
            .node = NODE_NONE,
            .ended_by = RECORD_NONE,
            .category = (name_id)category,
            .change = (uint8_t)memory_change_of(&taking->names, trace, own->event),
            .bytes = size_of(size),
            .allocated = size_of(total),
            .reserved = size_of(all),
        };
    }
    records->count = (uint32_t)raw->count;
}

/* ---- owners ---- */

/* New, free with free(): by node, the owner of the records directly in it: the innermost operator's, else the innermost
 * annotation's that is not a step. */
static event_id *owners_by_nesting(const struct memory_records *records, const bool *is_step)
{
    const struct trace *trace = records->trace;
    const struct calltree *tree = records->tree;
    event_id *owners = mem_alloc(mem_times(tree->count + 1, sizeof *owners));
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        event_id above = tree->parent[n] == NODE_NONE ? EVENT_NONE : owners[tree->parent[n]];
        bool is_operator = trace->kind[e] == EVENT_OP;
        bool in_operator = above != EVENT_NONE && trace->kind[above] == EVENT_OP;
        owners[n] = is_operator || (!in_operator && !is_step[trace->name[e]]) ? e : above;
    }
    return owners;
}

/* The operator of the call that the record is linked to, else the call itself. */
static event_id owner_by_call(const struct attribution *launches, event_id record)
{
    event_id op = attribution_operator(launches, record);
    return op != EVENT_NONE ? op : attribution_call(launches, record);
}

static void find_owners(struct memory_records *records, const struct raw_record *raw)
{
    const struct trace *trace = records->trace;
    SCOPED bool *is_step = mem_zalloc(names_count(trace->names) + 1, sizeof *is_step);
    int64_t number;
    for (name_id id = 0; id < names_count(trace->names); id++)
        is_step[id] = step_number(names_text(trace->names, id), &number);
    SCOPED event_id *owners = owners_by_nesting(records, is_step);
    const struct attribution *launches = NULL;
    for (uint32_t i = 0; i < records->count; i++) {
        struct memory_record *record = &records->at[i];
        node_id parent = records->tree->parent[record->node];
        record->owner = parent == NODE_NONE ? EVENT_NONE : owners[parent];
        if (record->owner != EVENT_NONE || !raw[i].has_call)
            continue;
        launches = launches ? launches : attribution_of(trace);
        record->owner = owner_by_call(launches, record->event);
        record->owner_by_call = record->owner != EVENT_NONE;
    }
}

/* Find the record that ends each block of DEVICE, whose records are RAW. Returns the bytes that were freed but never
 * allocated. */
static int64_t match_blocks(struct memory_records *records, struct memory_device *device,
                            const struct raw_record *raw)
{
    int64_t freed = 0;
    SCOPED_BY(id_table_release) struct id_table last = { 0 }; /* record of each address */
    for (uint32_t i = 0; i < device->count; i++) {
        uint32_t at = id_table_find(&last, (uint64_t)raw[i].address);
        struct memory_record *record = &records->at[device->first + i];
        struct memory_record *begin = at != ID_TABLE_NONE ? &records->at[device->first + at] : NULL;
        if (begin && begin->bytes > 0) {
            begin->ended_by = device->first + i;
            device->lost_frees += record->bytes > 0;
            record->displaced = record->bytes > 0 ? begin->bytes : 0;
        } else if (record->bytes < 0) {
            sum_add(&freed, -record->bytes);
        }
        id_table_set(&last, (uint64_t)raw[i].address, i);
    }
    return freed;
}

/* ---- memory in use ---- */

/* For records without totals and addresses: what must have been in use, so that the sum is never negative. */
static int64_t least_before(const struct memory_record *records, uint32_t count)
{
    int64_t level = 0, least = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum_add(&level, records[i].bytes);
        least = level < least ? level : least;
    }
    return -least;
}

/* Count the bytes in use, starting with BEFORE; blocks recorded as existing are included in BEFORE. */
static void count_levels(struct memory_records *records, struct memory_device *device, int64_t before)
{
    int64_t level = before, existing = 0;
    for (uint32_t i = device->first; i < device->first + device->count; i++) {
        struct memory_record *record = &records->at[i];
        level = sum_plus(sum_plus(level, -record->displaced), record->bytes);
        record->allocated = level;
        if (record->change == MEMORY_EXISTING)
            sum_add(&existing, record->bytes);
    }
    device->before = sum_plus(before, existing);
}

/* Complete DEVICE's records by RAW, as many as it has. */
static void fill_device(struct memory_records *records, struct memory_device *device,
                        const struct raw_record *raw, const node_id *nodes)
{
    device->has_totals = device->has_addresses = true;
    for (uint32_t i = 0; i < device->count; i++) {
        struct memory_record *record = &records->at[device->first + i];
        device->has_totals &= raw[i].has_total;
        device->has_addresses &= raw[i].has_address;
        device->has_categories |= record->category != NAME_NONE;
        record->node = nodes ? nodes[record->event] : NODE_NONE;
    }
    int64_t before = device->has_addresses ? match_blocks(records, device, raw) : 0;
    const struct memory_record *first = &records->at[device->first];
    if (device->has_totals)
        device->before = sum_plus(first->allocated, -first->bytes);
    else
        count_levels(records, device, device->has_addresses ? before : least_before(first, device->count));
}

struct memory_records *memory_records_open(const struct trace *trace, enum memory_detail detail)
{
    struct memory_records *records = arena_open(sizeof *records);
    ARENA_OWNS(arena_of(records), &records->at, &records->devices);
    records->trace = trace;
    struct taking taking = { trace, memory_change_ids(trace) };
    struct raw_records raw = { 0 };
    collect_raw(&taking, &raw);
    sort_raw(&raw);
    fill_records(&taking, records, &raw);
    node_id *nodes = NULL;
    if (detail == MEMORY_OWNERS) {
        records->tree = arena_hold(arena_of(records), calltree_open(trace, takes_part, &taking));
        calltree_nest(records->tree);
        nodes = calltree_nodes(records->tree);
    }

    VEC_OF(struct memory_device) devices = { 0 };
    FOR_GROUPS_OF(raw.at, records->count, by_index, first, end) {
        struct memory_device *device = VEC_PUSH(&devices);
        const struct raw_device *of = &raw.devices.at[raw.at[first].device];
        *device = (struct memory_device){ .file = of->file,
                                          .type = of->type,
                                          .id = of->id,
                                          .first = (uint32_t)first,
                                          .count = (uint32_t)(end - first) };
        fill_device(records, device, &raw.at[first], nodes);
    }
    if (detail == MEMORY_OWNERS)
        find_owners(records, raw.at);
    for (size_t d = 0; d < devices.count; d++)
        for (uint32_t i = devices.at[d].first; i < devices.at[d].first + devices.at[d].count; i++)
            devices.at[d].has_owners |= records->at[i].owner != EVENT_NONE;
    records->devices = devices.at;
    records->device_count = devices.count;
    VEC_FREE(&raw.devices);
    EACH(free, raw.at, nodes);
    return records;
}

static void *derive_levels(const struct trace *trace)
{
    return memory_records_open(trace, MEMORY_LEVELS);
}

static void *derive_owners(const struct trace *trace)
{
    return memory_records_open(trace, MEMORY_OWNERS);
}

static const struct derivation derivations[] = {
    [MEMORY_LEVELS] = { derive_levels },
    [MEMORY_OWNERS] = { derive_owners },
};

const struct memory_records *memory_records_of(const struct trace *trace, enum memory_detail detail)
{
    const struct memory_records *owned = trace_derived(trace, &derivations[MEMORY_OWNERS]);
    return owned ? owned : trace_derive(trace, &derivations[detail]);
}

const struct memory_records *memory_records_kept(const struct trace *trace)
{
    const struct memory_records *owned = trace_derived(trace, &derivations[MEMORY_OWNERS]);
    return owned ? owned : trace_derived(trace, &derivations[MEMORY_LEVELS]);
}
