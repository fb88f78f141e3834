/* id_set.h - numbers by what they stand for. */
#ifndef TPA_INGEST_ID_SET_H
#define TPA_INGEST_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open addressing, by a hash that its user makes. Zero-initialised: empty. Free the slots. */
struct id_slot {
    uint32_t hash, id_plus_1;
};
struct id_set {
    struct id_slot *slots;
    size_t count, capacity;
};

/*
 * The id of what hashes to HASH and for which SAME says true; else ID_NEW, and the next such search finds NEXT_ID.
 */
#define ID_NEW UINT32_MAX
uint32_t id_set_find(struct id_set *set, uint64_t hash, uint32_t next_id,
                     bool (*same)(const void *context, uint32_t id), const void *context);

#endif
