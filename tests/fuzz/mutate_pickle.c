/*
 * mutate_pickle.c - a pickle into another: operations dropped, doubled, moved and put in place of others, numbers at their
 * limits, references to other objects, lengths that are right.
 *
 * ingest/pickle.c has the operations. Scanning ends at what is not known; what lies behind is kept.
 */
#include "tests/fuzz/mutate.h"

#include "trace/tpafile_bytes.h"
#include <stdlib.h>

enum { MOST_OPERATIONS = 8192 };

struct operations {
    size_t at[MOST_OPERATIONS + 1]; /* where each begins; behind the last, its end */
    size_t count;
};

/* Bytes of the operation that begins DATA, which has SIZE of them; 0: it is not known, or cut. */
static size_t length_of(const uint8_t *data, size_t size)
{
    size_t len;
    switch (data[0]) {
    case 0x80:
    case 'K':
    case 'h':
    case 'q': len = 2; break;
    case 'M': len = 3; break;
    case 'J':
    case 'j':
    case 'r': len = 5; break;
    case 'G':
    case 0x95: len = 9; break;
    case 0x8a:
    case 0x8c:
    case 'U':
    case 'C': len = size > 1 ? 2 + (size_t)data[1] : 0; break;
    case 'X':
    case 'T':
    case 'B':
    case 0x8b: len = size > 4 ? 5 + (size_t)get_u32(data + 1) : 0; break;
    case 'I':
    case 'L':
    case 'F':
    case 'V':
    case 'S':
    case 'g':
    case 'p': {
        const uint8_t *end = memchr(data, '\n', size);
        len = end ? (size_t)(end - data) + 1 : 0;
        break;
    }
    default: len = 1;
    }
    return len <= size ? len : 0;
}

static void scan(const uint8_t *data, size_t size, struct operations *operations)
{
    size_t at = 0;
    operations->count = 0;
    while (at < size && operations->count < MOST_OPERATIONS) {
        size_t len = length_of(data + at, size - at);
        if (len == 0)
            break;
        operations->at[operations->count++] = at;
        at += len;
    }
    operations->at[operations->count] = at;
}

/* Put operations [FIRST, END) of FROM in place of [BEGIN, BEHIND) of INPUT. */
static bool put(struct mutated *input, size_t begin, size_t behind, const uint8_t *from, size_t len)
{
    uint8_t *copy = malloc(len + 1);
    if (!copy)
        abort();
    if (len)
        memcpy(copy, from, len);
    bool done = mutate_replace(input, begin, behind, copy, len);
    free(copy);
    return done;
}

static bool change_number(struct mutated *input, size_t begin, size_t end, uint64_t *state)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      2,
                                      511,
                                      512,
                                      4096,
                                      INT32_MAX,
                                      UINT32_MAX,
                                      INT64_MAX,
                                      (uint64_t)INT64_MAX + 1,
                                      UINT64_MAX,
                                      UINT64_C(1) << 48,
                                      UINT64_C(1) << 59,
                                      UINT64_C(1) << 60 };
    uint8_t bytes[16] = { 0x8a, 9 };
    uint64_t number = edges[mutate_random(state, sizeof edges / sizeof *edges)];
    if (mutate_random(state, 3) == 0)
        number = mutate_random(state, 64);
    switch (input->at[begin]) {
    case 'K':
    case 'M':
    case 'J':
    case 0x8a: store_u64(bytes + 2, number); return mutate_replace(input, begin, end, bytes, 11);
    case 'h':
    case 'j':
        bytes[0] = 'j';
        store_u32(bytes + 1, (uint32_t)(mutate_random(state, 8) ? mutate_random(state, 64) : number));
        return mutate_replace(input, begin, end, bytes, 5);
    default: return false;
    }
}

static bool change_once(struct mutated *input, struct operations *operations, uint64_t *state)
{
    size_t which = mutate_random(state, operations->count), other = mutate_random(state, operations->count);
    size_t many = 1 + mutate_random(state, mutate_random(state, 4) ? 3 : 40);
    size_t last = which + many < operations->count ? which + many : operations->count;
    size_t begin = operations->at[which], end = operations->at[which + 1], behind = operations->at[last];
    static const uint8_t simple[] = "}])(aesut\x85\x86\x87\x94N\x88\x89"
                                    "012.dl";
    switch (mutate_random(state, 7)) {
    case 0: return put(input, begin, behind, NULL, 0);
    case 1: return put(input, behind, behind, input->at + begin, behind - begin);
    case 2:
        return put(input, operations->at[other], operations->at[other], input->at + begin, behind - begin);
    case 3:
        return put(input, begin, end, input->at + operations->at[other],
                   operations->at[other + 1] - operations->at[other]);
    case 4:
        return put(input, begin, mutate_random(state, 2) ? begin : end,
                   simple + mutate_random(state, sizeof simple - 1), 1);
    default: return change_number(input, begin, end, state);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static struct operations operations;
    uint64_t state = seed;
    struct mutated input = { data, size, most };
    bool changed = false;
    for (size_t i = 1 + mutate_random(&state, 4); i > 0 && mutate_random(&state, 24) > 0; i--) {
        scan(input.at, input.size, &operations);
        changed |= operations.count > 0 && change_once(&input, &operations, &state);
    }
    return changed ? input.size : LLVMFuzzerMutate(data, size, most);
}

/* Some operations of the second among those of the first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                                 uint8_t *out, size_t most, unsigned seed)
{
    static struct operations operations, others;
    uint64_t state = seed;
    size1 = size1 < most ? size1 : most;
    memcpy(out, data1, size1);
    struct mutated input = { out, size1, most };
    scan(out, size1, &operations);
    scan(data2, size2, &others);
    if (operations.count && others.count) {
        size_t at = operations.at[mutate_random(&state, operations.count)];
        size_t first = mutate_random(&state, others.count), end = first + 1 + mutate_random(&state, 60);
        end = end < others.count ? end : others.count;
        put(&input, at, at, data2 + others.at[first], others.at[end] - others.at[first]);
    }
    return input.size;
}
