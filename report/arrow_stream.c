/*
 * A message is a length, its metadata as a FlatBuffer (format/Schema.fbs and format/Message.fbs of Arrow) and its body, the
 * values. FlatBuffers are written front to back here: a table comes before what it refers to, and its references are filled
 * in when those have got their places. That is all that writing takes; nothing here reads any.
 *
 * Numbers are written as this machine has them; the schema says in which order their bytes are.
 */
#include "report/arrow_stream.h"

#include "base/unicode.h"
#include <assert.h>

void arrow_add_utf8(struct buffer *out, const char *text, size_t len)
{
    uint32_t character;
    for (size_t i = 0; i < len;) {
        size_t run = i;
        while (run < len && (unsigned char)text[run] < 0x80)
            run++;
        if (run > i)
            buffer_add(out, text + i, run - i);
        if ((i = run) == len)
            return;
        size_t size = utf8_decode(text + i, len - i, &character);
        if (character == UTF8_INVALID)
            buffer_puts(out, "\xef\xbf\xbd"); /* U+FFFD */
        else
            buffer_add(out, text + i, size);
        i += size;
    }
}

/* ---- FlatBuffers ---- */

/* A field of a table, in the order of the schema; SIZE 0: left out. AT is where its value came to lie. */
struct slot {
    size_t size;
    uint64_t value;
    size_t at;
};
#define REFERENCE ((struct slot){ .size = 4 })
#define ABSENT ((struct slot){ 0 })

static void align(struct buffer *out, size_t to)
{
    buffer_pad(out, '\0', (to - out->count % to) % to);
}

/* The low SIZE bytes of VALUE, lowest first: FlatBuffers are so on every machine. */
static void append_bytes(struct buffer *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buffer_putc(out, (char)(value >> (8 * i) & 0xff));
}

/* A table and, before it, its vtable; where the table is. */
static size_t arrow_stream_append_table(struct buffer *out, struct slot *slots, size_t count)
{
    size_t size = 4;
    for (size_t i = 0; i < count; i++)
        if (slots[i].size) {
            slots[i].at = (size + slots[i].size - 1) / slots[i].size * slots[i].size;
            size = slots[i].at + slots[i].size;
        }
    align(out, 2);
    size_t vtable = out->count;
    append_bytes(out, 4 + 2 * count, 2);
    append_bytes(out, size, 2);
    for (size_t i = 0; i < count; i++)
        append_bytes(out, slots[i].at, 2);
    align(out, 8);
    size_t table = out->count;
    append_bytes(out, table - vtable, 4);
    for (size_t i = 0; i < count; i++)
        if (slots[i].size) {
            slots[i].at += table;
            buffer_pad(out, '\0', slots[i].at - out->count);
            append_bytes(out, slots[i].value, slots[i].size);
        }
    return table;
}

/* The number at AT shall be VALUE. */
static void set_number(struct buffer *out, size_t at, uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        out->at[at + i] = (char)(value >> (8 * i) & 0xff);
}

/* The reference at AT shall lead to TARGET, which lies behind it. */
static void refer(struct buffer *out, size_t at, size_t target)
{
    set_number(out, at, (uint32_t)(target - at));
}

static size_t append_string(struct buffer *out, const char *text)
{
    align(out, 4);
    size_t at = out->count;
    append_bytes(out, 0, 4);
    arrow_add_utf8(out, text, strlen(text));
    set_number(out, at, (uint32_t)(out->count - at - 4));
    buffer_putc(out, '\0');
    return at;
}

/* A vector of COUNT references: the first is 4 bytes behind what is returned. */
static size_t append_references(struct buffer *out, size_t count)
{
    align(out, 4);
    size_t at = out->count;
    append_bytes(out, count, 4);
    buffer_pad(out, '\0', 4 * count);
    return at;
}

/* The head of a vector of COUNT structs that are aligned to 8 bytes. */
static size_t append_structs(struct buffer *out, size_t count)
{
    align(out, 4);
    if (out->count % 8 == 0)
        buffer_pad(out, '\0', 4);
    size_t at = out->count;
    append_bytes(out, count, 4);
    return at;
}

/* ---- messages ---- */

enum header { HEADER_SCHEMA = 1, HEADER_DICTIONARY = 2, HEADER_BATCH = 3 };
enum { VERSION_5 = 4 };

/* Begin the metadata of a message whose body has BODY bytes; where its reference to the header is. */
static size_t begin_message(struct buffer *out, enum header header, uint64_t body)
{
    append_bytes(out, 4, 4);
    struct slot slots[] = { { 2, VERSION_5, 0 }, { 1, header, 0 }, REFERENCE, { 8, body, 0 } };
    size_t table = arrow_stream_append_table(out, slots, 4);
    refer(out, 0, table);
    return slots[2].at;
}

/* Append the message with METADATA to OUT; the body comes next. */
static void end_message(struct buffer *out, struct buffer *metadata)
{
    align(metadata, 8);
    append_bytes(out, UINT32_MAX, 4);
    append_bytes(out, metadata->count, 4);
    buffer_add(out, metadata->at, metadata->count);
    buffer_release(metadata);
}

/* ---- the schema ---- */

/* Let the reference at AT lead to a vector of FACTS; without any, to an empty one. */
static void append_facts(struct buffer *out, size_t at, const struct arrow_fact *facts, size_t count)
{
    size_t given = 0;
    for (size_t i = 0; i < count; i++)
        given += facts[i].value != NULL;
    size_t vector = append_references(out, given), next = vector + 4;
    refer(out, at, vector);
    for (size_t i = 0; i < count; i++) {
        if (!facts[i].value)
            continue;
        struct slot slots[] = { REFERENCE, REFERENCE };
        refer(out, next, arrow_stream_append_table(out, slots, 2));
        refer(out, slots[0].at, append_string(out, facts[i].key));
        refer(out, slots[1].at, append_string(out, facts[i].value));
        next += 4;
    }
}

/* Arrow's numbers of the types in its union. */
enum {
    TYPE_INT = 2,
    TYPE_FLOAT = 3,
    TYPE_UTF8 = 5,
    TYPE_BOOL = 6,
    TYPE_TIMESTAMP = 10,
    TYPE_LARGE_UTF8 = 20
};
enum { PRECISION_DOUBLE = 2, UNIT_NANOSECOND = 3 };

static unsigned type_number(const struct arrow_field *field)
{
    switch (field->type) {
    case ARROW_INT64:
    case ARROW_UINT64: return TYPE_INT;
    case ARROW_DOUBLE: return TYPE_FLOAT;
    case ARROW_BOOL: return TYPE_BOOL;
    case ARROW_TIMESTAMP: return TYPE_TIMESTAMP;
    case ARROW_TEXT:
    case ARROW_NAME: return field->wide_texts ? TYPE_LARGE_UTF8 : TYPE_UTF8;
    }
    return 0;
}

static size_t append_integer_type(struct buffer *out, unsigned bits, bool is_signed)
{
    struct slot slots[] = { { 4, bits, 0 }, { 1, is_signed, 0 } };
    return arrow_stream_append_table(out, slots, 2);
}

static size_t append_type(struct buffer *out, const struct arrow_field *field)
{
    struct slot unit[] = { { 2, UNIT_NANOSECOND, 0 }, REFERENCE },
                precision[] = { { 2, PRECISION_DOUBLE, 0 } };
    size_t table;
    switch (field->type) {
    case ARROW_INT64:
    case ARROW_UINT64: return append_integer_type(out, 64, field->type == ARROW_INT64);
    case ARROW_DOUBLE: return arrow_stream_append_table(out, precision, 1);
    case ARROW_TIMESTAMP:
        table = arrow_stream_append_table(out, unit, 2);
        refer(out, unit[1].at, append_string(out, "UTC"));
        return table;
    default: return arrow_stream_append_table(out, NULL, 0);
    }
}

/* How field number INDEX is made of the dictionary of the same number. */
static size_t append_encoding(struct buffer *out, size_t index)
{
    struct slot slots[] = { { 8, index, 0 }, REFERENCE, { 1, false, 0 } };
    size_t table = arrow_stream_append_table(out, slots, 3);
    refer(out, slots[1].at, append_integer_type(out, 32, true));
    return table;
}

static size_t append_field(struct buffer *out, const struct arrow_field *field, size_t index)
{
    enum { NAME, NULLABLE, TYPE_NUMBER, TYPE, DICTIONARY, CHILDREN, FACTS, SLOTS };
    struct slot slots[SLOTS] = {
        [NAME] = REFERENCE,
        [NULLABLE] = { 1, true, 0 },
        [TYPE_NUMBER] = { 1, type_number(field), 0 },
        [TYPE] = REFERENCE,
        [DICTIONARY] = field->type == ARROW_NAME ? REFERENCE : ABSENT,
        [CHILDREN] = REFERENCE,
        [FACTS] = REFERENCE,
    };
    size_t table = arrow_stream_append_table(out, slots, SLOTS);
    refer(out, slots[NAME].at, append_string(out, field->name));
    refer(out, slots[TYPE].at, append_type(out, field));
    if (field->type == ARROW_NAME)
        refer(out, slots[DICTIONARY].at, append_encoding(out, index));
    refer(out, slots[CHILDREN].at, append_references(out, 0));
    append_facts(out, slots[FACTS].at, field->facts, field->fact_count);
    return table;
}

void arrow_append_schema(struct buffer *out, const struct arrow_field *fields, size_t count,
                         const struct arrow_fact *facts, size_t fact_count)
{
    static const uint16_t one = 1;
    bool is_big = *(const uint8_t *)&one == 0;
    struct buffer metadata = { 0 };
    size_t header = begin_message(&metadata, HEADER_SCHEMA, 0);
    struct slot slots[] = { { 2, is_big, 0 }, REFERENCE, REFERENCE };
    refer(&metadata, header, arrow_stream_append_table(&metadata, slots, 3));
    size_t vector = append_references(&metadata, count);
    refer(&metadata, slots[1].at, vector);
    for (size_t i = 0; i < count; i++)
        refer(&metadata, vector + 4 + 4 * i, append_field(&metadata, &fields[i], i));
    append_facts(&metadata, slots[2].at, facts, fact_count);
    end_message(out, &metadata);
}

/* ---- values ---- */

static void add_bit(struct buffer *bits, size_t at, bool value)
{
    if (at % 8 == 0)
        buffer_putc(bits, '\0');
    if (value)
        bits->at[at / 8] |= (char)(1u << at % 8);
}

static void add_present(struct arrow_column *column)
{
    add_bit(&column->present, column->count++, true);
}

void arrow_add_int(struct arrow_column *column, int64_t value)
{
    buffer_add(&column->values, (const char *)&value, sizeof value);
    add_present(column);
}

void arrow_add_double(struct arrow_column *column, double value)
{
    buffer_add(&column->values, (const char *)&value, sizeof value);
    add_present(column);
}

void arrow_add_bool(struct arrow_column *column, bool value)
{
    add_bit(&column->values, column->count, value);
    add_present(column);
}

void arrow_add_index(struct arrow_column *column, uint32_t index)
{
    buffer_add(&column->values, (const char *)&index, sizeof index);
    add_present(column);
}

/* Texts are the bytes of all and, in `values`, where each begins, and where the last ends. */
static void add_offset(struct arrow_column *column)
{
    int64_t wide = (int64_t)column->texts.count;
    int32_t narrow = (int32_t)wide;
    if (column->wide_texts)
        buffer_add(&column->values, (const char *)&wide, sizeof wide);
    else
        buffer_add(&column->values, (const char *)&narrow, sizeof narrow);
}

void arrow_add_text(struct arrow_column *column, const char *text, size_t len)
{
    if (column->count == 0)
        add_offset(column);
    arrow_add_utf8(&column->texts, text, len);
    add_offset(column);
    add_present(column);
}

void arrow_add_missing(struct arrow_column *column)
{
    switch (column->type) {
    case ARROW_BOOL: add_bit(&column->values, column->count, false); break;
    case ARROW_NAME: buffer_pad(&column->values, '\0', 4); break;
    case ARROW_TEXT:
        if (column->count == 0)
            add_offset(column);
        add_offset(column);
        break;
    default: buffer_pad(&column->values, '\0', 8);
    }
    add_bit(&column->present, column->count++, false);
    column->missing++;
}

void arrow_clear(struct arrow_column *column)
{
    column->count = column->missing = 0;
    buffer_clear(&column->present);
    buffer_clear(&column->values);
    buffer_clear(&column->texts);
}

void arrow_release(struct arrow_column *column)
{
    column->count = column->missing = 0;
    EACH(buffer_release, &column->present, &column->values, &column->texts);
}

/* ---- batches ---- */

/* The parts of COLUMN's body, of which an empty one is none: without missing values there is no `present`. */
static size_t parts_of(const struct arrow_column *column, const struct buffer *parts[3])
{
    static const struct buffer none = { 0 };
    parts[0] = column->missing ? &column->present : &none;
    parts[1] = &column->values;
    parts[2] = &column->texts;
    return column->type == ARROW_TEXT ? 3 : 2;
}

static size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

static uint64_t body_size(const struct arrow_column *columns, size_t count)
{
    const struct buffer *parts[3];
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0, n = parts_of(&columns[i], parts); p < n; p++)
            size += padded(parts[p]->count);
    return size;
}

/* A RecordBatch: how many rows, how many of each column are missing, and where in the body its parts are. */
static size_t append_batch_table(struct buffer *out, const struct arrow_column *columns, size_t count)
{
    const struct buffer *parts[3];
    struct slot slots[] = { { 8, count ? columns[0].count : 0, 0 }, REFERENCE, REFERENCE };
    size_t table = arrow_stream_append_table(out, slots, 3);
    refer(out, slots[1].at, append_structs(out, count));
    for (size_t i = 0; i < count; i++) {
        assert(columns[i].count == columns[0].count);
        append_bytes(out, columns[i].count, 8);
        append_bytes(out, columns[i].missing, 8);
    }
    size_t part_count = 0;
    for (size_t i = 0; i < count; i++)
        part_count += parts_of(&columns[i], parts);
    refer(out, slots[2].at, append_structs(out, part_count));
    uint64_t offset = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0, n = parts_of(&columns[i], parts); p < n; p++) {
            append_bytes(out, offset, 8);
            append_bytes(out, parts[p]->count, 8);
            offset += padded(parts[p]->count);
        }
    return table;
}

static void append_body(struct buffer *out, const struct arrow_column *columns, size_t count)
{
    const struct buffer *parts[3];
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0, n = parts_of(&columns[i], parts); p < n; p++) {
            size_t size = parts[p]->count;
            if (size)
                buffer_add(out, parts[p]->at, size);
            buffer_pad(out, '\0', padded(size) - size);
        }
}

void arrow_append_names(struct buffer *out, size_t field, const struct arrow_column *texts)
{
    assert(texts->type == ARROW_TEXT);
    struct buffer metadata = { 0 };
    size_t header = begin_message(&metadata, HEADER_DICTIONARY, body_size(texts, 1));
    struct slot slots[] = { { 8, field, 0 }, REFERENCE, { 1, false, 0 } };
    refer(&metadata, header, arrow_stream_append_table(&metadata, slots, 3));
    refer(&metadata, slots[1].at, append_batch_table(&metadata, texts, 1));
    end_message(out, &metadata);
    append_body(out, texts, 1);
}

void arrow_append_batch(struct buffer *out, const struct arrow_column *columns, size_t count)
{
    struct buffer metadata = { 0 };
    size_t header = begin_message(&metadata, HEADER_BATCH, body_size(columns, count));
    refer(&metadata, header, append_batch_table(&metadata, columns, count));
    end_message(out, &metadata);
    append_body(out, columns, count);
}

void arrow_append_end(struct buffer *out)
{
    append_bytes(out, UINT32_MAX, 4);
    append_bytes(out, 0, 4);
}
