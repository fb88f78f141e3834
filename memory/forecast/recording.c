#include "memory/forecast/forecast.h"

#include "base/rows.h"
#include "derive/step_list.h"
#include "memory/allocator_history.h"

struct forecast_texts forecast_texts_open(void)
{
    return (struct forecast_texts){ names_open(), names_open() };
}

static uint32_t add_text(struct names *names, const char *text)
{
    return names_add(names, text, strlen(text));
}

static uint32_t add_block(struct forecast_recording *recording, const struct forecast_block *block)
{
    *VEC_PUSH(&recording->blocks) = *block;
    return (uint32_t)recording->blocks.count - 1;
}

/*
 * ---- how much the last two steps differ ----
 *
 * The bytes of each key that allocates as often in both, differences added up, as a share of the larger; 0 without two steps.
 */

struct by_key {
    uint32_t key;
    bool in_last; /* of the last two steps */
    int64_t bytes;
};

static double steps_vary(const struct forecast_recording *recording)
{
    static const struct key of_key[] = { ASC(struct by_key, key), KEY_END };
    int32_t last = -1, before = -1;
    for (size_t i = 0; i < recording->blocks.count; i++) {
        int32_t step = recording->blocks.at[i].step;
        if (step > last) {
            before = last;
            last = step;
        } else if (step < last && step > before) {
            before = step;
        }
    }
    if (before < 0)
        return 0;
    SCOPED VEC_OF(struct by_key) changes = { 0 };
    double all = 0, differ = 0;
    FOR_EACH(block, &recording->blocks) {
        if (block->step == last || block->step == before)
            *VEC_PUSH(&changes) = (struct by_key){ block->key, block->step == last, block->bytes };
    }
    SORT(&changes, of_key);
    FOR_GROUPS(&changes, of_key, first, end) {
        int64_t bytes[2] = { 0 };
        size_t count[2] = { 0 };
        for (size_t i = first; i < end; i++) {
            bytes[changes.at[i].in_last] += changes.at[i].bytes;
            count[changes.at[i].in_last]++;
        }
        if (count[0] != count[1])
            continue; /* what happens in one step only: states of the optimizer */
        all += (double)(bytes[0] > bytes[1] ? bytes[0] : bytes[1]);
        differ += (double)(bytes[0] > bytes[1] ? bytes[0] - bytes[1] : bytes[1] - bytes[0]);
    }
    return all > 0 ? differ / all : 0;
}

static void find_totals(struct forecast_recording *recording)
{
    int64_t level = 0;
    recording->steps_vary = steps_vary(recording);
    for (size_t i = 0; i < recording->blocks.count; i++)
        level += recording->blocks.at[i].initial ? recording->blocks.at[i].bytes : 0;
    recording->peak_bytes = level;
    FOR_EACH(event, &recording->events) {
        level += (event->frees ? -1 : 1) * recording->blocks.at[event->block].bytes;
        recording->peak_bytes = level > recording->peak_bytes ? level : recording->peak_bytes;
    }
}

/* ---- traces ---- */

struct key_part {
    uint32_t parent, name;
};

/* New, free with free(): by node of the call tree, the key of the blocks directly in it. */
static uint32_t *node_keys(const struct memory_records *records, const struct forecast_texts *texts)
{
    const struct calltree *tree = records->tree;
    const struct trace *trace = records->trace;
    uint32_t *keys = mem_alloc(mem_times(tree->count + 1, sizeof *keys));
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        int64_t number;
        uint32_t parent = tree->parent[n] == NODE_NONE ? UINT32_MAX : keys[tree->parent[n]];
        bool is_part = (trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION) &&
                       !step_number(trace_name(trace, e), &number);
        struct key_part part = { parent, is_part ? add_text(texts->names, trace_name(trace, e)) : 0 };
        keys[n] = is_part ? names_add(texts->keys, (const char *)&part, sizeof part) : parent;
    }
    return keys;
}

bool forecast_read_trace(const struct trace *trace, const struct memory_device *device,
                         const struct forecast_texts *texts, struct forecast_recording *recording,
                         struct tpa_error *err)
{
    const struct memory_records *records = memory_records_of(trace, MEMORY_OWNERS);
    const struct step_list *steps = step_list_of(trace);
    if (!device->has_addresses || !records->tree) {
        tpa_fail(err, TPA_NOWHERE, "%s: its blocks have no addresses, so which one is freed is not known",
                 recording->path);
        return tpa_hint(err, "record with torch 1.9 or later");
    }
    uint32_t *keys = node_keys(records, texts), unknown = add_text(texts->names, "[before recording]"),
             none = add_text(texts->names, "[no operator]");
    SCOPED uint32_t *ends =
        mem_alloc(mem_times(device->count + 1, sizeof *ends)); /* the block that a record ends, plus 1 */
    int64_t known_before = 0;
    memset(ends, 0, device->count * sizeof *ends);
    recording->reserved_bytes = -1;
    for (uint32_t i = 0; i < device->count; i++) {
        const struct memory_record *record = &records->at[device->first + i];
        const struct step *step = step_list_at(steps, device->file, trace_start_ns(trace, record->event));
        node_id parent = records->tree->parent[record->node];
        struct forecast_block block = {
            .bytes = record->bytes < 0 ? -record->bytes : record->bytes,
            .key = parent == NODE_NONE ? UINT32_MAX : keys[parent],
            .name =
                record->owner == EVENT_NONE ? none : add_text(texts->names, trace_name(trace, record->owner)),
            .step = step ? (int32_t)(step - steps->at) : -1,
        };
        if (record->reserved > recording->reserved_bytes)
            recording->reserved_bytes = record->reserved;
        if (ends[i]) {
            *VEC_PUSH(&recording->events) = (struct forecast_event){ ends[i] - 1, true };
        } else if (record->bytes < 0) {
            block.name = unknown;
            block.initial = true;
            known_before += block.bytes;
            *VEC_PUSH(&recording->events) = (struct forecast_event){ add_block(recording, &block), true };
        }
        if (record->bytes < 0)
            continue;
        *VEC_PUSH(&recording->events) = (struct forecast_event){ add_block(recording, &block), false };
        if (record->ended_by != RECORD_NONE && record->ended_by >= device->first &&
            record->ended_by - device->first < device->count)
            ends[record->ended_by - device->first] = (uint32_t)recording->blocks.count;
    }
    /* What a device held before counts; a host's allocator tells of the process, not of the job. */
    if (!memory_is_host(device) && device->has_totals && device->before > known_before)
        add_block(recording, &(struct forecast_block){ .bytes = device->before - known_before,
                                                       .key = UINT32_MAX,
                                                       .name = unknown,
                                                       .step = -1,
                                                       .initial = true });
    find_totals(recording);
    free(keys);
    return true;
}

/* ---- snapshots ---- */

/* The profiler's step at TIME_US; -1: none. */
static int32_t step_at(const struct snapshot *snapshot, uint32_t device, int64_t time_us)
{
    int64_t number;
    FOR_EACH(at, &snapshot->annotations) {
        if (at->device == device && at->start_us <= time_us &&
            (at->end_us == SNAPSHOT_NO_TIME || time_us < at->end_us) &&
            step_number(names_text(snapshot->names, at->name), &number))
            return (int32_t)number;
    }
    return -1;
}

bool forecast_read_snapshot(const struct snapshot *snapshot, const struct snapshot_device *device,
                            const struct forecast_texts *texts, struct forecast_recording *recording,
                            struct tpa_error *err)
{
    SCOPED_OBJECT struct allocator_history *replay = allocator_history_open(snapshot, device);
    if (!replay->has_history) {
        tpa_fail(err, TPA_NOWHERE, "%s: the snapshot has no history of allocations", recording->path);
        return tpa_hint(err, "call torch.cuda.memory._record_memory_history() before the first step");
    }
    SCOPED_OBJECT struct life_names *lines = life_names_open(replay, ALIVE_BY_LINE),
                                    *stacks = life_names_open(replay, ALIVE_BY_STACK);
    /* A life ends before the entry FREED: its free is the event of the entry before which it ended. */
    recording->reserved_bytes = replay->reserved.peak;
    for (size_t i = 0; i < replay->lives.count; i++) {
        const struct life *life = &replay->lives.at[i];
        bool initial = life->born == HISTORY_BEFORE_FIRST;
        size_t entry = device->first + (size_t)(initial ? 0 : life->born);
        uint32_t line = life_name(lines, i), stack = life_name(stacks, i);
        add_block(
            recording,
            &(struct forecast_block){
                .bytes = life->size,
                .key = names_add(texts->keys, names_text(stacks->names, stack),
                                 names_length(stacks->names, stack)),
                .name =
                    names_add(texts->names, names_text(lines->names, line), names_length(lines->names, line)),
                .stream = initial ? 0 : column_at(&snapshot->entries.stream, entry),
                .step = initial ? -1 : step_at(snapshot, device->device, snapshot->entries.time_us[entry]),
                .initial = initial && life->freed != HISTORY_BEFORE_FIRST });
        if (initial && life->freed == HISTORY_BEFORE_FIRST)
            recording->blocks.at[i].bytes = 0; /* dead already */
    }
    VEC_OF(struct moved {
        int64_t entry;
        uint32_t block;
        bool allocates;
    }) moved = { 0 };
    for (uint32_t i = 0; i < replay->lives.count; i++) {
        const struct life *life = &replay->lives.at[i];
        if (life->born != HISTORY_BEFORE_FIRST)
            *VEC_PUSH(&moved) = (struct moved){ life->born, i, true };
        if (life->freed != LIFE_GOES_ON && life->freed != HISTORY_BEFORE_FIRST)
            *VEC_PUSH(&moved) = (struct moved){ life->freed, i, false };
    }
    static const struct key in_order[] = { ASC(struct moved, entry), ASC(struct moved, allocates), KEY_END };
    SORT(&moved, in_order);
    for (size_t i = 0; i < moved.count; i++)
        *VEC_PUSH(&recording->events) = (struct forecast_event){ moved.at[i].block, !moved.at[i].allocates };
    VEC_FREE(&moved);
    find_totals(recording);
    return true;
}

void forecast_recording_release(struct forecast_recording *recording)
{
    EACH(VEC_FREE, &recording->blocks, &recording->events);
}
