/* snapshot.h - reading memory snapshots: trace/snapshot.h describes their contents. */
#ifndef TPA_INGEST_SNAPSHOT_H
#define TPA_INGEST_SNAPSHOT_H

#include "base/source.h"
#include "trace/snapshot.h"

/* Read SOURCE, a pickle or JSON. New; free with snapshot_free. NULL and ERR if it would run code, is not a snapshot, or
 * nothing of it can be read; later damage is a notice of the snapshot. */
struct snapshot *snapshot_read(struct source *source, struct tpa_error *err);

#endif
