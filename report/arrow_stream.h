/*
 * arrow_stream.h - Arrow's IPC streams: a schema, dictionaries, batches of rows, an end. What data frames and databases read
 * without parsing: pyarrow, pandas, polars, DuckDB.
 *
 *     static const struct arrow_field fields[] = { { .name = "name", .type = ARROW_NAME },
 *                                                  { .name = "dur_ns", .type = ARROW_INT64 } };
 *     struct arrow_column names = { 0 }, columns[2] = { { .type = ARROW_NAME }, { .type = ARROW_INT64 } };
 *     arrow_add_text(&names, "aten::mm", 8);
 *     arrow_add_index(&columns[0], 0);
 *     arrow_add_int(&columns[1], 120500);
 *
 *     arrow_append_schema(&out, fields, 2, NULL, 0);
 *     arrow_append_names(&out, 0, &names);
 *     arrow_append_batch(&out, columns, 2);
 *     arrow_append_end(&out);
 *
 * Format: https://arrow.apache.org/docs/format/Columnar.html, metadata version V5. Whatever is appended to OUT is whole
 * messages, so batches can be made by several threads and each be written and forgotten.
 */
#ifndef TPA_REPORT_ARROW_STREAM_H
#define TPA_REPORT_ARROW_STREAM_H

#include "base/buffer.h"

enum arrow_type {
    ARROW_INT64,
    ARROW_UINT64,
    ARROW_DOUBLE,
    ARROW_BOOL,
    ARROW_TIMESTAMP, /* nanoseconds from 1970, UTC */
    ARROW_TEXT,
    ARROW_NAME, /* 32-bit indices into a dictionary of texts, which arrow_append_names writes */
};

/* Metadata of a field or of the schema. */
struct arrow_fact {
    const char *key, *value; /* borrowed; VALUE is NULL: left out */
};

struct arrow_field {
    const char *name;
    enum arrow_type type;
    bool wide_texts; /* ARROW_NAME, ARROW_TEXT: the texts may be more than ARROW_TEXTS_MOST bytes together */
    const struct arrow_fact *facts;
    size_t fact_count;
};

/* Texts of more bytes need offsets of 64 bits. What is not UTF-8 grows to three times its size. */
#define ARROW_TEXTS_MOST ((size_t)INT32_MAX / 3)

/* Add TEXT to OUT with U+FFFD where it is not UTF-8. Names of a dictionary are to be distinct after that. */
void arrow_add_utf8(struct buffer *out, const char *text, size_t len);

/* The values of one field in one batch. Zero-initialise it except its type; release with arrow_release. */
struct arrow_column {
    enum arrow_type type;
    bool wide_texts; /* as the field has it */
    size_t count, missing;
    struct buffer present, values, texts;
};

void arrow_add_int(struct arrow_column *column, int64_t value); /* INT64, UINT64, TIMESTAMP */
void arrow_add_double(struct arrow_column *column, double value);
void arrow_add_bool(struct arrow_column *column, bool value);
void arrow_add_index(struct arrow_column *column, uint32_t index); /* NAME */
void arrow_add_text(struct arrow_column *column, const char *text,
                    size_t len); /* TEXT; U+FFFD for what is not UTF-8 */
void arrow_add_missing(struct arrow_column *column);

/* Empty it and keep the memory; free it. */
void arrow_clear(struct arrow_column *column);
void arrow_release(struct arrow_column *column);

/* The first message of a stream: COUNT fields, and FACT_COUNT facts about the table. */
void arrow_append_schema(struct buffer *out, const struct arrow_field *fields, size_t count,
                         const struct arrow_fact *facts, size_t fact_count);

/* The dictionary of field number FIELD: TEXTS, a column of type ARROW_TEXT, to be written before the batches. */
void arrow_append_names(struct buffer *out, size_t field, const struct arrow_column *texts);

/* A batch: the columns of all fields, each with as many values. */
void arrow_append_batch(struct buffer *out, const struct arrow_column *columns, size_t count);

/* The end of a stream. */
void arrow_append_end(struct buffer *out);

#endif
