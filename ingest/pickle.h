/*
 * pickle.h - read what Python's pickle wrote, protocols 0 to 5, without running anything.
 *
 * A pickle is a program for a small stack machine. Most of its operations put data together, and these are carried out
 * (by objects.h). The others import modules and call what they find there: a file that has one of those is refused, as
 * a whole, whatever it would have called. The reader knows no other way to handle them.
 */
#ifndef TPA_INGEST_PICKLE_H
#define TPA_INGEST_PICKLE_H

#include "base/source.h"
#include "ingest/objects.h"

/* Could these first bytes be a pickle's? 0 no, 100 certain. */
int pickle_sniff(const char *bytes, size_t len);

/*
 * Read SOURCE into O, whose snapshot gets `form` and `bytes`, and notices about damage: what came before that is kept. False and
 * ERR, with the offset, when the pickle would run code, or when reading the source fails.
 */
bool pickle_read(struct source *source, struct objects *o, struct snapshot *snapshot, struct tpa_error *err);

#endif
