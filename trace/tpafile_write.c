/* Records wait in an array of rows per kind, and become columns when their block is written. Texts are numbered
 * from a table that is emptied when it has grown large: a text met again then has two numbers, which readers
 * do not mind, and memory stays bounded. */
#define XXH_INLINE_ALL
#include "trace/tpafile_write.h"
#include "base/memory.h"

#include <xxhash.h>

enum {
    DEFAULT_LEVEL = 3,
    DEFAULT_ROWS = 8192,
    FIRST_ROWS = 64,
    MOST_TEXTS = 1 << 16,       /* in the table before it is emptied */
    MOST_TEXT_BYTES = 16 << 20, /* the same, in bytes */
    PENDING_BYTES = 1 << 20,    /* of new texts before they are written */
    PENDING_TEXTS = 1 << 16,
    SLOTS = 2 * MOST_TEXTS,
};

struct rows {
    int64_t *at; /* one behind the other, field_count numbers each */
    uint32_t count, capacity;
};

struct text_slot {
    uint64_t hash;
    int64_t number; /* 0: empty */
    size_t at;      /* in the table's bytes */
    uint32_t len;
};

struct tpafile_writer {
    struct tpafile_writer_options options;
    struct tpafile_encoder *encoder;
    bool failed;
    struct tpafile_written written;
    struct rows rows[TPAFILE_KIND_COUNT];
    int64_t *column;

    /* The table of texts. */
    struct text_slot *slots;
    char *bytes;
    size_t bytes_count, bytes_capacity;
    uint32_t text_count;

    /* Texts with numbers that no block has given yet. */
    int64_t next_text;
    char *pending;
    size_t pending_count, pending_capacity;
    int64_t *lengths;
    uint32_t lengths_count;
};

static bool send(struct tpafile_writer *writer, const void *bytes, size_t size)
{
    if (!writer->failed && !(bytes && writer->options.sink(writer->options.context, bytes, size)))
        writer->failed = true;
    if (!writer->failed)
        writer->written.bytes += size;
    return !writer->failed;
}

struct tpafile_writer *tpafile_writer_open(const struct tpafile_writer_options *options)
{
    struct tpafile_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    writer->options = *options;
    if (options->rows == 0)
        writer->options.rows = DEFAULT_ROWS;
    if (writer->options.rows > TPAFILE_MOST_ROWS)
        writer->options.rows = TPAFILE_MOST_ROWS;
    writer->next_text = 1;
    writer->encoder = tpafile_encoder_open(options->level ? options->level : DEFAULT_LEVEL);
    writer->column = malloc(writer->options.rows * sizeof *writer->column);
    writer->slots = calloc(SLOTS, sizeof *writer->slots);
    writer->lengths = malloc(PENDING_TEXTS * sizeof *writer->lengths);
    unsigned char header[TPAFILE_HEADER_SIZE];
    tpafile_encode_header(header, options->wall_ns, options->monotonic_ns, options->pid);
    if (writer->encoder && writer->column && writer->slots && writer->lengths &&
        send(writer, header, sizeof header))
        return writer;
    tpafile_writer_free(writer);
    return NULL;
}

void tpafile_writer_free(struct tpafile_writer *writer)
{
    if (!writer)
        return;
    tpafile_encoder_free(writer->encoder);
    for (size_t i = 0; i < TPAFILE_KIND_COUNT; i++)
        free(writer->rows[i].at);
    EACH(free, writer->column, writer->slots, writer->bytes, writer->pending, writer->lengths, writer);
}

/* Make room for MORE bytes behind COUNT. */
static bool tpafile_write_reserve(struct tpafile_writer *writer, char **bytes, size_t count, size_t more,
                                  size_t *capacity)
{
    if (count + more <= *capacity)
        return true;
    size_t next = *capacity ? *capacity : 4096;
    while (next < count + more)
        next *= 2;
    char *moved = realloc(*bytes, next);
    if (!moved) {
        writer->failed = true;
        return false;
    }
    *bytes = moved;
    *capacity = next;
    return true;
}

static bool emit_block_of(struct tpafile_writer *writer, struct tpafile_encoder *encoder, uint64_t records)
{
    size_t size = 0;
    tpafile_encode_number(encoder, (uint32_t)writer->written.blocks);
    const void *block = tpafile_encode_end(encoder, &size);
    if (!send(writer, block, size))
        return false;
    writer->written.blocks++;
    writer->written.records += records;
    return true;
}

static bool emit_block(struct tpafile_writer *writer, uint64_t records)
{
    return emit_block_of(writer, writer->encoder, records);
}

/* ---- texts ---- */

static bool flush_texts(struct tpafile_writer *writer)
{
    uint32_t count = writer->lengths_count;
    if (writer->failed || count == 0)
        return !writer->failed;
    tpafile_encode_begin(writer->encoder, TPAFILE_STRINGS, count);
    int64_t first = writer->next_text - count;
    tpafile_encode_column(writer->encoder, TPAFILE_STRINGS_FIRST, &first, 1);
    tpafile_encode_column(writer->encoder, TPAFILE_STRINGS_LENGTH, writer->lengths, count);
    tpafile_encode_bytes(writer->encoder, TPAFILE_STRINGS_BYTES, writer->pending, writer->pending_count);
    writer->pending_count = 0;
    writer->lengths_count = 0;
    writer->written.texts += count;
    return emit_block(writer, 0);
}

int64_t tpafile_writer_new_text(struct tpafile_writer *writer, const char *text, size_t len)
{
    if (len > TPAFILE_LONGEST_TEXT) {
        len = TPAFILE_LONGEST_TEXT;
        writer->written.cut_texts++;
    }
    if (writer->lengths_count == PENDING_TEXTS || writer->pending_count > PENDING_BYTES)
        flush_texts(writer);
    if (writer->failed || !tpafile_write_reserve(writer, &writer->pending, writer->pending_count, len,
                                                 &writer->pending_capacity))
        return 0;
    if (len)
        memcpy(writer->pending + writer->pending_count, text, len);
    writer->pending_count += len;
    writer->lengths[writer->lengths_count++] = (int64_t)len;
    return writer->next_text++;
}

static struct text_slot *tpafile_write_find_slot(const struct tpafile_writer *writer, uint64_t hash,
                                                 const char *text, size_t len)
{
    for (size_t i = hash % SLOTS;; i = (i + 1) % SLOTS) {
        struct text_slot *slot = &writer->slots[i];
        if (slot->number == 0 || (slot->hash == hash && slot->len == len &&
                                  (len == 0 || memcmp(writer->bytes + slot->at, text, len) == 0)))
            return slot;
    }
}

int64_t tpafile_writer_text(struct tpafile_writer *writer, const char *text, size_t len)
{
    if (writer->failed)
        return 0;
    size_t whole = len;
    if (len > TPAFILE_LONGEST_TEXT)
        len = TPAFILE_LONGEST_TEXT;
    uint64_t hash = XXH3_64bits(text, len);
    struct text_slot *slot = tpafile_write_find_slot(writer, hash, text, len);
    if (slot->number)
        return slot->number;
    if (writer->text_count == MOST_TEXTS || writer->bytes_count + len > MOST_TEXT_BYTES) {
        memset(writer->slots, 0, SLOTS * sizeof *writer->slots);
        writer->text_count = 0;
        writer->bytes_count = 0;
        slot = tpafile_write_find_slot(writer, hash, text, len);
    }
    if (!tpafile_write_reserve(writer, &writer->bytes, writer->bytes_count, len, &writer->bytes_capacity))
        return 0;
    int64_t number = tpafile_writer_new_text(writer, text, len);
    if (number == 0)
        return 0;
    writer->written.cut_texts += whole > len;
    if (len)
        memcpy(writer->bytes + writer->bytes_count, text, len);
    *slot = (struct text_slot){ hash, number, writer->bytes_count, (uint32_t)len };
    writer->bytes_count += len;
    writer->text_count++;
    return number;
}

/* ---- messages ---- */

/* First place of WORD in the LEN bytes at TEXT, or NULL. */
static const char *find_word(const char *text, size_t len, const char *word)
{
    size_t need = strlen(word);
    for (const char *at = text; len >= need && at <= text + len - need; at++) {
        at = memchr(at, word[0], (size_t)(text + len - need - at) + 1);
        if (!at)
            return NULL;
        if (memcmp(at, word, need) == 0)
            return at;
    }
    return NULL;
}

/* Is there WORD and then a number that a reader would write the same way? Its digits begin at *AT and are
 * *LEN long. */
static bool tpafile_write_find_number(const char *text, size_t text_len, const char *word, const char **at,
                                      size_t *len, int64_t *number)
{
    const char *found = find_word(text, text_len, word);
    if (!found)
        return false;
    const char *digits = found + strlen(word), *end = text + text_len;
    int64_t value = 0;
    size_t count = 0;
    while (digits + count < end && count < 18 && digits[count] >= '0' && digits[count] <= '9')
        value = value * 10 + (digits[count++] - '0');
    bool ends = digits + count == end || digits[count] < '0' || digits[count] > '9';
    if (count == 0 || !ends || (digits[0] == '0' && count > 1))
        return false;
    *at = digits;
    *len = count;
    *number = value;
    return true;
}

struct tpafile_message tpafile_writer_message(struct tpafile_writer *writer, const char *text, size_t len)
{
    struct tpafile_message message = { 0, TPAFILE_NONE, TPAFILE_NONE, 0 };
    char cut[512];
    const char *tail = find_word(text, len, ", input_op_ids = ");
    size_t name_len = tail ? (size_t)(tail - text) : len;
    bool fits = name_len <= sizeof cut && !(name_len && memchr(text, 1, name_len));
    if (!fits) {
        message.name = tpafile_writer_text(writer, text, len);
        return message;
    }
    static const char *const words[] = { ", seq = ", ", op_id = " };
    int64_t *const numbers[] = { &message.number, &message.number_2 };
    const char *rest = text, *end = text + name_len;
    size_t cut_len = 0, found = 0;
    for (size_t i = 0; i < 2; i++) {
        const char *digits;
        size_t count;
        if (!tpafile_write_find_number(rest, (size_t)(end - rest), words[i], &digits, &count, numbers[found]))
            continue;
        memcpy(cut + cut_len, rest, (size_t)(digits - rest));
        cut_len += (size_t)(digits - rest);
        cut[cut_len++] = 1;
        rest = digits + count;
        found++;
    }
    if (end > rest)
        memcpy(cut + cut_len, rest, (size_t)(end - rest));
    cut_len += (size_t)(end - rest);
    message.name = tpafile_writer_text(writer, cut, cut_len);
    if (tail)
        message.tail = tpafile_writer_text(writer, tail, len - name_len);
    return message;
}

/* ---- records ---- */

static bool flush_rows(struct tpafile_writer *writer, enum tpafile_kind kind)
{
    struct rows *rows = &writer->rows[kind];
    if (rows->count == 0)
        return !writer->failed;
    if (!flush_texts(writer))
        return false;
    unsigned fields = tpafile_kinds[kind].field_count;
    uint32_t count = rows->count;
    tpafile_encode_begin(writer->encoder, kind, count);
    for (unsigned field = 0; field < fields; field++) {
        bool known = false;
        for (uint32_t i = 0; i < count; i++) {
            writer->column[i] = rows->at[(size_t)i * fields + field];
            known |= writer->column[i] != TPAFILE_NONE;
        }
        if (known)
            tpafile_encode_column(writer->encoder, field, writer->column, count);
    }
    rows->count = 0;
    return emit_block(writer, count);
}

static bool grow_rows(struct tpafile_writer *writer, struct rows *rows, unsigned fields)
{
    uint32_t next = rows->capacity ? rows->capacity * 2 : FIRST_ROWS;
    if (next > writer->options.rows)
        next = writer->options.rows;
    int64_t *moved = realloc(rows->at, (size_t)next * fields * sizeof *moved);
    if (!moved) {
        writer->failed = true;
        return false;
    }
    rows->at = moved;
    rows->capacity = next;
    return true;
}

bool tpafile_writer_add(struct tpafile_writer *writer, enum tpafile_kind kind, const int64_t *values)
{
    struct rows *rows = &writer->rows[kind];
    unsigned fields = tpafile_kinds[kind].field_count;
    if (writer->failed || (rows->count == rows->capacity && !grow_rows(writer, rows, fields)))
        return false;
    memcpy(rows->at + (size_t)rows->count * fields, values, fields * sizeof *values);
    rows->count++;
    if (rows->count < writer->options.rows)
        return true;
    /* Who reads in the order of the file must know the names of functions, the devices ... before. */
    for (unsigned fact = 0; fact < TPAFILE_KERNEL && fact < (unsigned)kind; fact++)
        if (!flush_rows(writer, (enum tpafile_kind)fact))
            return false;
    return flush_rows(writer, kind);
}

bool tpafile_writer_flush(struct tpafile_writer *writer)
{
    for (unsigned kind = 0; kind < TPAFILE_KIND_COUNT && !writer->failed; kind++)
        flush_rows(writer, (enum tpafile_kind)kind);
    return flush_texts(writer);
}

bool tpafile_writer_close(struct tpafile_writer *writer, int64_t time, int64_t why)
{
    if (!tpafile_writer_flush(writer))
        return false;
    int64_t end[TPAFILE_END_FIELDS_END] = {
        [TPAFILE_END_TIME] = time,
        [TPAFILE_END_WHY] = why,
        [TPAFILE_END_BLOCKS] = (int64_t)writer->written.blocks,
        [TPAFILE_END_RECORDS] = (int64_t)writer->written.records,
    };
    return tpafile_writer_add(writer, TPAFILE_END, end) && tpafile_writer_flush(writer);
}

const struct tpafile_written *tpafile_writer_written(const struct tpafile_writer *writer)
{
    return &writer->written;
}

struct tpafile_encoder *tpafile_writer_encoder(struct tpafile_writer *writer)
{
    return writer->encoder;
}

bool tpafile_writer_emit(struct tpafile_writer *writer, uint64_t records)
{
    return !writer->failed && emit_block(writer, records);
}

bool tpafile_writer_emit_from(struct tpafile_writer *writer, struct tpafile_encoder *encoder,
                              uint64_t records)
{
    return !writer->failed && emit_block_of(writer, encoder, records);
}
