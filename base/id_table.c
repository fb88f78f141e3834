#include "base/id_table.h"

#include "base/memory.h"

static size_t id_table_slot_of(const struct id_table *table, uint64_t key)
{
    size_t slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & table->mask;
    while (table->places[slot] && table->keys[slot] != key)
        slot = (slot + 1) & table->mask;
    return slot;
}

uint32_t id_table_find_far(const struct id_table *table, uint64_t key)
{
    return table->places ? table->places[id_table_slot_of(table, key)] - 1 : ID_TABLE_NONE;
}

/* Is KEY so small that the array may reach to it? */
static bool is_near(const struct id_table *table, uint64_t key)
{
    return key < 64 + 4 * (uint64_t)table->count;
}

static void reach(struct id_table *table, size_t key)
{
    size_t count = table->direct_count ? table->direct_count : 64;
    while (count <= key)
        count *= 2;
    if (count == table->direct_count)
        return;
    table->direct = mem_realloc(table->direct, mem_times(count, sizeof *table->direct));
    memset(table->direct + table->direct_count, 0, (count - table->direct_count) * sizeof *table->direct);
    table->direct_count = count;
}

static void id_table_grow(struct id_table *table)
{
    struct id_table old = *table;
    size_t size = old.mask ? 2 * (old.mask + 1) : 64;
    table->mask = size - 1;
    table->keys = mem_alloc(mem_times(size, sizeof *table->keys));
    table->places = mem_zalloc(size, sizeof *table->places);
    for (size_t i = 0; old.places && i <= old.mask; i++) {
        if (!old.places[i])
            continue;
        size_t slot = id_table_slot_of(table, old.keys[i]);
        table->keys[slot] = old.keys[i];
        table->places[slot] = old.places[i];
    }
    EACH(free, old.keys, old.places);
}

void id_table_set(struct id_table *table, uint64_t key, uint32_t place)
{
    if (is_near(table, key) && id_table_find_far(table, key) == ID_TABLE_NONE) {
        reach(table, (size_t)key);
        table->count += table->direct[key] == 0;
        table->direct[key] = place + 1;
        return;
    }
    if (2 * table->far_count >= table->mask)
        id_table_grow(table);
    size_t slot = id_table_slot_of(table, key);
    table->count += table->places[slot] == 0;
    table->far_count += table->places[slot] == 0;
    table->keys[slot] = key;
    table->places[slot] = place + 1;
}

void id_table_release(struct id_table *table)
{
    EACH(free, table->direct, table->keys, table->places);
    *table = (struct id_table){ 0 };
}
