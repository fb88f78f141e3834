/* A message is 0xffffffff, the length of its metadata, the metadata as a FlatBuffer, and a body whose length is in the
 * metadata. A FlatBuffer's table begins with the distance back to its vtable, which holds the offset of each field in
 * the table; references are forward distances. Positions are checked before use; 0 means missing. */
#include "figures/facts_file.h"

#include <xxhash.h>

/* ---- FlatBuffers ---- */

struct flat {
    const unsigned char *at;
    size_t len;
    bool bad;
};

/* The number of SIZE bytes at POSITION, little-endian. */
static uint64_t number_at(struct flat *flat, size_t position, size_t size)
{
    if (position > flat->len || size > flat->len - position) {
        flat->bad = true;
        return 0;
    }
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number |= (uint64_t)flat->at[position + i] << (8 * i);
    return number;
}

/* The position of field INDEX of TABLE; 0 if missing. */
static size_t arrow_read_field_of(struct flat *flat, size_t table, size_t index)
{
    int64_t vtable = (int64_t)table - (int32_t)(uint32_t)number_at(flat, table, 4);
    if (flat->bad || vtable < 0 || (size_t)vtable >= flat->len) {
        flat->bad = true;
        return 0;
    }
    size_t slot = 4 + 2 * index;
    if (slot + 2 > number_at(flat, (size_t)vtable, 2))
        return 0;
    size_t offset = number_at(flat, (size_t)vtable + slot, 2);
    return offset && !flat->bad ? table + offset : 0;
}

static uint64_t value_of(struct flat *flat, size_t table, size_t index, size_t size, uint64_t otherwise)
{
    size_t at = arrow_read_field_of(flat, table, index);
    return at ? number_at(flat, at, size) : otherwise;
}

/* The target of the reference at POSITION; 0 if none. */
static size_t follow(struct flat *flat, size_t position)
{
    size_t distance = position ? number_at(flat, position, 4) : 0;
    if (distance > flat->len - (position < flat->len ? position : flat->len)) {
        flat->bad = true;
        return 0;
    }
    return distance && !flat->bad ? position + distance : 0;
}

/* The elements of SIZE bytes of the vector that field INDEX of TABLE refers to: stores *COUNT, and returns the position
 * of the first. */
static size_t vector_of(struct flat *flat, size_t table, size_t index, size_t size, size_t *count)
{
    size_t vector = follow(flat, arrow_read_field_of(flat, table, index));
    *count = vector ? number_at(flat, vector, 4) : 0;
    if (vector && (flat->bad || *count > (flat->len - vector - 4) / size)) {
        flat->bad = true;
        *count = 0;
    }
    return vector + 4;
}

static struct text arrow_read_text_of(struct flat *flat, size_t table, size_t index)
{
    size_t count, at = vector_of(flat, table, index, 1, &count);
    return flat->bad || at == 4 ? (struct text){ 0 } : (struct text){ (const char *)flat->at + at, count };
}

/* ---- messages ---- */

enum { MESSAGE_END, MESSAGE_SCHEMA = 1, MESSAGE_DICTIONARY = 2, MESSAGE_BATCH = 3 };
enum { NUMBER_INT = 2, NUMBER_UTF8 = 5 };

struct message {
    unsigned kind;
    struct flat flat;
    size_t header;
    const unsigned char *body;
    size_t body_len;
};

static bool damaged(struct arrow_reader *reader, struct tpa_error *err)
{
    return tpa_fail(err, reader->at, "this is not a message of an Arrow stream, or it is damaged");
}

static bool cut_short(struct arrow_reader *reader, struct tpa_error *err)
{
    tpa_fail(err, reader->at + (int64_t)reader->message.count,
             "the file ends in the middle of an Arrow message");
    return tpa_hint(err, "it was cut short; make it again");
}

/* Add MORE bytes to the current message, fewer at the end of the source. Memory grows with the bytes read, not with
 * MORE. */
static bool add_bytes(struct arrow_reader *reader, uint64_t more, struct tpa_error *err)
{
    enum { PIECE = 1 << 20 };
    int64_t got = 1;
    while (more > 0 && got > 0) {
        size_t piece = more < PIECE ? (size_t)more : PIECE;
        VEC_RESERVE(&reader->message, piece);
        got = source_read(reader->source, reader->message.at + reader->message.count, piece, err);
        if (got < 0)
            return false;
        reader->message.count += (size_t)got;
        more -= (uint64_t)got;
    }
    if (got == 0 && source_damage(reader->source))
        return tpa_fail(err, reader->at + (int64_t)reader->message.count, "%s",
                        source_damage(reader->source));
    return true;
}

/* The same; an early end of the source is an error. */
static bool need_bytes(struct arrow_reader *reader, uint64_t more, struct tpa_error *err)
{
    size_t count = reader->message.count;
    if (!add_bytes(reader, more, err))
        return false;
    return reader->message.count - count == more || cut_short(reader, err);
}

/* Read the beginning of the next message: its mark, and the length of its metadata. Also false at the end of the
 * source. */
static bool begin_message(struct arrow_reader *reader, struct tpa_error *err)
{
    if (reader->message.count > 0)
        reader->sum = XXH64(reader->message.at, reader->message.count, reader->sum);
    reader->at += (int64_t)reader->message.count;
    reader->message.count = 0;
    if (!add_bytes(reader, 8, err) || reader->message.count == 0)
        return false;
    return reader->message.count == 8 || cut_short(reader, err);
}

/* Read the rest of a message. */
static bool read_message(struct arrow_reader *reader, struct message *message, struct tpa_error *err)
{
    struct flat head = { reader->message.at, reader->message.count, false };
    uint64_t len = number_at(&head, 4, 4);
    if (number_at(&head, 0, 4) != UINT32_MAX)
        return damaged(reader, err);
    if (len == 0)
        return true;
    if (!need_bytes(reader, len, err))
        return false;
    message->flat = (struct flat){ reader->message.at + 8, (size_t)len, false };
    size_t table = (size_t)number_at(&message->flat, 0, 4);
    message->kind = (unsigned)value_of(&message->flat, table, 1, 1, 0);
    message->header = follow(&message->flat, arrow_read_field_of(&message->flat, table, 2));
    uint64_t body = value_of(&message->flat, table, 3, 8, 0);
    if (message->flat.bad || !message->header)
        return damaged(reader, err);
    if (!need_bytes(reader, body, err))
        return false;
    message->flat.at = reader->message.at + 8; /* it may have moved */
    message->body = message->flat.at + len;
    message->body_len = (size_t)body;
    return true;
}

/* ---- schema ---- */

void arrow_reader_init(struct arrow_reader *reader, struct source *source)
{
    *reader = (struct arrow_reader){ .source = source };
}

void arrow_begin_sum(struct arrow_reader *reader)
{
    reader->at += (int64_t)reader->message.count;
    reader->message.count = 0;
    reader->sum = 0;
}

void arrow_reader_release(struct arrow_reader *reader)
{
    EACH(VEC_FREE, &reader->message, &reader->fields, &reader->facts);
}

static struct arrow_read_field read_field(struct flat *flat, size_t table)
{
    struct arrow_read_field field = { arrow_read_text_of(flat, table, 0), ARROW_READ_OTHER };
    unsigned number = (unsigned)value_of(flat, table, 2, 1, 0);
    size_t type = follow(flat, arrow_read_field_of(flat, table, 3));
    if (arrow_read_field_of(flat, table, 4)) /* a dictionary */
        return field;
    if (number == NUMBER_UTF8)
        field.type = ARROW_READ_TEXT;
    if (number == NUMBER_INT && type && value_of(flat, type, 0, 4, 0) == 64 && value_of(flat, type, 1, 1, 0))
        field.type = ARROW_READ_INT64;
    return field;
}

bool arrow_read_schema(struct arrow_reader *reader, struct tpa_error *err)
{
    static const uint16_t one = 1;
    struct message message = { .kind = MESSAGE_END };
    if (!begin_message(reader, err) || !read_message(reader, &message, err))
        return false;
    if (message.kind != MESSAGE_SCHEMA)
        return damaged(reader, err);
    struct flat *flat = &message.flat;
    bool is_big = *(const uint8_t *)&one == 0;
    if ((value_of(flat, message.header, 0, 2, 0) != 0) != is_big)
        return tpa_fail(err, reader->at, "the numbers of this file are in the byte order of another machine");
    reader->fields.count = reader->facts.count = 0;
    size_t count, at = vector_of(flat, message.header, 1, 4, &count);
    for (size_t i = 0; i < count && !flat->bad; i++)
        *VEC_PUSH(&reader->fields) = read_field(flat, follow(flat, at + 4 * i));
    at = vector_of(flat, message.header, 2, 4, &count);
    for (size_t i = 0; i < count && !flat->bad; i++) {
        size_t fact = follow(flat, at + 4 * i);
        *VEC_PUSH(&reader->facts) =
            (struct arrow_read_fact){ arrow_read_text_of(flat, fact, 0), arrow_read_text_of(flat, fact, 1) };
    }
    return !flat->bad || damaged(reader, err);
}

struct text arrow_fact(const struct arrow_reader *reader, const char *key)
{
    size_t len = strlen(key);
    for (size_t i = 0; i < reader->facts.count; i++) {
        struct text is = reader->facts.at[i].key;
        if (is.at && is.len == len && memcmp(is.at, key, len) == 0)
            return reader->facts.at[i].value;
    }
    return (struct text){ 0 };
}

/* ---- batches ---- */

/* The part of the body described by the buffer at *AT, of at least LEAST bytes. NULL if invalid, or allowed to be empty
 * and empty. */
static const unsigned char *read_part(struct message *message, size_t *at, uint64_t least, size_t *len)
{
    uint64_t offset = number_at(&message->flat, *at, 8), size = number_at(&message->flat, *at + 8, 8);
    *at += 16;
    *len = (size_t)size;
    if (offset > message->body_len || size > message->body_len - offset || size < least)
        message->flat.bad = true;
    return message->flat.bad || size == 0 ? NULL : message->body + offset;
}

static int32_t offset_at(const struct arrow_read_column *column, size_t row)
{
    int32_t offset;
    memcpy(&offset, column->values + row * sizeof offset, sizeof offset);
    return offset;
}

static bool offsets_ascend(const struct arrow_read_column *column, size_t rows)
{
    int32_t before = 0;
    for (size_t row = 0; row <= rows; row++) {
        int32_t offset = offset_at(column, row);
        if (offset < before || (size_t)offset > column->text_bytes)
            return false;
        before = offset;
    }
    return true;
}

static struct arrow_read_column read_column(struct message *message, enum arrow_read_type type, size_t rows,
                                            uint64_t missing, size_t *part)
{
    struct arrow_read_column column = { .type = type };
    size_t len;
    uint64_t size = type == ARROW_READ_INT64 ? 8 * (uint64_t)rows : 4 * ((uint64_t)rows + 1);
    column.present = read_part(message, part, missing ? (rows + 7) / 8 : 0, &len);
    if (!missing)
        column.present = NULL;
    column.values = read_part(message, part, rows ? size : 0, &len);
    if (type != ARROW_READ_TEXT)
        return column;
    column.texts = (const char *)read_part(message, part, 0, &column.text_bytes);
    message->flat.bad = message->flat.bad || (rows && !offsets_ascend(&column, rows));
    if (!column.texts)
        column.texts = "";
    return column;
}

static bool read_columns(struct arrow_reader *reader, struct message *message, struct arrow_batch *batch,
                         struct tpa_error *err)
{
    struct flat *flat = &message->flat;
    uint64_t rows = value_of(flat, message->header, 0, 8, 0);
    size_t nodes, parts, wanted = 0, node = vector_of(flat, message->header, 1, 16, &nodes),
                         part = vector_of(flat, message->header, 2, 16, &parts);
    if (arrow_read_field_of(flat, message->header, 3))
        return tpa_fail(err, reader->at, "the batch is compressed, which is not read here");
    for (size_t i = 0; i < reader->fields.count; i++) {
        if (reader->fields.at[i].type == ARROW_READ_OTHER)
            return tpa_fail(err, reader->at, "column %zu is neither 64-bit integers nor texts", i + 1);
        wanted += reader->fields.at[i].type == ARROW_READ_TEXT ? 3 : 2;
    }
    if (flat->bad || nodes != reader->fields.count || parts != wanted || rows > message->body_len)
        return damaged(reader, err);
    batch->rows = (size_t)rows;
    batch->columns.count = 0;
    for (size_t i = 0; i < nodes && !flat->bad; i++) {
        uint64_t count = number_at(flat, node + 16 * i, 8), missing = number_at(flat, node + 16 * i + 8, 8);
        flat->bad = flat->bad || count != rows;
        *VEC_PUSH(&batch->columns) =
            read_column(message, reader->fields.at[i].type, batch->rows, missing, &part);
    }
    return !flat->bad || damaged(reader, err);
}

bool arrow_read_batch(struct arrow_reader *reader, struct arrow_batch *batch, struct tpa_error *err)
{
    struct message message = { .kind = MESSAGE_END };
    if (!begin_message(reader, err))
        return err->failed ? false : cut_short(reader, err);
    if (!read_message(reader, &message, err) || message.kind == MESSAGE_END)
        return false;
    return message.kind == MESSAGE_BATCH ? read_columns(reader, &message, batch, err) : damaged(reader, err);
}

static bool is_missing(const struct arrow_read_column *column, size_t row)
{
    return column->present && !(column->present[row / 8] >> (row % 8) & 1);
}

int64_t arrow_int(const struct arrow_batch *batch, size_t column, size_t row)
{
    const struct arrow_read_column *of = &batch->columns.at[column];
    int64_t value;
    if (is_missing(of, row))
        return TABLE_INT_MISSING;
    memcpy(&value, of->values + row * sizeof value, sizeof value);
    return value;
}

struct text arrow_text(const struct arrow_batch *batch, size_t column, size_t row)
{
    const struct arrow_read_column *of = &batch->columns.at[column];
    if (is_missing(of, row))
        return (struct text){ 0 };
    size_t first = (size_t)offset_at(of, row);
    return (struct text){ of->texts + first, (size_t)offset_at(of, row + 1) - first };
}
