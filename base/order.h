/*
 * order.h - sorting many items by numbers, digit by digit instead of by comparing them.
 *
 *     uint32_t *order = order_open(count);       // 0, 1, 2, ...
 *     order_by(order, count, start_ns);          // equal in both: original order
 *     order_by(order, count, lane);              // the most important key last
 *     free(order);                               // order[0] is the item that comes first
 *
 * A key takes a few passes over the items, one for each 11 bits in which any two differ; fewer where they nearly are in
 * order.
 */
#ifndef TPA_BASE_ORDER_H
#define TPA_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* The numbers 0 .. COUNT - 1; new, free with free(). */
uint32_t *order_open(size_t count);

/* Sort ORDER by the keys, which are indexed by item, ascending. Stable. */
void order_by(uint32_t *order, size_t count, const uint64_t *keys);

/* Sort VALUES themselves, ascending. */
void order_values(uint64_t *values, size_t count);

/* A key that orders signed numbers ascending; ~ of it orders them descending. */
static inline uint64_t order_key(int64_t value)
{
    return (uint64_t)value ^ UINT64_C(1) << 63;
}

#endif
