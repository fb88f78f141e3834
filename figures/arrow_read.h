/*
 * arrow_read.h - reader of Arrow's IPC streams with 64-bit integers and texts, the types of facts.
 *
 *     struct arrow_reader reader;
 *     arrow_reader_init(&reader, source);
 *     struct arrow_batch batch;
 *     while (arrow_read_schema(&reader, &err)) {                     // streams may follow one another
 *         const char *version = arrow_fact(&reader, "tpa.facts");
 *         while (arrow_read_batch(&reader, &batch, &err))
 *             for (size_t row = 0; row < batch.rows; row++)
 *                 sum += arrow_int(&batch, 0, row);
 *     }
 *     arrow_reader_release(&reader);
 *     if (err.failed)
 *         ...                                                        // cut short, damaged, or of other types
 *
 * One message is in memory at a time, and texts point into it: those of a schema live until the first batch is read,
 * those of a batch until the next. The bytes may be malicious. It reads streams of report/arrow_stream.h, and those of
 * other writers with the same types, uncompressed and without dictionaries. A stream must have an end mark: without it,
 * batches may be missing.
 */
#ifndef TPA_FIGURES_ARROW_READ_H
#define TPA_FIGURES_ARROW_READ_H

#include "base/source.h"
#include "base/table.h"

enum arrow_read_type { ARROW_READ_INT64, ARROW_READ_TEXT, ARROW_READ_OTHER };

struct arrow_read_field {
    struct text name;
    enum arrow_read_type type;
};

struct arrow_read_fact {
    struct text key, value;
};

struct arrow_reader {
    struct source *source;         /* borrowed */
    VEC_OF(unsigned char) message; /* the current one */
    int64_t at;                    /* its position */
    uint64_t sum;                  /* XXH64 of the messages before it, each seeded with the one before */
    VEC_OF(struct arrow_read_field) fields; /* of the current stream */
    VEC_OF(struct arrow_read_fact) facts;   /* metadata of its schema */
};

struct arrow_read_column {
    enum arrow_read_type type;
    const unsigned char *present; /* NULL: none is missing */
    const unsigned char *values;
    const char *texts;
    size_t text_bytes;
};

struct arrow_batch {
    size_t rows;
    VEC_OF(struct arrow_read_column) columns; /* one for each field */
};

/* SOURCE is borrowed until the reader is released, and read to its end. */
void arrow_reader_init(struct arrow_reader *reader, struct source *source);
void arrow_reader_release(struct arrow_reader *reader);

/* Count READER->sum from the end of the current message. */
void arrow_begin_sum(struct arrow_reader *reader);

/* Go to the next stream. False at the end of the source; false with ERR if there is no schema, or it is damaged or
 * cannot be read. */
bool arrow_read_schema(struct arrow_reader *reader, struct tpa_error *err);

/* The value of KEY in the schema's metadata; missing if there is none. */
struct text arrow_fact(const struct arrow_reader *reader, const char *key);

/* The next batch of the stream; BATCH is zero-initialised before the first, and released by arrow_batch_release.
 * False at the end of the stream; false with ERR if it is cut short or damaged. */
bool arrow_read_batch(struct arrow_reader *reader, struct arrow_batch *batch, struct tpa_error *err);
void arrow_batch_release(struct arrow_batch *batch);

/* A value; TABLE_INT_MISSING or a text without AT if missing. The column must have this type. */
int64_t arrow_int(const struct arrow_batch *batch, size_t column, size_t row);
struct text arrow_text(const struct arrow_batch *batch, size_t column, size_t row);

#endif
