/*
 * id_table.h - from ids that a file made up, of 64 bits, to places in an array. Open addressing; zero-initialise it.
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

/* The place of KEY, or ID_TABLE_NONE. */
uint32_t id_table_find(const struct id_table *table, uint64_t key);

/* KEY means PLACE from now on. */
void id_table_set(struct id_table *table, uint64_t key, uint32_t place);

/* Forget all. */
void id_table_release(struct id_table *table);

#endif
