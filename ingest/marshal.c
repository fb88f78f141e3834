/*
 * marshal.c - Python's marshal stream.
 *
 * An object is a byte that says its type, whose highest bit is the flag "refer to me later", and then:
 *
 *   0                      end of a dict
 *   N F T . S              None, False, True, Ellipsis, StopIteration; never numbered, even when flagged
 *   i  int32               I  int64
 *   l  int32 n, |n| x u16  whole number of |n| digits in base 2^15, lowest first, with the sign of n
 *   g  double              f  u8 n, n bytes of text such as "0.25"
 *   y  double, double      x  two texts as in f
 *   s  int32 n, n bytes    t u a A  the same for text (t A: interned; a A: ASCII only)
 *   z Z  u8 n, n bytes     short ASCII text
 *   (  [  <  >             int32 n, n objects: tuple, list, set, frozenset
 *   )  u8 n, n objects     small tuple
 *   {  key, value, ... 0   dict
 *   :  3 objects           slice
 *   c                      code, see skip_code
 *   r  int32 n             the n-th flagged object; flagged objects are numbered in the order of their first byte
 *   R  int32 n             Python 2: the n-th object of type t
 *   ?                      what the producer could not write
 *
 * All numbers are little-endian. Learnt from CPython 2.7 and 3.4 to 3.14, Python/marshal.c.
 *
 * Per flagged object one 64-bit slot is kept. For a scalar it is the offset of the object, which is decoded again
 * at each reference: that is as cheap as copying it, and texts stay where they are. For a container it is the
 * caller's note. The upper two bits tell the two apart.
 */
#include "ingest/marshal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* CPython gives up beyond this depth, writing and reading, so no honest file is deeper. */
enum { MAX_DEPTH = 2000 };

#define SLOT_CONTAINER (UINT64_C(1) << 63) /* no note yet */
#define SLOT_NOTE (UINT64_C(3) << 62)      /* the note is in the lower bits */
#define SLOT_VALUE (~SLOT_NOTE)

enum { FLAG = 0x80 };

void marshal_release(struct marshal *in)
{
    VEC_FREE(&in->slots);
    VEC_FREE(&in->old_strings);
}

static uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double load_double(const uint8_t *p)
{
    uint64_t bits = (uint64_t)load_u32(p + 4) << 32 | load_u32(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The next COUNT bytes, at *AT, which is moved past them. NULL and ERR when the file ends before. */
static const uint8_t *take(const struct marshal *in, size_t *at, size_t count, const char *what,
                           struct tpa_error *err)
{
    size_t left = in->size - *at;
    if (count > left) {
        tpa_fail(err, (int64_t)*at, "%s needs %zu bytes but only %zu follow", what, count, left);
        tpa_hint(err, "the file looks cut short; was the program killed while it wrote it?");
        return NULL;
    }
    const uint8_t *bytes = in->bytes + *at;
    *at += count;
    return bytes;
}

/* A count of things that take at least UNIT bytes each. */
static bool take_count(const struct marshal *in, size_t *at, size_t unit, const char *what, uint32_t *count,
                       struct tpa_error *err)
{
    size_t start = *at;
    const uint8_t *p = take(in, at, 4, what, err);
    if (!p)
        return false;
    uint32_t n = load_u32(p);
    if (n > INT32_MAX)
        return tpa_fail(err, (int64_t)start, "%s of %d items", what, (int)(int32_t)n);
    if (n > (in->size - *at) / unit) {
        tpa_fail(err, (int64_t)start, "%s of %u items but only %zu bytes follow", what, n, in->size - *at);
        return tpa_hint(err, "the file is cut short or damaged");
    }
    *count = n;
    return true;
}

static bool read_text(const struct marshal *in, size_t *at, bool is_short, const char *what,
                      struct marshal_item *item, struct tpa_error *err)
{
    uint32_t length = 0;
    if (is_short) {
        const uint8_t *p = take(in, at, 1, what, err);
        if (!p)
            return false;
        length = *p;
    } else if (!take_count(in, at, 1, what, &length, err)) {
        return false;
    }
    const uint8_t *p = take(in, at, length, what, err);
    if (!p)
        return false;
    item->text = (const char *)p;
    item->length = length;
    return true;
}

/* A float written as text, as versions 0 and 1 do. */
static bool read_decimal(const struct marshal *in, size_t *at, double *value, struct tpa_error *err)
{
    size_t start = *at;
    struct marshal_item digits;
    if (!read_text(in, at, true, "a number written as text", &digits, err))
        return false;
    char text[256];
    memcpy(text, digits.text, digits.length);
    text[digits.length] = '\0';
    char *end;
    *value = strtod(text, &end);
    /* strtod takes more than Python writes: blanks in front, hexadecimal. */
    if (digits.length == 0 || end != text + digits.length ||
        strspn(text, "+-.0123456789einfaINFA") != digits.length)
        return tpa_fail(err, (int64_t)start, "a number written as text is '%s'", text);
    return true;
}

static bool read_long(const struct marshal *in, size_t *at, struct marshal_item *item, struct tpa_error *err)
{
    size_t start = *at;
    const uint8_t *p = take(in, at, 4, "a whole number", err);
    if (!p)
        return false;
    int64_t n = (int32_t)load_u32(p);
    bool negative = n < 0;
    size_t count = (size_t)(negative ? -n : n);
    if (count > (in->size - *at) / 2)
        return tpa_fail(err, (int64_t)start, "a whole number of %zu digits but only %zu bytes follow", count,
                        in->size - *at);
    const uint8_t *digits = take(in, at, 2 * count, "a whole number", err);
    uint64_t value = 0;
    double near = 0;
    bool fits = true;
    for (size_t i = count; i-- > 0;) {
        unsigned digit = digits[2 * i] | (unsigned)digits[2 * i + 1] << 8;
        if (digit > 0x7fff || (digit == 0 && i == count - 1))
            return tpa_fail(err, (int64_t)start, "a whole number has the digit 0x%04x", digit);
        fits = fits && value >> 48 == 0;
        value = value << 15 | digit;
        near = near * 32768 + digit;
    }
    fits = fits && value <= INT64_MAX;
    item->type = fits ? MARSHAL_INT : MARSHAL_BIG_INT;
    item->integer = !fits ? 0 : negative ? -(int64_t)value : (int64_t)value;
    item->number = negative ? -near : near;
    return true;
}

static void begin_item(struct marshal_item *item, size_t offset)
{
    item->offset = offset;
    item->slot = MARSHAL_NO_SLOT;
    item->note = MARSHAL_NO_NOTE;
}

/*
 * Decode the item at *AT, which is moved past it (past the head of a container). Sets all of ITEM but slot and note;
 * TYPE is the type byte without the flag. References are left to the caller.
 */
static bool decode(const struct marshal *in, size_t *at, struct marshal_item *item, struct tpa_error *err)
{
    begin_item(item, *at);
    const uint8_t *p = take(in, at, 1, "an object", err);
    if (!p)
        return false;
    char type = (char)(*p & ~FLAG);
    switch (type) {
    case '0': item->type = MARSHAL_END; return true;
    case 'N': item->type = MARSHAL_NONE; return true;
    case '.': item->type = MARSHAL_ELLIPSIS; return true;
    case 'S': item->type = MARSHAL_STOP_ITERATION; return true;
    case 'F':
    case 'T':
        item->type = MARSHAL_BOOL;
        item->integer = type == 'T';
        return true;
    case 'i':
        item->type = MARSHAL_INT;
        if (!(p = take(in, at, 4, "a whole number", err)))
            return false;
        item->integer = (int32_t)load_u32(p);
        return true;
    case 'I':
        item->type = MARSHAL_INT;
        if (!(p = take(in, at, 8, "a whole number", err)))
            return false;
        item->integer = (int64_t)((uint64_t)load_u32(p + 4) << 32 | load_u32(p));
        return true;
    case 'l': return read_long(in, at, item, err);
    case 'f': item->type = MARSHAL_FLOAT; return read_decimal(in, at, &item->number, err);
    case 'g':
    case 'y':
        item->type = type == 'g' ? MARSHAL_FLOAT : MARSHAL_COMPLEX;
        if (!(p = take(in, at, type == 'g' ? 8 : 16, "a number", err)))
            return false;
        item->number = load_double(p);
        return true;
    case 'x': {
        double imaginary;
        item->type = MARSHAL_COMPLEX;
        return read_decimal(in, at, &item->number, err) && read_decimal(in, at, &imaginary, err);
    }
    case 's': item->type = MARSHAL_BYTES; return read_text(in, at, false, "a string", item, err);
    case 't':
    case 'u':
    case 'a':
    case 'A': item->type = MARSHAL_TEXT; return read_text(in, at, false, "a text", item, err);
    case 'z':
    case 'Z': item->type = MARSHAL_TEXT; return read_text(in, at, true, "a text", item, err);
    case ')':
        item->type = MARSHAL_TUPLE;
        if (!(p = take(in, at, 1, "a tuple", err)))
            return false;
        item->count = *p;
        if (item->count > in->size - *at)
            return tpa_fail(err, (int64_t)item->offset, "a tuple of %u items but only %zu bytes follow",
                            item->count, in->size - *at);
        return true;
    case '(': item->type = MARSHAL_TUPLE; return take_count(in, at, 1, "a tuple", &item->count, err);
    case '[': item->type = MARSHAL_LIST; return take_count(in, at, 1, "a list", &item->count, err);
    case '<': item->type = MARSHAL_SET; return take_count(in, at, 1, "a set", &item->count, err);
    case '>': item->type = MARSHAL_FROZENSET; return take_count(in, at, 1, "a frozenset", &item->count, err);
    case '{': item->type = MARSHAL_DICT; return true;
    case ':':
        item->type = MARSHAL_SLICE;
        item->count = 3;
        return true;
    case 'c': item->type = MARSHAL_CODE; return true;
    case '?':
        return tpa_fail(err, (int64_t)item->offset,
                        "the producer left a mark: here is an object it could not write");
    default:
        return tpa_fail(err, (int64_t)item->offset, "0x%02x is no type of object that Python writes", *p);
    }
}

/* The item that reference number N of KIND ("r" or "R") at ITEM->offset stands for. */
static bool resolve(struct marshal *in, char kind, struct marshal_item *item, struct tpa_error *err)
{
    size_t offset = item->offset;
    const uint8_t *p = take(in, &in->at, 4, "a reference", err);
    if (!p)
        return false;
    uint32_t number = load_u32(p);
    size_t known = kind == 'R' ? in->old_strings.count : in->slots.count;
    if (number >= known)
        return tpa_fail(err, (int64_t)offset, "a reference to object %u but only %zu came before", number,
                        known);
    uint64_t slot = kind == 'R' ? in->old_strings.at[number] : in->slots.at[number];
    if (slot & SLOT_CONTAINER) {
        item->type = MARSHAL_REFERENCE;
        if ((slot & SLOT_NOTE) == SLOT_NOTE)
            item->note = slot & SLOT_VALUE;
        return true;
    }
    size_t at = slot;
    bool decoded = decode(in, &at, item, err);
    item->offset = offset;
    return decoded;
}

static bool is_container(enum marshal_type type)
{
    return type >= MARSHAL_TUPLE && type <= MARSHAL_CODE;
}

bool marshal_next(struct marshal *in, struct marshal_item *item, struct tpa_error *err)
{
    uint8_t first = in->at < in->size ? in->bytes[in->at] : 0;
    uint8_t type = first & (uint8_t)~FLAG;
    if (type == 'r' || type == 'R') {
        begin_item(item, in->at++);
        return resolve(in, (char)type, item, err);
    }
    size_t start = in->at;
    if (!decode(in, &in->at, item, err))
        return false;
    bool single =
        item->type <= MARSHAL_BOOL || item->type == MARSHAL_ELLIPSIS || item->type == MARSHAL_STOP_ITERATION;
    if (first & FLAG && !single) {
        if (is_container(item->type))
            item->slot = (uint32_t)in->slots.count;
        *VEC_PUSH(&in->slots) = is_container(item->type) ? SLOT_CONTAINER : start;
    } else if (type == 't') {
        *VEC_PUSH(&in->old_strings) = start;
    }
    return true;
}

void marshal_note(struct marshal *in, const struct marshal_item *item, uint64_t note)
{
    assert(note <= SLOT_VALUE);
    if (item->slot != MARSHAL_NO_SLOT)
        in->slots.at[item->slot] = SLOT_NOTE | note;
}

/* A container that is being passed over. */
struct open_container {
    enum marshal_type type;
    uint32_t left; /* elements to come; of a dict: 1 when a value must come, else 0 */
    uint8_t stage; /* of code: objects passed */
    bool new_code; /* code of Python 3.11 or later */
};

/*
 * The head of a code object is some int32, then its bytecode, a string. How many int32 there are depends on the
 * version of Python, which the stream does not tell: 4 in Python 2, 5 from 3.0, 6 from 3.8, 5 again from 3.11. What is
 * right is the first place where a string, or a reference, begins.
 */
static bool enter_code(struct marshal *in, size_t offset, struct tpa_error *err)
{
    for (size_t numbers = 4; numbers <= 6; numbers++) {
        size_t at = in->at + 4 * numbers;
        if (at + 5 > in->size)
            break;
        uint8_t type = in->bytes[at] & (uint8_t)~FLAG;
        uint32_t n = load_u32(in->bytes + at + 1);
        if ((type == 's' && n <= in->size - at - 5) || (type == 'r' && n < in->slots.count)) {
            in->at = at;
            return true;
        }
    }
    return tpa_fail(err, (int64_t)offset, "a code object of no known version of Python");
}

/*
 * Move on within code, one of whose objects, ITEM, was just passed: bytecode, constants, names, three more, file name,
 * name; an int32, the first line; the line table. From 3.11 on the fifth is a string, where a tuple was before, and
 * behind the line table comes the exception table. False when that was the last.
 */
static bool code_goes_on(struct marshal *in, struct open_container *code, const struct marshal_item *item)
{
    code->stage++;
    if (code->stage == 5)
        code->new_code = item->type == MARSHAL_BYTES;
    if (code->stage == 8)
        in->at += in->size - in->at < 4 ? in->size - in->at : 4;
    return code->stage < (code->new_code ? 10 : 9);
}

/* Is the container that is open on top done, now that ITEM was passed in it? */
static bool container_done(struct marshal *in, struct open_container *top, const struct marshal_item *item,
                           bool *bad)
{
    bool end = item->type == MARSHAL_END;
    *bad = end && !(top->type == MARSHAL_DICT && top->left == 0);
    if (top->type == MARSHAL_CODE)
        return !code_goes_on(in, top, item);
    if (top->type == MARSHAL_DICT) {
        top->left = 1 - top->left;
        return end;
    }
    return --top->left == 0;
}

static bool skip_container(struct marshal *in, const struct marshal_item *item, struct tpa_error *err)
{
    struct open_container open[MAX_DEPTH];
    size_t depth = 0;
    struct marshal_item now = *item;
    for (;;) {
        bool opens =
            now.type == MARSHAL_DICT || now.type == MARSHAL_CODE || (is_container(now.type) && now.count > 0);
        if (opens) {
            if (depth == MAX_DEPTH)
                return tpa_fail(err, (int64_t)now.offset, "objects nested deeper than %d", MAX_DEPTH);
            open[depth++] =
                (struct open_container){ now.type, now.type == MARSHAL_DICT ? 0 : now.count, 0, false };
            if (now.type == MARSHAL_CODE && !enter_code(in, now.offset, err))
                return false;
        }
        /* `now` is complete unless it opened; with it, maybe, the containers around it. */
        bool complete = !opens;
        while (complete && depth > 0) {
            bool bad;
            complete = container_done(in, &open[depth - 1], &now, &bad);
            if (bad)
                return tpa_fail(err, (int64_t)now.offset, "the end of a dict where an object must stand");
            if (complete)
                now = (struct marshal_item){ .type = open[--depth].type, .offset = now.offset };
        }
        if (depth == 0)
            return true;
        if (!marshal_next(in, &now, err))
            return false;
    }
}

bool marshal_skip(struct marshal *in, const struct marshal_item *item, struct tpa_error *err)
{
    return !is_container(item->type) || skip_container(in, item, err);
}

const char *marshal_describe(const struct marshal_item *item, char buffer[static 64])
{
    static const char *const words[] = {
        [MARSHAL_END] = "the end of a dict",
        [MARSHAL_NONE] = "None",
        [MARSHAL_BOOL] = "a truth value",
        [MARSHAL_INT] = "a whole number",
        [MARSHAL_BIG_INT] = "a whole number beyond 64 bits",
        [MARSHAL_FLOAT] = "a number",
        [MARSHAL_COMPLEX] = "a complex number",
        [MARSHAL_TEXT] = "a text",
        [MARSHAL_BYTES] = "a string of bytes",
        [MARSHAL_ELLIPSIS] = "Ellipsis",
        [MARSHAL_STOP_ITERATION] = "StopIteration",
        [MARSHAL_TUPLE] = "a tuple",
        [MARSHAL_LIST] = "a list",
        [MARSHAL_SET] = "a set",
        [MARSHAL_FROZENSET] = "a frozenset",
        [MARSHAL_DICT] = "a dict",
        [MARSHAL_SLICE] = "a slice",
        [MARSHAL_CODE] = "a code object",
        [MARSHAL_REFERENCE] = "a reference",
    };
    bool counted = item->type >= MARSHAL_TUPLE && item->type <= MARSHAL_FROZENSET;
    if (!counted)
        return words[item->type];
    snprintf(buffer, 64, "%s of %u", words[item->type], item->count);
    return buffer;
}
