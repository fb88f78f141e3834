#include "memory/parts.h"

#include "base/rows.h"

/* Bytes of the free BLOCK of an expandable segment in whole pages. PyTorch maps 2 MiB at a time for small requests and
 * 20 MiB for large ones; a range that is not a multiple of it was mapped in pages of another size, which is one of 2
 * MiB. */
static int64_t whole_pages(const struct snapshot_segment *segment, const struct snapshot_block *block)
{
    enum { SMALL_PAGE = 2 << 20, LARGE_PAGE = 20 << 20 };
    uint64_t page = segment->small || segment->total % LARGE_PAGE ? SMALL_PAGE : LARGE_PAGE;
    if (block->addr < segment->addr)
        return 0;
    uint64_t at = block->addr - segment->addr, end = (at + (uint64_t)block->size) / page * page;
    uint64_t begin = at / page * page + (at % page ? page : 0);
    return end > begin ? (int64_t)(end - begin) : 0;
}

/* Totals of SEGMENT from its blocks, rounded sizes. */
static void segment_add(const struct snapshot *snapshot, const struct snapshot_segment *segment,
                        struct segment_sums *sums)
{
    int64_t blocks = 0, active = 0, inactive = 0;
    for (size_t b = 0; b < segment->block_count; b++) {
        const struct snapshot_block *block = &snapshot->blocks.at[segment->first_block + b];
        blocks += block->size;
        if (block->state == BLOCK_INACTIVE) {
            inactive += block->size;
            sums->free_blocks++;
            if (block->size > sums->largest_free)
                sums->largest_free = block->size;
            sums->free_pages += segment->expandable ? whole_pages(segment, block) : 0;
            continue;
        }
        active += block->size;
        sums->requested += block->requested;
        if (block->state == BLOCK_ALLOCATED) {
            sums->allocated += block->size;
            sums->rounding += block->size - block->requested;
        } else {
            sums->pending += block->size;
        }
    }
    sums->segments++;
    sums->blocks += (int64_t)segment->block_count;
    sums->small_segments += segment->small;
    sums->expandable_segments += segment->expandable;
    sums->reserved += segment->total;
    sums->active += active;
    sums->inactive += inactive;
    sums->do_not_add_up += blocks != segment->total;
    if (segment->expandable)
        sums->inactive_expandable += inactive;
    else if (active > 0)
        sums->inactive_split += inactive;
    else
        sums->inactive_whole += inactive;
}

struct segment_sums segment_sums_of(const struct snapshot *snapshot, uint32_t device)
{
    struct segment_sums sums = { .device = device };
    size_t end = snapshot_end_of_segments(snapshot, device);
    for (size_t s = snapshot_first_segment(snapshot, device); s < end; s++)
        segment_add(snapshot, &snapshot->segments.at[s], &sums);
    return sums;
}

static bool belongs(const struct segment_sums *row, const struct snapshot_segment *segment)
{
    return row->device == segment->device && row->pool == segment->pool && row->small == segment->small &&
           row->expandable == segment->expandable;
}

static const struct key by_device_reserved[] = { ASC(struct segment_sums, device),
                                                 DESC(struct segment_sums, reserved), KEY_END };

void segment_groups_find(const struct snapshot *snapshot, struct segment_groups *groups)
{
    size_t count = snapshot->segments.count;
    size_t *order = mem_alloc(mem_times(count + 1, sizeof *order));
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    const struct snapshot_segment *of = snapshot->segments.at; /* segments of a kind together */
    SORT_BY(order, count, i, of[order[i]].expandable);
    SORT_BY(order, count, i, !of[order[i]].small);
    SORT_BY(order, count, i, of[order[i]].pool);
    SORT_BY(order, count, i, of[order[i]].device);
    for (size_t i = 0; i < count; i++) {
        const struct snapshot_segment *segment = &snapshot->segments.at[order[i]];
        size_t rows = groups->rows.count;
        if (rows == 0 || !belongs(&groups->rows.at[rows - 1], segment))
            *VEC_PUSH(&groups->rows) = (struct segment_sums){ .device = segment->device,
                                                              .pool = segment->pool,
                                                              .small = segment->small,
                                                              .expandable = segment->expandable };
        segment_add(snapshot, segment, &groups->rows.at[groups->rows.count - 1]);
    }
    free(order);
    SORT(&groups->rows, by_device_reserved);
}
