/*
 * memory_records.h - what the framework's allocators did: every allocation and free, with its operator and its other end.
 *
 *     struct memory_records *records = memory_records_open(trace);
 *     for (size_t d = 0; d < records->device_count; d++) {
 *         const struct memory_device *device = &records->devices[d];
 *         for (uint32_t i = device->first; i < device->first + device->count; i++)
 *             peak = records->at[i].allocated > peak ? records->at[i].allocated : peak;
 *     }
 *     memory_records_free(records);
 *
 * A record is an instant `[memory]`. Its bytes are those of one block: positive when it was allocated, negative when it
 * was freed. Blocks are told apart by their addresses; files of PyTorch 1.8 and earlier tell neither address nor totals.
 */
#ifndef TPA_ANALYZE_MEMORY_RECORDS_H
#define TPA_ANALYZE_MEMORY_RECORDS_H

#include "trace/calltree.h"
#include "trace/trace.h"

#define MEMORY_RECORDS_WANTS                                                                                 \
    (WANT(BYTES) | WANT(DEVICE_TYPE) | WANT(DEVICE_ID) | WANT(ADDRESS) | WANT(TOTAL_ALLOCATED) |             \
     WANT(TOTAL_RESERVED))

/* The index of no record. */
#define RECORD_NONE UINT32_MAX

struct memory_record {
    event_id event;
    node_id node; /* in the call tree: its parents are the operators and annotations it lies in */
    uint32_t
        ended_by; /* of an allocation: the next record of the same address; RECORD_NONE: the block lived on */
    int64_t bytes;     /* of the block; negative: freed */
    int64_t allocated; /* bytes in use on the device from now on */
    int64_t reserved;  /* bytes that the allocator holds of the device from now on; -1: not told */
};

/* The memory of a device or of the host, within a file. */
struct memory_device {
    uint32_t file;
    int64_t type, id;      /* as c10::DeviceType; of the host: 0 and -1 */
    uint32_t first, count; /* its records, by time */
    int64_t before;        /* bytes in use before its first record; 0 when has_totals is false */
    bool
        has_totals; /* every record tells the bytes in use; else they are counted from the start of recording */
    bool has_addresses;  /* every record tells its block */
    uint32_t lost_frees; /* allocations at an address that was in use, as far as the file tells */
};

struct memory_records {
    const struct trace *trace; /* borrowed */
    struct memory_record *at;  /* device after device */
    uint32_t count;
    struct memory_device *devices; /* by file, type and number */
    size_t device_count;
    struct calltree *tree; /* operators, annotations and the records */
};

/* New; free with memory_records_free (NULL is allowed). */
struct memory_records *memory_records_open(const struct trace *trace);
void memory_records_free(struct memory_records *records);

/* Is the device the host, as far as c10 is concerned? */
bool memory_is_host(const struct memory_device *device);

/* "cpu", "cuda", ...: what torch calls devices of this type; NULL when it is not known. */
const char *memory_device_type_name(int64_t type);

/* The innermost operator that RECORD lies in, else the innermost annotation that is no step; EVENT_NONE: in neither. */
event_id memory_operator(const struct memory_records *records, const struct memory_record *record);

/* The sum, or the nearest number there is: sizes come from files. */
int64_t memory_plus(int64_t a, int64_t b);

#endif
