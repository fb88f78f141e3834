/*
 * allocator.h - what PyTorch's caching allocator reserves for a sequence of allocations and frees.
 *
 *     struct allocator *allocator = allocator_open();
 *     uint32_t piece = allocator_take(allocator, bytes, stream);
 *     allocator_give(allocator, piece);
 *     int64_t reserved = allocator_reserved(allocator);
 *     allocator_free(allocator);
 *
 * Requests are rounded to 512 bytes. Those up to 1 MiB are cut from segments of 2 MiB, those below 10 MiB from segments of 20 MiB,
 * larger ones get segments rounded to 2 MiB: from the smallest free piece of the pool and stream that is large enough, at the lowest address. What
 * is left of a piece is split off if it has 512 bytes (small) or more than 1 MiB. Free neighbours are joined. Segments are kept.
 * (c10/cuda/CUDACachingAllocator.cpp of torch 2, without expandable segments and settings.)
 */
#ifndef TPA_MEMORY_FORECAST_ALLOCATOR_H
#define TPA_MEMORY_FORECAST_ALLOCATOR_H

#include <stdint.h>

#define PIECE_NONE UINT32_MAX

struct allocator;

/* New; free with allocator_free. */
struct allocator *allocator_open(void);
void allocator_free(struct allocator *allocator);

/* A piece for BYTES on STREAM; PIECE_NONE for 0 bytes. */
uint32_t allocator_take(struct allocator *allocator, int64_t bytes, uint32_t stream);

/* Give PIECE back; PIECE_NONE: nothing. */
void allocator_give(struct allocator *allocator, uint32_t piece);

/* The bytes of all segments, which never fall. */
int64_t allocator_reserved(const struct allocator *allocator);

#endif
