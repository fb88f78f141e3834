/*
 * facts_file.h - facts as a file: Arrow IPC streams one after another, one for each table.
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
#ifndef TPA_FIGURES_FACTS_FILE_H
#define TPA_FIGURES_FACTS_FILE_H

#include "base/source.h"
#include "figures/facts.h"

/* Append the rows of FACTS, which is finished, to OUT: equal facts give equal bytes. */
void facts_write(const struct facts *facts, struct buffer *out);

/* The same to FILE, in parts: needs memory for one batch of rows only. False, with errno set, if writing fails. */
bool facts_save(const struct facts *facts, FILE *file);

/* ROWS by SCHEMA, a table of its own, with texts of FACTS. False, with errno set, if writing fails. */
bool facts_save_rows(const struct facts *facts, const struct facts_schema *schema,
                     const struct facts_rows *rows, FILE *file);

/* Are these the first bytes of an Arrow stream? */
bool facts_look_like(const char *bytes, size_t len);

/*
 * Add the facts in SOURCE to FACTS, as facts_merge does, one batch of rows at a time. False and ERR, with nothing
 * added, if it is cut short, damaged, of a newer version, or cannot be read.
 */
bool facts_read(struct facts *facts, struct source *source, struct tpa_error *err);

/*
 * Pass each row of the tables of SOURCE with SCHEMA, of which there may be several, to ADD; others are skipped. Texts
 * and bytes are those of FACTS. False and ERR as facts_read, but after rows before the damage were passed.
 */
bool facts_read_rows(struct facts *facts, const struct facts_schema *schema, struct source *source,
                     void (*add)(void *context, const void *row), void *context, struct tpa_error *err);

/* The index in COUNT KEYS of the name of the first table of SOURCE, of which some bytes are consumed; COUNT: none of
 * them. */
size_t facts_begin_with(struct source *source, const char *const keys[], size_t count);

#endif
