/*
 * packing.h - a packed column (packed.h) in the making: values are packed as they come.
 *
 * At most one block of it is not packed, so that a trace never takes more memory than when it is finished.
 *
 *     struct packing ends = { 0 };
 *     packing_add(&ends, end_ns);                     // any number of times
 *     struct packed packed = packing_finish(&ends);   // borrows from ENDS
 *     packing_release(&ends);
 */
#ifndef TPA_TRACE_PACKING_H
#define TPA_TRACE_PACKING_H

#include "base/memory.h"
#include "trace/packed.h"

struct packing {
    size_t count;
    uint64_t *words;          /* the values of whole blocks, and of the last one once it is finished */
    size_t word_count, bytes; /* used; as given to column_resize */
    VEC_OF(struct packed_block) blocks;
    int64_t *newest; /* those of the block that is not full yet; NULL: none was added, or it is finished */
};

/* Append. To one that is finished, too: what was lent is not valid any more. */
void packing_add(struct packing *packing, int64_t value);
void packing_add_all(struct packing *packing, const int64_t *values, size_t count);
void packing_add_narrow(struct packing *packing, const int32_t *values, size_t count);

/* Value I of those that were added, finished or not. */
int64_t packing_value(const struct packing *packing, size_t i);

/* COUNT values from FIRST on into VALUES, of one that is finished. */
void packing_read(const struct packing *packing, size_t first, size_t count, int64_t *values);

/* Let each value be what CHANGE returns for it, called in order. What was lent is not valid any more. */
typedef int64_t packing_new_value(void *context, size_t i, int64_t value);
void packing_change(struct packing *packing, packing_new_value *change, void *context);

/* Pack the last block and give back what was reserved. The result borrows from PACKING. */
struct packed packing_finish(struct packing *packing);
void packing_release(struct packing *packing);

/* Bytes that the values of its whole blocks take; there is room for packing->bytes. */
static inline size_t packing_used(const struct packing *packing)
{
    return packing->word_count * sizeof *packing->words;
}

#endif
