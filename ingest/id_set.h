/* id_set.h - a set of objects with ids, for hashing. */
#ifndef TPA_INGEST_ID_SET_H
#define TPA_INGEST_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open addressing, with a hash computed by the caller. Zero-initialised: empty. Free the slots with free(). */
struct id_slot {
    uint32_t hash, id_plus_1;
};
struct id_set {
    struct id_slot *slots;
    size_t count, capacity;
};

/* The id of the object with HASH for which SAME returns true; else ID_NEW, and NEXT_ID is inserted for later
 * searches. */
#define ID_NEW UINT32_MAX
uint32_t id_set_find(struct id_set *set, uint64_t hash, uint32_t next_id,
                     bool (*same)(const void *context, uint32_t id), const void *context);

#endif
