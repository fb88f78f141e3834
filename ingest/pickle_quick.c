/* Python writes a dict as EMPTY_DICT MEMOIZE MARK, alternating keys and values, SETITEMS; up to protocol 3 with BINPUT
 * for MEMOIZE, and torch's writer in C++ without either. Nearly all keys and values of a snapshot are references and
 * small numbers. Read in one pass, they bypass the stack, and neither the dict nor the list of its frames becomes an
 * object. If anything else occurs, the memo is restored, and the machine reads the dict again from its beginning;
 * interned texts are found again. */
#include "ingest/object_readers.h"

#include "ingest/object_values.h"

enum { FRAMES_MOST = 1000 };

/*
 * The buffered bytes are followed by zeros, which are not an operation: reading beyond the end soon stops at one,
 * without a check at each step.
 *
 * Each function below parses the text at AT and returns its end; NULL if the fast path does not support it. AT is
 * passed by value, so that it stays in a register.
 */
struct quick {
    struct objects *o;
    const uint8_t *end;
};

/* Copied as a whole: otherwise the compiler may not use a single load of eight bytes. */
static inline uint64_t bytes8(const uint8_t *at)
{
    uint64_t number;
    memcpy(&number, at, sizeof number);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? number : __builtin_bswap64(number);
}

static inline uint32_t bytes4(const uint8_t *at)
{
    return (uint32_t)bytes8(at);
}

/* Parse an optional operation that puts an object into the memo: MEMOIZE, or a BINPUT of protocols 2 and 3
 * with the next number, as all writers use. *NUMBER is the new number, without a value yet; SIZE_MAX if there
 * is none. */
static inline const uint8_t *read_memo(struct objects *o, const uint8_t *at, size_t *number)
{
    size_t length = *at == 0x94 ? 1 : *at == 'q' && at[1] == o->memo.count ? 2 : 0;
    if (*at == 'r' && bytes4(at + 1) == o->memo.count)
        length = 5;
    *number = SIZE_MAX;
    if (length) {
        *number = o->memo.count;
        *VEC_PUSH(&o->memo) = MEMO_EMPTY;
    }
    return at + length;
}

static inline void pickle_quick_set_memo(struct objects *o, size_t number, value v)
{
    if (number != SIZE_MAX)
        objects_quick_put(o, number, v);
}

/* The value of NUMBER in the memo; false if it has none, or it is incomplete. */
static inline bool recall(const struct objects *o, uint32_t number, value *v)
{
    if (number >= o->memo.count)
        return false;
    uint32_t memo = o->memo.at[number];
    *v = value_of((enum value_tag)(memo >> MEMO_SHIFT), memo & MEMO_PAYLOAD);
    return memo != MEMO_EMPTY && value_tag(*v) != VALUE_OPEN;
}

/* A BINGET or LONG_BINGET of a complete object. */
static inline const uint8_t *read_reference(const struct objects *o, const uint8_t *at, value *v)
{
    if (*at == 'h')
        return recall(o, at[1], v) ? at + 2 : NULL;
    return *at == 'j' && recall(o, bytes4(at + 1), v) ? at + 5 : NULL;
}

/* A text of LEN bytes. */
static const uint8_t *pickle_quick_read_text(struct quick *in, const uint8_t *at, size_t len, value *v)
{
    if (in->end < at || (size_t)(in->end - at) < len)
        return NULL;
    size_t memo;
    *v = value_of(VALUE_TEXT, names_add(in->o->snapshot->names, (const char *)at, len));
    at = read_memo(in->o, at + len, &memo);
    pickle_quick_set_memo(in->o, memo, *v);
    return at;
}

/* A text with a length of one byte. Python writes the same text again for each entry: the last short one at the place
 * of SHAPE is recognised by its bytes. */
static inline const uint8_t *read_short_text(struct quick *in, const uint8_t *at, struct key_shape *shape,
                                             value *v)
{
    enum { SHORT = 6 }; /* so that it fits in eight bytes with its operation and length */
    size_t len = at[1], memo;
    if ((bytes8(at) & shape->text_mask) != shape->text_bytes || !shape->text_mask || in->end - at < 8) {
        const uint8_t *behind = pickle_quick_read_text(in, at + 2, len, v);
        if (behind && len <= SHORT && in->end - at >= 8) {
            shape->text_mask = ~UINT64_C(0) >> 8 * (SHORT - len);
            shape->text_bytes = bytes8(at) & shape->text_mask;
            shape->text = (name_id)value_payload(*v);
        }
        return behind;
    }
    *v = value_of(VALUE_TEXT, shape->text);
    at = read_memo(in->o, at + 2 + len, &memo);
    pickle_quick_set_memo(in->o, memo, *v);
    return at;
}

/* The end of the references from AT on; may be after END. */
static inline const uint8_t *behind_references(const uint8_t *at, const uint8_t *end)
{
    for (;;) {
        while (end - at > 20 && at[0] == 'j' && at[5] == 'j' && at[10] == 'j' && at[15] == 'j')
            at += 20;
        if (*at != 'j' && *at != 'h')
            return at;
        at += *at == 'j' ? 5 : 2;
    }
}

/* The stack of the references from AT to END; false if one of them is not a frame. */
static bool make_stack(struct objects *o, const uint8_t *at, const uint8_t *end, value *v)
{
    size_t count = 0;
    VEC_RESERVE(&o->stack, FRAMES_MOST);
    value *frames = o->stack.at + o->stack.count;
    while (at < end) {
        if (count == FRAMES_MOST || !(at = read_reference(o, at, &frames[count])) ||
            value_tag(frames[count++]) != VALUE_FRAME)
            return false;
    }
    return count > 0 && records_make_of_list(o, frames, count, v);
}

/* A list, after its EMPTY_LIST: empty, or references to frames. All of these existed when its record began, so the
 * cached stack of its bytes stays valid when the record's own memo numbers are released. */
static const uint8_t *pickle_quick_read_list(struct quick *in, const uint8_t *at, value *v)
{
    struct objects *o = in->o;
    size_t memo;
    at = read_memo(o, at, &memo);
    *v = value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST);
    if (*at == '(') {
        size_t len;
        at++;
        if (!known_lists_guess(&o->lists, at, in->end, &len, v)) {
            const uint8_t *last = behind_references(at, in->end);
            if (*last != 'e' || last >= in->end)
                return NULL;
            len = (size_t)(last + 1 - at);
            uint64_t hash = known_lists_hash(at, len);
            if (!known_lists_find(&o->lists, at, len, hash, v)) {
                if (!make_stack(o, at, last, v))
                    return NULL;
                known_lists_add(&o->lists, at, len, hash, *v);
            }
        }
        at += len;
    } else if (*at == 'h' || *at == 'j') { /* a single frame: no mark, and APPEND */
        const uint8_t *last = at + (*at == 'j' ? 5 : 2);
        if (*last != 'a' || last >= in->end || !make_stack(o, at, last, v))
            return NULL;
        at = last + 1;
    }
    pickle_quick_set_memo(o, memo, *v);
    return at;
}

/* A pool: a tuple of two numbers; AT is at the first. */
static const uint8_t *read_pool(struct quick *in, const uint8_t *at, value *v)
{
    value pair[2] = { value_of(VALUE_INT, at[0]), value_of(VALUE_INT, at[2]) };
    size_t memo;
    if (!records_make_of_list(in->o, pair, 2, v))
        return NULL;
    at = read_memo(in->o, at + 4, &memo);
    pickle_quick_set_memo(in->o, memo, *v);
    return at;
}

static inline value integer(int64_t number)
{
    return value_of(VALUE_INT, (uint64_t)number & VALUE_PAYLOAD);
}

/* The lengths of BININT1, BININT2 and BININT in bytes. */
static const uint8_t number_bytes[256] = { ['K'] = 1, ['M'] = 2, ['J'] = 4 };

/* The kind of value at a place is nearly always the same, so branch prediction works; the length of a number is
 * unpredictable. So the three operations for small numbers are one case without a branch. */
static inline const uint8_t *read_value(struct quick *in, const uint8_t *at, struct key_shape *shape,
                                        value *v)
{
    uint64_t bytes = bytes8(at);
    uint8_t op = *at;
    unsigned count = number_bytes[op];
    if (count) {
        enum { PAIR_MASK = 0xff00ff }; /* two BININT1 followed by TUPLE2 */
        if ((bytes & PAIR_MASK) == ('K' | 'K' << 16) && at[4] == 0x86)
            return read_pool(in, at + 1, v);
        uint64_t number = bytes >> 8 & ~UINT64_C(0) >> (64 - 8 * count), sign = (uint64_t)(op == 'J') << 31;
        *v = integer((int64_t)((number ^ sign) - sign));
        return at + 1 + count;
    }
    if (op == 'h')
        return recall(in->o, at[1], v) ? at + 2 : NULL;
    if (op == 0x8a) { /* LONG1 */
        if (at[1] == 0 || at[1] > 7)
            return NULL;
        *v = integer((int64_t)(bytes8(at + 2) << (64 - 8 * at[1])) >> (64 - 8 * at[1]));
        return at + 2 + at[1];
    }
    if (op == 'j')
        return recall(in->o, bytes4(at + 1), v) ? at + 5 : NULL;
    switch (op) {
    case ']': return pickle_quick_read_list(in, at + 1, v);
    case 0x8c: return read_short_text(in, at, shape, v);
    case 'X': return pickle_quick_read_text(in, at + 5, bytes4(at + 1), v);
    case 'N': *v = value_of(VALUE_SPECIAL, SPECIAL_NONE); return at + 1;
    case 0x88: *v = value_of(VALUE_SPECIAL, SPECIAL_TRUE); return at + 1;
    case 0x89: *v = value_of(VALUE_SPECIAL, SPECIAL_FALSE); return at + 1;
    default: return NULL;
    }
}

/* The key of pair I of a record. Most records have the same keys as the one before, with the same bytes: their meaning
 * is cached in the objects' `shape`. */
static inline const uint8_t *pickle_quick_read_key(struct quick *in, const uint8_t *at, size_t i,
                                                   uint32_t *key)
{
    struct key_shape *shape = &in->o->shape[i];
    value v;
    if ((bytes8(at) & shape->mask) == shape->bytes && shape->mask) {
        *key = shape->key;
        return at + shape->length;
    }
    const uint8_t *behind = read_value(in, at, shape, &v);
    if (!behind)
        return NULL;
    *key = fields_key(v);
    if (*at == 'h' || *at == 'j') {
        uint64_t mask = *at == 'h' ? UINT64_C(0xffff) : UINT64_C(0xffffffffff);
        *shape = (struct key_shape){
            .bytes = bytes8(at) & mask, .mask = mask, .key = *key, .length = (uint32_t)(behind - at)
        };
    }
    return behind;
}

/* A dict that is a record, after its EMPTY_DICT. */
static const uint8_t *pickle_quick_read_record(struct quick *in, const uint8_t *at, value *record)
{
    struct fields fields;
    size_t memo, count = 0;
    fields.o = in->o;
    fields.has = 0;
    at = read_memo(in->o, at, &memo);
    if (*at != '(')
        return NULL;
    at++;
    while (*at != 'u') {
        uint32_t key;
        value v;
        if (count == QUICK_PAIRS_MOST || !(at = pickle_quick_read_key(in, at, count, &key)) ||
            !(at = read_value(in, at, &in->o->shape[count], &v)))
            return NULL;
        count++;
        fields.of[key] = v;
        fields.has |= UINT64_C(1) << key;
    }
    if (at >= in->end || !records_make_of_fields(&fields, record))
        return NULL;
    pickle_quick_set_memo(in->o, memo, *record);
    return at + 1;
}

const uint8_t *pickle_quick_records(struct objects *o, const uint8_t *at, const uint8_t *end)
{
    struct quick in = { .o = o, .end = end };
    const uint8_t *done = NULL;
    while (at && !o->too_many && o->memo.count < MEMO_PAYLOAD) {
        size_t memo_count = o->memo.count;
        value record;
        at = pickle_quick_read_record(&in, at, &record);
        if (!at) {
            objects_shorten_memo(o, memo_count);
            break;
        }
        *VEC_PUSH(&o->stack) = record;
        done = at;
        at = at < end && *at == '}' ? at + 1 : NULL;
    }
    return done;
}
