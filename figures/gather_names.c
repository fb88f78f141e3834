/* gather_names.c - see gather_names.h. A name usually has one slot, found by the id of the name. */
#include "figures/gather_names.h"

#include "base/memory.h"
#include "base/runs.h"
#include "base/wide.h"
#include "derive/step_list.h"
#include "figures/sketch.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum name_kind { KIND_NONE, KIND_KERNEL, KIND_COPY, KIND_OPERATOR, KIND_CALL, KIND_ANNOTATION, KIND_MODULE };

static const char *const kind_words[] = {
    NULL, "kernel", "copy", "operator", "call", "annotation", "module"
};

enum { SLOT_NONE = UINT32_MAX };

struct slot {
    name_id name;
    uint8_t kind;
    int64_t device;
    uint32_t next; /* of the same name */
    int64_t count, sum_ns, min_ns, max_ns;
    struct wide squares;
    struct sketch sketch;
};

struct slots {
    struct slot *at;
    size_t count, capacity;
    uint32_t *first; /* by name_id */
};

static enum name_kind kind_of(const struct trace *trace, event_id e)
{
    int64_t number;
    switch ((enum event_kind)trace->kind[e]) {
    case EVENT_KERNEL: return KIND_KERNEL;
    case EVENT_MEMCPY:
    case EVENT_MEMSET: return KIND_COPY;
    case EVENT_OP: return KIND_OPERATOR;
    case EVENT_RUNTIME:
    case EVENT_DRIVER: return KIND_CALL;
    case EVENT_ANNOTATION: return step_number(trace_name(trace, e), &number) ? KIND_NONE : KIND_ANNOTATION;
    case EVENT_PYTHON:
        return strncmp(trace_name(trace, e), "nn.Module: ", strlen("nn.Module: ")) == 0 ? KIND_MODULE
                                                                                        : KIND_NONE;
    default: return KIND_NONE;
    }
}

static struct slot *slot_of(struct slots *slots, name_id name, enum name_kind kind, int64_t device)
{
    uint32_t s = slots->first[name];
    assert(s == SLOT_NONE || slots->at);
    for (; s != SLOT_NONE; s = slots->at[s].next)
        if (slots->at[s].kind == kind && slots->at[s].device == device)
            return &slots->at[s];
    struct slot *slot = VEC_PUSH(slots);
    *slot = (struct slot){ .name = name,
                           .kind = (uint8_t)kind,
                           .device = device,
                           .next = slots->first[name],
                           .min_ns = INT64_MAX,
                           .max_ns = INT64_MIN };
    slots->first[name] = (uint32_t)(slot - slots->at);
    return slot;
}

static void add_duration(struct slot *slot, int64_t ns)
{
    slot->count++;
    slot->sum_ns += ns;
    slot->min_ns = ns < slot->min_ns ? ns : slot->min_ns;
    slot->max_ns = ns > slot->max_ns ? ns : slot->max_ns;
    wide_add(&slot->squares, wide_product((uint64_t)ns, (uint64_t)ns));
    sketch_add(&slot->sketch, ns);
}

static bool takes_less(const void *context, const void *a, const void *b)
{
    const struct trace *trace = context;
    const struct slot *left = a, *right = b;
    if (left->sum_ns != right->sum_ns)
        return left->sum_ns < right->sum_ns;
    int order = strcmp(names_text(trace->names, left->name), names_text(trace->names, right->name));
    if (order == 0)
        order = left->kind != right->kind ? (left->kind > right->kind) - (left->kind < right->kind)
                                          : (left->device > right->device) - (left->device < right->device);
    return order > 0;
}

/* Add what SLOT holds to INTO. */
static void join(struct slot *into, struct slot *slot)
{
    into->count += slot->count;
    into->sum_ns += slot->sum_ns;
    into->min_ns = slot->min_ns < into->min_ns ? slot->min_ns : into->min_ns;
    into->max_ns = slot->max_ns > into->max_ns ? slot->max_ns : into->max_ns;
    wide_add(&into->squares, slot->squares);
    sketch_merge(&into->sketch, &slot->sketch);
    sketch_release(&slot->sketch);
}

/* If there are too many, keep the maximum number, followed by one for each kind and device. */
static void join_small(struct slots *slots, const struct trace *trace)
{
    if (slots->count <= GATHER_MOST_NAMES)
        return;
    runs_sort(slots->at, slots->count, sizeof *slots->at, takes_less, trace);
    size_t kept = GATHER_MOST_NAMES;
    for (size_t i = GATHER_MOST_NAMES; i < slots->count; i++) {
        struct slot slot = slots->at[i];
        size_t other = GATHER_MOST_NAMES;
        while (other < kept && (slots->at[other].kind != slot.kind || slots->at[other].device != slot.device))
            other++;
        if (other < kept) {
            join(&slots->at[other], &slot);
            continue;
        }
        slot.name = NAME_NONE;
        slots->at[kept++] = slot;
    }
    slots->count = kept;
}

static void add_rows(struct facts *facts, const struct trace *trace, struct slots *slots)
{
    struct buffer bytes = { 0 };
    for (size_t i = 0; i < slots->count; i++) {
        struct slot *slot = &slots->at[i];
        buffer_clear(&bytes);
        sketch_encode(&slot->sketch, &bytes);
        facts_add(facts, FACTS_NAMES,
                  &(struct facts_name){
                      .device = slot->device,
                      .kind = facts_text(facts, kind_words[slot->kind]),
                      .name = slot->name == NAME_NONE
                                  ? facts_text(facts, "(other)")
                                  : names_add(facts->texts, names_text(trace->names, slot->name),
                                              names_length(trace->names, slot->name)),
                      .count = slot->count,
                      .sum_ns = slot->sum_ns,
                      .min_ns = slot->min_ns,
                      .max_ns = slot->max_ns,
                      .squares_high = (int64_t)slot->squares.high,
                      .squares_low = (int64_t)slot->squares.low,
                      .sketch = { arena_strndup(&facts->arena, bytes.at, bytes.count), bytes.count },
                  });
        sketch_release(&slot->sketch);
    }
    buffer_release(&bytes);
}

void gather_names(struct facts *facts, const struct trace *trace, const struct gpu_events *gpu, uint32_t file)
{
    size_t names = names_count(trace->names);
    struct slots slots = { .first = mem_alloc(mem_times(names + 1, sizeof *slots.first)) };
    for (size_t i = 0; i < names; i++)
        slots.first[i] = SLOT_NONE;
    for (event_id e = trace->files[file].first_event, end = e + trace->files[file].event_count; e < end;
         e++) {
        enum name_kind kind = kind_of(trace, e);
        if (kind == KIND_NONE)
            continue;
        uint32_t device =
            event_on_device(trace->kind[e]) ? gpu->device_of_track[trace->track[e]] : UINT32_MAX;
        add_duration(slot_of(&slots, trace->name[e], kind,
                             device == UINT32_MAX ? FACTS_MISSING : gpu->devices[device].id),
                     trace_dur_ns(trace, e));
    }
    join_small(&slots, trace);
    add_rows(facts, trace, &slots);
    free(slots.first);
    VEC_FREE(&slots);
}
