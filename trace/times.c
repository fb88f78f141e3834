/*
 * times.c - the beginnings and durations of events: 16 bytes an event while a trace is built, packed when it is finished.
 *
 * They were more than half of a finished trace. Packed they are 6 to 8 bytes an event: the most that any command takes at
 * 1.09 GB went down by 2 % of the file.
 */
#include "base/parallel.h"
#include "trace/storage.h"

#include <stdlib.h>
#include <string.h>

/* Pack COUNT times where they lie, in memory for CAPACITY; *WORDS: what they take then. */
static int64_t *pack(int64_t *times, size_t capacity, size_t count, struct packed_block **blocks,
                     size_t *words)
{
    *words = 0;
    *blocks = mem_alloc(mem_times(packed_blocks(count), sizeof **blocks));
    for (size_t block = 0; block < packed_blocks(count); block++) {
        int64_t values[PACKED_VALUES];
        size_t first = block * PACKED_VALUES;
        size_t some = count - first < PACKED_VALUES ? count - first : PACKED_VALUES;
        memcpy(values, times + first, some * sizeof *times);
        (*blocks)[block] = packed_write((uint64_t *)times, words, values, some);
    }
    return column_resize(times, capacity * sizeof *times, *words * sizeof *times);
}

static int64_t *unpack(int64_t *packed_times, size_t words, const struct packed_block *blocks,
                       size_t capacity, size_t count)
{
    const struct packed packed = { blocks, packed_times };
    int64_t *times = column_resize(NULL, 0, capacity * sizeof *times);
    for (size_t e = 0; e < count; e++)
        times[e] = packed_value(&packed, e);
    column_free(packed_times, words * sizeof *packed_times);
    return times;
}

static void forget_blocks(struct trace_storage *storage)
{
    free(storage->start_blocks);
    free(storage->dur_blocks);
    storage->start_blocks = storage->dur_blocks = NULL;
}

/* The beginnings, then the durations. */
static void pack_part(void *context, size_t part)
{
    struct trace_storage *storage = context;
    if (part == 0)
        storage->start_ns = pack(storage->start_ns, storage->capacity, storage->count, &storage->start_blocks,
                                 &storage->start_words);
    else
        storage->dur_ns = pack(storage->dur_ns, storage->capacity, storage->count, &storage->dur_blocks,
                               &storage->dur_words);
}

void storage_pack_times(struct trace_storage *storage, unsigned workers)
{
    forget_blocks(storage);
    parallel_run(parallel_parts(workers, storage->count), 2, pack_part, storage);
    storage->times_packed = true;
}

void storage_lend_times(struct trace *trace)
{
    struct trace_storage *storage = trace->storage;
    if (!storage->times_packed) {
        forget_blocks(storage);
        storage->start_blocks = packed_plain(storage->count);
        storage->dur_blocks = packed_plain(storage->count);
    }
    trace->start_ns = (struct packed){ storage->start_blocks, storage->start_ns };
    trace->dur_ns = (struct packed){ storage->dur_blocks, storage->dur_ns };
}

void trace_unpack_times(struct trace *trace)
{
    struct trace_storage *storage = trace->storage;
    if (!storage->times_packed)
        return;
    storage->start_ns = unpack(storage->start_ns, storage->start_words, storage->start_blocks,
                               storage->capacity, storage->count);
    storage->dur_ns =
        unpack(storage->dur_ns, storage->dur_words, storage->dur_blocks, storage->capacity, storage->count);
    storage->times_packed = false;
    storage_lend_times(trace);
}

void storage_free_times(struct trace_storage *storage)
{
    size_t plain = storage->capacity;
    column_free(storage->start_ns,
                (storage->times_packed ? storage->start_words : plain) * sizeof *storage->start_ns);
    column_free(storage->dur_ns,
                (storage->times_packed ? storage->dur_words : plain) * sizeof *storage->dur_ns);
    forget_blocks(storage);
}
