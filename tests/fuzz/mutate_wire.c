/*
 * mutate_wire.c - a protocol buffer into another one that is still well formed: fields dropped, doubled, swapped, moved
 * into other messages, their numbers and values changed.
 *
 * The way goes from the outermost message inwards, as far as chance wants; when what is there was changed, the lengths of
 * all messages around it are written anew. What is no message is left to LLVMFuzzerMutate. ingest/wire.h has the format.
 */
#include "tests/fuzz/mutate.h"

#include "ingest/wire.h"

enum { MOST_FIELDS = 2048, DEEPEST = 12 };

/* A field in the input: its tag, where its value begins, and where it ends. */
struct place {
    size_t begin, value, end;
    uint32_t number;
    uint8_t type;
};

struct places {
    struct place at[MOST_FIELDS];
    size_t count;
};

/* The fields of the message from BEGIN to END; none when it is none. */
static void find_fields(const struct mutated *input, size_t begin, size_t end, struct places *fields)
{
    struct wire in = wire_over(input->at + begin, end - begin);
    struct wire_field field;
    fields->count = 0;
    while (fields->count < MOST_FIELDS && in.at < in.end) {
        size_t at = (size_t)(in.at - input->at);
        if (!wire_next(&in, &field) || field.type == WIRE_GROUP)
            break;
        size_t behind = (size_t)(in.at - input->at);
        struct wire tag = wire_over(input->at + at, behind - at);
        uint64_t unused;
        wire_varint(&tag, &unused);
        size_t value =
            field.type == WIRE_BYTES ? (size_t)(field.bytes - input->at) : (size_t)(tag.at - input->at);
        fields->at[fields->count++] = (struct place){ at, value, behind, field.number, field.type };
    }
    if (in.damaged)
        fields->count = 0;
}

static size_t put_varint(uint8_t *out, uint64_t value)
{
    size_t len = 0;
    for (; value >= 0x80; value >>= 7)
        out[len++] = (uint8_t)(value | 0x80);
    out[len++] = (uint8_t)value;
    return len;
}

static uint64_t some_value(uint64_t *state, uint64_t old)
{
    static const uint64_t odd[] = { 0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    64,
                                    100,
                                    1000,
                                    UINT64_C(0x7fffffff),
                                    UINT64_C(0x80000000),
                                    UINT64_C(0xdeadbeef),
                                    UINT64_C(1) << 61,
                                    INT64_MAX,
                                    UINT64_C(1) << 63,
                                    UINT64_MAX };
    switch (mutate_random(state, 4)) {
    case 0: return odd[mutate_random(state, sizeof odd / sizeof *odd)];
    case 1: return old + mutate_random(state, 5) - 2;
    case 2: return mutate_random(state, 40);
    default: return old ^ UINT64_C(1) << mutate_random(state, 64);
    }
}

static bool change_number(struct mutated *input, const struct place *field, uint64_t *state)
{
    static const uint32_t known[] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,   17,   22,
                                      23, 24, 29, 30, 44, 47, 48, 50, 52, 53, 58, 59, 60, 1000, 1001, 3000 };
    uint8_t tag[10];
    uint32_t number = known[mutate_random(state, sizeof known / sizeof *known)];
    size_t len = put_varint(tag, (uint64_t)number << 3 | field->type);
    struct wire in = wire_over(input->at + field->begin, field->end - field->begin);
    uint64_t unused;
    wire_varint(&in, &unused);
    return mutate_replace(input, field->begin, (size_t)(in.at - input->at), tag, len);
}

static bool change_value(struct mutated *input, const struct place *field, uint64_t *state)
{
    uint8_t value[512];
    size_t len = field->end - field->value;
    if (field->type == WIRE_VARINT) {
        struct wire in = wire_over(input->at + field->value, len);
        uint64_t old = 0;
        wire_varint(&in, &old);
        return mutate_replace(input, field->value, field->end, value,
                              put_varint(value, some_value(state, old)));
    }
    if (field->type != WIRE_BYTES) {
        input->at[field->value + mutate_random(state, len)] ^= (uint8_t)(1u << mutate_random(state, 8));
        return true;
    }
    len = len < sizeof value / 2 ? len : sizeof value / 2;
    memcpy(value + 10, input->at + field->value, len);
    len = LLVMFuzzerMutate(value + 10, len, sizeof value - 10);
    uint8_t head[10];
    size_t head_len = put_varint(head, len);
    memmove(value + head_len, value + 10, len);
    memcpy(value, head, head_len);
    struct wire tag = wire_over(input->at + field->begin, field->end - field->begin);
    uint64_t unused;
    wire_varint(&tag, &unused);
    return mutate_replace(input, (size_t)(tag.at - input->at), field->end, value, head_len + len);
}

/* Put a copy of FROM, a field somewhere, in front of TO. */
static bool copy_field(struct mutated *input, const struct place *from, size_t to)
{
    uint8_t copy[4096];
    size_t len = from->end - from->begin;
    if (len > sizeof copy)
        return false;
    memcpy(copy, input->at + from->begin, len);
    return mutate_replace(input, to, to, copy, len);
}

static bool swap_fields(struct mutated *input, const struct place *a, const struct place *b)
{
    uint8_t copy[4096];
    size_t len = a->end - a->begin, rest = b->end - b->begin;
    if (a->end != b->begin || len > sizeof copy)
        return false;
    memcpy(copy, input->at + a->begin, len);
    memmove(input->at + a->begin, input->at + b->begin, rest);
    memcpy(input->at + a->begin + rest, copy, len);
    return true;
}

static bool change(struct mutated *input, const struct places *fields, uint64_t *state)
{
    const struct place *field = &fields->at[mutate_random(state, fields->count)];
    const struct place *other = &fields->at[mutate_random(state, fields->count)];
    switch (mutate_random(state, 8)) {
    case 0: return mutate_replace(input, field->begin, field->end, NULL, 0);
    case 1: return copy_field(input, field, other->begin);
    case 2: return field > fields->at && swap_fields(input, field - 1, field);
    case 3: return change_number(input, field, state);
    default: return change_value(input, field, state);
    }
}

/* Write the lengths of the messages around a change anew; GREW is by how much the innermost did. */
static bool mend_lengths(struct mutated *input, const struct place *around, size_t depth, int64_t grew)
{
    while (depth-- > 0) {
        uint8_t len[10];
        struct wire tag = wire_over(input->at + around[depth].begin, around[depth].end - around[depth].begin);
        uint64_t unused;
        wire_varint(&tag, &unused);
        size_t head = (size_t)(tag.at - input->at), old = around[depth].value - head;
        size_t fresh = put_varint(len, (uint64_t)((int64_t)(around[depth].end - around[depth].value) + grew));
        if (!mutate_replace(input, head, around[depth].value, len, fresh))
            return false;
        grew += (int64_t)fresh - (int64_t)old;
    }
    return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static struct places fields, inner;
    struct place around[DEEPEST];
    struct mutated input = { data, size, most };
    uint64_t state = seed;
    size_t begin = 0, end = size, depth = 0;
    if (mutate_random(&state, 20) == 0)
        return LLVMFuzzerMutate(data, size, most);
    find_fields(&input, begin, end, &fields);
    if (fields.count == 0)
        return LLVMFuzzerMutate(data, size, most);
    while (depth < DEEPEST && mutate_random(&state, 5)) {
        const struct place *field = &fields.at[mutate_random(&state, fields.count)];
        if (field->type != WIRE_BYTES)
            break;
        find_fields(&input, field->value, field->end, &inner);
        if (inner.count == 0)
            break;
        around[depth++] = *field;
        fields = inner;
    }
    uint8_t *kept = data;
    (void)kept;
    size_t before = input.size;
    if (!change(&input, &fields, &state))
        return size;
    mend_lengths(&input, around, depth, (int64_t)input.size - (int64_t)before);
    return input.size;
}

/* A field of the second in front of one of the first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                                 uint8_t *out, size_t most, unsigned seed)
{
    static struct places here, there;
    uint64_t state = seed;
    struct mutated first = { out, size1 < most ? size1 : most, most };
    struct mutated second = { (uint8_t *)(uintptr_t)data2, size2, size2 };
    memcpy(out, data1, first.size);
    find_fields(&first, 0, first.size, &here);
    find_fields(&second, 0, size2, &there);
    if (here.count == 0 || there.count == 0)
        return first.size;
    const struct place *from = &there.at[mutate_random(&state, there.count)];
    size_t to = here.at[mutate_random(&state, here.count)].begin;
    mutate_replace(&first, to, to, data2 + from->begin, from->end - from->begin);
    return first.size;
}
