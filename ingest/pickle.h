/*
 * pickle.h - read Python's pickles, protocols 0 to 5, without running code.
 *
 * A pickle is a program for a small stack machine. Most of its operations build data, and these are executed (by
 * objects.h). The others import modules and call functions: a file with one of those is refused completely, regardless
 * of the function. The reader has no code to execute them.
 */
#ifndef TPA_INGEST_PICKLE_H
#define TPA_INGEST_PICKLE_H

#include "base/source.h"
#include "ingest/objects.h"

/* Could these first bytes be a pickle's? 0 no, 100 certain. */
int pickle_sniff(const char *bytes, size_t len);

/*
 * Read SOURCE into O, whose snapshot gets `form` and `bytes`, and notices about damage: data before the damage is kept.
 * False and ERR, with the offset, if the pickle would run code, or if reading the source fails.
 */
bool pickle_read(struct source *source, struct objects *o, struct snapshot *snapshot, struct tpa_error *err);

#endif
