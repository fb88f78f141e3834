#include "ingest/id_set.h"

#include "base/memory.h"

static void grow_set(struct id_set *set)
{
    struct id_set bigger = { .capacity = set->capacity ? 2 * set->capacity : 64, .count = set->count };
    bigger.slots = mem_zalloc(bigger.capacity, sizeof *bigger.slots);
    for (size_t i = 0; i < set->capacity; i++) {
        if (!set->slots[i].id_plus_1)
            continue;
        size_t at = set->slots[i].hash & (bigger.capacity - 1);
        while (bigger.slots[at].id_plus_1)
            at = (at + 1) & (bigger.capacity - 1);
        bigger.slots[at] = set->slots[i];
    }
    free(set->slots);
    *set = bigger;
}

uint32_t id_set_find(struct id_set *set, uint64_t hash, uint32_t next_id,
                     bool (*same)(const void *context, uint32_t id), const void *context)
{
    if (2 * set->count >= set->capacity)
        grow_set(set);
    uint32_t short_hash = (uint32_t)(hash ^ hash >> 32);
    size_t at = short_hash & (set->capacity - 1);
    for (; set->slots[at].id_plus_1; at = (at + 1) & (set->capacity - 1))
        if (set->slots[at].hash == short_hash && same(context, set->slots[at].id_plus_1 - 1))
            return set->slots[at].id_plus_1 - 1;
    set->slots[at] = (struct id_slot){ short_hash, next_id + 1 };
    set->count++;
    return ID_NEW;
}
