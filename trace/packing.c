/* Times that were packed only when the trace was finished took 16 bytes an event until then: a third of what reading 1.09 GB
 * took, and of its page faults. */
#include "trace/packing.h"

/* From so many bytes on a column grows by a quarter: it is not copied for it, and addresses count where `ulimit -v` is set. */
enum { GROW_GENTLY = 4 << 20 };

/* Room for one more block, as wide as a block may be. */
static void reserve_block(struct packing *packing)
{
    size_t need = packing_used(packing) + PACKED_VALUES * sizeof *packing->words;
    if (need <= packing->bytes)
        return;
    size_t next = packing->bytes ? packing->bytes : need;
    while (next < need)
        next += next < GROW_GENTLY ? next : next / 4;
    packing->words = column_resize(packing->words, packing->bytes, next);
    packing->bytes = next;
}

static void pack_block(struct packing *packing, const int64_t *values, size_t count)
{
    reserve_block(packing);
    *VEC_PUSH(&packing->blocks) = packed_write(packing->words, &packing->word_count, values, count);
}

static struct packed so_far(const struct packing *packing)
{
    return (struct packed){ packing->blocks.at, packing->words };
}

/* The last block is not full: let it take more values. */
static void open_block(struct packing *packing)
{
    packing->newest = mem_alloc(PACKED_VALUES * sizeof *packing->newest);
    size_t count = packing->count % PACKED_VALUES;
    if (count == 0)
        return;
    struct packed packed = so_far(packing);
    size_t last = --packing->blocks.count;
    packed_read_block(&packed, last, count, packing->newest);
    packing->word_count = packing->blocks.at[last].at;
}

static inline void packing_count_more(struct packing *packing, size_t more)
{
    packing->count += more;
    if (packing->count % PACKED_VALUES == 0)
        pack_block(packing, packing->newest, PACKED_VALUES);
}

void packing_add(struct packing *packing, int64_t value)
{
    if (!packing->newest)
        open_block(packing);
    packing->newest[packing->count % PACKED_VALUES] = value;
    packing_count_more(packing, 1);
}

/* How many of LEFT values go into the newest block, from *AT on. */
static size_t fit(const struct packing *packing, size_t left, size_t *at)
{
    *at = packing->count % PACKED_VALUES;
    return left < PACKED_VALUES - *at ? left : PACKED_VALUES - *at;
}

void packing_add_all(struct packing *packing, const int64_t *values, size_t count)
{
    if (!packing->newest)
        open_block(packing);
    for (size_t first = 0, some, at; first < count; first += some) {
        some = fit(packing, count - first, &at);
        memcpy(packing->newest + at, values + first, some * sizeof *values);
        packing_count_more(packing, some);
    }
}

void packing_add_narrow(struct packing *packing, const int32_t *values, size_t count)
{
    if (!packing->newest)
        open_block(packing);
    for (size_t first = 0, some, at; first < count; first += some) {
        some = fit(packing, count - first, &at);
        for (size_t i = 0; i < some; i++)
            packing->newest[at + i] = values[first + i];
        packing_count_more(packing, some);
    }
}

int64_t packing_value(const struct packing *packing, size_t i)
{
    const struct packed packed = so_far(packing);
    return i / PACKED_VALUES < packing->blocks.count ? packed_value(&packed, i)
                                                     : packing->newest[i % PACKED_VALUES];
}

void packing_read(const struct packing *packing, size_t first, size_t count, int64_t *values)
{
    const struct packed packed = so_far(packing);
    packed_read_values(&packed, first, count, values);
}

void packing_change(struct packing *packing, packing_new_value *change, void *context)
{
    struct packing changed = { 0 };
    for (size_t i = 0; i < packing->count; i++)
        packing_add(&changed, change(context, i, packing_value(packing, i)));
    packing_release(packing);
    *packing = changed;
}

struct packed packing_finish(struct packing *packing)
{
    if (packing->newest && packing->count % PACKED_VALUES)
        pack_block(packing, packing->newest, packing->count % PACKED_VALUES);
    free(packing->newest);
    packing->newest = NULL;
    packing->words = column_resize(packing->words, packing->bytes, packing_used(packing));
    packing->bytes = packing_used(packing);
    return so_far(packing);
}

void packing_release(struct packing *packing)
{
    column_free(packing->words, packing->bytes);
    VEC_FREE(&packing->blocks);
    free(packing->newest);
    *packing = (struct packing){ 0 };
}
