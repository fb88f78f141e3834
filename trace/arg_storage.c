/* arg_storage.c - the values of an argument, packed as they come (packing.h), and which events have one. */
#include "trace/storage.h"

#include "base/bits.h"

void arg_storage_reserve_present(struct arg_storage *arg, size_t events)
{
    size_t need = (events + 63) / 64 * sizeof(uint64_t);
    if (need <= arg->present_bytes)
        return;
    size_t next = arg->present_bytes ? arg->present_bytes : 512;
    while (next < need)
        next *= 2;
    arg->present = column_resize(arg->present, arg->present_bytes, next);
    arg->present_bytes = next;
}

void arg_storage_add(struct arg_storage *arg, event_id event, int64_t value)
{
    arg_storage_reserve_present(arg, (size_t)event + 1);
    arg->present[event / 64] |= UINT64_C(1) << (event % 64);
    packing_add(&arg->values, value);
}

void arg_storage_add_all(struct arg_storage *arg, event_id base, const uint32_t *events,
                         const int64_t *values, size_t count)
{
    if (count == 0)
        return;
    arg_storage_reserve_present(arg, (size_t)base + events[count - 1] + 1);
    for (size_t i = 0; i < count; i++) {
        size_t event = (size_t)base + events[i];
        arg->present[event / 64] |= UINT64_C(1) << (event % 64);
    }
    packing_add_all(&arg->values, values, count);
}

static void count_ranks(struct arg_storage *arg, size_t events)
{
    size_t blocks = events / 512 + 1, words = arg->present_bytes / sizeof(uint64_t);
    uint32_t rank = 0;
    arg->rank = mem_alloc(mem_times(blocks, sizeof *arg->rank));
    for (size_t block = 0; block < blocks; block++) {
        arg->rank[block] = rank;
        for (size_t word = block * 8; word < block * 8 + 8 && word < words; word++)
            rank += (uint32_t)bits_count(arg->present[word]);
    }
}

struct trace_arg_column arg_storage_freeze(struct arg_storage *arg, size_t events)
{
    arg_storage_reserve_present(arg, events + 1);
    count_ranks(arg, events);
    return (struct trace_arg_column){ .present = arg->present,
                                      .rank = arg->rank,
                                      .values = packing_finish(&arg->values),
                                      .count = arg->values.count };
}

void arg_storage_release(struct arg_storage *arg)
{
    column_free(arg->present, arg->present_bytes);
    packing_release(&arg->values);
    free(arg->rank);
}
