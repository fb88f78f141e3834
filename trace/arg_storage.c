/*
 * arg_storage.c - the values of an argument, packed (packed.h) as they come.
 *
 * Reading never holds more than one block that is not packed: `tpa comm` of 1 GB took 10 % less memory for it.
 */
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

/* ---- blocks ---- */

/* Room for one more block, as wide as a block may be. */
static void reserve_block(struct arg_storage *arg)
{
    size_t need = arg->packed_words * sizeof *arg->packed + PACKED_VALUES * sizeof(int64_t);
    if (need <= arg->packed_bytes)
        return;
    size_t next = arg->packed_bytes ? arg->packed_bytes * 2 : need;
    arg->packed = column_resize(arg->packed, arg->packed_bytes, next);
    arg->packed_bytes = next;
}

/* Pack the first COUNT of the newest values. */
static void pack_newest(struct arg_storage *arg, size_t count)
{
    reserve_block(arg);
    *VEC_PUSH(&arg->blocks) = packed_write(arg->packed, &arg->packed_words, arg->newest, count);
}

static void add_value(struct arg_storage *arg, int64_t value)
{
    if (!arg->newest)
        arg->newest = mem_alloc(PACKED_VALUES * sizeof *arg->newest);
    arg->newest[arg->count++ % PACKED_VALUES] = value;
    if (arg->count % PACKED_VALUES == 0)
        pack_newest(arg, PACKED_VALUES);
}

void arg_storage_add_values(struct arg_storage *arg, const int64_t *values, const int32_t *narrow,
                            size_t count)
{
    if (!arg->newest)
        arg->newest = mem_alloc(PACKED_VALUES * sizeof *arg->newest);
    for (size_t first = 0, some; first < count; first += some) {
        size_t at = arg->count % PACKED_VALUES;
        some = count - first < PACKED_VALUES - at ? count - first : PACKED_VALUES - at;
        for (size_t i = 0; narrow && i < some; i++)
            arg->newest[at + i] = narrow[first + i];
        if (!narrow)
            memcpy(arg->newest + at, values + first, some * sizeof *values);
        arg->count += some;
        if (arg->count % PACKED_VALUES == 0)
            pack_newest(arg, PACKED_VALUES);
    }
}

void arg_storage_add(struct arg_storage *arg, event_id event, int64_t value)
{
    arg_storage_reserve_present(arg, (size_t)event + 1);
    arg->present[event / 64] |= UINT64_C(1) << (event % 64);
    add_value(arg, value);
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
    arg_storage_add_values(arg, values, NULL, count);
}

int64_t arg_storage_value(const struct arg_storage *arg, size_t i)
{
    const struct packed packed = { arg->blocks.at, arg->packed };
    return i / PACKED_VALUES < arg->blocks.count ? packed_value(&packed, i) : arg->newest[i % PACKED_VALUES];
}

/* ---- frozen ---- */

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
    pack_newest(arg, arg->count % PACKED_VALUES);
    free(arg->newest);
    arg->newest = NULL;
    arg->packed = column_resize(arg->packed, arg->packed_bytes, arg->packed_words * sizeof *arg->packed);
    arg->packed_bytes = arg->packed_words * sizeof *arg->packed;
    return (struct trace_arg_column){ .present = arg->present,
                                      .rank = arg->rank,
                                      .values = { arg->blocks.at, arg->packed },
                                      .count = arg->count };
}

void arg_storage_release(struct arg_storage *arg)
{
    column_free(arg->present, arg->present_bytes);
    column_free(arg->packed, arg->packed_bytes);
    free(arg->newest);
    free(arg->rank);
    VEC_FREE(&arg->blocks);
}
