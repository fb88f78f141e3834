/*
 * id_table.h - maps arbitrary 64-bit ids of a file to indices of an array. Open addressing; zero-initialise it.
 */
#ifndef TPA_INGEST_ID_TABLE_H
#define TPA_INGEST_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define ID_TABLE_NONE UINT32_MAX

struct id_table {
    uint64_t *keys;
    uint32_t *places; /* place plus 1; 0: free */
    size_t mask, count;
};

/* The index of KEY, or ID_TABLE_NONE. */
uint32_t id_table_find(const struct id_table *table, uint64_t key);

/* Map KEY to PLACE. */
void id_table_set(struct id_table *table, uint64_t key, uint32_t place);

/* Remove all keys. */
void id_table_release(struct id_table *table);

#endif
