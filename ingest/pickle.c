/*
 * The letters are those of CPython's Lib/pickle.py, protocols 0 to 5. Operations that are not data:
 *
 *     c GLOBAL   \x93 STACK_GLOBAL   R REDUCE   b BUILD   i INST   o OBJ   \x81 NEWOBJ   \x92 NEWOBJ_EX
 *     \x82 \x83 \x84 EXT1 EXT2 EXT4   P PERSID   Q BINPERSID   \x97 NEXT_BUFFER   \x98 READONLY_BUFFER
 *
 * The window holds the buffered bytes, with zeros after the last one of the file, so that an operation of fixed length
 * is read without checking for the end; one check afterwards shows whether the file was long enough. Texts are
 * collected in the window, which grows with the bytes read, never by a length from the file.
 */
#include "ingest/object_readers.h"

#include <ctype.h>

enum { WINDOW = 256 * 1024, SLACK = PICKLE_SLACK };

void pickle_begin(struct pickle *in, struct source *source, const char *what, struct tpa_error *err)
{
    uint8_t *window = in->window ? in->window : mem_alloc(WINDOW + SLACK);
    *in = (struct pickle){
        .source = source,
        .what = what,
        .window = window,
        .capacity = in->window ? in->capacity : WINDOW,
        .text = in->text,
        .err = err,
    };
    memset(window, 0, SLACK);
}

void pickle_release(struct pickle *in)
{
    free(in->window);
    buffer_release(&in->text);
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

bool pickle_fill(struct pickle *in)
{
    if (in->end - in->at < SLACK)
        have(in, SLACK);
    return in->at < in->end;
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

static void read_text_step(struct pickle *in, uint64_t len, struct pickle_step *step)
{
    const char *text = pickle_read_text(in, len);
    if (text)
        *step = (struct pickle_step){ PICKLE_TEXT, .text = text, .len = len };
}

static void read_bytes(struct pickle *in, uint64_t len, struct pickle_step *step)
{
    /* Skip bytes in pieces: they are not needed, so the window need not hold them. */
    while (len > 0 && !in->cut) {
        size_t piece = len < WINDOW / 2 ? (size_t)len : WINDOW / 2;
        pickle_read_text(in, piece);
        len -= piece;
    }
    step->kind = PICKLE_OTHER;
}

/* An integer of COUNT bytes, two's complement. */
static void pickle_read_long(struct pickle *in, uint64_t count, struct pickle_step *step)
{
    if (count > 9) {
        read_bytes(in, count, step);
        return;
    }
    const uint8_t *bytes = pickle_take(in, count);
    uint64_t low = little_endian(bytes, count < 8 ? count : 8);
    bool negative = count > 0 && bytes[count - 1] & 0x80;
    if (count < 8 && negative)
        low |= ~UINT64_C(0) << 8 * count;
    if (count <= 8)
        *step = (struct pickle_step){ PICKLE_INT, .integer = (int64_t)low };
    else if (bytes[8] == 0)
        *step = (struct pickle_step){ PICKLE_WIDE, .magnitude = low };
    else
        step->kind = PICKLE_OTHER;
}

/* Big endian, of 64 bits. */
static void pickle_read_double(struct pickle *in, struct pickle_step *step)
{
    const uint8_t *bytes = pickle_take(in, 8);
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    double number;
    memcpy(&number, &bits, sizeof number);
    *step = (struct pickle_step){ PICKLE_NUMBER, .number = number };
}

/* ---- protocol 0: lines of text ---- */

static void read_integer_line(struct pickle *in, struct pickle_step *step)
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
        *step = (struct pickle_step){ PICKLE_BOOL, .flag = line[1] == '1' };
        return;
    }
    for (size_t i = negative; i < len && fits; i++)
        fits = isdigit((unsigned char)line[i]) && !__builtin_mul_overflow(number, UINT64_C(10), &number) &&
               !__builtin_add_overflow(number, (uint64_t)(line[i] - '0'), &number);
    if (!fits)
        step->kind = PICKLE_OTHER;
    else if (number <= INT64_MAX)
        *step = (struct pickle_step){ PICKLE_INT, .integer = negative ? -(int64_t)number : (int64_t)number };
    else
        *step = (struct pickle_step){ PICKLE_WIDE, .magnitude = number, .flag = negative };
}

static void read_double_line(struct pickle *in, struct pickle_step *step)
{
    size_t len;
    const char *line = read_line(in, &len);
    char copy[64];
    if (!line)
        return;
    len = len < sizeof copy - 1 ? len : sizeof copy - 1;
    memcpy(copy, line, len);
    copy[len] = '\0';
    *step = (struct pickle_step){ PICKLE_NUMBER, .number = strtod(copy, NULL) };
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
static void read_unicode_line(struct pickle *in, struct pickle_step *step)
{
    size_t len;
    const char *line = read_line(in, &len);
    if (!line)
        return;
    struct buffer *text = &in->text;
    buffer_clear(text);
    for (const char *at = line, *end = line + len; at < end; at++) {
        uint32_t c = (uint8_t)*at;
        int digits = c != '\\' || at + 1 == end ? 0 : at[1] == 'u' ? 4 : at[1] == 'U' ? 8 : 0;
        uint32_t escaped;
        if (digits && hex_digits(at + 2, end, digits, &escaped) && escaped < 0x110000) {
            c = escaped;
            at += 1 + digits;
        }
        pickle_add_utf8(text, c);
    }
    *step = (struct pickle_step){ PICKLE_TEXT, .text = text->at ? text->at : "", .len = text->count };
}

/* The character that a backslash and C stand for. */
static char escaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

/* S: the repr of a Python 2 string. */
static void read_quoted_line(struct pickle *in, struct pickle_step *step)
{
    size_t len;
    const char *line = read_line(in, &len);
    if (!line)
        return;
    struct buffer *text = &in->text;
    buffer_clear(text);
    bool quoted = len >= 2 && (*line == '\'' || *line == '"') && line[len - 1] == *line;
    for (const char *at = line + quoted, *end = line + len - quoted; at < end; at++) {
        uint32_t number;
        if (*at != '\\' || at + 1 == end) {
            buffer_putc(text, *at);
        } else if (*++at == 'x' && hex_digits(at + 1, end, 2, &number)) {
            buffer_putc(text, (char)number);
            at += 2;
        } else {
            buffer_putc(text, escaped(*at));
        }
    }
    *step = (struct pickle_step){ PICKLE_TEXT, .text = text->at ? text->at : "", .len = text->count };
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
        tpa_fail(in->err, offset, "this pickle asks to run code (%s %s.%s), which %s never does: refused",
                 code_operation(op), module, name, in->what);
    } else {
        tpa_fail(in->err, offset, "this pickle asks to run code (%s), which %s never does: refused",
                 code_operation(op), in->what);
    }
    tpa_hint(in->err, "nothing of it was run; where it should be %s, do not load it into Python either",
             in->what);
}

/* ---- operations ---- */

/* Read operation OP, whose letter was consumed. False and ERR, without an offset, if it is invalid. */
static bool read_operation(struct pickle *in, uint8_t op, struct pickle_step *step, struct tpa_error *err)
{
    step->kind = PICKLE_NOTHING;
    switch (op) {
    case 0x80: /* PROTO */
        in->protocol = (int)pickle_read_number(in, 1);
        return in->protocol <= 5 ||
               tpa_fail(err, TPA_NOWHERE, "pickle protocol %d is not known; 0 to 5 are", in->protocol);
    case 0x95: pickle_take(in, 8); return true;             /* FRAME */
    case '.': in->stopped = true; return true;              /* STOP */
    case '(': step->kind = PICKLE_MARK; return true;        /* MARK */
    case '0': step->kind = PICKLE_POP; return true;         /* POP */
    case '1': step->kind = PICKLE_POP_MARK; return true;    /* POP_MARK */
    case '2': step->kind = PICKLE_DUPLICATE; return true;   /* DUP */
    case '}': step->kind = PICKLE_EMPTY_DICT; return true;  /* EMPTY_DICT */
    case ']':                                               /* EMPTY_LIST */
    case 0x8f: step->kind = PICKLE_EMPTY_LIST; return true; /* EMPTY_SET */
    case ')':                                               /* EMPTY_TUPLE */
    case 0x85:                                              /* TUPLE1 */
    case 0x86:                                              /* TUPLE2 */
    case 0x87:                                              /* TUPLE3 */
        *step = (struct pickle_step){ PICKLE_TUPLE, .magnitude = op == ')' ? 0 : op - 0x84 };
        return true;
    case 't':                                                  /* TUPLE */
    case 'l':                                                  /* LIST */
    case 0x91: step->kind = PICKLE_MARKED_LIST; return true;   /* FROZENSET */
    case 'd': step->kind = PICKLE_MARKED_DICT; return true;    /* DICT */
    case 's': step->kind = PICKLE_SET_ITEM; return true;       /* SETITEM */
    case 'u': step->kind = PICKLE_SET_ITEMS; return true;      /* SETITEMS */
    case 'a': step->kind = PICKLE_APPEND; return true;         /* APPEND */
    case 'e':                                                  /* APPENDS */
    case 0x90: step->kind = PICKLE_APPEND_MARKED; return true; /* ADDITEMS */
    case 'h':                                                  /* BINGET */
        *step = (struct pickle_step){ PICKLE_GET, .magnitude = pickle_read_number(in, 1) };
        return true;
    case 'j': /* LONG_BINGET */
        *step = (struct pickle_step){ PICKLE_GET, .magnitude = pickle_read_number(in, 4) };
        return true;
    case 'g': /* GET */ step->kind = PICKLE_GET; return read_memo_line(in, &step->magnitude, err);
    case 'p': /* PUT */ step->kind = PICKLE_PUT; return read_memo_line(in, &step->magnitude, err);
    case 'q': /* BINPUT */
        *step = (struct pickle_step){ PICKLE_PUT, .magnitude = pickle_read_number(in, 1) };
        return true;
    case 'r': /* LONG_BINPUT */
        *step = (struct pickle_step){ PICKLE_PUT, .magnitude = pickle_read_number(in, 4) };
        return true;
    case 0x94: step->kind = PICKLE_PUT_NEXT; return true; /* MEMOIZE */
    case 'N': step->kind = PICKLE_NONE; return true;      /* NONE */
    case 0x88:                                            /* NEWTRUE */
    case 0x89: /* NEWFALSE */ *step = (struct pickle_step){ PICKLE_BOOL, .flag = op == 0x88 }; return true;
    case 'K': /* BININT1 */
        *step = (struct pickle_step){ PICKLE_INT, .integer = (int64_t)pickle_read_number(in, 1) };
        return true;
    case 'M': /* BININT2 */
        *step = (struct pickle_step){ PICKLE_INT, .integer = (int64_t)pickle_read_number(in, 2) };
        return true;
    case 'J': /* BININT */
        *step = (struct pickle_step){ PICKLE_INT, .integer = (int32_t)(uint32_t)pickle_read_number(in, 4) };
        return true;
    case 0x8a: pickle_read_long(in, pickle_read_number(in, 1), step); return true; /* LONG1 */
    case 0x8b: pickle_read_long(in, pickle_read_number(in, 4), step); return true; /* LONG4 */
    case 'G': pickle_read_double(in, step); return true;                           /* BINFLOAT */
    case 'I':                                                                      /* INT */
    case 'L': read_integer_line(in, step); return true;                            /* LONG */
    case 'F': read_double_line(in, step); return true;                             /* FLOAT */
    case 0x8c:                                                                     /* SHORT_BINUNICODE */
    case 'U': read_text_step(in, pickle_read_number(in, 1), step); return true;    /* SHORT_BINSTRING */
    case 'X':                                                                      /* BINUNICODE */
    case 'T': read_text_step(in, pickle_read_number(in, 4), step); return true;    /* BINSTRING */
    case 0x8d: read_text_step(in, pickle_read_number(in, 8), step); return true;   /* BINUNICODE8 */
    case 'V': read_unicode_line(in, step); return true;                            /* UNICODE */
    case 'S': read_quoted_line(in, step); return true;                             /* STRING */
    case 'C': read_bytes(in, pickle_read_number(in, 1), step); return true;        /* SHORT_BINBYTES */
    case 'B': read_bytes(in, pickle_read_number(in, 4), step); return true;        /* BINBYTES */
    case 0x8e:                                                                     /* BINBYTES8 */
    case 0x96: read_bytes(in, pickle_read_number(in, 8), step); return true;       /* BYTEARRAY8 */
    default:
        if (!code_operation(op))
            return tpa_fail(err, TPA_NOWHERE, "byte 0x%02x is not an operation of a pickle", op);
        refuse(in, op, pickle_offset(in) - 1);
        return false;
    }
}

bool pickle_next(struct pickle *in, struct pickle_step *step, struct tpa_error *err)
{
    bool good = read_operation(in, in->window[in->at++], step, err);
    if (in->cut)
        step->kind = PICKLE_NOTHING;
    return good;
}

uint64_t pickle_pass_rest(struct pickle *in, bool *zeros)
{
    uint64_t rest = 0;
    *zeros = true;
    while (have(in, 1)) {
        for (size_t i = in->at; i < in->end && *zeros; i++)
            *zeros = in->window[i] == 0;
        rest += in->end - in->at;
        in->at = in->end;
    }
    return rest;
}

int pickle_sniff(const char *bytes, size_t len)
{
    if (len >= 3 && (uint8_t)bytes[0] == 0x80 && (uint8_t)bytes[1] <= 5 && bytes[1] >= 2)
        return 80;
    /* Protocols 0 and 1 begin with the object they build: a dict or a list, which is put in the memo. */
    if (len >= 4 && bytes[0] == '(' && (bytes[1] == 'd' || bytes[1] == 'l') && bytes[2] == 'p')
        return 60;
    return len >= 3 && (bytes[0] == '}' || bytes[0] == ']') && bytes[1] == 'q' ? 60 : 0;
}
