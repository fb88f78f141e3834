/*
 * memory_records.h - every allocation and free of allocators, with its operator and the matching record.
 *
 *     const struct memory_records *records = memory_records_of(trace, MEMORY_OWNERS);
 *     for (size_t d = 0; d < records->device_count; d++) {
 *         const struct memory_device *device = &records->devices[d];
 *         for (uint32_t i = device->first; i < device->first + device->count; i++)
 *             peak = records->at[i].allocated > peak ? records->at[i].allocated : peak;
 *     }
 *
 * A record is an instant event `[memory]` of any writer: a framework's caching allocator, or a log of the driver's own
 * allocations. Its bytes are those of one block: positive when it was allocated, negative when it was freed. Blocks are
 * distinguished by their addresses. What else is recorded depends on the file:
 *
 *   PyTorch since 1.9   address, bytes in use and reserved; the operator by nesting
 *   PyTorch to 1.8      neither address nor totals
 *   driver's log        address, and the call by its correlation; no totals
 *   memory timeline     a category (trace/memory_change.h) instead of address, operator and device
 */
#ifndef TPA_MEMORY_MEMORY_RECORDS_H
#define TPA_MEMORY_MEMORY_RECORDS_H

#include "derive/attribution.h"
#include "trace/memory_change.h"

#define MEMORY_RECORDS_WANTS                                                                                 \
    (WANT(BYTES) | WANT(DEVICE_TYPE) | WANT(DEVICE_ID) | WANT(ADDRESS) | WANT(TOTAL_ALLOCATED) |             \
     WANT(TOTAL_RESERVED) | WANT(MEMORY_CATEGORY) | WANT(CORRELATION))

/* The index of no record. */
#define RECORD_NONE UINT32_MAX

struct memory_record {
    event_id event;
    event_id
        owner; /* the innermost operator it lies in, else the innermost annotation that is not a step, else the
                       operator or the call that it is linked to; EVENT_NONE: none of these */
    node_id node;       /* in the call tree: its parents are the operators and annotations it lies in */
    uint32_t ended_by;  /* of an allocation: the next record of the same address; RECORD_NONE: not freed */
    name_id category;   /* in trace->texts; NAME_NONE: not recorded */
    uint8_t change;     /* enum memory_change */
    bool owner_by_call; /* the owner was found by the link, not by nesting */
    int64_t bytes;      /* of the block; negative: freed */
    int64_t displaced;  /* bytes of an older block at its address, whose free was lost */
    int64_t allocated;  /* bytes in use on the device from now on */
    int64_t reserved; /* bytes that the allocator has reserved on the device from now on; -1: not recorded */
};

/* The type of a device that is not recorded. */
enum { MEMORY_TYPE_UNKNOWN = -1 };

/* The memory of a device or of the host, within a file. */
struct memory_device {
    uint32_t file;
    int64_t type, id;      /* as c10::DeviceType; of the host: 0 and -1 */
    uint32_t first, count; /* its records, by time */
    /* Bytes in use before its first record. If totals are not recorded: the blocks that are freed later or listed as
     * existing. */
    int64_t before;
    bool has_totals;     /* every record has the bytes in use; else they are counted */
    bool has_addresses;  /* every record has the address of its block */
    bool has_categories; /* a record has the category of its block */
    bool has_owners;     /* a record has an owner */
    uint32_t lost_frees; /* allocations at an address that was in use, as far as recorded */
};

struct memory_records {
    const struct trace *trace; /* borrowed */
    struct memory_record *at;  /* device after device */
    uint32_t count;
    struct memory_device *devices; /* by file, type and number */
    size_t device_count;
    struct calltree *tree; /* operators, annotations and the records; NULL without owners */
};

/* MEMORY_LEVELS omits the operators that allocated the memory, which takes half of the time. */
enum memory_detail { MEMORY_LEVELS, MEMORY_OWNERS };

/* New, for who asks once; free with arena_free (NULL is allowed). */
struct memory_records *memory_records_open(const struct trace *trace, enum memory_detail detail);

/* Computed when first requested; borrowed, lives as long as TRACE. With MEMORY_LEVELS records have no owner and no
 * node, unless those with owners were computed before: these are returned then. */
const struct memory_records *memory_records_of(const struct trace *trace, enum memory_detail detail);

/* Those that were computed before; NULL: none were. */
const struct memory_records *memory_records_kept(const struct trace *trace);

/* Is the device the host, by its c10 type? */
bool memory_is_host(const struct memory_device *device);

/* "cpu", "cuda", ...: torch's name for devices of this type; NULL if unknown. */
const char *memory_device_type_name(int64_t type);

#endif
