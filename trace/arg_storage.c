/*
 * arg_storage.c - the values of an argument: growing, 32 or 64 bits each, while the trace is built; then packed.
 *
 * Values that lie near one another are near in value: numbers of calls ascend, streams and devices repeat. So a block of 512 is
 * packed into its least value and 0, 1, 2, 4 or 8 bytes each for how much more the others are, in the memory that they had.
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

void arg_storage_widen(struct arg_storage *arg)
{
    size_t bytes = arg->values_bytes * 2;
    int64_t *wide = column_resize(NULL, 0, bytes);
    const int32_t *narrow = arg->values;
    for (size_t i = 0; i < arg->count; i++)
        wide[i] = narrow[i];
    column_free(arg->values, arg->values_bytes);
    arg->values = wide;
    arg->values_bytes = bytes;
    arg->wide = true;
}

void arg_storage_reserve_values(struct arg_storage *arg, size_t more)
{
    size_t size = arg->wide ? sizeof(int64_t) : sizeof(int32_t);
    if ((arg->count + more) * size <= arg->values_bytes)
        return;
    size_t next = arg->values_bytes ? arg->values_bytes * 2 : 4096;
    while (next < (arg->count + more) * size)
        next *= 2;
    arg->values = column_resize(arg->values, arg->values_bytes, next);
    arg->values_bytes = next;
}

void arg_storage_add(struct arg_storage *arg, event_id event, int64_t value)
{
    arg_storage_reserve_present(arg, (size_t)event + 1);
    if (!arg->wide && (value < INT32_MIN || value > INT32_MAX))
        arg_storage_widen(arg);
    arg_storage_reserve_values(arg, 1);
    arg->present[event / 64] |= UINT64_C(1) << (event % 64);
    if (arg->wide)
        ((int64_t *)arg->values)[arg->count++] = value;
    else
        ((int32_t *)arg->values)[arg->count++] = (int32_t)value;
}

/* ---- frozen ---- */

static int64_t value_at(const struct arg_storage *arg, size_t i)
{
    return arg->wide ? ((const int64_t *)arg->values)[i] : ((const int32_t *)arg->values)[i];
}

/* Write how much more than BASE each of the COUNT values is. */
static void pack_values(void *at, unsigned width, const int64_t *values, size_t count, int64_t base)
{
#define PACK(type)                                                                                           \
    for (size_t i = 0; i < count; i++)                                                                       \
    ((type *)at)[i] = (type)((uint64_t)values[i] - (uint64_t)base)
    switch (width) {
    case 1: PACK(uint8_t); break;
    case 2: PACK(uint16_t); break;
    case 4: PACK(uint32_t); break;
    case 8: PACK(uint64_t); break;
    default: break; /* all are the same */
    }
#undef PACK
}

static unsigned width_of(uint64_t most)
{
    return most == 0 ? 0 : most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
}

/* No block takes more than it had, so each is written where it or what came before it was. */
static void pack(struct arg_storage *arg)
{
    size_t blocks = arg->count / BLOCK_VALUES + 1;
    uint64_t *packed = NULL;
    size_t words = 0;
    arg_storage_reserve_values(arg, 2); /* blocks are whole words */
    packed = arg->values;
    arg->blocks = mem_alloc(mem_times(blocks, sizeof *arg->blocks));
    for (size_t block = 0; block < blocks; block++) {
        int64_t values[BLOCK_VALUES];
        size_t first = block * BLOCK_VALUES,
               count = arg->count - first < BLOCK_VALUES ? arg->count - first : BLOCK_VALUES;
        int64_t least = count ? value_at(arg, first) : 0, most = least;
        for (size_t i = 0; i < count; i++) {
            values[i] = value_at(arg, first + i);
            least = values[i] < least ? values[i] : least;
            most = values[i] > most ? values[i] : most;
        }
        unsigned width = width_of((uint64_t)most - (uint64_t)least);
        arg->blocks[block] = (struct arg_block){ least, (uint32_t)words, (uint8_t)width };
        pack_values(packed + words, width, values, count, least);
        words += (count * width + sizeof *packed - 1) / sizeof *packed;
    }
    arg->values = column_resize(arg->values, arg->values_bytes, words * sizeof *packed);
    arg->values_bytes = words * sizeof *packed;
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
    pack(arg);
    return (struct trace_arg_column){ .present = arg->present,
                                      .rank = arg->rank,
                                      .blocks = arg->blocks,
                                      .values = arg->values,
                                      .count = arg->count };
}

void arg_storage_release(struct arg_storage *arg)
{
    column_free(arg->present, arg->present_bytes);
    column_free(arg->values, arg->values_bytes);
    free(arg->rank);
    free(arg->blocks);
}
