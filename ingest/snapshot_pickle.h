/* snapshot_pickle.h - a memory snapshot as pickle. */
#ifndef TPA_INGEST_SNAPSHOT_PICKLE_H
#define TPA_INGEST_SNAPSHOT_PICKLE_H

#include "base/source.h"
#include "ingest/objects.h"

/*
 * Read SOURCE into O, whose snapshot gets `form` and `bytes`, and notices about damage: data before the damage is kept.
 * False and ERR, with the offset, if the pickle would run code, or if reading the source fails.
 */
bool snapshot_pickle_read(struct source *source, struct objects *o, struct snapshot *snapshot,
                          struct tpa_error *err);

#endif
