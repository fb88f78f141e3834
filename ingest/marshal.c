/*
 * marshal.c - Python's marshal stream.
 *
 * An object is a type byte, whose highest bit is the flag "referred to later", followed by:
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
 *   ?                      an object that the producer could not write
 *
 * All numbers are little-endian. Learnt from CPython 2.7 and 3.4 to 3.14, Python/marshal.c.
 *
 * The bytes are seen through a window that moves over the source, so bytes are not kept after reading.
 *
 * Per flagged object one 64-bit slot is kept, whose lowest two bits give the type of the others: a whole number, the
 * caller's note on a container, or the address of a box in the arena that holds another scalar. All references to a
 * text share its box.
 */
#define XXH_INLINE_ALL
#include "ingest/marshal.h"

#include <assert.h>
#include <math.h>
#include <xxhash.h>

enum {
    /* CPython gives up beyond this depth, writing and reading, so no honest file is deeper */
    MAX_DEPTH = 2000,
    WINDOW = 256 << 10,
    RECENT = 4096, /* recent texts, which are not copied again */
};

enum { FLAG = 0x80 };

/* A scalar that is referred to. */
struct marshal_box {
    enum marshal_type type;
    uint32_t length; /* of a text */
    union {
        double number;
        int64_t integer;
        char text[8]; /* and more */
    } of;
};

void marshal_release(struct marshal *in)
{
    column_free(in->slots, in->slot_capacity * sizeof *in->slots);
    in->slots = NULL;
    in->slot_count = in->slot_capacity = 0;
    VEC_FREE(&in->old_strings);
    free(in->window);
    in->window = NULL;
    free(in->recent);
    in->recent = NULL;
}

/* Try to buffer COUNT bytes. Returns the number available from in->at on: fewer at the end of the file, or if reading
 * fails, with ERR. The window grows with the bytes actually read, not with COUNT. */
static size_t look(struct marshal *in, size_t count, struct tpa_error *err)
{
    while (in->size - in->at < count && in->source && !in->at_end) {
        size_t left = in->size - in->at;
        if (left > in->capacity / 2 || in->capacity == 0) {
            in->capacity = in->capacity ? 2 * in->capacity : WINDOW;
            uint8_t *wider = mem_alloc(in->capacity);
            if (left > 0)
                memcpy(wider, in->bytes + in->at, left);
            free(in->window);
            in->window = wider;
        } else {
            memmove(in->window, in->bytes + in->at, left);
        }
        in->before += (int64_t)in->at;
        in->at = 0;
        in->bytes = in->window;
        in->size = left;
        int64_t got = source_read(in->source, in->window + left, in->capacity - left, err);
        in->at_end = got < (int64_t)(in->capacity - left);
        in->size += got > 0 ? (size_t)got : 0;
    }
    size_t left = in->size - in->at;
    return left < count ? left : count;
}

/* The number of remaining bytes if known; else SIZE_MAX. */
static size_t count_left(const struct marshal *in)
{
    if (!in->source || in->at_end)
        return in->size - in->at;
    if (in->total < 0)
        return SIZE_MAX;
    return in->total > marshal_offset(in) ? (size_t)(in->total - marshal_offset(in)) : 0;
}

/* The next COUNT bytes, valid until the next call. NULL and ERR if the file ends before. */
static const uint8_t *marshal_read(struct marshal *in, size_t count, const char *what, struct tpa_error *err)
{
    if (in->size - in->at < count) {
        struct tpa_error failed = { 0 };
        size_t there = look(in, count, &failed);
        if (there < count) {
            if (failed.failed) {
                *err = failed;
                return NULL;
            }
            tpa_fail(err, marshal_offset(in), "%s needs %zu bytes but only %zu follow", what, count, there);
            tpa_hint(err, "the file looks cut short; was the program killed while it wrote it?");
            return NULL;
        }
    }
    const uint8_t *bytes = in->bytes + in->at;
    in->at += count;
    return bytes;
}

/* Read a count of objects that take at least UNIT bytes each. */
static bool marshal_read_count(struct marshal *in, size_t unit, const char *what, uint32_t *count,
                               struct tpa_error *err)
{
    int64_t start = marshal_offset(in);
    const uint8_t *p = marshal_read(in, 4, what, err);
    if (!p)
        return false;
    uint32_t n = marshal_load_u32(p);
    if (n > INT32_MAX)
        return tpa_fail(err, start, "%s of %d items", what, (int)(int32_t)n);
    if (n > count_left(in) / unit) {
        tpa_fail(err, start, "%s of %u items but only %zu bytes follow", what, n, count_left(in));
        return tpa_hint(err, "the file is cut short or damaged");
    }
    *count = n;
    return true;
}

/* A box with a copy of the LENGTH bytes at P. Python usually shares file names among functions, but not in dumps of old
 * versions or with keys made by programs: so recent texts are not copied again. */
static const struct marshal_box *box_text(struct marshal *in, enum marshal_type type, const uint8_t *p,
                                          uint32_t length)
{
    if (!in->recent)
        in->recent = mem_zalloc(RECENT, sizeof *in->recent);
    struct marshal_box **place = &in->recent[XXH3_64bits(p, length) % RECENT], *box = *place;
    if (box && box->type == type && box->length == length && memcmp(box->of.text, p, length) == 0)
        return box;
    size_t size = length + 1 > sizeof box->of ? length + 1 : sizeof box->of;
    *place = box = arena_alloc(in->texts, offsetof(struct marshal_box, of) + size);
    box->type = type;
    box->length = length;
    char *text = box->of.text; /* is larger than its declared type */
    memcpy(text, p, length);
    text[length] = '\0';
    return box;
}

static bool marshal_read_text(struct marshal *in, bool is_short, const char *what, struct marshal_item *item,
                              struct tpa_error *err)
{
    uint32_t length = 0;
    if (is_short) {
        const uint8_t *p = marshal_read(in, 1, what, err);
        if (!p)
            return false;
        length = *p;
    } else if (!marshal_read_count(in, 1, what, &length, err)) {
        return false;
    }
    const uint8_t *p = marshal_read(in, length, what, err);
    if (!p)
        return false;
    item->text = box_text(in, item->type, p, length)->of.text;
    item->length = length;
    return true;
}

/* A float written as text, as versions 0 and 1 do. */
static bool read_decimal(struct marshal *in, double *value, struct tpa_error *err)
{
    static const char what[] = "a number written as text";
    int64_t start = marshal_offset(in);
    const uint8_t *p = marshal_read(in, 1, what, err);
    size_t length = p ? *p : 0;
    if (!p || !(p = marshal_read(in, length, what, err)))
        return false;
    char text[256];
    memcpy(text, p, length);
    text[length] = '\0';
    char *end;
    *value = strtod(text, &end);
    /* strtod accepts more than Python writes: leading blanks, hexadecimal. */
    if (length == 0 || end != text + length || strspn(text, "+-.0123456789einfaINFA") != length)
        return tpa_fail(err, start, "a number written as text is '%s'", text);
    return true;
}

static bool read_long(struct marshal *in, struct marshal_item *item, struct tpa_error *err)
{
    int64_t start = marshal_offset(in);
    const uint8_t *p = marshal_read(in, 4, "a whole number", err);
    if (!p)
        return false;
    int64_t n = (int32_t)marshal_load_u32(p);
    bool negative = n < 0;
    size_t count = (size_t)(negative ? -n : n);
    if (count > count_left(in) / 2)
        return tpa_fail(err, start, "a whole number of %zu digits but only %zu bytes follow", count,
                        count_left(in));
    const uint8_t *digits = marshal_read(in, 2 * count, "a whole number", err);
    if (!digits)
        return false;
    uint64_t value = 0;
    double near = 0;
    bool fits = true;
    for (size_t i = count; i-- > 0;) {
        unsigned digit = digits[2 * i] | (unsigned)digits[2 * i + 1] << 8;
        if (digit > 0x7fff || (digit == 0 && i == count - 1))
            return tpa_fail(err, start, "a whole number has the digit 0x%04x", digit);
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

static void begin_item(struct marshal_item *item, int64_t offset)
{
    item->offset = offset;
    item->slot = MARSHAL_NO_SLOT;
    item->note = MARSHAL_NO_NOTE;
}

/* Decode the item whose first byte, FIRST, was read; for a container only the head. Sets the fields not set by
 * begin_item. References are handled by the caller. */
static bool marshal_decode(struct marshal *in, uint8_t first, struct marshal_item *item,
                           struct tpa_error *err)
{
    const uint8_t *p;
    char type = (char)(first & ~FLAG);
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
        if (!(p = marshal_read(in, 4, "a whole number", err)))
            return false;
        item->integer = (int32_t)marshal_load_u32(p);
        return true;
    case 'I':
        item->type = MARSHAL_INT;
        if (!(p = marshal_read(in, 8, "a whole number", err)))
            return false;
        item->integer = (int64_t)((uint64_t)marshal_load_u32(p + 4) << 32 | marshal_load_u32(p));
        return true;
    case 'l': return read_long(in, item, err);
    case 'f': item->type = MARSHAL_FLOAT; return read_decimal(in, &item->number, err);
    case 'g':
    case 'y':
        item->type = type == 'g' ? MARSHAL_FLOAT : MARSHAL_COMPLEX;
        if (!(p = marshal_read(in, type == 'g' ? 8 : 16, "a number", err)))
            return false;
        item->number = marshal_load_double(p);
        return true;
    case 'x': {
        double imaginary;
        item->type = MARSHAL_COMPLEX;
        return read_decimal(in, &item->number, err) && read_decimal(in, &imaginary, err);
    }
    case 's': item->type = MARSHAL_BYTES; return marshal_read_text(in, false, "a string", item, err);
    case 't':
    case 'u':
    case 'a':
    case 'A': item->type = MARSHAL_TEXT; return marshal_read_text(in, false, "a text", item, err);
    case 'z':
    case 'Z': item->type = MARSHAL_TEXT; return marshal_read_text(in, true, "a text", item, err);
    case ')':
        item->type = MARSHAL_TUPLE;
        if (!(p = marshal_read(in, 1, "a tuple", err)))
            return false;
        item->count = *p;
        if (item->count > count_left(in))
            return tpa_fail(err, item->offset, "a tuple of %u items but only %zu bytes follow", item->count,
                            count_left(in));
        return true;
    case '(': item->type = MARSHAL_TUPLE; return marshal_read_count(in, 1, "a tuple", &item->count, err);
    case '[': item->type = MARSHAL_LIST; return marshal_read_count(in, 1, "a list", &item->count, err);
    case '<': item->type = MARSHAL_SET; return marshal_read_count(in, 1, "a set", &item->count, err);
    case '>':
        item->type = MARSHAL_FROZENSET;
        return marshal_read_count(in, 1, "a frozenset", &item->count, err);
    case '{': item->type = MARSHAL_DICT; return true;
    case ':':
        item->type = MARSHAL_SLICE;
        item->count = 3;
        return true;
    case 'c': item->type = MARSHAL_CODE; return true;
    case '?':
        return tpa_fail(err, item->offset, "the producer left a mark: here is an object it could not write");
    default: return tpa_fail(err, item->offset, "0x%02x is not a type of object that Python writes", first);
    }
}

/* ---- references ---- */

static uint64_t slot_of_box(const struct marshal_box *box)
{
    return (uint64_t)(uintptr_t)box | MARSHAL_SLOT_BOX;
}

/* The slot value for ITEM, which is not a container. */
static uint64_t slot_of_scalar(struct marshal *in, const struct marshal_item *item)
{
    if (item->type == MARSHAL_INT && item->integer >= INT64_MIN / 4 && item->integer <= INT64_MAX / 4)
        return (uint64_t)item->integer << 2 | MARSHAL_SLOT_INT;
    if (item->type == MARSHAL_TEXT || item->type == MARSHAL_BYTES)
        return slot_of_box(
            (const struct marshal_box *)(const void *)(item->text - offsetof(struct marshal_box, of)));
    struct marshal_box *box = arena_alloc(in->texts, sizeof *box);
    box->type = item->type;
    if (item->type == MARSHAL_INT)
        box->of.integer = item->integer;
    else
        box->of.number = item->number;
    return slot_of_box(box);
}

static void push_slot(struct marshal *in, uint64_t slot)
{
    if (in->slot_count == in->slot_capacity) {
        size_t next = in->slot_capacity ? 2 * in->slot_capacity : 64;
        in->slots = column_resize(in->slots, in->slot_capacity * sizeof *in->slots, next * sizeof *in->slots);
        in->slot_capacity = next;
    }
    in->slots[in->slot_count++] = slot;
}

static void open_box(const struct marshal_box *box, struct marshal_item *item)
{
    item->type = box->type;
    switch (box->type) {
    case MARSHAL_INT: item->integer = box->of.integer; break;
    case MARSHAL_TEXT:
    case MARSHAL_BYTES:
        item->text = box->of.text;
        item->length = box->length;
        break;
    default: item->number = box->of.number;
    }
}

/* The item for a reference of KIND ("r" or "R"), whose first byte was read. */
static bool resolve(struct marshal *in, char kind, struct marshal_item *item, struct tpa_error *err)
{
    const uint8_t *p = marshal_read(in, 4, "a reference", err);
    if (!p)
        return false;
    uint32_t number = marshal_load_u32(p);
    size_t known = kind == 'R' ? in->old_strings.count : in->slot_count;
    if (number >= known)
        return tpa_fail(err, item->offset, "a reference to object %u but only %zu came before", number,
                        known);
    uint64_t slot = kind == 'R' ? in->old_strings.at[number] : in->slots[number];
    switch (slot & 3) {
    case MARSHAL_SLOT_BOX: open_box((const struct marshal_box *)(uintptr_t)slot, item); break;
    case MARSHAL_SLOT_INT:
        item->type = MARSHAL_INT;
        item->integer = (int64_t)slot >> 2;
        break;
    case MARSHAL_SLOT_NOTE:
        item->type = MARSHAL_REFERENCE;
        item->note = slot >> 2;
        break;
    default: item->type = MARSHAL_REFERENCE;
    }
    return true;
}

static bool is_container(enum marshal_type type)
{
    return type >= MARSHAL_TUPLE && type <= MARSHAL_CODE;
}

bool marshal_next(struct marshal *in, struct marshal_item *item, struct tpa_error *err)
{
    begin_item(item, marshal_offset(in));
    const uint8_t *p = marshal_read(in, 1, "an object", err);
    if (!p)
        return false;
    uint8_t first = *p, type = first & (uint8_t)~FLAG;
    if (type == 'r' || type == 'R')
        return resolve(in, (char)type, item, err);
    if (!marshal_decode(in, first, item, err))
        return false;
    bool single =
        item->type <= MARSHAL_BOOL || item->type == MARSHAL_ELLIPSIS || item->type == MARSHAL_STOP_ITERATION;
    if (first & FLAG && !single) {
        if (is_container(item->type))
            item->slot = (uint32_t)in->slot_count;
        push_slot(in, is_container(item->type) ? MARSHAL_SLOT_OPEN : slot_of_scalar(in, item));
    } else if (type == 't') {
        *VEC_PUSH(&in->old_strings) = slot_of_scalar(in, item);
    }
    return true;
}

void marshal_note(struct marshal *in, const struct marshal_item *item, uint64_t note)
{
    assert(note < UINT64_C(1) << 62);
    if (item->slot != MARSHAL_NO_SLOT)
        in->slots[item->slot] = note << 2 | MARSHAL_SLOT_NOTE;
}

bool marshal_count_rest(struct marshal *in, uint64_t *count, struct tpa_error *err)
{
    for (*count = 0;;) {
        struct tpa_error failed = { 0 };
        size_t there = look(in, 1, &failed) ? in->size - in->at : 0;
        *count += there;
        in->at += there;
        if (failed.failed)
            *err = failed;
        if (there == 0)
            return !failed.failed;
    }
}

/* A container that is being skipped. */
struct open_container {
    enum marshal_type type;
    uint32_t left; /* elements to come; for a dict: 1 if a value is expected, else 0 */
    uint8_t stage; /* for code: objects skipped */
    bool new_code; /* code of Python 3.11 or later */
};

/* The head of a code object is some int32, then its bytecode, a string. The number of int32 depends on the version of
 * Python, which is not recorded: 4 in Python 2, 5 from 3.0, 6 from 3.8, 5 again from 3.11. The right number is the
 * first after which a string or a reference begins. */
static bool enter_code(struct marshal *in, int64_t offset, struct tpa_error *err)
{
    for (size_t numbers = 4; numbers <= 6; numbers++) {
        size_t skip = 4 * numbers;
        if (look(in, skip + 5, err) < skip + 5)
            break;
        const uint8_t *p = in->bytes + in->at + skip;
        uint8_t type = *p & (uint8_t)~FLAG;
        uint32_t n = marshal_load_u32(p + 1);
        if ((type == 's' && n <= INT32_MAX && n <= count_left(in) - skip - 5) ||
            (type == 'r' && n < in->slot_count)) {
            in->at += skip;
            return true;
        }
    }
    return tpa_fail(err, offset, "a code object of an unknown version of Python");
}

/* Advance in code after its object ITEM: bytecode, constants, names, three more, file name, name; an int32, the first
 * line; the line table. From 3.11 on the fifth is a string instead of a tuple, and the line table is followed by the
 * exception table. False after the last. */
static bool code_goes_on(struct marshal *in, struct open_container *code, const struct marshal_item *item)
{
    code->stage++;
    if (code->stage == 5)
        code->new_code = item->type == MARSHAL_BYTES;
    struct tpa_error ignored; /* an error recurs when the next item is read */
    if (code->stage == 8)
        in->at += look(in, 4, &ignored);
    return code->stage < (code->new_code ? 10 : 9);
}

/* Is the innermost open container complete after ITEM? */
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
                return tpa_fail(err, now.offset, "objects nested deeper than %d", MAX_DEPTH);
            open[depth++] =
                (struct open_container){ now.type, now.type == MARSHAL_DICT ? 0 : now.count, 0, false };
            if (now.type == MARSHAL_CODE && !enter_code(in, now.offset, err))
                return false;
        }
        /* `now` is complete unless it is a container; then the containers around it may be complete as well. */
        bool complete = !opens;
        while (complete && depth > 0) {
            bool bad;
            complete = container_done(in, &open[depth - 1], &now, &bad);
            if (bad)
                return tpa_fail(err, now.offset, "the end of a dict where an object is expected");
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
