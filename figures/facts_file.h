/* facts_file.h - files of figures. */
#ifndef TPA_FIGURES_FACTS_FILE_H
#define TPA_FIGURES_FACTS_FILE_H

#include "base/source.h"
#include "figures/facts.h"

/*
 * arrow_read.c - reader of Arrow's IPC streams with 64-bit integers and texts, the types of facts.
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

/* The next batch of the stream; BATCH is zero-initialised before the first, and after the last its columns are freed.
 * False at the end of the stream; false with ERR if it is cut short or damaged. */
bool arrow_read_batch(struct arrow_reader *reader, struct arrow_batch *batch, struct tpa_error *err);

/* A value; TABLE_INT_MISSING or a text without AT if missing. The column must have this type. */
int64_t arrow_int(const struct arrow_batch *batch, size_t column, size_t row);
struct text arrow_text(const struct arrow_batch *batch, size_t column, size_t row);

/*
 * facts_file.c - facts as a file: Arrow IPC streams one after another, one for each table.
 *
 *     struct buffer out = { 0 };
 *     facts_write(facts, &out);
 *     ...
 *     if (facts_look_like(bytes, len) && !facts_read(facts, source, &err))
 *         ...                                       // cut short, damaged, of a newer version
 *
 * The metadata of each stream's schema say "tpa.facts", the version, and "tpa.table", the name of the table
 * (facts_tables). Columns of other types than text are 64-bit integers; missing values are null. A reader ignores
 * unknown tables and columns, and treats columns that an older version did not write as missing. Since version 5 the table
 * "check" follows what was written at once: one row, the checksum of its messages (arrow_reader.sum).
 */

/* Append the rows of FACTS, which is finished, to OUT: equal facts give equal bytes. */
void facts_write(const struct facts *facts, struct buffer *out);

/* The same to FILE, in parts: needs memory for one batch of rows only. False, with errno set, if writing fails. */
bool facts_save(const struct facts *facts, FILE *file);

/* ROWS by SCHEMA, a table of its own, with texts of FACTS. False, with errno set, if writing fails. */
bool facts_save_rows(const struct facts *facts, const struct facts_schema *schema,
                     const struct facts_rows *rows, FILE *file);

/* Are these the first bytes of an Arrow stream? */
bool facts_look_like(const char *bytes, size_t len);

/* Add the facts in SOURCE to FACTS, as facts_merge does, one batch of rows at a time. False and ERR, with nothing
 * added, if it is cut short, damaged, of a newer version, or cannot be read. */
bool facts_read(struct facts *facts, struct source *source, struct tpa_error *err);

/* Pass each row of the tables of SOURCE with SCHEMA, of which there may be several, to ADD; others are skipped. Texts
 * and bytes are those of FACTS. False and ERR as facts_read, but after rows before the damage were passed. */
bool facts_read_rows(struct facts *facts, const struct facts_schema *schema, struct source *source,
                     void (*add)(void *context, const void *row), void *context, struct tpa_error *err);

/* The index in COUNT KEYS of the name of the first table of SOURCE, of which some bytes are consumed; COUNT: none of
 * them. */
size_t facts_begin_with(struct source *source, const char *const keys[], size_t count);

#endif
