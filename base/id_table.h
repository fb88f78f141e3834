/*
 * id_table.h - maps arbitrary 64-bit ids, of a file or of ours, to indices of an array. Zero-initialise it.
 *
 * Producers count up, so most ids are at most a few times their number: these are indices of an array. All others are
 * in a table with open addressing.
 */
#ifndef TPA_BASE_ID_TABLE_H
#define TPA_BASE_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define ID_TABLE_NONE UINT32_MAX

struct id_table {
    uint32_t *direct; /* by key: place plus 1; 0: not here */
    size_t direct_count;
    uint64_t *keys;
    uint32_t *places; /* place plus 1; 0: free */
    size_t mask, far_count;
    size_t count; /* of both */
};

/* The same for a key that is not in the array. */
uint32_t id_table_find_far(const struct id_table *table, uint64_t key);

/* The index of KEY, or ID_TABLE_NONE. */
static inline uint32_t id_table_find(const struct id_table *table, uint64_t key)
{
    if (key < table->direct_count && table->direct[key])
        return table->direct[key] - 1;
    return id_table_find_far(table, key);
}

/* Map KEY to PLACE. */
void id_table_set(struct id_table *table, uint64_t key, uint32_t place);

/* Remove all keys. */
void id_table_release(struct id_table *table);

#endif
