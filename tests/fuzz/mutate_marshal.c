/*
 * mutate_marshal.c - a dump of Python's marshal into another: objects put in place of others, pairs of dicts dropped and
 * doubled, numbers and references at their limits, lengths that are right.
 *
 * ingest/marshal.c has the types. Scanning ends at what is not known (code objects among it); what lies behind is kept.
 */
#include "tests/fuzz/mutate.h"

#include "trace/tpafile_bytes.h"
#include <stdlib.h>

enum { MOST_OBJECTS = 4096, MOST_DEPTH = 200, FLAG = 0x80 };

struct object {
    size_t begin, end;
    int dict;   /* the dict that it is a key of; -1: none */
    char type;  /* without the flag */
    size_t sum; /* objects in it and itself: the next one behind it is at + sum */
};

struct objects {
    struct object at[MOST_OBJECTS];
    size_t count;
};

struct cursor {
    const uint8_t *data;
    size_t size, at;
    struct objects *objects;
};

static bool skip(struct cursor *in, size_t count)
{
    if (count > in->size - in->at)
        return false;
    in->at += count;
    return true;
}

static bool skip_short_text(struct cursor *in)
{
    return in->at < in->size && skip(in, 1 + (size_t)in->data[in->at]);
}

static uint32_t number_at(const struct cursor *in)
{
    return in->size - in->at >= 4 ? get_u32(in->data + in->at) : 0;
}

static bool scan(struct cursor *in, int dict, int depth);

static bool scan_many(struct cursor *in, uint32_t count, int depth)
{
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++)
        good = scan(in, -1, depth + 1);
    return good;
}

static bool scan_dict(struct cursor *in, int self, int depth)
{
    while (in->at < in->size) {
        if ((in->data[in->at] & ~FLAG) == '0')
            return skip(in, 1);
        if (!scan(in, self, depth + 1) || !scan(in, -1, depth + 1))
            return false;
    }
    return false;
}

static bool scan_content(struct cursor *in, char type, int self, int depth)
{
    uint32_t count = number_at(in);
    switch (type) {
    case 'N':
    case 'F':
    case 'T':
    case '.':
    case 'S':
    case '?': return true;
    case 'i':
    case 'r':
    case 'R': return skip(in, 4);
    case 'I':
    case 'g': return skip(in, 8);
    case 'y': return skip(in, 16);
    case 'l': return skip(in, 4 + 2 * (size_t)(count < 1 << 20 ? count : 0));
    case 'f':
    case 'z':
    case 'Z': return skip_short_text(in);
    case 'x': return skip_short_text(in) && skip_short_text(in);
    case 's':
    case 't':
    case 'u':
    case 'a':
    case 'A': return skip(in, 4) && skip(in, count);
    case '(':
    case '[':
    case '<':
    case '>': return skip(in, 4) && scan_many(in, count, depth);
    case ')':
        count = in->at < in->size ? in->data[in->at] : 0;
        return skip(in, 1) && scan_many(in, count, depth);
    case ':': return scan_many(in, 3, depth);
    case '{': return scan_dict(in, self, depth);
    default: return false;
    }
}

static bool scan(struct cursor *in, int dict, int depth)
{
    if (in->at >= in->size || in->objects->count == MOST_OBJECTS || depth > MOST_DEPTH)
        return false;
    size_t self = in->objects->count++;
    struct object *object = &in->objects->at[self];
    *object = (struct object){ .begin = in->at, .dict = dict, .type = (char)(in->data[in->at] & ~FLAG) };
    in->at++;
    bool good = scan_content(in, object->type, (int)self, depth);
    object->end = in->at;
    object->sum = in->objects->count - self;
    return good;
}

static void scan_all(const uint8_t *data, size_t size, struct objects *objects)
{
    struct cursor in = { data, size, 0, objects };
    objects->count = 0;
    scan(&in, -1, 0);
}

/* ---- changes ---- */

static bool copy_over(struct mutated *input, size_t begin, size_t end, const uint8_t *from, size_t len)
{
    uint8_t *copy = malloc(len + 1);
    if (!copy)
        abort();
    memcpy(copy, from, len);
    bool done = mutate_replace(input, begin, end, copy, len);
    free(copy);
    return done;
}

/* The key at OBJECT and its value: up to where? 0 when it is no key. */
static size_t end_of_pair(const struct objects *objects, size_t object)
{
    size_t value = object + objects->at[object].sum;
    if (objects->at[object].dict < 0 || value >= objects->count)
        return 0;
    return objects->at[value].end;
}

static bool change_number(struct mutated *input, const struct object *object, uint64_t *state)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      2,
                                      127,
                                      255,
                                      65535,
                                      INT32_MAX,
                                      (uint64_t)INT32_MAX + 1,
                                      UINT32_MAX,
                                      INT64_MAX,
                                      (uint64_t)INT64_MAX + 1,
                                      UINT64_MAX,
                                      UINT64_C(0x7ff0000000000000),
                                      UINT64_C(0x7ff8000000000001),
                                      UINT64_C(0xfff0000000000000),
                                      UINT64_C(1),
                                      UINT64_C(0x7fefffffffffffff),
                                      UINT64_C(0xbff0000000000000) };
    uint8_t *at = input->at + object->begin + 1;
    size_t room = object->end - object->begin - 1;
    uint64_t bits = edges[mutate_random(state, sizeof edges / sizeof *edges)];
    if (mutate_random(state, 3) == 0)
        bits = mutate_random(state, 40);
    if (room >= 8)
        store_u64(at, bits);
    else if (room >= 4)
        store_u32(at, (uint32_t)bits);
    return room >= 4;
}

static bool change_text(struct mutated *input, const struct object *object)
{
    bool is_short = object->type == 'z' || object->type == 'Z' || object->type == 'f';
    size_t begin = object->begin + (is_short ? 2 : 5), len = object->end - begin;
    uint8_t text[256] = { 0 };
    if (object->end < begin)
        return false;
    len = len < 128 ? len : 128;
    memcpy(text, input->at + begin, len);
    size_t now = LLVMFuzzerMutate(text, len, is_short ? 255 : sizeof text);
    if (!mutate_replace(input, begin, object->end, text, now))
        return false;
    if (is_short)
        input->at[object->begin + 1] = (uint8_t)now;
    else
        store_u32(input->at + object->begin + 1, (uint32_t)now);
    return true;
}

static bool change_object(struct mutated *input, const struct object *object, uint64_t *state)
{
    switch (object->type) {
    case 'i':
    case 'r':
    case 'R':
    case 'I':
    case 'g':
    case 'y':
    case 'l': return change_number(input, object, state);
    case 's':
    case 't':
    case 'u':
    case 'a':
    case 'A':
    case 'z':
    case 'Z':
    case 'f': return change_text(input, object);
    default: input->at[object->begin] ^= FLAG; return true;
    }
}

static bool change_once(struct mutated *input, const struct objects *objects, uint64_t *state)
{
    static const char simple[] = "NFT.S?";
    size_t which = mutate_random(state, objects->count);
    const struct object *object = &objects->at[which],
                        *other = &objects->at[mutate_random(state, objects->count)];
    size_t pair = end_of_pair(objects, which);
    switch (mutate_random(state, 9)) {
    case 0: return pair && mutate_replace(input, object->begin, pair, "", 0);
    case 1: return pair && copy_over(input, pair, pair, input->at + object->begin, pair - object->begin);
    case 2: /* only one that is the same sort of thing */
    case 3:
        return (object->type == other->type || mutate_random(state, 4) == 0) &&
               copy_over(input, object->begin, object->end, input->at + other->begin,
                         other->end - other->begin);
    case 4: {
        uint8_t reference[5] = { 'r' };
        store_u32(reference + 1, (uint32_t)mutate_random(state, objects->count + 1));
        return which > 0 && mutate_replace(input, object->begin, object->end, reference, sizeof reference);
    }
    case 5: {
        size_t at = mutate_random(state, 6);
        return which > 0 && mutate_replace(input, object->begin, object->end, simple + at, 1);
    }
    case 6: /* another size than it has */
        if (object->type != '(' && object->type != ')')
            return false;
        input->at[object->begin + 1] = (uint8_t)(input->at[object->begin + 1] + mutate_random(state, 3) - 1);
        return true;
    default: return change_object(input, object, state);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static struct objects objects;
    uint64_t state = seed;
    struct mutated input = { data, size, most };
    bool changed = false;
    for (size_t i = 1 + mutate_random(&state, 4); i > 0 && mutate_random(&state, 24) > 0; i--) {
        scan_all(input.at, input.size, &objects);
        changed |= objects.count > 0 && change_once(&input, &objects, &state);
    }
    return changed ? input.size : LLVMFuzzerMutate(data, size, most);
}

/* An object of the second in place of one of the first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2, size_t size2,
                                 uint8_t *out, size_t most, unsigned seed)
{
    static struct objects objects, others;
    uint64_t state = seed;
    size1 = size1 < most ? size1 : most;
    memcpy(out, data1, size1);
    struct mutated input = { out, size1, most };
    scan_all(out, size1, &objects);
    scan_all(data2, size2, &others);
    if (objects.count && others.count) {
        const struct object *object = &objects.at[mutate_random(&state, objects.count)];
        const struct object *other = &others.at[mutate_random(&state, others.count)];
        size_t pair = end_of_pair(&objects, mutate_random(&state, objects.count));
        size_t other_pair = end_of_pair(&others, (size_t)(other - others.at));
        if (pair && other_pair)
            mutate_replace(&input, pair, pair, data2 + other->begin, other_pair - other->begin);
        else
            mutate_replace(&input, object->begin, object->end, data2 + other->begin,
                           other->end - other->begin);
    }
    return input.size;
}
