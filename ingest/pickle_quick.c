/*
 * pickle_quick.c - see pickle_quick.h.
 *
 * Python writes a dict as EMPTY_DICT MEMOIZE MARK, keys and values by turns, SETITEMS, and nearly all of a snapshot's keys
 * and values are references and small numbers. Read in one go, none of them passes over the stack, and neither the dict
 * nor the list of its frames becomes an object that grows. Where anything else comes, the memo is put back, and the
 * machine reads the dict from its beginning; what has been interned until then is found again.
 */
#include "ingest/pickle_quick.h"

#include "ingest/object_values.h"

enum { PAIRS_MOST = 24, FRAMES_MOST = 1000 };

struct quick {
    struct objects *o;
    const uint8_t *at, *end;
};

static uint64_t bytes8(const uint8_t *at)
{
    uint64_t number = 0;
    for (int i = 8; i-- > 0;)
        number = number << 8 | at[i];
    return number;
}

static uint32_t bytes4(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Take a MEMOIZE, if it comes: the new number in the memo, which names nothing yet; SIZE_MAX without one. */
static inline size_t take_memo(struct quick *in)
{
    if (*in->at != 0x94)
        return SIZE_MAX;
    in->at++;
    *VEC_PUSH(&in->o->memo) = MEMO_EMPTY;
    return in->o->memo.count - 1;
}

static inline void set_memo(struct quick *in, size_t number, value v)
{
    if (number != SIZE_MAX)
        objects_quick_put(in->o, number, v);
}

/* What the memo has of NUMBER, when that is complete. */
static inline bool get(const struct objects *o, uint32_t number, value *v)
{
    if (number >= o->memo.count)
        return false;
    uint32_t memo = o->memo.at[number];
    *v = value_of((enum value_tag)(memo >> MEMO_SHIFT), memo & MEMO_PAYLOAD);
    return memo != MEMO_EMPTY && value_tag(*v) != VALUE_OPEN;
}

static inline bool take_reference(struct quick *in, value *v)
{
    bool brief = *in->at == 'h';
    if (!brief && *in->at != 'j')
        return false;
    uint32_t number = brief ? in->at[1] : bytes4(in->at + 1);
    in->at += brief ? 2 : 5;
    return get(in->o, number, v);
}

/* SHORT_BINUNICODE, at its length. */
static bool take_text(struct quick *in, value *v)
{
    size_t len = *in->at++;
    if (in->end - in->at < (ptrdiff_t)len)
        return false;
    *v = value_of(VALUE_TEXT, names_add(in->o->snapshot->names, (const char *)in->at, len));
    in->at += len;
    set_memo(in, take_memo(in), *v);
    return true;
}

/* A list, behind its EMPTY_LIST: it is empty, or holds references to frames. */
static bool take_list(struct quick *in, value *v)
{
    struct objects *o = in->o;
    size_t memo = take_memo(in), count = 0;
    *v = value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST);
    if (*in->at == '(') {
        in->at++;
        VEC_RESERVE(&o->stack, FRAMES_MOST);
        value *frames = o->stack.at + o->stack.count;
        while (*in->at != 'e') {
            if (in->at >= in->end || count == FRAMES_MOST || !take_reference(in, &frames[count]) ||
                value_tag(frames[count++]) != VALUE_FRAME)
                return false;
        }
        in->at++;
        if (count == 0 || !records_make_of_list(o, frames, count, v))
            return false;
    }
    set_memo(in, memo, *v);
    return true;
}

/* BININT1, at its number; or the tuple of two of them that is a pool. */
static bool take_small(struct quick *in, value *v)
{
    const uint8_t *at = in->at;
    value pair[2] = { value_of(VALUE_INT, at[0]), value_of(VALUE_INT, at[2]) };
    if (at[1] != 'K' || at[3] != 0x86) {
        in->at = at + 1;
        *v = pair[0];
        return true;
    }
    in->at = at + 4;
    bool made = records_make_of_list(in->o, pair, 2, v);
    set_memo(in, take_memo(in), *v);
    return made;
}

static inline bool take_value(struct quick *in, value *v)
{
    const uint8_t *at = in->at;
    switch (*at) {
    case 'h':
    case 'j': return take_reference(in, v);
    case 0x8a: /* LONG1 */
        if (at[1] == 0 || at[1] > 7)
            return false;
        *v = value_of(VALUE_INT,
                      (uint64_t)((int64_t)(bytes8(at + 2) << (64 - 8 * at[1])) >> (64 - 8 * at[1])) &
                          VALUE_PAYLOAD);
        in->at = at + 2 + at[1];
        return true;
    case 'K': in->at = at + 1; return take_small(in, v);
    case 'M':
        *v = value_of(VALUE_INT, at[1] | (uint64_t)at[2] << 8);
        in->at = at + 3;
        return true;
    case 'J':
        *v = value_of(VALUE_INT, (uint64_t)(int64_t)(int32_t)bytes4(at + 1) & VALUE_PAYLOAD);
        in->at = at + 5;
        return true;
    case 0x8c: in->at = at + 1; return take_text(in, v);
    case ']': in->at = at + 1; return take_list(in, v);
    case 'N':
    case 0x88:
    case 0x89:
        *v = value_of(VALUE_SPECIAL, *at == 'N' ? SPECIAL_NONE : *at == 0x88 ? SPECIAL_TRUE : SPECIAL_FALSE);
        in->at = at + 1;
        return true;
    default: return false;
    }
}

static bool take_record(struct quick *in, value *record)
{
    value pairs[2 * PAIRS_MOST];
    size_t memo = take_memo(in), count = 0;
    if (*in->at != '(')
        return false;
    in->at++;
    while (*in->at != 'u') {
        if (in->at >= in->end || count == PAIRS_MOST || !take_value(in, &pairs[2 * count]) ||
            in->at >= in->end || !take_value(in, &pairs[2 * count + 1]))
            return false;
        count++;
    }
    if (in->at >= in->end || !records_make(in->o, pairs, count, record))
        return false;
    in->at++;
    set_memo(in, memo, *record);
    return true;
}

const uint8_t *pickle_quick_record(struct objects *o, const uint8_t *at, const uint8_t *end)
{
    struct quick in = { .o = o, .at = at, .end = end };
    size_t memo_count = o->memo.count;
    value record;
    if (o->too_many || memo_count >= MEMO_PAYLOAD || !take_record(&in, &record)) {
        o->memo.count = memo_count;
        return NULL;
    }
    *VEC_PUSH(&o->stack) = record;
    return in.at;
}
