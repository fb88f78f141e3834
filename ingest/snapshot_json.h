/* snapshot_json.h - a memory snapshot written as JSON: the same dict, whose tuples are lists. */
#ifndef TPA_INGEST_SNAPSHOT_JSON_H
#define TPA_INGEST_SNAPSHOT_JSON_H

#include "base/source.h"
#include "ingest/objects.h"

/* As pickle_read, for JSON. */
bool snapshot_json_read(struct source *source, struct objects *o, struct snapshot *snapshot,
                        struct tpa_error *err);

#endif
