/*
 * pickle.c - see pickle.h.
 *
 * The letters are those of CPython's Lib/pickle.py, protocols 0 to 5. Operations that are not data:
 *
 *     c GLOBAL   \x93 STACK_GLOBAL   R REDUCE   b BUILD   i INST   o OBJ   \x81 NEWOBJ   \x92 NEWOBJ_EX
 *     \x82 \x83 \x84 EXT1 EXT2 EXT4   P PERSID   Q BINPERSID   \x97 NEXT_BUFFER   \x98 READONLY_BUFFER
 *
 * The window holds the buffered bytes, with zeros after the last one of the file, so that an operation of fixed length
 * is read without checking for the end; one check afterwards shows whether the file was long enough. Texts are
 * collected in the window, which grows with the bytes read, never by a length from the file.
 */
#include "ingest/pickle.h"

#include "base/buffer.h"
#include "ingest/object_values.h"
#include "ingest/objects.h"
#include "ingest/pickle_quick.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bytes after the buffered ones that may be read; more than any operation of fixed length has. */
enum { WINDOW = 256 * 1024, SLACK = 16 };

struct pickle {
    struct source *source;
    struct objects *o;
    struct snapshot *snapshot;
    uint8_t *window;
    size_t capacity; /* without the slack */
    size_t at, end;  /* of the buffered bytes */
    int64_t before;  /* bytes of the file before the window */
    bool at_end;     /* no more bytes follow */
    bool cut;        /* an operation extended beyond the end */
    bool stopped;
    bool failed; /* reading failed, or the file is refused: see ERR */
    int protocol;
    struct tpa_error *err;
};

static int64_t offset_of(const struct pickle *in)
{
    return in->before + (int64_t)in->at;
}

/* Buffer WANTED bytes from `at` on; false if the file has fewer. */
static bool have(struct pickle *in, uint64_t wanted)
{
    while (in->end - in->at < wanted && !in->at_end) {
        if (in->at > 0) {
            memmove(in->window, in->window + in->at, in->end - in->at);
            in->before += (int64_t)in->at;
            in->end -= in->at;
            in->at = 0;
        }
        if (in->end == in->capacity) {
            in->capacity *= 2;
            in->window = mem_realloc(in->window, in->capacity + SLACK);
        }
        int64_t got = source_read(in->source, in->window + in->end, in->capacity - in->end, in->err);
        in->failed = got < 0;
        in->at_end = got < (int64_t)(in->capacity - in->end);
        in->end += got < 0 ? 0 : (size_t)got;
        memset(in->window + in->end, 0, SLACK);
    }
    return in->end - in->at >= wanted;
}

/* Read COUNT bytes, at most SLACK; beyond the end of the file they are zeros, and `cut` is set. */
static const uint8_t *pickle_take(struct pickle *in, size_t count)
{
    if (in->end - in->at < count && !have(in, count))
        in->cut = true;
    const uint8_t *bytes = in->window + in->at;
    in->at = in->end - in->at < count ? in->end : in->at + count;
    return bytes;
}

static uint64_t little_endian(const uint8_t *bytes, size_t count)
{
    uint64_t number = 0;
    for (size_t i = count; i-- > 0;)
        number = number << 8 | bytes[i];
    return number;
}

static uint64_t pickle_read_number(struct pickle *in, size_t count)
{
    return little_endian(pickle_take(in, count), count);
}

/* Read any number COUNT of bytes; NULL, with the whole file consumed, if it has fewer. */
static const char *pickle_read_text(struct pickle *in, uint64_t count)
{
    if (!have(in, count)) {
        in->cut = true;
        in->at = in->end;
        return NULL;
    }
    const char *text = (const char *)in->window + in->at;
    in->at += count;
    return text;
}

/* Read a line; *LEN excludes its end. NULL as above. */
static const char *read_line(struct pickle *in, size_t *len)
{
    size_t seen = 0;
    for (;;) {
        const uint8_t *end = memchr(in->window + in->at + seen, '\n', in->end - in->at - seen);
        if (end) {
            const char *line = (const char *)in->window + in->at;
            *len = (size_t)(end - (in->window + in->at));
            in->at += *len + 1;
            *len -= *len > 0 && line[*len - 1] == '\r';
            return line;
        }
        seen = in->end - in->at;
        if (!have(in, seen + 1)) {
            in->cut = true;
            in->at = in->end;
            return NULL;
        }
    }
}

static void push_text(struct pickle *in, uint64_t len)
{
    const char *text = pickle_read_text(in, len);
    if (text)
        objects_push_text(in->o, text, len);
}

static void pass_bytes(struct pickle *in, uint64_t len)
{
    /* Skip bytes in pieces: they are not needed, so the window need not hold them. */
    while (len > 0 && !in->cut) {
        size_t piece = len < WINDOW / 2 ? (size_t)len : WINDOW / 2;
        pickle_read_text(in, piece);
        len -= piece;
    }
    objects_push_other(in->o);
}

/* An integer of COUNT bytes, two's complement. */
static void push_long(struct pickle *in, uint64_t count)
{
    if (count > 9) {
        pass_bytes(in, count);
        return;
    }
    const uint8_t *bytes = pickle_take(in, count);
    uint64_t low = little_endian(bytes, count < 8 ? count : 8);
    bool negative = count > 0 && bytes[count - 1] & 0x80;
    if (count < 8 && negative)
        low |= ~UINT64_C(0) << 8 * count;
    if (count <= 8)
        objects_push_int(in->o, (int64_t)low);
    else if (bytes[8] == 0)
        objects_push_wide(in->o, low, false);
    else
        objects_push_other(in->o);
}

/* Big endian, of 64 bits. */
static void push_double(struct pickle *in)
{
    const uint8_t *bytes = pickle_take(in, 8);
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    double number;
    memcpy(&number, &bits, sizeof number);
    objects_push_number(in->o, number);
}

/* ---- protocol 0: lines of text ---- */

static void push_integer_line(struct pickle *in)
{
    size_t len;
    const char *line = read_line(in, &len);
    if (!line)
        return;
    len -= len > 0 && line[len - 1] == 'L';
    bool negative = len > 0 && line[0] == '-';
    uint64_t number = 0;
    bool fits = len > negative && len < 24;
    if (len == 2 && line[0] == '0' && (line[1] == '0' || line[1] == '1')) {
        objects_push_bool(in->o, line[1] == '1');
        return;
    }
    for (size_t i = negative; i < len && fits; i++)
        fits = isdigit((unsigned char)line[i]) && !__builtin_mul_overflow(number, UINT64_C(10), &number) &&
               !__builtin_add_overflow(number, (uint64_t)(line[i] - '0'), &number);
    if (!fits)
        objects_push_other(in->o);
    else if (number <= INT64_MAX)
        objects_push_int(in->o, negative ? -(int64_t)number : (int64_t)number);
    else
        objects_push_wide(in->o, number, negative);
}

static void push_double_line(struct pickle *in)
{
    size_t len;
    const char *line = read_line(in, &len);
    char copy[64];
    if (!line)
        return;
    len = len < sizeof copy - 1 ? len : sizeof copy - 1;
    memcpy(copy, line, len);
    copy[len] = '\0';
    objects_push_number(in->o, strtod(copy, NULL));
}

static void pickle_add_utf8(struct buffer *out, uint32_t c)
{
    if (c < 0x80) {
        buffer_putc(out, (char)c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t first[] = { 0, 0xc0, 0xe0, 0xf0 };
    buffer_putc(out, (char)(first[more] | c >> 6 * more));
    while (more-- > 0)
        buffer_putc(out, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

/* COUNT hexadecimal digits at AT, which ends at END. */
static bool hex_digits(const char *at, const char *end, int count, uint32_t *number)
{
    *number = 0;
    if (end - at < count)
        return false;
    for (int i = 0; i < count; i++) {
        if (!isxdigit((unsigned char)at[i]))
            return false;
        char c = (char)tolower((unsigned char)at[i]);
        *number = *number << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

/* V: Latin-1 in which \uXXXX and \UXXXXXXXX stand for others. */
static void push_unicode_line(struct pickle *in)
{
    size_t len;
    const char *line = read_line(in, &len);
    if (!line)
        return;
    struct buffer text = { 0 };
    for (const char *at = line, *end = line + len; at < end; at++) {
        uint32_t c = (uint8_t)*at;
        int digits = c != '\\' || at + 1 == end ? 0 : at[1] == 'u' ? 4 : at[1] == 'U' ? 8 : 0;
        uint32_t escaped;
        if (digits && hex_digits(at + 2, end, digits, &escaped) && escaped < 0x110000) {
            c = escaped;
            at += 1 + digits;
        }
        pickle_add_utf8(&text, c);
    }
    objects_push_text(in->o, text.at ? text.at : "", text.count);
    buffer_release(&text);
}

/* The character that a backslash and C stand for. */
static char escaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

/* S: the repr of a Python 2 string. */
static void push_quoted_line(struct pickle *in)
{
    size_t len;
    const char *line = read_line(in, &len);
    if (!line)
        return;
    struct buffer text = { 0 };
    bool quoted = len >= 2 && (*line == '\'' || *line == '"') && line[len - 1] == *line;
    for (const char *at = line + quoted, *end = line + len - quoted; at < end; at++) {
        uint32_t number;
        if (*at != '\\' || at + 1 == end) {
            buffer_putc(&text, *at);
        } else if (*++at == 'x' && hex_digits(at + 1, end, 2, &number)) {
            buffer_putc(&text, (char)number);
            at += 2;
        } else {
            buffer_putc(&text, escaped(*at));
        }
    }
    objects_push_text(in->o, text.at ? text.at : "", text.count);
    buffer_release(&text);
}

/* Parse the number of an object in the memo. */
static bool read_memo_line(struct pickle *in, uint64_t *number, struct tpa_error *err)
{
    size_t len;
    const char *line = read_line(in, &len);
    *number = 0;
    if (!line)
        return true;
    bool good = len > 0 && len < 11;
    for (size_t i = 0; i < len && good; i++) {
        good = isdigit((unsigned char)line[i]);
        *number = *number * 10 + (uint64_t)(line[i] - '0');
    }
    return good || tpa_fail(err, TPA_NOWHERE, "the number of an object in the memo is not valid");
}

/* ---- refused operations ---- */

static const char *code_operation(uint8_t op)
{
    switch (op) {
    case 'c': return "GLOBAL";
    case 0x93: return "STACK_GLOBAL";
    case 'R': return "REDUCE";
    case 'b': return "BUILD";
    case 'i': return "INST";
    case 'o': return "OBJ";
    case 0x81: return "NEWOBJ";
    case 0x92: return "NEWOBJ_EX";
    case 0x82: return "EXT1";
    case 0x83: return "EXT2";
    case 0x84: return "EXT4";
    case 'P': return "PERSID";
    case 'Q': return "BINPERSID";
    case 0x97: return "NEXT_BUFFER";
    case 0x98: return "READONLY_BUFFER";
    default: return NULL;
    }
}

static void refuse(struct pickle *in, uint8_t op, int64_t offset)
{
    in->failed = true;
    if (op == 'c' || op == 'i') {
        size_t len, len2;
        char module[48] = "", name[48] = "";
        const char *line = read_line(in, &len);
        if (line)
            snprintf(module, sizeof module, "%.*s", (int)(len < 47 ? len : 47), line);
        line = read_line(in, &len2);
        if (line)
            snprintf(name, sizeof name, "%.*s", (int)(len2 < 47 ? len2 : 47), line);
        tpa_fail(in->err, offset,
                 "this pickle asks to run code (%s %s.%s), which a memory snapshot never does: refused",
                 code_operation(op), module, name);
    } else {
        tpa_fail(in->err, offset,
                 "this pickle asks to run code (%s), which a memory snapshot never does: refused",
                 code_operation(op));
    }
    tpa_hint(in->err,
             "nothing of it was run; where it should be a snapshot, do not load it into Python either");
}

/* ---- the machine ---- */

/*
 * The most common operations, with all of their bytes buffered: dicts that are records, references, and small numbers.
 * False if OP is another; nothing was done.
 */
static inline bool quick_step(struct pickle *in, uint8_t op)
{
    const uint8_t *at = in->window + in->at;
    switch (op) {
    case '}':
        at = pickle_quick_records(in->o, at, in->window + in->end);
        if (!at)
            return false;
        in->at = (size_t)(at - in->window);
        return true;
    case 'h':
        if (!objects_quick_get(in->o, *at))
            return false;
        in->at++;
        return true;
    case 'j':
        if (!objects_quick_get(in->o, (uint32_t)little_endian(at, 4)))
            return false;
        in->at += 4;
        return true;
    case 'K':
        objects_quick_int(in->o, *at);
        in->at++;
        return true;
    case 'M':
        objects_quick_int(in->o, (int64_t)little_endian(at, 2));
        in->at += 2;
        return true;
    case 'J':
        objects_quick_int(in->o, (int32_t)(uint32_t)little_endian(at, 4));
        in->at += 4;
        return true;
    case 0x8a: /* LONG1 of up to seven bytes: addresses, times */
        if (*at == 0 || *at > 7)
            return false;
        objects_quick_int(in->o, (int64_t)(little_endian(at + 1, 8) << (64 - 8 * *at)) >> (64 - 8 * *at));
        in->at += 1 + (size_t)*at;
        return true;
    default: return false;
    }
}

/* Execute OP, whose letter was consumed. False and ERR, without an offset, if it is invalid. */
static bool step(struct pickle *in, uint8_t op, struct tpa_error *err)
{
    struct objects *o = in->o;
    uint64_t number;
    switch (op) {
    case 0x80: /* PROTO */
        in->protocol = (int)pickle_read_number(in, 1);
        return in->protocol <= 5 ||
               tpa_fail(err, TPA_NOWHERE, "pickle protocol %d is not known; 0 to 5 are", in->protocol);
    case 0x95: pickle_take(in, 8); return true;                      /* FRAME */
    case '.': in->stopped = true; return true;                       /* STOP */
    case '(': objects_mark(o); return true;                          /* MARK */
    case '0': return objects_pop(o, err);                            /* POP */
    case '1': return objects_pop_marked(o, err);                     /* POP_MARK */
    case '2': return objects_duplicate(o, err);                      /* DUP */
    case '}': objects_push_dict(o); return true;                     /* EMPTY_DICT */
    case ']': objects_push_list(o); return true;                     /* EMPTY_LIST */
    case 0x8f: objects_push_list(o); return true;                    /* EMPTY_SET */
    case ')': return objects_make_tuple(o, 0, err);                  /* EMPTY_TUPLE */
    case 0x85: return objects_make_tuple(o, 1, err);                 /* TUPLE1 */
    case 0x86: return objects_make_tuple(o, 2, err);                 /* TUPLE2 */
    case 0x87: return objects_make_tuple(o, 3, err);                 /* TUPLE3 */
    case 't':                                                        /* TUPLE */
    case 'l':                                                        /* LIST */
    case 0x91: return objects_make_marked(o, false, err);            /* FROZENSET */
    case 'd': return objects_make_marked(o, true, err);              /* DICT */
    case 's': return objects_set_item(o, err);                       /* SETITEM */
    case 'u': return objects_set_items(o, err);                      /* SETITEMS */
    case 'a': return objects_append(o, err);                         /* APPEND */
    case 'e':                                                        /* APPENDS */
    case 0x90: return objects_append_marked(o, err);                 /* ADDITEMS */
    case 'h': return objects_get(o, pickle_read_number(in, 1), err); /* BINGET */
    case 'j': return objects_get(o, pickle_read_number(in, 4), err); /* LONG_BINGET */
    case 'g': return read_memo_line(in, &number, err) && (in->cut || objects_get(o, number, err)); /* GET */
    case 'p':                                                                                      /* PUT */
        return read_memo_line(in, &number, err) && (in->cut || objects_add(o, number, offset_of(in), err));
    case 'q':
        number = pickle_read_number(in, 1);
        return objects_add(o, number, offset_of(in), err); /* BINPUT */
    case 'r':
        number = pickle_read_number(in, 4);
        return objects_add(o, number, offset_of(in), err);                          /* LONG_BINPUT */
    case 0x94: return objects_add_next(o, err);                                     /* MEMOIZE */
    case 'N': objects_push_none(o); return true;                                    /* NONE */
    case 0x88: objects_push_bool(o, true); return true;                             /* NEWTRUE */
    case 0x89: objects_push_bool(o, false); return true;                            /* NEWFALSE */
    case 'K': objects_push_int(o, (int64_t)pickle_read_number(in, 1)); return true; /* BININT1 */
    case 'M': objects_push_int(o, (int64_t)pickle_read_number(in, 2)); return true; /* BININT2 */
    case 'J': objects_push_int(o, (int32_t)(uint32_t)pickle_read_number(in, 4)); return true; /* BININT */
    case 0x8a: push_long(in, pickle_read_number(in, 1)); return true;                         /* LONG1 */
    case 0x8b: push_long(in, pickle_read_number(in, 4)); return true;                         /* LONG4 */
    case 'G': push_double(in); return true;                                                   /* BINFLOAT */
    case 'I':                                                                                 /* INT */
    case 'L': push_integer_line(in); return true;                                             /* LONG */
    case 'F': push_double_line(in); return true;                                              /* FLOAT */
    case 0x8c:                                                         /* SHORT_BINUNICODE */
    case 'U': push_text(in, pickle_read_number(in, 1)); return true;   /* SHORT_BINSTRING */
    case 'X':                                                          /* BINUNICODE */
    case 'T': push_text(in, pickle_read_number(in, 4)); return true;   /* BINSTRING */
    case 0x8d: push_text(in, pickle_read_number(in, 8)); return true;  /* BINUNICODE8 */
    case 'V': push_unicode_line(in); return true;                      /* UNICODE */
    case 'S': push_quoted_line(in); return true;                       /* STRING */
    case 'C': pass_bytes(in, pickle_read_number(in, 1)); return true;  /* SHORT_BINBYTES */
    case 'B': pass_bytes(in, pickle_read_number(in, 4)); return true;  /* BINBYTES */
    case 0x8e:                                                         /* BINBYTES8 */
    case 0x96: pass_bytes(in, pickle_read_number(in, 8)); return true; /* BYTEARRAY8 */
    default:
        if (!code_operation(op))
            return tpa_fail(err, TPA_NOWHERE, "byte 0x%02x is not an operation of a pickle", op);
        refuse(in, op, offset_of(in) - 1);
        return false;
    }
}

static void describe_damage(struct pickle *in, const char *what, int64_t offset)
{
    struct snapshot *snapshot = in->snapshot;
    snapshot_lacks(
        snapshot, LACK_DAMAGED,
        arena_printf(&snapshot->arena, "the snapshot is damaged, and what comes before is shown: %s", what),
        1, offset);
    objects_close_cut(in->o);
}

/* The file ends before the pickle does. */
static void describe_cut(struct pickle *in)
{
    struct snapshot *snapshot = in->snapshot;
    const char *damage = source_damage(in->source);
    snapshot_lacks(snapshot, LACK_CUT_SHORT,
                   arena_printf(&snapshot->arena,
                                "the snapshot ends in the middle; what comes before is shown%s%s",
                                damage ? ": " : "", damage ? damage : ""),
                   1, offset_of(in));
    objects_close_cut(in->o);
}

/* Check bytes after the end: up to three zero bytes are normal, anything else is reported. */
static void look_behind(struct pickle *in)
{
    uint64_t rest = 0;
    bool zeros = true;
    int64_t offset = offset_of(in);
    while (have(in, 1)) {
        for (size_t i = in->at; i < in->end && zeros; i++)
            zeros = in->window[i] == 0;
        rest += in->end - in->at;
        in->at = in->end;
    }
    if (rest > 3 || !zeros)
        snapshot_notice(in->snapshot, "bytes_behind",
                        "bytes follow the end of the snapshot, and were not read", rest, offset);
}

static void run(struct pickle *in)
{
    struct tpa_error odd = { 0 }; /* large, so it is cleared once: a step writes it only on failure */
    while (!in->stopped && !in->failed && !in->cut) {
        if (in->end - in->at < SLACK)
            have(in, SLACK);
        if (in->at == in->end)
            break;
        int64_t offset = offset_of(in);
        uint8_t op = in->window[in->at++];
        if (in->end - in->at >= SLACK && quick_step(in, op))
            continue;
        if (!step(in, op, &odd) && !in->cut && !in->failed) {
            describe_damage(in, odd.message, offset);
            return;
        }
    }
    if (in->failed)
        return;
    if (!in->stopped)
        describe_cut(in);
    else if (objects_depth(in->o) != 1)
        describe_damage(in, "it ends with more or less than one object", offset_of(in));
    else
        look_behind(in);
}

bool pickle_read(struct source *source, struct objects *o, struct snapshot *snapshot, struct tpa_error *err)
{
    struct pickle in = {
        .source = source,
        .o = o,
        .snapshot = snapshot,
        .window = mem_alloc(WINDOW + SLACK),
        .capacity = WINDOW,
        .err = err,
    };
    memset(in.window, 0, SLACK);
    run(&in);
    snapshot->bytes = offset_of(&in);
    snapshot->form = arena_printf(&snapshot->arena, "pickle, protocol %d", in.protocol);
    free(in.window);
    return !in.failed;
}

int pickle_sniff(const char *bytes, size_t len)
{
    if (len >= 3 && (uint8_t)bytes[0] == 0x80 && (uint8_t)bytes[1] <= 5 && bytes[1] >= 2)
        return 80;
    /* Protocols 0 and 1 begin with the object they build: a dict or a list, which is put in the memo. */
    if (len >= 4 && bytes[0] == '(' && (bytes[1] == 'd' || bytes[1] == 'l') && bytes[2] == 'p')
        return 60;
    if (len >= 3 && (bytes[0] == '}' || bytes[0] == ']') && bytes[1] == 'q')
        return 60;
    return 0;
}
