/* cycles.c - one row where the cycles of a rank have one each: what they allocated adds up, and of their peaks the largest counts. */
#include "memory/memory.h"

#include "base/sum.h"
#include <inttypes.h>

enum { NO_SIZE = -1 };

/* The number of the row about PLACE, KEY and blocks of SIZE bytes, from 0 in order of their first appearance. */
static name_id row_number(struct names *rows, const struct memory_place *place, const struct text *key,
                          int64_t size)
{
    SCOPED struct buffer text = { 0 };
    buffer_printf(&text, "%" PRId64 " %" PRId64 " %zu ", place->rank, size, place->device.len);
    buffer_add(&text, place->device.at, place->device.len);
    if (key)
        buffer_add(&text, key->at, key->len);
    return names_add(rows, text.at, text.count);
}

/* Add VALUE, which may be missing, to *SUM. */
static void add(int64_t *sum, int64_t value)
{
    if (value == TABLE_INT_MISSING)
        return;
    if (*sum == TABLE_INT_MISSING)
        *sum = value;
    else
        sum_add(sum, value);
}

static void cycles_add_peak(struct memory_peak *sum, const struct memory_peak *row)
{
    struct memory_peak both = row->bytes > sum->bytes ? *row : *sum;
    const struct memory_peak *reserved = row->reserved_bytes > sum->reserved_bytes ? row : sum;
    const struct memory_peak *unused = row->most_unused_bytes > sum->most_unused_bytes ? row : sum;
    both.reserved_bytes = reserved->reserved_bytes;
    both.reserved_ns = reserved->reserved_ns;
    both.most_unused_bytes = unused->most_unused_bytes;
    both.most_unused_ns = unused->most_unused_ns;
    bool first = row->first_cycle<sum->first_cycle, last = row->last_cycle> sum->last_cycle;
    both.start_bytes = first ? row->start_bytes : sum->start_bytes;
    both.first_cycle = first ? row->first_cycle : sum->first_cycle;
    both.end_bytes = last ? row->end_bytes : sum->end_bytes;
    both.last_cycle = last ? row->last_cycle : sum->last_cycle;
    both.allocations = sum->allocations;
    both.allocated_bytes = sum->allocated_bytes;
    both.frees = sum->frees;
    both.freed_bytes = sum->freed_bytes;
    both.records = sum_plus(sum->records, row->records);
    add(&both.allocations, row->allocations);
    add(&both.allocated_bytes, row->allocated_bytes);
    add(&both.frees, row->frees);
    add(&both.freed_bytes, row->freed_bytes);
    *sum = both;
}

/* Keep the blocks in use at the peak that counts. */
static void keep_alive(struct memory *memory, struct names *rows)
{
    size_t kept = 0;
    FOR_EACH(row, &memory->alive) {
        const struct memory_peak *peak = &memory->peaks.at[row_number(rows, &row->place, NULL, NO_SIZE)];
        if (peak->place.cycle == row->place.cycle)
            memory->alive.at[kept++] = *row;
    }
    memory->alive.count = kept;
}

static void cycles_add_operator(struct memory_operator *sum, const struct memory_operator *row)
{
    add(&sum->self_allocated_bytes, row->self_allocated_bytes);
    add(&sum->allocated_bytes, row->allocated_bytes);
    add(&sum->self_net_bytes, row->self_net_bytes);
    add(&sum->net_bytes, row->net_bytes);
    add(&sum->self_allocations, row->self_allocations);
    add(&sum->allocations, row->allocations);
    add(&sum->self_frees, row->self_frees);
    add(&sum->self_freed_bytes, row->self_freed_bytes);
    add(&sum->frees, row->frees);
    add(&sum->freed_bytes, row->freed_bytes);
}

static void cycles_add_unfreed(struct memory_blocks *sum, const struct memory_blocks *row)
{
    add(&sum->bytes, row->bytes);
    add(&sum->count, row->count);
    if (row->place.cycle < sum->place.cycle) {
        sum->place = row->place;
        sum->first_ns = row->first_ns;
        sum->first_step = row->first_step;
    }
}

/* The rows of VEC that have one NUMBER become one, by ADD_ROW. */
#define ADD_UP(vec, number, add_row)                                                                         \
    do {                                                                                                     \
        size_t kept = 0;                                                                                     \
        for (size_t i = 0; i < (vec).count; i++) {                                                           \
            name_id n = number;                                                                              \
            if (n < kept)                                                                                    \
                add_row(&(vec).at[n], &(vec).at[i]);                                                         \
            else                                                                                             \
                (vec).at[kept++] = (vec).at[i];                                                              \
        }                                                                                                    \
        (vec).count = kept;                                                                                  \
    } while (0)

void memory_add_up_cycles(struct memory *memory)
{
    SCOPED_OBJECT
    struct names *peaks = names_open(), *operators = names_open(), *unfreed = names_open();
    ADD_UP(memory->peaks, row_number(peaks, &memory->peaks.at[i].place, NULL, NO_SIZE), cycles_add_peak);
    if (memory->by != MEMORY_BY_CYCLE)
        keep_alive(memory, peaks);
    ADD_UP(memory->operators,
           row_number(operators, &memory->operators.at[i].place, &memory->operators.at[i].key, NO_SIZE),
           cycles_add_operator);
    ADD_UP(memory->unfreed,
           row_number(unfreed, &memory->unfreed.at[i].place, &memory->unfreed.at[i].key,
                      memory->unfreed.at[i].largest_bytes),
           cycles_add_unfreed);
}
