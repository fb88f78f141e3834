/*
 * wire.h - the wire format of protocol buffers: fields of a message, one after the other, without a schema.
 *
 *     struct wire in = wire_over(bytes, len);
 *     struct wire_field field;
 *     while (wire_next(&in, &field))
 *         if (field.number == 2 && field.type == WIRE_BYTES)
 *             name = field.bytes, name_len = field.len;
 *     if (in.damaged)   // at IN.AT
 *
 * A nested message is a field of bytes: wire_in() reads it. Nothing is copied and there is no recursion, so that
 * invalid lengths and deep nesting are harmless. Definition: protobuf.dev/programming-guides/encoding.
 */
#ifndef TPA_INGEST_WIRE_H
#define TPA_INGEST_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_GROUP = 3,     /* begins a group: wire_skip_group skips it; groups are obsolete */
    WIRE_GROUP_END = 4, /* never returned */
    WIRE_FIXED32 = 5,
};

struct wire {
    const uint8_t *at, *end;
    bool damaged;
};

struct wire_field {
    uint32_t number;
    uint8_t type;         /* enum wire_type */
    uint64_t value;       /* of varints and fixed ones; for bytes, their length */
    const uint8_t *bytes; /* of WIRE_BYTES; borrowed */
};

/* The message of LEN bytes at BYTES, which are borrowed. */
static inline struct wire wire_over(const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    return (struct wire){ at, len ? at + len : at, false };
}

/* The message in FIELD, which is of type WIRE_BYTES. */
static inline struct wire wire_in(const struct wire_field *field)
{
    return wire_over(field->bytes, (size_t)field->value);
}

/* The varint at *AT, of which and of what follows 8 bytes can be read; *AT moves behind it. False: it takes
 * more than 8 bytes. */
static inline bool wire_quick_varint(const uint8_t **at, uint64_t *value)
{
    const uint64_t tops = UINT64_C(0x8080808080808080);
    uint64_t bytes;
    memcpy(&bytes, *at, sizeof bytes);
    bytes = le64toh(bytes);
    if (!(bytes & 0x80)) {
        *value = bytes & 0x7f;
        *at += 1;
        return true;
    }
    if (!(bytes & 0x8000)) {
        *value = (bytes & 0x7f) | (bytes & 0x7f00) >> 1;
        *at += 2;
        return true;
    }
    uint64_t last = ~bytes & tops & -(~bytes & tops); /* the top bit of its last byte */
    if (!last)
        return false;
    *at += __builtin_ctzll(last) / 8 + 1;
    bytes &= (last | (last - 1)) & ~tops; /* put the 7 bits of each byte together */
    bytes = (bytes & UINT64_C(0x007f007f007f007f)) | (bytes & UINT64_C(0x7f007f007f007f00)) >> 1;
    bytes = (bytes & UINT64_C(0x00003fff00003fff)) | (bytes & UINT64_C(0x3fff00003fff0000)) >> 2;
    *value = (bytes & UINT64_C(0x000000000fffffff)) | (bytes & UINT64_C(0x0fffffff00000000)) >> 4;
    return true;
}

/* A varint of more than one byte, or at the end of the input. */
bool wire_long_varint(struct wire *in, uint64_t *value);

/* Read a varint of at most 10 bytes, padded or not. False, with IN damaged, if it is longer or cut. */
static inline bool wire_varint(struct wire *in, uint64_t *value)
{
    if (in->at < in->end && *in->at < 0x80) {
        *value = *in->at++;
        return true;
    }
    return wire_long_varint(in, value);
}

/* Read what follows the tag of FIELD, whose type is not a varint. */
bool wire_other_value(struct wire *in, struct wire_field *field);

/* Read the next field. False at the end, and at damage: a cut value, a type that does not exist, field number 0. */
static inline bool wire_next(struct wire *in, struct wire_field *field)
{
    if (in->at == in->end || in->damaged)
        return false;
    const uint8_t *start = in->at;
    uint64_t tag;
    if (!wire_varint(in, &tag))
        return false;
    field->bytes = NULL;
    field->number = (uint32_t)(tag >> 3);
    field->type = (uint8_t)(tag & 7);
    if (tag >> 3 == 0 || tag >> 32) {
        in->damaged = true;
        in->at = start;
        return false;
    }
    if (field->type == WIRE_BYTES && in->at < in->end && *in->at < 0x80 && *in->at < in->end - in->at) {
        field->value = *in->at++; /* most are short */
        field->bytes = in->at;
        in->at += field->value;
        return true;
    }
    bool fine = field->type == WIRE_VARINT ? wire_varint(in, &field->value) : wire_other_value(in, field);
    if (!fine) {
        in->damaged = true;
        in->at = start;
    }
    return fine;
}

/* After damage: the truncated field of bytes at the end of IN; FIELD->value is the number of available bytes, *LEN its
 * length by its tag. IN is then at its end. False for other damage. */
bool wire_cut(struct wire *in, struct wire_field *field, uint64_t *len);

/* Skip the group whose beginning was read last as field NUMBER, at any depth. False if it is damaged. */
bool wire_skip_group(struct wire *in, uint32_t number);

/* The double with the bits of a fixed 64-bit field. */
static inline double wire_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Has FIELD this number and type? */
static inline bool wire_is(const struct wire_field *field, uint32_t number, enum wire_type type)
{
    return field->number == number && field->type == type;
}

/* Text in a message: no NUL at its end. AT is NULL, or LEN 0, if there is none. */
struct wire_text {
    const char *at;
    size_t len;
};

/* The text of FIELD, of type WIRE_BYTES; borrowed from the message. */
static inline struct wire_text wire_text_of(const struct wire_field *field)
{
    return (struct wire_text){ (const char *)field->bytes, (size_t)field->value };
}

/* Is TEXT equal to WORD, does it begin with WORD, or end with it? These three functions. */
static inline bool wire_text_is(struct wire_text text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

static inline bool wire_text_begins(struct wire_text text, const char *word)
{
    return text.len >= strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}

static inline bool wire_text_ends(struct wire_text text, const char *word)
{
    size_t len = strlen(word);
    return text.len >= len && memcmp(text.at + text.len - len, word, len) == 0;
}

#endif
