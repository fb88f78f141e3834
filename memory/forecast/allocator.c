#include "memory/forecast/forecast.h"

enum { ROUND = 512, SMALL = 1 << 20, SMALL_SEGMENT = 2 << 20, LARGE = 10 << 20, LARGE_SEGMENT = 20 << 20 };

struct piece {
    int64_t offset, size;
    uint32_t segment;
    uint32_t before, after; /* its neighbours in the segment; PIECE_NONE */
    uint32_t pool;
    uint32_t place; /* among the free pieces of the pool; UINT32_MAX: in use */
};

struct pool {
    bool small;
    uint32_t stream;
    VEC_OF(uint32_t) free;
};

struct allocator {
    VEC_OF(struct piece) pieces;
    VEC_OF(uint32_t) unused; /* numbers of pieces that were joined to others */
    VEC_OF(struct pool) pools;
    uint32_t segments;
    int64_t reserved;
};

struct allocator *allocator_open(void)
{
    return mem_zalloc(1, sizeof(struct allocator));
}

void allocator_free(struct allocator *allocator)
{
    for (size_t i = 0; i < allocator->pools.count; i++)
        VEC_FREE(&allocator->pools.at[i].free);
    EACH(VEC_FREE, &allocator->pools, &allocator->pieces, &allocator->unused);
    free(allocator);
}

static uint32_t pool_of(struct allocator *allocator, bool small, uint32_t stream)
{
    for (uint32_t i = 0; i < allocator->pools.count; i++)
        if (allocator->pools.at[i].small == small && allocator->pools.at[i].stream == stream)
            return i;
    *VEC_PUSH(&allocator->pools) = (struct pool){ .small = small, .stream = stream };
    return (uint32_t)allocator->pools.count - 1;
}

static void add_free(struct allocator *allocator, uint32_t piece)
{
    struct pool *pool = &allocator->pools.at[allocator->pieces.at[piece].pool];
    allocator->pieces.at[piece].place = (uint32_t)pool->free.count;
    *VEC_PUSH(&pool->free) = piece;
}

static void remove_free(struct allocator *allocator, uint32_t piece)
{
    struct piece *of = &allocator->pieces.at[piece];
    struct pool *pool = &allocator->pools.at[of->pool];
    uint32_t last = pool->free.at[--pool->free.count];
    pool->free.at[of->place] = last;
    allocator->pieces.at[last].place = of->place;
    of->place = UINT32_MAX;
}

static uint32_t add_piece(struct allocator *allocator, const struct piece *piece)
{
    if (allocator->unused.count) {
        uint32_t id = allocator->unused.at[--allocator->unused.count];
        allocator->pieces.at[id] = *piece;
        return id;
    }
    *VEC_PUSH(&allocator->pieces) = *piece;
    return (uint32_t)allocator->pieces.count - 1;
}

static bool is_better(const struct piece *a, const struct piece *b)
{
    if (a->size != b->size)
        return a->size < b->size;
    return a->segment != b->segment ? a->segment < b->segment : a->offset < b->offset;
}

/* The free piece of POOL that fits SIZE best; PIECE_NONE: none does. */
static uint32_t best_fit(const struct allocator *allocator, uint32_t pool, int64_t size)
{
    uint32_t best = PIECE_NONE;
    const struct pool *of = &allocator->pools.at[pool];
    for (size_t i = 0; i < of->free.count; i++) {
        const struct piece *piece = &allocator->pieces.at[of->free.at[i]];
        if (piece->size >= size && (best == PIECE_NONE || is_better(piece, &allocator->pieces.at[best])))
            best = of->free.at[i];
    }
    return best;
}

static uint32_t add_segment(struct allocator *allocator, uint32_t pool, int64_t size)
{
    int64_t total = size <= SMALL  ? SMALL_SEGMENT
                    : size < LARGE ? LARGE_SEGMENT
                                   : (size + SMALL_SEGMENT - 1) / SMALL_SEGMENT * SMALL_SEGMENT;
    allocator->reserved += total;
    return add_piece(allocator, &(struct piece){ .size = total,
                                                 .segment = allocator->segments++,
                                                 .before = PIECE_NONE,
                                                 .after = PIECE_NONE,
                                                 .pool = pool,
                                                 .place = UINT32_MAX });
}

uint32_t allocator_take(struct allocator *allocator, int64_t bytes, uint32_t stream)
{
    if (bytes <= 0 || bytes > INT64_MAX / 4 || allocator->reserved > INT64_MAX / 4)
        return PIECE_NONE;
    int64_t size = (bytes + ROUND - 1) / ROUND * ROUND;
    bool small = size <= SMALL;
    uint32_t pool = pool_of(allocator, small, stream), id = best_fit(allocator, pool, size);
    if (id == PIECE_NONE)
        id = add_segment(allocator, pool, size);
    else
        remove_free(allocator, id);
    int64_t left = allocator->pieces.at[id].size - size;
    if (small ? left < ROUND : left <= SMALL)
        return id;
    struct piece rest = allocator->pieces.at[id];
    rest.offset += size;
    rest.size = left;
    rest.before = id;
    uint32_t rest_id = add_piece(allocator, &rest);
    if (rest.after != PIECE_NONE)
        allocator->pieces.at[rest.after].before = rest_id;
    allocator->pieces.at[id].size = size;
    allocator->pieces.at[id].after = rest_id;
    add_free(allocator, rest_id);
    return id;
}

/* Join piece B, free, to A before it. */
static void join(struct allocator *allocator, uint32_t a, uint32_t b)
{
    struct piece *left = &allocator->pieces.at[a], *right = &allocator->pieces.at[b];
    left->size += right->size;
    left->after = right->after;
    if (right->after != PIECE_NONE)
        allocator->pieces.at[right->after].before = a;
    *VEC_PUSH(&allocator->unused) = b;
}

void allocator_give(struct allocator *allocator, uint32_t piece)
{
    if (piece == PIECE_NONE)
        return;
    uint32_t before = allocator->pieces.at[piece].before, after = allocator->pieces.at[piece].after;
    if (after != PIECE_NONE && allocator->pieces.at[after].place != UINT32_MAX) {
        remove_free(allocator, after);
        join(allocator, piece, after);
    }
    if (before != PIECE_NONE && allocator->pieces.at[before].place != UINT32_MAX) {
        remove_free(allocator, before);
        join(allocator, before, piece);
        piece = before;
    }
    add_free(allocator, piece);
}

int64_t allocator_reserved(const struct allocator *allocator)
{
    return allocator->reserved;
}
