/*
 * saved.h - read back what `--format json` wrote: the result of any command.
 *
 *     struct result *result = saved_read(source, &err);
 *     for (size_t t = 0; t < result->tables.count; t++)
 *         puts(result->tables.at[t]->key);
 *     result_free(result);
 *
 * Everything is read exactly, and printing it again gives the same bytes, except for footers: their kind is not saved,
 * so an integer becomes a count and another number a number.
 */
#ifndef TPA_INGEST_SAVED_H
#define TPA_INGEST_SAVED_H

#include "base/source.h"
#include "base/result.h"

/* The certainty that a file that starts with these bytes is such a result: 0 no, 100 certain. */
int saved_sniff(const char *bytes, size_t len);

/* Read all of SOURCE. New; free with result_free. NULL and ERR if it is damaged, or of a newer tpa. */
struct result *saved_read(struct source *source, struct tpa_error *err);

#endif
