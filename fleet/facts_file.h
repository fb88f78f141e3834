/*
 * facts_file.h - facts as a file: Arrow IPC streams one after another, one for each table.
 *
 *     struct buffer out = { 0 };
 *     facts_write(facts, &out);
 *     ...
 *     if (facts_look_like(bytes, len) && !facts_read(facts, source, &err))
 *         ...                                       // cut short, damaged, of a newer version
 *
 * The metadata of each stream's schema say "tpa.facts", the version, and "tpa.table", which table it is
 * (facts_tables). Columns of a type other than text are 64-bit integers; what is missing is null. A reader takes
 * tables and columns that it does not know for granted and leaves them out, and finds columns missing that an older
 * version did not write.
 */
#ifndef TPA_FLEET_FACTS_FILE_H
#define TPA_FLEET_FACTS_FILE_H

#include "base/buffer.h"
#include "base/source.h"
#include "fleet/facts.h"
#include <stdio.h>

/* Append the rows of FACTS, which is finished, to OUT: equal facts give equal bytes. */
void facts_write(const struct facts *facts, struct buffer *out);

/* The same to FILE, piece by piece: it takes memory for a batch of rows alone. False, and errno is set, when writing fails. */
bool facts_save(const struct facts *facts, FILE *file);

/* ROWS by SCHEMA, a table of its own, with texts of FACTS. False, and errno is set, when writing fails. */
bool facts_save_rows(const struct facts *facts, const struct facts_schema *schema,
                     const struct facts_rows *rows, FILE *file);

/* Do these first bytes of a file begin an Arrow stream? */
bool facts_look_like(const char *bytes, size_t len);

/*
 * Add what SOURCE holds to FACTS, as facts_merge does, a batch of rows at a time. False and ERR, and nothing added, when it
 * is cut short, damaged, of a newer version, or cannot be read.
 */
bool facts_read(struct facts *facts, struct source *source, struct tpa_error *err);

/*
 * Give ADD each row of the tables of SOURCE that SCHEMA is of, of which there may be several, one after another; others
 * are skipped. Texts and bytes are those of FACTS. False and ERR as facts_read, but rows before the damage were given.
 */
bool facts_read_rows(struct facts *facts, const struct facts_schema *schema, struct source *source,
                     void (*add)(void *context, const void *row), void *context, struct tpa_error *err);

/* Which of COUNT KEYS is the name of the first table of SOURCE, of which this takes some bytes; COUNT: none of them. */
size_t facts_begin_with(struct source *source, const char *const keys[], size_t count);

#endif
